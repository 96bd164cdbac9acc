//! Names of results in a folder.
//!
//! Groups, plurals and versions come from the input and are no file names yet: whatever is not a letter, a
//! digit, `-` or `.` is percent-encoded, so that a name never leaves its folder and no two resources share one.

use crate::args::{Format, Shape};
use std::fmt::Write;
use std::hash::Hasher;

/// Longest name of a file or folder that is written as it is; common file systems take 255 bytes.
const LONGEST: usize = 180;

/// `swagger.json`: the merged OpenAPI v2 document.
pub(crate) fn single(format: Format) -> String {
    format!("swagger.{}", suffix(format))
}

/// `apis__GROUP__VERSION_openapi.json`: the OpenAPI v3 document of the group version `apis/GROUP/VERSION`.
pub(crate) fn group_version(path: &str, format: Format) -> String {
    let path = path.strip_prefix("apis/").unwrap_or(path);
    let (group, version) = path.rsplit_once('/').unwrap_or((path, ""));
    shortened(format!("apis__{}__{}_openapi", encoded(group), encoded(version))) + "." + suffix(format)
}

/// `PLURAL.GROUP`: the folder of a resource.
pub(crate) fn folder(plural: &str, group: &str) -> String {
    let mut name = format!("{}.{}", encoded(plural), encoded(group));
    // Neither `.` and `..` nor a hidden folder.
    if name.starts_with('.') {
        name.replace_range(..1, "%2E");
    }
    shortened(name)
}

/// The file of one version, or of all versions, in the folder of its resource.
pub(crate) fn file(shape: Shape, version: &str, format: Format) -> String {
    let suffix = suffix(format);
    if shape == Shape::Smd {
        return format!("schema.smd.{suffix}");
    }
    let mut name = encoded(version);
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '%');
    }
    format!("{}.{}.{suffix}", shortened(name), shape.name())
}

/// Whether a path relative to an output folder is one of those above: what `--prune` looks at.
pub(crate) fn is_result(components: &[&str]) -> bool {
    let stem = |name: &str| -> Option<String> {
        name.strip_suffix(".json").or_else(|| name.strip_suffix(".yaml")).map(str::to_owned)
    };
    match components {
        [name] => stem(name).is_some_and(|stem| {
            stem == "swagger"
                || stem
                    .strip_prefix("apis__")
                    .and_then(|rest| rest.strip_suffix("_openapi"))
                    .is_some_and(|rest| rest.split("__").count() == 2)
        }),
        [folder, name] => {
            folder.contains('.')
                && stem(name).is_some_and(|stem| {
                    stem == "schema.smd"
                        || [".v3", ".v2", ".structural"]
                            .iter()
                            .any(|s| stem.strip_suffix(s).is_some_and(|v| !v.is_empty()))
                })
        }
        _ => false,
    }
}

fn suffix(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Yaml => "yaml",
    }
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The name, or its start and a hash of it.
fn shortened(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(name.as_bytes());
    // The name is ASCII.
    format!("{}%{:016x}", &name[..LONGEST - 17], hash.finish())
}

/// FNV-1a: the same on every machine and in every release.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proper_names_are_kept() {
        assert_eq!(folder("widgets", "example.com"), "widgets.example.com");
        assert_eq!(file(Shape::V3, "v1beta1", Format::Json), "v1beta1.v3.json");
        assert_eq!(file(Shape::Structural, "v1", Format::Yaml), "v1.structural.yaml");
        assert_eq!(file(Shape::Smd, "", Format::Yaml), "schema.smd.yaml");
        assert_eq!(group_version("apis/example.com/v1", Format::Json), "apis__example.com__v1_openapi.json");
        assert_eq!(single(Format::Yaml), "swagger.yaml");
    }

    #[test]
    fn names_from_the_input_stay_in_their_folder() {
        let bad = ["", ".", "..", "../..", "/etc", "a/b", "a\\b", "a\0b", "a_b", "é", "a__b", "%2E"];
        let mut seen = std::collections::BTreeSet::new();
        for plural in bad {
            for group in bad {
                let name = folder(plural, group);
                assert!(!name.starts_with('.') && name.bytes().all(|b| b.is_ascii_graphic() && b != b'/'), "{name}");
                seen.insert(name);
            }
            let name = file(Shape::V2, plural, Format::Json);
            assert!(!name.starts_with('.') && !name.contains('/'), "{name}");
            let name = group_version(&format!("apis/{plural}/v1"), Format::Json);
            assert!(!name.contains('/') && is_result(&[&name]), "{name}");
        }
        // `plural.group` may be one text in several ways; then it is one resource.
        let texts: std::collections::BTreeSet<_> =
            bad.iter().flat_map(|plural| bad.iter().map(move |group| format!("{plural}.{group}"))).collect();
        assert_eq!(seen.len(), texts.len());
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let long = "a".repeat(300);
        let (a, b) = (folder(&long, "b"), folder(&long, "c"));
        assert_eq!((a.len(), b.len()), (LONGEST, LONGEST));
        assert_ne!(a, b);
    }

    #[test]
    fn results_are_known_by_name() {
        for name in ["swagger.json", "swagger.yaml", "apis__example.com__v1_openapi.json", "apis__a__b_openapi.yaml"] {
            assert!(is_result(&[name]), "{name}");
        }
        for name in ["schema.smd.yaml", "v1.v3.json", "v1.v2.yaml", "v1.structural.json"] {
            assert!(is_result(&["widgets.example.com", name]), "{name}");
            assert!(!is_result(&["widgets", name]), "{name}");
            assert!(!is_result(&["a", "widgets.example.com", name]), "{name}");
        }
        for name in ["crd.yaml", "v1.json", ".v3.json", "schema.yaml", "openapi.json", "apis__apps_openapi.json"] {
            assert!(!is_result(&[name]) && !is_result(&["widgets.example.com", name]), "{name}");
        }
    }
}
