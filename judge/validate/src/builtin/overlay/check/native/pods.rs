//! Rules about pods: `ValidatePodSpec` and the functions that it calls (`pkg/apis/core/validation`). The options are
//! those of the default feature gates, and those for what the old object already has
//! (`GetValidationOptionsFromPodSpecAndMeta`).

mod claims;
mod containers;
mod probes;
mod resources;
mod scheduling;
mod security;
mod selectors;
mod template;
mod update;
mod volumes;
mod warnings;

pub(super) use claims::claim_spec;
pub(super) use scheduling::{node_selector, tolerations};
pub(super) use template::{metadata_of_template, pod_template, selector_mismatch, template_annotations};

use super::super::form::{self, selector as label_selector};
use super::super::{At, Found};
use super::{Names, entries, flag, get, items, number, string, text};
use crate::metadata;
use crate::names;
use crate::object::is_ip;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("pod", pod),
    ("pod update", update::pod_update),
    ("pod status", update::pod_status),
    ("volume nodes", volume_nodes),
    ("pod template", template::template_of_kind),
    ("template warnings", template_warnings),
];

/// When an image is pulled, in the order of messages.
const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// The error about the mode bits of a file: `fileModeErrorMsg`.
const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// What the checks of a pod's spec need to know about the rest of the object.
pub(super) struct Pod<'a> {
    pub(super) spec: Value<'a>,
    /// The metadata of a pod. `Null` for templates.
    pub(super) metadata: Value<'a>,
    /// The spec that is replaced. `Null` if there is none.
    pub(super) old: Value<'a>,
    pub(super) is_whole: bool,
    pub(super) volumes: BTreeSet<&'a str>,
    /// Volumes that come from a claim.
    pub(super) claims: BTreeSet<&'a str>,
    /// Volumes that the kind adds to its pods.
    pub(super) added: BTreeSet<&'a str>,
    pub(super) resource_claims: BTreeSet<&'a str>,
    pub(super) grace: Option<i64>,
    pub(super) host_users: bool,
    /// Whether host names are checked. They are not checked if pods get their names from another object.
    pub(super) is_named: bool,
    pub(super) allows: Allows,
}

/// What is allowed because the old object has it.
#[derive(Clone, Copy, Default)]
pub(super) struct Allows {
    selectors: bool,
    node_selectors: bool,
    spread_selectors: bool,
    token_paths: bool,
    sysctls: bool,
    huge_pages: bool,
    user_namespaces: bool,
    deletion_cost: bool,
    resize_restarts: bool,
}

impl<'a> Pod<'a> {
    pub(super) fn new(spec: Value<'a>, metadata: Value<'a>, old: Value<'a>, is_pod: bool) -> Pod<'a> {
        let claims = items(spec, "resourceClaims").iter().map(|claim| text(*claim, "name"));
        Pod {
            spec,
            metadata,
            old,
            is_whole: is_pod,
            volumes: BTreeSet::new(),
            claims: BTreeSet::new(),
            added: BTreeSet::new(),
            resource_claims: claims.filter(|name| !name.is_empty()).collect(),
            grace: number(spec, "terminationGracePeriodSeconds"),
            host_users: !matches!(spec.get("hostUsers"), Some(Value::Bool(false))),
            is_named: true,
            allows: Allows::of(old),
        }
    }

    fn os(&self) -> &'a str {
        text(get(self.spec, "os"), "name")
    }
}

impl Allows {
    fn of(old: Value<'_>) -> Allows {
        if old.is_null() {
            return Allows::default();
        }
        let finds = |check: &dyn Fn(&mut Found)| {
            let mut found = Found::default();
            check(&mut found);
            !found.errors.is_empty()
        };
        let root = &Path::Root;
        Allows {
            selectors: finds(&|found| scheduling::affinity_selectors(old, found)),
            node_selectors: finds(&|found| scheduling::node_selector_values(old, found)),
            spread_selectors: items(old, "topologySpreadConstraints")
                .iter()
                .any(|item| finds(&|found| label_selector(get(*item, "labelSelector"), root, found))),
            token_paths: volumes::has_foreign_token_path(old),
            sysctls: finds(&|found| security::host_sysctls(old, root, found)),
            huge_pages: resources::has_indivisible_pages(old),
            user_namespaces: security::has_user_namespace_devices(old),
            deletion_cost: false,
            resize_restarts: containers::has_resize_restarts(old),
        }
    }
}

/// Returns the containers of a spec, with their fields.
pub(super) fn all_containers(spec: Value<'_>) -> impl Iterator<Item = (&'static str, usize, Value<'_>)> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(move |field| items(spec, field).iter().enumerate().map(move |(index, item)| (field, index, *item)))
}

fn require(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    if text(value, key).is_empty() {
        found.required(&path.child(key), "");
    }
}

/// Checks a text with a function, if it is present.
fn check_text(value: Value<'_>, key: &str, path: &Path<'_>, check: fn(&str) -> names::Messages, found: &mut Found) {
    let own = text(value, key);
    if !own.is_empty() {
        found.messages(&path.child(key), get(value, key), check(own));
    }
}

