//! What objects use of the resources that quotas limit (upstream: `pkg/quota/v1/evaluator/core` of Kubernetes).

use super::super::limits::{Given, members};
use super::super::part::{integer, items, member, text};
use super::super::spec_list;
use crate::value::metadata;
use kubeshape_cel::Quantity;
use kubeshape_smd::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Quantities by resource.
pub(super) type Resources = BTreeMap<String, Quantity>;

const POD_RESOURCES: [&str; 11] = [
    "count/pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];
const HUGE_PAGES: &str = "hugepages-";
const SERVICE_RESOURCES: [&str; 4] = ["count/services", "services", "services.nodeports", "services.loadbalancers"];
const CLAIM_RESOURCES: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
const OF_STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";
const CLASS_OF_CLAIM: &str = "volume.beta.kubernetes.io/storage-class";
/// Resources that each container must name if a quota limits them.
const REQUIRED: [&str; 6] = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];
/// Objects that quotas also count by an older name.
const OLDER_NAMES: [&str; 4] = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

/// How the objects of a resource are counted.
pub(super) enum Measure {
    Pod,
    Service,
    Claim,
    /// Each object counts once, under these names.
    Count(Vec<String>),
}

/// Returns quantities of a list of resources.
pub(super) fn quantities(of: Option<Value<'_>>, key: &str) -> Vec<(String, Quantity)> {
    let all = members(of.unwrap_or(Value::Null), key).iter();
    let read = |value: &Value<'_>| match value {
        Value::Int(number) => Quantity::parse(&number.to_string()).ok(),
        value => Quantity::parse(value.as_str()?).ok(),
    };
    all.filter_map(|(name, value)| Some(((*name).to_owned(), read(value)?))).collect()
}

/// Returns the sums of two lists (upstream: `quota.Add`).
pub(super) fn add(a: &Resources, b: &Resources) -> Resources {
    let mut sum = a.clone();
    for (name, value) in b {
        let both = sum.get(name).and_then(|old| old.add(value, false).ok());
        sum.insert(name.clone(), both.unwrap_or_else(|| value.clone()));
    }
    sum
}

/// Returns the differences of two lists; nothing is negative (upstream: `SubtractWithNonNegativeResult`).
pub(super) fn subtract(a: &Resources, b: &Resources) -> Resources {
    let difference = |(name, value): (&String, &Quantity)| {
        let rest = b.get(name).map_or_else(|| Some(value.clone()), |other| value.add(other, true).ok())?;
        (rest.sign() > 0).then(|| (name.clone(), rest))
    };
    a.iter().filter_map(difference).collect()
}

/// Returns what is left of a sum; it is not negative.
pub(super) fn without(sum: &Quantity, less: &Quantity) -> Quantity {
    let rest = sum.add(less, true).ok().filter(|rest| rest.sign() >= 0);
    rest.or_else(|| Quantity::parse("0").ok()).unwrap_or_else(|| sum.clone())
}

/// Returns numbers of objects.
fn counted<'n>(all: impl IntoIterator<Item = (&'n str, usize)>) -> Resources {
    let quantity = |(name, count): (&str, usize)| Some((name.to_owned(), Quantity::parse(&count.to_string()).ok()?));
    all.into_iter().filter_map(quantity).collect()
}

impl Measure {
    pub(super) fn of(group: &str, plural: &str) -> Measure {
        match (group, plural) {
            ("", "pods") => Measure::Pod,
            ("", "services") => Measure::Service,
            ("", "persistentvolumeclaims") => Measure::Claim,
            ("", plural) => {
                let older = OLDER_NAMES.contains(&plural).then(|| plural.to_owned());
                Measure::Count(std::iter::once(format!("count/{plural}")).chain(older).collect())
            }
            (group, plural) => Measure::Count(vec![format!("count/{plural}.{group}")]),
        }
    }

    /// Returns whether a request can change what is used (upstream: `Handles`).
    pub(super) fn handles(&self, subresource: &str, object: Value<'_>, old: Option<Value<'_>>) -> bool {
        match (self, subresource, old) {
            (Measure::Pod, "", Some(old)) => is_terminating(object) != is_terminating(old),
            (Measure::Pod | Measure::Count(_), "", None)
            | (Measure::Service, "", _)
            | (Measure::Claim, "" | "status", _) => true,
            _ => false,
        }
    }

    /// Returns whether it counts a resource of a quota (upstream: `MatchingResources`).
    pub(super) fn counts(&self, resource: &str) -> bool {
        match self {
            Measure::Pod => {
                let requested = resource.strip_prefix("requests.");
                POD_RESOURCES.contains(&resource)
                    || requested.unwrap_or(resource).starts_with(HUGE_PAGES)
                    || requested.is_some_and(|_| is_extended(resource))
            }
            Measure::Service => SERVICE_RESOURCES.contains(&resource),
            Measure::Claim => {
                let own = resource.split_once(OF_STORAGE_CLASS).map_or(resource, |(_, own)| own);
                resource == "count/persistentvolumeclaims" || CLAIM_RESOURCES.contains(&own)
            }
            Measure::Count(names) => names.iter().any(|name| name == resource),
        }
    }

