//! The plugin `NodeRestriction`: a kubelet changes only its own Node, and what runs on it (upstream:
//! `plugin/pkg/admission/noderestriction`).

mod certificates;

use super::accounts::{MIRROR, has_secrets};
use super::part::{is_true, items, member, text};
use super::{Call, Plugin, spec_list, spec_text, value_of};
use crate::status::{GroupResource, Status};
use crate::store::Key;
use crate::value::{meta_text, metadata, with_meta};
use kubeshape_policy::{Access, Operation};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Users of kubelets (upstream: `nodeidentifier`).
const USER: &str = "system:node:";
const GROUP: &str = "system:nodes";
const LEASES: &str = "kube-node-lease";
/// The namespace of labels that only administrators set.
const RESTRICTED: &str = "node-restriction.kubernetes.io";
/// Labels of Kubernetes that a kubelet may set (upstream: `kubeletapis.KubeletLabels`).
const LABELS: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Namespaces of such labels (upstream: `kubeletapis.KubeletLabelNamespaces`).
const NAMESPACES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/// Volumes that name no other object (upstream: `HasAPIObjectReference`).
const OWN_VOLUMES: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];
/// Volumes that name other objects, and what they name.
const VOLUMES: [(&str, &str); 7] = [
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
];
/// Sources of projected volumes, and what they name.
const SOURCES: [(&str, &str); 5] = [
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
];
/// Kinds of volumes that a CSI driver serves in place of Kubernetes' own code (upstream: `k8s.io/csi-translation-lib`).
const DRIVERS: [(&str, &str); 7] = [
    ("awsElasticBlockStore", "ebs.csi.aws.com"),
    ("azureDisk", "disk.csi.azure.com"),
    ("azureFile", "file.csi.azure.com"),
    ("cinder", "cinder.csi.openstack.org"),
    ("gcePersistentDisk", "pd.csi.storage.gke.io"),
    ("portworxVolume", "pxd.portworx.com"),
    ("vsphereVolume", "csi.vsphere.vmware.com"),
];
/// Members of the status of a Pod that other components set, and how refusals name them.
const CLAIMS_OF_STATUS: [(&str, &str); 3] = [
    ("resourceClaimStatuses", "resource claim statues"),
    ("extendedResourceClaimStatus", "extended resource claim status"),
    ("nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"),
];

/// What a kubelet asks for.
struct Asked<'v> {
    /// The name of its Node.
    node: &'v str,
    operation: Operation,
    object: Option<Value<'v>>,
    old: Option<Value<'v>>,
}

