//! Rules of volumes, claims, and `storage.k8s.io`.

use super::common::{IMMUTABLE, immutable, is_same, required_as, same, sign, texts};
use super::{Names, entries, flag, get, items, number, text, with};
use crate::builtin::internal;
use crate::builtin::overlay::check::form;
use crate::builtin::overlay::check::{At, Found};
use crate::names;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::{Bump, Map, Value};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const NAMES: Names = &[
    ("persistent volume spec", volume_spec),
    ("persistent volume change", volume_change),
    ("claim spec", claim_spec),
    ("claim change", claim_change),
    ("claim status", claim_status),
    ("storage class", storage_class),
    ("storage class change", storage_class_change),
    ("csi driver", csi_driver),
    ("csi driver change", csi_driver_change),
    ("csi node", csi_node),
    ("csi node change", csi_node_change),
    ("csi storage capacity", storage_capacity),
    ("csi storage capacity change", storage_capacity_change),
    ("volume attachment", volume_attachment),
    ("volume attachment change", volume_attachment_change),
    ("volume attributes class", attributes_class),
    ("volume attributes class change", attributes_class_change),
];

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const RECLAIM: [&str; 3] = ["Delete", "Recycle", "Retain"];
const STORAGE: &str = "storage";
const NOT_POSITIVE: &str = "must be greater than zero";
const MORE_THAN_ONE: &str = "may not specify more than 1 volume type";

fn required_access_modes(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if items(spec, "accessModes").is_empty() {
        found.required(&path.child("accessModes"), "");
    }
    access_modes(spec, path, found);
}

pub(super) fn access_modes(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("accessModes");
    let modes = texts(items(spec, "accessModes"));
    let (mut is_alone, mut is_shared) = (false, false);
    for mode in modes {
        if !ACCESS_MODES.contains(&mode) {
            found.not_supported(&path, Value::String(mode), &ACCESS_MODES);
        } else if mode == "ReadWriteOncePod" {
            is_alone = true;
        } else {
            is_shared = true;
        }
    }
    if is_alone && is_shared {
        found.forbidden(&path, "may not use ReadWriteOncePod with other access modes");
    }
}

pub(super) fn volume_mode(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let mode = get(spec, "volumeMode");
    if !mode.is_null() && !VOLUME_MODES.contains(&mode.as_str().unwrap_or_default()) {
        found.not_supported(&path.child("volumeMode"), mode, &VOLUME_MODES);
    }
}

/// Checks the name of a class, if there is one.
fn class(spec: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let name = text(spec, key);
    if !name.is_empty() {
        found.messages(&path.child(key), Value::String(name), names::dns1123_subdomain(name));
    }
}

/// `ValidatePersistentVolumeSpec`
fn volume_spec(at: &At<'_, '_>, found: &mut Found) {
    let name = text(get(at.scope.root, "metadata"), "name");
    check_volume(at.value, name, false, at.path, found);
}

fn inline(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let detail = "may not be specified in the context of inline volumes";
    if !get(spec, "claimRef").is_null() {
        found.forbidden(&path.child("claimRef"), detail);
    }
    if !entries(spec, "capacity").is_empty() {
        found.forbidden(&path.child("capacity"), detail);
    }
    if get(spec, "csi").is_null() {
        found.required(&path.child("csi"), "has to be specified in the context of inline volumes");
    }
}

fn capacity(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("capacity");
    let capacity = entries(spec, "capacity");
    if capacity.is_empty() {
        found.required(&path, "");
    }
    if !capacity.iter().any(|(key, _)| *key == STORAGE) || capacity.len() > 1 {
        found.not_supported(&path, get(spec, "capacity"), &[STORAGE]);
    }
    for (key, quantity) in capacity {
        let path = path.key(key);
        if sign(*quantity) == Ordering::Less {
            found.invalid(&path, whole(*quantity), "must be a valid resource quantity");
        }
        if sign(*quantity) != Ordering::Greater {
            found.invalid(&path, *quantity, NOT_POSITIVE);
        }
    }
}

