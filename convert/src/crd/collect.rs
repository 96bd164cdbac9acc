//! Reads what schemas say.

use super::facts::{Contains, Facts, Group, Spec, Types, Union, number};
use super::source::{self, Language};
use super::{Conjunct, Converter, Trail};
use kubeshape_schema::{Code, Note};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

fn texts(node: Node<'_>) -> Vec<&str> {
    node.items().filter_map(Node::as_str).collect()
}

impl<'a> Converter<'a> {
    /// Returns what the schemas of a value say.
    pub(super) fn facts(&mut self, spec: &Spec<'a>) -> Facts<'a> {
        let mut facts = Facts::new();
        facts.said_null = spec.is_empty() && self.language == Language::JsonSchema;
        for conjunct in &spec.all {
            self.collect(&mut facts, *conjunct);
        }
        for group in &spec.loose {
            let branches: Vec<Facts<'a>> = group.iter().map(|spec| self.facts(spec)).collect();
            let at = branches.first().map_or(0, |branch| branch.at);
            if facts.at == 0 {
                facts.at = at;
            }
            let said_null = branches.iter().any(Facts::is_nullable);
            facts.said_null |= said_null;
            facts.unions.push(Union { group: Group::Loose, at, branches, name: "" });
        }
        facts
    }

    pub(super) fn lose(&mut self, code: Code, at: u32, detail: impl Into<String>) {
        self.notes.push(Note::new(code, at, detail.into()));
    }

    /// Reports a restriction that is left out.
    fn lose_restriction(&mut self, facts: &mut Facts<'a>, at: u32, detail: &str) {
        facts.lost = true;
        self.lose(Code::ToCrdValidation, at, detail);
    }

    /// Adds what one schema says.
    fn collect(&mut self, facts: &mut Facts<'a>, conjunct: Conjunct<'a>) {
        let Conjunct { node, trail, or_null } = conjunct;
        self.spent += 16;
        if facts.at == 0 {
            facts.at = node.index();
        }
        if self.is_over() {
            return;
        }
        if self.depth >= super::MOST_DEPTH {
            facts.open = true;
            facts.lost = true;
            return self.lose(Code::ToCrdBudget, node.index(), "the schemas are nested too deep");
        }
        match node.kind() {
            Kind::Map => {}
            Kind::True | Kind::Null => {
                facts.said_null |= self.language == Language::JsonSchema;
                return;
            }
            Kind::False => {
                facts.types = Types::NONE;
                facts.nulls = false;
                return;
            }
            _ => return self.lose(Code::ToCrdReference, node.index(), "found no schema"),
        }
        self.depth += 1;
        let members = own_members(node);
        self.spent += 4 * members.len();
        for (key, value) in &members {
            if ANNOTATIONS.contains(key) && !annotation(facts, key, *value) {
                self.lose(Code::ToCrdDropped, value.index(), *key);
            }
        }
        let mut siblings = true;
        if let Some(reference) = node.get("$ref").filter(|reference| reference.kind() == Kind::Str) {
            siblings = self.language.has_siblings();
            self.follow(facts, reference, conjunct);
        }
        if siblings {
            self.types(facts, node, or_null);
            self.bounds(facts, node);
        }
        for (name, value) in members.into_iter().filter(|(name, _)| !ANNOTATIONS.contains(name)) {
            // Kubernetes' documents have list and map types next to references.
            if siblings || name.starts_with("x-kubernetes-") {
                self.member(facts, name, value, or_null, &|node| Conjunct { node, trail, or_null: false });
            } else if name != "$ref" {
                self.lose(Code::ToCrdDropped, value.index(), format!("{name} next to $ref"));
            }
        }
        if siblings {
            self.conditional(facts, node, trail);
            self.contains(facts, node, trail);
        }
        self.depth -= 1;
    }

    /// Adds the target of a reference.
    fn follow(&mut self, facts: &mut Facts<'a>, reference: Node<'a>, from: Conjunct<'a>) {
        let at = from.node.index();
        let root = self.root;
        let target = *self.targets.entry(reference.text()).or_insert_with(|| source::resolve(root, reference.text()));
        let Some(target) = target else {
            facts.open = true;
            facts.lost = true;
            return self.lose(Code::ToCrdReference, reference.index(), reference.text());
        };
        let depth = from.trail.map_or(0, |trail| trail.depth) + 1;
        self.deepest = self.deepest.max(depth);
        if from.trail.is_some_and(|trail| trail.has(target.index())) || target.index() == at {
            facts.open = true;
            facts.lost = true;
            return self.lose(Code::ToCrdRecursion, reference.index(), reference.text());
        }
        if depth > self.most_depth {
            facts.open = true;
            facts.lost = true;
            let detail = format!("{} is the reference number {depth} on its path", reference.text());
            return self.lose(Code::ToCrdBudget, reference.index(), detail);
        }
        let trail = &*self.arena.alloc(Trail { target: target.index(), depth, up: from.trail });
        self.collect(facts, Conjunct { node: target, trail: Some(trail), ..from });
    }

    /// Adds the types of a schema.
    fn types(&mut self, facts: &mut Facts<'a>, node: Node<'a>, or_null: bool) {
        let at = node.index();
        let (mut types, mut null, mut typed) = (Types::ALL, self.language != Language::JsonSchema, false);
        if let Some(ty) = node.get("type") {
            let names = if ty.kind() == Kind::Seq { texts(ty) } else { vec![ty.text()] };
            typed = true;
            types = Types::NONE;
            for name in names {
                if let Some((ty, is_null)) = Types::named(name) {
                    types = types.or(ty);
                    facts.said_null |= is_null;
                    null |= is_null;
                } else {
                    types = Types::ALL;
                    self.lose_restriction(facts, at, &format!("type {name}"));
                }
            }
        }
        let is_nullable = |name| node.get(name).and_then(Node::as_bool) == Some(true);
        if (self.language == Language::V3 && is_nullable("nullable")) || is_nullable("x-nullable") {
            facts.said_null = true;
            null = true;
        }
        if node.get("format").is_some_and(|format| format.text() == "int-or-string")
            || is_nullable("x-kubernetes-int-or-string")
        {
            facts.int_or_string = true;
            types = Types::INT_OR_STRING;
            typed = true;
        }
        let values: Option<Vec<Node<'a>>> = match (node.get("const"), node.get("enum")) {
            (Some(value), _) => Some(vec![value]),
            (_, Some(values)) if values.kind() == Kind::Seq => Some(values.items().collect()),
            _ => None,
        };
        if let Some(values) = &values {
            let (sum, has_null) = values.iter().fold((Types::NONE, false), |(sum, null), value| {
                let (ty, is_null) = Types::of(*value);
                (sum.or(ty), null | is_null)
            });
            if !typed {
                // Integers are numbers, too.
                types = types.and(sum);
                facts.said_null |= has_null;
            }
            typed = true;
            if self.language == Language::JsonSchema {
                null = has_null && (null || node.get("type").is_none());
            }
        } else if !typed {
            null = true;
            // In OpenAPI 2.0 and 3.0, null has to be allowed.
            facts.said_null |= self.language == Language::JsonSchema;
        }
        facts.typed |= typed;
        facts.nulls &= null || or_null;
        facts.types = facts.types.and(types);
        if let Some(values) = values {
            facts.values = Some(match facts.values.take() {
                None => values,
                Some(before) => before.into_iter().filter(|old| values.iter().any(|new| same(*old, *new))).collect(),
            });
        }
    }

