//! Names of JSON Schemas as other tools expect them.
//!
//! A layout is a template with variables in braces, or with those of kubeconform's `-schema-location`, so that one
//! string works for both. Values from the input never leave their part of the path: they are encoded as in [`names`].

use super::names::{encoded, shortened};
use kubeshape_convert::jsonschema::Patterns;
use std::fmt::Write as _;

/// How JSON Schemas are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The parts of the path, each of which is a list of pieces; empty in kubeshape's own layout.
    parts: Vec<Vec<Piece>>,
    /// The same for groups of OpenShift, if they have their own location.
    openshift: Option<Vec<Vec<Piece>>>,
    /// Whether its reader is written in Go, like kubeconform.
    is_for_go: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(Variable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    /// The group; for a kind of the core group the version, as in kubeconform.
    Group,
    /// The group and a hyphen; empty for the core group.
    GroupPrefix,
    /// The kind in lower case.
    LowerKind,
    Kind,
    Version,
    /// kubeconform's `KindSuffix`: `-apps-v1`, `-v1`, with the first label of the group.
    KindSuffix,
    /// kubeconform's `NormalizedKubernetesVersion`, if no version is requested.
    Release,
    /// kubeconform's `StrictSuffix`.
    Strict,
}

/// The named layouts.
const KNOWN: [(&str, &str); 4] = [
    ("datree", "{group}/{kind}_{version}.json"),
    (
        "kubeconform",
        "{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json",
    ),
    ("yamlls", "{group}/{kind}_{version}.json"),
    ("flat", "{kind}-{group-}{version}.json"),
];

/// Where yaml-language-server 1.25 looks for groups of OpenShift.
const OPENSHIFT: &str = "openshift/v4.15-strict/{kind}_{group}_{version}.json";

/// The variables of kubeconform's templates.
const KUBECONFORM: [(&str, Variable); 6] = [
    ("Group", Variable::Group),
    ("ResourceKind", Variable::LowerKind),
    ("ResourceAPIVersion", Variable::Version),
    ("KindSuffix", Variable::KindSuffix),
    ("NormalizedKubernetesVersion", Variable::Release),
    ("StrictSuffix", Variable::Strict),
];

/// The variables in single braces.
const SIMPLE: [(&str, Variable); 5] = [
    ("group", Variable::Group),
    ("group-", Variable::GroupPrefix),
    ("kind", Variable::LowerKind),
    ("Kind", Variable::Kind),
    ("version", Variable::Version),
];

/// The subject of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'s> {
    pub(crate) group: &'s str,
    pub(crate) version: &'s str,
    pub(crate) kind: &'s str,
    /// Whether the schema refuses unknown fields.
    pub(crate) strict: bool,
}

