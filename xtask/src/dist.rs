//! Archives and images of the command for a release. The same program gives the same bytes, and the same commit gives
//! the same program.

use crate::components;
use crate::run::{Result, cargo, metadata, output, run};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHELLS: [(&str, &str); 5] = [
    ("bash", "kubeshape.bash"),
    ("elvish", "kubeshape.elv"),
    ("fish", "kubeshape.fish"),
    ("powershell", "_kubeshape.ps1"),
    ("zsh", "_kubeshape"),
];

/// A file of an archive.
struct Entry {
    name: String,
    bytes: Vec<u8>,
    is_program: bool,
}

impl Entry {
    fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Entry {
        Entry { name: name.into(), bytes: bytes.into(), is_program: false }
    }

    fn program(name: impl Into<String>, path: &Path) -> Result<Entry> {
        Ok(Entry { name: name.into(), bytes: fs::read(path)?, is_program: true })
    }
}

/// Builds the command for a target, and archives it with its licence, completions and manual pages. Next to the archive
/// is the list of the program's components. With `zig`, the linker is that of the PyPI package `ziglang`
/// (`cargo-zigbuild`). `texts` is a program that writes the completions and pages, if the program for the target does
/// not run here.
pub(crate) fn archive(arguments: &[&str]) -> Result {
    let (target, rest) = arguments.split_first().ok_or("expected a target, such as x86_64-unknown-linux-musl")?;
    let (mut build, mut texts, mut built) = ("build", None, None);
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--zig" => build = "zigbuild",
            "--texts" => texts = rest.next().map(PathBuf::from),
            "--program" => built = rest.next().map(PathBuf::from),
            other => return Err(format!("unknown argument: {other}").into()),
        }
    }
    let metadata = metadata()?;
    let name = if target.contains("windows") { "kubeshape.exe" } else { "kubeshape" };
    let program = if let Some(program) = built {
        program
    } else {
        let folders = format!(
            "--remap-path-prefix={}=/kubeshape --remap-path-prefix={}=/cargo",
            fs::canonicalize(".")?.display(),
            cargo_home()?.display()
        );
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        run(cargo(build)
            .args(["--locked", "--profile", "dist", "-p", "kubeshape-cli", "--target", target])
            .env("RUSTFLAGS", format!("{flags} {folders}")))?;
        metadata.target().join(target).join("dist").join(name)
    };
    let version = metadata.packages().find(|package| package.name == "kubeshape-cli").map(|package| package.version);
    let folder = folder(version.ok_or("the workspace has no kubeshape-cli")?, target);
    let texts = texts.unwrap_or_else(|| program.clone());
    let program = Entry::program(format!("{folder}/{name}"), &program)?;
    let components = components::document(target, &hash(&program.bytes))?;
    let mut entries = vec![program];
    for file in ["LICENSE", "README.md", "CHANGELOG.md"] {
        entries.push(Entry::new(format!("{folder}/{file}"), fs::read(file)?));
    }
    for (shell, file) in SHELLS {
        let text = output(Command::new(&texts).args(["completions", shell]))?;
        entries.push(Entry::new(format!("{folder}/completions/{file}"), text));
    }
    let pages = tempfile::tempdir()?;
    run(Command::new(&texts).args(["man", "--output"]).arg(pages.path()))?;
    for (name, bytes) in files(pages.path())? {
        entries.push(Entry::new(format!("{folder}/man/{name}"), bytes));
    }
    write(&format!("{folder}.tar.gz"), &gzip(&tar(entries)?)?)?;
    write(&format!("{folder}.cdx.json"), &components)
}

/// The name of an archive without its suffix, and of its folder. `cli/Cargo.toml` tells it to `cargo binstall`.
fn folder(version: &str, target: &str) -> String {
    format!("kubeshape-{version}-{target}")
}

/// Writes an image with only the programs, as an OCI layout in a tar archive. An argument is an architecture and its
/// static program: `amd64=FILE`.
pub(crate) fn image(arguments: &[&str]) -> Result {
    let metadata = metadata()?;
    let version = metadata.packages().find(|package| package.name == "kubeshape-cli").map(|package| package.version);
    let version = version.ok_or("the workspace has no kubeshape-cli")?;
    let mut programs = Vec::new();
    for argument in arguments {
        let (architecture, file) = argument.split_once('=').ok_or("expected ARCHITECTURE=FILE")?;
        programs.push((architecture, Entry::program("kubeshape", Path::new(file))?));
    }
    write(&format!("kubeshape-{version}-oci.tar"), &layout(version, programs)?)
}