    /// Adds one member of a schema. `or_null` says whether null is an alternative to the schema.
    fn member(
        &mut self,
        facts: &mut Facts<'a>,
        name: &'a str,
        value: Node<'a>,
        or_null: bool,
        conjunct: &dyn Fn(Node<'a>) -> Conjunct<'a>,
    ) {
        let at = value.index();
        match name {
            // Read above, or of no effect.
            "$ref"
            | "type"
            | "enum"
            | "const"
            | "nullable"
            | "x-nullable"
            | "$schema"
            | "$id"
            | "id"
            | "$defs"
            | "definitions"
            | "x-kubernetes-int-or-string"
            | "if"
            | "then"
            | "else"
            | "x-kubernetes-group-version-kind"
            | "$vocabulary"
            | "minimum"
            | "exclusiveMinimum"
            | "maximum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "contains"
            | "minContains"
            | "maxContains" => {}
            "minLength" | "minItems" | "minProperties" | "maxLength" | "maxItems" | "maxProperties" => {
                let slot = if name.ends_with("Length") {
                    0
                } else if name.ends_with("Items") {
                    1
                } else {
                    2
                };
                match count(value) {
                    None => self.lose_restriction(facts, at, name),
                    Some(n) if name.starts_with("min") => {
                        facts.least[slot] = Some(facts.least[slot].map_or(n, |old| old.max(n)));
                    }
                    Some(n) => facts.most[slot] = Some(facts.most[slot].map_or(n, |old| old.min(n))),
                }
            }
            "pattern" => match value.as_str() {
                Some(text) => facts.patterns.push((text, at)),
                None => self.lose_restriction(facts, at, name),
            },
            "format" => self.format(facts, value),
            "uniqueItems" => {
                if value.as_bool() == Some(true) {
                    facts.unique = Some(at);
                }
            }
            "required" if value.kind() == Kind::Seq => {
                for name in texts(value) {
                    if !facts.required.contains(&name) {
                        facts.required.push(name);
                    }
                }
            }
            "properties" => {
                for (name, schema) in own_members(value) {
                    facts.properties.entry(name).or_default().push(conjunct(schema));
                }
            }
            "patternProperties" => {
                facts.pattern_properties.extend(value.pairs().map(|(key, schema)| (key.text(), conjunct(schema))));
            }
            "propertyNames" => facts.names.push(value),
            "additionalProperties" | "unevaluatedProperties" => match value.kind() {
                Kind::False => facts.closed = Some(at),
                Kind::True | Kind::Null => facts.open |= value.kind() == Kind::True,
                _ if name == "unevaluatedProperties" => self.lose_restriction(facts, at, name),
                _ => facts.additional.push(conjunct(value)),
            },
            "items" if value.kind() == Kind::Seq => {
                facts.tuple = true;
                self.lose_restriction(facts, at, "items for each position");
            }
            "prefixItems" => {
                facts.tuple = true;
                self.lose_restriction(facts, at, name);
            }
            "items" => facts.items.push(conjunct(value)),
            "allOf" => {
                for schema in value.items() {
                    self.collect(facts, Conjunct { or_null, ..conjunct(schema) });
                }
            }
            "anyOf" | "oneOf" => {
                let group = if name == "anyOf" { Group::Any } else { Group::One };
                self.alternatives(facts, group, value, or_null, conjunct);
            }
            "not" => {
                let not = self.facts(&Spec::one(conjunct(value)));
                facts.nots.push((not, at));
            }
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                for (key, needs) in value.pairs() {
                    if needs.kind() == Kind::Seq {
                        facts.dependents.push((key.text(), texts(needs)));
                    } else {
                        let branches = vec![self.facts(&Spec::one(conjunct(needs)))];
                        facts.unions.push(Union { group: Group::Dependent, at, branches, name: key.text() });
                    }
                }
            }
            "x-kubernetes-preserve-unknown-fields" => facts.open |= value.as_bool() == Some(true),
            "x-kubernetes-embedded-resource" => facts.embedded |= value.as_bool() == Some(true),
            "x-kubernetes-list-type" => facts.list_type = value.as_str(),
            "x-kubernetes-map-type" => facts.map_type = value.as_str(),
            "x-kubernetes-list-map-keys" => facts.list_keys = texts(value),
            "x-kubernetes-validations" => facts.rules.extend(value.items()),
            "readOnly" | "writeOnly" | "deprecated" if value.as_bool() == Some(false) => {}
            "additionalItems" | "unevaluatedItems" | "$dynamicRef" | "$recursiveRef" | "required" => {
                self.lose_restriction(facts, at, name);
            }
            _ => self.lose(Code::ToCrdDropped, at, name),
        }
    }

