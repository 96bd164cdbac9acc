//! Definitions of other systems.

use kubeshape_input::{Input, Limits, read};
use kubeshape_schema::Bump;
use kubeshape_yaml::Node;
use serde_json::Value;

fn input(text: &str) -> Input {
    read("a.yaml", text.as_bytes(), Limits::default())
}

/// Returns the names of the definitions.
fn names(input: &Input) -> Vec<String> {
    let all = input.documents.iter().flat_map(|document| document.manifests().0);
    let name = |node: Node<'_>| Some(node.get("metadata")?.get("name")?.text().to_owned());
    all.map(|manifest| name(manifest.node).unwrap_or_default()).collect()
}

fn findings(input: &Input) -> Vec<String> {
    input.findings.iter().map(ToString::to_string).collect()
}

const XRD: &str = "\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xtabs.example.org, labels: {a: b}}
spec:
  group: example.org
  names: {kind: XTab, plural: xtabs, categories: [tabs]}
  claimNames: {kind: Tab, plural: tabs}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            anyOf: []
            required: [size]
            properties: {size: {type: integr}, claimRef: {type: string}}
";

#[test]
fn a_composite_resource_and_its_claim_are_definitions() {
    let input = input(XRD);
    assert_eq!(names(&input), ["xtabs.example.org", "tabs.example.org"]);
    let remark = "a.yaml:1:1: KS1018 A definition of another system is read as CustomResourceDefinitions: \
                  CompositeResourceDefinition xtabs.example.org is read as the 2 CustomResourceDefinitions that \
                  Crossplane makes of it; Crossplane drops anyOf of spec";
    assert_eq!(findings(&input), [remark]);
    let document = &input.documents[0];
    assert_eq!(document.objects().len(), 1);
    let (definitions, others) = document.manifests();
    assert!(others.is_empty());
    let arena = Bump::new();
    for definition in &definitions {
        let crd = definition.read(&arena).value.expect("a definition");
        assert_eq!(crd.versions.len(), 1);
    }
    // What comes from the source has its location, and the pointer is that of the result.
    let properties = ["spec", "versions"];
    let version = properties.iter().try_fold(definitions[0].node, |node, key| node.get(key)).expect("versions");
    let path = ["schema", "openAPIV3Schema", "properties", "spec", "properties", "size", "type"];
    let ty = path.iter().try_fold(version.items().next().expect("one"), |node, key| node.get(key)).expect("a type");
    assert_eq!(document.source().location(ty.span().start), "a.yaml:20:39");
    assert_eq!(
        document.pointer(ty.index()),
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/type"
    );
}

#[test]
fn lists_and_streams_may_have_definitions_of_several_systems() {
    let indented = XRD.replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", indented.trim_end());
    let graph = "\
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: box}
spec: {schema: {apiVersion: v1alpha1, kind: Box, spec: {size: integer | default=1}, status: {a: '${b.c}'}}}
";
    let managed = "\
apiVersion: apiextensions.crossplane.io/v1alpha1
kind: ManagedResourceDefinition
metadata: {name: cups.example.org}
spec: {state: Active, group: example.org, names: {kind: Cup, plural: cups}, scope: Cluster, versions: [{name: v1}]}
";
    let patch = "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: box}\n";
    let input = input(&format!("{list}---\n{graph}---\n{managed}---\n{patch}"));
    assert_eq!(names(&input), ["xtabs.example.org", "tabs.example.org", "boxes.kro.run", "cups.example.org"]);
    assert_eq!(input.findings.len(), 3, "{:?}", findings(&input));
    let detail = "1 field of the status accepts any value, because kro infers the type from resources of the cluster";
    assert!(findings(&input)[1].ends_with(detail), "{:?}", findings(&input));
}

#[test]
fn mistakes_have_their_locations() {
    let wrong = |from: &str, to: &str| {
        let input = input(&XRD.replace(from, to));
        assert!(input.documents.iter().all(|document| document.manifests().0.is_empty()));
        findings(&input).concat().split_once("CustomResourceDefinitions: ").map(|(_, detail)| detail.to_owned())
    };
    let what = "A definition of another system cannot be read as CustomResourceDefinitions";
    let found = findings(&input(&XRD.replace("{kind: Tab,", "{kind: XTab,")));
    let detail = "invalid resource claim names: \"XTab\" conflicts with composite resource name";
    assert_eq!(found, [format!("a.yaml:7:22: KS1019 {what}: {detail}")]);
    for (from, to, expected) in [
        ("  group: example.org\n", "", "group is missing"),
        ("  group: example.org\n", "  group: [a]\n", "group must be a string"),
        (
            "    schema:\n      openAPIV3Schema:",
            "    other:\n      openAPIV3Schema:",
            "custom resource validation cannot be nil: schema is missing",
        ),
        ("  group:", "  scope: Cluster\n  group:", "Only LegacyCluster composite resources can offer claims"),
        ("  group:", "  scope: Here\n  group:", "scope must be LegacyCluster, Namespaced or Cluster, found \"Here\""),
        ("properties: {size", "properties: [] #", "properties must be an object"),
    ] {
        assert_eq!(wrong(from, to).as_deref(), Some(expected), "{to}");
    }
}

