//! Reference pages.

use crate::{features, go_sources, types};
use kubeshape_corpus::folder_named_by;
use kubeshape_lifecycle::docs::{self, Page};
use kubeshape_lifecycle::{Features, Options, Types};
use std::fmt::Write as _;

fn pages(types: &Types, features: &Features) -> Vec<Page> {
    docs::pages(types, features, &Options::default()).collect()
}

#[test]
fn a_page_lists_all_fields_with_their_stages() {
    let source = "// +groupName=example.com
package v1beta1

// +k8s:prerelease-lifecycle-gen:introduced=1.20
// +k8s:prerelease-lifecycle-gen:replacement=example.com,v1,Widget

// Widget is one <of> two|three.
type Widget struct {
	metav1.TypeMeta `json:\",inline\"`
	// Parts it has.
	// +optional
	// ---
	// Not for readers.
	Parts PartList `json:\"parts\"`
	// +featureGate=Old
	Kept *string `json:\"kept\"`
}

type WidgetList struct {
	metav1.TypeMeta `json:\",inline\"`
	Items []Widget `json:\"items\"`
}

type PartList []Part

type Part struct {
	// +featureGate=Young
	Width int `json:\"width\"`
	// Deprecated: no.
	Colors map[string]Color `json:\"colors\"`
	Inner *Part `json:\"inner\"`
}

type Color struct {
	Red int `json:\"red\"`
}
";
    let types = types(&[("widgets/v1beta1/types.go", source)]);
    let features = features(&[("Young", "1.30=Alpha"), ("Old", "1.20=Alpha 1.25=GA")]);
    let pages = pages(&types, &features);
    assert_eq!(pages.len(), 1);
    assert_eq!(
        pages[0].text,
        "# Widget

API version: example.com/v1beta1

Introduced in v1.20. Deprecated in v1.23. Removed in v1.26. Use example.com/v1 Widget instead.

Widget is one &lt;of> two\\|three.

## Fields that are alpha, beta or deprecated

| field | type | stage | since | feature gate |
|---|---|---|---|---|
| `.parts[].width` | int | alpha | v1.30 | Young |
| `.parts[].colors` | map\\[string]Color | deprecated |  |  |

## All fields

| field | type | stage | since | feature gate | description |
|---|---|---|---|---|---|
| `.parts` | PartList |  |  |  | Parts it has. |
| `.parts[].width` | int | alpha | v1.30 | Young |  |
| `.parts[].colors` | map\\[string]Color | deprecated |  |  | Deprecated: no. |
| `.parts[].colors{}.red` | int |  |  |  |  |
| `.parts[].inner` | Part |  |  |  |  |
| `.kept` | string | ga |  |  |  |
",
    );
    assert_eq!(
        docs::index([(&pages[0], "a%20b.md".to_owned())]),
        "# Kinds and their fields

| kind | API version | alpha | beta | deprecated | fields |
|---|---|---|---|---|---|
| [Widget](<a%20b.md>) | example.com/v1beta1 | 1 | 0 | 1 | 6 |
",
    );
}

#[test]
fn types_of_packages_without_a_version_have_no_page() {
    let source = "package widgets\ntype Widget struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n}\n";
    assert_eq!(pages(&types(&[("widgets/types.go", source)]), &Features::default()), Vec::new());
}

/// Each type has two fields of the next type, so that the number of paths is exponential.
#[test]
fn a_page_is_bounded() {
    let mut source =
        "package v1\ntype T0 struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tA T1 `json:\"a\"`\n}\n".to_owned();
    for n in 1..60 {
        let next = n + 1;
        let _ = writeln!(source, "type T{n} struct {{\n\tA T{next} `json:\"a\"`\n\tB T{next} `json:\"b\"`\n}}");
    }
    let pages = pages(&types(&[("t/v1/types.go", &source)]), &Features::default());
    assert_eq!(pages.len(), 1);
    assert!(pages[0].is_cut);
    assert!(pages[0].text.len() < 9 << 20, "{}", pages[0].text.len());
}

#[test]
fn the_kinds_of_a_release_have_pages() {
    let Some(corpus) = folder_named_by("KUBESHAPE_CORPUS") else { return };
    let (types, _) = Types::read(go_sources(&corpus.join("go/v1.36")));
    let (features, _) = Features::read(go_sources(&corpus.join("go/v1.36/features")));
    let pages = pages(&types, &features);
    let pod = pages.iter().find(|page| page.api_version == "v1" && page.kind == "Pod").expect("the page of Pod");
    assert!(!pod.is_cut);
    assert!(
        pod.text.contains("\n| `.spec.schedulingGroup` | PodSchedulingGroup | alpha | v1.35 | GenericWorkload |\n"),
        "{}",
        &pod.text[..4000],
    );
    assert!(
        pod.text.contains("\n| `.spec.containers[].restartPolicyRules` | \\[]ContainerRestartRule | beta | v1.35 |")
    );
    let total: usize = pages.iter().map(|page| page.text.len()).sum();
    assert!(pages.len() > 150 && pages.iter().all(|page| !page.is_cut), "{} {total}", pages.len());
}
