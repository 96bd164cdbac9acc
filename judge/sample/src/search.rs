//! Searches for the optional fields with which the server accepts a sample.

use super::build::Builder;
use super::path::child;
use super::{Attempt, Problem, Sample, Wanted, attempt};
use kubeshape_schema::{Additional, Bump, Items, Schema};
use kubeshape_validate::object::Resource;
use kubeshape_value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of attempts after a refusal.
const MAX_ROUNDS: usize = 300;
/// The maximum number of attempts that give up larger parts.
const MAX_LARGE: usize = 60;
/// The maximum number of values in all attempts together.
const MAX_VALUES: usize = 1_000_000;
/// The maximum number of fields below a problem that are tried one by one: of those that a rule names, and of the
/// others.
const SINGLES: usize = 20;
/// The maximum number of fields named by a rule that are tried in pairs.
const PAIRED: usize = 6;
/// The maximum depth below a problem of fields that a rule names.
const DEPTH: usize = 4;

/// Returns the smallest or largest object for readers.
pub(super) fn for_readers<'a>(resource: &Resource<'a>, maximal: bool, arena: &'a Bump) -> Sample<'a> {
    let search = Search { resource, maximal, wanted: None, rounds: MAX_ROUNDS, values: MAX_VALUES, arena };
    search.run(MAX_LARGE)
}

/// Returns the smallest object with the wanted values.
pub(super) fn with<'a>(resource: &Resource<'a>, wanted: &Wanted<'a>, rounds: usize, arena: &'a Bump) -> Sample<'a> {
    let search = Search { resource, maximal: false, wanted: Some(wanted), rounds, values: MAX_VALUES, arena };
    search.run(0)
}

struct Search<'s, 'a> {
    resource: &'s Resource<'a>,
    maximal: bool,
    wanted: Option<&'s Wanted<'a>>,
    /// The remaining attempts.
    rounds: usize,
    /// The remaining values.
    values: usize,
    arena: &'a Bump,
}

/// Optional fields that are included or left out contrary to the default choice.
type Toggled = BTreeSet<String>;

impl<'a> Search<'_, 'a> {
    /// Tries small changes, then, with `large` more attempts, changes that give up larger parts.
    fn run(mut self, large: usize) -> Sample<'a> {
        let mut toggled = Toggled::new();
        let mut best = self.attempt(&toggled);
        while !best.problems.is_empty()
            && let Some((other, made)) = self.better(&toggled, &best, self.small(&best))
        {
            (toggled, best) = (other, made);
        }
        if large > 0 {
            (self.rounds, self.values) = (self.rounds + large, MAX_VALUES);
        }
        while !best.problems.is_empty()
            && let Some((other, made)) = self.better(&toggled, &best, large_moves(&best))
        {
            (toggled, best) = (other, made);
        }
        best
    }

    fn attempt(&mut self, toggled: &Toggled) -> Sample<'a> {
        let mut builder = Builder::new(self.maximal, toggled, None, self.arena);
        builder.wanted = self.wanted;
        builder.for_readers = self.wanted.is_none();
        let Attempt { sample, values } = attempt(self.resource, builder, self.arena);
        self.values = self.values.saturating_sub(values);
        sample
    }

    /// Returns the first of these changes that reduces the number of problems.
    fn better(
        &mut self,
        toggled: &Toggled,
        best: &Sample<'a>,
        moves: Vec<Vec<String>>,
    ) -> Option<(Toggled, Sample<'a>)> {
        for paths in moves {
            if self.rounds == 0 || self.values == 0 {
                return None;
            }
            self.rounds -= 1;
            let mut other = toggled.clone();
            for path in paths {
                if !other.remove(&path) {
                    other.insert(path);
                }
            }
            let made = self.attempt(&other);
            if made.problems.len() < best.problems.len() {
                return Some((other, made));
            }
        }
        None
    }

    /// Returns single changes: missing fields with problems, and fields below the problems, the smallest first. Then
    /// pairs of the fields that a rule names: it may need both.
    fn small(&self, best: &Sample<'a>) -> Vec<Vec<String>> {
        let Some(root) = self.resource.schema else { return Vec::new() };
        let mut out = Vec::new();
        let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Problem { path, text } in &best.problems {
            if !path.is_empty() && value_at(best.value, path).is_none() {
                out.push(vec![path.clone()]);
            }
            let Some(below) = at(root, path) else { continue };
            let size = |path: &String| value_at(best.value, path).map_or(0, count);
            let mut likely = Vec::new();
            // Many rules may be about one value.
            let of_rules = known.entry(path).or_insert_with(|| words_of_rules(root, path));
            let words = Words { of_rules, of_message: words(text).collect() };
            named(below, path, &words, DEPTH, &mut likely);
            likely.sort_by_key(size);
            let optional = below.properties.iter().filter(|property| !below.required.contains(&property.name));
            let others = optional.map(|property| child(path, property.name));
            let mut others: Vec<String> = others.filter(|path| !likely.contains(path)).collect();
            others.sort_by_key(size);
            let singles = likely.iter().take(SINGLES).chain(others.iter().take(SINGLES));
            out.extend(singles.map(|path| vec![path.clone()]));
            let paired = || likely.iter().chain(&others).take(PAIRED);
            for (at, one) in paired().enumerate() {
                out.extend(paired().skip(at + 1).map(|other| vec![one.clone(), other.clone()]));
            }
        }
        out
    }
}

