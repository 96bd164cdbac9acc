//! Tests of `kubeshape validate`: what a server says about objects.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, json};

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, singular: tab, kind: Tab, listKind: TabList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: self.min <= self.max, message: min must not exceed max}
            properties:
              min: {type: integer, default: 1}
              max: {type: integer, maximum: 10, default: 10}
              name: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: it stays}]}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}}}
";

fn tab(spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: t}}\nspec: {spec}\n")
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD);
    folder
}

#[test]
fn a_range_of_releases_is_judged_together() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD.replace("min: {type: integer,", "min: {type: integer, format: int32,"));
    folder.write("a.yaml", tab("{min: -2147483649}")).write("b.yaml", tab("{min: 1}")).write("c.yaml", tab("{min: x}"));
    let run = folder.run("validate --kubernetes 1.34..1.37 --schemas crds a.yaml b.yaml");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("= note: on Kubernetes 1.36 and 1.37"), "{}", run.out);
    let summary = "2 objects: 1 accepted by Kubernetes 1.34 to 1.37, 1 refused by one or more";
    assert!(run.out.contains(summary), "{}", run.out);
    let run = folder.run("validate --kubernetes 1.28..1.35 --schemas crds a.yaml b.yaml");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    // What all releases say is reported once, without their names. Different words are reported for each group of
    // releases.
    let run = folder.run("validate --kubernetes all --schemas crds c.yaml --output-format json");
    let lines: Vec<serde_json::Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let releases = |line: &serde_json::Value| (line["detail"].as_str().unwrap().to_owned(), line["releases"].clone());
    let said: Vec<_> = lines.iter().map(releases).collect();
    assert_eq!(said.iter().filter(|(detail, _)| detail.contains("must be of type integer")).count(), 1, "{said:?}");
    assert!(said.iter().all(|(_, releases)| releases.is_null()), "{said:?}");
    // Built-in kinds are known from 1.31 on. An API version that was removed later is an error of the later releases.
    let flow = "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: FlowSchema\nmetadata: {name: a}\n";
    folder.write("flow.yaml", format!("{flow}spec: {{priorityLevelConfiguration: {{name: exempt}}}}\n"));
    let run = folder.run("validate --kubernetes 1.28..1.34 flow.yaml");
    assert!(run.out.contains("on Kubernetes 1.32 to 1.34") && run.code == Some(1), "{}", run.out);
    folder.run("validate --kubernetes 1.37..1.31 flow.yaml").says(2, &["1.37 is newer than 1.31"]);
}

