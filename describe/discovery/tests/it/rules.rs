//! One small definition per rule.

use kubeshape_discovery::{
    CustomResource, Freshness, Group, GroupVersion, NameField, Origin, Priority, assemble, custom_group_versions,
    custom_resource, established, name_conflicts, print, print::Encoding,
};
use kubeshape_schema::Bump;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::sync::Arc;

fn custom(spec: &str) -> CustomResource {
    let source = format!("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n{spec}");
    let mut tape = Tape::new();
    let read = Stream::new(source.as_bytes(), Limits::default()).expect("a text").next(&mut tape).transpose();
    read.expect("it is YAML");
    let arena = Bump::new();
    let root = tape.document(&source).root().expect("a document");
    custom_resource(&kubeshape_structural::read::read(root, &arena).value.expect("a definition"))
}

fn group(resources: &[&CustomResource]) -> Group {
    let versions = custom_group_versions(resources.iter().copied()).into_iter().map(Arc::new);
    assemble(Arc::clone(&resources[0].group), versions).expect("a version is served")
}

fn json(print: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    print(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

const TWO_VERSIONS: &str = "
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab, shortNames: [tb], categories: [all]}
  versions:
  - {name: v1beta1, served: true, storage: true, subresources: {status: {}, scale: {specReplicasPath: .a, statusReplicasPath: .b}}}
  - {name: v1, served: true, storage: false}
  - {name: v2, served: false, storage: false}
";

#[test]
fn versions_are_sorted_best_first_and_unserved_ones_are_missing() {
    let tab = custom(TWO_VERSIONS);
    let group = group(&[&tab]);
    let versions: Vec<&str> = group.versions.iter().map(|version| &*version.version).collect();
    assert_eq!(versions, ["v1", "v1beta1"]);
    assert_eq!(
        json(|out| print::group(out, &group, Encoding::Json)),
        "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"example.com\",\"versions\":[\
         {\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"},\
         {\"groupVersion\":\"example.com/v1beta1\",\"version\":\"v1beta1\"}],\
         \"preferredVersion\":{\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"}}\n"
    );
}

#[test]
fn subresources_have_their_kinds_in_the_aggregated_form_only() {
    let tab = custom(TWO_VERSIONS);
    let group = group(&[&tab]);
    let verbs = r#""verbs":["delete","deletecollection","get","list","patch","create","update","watch"]"#;
    let few = r#""verbs":["get","patch","update"]"#;
    let aggregated = json(|out| print::aggregated_item(out, &group));
    let kind = r#""responseKind":{"group":"example.com","version":"v1beta1","kind":"Tab"}"#;
    let beta = format!(
        r#"{{"version":"v1beta1","resources":[{{"resource":"tabs",{kind},"scope":"Namespaced","singularResource":"tab",{verbs},"shortNames":["tb"],"categories":["all"],"subresources":[{{"subresource":"status",{kind},{few}}},{{"subresource":"scale","responseKind":{{"group":"autoscaling","version":"v1","kind":"Scale"}},{few}}}]}}],"freshness":"Current"}}"#
    );
    assert!(aggregated.ends_with(&format!("{beta}]}}")), "{aggregated}");
    let listed = json(|out| print::resource_list(out, "example.com", &group.versions[1], Encoding::Json));
    let expected = format!(
        r#"{{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1beta1","resources":[{{"name":"tabs","singularName":"tab","namespaced":true,"kind":"Tab",{verbs},"shortNames":["tb"],"categories":["all"],"storageVersionHash":"{}"}},{{"name":"tabs/status","singularName":"","namespaced":true,"kind":"Tab",{few}}},{{"name":"tabs/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale",{few}}}]}}"#,
        kubeshape_discovery::storage_version_hash("example.com", "v1beta1", "Tab"),
    );
    assert_eq!(listed, format!("{expected}\n"));
}

#[test]
fn there_is_no_hash_if_the_storage_version_is_not_served() {
    let tab = custom(
        "spec: {group: example.com, scope: Cluster, names: {plural: tabs, kind: Tab}, versions: [\
         {name: v1, served: true, storage: false}, {name: v2, served: false, storage: true}]}",
    );
    assert_eq!(tab.versions.len(), 1);
    assert_eq!(tab.versions[0].1.storage_version_hash, None);
}

const BODY: &str = "
spec: {group: example.com, scope: Cluster, names: {plural: tabs, kind: Tab}, versions: [{name: v1, served: true, storage: true}]}
";