impl Call<'_> {
    /// Checks a request of a kubelet. Other users may do this.
    ///
    /// # Errors
    /// The request is not about the Node of the kubelet, or what runs there.
    pub(in crate::api) fn node_may<'v>(
        &'v self,
        operation: Operation,
        object: Option<Value<'v>>,
        old: Option<Value<'v>>,
        arena: &'v Bump,
    ) -> Result<(), Status> {
        if !self.has_plugin(Plugin::NodeRestriction) || !self.served.is_built_in() {
            return Ok(());
        }
        let Some(user) = self.request.identity.map(|identity| &*identity.user) else { return Ok(()) };
        let Some(node) = user.name.strip_prefix(USER).filter(|_| user.groups.iter().any(|group| group == GROUP)) else {
            return Ok(());
        };
        if node.is_empty() {
            let why = format!("could not determine node from user {}", GoQuoted(&user.name));
            return Err(self.forbidden(object.unwrap_or(Value::Null), &why));
        }
        let asked = Asked { node, operation, object, old };
        match (&*self.served.group, &*self.served.plural) {
            ("", "pods") => self.node_may_with_pod(&asked, arena),
            ("", "nodes") => self.node_may_with_node(&asked),
            ("", "persistentvolumeclaims") => self.node_may_with_claim(&asked),
            ("", "serviceaccounts") => self.node_may_with_account(&asked, arena),
            ("certificates.k8s.io", "podcertificaterequests") => self.node_may_with_pod_certificate(&asked, arena),
            ("certificates.k8s.io", "certificatesigningrequests") => self.node_may_with_certificate(&asked),
            ("coordination.k8s.io", "leases") => self.node_may_with_lease(&asked),
            ("storage.k8s.io", "csinodes") => self.node_may_with_drivers(&asked),
            ("resource.k8s.io", "resourceslices") => self.node_may_with_slice(&asked),
            _ => Ok(()),
        }
    }

    fn node_may_not<T>(&self, asked: &Asked<'_>, why: &str) -> Result<T, Status> {
        Err(self.forbidden(asked.object.unwrap_or(Value::Null), why))
    }

    /// Returns a stored object of the core group.
    ///
    /// # Errors
    /// It does not exist. As with upstream's listers, the error names the resource in singular.
    fn looked_up<'v>(
        &'v self,
        [kind, resource]: [&'static str; 2],
        namespace: &str,
        name: &str,
        arena: &'v Bump,
    ) -> Result<Value<'v>, Status> {
        let found = || {
            let served = self.api.of_kind("v1", kind)?;
            value_of(served, self.store.get(&Key::new(&served.id, namespace, name))?, arena)
        };
        found().ok_or_else(|| Status::not_found(GroupResource { group: "", resource }, name))
    }

    fn pod_of<'v>(&'v self, name: &str, arena: &'v Bump) -> Result<Value<'v>, Status> {
        self.looked_up(["Pod", "pod"], self.path.namespace, name, arena)
    }

    fn node_may_with_pod<'v>(&'v self, asked: &Asked<'v>, arena: &'v Bump) -> Result<(), Status> {
        let Asked { node, operation, object, old } = *asked;
        let quoted = GoQuoted(node);
        let unexpected = format!("unexpected operation {}", GoQuoted(operation.name()));
        match (self.path.subresource, operation) {
            ("", Operation::Create) => self.node_may_create(asked, arena),
            ("", Operation::Delete) => {
                if spec_text(self.pod_of(self.path.name, arena)?, "nodeName") == node {
                    return Ok(());
                }
                let why = format!("node {quoted} can only delete pods with spec.nodeName set to itself");
                self.node_may_not(asked, &why)
            }
            ("", _) => {
                let why = format!("{unexpected}, node {quoted} can only create and delete mirror pods");
                self.node_may_not(asked, &why)
            }
            ("status", Operation::Update) => {
                let (pod, old) = (object.unwrap_or(Value::Null), old.unwrap_or(Value::Null));
                if spec_text(old, "nodeName") != node {
                    let why =
                        format!("node {quoted} can only update pod status for pods with spec.nodeName set to itself");
                    return self.node_may_not(asked, &why);
                }
                if !is_same(metadata(pod).get("labels"), metadata(old).get("labels")) {
                    return self.node_may_not(asked, &format!("node {quoted} cannot update labels through pod status"));
                }
                for (key, what) in CLAIMS_OF_STATUS {
                    if !is_same(member(pod, &["status", key]), member(old, &["status", key])) {
                        return self.node_may_not(asked, &format!("node {quoted} cannot update {what}"));
                    }
                }
                Ok(())
            }
            ("status", _) => self.node_may_not(asked, &unexpected),
            ("eviction", Operation::Create) => {
                if spec_text(self.pod_of(self.path.name, arena)?, "nodeName") == node {
                    return Ok(());
                }
                let why = format!("node {node} can only evict pods with spec.nodeName set to itself");
                self.node_may_not(asked, &why)
            }
            ("eviction", _) => self.node_may_not(asked, &format!("unexpected operation {}", operation.name())),
            (other, _) => {
                let other = GoQuoted(other);
                let why = format!("unexpected pod subresource {other}, only 'status' and 'eviction' are allowed");
                self.node_may_not(asked, &why)
            }
        }
    }

    /// Checks a new Pod: the copy of one that runs without a server.
    fn node_may_create<'v>(&'v self, asked: &Asked<'v>, arena: &'v Bump) -> Result<(), Status> {
        let (node, pod) = (asked.node, asked.object.unwrap_or(Value::Null));
        let quoted = GoQuoted(node);
        let refused = |why: String| self.node_may_not(asked, &why);
        if metadata(pod).get("annotations").and_then(|all| all.get(MIRROR)).is_none() {
            let mirror = GoQuoted(MIRROR);
            return refused(format!(
                "pod does not have {mirror} annotation, node {quoted} can only create mirror pods"
            ));
        }
        if spec_text(pod, "nodeName") != node {
            return refused(format!("node {quoted} can only create pods with spec.nodeName set to itself"));
        }
        let owner = match items(metadata(pod), &["ownerReferences"]) {
            [owner] => *owner,
            [] => {
                let why = format!("node {quoted} can only create pods with an owner reference set to itself");
                return refused(why);
            }
            _ => {
                let why = format!("node {quoted} can only create pods with a single owner reference set to itself");
                return refused(why);
            }
        };
        if ["apiVersion", "kind", "name"].map(|key| text(owner, &[key])) != ["v1", "Node", node] {
            return refused(format!("node {quoted} can only create pods with an owner reference set to itself"));
        }
        if !is_true(owner, &["controller"]) {
            let why = format!("node {quoted} can only create pods with a controller owner reference set to itself");
            return refused(why);
        }
        if is_true(owner, &["blockOwnerDeletion"]) {
            return refused(format!("node {quoted} must not set blockOwnerDeletion on an owner reference"));
        }
        let stored = self.looked_up(["Node", "node"], "", node, arena)?;
        let (said, uid) = (text(owner, &["uid"]), meta_text(stored, "uid"));
        if said != uid {
            return refused(format!("node {node} UID mismatch: expected {said} got {uid}"));
        }
        match referenced(pod) {
            Ok(None) => Ok(()),
            Ok(Some(what)) => refused(format!("node {quoted} can not create pods that reference {what}")),
            Err(why) => refused(format!("error checking mirror pod for API references: {why}")),
        }
    }

    fn node_may_with_node(&self, asked: &Asked<'_>) -> Result<(), Status> {
        let (quoted, object) = (GoQuoted(asked.node), asked.object.unwrap_or(Value::Null));
        let refused = |why: String| self.node_may_not(asked, &why);
        let name = match self.path.name {
            "" => meta_text(object, "name"),
            name => name,
        };
        if name != asked.node {
            return refused(format!("node {quoted} is not allowed to modify node {}", GoQuoted(name)));
        }
        let source = member(object, &["spec", "configSource"]);
        let labels = |of: Value<'_>| forbidden_labels(metadata(of), metadata(object)).join(", ");
        match (asked.operation, asked.old) {
            (Operation::Create, _) => {
                if source.is_some() {
                    return refused(format!("node {quoted} is not allowed to create pods with a non-nil configSource"));
                }
                let labels = labels(Value::Null);
                if !labels.is_empty() {
                    return refused(format!("node {quoted} is not allowed to set the following labels: {labels}"));
                }
            }
            (Operation::Update, Some(old)) => {
                if source.is_some() && !is_same(source, member(old, &["spec", "configSource"])) {
                    let why =
                        format!("node {quoted} is not allowed to update configSource to a new non-nil configSource");
                    return refused(why);
                }
                if !is_same(member(object, &["spec", "taints"]), member(old, &["spec", "taints"])) {
                    return refused(format!("node {quoted} is not allowed to modify taints"));
                }
                let owners = &["ownerReferences"];
                if !is_same(member(metadata(object), owners), member(metadata(old), owners)) {
                    return refused(format!("node {quoted} is not allowed to modify ownerReferences"));
                }
                let labels = labels(old);
                if !labels.is_empty() {
                    return refused(format!("is not allowed to modify labels: {labels}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn node_may_with_claim(&self, asked: &Asked<'_>) -> Result<(), Status> {
        if self.path.subresource != "status" {
            return self.node_may_not(asked, "may only update PVC status");
        }
        let (Operation::Update, Some(object), Some(old)) = (asked.operation, asked.object, asked.old) else {
            let why = format!("unexpected operation {}", GoQuoted(asked.operation.name()));
            return self.node_may_not(asked, &why);
        };
        let arena = Bump::new();
        let (new, old) = (without_progress(object, &arena), without_progress(old, &arena));
        let mut changed = Vec::new();
        differences(Some(new), Some(old), "", &mut changed);
        if changed.is_empty() {
            return Ok(());
        }
        let (node, changed) = (GoQuoted(asked.node), changed.join(", "));
        let start = "is not allowed to update fields other than status.quantity and status.conditions";
        self.node_may_not(asked, &format!("node {node} {start}: {changed}"))
    }

    /// Checks a request for a token: the account's Pod must run on the node.
    fn node_may_with_account<'v>(&'v self, asked: &Asked<'v>, arena: &'v Bump) -> Result<(), Status> {
        if (self.path.subresource, asked.operation) != ("token", Operation::Create) {
            return Ok(());
        }
        let sent = asked.object.unwrap_or(Value::Null);
        let bound = |key: &str| text(sent, &["spec", "boundObjectRef", key]);
        let (name, uid) = (bound("name"), bound("uid"));
        if bound("apiVersion") != "v1" || bound("kind") != "Pod" || name.is_empty() {
            return self.node_may_not(asked, "node requested token not bound to a pod");
        }
        if uid.is_empty() {
            return self.node_may_not(asked, "node requested token with a pod binding without a uid");
        }
        let pod = self.pod_of(name, arena)?;
        if uid != meta_text(pod, "uid") {
            let why = format!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
                 been deleted and then recreated"
            );
            return self.node_may_not(asked, &why);
        }
        if spec_text(pod, "nodeName") != asked.node {
            let why = "node requested token bound to a pod scheduled on a different node";
            return self.node_may_not(asked, why);
        }
        // Upstream: the feature gate `ServiceAccountNodeAudienceRestriction`.
        if !self.release().since(33) {
            return Ok(());
        }
        let audience = match items(sent, &["spec", "audiences"]) {
            [] => "",
            [one] => one.as_str().unwrap_or_default(),
            _ => return self.node_may_not(asked, "node may only request 0 or 1 audiences"),
        };
        let quoted = GoQuoted(audience);
        match self.pod_has_audience(pod, audience, arena) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(why) => return self.node_may_not(asked, &format!("error validating audience {quoted}: {why}")),
        }
        if self.node_is_authorized("request-serviceaccounts-token-audience", "", audience, self.path.name) {
            return Ok(());
        }
        let user = self.request.identity.map(|identity| identity.user.name.as_str()).unwrap_or_default();
        let why = if self.release().since(37) {
            format!("{user} is not authorized to request tokens for audience {quoted}")
        } else {
            format!(
                "audience {quoted} not found in pod spec volume, {user} is not authorized to request tokens for this \
                 audience"
            )
        };
        self.node_may_not(asked, &why)
    }

    /// Returns whether permissions allow the user something that only this plugin asks for.
    fn node_is_authorized(&self, verb: &str, group: &str, resource: &str, name: &str) -> bool {
        let Some(identity) = self.request.identity else { return true };
        let access = Access {
            user: Arc::clone(&identity.user),
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: self.path.namespace.to_owned(),
            name: name.to_owned(),
            ..Access::default()
        };
        self.api.authorizer(self.store).decide(&access).allowed
    }

    /// Returns whether a volume of a Pod needs tokens with an audience (upstream: `podReferencesAudience`).
    fn pod_has_audience(&self, pod: Value<'_>, audience: &str, arena: &Bump) -> Result<bool, String> {
        let mut errors = Vec::new();
        for volume in spec_list(pod, "volumes") {
            self.goes_on().map_err(|status| status.message)?;
            let has = |source: &Value<'_>| {
                let token = member(*source, &["serviceAccountToken"]);
                token.is_some_and(|token| text(token, &["audience"]) == audience)
            };
            if items(*volume, &["projected", "sources"]).iter().any(has) {
                return Ok(true);
            }
            let driver = if member(*volume, &["ephemeral", "volumeClaimTemplate"]).is_some() {
                let name = format!("{}-{}", meta_text(pod, "name"), text(*volume, &["name"]));
                self.driver_of_claim(&name, arena)
            } else if let Some(claim) = member(*volume, &["persistentVolumeClaim"]) {
                self.driver_of_claim(text(claim, &["claimName"]), arena)
            } else {
                let own = member(*volume, &["csi"]).map(|csi| text(csi, &["driver"]));
                Ok(own.or_else(|| stand_in(*volume)).unwrap_or_default().to_owned())
            };
            match driver.and_then(|driver| self.driver_has_audience(&driver, audience, arena)) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(why) if errors.contains(&why) => {}
                Err(why) => errors.push(why),
            }
        }
        match &errors[..] {
            [] => Ok(false),
            [one] => Err(one.clone()),
            all => Err(format!("[{}]", all.join(", "))),
        }
    }

    fn driver_of_claim(&self, name: &str, arena: &Bump) -> Result<String, String> {
        let claim = ["PersistentVolumeClaim", "persistentvolumeclaim"];
        let claim = self.looked_up(claim, self.path.namespace, name, arena).map_err(|status| status.message)?;
        let volume = spec_text(claim, "volumeName");
        let volume = self.looked_up(["PersistentVolume", "persistentvolume"], "", volume, arena);
        let volume = volume.map_err(|status| status.message)?;
        let spec = volume.get("spec").unwrap_or(Value::Null);
        let own = member(spec, &["csi"]).map(|csi| text(csi, &["driver"]));
        Ok(own.or_else(|| stand_in(spec)).unwrap_or_default().to_owned())
    }

    fn driver_has_audience(&self, driver: &str, audience: &str, arena: &Bump) -> Result<bool, String> {
        if driver.is_empty() {
            return Ok(false);
        }
        let found = self.object_of("storage.k8s.io/v1", "CSIDriver", driver, arena);
        let of = GroupResource { group: "storage.k8s.io", resource: "csidriver" };
        let found = found.ok_or_else(|| Status::not_found(of, driver).message)?;
        Ok(spec_list(found, "tokenRequests").iter().any(|request| text(*request, &["audience"]) == audience))
    }

    fn node_may_with_lease(&self, asked: &Asked<'_>) -> Result<(), Status> {
        if self.path.namespace != LEASES {
            let why = format!("can only access leases in the {} system namespace", GoQuoted(LEASES));
            return self.node_may_not(asked, &why);
        }
        if self.is_of_node(asked) {
            return Ok(());
        }
        self.node_may_not(asked, "can only access node lease with the same name as the requesting node")
    }

    fn node_may_with_drivers(&self, asked: &Asked<'_>) -> Result<(), Status> {
        if !self.is_of_node(asked) {
            let why = "can only access CSINode with the same name as the requesting node";
            return self.node_may_not(asked, why);
        }
        if self.path.subresource == "status" && self.release().since(37) {
            return self.node_may_not(asked, "CSIVolumeHealth feature gate is disabled");
        }
        Ok(())
    }

    /// Returns whether the object has the name of the Node.
    fn is_of_node(&self, asked: &Asked<'_>) -> bool {
        match (asked.operation, asked.object) {
            (Operation::Create, Some(object)) => meta_text(object, "name") == asked.node,
            _ => self.path.name == asked.node,
        }
    }

    fn node_may_with_slice(&self, asked: &Asked<'_>) -> Result<(), Status> {
        let (slice, verb) = match asked.operation {
            Operation::Create => (asked.object, "create"),
            Operation::Delete => (asked.old, "delete"),
            _ => return Ok(()),
        };
        if slice.is_some_and(|slice| spec_text(slice, "nodeName") == asked.node) {
            return Ok(());
        }
        let why = format!("can only {verb} ResourceSlice with the same NodeName as the requesting node");
        self.node_may_not(asked, &why)
    }
}