impl Layout {
    /// Parses the name of a layout, or a template.
    ///
    /// # Errors
    /// It is neither.
    pub(crate) fn parse(text: &str) -> Result<Layout, String> {
        if text == "kubeshape" {
            return Ok(Layout::default());
        }
        let template = KNOWN.iter().find(|(name, _)| *name == text).map_or(text, |(_, template)| template);
        if !template.contains('{') {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "\n  expected kubeshape, {}, or a template\n  such as '{{group}}/{{kind}}_{{version}}.json'",
                names.join(", ")
            ));
        }
        if template.strip_suffix(".json").is_none() {
            return Err("\n  expected a template that ends in .json".to_owned());
        }
        if template.chars().any(|c| c.is_control() || matches!(c, '\\' | ':')) {
            return Err("\n  expected a path with `/`, without `\\`, `:` and control characters".to_owned());
        }
        let parts = parts(template)?;
        let is_fixed = |part: &Vec<Piece>, text: &str| matches!(part.as_slice(), [Piece::Text(own)] if own == text);
        if parts.iter().any(|part| part.is_empty() || is_fixed(part, ".") || is_fixed(part, "..")) {
            return Err("\n  expected a path inside of the output folder, without empty parts, `.` and `..`".to_owned());
        }
        let openshift = if text == "yamlls" { Some(self::parts(OPENSHIFT)?) } else { None };
        let is_for_go = text == "datree" || KUBECONFORM.iter().any(|(name, _)| template.contains(&format!(".{name}")));
        Ok(Layout { parts, openshift, is_for_go })
    }

    /// Returns the pattern language of its reader: kubeconform reads `kubeconform`, `datree`, and templates with its
    /// own variables.
    pub(crate) fn patterns(&self) -> Patterns {
        if self.is_for_go { Patterns::Go } else { Patterns::Ecma }
    }

    /// Returns whether it is kubeshape's own.
    pub(crate) fn is_own(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the name of a schema relative to the output folder.
    pub(crate) fn name(&self, subject: Subject<'_>) -> String {
        let part = |pieces: &Vec<Piece>| {
            let mut out = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => out.push_str(text),
                    Piece::Variable(variable) => out.push_str(&value(*variable, subject)),
                }
            }
            let (stem, suffix) = match out.strip_suffix(".json") {
                Some(stem) => (stem, ".json"),
                None => (out.as_str(), ""),
            };
            // Avoids hidden files, unless the template asks for them, and `.` and `..` even then.
            let asks = matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with('.'))
                && !matches!(out.as_str(), "." | "..");
            let stem = match stem.strip_prefix('.') {
                _ if stem.is_empty() => "%".to_owned(),
                Some(rest) if !asks => format!("%2E{rest}"),
                _ => stem.to_owned(),
            };
            shortened(stem) + suffix
        };
        let openshift = self.openshift.as_ref().filter(|_| subject.group.contains("openshift.io"));
        openshift.unwrap_or(&self.parts).iter().map(part).collect::<Vec<_>>().join("/")
    }

    /// Returns the name of a schema of all kinds: `all.json`, in the folder of the schemas if that is fixed.
    pub(crate) fn all(&self, strict: bool) -> String {
        let is_fixed = |piece: &Piece| match piece {
            Piece::Text(_) => true,
            Piece::Variable(variable) => matches!(variable, Variable::Release | Variable::Strict),
        };
        let folders = self.parts.iter().rev().skip(1).rev().take_while(|part| part.iter().all(is_fixed)).count();
        let name = self.name(Subject { group: "", version: "", kind: "", strict });
        name.split('/').take(folders).chain(["all.json"]).collect::<Vec<_>>().join("/")
    }

    /// Returns whether a result may have this name, relative to the output folder.
    pub(crate) fn may_write(&self, names: &[&str]) -> bool {
        let name = names.join("/");
        if !self.is_own() && [false, true].iter().any(|strict| self.all(*strict) == name) {
            return true;
        }
        let fits_as = |pieces: &Vec<Piece>, name: &str| {
            let mut rest = name;
            for (at, piece) in pieces.iter().enumerate() {
                let Piece::Text(text) = piece else { continue };
                let found =
                    if at == 0 { rest.starts_with(text.as_str()).then_some(0) } else { rest.find(text.as_str()) };
                let Some(found) = found else { return false };
                rest = &rest[found + text.len()..];
            }
            true
        };
        let fits = |(pieces, name): (&Vec<Piece>, &&str)| {
            // The encoding of a leading dot.
            let dotted = name.strip_prefix("%2E").map(|rest| format!(".{rest}"));
            // The encoding of a name without a stem.
            let empty = name.strip_prefix('%').filter(|rest| rest.is_empty() || *rest == ".json");
            fits_as(pieces, name)
                || dotted.is_some_and(|name| fits_as(pieces, &name))
                || empty.is_some_and(|name| fits_as(pieces, name))
        };
        let all_fit = |parts: &Vec<Vec<Piece>>| parts.len() == names.len() && parts.iter().zip(names).all(fits);
        !self.is_own() && (all_fit(&self.parts) || self.openshift.as_ref().is_some_and(all_fit))
    }
}

