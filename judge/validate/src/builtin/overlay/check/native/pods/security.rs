//! Security contexts, host namespaces, operating systems.

use super::super::super::Found;
use super::super::super::form::local_path;
use super::{Pod, all_containers, between, flag, get, items, text};
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::BTreeSet;

const MAX_ID: i64 = i32::MAX as i64;

/// `validateSeccompProfileField`
fn seccomp(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(profile) = own.get("seccompProfile") else { return };
    let path = path.child("seccompProfile");
    let local = profile.get("localhostProfile");
    match text(profile, "type") {
        "Localhost" | "RuntimeDefault" | "Unconfined" => {}
        "" => found.required(&path.child("type"), "type is required when seccompProfile is set"),
        _ => {
            let of = ["Localhost", "RuntimeDefault", "Unconfined"];
            found.not_supported(&path.child("type"), get(profile, "type"), &of);
        }
    }
    let local_path_of = path.child("localhostProfile");
    match (text(profile, "type") == "Localhost", local) {
        (true, None) => found.required(&local_path_of, "must be set when seccomp type is Localhost"),
        (true, Some(local)) => found.messages(&local_path_of, local, local_path(local.as_str().unwrap_or_default())),
        (false, Some(_)) => found.invalid(&local_path_of, profile, "can only be set when seccomp type is Localhost"),
        (false, None) => {}
    }
}

