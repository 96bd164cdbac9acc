//! Drives a webhook.

use crate::compare::{differences, is_plain};
use crate::effort::Effort;
use crate::objects::{Object, made};
use crate::report::{Fault, Report, Tried};
use crate::review::{MAX_BATCH_BYTES, Review, ignored};
use kubeshape_sample::shrink;
use kubeshape_schema::{Bump, Code, Schema};
use kubeshape_structural::Crd;
use kubeshape_validate::object::{RULES_NOT_CHECKED, Resource};
use kubeshape_value::{Map, ToValue, Value};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// After this number of failed reviews without a success in between, the webhook is given up.
const MAX_FAILURES: usize = 64;

/// The other fields of a failure that are named.
const MAX_FIELDS: usize = 3;

/// A conversion webhook.
pub trait Webhook {
    /// Sends a review and returns the body of the response.
    ///
    /// # Errors
    /// There is no response.
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String>;

    /// Returns whether no more reviews shall be sent, because the time is up.
    fn is_over(&self) -> bool {
        false
    }
}

/// Lets a webhook convert objects of every version of a definition to every other version and back, and reports what is
/// wrong. The objects are made from the schemas: for each field one per value that matters, such as each item of an
/// enumeration, and lists of several lengths. `own` are further objects.
///
/// A fault is shown by the smallest object that was found. `effort` limits the work.
///
/// # Example: a webhook that drops a field
/// ```
/// use kubeshape_conversions::{Effort, Webhook, prove};
/// use kubeshape_schema::{Bump, Code};
/// use kubeshape_structural::read;
/// use kubeshape_yaml::{Limits, Stream, Tape};
/// use serde_json::{Value, json};
///
/// struct Dropping;
/// impl Webhook for Dropping {
///     fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
///         let review: Value = serde_json::from_slice(review).map_err(|error| error.to_string())?;
///         let mut objects = review["request"]["objects"].clone();
///         for object in objects.as_array_mut().into_iter().flatten() {
///             object["apiVersion"] = review["request"]["desiredAPIVersion"].clone();
///             object["spec"].as_object_mut().map(|spec| spec.remove("note"));
///         }
///         let result = json!({"status": "Success"});
///         let response = json!({"uid": review["request"]["uid"], "result": result, "convertedObjects": objects});
///         let review = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
///         Ok(review.to_string().into_bytes())
///     }
/// }
///
/// let schema = "{type: object, properties: {spec: {type: object,
///     properties: {size: {type: integer}, note: {type: string}}}}}";
/// let source = format!("
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {{name: tabs.example.com}}
/// spec:
///   group: example.com
///   scope: Cluster
///   names: {{plural: tabs, kind: Tab}}
///   versions:
///   - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}
///   - {{name: v2, served: true, storage: false, schema: {{openAPIV3Schema: {schema}}}}}
/// ");
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let crd = read::read(tape.document(&source).root().unwrap(), &arena).value.unwrap();
/// let report = prove(&crd, &[], &mut Dropping, &Effort::default());
/// let lost: Vec<_> = report.faults.iter().filter(|fault| fault.code == Code::ConversionLost).collect();
/// assert_eq!(lost.len(), 2);
/// assert_eq!((lost[0].path.as_str(), lost[0].from.as_str(), lost[0].to.as_str()), ("spec.note", "v1", "v2"));
/// assert!(lost[0].object["spec"].get("size").is_none());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn prove(crd: &Crd<'_>, own: &[serde_json::Value], webhook: &mut dyn Webhook, effort: &Effort) -> Report {
    let arena = Bump::new();
    let versions: Vec<Resource<'_>> = Resource::of_versions(crd, effort.release, &arena)
        .into_iter()
        .zip(crd.versions)
        .filter(|(_, version)| version.served || version.storage)
        // The status is converted, too, even if another request writes it.
        .map(|(resource, _)| Resource { status: false, ..resource })
        .collect();
    let mut prover = Prover {
        webhook,
        effort,
        limit: effort.reviews.saturating_mul(4) / 5,
        failures: 0,
        report: Report::default(),
        found: BTreeMap::new(),
    };
    let mut seen_own = BTreeSet::new();
    for from in 0..versions.len() {
        let objects = prover.objects(&versions[from], own, &mut seen_own, &arena);
        for to in (0..versions.len()).filter(|to| *to != from) {
            prover.trips((&versions[from], from), (&versions[to], to), &objects);
        }
    }
    let of_none = (0..own.len()).filter(|at| !seen_own.contains(at));
    let why = "the definition has no such kind or version".to_owned();
    prover.report.refused.extend(of_none.map(|at| (at, why.clone())));
    prover.report.refused.sort();
    prover.limit = effort.reviews;
    prover.end(crd, &versions)
}

