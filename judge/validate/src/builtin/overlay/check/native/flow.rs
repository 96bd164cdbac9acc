//! Rules of `flowcontrol.apiserver.k8s.io`.

use super::common::texts;
use super::{Names, flag, get, items, number, text};
use crate::builtin::internal;
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("flow schema", flow_schema),
    ("flow schema status", condition_types),
    ("priority level", priority_level),
    ("priority level status", condition_types),
];

/// `ValidateFlowSchema`
fn flow_schema(at: &At<'_, '_>, found: &mut Found) {
    const MOST: i64 = 10_000;
    const METHODS: [&str; 2] = ["ByNamespace", "ByUser"];
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    let precedence = number(spec, "matchingPrecedence").unwrap_or(0);
    let (precedence_path, value) = (path.child("matchingPrecedence"), Value::Int(precedence));
    if precedence <= 0 {
        found.invalid(&precedence_path, value, "must be a positive value");
    }
    if precedence > MOST {
        found.invalid(&precedence_path, value, format!("must not be greater than {MOST}"));
    }
    if precedence == 1 && text(get(at.value, "metadata"), "name") != "exempt" {
        found.invalid(&precedence_path, value, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    let method = get(spec, "distinguisherMethod");
    if !method.is_null() && !METHODS.contains(&text(method, "type")) {
        let path = path.child("distinguisherMethod");
        found.not_supported(&path.child("type"), method, &METHODS);
    }
    let level = text(get(spec, "priorityLevelConfiguration"), "name");
    let level_path = path.child("priorityLevelConfiguration");
    let level_path = level_path.child("name");
    if level.is_empty() {
        found.required(&level_path, "must reference a priority level");
    } else {
        found.messages(&level_path, Value::String(level), names::dns1123_subdomain(level));
    }
    let path = path.child("rules");
    for (at, rule) in items(spec, "rules").iter().enumerate() {
        flow_rule(*rule, &path.index(at), found);
    }
    fixed(at, found);
    condition_types(at, found);
}

/// The specs of mandatory objects as Go prints them: `internalbootstrap.MandatoryFlowSchemas`,
/// `MandatoryPriorityLevelConfigurations`. In the level `exempt`, one field may differ.
const FIXED: [(&str, &str, &str); 4] = [
    (
        "FlowSchema",
        "exempt",
        concat!(
            r#"{"PriorityLevelConfiguration":{"Name":"exempt"},"MatchingPrecedence":1,"DistinguisherMethod":null,"#,
            r#""Rules":[{"Subjects":[{"Kind":"Group","User":null,"Group":{"Name":"system:masters"},"ServiceAccount":null}],"#,
            r#""ResourceRules":[{"Verbs":["*"],"APIGroups":["*"],"Resources":["*"],"ClusterScope":true,"Namespaces":["*"]}],"#,
            r#""NonResourceRules":[{"Verbs":["*"],"NonResourceURLs":["*"]}]}]}"#,
        ),
    ),
    (
        "FlowSchema",
        "catch-all",
        concat!(
            r#"{"PriorityLevelConfiguration":{"Name":"catch-all"},"MatchingPrecedence":10000,"#,
            r#""DistinguisherMethod":{"Type":"ByUser"},"#,
            r#""Rules":[{"Subjects":[{"Kind":"Group","User":null,"Group":{"Name":"system:unauthenticated"},"#,
            r#""ServiceAccount":null},{"Kind":"Group","User":null,"Group":{"Name":"system:authenticated"},"#,
            r#""ServiceAccount":null}],"#,
            r#""ResourceRules":[{"Verbs":["*"],"APIGroups":["*"],"Resources":["*"],"ClusterScope":true,"Namespaces":["*"]}],"#,
            r#""NonResourceRules":[{"Verbs":["*"],"NonResourceURLs":["*"]}]}]}"#,
        ),
    ),
    ("PriorityLevelConfiguration", "exempt", r#"{"Type":"Exempt","Limited":null,"Exempt":null}"#),
    (
        "PriorityLevelConfiguration",
        "catch-all",
        concat!(
            r#"{"Type":"Limited","Limited":{"NominalConcurrencyShares":5,"LimitResponse":{"Type":"Reject","Queuing":null},"#,
            r#""LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}"#,
        ),
    ),
];

/// Checks that the specs of mandatory objects are unchanged.
fn fixed(at: &At<'_, '_>, found: &mut Found) {
    let (kind, name) = (at.scope.kind, text(get(at.value, "metadata"), "name"));
    let Some((.., wanted)) = FIXED.iter().find(|(of, known, _)| (*of, *known) == (kind, name)) else { return };
    let arena = kubeshape_value::Bump::new();
    let spec = get(at.value, "spec");
    let is_level = kind == "PriorityLevelConfiguration" && name == "exempt";
    let own = if is_level { super::with(spec, "exempt", None, &arena) } else { spec };
    if internal::json(&format!("flowcontrol.v1.{kind}Spec"), own) != *wanted {
        let but = if is_level { " except the 'spec.exempt' field" } else { "" };
        found.invalid(&at.path.child("spec"), spec, format!("spec of '{name}'{but} must equal the fixed value"));
    }
}

fn flow_rule(rule: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let subjects = items(rule, "subjects");
    let subjects_path = path.child("subjects");
    if subjects.is_empty() {
        found.required(&subjects_path, "subjects must contain at least one value");
    }
    for (at, subject) in subjects.iter().enumerate() {
        flow_subject(*subject, &subjects_path.index(at), found);
    }
    let (resources, others) = (items(rule, "resourceRules"), items(rule, "nonResourceRules"));
    if resources.is_empty() && others.is_empty() {
        found.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    let resources_path = path.child("resourceRules");
    for (at, rule) in resources.iter().enumerate() {
        let path = resources_path.index(at);
        flow_verbs(*rule, &path, found);
        for (key, what, others) in [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")] {
            let list = texts(items(*rule, key));
            if list.is_empty() {
                found.required(&path.child(key), format!("resource rules must supply at least one {what}"));
            } else if list.len() > 1 && list.contains(&"*") {
                let detail = format!("if '*' is present, must not specify other {others}");
                found.invalid(&path.child(key), get(*rule, key), detail);
            }
        }
        flow_namespaces(*rule, &path, found);
    }
    let others_path = path.child("nonResourceRules");
    for (at, rule) in others.iter().enumerate() {
        let path = others_path.index(at);
        flow_verbs(*rule, &path, found);
        let urls = texts(items(*rule, "nonResourceURLs"));
        let urls_path = path.child("nonResourceURLs");
        if urls.is_empty() {
            found.required(&urls_path, "nonResourceURLs must contain at least one value");
        } else if urls.contains(&"*") {
            if urls.len() > 1 {
                let detail = "if '*' is present, must not specify other non-resource URLs";
                found.invalid(&urls_path, get(*rule, "nonResourceURLs"), detail);
            }
        } else {
            for (at, url) in urls.iter().enumerate() {
                if let Some(detail) = url_error(url) {
                    found.invalid(&urls_path.index(at), Value::String(url), detail);
                }
            }
        }
    }
}

/// `ValidateNonResourceURLPath`
fn url_error(url: &str) -> Option<&'static str> {
    let stars = url.matches('*').count();
    if url.is_empty() {
        Some("must not be empty")
    } else if url == "/" {
        None
    } else if !url.starts_with('/') {
        Some("must start with slash")
    } else if url.contains(' ') {
        Some("must not contain white-space")
    } else if url.contains("//") {
        Some("must not contain double slash")
    } else if stars > 1 || stars == 1 && !url.ends_with("/*") {
        Some("wildcard can only do suffix matching")
    } else {
        None
    }
}

fn flow_verbs(rule: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const VERBS: [&str; 9] =
        ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
    let verbs = texts(items(rule, "verbs"));
    let (path, value) = (path.child("verbs"), get(rule, "verbs"));
    if verbs.is_empty() {
        found.required(&path, "verbs must contain at least one value");
    } else if verbs.contains(&"*") {
        if verbs.len() > 1 {
            found.invalid(&path, value, "if '*' is present, must not specify other verbs");
        }
    } else if verbs.iter().any(|verb| !VERBS.contains(verb)) {
        found.not_supported(&path, value, &VERBS);
    }
}

fn flow_namespaces(rule: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let namespaces = texts(items(rule, "namespaces"));
    let path = path.child("namespaces");
    if namespaces.is_empty() && !flag(rule, "clusterScope") {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        found.required(&path, detail);
    } else if namespaces.contains(&"*") {
        if namespaces.len() > 1 {
            let detail = "if '*' is present, must not specify other namespaces";
            found.invalid(&path, get(rule, "namespaces"), detail);
        }
    } else {
        for (at, name) in namespaces.iter().enumerate() {
            let messages = names::dns1123_label(name).into_iter();
            let messages =
                messages.map(|message| format!("each member of this list must be '*' or a DNS-1123 label; {message}"));
            found.messages(&path.index(at), Value::String(name), messages);
        }
    }
}

fn flow_subject(subject: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const KINDS: [(&str, &str); 3] = [("Group", "group"), ("ServiceAccount", "serviceAccount"), ("User", "user")];
    let kind = text(subject, "kind");
    let Some((_, key)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        return found.not_supported(&path.child("kind"), Value::String(kind), &KINDS.map(|(name, _)| name));
    };
    let named = get(subject, key);
    let own = path.child(key);
    if named.is_null() {
        found.required(&own, format!("{key} is required when subject kind is '{kind}'"));
    } else {
        let name = text(named, "name");
        if name.is_empty() {
            found.required(&own.child("name"), "");
        } else if kind == "ServiceAccount" && name != "*" {
            found.messages(&own.child("name"), Value::String(name), names::dns1123_subdomain(name));
        }
        if kind == "ServiceAccount" {
            match text(named, "namespace") {
                "" => found.required(&own.child("namespace"), "must specify namespace for service account"),
                name => {
                    found.messages(&own.child("namespace"), Value::String(name), names::dns1123_label(name));
                }
            }
        }
    }
    for (name, key) in KINDS.iter().filter(|(name, key)| *name != kind && !get(subject, key).is_null()) {
        found.forbidden(&path.child(key), format!("{key} is forbidden when subject kind is not '{name}'"));
    }
}

/// Checks the conditions of a FlowSchema or a PriorityLevelConfiguration.
fn condition_types(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("status");
    let path = path.child("conditions");
    let list = items(get(at.value, "status"), "conditions");
    let mut seen = BTreeSet::new();
    for (at, item) in list.iter().enumerate() {
        let kind = text(*item, "type");
        let path = path.index(at);
        if !seen.insert(kind) {
            found.duplicate(&path.child("type"), Value::String(kind));
        }
        if kind.is_empty() {
            found.required(&path.child("type"), "");
        }
    }
}

/// `ValidatePriorityLevelConfiguration`
fn priority_level(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    let kind = text(spec, "type");
    let name = text(get(at.value, "metadata"), "name");
    if (name == "exempt") != (kind == "Exempt") {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        found.invalid(&path.child("type"), Value::String(kind), detail);
    }
    let (exempt, limited) = (get(spec, "exempt"), get(spec, "limited"));
    match kind {
        "Exempt" => {
            if !limited.is_null() {
                found.forbidden(&path.child("limited"), "must be nil if the type is not Limited");
            }
            shares(exempt, &path.child("exempt"), found);
        }
        "Limited" => {
            if !exempt.is_null() {
                found.forbidden(&path.child("exempt"), "must be nil if the type is Limited");
            }
            let path = path.child("limited");
            if limited.is_null() {
                found.required(&path, "must not be empty when type is Limited");
            } else {
                shares(limited, &path, found);
                limit_response(get(limited, "limitResponse"), &path.child("limitResponse"), found);
                if let Some(percent) = number(limited, "borrowingLimitPercent")
                    && percent < 0
                {
                    let detail = "if specified, must be a non-negative integer";
                    found.invalid(&path.child("borrowingLimitPercent"), Value::Int(percent), detail);
                }
            }
        }
        "" => found.required(&path.child("type"), ""),
        _ => found.not_supported(&path.child("type"), Value::String(kind), &["Exempt", "Limited"]),
    }
    fixed(at, found);
    condition_types(at, found);
}

fn shares(level: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if let Some(shares) = number(level, "nominalConcurrencyShares")
        && shares < 0
    {
        let detail = "must be a non-negative integer";
        found.invalid(&path.child("nominalConcurrencyShares"), Value::Int(shares), detail);
    }
    if let Some(percent) = number(level, "lendablePercent")
        && !(0..=100).contains(&percent)
    {
        let detail = "must be between 0 and 100, inclusive";
        found.invalid(&path.child("lendablePercent"), Value::Int(percent), detail);
    }
}

fn limit_response(response: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let queuing = get(response, "queuing");
    let queuing_path = path.child("queuing");
    match text(response, "type") {
        "Reject" if !queuing.is_null() => {
            found.forbidden(&queuing_path, "must be nil if limited.limitResponse.type is not Limited");
        }
        "Queue" if queuing.is_null() => {
            found.required(&queuing_path, "must not be empty if limited.limitResponse.type is Limited");
        }
        "Queue" => queues(queuing, &queuing_path, found),
        "Reject" => {}
        "" => found.required(&path.child("type"), ""),
        kind => found.not_supported(&path.child("type"), Value::String(kind), &["Queue", "Reject"]),
    }
}

fn queues(queuing: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST_QUEUES: i64 = 10_000_000;
    const MOST_BITS: f64 = 60.0;
    let of = |key: &str| number(queuing, key).unwrap_or(0);
    let (length, queues, hand) = (of("queueLengthLimit"), of("queues"), of("handSize"));
    if length <= 0 {
        found.invalid(&path.child("queueLengthLimit"), Value::Int(length), "must be positive");
    }
    if queues <= 0 {
        found.invalid(&path.child("queues"), Value::Int(queues), "must be positive");
    } else if queues > MOST_QUEUES {
        let detail = format!("must not be greater than {MOST_QUEUES}");
        found.invalid(&path.child("queues"), Value::Int(queues), detail);
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of queues are 32 bits")]
    let bits = ((queues as f64).log2() * hand as f64).ceil();
    let path = path.child("handSize");
    if hand <= 0 {
        found.invalid(&path, Value::Int(hand), "must be positive");
    } else if hand > queues {
        found.invalid(&path, Value::Int(hand), format!("should not be greater than queues ({queues})"));
    } else if bits > MOST_BITS {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {MOST_BITS}"
        );
        found.invalid(&path, Value::Int(hand), detail);
    }
}
