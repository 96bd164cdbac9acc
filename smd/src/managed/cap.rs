//! The limit on entries of updates (upstream `NewCapManagersManager`).

use super::entries::Managed;
use super::{Identifier, Operation, Time};
use crate::Bump;
use crate::fieldpath::{Set, VersionedSet};

/// The manager of merged entries.
const ANCIENT: &str = "ancient-changes";

/// The entries of one version that are merged.
struct Bucket<'a> {
    text: &'a str,
    identifier: Identifier<'a>,
    /// The oldest entry, which is renamed when a second one arrives.
    first: (&'a str, Set<'a>),
    /// The sets that are merged, oldest first. Empty until a second entry arrives.
    sets: Vec<Set<'a>>,
    time: Option<Time>,
}

/// Merges the oldest entries of updates until at most `max` are left, those of each version into one entry of
/// [`ANCIENT`].
pub(super) fn cap<'a>(managed: &mut Managed<'a>, max: usize, arena: &'a Bump) {
    let updates = managed.fields.iter().filter(|(_, fields)| !fields.applied);
    let mut updaters: Vec<(Time, &'a str)> =
        updates.map(|(text, _)| (managed.time(text).unwrap_or_default(), text)).collect();
    let mut left = updaters.len();
    if left <= max {
        return;
    }
    updaters.sort_unstable();
    // Managers are removed and sets merged in one pass, because an object may have very many of them.
    let mut buckets: Vec<Bucket<'a>> = Vec::new();
    let mut gone: Vec<&'a str> = Vec::new();
    for (_, manager) in updaters {
        if left <= max {
            break;
        }
        let Some(fields) = managed.fields.get(manager) else { continue };
        let api_version = fields.api_version;
        let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.identifier.api_version == api_version) else {
            let identifier =
                Identifier { manager: ANCIENT, operation: Operation::Update, api_version, subresource: "" };
            let text = identifier.text(arena);
            buckets.push(Bucket { text, identifier, first: (manager, fields.set), sets: Vec::new(), time: None });
            continue;
        };
        let (first, first_fields) = bucket.first;
        if bucket.sets.is_empty() {
            if let Some(known) = managed.fields.get(bucket.text) {
                bucket.sets.push(known.set);
            } else {
                bucket.sets.push(first_fields);
                gone.push(first);
            }
        }
        // When upstream meets the bucket itself, it merges it with itself and then deletes it. Here the first entry is
        // merged into the bucket.
        let (from, set) = if manager == bucket.text { bucket.first } else { (manager, fields.set) };
        bucket.sets.push(set);
        bucket.time = managed.time(manager);
        gone.push(from);
        left -= 1;
    }
    for bucket in buckets.into_iter().filter(|bucket| !bucket.sets.is_empty()) {
        // Among equal elements the oldest one is kept, as in a chain of unions.
        let newest_first: Vec<_> = bucket.sets.iter().rev().copied().collect();
        let set = Set::union_all(&newest_first, arena);
        let api_version = bucket.identifier.api_version;
        managed.fields.insert(bucket.text, VersionedSet { set, api_version, applied: false });
        managed.set_time(bucket.text, bucket.identifier, bucket.time);
    }
    gone.sort_unstable();
    managed.fields.retain(|manager, _| gone.binary_search(&manager).is_err());
}