/// An object that a version accepts.
#[derive(Clone, Copy)]
struct Ready<'a> {
    /// As a user would write it.
    written: Value<'a>,
    /// As a server stores it.
    stored: Value<'a>,
    /// The field that it was made for; empty for the smallest object.
    field: Option<&'a str>,
}

/// What makes two faults the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    from: usize,
    to: usize,
    code: Code,
    /// The path without the numbers of items and the keys of maps, or the message without the values in it.
    shape: String,
}

/// A fault of one object.
struct Seen {
    key: Key,
    path: String,
    detail: String,
}

/// A fault, with the smallest object so far.
struct Found {
    key: Key,
    json: Vec<u8>,
    path: String,
    detail: String,
    count: usize,
    /// Whether the object has no empty value. One that has is not chosen if there is another.
    is_plain: bool,
    /// The fields that the objects were made for, if the conversion fails.
    fields: BTreeSet<String>,
}

impl Found {
    /// Whether its object shows less than the other one.
    fn shows_less(&self, other: &Found) -> bool {
        (!self.is_plain, self.json.len()) > (!other.is_plain, other.json.len())
    }

    /// Adds the same fault of other objects.
    fn join(&mut self, mut other: Found) {
        let count = self.count + other.count;
        let mut fields = std::mem::take(&mut self.fields);
        fields.append(&mut other.fields);
        if self.shows_less(&other) {
            *self = other;
        }
        (self.count, self.fields) = (count, fields);
    }
}

/// What one object showed.
#[derive(Default)]
struct Trip {
    seen: Vec<Seen>,
    /// The object in the other version.
    converted: Option<serde_json::Value>,
}

/// What a review made of an object.
enum Outcome<'o> {
    NotAsked,
    Failed(String),
    Made(Value<'o>, Vec<String>),
}

struct Prover<'p> {
    webhook: &'p mut dyn Webhook,
    effort: &'p Effort,
    /// The number of reviews that may be sent so far.
    limit: usize,
    /// The failed reviews since the last success.
    failures: usize,
    report: Report,
    found: BTreeMap<Key, Found>,
}

/// A version, and its index.
type Side<'s, 'a> = (&'s Resource<'a>, usize);

