//! Warnings about objects.

use crate::features;
use kubeshape_input::{Document, Limits, read};
use kubeshape_lifecycle::warn::{Cluster, Kind, Schemas, gates, headers};
use kubeshape_lifecycle::{Features, Version, kinds};

const V3: &str = r##"{"openapi": "3.0.0", "components": {"schemas": {
    "Frobber": {"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Frobber"}],
        "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/Spec"}],
            "x-kubernetes-api-lifecycle": {"istio": {"status": "beta"}}}}},
    "Spec": {"properties": {
        "width": {"type": "integer", "x-kubernetes-api-lifecycle":
            {"kubernetes": {"minVersion": "v1.20", "status": "alpha", "featureGate": "Frobber2D"}}},
        "old": {"x-kubernetes-api-lifecycle": {"kubernetes": {"status": "deprecated"}}},
        "list": {"items": {"$ref": "#/components/schemas/Spec"}},
        "map": {"additionalProperties": {"allOf": [{"$ref": "#/components/schemas/Spec"}]}}}}}}}"##;

const OBJECT: &str = "apiVersion: example.com/v1
kind: Frobber
spec:
  width: 1
  list: [{old: 1}, {list: [{width: 2}]}]
  map: {a.b: {old: null}}
  unknown: {width: 1}
";

pub(crate) fn document(text: &str) -> Document {
    let mut input = read("a.yaml", text.as_bytes(), Limits::default());
    assert_eq!(input.findings, Vec::new());
    input.documents.remove(0)
}

fn texts(object: &str, cluster: &Cluster) -> Vec<(Kind, String)> {
    let mut schemas = Schemas::default();
    schemas.add(&document(V3));
    assert!(schemas.has("example.com/v1", "Frobber") && !schemas.has("example.com/v1", "Spec"));
    let object = document(object);
    schemas.warnings(object.root(), cluster).into_iter().map(|warning| (warning.kind, warning.text)).collect()
}

#[test]
fn fields_are_found_through_references_lists_and_maps() {
    let cluster = Cluster { gates: gates("Frobber2D=true").unwrap_or_default(), ..Cluster::default() };
    let alpha = "alpha since v1.20, behind the feature gate Frobber2D; it may change or go in any release";
    assert_eq!(
        texts(OBJECT, &cluster),
        [
            (Kind::Alpha, format!("spec.width: {alpha}")),
            (Kind::Deprecated, "spec.list[0].old: deprecated".to_owned()),
            (Kind::Alpha, format!("spec.list[1].list[0].width: {alpha}")),
            (Kind::Deprecated, "spec.map[a.b].old: deprecated".to_owned()),
        ],
    );
}

#[test]
fn gates_and_releases_decide() {
    let object = "{apiVersion: example.com/v1, kind: Frobber, spec: {width: 1}}";
    let cluster = |release: &str, set: &str, specs: &str| Cluster {
        release: Version::parse(release),
        gates: gates(set).unwrap_or_default(),
        features: if specs.is_empty() { Features::default() } else { features(&[("Frobber2D", specs)]) },
    };
    let off = "alpha since v1.20; the feature gate Frobber2D is off";
    let alpha = "alpha since v1.20, behind the feature gate Frobber2D; it may change or go in any release";
    for (release, set, specs, expected) in [
        ("", "", "", Some(off)),
        ("", "Frobber2D=false,AllAlpha=true", "", Some(off)),
        ("", "AllAlpha=true", "", Some(alpha)),
        ("1.19", "", "", Some("alpha since v1.20; it is not in v1.19")),
        ("1.22", "AllBeta=true", "1.20=Alpha 1.22=Beta", Some("beta since v1.22, behind the feature gate Frobber2D")),
        ("1.22", "AllBeta=false", "1.20=Alpha 1.22=Beta", Some("beta since v1.22; the feature gate Frobber2D is off")),
        ("1.19", "", "1.20=Alpha", Some("alpha since v1.20; it is not in v1.19")),
        ("1.24", "", "1.20=Alpha 1.24=GA", None),
    ] {
        let found = texts(object, &cluster(release, set, specs));
        let expected: Vec<String> = expected.iter().map(|text| format!("spec.width: {text}")).collect();
        assert_eq!(found.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), expected, "{release} {set} {specs}");
    }
}

#[test]
fn deprecated_versions_of_custom_resources_have_the_warnings_of_the_server() {
    let mut schemas = Schemas::default();
    schemas.add(&document(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: example.com, names: {kind: Tab},
          versions: [{name: v1alpha1, served: true, deprecated: true},
            {name: v1beta1, served: true, deprecated: true, deprecationWarning: gone soon},
            {name: v1, served: true}, {name: v2, served: false}]}}",
    ));
    let deprecated = |version| schemas.deprecated(version, "Tab");
    assert_eq!(
        deprecated("example.com/v1alpha1"),
        Some("example.com/v1alpha1 Tab is deprecated; use example.com/v1 Tab")
    );
    assert_eq!(deprecated("example.com/v1beta1"), Some("gone soon"));
    assert_eq!(deprecated("example.com/v1"), None);
}

