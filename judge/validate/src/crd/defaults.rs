//! Defaults in schemas: `defaulting.ValidateDefaults` and `schemaHasUnprunedDefaults`.

use super::model::Definition;
use super::options::Options;
use crate::metadata::place;
use crate::object::{self, Entries, Malformed, Printing, Purpose, Root, RuleOutcome, Rules, Validator};
use crate::release::{AskedRelease, Change};
use crate::words::{self, Lengths};
use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_schema::{Bump, Flags, Json, Schema};
use kubeshape_structural::{convert, validate as validate_structural};
use kubeshape_value::Map;
use kubeshape_value::Value;
use kubeshape_yaml::Document;

/// Checks that the defaults in a structural schema of a whole resource are valid and have no unknown fields.
pub(super) fn validate(
    schema: &Schema<'_>,
    path: &Path<'_>,
    options: &Options<'_>,
    document: Document<'_>,
    errors: &mut Errors,
) {
    if !schema.subtree.any(Flags::DEFAULT) {
        return;
    }
    let found = options.kept.defaults(path.to_string(), &options.release, |release| {
        let options = &Options { release: release.clone(), ..options.clone() };
        let mut errors = Errors::default();
        let mut walk = Walk { options, document, errors: &mut errors, budget: Rules::BUDGET };
        walk.schema(schema, path, At::Root, &Surroundings::Root);
        errors.into_vec()
    });
    errors.extend(found.iter().cloned());
}

/// Returns a definition as validation changes it and a server stores it: metadata of embedded resources in defaults is
/// decoded, so that unknown fields are dropped, and null becomes empty. `object` is the same definition as a value. The
/// definition should be valid.
///
/// `defaulting.ValidateDefaults` calls `objectmeta.Coerce` on the stored definition.
pub fn with_coerced_defaults<'a>(object: Value<'a>, definition: &Definition<'_>, arena: &'a Bump) -> Value<'a> {
    let spec = &definition.spec;
    let version = |at: usize, value: Value<'a>| {
        let validation = spec.versions.get(at).and_then(|version| version.schema.or(spec.validation));
        let Some(schema) = validation.and_then(|validation| validation.schema) else { return value };
        let root = |value| with_member(value, "openAPIV3Schema", |value| coerced_below(value, schema, arena), arena);
        with_member(value, "schema", root, arena)
    };
    let versions = |value| match value {
        Value::List(items) => {
            let items = items.iter().enumerate().map(|(at, item)| version(at, *item));
            Value::List(arena.alloc_slice_fill_iter(items))
        }
        other => other,
    };
    with_member(object, "spec", |spec| with_member(spec, "versions", versions, arena), arena)
}

/// Returns a value with a changed member, if it has the member.
fn with_member<'a>(value: Value<'a>, key: &str, change: impl Fn(Value<'a>) -> Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = value else { return value };
    let mut entries = Entries::of(map, arena);
    for (name, inner) in map.entries() {
        entries.put(if *name == key { change(*inner) } else { *inner });
    }
    entries.finish(value)
}

/// Returns a schema (also given as a value) with changed defaults. The reader bounds the nesting of schemas.
fn coerced_below<'a>(value: Value<'a>, schema: &Schema<'_>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = value else { return value };
    if !(schema.subtree.any(Flags::DEFAULT) && schema.subtree.any(Flags::EMBEDDED_RESOURCE)) {
        return value;
    }
    let mut entries = Entries::of(map, arena);
    for (name, inner) in map.entries() {
        entries.put(match (*name, *inner) {
            ("default", default) => coerced_value(default, schema, arena),
            ("items", inner) => schema.item().map_or(inner, |item| coerced_below(inner, item, arena)),
            ("properties", Value::Map(properties)) => {
                let mut entries = Entries::of(properties, arena);
                for (name, inner) in properties.entries() {
                    let property = schema.property(name);
                    entries.put(property.map_or(*inner, |property| coerced_below(*inner, property, arena)));
                }
                entries.finish(*inner)
            }
            (_, inner) => inner,
        });
    }
    entries.finish(value)
}

/// Returns a default as validation changes it.
fn coerced_value<'a>(default: Value<'a>, schema: &Schema<'_>, arena: &'a Bump) -> Value<'a> {
    let root = if schema.flags.any(Flags::EMBEDDED_RESOURCE) { Root::Resource } else { Root::Value };
    let printing = Printing::Json;
    object::coerce_until_error(printing, default, Some(schema), root, Malformed::Refuse, &Path::Root, arena).0.value
}

