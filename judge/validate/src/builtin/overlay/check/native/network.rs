//! Rules of Services, Endpoints, EndpointSlices and `networking.k8s.io`.

use super::common::{
    IMMUTABLE, Network, PROTOCOLS, canonical_cidr, domain_prefixed_path, endpoint_ip, fully_qualified, immutable,
    is_address, is_same, is_v4, legacy_cidr, legacy_ip, one_of, optional_as, parse_ip, port_number, required_as,
    segment, texts,
};
use super::services::{annotation, app_protocol, balancer, spec};
use super::{Names, get, items, number, text};
use crate::builtin::overlay::check::form::{self, Form};
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::{Map, Value};
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("endpoints", endpoints),
    ("endpoint slice", endpoint_slice),
    ("network policy", network_policy),
    ("ingress", ingress),
    ("ingress status", ingress_status),
    ("ingress class", ingress_class),
    ("ip address", ip_address),
    ("service cidr", service_cidr),
];

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
