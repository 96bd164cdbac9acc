//! What all schemas together say about one value.

use super::source::{self, Language};
use super::{Conjunct, Converter, Trail};
use kubeshape_schema::{Code, Note};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

/// A set of JSON types without null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Types = Types(0);
    pub(super) const STRING: Types = Types(1);
    pub(super) const INTEGER: Types = Types(2);
    /// Numbers that are no integers.
    pub(super) const FRACTION: Types = Types(4);
    pub(super) const BOOLEAN: Types = Types(8);
    pub(super) const OBJECT: Types = Types(16);
    pub(super) const ARRAY: Types = Types(32);
    pub(super) const NUMBER: Types = Types(2 | 4);
    pub(super) const INT_OR_STRING: Types = Types(1 | 2);
    pub(super) const ALL: Types = Types(63);

    pub(super) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(super) fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(super) fn is_in(self, other: Types) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the names: `integer, string`.
    pub(super) fn words(self) -> String {
        let all = [
            (Types::ARRAY, "array"),
            (Types::BOOLEAN, "boolean"),
            (Types::INTEGER, "integer"),
            (Types::FRACTION, "number"),
            (Types::OBJECT, "object"),
            (Types::STRING, "string"),
        ];
        let names = all.iter().filter(|(one, _)| one.is_in(self)).map(|(_, name)| *name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns the type with that name, and whether it is null.
    fn named(name: &str) -> Option<(Types, bool)> {
        Some(match name {
            "string" => (Types::STRING, false),
            "integer" => (Types::INTEGER, false),
            "number" => (Types::NUMBER, false),
            "boolean" => (Types::BOOLEAN, false),
            "object" => (Types::OBJECT, false),
            "array" => (Types::ARRAY, false),
            "null" => (Types::NONE, true),
            _ => return None,
        })
    }

    /// Returns the type of a value, and whether it is null.
    fn of(value: Node<'_>) -> (Types, bool) {
        match value.kind() {
            Kind::Null => (Types::NONE, true),
            Kind::True | Kind::False => (Types::BOOLEAN, false),
            Kind::Int => (Types::INTEGER, false),
            Kind::Float => {
                (if number(value).is_some_and(|n| n.fract() == 0.0) { Types::NUMBER } else { Types::FRACTION }, false)
            }
            Kind::Str => (Types::STRING, false),
            Kind::Seq => (Types::ARRAY, false),
            Kind::Map => (Types::OBJECT, false),
        }
    }
}

/// A value that several schemas describe: all of `all`, and of each group in `loose` at least one. The groups come from
/// alternatives of values around this one, whose restrictions are expressed there.
#[derive(Clone, Debug, Default)]
pub(super) struct Spec<'a> {
    pub(super) all: Vec<Conjunct<'a>>,
    pub(super) loose: Vec<Vec<Spec<'a>>>,
}

impl<'a> Spec<'a> {
    pub(super) fn one(conjunct: Conjunct<'a>) -> Spec<'a> {
        Spec { all: vec![conjunct], loose: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.loose.is_empty()
    }
}

/// The kind of a group of alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Any,
    One,
    /// `if`, `then` and `else`
    If,
    /// `dependentSchemas`: the only alternative applies if the property is present.
    Dependent,
    /// Its restrictions are expressed elsewhere.
    Loose,
}

/// Alternatives.
#[derive(Clone, Debug)]
pub(super) struct Union<'a> {
    pub(super) group: Group,
    pub(super) at: u32,
    /// For [`Group::If`], the schemas of `if`, `then` and `else`.
    pub(super) branches: Vec<Facts<'a>>,
    /// The property of [`Group::Dependent`].
    pub(super) name: &'a str,
}

/// A bound of numbers, and whether the bound itself is excluded.
pub(super) type Bound = (f64, bool);

