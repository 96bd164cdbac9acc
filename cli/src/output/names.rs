//! Names of results in a folder.
//!
//! Groups, plurals and versions come from the input, and may not be valid file names. Everything but letters, digits,
//! `-` and `.` is percent-encoded, so that a name never leaves its folder, and different resources have different
//! names.

use crate::args::{Format, Shape};
use kubeshape_yaml::percent;
use sha2::{Digest as _, Sha256};
use std::fmt::Write;

/// Longer names of files and folders are shortened. Common file systems allow 255 bytes.
const LONGEST: usize = 180;

/// Returns the single result of all inputs: `swagger.json`, `openapi.json`, `schema.smd.yaml`.
pub(crate) fn single(shape: Shape, format: Format) -> String {
    let stem = match shape {
        Shape::V2 => "swagger",
        Shape::Smd => "schema.smd",
        Shape::Kustomize => "kustomize",
        Shape::Policy => "policies",
        Shape::Crd => "crd",
        Shape::V31 => "openapi.v3.1",
        Shape::JsonSchema => "all.schema",
        Shape::V3 | Shape::Structural => "openapi",
    };
    format!("{stem}.{}", suffix(format))
}

/// `apis__GROUP__VERSION_openapi.json`: the OpenAPI v3 document of the group version `apis/GROUP/VERSION`.
pub(crate) fn group_version(path: &str, format: Format, shape: Shape) -> String {
    let path = path.strip_prefix("apis/").unwrap_or(path);
    let (group, version) = path.rsplit_once('/').unwrap_or((path, ""));
    shortened(format!("apis__{}__{}", encoded(group), encoded(version))) + "_" + &single(shape, format)
}

/// `api__v1_openapi.json`: the OpenAPI v3 document of `/openapi/v3/api/v1`, named as in Kubernetes'
/// `api/openapi-spec/v3`.
pub(crate) fn root(key: &str, format: Format, shape: Shape) -> String {
    let parts: Vec<String> = key.trim_matches('/').split('/').map(encoded).collect();
    shortened(parts.join("__")) + "_" + &single(shape, format)
}

/// `KIND.GROUP`: the folder of a kind of a document; `core` is the group without a name.
pub(crate) fn kind_folder(kind: &str, group: &str) -> String {
    folder(kind, if group.is_empty() { "core" } else { group })
}

/// `PLURAL.GROUP`: the folder of a resource.
pub(crate) fn folder(plural: &str, group: &str) -> String {
    let mut name = format!("{}.{}", encoded(plural), encoded(group));
    // Avoids `.`, `..` and hidden folders.
    if name.starts_with('.') {
        name.replace_range(..1, "%2E");
    }
    shortened(name)
}

/// `NAME.schema.json`: the file of a definition that is not a kind.
pub(crate) fn definition(name: &str, shape: Shape, format: Format) -> String {
    let mut name = encoded(name);
    if name.is_empty() {
        name.push('%');
    } else if name.starts_with('.') {
        name.replace_range(..1, "%2E");
    }
    format!("{}.{}.{}", shortened(name), ending(shape), suffix(format))
}

/// `KIND.NAMESPACE.NAME.yaml` or `KIND.NAME.yaml`: the file of an object.
pub(crate) fn object(kind: &str, namespace: &str, name: &str, format: Format) -> String {
    let parts: Vec<String> = [kind, namespace, name].into_iter().filter(|part| !part.is_empty()).map(encoded).collect();
    let mut stem = parts.join(".");
    if stem.is_empty() || stem.starts_with('.') {
        stem.insert(0, '%');
    }
    format!("{}.{}", shortened(stem), suffix(format))
}

/// Returns `RESOURCE/NAMESPACE/NAME.yaml` or `RESOURCE/NAME.yaml`: the file of an object of a server. The resource is
/// `widgets.example.com`, or `apps/v1 deployments`, which becomes `deployments__apps__v1`. Capital letters are encoded,
/// because some file systems ignore case.
pub(crate) fn stored(resource: &str, namespace: &str, name: &str) -> String {
    let part = |text: &str| {
        let mut part = String::with_capacity(text.len());
        for byte in text.bytes() {
            let is_plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if is_plain || (byte == b'.' && !part.is_empty()) {
                part.push(char::from(byte));
            } else {
                let _ = write!(part, "%{byte:02X}");
            }
        }
        if part.is_empty() {
            part.push('%');
        }
        shortened(part)
    };
    let folder = match resource.split_once(' ') {
        None => part(resource),
        Some((api_version, plural)) => {
            let parts: Vec<String> = [plural].into_iter().chain(api_version.split('/')).map(part).collect();
            shortened(parts.join("__"))
        }
    };
    let names = [namespace, name].into_iter().filter(|part| !part.is_empty()).map(part);
    [folder].into_iter().chain(names).collect::<Vec<_>>().join("/") + ".yaml"
}

