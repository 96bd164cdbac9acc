//! Volumes: `ValidateVolumes`.

use super::super::super::Found;
use super::super::super::form::selector as label_selector;
use super::super::super::form::{local_path, path_without_backsteps};
use super::super::storage;
use super::claims::{claim_spec, csi_driver_name};
use super::{
    PULL_POLICIES, Pod, between, check_text, entries, flag, get, items, mode, number, one_of, require, resources,
    selectors, string, text,
};
use crate::metadata;
use crate::names;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::collections::BTreeSet;

const ONE: &str = "may not specify more than 1 volume type";

/// The kinds of volumes in the order of their checks, each with its name in errors about a second source.
const KINDS: [(&str, &str); 30] = [
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephFS"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwarAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
    ("image", "image"),
    ("emptyDir", "emptyDir"),
];

/// Checks volumes and records the valid ones.
pub(super) fn volumes(pod: &mut Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let name_of_pod = text(pod.metadata, "name");
    let volumes = items(pod.spec, "volumes");
    let created: BTreeSet<String> = volumes
        .iter()
        .filter(|volume| !name_of_pod.is_empty() && volume.get("ephemeral").is_some())
        .map(|volume| format!("{name_of_pod}-{}", text(*volume, "name")))
        .collect();
    let added = pod.added.clone();
    for (index, name) in added.iter().enumerate() {
        let path = path.index(index);
        if name.is_empty() {
            found.required(&path.child("persistentVolumeClaim").child("claimName"), "");
            found.required(&path.child("name"), "");
            continue;
        }
        let messages = names::dns1123_label(name);
        if messages.is_empty() {
            pod.volumes.insert(name);
            pod.claims.insert(name);
        }
        found.messages(&path.child("name"), Value::String(name), messages);
    }
    let own = volumes.iter().filter(|volume| !added.contains(text(**volume, "name")));
    for (index, volume) in own.enumerate() {
        let path = path.index(added.len() + index);
        let name = text(*volume, "name");
        let before = found.errors.len();
        source(*volume, name, pod, &path, found);
        let name_path = path.child("name");
        if name.is_empty() {
            found.required(&name_path, "");
        } else {
            found.messages(&name_path, Value::String(name), names::dns1123_label(name));
        }
        if pod.volumes.contains(name) {
            found.duplicate(&name_path, Value::String(name));
        }
        if found.errors.len() == before {
            pod.volumes.insert(name);
            if volume.get("persistentVolumeClaim").is_some() || volume.get("ephemeral").is_some() {
                pod.claims.insert(name);
            }
        }
        let claim = text(get(*volume, "persistentVolumeClaim"), "claimName");
        if created.contains(claim) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            found.invalid(&path.child("persistentVolumeClaim").child("claimName"), Value::String(claim), detail);
        }
    }
}

/// `validateVolumeSource`
fn source(volume: Value<'_>, name: &str, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    let mut has_one = volume.get("emptyDir").is_some();
    if let Some(limit) = get(volume, "emptyDir").get("sizeLimit")
        && resources::quantity(limit).is_some_and(|limit| limit.sign() < 0)
    {
        let detail = "SizeLimit field must be a valid resource quantity";
        found.forbidden(&path.child("emptyDir").child("sizeLimit"), detail);
    }
    for (key, second) in KINDS.iter().filter(|(key, _)| *key != "emptyDir") {
        let Some(own) = volume.get(key) else { continue };
        if has_one {
            found.forbidden(&path.child(second), ONE);
        } else {
            has_one = true;
            of_kind(key, own, name, pod, path, found);
        }
        if *key == "iscsi"
            && own.get("initiatorName").is_some()
            && name.len() + 1 + text(own, "targetPortal").len() > 64
        {
            let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                          iscsi.initiatorName is specified.";
            found.invalid(&path.child("name"), Value::String(name), detail);
        }
    }
    if !has_one {
        found.required(path, "must specify a volume type");
    }
}

