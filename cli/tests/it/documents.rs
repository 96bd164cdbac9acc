//! Tests of `kubeshape convert` on whole documents: in every direction, several at once, and with
//! CustomResourceDefinitions.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, json, report};

/// An OpenAPI v2 document, printed as a server prints it.
const V2: &str = concat!(
    r#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"v1.36.0"},"paths":{"/apis/apps/v1/tabs":{"get":{"#,
    r#""produces":["application/json"],"operationId":"listTabs","responses":{"200":{"description":"OK","schema":{"#,
    r##""$ref":"#/definitions/io.k8s.api.apps.v1.TabList"}}}}},"/version/":{"get":{"produces":["application/json"],"##,
    r##""operationId":"getVersion","responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/io.k8s.version.Info"}}}}}},"##,
    r#""definitions":{"io.k8s.api.apps.v1.Tab":{"description":"A tab.","type":"object","properties":{"size":{"#,
    r#""type":"integer","format":"int32"}},"x-kubernetes-group-version-kind":[{"group":"apps","kind":"Tab","version":"v1"}]},"#,
    r#""io.k8s.api.apps.v1.TabList":{"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"#,
    r##""$ref":"#/definitions/io.k8s.api.apps.v1.Tab"}}},"x-kubernetes-group-version-kind":[{"group":"apps","##,
    r#""kind":"TabList","version":"v1"}]},"io.k8s.version.Info":{"type":"object","properties":{"major":{"type":"string"}}}}}"#
);

/// An OpenAPI v3 document of another group version.
const V3: &str = concat!(
    r#"{"openapi":"3.0.0","info":{"title":"Kubernetes","version":"v1.36.0"},"paths":{"/apis/batch/v1/jobs":{"get":{"#,
    r#""operationId":"listJobs","responses":{"200":{"description":"OK","content":{"application/json":{"schema":{"#,
    r##""$ref":"#/components/schemas/io.k8s.api.batch.v1.Job"}}}}}}}},"components":{"schemas":{"io.k8s.api.batch.v1.Job":{"##,
    r#""description":"A job.","type":"object","properties":{"count":{"type":"integer","format":"int32","default":1}},"#,
    r#""x-kubernetes-group-version-kind":[{"group":"batch","kind":"Job","version":"v1"}]}}}}"#
);

/// Returns a minimal document.
fn minimal(path: &str, name: &str, schema: &str) -> String {
    format!(
        r#"{{"openapi":"3.0.0","info":{{"title":"t","version":"1"}},"paths":{{"{path}":{{}}}},"components":{{"schemas":{{"{name}":{schema}}}}}}}"#
    )
}

#[test]
fn a_single_document_is_reprinted() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("v3.json", V3);
    for (shape, text) in [("v2", V2), ("v3", V3)] {
        for profile in ["", "--profile kube", "--profile faithful", "--per single"] {
            let run = folder.run(&format!("convert {shape}.json --to {shape} {profile}"));
            assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (Some(0), "", text), "{shape} {profile}");
        }
        folder.run(&format!("convert {shape}.json --to {shape} -o out")).is_silent();
        let run = folder.pipe(&format!("convert --to {shape}"), text);
        assert_eq!((run.code, run.out.as_str()), (Some(0), text));
    }
    assert_eq!(folder.names("out"), ["openapi.json", "swagger.json"]);
    assert_eq!(folder.read("out/swagger.json"), V2);
}