    /// Adds the bounds of numbers. `exclusiveMinimum` is a number, or says something about `minimum`.
    fn bounds(&mut self, facts: &mut Facts<'a>, node: Node<'a>) {
        for (is_min, plain, exclusive) in
            [(true, "minimum", "exclusiveMinimum"), (false, "maximum", "exclusiveMaximum")]
        {
            let excluded = node.get(exclusive);
            let is_excluded = excluded.and_then(Node::as_bool) == Some(true);
            let own = node.get(plain).and_then(number).map(|n| (n, is_excluded));
            for (name, value) in [(plain, node.get(plain)), (exclusive, excluded)] {
                if let Some(value) = value.filter(|value| number(*value).is_none() && value.as_bool().is_none()) {
                    self.lose_restriction(facts, value.index(), name);
                }
            }
            for new in own.into_iter().chain(excluded.and_then(number).map(|n| (n, true))) {
                let slot = if is_min { &mut facts.minimum } else { &mut facts.maximum };
                *slot = Some(match *slot {
                    Some(old) if old.0.total_cmp(&new.0).is_eq() => (old.0, old.1 || new.1),
                    Some(old) if (old.0 > new.0) == is_min => old,
                    _ => new,
                });
            }
        }
        match node.get("multipleOf") {
            None => {}
            Some(value) => match number(value).filter(|n| *n > 0.0) {
                Some(n) if !facts.multiples.iter().any(|old| old.total_cmp(&n).is_eq()) => facts.multiples.push(n),
                Some(_) => {}
                None => self.lose_restriction(facts, value.index(), "multipleOf"),
            },
        }
    }

