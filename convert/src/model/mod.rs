//! The building blocks of the typed models of OpenAPI documents.
//!
//! [`v2::Document`](crate::v2::Document) and [`v3::Document`](crate::v3::Document) are trees of small structs that are
//! `Copy` and borrow their strings from the source and their lists from an arena, as schemas do. A struct is declared
//! once, as a table of its members in the order in which kube-openapi prints them. Its reader, its printer and its
//! walks follow from the table (`table.rs`). A member's mode decides when it is printed:
//!
//! | mode | printed |
//! |---|---|
//! | `omit` | unless it is empty as rendered |
//! | `keep` | unless it is absent |
//! | `lean` | `kube`: unless it is empty; `faithful`: unless it is absent |
//! | `always` | always, as `null` or `""` if it is absent |
//! | `faithful` | as `lean`, but only with [`Profile::Faithful`], because kube-openapi does not have it |
//!
//! *Empty* means that it would print as `false`, `null`, `""`, `{}` or `[]`.
//!
//! Objects whose members have free names (paths, responses, callbacks) have no table; they are in `named.rs`.

mod member;
mod named;
mod object;
mod print;
mod shared;
mod table;
mod walk;

pub(crate) use member::in_place;
pub use member::{Boxed, Entry, Map, Member, Reference, Texts};
pub(crate) use named::print_extensions;
pub use named::{Callback, Paths, ResponseObject, Responses};
pub use object::{Extensions, Object};
pub use print::Printer;
pub(crate) use print::{print_in_pieces, print_within};
pub use shared::{Contact, ExternalDocs, Info, License, Security, Tag};
pub(crate) use table::object;
pub use walk::{Mapper, Site, Visitor, map_schema, visit_schema};

use kubeshape_schema::read::{Language, Reader, Rules};
use kubeshape_schema::{Bump, Code, Converted, Profile};
use kubeshape_yaml::Node;

/// Reads a document, unless something in it has the wrong type.
pub(crate) fn read_document<'a, T: Object<'a>>(
    root: Node<'a>,
    arena: &'a Bump,
    profile: Profile,
    language: Language,
) -> Converted<'a, Option<T>> {
    let mut reader = Reader::new(arena, Rules::Document(profile)).in_language(language);
    let value = T::read(&mut reader, root);
    if let (Some(text), Profile::Kube) = (root.document().lone_surrogate(), profile) {
        let detail = || "expected a string, found half of a surrogate pair in one".to_owned();
        reader.error(Code::WrongType, text, detail);
    }
    let value = (!reader.failed()).then_some(value);
    Converted { value, notes: reader.into_notes() }
}
