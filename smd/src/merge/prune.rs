//! Removes the fields that a manager no longer applies (upstream `Updater.prune`).
//!
//! A field, an entry or an item is removed if the manager applied it last time, does not apply it now, and no other
//! manager owns it.

use super::converter::{ConvertError, Converter};
use crate::Bump;
use crate::fieldpath::{ManagedFields, Set, VersionedSet};
use crate::typed::{Emptied, TypedValue, ValidationErrors};
use std::fmt::{self, Display, Formatter};

/// Why the fields that a manager no longer applies cannot be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneError {
    /// The step that failed.
    pub step: PruneStep,
    /// The version that the object was converted to.
    pub version: String,
    /// What went wrong.
    pub cause: PruneCause,
}

/// A step of pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneStep {
    /// Removing everything that was applied last time.
    Remove,
    /// Adding back fields that have an owner: the merged object.
    OwnedOfMerged,
    /// Adding back fields that have an owner: the pruned object.
    OwnedOfPruned,
    /// Adding back fields that were not applied last time: the merged object.
    DanglingOfMerged,
    /// Adding back fields that were not applied last time: the pruned object.
    DanglingOfPruned,
    /// Converting back to the version of the operation.
    Return,
}

/// What can go wrong with pruning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneCause {
    /// The object cannot be converted.
    Convert(ConvertError),
    /// A type is missing.
    FieldSet(ValidationErrors),
}

impl Display for PruneError {
    /// Prints upstream's message.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (owned, object) = match self.step {
            PruneStep::Remove | PruneStep::Return => (None, "merged"),
            PruneStep::OwnedOfMerged => (Some(true), "merged"),
            PruneStep::OwnedOfPruned => (Some(true), "pruned"),
            PruneStep::DanglingOfMerged => (Some(false), "merged"),
            PruneStep::DanglingOfPruned => (Some(false), "pruned"),
        };
        match owned {
            Some(true) => f.write_str("failed add back owned items: ")?,
            Some(false) => f.write_str("failed add back dangling items: ")?,
            None => {}
        }
        let version = &self.version;
        match (&self.cause, owned) {
            (PruneCause::Convert(error), _) if self.step == PruneStep::Return => error.fmt(f),
            (PruneCause::Convert(error), Some(true)) => {
                write!(f, "failed to convert {object} object at version {version}: {error}")
            }
            (PruneCause::Convert(error), _) => {
                write!(f, "failed to convert {object} object to last applied version: {error}")
            }
            (PruneCause::FieldSet(errors), Some(true)) => {
                write!(f, "failed to create field set from {object} object at version {version}: {errors}")
            }
            (PruneCause::FieldSet(errors), _) => {
                write!(f, "failed to create field set from {object} object in last applied version: {errors}")
            }
        }
    }
}

impl std::error::Error for PruneError {}

/// Returns the merged object without the fields that only `last` owns. `managers` must already have the applying
/// manager's new fields.
pub(super) fn prune<'a, C: Converter>(
    merged: TypedValue<'a>,
    last: VersionedSet<'a>,
    version: &'a str,
    managers: &ManagedFields<'a>,
    converter: &'a C,
    emptied: Emptied,
    arena: &'a Bump,
) -> Result<TypedValue<'a>, PruneError> {
    let at = last.api_version;
    let converted = match converter.convert(merged, at, arena) {
        Ok(converted) => converted,
        Err(ConvertError::MissingVersion(_)) => return Ok(merged),
        Err(error) => return Err(failed(PruneStep::Remove, at, error)),
    };
    // In one walk, emptied values become null.
    let is_one_version = managers.iter().all(|(_, fields)| fields.api_version == at);
    let pruned = if is_one_version && emptied == Emptied::Null {
        converted.prune(last.set, managers.iter().map(|(_, fields)| fields.set), arena)
    } else {
        None
    };
    let pruned = match pruned {
        Some(pruned) => pruned,
        None => step_by_step(converted, last, managers, converter, emptied, arena)?,
    };
    if version == at {
        return Ok(pruned);
    }
    converter.convert(pruned, version, arena).map_err(|error| failed(PruneStep::Return, version, error))
}