/// An object is judged once for all releases that agree about it. The result is that of each release alone.
#[test]
fn a_range_says_of_each_object_what_each_release_alone_says() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD.replace("min: {type: integer,", "min: {type: integer, format: int32,"));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n";
    folder
        .write("a.yaml", format!("{pod}  hostnameOverride: b\n  containers: [{{name: a, image: b}}]\n"))
        .write("b.yaml", format!("{pod}  containers: [{{name: a, image: b, ports: [{{containerPort: 0}}]}}]\n"))
        .write("c.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: 1a}\nspec: {ports: [{port: 80}]}\n")
        .write("d.yaml", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec: {}\n")
        .write("e.yaml", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\n")
        .write("f.yaml", tab("{min: 3000000000}"))
        .write("g.yaml", tab("{min: 1}"))
        .write("h.yaml", tab("{min: 9, max: 8}"))
        .write(
            "i.yaml",
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\n\
             spec: {minReplicas: 0, maxReplicas: 1, scaleTargetRef: {kind: Deployment, name: a}}\n",
        );
    let said = |releases: &str| -> Vec<serde_json::Value> {
        let run = folder.run(&format!("validate --kubernetes {releases} --schemas crds . --output-format json"));
        assert!(run.code.is_some_and(|code| code < 2), "{}", run.err);
        run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let shown =
        |finding: &serde_json::Value| format!("{} {} {}", finding["code"], finding["input"], finding["pointer"]);
    let together = said("1.31..1.37");
    for minor in 31..=37 {
        let release = format!("1.{minor}");
        let of_release = |finding: &&serde_json::Value| {
            finding["releases"].as_array().is_none_or(|known| known.iter().any(|known| *known == *release))
        };
        let mut ours: Vec<String> = together.iter().filter(of_release).map(shown).collect();
        let mut alone: Vec<String> = said(&release).iter().map(shown).collect();
        ours.sort_unstable();
        alone.sort_unstable();
        assert_eq!(ours, alone, "{release}");
    }
    let of_some = together.iter().filter(|finding| finding["releases"].is_array()).count();
    assert!(of_some > 4, "{together:?}");
}

#[test]
fn numbers_have_ranges_if_the_release_checks_them() {
    let folder = Folder::new();
    folder.write("crds/tabs.yaml", CRD.replace("min: {type: integer,", "min: {type: integer, format: int32,"));
    folder.write("a.yaml", tab("{min: -2147483649}")).write("b.yaml", tab("{min: -2147483648}"));
    for (release, refused) in [("1.28", false), ("1.35", false), ("1.36", true), ("1.37", true)] {
        let run = folder.run(&format!("validate --kubernetes {release} --schemas crds a.yaml --output-format short"));
        assert_eq!(run.code, Some(i32::from(refused)), "{release}: {}{}", run.out, run.err);
        assert_eq!(run.out.contains("must be of type integer with format int32 in spec.min"), refused, "{release}");
        assert_eq!(folder.run(&format!("validate --kubernetes {release} --schemas crds b.yaml")).code, Some(0));
    }
}

#[test]
fn errors_have_the_servers_words_and_their_positions() {
    let folder = folder();
    folder.write("a.yaml", tab("{max: 11}")).write("b.yaml", tab("{max: 0}"));
    folder.write("c.yaml", tab("\n  ports:\n  - {name: a}\n  - {name: a}")).write("d.yaml", tab("{mix: 1}"));
    folder.write("e.yaml", tab("{}").replace("name: t", "name: t, labels: {a: 1}"));
    folder.write("f.yaml", tab("{}").replace("name: t", "name: T"));
    let run = folder.run("validate --schemas crds a.yaml b.yaml c.yaml d.yaml e.yaml f.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    for line in [
        "a.yaml:4:13: error[KS8101]: The API server refuses the object: spec.max: Invalid value: 11: spec.max in body \
         should be less than or equal to 10",
        "b.yaml:4:1: error[KS8101]: The API server refuses the object: spec: Invalid value: ",
        "min must not exceed max",
        "c.yaml:7:5: error[KS8101]: The API server refuses the object: spec.ports[1]: Duplicate value: ",
        "d.yaml:4:8: error[KS8102]: The object has a field that the API server refuses: unknown field \"spec.mix\"",
        "e.yaml:3:11: error[KS8104]: The API server cannot decode the object: ",
        "f.yaml:3:18: error[KS8101]: The API server refuses the object: metadata.name: Invalid value: \"T\": ",
    ] {
        assert!(run.out.contains(line), "{line}\n{}", run.out);
    }
    folder.run("validate --schemas crds a.yaml b.yaml").says(1, &[]);
}

#[test]
fn the_handling_of_unknown_fields_can_be_chosen() {
    let folder = folder();
    folder.write("a.yaml", tab("{mix: 1, min: 2, min: 3}"));
    let strict = folder.run("validate --schemas crds a.yaml --output-format short");
    assert_eq!((strict.code, strict.out.matches("error[KS8102]").count()), (Some(1), 1), "{}", strict.out);
    assert_eq!(strict.out.matches("warning[KS8103]").count(), 1, "{}", strict.out);
    let warn = folder.run("validate --schemas crds a.yaml --output-format short --field-validation warn");
    assert_eq!((warn.code, warn.out.matches("warning[KS8103]").count()), (Some(0), 2), "{}", warn.out);
    let ignore = folder.run("validate --schemas crds a.yaml --field-validation ignore");
    assert_eq!(
        (ignore.code, ignore.out.as_str()),
        (Some(0), "1 object: 1 accepted by Kubernetes 1.37, 0 refused\n"),
        "{}",
        ignore.err
    );
    folder.run("validate --schemas crds a.yaml --field-validation warn --deny KS8103").says(1, &[]);
}

#[test]
fn an_object_with_a_version_is_not_created() {
    let folder = folder();
    let versioned = |version: &str| tab("{}").replace("name: t", &format!("name: t, resourceVersion: {version:?}"));
    folder.write("a.yaml", versioned("5")).write("b.yaml", versioned("0")).write("c.yaml", versioned("x"));
    folder.write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, resourceVersion: '7'}\n");
    let run =
        folder.run("validate --kubernetes 1.36 --schemas crds a.yaml b.yaml c.yaml config.yaml --output-format short");
    let refused =
        "error[KS8101]: The API server refuses the object: resourceVersion should not be set on objects to be created";
    let expected = format!("a.yaml:3:38: {refused} (in Tab t)\nconfig.yaml:3:38: {refused} (in ConfigMap c)\n");
    assert_eq!((run.code, run.out.as_str()), (Some(1), expected.as_str()), "{}", run.err);
    // An update names the version that it replaces.
    let run = folder.run("validate --kubernetes 1.36 --schemas crds a.yaml config.yaml --old a.yaml --old config.yaml");
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
}

#[test]
fn built_in_kinds_have_the_names_of_their_kind() {
    let folder = Folder::new();
    let object = |api: &str, kind: &str, metadata: &str| {
        format!("apiVersion: {api}\nkind: {kind}\nmetadata: {metadata}\nspec: {{}}\n").replace("\nspec: {}", "")
    };
    folder.write("a.yaml", object("v1", "ConfigMap", "{name: CM_1}")).write("b.yaml", object("v1", "ConfigMap", "{}"));
    folder.write("c.yaml", object("rbac.authorization.k8s.io/v1", "ClusterRole", "{name: 'system:Node'}"));
    folder.write("d.yaml", object("v1", "Namespace", "{name: a.b}"));
    folder.write("e.yaml", object("v1", "ServiceAccount", "{generateName: s-, namespace: x, labels: {a: b c}}"));
    folder.write("f.yaml", object("v1", "Node", "{name: node, namespace: x, finalizers: [mine]}"));
    let run = folder.run("validate --kubernetes 1.36 a.yaml b.yaml c.yaml d.yaml e.yaml f.yaml --output-format short");
    let lines: Vec<&str> = run.out.lines().filter(|line| line.contains("KS8101")).collect();
    for (line, start, end) in [
        (0, "a.yaml:3:18: ", "metadata.name: Invalid value: \"CM_1\": a lowercase RFC 1123 subdomain must consist of"),
        (1, "b.yaml:3:1: ", "metadata.name: Required value: name or generateName is required"),
        (2, "d.yaml:3:18: ", "metadata.name: Invalid value: \"a.b\": must not contain dots"),
        (3, "e.yaml:3:44: ", "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or"),
        (4, "f.yaml:3:", "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer"),
    ] {
        assert!(lines[line].starts_with(start) && lines[line].contains(end), "{end}\n{}", run.out);
    }
    assert_eq!((run.code, lines.len()), (Some(1), 5), "{}", run.out);
    // A review is not stored, so it needs no name.
    folder.write("g.yaml", "apiVersion: authentication.k8s.io/v1\nkind: TokenReview\nspec: {token: x}\n");
    let run = folder.run("validate --kubernetes 1.36 g.yaml");
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
}

#[test]
fn unknown_fields_are_quoted_as_the_server_quotes_them() {
    let folder = folder();
    folder.write("a.yaml", tab("{\"\\u00a0a\": 1, 'q\"r': 1, max: 1, max: 2}"));
    folder.write("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n\"\\u00a0a\": 1\n'q\"r': 1\n");
    let run = folder.run("validate --kubernetes 1.36 --schemas crds a.yaml b.yaml --output-format short");
    for words in [
        "unknown field \"spec.\u{a0}a\"",
        "unknown field \"spec.q\"r\"",
        r#"unknown field "\u00a0a""#,
        r#"unknown field "q\"r""#,
    ] {
        assert!(run.out.contains(words), "{words}\n{}", run.out);
    }
}

#[test]
fn the_last_value_of_a_duplicate_field_counts() {
    let folder = folder();
    folder.write("a.yaml", tab("\n  max: 99\n  max: 4\n  max: 5")).write("b.yaml", tab("{max: 5, max: 99}"));
    folder
        .write("c.json", r#"{"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t", "name": "T"}}"#);
    folder.write("d.yaml", tab("{name: x, max: 1}") + "x: &x {max: 3}\nstatus: {<<: *x, max: 4}\n");
    folder.write("e.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b, a: c}\n");
    let run = folder
        .run("validate --kubernetes 1.36 --schemas crds a.yaml b.yaml c.json d.yaml e.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{} {}", run.out, run.err);
    let twice =
        "warning[KS8103]: The API server drops a field of the object, or one of two values of it: duplicate field";
    for line in [
        format!("a.yaml:6:3: {twice} \"spec.max\"; the last value is used"),
        format!("a.yaml:7:3: {twice} \"spec.max\"; the last value is used"),
        format!("b.yaml:4:16: {twice} \"spec.max\"; the last value is used"),
        "b.yaml:4:21: error[KS8101]: The API server refuses the object: spec.max: Invalid value: 99".to_owned(),
        format!("{twice} \"metadata.name\"; the last value is used"),
        "metadata.name: Invalid value: \"T\"".to_owned(),
        format!("e.yaml:4:14: {twice} \"data.a\"; the last value is used"),
    ] {
        assert!(run.out.contains(&line), "{line}\n{}", run.out);
    }
    assert_eq!(run.out.matches("KS8103").count(), 5, "an override of a merge key is no duplicate: {}", run.out);
    folder.run("validate --schemas crds a.yaml --deny KS8103").says(1, &[]);
}

#[test]
fn values_encrypted_by_sops_are_skipped() {
    let folder = folder();
    let value = "ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ==,type:str]";
    let sops = "sops: {mac: x, lastmodified: '2026-01-01T00:00:00Z'}\n";
    let secret = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\ndata: {{a: '{value}'}}\n");
    folder.write("a.yaml", secret.clone() + sops).write("b.yaml", secret);
    // The rule that max and min are in order reads an encrypted value, and the type of max is not known.
    folder.write("c.yaml", tab(&format!("{{min: 11, max: '{value}'}}")) + sops);
    folder.write("d.yaml", tab(&format!("{{max: '{value}', ports: [{{}}, {{name: '{value}'}}]}}")) + sops);
    folder.write("e.yaml", format!("apiVersion: v1\nkind: '{value}'\nmetadata: {{name: '{value}'}}\n{sops}"));
    let run = folder.run("validate --kubernetes 1.36 --schemas crds a.yaml c.yaml e.yaml --output-format short");
    assert_eq!((run.code, run.out.contains("KS8")), (Some(0), false), "{} {}", run.out, run.err);
    let run = folder.run("validate --kubernetes 1.36 --schemas crds b.yaml d.yaml --output-format short");
    assert_eq!((run.code, run.out.matches("error[").count()), (Some(1), 2), "{}", run.out);
    assert!(run.out.contains("b.yaml:4:11: error[KS8104]"), "{}", run.out);
    assert!(run.out.contains("spec.ports[0].name: Required value"), "{}", run.out);
}

#[test]
fn strict_validation_refuses_whatever_none_refuses() {
    let folder = folder();
    let specs = [
        "{}",
        "{max: 11}",
        "{max: 11, x: 1}",
        "{min: 3, max: 2}",
        "{min: 3, max: 2, max: 2}",
        "{ports: [{}], y: 1}",
        "x",
    ];
    for (at, spec) in specs.iter().enumerate() {
        folder.write(&format!("o/{at}.yaml"), tab(spec));
    }
    folder.write("o/meta.yaml", tab("{}").replace("name: t", "name: t, labels: 1"));
    let errors = |validation: &str| {
        let run =
            folder.run(&format!("validate --schemas crds o --output-format short --field-validation {validation}"));
        assert_eq!(run.code, Some(1), "{}", run.err);
        let lines = run.out.lines().filter(|line| line.contains("error["));
        lines.map(str::to_owned).collect::<std::collections::BTreeSet<String>>()
    };
    let [strict, warn, ignore] = ["strict", "warn", "ignore"].map(errors);
    assert_eq!(warn, ignore);
    assert!(strict.is_superset(&ignore) && strict.len() > ignore.len() && ignore.len() >= 5, "{strict:#?} {ignore:#?}");
}

#[test]
fn an_update_is_judged_against_the_old_object() {
    let folder = folder();
    folder.write("old.yaml", tab("{name: a, max: 99}")).write("new.yaml", tab("{name: b, max: 99}"));
    let run = folder.run("validate --schemas crds --old old.yaml new.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("it stays") && !run.out.contains("less than or equal"), "{}", run.out);
    folder.write("same.yaml", tab("{name: a, max: 99}"));
    let run = folder.run("validate --schemas crds --old old.yaml same.yaml");
    assert_eq!(
        (run.code, run.out.as_str()),
        (Some(0), "1 object: 1 accepted by Kubernetes 1.37, 0 refused\n"),
        "{}",
        run.err
    );
}

#[test]
fn the_stored_object_is_printed_in_the_order_of_the_file() {
    let folder = folder();
    let text = "kind: Tab\napiVersion: example.com/v1\nstatus: {a: 1}\nspec:\n  name: x\n  mix: [1]\n  max: 5\n  \
                ports:\n  - {name: b}\n  - name: a\nmetadata:\n  name: t\n";
    folder.write("a.yaml", text);
    let run = folder.run("validate --schemas crds a.yaml --print stored --field-validation ignore");
    let expected = "\
kind: Tab
apiVersion: example.com/v1
# status was dropped
spec:
  name: x
  # mix was dropped
  max: 5
  ports:
  - name: b
  - name: a
  min: 1  # added
metadata:
  name: t
  generation: 1  # added
  namespace: default  # added
";
    assert_eq!((run.code, run.out.as_str()), (Some(0), expected), "{}", run.err);
}

#[test]
fn metadata_of_the_system_is_not_stored_on_creation() {
    let folder = folder();
    let system = "uid: u, selfLink: /t, resourceVersion: \"0\", creationTimestamp: 2020-01-01T00:00:00Z, \
                  deletionTimestamp: 2020-01-01T00:00:00Z, deletionGracePeriodSeconds: 3, generation: 7";
    folder.write("a.yaml", tab("{min: 1, max: 2}").replace("name: t", &format!("name: t, {system}")));
    let run = folder.run("validate --schemas crds a.yaml --print stored");
    let expected = "\
apiVersion: example.com/v1
kind: Tab
metadata:
  name: t
  # uid was dropped
  # selfLink was dropped
  # resourceVersion was dropped
  # creationTimestamp was dropped
  # deletionTimestamp was dropped
  # deletionGracePeriodSeconds was dropped
  generation: 1
  namespace: default  # added
spec:
  min: 1
  max: 2
";
    assert_eq!((run.code, run.out.as_str()), (Some(0), expected), "{}", run.err);
}

#[test]
fn streams_lists_and_templates_are_understood() {
    let folder = folder();
    let item =
        r#"{"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"generateName": "t-"}, "spec": {"max": "x"}}"#;
    let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{item}]}}"#);
    let stream = format!("{CRD}---\n# Source: chart/templates/tab.yaml\n{}---\n{list}\n", tab("{max: x}"));
    let run = folder.pipe("validate --schemas crds --output-format sarif", stream);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let results = json(&run.out)["runs"][0]["results"].clone();
    assert_eq!(results.as_array().unwrap().len(), 4, "{results:#}");
    assert!(results[0]["message"]["text"].as_str().unwrap().contains("chart/templates/tab.yaml"), "{results:#}");
}

