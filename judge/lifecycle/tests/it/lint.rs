//! Each rule with an input that breaks it and one that follows it.

use crate::features;
use kubeshape_input::{Code, Source};
use kubeshape_lifecycle::{Features, Options, Types, lint};

const GATES: &[(&str, &str)] = &[("Fresh", "1.30=Alpha 1.33=Beta"), ("Finished", "1.20=Alpha 1.25=GA")];

/// Returns the codes for comments above a field, without notes about gates.
fn codes(comment: &str) -> Vec<(Code, String)> {
    codes_of(&[("g/v1/types.go", &format!("package v1\ntype A struct {{\n{comment}\n\tB int `json:\"b\"`\n}}\n"))])
}

fn codes_of(files: &[(&str, &str)]) -> Vec<(Code, String)> {
    let (types, mut findings) = Types::read(files.iter().map(|(name, text)| Source::from_text(*name, *text)));
    findings.extend(lint::lint(&types, &features(GATES), &Options::default()));
    findings.retain(|finding| finding.code != Code::LifecycleUnusedGate);
    findings.into_iter().map(|finding| (finding.code, finding.location())).collect()
}

#[track_caller]
fn one(comment: &str, code: Code) {
    assert_eq!(codes(comment), [(code, "g/v1/types.go:3:5".to_owned())], "{comment}");
}

#[test]
fn a_tag_as_the_proposal_has_it_is_fine() {
    assert_eq!(codes("\t// +lifecycle:kubernetes:minVersion=v1.33,status=beta,featureGate=Fresh"), []);
    assert_eq!(codes("\t// +lifecycle:kubernetes:minVersion=v1.34,status=beta,featureGate=Fresh"), []);
    assert_eq!(codes("\t// +lifecycle:istio:minVersion=v3.0.0"), []);
    assert_eq!(codes("\t// +featureGate=Fresh"), []);
    assert_eq!(codes("\t// +k8s:ifEnabled(Fresh)=+k8s:optional"), []);
}

#[test]
fn tags_must_be_written_correctly() {
    one("\t// +lifecycle:kubernetes:minVersion=v1.33,status=beta,state=x", Code::LifecycleTag);
    one("\t// +lifecycle:kubernetes:minVersion=v1.33", Code::LifecycleTag);
    one("\t// +lifecycle:kubernetes:status=alpha", Code::LifecycleTag);
    one("\t// +lifecycle:kubernetes", Code::LifecycleTag);
}

#[test]
fn the_version_is_a_minor_release() {
    for version in ["1.33", "v0.1", "v1", "v1.033", "v1.33.0", "v01.2", "vx.y"] {
        one(&format!("\t// +lifecycle:kubernetes:minVersion={version},status=beta"), Code::LifecycleVersion);
    }
}

#[test]
fn the_status_is_one_of_three() {
    one("\t// +lifecycle:kubernetes:minVersion=v1.33,status=ga", Code::LifecycleStatus);
}

#[test]
fn the_gate_exists() {
    one("\t// +lifecycle:kubernetes:minVersion=v1.33,status=beta,featureGate=Nothing", Code::LifecycleGate);
    one("\t// +featureGate=Nothing", Code::LifecycleGate);
    one("\t// +k8s:ifEnabled(Nothing)=+k8s:optional", Code::LifecycleGate);
}

#[test]
fn the_gate_has_that_stage_in_that_release() {
    one("\t// +lifecycle:kubernetes:minVersion=v1.30,status=alpha,featureGate=Fresh", Code::LifecycleStage);
    one("\t// +lifecycle:kubernetes:minVersion=v1.31,status=beta,featureGate=Fresh", Code::LifecycleStage);
}

#[test]
fn the_tag_of_a_finished_gate_is_removed() {
    one("\t// +featureGate=Finished", Code::LifecycleGraduated);
    one("\t// +lifecycle:kubernetes:minVersion=v1.20,status=alpha,featureGate=Finished", Code::LifecycleGraduated);
}

