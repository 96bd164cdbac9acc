//! The difference of two values, as the entry of a document stores it.

use super::json::{is_same, items, members, object};
use kubeshape_schema::{Bump, Json, order};
use kubeshape_yaml::pointer;

/// The members that the original had.
const WAS: &str = "was";
/// Pointers to members that the original did not have.
const NEW: &str = "new";
/// Longer pointers do not point into a document.
const MAX_SEGMENTS: usize = 1024;

/// Returns the changes of `now` that give `original`, or `None` if they are equal.
pub(super) fn difference<'j>(now: &Json<'j>, original: &Json<'j>, arena: &'j Bump) -> Option<Json<'j>> {
    let mut walk = Walk { arena, path: String::new(), was: Vec::new(), new: Vec::new() };
    walk.compare(now, original);
    let Walk { mut was, new, .. } = walk;
    let mut entry = Vec::new();
    if !was.is_empty() {
        entry.push((WAS, object(&mut was, arena)));
    }
    if !new.is_empty() {
        entry.push((NEW, Json::Array(arena.alloc_slice_copy(&new))));
    }
    (!entry.is_empty()).then(|| object(&mut entry, arena))
}

struct Walk<'j> {
    arena: &'j Bump,
    path: String,
    was: Vec<(&'j str, Json<'j>)>,
    new: Vec<Json<'j>>,
}

impl<'j> Walk<'j> {
    fn compare(&mut self, now: &Json<'j>, original: &Json<'j>) {
        if is_same(now, original) {
            return;
        }
        match (now, original) {
            (Json::Object(now), Json::Object(original)) => self.compare_members(now, original),
            (Json::Array(now), Json::Array(original)) if now.len() == original.len() => {
                for (i, (now, original)) in now.iter().zip(*original).enumerate() {
                    self.below(&i.to_string(), |walk| walk.compare(now, original));
                }
            }
            _ => self.was.push((self.arena.alloc_str(&self.path), *original)),
        }
    }

    fn compare_members(&mut self, now: &'j [(&'j str, Json<'j>)], original: &'j [(&'j str, Json<'j>)]) {
        let (mut i, mut k) = (0, 0);
        loop {
            let ordering = match (now.get(i), original.get(k)) {
                (None, None) => return,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((a, _)), Some((b, _))) => order::utf16(a, b),
            };
            match ordering {
                std::cmp::Ordering::Less => {
                    self.below(now[i].0, |walk| walk.new.push(Json::Str(walk.arena.alloc_str(&walk.path))));
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    let (name, value) = original[k];
                    self.below(name, |walk| walk.was.push((walk.arena.alloc_str(&walk.path), value)));
                    k += 1;
                }
                std::cmp::Ordering::Equal => {
                    self.below(now[i].0, |walk| walk.compare(&now[i].1, &original[k].1));
                    i += 1;
                    k += 1;
                }
            }
        }
    }

    fn below(&mut self, segment: &str, f: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        pointer::push(&mut self.path, segment);
        f(self);
        self.path.truncate(length);
    }
}

/// One change: the path, and the original value, if any.
type Change<'j> = (Vec<String>, Option<Json<'j>>);

/// Returns the original of `now`, whose difference is `entry`, or `None` if the entry is invalid.
pub(super) fn applied<'j>(now: Json<'j>, entry: &Json<'j>, arena: &'j Bump) -> Option<Json<'j>> {
    let mut changes: Vec<Change<'j>> = Vec::new();
    for (name, value) in members(entry) {
        match (*name, value) {
            (WAS, Json::Object(was)) => {
                for (pointer, value) in *was {
                    changes.push((segments(pointer)?, Some(*value)));
                }
            }
            (NEW, Json::Array(_)) => {
                for pointer in items(value) {
                    changes.push((segments(pointer.as_str()?)?, None));
                }
            }
            _ => return None,
        }
    }
    if changes.is_empty() {
        return None;
    }
    changes.sort_by(|a, b| a.0.cmp(&b.0));
    change(Some(now), &changes, 0, arena)
}

fn segments(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let segments = pointer.strip_prefix('/')?.split('/');
    let segments: Vec<String> =
        segments.take(MAX_SEGMENTS + 1).map(|segment| pointer::unescape(segment).into_owned()).collect();
    (segments.len() <= MAX_SEGMENTS).then_some(segments)
}

/// Returns the value with the changes applied, which agree in their first `depth` segments, or `None` if it is removed.
fn change<'j>(now: Option<Json<'j>>, changes: &[Change<'j>], depth: usize, arena: &'j Bump) -> Option<Json<'j>> {
    let (first, _) = changes.split_first()?;
    if first.0.len() == depth {
        return first.1;
    }
    let groups = changes.chunk_by(|a, b| a.0.get(depth) == b.0.get(depth));
    let name = |group: &[Change<'j>]| group.first().and_then(|(path, _)| path.get(depth)).cloned().unwrap_or_default();
    if let Some(Json::Array(list)) = now {
        let mut list = list.to_vec();
        for group in groups {
            if let Some(place) = name(group).parse::<usize>().ok().and_then(|at| list.get_mut(at)) {
                *place = change(Some(*place), group, depth + 1, arena).unwrap_or(Json::Null);
            }
        }
        return Some(Json::Array(arena.alloc_slice_copy(&list)));
    }
    let old = now.as_ref().map_or(&[][..], members);
    let mut changed = Vec::new();
    for group in groups {
        let name = name(group);
        let before = super::json::find(now.as_ref(), &name).copied();
        changed.push((&*arena.alloc_str(&name), change(before, group, depth + 1, arena)));
    }
    changed.sort_by(|a, b| order::utf16(a.0, b.0));
    let is_changed = |name: &str| changed.binary_search_by(|(other, _)| order::utf16(other, name)).is_ok();
    let mut all: Vec<(&'j str, Json<'j>)> = old.iter().copied().filter(|(name, _)| !is_changed(name)).collect();
    all.extend(changed.iter().filter_map(|(name, value)| value.map(|value| (*name, value))));
    Some(object(&mut all, arena))
}
