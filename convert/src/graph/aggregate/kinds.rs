//! Uniting lists of group-version-kinds (upstream: `mergedGVKs`).

use crate::graph::split::{KINDS, kind_of, kinds_of, sort_key, with_kinds};
use kubeshape_schema::{Bump, Json, Schema};
use std::collections::HashSet;

/// The kinds of a definition that several documents share.
#[derive(Debug)]
pub(super) struct Kinds<'a> {
    list: Vec<Json<'a>>,
    seen: HashSet<(&'a str, &'a str, &'a str)>,
    grown: bool,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(schema: &Schema<'a>) -> Self {
        let list = kinds_of(schema).unwrap_or_default().to_vec();
        let seen = list.iter().filter_map(kind_of).collect();
        Kinds { list, seen, grown: false }
    }

    /// Adds the kinds of an equal definition. What is no kind stays out.
    pub(super) fn unite(&mut self, other: &Schema<'a>) {
        for kind in kinds_of(other).unwrap_or_default() {
            if kind_of(kind).is_some_and(|key| self.seen.insert(key)) {
                self.list.push(*kind);
                self.grown = true;
            }
        }
    }

    /// The definition with the kinds of all, sorted if there are more than it had.
    pub(super) fn apply(mut self, schema: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
        if !self.grown {
            return *schema;
        }
        self.list.sort_by_cached_key(|kind| kind_of(kind).map(sort_key));
        with_kinds(schema, Json::Array(arena.alloc_slice_copy(&self.list)), arena)
    }
}

/// The definition without its kinds, to compare by.
pub(super) fn without_kinds<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    let extensions = schema.extra().extensions;
    if !extensions.iter().any(|(name, _)| *name == KINDS) {
        return *schema;
    }
    let kept = extensions.iter().filter(|(name, _)| *name != KINDS).copied();
    let kept = bumpalo::collections::Vec::from_iter_in(kept, arena).into_bump_slice();
    let extra = kubeshape_schema::Extra { extensions: kept, ..*schema.extra() };
    Schema { extra: Some(arena.alloc(extra)), ..*schema }
}
