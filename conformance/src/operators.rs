//! Area `operators`: suites of others, unchanged, over the programs of `kubeshape envtest`. Their modules are
//! downloaded in the versions of `operators.txt`, and their reports read.

use crate::known::Known;
use crate::oracle;
use crate::table::{Table, Verdict};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of a module, its version, a package, and the library that reports: `ginkgo` or `testing`.
const SUITES: &str = include_str!("../operators.txt");

/// A package with a suite.
struct Suite<'s> {
    module: &'s str,
    version: &'s str,
    package: &'s str,
    is_ginkgo: bool,
}

impl Suite<'_> {
    /// The last segments of the module and the package: `karpenter v1`.
    fn name(&self) -> String {
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        format!("{} {}", last(self.module), last(self.package))
    }
}

/// The report of Ginkgo on a suite.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    #[serde(default)]
    spec_reports: Option<Vec<Spec>>,
}

/// A case of a suite.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Spec {
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_text: String,
    leaf_node_type: String,
    state: String,
    failure: Option<Failure>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Failure {
    message: String,
}

impl Spec {
    pub(crate) fn name(&self) -> String {
        let mut parts = self.container_hierarchy_texts.clone().unwrap_or_default();
        parts.push(if self.leaf_node_text.is_empty() {
            self.leaf_node_type.clone()
        } else {
            self.leaf_node_text.clone()
        });
        // Generated names would differ each time, and an entry of KNOWN.md is a line.
        parts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// `None` if the suite itself leaves it out.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match self.state.as_str() {
            "passed" if self.leaf_node_type == "It" => Some(Verdict::Equal),
            "passed" | "pending" | "skipped" => None,
            state => {
                let message = self.failure.as_ref().map(|failure| failure.message.as_str()).unwrap_or_default();
                let first: Vec<&str> = message.lines().take(3).map(str::trim).collect();
                Some(Verdict::Differing(format!("{state}: {}", first.join(" "))))
            }
        }
    }
}

/// Runs the suites whose module or package contains a text.
///
/// # Errors
/// Go or the command is missing, or a suite cannot be built.
pub fn compare(program: &Path, only: &str, known: Known) -> Result<Table, String> {
    let mut table = Table::new("operators", known);
    let folder = oracle::target().join("conformance").join("operators");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let assets = folder.join("assets");
    run(Command::new(program).arg("envtest").arg("-o").arg(&assets))?;
    for suite in suites().filter(|suite| suite.module.contains(only) || suite.package.contains(only)) {
        let name = suite.name();
        for spec in reports(&suite, &folder, &assets)? {
            if let Some(verdict) = spec.verdict() {
                table.add(&name, &spec.name(), verdict);
            }
        }
    }
    Ok(table)
}

fn suites() -> impl Iterator<Item = Suite<'static>> {
    let lines = SUITES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [module, version, package, library] => Some(Suite { module, version, package, is_ginkgo: library == "ginkgo" }),
        _ => None,
    })
}

/// What `go mod download -json` says of a module.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Module {
    /// Its folder in the cache.
    pub(crate) dir: PathBuf,
}

/// Builds a suite in the module cache, which it does not change, and runs it.
fn reports(suite: &Suite<'_>, folder: &Path, assets: &Path) -> Result<Vec<Spec>, String> {
    let name = suite.name().replace(' ', "-");
    let module = format!("{}@{}", suite.module, suite.version);
    let downloaded = run(Command::new("go").args(["mod", "download", "-json", &module]).current_dir(folder))?;
    let Module { dir } = serde_json::from_slice(&downloaded).map_err(|error| format!("{module}: {error}"))?;
    let test = folder.join(format!("{name}.test"));
    let package = format!("./{}", suite.package);
    run(Command::new("go").args(["test", "-c", "-o"]).arg(&test).arg(package).current_dir(&dir))?;
    let mut tests = Command::new(&test);
    tests.env("KUBEBUILDER_ASSETS", assets).current_dir(dir.join(suite.package));
    if !suite.is_ginkgo {
        let output = tests.arg("-test.v").output().map_err(|error| format!("{name}: {error}"))?;
        return Ok(tested(&String::from_utf8_lossy(&output.stdout), output.status.success()));
    }
    let report = folder.join(format!("{name}.json"));
    let _ = std::fs::remove_file(&report);
    // Its exit status is in the report.
    let _ = run(tests.arg(format!("--ginkgo.json-report={}", report.display())));
    let text = std::fs::read(&report).map_err(|error| format!("{name} wrote no report: {error}"))?;
    let reports: Vec<Report> = serde_json::from_slice(&text).map_err(|error| format!("{name}: {error}"))?;
    Ok(reports.into_iter().flat_map(|report| report.spec_reports.unwrap_or_default()).collect())
}

