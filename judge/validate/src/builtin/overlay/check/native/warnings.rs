//! Warnings of strategies: `WarningsOnCreate` and `WarningsOnUpdate` of `pkg/registry`. Warnings about pods are in
//! `pods`.

use super::{Names, entries, get, items, number, text};
use crate::builtin::address;
use crate::builtin::overlay::check::{At, Found};
use kubeshape_cel::Quantity;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use std::cmp::Ordering;

pub(super) const NAMES: Names = &[
    ("class of annotation", ingress_class),
    ("claim warnings", claim),
    ("claim template warnings", claim_templates),
    ("cron job warnings", cron_job),
    ("driver warnings", driver),
    ("endpoint slice warnings", endpoint_slice),
    ("endpoints warnings", endpoints),
    ("job warnings", job),
    ("name of pods", name_of_pods),
    ("network policy warnings", network_policy),
    ("node warnings", node),
    ("quota warnings", quota),
    ("resource slice warnings", resource_slice),
    ("runtime class warnings", runtime_class),
    ("service account warnings", service_account),
    ("service warnings", service),
    ("status address warnings", status_addresses),
    ("topology warnings", topology),
    ("volume warnings", volume),
];

/// Deprecated kinds of volumes, with the texts of their warnings.
pub(super) const DEPRECATED_VOLUMES: [(&str, &str, &str); 9] = [
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// Deprecated labels of nodes: `deprecatedNodeLabels` of `pkg/api/node`.
const LABELS: [(&str, &str); 8] = [
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/instance-type", "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    ("failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
    ("scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"),
];
const STORAGE: &str = "storage";

/// Returns the text about a deprecated label of nodes.
pub(super) fn deprecated_label(label: &str) -> Option<&'static str> {
    LABELS.iter().find(|(known, _)| *known == label).map(|(_, message)| *message)
}

fn warn(path: &Path<'_>, what: &str, found: &mut Found) {
    found.warn(format!("{path}: {what}"));
}

/// `GetWarningsForIP`
pub(super) fn ip(value: &str, path: &Path<'_>, found: &mut Found) {
    if let Some(what) = address::ip_warning(value) {
        warn(path, &what, found);
    }
}

fn cidr(value: &str, path: &Path<'_>, found: &mut Found) {
    for what in address::cidr_warnings(value) {
        warn(path, &what, found);
    }
}

/// Warns about deprecated labels in the expressions of a term: `GetWarningsForNodeSelectorTerm`,
/// `GetWarningsForNodeSelector`.
pub(super) fn expressions(term: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("matchExpressions");
    for (index, expression) in items(term, "matchExpressions").iter().enumerate() {
        let key = text(*expression, "key");
        if let Some(message) = deprecated_label(key) {
            warn(&path.index(index).child("key"), &format!("{key} is {message}"), found);
        }
    }
}

/// `GetWarningsForPersistentVolumeClaimSpec`
pub(super) fn claim_spec(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let resources = path.child("resources");
    for key in ["requests", "limits"] {
        fractions(get(get(spec, "resources"), key), &[STORAGE], &resources.child(key), found);
    }
}

/// Warns about byte amounts that are not whole numbers.
pub(super) fn fractions(list: Value<'_>, keys: &[&str], path: &Path<'_>, found: &mut Found) {
    for key in keys {
        if let Some(value) = list.get(key).filter(|value| is_fraction(*value)) {
            let value = GoQuoted(value.as_str().unwrap_or_default());
            warn(&path.key(key), &format!("fractional byte value {value} is invalid, must be an integer"), found);
        }
    }
}

/// Returns whether a quantity has a fraction. Upstream counts thousandths in 64 bits, and takes what is left of a large
/// number with a binary suffix, as in `1Ei`, for a fraction (`Quantity.MilliValue`).
pub(super) fn is_fraction(value: Value<'_>) -> bool {
    let text = value.as_str().unwrap_or_default();
    let Ok(amount) = Quantity::parse(text) else { return false };
    !amount.clone().rounded_up(0).is_same(&amount) || overflows(text)
}

/// Returns whether the thousandths of a number with a binary suffix are not a multiple of 1000 in 64 bits.
fn overflows(text: &str) -> bool {
    const SUFFIXES: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let number = SUFFIXES.iter().zip(1_u32..).find_map(|(suffix, power)| {
        let digits = text.strip_suffix(suffix)?.parse::<i128>().ok()?;
        digits.checked_mul(1024_i128.pow(power))?.checked_mul(1000)
    });
    let low = number.and_then(|number| number.to_le_bytes().first_chunk().copied().map(i64::from_le_bytes));
    low.is_some_and(|low| low % 1000 != 0)
}

fn annotation<'a>(object: Value<'a>, key: &str) -> Option<Value<'a>> {
    get(get(object, "metadata"), "annotations").get(key)
}

