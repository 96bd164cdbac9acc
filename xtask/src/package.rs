//! Proof that the packages are complete: the command, built from the archives alone, does the main job.

use crate::run::{Result, cargo, metadata, output, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Brings the dependencies to the features that they have in the workspace. Then what the tests compiled serves here, too.
const FEATURES: &str = "features-of-the-workspace";

/// Packs every published crate, unpacks the archives into a folder of their own, builds the command there, and converts
/// the project's own CustomResourceDefinitions with it.
pub(crate) fn prove() -> Result {
    let metadata = metadata()?;
    let target = metadata.target();

    println!("packing");
    let mut pack = cargo("package");
    pack.args(["--workspace", "--no-verify", "--allow-dirty", "--quiet"]);
    let mut archives = Vec::new();
    for package in metadata.packages() {
        if package.is_published {
            archives.push((package.name, format!("{}-{}", package.name, package.version)));
        } else {
            pack.args(["--exclude", package.name]);
        }
    }
    run(&mut pack)?;

    println!("unpacking {} archives", archives.len());
    let folder = target.join("package").join("unpacked");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut manifest =
        String::from("[workspace]\nresolver = \"3\"\nmembers = [\"kubeshape-cli-*\", \"features-of-the-workspace\"]\n");
    manifest.push_str("\n[patch.crates-io]\n");
    for (name, archive) in &archives {
        let file = target.join("package").join(format!("{archive}.crate"));
        run(Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(&folder))?;
        if *name != "kubeshape-cli" {
            writeln!(manifest, "{name} = {{ path = \"{archive}\" }}")?;
        }
    }
    // The profiles and the versions of dependencies are those of the workspace.
    let workspace = fs::read_to_string("Cargo.toml")?;
    if let Some(profiles) = workspace.find("\n[profile.") {
        manifest.push_str(&workspace[profiles..]);
    }
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;

    let features = folder.join(FEATURES);
    fs::create_dir_all(features.join("src"))?;
    fs::write(features.join("src").join("lib.rs"), "")?;
    fs::write(features.join("Cargo.toml"), features_of_the_workspace()?)?;

    // Only the packages themselves are built anew, and quickly, because the job is small.
    println!("building the command from them");
    let cargo_toml = folder.join("Cargo.toml");
    run(cargo("build")
        .args(["--quiet", "-p", "kubeshape-cli", "-p", FEATURES, "--manifest-path"])
        .arg(&cargo_toml)
        .arg("--target-dir")
        .arg(target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0"))?;

    println!("converting corpus/crds with it");
    let out = folder.join("shapes");
    run(Command::new(target.join("debug").join("kubeshape"))
        .args(["convert", "corpus/crds", "--to", "v3", "--to", "v2", "--to", "smd", "-o"])
        .arg(&out))?;
    for name in ["swagger.json"] {
        if fs::metadata(out.join(name)).map_or(0, |file| file.len()) == 0 {
            return Err(format!("{} is missing or empty", out.join(name).display()).into());
        }
    }
    Ok(())
}

/// A dependency as it is compiled: name, version and features.
type Compiled = (String, String, String);

/// The dependencies of the workspace of some kinds, but for its own crates, each with those that it depends on.
fn compiled(kinds: &str) -> Result<BTreeMap<Compiled, BTreeSet<Compiled>>> {
    let mut tree = cargo("tree");
    tree.args(["--workspace", "--prefix", "depth", "--format", " {p}|{f}", "--edges", kinds]);
    let mut all: BTreeMap<Compiled, BTreeSet<Compiled>> = BTreeMap::new();
    let mut above: Vec<Option<Compiled>> = Vec::new();
    for line in String::from_utf8(output(&mut tree)?)?.lines() {
        let Some((depth, package)) = line.split_once(' ') else { continue };
        let (package, features) = package.trim_end_matches(" (*)").split_once('|').unwrap_or((package, ""));
        let (name, version) = package.split_once(" v").unwrap_or((package, ""));
        let version = version.trim_end_matches(" (proc-macro)");
        // Own crates have their path behind the version.
        let compiled = (!version.contains(' ')).then(|| (name.to_owned(), version.to_owned(), features.to_owned()));
        above.truncate(depth.parse()?);
        if let Some(compiled) = &compiled {
            all.entry(compiled.clone()).or_default();
            if let Some(Some(parent)) = above.last() {
                all.entry(parent.clone()).or_default().insert(compiled.clone());
            }
        }
        above.push(compiled);
    }
    Ok(all)
}

/// The manifest of a package that depends on all that the tests of the workspace depend on, with the same features.
fn features_of_the_workspace() -> Result<String> {
    let for_target = compiled("normal,dev,no-proc-macro")?;
    let all = compiled("normal,build,dev")?;
    // What build scripts and macros use has other features there, or is for them alone. What that depends on is there, too.
    let others = all.iter().filter(|(one, _)| !for_target.contains_key(*one));
    let for_host: BTreeSet<&Compiled> = others.flat_map(|(one, below)| below.iter().chain([one])).collect();
    let mut manifest = format!(
        "[package]\nname = \"{FEATURES}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n"
    );
    let add = |(name, version, features): &Compiled, manifest: &mut String| {
        let features: Vec<String> =
            features.split(',').filter(|name| !name.is_empty()).map(|name| format!("{name:?}")).collect();
        // A package may be there in several versions.
        let key = format!("{name}-{}", version.replace(['.', '+'], "_"));
        writeln!(
            manifest,
            "{key} = {{ package = \"{name}\", version = \"={version}\", default-features = false, features = [{}] }}",
            features.join(", ")
        )
    };
    for dependency in for_target.keys() {
        add(dependency, &mut manifest)?;
    }
    manifest.push_str("\n[build-dependencies]\n");
    for dependency in for_host {
        add(dependency, &mut manifest)?;
    }
    Ok(manifest)
}
