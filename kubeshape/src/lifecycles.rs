//! The lifecycles of fields.

use crate::Findings;
use kubeshape_input::{Finding, Limits};
use kubeshape_lifecycle::Lifecycle;
use kubeshape_lifecycle::warn::Schemas;

/// Which fields are alpha, beta or deprecated, according to `x-kubernetes-api-lifecycle` in CustomResourceDefinitions
/// and OpenAPI documents (KEP-2558). Requires the feature `lifecycle`.
///
/// # Example: the lifecycle of a field
/// ```
/// let document = "{swagger: '2.0', definitions: {Tab: {
///   x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Tab}],
///   properties: {width: {x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.20, status: alpha}}}}}}}";
/// let lifecycles = kubeshape::Lifecycles::read([("swagger.yaml", document)])?;
/// let width = lifecycles.field("example.com/v1", "Tab", "width").unwrap();
/// assert_eq!((width.status.as_deref(), width.to_string().as_str()), (Some("alpha"), "alpha since v1.20"));
/// # Ok::<(), kubeshape::Findings>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lifecycles {
    schemas: Schemas,
}

impl Lifecycles {
    /// Reads the lifecycles of these inputs, with their names. If several inputs have a kind, the first one is used.
    ///
    /// # Errors
    /// An input, or something in it, cannot be read.
    pub fn read<N: AsRef<str>, T: AsRef<[u8]>>(
        inputs: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Lifecycles, Findings> {
        let (mut schemas, mut findings) = (Schemas::default(), Vec::new());
        for (name, text) in inputs {
            let input = kubeshape_input::read(name.as_ref(), text.as_ref(), Limits::default());
            input.documents.iter().for_each(|document| schemas.add_annotated(document));
            findings.extend(input.findings);
        }
        if findings.iter().any(Finding::is_error) { Err(Findings(findings)) } else { Ok(Lifecycles { schemas }) }
    }

    /// Returns the lifecycle of a field. The path has the names of fields, as for `kubectl explain`:
    /// `spec.containers.restartPolicyRules`. `None` if the field is generally available or unknown.
    pub fn field(&self, api_version: &str, kind: &str, path: &str) -> Option<&Lifecycle> {
        let path: Vec<&str> = path.split('.').filter(|name| !name.is_empty()).collect();
        self.schemas.field(api_version, kind, &path)
    }

    /// Returns the underlying schemas, for all queries: warnings about objects in a cluster, fields at JSON pointers.
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }
}
