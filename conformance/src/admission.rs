//! Area `admission`: upstream's integration tests of the server, admission policies, definitions and client-go,
//! unchanged, with kubeshape in place of kube-apiserver.
//!
//! The tests are built in copies of the modules `k8s.io/kubernetes` and `k8s.io/apiextensions-apiserver`. Go files of
//! `conformance/admission` replace the packages that start a server; everything else is upstream's.

use crate::known::Known;
use crate::operators::{Module, leaves, run, tested};
use crate::oracle;
use crate::table::{Table, Verdict};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of the libraries that are developed with the tests.
const STAGING: &str = "v0.36.3";

/// The module of definitions, which the tests of the other one use, too.
const EXTENSIONS: &str = "k8s.io/apiextensions-apiserver";

/// A module with tests.
struct Tests {
    module: &'static str,
    version: &'static str,
    /// The folders that the tests need.
    folders: &'static [&'static str],
    /// Packages, files of each that are kept, and the files of ours that replace the others.
    replaced: &'static [(&'static str, &'static [&'static str], &'static [&'static str])],
    /// Packages below `test/integration`, and the tests that are not run.
    packages: &'static [(&'static str, &'static [&'static str])],
}

const MODULES: [Tests; 2] = [
    Tests {
        module: EXTENSIONS,
        version: STAGING,
        folders: &["pkg", "test"],
        replaced: &[("pkg/cmd/server/testing", &[], &["extensions.go", "process.go"])],
        // These read etcd or write to it. If they cannot, they end the program or wait for ever.
        packages: &[(
            "",
            &[
                "TestCustomResourceDefaultingOfMetaFields",
                "TestEtcdStorage",
                "TestInvalidObjectMetaInStorage",
                "TestPruningFromStorage",
            ],
        )],
    },
    Tests {
        module: "k8s.io/kubernetes",
        version: "v1.36.3",
        folders: &["cmd", "pkg", "plugin", "test", "third_party"],
        replaced: &[
            ("cmd/kube-apiserver/app/options", &[], &["options.go"]),
            ("cmd/kube-apiserver/app/testing", &[], &["server.go", "process.go"]),
            ("test/integration/etcd", &["data.go"], &["crds.go"]),
            ("test/integration/framework", &["cbor.go"], &["framework.go"]),
        ],
        packages: &[
            ("apiserver/cel", &[]),
            ("apiserver/cel/authorizerselector/selectorenabled", &[]),
            ("apiserver/cel/authorizerselector/selectordisabled", &[]),
            ("client", &[]),
            ("apiserver/apply", &[]),
            ("apiserver/openapi", &[]),
            // They need the gate `ShardedListAndWatch`, which is alpha.
            ("apiserver", &["TestShardedList.*", "TestShardedWatch"]),
            ("apimachinery", &[]),
            ("dryrun", &[]),
        ],
    },
];

