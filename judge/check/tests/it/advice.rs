//! When advice is given, and when not.

use crate::report;
use kubeshape_check::Problem;
use kubeshape_schema::Code;
use kubeshape_validate::Release;

/// Returns a definition whose only version has these members and this root schema.
fn of_version(version: &str, schema: &str) -> String {
    definition(&format!("[{{name: v1, served: true, storage: true, {version} schema: {{openAPIV3Schema: {schema}}}}}]"))
}

fn definition(versions: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\n\
         spec: {{group: example.com, scope: Namespaced, names: {{plural: tabs, kind: Tab}}, versions: {versions}}}\n"
    )
}

/// Returns the advice with a code: the detail, and the source at its location.
fn said(text: &str, code: Code) -> Vec<(String, String)> {
    let mut tape = kubeshape_yaml::Tape::new();
    let mut stream = kubeshape_yaml::Stream::new(text.as_bytes(), kubeshape_yaml::Limits::default()).unwrap();
    stream.next(&mut tape).unwrap().unwrap();
    let report = report(text, true);
    let refuses = |problem: &&Problem| problem.error.is_some() && problem.is_of(Release::NEWEST);
    assert_eq!(report.problems.iter().filter(refuses).count(), 0, "{text}: {:?}", report.problems);
    let of_code = report.problems.iter().filter(|problem| problem.note.code == code);
    let place = |at: u32| text[tape.document(text).node(at).span()].to_owned();
    of_code.map(|problem| (problem.note.detail.to_string(), place(problem.note.at))).collect()
}

/// Returns the details of advice about a schema of `spec`, which is required.
fn about_spec(spec: &str, code: Code) -> Vec<String> {
    let text = of_version("", &format!("{{type: object, required: [spec], properties: {{spec: {spec}}}}}"));
    said(&text, code).into_iter().map(|(detail, _)| detail).collect()
}

const NOTHING: [String; 0] = [];

/// Returns a definition with two versions. The second one is the storage version.
fn of_versions(served: &str, stored: &str, conversion: &str) -> Vec<String> {
    let schema = |spec: &str| format!("schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}");
    let text = definition(&format!(
        "[{{name: v1beta1, served: true, storage: false, {}}}, {{name: v1, served: true, storage: true, {}}}]{conversion}",
        schema(served),
        schema(stored)
    ));
    said(&text, Code::AdviceVersionFields).into_iter().map(|(detail, _)| detail).collect()
}

#[test]
fn fields_that_versions_lose() {
    let (few, more) = (
        "{type: object, properties: {a: {type: string}}}",
        "{type: object, properties: {a: {type: string}, b: {type: string}}}",
    );
    assert_eq!(
        of_versions(few, more, ""),
        ["v1beta1 lacks `spec.b` of v1: an update through v1beta1 deletes what they hold"]
    );
    assert_eq!(
        of_versions(more, few, ""),
        ["the storage version v1 lacks `spec.b` of v1beta1: what they hold is not stored"]
    );
    let list = |item: &str| format!("{{type: object, properties: {{list: {{type: array, items: {item}}}}}}}");
    assert_eq!(
        of_versions(&list(few), &list(more), ""),
        ["v1beta1 lacks `spec.list[*].b` of v1: an update through v1beta1 deletes what they hold"]
    );
    let many = "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}, \
        e: {type: string}}}";
    assert_eq!(
        of_versions("{type: object}", many, ""),
        ["v1beta1 lacks `spec.a`, `spec.b`, `spec.c` and 2 more fields of v1: an update through v1beta1 deletes what \
          they hold"]
    );
    // Equal fields, a version that keeps unknown fields, and a webhook.
    assert_eq!(of_versions(more, more, ""), NOTHING);
    assert_eq!(of_versions("{type: object, x-kubernetes-preserve-unknown-fields: true}", more, ""), NOTHING);
    let webhook = ", conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], \
        clientConfig: {url: 'https://example.com'}}}";
    assert_eq!(of_versions(few, more, webhook), NOTHING);
}

