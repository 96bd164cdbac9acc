//! Puts the commit into the version, when the crate is built from its own repository.
#![allow(clippy::print_stdout)] // A build script prints instructions for cargo.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(|dir| Path::new(&dir).join(".."));
    // A source package unpacked in another repository must not show that repository's commit.
    let root = root.filter(|root| root.join(".git").exists());
    let commit = root.as_deref().and_then(|root| git(root, &["rev-parse", "--short=12", "HEAD"]));
    match commit {
        Some(commit) => println!("cargo:rustc-env=KUBESHAPE_VERSION={version} ({commit})"),
        None => println!("cargo:rustc-env=KUBESHAPE_VERSION={version}"),
    }
    let Some(root) = root else { return };
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&root, &["rev-parse", "--git-path", name]) {
            let path = root.join(path);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
