//! Builds values from schemas.

use super::definitions::Definitions;
use super::go_rules;
use super::path::child;
use super::scalar::{candidate, named};
use super::wanted::Wanted;
use kubeshape_schema::{Additional, Bump, Extra, Flags, Items, Schema, Type};
use kubeshape_validate::object::{Patterns, Validator, default};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The maximum number of values built for a sample, including those that did not fit.
const MAX_VALUES: usize = 200_000;
/// The same for a sample of a definition of an OpenAPI document, whose references multiply values.
const MAX_VALUES_OF_DOCUMENT: usize = 20_000;
/// The maximum number of items in a list of a sample.
pub const MAX_ITEMS: usize = 1_000;
/// The maximum number of combinations of branches of `anyOf` and `oneOf` to try.
const MAX_TRIES: usize = 16;
/// The metadata of a template that users write.
const METADATA: [&str; 3] = ["annotations", "labels", "name"];
/// The maximum depth of a sample of a definition of an OpenAPI document.
const MAX_DEPTH: usize = 48;

/// A field for which no value was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field, as in the server's errors: `spec.ports[0].name`.
    pub path: String,
    /// What is wrong.
    pub text: String,
}

/// Builds values.
pub(super) struct Builder<'b, 'a> {
    pub(super) arena: &'a Bump,
    pub(super) maximal: bool,
    /// Whether the sample is for readers: it has a `spec`, and the contents of defaults.
    pub(super) for_readers: bool,
    /// Members and items of defaults, by path.
    pub(super) defaulted: BTreeMap<String, Value<'a>>,
    /// Optional fields that are included or left out contrary to the default choice.
    pub(super) toggled: &'b BTreeSet<String>,
    pub(super) problems: Vec<Problem>,
    pub(super) values: usize,
    /// The definitions for references; `None` for a CustomResourceDefinition.
    pub(super) definitions: Option<&'b Definitions<'a>>,
    /// The definitions whose values are being built, outermost first.
    pub(super) open: Vec<&'a str>,
    /// Fields that are included because of [`go_rules`], with the required string, if any.
    pub(super) asked: BTreeMap<String, Option<&'static str>>,
    /// The nesting of the value that is being built.
    pub(super) depth: usize,
    /// What the sample must and must not contain.
    pub(super) wanted: Option<&'b Wanted<'a>>,
    /// The patterns of all validators. Each is compiled once.
    patterns: Patterns<'a>,
}

/// The schemas that describe one value: the one of the field, and those of branches.
type Schemas<'a> = Vec<&'a Schema<'a>>;

impl<'b, 'a> Builder<'b, 'a> {
    pub(super) fn new(
        maximal: bool,
        toggled: &'b BTreeSet<String>,
        definitions: Option<&'b Definitions<'a>>,
        arena: &'a Bump,
    ) -> Self {
        Builder {
            arena,
            maximal,
            for_readers: false,
            defaulted: BTreeMap::new(),
            toggled,
            problems: Vec::new(),
            values: 0,
            definitions,
            open: Vec::new(),
            asked: BTreeMap::new(),
            depth: 0,
            wanted: None,
            patterns: Patterns::default(),
        }
    }

