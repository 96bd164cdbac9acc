//! Extracts the configuration that a manager applied.

use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::managed::{self, ExtractError};
use kubeshape_smd::typed::Type;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, Value};

/// Returns the configuration that a manager applied, as far as the object still has it, with the kind, name and
/// namespace of the object (client-go's generated `Extract` functions set the latter two after extraction). Returns
/// `None` if the manager has no entry. Fields are read as a version of structured-merge-diff does.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract_applied<'a>(
    object: Value<'a>,
    ty: Type<'a>,
    manager: &str,
    subresource: &str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Value<'a>>, ExtractError> {
    let object = if compat == Compat::V63 { strict(object, arena) } else { object };
    let extracted = managed::extract(object, ty, manager, subresource, compat.max(Compat::V64), arena)?;
    Ok(extracted.map(|config| named(config, object, arena)))
}

/// Converts managed fields that only version 6.3 can read: extraction refuses data after a set in every version.
fn strict<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let written = |entry: Value<'a>| -> Option<Value<'a>> {
        let fields = entry.get("fieldsV1")?;
        if Set::from_fields_v1_as(fields, Compat::V64, arena).is_ok() {
            return None;
        }
        let fields = Set::from_fields_v1_as(fields, Compat::V63, arena).ok()?.to_fields_v1(arena).ok()?;
        Some(Value::Map(entry.as_map()?.with("fieldsV1", Some(fields), arena)))
    };
    let anew = || {
        let metadata = object.get("metadata")?.as_map()?;
        let Value::List(entries) = metadata.get("managedFields")? else { return None };
        let entries = entries.iter().map(|entry| written(*entry).unwrap_or(*entry));
        let list = Value::List(arena.alloc_slice_copy(&entries.collect::<Vec<_>>()));
        let metadata = metadata.with("managedFields", Some(list), arena);
        Some(Value::Map(object.as_map()?.with("metadata", Some(Value::Map(metadata)), arena)))
    };
    anew().unwrap_or(object)
}

/// Adds the name and the namespace of the object, which have no owner.
fn named<'a>(config: Value<'a>, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (Value::Map(map), Some(from)) = (config, object.get("metadata")) else { return config };
    let mut metadata = map.get("metadata").and_then(Value::as_map).unwrap_or_default();
    for key in ["name", "namespace"] {
        if let Some(text) = from.get(key).filter(|text| text.as_str().is_some_and(|text| !text.is_empty())) {
            metadata = metadata.with(key, Some(text), arena);
        }
    }
    Value::Map(map.with("metadata", Some(Value::Map(metadata)), arena))
}