#[test]
fn transition_rules_that_can_be_avoided() {
    const AVOIDED: &str = "it does not run when the field is removed, or added again with another value";
    let fixed = "{type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}";
    let with = |more: &str, field: &str| {
        about_spec(&format!("{{type: object, {more} properties: {{a: {field}}}}}"), Code::AdviceTransition)
    };
    assert_eq!(with("", fixed), [AVOIDED]);
    // A required field of an optional object, and an optional object.
    let inner = format!("{{type: object, required: [b], properties: {{b: {fixed}}}}}");
    assert_eq!(with("", &inner), [AVOIDED]);
    let whole = "{type: object, x-kubernetes-validations: [{rule: self.b == oldSelf.b}], required: [b], \
        properties: {b: {type: string}}}";
    assert_eq!(with("", whole), [AVOIDED]);
    // A required field, one with a default, one that the rule of its object mentions, and a rule that always runs.
    assert_eq!(with("required: [a],", fixed), NOTHING);
    assert_eq!(with("", &fixed.replace("type: string", "type: string, default: x")), NOTHING);
    let guard = "x-kubernetes-validations: [{rule: has(oldSelf.a) == has(self.a)}],";
    assert_eq!(with(guard, fixed), NOTHING);
    let always = "{type: string, x-kubernetes-validations: [\
        {rule: 'oldSelf.hasValue() ? self == oldSelf.value() : true', optionalOldSelf: true}]}";
    assert_eq!(with("", always), NOTHING);
    assert_eq!(with("", "{type: string, x-kubernetes-validations: [{rule: self != ''}]}"), NOTHING);
}

#[test]
fn transition_rules_of_items_get_no_advice() {
    let list = "{type: object, properties: {list: {type: array, maxItems: 3, x-kubernetes-list-type: map, \
        x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string, \
        maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}}";
    assert_eq!(about_spec(list, Code::AdviceTransition), NOTHING);
    // The spec itself is rarely required.
    let text = of_version(
        "",
        "{type: object, properties: {spec: {type: object, required: [a], properties: {a: {type: string, \
         x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}",
    );
    assert_eq!(said(&text, Code::AdviceTransition), []);
}

#[test]
fn functions_of_strings_that_see_numbers() {
    let with = |rule: &str| {
        let spec = format!(
            "{{type: object, required: [size, text], x-kubernetes-validations: [{{rule: {rule:?}}}], properties: {{\
             size: {{x-kubernetes-int-or-string: true, maxLength: 9}}, text: {{type: string, maxLength: 9}},\
             limits: {{type: object, maxProperties: 3, additionalProperties: {{x-kubernetes-int-or-string: true, \
             maxLength: 9}}}}}}}}"
        );
        about_spec(&spec, Code::AdviceNumber)
    };
    assert_eq!(
        with("quantity(self.size).isGreaterThan(quantity('1'))"),
        ["`quantity(self.size)` fails where `self.size` is a number"]
    );
    assert_eq!(with("isQuantity(self.size)"), ["`isQuantity(self.size)` fails where `self.size` is a number"]);
    assert_eq!(
        with("!has(self.limits) || self.limits.all(k, isQuantity(self.limits[k]))"),
        ["`isQuantity(self.limits[k])` fails where `self.limits[k]` is a number"]
    );
    for fine in [
        "type(self.size) == int || quantity(self.size).isGreaterThan(quantity('1'))",
        "quantity(string(self.size)).isGreaterThan(quantity('1'))",
        "isQuantity(self.text)",
        "!has(self.limits) || self.limits.all(k, type(self.limits[k]) == int || isQuantity(self.limits[k]))",
    ] {
        assert_eq!(with(fine), NOTHING, "{fine}");
    }
}

