//! Where pods run: affinity, tolerations, topology spread, resource claims.

use super::super::super::Found;
use super::super::super::form;
use super::{Pod, check_text, entries, get, items, number, string, text};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::BTreeSet;

/// `validatePodResourceClaims`
pub(super) fn resource_claims(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let mut names = BTreeSet::new();
    let is_mirror = get(pod.metadata, "annotations").get(crate::builtin::MIRROR).is_some();
    for (index, claim) in items(pod.spec, "resourceClaims").iter().enumerate() {
        if is_mirror {
            found.forbidden(&Path::Base("[]"), "static pods do not support resource claims");
            continue;
        }
        let path = path.index(index);
        let name = text(*claim, "name");
        if name.is_empty() {
            found.required(&path.child("name"), "");
        } else if !names.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        } else {
            found.messages(&path.child("name"), Value::String(name), names::dns1123_label(name));
        }
        let (own, template) = (claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName"));
        if own.is_some() && template.is_some() {
            let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
            found.invalid(&path, *claim, detail);
        }
        if own.is_none() && template.is_none() {
            let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
            found.invalid(&path, *claim, detail);
        }
        for key in ["resourceClaimName", "resourceClaimTemplateName"] {
            if let Some(own) = claim.get(key) {
                let messages = names::dns1123_subdomain(own.as_str().unwrap_or_default());
                found.messages(&path.child(key), own, messages);
            }
        }
    }
}

