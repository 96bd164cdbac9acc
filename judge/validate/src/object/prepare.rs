//! Schemas prepared for validation.

use super::equal::Printing;
use super::fit::{Budget, Part, Steps, WholeDefault, fit};
use super::format::Format;
use super::number::{Number, Range};
use super::pattern::{Pattern, Patterns};
use super::root::Root;
use crate::release::{AskedRelease, Change, Release};
use kubeshape_schema::compact::Identity;
use kubeshape_schema::{Additional, Bump, Extra, Flags, Items, Schema, Type};
use kubeshape_structural::regex::CompileError;
use kubeshape_value::{Map, Value, compare_keys};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// What a schema is prepared for.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// Objects of requests to a release (`NewSchemaValidator`): formats unknown to the server are ignored, and
    /// `x-kubernetes-int-or-string` means the types integer and string.
    Objects(AskedRelease),
    /// Defaults in CustomResourceDefinitions (`ToKubeOpenAPI`): every format is used for the type check, only the
    /// branches of `x-kubernetes-int-or-string` are used, and `additionalProperties` in branches is ignored.
    Defaults(AskedRelease),
}

impl Default for Purpose {
    fn default() -> Purpose {
        Purpose::Objects(Release::DEFAULT.into())
    }
}

/// Checks values against a schema, like kube-openapi's `validate` for an API server.
///
/// A validator is prepared once and used by any number of threads. Patterns are compiled at their first use.
///
/// # Example: an enumeration
/// ```
/// use kubeshape_schema::{Bump, field::Path, read};
/// use kubeshape_value::Value;
/// use kubeshape_validate::object::Validator;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"type": "string", "enum": ["red", "green"]}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let validator = Validator::new(&schema, &arena);
/// assert!(validator.is_valid(Value::String("red")));
/// let errors = validator.check(Value::String("blue"), &Path::Base("spec.colour"));
/// assert_eq!(
///     errors[0].to_string(),
///     r#"spec.colour: Unsupported value: "blue": supported values: "red", "green""#
/// );
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Validator<'a> {
    nodes: Arc<[Node<'a>]>,
    pub(super) root: u32,
    /// The release that decides which formats and ranges are used, and how errors show values.
    release: AskedRelease,
    /// Whether errors show values in JSON in every release.
    in_json: bool,
}

/// `additionalProperties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Any,
    None,
    Schema(u32),
}

/// A schema, prepared for its checks.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) types: Types<'a>,
    pub(super) nullable: bool,
    /// As written; empty if it is ignored. [`Node::format`] decides whether it is used in the release.
    format: &'a str,
    /// The change that decides whether the format is used. `None` if all releases use it.
    changed: Option<Change>,
    /// Whether the check of types uses the format in every release.
    is_typed: bool,
    /// The check of strings. [`Node::refuses`] decides whether the release has it.
    pub(super) check: Option<Format>,
    range: Range,
    pub(super) exclusive: [bool; 2],
    pub(super) extra: &'a Extra<'a>,
    /// Whether `extra` restricts numbers.
    pub(super) bounds: bool,
    pub(super) required: &'a [&'a str],
    /// Sorted by the bytes of their names.
    pub(super) properties: Box<[(&'a str, u32)]>,
    pub(super) rest: Rest,
    pub(super) items: Option<u32>,
    pub(super) unique_items: bool,
    /// `None` if all fields are empty, as in most schemas.
    rare: Option<Box<Rare<'a>>>,
    /// The keys of a list of type map.
    pub(super) map_keys: Option<&'a [&'a str]>,
    flags: Flags,
    /// Whether it or a subschema has a default.
    has_defaults: bool,
    /// Whether there is `additionalProperties`.
    has_additional: bool,
    /// The properties that have defaults, with the defaults, in order.
    missing: Box<[(&'a str, WholeDefault<'a>)]>,
}

