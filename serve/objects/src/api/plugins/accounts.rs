//! The plugin `ServiceAccount`: Pods run as an account of their namespace (upstream:
//! `plugin/pkg/admission/serviceaccount`).

use super::part::{items, member, text};
use super::{Call, and, map, spec_list, spec_text, with_spec};
use crate::api::write::generated_name;
use crate::status::Status;
use crate::store::Key;
use crate::value::{meta_text, metadata, with};
use kubeshape_smd::{Bump, Value};
use std::collections::BTreeSet;

/// The account of Pods that name none.
const DEFAULT: &str = "default";
pub(in crate::api) const MIRROR: &str = "kubernetes.io/config.mirror";
const ENFORCE_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";
const VOLUME: &str = "kube-api-access-";
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// How long tokens of Pods are valid, in seconds (upstream: `WarnOnlyBoundTokenExpirationSeconds`).
const EXPIRATION: i64 = 3607;
/// The mode of files of the volume: 0644.
const MODE: i64 = 0o644;
/// Names of secrets in volumes (upstream: `VisitPodSecretNames`).
const SECRETS_OF_VOLUMES: [&[&str]; 10] = [
    &["azureFile", "secretName"],
    &["cephfs", "secretRef", "name"],
    &["cinder", "secretRef", "name"],
    &["flexVolume", "secretRef", "name"],
    &["rbd", "secretRef", "name"],
    &["secret", "secretName"],
    &["scaleIO", "secretRef", "name"],
    &["iscsi", "secretRef", "name"],
    &["storageos", "secretRef", "name"],
    &["csi", "nodePublishSecretRef", "name"],
];

impl Call<'_> {
    /// Returns a new Pod with its account, the account's pull secrets and the volume with its token (upstream: `Admit`).
    pub(super) fn with_account<'v>(&'v self, pod: Value<'v>, arena: &'v Bump) -> Result<Value<'v>, Status> {
        if is_mirror(pod) {
            return self.has_no_secrets(pod).map(|()| pod);
        }
        let mut pod = pod;
        let names = ["serviceAccountName", "serviceAccount"].map(|key| spec_text(pod, key));
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or(DEFAULT);
        // The older name has the same value.
        for key in ["serviceAccountName", "serviceAccount"] {
            pod = with_spec(pod, key, Some(Value::String(name)), arena);
        }
        let account = self.account(pod, name, arena)?;
        let switch = "automountServiceAccountToken";
        let own = pod.get("spec").and_then(|spec| spec.get(switch)).filter(|value| !value.is_null());
        if own.or_else(|| account.get(switch)) != Some(Value::Bool(false)) {
            let name = arena.alloc_str(&generated_name(VOLUME, self.moment.random.rotate_right(1)));
            pod = with_token(pod, name, arena);
        }
        let pull_secrets = account.get("imagePullSecrets").and_then(Value::as_list).unwrap_or_default();
        if spec_list(pod, "imagePullSecrets").is_empty() && !pull_secrets.is_empty() {
            pod = with_spec(pod, "imagePullSecrets", Some(Value::List(pull_secrets)), arena);
        }
        self.is_storable(pod)?;
        self.has_account(pod, arena)?;
        Ok(pod)
    }

    /// Checks that the account of a new Pod exists, and that the Pod may use its secrets (upstream: `Validate`).
    pub(super) fn has_account(&self, pod: Value<'_>, arena: &Bump) -> Result<(), Status> {
        if is_mirror(pod) {
            return self.has_no_secrets(pod);
        }
        let name = spec_text(pod, "serviceAccountName");
        if name.is_empty() {
            let of = format!("{}/{}", self.path.namespace, meta_text(pod, "name"));
            return Err(self.forbidden(pod, &format!("no service account specified for pod {of}")));
        }
        let account = self.account(pod, name, arena)?;
        let enforces = metadata(account).get("annotations").and_then(|all| all.get(ENFORCE_SECRETS)?.as_str());
        // Go's `strconv.ParseBool`
        if enforces.is_some_and(|text| ["1", "t", "T", "TRUE", "true", "True"].contains(&text)) {
            uses_known_secrets(pod, account).map_err(|why| self.forbidden(pod, &why))?;
        }
        Ok(())
    }

    fn account<'v>(&'v self, pod: Value<'_>, name: &str, arena: &'v Bump) -> Result<Value<'v>, Status> {
        let namespace = self.path.namespace;
        let found = || {
            let served = self.api.of_kind("v1", "ServiceAccount")?;
            super::value_of(served, self.store.get(&Key::new(&served.id, namespace, name))?, arena)
        };
        found().ok_or_else(|| {
            let of = format!("{namespace}/{name}");
            self.forbidden(pod, &format!("error looking up service account {of}: serviceaccount \"{name}\" not found"))
        })
    }

    /// Checks the copy of a Pod that runs without a server.
    fn has_no_secrets(&self, pod: Value<'_>) -> Result<(), Status> {
        let why = if !spec_text(pod, "serviceAccountName").is_empty() {
            "a mirror pod may not reference service accounts"
        } else if has_secrets(pod) {
            "a mirror pod may not reference secrets"
        } else if projections(pod).any(|source| member(source, &["serviceAccountToken"]).is_some()) {
            "a mirror pod may not use ServiceAccountToken volume projections"
        } else {
            return Ok(());
        };
        Err(self.forbidden(pod, why))
    }
}

fn is_mirror(pod: Value<'_>) -> bool {
    metadata(pod).get("annotations").is_some_and(|annotations| annotations.get(MIRROR).is_some())
}

/// Returns the sources of projected volumes.
fn projections(pod: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let projected = spec_list(pod, "volumes").iter().filter_map(|volume| volume.get("projected"));
    projected.flat_map(|projected| items(projected, &["sources"]).iter().copied())
}

