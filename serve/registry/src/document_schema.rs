//! Schemas of built-in kinds in an OpenAPI document.

use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Node;

/// The maximum number of references in a row. Documents of servers have one or two.
const MAX_REFERENCES: usize = 8;

/// A schema in an OpenAPI document, v2 or v3.
///
/// # Example
/// ```
/// use kubeshape_registry::{Gvk, Registry};
///
/// let document = r##"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": {
///   "example.v1.Tab": {"type": "object", "properties": {"spec": {"$ref": "#/components/schemas/example.v1.TabSpec"}},
///     "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Tab"}]},
///   "example.v1.TabSpec": {"type": "object", "properties": {"sizes": {"type": "array", "items": {"type": "integer"}}}}}}}"##;
/// let mut registry = Registry::default();
/// registry.set_input("tabs", kubeshape_input::read("tabs.json", document.as_bytes(), Default::default()));
/// let kind = registry.kind(Gvk::new("example.com/v1", "Tab")).unwrap();
/// let spec = kind.document_schema().unwrap().declared("spec").unwrap();
/// assert_eq!(spec.go_type(), "struct");
/// assert_eq!(spec.struct_name(), Some("TabSpec"));
/// assert_eq!(spec.declared("sizes").unwrap().go_type(), "slice");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DocumentSchema<'s> {
    root: Node<'s>,
    node: Node<'s>,
    /// The definition that this schema is; `None` for a schema below it.
    name: Option<&'s str>,
}

impl<'s> DocumentSchema<'s> {
    /// Returns the definition of a kind.
    pub(crate) fn new(root: Node<'s>, node: Node<'s>, kind: &'s str) -> DocumentSchema<'s> {
        DocumentSchema { root, node, name: Some(kind) }
    }

    /// Returns the definition that it refers to, or itself.
    fn resolved(self) -> DocumentSchema<'s> {
        let mut schema = self;
        for _ in 0..MAX_REFERENCES {
            let Some(name) = schema.reference() else { break };
            let schemas = self.root.get("definitions").or_else(|| self.root.get("components")?.get("schemas"));
            let Some(node) = schemas.and_then(|schemas| schemas.get(name)) else { break };
            schema = DocumentSchema { node, name: name.rsplit('.').next(), ..self };
        }
        schema
    }

    fn reference(self) -> Option<&'s str> {
        let only = self.node.get("allOf").and_then(|all| all.items().next());
        let reference = self.node.get("$ref").or_else(|| only?.get("$ref")).and_then(Node::as_str);
        reference?.rsplit('/').next()
    }

    /// Returns the value of a keyword that is a string.
    pub(crate) fn keyword(self, name: &str) -> Option<&'s str> {
        self.node.get(name).and_then(Node::as_str)
    }

    /// Returns the default.
    pub fn default<'a>(self, arena: &'a Bump) -> Option<Value<'a>>
    where
        's: 'a,
    {
        self.node.get("default").map(|node| Value::from_node(node, arena))
    }

    /// Returns the number of its node in the document.
    pub fn place(self) -> usize {
        self.node.index() as usize
    }

    /// Returns the schema of a named property.
    pub fn declared(self, name: &str) -> Option<DocumentSchema<'s>> {
        let schema = self.resolved();
        Some(DocumentSchema { node: schema.node.get("properties")?.get(name)?, name: None, ..schema })
    }

    /// Returns the schema of a property like Go finds it: the exact name first, then the first one that differs only in
    /// case (upstream: `LookupPatchMetadataForStruct`).
    pub(crate) fn declared_in_any_case(self, name: &str) -> Option<DocumentSchema<'s>> {
        self.declared(name).or_else(|| {
            let schema = self.resolved();
            let mut properties = schema.node.get("properties")?.pairs();
            let (_, node) = properties.find(|(key, _)| is_same_folded(key.text(), name))?;
            Some(DocumentSchema { node, name: None, ..schema })
        })
    }

    /// Returns the schema of a member: of the property, or of `additionalProperties`.
    pub fn property(self, name: &str) -> Option<DocumentSchema<'s>> {
        let schema = self.resolved();
        let additional =
            || Some(DocumentSchema { node: schema.node.get("additionalProperties")?, name: None, ..schema });
        schema.declared(name).or_else(additional)
    }

    /// Returns the schema of the items of a list.
    pub fn items(self) -> Option<DocumentSchema<'s>> {
        let schema = self.resolved();
        Some(DocumentSchema { node: schema.node.get("items")?, name: None, ..schema })
    }

    /// Returns the kind of Go type that it describes, such as `struct` or `int32`. Definitions are structs.
    pub fn go_type(self) -> &'static str {
        if self.name.is_some() || self.reference().is_some() {
            return "struct";
        }
        match (self.keyword("type"), self.keyword("format")) {
            (Some("object"), _) => "map",
            (Some("array"), _) | (Some("string"), Some("byte")) => "slice",
            (Some("string"), _) => "string",
            (Some("boolean"), _) => "bool",
            (Some("number"), _) => "float64",
            (Some("integer"), Some("int32")) => "int32",
            (Some("integer"), Some("int64")) => "int64",
            (Some("integer"), _) => "int",
            _ => "interface",
        }
    }

    /// Returns the name of the Go struct, which is the last part of its definition's name; `None` if it is not a
    /// struct.
    pub fn struct_name(self) -> Option<&'s str> {
        self.resolved().name
    }
}

/// Returns whether two names are equal when case is ignored (Go: `bytes.EqualFold`).
fn is_same_folded(a: &str, b: &str) -> bool {
    fn fold(text: &str) -> impl Iterator<Item = char> + '_ {
        text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
    }
    fold(a).eq(fold(b))
}
