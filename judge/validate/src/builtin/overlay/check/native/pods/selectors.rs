//! Selectors of the values of environment variables and files: a field, a resource, a key.

use super::super::super::Found;
use super::super::super::form::config_map_key;
use super::{check_text, get, resources, string, text};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// `validateObjectFieldSelector`
pub(super) fn field_selector(own: Value<'_>, fields: &[&str], path: &Path<'_>, found: &mut Found) {
    const KNOWN: [&str; 12] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.serviceAccountName",
        "spec.schedulerName",
        "status.phase",
        "status.hostIP",
        "status.hostIPs",
    ];
    for key in ["apiVersion", "fieldPath"] {
        if text(own, key).is_empty() {
            return found.required(&path.child(key), "");
        }
    }
    let (version, field) = (text(own, "apiVersion"), text(own, "fieldPath"));
    let field_path = path.child("fieldPath");
    let convert = |found: &mut Found, why: String| {
        found.invalid(&field_path, get(own, "fieldPath"), format!("error converting fieldPath: {why}"));
    };
    if version != "v1" {
        return convert(found, format!("unsupported pod version: {version}"));
    }
    let subscripted = field.strip_suffix("']").and_then(|rest| rest.split_once("['"));
    if let Some((name, subscript)) = subscripted.filter(|(name, _)| !name.is_empty()) {
        return match name {
            "metadata.annotations" => {
                let lower = subscript.to_lowercase();
                found.messages(path, Value::String(&lower), names::qualified_name(&lower));
            }
            "metadata.labels" => found.messages(path, Value::String(subscript), names::qualified_name(subscript)),
            _ => convert(found, format!("field label does not support subscript: {field}")),
        };
    }
    let is_known = KNOWN.contains(&field) || matches!(field, "status.podIP" | "status.podIPs" | "spec.host");
    if !is_known {
        return convert(found, format!("field label not supported: {field}"));
    }
    let field = if field == "spec.host" { "spec.nodeName" } else { field };
    if !fields.contains(&field) {
        found.not_supported(&field_path, Value::String(field), fields);
    }
}

/// `validateContainerResourceFieldSelector`
pub(super) fn resource_selector(own: Value<'_>, in_volume: bool, path: &Path<'_>, found: &mut Found) {
    const SIZES: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
    let resource = text(own, "resource");
    let is_page = ["requests.hugepages-", "limits.hugepages-"].iter().any(|start| resource.starts_with(start));
    if in_volume && text(own, "containerName").is_empty() {
        found.required(&path.child("containerName"), "");
    } else if resource.is_empty() {
        found.required(&path.child("resource"), "");
    } else if !RESOURCES.contains(&resource) && !is_page {
        found.not_supported(&path.child("resource"), Value::String(resource), &RESOURCES);
    }
    let divisor = text(own, "divisor");
    if divisor.is_empty() || resources::quantity(get(own, "divisor")).is_none_or(|divisor| divisor.sign() == 0) {
        return;
    }
    let what = match resource {
        "limits.cpu" | "requests.cpu" => {
            if !matches!(divisor, "1m" | "1") {
                let detail = "only divisor's values 1m and 1 are supported with the cpu resource";
                found.invalid(&path.child("divisor"), Value::String(resource), detail);
            }
            return;
        }
        "limits.memory" | "requests.memory" => "memory",
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => "local ephemeral storage",
        _ if is_page => "hugepages",
        _ => return,
    };
    if !SIZES.contains(&divisor) {
        let detail = format!(
            "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the {what} \
             resource"
        );
        found.invalid(&path.child("divisor"), Value::String(resource), detail);
    }
}

/// Checks a key of a ConfigMap or Secret, and its name: `validateConfigMapKeySelector`, `validateSecretKeySelector`.
pub(super) fn key_selector(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let name = string(get(own, "name"));
    found.messages(&path.child("name"), name, names::dns1123_subdomain(name.as_str().unwrap_or_default()));
    if text(own, "key").is_empty() {
        found.required(&path.child("key"), "");
    } else {
        check_text(own, "key", path, config_map_key, found);
    }
}