fn deprecated_annotations(object: Value<'_>, deprecated: &[(&str, &str)], found: &mut Found) {
    let metadata = Path::Base("metadata");
    let path = metadata.child("annotations");
    for (key, message) in deprecated.iter().filter(|(key, _)| annotation(object, key).is_some()) {
        warn(&path.key(key), message, found);
    }
}

fn claim(at: &At<'_, '_>, found: &mut Found) {
    let message = "deprecated since v1.8; use \"storageClassName\" attribute instead";
    deprecated_annotations(at.value, &[("volume.beta.kubernetes.io/storage-class", message)], found);
    claim_spec(get(at.value, "spec"), &at.path.child("spec"), found);
}

fn claim_templates(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("volumeClaimTemplates");
    let is_new = at.scope.old.is_none();
    for (index, claim) in items(at.value, "volumeClaimTemplates").iter().enumerate() {
        let path = path.index(index);
        let inner = path.child("Spec");
        claim_spec(get(*claim, "spec"), if is_new { &path } else { &inner }, found);
    }
    if number(at.value, "revisionHistoryLimit").is_some_and(|limit| limit < 0) {
        let what = "a negative value retains all historical revisions; a value >= 0 is recommended";
        warn(&at.path.child("revisionHistoryLimit"), what, found);
    }
}

fn cron_job(at: &At<'_, '_>, found: &mut Found) {
    job_spec(at, get(get(get(at.value, "spec"), "jobTemplate"), "spec"), "spec.jobTemplate.spec", found);
    if at.scope.old.is_some() && text(get(at.value, "spec"), "schedule").contains("TZ") {
        found.warn(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
        );
    }
}

fn job(at: &At<'_, '_>, found: &mut Found) {
    job_spec(at, get(at.value, "spec"), "spec", found);
}

/// Warns about a Job: the part of `WarningsForJobSpec` that is not about pods.
fn job_spec(at: &At<'_, '_>, spec: Value<'_>, path: &str, found: &mut Found) {
    const MOST_COMPLETIONS: i64 = 100_000;
    const MOST_PARALLEL: i64 = 10_000;
    let generation = |object| number(get(object, "metadata"), "generation");
    let is_same = at.scope.old.is_some_and(|old| generation(old) == generation(at.value));
    let above = |key, most| number(spec, key).is_some_and(|number| number > most);
    let is_large = above("completions", MOST_COMPLETIONS) && above("parallelism", MOST_PARALLEL);
    if !is_same && is_large && text(spec, "completionMode") == "Indexed" {
        found.warn(format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
}

/// Warns about the name of a new object if it becomes part of host names.
fn name_of_pods(at: &At<'_, '_>, found: &mut Found) {
    let messages = crate::names::dns1123_label(text(get(at.value, "metadata"), "name"));
    if at.scope.old.is_none() && !messages.is_empty() {
        let whose = if at.scope.kind == "Pod" { "the Pod's hostname" } else { "Pod names and hostnames" };
        let messages = messages.join(" ");
        found.warn(format!(
            "metadata.name: this is used in {whose}, which can result in surprising behavior; a DNS label is recommended: \
             [{messages}]"
        ));
    }
}

fn driver(at: &At<'_, '_>, found: &mut Found) {
    let tokens = |object: Value<'_>| get(get(object, "spec"), "tokenRequests").to_string();
    let spec = get(at.value, "spec");
    let is_changed = at.scope.old.is_none_or(|old| tokens(old) != tokens(at.value));
    let is_unset = get(spec, "serviceAccountTokenInSecrets").is_null();
    if is_changed && is_unset && !items(spec, "tokenRequests").is_empty() {
        found.warn(
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible \
             logging of tokens in volume attributes",
        );
    }
}

fn endpoint_slice(at: &At<'_, '_>, found: &mut Found) {
    const MANAGERS: [&str; 2] = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];
    if at.scope.old.is_none() && text(at.value, "addressType") == "FQDN" {
        found.warn("spec.addressType: FQDN endpoints are deprecated");
    }
    let manager = get(get(at.value, "metadata"), "labels");
    if MANAGERS.contains(&text(manager, "endpointslice.kubernetes.io/managed-by")) {
        return;
    }
    let path = at.path.child("endpoints");
    for (index, endpoint) in items(at.value, "endpoints").iter().enumerate() {
        let path = path.index(index);
        let path = path.child("addresses");
        for (index, address) in items(*endpoint, "addresses").iter().enumerate() {
            ip(address.as_str().unwrap_or_default(), &path.index(index), found);
        }
    }
}

fn endpoints(at: &At<'_, '_>, found: &mut Found) {
    let labels = get(get(at.value, "metadata"), "labels");
    if text(labels, "endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
        return;
    }
    let path = at.path.child("subsets");
    for (index, subset) in items(at.value, "subsets").iter().enumerate() {
        let path = path.index(index);
        for list in ["addresses", "notReadyAddresses"] {
            let path = path.child(list);
            for (index, address) in items(*subset, list).iter().enumerate() {
                ip(text(*address, "ip"), &path.index(index).child("ip"), found);
            }
        }
    }
}

fn ingress_class(at: &At<'_, '_>, found: &mut Found) {
    const KEY: &str = "kubernetes.io/ingress.class";
    if at.scope.old.is_none() && annotation(at.value, KEY).is_some() {
        found.warn(format!("annotation \"{KEY}\" is deprecated, please use 'spec.ingressClassName' instead"));
    }
}

fn network_policy(at: &At<'_, '_>, found: &mut Found) {
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let spec = at.path.child("spec");
        let path = spec.child(rules);
        for (index, rule) in items(get(at.value, "spec"), rules).iter().enumerate() {
            let path = path.index(index);
            let path = path.child(peers);
            for (index, peer) in items(*rule, peers).iter().enumerate() {
                let path = path.index(index);
                let (block, path) = (get(*peer, "ipBlock"), path.child("ipBlock"));
                if block.is_null() {
                    continue;
                }
                cidr(text(block, "cidr"), &path.child("cidr"), found);
                let path = path.child("except");
                for (index, except) in items(block, "except").iter().enumerate() {
                    cidr(except.as_str().unwrap_or_default(), &path.index(index), found);
                }
            }
        }
    }
}

