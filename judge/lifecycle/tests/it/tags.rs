//! The meaning of tags and comments.

use crate::{features, types};
use kubeshape_input::Source;
use kubeshape_lifecycle::{Features, Json, Options, Stage, Step, Version, fields};

/// Returns `property stage minVersion gates` of every field with tags.
fn told(source: &str, gates: &[(&str, &str)], release: Option<&str>) -> Vec<String> {
    let types = types(&[("example/v1/types.go", source)]);
    let options = Options { release: release.and_then(Version::parse) };
    let told = |field: fields::Field<'_>| {
        let entry = field.state.projects.get("kubernetes").cloned().unwrap_or_default();
        let stage = field.state.stage.map_or("-", Stage::name);
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        format!(
            "{} {stage} {} {}",
            field.property().unwrap_or(&field.field.name),
            text(entry.min_version),
            text(entry.feature_gate),
        )
    };
    fields::fields(&types, &features(gates), &options).into_iter().map(told).collect()
}

#[test]
fn tags_of_the_proposal_and_of_the_sources_are_read() {
    let source = "package v1
type A struct {
	// +lifecycle:kubernetes:minVersion=v1.20,status=alpha,featureGate=One
	// +lifecycle:istio:minVersion=v3.0.0
	Tagged int `json:\"tagged\"`
	// +featureGate=One
	Gated int `json:\"gated\"`
	// +featureGate=One,Two
	Both int `json:\"both\"`
	// +k8s:ifEnabled(\"Two\")=+k8s:optional
	// +k8s:ifDisabled(Two)=+k8s:forbidden
	Conditional int `json:\"conditional\"`
	/* Text.

	Deprecated: use gated. */
	Old int `json:\"old\"`
	// No paragraph begins with
	// Deprecated: here.
	Young int `json:\"young\"` // +featureGate=One
	Younger int `json:\"younger\"`
	// +featureGate=Unknown
	Unknown int `json:\"unknown\"`
}
";
    let gates = [("One", "1.20=Alpha 1.22=Beta 1.23=Beta"), ("Two", "1.21=Alpha 1.25=Beta")];
    assert_eq!(
        told(source, &gates, None),
        [
            "tagged alpha v1.20 One",
            "gated beta v1.22 One",
            "both beta v1.25 One,Two",
            "conditional beta v1.25 Two",
            "old deprecated - -",
            "unknown - - -",
        ],
    );
    assert_eq!(
        told(source, &gates, Some("v1.24")),
        [
            "tagged beta v1.22 One",
            "gated beta v1.22 One",
            "both alpha v1.21 Two,One".replace("Two,One", "One,Two").as_str(),
            "conditional alpha v1.21 Two",
            "old deprecated - -",
            "unknown - - -",
        ],
    );
    // The release does not have the gate yet.
    assert_eq!(told(source, &gates, Some("v1.19"))[..2], ["tagged - - -", "gated - - -"]);
}

#[test]
fn a_generally_available_gate_has_no_lifecycle() {
    let source = "package v1
type A struct {
	// +featureGate=One
	B int `json:\"b\"`
	// +lifecycle:kubernetes:minVersion=v1.20,status=alpha,featureGate=One
	C int `json:\"c\"`
}
";
    let gates = [("One", "1.20=Alpha 1.25=GA")];
    assert_eq!(told(source, &gates, None), ["b ga - -", "c ga - -"]);
    assert_eq!(told(source, &gates, Some("1.24")), ["b alpha v1.20 One", "c alpha v1.20 One"]);
}

#[test]
fn struct_tags_decide_about_properties() {
    let source = "package v1
import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"
type A struct {
	metav1.TypeMeta `json:\",inline\"`
	Inner `json:\"inner\"`
	*Other
	Named map[string][]*metav1.Time `protobuf:\"x\" json:\"named,omitempty\"`
	Data []byte
	left int `json:\"left\"`
	Out int `json:\"-\"`
	Hyphen int `json:\"-,\"`
}
";
    let types = types(&[("v1/types.go", source)]);
    let of = types.types().next().map(|place| place.of.clone()).expect("a type");
    let told: Vec<(String, Json)> = of.fields.iter().map(|field| (field.name.clone(), field.json.clone())).collect();
    let member = |name: &str| Json::Member(name.to_owned());
    let expected = [
        ("TypeMeta", Json::Inline),
        ("Inner", member("inner")),
        ("Other", Json::Inline),
        ("Named", member("named")),
        ("Data", member("Data")),
        ("left", Json::None),
        ("Out", Json::None),
        ("Hyphen", member("-")),
    ];
    assert_eq!(told, expected.map(|(name, json)| (name.to_owned(), json)));
    assert_eq!(of.fields[3].type_ref.steps, [Step::Values, Step::Items]);
    assert_eq!(of.fields[3].type_ref.package.as_deref(), Some("metav1"));
    assert_eq!(of.fields[4].type_ref.steps, []);
}

#[test]
fn gates_are_read_from_constants_specs_and_comments() {
    let text = r#"package features

const (
	// owner: @you
	// alpha: v1.20
	// beta: 1.21
	Frobber2D utilfeature.Feature = "Frobber2D"
	// kep: none
	Second featuregate.Feature = "SecondName"
	Unrelated = 3
)

func init() {
	Add(map[utilfeature.Feature]utilfeature.FeatureSpec{
		Frobber2D: {Default: true, PreRelease: utilfeature.Beta, LockToDefault: true}, // remark
	})
}

var versioned = map[featuregate.Feature]featuregate.VersionedSpecs{
	features.Second: {
		{Version: version.MustParse("1.0"), Default: true, PreRelease: featuregate.GA},
		// remark
		{Version: version.MustParse("1.31"), PreRelease: featuregate.Deprecated},
	},
	other.Elsewhere: {{Version: version.MustParse("1.33"), PreRelease: featuregate.Alpha}},
}

var dependencies = map[featuregate.Feature][]featuregate.Feature{
	Second: {Frobber2D, other.Elsewhere},
}
"#;
    let (features, findings) = Features::read([Source::from_text("features.go", text)]);
    assert_eq!(findings, Vec::new());
    let gate = features.get("Frobber2D").expect("a gate");
    assert_eq!(gate.owner.as_deref(), Some("@you"));
    assert_eq!(gate.stage(None), Some((Stage::Beta, Version::parse("1.21"))));
    let spec = gate.spec(None).expect("a spec");
    assert!(spec.default && spec.locked);
    let second = features.get("SecondName").expect("a gate");
    assert_eq!(second.stage(None), Some((Stage::Deprecated, Version::parse("1.31"))));
    assert_eq!(second.dependencies, ["Elsewhere", "Frobber2D"]);
    let names: Vec<&str> = features.iter().map(|gate| gate.name.as_str()).collect();
    assert_eq!(names, ["Elsewhere", "Frobber2D", "SecondName"]);
}

#[test]
fn invalid_go_is_reported_and_the_rest_is_read() {
    let text = "package v1\ntype A struct {\n\t// Deprecated: no.\n\tB int `json:\"b\"`\n}\nfunc (((\n";
    let (types, findings) = kubeshape_lifecycle::Types::read([Source::from_text("a/types.go", text)]);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].to_string().starts_with("a/types.go:6:"), "{}", findings[0]);
    assert_eq!(fields::fields(&types, &Features::default(), &Options::default()).len(), 1);
}
