//! Declares the fields of a value: the spine of a structural schema.

use super::facts::{Facts, Group, Spec, Types};
use super::source::Language;
use super::{Conjunct, Converter, pattern, rules};
use kubeshape_schema::{
    Additional, Code, ExternalDocs, Extra, Flags, Items, Json, Property, Rule, Schema, Type, order,
};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

/// How a schema is related to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Root,
    Field,
}

/// A schema that is being built.
#[derive(Debug, Default)]
pub(super) struct Build<'a> {
    pub(super) schema: Schema<'a>,
    pub(super) extra: Extra<'a>,
    pub(super) all_of: Vec<Schema<'a>>,
}

impl<'a> Build<'a> {
    /// Returns the schema.
    pub(super) fn finish(mut self, arena: &'a kubeshape_schema::Bump) -> Schema<'a> {
        if !self.all_of.is_empty() {
            self.extra.all_of = arena.alloc_slice_copy(&self.all_of);
        }
        if self.extra != Extra::default() {
            self.schema.extra = Some(arena.alloc(self.extra));
        }
        self.schema
    }
}

/// Returns a property.
pub(super) fn property<'a>(name: &'a str, at: u32, schema: Schema<'a>) -> Property<'a> {
    Property { name, at, schema }
}

/// Returns the schema of any value.
pub(super) fn any<'a>(at: u32) -> Schema<'a> {
    Schema { at, flags: Flags::PRESERVE_UNKNOWN, ..Schema::default() }
}

/// Returns whether two schemas are written in the same way, without their locations.
pub(super) fn is_empty(schema: &Schema<'_>) -> bool {
    Schema { at: 0, ..*schema } == Schema::default()
}

impl<'a> Converter<'a> {
    /// Returns the schema of a value.
    pub(super) fn spine(&mut self, spec: &Spec<'a>, level: Level) -> Schema<'a> {
        self.spent += 40;
        let facts = self.facts(spec);
        if spec.is_empty() || self.is_over() {
            return self.any(facts.at);
        }
        if self.depth >= super::MOST_DEPTH {
            self.lose(Code::ToCrdBudget, facts.at, "the schemas are nested too deep");
            return self.any(facts.at);
        }
        self.depth += 1;
        let schema = self.declared(&facts, level);
        self.depth -= 1;
        schema
    }

    /// Returns the schema of any value, null included if the language says so.
    fn any(&self, at: u32) -> Schema<'a> {
        let mut schema = any(at);
        schema.flags.set(Flags::NULLABLE, self.language == Language::JsonSchema);
        schema
    }

