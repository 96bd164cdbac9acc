//! The plugin `ResourceQuota`: what objects use is counted against the quotas of their namespace (upstream:
//! `pkg/admission/plugin/resourcequota` of `k8s.io/apiserver`).
//!
//! As on a server, a quota is enforced as soon as its status has `hard` and `used`, which a controller sets. The plugin
//! adds what a request uses to `used`. What goes is subtracted with the same request; on a server, a controller does this
//! later.

mod usage;

use super::{Call, Plugin};
use crate::status::Status;
use crate::store::{Change, Key, Then as Becomes};
use crate::value::{self, meta_text, with};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use std::collections::{BTreeMap, BTreeSet};
use usage::{Measure, Resources, add, subtract};

/// Resources that no quota counts (upstream: `DefaultIgnoredResources`).
const IGNORED: [(&str, &str); 3] = [("", "bindings"), ("", "events"), ("events.k8s.io", "events")];

/// Changes of quotas that a request makes, by quota.
pub(in crate::api) type Counted = BTreeMap<Key, Usage>;

/// The changed usage of a quota.
#[derive(Debug)]
pub(in crate::api) struct Usage {
    used: Resources,
    change: Change,
}

/// A quota that applies to a request.
struct Quota<'v> {
    object: Value<'v>,
    hard: Resources,
    used: Resources,
    /// What the request adds.
    delta: Resources,
}

/// An object that is written, and what it uses; the same of the stored one.
struct Written<'v> {
    object: Value<'v>,
    usage: Resources,
    old: Option<(Value<'v>, Resources)>,
}

