//! The plugin `ResourceQuota`: what objects use is counted against the quotas of their namespace (upstream:
//! `pkg/admission/plugin/resourcequota` of `k8s.io/apiserver`).
//!
//! As on a server, a quota is enforced as soon as its status has `hard` and `used`, which a controller sets. The plugin
//! adds what a request uses to `used`; the controller subtracts it later.

mod usage;

use super::{Call, Plugin};
use crate::status::Status;
use crate::store::{Change, Key, Then as Becomes};
use crate::value::{meta_text, with};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use usage::{Measure, Resources, add, subtract};

/// Resources that no quota counts (upstream: `DefaultIgnoredResources`).
const IGNORED: [(&str, &str); 3] = [("", "bindings"), ("", "events"), ("events.k8s.io", "events")];

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
        if !self.has_plugin(Plugin::ResourceQuota)
            || namespace.is_empty()
            || !served.namespaced
            || IGNORED.contains(&(&*served.group, &*served.plural))
        {
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
                self.keep_usage(quota.object, &used, arena)?;
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

    /// Adds the change of a quota's status to those of the request.
    fn keep_usage<'v>(&'v self, quota: Value<'v>, used: &Resources, arena: &'v Bump) -> Result<(), Status> {
        let Some(served) = self.api.of_kind("v1", "ResourceQuota") else { return Ok(()) };
        let key = Key::new(&served.id, self.path.namespace, meta_text(quota, "name"));
        let Some(stored) = self.store.get(&key) else { return Ok(()) };
        let text = |text: String| -> &'v str { arena.alloc_str(&text) };
        let entries = used.iter().map(|(name, value)| (text(name.clone()), Value::String(text(value.to_string()))));
        let entries = Map::from_entries(entries.collect(), arena);
        let status = quota.get("status").unwrap_or(Value::Map(Map::EMPTY));
        let status = with(status, "used", Some(Value::Map(entries)), arena);
        let draft = served.storable(with(quota, "status", Some(status), arena), arena)?;
        let change = Change { key, expected: Some(stored.revision), then: Becomes::Stored(draft) };
        self.quotas.borrow_mut().push(change);
        Ok(())
    }
}