/// Follows upstream's steps: remove everything of `last`, add back the fields that a manager owns, add back the fields
/// that `last` did not have. `merged` and the result are at the version of `last`.
pub(super) fn step_by_step<'a, C: Converter>(
    merged: TypedValue<'a>,
    last: VersionedSet<'a>,
    managers: &ManagedFields<'a>,
    converter: &'a C,
    emptied: Emptied,
    arena: &'a Bump,
) -> Result<TypedValue<'a>, PruneError> {
    let at = last.api_version;
    let last = last.set.ensure_named_fields_are_members(merged.ty(), arena);
    let pruned = merged.remove_items_as(last, emptied, arena);

    // The version of the object comes first: a conversion may need the fields that are added back there.
    let mut versions: Vec<_> = managers.iter().map(|(_, fields)| fields.api_version).collect();
    versions.sort_unstable_by_key(|version| (*version != at, *version));
    versions.dedup();
    let mut candidate = Candidate { version: at, merged, pruned, emptied };
    for version in versions {
        candidate = candidate.put_back_owned(version, managers, converter, arena)?;
    }

    let pruned = match candidate.convert(candidate.pruned, at, converter, arena) {
        Ok(pruned) => pruned,
        Err(ConvertError::MissingVersion(_)) => return Ok(merged),
        Err(error) => return Err(failed(PruneStep::DanglingOfPruned, at, error)),
    };
    let kept = named_fields(pruned, merged, PruneStep::DanglingOfPruned, at, arena)?;
    let all = named_fields(merged, merged, PruneStep::DanglingOfMerged, at, arena)?;
    Ok(merged.remove_items_as(all.difference(kept, arena).intersection(last, arena), emptied, arena))
}

/// The merged object and what is left of it, both at one version.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    version: &'a str,
    merged: TypedValue<'a>,
    pruned: TypedValue<'a>,
    emptied: Emptied,
}

impl<'a> Candidate<'a> {
    /// Converts one of the two objects to another version.
    fn convert<C: Converter>(
        self,
        object: TypedValue<'a>,
        version: &str,
        converter: &'a C,
        arena: &'a Bump,
    ) -> Result<TypedValue<'a>, ConvertError> {
        if version == self.version { Ok(object) } else { converter.convert(object, version, arena) }
    }

    /// Adds back the fields that managers at a version own, including those of this apply. If the version no longer
    /// exists, nothing changes.
    fn put_back_owned<C: Converter>(
        self,
        version: &'a str,
        managers: &ManagedFields<'a>,
        converter: &'a C,
        arena: &'a Bump,
    ) -> Result<Self, PruneError> {
        let merged = match self.convert(self.merged, version, converter, arena) {
            Ok(merged) => merged,
            Err(ConvertError::MissingVersion(_)) => return Ok(self),
            Err(error) => return Err(failed(PruneStep::OwnedOfMerged, version, error)),
        };
        let pruned = match self.convert(self.pruned, version, converter, arena) {
            Ok(pruned) => pruned,
            Err(ConvertError::MissingVersion(_)) => return Ok(self),
            Err(error) => return Err(failed(PruneStep::OwnedOfPruned, version, error)),
        };
        let all = named_fields(merged, merged, PruneStep::OwnedOfMerged, version, arena)?;
        let kept = named_fields(pruned, merged, PruneStep::OwnedOfPruned, version, arena)?;
        let owned = owned_at(version, managers, arena).ensure_named_fields_are_members(merged.ty(), arena);
        let pruned = merged.remove_items_as(all.difference(kept.union(owned, arena), arena), self.emptied, arena);
        Ok(Candidate { version, merged, pruned, ..self })
    }
}

/// Returns the fields that any manager owns at a version.
fn owned_at<'a>(version: &str, managers: &ManagedFields<'a>, arena: &'a Bump) -> Set<'a> {
    let fields = managers.iter().filter(|(_, fields)| fields.api_version == version).map(|(_, fields)| fields.set);
    Set::union_all(&fields.collect::<Vec<_>>(), arena)
}

/// Returns the fields of an object with every struct field above them.
fn named_fields<'a>(
    object: TypedValue<'a>,
    typed: TypedValue<'a>,
    step: PruneStep,
    version: &str,
    arena: &'a Bump,
) -> Result<Set<'a>, PruneError> {
    match object.to_field_set(arena) {
        Ok(fields) => Ok(fields.ensure_named_fields_are_members(typed.ty(), arena)),
        Err(errors) => Err(PruneError { step, version: version.to_owned(), cause: PruneCause::FieldSet(errors) }),
    }
}

fn failed(step: PruneStep, version: &str, error: ConvertError) -> PruneError {
    PruneError { step, version: version.to_owned(), cause: PruneCause::Convert(error) }
}
