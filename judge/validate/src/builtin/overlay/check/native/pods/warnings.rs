//! Warnings about pods: `warningsForPodSpecAndMeta` of `pkg/api/pod`.

use super::super::super::Found;
use super::super::warnings::{DEPRECATED_VOLUMES, claim_spec, deprecated_label, expressions, fractions, ip};
use super::{all_containers, entries, get, items, number, text};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::{BTreeMap, BTreeSet};

/// Resources that are numbers of bytes.
const BYTES: [&str; 2] = ["memory", "ephemeral-storage"];
const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
];
const SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";

const POD: &str = "seccomp.security.alpha.kubernetes.io/pod";

/// Warns about a pod, or about a template at a path.
pub(super) fn warnings(pod: Value<'_>, is_template: bool, at: &Path<'_>, found: &mut Found) {
    let (spec, metadata) = (get(pod, "spec"), get(pod, "metadata"));
    let path = at.child("spec");
    labels(spec, &path, found);
    for (index, own) in items(spec, "topologySpreadConstraints").iter().enumerate() {
        let key = text(*own, "topologyKey");
        if let Some(message) = deprecated_label(key) {
            let path = path.child("topologySpreadConstraints");
            let path = path.index(index);
            warn(&path.child("topologyKey"), &format!("{key} is {message}"), found);
        }
        if own.get("labelSelector").is_none() {
            let path = path.child("topologySpreadConstraints");
            let path = path.index(index);
            warn(&path.child("labelSelector"), "a null labelSelector results in matching no pod", found);
        }
    }
    annotations(spec, metadata, is_template, &at.child("metadata").child("annotations"), found);
    let volumes = path.child("volumes");
    for (index, volume) in items(spec, "volumes").iter().enumerate() {
        for (_, name, what) in DEPRECATED_VOLUMES.iter().filter(|(key, ..)| volume.get(key).is_some()) {
            warn(&volumes.index(index).child(name), what, found);
        }
        let claim = get(get(*volume, "ephemeral"), "volumeClaimTemplate");
        let path = volumes.index(index);
        let path = path.child("ephemeral");
        let path = path.child("volumeClaimTemplate");
        claim_spec(get(claim, "spec"), &path.child("spec"), found);
    }
    overlapping_paths(spec, found);
    repeated_names(spec, &path, found);
    containers(spec, &path, found);
    ports(spec, &path, found);
    if number(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let what = "must be >= 0; negative values are invalid and will be treated as 1";
        warn(&path.child("terminationGracePeriodSeconds"), what, found);
    }
    affinity(get(spec, "affinity"), &path.child("affinity"), found);
    addresses(spec, &path, found);
}

/// Warns about deprecated labels of nodes.
fn labels(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let selector = path.child("nodeSelector");
    for (label, _) in entries(spec, "nodeSelector") {
        if let Some(message) = deprecated_label(label) {
            warn(&selector.key(label), message, found);
        }
    }
    let affinity = get(get(spec, "affinity"), "nodeAffinity");
    let path = path.child("affinity");
    let path = path.child("nodeAffinity");
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = path.child(required);
    let terms = terms.child("nodeSelectorTerms");
    for (index, term) in items(get(affinity, required), "nodeSelectorTerms").iter().enumerate() {
        expressions(*term, &terms.index(index), found);
    }
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let path = path.child(preferred);
    for (index, item) in items(affinity, preferred).iter().enumerate() {
        let path = path.index(index);
        let (term, path) = (get(*item, "preference"), path.child("preference"));
        expressions(term, &path, found);
        let path = path.child("matchExpressions");
        for (index, expression) in items(term, "matchExpressions").iter().enumerate() {
            let path = path.index(index);
            let path = path.child("values");
            for (index, value) in items(*expression, "values").iter().enumerate() {
                let value = value.as_str().unwrap_or_default();
                for message in names::label_value(value) {
                    warn(&path.index(index), &format!("{value} is invalid, {message}"), found);
                }
            }
        }
    }
}

