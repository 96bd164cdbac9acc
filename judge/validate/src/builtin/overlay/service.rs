//! Values that the storage of Services sets: families, addresses and ports (`pkg/registry/core/service`), as in a
//! single-stack IPv4 cluster.

use super::Request;
use super::edit::{each, list, text, with};
use crate::typed::is_empty;
use kubeshape_value::{Bump, Value};
use std::collections::{BTreeMap, BTreeSet};

const NONE: &str = "None";
const FAMILY: &str = "IPv4";

fn spec(service: Value<'_>) -> Value<'_> {
    service.get("spec").unwrap_or(Value::Null)
}

fn is_external_name(spec: Value<'_>) -> bool {
    text(spec, "type") == "ExternalName"
}

fn needs_node_ports(spec: Value<'_>) -> bool {
    matches!(text(spec, "type"), "NodePort" | "LoadBalancer")
}

fn needs_health_check(spec: Value<'_>) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

fn items<'a>(spec: Value<'a>, key: &str) -> &'a [Value<'a>] {
    spec.get(key).and_then(Value::as_list).unwrap_or_default()
}

fn port(value: Value<'_>, key: &str) -> i64 {
    if let Some(Value::Int(number)) = value.get(key) { number } else { 0 }
}

fn same(old: Value<'_>, new: Value<'_>, key: &str) -> bool {
    super::edit::same(old.get(key).unwrap_or(Value::Null), new.get(key).unwrap_or(Value::Null))
}

/// Returns a service with the values that it keeps from the stored one, before anything is allocated
/// (`patchAllocatedValues`, `normalizeClusterIPs`). The addresses and ports that a new or changed Service gets come
/// from `normalizeClusterIPs`, `patchAllocatedValues`, `initIPFamilyFields` and the allocators.
pub(super) fn patched<'a>(service: Value<'a>, request: Request<'a>) -> Value<'a> {
    let arena = request.arena;
    let old = request.old.map(spec);
    let spec = addresses_alike(spec(service), old, arena);
    let spec = old.map_or(spec, |old| allocated_before(spec, old, arena));
    with(service, &["spec"], Some(spec), arena)
}

pub(super) fn allocate<'a>(service: Value<'a>, request: Request<'a>) -> Value<'a> {
    let arena = request.arena;
    let old = request.old.map(spec);
    let mut spec = addresses_alike(spec(service), old, arena);
    if let Some(old) = old {
        spec = allocated_before(spec, old, arena);
    }
    if !is_external_name(spec) {
        spec = families(spec, old, arena);
        let is_headless = text(spec, "clusterIP") == NONE;
        if items(spec, "clusterIPs").is_empty() && !is_headless {
            let address = Value::String(request.assigned.cluster_ip);
            spec = with(spec, &["clusterIPs"], Some(list(&[address], arena)), arena);
            spec = with(spec, &["clusterIP"], Some(address), arena);
        } else if text(spec, "clusterIP").is_empty() {
            spec = with(spec, &["clusterIP"], items(spec, "clusterIPs").first().copied(), arena);
        }
    }
    with(service, &["spec"], Some(node_ports(spec, i64::from(request.assigned.node_port), arena)), arena)
}

/// Makes `clusterIP` equal to the first of `clusterIPs`.
fn addresses_alike<'a>(new: Value<'a>, old: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let own = text(new, "clusterIP");
    let alone = || (!own.is_empty()).then(|| list(&[Value::String(own)], arena));
    let Some(old) = old else {
        let is_alone = items(new, "clusterIPs").is_empty() && !own.is_empty();
        return if is_alone { with(new, &["clusterIPs"], alone(), arena) } else { new };
    };
    let before = text(old, "clusterIP");
    if before == own {
        let is_lost = items(new, "clusterIPs").is_empty() && !items(old, "clusterIPs").is_empty();
        return if is_lost { with(new, &["clusterIPs"], old.get("clusterIPs"), arena) } else { new };
    }
    let is_untouched = same(old, new, "clusterIPs");
    if is_untouched { with(new, &["clusterIPs"], alone(), arena) } else { new }
}

/// Keeps values allocated to the old Service if the new one does not name others.
fn allocated_before<'a>(new: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let mut spec = new;
    if !is_external_name(old) && !is_external_name(spec) {
        for key in ["clusterIP", "clusterIPs"] {
            if spec.get(key).is_none_or(is_empty) {
                spec = with(spec, &[key], old.get(key), arena);
            }
        }
    }
    if needs_node_ports(old) && needs_node_ports(spec) {
        let named = items(old, "ports").iter().map(|item| (text(*item, "name"), port(*item, "nodePort")));
        let old_ports: BTreeMap<&str, i64> = named.collect();
        let used: BTreeSet<i64> = items(spec, "ports").iter().map(|item| port(*item, "nodePort")).collect();
        spec = each(spec, &["ports"], arena, |item| {
            let before = old_ports.get(text(item, "name")).copied().unwrap_or(0);
            let is_free = port(item, "nodePort") == 0 && before != 0 && !used.contains(&before);
            if is_free { with(item, &["nodePort"], Some(Value::Int(before)), arena) } else { item }
        });
    }
    if needs_health_check(old) && needs_health_check(spec) && port(spec, "healthCheckNodePort") == 0 {
        spec = with(spec, &["healthCheckNodePort"], old.get("healthCheckNodePort"), arena);
    }
    spec
}