    /// Returns whether an object is in all scopes of a quota (upstream: `Matches`).
    pub(super) fn is_in_scope(&self, quota: Value<'_>, object: Value<'_>) -> bool {
        let scopes = items(quota, &["spec", "scopes"]).iter().filter_map(|scope| scope.as_str());
        let mut scopes = scopes.map(|scope| (scope, "Exists", Vec::new()));
        let mut selectors = items(quota, &["spec", "scopeSelector", "matchExpressions"]).iter().map(|selector| {
            let values: Vec<&str> = items(*selector, &["values"]).iter().filter_map(|value| value.as_str()).collect();
            (text(*selector, &["scopeName"]), text(*selector, &["operator"]), values)
        });
        scopes.all(|(scope, operator, values)| self.has_scope(scope, operator, &values, object))
            && selectors.all(|(scope, operator, values)| self.has_scope(scope, operator, &values, object))
    }

    fn has_scope(&self, scope: &str, operator: &str, values: &[&str], object: Value<'_>) -> bool {
        let named = |names: &[&str]| match operator {
            "Exists" => !names.is_empty(),
            "DoesNotExist" => names.is_empty(),
            "In" => names.iter().any(|name| values.contains(name)),
            "NotIn" => names.is_empty() || names.iter().any(|name| !values.contains(name)),
            _ => false,
        };
        match (self, scope) {
            (Measure::Pod, "Terminating") => is_terminating(object),
            (Measure::Pod, "NotTerminating") => !is_terminating(object),
            (Measure::Pod, "BestEffort") => is_best_effort(object),
            (Measure::Pod, "NotBestEffort") => !is_best_effort(object),
            (Measure::Pod, "PriorityClass") => named(&known(&[text(object, &["spec", "priorityClassName"])])),
            (Measure::Pod, "CrossNamespacePodAffinity") => crosses_namespaces(object),
            (Measure::Claim, "VolumeAttributesClass") => {
                let paths: [&[&str]; 3] = [
                    &["spec", "volumeAttributesClassName"],
                    &["status", "currentVolumeAttributesClassName"],
                    &["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
                ];
                named(&known(&paths.map(|path| text(object, path))))
            }
            _ => false,
        }
    }

    /// Returns which containers lack what a quota limits (upstream: `Constraints`).
    pub(super) fn missing(&self, restricted: &[&str], object: Value<'_>) -> Option<String> {
        if !matches!(self, Measure::Pod) || has_own_resources(object) {
            return None;
        }
        let required = restricted.iter().filter(|resource| REQUIRED.contains(resource));
        let containers = || ["containers", "initContainers"].iter().flat_map(|list| spec_list(object, list));
        let lacking = required.filter_map(|resource| {
            let lacks = |container: &&Value<'_>| {
                let given = Given::of(container.get("resources").unwrap_or(Value::Null));
                !of_given(&given).contains_key(*resource)
            };
            let names: BTreeSet<&str> =
                containers().filter(lacks).map(|container| text(*container, &["name"])).collect();
            let names: Vec<&str> = names.into_iter().collect();
            (!names.is_empty()).then(|| format!("{resource} for: {}", names.join(",")))
        });
        let lacking: Vec<String> = lacking.collect();
        (!lacking.is_empty()).then(|| format!("must specify {}", lacking.join("; ")))
    }

    /// Returns what an object uses (upstream: `Usage`).
    pub(super) fn usage(&self, object: Value<'_>) -> Resources {
        match self {
            Measure::Pod => of_pod(object),
            Measure::Service => of_service(object),
            Measure::Claim => of_claim(object),
            Measure::Count(names) => counted(names.iter().map(|name| (name.as_str(), 1))),
        }
    }
}

/// Returns the names that are not empty.
fn known<'n>(names: &[&'n str]) -> Vec<&'n str> {
    names.iter().copied().filter(|name| !name.is_empty()).collect()
}

/// Returns whether a name is that of an extended resource (upstream: `IsNativeResource`).
fn is_extended(resource: &str) -> bool {
    resource.starts_with("requests.deviceclass.resource.kubernetes.io/")
        || (resource.contains('/') && !resource.contains("kubernetes.io/"))
}

fn is_terminating(pod: Value<'_>) -> bool {
    integer(pod, &["spec", "activeDeadlineSeconds"]).is_some_and(|seconds| seconds >= 0)
}

/// Returns whether a Pod has resources of its own, for all its containers (upstream: `IsPodLevelResourcesSet`).
fn has_own_resources(pod: Value<'_>) -> bool {
    let resources = member(pod, &["spec", "resources"]).unwrap_or(Value::Null);
    let is_own = |name: &str| ["cpu", "memory"].contains(&name) || name.starts_with(HUGE_PAGES);
    ["requests", "limits"].iter().any(|key| members(resources, key).iter().any(|(name, _)| is_own(name)))
}

