//! The invalid part of an expression, and advice about its cause.

use crate::compare;
use kubeshape_check::{Check, Problem, Releases};

/// Returns a definition with this schema under `openAPIV3Schema`, indented by eight spaces.
fn definition(schema: &str) -> String {
    let mut out = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
"
    .to_owned();
    for line in schema.lines() {
        out.push_str("        ");
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Returns a definition with a rule in `spec`, as written in YAML.
fn ruled(rule: &str) -> String {
    let fields = "{namespace: {type: string}, a-b: {type: string}, a__b: {type: string}, replicas: {type: integer}, 1st: {type: \
                  string}, when: {type: string, format: date-time}}";
    definition(&format!(
        "type: object\nproperties:\n  spec:\n    type: object\n    properties: {fields}\n    x-kubernetes-validations:\n    - message: \
         m\n      {rule}\n"
    ))
}

fn problems(text: &str, release: &str) -> Vec<Problem> {
    let releases: Releases = release.parse().expect("a release");
    compare(text, Check::new(releases)).problems
}

/// Returns the line and the source of the invalid part of the first problem, and its advice.
fn first(text: &str, release: &str) -> (usize, String, String) {
    let found = problems(text, release);
    let problem = found.iter().find(|problem| problem.part.is_some()).unwrap_or_else(|| panic!("{found:?}"));
    let part = problem.part.clone().expect("a part");
    let line = text[..part.source.start].matches('\n').count() + 1;
    (line, text[part.source].to_owned(), problem.advice.clone().unwrap_or_default())
}

/// Checks the line (relative to the line of the key), the source of the invalid part, and a part of the advice.
fn is(rule: &str, line: usize, part: &str, advice: &str) {
    let text = ruled(rule);
    let own = text.lines().position(|line| line.contains(" rule: ")).expect("a rule") + 1;
    let found = first(&text, "1.31");
    assert_eq!((found.0 - own, found.1.as_str()), (line, part), "{rule}");
    assert!(found.2.contains(advice), "{rule}\n{}", found.2);
}

#[test]
fn fields_with_another_name_in_expressions() {
    is("rule: has(self.namespace)", 0, "namespace", "which is a reserved word of CEL. Write `self.__namespace__`.");
    is("rule: self.namespace == 'a'", 0, "namespace", "Write `self.__namespace__`.");
    is("rule: self.a-b == 'a'", 0, "a", "`a-b` has another form in expressions. Write `self.a__dash__b`.");
    is("rule: self.a__b == 'a'", 0, "a__b", "Write `self.a__underscores__b`.");
    is("rule: namespace == 'a'", 0, "namespace", "A field of this name is `self.__namespace__`");
    is("rule: self.1st == 'a'", 0, "1st", "begins with a digit");
    assert!(problems(&ruled("rule: has(self.namespace)"), "1.32").is_empty());
    is("rule: has(self.in)", 0, "in", "`in` is a keyword of CEL. A field of this name is `self.__in__`.");
    is("rule: self.in == 'a.in'", 0, "in", "`self.__in__`");
    is("rule: self.true", 0, "true", "`self.__true__`");
    is("rule: self.null.a == 1", 0, "null", "`self.__null__`");
}

#[test]
fn the_nearest_name_is_proposed() {
    is("rule: self.replica > 1", 0, "replica", "Did you mean `replicas`?");
    is("rule: self.zzz > 1", 0, "zzz", "Declare `zzz`, or name another field.");
    is("rule: replicas > 1", 0, "replicas", "Write `self.replicas`");
    is("rule: slf.replicas > 1", 0, "slf", "Did you mean `self`?");
    is("rule: self.a__dash__b.startWith('a')", 0, "startWith", "Did you mean `startsWith`?");
    is("rule: \"['a'].all(item, itm == 'a')\"", 0, "itm", "Did you mean `item`?");
}

#[test]
fn an_unknown_escape_is_reported_once() {
    let advice = "Write `\\\\d`, or put `r` before the quote: `r'\\d'`";
    is(r"rule: self.a__dash__b.matches('^\d+\.\d+$')", 0, r"\d", advice);
    is("rule: |\n        self.replicas > 1 &&\n          self.a__dash__b.matches('^\\d+$')", 2, r"\d", advice);
    is(r#"rule: "self.a__dash__b.matches('^a\\.b$')""#, 0, r"\\.", r"Within double quotes, write `\\\\.` for `\\.`");
    is(r"rule: self.a__dash__b == 'a", 0, "'a", "Close the text");
    for right in [r"'^\\d+$'", r"r'^\d+$'"] {
        assert!(problems(&ruled(&format!("rule: self.a__dash__b.matches({right})")), "1.36").is_empty());
    }
}

#[test]
fn other_errors_have_their_own_help() {
    is("rule: self.replicas == 'a'", 0, "==", "types in the message");
    is("rule: self['replicas'] == 1", 0, "[", "Fields of an object are named");
    is("rule: self.replicas.count == 1", 0, "count", "Only objects and maps have fields");
    is("rule: self.replicas && true", 0, "replicas", "must be true or false");
    is("rule: self.replicas = 1", 0, "=", "Write `==`");
    is("rule: true & false", 0, "&", "Write `&&`");
    let found = problems(&ruled("rule: self.replicas"), "1.36");
    assert!(found[0].advice.as_deref().is_some_and(|advice| advice.starts_with("Write a comparison")), "{found:?}");
}

#[test]
fn parts_of_folded_and_quoted_expressions_are_found() {
    is("rule: >-\n        true &&\n        self.zzz > 1", 2, "zzz", "Declare");
    is("rule: 'self.a__dash__b == ''é'' &&\n        self.zzz > 1'", 1, "zzz", "Declare");
    is("rule: \"true && \\\n        self.zzz > 1\"", 1, "zzz", "Declare");
    is("rule: true &&\n        self.zzz > 1", 1, "zzz", "Declare");
    let json = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
      "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"}, "versions": [
      {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
      "x-kubernetes-validations": [{"rule": "'\"' != '\u00e9' && self.zzz > 1"}]}}}]}}"#;
    assert_eq!(first(json, "1.36").1, "zzz");
}

