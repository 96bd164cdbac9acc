//! Schemas with all keywords that the API has. Most of them are structural.

use super::scalars::{integer, json, name, number, simple_text, text};
use super::tree::Tree;
use proptest::prelude::*;
use proptest::sample::select;

type Member = (String, Tree);

/// How much schemas differ from structural ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Only keywords of structural schemas, although not every result is structural.
    Structural,
    /// Unusual and forbidden keywords, too.
    Any,
}

fn member(name: &str, value: BoxedStrategy<Tree>) -> BoxedStrategy<Member> {
    let name = name.to_owned();
    value.prop_map(move |value| (name.clone(), value)).boxed()
}

fn fixed(name: &str, value: Tree) -> BoxedStrategy<Member> {
    Just((name.to_owned(), value)).boxed()
}

fn yes(name: &str) -> BoxedStrategy<Member> {
    fixed(name, Tree::boolean(true))
}

fn boolean() -> BoxedStrategy<Tree> {
    prop::bool::weighted(0.8).prop_map(Tree::boolean).boxed()
}

fn texts(text: BoxedStrategy<String>, most: usize) -> BoxedStrategy<Tree> {
    prop::collection::vec(text.prop_map(Tree::Text), 0..most).prop_map(Tree::Seq).boxed()
}

fn patterns() -> BoxedStrategy<Tree> {
    let patterns =
        ["^a+$", "[a-z]", "^[^<>&]*$", "\\d+\\.\\d{1,3}", "^(a|b)?$", "é", "a{2,3}", "^$", "\\p{L}", "(?i)x"];
    select(patterns.to_vec()).prop_map(Tree::text).boxed()
}

/// Value validations, which may also be in branches.
fn validations() -> BoxedStrategy<Member> {
    prop_oneof![
        member("maximum", number()),
        member("minimum", number()),
        yes("exclusiveMaximum"),
        member("exclusiveMinimum", boolean()),
        member("multipleOf", number()),
        member("maxLength", integer()),
        member("minLength", integer()),
        member("pattern", patterns()),
        member("maxItems", integer()),
        member("minItems", integer()),
        member("uniqueItems", boolean()),
        member("maxProperties", integer()),
        member("minProperties", integer()),
        member("required", texts(prop_oneof![4 => simple_text(), 1 => text()].boxed(), 4)),
        member("enum", prop::collection::vec(json(), 0..4).prop_map(Tree::Seq).boxed()),
        member(
            "format",
            select(vec![
                "int32",
                "int64",
                "float",
                "double",
                "byte",
                "date-time",
                "date",
                "uuid",
                "ipv4",
                "foo",
                "",
                "int-or-string"
            ])
            .prop_map(Tree::text)
            .boxed()
        ),
    ]
    .boxed()
}

/// Descriptions, and keywords for server-side apply.
fn annotations() -> BoxedStrategy<Member> {
    let docs = prop_oneof![
        Just(Tree::Map(Vec::new())),
        (text(), text()).prop_map(|(a, b)| Tree::members([("description", Tree::Text(a)), ("url", Tree::Text(b))])),
    ];
    let rule = (text(), prop::option::of(text()), prop::option::of(any::<bool>()), prop::option::of(text())).prop_map(
        |(rule, message, old, reason)| {
            let mut members = vec![("rule".to_owned(), Tree::Text(rule))];
            members.extend(message.map(|text| ("message".to_owned(), Tree::Text(text))));
            members.extend(old.map(|on| ("optionalOldSelf".to_owned(), Tree::boolean(on))));
            members.extend(reason.map(|text| ("reason".to_owned(), Tree::Text(text))));
            Tree::Map(members)
        },
    );
    prop_oneof![
        4 => member("description", text().prop_map(Tree::Text).boxed()),
        1 => member("title", text().prop_map(Tree::Text).boxed()),
        3 => member("default", json()),
        1 => member("example", json()),
        1 => member("externalDocs", docs.boxed()),
        3 => member("nullable", boolean()),
        2 => member("x-kubernetes-validations", prop::collection::vec(rule, 0..3).prop_map(Tree::Seq).boxed()),
        1 => member("x-kubernetes-map-type", select(vec!["atomic", "granular"]).prop_map(Tree::text).boxed()),
    ]
    .boxed()
}

