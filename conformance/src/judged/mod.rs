//! Area `judged`: the answers of the Kubernetes libraries for generated expressions, definitions and objects, in the
//! same run. Before a difference is shown, its input is reduced.

mod definitions;
mod objects;
mod reduce;
mod samples;

use crate::definition::with_definition;
use crate::doctor;
use crate::golden;
use crate::known::Known;
use crate::oracle::{self, Oracle, Other};
use crate::plan::Plan;
use crate::structural::crds_of;
use crate::table::{Table, Verdict};
use kubeshape_conformance_cel as cel;
use kubeshape_corpus::generate::{Draw, expression};
use kubeshape_validate::Release;
use kubeshape_validate::crd::Defaults;
use serde_json::Value;
use std::path::Path;

/// The maximum number of differences per kind of input that are reduced. Further ones are only counted.
const SHOWN: usize = 8;

/// Compares all of a plan, with the libraries whose answers are recorded or with those of another release.
///
/// # Errors
/// Go is not installed, or the Go program fails.
pub fn compare(plan: &Plan, other: Option<&Other>, known: Known) -> Result<Table, String> {
    let (program, release) = match other {
        Some(other) => (other.program.clone(), other.release),
        None => (oracle::build()?, crate::RECORDED),
    };
    let mut table = Table::new("judged", known);
    let compare_definition = |id: &str, input: &Value, answer: &Value, table: &mut Table| {
        definitions::compare(release, id, input, answer, table);
    };
    let compare_objects = |id: &str, input: &Value, answer: &Value, table: &mut Table| {
        objects::compare(release, id, input, answer, table);
    };
    let compare_samples = |id: &str, input: &Value, answer: &Value, table: &mut Table| {
        samples::compare(release, id, input, answer, table);
    };
    let compare_expression = |id: &str, _: &Value, answer: &Value, table: &mut Table| {
        expression(release, id, answer, table);
    };
    let oracle = &mut Oracle::start(&program, &["expressions"])?;
    each(plan, plan.count, oracle, expression::request, &compare_expression, &mut table)?;
    let real = real_definitions()?;
    let oracle = &mut Oracle::start(&program, &["definitions"])?;
    let count = plan.count / 4;
    each(plan, count, oracle, definitions::generated, &compare_definition, &mut table)?;
    each(plan, count, oracle, |draw| definitions::changed(draw, &real), &compare_definition, &mut table)?;
    proposals(plan, release, oracle, &mut table)?;
    let oracle = &mut Oracle::start(&program, &["objects"])?;
    let count = plan.count / 2 / objects::PER_DEFINITION / 2;
    each(plan, count, oracle, objects::generated, &compare_objects, &mut table)?;
    each(plan, count, oracle, objects::spoiled, &compare_objects, &mut table)?;
    each(plan, count, oracle, |draw| objects::of_real(draw, &real), &compare_objects, &mut table)?;
    each(plan, count, oracle, |draw| samples::generated(release, draw), &compare_samples, &mut table)?;
    let mut rest = real.iter();
    let next = |_: &mut Draw| rest.next().map_or(Value::Null, |definition| samples::of(release, definition));
    each(plan, real.len() as u64, oracle, next, &compare_samples, &mut table)?;
    Ok(table)
}

/// The proposals of the cost doctor for definitions that cost too much: the libraries accept the costs with all of the
/// bounds, and reject them if one is missing. There is one definition for every hundred expressions, because few
/// generated ones cost too much.
fn proposals(plan: &Plan, release: Release, oracle: &mut Oracle, table: &mut Table) -> Result<(), String> {
    let mut missing = plan.count.div_ceil(100);
    for n in 0..plan.count.saturating_mul(10) {
        if missing == 0 {
            break;
        }
        let id = format!("seed {}", plan.seed.wrapping_add(n));
        let input = definitions::costly(&mut Draw::new(plan.seed.wrapping_add(n)));
        if !doctor::only_costs_too_much(&input, release) {
            continue;
        }
        missing -= 1;
        let mut too_much = |definition: &Value| {
            let answer: Value = oracle.ask(&id, &serde_json::json!({ "new": definition }))?;
            Ok::<bool, String>(definitions::only_costs_too_much(&answer))
        };
        if too_much(&input)? {
            doctor::propose("cost doctor", &id, &input, release, table, &mut too_much)?;
        } else {
            table.add("cost doctor", &id, Verdict::Differing("costs too much here only".to_owned()));
        }
    }
    Ok(())
}