/// Streams as the programs of the recipes print them.
#[test]
fn output_of_other_programs_is_understood() {
    let folder = folder();
    let good = "apiVersion: example.com/v1\nkind: Tab\nmetadata:\n  name: t\nspec:\n  max: 3\n";
    let settings = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: settings-4h2mbtbbt6\n";
    // Flux hides secret values, and prints a line at the end.
    let secret = "apiVersion: v1\ndata:\n  token: KipTT1BTKio=\nkind: Secret\nmetadata:\n  name: s\ntype: Opaque\n";
    let hook = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"web-test\"\n  annotations:\n    \"helm.sh/hook\": test\n\
                spec:\n  containers:\n    - name: wget\n      image: busybox\n      args: ['web:80']\n  restartPolicy: Never\n";
    for (program, text, count) in [
        ("kustomize build", format!("{settings}---\n{good}"), 2),
        (
            "helm template",
            format!(
                "---\n# Source: web/templates/tab.yaml\n{good}---\n# Source: web/templates/empty.yaml\n\n---\n# Source: web/templates/tests/\
             test.yaml\n{hook}"
            ),
            2,
        ),
        ("flux build kustomization", format!("---\n{secret}---\n{good}---\n"), 2),
        ("argocd app manifests", format!("---\n{settings}\n---\n{good}\n"), 2),
    ] {
        let run = folder.pipe("validate --kubernetes 1.36 --schemas crds -", text);
        let summary = format!("{count} objects: {count} accepted by Kubernetes 1.36, 0 refused\n");
        assert!(run.code == Some(0) && run.out.contains(&summary), "{program}: {} {}", run.out, run.err);
    }
    // A program that failed prints nothing, and that must not count as success.
    folder.pipe("validate --kubernetes 1.36 --schemas crds -", "").says(1, &[]);
}

