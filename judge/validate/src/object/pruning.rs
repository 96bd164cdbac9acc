//! Removes fields that a schema does not know: `pruning.PruneWithOptions`.

use super::fit::{Bare, Steps, fit};
use super::root::Root;
use kubeshape_schema::{Bump, Schema};
use kubeshape_value::Value;

/// The result of [`prune`].
#[derive(Clone, Debug)]
pub struct Pruned<'a> {
    /// The value without unknown fields; the same value if there were none.
    pub value: Value<'a>,
    /// The paths of the fields that were removed, sorted: `spec.list[0].key`.
    pub unknown: Vec<String>,
}

/// Removes the fields that a schema does not know. Without a schema, no field of an object is known.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_value::ToValue;
/// use kubeshape_validate::object::{Root, prune};
/// let arena = Bump::new();
/// let list = serde_json::json!([{"a": 1}, {"b": 1}]);
/// let pruned = prune(list.to_value(&arena), None, Root::Value, &arena);
/// assert_eq!(pruned.value.to_serde(), serde_json::json!([{}, {}]));
/// assert_eq!(pruned.unknown, ["[0].a", "[1].b"]);
/// ```
pub fn prune<'a>(value: Value<'a>, schema: Option<&Schema<'_>>, root: Root, arena: &'a Bump) -> Pruned<'a> {
    let steps = Steps { prune: true, ..Steps::default() };
    let fitted = fit(value, schema.map(Bare), root, steps, arena);
    Pruned { value: fitted.value, unknown: fitted.unknown }
}
