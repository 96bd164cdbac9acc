//! Rules of `admissionregistration.k8s.io`. Expressions are not compiled here, but in `kubeshape-policy`.

use super::common::{one_of, repeated, required_as, same, segment, texts};
use super::{Names, get, items, number, text};
use crate::builtin::BuiltInKind;
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found, Scope};
use crate::{names, webhook};
use kubeshape_schema::field::{Error, Path};
use kubeshape_schema::parse_group_version;
use kubeshape_structural::written::Service;
use kubeshape_value::Value;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("webhooks", webhooks),
    ("admission policy", policy),
    ("admission policy status", policy_status),
    ("admission policy binding", binding),
    ("mutating admission policy", mutating_policy),
    ("mutating admission policy binding", mutating_binding),
];

/// The maximum length of the expression of an audit annotation, in bytes.
pub const MAX_ANNOTATION_EXPRESSION: usize = 5 * 1024;

/// Returns the errors of a new object of `admissionregistration.k8s.io`, except those of metadata and expressions. The
/// object must be decoded, with defaults. Objects of other kinds have no errors.
///
/// # Example
/// ```
/// use kubeshape_validate::builtin::{BuiltInKind, admission_errors};
/// use kubeshape_validate::Release;
/// use kubeshape_value::{Bump, ToValue};
///
/// let kind = BuiltInKind::new("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", Release::DEFAULT);
/// let arena = Bump::new();
/// let object = serde_json::json!({"kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "a"},
///     "spec": {"policyName": "a"}});
/// let errors = admission_errors(object.to_value(&arena), &kind.unwrap());
/// assert_eq!(errors[0].to_string(), "spec.validationActions: Required value: at least one validation action is required");
/// ```
pub fn admission_errors(object: Value<'_>, metadata: &BuiltInKind) -> Vec<Error> {
    let kind = text(object, "kind");
    let check = match kind {
        "ValidatingAdmissionPolicy" => policy,
        "MutatingAdmissionPolicy" => mutating_policy,
        "ValidatingAdmissionPolicyBinding" => binding,
        "MutatingAdmissionPolicyBinding" => mutating_binding,
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => webhooks,
        _ => return Vec::new(),
    };
    let mut found = Found::default();
    let scope = Scope { root: object, old: None, kind, metadata, namespaced: false };
    check(&At { value: object, path: &Path::Root, scope: &scope }, &mut found);
    found.errors.into_vec()
}

const FAILURE: [&str; 2] = ["Fail", "Ignore"];
const MATCH: [&str; 2] = ["Equivalent", "Exact"];
const REINVOCATION: [&str; 2] = ["IfNeeded", "Never"];
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
const NO_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];

/// Checks that a text, if present, is one of a list.
fn supported(value: Value<'_>, key: &str, allowed: &[&str], path: &Path<'_>, found: &mut Found) {
    let member = get(value, key);
    if !member.is_null() && !allowed.contains(&member.as_str().unwrap_or_default()) {
        found.not_supported(&path.child(key), member, allowed);
    }
}

fn selector(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let selector = get(value, key);
    if !selector.is_null() {
        form::selector(selector, &path.child(key), found);
    }
}

