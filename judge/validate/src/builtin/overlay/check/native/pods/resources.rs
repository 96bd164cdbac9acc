//! Requests and limits: `validateResourceRequirements`.

use super::super::super::Found;
use super::super::limits::{container_resource, is_huge_page as is_page, is_native, quantity_value, resource};
use super::{Pod, all_containers, check_text, entries, get, items, text};
use crate::names;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;

pub(super) fn quantity(value: Value<'_>) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}

fn pod_name(own: &str, path: &Path<'_>, found: &mut Found) {
    if resource(own, path, found) && !matches!(own, "cpu" | "memory") && !is_page(own) {
        found.not_supported(path, Value::String(own), &["cpu", "hugepages-", "memory"]);
    }
}

/// `validateResourceQuantityHugePageValue`
fn pages(name: &str, value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if !is_divisible(name, value) {
        let text = value.as_str().unwrap_or_default();
        found.invalid(path, value, format!("{text} is not positive integer multiple of {name}"));
    }
}

fn is_divisible(name: &str, value: Value<'_>) -> bool {
    let size = name.strip_prefix("hugepages-").and_then(|size| Quantity::parse(size).ok());
    let size = size.and_then(|size| size.as_int()).filter(|size| *size > 0);
    let amount = quantity(value).and_then(|amount| amount.rounded_up(0).as_int());
    size.zip(amount).is_some_and(|(size, amount)| amount % size == 0)
}

pub(super) fn has_indivisible_pages(spec: Value<'_>) -> bool {
    all_containers(spec).any(|(.., container)| {
        let resources = get(container, "resources");
        let all = ["limits", "requests"].into_iter().flat_map(|key| entries(resources, key));
        all.into_iter().any(|(name, value)| is_page(name) && !is_divisible(name, *value))
    })
}

/// Checks the resources of a container: `ValidateContainerResourceRequirements`.
pub(super) fn of_container(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let own = get(container, "resources");
    requirements(own, container_resource, pod.allows.huge_pages, path, found);
    claims(items(own, "claims"), pod, &path.child("claims"), found);
}

/// Checks amounts like limits.
pub(super) fn limits(list: Value<'_>, path: &Path<'_>, huge_pages: bool, found: &mut Found) {
    let path = path.child("limits");
    list_of(list, container_resource, huge_pages, &path, found);
}

fn list_of(
    list: Value<'_>,
    check_name: fn(&str, &Path<'_>, &mut Found),
    huge_pages: bool,
    path: &Path<'_>,
    found: &mut Found,
) {
    for (name, value) in list.as_map().map(kubeshape_value::Map::entries).unwrap_or_default() {
        let path = path.key(name);
        check_name(name, &path, found);
        quantity_value(name, *value, &path, found);
        if is_page(name) && !huge_pages {
            pages(name, *value, &path, found);
        }
    }
}

/// `validateResourceRequirements`, without the checks of claims.
pub(in super::super) fn requirements(
    own: Value<'_>,
    check_name: fn(&str, &Path<'_>, &mut Found),
    huge_pages: bool,
    path: &Path<'_>,
    found: &mut Found,
) {
    let (limits_path, requests_path) = (path.child("limits"), path.child("requests"));
    list_of(get(own, "limits"), check_name, huge_pages, &limits_path, found);
    for (name, value) in entries(own, "requests") {
        let key_path = requests_path.key(name);
        check_name(name, &key_path, found);
        quantity_value(name, *value, &key_path, found);
        let may_differ = is_native(name) && !is_page(name);
        match get(own, "limits").get(name) {
            Some(limit) => {
                let order = quantity(*value).zip(quantity(limit)).map(|(value, limit)| value.cmp(&limit));
                let limit = limit.as_str().unwrap_or_default();
                if !may_differ && order.is_some_and(|order| order != Ordering::Equal) {
                    found.invalid(&requests_path, *value, format!("must be equal to {name} limit of {limit}"));
                } else if order == Some(Ordering::Greater) {
                    let detail = format!("must be less than or equal to {name} limit of {limit}");
                    found.invalid(&requests_path, *value, detail);
                }
            }
            None if !may_differ => found.required(&limits_path, "Limit must be set for non overcommitable resources"),
            None => {}
        }
        if is_page(name) && !huge_pages {
            pages(name, *value, &key_path, found);
        }
    }
    let mut all = ["limits", "requests"].into_iter().flat_map(|key| entries(own, key)).map(|(name, _)| *name);
    let has_pages = all.clone().any(is_page);
    if has_pages && !all.any(|name| matches!(name, "cpu" | "memory")) {
        found.forbidden(path, "HugePages require cpu or memory");
    }
}

/// `validateResourceClaimNames`
fn claims(claims: &[Value<'_>], pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let path = path.index(index);
        let (name, request) = (text(*claim, "name"), text(*claim, "request"));
        if name.is_empty() {
            found.required(&path, "");
            continue;
        }
        if seen.contains(name) {
            found.duplicate(&path, Value::String(name));
        } else {
            check_text(*claim, "request", &path, names::dns1123_label, found);
            let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
            if seen.contains(&key) {
                found.duplicate(&path, Value::String(&key));
            } else if request.is_empty() && !name.contains('/') {
                let below = format!("{name}/");
                let overlaps = seen.range(below.clone()..).take_while(|other| other.starts_with(&below)).count();
                found.duplicates(&path, Value::String(name), overlaps);
            }
            seen.insert(key);
        }
        // Each error names all claims.
        if !pod.resource_claims.contains(name) && found.errors.is_full() {
            found.errors.skip();
        } else if !pod.resource_claims.contains(name) {
            let names: Vec<&str> = pod.resource_claims.iter().copied().collect();
            let rest = if names.is_empty() { " which is empty".to_owned() } else { format!(": {}", names.join(", ")) };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{rest}");
            found.not_found_with(&path, Value::String(name), detail);
        }
    }
}

/// `validatePodResources`
pub(super) fn pod_resources(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(own) = pod.spec.get("resources") else { return };
    let path = path.child("resources");
    if pod.os() == "windows" {
        return found.forbidden(&path, "may not be set for a windows pod");
    }
    if own.get("claims").is_some() {
        found.forbidden(&path.child("claims"), "claims may not be set for Resources at pod-level");
    }
    requirements(own, pod_name, pod.allows.huge_pages, &path, found);
    for (index, container) in items(pod.spec, "containers").iter().enumerate() {
        for (name, value) in entries(get(*container, "resources"), "limits") {
            let Some(most) = get(own, "limits").get(name) else { continue };
            let order = quantity(*value).zip(quantity(most)).map(|(value, most)| value.cmp(&most));
            if order == Some(Ordering::Greater) {
                let detail =
                    format!("must be less than or equal to pod limits of {}", most.as_str().unwrap_or_default());
                let path = path.child("containers");
                let path = path.index(index);
                let path = path.key(name);
                found.invalid(&path.child("limits"), *value, detail);
            }
        }
    }
}