impl Prover<'_> {
    /// Returns the objects of a version: own ones, then made ones.
    fn objects<'a>(
        &mut self,
        version: &Resource<'a>,
        own: &[serde_json::Value],
        seen_own: &mut BTreeSet<usize>,
        arena: &'a Bump,
    ) -> Vec<Ready<'a>> {
        let mut out = Vec::new();
        for (at, object) in own.iter().enumerate() {
            let text = |key: &str| object.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
            if (text("apiVersion"), text("kind")) != (version.api_version, version.kind) {
                continue;
            }
            seen_own.insert(at);
            let memory = Bump::new();
            match ready(version, object.to_value(&memory).copy_into(arena), None, arena) {
                Ok(ready) => out.push(ready),
                Err(why) => self.report.refused.push((at, why)),
            }
        }
        let Effort { objects, bytes, seed, .. } = *self.effort;
        let made = made(version, objects.saturating_sub(out.len()), bytes, seed, arena);
        let made_ready = |Object { value, field }| {
            let field = field.map(|field| &*arena.alloc_str(&field));
            ready(version, value, field, arena).ok()
        };
        out.extend(made.objects.into_iter().filter_map(made_ready));
        self.report.versions.push(Tried {
            name: version.api_version.rsplit('/').next().unwrap_or_default().to_owned(),
            objects: out.len(),
            skipped: made.skipped,
            missing: made.missing.into_iter().collect(),
        });
        out
    }

    /// Converts all objects to another version and back, many in one review.
    fn trips(&mut self, from: Side<'_, '_>, to: Side<'_, '_>, objects: &[Ready<'_>]) {
        let mut rest = objects;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take(self.effort.batch.max(1)).take_while(|object| {
                let is_first = bytes == 0;
                bytes += object.stored.json_len(usize::MAX).unwrap_or_default();
                is_first || bytes <= MAX_BATCH_BYTES
            });
            let (chunk, others) = rest.split_at(fits.count());
            rest = others;
            let trips = self.round(from, to, chunk, false);
            for (object, trip) in chunk.iter().zip(trips) {
                for seen in trip.seen {
                    self.add(object, seen);
                }
            }
        }
    }

    /// Records a fault of an object.
    fn add(&mut self, object: &Ready<'_>, Seen { key, path, detail }: Seen) {
        if self.found.len() >= self.effort.faults && !self.found.contains_key(&key) {
            let why = format!("there are more than {} faults", self.effort.faults);
            self.report.stopped.get_or_insert(why);
            return;
        }
        let mut json = Vec::new();
        object.written.write_go_json(&mut json);
        let fields = object.field.filter(|_| key.code == Code::ConversionFails).map(str::to_owned);
        let fields = fields.into_iter().collect();
        let is_plain = is_plain(object.written);
        let found = Found { key: key.clone(), json, path, detail, count: 1, is_plain, fields };
        match self.found.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(found);
            }
            Entry::Occupied(mut entry) => entry.get_mut().join(found),
        }
    }

    /// Converts objects to another version and back. Returns what each of them showed.
    fn round(&mut self, from: Side<'_, '_>, to: Side<'_, '_>, objects: &[Ready<'_>], keeps: bool) -> Vec<Trip> {
        let arena = Bump::new();
        let key = |code: Code, shape: String| Key { from: from.1, to: to.1, code, shape };
        let mut trips: Vec<Trip> = objects.iter().map(|_| Trip::default()).collect();
        let sent: Vec<Value<'_>> = objects.iter().map(|object| object.stored).collect();
        let made = self.convert(&sent, to.0.api_version, &arena);
        // The objects that are converted back, and their index.
        let (mut there, mut indices) = (Vec::new(), Vec::new());
        for (at, made) in made.into_iter().enumerate() {
            let seen = &mut trips[at].seen;
            let Some(stored) = read(to.0, made, key, seen, "", &arena) else { continue };
            trips[at].converted = keeps.then(|| stored.to_serde());
            there.push(stored);
            indices.push(at);
        }
        let back = self.convert(&there, from.0.api_version, &arena);
        for (at, made) in indices.into_iter().zip(back) {
            let trip = &mut trips[at];
            let Some(returned) = read(from.0, made, key, &mut trip.seen, "on the way back: ", &arena) else { continue };
            for found in differences(sent[at], returned, from.0.schema) {
                let crate::compare::Difference { code, path, shape, detail } = found;
                trip.seen.push(Seen { key: key(code, shape), path, detail });
            }
        }
        trips
    }

    /// Converts objects in one review. If that fails, it looks for those that fail.
    fn convert<'o>(&mut self, objects: &[Value<'o>], to: &str, arena: &'o Bump) -> Vec<Outcome<'o>> {
        if objects.is_empty() {
            return Vec::new();
        }
        if !self.may_ask() {
            return objects.iter().map(|_| Outcome::NotAsked).collect();
        }
        match self.ask(objects, to, arena) {
            Ok(made) => made,
            Err(why) if objects.len() == 1 => vec![Outcome::Failed(why)],
            Err(why) => {
                let (left, right) = objects.split_at(objects.len() / 2);
                let mut made = self.convert(left, to, arena);
                made.extend(self.convert(right, to, arena));
                let is_found = made.iter().any(|made| matches!(made, Outcome::Failed(_)));
                let is_whole = made.iter().all(|made| matches!(made, Outcome::Made(..)));
                if !is_found && let Some(first) = made.first_mut() {
                    let count = objects.len();
                    let others = if is_whole { "; smaller reviews succeed" } else { "" };
                    *first = Outcome::Failed(format!("{why} ({count} objects together{others})"));
                }
                made
            }
        }
    }

    /// Returns whether a review may be sent.
    fn may_ask(&mut self) -> bool {
        let why = if self.webhook.is_over() {
            "the time is up".to_owned()
        } else if self.report.reviews >= self.limit {
            format!("{} reviews are sent", self.report.reviews)
        } else if self.failures >= MAX_FAILURES {
            format!("{MAX_FAILURES} reviews failed one after the other")
        } else {
            return true;
        };
        self.report.stopped.get_or_insert(why);
        false
    }

    /// Sends one review.
    ///
    /// # Errors
    /// The whole review failed.
    fn ask<'o>(&mut self, objects: &[Value<'o>], to: &str, arena: &'o Bump) -> Result<Vec<Outcome<'o>>, String> {
        let uid = format!("00000000-0000-4000-8000-{:012x}", self.report.reviews);
        self.report.reviews += 1;
        let review = Review { objects, version: self.effort.review, api_version: to, uid: &uid };
        let answer = self.webhook.convert(&review.body()).map_err(|why| format!("failed: {why}"));
        let answer = answer.and_then(|body| {
            serde_json::from_slice::<serde_json::Value>(&body)
                .map_err(|why| format!("failed: couldn't get version/kind; json parse error: {why}"))
        });
        let memory = Bump::new();
        let answer = answer.map(|answer| answer.to_value(&memory).copy_into(arena));
        let made = answer.and_then(|answer| Ok((review.converted(answer, arena)?, review.sent(answer)?)));
        let (made, raw) = made.inspect_err(|_| self.failures += 1)?;
        self.failures = 0;
        self.report.conversions += objects.len();
        let all = made.into_iter().zip(raw).zip(objects);
        let all = all.map(|((made, raw), original)| match made {
            Ok(made) => Outcome::Made(made, ignored(*original, *raw).into_iter().map(str::to_owned).collect()),
            Err(why) => Outcome::Failed(format!("returned {why}")),
        });
        Ok(all.collect())
    }

    /// Makes the objects smaller, and returns the report.
    fn end(mut self, crd: &Crd<'_>, versions: &[Resource<'_>]) -> Report {
        for found in by_field(std::mem::take(&mut self.found)) {
            let (at, target) = (found.key.from, found.key.to);
            let fault = self.smallest(crd, (&versions[at], at), (&versions[target], target), found);
            self.report.faults.push(fault);
        }
        self.report
    }

    /// Returns a fault with an object that is as small as possible.
    fn smallest(&mut self, crd: &Crd<'_>, from: Side<'_, '_>, to: Side<'_, '_>, found: Found) -> Fault {
        let Found { key, json, mut path, mut detail, count, is_plain: was_plain, fields } = found;
        let object: serde_json::Value = serde_json::from_slice(&json).unwrap_or_default();
        let arena = Bump::new();
        let mut converted = None;
        let mut shows = |prover: &mut Self, smaller: Value<'_>| {
            let memory = Bump::new();
            if was_plain && !is_plain(smaller) {
                return false;
            }
            let Ok(ready) = ready(from.0, smaller, None, &memory) else { return false };
            let trip = prover.round(from, to, &[ready], true).into_iter().next().unwrap_or_default();
            let Some(seen) = trip.seen.into_iter().find(|seen| seen.key == key) else { return false };
            (path, detail, converted) = (seen.path, seen.detail, trip.converted);
            true
        };
        let whole = object.to_value(&arena);
        // Whether it fails alone is not known.
        let is_shown = shows(self, whole);
        let small =
            if is_shown { shrink(whole, self.effort.shrinking, &arena, |value| shows(self, value)) } else { whole };
        let is_about_one = matches!(
            key.code,
            Code::ConversionRefused | Code::ConversionLost | Code::ConversionChanged | Code::ConversionAdded
        );
        if let Some(first) = fields.first().filter(|first| !first.is_empty()) {
            path.clone_from(first);
            let others: Vec<&str> = fields.iter().skip(1).map(String::as_str).collect();
            detail.push_str(&and_others(&others));
        }
        let name = |side: Side<'_, '_>| side.0.api_version.rsplit('/').next().unwrap_or_default().to_owned();
        Fault {
            code: if was_plain || !is_about_one { key.code } else { Code::ConversionOfEmpty },
            what: key.code,
            from: name(from),
            to: name(to),
            at: place(crd, &name(if is_about_target(key.code) { to } else { from }), &path),
            path,
            detail,
            object: small.to_serde(),
            converted,
            count,
        }
    }
}

