//! Sources of volumes, and what each must name.

use super::super::common::required_as;
use super::super::{entries, flag, get, items, number, text};
use super::MORE_THAN_ONE;
use crate::builtin::overlay::check::Found;
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

pub(super) type Source = fn(Value<'_>, &str, &Path<'_>, &mut Found);

/// The sources of volumes in the order of their checks: the field, its name in the paths of its own errors, its
/// required fields, and its other checks.
pub(super) const SOURCES: [(&str, &str, &[&str], Source); 22] = [
    ("hostPath", "hostPath", &["path"], host_path),
    ("gcePersistentDisk", "persistentDisk", &["pdName"], partition),
    ("awsElasticBlockStore", "awsElasticBlockStore", &["volumeID"], partition),
    ("glusterfs", "glusterfs", &["endpoints", "path"], glusterfs),
    ("flocker", "flocker", &[], flocker),
    ("nfs", "nfs", &["server", "path"], nfs),
    ("rbd", "rbd", &["monitors", "image"], nothing),
    ("quobyte", "quobyte", &[], quobyte),
    ("cephfs", "cephfs", &["monitors"], nothing),
    ("iscsi", "iscsi", &["targetPortal", "iqn"], iscsi),
    ("cinder", "cinder", &["volumeID"], secret_of),
    ("fc", "fc", &[], fibre_channel),
    ("flexVolume", "flexVolume", &["driver"], flex),
    ("azureFile", "azureFile", &["secretName", "shareName"], azure_file),
    ("vsphereVolume", "vsphereVolume", &["volumePath"], nothing),
    ("photonPersistentDisk", "photonPersistentDisk", &["pdID"], nothing),
    ("portworxVolume", "portworxVolume", &["volumeID"], nothing),
    ("azureDisk", "azureDisk", &["diskName", "diskURI"], nothing),
    ("scaleIO", "scaleIO", &["gateway", "system", "volumeName"], nothing),
    ("local", "local", &["path"], local),
    ("storageos", "storageos", &[], storage_os_of),
    ("csi", "csi", &[], csi),
];