/// `ValidateMutatingWebhookConfiguration`, `ValidateValidatingWebhookConfiguration`
fn webhooks(at: &At<'_, '_>, found: &mut Found) {
    let hooks = items(at.value, "webhooks");
    let old = at.scope.old.map(|old| items(old, "webhooks"));
    let all_old = |check: &dyn Fn(Value<'_>) -> bool| old.is_none_or(|old| old.iter().all(|hook| check(*hook)));
    let effects_free = all_old(&|hook| NO_EFFECTS.contains(&text(hook, "sideEffects")));
    let reviews_known = all_old(&|hook| {
        let versions = texts(items(hook, "admissionReviewVersions"));
        versions.iter().any(|version| REVIEWS.contains(version))
    });
    let unique = old.is_none_or(|old| repeated(old.iter().map(|hook| text(*hook, "name"))).is_empty());
    let keeps_conditions = old.is_some_and(|old| {
        old.len() == hooks.len() && old.iter().zip(hooks).all(|(old, new)| same(*old, *new, "matchConditions"))
    });
    let path = at.path.child("webhooks");
    let mut seen = BTreeSet::new();
    for (at, hook) in hooks.iter().enumerate() {
        let path = path.index(at);
        webhook(*hook, effects_free, &path, found);
        if !keeps_conditions {
            match_conditions(*hook, &path, found);
        }
        review_versions(*hook, reviews_known, &path, found);
        let name = text(*hook, "name");
        if unique && !name.is_empty() && !seen.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
    }
}

fn webhook(hook: Value<'_>, effects_free: bool, path: &Path<'_>, found: &mut Found) {
    const EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
    qualified_name(text(hook, "name"), &path.child("name"), found);
    let rules = path.child("rules");
    for (at, rule) in items(hook, "rules").iter().enumerate() {
        rule_with_operations(*rule, &rules.index(at), found);
    }
    supported(hook, "failurePolicy", &FAILURE, path, found);
    supported(hook, "matchPolicy", &MATCH, path, found);
    let allowed: &[&str] = if effects_free { &NO_EFFECTS } else { &EFFECTS };
    if get(hook, "sideEffects").is_null() {
        found.required(&path.child("sideEffects"), format!("must specify one of {}", allowed.join(", ")));
    }
    supported(hook, "sideEffects", allowed, path, found);
    if let Some(seconds) = number(hook, "timeoutSeconds")
        && !(1..=30).contains(&seconds)
    {
        let detail = "the timeout value must be between 1 and 30 seconds";
        found.invalid(&path.child("timeoutSeconds"), Value::Int(seconds), detail);
    }
    selector(hook, "namespaceSelector", path, found);
    selector(hook, "objectSelector", path, found);
    supported(hook, "reinvocationPolicy", &REINVOCATION, path, found);
    let config = get(hook, "clientConfig");
    let (url, service) = (get(config, "url"), get(config, "service"));
    let path = path.child("clientConfig");
    match (url.as_str(), service.is_null()) {
        (None, true) | (Some(_), false) => found.required(&path, "exactly one of url or service is required"),
        (Some(url), true) => webhook::url(url, &path.child("url"), 0, &mut found.errors),
        (None, false) => {
            let port = number(service, "port").and_then(|port| i32::try_from(port).ok());
            let (namespace, name) = (text(service, "namespace"), text(service, "name"));
            let service = Service { namespace, name, path: get(service, "path").as_str(), port };
            webhook::service(&service, &path.child("service"), &|_| 0, &mut found.errors);
        }
    }
}

/// `IsFullyQualifiedName`
fn qualified_name(name: &str, path: &Path<'_>, found: &mut Found) {
    let value = Value::String(name);
    if name.is_empty() {
        return found.required(path, "");
    }
    let messages = names::dns1123_subdomain(name);
    if !messages.is_empty() {
        return found.invalid(path, value, messages.join(","));
    }
    if name.split('.').count() < 3 {
        found.invalid(path, value, "should be a domain with at least three segments separated by dots");
    }
}

/// `validateAdmissionReviewVersions`
fn review_versions(hook: Value<'_>, must_know: bool, path: &Path<'_>, found: &mut Found) {
    let versions = texts(items(hook, "admissionReviewVersions"));
    let path = path.child("admissionReviewVersions");
    let known = REVIEWS.join(", ");
    if versions.is_empty() {
        return found.required(&path, format!("must specify one of {known}"));
    }
    let mut seen = BTreeSet::new();
    for (at, version) in versions.iter().enumerate() {
        let value = Value::String(version);
        if !seen.insert(version) {
            found.invalid(&path.index(at), value, "duplicate version");
            continue;
        }
        found.messages(&path.index(at), value, names::dns1035_label(version));
    }
    if must_know && !versions.iter().any(|version| REVIEWS.contains(version)) {
        let value = get(hook, "admissionReviewVersions");
        found.invalid(&path, value, format!("must include at least one of {known}"));
    }
}

/// `validateRuleWithOperations`
fn rule_with_operations(rule: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
    let operations = texts(items(rule, "operations"));
    let operations_path = path.child("operations");
    if operations.is_empty() {
        found.required(&operations_path, "");
    }
    only_wildcard(rule, "operations", "operations", path, found);
    for (at, operation) in operations.iter().enumerate().filter(|(_, operation)| !OPERATIONS.contains(operation)) {
        found.not_supported(&operations_path.index(at), Value::String(operation), &OPERATIONS);
    }
    for (key, what) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        if items(rule, key).is_empty() {
            found.required(&path.child(key), "");
        }
        only_wildcard(rule, key, what, path, found);
    }
    let versions = path.child("apiVersions");
    for (at, version) in texts(items(rule, "apiVersions")).iter().enumerate() {
        if version.is_empty() {
            found.required(&versions.index(at), "");
        }
    }
    resources(rule, &path.child("resources"), found);
    supported(rule, "scope", &SCOPES, path, found);
}