fn check_volume(spec: Value<'_>, name: &str, is_inline: bool, path: &Path<'_>, found: &mut Found) {
    if is_inline {
        inline(spec, path, found);
    }
    required_access_modes(spec, path, found);
    if !is_inline {
        capacity(spec, path, found);
    }
    let reclaim = text(spec, "persistentVolumeReclaimPolicy");
    let reclaim_path = path.child("persistentVolumeReclaimPolicy");
    if is_inline && !matches!(reclaim, "" | "Retain") {
        found.forbidden(&reclaim_path, "may only be Retain in the context of inline volumes");
    } else if !is_inline && !reclaim.is_empty() && !RECLAIM.contains(&reclaim) {
        found.not_supported(&reclaim_path, Value::String(reclaim), &RECLAIM);
    }
    if is_inline && !get(spec, "nodeAffinity").is_null() {
        found.forbidden(&path.child("nodeAffinity"), "may not be specified in the context of inline volumes");
    }
    volume_sources(spec, name, path, found);
    let host_path = text(get(spec, "hostPath"), "path");
    let is_root = !host_path.is_empty()
        && host_path.split('/').all(|part| matches!(part, "" | "."))
        && host_path.starts_with('/');
    if is_root && reclaim == "Recycle" {
        found.forbidden(&reclaim_path, "may not be 'recycle' for a hostPath mount of '/'");
    }
    if is_inline && !text(spec, "storageClassName").is_empty() {
        found.forbidden(&path.child("storageClassName"), "may not be specified in the context of inline volumes");
    } else {
        class(spec, "storageClassName", path, found);
    }
    if is_inline {
        if !matches!(text(spec, "volumeMode"), "" | "Filesystem") {
            let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
            found.forbidden(&path.child("volumeMode"), detail);
        }
    } else {
        volume_mode(spec, path, found);
    }
    let attributes = get(spec, "volumeAttributesClassName");
    if let Some(name) = attributes.as_str() {
        if name.is_empty() {
            found.required(&path.child("volumeAttributesClassName"), "an empty string is disallowed");
        }
        class(spec, "volumeAttributesClassName", path, found);
        if get(spec, "csi").is_null() {
            found.required(&path.child("csi"), "has to be specified when using volumeAttributesClassName");
        }
    }
}

type Source = fn(Value<'_>, &str, &Path<'_>, &mut Found);

