//! Containers: `validateContainers`, `validateInitContainers`, `validateEphemeralContainers`.

use super::super::super::Found;
use super::super::super::form::{local_path, path_without_backsteps, port_name, relaxed_env_var_name};
use super::{
    PULL_POLICIES, Pod, all_containers, between, check_text, flag, get, items, number, one_of, probes, require,
    resources, security, selectors, string, text,
};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::{BTreeMap, BTreeSet};

const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// Checks the containers in all lists of a spec at a path.
pub(super) fn containers(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let spec = pod.spec;
    let own = items(spec, "containers");
    let own_path = path.child("containers");
    if own.is_empty() {
        found.required(&own_path, "");
    }
    let mut names = BTreeSet::new();
    for (index, container) in own.iter().enumerate() {
        let path = own_path.index(index);
        common(*container, pod, &path, found);
        let name = text(*container, "name");
        if !names.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
        probes::of_container(*container, pod, &path, found);
        restart_policy(*container, &path, found);
    }
    host_ports(own, &own_path, 0, found);
    init_containers(pod, &path.child("initContainers"), names, found);
    ephemeral(pod, &path.child("ephemeralContainers"), found);
}

fn init_containers<'a>(pod: &Pod<'a>, path: &Path<'_>, mut names: BTreeSet<&'a str>, found: &mut Found) {
    for (index, container) in items(pod.spec, "initContainers").iter().enumerate() {
        let own = path.index(index);
        common(*container, pod, &own, found);
        let is_sidecar = text(*container, "restartPolicy") == "Always";
        restart_policy(*container, &own, found);
        let name = text(*container, "name");
        if names.contains(name) {
            found.duplicate(&own.child("name"), Value::String(name));
        } else if !name.is_empty() {
            names.insert(name);
        }
        host_ports(std::slice::from_ref(container), path, 0, found);
        if is_sidecar {
            probes::of_container(*container, pod, &own, found);
        } else {
            for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if container.get(key).is_some() {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    found.forbidden(&own.child(key), detail);
                }
            }
            for (index, policy) in items(*container, "resizePolicy").iter().enumerate() {
                if text(*policy, "restartPolicy") == "RestartContainer" && !pod.allows.resize_restarts {
                    let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    let path = own.child("resizePolicy");
                    let path = path.index(index);
                    found.invalid(&path.child("restartPolicy"), get(*policy, "restartPolicy"), detail);
                }
            }
        }
    }
}

pub(super) fn has_resize_restarts(spec: Value<'_>) -> bool {
    items(spec, "initContainers").iter().filter(|item| text(**item, "restartPolicy") != "Always").any(|item| {
        items(*item, "resizePolicy").iter().any(|policy| text(*policy, "restartPolicy") == "RestartContainer")
    })
}

/// `validateContainerRestartPolicy`
fn restart_policy(container: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
    let rules = items(container, "restartPolicyRules");
    let policy_path = path.child("restartPolicy");
    match container.get("restartPolicy") {
        None if rules.is_empty() => return,
        None => found.required(&policy_path, "must specify restartPolicy when restart rules are used"),
        Some(policy) if !POLICIES.contains(&policy.as_str().unwrap_or_default()) => {
            found.not_supported(&policy_path, policy, &POLICIES);
        }
        Some(_) => {}
    }
    let rules_path = path.child("restartPolicyRules");
    if rules.len() > 20 {
        found.too_many(&rules_path, rules.len(), 20);
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = rules_path.index(index);
        let action = string(get(*rule, "action"));
        if !matches!(action.as_str(), Some("Restart" | "RestartAllContainers")) {
            found.not_supported(&path.child("action"), action, &["Restart", "RestartAllContainers"]);
        }
        let codes_path = path.child("exitCodes");
        let Some(codes) = rule.get("exitCodes") else {
            found.required(&codes_path, "must be specified");
            continue;
        };
        let operator = string(get(codes, "operator"));
        if !matches!(operator.as_str(), Some("In" | "NotIn")) {
            found.not_supported(&codes_path.child("operator"), operator, &["In", "NotIn"]);
        }
        let count = items(codes, "values").len();
        if count > 255 {
            found.too_many(&codes_path.child("values"), count, 255);
        }
    }
}