#[test]
fn keywords_that_the_type_disables() {
    let with =
        |field: &str| about_spec(&format!("{{type: object, properties: {{a: {field}}}}}"), Code::AdviceDeadKeyword);
    let dead = |keyword: &str, ty: &str| format!("`{keyword}` means nothing for a value of type {ty}");
    assert_eq!(with("{type: integer, maxLength: 3}"), [dead("maxLength", "integer")]);
    assert_eq!(with("{type: string, minimum: 3}"), [dead("minimum", "string")]);
    assert_eq!(with("{type: object, maxItems: 3}"), [dead("maxItems", "object")]);
    assert_eq!(with("{x-kubernetes-int-or-string: true, minItems: 3}"), [dead("minItems", "integer or string")]);
    assert_eq!(with("{type: boolean, allOf: [{pattern: x}]}"), [dead("pattern", "boolean")]);
    assert_eq!(
        with("{type: integer, exclusiveMinimum: true}"),
        ["`exclusiveMinimum` means nothing without `minimum` beside it"]
    );
    assert_eq!(with("{type: string, enum: [a, 1]}"), ["no value of type string is equal to 1"]);
    assert_eq!(with("{type: string, enum: [on, a]}"), ["no value of type string is equal to true"]);
    for fine in [
        "{type: number, minimum: 3, exclusiveMinimum: true, multipleOf: 2, enum: [4, 5.5]}",
        "{type: string, pattern: x, maxLength: 3, enum: [x, '1']}",
        "{type: array, maxItems: 3, uniqueItems: false, items: {type: string}}",
        "{x-kubernetes-int-or-string: true, minimum: 3, pattern: x, enum: [1, x]}",
        "{x-kubernetes-preserve-unknown-fields: true, maxLength: 3, maxItems: 3}",
        "{type: integer, enum: [1.0]}",
    ] {
        assert_eq!(with(fine), NOTHING, "{fine}");
    }
}

#[test]
fn nullable_next_to_an_enum() {
    let with = |field: &str| {
        about_spec(&format!("{{type: object, properties: {{a: {field}}}}}"), Code::AdviceNullableEnum).len()
    };
    assert_eq!(with("{type: string, nullable: true, enum: [a, b]}"), 1);
    assert_eq!(with("{type: integer, nullable: true, enum: [1]}"), 1);
    assert_eq!(with("{type: string, nullable: true, allOf: [{enum: [a, b]}]}"), 1);
    assert_eq!(with("{type: string, nullable: true}"), 0);
    assert_eq!(with("{type: string, nullable: true, anyOf: [{enum: [a, b]}, {pattern: x}]}"), 0);
    assert_eq!(with("{type: string, enum: [a, b]}"), 0);
}

const REPLICAS: &str = "{type: object, properties: {spec: {type: object, properties: {replicas: {type: integer}, \
    text: {type: string}, either: {x-kubernetes-int-or-string: true}}}, status: {type: object, properties: {\
    replicas: {type: integer}, selector: {type: string}, open: {x-kubernetes-preserve-unknown-fields: true}}}}}";

#[test]
fn paths_of_a_scale() {
    let with = |spec: &str, status: &str, selector: &str| {
        let scale = format!("specReplicasPath: {spec}, statusReplicasPath: {status}, labelSelectorPath: {selector}");
        said(&of_version(&format!("subresources: {{status: {{}}, scale: {{{scale}}}}},"), REPLICAS), Code::AdviceScale)
    };
    assert_eq!(with(".spec.replicas", ".status.replicas", ".status.selector"), []);
    assert_eq!(with(".spec.replicas", ".status.open.x", ".status.open.y"), []);
    let pair = |detail: &str, place: &str| (detail.to_owned(), place.to_owned());
    assert_eq!(
        with(".spec.text", ".status.replicaz", ".status.replicas"),
        [
            pair(".spec.text has the type string, and a scale has an integer there", ".spec.text"),
            pair("there is no field `replicaz` in .status.replicaz", ".status.replicaz"),
            pair(".status.replicas has the type integer, and a scale has a string there", ".status.replicas"),
        ]
    );
    assert_eq!(
        with(".spec.either", ".status.replicas", ".status.selector"),
        [pair(".spec.either is an integer or a string, and a scale has an integer there", ".spec.either")]
    );
}

