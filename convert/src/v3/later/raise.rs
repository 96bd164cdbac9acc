//! Converts OpenAPI 3.0 to OpenAPI 3.1.

use super::{BEFORE, Document, KEPT, ORIGINAL, VERSION, VERSION_BEFORE, to_json};
use crate::budget::{MOST_MEMORY, too_large};
use crate::model::{Mapper, Object as _, Site, map_schema};
use kubeshape_schema::read::{NULLABLE, is_extension, is_null};
use kubeshape_schema::{Additional, Bump, Converted, Dependency, Extra, Flags, Items, Json, Schema, Type, order};
use std::collections::BTreeSet;

/// Keywords of OpenAPI 3.0 that are in the extensions of schemas.
const OPENAPI: [&str; 4] = ["deprecated", "discriminator", "writeOnly", "xml"];

/// The schema that accepts null.
fn null(at: u32, arena: &Bump) -> Schema<'_> {
    let extra = arena.alloc(Extra { other_type: "null", ..Extra::default() });
    Schema { ty: Type::Other, extra: Some(extra), at, ..Schema::default() }
}

pub(super) fn document<'a>(
    document: &Document<'a>,
    arena: &'a Bump,
    most_bytes: usize,
) -> Converted<'static, Option<Document<'a>>> {
    let before = arena.allocated_bytes();
    let most = before.saturating_add(most_bytes.saturating_mul(4).min(MOST_MEMORY));
    let mut raiser = Raiser { arena, most, is_inside: false, is_over: false };
    let mut out = document.replace(Site::PathItem, &mut raiser);
    if raiser.is_over {
        return Converted { value: None, notes: vec![too_large(document.at, most_bytes)] };
    }
    out.openapi = VERSION;
    if document.openapi != BEFORE || document.paths.is_none() {
        let mut extensions: Vec<_> = document.extensions.to_vec();
        extensions.retain(|(name, _)| *name != VERSION_BEFORE);
        extensions.push((VERSION_BEFORE, Json::Str(document.openapi)));
        extensions.sort_by(|a, b| order::utf16(a.0, b.0));
        out.extensions = arena.alloc_slice_copy(&extensions);
    }
    Converted { value: Some(out), notes: Vec::new() }
}

/// Converts schemas.
struct Raiser<'a> {
    arena: &'a Bump,
    /// The maximum bytes of the arena. Schemas that are shared in memory are copied at each use.
    most: usize,
    /// Whether a schema around this one is kept as it was.
    is_inside: bool,
    is_over: bool,
}

impl<'a> Mapper<'a> for Raiser<'a> {
    fn arena(&self) -> &'a Bump {
        self.arena
    }

    fn schema(&mut self, _: Site, schema: &Schema<'a>) -> Schema<'a> {
        self.raise(schema)
    }
}

impl<'a> Raiser<'a> {
    fn raise(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        self.is_over |= self.arena.allocated_bytes() > self.most;
        if self.is_over {
            return Schema::default();
        }
        let is_odd = !self.is_inside && is_odd(schema);
        let was_inside = self.is_inside;
        self.is_inside |= is_odd;
        let arena = self.arena;
        let mut out = map_schema(schema, arena, &mut |_, inner| self.raise(inner));
        self.is_inside = was_inside;
        self.keywords(&mut out);
        if is_odd {
            self.keep(&mut out, schema);
        }
        out
    }

    /// Keeps the original of a schema in it.
    #[inline(never)]
    fn keep(&self, out: &mut Schema<'a>, original: &Schema<'a>) {
        let Some(original) = to_json(original, self.arena) else { return };
        let mut extra = *out.extra();
        extra.extensions = self.sorted(extra.extensions.iter().copied().chain([(ORIGINAL, original)]).collect());
        out.extra = Some(self.arena.alloc(extra));
    }