impl Call<'_> {
    /// Counts what a write uses, and keeps the changes of the quotas for its end (upstream: `CheckRequest`).
    ///
    /// # Errors
    /// A quota is exceeded, its usage is unknown, or the object lacks what a quota counts.
    pub(in crate::api) fn charge<'v>(
        &'v self,
        object: Value<'v>,
        old: Option<Value<'v>>,
        is_dry_run: bool,
        arena: &'v Bump,
    ) -> Result<(), Status> {
        let (served, namespace) = (self.served, self.path.namespace);
        if namespace.is_empty() || !self.is_counted() {
            return Ok(());
        }
        let measure = Measure::of(&served.group, &served.plural);
        if !measure.handles(self.path.subresource, object, old) {
            return Ok(());
        }
        // A Pod may have many containers, and a namespace many quotas.
        let written = Written { object, usage: measure.usage(object), old: old.map(|old| (old, measure.usage(old))) };
        let mut quotas = Vec::new();
        for quota in self.objects_of("v1", "ResourceQuota", namespace, arena)? {
            self.goes_on()?;
            if let Some(quota) = self.applied(quota, &measure, &written)? {
                quotas.push(quota);
            }
        }
        for quota in quotas {
            let requested: Resources =
                quota.delta.into_iter().filter(|(name, _)| quota.hard.contains_key(name)).collect();
            if requested.is_empty() {
                continue;
            }
            let used = add(&quota.used, &requested);
            let is_over = |name: &&String| match (used.get(*name), quota.hard.get(*name)) {
                (Some(used), Some(hard)) => used.compare(hard).is_gt(),
                _ => false,
            };
            let over: Vec<&String> = requested.keys().filter(is_over).collect();
            if !over.is_empty() && self.path.subresource != "status" {
                let shown = |all: &Resources| {
                    let shown = over.iter().filter_map(|name| Some(format!("{name}={}", all.get(*name)?)));
                    shown.collect::<Vec<_>>().join(",")
                };
                return Err(self.forbidden(
                    object,
                    &format!(
                        "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                        meta_text(quota.object, "name"),
                        shown(&requested),
                        shown(&quota.used),
                        shown(&quota.hard),
                    ),
                ));
            }
            if !is_dry_run {
                self.keep_usage(namespace, quota.object, used, arena)?;
            }
        }
        Ok(())
    }

    /// Returns a quota with what the request adds, if it applies to the object.
    fn applied<'v>(
        &self,
        quota: Value<'v>,
        measure: &Measure,
        written: &Written<'_>,
    ) -> Result<Option<Quota<'v>>, Status> {
        let Written { object, usage, old } = written;
        let object = *object;
        let list = |key: &str| Resources::from_iter(usage::quantities(quota.get("status"), key));
        let (hard, used) = (list("hard"), list("used"));
        let restricted: Vec<&str> = hard.keys().map(String::as_str).filter(|name| measure.counts(name)).collect();
        if restricted.is_empty() || !measure.is_in_scope(quota, object) {
            return Ok(None);
        }
        let name = meta_text(quota, "name");
        if let Some(why) = measure.missing(&restricted, object) {
            return Err(self.forbidden(object, &format!("failed quota: {name}: {why}")));
        }
        if restricted.iter().any(|resource| !used.contains_key(*resource)) {
            let resources = restricted.join(",");
            return Err(self.forbidden(object, &format!("status unknown for quota: {name}, resources: {resources}")));
        }
        let negative: Vec<&str> =
            usage.iter().filter(|(_, value)| value.sign() < 0).map(|(name, _)| name.as_str()).collect();
        if !negative.is_empty() {
            let resources = negative.join(",");
            return Err(self.forbidden(object, &format!("quota usage is negative for resource(s): {resources}")));
        }
        let mut delta = match old {
            Some((old, before)) if measure.is_in_scope(quota, *old) => subtract(usage, before),
            _ => usage.clone(),
        };
        delta.retain(|_, value| value.sign() != 0);
        Ok(Some(Quota { object: quota, hard, used, delta }))
    }

    /// Returns whether quotas count the objects of the request.
    fn is_counted(&self) -> bool {
        let served = self.served;
        self.has_plugin(Plugin::ResourceQuota)
            && served.namespaced
            && !IGNORED.contains(&(&*served.group, &*served.plural))
    }

    /// Keeps the change of a quota's status for the end of the request.
    fn keep_usage<'v>(
        &'v self,
        namespace: &str,
        quota: Value<'v>,
        used: Resources,
        arena: &'v Bump,
    ) -> Result<(), Status> {
        let Some(served) = self.api.of_kind("v1", "ResourceQuota") else { return Ok(()) };
        let key = Key::new(&served.id, namespace, meta_text(quota, "name"));
        let Some(stored) = self.store.get(&key) else { return Ok(()) };
        let text = |text: String| -> &'v str { arena.alloc_str(&text) };
        let entries = used.iter().map(|(name, value)| (text(name.clone()), Value::String(text(value.to_string()))));
        let entries = Map::from_entries(entries.collect(), arena);
        let status = quota.get("status").unwrap_or(Value::Map(Map::EMPTY));
        let status = with(status, "used", Some(Value::Map(entries)), arena);
        let draft = served.storable(with(quota, "status", Some(status), arena), arena)?;
        let change = Change { key: key.clone(), expected: Some(stored.revision), then: Becomes::Stored(draft) };
        self.quotas.borrow_mut().insert(key, Usage { used, change });
        Ok(())
    }

    /// Returns the changes of a request with those of quotas at the end: they no longer count what objects used that go
    /// or need less (upstream: the controller of quotas, `replenishQuota`).
    ///
    /// # Errors
    /// There are too many quotas.
    pub(in crate::api) fn with_quotas(&self, mut changes: Vec<Change>) -> Result<Vec<Change>, Status> {
        if self.is_counted() {
            let is_object = |change: &&Change| *change.key.resource == *self.served.id;
            let namespaces: BTreeSet<&str> =
                changes.iter().filter(is_object).map(|change| change.key.namespace()).collect();
            for namespace in namespaces {
                let of_namespace = |change: &&Change| is_object(change) && change.key.namespace() == namespace;
                self.uncount(namespace, &changes.iter().filter(of_namespace).collect::<Vec<_>>())?;
            }
        }
        changes.extend(self.quotas.take().into_values().map(|usage| usage.change));
        Ok(changes)
    }

    /// Subtracts what the objects of a namespace no longer use.
    fn uncount(&self, namespace: &str, changes: &[&Change]) -> Result<(), Status> {
        let (served, arena) = (self.served, Bump::new());
        let measure = Measure::of(&served.group, &served.plural);
        let gone: BTreeSet<&str> = changes.iter().filter(|one| one.is_deletion()).map(|one| one.key.name()).collect();
        let mut quotas = Vec::new();
        for quota in self.objects_of("v1", "ResourceQuota", namespace, &arena)? {
            let name = meta_text(quota, "name");
            let is_gone = served.kind == "ResourceQuota" && gone.contains(name);
            let list = |key: &str| Resources::from_iter(usage::quantities(quota.get("status"), key));
            let hard = list("hard");
            if !is_gone && hard.keys().any(|resource| measure.counts(resource)) {
                let id = self.api.of_kind("v1", "ResourceQuota").map(|quotas| Key::new(&quotas.id, namespace, name));
                let known = self.quotas.borrow();
                let pending = id.and_then(|key| known.get(&key)).map(|usage| usage.used.clone());
                quotas.push((quota, hard, pending.unwrap_or_else(|| list("used")), false));
            }
        }
        if quotas.is_empty() {
            return Ok(());
        }
        for change in changes {
            self.goes_on()?;
            let memory = Bump::new();
            let Some(stored) = self.store.get(&change.key) else { continue };
            // Other objects count as one, whatever they have.
            let is_read = !matches!(measure, Measure::Count(_));
            let before = if is_read { super::value_of(served, stored, &memory) } else { Some(Value::Null) };
            let Some(before) = before else { continue };
            let (text, mut tape) = (change.then.text(), Tape::new());
            let after = match &text {
                Some(text) if is_read => Some(value::parsed(text, &mut tape, &memory).map_err(Status::internal)?),
                Some(_) => Some(Value::Null),
                None => None,
            };
            for (quota, hard, used, is_changed) in &mut quotas {
                let uses = |object: Value<'_>| {
                    if measure.is_in_scope(*quota, object) { measure.usage(object) } else { Resources::new() }
                };
                for (name, less) in subtract(&uses(before), &after.map(uses).unwrap_or_default()) {
                    if let Some(sum) = used.get_mut(&name).filter(|_| hard.contains_key(&name)) {
                        *sum = usage::without(sum, &less);
                        *is_changed = true;
                    }
                }
            }
        }
        for (quota, _, used, _) in quotas.into_iter().filter(|(.., is_changed)| *is_changed) {
            self.keep_usage(namespace, quota, used, &arena)?;
        }
        Ok(())
    }
}
