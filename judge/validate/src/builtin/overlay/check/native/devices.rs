//! Rules of `resource.k8s.io`. Expressions are not compiled here.

mod capacity;

use super::common::{IMMUTABLE, required_as, texts};
use super::{Names, entries, flag, get, items, number, string, text};
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found, bad};
use crate::builtin::overlay::edit;
use crate::names::{self, Messages};
use kubeshape_cel::{Env, Type};
use kubeshape_schema::field::{Error, Path};
use kubeshape_value::{Map, Value};
use std::collections::BTreeSet;
use std::sync::OnceLock;

pub(super) const NAMES: Names = &[
    ("resource claim", claim),
    ("resource claim change", spec_change),
    ("resource claim status", claim_status),
    ("resource claim template", template),
    ("device class", class),
    ("resource slice", slice),
];

const MOST_REQUESTS: usize = 32;
const MOST_SELECTORS: usize = 32;
const MOST_CONFIG: usize = 32;
const MOST_SETS: usize = 8;
const MOST_EXPRESSION: usize = 10 * 1024;
const NOT_A_REQUEST: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

fn claim(at: &At<'_, '_>, found: &mut Found) {
    device_claim(get(get(at.value, "spec"), "devices"), &at.path.child("spec").child("devices"), found);
}

/// Checks that the spec of a claim or a template is unchanged.
fn spec_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let spec = get(at.value, "spec");
    if !edit::semantic_equal(spec, get(old, "spec")) {
        found.invalid(&at.path.child("spec"), spec, IMMUTABLE);
    }
}

fn template(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    template_metadata(get(spec, "metadata"), &path.child("metadata"), found);
    device_claim(get(get(spec, "spec"), "devices"), &path.child("spec").child("devices"), found);
}

/// `ValidateTemplateObjectMeta`: only labels and annotations are allowed.
fn template_metadata(metadata: Value<'_>, path: &Path<'_>, found: &mut Found) {
    form::Form::Annotations.check(get(metadata, "annotations"), &path.child("annotations"), found);
    form::Form::Labels.check(get(metadata, "labels"), &path.child("labels"), found);
    let members = metadata.as_map().map(Map::entries).unwrap_or_default();
    for (key, value) in members {
        let is_set = !crate::typed::is_empty(*value);
        if !matches!(*key, "annotations" | "labels") && is_set {
            found.forbidden(&path.child(key), "cannot be set");
        }
    }
}

/// `validateDeviceClaim`
fn device_claim(claim: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let requests = items(claim, "requests");
    let requests_path = path.child("requests");
    if requests.len() > MOST_REQUESTS {
        found.too_many(&requests_path, requests.len(), MOST_REQUESTS);
    } else {
        for (at, request) in requests.iter().enumerate() {
            device_request(*request, &requests_path.index(at), found);
        }
        repeated(requests, &requests_path, found);
    }
    let constraints = items(claim, "constraints");
    let constraints_path = path.child("constraints");
    if constraints.len() > MOST_CONFIG {
        found.too_many(&constraints_path, constraints.len(), MOST_CONFIG);
    } else {
        for (at, constraint) in constraints.iter().enumerate() {
            let path = constraints_path.index(at);
            request_names(*constraint, requests, &path, found);
            let (same, distinct) = (get(*constraint, "matchAttribute"), get(*constraint, "distinctAttribute"));
            if let Some(name) = same.as_str() {
                qualified(name, &path.child("matchAttribute"), found);
            } else if let Some(name) = distinct.as_str() {
                qualified(name, &path.child("distinctAttribute"), found);
            } else {
                let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set";
                found.required(&path, detail);
            }
        }
    }
    let configs = items(claim, "config");
    let path = path.child("config");
    if configs.len() > MOST_CONFIG {
        return found.too_many(&path, configs.len(), MOST_CONFIG);
    }
    for (at, config) in configs.iter().enumerate() {
        let path = path.index(at);
        request_names(*config, requests, &path, found);
        configuration(*config, &path, found);
    }
}