    pub(super) fn validators(&mut self, schemas: &[&'a Schema<'a>]) -> Vec<Validator<'a>> {
        let (patterns, arena) = (&mut self.patterns, self.arena);
        schemas.iter().map(|schema| Validator::sharing(schema, patterns, arena)).collect()
    }

    fn problem(&mut self, path: &str, text: impl Into<String>) {
        self.problems.push(Problem { path: path.to_owned(), text: text.into() });
    }

    /// Returns a value that fits all the schemas, if one is found.
    pub(super) fn value(&mut self, schemas: &[&'a Schema<'a>], salt: usize, path: &str) -> Value<'a> {
        if let Some(value) = self.wanted.and_then(|wanted| wanted.value(path)) {
            return value;
        }
        if let Some(value) = self.default_at(schemas, path) {
            return value;
        }
        let Some(definitions) = self.definitions else { return self.of_schemas(schemas, salt, path) };
        if self.values > MAX_VALUES_OF_DOCUMENT {
            return Value::Null;
        }
        if self.depth == MAX_DEPTH || self.values == MAX_VALUES_OF_DOCUMENT {
            let limits = format!("a sample has at most {MAX_DEPTH} levels and {MAX_VALUES_OF_DOCUMENT} values");
            self.problem(path, limits);
            // No further values are built.
            self.values = MAX_VALUES_OF_DOCUMENT + 1;
            return Value::Null;
        }
        if let Some(Some(text)) = self.asked.get(path) {
            return Value::String(text);
        }
        let resolved = definitions.resolve(schemas);
        if let Some(value) = resolved.special {
            return value;
        }
        let open = self.open.len();
        for name in &resolved.names {
            self.ask(name, path);
        }
        self.open.extend(&resolved.names);
        self.depth += 1;
        let value = self.of_schemas(&resolved.schemas, salt, path);
        self.depth -= 1;
        self.open.truncate(open);
        value
    }

    /// Returns a value of a definition, without these fields.
    pub(super) fn root(&mut self, definition: &str, without: &[&'static str]) -> Value<'a> {
        let found = self.definitions.and_then(|definitions| definitions.get(definition));
        let Some((name, schema)) = found else { return Value::Null };
        self.ask(name, "");
        self.open.push(name);
        let value = self.object(&[schema], &without.iter().copied().collect(), 0, "");
        self.open.pop();
        value
    }

    /// Records the fields of a definition that servers require in Go code.
    fn ask(&mut self, definition: &str, path: &str) {
        for (field, text) in go_rules::of(definition) {
            let field = child(path, field);
            // The fields above it are required, too.
            for (at, _) in field.match_indices(['.', '[']).filter(|(at, _)| *at > path.len()) {
                self.asked.entry(field[..at].to_owned()).or_default();
            }
            self.asked.insert(field, text);
        }
    }

    /// Like [`value`](Self::value), after references are resolved.
    fn of_schemas(&mut self, schemas: &[&'a Schema<'a>], salt: usize, path: &str) -> Value<'a> {
        self.values += 1;
        if self.values > MAX_VALUES {
            if self.values == MAX_VALUES + 1 {
                self.problem(path, format!("the schema needs more than {MAX_VALUES} values"));
            }
            return Value::Null;
        }
        let all = with_all_of(schemas);
        let branches: Vec<&'a [Schema<'a>]> = all
            .iter()
            .flat_map(|schema| [schema.extra().any_of, schema.extra().one_of])
            .filter(|branches| !branches.is_empty())
            .collect();
        let has_conditions = !branches.is_empty() || all.iter().any(|schema| schema.extra().not.is_some());
        let combinations = branches.iter().fold(1usize, |product, list| product.saturating_mul(list.len()));
        let validators: Vec<Validator<'a>> =
            if has_conditions && self.values <= MAX_VALUES { self.validators(schemas) } else { Vec::new() };
        let before = self.problems.len();
        let mut first = None;
        for exclude in [false, true] {
            for combination in 0..combinations.min(MAX_TRIES) {
                let mut chosen = all.clone();
                let mut excluded = excluded_by_not(&all);
                let mut rest = combination;
                for list in &branches {
                    let branch = &list[rest % list.len()];
                    rest /= list.len();
                    chosen.extend(with_all_of(&[branch]));
                    if exclude {
                        let others = list.iter().flat_map(|other| other.required.iter().copied());
                        excluded.extend(others.filter(|name| !branch.required.contains(name)));
                    }
                }
                excluded.extend(excluded_by_not(&chosen[all.len()..]));
                let made = self.problems.len();
                let value = self.of_type(&chosen, &excluded, salt, path);
                let fits = |validator: &Validator<'a>, schema: &'a Schema<'a>| {
                    default(value, Some(schema), self.arena).is_ok_and(|value| validator.is_valid(value))
                };
                let is_fine = self.problems.len() == made
                    && validators.iter().zip(schemas).all(|(validator, schema)| fits(validator, schema));
                if is_fine || !has_conditions {
                    if is_fine {
                        self.problems.truncate(before);
                    }
                    return value;
                }
                self.problems.truncate(made);
                first.get_or_insert(value);
                if self.values > MAX_VALUES {
                    break;
                }
            }
        }
        self.problem(path, "found no value that fits one of the alternatives (anyOf, oneOf, not)");
        first.unwrap_or(Value::Null)
    }

    fn of_type(
        &mut self,
        schemas: &[&'a Schema<'a>],
        excluded: &BTreeSet<&'a str>,
        salt: usize,
        path: &str,
    ) -> Value<'a> {
        let int_or_string = schemas.iter().any(|schema| schema.flags.any(Flags::INT_OR_STRING));
        let ty = schemas.iter().map(|schema| schema.ty).find(|ty| *ty != Type::Absent);
        match ty {
            Some(Type::Object) => self.object(schemas, excluded, salt, path),
            Some(Type::Array) => self.list(schemas, salt, path),
            Some(ty) => self.scalar(schemas, &[ty], salt, path),
            None if int_or_string => self.scalar(schemas, &[Type::Integer, Type::String], salt, path),
            None if schemas.iter().any(|schema| !schema.enumeration.is_empty()) => {
                self.scalar(schemas, &[Type::Absent], salt, path)
            }
            None if self.wanted.is_some_and(|wanted| wanted.has_item(path)) => self.list(schemas, salt, path),
            None if schemas.iter().any(|schema| schema.items.is_some()) => self.list(schemas, salt, path),
            None => self.object(schemas, excluded, salt, path),
        }
    }

    fn scalar(&mut self, schemas: &[&'a Schema<'a>], types: &[Type], salt: usize, path: &str) -> Value<'a> {
        let validators = self.validators(schemas);
        let fits = |value: &Value<'a>| validators.iter().all(|validator| validator.is_valid(*value));
        let mut named = named(schemas, self.arena);
        if self.definitions.is_some() {
            named.retain(|value| !is_zero(*value));
        }
        let fitting: Vec<Value<'a>> = named.iter().copied().filter(fits).collect();
        if let Some(value) = fitting.get(salt) {
            return *value;
        }
        let mut first = named.first().copied();
        for ty in types {
            let found = candidate(schemas, *ty, salt, self.arena, |candidate| {
                self.values += 1;
                first.get_or_insert(candidate);
                fits(&candidate)
            });
            if let Some(found) = found {
                return found;
            }
        }
        if let Some(value) = fitting.get(salt.checked_rem(fitting.len()).unwrap_or_default()) {
            return *value;
        }
        self.problem(path, format!("found no value{}", demands(schemas)));
        first.unwrap_or(Value::Null)
    }

    fn list(&mut self, schemas: &[&'a Schema<'a>], salt: usize, path: &str) -> Value<'a> {
        let bound = |n: i64| usize::try_from(n).unwrap_or_default();
        let least = schemas.iter().filter_map(|schema| schema.extra().min_items).max().map_or(0, bound);
        let most = schemas.iter().filter_map(|schema| schema.extra().max_items).min().map_or(usize::MAX, bound);
        if least > MAX_ITEMS {
            self.problem(path, format!("the list needs {least} items; a sample has at most {MAX_ITEMS}"));
        }
        // A list that a document requires is rarely allowed to be empty.
        let some = self.maximal || self.definitions.is_some();
        // A list that is added because of an error is useless without items.
        let is_wanted = self.wanted.is_some_and(|wanted| wanted.has_item(path)) || self.toggled.contains(path);
        let defaults = self.default_items(schemas, path);
        let count = least.max(usize::from(some)).max(defaults).min(most).min(MAX_ITEMS);
        let count = count.max(usize::from(is_wanted && most > 0));
        let differ = schemas.iter().any(|schema| {
            matches!(schema.extra().list_type, Some("set" | "map")) || schema.flags.any(Flags::UNIQUE_ITEMS)
        });
        let of_items: Schemas<'a> = schemas
            .iter()
            .filter_map(|schema| match schema.items {
                Some(Items::One(item)) => Some(item),
                _ => None,
            })
            .collect();
        let items: Vec<Value<'a>> = (0..count)
            .map(|at| {
                let salt = if differ { at } else { salt };
                self.value(&of_items, salt, &format!("{path}[{at}]"))
            })
            .collect();
        Value::List(self.arena.alloc_slice_copy(&items))
    }

    fn object(
        &mut self,
        schemas: &[&'a Schema<'a>],
        excluded: &BTreeSet<&'a str>,
        salt: usize,
        path: &str,
    ) -> Value<'a> {
        let mut properties: BTreeMap<&'a str, Schemas<'a>> = BTreeMap::new();
        for schema in schemas {
            for property in schema.properties {
                properties.entry(property.name).or_default().push(&property.schema);
            }
        }
        let required: BTreeSet<&str> = schemas.iter().flat_map(|schema| schema.required.iter().copied()).collect();
        let bound = |n: i64| usize::try_from(n).unwrap_or_default();
        let least = schemas.iter().filter_map(|schema| schema.extra().min_properties).max().map_or(0, bound);
        let most = schemas.iter().filter_map(|schema| schema.extra().max_properties).min().map_or(usize::MAX, bound);
        let mut entries: Vec<(&'a str, Value<'a>)> = Vec::new();
        let mut left: Vec<(&'a str, &Schemas<'a>)> = Vec::new();
        let defaults = self.default_members(schemas, &properties, path);
        let in_metadata = self.open.last().is_some_and(|name| name.ends_with(".meta.v1.ObjectMeta"));
        for (name, below) in &properties {
            let path = child(path, name);
            let is_wanted = self.definitions.is_some_and(|definitions| definitions.is_needed(name, below, &required))
                || self.asked.contains_key(&path);
            let is_required = is_wanted
                || self.definitions.is_none()
                    && required.contains(name)
                    && !below.iter().any(|schema| schema.default.is_some());
            let may_be_left = |definitions: &Definitions<'a>| definitions.lead_to(below, &self.open);
            let is_required = is_required && !(self.definitions.is_some() && excluded.contains(name));
            let is_the_servers = in_metadata && !METADATA.contains(name);
            let excluded =
                excluded.contains(name) || is_the_servers || !is_required && self.definitions.is_some_and(may_be_left);
            let is_shown = self.maximal || self.for_readers && path == "spec" || defaults.has(name);
            let mut is_wanted = (is_required || is_shown && !excluded && entries.len() < most)
                ^ (!required.contains(name) && self.toggled.contains(&path));
            let mut is_left_out = excluded;
            if let Some(wanted) = self.wanted {
                is_left_out |= wanted.lacks(&path);
                is_wanted = wanted.holds(&path) || is_wanted && (is_required || !wanted.lacks(&path));
            }
            if is_wanted {
                entries.push((*name, self.value(below, salt, &path)));
            } else if !is_left_out {
                left.push((*name, below));
            }
        }
        let additional = schemas.iter().find_map(|schema| schema.additional);
        if let (Some(Additional::Schema(_)), true) = (additional, properties.is_empty()) {
            let below: Schemas<'a> = schemas
                .iter()
                .filter_map(|schema| match schema.additional {
                    Some(Additional::Schema(below)) => Some(below),
                    _ => None,
                })
                .collect();
            let some = self.maximal || self.asked.contains_key(path);
            let count = least.max(usize::from(some)).max(defaults.others.len()).min(most).min(MAX_ITEMS);
            for at in 0..count {
                let asked = go_rules::key(path, &self.open);
                let key = match defaults.others.get(at) {
                    Some((key, _)) => key,
                    None if at == 0 => asked.unwrap_or("key"),
                    None => self.arena.alloc_str(&format!("key-{at}")),
                };
                entries.push((key, self.value(&below, salt, &format!("{path}[{key}]"))));
            }
        } else if additional.is_none() {
            entries.extend(defaults.others.iter().take(most.saturating_sub(entries.len())));
        }
        self.wanted_keys(schemas, &properties, salt, path, &mut entries);
        for (name, below) in left {
            if entries.len() >= least {
                break;
            }
            entries.push((name, self.value(below, salt, &child(path, name))));
        }
        if schemas.iter().any(|schema| schema.flags.any(Flags::EMBEDDED_RESOURCE)) {
            self.own_fields(path, &mut entries);
        }
        Value::Map(Map::from_entries(entries, self.arena))
    }
}

