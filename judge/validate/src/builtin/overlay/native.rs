//! Rules that neither values nor CEL can express. The files refer to them by name.

use super::edit::{each, list, semantic_equal, text, with};
use super::{Request, autoscaler, service};
use crate::builtin::Assigned;
use kubeshape_value::{Bump, Map, Value};

/// The annotation of a DaemonSet with the number of changes of its template.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// A native rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    /// Copies the first address of a list to and from its own field (`Convert_v1_NodeSpec_To_core_NodeSpec`).
    Addresses,
    /// The annotations of a HorizontalPodAutoscaler that hold its fields from other versions.
    AutoscalerAnnotations,
    /// The annotations of a HorizontalPodAutoscaler in version v2, which has fields for them.
    AutoscalerFields,
    /// The annotations of a status that was sent to the subresource.
    AutoscalerStatus,
    /// Keeps the annotations of the status.
    AutoscalerStatusKept,
    /// The kind and version of a claim inside another object (`Convert_apps_StatefulSetSpec_To_v1_StatefulSetSpec`).
    ClaimTemplates,
    /// Gives the old and the new field for the source of a volume the same value (`NormalizeDataSources`).
    DataSources,
    /// The topology of endpoints that the version does not have (`dropTopologyOnV1`).
    DeprecatedTopology,
    /// Makes the container ports of pods in the host network host ports (`defaultHostNetworkPorts`).
    HostPorts,
    /// How traffic reaches the addresses of a load balancer (`SetDefaults_Service`).
    IpModes,
    /// The labels of the pods of a job, and the selector for them (`generateSelector`).
    JobSelector,
    /// Defaults of limits from other limits (`SetDefaults_LimitRangeItem`).
    LimitRange,
    /// Gives a new LimitRange without a name a random one (`PrepareForCreate`).
    LimitRangeName,
    /// The finalizer of a new namespace (`PrepareForCreate`).
    NamespaceFinalizer,
    /// Gives a namespace its name as a label (`SetDefaults_Namespace`).
    NamespaceLabel,
    /// The time of the request.
    Now,
    /// When the phase of a volume changed (`persistentvolumeStatusStrategy.PrepareForUpdate`).
    PhaseTransition,
    /// When an image is pulled: always if its tag is `latest`, or if it has neither tag nor digest
    /// (`SetDefaults_Container`).
    PullPolicy,
    /// The status of a new pod: its phase and its quality of service class (`PrepareForCreate`, `GetPodQOS`).
    PodStatus,
    /// Sets absent requests of containers to their limits (`SetDefaults_Pod`).
    RequestsFromLimits,
    /// The user of the request (`csrStrategy.PrepareForCreate`).
    Requester,
    /// Addresses and ports of a Service.
    ServiceAddresses,
    /// Fields that another type of a Service does not use.
    ServiceFields,
    /// Moves `stringData` of a Secret to `data` (`Convert_v1_Secret_To_core_Secret`).
    StringData,
    /// Gives taints of devices without a time the time of the request (`SetDefaults_DeviceTaint`).
    TaintTimes,
    /// How often the template of a DaemonSet changed, as an annotation (`PrepareForUpdate`,
    /// `Convert_apps_DaemonSet_To_v1_DaemonSet`).
    TemplateGeneration,
    /// The annotation of a DaemonSet that has none: it is a number in the server's own type.
    TemplateGenerationNoted,
}

