//! What the typed models of OpenAPI documents are made of.
//!
//! [`v2::Document`] and [`v3::Document`] are trees of small structs
//! that are `Copy`, borrow their texts from the source and their lists from an arena, as schemas do. A struct
//! is declared once, as a table of its members in the order in which kube-openapi prints them; its reader,
//! its printer and its walks follow from the table (`object.rs`). Members differ in when they are printed:
//!
//! | mode | printed |
//! |---|---|
//! | `omit` | unless they are empty as rendered |
//! | `keep` | unless they are absent |
//! | `lean` | `kube`: unless empty; `faithful`: unless absent |
//! | `always` | always, `null` or `""` if they are absent |
//! | `faithful` | as `lean`, but kube-openapi does not know them: only with [`Profile::Faithful`] |
//!
//! *Empty* is false, absent, null, `""`, `{}` and `[]` as rendered (spec: publishing, §3.6).

mod custom;
mod member;
mod object;
mod print;
mod walk;

pub use member::{Boxed, Entry, Extensions, Map, Member, Reference, Texts};
pub use object::Object;
pub(crate) use object::object;
pub use print::Printer;
pub use walk::{Mapper, Site, Visitor, map_schema, visit_schema};

use crate::{v2, v3};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Code, Converted, Profile};
use kubeshape_yaml::Node;

/// A document of either dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Document<'a> {
    /// OpenAPI v2.
    V2(v2::Document<'a>),
    /// OpenAPI v3.
    V3(v3::Document<'a>),
}

/// Reads a document as `read` says, unless something in it has the wrong type.
pub(crate) fn read_document<'a, T: Object<'a>>(
    root: Node<'a>,
    arena: &'a Bump,
    profile: Profile,
) -> Converted<'a, Option<T>> {
    let mut reader = Reader::new(arena, Rules::Document(profile));
    let value = T::read(&mut reader, root);
    if let (Some(text), Profile::Kube) = (root.document().lone_surrogate(), profile) {
        let detail = || "expected a string, found half of a surrogate pair in one".to_owned();
        reader.error(Code::WrongType, text, detail);
    }
    let value = (!reader.failed()).then_some(value);
    Converted { value, notes: reader.into_notes() }
}
