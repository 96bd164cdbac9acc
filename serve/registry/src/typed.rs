//! Validates objects of kinds that OpenAPI documents define, as a server decodes them.

use crate::definition::Form;
use crate::document_schema::DocumentSchema;
use crate::kind::Kind;
use kubeshape_validate::typed::Typed;
use kubeshape_yaml::Node;

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
        Typed::of_document(root, name)
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
