//! The status of Jobs: `validateJobStatus`, `ValidateJobStatusUpdate`.

use super::super::{flag, get, items, number, text};
use super::{count_indexes, wrong};
use crate::builtin::overlay::check::form::Form;
use crate::builtin::overlay::check::{At, Found};
use crate::builtin::overlay::edit::same;
use kubeshape_value::Value;
use std::collections::BTreeSet;

/// Checks the status of a Job: `ValidateJobStatusUpdate`. Most of its rules are about what the request changes.
pub(super) fn job_status(at: &At<'_, '_>, found: &mut Found) {
    let old = get(at.scope.old.unwrap_or(Value::Null), "status");
    for key in ["active", "succeeded", "failed", "ready", "terminating"] {
        Form::NotNegative.check(at.get(key), &at.path.child(key), found);
    }
    uncounted(at, found);
    let change = Change { new: at.value, old };
    finished(at, change, found);
    job_indexes(at, change, found);
    job_conditions(at, change, found);
    for (kind, key) in [("failed", "failed"), ("succeeded", "succeeded")] {
        let spec = get(at.scope.root, "spec");
        let may_shrink = key == "succeeded"
            && text(spec, "completionMode") == "Indexed"
            && same(get(spec, "completions"), get(spec, "parallelism"));
        let count = |status| number(status, key).unwrap_or(0);
        if !may_shrink && count(at.value) < count(old) {
            let detail = format!("cannot decrease the {kind} counter");
            found.invalid(&at.path.child(key), Value::Int(count(at.value)), detail);
        }
    }
    let completion = at.get("completionTime");
    if !completion.is_null() && old.get("completionTime").is_some() && change.of("completionTime") {
        found.invalid(&at.path.child("completionTime"), completion, "field is immutable");
    }
    let resumes = is_condition(old, "Suspended", "True") && is_condition(at.value, "Suspended", "False");
    let is_suspended = flag(get(at.scope.root, "spec"), "suspend");
    if old.get("startTime").is_some() && change.of("startTime") && !resumes && !is_suspended {
        let detail = "field is immutable for unsuspended job once set";
        found.invalid(&at.path.child("startTime"), at.get("startTime"), detail);
    }
}

/// The old and the new status.
#[derive(Clone, Copy)]
struct Change<'a> {
    new: Value<'a>,
    old: Value<'a>,
}

impl Change<'_> {
    /// Returns whether a field changes.
    fn of(self, key: &str) -> bool {
        !same(get(self.new, key), get(self.old, key))
    }

    /// Returns whether one of these conditions becomes true or stops being true.
    fn condition(self, kinds: &[&str]) -> bool {
        let is = |status| kinds.iter().any(|kind| is_true(status, kind));
        is(self.new) != is(self.old)
    }
}

fn is_condition(status: Value<'_>, kind: &str, value: &str) -> bool {
    items(status, "conditions").iter().any(|item| text(*item, "type") == kind && text(*item, "status") == value)
}

fn is_true(status: Value<'_>, kind: &str) -> bool {
    is_condition(status, kind, "True")
}

/// Checks that the uids of ended pods that are not counted yet appear only once.
fn uncounted(at: &At<'_, '_>, found: &mut Found) {
    let path = at.path.child("uncountedTerminatedPods");
    let mut seen = BTreeSet::new();
    for key in ["succeeded", "failed"] {
        let path = path.child(key);
        for (index, uid) in items(at.get("uncountedTerminatedPods"), key).iter().enumerate() {
            let own = uid.as_str().unwrap_or_default();
            if own.is_empty() {
                found.invalid(&path.index(index), *uid, "must not be empty");
            } else if !seen.insert(own) {
                found.duplicate(&path.index(index), *uid);
            }
        }
    }
}

