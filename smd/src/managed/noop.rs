//! Writes that change nothing but times (the API server's `IgnoreManagedFieldsTimestampsTransformer`).

use super::entries::RawEntry;
use super::object;
use crate::Bump;
use crate::value::Value;

/// Returns the new object, with the times of the live object if nothing but times changed. Then a write that changes
/// nothing writes the same object. The server does this after an apply, an update or a patch, before it validates the
/// object.
///
/// # Example: an apply that changes nothing but the time
/// ```
/// use kubeshape_smd::{Bump, ToValue, managed::keep_times};
/// use serde_json::json;
/// let arena = Bump::new();
/// let at = |time| json!({"metadata": {"managedFields": [{"manager": "m", "operation": "Apply", "time": time}]}});
/// let (live, new) = (at("2000-01-01T00:00:00Z"), at("2000-01-01T00:00:09Z"));
/// assert_eq!(keep_times(live.to_value(&arena), new.to_value(&arena), &arena), live.to_value(&arena));
/// ```
pub fn keep_times<'a>(live: Value<'a>, new: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let entries = |object| RawEntry::read_list(object::managed_fields(object)).unwrap_or_default();
    let (old, mut entries) = (entries(live), entries(new));
    if entries.is_empty() || entries.len() != old.len() || entries.iter().zip(&old).all(|(a, b)| a.time == b.time) {
        return new;
    }
    for (entry, old) in entries.iter_mut().zip(&old) {
        entry.time = old.time;
    }
    if entries != old || object::without_managed_fields(live, arena) != object::without_managed_fields(new, arena) {
        return new;
    }
    object::with_managed_fields(new, Some(RawEntry::write_list(&entries, arena)), arena)
}
