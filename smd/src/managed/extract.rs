//! Extracts what a manager applied (upstream `managedfields.ExtractInto`).

use super::entries::RawEntry;
use super::{Operation, object};
use crate::Bump;
use crate::fieldpath::SetError;
use crate::typed::{Duplicates, KeyFields, Type, ValidationErrors};
use crate::value::{Compat, Value};

/// Why nothing was extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The object does not match its type.
    #[error("error converting obj to typed: {0}")]
    Invalid(ValidationErrors),
    /// The `fieldsV1` of the manager is not a field set.
    #[error("error marshalling FieldsV1 to JSON: {0}")]
    Fields(SetError),
    /// The object has no field that the manager owns.
    #[error("unable to convert managed fields for {manager} to unstructured, expected map, got {found}")]
    Nothing {
        /// The manager.
        manager: String,
        /// The extracted value, which is not a map.
        found: &'static str,
    },
}

/// Returns the part of the configuration that a manager applied and that the object still has: the manager's fields and
/// the kind. Returns `None` if the manager has no entry. The fields are read as a version of structured-merge-diff does.
///
/// # Errors
/// See [`ExtractError`].
///
/// # Example: extract what I applied
/// ```
/// use kubeshape_smd::{Bump, ToValue, managed::extract, typed::Types, value::Compat};
/// use serde_json::json;
/// let types = Types::deduced();
/// let ty = types.named("__untyped_deduced_").unwrap();
/// let arena = Bump::new();
/// let live = json!({
///     "apiVersion": "apps/v1", "kind": "Deployment",
///     "metadata": {"name": "web", "managedFields": [{
///         "manager": "me", "operation": "Apply", "apiVersion": "apps/v1",
///         "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}},
///     }]},
///     "spec": {"replicas": 2, "paused": false},
/// });
/// let mine = extract(live.to_value(&arena), ty, "me", "", Compat::V64, &arena)?.unwrap();
/// assert_eq!(mine.to_serde(), json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 2}}));
/// # Ok::<(), kubeshape_smd::managed::ExtractError>(())
/// ```
pub fn extract<'a>(
    object: Value<'a>,
    ty: Type<'a>,
    manager: &str,
    subresource: &str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, ExtractError> {
    let typed = ty.validate(object, Duplicates::Refused).map_err(ExtractError::Invalid)?;
    let entries = RawEntry::read_list(object::managed_fields(object)).unwrap_or_default();
    let mine = |entry: &&RawEntry<'_>| {
        entry.manager == manager && entry.operation == Operation::Apply.as_str() && entry.subresource == subresource
    };
    let Some(entry) = entries.iter().find(mine) else { return Ok(None) };
    let fields = entry.set(compat, arena).map_err(ExtractError::Fields)?;
    let extracted = typed.extract_items(fields.leaves(arena), KeyFields::AsOwned, arena).value();
    let Some(Value::Map(mut map)) = extracted else {
        return Err(ExtractError::Nothing {
            manager: manager.to_owned(),
            found: extracted.unwrap_or(Value::Null).go_type(),
        });
    };
    let gvk = object.gvk();
    if map.get("kind").is_none() && !gvk.kind().is_empty() {
        map = map.with("kind", Some(Value::String(gvk.kind())), arena);
        map = map.with("apiVersion", Some(Value::String(gvk.api_version())), arena);
    }
    Ok(Some(Value::Map(map)))
}
