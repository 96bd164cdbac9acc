//! Plans of upgrades. The tests with a server check that plans reach their goal.

use kubeshape_diff::upgrade::{Cluster, Obstacle, Plan, When, plan};
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};

fn planned(old: &str, new: &str, cluster: &Cluster) -> Plan {
    let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
    Stream::new(old.as_bytes(), Limits::default()).unwrap().next(&mut old_tape).unwrap().unwrap();
    Stream::new(new.as_bytes(), Limits::default()).unwrap().next(&mut new_tape).unwrap().unwrap();
    let (old, new) = (old_tape.document(old).root().unwrap(), new_tape.document(new).root().unwrap());
    plan(manifests(old).0[0], manifests(new).0[0], cluster).unwrap()
}

fn definition(plural: &str, versions: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural:?}}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: {plural:?}, kind: Tab, singular: tab, listKind: TabList}}
  versions: [{versions}]
"
    )
    .replacen(&format!("{plural:?}"), &format!("{:?}", format!("{plural}.example.com")), 1)
}

fn version(name: &str, storage: bool, spec: &str) -> String {
    format!(
        "{{name: {name}, served: true, storage: {storage}, \
         schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}}}"
    )
}

/// Returns the fields that are lost from v1 to v2.
fn lost(was: &str, is: &str) -> Vec<String> {
    let (old, new) = (definition("tabs", &version("v1", true, was)), definition("tabs", &version("v2", true, is)));
    let plan = planned(&old, &new, &Cluster::default());
    assert_eq!(plan.obstacle, None, "{plan}");
    plan.losses.into_iter().filter(|loss| loss.when == When::Stored).flat_map(|loss| loss.fields).collect()
}

#[test]
fn pruned_fields_are_lost() {
    let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
    let cases = [
        ("a: {type: string}, b: {type: string}", "a: {type: string}", &["spec.b"][..]),
        ("a: {type: string}", "a: {type: integer}", &[]),
        (
            "a: {type: array, items: {type: object, properties: {x: {type: string}}}}",
            "a: {type: array, items: {type: object}}",
            &["spec.a[].x"],
        ),
        (
            "a: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}",
            "a: {type: object, additionalProperties: {type: object}}",
            &["spec.a.*.x"],
        ),
        ("a: {type: object, additionalProperties: {type: string}}", "a: {type: object}", &["spec.a.*"]),
        (
            "a: {type: object, properties: {x: {type: string}}}",
            "a: {type: object, additionalProperties: {type: string}}",
            &[],
        ),
        (
            "a: {type: object, properties: {x: {type: string}}}",
            "a: {type: object, x-kubernetes-preserve-unknown-fields: true}",
            &[],
        ),
        (
            "a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {x: {type: string}}}",
            "a: {type: object, properties: {x: {type: string}}}",
            &["spec.a.*"],
        ),
        (
            "a: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}",
            "a: {type: object, properties: {spec: {type: object}}}",
            &["spec.a.apiVersion", "spec.a.kind", "spec.a.metadata"],
        ),
    ];
    for (was, is, expected) in cases {
        assert_eq!(lost(&object(was), &object(is)), expected, "{was} → {is}");
        assert_eq!(lost(&object(was), &object(was)), [""; 0], "{was}");
    }
}

#[test]
fn large_definitions_have_small_plans() {
    let fields: Vec<String> = (0..2_000).map(|at| format!("f{at}: {{type: string}}")).collect();
    let spec = format!(
        "{{type: object, properties: {{{}: {{type: object, properties: {{{}}}}}}}}}",
        "n".repeat(1_000),
        fields.join(", ")
    );
    let empty = format!("{{type: object, properties: {{{}: {{type: object}}}}}}", "n".repeat(1_000));
    let (old, new) =
        (definition("tabs", &version("v1", true, &spec)), definition("tabs", &version("v2", true, &empty)));
    let plan = planned(&old, &new, &Cluster::default());
    assert_eq!((plan.losses[0].fields.len(), plan.losses[0].more), (20, 1_980));
    assert!(plan.losses[0].fields.iter().all(|field| field.len() < 210), "{:?}", plan.losses[0].fields);
    // A large definition does not fit into an annotation.
    assert!(!plan.steps[0].commands[0].contains("--server-side"), "{plan}");
    let described = format!("{{type: object, description: {}}}", "d".repeat(300_000));
    let plan = planned(&old, &definition("tabs", &version("v1", true, &described)), &Cluster::default());
    assert_eq!(plan.steps[0].commands, ["kubectl apply --server-side -f tabs.example.com-1.yaml"]);
}

#[test]
fn invalid_names_reach_no_command() {
    let hostile = definition("$(reboot)", &version("v1", true, "{type: object}"));
    let plan = planned(&hostile, &hostile.replace("v1,", "v2,"), &Cluster::default());
    assert!(matches!(plan.obstacle, Some(Obstacle::Refused { .. })) && plan.steps.is_empty(), "{plan}");
    let (old, new) = (
        definition("tabs", &version("v1", true, "{type: object}")),
        definition("tabs", &version("'$(v)'", true, "{type: object}")),
    );
    let plan = planned(&old, &new, &Cluster::default());
    assert!(matches!(plan.obstacle, Some(Obstacle::Refused { .. })) && plan.steps.is_empty(), "{plan}");
}

#[test]
fn a_migration_by_the_cluster_uses_its_preferred_version() {
    let both = |first: bool| {
        let of = |name: &str, storage| version(name, storage, "{type: object}");
        definition("tabs", &format!("{}, {}", of("v1", first), of("v2", !first)))
    };
    let migration = |plan: &Plan| plan.files().filter(|(name, _)| name.contains("migration")).count();
    assert_eq!(migration(&planned(&both(true), &both(false), &Cluster::default())), 1);
    assert_eq!(migration(&planned(&both(false), &both(true), &Cluster::default())), 0);
}
