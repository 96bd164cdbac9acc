#![allow(clippy::unwrap_used, clippy::print_stderr)]

use super::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;
use tempfile::TempDir;

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAMEs.example.com, annotations: {a: b}}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: NAMEs, kind: NAME}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

const WEBHOOK: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {service: {namespace: system, name: w, path: /convert}}, conversionReviewVersions: [v1]}
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bases")).unwrap();
    for name in ["tab", "gap"] {
        std::fs::write(folder.path().join(format!("bases/{name}.yaml")), CRD.replace("NAME", name)).unwrap();
    }
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn with(kustomization: &str) -> TempDir {
    folder(&[
        ("kustomization.yaml", kustomization),
        ("webhook.yaml", WEBHOOK),
        ("words.yaml", WORDS),
        ("config.yaml", "namespace: []\n"),
    ])
}

fn built(folder: &Path) -> Result<Vec<Json>, String> {
    let mut out = Vec::new();
    for input in inputs(&folder.to_string_lossy())? {
        let bytes = match &input.source {
            Source::File(path) => std::fs::read(path).unwrap(),
            Source::Memory(_, bytes) => bytes.to_vec(),
            Source::Stdin => Vec::new(),
        };
        out.extend(objects(&bytes));
    }
    Ok(out)
}

fn objects(bytes: &[u8]) -> Vec<Json> {
    let read = kubeshape_input::read("built", bytes, Limits::default());
    let roots = read.documents.iter().map(Document::root).filter(|root| !root.is_null());
    roots.map(|root| Value::from_node(root, &Bump::new()).to_serde()).collect()
}

/// Returns an object by its name.
fn named<'o>(objects: &'o [Json], name: &str) -> &'o Json {
    objects.iter().find(|object| object["metadata"]["name"] == name).unwrap()
}

#[test]
fn a_project_of_kubebuilder_is_built() {
    let folder = with(
        "resources: [bases/tab.yaml, bases/gap.yaml]\npatches: [{path: webhook.yaml}]\nconfigurations: [config.yaml]\n",
    );
    let all = inputs(&folder.path().to_string_lossy()).unwrap();
    let is_file = |input: &Input| matches!(input.source, Source::File(_));
    // What no patch changes stays the file that it is.
    assert_eq!(all.iter().map(is_file).collect::<Vec<_>>(), [false, true]);
    assert!(all[0].name().starts_with("kustomize:") && all[0].name().ends_with("bases/tab.yaml"));
    let built = built(folder.path()).unwrap();
    let tab = named(&built, "tabs.example.com");
    assert_eq!(tab["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"], "w");
    assert_eq!(tab["spec"]["versions"][0]["name"], "v1");
}

/// Objects with scalars that kustomize does not read as Kubernetes does, and with annotations that are not strings.
const WORDS: &str = r#"apiVersion: example.com/v1
kind: Widget
metadata: {name: y, labels: {y: no, a: 2001-01-01}, annotations: {a: 1.0, b: ~, c: 2001-01-01, d: yes, f: [a], y: on}}
spec:
  y: [y, n, Y, N, yes, No, ON, off, true, False, ~, 'y', !!str no, tRUE]
  off: {on: &a yes, also: *a, until: 2001-1-1, at: 2001-12-14t21:59:43.10-05:00, quoted: "2001-01-01"}
  numbers: [0777, 0o17, 0o+7, 1_000, 0x1F, 1e3, 1.50, 1:30, 08, .5]
  block: |-
    y
  at: 2001-12-14t21:59:43.10-05:00
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: on, annotations: {}}, data: {a: off, yes: "1"}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: off}, data: {n: y}}
"#;

/// Kustomizations of these objects.
const WORD_CASES: [&str; 5] = [
    "namePrefix: ''",
    "patches:
- patch: |-
    apiVersion: example.com/v1
    kind: Widget
    metadata: {name: 'y', annotations: {a: ~, g: 0x10, h: y, i: 2001-01-01}}
    spec: {off: {on: no, n: y, until: 2002-02-02}, numbers: null}",
    "patches:
- target: {name: 'on'}
  patch: |-
    - {op: add, path: /data/b, value: y}
    - {op: add, path: /data/c, value: {y: no, until: 2001-01-01}}
    - {op: add, path: /metadata/annotations, value: {a: 1000000, b: y, c: ~, d: {e: f}, g: 0.5, h: x}}
- target: {name: 'y'}
  patch: |-
    - {op: test, path: /spec/off/on, value: 'yes'}
    - {op: test, path: /spec/off/until, value: 2001-01-01T00:00:00Z}
    - {op: remove, path: /metadata/annotations}
    - {op: add, path: /spec/off/on, value: yes}",
    "labels: [{pairs: {a: 'y', 'n': '2001-01-01'}}]",
    "patchesJson6902:
- target: {version: v1, kind: ConfigMap, name: 'on'}
  patch: '- {op: replace, path: /data/yes, value: on}'",
];