fn of_kind(key: &str, own: Value<'_>, name: &str, pod: &Pod<'_>, parent: &Path<'_>, found: &mut Found) {
    let path = &parent.child(key);
    match key {
        "hostPath" => {
            if text(own, "path").is_empty() {
                return found.required(&path.child("path"), "");
            }
            check_text(own, "path", path, path_without_backsteps, found);
            let types =
                ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
            one_of(own, "type", &types, false, path, found);
        }
        "gitRepo" => {
            require(own, "repository", path, found);
            check_text(own, "directory", path, local_path, found);
        }
        "gcePersistentDisk" => {
            let path = &parent.child("persistentDisk");
            require(own, "pdName", path, found);
            storage::partition(own, "", path, found);
        }
        "awsElasticBlockStore" => {
            require(own, "volumeID", path, found);
            storage::partition(own, "", path, found);
        }
        "secret" => {
            require(own, "secretName", path, found);
            keys_and_mode(own, path, found);
        }
        "configMap" => {
            require(own, "name", path, found);
            keys_and_mode(own, path, found);
        }
        "nfs" => {
            require(own, "server", path, found);
            require(own, "path", path, found);
            if !text(own, "path").starts_with('/') {
                found.invalid(&path.child("path"), string(get(own, "path")), "must be an absolute path");
            }
        }
        "iscsi" => iscsi(own, path, found),
        "glusterfs" => {
            require(own, "endpoints", path, found);
            require(own, "path", path, found);
        }
        "persistentVolumeClaim" => require(own, "claimName", path, found),
        "rbd" => {
            if items(own, "monitors").is_empty() {
                found.required(&path.child("monitors"), "");
            }
            require(own, "image", path, found);
        }
        "cinder" => {
            require(own, "volumeID", path, found);
            secret_name(own, path, found);
        }
        "cephfs" if items(own, "monitors").is_empty() => found.required(&path.child("monitors"), ""),
        "fc" => fibre(own, path, found),
        "flexVolume" => {
            require(own, "driver", path, found);
            storage::flex(own, name, path, found);
        }
        "quobyte" => storage::quobyte(own, name, path, found),
        "scaleIO" => {
            for key in ["gateway", "system", "volumeName"] {
                require(own, key, path, found);
            }
        }
        "storageos" => {
            storage::storage_os(own, path, found);
            secret_name(own, path, found);
        }
        "azureFile" => {
            require(own, "secretName", path, found);
            require(own, "shareName", path, found);
        }
        "vsphereVolume" => require(own, "volumePath", path, found),
        "photonPersistentDisk" => require(own, "pdID", path, found),
        "portworxVolume" => require(own, "volumeID", path, found),
        "downwardAPI" => {
            mode(own, "defaultMode", path, found);
            for file in items(own, "items") {
                downward_file(*file, path, found);
            }
        }
        "projected" => {
            mode(own, "defaultMode", path, found);
            projections(own, pod, path, found);
        }
        "csi" => csi(own, path, found),
        "flocker" => {
            if text(own, "datasetName").is_empty() && text(own, "datasetUUID").is_empty() {
                found.required(path, "one of datasetName and datasetUUID is required");
            }
            if !text(own, "datasetName").is_empty() && !text(own, "datasetUUID").is_empty() {
                let detail = "datasetName and datasetUUID can not be specified simultaneously";
                found.invalid(path, Value::String("resource"), detail);
            }
            if text(own, "datasetName").contains('/') {
                found.invalid(&path.child("datasetName"), get(own, "datasetName"), "must not contain '/'");
            }
        }
        "azureDisk" => azure_disk(own, path, found),
        "ephemeral" => ephemeral(own, name, pod, parent, found),
        "image" => {
            if pod.is_whole {
                require(own, "reference", path, found);
            }
            one_of(own, "pullPolicy", &PULL_POLICIES, true, path, found);
        }
        _ => {}
    }
}

fn secret_name(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let secret = get(own, "secretRef");
    if !secret.is_null() {
        require(secret, "name", &path.child("secretRef"), found);
    }
}

fn fibre(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let names = path.child("targetWWNs");
    let (has_names, has_ids) = (!items(own, "targetWWNs").is_empty(), !items(own, "wwids").is_empty());
    if !has_names && !has_ids {
        found.required(&names, "must specify either targetWWNs or wwids, but not both");
    }
    if has_names && has_ids {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        found.invalid(&names, get(own, "targetWWNs"), detail);
    }
    if has_names {
        if own.get("lun").is_none() {
            found.required(&path.child("lun"), "lun is required if targetWWNs is specified");
        }
        between(own, "lun", 0, 255, path, found);
    }
}

fn iscsi(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    require(own, "targetPortal", path, found);
    require(own, "iqn", path, found);
    let iqn = text(own, "iqn");
    if let (false, Some(detail)) = (iqn.is_empty(), storage::initiator_error(iqn)) {
        found.invalid(&path.child("iqn"), Value::String(iqn), detail);
    }
    between(own, "lun", 0, 255, path, found);
    let initiator = get(own, "initiatorName");
    if let Some(detail) = initiator.as_str().and_then(storage::initiator_error) {
        found.invalid(&path.child("initiatorname"), initiator, detail);
    }
    let needs_secret = flag(own, "chapAuthDiscovery") || flag(own, "chapAuthSession");
    if needs_secret && own.get("secretRef").is_none() {
        found.required(&path.child("secretRef"), "");
    }
}

