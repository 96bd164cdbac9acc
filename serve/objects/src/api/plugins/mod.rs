//! Admission plugins of kube-apiserver that need other objects: classes, limits, namespaces (upstream:
//! `plugin/pkg/admission`).
//!
//! As on a server, a plugin first changes the object of a request, before mutating policies and webhooks do, and then
//! checks the object as it will be stored, before validating policies.

mod accounts;
mod limits;
mod nodes;
mod part;
mod pods;
mod quotas;
mod security;
mod storage;

pub(super) use accounts::MIRROR;
pub(super) use quotas::Counted;
pub use security::pod_security;

use super::Call;
use super::admission::value_of;
use super::pods::EPHEMERAL;
use crate::status::Status;
use crate::store::Key;
use crate::value::{meta_text, metadata};
use kubeshape_policy::Operation;
use kubeshape_smd::{Bump, Value};
use std::cmp::Reverse;

/// An admission plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plugin {
    /// Objects are created only in namespaces that exist and are not being deleted.
    NamespaceLifecycle,
    /// Pods and claims follow the LimitRanges of their namespace, which also have defaults for containers.
    LimitRanger,
    /// Pods run as a ServiceAccount of their namespace, and mount a volume with its token.
    ServiceAccount,
    /// Kubelets change only their own Node, and what runs on it.
    NodeRestriction,
    /// New Nodes have the taint `node.kubernetes.io/not-ready`.
    TaintNodesByCondition,
    /// Labels of namespaces say what Pods may do.
    PodSecurity,
    /// Pods get the priority of their PriorityClass. At most one class is the default.
    Priority,
    /// Pods tolerate nodes that are not ready or unreachable for five minutes.
    DefaultTolerationSeconds,
    /// Claims get the default StorageClass.
    DefaultStorageClass,
    /// Volumes, claims and VolumeAttributesClasses get a finalizer that protects them while they are in use.
    StorageObjectInUseProtection,
    /// Claims grow only if they are bound and their StorageClass allows it.
    PersistentVolumeClaimResize,
    /// Pods get the overhead, the node selector and the tolerations of their RuntimeClass.
    RuntimeClass,
    /// Ingresses get the default IngressClass.
    DefaultIngressClass,
    /// What objects use is counted against the quotas of their namespace.
    ResourceQuota,
}

impl Plugin {
    /// All plugins, in the order in which a server calls them (upstream: `AllOrderedPlugins`).
    pub const ALL: [Plugin; 14] = [
        Plugin::NamespaceLifecycle,
        Plugin::LimitRanger,
        Plugin::ServiceAccount,
        Plugin::NodeRestriction,
        Plugin::TaintNodesByCondition,
        Plugin::PodSecurity,
        Plugin::Priority,
        Plugin::DefaultTolerationSeconds,
        Plugin::DefaultStorageClass,
        Plugin::StorageObjectInUseProtection,
        Plugin::PersistentVolumeClaimResize,
        Plugin::RuntimeClass,
        Plugin::DefaultIngressClass,
        Plugin::ResourceQuota,
    ];

    /// Returns the plugin of a name.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::Plugin;
    /// assert_eq!(Plugin::named("Priority"), Some(Plugin::Priority));
    /// assert!(Plugin::ALL.iter().all(|plugin| Plugin::named(&plugin.name()) == Some(*plugin)));
    /// ```
    pub fn named(name: &str) -> Option<Plugin> {
        Plugin::ALL.into_iter().find(|plugin| plugin.name() == name)
    }

    /// Returns whether the plugin is on without flags (upstream: `DefaultOffAdmissionPlugins`).
    pub fn is_default(self) -> bool {
        self != Plugin::NodeRestriction
    }

    /// Returns the name that the flags of kube-apiserver use.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// The maximum number of classes or LimitRanges that a request reads, and (below) of their bytes of JSON together.
const MAX_OBJECTS: usize = 1_000;
const MAX_BYTES: usize = 4 << 20;

impl Call<'_> {
    /// Returns whether a plugin is on.
    pub(super) fn has_plugin(&self, plugin: Plugin) -> bool {
        self.api.plugins.contains(&plugin)
    }

