//! Tests of `kubeshape convert` on good input: what is read, what is written, and that nothing depends on order or
//! threads.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, gzip, json, report};

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn one_result_goes_to_standard_output() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    for line in ["convert a.yaml --to v3", "convert a.yaml --to v3 -o -"] {
        let run = folder.run(line);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        let document = json(&run.out);
        assert_eq!(document["openapi"], "3.0.0");
        assert!(document["components"]["schemas"]["com.example.v1.Widget"]["properties"]["spec"].is_object());
        assert!(!run.out.ends_with('\n'), "bytes that are hashed get no line break");
    }
}

#[test]
fn more_than_one_result_needs_a_folder() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1", "v2"]));
    let run = folder.run("convert a.yaml --to v3");
    run.says(2, &["more than one result", "give a folder with `-o`"]);
    assert_eq!(run.out, "");
    folder.run("convert a.yaml --to v3 -o x.json").says(2, &["more than one result"]);
    assert_eq!(folder.names("."), ["a.yaml"]);
    let run = folder.run("convert a.yaml --to v2");
    assert_eq!((run.code, json(&run.out)["swagger"].as_str()), (Some(0), Some("2.0")));
}

#[test]
fn a_folder_gets_a_file_for_every_result() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("widgets", &["v1", "v1beta1"])).write("crds/b/b.json", crd("gadgets", &["v1"]));
    folder.run("convert crds --to v3 --to v2 --to smd --to structural -o out/deep").is_silent();
    let expected = [
        "apis__example.com__v1_openapi.json",
        "apis__example.com__v1beta1_openapi.json",
        "gadgets.example.com/schema.smd.yaml",
        "gadgets.example.com/v1.structural.yaml",
        "swagger.json",
        "widgets.example.com/schema.smd.yaml",
        "widgets.example.com/v1.structural.yaml",
        "widgets.example.com/v1beta1.structural.yaml",
    ];
    assert_eq!(folder.names("out/deep"), expected);
    let v1 = json(&folder.read("out/deep/apis__example.com__v1_openapi.json"));
    let schemas = v1["components"]["schemas"].as_object().unwrap();
    assert!(schemas.contains_key("com.example.v1.Widget") && schemas.contains_key("com.example.v1.GadgetList"));
    assert!(folder.read("out/deep/widgets.example.com/schema.smd.yaml").starts_with("types:\n"));
    let structural = "\
type: object
properties:
  spec:
    type: object
    properties:
      size:
        type: integer
        default: 1
";
    assert_eq!(folder.read("out/deep/widgets.example.com/v1.structural.yaml"), structural);

    folder.run("convert crds --to v3 --to v2 --per resource -o each").is_silent();
    let expected = [
        "gadgets.example.com/v1.v2.json",
        "gadgets.example.com/v1.v3.json",
        "widgets.example.com/v1.v2.json",
        "widgets.example.com/v1.v3.json",
        "widgets.example.com/v1beta1.v2.json",
        "widgets.example.com/v1beta1.v3.json",
    ];
    assert_eq!(folder.names("each"), expected);
}

#[test]
fn all_formats_have_the_same_content() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.run("convert a.yaml --to v2 -o compact.json").is_silent();
    folder.run("convert a.yaml --to v2 -o pretty.json --pretty").is_silent();
    folder.run("convert a.yaml --to v2 -o x.yaml").is_silent();
    folder.run("convert a.yaml --to smd -o smd.json").is_silent();
    folder.run("convert a.yaml --to smd --to structural --format json --pretty -o out").is_silent();
    let (compact, pretty) = (folder.read("compact.json"), folder.read("pretty.json"));
    assert_eq!(json(&compact), json(&pretty));
    assert!(!compact.contains('\n') && pretty.starts_with("{\n  \"swagger\": \"2.0\",\n") && pretty.ends_with("\n}\n"));
    assert!(
        folder
            .read("x.yaml")
            .starts_with("swagger: \"2.0\"\ninfo:\n  title: Kubernetes\n  version: unversioned\npaths:\n")
    );
    assert!(json(&folder.read("smd.json"))["types"].is_array());
    assert_eq!(json(&folder.read("out/widgets.example.com/schema.smd.json")), json(&folder.read("smd.json")));
    assert_eq!(json(&folder.read("out/widgets.example.com/v1.structural.json"))["type"], "object");
}

