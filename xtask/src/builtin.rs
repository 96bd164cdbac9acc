//! The API of Kubernetes' releases, from the modules `k8s.io/kubernetes` of Go's module proxy.

use crate::run::{Result, cargo, output, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the folder of the modules, `kubernetes@v1.34.4` and the like, for the tests.
const MODULES: &str = "KUBESHAPE_KUBERNETES";
/// With this variable, tests write the expected results.
const RECORD: &str = "KUBESHAPE_RECORD";

/// Compares the contents of `base/builtin/` for every release with the released module.
pub(crate) fn compare() -> Result {
    test(&modules()?, false)
}

/// Updates the contents.
pub(crate) fn update() -> Result {
    let modules = modules()?;
    for (version, module) in &modules {
        let minor = version.rsplit_once('.').map_or(version.as_str(), |(minor, _)| minor);
        let file = Path::new("base/builtin/data").join(format!("{minor}.bin"));
        run(pack().arg(module.join("api")).arg(file))?;
    }
    test(&modules, true)
}

fn pack() -> Command {
    let mut command = cargo("run");
    command.args(["--quiet", "-p", "kubeshape-builtin", "--example", "pack", "--"]);
    command
}

/// Returns the version and the folder of every release's module.
fn modules() -> Result<Vec<(String, PathBuf)>> {
    let releases = String::from_utf8(output(pack().arg("--releases"))?)?;
    releases.lines().map(|version| Ok((version.to_owned(), module(version)?))).collect()
}

fn module(version: &str) -> Result<PathBuf> {
    let json = output(Command::new("go").args(["mod", "download", "-json", &format!("k8s.io/kubernetes@v{version}")]))?;
    let module: serde_json::Value = serde_json::from_slice(&json)?;
    let folder = module["Dir"].as_str().ok_or_else(|| format!("k8s.io/kubernetes@v{version}: Go gave no folder"))?;
    Ok(folder.into())
}

fn test(modules: &[(String, PathBuf)], record: bool) -> Result {
    let mut tests = cargo("test");
    tests.args(["--quiet", "-p", "kubeshape-builtin", "--test", "it"]);
    if let Some(folder) = modules.first().and_then(|(_, module)| module.parent()) {
        tests.env(MODULES, folder);
    }
    if record {
        tests.env(RECORD, "1");
    }
    run(&mut tests)
}
