//! Tests of small inputs with large results, and of work that grows with its input.

use crate::common::{Folder, crd};
use serde_json::{Value, json};
use std::fs;

/// Returns a document with `count` kinds, each with these members.
fn document(count: usize, definition: impl Fn(usize) -> Value) -> String {
    let definitions: serde_json::Map<String, Value> =
        (0..count).map(|n| (format!("com.example.v1.K{n}"), definition(n))).collect();
    let document = json!({
        "swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {}, "definitions": definitions
    });
    document.to_string()
}

/// Joins lines, each with a line end.
fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn gvk(kind: &str) -> Value {
    json!({"group": "example.com", "version": "v1", "kind": kind})
}

/// Returns kinds where each refers to the next one.
fn chain(count: usize) -> String {
    document(count, |n| {
        let next = format!("#/definitions/com.example.v1.K{}", (n + 1).min(count - 1));
        json!({"properties": {"x": {"$ref": next}}, "x-kubernetes-group-version-kind": [gvk(&format!("K{n}"))]})
    })
}

/// Returns one definition of many kinds.
fn many_kinds(count: usize) -> String {
    document(1, |_| {
        let kinds: Vec<Value> = (0..count).map(|n| gvk(&format!("K{n}"))).collect();
        json!({"type": "object", "x-kubernetes-group-version-kind": kinds})
    })
}

/// Returns kinds where each refers twice to the next one and has a long description.
fn doubling(count: usize) -> String {
    document(count, |n| {
        let next = json!({"$ref": format!("#/definitions/com.example.v1.K{}", n + 1)});
        let text = "x".repeat(10_000);
        let properties = if n + 1 == count { json!({}) } else { json!({"a": next, "b": next}) };
        json!({
            "description": text, "properties": properties, "x-kubernetes-group-version-kind": [gvk(&format!("K{n}"))]
        })
    })
}

/// Returns a body that all operations share, in many media types. In OpenAPI v3, each operation has a copy for each of
/// them.
fn shared_body(count: usize) -> String {
    let types: Vec<String> = (0..count).map(|n| format!("a/b{n}")).collect();
    let post = json!({"post": {"parameters": [{"$ref": "#/parameters/body"}], "responses": {}}});
    let paths: serde_json::Map<String, Value> = (0..count).map(|n| (format!("/x{n}"), post.clone())).collect();
    let body = json!({"name": "b", "in": "body", "schema": {"description": "x".repeat(1000)}});
    let info = json!({"title": "t", "version": "1"});
    json!({"swagger": "2.0", "info": info, "consumes": types, "parameters": {"body": body}, "paths": paths}).to_string()
}

/// Returns a form that all operations share. In OpenAPI v2, each operation has a copy of its fields.
fn shared_form(count: usize) -> String {
    let post = json!({"post": {"requestBody": {"$ref": "#/components/requestBodies/b"}, "responses": {}}});
    let paths: serde_json::Map<String, Value> = (0..count).map(|n| (format!("/x{n}"), post.clone())).collect();
    let fields: serde_json::Map<String, Value> =
        (0..count).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
    let body = json!({"content": {"multipart/form-data": {"schema": {"properties": fields}}}});
    let info = json!({"title": "t", "version": "1"});
    json!({"openapi": "3.0.0", "info": info, "paths": paths, "components": {"requestBodies": {"b": body}}}).to_string()
}