#[test]
fn standard_input_is_read_if_nothing_else_is_named() {
    let folder = Folder::new();
    for line in ["convert --to v3", "convert - --to v3", "convert - - --to v3"] {
        let run = folder.pipe(line, crd("widgets", &["v1"]));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        assert!(json(&run.out)["paths"]["/apis/example.com/v1/namespaces/{namespace}/widgets"].is_object());
    }
    folder.pipe("convert --to v3", "").says(1, &["error[KS1008]", "--> -"]);
}

#[test]
fn compressed_input_is_read() {
    let folder = Folder::new();
    folder.write("plain/a.yaml", crd("widgets", &["v1"])).write("plain/b.yml", crd("gadgets", &["v1"]));
    folder
        .write("packed/a.yaml.gz", gzip(&crd("widgets", &["v1"])))
        .write("packed/b.json.zst", zstd(&crd("gadgets", &["v1"])));
    folder.run("convert plain --to v3 --to v2 -o one").is_silent();
    folder.run("convert packed --to v3 --to v2 -o two").is_silent();
    assert_eq!(folder.tree("one"), folder.tree("two"));
    let run = folder.pipe("convert --to v3", gzip(&crd("widgets", &["v1"])));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    folder.write("bad.yaml.gz", "a: 1").run("convert bad.yaml.gz --to v3").says(1, &["KS1007", "the name ends in .gz"]);
    let half = gzip(&crd("widgets", &["v1"]));
    folder.write("half.yaml.gz", &half[..half.len() / 2]).run("convert half.yaml.gz --to v3").says(1, &["KS1007"]);
}

#[test]
fn lists_and_streams_hold_several_crds() {
    let folder = Folder::new();
    let (a, b) = (crd("widgets", &["v1"]), crd("gadgets", &["v1"]));
    let indented = |text: &str| {
        let mut lines = text.lines();
        let first = format!("- {}\n", lines.next().unwrap());
        lines.fold(first, |out, line| format!("{out}  {line}\n"))
    };
    let list = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nitems:\n{}{}", indented(&a), indented(&b));
    folder.write("stream.yaml", format!("# first\n---\n{a}---\n\n---\n{b}...\n"));
    folder.write("list.yaml", list("List"));
    folder.write(
        "typed.yaml",
        list("CustomResourceDefinitionList").replace("apiVersion: v1\n", "apiVersion: apiextensions.k8s.io/v1\n"),
    );
    folder.write("crlf.yaml", format!("\u{feff}{}", format!("{a}---\n{b}").replace('\n', "\r\n")));
    for name in ["stream", "list", "typed", "crlf"] {
        folder.run(&format!("convert {name}.yaml --to v3 --to smd --per resource -o {name}")).is_silent();
        assert_eq!(folder.names(name).len(), 4);
        assert_eq!(folder.tree(name), folder.tree("stream"), "{name}");
    }
}