    fn format(&mut self, facts: &mut Facts<'a>, value: Node<'a>) {
        let format = value.text();
        match format {
            "int-or-string" | "" => {}
            // Its strings are others in JSON Schema, and those of a server are no numbers.
            "duration" if !self.is_kubernetes => self.lose(Code::ToCrdFormat, value.index(), format),
            // A server refuses the empty string, which is the base64 of no bytes.
            "byte" => self.lose(Code::ToCrdFormat, value.index(), format),
            _ if facts.format.is_empty() => facts.format = format,
            _ if facts.format == format => {}
            _ => self.lose(Code::ToCrdFormat, value.index(), format),
        }
    }

    /// Adds `anyOf` or `oneOf`.
    fn alternatives(
        &mut self,
        facts: &mut Facts<'a>,
        group: Group,
        list: Node<'a>,
        or_null: bool,
        conjunct: &dyn Fn(Node<'a>) -> Conjunct<'a>,
    ) {
        let (nulls, others): (Vec<Node<'a>>, Vec<Node<'a>>) = list.items().partition(|schema| is_null(*schema));
        if !nulls.is_empty() {
            facts.said_null = true;
            facts.null_branch = true;
        }
        // Around these alternatives, null may be one, too.
        let or_null = or_null || !nulls.is_empty();
        let branch = |schema| Conjunct { or_null, ..conjunct(schema) };
        match others.as_slice() {
            [only] => {
                if group == Group::One && !nulls.is_empty() && accepts_null(*only) {
                    self.lose(Code::ToCrdValidation, list.index(), "null, which both alternatives accept");
                }
                return self.collect(facts, branch(*only));
            }
            [] if !nulls.is_empty() => {
                // Only null is left.
                facts.types = Types::NONE;
                facts.typed = true;
                return;
            }
            _ => {}
        }
        let branches: Vec<Facts<'a>> = others.iter().map(|schema| self.facts(&Spec::one(branch(*schema)))).collect();
        if !branches.is_empty() {
            facts.said_null |= branches.iter().any(Facts::is_nullable);
            facts.nulls &= or_null || branches.iter().any(|branch| branch.nulls);
            facts.unions.push(Union { group, at: list.index(), branches, name: "" });
        }
    }

    /// Adds `contains`, with `minContains` and `maxContains`, which mean nothing without it.
    fn contains(&mut self, facts: &mut Facts<'a>, node: Node<'a>, trail: Option<&'a Trail<'a>>) {
        let Some(schema) = node.get("contains") else { return };
        let [least, most] = ["minContains", "maxContains"].map(|name| node.get(name).map(count));
        let (Some(least), Some(most)) = (least.unwrap_or(Some(1)), most.map_or(Some(None), |most| most.map(Some)))
        else {
            return self.lose_restriction(facts, schema.index(), "contains");
        };
        if least > 0 || most.is_some() {
            facts.contains.push(Contains { schema: Conjunct { node: schema, trail, or_null: false }, least, most });
        }
    }

    /// Adds `if`, `then` and `else`.
    fn conditional(&mut self, facts: &mut Facts<'a>, node: Node<'a>, trail: Option<&'a Trail<'a>>) {
        let Some(condition) = node.get("if") else { return };
        let mut part = |name| {
            let conjunct = node.get(name).map(|node| Conjunct { node, trail, or_null: false });
            self.facts(&Spec { all: conjunct.into_iter().collect(), loose: Vec::new() })
        };
        let branches = vec![part("if"), part("then"), part("else")];
        facts.unions.push(Union { group: Group::If, at: condition.index(), branches, name: "" });
    }
}

/// Returns a number of characters, items or members.
fn count(value: Node<'_>) -> Option<i64> {
    number(value).filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n)).map(|n| n as i64)
}