fn repeated(list: &[Value<'_>], path: &Path<'_>, found: &mut Found) {
    let mut seen = BTreeSet::new();
    for (at, item) in list.iter().enumerate() {
        let name = text(*item, "name");
        if !seen.insert(name) {
            found.duplicate(&path.index(at), Value::String(name));
        }
    }
}

fn device_request(request: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST_ALTERNATIVES: usize = 8;
    let name = text(request, "name");
    found.messages(&path.child("name"), Value::String(name), names::dns1123_label(name));
    let (exactly, first) = (get(request, "exactly"), items(request, "firstAvailable"));
    let detail = "exactly one of `exactly` or `firstAvailable` is required";
    match (exactly.is_null(), first.is_empty()) {
        (true, true) => found.required(path, detail),
        (false, false) => {
            found.invalid(path, Value::Null, format!("{detail}, but multiple fields are set"));
        }
        (false, true) => exact_request(exactly, &path.child("exactly"), found),
        (true, false) => {
            let path = path.child("firstAvailable");
            if first.len() > MOST_ALTERNATIVES {
                return found.too_many(&path, first.len(), MOST_ALTERNATIVES);
            }
            for (at, item) in first.iter().enumerate() {
                let path = path.index(at);
                let name = text(*item, "name");
                found.messages(&path.child("name"), Value::String(name), names::dns1123_label(name));
                exact_request(*item, &path, found);
            }
            repeated(first, &path, found);
        }
    }
}

fn exact_request(request: Value<'_>, path: &Path<'_>, found: &mut Found) {
    required_as(request, "deviceClassName", names::dns1123_subdomain, path, found);
    selectors(request, path, found);
    let count = number(request, "count").unwrap_or(0);
    let (mode, count_path) = (text(request, "allocationMode"), path.child("count"));
    match mode {
        "All" if count != 0 => {
            found.invalid(&count_path, Value::Int(count), "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count <= 0 => found.invalid(&count_path, Value::Int(count), "must be greater than zero"),
        "All" | "ExactCount" => {}
        _ => found.not_supported(&path.child("allocationMode"), Value::String(mode), &["All", "ExactCount"]),
    }
    let path = path.child("tolerations");
    for (at, item) in items(request, "tolerations").iter().enumerate() {
        toleration(*item, &path.index(at), found);
    }
}

fn toleration(toleration: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let (key, value, effect) = (text(toleration, "key"), text(toleration, "value"), text(toleration, "effect"));
    if !key.is_empty() {
        found.messages(&path.child("key"), Value::String(key), names::qualified_name(key));
    }
    match text(toleration, "operator") {
        "Exists" if !value.is_empty() => {
            found.invalid(&path.child("value"), Value::String(value), "must be empty for operator `Exists`");
        }
        "Exists" => {}
        "Equal" => found.messages(&path.child("value"), Value::String(value), names::label_value(value)),
        "" => found.required(&path.child("operator"), ""),
        other => found.not_supported(&path.child("operator"), Value::String(other), &["Equal", "Exists"]),
    }
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        found.not_supported(&path.child("effect"), Value::String(effect), &EFFECTS);
    }
}

fn selectors(owner: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("selectors");
    let list = items(owner, "selectors");
    if list.len() > MOST_SELECTORS {
        return found.too_many(&path, list.len(), MOST_SELECTORS);
    }
    for (at, selector) in list.iter().enumerate() {
        let path = path.index(at);
        let cel = get(*selector, "cel");
        let path = path.child("cel");
        if cel.is_null() {
            found.required(&path, "");
        } else if text(cel, "expression").len() > MOST_EXPRESSION {
            found.too_long(&path.child("expression"), MOST_EXPRESSION);
        } else if let Err(detail) = selects(text(cel, "expression")) {
            found.invalid(&path.child("expression"), string(get(cel, "expression")), detail);
        }
    }
}

/// Checks whether an expression can select devices: `CompileCELExpression` of `k8s.io/dynamic-resource-allocation`.
/// Expressions with `cel.bind` are not checked.
fn selects(expression: &str) -> Result<(), String> {
    static ENVIRONMENT: OnceLock<Option<Env>> = OnceLock::new();
    let environment = ENVIRONMENT.get_or_init(|| {
        let domains = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
        let fields = [
            ("driver", Type::String),
            ("attributes", domains(Type::Any)),
            ("capacity", domains(Type::parse("kubernetes.Quantity")?)),
            ("allowMultipleAllocations", Type::Bool),
        ];
        let env = Env::new(kubeshape_cel::Release::NEWEST).with_object_type("kubernetes.DRADevice", fields);
        Some(env.with_variable("device", Type::object("kubernetes.DRADevice")))
    });
    let Some(environment) = environment.as_ref().filter(|_| !expression.contains("cel.bind")) else { return Ok(()) };
    let compiled = environment.compile(expression).map_err(|issues| format!("compilation failed: {issues}"))?;
    match compiled.output_type() {
        Type::Bool | Type::Any | Type::Dyn => Ok(()),
        other => Err(format!("must evaluate to bool or the unknown type, not {other}")),
    }
}

/// `validateRequestNameRef`, for the `requests` of a constraint or a configuration.
fn request_names(owner: Value<'_>, requests: &[Value<'_>], path: &Path<'_>, found: &mut Found) {
    let path = path.child("requests");
    let list = texts(items(owner, "requests"));
    if list.len() > MOST_REQUESTS {
        return found.too_many(&path, list.len(), MOST_REQUESTS);
    }
    for (at, name) in list.iter().enumerate() {
        request_name(name, requests, &path.index(at), found);
    }
    let mut seen = BTreeSet::new();
    for (at, name) in list.iter().enumerate() {
        if !seen.insert(name) {
            found.duplicate(&path.index(at), Value::String(name));
        }
    }
}

fn request_name(name: &str, requests: &[Value<'_>], path: &Path<'_>, found: &mut Found) {
    let value = Value::String(name);
    if name.split('/').count() > 2 {
        return found.invalid(path, value, NOT_A_REQUEST);
    }
    for part in name.split('/') {
        found.messages(path, Value::String(part), names::dns1123_label(part));
    }
    let (owner, sub) = name.split_once('/').map_or((name, None), |(owner, sub)| (owner, Some(sub)));
    let is_known = requests.iter().any(|request| {
        text(*request, "name") == owner
            && sub.is_none_or(|sub| items(*request, "firstAvailable").iter().any(|item| text(*item, "name") == sub))
    });
    if !is_known {
        found.invalid(path, value, NOT_A_REQUEST);
    }
}

/// `validateFullyQualifiedName`
fn qualified(name: &str, path: &Path<'_>, found: &mut Found) {
    attribute_name(name, path, found);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        found.invalid(path, Value::String(name), detail);
    }
}

/// `validateQualifiedName`
fn attribute_name(name: &str, path: &Path<'_>, found: &mut Found) {
    let identifier = |text: &str, found: &mut Found| {
        found.messages(path, Value::String(text), form::c_identifier(text));
        if text.len() > 32 {
            found.too_long(path, 32);
        }
    };
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [name] => identifier(name, found),
        [domain, name] => {
            if domain.is_empty() {
                found.invalid(path, Value::String(""), "the domain must not be empty");
            } else {
                driver(domain, path, found);
            }
            if name.is_empty() {
                found.invalid(path, Value::String(""), "the name must not be empty");
            } else {
                identifier(name, found);
            }
        }
        _ => {}
    }
}

