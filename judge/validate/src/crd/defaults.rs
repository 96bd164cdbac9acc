//! Defaults in schemas: `defaulting.ValidateDefaults`.

use super::options::Options;
use crate::metadata::place;
use crate::object::{self, Malformed, Printing, Purpose, Root, RuleOutcome, Rules, Surroundings, Validator};
use crate::release::{AskedRelease, Change};
use crate::words::{self, Lengths};
use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_schema::{Bump, Flags, Json, Schema};
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
