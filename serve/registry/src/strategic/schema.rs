//! How patches treat a field, according to its type (upstream: `PatchMetaFromStruct`).
//!
//! Go types and OpenAPI documents have the same strategies and merge keys. Only Go types have pointers, which matter
//! for lists at fields that are not lists.

use super::Error;
use crate::document_schema::DocumentSchema;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Fields that are pointers: per line a Go struct and the fields. If several structs have the same name, the one of the
/// newest version is used.
static POINTERS: LazyLock<BTreeSet<(&str, &str)>> = LazyLock::new(|| {
    let fields = |line: &'static str| {
        let (in_struct, fields) = line.split_once(' ').unwrap_or((line, ""));
        fields.split(' ').map(move |field| (in_struct, field))
    };
    include_str!("pointers.txt").lines().flat_map(fields).collect()
});

/// The Go type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'s> {
    /// `None` if the type is unknown.
    schema: Option<DocumentSchema<'s>>,
    is_pointer: bool,
}

/// A field: its type, or that of its items, and how patches of it are merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'s> {
    pub(super) below: Type<'s>,
    /// Whether patches list the members to keep (`retainKeys`).
    pub(super) retains: bool,
    pub(super) strategy: Strategy,
    /// The member that identifies an item; empty if there is none.
    pub(super) key: &'s str,
}

/// How a patch of a field is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Lists are replaced, maps are merged.
    Usual,
    /// Items of lists are merged.
    Merge,
    /// Maps are replaced, too.
    Replace,
}

impl<'s> Type<'s> {
    /// The type of an object.
    pub(super) fn new(schema: Option<DocumentSchema<'s>>) -> Type<'s> {
        Type { schema, is_pointer: false }
    }

    /// Returns the kind of the type, such as `struct`. That of a pointer is `ptr`.
    pub(super) fn kind(self) -> &'static str {
        match self.schema {
            _ if self.is_pointer => "ptr",
            Some(schema) => schema.go_type(),
            None => "interface",
        }
    }

    /// Looks up a field that is an object.
    ///
    /// # Errors
    /// The type has no such field, or no fields at all.
    pub(super) fn object_field(self, name: &str) -> Result<Field<'s>, Error> {
        let Some(schema) = self.schema else {
            return Ok(Field { below: self, retains: false, strategy: Strategy::Usual, key: "" });
        };
        let in_struct = schema.struct_name().ok_or_else(|| Error::NoStruct(schema.go_type()))?;
        let unknown = || Error::UnknownField { in_struct: in_struct.to_owned(), field: name.to_owned() };
        let schema = schema.declared_in_any_case(name).ok_or_else(unknown)?;
        let (retains, strategy) = strategies(schema.keyword("x-kubernetes-patch-strategy").unwrap_or_default())?;
        let key = schema.keyword("x-kubernetes-patch-merge-key").unwrap_or_default();
        let below = Type { schema: Some(schema), is_pointer: POINTERS.contains(&(in_struct, name)) };
        Ok(Field { below, retains, strategy, key })
    }

    /// Looks up a field that is a list. The type of the result is that of an item.
    ///
    /// # Errors
    /// The type has no such field, or the field is not a list.
    pub(super) fn list_field(self, name: &str) -> Result<Field<'s>, Error> {
        let field = self.object_field(name)?;
        if field.below.schema.is_none() {
            return Ok(field);
        }
        if field.below.is_pointer {
            // Upstream treats any pointer as one to a list.
            return Ok(Field { below: Type::new(field.below.schema), ..field });
        }
        if field.below.kind() != "slice" {
            return Err(Error::NoList(self.kind()));
        }
        let Some(items) = field.below.schema.and_then(DocumentSchema::items) else { return Ok(field) };
        if items.go_type() == "slice" {
            return Err(Error::SliceOfSlice);
        }
        Ok(Field { below: Type::new(Some(items)), ..field })
    }
}

/// Reads the strategies of a field (upstream: `extractRetainKeysPatchStrategy`).
fn strategies(text: &str) -> Result<(bool, Strategy), Error> {
    let (retains, strategy) = match text.split_once(',') {
        None if text == "retainKeys" => (true, ""),
        None => (false, text),
        Some(("retainKeys", other) | (other, "retainKeys")) if !other.contains(',') => (true, other),
        Some(_) => return Err(Error::Strategy(text.replace(',', " "))),
    };
    let strategy = match strategy {
        "merge" => Strategy::Merge,
        "replace" => Strategy::Replace,
        _ => Strategy::Usual,
    };
    Ok((retains, strategy))
}
