//! Aggregating documents.

use super::support::{Room, aggregate, document, path, shown, to};
use kubeshape_convert::document::Document;
use kubeshape_schema::{Note, Profile};

const LETTERS: [&str; 4] = ["one", "two", "three", "four"];

fn together<'a>(room: &'a Room, texts: &[String], profile: Profile) -> (Option<String>, Vec<Vec<Note<'a>>>) {
    let sources: Vec<_> = texts.iter().zip(LETTERS).map(|(text, name)| (name, Document::V3(room.v3(text)))).collect();
    aggregate(room, &sources, profile)
}

#[test]
fn parts_that_differ_get_a_number_that_is_free_in_both_or_has_the_same_meaning() {
    let room = Room::default();
    let texts = [
        document(&path("/a", &to("A")), r#""A":{"type":"object"},"A_v2":{"type":"integer"}"#),
        document(&path("/b", &to("A")), r#""A":{"type":"string"},"A_v3":{"type":"boolean"}"#),
        document(&path("/c", &to("A")), r#""A":{"type":"integer"}"#),
        document(&path("/d", &to("A")), r#""A":{"type":"string"}"#),
    ];
    for profile in [Profile::Faithful, Profile::Kube] {
        let (whole, notes) = together(&room, &texts, profile);
        assert_eq!(
            whole,
            Some(document(
                &[path("/a", &to("A")), path("/b", &to("A_v4")), path("/c", &to("A_v2")), path("/d", &to("A_v4"))]
                    .join(","),
                r#""A":{"type":"object"},"A_v2":{"type":"integer"},"A_v3":{"type":"boolean"},"A_v4":{"type":"string"}"#
            ))
        );
        let notes: Vec<_> = notes.iter().map(|notes| shown(notes)).collect();
        assert_eq!(
            notes,
            [
                vec![],
                vec!["KS4107 schema A is called A_v4".to_owned()],
                vec!["KS4107 schema A is called A_v2".to_owned()],
                vec!["KS4107 schema A is called A_v4".to_owned()]
            ]
        );
    }
}

#[test]
fn parts_that_print_the_same_are_equal_if_their_targets_are() {
    let room = Room::default();
    let schemas = |b: &str| format!(r#""A":{{"items":{}}},"B":{b}"#, to("B"));
    let texts =
        [r#"{"type":"object"}"#, r#"{"type":"string"}"#, r#"{"type":"string"}"#].map(|b| document("", &schemas(b)));
    let (whole, _) = together(&room, &texts, Profile::Faithful);
    let expected = format!(
        r#""A":{{"items":{}}},"A_v2":{{"items":{}}},"B":{{"type":"object"}},"B_v2":{{"type":"string"}}"#,
        to("B"),
        to("B_v2")
    );
    assert_eq!(whole, Some(document("", &expected)));
    // Upstream compares only the printed form.
    let (whole, _) = together(&room, &texts, Profile::Kube);
    let expected = format!(r#""A":{{"items":{}}},"B":{{"type":"object"}},"B_v2":{{"type":"string"}}"#, to("B"));
    assert_eq!(whole, Some(document("", &expected)));
}

#[test]
fn cycles_are_shared_or_renamed_as_a_whole() {
    let room = Room::default();
    let schemas =
        |ty: &str| format!(r#""A":{{"items":{}}},"B":{{"properties":{{"a":{}}},"type":"{ty}"}}"#, to("B"), to("A"));
    let texts = ["object", "string", "object", "string"].map(|ty| document("", &schemas(ty)));
    let (whole, _) = together(&room, &texts, Profile::Faithful);
    let expected = format!(
        r#""A":{{"items":{}}},"A_v2":{{"items":{}}},"B":{{"type":"object","properties":{{"a":{}}}}},"B_v2":{{"type":"string","properties":{{"a":{}}}}}"#,
        to("B"),
        to("B_v2"),
        to("A"),
        to("A_v2")
    );
    assert_eq!(whole, Some(document("", &expected)));
}

#[test]
fn kinds_of_equal_definitions_are_united_and_sorted() {
    let room = Room::default();
    let schemas = |groups: &[&str]| {
        let kinds: Vec<String> =
            groups.iter().map(|group| format!(r#"{{"group":"{group}","kind":"K","version":"v1"}}"#)).collect();
        format!(r#""A":{{"type":"object","x-kubernetes-group-version-kind":[{}]}}"#, kinds.join(","))
    };
    let one = document("", &schemas(&["c", "b"]));
    let (whole, _) = together(&room, &[one.clone(), document("", &schemas(&["b", "a"]))], Profile::Faithful);
    assert_eq!(whole, Some(document("", &schemas(&["a", "b", "c"]))));
    // Nothing is sorted if nothing is added.
    let (whole, _) = together(&room, &[one.clone(), document("", &schemas(&["b"]))], Profile::Faithful);
    assert_eq!(whole, Some(one));
}

#[test]
fn paths_that_differ_are_an_error_that_names_both_documents() {
    let room = Room::default();
    let same = [document(&path("/a", &to("A")), r#""A":{}"#), document(&path("/a", &to("A")), r#""A":{}"#)];
    assert_eq!(together(&room, &same, Profile::Faithful).0.as_ref(), Some(&same[0]));
    // The paths print the same, but their targets differ.
    let texts = [same[0].clone(), document(&path("/a", &to("A")), r#""A":{"type":"object"}"#)];
    let (whole, notes) = together(&room, &texts, Profile::Faithful);
    assert_eq!(whole, None);
    assert_eq!(
        shown(&notes[1]),
        ["KS4106 /a is defined by one and, differently, by two", "KS4107 schema A is called A_v2"]
    );
}

#[test]
fn every_kind_of_shared_part_is_renamed_with_its_references() {
    let room = Room::default();
    let text_of = |at: &str, n: u8| {
        format!(
            r##"{{"swagger":"2.0","paths":{{"/{at}":{{"get":{{"security":[{{"S":[]}}],"parameters":[{{"$ref":"#/parameters/P"}}],"responses":{{"200":{{"$ref":"#/responses/R"}}}}}}}}}},"parameters":{{"P":{{"maximum":{n},"type":"integer","name":"p","in":"query"}}}},"responses":{{"R":{{"description":"{n}"}}}},"securityDefinitions":{{"S":{{"description":"{n}","type":"basic"}}}}}}"##
        )
    };
    let sources = [("one", Document::V2(room.v2(&text_of("a", 1)))), ("two", Document::V2(room.v2(&text_of("b", 2))))];
    let (whole, notes) = aggregate(&room, &sources, Profile::Faithful);
    assert_eq!(
        shown(&notes[1]),
        [
            "KS4107 parameter P is called P_v2",
            "KS4107 response R is called R_v2",
            "KS4107 security scheme S is called S_v2"
        ]
    );
    assert_eq!(
        whole.expect("there is an aggregate"),
        r##"{"swagger":"2.0","paths":{"/a":{"get":{"security":[{"S":[]}],"parameters":[{"$ref":"#/parameters/P"}],"responses":{"200":{"$ref":"#/responses/R"}}}},"/b":{"get":{"security":[{"S_v2":[]}],"parameters":[{"$ref":"#/parameters/P_v2"}],"responses":{"200":{"$ref":"#/responses/R_v2"}}}}},"parameters":{"P":{"maximum":1,"type":"integer","name":"p","in":"query"},"P_v2":{"maximum":2,"type":"integer","name":"p","in":"query"}},"responses":{"R":{"description":"1"},"R_v2":{"description":"2"}},"securityDefinitions":{"S":{"description":"1","type":"basic"},"S_v2":{"description":"2","type":"basic"}}}"##
    );
}

#[test]
fn root_members_of_operations_move_to_them_and_the_rest_is_noted() {
    let room = Room::default();
    let texts = [
        r#"{"openapi":"3.0.0","info":{"title":"A"},"paths":{},"security":[{"S":[]}]}"#.to_owned(),
        r#"{"openapi":"3.0.0","info":{"title":"B"},"paths":{"/b":{"get":{}}},"servers":[{"url":"/x"}]}"#.to_owned(),
    ];
    let (whole, notes) = together(&room, &texts, Profile::Faithful);
    assert_eq!(
        whole.expect("there is an aggregate"),
        r#"{"openapi":"3.0.0","info":{"title":"A"},"paths":{"/b":{"get":{"security":[]},"servers":[{"url":"/x"}]}},"security":[{"S":[]}]}"#
    );
    assert_eq!(shown(&notes[1]), ["KS4108 info"]);
}

#[test]
fn five_thousand_documents_take_linear_time() {
    let room = Room::default();
    let names: Vec<String> = (0..5_000).map(|i| format!("document {i}")).collect();
    let sources: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let meta: Vec<String> =
                (0..18).map(|n| format!(r#""Meta{n}":{{"items":{}}}"#, to(&format!("Meta{}", n + 1)))).collect();
            // All documents have this name, each with another definition.
            let own = format!(r#""Meta18":{{}},"Own":{{"maximum":{i},"items":{}}}"#, to("Meta0"));
            let text = document(&path(&format!("/apis/g{i}/v1"), &to("Own")), &format!("{},{own}", meta.join(",")));
            (name.as_str(), Document::V3(room.v3(&text)))
        })
        .collect();
    let whole = aggregate(&room, &sources, Profile::Faithful).0.expect("there is an aggregate");
    let whole = room.v3(&whole);
    assert_eq!(whole.components.map_or(0, |components| components.schemas.len()), 5_000 + 19);
}

#[test]
fn parts_equal_to_a_renamed_part_before_its_references_changed_are_shared() {
    let room = Room::default();
    let schemas = |a: &str, b: &str| format!(r#""A":{{"description":"{a}","items":{}}},"B":{{"type":"{b}"}}"#, to("B"));
    let texts = [("/a", "1", "object"), ("/b", "2", "string"), ("/c", "2", "string")]
        .map(|(at, a, b)| document(&path(at, &to("A")), &schemas(a, b)));
    for profile in [Profile::Kube, Profile::Faithful] {
        let (_, notes) = together(&room, &texts, profile);
        let names = ["KS4107 schema A is called A_v2", "KS4107 schema B is called B_v2"];
        assert_eq!(shown(&notes[1]), names);
        assert_eq!(shown(&notes[2]), names);
    }
}

#[test]
fn an_equal_part_is_found_although_a_name_before_it_is_free() {
    let room = Room::default();
    let texts = [
        document(&path("/a", &to("A")), r#""A":{"type":"object"},"A_v3":{"type":"string"}"#),
        document(&path("/b", &to("A")), r#""A":{"type":"string"}"#),
    ];
    for profile in [Profile::Kube, Profile::Faithful] {
        let (_, notes) = together(&room, &texts, profile);
        assert_eq!(shown(&notes[1]), ["KS4107 schema A is called A_v3"]);
    }
}

#[test]
fn kinds_are_in_their_place_wherever_they_come_from() {
    let room = Room::default();
    let kind = |group: &str| format!(r#"[{{"group":"{group}","kind":"K","version":"v1"}}]"#);
    let with = |kinds: &str, before: &str, behind: &str| {
        document("", &format!(r#""A":{{{before}"x-kubernetes-group-version-kind":{kinds}{behind}}}"#))
    };
    let without = |members: &str| document("", &format!(r#""A":{{{members}}}"#));
    for (before, behind, members) in [
        ("", "", ""),
        (r#""type":"object","#, "", r#""type":"object""#),
        ("", r#","x-z":1"#, r#""x-z":1"#),
        (
            r#""type":"object","x-a":1,"#,
            r#","x-kubernetes-map-type":"atomic""#,
            r#""type":"object","x-a":1,"x-kubernetes-map-type":"atomic""#,
        ),
    ] {
        let (whole, _) = together(&room, &[without(members), with(&kind("a"), before, behind)], Profile::Faithful);
        assert_eq!(whole, Some(with(&kind("a"), before, behind)));
        let (whole, _) = together(&room, &[with(&kind("a"), before, behind), without(members)], Profile::Faithful);
        assert_eq!(whole, Some(with(&kind("a"), before, behind)));
        // A value that is not a list stays, unless there is a list.
        let (whole, _) = together(&room, &[with("1", before, behind), without(members)], Profile::Faithful);
        assert_eq!(whole, Some(with("1", before, behind)));
        let (whole, _) =
            together(&room, &[with("1", before, behind), with(&kind("a"), before, behind)], Profile::Faithful);
        assert_eq!(whole, Some(with(&kind("a"), before, behind)));
    }
}
