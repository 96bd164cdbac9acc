//! Fields that are gone here and new there: renamed or moved.
//!
//! It is told only where there is no other reading: one field is gone and one is new that says the same, in the same object, or
//! under the same name elsewhere.

use crate::findings::Found;
use kubeshape_schema::{Code, Schema, Type};
use std::collections::BTreeMap;

/// So many schemas below new fields are looked at.
const BELOW: usize = 20_000;

/// A field that is gone or new.
pub(crate) struct Field<'a> {
    /// Its change.
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    /// The path of the object that it is in.
    pub(crate) parent: String,
    /// Its own path.
    pub(crate) path: String,
    pub(crate) schema: Schema<'a>,
}

/// Tells fields that are gone here and new there once.
pub(crate) fn tell<'a>(gone: &[Field<'a>], came: &[Field<'a>], found: &mut Found<'a>) {
    let mut told: BTreeMap<usize, String> = BTreeMap::new();
    let mut dropped = Vec::new();
    for (was, is) in renamed(gone, came) {
        told.insert(gone[was].at, came[is].path.clone());
        dropped.push(came[is].at);
    }
    for (was, path, own) in moved(gone, came) {
        if let std::collections::btree_map::Entry::Vacant(e) = told.entry(gone[was].at) {
            e.insert(path);
            dropped.extend(own.map(|is| came[is].at));
        }
    }
    for (at, path) in told {
        let change = &mut found.changes[at];
        change.code = Code::DiffRenamed;
        change.detail = format!("it is {path} now; {}", change.detail);
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
    // A definition whose fields are all other ones was not renamed field by field.
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

/// The path of a field, its schema, and its number among the new ones if it is one itself.
type Place<'a> = (String, Schema<'a>, Option<usize>);

/// Fields of one name in different objects: the field that is gone, where it is now, and the new field if it is one itself.
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
        // Items and values of maps have no name of their own, and a long path is no place to point to.
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

/// Whether two schemas say the same, apart from what is said to people.
fn alike(a: &Schema<'_>, b: &Schema<'_>) -> bool {
    Schema { description: "", ..*a }.says_the_same(&Schema { description: "", ..*b })
}

/// Whether few fields have a schema like this one.
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

/// Whether two names have a word of four letters or more in common: `maxReplicas` and `replicaLimit`.
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