/// `validateDriverName`
fn driver(name: &str, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 63;
    if name.is_empty() {
        return found.required(path, "");
    }
    if name.len() > MOST {
        found.too_long(path, MOST);
    }
    found.messages(path, Value::String(name), names::dns1123_subdomain(&name.to_lowercase()));
}

fn configuration(config: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let opaque = get(config, "opaque");
    let path = path.child("opaque");
    if opaque.is_null() {
        return found.required(&path, "");
    }
    driver(text(opaque, "driver"), &path.child("driver"), found);
    let path = path.child("parameters");
    match get(opaque, "parameters") {
        Value::Null => found.required(&path, ""),
        Value::Map(_) => {}
        _ => found.invalid(&path, Value::String("<value omitted>"), "must be a valid JSON object"),
    }
}

/// `validateDeviceClassSpec`
fn class(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    selectors(spec, &path, found);
    let configs = items(spec, "config");
    let config_path = path.child("config");
    if configs.len() > MOST_CONFIG {
        found.too_many(&config_path, configs.len(), MOST_CONFIG);
    } else {
        for (at, config) in configs.iter().enumerate() {
            configuration(*config, &config_path.index(at), found);
        }
    }
    let extended = get(spec, "extendedResourceName");
    if extended.as_str().is_some_and(|name| !super::limits::is_extended(name)) {
        found.invalid(&path.child("extendedResourceName"), extended, "must be a valid extended resource name");
    }
}