/// Keywords that make a schema unusual or not structural.
fn oddities(inner: &BoxedStrategy<Tree>) -> BoxedStrategy<Member> {
    let named = prop::collection::vec((name(), inner.clone()), 0..3).prop_map(Tree::map).boxed();
    prop_oneof![
        member("id", text().prop_map(Tree::Text).boxed()),
        member("$schema", text().prop_map(Tree::Text).boxed()),
        member("$ref", text().prop_map(Tree::Text).boxed()),
        member("patternProperties", named.clone()),
        member("definitions", named.clone()),
        member("dependencies", named),
        member("additionalItems", prop_oneof![boolean(), inner.clone()].boxed()),
        member("items", prop::collection::vec(inner.clone(), 0..3).prop_map(Tree::Seq).boxed()),
        member("items", select(vec!["true", "null", "text", "false"]).prop_map(Tree::plain).boxed()),
        member("additionalProperties", select(vec!["true", "false", "null"]).prop_map(Tree::plain).boxed()),
        member("type", select(vec!["Object", "null", "file", "", "strin"]).prop_map(Tree::text).boxed()),
        member("type", select(vec!["string", "object", "array", "integer"]).prop_map(Tree::text).boxed()),
        fixed("x-kubernetes-preserve-unknown-fields", Tree::boolean(false)),
        yes("x-kubernetes-preserve-unknown-fields"),
        yes("x-kubernetes-int-or-string"),
        yes("x-kubernetes-embedded-resource"),
        member("x-kubernetes-list-type", select(vec!["atomic", "set", "map", "", "bag"]).prop_map(Tree::text).boxed()),
        member("x-kubernetes-map-type", select(vec!["", "fluid"]).prop_map(Tree::text).boxed()),
        member("x-kubernetes-list-map-keys", texts(text(), 3)),
        member("readOnly", boolean()),
        member("x-other", json()),
        member("unknown", json()),
        member("properties", Just(Tree::Map(Vec::new())).boxed()),
        member("required", Just(Tree::Seq(Vec::new())).boxed()),
    ]
    .boxed()
}

/// Branches of junctors: value validations of the same shape as the surrounding schema.
fn branch(names: BoxedStrategy<String>) -> BoxedStrategy<Tree> {
    let leaf = prop::collection::vec(validations(), 0..3).prop_map(Tree::map);
    leaf.prop_recursive(2, 8, 3, move |inner| {
        prop_oneof![
            2 => prop::collection::vec((names.clone(), inner.clone()), 1..3).prop_map(|members| Tree::members([("properties", Tree::map(members))])),
            1 => inner.clone().prop_map(|inner| Tree::members([("items", inner)])),
            1 => inner.clone().prop_map(|inner| Tree::members([("not", inner)])),
            1 => prop::collection::vec(inner, 1..3).prop_map(|inner| Tree::members([("anyOf", Tree::Seq(inner))])),
        ]
    })
    .boxed()
}

fn junctors(names: BoxedStrategy<String>) -> BoxedStrategy<Member> {
    let branches = prop::collection::vec(branch(names.clone()), 0..3).prop_map(Tree::Seq).boxed();
    prop_oneof![
        member("allOf", branches.clone()),
        member("anyOf", branches.clone()),
        member("oneOf", branches),
        member("not", branch(names)),
    ]
    .boxed()
}

fn typed(ty: &'static str) -> Member {
    ("type".to_owned(), Tree::text(ty))
}

/// Returns a schema with more members, which replace those with the same name.
fn with(base: impl Strategy<Value = Vec<Member>> + 'static, more: BoxedStrategy<Vec<Member>>) -> BoxedStrategy<Tree> {
    (base, more)
        .prop_map(|(mut members, more)| {
            members.extend(more);
            Tree::map(members)
        })
        .boxed()
}

