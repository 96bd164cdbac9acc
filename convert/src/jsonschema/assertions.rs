//! The assertions of a schema, keyword by keyword.

use super::format::Range;
use super::pattern;
use super::writer::{Meta, Null, Origin, Place, Plan, Special, Writer, key, lists_nothing, transparent};
use super::{Draft, Nulls, Patterns};
use kubeshape_schema::{Additional, Code, Dependency, Flags, Items, Json, Property, Schema, Type};
use kubeshape_yaml::number;
use std::borrow::Cow;
use std::collections::HashSet;

impl<'a> Writer<'_, 'a, '_> {
    pub(super) fn assertions(&mut self, s: &Schema<'a>, place: Place, meta: Meta<'_>, plan: &Plan<'a>) {
        let reference = self.resolved(s, place);
        if let (Some(pointer), Draft::D2020_12) = (&reference, self.options.draft) {
            key!(self, "$ref");
            self.text(pointer);
        }
        self.types(s, meta, plan);
        if !plan.format.name.is_empty() {
            key!(self, "format");
            self.text(plan.format.name);
        }
        if !plan.format.encoding.is_empty() {
            key!(self, "contentEncoding");
            self.text(plan.format.encoding);
        }
        self.enumeration(s, plan);
        self.numbers(s, plan);
        let e = s.extra();
        let max_length = match (e.max_length, plan.format.max_length) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.count("minLength", e.min_length);
        self.count("maxLength", max_length);
        if !plan.pattern.is_empty() {
            key!(self, "pattern");
            self.text(&plan.pattern);
        }
        self.items(s, place);
        self.properties(s, place, meta);
        // If pattern properties are lost, their names must not become additional properties.
        if self.named("patternProperties", e.pattern_properties, place) {
            self.additional(s, place, meta);
        }
        self.required(s, meta);
        self.count("minProperties", e.min_properties);
        self.count("maxProperties", e.max_properties);
        self.dependencies(s, place);
        self.junctors(s, place, plan, reference.filter(|_| self.options.draft == Draft::D7));
    }

    fn types(&mut self, s: &Schema<'a>, meta: Meta<'_>, plan: &Plan<'a>) {
        let mut names: Vec<&str> = Vec::new();
        match s.ty {
            _ if matches!(meta, Meta::Root(_)) => names.push("object"),
            _ if plan.int_or_string || (plan.special == Special::Quantity && s.ty == Type::String) => {}
            Type::Absent => {}
            Type::Several | Type::Other => {
                let listed = if s.ty == Type::Other { &[s.extra().other_type][..] } else { s.extra().types };
                for name in listed {
                    let known = *name == "null" || !matches!(Type::from_name(name), Type::Other | Type::Absent);
                    if !known {
                        self.note(Code::JsonSchemaType, s.at, format!("type {name:?}"));
                        // Any value is allowed.
                        names.clear();
                        break;
                    }
                    if !names.contains(name) {
                        names.push(name);
                    }
                }
            }
            ty => names.push(ty.name()),
        }
        if plan.null == Null::Inline && !names.is_empty() && !names.contains(&"null") {
            names.push("null");
        }
        if plan.not_null {
            names.extend(["array", "boolean", "number", "object", "string"]);
        }
        match names.as_slice() {
            [] => {}
            [only] => {
                key!(self, "type");
                self.text(only);
            }
            several => {
                key!(self, "type");
                self.texts(several);
            }
        }
    }

    fn enumeration(&mut self, s: &Schema<'a>, plan: &Plan<'a>) {
        if s.enumeration.is_empty() || lists_nothing(s, self.origin, plan.null) {
            return;
        }
        key!(self, "enum");
        self.out.push(b'[');
        let start = self.out.len();
        // The null that a CustomResourceDefinition lists never matches.
        let crd = self.origin == Origin::Crd;
        let mut seen = HashSet::new();
        for value in s.enumeration.iter().filter(|value| !crd || **value != Json::Null) {
            let end = self.out.len();
            self.separate(start);
            let text = self.out.len();
            self.json(value);
            // Readers of draft 7 reject a schema that lists a value twice.
            if !seen.insert(self.out[text..].to_vec()) {
                self.out.truncate(end);
            }
        }
        if plan.null == Null::Inline && (crd || !s.enumeration.contains(&Json::Null)) {
            self.separate(start);
            self.out.extend_from_slice(b"null");
        }
        self.out.push(b']');
    }

