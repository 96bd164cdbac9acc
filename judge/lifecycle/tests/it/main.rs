//! Integration tests: strings in, data out.

mod annotate;
mod bounds;
mod changes;
mod docs;
mod entries;
mod kinds;
mod lint;
mod releases;
mod tags;
mod warn;

use kubeshape_input::Source;
use kubeshape_lifecycle::{Features, Types};

/// Reads Go files of types: names and contents.
fn types(files: &[(&str, &str)]) -> Types {
    let (types, findings) = Types::read(files.iter().map(|(name, text)| Source::from_text(*name, *text)));
    assert_eq!(findings, Vec::new());
    types
}

/// Returns the Go files of a folder, sorted by path. Their names begin with the path of the folder.
fn go_sources(folder: &std::path::Path) -> Vec<Source> {
    let mut paths = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "go") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: std::path::PathBuf| {
        Source::from_text(path.to_string_lossy(), std::fs::read_to_string(&path).expect("a Go file"))
    };
    paths.into_iter().map(read).collect()
}

/// Reads a file of gates, `NAME: SPECS` on each line.
fn features(gates: &[(&str, &str)]) -> Features {
    let constant = |(name, _): &(&str, &str)| format!("\t{name} featuregate.Feature = \"{name}\"\n");
    let spec = |spec: &str| {
        let (version, stage) = spec.split_once('=').unwrap_or((spec, "Alpha"));
        format!("\t\t{{Version: version.MustParse(\"{version}\"), PreRelease: featuregate.{stage}}},\n")
    };
    let entry = |(name, specs): &(&str, &str)| {
        let specs: String = specs.split_whitespace().map(spec).collect();
        format!("\t{name}: {{\n{specs}\t}},\n")
    };
    let text = format!(
        "package features\nconst (\n{})\nvar specs = map[featuregate.Feature]featuregate.VersionedSpecs{{\n{}}}\n",
        gates.iter().map(constant).collect::<String>(),
        gates.iter().map(entry).collect::<String>(),
    );
    let (features, findings) = Features::read([Source::from_text("kube_features.go", text)]);
    assert_eq!(findings, Vec::new());
    features
}