const NAMES: [(&str, Native); 27] = [
    ("addresses", Native::Addresses),
    ("autoscaler annotations", Native::AutoscalerAnnotations),
    ("autoscaler fields", Native::AutoscalerFields),
    ("autoscaler status", Native::AutoscalerStatus),
    ("autoscaler status kept", Native::AutoscalerStatusKept),
    ("claim templates", Native::ClaimTemplates),
    ("data sources", Native::DataSources),
    ("deprecated topology", Native::DeprecatedTopology),
    ("host ports", Native::HostPorts),
    ("ip modes", Native::IpModes),
    ("job selector", Native::JobSelector),
    ("limit range", Native::LimitRange),
    ("limit range name", Native::LimitRangeName),
    ("namespace finalizer", Native::NamespaceFinalizer),
    ("namespace label", Native::NamespaceLabel),
    ("now", Native::Now),
    ("phase transition", Native::PhaseTransition),
    ("pod status", Native::PodStatus),
    ("pull policy", Native::PullPolicy),
    ("requester", Native::Requester),
    ("requests from limits", Native::RequestsFromLimits),
    ("service addresses", Native::ServiceAddresses),
    ("service fields", Native::ServiceFields),
    ("string data", Native::StringData),
    ("taint times", Native::TaintTimes),
    ("template generation", Native::TemplateGeneration),
    ("template generation noted", Native::TemplateGenerationNoted),
];

impl Native {
    pub(super) fn named(name: &str) -> Option<Native> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, native)| *native)
    }

    /// Runs the rule on a struct. `path` is the field that the step sets.
    pub(super) fn run<'a>(self, value: Value<'a>, path: &[&str], request: Request<'a>) -> Value<'a> {
        let Request { assigned, old, arena } = request;
        match self {
            Native::Addresses => addresses(value, path, arena),
            Native::AutoscalerAnnotations => autoscaler::normal(value, arena),
            Native::AutoscalerFields => autoscaler::without_annotations(value, arena),
            Native::AutoscalerStatus => autoscaler::with_status(value, request),
            Native::AutoscalerStatusKept => autoscaler::without_status(value, request),
            Native::ClaimTemplates => each(value, &["spec", "volumeClaimTemplates"], arena, |claim| {
                let claim = with(claim, &["apiVersion"], Some(Value::String("v1")), arena);
                with(claim, &["kind"], Some(Value::String("PersistentVolumeClaim")), arena)
            }),
            Native::DataSources => data_sources(value, old, arena),
            Native::DeprecatedTopology => deprecated_topology(value, old, arena),
            Native::IpModes => each(value, &["status", "loadBalancer", "ingress"], arena, |ingress| {
                let is_set = ingress.get("ipMode").is_some_and(|mode| !mode.is_null());
                if is_set || text(ingress, "ip").is_empty() {
                    return ingress;
                }
                with(ingress, &["ipMode"], Some(Value::String("VIP")), arena)
            }),
            Native::HostPorts => containers(value, arena, |container| host_ports(container, arena)),
            Native::JobSelector => job_selector(value, assigned, arena),
            Native::LimitRange => limit_range(value, arena),
            Native::LimitRangeName => limit_range_name(value, assigned, arena),
            Native::NamespaceFinalizer => namespace_finalizer(value, arena),
            Native::NamespaceLabel => namespace_label(value, arena),
            Native::Now => with(value, path, Some(Value::String(assigned.time)), arena),
            Native::PhaseTransition => phase_transition(value, path, request),
            Native::PullPolicy => pull_policy(value, path, arena),
            Native::PodStatus => pod_status(value, arena),
            Native::Requester => requester(value, assigned, arena),
            Native::RequestsFromLimits => containers(value, arena, |container| requests(container, arena)),
            Native::ServiceAddresses => service::allocate(value, request),
            Native::ServiceFields => service::drop_unused(value, request),
            Native::StringData => string_data(value, arena),
            Native::TaintTimes => each(value, &["spec", "devices"], arena, |device| {
                each(device, &["taints"], arena, |taint| match taint.get("timeAdded") {
                    None | Some(Value::Null) => with(taint, &["timeAdded"], Some(Value::String(assigned.time)), arena),
                    Some(_) => taint,
                })
            }),
            Native::TemplateGeneration => template_generation(value, old, arena),
            Native::TemplateGenerationNoted => {
                let annotations = value.get("metadata").and_then(|metadata| metadata.get("annotations"));
                if annotations.is_some_and(|all| all.get(TEMPLATE_GENERATION).is_some()) {
                    return value;
                }
                with(value, &["metadata", "annotations", TEMPLATE_GENERATION], Some(Value::String("0")), arena)
            }
        }
    }
}