/// `validateAzureDisk`
fn azure_disk(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const CACHING: [&str; 3] = ["None", "ReadOnly", "ReadWrite"];
    const KINDS: [&str; 3] = ["Dedicated", "Managed", "Shared"];
    require(own, "diskName", path, found);
    let uri = text(own, "diskURI");
    if uri.is_empty() {
        found.required(&path.child("diskURI"), "");
    }
    one_of(own, "cachingMode", &CACHING, false, path, found);
    one_of(own, "kind", &KINDS, false, path, found);
    let (start, of) = match text(own, "kind") {
        "Managed" => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        _ if own.get("kind").is_none() => return,
        _ => ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"),
    };
    if !uri.starts_with(start) {
        found.not_supported(&path.child("diskURI"), Value::String(uri), &[of]);
    }
}

fn csi(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    csi_driver_name(string(get(own, "driver")), &path.child("driver"), found);
    let secret = get(own, "nodePublishSecretRef");
    if !secret.is_null() {
        let name = text(secret, "name");
        if name.is_empty() {
            found.required(&path.child("nodePublishSecretRef").child("name"), "");
        } else {
            found.messages(&path.child("name"), Value::String(name), names::dns1123_subdomain(name));
        }
    }
}

fn ephemeral(own: Value<'_>, name: &str, pod: &Pod<'_>, parent: &Path<'_>, found: &mut Found) {
    let path = parent.child("ephemeral");
    let path = path.child("volumeClaimTemplate");
    match own.get("volumeClaimTemplate") {
        None => found.required(&path, ""),
        Some(template) => {
            let metadata = path.child("metadata");
            let meta = get(template, "metadata");
            let texts = |key: &str| -> Vec<(&str, &str)> {
                entries(meta, key).iter().filter_map(|(key, value)| Some((*key, value.as_str()?))).collect()
            };
            metadata::annotations(&texts("annotations"), &metadata.child("annotations"), 0, &mut found.errors);
            metadata::labels(&texts("labels"), &metadata.child("labels"), 0, &mut found.errors);
            claim_spec(get(template, "spec"), &path.child("spec"), found);
        }
    }
    let name_of_pod = text(pod.metadata, "name");
    if !name_of_pod.is_empty() && !name.is_empty() {
        let claim = format!("{name_of_pod}-{name}");
        for message in names::dns1123_subdomain(&claim) {
            let detail = format!("PVC name {claim:?}: {message}");
            found.invalid(&parent.child("name"), Value::String(name), detail);
        }
    }
}

fn keys_and_mode(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    mode(own, "defaultMode", path, found);
    keys(own, path, found);
}

fn keys(own: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("items");
    for (index, item) in items(own, "items").iter().enumerate() {
        key_to_path(*item, &path.index(index), found);
    }
}

/// `validateKeyToPath`
fn key_to_path(item: Value<'_>, path: &Path<'_>, found: &mut Found) {
    require(item, "key", path, found);
    require(item, "path", path, found);
    local_file(item, "path", path, found);
    mode(item, "mode", path, found);
}

/// `ValidateLocalNonReservedPath`
fn local_file(item: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    check_text(item, key, path, local_path, found);
    let own = text(item, key);
    if own.starts_with("..") && !own.starts_with("../") {
        found.invalid(&path.child(key), get(item, key), "must not start with '..'");
    }
}

/// `validateDownwardAPIVolumeFile`. `path` is the path of the list's owner.
fn downward_file(file: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const FIELDS: [&str; 5] =
        ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
    require(file, "path", path, found);
    local_file(file, "path", path, found);
    if let Some(field) = file.get("fieldRef") {
        selectors::field_selector(field, &FIELDS, &path.child("fieldRef"), found);
        if file.get("resourceFieldRef").is_some() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            found.invalid(path, Value::String("resource"), detail);
        }
    } else if let Some(resource) = file.get("resourceFieldRef") {
        selectors::resource_selector(resource, true, &path.child("resourceFieldRef"), found);
    } else {
        found.required(path, "one of fieldRef and resourceFieldRef is required");
    }
    mode(file, "mode", path, found);
}

