//! Area `changes`: compares the findings of `kubeshape-diff` about two definitions with the Kubernetes libraries. The
//! old definition must accept each witness, and the new one must not. If the new definition rejects an object that the
//! old one accepts, some change must report this.
//!
//! The pairs are those of real projects (`upgrades` in the folder of inputs), recorded definitions with changed ones,
//! and generated ones.

mod undo;

use crate::golden;
use crate::known::Known;
use crate::oracle::{self, Oracle};
use crate::plan::Plan;
use crate::structural::{changed_definitions, crds_of};
use crate::table::{Table, Verdict};
use kubeshape_corpus::generate::Draw;
use kubeshape_corpus::generate::definition::{changed, custom_resource, definition};
use kubeshape_diff::{Change, Class, Consumer, Effort, Outcome, Proof, definitions, witnesses};
use kubeshape_sample::{Step, Wanted, sample_with, values};
use kubeshape_schema::{Bump, Code, Schema};
use kubeshape_smd::Value as Object;
use kubeshape_structural::Crd;
use kubeshape_validate::object::Resource;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Number of random objects for a real pair, and for another one.
const DRAWN: usize = 300;
const DRAWN_OF_OTHERS: usize = 24;
/// How often a generated pair is replaced because a server rejects one of its definitions.
const ROUNDS: u64 = 24;
/// With at least this many generated pairs, all real pairs are compared; with fewer, a share of them.
const ALL: u64 = 2_000;

/// Compares the pairs of a plan: generated pairs, half as many changed real definitions, and all real pairs or a share
/// of them.
///
/// # Errors
/// Go is not installed, or the Go program fails.
pub fn compare(plan: &Plan, known: Known) -> Result<Table, String> {
    let program = oracle::build()?;
    let mut area = Area {
        oracle: Oracle::start(&program, &["objects"])?,
        table: Table::new("changes", known),
        tally: Tally::default(),
    };
    let folder = |name: &str| std::env::var_os(name).map(std::path::PathBuf::from);
    let share = usize::try_from(ALL.div_ceil(plan.count.clamp(1, ALL))).unwrap_or(1);
    if let Some(corpus) = folder("KUBESHAPE_CORPUS") {
        let pairs = upgrades(&corpus.join("upgrades"))?;
        for (at, pair) in pairs.iter().enumerate().filter(|(at, _)| at % share == 0) {
            area.pair("upgrades", pair, DRAWN, &[], plan.seed.wrapping_add(at as u64))?;
        }
        area.end_of("upgrades");
        if let Some(golden) = folder("KUBESHAPE_GOLDEN") {
            let most = usize::try_from(plan.count / 2).unwrap_or(usize::MAX);
            for (at, (label, old, new)) in
                changed_definitions(&golden, &corpus, most, &mut area.table).into_iter().enumerate()
            {
                let seed = plan.seed.wrapping_add(at as u64);
                area.pair("mutations", &Pair { label, old, new }, DRAWN_OF_OTHERS, &[], seed)?;
            }
            area.end_of("mutations");
        }
    }
    for n in 0..plan.count {
        for round in 0..ROUNDS {
            let seed = plan.seed.wrapping_add(n).wrapping_add(round << 32);
            let mut draw = Draw::new(seed);
            let old = definition(&mut draw);
            let new = changed(&mut draw, &old);
            let objects: Vec<Value> = (0..DRAWN_OF_OTHERS / 2).map(|_| custom_resource(&mut draw, &old)).collect();
            let pair = Pair { label: format!("seed {seed}"), old, new };
            if area.pair("generated", &pair, DRAWN_OF_OTHERS, &objects, seed)? {
                break;
            }
        }
    }
    area.end_of("generated");
    Ok(area.table)
}

/// An old and a new definition.
struct Pair {
    label: String,
    old: Value,
    new: Value,
}

