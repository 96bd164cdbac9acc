//! A server's changes to the metadata of a new object of any kind.

use super::before;
use super::edit::{metadata_of, set, with_metadata};
use kubeshape_value::{Bump, Value};

/// Metadata that a client cannot choose: the server removes it.
const SYSTEM: [&str; 5] = ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

/// Returns a new object without the metadata that a client cannot choose (`WipeObjectMetaSystemFields` of
/// `k8s.io/apiserver`).
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_validate::object::without_system_metadata;
/// use kubeshape_value::ToValue;
///
/// let arena = Bump::new();
/// let object = serde_json::json!({"metadata": {"name": "a", "uid": "u", "selfLink": "/a"}});
/// let wiped = without_system_metadata(object.to_value(&arena), &arena).to_serde();
/// assert_eq!(wiped, serde_json::json!({"metadata": {"name": "a"}}));
/// ```
#[must_use]
pub fn without_system_metadata<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    without(object, &SYSTEM, arena)
}

/// Returns an object as it is first stored: the storage sets the version (`PrepareObjectForStorage`).
pub(super) fn without_version<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    without(object, &["resourceVersion"], arena)
}

/// Returns the metadata of an object of any kind as it is first stored, and as it is validated.
pub(crate) fn created_as<'a>(
    object: Value<'a>,
    namespaced: bool,
    counts: bool,
    arena: &'a Bump,
) -> (Value<'a>, Value<'a>) {
    let object = without_version(without_system_metadata(object, arena), arena);
    let object = before::in_namespace(object, namespaced, arena);
    let stored = if counts { with_metadata(object, "generation", Some(Value::Int(1)), arena) } else { object };
    (stored, as_validated(stored, arena))
}

/// Returns a new object as the server validates it: with a generated name, and without the managed fields of the
/// request, because the field manager replaces invalid ones.
pub(super) fn as_validated<'a>(stored: Value<'a>, arena: &'a Bump) -> Value<'a> {
    without(before::with_generated_name(stored, arena), &["managedFields"], arena)
}

fn without<'a>(object: Value<'a>, fields: &[&'static str], arena: &'a Bump) -> Value<'a> {
    let metadata = metadata_of(object);
    if fields.iter().all(|field| metadata.get(field).is_none()) {
        return object;
    }
    let metadata = fields.iter().fold(metadata, |metadata, field| set(metadata, field, None, arena));
    set(object, "metadata", Some(metadata), arena)
}

/// Returns the message with which the storage refuses to create an object that has a version; `None` if it has none.
/// Zero and strings that are not numbers are not versions (`Create` and `ObjectResourceVersion` of
/// `k8s.io/apiserver/pkg/storage`). A dry run does not reach the storage.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_validate::object::version_on_creation;
/// use kubeshape_value::ToValue;
///
/// let arena = Bump::new();
/// let refusal = |version: &str| {
///     version_on_creation(serde_json::json!({"metadata": {"resourceVersion": version}}).to_value(&arena))
/// };
/// assert_eq!(refusal("5"), Some("resourceVersion should not be set on objects to be created"));
/// assert_eq!((refusal(""), refusal("0"), refusal("v5")), (None, None, None));
/// ```
pub fn version_on_creation(object: Value<'_>) -> Option<&'static str> {
    let version = metadata_of(object).get("resourceVersion").and_then(Value::as_str).unwrap_or_default();
    // Go's `ParseUint` accepts no sign.
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = is_number && version.parse::<u64>().is_ok_and(|number| number > 0);
    is_version.then_some("resourceVersion should not be set on objects to be created")
}

/// Returns why server-side apply refuses to create an object that has a uid (`applyPatch` of `k8s.io/apiserver`): the
/// reason of a conflict.
pub fn uid_without_object(object: Value<'_>) -> Option<String> {
    let uid = metadata_of(object).get("uid").and_then(Value::as_str).unwrap_or_default();
    (!uid.is_empty())
        .then(|| format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found"))
}