/// Parts that few schemas have.
#[derive(Debug, Default)]
struct Rare<'a> {
    pattern: Option<Arc<Pattern>>,
    enumeration: Box<[Value<'a>]>,
    all_of: Box<[u32]>,
    any_of: Box<[u32]>,
    one_of: Box<[u32]>,
    not: Option<u32>,
    /// With the defaults below it.
    default: Option<WholeDefault<'a>>,
}

/// The types that a schema accepts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Types<'a> {
    set: u8,
    /// As in messages; empty if there is none.
    pub(super) text: &'a str,
}

impl Types<'_> {
    pub(super) const NULL: u8 = 1 << 7;

    pub(super) const fn bit(ty: Type) -> u8 {
        match ty {
            Type::Array => 1,
            Type::Boolean => 1 << 1,
            Type::Integer => 1 << 2,
            Type::Number => 1 << 3,
            Type::Object => 1 << 4,
            Type::String => 1 << 5,
            Type::Absent | Type::Other | Type::Several => 0,
        }
    }

    #[inline]
    pub(super) fn has(self, bits: u8) -> bool {
        self.set & bits != 0
    }

    fn of_name(name: &str) -> u8 {
        if name == "null" { Types::NULL } else { Types::bit(Type::from_name(name)) }
    }
}

impl<'a> Validator<'a> {
    /// Prepares a schema for objects of requests to [`Release::DEFAULT`]. The arena holds values of enumerations, and
    /// defaults.
    pub fn new(schema: &'a Schema<'a>, arena: &'a Bump) -> Validator<'a> {
        Validator::with_purpose(schema, Purpose::default(), arena)
    }

    /// Prepares a schema for one of the two purposes.
    pub fn with_purpose(schema: &'a Schema<'a>, purpose: Purpose, arena: &'a Bump) -> Validator<'a> {
        Validator::with_patterns(schema, purpose, &mut Patterns::default(), arena)
    }

    /// Like [`new`](Self::new), for a schema that shares patterns with others.
    pub fn sharing(schema: &'a Schema<'a>, patterns: &mut Patterns<'a>, arena: &'a Bump) -> Validator<'a> {
        Validator::with_patterns(schema, Purpose::default(), patterns, arena)
    }

    /// Prepares a schema that shares patterns, and the limit of their size, with others.
    pub(super) fn with_patterns(
        schema: &'a Schema<'a>,
        purpose: Purpose,
        patterns: &mut Patterns<'a>,
        arena: &'a Bump,
    ) -> Validator<'a> {
        let mut builder = Builder { nodes: Vec::new(), known: HashMap::new(), purpose, patterns, arena };
        let root = builder.node(schema, false);
        let (release, in_json) = match builder.purpose {
            Purpose::Objects(release) => (release, false),
            Purpose::Defaults(release) => (release, true),
        };
        Validator { nodes: builder.nodes.into(), root, release, in_json }
    }

    /// Returns how errors show values.
    pub(super) fn printing(&self) -> Printing<'_> {
        if self.in_json { Printing::Json } else { Printing::Of(&self.release) }
    }

    /// Returns the same validator with its own record of questions. They share what is prepared.
    pub(super) fn asking(&self, release: &AskedRelease) -> Validator<'a> {
        Validator { release: release.clone(), ..self.clone() }
    }

    /// Returns the release, which records the questions about it.
    pub(super) fn release(&self) -> &AskedRelease {
        &self.release
    }

    #[inline]
    pub(super) fn node(&self, at: u32) -> &Node<'a> {
        &self.nodes[at as usize]
    }

    /// Returns the schema, for walks that fit a value to it.
    pub(super) fn part(&self) -> Prepared<'_, 'a> {
        Prepared { nodes: &self.nodes, node: self.root }
    }
}

/// A prepared schema, for walks that fit a value to it.
#[derive(Clone, Copy)]
pub(super) struct Prepared<'p, 'a> {
    nodes: &'p [Node<'a>],
    node: u32,
}

impl<'p, 'a> Prepared<'p, 'a> {
    #[inline]
    fn node(self) -> &'p Node<'a> {
        &self.nodes[self.node as usize]
    }