/// Checks that a text is one of a few. If it is absent or empty, it is an error or ignored, as `required` says.
fn one_of(value: Value<'_>, key: &str, of: &[&str], required: bool, path: &Path<'_>, found: &mut Found) {
    let own = get(value, key);
    match own.as_str().unwrap_or_default() {
        "" if required => found.required(&path.child(key), ""),
        "" if own.is_null() => {}
        text if !of.contains(&text) => found.not_supported(&path.child(key), own, of),
        _ => {}
    }
}

fn between(value: Value<'_>, key: &str, min: i64, max: i64, path: &Path<'_>, found: &mut Found) {
    if number(value, key).is_some_and(|number| !(min..=max).contains(&number)) {
        let detail = format!("must be between {min} and {max}, inclusive");
        found.invalid(&path.child(key), get(value, key), detail);
    }
}

fn mode(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    if number(value, key).is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        found.invalid(&path.child(key), get(value, key), MODE);
    }
}

/// Checks a pod: `validatePodMetadataAndSpec`, without its metadata.
fn pod(at: &At<'_, '_>, found: &mut Found) {
    let old = get(at.scope.old.unwrap_or(Value::Null), "spec");
    let metadata = at.get("metadata");
    let spec = at.get("spec");
    let mut pod = Pod::new(spec, metadata, old, true);
    if let Some(old) = at.scope.old {
        let cost = text(get(get(old, "metadata"), "annotations"), template::DELETION_COST);
        pod.allows.deletion_cost = template::is_wrong_cost(cost);
    }
    let meta_path = at.path.child("metadata");
    template::annotations(metadata, &pod, &meta_path.child("annotations"), found);
    let path = at.path.child("spec");
    check_spec(&mut pod, &path, found);
    if text(spec, "serviceAccountName").is_empty() {
        volumes::tokens_without_account(spec, &path, found);
    }
    for field in ["containers", "initContainers"] {
        for (index, item) in items(spec, field).iter().enumerate() {
            containers::padded_image(*item, &path.child(field).index(index), found);
        }
    }
    if at.scope.old.is_none() {
        update::pod_creation(&pod, &path, found);
        warnings::warnings(at.value, false, at.path, found);
    }
}

/// Checks the node selector of a volume. Stored objects may have invalid labels in it.
fn volume_nodes(at: &At<'_, '_>, found: &mut Found) {
    node_selector(at.value, at.scope.old.is_some(), at.path, found);
}

/// Adds the warnings about the template of a new object, and of one whose generation changes:
/// `GetWarningsForPodTemplate`.
fn template_warnings(at: &At<'_, '_>, found: &mut Found) {
    let generation = |object: Value<'_>| number(get(object, "metadata"), "generation");
    let is_same = |old: Value<'_>| generation(old) == generation(at.scope.root);
    if !at.scope.old.is_some_and(is_same) {
        // An update of a ReplicationController warns about the old template (`rcStrategy.WarningsOnUpdate`).
        let replaced = at.scope.old.filter(|_| at.scope.kind == "ReplicationController");
        let template = replaced.map_or(at.value, |old| get(get(old, "spec"), "template"));
        warnings::warnings(template, true, at.path, found);
    }
}