/// Runs the tests whose package contains a text.
///
/// # Errors
/// Go or the command is missing, or the tests cannot be built.
pub fn compare(program: &Path, only: &str, known: Known) -> Result<Table, String> {
    let mut table = Table::new("admission", known);
    let folder = oracle::target().join("conformance").join("admission");
    create(&folder)?;
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let assets = folder.join("assets");
    run(Command::new(program).arg("envtest").arg("-o").arg(&assets))?;
    let mut sources = Vec::with_capacity(MODULES.len());
    let mut replaced = serde_json::Map::new();
    for tests in &MODULES {
        let source = copy_of_module(tests, &folder)?;
        replace(tests, &source, &mut replaced)?;
        sources.push(source);
    }
    let overlay = folder.join("overlay.json");
    write(&overlay, &json!({ "Replace": replaced }).to_string())?;
    let packages = MODULES.iter().zip(&sources).flat_map(|(tests, source)| {
        tests.packages.iter().map(move |(package, skipped)| (name_of(tests, package), source, package, skipped))
    });
    for (name, source, package, skipped) in packages.filter(|(name, ..)| name.contains(only)) {
        let test = folder.join(format!("{name}.test"));
        let path = Path::new("test/integration").join(package);
        let mut build = Command::new("go");
        build.args(["test", "-c", "-mod=mod", "-overlay"]).arg(&overlay).arg("-o").arg(&test);
        run(build.arg(format!("./{}", path.display())).env("GOWORK", "off").current_dir(source))?;
        let mut tests = Command::new(&test);
        tests.args(["-test.v", "-test.timeout=20m"]).env("KUBEBUILDER_ASSETS", &assets).current_dir(source.join(path));
        if !skipped.is_empty() {
            tests.arg(format!("-test.skip=^({})$", skipped.join("|")));
        }
        let output = tests.output().map_err(|error| format!("{name}: {error}"))?;
        for spec in leaves(tested(&String::from_utf8_lossy(&output.stdout), output.status.success())) {
            if let Some(verdict) = spec.verdict() {
                table.add(name, &spec.name(), verdict);
            }
        }
    }
    if table.is_empty() {
        table.add("packages", only, Verdict::Missing("no package of the tests contains this text".to_owned()));
    }
    Ok(table)
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of a package in reports: its last folder, or that of the module.
fn name_of(tests: &Tests, package: &'static str) -> &'static str {
    if package.is_empty() { last(tests.module) } else { last(package) }
}

/// Copies a module out of the cache of modules, whose files no overlay can replace. It uses the copy of the module of
/// definitions. Returns the folder.
fn copy_of_module(tests: &Tests, folder: &Path) -> Result<PathBuf, String> {
    let Tests { module: module_path, version, folders, .. } = tests;
    let module = format!("{module_path}@{version}");
    let downloaded = run(Command::new("go").args(["mod", "download", "-json", &module]).current_dir(folder))?;
    let Module { dir } = serde_json::from_slice(&downloaded).map_err(|error| format!("{module}: {error}"))?;
    let copy = folder.join(format!("{}-{version}", last(tests.module)));
    for name in *folders {
        copy_folder(&dir.join(name), &copy.join(name))?;
    }
    let manifest = dir.join("go.mod");
    let manifest = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let mut manifest = with_released_libraries(&manifest);
    if **module_path != *EXTENSIONS {
        let extensions = folder.join(format!("{}-{STAGING}", last(EXTENSIONS)));
        manifest = format!("{manifest}replace {EXTENSIONS} => {}\n", extensions.display());
    }
    write(&copy.join("go.mod"), &manifest)?;
    if !copy.join("go.sum").exists() {
        copy_file(&dir.join("go.sum"), &copy.join("go.sum"))?;
    }
    Ok(copy)
}

/// Returns the module file with released libraries instead of those in folders that the module does not contain.
fn with_released_libraries(manifest: &str) -> String {
    let lines = manifest.lines().filter(|line| !line.contains("=> ./staging/"));
    let lines = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_library = words.iter().any(|word| word.starts_with("k8s.io/")) && words.contains(&"v0.0.0");
        if is_library { line.replace("v0.0.0", STAGING) } else { line.to_owned() }
    });
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

/// Adds the files of a module that are replaced, and those that are not there.
fn replace(tests: &Tests, source: &Path, replaced: &mut serde_json::Map<String, Value>) -> Result<(), String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("admission");
    for (package, kept, files) in tests.replaced {
        let package = source.join(package);
        for path in entries(&package)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_go = path.extension().is_some_and(|extension| extension == "go");
            if is_go && !name.ends_with("_test.go") && !kept.contains(&name.as_str()) {
                replaced.insert(path.display().to_string(), json!(""));
            }
        }
        for file in *files {
            replaced.insert(package.join(file).display().to_string(), json!(own.join(file)));
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let found = std::fs::read_dir(folder).map_err(failed)?;
    found.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect()
}

/// Copies what is not there yet.
fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    create(to)?;
    for path in entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        match (path.is_dir(), target.exists()) {
            (true, _) => copy_folder(&path, &target)?,
            (false, true) => {}
            (false, false) => copy_file(&path, &target)?,
        }
    }
    Ok(())
}

/// Copies the contents: files of the cache are read-only. It has no modes, so scripts get theirs by name.
fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    let contents = std::fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
    write_bytes(to, &contents)?;
    #[cfg(unix)]
    if contents.starts_with(b"#!") && !to.to_string_lossy().contains("not-executable") {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(to, mode).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    write_bytes(path, text.as_bytes())
}

fn write_bytes(path: &Path, contents: &[u8]) -> Result<(), String> {
    std::fs::write(path, contents).map_err(|error| format!("{}: {error}", path.display()))
}

fn create(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::with_released_libraries;

    #[test]
    fn the_module_file_names_released_libraries() {
        let manifest = "require (\n\tk8s.io/api v0.0.0\n\tk8s.io/utils v0.0.0-2026-1\n)\nreplace (\n\
                        \tk8s.io/api => ./staging/src/k8s.io/api\n)\n";
        let expected = "require (\n\tk8s.io/api v0.36.3\n\tk8s.io/utils v0.0.0-2026-1\n)\nreplace (\n)\n";
        assert_eq!(with_released_libraries(manifest), expected);
    }
}