impl<'a> Builder<'_, 'a> {
    /// Adds the fields of every embedded resource.
    fn own_fields(&self, path: &str, entries: &mut Vec<(&'a str, Value<'a>)>) {
        let wanted = |name: &str| self.wanted.and_then(|wanted| wanted.value(&child(path, name)));
        let text = |name: &str, text: &'static str| wanted(name).unwrap_or(Value::String(text));
        let mut metadata = vec![("name", text("metadata.name", "example"))];
        metadata.extend(wanted("metadata.generateName").map(|value| ("generateName", value)));
        let whole = [
            ("apiVersion", text("apiVersion", "v1")),
            ("kind", text("kind", "ConfigMap")),
            ("metadata", wanted("metadata").unwrap_or(Value::Map(Map::from_entries(metadata, self.arena)))),
        ];
        entries.retain(|(name, _)| !whole.iter().any(|(key, _)| key == name));
        entries.extend(whole);
    }

    /// Adds wanted keys that are not properties.
    fn wanted_keys(
        &mut self,
        schemas: &[&'a Schema<'a>],
        properties: &BTreeMap<&'a str, Schemas<'a>>,
        salt: usize,
        path: &str,
        entries: &mut Vec<(&'a str, Value<'a>)>,
    ) {
        let Some(wanted) = self.wanted else { return };
        for key in wanted.keys(path) {
            if properties.contains_key(key) || entries.iter().any(|(name, _)| name == key) {
                continue;
            }
            let below: Schemas<'a> = schemas
                .iter()
                .filter_map(|schema| match schema.additional {
                    Some(Additional::Schema(below)) => Some(below),
                    _ => None,
                })
                .collect();
            entries.push((key, self.value(&below, salt, &format!("{path}[{key}]"))));
        }
    }
}