    fn declared(&mut self, facts: &Facts<'a>, level: Level) -> Schema<'a> {
        let mut build = Build { schema: Schema { at: facts.at, ..Schema::default() }, ..Build::default() };
        self.texts(facts, &mut build);
        let types = self.shape(facts);
        build.schema.ty = match types {
            Types::STRING => Type::String,
            Types::INTEGER => Type::Integer,
            Types::BOOLEAN => Type::Boolean,
            Types::OBJECT => Type::Object,
            Types::ARRAY => Type::Array,
            _ if types.is_in(Types::NUMBER) => Type::Number,
            _ => Type::Absent,
        };
        if types == Types::INT_OR_STRING {
            build.schema.flags.set(Flags::INT_OR_STRING, true);
        } else if build.schema.ty == Type::Absent {
            build.schema.flags.set(Flags::PRESERVE_UNKNOWN, true);
        }
        if facts.is_nullable() {
            build.schema.flags.set(Flags::NULLABLE, true);
            // A server looks at nothing else if a value is null.
            if facts.may_negate_null() {
                self.lose(Code::ToCrdValidation, facts.at, "null, which alternatives may reject");
            }
        }
        match build.schema.ty {
            Type::Object => self.fields(facts, level, &mut build),
            Type::Array => self.items(facts, &mut build),
            _ => self.without_parts(facts),
        }
        self.values(facts, &mut build);
        self.null_values(facts, &mut build);
        let spine = build.schema;
        self.junctors(facts, &spine, &mut build);
        self.rules(facts, &mut build);
        build.finish(self.arena)
    }

    /// Returns the types of the value, and reports what is assumed or left out.
    fn shape(&mut self, facts: &Facts<'a>) -> Types {
        let types = if facts.int_or_string { Types::INT_OR_STRING } else { facts.all_types() };
        if types == Types::NONE {
            if facts.is_nullable() {
                self.lose(Code::ToCrdType, facts.at, "null");
            } else {
                self.lose(Code::ToCrdValidation, facts.at, "no value has all of the types");
            }
            return Types::ALL;
        }
        if types == Types::ALL {
            let about = about(facts);
            if [Types::OBJECT, Types::ARRAY, Types::STRING, Types::INTEGER, Types::NUMBER].contains(&about) {
                self.lose(Code::ToCrdAssumed, facts.at, about.words());
                return about;
            }
            return types;
        }
        let simple = [Types::STRING, Types::BOOLEAN, Types::OBJECT, Types::ARRAY, Types::INT_OR_STRING];
        if simple.contains(&types) || types.is_in(Types::NUMBER) {
            return types;
        }
        self.lose(Code::ToCrdType, facts.at, types.words());
        // Restrictions of alternatives compare the types with those of the spine.
        types
    }

    fn texts(&mut self, facts: &Facts<'a>, build: &mut Build<'a>) {
        let description = facts.description.or_else(|| first_description(facts));
        build.schema.description = description.map_or("", Node::text);
        build.extra.title = facts.title.map_or("", Node::text);
        build.extra.example = facts.example.map(|node| &*self.arena.alloc(Json::read_in_crd(node, self.arena)));
        build.extra.external_docs = facts.docs.map(|docs| {
            let text = |name| docs.get(name).map_or("", Node::text);
            ExternalDocs { description: text("description"), url: text("url") }
        });
        if let Some(default) = facts.default {
            let is_zero = match default.kind() {
                Kind::Map | Kind::Seq => default.is_empty(),
                Kind::Str => default.text().is_empty(),
                Kind::Int | Kind::Float => super::facts::number(default) == Some(0.0),
                kind => matches!(kind, Kind::False | Kind::Null),
            };
            // Kubernetes' documents have the zero values of Go's types as defaults, which no server sets.
            if (is_zero && self.is_kubernetes) || default.is_null() {
                self.lose(Code::ToCrdDropped, default.index(), "default");
            } else {
                build.schema.default = Some(self.arena.alloc(Json::read_in_crd(default, self.arena)));
                build.schema.flags.set(Flags::DEFAULT, true);
            }
        }
        let written = [facts.title, facts.default, facts.example, facts.docs].into_iter().flatten();
        self.spent += build.schema.description.len() + written.map(|node| node.span().len()).sum::<usize>();
    }

    /// Reports keywords about parts of a value whose type has no parts.
    fn without_parts(&mut self, facts: &Facts<'a>) {
        let may = |types: Types| facts.all_types().and(types) != Types::NONE;
        if may(Types::OBJECT) {
            let schemas = facts.properties.values().flatten().chain(&facts.additional);
            let patterns = facts.pattern_properties.iter().map(|(_, schema)| schema);
            for at in schemas.chain(patterns).map(|schema| schema.node.index()).collect::<Vec<_>>() {
                self.lose(Code::ToCrdValidation, at, "the schema of a property");
            }
        }
        if may(Types::ARRAY) {
            for at in facts.items.iter().map(|schema| schema.node.index()).collect::<Vec<_>>() {
                self.lose(Code::ToCrdValidation, at, "items");
            }
            if let Some(at) = facts.unique {
                self.lose(Code::ToCrdValidation, at, "uniqueItems");
            }
            for contains in &facts.contains {
                self.lose(Code::ToCrdValidation, contains.schema.node.index(), "contains");
            }
        }
    }

    /// Declares the properties of an object.
    fn fields(&mut self, facts: &Facts<'a>, level: Level, build: &mut Build<'a>) {
        let mut names = BTreeMap::new();
        facts.add_names(&mut names);
        let more = facts.more();
        let patterns = &facts.pattern_properties;
        build.schema.flags.set(Flags::EMBEDDED_RESOURCE, facts.embedded);
        build.extra.map_type = facts.map_type;
        if !declares(facts) {
            return self.map(facts, &more, level, build);
        }
        let mut properties = Vec::with_capacity(names.len());
        for (name, at) in names {
            self.spent += name.len() + 8;
            if facts.is_partial_property(name) {
                self.lose(Code::ToCrdField, at, name);
            }
            let own = match (level, name) {
                (Level::Root, "apiVersion" | "kind") => Some(Type::String),
                (Level::Root, "metadata") => Some(Type::Object),
                _ => None,
            };
            let schema = match own {
                None => self.spine(&facts.property(name), Level::Field),
                Some(ty) => self.own(facts, name, at, ty),
            };
            properties.push(property(name, at, schema));
        }
        properties.sort_by(|a, b| order::utf16(a.name, b.name));
        build.schema.properties = self.arena.alloc_slice_copy(&properties);
        if !more.is_empty() {
            let at = more.all.first().map_or(facts.at, |schema| schema.node.index());
            self.lose(Code::ToCrdValidation, at, "additionalProperties next to properties");
        }
        for (_, schema) in patterns {
            self.lose(Code::ToCrdValidation, schema.node.index(), "patternProperties next to properties");
        }
        let is_open = facts.closed.is_none() && (facts.is_open() || !more.is_empty()) || !patterns.is_empty();
        build.schema.flags.set(Flags::PRESERVE_UNKNOWN, is_open);
        if let Some(at) = facts.closed {
            self.lose(Code::ToCrdClosed, at, "");
        }
        for node in &facts.names {
            self.lose(Code::ToCrdValidation, node.index(), "propertyNames next to properties");
        }
    }

    /// Returns the schema of a member that every object has. A server checks them itself.
    fn own(&mut self, facts: &Facts<'a>, name: &str, at: u32, ty: Type) -> Schema<'a> {
        let schemas = facts.properties.get(name).cloned().unwrap_or_default();
        let text = schemas.iter().find_map(|schema| schema.node.get("description")).map_or("", Node::text);
        if !self.is_kubernetes {
            let is_plain = |name: &str| matches!(name, "type" | "description" | "$ref");
            for schema in &schemas {
                if let Some((key, value)) = schema.node.pairs().find(|(key, _)| !is_plain(key.text())) {
                    self.lose(Code::ToCrdValidation, value.index(), format!("{} of {name}", key.text()));
                }
            }
        }
        let description = if ty == Type::String { text } else { "" };
        self.spent += description.len() + 16;
        Schema { description, at, ..Schema::of_type(ty) }
    }

    /// Declares an object without declared properties.
    fn map(&mut self, facts: &Facts<'a>, more: &Spec<'a>, level: Level, build: &mut Build<'a>) {
        let patterns = facts.pattern_properties.clone();
        if facts.has_partial_additional() {
            self.lose(Code::ToCrdField, facts.at, "additionalProperties");
        }
        let is_map = !more.is_empty() || !patterns.is_empty();
        if level == Level::Root || facts.embedded || !is_map {
            let is_open = facts.closed.is_none() || !patterns.is_empty();
            build.schema.flags.set(Flags::PRESERVE_UNKNOWN, is_open);
            if let Some(at) = facts.closed {
                self.lose(Code::ToCrdClosed, at, "");
            }
            if is_map {
                self.lose(Code::ToCrdValidation, facts.at, "the schema of additional properties");
            }
            for node in &facts.names {
                self.lose(Code::ToCrdValidation, node.index(), "propertyNames");
            }
            return;
        }
        let only = facts.closed.is_some() && more.is_empty();
        if let Some(at) = facts.closed.filter(|_| !only) {
            self.lose(Code::ToCrdClosed, at, "");
        }
        let schema = match patterns.as_slice() {
            [] => self.spine(more, Level::Field),
            [(_, schema)] if only => self.spine(&Spec::one(*schema), Level::Field),
            several => {
                for (_, schema) in several {
                    self.lose(Code::ToCrdValidation, schema.node.index(), "a schema of patternProperties");
                }
                if let Some(schema) = more.all.first() {
                    self.lose(
                        Code::ToCrdValidation,
                        schema.node.index(),
                        "additionalProperties next to patternProperties",
                    );
                }
                self.any(facts.at)
            }
        };
        build.schema.additional = Some(Additional::Schema(self.arena.alloc(schema)));
        let mut keys: Vec<String> = Vec::new();
        if only {
            let at = patterns.first().map_or(facts.at, |(_, schema)| schema.node.index());
            let texts: Vec<&str> = patterns.iter().map(|(text, _)| *text).collect();
            match rules::one_pattern(&texts) {
                Some(rule) => keys.push(rule),
                None => self.lose(Code::ToCrdPattern, at, texts.join(", ")),
            }
        }
        for node in &facts.names {
            keys.extend(self.key_rule(*node));
        }
        if !keys.is_empty() {
            let rule = format!("self.all(key, {})", keys.join(" && "));
            self.add_rule(build, &rule);
        }
    }

    /// Declares the items of a list.
    fn items(&mut self, facts: &Facts<'a>, build: &mut Build<'a>) {
        let spec = facts.item();
        if facts.has_partial_items() {
            self.lose(Code::ToCrdField, facts.at, "items");
        }
        if facts.tuple {
            for at in spec.all.iter().map(|schema| schema.node.index()).collect::<Vec<_>>() {
                self.lose(Code::ToCrdValidation, at, "items after others");
            }
        }
        let item = if facts.tuple || spec.is_empty() { self.any(facts.at) } else { self.spine(&spec, Level::Field) };
        let item = &*self.arena.alloc(item);
        build.schema.items = Some(Items::One(item));
        let is_scalar = matches!(item.ty, Type::String | Type::Integer | Type::Number | Type::Boolean)
            && !item.flags.any(Flags::NULLABLE);
        let has_key = |key: &&str| {
            item.required.contains(key) || item.property(key).is_some_and(|property| property.default.is_some())
        };
        match facts.list_type {
            Some("map") if !facts.list_keys.iter().all(has_key) => {
                self.lose(
                    Code::ToCrdRefused,
                    facts.at,
                    "x-kubernetes-list-type: map: a key is neither required nor set",
                );
            }
            Some("set") if item.flags.any(Flags::NULLABLE) => {
                self.lose(Code::ToCrdRefused, facts.at, "x-kubernetes-list-type: set: items may be null");
            }
            Some("map") => {
                build.extra.list_type = Some("map");
                build.extra.list_map_keys = self.arena.alloc_slice_copy(&facts.list_keys);
            }
            other => build.extra.list_type = other,
        }
        for contains in &facts.contains {
            let inner = self.facts(&Spec::one(contains.schema));
            let rule = if is_scalar && !inner.lost { rules::of_item(&inner, item.ty) } else { None };
            match rule {
                Some(rule) => {
                    for text in rules::of_contains(&rule, contains.least, contains.most) {
                        self.add_rule(build, &text);
                    }
                }
                None => self.lose(Code::ToCrdValidation, contains.schema.node.index(), "contains"),
            }
        }
        let Some(at) = facts.unique else { return };
        if build.extra.list_type.is_none() && is_scalar {
            build.extra.list_type = Some("set");
        } else if build.extra.list_type != Some("set") {
            let is_known = !item.flags.any(Flags::PRESERVE_UNKNOWN);
            match facts.most[1].filter(|most| *most <= 100 && is_known) {
                Some(_) => self.add_rule(build, "self.all(item, self.exists_one(other, other == item))"),
                None => self.lose(Code::ToCrdValidation, at, "uniqueItems"),
            }
        }
    }

    /// Adds the restrictions of the value itself.
    pub(super) fn values(&mut self, facts: &Facts<'a>, build: &mut Build<'a>) {
        let arena = self.arena;
        if let Some(values) = &facts.values {
            let list: Vec<Json<'a>> = values.iter().map(|value| Json::read_in_crd(*value, arena)).collect();
            self.spent += values.iter().map(|value| value.span().len() + 2).sum::<usize>();
            if list.is_empty() {
                self.lose(Code::ToCrdValidation, facts.at, "no value is in all lists of enum");
            }
            build.schema.enumeration = arena.alloc_slice_copy(&list);
        }
        let e = &mut build.extra;
        [e.min_length, e.min_items, e.min_properties] = facts.least;
        [e.max_length, e.max_items, e.max_properties] = facts.most;
        if let Some((minimum, exclusive)) = facts.minimum {
            e.minimum = Some(minimum);
            build.schema.flags.set(Flags::EXCLUSIVE_MINIMUM, exclusive);
        }
        if let Some((maximum, exclusive)) = facts.maximum {
            e.maximum = Some(maximum);
            build.schema.flags.set(Flags::EXCLUSIVE_MAXIMUM, exclusive);
        }
        for (i, multiple) in facts.multiples.iter().enumerate() {
            if i == 0 {
                build.extra.multiple_of = Some(*multiple);
            } else {
                let extra = Extra { multiple_of: Some(*multiple), ..Extra::default() };
                build.all_of.push(Schema { extra: Some(arena.alloc(extra)), ..Schema::default() });
            }
        }
        build.schema.format = facts.format;
        build.schema.required = arena.alloc_slice_copy(&facts.required);
        self.spent += facts.required.iter().map(|name| name.len() + 3).sum::<usize>();
        for (text, at) in &facts.patterns {
            let Some(text) = pattern::for_go(text) else {
                self.lose(Code::ToCrdPattern, *at, *text);
                continue;
            };
            let text: &str = arena.alloc_str(&text);
            self.spent += text.len() + 12;
            if build.extra.pattern.is_empty() {
                build.extra.pattern = text;
            } else {
                let extra = Extra { pattern: text, ..Extra::default() };
                build.all_of.push(Schema { extra: Some(arena.alloc(extra)), ..Schema::default() });
            }
        }
    }

    /// Replaces an enum of a value that may be null: a server accepts null for no enum, and evaluates no rule for it.
    fn null_values(&mut self, facts: &Facts<'a>, build: &mut Build<'a>) {
        let Some(values) = &facts.values else { return };
        let is_null = |value: &Node<'a>| value.kind() == Kind::Null;
        if !facts.is_nullable() || !(facts.null_branch || values.iter().any(is_null)) {
            return;
        }
        build.schema.enumeration = &[];
        let scalars: Option<Vec<String>> =
            values.iter().filter(|value| !is_null(value)).map(|value| rules::scalar(*value)).collect();
        match scalars.filter(|_| matches!(build.schema.ty, Type::String | Type::Integer | Type::Boolean)) {
            Some(scalars) => self.add_rule(build, &format!("self in [{}]", scalars.join(", "))),
            None => self.lose(Code::ToCrdValidation, facts.at, "enum of a value that may be null"),
        }
    }

    /// Adds the rules of the source.
    fn rules(&mut self, facts: &Facts<'a>, build: &mut Build<'a>) {
        let mut list = build.extra.validations.to_vec();
        for node in &facts.rules {
            let text = |name| node.get(name).map_or("", Node::text);
            self.spent += node.span().len();
            list.push(Rule {
                rule: text("rule"),
                message: text("message"),
                message_expression: text("messageExpression"),
                reason: node.get("reason").and_then(Node::as_str),
                field_path: text("fieldPath"),
                optional_old_self: node.get("optionalOldSelf").and_then(Node::as_bool),
            });
        }
        build.extra.validations = self.arena.alloc_slice_copy(&list);
    }

    fn add_rule(&mut self, build: &mut Build<'a>, rule: &str) {
        self.spent += rule.len();
        let mut list = build.extra.validations.to_vec();
        list.push(Rule { rule: self.arena.alloc_str(rule), ..Rule::default() });
        build.extra.validations = self.arena.alloc_slice_copy(&list);
    }

    /// Returns the expression for the names of a map, if there is one.
    fn key_rule(&mut self, node: Node<'a>) -> Option<String> {
        let conjunct = Conjunct { node, trail: None, or_null: false };
        let facts = self.facts(&Spec::one(conjunct));
        let rule = rules::of_key(&facts);
        if rule.is_none() || facts.lost {
            self.lose(Code::ToCrdValidation, node.index(), "propertyNames");
        }
        rule.filter(|rule| !rule.is_empty())
    }
}

/// Returns whether the schemas or their alternatives declare properties.
fn declares(facts: &Facts<'_>) -> bool {
    let branches = facts.unions.iter().flat_map(|union| &union.branches);
    !facts.properties.is_empty() || branches.chain(facts.nots.iter().map(|(not, _)| not)).any(declares)
}

/// Returns the description of the first alternative of a value around this one.
fn first_description<'a>(facts: &Facts<'a>) -> Option<Node<'a>> {
    let loose = facts.unions.iter().filter(|union| union.group == Group::Loose);
    loose.flat_map(|union| &union.branches).find_map(|branch| branch.description.or_else(|| first_description(branch)))
}

/// Returns the types that the keywords of schemas without a type are about.
fn about(facts: &Facts<'_>) -> Types {
    let mut types = Types::NONE;
    let object = !facts.properties.is_empty()
        || !facts.required.is_empty()
        || !facts.additional.is_empty()
        || !facts.pattern_properties.is_empty()
        || !facts.names.is_empty()
        || !facts.dependents.is_empty()
        || facts.closed.is_some()
        || facts.embedded
        || facts.least[2].or(facts.most[2]).is_some();
    let array = !facts.items.is_empty()
        || facts.tuple
        || !facts.contains.is_empty()
        || facts.unique.is_some()
        || facts.list_type.is_some()
        || facts.least[1].or(facts.most[1]).is_some();
    let number = facts.minimum.or(facts.maximum).is_some() || !facts.multiples.is_empty();
    let string = !facts.patterns.is_empty() || facts.least[0].or(facts.most[0]).is_some();
    let format = match facts.format {
        "" => Types::NONE,
        "int32" | "int64" => Types::INTEGER,
        "float" | "double" => Types::NUMBER,
        _ => Types::STRING,
    };
    for (is, of) in [
        (object, Types::OBJECT),
        (array, Types::ARRAY),
        (number, Types::NUMBER),
        (string, Types::STRING),
        (true, format),
    ] {
        if is {
            types = types.or(of);
        }
    }
    let branches = facts.unions.iter().flat_map(|union| &union.branches);
    branches.filter(|branch| !branch.typed).fold(types, |types, branch| types.or(about(branch)))
}
