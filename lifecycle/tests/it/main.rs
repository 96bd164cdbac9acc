//! Integration tests: texts in, data out.

mod annotate;
mod bounds;
mod changes;
mod lint;
mod releases;
mod tags;

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
    let mut text = "package features\nconst (\n".to_owned();
    for (name, _) in gates {
        text.push_str(&format!("\t{name} featuregate.Feature = \"{name}\"\n"));
    }
    text.push_str(")\nvar specs = map[featuregate.Feature]featuregate.VersionedSpecs{\n");
    for (name, specs) in gates {
        text.push_str(&format!("\t{name}: {{\n"));
        for spec in specs.split_whitespace() {
            let (version, stage) = spec.split_once('=').unwrap_or((spec, "Alpha"));
            text.push_str(&format!(
                "\t\t{{Version: version.MustParse(\"{version}\"), PreRelease: featuregate.{stage}}},\n"
            ));
        }
        text.push_str("\t},\n");
    }
    text.push_str("}\n");
    let (features, findings) = Features::read([Source::from_text("kube_features.go", text)]);
    assert_eq!(findings, Vec::new());
    features
}
