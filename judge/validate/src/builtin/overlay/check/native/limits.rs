//! Rules of names and quantities of resources: ResourceQuotas and LimitRanges.

use super::common::{IMMUTABLE, sign, texts};
use super::{Names, entries, get, items, text};
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("limit range", limit_range),
    ("resource quota", quota),
    ("resource quota change", quota_change),
    ("resource quota status", quota_status),
    ("overhead", overhead),
];

/// `standardContainerResources`
const CONTAINER: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Resources of quotas, except those that are counted as integers.
const QUOTA: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];
/// `integerResources`
const INTEGER: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// Returns whether a resource is for huge pages, also as a request in a quota.
pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_quota_huge_page(name: &str) -> bool {
    is_huge_page(name) || name.starts_with("requests.hugepages-")
}

fn is_quota_resource(name: &str) -> bool {
    QUOTA.contains(&name) || INTEGER.contains(&name) || is_quota_huge_page(name)
}

fn is_standard(name: &str) -> bool {
    is_quota_resource(name) || name == "storage"
}

/// `IsNativeResource`
pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// `IsExtendedResourceName`
pub(super) fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && names::qualified_name(&format!("requests.{name}")).is_empty()
}

fn is_integer(name: &str) -> bool {
    INTEGER.contains(&name) || is_extended(name)
}

/// Checks a name: `validateResourceName`. Returns whether it is valid.
pub(super) fn resource(name: &str, path: &Path<'_>, found: &mut Found) -> bool {
    let value = Value::String(name);
    let messages = names::qualified_name(name);
    let is_qualified = messages.is_empty();
    found.messages(path, value, messages);
    let is_known = name.contains('/') || is_standard(name);
    if is_qualified && !is_known {
        found.invalid(path, value, "must be a standard resource type or fully qualified");
    }
    is_qualified && is_known
}

/// `validateContainerResourceName`
pub(super) fn container_resource(name: &str, path: &Path<'_>, found: &mut Found) {
    resource(name, path, found);
    let value = Value::String(name);
    if !name.contains('/') {
        if !CONTAINER.contains(&name) && !is_huge_page(name) {
            found.invalid(path, value, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        found.invalid(path, value, "doesn't follow extended resource name standard");
    }
}

/// `ValidateResourceQuotaResourceName`, `ValidateResourceQuantityValue`
fn quota_resources(list: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let path = path.child(key);
    for (name, quantity) in entries(list, key) {
        let path = path.key(name);
        resource(name, &path, found);
        if !name.contains('/') && !is_quota_resource(name) {
            found.invalid(&path, Value::String(name), "must be a standard resource for quota");
        }
        quantity_value(name, *quantity, &path, found);
    }
}

/// `ValidateResourceQuantityValue`
pub(super) fn quantity_value(name: &str, quantity: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if sign(quantity) == Ordering::Less {
        found.invalid(path, quantity, form::NEGATIVE);
    }
    if is_integer(name) && !is_whole(quantity) {
        found.invalid(path, quantity, "must be an integer");
    }
}

fn is_whole(quantity: Value<'_>) -> bool {
    let parsed = Quantity::parse(quantity.as_str().unwrap_or("0")).ok();
    // Upstream rounds to thousandths first.
    let parsed = parsed.map(|quantity| quantity.rounded_up(-3));
    parsed.is_none_or(|quantity| quantity.is_same(&quantity.clone().rounded_up(0)))
}

/// `ValidateResourceQuotaSpec`
fn quota(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    quota_resources(spec, "hard", &path, found);
    let hard: Vec<&str> =
        entries(spec, "hard").iter().map(|(name, _)| *name).filter(|name| is_quota_resource(name)).collect();
    let scopes = texts(items(spec, "scopes"));
    let (scopes_path, value) = (path.child("scopes"), get(spec, "scopes"));
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            found.invalid(&scopes_path, value, "unsupported scope");
        }
        for _ in misfits(scope, &hard, found) {
            found.invalid(&scopes_path, value, "unsupported scope applied to resource");
        }
    }
    conflicting(&scopes, value, &scopes_path, found);
    let selector = get(spec, "scopeSelector");
    if !selector.is_null() {
        let path = path.child("scopeSelector");
        scope_selector(selector, &hard, &path.child("matchExpressions"), found);
    }
}