#[test]
fn further_errors_are_listed() {
    let found = problems(&ruled("rule: self.a1 + self.a2 + self.a3 + self.a4 + self.a5 > 1"), "1.36");
    let part = found[0].part.as_ref().expect("a part");
    assert_eq!(part.message.as_deref(), Some("undefined field 'a1'"));
    assert_eq!(part.others, ["undefined field 'a2'", "undefined field 'a3'", "undefined field 'a4'", "1 more"]);
}

#[test]
fn no_bound_helps_against_a_call_of_unknown_size() {
    let message =
        |expression: &str| ruled(&format!("rule: self.replicas > 1\n      messageExpression: \"{expression}\""));
    let (_, part, advice) = first(&message("'bad: ' + string(self.replicas)"), "1.36");
    assert_eq!((part.as_str(), advice.contains("result of `string`")), ("string", true), "{advice}");
    assert!(advice.contains("write a fixed `message`"), "{advice}");
    let (_, part, advice) = first(&message("'[' + ['a', 'b'].join(',') + ']'"), "1.36");
    assert_eq!((part.as_str(), advice.contains("No bound helps")), ("join", true), "{advice}");
    let (_, part, advice) =
        first(&ruled("rule: \"('a' + string(self.replicas)) != 'a1'.substring(1) + string(self.when)\""), "1.36");
    assert_eq!((part.as_str(), advice.contains("Write the rule without the call")), ("string", true), "{advice}");
}

/// Returns the advice of the first problem about a schema of `spec.names` and `metadata`.
fn advice(names: &str, metadata: &str, rule: &str) -> String {
    let text = definition(&format!(
        "type: object\nproperties:\n  {metadata}\n  spec:\n    type: object\n    properties: {{names: {names}}}\n\
         x-kubernetes-validations:\n- rule: {rule}\n"
    ));
    let found = problems(&text, "1.36");
    let found: Vec<String> = found.into_iter().filter_map(|problem| problem.advice).collect();
    found.concat()
}