#[test]
fn the_output_of_kustomize_is_judged() {
    let program = std::env::var("KUBESHAPE_KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    let folder = folder();
    folder.write("base/kustomization.yaml", "resources: [tab.yaml]\n").write("base/tab.yaml", tab("{max: 3}"));
    let patch = "resources: [../../base]\nnamePrefix: prod-\npatches:\n- target: {kind: Tab}\n  patch: \
                 '[{\"op\": \"add\", \"path\": \"/spec/maximum\", \"value\": 3}]'\n";
    folder.write("overlays/prod/kustomization.yaml", patch);
    let built = std::process::Command::new(&program).arg("build").arg(folder.path("overlays/prod")).output();
    let Ok(built) = built else {
        use std::io::Write;
        let _ =
            writeln!(std::io::stderr(), "not checked: what kustomize prints (KUBESHAPE_KUSTOMIZE names no program)");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = folder.pipe("validate --kubernetes 1.36 --schemas crds --output-format short -", built.stdout);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("unknown field \"spec.maximum\" (in Tab prod-t)"), "{}", run.out);
}

#[test]
fn built_in_kinds_are_those_of_the_default_release() {
    let folder = folder();
    folder.write("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n").write("b.yaml", tab("{}"));
    let run = folder.run("validate --schemas crds a.yaml b.yaml --output-format short");
    assert!(run.code == Some(1) && run.out.contains("spec.containers: Required value"), "{}", run.out);
    let run = folder.pipe("validate -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    assert!(run.code == Some(0) && run.words_out().contains("were checked as by Kubernetes 1.37;"), "{}", run.out);
    // The document of a cluster has all of its kinds.
    let apps = r#"{"swagger":"2.0","info":{"title":"","version":""},"paths":{},"definitions":{"Pod":{"type":"object",
        "x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Pod"}]}}}"#;
    folder.write("cluster.json", apps);
    let run =
        folder.pipe("validate --schemas cluster.json -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    run.says(1, &[]);
    assert!(run.out.contains("KS8001"), "{}", run.out);
}

