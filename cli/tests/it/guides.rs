//! The commands of README and of the guides, run as they are written.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use std::fs;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What stands in a page between a line with "```sh" and the next "```".
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

/// Each page has a copy of `docs/demo/`. A line says with `# exit N` that a command does not end with 0.
#[test]
fn the_commands_of_the_pages_do_what_they_say() {
    let mut pages = vec![format!("{ROOT}/README.md")];
    let guides = fs::read_dir(format!("{ROOT}/docs")).unwrap().map(|entry| entry.unwrap().path());
    let guides = guides.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.extend(guides.map(|path| path.display().to_string()));
    let mut run = 0;
    for page in pages {
        let folder = Folder::new();
        for entry in fs::read_dir(format!("{ROOT}/docs/demo")).unwrap() {
            let entry = entry.unwrap();
            folder.write(&format!("docs/demo/{}", entry.file_name().display()), fs::read(entry.path()).unwrap());
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

/// What the pages show of messages is what the command says.
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
