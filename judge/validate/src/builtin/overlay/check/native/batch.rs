//! Rules of the group batch: `pkg/apis/batch/validation`.

mod cron;
mod status;

use super::super::form::{Form, selector as label_selector};
use super::super::{At, Found};
use super::common::domain_prefixed_path;
use super::pods::{pod_template, selector_mismatch};
use super::{Names, entries, flag, get, items, number, string, text};
use crate::builtin::overlay::edit::same;
use crate::names;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_value::{Map, Value};
use std::collections::BTreeSet;

pub(super) const NAMES: Names = &[
    ("cron job", cron_job),
    ("job", job),
    ("job name", job_name),
    ("job update", job_update),
    ("job status", status::job_status),
];

/// The labels of the pods of a Job.
const UID: &str = "batch.kubernetes.io/controller-uid";
const NAME: &str = "batch.kubernetes.io/job-name";
/// The maximum number of parallel pods of an indexed job.
const MAX_PARALLELISM: i64 = 100_000;

/// The directories of the time zone database. The zones in them are not checked.
const REGIONS: [&str; 18] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Brazil",
    "Canada",
    "Chile",
    "Etc",
    "Europe",
    "Indian",
    "Mexico",
    "Pacific",
    "US",
    "posix",
    "right",
];
/// Time zones without a directory.
const ZONES: [&str; 47] = [
    "CET",
    "CST6CDT",
    "Cuba",
    "EET",
    "EST",
    "EST5EDT",
    "Egypt",
    "Eire",
    "Factory",
    "GB",
    "GB-Eire",
    "GMT",
    "GMT+0",
    "GMT-0",
    "GMT0",
    "Greenwich",
    "HST",
    "Hongkong",
    "Iceland",
    "Iran",
    "Israel",
    "Jamaica",
    "Japan",
    "Kwajalein",
    "Libya",
    "MET",
    "MST",
    "MST7MDT",
    "NZ",
    "NZ-CHAT",
    "Navajo",
    "PRC",
    "PST8PDT",
    "Poland",
    "Portugal",
    "ROC",
    "ROK",
    "Singapore",
    "Turkey",
    "UCT",
    "UTC",
    "Universal",
    "W-SU",
    "WET",
    "Zulu",
    "localtime",
    "posixrules",
];

/// Adds an error that shows no value.
fn wrong(path: &Path<'_>, detail: &str, found: &mut Found) {
    found.errors.push(Error::invalid(path, BadValue::Omitted, detail, 0));
}

/// Checks a Job: `validateGeneratedSelector` for new ones, and `ValidateJobSpec`.
fn job(at: &At<'_, '_>, found: &mut Found) {
    let (spec, path) = (at.get("spec"), at.path.child("spec"));
    if at.scope.old.is_none() || !at.scope.metadata.release.has(crate::Change::SelectorsOfNewJobs) {
        generated_selector(at, spec, &path, found);
    }
    whole_spec(at, spec, &path, found);
}

/// `ValidateJobSpec`
fn whole_spec(at: &At<'_, '_>, spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let old = get(at.scope.old.unwrap_or(Value::Null), "spec");
    job_spec(spec, get(old, "template"), path, found);
    let selector = get(spec, "selector");
    let selector_path = path.child("selector");
    if selector.is_null() {
        found.required(&selector_path, "");
    } else {
        label_selector(selector, &selector_path, found);
    }
    let template = get(spec, "template");
    if selector_mismatch(selector, template) == Some(true) {
        let path = path.child("template");
        let path = path.child("metadata");
        let labels = get(get(template, "metadata"), "labels");
        found.invalid(&path.child("labels"), labels, "`selector` does not match template `labels`");
    }
}