#[test]
fn results_above_the_limit_are_an_error_with_a_position() {
    let folder = Folder::new();
    folder.write("chain.json", chain(400)).write("kinds.json", many_kinds(400)).write("double.json", doubling(12));
    folder.write("body.json", shared_body(200)).write("form.json", shared_form(400));
    folder.write("crd.yaml", crd("widgets", &["v1"]));
    for (input, to) in [
        ("chain", "jsonschema"),
        ("chain", "jsonschema --strict --draft 7"),
        ("chain", "v3 --per resource"),
        ("chain", "v2 --per resource"),
        ("chain", "smd --per resource"),
        ("kinds", "jsonschema"),
        ("kinds", "v3 --per resource"),
        ("kinds", "v2 --per resource --pretty"),
        ("body", "v3"),
        ("body", "v3 --pretty"),
        ("body", "v3,v2,jsonschema"),
        ("body", "v3 --per group-version"),
        ("form", "v2"),
        ("form", "v3 --per group-version"),
        ("double", "v3 --inline"),
        ("double", "v3 --inline --per resource"),
        ("double", "v3 --inline --kind K0"),
    ] {
        // If they were inlined, both would be one document.
        let other = if matches!(input, "chain" | "kinds") { "crd.yaml" } else { "" };
        let run = folder.run(&format!("convert {input}.json {other} --to {to} -o out/ --max-output 1MiB"));
        assert_eq!(run.code, Some(1), "{input} {to}: {}", run.err);
        let code = if input == "double" { "error[KS4112]" } else { "error[KS1102]" };
        assert!(run.err.contains(code) && run.err.contains(&format!("{input}.json")), "{input} {to}: {}", run.err);
        let written: u64 = folder.tree("out").values().map(|bytes| bytes.len() as u64).sum();
        assert!(written <= 1 << 20, "{input} {to}: {written} bytes");
        // The results of the CustomResourceDefinition exist.
        if to.starts_with("jsonschema") {
            assert_eq!(folder.names("out"), ["widgets.example.com/v1.schema.json"]);
        }
        let _ = fs::remove_dir_all(folder.path("out"));
    }
    // With a higher limit there is a result.
    let run = folder.run("convert kinds.json --to jsonschema -o out/ --max-output 100MiB");
    assert_eq!((run.code, folder.names("out").len()), (Some(0), 400), "{}", run.err);
}

#[test]
fn a_resource_has_its_own_budget() {
    let folder = Folder::new();
    let fields: String = lines((0..10_000).map(|n| format!("              f{n}: {{type: string}}")));
    folder.write("large.yaml", crd("widgets", &["v1"]) + &fields).write("small.yaml", crd("gadgets", &["v1"]));
    for shape in ["jsonschema", "structural", "v3 --per resource", "smd"] {
        let run = folder.run(&format!("convert large.yaml small.yaml --to {shape} -o out/ --max-output 150KiB"));
        run.says(1, &["error[KS1102]", "large.yaml:"]);
        let names = folder.names("out");
        assert!(names.len() == 1 && names[0].starts_with("gadgets."), "{names:?}");
        fs::remove_dir_all(folder.path("out")).expect("a folder");
    }
}

#[test]
fn sizes_have_units() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    for size in ["1", "1MB", "x", "-1", "+1", "0", "1.5GiB", "99999999TiB", "18446744073709551616"] {
        let run = folder.run(&format!("convert a.yaml --to v2 --max-output={size}"));
        if size == "1" {
            assert_eq!(run.code, Some(0), "the merged document of resources grows with them");
        } else {
            run.says(2, &["--max-output", "expected a number of bytes, such as 65536, 64MiB or 4GiB"]);
        }
    }
}

#[test]
fn results_of_several_documents_share_a_budget() {
    let folder = Folder::new();
    folder.write("a.json", many_kinds(400)).write("b.json", chain(400));
    let schema = "types:\n".to_owned() + &lines((0..1000).map(|n| format!("- name: t{n}\n  scalar: string")));
    folder.write("smd.yaml", schema);
    for line in [
        "a.json b.json --to v2 --per single",
        "a.json b.json --to v2 --per single --pretty",
        "a.json b.json --to v3 --per single",
        "a.json --to kustomize",
        "a.json b.json --to kustomize",
        "smd.yaml --to smd",
    ] {
        let run = folder.run(&format!("convert {line} -o out/ --max-output 10KiB"));
        run.says(1, &["error[KS1102]"]);
        assert!(folder.tree("out").is_empty(), "{line}: {:?}", folder.names("out"));
        let run = folder.run(&format!("convert {line} -o out/"));
        assert_eq!((run.code, folder.names("out").len()), (Some(0), 1), "{line}: {}", run.err);
        fs::remove_dir_all(folder.path("out")).expect("a folder");
    }
}

