//! Validates objects of kinds that OpenAPI documents define, as a server decodes them.

use crate::definition::Form;
use crate::document_schema::DocumentSchema;
use crate::kind::{Kind, Scope};
use kubeshape_validate::builtin::{BuiltInKind, Strategy};
use kubeshape_validate::typed::Typed;
use kubeshape_yaml::Node;
use std::sync::Arc;

impl Kind {
    /// Returns the Go types of a kind that an OpenAPI document defines: a built-in one. They detect unknown fields and
    /// wrong types as a server does. `None` for other kinds; for custom resources see [`requests`](Kind::requests). The
    /// types are built at each call.
    ///
    /// # Example
    /// ```
    /// use kubeshape_registry::{Registry, Gvk};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let document = r#"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": {
    ///   "example.v1.Tab": {"type": "object", "properties": {"size": {"type": "integer", "format": "int32"}},
    ///     "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Tab"}]}}}}"#;
    /// let mut registry = Registry::default();
    /// registry.set_input("tabs", kubeshape_input::read("tabs.json", document.as_bytes(), Default::default()));
    /// let typed = registry.kind(Gvk::new("example.com/v1", "Tab")).unwrap().typed().unwrap();
    /// let decoded = typed.decode(serde_json::json!({"size": 1, "colour": "red"}).to_value(&Bump::new()));
    /// assert_eq!(decoded.unknown, ["colour"]);
    /// ```
    pub fn typed(&self) -> Option<Typed> {
        let (root, name) = self.in_document()?;
        Typed::in_release(root, name, self.definition().release())
    }

    /// Returns what a server does with objects of a built-in kind, prepared at the first call. `None` for other kinds,
    /// for kinds that are not stored, and if the document does not say whether objects have a namespace.
    ///
    /// # Example
    /// ```
    /// use kubeshape_registry::{Registry, Gvk};
    ///
    /// let release = kubeshape_builtin::BuiltInDocuments::newest();
    /// let document = release.api().openapi_v3("apis/batch/v1").unwrap();
    /// let mut registry = Registry::default();
    /// registry.set_input("batch", kubeshape_input::read("batch.json", document.as_ref(), Default::default()));
    /// let jobs = registry.kind(Gvk::new("batch/v1", "Job")).unwrap();
    /// assert!(jobs.strategy().unwrap().is_namespaced());
    /// ```
    pub fn strategy(&self) -> Option<&Arc<Strategy>> {
        let make = || {
            let release = self.definition().release();
            BuiltInKind::new(self.group(), self.kind(), release)?;
            let namespaced = self.resource()?.scope == Scope::Namespaced;
            let (group, version) = (self.group(), self.version_name());
            let strategy = Strategy::new(self.typed()?, group, version, self.kind(), namespaced, release);
            Some(Arc::new(strategy.with_expressions(kubeshape_policy::expression_errors)))
        };
        self.strategy.get_or_init(make).as_ref()
    }

    /// Returns the schema of the kind in the OpenAPI document that defines it; `None` for other kinds.
    pub fn document_schema(&self) -> Option<DocumentSchema<'_>> {
        let Form::OpenApi(_) = self.definition().form() else { return None };
        let root = self.definition().location().node();
        Some(DocumentSchema::new(root, root.document().node(self.schema?), self.kind()))
    }

    /// Returns the OpenAPI document that defines the kind, and the name of its definition; `None` for other kinds.
    pub(crate) fn in_document(&self) -> Option<(Node<'_>, &str)> {
        let Form::OpenApi(_) = self.definition().form() else { return None };
        let root = self.definition().location().node();
        let schemas = root.get("definitions").or_else(|| root.get("components")?.get("schemas"))?;
        let (name, _) = schemas.pairs().find(|(_, schema)| Some(schema.index()) == self.schema)?;
        Some((root, name.text()))
    }
}
