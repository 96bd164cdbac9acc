//! Tests of which files in folders are read.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd};

/// Returns the plurals of the CustomResourceDefinitions that a run over a folder finds.
#[track_caller]
fn found(folder: &Folder, options: &str) -> Vec<String> {
    let run = folder.run(&format!("convert {options} --to structural -o ../out"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{options}");
    let names = folder.names("../out");
    std::fs::remove_dir_all(folder.path("../out")).unwrap();
    names.iter().filter_map(|name| name.split('.').next()).map(str::to_owned).collect()
}

/// Returns a folder for the runs, inside its own parent folder.
fn folder() -> Folder {
    let folder = Folder::in_sub();
    for (path, plural) in [
        ("a.yaml", "as"),
        ("sub/b.yaml", "bs"),
        (".hidden.yaml", "hiddens"),
        (".github/c.yaml", "cs"),
        ("node_modules/pkg/d.yaml", "ds"),
        ("gen/e.yaml", "es"),
        ("sub/gen/f.yaml", "fs"),
        ("g.tmpl", "gs"),
    ] {
        folder.write(path, crd(plural, &["v1"]));
    }
    folder
}

#[test]
fn hidden_files_and_node_modules_are_skipped() {
    let folder = folder();
    assert_eq!(found(&folder, "."), ["as", "bs", "es", "fs"]);
    assert_eq!(found(&folder, ". --hidden"), ["as", "bs", "cs", "es", "fs", "hiddens"]);
    assert_eq!(found(&folder, ". --no-ignore"), ["as", "bs", "ds", "es", "fs"]);
    assert_eq!(found(&folder, ". --no-ignore --hidden"), ["as", "bs", "cs", "ds", "es", "fs", "hiddens"]);
}

#[test]
fn named_files_are_always_read() {
    let folder = folder();
    folder.write(".ignore", "*\n");
    assert_eq!(found(&folder, ".hidden.yaml g.tmpl gen/e.yaml"), ["es", "gs", "hiddens"]);
    assert_eq!(found(&folder, ".github node_modules --no-ignore"), ["cs", "ds"]);
    folder.write(".ignore", "gen\n");
    assert_eq!(found(&folder, "node_modules .github gen"), ["cs", "ds", "es"]);
    assert_eq!(found(&folder, "node_modules gen/e.yaml -f a.yaml"), ["as", "ds", "es"]);
}

#[test]
fn ignore_files_exclude_files() {
    let folder = folder();
    folder.write(".ignore", "gen/\n!.github\n!/.github/**\n");
    assert_eq!(found(&folder, "."), ["as", "bs", "cs"]);
    // The inner file overrides the outer one.
    folder.write("sub/.ignore", "!gen\n*.yml\n");
    assert_eq!(found(&folder, "."), ["as", "bs", "cs", "fs"]);
    assert_eq!(found(&folder, ". --no-ignore"), ["as", "bs", "ds", "es", "fs"]);
    folder.write(".ignore", "").write("sub/.ignore", "");
    // As in git, a .gitignore counts only in a repository, and only up to its top folder.
    folder.write(".gitignore", "/gen\n");
    assert_eq!(found(&folder, "."), ["as", "bs", "es", "fs"]);
    folder.write(".git/HEAD", "ref: refs/heads/main\n").write(".git/x.yaml", crd("xs", &["v1"]));
    assert_eq!(found(&folder, "."), ["as", "bs", "fs"]);
    folder.write(".gitignore", "gen\n");
    assert_eq!(found(&folder, "sub"), ["bs"]);
    folder.write("sub/.git/HEAD", "");
    assert_eq!(found(&folder, "sub"), ["bs", "fs"]);
    assert_eq!(found(&folder, "."), ["as", "bs", "fs"]);
}

#[test]
fn an_unusable_ignore_file_is_reported() {
    let folder = folder();
    folder.write(".ignore", "gen\n[z-a]\n");
    let run = folder.run("convert . --to structural -o ../out");
    let expected = "\
warning[KS1032]: ./.ignore:2:1: An ignore file, or a line of it, is not used:
    found the pattern \"[z-a]\": invalid range; 'z' > 'a'; the line is not used
";
    assert_eq!(run.err, expected);
    assert_eq!((run.code, folder.names("../out").len()), (Some(0), 2));
    folder.write(".ignore", "a\n".repeat(200_000));
    folder.run("convert . --to structural -o ../out").says(0, &["KS1032", "it has 400000 bytes, the limit is 262144"]);
}

#[cfg(unix)]
#[test]
fn an_ignore_file_that_is_a_pipe_or_a_folder_is_ignored() {
    let folder = folder();
    folder.write("sub/.ignore/x", "");
    assert!(std::process::Command::new("mkfifo").arg(folder.path(".ignore")).status().unwrap().success());
    assert_eq!(found(&folder, "."), ["as", "bs", "es", "fs"]);
}

#[test]
fn patterns_of_the_command_line() {
    let folder = folder();
    assert_eq!(found(&folder, ". --exclude gen"), ["as", "bs"]);
    assert_eq!(found(&folder, ". --exclude /gen --exclude a.*"), ["bs", "fs"]);
    assert_eq!(found(&folder, ". --exclude **/gen/*.yaml"), ["as", "bs"]);
    // Relative to the named folder, and to the current one.
    assert_eq!(found(&folder, "sub --exclude /gen"), ["bs"]);
    assert_eq!(found(&folder, "sub --exclude sub/gen"), ["bs"]);
    // An included file needs no suffix, and is not ignored.
    assert_eq!(found(&folder, ". --include *.tmpl"), ["gs"]);
    assert_eq!(found(&folder, ". --include *.tmpl --include .h*"), ["gs", "hiddens"]);
    assert_eq!(found(&folder, ". --include *.yaml --exclude gen"), ["as", "bs", "hiddens"]);
    assert_eq!(found(&folder, "a.yaml --exclude *"), ["as"]);
    folder.run("convert . --to v3 --exclude [z-a]").says(2, &["--exclude: found the pattern \"[z-a]\""]);
    let run = folder.run("convert sub --to v3 --exclude *");
    run.says(1, &["neither a CustomResourceDefinition nor an OpenAPI document was found in the folder"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_once() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    symlink("sub", folder.path("again")).unwrap();
    symlink("..", folder.path("sub/up")).unwrap();
    symlink("nowhere.yaml", folder.path(".#lock.yaml")).unwrap();
    assert_eq!(found(&folder, "."), ["as", "bs", "es", "fs"]);
    // Twenty folders with two links each to the next one have a million paths.
    for n in 0..20 {
        folder.write(&format!("deep/{n}/x.txt"), "");
        for link in ["l", "r"] {
            symlink(format!("../{}", n + 1), folder.path(&format!("deep/{n}/{link}"))).unwrap();
        }
    }
    folder.write("deep/20/z.yaml", crd("zs", &["v1"]));
    assert_eq!(found(&folder, "deep/0"), ["zs"]);
}

const CHART: &str = "apiVersion: v2\nname: web\nversion: 0.1.0\n";
const TEMPLATE: &str = "{{- if .Values.crds }}\napiVersion: v1\nkind: {{ .Values.kind }}\n{{- end }}\n";

#[test]
fn templates_of_a_chart_are_one_note() {
    let folder = Folder::in_sub();
    folder
        .write("charts/web/Chart.yaml", CHART)
        .write("charts/web/values.yaml", "crds: true\n")
        .write("charts/web/crds/a.yaml", crd("as", &["v1"]))
        .write("charts/web/templates/plain.yaml", crd("bs", &["v1"]))
        .write("charts/web/templates/crd.yaml", TEMPLATE)
        .write("charts/web/templates/tests/t.yaml", TEMPLATE)
        .write("charts/web/charts/db/Chart.yaml", CHART)
        .write("charts/web/charts/db/templates/x.yaml", TEMPLATE);
    let run = folder.run("convert charts --to structural -o ../out");
    let expected = "\
warning[KS1031]: charts/web: Templates of a Helm chart are not read: 2 files in
    templates/ must be rendered: `helm template charts/web | kubeshape convert
    -`
warning[KS1031]: charts/web/charts/db: Templates of a Helm chart are not read: 1
    file in templates/ must be rendered: `helm template charts/web/charts/db |
    kubeshape convert -`
";
    assert_eq!((run.code, run.err.as_str()), (Some(0), expected));
    // A file without template actions is the same before and after it is rendered.
    assert_eq!(folder.names("../out"), ["as.example.com/v1.structural.yaml", "bs.example.com/v1.structural.yaml"]);
    // A template that is named is read like any other file.
    folder
        .run("convert charts/web/templates/crd.yaml --to v3")
        .says(1, &["error[KS1001]", "charts/web/templates/crd.yaml:1:"]);
    folder.run("convert charts/web/templates --to structural -o ../out").says(0, &["KS1031", "2 files in templates/"]);
    // Without a chart next to it, a folder of that name has no special meaning.
    folder.write("templates/crd.yaml", TEMPLATE);
    folder.run("convert templates --to v3 -o ../out").says(1, &["error[KS1001]", "templates/crd.yaml:1:"]);
}

#[test]
fn objects_and_schemas_are_found_by_the_same_rules() {
    let folder = folder();
    folder
        .write("objects/.ignore", "draft*\n")
        .write("objects/draft.yaml", "a: [")
        .write("objects/a.yaml", "apiVersion: example.com/v1\nkind: A\nmetadata: {name: x}\nspec: {size: 2}\n");
    let run = folder.run("fieldset --paths --schemas . --exclude objects objects/a.yaml");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let run = folder.run("fieldset --paths --schemas a.yaml objects");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.contains("A x\t.spec.size\n"), "{}", run.out);
}
