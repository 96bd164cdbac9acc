//! What changes of definitions are, for whom.
#![allow(clippy::unwrap_used)]

mod upgrades;
mod witnesses;

use kubeshape_diff::{Change, Class, Consumer, definitions};
use kubeshape_schema::Bump;
use kubeshape_structural::{Crd, read};
use kubeshape_yaml::{Limits, Stream, Tape};

fn crd(rest: &str, schema: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: tabs.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: tabs, kind: Tab, shortNames: [tb]}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{a: {schema}}}}}}}
{rest}"
    )
}

fn changes(old: &str, new: &str) -> Vec<Change> {
    with_definitions(old, new, definitions)
}

/// Reads two definitions.
fn with_definitions<T>(old: &str, new: &str, then: impl FnOnce(&Crd<'_>, &Crd<'_>) -> T) -> T {
    let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
    Stream::new(old.as_bytes(), Limits::default()).unwrap().next(&mut old_tape).unwrap().unwrap();
    Stream::new(new.as_bytes(), Limits::default()).unwrap().next(&mut new_tape).unwrap().unwrap();
    let arena = Bump::new();
    let read = |root| {
        let read = read::read(root, &arena);
        read.value.unwrap_or_else(|| panic!("{:?}", read.notes))
    };
    let (old, new) = (read(old_tape.document(old).root().unwrap()), read(new_tape.document(new).root().unwrap()));
    then(&old, &new)
}

/// Each change of a field's schema as `code path: class`.
fn of_schema(old: &str, new: &str) -> Vec<String> {
    let line = |change: &Change| format!("{} {}: {}", change.code, change.path, change.class());
    changes(&crd("", old), &crd("", new)).iter().map(line).collect()
}