/// What schemas say about a value.
#[derive(Clone, Debug)]
pub(super) struct Facts<'a> {
    pub(super) at: u32,
    pub(super) types: Types,
    /// Whether a schema names a type or values.
    pub(super) typed: bool,
    /// Whether null is accepted by every schema, and whether one of them says so.
    nulls: bool,
    said_null: bool,
    /// Whether null comes from an alternative.
    pub(super) null_branch: bool,
    pub(super) description: Option<Node<'a>>,
    pub(super) title: Option<Node<'a>>,
    pub(super) default: Option<Node<'a>>,
    pub(super) example: Option<Node<'a>>,
    pub(super) docs: Option<Node<'a>>,
    pub(super) values: Option<Vec<Node<'a>>>,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiples: Vec<f64>,
    /// `minLength`, `minItems`, `minProperties`; `maxLength`, `maxItems`, `maxProperties`
    pub(super) least: [Option<i64>; 3],
    pub(super) most: [Option<i64>; 3],
    pub(super) patterns: Vec<(&'a str, u32)>,
    pub(super) format: &'a str,
    pub(super) unique: Option<u32>,
    pub(super) required: Vec<&'a str>,
    pub(super) properties: BTreeMap<&'a str, Vec<Conjunct<'a>>>,
    pub(super) pattern_properties: Vec<(&'a str, Conjunct<'a>)>,
    pub(super) names: Vec<Node<'a>>,
    /// Schemas of additional properties.
    pub(super) additional: Vec<Conjunct<'a>>,
    /// `additionalProperties: false`
    pub(super) closed: Option<u32>,
    /// Whether unknown fields must be kept.
    pub(super) open: bool,
    pub(super) items: Vec<Conjunct<'a>>,
    /// Whether items have schemas by position.
    pub(super) tuple: bool,
    pub(super) unions: Vec<Union<'a>>,
    pub(super) nots: Vec<(Facts<'a>, u32)>,
    /// `dependentRequired`
    pub(super) dependents: Vec<(&'a str, Vec<&'a str>)>,
    pub(super) int_or_string: bool,
    pub(super) embedded: bool,
    pub(super) list_type: Option<&'a str>,
    pub(super) map_type: Option<&'a str>,
    pub(super) list_keys: Vec<&'a str>,
    pub(super) rules: Vec<Node<'a>>,
    /// Whether something was left out that restricts the value.
    pub(super) lost: bool,
}

impl<'a> Facts<'a> {
    fn new() -> Facts<'a> {
        Facts {
            at: 0,
            types: Types::ALL,
            typed: false,
            nulls: true,
            said_null: false,
            null_branch: false,
            description: None,
            title: None,
            default: None,
            example: None,
            docs: None,
            values: None,
            minimum: None,
            maximum: None,
            multiples: Vec::new(),
            least: [None; 3],
            most: [None; 3],
            patterns: Vec::new(),
            format: "",
            unique: None,
            required: Vec::new(),
            properties: BTreeMap::new(),
            pattern_properties: Vec::new(),
            names: Vec::new(),
            additional: Vec::new(),
            closed: None,
            open: false,
            items: Vec::new(),
            tuple: false,
            unions: Vec::new(),
            nots: Vec::new(),
            dependents: Vec::new(),
            int_or_string: false,
            embedded: false,
            list_type: None,
            map_type: None,
            list_keys: Vec::new(),
            rules: Vec::new(),
            lost: false,
        }
    }

    /// Returns whether null is accepted.
    pub(super) fn is_nullable(&self) -> bool {
        self.nulls && self.said_null
    }

    /// Returns the types that the schemas and their alternatives accept.
    pub(super) fn all_types(&self) -> Types {
        self.unions.iter().filter(|union| union.group != Group::Dependent).fold(self.types, |types, union| {
            let branches = match (union.group, union.branches.as_slice()) {
                (Group::If, [_, rest @ ..]) => rest,
                (_, all) => all,
            };
            types.and(branches.iter().fold(Types::NONE, |sum, branch| sum.or(branch.all_types())))
        })
    }

    /// Adds the names of all properties that the schemas and their alternatives mention.
    pub(super) fn add_names(&self, out: &mut BTreeMap<&'a str, u32>) {
        for (name, schemas) in &self.properties {
            out.entry(name).or_insert_with(|| schemas.first().map_or(self.at, |schema| schema.node.index()));
        }
        let dependents = self.dependents.iter().flat_map(|(name, names)| std::iter::once(name).chain(names));
        for name in self.required.iter().chain(dependents).chain(self.unions.iter().map(|union| &union.name)) {
            if !name.is_empty() {
                out.entry(name).or_insert(self.at);
            }
        }
        for inner in self.unions.iter().flat_map(|union| &union.branches).chain(self.nots.iter().map(|(not, _)| not)) {
            inner.add_names(out);
        }
    }

    /// Returns what is known about a property.
    pub(super) fn property(&self, name: &str) -> Spec<'a> {
        self.part(&|facts| facts.properties.get(name).cloned().unwrap_or_default())
    }

    /// Returns what is known about items.
    pub(super) fn item(&self) -> Spec<'a> {
        self.part(&|facts| facts.items.clone())
    }

    /// Returns what is known about additional properties.
    pub(super) fn more(&self) -> Spec<'a> {
        self.part(&|facts| facts.additional.clone())
    }

    fn part(&self, of: &dyn Fn(&Facts<'a>) -> Vec<Conjunct<'a>>) -> Spec<'a> {
        // What a condition says about a part is not true for every value; the empty schema stands for the others.
        let or_any = |mut group: Vec<Spec<'a>>| {
            if !group.is_empty() {
                group.push(Spec::default());
            }
            group
        };
        let group = |union: &Union<'a>| {
            let branches = union.branches.iter().map(|branch| branch.part(of));
            let branches = branches.filter(|spec| !spec.is_empty()).collect::<Vec<_>>();
            if matches!(union.group, Group::If | Group::Dependent) { or_any(branches) } else { branches }
        };
        let not = self.nots.iter().map(|(not, _)| not.part(of)).filter(|spec| !spec.is_empty());
        let not = not.map(|spec| or_any(vec![spec]));
        let loose = self.unions.iter().map(group).filter(|group| !group.is_empty()).chain(not).collect();
        Spec { all: of(self), loose }
    }

    /// Returns whether a property is declared by some of the alternatives only, and others accept any value of it.
    pub(super) fn is_partial(&self, name: &str) -> bool {
        let has = |branch: &Facts<'a>| !branch.property(name).is_empty();
        !self.properties.contains_key(name)
            && self.unions.iter().filter(|union| matches!(union.group, Group::Any | Group::One | Group::Loose)).any(
                |union| {
                    let others = union.branches.iter().any(|branch| !has(branch) && branch.closed.is_none());
                    union.branches.iter().any(|branch| branch.is_partial(name))
                        || (others && union.branches.iter().any(has))
                },
            )
    }

    /// Returns whether the value is open in the schemas or an alternative.
    pub(super) fn is_open(&self) -> bool {
        self.open || self.unions.iter().flat_map(|union| &union.branches).any(Facts::is_open)
    }
}