fn phase_transition<'a>(value: Value<'a>, path: &[&str], Request { assigned, old, arena }: Request<'a>) -> Value<'a> {
    let of = |object: Option<Value<'a>>, key: &str| object.and_then(|object| object.get("status")?.get(key));
    let [new_phase, old_phase] = [Some(value), old].map(|object| of(object, "phase"));
    let [new, old] = [Some(value), old].map(|object| of(object, "lastPhaseTransitionTime"));
    if new_phase == old_phase {
        return if new.is_none() && old.is_some() { with(value, path, old, arena) } else { value };
    }
    if new.is_none() || new == old { with(value, path, Some(Value::String(assigned.time)), arena) } else { value }
}

/// The plural field is `path`; the singular one is the same without its last letter. Items of the plural field are
/// strings or, for pods, structs with an `ip`.
fn addresses<'a>(value: Value<'a>, path: &[&str], arena: &'a Bump) -> Value<'a> {
    let Some(plural) = path.last() else { return value };
    let Some(singular) = plural.strip_suffix('s') else { return value };
    let is_struct = *plural == "podIPs";
    let one = value.get(singular).and_then(Value::as_str).unwrap_or_default();
    let first = value.get(plural).and_then(Value::as_list).and_then(|items| items.first().copied());
    let first = first.map(|first| if is_struct { text(first, "ip") } else { first.as_str().unwrap_or_default() });
    if !one.is_empty() && first != Some(one) {
        let item = Value::String(one);
        let item = if is_struct { Value::Map(Map::from_entries(vec![("ip", item)], arena)) } else { item };
        return with(value, &[plural], Some(list(&[item], arena)), arena);
    }
    match first {
        Some(first) => with(value, &[singular], Some(Value::String(first)), arena),
        None => value,
    }
}

fn data_sources<'a>(claim: Value<'a>, old: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    const GROUP: &str = "snapshot.storage.k8s.io";
    let Some(mut spec) = claim.get("spec") else { return claim };
    let is_given = |spec: Value<'a>, key: &str| spec.get(key).is_some();
    let old_spec = old.and_then(|old| old.get("spec"));
    let was_given = old_spec.is_some_and(|old| is_given(old, "dataSource") || is_given(old, "dataSourceRef"));
    let was_ref = old_spec.is_some_and(|old| is_given(old, "dataSourceRef"));
    if !was_ref && spec.get("dataSourceRef").is_some_and(|source| !text(source, "namespace").is_empty()) {
        spec = with(spec, &["dataSourceRef"], None, arena);
    }
    let is_known = |source: Value<'a>| match text(source, "kind") {
        "PersistentVolumeClaim" => text(source, "apiGroup").is_empty(),
        "VolumeSnapshot" => text(source, "apiGroup") == GROUP,
        _ => false,
    };
    if !was_given && !is_given(spec, "dataSourceRef") && !spec.get("dataSource").is_some_and(is_known) {
        spec = with(spec, &["dataSource"], None, arena);
    }
    spec = match (spec.get("dataSource"), spec.get("dataSourceRef")) {
        (Some(source), None) => {
            let source = if source.get("apiGroup").is_some_and(Value::is_null) {
                with(source, &["apiGroup"], None, arena)
            } else {
                source
            };
            with(spec, &["dataSourceRef"], Some(source), arena)
        }
        (None, Some(source)) if text(source, "namespace").is_empty() => {
            with(spec, &["dataSource"], Some(with(source, &["namespace"], None, arena)), arena)
        }
        _ => spec,
    };
    with(claim, &["spec"], Some(spec), arena)
}