fn ephemeral(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    const ALONE: &str = "cannot be set for an Ephemeral Container";
    let spec = pod.spec;
    let others: BTreeSet<&str> = all_containers(spec)
        .filter(|(field, ..)| *field != "ephemeralContainers")
        .map(|(.., item)| text(item, "name"))
        .collect();
    let mut names = others.clone();
    for (index, container) in items(spec, "ephemeralContainers").iter().enumerate() {
        let path = path.index(index);
        common(*container, pod, &path, found);
        padded_image(*container, &path, found);
        let name = text(*container, "name");
        if !names.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
        let target = text(*container, "targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            found.not_found(&path.child("targetContainerName"), Value::String(target));
        }
        for key in [
            "ports",
            "resources",
            "resizePolicy",
            "restartPolicy",
            "restartPolicyRules",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            let own = get(*container, key);
            let is_empty = match own {
                Value::Map(map) => key == "resources" && map.is_empty(),
                Value::List(list) => list.is_empty(),
                other => other.is_null(),
            };
            if !is_empty {
                found.forbidden(&path.child(key), ALONE);
            }
        }
        let mounts = path.child("volumeMounts");
        for (index, mount) in items(*container, "volumeMounts").iter().enumerate() {
            for key in ["subPath", "subPathExpr"] {
                if !text(*mount, key).is_empty() {
                    found.forbidden(&mounts.index(index).child(key), ALONE);
                }
            }
        }
    }
}

/// `validateContainerOnlyForPod`
pub(super) fn padded_image(container: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let image = text(container, "image");
    if image.trim().len() != image.len() {
        let detail = "must not have leading or trailing whitespace";
        found.invalid(&path.child("image"), Value::String(image), detail);
    }
}

/// `checkHostPortConflicts`
fn host_ports(containers: &[Value<'_>], path: &Path<'_>, first: usize, found: &mut Found) {
    let mut seen = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let ports = path.index(first + index);
        let ports = ports.child("ports");
        for (index, port) in items(*container, "ports").iter().enumerate() {
            let Some(host) = number(*port, "hostPort").filter(|host| *host != 0) else { continue };
            let key = format!("{}/{}/{host}", text(*port, "protocol"), text(*port, "hostIP"));
            if !seen.insert(key.clone()) {
                found.duplicate(&ports.index(index).child("hostPort"), Value::String(&key));
            }
        }
    }
}

/// `validateContainerCommon`
fn common(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let name = text(container, "name");
    if name.is_empty() {
        found.required(&path.child("name"), "");
    } else {
        found.messages(&path.child("name"), Value::String(name), names::dns1123_label(name));
    }
    require(container, "image", path, found);
    one_of(container, "terminationMessagePolicy", &["File", "FallbackToLogsOnError"], true, path, found);
    ports(items(container, "ports"), &path.child("ports"), found);
    env(container, &path.child("env"), found);
    env_from(container, &path.child("envFrom"), found);
    mounts(container, pod, &path.child("volumeMounts"), found);
    devices(container, pod, &path.child("volumeDevices"), found);
    one_of(container, "imagePullPolicy", &PULL_POLICIES, true, path, found);
    resources::of_container(container, pod, &path.child("resources"), found);
    resize(container, pod, &path.child("resizePolicy"), found);
    security::container(container, pod, &path.child("securityContext"), found);
}

/// `validateResizePolicy`
fn resize(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let mut seen = BTreeSet::new();
    for (index, policy) in items(container, "resizePolicy").iter().enumerate() {
        let resource = string(get(*policy, "resourceName"));
        if !seen.insert(text(*policy, "resourceName")) {
            found.duplicate(&path.index(index), resource);
        }
        match resource.as_str().unwrap_or_default() {
            "cpu" | "memory" => {}
            "" => found.required(path, ""),
            _ => found.not_supported(path, resource, &["cpu", "memory"]),
        }
        let restart = string(get(*policy, "restartPolicy"));
        match restart.as_str().unwrap_or_default() {
            "NotRequired" | "RestartContainer" => {}
            "" => found.required(path, ""),
            _ => found.not_supported(path, restart, &["NotRequired", "RestartContainer"]),
        }
        if text(pod.spec, "restartPolicy") == "Never" && restart.as_str() != Some("NotRequired") {
            found.invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        }
    }
}