/// Kustomizations with everything that is known here.
const CASES: [&str; 10] = [
    "patchesStrategicMerge: [webhook.yaml]",
    "patches: [{path: webhook.yaml, target: {kind: CustomResourceDefinition}}]",
    r"patches:
- target: {name: 'ta.*', group: apiextensions.k8s.io, version: v1}
  patch: |-
    - {op: add, path: /metadata/annotations/x, value: other}
    - {op: remove, path: /metadata/annotations/a}
    - {op: replace, path: /spec/versions/0/served, value: false}",
    r#"patchesJson6902:
- target: {kind: CustomResourceDefinition, name: gaps.example.com}
  patch: '[{"op": "test", "path": "/spec/scope", "value": "Namespaced"},
    {"op": "copy", "from": "/spec/names", "path": "/spec/others"}]'"#,
    r#"labels: [{pairs: {a/b: c, d: e}}]
patches: [{target: {labelSelector: '!d'}, patch: '[{"op": "add", "path": "/x", "value": 1}]'}]"#,
    "patches:
- patch: |-
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: gaps.example.com, annotations: null}
    spec: {versions: [{name: v2}], names: {plural: null, shortNames: []}}",
    "patches:
- patch: |-
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: gaps.example.com}
    $patch: delete",
    "patches:
- target: {annotationSelector: 'a,a!=c,!d'}
  patch: |-
    {apiVersion: v1, kind: Other, metadata: {name: other, annotations: {c: d}}, spec: {x: {}, v: {z: null}}}",
    r#"patches: [{target: {name: tabs}, patch: '[{"op": "remove", "path": "/nothing"}]'}]"#,
    "sortOptions: {order: fifo}\npatches: []\nnamePrefix: ''\nconfigurations: [config.yaml]",
];