#[test]
fn a_status_decides_if_there_is_one() {
    let not_established = custom(&format!("{BODY}status: {{conditions: [{{type: Established, status: \"False\"}}]}}"));
    assert!(established([&not_established]).is_empty());
    let terminating = custom(&format!(
        "{BODY}status:\n  conditions: [{{type: Established, status: \"True\"}}, {{type: Terminating, status: \"True\"}}]\n  \
         acceptedNames: {{plural: tabs, singular: tabulator, kind: Tab, listKind: TabList}}"
    ));
    let resource = &terminating.versions[0].1;
    let verbs: Vec<&str> = resource.verbs.iter().map(|verb| &**verb).collect();
    assert_eq!(verbs, ["delete", "deletecollection", "get", "list", "watch"]);
    assert_eq!(&*resource.singular, "tabulator");
    assert_eq!(established([&terminating]).len(), 1);
}

#[test]
fn the_first_definition_has_a_name_and_the_other_keeps_its_other_names() {
    let definition = |plural: &str, kind: &str, short: &str| {
        custom(&format!(
            "spec: {{group: example.com, scope: Cluster, names: {{plural: {plural}, kind: {kind}, shortNames: [{short}]}}, \
             versions: [{{name: v1, served: true, storage: true}}]}}"
        ))
    };
    let all = [
        definition("tabs", "Tab", "t, tb"),
        definition("tables", "Tab", "te"),
        definition("teas", "Tea", "te"),
        definition("tubes", "Tube", "tb, tu"),
        definition("tunes", "Tune", "tu"),
    ];
    let conflicts: Vec<_> =
        name_conflicts(&all).into_iter().map(|c| (c.resource, c.owner, c.field, c.name.to_string())).collect();
    assert_eq!(
        conflicts,
        [
            (1, 0, NameField::Singular, "tab".to_owned()),
            (1, 0, NameField::Kind, "Tab".to_owned()),
            (1, 0, NameField::ListKind, "TabList".to_owned()),
            // The second definition is not established, but has this name.
            (2, 1, NameField::ShortNames, "te".to_owned()),
            // Either all short names are granted or none: `tu` stays free.
            (3, 0, NameField::ShortNames, "tb".to_owned()),
        ]
    );
    let plurals: Vec<&str> = established(&all).iter().map(|custom| &*custom.names.plural).collect();
    assert_eq!(plurals, ["tabs", "tunes"]);
}

#[test]
fn definitions_of_one_group_version_are_united_and_sorted() {
    let [a, b] = ["zebras", "apes"].map(|plural| {
        custom(&format!(
            "spec: {{group: example.com, scope: Cluster, names: {{plural: {plural}, kind: K{plural}}}, \
             versions: [{{name: v1, served: true, storage: true}}]}}"
        ))
    });
    let together = group(&[&a, &b]);
    let apart = [group(&[&a]), group(&[&b])].into_iter().flat_map(|group| group.versions);
    assert_eq!(assemble("example.com", apart).as_ref(), Some(&together));
    let names: Vec<&str> = together.versions[0].resources.iter().map(|resource| &*resource.name).collect();
    assert_eq!(names, ["apes", "zebras"]);
    assert_eq!(together.versions[0].origin, Origin::CustomResources);
}

#[test]
fn a_list_of_subresources_alone_gets_resources_for_them() {
    use kubeshape_discovery::read::{Document, ReadError, read};
    let list = |namespaced: bool| {
        format!(
            "kind: APIResourceList\ngroupVersion: example.com/v1\nresources:\n\
             - {{name: tabs/status, namespaced: true, kind: Tab, verbs: [get]}}\n\
             - {{name: tabs/scale, namespaced: {namespaced}, kind: Scale, group: autoscaling, version: v1, verbs: [get]}}\n"
        )
    };
    let Ok(Document::Resources { resources, .. }) = read(list(true).as_bytes(), Limits::default()) else {
        panic!("a list of resources");
    };
    assert_eq!((resources.len(), resources[0].subresources.len()), (1, 2));
    assert!(resources[0].response_kind.kind.is_empty());
    let error = read(list(false).as_bytes(), Limits::default()).expect_err("the scopes differ");
    assert_eq!(error, ReadError::Scope { name: "tabs/scale".to_owned() });
}

