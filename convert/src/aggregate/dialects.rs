//! The differences between the dialects when documents are aggregated.

use super::printed;
use super::root::Root;
use crate::document::Document;
use crate::graph::rewrite::{Item, with_operations};
use crate::model::{Entry, Map, Member};
use crate::{v2, v3};
use kubeshape_schema::{Bump, Code, Note};

/// A document of one of the dialects.
pub(super) trait Source<'a>: Copy {
    /// The type of its path items.
    type Item: Item<'a> + Member<'a>;

    /// Whether Kubernetes' aggregator uses root members that apply to all operations only from the first document, and
    /// leaves out those of others.
    const ROOT_IS_FIRST: bool;

    /// Returns the document as one of any dialect.
    fn wrapped(self) -> Document<'a>;

    /// Returns the paths.
    fn items(&self) -> Option<Map<'a, Self::Item>>;

    /// Returns the paths, with the root members that apply to all operations and differ from those of the first
    /// document.
    fn items_alone(&self, first: &Root, arena: &'a Bump) -> Option<Map<'a, Self::Item>>;

    /// Returns what Kubernetes' aggregator uses of a document that is not the first: paths, definitions and parameters
    /// of v2. Notes what is left out.
    fn as_upstream_takes(self, notes: &mut Vec<Note<'a>>) -> Self;
}

impl<'a> Source<'a> for v2::Document<'a> {
    type Item = v2::PathItem<'a>;

    const ROOT_IS_FIRST: bool = true;

    fn wrapped(self) -> Document<'a> {
        Document::V2(self)
    }

    fn items(&self) -> Option<Map<'a, v2::PathItem<'a>>> {
        self.paths.map(|paths| paths.items)
    }

    fn items_alone(&self, first: &Root, arena: &'a Bump) -> Option<Map<'a, v2::PathItem<'a>>> {
        let items = self.items()?;
        let security = printed(&self.security) != first.security;
        let consumes = (printed(&self.consumes) != first.consumes).then_some(self.consumes);
        let produces = (printed(&self.produces) != first.produces).then_some(self.produces);
        let schemes = if printed(&self.schemes) == first.schemes { &[] } else { self.schemes };
        if !security && consumes.is_none() && produces.is_none() && schemes.is_empty() {
            return Some(items);
        }
        let moved = |operation: &v2::Operation<'a>| v2::Operation {
            security: operation.security.or(security.then(|| self.security.unwrap_or_default())),
            consumes: operation.consumes.or(consumes),
            produces: operation.produces.or(produces),
            schemes: if operation.schemes.is_empty() { schemes } else { operation.schemes },
            ..*operation
        };
        let items_moved = items.iter().map(|entry| Entry {
            value: with_operations!(entry.value, arena, [get put post delete options head patch], moved),
            ..*entry
        });
        Some(Map { entries: arena.alloc_slice_fill_iter(items_moved), ..items })
    }

    fn as_upstream_takes(self, notes: &mut Vec<Note<'a>>) -> Self {
        for (name, count, at) in [
            ("responses", self.responses.entries.len(), self.responses.entries.first().map(|entry| entry.at)),
            (
                "securityDefinitions",
                self.security_definitions.entries.len(),
                self.security_definitions.entries.first().map(|entry| entry.at),
            ),
            ("tags", self.tags.len(), self.tags.first().map(|tag| tag.at)),
            ("security", usize::from(self.security.is_some()), None),
            ("consumes", self.consumes.len(), None),
            ("produces", self.produces.len(), None),
            ("schemes", self.schemes.len(), None),
        ] {
            if count > 0 {
                let detail = format!("{name}, which Kubernetes' aggregator takes from the first document alone");
                notes.push(Note::new(Code::AggregateDropped, at.unwrap_or(self.at), detail));
            }
        }
        v2::Document {
            responses: Map::default(),
            security_definitions: Map::default(),
            security: None,
            tags: &[],
            consumes: &[],
            produces: &[],
            schemes: &[],
            ..self
        }
    }
}

impl<'a> Source<'a> for v3::Document<'a> {
    type Item = v3::PathItem<'a>;

    const ROOT_IS_FIRST: bool = false;

    fn wrapped(self) -> Document<'a> {
        Document::V3(self)
    }

    fn items(&self) -> Option<Map<'a, v3::PathItem<'a>>> {
        self.paths.map(|paths| paths.items)
    }

    fn items_alone(&self, first: &Root, arena: &'a Bump) -> Option<Map<'a, v3::PathItem<'a>>> {
        let items = self.items()?;
        let security = printed(&self.security) != first.security;
        let servers = if printed(&self.servers) == first.servers {
            &[][..]
        } else if self.servers.is_empty() {
            // The meaning of a document without servers.
            arena.alloc_slice_copy(&[v3::Server { url: "/", ..v3::Server::default() }])
        } else {
            self.servers
        };
        if !security && servers.is_empty() {
            return Some(items);
        }
        let moved = |operation: &v3::Operation<'a>| v3::Operation {
            security: operation.security.or(security.then(|| self.security.unwrap_or_default())),
            ..*operation
        };
        let items_moved = items.iter().map(|entry| {
            let item = with_operations!(entry.value, arena, [get put post delete options head patch trace], moved);
            let servers = if item.servers.is_empty() { servers } else { item.servers };
            Entry { value: v3::PathItem { servers, ..item }, ..*entry }
        });
        Some(Map { entries: arena.alloc_slice_fill_iter(items_moved), ..items })
    }

    fn as_upstream_takes(self, _: &mut Vec<Note<'a>>) -> Self {
        self
    }
}
