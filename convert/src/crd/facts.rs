//! What all schemas together say about one value.

use super::Conjunct;
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
    pub(super) fn named(name: &str) -> Option<(Types, bool)> {
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
    pub(super) fn of(value: Node<'_>) -> (Types, bool) {
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

/// `contains`: how many items satisfy a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contains<'a> {
    pub(super) schema: Conjunct<'a>,
    /// `minContains`
    pub(super) least: i64,
    /// `maxContains`
    pub(super) most: Option<i64>,
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
    pub(super) nulls: bool,
    pub(super) said_null: bool,
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
    pub(super) contains: Vec<Contains<'a>>,
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
    pub(super) fn new() -> Facts<'a> {
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
            contains: Vec::new(),
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

    /// Returns whether `oneOf`, `not` or `if` may reject null although a type accepts it.
    pub(super) fn may_negate_null(&self) -> bool {
        let is_negative = |union: &Union<'a>| match union.group {
            Group::One => !self.null_branch,
            Group::If => true,
            Group::Any | Group::Dependent | Group::Loose => false,
        };
        !self.nots.is_empty()
            || self.unions.iter().any(|union| is_negative(union) || union.branches.iter().any(Facts::may_negate_null))
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
        let own = of(self);
        // What a condition says about a part is not true for every value; the empty schema stands for the others.
        let or_any = |mut group: Vec<Spec<'a>>| {
            if !group.is_empty() {
                group.push(Spec::default());
            }
            group
        };
        let group = |union: &Union<'a>| {
            let parts: Vec<(Spec<'a>, bool)> =
                union.branches.iter().map(|branch| (branch.part(of), branch.closed.is_some())).collect();
            // The part is declared anyway, and some alternatives do not restrict it.
            let is_free = !own.is_empty() && parts.iter().any(|(spec, is_closed)| spec.is_empty() && !is_closed);
            let branches = parts.into_iter().map(|(spec, _)| spec).filter(|spec| !spec.is_empty()).collect();
            if is_free || matches!(union.group, Group::If | Group::Dependent) { or_any(branches) } else { branches }
        };
        let not = self.nots.iter().map(|(not, _)| not.part(of)).filter(|spec| !spec.is_empty());
        let not = not.map(|spec| or_any(vec![spec]));
        let loose = self.unions.iter().map(group).filter(|group| !group.is_empty()).chain(not).collect();
        Spec { all: own, loose }
    }

    /// Returns whether a part is declared by some of the alternatives only, and others accept any value of it.
    fn is_partial(&self, of: &dyn Fn(&Facts<'a>) -> Vec<Conjunct<'a>>) -> bool {
        let has = |branch: &Facts<'a>| !branch.part(of).is_empty();
        let is_choice = |union: &&Union<'a>| matches!(union.group, Group::Any | Group::One | Group::Loose);
        of(self).is_empty()
            && self.unions.iter().filter(is_choice).any(|union| {
                let others = union.branches.iter().any(|branch| !has(branch) && branch.closed.is_none());
                (others && union.branches.iter().any(has)) || union.branches.iter().any(|branch| branch.is_partial(of))
            })
    }

    /// Returns whether a property has its schema in some of the alternatives only.
    pub(super) fn is_partial_property(&self, name: &str) -> bool {
        self.is_partial(&|facts| facts.properties.get(name).cloned().unwrap_or_default())
    }

    /// Returns whether items have their schema in some of the alternatives only.
    pub(super) fn has_partial_items(&self) -> bool {
        self.is_partial(&|facts| facts.items.clone())
    }

    /// Returns whether additional properties have their schema in some of the alternatives only.
    pub(super) fn has_partial_additional(&self) -> bool {
        self.is_partial(&|facts| facts.additional.clone())
    }

    /// Returns whether the value is open in the schemas or an alternative.
    pub(super) fn is_open(&self) -> bool {
        self.open || self.unions.iter().flat_map(|union| &union.branches).any(Facts::is_open)
    }
}

pub(super) fn number(node: Node<'_>) -> Option<f64> {
    node.as_number().map(kubeshape_yaml::Number::as_f64)
}