    fn numbers(&mut self, s: &Schema<'a>, plan: &Plan<'a>) {
        let e = s.extra();
        if let Some(n) = e.multiple_of.filter(|n| *n > 0.0) {
            key!(self, "multipleOf");
            number::write_json(n, &mut self.out);
        }
        let (low, high) = match plan.format.range {
            Some(Range::Integer(low, high)) => (Some(Json::Int(low)), Some(Json::Int(high))),
            Some(Range::Float(n)) => (Some(Json::Float(-n)), Some(Json::Float(n))),
            None => (None, None),
        };
        let exclusive = s.flags.any(Flags::EXCLUSIVE_MINIMUM);
        let own = e.minimum.map(|n| (n, exclusive));
        self.bound(["minimum", "exclusiveMinimum"], own, low, |own, format| own > format);
        let exclusive = s.flags.any(Flags::EXCLUSIVE_MAXIMUM);
        let own = e.maximum.map(|n| (n, exclusive));
        self.bound(["maximum", "exclusiveMaximum"], own, high, |own, format| own < format);
    }

    /// Prints the schema's bound and the format's, unless the schema's is the tighter one.
    fn bound(
        &mut self,
        names: [&'static str; 2],
        own: Option<(f64, bool)>,
        format: Option<Json<'_>>,
        tighter: fn(f64, f64) -> bool,
    ) {
        // The next double above the maximum integer replaces it. This only has the effect that both bounds are printed.
        #[allow(clippy::cast_precision_loss)]
        let edge = match format {
            Some(Json::Int(n)) => Some(n as f64),
            Some(Json::Float(n)) => Some(n),
            _ => None,
        };
        let holds = own.is_some_and(|(n, _)| edge.is_none_or(|edge| tighter(n, edge)));
        if let Some((n, exclusive)) = own.filter(|(_, exclusive)| holds || *exclusive) {
            self.any_key(names[usize::from(exclusive)]);
            number::write_json(n, &mut self.out);
        }
        if let Some(format) = format.filter(|_| !holds) {
            self.any_key(names[0]);
            self.json(&format);
        }
    }

    /// Prints a bound on a number of characters, items or fields. Negative ones are not printed here: as a minimum they
    /// always hold, and a negative maximum is expressed in another way.
    fn count(&mut self, name: &'static str, value: Option<i64>) {
        if let Some(n) = value.filter(|n| *n >= 0) {
            self.any_key(name);
            number::write_int(n, &mut self.out);
        }
    }

    /// Returns the pattern in the language of the schema's reader, or `""` without a pattern.
    pub(super) fn pattern(&mut self, s: &Schema<'a>) -> Cow<'a, str> {
        let text = s.extra().pattern;
        if text.is_empty() {
            return Cow::Borrowed("");
        }
        // Syntax that ECMA has and Go does not.
        let ecma = ["(?=", "(?!", "(?<=", "(?<!", "\\u", "\\c", "\\k<"];
        let is_ecma = self.origin == Origin::Document && ecma.iter().any(|sign| text.contains(sign));
        self.expression(text, is_ecma).unwrap_or_else(|| {
            self.note(Code::JsonSchemaPattern, s.at, format!("pattern {text:?}"));
            Cow::Borrowed("")
        })
    }

    /// Returns a regular expression in the reader's language, if it can be expressed. `is_ecma` applies to those that
    /// Go rejects.
    fn expression(&self, text: &'a str, is_ecma: bool) -> Option<Cow<'a, str>> {
        match self.options.patterns {
            Patterns::Go => pattern::for_go(text),
            Patterns::Ecma => {
                let translated = pattern::translate(text).map(Cow::Owned);
                translated.or_else(|| is_ecma.then_some(Cow::Borrowed(text)))
            }
        }
    }

    fn items(&mut self, s: &Schema<'a>, place: Place) {
        let e = s.extra();
        // Unknown fields are preserved in items of lists, too.
        let inner = match place {
            Place::Spine | Place::Preserved if s.flags.any(Flags::PRESERVE_UNKNOWN) => Place::Preserved,
            Place::Preserved => Place::Preserved,
            place => place.child(),
        };
        match s.items {
            Some(Items::One(item)) => {
                key!(self, "items");
                let nil = self.nil_of_item(item, place);
                self.value(item, inner, nil);
            }
            Some(Items::Many(items)) => {
                let (list, rest) = match self.options.draft {
                    Draft::D2020_12 => ("prefixItems", "items"),
                    Draft::D7 => ("items", "additionalItems"),
                };
                if !items.is_empty() {
                    self.any_key(list);
                    self.list(items, inner);
                }
                // Without schemas for the first items, the others are all items.
                let rest = if items.is_empty() { "items" } else { rest };
                match e.additional_items {
                    Some(Additional::Schema(schema)) => {
                        self.any_key(rest);
                        self.object(schema, inner);
                    }
                    Some(Additional::Allowed(false)) => {
                        self.any_key(rest);
                        self.out.extend_from_slice(b"false");
                    }
                    Some(Additional::Allowed(true)) | None => {}
                }
            }
            None => {}
        }
        self.count("minItems", e.min_items);
        self.count("maxItems", e.max_items);
        let set = self.is_set(s);
        if set || s.flags.any(Flags::UNIQUE_ITEMS) {
            key!(self, "uniqueItems");
            self.out.extend_from_slice(b"true");
        }
        let numeric = |item: &Schema<'_>| matches!(item.ty, Type::Integer | Type::Number | Type::Absent);
        if set && s.item().is_none_or(numeric) {
            self.note(Code::JsonSchemaSet, s.at, "x-kubernetes-list-type: set".to_owned());
        }
    }

    pub(super) fn list(&mut self, schemas: &[Schema<'a>], place: Place) {
        self.out.push(b'[');
        for (i, schema) in schemas.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            self.object(schema, place);
        }
        self.out.push(b']');
        self.first = false;
    }

    /// Prints a mapping of patterns to schemas. Returns whether all could be expressed.
    fn named(&mut self, name: &'static str, properties: &[Property<'a>], place: Place) -> bool {
        if properties.is_empty() {
            return true;
        }
        let mut translated: Vec<(Cow<'_, str>, &Property<'a>)> = Vec::with_capacity(properties.len());
        for property in properties {
            match self.expression(property.name, property.name.contains("(?")) {
                Some(pattern) => translated.push((pattern, property)),
                None => self.note(Code::JsonSchemaPattern, property.at, format!("{name} {:?}", property.name)),
            }
        }
        let all = translated.len() == properties.len();
        self.any_key(name);
        self.out.push(b'{');
        self.first = true;
        for (name, property) in translated {
            self.any_key(&name);
            self.object(&property.schema, place.child());
        }
        self.out.push(b'}');
        self.first = false;
        all
    }

    fn required(&mut self, s: &Schema<'a>, meta: Meta<'_>) {
        let mut names: Vec<&str> = Vec::with_capacity(s.required.len() + 2);
        let mut seen = std::collections::BTreeSet::new();
        let added: &[&str] = if matches!(meta, Meta::None) { &[] } else { &["apiVersion", "kind"] };
        // The server sets defaults before it checks required fields.
        let is_filled_in = |name: &str| {
            self.options.nulls == Nulls::Server && s.property(name).is_some_and(|property| property.default.is_some())
        };
        for name in s.required.iter().filter(|name| !is_filled_in(name)).chain(added) {
            if seen.insert(*name) {
                names.push(name);
            }
        }
        if !names.is_empty() {
            key!(self, "required");
            self.texts(&names);
        }
    }

    fn dependencies(&mut self, s: &Schema<'a>, place: Place) {
        let dependencies = s.extra().dependencies;
        let schemas = |d: &Dependency<'_>| matches!(d, Dependency::Schema(_));
        match self.options.draft {
            Draft::D7 => self.some_dependencies("dependencies", dependencies, |_| true, place),
            Draft::D2020_12 => {
                self.some_dependencies("dependentRequired", dependencies, |d| !schemas(d), place);
                self.some_dependencies("dependentSchemas", dependencies, schemas, place);
            }
        }
    }

    fn some_dependencies(
        &mut self,
        name: &'static str,
        dependencies: &[(&'a str, Dependency<'a>)],
        wanted: impl Fn(&Dependency<'a>) -> bool,
        place: Place,
    ) {
        if !dependencies.iter().any(|(_, d)| wanted(d)) {
            return;
        }
        let place = if place == Place::InBranch { place } else { Place::Branch };
        self.any_key(name);
        self.out.push(b'{');
        self.first = true;
        for (name, dependency) in dependencies.iter().filter(|(_, d)| wanted(d)) {
            self.any_key(name);
            match dependency {
                Dependency::Schema(schema) => self.object(schema, place),
                Dependency::Names(names) => {
                    let mut unique: Vec<&str> = Vec::new();
                    let mut seen = std::collections::BTreeSet::new();
                    unique.extend(names.iter().filter(|name| seen.insert(**name)));
                    self.texts(&unique);
                }
            }
        }
        self.out.push(b'}');
        self.first = false;
    }

    fn junctors(&mut self, s: &Schema<'a>, place: Place, plan: &Plan<'a>, reference: Option<String>) {
        let e = s.extra();
        if let (Some(pointer), true) = (&reference, self.first) {
            // It has no siblings, unless branches do.
            if e.all_of.is_empty()
                && e.any_of.is_empty()
                && e.one_of.is_empty()
                && e.not.is_none()
                && !plan.either
                && plan.all_of.is_empty()
            {
                key!(self, "$ref");
                self.text(pointer);
                return;
            }
        }
        let (exactly_one, at_least_one) = self.one_of(s);
        if reference.is_some() || !plan.all_of.is_empty() || at_least_one.is_some() || !e.all_of.is_empty() {
            key!(self, "allOf");
            self.out.push(b'[');
            let start = self.out.len();
            if let Some(pointer) = reference {
                self.reference_object(&pointer);
            }
            for printed in plan.all_of.iter().chain(&at_least_one) {
                self.separate(start);
                self.out.extend_from_slice(printed);
            }
            let is_whole = self.origin == Origin::Document && place.is_spine() && transparent(s).is_some();
            for branch in e.all_of {
                self.separate(start);
                self.object(branch, if is_whole { place } else { Place::Branch });
            }
            self.out.push(b']');
            self.first = false;
        }
        if !e.any_of.is_empty() {
            key!(self, "anyOf");
            self.list(e.any_of, Place::Branch);
            self.or_null(plan);
        } else if plan.either {
            key!(self, "anyOf");
            self.out.extend_from_slice(br#"[{"type":"integer"},{"type":"string"}]"#);
            self.or_null(plan);
        }
        if let Some(printed) = exactly_one {
            key!(self, "oneOf");
            self.out.extend_from_slice(&printed);
        } else if plan.special == Special::Quantity && s.ty == Type::String {
            key!(self, "oneOf");
            self.out.extend_from_slice(br#"[{"type":"string"},{"type":"number"}]"#);
        }
        if let Some(not) = e.not {
            let (length, first, widened) = (self.out.len(), self.first, self.widened);
            key!(self, "not");
            self.object(not, Place::Branch);
            if self.widened > widened {
                self.out.truncate(length);
                self.first = first;
                self.note(Code::JsonSchemaNegated, s.at, "not".to_owned());
            }
        }
    }

    /// Returns the branches of `oneOf`, printed, or a schema that requires at least one of them: if branches accept
    /// more than they should, there may be more matches.
    fn one_of(&mut self, s: &Schema<'a>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let branches = s.extra().one_of;
        if branches.is_empty() {
            return (None, None);
        }
        let (outside, first, widened) = (std::mem::take(&mut self.out), self.first, self.widened);
        self.list(branches, Place::Branch);
        self.first = first;
        let printed = std::mem::replace(&mut self.out, outside);
        if self.widened == widened {
            return (Some(printed), None);
        }
        self.note(Code::JsonSchemaNegated, s.at, "oneOf".to_owned());
        (None, Some([&b"{\"anyOf\":"[..], &printed, b"}"].concat()))
    }

    pub(super) fn separate(&mut self, start: usize) {
        if self.out.len() > start {
            self.out.push(b',');
        }
    }

    /// Adds null to the alternatives that were just printed.
    fn or_null(&mut self, plan: &Plan<'a>) {
        if plan.null == Null::Inline {
            self.out.pop();
            self.out.extend_from_slice(b",{\"type\":\"null\"}]");
        }
    }
}
