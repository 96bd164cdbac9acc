//! `cluster:CONTEXT` as an input of any command: the CustomResourceDefinitions of a cluster, the documents of its other
//! group versions, and its discovery.

use crate::input::{Input, Source};
use kubeshape_input::{Document, Limits};
use kubeshape_schema::Release;
use std::path::{Path, PathBuf};
#[cfg(feature = "cluster")]
use {
    super::asked::{Asked, TIMEOUT, folder},
    bytes::Bytes,
    kubeshape_client::{ClusterOptions, Pulled, Wanted},
    serde_json::Value,
    std::collections::BTreeSet,
};

/// The prefix of such an input.
const PREFIX: &str = "cluster:";

/// The documents of a cluster, as inputs.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) inputs: Vec<Input>,
    /// The failed requests, with the reason.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
}

/// Returns the context in an argument; `None` if it names a file. `cluster:` is the current context.
pub(crate) fn context_of(argument: &Path) -> Option<&str> {
    argument.to_str()?.strip_prefix(PREFIX)
}

/// Reports that nothing can be fetched.
#[cfg(not(feature = "cluster"))]
pub(crate) fn inputs(context: &str, _: bool) -> Found {
    let why = "this kubeshape was built without clusters: build it with the feature `cluster`";
    Found { unreadable: vec![(PathBuf::from(format!("{PREFIX}{context}")), why.to_owned())], ..Found::default() }
}

/// Returns the release of the cluster that inputs come from, the newest if there are several. `None` if no input is of a
/// cluster, or its release is unknown.
pub(crate) fn release(inputs: &[Input]) -> Option<Release> {
    let of = |input: &Input| {
        let Source::Memory(path, bytes) = &input.source else { return None };
        let read = path
            .ends_with("discovery/version")
            .then(|| kubeshape_input::read(input.name(), bytes, Limits::default()))?;
        read.documents.iter().find_map(Document::server_release)
    };
    inputs.iter().filter_map(of).max()
}

/// Fetches the documents of a cluster, from the cache if possible.
#[cfg(feature = "cluster")]
pub(crate) fn inputs(context: &str, offline: bool) -> Found {
    let name = format!("{PREFIX}{context}");
    let context = (!context.is_empty()).then(|| context.to_owned());
    let pulled = || {
        let options = ClusterOptions { context, timeout: TIMEOUT, offline, ..ClusterOptions::default() };
        let cache = folder(None).ok();
        // A command that reads schemas does not have to keep them.
        let asked = Asked::new(&options, cache.as_deref(), |_| {}).map_err(|error| error.to_string())?;
        let wanted = Wanted { definitions: true, offline, ..Wanted::default() };
        asked.pull(&wanted, |_| {}).map_err(|error| format!("{}: {error}", asked.cluster.server()))
    };
    match pulled() {
        Ok(pulled) => found(&name, pulled),
        Err(why) => Found { unreadable: vec![(PathBuf::from(name), why)], ..Found::default() },
    }
}

#[cfg(feature = "cluster")]
fn found(name: &str, pulled: Pulled) -> Found {
    let mut defined = BTreeSet::new();
    let mut inputs = Vec::new();
    let mut add = |path: &str, bytes: Vec<u8>| {
        let path = PathBuf::from(format!("{name}/{path}"));
        let source = Source::Memory(path.clone(), Bytes::from(bytes));
        inputs.push(Input { source, canonical: path, named: false, in_chart: false });
    };
    for definition in pulled.definitions {
        defined.extend(versions(&definition.bytes));
        add(&format!("crds/{}", definition.version.name), definition.bytes);
    }
    // A definition has more information than the documents made from it.
    for document in pulled.documents.into_iter().map(|fetched| fetched.document) {
        if !defined.contains(&document.path) {
            add(&format!("openapi/v3/{}", document.path), document.bytes);
        }
    }
    for (path, bytes) in pulled.discovery {
        add(&format!("discovery{path}"), bytes);
    }
    let of = |error: kubeshape_client::Error| (PathBuf::from(format!("{name}{}", error.path)), error.fault.to_string());
    Found { inputs, unreadable: pulled.failures.into_iter().map(of).collect() }
}

/// Returns the paths of the documents of a definition: `apis/example.com/v1`.
#[cfg(feature = "cluster")]
fn versions(definition: &[u8]) -> Vec<String> {
    let Ok(object) = serde_json::from_slice::<Value>(definition) else { return Vec::new() };
    let spec = &object["spec"];
    let Some(group) = spec["group"].as_str() else { return Vec::new() };
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    versions.iter().filter_map(|version| Some(format!("apis/{group}/{}", version["name"].as_str()?))).collect()
}
