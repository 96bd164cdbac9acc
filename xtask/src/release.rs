//! Compares releases of Kubernetes: what changed in the files that our rules follow.

use crate::run::Result;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of a Go module, and the location of its rules here.
struct Source {
    module: &'static str,
    folder: &'static str,
    ours: &'static str,
}

const fn source(module: &'static str, folder: &'static str, ours: &'static str) -> Source {
    Source { module, folder, ours }
}

/// The folders whose rules kubeshape follows.
const SOURCES: [Source; 18] = [
    source("apiextensions-apiserver", "pkg/apis/apiextensions/validation", "judge/validate/src/crd/"),
    source("apiextensions-apiserver", "pkg/apiserver/validation", "judge/validate/src/object/"),
    source("apiextensions-apiserver", "pkg/apiserver/schema", "structural/src/, judge/cel/src/rules.rs"),
    source("apiextensions-apiserver", "pkg/registry", "judge/validate/src/object/, serve/objects/src/api/strategy.rs"),
    source("apiextensions-apiserver", "pkg/controller/openapi", "describe/publish/src/"),
    source("apimachinery", "pkg/api/validation", "judge/validate/src/metadata.rs"),
    source("apimachinery", "pkg/apis/meta/v1", "base/gotypes/src/metadata.rs, judge/validate/src/metadata.rs"),
    source("apimachinery", "pkg/util/validation", "judge/validate/src/, base/schema/src/field.rs"),
    source("apimachinery", "pkg/util/managedfields", "smd/src/managed/"),
    source("apimachinery", "pkg/util/strategicpatch", "serve/registry/src/strategic/"),
    source("apimachinery", "pkg/runtime", "base/gotypes/src/, judge/validate/src/body.rs"),
    source("apiserver", "pkg/cel", "judge/cel/src/"),
    source("apiserver", "pkg/admission/plugin", "judge/policy/src/"),
    source("apiserver", "pkg/endpoints/handlers", "serve/objects/src/api/"),
    source("apiserver", "pkg/endpoints/discovery", "serve/server/src/http/"),
    source("apiserver", "pkg/features", "serve/server/src/features.rs"),
    source("kubernetes", "pkg/apis", "base/builtin/overlay/, judge/validate/src/builtin/"),
    source("kubernetes", "pkg/registry", "base/builtin/overlay/, judge/validate/src/builtin/"),
];

/// What to do with the output.
const STEPS: &str = "\
To add the release:
1. Add a line to base/builtin/src/documents.rs and an empty file to base/builtin/data/, and run
   `cargo xtask builtin --update`. Write the output of `cargo run -p kubeshape-conformance -- members` to
   base/gotypes/src/members.txt.
2. Raise `NEWEST` and `nearest` in base/schema/src/release.rs.
3. Add every change above to the table in the file that is named with it, with the release. Begin with the
   strings: each is a message that a client can see.
4. Write the number into the help of `--kubernetes` and `--emulate`, and into docs/releases.md. Tests fail where it is
   missing.
";

/// Prints the differences between a release and the previous one: files that changed, and strings that were added or
/// removed.
pub(crate) fn compare(release: &str) -> Result {
    let minor = release.trim_start_matches('v').strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
    let Some(minor) = minor.filter(|minor| *minor > 0) else {
        return Err(format!("{release:?} is not a minor release; expected a release such as 1.38").into());
    };
    let mut modules: Option<(&str, PathBuf, PathBuf)> = None;
    for Source { module, folder, ours } in &SOURCES {
        let (old, new) = match &modules {
            Some((name, old, new)) if name == module => (old.clone(), new.clone()),
            _ => (download(module, minor - 1)?, download(module, minor)?),
        };
        println!("\n{module}/{folder} → {ours}");
        print_changes(&old.join(folder), &new.join(folder))?;
        modules = Some((module, old, new));
    }
    println!("\n{STEPS}");
    Ok(())
}

/// Returns the folder of the newest patch release of a module.
fn download(module: &str, minor: u32) -> Result<PathBuf> {
    let major = u32::from(module == "kubernetes");
    let name = format!("k8s.io/{module}@v{major}.{minor}");
    let go = Command::new("go").args(["mod", "download", "-json", &name]).output();
    let output =
        go.map_err(|error| format!("go: {error}; the modules are fetched with Go: https://go.dev/doc/install"))?;
    Ok(folder(&name, minor, &output.stdout, &output.stderr)?)
}

/// Returns the folder in the output of `go mod download -json` for a module of a release.
fn folder(name: &str, minor: u32, stdout: &[u8], stderr: &[u8]) -> std::result::Result<PathBuf, String> {
    let answer: serde_json::Value = serde_json::from_slice(stdout).unwrap_or_default();
    if let Some(folder) = answer["Dir"].as_str() {
        return Ok(folder.into());
    }
    let stderr = String::from_utf8_lossy(stderr);
    let why = answer["Error"].as_str().unwrap_or(stderr.trim());
    let module = name.split('@').next().unwrap_or_default();
    Err(format!(
        "Go has no {name}, which belongs to Kubernetes 1.{minor}: {why}\n\
         `go list -m -versions {module}` prints the versions that exist. If this one is missing, wait for the first \
         version of the release, or name an older release. If it exists, check the network and GOPROXY."
    ))
}

fn print_changes(old: &Path, new: &Path) -> Result {
    let (before, after) = (go_files(old)?, go_files(new)?);
    let mut is_same = true;
    for name in before.union(&after) {
        let read = |folder: &Path| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let (was, is) = (read(old), read(new));
        if was == is {
            continue;
        }
        is_same = false;
        let lines = |one: &str, other: &str| {
            let other: BTreeSet<&str> = other.lines().collect();
            one.lines().filter(|line| !other.contains(line)).count()
        };
        println!("  {} (+{} −{})", name.display(), lines(&is, &was), lines(&was, &is));
        let (old_texts, new_texts) = (texts(&was), texts(&is));
        new_texts.difference(&old_texts).for_each(|text| println!("    new:  {text}"));
        old_texts.difference(&new_texts).for_each(|text| println!("    gone: {text}"));
    }
    if is_same {
        println!("  no change");
    }
    Ok(())
}

/// Returns the Go files below a folder, without tests and generated code, by their paths in it.
fn go_files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        if !next.is_dir() {
            continue;
        }
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["testdata", "testing", "test"].contains(&name.as_str()) {
                    waiting.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "go")
                && !name.ends_with("_test.go")
                && !name.contains("generated")
            {
                files.insert(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    Ok(files)
}

/// Returns the string literals of a Go file that have several words.
fn texts(source: &str) -> BTreeSet<&str> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|text| text.trim().contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn a_missing_module_is_named_with_what_to_do() {
        let of = |stdout: &str, stderr: &str| {
            folder("k8s.io/api@v0.99", 99, stdout.as_bytes(), stderr.as_bytes())
                .map(|found| found.display().to_string())
        };
        assert_eq!(of(r#"{"Dir": "/go/api"}"#, ""), Ok("/go/api".to_owned()));
        let missing = of(r#"{"Error": "no matching versions for query \"v0.99\""}"#, "").expect_err("no module");
        assert_eq!(
            missing,
            "Go has no k8s.io/api@v0.99, which belongs to Kubernetes 1.99: no matching versions for query \"v0.99\"\n\
             `go list -m -versions k8s.io/api` prints the versions that exist. If this one is missing, wait for the \
             first version of the release, or name an older release. If it exists, check the network and GOPROXY."
        );
        assert!(
            of("", "go: no network\n").expect_err("no module").contains("Kubernetes 1.99: go: no network\n`go list")
        );
    }
}