/// `ValidateAppArmorProfileField`
fn app_armor(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const NEEDED: &str = "must be set when AppArmor type is Localhost";
    let Some(profile) = own.get("appArmorProfile") else { return };
    let path = path.child("appArmorProfile");
    let local_path_of = path.child("localhostProfile");
    let local = profile.get("localhostProfile");
    match text(profile, "type") {
        "Localhost" => {
            let Some(local) = local else { return found.required(&local_path_of, NEEDED) };
            let name = local.as_str().unwrap_or_default();
            if name.trim() != name {
                found.invalid(&local_path_of, local, "must not be padded with whitespace");
            } else if name.is_empty() {
                found.required(&local_path_of, NEEDED);
            }
            if name.len() > 4095 {
                found.too_long(&local_path_of, 4095);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if let Some(local) = local {
                found.invalid(&local_path_of, local, "can only be set when AppArmor type is Localhost");
            }
        }
        "" => found.required(&path.child("type"), "type is required when appArmorProfile is set"),
        _ => {
            let of = ["Localhost", "RuntimeDefault", "Unconfined"];
            found.not_supported(&path.child("type"), get(profile, "type"), &of);
        }
    }
}

/// `validateWindowsSecurityContextOptions`
fn windows(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(options) = own.get("windowsOptions") else { return };
    let path = path.child("windowsOptions");
    if let Some(name) = options.get("gmsaCredentialSpecName") {
        let messages = names::dns1123_subdomain(name.as_str().unwrap_or_default());
        found.messages(&path.child("gmsaCredentialSpecName"), name, messages);
    }
    if let Some(spec) = options.get("gmsaCredentialSpec") {
        let path = path.child("gmsaCredentialSpec");
        match spec.as_str().unwrap_or_default().len() {
            0 => found.invalid(&path, spec, "gmsaCredentialSpec cannot be an empty string"),
            1..=65_536 => {}
            _ => found.invalid(&path, spec, "gmsaCredentialSpec size must be under 64 KiB"),
        }
    }
    if let Some(user) = options.get("runAsUserName") {
        user_name(user, &path.child("runAsUserName"), found);
    }
}

fn user_name(value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let name = value.as_str().unwrap_or_default();
    if name.is_empty() {
        return found.invalid(path, value, "runAsUserName cannot be an empty string");
    }
    if name.chars().any(char::is_control) {
        return found.invalid(path, value, "runAsUserName cannot contain control characters");
    }
    if name.matches('\\').count() > 1 {
        return found.invalid(path, value, "runAsUserName cannot contain more than one backslash");
    }
    let (domain, user) = name.split_once('\\').unwrap_or(("", name));
    if domain.len() >= 256 {
        found.invalid(path, value, "runAsUserName's Domain length must be under 256 characters");
    }
    if user.is_empty() {
        found.invalid(path, value, "runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        found.invalid(path, value, "runAsUserName's User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        found.invalid(path, value, "runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        let detail = r#"runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#;
        found.invalid(path, value, detail);
    }
}

/// `ValidateSecurityContext`
pub(super) fn container(container: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(own) = container.get("securityContext") else { return };
    between(own, "runAsUser", 0, MAX_ID, path, found);
    between(own, "runAsGroup", 0, MAX_ID, path, found);
    if let Some(mount) = own.get("procMount") {
        let path = path.child("procMount");
        if !matches!(mount.as_str(), Some("Default" | "Unmasked")) {
            found.not_supported(&path, mount, &["Default", "Unmasked"]);
        }
        if pod.host_users && mount.as_str() == Some("Unmasked") {
            found.invalid(&path, mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp(own, path, found);
    if matches!(own.get("allowPrivilegeEscalation"), Some(Value::Bool(false))) {
        if flag(own, "privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            found.invalid(path, own, detail);
        }
        for added in items(get(own, "capabilities"), "add") {
            if added.as_str() == Some("CAP_SYS_ADMIN") {
                let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                found.invalid(path, own, detail);
            }
        }
    }
    windows(own, path, found);
    app_armor(own, path, found);
}

/// `validatePodSpecSecurityContext`
pub(super) fn pod(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(own) = pod.spec.get("securityContext") else { return };
    let path = path.child("securityContext");
    between(own, "fsGroup", 0, MAX_ID, &path, found);
    between(own, "runAsUser", 0, MAX_ID, &path, found);
    between(own, "runAsGroup", 0, MAX_ID, &path, found);
    let groups = path.child("supplementalGroups");
    for (index, group) in items(own, "supplementalGroups").iter().enumerate() {
        if matches!(group, Value::Int(id) if !(0..=MAX_ID).contains(id)) {
            let detail = format!("must be between 0 and {MAX_ID}, inclusive");
            found.invalid(&groups.index(index), *group, detail);
        }
    }
    if flag(pod.spec, "shareProcessNamespace") && flag(pod.spec, "hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        found.invalid(&path.child("shareProcessNamespace"), Value::Bool(true), detail);
    }
    sysctls(pod, own, &path.child("sysctls"), found);
    if let Some(policy) = own.get("fsGroupChangePolicy")
        && !matches!(policy.as_str(), Some("Always" | "OnRootMismatch"))
    {
        found.not_supported(&path.child("fsGroupChangePolicy"), policy, &["Always", "OnRootMismatch"]);
    }
    seccomp(own, &path, found);
    windows(own, &path, found);
    app_armor(own, &path, found);
    if let Some(policy) = own.get("supplementalGroupsPolicy")
        && !matches!(policy.as_str(), Some("Merge" | "Strict"))
    {
        found.not_supported(&path.child("supplementalGroupsPolicy"), policy, &["Merge", "Strict"]);
    }
    if let Some(policy) = own.get("seLinuxChangePolicy")
        && !matches!(policy.as_str(), Some("MountOption" | "Recursive"))
    {
        found.not_supported(&path.child("seLinuxChangePolicy"), policy, &["MountOption", "Recursive"]);
    }
}

/// `validateSysctls`
fn sysctls(pod: &Pod<'_>, own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let is_segment = |segment: &str| {
        let bytes = segment.as_bytes();
        let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        bytes.first().is_some_and(is_end)
            && bytes.last().is_some_and(is_end)
            && bytes.iter().all(|byte| is_end(byte) || matches!(byte, b'-' | b'_'))
    };
    let mut seen = BTreeSet::new();
    for (index, sysctl) in items(own, "sysctls").iter().enumerate() {
        let path = path.index(index);
        let path = path.child("name");
        let name = text(*sysctl, "name");
        let value = Value::String(name);
        if name.is_empty() {
            found.required(&path, "");
        } else if name.len() > 253 || !name.split(['.', '/']).all(is_segment) {
            let detail = "must have at most 253 characters and match regex \
                          ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            found.invalid(&path, value, detail);
        } else if seen.contains(name) {
            found.duplicate(&path, value);
        }
        if !pod.allows.sysctls {
            host_sysctl(name, pod.spec, &path, found);
        }
        seen.insert(name);
    }
}

/// `ValidateHostSysctl`
fn host_sysctl(name: &str, spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let dotted = name.replace('/', ".");
    let value = Value::String(name);
    let is_ipc = ["kernel.shm", "kernel.msg", "fs.mqueue."].iter().any(|start| dotted.starts_with(start))
        || dotted == "kernel.sem";
    if dotted.starts_with("net.") && flag(spec, "hostNetwork") {
        found.invalid(path, value, "may not be specified when 'hostNetwork' is true");
    } else if is_ipc && flag(spec, "hostIPC") {
        found.invalid(path, value, "may not be specified when 'hostIPC' is true");
    }
}

pub(super) fn host_sysctls(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for sysctl in items(get(spec, "securityContext"), "sysctls") {
        host_sysctl(text(*sysctl, "name"), spec, path, found);
    }
}

/// `validateWindowsHostProcessPod`
pub(super) fn host_process(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let of = |owner: Value<'_>| match get(get(owner, "securityContext"), "windowsOptions").get("hostProcess") {
        Some(Value::Bool(on)) => Some(on),
        _ => None,
    };
    let whole = of(spec);
    let (mut all, mut hosts) = (0, 0);
    for (field, index, container) in all_containers(spec) {
        all += 1;
        let own = of(container);
        if let (Some(whole), Some(own)) = (whole, own)
            && whole != own
        {
            let detail = format!("pod hostProcess value must be identical if both are specified, was {whole}");
            let path = path.child(field);
            let path = path.index(index);
            let path = path.child("securityContext");
            let path = path.child("windowsOptions");
            found.invalid(&path.child("hostProcess"), Value::Bool(own), detail);
        }
        hosts += usize::from(own.or(whole) == Some(true));
    }
    if hosts == 0 {
        return;
    }
    if hosts != all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        found.invalid(path, Value::String(""), detail);
    }
    if !flag(spec, "hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        found.invalid(&path.child("hostNetwork"), Value::Bool(false), detail);
    }
}

pub(super) fn has_user_namespace_devices(spec: Value<'_>) -> bool {
    matches!(spec.get("hostUsers"), Some(Value::Bool(false)))
        && all_containers(spec).any(|(.., item)| !items(item, "volumeDevices").is_empty())
}

/// `validateHostUsers`
pub(super) fn host_users(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    const WITHOUT: &str = "when `hostUsers` is false";
    if pod.host_users {
        return;
    }
    for (key, name) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if flag(pod.spec, key) && !(key == "hostNetwork" && flag(pod.old, key)) {
            found.forbidden(&path.child(name), WITHOUT);
        }
    }
    for (field, index, container) in all_containers(pod.spec).filter(|_| !pod.allows.user_namespaces) {
        if !items(container, "volumeDevices").is_empty() {
            let path = path.child(field);
            found.forbidden(&path.index(index).child("volumeDevices"), WITHOUT);
        }
    }
}

/// `validateOS`, `validateLinux`, `validateWindows`
pub(super) fn operating_system(pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(os) = pod.spec.get("os") else { return };
    let path_of_os = path.child("os");
    match text(os, "name") {
        "" => found.required(&path_of_os.child("name"), ""),
        "linux" => only_linux(pod.spec, path, found),
        "windows" => only_windows(pod.spec, path, found),
        _ => found.not_supported(&path_of_os, get(os, "name"), &["linux", "windows"]),
    }
}

fn only_linux(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let detail = "windows options cannot be set for a linux pod";
    if get(spec, "securityContext").get("windowsOptions").is_some() {
        found.forbidden(&path.child("securityContext").child("windowsOptions"), detail);
    }
    for (field, index, container) in all_containers(spec) {
        if get(container, "securityContext").get("windowsOptions").is_some() {
            let path = path.child(field);
            let path = path.index(index);
            found.forbidden(&path.child("securityContext").child("windowsOptions"), detail);
        }
    }
}

fn only_windows(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let detail = "cannot be set for a windows pod";
    let own = get(spec, "securityContext");
    let context = path.child("securityContext");
    let of_spec = |key: &str| matches!(key, "hostUsers" | "hostPID" | "hostIPC" | "shareProcessNamespace");
    for key in [
        "appArmorProfile",
        "seLinuxOptions",
        "hostUsers",
        "hostPID",
        "hostIPC",
        "seccompProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "sysctls",
        "shareProcessNamespace",
        "runAsUser",
        "runAsGroup",
        "supplementalGroups",
        "supplementalGroupsPolicy",
        "seLinuxChangePolicy",
    ] {
        let (owner, path) = if of_spec(key) { (spec, path) } else { (own, &context) };
        let is_set = match key {
            "hostPID" | "hostIPC" => flag(owner, key),
            "sysctls" => !items(owner, key).is_empty(),
            _ => owner.get(key).is_some(),
        };
        if is_set {
            found.forbidden(&path.child(key), detail);
        }
    }
    for (field, index, container) in all_containers(spec) {
        let path = path.child(field);
        let path = path.index(index);
        let path = path.child("securityContext");
        for key in [
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ] {
            if get(container, "securityContext").get(key).is_some() {
                found.forbidden(&path.child(key), detail);
            }
        }
    }
}
