//! Rules of Events, Nodes, and groups with few kinds.

use super::common::{IMMUTABLE, Network, immutable, legacy_cidr, one_of, repeated, repeats, required_as, same, texts};
use super::{Names, entries, flag, get, items, number, text};
use crate::builtin::internal;
use crate::builtin::overlay::check::form::{self, Form};
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use base64::Engine;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::go::syntax;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("core event", core_event),
    ("event", event),
    ("event change", event_change),
    ("certificate signing request", signing_request),
    ("certificate signing request change", signing_request_change),
    ("flow schema", flow_schema),
    ("flow schema status", condition_types),
    ("priority level", priority_level),
    ("priority level status", condition_types),
    ("node", node),
    ("node change", node_change),
    ("lease", lease),
    ("priority class", priority_class),
    ("priority class change", priority_class_change),
    ("runtime class", runtime_class),
    ("runtime class change", runtime_class_change),
];

/// `legacyValidateEvent`
fn legacy_event(at: &At<'_, '_>, is_core: bool, found: &mut Found) {
    let event = at.value;
    let namespace = text(get(event, "metadata"), "namespace");
    let involved_key = if is_core { "involvedObject" } else { "regarding" };
    let involved = text(get(event, involved_key), "namespace");
    let path = at.path.child("involvedObject");
    let path = path.child("namespace");
    let mismatch = |found: &mut Found| found.invalid(&path, Value::String(involved), "does not match event.namespace");
    if get(event, "eventTime").is_null() {
        let is_free = involved.is_empty() && matches!(namespace, "" | "default");
        if !is_free && involved != namespace {
            mismatch(found);
        }
    } else {
        if involved.is_empty() && !matches!(namespace, "default" | "kube-system") {
            mismatch(found);
        }
        let (controller_key, instance_key) = if is_core {
            ("reportingComponent", "reportingInstance")
        } else {
            ("reportingController", "reportingInstance")
        };
        let controller = text(event, controller_key);
        if controller.is_empty() {
            found.required(&at.path.child(controller_key), "");
        }
        let messages = names::qualified_name(controller);
        found.messages(&at.path.child(controller_key), Value::String(controller), messages);
        let note = if is_core { "message" } else { "note" };
        for (key, shown, most, is_required) in [
            (instance_key, "reportingInstance", 128, true),
            ("action", "action", 128, true),
            ("reason", "reason", 128, true),
            (note, "message", 1024, false),
        ] {
            let value = text(event, key);
            let path = at.path.child(shown);
            if is_required && value.is_empty() {
                found.required(&path, "");
            }
            if value.len() > most {
                found.invalid(&path, Value::String(""), format!("can have at most {most} characters"));
            }
        }
    }
    found.messages(&at.path.child("namespace"), Value::String(namespace), names::dns1123_subdomain(namespace));
}

fn core_event(at: &At<'_, '_>, found: &mut Found) {
    legacy_event(at, true, found);
}

fn event(at: &At<'_, '_>, found: &mut Found) {
    legacy_event(at, false, found);
}

fn event_series(event: Value<'_>, found: &mut Found) {
    let series = get(event, "series");
    if series.is_null() {
        return;
    }
    if number(series, "count").unwrap_or(0) < 2 {
        found.invalid(&Path::Base("series.count"), Value::String(""), "should be at least 2");
    }
    if get(series, "lastObservedTime").is_null() {
        found.required(&Path::Base("series.lastObservedTime"), "");
    }
}