/// `validateResourceClaimStatusUpdate`, in part.
fn claim_status(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    let reserved = items(status, "reservedFor");
    let reserved_path = path.child("reservedFor");
    let mut seen = BTreeSet::new();
    for (at, item) in reserved.iter().enumerate() {
        if !seen.insert(text(*item, "uid")) {
            found.duplicate(&reserved_path.index(at), get(*item, "uid"));
        }
    }
    if !reserved.is_empty() && get(status, "allocation").is_null() {
        found.forbidden(&reserved_path, "may not be specified when `allocated` is not set");
    }
    device_statuses(status, &path, found);
    let requests = items(get(get(at.value, "spec"), "devices"), "requests");
    let results = items(get(get(status, "allocation"), "devices"), "results");
    let path = path.child("allocation");
    let path = path.child("devices");
    let path = path.child("results");
    for (at, result) in results.iter().enumerate() {
        let path = path.index(at);
        request_name(text(*result, "request"), requests, &path.child("request"), found);
    }
}

/// Checks the status of devices, which must be allocated: `validateDeviceStatus`.
fn device_statuses(status: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let id = |device: Value<'_>| ["driver", "pool", "device", "shareID"].map(|key| text(device, key).to_owned());
    let results = items(get(get(status, "allocation"), "devices"), "results");
    let allocated: BTreeSet<_> = results.iter().map(|result| id(*result)).collect();
    let mut seen = BTreeSet::new();
    let path = path.child("devices");
    for (at, device) in items(status, "devices").iter().enumerate() {
        let path = path.index(at);
        let own = id(*device);
        let shown = || {
            let [driver, pool, device, share] = own.each_ref().map(|text| Value::String(text));
            let members = [("Device", device), ("Driver", driver), ("Pool", pool), ("ShareID", share)];
            bad(Value::Map(Map::sorted(&members)))
        };
        if !allocated.contains(&own) {
            found.errors.push(Error::invalid(&path, shown(), "must be an allocated device in the claim", 0));
        }
        if seen.contains(&own) {
            found.errors.push(Error::duplicate(&path, shown(), 0));
        }
        seen.insert(own);
    }
}

/// `validateResourceSliceSpec`
fn slice(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    driver(text(spec, "driver"), &path.child("driver"), found);
    pool(get(spec, "pool"), &path.child("pool"), found);
    if let Some(old) = at.scope.old.map(|old| get(old, "spec")) {
        let name = |spec: Value<'_>| text(get(spec, "pool"), "name").to_owned();
        if name(spec) != name(old) {
            found.invalid(&path.child("pool").child("name"), get(get(spec, "pool"), "name"), IMMUTABLE);
        }
        for key in ["driver", "nodeName"] {
            if get(spec, key).to_string() != get(old, key).to_string() {
                found.invalid(&path.child(key), get(spec, key), IMMUTABLE);
            }
        }
    }
    node_choice(spec, &path, found);
    if !get(spec, "sharedCounters").is_null() && !get(spec, "devices").is_null() {
        found.invalid(&path, Value::String(""), "only one of `sharedCounters` or `devices` is allowed");
    }
    devices(spec, &path, found);
    let sets = items(spec, "sharedCounters");
    let path = path.child("sharedCounters");
    if sets.len() > MOST_SETS {
        return found.too_many(&path, sets.len(), MOST_SETS);
    }
    for (at, set) in sets.iter().enumerate() {
        let path = path.index(at);
        counters(*set, "name", &path, found);
    }
    repeated(sets, &path, found);
}