    #[inline]
    fn at(self, node: u32) -> Self {
        Prepared { node, ..self }
    }
}

impl<'a> Part<'a> for Prepared<'_, 'a> {
    #[inline]
    fn flags(self) -> Flags {
        self.node().flags
    }

    #[inline]
    fn has_defaults(self) -> bool {
        self.node().has_defaults
    }

    #[inline]
    fn property(self, name: &str, cursor: &mut usize) -> Option<Self> {
        let properties = &self.node().properties;
        while let Some((known, schema)) = properties.get(*cursor) {
            match compare_keys(known, name) {
                Ordering::Less => *cursor += 1,
                Ordering::Equal => return Some(self.at(*schema)),
                Ordering::Greater => return None,
            }
        }
        None
    }

    #[inline]
    fn additional(self) -> Option<Option<Self>> {
        let node = self.node();
        node.has_additional.then(|| match node.rest {
            Rest::Schema(schema) => Some(self.at(schema)),
            Rest::Any | Rest::None => None,
        })
    }

    #[inline]
    fn item(self) -> Option<Self> {
        self.node().items.map(|items| self.at(items))
    }

    fn is_defaulted(self) -> bool {
        self.node().default().is_some()
    }

    fn default(self, _: &'a Bump, budget: &Budget) -> Option<Value<'a>> {
        let default = self.node().default()?;
        budget.spend(default.bytes).then_some(default.value)
    }

    #[inline]
    fn add_missing(self, map: Map<'a>, _: &'a Bump, budget: &Budget, mut add: impl FnMut(&'a str, Value<'a>)) {
        for (name, default) in &self.node().missing {
            if map.get(name).is_none() && budget.spend(default.bytes.saturating_add(name.len() + 4)) {
                add(name, default.value);
            }
        }
    }
}

impl<'a> Node<'a> {
    pub(super) fn property(&self, name: &str) -> Option<u32> {
        let at = self.properties.binary_search_by(|property| property.0.cmp(name)).ok()?;
        Some(self.properties[at].1)
    }

    /// Returns whether a string matches the pattern; `true` if there is none. `left` are the bytes that may be compiled
    /// without being kept.
    ///
    /// # Errors
    /// The pattern does not compile.
    pub(super) fn is_match(&self, text: &str, left: &mut usize) -> Result<bool, CompileError> {
        let pattern = self.rare.as_ref().and_then(|rare| rare.pattern.as_ref());
        pattern.map_or(Ok(true), |pattern| pattern.is_match(self.extra.pattern, text, left))
    }

    /// Returns whether the format is used in the release. The release is asked only if the answer depends on it.
    fn counts(&self, release: &AskedRelease) -> bool {
        self.changed.is_none_or(|change| release.has(change))
    }

    /// Returns the format; empty if it is ignored.
    pub(super) fn format(&self, release: &AskedRelease) -> &'a str {
        if self.is_typed || self.counts(release) { self.format } else { "" }
    }

    /// Returns whether a string does not have the format.
    pub(super) fn refuses(&self, text: &str, release: &AskedRelease) -> bool {
        self.check.is_some_and(|format| !format.matches(text)) && self.counts(release)
    }

    /// Returns whether numbers are checked.
    pub(super) fn has_numbers(&self) -> bool {
        self.bounds || self.range != Range::Any
    }

    /// Returns the range for a number. The release is asked only if the answer depends on it.
    pub(super) fn range(&self, number: Number, release: &AskedRelease) -> Range {
        let has_range =
            self.range == Range::Any || self.range.takes(number, self.extra) || release.has(Change::RangesOfNumbers);
        if has_range { self.range } else { Range::Any }
    }

    pub(super) fn has_pattern(&self) -> bool {
        !self.extra.pattern.is_empty()
    }

    pub(super) fn enumeration(&self) -> &[Value<'a>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.enumeration)
    }

    pub(super) fn all_of(&self) -> &[u32] {
        self.rare.as_ref().map_or(&[], |rare| &rare.all_of)
    }

