//! Rules of Services, Endpoints, EndpointSlices and `networking.k8s.io`.

use super::common::{
    IMMUTABLE, Network, PROTOCOLS, canonical_cidr, domain_prefixed_path, endpoint_ip, fully_qualified, immutable,
    is_address, is_same, is_v4, legacy_cidr, legacy_ip, one_of, optional_as, parse_ip, port_number, required_as, same,
    segment, texts,
};
use super::{Names, get, items, number, text};
use crate::builtin::Assigned;
use crate::builtin::overlay::check::form::{self, Form};
use crate::builtin::overlay::check::{At, Found};
use crate::builtin::overlay::{Request, service};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::{Bump, Map, Value};
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("service", check_service),
    ("service status", service_status),
    ("endpoints", endpoints),
    ("endpoint slice", endpoint_slice),
    ("network policy", network_policy),
    ("ingress", ingress),
    ("ingress status", ingress_status),
    ("ingress class", ingress_class),
    ("ip address", ip_address),
    ("service cidr", service_cidr),
];

const NONE: &str = "None";
/// The types of Services, in the order in which messages list them.
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const TRAFFIC: [&str; 2] = ["Cluster", "Local"];
const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const BALANCER_ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
const UNCHANGED: &str = "may not change once set";
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

fn spec(object: Value<'_>) -> Value<'_> {
    get(object, "spec")
}

fn annotation<'a>(object: Value<'a>, key: &str) -> Option<&'a str> {
    get(get(object, "metadata"), "annotations").get(key)?.as_str()
}

fn is_headless(spec: Value<'_>) -> bool {
    matches!(items(spec, "clusterIPs"), [only] if only.as_str() == Some(NONE))
}

fn is_external(spec: Value<'_>) -> bool {
    text(spec, "type") == "ExternalName"
}

/// `ValidateServiceCreate`, `ValidateServiceUpdate`, and the errors of address allocation, which runs before them.
fn check_service(at: &At<'_, '_>, found: &mut Found) {
    let scope = at.scope;
    let old = scope.old.map(spec);
    let arena = Bump::new();
    let request = Request { assigned: Assigned::default(), old: scope.old, arena: &arena };
    let patched = spec(service::patched(at.value, request));
    let path = Path::Child(&Path::Root, "spec");
    let before = found.errors.len();
    cluster_addresses(patched, old, &path, found);
    if found.errors.len() > before {
        return;
    }
    let new = spec(service::allocate(at.value, request));
    if let Some(old) = old {
        changed_addresses(new, old, &path, found);
        changed_families(new, old, &path, found);
        let is_balancer = |spec| text(spec, "type") == "LoadBalancer";
        if is_balancer(old) && is_balancer(new) && !same(new, old, "loadBalancerClass") {
            found.invalid(&path.child("loadBalancerClass"), get(new, "loadBalancerClass"), UNCHANGED);
        }
        // Upstream checks it again below.
        balancer_class(new, &path, found);
        let needs = |spec| is_balancer(spec) && text(spec, "externalTrafficPolicy") == "Local";
        if needs(old) && needs(new) && !same(old, new, "healthCheckNodePort") {
            found.forbidden(&path.child("healthCheckNodePort"), IMMUTABLE);
        }
    }
    checked_service(at.value, new, old, &path, found);
}

fn balancer_class(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let class = get(spec, "loadBalancerClass");
    if class.is_null() {
        return;
    }
    let path = path.child("loadBalancerClass");
    if text(spec, "type") == "LoadBalancer" {
        found.messages(&path, class, names::qualified_name(class.as_str().unwrap_or_default()));
    } else {
        found.forbidden(&path, BALANCER_ONLY);
    }
}

