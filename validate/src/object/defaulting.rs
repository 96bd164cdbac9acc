//! Defaults and nulls: `defaulting.Default` and `PruneNonNullableNullsWithoutDefaults`.

use super::Root;
use super::fit::{Bare, Steps, Whole, fit};
use kubeshape_schema::{Bump, Schema};
use kubeshape_smd::Value;

/// Inserts the defaults of a schema. A property that is missing gets its default; so does null where the schema does not
/// take null. What is inserted is defaulted, too. Parents that are missing stay missing.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, read};
/// use kubeshape_smd::{ToValue, Value};
/// use kubeshape_validate::object::default;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let schema = read::Reader::new(&arena, read::Rules::Crd).schema(tape.document(source).root().unwrap());
/// let empty = serde_json::json!({});
/// let stored = default(empty.to_value(&arena), Some(&schema), &arena);
/// assert_eq!(stored.to_serde(), serde_json::json!({"a": {"b": 1}}));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn default<'a>(value: Value<'a>, schema: Option<&Schema<'a>>, arena: &'a Bump) -> Value<'a> {
    fit(value, schema.map(Whole), Root::Value, Steps { defaults: true, ..Steps::default() }, arena).0
}

/// Removes nulls of properties that take no null and have no default. Nulls in lists stay.
pub fn prune_nulls<'a>(value: Value<'a>, schema: Option<&Schema<'_>>, arena: &'a Bump) -> Value<'a> {
    fit(value, schema.map(Bare), Root::Value, Steps { nulls: true, ..Steps::default() }, arena).0
}