/// The members that document a schema.
const ANNOTATIONS: [&str; 6] = ["description", "title", "default", "example", "examples", "externalDocs"];

/// Returns the members of a mapping by name. Of repeated keys, the last is used.
fn own_members(node: Node<'_>) -> BTreeMap<&str, Node<'_>> {
    node.pairs().map(|(key, value)| (key.text(), value)).collect()
}

/// Reads a member that documents the schema. The first one is used. Returns whether it is one.
fn annotation<'a>(facts: &mut Facts<'a>, name: &str, value: Node<'a>) -> bool {
    let slot = match name {
        "description" => &mut facts.description,
        "title" => &mut facts.title,
        "default" => &mut facts.default,
        "example" => &mut facts.example,
        "externalDocs" => &mut facts.docs,
        "examples" if value.kind() == Kind::Seq && value.len() == 1 => {
            let first = value.items().next();
            facts.example = facts.example.or(first);
            return facts.example.map(Node::index) == first.map(Node::index);
        }
        _ => return false,
    };
    if slot.is_none() {
        *slot = Some(value);
        return true;
    }
    false
}

/// Returns whether a schema accepts only null.
fn is_null(schema: Node<'_>) -> bool {
    let only = |node: Node<'_>| node.text() == "null" || (node.len() == 1 && node.items().all(|n| n.text() == "null"));
    schema.get("type").is_some_and(only)
        || schema.get("const").is_some_and(Node::is_null)
        || schema.get("enum").is_some_and(|values| values.len() == 1 && values.items().all(Node::is_null))
}

/// Returns whether a schema accepts null, as far as its own text says it: references are not followed.
fn accepts_null(schema: Node<'_>) -> bool {
    let has_null = |values: Node<'_>| values.items().any(Node::is_null);
    let names_null = |types: Node<'_>| types.text() == "null" || types.items().any(|name| name.text() == "null");
    schema.get("type").is_none_or(names_null)
        && schema.get("enum").is_none_or(has_null)
        && schema.get("const").is_none_or(Node::is_null)
        && schema.get("$ref").is_none()
        && schema.get("allOf").is_none_or(|all| all.items().all(accepts_null))
        && ["anyOf", "oneOf"].iter().all(|name| schema.get(name).is_none_or(|all| all.items().any(accepts_null)))
}

/// Returns whether two values are the same.
fn same(a: Node<'_>, b: Node<'_>) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        (None, None) => {
            a.kind() == b.kind()
                && a.text() == b.text()
                && a.len() == b.len()
                && a.items().zip(b.items()).all(|(a, b)| same(a, b))
                && a.pairs().all(|(key, value)| b.get(key.text()).is_some_and(|other| same(value, other)))
        }
        _ => false,
    }
}