/// Returns the results that Go's `testing` prints: `--- PASS: TestName (0.10s)`.
pub(crate) fn tested(output: &str, succeeded: bool) -> Vec<Spec> {
    let spec = |name: &str, state: &str| Spec {
        container_hierarchy_texts: None,
        leaf_node_text: name.to_owned(),
        leaf_node_type: "It".to_owned(),
        state: state.to_owned(),
        failure: None,
    };
    let read = |line: &str| {
        let (result, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
        let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
        let state = match result {
            "PASS" => "passed",
            "SKIP" => "skipped",
            _ => "failed",
        };
        Some(spec(name, state))
    };
    let mut specs: Vec<Spec> = output.lines().filter_map(read).collect();
    if !succeeded && !specs.iter().any(|spec| spec.state == "failed") {
        specs.push(spec("the suite", "failed"));
    }
    specs
}

/// Returns the cases without cases of their own: a test fails if one of its subtests does.
pub(crate) fn leaves(specs: Vec<Spec>) -> Vec<Spec> {
    let names: std::collections::BTreeSet<String> = specs.iter().map(Spec::name).collect();
    let is_leaf = |spec: &Spec| {
        let prefix = format!("{}/", spec.name());
        !names.range(prefix.clone()..).next().is_some_and(|next| next.starts_with(&prefix))
    };
    specs.into_iter().filter(is_leaf).collect()
}

/// Runs a program. Returns its output.
pub(crate) fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{name}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

#[cfg(test)]
mod tests {
    use super::{Report, Verdict, suites, tested};

    #[test]
    fn every_suite_has_an_exact_version() {
        assert!(suites().count() > 5);
        assert!(suites().all(|suite| suite.version.starts_with('v') && suite.version.matches('.').count() == 2));
        let lines = super::SUITES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(lines.count(), suites().count());
    }

    #[test]
    fn results_of_testing_are_read() {
        let read = |text: &str, succeeded: bool| {
            let specs = tested(text, succeeded);
            specs.iter().map(|spec| (spec.name(), spec.state.clone())).collect::<Vec<_>>()
        };
        let own = |name: &str, state: &str| (name.to_owned(), state.to_owned());
        let text = "=== RUN   TestA\n--- FAIL: TestA (0.13s)\n    --- PASS: TestA/b_(c) (0.00s)\nlog --- PASS: no\n";
        assert_eq!(read(text, false), [own("TestA", "failed"), own("TestA/b_(c)", "passed")]);
        assert_eq!(read("panic: x\n", false), [own("the suite", "failed")]);
    }

    #[test]
    fn tests_with_subtests_are_not_counted() {
        let text = "--- FAIL: TestA (0.1s)\n    --- PASS: TestA/b (0.0s)\n    --- FAIL: TestA/c (0.0s)\n--- PASS: TestAb (0.0s)\n";
        let names: Vec<String> = super::leaves(tested(text, false)).iter().map(super::Spec::name).collect();
        assert_eq!(names, ["TestA/b", "TestA/c", "TestAb"]);
    }

    #[test]
    fn reports_are_read() {
        let text = r#"[{"SpecReports": [
            {"ContainerHierarchyTexts": ["a", "b"], "LeafNodeText": "c  d", "LeafNodeType": "It", "State": "passed"},
            {"LeafNodeText": "", "LeafNodeType": "BeforeSuite", "State": "failed", "Failure": {"Message": "x\ny"}},
            {"LeafNodeText": "e", "LeafNodeType": "It", "State": "pending"}]}]"#;
        let reports: Vec<Report> = serde_json::from_str(text).expect("reports");
        let specs = reports[0].spec_reports.as_ref().expect("specs");
        let found: Vec<_> = specs.iter().map(|spec| (spec.name(), spec.verdict())).collect();
        let expected = [
            ("a b c d".to_owned(), Some(Verdict::Equal)),
            ("BeforeSuite".to_owned(), Some(Verdict::Differing("failed: x y".to_owned()))),
            ("e".to_owned(), None),
        ];
        assert_eq!(found, expected);
    }
}