/// Joins failures that have a field in common: a webhook fails in several ways if it cannot read a value.
fn by_field(found: BTreeMap<Key, Found>) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    for mut found in found.into_values() {
        let is_same = |other: &Found| {
            (other.key.from, other.key.to) == (found.key.from, found.key.to) && !other.fields.is_disjoint(&found.fields)
        };
        let (same, others): (Vec<Found>, Vec<Found>) = out.into_iter().partition(is_same);
        out = others;
        for other in same {
            found.join(other);
        }
        out.push(found);
    }
    let place = |found: &Found| (found.key.from, found.key.to, found.key.code);
    out.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| (&a.fields, &a.key.shape).cmp(&(&b.fields, &b.key.shape))));
    out
}

/// Returns the other fields of a failure: the first ones, and the number of the rest.
fn and_others(fields: &[&str]) -> String {
    let (shown, rest) = fields.split_at(fields.len().min(MAX_FIELDS));
    match rest.len() {
        _ if shown.is_empty() => String::new(),
        0 => format!(" (also {})", shown.join(", ")),
        more => format!(" (also {} and {more} more)", shown.join(", ")),
    }
}

fn is_about_target(code: Code) -> bool {
    matches!(code, Code::ConversionRefused | Code::ConversionPruned)
}

/// Reads what a webhook made of an object as the version does: prunes it and adds defaults. Records what is wrong.
fn read<'o>(
    version: &Resource<'o>,
    made: Outcome<'o>,
    key: impl Fn(Code, String) -> Key,
    seen: &mut Vec<Seen>,
    way: &str,
    arena: &'o Bump,
) -> Option<Value<'o>> {
    let mut tell = |code: Code, shape: String, path: String, detail: String| {
        seen.push(Seen { key: key(code, shape), path, detail: format!("{way}{detail}") });
    };
    let (object, ignored) = match made {
        Outcome::NotAsked => return None,
        Outcome::Failed(why) => {
            tell(
                Code::ConversionFails,
                format!("{way}{}", without_values(&why)),
                String::new(),
                format!("conversion webhook {why}"),
            );
            return None;
        }
        Outcome::Made(object, ignored) => (object, ignored),
    };
    for name in ignored {
        let path = format!("metadata.{name}");
        let detail = "the webhook changes it, and the server keeps the old value".to_owned();
        tell(Code::ConversionMetadata, format!("{way}{path}"), path, detail);
    }
    let decoded = match version.decode(object, arena) {
        Ok(decoded) => decoded,
        Err(why) => {
            tell(Code::ConversionRefused, format!("{way}{}", without_values(&why)), String::new(), why);
            return None;
        }
    };
    for path in decoded.unknown {
        let detail = "the version has no such field".to_owned();
        tell(Code::ConversionPruned, format!("{way}{}", shape_of(&path)), path, detail);
    }
    for error in version.create(decoded.value, arena).errors {
        if error.detail.ends_with(RULES_NOT_CHECKED) {
            continue;
        }
        let shape = format!("{way}{}", shape_of(&error.path));
        tell(Code::ConversionRefused, shape, error.path.clone(), error.to_string());
    }
    Some(decoded.value)
}