/// A path in a volume, and its source.
struct Target<'a> {
    path: &'a str,
    source: String,
}

impl Target<'_> {
    /// Returns whether one of the paths contains the other: `checkForOverlap`.
    fn overlaps(&self, other: &Target<'_>) -> bool {
        let contains = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.path.is_empty()
            && !other.path.is_empty()
            && (contains(self.path, other.path) || contains(other.path, self.path))
    }
}

impl std::fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", GoQuoted(self.path))?;
        if self.source.is_empty() { Ok(()) } else { write!(f, " ({})", self.source) }
    }
}

/// Warns about files of a volume that hide each other: `warningsForOverlappingVirtualPaths`.
fn overlapping_paths(spec: Value<'_>, found: &mut Found) {
    /// The maximum number of paths of a pod that are compared. Each is compared with all paths before it.
    const MOST: usize = 2_000;
    let mut left = MOST;
    let mut warn_of = |volume: Value<'_>, what: &str, targets: Vec<Target<'_>>, found: &mut Found| {
        let name = GoQuoted(text(volume, "name"));
        let targets: Vec<_> = targets.into_iter().take(left).collect();
        left -= targets.len();
        for (at, target) in targets.iter().enumerate() {
            for other in targets.iter().take(at).filter(|other| other.overlaps(target)) {
                found.warn(format!("volume {name} ({what}): overlapping paths: {target} with {other}"));
            }
        }
    };
    for volume in items(spec, "volumes") {
        for (key, what, name) in
            [("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"), ("downwardAPI", "DownwardAPI", "")]
        {
            let source = get(*volume, key);
            let what =
                if name.is_empty() { what.to_owned() } else { format!("{what} {}", GoQuoted(text(source, name))) };
            warn_of(*volume, &what, targets(source, ""), found);
        }
        let mut all = Vec::new();
        for source in items(get(*volume, "projected"), "sources") {
            if crate::typed::is_empty(*source) {
                let name = GoQuoted(text(*volume, "name"));
                found.warn(format!("volume {name} (Projected) has no sources provided"));
            }
            all.extend(projected(*source));
        }
        warn_of(*volume, "Projected", all, found);
    }
}

/// Returns the paths of the items of a source.
fn targets<'a>(source: Value<'a>, from: &str) -> Vec<Target<'a>> {
    items(source, "items").iter().map(|item| target(text(*item, "path"), from)).collect()
}

fn target<'a>(path: &'a str, from: &str) -> Target<'a> {
    Target { path: path.trim_end_matches('/'), source: from.to_owned() }
}