#[test]
fn all_three_formats_of_a_document_have_the_same_content() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("v3.json", V3);
    for (shape, text) in [("v2", V2), ("v3", V3)] {
        folder.run(&format!("convert {shape}.json --to {shape} -o {shape}.yaml")).is_silent();
        folder.run(&format!("convert {shape}.json --to {shape} -o {shape}.pb")).is_silent();
        folder.run(&format!("convert {shape}.json --to {shape} --format pb -o pb")).is_silent();
        let binary = folder.bytes(&format!("{shape}.pb"));
        assert!(binary.starts_with(b"\x0A") && !binary.starts_with(b"{"));
        let yaml = folder.read(&format!("{shape}.yaml"));
        assert!(yaml.contains("\ninfo:\n  title: Kubernetes\n  version: v1.36.0\npaths:\n"), "{yaml}");
        for input in ["yaml", "pb"] {
            let run = folder.run(&format!("convert {shape}.{input} --to {shape}"));
            assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (Some(0), "", text), "{shape} {input}");
        }
        // By content, not by name.
        let run = folder.pipe(&format!("convert --to {shape}"), binary);
        assert_eq!((run.code, run.out.as_str()), (Some(0), text));
        let pretty = folder.run(&format!("convert {shape}.json --to {shape} --pretty"));
        assert_eq!(json(&pretty.out), json(text));
    }
    assert_eq!(folder.names("pb"), ["openapi.pb", "swagger.pb"]);
}