/// Returns the resources that a scope does not fit, or only the first one when there are too many errors.
fn misfits<'h>(scope: &str, hard: &'h [&str], found: &Found) -> impl Iterator<Item = &'h str> + use<'h> {
    let most = match scope {
        // Every resource fits an unknown scope.
        scope if !SCOPES.contains(&scope) => 0,
        _ if found.errors.is_full() => 1,
        _ => usize::MAX,
    };
    let all: Vec<&str> = hard.iter().copied().filter(|resource| !fits_scope(scope, resource)).take(most).collect();
    all.into_iter()
}

/// `IsResourceQuotaScopeValidForResource`
fn fits_scope(scope: &str, resource: &str) -> bool {
    const COMPUTE: [&str; 6] = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
    match scope {
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity" => {
            resource == "pods" || COMPUTE.contains(&resource)
        }
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

fn conflicting(scopes: &[&str], value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for (a, b) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if scopes.contains(&a) && scopes.contains(&b) {
            found.invalid(path, value, "conflicting scopes");
        }
    }
}

/// `validateScopedResourceSelectorRequirement`
fn scope_selector(selector: Value<'_>, hard: &[&str], path: &Path<'_>, found: &mut Found) {
    const EXISTS_ONLY: [&str; 5] =
        ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];
    let mut scopes = Vec::new();
    for item in items(selector, "matchExpressions") {
        let (scope, operator) = (text(*item, "scopeName"), text(*item, "operator"));
        let operator_value = Value::String(operator);
        if !SCOPES.contains(&scope) {
            found.invalid(&path.child("scopeName"), Value::String(scope), "unsupported scope");
        }
        for _ in misfits(scope, hard, found) {
            found.invalid(path, selector, "unsupported scope applied to resource");
        }
        if EXISTS_ONLY.contains(&scope) && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
                          ResourceQuotaScopeCrossNamespacePodAffinity";
            found.invalid(&path.child("operator"), operator_value, detail);
        }
        let values = items(*item, "values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                found.required(&path.child("values"), detail);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                found.invalid(&path.child("values"), get(*item, "values"), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => found.invalid(&path.child("operator"), operator_value, "not a valid selector operator"),
        }
        scopes.push(scope);
    }
    // Upstream names the other list of scopes.
    conflicting(&scopes, Value::Null, &Path::Child(&Path::Base("spec.scopeSelector"), "matchExpressions"), found);
}

fn quota_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let scopes = |object: Value<'_>| {
        texts(items(get(object, "spec"), "scopes")).into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    if scopes(at.value) != scopes(old) {
        let path = at.path.child("spec");
        found.invalid(&path.child("scopes"), get(get(at.value, "spec"), "scopes"), IMMUTABLE);
    }
}

fn quota_status(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    for key in ["hard", "used"] {
        quota_resources(status, key, &path, found);
    }
}

/// `ValidateLimitRange`
fn limit_range(at: &At<'_, '_>, found: &mut Found) {
    const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];
    let path = at.path.child("spec");
    let path = path.child("limits");
    let limits = items(get(at.value, "spec"), "limits");
    let mut seen = BTreeSet::new();
    for (at, limit) in limits.iter().enumerate() {
        let path = path.index(at);
        let kind = text(*limit, "type");
        let type_path = path.child("type");
        let messages = names::qualified_name(kind);
        if messages.is_empty() && !kind.contains('/') && !TYPES.contains(&kind) {
            found.invalid(&type_path, Value::String(kind), "must be a standard limit type or fully qualified");
        }
        found.messages(&type_path, Value::String(kind), messages);
        if !seen.insert(kind) {
            found.duplicate(&type_path, Value::String(kind));
        }
        limit_item(*limit, kind, &path, found);
    }
}