/// Returns whether validation checks the defaults of a whole schema, and one of them may contain metadata of an
/// embedded resource.
pub(super) fn are_coerced(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::DEFAULT)
        && schema.subtree.any(Flags::EMBEDDED_RESOURCE)
        && convert(schema).is_ok()
        && validate_structural(schema, "").is_empty()
}

/// Returns the default of a schema as validation changes it, if it does.
pub(super) fn coerced<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Option<Value<'a>> {
    let default = Value::from_json(schema.default.filter(|_| schema.subtree.any(Flags::EMBEDDED_RESOURCE))?, arena);
    let coerced = coerced_value(default, schema, arena);
    (coerced != default).then_some(coerced)
}

/// The location of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Root,
    /// In type or object metadata of a resource.
    Metadata,
    Elsewhere,
}

struct Walk<'w, 'd> {
    options: &'w Options<'w>,
    document: Document<'d>,
    errors: &'w mut Errors,
    /// The remaining cost budget of rules. Nothing more is checked once it is spent.
    budget: i64,
}

impl Walk<'_, '_> {
    /// Checks a schema and its subschemas. Defaults below `additionalProperties` are not possible. `surroundings` lead
    /// from the nearest resource to the schema.
    fn schema(&mut self, schema: &Schema<'_>, path: &Path<'_>, at: At, surroundings: &Surroundings<'_>) {
        if !schema.subtree.any(Flags::DEFAULT) || self.budget < 0 || self.options.stop.is_set() {
            return;
        }
        let resource = at == At::Root || schema.flags.any(Flags::EMBEDDED_RESOURCE);
        let surroundings = if resource { &Surroundings::Root } else { surroundings };
        let at = if resource { At::Root } else { at };
        if let Some(default) = schema.default {
            self.default(schema, default, &path.child("default"), at, surroundings);
        }
        let below = if at == At::Metadata { At::Metadata } else { At::Elsewhere };
        if let Some(item) = schema.item() {
            self.schema(item, &path.child("items"), below, &Surroundings::Item(surroundings));
        }
        let properties = path.child("properties");
        for property in schema.properties {
            let metadata = resource && matches!(property.name, "metadata" | "apiVersion" | "kind");
            let at = if metadata { At::Metadata } else { below };
            let surroundings = Surroundings::Field(surroundings, property.name);
            self.schema(&property.schema, &properties.key(property.name), at, &surroundings);
        }
    }

    /// Checks a default of a schema that is a resource, in the metadata of one, or elsewhere.
    fn default(
        &mut self,
        schema: &Schema<'_>,
        default: &Json<'_>,
        path: &Path<'_>,
        at: At,
        surroundings: &Surroundings<'_>,
    ) {
        let arena = Bump::new();
        let place = place(self.document.node(schema.at), "default");
        let mut value = Value::from_json(default, &arena);
        let printing = Printing::Of(&self.options.release);
        if at == At::Metadata {
            if let Err(error) = metadata(value, surroundings, &self.options.release, &arena) {
                let detail = format!("must result in valid metadata: {error}");
                self.errors.push(Error::invalid(path, printing.bad_value(value), detail, place));
                return;
            }
        } else {
            let root = if at == At::Root { Root::Resource } else { Root::Value };
            let unpruned =
                self.options.require_pruned_defaults && object::prune(value, Some(schema), root, &arena).value != value;
            let (decoded, malformed) =
                object::coerce_until_error(printing, value, Some(schema), root, Malformed::Refuse, path, &arena);
            value = decoded.value;
            if unpruned {
                // Upstream decodes the metadata in place, so its error shows the default with the part that was
                // decoded.
                self.errors.push(Error::invalid(
                    path,
                    printing.bad_value(value),
                    "must not have unknown fields",
                    place,
                ));
            }
            if let Some(error) = malformed {
                self.errors.push(Error { at: place, ..*error });
                return;
            }
            let errors = object::embedded(value, Some(schema), root, path, &self.options.release);
            if !errors.is_empty() {
                self.errors.extend(errors.into_iter().map(|error| Error { at: place, ..error }));
                return;
            }
        }
        let mut errors = Validator::with_purpose(schema, Purpose::Defaults(self.options.release.clone()), &arena)
            .check_until(value, path, self.options.stop);
        words::lengths(&mut errors, 0, Lengths::Values, &self.options.release);
        if errors.is_empty() {
            errors = self.rules(schema, value, path, at == At::Root);
        }
        self.errors.extend(errors.into_iter().map(|error| Error { at: place, ..error }));
    }

