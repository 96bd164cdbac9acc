//! Runs the commands of README and of the guides as they are written.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use std::fs;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the text of a page between a line with "```sh" and the next "```".
fn commands(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in page.lines() {
        match (line, inside) {
            ("```sh", false) => inside = true,
            ("```", true) => inside = false,
            (line, true) => found.push(line.to_owned()),
            _ => {}
        }
    }
    found
}

/// Each page has a copy of `docs/demo/`. A line with `# exit N` says that a command ends with a code other than 0.
#[test]
fn the_commands_of_the_pages_do_what_the_pages_say() {
    let mut pages = vec![format!("{ROOT}/README.md")];
    let guides = fs::read_dir(format!("{ROOT}/docs")).unwrap().map(|entry| entry.unwrap().path());
    let guides = guides.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.extend(guides.map(|path| path.display().to_string()));
    let mut run = 0;
    for page in pages {
        let folder = Folder::new();
        for demo in ["docs/demo", "docs/demo/policies"] {
            let files = fs::read_dir(format!("{ROOT}/{demo}")).unwrap().map(|entry| entry.unwrap().path());
            for path in files.filter(|path| path.is_file()) {
                folder.write(&format!("{demo}/{}", path.file_name().unwrap().display()), fs::read(&path).unwrap());
            }
        }
        for line in commands(&fs::read_to_string(&page).unwrap()) {
            let (command, code) = match line.split_once("  # exit ") {
                Some((command, code)) => (command, code.trim().parse().unwrap()),
                None => (line.as_str(), 0),
            };
            let arguments = command.strip_prefix("kubeshape ").unwrap_or_else(|| panic!("{page}: {line}"));
            let ended = folder.run(arguments);
            assert_eq!(ended.code, Some(code), "{page}: {line}\n{}", ended.err);
            run += 1;
        }
    }
    assert!(run >= 8, "{run} commands were found");
}

/// The messages that the pages show are those of the command.
#[test]
fn the_messages_of_the_pages_are_those_of_the_command() {
    let folder = Folder::new();
    for name in ["widgets.yaml", "widget.yaml", "live.yaml", "mistyped.yaml"] {
        folder.write(&format!("docs/demo/{name}"), fs::read(format!("{ROOT}/docs/demo/{name}")).unwrap());
    }
    for (page, line) in [
        (
            "README.md",
            "apply --schemas docs/demo/widgets.yaml --live docs/demo/live.yaml --field-manager ci docs/demo/widget.yaml",
        ),
        (
            "docs/argo-cd.md",
            "apply --schemas docs/demo/widgets.yaml --field-manager argocd-controller docs/demo/mistyped.yaml",
        ),
    ] {
        let page = fs::read_to_string(format!("{ROOT}/{page}")).unwrap();
        let said = folder.run(line).err;
        let first = said.lines().next().unwrap();
        let shown =
            page.split("```").find(|block| block.trim_start().starts_with(first)).unwrap_or_else(|| panic!("{first}"));
        assert!(said.starts_with(shown.trim()), "{said}\n{shown}");
    }
}

/// The picture in the README shows what the commands print.
#[test]
fn the_recording_is_what_the_command_prints() {
    let folder = Folder::new();
    for name in ["backups.yaml", "widgets.yaml", "mistyped.yaml"] {
        folder.write(&format!("docs/demo/{name}"), fs::read(format!("{ROOT}/docs/demo/{name}")).unwrap());
    }
    let svg = fs::read_to_string(format!("{ROOT}/docs/recording.svg")).unwrap();
    let mut shown = String::new();
    for part in svg.split_once("<text").unwrap().1.split('<') {
        shown.push_str(part.split_once('>').unwrap().1);
    }
    let shown = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut printed = String::new();
    for command in ["check docs/demo/backups.yaml", "validate --schemas docs/demo/widgets.yaml docs/demo/mistyped.yaml"]
    {
        let run = folder.run(command);
        printed.extend(["$ kubeshape ", command, "\n", &run.out, &run.err]);
    }
    assert_eq!(words(&shown), words(&printed), "the picture is stale: run `cargo xtask recording`");
}

/// Formats a number of bytes as the pages write it.
fn bytes(count: usize) -> String {
    match count {
        count if count.is_multiple_of(1 << 30) => format!("{} GiB", count >> 30),
        count if count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count => format!("{}.{} MiB", count >> 20, ((count % (1 << 20)) * 10) >> 20),
    }
}

