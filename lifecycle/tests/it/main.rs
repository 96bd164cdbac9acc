//! Integration tests: texts in, data out.

mod annotate;
mod bounds;
mod changes;
mod lint;
mod releases;
mod tags;
mod warn;

use kubeshape_input::Source;
use kubeshape_lifecycle::{Features, Types};

/// Reads Go files of types; their names and texts.
fn types(files: &[(&str, &str)]) -> Types {
    let (types, findings) = Types::read(files.iter().map(|(name, text)| Source::from_text(*name, *text)));
    assert_eq!(findings, Vec::new());
    types
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