    /// Evaluates the rules on a default: as an update of itself, and as a new value.
    fn rules(&mut self, schema: &Schema<'_>, value: Value<'_>, path: &Path<'_>, resource: bool) -> Vec<Error> {
        let release = &self.options.release;
        let Some(rules) = Rules::of_default(schema, resource, release) else { return Vec::new() };
        let RuleOutcome { mut errors, remaining_budget, .. } =
            rules.check_update(value, value, false, path, self.budget);
        let mut left = remaining_budget;
        if errors.is_empty() && release.has(Change::OptionalOldSelf) {
            let outcome = rules.check(value, path, self.budget);
            errors = outcome.errors;
            left = left.min(outcome.remaining_budget);
        }
        self.budget = left;
        errors
    }
}

/// Checks the metadata of an object that contains only a default in its metadata.
///
/// # Errors
/// Returns the errors, joined like upstream joins them.
fn metadata<'a>(
    default: Value<'a>,
    surroundings: &Surroundings<'_>,
    release: &AskedRelease,
    arena: &'a Bump,
) -> Result<(), String> {
    let Some(Value::Map(map)) = surroundings.around(default, arena) else { return Ok(()) };
    let mut entries = map.entries().to_vec();
    for (name, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
        if map.get(name).is_none() {
            entries.push((name, Value::String(value)));
        }
    }
    let object = Value::Map(Map::from_entries(entries, arena));
    let printing = Printing::Of(release);
    let decoded = object::coerce_with(printing, object, None, Root::Resource, Malformed::Refuse, &Path::Root, arena)
        .map_err(|error| error.to_string())?;
    let mut texts: Vec<String> = Vec::new();
    for error in object::embedded(decoded.value, None, Root::Resource, &Path::Root, release) {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => Ok(()),
        [text] => Err(text.clone()),
        texts => Err(format!("[{}]", texts.join(", "))),
    }
}

/// Returns whether a schema is structural and a default in it has unknown fields.
pub(super) fn has_unpruned(schema: &Schema<'_>) -> bool {
    schema.subtree.any(Flags::DEFAULT)
        && convert(schema).is_ok()
        && validate_structural(schema, "").is_empty()
        && unpruned_below(schema, schema, &Surroundings::Root)
}

/// The path from an object to a value in it.
pub(crate) enum Surroundings<'s> {
    Root,
    Field(&'s Surroundings<'s>, &'s str),
    Item(&'s Surroundings<'s>),
}

impl Surroundings<'_> {
    /// Returns the object around a value. `None` if the value is the object itself but not a mapping.
    pub(crate) fn around<'a>(&self, value: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
        match self {
            Surroundings::Root => matches!(value, Value::Map(_)).then_some(value),
            Surroundings::Field(parent, name) => {
                let name: &'a str = arena.alloc_str(name);
                parent.around(Value::Map(Map::from_entries(vec![(name, value)], arena)), arena)
            }
            Surroundings::Item(parent) => parent.around(Value::List(arena.alloc_slice_copy(&[value])), arena),
        }
    }

    /// Returns the value of an object at this place.
    pub(crate) fn value_in<'a>(&self, object: Value<'a>) -> Option<Value<'a>> {
        match self {
            Surroundings::Root => Some(object),
            Surroundings::Field(parent, name) => parent.value_in(object)?.get(name),
            Surroundings::Item(parent) => parent.value_in(object)?.as_list()?.first().copied(),
        }
    }
}

/// Returns whether a default at or below a schema of the spine loses fields when the object around it is pruned.
fn unpruned_below(root: &Schema<'_>, schema: &Schema<'_>, surroundings: &Surroundings<'_>) -> bool {
    if !schema.subtree.any(Flags::DEFAULT) {
        return false;
    }
    if let Some(default) = schema.default {
        let arena = Bump::new();
        let object = surroundings.around(Value::from_json(default, &arena), &arena);
        let changed = object.is_some_and(|object| {
            object::coerce(object, Some(root), Root::Resource, Malformed::Drop, &Path::Root, &arena)
                .is_ok_and(|decoded| object::prune(decoded.value, Some(root), Root::Resource, &arena).value != object)
        });
        if changed {
            return true;
        }
    }
    schema.additional_schema().is_some_and(|below| unpruned_below(root, below, &Surroundings::Field(surroundings, "*")))
        || schema.item().is_some_and(|item| unpruned_below(root, item, &Surroundings::Item(surroundings)))
        || schema
            .properties
            .iter()
            .any(|property| unpruned_below(root, &property.schema, &Surroundings::Field(surroundings, property.name)))
}