fn only_wildcard(rule: Value<'_>, key: &str, what: &str, path: &Path<'_>, found: &mut Found) {
    let list = texts(items(rule, key));
    if list.len() > 1 && list.contains(&"*") {
        let detail = format!("if '*' is present, must not specify other {what}");
        found.invalid(&path.child(key), get(rule, key), detail);
    }
}

/// `validateResources`
fn resources(rule: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let list = texts(items(rule, "resources"));
    let value = get(rule, "resources");
    if list.is_empty() {
        found.required(path, "");
    }
    let (mut wild_subresources, mut wild_resources) = (BTreeSet::new(), BTreeSet::new());
    let mut has_plain = false;
    for (at, item) in list.iter().enumerate() {
        let path = path.index(at);
        if item.is_empty() {
            found.required(&path, "");
            continue;
        }
        let Some((resource, sub)) = item.split_once('/') else {
            has_plain = *item != "*";
            continue;
        };
        if wild_subresources.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {item}");
            found.invalid(&path, Value::String(item), detail);
        }
        if wild_resources.contains(sub) {
            let detail = format!("if '*/{sub}' is present, must not specify {item}");
            found.invalid(&path, Value::String(item), detail);
        }
        if sub == "*" {
            wild_subresources.insert(resource);
        }
        if resource == "*" {
            wild_resources.insert(sub);
        }
    }
    if list.len() > 1 && list.contains(&"*/*") {
        found.invalid(path, value, "if '*/*' is present, must not specify other resources");
    }
    if has_plain && list.contains(&"*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        found.invalid(path, value, detail);
    }
}

/// `validateMatchConditions`
fn match_conditions(owner: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 64;
    let path = path.child("matchConditions");
    let list = items(owner, "matchConditions");
    if list.len() > MOST {
        found.too_many(&path, list.len(), MOST);
    }
    let mut seen = BTreeSet::new();
    for (at, condition) in list.iter().enumerate() {
        let path = path.index(at);
        if text(*condition, "expression").trim().is_empty() {
            found.required(&path.child("expression"), "");
        }
        required_as(*condition, "name", names::qualified_name, &path, found);
        let name = text(*condition, "name");
        if !name.is_empty() && !seen.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
    }
}

/// `validateMatchResources`
fn match_resources(owner: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let resources = get(owner, key);
    let path = path.child(key);
    if resources.is_null() {
        return;
    }
    if get(resources, "matchPolicy").is_null() {
        found.required(&path.child("matchPolicy"), "");
    }
    supported(resources, "matchPolicy", &MATCH, &path, found);
    for key in ["namespaceSelector", "objectSelector"] {
        if get(resources, key).is_null() {
            found.required(&path.child(key), "");
        }
        selector(resources, key, &path, found);
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        let path = path.child(key);
        for (at, rule) in items(resources, key).iter().enumerate() {
            let path = path.index(at);
            let names_path = path.child("resourceNames");
            let list = texts(items(*rule, "resourceNames"));
            let mut seen = BTreeSet::new();
            for (at, name) in list.iter().enumerate() {
                found.messages(&names_path.index(at), Value::String(name), segment(name));
                if !seen.insert(name) {
                    found.duplicate(&names_path.index(at), Value::String(name));
                }
            }
            rule_with_operations(*rule, &path, found);
        }
    }
}

/// `validateValidatingAdmissionPolicySpec`, without expressions.
fn policy(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    any_policy(at, spec, &path, found);
    variables(spec, &path, found);
    let (validations, annotations) = (items(spec, "validations"), items(spec, "auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        for key in ["validations", "auditAnnotations"] {
            found.required(&path.child(key), "validations or auditAnnotations must contain at least one item");
        }
        return;
    }
    let validations_path = path.child("validations");
    for (at, item) in validations.iter().enumerate() {
        validation(*item, &validations_path.index(at), found);
    }
    let policy = text(get(at.value, "metadata"), "name");
    audit_annotations(annotations, get(spec, "auditAnnotations"), policy, &path.child("auditAnnotations"), found);
}