/// Splits a template into the pieces of its parts.
fn parts(template: &str) -> Result<Vec<Vec<Piece>>, String> {
    let mut out = vec![Vec::new()];
    let mut rest = template;
    while let Some(at) = rest.find(['/', '{', '}']) {
        let (text, behind) = rest.split_at(at);
        if !text.is_empty() {
            out.last_mut().ok_or("no part")?.push(Piece::Text(text.to_owned()));
        }
        if let Some(behind) = behind.strip_prefix('/') {
            out.push(Vec::new());
            rest = behind;
            continue;
        }
        let (variables, open, close): (&[_], _, _) =
            if behind.starts_with("{{") { (&KUBECONFORM, "{{", "}}") } else { (&SIMPLE, "{", "}") };
        let inner = behind.strip_prefix(open).and_then(|inner| inner.split_once(close));
        let Some((name, behind)) = inner else {
            return Err(format!("\n  found a brace without its other one in {behind:?}"));
        };
        let bare = name.trim();
        let bare = if open == "{{" { bare.strip_prefix('.').unwrap_or("") } else { bare };
        let Some((_, variable)) = variables.iter().find(|(known, _)| *known == bare) else {
            let mut known = String::new();
            for (name, _) in variables.iter().filter(|(name, _)| *name != "group-") {
                // Each line fits a terminal.
                let line = known.rsplit('\n').next().unwrap_or_default();
                let comma = if known.is_empty() {
                    ""
                } else if line.len() + name.len() > 45 {
                    ",\n    "
                } else {
                    ", "
                };
                let dot = if open == "{{" { "." } else { "" };
                let _ = write!(known, "{comma}{open}{dot}{name}{close}");
            }
            return Err(format!("\n  found the variable {open}{name}{close},\n  expected one of {known}"));
        };
        out.last_mut().ok_or("no part")?.push(Piece::Variable(*variable));
        rest = behind;
    }
    if !rest.is_empty() {
        out.last_mut().ok_or("no part")?.push(Piece::Text(rest.to_owned()));
    }
    Ok(out)
}

