//! Pod templates and annotations: `ValidatePodTemplateSpec`, `ValidatePodSpecificAnnotations`.

use super::super::super::form::local_path;
use super::super::super::form::selector as label_selector;
use super::super::super::{At, Found};
use super::{Pod, all_containers, check_spec, entries, get, items, text};
use crate::builtin::MIRROR;
use crate::metadata;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

/// Returns where a kind has its pod template.
fn template_at(kind: &str) -> &'static [&'static str] {
    match kind {
        "PodTemplate" => &["template"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template"],
        _ => &["spec", "template"],
    }
}

pub(super) const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Returns whether a cost is not a 32-bit number. An absent cost is empty, which is allowed.
pub(super) fn is_wrong_cost(cost: &str) -> bool {
    !cost.is_empty()
        && (cost.starts_with('+') || cost.len() > 1 && cost.starts_with('0') || cost.parse::<i32>().is_err())
}

/// `ValidatePodSpecificAnnotations`
pub(super) fn annotations(metadata: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    for (key, value) in entries(metadata, "annotations") {
        let own = value.as_str().unwrap_or_default();
        match *key {
            MIRROR if text(pod.spec, "nodeName").is_empty() => {
                found.invalid(&path.key(key), *value, "must set spec.nodeName if mirror pod annotation is set");
            }
            DELETION_COST if !pod.allows.deletion_cost && (own.is_empty() || is_wrong_cost(own)) => {
                found.invalid(&path.key(key), *value, "must be a 32bit integer");
            }
            "seccomp.security.alpha.kubernetes.io/pod" => seccomp(own, &path.child(key), found),
            key if key.starts_with("container.seccomp.security.alpha.kubernetes.io/") => {
                seccomp(own, &path.child(key), found);
            }
            key => {
                let Some(name) = key.strip_prefix(APP_ARMOR) else { continue };
                if !all_containers(pod.spec).any(|(.., item)| text(item, "name") == name) {
                    found.invalid(&path.key(key), Value::String(name), "container not found");
                }
                if !matches!(own, "" | "runtime/default" | "unconfined") && !own.starts_with("localhost/") {
                    let detail = format!("invalid AppArmor profile name: {own:?}");
                    found.invalid(&path.key(key), *value, detail);
                }
            }
        }
    }
}

/// `ValidateSeccompProfile`
fn seccomp(profile: &str, path: &Path<'_>, found: &mut Found) {
    let value = Value::String(profile);
    if matches!(profile, "runtime/default" | "docker/default" | "unconfined") {
        return;
    }
    match profile.strip_prefix("localhost/") {
        Some(local) => found.messages(path, Value::String(local), local_path(local)),
        None => found.invalid(path, value, "must be a valid seccomp profile"),
    }
}

/// Checks that the annotations and fields for profiles agree: `validateSeccompAnnotationsAndFields`,
/// `validateAppArmorAnnotationsAndFieldsMatchOnCreate`.
pub(super) fn profiles(metadata: Value<'_>, spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let annotations = get(metadata, "annotations");
    if annotations.is_null() {
        return;
    }
    let compare = |profile: Value<'_>, annotation: &str, path: &Path<'_>, what: &str, found: &mut Found| {
        let is_right = match text(profile, "type") {
            "Unconfined" => annotation == "unconfined",
            "RuntimeDefault" => annotation == "runtime/default" || what == "seccomp" && annotation == "docker/default",
            "Localhost" => match annotation.strip_prefix("localhost/") {
                None => false,
                Some(name) => {
                    if profile.get("localhostProfile").and_then(Value::as_str) != Some(name) {
                        let detail = format!("{what} profile in annotation and field must match");
                        found.forbidden(&path.child("localhostProfile"), detail);
                    }
                    true
                }
            },
            _ => true,
        };
        if !is_right {
            found.forbidden(&path.child("type"), format!("{what} type in annotation and field must match"));
        }
    };
    let own = get(spec, "securityContext");
    if let (Some(profile), Some(annotation)) =
        (own.get("seccompProfile"), annotations.get("seccomp.security.alpha.kubernetes.io/pod"))
    {
        let path = path.child("securityContext");
        compare(profile, annotation.as_str().unwrap_or_default(), &path.child("seccompProfile"), "seccomp", found);
    }
    for (field, index, container) in all_containers(spec) {
        let name = text(container, "name");
        let context = get(container, "securityContext");
        let path = path.child(field);
        let path = path.index(index);
        let path = path.child("securityContext");
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
        if let (Some(profile), Some(annotation)) = (context.get("seccompProfile"), annotations.get(&key)) {
            let annotation = annotation.as_str().unwrap_or_default();
            compare(profile, annotation, &path.child("seccompProfile"), "seccomp", found);
        }
        let profile = context.get("appArmorProfile").or_else(|| own.get("appArmorProfile"));
        let is_windows = text(get(spec, "os"), "name") == "windows";
        let annotation = annotations.get(&format!("{APP_ARMOR}{name}"));
        if let (Some(profile), Some(annotation), false) = (profile, annotation, is_windows) {
            let annotation = annotation.as_str().unwrap_or_default();
            compare(profile, annotation, &path.child("appArmorProfile"), "apparmor", found);
        }
    }
}

/// Checks the template of a kind that has it at a special place.
pub(super) fn template_of_kind(at: &At<'_, '_>, found: &mut Found) {
    let at_root = template_at(at.scope.kind);
    let old = at_root.iter().fold(at.scope.old.unwrap_or(Value::Null), |value, key| get(value, key));
    pod_template(at.value, old, true, &[], at.path, found);
}

/// `ValidatePodTemplateSpec`. `is_named` says that host names are checked. `added` are the volumes that the kind adds.
pub(in super::super) fn pod_template(
    template: Value<'_>,
    old: Value<'_>,
    is_named: bool,
    added: &[&str],
    path: &Path<'_>,
    found: &mut Found,
) {
    let metadata = get(template, "metadata");
    let spec = get(template, "spec");
    let mut pod = Pod::new(spec, Value::Null, get(old, "spec"), false);
    pod.is_named = is_named;
    pod.added = added.iter().copied().collect();
    metadata_of_template(metadata, path, found);
    annotations(metadata, &pod, &path.child("annotations"), found);
    let spec_path = path.child("spec");
    check_spec(&mut pod, &spec_path, found);
    profiles(metadata, spec, &spec_path, found);
    if !items(spec, "ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        found.forbidden(&spec_path.child("ephemeralContainers"), detail);
    }
}

/// Checks the annotations of a template that are about its pods.
pub(in super::super) fn template_annotations(template: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let pod = Pod::new(get(template, "spec"), Value::Null, Value::Null, false);
    annotations(get(template, "metadata"), &pod, &path.child("annotations"), found);
}

/// Checks the labels and annotations of a template.
pub(in super::super) fn metadata_of_template(metadata: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let texts = |key: &str| -> Vec<(&str, &str)> {
        entries(metadata, key).iter().filter_map(|(key, value)| Some((*key, value.as_str()?))).collect()
    };
    metadata::labels(&texts("labels"), &path.child("labels"), 0, &mut found.errors);
    metadata::annotations(&texts("annotations"), &path.child("annotations"), 0, &mut found.errors);
}

/// Returns whether a label selector does not match the labels of a template, or `None` if the selector is invalid.
pub(in super::super) fn selector_mismatch(selector: Value<'_>, template: Value<'_>) -> Option<bool> {
    if selector.is_null() {
        return Some(true);
    }
    let mut wrong = Found::default();
    label_selector(selector, &Path::Root, &mut wrong);
    if !wrong.errors.is_empty() {
        return None;
    }
    let labels = get(get(template, "metadata"), "labels");
    let has = |(key, value): &(&str, Value<'_>)| labels.get(key).and_then(Value::as_str) == value.as_str();
    let holds = |item: &Value<'_>| {
        let value = labels.get(text(*item, "key"));
        let is_one = || items(*item, "values").iter().any(|one| Some(one.as_str()) == value.map(Value::as_str));
        match text(*item, "operator") {
            "In" => value.is_some() && is_one(),
            "NotIn" => value.is_none() || !is_one(),
            "Exists" => value.is_some(),
            _ => value.is_none(),
        }
    };
    let all = entries(selector, "matchLabels").iter().all(has);
    Some(!(all && items(selector, "matchExpressions").iter().all(holds)))
}
