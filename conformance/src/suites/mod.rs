//! Area `suites`: test suites of APIs. Their authors run them with an API server, and those results are the expected
//! ones. The suites also run over HTTP.

mod http;

use crate::known::Known;
use crate::table::{Table, Verdict};
use kubeshape_input::Limits;
use kubeshape_registry::Location;
use kubeshape_suite::{Answer, Outcome, Request, Suite};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A case for a definition, and its expected outcome.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Planned {
    suite: String,
    crd: String,
    op: String,
    index: usize,
    refused: bool,
    status_refused: bool,
    patches: bool,
}

/// Returns the collections of suites in a folder of inputs.
fn plans(corpus: &Path) -> Vec<PathBuf> {
    let Ok(folders) = std::fs::read_dir(corpus.join("suites")) else { return Vec::new() };
    let mut plans: Vec<PathBuf> = folders.flatten().map(|folder| folder.path().join("plan.ndjson")).collect();
    plans.retain(|plan| plan.is_file());
    plans.sort();
    plans
}

/// Returns whether a folder of inputs contains anything of this area.
pub fn has_records(corpus: &Path) -> bool {
    !plans(corpus).is_empty()
}

/// Area `suites`.
pub fn compare(corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("suites", known);
    for plan in plans(corpus) {
        let Some(folder) = plan.parent() else { continue };
        let text = std::fs::read_to_string(&plan).unwrap_or_default();
        let mut runs: BTreeMap<(String, String), Vec<Planned>> = BTreeMap::new();
        for line in text.lines() {
            match serde_json::from_str::<Planned>(line) {
                Ok(planned) => {
                    runs.entry((planned.suite.clone(), planned.crd.clone())).or_default().push(planned);
                }
                Err(error) => table.add("plan", line, Verdict::Differing(error.to_string())),
            }
        }
        for ((suite, crd), planned) in runs {
            let (suite_file, crd_file) = (folder.join("suites").join(&suite), folder.join("crds").join(&crd));
            let outcomes = run(&suite_file, &crd_file);
            let served = served(&suite_file, &crd_file);
            for case in planned {
                let record = format!("{suite} {crd} {} {}", case.op, case.index);
                let verdict = match &outcomes {
                    Ok((suite, outcomes)) => verdict(suite, outcomes, &case),
                    Err(error) => Verdict::Differing(error.clone()),
                };
                table.add(row(&case), &record, verdict);
                let verdict = match &served {
                    Ok((suite, offline, http)) => same(number(suite, &case), offline, http),
                    Err(error) => Verdict::Differing(error.clone()),
                };
                table.add("over HTTP", &record, verdict);
            }
        }
    }
    table
}

fn row(case: &Planned) -> &'static str {
    match (case.op.as_str(), case.refused, case.status_refused, case.patches) {
        ("create", false, ..) => "created",
        ("create", true, ..) => "not created",
        (_, _, true, _) => "status refused",
        (_, _, _, true) => "updated under a patched definition",
        (_, true, ..) => "not updated",
        _ => "updated",
    }
}

fn read(suite: &Path, definition: &Path) -> Result<(Suite, Location), String> {
    let read = |path: &Path| {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let input = kubeshape_input::read(path.to_string_lossy().into_owned(), &bytes, Limits::default());
        let document = input.documents.into_iter().next().ok_or_else(|| format!("{}: empty", path.display()))?;
        Ok::<Location, String>(Location::root(Arc::new(document)))
    };
    let suite = Suite::read(&read(suite)?).map_err(|finding| finding.message())?;
    Ok((suite, read(definition)?))
}

fn run(suite: &Path, definition: &Path) -> Result<(Suite, Vec<Outcome>), String> {
    let (suite, definition) = read(suite, definition)?;
    let outcomes = suite.run(&definition, None).map_err(|finding| finding.message())?;
    Ok((suite, outcomes))
}

/// Returns the outcomes without a server, and those with one, both for one release.
fn served(suite: &Path, definition: &Path) -> Result<(Suite, Vec<Outcome>, Vec<Outcome>), String> {
    let (suite, definition) = read(suite, definition)?;
    let offline = suite.run(&definition, Some(crate::RECORDED)).map_err(|finding| finding.message())?;
    let http = suite.run_on(&definition, &mut http::Http::new()?).map_err(|finding| finding.message())?;
    Ok((suite, offline, http))
}

/// Compares the outcomes of a case with and without a server.
fn same(number: usize, offline: &[Outcome], http: &[Outcome]) -> Verdict {
    let (Some(offline), Some(http)) = (offline.get(number), http.get(number)) else {
        return Verdict::Missing("no such case".to_owned());
    };
    let why = |outcome: &Outcome| outcome.failure.as_ref().map(|failure| failure.message.clone());
    if offline.answer == http.answer && why(offline) == why(http) {
        return Verdict::Equal;
    }
    let details = |outcome: &Outcome| outcome.failure.as_ref().map(|failure| failure.details.clone());
    Verdict::Differing(format!("{:?} {:?}, without a server {:?}", http.answer, details(http), offline.answer))
}

/// Returns the number of a planned case in its suite.
fn number(suite: &Suite, case: &Planned) -> usize {
    let created = suite.cases.iter().filter(|case| matches!(case.request, Request::Create { .. })).count();
    if case.op == "create" { case.index } else { created + case.index }
}

fn verdict(suite: &Suite, outcomes: &[Outcome], case: &Planned) -> Verdict {
    let Some(outcome) = outcomes.get(number(suite, case)) else { return Verdict::Missing("no such case".to_owned()) };
    if let Some(failure) = &outcome.failure {
        return Verdict::Differing(format!("{}: {}", failure.message, failure.details.join("; ")));
    }
    let fits = match outcome.answer {
        Answer::Refused(_) => case.refused,
        Answer::StatusRefused(_) => case.status_refused,
        Answer::Stored(_) => !case.refused && !case.status_refused,
        Answer::None => false,
    };
    if fits { Verdict::Equal } else { Verdict::Differing(format!("found {:?}", outcome.answer)) }
}
