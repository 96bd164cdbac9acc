//! The rules of structural schemas, one test for each.

#![allow(clippy::unwrap_used)]

use crate::support::errors;

const NONE: [&str; 0] = [];

#[test]
fn an_array_needs_items() {
    let schema = "{type: object, properties: {a: {type: array}}}";
    assert_eq!(errors(schema), ["properties[a].items: Required value: must be specified"]);
}

#[test]
fn every_node_of_the_spine_needs_a_type() {
    assert_eq!(errors("{}"), ["type: Required value: must not be empty at the root"]);
    let schema =
        "{type: object, properties: {a: {}, b: {type: array, items: {}}, c: {type: object, additionalProperties: {}}}}";
    assert_eq!(
        errors(schema),
        [
            "properties[a].type: Required value: must not be empty for specified object fields",
            "properties[b].items.type: Required value: must not be empty for specified array items",
            "properties[c].additionalProperties.type: Required value: must not be empty for specified object fields",
        ]
    );
}

#[test]
fn int_or_string_and_preserved_unknown_fields_do_without_a_type() {
    assert_eq!(errors("{x-kubernetes-preserve-unknown-fields: true}"), NONE);
    let schema = "{type: object, properties: {a: {x-kubernetes-int-or-string: true}}}";
    assert_eq!(errors(schema), NONE);
}

#[test]
fn an_unknown_type_is_a_type_here() {
    assert_eq!(errors("{type: object, properties: {a: {type: strin}}}"), NONE);
}

#[test]
fn the_root_is_an_object_without_additional_properties() {
    assert_eq!(
        errors("{type: array, items: {type: string}}"),
        ["type: Invalid value: \"array\": must be object at the root"]
    );
    for additional in ["true", "false", "{type: string}"] {
        let schema = format!("{{type: object, additionalProperties: {additional}}}");
        assert_eq!(errors(&schema), ["additionalProperties: Forbidden: must not be used at the root"]);
    }
}

#[test]
fn int_or_string_excludes_other_kinds_of_value() {
    let schema = "{type: object, properties: {a: {type: object, x-kubernetes-int-or-string: true, \
                  x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}}}";
    let detail = "Invalid value: true: must be false if x-kubernetes-int-or-string is true";
    assert_eq!(
        errors(schema),
        [
            format!("properties[a].x-kubernetes-embedded-resource: {detail}"),
            format!("properties[a].x-kubernetes-preserve-unknown-fields: {detail}"),
        ]
    );
}

#[test]
fn an_embedded_resource_is_an_object_with_fields() {
    let schema = "{type: object, properties: {a: {x-kubernetes-embedded-resource: true}, \
                  b: {type: string, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}, \
                  c: {type: object, x-kubernetes-embedded-resource: true, properties: {x: {type: string}}, \
                  additionalProperties: false}}}";
    let empty = "must not be empty if x-kubernetes-embedded-resource is true without \
                 x-kubernetes-preserve-unknown-fields";
    assert_eq!(
        errors(schema),
        [
            format!("properties[a].properties: Required value: {empty}"),
            "properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true".to_owned(),
            "properties[b].type: Invalid value: \"string\": must be object if x-kubernetes-embedded-resource is true"
                .to_owned(),
            "properties[c].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set"
                .to_owned(),
        ]
    );
}

#[test]
fn api_version_kind_and_metadata_have_their_types_at_the_root_and_in_embedded_resources() {
    let fields = "properties: {apiVersion: {type: integer}, kind: {type: object}, metadata: {type: string}}";
    let object = format!("{{type: object, {fields}}}");
    assert_eq!(
        errors(&object),
        [
            "properties[apiVersion].type: Invalid value: \"integer\": must be string",
            "properties[kind].type: Invalid value: \"object\": must be string",
            "properties[metadata].type: Invalid value: \"string\": must be object",
        ]
    );
    let embedded = format!(
        "{{type: object, properties: {{a: {{type: object, x-kubernetes-embedded-resource: true, {fields}}}}}}}"
    );
    assert_eq!(errors(&embedded).len(), 3);
    let elsewhere = format!("{{type: object, properties: {{a: {object}}}}}");
    assert_eq!(errors(&elsewhere), NONE);
}

#[test]
fn metadata_of_the_root_restricts_names_only() {
    let root = |metadata: &str| errors(&format!("{{type: object, properties: {{metadata: {metadata}}}}}"));
    for metadata in [
        "{type: object}",
        "{type: object, properties: {name: {type: string, maxLength: 10}}}",
        "{type: object, properties: {generateName: {type: string}, name: {type: string}}}",
        "{type: object, default: {}, enum: [], required: null}",
    ] {
        assert_eq!(root(metadata), NONE, "{metadata}");
    }
    let refused = "properties[metadata]: Forbidden: must not specify anything other than name and generateName, \
                   but metadata is implicitly specified";
    for metadata in [
        "{type: object, description: d}",
        "{type: object, maxProperties: 1}",
        "{type: object, required: []}",
        "{type: object, nullable: true}",
        "{type: object, additionalProperties: false}",
        "{type: object, externalDocs: {}}",
        "{type: object, properties: {labels: {type: object}}}",
        "{type: object, properties: {name: {type: string}, labels: {type: object}}}",
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
    ] {
        assert_eq!(root(metadata), [refused], "{metadata}");
    }
}

