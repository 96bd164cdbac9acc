//! The checks of the levels, their versions and words (upstream: `policy/check_*.go` of `k8s.io/pod-security-admission`
//! v0.36). Words are upstream's, byte for byte.

use super::super::part::{integer, is_true, items, member, text};
use super::levels::{Level, LevelVersion, Version};
use super::pod::Pod;
use kubeshape_schema::Release;
use kubeshape_smd::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::BTreeSet;

/// Returns the reason and the details of a violation.
pub(super) type Run = fn(&Pod<'_>) -> Option<(String, String)>;

/// A check, with the minor releases that changed it.
struct Check {
    id: &'static str,
    level: Level,
    versions: &'static [(u64, Run)],
    /// The check of `baseline` that it replaces.
    replaces: Option<&'static str>,
}

const fn baseline(id: &'static str, versions: &'static [(u64, Run)]) -> Check {
    Check { id, level: Level::Baseline, versions, replaces: None }
}

const fn restricted(id: &'static str, versions: &'static [(u64, Run)], replaces: Option<&'static str>) -> Check {
    Check { id, level: Level::Restricted, versions, replaces }
}

/// All checks, in the order of messages: those of `baseline`, then those of `restricted`, each by id.
const CHECKS: [Check; 19] = [
    baseline("appArmorProfile", &[(0, app_armor)]),
    baseline("capabilities_baseline", &[(0, added_capabilities)]),
    baseline("hostNamespaces", &[(0, host_namespaces)]),
    baseline("hostPathVolumes", &[(0, host_paths)]),
    baseline("hostPorts", &[(0, host_ports)]),
    baseline("hostProbesAndHostLifecycle", &[(34, probed_hosts)]),
    baseline("privileged", &[(0, privileged)]),
    baseline("procMount", &[(0, proc_mount), (35, |pod| unless_own_users(pod, proc_mount))]),
    baseline(
        "seLinuxOptions",
        &[(0, |pod| selinux(pod, &SELINUX_TYPES[..4])), (31, |pod| selinux(pod, &SELINUX_TYPES))],
    ),
    baseline("seccompProfile_baseline", &[(0, seccomp_annotations), (19, seccomp_baseline)]),
    baseline(
        "sysctls",
        &[
            (0, |pod| sysctls(pod, &SYSCTLS[..5])),
            (27, |pod| sysctls(pod, &SYSCTLS[..6])),
            (29, |pod| sysctls(pod, &SYSCTLS[..10])),
            (32, |pod| sysctls(pod, &SYSCTLS)),
        ],
    ),
    baseline("windowsHostProcess", &[(0, host_process)]),
    restricted("allowPrivilegeEscalation", &[(8, escalation), (25, |pod| unless_windows(pod, escalation))], None),
    restricted(
        "capabilities_restricted",
        &[(22, dropped_capabilities), (25, |pod| unless_windows(pod, dropped_capabilities))],
        Some("capabilities_baseline"),
    ),
    restricted("procMount_restricted", &[(35, proc_mount)], Some("procMount")),
    restricted("restrictedVolumes", &[(0, restricted_volumes)], Some("hostPathVolumes")),
    restricted("runAsNonRoot", &[(0, non_root), (35, |pod| unless_own_users(pod, non_root))], None),
    restricted("runAsUser", &[(23, root), (35, |pod| unless_own_users(pod, root))], None),
    restricted(
        "seccompProfile_restricted",
        &[(19, seccomp_restricted), (25, |pod| unless_windows(pod, seccomp_restricted))],
        Some("seccompProfile_baseline"),
    ),
];

/// Capabilities that `baseline` lets containers add.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
/// Types of SELinux that are allowed. The last one is since 1.31.
const SELINUX_TYPES: [&str; 5] = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];
/// Sysctls that are allowed: five since 1.0, one since 1.27, four since 1.29, two since 1.32.
const SYSCTLS: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];
/// Volumes that `restricted` allows.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];
/// All other volumes, in the order in which they are looked for.
const RESTRICTED_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Returns the checks of a level and version. Versions above those of the server are its own.
pub(super) fn of(at: LevelVersion, release: Release) -> impl Iterator<Item = Run> {
    let newest = CHECKS.iter().filter_map(|check| check.versions.last()).map(|(since, _)| *since).max();
    let newest = newest.unwrap_or_default().min(u64::from(release.minor()));
    let minor = match at.version {
        Version::Latest => newest,
        Version::Minor(minor) => minor.min(newest),
    };
    let run = move |check: &Check| check.versions.iter().rfind(|(since, _)| *since <= minor).map(|(_, run)| *run);
    let replaced: Vec<&str> = match at.level {
        Level::Restricted => CHECKS.iter().filter(|check| run(check).is_some()).filter_map(|of| of.replaces).collect(),
        Level::Privileged | Level::Baseline => Vec::new(),
    };
    let level = at.level;
    let checks = CHECKS.iter().filter(move |check| check.level <= level && !replaced.contains(&check.id));
    checks.filter_map(run)
}

