//! Which schemas are used, and their normal form.

#![allow(clippy::unwrap_used)]

use crate::support::{reasons, unfolded, with_schema};
use kubeshape_schema::{Bump, Code, Schema};
use kubeshape_structural::{unfold, usable};

#[test]
fn a_version_without_schema_is_reported() {
    let decision = usable(None, 7);
    assert_eq!((decision.value, decision.notes.len()), (None, 1));
    assert_eq!((decision.notes[0].code, decision.notes[0].at), (Code::NoSchema, 7));
}

#[test]
fn values_that_are_treated_as_absent_do_no_harm() {
    let schema = "{type: object, additionalProperties: null, not: null, default: null, properties: {\
                  a: {type: object, items: []}, b: {type: object, items: true}, c: {type: string, items: null}}, \
                  patternProperties: {}, definitions: {}, dependencies: {}, id: '', $ref: ''}";
    assert_eq!(reasons(schema), []);
    // A null property or branch is an empty schema.
    assert_eq!(reasons("{type: object, anyOf: [null]}"), []);
    assert_eq!(reasons("{type: object, properties: {a: null}}").len(), 1);
}

#[test]
fn unknown_types_are_found_everywhere() {
    let found = |schema: &str| {
        let reasons = reasons(schema);
        let of_types = reasons.iter().filter(|(code, _)| *code == Code::UnknownType);
        of_types.map(|(_, detail)| detail.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("{type: object, properties: {a: {type: strin}}}"), ["properties[a].type"]);
    assert_eq!(found("{type: Object, anyOf: [{not: {type: x}}]}"), ["type", "anyOf[0].not.type"]);
    assert_eq!(found("{type: object, definitions: {a: {type: x}}}"), ["definitions[a].type"]);
    assert_eq!(found("{type: object, dependencies: {a: {type: x}, b: [c]}}"), ["dependencies[a].type"]);
    assert_eq!(
        found("{type: object, items: [{type: x}], additionalItems: {type: z}}"),
        ["items[0].type", "additionalItems.type"]
    );
}

#[test]
fn each_unsupported_keyword_is_named_with_its_path() {
    let keywords = [
        ("id: x", "OpenAPIV3Schema 'id' is not supported"),
        ("$schema: x", "OpenAPIV3Schema 'schema' is not supported"),
        ("$ref: x", "OpenAPIV3Schema '$ref' is not supported"),
        ("patternProperties: {a: {}}", "OpenAPIV3Schema 'patternProperties' is not supported"),
        ("dependencies: {a: [b]}", "OpenAPIV3Schema 'dependencies' is not supported"),
        ("additionalItems: false", "OpenAPIV3Schema 'additionalItems' is not supported"),
        ("definitions: {a: {}}", "OpenAPIV3Schema 'definitions' is not supported"),
        (
            "x-kubernetes-preserve-unknown-fields: false",
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
        ),
        ("items: [{}]", "OpenAPIV3Schema 'items' must be a schema, but is an array"),
    ];
    for (written, text) in keywords {
        let reason = |path: &str| [(Code::NotConvertible, format!("{path}{text}"))];
        assert_eq!(reasons(&format!("{{type: object, {written}}}")), reason(""));
        let branch = format!("{{type: object, properties: {{a: {{type: string, oneOf: [{{}}, {{{written}}}]}}}}}}");
        assert_eq!(reasons(&branch), reason("properties[a].oneOf[1]: "));
    }
}

#[test]
fn keywords_are_in_the_order_of_the_conversion() {
    let first = |schema: &str| reasons(schema).remove(0).1;
    let schema = "{type: object, definitions: {a: {}}, $ref: x, not: {id: x}}";
    assert_eq!(first(schema), "OpenAPIV3Schema '$ref' is not supported");
    let schema = "{type: object, x-kubernetes-preserve-unknown-fields: false, anyOf: [{id: x}], not: {$ref: x}}";
    assert_eq!(first(schema), "not: OpenAPIV3Schema '$ref' is not supported");
}

#[test]
fn unknown_types_and_structural_errors_are_reported_together() {
    let codes: Vec<_> = reasons("{type: object, properties: {a: {type: x}, b: {}}}").into_iter().map(|r| r.0).collect();
    assert_eq!(codes, [Code::UnknownType, Code::NotStructural]);
}

#[test]
fn countless_reasons_are_counted() {
    let properties: Vec<_> = (0..250).map(|n| format!("a{n}: {{}}")).collect();
    let reasons = reasons(&format!("{{type: object, properties: {{{}}}}}", properties.join(", ")));
    assert_eq!(reasons.len(), 101);
    assert_eq!(reasons[100].1, "and 150 more errors");
}

#[test]
fn int_or_string_without_any_of_gets_its_alternatives_there() {
    let schema = "{type: object, properties: {a: {x-kubernetes-int-or-string: true, anyOf: []}}}";
    let printed = r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}}}"#;
    assert_eq!(unfolded(schema), (printed.to_owned(), false));
}

