//! Renames parts in all references to them.

use super::collect::{DISCRIMINATOR, is_bare_name, mapping};
use super::{Section, Target, reference_to};
use crate::model::{Boxed, Entry, Map, Mapper, Site, map_schema, visit_schema};
use crate::{v2, v3};
use kubeshape_schema::{Bump, Dialect, Extra, Json, Property, Schema, order};
use std::collections::HashMap;

/// New names by section and old name.
#[derive(Debug, Default)]
pub(crate) struct Renames<'a> {
    names: HashMap<(Section, &'a str), &'a str>,
    schemes: bool,
}

impl<'a> Renames<'a> {
    pub(crate) fn insert(&mut self, section: Section, old: &'a str, new: &'a str) {
        if old != new {
            self.names.insert((section, old), new);
            self.schemes |= section == Section::SecuritySchemes;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(crate) fn of(&self, section: Section, name: &'a str) -> &'a str {
        self.names.get(&(section, name)).copied().unwrap_or(name)
    }

    /// Returns a map with new keys, sorted again.
    pub(crate) fn keys<T: Copy>(&self, section: Section, map: Map<'a, T>, arena: &'a Bump) -> Map<'a, T> {
        if map.is_empty() || self.names.is_empty() {
            return map;
        }
        let entries = map.iter().map(|entry| Entry { name: self.of(section, entry.name), ..*entry });
        let entries = arena.alloc_slice_fill_iter(entries);
        entries.sort_by(|a, b| order::utf16(a.name, b.name));
        Map::new(entries)
    }

    /// Does the same for definitions.
    pub(crate) fn definitions(&self, properties: &'a [Property<'a>], arena: &'a Bump) -> &'a [Property<'a>] {
        if properties.is_empty() || self.names.is_empty() {
            return properties;
        }
        let properties =
            properties.iter().map(|property| Property { name: self.of(Section::Schemas, property.name), ..*property });
        let properties = arena.alloc_slice_fill_iter(properties);
        properties.sort_by(|a, b| order::utf16(a.name, b.name));
        properties
    }
}

/// Rewrites references.
#[derive(Debug)]
pub(crate) struct Rewriter<'r, 'a> {
    arena: &'a Bump,
    dialect: Dialect,
    renames: &'r Renames<'a>,
    written: HashMap<&'a str, &'a str>,
}

impl<'r, 'a> Rewriter<'r, 'a> {
    pub(crate) fn new(renames: &'r Renames<'a>, dialect: Dialect, arena: &'a Bump) -> Self {
        Rewriter { arena, dialect, renames, written: HashMap::new() }
    }

    /// Returns whether no part has another name.
    pub(crate) fn is_idle(&self) -> bool {
        self.renames.is_empty()
    }

    fn text(&mut self, text: &'a str) -> &'a str {
        if let Some(known) = self.written.get(text) {
            return known;
        }
        let new = match Target::of(text, self.dialect) {
            Target::Named { section, name, rest } => self
                .renames
                .names
                .get(&(section, &*name))
                .map_or(text, |new| &*self.arena.alloc_str(&reference_to(section, new, &rest, self.dialect))),
            _ => text,
        };
        self.written.insert(text, new);
        new
    }

    /// Returns the new value of a mapping, which may be a bare name instead of a reference.
    fn mapped(&mut self, text: &'a str) -> &'a str {
        if is_bare_name(text, self.dialect) {
            match self.renames.names.get(&(Section::Schemas, text)) {
                Some(new) => self.arena.alloc_str(&reference_to(Section::Schemas, new, "", self.dialect)),
                None => text,
            }
        } else {
            self.text(text)
        }
    }

    fn touches(&mut self, schema: &Schema<'a>) -> bool {
        if !schema.reference.is_empty() && self.text(schema.reference) != schema.reference {
            return true;
        }
        let mapping = mapping(schema).unwrap_or_default();
        if mapping.iter().any(|(_, value)| value.as_str().is_some_and(|text| self.mapped(text) != text)) {
            return true;
        }
        let mut touches = false;
        visit_schema(schema, &mut |_, inner| touches = touches || self.touches(inner));
        touches
    }

    fn rewritten(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        let mut out = map_schema(schema, self.arena, &mut |_, inner| self.rewritten(inner));
        if !schema.reference.is_empty() {
            out.reference = self.text(schema.reference);
        }
        if let Some(extensions) = self.discriminator(schema) {
            out.extra = Some(self.arena.alloc(Extra { extensions, ..*out.extra() }));
        }
        out
    }

    /// Returns the extensions with a discriminator that still distinguishes the same values: without a mapping, its
    /// values are names of definitions, and a new mapping keeps them.
    fn discriminator(&mut self, schema: &Schema<'a>) -> Option<&'a [(&'a str, Json<'a>)]> {
        let extra = schema.extra();
        let at = extra.extensions.iter().position(|(name, _)| *name == DISCRIMINATOR)?;
        let (_, Json::Object(members)) = extra.extensions[at] else { return None };
        let mut entries: Vec<(&'a str, Json<'a>)> = Vec::new();
        let mut mapped: Vec<&'a str> = Vec::new();
        for (value, target) in mapping(schema).unwrap_or_default() {
            let target = match target {
                Json::Str(text) => {
                    let text = self.mapped(text);
                    mapped.push(text);
                    Json::Str(text)
                }
                other => *other,
            };
            entries.push((value, target));
        }
        for branch in extra.one_of.iter().chain(extra.any_of) {
            let new = self.text(branch.reference);
            if let Target::Named { section: Section::Schemas, name, rest } = Target::of(branch.reference, self.dialect)
                && new != branch.reference
                && rest.is_empty()
                && !mapped.contains(&new)
            {
                entries.push((self.arena.alloc_str(&name), Json::Str(new)));
            }
        }
        if entries.is_empty() {
            return None;
        }
        let kept = order::sort_last_wins(&mut entries, |(name, _)| name);
        let entries = Json::Object(self.arena.alloc_slice_copy(&entries[..kept]));
        let mut members: Vec<(&'a str, Json<'a>)> = members.to_vec();
        members.retain(|(name, _)| *name != "mapping");
        members.push(("mapping", entries));
        members.sort_by(|a, b| order::utf16(a.0, b.0));
        let extensions = self.arena.alloc_slice_copy(extra.extensions);
        extensions[at].1 = Json::Object(self.arena.alloc_slice_copy(&members));
        Some(extensions)
    }

    fn security(&self, security: v2::Security<'a>) -> v2::Security<'a> {
        let requirements = security?;
        Some(self.arena.alloc_slice_fill_iter(
            requirements.iter().map(|map| self.renames.keys(Section::SecuritySchemes, *map, self.arena)),
        ))
    }
}

impl<'a> Mapper<'a> for Rewriter<'_, 'a> {
    fn arena(&self) -> &'a Bump {
        self.arena
    }

    fn schema(&mut self, _: Site, schema: &Schema<'a>) -> Schema<'a> {
        if !self.is_idle() && self.touches(schema) { self.rewritten(schema) } else { *schema }
    }

    fn reference(&mut self, _: Site, reference: &'a str) -> &'a str {
        self.text(reference)
    }
}

/// Returns a copy of a path item with every operation replaced.
macro_rules! with_operations {
    ($item:expr, $arena:expr, [$($method:ident)*], $f:expr) => {{
        let mut out = $item;
        $(out.$method = out.$method.map(|operation| &*$arena.alloc($f(operation)));)*
        out
    }};
}
pub(crate) use with_operations;

/// A path item of either dialect.
pub(crate) trait Item<'a>: crate::model::Object<'a> {
    /// Returns the item with other references.
    fn rewritten(&self, rewriter: &mut Rewriter<'_, 'a>) -> Self {
        let item = self.replace(Site::PathItem, rewriter);
        if rewriter.renames.schemes { item.with_schemes(rewriter) } else { item }
    }

    /// Returns the item with other names of security schemes.
    fn with_schemes(self, rewriter: &Rewriter<'_, 'a>) -> Self;

    /// Returns the ids of its operations, and their locations.
    fn operation_ids(&self) -> impl Iterator<Item = (&'a str, u32)>;
}

impl<'a> Item<'a> for v2::PathItem<'a> {
    fn operation_ids(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.operations().map(|operation| (operation.operation_id, operation.at))
    }

    fn with_schemes(self, rewriter: &Rewriter<'_, 'a>) -> Self {
        with_operations!(
            self,
            rewriter.arena,
            [get put post delete options head patch],
            |operation: &v2::Operation<'a>| v2::Operation {
                security: rewriter.security(operation.security),
                ..*operation
            }
        )
    }
}

impl<'a> Item<'a> for v3::PathItem<'a> {
    fn operation_ids(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.operations().map(|operation| (operation.operation_id, operation.at))
    }

    fn with_schemes(self, rewriter: &Rewriter<'_, 'a>) -> Self {
        with_operations!(
            self,
            rewriter.arena,
            [get put post delete options head patch trace],
            |operation: &v3::Operation<'a>| v3::Operation {
                security: rewriter.security(operation.security),
                callbacks: callbacks(operation.callbacks, rewriter),
                ..*operation
            }
        )
    }
}

type Callbacks<'a> = Map<'a, Boxed<'a, v3::Callback<'a>>>;

pub(crate) fn callbacks<'a>(map: Callbacks<'a>, rewriter: &Rewriter<'_, 'a>) -> Callbacks<'a> {
    if !rewriter.renames.schemes {
        return map;
    }
    let arena = rewriter.arena;
    let entries = map.iter().map(|entry| Entry {
        value: entry.value.map(|callback| {
            let items = callback.items.iter().map(|item| Entry { value: item.value.with_schemes(rewriter), ..*item });
            let items = Map { entries: arena.alloc_slice_fill_iter(items), ..callback.items };
            &*arena.alloc(v3::Callback { items, ..*callback })
        }),
        ..*entry
    });
    Map { entries: arena.alloc_slice_fill_iter(entries), ..map }
}
