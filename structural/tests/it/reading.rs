//! Reading of CustomResourceDefinitions: decoding, defaults, v1beta1.

#![allow(clippy::unwrap_used)]

use crate::support::{with_crd, with_root};
use kubeshape_schema::Bump;
use kubeshape_structural::{ApiVersion, Scope, read};

/// Returns a manifest with this `spec` and, before it, these fields.
fn manifest(version: &str, fields: &str, spec: &str) -> String {
    format!("{{apiVersion: apiextensions.k8s.io/{version}, kind: CustomResourceDefinition, {fields} spec: {{{spec}}}}}")
}

fn notes(source: &str) -> Vec<String> {
    with_crd(source, |_, notes| notes)
}

const VERSION: &str = "versions: [{name: v1, served: true, storage: true}]";

#[test]
fn v1_names_the_singular_and_the_list_kind() {
    with_crd(&manifest("v1", "metadata: {name: crd},", &format!("names: {{kind: ΑΣ}}, {VERSION}")), |crd, notes| {
        let crd = crd.unwrap();
        assert_eq!(notes, [""; 0]);
        assert_eq!(
            (crd.name, crd.names.singular, crd.names.list_kind),
            ("crd", "ας".replace('ς', "σ").as_str(), "ΑΣList")
        );
        assert_eq!((crd.api_version, crd.scope, crd.preserve_unknown_fields), (ApiVersion::V1, Scope::Other, false));
    });
}

#[test]
fn without_a_kind_there_is_no_list_kind() {
    with_crd(&manifest("v1", "", VERSION), |crd, _| assert_eq!(crd.unwrap().names.list_kind, ""));
}

#[test]
fn everything_of_a_v1_version_is_read() {
    let spec = "scope: Namespaced, versions: [{name: v1, served: true, storage: false, deprecated: true, \
                deprecationWarning: w, schema: {openAPIV3Schema: {type: object}}, subresources: {status: {}, scale: \
                {specReplicasPath: .spec.a, statusReplicasPath: .status.a, labelSelectorPath: .status.b}}, \
                selectableFields: [{jsonPath: .a}], additionalPrinterColumns: [{name: crd, type: integer, format: int32, \
                description: d, priority: 1, jsonPath: .b}]}]";
    with_crd(&manifest("v1", "", spec), |crd, notes| {
        assert_eq!(notes, [""; 0]);
        let version = crd.unwrap().versions[0];
        assert_eq!((version.name, version.served, version.storage), ("v1", true, false));
        assert_eq!((version.deprecated, version.deprecation_warning), (true, Some("w")));
        assert!(version.schema.is_some() && version.status);
        assert_eq!(version.scale.unwrap().label_selector_path, Some(".status.b"));
        assert_eq!(version.selectable_fields, [".a"]);
        assert_eq!((version.columns[0].json_path, version.columns[0].priority), (".b", 1));
    });
}

#[test]
fn null_is_the_same_as_absent() {
    let fields = "metadata: {name: null, creationTimestamp: null, labels: null, ownerReferences: null}, status: null,";
    let spec = "group: null, names: null, conversion: null, preserveUnknownFields: null, versions: [{name: v1, \
                served: null, schema: {openAPIV3Schema: null}, subresources: {status: null, scale: null}, \
                additionalPrinterColumns: null, selectableFields: null, deprecationWarning: null}]";
    with_crd(&manifest("v1", fields, spec), |crd, notes| {
        assert_eq!(notes, [""; 0]);
        let version = crd.unwrap().versions[0];
        assert!(version.schema.is_none() && !version.status && version.scale.is_none() && !version.served);
    });
}