#[test]
fn a_tag_appears_once() {
    let twice = "\t// +lifecycle:istio:minVersion=v3\n\t// +lifecycle:istio:minVersion=v4";
    assert_eq!(codes(twice), [(Code::LifecycleDuplicate, "g/v1/types.go:4:5".to_owned())]);
    one("\t// +featureGate=Fresh,Fresh", Code::LifecycleDuplicate);
}

#[test]
fn a_field_that_is_not_serialized_has_no_tag() {
    let text = "package v1
type A struct {
	// +featureGate=Fresh
	b int
	// +featureGate=Fresh
	C `json:\",inline\"`
	// +featureGate=Fresh
	D int `json:\"d\"`
	e int
}
";
    let place = |line: u32| (Code::LifecycleNotSerialized, format!("g/v1/types.go:{line}:5"));
    assert_eq!(codes_of(&[("g/v1/types.go", text)]), [place(3), place(5)]);
}

#[test]
fn versions_of_a_type_agree() {
    let file = |version: &str, gate: &str| {
        format!("package {version}\ntype A struct {{\n\t// +featureGate={gate}\n\tB int `json:\"b\"`\n}}\n")
    };
    let (fresh, other) = (file("v1", "Fresh"), file("v1beta1", "Fresh,Finished"));
    let found = codes_of(&[("g/v1/types.go", &fresh), ("g/v1beta1/types.go", &other)]);
    assert!(found.contains(&(Code::LifecycleContradiction, "g/v1beta1/types.go:4:2".to_owned())), "{found:?}");
    let same = file("v1beta1", "Fresh");
    assert_eq!(codes_of(&[("g/v1/types.go", &fresh), ("g/v1beta1/types.go", &same)]), []);
    // Another group is another type.
    assert_eq!(codes_of(&[("g/v1/types.go", &fresh), ("h/v1beta1/types.go", &same)]), []);
}

#[test]
fn a_gate_in_a_comment_needs_a_tag() {
    let found = codes("\t// Needs the feature gate `Finished` or FreshGate.");
    assert_eq!(found, []);
    let text = "package v1
type A struct {
	// Needs the LongName feature gate.
	B int `json:\"b\"`
	// Needs the LongName feature gate.
	// +featureGate=LongName
	C int `json:\"c\"`
	// LongName is a word here.
	D int `json:\"d\"`
}
";
    let (types, _) = Types::read([Source::from_text("v1/types.go", text)]);
    let found = lint::lint(&types, &features(&[("LongName", "1.30=Alpha")]), &Options::default());
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("v1/types.go:3:15: KS8313 "), "{told:?}");
}

#[test]
fn gates_are_named_and_their_comments_agree() {
    let text = |version: &str| {
        format!(
            "package f
const (
	// owner: @you
	// alpha: {version}
	Frobber featuregate.Feature = \"Frobber\"
)
var specs = map[featuregate.Feature]featuregate.VersionedSpecs{{
	Frobber: {{{{Version: version.MustParse(\"1.30\"), PreRelease: featuregate.Alpha}}}},
}}
"
        )
    };
    let told = |version: &str| {
        let (features, _) = Features::read([Source::from_text("f.go", text(version))]);
        let found = lint::lint(&Types::default(), &features, &Options::default());
        found.iter().map(|finding| (finding.code, finding.location())).collect::<Vec<_>>()
    };
    let unused = (Code::LifecycleUnusedGate, "f.go:5:2".to_owned());
    assert_eq!(told("v1.30"), std::slice::from_ref(&unused));
    assert_eq!(told("1.31"), [(Code::LifecycleComment, "f.go:4:5".to_owned()), unused]);
    // A gate that a field names is fine.
    let (features, _) = Features::read([Source::from_text("f.go", text("v1.30"))]);
    let types = "package v1\ntype A struct {\n\t// +featureGate=Frobber\n\tB int `json:\"b\"`\n}\n";
    let (types, _) = Types::read([Source::from_text("v1/types.go", types)]);
    assert_eq!(lint::lint(&types, &features, &Options::default()), []);
}
