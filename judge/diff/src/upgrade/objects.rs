//! Reports the effect on given objects.

use super::side::shortened;
use kubeshape_schema::Bump;
use kubeshape_structural::Crd;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_value::{ToValue, Value};
use serde::Serialize;
use std::collections::BTreeMap;

/// Most versions in which an object is checked.
const VERSIONS: usize = 16;
/// Most errors and fields to report per object and version.
const REPORTED: usize = 10;

/// The effect on an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// Its index in [`Cluster::objects`](super::Cluster::objects).
    pub index: usize,
    /// `NAMESPACE/NAME`, or the name alone.
    pub name: String,
    /// The version in which it was given.
    pub version: String,
    /// Whether the new definition does not serve that version: requests with the object as given fail.
    pub is_unserved: bool,
    /// What the new definition does with it: in the storage version, then in the other served versions. Versions that
    /// accept it unchanged are left out.
    pub seen: Vec<Seen>,
}

/// What the new definition does with an object in one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// The version.
    pub version: String,
    /// Lost fields: those that the storage version lacks, or with a webhook this version.
    pub lost: Vec<String>,
    /// The server's errors on creation.
    pub errors: Vec<String>,
    /// Whether a server accepts the stored object as long as it does not change (KEP-4008).
    pub is_ratcheted: bool,
}

impl ObjectReport {
    /// Returns whether the object does not survive: it loses fields or can no longer be written.
    pub fn breaks(&self) -> bool {
        self.seen.iter().any(|seen| !seen.lost.is_empty() || seen.is_refused())
    }

    /// Returns whether the object cannot be written without changes.
    pub fn is_refused(&self) -> bool {
        self.seen.iter().any(Seen::is_refused)
    }
}

impl Seen {
    /// Returns whether a server rejects even an update that changes nothing.
    pub fn is_refused(&self) -> bool {
        !self.errors.is_empty() && !self.is_ratcheted
    }
}

/// Two definitions, prepared for objects.
pub(super) struct Judge<'a> {
    old: BTreeMap<&'a str, Resource<'a>>,
    new: BTreeMap<&'a str, Resource<'a>>,
    /// The versions of the new definition in which objects are checked, the storage version first.
    looked_at: Vec<&'a str>,
    served: Vec<&'a str>,
    kind: &'a str,
    group: &'a str,
    /// The storage versions of the old and of the new definition.
    storages: (&'a str, &'a str),
    stored: &'a [String],
    /// Whether a webhook converts.
    webhook: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        old: &Crd<'a>,
        new: &Crd<'a>,
        stored: &'a [String],
        webhook: bool,
        release: Release,
        arena: &'a Bump,
    ) -> Judge<'a> {
        let prepared = |crd: &Crd<'a>| {
            let resources = Resource::of_versions(crd, release, arena);
            // Of two versions with one name, the first is used.
            let all = crd.versions.iter().map(|version| version.name).zip(resources);
            all.rev().collect::<BTreeMap<_, _>>()
        };
        let storage = |crd: &Crd<'a>| {
            crd.versions.iter().find(|version| version.storage).map(|version| version.name).unwrap_or_default()
        };
        let served: Vec<&str> =
            new.versions.iter().filter(|version| version.served).map(|version| version.name).collect();
        let storages = (storage(old), storage(new));
        let others = served.iter().copied().filter(|version| *version != storages.1);
        let looked_at = [storages.1].into_iter().chain(others).take(VERSIONS).collect();
        Judge {
            old: prepared(old),
            new: prepared(new),
            looked_at,
            served,
            kind: old.names.kind,
            group: old.group,
            storages,
            stored,
            webhook,
        }
    }

    /// Returns the effect on an object, or `None` if it is of another kind or unaffected.
    pub(super) fn report(&self, index: usize, object: &serde_json::Value) -> Option<ObjectReport> {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let (group, given) = object["apiVersion"].as_str().unwrap_or_default().split_once('/')?;
        if group != self.group || object["kind"].as_str() != Some(self.kind) {
            return None;
        }
        let name = match text("namespace") {
            "" => text("name").to_owned(),
            namespace => format!("{namespace}/{}", text("name")),
        };
        let mut seen = Vec::new();
        if self.old.contains_key(given) {
            seen.extend(self.looked_at.iter().filter_map(|version| self.see(object, given, version)));
        }
        let is_unserved = !self.served.contains(&given);
        let report = ObjectReport { index, name, version: given.to_owned(), is_unserved, seen };
        (report.is_unserved || !report.seen.is_empty()).then_some(report)
    }

    /// Returns what a version of the new definition does with an object, or `None` if it accepts it unchanged or a
    /// webhook decides.
    fn see(&self, object: &serde_json::Value, given: &str, version: &str) -> Option<Seen> {
        let arena = Bump::new();
        let mut read = Reading { value: object.to_value(&arena), lost: Vec::new(), group: self.group, arena: &arena };
        let result = (|| {
            // The stored form: fields unknown to the old definition were never stored.
            read.through(given, self.old.get(given))?;
            read.lost.clear();
            let is_stored = self.stored.iter().any(|stored| stored == given);
            let stored = if is_stored { given } else { self.storages.0 };
            if stored != given && !self.webhook {
                read.through(stored, self.old.get(stored))?;
                read.lost.clear();
            }
            if !self.webhook {
                read.through(self.storages.1, self.new.get(self.storages.1))?;
            } else if version != given {
                return Ok(None);
            }
            if self.webhook {
                read.through(version, self.new.get(version))?;
            } else if version != self.storages.1 {
                read.through(version, self.new.get(version))?;
                // Fields that a version does not show remain stored.
                read.lost.clear();
            }
            Ok(self.new.get(version))
        })();
        let mut seen = Seen { version: version.to_owned(), lost: Vec::new(), errors: Vec::new(), is_ratcheted: false };
        match result {
            Err(error) => seen.errors.push(shortened(error)),
            Ok(None) => return None,
            Ok(Some(resource)) => {
                let errors = resource.create(read.value, &arena).errors;
                seen.is_ratcheted =
                    !errors.is_empty() && resource.update(read.value, read.value, &arena).errors.is_empty();
                seen.errors.extend(errors.iter().take(REPORTED).map(|error| shortened(error.to_string())));
            }
        }
        seen.lost.extend(read.lost.into_iter().take(REPORTED).map(shortened));
        (!seen.lost.is_empty() || !seen.errors.is_empty()).then_some(seen)
    }
}

/// An object while it is converted through versions.
struct Reading<'o> {
    value: Value<'o>,
    /// Fields that were dropped.
    lost: Vec<String>,
    group: &'o str,
    arena: &'o Bump,
}

impl<'o> Reading<'o> {
    /// Converts to a version and decodes there.
    fn through(&mut self, version: &str, resource: Option<&'o Resource<'_>>) -> Result<(), String> {
        let Some(resource) = resource else { return Err(format!("unknown version {version}")) };
        if let Value::Map(map) = self.value {
            let api_version = self.arena.alloc_str(&format!("{}/{version}", self.group));
            self.value = Value::Map(map.with("apiVersion", Some(Value::String(api_version)), self.arena));
        }
        let decoded = resource.decode(self.value, self.arena)?;
        self.value = decoded.value;
        self.lost.extend(decoded.unknown.into_iter().filter(|path| !path.starts_with("metadata.")));
        Ok(())
    }
}