fn unless_windows(pod: &Pod<'_>, check: Run) -> Option<(String, String)> {
    if pod.is_windows() { None } else { check(pod) }
}

fn unless_own_users(pod: &Pod<'_>, check: Run) -> Option<(String, String)> {
    if pod.has_own_users() { None } else { check(pod) }
}

/// Returns strings in quotes, without escapes (upstream: `joinQuote`).
fn quoted<T: AsRef<str>>(all: impl IntoIterator<Item = T>) -> String {
    let quoted = |item: T| format!("\"{}\"", item.as_ref());
    all.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

fn plural<'t>(one: &'t str, many: &'t str, count: usize) -> &'t str {
    if count == 1 { one } else { many }
}

/// `container "a"`, `containers "a", "b"`
fn containers(names: &[&str]) -> String {
    format!("{} {}", plural("container", "containers", names.len()), quoted(names))
}

/// `pod and containers "a", "b"`. `None` if neither the Pod nor a container sets a forbidden value.
fn setters(is_pod: bool, names: &[&str]) -> Option<String> {
    let pod = is_pod.then(|| "pod".to_owned());
    let all: Vec<String> = pod.into_iter().chain((!names.is_empty()).then(|| containers(names))).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

fn found(reason: &str, detail: String) -> (String, String) {
    (reason.to_owned(), detail)
}

fn app_armor(pod: &Pod<'_>) -> Option<(String, String)> {
    let mut values: BTreeSet<&str> = BTreeSet::new();
    let mut is_bad = |of| {
        let Some(profile) = member(of, &["securityContext", "appArmorProfile"]) else { return false };
        let kind = text(profile, &["type"]);
        let is_bad = !["RuntimeDefault", "Localhost"].contains(&kind);
        if is_bad {
            values.insert(kind);
        }
        is_bad
    };
    let is_pod = is_bad(pod.spec);
    let names = pod.containers_with(is_bad);
    let is_allowed = |value: &str| value.is_empty() || value == "runtime/default" || value.starts_with("localhost/");
    let annotations = pod.annotations.entries().iter().filter_map(|(key, value)| {
        let value = value.as_str().unwrap_or_default();
        let is_bad = key.starts_with(APP_ARMOR_OF_CONTAINER) && !is_allowed(value);
        is_bad.then(|| format!("{key}={}", GoQuoted(value)))
    });
    let mut annotations: Vec<String> = annotations.collect();
    annotations.sort();
    let mut who: Vec<String> = setters(is_pod, &names).into_iter().collect();
    if !annotations.is_empty() {
        who.push(plural("annotation", "annotations", annotations.len()).to_owned());
    }
    let all: Vec<&str> = values.iter().copied().chain(annotations.iter().map(String::as_str)).collect();
    if who.is_empty() {
        return None;
    }
    let reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", all.len());
    Some(found(reason, format!("{} must not set AppArmor profile type to {}", who.join(" and "), quoted(all))))
}

/// Returns the capabilities that a container adds, but for the allowed ones.
fn added<'v>(container: Value<'v>, allowed: &'static [&'static str]) -> impl Iterator<Item = &'v str> {
    let all = items(container, &["securityContext", "capabilities", "add"]).iter().filter_map(|item| item.as_str());
    all.filter(|name| !allowed.contains(name))
}