/// `validateProjectionSources`
fn projections<'a>(own: Value<'a>, pod: &Pod<'_>, path: &Path<'_>, found: &mut Found) {
    const TWICE: &str = "conflicting duplicate paths";
    let mut paths: BTreeSet<&'a str> = BTreeSet::new();
    let sources = path.child("sources");
    for (index, source) in items(own, "sources").iter().enumerate() {
        let source_path = sources.index(index);
        let mut count = 0;
        for key in ["secret", "configMap"] {
            let Some(projected) = source.get(key) else { continue };
            count += 1;
            let path_of = source_path.child(key);
            require(projected, "name", &path_of, found);
            let list = path_of.child("items");
            for (index, item) in items(projected, "items").iter().enumerate() {
                key_to_path(*item, &list.index(index), found);
                let own = text(*item, "path");
                if !own.is_empty() && !paths.insert(own) {
                    found.invalid(path, string(get(projected, "name")), TWICE);
                }
            }
        }
        if let Some(projected) = source.get("downwardAPI") {
            count += 1;
            for file in items(projected, "items") {
                downward_file(*file, &source_path.child("downwardAPI"), found);
                let own = text(*file, "path");
                if !own.is_empty() && !paths.insert(own) {
                    found.invalid(path, Value::String(own), TWICE);
                }
            }
        }
        if let Some(token) = source.get("serviceAccountToken") {
            count += 1;
            token_source(token, pod, path, &source_path.child("serviceAccountToken"), found);
        }
        if let Some(bundle) = source.get("clusterTrustBundle") {
            count += 1;
            let path_of = source_path.child("clusterTrustBundle");
            let (name, signer) = (bundle.get("name"), bundle.get("signerName"));
            match (name, signer) {
                (Some(_), Some(_)) => found.invalid(&path_of, bundle, "only one of name and signerName may be used"),
                (None, None) => found.required(&path_of, "either name or signerName must be specified"),
                (Some(_), None) => {
                    if text(bundle, "name").is_empty() {
                        found.required(&path_of.child("name"), "must be a valid object name");
                    }
                    if let Some(selector) = bundle.get("labelSelector") {
                        let detail = "labelSelector must be unset if name is specified";
                        found.invalid(&path_of.child("labelSelector"), selector, detail);
                    }
                }
                (None, Some(_)) => label_selector(get(bundle, "labelSelector"), &path_of.child("labelSelector"), found),
            }
            require(bundle, "path", &path_of, found);
            local_file(bundle, "path", &path_of, found);
            if !paths.insert(text(bundle, "path")) {
                found.invalid(path, string(get(bundle, "path")), TWICE);
            }
        }
        if source.get("podCertificate").is_some() {
            count += 1;
        }
        if count > 1 {
            found.forbidden(&source_path, "may not specify more than 1 volume type per source");
        }
    }
}

fn token_source(token: Value<'_>, pod: &Pod<'_>, path: &Path<'_>, token_path: &Path<'_>, found: &mut Found) {
    let seconds = number(token, "expirationSeconds").unwrap_or(0);
    let seconds_path = token_path.child("expirationSeconds");
    if seconds < 600 {
        found.invalid(&seconds_path, Value::Int(seconds), "may not specify a duration less than 10 minutes");
    }
    if seconds > 1 << 32 {
        found.invalid(&seconds_path, Value::Int(seconds), "may not specify a duration larger than 2^32 seconds");
    }
    // Upstream uses the path of the volume.
    if text(token, "path").is_empty() {
        found.required(&path.child("path"), "");
    } else if !pod.allows.token_paths {
        local_file(token, "path", path, found);
    }
}

/// `hasNonLocalProjectedTokenPath`
pub(super) fn has_foreign_token_path(spec: Value<'_>) -> bool {
    let sources = items(spec, "volumes").iter().flat_map(|volume| items(get(*volume, "projected"), "sources"));
    sources.into_iter().any(|source| {
        let mut found = Found::default();
        local_file(get(*source, "serviceAccountToken"), "path", &Path::Root, &mut found);
        !found.errors.is_empty()
    })
}

/// Checks that a pod without a service account has no token volumes.
pub(super) fn tokens_without_account(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let volumes = path.child("volumes");
    for (index, volume) in items(spec, "volumes").iter().enumerate() {
        let path = volumes.index(index);
        let path = path.child("projected");
        let path = path.child("sources");
        for (index, source) in items(get(*volume, "projected"), "sources").iter().enumerate() {
            if source.get("serviceAccountToken").is_some() {
                let detail = "must not be specified when serviceAccountName is not set";
                found.forbidden(&path.index(index).child("serviceAccountToken"), detail);
            }
        }
    }
}