fn families<'a>(new: Value<'a>, old: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let mut spec = new;
    let is_headless = text(spec, "clusterIP") == NONE && spec.get("selector").is_none_or(is_empty);
    if spec.get("ipFamilyPolicy").is_none() {
        let policy = if is_headless { "RequireDualStack" } else { "SingleStack" };
        let before = old.and_then(|old| old.get("ipFamilyPolicy"));
        spec = with(spec, &["ipFamilyPolicy"], before.or(Some(Value::String(policy))), arena);
    }
    let is_single = text(spec, "ipFamilyPolicy") == "SingleStack";
    if let Some(old) = old.filter(|_| is_single) {
        for key in ["clusterIPs", "ipFamilies"] {
            if same(old, spec, key) && items(spec, key).len() > 1 {
                spec = with(spec, &[key], Some(list(&items(spec, key)[..1], arena)), arena);
            }
        }
    }
    let family = |address: &Value<'a>| {
        Value::String(if address.as_str().is_some_and(|text| text.contains(':')) { "IPv6" } else { FAMILY })
    };
    let mut given = items(spec, "ipFamilies").to_vec();
    let addresses: Vec<_> = items(spec, "clusterIPs").iter().take_while(|ip| ip.as_str() != Some(NONE)).collect();
    given.extend(addresses.into_iter().skip(given.len()).map(family));
    if given.is_empty() {
        given.push(Value::String(FAMILY));
    }
    if is_headless && given.len() == 1 && !is_single {
        let other = if given.first().and_then(|first| first.as_str()) == Some(FAMILY) { "IPv6" } else { FAMILY };
        given.push(Value::String(other));
    }
    with(spec, &["ipFamilies"], Some(list(&given, arena)), arena)
}

/// Assigns node ports from `first` on, except those that the object asks for; ports with the same number share one.
fn node_ports<'a>(new: Value<'a>, first: i64, arena: &'a Bump) -> Value<'a> {
    let named: BTreeSet<i64> = items(new, "ports").iter().map(|item| port(*item, "nodePort")).collect();
    let mut free = (first..).filter(|number| !named.contains(number));
    let mut assign = || free.next().unwrap_or(first);
    let mut spec = new;
    if needs_node_ports(spec) {
        let is_wanted = text(spec, "type") == "NodePort"
            || !matches!(spec.get("allocateLoadBalancerNodePorts"), Some(Value::Bool(false)));
        let ports = items(spec, "ports");
        // If several have the same number, the first one is used.
        let with_node = ports.iter().rev().filter(|item| port(**item, "nodePort") != 0);
        let requested: BTreeMap<i64, i64> =
            with_node.map(|item| (port(*item, "port"), port(*item, "nodePort"))).collect();
        let mut given: BTreeMap<i64, i64> = BTreeMap::new();
        let mut out = Vec::with_capacity(ports.len());
        for item in ports {
            let (number, own) = (port(*item, "port"), port(*item, "nodePort"));
            let shared = given.get(&number).copied();
            let node = match (own, shared, requested.get(&number).copied()) {
                (0, _, _) if !is_wanted => 0,
                (0, Some(node), _) | (_, None, Some(node)) => node,
                (0, None, None) => assign(),
                (own, _, _) => own,
            };
            if shared.is_none() && node != 0 {
                given.insert(number, node);
            }
            let node = (node != 0).then_some(Value::Int(node));
            out.push(with(*item, &["nodePort"], node, arena));
        }
        if !out.is_empty() {
            spec = with(spec, &["ports"], Some(list(&out, arena)), arena);
        }
    }
    if needs_health_check(spec) && port(spec, "healthCheckNodePort") == 0 {
        spec = with(spec, &["healthCheckNodePort"], Some(Value::Int(assign())), arena);
    }
    spec
}

/// Drops fields that the new type does not use and that the request does not change: `dropTypeDependentFields`.
pub(super) fn drop_unused<'a>(service: Value<'a>, request: Request<'a>) -> Value<'a> {
    let (Some(old), arena) = (request.old.map(spec), request.arena) else { return service };
    let mut spec = spec(service);
    let new = spec;
    let mut drop = |key: &str| spec = with(spec, &[key], None, arena);
    if !is_external_name(old) && is_external_name(new) {
        if same(old, new, "clusterIP") && same(old, new, "clusterIPs") {
            drop("clusterIP");
            drop("clusterIPs");
        }
        for key in ["ipFamilies", "ipFamilyPolicy"] {
            if same(old, new, key) {
                drop(key);
            }
        }
    }
    if needs_health_check(old) && !needs_health_check(new) && same(old, new, "healthCheckNodePort") {
        drop("healthCheckNodePort");
    }
    let balances = |spec| text(spec, "type") == "LoadBalancer";
    if balances(old) && !balances(new) {
        for key in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if same(old, new, key) {
                drop(key);
            }
        }
    }
    let is_reached = |spec: Value<'_>| {
        needs_node_ports(spec) || text(spec, "type") == "ClusterIP" && !items(spec, "externalIPs").is_empty()
    };
    if is_reached(old) && !is_reached(new) && same(old, new, "externalTrafficPolicy") {
        drop("externalTrafficPolicy");
    }
    let nodes = |spec: Value<'a>| items(spec, "ports").iter().map(|item| port(*item, "nodePort"));
    let has_new = nodes(new).any(|node| node != 0 && !nodes(old).any(|before| before == node));
    if needs_node_ports(old) && !needs_node_ports(new) && !has_new {
        spec = each(spec, &["ports"], arena, |item| with(item, &["nodePort"], None, arena));
    }
    let service = with(service, &["spec"], Some(spec), arena);
    let is_balanced = balances(new) || service.get("status").is_none();
    if is_balanced { service } else { with(service, &["status", "loadBalancer"], None, arena) }
}
