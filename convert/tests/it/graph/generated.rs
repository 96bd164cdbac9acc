//! Properties of generated documents.

use super::support::{Room, aggregate, document, path, print_v3, to};
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::inline::{self, Options, Recursion};
use kubeshape_convert::graph::split::{name_of, split};
use kubeshape_schema::Profile;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const DEFINITIONS: usize = 5;

/// A schema of the definition with that number. References that are the value itself lead to later definitions, because
/// those that lead back have no meaning.
fn schema(of: usize) -> impl Strategy<Value = Value> {
    let reference = |of: usize| json!({"$ref": format!("#/components/schemas/D{of}")});
    let restriction = prop_oneof![
        Just(json!({})),
        Just(json!({"description": "own"})),
        Just(json!({"type": "object"})),
        Just(json!({"type": "string", "maxLength": 2})),
        Just(json!({"required": ["a"]})),
        Just(json!({"minProperties": 1, "title": "t"})),
        Just(json!({"additionalProperties": false, "properties": {"a": {}}})),
        Just(json!({"properties": {"b": {"type": "integer"}}})),
        Just(json!({"enum": ["x", 1, {}]})),
        Just(json!({"minimum": 1})),
        Just(json!({"items": {"type": "string"}})),
        Just(json!({"not": {"type": "integer"}})),
        Just(json!({"oneOf": [{"type": "integer"}, {"minimum": 1}]})),
        Just(json!({"x-kubernetes-list-type": "atomic"})),
        Just(json!({"x-kubernetes-group-version-kind": kinds(&["", "g"])})),
        Just(json!({"x-kubernetes-group-version-kind": kinds(&["", "g", "gone"])})),
        Just(json!({"x-kubernetes-group-version-kind": kinds(&["g", "gone"])})),
    ];
    let anywhere = (0..DEFINITIONS).prop_map(reference);
    let inner = prop_oneof![restriction.clone(), anywhere];
    let below = (inner, restriction.clone(), 0..4usize).prop_map(|(inner, mut own, how)| {
        match how {
            0 => own["properties"] = json!({"a": inner}),
            1 => own["items"] = inner,
            2 => own["additionalProperties"] = inner,
            _ => own["properties"] = json!({"a": {"items": inner}, "c": {}}),
        }
        own
    });
    let later = if of + 1 < DEFINITIONS { of + 1 } else { 0 };
    let in_place =
        (later.max(of)..DEFINITIONS.max(of + 1), below.clone(), 0..4usize).prop_map(move |(to, mut own, how)| {
            if to > of {
                match how {
                    0 => own["$ref"] = reference(to)["$ref"].clone(),
                    1 => own["allOf"] = json!([reference(to)]),
                    2 => own["anyOf"] = json!([reference(to), {"type": "string"}]),
                    _ => own["allOf"] = json!([reference(to), {"minProperties": 1}]),
                }
            }
            own
        });
    prop_oneof![restriction, below, in_place]
}

/// A list of the kinds that every group-version registers.
fn kinds(groups: &[&str]) -> Vec<Value> {
    groups.iter().map(|group| json!({"group": group, "kind": "DeleteOptions", "version": "v1"})).collect()
}

fn definitions() -> impl Strategy<Value = BTreeMap<String, Value>> {
    let all: Vec<_> = (0..DEFINITIONS).map(|of| schema(of).boxed()).collect();
    all.prop_map(|all| all.into_iter().enumerate().map(|(i, schema)| (format!("D{i}"), schema)).collect())
}

fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("x")),
        Just(json!("long")),
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(null)),
        Just(json!({})),
        Just(json!([]))
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::btree_map(prop_oneof![Just("a"), Just("b"), Just("c")], inner, 0..3)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

fn members(definitions: &BTreeMap<String, Value>) -> String {
    definitions.iter().map(|(name, schema)| format!("{}:{schema}", json!(name))).collect::<Vec<_>>().join(",")
}

const PATHS: [&str; 8] =
    ["/api/v1/a", "/api/v1/b/{x}", "/apis/g/v1/", "/apis/g/v1/c", "/apis/g/", "/version/", "/logs/{x}", "/components"];