/// The sources of volumes in the order of their checks: the field, its name in the paths of its own errors, its
/// required fields, and its other checks.
const SOURCES: [(&str, &str, &[&str], Source); 22] = [
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

fn volume_sources(spec: Value<'_>, name: &str, path: &Path<'_>, found: &mut Found) {
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

pub(super) fn partition(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
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
pub(super) fn flex(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
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
pub(super) fn storage_os(source: Value<'_>, path: &Path<'_>, found: &mut Found) {
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

pub(super) fn quobyte(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
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
pub(super) fn initiator_error(name: &str) -> Option<&'static str> {
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

fn csi(source: Value<'_>, _: &str, path: &Path<'_>, found: &mut Found) {
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
fn driver_name(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
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

/// Returns a quantity as a whole number: `Quantity.Value`.
fn whole(quantity: Value<'_>) -> Value<'_> {
    let number = quantity.as_str().and_then(|text| Quantity::parse(text).ok());
    let number = number.map(|number| number.rounded_up(0).approximate());
    number.map_or(quantity, |number| Value::Int(number as i64))
}

const CLAIM_SPEC: &str = "core.v1.PersistentVolumeClaimSpec";
/// The error that says what may change in claims.
const CLAIM_IS_FROZEN: &str =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/// `ValidatePersistentVolumeUpdate`
fn volume_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "spec"), get(old, "spec"));
    let root = Path::Child(&Path::Root, "spec");
    let expands = |spec: Value<'_>| !get(get(spec, "csi"), "controllerExpandSecretRef").is_null();
    let is_added = !get(old, "csi").is_null() && !expands(old) && expands(new);
    let is_changed = SOURCES.iter().any(|(key, ..)| {
        let (new, old) = (get(new, key), get(old, key));
        if *key == "csi" && is_added {
            let members = new.as_map().map(Map::entries).unwrap_or_default();
            let members = members.iter().filter(|(key, _)| *key != "controllerExpandSecretRef");
            let count = old.as_map().map_or(0, Map::len);
            return members.clone().count() != count || members.clone().any(|(key, _)| !same(new, old, key));
        }
        new.is_null() != old.is_null() || !is_same(new, old)
    });
    if is_changed {
        let arena = Bump::new();
        let new = match get(new, "csi") {
            Value::Map(csi) if is_added => {
                with(new, "csi", Some(Value::Map(csi.with("controllerExpandSecretRef", None, &arena))), &arena)
            }
            _ => new,
        };
        let difference = internal::difference("core.v1.PersistentVolumeSource", old, new);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        found.forbidden(&root.child("persistentvolumesource"), detail);
    }
    immutable(get(new, "volumeMode"), get(old, "volumeMode"), &Path::Root.child("volumeMode"), found);
    let (affinity, before) = (get(new, "nodeAffinity"), get(old, "nodeAffinity"));
    if !before.is_null() && !is_same_affinity(affinity, before) {
        let detail = format!("{IMMUTABLE}, except for updating from beta label to GA");
        found.invalid(&Path::Root.child("nodeAffinity"), affinity, detail);
    }
    if !get(old, "volumeAttributesClassName").is_null() && get(new, "volumeAttributesClassName").is_null() {
        found.forbidden(&root.child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden");
    }
}

/// Returns whether the affinities of two volumes differ only in labels that are stable now
/// (`getMaskNodeSelectorLabelChangeEqualities`).
fn is_same_affinity(new: Value<'_>, old: Value<'_>) -> bool {
    const STABLE: [(&str, &str); 5] = [
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ];
    match (new, old) {
        (Value::List(new), Value::List(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| is_same_affinity(*new, *old))
        }
        (Value::Map(map), Value::Map(before)) => {
            map.len() == before.len()
                && map.entries().iter().all(|(key, value)| {
                    before.get(key).is_some_and(|old| match (value, old) {
                        (Value::String(new), Value::String(old)) if *key == "key" => {
                            new == &old || STABLE.contains(&(old, new))
                        }
                        (new, old) => is_same_affinity(*new, old),
                    })
                })
        }
        (new, old) => is_same(new, old),
    }
}

/// `ValidatePersistentVolumeClaimSpec`
fn claim_spec(at: &At<'_, '_>, found: &mut Found) {
    let (spec, path) = (at.value, at.path);
    let modes = items(spec, "accessModes");
    if modes.is_empty() {
        found.required(&path.child("accessModes"), "at least 1 access mode is required");
    }
    let selector = get(spec, "selector");
    if !selector.is_null() {
        form::selector(selector, &path.child("selector"), found);
    }
    if !modes.is_empty() {
        required_access_modes(spec, path, found);
    }
    let requested = get(get(get(spec, "resources"), "requests"), STORAGE);
    let resources = path.child("resources");
    let storage_path = resources.key(STORAGE);
    if requested.is_null() {
        found.required(&storage_path, "");
    } else if sign(requested) != Ordering::Greater {
        found.invalid(&storage_path, requested, NOT_POSITIVE);
    }
    class(spec, "storageClassName", path, found);
    volume_mode(spec, path, found);
    let (source, reference) = (get(spec, "dataSource"), get(spec, "dataSourceRef"));
    // An invalid group is allowed if the stored claim has one: `allowInvalidAPIGroupInDataSourceOrRef`.
    let old = get(at.scope.old.unwrap_or(Value::Null), "spec");
    let is_wrong = |key| {
        let group = text(get(old, key), "apiGroup");
        !group.is_empty() && !names::dns1123_subdomain(group).is_empty()
    };
    let any_group = is_wrong("dataSource") || is_wrong("dataSourceRef");
    for (key, source) in [("dataSource", source), ("dataSourceRef", reference)] {
        if !source.is_null() {
            data_source(source, any_group, &path.child(key), found);
        }
    }
    // Upstream shows the path as the value, which has no members in JSON.
    let mut differs = |detail: &str| {
        found.errors.push(Error::invalid(path, BadValue::Printed("{}".to_owned()), detail, 0));
    };
    if !source.is_null() && !reference.is_null() {
        if !text(reference, "namespace").is_empty() {
            differs("may not be specified when dataSourceRef.namespace is specified");
        } else if ["apiGroup", "kind", "name"].iter().any(|key| text(source, key) != text(reference, key)) {
            differs("must match dataSourceRef");
        }
    }
    class(spec, "volumeAttributesClassName", path, found);
}

fn data_source(source: Value<'_>, any_group: bool, path: &Path<'_>, found: &mut Found) {
    for key in ["name", "kind"] {
        if text(source, key).is_empty() {
            found.required(&path.child(key), "");
        }
    }
    let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        found.invalid(path, Value::String(kind), detail);
    }
    if !group.is_empty() && !any_group {
        found.messages(&path.child("apiGroup"), Value::String(group), names::dns1123_subdomain(group));
    }
    let namespace = text(source, "namespace");
    if !namespace.is_empty() {
        found.messages(&path.child("namespace"), Value::String(namespace), names::dns1123_label(namespace));
    }
}

/// `ValidatePersistentVolumeClaimUpdate`
fn claim_change(at: &At<'_, '_>, found: &mut Found) {
    const BETA: &str = "volume.beta.kubernetes.io/storage-class";
    let Some(old_claim) = at.scope.old else { return };
    let arena = Bump::new();
    let (new, old) = (get(at.value, "spec"), with_both_sources(get(old_claim, "spec"), &arena));
    let path = Path::Child(&Path::Root, "spec");
    let annotation = |object: Value<'_>| get(get(get(object, "metadata"), "annotations"), BETA).to_string();
    let (new_class, old_class) = (get(new, "storageClassName"), get(old, "storageClassName"));
    let before = get(get(get(old_claim, "metadata"), "annotations"), BETA);
    let after = get(get(get(at.value, "metadata"), "annotations"), BETA);
    let is_upgrade = before.as_str().is_some_and(|class| !class.is_empty() && new_class.as_str() == Some(class))
        && old_class.is_null()
        && after.is_null();
    if !is_upgrade && annotation(at.value) != annotation(old_claim) {
        let metadata = Path::Base("metadata");
        let annotations = metadata.child("annotations");
        found.invalid(&annotations.child(BETA), after, super::common::IMMUTABLE);
    }
    let from_nothing = old_class.is_null() && before.is_null() && !text(new, "storageClassName").is_empty();
    let is_bound = text(get(at.value, "status"), "phase") == "Bound";
    let keys = [
        "accessModes",
        "selector",
        "resources",
        "volumeName",
        "storageClassName",
        "volumeMode",
        "dataSource",
        "dataSourceRef",
        "volumeAttributesClassName",
    ];
    let is_changed = keys.iter().any(|key| match *key {
        "volumeName" if text(old, "volumeName").is_empty() => false,
        "storageClassName" if from_nothing || is_upgrade => false,
        "volumeAttributesClassName" if is_bound => false,
        "resources" => resources_changed(get(new, "resources"), get(old, "resources"), is_bound),
        key => {
            get(new, key).is_null() != get(old, key).is_null()
                && !crate::typed::is_empty(get(new, key)) | !crate::typed::is_empty(get(old, key))
                || !is_same(get(new, key), get(old, key))
        }
    });
    let (mut own, mut before) = (new, old);
    if text(old, "volumeName").is_empty() {
        before = with(before, "volumeName", new.get("volumeName"), &arena);
    }
    if is_upgrade {
        own = with(own, "storageClassName", None, &arena);
    } else if from_nothing {
        own = with(own, "storageClassName", old.get("storageClassName"), &arena);
    }
    if is_bound {
        let storage = get(get(get(old, "resources"), "requests"), STORAGE);
        let storage = if storage.is_null() { Value::String("0") } else { storage };
        let resources = get(own, "resources");
        if let Value::Map(requests) = get(resources, "requests") {
            let requests = Value::Map(requests.with(STORAGE, Some(storage), &arena));
            own = with(own, "resources", Some(with(resources, "requests", Some(requests), &arena)), &arena);
        }
        let class = "volumeAttributesClassName";
        own = with(own, class, old.get(class), &arena);
    }
    if is_changed {
        let difference = internal::difference(CLAIM_SPEC, before, own);
        found.forbidden(&path, format!("{CLAIM_IS_FROZEN}\n{difference}"));
    }
    let size = |value: Value<'_>| Quantity::parse(get(value, STORAGE).as_str().unwrap_or("0")).ok();
    let requests = |spec: Value<'_>| size(get(get(spec, "resources"), "requests"));
    let status = size(get(get(at.value, "status"), "capacity"));
    if let (Some(new_size), Some(old_size), Some(status)) = (requests(new), requests(old), status)
        && new_size.compare(&old_size) == Ordering::Less
        && new_size.compare(&status) != Ordering::Greater
    {
        let (resources, last) = (path.child("resources"), STORAGE);
        let requests = resources.child("requests");
        found.forbidden(&requests.child(last), "field can not be less than status.capacity");
    }
    immutable(get(new, "volumeMode"), get(old, "volumeMode"), &Path::Root.child("volumeMode"), found);
    let attributes = "volumeAttributesClassName";
    if !same(new, old, attributes) && !get(get(old_claim, "status"), "currentVolumeAttributesClassName").is_null() {
        let end = "is forbidden when status.currentVolumeAttributesClassName is not nil";
        match get(new, attributes).as_str() {
            None => found.forbidden(&path.child(attributes), format!("update to nil {end}")),
            Some("") => found.forbidden(&path.child(attributes), format!("update to empty string {end}")),
            Some(_) => {}
        }
    }
}

/// `NormalizeDataSources`, for an object that an earlier release stored.
fn with_both_sources<'a>(spec: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (source, reference) = (get(spec, "dataSource"), get(spec, "dataSourceRef"));
    match (source.is_null(), reference.is_null()) {
        (false, true) => with(spec, "dataSourceRef", Some(source), arena),
        (true, false) if text(reference, "namespace").is_empty() => {
            with(spec, "dataSource", Some(with(reference, "namespace", None, arena)), arena)
        }
        _ => spec,
    }
}

fn resources_changed(new: Value<'_>, old: Value<'_>, is_bound: bool) -> bool {
    let quantity = |value: Value<'_>| Quantity::parse(value.as_str().unwrap_or_default()).ok();
    ["limits", "requests"].iter().any(|key| {
        let (new, old) = (entries(new, key), entries(old, key));
        let keeps = |key: &str| !(is_bound && key == STORAGE);
        let new: Vec<_> = new.iter().filter(|(key, _)| keeps(key)).collect();
        let old: Vec<_> = old.iter().filter(|(key, _)| keeps(key)).collect();
        new.len() != old.len()
            || new.iter().zip(&old).any(|(new, old)| {
                let is_equal = match (quantity(new.1), quantity(old.1)) {
                    (Some(new), Some(old)) => new.is_same(&old),
                    _ => false,
                };
                new.0 != old.0 || !is_equal
            })
    })
}

/// `ValidatePersistentVolumeClaimStatusUpdate`
fn claim_status(at: &At<'_, '_>, found: &mut Found) {
    const STATES: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizePending",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
    ];
    let status = get(at.value, "status");
    if items(get(at.value, "spec"), "accessModes").is_empty() {
        let path = Path::Child(&Path::Root, "Spec");
        found.required(&path.child("accessModes"), "");
    }
    let path = Path::Child(&Path::Root, "status");
    let capacity = path.child("capacity");
    for (key, quantity) in entries(status, "capacity") {
        if sign(*quantity) == Ordering::Less {
            found.invalid(&capacity.key(key), whole(*quantity), "must be a valid resource quantity");
        }
    }
    let is_known = |key: &str, path: &Path<'_>, found: &mut Found| {
        if !key.contains('/') && key != STORAGE {
            found.not_supported(path, Value::String(key), &[STORAGE]);
            return false;
        }
        true
    };
    let states = path.child("allocatedResourceStatuses");
    for (key, state) in entries(status, "allocatedResourceStatuses") {
        is_known(key, &states, found);
        if !STATES.contains(&state.as_str().unwrap_or_default()) {
            let mut sorted = STATES;
            sorted.sort_unstable();
            found.not_supported(&states, Value::String(key), &sorted);
        }
    }
    let allocated = path.child("allocatedResources");
    for (key, quantity) in entries(status, "allocatedResources") {
        if is_known(key, &allocated, found) && sign(*quantity) == Ordering::Less {
            found.invalid(&allocated.key(key), whole(*quantity), "must be a valid resource quantity");
        }
    }
}

/// `validateParameters`
fn parameters(object: Value<'_>, can_be_empty: bool, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 512;
    const MOST_BYTES: usize = 256 * 1024;
    let path = path.child("parameters");
    let parameters = entries(object, "parameters");
    if parameters.len() > MOST {
        return found.too_long(&path, MOST);
    }
    if parameters.iter().any(|(key, _)| key.is_empty()) {
        found.invalid(&path, Value::String(""), "field can not be empty.");
    }
    let bytes: usize = parameters.iter().map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum();
    if bytes > MOST_BYTES {
        found.too_long(&path, MOST_BYTES);
    }
    if !can_be_empty && parameters.is_empty() {
        found.required(&path, "must contain at least one key/value pair");
    }
}

/// `validateProvisioner`
fn provisioner(object: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    let path = path.child(key);
    match text(object, key) {
        "" => found.required(&path, ""),
        name => {
            let small = name.to_lowercase();
            found.messages(&path, Value::String(&small), names::qualified_name(&small));
        }
    }
}

/// `ValidateStorageClass`
fn storage_class(at: &At<'_, '_>, found: &mut Found) {
    const MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];
    let (class, path) = (at.value, at.path);
    provisioner(class, "provisioner", path, found);
    parameters(class, true, path, found);
    let reclaim = get(class, "reclaimPolicy");
    if !matches!(reclaim.as_str(), None | Some("" | "Delete" | "Retain")) {
        found.not_supported(&path.child("reclaimPolicy"), reclaim, &["Delete", "Retain"]);
    }
    let mode = get(class, "volumeBindingMode");
    match mode.as_str() {
        None => found.required(&path.child("volumeBindingMode"), ""),
        Some(text) if !MODES.contains(&text) => found.not_supported(&path.child("volumeBindingMode"), mode, &MODES),
        Some(_) => {}
    }
    let path = path.child("allowedTopologies");
    let terms = items(class, "allowedTopologies");
    let mut seen: BTreeMap<BTreeMap<&str, Vec<&str>>, usize> = BTreeMap::new();
    for (at, term) in terms.iter().enumerate() {
        let path = path.index(at);
        let expressions = path.child("matchLabelExpressions");
        let mut map: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (at, item) in items(*term, "matchLabelExpressions").iter().enumerate() {
            let path = expressions.index(at);
            let values = texts(items(*item, "values"));
            let values_path = path.child("values");
            if values.is_empty() {
                found.required(&values_path, "");
            }
            let mut seen = BTreeSet::new();
            for (at, value) in values.iter().enumerate() {
                if !seen.insert(value) {
                    found.duplicate(&values_path.index(at), Value::String(value));
                }
            }
            let key = text(*item, "key");
            found.messages(&path.child("key"), Value::String(key), names::qualified_name(key));
            let mut values = values;
            values.sort_unstable();
            values.dedup();
            if map.insert(key, values).is_some() {
                found.duplicate(&path.child("key"), Value::String(key));
            }
        }
        // Upstream also compares with as many empty maps as there are terms.
        let empty = if map.is_empty() { terms.len() } else { 0 };
        let before = seen.entry(map).or_default();
        found.duplicates(&expressions, Value::String(""), *before + empty);
        *before += 1;
    }
}

/// `ValidateStorageClassUpdate`
fn storage_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    for key in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        immutable(get(at.value, key), get(old, key), &at.path.child(key), found);
    }
}