/// `validateContainerPorts`
fn ports(ports: &[Value<'_>], path: &Path<'_>, found: &mut Found) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let own = path.index(index);
        let name = text(*port, "name");
        if !name.is_empty() {
            let messages = port_name(name);
            if !messages.is_empty() {
                found.messages(&own.child("name"), Value::String(name), messages);
            } else if !names.insert(name) {
                found.duplicate(&own.child("name"), Value::String(name));
            }
        }
        if number(*port, "containerPort").unwrap_or(0) == 0 {
            found.required(&own.child("containerPort"), "");
        } else {
            between(*port, "containerPort", 1, 65_535, &own, found);
        }
        if number(*port, "hostPort").unwrap_or(0) != 0 {
            between(*port, "hostPort", 1, 65_535, &own, found);
        }
        one_of(*port, "protocol", &["SCTP", "TCP", "UDP"], true, &own, found);
    }
}

/// `ValidateEnv`
fn env(container: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for (index, variable) in items(container, "env").iter().enumerate() {
        let path = path.index(index);
        if text(*variable, "name").is_empty() {
            found.required(&path.child("name"), "");
        } else {
            check_text(*variable, "name", &path, relaxed_env_var_name, found);
        }
        if let Some(source) = variable.get("valueFrom") {
            value_from(*variable, source, &path.child("valueFrom"), found);
        }
    }
}

/// `validateEnvVarValueFrom`
fn value_from(variable: Value<'_>, source: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let mut count = 0;
    for key in ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"] {
        let Some(own) = source.get(key) else { continue };
        count += 1;
        let path = path.child(key);
        match key {
            "fieldRef" => selectors::field_selector(own, &ENV_FIELDS, &path, found),
            "resourceFieldRef" => selectors::resource_selector(own, false, &path, found),
            "fileKeyRef" => file_key(own, &path, found),
            _ => selectors::key_selector(own, &path, found),
        }
    }
    let empty = Value::String("");
    if count == 0 {
        let detail =
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        found.invalid(path, empty, detail);
    } else if !text(variable, "value").is_empty() {
        found.invalid(path, empty, "may not be specified when `value` is not empty");
    } else if count > 1 {
        found.invalid(path, empty, "may not have more than one field specified at a time");
    }
}

/// `validateFileKeySelector`
fn file_key(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    type Check = fn(&str) -> names::Messages;
    let checks: [(&str, Check); 3] =
        [("key", relaxed_env_var_name), ("volumeName", names::dns1123_label), ("path", path_without_backsteps)];
    for (key, check) in checks {
        require(own, key, path, found);
        check_text(own, key, path, check, found);
    }
}

/// `ValidateEnvFrom`
fn env_from(container: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for (index, source) in items(container, "envFrom").iter().enumerate() {
        let own = path.index(index);
        check_text(*source, "prefix", &own, relaxed_env_var_name, found);
        let mut count = 0;
        for key in ["configMapRef", "secretRef"] {
            let Some(reference) = source.get(key) else { continue };
            count += 1;
            let own = own.child(key);
            let name = text(reference, "name");
            if name.is_empty() {
                found.required(&own.child("name"), "");
            } else {
                // The name may be only a prefix.
                let messages = names::dns1123_subdomain(&names::mask_trailing_dash(name));
                found.messages(&own.child("name"), Value::String(name), messages);
            }
        }
        if count == 0 {
            found.invalid(path, Value::String(""), "must specify one of: `configMapRef` or `secretRef`");
        } else if count > 1 {
            found.invalid(path, Value::String(""), "may not have more than one field specified at a time");
        }
    }
}

/// `ValidateVolumeMounts`
fn mounts(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let devices = Named::of(items(container, "volumeDevices"), "devicePath");
    let mut places = BTreeSet::new();
    for (index, mount) in items(container, "volumeMounts").iter().enumerate() {
        let own = path.index(index);
        let (name, place) = (text(*mount, "name"), text(*mount, "mountPath"));
        require(*mount, "name", &own, found);
        if !pod.volumes.contains(name) {
            found.not_found(&own.child("name"), Value::String(name));
        }
        require(*mount, "mountPath", &own, found);
        if !places.insert(place) {
            found.invalid(&own.child("mountPath"), Value::String(place), "must be unique");
        }
        if devices.names.contains(name) {
            found.invalid(&own.child("name"), Value::String(name), "must not already exist in volumeDevices");
        }
        if devices.places.contains(place) {
            let detail = "must not already exist as a path in volumeDevices";
            found.invalid(&own.child("mountPath"), Value::String(place), detail);
        }
        // For the following checks, upstream uses the path of the list.
        check_text(*mount, "subPath", path, local_path, found);
        let expression = text(*mount, "subPathExpr");
        if !expression.is_empty() {
            if !text(*mount, "subPath").is_empty() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                found.invalid(&own.child("subPathExpr"), Value::String(expression), detail);
            }
            check_text(*mount, "subPathExpr", path, local_path, found);
        }
        propagation(*mount, container, path, found);
    }
}