fn paths() -> impl Strategy<Value = String> {
    let path = (0..PATHS.len(), 0..DEFINITIONS);
    proptest::collection::btree_map(0..PATHS.len(), path, 0..6).prop_map(|paths| {
        paths.into_iter().map(|(at, (_, to_definition))| path_of(at, to_definition)).collect::<Vec<_>>().join(",")
    })
}

fn path_of(at: usize, definition: usize) -> String {
    path(PATHS[at], &to(&format!("D{definition}")))
}

fn validator(definitions: &Value, of: &str) -> jsonschema::Validator {
    let root = json!({"$ref": format!("#/components/schemas/{of}"), "components": {"schemas": definitions}});
    jsonschema::draft202012::new(&root).expect("it is a schema")
}

/// How many documents; more of them with `PROPTEST_CASES`.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splitting_and_aggregating_again_is_the_identity(definitions in definitions(), paths in paths()) {
        let room = Room::default();
        let whole = room.v3(&document(&paths, &members(&definitions)));
        let slices = split(&whole, &room.arena).value;
        for slice in &slices {
            for entry in slice.document.paths.map(|paths| paths.items).unwrap_or_default() {
                prop_assert_eq!(name_of(entry.name), slice.name);
            }
        }
        let sources: Vec<_> = slices.iter().map(|slice| (slice.name, Document::V3(slice.document))).collect();
        let (again, notes) = aggregate(&room, &sources, Profile::Faithful);
        prop_assert!(notes.iter().flatten().all(|note| !note.code.kind().is_loss()));
        let again = again.expect("there are no conflicts");
        prop_assert_eq!(&again, &print_v3(&whole));
        let again = room.v3(&again);
        // And the other way round.
        let slices_again = split(&again, &room.arena).value;
        let texts = |slices: &[kubeshape_convert::graph::split::Slice<'_>]| -> Vec<String> {
            slices.iter().map(|slice| print_v3(&slice.document)).collect()
        };
        prop_assert_eq!(texts(&slices_again), texts(&slices));
    }

    #[test]
    fn any_documents_are_aggregated_and_every_path_means_the_same(one in definitions(), two in definitions(), instances in proptest::collection::vec(instance(), 12)) {
        let room = Room::default();
        let texts = [&one, &two].map(|definitions| {
            let paths = (0..DEFINITIONS).map(|i| path(&format!("/{}{i}", definitions == &two), &to(&format!("D{i}"))));
            document(&paths.collect::<Vec<_>>().join(","), &members(definitions))
        });
        let sources = texts.each_ref().map(|text| ("a", Document::V3(room.v3(text))));
        let (whole, _) = aggregate(&room, &sources, Profile::Faithful);
        if one == two {
            return Ok(());
        }
        let whole: Value = serde_json::from_str(&whole.expect("paths differ")).expect("JSON");
        for (definitions, marked) in [(&one, "false"), (&two, "true")] {
            for i in 0..DEFINITIONS {
                let path = format!("/{marked}{i}");
                let schema = &whole["paths"][&path]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
                let name = schema["$ref"].as_str().and_then(|text| text.rsplit('/').next()).expect("a reference");
                let before = validator(&json!(definitions), &format!("D{i}"));
                let after = validator(&whole["components"]["schemas"], name);
                for instance in &instances {
                    prop_assert_eq!(before.is_valid(instance), after.is_valid(instance), "{} {}", path, instance);
                }
            }
        }
    }

    #[test]
    fn the_same_values_are_valid_when_references_are_inlined(definitions in definitions(), instances in proptest::collection::vec(instance(), 24)) {
        let room = Room::default();
        let whole = room.v3(&document("", &members(&definitions)));
        for recursion in [Recursion::Keep, Recursion::Cut] {
            let inlined = inline::document(&whole, &Options { recursion, ..Options::default() }, &room.arena);
            let inlined: Value = serde_json::from_str(&print_v3(&inlined.value.expect("it fits"))).expect("JSON");
            let after = &inlined["components"]["schemas"];
            let cut = inlined.to_string().contains("x-kubernetes-preserve-unknown-fields");
            for name in definitions.keys() {
                let before = validator(&json!(definitions), name);
                let after = validator(after, name);
                for instance in &instances {
                    let (before, after) = (before.is_valid(instance), after.is_valid(instance));
                    prop_assert!(before == after || (cut && after), "{} {} {}", name, instance, inlined);
                }
            }
        }
    }
}
