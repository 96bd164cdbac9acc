//! Rules of the core group, except those for pods.

use super::super::form::config_map_key;
use super::super::{At, Found};
use super::{Names, entries, get, text};
use crate::builtin::rules::is_standard_finalizer;
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use kubeshape_yaml::go::syntax;

/// The maximum size of the data of a Secret or a ConfigMap in bytes: `MaxSecretSize`.
const MAX_DATA: usize = 1 << 20;

pub(super) const NAMES: Names = &[
    ("config map data", config_map_data),
    ("frozen data", frozen_data),
    ("namespace finalizers", namespace_finalizers),
    ("namespace phase", namespace_phase),
    ("secret data", secret_data),
    ("secret type", secret_type),
];

/// Returns the number of bytes that a base64 text encodes.
fn decoded_len(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

/// `ValidateConfigMap`
fn config_map_data(at: &At<'_, '_>, found: &mut Found) {
    let mut size = 0usize;
    let binary = at.path.child("binaryData");
    let data = at.path.child("data");
    for (key, value) in entries(at.value, "data") {
        let path = data.key(key);
        found.messages(&path, Value::String(key), config_map_key(key));
        if get(at.value, "binaryData").get(key).is_some() {
            found.invalid(&path, Value::String(key), "duplicate of key present in binaryData");
        }
        size = size.saturating_add(value.as_str().map_or(0, str::len));
    }
    for (key, value) in entries(at.value, "binaryData") {
        found.messages(&binary.key(key), Value::String(key), config_map_key(key));
        size = size.saturating_add(value.as_str().map_or(0, decoded_len));
    }
    if size > MAX_DATA {
        // The path is `field.NewPath("")`.
        found.too_long(&Path::Base("[]"), MAX_DATA);
    }
}

/// Checks that the data of an object whose `immutable` is true is unchanged: `ValidateConfigMapUpdate`,
/// `ValidateSecretUpdate`.
fn frozen_data(at: &At<'_, '_>, found: &mut Found) {
    let old = at.scope.old.unwrap_or(Value::Null);
    if !super::flag(old, "immutable") {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    if !super::flag(at.value, "immutable") {
        found.forbidden(&at.path.child("immutable"), detail);
    }
    for key in ["data", "binaryData"] {
        if !crate::builtin::overlay::edit::same(at.get(key), get(old, key)) {
            found.forbidden(&at.path.child(key), detail);
        }
    }
}

/// `ValidateSecret`
fn secret_data(at: &At<'_, '_>, found: &mut Found) {
    let data = at.path.child("data");
    let mut size = 0usize;
    for (key, value) in entries(at.value, "data") {
        found.messages(&data.key(key), Value::String(key), config_map_key(key));
        size = size.saturating_add(value.as_str().map_or(0, decoded_len));
    }
    if size > MAX_DATA {
        found.too_long(&data, MAX_DATA);
    }
}

/// Checks the keys that types of secrets require: `ValidateSecret`.
fn secret_type(at: &At<'_, '_>, found: &mut Found) {
    let data = at.get("data");
    let data_path = at.path.child("data");
    let lacks = |key: &str| data.get(key).is_none();
    let mut require = |key: &str| found.required(&data_path.key(key), "");
    match text(at.value, "type") {
        "kubernetes.io/service-account-token" => {
            const KEY: &str = "kubernetes.io/service-account.name";
            if text(get(at.get("metadata"), "annotations"), KEY).is_empty() {
                found.required(&at.path.child("metadata").child("annotations").key(KEY), "");
            }
        }
        kind @ ("kubernetes.io/dockercfg" | "kubernetes.io/dockerconfigjson") => {
            let key = if kind.ends_with("cfg") { ".dockercfg" } else { ".dockerconfigjson" };
            if lacks(key) {
                return require(key);
            }
            if let Some(message) = json_error(text(data, key)) {
                found.invalid(&data_path.key(key), Value::String("<secret contents redacted>"), message);
            }
        }
        "kubernetes.io/basic-auth" if lacks("username") && lacks("password") => {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" if text(data, "ssh-privatekey").is_empty() => require("ssh-privatekey"),
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"].into_iter().filter(|key| lacks(key)) {
                require(key);
            }
        }
        _ => {}
    }
}

/// Returns the error of `encoding/json` for bytes that are not an object.
fn json_error(base64: &str) -> Option<String> {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64).ok()?;
    if let Err(error) = syntax::check(&bytes) {
        return Some(error.to_string());
    }
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
    let kind = match first {
        b'{' | b'n' => return None,
        b'[' => "array",
        b'"' => "string",
        b't' | b'f' => "bool",
        _ => "number",
    };
    Some(format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"))
}

/// `validateFinalizerName`
fn namespace_finalizers(at: &At<'_, '_>, found: &mut Found) {
    for item in at.value.as_list().unwrap_or_default() {
        let name = item.as_str().unwrap_or_default();
        found.messages(at.path, *item, names::qualified_name(name));
        if !name.contains('/') && !is_standard_finalizer(name) {
            found.invalid(at.path, *item, "name is neither a standard finalizer name nor is it fully qualified");
        }
    }
}

/// `ValidateNamespaceStatusUpdate`
fn namespace_phase(at: &At<'_, '_>, found: &mut Found) {
    let root = at.scope.root;
    let phase = get(get(root, "status"), "phase");
    let phase = if phase.is_null() { Value::String("") } else { phase };
    let (expected, detail) = if get(get(root, "metadata"), "deletionTimestamp").is_null() {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    } else {
        ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    };
    if phase.as_str() != Some(expected) {
        found.invalid(at.path, phase, detail);
    }
}