/// Returns whether no container has requests or limits (upstream: `GetPodQOS`).
fn is_best_effort(pod: Value<'_>) -> bool {
    let class = text(pod, &["status", "qosClass"]);
    if !class.is_empty() {
        return class == "BestEffort";
    }
    let containers = ["containers", "initContainers"].iter().flat_map(|list| spec_list(pod, list).iter().copied());
    let mut all = containers.chain(member(pod, &["spec"]));
    !all.any(|of| {
        let given = Given::of(of.get("resources").unwrap_or(Value::Null));
        let is_set =
            |(name, value): (&String, &Quantity)| ["cpu", "memory"].contains(&name.as_str()) && value.sign() > 0;
        given.requests.iter().any(is_set) || given.limits.iter().any(is_set)
    })
}

fn crosses_namespaces(pod: Value<'_>) -> bool {
    let mut terms = ["podAffinity", "podAntiAffinity"].into_iter().flat_map(|kind| {
        let required =
            items(pod, &["spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"]).iter().copied();
        let preferred = items(pod, &["spec", "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution"]);
        required.chain(preferred.iter().filter_map(|term| term.get("podAffinityTerm")))
    });
    terms.any(|term| !items(term, &["namespaces"]).is_empty() || member(term, &["namespaceSelector"]).is_some())
}

/// Returns what requests and limits count (upstream: `podComputeUsageHelper`).
fn of_given(given: &Given) -> Resources {
    let mut all = counted([("pods", 1)]);
    for (name, value) in &given.requests {
        let requested = format!("requests.{name}");
        let is_basic = ["cpu", "memory", "ephemeral-storage"].contains(&name.as_str());
        if is_basic || name.starts_with(HUGE_PAGES) {
            all.insert(name.clone(), value.clone());
            all.insert(requested, value.clone());
        } else if name.contains('/') && !name.contains("kubernetes.io/") {
            all.insert(requested, value.clone());
        }
    }
    for name in ["cpu", "memory", "ephemeral-storage"] {
        if let Some(value) = given.limits.get(name) {
            all.insert(format!("limits.{name}"), value.clone());
        }
    }
    all
}

/// A Pod that has ended only counts as an object.
fn of_pod(pod: Value<'_>) -> Resources {
    let mut all = counted([("count/pods", 1)]);
    if ["Failed", "Succeeded"].contains(&text(pod, &["status", "phase"])) {
        return all;
    }
    let mut given = Given::of_pod(pod);
    let overhead = Resources::from_iter(quantities(pod.get("spec"), "overhead"));
    given.requests = add(&given.requests, &overhead);
    let limited: Resources = overhead.into_iter().filter(|(name, _)| given.limits.contains_key(name)).collect();
    given.limits = add(&given.limits, &limited);
    all.extend(of_given(&given));
    all
}

fn of_service(service: Value<'_>) -> Resources {
    let ports = items(service, &["spec", "ports"]);
    let (ports, balancers) = match text(service, &["spec", "type"]) {
        "NodePort" => (ports.len(), 0),
        "LoadBalancer" if member(service, &["spec", "allocateLoadBalancerNodePorts"]) == Some(Value::Bool(false)) => {
            let has_port = |port: &&Value<'_>| integer(**port, &["nodePort"]).is_some_and(|port| port != 0);
            (ports.iter().filter(has_port).count(), 1)
        }
        "LoadBalancer" => (ports.len(), 1),
        _ => (0, 0),
    };
    counted(SERVICE_RESOURCES.into_iter().zip([1, 1, ports, balancers]))
}

fn of_claim(claim: Value<'_>) -> Resources {
    let requested = member(claim, &["spec", "resources"]);
    let find = |of: Option<Value<'_>>, key: &str| {
        let all = quantities(of, key);
        all.into_iter().find(|(name, _)| name == "storage").map(|(_, value)| value.rounded_up(0))
    };
    let allocated = find(claim.get("status"), "allocatedResources");
    let storage = find(requested, "requests").map(|storage| match allocated {
        Some(allocated) if allocated.compare(&storage).is_gt() => allocated,
        _ => storage,
    });
    let class = metadata(claim).get("annotations").and_then(|all| all.get(CLASS_OF_CLAIM)?.as_str());
    let class = class.unwrap_or_else(|| text(claim, &["spec", "storageClassName"]));
    let [claims, requests] = CLAIM_RESOURCES;
    let mut all = counted([(claims, 1)]);
    all.extend(storage.map(|storage| (requests.to_owned(), storage)));
    if !class.is_empty() {
        let of_class: Vec<_> =
            all.iter().map(|(name, value)| (format!("{class}{OF_STORAGE_CLASS}{name}"), value.clone())).collect();
        all.extend(of_class);
    }
    all.extend(counted([("count/persistentvolumeclaims", 1)]));
    all
}