/// Checks what `ValidateEventCreate` and `ValidateEventUpdate` check in addition.
fn event_change(at: &At<'_, '_>, found: &mut Found) {
    let event = at.value;
    let Some(old) = at.scope.old else {
        event_series(event, found);
        if get(event, "eventTime").is_null() {
            found.required(&at.path.child("eventTime"), "");
        }
        let kind = text(event, "type");
        if !matches!(kind, "Normal" | "Warning") {
            found.invalid(&at.path.child("type"), Value::String(""), format!("has invalid value: {kind}"));
        }
        let source = get(event, "deprecatedSource");
        for (shown, is_set) in [
            ("firstTimestamp", !get(event, "deprecatedFirstTimestamp").is_null()),
            ("lastTimestamp", !get(event, "deprecatedLastTimestamp").is_null()),
            ("count", number(event, "deprecatedCount").unwrap_or(0) != 0),
            ("source", ["component", "host"].iter().any(|key| !text(source, key).is_empty())),
        ] {
            if is_set {
                found.invalid(&at.path.child(shown), Value::String(""), "needs to be unset");
            }
        }
        return;
    };
    if !same(event, old, "series") {
        event_series(event, found);
    }
    for (key, shown) in [
        ("regarding", "involvedObject"),
        ("reason", "reason"),
        ("note", "message"),
        ("deprecatedSource", "source"),
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        immutable(get(event, key), get(old, key), &at.path.child(shown), found);
    }
}

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// Returns whether base64 text decodes to bytes that begin with a PEM block of a type.
fn has_pem_block(encoded: &str, kind: &str) -> bool {
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let first = text.find("-----BEGIN ").and_then(|at| text.get(at..));
    first.is_some_and(|block| block.starts_with(&format!("-----BEGIN {kind}-----")))
}

/// `validateCertificateSigningRequest`. The content of the block is not checked.
fn signing_request(at: &At<'_, '_>, found: &mut Found) {
    const LEGACY: &str = "kubernetes.io/legacy-unknown";
    let spec = get(at.value, "spec");
    let old = at.scope.old.map(|old| get(old, "spec"));
    let path = at.path.child("spec");
    if !has_pem_block(text(spec, "request"), "CERTIFICATE REQUEST") {
        let detail = "PEM block type must be CERTIFICATE REQUEST";
        found.invalid(&path.child("request"), get(spec, "request"), detail);
    }
    let usages = texts(items(spec, "usages"));
    let usages_path = path.child("usages");
    if usages.is_empty() {
        found.required(&usages_path, "");
    }
    let before = old.map(|old| texts(items(old, "usages"))).unwrap_or_default();
    if !before.iter().any(|usage| !USAGES.contains(usage)) {
        for (at, usage) in usages.iter().enumerate().filter(|(_, usage)| !USAGES.contains(usage)) {
            found.not_supported(&usages_path.index(at), Value::String(usage), &USAGES);
        }
    }
    if repeated(&before).is_empty() {
        for at in repeated(&usages) {
            found.duplicate(&usages_path.index(at), Value::String(usages.get(at).copied().unwrap_or_default()));
        }
    }
    let signer = text(spec, "signerName");
    let signer_path = path.child("signerName");
    if signer == LEGACY && old.is_none_or(|old| text(old, "signerName") != LEGACY) {
        let detail = "the legacy signerName is not allowed via this API version";
        found.invalid(&signer_path, Value::String(signer), detail);
    } else {
        signer_name(signer, &signer_path, found);
    }
    if let Some(seconds) = number(spec, "expirationSeconds")
        && seconds < 600
    {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        found.invalid(&path.child("expirationSeconds"), Value::Int(seconds), detail);
    }
    signing_conditions(at, found);
    let certificate = text(get(at.value, "status"), "certificate");
    let before = at.scope.old.map_or("", |old| text(get(old, "status"), "certificate"));
    if !certificate.is_empty() && certificate != before && !has_pem_block(certificate, "CERTIFICATE") {
        let bytes = base64::engine::general_purpose::STANDARD.decode(certificate).unwrap_or_default();
        if !String::from_utf8_lossy(&bytes).contains("-----BEGIN ") {
            let path = at.path.child("status");
            let detail = "must contain at least one CERTIFICATE PEM block";
            found.invalid(&path.child("certificate"), Value::String("<certificate data>"), detail);
        }
    }
}