fn deprecated_topology<'a>(slice: Value<'a>, old: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let endpoints = |slice: Value<'a>| slice.get("endpoints").unwrap_or(Value::Null);
    if old.is_some_and(|old| semantic_equal(endpoints(old), endpoints(slice))) {
        return slice;
    }
    let hostname = |endpoint: Value<'a>| endpoint.get("deprecatedTopology")?.get("kubernetes.io/hostname")?.as_str();
    let before = old.map(endpoints).and_then(Value::as_list).unwrap_or_default();
    let was_there = |name: &str| before.iter().any(|endpoint| hostname(*endpoint) == Some(name));
    each(slice, &["endpoints"], arena, |endpoint| {
        let node = hostname(endpoint).filter(|name| endpoint.get("nodeName").is_none() && was_there(name));
        let endpoint = with(endpoint, &["deprecatedTopology"], None, arena);
        let is_name = |name: &&str| kubeshape_schema::names::dns1123_subdomain(name).is_empty();
        match node.filter(is_name) {
            Some(name) => with(endpoint, &["nodeName"], Some(Value::String(name)), arena),
            None => endpoint,
        }
    })
}

fn job_selector<'a>(job: Value<'a>, assigned: Assigned<'a>, arena: &'a Bump) -> Value<'a> {
    const UID: &str = "batch.kubernetes.io/controller-uid";
    let name = job.get("metadata").map_or("", |metadata| text(metadata, "name"));
    let labels = [
        ("job-name", name),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", assigned.uid),
        (UID, assigned.uid),
    ];
    let put = |job: Value<'a>, path: &[&str], key: &'static str, text: &'a str| {
        let path: Vec<&str> = path.iter().copied().chain([key]).collect();
        let is_there = path.iter().try_fold(job, |value, key| value.get(key)).is_some();
        if is_there { job } else { with(job, &path, Some(Value::String(text)), arena) }
    };
    let job =
        labels.iter().fold(job, |job, (key, text)| put(job, &["spec", "template", "metadata", "labels"], key, text));
    put(job, &["spec", "selector", "matchLabels"], UID, assigned.uid)
}

fn requester<'a>(request: Value<'a>, assigned: Assigned<'a>, arena: &'a Bump) -> Value<'a> {
    let Some(user) = assigned.user else { return request };
    let groups: Vec<_> = user.groups.iter().map(|group| Value::String(group)).collect();
    let text = |text: &'a str| (!text.is_empty()).then_some(Value::String(text));
    let groups = (!groups.is_empty()).then(|| list(&groups, arena));
    [("username", text(user.name)), ("uid", text(user.uid)), ("groups", groups), ("extra", None)]
        .into_iter()
        .fold(request, |request, (key, value)| with(request, &["spec", key], value, arena))
}

fn template_generation<'a>(set: Value<'a>, old: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let noted = |set: Value<'a>| {
        let text = set.get("metadata")?.get("annotations")?.get(TEMPLATE_GENERATION)?.as_str()?;
        text.parse::<i64>().ok()
    };
    let template = |set: Value<'a>| set.get("spec").and_then(|spec| spec.get("template")).unwrap_or(Value::Null);
    let generation = match old {
        None => noted(set).unwrap_or(0).max(1),
        Some(old) => {
            let before = noted(old).unwrap_or(0);
            if semantic_equal(template(old), template(set)) { before } else { before.saturating_add(1) }
        }
    };
    let text = Value::String(arena.alloc_str(&generation.to_string()));
    with(set, &["metadata", "annotations", TEMPLATE_GENERATION], Some(text), arena)
}

fn pull_policy<'a>(value: Value<'a>, path: &[&str], arena: &'a Bump) -> Value<'a> {
    let Some((field, _)) = path.split_last() else { return value };
    if !text(value, field).is_empty() {
        return value;
    }
    let image = [text(value, "image"), text(value, "reference")].concat();
    let policy = if tag(&image) == Some("latest") { "Always" } else { "IfNotPresent" };
    with(value, path, Some(Value::String(policy)), arena)
}

