//! `--validations`: the documents of a release of Kubernetes as inputs.

use crate::error::Fatal;
use crate::input::{Input, Source};
use bytes::Bytes;
use kubeshape_builtin as builtin;
use kubeshape_input::{Finding, Limits};
use kubeshape_schema::Release;
use kubeshape_validate::builtin::Constraints;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Documents of Kubernetes.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    /// The documents, in the order of their paths.
    pub(crate) inputs: Vec<Input>,
    /// The constraints that they do not express.
    pub(crate) losses: Vec<Finding>,
}

/// Returns the documents of group versions of a release, with constraints.
///
/// # Errors
/// This program does not have the documents of the release.
pub(crate) fn constrained(release: Release) -> Result<Documents, Fatal> {
    let known =
        builtin::BuiltInDocuments::try_from(release).map_err(|error| Fatal::Usage(format!("--kubernetes: {error}")))?;
    let constraints = Constraints::new(release);
    let mut out = Documents::default();
    let mut told = BTreeSet::new();
    for (path, text) in known.api().openapi_v3_of(|path| path.starts_with("api")) {
        let name = format!("kubernetes-{known}/{path}");
        let read = kubeshape_input::read(name.as_str(), text.as_bytes(), Limits::default());
        let published = read.documents.first().and_then(|document| constraints.add(document.root()));
        let Some(published) = published else { continue };
        for unsaid in published.unsaid {
            // Several documents have the definition.
            let finding = Finding::new(unsaid.code, unsaid.detail.as_str())
                .in_input(name.as_str())
                .of_resource(unsaid.definition.as_str());
            if told.insert(unsaid) {
                out.losses.push(finding);
            }
        }
        let path = PathBuf::from(name);
        let source = Source::Memory(path.clone(), Bytes::from(published.document));
        out.inputs.push(Input { source, canonical: path, named: true, in_chart: false });
    }
    Ok(out)
}
