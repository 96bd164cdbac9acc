//! Objects that show changes.

use crate::crd;
use kubeshape_diff::{Class, Consumer, Effort, Outcome, Proof, definitions, witnesses};

/// A change of the field `a`, the outcome, and the value of the field in the witness.
const CHANGES: &[(&str, &str, Outcome, &str)] = &[
    ("{type: string}", "{type: integer}", Outcome::Refused, r#""example""#),
    ("{type: number}", "{type: integer}", Outcome::Refused, "0.5"),
    ("{x-kubernetes-int-or-string: true}", "{type: string}", Outcome::Refused, "1"),
    ("{type: integer}", "{type: integer, maximum: 3}", Outcome::Refused, "4"),
    ("{type: integer, minimum: 0}", "{type: integer, minimum: 0, exclusiveMinimum: true}", Outcome::Refused, "0"),
    ("{type: integer}", "{type: integer, multipleOf: 3}", Outcome::Refused, "1"),
    ("{type: string}", "{type: string, maxLength: 3}", Outcome::Refused, r#""example""#),
    ("{type: string}", "{type: string, minLength: 2}", Outcome::Refused, r#""e""#),
    ("{type: string}", "{type: string, pattern: ^x$}", Outcome::Refused, r#""""#),
    ("{type: string}", "{type: string, format: date}", Outcome::Refused, r#""""#),
    ("{type: string, enum: [p, q]}", "{type: string, enum: [q]}", Outcome::Refused, r#""p""#),
    ("{type: string}", "{type: string, enum: [example]}", Outcome::Refused, r#""""#),
    (
        "{type: array, items: {type: string}}",
        "{type: array, maxItems: 1, items: {type: string}}",
        Outcome::Refused,
        r#"["example","example"]"#,
    ),
    (
        "{type: array, items: {type: string}}",
        "{type: array, x-kubernetes-list-type: set, items: {type: string}}",
        Outcome::Refused,
        r#"["example","example"]"#,
    ),
    (
        "{type: array, items: {type: string, nullable: true}}",
        "{type: array, items: {type: string}}",
        Outcome::Refused,
        "[null]",
    ),
    (
        "{type: object, properties: {b: {type: string}, c: {type: string}}}",
        "{type: object, properties: {b: {type: string}}}",
        Outcome::Dropped,
        r#"{"c":"example"}"#,
    ),
    (
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        "{type: object, properties: {b: {type: string}}}",
        Outcome::Dropped,
        r#"{"anything":"example"}"#,
    ),
    (
        "{type: object, additionalProperties: {type: string}}",
        "{type: object, additionalProperties: {type: string, maxLength: 5}}",
        Outcome::Refused,
        r#"{"anything":"example"}"#,
    ),
    (
        "{type: object, properties: {b: {type: string}}}",
        "{type: object, required: [b], properties: {b: {type: string}}}",
        Outcome::Refused,
        "{}",
    ),
    // Without a type, the value can be a list.
    (
        "{x-kubernetes-preserve-unknown-fields: true}",
        "{x-kubernetes-preserve-unknown-fields: true, items: {type: string, maxLength: 10, default: 90s}}",
        Outcome::Refused,
        "[true]",
    ),
];

#[test]
fn witnesses_are_small() {
    for (old, new, outcome, value) in CHANGES {
        let told = crate::with_definitions(&crd("", old), &crd("", new), |old, new| {
            let changes = definitions(old, new);
            let proofs = witnesses(old, new, &Effort::default());
            let breaking =
                changes.iter().position(|change| change.class_for(Consumer::Writers) == Some(Class::Breaking));
            breaking.map(|at| proofs[at].clone())
        });
        let Some(Proof::Witness(witness)) = told else { panic!("{old}\n{new}\n{told:?}") };
        assert_eq!(witness.outcome, *outcome, "{old}\n{new}");
        assert_eq!(witness.object["a"].to_string(), *value, "{old}\n{new}");
        assert!(!witness.errors.is_empty());
    }
}

/// A change of the field `a` that adds a format of numbers, and the value that it refuses.
const FORMATS: &[(&str, &str, Option<&str>)] = &[
    ("type: integer, minimum: 11, maximum: 17", "int32", None),
    ("type: integer, enum: [1, 2147483647, -2147483648]", "int32", None),
    ("type: integer, minimum: 0, allOf: [{maximum: 9}]", "int32", None),
    ("type: integer, minimum: -2147483648, maximum: 2147483647", "int32", None),
    ("type: integer, anyOf: [{minimum: 1, maximum: 2}, {enum: [5]}]", "int32", None),
    ("type: number, minimum: -0.5, maximum: 1000000", "float", None),
    ("type: number, enum: [0.5, 3]", "float", None),
    ("type: integer, minimum: 11", "int32", Some("2147483648")),
    ("type: integer, maximum: 17", "int32", Some("-2147483649")),
    // A bound that does not fit the format refuses everything.
    ("type: integer, minimum: 0, maximum: 2147483648", "int32", Some("0")),
    ("type: integer, enum: [1, 2147483648]", "int32", Some("2147483648")),
    ("type: number, minimum: 0", "float", Some("1e+39")),
];

#[test]
fn a_format_that_bounds_or_an_enum_imply_refuses_nothing() {
    for (schema, format, value) in FORMATS {
        let (old, new) = (crd("", &format!("{{{schema}}}")), crd("", &format!("{{{schema}, format: {format}}}")));
        crate::with_definitions(&old, &new, |old, new| {
            let changes = definitions(old, new);
            let proofs = witnesses(old, new, &Effort::default());
            let is_breaking = |class| class == Some(Class::Breaking);
            let at = changes.iter().position(|change| is_breaking(change.class_for(Consumer::Writers)));
            match (at.map(|at| &proofs[at]), value) {
                (None, None) => {}
                (Some(Proof::Witness(witness)), Some(value)) => {
                    assert_eq!(witness.object["a"].to_string(), *value, "{schema} {format}");
                }
                (proof, _) => panic!("{schema} {format}: {changes:?} {proof:?}"),
            }
        });
    }
}

#[test]
fn a_bound_that_does_not_fit_a_new_format_refuses_everything() {
    let old = crd("", "{type: integer, minimum: 1, maximum: 9}");
    let new = crd("", "{type: integer, minimum: 1, maximum: 3000000000, format: int32}");
    crate::with_definitions(&old, &new, |old, new| {
        let changes = definitions(old, new);
        assert!(
            changes.iter().any(|change| change.class_for(Consumer::Writers) == Some(Class::Breaking)),
            "{changes:?}"
        );
    });
}

#[test]
fn every_breaking_change_of_the_corpus_has_one() {
    let mut proven = 0;
    for (name, old, new, _) in crate::pairs() {
        crate::with_definitions(&old, &new, |old, new| {
            for (change, proof) in definitions(old, new).iter().zip(witnesses(old, new, &Effort::default())) {
                if change.class_for(Consumer::Writers) == Some(Class::Breaking) {
                    assert!(matches!(proof, Proof::Witness(_)), "{name}: {change:?}: {proof:?}");
                    proven += 1;
                }
            }
        });
    }
    assert!(proven > 20, "{proven}");
}