#[test]
fn unknown_kinds_and_test_cases() {
    let folder = folder();
    folder
        .write("a.yaml", "apiVersion: other.example.com/v1\nkind: Pad\nmetadata: {name: p}\n")
        .write("b.yaml", tab("{}"));
    folder.write("c.yaml", tab("{max: 11}"));
    folder.run("validate --schemas crds a.yaml").says(1, &[]);
    let skip = folder.run("validate --schemas crds a.yaml b.yaml --missing-schemas skip");
    let text = "2 objects: 1 accepted by Kubernetes 1.37, 0 refused, 1 of unknown kinds\n";
    assert_eq!((skip.code, skip.out.as_str()), (Some(0), text), "{}", skip.err);
    let warn = folder.run("validate --schemas crds a.yaml --missing-schemas warn --output-format short");
    assert!(warn.code == Some(0) && warn.out.contains("a.yaml:2:7: warning[KS8105]"), "{}", warn.out);
    let run = folder.run("validate --schemas crds b.yaml c.yaml --output-format junit");
    assert!(run.out.contains("<testcase classname=\"b.yaml\" name=\"Tab t\"/>"), "{}", run.out);
    assert!(run.out.contains("<testsuite name=\"c.yaml\" tests=\"1\" failures=\"1\">"), "{}", run.out);
}

