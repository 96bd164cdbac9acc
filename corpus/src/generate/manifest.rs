//! Manifests of CustomResourceDefinitions.

use super::broken::{with_wrong_values, wrong_value};
use super::scalars::{json, simple_text, text};
use super::schema::{Care, root};
use super::tree::Tree;
use proptest::prelude::*;
use proptest::sample::{Index, select};

type Member = (String, Tree);

const GROUPS: &[&str] = &["example.com", "a.example.com", "9things.io", "apps.k8s.io", "single", "a-b.c-1d.org"];
// With `%` or control characters in kinds, and with empty kinds, the libraries panic.
const KINDS: &[&str] = &[
    "Widget",
    "Gadget",
    "Class",
    "News",
    "Apple",
    "hours",
    "X",
    "K8s",
    "ListThing",
    "DeleteMe",
    "Ünit",
    "A-b",
    "ThingList",
    "Us",
];
// If the list kind equals the kind, upstream omits definitions that the documents of every server have.
const LIST_KINDS: &[&str] = &["WidgetList", "Widgets", "Listing", "ThingList2", "Zünfte"];
const PLURALS: &[&str] = &["widgets", "gadgets", "classes", "news", "x", "status", "a-b"];
const VERSIONS: &[&str] = &["v1", "v1", "v2", "v1beta1", "v2alpha1", "foo", "9", "v1-x"];

/// Manifests of `v1` and `v1beta1`: valid, odd and broken ones.
pub fn manifests() -> BoxedStrategy<Tree> {
    let v1 = manifest(Care::Any, false);
    let beta = manifest(Care::Any, true);
    let listed = manifest(Care::Structural, false).prop_map(|manifest| {
        Tree::members([
            ("apiVersion", Tree::text("v1")),
            ("kind", Tree::text("List")),
            ("items", Tree::Seq(vec![manifest])),
        ])
    });
    let single = prop_oneof![10 => v1, 3 => beta];
    let wrong = prop::collection::vec((any::<Index>(), wrong_value()), 1..3);
    // The list around a manifest is not changed: the reader of streams decides what a list is.
    let single = (single, prop::option::weighted(0.12, wrong))
        .prop_map(|(manifest, wrong)| with_wrong_values(manifest, &wrong.unwrap_or_default()));
    prop_oneof![13 => single, 1 => listed].boxed()
}

/// Manifests of `v1` with one version, whose schema is structural more often than not.
pub fn structural_manifests() -> BoxedStrategy<Tree> {
    (select(KINDS), root(Care::Structural), prop::bool::weighted(0.05))
        .prop_map(|(kind, schema, preserve)| {
            let version = Tree::members([
                ("name", Tree::text("v1")),
                ("served", Tree::boolean(true)),
                ("storage", Tree::boolean(true)),
                ("schema", Tree::members([("openAPIV3Schema", schema)])),
            ]);
            let spec = Tree::members([
                ("group", Tree::text("example.com")),
                ("scope", Tree::text("Namespaced")),
                ("names", Tree::members([("plural", Tree::text("widgets")), ("kind", Tree::text(kind))])),
                ("preserveUnknownFields", Tree::boolean(preserve)),
                ("versions", Tree::Seq(vec![version])),
            ]);
            Tree::members([
                ("apiVersion", Tree::text("apiextensions.k8s.io/v1")),
                ("kind", Tree::text("CustomResourceDefinition")),
                ("metadata", Tree::members([("name", Tree::text("widgets.example.com"))])),
                ("spec", spec),
            ])
        })
        .boxed()
}

fn optional(weight: f64, name: &'static str, value: BoxedStrategy<Tree>) -> BoxedStrategy<Vec<Member>> {
    prop::option::weighted(weight, value)
        .prop_map(move |value| value.map(|value| (name.to_owned(), value)).into_iter().collect())
        .boxed()
}

/// All given members, in this order.
fn together(parts: Vec<BoxedStrategy<Vec<Member>>>) -> BoxedStrategy<Vec<Member>> {
    parts.into_iter().fold(Just(Vec::new()).boxed(), |all, part| {
        (all, part)
            .prop_map(|(mut all, part): (Vec<Member>, Vec<Member>)| {
                all.extend(part);
                all
            })
            .boxed()
    })
}

fn always(name: &'static str, value: BoxedStrategy<Tree>) -> BoxedStrategy<Vec<Member>> {
    value.prop_map(move |value| vec![(name.to_owned(), value)]).boxed()
}

fn one_of(texts: &'static [&'static str]) -> BoxedStrategy<Tree> {
    select(texts).prop_map(Tree::text).boxed()
}

fn as_map(members: BoxedStrategy<Vec<Member>>) -> BoxedStrategy<Tree> {
    members.prop_map(Tree::Map).boxed()
}

fn validation(care: Care) -> BoxedStrategy<Tree> {
    let schema = root(care).prop_map(|schema| Tree::members([("openAPIV3Schema", schema)])).boxed();
    prop_oneof![20 => schema, 1 => Just(Tree::Map(Vec::new())), 1 => Just(Tree::plain("null"))].boxed()
}