fn value(variable: Variable, subject: Subject<'_>) -> String {
    let Subject { group, version, kind, strict } = subject;
    match variable {
        Variable::Group => encoded(if group.is_empty() { version } else { group }),
        Variable::GroupPrefix if group.is_empty() => String::new(),
        Variable::GroupPrefix => encoded(group) + "-",
        Variable::LowerKind => encoded(&kind.to_lowercase()),
        Variable::Kind => encoded(kind),
        Variable::Version => encoded(version),
        Variable::KindSuffix => {
            let first = if group.is_empty() { version } else { group }.split('.').next().unwrap_or_default();
            let mut suffix = format!("-{}", encoded(&first.to_lowercase()));
            if !group.is_empty() {
                let _ = write!(suffix, "-{}", encoded(&version.to_lowercase()));
            }
            suffix
        }
        Variable::Release => "master".to_owned(),
        Variable::Strict => if strict { "-strict" } else { "" }.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CERTIFICATE: Subject<'_> =
        Subject { group: "cert-manager.io", version: "v1", kind: "Certificate", strict: false };
    const POD: Subject<'_> = Subject { group: "", version: "v1", kind: "Pod", strict: true };

    #[test]
    fn layouts_name_schemas_like_the_tools() -> Result<(), String> {
        for (layout, certificate, pod) in [
            ("datree", "cert-manager.io/certificate_v1.json", "v1/pod_v1.json"),
            ("yamlls", "cert-manager.io/certificate_v1.json", "v1/pod_v1.json"),
            (
                "kubeconform",
                "master-standalone/certificate-cert-manager-v1.json",
                "master-standalone-strict/pod-v1.json",
            ),
            ("flat", "certificate-cert-manager.io-v1.json", "pod-v1.json"),
            ("{group}/{kind}_{version}.json", "cert-manager.io/certificate_v1.json", "v1/pod_v1.json"),
            ("all/{Kind}.{version}.json", "all/Certificate.v1.json", "all/Pod.v1.json"),
            (
                "{{ .Group }}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
                "cert-manager.io/certificate_v1.json",
                "v1/pod_v1.json",
            ),
        ] {
            let layout = Layout::parse(layout)?;
            assert_eq!((layout.name(CERTIFICATE), layout.name(POD)), (certificate.to_owned(), pod.to_owned()));
        }
        let route = Subject { group: "route.openshift.io", version: "v1", kind: "Route", strict: false };
        let expected = "openshift/v4.15-strict/route_route.openshift.io_v1.json";
        assert_eq!(Layout::parse("yamlls")?.name(route), expected);
        assert_eq!(Layout::parse("datree")?.name(route), "route.openshift.io/route_v1.json");
        assert!(Layout::parse("kubeshape")?.is_own());
        Ok(())
    }

    #[test]
    fn a_schema_of_all_kinds_is_in_the_folder_of_the_others() -> Result<(), String> {
        for (layout, name) in [
            ("datree", "all.json"),
            ("flat", "all.json"),
            ("kubeconform", "master-standalone-strict/all.json"),
            ("schemas/{group}/{kind}.json", "schemas/all.json"),
            ("schemas/x{version}/{kind}.json", "schemas/all.json"),
        ] {
            let layout = Layout::parse(layout)?;
            assert_eq!(layout.all(true), name);
            assert!(layout.may_write(&name.split('/').collect::<Vec<_>>()), "{name}");
        }
        assert!(!Layout::parse("kubeshape")?.may_write(&["all.json"]));
        Ok(())
    }

    #[test]
    fn a_layout_has_the_pattern_language_of_its_reader() -> Result<(), String> {
        for (layout, patterns) in [
            ("kubeconform", Patterns::Go),
            ("datree", Patterns::Go),
            ("{{ .Group }}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json", Patterns::Go),
            ("yamlls", Patterns::Ecma),
            ("flat", Patterns::Ecma),
            ("kubeshape", Patterns::Ecma),
            ("{group}/{kind}-{version}.json", Patterns::Ecma),
        ] {
            assert_eq!(Layout::parse(layout)?.patterns(), patterns, "{layout}");
        }
        Ok(())
    }

    #[test]
    fn invalid_layouts_are_refused() {
        for (text, message) in [
            ("datre", "expected kubeshape, datree, kubeconform, yamlls, flat, or a template\n  such as"),
            ("{kind}.yaml", "ends in .json"),
            ("{kind}", "ends in .json"),
            ("../{kind}.json", "inside of the output folder"),
            ("/{kind}.json", "inside of the output folder"),
            ("a//{kind}.json", "inside of the output folder"),
            ("{group}/./{kind}.json", "inside of the output folder"),
            ("C:\\{kind}.json", "without `\\`"),
            ("{knd}.json", "found the variable {knd},\n  expected one of {group}, {kind}, {Kind}, {version}"),
            ("{{.Kind}}.json", "expected one of {{.Group}}, {{.ResourceKind}}"),
            ("{{Group}}.json", "found the variable {{Group}}"),
            ("{kind.json", "without its other one"),
            ("{kind}}.json", "without its other one"),
        ] {
            let error = Layout::parse(text).err().unwrap_or_default();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn values_of_the_input_stay_in_their_part_of_the_path() -> Result<(), String> {
        for layout in [
            "{group}/{kind}_{version}.json",
            "{group}/{kind}.json",
            "{kind}/{version}/x.json",
            "{kind}.{group}.json",
            "{kind}/.json",
            "..{kind}/.{group}/a.json",
            "flat",
        ] {
            let asks = layout.starts_with('.');
            let layout = Layout::parse(layout)?;
            let bad = ["", ".", "..", "../..", "/etc", "a\\b", "a\0b", "é", "~"];
            for group in bad {
                for kind in bad {
                    let name = layout.name(Subject { group, version: group, kind, strict: false });
                    let parts: Vec<&str> = name.split('/').collect();
                    assert_eq!(parts.len(), layout.parts.len(), "{name}");
                    let is_inside = |part: &&str| !matches!(*part, "" | "." | "..") && (asks || !part.starts_with('.'));
                    assert!(parts.iter().all(is_inside), "{name}");
                    assert!(name.bytes().all(|b| b.is_ascii_graphic() && b != b'\\'), "{name}");
                    assert!(layout.may_write(&parts), "{name}");
                }
            }
        }
        assert!(!Layout::parse("datree")?.may_write(&["example.com", "notes.json"]));
        Ok(())
    }

    #[test]
    fn a_long_name_keeps_its_suffix() -> Result<(), String> {
        let kind = "K".repeat(300);
        let name = Layout::parse("flat")?.name(Subject { group: "g", version: "v1", kind: &kind, strict: false });
        assert!(name.len() < 200 && name.strip_suffix(".json").is_some(), "{name}");
        Ok(())
    }
}
