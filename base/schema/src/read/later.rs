//! Reads schemas of OpenAPI 3.1, which are JSON Schemas of release 2020-12, as those of OpenAPI 3.0.
//!
//! | OpenAPI 3.1 | OpenAPI 3.0 |
//! |---|---|
//! | `type: [T, 'null']`, an alternative `type: 'null'` | `nullable` |
//! | other lists of types | `anyOf` |
//! | `$ref` with other members | `allOf` |
//! | numeric `exclusiveMinimum` and `exclusiveMaximum` | the bound and a boolean |
//! | `const`, `examples` | `enum`, `example` |
//! | `contentEncoding: base64`, `contentMediaType: application/octet-stream` | the formats `byte` and `binary` |
//! | `true`, `false` | `{}`, `not: {}` |
//!
//! Everything else that OpenAPI 3.0 lacks is reported, or kept in the extension [`KEPT`].

use super::schema::finish;
use super::{Checkpoint, Reader};
use crate::json::Json;
use crate::node::{Extra, Flags, Schema, Type};
use crate::{Code, Note, order};
use kubeshape_yaml::{Kind, Node};

/// The extension of an OpenAPI 3.1 schema with the OpenAPI 3.0 schema from which it was converted. A reader for OpenAPI
/// 3.0 reads it instead of the schema.
pub const ORIGINAL: &str = "x-kubeshape-v3.0";

/// The extension of an OpenAPI 3.0 schema with the keywords that only OpenAPI 3.1 has.
pub const KEPT: &str = "x-kubeshape-v3.1";

/// The extension of an OpenAPI 3.1 schema that is `nullable` in OpenAPI 3.0, but has no type. If its only `anyOf` has
/// null and another alternative, the members of this alternative are its own.
pub const NULLABLE: &str = "x-kubeshape-nullable";

/// The version of OpenAPI whose schemas are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Language {
    /// Whether schemas are those of OpenAPI 3.1.
    pub is_later: bool,
    /// Whether members that only OpenAPI 3.1 has are kept. Otherwise, they are reported.
    pub keeps: bool,
}

impl Language {
    /// Returns the version of OpenAPI of the document with this node.
    pub fn of(node: Node<'_>) -> Language {
        let version = node.document().root().and_then(|root| root.get("openapi")).map_or("", Node::text);
        let minor = version.strip_prefix("3.").unwrap_or_default();
        Language { is_later: !minor.is_empty() && !minor.starts_with('0'), keeps: false }
    }
}

/// Members that only schemas of OpenAPI 3.1 have, and the code of their loss.
const LATER: [(&str, Code); 23] = [
    ("$anchor", Code::V31Dropped),
    ("$comment", Code::V31Dropped),
    ("$defs", Code::V31Dropped),
    ("$dynamicAnchor", Code::V31Dropped),
    ("$dynamicRef", Code::V31Keyword),
    ("$id", Code::V31Dropped),
    ("$schema", Code::V31Dropped),
    ("$vocabulary", Code::V31Dropped),
    ("contains", Code::V31Keyword),
    ("contentSchema", Code::V31Dropped),
    ("definitions", Code::V31Dropped),
    ("dependentRequired", Code::V31Keyword),
    ("dependentSchemas", Code::V31Keyword),
    ("else", Code::V31Keyword),
    ("if", Code::V31Keyword),
    ("maxContains", Code::V31Keyword),
    ("minContains", Code::V31Keyword),
    ("patternProperties", Code::V31Keyword),
    ("prefixItems", Code::V31Keyword),
    ("propertyNames", Code::V31Keyword),
    ("then", Code::V31Keyword),
    ("unevaluatedItems", Code::V31Keyword),
    ("unevaluatedProperties", Code::V31Keyword),
];

/// Members that objects other than schemas have since OpenAPI 3.1.
const MEMBERS: [&str; 5] = ["identifier", "jsonSchemaDialect", "pathItems", "summary", "webhooks"];

/// Members of a schema whose meaning depends on others.
#[derive(Default)]
struct Found<'a> {
    types: Option<Node<'a>>,
    /// `exclusiveMinimum` and `exclusiveMaximum`.
    exclusive: [Option<f64>; 2],
    constant: Option<Node<'a>>,
    examples: Option<(Node<'a>, Node<'a>)>,
    encoding: Option<(Node<'a>, Node<'a>)>,
    media_type: Option<(Node<'a>, Node<'a>)>,
    /// Whether there are `prefixItems`, and `patternProperties` (the next member). Then `items` and
    /// `additionalProperties` apply only to the rest, so they are not used without them.
    has_prefix: bool,
    has_patterns: bool,
    /// Whether `items` is false.
    has_no_items: bool,
    /// Whether the schema has [`NULLABLE`].
    is_marked: bool,
    /// Members that OpenAPI 3.0 lacks: the key, the value, and what is lost.
    unsaid: Vec<(Node<'a>, Node<'a>, Code)>,
}

