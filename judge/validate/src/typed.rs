//! Decodes objects of built-in kinds as a server decodes them into its Go types: `sigs.k8s.io/json` with strict
//! decoding.
//!
//! A server has a Go struct for each built-in kind. [`Typed`] takes the struct from the OpenAPI document that describes
//! it, and tells which fields are unknown and which values do not fit their types. The rules behind that (which fields
//! a server requires, which values it takes) exist only as Go code. What the document says of them is returned beside
//! the errors, because servers differ from it in a few places.
//!
//! # Example
//! ```
//! use kubeshape_schema::Bump;
//! use kubeshape_value::ToValue;
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
mod differences;
mod go;
mod names;
mod source;
mod stored;
mod text;
mod walk;

pub use compile::is_go_type;
pub use decode::{Decoded, Mismatch};
pub use differences::Differences;
pub(crate) use differences::Which;
pub use names::GO_NAMES;
pub(crate) use stored::is_empty;
pub(crate) use walk::Below;

use crate::literal::Literal;
use kubeshape_yaml::{Kind, Node};

/// Types that parse their JSON themselves. Documents describe them as strings, so they are recognised by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `500m`
    Quantity,
    /// `8080` or `http`
    IntOrString,
    /// `2026-01-02T03:04:05.000006Z`
    MicroTime,
    /// `2026-01-02T03:04:05Z`
    Time,
}

impl Special {
    /// Returns the type that a definition describes, if it is one of these.
    pub fn of_definition(name: &str) -> Option<Special> {
        match compile::last_of(name, 3) {
            "api.resource.Quantity" => Some(Special::Quantity),
            "util.intstr.IntOrString" => Some(Special::IntOrString),
            "meta.v1.MicroTime" => Some(Special::MicroTime),
            "meta.v1.Time" => Some(Special::Time),
            _ => None,
        }
    }
}

/// Returns whether a value is the zero value of its type in Go.
fn is_zero(value: Node<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::False => true,
        Kind::Int | Kind::Float => matches!(value.text(), "0" | "0.0"),
        Kind::Str => value.text().is_empty(),
        Kind::Map | Kind::Seq => value.is_empty(),
        Kind::True => false,
    }
}

/// The Go types of a kind, as far as an OpenAPI document describes them. It owns all of its data.
#[derive(Clone, Debug)]
pub struct Typed {
    structs: Vec<Struct>,
    root: Type,
}

impl Typed {
    /// Returns the names of the fields that are declared at a path in an object. The path consists of keys, and of any
    /// name for the items of a list. Empty if no fields are declared there.
    pub fn members(&self, path: &[&str]) -> Vec<&str> {
        let below = |at: &Type, step: &str| -> Option<Type> {
            match at {
                Type::Struct(at) => self.structs.get(*at)?.field(step).map(|field| field.ty.clone()),
                Type::Map(inner) | Type::List(inner) => Some((**inner).clone()),
                _ => None,
            }
        };
        let found = path.iter().try_fold(self.root.clone(), |at, step| below(&at, step));
        let Some(Type::Struct(found)) = found else { return Vec::new() };
        let fields = self.structs.get(found).map(|found| found.fields.as_slice()).unwrap_or_default();
        fields.iter().map(|(name, _)| name.as_str()).collect()
    }
}

#[derive(Clone, Debug, Default)]
struct Struct {
    /// `DeploymentSpec`. Empty if the schema has no name.
    name: String,
    /// The name with its package, as Go prints it: `v1.DeploymentSpec`.
    go_name: String,
    /// Whether it is a Go type (see [`is_go_type`]).
    is_go: bool,
    /// The last three parts of the definition's name, `core.v1.Container`, if it is one of Kubernetes' own.
    definition: String,
    /// Sorted by name.
    fields: Vec<(String, Field)>,
    /// The type of other fields. `None` if there are no others.
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
    /// Whether it is a struct that always exists in Go, so that a server checks its required fields.
    is_there: bool,
    /// The allowed texts. Empty if any text is allowed.
    allowed: Vec<String>,
    go_name: names::Name,
    /// The value that the document gives for an absent field: `+default` of the Go type.
    default: Option<Literal>,
    /// When Go prints it; `None` if the struct is not in the table of Go's types.
    go: Option<go::Facts>,
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
    /// By its index among the structs.
    Struct(usize),
    Map(Box<Type>),
    List(Box<Type>),
}