#[test]
fn built_in_kinds_follow_the_table() {
    assert_eq!(kinds::built_in().count(), 97);
    assert!(kinds::built_in().all(|kind| kind.introduced < kind.deprecated));
    assert!(kinds::built_in().all(|kind| kind.removed.is_none_or(|removed| kind.deprecated < removed)));
    let judge = |version, kind, release| kinds::judge(version, kind, Version::parse(release));
    let text = "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in v1.32+; \
                use flowcontrol.apiserver.k8s.io/v1 FlowSchema";
    let version = "flowcontrol.apiserver.k8s.io/v1beta3";
    assert_eq!(judge(version, "FlowSchema", "1.28"), None);
    assert_eq!(judge(version, "FlowSchema", "1.29"), Some((false, text.to_owned())));
    assert_eq!(judge(version, "FlowSchema", "1.32"), Some((true, text.to_owned())));
    let text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
    assert_eq!(judge("v1", "Endpoints", "1.36"), Some((false, text.to_owned())));
    assert_eq!(judge("v1", "Pod", "1.36"), None);
}

#[test]
fn long_headers_are_cut() {
    assert_eq!(headers(["a", "b", "a", ""]), ["299 - \"a\"", "299 - \"b\""]);
    let long: Vec<String> = (0..100).map(|number| format!("{number} {}", "x".repeat(1000))).collect();
    let found = headers(long.iter().map(String::as_str));
    assert_eq!(found.len(), 16);
    assert!(found.iter().all(|header| header.len() == 256 + "299 - \"\"".len()));
}

/// Returns the text of a header as a client reads it (upstream: `net.ParseWarningHeader`).
fn read_back(header: &str) -> String {
    let quoted = header.strip_prefix("299 - \"").and_then(|rest| rest.strip_suffix('"')).expect("a header");
    let mut out = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        assert_ne!(c, '"', "{header}");
        out.push(if c == '\\' { chars.next().expect("what is escaped") } else { c });
    }
    out
}

#[test]
fn headers_read_back() {
    for text in ["a", "a \"quoted\" word", "back\\slash\\", "\\\"", "ä€ 😀", "a: b; c=\"d\", e"] {
        assert_eq!(headers([text]).iter().map(|header| read_back(header)).collect::<Vec<_>>(), [text]);
    }
}

/// The fields of an object, and an object with some of them.
const PARTS: [(&str, &str); 6] = [
    ("spec.width:", "  width: 1\n"),
    ("spec.old:", "  old: a\n"),
    ("", "  unknown: {width: 1}\n"),
    ("spec.list[0].old:", "  list:\n  - {old: 1, other: 2}\n"),
    ("spec.map[a b].width:", "  map: {a b: {width: 1}}\n"),
    ("", "  height: [{width: 1}]\n"),
];

fn object(parts: usize) -> String {
    let chosen = PARTS.iter().enumerate().filter(|(at, _)| parts & (1 << at) != 0);
    let spec: String = chosen.map(|(_, (_, text))| *text).collect();
    format!("apiVersion: example.com/v1\nkind: Frobber\nspec:\n  a: 1\n{spec}")
}

#[test]
fn each_field_is_reported_independently_of_others() {
    for gates_text in ["", "Frobber2D=true"] {
        let cluster = Cluster { gates: gates(gates_text).expect("gates"), ..Cluster::default() };
        let all = texts(&object((1 << PARTS.len()) - 1), &cluster);
        assert_eq!(all.len(), 4, "{all:?}");
        for parts in 0..1 << PARTS.len() {
            let is_there = |text: &str| {
                PARTS
                    .iter()
                    .enumerate()
                    .any(|(at, (path, _))| parts & (1 << at) != 0 && !path.is_empty() && text.starts_with(path))
            };
            let expected: Vec<_> = all.iter().filter(|(_, text)| is_there(text)).cloned().collect();
            let object = object(parts);
            assert_eq!(texts(&object, &cluster), expected, "{object}");
            assert_eq!(texts(&object, &cluster), texts(&object, &cluster));
            let sent = headers(expected.iter().map(|(_, text)| text.as_str()));
            let read: Vec<String> = sent.iter().map(|header| read_back(header)).collect();
            assert_eq!(read, expected.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn one_field_is_found_by_names_and_by_pointers() {
    let mut schemas = Schemas::default();
    schemas.add_annotated(&document(V3));
    let kind = ("example.com/v1", "Frobber");
    let by_name = |path: &[&str]| schemas.field(kind.0, kind.1, path).map(ToString::to_string);
    let by_pointer = |pointer: &str| schemas.at(kind.0, kind.1, pointer).map(ToString::to_string);
    let alpha = Some("alpha since v1.20, behind the feature gate Frobber2D".to_owned());
    assert_eq!(by_name(&["spec", "width"]), alpha);
    assert_eq!(by_name(&["spec", "list", "map", "list", "width"]), alpha);
    assert_eq!(by_name(&["spec", "list", "old"]).as_deref(), Some("deprecated"));
    assert_eq!((by_name(&["spec"]), by_name(&[]), by_name(&["spec", "none"])), (None, None, None));
    assert_eq!(by_pointer("/spec/list/3/map/a~1b/width"), alpha);
    assert_eq!(by_pointer("/spec/list/old"), None);
    assert_eq!((by_pointer(""), by_pointer("/spec"), by_pointer("/nothing/0")), (None, None, None));
    assert!(schemas.field("v1", "Pod", &["spec"]).is_none());
}

#[test]
fn recursive_schemas_end() {
    let text = r##"{"swagger": "2.0", "definitions": {
        "A": {"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "A"}],
            "items": {"$ref": "#/definitions/B"}},
        "B": {"items": {"$ref": "#/definitions/A"}, "properties": {
            "x": {"x-kubernetes-api-lifecycle": {"kubernetes": {"status": "beta"}}}}}}}"##;
    let mut schemas = Schemas::default();
    schemas.add(&document(text));
    assert!(schemas.field("v1", "A", &["y"]).is_none());
    assert!(schemas.field("v1", "A", &["x"]).is_some());
}