/// Returns the CSI driver that serves a volume of one of these kinds.
fn stand_in(volume: Value<'_>) -> Option<&'static str> {
    DRIVERS.into_iter().find(|(key, _)| member(volume, &[key]).is_some()).map(|(_, driver)| driver)
}

/// Returns what a Pod names in the API (upstream: `HasAPIObjectReference`).
fn referenced(pod: Value<'_>) -> Result<Option<&'static str>, String> {
    if !spec_text(pod, "serviceAccountName").is_empty() {
        return Ok(Some("serviceaccounts"));
    }
    if has_secrets(pod) {
        return Ok(Some("secrets"));
    }
    if has_config_maps(pod) {
        return Ok(Some("configmaps"));
    }
    if !spec_list(pod, "resourceClaims").is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in spec_list(pod, "volumes") {
        let has = |key: &str| member(*volume, &[key]).is_some();
        if OWN_VOLUMES.into_iter().any(has) {
            continue;
        }
        if let Some((_, what)) = VOLUMES.into_iter().find(|(key, _)| has(key)) {
            return Ok(Some(what));
        }
        let name = GoQuoted(text(*volume, &["name"]));
        if !has("projected") {
            return Err(format!("unknown volume type for volume  {name}"));
        }
        for source in items(*volume, &["projected", "sources"]) {
            if let Some((_, what)) = SOURCES.into_iter().find(|(key, _)| member(*source, &[key]).is_some()) {
                return Ok(Some(what));
            }
            if member(*source, &["downwardAPI"]).is_none() {
                return Err(format!("unknown source for projected volume {name}"));
            }
        }
    }
    Ok(None)
}

fn has_config_maps(pod: Value<'_>) -> bool {
    let of_container = |container: &Value<'_>| {
        let from = |from: &Value<'_>| !text(*from, &["configMapRef", "name"]).is_empty();
        let env = |env: &Value<'_>| !text(*env, &["valueFrom", "configMapKeyRef", "name"]).is_empty();
        items(*container, &["envFrom"]).iter().any(from) || items(*container, &["env"]).iter().any(env)
    };
    let of_volume = |volume: &Value<'_>| {
        let source = |source: &Value<'_>| !text(*source, &["configMap", "name"]).is_empty();
        source(volume) || items(*volume, &["projected", "sources"]).iter().any(source)
    };
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.iter().flat_map(|list| spec_list(pod, list)).any(of_container)
        || spec_list(pod, "volumes").iter().any(of_volume)
}

