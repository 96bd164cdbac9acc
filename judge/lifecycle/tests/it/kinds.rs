//! Tags about the releases of kinds, and the table of built-in kinds.

use crate::{go_sources, types};
use kubeshape_corpus::folder_named_by;
use kubeshape_lifecycle::diff::{Side, kinds as compare};
use kubeshape_lifecycle::kinds::{self, Declared};
use kubeshape_lifecycle::{Features, Options, Types, Version, lint};
use std::collections::BTreeMap;

const GEN: &str = "+k8s:prerelease-lifecycle-gen";

/// Returns a package with a type `Widget` that has these tags.
fn widget(package: &str, tags: &[&str]) -> Types {
    let tags: Vec<String> = tags.iter().map(|tag| format!("// {GEN}:{tag}\n")).collect();
    let tags = tags.concat();
    let text = format!(
        "// {GEN}=true\n// +groupName=example.com\n\npackage {package}\n\n{tags}\n// Widget is one.\ntype Widget struct {{\n\t\
         metav1.TypeMeta `json:\",inline\"`\n}}\n",
    );
    types(&[(&format!("widgets/{package}/types.go"), &text)])
}

/// `INTRODUCED DEPRECATED REMOVED REPLACEMENT`
fn releases(kind: &Declared<'_>) -> String {
    let release = |release: Option<Version>| release.map_or_else(|| "-".to_owned(), |release| release.to_string());
    let replacement = kind.replacement.as_deref().unwrap_or("-");
    format!("{} {} {} {replacement}", kind.introduced, release(kind.deprecated), release(kind.removed))
}

fn told(package: &str, tags: &[&str]) -> Option<String> {
    let types = widget(package, tags);
    let declared = kinds::declared(&types);
    declared.first().map(releases)
}

#[test]
fn missing_tags_follow_from_the_version() {
    assert_eq!(told("v1beta1", &["introduced=1.20"]).as_deref(), Some("v1.20 v1.23 v1.26 -"));
    assert_eq!(told("v1beta1", &["introduced=1.20", "deprecated=1.30"]).as_deref(), Some("v1.20 v1.30 v1.33 -"));
    assert_eq!(told("v1beta1", &["introduced=1.20", "removed=1.30"]).as_deref(), Some("v1.20 v1.23 v1.30 -"));
    assert_eq!(told("v1", &["introduced=1.20"]).as_deref(), Some("v1.20 - - -"));
    assert_eq!(told("v1", &["introduced=1.20", "deprecated=1.30"]).as_deref(), Some("v1.20 v1.30 - -"));
    assert_eq!(told("v1beta1", &["removed=1.20"]), None);
}

#[test]
fn replacements_are_kinds() {
    let with = |replacement: &str| {
        told("v1", &["introduced=1.20", &format!("replacement={replacement}")]).map(|told| told[10..].to_owned())
    };
    assert_eq!(with("apps,v1,Deployment").as_deref(), Some("apps/v1 Deployment"));
    assert_eq!(with(",v1,Pod").as_deref(), Some("v1 Pod"));
    for wrong in ["apps,v1", "Apps,v1,Deployment", "apps,1,Deployment", "apps,v1,deployment", "apps,v1,", "a,v1,B,C"] {
        assert_eq!(with(wrong).as_deref(), Some("-"), "{wrong}");
    }
}

#[test]
fn lint_checks_tags_of_kinds() {
    let told = |package: &str, tags: &[&str]| -> Vec<String> {
        let types = widget(package, tags);
        let findings = lint::lint(&types, &Features::default(), &Options::default());
        findings.iter().map(|finding| format!("{} {}", finding.code, finding.detail)).collect()
    };
    for (package, right) in [
        ("v1", &["introduced=1.20"][..]),
        ("v1beta1", &["introduced=1.20", "deprecated=1.22", "removed=1.25", "replacement=example.com,v1,Widget"][..]),
        ("v1beta1", &["introduced=1.20", "deprecated=1.20"][..]),
    ] {
        assert_eq!(told(package, right), Vec::<String>::new());
    }
    assert_eq!(told("v1", &[]), ["KS8315 introduced is missing; add +k8s:prerelease-lifecycle-gen:introduced=RELEASE"]);
    assert_eq!(
        told("v1", &["introduced=v1.20"]),
        ["KS8315 found \"v1.20\", expected two numbers such as 1.36; correct it"]
    );
    assert_eq!(
        told("v1", &["introduced=1.20", "introduced=1.21"]),
        ["KS8315 introduced stands twice; delete one of the tags"]
    );
    assert_eq!(
        told("v1", &["introduced=1.20", "replacement=Widget"]),
        ["KS8315 found \"Widget\", expected GROUP,VERSION,KIND such as apps,v1,Deployment"]
    );
    assert_eq!(
        told("v1beta1", &["introduced=1.20", "deprecated=1.19"]),
        ["KS8316 it is introduced in v1.20 and deprecated in v1.19; correct one of them"]
    );
    assert_eq!(
        told("v1beta1", &["introduced=1.20", "deprecated=1.25", "removed=1.25"]),
        ["KS8316 it is deprecated in v1.25 and removed in v1.25; correct one of them"]
    );
    assert_eq!(
        told("v1", &["introduced=1.20", "removed=1.25"]),
        ["KS8316 it is removed in v1.25 and never deprecated; add the tag deprecated"]
    );
}