/// `validateCSIDriverSpec`
fn csi_driver(at: &At<'_, '_>, found: &mut Found) {
    const POLICIES: [&str; 3] = ["File", "None", "ReadWriteOnceWithFSType"];
    const MODES: [&str; 2] = ["Persistent", "Ephemeral"];
    let spec = get(at.value, "spec");
    let path = Path::Child(&Path::Root, "spec");
    for (key, shown) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if get(spec, key).is_null() {
            found.required(&path.child(shown), "");
        }
    }
    let policy = get(spec, "fsGroupPolicy");
    if policy.as_str().is_some_and(|policy| !POLICIES.contains(&policy)) {
        found.not_supported(&path.child("fsGroupPolicy"), policy, &POLICIES);
    }
    let requests = items(spec, "tokenRequests");
    let requests_path = path.child("tokenRequests");
    let mut seen = BTreeSet::new();
    for (at, request) in requests.iter().enumerate() {
        let path = requests_path.index(at);
        let audience = text(*request, "audience");
        if !seen.insert(audience) {
            found.duplicate(&path.child("audience"), Value::String(audience));
            continue;
        }
        let Some(seconds) = number(*request, "expirationSeconds") else { continue };
        let path = path.child("expirationSeconds");
        if seconds < 600 {
            found.invalid(&path, Value::Int(seconds), "may not specify a duration less than 10 minutes");
        }
        if seconds > 1 << 32 {
            found.invalid(&path, Value::Int(seconds), "may not specify a duration larger than 2^32 seconds");
        }
    }
    for mode in items(spec, "volumeLifecycleModes") {
        if !MODES.contains(&mode.as_str().unwrap_or_default()) {
            found.not_supported(&path.child("volumeLifecycleModes"), *mode, &MODES);
        }
    }
    if get(spec, "seLinuxMount").is_null() {
        found.required(&path.child("seLinuxMount"), "");
    }
    if let Some(seconds) = number(spec, "nodeAllocatableUpdatePeriodSeconds")
        && seconds < 10
    {
        let path = path.child("nodeAllocatableUpdatePeriodSeconds");
        found.invalid(&path, Value::Int(seconds), "must be greater than or equal to 10 seconds");
    }
    let in_secrets = get(spec, "serviceAccountTokenInSecrets");
    if !in_secrets.is_null() && requests.is_empty() {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        found.invalid(&path.child("serviceAccountTokenInSecrets"), in_secrets, detail);
    }
}