/// Returns the definitions of the own corpus, and those of the folder of inputs if there is one.
fn real_definitions() -> Result<Vec<Value>, String> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for file in kubeshape_corpus::files().map_err(|error| error.to_string())? {
        // KNOWN.md has the difference for `items` that is not a schema.
        if !file.id.contains("types-items") {
            texts.push(file.bytes);
        }
    }
    if let Some(folder) = std::env::var_os("KUBESHAPE_CORPUS") {
        for file in golden::files(&Path::new(&folder).join("crds")) {
            texts.push(golden::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
        }
    }
    let found = texts.iter().flat_map(|text| crds_of(text));
    // A definition that cannot be decoded cannot be the one before an update.
    let found = found.filter(|source| with_definition(source, Defaults::Set, |_, _| ()).is_some());
    let found = found.filter_map(|source| serde_json::from_str::<Value>(&source).ok());
    // Definitions of the older version have some members at other places.
    Ok(found
        .filter(|crd| crd["apiVersion"] == "apiextensions.k8s.io/v1" && crd["spec"]["versions"][0].is_object())
        .collect())
}

/// Generates inputs one by one, requests the answer, compares, and reduces the input of a difference.
pub(crate) fn each(
    plan: &Plan,
    count: u64,
    oracle: &mut Oracle,
    mut generate: impl FnMut(&mut Draw) -> Value,
    compare: &dyn Fn(&str, &Value, &Value, &mut Table),
    table: &mut Table,
) -> Result<(), String> {
    let mut shown = 0;
    for n in 0..count {
        let seed = plan.seed.wrapping_add(n);
        let id = format!("seed {seed}");
        let input = generate(&mut Draw::new(seed));
        let mut trial = table.like();
        let answer: Value = oracle.ask(&id, &input)?;
        compare(&id, &input, &answer, &mut trial);
        if trial.objections() > 0 && shown < SHOWN {
            shown += 1;
            let rows = trial.failing_rows();
            let mut failure = None;
            let small = reduce::json(&input, &mut |smaller| {
                let mut again = table.like();
                match oracle.ask::<Value>(&id, smaller) {
                    Ok(answer) => compare(&id, smaller, &answer, &mut again),
                    Err(error) => failure = Some(error),
                }
                again.failing_rows().iter().any(|row| rows.contains(row))
            });
            if let Some(error) = failure {
                return Err(error);
            }
            let mut again = table.like();
            let answer: Value = oracle.ask(&id, &small)?;
            compare(&id, &small, &answer, &mut again);
            trial.append_to_differences(&format!("\n  made small: {}  {small}", again.differences()));
        }
        table.take(trial);
    }
    Ok(())
}

/// A part of the message of older versions of cel-go about a node whose type is determined twice.
const TWICE: &str = " already exists for expression";

/// Returns whether an answer has a message with an address of memory: the message about the target of `optMap` and
/// `optFlatMap` if its type is not determined.
fn is_unstable(answer: &Value) -> bool {
    match answer {
        Value::String(text) => text.contains(TWICE),
        Value::Array(items) => items.iter().any(is_unstable),
        Value::Object(members) => members.values().any(is_unstable),
        _ => false,
    }
}

/// Returns whether cel-go puts the target of `optMap` and `optFlatMap` into the tree twice, instead of a copy. It then
/// finds the cost of one use in place of that of the other.
fn shares_nodes(release: Release) -> bool {
    !release.since(32)
}

fn has_optional_macro(expression: &str) -> bool {
    ["optMap", "optFlatMap"].iter().any(|name| expression.contains(name))
}

fn expression(release: Release, id: &str, answer: &Value, table: &mut Table) {
    if is_unstable(answer) {
        return;
    }
    let mut record = answer.clone();
    record["id"] = id.into();
    if shares_nodes(release) && has_optional_macro(answer["expr"].as_str().unwrap_or_default()) {
        record.as_object_mut().map(|record| record.remove("cost"));
    }
    let mut compared = Vec::new();
    cel::expression(&mut compared, "expressions", &record, release);
    crate::cel::add(table, compared);
}