/// Returns an object as a server stores it.
///
/// # Errors
/// The version does not accept it, or drops fields of it: says why.
fn ready<'a>(
    version: &Resource<'a>,
    written: Value<'a>,
    field: Option<&'a str>,
    arena: &'a Bump,
) -> Result<Ready<'a>, String> {
    let decoded = version.decode(written, arena)?;
    if let Some(path) = decoded.unknown.first() {
        return Err(format!("unknown field {path:?}"));
    }
    if let Some(error) = version.create(decoded.value, arena).errors.first() {
        return Err(error.to_string());
    }
    let Value::Map(map) = decoded.value else { return Err("it is not an object".to_owned()) };
    let mut metadata = map.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    let mut set = |key: &'a str, value: Value<'a>| {
        if metadata.get(key).is_none() {
            metadata = metadata.with(key, Some(value), arena);
        }
    };
    let one = |key: &'a str| Value::Map(Map::from_entries(vec![(key, Value::String("kept"))], arena));
    if version.namespaced {
        set("namespace", Value::String("default"));
    }
    set("uid", Value::String("5f0ba2a4-7a0c-4f43-9d3c-1d1f2a3b4c5d"));
    set("resourceVersion", Value::String("1"));
    set("generation", Value::Int(1));
    set("creationTimestamp", Value::String("2024-01-01T00:00:00Z"));
    set("labels", one("example.com/label"));
    set("annotations", one("example.com/annotation"));
    Ok(Ready { written, stored: Value::Map(map.with("metadata", Some(Value::Map(metadata)), arena)), field })
}