/// Returns the part of a file name before the format.
pub(crate) fn ending(shape: Shape) -> &'static str {
    match shape {
        Shape::JsonSchema => "schema",
        other => other.name(),
    }
}

/// Returns the file of one version, or of all versions, in the folder of its resource.
pub(crate) fn file(shape: Shape, version: &str, format: Format) -> String {
    let suffix = suffix(format);
    match shape {
        Shape::Smd => return format!("schema.smd.{suffix}"),
        Shape::Crd => return format!("crd.{suffix}"),
        _ => {}
    }
    let mut name = encoded(version);
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '%');
    }
    format!("{}.{}.{suffix}", shortened(name), ending(shape))
}

/// Returns the reference page of a kind with an ending: `apps.v1/Deployment.md`, `core.v1/Pod.html`. Characters that
/// cannot be part of a name are encoded.
pub(crate) fn page(api_version: &str, kind: &str, ending: &str) -> String {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("core", api_version));
    let mut group = encoded(group);
    if group.is_empty() || group.starts_with('.') {
        group.insert(0, '%');
    }
    format!("{}.{}/{}.{ending}", shortened(group), shortened(encoded(version)), shortened(encoded(kind)))
}

/// Returns whether a path relative to an output folder is the name of a result, which `--prune` may delete.
pub(crate) fn is_result(components: &[&str]) -> bool {
    let stem = |name: &str| -> Option<String> {
        [".json", ".yaml", ".pb"].iter().find_map(|suffix| name.strip_suffix(suffix)).map(str::to_owned)
    };
    match components {
        [name] => stem(name).is_some_and(|stem| {
            ["swagger", "openapi", "schema.smd", "kustomize"].contains(&stem.as_str())
                || ["_openapi", ".v3", ".v3.1", ".v2", ".schema", ".smd"]
                    .iter()
                    .any(|end| stem.strip_suffix(end).is_some_and(|key| !key.is_empty()))
        }),
        [folder, name] => {
            // A long name has a hash instead of its end.
            folder.contains(['.', '%'])
                && stem(name).is_some_and(|stem| {
                    stem == "schema.smd"
                        || [".v3", ".v3.1", ".v2", ".schema", ".structural"]
                            .iter()
                            .any(|s| stem.strip_suffix(s).is_some_and(|v| !v.is_empty()))
                })
        }
        _ => false,
    }
}

/// `crds/NAME.yaml`: a CustomResourceDefinition of a cluster.
pub(crate) fn definition_of_cluster(name: &str) -> String {
    format!("crds/{}.yaml", shortened(encoded(name)))
}

/// `discovery/apis__GROUP__VERSION.json`: a discovery document of a cluster, by its path.
pub(crate) fn discovery_of_cluster(path: &str) -> String {
    let parts: Vec<String> = path.trim_matches('/').split('/').map(encoded).collect();
    format!("discovery/{}.json", shortened(parts.join("__")))
}

/// Returns the extension of a file name.
pub(crate) fn suffix(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Yaml => "yaml",
        Format::Pb => "pb",
    }
}

pub(super) fn encoded(text: &str) -> String {
    percent::encode(text, percent::FILE_NAME).into_owned()
}

/// Returns the name, or its beginning and a hash if it is too long.
pub(super) fn shortened(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let mut hash = String::with_capacity(HASH);
    for byte in &Sha256::digest(&name)[..HASH / 2] {
        let _ = write!(hash, "{byte:02x}");
    }
    // The name is ASCII.
    format!("{}%{hash}", &name[..LONGEST - 1 - HASH])
}