fn signing_conditions(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("status");
    let path = path.child("conditions");
    let list = items(get(at.value, "status"), "conditions");
    let before = at.scope.old.map(|old| items(get(old, "status"), "conditions")).unwrap_or_default();
    let kinds = |list: &[Value<'_>]| list.iter().map(|item| text(*item, "type").to_owned()).collect::<Vec<_>>();
    let (new_kinds, old_kinds) = (kinds(list), kinds(before));
    let had_both = ["Approved", "Denied"].iter().all(|kind| old_kinds.iter().any(|old| old == kind));
    let had_repeated = !repeated(&old_kinds).is_empty();
    let again = repeats(&new_kinds);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let had_empty = old_kinds.iter().any(String::is_empty);
    for (at, item) in list.iter().enumerate() {
        let path_of = path.index(at);
        let (kind, status) = (text(*item, "type"), text(*item, "status"));
        if kind.is_empty() && !had_empty {
            found.required(&path_of.child("type"), "");
        }
        let allowed: &[&str] =
            if matches!(kind, "Approved" | "Denied" | "Failed") { &["True"] } else { &["False", "True", "Unknown"] };
        if status.is_empty() {
            found.required(&path_of.child("status"), "");
        } else if !allowed.contains(&status) {
            found.not_supported(&path_of.child("status"), Value::String(status), allowed);
        }
        let other = match kind {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "-",
        };
        seen.insert(kind);
        if !had_both && seen.contains(other) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            found.invalid(&path, Value::String(kind), detail);
        }
        if !had_repeated && again.get(at) == Some(&true) {
            found.duplicate(&path_of.child("type"), Value::String(kind));
        }
    }
}

/// `ValidateSignerName`
fn signer_name(name: &str, path: &Path<'_>, found: &mut Found) {
    const MOST_DOMAIN: usize = 253;
    /// The maximum length of a domain, and a path of a label and a domain.
    const MOST: usize = MOST_DOMAIN + 1 + MOST_DOMAIN + 1 + 63;
    if name.is_empty() {
        return found.required(path, "");
    }
    let value = Value::String(name);
    let Some((domain, rest)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return found.invalid(path, value, detail);
    };
    if domain.len() > MOST_DOMAIN {
        found.too_long(path, MOST_DOMAIN);
    }
    let label = |text: &str, message: String| format!("validating label {}: {message}", GoQuoted(text));
    if let Some(part) = domain.split('.').find(|part| !names::dns1123_label(part).is_empty()) {
        let messages = names::dns1123_label(part).into_iter().map(|message| label(part, message));
        found.messages(path, Value::String(domain), messages);
    }
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        found.invalid(path, Value::String(domain), detail);
    }
    if let Some(part) = rest.split('.').find(|part| !names::dns1123_subdomain(part).is_empty()) {
        let messages = names::dns1123_subdomain(part).into_iter().map(|message| label(part, message));
        found.messages(path, Value::String(rest), messages);
    }
    if name.len() > MOST {
        found.too_long(path, MOST);
    }
}

/// `findConditions`
fn conditions_of<'a>(object: Value<'a>, kind: &str) -> Vec<Value<'a>> {
    let conditions = items(get(object, "status"), "conditions");
    conditions.iter().filter(|condition| text(**condition, "type") == kind).copied().collect()
}

/// `validateCertificateSigningRequestUpdate`
fn signing_request_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let path = at.path.child("status");
    let conditions_path = path.child("conditions");
    let of = conditions_of;
    for kind in ["Approved", "Denied", "Failed"] {
        if of(at.value, kind).len() < of(old, kind).len() {
            let detail = format!("updates may not remove a condition of type \"{kind}\"");
            found.forbidden(&conditions_path, detail);
        }
    }
    for kind in ["Approved", "Denied"] {
        let (new, old) = (of(at.value, kind), of(old, kind));
        if new.len() > old.len() {
            found.forbidden(&conditions_path, format!("updates may not add a condition of type \"{kind}\""));
        } else if new.len() == old.len() && new != old {
            let arena = kubeshape_value::Bump::new();
            let code = "[]certificates.v1.CertificateSigningRequestCondition";
            let (old, new) = (arena.alloc_slice_copy(&old), arena.alloc_slice_copy(&new));
            let difference = internal::difference(code, Value::List(old), Value::List(new));
            let detail = format!("updates may not modify a condition of type \"{kind}\"\n{difference}");
            found.forbidden(&conditions_path, detail);
        }
    }
}

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

