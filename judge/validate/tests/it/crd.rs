//! Whole CustomResourceDefinitions: which are accepted, which are refused, and the locations of errors.
#![allow(clippy::unwrap_used)]

use kubeshape_schema::Bump;
use kubeshape_schema::field::Error;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Defaults, Definition};
use kubeshape_value::Value;
use kubeshape_yaml::{Limits, Position, Stream, Tape};

pub(crate) const TAB: &str = r"apiVersion: apiextensions.k8s.io/v1
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
            type: object
            properties:
              size: {type: integer, maximum: 3}
";

/// Returns the errors of creating a definition, each as `line: text`.
pub(crate) fn create(source: &str, release: Release) -> Vec<String> {
    with(source, |definition, arena| {
        let definition = definition.prepare_for_create(release, arena);
        crd::validate(&definition, release).iter().map(|error| show(error, source, &definition)).collect()
    })
}

/// Returns the errors of replacing `old`, which is established, by `new`.
pub(crate) fn update(old: &str, new: &str) -> Vec<String> {
    let release = Release::DEFAULT;
    with(old, |old, arena| {
        let mut old = old.prepare_for_create(release, arena);
        old.status.established = Some(true);
        with(new, |definition, arena| {
            let mut definition = definition.prepare_for_update(&old, release, arena);
            definition.metadata.resource_version = "1";
            crd::validate_update(&definition, &old, release).iter().map(|error| show(error, new, &definition)).collect()
        })
    })
}

pub(crate) fn with<T>(source: &str, f: impl for<'a> FnOnce(Definition<'a>, &'a Bump) -> T) -> T {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let arena = Bump::new();
    let node = tape.document(source).root().unwrap();
    f(Definition::read(Manifest { node, implied: None }, Defaults::Set, &arena).value.unwrap(), &arena)
}

fn show(error: &Error, source: &str, definition: &Definition<'_>) -> String {
    let node = definition.node.document().node(error.at);
    format!("{}: {error}", Position::of(source, node.span().start).line)
}

#[track_caller]
fn refuses(from: &str, to: &str, expected: &str) {
    assert!(TAB.contains(from), "{from}");
    let errors = create(&TAB.replace(from, to), Release::DEFAULT);
    assert!(errors.iter().any(|error| error.starts_with(expected)), "{expected}\n{errors:#?}");
}

#[test]
fn a_valid_definition_has_no_errors() {
    for release in Release::all() {
        assert_eq!(create(TAB, release), [""; 0], "{release}");
    }
}

#[test]
fn errors_have_their_locations_in_the_manifest() {
    refuses("name: tabs.example.com", "name: tab.example.com", "3: metadata.name: Invalid value: \"tab.example.com\"");
    refuses("group: example.com", "group: example", "5: spec.group: Invalid value: \"example\": should be a domain");
    refuses("Namespaced", "Global", "6: spec.scope: Unsupported value: \"Global\": supported values: \"Cluster\"");
    refuses("kind: Tab}", "kind: T.b}", "7: spec.names.kind: Invalid value: \"T.b\": may have mixed case");
    refuses("storage: true", "storage: false", "9: spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true");
    refuses(
        "{type: integer, maximum: 3}",
        "{type: integer, uniqueItems: true}",
        "19: spec.validation.openAPIV3Schema.properties[spec].properties[size].uniqueItems: Forbidden: uniqueItems",
    );
    refuses(
        "{type: integer, maximum: 3}",
        "{type: integer, maximum: 3, default: 4}",
        "19: spec.validation.openAPIV3Schema.properties[spec].properties[size].default: Invalid value: 4: ",
    );
    refuses(
        "{type: integer, maximum: 3}",
        "{type: object, default: {a: 1}}",
        "19: spec.validation.openAPIV3Schema.properties[spec].properties[size].default: Invalid value: {\"a\":1}: must not",
    );
    refuses(
        "    served: true",
        "    served: true\n    selectableFields: [{jsonPath: .spec.sise}]",
        "11: spec.selectableFields[0].jsonPath: Invalid value: \".spec.sise\": is an invalid path",
    );
    refuses(
        "  versions:",
        "  conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'http://a'}, conversionReviewVersions: [v2]}}\n  versions:",
        "8: spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme",
    );
}

#[test]
fn existing_errors_may_remain() {
    let list = "{type: array, items: {type: string, nullable: true}, x-kubernetes-list-type: set}";
    let wrong = TAB.replace("{type: integer, maximum: 3}", list);
    assert_eq!(create(&wrong, Release::DEFAULT).len(), 1);
    assert_eq!(update(&wrong, &wrong), [""; 0]);
    assert_eq!(update(TAB, &wrong).len(), 1);
}