#[test]
fn metadata_of_an_embedded_resource_is_free() {
    let schema = "{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, \
                  properties: {metadata: {type: object, description: d, maxProperties: 1}}}}}";
    assert_eq!(errors(schema), NONE);
}

#[test]
fn a_pattern_is_a_regular_expression_of_go() {
    let schema = "{type: object, properties: {a: {type: string, pattern: '(?=a)'}}, not: {pattern: 'a**'}}";
    let detail = "must be a valid regular expression, but isn't: error parsing regexp:";
    assert_eq!(
        errors(schema),
        [
            format!("not.pattern: Invalid value: \"a**\": {detail} invalid nested repetition operator: `**`"),
            format!(
                "properties[a].pattern: Invalid value: \"(?=a)\": {detail} invalid or unsupported Perl syntax: `(?=`"
            ),
        ]
    );
}

#[test]
fn branches_have_no_type_except_those_of_int_or_string() {
    let field = |junctors: &str| errors(&format!("{{type: object, properties: {{p: {{type: string, {junctors}}}}}}}"));
    // It does not need the extension …
    assert_eq!(field("anyOf: [{type: integer}, {type: string}]"), NONE);
    assert_eq!(field("allOf: [{anyOf: [{type: integer}, {type: string}], minLength: 1}, {maxLength: 2}]"), NONE);
    assert_eq!(field("anyOf: [{type: integer, additionalProperties: false}, {type: string, enum: []}]"), NONE);
    // … but exactly these branches in this order.
    for any_of in [
        "[{type: string}, {type: integer}]",
        "[{type: integer}, {type: string, required: []}]",
        "[{type: integer}, {type: string, properties: {}}]",
    ] {
        let types = ["properties[p].anyOf[0].type", "properties[p].anyOf[1].type"];
        let expected = types.map(|path| format!("{path}: Forbidden: must be empty to be structural"));
        assert_eq!(field(&format!("anyOf: {any_of}")), expected, "{any_of}");
    }
    assert_eq!(field("allOf: [{}, {anyOf: [{type: integer}, {type: string}]}]").len(), 2);
    assert_eq!(field("oneOf: [{type: integer}, {type: string}]").len(), 2);
    assert_eq!(field("anyOf: [{type: integer}, {type: string}, {}]").len(), 2);
}

#[test]
fn branches_do_not_describe_structure() {
    let keywords = [
        ("title: t", "title", "empty"),
        ("description: d", "description", "empty"),
        ("default: 1", "default", "undefined"),
        ("nullable: true", "nullable", "false"),
        ("additionalProperties: true", "additionalProperties", "undefined"),
        ("additionalProperties: {}", "additionalProperties", "undefined"),
        ("x-kubernetes-preserve-unknown-fields: true", "x-kubernetes-preserve-unknown-fields", "false"),
        ("x-kubernetes-embedded-resource: true", "x-kubernetes-embedded-resource", "false"),
        ("x-kubernetes-int-or-string: true", "x-kubernetes-int-or-string", "false"),
        ("x-kubernetes-list-map-keys: [a]", "x-kubernetes-list-map-keys", "empty"),
        ("x-kubernetes-list-type: ''", "x-kubernetes-list-type", "undefined"),
        ("x-kubernetes-map-type: atomic", "x-kubernetes-map-type", "undefined"),
        ("x-kubernetes-validations: [{rule: 'true'}]", "x-kubernetes-validations", "empty"),
    ];
    for (written, keyword, what) in keywords {
        for (junctor, path) in
            [("allOf: [{@}]", "allOf[0]"), ("not: {@}", "not"), ("anyOf: [{not: {@}}]", "anyOf[0].not")]
        {
            let schema = format!("{{type: object, {}}}", junctor.replace('@', written));
            let error = format!("{path}.{keyword}: Forbidden: must be {what} to be structural");
            assert_eq!(errors(&schema), [error], "{schema}");
        }
    }
    let allowed = "{externalDocs: {url: u}, example: 1, additionalProperties: false, default: null, minimum: 1}";
    assert_eq!(errors(&format!("{{type: object, anyOf: [{allowed}]}}")), NONE);
}

#[test]
fn no_branch_restricts_metadata_at_any_depth() {
    let schema = "{type: object, properties: {a: {type: object, properties: {metadata: {type: object}}, \
                  anyOf: [{properties: {metadata: {}}}]}}}";
    assert_eq!(
        errors(schema),
        ["properties[a].anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context"]
    );
}

#[test]
fn branches_of_the_root_restrict_declared_fields_only() {
    let schema = "{type: object, properties: {a: {type: string}}, anyOf: [{properties: {a: {}, x: {}}}], \
                  not: {allOf: [{items: {}}]}}";
    assert_eq!(
        errors(schema),
        [
            "items: Required value: because it is defined in not.allOf[0].items",
            "properties[x]: Required value: because it is defined in anyOf[0].properties[x]",
        ]
    );
}

#[test]
fn branches_below_the_root_may_restrict_undeclared_fields() {
    let schema = "{type: object, properties: {foo: {type: object, anyOf: [{properties: {x: {}}}]}}}";
    assert_eq!(errors(schema), NONE);
}

#[test]
fn errors_are_sorted_by_their_text() {
    let schema = "{type: object, properties: {a: {properties: {a: {}}}, 'a.b': {}}}";
    assert_eq!(
        errors(schema).iter().map(|error| error.split(':').next().unwrap_or_default()).collect::<Vec<_>>(),
        ["properties[a.b].type", "properties[a].properties[a].type", "properties[a].type"]
    );
}