fn added_capabilities(pod: &Pod<'_>) -> Option<(String, String)> {
    let (names, added) = adding(pod, &CAPABILITIES)?;
    Some(found(
        "non-default capabilities",
        format!("{names} must not include {added} in securityContext.capabilities.add"),
    ))
}

/// Returns the containers that add capabilities, but for the allowed ones, and these capabilities.
fn adding(pod: &Pod<'_>, allowed: &'static [&'static str]) -> Option<(String, String)> {
    let names = pod.containers_with(|container| added(container, allowed).next().is_some());
    let all: BTreeSet<&str> = pod.containers.iter().flat_map(|container| added(container.value, allowed)).collect();
    (!names.is_empty()).then(|| (containers(&names), quoted(all)))
}

fn dropped_capabilities(pod: &Pod<'_>) -> Option<(String, String)> {
    let names = pod.containers_with(|container| {
        let dropped = items(container, &["securityContext", "capabilities", "drop"]);
        !dropped.contains(&Value::String("ALL"))
    });
    let mut details = Vec::new();
    if !names.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", containers(&names)));
    }
    if let Some((names, added)) = adding(pod, &["NET_BIND_SERVICE"]) {
        details.push(format!("{names} must not include {added} in securityContext.capabilities.add"));
    }
    if details.is_empty() { None } else { Some(found("unrestricted capabilities", details.join("; "))) }
}

fn host_namespaces(pod: &Pod<'_>) -> Option<(String, String)> {
    let used = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|key| is_true(pod.spec, &[key]));
    let used: Vec<String> = used.map(|key| format!("{key}=true")).collect();
    if used.is_empty() { None } else { Some(found("host namespaces", used.join(", "))) }
}

fn host_paths(pod: &Pod<'_>) -> Option<(String, String)> {
    let volumes = items(pod.spec, &["volumes"]).iter().filter(|volume| member(**volume, &["hostPath"]).is_some());
    let names: Vec<&str> = volumes.map(|volume| text(*volume, &["name"])).collect();
    if names.is_empty() {
        return None;
    }
    Some(found("hostPath volumes", format!("{} {}", plural("volume", "volumes", names.len()), quoted(&names))))
}

fn host_ports(pod: &Pod<'_>) -> Option<(String, String)> {
    let mut ports: BTreeSet<String> = BTreeSet::new();
    let names = pod.containers_with(|container| {
        let ports_of_node = items(container, &["ports"]).iter().filter_map(|port| integer(*port, &["hostPort"]));
        let all = ports_of_node.filter(|port| *port != 0).map(|port| port.to_string());
        let all: Vec<String> = all.collect();
        let is_bad = !all.is_empty();
        ports.extend(all);
        is_bad
    });
    if names.is_empty() {
        return None;
    }
    let (uses, word) = (plural("uses", "use", names.len()), plural("hostPort", "hostPorts", ports.len()));
    let ports: Vec<String> = ports.into_iter().collect();
    Some(found("hostPort", format!("{} {uses} {word} {}", containers(&names), ports.join(", "))))
}

fn probed_hosts(pod: &Pod<'_>) -> Option<(String, String)> {
    const HANDLERS: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let mut hosts: BTreeSet<&str> = BTreeSet::new();
    let names = pod.containers_with(|container| {
        let handlers = HANDLERS.iter().filter_map(|path| member(container, path));
        let all = handlers.flat_map(|handler| ["httpGet", "tcpSocket"].map(|kind| text(handler, &[kind, "host"])));
        let all: Vec<&str> = all.filter(|host| !host.is_empty()).collect();
        let is_bad = !all.is_empty();
        hosts.extend(all);
        is_bad
    });
    if names.is_empty() {
        return None;
    }
    let names: Vec<&str> = names.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let uses = plural("uses", "use", names.len());
    let word = plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.len());
    Some(found("probe or lifecycle host", format!("{} {uses} {word} {}", containers(&names), quoted(hosts))))
}