#[test]
fn v1beta1_hands_its_top_level_fields_down() {
    let spec = "validation: {openAPIV3Schema: {type: object}}, subresources: {status: {}}, \
                additionalPrinterColumns: [{name: crd, JSONPath: .a}], selectableFields: [{jsonPath: .b}], \
                versions: [{name: v2, served: true}, {name: v1, subresources: {scale: {}}}]";
    with_crd(&manifest("v1beta1", "", spec), |crd, notes| {
        assert_eq!(notes, [""; 0]);
        let crd = crd.unwrap();
        assert_eq!((crd.scope, crd.preserve_unknown_fields), (Scope::Namespaced, true));
        for version in crd.versions {
            assert!(version.schema.is_some() && version.status && version.scale.is_none());
            assert_eq!((version.columns[0].json_path, version.selectable_fields[0]), (".a", ".b"));
        }
    });
}

#[test]
fn v1beta1_fields_of_a_version_are_kept_if_the_top_level_has_none() {
    let spec = "validation: null, preserveUnknownFields: false, versions: [{name: v1, schema: {openAPIV3Schema: {}}, \
                additionalPrinterColumns: [{name: crd}]}, {name: v2}]";
    with_crd(&manifest("v1beta1", "", spec), |crd, _| {
        let crd = crd.unwrap();
        assert!(!crd.preserve_unknown_fields);
        assert!(crd.versions[0].schema.is_some() && crd.versions[1].schema.is_none());
        assert_eq!((crd.versions[0].columns.len(), crd.versions[1].columns.len()), (1, 0));
    });
}

#[test]
fn an_empty_top_level_field_of_v1beta1_is_handed_down_too() {
    let spec = "validation: {}, additionalPrinterColumns: [], versions: [{name: v1, schema: {openAPIV3Schema: {}}, \
                additionalPrinterColumns: [{name: crd}]}]";
    with_crd(&manifest("v1beta1", "", spec), |crd, _| {
        let version = crd.unwrap().versions[0];
        assert!(version.schema.is_none() && version.columns.is_empty());
    });
}

#[test]
fn the_version_of_v1beta1_replaces_missing_versions() {
    with_crd(&manifest("v1beta1", "", "version: v1alpha1"), |crd, _| {
        let crd = crd.unwrap();
        let [version] = crd.versions else { panic!("{crd:?}") };
        assert_eq!((version.name, version.served, version.storage), ("v1alpha1", true, true));
    });
    with_crd(&manifest("v1beta1", "", "version: v1alpha1, versions: [{name: v1}]"), |crd, _| {
        assert_eq!(crd.unwrap().versions[0].name, "v1");
    });
}

#[test]
fn a_definition_without_versions_is_read_and_noted() {
    assert_eq!(
        notes(&manifest("v1", "metadata: {name: crd},", "group: g")),
        ["KS1010 /spec expected at least one entry in spec.versions"]
    );
    assert_eq!(
        notes("{apiVersion: apiextensions.k8s.io/v1beta1, metadata: {name: crd}}"),
        ["KS1010  expected at least one entry in spec.versions"]
    );
}

#[test]
fn an_unknown_api_version_is_refused() {
    let expected = "expected \"apiextensions.k8s.io/v1\" or \"apiextensions.k8s.io/v1beta1\"";
    assert_eq!(
        notes(&manifest("v2", "", VERSION)),
        [format!("KS1011 /apiVersion found \"apiextensions.k8s.io/v2\", {expected}")]
    );
}