pub(super) fn has_secrets(pod: Value<'_>) -> bool {
    let of_volumes = |volume: &Value<'_>| SECRETS_OF_VOLUMES.iter().any(|path| !text(*volume, path).is_empty());
    let containers = ["containers", "initContainers", "ephemeralContainers"];
    let of_container = |container: &Value<'_>| {
        let from = items(*container, &["envFrom"]).iter().any(|from| member(*from, &["secretRef"]).is_some());
        from || items(*container, &["env"]).iter().any(|env| member(*env, &["valueFrom", "secretKeyRef"]).is_some())
    };
    !spec_list(pod, "imagePullSecrets").is_empty()
        || spec_list(pod, "volumes").iter().any(of_volumes)
        || projections(pod).any(|source| member(source, &["secret"]).is_some())
        || containers.iter().flat_map(|list| spec_list(pod, list)).any(of_container)
}

/// Checks that an account lists the secrets of a Pod (upstream: `limitSecretReferences`).
fn uses_known_secrets(pod: Value<'_>, account: Value<'_>) -> Result<(), String> {
    let names = |key: &str| items(account, &[key]).iter().map(|of| text(*of, &["name"])).collect::<BTreeSet<_>>();
    let (known, name) = (names("secrets"), meta_text(account, "name"));
    let refused = |what: &str| {
        Err(format!("{what} is not allowed because service account {name} does not reference that secret"))
    };
    for volume in spec_list(pod, "volumes").iter().filter(|volume| member(**volume, &["secret"]).is_some()) {
        let secret = text(*volume, &["secret", "secretName"]);
        if !known.contains(secret) {
            return refused(&format!("volume with secret.secretName=\"{secret}\""));
        }
    }
    for (list, what) in [("initContainers", "init container"), ("containers", "container")] {
        for container in spec_list(pod, list) {
            let of = text(*container, &["name"]);
            for env in items(*container, &["env"]) {
                let Some(reference) = member(*env, &["valueFrom", "secretKeyRef"]) else { continue };
                let (variable, secret) = (text(*env, &["name"]), text(reference, &["name"]));
                if !known.contains(secret) {
                    let uses = format!("with envVar {variable} referencing secret.secretName=\"{secret}\"");
                    return refused(&format!("{what} {of} {uses}"));
                }
            }
            for from in items(*container, &["envFrom"]) {
                let Some(reference) = member(*from, &["secretRef"]) else { continue };
                let secret = text(reference, &["name"]);
                if !known.contains(secret) {
                    return refused(&format!("{what} {of} with envFrom referencing secret.secretName=\"{secret}\""));
                }
            }
        }
    }
    let known = names("imagePullSecrets");
    for (i, secret) in spec_list(pod, "imagePullSecrets").iter().enumerate() {
        let secret = text(*secret, &["name"]);
        if !known.contains(secret) {
            let start = format!("imagePullSecrets[{i}].name=\"{secret}\" is not allowed");
            return Err(format!("{start} because service account {name} does not reference that imagePullSecret"));
        }
    }
    Ok(())
}

/// Returns a Pod whose containers mount a volume with the account's token (upstream: `mountServiceAccountToken`).
fn with_token<'v>(pod: Value<'v>, generated: &'v str, arena: &'v Bump) -> Value<'v> {
    let mut names = spec_list(pod, "volumes").iter().map(|volume| text(*volume, &["name"]));
    let existing = names.find(|name| name.starts_with(VOLUME));
    let name = Value::String(existing.unwrap_or(generated));
    let mount = map([("name", name), ("readOnly", Value::Bool(true)), ("mountPath", Value::String(MOUNT_PATH))], arena);
    let (mut pod, mut is_needed) = (pod, false);
    for list in ["initContainers", "containers"] {
        let containers = spec_list(pod, list);
        let mounted = |container: &Value<'v>| {
            let mounts = items(*container, &["volumeMounts"]);
            if mounts.iter().any(|mount| text(*mount, &["mountPath"]) == MOUNT_PATH) {
                return *container;
            }
            is_needed = true;
            with(*container, "volumeMounts", Some(and(mounts, mount, arena)), arena)
        };
        let containers: Vec<Value<'v>> = containers.iter().map(mounted).collect();
        if !containers.is_empty() {
            pod = with_spec(pod, list, Some(Value::List(arena.alloc_slice_copy(&containers))), arena);
        }
    }
    if existing.is_some() || !is_needed {
        return pod;
    }
    let volume = map([("name", name), ("projected", token_volume(arena))], arena);
    with_spec(pod, "volumes", Some(and(spec_list(pod, "volumes"), volume, arena)), arena)
}

/// The volume with the token, the authority of the server and the namespace (upstream: `TokenVolumeSource`).
fn token_volume(arena: &Bump) -> Value<'_> {
    let list = |item| and(&[], item, arena);
    let text = Value::String;
    let token = map([("path", text("token")), ("expirationSeconds", Value::Int(EXPIRATION))], arena);
    let file = map([("key", text("ca.crt")), ("path", text("ca.crt"))], arena);
    let authority = map([("name", text("kube-root-ca.crt")), ("items", list(file))], arena);
    let field = map([("apiVersion", text("v1")), ("fieldPath", text("metadata.namespace"))], arena);
    let file = map([("path", text("namespace")), ("fieldRef", field)], arena);
    let namespace = map([("items", list(file))], arena);
    let sources = [("serviceAccountToken", token), ("configMap", authority), ("downwardAPI", namespace)];
    let sources = sources.map(|source| map([source], arena));
    map([("defaultMode", Value::Int(MODE)), ("sources", Value::List(arena.alloc_slice_copy(&sources)))], arena)
}