fn layout(version: &str, programs: Vec<(&str, Entry)>) -> Result<Vec<u8>> {
    let mut blobs = Vec::new();
    let mut manifests = Vec::new();
    for (architecture, program) in programs {
        let layer = tar(vec![program])?;
        let config = json!({
            "architecture": architecture,
            "os": "linux",
            // No user of the host has this number.
            "config": {
                "User": "65532:65532",
                "Entrypoint": ["/kubeshape"],
                "WorkingDir": "/",
                "Labels": {
                    "org.opencontainers.image.licenses": "Apache-2.0",
                    "org.opencontainers.image.source": "https://github.com/kubeshape/kubeshape",
                    "org.opencontainers.image.version": version,
                },
            },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", hash(&layer))] },
        });
        let layer = blob("application/vnd.oci.image.layer.v1.tar+gzip", gzip(&layer)?, &mut blobs);
        let config = blob("application/vnd.oci.image.config.v1+json", serde_json::to_vec(&config)?, &mut blobs);
        let media = "application/vnd.oci.image.manifest.v1+json";
        let manifest = json!({ "schemaVersion": 2, "mediaType": media, "config": config, "layers": [layer] });
        let mut manifest = blob(media, serde_json::to_vec(&manifest)?, &mut blobs);
        manifest["platform"] = json!({ "architecture": architecture, "os": "linux" });
        manifests.push(manifest);
    }
    let media = "application/vnd.oci.image.index.v1+json";
    let all = json!({ "schemaVersion": 2, "mediaType": media, "manifests": manifests });
    let mut all = blob(media, serde_json::to_vec(&all)?, &mut blobs);
    all["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    let index = json!({ "schemaVersion": 2, "mediaType": media, "manifests": [all] });
    blobs.push(Entry::new("index.json", serde_json::to_vec(&index)?));
    blobs.push(Entry::new("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#));
    tar(blobs)
}

/// Adds a blob. Returns its descriptor.
fn blob(media: &str, bytes: Vec<u8>, blobs: &mut Vec<Entry>) -> Value {
    let (hash, size) = (hash(&bytes), bytes.len());
    blobs.push(Entry::new(format!("blobs/sha256/{hash}"), bytes));
    json!({ "mediaType": media, "digest": format!("sha256:{hash}"), "size": size })
}

/// An archive without owners and times, in the order of the names.
fn tar(mut entries: Vec<Entry>) -> Result<Vec<u8>> {
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    // Blobs with the same name are equal.
    entries.dedup_by(|a, b| a.name == b.name);
    let mut tar = tar::Builder::new(Vec::new());
    for entry in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(if entry.is_program { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        tar.append_data(&mut header, &entry.name, entry.bytes.as_slice())?;
    }
    Ok(tar.into_inner()?)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut gzip = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut gzip, bytes)?;
    Ok(gzip.finish()?)
}

fn hash(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Writes a file of the release with its checksum.
fn write(name: &str, bytes: &[u8]) -> Result {
    let folder = metadata()?.target().join("release-files");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)?;
    let sum = format!("{}  {name}\n", hash(bytes));
    print!("{sum}");
    Ok(fs::write(folder.join(format!("{name}.sha256")), sum)?)
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    Ok(PathBuf::from(home.ok_or("neither CARGO_HOME nor HOME is set")?).join(".cargo"))
}

/// The files of a folder with their names.
fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        out.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_the_same_bytes_each_time() -> Result {
        let program = || Entry { name: "kubeshape".to_owned(), bytes: vec![7; 100_000], is_program: true };
        let make = || layout("1.2.3", vec![("amd64", program()), ("arm64", program())]);
        let made = make()?;
        assert_eq!(made, make()?);
        let mut names = Vec::new();
        for entry in tar::Archive::new(made.as_slice()).entries()? {
            let mut entry = entry?;
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes)?;
            let name = entry.path()?.to_string_lossy().into_owned();
            // A blob has the name of its hash.
            if let Some(name) = name.strip_prefix("blobs/sha256/") {
                assert_eq!(name, hash(&bytes));
            }
            names.push(name);
        }
        // Both images have one layer; their configurations and manifests differ.
        assert_eq!((names.len(), &*names[names.len() - 1], &*names[names.len() - 2]), (8, "oci-layout", "index.json"));
        Ok(())
    }

    #[test]
    fn binstall_finds_the_program_in_an_archive() -> Result {
        let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/Cargo.toml"))?;
        let filled = |key: &str| {
            let mut lines = manifest.lines();
            let template = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
            let values = [
                ("{ repo }", "https://example.com"),
                ("{ version }", "1.2.3"),
                ("{ target }", "some-target"),
                ("{ archive-suffix }", ".tar.gz"),
                ("{ bin }", "kubeshape"),
                ("{ binary-ext }", ""),
            ];
            values.iter().fold(template.unwrap_or_default().to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let folder = folder("1.2.3", "some-target");
        assert_eq!(filled("pkg-url"), format!("https://example.com/releases/download/v1.2.3/{folder}.tar.gz"));
        assert_eq!(filled("bin-dir"), format!("{folder}/kubeshape"));
        Ok(())
    }

    #[test]
    fn an_archive_has_no_owners_and_no_times() -> Result {
        let program = Entry { name: "a/kubeshape".to_owned(), bytes: vec![1], is_program: true };
        let made = tar(vec![program, Entry::new("a/LICENSE", "x")])?;
        let mut found = Vec::new();
        for entry in tar::Archive::new(made.as_slice()).entries()? {
            let header = entry?.header().clone();
            let path = header.path()?.to_string_lossy().into_owned();
            found.push((path, header.mode()?, header.uid()?, header.gid()?, header.mtime()?));
        }
        assert_eq!(found, [("a/LICENSE".to_owned(), 0o644, 0, 0, 0), ("a/kubeshape".to_owned(), 0o755, 0, 0, 0)]);
        Ok(())
    }
}