/// Checks the fields that both kinds of policies have.
fn any_policy(at: &At<'_, '_>, spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if get(spec, "failurePolicy").is_null() {
        found.required(&path.child("failurePolicy"), "");
    }
    supported(spec, "failurePolicy", &FAILURE, path, found);
    param_kind(get(spec, "paramKind"), &path.child("paramKind"), found);
    if get(spec, "matchConstraints").is_null() {
        found.required(&path.child("matchConstraints"), "");
    } else {
        match_resources(spec, "matchConstraints", path, found);
        if items(get(spec, "matchConstraints"), "resourceRules").is_empty() {
            let path = path.child("matchConstraints");
            found.required(&path.child("resourceRules"), "");
        }
    }
    let keeps_conditions = at.scope.old.is_some_and(|old| {
        let of = |spec: Value<'_>| ["matchConditions", "paramKind"].map(|key| get(spec, key).to_string());
        of(get(old, "spec")) == of(spec)
    });
    if !keeps_conditions {
        match_conditions(spec, path, found);
    }
}

fn variables(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let variables = path.child("variables");
    for (at, variable) in items(spec, "variables").iter().enumerate() {
        let path = variables.index(at);
        for key in ["name", "expression"] {
            if text(*variable, key).trim().is_empty() {
                found.required(&path.child(key), format!("{key} is not specified"));
            }
        }
        let name = text(*variable, "name");
        if !name.trim().is_empty() && !kubeshape_cel::escape::is_identifier(name) {
            found.invalid(&path.child("name"), Value::String(name), "must be a valid CEL identifier");
        }
    }
}

/// `validateMutatingAdmissionPolicySpec`, without expressions.
fn mutating_policy(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    any_policy(at, spec, &path, found);
    mutating_operations(spec, "matchConstraints", &path, found);
    variables(spec, &path, found);
    let mutations = items(spec, "mutations");
    let mutations_path = path.child("mutations");
    if mutations.is_empty() {
        found.required(&mutations_path, "mutations must contain at least one item");
    }
    for (at, item) in mutations.iter().enumerate() {
        mutation(*item, &mutations_path.index(at), found);
    }
    one_of(spec, "reinvocationPolicy", &REINVOCATION, &path, found);
}