/// Returns the labels that a kubelet may not change, of those that differ.
fn forbidden_labels<'v>(old: Value<'v>, new: Value<'v>) -> Vec<&'v str> {
    let labels = |of: Value<'v>| of.get("labels").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    let (old, new) = (labels(old), labels(new));
    let keys: BTreeSet<&'v str> = old.entries().iter().chain(new.entries()).map(|(key, _)| *key).collect();
    keys.into_iter().filter(|key| old.get(key) != new.get(key) && is_forbidden(key)).collect()
}

fn is_forbidden(label: &str) -> bool {
    let namespace = label.split_once('/').map_or("", |(namespace, _)| namespace);
    let is_in =
        |parent: &str| namespace.strip_suffix(parent).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    let is_known = LABELS.contains(&label) || NAMESPACES.into_iter().any(is_in);
    is_in(RESTRICTED) || ((is_in("kubernetes.io") || is_in("k8s.io")) && !is_known)
}

/// Returns a claim without what a kubelet may change (upstream: `admitPVCStatus`).
fn without_progress<'v>(claim: Value<'v>, arena: &'v Bump) -> Value<'v> {
    let claim = with_meta(with_meta(claim, "resourceVersion", None, arena), "managedFields", None, arena);
    let Some(mut status) = member(claim, &["status"]) else { return claim };
    for key in ["allocatedResourceStatuses", "allocatedResources", "capacity", "conditions"] {
        status = crate::value::with(status, key, None, arena);
    }
    crate::value::with(claim, "status", Some(status), arena)
}

/// Returns whether a value is null or has no members.
fn is_empty(value: Option<Value<'_>>) -> bool {
    value.is_none_or(|value| match value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.entries().iter().all(|(_, value)| is_empty(Some(*value))),
        _ => false,
    })
}

/// Compares values. Nothing, null and empty collections are the same (upstream: `apiequality.Semantic`).
fn is_same(a: Option<Value<'_>>, b: Option<Value<'_>>) -> bool {
    let mut changed = Vec::new();
    differences(a, b, "", &mut changed);
    changed.is_empty()
}

/// Adds the paths of members that differ.
fn differences(a: Option<Value<'_>>, b: Option<Value<'_>>, path: &str, out: &mut Vec<String>) {
    match (a, b) {
        (Some(Value::Map(a)), Some(Value::Map(b))) => {
            let keys: BTreeSet<&str> = a.entries().iter().chain(b.entries()).map(|(key, _)| *key).collect();
            for key in keys {
                differences(a.get(key), b.get(key), &format!("{path}.{key}"), out);
            }
        }
        (a, b) if a == b || (is_empty(a) && is_empty(b)) => {}
        _ => out.push(path.to_owned()),
    }
}