/// Returns the tag of an image: `latest` if it has neither tag nor digest, and empty if it has only a digest. Returns
/// `None` if it is not an image name (`ParseImageName`, and the reference syntax of distribution).
fn tag(image: &str) -> Option<&str> {
    let (named, digest) = image.split_once('@').map_or((image, None), |(named, digest)| (named, Some(digest)));
    let start = named.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match named.get(start..)?.split_once(':') {
        Some((last, tag)) => (named.get(..start + last.len())?, Some(tag)),
        None => (named, None),
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let tag_fits = tag.is_none_or(|tag| {
        tag.starts_with(is_word) && tag.len() <= 128 && tag.chars().all(|c| is_word(c) || c == '.' || c == '-')
    });
    let fits = is_image_name(name) && tag_fits && digest.is_none_or(is_digest);
    fits.then_some(tag.unwrap_or(if digest.is_some() { "" } else { "latest" }))
}

fn is_digest(digest: &str) -> bool {
    let is_hex = |hex: &str| hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let lengths = [("sha256", 64), ("sha384", 96), ("sha512", 128)];
    digest.split_once(':').is_some_and(|(name, hex)| lengths.contains(&(name, hex.len())) && is_hex(hex))
}

fn is_image_name(name: &str) -> bool {
    let is_id = name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let (domain, path) = match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" || first != first.to_lowercase() => {
            (Some(first), rest)
        }
        _ => (None, name),
    };
    !is_id && name.len() <= 255 && domain.is_none_or(is_domain) && path.split('/').all(is_path_component)
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = domain.rsplit_once(':').map_or((domain, "0"), |(host, port)| (host, port));
    let is_label = |label: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        edge(label.chars().next())
            && edge(label.chars().last())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && host.split('.').all(is_label)
}

/// Returns whether a text consists of lower-case letters and digits, separated by a dot, by one or two underscores, or
/// by hyphens.
fn is_path_component(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators: Vec<&str> = text.split(is_plain).filter(|part| !part.is_empty()).collect();
    text.starts_with(is_plain)
        && text.ends_with(is_plain)
        && separators.iter().all(|part| matches!(*part, "." | "_" | "__") || part.bytes().all(|byte| byte == b'-'))
}

/// Changes all containers of a pod.
fn containers<'a>(pod: Value<'a>, arena: &'a Bump, change: impl Fn(Value<'a>) -> Value<'a>) -> Value<'a> {
    let mut spec = pod.get("spec").unwrap_or(Value::Null);
    for key in ["containers", "initContainers"] {
        if let Some(list) = spec.get(key).and_then(Value::as_list) {
            let list: Vec<_> = list.iter().map(|container| change(*container)).collect();
            spec = with(spec, &[key], Some(Value::List(arena.alloc_slice_copy(&list))), arena);
        }
    }
    if spec.is_null() { pod } else { with(pod, &["spec"], Some(spec), arena) }
}

/// Returns a map, with entries added from another map whose keys it lacks.
fn filled<'a>(map: Option<Value<'a>>, from: Option<Value<'a>>, arena: &'a Bump) -> Option<Value<'a>> {
    let from = from.and_then(Value::as_map).unwrap_or(Map::EMPTY);
    let map = map.and_then(Value::as_map).unwrap_or(Map::EMPTY);
    let missing = from.entries().iter().filter(|(key, _)| map.get(key).is_none());
    let entries: Vec<_> = map.entries().iter().chain(missing).copied().collect();
    (!entries.is_empty()).then(|| Value::Map(Map::from_entries(entries, arena)))
}

fn requests<'a>(container: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Some(resources) = container.get("resources") else { return container };
    let Some(limits) = resources.get("limits") else { return container };
    let requests = filled(resources.get("requests"), Some(limits), arena);
    with(container, &["resources", "requests"], requests, arena)
}

fn host_ports<'a>(container: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Some(ports) = container.get("ports").and_then(Value::as_list) else { return container };
    let port = |port: &Value<'a>| match (port.get("hostPort"), port.get("containerPort")) {
        (None, Some(number)) if !crate::typed::is_empty(number) => with(*port, &["hostPort"], Some(number), arena),
        _ => *port,
    };
    let ports: Vec<_> = ports.iter().map(port).collect();
    with(container, &["ports"], Some(Value::List(arena.alloc_slice_copy(&ports))), arena)
}