    pub(super) fn any_of(&self) -> &[u32] {
        self.rare.as_ref().map_or(&[], |rare| &rare.any_of)
    }

    pub(super) fn one_of(&self) -> &[u32] {
        self.rare.as_ref().map_or(&[], |rare| &rare.one_of)
    }

    pub(super) fn not(&self) -> Option<u32> {
        self.rare.as_ref()?.not
    }

    fn default(&self) -> Option<WholeDefault<'a>> {
        self.rare.as_ref()?.default
    }
}

struct Builder<'a, 'p> {
    nodes: Vec<Node<'a>>,
    /// Equal schemas share a node; the flag says whether they are in a branch.
    known: HashMap<(Identity, bool), u32>,
    purpose: Purpose,
    patterns: &'p mut Patterns<'a>,
    arena: &'a Bump,
}

impl<'a> Builder<'a, '_> {
    /// Recursion is bounded: the reader of schemas limits their nesting.
    fn node(&mut self, schema: &'a Schema<'a>, in_branch: bool) -> u32 {
        let key = (schema.identity(), in_branch);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let extra = schema.extra();
        let objects = matches!(self.purpose, Purpose::Objects(_));
        let types = self.types(schema, objects);
        let one_type = !types.text.contains(',');
        let (release, counting) = match &self.purpose {
            Purpose::Objects(release) => (release, Counting::of(types, one_type, schema.format)),
            Purpose::Defaults(release) => (release, Counting::of_defaults(schema.format)),
        };
        let mut changed = None;
        let counts = match counting {
            Counting::Always => true,
            Counting::Never => false,
            Counting::Once { since, until } => since.is_none_or(|since| release.has(since)) && !release.has(until),
            // In a branch, successful checks matter even if there is no error.
            Counting::Since(change) if in_branch => release.has(change),
            Counting::Since(change) => {
                changed = Some(change);
                true
            }
        };
        // Defaults are checked against types with every format.
        let is_typed = !objects;
        let format = if counts || is_typed { schema.format } else { "" };
        let nullable = schema.flags.any(Flags::NULLABLE);
        let range = match types.text {
            "integer" => Range::Integer { format: known(format, ["int32", "int64"]) },
            "number" => Range::Number { format: known(format, ["float", "double"]) },
            _ => Range::Any,
        };
        let mut properties: Vec<(&'a str, u32)> =
            schema.properties.iter().map(|property| (property.name, self.node(&property.schema, in_branch))).collect();
        properties.sort_unstable_by_key(|property| property.0);
        let rest = match schema.additional {
            _ if in_branch && !objects => Rest::Any,
            None | Some(Additional::Allowed(true)) => Rest::Any,
            Some(Additional::Allowed(false)) => Rest::None,
            Some(Additional::Schema(schema)) => Rest::Schema(self.node(schema, in_branch)),
        };
        let items = match schema.items {
            Some(Items::One(schema)) => Some(self.node(schema, in_branch)),
            _ => None,
        };
        let mut branches = |list: &'a [Schema<'a>]| list.iter().map(|branch| self.node(branch, true)).collect();
        let (all_of, any_of, one_of) = (branches(extra.all_of), branches(extra.any_of), branches(extra.one_of));
        let not = extra.not.map(|schema| self.node(schema, true));
        let enumeration = schema.enumeration.iter().map(|json| Value::from_json(json, self.arena)).collect();
        // Values in definitions are not defaulted.
        let default = schema.default.filter(|_| objects).map(|default| {
            let value = Value::from_json(default, self.arena);
            WholeDefault { value, bytes: value.json_len(usize::MAX).unwrap_or(usize::MAX) }
        });
        let missing = properties.iter().filter_map(|(name, node)| Some((*name, self.nodes[*node as usize].default()?)));
        let missing = missing.collect();
        let pattern = (!extra.pattern.is_empty()).then(|| self.patterns.add(extra.pattern));
        let rare = Rare { pattern, enumeration, all_of, any_of, one_of, not, default };
        let is_empty = extra.pattern.is_empty()
            && default.is_none()
            && rare.enumeration.is_empty()
            && rare.all_of.is_empty()
            && rare.any_of.is_empty()
            && rare.one_of.is_empty()
            && not.is_none();
        let node = Node {
            types,
            nullable,
            format,
            changed,
            is_typed,
            check: Format::named(format).filter(|_| counts),
            range,
            exclusive: [schema.flags.any(Flags::EXCLUSIVE_MAXIMUM), schema.flags.any(Flags::EXCLUSIVE_MINIMUM)],
            extra,
            bounds: extra.maximum.is_some() || extra.minimum.is_some() || extra.multiple_of.is_some(),
            required: schema.required,
            properties: properties.into(),
            rest,
            items,
            unique_items: schema.flags.any(Flags::UNIQUE_ITEMS),
            rare: (!is_empty).then(|| Box::new(rare)),
            map_keys: (extra.list_type == Some("map") && schema.ty == Type::Array && !extra.list_map_keys.is_empty())
                .then_some(extra.list_map_keys),
            flags: schema.flags,
            has_defaults: schema.subtree.any(Flags::DEFAULT),
            has_additional: schema.additional.is_some(),
            missing,
        };
        self.nodes.push(node);
        let at = self.nodes.len() as u32 - 1;
        if let Some(default) = default {
            let part = Prepared { nodes: &self.nodes, node: at };
            let steps = Steps { defaults: true, ..Steps::default() };
            let fitted = fit(default.value, Some(part), Root::Value, steps, self.arena);
            if let Some(rare) = &mut self.nodes[at as usize].rare {
                let bytes = default.bytes.saturating_add(fitted.inserted);
                rare.default = Some(WholeDefault { value: fitted.value, bytes });
            }
        }
        self.known.insert(key, at);
        at
    }

    fn types(&self, schema: &Schema<'a>, objects: bool) -> Types<'a> {
        if objects && schema.flags.any(Flags::INT_OR_STRING) {
            let set = Types::bit(Type::Integer) | Types::bit(Type::String);
            return Types { set, text: "integer,string" };
        }
        if schema.ty == Type::Several {
            let names = schema.extra().types;
            let set = names.iter().fold(0, |set, name| set | Types::of_name(name));
            return Types { set, text: self.arena.alloc_str(&names.join(",")) };
        }
        let text = schema.type_name();
        Types { set: Types::of_name(text), text }
    }
}

