//! Lifecycle changes of fields and kinds between two releases.

use crate::fields::{self, Field};
use crate::kinds::{self, Declared};
use crate::types::TypePlace;
use crate::{Features, Json, Options, Stage, Types, Version};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The change of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new, and not generally available.
    Added,
    /// It is more stable than before; generally available if it no longer has a stage.
    Promoted,
    /// It is less stable than before.
    Demoted,
    /// It is now deprecated.
    Deprecated,
    /// It is no longer deprecated.
    Restored,
    /// It now has a tag, and had none before.
    Tagged,
    /// Another gate guards it.
    Regated,
    /// It was removed.
    Removed,
}

impl ChangeKind {
    /// Returns the name of the change.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Promoted => "promoted",
            ChangeKind::Demoted => "demoted",
            ChangeKind::Deprecated => "deprecated",
            ChangeKind::Restored => "restored",
            ChangeKind::Tagged => "tagged",
            ChangeKind::Regated => "regated",
            ChangeKind::Removed => "removed",
        }
    }
}

/// One release: its types, its gates, and its source folder.
#[derive(Clone, Copy, Debug)]
pub struct Side<'t> {
    /// The types.
    pub types: &'t Types,
    /// The gates.
    pub features: &'t Features,
    /// The folder before the paths of packages in this release.
    pub root: &'t str,
    /// The release whose stages are used.
    pub release: Option<Version>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The folder of the package below the root.
    pub package: String,
    /// The type.
    pub type_name: String,
    /// The property.
    pub property: String,
    /// The old stage, if any.
    pub old: Option<Stage>,
    /// The new stage, if any.
    pub new: Option<Stage>,
    /// The gates, of the new release if the field exists there.
    pub gates: String,
    /// `FILE:LINE:COLUMN` of the field, in the new release if it exists there.
    pub place: String,
}

type Key<'t> = (&'t str, &'t str, &'t str);

impl<'t> Side<'t> {
    fn key(&self, place: TypePlace<'t>, property: &'t str) -> Key<'t> {
        let folder = place.package.folder.as_str();
        let root = self.root.trim_end_matches('/');
        let below = folder.strip_prefix(root).filter(|below| below.is_empty() || below.starts_with('/'));
        (below.unwrap_or(folder).trim_start_matches('/'), &place.of.name, property)
    }

    fn tagged(&self) -> BTreeMap<Key<'t>, Field<'t>> {
        let options = Options { release: self.release };
        let all = fields::fields(self.types, self.features, &options);
        all.into_iter()
            .filter_map(|field| match &field.field.json {
                Json::Member(name) => Some((self.key(field.place, name), field)),
                Json::Inline | Json::None => None,
            })
            .collect()
    }

    /// Returns the locations of all properties.
    fn all(&self) -> BTreeMap<Key<'t>, String> {
        let mut out = BTreeMap::new();
        for place in self.types.types() {
            for field in &place.of.fields {
                if let Json::Member(name) = &field.json {
                    out.insert(self.key(place, name), place.file.source.location(field.span.start));
                }
            }
        }
        out
    }
}

/// Compares the fields of two releases that have a lifecycle in at least one of them.
pub fn diff(old: Side<'_>, new: Side<'_>) -> Vec<Change> {
    let (before, after) = (old.tagged(), new.tagged());
    let (all_before, all_after) = (old.all(), new.all());
    let mut out = Vec::new();
    let keys: std::collections::BTreeSet<Key<'_>> = before.keys().chain(after.keys()).copied().collect();
    for key in keys {
        let (was, is) = (before.get(&key), after.get(&key));
        let stage = |field: Option<&Field<'_>>| field.and_then(|field| field.state.stage);
        let gates =
            |field: Option<&Field<'_>>| field.map(|field| field.tags.gate_names().join(",")).unwrap_or_default();
        let (old_stage, new_stage) = (stage(was), stage(is));
        let (old_gates, new_gates) = (gates(was), gates(is));
        let exists = (all_before.contains_key(&key), all_after.contains_key(&key));
        let kind = match exists {
            (false, true) if is_open(new_stage) => ChangeKind::Added,
            (true, false) => ChangeKind::Removed,
            (true, true) => match (rank(old_stage), rank(new_stage)) {
                (a, b) if a == b && !old_gates.is_empty() && !new_gates.is_empty() && old_gates != new_gates => {
                    ChangeKind::Regated
                }
                (a, b) if a == b => continue,
                (_, 0) => ChangeKind::Deprecated,
                (0, _) => ChangeKind::Restored,
                _ if was.is_none() => ChangeKind::Tagged,
                (a, b) if a < b => ChangeKind::Promoted,
                _ => ChangeKind::Demoted,
            },
            _ => continue,
        };
        let place = all_after.get(&key).or_else(|| all_before.get(&key)).cloned().unwrap_or_default();
        out.push(Change {
            kind,
            package: key.0.to_owned(),
            type_name: key.1.to_owned(),
            property: key.2.to_owned(),
            old: old_stage,
            new: new_stage,
            gates: if exists.1 && !new_gates.is_empty() { new_gates } else { old_gates },
            place,
        });
    }
    out
}