/// `validateNodeTaints`. The path is the same as upstream.
fn taints(at: &At<'_, '_>, found: &mut Found) {
    const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let path = at.path.child("metadata");
    let path = path.child("taints");
    let list = items(get(at.value, "spec"), "taints");
    let mut seen = BTreeSet::new();
    for (at, taint) in list.iter().enumerate() {
        let path = path.index(at);
        let (key, value) = (text(*taint, "key"), text(*taint, "value"));
        found.messages(&path.child("key"), Value::String(key), names::qualified_name(key));
        found.messages(&path.child("value"), Value::String(value), names::label_value(value));
        one_of(*taint, "effect", &EFFECTS, &path, found);
        if !seen.insert(["key", "effect"].map(|key| text(*taint, key))) {
            let detail = "taints must be unique by key and effect pair";
            let error = Error::duplicate(&path, BadValue::Json(internal::json("core.v1.Taint", *taint)), 0);
            found.errors.push(Error { detail: detail.to_owned(), ..error });
        }
    }
}

/// `ValidateAvoidPodsInNodeAnnotations`
fn avoided_pods(at: &At<'_, '_>, found: &mut Found) {
    const KEY: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
    let written = text(get(get(at.value, "metadata"), "annotations"), KEY);
    if let (false, Err(error)) = (written.is_empty(), syntax::check(written.as_bytes())) {
        let path = Path::Base("metadata");
        found.invalid(&path.child("annotations").child("AvoidPods"), Value::String(KEY), error.to_string());
    }
}

/// `validateNodeDeclaredFeatures`
fn declared_features(status: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 253;
    let features = texts(items(status, "declaredFeatures"));
    let path = path.child("declaredFeatures");
    for (at, name) in features.iter().enumerate() {
        let (path, value) = (path.index(at), Value::String(name));
        let before = at.checked_sub(1).and_then(|before| features.get(before));
        if before == Some(name) {
            found.duplicate(&path, value);
        } else if before > Some(name) {
            found.invalid(&path, value, "list must be sorted alphabetically");
        }
        let quoted = GoQuoted(name);
        if name.len() > MOST {
            let detail = format!("invalid feature name {quoted}: must be no more than {MOST} characters");
            found.invalid(&path, value, detail);
        } else if !is_feature(name) {
            let detail = format!(
                "invalid feature name {quoted}: must start with an UpperCamelCase segment, with subsequent segments \
                 separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters \
                 and slashes"
            );
            found.invalid(&path, value, detail);
        }
    }
}

/// Returns whether a name is that of a feature, followed by parts: `nodeDeclaredFeatureRegexp`.
fn is_feature(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.split('/').all(is_part)
}

/// `ValidateNode`
fn node(at: &At<'_, '_>, found: &mut Found) {
    avoided_pods(at, found);
    taints(at, found);
    node_status(at, found);
    let spec = get(at.value, "spec");
    let cidrs = texts(items(spec, "podCIDRs"));
    let path = at.path.child("spec");
    let path = path.child("podCIDRs");
    for (at, cidr) in cidrs.iter().enumerate() {
        found.messages(&path.index(at), Value::String(cidr), legacy_cidr(cidr, &BTreeSet::new()));
    }
    if cidrs.len() > 1 {
        if let Some((at, cidr)) = cidrs.iter().enumerate().find(|(_, cidr)| Network::parse(cidr).is_none()) {
            let detail = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{at}]: <nil> (invalid CIDR \
                 address: {cidr})"
            );
            found.errors.push(Error::internal(&path, detail, 0));
        }
        let networks: Vec<_> =
            cidrs.iter().filter_map(|cidr| Network::parse(cidr)).map(|network| network.is_v4).collect();
        let is_dual = networks.len() == cidrs.len() && networks.contains(&true) && networks.contains(&false);
        if !is_dual || cidrs.len() > 2 {
            found.invalid(&path, get(spec, "podCIDRs"), "may specify no more than one CIDR for each IP family");
        }
    }
}

fn node_status(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    for key in ["capacity", "allocatable"] {
        let path = path.child(key);
        for (name, quantity) in entries(status, key) {
            super::limits::quantity_value(name, *quantity, &path.child(name), found);
        }
    }
    declared_features(status, &path, found);
}

