//! Messages change with releases: each release has its own wording.

use crate::compare;
use kubeshape_check::{Check, Releases};

/// Returns a definition with more metadata and with these properties of `spec`.
fn definition(metadata: &str, properties: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com, {metadata}}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{properties}}}}}}}}}}}
"
    )
}

/// Returns the errors of a release, from their field on.
fn errors(text: &str, release: &str) -> Vec<String> {
    let releases: Releases = release.parse().expect("a release");
    let report = compare(text, Check::new(releases));
    let errors = report.problems.iter().filter_map(|problem| problem.error.as_ref());
    errors.map(ToString::to_string).collect()
}

#[test]
fn owner_references_name_their_empty_fields() {
    let text = definition("ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: '', uid: ''}]", "");
    for release in ["1.28", "1.31", "1.33"] {
        assert_eq!(
            errors(&text, release),
            [
                "metadata.ownerReferences.name: Invalid value: \"\": name must not be empty",
                "metadata.ownerReferences.uid: Invalid value: \"\": uid must not be empty",
            ]
        );
    }
    for release in ["1.34", "1.36"] {
        assert_eq!(
            errors(&text, release),
            [
                "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
                "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
            ]
        );
    }
    assert_eq!(
        errors(&text, "1.37"),
        [
            "metadata.ownerReferences[0].name: Required value: must not be empty",
            "metadata.ownerReferences[0].uid: Required value: must not be empty",
        ]
    );
}

#[test]
fn versions_of_owner_references_must_have_a_form() {
    let text = definition("ownerReferences: [{apiVersion: a/b/c, kind: Kind, name: one, uid: two}]", "");
    let old = "metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be empty";
    let new =
        "metadata.ownerReferences[0].apiVersion: Invalid value: \"a/b/c\": must be <group>/<version> or <version>";
    assert_eq!(errors(&text, "1.36"), [old]);
    assert_eq!(errors(&text, "1.37"), [new]);
}

#[test]
fn operations_of_managed_fields_are_listed_since_1_37() {
    let text = definition("managedFields: [{manager: m, operation: ''}, {manager: m, operation: Put}]", "");
    let path = "metadata.managedFields";
    assert_eq!(
        errors(&text, "1.36"),
        [
            format!("{path}[0].operation: Invalid value: \"\": must be `Apply` or `Update`"),
            format!("{path}[1].operation: Invalid value: \"Put\": must be `Apply` or `Update`"),
        ]
    );
    assert_eq!(
        errors(&text, "1.37"),
        [
            format!("{path}[0].operation: Required value: must not be empty"),
            format!("{path}[1].operation: Unsupported value: \"Put\": supported values: \"Apply\", \"Update\""),
        ]
    );
}

#[test]
fn limits_have_three_wordings() {
    let properties = "f: {type: string, maxLength: 1, default: abc}, g: {type: array, maxItems: 1, items: {type: string}, default: [a, b]}";
    let text = definition(&format!("annotations: {{big: {}}}", "x".repeat(300_000)), properties);
    let details = |release| -> Vec<String> {
        let detail = |error: String| error.split_once(": ").map_or_else(String::new, |(_, detail)| detail.to_owned());
        errors(&text, release).into_iter().map(detail).collect()
    };
    let expected = |annotations: &str, length: &str, items: &str| {
        [
            format!("Too long: {annotations} 262144 bytes"),
            format!("Too long: {length}"),
            format!("Too many: 2: must have at most {items}"),
        ]
    };
    assert_eq!(details("1.31"), expected("must have at most", "may not be longer than 1", "1 items"));
    assert_eq!(details("1.33"), expected("may not be more than", "may not be more than 1 bytes", "1 items"));
    assert_eq!(details("1.34"), expected("may not be more than", "may not be more than 1 byte", "1 item"));
}

#[test]
fn keys_of_labels_are_counted_in_bytes_since_1_35() {
    let key = "a".repeat(64);
    let text = definition(&format!("finalizers: [{key}, a/b/c]"), "");
    let has = |release, detail: &str| errors(&text, release).iter().any(|error| error.contains(detail));
    assert!(has("1.34", "name part must be no more than 63 characters") && has("1.34", ": a qualified name must"));
    assert!(has("1.35", "name part must be no more than 63 bytes") && has("1.35", ": a valid label key must"));
}

#[test]
fn equal_errors_about_metadata_are_one_since_1_37() {
    let text = definition("finalizers: [a b, a b]", "");
    assert_eq!(errors(&text, "1.36").len(), 2);
    assert_eq!(errors(&text, "1.37").len(), 1);
}