/// `ValidatePodSpec`
pub(super) fn check_spec(pod: &mut Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let spec = pod.spec;
    if pod.grace.is_none() {
        found.required(&path.child("terminationGracePeriodSeconds"), "");
    }
    volumes::volumes(pod, &path.child("volumes"), found);
    scheduling::resource_claims(pod, &path.child("resourceClaims"), found);
    containers::containers(pod, path, found);
    resources::pod_resources(pod, path, found);
    host_ports(pod, &path.child("containers"), found);
    one_of(spec, "restartPolicy", &["Always", "OnFailure", "Never"], true, path, found);
    one_of(spec, "dnsPolicy", &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"], true, path, found);
    labels(spec, "nodeSelector", path, found);
    security::pod(pod, path, found);
    scheduling::affinity(pod, &path.child("affinity"), found);
    dns(spec, &path.child("dnsConfig"), found);
    gates(spec, path, found);
    scheduling::spread(pod, &path.child("topologySpreadConstraints"), found);
    security::host_process(spec, path, found);
    security::host_users(pod, path, found);
    host_name_override(spec, path, found);
    names_of_spec(pod, path, found);
    if let Some(overhead) = spec.get("overhead") {
        resources::limits(overhead, &path.child("overhead"), pod.allows.huge_pages, found);
    }
    security::operating_system(pod, path, found);
    containers::file_keys(spec, path, found);
}

pub(super) fn labels(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let pairs: Vec<_> = entries(value, key).iter().filter_map(|(key, value)| Some((*key, value.as_str()?))).collect();
    metadata::labels(&pairs, &path.child(key), 0, &mut found.errors);
}

fn names_of_spec(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let spec = pod.spec;
    check_text(spec, "serviceAccountName", path, names::dns1123_subdomain, found);
    check_text(spec, "nodeName", path, names::dns1123_subdomain, found);
    between(spec, "activeDeadlineSeconds", 1, i64::from(i32::MAX), path, found);
    if pod.is_named {
        check_text(spec, "hostname", path, names::dns1123_label, found);
        check_text(spec, "subdomain", path, names::dns1123_label, found);
    }
    scheduling::tolerations(items(spec, "tolerations"), &path.child("tolerations"), found);
    let aliases = path.child("hostAliases");
    for (index, alias) in items(spec, "hostAliases").iter().enumerate() {
        let path = aliases.index(index);
        ip(string(get(*alias, "ip")), &path.child("ip"), found);
        let names_path = path.child("hostnames");
        for (index, name) in items(*alias, "hostnames").iter().enumerate() {
            let messages = names::dns1123_subdomain(name.as_str().unwrap_or_default());
            found.messages(&names_path.index(index), *name, messages);
        }
    }
    check_text(spec, "priorityClassName", path, names::dns1123_subdomain, found);
    if let Some(class) = spec.get("runtimeClassName").and_then(Value::as_str) {
        let messages = names::dns1123_subdomain(class);
        found.messages(&path.child("runtimeClassName"), get(spec, "runtimeClassName"), messages);
    }
    if spec.get("preemptionPolicy").is_some() {
        one_of(spec, "preemptionPolicy", &["PreemptLowerPriority", "Never"], true, path, found);
    }
}

pub(super) fn ip(value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let own = value.as_str().unwrap_or_default();
    // `IsValidIPForLegacyField` with strict validation, which is off.
    if !is_ip(own, true) {
        found.messages(path, value, form::ip(own));
    }
}

/// `validatePodHostNetworkDeps`
fn host_ports(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    if !flag(pod.spec, "hostNetwork") {
        return;
    }
    for (index, container) in items(pod.spec, "containers").iter().enumerate() {
        let ports = path.index(index);
        let ports = ports.child("ports");
        for (index, port) in items(*container, "ports").iter().enumerate() {
            let (host, own) = (number(*port, "hostPort").unwrap_or(0), number(*port, "containerPort").unwrap_or(0));
            if (pod.is_whole || host != 0) && host != own {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                found.invalid(&ports.index(index).child("hostPort"), Value::Int(host), detail);
            }
        }
    }
}

/// `validatePodDNSConfig`
fn dns(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let config = spec.get("dnsConfig");
    if text(spec, "dnsPolicy") == "None" {
        let Some(config) = config else {
            return found.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
        };
        if items(config, "nameservers").is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return found.required(&path.child("nameservers"), detail);
        }
    }
    let Some(config) = config else { return };
    let servers = items(config, "nameservers");
    let servers_path = path.child("nameservers");
    if servers.len() > 3 {
        found.invalid(&servers_path, get(config, "nameservers"), "must not have more than 3 nameservers");
    }
    for (index, server) in servers.iter().enumerate() {
        ip(*server, &servers_path.index(index), found);
    }
    let searches = items(config, "searches");
    let searches_path = path.child("searches");
    if searches.len() > 32 {
        found.invalid(&searches_path, get(config, "searches"), "must not have more than 32 search paths");
    }
    let length: usize = searches.iter().map(|search| search.as_str().map_or(0, str::len) + 1).sum();
    if length.saturating_sub(1) > 2048 {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        found.invalid(&searches_path, get(config, "searches"), detail);
    }
    for (index, search) in searches.iter().enumerate() {
        let search = search.as_str().unwrap_or_default();
        if search != "." {
            let search = search.strip_suffix('.').unwrap_or(search);
            let path = searches_path.index(index);
            found.messages(&path, Value::String(search), form::subdomain_with_underscore(search));
        }
    }
    for (index, option) in items(config, "options").iter().enumerate() {
        if text(*option, "name").is_empty() {
            found.required(&path.child("options").index(index), "must not be empty");
        }
    }
}

/// `validateReadinessGates`, `validateSchedulingGates`
fn gates(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let readiness = path.child("readinessGates");
    for (index, gate) in items(spec, "readinessGates").iter().enumerate() {
        let name = string(get(*gate, "conditionType"));
        let messages = names::qualified_name(name.as_str().unwrap_or_default());
        found.messages(&readiness.index(index).child("conditionType"), name, messages);
    }
    let scheduling = path.child("schedulingGates");
    let mut seen = BTreeSet::new();
    for (index, gate) in items(spec, "schedulingGates").iter().enumerate() {
        let path = scheduling.index(index);
        let name = string(get(*gate, "name"));
        let own = name.as_str().unwrap_or_default();
        found.messages(&path, name, names::qualified_name(own));
        if !seen.insert(own) {
            found.duplicate(&path, name);
        }
    }
}

/// `validatePodHostName`
fn host_name_override(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(name) = spec.get("hostnameOverride").and_then(Value::as_str) else { return };
    let path = path.child("hostnameOverride");
    if flag(spec, "setHostnameAsFQDN") {
        found.forbidden(&path, "may not be specified when setHostnameAsFQDN is true");
    }
    if flag(spec, "hostNetwork") {
        found.forbidden(&path, "may not be specified when hostNetwork is true");
    }
    if name.len() > 64 {
        found.too_long(&path, 64);
    }
    found.messages(&path, Value::String(name), names::dns1123_subdomain(name));
}