fn node(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    if !get(spec, "configSource").is_null() {
        found.warn("spec.configSource: the feature is removed");
    }
    if !text(spec, "externalID").is_empty() {
        found.warn("spec.externalID: this field is deprecated, and is unused by Kubernetes");
    }
    let path = at.path.child("spec");
    let path = path.child("podCIDRs");
    for (index, value) in items(spec, "podCIDRs").iter().enumerate() {
        cidr(value.as_str().unwrap_or_default(), &path.index(index), found);
    }
}

/// `resourcequotaStrategy.WarningsOnCreate`
fn quota(at: &At<'_, '_>, found: &mut Found) {
    if at.scope.old.is_some() {
        return;
    }
    let hard = get(get(at.value, "spec"), "hard");
    let of = |name: &str| {
        let text = hard.get(name)?.as_str()?.to_owned();
        Some((name.to_owned(), Quantity::parse(&text).ok()?, text))
    };
    for name in ["cpu", "memory", STORAGE, "ephemeral-storage"] {
        let bare = || if matches!(name, "cpu" | "memory") { of(name) } else { None };
        let request = of(&format!("requests.{name}")).or_else(bare);
        let limit = of(&format!("limits.{name}"));
        if let (Some((own, request, shown)), Some((other, limit, most))) = (request, limit)
            && request.compare(&limit) == Ordering::Greater
        {
            found.warn(format!("ResourceQuota {own} ({shown}) should be less than {other} ({most})"));
        }
    }
}

fn runtime_class(at: &At<'_, '_>, found: &mut Found) {
    for (label, _) in entries(get(at.value, "scheduling"), "nodeSelector") {
        if let Some(message) = deprecated_label(label) {
            found.warn(format!("scheduling.nodeSelector: {message}"));
        }
    }
}

fn service_account(at: &At<'_, '_>, found: &mut Found) {
    const KEY: &str = "kubernetes.io/enforce-mountable-secrets";
    if at.scope.old.is_none_or(|old| annotation(old, KEY).is_none()) {
        let message = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
        deprecated_annotations(at.value, &[(KEY, message)], found);
    }
}