/// `ValidateNodeUpdate`
fn node_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    avoided_pods(at, found);
    taints(at, found);
    let (status, spec, old) = (get(at.value, "status"), get(at.value, "spec"), get(old, "spec"));
    node_status(at, found);
    let addresses = items(status, "addresses");
    let path = at.path.child("status");
    let path = path.child("addresses");
    for at in repeated(addresses.iter().map(ToString::to_string)) {
        found.duplicate(&path.index(at), addresses.get(at).copied().unwrap_or(Value::Null));
    }
    let path = at.path.child("spec");
    let (cidrs, before) = (texts(items(spec, "podCIDRs")), texts(items(old, "podCIDRs")));
    let detail = |what: &str| format!("node updates may not change {what} except from \"\" to valid");
    if !before.is_empty() {
        let differing =
            if cidrs.len() == before.len() { cidrs.iter().zip(&before).filter(|(a, b)| a != b).count() } else { 1 };
        for _ in 0..differing {
            found.forbidden(&path.child("podCIDRs"), detail("podCIDR"));
        }
    }
    if !text(old, "providerID").is_empty() && text(old, "providerID") != text(spec, "providerID") {
        found.forbidden(&path.child("providerID"), detail("providerID"));
    }
    if text(old, "externalID") != text(spec, "externalID") {
        found.forbidden(&path.child("externalID"), "may not be updated");
    }
}

/// `ValidateLeaseSpec`
fn lease(at: &At<'_, '_>, found: &mut Found) {
    /// The only strategy that Kubernetes itself defines.
    const OLDEST: &str = "OldestEmulationVersion";
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    if let Some(seconds) = number(spec, "leaseDurationSeconds")
        && seconds <= 0
    {
        found.invalid(&path.child("leaseDurationSeconds"), Value::Int(seconds), "must be greater than 0");
    }
    if let Some(count) = number(spec, "leaseTransitions")
        && count < 0
    {
        found.invalid(&path.child("leaseTransitions"), Value::Int(count), form::NEGATIVE);
    }
    let strategy = text(spec, "strategy");
    let strategy_path = path.child("strategy");
    match get(spec, "strategy") {
        Value::Null => {}
        value if strategy.contains('/') => {
            found.messages(&strategy_path.child("strategy"), value, names::qualified_name(strategy));
        }
        value if strategy != OLDEST => found.not_supported(&strategy_path.child("strategy"), value, &[OLDEST]),
        _ => {}
    }
    let has_strategy = !strategy.is_empty();
    if !text(spec, "preferredHolder").is_empty() && !has_strategy {
        found.forbidden(&path.child("preferredHolder"), "may only be specified if `strategy` is defined");
    }
}

/// `ValidatePriorityClass`, without the check of its name.
fn priority_class(at: &At<'_, '_>, found: &mut Found) {
    const MOST: i64 = 1_000_000_000;
    const POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];
    let value = number(at.value, "value").unwrap_or(0);
    if !text(get(at.value, "metadata"), "name").starts_with("system-") && value > MOST {
        let detail = format!("maximum allowed value of a user defined priority is {MOST}");
        found.forbidden(&at.path.child("value"), detail);
    }
    if !get(at.value, "preemptionPolicy").is_null() {
        one_of(at.value, "preemptionPolicy", &POLICIES, at.path, found);
    }
}

fn priority_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    if number(at.value, "value") != number(old, "value") {
        found.forbidden(&at.path.child("value"), "may not be changed in an update.");
    }
    let key = "preemptionPolicy";
    immutable(get(at.value, key), get(old, key), &at.path.child(key), found);
}

/// `ValidateRuntimeClass`, without the checks of its overhead and of tolerations.
fn runtime_class(at: &At<'_, '_>, found: &mut Found) {
    required_as(at.value, "handler", names::dns1123_label, at.path, found);
    let scheduling = get(at.value, "scheduling");
    let path = at.path.child("scheduling");
    Form::Labels.check(get(scheduling, "nodeSelector"), &path.child("nodeSelector"), found);
    let path = path.child("tolerations");
    let list = items(scheduling, "tolerations");
    super::pods::tolerations(list, &path, found);
    let key =
        |toleration: &Value<'_>| ["key", "operator", "value", "effect"].map(|key| text(*toleration, key).to_owned());
    for at in repeated(list.iter().map(key)) {
        found.duplicate(&path.index(at), list.get(at).copied().unwrap_or(Value::Null));
    }
}

fn runtime_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    if text(at.value, "handler") != text(old, "handler") {
        found.invalid(&at.path.child("handler"), get(at.value, "handler"), IMMUTABLE);
    }
}
