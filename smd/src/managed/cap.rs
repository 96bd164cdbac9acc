//! Not more than a few entries of updates (upstream `NewCapManagersManager`).

use super::entries::Managed;
use super::{Identifier, Operation, Time};
use crate::Bump;
use crate::fieldpath::VersionedSet;

/// The manager that stands for those whose entries were put together.
const ANCIENT: &str = "ancient-changes";

/// While there are more entries of updates than these, puts the oldest together, those of each version into one entry
/// of [`ANCIENT`]. The first of a version is renamed when the second arrives.
pub(super) fn cap<'a>(managed: &mut Managed<'a>, max: usize, arena: &'a Bump) {
    let updates = managed.fields.iter().filter(|(_, fields)| !fields.applied);
    let mut updaters: Vec<(Time, &'a str)> =
        updates.map(|(text, _)| (managed.time(text).unwrap_or_default(), text)).collect();
    let mut left = updaters.len();
    if left <= max {
        return;
    }
    updaters.sort_unstable();
    let mut firsts: Vec<(&'a str, &'a str)> = Vec::new();
    for (_, manager) in updaters {
        if left <= max {
            return;
        }
        let Some(fields) = managed.fields.get(manager).copied() else { continue };
        let Some((_, first)) = firsts.iter().find(|(version, _)| *version == fields.api_version) else {
            firsts.push((fields.api_version, manager));
            continue;
        };
        let identifier = Identifier {
            manager: ANCIENT,
            operation: Operation::Update,
            api_version: fields.api_version,
            subresource: "",
        };
        let bucket = identifier.text(arena);
        // Upstream, if the bucket itself is met here, unites it with itself and loses it; the first goes into it.
        let from = if bucket == manager { first } else { manager };
        if managed.fields.get(bucket).is_none()
            && let Some(first) = managed.fields.remove(first)
        {
            managed.fields.insert(bucket, first);
        }
        let time = managed.time(manager);
        let (Some(bucket_fields), Some(moved)) =
            (managed.fields.get(bucket).copied(), managed.fields.get(from).copied())
        else {
            continue;
        };
        let set = moved.set.union(bucket_fields.set, arena);
        managed.fields.insert(bucket, VersionedSet { set, ..fields });
        managed.fields.remove(from);
        managed.set_time(bucket, identifier, time);
        left -= 1;
    }
}