/// `responseKind` of `things/exec` and of `things`: absent, null and without members; and a list in the other form.
const UNKNOWN_KINDS: [&str; 4] = [
    r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"a.io"},"versions":[{"version":"v1",
        "resources":[{"resource":"things","scope":"Namespaced","verbs":["get"],"subresources":[{"subresource":"exec","verbs":["create"]}]}]}]}]}"#,
    r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2beta1","items":[{"metadata":{"name":"a.io"},"versions":[{"version":"v1",
        "resources":[{"resource":"things","responseKind":null,"scope":"Namespaced","verbs":["get"],
        "subresources":[{"subresource":"exec","responseKind":null,"verbs":["create"]}]}]}]}]}"#,
    r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"a.io"},"versions":[{"version":"v1",
        "resources":[{"resource":"things","responseKind":{},"scope":"Namespaced","verbs":["get"],
        "subresources":[{"subresource":"exec","responseKind":{},"verbs":["create"]}]}]}]}]}"#,
    r#"{"kind":"APIResourceList","groupVersion":"a.io/v1","resources":[{"name":"things","namespaced":true,"verbs":["get"]},
        {"name":"things/exec","namespaced":true,"kind":"","group":"b.io","version":"v2","verbs":["create"]}]}"#,
];

#[test]
fn an_unknown_kind_is_published_with_empty_members() {
    use kubeshape_discovery::read::{Document, read};
    for body in UNKNOWN_KINDS {
        let groups = match read(body.as_bytes(), Limits::default()) {
            Ok(Document::Aggregated(groups)) => groups,
            Ok(Document::Resources { resources, .. }) => {
                let version = GroupVersion {
                    version: "v1".into(),
                    priority: Priority { group: 1000, version: 15 },
                    origin: Origin::Aggregated,
                    freshness: Freshness::Current,
                    resources,
                };
                vec![Group { name: "a.io".into(), versions: vec![Arc::new(version)] }]
            }
            other => panic!("{body}: {other:?}"),
        };
        let out = json(|out| print::aggregated(out, print::AggregatedVersion::V2, &groups, Encoding::Json));
        let unknown = r#""responseKind":{"group":"","version":"","kind":""}"#;
        assert!(out.contains(&format!(r#""resource":"things",{unknown}"#)), "{body}: {out}");
        assert!(out.contains(&format!(r#""subresource":"exec",{unknown}"#)), "{body}: {out}");
    }
}

#[test]
fn members_of_the_wrong_type_are_errors_with_a_location() {
    let body = "kind: APIGroupDiscoveryList\napiVersion: apidiscovery.k8s.io/v2\nitems:\n- versions:\n  - version: 1\n";
    let error = kubeshape_discovery::read::read(body.as_bytes(), Limits::default()).expect_err("a number");
    assert_eq!(error.to_string(), "line 5, column 14: /items/0/versions/0/version: found a number, expected a text");
}

#[test]
fn a_name_in_use_is_reported_with_its_member_and_owner() {
    let tab = |plural, kind| {
        custom(&format!(
            "spec: {{group: example.com, scope: Cluster, names: {{plural: {plural}, kind: {kind}, shortNames: [te, t]}}, \
             versions: [{{name: v1, served: true, storage: true}}]}}"
        ))
    };
    let conflicts = name_conflicts([&tab("tabs", "Tab"), &tab("tables", "Table")]);
    assert_eq!(
        conflicts[1].detail("tabs.example.com"),
        "found the short name \"t\", which tabs.example.com has; expected another one in spec.names.shortNames; it is not published"
    );
}

/// Quadratic time would be sixteen times as much for four times the input.
#[test]
fn records_of_many_versions_and_resources_take_linear_time() {
    use kubeshape_discovery::{Records, read};
    let began = std::time::Instant::now();
    let version = |n: usize| format!(r#"{{"groupVersion":"g/v{n}","version":"v{n}"}}"#);
    let group = format!(
        r#"{{"kind":"APIGroup","apiVersion":"v1","name":"g","versions":[{}]}}"#,
        (0..20_000).map(version).collect::<Vec<_>>().join(",")
    );
    let resource =
        |n: usize| format!(r#"{{"name":"r{n}","singularName":"","namespaced":true,"kind":"K{n}","verbs":["get"]}}"#);
    let resources = format!(
        r#"{{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"g/v1","resources":[{}]}}"#,
        (0..20_000).map(resource).collect::<Vec<_>>().join(",")
    );
    let mut records = Records::default();
    for body in [&group, &group, &resources] {
        records.add(read::read(body.as_bytes(), Limits::default()).expect("a document"));
    }
    let groups = records.groups();
    assert_eq!((groups.len(), groups[0].versions.len()), (1, 20_000));
    let first = groups[0].versions.iter().find(|version| &*version.version == "v1").expect("a version");
    assert_eq!(first.resources.len(), 20_000);
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
}