/// `GetWarningsForService`
fn service(at: &At<'_, '_>, found: &mut Found) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let spec = get(at.value, "spec");
    let (kind, address) = (text(spec, "type"), text(spec, "clusterIP"));
    let is_headless = kind == "ClusterIP" && address == "None";
    let path = at.path.child("spec");
    if annotation(at.value, HINTS).is_some() {
        found.warn(format!("annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"));
    }
    let addresses = |key: &str, found: &mut Found| {
        let path = path.child(key);
        for (index, address) in items(spec, key).iter().enumerate() {
            ip(address.as_str().unwrap_or_default(), &path.index(index), found);
        }
    };
    if !matches!(address, "" | "None") {
        addresses("clusterIPs", found);
    }
    let external = items(spec, "externalIPs");
    if is_headless {
        for (field, is_set) in [
            ("loadBalancerIP", !text(spec, "loadBalancerIP").is_empty()),
            ("externalIPs", !external.is_empty()),
            ("SessionAffinity", text(spec, "sessionAffinity") != "None"),
        ] {
            if is_set {
                found.warn(format!("spec.{field} is ignored for headless services"));
            }
        }
    }
    addresses("externalIPs", found);
    if !external.is_empty() && !is_headless && kind != "ExternalName" {
        found.warn("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    let balancer = text(spec, "loadBalancerIP");
    if !balancer.is_empty() {
        ip(balancer, &path.child("loadBalancerIP"), found);
    }
    let ranges = path.child("loadBalancerSourceRanges");
    for (index, range) in items(spec, "loadBalancerSourceRanges").iter().enumerate() {
        cidr(range.as_str().unwrap_or_default(), &ranges.index(index), found);
    }
    if kind == "ExternalName" && !external.is_empty() {
        found.warn("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if kind != "ExternalName" && !text(spec, "externalName").is_empty() {
        found.warn("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if text(spec, "trafficDistribution") == "PreferClose" {
        found.warn("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

/// Warns about addresses in a status.
fn status_addresses(at: &At<'_, '_>, found: &mut Found) {
    let status = get(at.value, "status");
    let path = at.path.child("status");
    if at.scope.kind == "Pod" {
        for list in ["podIPs", "hostIPs"] {
            let path = path.child(list);
            for (index, address) in items(status, list).iter().enumerate() {
                ip(text(*address, "ip"), &path.index(index).child("ip"), found);
            }
        }
        return;
    }
    let path = path.child("loadBalancer");
    let path = path.child("ingress");
    for (index, ingress) in items(get(status, "loadBalancer"), "ingress").iter().enumerate() {
        if !text(*ingress, "ip").is_empty() {
            ip(text(*ingress, "ip"), &path.index(index), found);
        }
    }
}

/// `GetWarningsForStorageClass`, `GetWarningsForCSIStorageCapacity`
fn topology(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("allowedTopologies");
    for (index, topology) in items(at.value, "allowedTopologies").iter().enumerate() {
        let path = path.index(index);
        let path = path.child("matchLabelExpressions");
        for (index, expression) in items(*topology, "matchLabelExpressions").iter().enumerate() {
            if let Some(message) = deprecated_label(text(*expression, "key")) {
                warn(&path.index(index).child("key"), message, found);
            }
        }
    }
    let (nodes, path) = (get(at.value, "nodeTopology"), at.path.child("nodeTopology"));
    expressions(nodes, &path, found);
    let path = path.child("matchLabels");
    for (label, _) in entries(nodes, "matchLabels") {
        if let Some(message) = deprecated_label(label) {
            warn(&path.child(label), message, found);
        }
    }
}

/// `GetWarningsForPersistentVolume`
/// `resourceSliceStrategy.WarningsOnCreate`
fn resource_slice(at: &At<'_, '_>, found: &mut Found) {
    let driver = text(get(at.value, "spec"), "driver");
    if driver != driver.to_lowercase() {
        let shown = GoQuoted(driver);
        found.warn(format!("spec.driver: driver names should be lowercase; {shown} contains uppercase characters"));
    }
}

fn volume(at: &At<'_, '_>, found: &mut Found) {
    let annotations = [
        (
            "volume.beta.kubernetes.io/storage-class",
            "deprecated since v1.8; use \"storageClassName\" attribute instead",
        ),
        ("volume.beta.kubernetes.io/mount-options", "deprecated since v1.31; use \"mountOptions\" attribute instead"),
    ];
    deprecated_annotations(at.value, &annotations, found);
    let spec = get(at.value, "spec");
    let path = at.path.child("spec");
    if text(spec, "persistentVolumeReclaimPolicy") == "Recycle" {
        let what = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
        warn(&path.child("persistentVolumeReclaimPolicy"), what, found);
    }
    let affinity = path.child("nodeAffinity");
    let required = affinity.child("required");
    let terms = required.child("nodeSelectorTerms");
    for (index, term) in items(get(get(spec, "nodeAffinity"), "required"), "nodeSelectorTerms").iter().enumerate() {
        expressions(*term, &terms.index(index), found);
    }
    for (key, name, what) in DEPRECATED_VOLUMES {
        if !get(spec, key).is_null() && !matches!(key, "gitRepo" | "flocker" | "quobyte") {
            warn(&path.child(name), what, found);
        }
    }
}
