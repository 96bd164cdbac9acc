//! The schemas of definitions as older releases store them.

use crate::base::Published;
use kubeshape_schema::{Additional, Bump, Extra, Items, Property, Release, Rule, Schema};

/// Returns the schema without the members that the release drops.
pub(crate) fn of_schema<'a>(schema: &'a Schema<'a>, release: Release, arena: &'a Bump) -> &'a Schema<'a> {
    let keeps =
        Keeps { examples: Published::Examples.by(release), optional_old_self: Published::OptionalOldSelf.by(release) };
    if keeps.examples && keeps.optional_old_self {
        return schema;
    }
    keeps.schema(schema, arena).map_or(schema, |schema| arena.alloc(schema))
}

struct Keeps {
    examples: bool,
    optional_old_self: bool,
}

impl Keeps {
    /// Returns the schema if something is dropped.
    fn schema<'a>(&self, s: &Schema<'a>, arena: &'a Bump) -> Option<Schema<'a>> {
        let own = s.extra.and_then(|extra| self.extra(extra, arena));
        let properties = self.properties(s.properties, arena);
        let item = s.item().and_then(|item| self.schema(item, arena));
        let additional = s.additional_schema().and_then(|schema| self.schema(schema, arena));
        if own.is_none() && properties.is_none() && item.is_none() && additional.is_none() {
            return None;
        }
        let mut out = *s;
        out.properties = properties.unwrap_or(s.properties);
        if let Some(extra) = own {
            out.extra = Some(arena.alloc(extra));
        }
        if let Some(item) = item {
            out.items = Some(Items::One(arena.alloc(item)));
        }
        if let Some(additional) = additional {
            out.additional = Some(Additional::Schema(arena.alloc(additional)));
        }
        Some(out)
    }

    fn properties<'a>(&self, all: &'a [Property<'a>], arena: &'a Bump) -> Option<&'a [Property<'a>]> {
        let mut out: Option<&'a mut [Property<'a>]> = None;
        for (i, property) in all.iter().enumerate() {
            let Some(schema) = self.schema(&property.schema, arena) else { continue };
            let copy = out.get_or_insert_with(|| arena.alloc_slice_copy(all));
            if let Some(place) = copy.get_mut(i) {
                place.schema = schema;
            }
        }
        out.map(|out| &*out)
    }

    fn extra<'a>(&self, extra: &Extra<'a>, arena: &'a Bump) -> Option<Extra<'a>> {
        let drops_example = !self.examples && extra.example.is_some();
        let drops_rules = !self.optional_old_self && extra.validations.iter().any(|r| r.optional_old_self.is_some());
        if !drops_example && !drops_rules {
            return None;
        }
        let mut out = *extra;
        if drops_example {
            out.example = None;
        }
        if drops_rules {
            let rules: Vec<Rule<'a>> =
                extra.validations.iter().map(|rule| Rule { optional_old_self: None, ..*rule }).collect();
            out.validations = arena.alloc_slice_copy(&rules);
        }
        Some(out)
    }
}