#[test]
fn the_structure_of_built_in_kinds_is_judged_by_the_documents_of_a_release() {
    let folder = folder();
    folder.write(
        "a.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: two\n  replica: 1\n  template:\n    \
         spec:\n      containers:\n      - {name: c, Image: b}\n",
    );
    folder.write("b.yaml", "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n  data: {b: 1}\n");
    folder.write("c.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: YQ==}\nsops: {mac: x}\n");
    let run = folder.run("validate --kubernetes 1.36 --schemas crds a.yaml b.yaml c.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    for line in [
        "a.yaml:5:13: error[KS8104]: The API server cannot decode the object: spec.replicas: json: cannot unmarshal string into \
         Go struct field DeploymentSpec.spec.replicas of type int32",
        "a.yaml:6:3: error[KS8102]: The object has a field that the API server refuses: unknown field \"spec.replica\"",
        "a.yaml:10:19: error[KS8102]: The object has a field that the API server refuses: unknown field \
         \"spec.template.spec.containers[0].Image\"",
        "a.yaml:4:1: warning[KS8106]: ",
        "spec.selector: Required value",
        "b.yaml:5:13: error[KS8104]: The API server cannot decode the object: data.b: json: cannot unmarshal number into Go struct \
         field ConfigMap.data of type string",
    ] {
        assert!(run.out.contains(line), "{line}\n{}", run.out);
    }
    assert!(!run.out.contains("c.yaml"), "{}", run.out);
    let accepted = folder.run("validate --kubernetes 1.36 c.yaml");
    let text = "1 object: 1 accepted by Kubernetes 1.36, 0 refused\nBuilt-in kinds (1 Secret): metadata, types, defaults and rules were checked.\n";
    assert_eq!((accepted.code, accepted.out.as_str()), (Some(0), text), "{}", accepted.err);
}

#[test]
fn a_workload_without_a_spec_lacks_its_required_fields() {
    let folder = folder();
    folder.write("a.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n");
    let run = folder.run("validate --kubernetes 1.36 a.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    for error in ["spec.selector: Required value", "spec.template.spec.containers: Required value"] {
        assert!(run.out.contains(&format!("KS8101]: The API server refuses the object: {error}")), "{}", run.out);
    }
    assert!(!run.out.contains("KS8106"), "{}", run.out);
}

