//! Malformed entries, and the fields of definitions.

use crate::warn::document;
use kubeshape_input::Code;
use kubeshape_lifecycle::warn::{Cluster, MAX_WARNINGS, gates};
use kubeshape_lifecycle::{Version, entries};

/// Returns a CustomResourceDefinition with this schema. The lines of the schema have no indentation.
fn definition(schema: &str) -> String {
    let schema = format!("        {}\n", schema.replace('\n', "\n        "));
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: frobbers.example.com}}
spec:
  group: example.com
  names: {{kind: Frobber}}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
{schema}"
    )
}

fn faults(schema: &str) -> Vec<String> {
    let document = document(&definition(schema));
    entries::faults(&document).into_iter().map(|note| note.detail.into_owned()).collect()
}

#[test]
fn each_fault_is_reported_with_found_and_expected_values() {
    let of = |entry: &str| faults(&format!("properties:\n  a:\n    x-kubernetes-api-lifecycle: {entry}"));
    assert_eq!(
        of("{kubernetes: {minVersion: v1.20, status: beta, featureGate: A}, istio: {minVersion: '3'}}"),
        [""; 0]
    );
    assert_eq!(of("alpha"), ["a: found the string \"alpha\", expected an object of projects"]);
    assert_eq!(
        of("{kubernetes: alpha}"),
        ["a: found the string \"alpha\", expected an object with minVersion, status and featureGate"],
    );
    assert_eq!(of("{kubernetes: {}}"), ["a: minVersion, status and featureGate are missing"]);
    assert_eq!(
        of("{kubernetes: {minVersion: 1.20}}"),
        ["a: minVersion is the number 1.20, expected a minor release such as \"v1.20\""],
    );
    assert_eq!(
        of("{kubernetes: {status: Alpha}}"),
        ["a: status is the string \"Alpha\", expected alpha, beta or deprecated"],
    );
    assert_eq!(of("{istio: {status: []}}"), ["a: status is a list, expected a text"]);
    assert_eq!(
        of("{kubernetes: {stauts: alpha}}"),
        ["a: found the member \"stauts\", expected minVersion, status or featureGate"],
    );
    assert_eq!(of("{kubernetes: {featureGate: \"\"}}"), ["a: featureGate is the string \"\", expected a text"]);
}

#[test]
fn duplicate_keys_are_reported() {
    let text = "{\"swagger\": \"2.0\", \"definitions\": {\"A\": {\"properties\": {\"b\": {\"x-kubernetes-api-lifecycle\": \
                {\"kubernetes\": {\"status\": \"alpha\", \"status\": \"beta\"}, \"kubernetes\": {\"status\": \"beta\"}}}}}}}";
    let document = document(text);
    let notes: Vec<_> = entries::faults(&document).into_iter().map(|note| note.detail.into_owned()).collect();
    assert_eq!(
        notes,
        [
            "b: status stands twice; the last one counts",
            "b: the project \"kubernetes\" stands twice; the last entry counts"
        ],
    );
}

#[test]
fn only_properties_have_entries_and_paths_lead_through_lists() {
    let found = faults(
        "x-kubernetes-api-lifecycle: {kubernetes: {status: alpha}}
properties:
  spec:
    default: {x-kubernetes-api-lifecycle: 1}
    properties:
      parts:
        items:
          properties:
            size: {x-kubernetes-api-lifecycle: 1}
      x-kubernetes-api-lifecycle: {type: string}",
    );
    assert_eq!(
        found,
        [
            "the schema is not that of a property, so nobody reads the entry; move it to a property",
            "spec.parts[].size: found the number 1, expected an object of projects",
        ],
    );
}