/// Returns the program that compares, if there is one.
fn program() -> Option<String> {
    let program = std::env::var("KUBESHAPE_KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    let is_there = Command::new(&program).arg("version").output().is_ok();
    if !is_there {
        eprintln!("not checked: kustomizations with the real kustomize (KUBESHAPE_KUSTOMIZE names no program)");
    }
    is_there.then_some(program)
}

fn sorted(objects: &[Json]) -> BTreeSet<String> {
    objects.iter().map(Json::to_string).collect()
}

/// Compares with the real kustomize. `KUBESHAPE_KUSTOMIZATIONS` may name more folders.
#[test]
fn the_real_kustomize_builds_the_same() {
    let Some(program) = program() else { return };
    let compare = |folder: &Path, case: &str| {
        let real = Command::new(&program).arg("build").arg(folder).output().unwrap();
        assert!(real.status.success(), "{case}: {}", String::from_utf8_lossy(&real.stderr));
        let (ours, theirs) = (built(folder).unwrap_or_else(|why| panic!("{case}: {why}")), objects(&real.stdout));
        assert_eq!(sorted(&ours), sorted(&theirs), "{case}");
        ours.len()
    };
    for (resources, cases) in [("bases/tab.yaml, bases/gap.yaml", &CASES[..]), ("words.yaml", &WORD_CASES)] {
        for case in cases {
            let folder = with(&format!("resources: [{resources}]\n{case}\n"));
            compare(folder.path(), case);
        }
    }
    let more = std::env::var("KUBESHAPE_KUSTOMIZATIONS").unwrap_or_default();
    for folder in more.split(':').filter(|folder| !folder.is_empty()) {
        let count = compare(Path::new(folder), folder);
        eprintln!("{folder}: {count} objects are the same");
    }
}

#[test]
fn words_are_read_as_kustomize_reads_them() {
    let folder = with("resources: [words.yaml, bases/tab.yaml]\n");
    let all = inputs(&folder.path().to_string_lossy()).unwrap();
    // The file says something else with kustomize, so it is printed again.
    assert_eq!(all.iter().map(|input| matches!(input.source, Source::File(_))).collect::<Vec<_>>(), [false, true]);
    let built = built(folder.path()).unwrap();
    let widget = named(&built, "y");
    assert_eq!(
        widget["spec"]["y"],
        json!(["y", "n", "Y", "N", "yes", "No", "ON", "off", true, false, null, "y", "no", "tRUE"])
    );
    assert_eq!(
        widget["spec"]["off"],
        json!({"on": "yes", "also": "yes", "until": "2001-01-01T00:00:00Z", "at": "2001-12-14t21:59:43.10-05:00",
            "quoted": "2001-01-01"})
    );
    assert_eq!(widget["spec"]["at"], "2001-12-14T21:59:43.1-05:00");
    assert_eq!(widget["metadata"]["labels"], json!({"y": "no", "a": "2001-01-01T00:00:00Z"}));
    assert_eq!(
        widget["metadata"]["annotations"],
        json!({"a": "1.0", "b": "~", "c": "2001-01-01", "d": "yes", "f": "", "y": "on"})
    );
    // kustomizations and lists of operations are read as Kubernetes reads them.
    refused("resources: [y]\n", "kustomization.yaml:1:13: expected a string");
}

#[test]
fn what_kustomize_cannot_write_is_an_error() {
    for key in ["1", "true", "2001-01-01"] {
        let text = WORDS.replace("  block:", &format!("  map: {{{key}: a}}\n  block:"));
        let folder = folder(&[("kustomization.yaml", "resources: [a.yaml]\n"), ("a.yaml", &text)]);
        let why = built(folder.path()).unwrap_err();
        assert!(why.ends_with("a.yaml:8:9: kustomize cannot write what it reads here; put it into quotes"), "{why}");
        let Some(program) = program() else { continue };
        assert!(!Command::new(&program).arg("build").arg(folder.path()).output().unwrap().status.success(), "{key}");
    }
}

#[test]
fn other_folders_are_included() {
    let kustomization = "resources: [bases]\npatches: [{path: webhook.yaml}]\n";
    let folder = folder(&[
        ("kustomization.yaml", kustomization),
        ("webhook.yaml", WEBHOOK),
        ("bases/kustomization.yaml", "resources: [tab.yaml, gap.yaml]\nlabels: [{pairs: {a: b}}]\n"),
    ]);
    let built = built(folder.path()).unwrap();
    assert_eq!(named(&built, "tabs.example.com")["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(named(&built, "gaps.example.com")["metadata"]["labels"]["a"], "b");
}

#[track_caller]
fn refused(kustomization: &str, expected: &str) {
    let folder = with(kustomization);
    let why = built(folder.path()).expect_err(kustomization);
    let place = format!("{}/", folder.path().display());
    assert_eq!(why.replace(&place, ""), expected, "{kustomization}");
}

#[test]
fn what_is_not_known_is_an_error_that_names_it() {
    let instead = "build it: `kubectl kustomize FOLDER | kubeshape check -`";
    let of = |text: &str| text.replace("INSTEAD", instead);
    refused("namePrefix: x-\n", &of("kustomization.yaml:1:1: `namePrefix` is not known here; INSTEAD"));
    refused("components: [a]\n", &of("kustomization.yaml:1:1: `components` is not known here; INSTEAD"));
    refused(
        "labels:\n- pairs: {a: b}\n  includeSelectors: true\n",
        &of("kustomization.yaml:3:3: `includeSelectors` of labels is not known here; INSTEAD"),
    );
    refused(
        "resources:\n- https://example.com/a.yaml\n",
        &of(
            "kustomization.yaml:2:3: \"https://example.com/a.yaml\" is on another machine, and nothing is downloaded: INSTEAD",
        ),
    );
    refused(
        "resources: ['github.com/a/b?ref=main']\n",
        &of(
            "kustomization.yaml:1:13: \"github.com/a/b?ref=main\" is on another machine, and nothing is downloaded: INSTEAD",
        ),
    );
    refused("kind: Component\n", &of("kustomization.yaml:1:7: found a Component, expected a Kustomization: INSTEAD"));
    refused("resources: a\n", "kustomization.yaml:1:12: expected a list of resources");
    refused("resources: [1]\n", "kustomization.yaml:1:13: expected a string");
    refused("resources: [none.yaml]\n", "kustomization.yaml:1:13: \"none.yaml\": no such file or directory");
    refused(
        "resources: ['bases/tab.yaml', ./bases/tab.yaml]\n",
        "kustomization.yaml:1:31: ./bases/tab.yaml:1:1: CustomResourceDefinition tabs.example.com (apiextensions.k8s.io/v1) is there twice",
    );
    refused(
        "patches: [{path: webhook.yaml}]\n",
        "webhook.yaml:1:1: the patch is of CustomResourceDefinition tabs.example.com (apiextensions.k8s.io/v1), which is no resource of the kustomization",
    );
    refused("patches: [{target: {kind: A}}]\n", "kustomization.yaml:1:11: expected `path` or `patch`");
    refused("patches: [{patch: '[]'}]\n", "kustomization.yaml:1:11: a list of operations needs a `target`");
    refused(
        "patches: [{path: webhook.yaml, target: {namespace: a}}]\n",
        &of("kustomization.yaml:1:41: `namespace` of a target is not known here; INSTEAD"),
    );
    refused(
        "patches: [{path: webhook.yaml, target: {labelSelector: 'a in (b)'}}]\n",
        &of("kustomization.yaml:1:56: the selector \"a in (b)\" is not known here; INSTEAD"),
    );
    let base = "resources: [bases/tab.yaml]\n";
    let patch = |rest: &str| {
        format!(
            "{base}patches: [{{patch: '{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: \
             {{name: tabs.example.com}}, {rest}}}'}}]\n"
        )
    };
    refused(&patch("spec: {$patch: replace}"), &of("patch:1:1: the directive `$patch` is not known here; INSTEAD"));
    refused(
        &patch("status: {conditions: []}"),
        &of("patch:1:1: kustomize may merge status.conditions, which is not known here; INSTEAD"),
    );
}

#[test]
fn kustomizations_of_strangers_end() {
    // It includes itself, over another folder.
    let loops = folder(&[("kustomization.yaml", "resources: [a]\n"), ("a/kustomization.yaml", "resources: [..]\n")]);
    assert!(built(loops.path()).unwrap_err().ends_with("the kustomization includes itself"));
    // Files outside of the folder, by path and by link.
    let inner = folder(&[("a/kustomization.yaml", "resources: [../bases/tab.yaml]\n")]);
    assert!(built(&inner.path().join("a")).unwrap_err().contains("is outside of the folder"));
    #[cfg(unix)]
    {
        std::fs::write(inner.path().join("a/kustomization.yaml"), "resources: [link.yaml]\n").unwrap();
        std::os::unix::fs::symlink("../bases/tab.yaml", inner.path().join("a/link.yaml")).unwrap();
        assert!(built(&inner.path().join("a")).unwrap_err().contains("is outside of the folder"));
    }
    // Each folder includes the next one twice.
    let doubling = folder(&[]);
    for at in 0..30 {
        let name = |at: usize| doubling.path().join(format!("f{at}"));
        std::fs::create_dir(name(at)).unwrap();
        let next = at + 1;
        let text =
            if at == 29 { "resources: []\n".to_owned() } else { format!("resources: [../f{next}, ../f{next}]\n") };
        std::fs::write(name(at).join("kustomization.yaml"), text).unwrap();
    }
    assert!(built(&doubling.path().join("f0")).unwrap_err().ends_with("more than 1000 kustomizations are read"));
    assert!(built(loops.path().join("a/kustomization.yaml").as_path()).unwrap_err().starts_with("found a file"));
}

#[test]
fn ten_thousand_patches_are_applied() {
    let mut text = "resources: [bases/tab.yaml]\npatches:\n".to_owned();
    for at in 0..10_000 {
        let patch = format!("[{{op: add, path: /metadata/annotations/a, value: \"{at}\"}}]");
        writeln!(text, "- {{target: {{kind: CustomResourceDefinition}}, patch: '{patch}'}}").unwrap();
    }
    let folder = with(&text);
    let started = std::time::Instant::now();
    let built = built(folder.path()).unwrap();
    assert_eq!(built[0]["metadata"]["annotations"]["a"], "9999");
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    // Each of them would copy a large mapping.
    let wide: String = (0..20_000).fold(String::new(), |mut text, at| {
        write!(text, "a{at}: b, ").unwrap();
        text
    });
    std::fs::write(folder.path().join("bases/tab.yaml"), CRD.replace("NAME", "tab").replace("a: b", &wide)).unwrap();
    assert!(super::inputs(&folder.path().to_string_lossy()).unwrap_err().contains("read and write more than"));
}
