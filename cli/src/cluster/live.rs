//! `cluster:CONTEXT` as live objects, and patches of them.

use super::inputs::context_of;
use crate::input::Input;
use std::path::{Path, PathBuf};
#[cfg(feature = "cluster")]
use {
    super::asked::{Asked, TIMEOUT},
    crate::input::Source,
    bytes::Bytes,
    kubeshape_client::{ClusterOptions, WantedObjects},
};

/// The live objects of a cluster.
#[derive(Default)]
pub(crate) struct LiveObjects {
    /// One input per object. Its name is `cluster:CONTEXT` and the path of the object.
    pub(crate) inputs: Vec<Input>,
    /// The failed requests, with the reason.
    pub(crate) failures: Vec<(PathBuf, String)>,
}

/// Reports that nothing can be fetched.
#[cfg(not(feature = "cluster"))]
pub(crate) fn live(argument: &Path, _: Option<&str>, _: &[String]) -> LiveObjects {
    let why = "this kubeshape was built without clusters: build it with the feature `cluster`";
    LiveObjects { inputs: Vec::new(), failures: vec![(argument.to_owned(), why.to_owned())] }
}

/// Reports that nothing can be patched.
///
/// # Errors
/// Always.
#[cfg(not(feature = "cluster"))]
pub(crate) fn patch(_: &str, _: &str) -> Result<(), String> {
    Err("this kubeshape was built without clusters: build it with the feature `cluster`".to_owned())
}

#[cfg(feature = "cluster")]
fn options(context: &str) -> ClusterOptions {
    let context = (!context.is_empty()).then(|| context.to_owned());
    ClusterOptions { context, timeout: TIMEOUT, ..ClusterOptions::default() }
}

/// Fetches the live objects of a cluster.
#[cfg(feature = "cluster")]
pub(crate) fn live(argument: &Path, namespace: Option<&str>, resources: &[String]) -> LiveObjects {
    let name = argument.to_string_lossy();
    let wanted = WantedObjects { namespace: namespace.map(str::to_owned), resources: resources.to_vec() };
    let fetched = || {
        let asked = Asked::new(&options(context_of(argument).unwrap_or_default()), None, |_| {});
        let asked = asked.map_err(|error| error.to_string())?;
        asked.live(&wanted).map_err(|error| format!("{}: {error}", asked.cluster.server()))
    };
    let live = match fetched() {
        Ok(live) => live,
        Err(why) => return LiveObjects { inputs: Vec::new(), failures: vec![(argument.to_owned(), why)] },
    };
    let input = |object: kubeshape_client::LiveObject| {
        let path = PathBuf::from(format!("{name}{}", object.path));
        let source = Source::Memory(path.clone(), Bytes::from(object.bytes));
        Input { source, canonical: path, named: false, in_chart: false }
    };
    let failures = live.failures.into_iter().map(|e| (PathBuf::from(format!("{name}{}", e.path)), e.fault.to_string()));
    LiveObjects { failures: failures.collect(), inputs: live.objects.into_iter().map(input).collect() }
}

/// Sends a JSON patch. `input` is the name of the input of an object.
///
/// # Errors
/// The input is not an object of a cluster, or the server does not accept the patch.
#[cfg(feature = "cluster")]
pub(crate) fn patch(input: &str, patch: &str) -> Result<(), String> {
    let rest = context_of(Path::new(input)).ok_or("it was not read from a cluster")?;
    let at = ["/apis/", "/api/"].iter().filter_map(|root| rest.rfind(root)).min();
    let (context, path) = rest.split_at(at.unwrap_or(rest.len()));
    let asked = Asked::new(&options(context), None, |_| {}).map_err(|error| error.to_string())?;
    asked.json_patch(path, patch)
}