fn limit_item(limit: Value<'_>, kind: &str, path: &Path<'_>, found: &mut Found) {
    let lists: &[&str] = if kind == "Pod" {
        for key in ["default", "defaultRequest"] {
            if !entries(limit, key).is_empty() {
                found.forbidden(&path.child(key), "may not be specified when `type` is 'Pod'");
            }
        }
        &["max", "min", "maxLimitRequestRatio"]
    } else {
        &["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
    };
    let mut keys = BTreeSet::new();
    for key in lists {
        if *key == "maxLimitRequestRatio" && kind == "PersistentVolumeClaim" {
            let has = |key: &str| entries(limit, key).iter().any(|(name, _)| *name == "storage");
            if !has("min") && !has("max") {
                let detail = "either minimum or maximum storage value is required, but neither was provided";
                found.required(&path.child("limits"), detail);
            }
        }
        let path = path.child(key);
        for (name, _) in entries(limit, key) {
            keys.insert(*name);
            if matches!(kind, "Pod" | "Container") {
                container_resource(name, &path.key(name), found);
            } else {
                resource(name, &path.key(name), found);
            }
        }
    }
    for name in keys {
        limits_of(limit, kind == "Pod", name, path, found);
    }
}

/// The smaller and the larger of two limits, with their names in errors; the field of the error; and whether its value
/// is the larger one.
type Bound<'b> = ((&'b str, &'b str), (&'b str, &'b str), &'b str, bool);

fn limits_of(limit: Value<'_>, is_pod: bool, name: &str, path: &Path<'_>, found: &mut Found) {
    let of = |key: &str| {
        let text = get(get(limit, key), name).as_str().filter(|_| !(is_pod && key.starts_with("default")))?;
        Some((text, Quantity::parse(text).ok()?))
    };
    let bounds: [Bound<'_>; 6] = [
        (("min", "min"), ("max", "max"), "min", false),
        (("min", "min"), ("defaultRequest", "default request"), "defaultRequest", true),
        (("defaultRequest", "default request"), ("max", "max"), "defaultRequest", false),
        (("defaultRequest", "default request"), ("default", "default limit"), "defaultRequest", false),
        (("min", "min"), ("default", "default"), "default", false),
        (("default", "default"), ("max", "max"), "default", true),
    ];
    for ((small, small_name), (large, large_name), owner, shows_large) in bounds {
        let (Some(a), Some(b)) = (of(small), of(large)) else { continue };
        if a.1.compare(&b.1) == Ordering::Greater {
            let detail = format!("{small_name} value {} is greater than {large_name} value {}", a.0, b.0);
            let shown = Value::String(if shows_large { b.0 } else { a.0 });
            found.invalid(&path.child(owner).key(name), shown, detail);
        }
    }
    if let Some((text, ratio)) = of("maxLimitRequestRatio") {
        let path = path.child("maxLimitRequestRatio");
        let path = path.key(name);
        if Quantity::parse("1").is_ok_and(|one| ratio.compare(&one) == Ordering::Less) {
            found.invalid(&path, Value::String(text), format!("ratio {text} is less than 1"));
        }
        if let (Some((_, min)), Some((_, max))) = (of("min"), of("max")) {
            let most = max.approximate() / min.approximate();
            if ratio.approximate() > most {
                let most = if most.is_infinite() { "+Inf".to_owned() } else { format!("{most:.6}") };
                let detail = format!("ratio {text} is greater than max/min = {most}");
                found.invalid(&path, Value::String(text), detail);
            }
        }
    }
    // Resources that cannot be overcommitted.
    let can_overcommit = is_native(name) && !is_huge_page(name);
    if let (Some(default), Some(request)) = (of("default"), of("defaultRequest"))
        && !can_overcommit
        && !default.1.is_same(&request.1)
    {
        let detail = format!("default value {} must equal to defaultRequest value {} in {name}", default.0, request.0);
        found.invalid(&path.child("defaultRequest").key(name), Value::String(request.0), detail);
    }
}

/// Checks the limits of a RuntimeClass' overhead: `validateOverhead`.
fn overhead(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("limits");
    for (name, quantity) in entries(at.value, "podFixed") {
        let path = path.key(name);
        container_resource(name, &path, found);
        quantity_value(name, *quantity, &path, found);
    }
}