impl<'a> Reader<'a> {
    /// Sets the version of OpenAPI whose schemas are read.
    #[must_use]
    pub fn in_language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Returns whether an unknown member of an object is one of OpenAPI 3.1 and is kept.
    pub fn keeps_member(&self, name: &str) -> bool {
        self.language.keeps && MEMBERS.contains(&name)
    }

    /// Reports a member of an object as lost if it is one of OpenAPI 3.1. Returns whether it is.
    pub(super) fn is_later_member(&mut self, key: Node<'a>) -> bool {
        let is_later = self.language.is_later && MEMBERS.contains(&key.text());
        if is_later {
            self.note(Note::new(Code::V31Dropped, key.index(), key.text()));
        }
        is_later
    }

    /// Reads a schema of OpenAPI 3.1 in place.
    #[inline(never)]
    pub(super) fn fill_later(&mut self, schema: &mut Schema<'a>, node: Node<'a>) {
        match node.kind() {
            Kind::Map => {}
            Kind::Null | Kind::True => return,
            Kind::False => {
                let extra = self.arena.alloc(Extra::default());
                extra.not = Some(self.arena.alloc(Schema::default()));
                return finish(schema, Some(extra));
            }
            _ => return self.wrong_type(node, "a schema"),
        }
        if let Some(original) = node.get(ORIGINAL).filter(|original| original.kind() == Kind::Map) {
            let language = std::mem::take(&mut self.language);
            self.fill(schema, original);
            self.language = language;
            schema.at = node.index();
            return;
        }
        let mark = self.checkpoint();
        let has = |name| node.get(name).is_some();
        let mut found = Box::new(Found {
            has_prefix: has("prefixItems"),
            has_patterns: has("patternProperties"),
            ..Found::default()
        });
        let (mut extra, mut seen) = (None, 0);
        for (key, value) in self.last_pairs(node) {
            if !self.find(&mut found, key, value) {
                self.member(schema, &mut extra, &mut seen, key, value);
            }
        }
        self.finish_later(schema, extra, &mut found, &mark, node.len() > 1);
    }

    /// Combines and finishes a schema. A function of its own keeps the stack frames of the recursion small.
    #[inline(never)]
    fn finish_later(
        &mut self,
        schema: &mut Schema<'a>,
        extra: Option<&'a mut Extra<'a>>,
        found: &mut Found<'a>,
        since: &Checkpoint,
        has_siblings: bool,
    ) {
        let had_extra = extra.is_some();
        let mut rare = extra.map(|extra| *extra).unwrap_or_default();
        self.combine(schema, &mut rare, found, has_siblings);
        let has_extra = had_extra || rare != Extra::default() || self.has_extensions(since);
        let extra = has_extra.then(|| self.arena.alloc(rare));
        self.finish(schema, extra, since);
    }

    /// Records a member whose meaning depends on others, or that OpenAPI 3.0 lacks. Returns whether it is such a
    /// member.
    fn find(&mut self, found: &mut Found<'a>, key: Node<'a>, value: Node<'a>) -> bool {
        let is_number = matches!(value.kind(), Kind::Int | Kind::Float);
        match key.text() {
            "type" if value.kind() == Kind::Seq || value.as_str() == Some("null") => found.types = Some(value),
            "exclusiveMinimum" if is_number => found.exclusive[0] = self.number(value),
            "exclusiveMaximum" if is_number => found.exclusive[1] = self.number(value),
            "const" => found.constant = Some(value),
            "examples" if value.kind() == Kind::Seq => found.examples = Some((key, value)),
            "contentEncoding" if value.kind() == Kind::Str => found.encoding = Some((key, value)),
            "contentMediaType" if value.kind() == Kind::Str => found.media_type = Some((key, value)),
            "items" if value.kind() == Kind::True => {}
            "items" if found.has_prefix => found.unsaid.push((key, value, Code::V31Keyword)),
            "items" if value.kind() == Kind::False => found.has_no_items = true,
            "additionalProperties" if found.has_patterns && value.kind() != Kind::True => {
                found.unsaid.push((key, value, Code::V31Keyword));
            }
            "nullable" | "dependencies" | "additionalItems" | "id" => self.unknown_field(key),
            NULLABLE if value.kind() == Kind::True => found.is_marked = true,
            name => match LATER.binary_search_by(|(known, _)| known.cmp(&name)) {
                Ok(at) => found.unsaid.push((key, value, LATER[at].1)),
                Err(_) => return false,
            },
        }
        true
    }