#[test]
fn files_without_a_crd_are_skipped_in_folders_and_counted() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"])).write("in/b.yaml", "kind: ConfigMap\napiVersion: v1\n");
    folder.write("in/c.txt", "{{").write("in/d.yaml", "# nothing\n");
    folder.run("convert in --to v3 -o out").is_silent();
    assert_eq!(folder.names("out"), ["apis__example.com__v1_openapi.json"]);
    let run = folder.run("convert in --to v3 -o out --progress always --report skipped.ndjson");
    run.says(
        0,
        &[
            "read      3 files, 2 documents: 1 CustomResourceDefinition with 1 version",
            "skipped   1 object, failed 0 inputs",
        ],
    );
    let lines = report(&folder.read("skipped.ndjson"));
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0]["code"].as_str(), lines[0]["input"].as_str()), (Some("KS1009"), Some("in/b.yaml")));
    assert_eq!(lines[0]["detail"], "found v1 ConfigMap, expected a CustomResourceDefinition or an OpenAPI document");

    folder
        .run("convert in --to v3 -o out --strict-input")
        .says(1, &["in/b.yaml:1:1", "in/d.yaml", "KS1008", "--strict-input"]);
    folder.run("convert in/b.yaml --to v3 -o out").says(1, &["error[KS1008]", "--> in/b.yaml"]);
    folder.run("convert in/a.yaml in/d.yaml --to v3 -o out").says(1, &["error[KS1008]", "--> in/d.yaml"]);
}

#[test]
fn neither_threads_nor_the_order_of_inputs_change_the_results() {
    let folder = Folder::new();
    let names: Vec<String> =
        (0..40u8).map(|n| format!("w{}s", char::from(b'a' + n % 26).to_string().repeat(1 + n as usize / 26))).collect();
    for (n, name) in names.iter().enumerate() {
        // Some occur twice, so that the order decides which one counts.
        let versions: &[&str] = if n % 2 == 0 { &["v1"] } else { &["v1", "v2"] };
        folder.write(&format!("in/{}/{name}.yaml", n % 3), crd(name, versions));
        folder.write(&format!("in/{}/z{n}.yaml", n % 4), crd(&names[n / 2], &["v1", "v3"]));
    }
    folder.write("in/0/broken.yaml", "a: [").write("in/1/other.yaml", "kind: Other\n");
    for which in ["first", "last"] {
        let line = |inputs: &str, jobs: u8, out: &str| {
            let shapes = "--to v3 --to v2 --to smd --to structural";
            folder.run(&format!(
                "convert {inputs} {shapes} -o {out}/all --report {out}/report.ndjson --jobs {jobs} --duplicates {which}"
            ))
        };
        let expected = line("in", 1, "a");
        expected.says(1, &["in/0/broken.yaml"]);
        for (inputs, jobs) in [("in", 2), ("in", 16), ("in/2 in/1 in/0 in/3", 3), ("in/3 ./in in/0 in/1/", 5)] {
            std::fs::remove_dir_all(folder.path("b")).ok();
            let run = line(inputs, jobs, "b");
            // The line breaks differ, because the names are longer.
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&run.err.replace("./in/", "in/")), words(&expected.err), "{inputs} {jobs}");
            let without_prefix = |tree: std::collections::BTreeMap<String, Vec<u8>>| -> Vec<(String, String)> {
                tree.into_iter()
                    .map(|(name, text)| (name, String::from_utf8_lossy(&text).replace("./in/", "in/")))
                    .collect()
            };
            assert_eq!(without_prefix(folder.tree("b")), without_prefix(folder.tree("a")), "{which} {inputs} {jobs}");
        }
        std::fs::remove_dir_all(folder.path("a")).unwrap();
    }
}