pub(super) fn number(node: Node<'_>) -> Option<f64> {
    node.as_number().map(kubeshape_yaml::Number::as_f64)
}

fn texts(node: Node<'_>) -> Vec<&str> {
    node.items().filter_map(Node::as_str).collect()
}

impl<'a> Converter<'a> {
    /// Returns what the schemas of a value say.
    pub(super) fn facts(&mut self, spec: &Spec<'a>) -> Facts<'a> {
        let mut facts = Facts::new();
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
            Kind::True | Kind::Null => return,
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
                self.member(facts, name, value, &|node| Conjunct { node, trail, or_null: false });
            } else if name != "$ref" {
                self.lose(Code::ToCrdDropped, value.index(), format!("{name} next to $ref"));
            }
        }
        if siblings {
            self.conditional(facts, node, trail);
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
                match Types::named(name) {
                    Some((ty, is_null)) => {
                        types = types.or(ty);
                        facts.said_null |= is_null;
                        null |= is_null;
                    }
                    None => {
                        types = Types::ALL;
                        self.lose_restriction(facts, at, &format!("type {name}"));
                    }
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

    /// Adds one member of a schema.
    fn member(
        &mut self,
        facts: &mut Facts<'a>,
        name: &'a str,
        value: Node<'a>,
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
            | "$anchor"
            | "$defs"
            | "definitions"
            | "$comment"
            | "x-kubernetes-int-or-string"
            | "if"
            | "then"
            | "else"
            | "x-kubernetes-group-version-kind"
            | "$dynamicAnchor"
            | "$vocabulary" => {}
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf" => {}
            "minLength" | "minItems" | "minProperties" | "maxLength" | "maxItems" | "maxProperties" => {
                let slot = if name.ends_with("Length") {
                    0
                } else if name.ends_with("Items") {
                    1
                } else {
                    2
                };
                match number(value).filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n)) {
                    None => self.lose_restriction(facts, at, name),
                    Some(n) if name.starts_with("min") => {
                        facts.least[slot] = Some(facts.least[slot].map_or(n as i64, |old| old.max(n as i64)));
                    }
                    Some(n) => facts.most[slot] = Some(facts.most[slot].map_or(n as i64, |old| old.min(n as i64))),
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
                    self.collect(facts, conjunct(schema));
                }
            }
            "anyOf" | "oneOf" => {
                let group = if name == "anyOf" { Group::Any } else { Group::One };
                self.alternatives(facts, group, value, conjunct);
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
            "contains" | "minContains" | "maxContains" | "additionalItems" | "unevaluatedItems"
            | "contentMediaType" | "contentEncoding" | "contentSchema" | "$dynamicRef" | "$recursiveRef"
            | "required" => {
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
                    None => new,
                    #[expect(clippy::float_cmp)] // Equal bounds are written equally.
                    Some(old) if old.0 == new.0 => (old.0, old.1 || new.1),
                    Some(old) if (old.0 > new.0) == is_min => old,
                    Some(_) => new,
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
        conjunct: &dyn Fn(Node<'a>) -> Conjunct<'a>,
    ) {
        let (nulls, others): (Vec<Node<'a>>, Vec<Node<'a>>) = list.items().partition(|schema| is_null(*schema));
        let or_null = !nulls.is_empty();
        if or_null {
            facts.said_null = true;
            facts.null_branch = true;
        }
        let branch = |schema| Conjunct { or_null, ..conjunct(schema) };
        if let [only] = others.as_slice() {
            return self.collect(facts, branch(*only));
        }
        let branches: Vec<Facts<'a>> = others.iter().map(|schema| self.facts(&Spec::one(branch(*schema)))).collect();
        if !branches.is_empty() {
            facts.said_null |= branches.iter().any(Facts::is_nullable);
            facts.nulls &= or_null || branches.iter().any(|branch| branch.nulls);
            facts.unions.push(Union { group, at: list.index(), branches, name: "" });
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
