//! What a program is made of, as a CycloneDX document: the crates that are linked into it, and the npm packages of the
//! explorer's pages. The same commit gives the same bytes.

use crate::run::{Result, cargo, output};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The crate that has the explorer's pages, and their sources.
const PAGES: (&str, &str) = ("kubeshape-explorer", "describe/explorer/web");

/// Returns the document of the command for a target. `hash` is the SHA-256 of the program.
pub(crate) fn document(target: &str, hash: &str) -> Result<Vec<u8>> {
    // What only compiles is not in the program: build scripts and procedural macros.
    let edges = "normal,no-proc-macro";
    let tree =
        output(cargo("tree").args(["--locked", "-p", "kubeshape-cli", "--target", target, "-e", edges]).args([
            "--prefix",
            "depth",
            "--format",
            "|{p}|{l}|{r}",
        ]))?;
    let (root, mut components) = crates(&String::from_utf8(tree)?, &fs::read_to_string("Cargo.lock")?)?;

    let pages = Path::new(PAGES.1);
    let lock: Value = serde_json::from_str(&fs::read_to_string(pages.join("package-lock.json"))?)?;
    let mut sources = String::new();
    for entry in fs::read_dir(pages.join("src"))? {
        let path = entry?.path();
        if path.is_file() {
            sources += &fs::read_to_string(path)?;
        }
    }
    let (direct, packages) = npm(&lock, &sources)?;
    let host = components.values_mut().find(|component| component.name == PAGES.0);
    host.ok_or("the command has no explorer")?.uses.extend(direct);
    components.extend(packages);

    let time = output(Command::new("git").env("TZ", "UTC0").args([
        "log",
        "-1",
        "--format=%cd",
        "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
    ]))?;
    let document = describe(&root, &components, target, hash, String::from_utf8(time)?.trim())?;
    Ok(serde_json::to_vec_pretty(&document)?)
}

#[derive(Debug, Default)]
struct Component {
    name: String,
    version: String,
    licence: String,
    repository: String,
    /// SHA-256 of the crate's package.
    checksum: Option<String>,
    /// Package URLs.
    uses: BTreeSet<String>,
}

/// Components by their package URLs.
type Components = BTreeMap<String, Component>;

/// Reads the output of `cargo tree` in the format that `document` asks for, in which crates below another one are used
/// by it. Returns the package URL of the first one, too.
fn crates(tree: &str, lock: &str) -> Result<(String, Components)> {
    let checksums = checksums(lock);
    let mut crates = Components::new();
    let mut above: Vec<String> = Vec::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let unexpected = || format!("cargo tree prints an unexpected line: {line}");
        // What a crate uses is printed once. `(*)` stands for it elsewhere.
        let parts: Vec<&str> = line.trim_end_matches(" (*)").split('|').collect();
        let [depth, package, licence, repository] = parts[..] else { return Err(unexpected().into()) };
        let depth: usize = depth.parse().map_err(|_| unexpected())?;
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next().and_then(|word| word.strip_prefix('v'))) else {
            return Err(unexpected().into());
        };
        // Only the first line has no other above it.
        if depth > above.len() || (depth == 0) != crates.is_empty() {
            return Err(unexpected().into());
        }
        let url = url("cargo", name, version);
        above.truncate(depth);
        if let Some(user) = above.last().and_then(|user| crates.get_mut(user)) {
            user.uses.insert(url.clone());
        }
        let component = crates.entry(url.clone()).or_default();
        name.clone_into(&mut component.name);
        version.clone_into(&mut component.version);
        // Older crates write `MIT/Apache-2.0`, which is no SPDX expression.
        component.licence = licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ");
        repository.clone_into(&mut component.repository);
        component.checksum = checksums.get(&url).map(|checksum| (*checksum).to_owned());
        above.push(url);
    }
    Ok((above.into_iter().next().ok_or("cargo tree prints nothing")?, crates))
}

