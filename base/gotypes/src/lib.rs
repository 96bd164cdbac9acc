//! Go's types of Kubernetes as tables, and one way to decode, print and compare with zero for all of them.
//!
//! - **Table.** A [`Struct`] has a Go name and [`Field`]s in the order of Go's source. A field has its JSON name, its
//!   [`Type`], [when JSON contains it](Printed) and its protobuf number. Tables are constants: nothing is built per
//!   object. To add a kind, add a table. [`metadata`] has `ObjectMeta`, [`definition`] has CustomResourceDefinition.
//! - **Decode.** [`normal`] reads a value into a type. It reports unknown fields by path, drops empty fields that Go
//!   does not print, and adds zero values that Go prints.
//! - **Print.** [`write()`] appends JSON as `encoding/json` does: fields in struct order, `omitempty` applied.
//!   [`protobuf`](protobuf()) appends the message that Go's generated code writes: fields in number order, zero values
//!   included.
//! - **Built-in kinds.** [`members`] is the table of all structs of Kubernetes' own kinds, in a file.
//! - **Zero.** The zero value of a type is `normal` of an empty map.
//!
//! # Example
//! ```
//! use kubeshape_gotypes::{definition::DEFINITION, normal, write};
//! use kubeshape_value::{Bump, ToValue};
//!
//! let arena = Bump::new();
//! let object = serde_json::json!({"kind": "CustomResourceDefinition", "colour": "red"});
//! let decoded = normal(&DEFINITION, object.to_value(&arena), &arena);
//! assert_eq!(decoded.unknown, ["colour"]);
//! let mut out = Vec::new();
//! write(&DEFINITION, decoded.value, &mut out);
//! assert!(out.starts_with(br#"{"kind":"CustomResourceDefinition","metadata":{},"spec":{"group":"","#));
//! ```

mod decode;
pub mod definition;
pub mod members;
pub mod metadata;
mod print;
pub mod proto;
#[cfg(test)]
mod tests;

pub use decode::{Normal, normal};
pub use print::{write, write_typed};
pub use proto::protobuf;

use kubeshape_value::Value;

/// A Go struct.
#[derive(Debug)]
pub struct Struct {
    /// Its name in Go, without the package.
    pub name: &'static str,
    /// Its fields, in the order of Go's source.
    pub fields: &'static [Field],
}

impl Struct {
    /// Returns the field with a JSON name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// When JSON contains it.
    pub printed: Printed,
    /// Its protobuf number; 0 if the table has none.
    pub number: u32,
}

/// A Go type.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A string type, with its name in Go.
    Text(&'static str),
    /// `bool`
    Bool,
    /// `int32` or `int64`
    Int,
    /// `float64`
    Float,
    /// `metav1.Time`
    Time,
    /// Any JSON value: `apiextensions.JSON`, `FieldsV1`.
    Any,
    /// `metav1.ObjectMeta` of an object. [`normal`] returns it unchanged: it is decoded separately.
    Metadata,
    /// A struct.
    Of(&'static Struct),
    /// A slice.
    List(&'static Type),
    /// A map with string keys.
    Map(&'static Type),
    /// `JSONSchemaPropsOrArray`, `…OrBool`, `…OrStringArray`: a schema, or the given type. Go
    /// decodes it with `UnmarshalJSON`, so strict decoding does not look into it.
    SchemaOr(&'static Type),
}

/// When JSON contains a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// Always; a missing one as Go's zero value.
    Always,
    /// If it is not Go's zero value: `omitempty`.
    Filled,
    /// If it is set: a pointer with `omitempty`.
    Set,
}

/// The type `string`.
pub const STRING: Type = Type::Text("string");

/// A field without a protobuf number.
const fn field(name: &'static str, ty: Type, printed: Printed) -> Field {
    Field { name, ty, printed, number: 0 }
}

/// A field with its protobuf number.
const fn numbered(number: u32, name: &'static str, ty: Type, printed: Printed) -> Field {
    Field { name, ty, printed, number }
}

/// Returns whether a value is Go's zero value, or an empty list or map.
fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}