fn privileged(pod: &Pod<'_>) -> Option<(String, String)> {
    let names = pod.containers_with(|container| is_true(container, &["securityContext", "privileged"]));
    if names.is_empty() {
        return None;
    }
    Some(found("privileged", format!("{} must not set securityContext.privileged=true", containers(&names))))
}

fn proc_mount(pod: &Pod<'_>) -> Option<(String, String)> {
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let names = pod.containers_with(|container| {
        let kind = member(container, &["securityContext", "procMount"]).and_then(Value::as_str);
        let bad = kind.filter(|kind| *kind != "Default");
        kinds.extend(bad);
        bad.is_some()
    });
    if names.is_empty() {
        return None;
    }
    let (names, kinds) = (containers(&names), quoted(kinds));
    Some(found("procMount", format!("{names} must not set securityContext.procMount to {kinds}")))
}

fn restricted_volumes(pod: &Pod<'_>) -> Option<(String, String)> {
    let (mut names, mut kinds): (Vec<&str>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    for volume in items(pod.spec, &["volumes"]) {
        let is_a = |kind: &&str| member(*volume, &[*kind]).is_some();
        if VOLUMES.iter().any(is_a) {
            continue;
        }
        names.push(text(*volume, &["name"]));
        kinds.insert(RESTRICTED_VOLUMES.into_iter().find(is_a).unwrap_or("unknown"));
    }
    if names.is_empty() {
        return None;
    }
    let uses = plural("uses", "use", names.len());
    let word = plural("restricted volume type", "restricted volume types", kinds.len());
    let volumes = plural("volume", "volumes", names.len());
    Some(found("restricted volume types", format!("{volumes} {} {uses} {word} {}", quoted(&names), quoted(kinds))))
}

fn escalation(pod: &Pod<'_>) -> Option<(String, String)> {
    let names = pod.containers_with(|container| {
        member(container, &["securityContext", "allowPrivilegeEscalation"]) != Some(Value::Bool(false))
    });
    if names.is_empty() {
        return None;
    }
    let detail = format!("{} must set securityContext.allowPrivilegeEscalation=false", containers(&names));
    Some(found("allowPrivilegeEscalation != false", detail))
}

fn non_root(pod: &Pod<'_>) -> Option<(String, String)> {
    const REASON: &str = "runAsNonRoot != true";
    let given = |of: Value<'_>| match member(of, &["securityContext", "runAsNonRoot"]) {
        Some(Value::Bool(given)) => Some(given),
        _ => None,
    };
    let names = pod.containers_with(|container| given(container) == Some(false));
    if let Some(who) = setters(given(pod.spec) == Some(false), &names) {
        return Some(found(REASON, format!("{who} must not set securityContext.runAsNonRoot=false")));
    }
    if given(pod.spec) == Some(true) {
        return None;
    }
    let names = pod.containers_with(|container| given(container).is_none());
    if names.is_empty() {
        return None;
    }
    Some(found(REASON, format!("pod or {} must set securityContext.runAsNonRoot=true", containers(&names))))
}

fn root(pod: &Pod<'_>) -> Option<(String, String)> {
    let is_root = |of: Value<'_>| integer(of, &["securityContext", "runAsUser"]) == Some(0);
    let who = setters(is_root(pod.spec), &pod.containers_with(is_root))?;
    Some(found("runAsUser=0", format!("{who} must not set runAsUser=0")))
}