/// An object with properties, of which some are required.
fn object(inner: BoxedStrategy<Tree>) -> BoxedStrategy<Vec<Member>> {
    (prop::collection::vec((name(), inner, any::<bool>()), 0..5), any::<bool>())
        .prop_map(|(properties, any_required)| {
            let mut members = vec![typed("object")];
            let required: Vec<Tree> =
                properties.iter().filter(|(_, _, r)| *r && any_required).map(|(n, _, _)| Tree::text(n)).collect();
            if !required.is_empty() {
                members.push(("required".to_owned(), Tree::Seq(required)));
            }
            let properties = properties.into_iter().map(|(name, schema, _)| (name, schema)).collect();
            members.push(("properties".to_owned(), Tree::map(properties)));
            members
        })
        .boxed()
}

/// A list that is merged by keys that its items have.
fn list_map(inner: BoxedStrategy<Tree>) -> BoxedStrategy<Vec<Member>> {
    (inner, select(vec!["integer", "string", "boolean"]), any::<bool>())
        .prop_map(|(inner, key_type, required)| {
            let key = Tree::map(vec![typed(key_type)]);
            let properties = Tree::map(vec![("value".to_owned(), inner), ("name".to_owned(), key)]);
            let mut item = vec![typed("object"), ("properties".to_owned(), properties)];
            if required {
                item.push(("required".to_owned(), Tree::Seq(vec![Tree::text("name")])));
            }
            vec![
                typed("array"),
                ("x-kubernetes-list-type".to_owned(), Tree::text("map")),
                ("x-kubernetes-list-map-keys".to_owned(), Tree::Seq(vec![Tree::text("name")])),
                ("items".to_owned(), Tree::map(item)),
            ]
        })
        .boxed()
}

/// Integers or strings, in the forms that authors write.
fn int_or_string() -> BoxedStrategy<Vec<Member>> {
    let either = Tree::Seq(vec![Tree::map(vec![typed("integer")]), Tree::map(vec![typed("string")])]);
    let swapped = Tree::Seq(vec![Tree::map(vec![typed("string")]), Tree::map(vec![typed("integer")])]);
    let flag = ("x-kubernetes-int-or-string".to_owned(), Tree::boolean(true));
    let any_of = |either: &Tree| vec![flag.clone(), ("anyOf".to_owned(), either.clone())];
    let all_of = |rest: Vec<Tree>| {
        let mut all = vec![Tree::members([("anyOf", either.clone())])];
        all.extend(rest);
        vec![flag.clone(), ("allOf".to_owned(), Tree::Seq(all))]
    };
    let pattern = Tree::members([("pattern", Tree::text("^a"))]);
    prop_oneof![
        4 => Just(vec![flag.clone()]),
        3 => Just(any_of(&either)),
        2 => Just(all_of(vec![pattern.clone()])),
        1 => Just(all_of(Vec::new())),
        1 => Just(any_of(&swapped)),
        1 => Just(vec![flag.clone(), ("anyOf".to_owned(), Tree::Seq(vec![pattern.clone()]))]),
        1 => Just(vec![flag.clone(), ("anyOf".to_owned(), Tree::Seq(vec![pattern.clone()])), ("allOf".to_owned(), Tree::Seq(vec![pattern]))]),
    ]
    .boxed()
}

fn array(inner: BoxedStrategy<Tree>, list_type: Option<&'static str>) -> BoxedStrategy<Vec<Member>> {
    inner
        .prop_map(move |inner| {
            let mut members = vec![typed("array"), ("items".to_owned(), inner)];
            members.extend(list_type.map(|ty| ("x-kubernetes-list-type".to_owned(), Tree::text(ty))));
            members
        })
        .boxed()
}

fn flags(names: &'static [&'static str], object: bool) -> BoxedStrategy<Vec<Member>> {
    let mut members: Vec<Member> = names.iter().map(|name| ((*name).to_owned(), Tree::boolean(true))).collect();
    if object {
        members.push(typed("object"));
    }
    Just(members).boxed()
}

