//! Schemas of structured merge diff.
//!
//! A schema is a list of named types. A type is an [`Atom`]: a scalar, a list, a map, or several of these, between
//! which the value chooses. Structs are maps with fields. Lists and maps refer to other types with a [`TypeRef`], which
//! names a type or contains one inline and may override whether the value is merged or replaced.
//!
//! [`Schema`] stores all of that in a few flat vectors: one string for all names, and fields, lists, maps and atoms
//! that refer to each other by index. It is built by a [`Builder`], which guarantees that inlined types nest without
//! cycles and at most [`MAX_DEPTH`] deep, or by [`read`] from the written form. It is accessed through small views that
//! borrow it. [`print_yaml`] and [`print_json`] write it.
//!
//! Unlike an OpenAPI schema, it neither validates values nor describes them. Unlike upstream's Go type, it caches
//! nothing, so it needs no lock.

mod build;
mod builtin;
mod equal;
mod meta;
mod model;
mod print_json;
mod print_yaml;
mod read;
#[cfg(test)]
mod tests;
mod view;
mod yaml_text;

pub use build::{BuildError, Builder, MapDef, Mark, Ref, UnionDef, UnionFieldDef};
pub use builtin::{
    UNTYPED_ATOMIC, UNTYPED_DEDUCED, add_untyped_types, deduced, untyped_atomic_atom, untyped_deduced_atom,
};
pub use meta::{META, META_ROOT, meta};
pub use model::{AtomId, ListId, MAX_DEPTH, MapId, Relationship, Scalar, Schema};
pub use print_json::print_json;
pub use print_yaml::print_yaml;
pub use read::{ReadError, ReadErrors, read};
pub use view::{Atom, Field, Fields, Keys, List, Map, TypeDef, TypeRef, Types, Union, UnionField, UnionFields, Unions};
