//! Converts from client-side to server-side apply (client-go `util/csaupgrade`).
//!
//! # Example: from client-side to server-side apply
//! ```
//! use kubeshape_smd::{Bump, ToValue, managed::upgrade, value::Compat};
//! use serde_json::json;
//! let arena = Bump::new();
//! let live = json!({"metadata": {"resourceVersion": "7", "managedFields": [{
//!     "manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
//!     "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:key": {}}},
//! }]}});
//! let from = ["kubectl-client-side-apply"];
//! let patch = upgrade::upgrade_patch(live.to_value(&arena), &from, "kubectl", "", Compat::V64, &arena)?;
//! assert_eq!(patch.unwrap().to_serde(), json!([
//!     {"op": "replace", "path": "/metadata/managedFields", "value": [{
//!         "manager": "kubectl", "operation": "Apply", "apiVersion": "v1",
//!         "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:key": {}}},
//!     }]},
//!     {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
//! ]));
//! # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
//! ```

use super::entries::RawEntry;
use super::{Operation, object, spell};
use crate::Bump;
use crate::fieldpath::{Set, SetError};
use crate::value::{Compat, Map, Value};

/// Returns the entries of an operation that own all of these fields. Entries that cannot be read own nothing. `compat`
/// is the version of structured merge diff that the client has.
pub fn find_owners<'a>(
    list: Option<Value<'a>>,
    operation: Operation,
    fields: Set<'a>,
    compat: Compat,
    arena: &'a Bump,
) -> Vec<Value<'a>> {
    let entries = RawEntry::read_list(list).unwrap_or_default();
    let owns = |entry: &&RawEntry<'a>| {
        entry.operation == operation.as_str()
            && entry.set(compat, arena).is_ok_and(|set| fields.difference(set, arena).is_empty())
    };
    entries.iter().filter(owns).map(|entry| entry.write(arena)).collect()
}

/// Returns the object after the managers of client-side apply have given their fields to a manager of server-side
/// apply.
///
/// The fields go to the entry of `to`, or else to the first entry of a manager in `from`. It gets the fields of entries
/// at its own version. Entries at other versions are dropped, as upstream does. `compat` is the version of structured
/// merge diff that the client has.
///
/// # Errors
/// The `fieldsV1` of an entry that would change is not a field set.
pub fn upgrade<'a>(
    object: Value<'a>,
    from: &[&str],
    to: &'a str,
    subresource: &str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Value<'a>, SetError> {
    let Some(entries) = RawEntry::read_list(object::managed_fields(object)) else {
        return Ok(object::without_managed_fields(object, arena));
    };
    let upgraded = upgraded(Some(entries), from, to, subresource, compat, arena)?;
    let list = upgraded.map(|entries| RawEntry::write_list(&entries, arena));
    Ok(object::with_managed_fields(object, list, arena))
}

/// Does the same as a JSON patch, which fails if the object has changed meanwhile. Returns `None` if there is nothing
/// to do.
///
/// # Errors
/// As for [`upgrade`].
pub fn upgrade_patch<'a>(
    object: Value<'a>,
    from: &[&str],
    to: &'a str,
    subresource: &str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, SetError> {
    let entries = RawEntry::read_list(object::managed_fields(object));
    let upgraded = upgraded(entries.clone(), from, to, subresource, compat, arena)?;
    if upgraded == entries {
        return Ok(None);
    }
    let list = upgraded.map_or(Value::Null, |entries| RawEntry::write_list(&entries, arena));
    let version = Value::String(object::meta_text(object, "resourceVersion"));
    let replace = |path, value| {
        let members = vec![("op", Value::String("replace")), ("path", Value::String(path)), ("value", value)];
        Value::Map(Map::from_entries(members, arena))
    };
    let operations = [replace("/metadata/managedFields", list), replace("/metadata/resourceVersion", version)];
    Ok(Some(Value::List(arena.alloc_slice_copy(&operations))))
}

fn upgraded<'a>(
    mut entries: Option<Vec<RawEntry<'a>>>,
    from: &[&str],
    to: &'a str,
    subresource: &str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Vec<RawEntry<'a>>>, SetError> {
    for name in from {
        if let Some(known) = entries {
            entries = upgraded_from(known, name, to, subresource, compat, arena)?;
        }
    }
    Ok(entries)
}

/// Returns `None` if no entry is left.
fn upgraded_from<'a>(
    mut entries: Vec<RawEntry<'a>>,
    from: &str,
    to: &'a str,
    subresource: &str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Vec<RawEntry<'a>>>, SetError> {
    let is = |entry: &RawEntry<'a>, manager: &str, operation: Operation| {
        entry.manager == manager && entry.operation == operation.as_str() && entry.subresource == subresource
    };
    let applied = entries.iter().position(|entry| is(entry, to, Operation::Apply));
    let target = applied.or_else(|| entries.iter().position(|entry| is(entry, from, Operation::Update)));
    let Some(target) = target else { return Ok(Some(entries)) };
    let Some(entry) = entries.get_mut(target) else { return Ok(Some(entries)) };
    if applied.is_none() {
        entry.operation = Operation::Apply.as_str();
        entry.manager = to;
    }
    let version = entry.api_version;
    let mut set = entry.set(compat, arena)?;
    let same_version = entries.iter().find(|entry| is(entry, from, Operation::Update) && entry.api_version == version);
    if let Some(source) = same_version {
        set = set.union(source.set(compat, arena)?, arena);
    }
    if let Some(entry) = entries.get_mut(target) {
        entry.fields = Some(spell::Speller::new(compat, arena).set(set, entry.fields.and_then(Value::as_map))?);
    }
    entries.retain(|entry| !is(entry, from, Operation::Update));
    Ok(Some(entries).filter(|entries| !entries.is_empty()))
}
