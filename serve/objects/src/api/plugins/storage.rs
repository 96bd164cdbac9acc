//! Plugins for storage, Ingresses and Nodes: default classes, finalizers, growing claims, the taint of new Nodes.

use super::{Call, and, map, spec_list, with_spec};
use crate::status::Status;
use crate::value::{metadata, with_meta};
use kubeshape_cel::Quantity;
use kubeshape_smd::{Bump, Value};

const STORAGE_CLASS: [&str; 2] = ["storage.k8s.io/v1", "StorageClass"];
const INGRESS_CLASS: [&str; 2] = ["networking.k8s.io/v1", "IngressClass"];
/// Older names of the classes of claims and Ingresses.
const CLASS_OF_CLAIM: &str = "volume.beta.kubernetes.io/storage-class";
const CLASS_OF_INGRESS: &str = "kubernetes.io/ingress.class";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

fn annotation<'v>(object: Value<'v>, key: &str) -> Option<Value<'v>> {
    metadata(object).get("annotations")?.get(key)
}

fn spec_member<'v>(object: Value<'v>, key: &str) -> Option<Value<'v>> {
    object.get("spec")?.get(key).filter(|value| !value.is_null())
}

impl Call<'_> {
    /// Returns a new claim with the default StorageClass, if it has none.
    pub(super) fn with_storage_class<'v>(&'v self, claim: Value<'v>, arena: &'v Bump) -> Result<Value<'v>, Status> {
        let annotations =
            ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
        let has_class = annotation(claim, CLASS_OF_CLAIM).is_some() || spec_member(claim, "storageClassName").is_some();
        let class = if has_class { None } else { self.default_class(STORAGE_CLASS, &annotations, arena)? };
        Ok(class.map_or(claim, |name| with_spec(claim, "storageClassName", Some(Value::String(name)), arena)))
    }

    /// Returns a new Ingress with the default IngressClass, if it has none.
    pub(super) fn with_ingress_class<'v>(&'v self, ingress: Value<'v>, arena: &'v Bump) -> Result<Value<'v>, Status> {
        let annotations = ["ingressclass.kubernetes.io/is-default-class"];
        let has_class =
            annotation(ingress, CLASS_OF_INGRESS).is_some() || spec_member(ingress, "ingressClassName").is_some();
        let class = if has_class { None } else { self.default_class(INGRESS_CLASS, &annotations, arena)? };
        Ok(class.map_or(ingress, |name| with_spec(ingress, "ingressClassName", Some(Value::String(name)), arena)))
    }

    /// Checks that a claim that asks for more is bound, and that its StorageClass allows it.
    pub(super) fn may_grow(&self, claim: Value<'_>, old: Value<'_>, arena: &Bump) -> Result<(), Status> {
        let size = |claim: Value<'_>| {
            let storage = spec_member(claim, "resources")?.get("requests")?.get("storage")?;
            Quantity::parse(storage.as_str()?).ok()
        };
        let grows = match (size(claim), size(old)) {
            (Some(new), Some(old)) => new.compare(&old).is_gt(),
            (Some(new), None) => new.sign() > 0,
            (None, _) => false,
        };
        if !grows {
            return Ok(());
        }
        let phase = old.get("status").and_then(|status| status.get("phase")?.as_str());
        if phase != Some("Bound") {
            return Err(self.forbidden(claim, "Only bound persistent volume claims can be expanded"));
        }
        let class = |claim: Value<'_>| {
            let name = annotation(claim, CLASS_OF_CLAIM).or_else(|| spec_member(claim, "storageClassName"));
            name.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let name = class(claim);
        let [api_version, kind] = STORAGE_CLASS;
        let allows = || {
            let class = self.object_of(api_version, kind, &name, arena)?;
            class.get("allowVolumeExpansion").filter(|allows| *allows == Value::Bool(true))
        };
        if !name.is_empty() && name == class(old) && allows().is_some() {
            return Ok(());
        }
        let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must \
                   support resize";
        Err(self.forbidden(claim, why))
    }
}

/// Returns an object of storage with the finalizer that protects it while it is in use.
pub(super) fn protected<'v>(object: Value<'v>, kind: &str, arena: &'v Bump) -> Value<'v> {
    let finalizer = match kind {
        "PersistentVolume" => "kubernetes.io/pv-protection",
        "PersistentVolumeClaim" => "kubernetes.io/pvc-protection",
        "VolumeAttributesClass" => "kubernetes.io/vac-protection",
        _ => return object,
    };
    let finalizer = Value::String(finalizer);
    let known = metadata(object).get("finalizers").and_then(Value::as_list).unwrap_or_default();
    if known.contains(&finalizer) {
        return object;
    }
    with_meta(object, "finalizers", Some(and(known, finalizer, arena)), arena)
}

/// Returns a new Node with the taint that it is not ready.
pub(super) fn tainted<'v>(node: Value<'v>, arena: &'v Bump) -> Value<'v> {
    let taints = spec_list(node, "taints");
    let is_known = |taint: &Value<'_>| {
        let text = |key: &str| taint.get(key).and_then(Value::as_str);
        text("key") == Some(NOT_READY) && text("effect") == Some("NoSchedule")
    };
    if taints.iter().any(is_known) {
        return node;
    }
    let taint = map([("key", Value::String(NOT_READY)), ("effect", Value::String("NoSchedule"))], arena);
    with_spec(node, "taints", Some(and(taints, taint, arena)), arena)
}
