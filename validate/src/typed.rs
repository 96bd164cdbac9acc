//! Objects of built-in kinds, as a server decodes them into its Go types: `sigs.k8s.io/json` with strict decoding.
//!
//! A server has a Go struct for each built-in kind. [`Typed`] takes the struct from the OpenAPI document that describes it,
//! and tells which fields are unknown and which values do not fit their types. The rules behind that (which fields a server
//! requires, which values it takes) exist only as Go code. What the document says of them is returned beside
//! the errors, because servers differ from it in a few places.
//!
//! # Example
//! ```
//! use kubeshape_schema::Bump;
//! use kubeshape_smd::ToValue;
//! use kubeshape_validate::typed::Typed;
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let source = r#"{"definitions": {"example.v1.Tab": {"type": "object", "required": ["name"], "properties": {
//!     "name": {"type": "string"}, "size": {"type": "integer", "format": "int32"}}}}}"#;
//! let mut tape = Tape::new();
//! Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let root = tape.document(source).root().unwrap();
//! let typed = Typed::of_document(root, "example.v1.Tab").unwrap();
//!
//! let arena = Bump::new();
//! let decoded = typed.decode(serde_json::json!({"size": "big", "colour": "red"}).to_value(&arena));
//! assert_eq!(decoded.unknown, ["colour"]);
//! assert_eq!(decoded.errors[0].path, "size");
//! assert_eq!(decoded.errors[0].message, "json: cannot unmarshal string into Go struct field Tab.size of type int32");
//! assert_eq!(decoded.departures[0].to_string(), "name: Required value");
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod compile;
mod decode;
mod text;

pub use decode::{Decoded, Mismatch};

/// The Go types of a kind, as far as an OpenAPI document tells them. It owns everything.
#[derive(Clone, Debug)]
pub struct Typed {
    structs: Vec<Struct>,
    root: Type,
}

#[derive(Clone, Debug, Default)]
struct Struct {
    /// `DeploymentSpec`; empty if the schema has no name.
    name: String,
    /// The name with its package, as Go prints it: `v1.DeploymentSpec`.
    go_name: String,
    /// Sorted by name.
    fields: Vec<(String, Field)>,
    /// What other fields hold; none if there are no others.
    others: Option<Type>,
}

impl Struct {
    fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok()?;
        self.fields.get(at).map(|(_, field)| field)
    }
}

#[derive(Clone, Debug)]
struct Field {
    ty: Type,
    required: bool,
    /// The texts that it may be; empty if it may be any.
    allowed: Vec<String>,
}

#[derive(Clone, Debug)]
enum Type {
    Any,
    Bool,
    Int32,
    Int64,
    Float,
    Text,
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// By its place among the structs.
    Struct(usize),
    Map(Box<Type>),
    List(Box<Type>),
}
