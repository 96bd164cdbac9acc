//! Compares sets of paths with the simplest model: a sorted set of paths.

use kubeshape_smd::fieldpath::{
    ElementMatcher, Filter, ManagedFields, Matcher, PathElement, Set, SetBuilder, VersionedSet,
};
use kubeshape_smd::value::{Compat, Map};
use kubeshape_smd::{Bump, Value};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A value that owns its contents.
#[derive(Clone, Debug)]
enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
    List(Vec<Plain>),
    Map(Vec<(String, Plain)>),
}

impl Plain {
    fn value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        match self {
            Plain::Null => Value::Null,
            Plain::Bool(yes) => Value::Bool(*yes),
            Plain::Int(n) => Value::Int(*n),
            Plain::Float(n) => Value::Float(*n),
            Plain::String(text) => Value::String(text),
            Plain::List(items) => Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| item.value(arena)))),
            Plain::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.as_str(), value.value(arena)));
                Value::Map(Map::from_entries(entries.collect(), arena))
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Key(Vec<(String, Plain)>),
    Value(Plain),
    Index(i64),
}

impl Step {
    fn element<'a>(&'a self, arena: &'a Bump) -> PathElement<'a> {
        match self {
            Step::Field(name) => PathElement::FieldName(name),
            Step::Key(fields) => {
                let mut fields: Vec<_> =
                    fields.iter().map(|(name, value)| (name.as_str(), value.value(arena))).collect();
                fields.sort_by(|a, b| a.0.cmp(b.0));
                PathElement::Key(arena.alloc_slice_copy(&fields))
            }
            Step::Value(value) => PathElement::Value(value.value(arena)),
            Step::Index(index) => PathElement::Index(*index),
        }
    }
}

type Steps = Vec<Vec<Step>>;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{0,2}",
        1 => Just("a<b>&\"\\\u{2028}".to_owned()),
        1 => Just("\u{1f525}\n\u{1}.:longer than a word".to_owned()),
    ]
}

/// Numbers that fit a double exactly. Larger integers are compared in two ways, so upstream's order of them is not an
/// order.
fn scalar() -> impl Strategy<Value = Plain> {
    prop_oneof![
        Just(Plain::Null),
        any::<bool>().prop_map(Plain::Bool),
        (-3i64..4).prop_map(Plain::Int),
        (-3i32..4).prop_map(|n| Plain::Float(f64::from(n) / 2.0)),
        prop_oneof![Just(-0.0), Just(1e30), Just(1e-7), Just(443.0)].prop_map(Plain::Float),
        text().prop_map(Plain::String),
    ]
}

fn plain() -> impl Strategy<Value = Plain> {
    scalar().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Plain::List),
            prop::collection::vec((text(), inner), 0..3).prop_map(Plain::Map),
        ]
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => text().prop_map(Step::Field),
        2 => prop::collection::vec((text(), scalar()), 1..3).prop_map(Step::Key),
        1 => plain().prop_map(Step::Value),
        1 => (-2i64..3).prop_map(Step::Index),
    ]
}

fn steps() -> impl Strategy<Value = Steps> {
    prop::collection::vec(prop::collection::vec(step(), 1..4), 0..12)
}

/// Two sets that have much in common.
fn pair() -> impl Strategy<Value = (Steps, Steps)> {
    (steps(), steps(), prop::collection::vec((any::<prop::sample::Index>(), 1usize..4), 0..8)).prop_map(
        |(left, mut right, shared)| {
            for (at, len) in shared {
                if !left.is_empty() {
                    let path = at.get(&left);
                    right.push(path[..len.min(path.len())].to_vec());
                }
            }
            (left, right)
        },
    )
}

type Model<'a> = BTreeSet<Vec<PathElement<'a>>>;

fn model<'a>(steps: &'a Steps, arena: &'a Bump) -> Model<'a> {
    steps.iter().map(|path| path.iter().map(|step| step.element(arena)).collect()).collect()
}

fn build<'a>(model: &Model<'a>, arena: &'a Bump) -> Set<'a> {
    let mut builder = SetBuilder::new(arena);
    for path in model.iter().rev() {
        assert!(builder.insert(path));
    }
    builder.finish()
}

/// Returns the paths of a set. Checks that each occurs once, and that no entry is empty.
fn paths<'a>(set: Set<'a>) -> Model<'a> {
    fn check(set: Set<'_>) {
        assert!(set.entries().is_sorted_by(|a, b| a.element < b.element));
        for entry in set.entries() {
            assert!(entry.member || !entry.children.is_empty());
            check(entry.children);
        }
    }
    check(set);
    let model: Model<'a> = set.iter().collect();
    assert_eq!(model.len(), set.len());
    assert_eq!(model.is_empty(), set.is_empty());
    model
}