/// A schema for values within an object.
pub(super) fn schema(care: Care) -> BoxedStrategy<Tree> {
    const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
    const EMBEDDED: &str = "x-kubernetes-embedded-resource";
    let scalar = |ty: &'static str| Just(vec![typed(ty)]).boxed();
    let leaf_base = prop_oneof![
        6 => scalar("string"),
        4 => scalar("integer"),
        2 => scalar("number"),
        3 => scalar("boolean"),
        3 => int_or_string(),
        1 => flags(&[PRESERVE], false),
        1 => flags(&[PRESERVE], true),
        1 => flags(&[PRESERVE, EMBEDDED], true),
        1 => flags(&[PRESERVE, EMBEDDED], false),
        1 => scalar("object"),
    ];
    let mut level = with(leaf_base, more(care, None));
    for _ in 0..3 {
        let inner = level.clone();
        let map =
            inner.clone().prop_map(|inner| vec![typed("object"), ("additionalProperties".to_owned(), inner)]).boxed();
        let embedded = (object(inner.clone()), any::<bool>()).prop_map(|(mut members, preserve)| {
            members.push((EMBEDDED.to_owned(), Tree::boolean(true)));
            if preserve {
                members.push((PRESERVE.to_owned(), Tree::boolean(true)));
            }
            members
        });
        let preserving = object(inner.clone()).prop_map(|mut members| {
            members.push((PRESERVE.to_owned(), Tree::boolean(true)));
            members
        });
        let base = prop_oneof![
            5 => object(inner.clone()),
            2 => array(inner.clone(), None),
            1 => array(inner.clone(), Some("atomic")),
            1 => array(prop_oneof![Just(Tree::map(vec![typed("string")])), Just(Tree::map(vec![typed("integer")]))].boxed(), Some("set")),
            1 => list_map(inner.clone()),
            2 => map,
            1 => embedded,
            1 => preserving,
        ];
        let container = with(base, more(care, Some(inner.clone())));
        level = prop_oneof![3 => inner, 2 => container].boxed();
    }
    level
}

/// Members in addition to those that define the type.
fn more(care: Care, inner: Option<BoxedStrategy<Tree>>) -> BoxedStrategy<Vec<Member>> {
    let usual = prop_oneof![3 => annotations(), 3 => validations(), 1 => junctors(simple_text())].boxed();
    let usual = prop::collection::vec(usual, 0..3);
    if care == Care::Structural {
        return usual.boxed();
    }
    let inner = inner.unwrap_or_else(|| Just(Tree::map(vec![typed("string")])).boxed());
    let odd = prop::collection::vec(oddities(&inner), 1..2);
    (usual, prop::option::weighted(0.03, odd))
        .prop_map(|(mut members, odd)| {
            members.extend(odd.unwrap_or_default());
            members
        })
        .boxed()
}

/// A schema for the root.
pub(super) fn root(care: Care) -> BoxedStrategy<Tree> {
    let usual =
        prop::collection::vec(prop_oneof![2 => annotations(), 1 => validations(), 1 => junctors(simple_text())], 0..3)
            .boxed();
    let preserve = prop::option::weighted(0.1, yes("x-kubernetes-preserve-unknown-fields"));
    let embedded = prop::option::weighted(0.03, yes("x-kubernetes-embedded-resource"));
    let whole = (object(schema(care)), usual, preserve, embedded, metadata())
        .prop_map(|(mut members, usual, preserve, embedded, metadata)| {
            members.extend(usual);
            members.extend(preserve);
            members.extend(embedded);
            let mut tree = Tree::map(members);
            if let (Some(metadata), Tree::Map(members)) = (metadata, &mut tree)
                && let Some((_, Tree::Map(properties))) = members.iter_mut().find(|(name, _)| name == "properties")
            {
                properties.retain(|(name, _)| name != "metadata");
                properties.push(("metadata".to_owned(), metadata));
            }
            tree
        })
        .boxed();
    match care {
        Care::Structural => whole,
        Care::Any => prop_oneof![12 => whole, 1 => schema(care), 1 => Just(Tree::Map(Vec::new())), 1 => Just(Tree::plain("null"))].boxed(),
    }
}

/// What authors may write for `metadata`.
fn metadata() -> BoxedStrategy<Option<Tree>> {
    let name = Tree::members([("type", Tree::text("string")), ("maxLength", Tree::plain("5"))]);
    prop_oneof![
        6 => Just(None),
        1 => Just(Some(Tree::map(vec![typed("object")]))),
        1 => Just(Some(Tree::members([("type", Tree::text("object")), ("properties", Tree::members([("name", name)]))]))),
    ]
    .boxed()
}