/// The checksums in a Cargo.lock. Members of the workspace have none.
fn checksums(lock: &str) -> BTreeMap<String, &str> {
    let mut out = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let of = |key: &str| {
            let mut lines = package.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
        };
        if let (Some(name), Some(version), Some(checksum)) = (of("name"), of("version"), of("checksum")) {
            out.insert(url("cargo", name, version), checksum);
        }
    }
    out
}

/// Returns the packages of a package-lock.json that sources import, and what these use. The first result has only the
/// package URLs of what is imported.
fn npm(lock: &Value, sources: &str) -> Result<(Vec<String>, Components)> {
    let names = |package: &Value, key: &str| -> Vec<String> {
        package[key].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let locked = |name: &str| -> Result<(&Value, String)> {
        let package = &lock["packages"][format!("node_modules/{name}")];
        let version = package["version"].as_str().ok_or_else(|| format!("package-lock.json has no {name}"))?;
        Ok((package, url("npm", name, version)))
    };
    let is_imported = |name: &String| ['"', '/'].iter().any(|end| sources.contains(&format!("\"{name}{end}")));
    let direct: Vec<String> = names(&lock["packages"][""], "devDependencies").into_iter().filter(is_imported).collect();
    let mut out = Components::new();
    let mut waiting = direct.clone();
    while let Some(name) = waiting.pop() {
        let (package, url) = locked(&name)?;
        if out.contains_key(&url) {
            continue;
        }
        let below = names(package, "dependencies");
        let uses = below.iter().map(|name| Ok(locked(name)?.1)).collect::<Result<_>>()?;
        waiting.extend(below);
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        out.insert(url, Component { version: text("version"), licence: text("license"), name, uses, ..<_>::default() });
    }
    Ok((direct.iter().map(|name| Ok(locked(name)?.1)).collect::<Result<_>>()?, out))
}

fn describe(root: &str, components: &Components, target: &str, hash: &str, time: &str) -> Result<Value> {
    let mut program = describe_one(root, components.get(root).ok_or("the program is missing")?);
    program["type"] = json!("application");
    program["hashes"] = json!([{ "alg": "SHA-256", "content": hash }]);
    program["properties"] = json!([{ "name": "cargo:target", "value": target }]);
    let others = components.iter().filter(|(url, _)| *url != root);
    let edges = components.iter().map(|(url, component)| json!({ "ref": url, "dependsOn": component.uses }));
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "timestamp": time, "component": program },
        "components": others.map(|(url, component)| describe_one(url, component)).collect::<Vec<_>>(),
        "dependencies": edges.collect::<Vec<_>>(),
    }))
}

