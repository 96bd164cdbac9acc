//! Cells of Services, Ingresses and related kinds.

use super::cells::{at, first_of, is_set, items, joined, number_at, or, text, text_at};
use super::marked;
use kubeshape_value::Value;
use std::collections::BTreeSet;

/// The maximum number of hosts, ports or addresses shown.
const SHOWN: usize = 3;

/// Returns the first address (upstream: `printService`). Only manifests have an address that is not in the list.
pub(super) fn cluster_ip(spec: Value<'_>) -> String {
    let first = items(at(spec, "clusterIPs")).first().map(|address| text(*address));
    first.unwrap_or_else(|| or(text_at(spec, "clusterIP"), "<none>")).to_owned()
}

/// Returns the addresses of load balancers, sorted and without duplicates (upstream: `loadBalancerStatusStringer`).
pub(super) fn addresses(ingress: Value<'_>) -> String {
    let one = |ingress: &Value<'_>| or(text_at(*ingress, "ip"), text_at(*ingress, "hostname")).to_owned();
    let all: BTreeSet<String> = items(ingress).iter().map(one).filter(|address| !address.is_empty()).collect();
    all.into_iter().collect::<Vec<_>>().join(",")
}

/// Upstream: `getServiceExternalIP`.
pub(super) fn external_ips(service: Value<'_>) -> String {
    let external = joined(at(service, "spec.externalIPs"));
    match text_at(service, "spec.type") {
        "" | "ClusterIP" | "NodePort" => or(&external, "<none>").to_owned(),
        "LoadBalancer" => {
            let balancer = addresses(at(service, "status.loadBalancer.ingress"));
            let all: Vec<&str> = [&*balancer, &*external].into_iter().filter(|part| !part.is_empty()).collect();
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => text_at(service, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// Upstream: `makePortString`.
pub(super) fn service_ports(ports: Value<'_>) -> String {
    let one = |port: &Value<'_>| {
        let (number, protocol) = (number_at(*port, "port"), or(text_at(*port, "protocol"), "TCP"));
        match number_at(*port, "nodePort") {
            node @ 1.. => format!("{number}:{node}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    };
    let all: Vec<String> = items(ports).iter().map(one).collect();
    or(&all.join(","), "<none>").to_owned()
}

/// Upstream: `formatHosts`.
pub(super) fn ingress_hosts(rules: Value<'_>) -> String {
    let rules = items(rules);
    let mut hosts = Vec::new();
    for rule in rules {
        if hosts.len() == SHOWN {
            return format!("{} + {} more...", hosts.join(","), rules.len().saturating_sub(SHOWN));
        }
        hosts.extend(Some(text_at(*rule, "host")).filter(|host| !host.is_empty()));
    }
    or(&hosts.join(","), "*").to_owned()
}

/// Upstream: `formatPorts`.
pub(super) fn ingress_ports(tls: Value<'_>) -> String {
    if items(tls).is_empty() { "80" } else { "80, 443" }.to_owned()
}

/// Upstream: `printIngressClass`.
pub(super) fn default_ingress_class(metadata: Value<'_>) -> String {
    marked(metadata, &["ingressclass.kubernetes.io/is-default-class"])
}

/// Upstream: `printIngressClass`.
pub(super) fn class_parameters(parameters: Value<'_>) -> String {
    if !is_set(parameters) {
        return "<none>".to_owned();
    }
    let (kind, name) = (text_at(parameters, "kind"), text_at(parameters, "name"));
    match at(parameters, "apiGroup").as_str() {
        Some(group) => format!("{kind}.{group}/{name}"),
        None => format!("{kind}/{name}"),
    }
}

/// Upstream: `formatEndpoints`.
pub(super) fn endpoints(subsets: Value<'_>) -> String {
    let subsets = items(subsets);
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let (mut shown, mut count): (Vec<String>, usize) = (Vec::new(), 0);
    for subset in subsets {
        let (addresses, ports) = (items(at(*subset, "addresses")), items(at(*subset, "ports")));
        count = count.saturating_add(addresses.len().saturating_mul(ports.len().max(1)));
        let addresses = || addresses.iter().map(|address| text_at(*address, "ip"));
        if ports.is_empty() {
            shown.extend(addresses().take(SHOWN.saturating_sub(shown.len())).map(str::to_owned));
        }
        for port in ports {
            let port = number_at(*port, "port");
            let one = |ip: &str| if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") };
            shown.extend(addresses().take(SHOWN.saturating_sub(shown.len())).map(one));
        }
    }
    let text = shown.join(",");
    match count.saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} + {more} more..."),
    }
}

/// Upstream: `formatDiscoveryPorts`.
pub(super) fn slice_ports(ports: Value<'_>) -> String {
    let one = |port: &Value<'_>| match (at(*port, "port"), at(*port, "name").as_str()) {
        (Value::Int(number), _) => number.to_string(),
        (_, Some(name)) => name.to_owned(),
        _ => "*".to_owned(),
    };
    let ports = items(ports);
    first_of(&ports.iter().take(SHOWN).map(one).collect::<Vec<_>>(), ports.len())
}

/// Upstream: `formatDiscoveryEndpoints`.
pub(super) fn slice_endpoints(endpoints: Value<'_>) -> String {
    let all = || items(endpoints).iter().flat_map(|endpoint| items(at(*endpoint, "addresses")));
    let shown: Vec<String> = all().take(SHOWN).map(|address| text(*address).to_owned()).collect();
    first_of(&shown, all().count())
}

/// Returns the object to which an IPAddress belongs (upstream: `printIPAddress`).
pub(super) fn parent(reference: Value<'_>) -> String {
    if !is_set(reference) {
        return "<none>".to_owned();
    }
    let parts = [super::cluster::group_resource(reference).to_lowercase(), text_at(reference, "namespace").to_owned()];
    let parts = parts.iter().map(String::as_str).filter(|part| !part.is_empty());
    parts.chain([text_at(reference, "name")]).collect::<Vec<_>>().join("/")
}