/// The number of digits of the hash: enough that collisions cannot be found.
const HASH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proper_names_are_kept() {
        assert_eq!(folder("widgets", "example.com"), "widgets.example.com");
        assert_eq!(file(Shape::V3, "v1beta1", Format::Json), "v1beta1.v3.json");
        assert_eq!(file(Shape::Structural, "v1", Format::Yaml), "v1.structural.yaml");
        assert_eq!(file(Shape::Smd, "", Format::Yaml), "schema.smd.yaml");
        assert_eq!(group_version("apis/example.com/v1", Format::Json, Shape::V3), "apis__example.com__v1_openapi.json");
        assert_eq!(single(Shape::V2, Format::Yaml), "swagger.yaml");
        assert_eq!(single(Shape::V3, Format::Pb), "openapi.pb");
        assert_eq!(single(Shape::Smd, Format::Yaml), "schema.smd.yaml");
        assert_eq!(file(Shape::JsonSchema, "v1", Format::Json), "v1.schema.json");
        assert_eq!(kind_folder("Pod", ""), "Pod.core");
        assert_eq!(object("Widget", "x", "a", Format::Yaml), "Widget.x.a.yaml");
        assert_eq!(object("Widget", "", "a:b", Format::Json), "Widget.a%3Ab.json");
        assert_eq!(object("", "", "../a", Format::Yaml), "%..%2Fa.yaml");
        assert_eq!(object("", "", "", Format::Yaml), "%.yaml");
        assert_eq!(stored("widgets.example.com", "default", "a"), "widgets.example.com/default/a.yaml");
        assert_eq!(stored("v1 nodes", "", "a.b"), "nodes__v1/a.b.yaml");
        assert_eq!(stored("apps/v1 deployments", "x", "a"), "deployments__apps__v1/x/a.yaml");
        assert_eq!(stored("rbac/v1 roles", "..", ".Sys:a_b"), "roles__rbac__v1/%2E./%2E%53ys%3Aa%5Fb.yaml");
        assert_eq!(stored("a", "", &"x".repeat(300)).len(), "a/.yaml".len() + LONGEST);
        assert_eq!(definition("Pet", Shape::V3, Format::Yaml), "Pet.v3.yaml");
        assert_eq!(definition("", Shape::JsonSchema, Format::Json), "%.schema.json");
        assert_eq!(definition("../x", Shape::JsonSchema, Format::Json), "%2E.%2Fx.schema.json");
    }

    #[test]
    fn roots_are_named_as_in_kubernetes_own_folder() {
        for (key, name) in [
            ("api/v1", "api__v1_openapi.json"),
            ("apis/apps/v1", "apis__apps__v1_openapi.json"),
            ("apis/apps", "apis__apps_openapi.json"),
            ("version", "version_openapi.json"),
            (".well-known/openid-configuration", ".well-known__openid-configuration_openapi.json"),
            ("", "_openapi.json"),
            ("..", ".._openapi.json"),
            ("../x", "..__x_openapi.json"),
        ] {
            assert_eq!(root(key, Format::Json, Shape::V3), name);
        }
        assert_eq!(
            root("apis/example.com/v1", Format::Yaml, Shape::V3),
            group_version("apis/example.com/v1", Format::Yaml, Shape::V3)
        );
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
            let name = group_version(&format!("apis/{plural}/v1"), Format::Json, Shape::V3);
            assert!(!name.contains('/') && is_result(&[&name]), "{name}");
        }
        // `plural.group` may be the same string for several pairs; then it is one resource.
        let texts: std::collections::BTreeSet<_> =
            bad.iter().flat_map(|plural| bad.iter().map(move |group| format!("{plural}.{group}"))).collect();
        assert_eq!(seen.len(), texts.len());
    }

    #[test]
    fn long_names_are_cut_and_remain_different() {
        let long = "a".repeat(300);
        let (a, b) = (folder(&long, "b"), folder(&long, "c"));
        assert_eq!((a.len(), b.len()), (LONGEST, LONGEST));
        assert_ne!(a, b);
        for plural in [long.as_str(), "a"] {
            let path = [folder(plural, &long), file(Shape::V3, &long, Format::Json)];
            assert!(is_result(&path.each_ref().map(String::as_str)), "{path:?}");
            for name in [
                group_version(&format!("apis/{long}/v1"), Format::Json, Shape::V3),
                root(&long, Format::Yaml, Shape::V3),
            ] {
                assert!(is_result(&[&name]), "{name}");
            }
        }
    }

    #[test]
    fn results_are_recognized_by_name() {
        for name in [
            "swagger.json",
            "swagger.yaml",
            "openapi.pb",
            "schema.smd.yaml",
            "apis__example.com__v1_openapi.json",
            "apis__a__b_openapi.yaml",
            "api__v1_openapi.pb",
            "version_openapi.json",
            "Pet.schema.json",
        ] {
            assert!(is_result(&[name]), "{name}");
        }
        for name in ["schema.smd.yaml", "v1.v3.json", "v1.v2.yaml", "v1.schema.json", "v1.structural.json"] {
            assert!(is_result(&["widgets.example.com", name]), "{name}");
            assert!(!is_result(&["widgets", name]), "{name}");
            assert!(!is_result(&["a", "widgets.example.com", name]), "{name}");
        }
        for name in ["crd.yaml", "v1.json", ".v3.json", "schema.yaml", "schema.json", "_openapi.json", "openapi.yml"] {
            assert!(!is_result(&[name]) && !is_result(&["widgets.example.com", name]), "{name}");
        }
    }
}
