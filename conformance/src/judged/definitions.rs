//! Creation and update of definitions: errors, warnings, and the compiled rules and their costs.

use crate::definition::with_definition;
use crate::doctor;
use crate::structural::{Expected, compare_errors};
use crate::table::{Table, Verdict};
use kubeshape_conformance_cel as cel;
use kubeshape_corpus::generate::{Draw, definition};
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Defaults};
use serde::Deserialize;
use serde_json::{Value, json};

/// The answer of `oracle definitions`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    decode_error: Option<String>,
    panic: Option<String>,
    #[serde(default)]
    unstable: bool,
    #[serde(default)]
    errors: Vec<Expected>,
    #[serde(default)]
    warnings: Vec<String>,
    update_errors: Option<Vec<Expected>>,
    update_warnings: Option<Vec<String>>,
    compile: Option<Value>,
}

/// Returns a generated definition, in most cases a valid one.
pub(super) fn generated(draw: &mut Draw) -> Value {
    let old = definition::definition(draw);
    let new = if draw.percent(30) { definition::changed(draw, &old) } else { old.clone() };
    request(draw, &old, &new)
}

/// Returns a definition without bounds, whose rules walk lists and maps.
pub(super) fn costly(draw: &mut Draw) -> Value {
    let mut definition = definition::definition(draw);
    definition::drop_bounds(&mut definition);
    definition
}

/// Returns one of the given definitions, changed.
pub(super) fn changed(draw: &mut Draw, real: &[Value]) -> Value {
    let old = draw.pick(real).clone();
    let new = definition::changed(draw, &old);
    request(draw, &old, &new)
}

fn request(draw: &mut Draw, old: &Value, new: &Value) -> Value {
    match draw.below(3) {
        0 => json!({"new": new}),
        1 => json!({"new": new, "old": old, "established": draw.percent(70)}),
        _ => json!({"new": new, "old": new, "established": draw.percent(70)}),
    }
}

/// Returns whether the Go program's answer is only that rules cost too much.
///
/// Upstream does not count the rules of a schema in which a rule has another error. The doctor does: they cost too much
/// once the error is fixed.
pub(super) fn only_costs_too_much(answer: &Value) -> bool {
    let is_about_costs = |error: &Value| error["detail"].as_str().is_some_and(|detail| detail.contains(doctor::OVER));
    answer["errors"].as_array().is_some_and(|errors| !errors.is_empty() && errors.iter().all(is_about_costs))
}

pub(super) fn compare(release: Release, id: &str, input: &Value, answer: &Value, table: &mut Table) {
    let theirs: Answer = match serde_json::from_value(answer.clone()) {
        Ok(theirs) => theirs,
        Err(error) => return table.add("reading", id, Verdict::Missing(error.to_string())),
    };
    if super::is_unstable(answer) {
        return;
    }
    if theirs.panic.is_some() || input["new"]["kind"] != "CustomResourceDefinition" {
        // There is no answer, or the document is not a definition.
        return;
    }
    let source = input["new"].to_string();
    let ours = with_definition(&source, Defaults::Set, |definition, arena| {
        let definition = definition.prepare_for_create(release, arena);
        let warnings = texts(crd::warnings(&definition, release));
        (crd::validate(&definition, release), warnings)
    });
    let (mut errors, warnings) = match (ours, &theirs.decode_error) {
        (Some(ours), None) => ours,
        (None, Some(_)) => return table.add("definitions not decoded", id, Verdict::Equal),
        (Some(_), Some(error)) => {
            return table.add("definitions not decoded", id, Verdict::Differing(format!("decoded, theirs {error}")));
        }
        (None, None) => {
            return table.add("definitions not decoded", id, Verdict::Differing("not decoded, theirs are".to_owned()));
        }
    };
    let mut expected: Vec<&Expected> = theirs.errors.iter().collect();
    if theirs.unstable {
        errors.retain(|error| !is_by_chance(&error.detail));
        expected.retain(|error| !is_by_chance(&error.detail));
    }
    let refused = !expected.is_empty();
    let row = if refused { "definitions refused" } else { "definitions accepted" };
    table.add(row, id, compare_errors(&errors, expected));
    table.add("definitions warnings", id, compare_texts(warnings, theirs.warnings));
    if let Some(expected) = &theirs.update_errors {
        let old = input["old"].to_string();
        let established = input["established"] == true;
        let ours = with_definition(&old, Defaults::Set, |old, arena| {
            let mut old = old.prepare_for_create(release, arena);
            old.metadata.resource_version = "1";
            old.status.established = Some(established);
            with_definition(&source, Defaults::Set, |new, arena| {
                let mut new = new.prepare_for_update(&old, release, arena);
                new.metadata.resource_version = "1";
                let warnings = texts(crd::warnings_of_update(&new, &old, release));
                (crd::validate_update(&new, &old, release), warnings)
            })
        });
        let (mut errors, warnings) = ours.flatten().unwrap_or_default();
        let mut expected: Vec<&Expected> = expected.iter().collect();
        if theirs.unstable {
            errors.retain(|error| !is_by_chance(&error.detail));
            expected.retain(|error| !is_by_chance(&error.detail));
        }
        table.add("definitions updated", id, compare_errors(&errors, expected));
        let expected = theirs.update_warnings.unwrap_or_default();
        table.add("definitions update warnings", id, compare_texts(warnings, expected));
    }
    // Rules of rejected schemas are compiled with the rest of the schema.
    if let (Some(mut compile), false) = (theirs.compile, refused) {
        // The type of a resource's own fields does not follow from their schemas alone.
        if let Some(nodes) = compile.as_array_mut() {
            let own = |path: &str| OWN.iter().any(|name| path.ends_with(&format!("[\"{name}\"]")));
            nodes.retain(|node| !own(node["path"].as_str().unwrap_or_default()));
        }
        let schema = &input["new"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let record = json!({"id": id, "schema": schema, "isResourceRoot": true, "compile": compile});
        let mut compared = Vec::new();
        cel::rules(&mut compared, "definitions", &record, release);
        crate::cel::add(table, compared);
    }
}

/// Fields that every resource has.
const OWN: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The beginnings of details that depend on chance. Upstream names random ones of the rules with the same cost, of the
/// members of a map, and of the properties in which it looks up selectable fields. It decodes some of the metadata in a
/// default before it reports the error.
const BY_CHANCE: [&str; 4] =
    ["contributed to ", "json: cannot unmarshal ", "OpenAPIV3Schema '", "must not have unknown fields"];

fn is_by_chance(detail: &str) -> bool {
    BY_CHANCE.iter().any(|beginning| detail.starts_with(beginning))
}

fn texts(warnings: Vec<crd::Warning>) -> Vec<String> {
    warnings.into_iter().map(|warning| warning.text).collect()
}

fn compare_texts(mut ours: Vec<String>, mut theirs: Vec<String>) -> Verdict {
    ours.sort();
    theirs.sort();
    crate::verdict::equal(&ours, &theirs)
}