    /// Returns the object of a write as plugins change it.
    ///
    /// # Errors
    /// A plugin refuses the request.
    pub(super) fn plugged<'v>(
        &'v self,
        object: Value<'v>,
        old: Option<Value<'v>>,
        arena: &'v Bump,
    ) -> Result<Value<'v>, Status> {
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        if !self.is_plugged() {
            return self.node_may(operation, Some(object), old, arena).map(|()| object);
        }
        let is_new = old.is_none();
        let mut object = object;
        for plugin in Plugin::ALL.into_iter().filter(|plugin| self.has_plugin(*plugin)) {
            object = match (plugin, &*self.served.kind) {
                (Plugin::LimitRanger, "Pod") if is_new => self.with_default_resources(object, arena)?,
                (Plugin::ServiceAccount, "Pod") if is_new => self.with_account(object, arena)?,
                (Plugin::NodeRestriction, _) => self.node_may(operation, Some(object), old, arena).map(|()| object)?,
                (Plugin::TaintNodesByCondition, "Node") if is_new => storage::tainted(object, arena),
                (Plugin::Priority, "Pod") => match old {
                    None => self.with_priority(object, arena)?,
                    Some(old) => pods::with_old_priority(object, old, arena),
                },
                (Plugin::DefaultTolerationSeconds, "Pod") => pods::with_tolerations(object, arena),
                (Plugin::DefaultStorageClass, "PersistentVolumeClaim") if is_new => {
                    self.with_storage_class(object, arena)?
                }
                (Plugin::StorageObjectInUseProtection, kind) if is_new => storage::protected(object, kind, arena),
                (Plugin::RuntimeClass, "Pod") if is_new => self.with_runtime_class(object, arena)?,
                (Plugin::DefaultIngressClass, "Ingress") if is_new => self.with_ingress_class(object, arena)?,
                _ => object,
            };
        }
        Ok(object)
    }

    /// Checks the object that a write stores.
    ///
    /// # Errors
    /// A plugin refuses the request.
    pub(super) fn plugins_allow(&self, object: Value<'_>, old: Option<Value<'_>>, arena: &Bump) -> Result<(), Status> {
        if !self.is_plugged() {
            // Levels of namespaces are for these containers, too.
            let is_judged = self.path.subresource == EPHEMERAL && self.has_plugin(Plugin::PodSecurity);
            return if is_judged { self.is_secure(object, old, arena) } else { Ok(()) };
        }
        for plugin in Plugin::ALL.into_iter().filter(|plugin| self.has_plugin(*plugin)) {
            match (plugin, &*self.served.kind) {
                (Plugin::LimitRanger, "Pod" | "PersistentVolumeClaim") => self.fits_limits(object, old, arena)?,
                (Plugin::ServiceAccount, "Pod") if old.is_none() => self.has_account(object, arena)?,
                (Plugin::PodSecurity, _) => self.is_secure(object, old, arena)?,
                (Plugin::Priority, "PriorityClass") => self.is_only_default(object, old.is_none(), arena)?,
                (Plugin::PersistentVolumeClaimResize, "PersistentVolumeClaim") => {
                    if let Some(old) = old {
                        self.may_grow(object, old, arena)?;
                    }
                }
                (Plugin::RuntimeClass, "Pod") if old.is_none() => self.has_overhead_of_class(object, arena)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns whether plugins look at the object of the request.
    fn is_plugged(&self) -> bool {
        !self.api.plugins.is_empty() && self.served.is_built_in() && self.path.subresource.is_empty()
    }

    /// A refusal (upstream: `admission.NewForbidden`).
    fn forbidden(&self, object: Value<'_>, why: &str) -> Status {
        let names = [self.path.name, meta_text(object, "name"), meta_text(object, "generateName"), "Unknown"];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        Status::forbidden(self.group_resource(), name, why)
    }

    /// Returns a stored object without a namespace.
    fn object_of<'v>(&'v self, api_version: &str, kind: &str, name: &str, arena: &'v Bump) -> Option<Value<'v>> {
        let served = self.api.of_kind(api_version, kind)?;
        value_of(served, self.store.get(&Key::new(&served.id, "", name))?, arena)
    }

    /// Returns the stored objects of a kind, by name.
    ///
    /// # Errors
    /// There are too many.
    fn objects_of<'v>(
        &'v self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        arena: &'v Bump,
    ) -> Result<Vec<Value<'v>>, Status> {
        let Some(served) = self.api.of_kind(api_version, kind) else { return Ok(Vec::new()) };
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        let (mut found, mut bytes) = (Vec::new(), 0_usize);
        for (_, stored) in self.store.list(&served.id, &prefix, "") {
            bytes = bytes.saturating_add(stored.as_json().len());
            if found.len() == MAX_OBJECTS || bytes > MAX_BYTES {
                return Err(Status::internal(format!(
                    "admission looks at no more than {MAX_OBJECTS} objects of the kind {kind} with {MAX_BYTES} bytes"
                )));
            }
            found.extend(value_of(served, stored, arena));
        }
        Ok(found)
    }

    /// Returns the newest of the classes that an annotation makes the default; of equally old ones, the first by name.
    fn default_class<'v>(
        &'v self,
        [api_version, kind]: [&str; 2],
        annotations: &[&str],
        arena: &'v Bump,
    ) -> Result<Option<&'v str>, Status> {
        let is_default = |class: &Value<'v>| {
            let all = metadata(*class).get("annotations").unwrap_or(Value::Null);
            annotations.iter().any(|key| all.get(key) == Some(Value::String("true")))
        };
        let classes = self.objects_of(api_version, kind, "", arena)?.into_iter().filter(is_default);
        let age = |class: &Value<'v>| (Reverse(meta_text(*class, "creationTimestamp")), meta_text(*class, "name"));
        Ok(classes.min_by_key(age).map(|class| meta_text(class, "name")))
    }
}

/// Returns a string of an object's `spec`; empty if missing.
fn spec_text<'v>(object: Value<'v>, key: &str) -> &'v str {
    object.get("spec").and_then(|spec| spec.get(key)?.as_str()).unwrap_or_default()
}

/// Returns the object with a member of its `spec`.
fn with_spec<'v>(object: Value<'v>, key: &'v str, member: Option<Value<'v>>, arena: &'v Bump) -> Value<'v> {
    let spec = object.get("spec").unwrap_or(Value::Map(kubeshape_smd::value::Map::EMPTY));
    crate::value::with(object, "spec", Some(crate::value::with(spec, key, member, arena)), arena)
}

/// Returns the items of a list in an object's `spec`.
fn spec_list<'v>(object: Value<'v>, key: &str) -> &'v [Value<'v>] {
    object.get("spec").and_then(|spec| spec.get(key)?.as_list()).unwrap_or_default()
}

/// Returns a map with these members.
fn map<'v, const N: usize>(members: [(&'v str, Value<'v>); N], arena: &'v Bump) -> Value<'v> {
    Value::Map(kubeshape_smd::value::Map::from_entries(members.into(), arena))
}

/// Returns a list with an item at its end.
fn and<'v>(items: &[Value<'v>], item: Value<'v>, arena: &'v Bump) -> Value<'v> {
    let all: Vec<Value<'v>> = items.iter().copied().chain(Some(item)).collect();
    Value::List(arena.alloc_slice_copy(&all))
}