fn subresources() -> BoxedStrategy<Tree> {
    let scale = Tree::members([
        ("specReplicasPath", Tree::text(".spec.replicas")),
        ("statusReplicasPath", Tree::text(".status.replicas")),
        ("labelSelectorPath", Tree::text(".status.selector")),
    ]);
    prop_oneof![
        3 => Just(Tree::members([("status", Tree::Map(Vec::new()))])),
        2 => Just(Tree::members([("status", Tree::Map(Vec::new())), ("scale", scale.clone())])),
        1 => Just(Tree::members([("scale", scale)])),
        1 => Just(Tree::members([("scale", Tree::Map(Vec::new())), ("status", Tree::plain("null"))])),
        1 => Just(Tree::Map(Vec::new())),
    ]
    .boxed()
}

fn columns(path: &'static str) -> BoxedStrategy<Tree> {
    let column = (text(), text(), prop::option::of(0i32..5)).prop_map(move |(name, at, priority)| {
        let mut members = vec![
            ("name".to_owned(), Tree::Text(name)),
            ("type".to_owned(), Tree::text("string")),
            (path.to_owned(), Tree::Text(at)),
        ];
        members.extend(priority.map(|n| ("priority".to_owned(), Tree::Plain(n.to_string()))));
        Tree::Map(members)
    });
    prop::collection::vec(column, 0..2).prop_map(Tree::Seq).boxed()
}

fn selectable_fields() -> BoxedStrategy<Tree> {
    let path = prop_oneof![3 => simple_text().prop_map(|name| format!(".spec.{name}")), 1 => text()];
    prop::collection::vec(path.prop_map(|path| Tree::members([("jsonPath", Tree::Text(path))])), 0..3)
        .prop_map(Tree::Seq)
        .boxed()
}

fn version(care: Care, beta: bool) -> BoxedStrategy<Tree> {
    as_map(together(vec![
        always("name", one_of(VERSIONS)),
        always("served", prop::bool::weighted(0.85).prop_map(Tree::boolean).boxed()),
        always("storage", any::<bool>().prop_map(Tree::boolean).boxed()),
        optional(0.1, "deprecated", any::<bool>().prop_map(Tree::boolean).boxed()),
        optional(0.05, "deprecationWarning", text().prop_map(Tree::Text).boxed()),
        optional(if beta { 0.4 } else { 0.95 }, "schema", validation(care)),
        optional(0.3, "subresources", subresources()),
        optional(0.1, "additionalPrinterColumns", columns(if beta { "JSONPath" } else { "jsonPath" })),
        optional(0.2, "selectableFields", selectable_fields()),
    ]))
}

fn names() -> BoxedStrategy<Tree> {
    as_map(together(vec![
        always("plural", one_of(PLURALS)),
        always("kind", one_of(KINDS)),
        optional(0.3, "singular", one_of(PLURALS)),
        optional(0.2, "listKind", one_of(LIST_KINDS)),
        optional(
            0.1,
            "shortNames",
            prop::collection::vec(text().prop_map(Tree::Text), 0..3).prop_map(Tree::Seq).boxed(),
        ),
        optional(0.1, "categories", Just(Tree::Seq(vec![Tree::text("all")])).boxed()),
    ]))
}

fn conversion() -> BoxedStrategy<Tree> {
    prop_oneof![
        3 => Just(Tree::members([("strategy", Tree::text("None"))])),
        1 => Just(Tree::members([("strategy", Tree::text("Webhook"))])),
        1 => Just(Tree::Map(Vec::new())),
    ]
    .boxed()
}

fn manifest(care: Care, beta: bool) -> BoxedStrategy<Tree> {
    let versions = prop::collection::vec(version(care, beta), 1..3).prop_map(Tree::Seq).boxed();
    let mut spec = vec![
        always("group", one_of(GROUPS)),
        always("names", names()),
        optional(0.95, "scope", one_of(&["Namespaced", "Cluster", "Namespaced", "Cluster", "", "cluster"])),
        optional(if beta { 0.6 } else { 0.15 }, "preserveUnknownFields", any::<bool>().prop_map(Tree::boolean).boxed()),
        optional(0.1, "conversion", conversion()),
        optional(0.03, "unknown", json()),
    ];
    if beta {
        spec.push(optional(0.6, "version", one_of(VERSIONS)));
        spec.push(optional(0.6, "validation", validation(care)));
        spec.push(optional(0.3, "subresources", subresources()));
        spec.push(optional(0.1, "additionalPrinterColumns", columns("JSONPath")));
        spec.push(optional(0.1, "selectableFields", selectable_fields()));
        spec.push(optional(0.6, "versions", versions));
    } else {
        spec.push(always("versions", versions));
    }
    let spec = as_map(together(spec));
    let metadata = (select(PLURALS), select(GROUPS), prop::option::weighted(0.2, text()))
        .prop_map(|(plural, group, note)| {
            let mut members = vec![("name".to_owned(), Tree::Text(format!("{plural}.{group}")))];
            members.extend(
                note.map(|note| ("annotations".to_owned(), Tree::Map(vec![("note".to_owned(), Tree::Text(note))]))),
            );
            Tree::Map(members)
        })
        .boxed();
    let api_version = if beta { "apiextensions.k8s.io/v1beta1" } else { "apiextensions.k8s.io/v1" };
    as_map(together(vec![
        always("apiVersion", Just(Tree::text(api_version)).boxed()),
        always("kind", Just(Tree::text("CustomResourceDefinition")).boxed()),
        always("metadata", metadata),
        always("spec", spec),
        optional(
            0.1,
            "status",
            Just(Tree::members([
                ("conditions", Tree::Seq(Vec::new())),
                ("storedVersions", Tree::Seq(vec![Tree::text("v1")])),
            ]))
            .boxed(),
        ),
    ]))
}