#[test]
fn columns_that_are_always_empty() {
    let schema = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}, \
        text: {type: string}, either: {x-kubernetes-int-or-string: true}, flag: {type: boolean}, \
        list: {type: array, items: {type: object, properties: {name: {type: string}}}}}}}}";
    let with = |ty: &str, path: &str| {
        let columns = format!("additionalPrinterColumns: [{{name: A, type: {ty}, jsonPath: '{path}'}}],");
        let text = of_version(&columns, schema);
        let mut all = said(&text, Code::AdviceEmptyColumn);
        all.extend(said(&text, Code::AdviceColumn));
        all
    };
    let pair = |detail: &str, place: &str| (detail.to_owned(), place.to_owned());
    let shows = |ty: &str, path: &str, found: &str| {
        pair(&format!("a column of type {ty} does not show {path}, which has the type {found}"), ty)
    };
    assert_eq!(with("integer", ".spec.text"), [shows("integer", ".spec.text", "string")]);
    assert_eq!(with("date", ".spec.size"), [shows("date", ".spec.size", "integer")]);
    assert_eq!(with("boolean", ".spec.list"), [shows("boolean", ".spec.list", "array")]);
    assert_eq!(with("number", ".spec.list[*].name"), [shows("number", ".spec.list[*].name", "string")]);
    assert_eq!(
        with("string", ".spec.list.name"),
        [pair("there is no field `name` in .spec.list.name", "'.spec.list.name'")]
    );
    assert_eq!(
        with("string", ".spec.list[?(@.name==\"a\")].nam"),
        [pair("there is no field `nam` in .spec.list[?(@.name==\"a\")].nam", "'.spec.list[?(@.name==\"a\")].nam'")]
    );
    for (ty, path) in [
        ("integer", ".spec.size"),
        ("number", ".spec.size"),
        ("string", ".spec.size"),
        ("string", ".spec.list"),
        ("integer", ".spec.either"),
        ("boolean", ".spec.flag"),
        ("date", ".metadata.creationTimestamp"),
        ("string", ".spec.list[?(@.name==\"a\")].name"),
    ] {
        assert_eq!(with(ty, path), [], "{ty} {path}");
    }
}

#[test]
fn members_that_are_not_stored() {
    let with = |version: &str, field: &str| {
        let text = of_version(version, &format!("{{type: object, properties: {{a: {field}}}}}"));
        said(&text, Code::AdviceNotStored)
    };
    let pair = |detail: &str, place: &str| (detail.to_owned(), place.to_owned());
    assert_eq!(with("", "{type: string, nullable: false}"), [pair("`nullable: false`", "false")]);
    assert_eq!(with("deprecated: false,", "{type: string}"), [pair("`deprecated: false`", "false")]);
    assert_eq!(with("", "{type: string, description: ''}"), [pair("`description: \"\"`", "''")]);
    assert_eq!(
        with(
            "",
            "{type: object, properties: {b: {type: array, items: {type: string, nullable: false}}}, nullable: false}"
        ),
        [pair("`nullable: false`, here and in 1 other place", "false")]
    );
    let columns = "additionalPrinterColumns: [{name: A, type: string, jsonPath: .a, priority: 0}],";
    assert_eq!(with(columns, "{type: string}"), [pair("`priority: 0`", "0")]);
    let fine = "{type: object, additionalProperties: false, minProperties: 0, default: {}}";
    assert_eq!(with("subresources: {status: {}},", fine), []);
}

#[test]
fn members_of_the_definition_that_are_not_stored() {
    let text = of_version("", "{type: object}").replace("scope:", "preserveUnknownFields: false, scope:");
    assert_eq!(said(&text, Code::AdviceNotStored)[0].0, "`preserveUnknownFields: false`");
    let text = text + "status: {acceptedNames: {kind: '', plural: ''}, conditions: [], storedVersions: []}\n";
    assert_eq!(said(&text, Code::AdviceNotStored)[1].0, "the server writes its own `status`");
}
