//! The kinds of many inputs.

use crate::Findings;
use kubeshape_input::{Finding, Limits};
use kubeshape_registry::{
    Comparison, Error, FieldSet, Gvk, Judgement, Kind, Object, Registry, Request, Settings, WriteOptions,
};
use std::sync::Arc;

/// The kinds that CustomResourceDefinitions, OpenAPI documents and structured-merge-diff schemas define, and what an
/// API server does with their objects.
///
/// Inputs have names, by which they are replaced and removed. If several define one kind, CustomResourceDefinitions
/// precede documents, and of two in the same form the one whose input has the smaller name is used. Expensive parts are
/// built when a kind is first used. A clone is cheap and shares what was built.
///
/// # Example: kinds of two inputs
/// ```
/// # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
/// use kubeshape::Api;
///
/// let mut api = Api::default();
/// assert!(api.set("tabs.yaml", TABS).is_empty());
/// let findings = api.set("broken.yaml", "apiVersion: [");
/// assert!(findings[0].to_string().starts_with("broken.yaml:1:14: KS1001"));
/// assert_eq!(api.by_name("tb")[0].resource().unwrap().plural.as_ref(), "tabs");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Api {
    registry: Registry,
}

impl Api {
    /// Creates an API without kinds.
    pub fn new(settings: Settings) -> Api {
        Api { registry: Registry::new(settings) }
    }

    /// Reads these inputs, with their names.
    ///
    /// # Errors
    /// An input, or something in it, cannot be read. [`Api::set`] uses everything that can be read.
    pub fn read<N: AsRef<str>, T: AsRef<[u8]>>(inputs: impl IntoIterator<Item = (N, T)>) -> Result<Api, Findings> {
        let mut api = Api::default();
        let findings: Vec<Finding> = inputs.into_iter().flat_map(|(name, text)| api.set(name, text)).collect();
        if findings.iter().any(Finding::is_error) { Err(Findings(findings)) } else { Ok(api) }
    }

    /// Reads the kinds of a release of Kubernetes.
    ///
    /// # Errors
    /// A document of the release cannot be read, which is a bug of this crate.
    ///
    /// # Example
    /// ```
    /// use kubeshape::{Api, builtin::BuiltInDocuments};
    /// let api = Api::read_release(BuiltInDocuments::newest())?;
    /// assert!(api.kinds().any(|kind| (kind.api_version(), kind.kind()) == ("apps/v1", "Deployment")));
    /// # Ok::<(), kubeshape::Findings>(())
    /// ```
    #[cfg(feature = "builtin")]
    pub fn read_release(documents: kubeshape_builtin::BuiltInDocuments) -> Result<Api, Findings> {
        let api = documents.api();
        let inputs = api.openapi_v3_of(|_| true).into_iter();
        Api::read(inputs.map(|(path, text)| (format!("kubernetes-{documents}/{path}"), text)))
    }

    /// Adds or replaces an input. Returns the errors of its YAML or JSON; the valid parts are used nevertheless.
    pub fn set(&mut self, name: impl AsRef<str>, text: impl AsRef<[u8]>) -> Vec<Finding> {
        let name: Arc<str> = name.as_ref().into();
        let input = kubeshape_input::read(Arc::clone(&name), text.as_ref(), Limits::default());
        self.registry.set_input(Arc::clone(&name), input);
        self.registry.text_findings(&name).cloned().collect()
    }

    /// Removes an input. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        self.registry.remove(name)
    }

    /// Returns the underlying registry, which has more functions.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the underlying registry, for changes.
    pub fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// Returns all kinds, sorted by kind and `apiVersion`.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.registry.kinds()
    }

    /// Returns a kind, such as `("apps/v1", "Deployment")`.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<&Kind> {
        self.registry.kind(Gvk::new(api_version, kind))
    }

    /// Returns the kinds with a name, resolved like in `kubectl get`; the version that servers prefer comes first. See
    /// [`Registry::by_name`].
    pub fn by_name(&self, name: &str) -> Vec<&Kind> {
        self.registry.by_name(name)
    }

    /// Validates a request with a custom resource like a server before it stores it.
    ///
    /// # Errors
    /// See [`Registry::judge`].
    pub fn judge(&self, request: Request<'_>) -> Result<Judgement, Error> {
        self.registry.judge(request)
    }

    /// Server-side apply. Returns the live object afterwards, with its managed fields. Without a live object, it is
    /// created.
    ///
    /// # Errors
    /// See [`Registry::apply`].
    pub fn apply(&self, live: Option<&Object>, config: &Object, options: &WriteOptions) -> Result<Object, Error> {
        self.registry.apply(live, config, options)
    }

    /// Create. Returns the stored object, with its managed fields.
    ///
    /// # Errors
    /// See [`Registry::create`].
    pub fn create(&self, new: &Object, options: &WriteOptions) -> Result<Object, Error> {
        self.registry.create(new, options)
    }

    /// Update, or the result of a patch. Returns the live object afterwards, with its managed fields.
    ///
    /// # Errors
    /// See [`Registry::update`].
    pub fn update(&self, live: &Object, new: &Object, options: &WriteOptions) -> Result<Object, Error> {
        self.registry.update(live, new, options)
    }

    /// Returns the configuration that a manager applied, as far as the object still has it. `None` if it applied
    /// nothing.
    ///
    /// # Errors
    /// See [`Registry::extract`].
    pub fn extract(&self, object: &Object, manager: &str, subresource: &str) -> Result<Option<Object>, Error> {
        self.registry.extract(object, manager, subresource)
    }

    /// Returns the differences of two objects of one kind.
    ///
    /// # Errors
    /// See [`Registry::compare`].
    pub fn compare(&self, a: &Object, b: &Object) -> Result<Comparison, Error> {
        self.registry.compare(a, b)
    }

    /// Merges one object into another, without owners.
    ///
    /// # Errors
    /// See [`Registry::merge`].
    pub fn merge(&self, live: &Object, config: &Object) -> Result<Object, Error> {
        self.registry.merge(live, config)
    }

    /// Returns all fields of an object.
    ///
    /// # Errors
    /// See [`Registry::field_set`].
    pub fn field_set(&self, object: &Object) -> Result<FieldSet, Error> {
        self.registry.field_set(object)
    }
}