#[test]
fn a_stored_version_must_remain() {
    let old = definition("", "");
    let text = format!("{old}---\n{}", old.replace("name: v1", "name: v2"));
    let path = "status.storedVersions[0]: Invalid value: \"v1\": ";
    assert_eq!(errors(&text, "1.32"), [format!("{path}must appear in spec.versions")]);
    assert!(errors(&text, "1.33")[0].starts_with(&format!("{path}missing from spec.versions; v1 was previously")));
}

#[test]
fn a_generated_name_is_shorter_than_a_name_since_1_37() {
    let rule = |field: &str| {
        let words = "words: {type: array, maxItems: 200000, items: {type: string, maxLength: 24}}";
        let rules = format!(
            "x-kubernetes-validations: [{{rule: 'self.spec.words.all(w, self.metadata.{field}.contains(w))'}}]"
        );
        definition("", words).replacen("openAPIV3Schema: {", &format!("openAPIV3Schema: {{{rules}, "), 1)
    };
    let factor = |field, release| {
        let errors = errors(&rule(field), release);
        let found =
            errors.iter().find_map(|error| error.split_once("estimated rule cost exceeds budget by factor of "));
        found.map(|(_, rest)| rest.split(' ').next().unwrap_or_default().to_owned())
    };
    assert_eq!(factor("name", "1.37").as_deref(), Some("20.5x"));
    assert_eq!(factor("generateName", "1.37").as_deref(), Some("20.3x"));
}

#[test]
fn numbers_of_defaults_have_ranges_since_1_36() {
    let count = |properties: &str, release| errors(&definition("", properties), release).len();
    for (properties, before, since) in [
        ("f: {type: integer, format: int32, default: 2147483648}", 0, 1),
        ("f: {type: number, format: float, default: 3.5e+38}", 0, 1),
        ("f: {type: integer, minimum: 18446744073709551615, default: 5}", 0, 2),
        ("f: {type: integer, maximum: 1.5, default: 1}", 0, 1),
        // The type is checked in all releases, and the format names it.
        ("f: {type: integer, format: int64, default: 1.5}", 1, 2),
        ("f: {type: integer, default: 9223372036854775808}", 1, 2),
        // 64-bit integers are exact.
        ("f: {type: integer, format: int64, default: 9223372036854775807}", 0, 0),
        ("f: {type: integer, enum: [9007199254740993], default: 9007199254740993}", 0, 0),
        ("f: {type: integer, enum: [9007199254740993], default: 9007199254740992}", 1, 1),
    ] {
        for release in ["1.28", "1.35"] {
            assert_eq!(count(properties, release), before, "{release}: {properties}");
        }
        for release in ["1.36", "1.37"] {
            assert_eq!(count(properties, release), since, "{release}: {properties}");
        }
    }
    let text = definition("", "f: {type: integer, format: int64, default: 1.5}");
    let expected = "must be of type int64: \"float64\"";
    assert!(
        errors(&text, "1.30")[0].ends_with(expected) && errors(&text, "1.37").iter().any(|e| e.ends_with(expected))
    );
}

/// Upstream passes a pointer to the string, which `field.Error` prints as JSON since 1.34.
#[test]
fn values_behind_pointers_are_json_since_1_34() {
    let text = definition("", "").replace(
        "    served: true",
        "    served: true\n    deprecated: true\n    deprecationWarning: \"a\\u0007<\"\n    subresources: {scale: {specReplicasPath: \
         .spec.a, statusReplicasPath: .status.b, labelSelectorPath: .metadata.c}}",
    );
    let path = "spec.versions[0].deprecationWarning: Invalid value: ";
    let detail = ": must only contain printable UTF-8 characters; non-printable character found at index 1";
    let scale = "spec.subresources.scale.labelSelectorPath: Invalid value: \".metadata.c\": should be a json path under either \
                 .spec or .status";
    for (release, value) in [("1.33", r#""a\a<""#), ("1.34", r#""a\u0007\u003c""#), ("1.37", r#""a\u0007\u003c""#)] {
        let found = errors(&text, release);
        assert!(found.contains(&format!("{path}{value}{detail}")), "{release}: {found:?}");
        assert!(found.iter().any(|error| error == scale), "{release}: {found:?}");
    }
}

#[test]
fn alternatives_of_an_integer_or_a_string_have_documentation_before_1_36() {
    let text = definition(
        "",
        "port: {x-kubernetes-int-or-string: true, \
         anyOf: [{type: integer, externalDocs: {url: 'https://example.com'}}, {type: string}]}",
    );
    assert_eq!(errors(&text, "1.35"), [""; 0]);
    let path = "spec.validation.openAPIV3Schema.properties[spec].properties[port]";
    let expected = [0, 1].map(|at| format!("{path}.anyOf[{at}].type: Forbidden: must be empty to be structural"));
    assert_eq!(errors(&text, "1.36"), expected);
}