    fn sorted(&self, mut members: Vec<(&'a str, Json<'a>)>) -> &'a [(&'a str, Json<'a>)] {
        members.sort_by(|a, b| order::utf16(a.0, b.0));
        self.arena.alloc_slice_copy(&members)
    }

    /// Converts the keywords of a schema. The schemas in it are already converted.
    fn keywords(&self, s: &mut Schema<'a>) {
        let arena = self.arena;
        if !s.reference.is_empty() {
            // Members next to a reference have no effect.
            *s = Schema { reference: s.reference, at: s.at, ..Schema::default() };
            return;
        }
        if is_null(s) {
            *s = null(s.at, arena);
            return;
        }
        let is_nullable = s.flags.any(Flags::NULLABLE);
        if has_repeats(s.required) {
            let once: BTreeSet<&'a str> = s.required.iter().copied().collect();
            s.required = arena.alloc_slice_copy(&once.into_iter().collect::<Vec<_>>());
        }
        if s.extra.is_none() && !is_nullable && !matches!(s.format, "byte" | "binary") {
            s.flags = s.flags.without(Flags::EXCLUSIVE_MINIMUM.with(Flags::EXCLUSIVE_MAXIMUM));
            return;
        }
        let mut e = *s.extra();
        let (kept, mut members): (Vec<_>, Vec<_>) = e.extensions.iter().copied().partition(|(name, _)| *name == KEPT);
        members
            .retain(|(name, _)| (is_extension(name) || OPENAPI.contains(name)) && ![NULLABLE, ORIGINAL].contains(name));
        self.types(s, &mut e, is_nullable);
        if is_nullable {
            self.nullable(s, &mut e, &mut members);
        }
        bounds(s, &mut e, &mut members);
        if let Some(example) = e.example.take().filter(|example| !example.is_empty()) {
            members.push(("examples", Json::Array(arena.alloc_slice_copy(&[*example]))));
        }
        match s.format {
            "byte" => members.push(("contentEncoding", Json::Str("base64"))),
            "binary" => members.push(("contentMediaType", Json::Str("application/octet-stream"))),
            _ => {}
        }
        if matches!(s.format, "byte" | "binary") {
            s.format = "";
        }
        self.lists(s, &mut e, &mut members);
        self.dependencies(&mut e, &mut members);
        (e.id, e.schema_uri, e.discriminator) = ("", "", "");
        for (_, value) in kept {
            let Json::Object(own) = value else { continue };
            members.retain(|(name, _)| !own.iter().any(|(known, _)| known == name));
            members.extend(own);
        }
        e.extensions = self.sorted(members);
        reference(s, &mut e);
        s.extra = Some(arena.alloc(e));
    }

    /// Writes types that JSON Schema has, with null.
    fn types(&self, s: &mut Schema<'a>, e: &mut Extra<'a>, is_nullable: bool) {
        let own = s.ty.name();
        let mut names: Vec<&'a str> = match s.ty {
            Type::Absent => return,
            Type::Several => e.types.to_vec(),
            Type::Other => vec![e.other_type],
            _ if is_nullable => vec![own],
            _ => return,
        };
        let is_known = |name: &&str| *name == "null" || !matches!(Type::from_name(name), Type::Other | Type::Absent);
        if !names.iter().all(is_known) {
            // Servers read such a type as any type.
            names.clear();
        } else if is_nullable && !names.contains(&"null") {
            names.push("null");
        }
        let mut once: Vec<&'a str> = Vec::new();
        for name in names {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        e.other_type = "";
        e.types = self.arena.alloc_slice_copy(&once);
        s.ty = if once.is_empty() { Type::Absent } else { Type::Several };
    }

    /// Adds null to the alternatives, if there are any.
    fn nullable(&self, s: &mut Schema<'a>, e: &mut Extra<'a>, members: &mut Vec<(&'a str, Json<'a>)>) {
        let arena = self.arena;
        s.flags = s.flags.without(Flags::NULLABLE);
        let is_plain = e.all_of.is_empty() && e.one_of.is_empty() && e.not.is_none();
        if is_plain && !e.any_of.is_empty() {
            let branches: Vec<_> = e.any_of.iter().copied().chain([null(s.at, arena)]).collect();
            e.any_of = arena.alloc_slice_copy(&branches);
        } else if !is_plain {
            let own = Extra { all_of: e.all_of, any_of: e.any_of, one_of: e.one_of, not: e.not, ..Extra::default() };
            let mut branch = Schema { at: s.at, extra: Some(arena.alloc(own)), ..Schema::default() };
            if let [only] = e.all_of
                && is_reference(only)
                && own == (Extra { all_of: own.all_of, ..Extra::default() })
            {
                branch = *only;
            }
            (e.all_of, e.one_of, e.not) = (&[], &[], None);
            e.any_of = arena.alloc_slice_copy(&[branch, null(s.at, arena)]);
            members.push((NULLABLE, Json::Bool(true)));
        } else if s.ty == Type::Absent {
            members.push((NULLABLE, Json::Bool(true)));
        }
    }

    /// Writes a schema per position as `prefixItems`.
    fn lists(&self, s: &mut Schema<'a>, e: &mut Extra<'a>, members: &mut Vec<(&'a str, Json<'a>)>) {
        let rest = e.additional_items.take();
        let Some(Items::Many(items)) = s.items else { return };
        s.items = None;
        let items: Vec<Json<'a>> = items.iter().filter_map(|item| to_json(item, self.arena)).collect();
        if !items.is_empty() {
            members.push(("prefixItems", Json::Array(self.arena.alloc_slice_copy(&items))));
        }
        match rest {
            Some(Additional::Schema(schema)) => s.items = Some(Items::One(schema)),
            Some(Additional::Allowed(allowed)) => members.push(("items", Json::Bool(allowed))),
            None => {}
        }
    }

    fn dependencies(&self, e: &mut Extra<'a>, members: &mut Vec<(&'a str, Json<'a>)>) {
        let (mut names, mut schemas) = (Vec::new(), Vec::new());
        for (name, dependency) in std::mem::take(&mut e.dependencies) {
            match dependency {
                Dependency::Names(list) => {
                    let list: Vec<_> = list.iter().map(|name| Json::Str(name)).collect();
                    names.push((*name, Json::Array(self.arena.alloc_slice_copy(&list))));
                }
                Dependency::Schema(schema) => schemas.extend(to_json(schema, self.arena).map(|json| (*name, json))),
            }
        }
        for (keyword, own) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
            if !own.is_empty() {
                members.push((keyword, Json::Object(self.arena.alloc_slice_copy(&own))));
            }
        }
    }
}