/// Formats a number as the pages write it.
fn number(count: u64) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// Returns the value of a constant in a source file: a number, or a shifted number.
fn constant(path: &str, name: &str) -> u64 {
    let source = fs::read_to_string(format!("{ROOT}/{path}")).unwrap();
    let line = source.lines().find(|line| line.contains(&format!("const {name}: ")));
    let value = line.and_then(|line| Some(line.split_once(" = ")?.1.trim_end_matches(';').replace('_', "")));
    let value = value.unwrap_or_else(|| panic!("{path} has no constant {name}"));
    let (number, shift) = value.split_once(" << ").unwrap_or((&value, "0"));
    number.parse::<u64>().unwrap() << shift.parse::<u32>().unwrap()
}

/// SECURITY.md has the current limits.
#[test]
fn the_bounds_of_the_security_policy_are_those_of_the_code() {
    let page = fs::read_to_string(format!("{ROOT}/SECURITY.md")).unwrap();
    let table = page.split("\n## What is bounded by what\n").nth(1).unwrap();
    let (limits, store) = (kubeshape_server::Limits::default(), kubeshape_objects::store::Limits::default());
    let input = kubeshape_input::Limits::default();
    let rules =
        [kubeshape_validate::object::Rules::CALL_LIMIT, kubeshape_validate::object::Rules::BUDGET.unsigned_abs()];
    let constants = |path: &str, names: &[&str]| names.iter().map(|name| number(constant(path, name))).collect();
    let admission = "serve/objects/src/api/admission.rs";
    let memory = "fuzz/properties/src/request_memory_is_bounded.rs";
    let rows: [(&str, Vec<String>); 43] = [
        ("bytes of an input file", vec![bytes(input.bytes)]),
        ("levels, nodes", vec![number(input.depth as u64), number(input.nodes as u64)]),
        (
            "findings of one code about the documents of an input",
            constants("describe/input/src/capped.rs", &["MOST_OF_A_CODE"]),
        ),
        ("body of a request", vec![bytes(kubeshape_objects::MAX_BODY)]),
        ("body of a request, with the aliases of YAML", vec![bytes(kubeshape_objects::MAX_EXPANDED)]),
        (
            "errors about an object or a definition, and its unknown fields",
            vec![
                bytes(kubeshape_schema::field::Errors::MOST),
                bytes(constant("smd/src/typed/error.rs", "MOST") as usize),
            ],
        ),
        (
            "a response with objects, in any form",
            vec![
                format!("{} times", constant("serve/objects/src/form/room.rs", "TIMES")),
                bytes(kubeshape_objects::MAX_FORM_GROWTH),
            ],
        ),
        ("cells of an object in a table", vec![bytes(kubeshape_objects::MAX_CELLS)]),
        (
            "memory that a request about objects takes",
            vec![format!("{} times", constant(memory, "TIMES")), bytes(constant(memory, "BEYOND") as usize)],
        ),
        (
            "dependents that a deletion takes with it before its answer",
            constants("serve/server/src/objects.rs", &["FIRST_PORTION", "PORTION"]),
        ),
        (
            "time that a connection has for itself while others wait for their turns",
            vec![format!("{} ms", constant("serve/server/src/listen/fair.rs", "ALLOWANCE_MS"))],
        ),
        (
            "nodes that the macros of an expression in CEL copy",
            [kubeshape_cel::FREE_COPIES, kubeshape_cel::COPIES_PER_CHARACTER].map(|n| number(n as u64)).into(),
        ),
        ("requests that wait for a thread", constants("serve/server/src/http/queue.rs", &["MOST_WAITING"])),
        ("steps of comparing patterns in `diff`", constants("judge/diff/src/implication.rs", &["SEARCHED"])),
        ("bodies of requests in memory, together", vec![bytes(limits.received_bytes)]),
        ("responses with objects, and others made for one request, together", vec![bytes(limits.sent_bytes)]),
        ("an object in the store", vec![bytes(store.object)]),
        ("all objects in the store", vec![bytes(store.objects)]),
        ("all CustomResourceDefinitions in the store", vec![bytes(store.definitions)]),
        ("warnings about an object of a built-in kind", vec![bytes(kubeshape_schema::field::Errors::MOST)]),
        (
            "values that MutatingAdmissionPolicies make for a request",
            vec![bytes(constant("judge/policy/src/room.rs", "MAX_MUTATED") as usize)],
        ),
        (
            "objects that MutatingAdmissionPolicies make for a request",
            ["MAX_OBJECT", "MAX_OBJECTS"].map(|name| bytes(constant("judge/policy/src/room.rs", name) as usize)).into(),
        ),
        (
            "admission policies and bindings in the store",
            vec![number(constant(admission, "MAX_POLICIES")), bytes(constant(admission, "MAX_POLICY_BYTES") as usize)],
        ),
        (
            "parameters of admission policies for a request",
            vec![number(constant(admission, "MAX_PARAMS")), bytes(constant(admission, "MAX_PARAM_BYTES") as usize)],
        ),
        (
            "time of a long job when all places are taken and others wait",
            vec![format!("{} ms", constant("serve/server/src/http/queue.rs", "LONG_ENOUGH_MS"))],
        ),
        ("defaults inserted into an object", vec![bytes(kubeshape_validate::object::MAX_DEFAULTS)]),
        ("defaults inserted into the objects of a list", vec![bytes(kubeshape_objects::MAX_LIST_GROWTH)]),
        ("values that `copy` of a JSON patch adds", vec![bytes(kubeshape_objects::MAX_COPIED)]),
        ("time that the server works for a request about objects", vec![format!("{} s", limits.work.as_secs())]),
        ("patterns of a definition, compiled", vec![bytes(kubeshape_validate::object::MAX_PATTERNS)]),
        ("compiled patterns that are kept, together", vec![bytes(kubeshape_structural::regex::MAX_KEPT)]),
        ("a compiled pattern", vec![bytes(kubeshape_structural::regex::COMPILED_SIZE)]),
        ("cost of an evaluation in CEL, and of all for an object", rules.map(number).to_vec()),
        ("values that an evaluation in CEL looks at", vec![number(kubeshape_cel::MAX_STEPS)]),
        ("strings and lists that an evaluation in CEL makes", vec![bytes(kubeshape_cel::MAX_MADE as usize)]),
        (
            "a bearer token; keys of service accounts",
            vec![
                format!("{} KiB", constant("serve/server/src/auth/accounts.rs", "MAX_TOKEN") >> 10),
                number(constant("serve/server/src/auth/accounts.rs", "MAX_KEYS")),
            ],
        ),
        (
            "a response of a webhook, and calls at the same time",
            vec![
                bytes(constant("serve/server/src/webhooks.rs", "MAX_RESPONSE") as usize),
                number(constant("serve/server/src/webhooks.rs", "MAX_CALLS")),
            ],
        ),
        (
            "snapshots that are kept",
            vec![
                number(constant("serve/server/src/objects.rs", "MAX_STATES")),
                bytes(constant("serve/server/src/objects.rs", "MAX_STATE_BYTES") as usize),
                bytes(constant("serve/server/src/objects.rs", "MAX_START_BYTES") as usize),
            ],
        ),
        (
            "worlds at the same time, and their objects together",
            vec![
                number(constant("serve/server/src/worlds.rs", "MAX_WORLDS")),
                bytes(constant("serve/server/src/worlds.rs", "MAX_WORLD_BYTES") as usize),
            ],
        ),
        (
            "patches of webhooks for a request",
            vec![bytes(constant("serve/objects/src/api/webhooks.rs", "MAX_PATCHED") as usize)],
        ),
        (
            "a review of a conversion webhook",
            vec![
                format!("{} objects", constant("judge/conversions/src/review.rs", "MAX_BATCH")),
                bytes(constant("judge/conversions/src/review.rs", "MAX_BATCH_BYTES") as usize),
            ],
        ),
        (
            "an object that a conversion webhook returns",
            vec![
                format!("{} times", constant("judge/conversions/src/review.rs", "MAX_GROWTH")),
                format!("{} KiB", constant("judge/conversions/src/review.rs", "MAX_ADDED") >> 10),
            ],
        ),
        (
            "permissions that are compared",
            vec![number(constant("serve/objects/src/access/covers.rs", "MAX_PERMISSIONS"))],
        ),
    ];
    for (what, figures) in &rows {
        let row = table.lines().find(|line| line.starts_with(&format!("| {what}")));
        let row = row.unwrap_or_else(|| panic!("the page says nothing of: {what}"));
        for figure in figures {
            assert!(row.contains(figure), "{what}: the bound is {figure}, but the page says: {row}");
        }
    }
    // The number of long jobs is a rule of the queue, which has its own test.
    let count = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what")).count();
    assert_eq!(count, rows.len() + 1, "a row of the table has no test");
}

/// The page about test libraries has the program that runs with jenvtest.
#[test]
fn the_example_in_java_is_the_one_that_runs() {
    let page = fs::read_to_string(format!("{ROOT}/docs/envtest.md")).unwrap();
    for (language, file) in [("xml", "pom.xml"), ("java", "src/main/java/Example.java")] {
        let text = fs::read_to_string(format!("{ROOT}/conformance/clients/java/{file}")).unwrap();
        assert!(page.contains(&format!("```{language}\n{text}```")), "docs/envtest.md does not have {file}");
    }
}