/// Returns the schemas, including those of their `allOf`.
fn with_all_of<'a>(schemas: &[&'a Schema<'a>]) -> Schemas<'a> {
    let mut out: Schemas<'a> = schemas.to_vec();
    let mut at = 0;
    while let Some(schema) = out.get(at).copied() {
        out.extend(schema.extra().all_of);
        at += 1;
    }
    out
}

/// Returns fields that a `not` forbids.
fn excluded_by_not<'a>(schemas: &[&'a Schema<'a>]) -> BTreeSet<&'a str> {
    let mut out = BTreeSet::new();
    for not in schemas.iter().filter_map(|schema| schema.extra().not) {
        out.extend(not.required.iter().copied());
        out.extend(not.extra().any_of.iter().flat_map(|branch| branch.required.iter().copied()));
    }
    out
}

/// Returns whether this is Go's zero value.
fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Returns the requirements of schemas, as the end of a message.
fn demands(schemas: &[&Schema<'_>]) -> String {
    let mut out = String::new();
    for schema in schemas {
        let Extra { pattern, min_length, max_length, minimum, maximum, multiple_of, .. } = schema.extra();
        if !pattern.is_empty() {
            let _ = write!(out, ", pattern {pattern}");
        }
        if !schema.format.is_empty() {
            let _ = write!(out, ", format {}", schema.format);
        }
        for (name, value) in [("minLength", min_length), ("maxLength", max_length)] {
            out.extend(value.map(|value| format!(", {name} {value}")));
        }
        for (name, value) in [("minimum", minimum), ("maximum", maximum), ("multipleOf", multiple_of)] {
            out.extend(value.map(|value| format!(", {name} {value}")));
        }
    }
    out
}