/// Returns the paths of one source of a projected volume.
fn projected(source: Value<'_>) -> Vec<Target<'_>> {
    let of = |key: &str| source.get(key).filter(|value| !value.is_null());
    let named = |kind: &str, own: Value<'_>| format!("{kind} {}", GoQuoted(text(own, "name")));
    let lists = |own: &Value<'_>| !items(*own, "items").is_empty();
    if let Some(own) = of("configMap").filter(lists) {
        targets(own, &named("ConfigMap", own))
    } else if let Some(own) = of("secret").filter(lists) {
        targets(own, &named("Secret", own))
    } else if let Some(own) = of("downwardAPI").filter(lists) {
        targets(own, "DownwardAPI")
    } else if let Some(own) = of("serviceAccountToken") {
        vec![target(text(own, "path"), "ServiceAccountToken")]
    } else if let Some(own) = of("clusterTrustBundle") {
        let key = if get(own, "name").is_null() { "signerName" } else { "name" };
        vec![target(text(own, "path"), &format!("ClusterTrustBundle {}", GoQuoted(text(own, key))))]
    } else {
        let own = get(source, "podCertificate");
        let parts =
            [("certificateChainPath", "chain"), ("keyPath", "key"), ("credentialBundlePath", "credential bundle")];
        let parts = parts.iter().filter(|(key, _)| !text(own, key).is_empty());
        parts.map(|(key, what)| target(text(own, key), &format!("PodCertificate {what}"))).collect()
    }
}

/// Warns about pod affinity terms without a selector.
fn affinity(affinity: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const NONE: &str = "a null labelSelector results in matching no pod";
    for kind in ["podAffinity", "podAntiAffinity"] {
        let path = path.child(kind);
        let (own, required) = (get(affinity, kind), "requiredDuringSchedulingIgnoredDuringExecution");
        let terms = path.child(required);
        for (index, term) in items(own, required).iter().enumerate() {
            if term.get("labelSelector").is_none() {
                warn(&terms.index(index).child("labelSelector"), NONE, found);
            }
        }
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        let terms = path.child(preferred);
        for (index, term) in items(own, preferred).iter().enumerate() {
            if get(*term, "podAffinityTerm").get("labelSelector").is_none() {
                let path = terms.index(index);
                warn(&path.child("podAffinityTerm").child("labelSelector"), NONE, found);
            }
        }
    }
}

fn addresses(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let servers = path.child("dnsConfig");
    let servers = servers.child("nameservers");
    for (index, server) in items(get(spec, "dnsConfig"), "nameservers").iter().enumerate() {
        ip(server.as_str().unwrap_or_default(), &servers.index(index), found);
    }
    let aliases = path.child("hostAliases");
    for (index, alias) in items(spec, "hostAliases").iter().enumerate() {
        ip(text(*alias, "ip"), &aliases.index(index).child("ip"), found);
    }
}

fn warn(path: &Path<'_>, what: &str, found: &mut Found) {
    found.warn(format!("{path}: {what}"));
}

fn annotations(spec: Value<'_>, metadata: Value<'_>, is_template: bool, path: &Path<'_>, found: &mut Found) {
    let annotations = get(metadata, "annotations");
    for (key, what) in ANNOTATIONS.iter().filter(|(key, _)| annotations.get(key).is_some()) {
        warn(&path.key(key), what, found);
    }
    let context = get(spec, "securityContext");
    if context.get("seccompProfile").is_none() && annotations.get(POD).is_some() {
        warn(&path.key(POD), SECCOMP, found);
    }
    for (.., container) in all_containers(spec) {
        let own = get(container, "securityContext");
        let name = text(container, "name");
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
        if own.get("seccompProfile").is_none() && annotations.get(&key).is_some() {
            warn(&path.key(&key), SECCOMP, found);
        }
        let key = format!("container.apparmor.security.beta.kubernetes.io/{name}");
        let has_field = own.get("appArmorProfile").is_some() || context.get("appArmorProfile").is_some();
        if is_template && !has_field && annotations.get(&key).is_some() {
            warn(&path.key(&key), "deprecated since v1.30; use the \"appArmorProfile\" field instead", found);
        }
    }
}

fn repeated_names(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for (list, key, what) in [("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")] {
        let path = path.child(list);
        let mut seen = BTreeSet::new();
        for (index, item) in items(spec, list).iter().enumerate() {
            let own = text(*item, key);
            if !seen.insert(own) {
                warn(&path.index(index).child(key), &format!("duplicate {what} {own:?}"), found);
            }
        }
        for (index, item) in items(spec, list).iter().enumerate() {
            if key == "name" && text(*item, key).is_empty() {
                warn(&path.index(index).child(key), "invalid empty name \"\"", found);
            }
        }
    }
    fractions(get(spec, "overhead"), &BYTES, &path.child("overhead"), found);
}

fn containers(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for (field, index, container) in all_containers(spec) {
        let path = path.child(field);
        let path = path.index(index);
        let resources = path.child("resources");
        for key in ["limits", "requests"] {
            fractions(get(get(container, "resources"), key), &BYTES, &resources.child(key), found);
        }
        let env = path.child("env");
        let mut seen = BTreeSet::new();
        for (index, variable) in items(container, "env").iter().enumerate() {
            let name = text(*variable, "name");
            let reference = format!("$({name})");
            let value = text(*variable, "value");
            let hides = variable.get("valueFrom").is_some() || value == reference || !value.contains(&reference);
            if !seen.insert(name) && hides {
                let what = format!("hides previous definition of {name:?}, which may be dropped when using apply");
                warn(&env.index(index), &what, found);
            }
        }
    }
}

/// The ports of containers with the same number and protocol.
#[derive(Default)]
struct Block<'a> {
    /// Their paths, host ports and addresses.
    all: Vec<(String, i64, &'a str)>,
    /// Their indices by host port and address.
    by: BTreeMap<(i64, &'a str), Vec<usize>>,
}

impl<'a> Block<'a> {
    /// Returns the ports that conflict with another port, in this order: those with the same host port and address,
    /// those with any host port, and those with the same host port and any address.
    fn conflicts(&self, host: i64, address: &str) -> Vec<usize> {
        if host == 0 {
            return (0..self.all.len()).collect();
        }
        let of_port = self.by.range((host, "")..).take_while(|((other, _), _)| *other == host);
        let mut found: Vec<usize> = if address.is_empty() {
            of_port.flat_map(|(_, at)| at).copied().collect()
        } else {
            ["", address].into_iter().filter_map(|key| self.by.get(&(host, key))).flatten().copied().collect()
        };
        let any = self.by.range((0, "")..(1, "")).flat_map(|(_, at)| at);
        found.extend(any);
        found.sort_unstable();
        found
    }

    fn push(&mut self, own: String, host: i64, address: &'a str) {
        self.by.entry((host, address)).or_default().push(self.all.len());
        self.all.push((own, host, address));
    }
}

fn ports(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let all = || {
        all_containers(spec).flat_map(|(field, container, item)| {
            let ports = items(item, "ports").iter().enumerate();
            ports.map(move |(port, value)| (field, container, port, *value))
        })
    };
    let place = |(field, container, port): (&str, usize, usize)| format!("{path}.{field}[{container}].ports[{port}]");
    let mut blocks: BTreeMap<(i64, &str), Block<'_>> = BTreeMap::new();
    for (field, container, index, port) in all() {
        let own = place((field, container, index));
        let host = number(port, "hostPort").unwrap_or(0);
        let (address, protocol) = (text(port, "hostIP"), text(port, "protocol"));
        let number_of_port = number(port, "containerPort").unwrap_or(0);
        if !address.is_empty() && host == 0 {
            let name = text(port, "name");
            found.warn(format!(
                "{own}: hostIP set without hostPort: {{Name:{name} HostPort:0 ContainerPort:{number_of_port} \
                 Protocol:{protocol} HostIP:{address}}}"
            ));
        }
        let block = blocks.entry((number_of_port, protocol)).or_default();
        let conflicts = if found.warnings.is_full() { Vec::new() } else { block.conflicts(host, address) };
        for at in conflicts {
            let Some((other, other_host, other_address)) = block.all.get(at) else { continue };
            let what = if (*other_host, *other_address) == (host, address) {
                "duplicate"
            } else if host == 0 || *other_host == 0 {
                "overlapping"
            } else {
                "dangerously ambiguous"
            };
            found.warn(format!("{own}: {what} port definition with {other}"));
            if found.warnings.is_full() {
                break;
            }
        }
        block.push(own, host, address);
    }
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (field, container, index, port) in all() {
        let name = text(port, "name");
        if name.is_empty() {
            continue;
        }
        let own = place((field, container, index));
        match names.get(name) {
            Some(other) => found.warn(format!(
                "{own}: duplicate port name {name:?} with {other}, services and probes that select ports by name will \
                 use {other}"
            )),
            None => {
                names.insert(name, own);
            }
        }
    }
}