/// A reference may have other members next to it.
fn reference<'a>(s: &mut Schema<'a>, e: &mut Extra<'a>) {
    let [only] = e.all_of else { return };
    let others = Extra { all_of: &[], ..*e };
    let mut own = *s;
    own.extra = None;
    let has_others = others != Extra::default() || !is_empty(&own);
    if is_reference(only) && has_others {
        s.reference = only.reference;
        e.all_of = &[];
    }
}

/// Converts boolean exclusive bounds to numbers.
fn bounds<'a>(s: &mut Schema<'a>, e: &mut Extra<'a>, members: &mut Vec<(&'a str, Json<'a>)>) {
    let pairs = [
        (Flags::EXCLUSIVE_MAXIMUM, &mut e.maximum, "exclusiveMaximum"),
        (Flags::EXCLUSIVE_MINIMUM, &mut e.minimum, "exclusiveMinimum"),
    ];
    for (flag, bound, name) in pairs {
        if s.flags.any(flag) {
            s.flags = s.flags.without(flag);
            members.extend(bound.take().map(|n| (name, Json::Float(n))));
        }
    }
}

/// The flags that are printed.
const PRINTED: Flags = Flags::NULLABLE
    .with(Flags::UNIQUE_ITEMS)
    .with(Flags::EXCLUSIVE_MINIMUM)
    .with(Flags::EXCLUSIVE_MAXIMUM)
    .with(Flags::READ_ONLY)
    .with(Flags::EMBEDDED_RESOURCE)
    .with(Flags::INT_OR_STRING)
    .with(Flags::PRESERVE_UNKNOWN);

/// Returns whether a schema prints no member.
fn is_empty(s: &Schema<'_>) -> bool {
    let Schema { at, flags, subtree, extra, .. } = *s;
    !flags.any(PRINTED)
        && extra.is_none_or(|extra| *extra == Extra::default())
        && *s == Schema { extra, at, flags, subtree, ..Schema::default() }
}

/// Returns whether a schema is a reference without other members.
fn is_reference(s: &Schema<'_>) -> bool {
    !s.reference.is_empty() && is_empty(&Schema { reference: "", ..*s })
}

/// Returns whether a name appears twice, which JSON Schema does not allow.
fn has_repeats(names: &[&str]) -> bool {
    names.len() > 1 && names.iter().collect::<BTreeSet<_>>().len() < names.len()
}

/// Returns whether reading the schema's form of OpenAPI 3.1 would not give the schema itself.
fn is_odd(s: &Schema<'_>) -> bool {
    let e = s.extra();
    let is_known =
        |name: &str| (is_extension(name) || OPENAPI.contains(&name)) && ![NULLABLE, ORIGINAL].contains(&name);
    let unbound = |flag, bound: Option<f64>| s.flags.any(flag) && bound.is_none();
    let has_null = |branches: &[Schema<'_>]| branches.iter().any(is_null);
    (!s.reference.is_empty() && !is_reference(s))
        || matches!(s.ty, Type::Several | Type::Other)
        || matches!(s.items, Some(Items::Many(_)))
        || unbound(Flags::EXCLUSIVE_MINIMUM, e.minimum)
        || unbound(Flags::EXCLUSIVE_MAXIMUM, e.maximum)
        || has_repeats(s.required)
        || has_null(e.any_of)
        || has_null(e.one_of)
        || !e.extensions.iter().all(|(name, _)| is_known(name))
        || !(e.id.is_empty() && e.schema_uri.is_empty() && e.discriminator.is_empty())
        || !(e.pattern_properties.is_empty() && e.definitions.is_empty() && e.dependencies.is_empty())
        || e.additional_items.is_some()
}