/// Returns a path without the numbers of items and the keys of maps.
fn shape_of(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut is_inside = false;
    for c in path.chars() {
        match c {
            '[' => {
                is_inside = true;
                out.push_str("[*]");
            }
            ']' => is_inside = false,
            c if !is_inside => out.push(c),
            _ => {}
        }
    }
    out
}

/// Returns a message without quoted strings and numbers, which differ between objects, and without paths, which differ
/// between fields that fail for the same reason: words with two dots.
fn without_values(message: &str) -> String {
    let is_path = |word: &&str| word.matches('.').count() > 1;
    let words: Vec<&str> = message.split(' ').filter(|word| !is_path(word)).collect();
    let message = words.join(" ");
    let mut out = String::with_capacity(message.len());
    let mut quote = None;
    for c in message.chars() {
        match (quote, c) {
            (None, '"' | '`') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, c) if !c.is_ascii_digit() => out.push(c),
            _ => {}
        }
    }
    out
}

/// Returns the location of the schema at a path, or of the nearest one around it.
fn place(crd: &Crd<'_>, version: &str, path: &str) -> u32 {
    let Some(version) = crd.versions.iter().find(|known| known.name == version) else { return crd.at };
    let mut at = version.at;
    let mut schema: Option<&Schema<'_>> = version.schema;
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let Some(around) = schema else { break };
        if let Some(property) = around.properties.iter().find(|property| property.name == step) {
            at = property.at;
            schema = Some(&property.schema);
        } else {
            schema = around.item().or_else(|| around.additional_schema());
        }
    }
    at
}
