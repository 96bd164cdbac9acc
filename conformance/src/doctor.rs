//! The proposals of the cost doctor: with all bounds, a definition is within the limits; if one of them is missing, it
//! is not.

use crate::definition::with_definition;
use crate::table::{Table, Verdict};
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Bound, Defaults};
use serde_json::Value;

/// The recorded message about a definition that costs too much.
pub(crate) const OVER: &str = "exceeds budget by factor of";

/// Checks the proposals for a definition that costs too much in a release. Other definitions are skipped.
pub(crate) fn add(row: &str, label: &str, definition: &Value, release: Release, table: &mut Table) {
    if is_over(definition, release) {
        let mut verdict = |changed: &Value| Ok(is_over(changed, release));
        // This check cannot fail.
        let _: Result<(), String> = propose(row, label, definition, release, table, &mut verdict);
    }
}

/// Checks the proposals for a definition that costs too much, with a function that decides whether a definition does.
pub(crate) fn propose(
    row: &str,
    label: &str,
    definition: &Value,
    release: Release,
    table: &mut Table,
    costs_too_much: &mut dyn FnMut(&Value) -> Result<bool, String>,
) -> Result<(), String> {
    let diagnoses = with_definition(&definition.to_string(), Defaults::Set, |definition, arena| {
        crd::diagnose_costs(&definition.prepare_for_create(release, arena), release)
    });
    let diagnoses = diagnoses.unwrap_or_default();
    let Some(bounds) = diagnoses.iter().map(|diagnosis| diagnosis.bounds.clone()).collect::<Option<Vec<_>>>() else {
        table.add(&format!("{row} without proposal"), label, Verdict::Equal);
        return Ok(());
    };
    let bounds: Vec<Bound> = bounds.into_iter().flatten().collect();
    let mut with = |left_out: Option<usize>| {
        let mut changed = definition.clone();
        for (i, bound) in bounds.iter().enumerate() {
            if left_out != Some(i) && put(&mut changed, bound).is_none() {
                return Ok(None);
            }
        }
        costs_too_much(&changed).map(Some)
    };
    let mut verdict = Verdict::Equal;
    if bounds.is_empty() {
        verdict = Verdict::Differing("costs too much, and there is no diagnosis".to_owned());
    } else if with(None)? != Some(false) {
        verdict = Verdict::Differing(format!("still over the limits with {bounds:?}"));
    } else {
        for (i, spare) in bounds.iter().enumerate() {
            if with(Some(i))? != Some(true) {
                verdict = Verdict::Differing(format!("{spare:?} of {} bounds is not needed", bounds.len()));
                break;
            }
        }
    }
    table.add(row, label, verdict);
    Ok(())
}

/// Returns whether a definition is rejected only because of the costs of its rules.
pub(crate) fn only_costs_too_much(definition: &Value, release: Release) -> bool {
    let details = details(definition, release);
    !details.is_empty() && details.iter().all(|detail| detail.contains(OVER))
}

fn is_over(definition: &Value, release: Release) -> bool {
    details(definition, release).iter().any(|detail| detail.contains(OVER))
}

/// Returns the errors for a definition that is created.
fn details(definition: &Value, release: Release) -> Vec<String> {
    let errors = with_definition(&definition.to_string(), Defaults::Set, |definition, arena| {
        crd::validate(&definition.prepare_for_create(release, arena), release)
    });
    errors.unwrap_or_default().into_iter().map(|error| error.detail).collect()
}

/// Writes a bound into the manifest.
fn put(definition: &mut Value, bound: &Bound) -> Option<()> {
    // Members that are the same in all versions are at the top of the form that is validated.
    let (versions, mut rest) = if let Some(rest) = bound.path.strip_prefix("spec.validation.openAPIV3Schema") {
        (0..definition.pointer("/spec/versions")?.as_array()?.len(), rest)
    } else {
        let (number, rest) = bound.path.strip_prefix("spec.versions[")?.split_once("].schema.openAPIV3Schema")?;
        let number: usize = number.parse().ok()?;
        (number..number + 1, rest)
    };
    let mut steps = String::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('.')?;
        let (step, after) = if let Some(after) = rest.strip_prefix("properties[") {
            let end = after.find("].").unwrap_or(after.len() - 1);
            (format!("properties/{}", after[..end].replace('~', "~0").replace('/', "~1")), &after[end + 1..])
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        };
        steps.push('/');
        steps.push_str(&step);
        rest = after;
    }
    for version in versions {
        let schema = definition.pointer_mut(&format!("/spec/versions/{version}/schema/openAPIV3Schema{steps}"))?;
        schema.as_object_mut()?.insert(bound.keyword.name().to_owned(), bound.value.into());
    }
    Some(())
}