#[test]
fn rules_of_built_in_kinds_have_the_words_of_the_server_and_positions() {
    let folder = folder();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports:\n  - {name: a, port: 80}\n  - {name: a, port: 0}\n";
    folder.write("s.yaml", service);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i\n    env: [{name: A, value: \"1\"}, {name: A, value: \"2\"}]\n";
    folder.write("p.yaml", pod);
    let run = folder.run("validate --kubernetes 1.36 s.yaml p.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    for line in [
        "s.yaml:7:21: error[KS8101]: The API server refuses the object: spec.ports[1].port: Invalid value: 0: must be between 1 and 65535, \
         inclusive (in Service s)",
        "spec.ports[1].name: Duplicate value: \"a\" (in Service s)",
        "p.yaml:8:34: warning[KS8107]: ",
        "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply (in Pod p)",
    ] {
        assert!(run.out.contains(line), "{line}\n{}", run.out);
    }
    let old = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b, c: d}}\n    spec: {containers: [{name: c, image: i}]}\n";
    folder.write("old.yaml", old);
    folder.write("new.yaml", old.replace("{matchLabels: {a: b}}", "{matchLabels: {c: d}}"));
    let run = folder.run("validate --kubernetes 1.36 new.yaml --old old.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("spec.selector: ") && run.out.contains("field is immutable"), "{}", run.out);
}

#[test]
fn without_documents_of_a_release_there_is_advice() {
    let folder = folder();
    folder.write("a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n");
    let run = folder.run("validate --kubernetes 1.30 a.yaml");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("a release from 1.31 to 1.37"), "{}", run.out);
    let document = r#"{"swagger": "2.0", "info": {"title": "", "version": ""}, "paths": {}, "definitions": {
        "io.k8s.api.core.v1.Secret": {"type": "object", "properties": {"type": {"type": "string"}, "apiVersion": {"type": "string"},
            "kind": {"type": "string"}, "metadata": {"type": "object"}},
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Secret"}]}}}"#;
    folder.write("cluster.json", document);
    let run = folder.run("validate --schemas cluster.json a.yaml");
    assert_eq!(run.code, Some(0), "{}", run.out);
}

/// Returns a definition in the form that programs write. The names of its kind are found without parsing it.
fn definition(kind: &str, group: &str, schema: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.{group}\nspec:\n  \
         group: {group}\n  names:\n    kind: {kind}\n    plural: {plural}\n  scope: Cluster\n  versions:\n  - name: v1\n    \
         served: true\n    storage: true\n    schema:\n      openAPIV3Schema: {schema}\n"
    )
}

const EMPTY: &str = "{type: object, properties: {}}";

fn object(kind: &str, rest: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: a}}\n{rest}")
}

#[test]
fn unneeded_definitions_are_not_read() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", definition("A", "example.com", EMPTY));
    folder.write("crds/b.yaml", definition("B", "example.com", "{type: object"));
    folder.write("crds/c.yaml", definition("C", "example.com", "{type: 1}"));
    folder.write("a.yaml", object("A", "")).write("b.yaml", object("B", "")).write("c.yaml", object("C", ""));
    let run = folder.run("validate --schemas crds a.yaml --output-format short");
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
    for jobs in ["1", "7"] {
        // Each definition is reported once, before the first object that needs it.
        let run =
            folder.run(&format!("validate --schemas crds a.yaml b.yaml b.yaml c.yaml -j{jobs} --output-format short"));
        let codes: Vec<&str> = run.out.lines().filter_map(|line| line.split(['[', ']']).nth(1)).collect();
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert_eq!(codes.first(), Some(&"KS1001"), "{}", run.out);
        assert_eq!(codes.iter().filter(|code| **code == "KS1001").count(), 1, "{}", run.out);
        let places: Vec<&str> = run.out.lines().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(places, ["crds/b.yaml", "b.yaml", "crds/c.yaml", "c.yaml"], "{}", run.out);
    }
    // The file was removed before it was needed, which has nothing to do with its content.
    let run = folder.run("validate --schemas crds/none.yaml a.yaml");
    assert_eq!(run.code, Some(2), "{}", run.err);
}

#[test]
fn the_first_of_several_definitions_of_a_kind_counts_read_or_not() {
    let first = "{type: object, properties: {x: {type: integer}}}";
    let second = "{type: object, properties: {x: {type: string}}}";
    let flow =
        |text: String| text.replace("  names:\n    kind: A\n    plural: as\n", "  names: {kind: A, plural: as}\n");
    let (a, b) = (definition("A", "example.com", first), definition("A", "example.com", second));
    for (one, two) in
        [(a.clone(), b.clone()), (flow(a.clone()), b.clone()), (a.clone(), flow(b.clone())), (flow(a), flow(b))]
    {
        let folder = Folder::new();
        folder.write("crds/1.yaml", one).write("crds/2.yaml", two).write("a.yaml", object("A", "x: 1\n"));
        let run = folder.run("validate --schemas crds a.yaml --output-format short");
        assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
        let run = folder.run("validate --schemas crds/2.yaml --schemas crds/1.yaml a.yaml --output-format short");
        assert_eq!((run.code, run.out.matches("KS8101").count()), (Some(1), 1), "{}", run.out);
    }
}

#[test]
fn kinds_of_unread_definitions_are_named_in_errors() {
    let folder = Folder::new();
    let text = definition("Widget", "example.com", EMPTY);
    folder.write("crds/1.yaml", format!("{text}---\n{}", definition("Other", "example.com", EMPTY)));
    folder.write("a.yaml", object("Wigdet", "")).write("b.yaml", object("Widget", "").replace("/v1", "/v2"));
    let run = folder.run("validate --schemas crds a.yaml b.yaml --output-format short");
    assert!(run.out.contains("did you mean `Widget`?"), "{}", run.out);
    assert!(run.out.contains("the schemas have example.com/v1"), "{}", run.out);
}