#[test]
fn unused_bounds_are_named() {
    let rule = "self.spec.names.all(x, self.spec.names.all(y, x.contains(y)))";
    for (names, expected) in [
        (
            "{type: array, items: {type: string, maxLength: 9}, allOf: [{maxItems: 7}]}",
            "maxItems: 7 at .spec.names is in allOf, where it does not count. Write it next to `type`.",
        ),
        (
            "{type: array, items: {type: string, maxLength: 9}, oneOf: [{maxItems: 7}]}",
            "maxItems: 7 at .spec.names is in oneOf",
        ),
        (
            "{type: array, maxItems: 900, items: {type: string}, anyOf: [{items: {maxLength: 9}}]}",
            "maxLength: 9 at .spec.names[] is in anyOf",
        ),
        ("{type: array, items: {type: string, maxLength: 9}}", ".spec.names has no maxItems, which drives the cost"),
    ] {
        let found = advice(names, "", rule);
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(advice("{type: array, maxItems: 7, items: {type: string, maxLength: 9}}", "", rule), "");
}

#[test]
fn bounds_of_names_are_used_only_with_all_others() {
    let rule = "self.spec.names.all(x, self.metadata.name.contains(x) || self.metadata.generateName.contains(x))";
    let names = "{type: array, maxItems: 100, items: {type: string, maxLength: 9}}";
    let bounded = "{type: string, maxLength: 9}";
    let metadata = format!("metadata: {{type: object, properties: {{name: {bounded}, generateName: {bounded}}}}}");
    let found = advice(names, &metadata, rule);
    assert!(found.contains("counts only if the schema declares `apiVersion`, `kind`, `metadata.name` and"), "{found}");
    let all = format!("{metadata}\n  kind: {{type: string}}\n  apiVersion: {{type: string}}");
    assert_eq!(advice(names, &all, rule), "");
    let open = all.replace(", maxLength: 9", "");
    let found = advice(names, &open, rule);
    assert!(found.contains("maxLength: ") && found.contains("at .metadata."), "{found}");
}

#[test]
fn bounds_that_suffice_are_edits_at_their_schemas() {
    let rule = "self.list.all(a, self.list.all(b, self.list.all(c, a == b || b == c)))";
    let block = definition(&format!(
        "type: object\nproperties:\n  spec:\n    type: object\n    properties:\n      list: # names\n        description: d\n        \
         type: array\n        items:\n          type: string\n    x-kubernetes-validations:\n    - rule: {rule}\n"
    ));
    let flow = definition(&format!(
        "type: object\nproperties:\n  spec:\n    type: object\n    properties: {{list: {{type: array, items: {{type: string, \
         maxLength: 1000000}}}}}}\n    x-kubernetes-validations:\n    - rule: {rule}\n"
    ));
    for (text, expected) in [(&block, "        maxItems: "), (&flow, "{maxItems: ")] {
        let found = problems(text, "1.36");
        let edits = &found.iter().find(|problem| !problem.edits.is_empty()).expect("edits").edits;
        let fixed = kubeshape_check::fix::apply(text, edits);
        assert!(fixed.contains(expected), "{fixed}");
        let left: Vec<Problem> = problems(&fixed, "1.36").into_iter().filter(Problem::is_error).collect();
        assert!(left.is_empty(), "{left:?}\n{fixed}");
    }
    // What an alias repeats elsewhere is not edited.
    let aliased = definition(&format!(
        "type: object\nproperties:\n  other: &list {{type: array, items: {{type: string}}}}\n  spec:\n    type: object\n    \
         properties: {{list: *list}}\n    x-kubernetes-validations:\n    - rule: {rule}\n"
    ));
    assert!(problems(&aliased, "1.36").iter().all(|problem| problem.edits.is_empty()));
}