/// Checks what a finished Job must have and must not have.
fn finished(at: &At<'_, '_>, change: Change<'_>, found: &mut Found) {
    let (status, path) = (at.value, at.path);
    let (complete, failed) = (is_true(status, "Complete"), is_true(status, "Failed"));
    let is_finished = complete || failed;
    let changes = change.condition(&["Complete", "Failed"]);
    let completes = change.condition(&["Complete"]);
    let completion = at.get("completionTime");
    let completion_path = path.child("completionTime");
    if completes || change.of("completionTime") {
        if !completion.is_null() && !complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            found.invalid(&completion_path, completion, detail);
        }
        if completion.is_null() && complete {
            found.required(&completion_path, "completionTime is required for Complete jobs");
        }
    }
    let start = at.get("startTime");
    if (change.of("startTime") || change.of("completionTime"))
        && start.as_str().zip(completion.as_str()).is_some_and(|(start, completion)| completion < start)
    {
        found.invalid(&completion_path, completion, "must be equal to or after `startTime`");
    }
    let active = number(status, "active").unwrap_or(0);
    if is_finished && active > 0 && (changes || change.of("active")) {
        found.invalid(&path.child("active"), Value::Int(active), "active>0 is invalid for finished job");
    }
    let spec = get(at.scope.root, "spec");
    let never_runs = flag(spec, "suspend") && number(spec, "completions") == Some(0);
    if is_finished && start.is_null() && (changes || change.of("startTime")) && !never_runs {
        found.required(&path.child("startTime"), "startTime is required for finished job");
    }
    let pods = at.get("uncountedTerminatedPods");
    let count = items(pods, "failed").len() + items(pods, "succeeded").len();
    if is_finished && count > 0 && (changes || change.of("uncountedTerminatedPods")) {
        found.invalid(&path.child("uncountedTerminatedPods"), pods, "must be empty for finished job");
    }
    let terminating = number(status, "terminating").unwrap_or(0);
    if is_finished && terminating > 0 && (changes || change.of("terminating")) {
        let detail = "terminating>0 is invalid for finished job";
        found.invalid(&path.child("terminating"), Value::Int(terminating), detail);
    }
    if let Some(ready) = number(status, "ready").filter(|ready| *ready > active)
        && (change.of("ready") || change.of("active"))
    {
        found.invalid(&path.child("ready"), Value::Int(ready), "cannot set more ready pods than active");
    }
}

fn job_indexes(at: &At<'_, '_>, change: Change<'_>, found: &mut Found) {
    let spec = get(at.scope.root, "spec");
    let completions = number(spec, "completions");
    let has_limit = spec.get("backoffLimitPerIndex").is_some();
    let (done, failed) = (at.get("completedIndexes"), at.get("failedIndexes"));
    let (done_path, failed_path) = (at.path.child("completedIndexes"), at.path.child("failedIndexes"));
    let done_text = done.as_str().unwrap_or_default();
    if change.of("completedIndexes") {
        if let Some(Err(why)) = completions.map(|completions| count_indexes(done_text, completions)) {
            found.invalid(&done_path, done, format!("error parsing completedIndexes: {why}"));
        }
        if !done_text.is_empty() && text(spec, "completionMode") != "Indexed" {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            found.invalid(&done_path, done, detail);
        }
    }
    if change.of("failedIndexes") && !failed.is_null() {
        let count = completions.filter(|_| has_limit);
        let count = count.map(|completions| count_indexes(failed.as_str().unwrap_or_default(), completions));
        if let Some(Err(why)) = count {
            found.invalid(&failed_path, failed, format!("error parsing failedIndexes: {why}"));
        }
        if !has_limit {
            let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
            found.invalid(&failed_path, failed, detail);
        }
    }
}

fn job_conditions(at: &At<'_, '_>, change: Change<'_>, found: &mut Found) {
    let (status, old) = (at.value, change.old);
    let path = at.path.child("conditions");
    let is = |kind: &str| is_true(status, kind);
    let mut add = |is_wrong: bool, detail: &str| {
        if is_wrong {
            wrong(&path, detail, found);
        }
    };
    let (complete, failed) = (is("Complete"), is("Failed"));
    let (target, met) = (is("FailureTarget"), is("SuccessCriteriaMet"));
    let completes = change.condition(&["Complete"]);
    let fails = change.condition(&["Failed"]);
    add(complete && failed && (completes || fails), "cannot set Complete=True and Failed=true conditions");
    let may = completes || change.condition(&["FailureTarget"]);
    add(complete && target && may, "cannot set Complete=True and FailureTarget=true conditions");
    let may = fails || change.of("failedIndexes");
    add(failed && !target && may, "cannot set Failed=True condition without the FailureTarget=true condition");
    let may = completes || change.condition(&["SuccessCriteriaMet"]);
    add(complete && !met && may, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    add(met && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    add(met && target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    let has_policy = get(at.scope.root, "spec").get("successPolicy").is_some();
    let detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
    add(has_policy && !met && complete, detail);
    for kind in ["Failed", "Complete", "FailureTarget"] {
        let ends = is_true(old, kind) && !is(kind);
        add(ends, &format!("cannot disable the terminal {kind}=True condition"));
    }
    let was_met = is_true(old, "SuccessCriteriaMet");
    add(was_met && !met, "cannot disable the SuccessCriteriaMet=True condition");
    let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
    add(is_true(old, "Complete") && !was_met && met, detail);
}