fn csi_driver_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "spec"), get(old, "spec"));
    let path = Path::Child(&Path::Root, "spec");
    for (key, shown) in [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")] {
        if get(new, key).to_string() != get(old, key).to_string() {
            immutable(get(new, key), get(old, key), &path.child(shown), found);
        }
    }
}

/// `validateCSINodeSpec`
fn csi_node(at: &At<'_, '_>, found: &mut Found) {
    const MOST: usize = 256;
    let path = Path::Child(&Path::Root, "spec");
    let path = path.child("drivers");
    let drivers = items(get(at.value, "spec"), "drivers");
    let mut seen = BTreeSet::new();
    for (at, driver) in drivers.iter().enumerate() {
        let path = path.index(at);
        driver_name(*driver, "name", &path, found);
        let id = text(*driver, "nodeID");
        if id.is_empty() {
            found.required(&path.child("nodeID"), "");
        }
        if id.len() > MOST {
            found.invalid(&path.child("nodeID"), Value::String(id), format!("must be {MOST} characters or less"));
        }
        if let Some(count) = number(get(*driver, "allocatable"), "count")
            && count < 0
        {
            let path = path.child("allocatable");
            found.invalid(&path.child("count"), Value::Int(count), form::NEGATIVE);
        }
        let name = text(*driver, "name");
        if !seen.insert(name) {
            found.duplicate(&path.child("name"), Value::String(name));
        }
        let keys = texts(items(*driver, "topologyKeys"));
        let mut seen = BTreeSet::new();
        for key in &keys {
            if key.is_empty() {
                found.required(&path, "");
            }
            if !seen.insert(key) {
                found.duplicate(&path, Value::String(key));
            }
            found.messages(&path, Value::String(key), names::qualified_name(key));
        }
    }
}

