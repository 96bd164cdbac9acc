//! Edits that change no verdict.

use kubeshape_check::fix::{self, Plan, Types};
use kubeshape_check::{Check, Problem, Releases};
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::fmt::Write;

const HEAD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
";

fn tape(text: &str) -> Tape {
    let mut tape = Tape::new();
    let next = Stream::new(text.as_bytes(), Limits::default()).expect("a text").next(&mut tape);
    next.expect("a document").unwrap_or_else(|error| panic!("{error}\n{text}"));
    tape
}

fn plan(text: &str, tape: &Tape) -> (Plan, Vec<Problem>) {
    let root = tape.document(text).root().expect("a document");
    let arena = Bump::new();
    let check = Check::new(Releases::ALL).with_advice(true);
    let all = manifests(root).0.into_iter().flat_map(|manifest| check.definition(manifest, &arena).problems);
    let problems: Vec<Problem> = all.collect();
    (fix::plan(root, &problems, Types::Written), problems)
}

/// Returns the source after edits (which parses as expected and needs no further edits), the diff, and the number of
/// remaining findings.
fn fixed(text: &str) -> (String, String, usize) {
    let before = tape(text);
    let (made, problems) = plan(text, &before);
    let out = fix::apply(text, &made.edits);
    let after = tape(&out);
    let roots = (before.document(text).root().expect("a root"), after.document(&out).root().expect("a root"));
    assert!(fix::is_made(roots.0, roots.1, &made), "{out}");
    let (again, remaining) = plan(&out, &after);
    assert_eq!(again.edits, [], "{out}");
    assert!(fix::is_expected(&problems, &remaining, &made), "{problems:?}\n{remaining:?}\n{out}");
    (out.clone(), fix::diff("a", "b", text, &made.edits), made.left.len())
}

#[test]
fn a_duplicate_key_is_removed_although_a_misspelt_one_remains() {
    let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec-: {group: a}\nspec-: {group: b}\n";
    let (out, _, left) = fixed(text);
    assert_eq!(out, text.replace("spec-: {group: a}\n", ""));
    assert!(left > 0);
}

/// Returns the part under `spec:` in the schema, after edits.
fn schema(spec: &str) -> String {
    let (out, ..) = fixed(&format!("{HEAD}{spec}"));
    out.strip_prefix(HEAD).unwrap_or(&out).to_owned()
}

#[test]
fn unknown_fields_are_removed_with_their_lines() {
    let spec = "            # about the type\n            type: object\n            const: {a: [1,\n              2]} # no such field\n            # about the fields\n            properties:\n              a: {type: string, xyz: 1}\n              b: {xyz: 1, type: string}\n              c: {xyz: 1, uvw: 2, type: string, rst: 3 , qpo: 4}\n              d:\n                readOnly2: |\n                  text\n\n                type: string # stays\n                qpo:\n";
    let expected = "            # about the type\n            type: object\n            # about the fields\n            properties:\n              a: {type: string}\n              b: {type: string}\n              c: {type: string}\n              d:\n\n                type: string # stays\n";
    assert_eq!(schema(spec), expected);
}

#[test]
fn a_mapping_without_fields_stays_a_mapping() {
    let spec = "            type: object\n            properties:\n              a:\n                type: object\n                additionalProperties:\n                  xyz: 1 # gone\n                  uvw: 1\n                x-kubernetes-preserve-unknown-fields: true\n";
    let (out, _, left) = fixed(&format!("{HEAD}{spec}"));
    assert_eq!(left, 0);
    assert!(out.contains("additionalProperties:\n                  {}\n                x-kub"), "{out}");
    let out = schema("            {type: array, items: {xyz: 1}}\n");
    assert_eq!(out, "            {type: array, items: {}}\n");
}

#[test]
fn the_first_field_of_an_item_is_replaced_by_the_next() {
    let text =
        format!("{HEAD}            type: string\n").replace("- name: v1", "- comment: x\n    note: y\n    name: v1");
    let (out, ..) = fixed(&text);
    assert_eq!(out, format!("{HEAD}            type: string\n"));
}