#[test]
fn a_definition_that_is_read_counts_for_all_files_with_its_kinds() {
    let folder = Folder::new();
    let takes = |kind: &str, ty: &str| {
        definition(kind, "example.com", &format!("{{type: object, properties: {{x: {{type: {ty}}}}}}}"))
    };
    // This one cannot be searched by lines. The others have kinds in common with it, directly or through each other.
    let flow =
        takes("A", "integer").replace("  names:\n    kind: A\n    plural: as\n", "  names: {kind: A, plural: as}\n");
    folder.write("crds/1.yaml", flow);
    folder.write("crds/2.yaml", format!("{}---\n{}", takes("A", "string"), takes("B", "integer")));
    folder.write("crds/3.yaml", format!("{}---\n{}", takes("B", "string"), takes("C", "integer")));
    folder.write("crds/4.yaml", format!("{}---\n{}", takes("D", "integer"), takes("E", "string")));
    for (kind, x) in [("A", "1"), ("B", "1"), ("C", "1"), ("D", "1"), ("E", "t")] {
        folder.write(&format!("{kind}.yaml"), object(kind, &format!("x: {x}\n")));
    }
    let run = folder.run("validate --schemas crds A.yaml B.yaml C.yaml D.yaml E.yaml --output-format short");
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{}", run.err);
}

#[test]
fn unknown_fields_and_versions_suggest_the_most_similar_names() {
    let folder = Folder::new();
    folder.write("crd.yaml", crate::common::ssa::CRD);
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, lables: {}}\nspec: {replica: 1, prots: [], ports: [{port: 1, protocl: TCP}], zzz: 1}\n";
    folder.write("widget.yaml", widget);
    let run = folder.run("validate --schemas crd.yaml widget.yaml");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in ["replicas", "ports", "protocol", "labels"] {
        let near = format!("Did you mean `{name}`? Correct the name of the field.");
        assert_eq!(words(&run.out).matches(&near).count(), 1, "{name}: {}", run.out);
    }
    assert_eq!(run.out.matches("Did you mean").count(), 4, "{}", run.out);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b, ports: [{containerport: 1}]}], restartpolicy: Never}\n";
    folder.write("pod.yaml", pod);
    let run = folder.run("validate --kubernetes 1.36 pod.yaml");
    for name in ["containerPort", "restartPolicy"] {
        assert!(words(&run.out).contains(&format!("Did you mean `{name}`?")), "{name}: {}", run.out);
    }
    for (version, kind, near) in [
        ("app/v1", "Deployment", "; did you mean `apps/v1`?"),
        ("networking.k8s.oi/v1", "Ingress", "; did you mean `networking.k8s.io/v1`?"),
        ("v1", "Deployment", "; did you mean `apps/v1`?"),
        ("exmaple.com/v1", "Widget", "; did you mean `example.com/v1`"),
    ] {
        folder.write("object.yaml", format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n"));
        let run = folder.run("validate --kubernetes 1.36 --schemas crd.yaml object.yaml");
        assert!(words(&run.out).contains(near), "{version} {kind}: {}", run.out);
    }
    // The server's words are unchanged, and every format has the suggestion.
    for format in ["json", "sarif", "markdown", "junit", "short", "github"] {
        let run = folder.run(&format!("validate --schemas crd.yaml widget.yaml --output-format {format}"));
        let text = run.out.replace('\\', "");
        assert!(text.contains("Did you mean `replicas`?"), "{format}: {}", run.out);
        assert!(text.contains("unknown field \"spec.replica\"") || text.contains("unknown field &quot;spec"), "{text}");
    }
}

#[test]
fn kinds_that_the_release_no_longer_serves_have_one_advice() {
    let folder = Folder::new();
    for (api_version, kind, advice) in [
        ("batch/v1beta1", "CronJob", "Use batch/v1 CronJob."),
        ("extensions/v1beta1", "Deployment", "Use apps/v1 Deployment."),
        ("policy/v1beta1", "PodSecurityPolicy", "and has nothing in its place."),
    ] {
        folder.write("a.yaml", format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"));
        let run = folder.run("validate --kubernetes 1.36 a.yaml");
        let words = run.words_out();
        assert!(words.contains(advice) && !words.contains("Add `--schemas`"), "{words}");
    }
    folder.write("a.yaml", "apiVersion: batch/v9\nkind: CronJo\nmetadata: {name: a}\n");
    assert!(folder.run("validate --kubernetes 1.36 a.yaml").words_out().contains("Add `--schemas`"));
}