fn selinux(pod: &Pod<'_>, allowed: &[&str]) -> Option<(String, String)> {
    let (mut kinds, mut has_user, mut has_role): (BTreeSet<&str>, bool, bool) = (BTreeSet::new(), false, false);
    let mut is_bad = |of| {
        let Some(options) = member(of, &["securityContext", "seLinuxOptions"]) else { return false };
        let kind = Some(text(options, &["type"])).filter(|kind| !allowed.contains(kind));
        let (user, role) = (!text(options, &["user"]).is_empty(), !text(options, &["role"]).is_empty());
        kinds.extend(kind);
        has_user |= user;
        has_role |= role;
        kind.is_some() || user || role
    };
    let is_pod = is_bad(pod.spec);
    let names = pod.containers_with(is_bad);
    let who = setters(is_pod, &names)?;
    let mut bad = Vec::new();
    if !kinds.is_empty() {
        bad.push(format!("{} {}", plural("type", "types", kinds.len()), quoted(kinds)));
    }
    bad.extend(has_user.then(|| "user may not be set".to_owned()));
    bad.extend(has_role.then(|| "role may not be set".to_owned()));
    Some(found("seLinuxOptions", format!("{who} set forbidden securityContext.seLinuxOptions: {}", bad.join("; "))))
}

fn seccomp_annotations(pod: &Pod<'_>) -> Option<(String, String)> {
    let bad = |key: &str| {
        let value = pod.annotations.get(key)?.as_str().unwrap_or_default();
        let is_allowed = ["runtime/default", "docker/default"].contains(&value) || value.starts_with("localhost/");
        (!is_allowed).then(|| format!("{key}={}", GoQuoted(value)))
    };
    let of_containers = pod.containers.iter().map(|container| format!("{SECCOMP_OF_CONTAINER}{}", container.name));
    let keys = std::iter::once(SECCOMP_OF_POD.to_owned()).chain(of_containers);
    let all: Vec<String> = keys.filter_map(|key| bad(&key)).collect::<BTreeSet<_>>().into_iter().collect();
    if all.is_empty() {
        return None;
    }
    let word = plural("annotation", "annotations", all.len());
    Some(found("seccompProfile", format!("forbidden {word} {}", all.join(", "))))
}

/// Returns the type of a profile; `None` without a profile.
fn seccomp_type(of: Value<'_>) -> Option<&str> {
    member(of, &["securityContext", "seccompProfile"]).map(|profile| text(profile, &["type"]))
}

fn seccomp_baseline(pod: &Pod<'_>) -> Option<(String, String)> {
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let mut is_bad = |of| {
        let bad = seccomp_type(of).filter(|kind| !["Localhost", "RuntimeDefault"].contains(kind));
        kinds.extend(bad);
        bad.is_some()
    };
    let is_pod = is_bad(pod.spec);
    let names = pod.containers_with(is_bad);
    let who = setters(is_pod, &names)?;
    Some(found(
        "seccompProfile",
        format!("{who} must not set securityContext.seccompProfile.type to {}", quoted(kinds)),
    ))
}

fn seccomp_restricted(pod: &Pod<'_>) -> Option<(String, String)> {
    if let Some(bad) = seccomp_baseline(pod) {
        return Some(bad);
    }
    if seccomp_type(pod.spec).is_some() {
        return None;
    }
    let names = pod.containers_with(|container| seccomp_type(container).is_none());
    if names.is_empty() {
        return None;
    }
    let expected = r#"must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost""#;
    Some(found("seccompProfile", format!("pod or {} {expected}", containers(&names))))
}

fn sysctls(pod: &Pod<'_>, allowed: &[&str]) -> Option<(String, String)> {
    let all = items(pod.spec, &["securityContext", "sysctls"]).iter().map(|sysctl| text(*sysctl, &["name"]));
    let bad: Vec<&str> = all.filter(|name| !allowed.contains(name)).collect();
    if bad.is_empty() { None } else { Some(found("forbidden sysctls", bad.join(", "))) }
}

fn host_process(pod: &Pod<'_>) -> Option<(String, String)> {
    let is_host = |of: Value<'_>| is_true(of, &["securityContext", "windowsOptions", "hostProcess"]);
    let who = setters(is_host(pod.spec), &pod.containers_with(is_host))?;
    Some(found("hostProcess", format!("{who} must not set securityContext.windowsOptions.hostProcess=true")))
}