/// The changes of schemas, one per rule: before, after, what is told.
const SCHEMAS: &[(&str, &str, &[&str])] = &[
    ("{type: integer}", "{type: integer}", &[]),
    ("{type: string}", "{type: integer}", &["KS8401 a: breaking"]),
    ("{type: number}", "{type: integer}", &["KS8401 a: breaking"]),
    ("{type: integer}", "{type: number}", &["KS8402 a: risky"]),
    ("{type: integer}", "{x-kubernetes-int-or-string: true}", &["KS8402 a: risky"]),
    ("{x-kubernetes-int-or-string: true}", "{type: string}", &["KS8401 a: breaking"]),
    (
        "{type: object, properties: {b: {type: string}, c: {type: string}}}",
        "{type: object, properties: {b: {type: string}}}",
        &["KS8403 a.c: breaking"],
    ),
    (
        "{type: object, properties: {b: {type: string}}}",
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        &["KS8418 a: compatible", "KS8402 a.b: risky"],
    ),
    (
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        "{type: object, properties: {b: {type: string}}}",
        &["KS8417 a: breaking", "KS8401 a.b: breaking"],
    ),
    (
        "{type: object, additionalProperties: {type: string}}",
        "{type: object, additionalProperties: {type: string, maxLength: 5}}",
        &["KS8409 a.*: breaking"],
    ),
    ("{type: object}", "{type: object, properties: {b: {type: string}}}", &["KS8404 a.b: compatible"]),
    (
        "{type: object}",
        "{type: object, properties: {b: {type: string, default: x}}}",
        &["KS8404 a.b: compatible", "KS8416 a.b: risky"],
    ),
    (
        "{type: object, properties: {b: {type: string}}}",
        "{type: object, required: [b], properties: {b: {type: string}}}",
        &["KS8405 a: breaking"],
    ),
    // What has a default is always there.
    (
        "{type: object, properties: {b: {type: string, default: x}}}",
        "{type: object, required: [b], properties: {b: {type: string, default: x}}}",
        &[],
    ),
    (
        "{type: object, required: [b], properties: {b: {type: string}}}",
        "{type: object, properties: {b: {type: string}}}",
        &["KS8406 a: risky"],
    ),
    ("{type: string, enum: [p, q]}", "{type: string, enum: [q, p]}", &[]),
    ("{type: string, enum: [p, q]}", "{type: string, enum: [p, z]}", &["KS8407 a: breaking", "KS8408 a: risky"]),
    ("{type: string}", "{type: string, enum: [x]}", &["KS8407 a: breaking"]),
    ("{type: string, enum: [x]}", "{type: string}", &["KS8408 a: risky"]),
    ("{type: integer, minimum: 1}", "{type: integer, minimum: 2}", &["KS8409 a: breaking"]),
    ("{type: integer, minimum: 2}", "{type: integer, minimum: 1}", &["KS8410 a: compatible"]),
    ("{type: integer, maximum: 2}", "{type: integer, maximum: 2, exclusiveMaximum: true}", &["KS8409 a: breaking"]),
    ("{type: integer, multipleOf: 2}", "{type: integer, multipleOf: 6}", &["KS8409 a: breaking"]),
    ("{type: integer, multipleOf: 6}", "{type: integer, multipleOf: 2}", &["KS8410 a: compatible"]),
    ("{type: string}", "{type: string, minLength: 0}", &[]),
    // A bound that no value reaches.
    ("{type: string}", "{type: string, maximum: 3}", &[]),
    ("{type: string}", "{type: string, pattern: x}", &["KS8411 a: breaking"]),
    ("{type: string, pattern: x}", "{type: string, pattern: z}", &["KS8412 a: risky"]),
    ("{type: string, format: date}", "{type: string}", &["KS8413 a: compatible"]),
    ("{type: string, nullable: true}", "{type: string}", &["KS8414 a: risky"]),
    (
        "{type: array, items: {type: string, nullable: true}}",
        "{type: array, items: {type: string}}",
        &["KS8414 a[]: breaking"],
    ),
    ("{type: string}", "{type: string, nullable: true}", &["KS8415 a: risky"]),
    ("{type: string, default: x}", "{type: string, default: z}", &["KS8416 a: risky"]),
    (
        "{type: array, items: {type: string}}",
        "{type: array, x-kubernetes-list-type: set, items: {type: string}}",
        &["KS8420 a: risky", "KS8419 a: breaking"],
    ),
    (
        "{type: array, x-kubernetes-list-type: set, items: {type: string}}",
        "{type: array, items: {type: string, maxLength: 3}}",
        &["KS8420 a: breaking", "KS8409 a[]: breaking"],
    ),
    (
        "{type: object, properties: {b: {type: string}}}",
        "{type: object, x-kubernetes-map-type: atomic, properties: {b: {type: string}}}",
        &["KS8420 a: breaking"],
    ),
    ("{type: integer}", "{type: integer, x-kubernetes-validations: [{rule: self > 0}]}", &["KS8421 a: risky"]),
    ("{type: integer, x-kubernetes-validations: [{rule: self > 0}]}", "{type: integer}", &["KS8422 a: compatible"]),
    (
        "{type: integer, x-kubernetes-validations: [{rule: self > 0, message: x}]}",
        "{type: integer, x-kubernetes-validations: [{rule: self > 0, message: z}]}",
        &["KS8432 a: cosmetic"],
    ),
    ("{type: integer}", "{type: integer, anyOf: [{minimum: 1}]}", &["KS8423 a: risky"]),
    ("{type: integer, anyOf: [{minimum: 1}]}", "{type: integer}", &["KS8410 a: compatible"]),
    ("{type: integer}", "{type: integer, description: x}", &["KS8432 a: cosmetic"]),
];

#[test]
fn changes_of_schemas() {
    for (old, new, expected) in SCHEMAS {
        assert_eq!(of_schema(old, new), *expected, "{old}\n{new}");
    }
}

#[test]
fn nothing_is_a_change_of_itself() {
    for schema in SCHEMAS.iter().flat_map(|(old, new, _)| [old, new]) {
        assert_eq!(of_schema(schema, schema), [""; 0], "{schema}");
    }
}