proptest! {
    #[test]
    fn operations_are_those_of_the_model((left, right) in pair()) {
        let arena = Bump::new();
        let (a, b) = (model(&left, &arena), model(&right, &arena));
        let (x, y) = (build(&a, &arena), build(&b, &arena));
        prop_assert_eq!(&paths(x), &a);
        prop_assert_eq!(paths(x.union(y, &arena)), a.union(&b).cloned().collect());
        prop_assert_eq!(paths(x.intersection(y, &arena)), a.intersection(&b).cloned().collect());
        prop_assert_eq!(paths(x.difference(y, &arena)), a.difference(&b).cloned().collect());
        let below = |path: &Vec<PathElement<'_>>| (1..=path.len()).any(|len| b.contains(&path[..len]));
        prop_assert_eq!(
            paths(x.recursive_difference(y, &arena)),
            a.iter().filter(|path| !below(path)).cloned().collect()
        );
        let inner = |path: &Vec<PathElement<'_>>| a.iter().any(|other| other.len() > path.len() && other.starts_with(path));
        prop_assert_eq!(paths(x.leaves(&arena)), a.iter().filter(|path| !inner(path)).cloned().collect());
        for path in a.iter().chain(&b) {
            prop_assert_eq!(x.has(path), a.contains(path));
            let below: Model<'_> =
                a.iter().filter(|other| other.len() > 1 && other[0] == path[0]).map(|other| other[1..].to_vec()).collect();
            prop_assert_eq!(paths(x.with_prefix(path[0])), below);
        }
        prop_assert!(!x.has(&[]));
        prop_assert_eq!(x == y, a == b);
        // The operands are not changed.
        prop_assert_eq!(paths(x), a);
        prop_assert_eq!(paths(y), b);
    }

    #[test]
    fn operations_with_the_set_itself_and_with_nothing((left, _) in pair()) {
        let arena = Bump::new();
        let x = build(&model(&left, &arena), &arena);
        // Another copy, so that no parts are the same in memory.
        let y = build(&model(&left, &arena), &arena);
        for y in [x, y] {
            prop_assert_eq!(x.union(y, &arena), x);
            prop_assert_eq!(x.intersection(y, &arena), x);
            prop_assert!(x.difference(y, &arena).is_empty());
            prop_assert!(x.recursive_difference(y, &arena).is_empty());
        }
        prop_assert_eq!(x.union(Set::EMPTY, &arena), x);
        prop_assert_eq!(Set::EMPTY.union(x, &arena), x);
        prop_assert!(x.intersection(Set::EMPTY, &arena).is_empty());
        prop_assert_eq!(x.difference(Set::EMPTY, &arena), x);
        prop_assert_eq!(x.leaves(&arena).leaves(&arena), x.leaves(&arena));
    }

    #[test]
    fn long_nodes_are_combined_as_short_ones_are(long in prop::collection::btree_set(0i64..400, 0..300), short in prop::collection::btree_set(0i64..400, 0..6)) {
        let arena = Bump::new();
        let (long, short): (Model<'_>, Model<'_>) = (
            long.into_iter().map(|n| vec![PathElement::Index(n)]).collect(),
            short.into_iter().map(|n| vec![PathElement::Index(n)]).collect(),
        );
        for (a, b) in [(&long, &short), (&short, &long)] {
            let (x, y) = (build(a, &arena), build(b, &arena));
            prop_assert_eq!(paths(x.union(y, &arena)), a.union(b).cloned().collect());
            prop_assert_eq!(paths(x.intersection(y, &arena)), a.intersection(b).cloned().collect());
            prop_assert_eq!(paths(x.difference(y, &arena)), a.difference(b).cloned().collect());
        }
    }

    #[test]
    fn written_sets_read_back_and_are_written_the_same((left, _) in pair()) {
        let arena = Bump::new();
        let set = build(&model(&left, &arena), &arena);
        let text = set.to_json().expect("all numbers are finite");
        for compat in [Compat::V63, Compat::V64] {
            let read = Set::read_json_as(text.as_bytes(), compat, &arena).expect("it was written");
            prop_assert_eq!(read, set);
            prop_assert_eq!(read.to_json(), Ok(text.clone()));
        }
        let newer = set.to_json_as(Compat::V70).expect("all numbers are finite");
        let read = Set::read_json_as(newer.as_bytes(), Compat::V70, &arena).expect("it was written");
        prop_assert_eq!(read, set);
        prop_assert_eq!(read.to_json_as(Compat::V70), Ok(newer));
        let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let value = set.to_fields_v1(&arena).expect("all numbers are finite");
        prop_assert_eq!(value.to_serde(), json);
        prop_assert_eq!(Set::from_fields_v1(value, &arena).expect("it was written"), set);
    }

    #[test]
    fn elements_read_back_and_are_written_the_same(step in step()) {
        let arena = Bump::new();
        let element = step.element(&arena);
        let mut out = Vec::new();
        element.write(&mut out).expect("all numbers are finite");
        let text = String::from_utf8(out).expect("elements are text");
        let read = PathElement::parse(&text, &arena).expect("it was written");
        prop_assert_eq!(read, element);
        let mut again = Vec::new();
        read.write(&mut again).expect("all numbers are finite");
        prop_assert_eq!(&*again, text.as_bytes());
    }

    #[test]
    fn any_order_of_keys_and_any_blanks_read_as_the_same_set((left, _) in pair(), seed in any::<u64>()) {
        fn spaced(set: Set<'_>, member: bool, seed: &mut u64, out: &mut String) {
            let mut order: Vec<usize> = (0..set.entries().len() + usize::from(member)).collect();
            out.push_str("{ ");
            for at in (0..order.len()).rev() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(at, usize::try_from(*seed >> 33).unwrap_or_default() % (at + 1));
                match set.entries().get(order[at]) {
                    None => out.push_str("\".\" :\n[1, {\"x\": null}]"),
                    Some(entry) => {
                        let mut text = Vec::new();
                        entry.element.write(&mut text).expect("all numbers are finite");
                        let text = String::from_utf8(text).expect("elements are text");
                        out.push_str(&serde_json::Value::from(text).to_string());
                        out.push_str(" :\t");
                        spaced(entry.children, entry.member && !entry.children.is_empty(), seed, out);
                    }
                }
                out.push_str(if at == 0 { "\r" } else { " , " });
            }
            out.push_str(" }");
        }
        let arena = Bump::new();
        let set = build(&model(&left, &arena), &arena);
        let mut text = String::new();
        spaced(set, false, &mut { seed }, &mut text);
        prop_assert_eq!(Set::read_json(text.as_bytes(), &arena), Ok(set));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), json in "[{}\\[\\]\":,.fkvi0-9\\\\null ]{0,40}") {
        let arena = Bump::new();
        for text in [&bytes[..], json.as_bytes()] {
            let new = Set::read_json_as(text, Compat::V64, &arena);
            let old = Set::read_json_as(text, Compat::V63, &arena);
            if new.is_ok() {
                prop_assert_eq!(new, old);
            }
        }
    }

    #[test]
    fn values_and_elements_are_ordered_totally(a in step(), b in step(), c in step()) {
        let arena = Bump::new();
        let (a, b, c) = (a.element(&arena), b.element(&arena), c.element(&arena));
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        if a == b {
            prop_assert_eq!(a.cmp(&c), b.cmp(&c));
        }
    }

    #[test]
    fn an_exclusion_and_the_inclusion_of_a_prefix_share_the_set((left, _) in pair(), prefix in prop::collection::vec(prop::option::of(step()), 1..3)) {
        let arena = Bump::new();
        let a = model(&left, &arena);
        let set = build(&a, &arena);
        let prefix: Vec<_> = prefix
            .iter()
            .map(|step| step.as_ref().map_or(ElementMatcher::Any, |step| ElementMatcher::Is(step.element(&arena))))
            .collect();
        let matches = |path: &[PathElement<'_>]| {
            prefix.iter().zip(path).all(|(matcher, element)| *matcher == ElementMatcher::Any || *matcher == ElementMatcher::Is(*element))
        };
        let included = Filter::include([Matcher::prefix(&prefix)]).filter(set, &arena);
        prop_assert_eq!(paths(included), a.iter().filter(|path| matches(path)).cloned().collect());
        prop_assert!(Filter::Exclude(set).filter(set, &arena).is_empty());
        prop_assert_eq!(Filter::Exclude(Set::EMPTY).filter(set, &arena), set);
        prop_assert_eq!(Filter::include([]).filter(set, &arena), set);
    }

    #[test]
    fn the_difference_of_managers_is_symmetric_and_empty_for_equals((left, right) in pair()) {
        let arena = Bump::new();
        let managers = |steps: &Steps| {
            let mut managers = ManagedFields::new();
            let steps = arena.alloc(steps.clone());
            managers.insert("m", VersionedSet { set: build(&model(steps, &arena), &arena), api_version: "v1", applied: false });
            managers
        };
        let (a, b) = (managers(&left), managers(&right));
        prop_assert_eq!(a.difference(&b, &arena), b.difference(&a, &arena));
        prop_assert!(a.difference(&a, &arena).is_empty());
    }
}