#[test]
fn every_value_of_a_wrong_type_is_noted() {
    let fields = "metadata: {name: 1, labels: {a: true}, creationTimestamp: yesterday, finalizers: [1], generation: x, \
                  ownerReferences: [{controller: 1}], managedFields: [{time: 1, fieldsV1: anything}]}, \
                  status: {conditions: [{status: true}], storedVersions: v1, acceptedNames: {kind: 1}},";
    let spec = "group: 1, names: {shortNames: a}, conversion: {strategy: 1, webhook: {clientConfig: {caBundle: x, \
                service: {port: 2147483648}}}}, preserveUnknownFields: 'true', versions: [{name: v1, served: 1, \
                additionalPrinterColumns: [{priority: '1'}], subresources: {status: true, scale: {specReplicasPath: 1}}, \
                schema: {openAPIV3Schema: {type: [object]}}}]";
    with_crd(&manifest("v1", fields, spec), |crd, notes| {
        assert!(crd.is_none());
        let places: Vec<_> = notes.iter().filter_map(|note| note.strip_prefix("KS1005 ")?.split(' ').next()).collect();
        assert_eq!(
            places,
            [
                "/metadata/name",
                "/metadata/labels/a",
                "/metadata/creationTimestamp",
                "/metadata/finalizers/0",
                "/metadata/generation",
                "/metadata/ownerReferences/0/controller",
                "/metadata/managedFields/0/time",
                "/status/conditions/0/status",
                "/status/storedVersions",
                "/status/acceptedNames/kind",
                "/spec/group",
                "/spec/names/shortNames",
                "/spec/conversion/strategy",
                "/spec/conversion/webhook/clientConfig/caBundle",
                "/spec/conversion/webhook/clientConfig/service/port",
                "/spec/preserveUnknownFields",
                "/spec/versions/0/served",
                "/spec/versions/0/additionalPrinterColumns/0/priority",
                "/spec/versions/0/subresources/status",
                "/spec/versions/0/subresources/scale/specReplicasPath",
                "/spec/versions/0/schema/openAPIV3Schema/type",
            ]
        );
    });
}

#[test]
fn unknown_fields_are_dropped_with_a_warning() {
    let spec = "validation: {}, conversion: {webhookClientConfig: {}}, versions: [{name: v1, additionalPrinterColumns: \
                [{JSONPath: .a}], subresources: {status: {a: 1}}}]";
    with_crd(&manifest("v1", "metadata: {Name: crd},", spec), |crd, notes| {
        assert!(crd.is_some());
        assert_eq!(
            notes,
            [
                "KS1006 /metadata/Name Name; did you mean `name`?",
                "KS1006 /spec/validation validation",
                "KS1006 /spec/conversion/webhookClientConfig webhookClientConfig",
                "KS1006 /spec/versions/0/additionalPrinterColumns/0/JSONPath JSONPath; did you mean `jsonPath`?",
                "KS1006 /spec/versions/0/subresources/status/a a",
            ]
        );
    });
}

#[test]
fn an_unknown_field_is_reported_with_the_nearest_one() {
    let spec = "verions: [], names: {Kind: A, shortName: [a]}, versions: [{name: v1, servd: true, schema: \
                {openAPIV3schema: {}}}, {name: v2, schema: {openAPIV3Schema: {minimun: 1, if: {}, \
                x-kubernetes-preserve-unknown-field: true}}}]";
    with_crd(&manifest("v1", "", spec), |_, notes| {
        let details: Vec<&str> = notes.iter().filter_map(|note| note.splitn(3, ' ').nth(2)).collect();
        assert_eq!(
            details,
            [
                "verions; did you mean `versions`?",
                "Kind; did you mean `kind`?",
                "shortName; did you mean `shortNames`?",
                "servd; did you mean `served`?",
                "openAPIV3schema; did you mean `openAPIV3Schema`?",
                "minimun; did you mean `minimum`?",
                "if",
                "x-kubernetes-preserve-unknown-field; did you mean `x-kubernetes-preserve-unknown-fields`?",
            ]
        );
    });
}

