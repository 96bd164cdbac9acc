//! Detects renamed and moved fields.
//!
//! Reported only if it is unambiguous: one removed and one added field have the same schema, in the same object, or
//! under the same name elsewhere.

use crate::findings::Findings;
use kubeshape_schema::{Code, Schema, Type};
use std::collections::BTreeMap;

/// Most schemas to search below added fields.
const BELOW: usize = 20_000;

/// A removed or added field.
pub(crate) struct Field<'a> {
    /// The index of its change.
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    /// The path of its parent object.
    pub(crate) parent: String,
    /// Its own path.
    pub(crate) path: String,
    pub(crate) schema: Schema<'a>,
}

/// Merges the changes of a removed and an added field into one.
pub(crate) fn report<'a>(gone: &[Field<'a>], came: &[Field<'a>], found: &mut Findings<'a>) {
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    let mut dropped = Vec::new();
    for (was, is) in renamed(gone, came) {
        paths.insert(gone[was].at, came[is].path.clone());
        dropped.push(came[is].at);
    }
    for (was, path, own) in moved(gone, came) {
        if let std::collections::btree_map::Entry::Vacant(e) = paths.entry(gone[was].at) {
            e.insert(path);
            dropped.extend(own.map(|is| came[is].at));
        }
    }
    for (at, path) in paths {
        let change = &mut found.changes[at];
        change.code = Code::DiffRenamed;
        change.detail = format!("now at {path}; {}", change.detail);
    }
    dropped.sort_unstable();
    dropped.dedup();
    for at in dropped.into_iter().rev() {
        found.changes.remove(at);
        found.spots.remove(at);
    }
}

/// Fields of one object.
fn renamed<'a>(gone: &[Field<'a>], came: &[Field<'a>]) -> Vec<(usize, usize)> {
    // If all fields of a definition differ, they were not renamed one by one.
    const MANY: usize = 32;
    let mut objects: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (at, field) in gone.iter().enumerate() {
        objects.entry(field.parent.as_str()).or_default().0.push(at);
    }
    for (at, field) in came.iter().enumerate() {
        objects.entry(field.parent.as_str()).or_default().1.push(at);
    }
    let mut out = Vec::new();
    for (old, new) in objects.values() {
        if old.len() > MANY || new.len() > MANY {
            continue;
        }
        for was in old {
            let is_alike = |a: &usize, b: &usize| alike(&gone[*a].schema, &came[*b].schema);
            let mut likely = new.iter().filter(|is| is_alike(was, is));
            let (Some(is), None) = (likely.next(), likely.next()) else { continue };
            let rivals = old.iter().filter(|other| is_alike(other, is)).count();
            let (from, to) = (&gone[*was], &came[*is]);
            let is_alone = old.len() == 1 && new.len() == 1;
            if rivals == 1 && (is_alone || is_telling(&from.schema) || share_a_word(from.name, to.name)) {
                out.push((*was, *is));
            }
        }
    }
    out
}

/// The path of a field, its schema, and its index among the added fields if it is one of them.
type Place<'a> = (String, Schema<'a>, Option<usize>);

/// Finds fields of one name in different objects: the removed field, its new path, and the added field if it is one
/// itself.
fn moved<'a>(gone: &[Field<'a>], came: &[Field<'a>]) -> Vec<(usize, String, Option<usize>)> {
    let mut wanted: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, field) in gone.iter().enumerate() {
        wanted.entry(field.name).or_default().push(at);
    }
    wanted.retain(|_, fields| fields.len() == 1);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut places: BTreeMap<&str, Vec<Place<'a>>> = BTreeMap::new();
    let mut todo: Vec<(String, &str, Schema<'a>, Option<usize>)> = came
        .iter()
        .enumerate()
        .rev()
        .map(|(at, field)| (field.path.clone(), field.name, field.schema, Some(at)))
        .collect();
    let mut left = BELOW;
    while let Some((path, name, schema, own)) = todo.pop() {
        left = left.saturating_sub(1);
        if left == 0 {
            return Vec::new();
        }
        // Items and map values have no name of their own. Long paths are not reported.
        if path.len() < 1_000 {
            for property in schema.properties {
                todo.push((format!("{path}.{}", property.name), property.name, property.schema, None));
            }
        }
        if wanted.contains_key(name) {
            places.entry(name).or_default().push((path, schema, own));
        }
    }
    let mut out = Vec::new();
    for (name, fields) in wanted {
        let (Some(was), Some(places)) = (fields.first(), places.get(name)) else { continue };
        let from = &gone[*was];
        let [(path, schema, own)] = places.as_slice() else { continue };
        let is_below = path.starts_with(&from.parent);
        if alike(&from.schema, schema) && (is_telling(schema) || is_below) {
            out.push((*was, path.clone(), *own));
        }
    }
    out
}

/// Returns whether two schemas are the same except for descriptions.
fn alike(a: &Schema<'_>, b: &Schema<'_>) -> bool {
    Schema { description: "", ..*a }.says_the_same(&Schema { description: "", ..*b })
}

/// Returns whether few fields have a schema like this one.
fn is_telling(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    !schema.properties.is_empty()
        || !schema.enumeration.is_empty()
        || !extra.pattern.is_empty()
        || !extra.validations.is_empty()
        || extra.maximum.is_some()
        || extra.max_length.is_some()
        || schema.item().is_some_and(|item| !item.properties.is_empty() || item.ty != Type::String)
}

/// Returns whether two names share a word of four letters or more: `maxReplicas` and `replicaLimit`.
fn share_a_word(a: &str, b: &str) -> bool {
    const LONG: usize = 4;
    let words = |name: &str| {
        let mut words: Vec<String> = Vec::new();
        for c in name.chars().take(100) {
            match words.last_mut() {
                Some(word) if !c.is_uppercase() && c.is_alphanumeric() => word.push(c),
                _ if c.is_alphanumeric() => words.push(c.to_lowercase().collect()),
                _ => words.push(String::new()),
            }
        }
        words
    };
    let (a, b) = (words(a), words(b));
    a.iter().any(|one| {
        b.iter().any(|other| {
            let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
            same >= LONG && same + 1 >= one.chars().count().min(other.chars().count())
        })
    })
}