#[test]
fn one_of_two_crds_with_the_same_name_counts() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1", "v2"])).write("in/b.yaml", crd("widgets", &["v1", "v3"]));
    let files = |out: &str| -> Vec<String> {
        folder.names(out).into_iter().filter(|name| name.contains("v3.json") || name.starts_with("apis")).collect()
    };
    let v1 = "widgets.example.com/v1.v3.json";
    let run = folder.run("convert in --to v3 --per resource -o first");
    run.says(
        0,
        &[
            "warning[KS4001]: in/b.yaml:4:9: ",
            "Duplicate CustomResourceDefinition: widgets.example.com ignored; using in/a.yaml:4:9",
        ],
    );
    assert_eq!(files("first"), [v1, "widgets.example.com/v2.v3.json"]);

    let run = folder.run("convert in --to v3 --per resource -o last --duplicates last --report last.ndjson");
    run.says(
        0,
        &["warning[KS4001]: in/b.yaml:4:9: ", "widgets.example.com in in/a.yaml:4:9 ignored; using in/b.yaml:4:9"],
    );
    assert_eq!(files("last"), [v1, "widgets.example.com/v3.v3.json"]);
    assert_eq!(
        report(&folder.read("last.ndjson")).iter().map(|l| l["code"].as_str().unwrap()).collect::<Vec<_>>(),
        ["KS4001"]
    );

    folder.run("convert in --to v3 -o merged --duplicates last").says(0, &["KS4001"]);
    assert_eq!(files("merged"), ["apis__example.com__v1_openapi.json", "apis__example.com__v3_openapi.json"]);

    let run = folder.run("convert in --to v3 --per resource -o error --duplicates error");
    run.says(1, &["error[KS4002]", "--> in/b.yaml:4:9", "widgets.example.com is already defined in in/a.yaml:4:9"]);
    assert_eq!(files("error"), files("first"));
}

#[test]
fn losses_of_an_overridden_crd_are_not_reported() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"])).write("in/b.yaml", crd("widgets", &["v1"]));
    for (which, input) in [("first", "in/a.yaml"), ("last", "in/b.yaml")] {
        for to in ["r.ndjson", "-"] {
            let run = folder.run(&format!("convert in --to v2 -o x.json --report {to} --duplicates {which}"));
            assert_eq!(run.code, Some(0));
            let lines = if to == "-" { report(&run.out) } else { report(&folder.read(to)) };
            let losses: Vec<_> = lines.iter().filter(|line| line["kind"] == "dropped").collect();
            assert!(!losses.is_empty() && losses.iter().all(|line| line["input"] == input), "{losses:?}");
        }
    }
}

#[test]
fn versions_that_are_not_served_are_published_on_demand() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1", "v2"]).replacen("served: true", "served: false", 1));
    // This is not an error, so it is shown only if requested.
    folder.run("convert a.yaml --to v3 -o served").is_silent();
    folder.run("convert a.yaml --to v3 -o served -v").says(0, &["note[KS4003]: ", "--> a.yaml:10:5", "v1"]);
    assert_eq!(folder.names("served"), ["apis__example.com__v2_openapi.json"]);
    folder.run("convert a.yaml --to v3 -o all --all-versions").is_silent();
    assert_eq!(folder.names("all"), ["apis__example.com__v1_openapi.json", "apis__example.com__v2_openapi.json"]);
}

#[test]
fn resources_are_merged_onto_a_document() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    folder.write(
        "base.json",
        r#"{"swagger":"2.0","info":{"title":"Mine","version":"1"},"paths":{"/x":{}},"definitions":{}}"#,
    );
    let run = folder.run("convert a.yaml --to v2 --onto base.json");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let document = json(&run.out);
    assert_eq!(document["info"]["title"], "Mine");
    assert!(document["paths"]["/x"].is_object() && document["definitions"]["com.example.v1.Widget"].is_object());
    folder.run("convert a.yaml --to v2 --onto missing.json").says(2, &["cannot read missing.json"]);
    folder
        .write("no.json", "{}")
        .run("convert a.yaml --to v2 --onto no.json")
        .says(2, &["cannot read no.json", "swagger"]);
}

#[test]
fn a_cluster_s_own_documents_are_a_base() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    let old = "convert a.yaml --to v3 --kubernetes 1.36";
    let own = folder.run(&format!("{old} -o base/apis__example.com__v1_openapi.json"));
    assert_eq!(own.code, Some(0), "{}", own.err);
    let own = folder.run(old);
    let with_base = folder.run("convert a.yaml --to v3 --base base");
    assert_eq!(with_base.out, own.out);
    folder.write("bad/x.json", "[").run("convert a.yaml --to v3 --base bad").says(2, &["cannot read"]);
    folder.run("convert a.yaml --to v3 --base missing").says(2, &["cannot read missing"]);
}