#[test]
fn faults_are_bounded_and_control_characters_are_escaped() {
    let line = |n: usize| format!("\n  \"p\\u009b{n}\": {{x-kubernetes-api-lifecycle: 1}}");
    let many = (0..1_000).map(line).collect::<Vec<_>>().concat();
    let found = faults(&format!("properties:{many}"));
    assert_eq!(found.len(), MAX_WARNINGS);
    assert!(found[0].starts_with("p\\u{9b}0: "), "{}", found[0]);
}

#[test]
fn messages_are_short_for_all_names_and_values() {
    let (name, value) = ("n".repeat(100_000), "1".repeat(100_000));
    let ends = "}".repeat(7);
    let text = format!(
        "{{\"swagger\": \"2.0\", \"definitions\": {{\"A\": {{\"properties\": {{\"{name}\": {{\"x-kubernetes-api-lifecycle\": \
         {{\"kubernetes\": {{\"{name}\": 1, \"status\": 0.{value}{ends}"
    );
    let found: Vec<String> =
        entries::faults(&document(&text)).into_iter().map(|note| note.detail.into_owned()).collect();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|text| text.chars().count() == entries::LONGEST && text.ends_with('…')), "{found:#?}");
}

const FIELDS: &str = "required: [a]
properties:
  a: {x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.30, status: beta}}}
  b: {default: 1, x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.30, status: alpha, featureGate: B}}}
  c: {x-kubernetes-api-lifecycle: {kubernetes: {status: deprecated}}}
  d: {x-kubernetes-api-lifecycle: {istio: {status: deprecated}}}";

#[test]
fn fields_are_reported_by_release() {
    let document = document(&definition(FIELDS));
    let releases: Vec<Version> = ["1.29", "1.30", "1.31"].into_iter().filter_map(Version::parse).collect();
    let of = |cluster: &Cluster| -> Vec<(Code, String, Vec<String>)> {
        let found = entries::fields_by_release(document.root(), &releases, cluster);
        let strings = |releases: Vec<Version>| releases.iter().map(ToString::to_string).collect();
        found.into_iter().map(|(field, releases)| (field.code, field.text, strings(releases))).collect()
    };
    let row = |code, text: &str, releases: &[&str]| {
        (code, text.to_owned(), releases.iter().map(|&release| release.to_owned()).collect::<Vec<_>>())
    };
    let all = ["v1.29", "v1.30", "v1.31"];
    let old = |name, stage| format!("{name}: {stage} since v1.30; it is not in v1.29");
    assert_eq!(
        of(&Cluster::default()),
        [
            row(Code::DefinedOff, &(old("a", "beta") + ", and the field is required"), &all[..1]),
            row(Code::DefinedField, "a: beta since v1.30", &all[1..]),
            row(Code::DefinedOff, &(old("b", "alpha") + ", and the field has a default"), &all[..1]),
            row(
                Code::DefinedOff,
                "b: alpha since v1.30; the feature gate B is off, and the field has a default",
                &all[1..],
            ),
            row(Code::DefinedField, "c: deprecated", &all),
        ],
    );
    let gates = gates("B=true").unwrap_or_default();
    let on = of(&Cluster { gates, ..Cluster::default() });
    assert_eq!(on[3].0, Code::DefinedField);
    assert!(on[3].1.ends_with("it may change or go in any release"), "{}", on[3].1);
}

#[test]
fn a_document_is_searched_to_its_end_and_no_further() {
    let text = "a: 1\n---\nb:\n  c:\n  - d: 1\n    x-kubernetes-api-lifecycle: alpha\n---\n{\"x-kubernetes-api-lifecycle\": 1}\n\
                ---\n- &x\n  y: x-kubernetes-api-lifecycle\n---\ny: |\n  x-kubernetes-api-lifecycle\n---\nlast: 1\n";
    let read = kubeshape_input::read("a.yaml", text.as_bytes(), kubeshape_input::Limits::default());
    let found: Vec<bool> = read.documents.iter().map(|document| entries::may_be_in(document.document())).collect();
    assert_eq!(found, [false, true, true, true, true, false]);
}
