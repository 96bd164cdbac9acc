//! Answers of several releases.

use crate::report;
use kubeshape_check::{Answer, Report};
use kubeshape_validate::Release;

const HEAD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: ";

fn of_schema(schema: &str) -> Report {
    report(&format!("{HEAD}{schema}}}}}\n"), false)
}

fn verdict(report: &Report) -> String {
    report.verdict(|_| "HERE".to_owned())
}

#[test]
fn a_definition_without_errors_installs_on_all_releases() {
    let report = of_schema("{type: object}");
    assert_eq!(report.problems, []);
    assert_eq!(verdict(&report), "installs on 1.28 to 1.37");
    assert_eq!(report.oldest().map(Release::minor), Some(28));
}

#[test]
fn errors_of_older_releases_are_reported_with_their_reason() {
    let schema = "{type: object, oneOf: [{additionalProperties: false}]}";
    let report = of_schema(schema);
    assert_eq!(
        verdict(&report),
        "installs on 1.31 and newer; 1.28 to 1.30 refuse it: The schema is not structural, see HERE"
    );
    let accepted = |answer: &Answer| answer.accepts();
    assert_eq!(report.answers.iter().filter(|answer| accepted(answer)).count(), 7);
    assert_eq!(report.problems[0].where_from(report.asked).as_deref(), Some("1.28 to 1.30"));
}

#[test]
fn a_problem_with_different_wordings_is_reported_once() {
    let text =
        format!("{HEAD}{{type: object}}}}}}\n").replace("schema: {openAPIV3Schema: {type: object}}", "schema: {}");
    let report = report(&text, false);
    let texts: Vec<&str> = report.problems.iter().map(|problem| &*problem.note.detail).collect();
    assert_eq!(texts, ["spec.versions[0].schema.openAPIV3Schema: Required value"]);
    assert_eq!(report.problems[0].where_from(report.asked), None);
}

#[test]
fn an_update_may_keep_existing_errors() {
    let wrong = format!("{HEAD}{{type: object}}}}}}\n").replace("tabs, kind: Tab", "tabs, kind: Tab, singular: T_b");
    assert!(!report(&wrong, false).is_accepted());
    let kept = report(&format!("{wrong}---{wrong}"), false);
    assert_eq!(verdict(&kept), "no release of 1.28 to 1.37 takes the update of it: see HERE");
    let fine = format!("{HEAD}{{type: object}}}}}}\n");
    let updated = report(&format!("{fine}---{fine}"), false);
    assert_eq!(verdict(&updated), "can be updated on 1.28 to 1.37");
}

#[test]
fn an_undecodable_definition_is_refused() {
    let text = format!("{HEAD}{{type: object}}}}}}\n").replace("example.com\n  scope", "[example.com]\n  scope");
    let report = report(&text, false);
    assert_eq!(report.answers.iter().filter(|answer| answer.accepts()).count(), 0);
    assert_eq!(report.problems.len(), 1);
}

#[test]
fn fields_that_older_releases_drop_are_warnings_of_these() {
    let schema = "{type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: \"self == oldSelf\", optionalOldSelf: false}]}}}";
    let report = of_schema(schema);
    let found: Vec<String> = report
        .problems
        .iter()
        .map(|problem| format!("{}: {:?}", problem.note.detail, problem.where_from(report.asked)))
        .collect();
    assert_eq!(found, ["`optionalOldSelf` is used since 1.30: Some(\"1.28 and 1.29\")"]);
}

#[test]
fn a_rule_that_costs_too_much_gets_bounds_that_suffice() {
    let schema = |items: &str, length: &str| {
        format!(
            "{{type: object, properties: {{tabs: {{type: array{items}, items: {{type: string{length}, \
             x-kubernetes-validations: [{{rule: \"self.contains('x')\"}}]}}}}}}}}"
        )
    };
    let refused = of_schema(&schema("", ""));
    let advice: Vec<&str> = refused.problems.iter().filter_map(|problem| problem.advice.as_deref()).collect();
    assert!(advice[0].contains(" at .tabs"), "{advice:?}");
    let bound = |keyword: &str| {
        let (_, rest) = advice[0].split_once(&format!("{keyword}: "))?;
        rest.split_once(' ').map(|(value, _)| format!(", {keyword}: {value}"))
    };
    let (items, length) = (bound("maxItems").unwrap_or_default(), bound("maxLength").unwrap_or_default());
    let accepted = of_schema(&schema(&items, &length));
    assert!(accepted.is_accepted(), "{advice:?} {:?}", accepted.problems);
}