#[test]
fn every_suggested_name_is_known() {
    let names = "\
$ref $schema additionalItems additionalProperties allOf anyOf default definitions dependencies description enum example \
exclusiveMaximum exclusiveMinimum externalDocs format id items maxItems maxLength maxProperties maximum minItems minLength \
minProperties minimum multipleOf not nullable oneOf pattern patternProperties properties required title type uniqueItems \
x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type \
x-kubernetes-map-type x-kubernetes-preserve-unknown-fields";
    let members: Vec<String> = names.split_whitespace().map(|name| format!("{name}: null")).collect();
    let spec = format!(
        "group: null, names: {{plural: null, singular: null, shortNames: null, kind: null, listKind: null, categories: \
         null}}, scope: null, conversion: null, preserveUnknownFields: null, versions: [{{name: v1, served: null, storage: \
         null, deprecated: null, deprecationWarning: null, subresources: {{status: null, scale: {{specReplicasPath: null, \
         statusReplicasPath: null, labelSelectorPath: null}}}}, additionalPrinterColumns: [{{name: null, type: null, \
         format: null, description: null, priority: null, jsonPath: null}}], selectableFields: [{{jsonPath: null}}], \
         schema: {{openAPIV3Schema: {{{}}}}}}}]",
        members.join(", ")
    );
    let metadata =
        "metadata: {name: a, namespace: a, labels: null, annotations: null, finalizers: null}, status: null,";
    with_crd(&manifest("v1", metadata, &spec), |_, notes| {
        let unknown: Vec<&String> = notes.iter().filter(|note| note.starts_with("KS1006")).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    });
}

#[test]
fn of_repeated_keys_the_last_one_is_used() {
    with_crd(&manifest("v1", "", &format!("group: a, group: 1, group: b, {VERSION}")), |crd, notes| {
        assert_eq!(crd.unwrap().group, "b");
        assert!(notes.iter().all(|note| note.starts_with("KS1003 ")), "{notes:?}");
    });
}

#[test]
fn lists_are_expanded_level_by_level() {
    let source = "{apiVersion: v1, kind: List, items: [{kind: List, items: [{kind: A}]}, {kind: B}, {kind: CList}]}";
    with_root(source, |root| {
        let kinds: Vec<_> = read::expand_list(root).iter().map(|node| node.get("kind").unwrap().text()).collect();
        assert_eq!(kinds, ["B", "CList", "A"]);
    });
}

#[test]
fn items_of_a_typed_list_may_omit_their_type() {
    let crd = "{metadata: {name: crd}, spec: {versions: [{name: v1}]}}";
    let source =
        format!("{{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinitionList, items: [{crd}, 1]}}");
    with_root(&source, |root| {
        let (crds, others) = read::manifests(root);
        assert_eq!((crds.len(), others.len()), (1, 1));
        let arena = kubeshape_schema::Bump::new();
        assert_eq!(crds[0].read(&arena).value.unwrap().api_version, ApiVersion::V1beta1);
    });
}

/// Reading the versions one after the other takes as long as reading them together: what is read of one does not depend
/// on the number of the others.
#[test]
fn one_version_is_read_alone() {
    let spec = |count: usize, beta: &str| {
        let version = |at: usize| {
            format!(
                "{{name: v{at}, served: true, storage: false, schema: {{openAPIV3Schema: {{type: object, title: t{at}}}}}}}"
            )
        };
        let versions: Vec<String> = (0..count).map(version).collect();
        format!("group: example.com, names: {{plural: tabs, kind: Tab}}, {beta} versions: [{}]", versions.join(", "))
    };
    let stored: Vec<String> = (0..2_000).map(|at| format!("v{at}")).collect();
    let fields = format!("metadata: {{name: tabs.example.com}}, status: {{storedVersions: [{}]}},", stored.join(", "));
    let mut sizes = Vec::new();
    for (api, beta) in [("v1", ""), ("v1beta1", "additionalPrinterColumns: [{name: a, JSONPath: .a}],")] {
        for count in [10, 2_000] {
            with_root(&manifest(api, &fields, &spec(count, beta)), |root| {
                let manifest = read::manifests(root).0[0];
                let whole = Bump::new();
                let whole = manifest.read(&whole).value.unwrap();
                let arena = Bump::new();
                let one = manifest.read_version(whole.versions[3].at, &arena).value.unwrap();
                assert_eq!(format!("{:?}", one.versions), format!("{:?}", &whole.versions[3..4]), "{api}");
                assert_eq!((one.name, one.group, one.names), (whole.name, whole.group, whole.names));
                sizes.push(arena.allocated_bytes());
            });
        }
    }
    assert_eq!((sizes[0], sizes[2]), (sizes[1], sizes[3]), "{sizes:?}");
}