/// In each format, the results are a quarter larger than the memory that may be used. They come from 130 kB.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_inlined_results() {
    // The memory of a run without a large result, mostly stacks of threads.
    const MEBIBYTES: u64 = 112;
    let folder = Folder::new();
    folder.write("double.json", doubling(13)).write("small.json", doubling(2));
    let limited = |line: &str| {
        let program = env!("CARGO_BIN_EXE_kubeshape");
        let script = format!("ulimit -d {}; exec {program} {line}", MEBIBYTES << 10);
        let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path(".")).output();
        output.expect("a run")
    };
    for options in ["", "--pretty", "--per resource --format yaml"] {
        for (input, least) in [("small", 1 << 10), ("double", 5 * (MEBIBYTES << 18))] {
            let line = format!("convert {input}.json --to v3 --inline {options} -o out/ -q --jobs 1");
            let output = limited(&line);
            assert_eq!(output.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            let written: u64 = folder.tree("out").values().map(|bytes| bytes.len() as u64).sum();
            assert!(written > least, "{line}: {written} bytes");
            fs::remove_dir_all(folder.path("out")).expect("a folder");
        }
    }
}

/// Returns the processor time of a run in seconds: the minimum of several runs.
#[cfg(target_os = "linux")]
pub(crate) fn work(folder: &Folder, line: &str, runs: usize) -> f64 {
    let program = env!("CARGO_BIN_EXE_kubeshape");
    let script = format!("TIMEFORMAT='%U %S'; time {program} {line} >/dev/null 2>/dev/null");
    let run = || {
        let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path(".")).output();
        let output = output.expect("a run");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let times: Vec<f64> = text.split_whitespace().filter_map(|time| time.parse().ok()).collect();
        assert_eq!(times.len(), 2, "{text}");
        times[0] + times[1]
    };
    (0..runs).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// An input that is four times as large takes at most about four times as much work.