#[test]
fn names_and_scope_of_an_established_definition_stay() {
    let changed = TAB.replace("Namespaced", "Cluster").replace("kind: Tab}", "kind: Tub}");
    let immutable = |error: &&String| error.ends_with("field is immutable");
    assert_eq!(update(TAB, &changed).iter().filter(immutable).count(), 2);
    assert_eq!(update(TAB, TAB), [""; 0]);
}

#[test]
fn a_stored_version_must_remain() {
    let errors = update(TAB, &TAB.replace("name: v1", "name: v2"));
    let expected = "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions";
    assert!(errors[0].contains(expected), "{errors:?}");
}

#[test]
fn releases_judge_by_their_own_rules() {
    let release = |minor| Release::new(minor).unwrap();
    let selectable =
        TAB.replace("    served: true", "    served: true\n    selectableFields: [{jsonPath: .spec.sise}]");
    assert_eq!(create(&selectable, release(30)), [""; 0]);
    assert_eq!(create(&selectable, release(31)).len(), 1);
    let nested = TAB.replace("maximum: 3}", "allOf: [{additionalProperties: false}]}");
    assert_eq!(create(&nested, release(30)).len(), 1);
    assert_eq!(create(&nested, release(31)), [""; 0]);
    assert_eq!(Release::new(27), None);
}