/// `ValidateCSINodeUpdate`
fn csi_node_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let path = Path::Child(&Path::Root, "spec");
    for before in items(get(old, "spec"), "drivers") {
        for after in items(get(at.value, "spec"), "drivers") {
            let is_changed = ["nodeID", "topologyKeys"].iter().any(|key| !same(*before, *after, key));
            if text(*before, "name") == text(*after, "name") && is_changed {
                found.invalid(&path.child("drivers"), *after, super::common::IMMUTABLE);
            }
        }
    }
}

/// `ValidateCSIStorageCapacity`
fn storage_capacity(at: &At<'_, '_>, found: &mut Found) {
    let topology = get(at.value, "nodeTopology");
    if !topology.is_null() {
        form::selector(topology, &at.path.child("nodeTopology"), found);
    }
    let class = text(at.value, "storageClassName");
    found.messages(&at.path.child("storageClassName"), Value::String(class), names::dns1123_subdomain(class));
    let capacity = get(at.value, "capacity");
    if sign(capacity) == Ordering::Less {
        found.invalid(&at.path.child("capacity"), capacity, form::NEGATIVE);
    }
}

fn storage_capacity_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    for key in ["nodeTopology", "storageClassName"] {
        let (new, old) = (get(at.value, key), get(old, key));
        if new.to_string() != old.to_string() {
            found.invalid(&at.path.child(key), new, super::common::IMMUTABLE);
        }
    }
}