fn propagation(mount: Value<'_>, container: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if let Some(mode) = mount.get("mountPropagation") {
        const MODES: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
        let path = path.child("mountPropagation");
        let own = mode.as_str().unwrap_or_default();
        if !MODES.contains(&own) {
            found.not_supported(&path, mode, &MODES);
        }
        if own == "Bidirectional" && !flag(get(container, "securityContext"), "privileged") {
            let detail = "Bidirectional mount propagation is available only to privileged containers";
            found.forbidden(&path, detail);
        }
    }
    if let Some(mode) = mount.get("recursiveReadOnly") {
        let path = path.child("recursiveReadOnly");
        match mode.as_str().unwrap_or_default() {
            "Disabled" => {}
            "Enabled" | "IfPossible" => {
                if !flag(mount, "readOnly") {
                    found.forbidden(&path, "may only be specified when readOnly is true");
                }
                if !matches!(mount.get("mountPropagation").and_then(Value::as_str), None | Some("None")) {
                    let detail = "may only be specified when mountPropagation is None or not specified";
                    found.forbidden(&path, detail);
                }
            }
            _ => found.not_supported(&path, mode, &["Disabled", "Enabled", "IfPossible"]),
        }
    }
}

/// The names of items with their indices. If items have the same name, the last one counts.
struct Named<'a> {
    names: BTreeSet<&'a str>,
    places: BTreeSet<&'a str>,
}

impl<'a> Named<'a> {
    fn of(items: &[Value<'a>], key: &str) -> Named<'a> {
        let last: BTreeMap<&str, &str> = items.iter().map(|item| (text(*item, "name"), text(*item, key))).collect();
        Named { names: last.keys().copied().collect(), places: last.into_values().collect() }
    }
}

/// `ValidateVolumeDevices`
fn devices(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let mounts = Named::of(items(container, "volumeMounts"), "mountPath");
    let (mut names, mut places) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in items(container, "volumeDevices").iter().enumerate() {
        let own = path.index(index);
        let (name, place) = (text(*device, "name"), text(*device, "devicePath"));
        let (name_path, place_path) = (own.child("name"), own.child("devicePath"));
        let (name_value, place_value) = (Value::String(name), Value::String(place));
        require(*device, "name", &own, found);
        if names.contains(name) {
            found.invalid(&name_path, name_value, "must be unique");
        }
        if !pod.volumes.contains(name) {
            found.not_found(&name_path, name_value);
        } else if !pod.claims.contains(name) {
            let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
            found.invalid(&name_path, name_value, detail);
        }
        require(*device, "devicePath", &own, found);
        if places.contains(place) {
            found.invalid(&place_path, place_value, "must be unique");
        }
        if path_without_backsteps(place).is_empty() {
            places.insert(place);
        } else {
            found.invalid(&place_path, place_value, "can not contain backsteps ('..')");
        }
        if mounts.names.contains(name) {
            found.invalid(&name_path, name_value, "must not already exist in volumeMounts");
        }
        if mounts.places.contains(place) {
            found.invalid(&place_path, place_value, "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}

/// `validateFileKeyRefVolumes`
pub(super) fn file_keys(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let volumes: BTreeMap<&str, &Value<'_>> =
        items(spec, "volumes").iter().map(|volume| (text(*volume, "name"), volume)).collect();
    for (field, index, container) in all_containers(spec) {
        let env = path.child(field);
        let env = env.index(index);
        let env = env.child("env");
        for (index, variable) in items(container, "env").iter().enumerate() {
            let Some(key) = get(*variable, "valueFrom").get("fileKeyRef") else { continue };
            let name = text(key, "volumeName");
            let path = env.index(index);
            let path = path.child("valueFrom");
            let path = path.child("fileKeyRef");
            let path = path.child("volumeName");
            match volumes.get(name) {
                None => found.not_found(&path, Value::String(name)),
                Some(volume) if volume.get("emptyDir").is_none() => {
                    found.invalid(&path, Value::String(name), "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    }
}