/// Returns the fields with problems, and those above them.
fn large_moves(best: &Sample<'_>) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for problem in &best.problems {
        let mut path = problem.path.as_str();
        while !path.is_empty() {
            out.push(vec![path.to_owned()]);
            path = path.rsplit_once(['.', '[']).map_or("", |(above, _)| above);
        }
    }
    out
}

/// Words that may name fields.
struct Words<'w> {
    of_rules: &'w BTreeSet<&'w str>,
    of_message: BTreeSet<&'w str>,
}

impl Words<'_> {
    fn contain(&self, name: &str) -> bool {
        self.of_message.contains(name) || self.of_rules.contains(name)
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the words of the rules at a path and above it.
fn words_of_rules<'a>(root: &'a Schema<'a>, path: &str) -> BTreeSet<&'a str> {
    let ends = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(end, _)| end);
    let schemas = [0].into_iter().chain(ends).chain([path.len()]).filter_map(|end| at(root, path.get(..end)?));
    schemas.flat_map(|schema| schema.extra().validations).flat_map(|rule| words(rule.rule)).collect()
}

/// Collects optional fields below a schema that the words name. Only named fields and list items are searched.
fn named(schema: &Schema<'_>, path: &str, words: &Words<'_>, depth: usize, out: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for property in schema.properties.iter().filter(|property| words.contain(property.name)) {
        let path = child(path, property.name);
        if !schema.required.contains(&property.name) {
            out.push(path.clone());
        }
        named(&property.schema, &path, words, depth, out);
    }
    if let Some(Items::One(item)) = schema.items {
        named(item, &format!("{path}[0]"), words, depth, out);
    }
}

/// Returns the number of values in a value, including itself.
fn count(value: Value<'_>) -> usize {
    match value {
        Value::Map(map) => 1 + map.entries().iter().map(|(_, value)| count(*value)).sum::<usize>(),
        Value::List(items) => 1 + items.iter().map(|item| count(*item)).sum::<usize>(),
        _ => 1,
    }
}

/// Returns the value at a path such as `spec.ports[0].name`.
fn value_at<'a>(value: Value<'a>, path: &str) -> Option<Value<'a>> {
    let mut value = value;
    for step in steps(path) {
        value = match value {
            Value::Map(map) => map.get(step.trim_end_matches(']'))?,
            Value::List(items) => *items.get(step.trim_end_matches(']').parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Returns the schema at such a path.
fn at<'a>(schema: &'a Schema<'a>, path: &str) -> Option<&'a Schema<'a>> {
    let mut schema = schema;
    for step in steps(path) {
        let item = match schema.items {
            Some(Items::One(item)) if step.ends_with(']') => Some(item),
            _ => None,
        };
        let additional = match schema.additional {
            Some(Additional::Schema(below)) => Some(below),
            _ => None,
        };
        schema = schema.property(step).or(item).or(additional)?;
    }
    Some(schema)
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[']).filter(|step| !step.is_empty())
}