/// The definitions of real projects, as `pairs.ndjson` lists them.
fn upgrades(folder: &Path) -> Result<Vec<Pair>, String> {
    let list = folder.join("pairs.ndjson");
    if !list.is_file() {
        return Ok(Vec::new());
    }
    let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&list).map_err(|error| failed(&list, &error))?;
    let mut out = Vec::new();
    for line in text.lines() {
        let pair: Value = serde_json::from_str(line).map_err(|error| failed(&list, &error))?;
        let name = pair["name"].as_str().unwrap_or_default();
        let side = |side: &str| {
            let file = folder.join("crds").join(format!("{}.yaml.gz", pair[side]["sha"].as_str().unwrap_or_default()));
            let text = golden::read(&file).map_err(|error| failed(&file, &error))?;
            let crds = crds_of(&text).into_iter().filter_map(|source| serde_json::from_str::<Value>(&source).ok());
            let found = crds.into_iter().find(|crd| crd["metadata"]["name"] == name);
            found.ok_or_else(|| format!("{}: there is no {name}", file.display()))
        };
        let tag = |side: &str| pair[side]["tag"].as_str().unwrap_or_default().to_owned();
        let label = format!("{name} {} {}", tag("old"), tag("new"));
        out.push(Pair { label, old: side("old")?, new: side("new")? });
    }
    Ok(out)
}

/// The answer of the Go program.
#[derive(Deserialize)]
struct Answer {
    error: Option<String>,
    #[serde(default)]
    cases: Vec<Case>,
}

/// Its answer for one object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    decode_error: Option<String>,
    panic: Option<String>,
    #[serde(default)]
    unknown: Vec<String>,
    result: Option<Value>,
    #[serde(default)]
    errors: Vec<Told>,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    field: String,
    #[serde(default)]
    detail: String,
}

impl Case {
    fn is_accepted(&self) -> bool {
        self.panic.is_none() && self.decode_error.is_none() && self.errors.is_empty() && self.unknown.is_empty()
    }

    /// Returns why a strict request is rejected: the fields, and the messages.
    fn refusals(&self) -> Vec<(String, String)> {
        let decode = self.decode_error.iter().map(|error| (String::new(), error.clone()));
        let unknown = self.unknown.iter().map(|path| (path.clone(), "unknown field".to_owned()));
        let errors = self.errors.iter().map(|error| (error.field.clone(), error.detail.clone()));
        decode.chain(unknown).chain(errors).collect()
    }
}

/// Counts for the remarks of a kind of pairs.
#[derive(Default)]
struct Tally {
    pairs: usize,
    drawn: usize,
    accepted: usize,
    refused: usize,
    /// Rejections that were checked again without the changes that report them, and those for which a server rejects
    /// the remaining definition.
    undone: usize,
    open: usize,
}

struct Area {
    oracle: Oracle,
    table: Table,
    tally: Tally,
}

/// Witnesses of a version, each with its change.
type Claims = Vec<(String, Outcome, Value)>;