#[test]
fn unknown_formats_give_warnings() {
    let source = TAB.replace("{type: integer, maximum: 3}", "{type: integer, format: int16}");
    let warnings = |minor| {
        with(&source, |definition, _| {
            crd::warnings(&definition, Release::new(minor).unwrap()).iter().map(|w| w.text.clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(warnings(35), [""; 0]);
    assert_eq!(warnings(36), ["unrecognized format \"int16\""]);
}

#[test]
fn odd_manifests_do_not_panic() {
    let odd = [
        "spec: null",
        "spec: {versions: [{}, {}], conversion: {strategy: Webhook, webhook: {clientConfig: {service: {path: é//}}}}}",
        "metadata: {labels: {\"\": \"a b\"}, finalizers: [é-], generateName: \"é-\"}",
        "spec: {versions: [{selectableFields: [{jsonPath: .a}], schema: {openAPIV3Schema: {additionalProperties: true}}}]}",
        "spec: {versions: [{selectableFields: [{jsonPath: .a.b}], schema: {openAPIV3Schema: {$ref: a}}}]}",
        "spec: {versions: [{schema: {openAPIV3Schema: {x-kubernetes-validations: [{rule: a, fieldPath: \"['\\\\é']\"}]}}}]}",
    ];
    for rest in odd {
        let source = format!("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n{rest}\n");
        assert!(!create(&source, Release::DEFAULT).is_empty(), "{rest}");
    }
}

#[test]
fn an_empty_reference_in_one_of_two_versions_is_refused() {
    let second = TAB.split_once("  - name: v1\n").unwrap().1.replace("storage: true", "storage: false");
    let second = format!("{TAB}  - name: v2\n{second}");
    let errors = create(
        &second.replacen("        type: object\n", "        $ref: ''\n        type: object\n", 1),
        Release::DEFAULT,
    );
    let expected = "spec.versions[0].schema.openAPIV3Schema.$ref: Forbidden: $ref is not supported";
    assert!(errors.iter().any(|error| error.ends_with(expected)), "{errors:#?}");
}

#[test]
fn the_form_of_selectable_fields_is_checked_without_a_schema() {
    let (before, _) = TAB.split_once("      openAPIV3Schema:").unwrap();
    let source = before
        .replace("schema:\n", "schema: {}\n    selectableFields: [{jsonPath: 'x['}, {jsonPath: ''}, {jsonPath: .a}]\n");
    let errors = create(&source, Release::DEFAULT);
    let about = |text: &str| errors.iter().filter(|error| error.contains(text)).count();
    assert_eq!(
        about("selectableFields[0].jsonPath: Invalid value: \"x[\": is an invalid path: expected [ or . but got: x"),
        1,
        "{errors:#?}"
    );
    assert_eq!(
        (about("selectableFields[1].jsonPath: Required value"), about("selectableFields[2]")),
        (1, 0),
        "{errors:#?}"
    );
}

#[test]
fn members_of_the_definition_are_not_those_of_a_missing_spec() {
    let source = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\n\
                  versions: [{name: v1, served: true, storage: true}]\nconversion: {strategy: Webhook}\n";
    let errors = create(source, Release::DEFAULT);
    let told = "1: spec.versions: Invalid value: null: must have exactly one version marked as storage version";
    assert!(errors.contains(&told.to_owned()), "{errors:?}");
    assert!(errors.contains(&"1: spec.names.kind: Required value".to_owned()), "{errors:?}");
}

/// Go decodes other values than schemas and lists of schemas as items without either
/// (`JSONSchemaPropsOrArray.UnmarshalJSON`).
#[test]
fn items_of_a_map_list_must_be_a_schema() {
    let errors = |items: &str| {
        let list =
            format!("{{type: array, items: {items}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}");
        create(&TAB.replace("{type: integer, maximum: 3}", &list), Release::DEFAULT)
    };
    for (items, value) in [
        ("[]", r#"{"Schema":null,"JSONSchemas":[]}"#),
        ("x", r#"{"Schema":null,"JSONSchemas":null}"#),
        ("12", r#"{"Schema":null,"JSONSchemas":null}"#),
    ] {
        let errors = errors(items);
        let text = format!("Invalid value: {value}: must only have a single schema if x-kubernetes-list-type is map");
        assert!(errors.iter().any(|error| error.ends_with(&text)), "{items}: {errors:#?}");
        assert!(errors.iter().any(|error| error.ends_with("items: Required value: must be specified")), "{errors:#?}");
    }
    let text = "items: Required value: must have a schema if x-kubernetes-list-type is map";
    assert!(errors("null").iter().any(|error| error.ends_with(text)), "{:#?}", errors("null"));
}

/// Schemas that all versions share are printed once. A schema with `items` that are not a schema differs from the
/// others.
#[test]
fn versions_with_invalid_items_have_their_own_schemas() {
    let twice = |items: &str| {
        let tab = TAB.replace("maximum: 3", "maximum: 3, items: ITEMS");
        let version = tab.split_once("  versions:\n").expect("versions").1.replace(", items: ITEMS", "");
        create(&format!("{}{version}", tab.replace("ITEMS", items)), Release::DEFAULT).join("\n")
    };
    assert!(twice("null").contains(
        r#"[{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"#
    ));
    assert!(twice("x").contains(r#""Items":{"Schema":null,"JSONSchemas":null}"#), "{}", twice("x"));
}

/// Go prints the definition after validation, with decoded metadata in defaults.
#[test]
fn defaults_are_printed_with_decoded_metadata() {
    let template = "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, \
                    default: {apiVersion: v1, kind: Pod, metadata: {name: a, odd: 1}}}";
    let tab = TAB.replace("{type: integer, maximum: 3}", template);
    let version = TAB.split_once("  versions:\n").expect("versions").1;
    let errors = create(&format!("{tab}{version}"), Release::DEFAULT).join("\n");
    let text = r#""Default":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#;
    assert!(errors.contains("must contain unique version names") && errors.contains(text), "{errors}");
}

/// Upstream decodes metadata in place, item after item, until one does not decode. The error shows the state at that
/// point.
#[test]
fn a_default_is_printed_with_metadata_decoded_before_the_error() {
    let pods = "{type: array, default: [{metadata: null}, {metadata: {name: 1}, odd: 1}, {metadata: null}], items: \
                {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}}";
    let errors = create(&TAB.replace("{type: integer, maximum: 3}", pods), Release::DEFAULT).join("\n");
    let text = r#"Invalid value: [{"metadata":{}},{"metadata":{"name":1},"odd":1},{"metadata":null}]: must not have"#;
    assert!(errors.contains(text) && errors.contains("default[1].metadata: Invalid value"), "{errors}");
}

/// Each of many defaults costs its own size, not that of the definition around it.
#[test]
fn coerced_defaults_take_linear_memory() {
    let used = |count: usize| {
        let property = |n| {
            format!("p{n}: {{type: object, x-kubernetes-embedded-resource: true, default: {{metadata: {{odd: 1}}}}}}")
        };
        let properties = (0..count).map(property).collect::<Vec<_>>().join(", ");
        let source = TAB.replace(
            "size: {type: integer, maximum: 3}",
            &format!("size: {{type: object, properties: {{{properties}}}}}"),
        );
        let mut tape = Tape::new();
        Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
        let (read, arena) = (Bump::new(), Bump::new());
        let object = Value::from_node(tape.document(&source).root().unwrap(), &read);
        with(&source, |definition, _| {
            let mut text = Vec::new();
            crd::with_coerced_defaults(object, &definition, &arena).write_go_json(&mut text);
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text.matches(r#""metadata":{}"#).count(), count);
        });
        arena.allocated_bytes()
    };
    let (some, more) = (used(500), used(2_000));
    assert!(more < 6 * some, "{more} bytes for four times as many as took {some}");
}