#[test]
fn what_protobuf_cannot_hold_is_reported_or_refused() {
    let folder = Folder::new();
    folder.write("a.json", minimal("/a", "A", r#"{"type":"object","default":{"b":1}}"#));
    let run = folder.run("convert a.json --to v3 -o a.pb --report r.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let lines = report(&folder.read("r.ndjson"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((lines[0]["code"].as_str(), lines[0]["shape"].as_str()), (Some("KS7002"), Some("v3")));
    assert_eq!(lines[0]["pointer"], "/components/schemas/A/default");
    assert_eq!((lines[0]["input"].as_str(), lines[0]["line"].as_u64()), (Some("a.json"), Some(1)));

    folder.write("b.json", r#"{"openapi":"3.0.0","info":{"title":"t"},"paths":{}}"#);
    folder.run("convert b.json --to v3 -o b.pb").says(1, &["error[KS7001]", "--> b.json:1:", "version"]);
    assert!(!folder.path("b.pb").exists());
}

#[test]
fn documents_are_converted_between_versions() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("v3.json", V3);
    let up = folder.run("convert v2.json --to v3");
    assert_eq!((up.code, up.err.as_str()), (Some(0), ""));
    let document = json(&up.out);
    assert_eq!(document["openapi"], "3.0.0");
    let items = &document["components"]["schemas"]["io.k8s.api.apps.v1.TabList"]["properties"]["items"]["items"];
    assert!(items.to_string().contains("#/components/schemas/io.k8s.api.apps.v1.Tab"), "{items}");
    let down = folder.run("convert v3.json --to v2");
    assert_eq!(down.code, Some(0), "{}", down.err);
    let document = json(&down.out);
    assert_eq!(document["swagger"], "2.0");
    assert_eq!(document["definitions"]["io.k8s.api.batch.v1.Job"]["properties"]["count"]["format"], "int32");
    // The two profiles differ.
    folder.write(
        "alone.json",
        r#"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{},"host":"a.example.com"}"#,
    );
    let faithful = folder.run("convert alone.json --to v3").out;
    let kube = folder.run("convert alone.json --to v3 --profile kube").out;
    assert!(faithful.contains("a.example.com") && !kube.contains("a.example.com"), "{faithful}\n{kube}");
}

#[test]
fn losses_have_a_position_and_can_be_kept() {
    let folder = Folder::new();
    let text = "\
openapi: 3.0.3
info: {title: a, version: '1'}
paths: {}
components:
  schemas:
    A:
      oneOf: [{type: string}, {type: integer}]
";
    folder.write("a.yaml", text);
    let run = folder.run("convert a.yaml --to v2 -o plain.json --report r.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let line = report(&folder.read("r.ndjson")).remove(0);
    assert_eq!((line["code"].as_str(), line["kind"].as_str()), (Some("KS2202"), Some("widened")));
    assert_eq!(line["pointer"], "/components/schemas/A");
    assert_eq!(
        (line["input"].as_str(), line["line"].as_u64(), line["column"].as_u64()),
        (Some("a.yaml"), Some(7), Some(7))
    );
    assert_eq!((line["shape"].as_str(), line["resource"].as_str()), (Some("v2"), None));
    assert!(!folder.read("plain.json").contains("x-kubeshape-loss"));

    folder.run("convert a.yaml --to v2 --keep-losses -o kept.json").says(0, &[]);
    assert!(folder.read("kept.json").contains("x-kubeshape-loss"));
    let original = folder.run("convert a.yaml --to v3").out;
    assert_eq!(folder.run("convert kept.json --to v3").out, original);
}

#[test]
fn documents_have_structured_merge_diff_schemas() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("v3.json", V3);
    let run = folder.run("convert v2.json --to smd");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.starts_with("types:\n") && run.out.contains("- name: io.k8s.api.apps.v1.TabList\n"), "{}", run.out);
    let run = folder.run("convert v3.json --to smd -o x.json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let names: Vec<_> =
        json(&folder.read("x.json"))["types"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names, ["__untyped_atomic_", "__untyped_deduced_", "io.k8s.api.batch.v1.Job"]);
    let preserving = folder.run("convert v3.json --to smd --preserve-unknown");
    assert_ne!(preserving.out, folder.run("convert v3.json --to smd").out);
    folder.run("convert v2.json v3.json --to smd -o out").is_silent();
    let both = folder.read("out/schema.smd.yaml");
    assert!(both.contains("io.k8s.api.apps.v1.Tab\n") && both.contains("io.k8s.api.batch.v1.Job\n"), "{both}");
}

#[test]
fn structured_merge_diff_schemas_are_read_and_written() {
    let folder = Folder::new();
    let yaml = "\
types:
- name: pod
  map:
    fields:
    - name: ports
      type:
        list:
          elementType:
            scalar: numeric
          elementRelationship: associative
";
    folder.write("smd.yaml", yaml);
    let run = folder.run("convert smd.yaml --to smd");
    assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (Some(0), "", yaml));
    folder.run("convert smd.yaml --to smd -o smd.json").is_silent();
    assert_eq!(folder.run("convert smd.json --to smd").out, yaml);
    folder.run("convert smd.yaml --to v3").says(1, &["error[KS1008]", "--> smd.yaml:1:1", "is no document"]);
    folder.write("bad.yaml", "types: [{name: a, zz: 1}]\n");
    folder.run("convert bad.yaml --to smd").says(1, &["error[KS1005]", "--> bad.yaml:1:19", "field not declared"]);
    folder.write("v3.json", V3);
    folder.run("convert smd.yaml v3.json --to smd -o out").says(1, &["error[KS1008]", "--> smd.yaml:1:1", "alone"]);
    assert_eq!(folder.names("out"), ["schema.smd.yaml"], "the others are converted");
}

#[test]
fn kinds_have_json_schemas() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("v3.json", V3).write("a.yaml", crd("widgets", &["v1", "v2"]));
    folder.run("convert v2.json v3.json a.yaml --to jsonschema -o out").says(0, &[]);
    let expected = [
        "Job.batch/v1.schema.json",
        "Tab.apps/v1.schema.json",
        "TabList.apps/v1.schema.json",
        "widgets.example.com/v1.schema.json",
        "widgets.example.com/v2.schema.json",
    ];
    assert_eq!(folder.names("out"), expected);
    let schema = json(&folder.read("out/widgets.example.com/v1.schema.json"));
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["apiVersion"]["const"], "example.com/v1");
    assert!(schema["properties"]["metadata"].to_string().contains("ObjectMeta"), "{schema}");
    assert!(schema.to_string().contains("\"finalizers\""), "{schema}");
    assert!(schema["additionalProperties"].is_null());
    let strict = folder.run("convert v3.json --to jsonschema --strict --draft 7");
    assert_eq!(strict.code, Some(0), "{}", strict.err);
    let strict = json(&strict.out);
    assert_eq!(strict["$schema"], "http://json-schema.org/draft-07/schema#");
    assert_eq!(strict["additionalProperties"], false);
    let one = folder.run("convert v2.json --to jsonschema --kind Tab");
    assert_eq!(json(&one.out)["properties"]["kind"]["const"], "Tab");
    folder.run("convert v2.json --to jsonschema --kind Tub").says(1, &["Tub"]);
}