/// Returns the errors of a ResourceGraphDefinition.
fn graph(types: &str, spec: &str) -> String {
    let text = format!(
        "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {{name: a}}\nspec:\n  schema:\n    apiVersion: v1\n    kind: Tab\n    types: {types}\n    spec: {spec}\n"
    );
    let input = input(&text);
    let all = input.findings.iter().filter(|finding| finding.is_error());
    all.map(|finding| finding.detail.clone()).collect()
}

#[test]
fn simple_schemas_are_checked_as_kro_does() {
    for (types, spec, expected) in [
        ("{}", "{a: string}", ""),
        ("{}", "{a: 'strin'}", "unknown type: strin"),
        ("{}", "{a: 1}", "field a must be a type or an object with fields"),
        ("{}", "{a: ''}", "field a: empty type"),
        ("{}", "{a: 'map[int]string'}", "map key must be string"),
        ("{}", "{a: '[]'}", "empty slice element type"),
        ("{}", "{a: '[][][][][][][][][][][][][][][][][]string'}", "type nesting too deep (max 16)"),
        (
            "{}",
            "{a: 'string | minItems=1'}",
            "field a: minItems marker is only valid for array types, got type: string",
        ),
        ("{}", "{a: 'integer | default=x'}", "field a: default value must be a valid integer, got: x"),
        ("{}", "{a: 'object | default={'}", "field a: unclosed bracket/brace"),
        ("{}", "{a: 'object | default=x'}", "field a: the default x is not JSON"),
        ("{}", "{a: 'string | enum=\"a,\"'}", "field a: empty enum values are not allowed"),
        ("{}", "{a: 'string | required=yes'}", "field a: required must be true or false, found \"yes\""),
        ("{A: 'B', B: '[]A'}", "{}", "cyclic dependency in type A"),
        ("{A: {b: C}}", "{}", "unknown type: C"),
        (
            "{}",
            "{a: '[]string | listMapKey=b'}",
            "field a: listMapKey set while listType is unset, listType must be set to map",
        ),
    ] {
        assert_eq!(graph(types, spec), expected, "{spec}");
    }
}

#[test]
fn types_that_grow_too_large_are_refused() {
    let types: Vec<String> = (0..30).map(|n| format!("T{n}: {{a: T{0}, b: T{0}}}", n + 1)).collect();
    let found = graph(&format!("{{{}, T30: string}}", types.join(", ")), "{a: T0}");
    let too_large = "the schema has more than 65536 fields, with those of its types; long texts count as fields";
    assert_eq!(found, too_large);
    let fields: Vec<String> = (0..100).map(|n| format!("f{n}: T")).collect();
    let found = graph(
        &format!("{{T: 'string | description=\"{}\"'}}", "x".repeat(100_000)),
        &format!("{{{}}}", fields.join(", ")),
    );
    assert_eq!(found, too_large);
    let deep: Vec<String> = (0..300).map(|n| format!("T{n}: '[]T{}'", n + 1)).collect();
    let found = graph(&format!("{{{}, T300: string}}", deep.join(", ")), "{}");
    assert_eq!(found, "fields and types are nested more than 64 deep");
    // Types that are read one after the other are nested, too.
    let deep: Vec<String> = (0..300).map(|n| format!("T{:03}: '[]T{n:03}'", n + 1)).collect();
    let found = graph(&format!("{{T000: string, {}}}", deep.join(", ")), "{}");
    assert_eq!(found, "fields and types are nested more than 64 deep");
    let fields = format!("{}string{}", "{a: ".repeat(200), "}".repeat(200));
    assert_eq!(graph("{}", &fields), "fields and types are nested more than 64 deep");
}

/// Removes members that Go leaves out because they are empty.
fn normal(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(normal);
            let is_empty = |key: &str, value: &Value| {
                key == "properties" && value.as_object().is_some_and(serde_json::Map::is_empty)
            };
            members.retain(|key, value| !is_empty(key, value));
        }
        Value::Array(items) => items.iter_mut().for_each(normal),
        _ => {}
    }
}

/// Compares results with those of Crossplane's and kro's own code. The recorded answers are those of `ForCompositeResource`
/// and `ForCompositeResourceClaim` of crossplane-runtime 2.4, and of `SynthesizeCRD` of kro 0.9, without owners.
#[test]
fn definitions_are_those_of_the_systems() -> std::io::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/derived");
    for name in ["xrd-legacy", "xrd-modern", "rgd-fields", "rgd-plain"] {
        let input = input(&std::fs::read_to_string(format!("{folder}/{name}.yaml"))?);
        let mut found = Vec::new();
        for definition in input.documents.iter().flat_map(|document| document.manifests().0) {
            let mut out = Vec::new();
            kubeshape_yaml::json::write(definition.node, &mut out, kubeshape_yaml::json::Options::default());
            found.push(serde_json::from_slice::<Value>(&out)?);
        }
        let recorded = std::fs::read(format!("{folder}/{name}.json"))?;
        let mut expected: Vec<Value> = serde_json::from_slice(&recorded)?;
        found.iter_mut().chain(&mut expected).for_each(normal);
        assert_eq!(found.len(), expected.len(), "{:?}", findings(&input));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{name}");
        }
    }
    Ok(())
}
