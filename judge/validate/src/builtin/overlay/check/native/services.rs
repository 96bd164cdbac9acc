//! Rules of Services.

use super::common::{
    IMMUTABLE, PROTOCOLS, endpoint_ip, is_address, is_v4, legacy_cidr, legacy_ip, one_of, parse_ip, port_number, same,
    texts,
};
use super::{Names, get, items, number, text};
use crate::builtin::Assigned;
use crate::builtin::overlay::check::form::Form;
use crate::builtin::overlay::check::{At, Found};
use crate::builtin::overlay::{Request, service};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::{Bump, Map, Value};
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[("service", check_service), ("service status", service_status)];

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

pub(super) fn spec(object: Value<'_>) -> Value<'_> {
    get(object, "spec")
}

pub(super) fn annotation<'a>(object: Value<'a>, key: &str) -> Option<&'a str> {
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

pub(super) fn app_protocol(port: Value<'_>, path: &Path<'_>, found: &mut Found) {
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
pub(super) fn balancer(status: Value<'_>, old: Value<'_>, has_modes: bool, path: &Path<'_>, found: &mut Found) {
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