#[test]
fn the_effective_one_of_duplicate_keys_and_values_remains() {
    let spec = "            type: string\n            maxLength: 1\n            enum:\n            - a # first\n            - b\n            - a # again\n            maxLength: 2\n";
    let expected = "            type: string\n            enum:\n            - a # first\n            - b\n            maxLength: 2\n";
    assert_eq!(schema(spec), expected);
    assert_eq!(
        schema("            {type: object, required: [b, 'b', \"b\"], properties: {b: {type: string}}}\n"),
        "            {type: object, required: [b], properties: {b: {type: string}}}\n"
    );
}

#[test]
fn a_type_is_written_where_only_one_fits() {
    let spec = "            properties:\n              a: {items: {type: string}}\n              b:\n                additionalProperties: {type: string}\r\n              c: {minimum: 1, type: integer}\n";
    let expected = "            type: object\n            properties:\n              a: {type: array, items: {type: string}}\n              b:\n                type: object\r\n                additionalProperties: {type: string}\r\n              c: {minimum: 1, type: integer}\n";
    assert_eq!(schema(spec), expected);
    assert_eq!(schema("            {xyz: 1, properties: {}}\n"), "            {type: object, properties: {}}\n");
    let out = schema("            xyz: 1\n            uvw: 1\n            properties: {}\n");
    assert_eq!(out, "            type: object\n            properties: {}\n");
    let beta = format!("{HEAD}            properties: {{}}\n").replace("s.k8s.io/v1", "s.k8s.io/v1beta1");
    assert_eq!(fixed(&beta).0, beta);
    let unclear = "            properties: {a: {minimum: 1}}\n            type: object\n";
    assert_eq!(schema(unclear), unclear);
}

#[test]
fn misspelt_and_aliased_nodes_remain() {
    let spec = "            type: object\n            properties:\n              a: &a {type: string, xyz: 1}\n              b: *a\n              c: {type: integer, minimun: 1}\n              d: &d\n                type: string\n                uvw: 1\n              e:\n                <<: *d\n                maxLength: 3\n";
    assert_eq!(schema(spec), spec);
    let (_, _, left) = fixed(&format!("{HEAD}{spec}"));
    assert_eq!(left, 5);
}

#[test]
fn json_keeps_its_layout() {
    let json = "{\n  \"apiVersion\": \"apiextensions.k8s.io/v1\",\n  \"kind\": \"CustomResourceDefinition\",\n  \"metadata\": {\"name\": \"tabs.example.com\"},\n  \"spec\": {\n    \"xyz\": [],\n    \"group\": \"example.com\",\n    \"scope\": \"Namespaced\",\n    \"names\": {\"plural\": \"tabs\", \"kind\": \"Tab\"},\n    \"versions\": [{\"name\": \"v1\", \"served\": true, \"storage\": true, \"schema\": {\"openAPIV3Schema\": {\n      \"properties\": {}\n    }}}],\n    \"uvw\": 1\n  }\n}\n";
    let expected = json
        .replace("    \"xyz\": [],\n", "")
        .replace(",\n    \"uvw\": 1", "")
        .replace("      \"properties\"", "      \"type\": \"object\",\n      \"properties\"");
    assert_eq!(fixed(json).0, expected);
}

#[test]
fn the_diff_has_the_changed_lines_and_three_around_them() {
    let spec = "            type: object\n            xyz: 1\n            properties:\n              a: {type: string}\n              b: {type: string}\n              c: {type: string}\n              d: {type: string}\n              e: {type: string}\n              f: {type: string}\n              g: {type: string}\n              h: {type: string, uvw: 1}";
    let expected = "\
--- a
+++ b
@@ -15,7 +15,6 @@
         properties:
           spec:
             type: object
-            xyz: 1
             properties:
               a: {type: string}
               b: {type: string}
@@ -24,4 +23,4 @@
               e: {type: string}
               f: {type: string}
               g: {type: string}
-              h: {type: string, uvw: 1}
\\ No newline at end of file
+              h: {type: string}
\\ No newline at end of file
";
    assert_eq!(fixed(&format!("{HEAD}{spec}")).1, expected);
}

#[test]
fn edits_take_linear_time() {
    let mut text = format!("{HEAD}            type: object\n            properties:\n");
    for i in 0..5000 {
        text.push_str("              same: {type: string}\n");
        let _ = writeln!(text, "              f{i}: {{type: string, zzzzzzzz{i}: 1}}");
    }
    let (out, ..) = fixed(&text);
    assert!(!out.contains("zzzzzzzz"));
    assert_eq!(out.matches("same:").count(), 1);
}
