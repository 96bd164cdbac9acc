//! Reads the members of schemas, and sets the flags that follow from them.

use super::{Checkpoint, Reader, Rules, is_extension};
use crate::json::Json;
use crate::node::{Additional, Dependency, ExternalDocs, Extra, Flags, Items, Property, Rule, Schema, Type};
use crate::profile::Profile;
use crate::{Code, Note};
use crate::{order, reference};
use bumpalo::collections::Vec as BumpVec;
use kubeshape_yaml::{Flags as EntryFlags, Kind, Node};

impl<'a> Reader<'a> {
    /// Reads a schema. Null is the empty schema.
    pub fn schema(&mut self, node: Node<'a>) -> Schema<'a> {
        let mut schema = Schema::default();
        self.fill(&mut schema, node);
        schema
    }

    /// Reads a schema in place. Stack frames are small, because schemas nest as deep as the reader of the document
    /// allows.
    pub(super) fn fill(&mut self, schema: &mut Schema<'a>, node: Node<'a>) {
        schema.at = node.index();
        if self.language.is_later {
            return self.fill_later(schema, node);
        }
        match node.kind() {
            Kind::Map => {}
            Kind::Null => return,
            _ => return self.wrong_type(node, "a schema"),
        }
        let mark = self.checkpoint();
        let mut seen = 0u64;
        let mut extra: Option<&'a mut Extra<'a>> = None;
        let mut repeated = false;
        for (key, value) in node.pairs() {
            repeated |= self.member(schema, &mut extra, &mut seen, key, value);
        }
        if repeated {
            // Kubernetes uses only the last of repeated keys: read again without the others.
            self.rewind(mark);
            return self.fill_without_repeats(schema, node);
        }
        self.finish(schema, extra, &mark);
    }

    #[cold]
    #[inline(never)]
    fn fill_without_repeats(&mut self, schema: &mut Schema<'a>, node: Node<'a>) {
        *schema = Schema { at: node.index(), ..Schema::default() };
        let mut extra: Option<&'a mut Extra<'a>> = None;
        let mut seen = 0;
        let mark = self.checkpoint();
        for (key, value) in self.last_pairs(node) {
            self.member(schema, &mut extra, &mut seen, key, value);
        }
        self.finish(schema, extra, &mark);
    }

    /// Adds the extensions that were read since `mark`, and the flags that follow from the members.
    pub(super) fn finish(&mut self, schema: &mut Schema<'a>, mut extra: Option<&'a mut Extra<'a>>, since: &Checkpoint) {
        if let Some(extra) = &mut extra {
            extra.extensions = self.take_extensions(since);
        }
        finish(schema, extra);
    }

    /// Reads one member. Returns whether its keyword appears again.
    #[inline]
    pub(super) fn member(
        &mut self,
        schema: &mut Schema<'a>,
        extra: &mut Option<&'a mut Extra<'a>>,
        seen: &mut u64,
        key: Node<'a>,
        value: Node<'a>,
    ) -> bool {
        let bit = match key.text() {
            "description" => {
                schema.description = self.text(value);
                0
            }
            "type" => {
                schema.ty = self.schema_type(extra, value);
                1
            }
            "properties" => {
                schema.properties = self.properties(value);
                schema.flags.set(Flags::PROPERTIES_WRITTEN, !value.is_null());
                2
            }
            "items" => {
                schema.items = self.items(value);
                let written = self.rules == Rules::Crd && schema.items.is_none() && !value.is_null();
                schema.flags.set(Flags::ITEMS_WRITTEN, written);
                3
            }
            "format" => {
                schema.format = self.text(value);
                4
            }
            "required" => {
                schema.required = self.texts(value);
                schema.flags.set(Flags::REQUIRED_WRITTEN, !value.is_null());
                5
            }
            "enum" => {
                schema.enumeration = self.values(value);
                6
            }
            "default" => {
                schema.default = self.value(value);
                7
            }
            "additionalProperties" => {
                schema.additional = self.additional(value);
                8
            }
            "nullable" => {
                let on = self.boolean(value);
                schema.flags.set(Flags::NULLABLE, on);
                9
            }
            "x-kubernetes-preserve-unknown-fields" if self.typed(value, Kind::True) => {
                let said = self.optional_boolean(value);
                schema.flags.set(Flags::PRESERVE_UNKNOWN, said == Some(true));
                schema.flags.set(Flags::PRESERVE_UNKNOWN_FALSE, said == Some(false));
                10
            }
            "x-kubernetes-int-or-string" if self.typed(value, Kind::True) => {
                let on = self.boolean(value);
                schema.flags.set(Flags::INT_OR_STRING, on);
                11
            }
            "x-kubernetes-embedded-resource" if self.typed(value, Kind::True) => {
                let on = self.boolean(value);
                schema.flags.set(Flags::EMBEDDED_RESOURCE, on);
                12
            }
            "uniqueItems" => {
                let on = self.boolean(value);
                schema.flags.set(Flags::UNIQUE_ITEMS, on);
                13
            }
            "exclusiveMaximum" => {
                let on = self.boolean(value);
                schema.flags.set(Flags::EXCLUSIVE_MAXIMUM, on);
                14
            }
            "exclusiveMinimum" => {
                let on = self.boolean(value);
                schema.flags.set(Flags::EXCLUSIVE_MINIMUM, on);
                15
            }
            "$ref" if self.rules == Rules::Crd || value.kind() == Kind::Str => {
                schema.reference = self.reference(value);
                schema.flags.set(Flags::REF_WRITTEN, self.rules == Rules::Crd && !value.is_null());
                16
            }
            "readOnly" if self.rules != Rules::Crd => {
                let on = self.boolean(value);
                schema.flags.set(Flags::READ_ONLY, on);
                17
            }
            name => {
                let arena = self.arena;
                let extra = extra.get_or_insert_with(|| arena.alloc(Extra::default()));
                if let Some(bit) = self.rare_member(extra, name, value) {
                    bit
                } else {
                    self.unknown_member(key, value);
                    return false;
                }
            }
        };
        let repeated = *seen & (1 << bit) != 0;
        *seen |= 1 << bit;
        repeated
    }

    #[inline(never)]
    fn rare_member(&mut self, extra: &mut Extra<'a>, name: &str, value: Node<'a>) -> Option<u32> {
        Some(match name {
            "title" => {
                extra.title = self.text(value);
                20
            }
            "maximum" => {
                extra.maximum = self.number(value);
                21
            }
            "minimum" => {
                extra.minimum = self.number(value);
                22
            }
            "multipleOf" => {
                extra.multiple_of = self.number(value);
                23
            }
            "maxLength" => {
                extra.max_length = self.integer(value);
                24
            }
            "minLength" => {
                extra.min_length = self.integer(value);
                25
            }
            "maxItems" => {
                extra.max_items = self.integer(value);
                26
            }
            "minItems" => {
                extra.min_items = self.integer(value);
                27
            }
            "maxProperties" => {
                extra.max_properties = self.integer(value);
                28
            }
            "minProperties" => {
                extra.min_properties = self.integer(value);
                29
            }
            "pattern" => {
                extra.pattern = self.text(value);
                30
            }
            "allOf" => {
                extra.all_of = self.schemas(value);
                31
            }
            "oneOf" => {
                extra.one_of = self.schemas(value);
                32
            }
            "anyOf" => {
                extra.any_of = self.schemas(value);
                33
            }
            "not" => {
                extra.not = self.optional_schema(value);
                34
            }
            "externalDocs" => {
                extra.external_docs = self.external_docs(value);
                35
            }
            "example" => {
                extra.example = self.value(value);
                36
            }
            "x-kubernetes-list-type" if self.typed(value, Kind::Str) => {
                extra.list_type = (!value.is_null()).then(|| self.text(value));
                37
            }
            "x-kubernetes-map-type" if self.typed(value, Kind::Str) => {
                extra.map_type = (!value.is_null()).then(|| self.text(value));
                38
            }
            "x-kubernetes-list-map-keys"
                if self.rules == Rules::Crd
                    || (!value.is_empty()
                        && value.kind() == Kind::Seq
                        && value.items().all(|key| key.kind() == Kind::Str)) =>
            {
                extra.list_map_keys = self.texts(value);
                extra.list_map_keys_written = !value.is_null();
                39
            }
            "x-kubernetes-validations" if self.rules == Rules::Crd => {
                extra.validations = self.validations(value);
                extra.validations_written = !value.is_null();
                40
            }
            "id" => {
                extra.id = self.text(value);
                41
            }
            "$schema" if self.rules == Rules::Crd || value.kind() == Kind::Str => {
                extra.schema_uri = if self.rules == Rules::Crd { self.text(value) } else { self.schema_uri(value) };
                42
            }
            // An object is v3's discriminator, which kube-openapi cannot read.
            "discriminator" if self.reads_text_discriminator(value) => {
                extra.discriminator = self.text(value);
                43
            }
            "patternProperties" => {
                extra.pattern_properties = self.properties(value);
                44
            }
            "definitions" => {
                extra.definitions = self.properties(value);
                45
            }
            "dependencies" => {
                extra.dependencies = self.dependencies(value);
                46
            }
            "additionalItems" => {
                extra.additional_items = self.additional(value);
                47
            }
            _ => return None,
        })
    }

    fn reads_text_discriminator(&self, value: Node<'a>) -> bool {
        match self.rules {
            Rules::Crd => false,
            Rules::Document(Profile::Kube) => true,
            Rules::Document(Profile::Faithful) => value.kind() != Kind::Map,
        }
    }

    /// Returns whether a member that Kubernetes defines is read as such. In a document it is an extension like any
    /// other unless it has the type that Kubernetes expects.
    fn typed(&self, value: Node<'a>, expected: Kind) -> bool {
        self.rules == Rules::Crd || value.kind() == expected
    }

    #[cold]
    fn unknown_member(&mut self, key: Node<'a>, value: Node<'a>) {
        if self.rules == Rules::Crd {
            return self.unknown_field_among(key, &MEMBERS);
        }
        let name = key.text();
        if !is_extension(name) && !OPENAPI_ONLY.contains(&name) {
            // A reference that is not a string is ignored.
            if name == "$ref" || name == "$schema" {
                return self.unknown_field(key);
            }
            self.notes.push(Note::new(Code::UnknownKept, key.index(), name));
        }
        let value = self.json(value);
        self.extensions.push((name, value));
    }

    /// Reads a free value.
    pub fn json(&mut self, node: Node<'a>) -> Json<'a> {
        if self.rules == Rules::Crd {
            return Json::read_in_crd(node, self.arena);
        }
        let mut odd = None;
        let json = Json::read_in_document(node, self.arena, &mut odd);
        match odd {
            Some(odd) if odd.kind() == Kind::Map => {
                let pairs: Vec<_> = odd.pairs().collect();
                self.note_duplicates(&pairs);
            }
            Some(odd) if matches!(odd.kind(), Kind::Int | Kind::Float) => {
                self.notes.push(Note::new(Code::NumberRounded, odd.index(), odd.text()));
            }
            Some(odd) if self.rules == Rules::Document(Profile::Faithful) => {
                self.wrong_type(odd, "a number within the range of doubles");
            }
            _ => {}
        }
        json
    }

    /// Returns a `$schema` as kube-openapi writes it: a URL that is not normalized.
    fn schema_uri(&mut self, node: Node<'a>) -> &'a str {
        let text = node.text();
        match reference::normalize(text) {
            Ok(_) => text.strip_suffix('#').filter(|rest| !rest.contains('#')).unwrap_or(text),
            Err(reason) => {
                self.error(Code::WrongType, node, || format!("expected a URL: {reason}"));
                ""
            }
        }
    }

    /// Returns a reference as Kubernetes writes it.
    pub fn reference(&mut self, node: Node<'a>) -> &'a str {
        if self.rules == Rules::Crd {
            return self.text(node);
        }
        if node.kind() != Kind::Str {
            return "";
        }
        let text = node.text();
        match reference::normalize(text) {
            Ok(std::borrow::Cow::Borrowed(text)) => text,
            // The root of the document itself, which Go's URLs do not print.
            Ok(_) if text == "#" && self.rules == Rules::Document(Profile::Faithful) => text,
            Ok(std::borrow::Cow::Owned(text)) => self.arena.alloc_str(&text),
            Err(reason) => {
                self.error(Code::WrongType, node, || format!("expected a reference: {reason}"));
                ""
            }
        }
    }

    fn schema_type(&mut self, extra: &mut Option<&'a mut Extra<'a>>, node: Node<'a>) -> Type {
        let arena = self.arena;
        let mut name = None;
        if self.rules != Rules::Crd {
            let types = match node.kind() {
                Kind::Seq => self.texts(node),
                Kind::Str if node.text().is_empty() => &[""][..],
                _ => &[],
            };
            match types {
                [only] if !only.is_empty() => name = Some(*only),
                [] if node.kind() != Kind::Seq => {}
                several => {
                    extra.get_or_insert_with(|| arena.alloc(Extra::default())).types = several;
                    return Type::Several;
                }
            }
        }
        let name = name.unwrap_or_else(|| self.text(node));
        let ty = Type::from_name(name);
        if ty == Type::Other {
            extra.get_or_insert_with(|| arena.alloc(Extra::default())).other_type = name;
        }
        ty
    }

    fn value(&mut self, node: Node<'a>) -> Option<&'a Json<'a>> {
        (!node.is_null()).then(|| &*self.arena.alloc(self.json(node)))
    }

    /// Reads a list of free values.
    pub fn values(&mut self, node: Node<'a>) -> &'a [Json<'a>] {
        let mut out = BumpVec::with_capacity_in(node.len(), self.arena);
        self.each_item(node, "a list of values", |reader, item| out.push(reader.json(item)));
        out.into_bump_slice()
    }

    fn optional_schema(&mut self, node: Node<'a>) -> Option<&'a Schema<'a>> {
        (!node.is_null()).then(|| self.schema_in_arena(node))
    }

    fn schema_in_arena(&mut self, node: Node<'a>) -> &'a Schema<'a> {
        let place = self.arena.alloc(Schema::default());
        self.fill(place, node);
        place
    }

    fn schemas(&mut self, node: Node<'a>) -> &'a [Schema<'a>] {
        let places = self.arena.alloc_slice_fill_default(node.len());
        let mut places_left = places.iter_mut();
        self.each_item(node, "a list of schemas", |reader, item| {
            if let Some(place) = places_left.next() {
                reader.fill(place, item);
            }
        });
        if node.kind() == Kind::Seq { places } else { &[] }
    }

    /// Reads a mapping of names to schemas, sorted.
    pub fn properties(&mut self, node: Node<'a>) -> &'a [Property<'a>] {
        match node.kind() {
            Kind::Map => {}
            Kind::Null => return &[],
            _ => {
                self.wrong_type(node, "a mapping of schemas");
                return &[];
            }
        }
        let mark = self.checkpoint();
        let places = self.arena.alloc_slice_fill_default(node.len());
        for (place, (key, value)) in places.iter_mut().zip(node.pairs()) {
            if key.entry().flags.has(EntryFlags::RESOLVED_KEY) {
                self.resolved_key(key);
            }
            self.property(place, key, value);
        }
        let kept = order::sort_last_wins(places, |p| p.name);
        if kept < places.len() {
            self.rewind(mark);
            return self.properties_without_repeats(node);
        }
        places
    }

    fn property(&mut self, place: &mut Property<'a>, key: Node<'a>, value: Node<'a>) {
        place.name = key.text();
        place.at = key.index();
        self.fill(&mut place.schema, value);
    }

    #[cold]
    #[inline(never)]
    fn properties_without_repeats(&mut self, node: Node<'a>) -> &'a [Property<'a>] {
        let pairs = self.last_pairs(node);
        let places = self.arena.alloc_slice_fill_default(pairs.len());
        for (place, (key, value)) in places.iter_mut().zip(pairs) {
            self.property(place, key, value);
        }
        order::sort_last_wins(places, |p| p.name);
        places
    }

    /// Reads `items`: a mapping is a schema, a list has a schema per position. Kubernetes ignores anything else.
    pub(super) fn items(&mut self, node: Node<'a>) -> Option<Items<'a>> {
        match node.kind() {
            Kind::Map => Some(Items::One(self.schema_in_arena(node))),
            // In a CustomResourceDefinition, an empty list is the same as an absent one.
            Kind::Seq if node.is_empty() && self.rules == Rules::Crd => None,
            Kind::Seq => Some(Items::Many(self.schemas(node))),
            Kind::Null => None,
            _ => {
                if self.rules == Rules::Document(Profile::Faithful) {
                    self.wrong_type(node, "a schema or a list of schemas");
                }
                None
            }
        }
    }

    pub(super) fn additional(&mut self, node: Node<'a>) -> Option<Additional<'a>> {
        match node.kind() {
            Kind::Null => None,
            Kind::True => Some(Additional::Allowed(true)),
            Kind::False => Some(Additional::Allowed(false)),
            Kind::Map => Some(Additional::Schema(self.schema_in_arena(node))),
            _ => {
                self.wrong_type(node, "true, false or a schema");
                None
            }
        }
    }

    fn dependencies(&mut self, node: Node<'a>) -> &'a [(&'a str, Dependency<'a>)] {
        let mut out = BumpVec::new_in(self.arena);
        self.each_pair(node, "a mapping of schemas or lists of names", |reader, key, value| {
            let dependency = match value.kind() {
                Kind::Map => Dependency::Schema(reader.arena.alloc(reader.schema(value))),
                Kind::Seq => Dependency::Names(reader.texts(value)),
                _ => Dependency::Names(&[]),
            };
            out.push((key.text(), dependency));
        });
        let kept = order::sort_last_wins(&mut out, |(name, _)| name);
        out.truncate(kept);
        out.into_bump_slice()
    }

    fn external_docs(&mut self, node: Node<'a>) -> Option<ExternalDocs<'a>> {
        if node.is_null() {
            return None;
        }
        let mut docs = ExternalDocs::default();
        self.each_pair(node, "a mapping with description and url", |reader, key, value| match key.text() {
            "description" => docs.description = reader.text(value),
            "url" => docs.url = reader.text(value),
            _ => reader.unknown_field(key),
        });
        Some(docs)
    }

    fn validations(&mut self, node: Node<'a>) -> &'a [Rule<'a>] {
        let mut out = BumpVec::with_capacity_in(node.len(), self.arena);
        self.each_item(node, "a list of rules", |reader, item| {
            let mut rule = Rule::default();
            reader.each_pair(item, "a rule", |reader, key, value| match key.text() {
                "rule" => rule.rule = reader.text(value),
                "message" => rule.message = reader.text(value),
                "messageExpression" => rule.message_expression = reader.text(value),
                "reason" => rule.reason = (!value.is_null()).then(|| reader.text(value)),
                "fieldPath" => rule.field_path = reader.text(value),
                "optionalOldSelf" => rule.optional_old_self = reader.optional_boolean(value),
                _ => reader.unknown_field(key),
            });
            out.push(rule);
        });
        out.into_bump_slice()
    }
}

/// The members of a schema in a CustomResourceDefinition, for suggestions.
const MEMBERS: [&str; 43] = [
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
];

/// Keywords of OpenAPI for which kube-openapi has no member. It keeps them in place.
const OPENAPI_ONLY: [&str; 5] = ["deprecated", "discriminator", "nullable", "writeOnly", "xml"];

/// Sets the flags that follow from the members.
#[inline(never)]
pub(super) fn finish<'a>(schema: &mut Schema<'a>, extra: Option<&'a mut Extra<'a>>) {
    let mut flags = schema.flags;
    let mut below = Flags::NONE;
    flags.set(Flags::REF, !schema.reference.is_empty());
    flags.set(Flags::OTHER_TYPE, schema.ty == Type::Other);
    flags.set(Flags::DEFAULT, schema.default.is_some());
    flags.set(Flags::FORMAT, !schema.format.is_empty());
    flags.set(Flags::ARRAY_WITHOUT_ITEMS, schema.ty == Type::Array && schema.items.is_none());
    for property in schema.properties {
        below = below.with(property.schema.subtree);
    }
    match schema.items {
        Some(Items::One(item)) => below = below.with(item.subtree),
        Some(Items::Many(items)) => {
            flags = flags.with(Flags::NOT_STRUCTURAL);
            below = items.iter().fold(below, |sum, item| sum.with(item.subtree));
        }
        None => {}
    }
    if let Some(Additional::Schema(inner)) = schema.additional {
        below = below.with(inner.subtree);
    }
    if !schema.reference.is_empty() {
        flags = flags.with(Flags::NOT_STRUCTURAL);
    }
    if let Some(extra) = extra {
        let extra: &'a Extra<'a> = extra;
        for branches in [extra.all_of, extra.one_of, extra.any_of] {
            if !branches.is_empty() {
                flags = flags.with(Flags::JUNCTOR);
                below = branches.iter().fold(below, |sum, branch| sum.with(branch.subtree));
            }
        }
        if let Some(not) = extra.not {
            flags = flags.with(Flags::JUNCTOR);
            below = below.with(not.subtree);
        }
        flags.set(Flags::PATTERN, !extra.pattern.is_empty());
        flags.set(Flags::VALIDATIONS, !extra.validations.is_empty());
        flags.set(Flags::LIST_TYPE, extra.list_type.is_some());
        let forbidden = !extra.id.is_empty()
            || !extra.schema_uri.is_empty()
            || !extra.pattern_properties.is_empty()
            || !extra.dependencies.is_empty()
            || extra.additional_items.is_some()
            || !extra.definitions.is_empty();
        if forbidden {
            flags = flags.with(Flags::NOT_STRUCTURAL);
            for list in [extra.pattern_properties, extra.definitions] {
                below = list.iter().fold(below, |sum, p| sum.with(p.schema.subtree));
            }
            for (_, dependency) in extra.dependencies {
                if let Dependency::Schema(inner) = dependency {
                    below = below.with(inner.subtree);
                }
            }
            if let Some(Additional::Schema(inner)) = extra.additional_items {
                below = below.with(inner.subtree);
            }
        }
        schema.extra = Some(extra);
    }
    schema.flags = flags;
    schema.subtree = flags.with(below);
}