#[test]
fn changes_of_definitions() {
    let second = |served: bool| {
        format!(
            "  - name: v2\n    served: {served}\n    storage: false\n    schema: {{openAPIV3Schema: {{type: object}}}}\n"
        )
    };
    let plain = crd("", "{type: string}");
    let status = plain.replace("    storage: true\n", "    storage: true\n    subresources: {status: {}}\n");
    let stored = crd(&second(true).replace("storage: false", "storage: true"), "{type: string}").replacen(
        "storage: true",
        "storage: false",
        1,
    );
    let cases: [(&str, &str, &[&str]); 9] = [
        (&plain, &crd(&second(true), "{type: string}"), &["KS8425 v2: meta compatible"]),
        (&crd(&second(true), "{type: string}"), &plain, &["KS8424 v2: storage risky, meta breaking"]),
        (&crd(&second(true), "{type: string}"), &crd(&second(false), "{type: string}"), &["KS8424 v2: meta breaking"]),
        (&crd(&second(true), "{type: string}"), &stored, &["KS8426 : storage risky"]),
        (&stored, &plain, &["KS8424 v2: storage breaking, meta breaking", "KS8426 : storage risky"]),
        (&plain, &status, &["KS8429 v1: writers breaking, meta compatible"]),
        (
            &plain,
            &plain.replace("kind: Tab", "kind: Tub"),
            &["KS8427 : meta breaking", "KS8427 : meta breaking", "KS8428 : meta risky"],
        ),
        (&plain, &plain.replace("Namespaced", "Cluster"), &["KS8427 : meta breaking"]),
        (&plain, &plain.replace(", shortNames: [tb]", ""), &["KS8428 : meta risky"]),
    ];
    for (old, new, expected) in cases {
        let line = |change: &Change| {
            let effects: Vec<String> = change.effects.iter().map(|(whom, class)| format!("{whom} {class}")).collect();
            format!("{} {}: {}", change.code, change.version, effects.join(", "))
        };
        let found: Vec<String> = changes(old, new).iter().map(line).collect();
        assert_eq!(found, expected, "{old}\n{new}");
    }
}

#[test]
fn a_change_has_a_class_for_each_whom_it_concerns() {
    let found = changes(&crd("", "{type: string}"), &crd("", "{type: string, maxLength: 3}"));
    assert_eq!(found[0].class_for(Consumer::Storage), Some(Class::Risky));
    assert_eq!(found[0].class_for(Consumer::Writers), Some(Class::Breaking));
    assert_eq!(found[0].class_for(Consumer::Readers), None);
    assert_eq!(found[0].class(), Class::Breaking);
    assert_eq!(found[0].detail, "maxLength is 3, and there was none");
}

#[test]
fn what_is_large_stays_linear() {
    // A long name would stand in the path of every field below it.
    let fields = |keyword: &str| {
        let fields: Vec<String> = (0..2_000).map(|at| format!("f{at}: {{type: string, {keyword}}}")).collect();
        format!(
            "{{type: object, properties: {{{}: {{type: object, properties: {{{}}}}}}}}}",
            "n".repeat(1_000),
            fields.join(", ")
        )
    };
    let changes = changes(&crd("", &fields("maxLength: 3")), &crd("", &fields("maxLength: 2")));
    assert_eq!(changes.len(), 2_000);
    assert!(changes.iter().all(|change| change.path.chars().count() < 300));
    // Long lists are looked up, and some of their values are named.
    let values = |letter: char| (0..50_000).map(|at| format!("{letter}{at}")).collect::<Vec<_>>().join(", ");
    let list = |letter: char| format!("{{type: string, enum: [{}]}}", values(letter));
    let changes = self::changes(&crd("", &list('p')), &crd("", &list('q')));
    assert_eq!(
        changes[0].detail,
        r#"no longer accepted: "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" and 49992 more"#
    );
}