#[test]
fn types_that_are_not_kinds_need_no_tags() {
    let text = format!("// {GEN}=true\npackage v1\ntype A struct {{\n\tB string `json:\"b\"`\n}}\n");
    let types = types(&[("a/v1/types.go", &text)]);
    assert_eq!(lint::lint(&types, &Features::default(), &Options::default()), Vec::new());
}

#[test]
fn kinds_of_two_releases_are_compared() {
    let features = Features::default();
    let told = |old: &Types, new: &Types| -> Vec<String> {
        let release = |minor| Some(Version { major: 1, minor });
        let side = |types, release| Side { types, features: &features, root: "", release };
        let changes = compare(side(old, release(24)), side(new, release(26)));
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        changes
            .iter()
            .map(|change| format!("{}: {} -> {}", change.kind.name(), text(&change.old), text(&change.new)))
            .collect()
    };
    let young = widget("v1", &["introduced=1.20"]);
    let soon = widget("v1", &["introduced=1.20", "deprecated=1.30"]);
    let now = widget("v1", &["introduced=1.20", "deprecated=1.25"]);
    let gone =
        widget("v1", &["introduced=1.20", "deprecated=1.24", "removed=1.26", "replacement=example.com,v2,Widget"]);
    let none = types(&[("widgets/v1/types.go", "package v1\n")]);
    assert_eq!(told(&young, &young), Vec::<String>::new());
    assert_eq!(told(&none, &young), ["added: - -> v1.20"]);
    assert_eq!(told(&young, &none), ["removed: v1.20 -> -"]);
    assert_eq!(told(&young, &soon), ["planned: v1.20 -> v1.20, deprecated in v1.30"]);
    assert_eq!(told(&young, &now), ["deprecated: v1.20 -> v1.20, deprecated in v1.25"]);
    assert_eq!(told(&now, &now), ["deprecated: v1.20, deprecated in v1.25 -> v1.20, deprecated in v1.25"]);
    assert_eq!(
        told(&young, &gone),
        ["removed: v1.20 -> v1.20, deprecated in v1.24, removed in v1.26, use example.com/v2 Widget"]
    );
}

/// Rows of the table whose types are in neither of the two releases, or have no tags there.
const UNREAD: [&str; 5] = [
    "v1 ComponentStatus",
    "v1 Endpoints",
    "apiregistration.k8s.io/v1beta1 APIService",
    "extensions/v1beta1 PodSecurityPolicy",
    "policy/v1beta1 PodSecurityPolicy",
];

/// The built-in table must agree with the sources of two releases. For a kind in both, the newer one is used.
#[test]
fn the_built_in_table_agrees_with_the_sources() {
    let Some(corpus) = folder_named_by("KUBESHAPE_CORPUS") else { return };
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    for release in ["v1.34", "v1.36"] {
        let (types, findings) = Types::read(go_sources(&corpus.join("go").join(release)));
        assert_eq!(findings, Vec::new());
        let about_kinds = |finding: &kubeshape_input::Finding| matches!(finding.code.number(), 8315 | 8316);
        let findings = lint::lint(&types, &Features::default(), &Options::default());
        assert_eq!(findings.into_iter().filter(about_kinds).collect::<Vec<_>>(), Vec::new());
        for kind in kinds::declared(&types) {
            if !kind.is_list() && kind.deprecated.is_some() {
                expected.insert(format!("{} {}", kind.api_version, kind.kind()), releases(&kind));
            }
        }
    }
    let mut unread = Vec::new();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for kind in kinds::built_in() {
        let name = format!("{} {}", kind.api_version, kind.kind);
        if !expected.contains_key(&name) {
            unread.push(name);
            continue;
        }
        let removed = kind.removed.map_or_else(|| "-".to_owned(), |release| release.to_string());
        let replacement = kind.replacement.unwrap_or("-");
        found.insert(name, format!("{} {} {removed} {replacement}", kind.introduced, kind.deprecated));
    }
    let wrong: Vec<String> = expected
        .iter()
        .filter(|(name, releases)| found.get(*name) != Some(releases))
        .map(|(name, releases)| format!("{name} {releases}, and not {:?}", found.get(name)))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(unread, UNREAD);
}
