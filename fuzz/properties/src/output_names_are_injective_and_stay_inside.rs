//! Names of results that come from an input stay in the output folder, are allowed on file systems, are recognised as
//! results, and differ if their parts differ.
#![allow(dead_code, unreachable_pub)]

pub(crate) mod args {
    //! The part of the command's arguments from which names are built.

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Shape {
        V3,
        V31,
        V2,
        Smd,
        JsonSchema,
        Structural,
        Kustomize,
        Policy,
        Crd,
    }

    impl Shape {
        pub(crate) fn name(self) -> &'static str {
            match self {
                Shape::V3 => "v3",
                Shape::V31 => "v3.1",
                Shape::V2 => "v2",
                Shape::Smd => "smd",
                Shape::JsonSchema => "jsonschema",
                Shape::Structural => "structural",
                Shape::Kustomize => "kustomize",
                Shape::Policy => "policy",
                Shape::Crd => "crd",
            }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Format {
        Json,
        Yaml,
        Pb,
    }
}

#[path = "../../../cli/src/output/layout.rs"]
mod layout;
#[path = "../../../cli/src/output/names.rs"]
mod names;

use args::{Format, Shape};
use layout::{Layout, Subject};

/// Returns whether common file systems allow a name.
fn is_fine(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '%');
    (1..=255).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('.')
}

fn check(path: &str) {
    assert!(path.split('/').count() <= 2 && path.split('/').all(is_fine), "{path:?}");
    let parts: Vec<&str> = path.split('/').collect();
    assert!(names::is_result(&parts), "{path:?}");
}

/// Returns all names built from these three strings.
fn all([a, b, c]: [&str; 3]) -> Vec<String> {
    let mut out = Vec::new();
    for shape in [Shape::V3, Shape::V31, Shape::V2, Shape::JsonSchema, Shape::Structural] {
        out.push(format!("{}/{}", names::folder(a, b), names::file(shape, c, Format::Json)));
    }
    out.push(format!("{}/{}", names::kind_folder(a, b), names::file(Shape::V3, c, Format::Pb)));
    out.push(names::definition(a, Shape::JsonSchema, Format::Json));
    out
}

/// Returns the key of a result: a folder is a plural and a group, which are distinguished by their joined string.
fn key([a, b, c]: [&str; 3]) -> (String, String) {
    (format!("{a}.{b}"), c.to_owned())
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<(&str, &str, &str, &str, &str, &str)>(data) else { return };
    let (first, second) = ([data.0, data.1, data.2], [data.3, data.4, data.5]);
    for path in all(first) {
        check(&path);
    }
    for shape in [Shape::V3, Shape::V31] {
        check(&names::group_version(&format!("apis/{}/{}", data.0, data.1), Format::Json, shape));
    }
    // Every document has a path.
    if !data.0.trim_matches('/').is_empty() {
        let root = names::root(data.0, Format::Json, Shape::V3);
        assert!(is_fine(root.trim_start_matches('.')) && names::is_result(&[&root]), "{root:?}");
    }
    assert!(is_fine(&names::object(data.0, data.1, data.2, Format::Yaml)));

    if key(first) != key(second) {
        let (first, second) = (all(first), all(second));
        for (one, other) in first.iter().zip(&second).take(4) {
            assert_ne!(one, other);
        }
    }
    if data.0 != data.3 {
        let name = |name| names::definition(name, Shape::JsonSchema, Format::Json);
        assert_ne!(name(data.0), name(data.3));
    }

    for layout in
        ["datree", "kubeconform", "yamlls", "flat", "{group}/{Kind}.json", "x/{{.Group}}-{{.ResourceKind}}.json"]
    {
        let layout = Layout::parse(layout).expect("it is one");
        let name = layout.name(Subject { kind: data.0, group: data.1, version: data.2, strict: data.2.is_empty() });
        assert!(name.split('/').all(is_fine), "{name:?}");
    }
    // A custom layout also stays inside, or is rejected.
    if let Ok(layout) = Layout::parse(data.5)
        && !layout.is_own()
    {
        let name = layout.name(Subject { kind: data.0, group: data.1, version: data.2, strict: false });
        let stays = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\\');
        assert!(name.split('/').all(stays), "{name:?}");
        assert!(layout.may_write(&name.split('/').collect::<Vec<_>>()) || name.len() > 180, "{name:?}");
    }
}