#[cfg(target_os = "linux")]
#[test]
fn work_grows_only_linearly_with_the_input() {
    let folder = Folder::new();
    let sizes = [2_000, 8_000].map(|n| n / kubeshape_corpus::one_in(2));
    for n in sizes {
        let lossy: String =
            lines((0..n).map(|n| format!("              f{n}: {{type: string, nullable: true, pattern: a}}")));
        folder.write(&format!("lossy{n}.yaml"), crd("widgets", &["v1"]) + &lossy);
        let object = |n: usize, data: &str| {
            format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c{n}, namespace: d}}\n  {data}\n")
        };
        let list = |data: &str| -> String {
            "apiVersion: v1\nkind: List\nitems:\n".to_owned() + &(0..n).map(|n| object(n, data)).collect::<String>()
        };
        folder.write(&format!("list{n}.yaml"), list("data: {a: b}"));
        folder.write(&format!("wrong{n}.yaml"), list("data: [a]"));
        folder.write(&format!("documents{n}.yaml"), "---\na: 1\n".repeat(5 * n));
        let definition = |plural: String| crd(&plural, &["v1"]) + "              f: {type: string}\n---\n";
        folder.write(
            &format!("definitions{n}.yaml"),
            (0..n / 4).map(|n| definition(format!("w{n}s"))).collect::<String>(),
        );
        folder.write(&format!("others{n}.yaml"), (0..n / 4).map(|n| definition(format!("x{n}s"))).collect::<String>());
        folder.write(&format!("objects{n}.json"), "{\"a\": 1} ".repeat(5 * n));
        // All on one line.
        folder.write(
            &format!("line{n}.yaml"),
            list("data: [a]").lines().fold(String::from("{apiVersion: v1, kind: List, items: ["), |mut out, line| {
                if line.starts_with("- ") {
                    out.push_str("{apiVersion: v1, kind: ConfigMap, metadata: {name: ");
                    out.push_str(&out.len().to_string());
                    out.push_str("}, data: [a]},\u{20}");
                }
                out
            }) + "]}\n",
        );
    }
    for line in [
        "check documentsN.yaml",
        "check objectsN.json --level info --output-format json",
        "validate documentsN.yaml --output-format short",
        "validate objectsN.json",
        "lifecycle warn documentsN.yaml",
        "diff definitionsN.yaml othersN.yaml --output-format short",
        "convert lossyN.yaml --to smd -o out.yaml --report r.ndjson -q",
        "convert lossyN.yaml --to v2,v3,jsonschema,structural -o out --report r.ndjson -q",
        "convert lossyN.yaml --to v2 -o out --report r.sarif -q",
        "convert lossyN.yaml --to v2 -o out --output-format json --allow KS2001",
        "apply --field-manager ci listN.yaml",
        "apply --field-manager ci wrongN.yaml --output-format short",
        "apply --field-manager ci lineN.yaml --output-format json",
        "update --field-manager ci --live listN.yaml listN.yaml",
        "blame listN.yaml",
        "compare listN.yaml listN.yaml",
        "compare listN.yaml wrongN.yaml",
        "fieldset listN.yaml",
        "extract --field-manager ci listN.yaml",
    ] {
        let works = |runs| sizes.map(|n| work(&folder, &line.replace('N', &n.to_string()), runs));
        // A factor of sixteen would mean quadratic work. Times that are too short to measure get a minimum value.
        let is_linear = |[small, large]: [f64; 2]| large < 8.0 * small.max(0.05);
        // Other work on the machine can disturb a single run.
        if !is_linear(works(1)) {
            let times = works(3);
            assert!(is_linear(times), "{line}: {times:?} s");
        }
    }
}

#[test]
fn findings_about_documents_above_a_limit_are_only_counted() {
    let folder = Folder::new();
    folder.write("a.yaml", "---\na: 1\n".repeat(3_000)).write("b.yaml", "---\n- 1\n".repeat(1_001));
    let run = folder.run("validate a.yaml b.yaml --output-format short");
    let lines: Vec<&str> = run.out.lines().collect();
    let place = "a.yaml:2002:1: error[KS8001]: No schema is known for the apiVersion and kind of an object";
    assert!(lines[1_000].starts_with(place), "{}", lines[1_000]);
    assert!(lines[1_000].ends_with("2000 more findings of this kind are not shown"), "{}", lines[1_000]);
    assert!(lines[2_001].ends_with("1 more finding of this kind is not shown"), "{}", lines[2_001]);
    assert_eq!(lines.len(), 2_002);
    assert_eq!(run.code, Some(1));
    let summary = folder.run("validate a.yaml").out;
    let last: Vec<&str> = summary.lines().rev().take(2).collect();
    assert_eq!(last[1], "3000 objects: 0 accepted by Kubernetes 1.37, 0 refused, 3000 of unknown kinds");
    // Documents that are not definitions, and documents that cannot be read.
    folder.write("broken.yaml", "---\n]\n".repeat(3_000));
    for (line, more) in [
        ("check a.yaml --level info --output-format short", "2000 more findings of this kind are not shown"),
        ("check broken.yaml --output-format short", "2000 more findings of this kind are not shown"),
        ("validate broken.yaml --output-format short", "2000 more findings of this kind are not shown"),
    ] {
        let run = folder.run(line);
        assert!(run.out.lines().filter(|line| line.contains(".yaml:")).count() <= 1_002, "{line}");
        assert!(run.out.contains(more), "{line}: {}", run.out.lines().last().unwrap_or_default());
    }
}