fn generated_selector(at: &At<'_, '_>, spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let metadata = at.get("metadata");
    let selector = get(spec, "selector");
    if flag(spec, "manualSelector") || selector.is_null() {
        return;
    }
    let generated = text(get(selector, "matchLabels"), UID);
    let uid = Some(text(metadata, "uid")).filter(|uid| !uid.is_empty()).unwrap_or(generated);
    let name = text(metadata, "name");
    let old_labels = at.scope.old.map(|old| get(get(get(get(old, "spec"), "template"), "metadata"), "labels"));
    let has_old = old_labels.is_none_or(|labels| labels.get(UID).is_some() && labels.get(NAME).is_some());
    let template_path = path.child("template");
    let template_path = template_path.child("metadata");
    let labels_path = template_path.child("labels");
    let template = get(get(spec, "template"), "metadata");
    let expected = [("controller-uid", uid), ("job-name", name), (UID, uid), (NAME, name)];
    let expected = expected.get(..if has_old { 4 } else { 2 }).unwrap_or_default();
    for (key, value) in expected {
        // `ValidateHasLabel`
        match get(template, "labels").get(key).and_then(Value::as_str) {
            None => found.required(&labels_path.key(key), format!("must be '{value}'")),
            Some(own) if own != *value => {
                found.invalid(&labels_path.key(key), get(template, "labels"), format!("must be '{value}'"));
            }
            Some(_) => {}
        }
    }
    let expects =
        |key: &str, value: Option<&str>| expected.iter().any(|(own, text)| *own == key && Some(*text) == value);
    let matches = entries(selector, "matchLabels").iter().all(|(key, value)| expects(key, value.as_str()));
    let mut invalid = Found::default();
    label_selector(selector, &Path::Root, &mut invalid);
    if invalid.errors.is_empty() && (!matches || !items(selector, "matchExpressions").is_empty()) {
        found.invalid(&path.child("selector"), selector, "`selector` not auto-generated");
    }
}

/// Checks the name of an indexed Job. Its pods have that name and an index as their host name: `ValidateJob`.
fn job_name(at: &At<'_, '_>, found: &mut Found) {
    let spec = at.get("spec");
    let completions = number(spec, "completions").unwrap_or(0);
    if text(spec, "completionMode") == "Indexed" && completions > 0 {
        let name = text(at.get("metadata"), "name");
        let host = format!("{name}-{}", completions - 1);
        if !names::dns1123_label(&host).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            found.invalid(&at.path.child("metadata").child("name"), Value::String(name), detail);
        }
    }
}