#[test]
fn int_or_string_with_another_any_of_gets_them_in_front_of_all_of() {
    let schema = "{type: object, x-kubernetes-int-or-string: true, anyOf: [{pattern: a}], allOf: [{minLength: 1}]}";
    let printed = r#"{"type":"object","allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"minLength":1}],"anyOf":[{"pattern":"a"}],"x-kubernetes-int-or-string":true}"#;
    assert_eq!(unfolded(schema), (printed.to_owned(), false));
}

#[test]
fn existing_alternatives_stay() {
    for alternatives in [
        "anyOf: [{type: integer}, {type: string}]",
        "allOf: [{anyOf: [{type: integer}, {type: string}]}, {minimum: 1}]",
    ] {
        let schema =
            format!("{{type: object, additionalProperties: null, x-kubernetes-int-or-string: true, {alternatives}}}");
        assert!(unfolded(&schema).1, "{schema}");
    }
}

#[test]
fn every_part_of_the_spine_is_unfolded() {
    let schema = "{type: object, properties: {a: {type: array, items: {type: object, \
                  additionalProperties: {x-kubernetes-int-or-string: true}}}, b: {type: string}}}";
    let printed = unfolded(schema).0;
    assert!(
        printed.contains(r#""additionalProperties":{"anyOf":[{"type":"integer"},{"type":"string"}],"#),
        "{printed}"
    );
}

#[test]
fn branches_lose_the_additional_properties_that_have_no_structural_form() {
    let schema = "{type: object, properties: {a: {type: object, properties: {b: {type: object}}, \
                  anyOf: [{additionalProperties: false, minProperties: 1}, {not: {properties: {b: {additionalProperties: false}}}}]}}}";
    let printed = unfolded(schema).0;
    assert!(printed.contains(r#""anyOf":[{"minProperties":1},{"not":{"properties":{"b":{}}}}]"#), "{printed}");
}

#[test]
fn locations_of_errors_are_entries_of_the_tape() {
    with_schema("{type: object, properties: {a: {type: array}}}", |schema| {
        let decision = usable(None, 0);
        assert!(decision.value.is_none());
        let errors = kubeshape_structural::validate(schema, "spec");
        assert_eq!(errors[0].path, "spec.properties[a].items");
        assert_eq!(errors[0].at, schema.properties[0].schema.at);
    });
}

#[test]
fn schemas_as_deep_as_documents_may_be_fit_a_small_stack() {
    let wrap = |open: &str, close: &str, n: usize| format!("{}{{}}{}", open.repeat(n), close.repeat(n));
    let deep = [
        wrap(r#"{"x-kubernetes-int-or-string":true,"properties":{"a":"#, "}}", 250),
        wrap(r#"{"x-kubernetes-int-or-string":true,"items":"#, "}", 500),
        wrap(r#"{"anyOf":["#, "]}", 250),
        wrap(r#"{"not":"#, "}", 500),
    ];
    let small = |schema: &Schema<'_>| {
        if let Some(structural) = usable(Some(schema), 0).value {
            unfold(structural, &Bump::new());
        }
    };
    let read_and_check = move || {
        for schema in deep {
            with_schema(&format!(r#"{{"type":"object","items":{schema}}}"#), |schema| {
                std::thread::scope(|scope| {
                    let thread = std::thread::Builder::new().stack_size(1 << 20);
                    thread.spawn_scoped(scope, || small(schema)).unwrap().join().unwrap();
                });
            });
        }
    };
    std::thread::Builder::new().stack_size(16 << 20).spawn(read_and_check).unwrap().join().unwrap();
}
