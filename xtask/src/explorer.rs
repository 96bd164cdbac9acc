//! The WebAssembly build, and the files of the explorer that are built from it.

use crate::run::{Result, cargo, run};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// The sources of the files.
const SOURCES: [&str; 3] = ["describe/explorer/web", "kubeshape/js/src", "kubeshape/js/bindgen"];
/// Contents of these folders that are not sources.
const MADE: [&str; 5] = ["node_modules", "generated", "target", "test", "Cargo.lock"];
const STAMP: &str = "describe/explorer/dist/stamp";
const WEB: &str = "describe/explorer/web";
const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/// Where tests write pictures of what they see.
const PICTURES: &str = "target/pictures";
/// The maximum size of a picture in `docs/`, in bytes.
const LARGEST_PICTURE: usize = 150_000;

/// Checks that the libraries compile to WebAssembly, without a C compiler.
pub(crate) fn wasm() -> Result {
    let mut check = cargo("check");
    check.args([
        "--quiet",
        "--target",
        TARGET,
        "-p",
        "kubeshape-js",
        "-p",
        "kubeshape",
        "--features",
        "kubeshape/builtin",
    ]);
    // If C code were compiled, no compiler would be found.
    run(check.env("CC", "no-c-compiler").env("TARGET_CC", "no-c-compiler"))
}

/// Builds the files of the explorer. This needs Node, and downloads packages from npm.
pub(crate) fn build() -> Result {
    run(cargo("build").args(["--profile", "web", "--target", TARGET, "-p", "kubeshape-js", "--lib"]))?;
    let manifest = "kubeshape/js/bindgen/Cargo.toml";
    let module = format!("target/{TARGET}/web/kubeshape_js.wasm");
    let generated = format!("{WEB}/generated");
    run(cargo("run").args(["--quiet", "--manifest-path", manifest, "--target-dir", "target/bindgen", "--"]).args([
        &module,
        &generated,
        "kubeshape",
    ]))?;
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(WEB))?;
    run(Command::new("node").args(["node_modules/typescript/bin/tsc", "-p", "."]).current_dir(WEB))?;
    run(Command::new("node").args(["build.mjs", "../dist"]).current_dir(WEB))?;
    fs::write(STAMP, stamp()?)?;
    Ok(())
}

/// Checks that the files of the explorer are up to date with its sources.
pub(crate) fn check() -> Result {
    if fs::read_to_string(STAMP).unwrap_or_default() == stamp()? {
        return Ok(());
    }
    Err("describe/explorer/dist is not made from these sources: run `cargo xtask explorer`".into())
}

/// Runs the browser tests, and those of the npm package. With `pictures`, it makes those of the documentation, too.
pub(crate) fn test(pictures: bool) -> Result {
    let Some(chromium) = chromium()? else { return Ok(()) };
    // Reports, pages and the server are those of the command.
    run(cargo("build").args(["--quiet", "-p", "kubeshape-cli", "--bin", "kubeshape"]))?;
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(WEB))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(format!("{WEB}/test"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.mjs") {
            files.push(format!("test/{name}"));
        }
    }
    files.sort();
    let mut tests = Command::new("node");
    tests.args(["--test", "--test-reporter=spec"]).args(files).current_dir(WEB);
    tests.env("KUBESHAPE_CHROMIUM", chromium);
    if !pictures {
        return run(&mut tests);
    }
    let folder = std::path::absolute(PICTURES)?;
    run(tests.env("KUBESHAPE_PICTURES", &folder))?;
    let picture = fs::read(folder.join("example.png"))?;
    if picture.len() > LARGEST_PICTURE {
        return Err(format!("example.png has {} bytes; at most {LARGEST_PICTURE} fit into docs/", picture.len()).into());
    }
    fs::write("docs/explorer.png", picture)?;
    Ok(())
}

/// Measures sizes and times of a site with these definitions, and fails if they are too large.
pub(crate) fn bench(folder: &str) -> Result {
    let Some(chromium) = chromium()? else { return Err("the benchmark needs Node and Chromium".into()) };
    run(cargo("build").args(["--quiet", "--release", "-p", "kubeshape-cli", "--bin", "kubeshape"]))?;
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(WEB))?;
    let folder = std::path::absolute(folder)?;
    let command = std::path::absolute("target/release/kubeshape")?;
    let mut bench = Command::new("node");
    bench.arg("test/bench.mjs").arg(folder).current_dir(WEB);
    run(bench.env("KUBESHAPE_CHROMIUM", chromium).env("KUBESHAPE_COMMAND", command))
}

/// Returns the browser: that of `KUBESHAPE_CHROMIUM`, or one of the system. `None` without a browser or without Node.
///
/// # Errors
/// KUBESHAPE_CHROMIUM names a browser that is missing, or there is no Node for it: CI must not pass without its tests.
fn chromium() -> Result<Option<PathBuf>> {
    let named = std::env::var_os("KUBESHAPE_CHROMIUM").map(PathBuf::from);
    let has_node = Command::new("npm").arg("--version").output().is_ok();
    if let Some(named) = named {
        if !named.exists() {
            return Err(format!("KUBESHAPE_CHROMIUM: there is no file {}", named.display()).into());
        }
        if !has_node {
            return Err("the browser of KUBESHAPE_CHROMIUM needs Node: apt-get install nodejs npm".into());
        }
        return Ok(Some(named));
    }
    let found = BROWSERS.iter().map(PathBuf::from).find(|path| has_node && path.exists());
    if found.is_none() {
        println!(
            "not checked: the explorer in a browser (Node and Chromium are needed: apt-get install nodejs npm chromium)"
        );
    }
    Ok(found)
}

/// Returns the hash of all sources with their names.
fn stamp() -> Result<String> {
    let mut files = Vec::new();
    for folder in SOURCES {
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/");
        // Checkouts on Windows may have other line endings.
        let text = fs::read_to_string(&file)?.replace("\r\n", "\n");
        hash.update(format!("{name} {}\n{text}", text.len()));
    }
    let mut out = String::new();
    for byte in hash.finalize() {
        write!(out, "{byte:02x}")?;
    }
    out.push('\n');
    Ok(out)
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) -> Result {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_none_or(|name| MADE.contains(&name)) {
            continue;
        }
        if path.is_dir() {
            collect(&path, out)?;
        } else {
            out.push(path);
        }
    }
    Ok(())
}