/// `validateJobSpec`
fn job_spec(spec: Value<'_>, old_template: Value<'_>, path: &Path<'_>, found: &mut Found) {
    for key in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        Form::NotNegative.check(get(spec, key), &path.child(key), found);
    }
    let per_index = spec.get("backoffLimitPerIndex");
    let most_failed = number(spec, "maxFailedIndexes");
    if most_failed.is_some() && per_index.is_none() {
        found.required(&path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    managed_by(spec, path, found);
    completion_mode(spec, path, found);
    if let Some(policy) = spec.get("podFailurePolicy") {
        failure_policy(spec, policy, &path.child("podFailurePolicy"), found);
    }
    if let Some(policy) = spec.get("successPolicy") {
        let path = path.child("successPolicy");
        if text(spec, "completionMode") == "Indexed" {
            success_policy(spec, policy, &path, found);
        } else {
            found.invalid(&path, policy, "requires indexed completion mode");
        }
    }
    if let Some(policy) = spec.get("podReplacementPolicy") {
        let path = path.child("podReplacementPolicy");
        let own = policy.as_str().unwrap_or_default();
        if spec.get("podFailurePolicy").is_some() {
            if own != "Failed" {
                found.not_supported(&path, policy, &["Failed"]);
            }
        } else if !matches!(own, "Failed" | "TerminatingOrFailed") {
            found.not_supported(&path, policy, &["Failed", "TerminatingOrFailed"]);
        }
    }
    let template_path = path.child("template");
    pod_template(get(spec, "template"), old_template, true, &[], &template_path, found);
    let pod = get(get(spec, "template"), "spec");
    let restart_path = template_path.child("spec");
    let restart_path = restart_path.child("restartPolicy");
    let restart = string(get(pod, "restartPolicy"));
    match restart.as_str().unwrap_or_default() {
        "" | "Always" => found.required(&restart_path, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.get("podFailurePolicy").is_some() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            found.invalid(&restart_path, restart, detail);
        }
        "OnFailure" | "Never" => {}
        _ => found.not_supported(&restart_path, restart, &["OnFailure", "Never"]),
    }
}

fn managed_by(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(value) = spec.get("managedBy") else { return };
    let path = path.child("managedBy");
    let own = value.as_str().unwrap_or_default();
    domain_prefixed_path(own, &path, found);
    if own.len() > 63 {
        found.too_long(&path, 63);
    }
}

fn completion_mode(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let mode = spec.get("completionMode");
    let own = text(spec, "completionMode");
    if let Some(mode) = mode
        && !matches!(own, "NonIndexed" | "Indexed")
    {
        found.not_supported(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    let (completions, parallelism) = (number(spec, "completions"), number(spec, "parallelism"));
    let most_failed = number(spec, "maxFailedIndexes");
    let per_index = spec.get("backoffLimitPerIndex");
    let parallelism_path = path.child("parallelism");
    let failed_path = path.child("maxFailedIndexes");
    if own == "Indexed" {
        if completions.is_none() {
            found.required(&path.child("completions"), "when completion mode is Indexed");
        }
        if let Some(number) = parallelism.filter(|number| *number > MAX_PARALLELISM) {
            let detail = "must be less than or equal to 100000 when completion mode is Indexed";
            found.invalid(&parallelism_path, Value::Int(number), detail);
        }
        if let (Some(failed), Some(all)) = (most_failed, completions)
            && failed > all
        {
            found.invalid(&failed_path, Value::Int(failed), "must be less than or equal to completions");
        }
        if let Some(failed) = most_failed.filter(|number| *number > 100_000) {
            found.invalid(&failed_path, Value::Int(failed), "must be less than or equal to 100000");
        }
        if completions.is_some_and(|number| number > 100_000) && per_index.is_some() {
            let rest = "when completions are above 100000 and used with backoff limit per index";
            if most_failed.is_none() {
                found.required(&failed_path, "must be specified when completions is above 100000");
            }
            if let Some(number) = parallelism.filter(|number| *number > 10_000) {
                let detail = format!("must be less than or equal to 10000 {rest}");
                found.invalid(&parallelism_path, Value::Int(number), detail);
            }
            if let Some(failed) = most_failed.filter(|number| *number > 10_000) {
                found.invalid(&failed_path, Value::Int(failed), format!("must be less than or equal to 10000 {rest}"));
            }
        }
    }
    if mode.is_none() || own == "NonIndexed" {
        const NEEDS: &str = "requires indexed completion mode";
        if let Some(limit) = per_index {
            found.invalid(&path.child("backoffLimitPerIndex"), limit, NEEDS);
        }
        if let Some(failed) = most_failed {
            found.invalid(&failed_path, Value::Int(failed), NEEDS);
        }
    }
}

/// `validatePodFailurePolicy`
fn failure_policy(spec: Value<'_>, policy: Value<'_>, path: &Path<'_>, found: &mut Found) {
    const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
    let path = path.child("rules");
    let rules = items(policy, "rules");
    if rules.len() > 20 {
        found.too_many(&path, rules.len(), 20);
    }
    let pod = get(get(spec, "template"), "spec");
    let containers: BTreeSet<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|key| items(pod, key))
        .map(|item| text(*item, "name"))
        .collect();
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        let action = string(get(*rule, "action"));
        let action_path = path.child("action");
        match action.as_str().unwrap_or_default() {
            "" => found.required(&action_path, r#"valid values: ["Count" "FailIndex" "FailJob" "Ignore"]"#),
            "FailIndex" if spec.get("backoffLimitPerIndex").is_none() => {
                found.invalid(&action_path, action, "requires the backoffLimitPerIndex to be set");
            }
            own if !ACTIONS.contains(&own) => found.not_supported(&action_path, action, &ACTIONS),
            _ => {}
        }
        let codes = rule.get("onExitCodes");
        if let Some(codes) = codes {
            exit_codes(codes, &containers, &path.child("onExitCodes"), found);
        }
        let conditions = items(*rule, "onPodConditions");
        pod_conditions(conditions, &path.child("onPodConditions"), found);
        match (codes.is_some(), !conditions.is_empty()) {
            (true, true) => wrong(&path, "specifying both OnExitCodes and OnPodConditions is not supported", found),
            (false, false) => wrong(&path, "specifying one of OnExitCodes and OnPodConditions is required", found),
            _ => {}
        }
    }
}

fn pod_conditions(conditions: &[Value<'_>], path: &Path<'_>, found: &mut Found) {
    if conditions.len() > 20 {
        found.too_many(path, conditions.len(), 20);
    }
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let kind = string(get(*condition, "type"));
        found.messages(&path.child("type"), kind, names::qualified_name(kind.as_str().unwrap_or_default()));
        let status = string(get(*condition, "status"));
        match status.as_str().unwrap_or_default() {
            "True" | "False" | "Unknown" => {}
            "" => found.required(&path.child("status"), r#"valid values: ["False" "True" "Unknown"]"#),
            _ => found.not_supported(&path.child("status"), status, &["False", "True", "Unknown"]),
        }
    }
}

fn exit_codes(codes: Value<'_>, containers: &BTreeSet<&str>, path: &Path<'_>, found: &mut Found) {
    let operator = string(get(codes, "operator"));
    let operator_path = path.child("operator");
    match operator.as_str().unwrap_or_default() {
        "In" | "NotIn" => {}
        "" => found.required(&operator_path, r#"valid values: ["In" "NotIn"]"#),
        _ => found.not_supported(&operator_path, operator, &["In", "NotIn"]),
    }
    if let Some(name) = codes.get("containerName")
        && !containers.contains(name.as_str().unwrap_or_default())
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        found.invalid(&path.child("containerName"), name, detail);
    }
    let values_path = path.child("values");
    let values = items(codes, "values");
    if values.is_empty() {
        found.invalid(&values_path, get(codes, "values"), "at least one value is required");
    } else if values.len() > 255 {
        found.too_many(&values_path, values.len(), 255);
    }
    let code = |value: &Value<'_>| if let Value::Int(code) = value { *code } else { 0 };
    let mut seen = BTreeSet::new();
    for (index, value) in values.iter().enumerate() {
        if operator.as_str() == Some("In") && code(value) == 0 {
            found.invalid(&values_path.index(index), *value, "must not be 0 for the In operator");
        }
        if !seen.insert(code(value)) {
            found.duplicate(&values_path.index(index), *value);
        }
    }
    if values.windows(2).any(|pair| matches!(pair, [a, b] if code(a) > code(b))) {
        found.invalid(&values_path, get(codes, "values"), "must be ordered");
    }
}

/// `validateSuccessPolicy`
fn success_policy(spec: Value<'_>, policy: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let path = path.child("rules");
    let rules = items(policy, "rules");
    if rules.is_empty() {
        found.required(&path, "at least one rules must be specified when the successPolicy is specified");
    }
    if rules.len() > 20 {
        found.too_many(&path, rules.len(), 20);
    }
    let completions = number(spec, "completions").unwrap_or(0);
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        let indexes = rule.get("succeededIndexes");
        let count = number(*rule, "succeededCount");
        if indexes.is_none() && count.is_none() {
            found.required(&path, "at least one of succeededCount or succeededIndexes must be specified");
        }
        let mut total = 0;
        if let Some(value) = indexes {
            let path = path.child("succeededIndexes");
            match count_indexes(value.as_str().unwrap_or_default(), completions) {
                Ok(count) => total = count,
                Err(why) => found.invalid(&path, value, format!("error parsing succeededIndexes: {why}")),
            }
        }
        let Some(count) = count else { continue };
        let path = path.child("succeededCount");
        Form::NotNegative.check(Value::Int(count), &path, found);
        if count > completions {
            let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
            found.invalid(&path, Value::Int(count), detail);
        }
        if indexes.is_some() && count > total {
            let detail = format!(
                "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            );
            found.invalid(&path, Value::Int(count), detail);
        }
    }
}

/// `validateIndexesFormat`
fn count_indexes(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let mut last: Option<i64> = None;
    let mut total = 0;
    for interval in text.split(',') {
        let parts: Vec<&str> = interval.split('-').collect();
        if parts.len() > 2 {
            return Err(format!(
                "the fragment \"{interval}\" violates the requirement that an index interval can have at most two parts separated by '-'"
            ));
        }
        let read = |part: &str| {
            let number: i64 =
                part.parse().map_err(|_| format!("cannot convert string to integer for index: \"{part}\""))?;
            if number >= completions {
                return Err(format!("too large index: \"{part}\""));
            }
            Ok(number)
        };
        let first = read(parts.first().copied().unwrap_or_default())?;
        let end = match parts.get(1) {
            None => first,
            Some(part) => {
                let end = read(part)?;
                if first >= end {
                    return Err(format!("non-increasing order, previous: {first}, current: {end}"));
                }
                end
            }
        };
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// Checks that immutable fields of a Job are unchanged: `ValidateJobSpecUpdate`.
fn job_update(at: &At<'_, '_>, found: &mut Found) {
    const FROZEN: &str = "field is immutable";
    let Some(old_job) = at.scope.old else { return };
    let old = get(old_job, "spec");
    let spec = at.value;
    // `ValidateJobUpdate` repeats what `ValidateJob` already checked.
    whole_spec(at, spec, at.path, found);
    let completions_path = at.path.child("completions");
    let completions = spec.get("completions");
    let is_changed = !same(at.get("completions"), get(old, "completions"));
    if text(spec, "completionMode") == "Indexed" {
        if let Some(number) = completions
            && is_changed
            && !same(number, at.get("parallelism"))
        {
            let detail = "can only be modified in tandem with spec.parallelism";
            found.invalid(&completions_path, number, detail);
        }
    } else if is_changed {
        found.invalid(&completions_path, at.get("completions"), FROZEN);
    }
    let frozen = |key: &str, found: &mut Found| {
        if !same(at.get(key), get(old, key)) {
            found.invalid(&at.path.child(key), at.get(key), FROZEN);
        }
    };
    frozen("selector", found);
    let started = get(old_job, "status").get("startTime").is_some();
    template_update(at.get("template"), get(old, "template"), flag(old, "suspend"), started, at, found);
    for key in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        frozen(key, found);
    }
}

/// `validatePodTemplateUpdate`: labels, annotations and node selection may change while a Job waits for its first
/// start, and resources may change while it is suspended.
fn template_update(
    new: Value<'_>,
    old: Value<'_>,
    is_suspended: bool,
    has_started: bool,
    at: &At<'_, '_>,
    found: &mut Found,
) {
    if !is_suspended {
        if !same(new, old) {
            found.invalid(&at.path.child("template"), new, "field is immutable");
        }
        return;
    }
    let (new_spec, old_spec) = (get(new, "spec"), get(old, "spec"));
    let may_direct = !has_started;
    let is_free = |key: &str| {
        matches!(key, "containers" | "initContainers")
            || may_direct && matches!(key, "affinity" | "nodeSelector" | "tolerations" | "schedulingGates")
    };
    let all = entries(new, "spec").iter().chain(entries(old, "spec")).map(|(key, _)| *key);
    let mut is_changed = all.into_iter().any(|key| !is_free(key) && !same(get(new_spec, key), get(old_spec, key)));
    for field in ["containers", "initContainers"] {
        let (own, before) = (items(new_spec, field), items(old_spec, field));
        is_changed |= own.len() != before.len();
        for (new, old) in own.iter().zip(before) {
            let keys = new.as_map().into_iter().chain(old.as_map()).flat_map(Map::entries);
            let is_same_name = text(*new, "name") == text(*old, "name");
            is_changed |= keys
                .into_iter()
                .any(|(key, _)| (*key != "resources" || !is_same_name) && !same(get(*new, key), get(*old, key)));
        }
    }
    if may_direct {
        for key in ["podAffinity", "podAntiAffinity"] {
            is_changed |= !same(get(get(new_spec, "affinity"), key), get(get(old_spec, "affinity"), key));
        }
    }
    if is_changed {
        found.invalid(&at.path.child("template.spec"), new_spec, "field is immutable");
    }
}

/// Checks a CronJob: `validateCronJobSpec`.
fn cron_job(at: &At<'_, '_>, found: &mut Found) {
    let spec = at.value;
    let old = at.scope.old.map(|old| get(old, "spec"));
    let schedule = text(spec, "schedule");
    let schedule_path = at.path.child("schedule");
    let value = Value::String(schedule);
    if schedule.is_empty() {
        found.required(&schedule_path, "");
    } else {
        if let Err(why) = cron::check(schedule) {
            found.invalid(&schedule_path, value, why);
        }
        let may = old.is_some_and(|old| text(old, "schedule").contains("TZ"));
        if schedule.contains("TZ") {
            if !may {
                let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
                found.invalid(&schedule_path, value, detail);
            } else if spec.get("timeZone").is_some() {
                let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
                found.invalid(&schedule_path, value, detail);
            }
        }
    }
    Form::NotNegative.check(at.get("startingDeadlineSeconds"), &at.path.child("startingDeadlineSeconds"), found);
    let (zone, before) = (at.get("timeZone"), old.map(|old| get(old, "timeZone")));
    if before.is_none_or(|before| before.is_null() != zone.is_null() || !same(zone, before)) {
        time_zone(spec, at.path, found);
    }
    let policy = string(at.get("concurrencyPolicy"));
    let policy_path = at.path.child("concurrencyPolicy");
    match policy.as_str().unwrap_or_default() {
        "Allow" | "Forbid" | "Replace" => {}
        "" => found.required(&policy_path, ""),
        _ => found.not_supported(&policy_path, policy, &["Allow", "Forbid", "Replace"]),
    }
    let template = get(at.get("jobTemplate"), "spec");
    let template_path = at.path.child("jobTemplate");
    let template_path = template_path.child("spec");
    let old_template = get(get(get(old.unwrap_or(Value::Null), "jobTemplate"), "spec"), "template");
    job_spec(template, old_template, &template_path, found);
    if let Some(selector) = template.get("selector") {
        found.invalid(&template_path.child("selector"), selector, "`selector` will be auto-generated");
    }
    if flag(template, "manualSelector") {
        found.not_supported(&template_path.child("manualSelector"), Value::Bool(true), &["nil", "false"]);
    }
    for key in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        Form::NotNegative.check(at.get(key), &at.path.child(key), found);
    }
}

/// `validateTimeZone`, without the zone names of a database.
fn time_zone(spec: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let Some(zone) = spec.get("timeZone") else { return };
    let path = path.child("timeZone");
    let own = zone.as_str().unwrap_or_default();
    if own.is_empty() {
        return found.invalid(&path, zone, "timeZone must be nil or non-empty string");
    }
    let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..") && part.len() <= 14 && !part.starts_with('-') && part.chars().all(is_known)
    };
    if !own.split('/').all(is_part) {
        return found.invalid(&path, zone, format!("unknown time zone {own}"));
    }
    let is_region = own.split_once('/').is_some_and(|(region, _)| REGIONS.contains(&region));
    if !is_region && !ZONES.contains(&own) && !own.eq_ignore_ascii_case("local") {
        return found.invalid(&path, zone, format!("unknown time zone {own}"));
    }
    if own.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        found.invalid(&path, zone, detail);
    }
}