fn limit_range<'a>(item: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let default = filled(item.get("default"), item.get("max"), arena);
    let request = filled(item.get("defaultRequest"), default, arena);
    let request = filled(request, item.get("min"), arena);
    with(with(item, &["default"], default, arena), &["defaultRequest"], request, arena)
}

fn limit_range_name<'a>(range: Value<'a>, assigned: Assigned<'a>, arena: &'a Bump) -> Value<'a> {
    let is_named = range.get("metadata").is_some_and(|metadata| !text(metadata, "name").is_empty());
    if is_named { range } else { with(range, &["metadata", "name"], Some(Value::String(assigned.name)), arena) }
}

fn namespace_finalizer<'a>(namespace: Value<'a>, arena: &'a Bump) -> Value<'a> {
    const FINALIZER: Value<'static> = Value::String("kubernetes");
    let given = namespace.get("spec").and_then(|spec| spec.get("finalizers")).and_then(Value::as_list);
    let mut finalizers = given.unwrap_or_default().to_vec();
    if finalizers.contains(&FINALIZER) {
        return namespace;
    }
    finalizers.push(FINALIZER);
    with(namespace, &["spec", "finalizers"], Some(Value::List(arena.alloc_slice_copy(&finalizers))), arena)
}

fn namespace_label<'a>(namespace: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let name = namespace.get("metadata").map_or("", |metadata| text(metadata, "name"));
    if name.is_empty() {
        return namespace;
    }
    with(namespace, &["metadata", "labels", "kubernetes.io/metadata.name"], Some(Value::String(name)), arena)
}

/// Sets the status of a new pod. A quality of service class in the request is kept.
fn pod_status<'a>(pod: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let given = pod.get("status").map_or("", |status| text(status, "qosClass"));
    let class = if given.is_empty() { quality(pod) } else { given };
    let members = [("phase", Value::String("Pending")), ("qosClass", Value::String(class))];
    with(pod, &["status"], Some(Value::Map(Map::sorted(arena.alloc_slice_copy(&members)))), arena)
}

/// Returns `Guaranteed` if all containers have limits for cpu and memory that equal their requests, `BestEffort` if
/// none has limits or requests, and otherwise `Burstable`.
pub(in crate::builtin) fn quality(pod: Value<'_>) -> &'static str {
    let spec = pod.get("spec").unwrap_or(Value::Null);
    let lists = ["containers", "initContainers"].map(|key| spec.get(key).and_then(Value::as_list).unwrap_or_default());
    let whole = spec.get("resources").filter(|resources| !crate::typed::is_empty(*resources));
    let all: Vec<Value<'_>> = match whole {
        Some(resources) => vec![resources],
        None => lists.concat().iter().filter_map(|container| container.get("resources")).collect(),
    };
    let given = |resources: Value<'_>, kind: &str, name: &str| {
        let text = resources.get(kind).and_then(|list| list.get(name)).and_then(Value::as_str)?.to_owned();
        (text != "0").then_some(text)
    };
    let (mut any, mut guaranteed) = (false, !all.is_empty());
    for resources in all {
        for name in ["cpu", "memory"] {
            let (request, limit) = (given(resources, "requests", name), given(resources, "limits", name));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

fn string_data<'a>(secret: Value<'a>, arena: &'a Bump) -> Value<'a> {
    use base64::Engine;
    let Some(texts) = secret.get("stringData").and_then(Value::as_map) else { return secret };
    let encode = |text: Value<'_>| {
        Value::String(
            arena.alloc_str(&base64::engine::general_purpose::STANDARD.encode(text.as_str().unwrap_or_default())),
        )
    };
    let data = secret.get("data").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    let own = data.entries().iter().copied();
    let entries: Vec<_> = own.chain(texts.entries().iter().map(|(key, text)| (*key, encode(*text)))).collect();
    let secret = with(secret, &["stringData"], None, arena);
    if entries.is_empty() {
        return secret;
    }
    with(secret, &["data"], Some(Value::Map(Map::from_entries(entries, arena))), arena)
}