fn pool(pool: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 253;
    let name = text(pool, "name");
    let name_path = path.child("name");
    if name.is_empty() {
        found.required(&name_path, "");
    } else {
        if name.len() > MOST {
            found.too_long(&name_path, MOST);
        }
        for part in name.split('/') {
            found.messages(&name_path, Value::String(part), names::dns1123_subdomain(part));
        }
    }
    let count = number(pool, "resourceSliceCount").unwrap_or(0);
    if count <= 0 {
        found.invalid(&path.child("resourceSliceCount"), Value::Int(count), "must be greater than zero");
    }
    let generation = number(pool, "generation").unwrap_or(0);
    if generation < 0 {
        found.invalid(&path.child("generation"), Value::Int(generation), "must be greater than or equal to zero");
    }
}

fn node_choice(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let mut set = Vec::new();
    let node = get(spec, "nodeName");
    match node.as_str() {
        None => {}
        Some("") => {
            found.invalid(&path.child("nodeName"), node, "must be either unset or set to a non-empty string");
        }
        Some(name) => {
            set.push("`nodeName`");
            found.messages(&path.child("nodeName"), node, names::dns1123_subdomain(name));
        }
    }
    let selector = get(spec, "nodeSelector");
    if !selector.is_null() {
        set.push("`nodeSelector`");
        let terms = items(selector, "nodeSelectorTerms");
        super::pods::node_selector(selector, false, &path.child("nodeSelector"), found);
        if terms.len() != 1 {
            let path = path.child("nodeSelector");
            let detail = "must have exactly one node selector term";
            found.invalid(&path.child("nodeSelectorTerms"), get(selector, "nodeSelectorTerms"), detail);
        }
    }
    for (key, shown) in [("allNodes", "`allNodes`"), ("perDeviceNodeSelection", "`perDeviceNodeSelection`")] {
        let value = get(spec, key);
        if flag(spec, key) {
            set.push(shown);
        } else if !value.is_null() {
            found.invalid(&path.child(key), value, "must be either unset or set to true");
        }
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    match set.len() {
        0 => found.required(path, detail),
        1 => {}
        _ => {
            let set = format!("{{{}}}", set.join(", "));
            found.invalid(path, Value::String(&set), format!("{detail}, but multiple fields are set"));
        }
    }
}

fn counters(owner: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    required_as(owner, key, names::dns1123_label, path, found);
    let path = path.child("counters");
    if entries(owner, "counters").is_empty() {
        found.required(&path, "");
    }
    for (name, _) in entries(owner, "counters") {
        found.messages(&path, Value::String(name), names::dns1123_label(name));
    }
}

fn devices(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 128;
    const MOST_ADVANCED: usize = 64;
    const MOST_ATTRIBUTES: usize = 32;
    const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];
    let path = path.child("devices");
    let list = items(spec, "devices");
    let has_lists = |device: Value<'_>| {
        entries(device, "attributes").iter().any(|(_, value)| LISTS.iter().any(|key| !get(*value, key).is_null()))
    };
    let is_advanced = list.iter().any(|device| {
        !items(*device, "taints").is_empty() || !items(*device, "consumesCounters").is_empty() || has_lists(*device)
    });
    let most = if is_advanced { MOST_ADVANCED } else { MOST };
    if list.len() > most {
        return found.too_many(&path, list.len(), most);
    }
    for (at, device) in list.iter().enumerate() {
        let path = path.index(at);
        let name = text(*device, "name");
        found.messages(&path.child("name"), Value::String(name), names::dns1123_label(name));
        let (attributes, capacity) = (entries(*device, "attributes"), entries(*device, "capacity"));
        if attributes.len() + capacity.len() > MOST_ATTRIBUTES {
            let detail = format!("the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}");
            let count = i64::try_from(attributes.len() + capacity.len()).unwrap_or(i64::MAX);
            found.invalid(&path, Value::Int(count), detail);
        }
        let attributes_path = path.child("attributes");
        for (key, value) in attributes {
            attribute_name(key, &attributes_path, found);
            attribute(*value, &attributes_path.key(key), found);
        }
        let capacity_path = path.child("capacity");
        for (key, value) in capacity {
            attribute_name(key, &capacity_path, found);
            let path = capacity_path.key(key);
            capacity::request_policy(
                *value,
                flag(*device, "allowMultipleAllocations"),
                &path.child("requestPolicy"),
                found,
            );
        }
        let taints_path = path.child("taints");
        for (at, taint) in items(*device, "taints").iter().enumerate() {
            device_taint(*taint, &taints_path.index(at), found);
        }
        let consumes = path.child("consumesCounters");
        for (at, item) in items(*device, "consumesCounters").iter().enumerate() {
            counters(*item, "counterSet", &consumes.index(at), found);
        }
        binding_conditions(*device, &path, found);
    }
    repeated(list, &path, found);
}