    fn combine(&mut self, schema: &mut Schema<'a>, extra: &mut Extra<'a>, found: &mut Found<'a>, has_siblings: bool) {
        if let Some(node) = found.types {
            self.types(schema, extra, node);
        }
        exclusive(schema, extra, found.exclusive);
        if let Some(node) = found.constant {
            self.constant(schema, extra, node);
        }
        self.examples(extra, found);
        content(schema, found);
        if found.has_no_items {
            extra.max_items = Some(0);
        }
        self.without_null(schema, extra);
        if found.is_marked {
            self.unmark(schema, extra);
        }
        if has_siblings && !schema.reference.is_empty() {
            let mut target = Schema { reference: schema.reference, at: schema.at, ..Schema::default() };
            finish(&mut target, None);
            schema.reference = "";
            extra.all_of = self.pushed(extra.all_of, target);
        }
        self.unsaid(std::mem::take(&mut found.unsaid));
    }

    fn pushed(&self, list: &[Schema<'a>], item: Schema<'a>) -> &'a [Schema<'a>] {
        self.arena.alloc_slice_fill_iter(list.iter().copied().chain([item]).collect::<Vec<_>>())
    }

    /// Reads a list of types, or the type `null`.
    fn types(&mut self, schema: &mut Schema<'a>, extra: &mut Extra<'a>, node: Node<'a>) {
        let names: &[&str] = if node.kind() == Kind::Seq { self.texts(node) } else { &["null"] };
        let has_null = names.contains(&"null");
        let mut types: Vec<Type> = Vec::new();
        for name in names.iter().filter(|name| **name != "null") {
            let ty = Type::from_name(name);
            if matches!(ty, Type::Other | Type::Absent) {
                self.error(Code::WrongType, node, || format!("expected types, found {name:?}"));
                return;
            }
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        if types.contains(&Type::Number) {
            types.retain(|ty| *ty != Type::Integer);
        }
        match types.as_slice() {
            [] => {
                if has_null && schema.enumeration.is_empty() {
                    schema.enumeration = self.arena.alloc_slice_copy(&[Json::Null]);
                }
                schema.flags.set(Flags::NULLABLE, has_null);
            }
            [only] => {
                schema.ty = *only;
                schema.flags.set(Flags::NULLABLE, has_null);
            }
            [_, _, _, _, _] if has_null && types.contains(&Type::Number) => {}
            several => {
                let branch = |(number, ty): (usize, &Type)| {
                    let mut branch = Schema::of_type(*ty);
                    branch.at = schema.at;
                    branch.flags.set(Flags::NULLABLE, has_null && number == 0);
                    finish(&mut branch, None);
                    branch
                };
                let branches = several.iter().enumerate().map(branch).collect::<Vec<_>>();
                let branches = self.arena.alloc_slice_copy(&branches);
                if extra.any_of.is_empty() {
                    extra.any_of = branches;
                } else {
                    let both = self.arena.alloc(Extra { any_of: branches, ..Extra::default() });
                    let mut one = Schema { at: schema.at, ..Schema::default() };
                    finish(&mut one, Some(both));
                    extra.all_of = self.pushed(extra.all_of, one);
                }
            }
        }
    }

    fn constant(&mut self, schema: &mut Schema<'a>, extra: &mut Extra<'a>, node: Node<'a>) {
        let value = self.json(node);
        let values = self.arena.alloc_slice_copy(&[value]);
        if value == Json::Null && schema.ty == Type::Absent {
            schema.flags.set(Flags::NULLABLE, true);
        }
        if schema.enumeration.is_empty() {
            schema.enumeration = values;
        } else {
            let mut one = Schema { at: schema.at, enumeration: values, ..Schema::default() };
            one.flags.set(Flags::NULLABLE, value == Json::Null);
            finish(&mut one, None);
            extra.all_of = self.pushed(extra.all_of, one);
        }
    }

    /// OpenAPI 3.0 has one example.
    fn examples(&mut self, extra: &mut Extra<'a>, found: &mut Found<'a>) {
        let Some((key, list)) = found.examples else { return };
        let first = list.items().next().filter(|first| !first.is_null() && extra.example.is_none());
        if let Some(first) = first {
            extra.example = Some(self.arena.alloc(self.json(first)));
        }
        if first.is_none() || list.len() > 1 {
            found.unsaid.push((key, list, Code::V31Dropped));
        }
    }

    /// Replaces an alternative that is null by `nullable`, unless null has to satisfy something else.
    fn without_null(&mut self, schema: &mut Schema<'a>, extra: &mut Extra<'a>) {
        let is_plain = schema.reference.is_empty() && extra.all_of.is_empty() && extra.not.is_none();
        if !is_plain || (extra.any_of.is_empty() == extra.one_of.is_empty()) {
            return;
        }
        let is_any = !extra.any_of.is_empty();
        let list = if is_any { extra.any_of } else { extra.one_of };
        let others: Vec<Schema<'a>> = list.iter().filter(|branch| !is_null(branch)).copied().collect();
        // Exactly one alternative must accept null.
        let is_sure = |branch: &Schema<'_>| {
            !branch.flags.any(Flags::NULLABLE) && (branch.ty != Type::Absent || !branch.reference.is_empty())
        };
        let is_exact = is_any || (others.len() + 1 == list.len() && others.iter().all(is_sure));
        if others.is_empty() || others.len() == list.len() || !is_exact {
            return;
        }
        let others: &[Schema<'a>] = self.arena.alloc_slice_copy(&others);
        if is_any {
            extra.any_of = others;
        } else {
            extra.one_of = others;
        }
        if schema.ty == Type::Absent {
            schema.flags.set(Flags::NULLABLE, true);
        }
    }

    /// Undoes what [`NULLABLE`] marks.
    fn unmark(&mut self, schema: &mut Schema<'a>, extra: &mut Extra<'a>) {
        schema.flags.set(Flags::NULLABLE, true);
        if let [only] = extra.any_of {
            let inner = only.extra();
            extra.any_of = inner.any_of;
            (extra.all_of, extra.one_of, extra.not) = (inner.all_of, inner.one_of, inner.not);
            if !only.reference.is_empty() {
                extra.all_of = self.arena.alloc_slice_copy(&[*only]);
            }
        }
    }

    /// Keeps or reports what OpenAPI 3.0 lacks.
    fn unsaid(&mut self, members: Vec<(Node<'a>, Node<'a>, Code)>) {
        if members.is_empty() {
            return;
        }
        if !self.language.keeps {
            self.notes.extend(members.iter().map(|(key, _, code)| Note::new(*code, key.index(), key.text())));
            return;
        }
        let mut kept: Vec<(&'a str, Json<'a>)> =
            members.into_iter().map(|(key, value, _)| (key.text(), self.json(value))).collect();
        kept.sort_by(|a, b| order::utf16(a.0, b.0));
        self.push_extension(KEPT, Json::Object(self.arena.alloc_slice_copy(&kept)));
    }
}

/// Returns whether a schema, as it was read, accepts nothing but null.
pub fn is_null(schema: &Schema<'_>) -> bool {
    let Schema { at, enumeration, flags, subtree, extra, .. } = *schema;
    enumeration == [Json::Null]
        && flags.any(Flags::NULLABLE)
        && extra.is_none_or(|extra| *extra == Extra::default())
        && *schema == Schema { enumeration, extra, at, flags, subtree, ..Schema::default() }
}

/// Combines an exclusive bound with another bound: the stricter one is used.
fn exclusive(schema: &mut Schema<'_>, extra: &mut Extra<'_>, [low, high]: [Option<f64>; 2]) {
    if let Some(n) = low.filter(|n| extra.minimum.is_none_or(|bound| *n >= bound)) {
        extra.minimum = Some(n);
        schema.flags.set(Flags::EXCLUSIVE_MINIMUM, true);
    }
    if let Some(n) = high.filter(|n| extra.maximum.is_none_or(|bound| *n <= bound)) {
        extra.maximum = Some(n);
        schema.flags.set(Flags::EXCLUSIVE_MAXIMUM, true);
    }
}

fn content<'a>(schema: &mut Schema<'a>, found: &mut Found<'a>) {
    for (member, text, format) in
        [(found.encoding, "base64", "byte"), (found.media_type, "application/octet-stream", "binary")]
    {
        let Some((key, value)) = member else { continue };
        if value.text() == text && schema.format.is_empty() {
            schema.format = format;
        } else {
            found.unsaid.push((key, value, Code::V31Dropped));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted() {
        assert!(LATER.is_sorted_by_key(|(name, _)| *name));
    }
}
