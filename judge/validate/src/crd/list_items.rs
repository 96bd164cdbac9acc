//! Rules about the items of sets and map lists.

use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_schema::{Flags, Schema, Type};

/// Returns the keyword that makes the items of a set not atomic: `hasNonAtomicSetType`.
pub(super) fn set_of_other_than_atomic<'a>(schema: &Schema<'a>) -> Option<(&'static str, Option<&'a str>)> {
    if schema.extra().list_type != Some("set") {
        return None;
    }
    let item = schema.item()?.extra();
    match schema.item()?.ty {
        Type::Array => {
            item.list_type.is_some_and(|list| list != "atomic").then_some(("x-kubernetes-list-type", item.list_type))
        }
        // Upstream shows the list type here, too.
        Type::Object => (item.map_type != Some("atomic")).then_some(("x-kubernetes-map-type", item.list_type)),
        _ => None,
    }
}

/// Checks the items of sets and of map lists: `validateMapListKeysMapSet`. Returns whether there are errors. All errors
/// have the location `at`.
pub(super) fn map_list_items(schema: &Schema<'_>, path: &Path<'_>, at: u32, errors: &mut Errors) -> bool {
    let before = errors.len();
    let extra = schema.extra();
    let (Some(list_type @ ("set" | "map")), Some(item)) = (extra.list_type, schema.item()) else { return false };
    let items = path.child("items");
    if item.flags.any(Flags::NULLABLE) {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(Error::forbidden(&items.child("nullable"), detail, at));
    }
    if list_type == "map" {
        let properties = items.child("properties");
        for key in extra.list_map_keys {
            let Some(property) = item.property(key) else { continue };
            let path = properties.key(key);
            if !item.required.contains(key) && property.default.is_none() {
                let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
                errors.push(Error::required(&path.child("default"), detail, at));
            }
            if property.flags.any(Flags::NULLABLE) {
                let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                errors.push(Error::forbidden(&path.child("nullable"), detail, at));
            }
        }
    }
    errors.len() > before
}