/// `ValidateVolumeAttachment`
fn volume_attachment(at: &At<'_, '_>, found: &mut Found) {
    let spec = get(at.value, "spec");
    let path = Path::Child(&Path::Root, "spec");
    driver_name(spec, "attacher", &path, found);
    let source = get(spec, "source");
    let source_path = path.child("source");
    let (inline, name) = (get(source, "inlineVolumeSpec"), get(source, "persistentVolumeName"));
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (inline.is_null(), name.as_str()) {
        (true, None) => found.required(&source_path, detail),
        (false, Some(_)) => found.forbidden(&source_path, detail),
        (true, Some("")) => {
            found.required(&source_path.child("persistentVolumeName"), "must specify non empty persistentVolumeName");
        }
        (false, None) => check_volume(inline, "", true, &source_path.child("inlineVolumeSpec"), found),
        _ => {}
    }
    let node = text(spec, "nodeName");
    found.messages(&path.child("nodeName"), Value::String(node), names::dns1123_subdomain(node));
    let status = Path::Child(&Path::Root, "status");
    for key in ["attachError", "detachError"] {
        volume_error(get(get(at.value, "status"), key), &status.child(key), found);
    }
    if let Some(text) = name.as_str() {
        found.messages(&Path::Base("spec.source.persistentVolumeName"), name, names::dns1123_subdomain(text));
    }
}

fn volume_error(error: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 1024;
    // Upstream's message names the limit of another field.
    const SAID: usize = 256 * 1024;
    if text(error, "message").len() > MOST {
        found.too_long(&path.child("message"), SAID);
    }
    if let Some(code) = number(error, "errorCode")
        && code < 0
    {
        found.invalid(&path.child("errorCode"), Value::Int(code), "must be between 0 and 2147483647, inclusive");
    }
}

fn volume_attachment_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    let (new, old) = (get(at.value, "spec"), get(old, "spec"));
    if new.to_string() != old.to_string() {
        found.invalid(&at.path.child("spec"), new, super::common::IMMUTABLE);
    }
}

fn attributes_class(at: &At<'_, '_>, found: &mut Found) {
    provisioner(at.value, "driverName", at.path, found);
    parameters(at.value, false, at.path, found);
}

fn attributes_class_change(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    for key in ["driverName", "parameters"] {
        if !same(at.value, old, key) {
            found.forbidden(&at.path.child(key), format!("updates to {key} are forbidden."));
        }
    }
}