/// `validateAffinity`
pub(super) fn affinity(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let own = get(pod.spec, "affinity");
    if let Some(nodes) = own.get("nodeAffinity") {
        let path = path.child("nodeAffinity");
        if let Some(selector) = nodes.get(REQUIRED) {
            node_selector(selector, pod.allows.node_selectors, &path.child(REQUIRED), found);
        }
        let path = path.child(PREFERRED);
        for (index, term) in items(nodes, PREFERRED).iter().enumerate() {
            let path = path.index(index);
            weight(*term, &path, found);
            node_term(get(*term, "preference"), true, &path.child("preference"), found);
        }
    }
    for key in ["podAffinity", "podAntiAffinity"] {
        let Some(pods) = own.get(key) else { continue };
        let path = path.child(key);
        let required = path.child(REQUIRED);
        for (index, term) in items(pods, REQUIRED).iter().enumerate() {
            pod_term(*term, pod.allows.selectors, &required.index(index), found);
        }
        let preferred = path.child(PREFERRED);
        for (index, term) in items(pods, PREFERRED).iter().enumerate() {
            let path = preferred.index(index);
            weight(*term, &path, found);
            pod_term(get(*term, "podAffinityTerm"), pod.allows.selectors, &path.child("podAffinityTerm"), found);
        }
    }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn weight(term: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let weight = number(term, "weight").unwrap_or(0);
    if !(1..=100).contains(&weight) {
        found.invalid(&path.child("weight"), Value::Int(weight), "must be in the range 1-100");
    }
}

/// `ValidateNodeSelector`
pub(in super::super) fn node_selector(selector: Value<'_>, any_values: bool, path: &Path<'_>, found: &mut Found) {
    let path = path.child("nodeSelectorTerms");
    let terms = items(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        return found.required(&path, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        node_term(*term, any_values, &path.index(index), found);
    }
}

/// `ValidateNodeSelectorTerm`
fn node_term(term: Value<'_>, any_values: bool, path: &Path<'_>, found: &mut Found) {
    let expressions = path.child("matchExpressions");
    for (index, item) in items(term, "matchExpressions").iter().enumerate() {
        form::requirement(*item, true, any_values, &expressions.index(index), found);
    }
    let fields = path.child("matchFields");
    for (index, item) in items(term, "matchFields").iter().enumerate() {
        let path = fields.index(index);
        let values = items(*item, "values");
        let operator = string(get(*item, "operator"));
        match operator.as_str().unwrap_or_default() {
            "In" | "NotIn" if values.len() != 1 => {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                found.required(&path.child("values"), detail);
            }
            "In" | "NotIn" => {}
            _ => found.invalid(&path.child("operator"), operator, "not a valid selector operator"),
        }
        let key = string(get(*item, "key"));
        if key.as_str() != Some("metadata.name") {
            found.invalid(&path.child("key"), key, "not a valid field selector key");
            continue;
        }
        let values_path = path.child("values");
        for (index, value) in values.iter().enumerate() {
            let messages = names::dns1123_subdomain(value.as_str().unwrap_or_default());
            found.messages(&values_path.index(index), *value, messages);
        }
    }
}

/// `validatePodAffinityTerm`
fn pod_term(term: Value<'_>, any_values: bool, path: &Path<'_>, found: &mut Found) {
    for key in ["labelSelector", "namespaceSelector"] {
        form::selector_with(get(term, key), any_values, &path.child(key), found);
    }
    for name in items(term, "namespaces") {
        let messages = names::dns1123_label(name.as_str().unwrap_or_default());
        found.messages(&path.child("namespace"), *name, messages);
    }
    label_keys(term, path, found);
    let key = string(get(term, "topologyKey"));
    if text(term, "topologyKey").is_empty() {
        found.required(&path.child("topologyKey"), "can not be empty");
    }
    found.messages(&path.child("topologyKey"), key, names::qualified_name(key.as_str().unwrap_or_default()));
}

/// `ValidateMatchLabelKeysAndMismatchLabelKeys`
fn label_keys(term: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let selector = get(term, "labelSelector");
    for key in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = items(term, key);
        let path = path.child(key);
        if !keys.is_empty() && selector.is_null() {
            found.forbidden(&path, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            found.messages(&path.index(index), *key, names::qualified_name(key.as_str().unwrap_or_default()));
        }
    }
    let keys = items(term, "matchLabelKeys");
    if !selector.is_null() {
        let mut seen: BTreeSet<&str> = entries(selector, "matchLabels").iter().map(|(key, _)| *key).collect();
        for item in items(selector, "matchExpressions") {
            let key = text(*item, "key");
            let at = keys.iter().rposition(|own| own.as_str() == Some(key));
            if let Some(index) = at.filter(|_| seen.contains(key)) {
                let detail = "exists in both matchLabelKeys and labelSelector";
                found.invalid(&path.index(index), Value::String(key), detail);
            }
            seen.insert(key);
        }
    }
    let others: BTreeSet<Option<&str>> = items(term, "mismatchLabelKeys").iter().map(|other| other.as_str()).collect();
    let path = path.child("matchLabelKeys");
    for (index, key) in keys.iter().enumerate() {
        if others.contains(&key.as_str()) {
            found.invalid(&path.index(index), *key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}

/// Adds the errors in selector values in the affinity of an old pod: `hasInvalidLabelValueInAffinitySelector`.
pub(super) fn affinity_selectors(spec: Value<'_>, found: &mut Found) {
    let own = get(spec, "affinity");
    for pods in ["podAffinity", "podAntiAffinity"].into_iter().map(|key| get(own, key)) {
        let preferred = items(pods, PREFERRED).iter().map(|term| get(*term, "podAffinityTerm"));
        for term in items(pods, REQUIRED).iter().copied().chain(preferred) {
            for key in ["labelSelector", "namespaceSelector"] {
                let mut own = Found::default();
                form::selector(get(term, key), &Path::Root, &mut own);
                own.errors.retain(|error| error.path.contains(".values["));
                found.errors.append(&mut own.errors);
            }
        }
    }
}

/// Adds the errors in values of the node affinity of an old pod.
pub(super) fn node_selector_values(spec: Value<'_>, found: &mut Found) {
    let selector = get(get(get(spec, "affinity"), "nodeAffinity"), REQUIRED);
    for term in items(selector, "nodeSelectorTerms") {
        for item in items(*term, "matchExpressions") {
            for value in items(*item, "values") {
                found.messages(&Path::Root, *value, names::label_value(value.as_str().unwrap_or_default()));
            }
        }
    }
}

/// `validateTopologySpreadConstraints`
pub(super) fn spread(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let constraints = items(pod.spec, "topologySpreadConstraints");
    for (index, own) in constraints.iter().enumerate() {
        let path = path.index(index);
        let skew = number(*own, "maxSkew").unwrap_or(0);
        if skew <= 0 {
            found.invalid(&path.child("maxSkew"), Value::Int(skew), "must be greater than zero");
        }
        let (key, action) = (text(*own, "topologyKey"), text(*own, "whenUnsatisfiable"));
        if key.is_empty() {
            found.required(&path.child("topologyKey"), "can not be empty");
        }
        if !matches!(action, "DoNotSchedule" | "ScheduleAnyway") {
            let of = ["DoNotSchedule", "ScheduleAnyway"];
            found.not_supported(&path.child("whenUnsatisfiable"), Value::String(action), &of);
        }
        let is_same =
            |other: &Value<'_>| text(*other, "topologyKey") == key && text(*other, "whenUnsatisfiable") == action;
        if constraints.iter().skip(index + 1).any(is_same) {
            let value = format!("{{{key}, {action}}}");
            found.duplicate(&path.child("{topologyKey, whenUnsatisfiable}"), Value::String(&value));
        }
        if let Some(domains) = number(*own, "minDomains") {
            let path = path.child("minDomains");
            if domains <= 0 {
                found.invalid(&path, Value::Int(domains), "must be greater than zero");
            }
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                found.invalid(&path, Value::Int(domains), detail);
            }
        }
        for key in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) = own.get(key)
                && !matches!(policy.as_str(), Some("Honor" | "Ignore"))
            {
                found.not_supported(&path.child(key), policy, &["Honor", "Ignore"]);
            }
        }
        label_keys(*own, &path, found);
        if !pod.allows.spread_selectors {
            form::selector(get(*own, "labelSelector"), &path.child("labelSelector"), found);
        }
    }
}

/// `ValidateTolerations`
pub(in super::super) fn tolerations(tolerations: &[Value<'_>], path: &Path<'_>, found: &mut Found) {
    for (index, own) in tolerations.iter().enumerate() {
        const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        let path = path.index(index);
        check_text(*own, "key", &path, names::qualified_name, found);
        let operator = string(get(*own, "operator"));
        let (name, value) = (operator.as_str().unwrap_or_default(), string(get(*own, "value")));
        let operator_path = path.child("operator");
        if text(*own, "key").is_empty() && name != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            found.invalid(&operator_path, operator, detail);
        }
        let effect = text(*own, "effect");
        let effect_path = path.child("effect");
        if own.get("tolerationSeconds").is_some() && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            found.invalid(&effect_path, Value::String(effect), detail);
        }
        match name {
            "Equal" | "" => {
                let messages = names::label_value(value.as_str().unwrap_or_default());
                if !messages.is_empty() {
                    found.invalid(&operator_path, value, messages.join(";"));
                }
            }
            "Exists" if !text(*own, "value").is_empty() => {
                found.invalid(&operator_path, value, "value must be empty when `operator` is 'Exists'");
            }
            "Exists" => {}
            "Lt" | "Gt" => found.not_supported(&operator_path, operator, &["Equal", "Exists", "Lt", "Gt"]),
            _ => found.not_supported(&operator_path, operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() && !EFFECTS.contains(&effect) {
            found.not_supported(&effect_path, Value::String(effect), &EFFECTS);
        }
    }
}