fn device_taint(taint: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
    found.messages(&path.child("key"), Value::String(key), names::qualified_name(key));
    if !value.is_empty() {
        found.messages(&path.child("value"), Value::String(value), names::label_value(value));
    }
    if effect.is_empty() {
        found.required(&path.child("effect"), "");
    } else if !EFFECTS.contains(&effect) {
        found.not_supported(&path.child("effect"), Value::String(effect), &EFFECTS);
    }
}

fn attribute(attribute: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 64;
    const KEYS: [&str; 8] = ["bool", "int", "string", "version", "bools", "ints", "strings", "versions"];
    for key in ["string", "version"] {
        let value = get(attribute, key);
        let Some(text) = value.as_str() else { continue };
        if key == "version" && !is_version(text) {
            let detail = "must be a string compatible with semver.org spec 2.0.0";
            found.invalid(&path.child(key), value, detail);
        }
        if text.len() > MOST {
            found.too_long(&path.child(key), MOST);
        }
    }
    let count = KEYS.iter().filter(|key| !get(attribute, key).is_null()).count();
    if count != 1 {
        let shown = if count == 0 { Value::String("") } else { attribute };
        found.invalid(path, shown, "exactly one value must be specified");
    }
}

/// Returns whether a text is a version in the syntax of semver.org.
fn is_version(text: &str) -> bool {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, pre) = rest.split_once('-').map_or((rest, None), |(core, pre)| (core, Some(pre)));
    let is_number = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
    };
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_pre = |part: &str| is_word(part) && (!part.bytes().all(|byte| byte.is_ascii_digit()) || is_number(part));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && pre.is_none_or(|pre| pre.split('.').all(is_pre))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

fn binding_conditions(device: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let check: fn(&str) -> Messages = names::qualified_name;
    let keys = ["bindingConditions", "bindingFailureConditions"];
    for key in keys {
        let path = path.child(key);
        let list = texts(items(device, key));
        let mut seen = BTreeSet::new();
        for (at, name) in list.iter().enumerate() {
            found.messages(&path.index(at), Value::String(name), check(name));
            if !seen.insert(name) {
                found.duplicate(&path.index(at), Value::String(name));
            }
        }
    }
    let [bound, failed] = keys.map(|key| texts(items(device, key)));
    let failed_path = path.child("bindingFailureConditions");
    for (at, name) in failed.iter().enumerate().filter(|(_, name)| bound.contains(name)) {
        let detail = "bindingFailureConditions must not overlap with bindingConditions";
        found.invalid(&failed_path.index(at), Value::String(name), detail);
    }
    if bound.is_empty() && !failed.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        found.invalid(&path.child("bindingConditions"), get(device, "bindingConditions"), detail);
    }
    if failed.is_empty() && !bound.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        found.invalid(&failed_path, get(device, "bindingFailureConditions"), detail);
    }
}