/// `ValidateServiceClusterIPsRelatedFields`
fn cluster_addresses(spec: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>, found: &mut Found) {
    if is_external(spec) {
        return;
    }
    let (ips_path, families_path) = (path.child("clusterIPs"), path.child("ipFamilies"));
    let ips = items(spec, "clusterIPs");
    let all = get(spec, "clusterIPs");
    match (text(spec, "clusterIP"), texts(ips).first()) {
        ("", Some(_)) => found.invalid(&ips_path, all, "must be empty when `clusterIP` is not specified"),
        ("", None) => {}
        (_, None) => found.required(&ips_path, ""),
        (own, Some(first)) if own != *first => found.invalid(&ips_path, all, "first value must match `clusterIP`"),
        _ => {}
    }
    let families = texts(items(spec, "ipFamilies"));
    let mut seen = BTreeSet::new();
    for (at, family) in families.iter().enumerate() {
        let value = Value::String(family);
        if !FAMILIES.contains(family) {
            found.not_supported(&families_path.index(at), value, &FAMILIES);
        }
        if !seen.insert(family) {
            found.duplicate(&families_path.index(at), value);
        }
    }
    let policy = get(spec, "ipFamilyPolicy");
    if !policy.is_null() && !FAMILY_POLICIES.contains(&policy.as_str().unwrap_or_default()) {
        found.not_supported(&path.child("ipFamilyPolicy"), policy, &FAMILY_POLICIES);
    }
    let known: BTreeSet<&str> =
        old.map(|old| texts(items(old, "clusterIPs"))).unwrap_or_default().into_iter().collect();
    let ips = texts(ips);
    let mut has_invalid = false;
    for (at, ip) in ips.iter().enumerate() {
        if at == 0 && *ip == NONE {
            if ips.len() > 1 {
                has_invalid = true;
                found.invalid(&ips_path, all, "'None' must be the first and only value");
            }
            continue;
        }
        let messages = legacy_ip(ip, &known);
        has_invalid |= !messages.is_empty();
        found.messages(&ips_path.index(at), Value::String(ip), messages);
    }
    if ips.len() > 2 {
        found.invalid(&ips_path, all, "may only hold up to 2 values");
    }
    if has_invalid {
        return;
    }
    let versions: Vec<bool> = ips.iter().filter_map(|ip| parse_ip(ip)).map(is_v4).collect();
    if ips.len() > 1 && !(versions.contains(&true) && versions.contains(&false)) {
        found.invalid(&ips_path, all, "may specify no more than one IP for each IP family");
    }
    if is_headless(spec) {
        return;
    }
    for (at, ((family, is_v4), ip)) in families.iter().zip(&versions).zip(&ips).enumerate() {
        if *family == "IPv4" && !is_v4 || *family == "IPv6" && *is_v4 {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{at}]`");
            found.invalid(&ips_path.index(at), Value::String(ip), detail);
        }
    }
}

/// `validateUpgradeDowngradeClusterIPs`
fn changed_addresses(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if is_external(new) || is_external(old) || is_headless(new) && is_headless(old) {
        return;
    }
    let (ips, before) = (texts(items(new, "clusterIPs")), texts(items(old, "clusterIPs")));
    let (path, policy_path) = (path.child("clusterIPs"), path.child("ipFamilyPolicy"));
    let value = get(new, "clusterIPs");
    if before.len() == ips.len() {
        for (at, _) in before.iter().zip(&ips).enumerate().filter(|(_, (a, b))| a != b) {
            found.invalid(&path.index(at), value, UNCHANGED);
        }
        return;
    }
    if before.len() > ips.len() && ips.is_empty() {
        found.invalid(&path.index(0), value, "primary clusterIP can not be unset");
    }
    if let (Some(a), Some(b)) = (before.first(), ips.first())
        && a != b
    {
        found.invalid(&path.index(0), value, UNCHANGED);
    }
    if before.len() > ips.len() && ips.len() == 1 && text(new, "ipFamilyPolicy") != "SingleStack" {
        let detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        found.invalid(&policy_path, get(new, "ipFamilyPolicy"), detail);
    }
}

/// `validateUpgradeDowngradeIPFamilies`
fn changed_families(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if is_external(new) || is_external(old) || is_headless(new) || is_headless(old) {
        return;
    }
    let (families, before) = (texts(items(new, "ipFamilies")), texts(items(old, "ipFamilies")));
    let policy_path = path.child("ipFamilyPolicy");
    let path = path.child("ipFamilies");
    let value = get(new, "ipFamilies");
    if before.len() == families.len() {
        for _ in before.iter().zip(&families).filter(|(a, b)| a != b) {
            found.invalid(&path.index(0), value, UNCHANGED);
        }
        return;
    }
    if let (Some(a), Some(b)) = (before.first(), families.first())
        && a != b
    {
        found.invalid(&path.index(0), value, UNCHANGED);
    }
    if before.len() > families.len() && families.len() == 1 && text(new, "ipFamilyPolicy") != "SingleStack" {
        let detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
        found.invalid(&policy_path, get(new, "ipFamilyPolicy"), detail);
    }
}

/// `validateService`
fn checked_service(object: Value<'_>, spec: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>, found: &mut Found) {
    const MODE: &str = "service.kubernetes.io/topology-mode";
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    if let (Some(mode), Some(hints)) = (annotation(object, MODE), annotation(object, HINTS))
        && mode != hints
    {
        let annotations = Path::Child(&Path::Base("metadata"), "annotations");
        let detail = format!("must match annotations[{HINTS}] when both are specified");
        found.invalid(&annotations.key(MODE), Value::String(mode), detail);
    }
    let kind = text(spec, "type");
    let ports = items(spec, "ports");
    let ports_path = path.child("ports");
    if ports.is_empty() && !is_headless(spec) && !is_external(spec) {
        found.required(&ports_path, "");
    }
    if matches!(kind, "LoadBalancer" | "NodePort") && is_headless(spec) {
        let detail = format!("may not be set to 'None' for {kind} services");
        found.invalid(&path.child("clusterIPs").index(0), Value::String(NONE), detail);
    }
    if is_external(spec) {
        for (key, is_set) in [
            ("clusterIPs", !items(spec, "clusterIPs").is_empty()),
            ("ipFamilies", !items(spec, "ipFamilies").is_empty()),
            ("ipFamilyPolicy", !get(spec, "ipFamilyPolicy").is_null()),
        ] {
            if is_set {
                found.forbidden(&path.child(key), "may not be set for ExternalName services");
            }
        }
        let name = text(spec, "externalName");
        match name.strip_suffix('.').unwrap_or(name) {
            "" => found.required(&path.child("externalName"), ""),
            name => found.messages(&path.child("externalName"), Value::String(name), names::dns1123_subdomain(name)),
        }
    }
    let mut seen = BTreeSet::new();
    for (at, port) in ports.iter().enumerate() {
        service_port(*port, ports.len() > 1, &mut seen, &ports_path.index(at), found);
    }
    Form::Labels.check(get(spec, "selector"), &path.child("selector"), found);
    one_of(spec, "sessionAffinity", &["ClientIP", NONE], path, found);
    session_affinity(spec, &path.child("sessionAffinityConfig"), found);
    cluster_addresses(spec, old, path, found);
    let known: BTreeSet<&str> =
        old.map(|old| texts(items(old, "externalIPs"))).unwrap_or_default().into_iter().collect();
    for (at, ip) in texts(items(spec, "externalIPs")).into_iter().enumerate() {
        let path = path.child("externalIPs");
        let path = path.index(at);
        match legacy_ip(ip, &known) {
            messages if messages.is_empty() => endpoint_ip(ip, &path, found),
            messages => found.messages(&path, Value::String(ip), messages),
        }
    }
    one_of(spec, "type", &TYPES, path, found);
    let node_port = |port: Value<'_>| number(port, "nodePort").unwrap_or(0);
    for (at, port) in ports.iter().enumerate() {
        if kind == "ClusterIP" && node_port(*port) != 0 {
            found.forbidden(&ports_path.index(at).child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
    let key = |port: &Value<'_>, number: i64| (text(*port, "protocol").to_owned(), number);
    let mut seen = BTreeSet::new();
    for (at, port) in ports.iter().enumerate().filter(|(_, port)| node_port(**port) != 0) {
        if !seen.insert(key(port, node_port(*port))) {
            found.duplicate(&ports_path.index(at).child("nodePort"), get(*port, "nodePort"));
        }
    }
    let mut seen = BTreeSet::new();
    for (at, port) in ports.iter().enumerate() {
        if !seen.insert(key(port, number(*port, "port").unwrap_or(0))) {
            // Upstream shows only the compared fields.
            let key = [("port", get(*port, "port")), ("protocol", get(*port, "protocol"))];
            found.duplicate(&ports_path.index(at), Value::Map(Map::sorted(&key)));
        }
    }
    source_ranges(object, spec, old, path, found);
    if !get(spec, "allocateLoadBalancerNodePorts").is_null() && kind != "LoadBalancer" {
        found.forbidden(&path.child("allocateLoadBalancerNodePorts"), BALANCER_ONLY);
    }
    balancer_class(spec, path, found);
    traffic(spec, path, found);
}

fn service_port<'a>(
    port: Value<'a>,
    needs_name: bool,
    seen: &mut BTreeSet<&'a str>,
    path: &Path<'_>,
    found: &mut Found,
) {
    let name = text(port, "name");
    if name.is_empty() && needs_name {
        found.required(&path.child("name"), "");
    } else if !name.is_empty() {
        found.messages(&path.child("name"), Value::String(name), names::dns1123_label(name));
        if !seen.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
    }
    port_number(get(port, "port"), &path.child("port"), found);
    one_of(port, "protocol", &PROTOCOLS, path, found);
    Form::Port.check(get(port, "targetPort"), &path.child("targetPort"), found);
    app_protocol(port, path, found);
}

fn app_protocol(port: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let protocol = get(port, "appProtocol");
    if let Some(text) = protocol.as_str() {
        found.messages(&path.child("appProtocol"), protocol, names::qualified_name(text));
    }
}

fn session_affinity(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    /// `MaxClientIPServiceAffinitySeconds`
    const MOST: i64 = 86_400;
    let config = get(spec, "sessionAffinityConfig");
    match text(spec, "sessionAffinity") {
        "ClientIP" => {
            let timeout = number(get(config, "clientIP"), "timeoutSeconds");
            let path = path.child("clientIP");
            match timeout {
                Some(timeout) if timeout <= 0 || timeout > MOST => {
                    let detail = format!("must be greater than 0 and less than {MOST}");
                    found.invalid(&path.child("timeoutSeconds"), Value::Int(timeout), detail);
                }
                Some(_) => {}
                None => found.required(&path.child("timeoutSeconds"), "when session affinity type is ClientIP"),
            }
        }
        NONE if !config.is_null() => found.forbidden(path, "must not be set when session affinity is None"),
        _ => {}
    }
}

fn source_ranges(object: Value<'_>, spec: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>, found: &mut Found) {
    let is_balancer = text(spec, "type") == "LoadBalancer";
    let ranges = texts(items(spec, "loadBalancerSourceRanges"));
    if !ranges.is_empty() {
        // The path has the spelling of the Go field.
        let path = path.child("LoadBalancerSourceRanges");
        if !is_balancer {
            found.forbidden(&path, BALANCER_ONLY);
        }
        let known = old.map(|old| texts(items(old, "loadBalancerSourceRanges"))).unwrap_or_default();
        let known: BTreeSet<&str> = known.into_iter().map(str::trim).collect();
        for (at, range) in ranges.iter().enumerate() {
            found.messages(&path.index(at), Value::String(range.trim()), legacy_cidr(range.trim(), &known));
        }
        return;
    }
    let Some(ranges) = annotation(object, SOURCE_RANGES) else { return };
    let annotations = Path::Child(&Path::Base("metadata"), "annotations");
    let path = annotations.key(SOURCE_RANGES);
    if !is_balancer {
        found.forbidden(&path, BALANCER_ONLY);
    }
    if old.is_none() && !ranges.trim().is_empty() {
        for range in ranges.trim().split(',').map(str::trim) {
            found.messages(&path, Value::String(range), legacy_cidr(range, &BTreeSet::new()));
        }
    }
}

/// `validateServiceExternalTrafficPolicy` and the checks that follow it.
fn traffic(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let kind = text(spec, "type");
    let policy = text(spec, "externalTrafficPolicy");
    let policy_path = path.child("externalTrafficPolicy");
    let is_reached =
        matches!(kind, "LoadBalancer" | "NodePort") || kind == "ClusterIP" && !items(spec, "externalIPs").is_empty();
    if is_reached {
        one_of(spec, "externalTrafficPolicy", &TRAFFIC, path, found);
    } else if !policy.is_empty() {
        found.invalid(&policy_path, Value::String(policy), "may only be set for externally-accessible services");
    }
    let port = number(spec, "healthCheckNodePort").unwrap_or(0);
    let port_path = path.child("healthCheckNodePort");
    if kind == "LoadBalancer" && policy == "Local" {
        if port != 0 {
            port_number(Value::Int(port), &port_path, found);
        }
    } else if port != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        found.invalid(&port_path, Value::Int(port), detail);
    }
    let internal = get(spec, "internalTrafficPolicy");
    if internal.is_null() {
        if matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP") {
            found.required(&path.child("internalTrafficPolicy"), "");
        }
    } else if !TRAFFIC.contains(&internal.as_str().unwrap_or_default()) {
        found.not_supported(&path.child("internalTrafficPolicy"), internal, &TRAFFIC);
    }
    let distribution = get(spec, "trafficDistribution");
    if !distribution.is_null() && !DISTRIBUTIONS.contains(&distribution.as_str().unwrap_or_default()) {
        found.not_supported(&path.child("trafficDistribution"), distribution, &DISTRIBUTIONS);
    }
}

/// Checks the addresses of a load balancer: `ValidateLoadBalancerStatus`, `ValidateIngressLoadBalancerStatus`.
fn balancer(status: Value<'_>, old: Value<'_>, has_modes: bool, path: &Path<'_>, found: &mut Found) {
    const MODES: [&str; 2] = ["Proxy", "VIP"];
    let path = path.child("ingress");
    let known: BTreeSet<&str> =
        items(old, "ingress").iter().map(|item| text(*item, "ip")).filter(|ip| !ip.is_empty()).collect();
    for (at, item) in items(status, "ingress").iter().enumerate() {
        let path = path.index(at);
        let (ip, hostname) = (text(*item, "ip"), text(*item, "hostname"));
        if !ip.is_empty() {
            found.messages(&path.child("ip"), Value::String(ip), legacy_ip(ip, &known));
        }
        let mode = get(*item, "ipMode");
        if has_modes {
            match (mode.as_str(), ip) {
                (None, "") => {}
                (None, _) => found.required(&path.child("ipMode"), "must be specified when `ip` is set"),
                (Some(_), "") => found.forbidden(&path.child("ipMode"), "may not be specified when `ip` is not set"),
                (Some(text), _) if !MODES.contains(&text) => found.not_supported(&path.child("ipMode"), mode, &MODES),
                _ => {}
            }
        }
        if !hostname.is_empty() {
            let (path, value) = (path.child("hostname"), Value::String(hostname));
            found.messages(&path, value, names::dns1123_subdomain(hostname));
            if is_address(hostname) {
                found.invalid(&path, value, "must be a DNS name, not an IP address");
            }
        }
    }
}

/// `ValidateServiceStatusUpdate`
fn service_status(at: &At<'_, '_>, found: &mut Found) {
    let status = Path::Child(&Path::Root, "status");
    let path = status.child("loadBalancer");
    let new = get(get(at.value, "status"), "loadBalancer");
    if text(spec(at.value), "type") != "LoadBalancer" && !items(new, "ingress").is_empty() {
        return found.forbidden(&path.child("ingress"), "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let old = at.scope.old.map_or(Value::Null, |old| get(get(old, "status"), "loadBalancer"));
    balancer(new, old, true, &path, found);
}

/// `ValidateEndpoints`
fn endpoints(at: &At<'_, '_>, found: &mut Found) {
    let path = Path::Child(&Path::Root, "subsets");
    let subsets = get(at.value, "subsets");
    if at.scope.old.is_some_and(|old| is_same(get(old, "subsets"), subsets)) {
        return;
    }
    for (index, subset) in items(at.value, "subsets").iter().enumerate() {
        let path = path.index(index);
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|key| items(*subset, key).is_empty()) {
            found.required(&path, "must specify `addresses` or `notReadyAddresses`");
        }
        for key in lists {
            let path = path.child(key);
            for (at, address) in items(*subset, key).iter().enumerate() {
                let path = path.index(at);
                let ip = text(*address, "ip");
                found.messages(&path.child("ip"), Value::String(ip), legacy_ip(ip, &BTreeSet::new()));
                optional_as(*address, "hostname", names::dns1123_label, &path, found);
                if let Some(node) = get(*address, "nodeName").as_str() {
                    found.messages(&path.child("nodeName"), Value::String(node), names::dns1123_subdomain(node));
                }
                endpoint_ip(ip, &path.child("ip"), found);
            }
        }
        let ports = items(*subset, "ports");
        let path = path.child("ports");
        for (at, port) in ports.iter().enumerate() {
            let path = path.index(at);
            if ports.len() > 1 && text(*port, "name").is_empty() {
                found.required(&path.child("name"), "");
            }
            optional_as(*port, "name", names::dns1123_label, &path, found);
            port_number(get(*port, "port"), &path.child("port"), found);
            one_of(*port, "protocol", &PROTOCOLS, &path, found);
            app_protocol(*port, &path, found);
        }
    }
}

/// `ValidateEndpointSlice`
fn endpoint_slice(at: &At<'_, '_>, found: &mut Found) {
    const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
    let root = &Path::Root;
    let slice = at.value;
    one_of(slice, "addressType", &ADDRESS_TYPES, root, found);
    slice_ports(slice, &root.child("ports"), found);
    let old = at.scope.old;
    if !old.is_some_and(|old| is_same(get(old, "endpoints"), get(slice, "endpoints"))) {
        slice_endpoints(slice, &root.child("endpoints"), found);
    }
    if let Some(old) = old {
        immutable(get(slice, "addressType"), get(old, "addressType"), &root.child("addressType"), found);
    }
}

fn slice_ports(slice: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 20_000;
    let ports = items(slice, "ports");
    if ports.len() > MOST {
        return found.too_many(path, ports.len(), MOST);
    }
    let mut seen = BTreeSet::new();
    for (at, port) in ports.iter().enumerate() {
        let path = path.index(at);
        optional_as(*port, "name", names::dns1123_label, &path, found);
        if !seen.insert(text(*port, "name")) {
            found.duplicate(&path.child("name"), get(*port, "name"));
        }
        let protocol = get(*port, "protocol");
        if protocol.is_null() {
            found.required(&path.child("protocol"), "");
        } else if !PROTOCOLS.contains(&protocol.as_str().unwrap_or_default()) {
            found.not_supported(&path.child("protocol"), protocol, &PROTOCOLS);
        }
        app_protocol(*port, &path, found);
    }
}

fn slice_endpoints(slice: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 1_000;
    const MOST_ADDRESSES: usize = 100;
    const MOST_LABELS: usize = 16;
    let endpoints = items(slice, "endpoints");
    if endpoints.len() > MOST {
        return found.too_many(path, endpoints.len(), MOST);
    }
    for (at, endpoint) in endpoints.iter().enumerate() {
        let path = path.index(at);
        let addresses = texts(items(*endpoint, "addresses"));
        let addresses_path = path.child("addresses");
        if addresses.is_empty() {
            found.required(&addresses_path, "must contain at least 1 address");
        } else if addresses.len() > MOST_ADDRESSES {
            found.too_many(&addresses_path, addresses.len(), MOST_ADDRESSES);
        }
        for (at, address) in addresses.iter().enumerate() {
            slice_address(text(slice, "addressType"), address, &addresses_path, at, found);
        }
        if let Some(node) = get(*endpoint, "nodeName").as_str() {
            found.messages(&path.child("nodeName"), Value::String(node), names::dns1123_subdomain(node));
        }
        let topology = get(*endpoint, "deprecatedTopology");
        let labels = topology.as_map().map_or(0, Map::len);
        if labels > MOST_LABELS {
            found.too_many(&path.child("deprecatedTopology"), labels, MOST_LABELS);
        }
        Form::Labels.check(topology, &path.child("deprecatedTopology"), found);
        let hostname = get(*endpoint, "hostname");
        if let Some(text) = hostname.as_str() {
            found.messages(&path.child("hostname"), hostname, names::dns1123_label(text));
        }
        hints(get(*endpoint, "hints"), &path.child("hints"), found);
    }
}

fn slice_address(kind: &str, address: &str, path: &Path<'_>, at: usize, found: &mut Found) {
    let value = Value::String(address);
    let is_six = kind == "IPv6";
    match kind {
        "IPv4" | "IPv6" => {
            let messages =
                if is_six { crate::builtin::address::canonical(address) } else { legacy_ip(address, &BTreeSet::new()) };
            if !messages.is_empty() {
                return found.messages(&path.index(at), value, messages);
            }
            if parse_ip(address).is_some_and(|ip| is_v4(ip) == is_six) {
                found.invalid(path, value, format!("must be an {kind} address"));
            }
            endpoint_ip(address, &path.index(at), found);
        }
        "FQDN" => fully_qualified(address, &path.index(at), found),
        _ => {}
    }
}

fn hints(hints: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 8;
    for key in ["forZones", "forNodes"] {
        let form = if key == "forZones" { names::label_value } else { names::dns1123_subdomain };
        let path = path.child(key);
        let list = items(hints, key);
        if list.len() > MOST {
            return found.too_many(&path, list.len(), MOST);
        }
        let mut seen = BTreeSet::new();
        for (at, item) in list.iter().enumerate() {
            let name = text(*item, "name");
            let (path, value) = (path.index(at), Value::String(name));
            let path = path.child("name");
            if !seen.insert(name) {
                found.duplicate(&path, value);
            }
            found.messages(&path, value, form(name));
        }
    }
}

/// `ValidateNetworkPolicySpec`
fn network_policy(at: &At<'_, '_>, found: &mut Found) {
    const TYPES: [&str; 2] = ["Ingress", "Egress"];
    let spec = get(at.value, "spec");
    let path = Path::Child(&Path::Root, "spec");
    let mut known = BTreeSet::new();
    if let Some(old) = at.scope.old {
        for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
            for peer in items(get(old, "spec"), rules).iter().flat_map(|rule| items(*rule, peers)) {
                let block = get(*peer, "ipBlock");
                known.insert(text(block, "cidr"));
                known.extend(texts(items(block, "except")));
            }
        }
    }
    form::selector(get(spec, "podSelector"), &path.child("podSelector"), found);
    for (key, peers) in [("ingress", "from"), ("egress", "to")] {
        let path = path.child(key);
        for (at, rule) in items(spec, key).iter().enumerate() {
            let path = path.index(at);
            let ports = path.child("ports");
            for (at, port) in items(*rule, "ports").iter().enumerate() {
                policy_port(*port, &ports.index(at), found);
            }
            let path = path.child(peers);
            for (at, peer) in items(*rule, peers).iter().enumerate() {
                policy_peer(*peer, &known, &path.index(at), found);
            }
        }
    }
    let types = items(spec, "policyTypes");
    let path = path.child("policyTypes");
    if types.len() > TYPES.len() {
        return found.invalid(&path, get(spec, "policyTypes"), "may not specify more than two policyTypes");
    }
    for (at, kind) in types.iter().enumerate() {
        if !TYPES.contains(&kind.as_str().unwrap_or_default()) {
            found.not_supported(&path.index(at), *kind, &TYPES);
        }
    }
}

fn policy_port(port: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let protocol = get(port, "protocol");
    if !protocol.is_null() && !PROTOCOLS.contains(&protocol.as_str().unwrap_or_default()) {
        found.not_supported(&path.child("protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    }
    let (value, end) = (get(port, "port"), get(port, "endPort"));
    let end_path = path.child("endPort");
    match value {
        Value::Int(number) => {
            port_number(value, &path.child("port"), found);
            if let Value::Int(last) = end {
                if last < number {
                    found.invalid(&end_path, value, "must be greater than or equal to `port`");
                }
                port_number(end, &end_path, found);
            }
        }
        Value::String(name) => {
            if !end.is_null() {
                found.invalid(&end_path, end, "may not be specified when `port` is non-numeric");
            }
            found.messages(&path.child("port"), value, form::port_name(name));
        }
        _ if !end.is_null() => found.invalid(&end_path, end, "may not be specified when `port` is not specified"),
        _ => {}
    }
}

fn policy_peer(peer: Value<'_>, known: &BTreeSet<&str>, path: &Path<'_>, found: &mut Found) {
    let selectors = ["podSelector", "namespaceSelector"].map(|key| (key, get(peer, key)));
    for (key, selector) in selectors.iter().filter(|(_, selector)| !selector.is_null()) {
        form::selector(*selector, &path.child(key), found);
    }
    let block = get(peer, "ipBlock");
    if !block.is_null() {
        policy_block(block, known, &path.child("ipBlock"), found);
    }
    let selected = selectors.iter().any(|(_, selector)| !selector.is_null());
    match (selected, block.is_null()) {
        (false, true) => found.required(path, "must specify a peer"),
        (true, false) => found.forbidden(path, "may not specify both ipBlock and another peer"),
        _ => {}
    }
}

/// `ValidateIPBlock`
fn policy_block(block: Value<'_>, known: &BTreeSet<&str>, path: &Path<'_>, found: &mut Found) {
    let cidr = text(block, "cidr");
    if cidr.is_empty() {
        return found.required(&path.child("cidr"), "");
    }
    found.messages(&path.child("cidr"), Value::String(cidr), legacy_cidr(cidr, known));
    let Some(network) = Network::parse(cidr) else { return };
    let path = path.child("except");
    for (at, except) in texts(items(block, "except")).into_iter().enumerate() {
        let (path, value) = (path.index(at), Value::String(except));
        found.messages(&path, value, legacy_cidr(except, known));
        if Network::parse(except).is_some_and(|except| !network.has_within(except)) {
            found.invalid(&path, value, "must be a strict subset of `cidr`");
        }
    }
}

/// `ValidateIngressCreate`, `ValidateIngressUpdate`
fn ingress(at: &At<'_, '_>, found: &mut Found) {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let ingress = spec(at.value);
    let old = at.scope.old.map(spec);
    let path = Path::Child(&Path::Root, "spec");
    let rules = items(ingress, "rules");
    let backend = get(ingress, "defaultBackend");
    if rules.is_empty() && backend.is_null() {
        found.invalid(&path, get(ingress, "rules"), "either `defaultBackend` or `rules` must be specified");
    }
    if !backend.is_null() {
        ingress_backend(backend, &path.child("defaultBackend"), found);
    }
    let keeps_wildcards = old.is_some_and(|old| {
        items(old, "rules").iter().any(|rule| {
            let mut errors = Found::default();
            ingress_paths(*rule, &Path::Root, &mut errors);
            text(*rule, "host").contains('*') && !errors.errors.is_empty()
        })
    });
    let rules_path = path.child("rules");
    for (at, rule) in rules.iter().enumerate() {
        let path = rules_path.index(at);
        let is_wildcard = ingress_host(text(*rule, "host"), &path.child("host"), found);
        if !(is_wildcard && keeps_wildcards) {
            ingress_paths(*rule, &path, found);
        }
    }
    let secret = |tls: Value<'_>| match text(tls, "secretName") {
        "" => Vec::new(),
        name => names::dns1123_subdomain(name),
    };
    let keeps_secrets = old.is_some_and(|old| items(old, "tls").iter().any(|tls| !secret(*tls).is_empty()));
    let tls_path = path.child("tls");
    for (at, tls) in items(ingress, "tls").iter().enumerate() {
        let path = tls_path.index(at);
        let hosts = path.child("hosts");
        for (at, host) in texts(items(*tls, "hosts")).into_iter().enumerate() {
            let messages =
                if host.contains('*') { form::wildcard_subdomain(host) } else { names::dns1123_subdomain(host) };
            found.messages(&hosts.index(at), Value::String(host), messages);
        }
        if !keeps_secrets {
            found.messages(&path.child("secretName"), get(*tls, "secretName"), secret(*tls));
        }
    }
    let class = get(ingress, "ingressClassName");
    if let Some(name) = class.as_str() {
        found.messages(&path.child("ingressClassName"), class, names::dns1123_subdomain(name));
        let annotated = annotation(at.value, CLASS).filter(|annotated| *annotated != name && old.is_none());
        if let Some(annotated) = annotated {
            let annotations = Path::Child(&Path::Root, "annotations");
            let detail = "must match `ingressClassName` when both are specified";
            found.invalid(&annotations.child(CLASS), Value::String(annotated), detail);
        }
    }
}

/// Returns whether the host has a wildcard.
fn ingress_host(host: &str, path: &Path<'_>, found: &mut Found) -> bool {
    let value = Value::String(host);
    if host.is_empty() {
        return false;
    }
    if is_address(host) {
        found.invalid(path, value, "must be a DNS name, not an IP address");
    }
    let is_wildcard = host.contains('*');
    let messages = if is_wildcard { form::wildcard_subdomain(host) } else { names::dns1123_subdomain(host) };
    found.messages(path, value, messages);
    is_wildcard
}

fn ingress_paths(rule: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
    let http = get(rule, "http");
    if http.is_null() {
        return;
    }
    let path = path.child("http");
    let path = path.child("paths");
    let paths = items(http, "paths");
    if paths.is_empty() {
        found.required(&path, "");
    }
    for (at, item) in paths.iter().enumerate() {
        let path = path.index(at);
        let kind = get(*item, "pathType");
        let Some(kind_text) = kind.as_str() else {
            found.required(&path.child("pathType"), "pathType must be specified");
            continue;
        };
        let (text, text_path) = (text(*item, "path"), path.child("path"));
        let value = Value::String(text);
        match kind_text {
            "Exact" | "Prefix" => {
                if !text.starts_with('/') {
                    found.invalid(&text_path, value, "must be an absolute path");
                }
                for part in ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|part| text.contains(part)) {
                    found.invalid(&text_path, value, format!("must not contain '{part}'"));
                }
                for end in ["/..", "/."].into_iter().filter(|end| text.ends_with(end)) {
                    found.invalid(&text_path, value, format!("cannot end with '{end}'"));
                }
            }
            "ImplementationSpecific" => {
                if !text.is_empty() && !text.starts_with('/') {
                    found.invalid(&text_path, value, "must be an absolute path");
                }
            }
            _ => found.not_supported(&path.child("pathType"), kind, &TYPES),
        }
        ingress_backend(get(*item, "backend"), &path.child("backend"), found);
    }
}

fn ingress_backend(backend: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let (resource, service) = (get(backend, "resource"), get(backend, "service"));
    let empty = Value::String("");
    match (resource.is_null(), service.is_null()) {
        (false, false) => found.invalid(path, empty, "cannot set both resource and service backends"),
        (false, true) => object_reference(resource, &path.child("resource"), found),
        (true, true) => found.invalid(path, empty, "resource or service backend is required"),
        (true, false) => {
            let service_path = path.child("service");
            required_as(service, "name", names::dns1123_label, &service_path, found);
            let port = get(service, "port");
            let (name, number) = (text(port, "name"), number(port, "number").unwrap_or(0));
            let port_path = service_path.child("port");
            match (name, number) {
                ("", 0) => found.required(path, "port name or number is required"),
                ("", number) => port_number(Value::Int(number), &port_path.child("number"), found),
                (name, 0) => found.messages(&port_path.child("name"), Value::String(name), form::port_name(name)),
                _ => found.invalid(path, empty, "cannot set both port name & port number"),
            }
        }
    }
}

/// `validateIngressTypedLocalObjectReference`
fn object_reference(reference: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let group = get(reference, "apiGroup");
    if let Some(text) = group.as_str() {
        found.messages(&path.child("apiGroup"), group, names::dns1123_subdomain(text));
    }
    for key in ["kind", "name"] {
        required_as(reference, key, segment, path, found);
    }
}

fn ingress_status(at: &At<'_, '_>, found: &mut Found) {
    let status = Path::Child(&Path::Root, "status");
    let old = at.scope.old.map_or(Value::Null, |old| get(get(old, "status"), "loadBalancer"));
    balancer(get(get(at.value, "status"), "loadBalancer"), old, false, &status.child("loadBalancer"), found);
}

/// `ValidateIngressClass`, `validateIngressClassSpecUpdate`
fn ingress_class(at: &At<'_, '_>, found: &mut Found) {
    const MOST: usize = 250;
    const SCOPES: [&str; 2] = ["Cluster", "Namespace"];
    let class = spec(at.value);
    let path = Path::Child(&Path::Root, "spec");
    if let Some(old) = at.scope.old {
        immutable(get(class, "controller"), get(spec(old), "controller"), &path.child("controller"), found);
    }
    let controller = text(class, "controller");
    if controller.len() > MOST {
        found.too_long(&path.child("controller"), MOST);
    }
    domain_prefixed_path(controller, &path.child("controller"), found);
    let parameters = get(class, "parameters");
    if parameters.is_null() {
        return;
    }
    let path = path.child("parameters");
    object_reference(parameters, &path, found);
    let (scope, namespace) = (get(parameters, "scope"), get(parameters, "namespace"));
    let namespace_path = path.child("namespace");
    match scope.as_str() {
        None => found.required(&path.child("scope"), ""),
        Some("Namespace") => match namespace.as_str() {
            None => found.required(&namespace_path, "`parameters.scope` is set to 'Namespace'"),
            Some(name) => found.messages(&namespace_path, namespace, names::dns1123_label(name)),
        },
        Some("Cluster") => {
            if !namespace.is_null() {
                found.forbidden(&namespace_path, "`parameters.scope` is set to 'Cluster'");
            }
        }
        Some(_) => found.not_supported(&path.child("scope"), scope, &SCOPES),
    }
}

/// `ValidateIPAddress`, `ValidateIPAddressUpdate`
fn ip_address(at: &At<'_, '_>, found: &mut Found) {
    let path = Path::Child(&Path::Root, "spec");
    let reference = get(spec(at.value), "parentRef");
    let path = path.child("parentRef");
    if let Some(old) = at.scope.old {
        immutable(reference, get(spec(old), "parentRef"), &path, found);
    }
    if reference.is_null() {
        return found.required(&path, "");
    }
    optional_as(reference, "group", names::dns1123_subdomain, &path, found);
    required_as(reference, "resource", segment, &path, found);
    required_as(reference, "name", segment, &path, found);
    optional_as(reference, "namespace", segment, &path, found);
}

/// `ValidateServiceCIDR`, `ValidateServiceCIDRUpdate`
fn service_cidr(at: &At<'_, '_>, found: &mut Found) {
    let path = Path::Child(&Path::Root, "spec");
    let path = path.child("cidrs");
    let cidrs = texts(items(spec(at.value), "cidrs"));
    let value = get(spec(at.value), "cidrs");
    let Some(old) = at.scope.old else { return cidr_list(&cidrs, value, &path, found) };
    let before = texts(items(spec(old), "cidrs"));
    match (before.len(), cidrs.len()) {
        (a, b) if a == b => {
            for (at, cidr) in cidrs.iter().enumerate() {
                if before.get(at) != Some(cidr) {
                    found.invalid(&path.index(at), Value::String(cidr), IMMUTABLE);
                }
            }
        }
        (1, 2) => {
            if let Some(first) = cidrs.first().filter(|first| before.first() != Some(*first)) {
                found.invalid(&path.index(0), Value::String(first), IMMUTABLE);
            }
            cidr_list(&cidrs, value, &path, found);
        }
        _ => found.invalid(&path, value, IMMUTABLE),
    }
}

fn cidr_list(cidrs: &[&str], value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if cidrs.is_empty() {
        return found.required(path, "at least one CIDR required");
    }
    if cidrs.len() > 2 {
        // Upstream shows the spec.
        let spec = [("cidrs", value)];
        return found.invalid(path, Value::Map(Map::sorted(&spec)), "may only hold up to 2 values");
    }
    for (at, cidr) in cidrs.iter().enumerate() {
        found.messages(&path.index(at), Value::String(cidr), canonical_cidr(cidr));
    }
    let networks: Vec<bool> =
        cidrs.iter().filter_map(|cidr| Network::parse(cidr)).map(|network| network.is_v4).collect();
    if matches!(networks.as_slice(), [a, b] if a == b) {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        found.invalid(path, value, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_parsed_like_in_go() {
        let network = |text| Network::parse(text).expect("a network");
        assert!(network("10.0.0.0/8").has_within(network("10.1.0.0/16")));
        assert!(!network("10.0.0.0/8").has_within(network("10.0.0.0/8")));
        assert!(!network("10.0.0.0/8").has_within(network("11.0.0.0/16")));
        assert_eq!(Network::parse("10.0.0.0"), None);
        assert_eq!(legacy_cidr("10.0.0.1/8", &BTreeSet::new()), ["must not have bits set beyond the prefix length"]);
        assert_eq!(legacy_cidr("010.0.0.0/8", &BTreeSet::new()), ["must not have leading 0s in IP or prefix length"]);
        assert_eq!(canonical_cidr("2001:DB8::/64"), ["must be in canonical form (\"2001:db8::/64\")"]);
    }
}