#[test]
fn documents_without_kinds_have_definitions() {
    let folder = Folder::new();
    folder.write("pets.yaml", minimal("/pets", "Pet", r#"{"type":"object"}"#));
    folder.run("convert pets.yaml --to jsonschema -o out").is_silent();
    folder.run("convert pets.yaml --to v3 --kind Pet -o out").is_silent();
    assert_eq!(folder.names("out"), ["Pet.schema.json", "Pet.v3.json"]);
}

#[test]
fn several_documents_become_one() {
    let folder = Folder::new();
    folder.write("in/v2.json", V2).write("in/v3.json", V3).write("in/a.yaml", crd("widgets", &["v1"]));
    let run = folder.run("convert in --to v3 --to v2 -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(folder.names("out"), ["openapi.json", "swagger.json"]);
    let v3 = json(&folder.read("out/openapi.json"));
    let v2 = json(&folder.read("out/swagger.json"));
    let names = ["io.k8s.api.apps.v1.Tab", "io.k8s.api.batch.v1.Job", "com.example.v1.Widget"];
    let paths = ["/apis/apps/v1/tabs", "/apis/batch/v1/jobs", "/apis/example.com/v1/widgets", "/version/"];
    for name in names {
        assert!(v3["components"]["schemas"][name].is_object(), "{name}");
        assert!(v2["definitions"][name].is_object(), "{name}");
    }
    for path in paths {
        assert!(v3["paths"][path].is_object() && v2["paths"][path].is_object(), "{path}");
    }
    // The result does not depend on the order or the folder, nor on whether the documents are in one file.
    folder.write("one.yaml", format!("{V2}\n---\n{}---\n{V3}\n", crd("widgets", &["v1"])));
    let schemas = |out: &str| json(out)["components"]["schemas"].clone();
    assert_eq!(schemas(&folder.run("convert one.yaml --to v3").out), v3["components"]["schemas"]);
    let other = folder.run("convert in/v3.json in/a.yaml in/v2.json --to v3 --jobs 1");
    assert_eq!(other.out, folder.read("out/openapi.json"));
}

#[test]
fn equal_definitions_are_shared_and_others_renamed() {
    let folder = Folder::new();
    folder.write("a.json", minimal("/a", "A", r#"{"type":"string"}"#));
    folder.write("b.json", minimal("/b", "A", r#"{"type":"string"}"#));
    folder.write("c.json", minimal("/c", "A", r#"{"type":"integer"}"#));
    let run = folder.run("convert a.json b.json c.json --to v3 -o x.json --report r.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let schemas = json(&folder.read("x.json"))["components"]["schemas"].clone();
    assert_eq!(schemas, serde_json::json!({"A": {"type": "string"}, "A_v2": {"type": "integer"}}));
    let lines = report(&folder.read("r.ndjson"));
    let renamed: Vec<_> = lines.iter().filter(|line| line["kind"] == "renamed").collect();
    assert_eq!(renamed.len(), 1, "{lines:?}");
    assert_eq!((renamed[0]["input"].as_str(), renamed[0]["line"].as_u64()), (Some("c.json"), Some(1)));
}

#[test]
fn path_conflicts_name_both_sources() {
    let folder = Folder::new();
    let with = |description: &str| {
        minimal("/a", "A", "{}").replace("\"/a\":{}", &format!("\"/a\":{{\"description\":\"{description}\"}}"))
    };
    folder.write("a.json", with("one")).write("b.json", with("two"));
    let run = folder.run("convert a.json b.json --to v3 -o out");
    run.says(1, &["error[KS4106]", "--> b.json:1:", "a.json", "/a"]);
    assert!(folder.names("out").is_empty());
    // Conflicts with what is published for a CustomResourceDefinition.
    folder.write("crd.yaml", crd("widgets", &["v1"]));
    folder.write("c.json", with("one").replace("\"/a\"", "\"/apis/example.com/v1/widgets\""));
    folder
        .run("convert c.json crd.yaml --to v3 -o out")
        .says(1, &["KS4106", "--> crd.yaml:4:9", "c.json", "in widgets.example.com"]);
}

#[test]
fn a_document_is_split_into_group_versions() {
    let folder = Folder::new();
    folder.write("in/v2.json", V2).write("in/v3.json", V3).write("in/a.yaml", crd("widgets", &["v1"]));
    folder.run("convert in/v2.json --to v3 --per group-version -o one").is_silent();
    assert_eq!(folder.names("one"), ["apis__apps__v1_openapi.json", "version_openapi.json"]);
    let version = json(&folder.read("one/version_openapi.json"));
    let names: Vec<&String> = version["components"]["schemas"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["io.k8s.version.Info"]);
    folder.run("convert in --to v3 --per group-version --format yaml -o all").says(0, &[]);
    let expected = [
        "apis__apps__v1_openapi.yaml",
        "apis__batch__v1_openapi.yaml",
        "apis__example.com__v1_openapi.yaml",
        // Schemas that no path reaches: the kinds that DeleteOptions has for other group versions.
        "components_openapi.yaml",
        "version_openapi.yaml",
    ];
    assert_eq!(folder.names("all"), expected);
    // And merged again.
    let whole = folder.run("convert in/v2.json --to v3");
    assert_eq!(folder.run("convert one --to v3").out, whole.out);
    folder.run("convert in --to v2 --per group-version -o x").says(2, &["there is no v2 result per group-version"]);
}

#[test]
fn a_kind_gets_its_own_document() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert v2.json a.yaml --to v3 --per resource -o out").is_silent();
    assert_eq!(
        folder.names("out"),
        ["Tab.apps/v1.v3.json", "TabList.apps/v1.v3.json", "widgets.example.com/v1.v3.json"]
    );
    let list = json(&folder.read("out/TabList.apps/v1.v3.json"));
    let names: Vec<&String> = list["components"]["schemas"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["io.k8s.api.apps.v1.Tab", "io.k8s.api.apps.v1.TabList"]);
    let inlined = folder.run("convert v2.json --to v3 --kind TabList --inline");
    assert_eq!(inlined.code, Some(0), "{}", inlined.err);
    assert!(!inlined.out.contains("$ref"), "{}", inlined.out);
    folder.run("convert v2.json --to v2 --kind Tab -o x.json").is_silent();
    assert!(json(&folder.read("x.json"))["definitions"]["io.k8s.api.apps.v1.Tab"].is_object());
    folder.run("convert v2.json --to smd --kind Tab -o y.yaml").is_silent();
    assert!(!folder.read("y.yaml").contains("TabList"));
}

#[test]
fn references_are_inlined_within_a_budget() {
    let folder = Folder::new();
    let node = r##"{"type":"object","properties":{"next":{"$ref":"#/components/schemas/Node"}}}"##;
    folder.write("a.json", minimal("/a", "Node", node));
    let kept = folder.run("convert a.json --to v3 --inline");
    assert_eq!(kept.code, Some(0), "{}", kept.err);
    assert!(kept.out.contains("#/components/schemas/Node"), "{}", kept.out);
    let cut = folder.run("convert a.json --to v3 --inline --recursion cut");
    assert_eq!(cut.code, Some(0), "{}", cut.err);
    assert!(!cut.out.contains("$ref") && cut.out.contains("x-kubernetes-preserve-unknown-fields"), "{}", cut.out);
    let mut schemas = vec![r#""L0":{"type":"object"}"#.to_owned()];
    for n in 1..40 {
        let reference = format!(r##"{{"$ref":"#/components/schemas/L{}"}}"##, n - 1);
        schemas.push(format!(r#""L{n}":{{"properties":{{"a":{reference},"b":{reference}}}}}"#));
    }
    let text = minimal("/a", "A", "{}").replace(r#""A":{}"#, &schemas.join(","));
    folder.write("b.json", text);
    folder.run("convert b.json --to v3 --inline").says(1, &["error[KS4112]", "L"]);
    folder.run("convert b.json --to v3 --inline --budget 10").says(1, &["error[KS4112]"]);
    folder.run("convert a.json --to v3 --budget 10").says(2, &["--inline"]);
}

#[test]
fn definitions_are_renamed() {
    let folder = Folder::new();
    folder.write("v2.json", V2);
    let short = folder.run("convert v2.json --to v2 --rename short");
    assert_eq!(short.code, Some(0), "{}", short.err);
    let names: Vec<String> = json(&short.out)["definitions"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["Info", "Tab", "TabList"]);
    assert!(short.out.contains("#/definitions/Tab\""), "{}", short.out);
    folder.write("short.json", &short.out);
    let go = folder.run("convert v2.json --to v3 --rename go");
    assert!(go.out.contains("k8s.io/api/apps/v1.Tab"), "{}", go.out);
    folder.write("go.json", &go.out);
    let back = folder.run("convert go.json --to v3 --rename friendly");
    assert_eq!(back.out, folder.run("convert v2.json --to v3").out);
}

#[test]
fn options_of_documents_apply_to_published_ones() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1", "v2"])).write("b.yaml", crd("gadgets", &["v1"]));
    folder.run("convert . --to v3 --per single -o single.json").is_silent();
    let single = json(&folder.read("single.json"));
    for name in ["com.example.v1.Widget", "com.example.v2.Widget", "com.example.v1.Gadget"] {
        assert!(single["components"]["schemas"][name].is_object(), "{name}");
    }
    std::fs::remove_file(folder.path("single.json")).unwrap();
    folder.run("convert . --to v3 --per group-version --inline -o inlined").says(0, &[]);
    assert_eq!(folder.names("inlined"), ["apis__example.com__v1_openapi.json", "apis__example.com__v2_openapi.json"]);
    folder.run("convert a.yaml --to smd --per single -o smd.yaml").says(0, &[]);
    assert!(folder.read("smd.yaml").contains("com.example.v2.Widget"));
    // Like before.
    folder.run("convert a.yaml b.yaml --to v3 --format pb -o pb").is_silent();
    assert_eq!(folder.names("pb"), ["apis__example.com__v1_openapi.pb", "apis__example.com__v2_openapi.pb"]);
    folder.run("convert a.yaml b.yaml --to v3 --kind Gadget -o kind").is_silent();
    assert_eq!(folder.names("kind"), ["gadgets.example.com/v1.v3.json"]);
}

#[test]
fn options_that_can_be_combined_with_documents_and_others() {
    let folder = Folder::new();
    folder.write("v2.json", V2).write("base.json", V2).write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert v2.json a.yaml --to v2 --onto base.json -o x.json").says(2, &["--onto"]);
    assert!(!folder.path("x.json").exists());
    folder.run("convert v2.json --to structural -o out").says(1, &["error[KS1008]", "no structural schema"]);
    folder.run("convert v2.json a.yaml --to structural -o out --report r.ndjson").says(0, &[]);
    assert_eq!(folder.names("out"), ["widgets.example.com/v1.structural.yaml"]);
    assert_eq!(report(&folder.read("r.ndjson"))[0]["code"], "KS1009");
    // A fragment is a document, too.
    folder.write("fragment.json", r#"{"definitions":{"A":{"type":"string"}}}"#);
    let run = folder.run("convert fragment.json --to smd");
    assert_eq!(run.code, Some(0), "{}", run.err);
    // The summary counts documents.
    let run = folder.run("convert v2.json a.yaml --to v2 -o y.json --progress always");
    run.says(0, &["read      2 files, 2 documents: 1 CustomResourceDefinition with 1 version, 1 OpenAPI document"]);
}