/// The change of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindChange {
    /// What happened: `added`, `removed`, `deprecated`, `restored` or, if its releases changed, `planned`.
    pub kind: KindChangeKind,
    /// The folder of the package below the root.
    pub package: String,
    /// The kind.
    pub name: String,
    /// Its releases before: `v1.20, deprecated in v1.23, removed in v1.26`; `None` if it did not exist.
    pub old: Option<String>,
    /// Its releases now; `None` if it was removed.
    pub new: Option<String>,
    /// `FILE:LINE:COLUMN` of the type, in the new release if it exists there.
    pub place: String,
}

/// How a kind changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KindChangeKind {
    /// It is new.
    Added,
    /// The new release warns about it, and the old one does not.
    Deprecated,
    /// The new release does not serve it, or the type was removed.
    Removed,
    /// The new release no longer warns about it.
    Restored,
    /// Its tags have other releases or another replacement than before.
    Planned,
}

impl KindChangeKind {
    /// Returns the name of the change.
    pub fn name(self) -> &'static str {
        match self {
            KindChangeKind::Added => "added",
            KindChangeKind::Deprecated => "deprecated",
            KindChangeKind::Removed => "removed",
            KindChangeKind::Restored => "restored",
            KindChangeKind::Planned => "planned",
        }
    }
}

/// Returns the tags of a kind in words.
fn releases(kind: &Declared<'_>) -> String {
    let mut out = kind.introduced.to_string();
    for (word, release) in [("deprecated", kind.deprecated), ("removed", kind.removed)] {
        if let Some(release) = release {
            let _ = write!(out, ", {word} in {release}");
        }
    }
    if let Some(replacement) = &kind.replacement {
        let _ = write!(out, ", use {replacement}");
    }
    out
}

/// Compares the kinds of two releases by their tags `+k8s:prerelease-lifecycle-gen`. Deprecations and removals are
/// known only if both sides have a release. Lists change with their kinds and are left out.
pub fn kinds(old: Side<'_>, new: Side<'_>) -> Vec<KindChange> {
    fn all<'t>(side: &Side<'t>) -> BTreeMap<Key<'t>, Declared<'t>> {
        let declared = kinds::declared(side.types).into_iter().filter(|kind| !kind.is_list());
        declared.map(|kind| (side.key(kind.place, ""), kind)).collect()
    }
    let (before, after) = (all(&old), all(&new));
    let is_past =
        |at: Option<Version>, side: &Side<'_>| matches!((at, side.release), (Some(at), Some(now)) if at <= now);
    let mut out = Vec::new();
    let keys: std::collections::BTreeSet<Key<'_>> = before.keys().chain(after.keys()).copied().collect();
    for key in keys {
        let (was, is) = (before.get(&key), after.get(&key));
        let (Some(some), texts) = (is.or(was), (was.map(releases), is.map(releases))) else { continue };
        let past = |of: fn(&Declared<'_>) -> Option<Version>| {
            (was.is_some_and(|was| is_past(of(was), &old)), is.is_some_and(|is| is_past(of(is), &new)))
        };
        let (removed, deprecated) = (past(|kind| kind.removed), past(|kind| kind.deprecated));
        let kind = match (was, is) {
            (None, _) => KindChangeKind::Added,
            (_, None) => KindChangeKind::Removed,
            _ if removed == (false, true) => KindChangeKind::Removed,
            _ if deprecated == (false, true) => KindChangeKind::Deprecated,
            _ if deprecated == (true, false) => KindChangeKind::Restored,
            _ if texts.0 != texts.1 => KindChangeKind::Planned,
            _ => continue,
        };
        out.push(KindChange {
            kind,
            package: key.0.to_owned(),
            name: key.1.to_owned(),
            old: texts.0,
            new: texts.1,
            place: some.location(),
        });
    }
    out
}

fn is_open(stage: Option<Stage>) -> bool {
    stage.is_some_and(|stage| stage != Stage::Ga)
}

/// Returns the rank of a stage. A field without a stage is generally available.
fn rank(stage: Option<Stage>) -> u8 {
    match stage {
        Some(Stage::Deprecated) => 0,
        Some(Stage::Alpha) => 1,
        Some(Stage::Beta) => 2,
        Some(Stage::Ga) | None => 3,
    }
}