pub(super) fn volume_sources(spec: Value<'_>, name: &str, path: &Path<'_>, found: &mut Found) {
    let mut count = 0;
    for (key, own, required, check) in SOURCES {
        let source = get(spec, key);
        if source.is_null() {
            continue;
        }
        // Upstream does not check for other sources before a flexVolume.
        if count > 0 && key != "flexVolume" {
            found.forbidden(&path.child(if key == "cephfs" { "cephFS" } else { key }), MORE_THAN_ONE);
            continue;
        }
        count += 1;
        let path_of = path.child(own);
        for member in required {
            if crate::typed::is_empty(get(source, member)) {
                found.required(&path_of.child(member), "");
            }
        }
        check(source, name, &path_of, found);
        if key == "local" && get(spec, "nodeAffinity").is_null() {
            found.required(&path.child("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if count == 0 {
        found.required(path, "must specify a volume type");
    }
}

fn nothing(_: Value<'_>, _: &str, _: &Path<'_>, _: &mut Found) {}

fn no_steps_up(source: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let text = text(source, "path");
    if text.split('/').any(|part| part == "..") {
        found.invalid(&path.child("path"), Value::String(text), "must not contain '..'");
    }
}

fn host_path(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    const TYPES: [&str; 8] =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    if text(source, "path").is_empty() {
        return;
    }
    no_steps_up(source, path, found);
    let kind = get(source, "type");
    if kind.as_str().is_some_and(|kind| !TYPES.contains(&kind)) {
        found.not_supported(&path.child("type"), kind, &TYPES);
    }
}

fn local(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    no_steps_up(source, path, found);
}

pub(in super::super) fn partition(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let number = number(source, "partition").unwrap_or(0);
    if !(0..=255).contains(&number) {
        found.invalid(&path.child("partition"), Value::Int(number), "must be between 0 and 255, inclusive");
    }
}

fn glusterfs(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let namespace = get(source, "endpointsNamespace");
    let path = path.child("endpointsNamespace");
    match namespace.as_str() {
        None => {}
        Some("") => {
            found.invalid(&path, namespace, "if the endpointnamespace is set, it must be a valid namespace name");
        }
        Some(name) => found.messages(&path, namespace, names::dns1123_label(name)),
    }
}

fn flocker(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let (name, uuid) = (text(source, "datasetName"), text(source, "datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        found.required(path, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !uuid.is_empty() {
        found.invalid(
            path,
            Value::String("resource"),
            "datasetName and datasetUUID can not be specified simultaneously",
        );
    }
    if name.contains('/') {
        found.invalid(&path.child("datasetName"), Value::String(name), "must not contain '/'");
    }
}

fn nfs(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let text = text(source, "path");
    if !text.starts_with('/') {
        found.invalid(&path.child("path"), Value::String(text), "must be an absolute path");
    }
}

/// Returns whether Go splits a string into a host and a port: `net.SplitHostPort`.
fn is_host_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else { return false };
    match host.strip_prefix('[') {
        Some(inner) => {
            inner.strip_suffix(']').is_some_and(|inner| !inner.contains(['[', ']'])) && !port.contains(['[', ']'])
        }
        None => !host.contains([':', '[', ']']) && !port.contains(['[', ']']),
    }
}

/// `validateFlexVolumeSource`, without the check of required fields.
pub(in super::super) fn flex(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let path = path.child("options");
    for (key, _) in entries(source, "options") {
        let namespace = key.split_once('/').map_or(*key, |(namespace, _)| namespace);
        let normal = format!(".{}", namespace.to_lowercase());
        if normal.ends_with(".kubernetes.io") || normal.ends_with(".k8s.io") {
            found.invalid(&path.key(key), Value::String(key), "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

/// `validateStorageOSVolumeSource`, without the check of the secret.
pub(in super::super) fn storage_os(source: Value<'_>, path: &Path<'_>, found: &mut Found) {
    required_as(source, "volumeName", names::dns1123_label, path, found);
    let namespace = text(source, "volumeNamespace");
    if !namespace.is_empty() {
        let path = path.child("volumeNamespace");
        found.messages(&path, Value::String(namespace), names::dns1123_label(namespace));
    }
}

fn storage_os_of(source: Value<'_>, name: &str, path: &Path<'_>, found: &mut Found) {
    storage_os(source, path, found);
    secret_of(source, name, path, found);
}

pub(in super::super) fn quobyte(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = text(source, "registry");
    if registry.is_empty() {
        found.required(&path.child("registry"), PAIRS);
    } else if text(source, "tenant").len() > 64 {
        found.required(&path.child("tenant"), "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for _ in registry.split(',').filter(|pair| !is_host_port(pair)) {
            found.invalid(&path.child("registry"), Value::String(registry), PAIRS);
        }
    }
    if text(source, "volume").is_empty() {
        found.required(&path.child("volume"), "");
    }
}

const NOT_INITIATOR: &str = "must be valid format";

/// Returns what is wrong with the name of an iSCSI target or initiator in a pod, or `None` if it is valid.
pub(in super::super) fn initiator_error(name: &str) -> Option<&'static str> {
    let has_scheme = ["iqn", "eui", "naa"].iter().any(|scheme| name.starts_with(scheme));
    let detail = if has_scheme { NOT_INITIATOR } else { "must be valid format starting with iqn, eui, or naa" };
    (!is_initiator(name)).then_some(detail)
}

/// `iscsiInitiatorIqnRegex`, `iscsiInitiatorEuiRegex`, `iscsiInitiatorNaaRegex`
fn is_initiator(name: &str) -> bool {
    let is_number = |text: &str, count: usize| {
        let mut letters = text.chars();
        letters.next().is_some() && letters.as_str().len() == count && letters.all(|c| c.is_ascii_alphanumeric())
    };
    match (name.get(..3), name.get(3..)) {
        (Some("iqn"), Some(_)) => {
            // Upstream's expression may match anywhere. If there are many possible starts, only the first ones are
            // tried.
            let mut starts = name.match_indices("iqn.").map(|(at, _)| at + 4);
            starts.by_ref().take(16).any(|at| name.get(at..).is_some_and(is_iqn)) || starts.next().is_some()
        }
        (Some("eui"), Some(rest)) => is_number(rest, 16),
        (Some("naa"), Some(rest)) => is_number(rest, 32),
        _ => false,
    }
}

/// Returns whether a string is a date, an authority and a name: `2001-04.com.example:storage`.
fn is_iqn(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        text.get(range).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let has_date = digits(0..4) && text.get(4..5) == Some("-") && digits(5..7) && text.get(7..8) == Some(".");
    let Some((authority, named)) = text.get(8..).and_then(|rest| rest.split_once(':')) else { return false };
    let is_authority = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let is_other = |c: char| matches!(c, ',' | ';' | '*' | '&' | '$' | '|' | '\t' | '\n' | '\x0c' | '\r' | ' ');
    has_date
        && !authority.is_empty()
        && authority.chars().all(is_authority)
        && !named.is_empty()
        && !named.contains(is_other)
}

fn iscsi(source: Value<'_>, name: &str, path: &Path<'_>, found: &mut Found) {
    let portal = text(source, "targetPortal");
    let initiator = get(source, "initiatorName");
    if !initiator.is_null() && name.len() + 1 + portal.len() > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName \
                      is specified.";
        found.invalid(&path.child("targetportal"), Value::String(portal), detail);
    }
    let iqn = text(source, "iqn");
    if !iqn.is_empty() && !is_initiator(iqn) {
        found.invalid(&path.child("iqn"), Value::String(iqn), NOT_INITIATOR);
    }
    let lun = number(source, "lun").unwrap_or(0);
    if !(0..=255).contains(&lun) {
        found.invalid(&path.child("lun"), Value::Int(lun), "must be between 0 and 255, inclusive");
    }
    let secret = get(source, "secretRef");
    let secret_path = path.child("secretRef");
    if (flag(source, "chapAuthDiscovery") || flag(source, "chapAuthSession")) && secret.is_null() {
        found.required(&secret_path, "");
    }
    if !secret.is_null() && text(secret, "name").is_empty() {
        found.required(&secret_path.child("name"), "");
    }
    if initiator.as_str().is_some_and(|text| !is_initiator(text)) {
        found.invalid(&path.child("initiatorname"), initiator, NOT_INITIATOR);
    }
}

fn fibre_channel(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let (names, ids) = (items(source, "targetWWNs"), items(source, "wwids"));
    let names_path = path.child("targetWWNs");
    if names.is_empty() && ids.is_empty() {
        found.required(&names_path, "must specify either targetWWNs or wwids, but not both");
    }
    if !names.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        found.invalid(&names_path, get(source, "targetWWNs"), detail);
    }
    if !names.is_empty() {
        match number(source, "lun") {
            None => found.required(&path.child("lun"), "lun is required if targetWWNs is specified"),
            Some(lun) if !(0..=255).contains(&lun) => {
                found.invalid(&path.child("lun"), Value::Int(lun), "must be between 0 and 255, inclusive");
            }
            Some(_) => {}
        }
    }
}

fn azure_file(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    if get(source, "secretNamespace").as_str() == Some("") {
        found.required(&path.child("secretNamespace"), "");
    }
}

/// `validatePVSecretReference`
fn secret(source: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let secret = get(source, key);
    if !secret.is_null() {
        let path = path.child(key);
        required_as(secret, "name", names::dns1123_subdomain, &path, found);
        required_as(secret, "namespace", names::dns1123_label, &path, found);
    }
}

fn secret_of(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    let secret = get(source, "secretRef");
    let path = path.child("secretRef");
    for key in ["name", "namespace"] {
        if !secret.is_null() && text(secret, key).is_empty() {
            found.required(&path.child(key), "");
        }
    }
}

pub(super) fn csi(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
    driver_name(source, "driver", path, found);
    if text(source, "volumeHandle").is_empty() {
        found.required(&path.child("volumeHandle"), "");
    }
    for key in
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"]
    {
        secret(source, key, path, found);
    }
}

/// `ValidateCSIDriverName`
pub(super) fn driver_name(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 63;
    let path = path.child(key);
    let name = text(value, key);
    if name.is_empty() {
        return found.required(&path, "");
    }
    if name.len() > MOST {
        found.too_long(&path, MOST);
    }
    found.messages(&path, Value::String(name), names::dns1123_subdomain(&name.to_lowercase()));
}