impl Area {
    /// Compares each version that both definitions have. Returns whether a server accepts both definitions.
    fn pair(&mut self, kind: &str, pair: &Pair, drawn: usize, more: &[Value], seed: u64) -> Result<bool, String> {
        let versions = |crd: &Value| {
            let versions = crd["spec"]["versions"].as_array().cloned().unwrap_or_default();
            versions.into_iter().filter_map(|version| version["name"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let new_versions = versions(&pair.new);
        let kept: Vec<String> = versions(&pair.old).into_iter().filter(|name| new_versions.contains(name)).collect();
        if kept.is_empty() || pair.old["apiVersion"] != "apiextensions.k8s.io/v1" {
            return Ok(false);
        }
        // Most changes of generated definitions are rejected, and objects cost more than this check.
        if kind == "generated" {
            for crd in [&pair.old, &pair.new] {
                let input = json!({"definition": of_version(crd, &kept[0]), "objects": []});
                if self.oracle.ask::<Answer>(&pair.label, &input)?.error.is_some() {
                    return Ok(false);
                }
            }
        }
        let per_version = drawn.div_ceil(kept.len());
        let (old_text, new_text) = (pair.old.to_string(), pair.new.to_string());
        let judged = with_both(&old_text, &new_text, |old, new| {
            let changes = definitions(old, new);
            let proofs = witnesses(old, new, &Effort::default());
            let mut per = Vec::new();
            for name in &kept {
                let claims = claims(&changes, &proofs, name);
                per.push((claims, objects(old, new, name, per_version, seed)));
            }
            (changes, proofs, per)
        });
        let Some((changes, proofs, per)) = judged else { return Ok(false) };
        let mut is_judged = false;
        for (name, (claims, mut objects)) in kept.iter().zip(per) {
            if pair.old["spec"]["versions"][0]["name"] == name.as_str() {
                objects.extend(more.iter().cloned());
            }
            let first = claims.len();
            let mut all: Vec<Value> = claims.iter().map(|(_, _, object)| object.clone()).chain(objects).collect();
            // Upstream's strategies require the namespace that a request would add.
            if pair.old["spec"]["scope"] == "Namespaced" {
                all.iter_mut().for_each(in_namespace);
            }
            let mut ask = |crd: &Value| -> Result<Answer, String> {
                self.oracle.ask(&pair.label, &json!({"definition": of_version(crd, name), "objects": all}))
            };
            let (before, after) = (ask(&pair.old)?, ask(&pair.new)?);
            if before.error.is_some() || after.error.is_some() {
                // A server rejects one of the definitions.
                continue;
            }
            is_judged = true;
            let label = format!("{} {name}", pair.label);
            for ((what, outcome, object), (before, after)) in claims.iter().zip(before.cases.iter().zip(&after.cases)) {
                let verdict = witness_verdict(*outcome, object, before, after);
                self.table.add(&format!("{kind} witnesses"), &format!("{label} {what}"), verdict);
            }
            let answers = before.cases.iter().zip(&after.cases);
            for ((before, after), object) in answers.zip(&all).skip(first) {
                self.tally.drawn += 1;
                if !before.is_accepted() || after.panic.is_some() {
                    continue;
                }
                self.tally.accepted += 1;
                let refusals = after.refusals();
                if refusals.is_empty() {
                    continue;
                }
                self.tally.refused += 1;
                let mut miss = None;
                for (field, detail) in &refusals {
                    if !self.is_reported(pair, &changes, name, (field, detail), object)? {
                        miss = Some((field, detail));
                        break;
                    }
                }
                let verdict = match miss {
                    None => Verdict::Equal,
                    Some((field, detail)) => {
                        Verdict::Differing(format!("no change reports {field}: {detail}, for {object}"))
                    }
                };
                self.table.add(&format!("{kind} refusals"), &label, verdict);
            }
        }
        if is_judged {
            self.tally.pairs += 1;
            self.proofs(kind, pair, &changes, &proofs);
        }
        Ok(is_judged)
    }

    /// Returns whether changes report that writers may be rejected because of a field. These are a change of the field
    /// itself, or changes above or below it without which the field has no error.
    fn is_reported(
        &mut self,
        pair: &Pair,
        changes: &[Change],
        version: &str,
        (field, detail): (&str, &str),
        object: &Value,
    ) -> Result<bool, String> {
        // Upstream stops after an error, with a message.
        if detail.contains("some validation rules were not checked") {
            return Ok(true);
        }
        let field = field_of(field, detail);
        let is_risky = |change: &&Change| {
            change.class_for(Consumer::Writers).is_some_and(|class| class >= Class::Risky)
                && (change.version == version || change.version.is_empty())
        };
        let risky = changes.iter().filter(is_risky);
        let near: Vec<&Change> =
            risky.filter(|change| is_above(&change.path, field) || is_above(field, &change.path)).collect();
        if near.is_empty() {
            return Ok(false);
        }
        if near.iter().any(|change| is_above(&change.path, field) && is_above(field, &change.path)) {
            return Ok(true);
        }
        let without = undo::without(&pair.old, &pair.new, version, &near);
        let input = json!({"definition": of_version(&without, version), "objects": [object]});
        let answer: Answer = self.oracle.ask(&pair.label, &input)?;
        self.tally.undone += 1;
        let Some(case) = answer.cases.first().filter(|_| answer.error.is_none()) else {
            // A server rejects the remaining definition.
            self.tally.open += 1;
            return Ok(true);
        };
        Ok(!case.refusals().iter().any(|(other, detail)| field_of(other, detail) == field))
    }

    /// Checks that breaking findings have witnesses.
    fn proofs(&mut self, kind: &str, pair: &Pair, changes: &[Change], proofs: &[Proof]) {
        for (change, proof) in changes.iter().zip(proofs) {
            let is_breaking = |consumer| change.class_for(consumer) == Some(Class::Breaking);
            if !is_breaking(Consumer::Writers) && !is_breaking(Consumer::Storage) {
                continue;
            }
            let record = format!("{} {} {}", pair.label, change.version, change.path);
            match proof {
                Proof::None(why) => {
                    let found = format!("{} {}: {why}", change.code, change.detail);
                    self.table.add(&format!("{kind} proofs"), &record, Verdict::Missing(found));
                }
                _ => self.table.add(&format!("{kind} proofs"), &record, Verdict::Equal),
            }
        }
    }

    /// Prints the numbers of pairs and objects.
    fn end_of(&mut self, kind: &str) {
        let Tally { pairs, drawn, accepted, refused, undone, open } = std::mem::take(&mut self.tally);
        let remark = format!(
            "{pairs} pairs, {drawn} objects; the old definition accepts {accepted} and the new one refuses {refused}; \
             {undone} refusals were checked without the changes above and below, {open} of them without a result"
        );
        self.table.remark(&format!("{kind} refusals"), &remark);
    }
}

/// Reads both definitions. Returns `None` if one cannot be decoded.
fn with_both<T>(old: &str, new: &str, then: impl FnOnce(&Crd<'_>, &Crd<'_>) -> T) -> Option<T> {
    let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
    Stream::new(old.as_bytes(), Limits::default()).ok()?.next(&mut old_tape)?.ok()?;
    Stream::new(new.as_bytes(), Limits::default()).ok()?.next(&mut new_tape)?.ok()?;
    let arena = Bump::new();
    let old = kubeshape_structural::read::read(old_tape.document(old).root()?, &arena).value?;
    let new = kubeshape_structural::read::read(new_tape.document(new).root()?, &arena).value?;
    Some(then(&old, &new))
}

/// Returns the definition with only one version, which the Go program then uses.
fn of_version(crd: &Value, name: &str) -> Value {
    let mut out = crd.clone();
    if let Some(versions) = out["spec"]["versions"].as_array_mut() {
        versions.retain(|version| version["name"] == name);
        for version in versions {
            version["served"] = json!(true);
            version["storage"] = json!(true);
        }
    }
    if let Some(spec) = out["spec"].as_object_mut() {
        spec.remove("conversion");
    }
    if let Some(crd) = out.as_object_mut() {
        crd.remove("status");
    }
    out
}

/// Returns the witnesses that objects of one version show. The answers do not contain the results of requests to other
/// versions.
fn claims(changes: &[Change], proofs: &[Proof], version: &str) -> Claims {
    let about = changes.iter().zip(proofs).filter(|(change, _)| {
        change.version == version && !matches!(change.code, Code::DiffSubresource | Code::DiffVersionGone)
    });
    about
        .filter_map(|(change, proof)| match proof {
            Proof::Witness(witness) => {
                Some((format!("{} {}", change.code, change.path), witness.outcome, witness.object.clone()))
            }
            _ => None,
        })
        .collect()
}

/// Compares an object with the outcome of its witness.
fn witness_verdict(outcome: Outcome, object: &Value, before: &Case, after: &Case) -> Verdict {
    if !before.is_accepted() {
        return Verdict::Differing(format!("the old definition refuses {object}: {:?}", before.refusals()));
    }
    let is_shown = match outcome {
        Outcome::Refused => after.decode_error.is_some() || !after.errors.is_empty(),
        // An object that no longer has the kind is rejected before fields are dropped.
        Outcome::Dropped => !after.unknown.is_empty() || after.decode_error.is_some(),
        Outcome::StoredOtherwise => before.result != after.result,
        // Definitions do not have these.
        Outcome::Warned | Outcome::Accepted => false,
    };
    if is_shown {
        Verdict::Equal
    } else {
        Verdict::Differing(format!("it is not {outcome} by the new definition: {object}"))
    }
}

/// Gives an object a namespace if it has none.
fn in_namespace(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("namespace").or_insert_with(|| "default".into());
    }
}

/// Returns the field of an error. Errors of logic and of ranges of numbers have it in their message.
fn field_of<'e>(field: &'e str, detail: &'e str) -> &'e str {
    let named = || detail.split('"').nth(1).or_else(|| detail.rsplit_once(" in ").map(|(_, name)| name));
    if field.is_empty() || field == "<nil>" { named().unwrap_or_default() } else { field }
}

/// Returns whether a field is the same as another one, or above it.
fn is_above(above: &str, below: &str) -> bool {
    let steps = |path: &str| {
        let path = path.replace(['[', ']'], ".");
        let steps = path.split('.').filter(|step| !step.is_empty() && step.parse::<usize>().is_err());
        steps.map(str::to_owned).collect::<Vec<_>>()
    };
    let (above, below) = (steps(above), steps(below));
    above.len() <= below.len()
        && above.iter().zip(&below).all(|(one, other)| one == "*" || other == "*" || one == other)
}

/// Returns objects of one version: samples of the old definition with some values replaced. Most of these values match
/// the old schema, some match the new one, and some have a wrong type.
fn objects(old: &Crd<'_>, new: &Crd<'_>, version: &str, count: usize, seed: u64) -> Vec<Value> {
    let find = |crd: &'_ Crd<'_>| crd.versions.iter().position(|other| other.name == version);
    let (Some(was), Some(is)) = (find(old), find(new)) else { return Vec::new() };
    let arena = Bump::new();
    let mut resource = Resource::new(old, &old.versions[was], crate::RECORDED, &arena);
    // Includes the status in the samples.
    resource.status = false;
    let Some(schema) = resource.schema else { return Vec::new() };
    let other = new.versions[is].schema;
    let mut draw = Draw::new(seed);
    let mut out = Vec::new();
    for _ in 0..count {
        let memory = Bump::new();
        let mut wanted = Wanted::default();
        for _ in 0..=draw.below(4) {
            let (steps, value) = place(schema, other, &mut draw, &memory);
            wanted.want(&steps, value);
        }
        out.push(sample_with(&resource, &wanted, 2, &memory).value.to_serde());
    }
    out
}

/// Returns a path in a schema, and a value for it.
fn place<'a>(
    root: &'a Schema<'a>,
    other: Option<&'a Schema<'a>>,
    draw: &mut Draw,
    arena: &'a Bump,
) -> (Vec<Step<'a>>, Option<Object<'a>>) {
    const DEPTH: usize = 12;
    let (mut schema, mut other) = (root, other);
    let mut steps = Vec::new();
    for _ in 0..DEPTH {
        let is_leaf = schema.properties.is_empty() && schema.item().is_none() && schema.additional_schema().is_none();
        if is_leaf || !steps.is_empty() && draw.percent(15) {
            break;
        }
        if let Some(item) = schema.item() {
            steps.push(Step::Item);
            other = other.and_then(Schema::item);
            schema = item;
        } else if !schema.properties.is_empty() {
            let property = draw.pick(schema.properties);
            steps.push(Step::Property(property.name));
            other = other.and_then(|other| other.property(property.name));
            schema = &property.schema;
        } else if let Some(below) = schema.additional_schema() {
            steps.push(Step::Key("any"));
            other = other.and_then(Schema::additional_schema);
            schema = below;
        }
    }
    let given = match draw.below(16) {
        0 | 1 => None,
        2 => Some(Object::Null),
        3 => Some(*draw.pick(&[Object::Int(-1), Object::Int(3_000_000_000), Object::String(""), Object::Float(0.5)])),
        n => {
            let from = if n < 7 { other.unwrap_or(schema) } else { schema };
            let values = values(from, 12, arena);
            (!values.is_empty()).then(|| *draw.pick(&values))
        }
    };
    (steps, given)
}