/// Returns one of two formats, or the empty string.
fn known(format: &str, formats: [&'static str; 2]) -> &'static str {
    formats.into_iter().find(|known| *known == format).unwrap_or_default()
}

/// The releases that use a format.
enum Counting {
    Always,
    Never,
    /// From a change on.
    Since(Change),
    /// Before a change, and possibly only from another one on.
    Once {
        since: Option<Change>,
        until: Change,
    },
}

impl Counting {
    /// Returns the releases for schemas of these types (`StripUnsupportedFormatsPostProcess`). A new format is used
    /// from the release after the one that first knows it.
    fn of(types: Types<'_>, one_type: bool, format: &str) -> Counting {
        let is_known = Format::named(format).is_some();
        let counts = match types.text {
            "integer" => matches!(format, "int32" | "int64"),
            "number" => matches!(format, "float" | "double"),
            "" | "string" => is_known,
            _ => !one_type && is_known,
        };
        let since = matches!(format, "k8s-short-name" | "k8s-long-name").then_some(Change::NameFormats);
        match (is_known, counts) {
            (true, true) => since.map_or(Counting::Always, Counting::Since),
            (false, false) => Counting::Never,
            (false, true) => Counting::Since(Change::UnknownOtherFormats),
            (true, false) => Counting::Once { since, until: Change::UnknownOtherFormats },
        }
    }

    /// Returns the releases for defaults.
    fn of_defaults(format: &str) -> Counting {
        match format {
            "k8s-short-name" | "k8s-long-name" => Counting::Since(Change::NamesOfDefaults),
            _ => Counting::Always,
        }
    }
}
