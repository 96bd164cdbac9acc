//! Rules of `rbac.authorization.k8s.io`.

use super::common::{required_as, segment};
use super::{Names, get, items, text};
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

pub(super) const NAMES: Names = &[
    ("role", role),
    ("cluster role", cluster_role),
    ("role binding", role_binding),
    ("cluster role binding", cluster_role_binding),
    ("role reference", role_reference),
];

const GROUP: &str = "rbac.authorization.k8s.io";

/// `ValidateRole`
fn role(at: &At<'_, '_>, found: &mut Found) {
    rules(at, true, found);
}

/// `ValidateClusterRole`
fn cluster_role(at: &At<'_, '_>, found: &mut Found) {
    rules(at, false, found);
    let rule = get(at.value, "aggregationRule");
    if rule.is_null() {
        return;
    }
    let path = at.path.child("aggregationRule");
    let path = path.child("clusterRoleSelectors");
    let selectors = items(rule, "clusterRoleSelectors");
    if selectors.is_empty() {
        found.required(&path, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    for (at, selector) in selectors.iter().enumerate() {
        let path = path.index(at);
        let before = found.errors.len();
        form::selector(*selector, &path, found);
        if found.errors.len() > before {
            found.invalid(&path, Value::Null, "invalid label selector.");
        }
    }
}

/// `ValidatePolicyRule`
fn rules(at: &At<'_, '_>, is_namespaced: bool, found: &mut Found) {
    let rules = at.path.child("rules");
    for (at, rule) in items(at.value, "rules").iter().enumerate() {
        let path = rules.index(at);
        let is_empty = |key: &str| items(*rule, key).is_empty();
        if is_empty("verbs") {
            found.required(&path.child("verbs"), "verbs must contain at least one value");
        }
        if !is_empty("nonResourceURLs") {
            let (path, value) = (path.child("nonResourceURLs"), get(*rule, "nonResourceURLs"));
            if is_namespaced {
                found.invalid(&path, value, "namespaced rules cannot apply to non-resource URLs");
            }
            if ["apiGroups", "resources", "resourceNames"].iter().any(|key| !is_empty(key)) {
                found.invalid(&path, value, "rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        for (key, what) in [("apiGroups", "api group"), ("resources", "resource")] {
            if is_empty(key) {
                found.required(&path.child(key), format!("resource rules must supply at least one {what}"));
            }
        }
    }
}

/// `ValidateRoleBinding`
fn role_binding(at: &At<'_, '_>, found: &mut Found) {
    binding(at, &["Role", "ClusterRole"], true, found);
}

/// `ValidateClusterRoleBinding`
fn cluster_role_binding(at: &At<'_, '_>, found: &mut Found) {
    binding(at, &["ClusterRole"], false, found);
}

fn binding(at: &At<'_, '_>, kinds: &[&str], is_namespaced: bool, found: &mut Found) {
    let role = get(at.value, "roleRef");
    let path = at.path.child("roleRef");
    let (group, kind) = (text(role, "apiGroup"), text(role, "kind"));
    if group != GROUP {
        found.not_supported(&path.child("apiGroup"), Value::String(group), &[GROUP]);
    }
    if !kinds.contains(&kind) {
        found.not_supported(&path.child("kind"), Value::String(kind), kinds);
    }
    required_as(role, "name", segment, &path, found);
    let path = at.path.child("subjects");
    for (at, item) in items(at.value, "subjects").iter().enumerate() {
        subject(*item, is_namespaced, &path.index(at), found);
    }
}

/// `ValidateRoleBindingSubject`
fn subject(subject: Value<'_>, is_namespaced: bool, path: &Path<'_>, found: &mut Found) {
    const KINDS: [&str; 3] = ["ServiceAccount", "User", "Group"];
    let (name, group, kind) = (text(subject, "name"), text(subject, "apiGroup"), text(subject, "kind"));
    if name.is_empty() {
        found.required(&path.child("name"), "");
    }
    match kind {
        "ServiceAccount" => {
            if !name.is_empty() {
                found.messages(&path.child("name"), Value::String(name), names::dns1123_subdomain(name));
            }
            if !group.is_empty() {
                found.not_supported(&path.child("apiGroup"), Value::String(group), &[""]);
            }
            if !is_namespaced && text(subject, "namespace").is_empty() {
                found.required(&path.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                found.not_supported(&path.child("apiGroup"), Value::String(group), &[GROUP]);
            }
        }
        _ => found.not_supported(&path.child("kind"), Value::String(kind), &KINDS),
    }
}

fn role_reference(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "roleRef"), get(old, "roleRef"));
    if ["apiGroup", "kind", "name"].iter().any(|key| text(new, key) != text(old, key)) {
        found.invalid(&at.path.child("roleRef"), new, "cannot change roleRef");
    }
}