/// `validateMutation`
fn mutation(item: Value<'_>, path: &Path<'_>, found: &mut Found) {
    one_of(item, "patchType", &["ApplyConfiguration", "JSONPatch"], path, found);
    let patch_type = text(item, "patchType");
    // Upstream shows the name of the field instead of its value.
    let (own, other, shown) = match patch_type {
        "JSONPatch" => ("jsonPatch", "applyConfiguration", "{applyConfiguration}"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", "{jsonPatch}"),
        _ => return,
    };
    let own_path = path.child(own);
    let patch = get(item, own);
    if patch.is_null() {
        found.required(&own_path, format!("must be specified when patchType is {patch_type}"));
    } else if text(patch, "expression").trim().is_empty() {
        found.required(&own_path.child("expression"), "");
    }
    if !get(item, other).is_null() {
        let detail = format!("must not be specified when patchType is {patch_type}");
        found.invalid(&path.child(other), Value::String(shown), detail);
    }
}

/// Checks that the rules of a mutating policy do not name deletions.
fn mutating_operations(owner: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    const OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
    let path = path.child(key);
    let path = path.child("resourceRules");
    // Upstream does not say which rule it is.
    let path = path.child("operations");
    for rule in items(get(owner, key), "resourceRules") {
        for operation in texts(items(*rule, "operations")) {
            if !OPERATIONS.contains(&operation) {
                found.not_supported(&path, Value::String(operation), &OPERATIONS);
            }
        }
    }
}

fn audit_annotations(list: &[Value<'_>], value: Value<'_>, policy: &str, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 20;
    if list.len() > MOST {
        found.invalid(path, value, format!("must not have more than {MOST} auditAnnotations"));
    }
    let mut seen = BTreeSet::new();
    for (at, item) in list.iter().enumerate() {
        let path = path.index(at);
        let key = text(*item, "key");
        if policy.is_empty() {
            found.invalid(&path.child("key"), Value::String(key), "requires metadata.name be non-empty");
        } else {
            let name = format!("{policy}/{key}");
            found.messages(&path.child("key"), Value::String(&name), names::qualified_name(&name));
        }
        let expression = text(*item, "valueExpression").trim();
        if expression.is_empty() {
            found.required(&path.child("valueExpression"), "valueExpression is not specified");
        } else if expression.len() > MAX_ANNOTATION_EXPRESSION {
            let detail = format!("must not exceed {MAX_ANNOTATION_EXPRESSION} bytes in length");
            found.required(&path.child("valueExpression"), detail);
        }
        if !seen.insert(key) {
            found.duplicate(&path.child("key"), Value::String(key));
        }
    }
}

fn validation(item: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    if text(item, "expression").trim().is_empty() {
        found.required(&path.child("expression"), "expression is not specified");
    }
    for key in ["messageExpression", "message"] {
        let (value, written) = (get(item, key), text(item, key));
        if !written.is_empty() && written.trim().is_empty() {
            found.invalid(&path.child(key), value, "must be non-empty if specified");
        } else if key == "message" && written.trim().contains(['\n', '\r']) {
            found.invalid(&path.child(key), value, "must not contain line breaks");
        }
    }
    supported(item, "reason", &REASONS, path, found);
}

/// `validateParamKind`
fn param_kind(param: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if param.is_null() {
        return;
    }
    let (version, kind) = (text(param, "apiVersion"), text(param, "kind"));
    let version_path = path.child("apiVersion");
    let value = Value::String(version);
    match parse_group_version(version) {
        _ if version.is_empty() => found.required(&version_path, ""),
        Err(error) => found.invalid(&version_path, value, error),
        Ok((group, version)) => {
            let messages = if group.is_empty() { Vec::new() } else { names::dns1123_subdomain(group) };
            if !messages.is_empty() {
                found.invalid(&version_path, Value::String(group), messages.join(","));
            }
            let messages = names::dns1035_label(version);
            if version.is_empty() {
                found.invalid(&version_path, value, "version must be specified");
            } else if !messages.is_empty() {
                found.invalid(&version_path, Value::String(version), messages.join(","));
            }
        }
    }
    let messages = names::dns1035_label(&kind.to_lowercase());
    if kind.is_empty() {
        found.required(&path.child("kind"), "");
    } else if !messages.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", messages.join(","));
        found.invalid(&path.child("kind"), Value::String(kind), detail);
    }
}

/// `validateValidatingAdmissionPolicyStatus`
fn policy_status(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    let checking = path.child("typeChecking");
    let warnings = checking.child("expressionWarnings");
    for (at, warning) in items(get(status, "typeChecking"), "expressionWarnings").iter().enumerate() {
        let path = warnings.index(at);
        for key in ["warning", "fieldRef"] {
            if text(*warning, key).is_empty() {
                found.required(&path.child(key), "");
            }
        }
    }
    super::scaling::conditions(status, &path, found);
}

/// `validateValidatingAdmissionPolicyBindingSpec`
fn binding(at: &At<'_, '_>, found: &mut Found) {
    const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    any_binding(spec, &path, found);
    let actions = texts(items(spec, "validationActions"));
    let path = path.child("validationActions");
    let mut seen = BTreeSet::new();
    for (at, action) in actions.iter().enumerate() {
        let (path, value) = (path.index(at), Value::String(action));
        if !ACTIONS.contains(action) {
            found.not_supported(&path, value, &ACTIONS);
        }
        if !seen.insert(action) {
            found.duplicate(&path, value);
        }
    }
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                      response and headers serves no purpose)";
        found.invalid(&path, get(spec, "validationActions"), detail);
    }
    if actions.is_empty() {
        found.required(&path, "at least one validation action is required");
    }
}

/// `validateMutatingAdmissionPolicyBindingSpec`
fn mutating_binding(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    any_binding(spec, &path, found);
    mutating_operations(spec, "matchResources", &path, found);
}

/// Checks the fields that both kinds of bindings have.
fn any_binding(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    required_as(spec, "policyName", names::dns1123_subdomain, path, found);
    param_reference(get(spec, "paramRef"), &path.child("paramRef"), found);
    match_resources(spec, "matchResources", path, found);
}

/// `validateParamRef`
fn param_reference(reference: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const ACTIONS: [&str; 2] = ["Deny", "Allow"];
    if reference.is_null() {
        return;
    }
    let name = text(reference, "name");
    let has_selector = !get(reference, "selector").is_null();
    if !name.is_empty() {
        found.messages(&path.child("name"), Value::String(name), segment(name));
        if has_selector {
            found.forbidden(&path.child("name"), "name and selector are mutually exclusive");
        }
    }
    selector(reference, "selector", path, found);
    if has_selector && !name.is_empty() {
        found.forbidden(&path.child("selector"), "name and selector are mutually exclusive");
    }
    if name.is_empty() && !has_selector {
        found.required(path, "one of name or selector must be specified");
    }
    one_of(reference, "parameterNotFoundAction", &ACTIONS, path, found);
}