fn describe_one(url: &str, component: &Component) -> Value {
    let mut out = json!({
        "type": "library",
        "bom-ref": url,
        "name": component.name,
        "version": component.version,
        "purl": url,
    });
    if !component.licence.is_empty() {
        out["licenses"] = json!([{ "expression": component.licence }]);
    }
    if !component.repository.is_empty() {
        out["externalReferences"] = json!([{ "type": "vcs", "url": component.repository }]);
    }
    if let Some(checksum) = &component.checksum {
        out["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    out
}

/// The package URL of a package.
fn url(kind: &str, name: &str, version: &str) -> String {
    format!("pkg:{kind}/{}@{}", name.replace('@', "%40"), version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
0|kubeshape-cli v0.1.0 (/home/a/kubeshape/cli)|Apache-2.0|https://example.com/kubeshape
1|kubeshape-yaml v0.1.0 (/home/a/kubeshape/base/yaml)|Apache-2.0|https://example.com/kubeshape
2|memchr v2.8.3|Unlicense / MIT|https://example.com/memchr
1|memchr v2.8.3|Unlicense / MIT|https://example.com/memchr (*)
1|writer v1.2.0+spec-1.1.0||
";

    const LOCK: &str = "\
version = 4

[[package]]
name = \"kubeshape-yaml\"
version = \"0.1.0\"
dependencies = [
 \"memchr\",
]

[[package]]
name = \"memchr\"
version = \"2.8.3\"
source = \"registry\"
checksum = \"abcd\"
";

    #[test]
    fn a_program_is_described_with_licences_checksums_and_edges() -> Result {
        let (root, crates) = crates(TREE, LOCK)?;
        let described = describe(&root, &crates, "some-target", "ef01", "2026-01-02T03:04:05Z")?;
        let hash = |content: &str| json!([{ "alg": "SHA-256", "content": content }]);
        assert_eq!(
            described["metadata"],
            json!({
                "timestamp": "2026-01-02T03:04:05Z",
                "component": {
                    "type": "application",
                    "bom-ref": "pkg:cargo/kubeshape-cli@0.1.0",
                    "name": "kubeshape-cli",
                    "version": "0.1.0",
                    "purl": "pkg:cargo/kubeshape-cli@0.1.0",
                    "licenses": [{ "expression": "Apache-2.0" }],
                    "externalReferences": [{ "type": "vcs", "url": "https://example.com/kubeshape" }],
                    "hashes": hash("ef01"),
                    "properties": [{ "name": "cargo:target", "value": "some-target" }],
                },
            })
        );
        let components = described["components"].as_array().ok_or("no components")?;
        let names: Vec<&Value> = components.iter().map(|component| &component["name"]).collect();
        assert_eq!(names, ["kubeshape-yaml", "memchr", "writer"]);
        assert_eq!(components[1]["licenses"], json!([{ "expression": "Unlicense OR MIT" }]));
        assert_eq!(components[1]["hashes"], hash("abcd"));
        assert_eq!((&components[0]["hashes"], &components[2]["licenses"]), (&Value::Null, &Value::Null));
        let (yaml, memchr, writer) =
            ("pkg:cargo/kubeshape-yaml@0.1.0", "pkg:cargo/memchr@2.8.3", "pkg:cargo/writer@1.2.0%2Bspec-1.1.0");
        assert_eq!(
            described["dependencies"],
            json!([
                { "ref": root, "dependsOn": [yaml, memchr, writer] },
                { "ref": yaml, "dependsOn": [memchr] },
                { "ref": memchr, "dependsOn": [] },
                { "ref": writer, "dependsOn": [] },
            ])
        );
        // Folders of the machine are not in it.
        assert!(!described.to_string().contains("/home/a"));
        Ok(())
    }

    #[test]
    fn what_pages_import_is_found_with_what_it_uses() -> Result {
        let lock = json!({ "packages": {
            "": { "devDependencies": { "@codemirror/view": "6", "esbuild": "0.28", "preact": "11" } },
            "node_modules/@codemirror/view": {
                "version": "6.43.15", "license": "MIT", "dependencies": { "crelt": "^1" },
            },
            "node_modules/crelt": { "version": "1.0.6", "license": "MIT" },
            "node_modules/esbuild": { "version": "0.28.2", "license": "MIT" },
            "node_modules/preact": { "version": "11.2.0", "license": "MIT" },
        } });
        let sources = r#"import { EditorView } from "@codemirror/view"; import { useState } from "preact/hooks";"#;
        let (direct, found) = npm(&lock, sources)?;
        let (view, crelt, preact) =
            ("pkg:npm/%40codemirror/view@6.43.15", "pkg:npm/crelt@1.0.6", "pkg:npm/preact@11.2.0");
        assert_eq!(direct, [view, preact]);
        assert_eq!(found.keys().collect::<Vec<_>>(), [view, crelt, preact]);
        assert_eq!(found[view].uses, BTreeSet::from([crelt.to_owned()]));
        assert_eq!((&*found[crelt].name, &*found[crelt].licence), ("crelt", "MIT"));
        Ok(())
    }

    #[test]
    fn other_output_is_an_error() {
        let trees =
            ["", "kubeshape-cli v0.1.0\n", "0|a|MIT|\n", "x|a v1|MIT|\n", "1|a v1|MIT|\n", "0|a v1||\n0|b v1||\n"];
        for tree in trees {
            assert!(crates(tree, "").is_err(), "{tree}");
        }
        let lock = json!({ "packages": { "": { "devDependencies": { "preact": "11" } } } });
        assert!(npm(&lock, r#"import "preact""#).is_err());
    }
}
