//! How documents are put together.

use super::support::{Room, document, path, print_v2, print_v3, shown, to};
use kubeshape_convert::graph::aggregate::{Aggregate, Source, aggregate};
use kubeshape_convert::v3;
use kubeshape_schema::Profile;

const LETTERS: [&str; 4] = ["one", "two", "three", "four"];

fn together<'a>(room: &'a Room, texts: &[String], profile: Profile) -> Aggregate<'a, v3::Document<'a>> {
    let sources: Vec<_> =
        texts.iter().zip(LETTERS).map(|(text, name)| Source { name, document: room.v3(text) }).collect();
    aggregate(&sources, profile, &room.arena)
}

fn text(aggregate: &Aggregate<'_, v3::Document<'_>>) -> String {
    print_v3(aggregate.document.as_ref().expect("there is an aggregate"))
}

#[test]
fn what_differs_gets_a_number_that_is_free_in_both_or_means_the_same() {
    let room = Room::default();
    let texts = [
        document(&path("/a", &to("A")), r#""A":{"type":"object"},"A_v2":{"type":"integer"}"#),
        document(&path("/b", &to("A")), r#""A":{"type":"string"},"A_v3":{"type":"boolean"}"#),
        document(&path("/c", &to("A")), r#""A":{"type":"integer"}"#),
        document(&path("/d", &to("A")), r#""A":{"type":"string"}"#),
    ];
    for profile in [Profile::Faithful, Profile::Kube] {
        let whole = together(&room, &texts, profile);
        assert_eq!(
            text(&whole),
            document(
                &[path("/a", &to("A")), path("/b", &to("A_v4")), path("/c", &to("A_v2")), path("/d", &to("A_v4"))]
                    .join(","),
                r#""A":{"type":"object"},"A_v2":{"type":"integer"},"A_v3":{"type":"boolean"},"A_v4":{"type":"string"}"#
            )
        );
        let notes: Vec<_> = whole.notes.iter().map(|notes| shown(notes)).collect();
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
fn equal_texts_are_equal_if_what_they_refer_to_is() {
    let room = Room::default();
    let schemas = |b: &str| format!(r#""A":{{"items":{}}},"B":{b}"#, to("B"));
    let texts =
        [r#"{"type":"object"}"#, r#"{"type":"string"}"#, r#"{"type":"string"}"#].map(|b| document("", &schemas(b)));
    let whole = together(&room, &texts, Profile::Faithful);
    let expected = format!(
        r#""A":{{"items":{}}},"A_v2":{{"items":{}}},"B":{{"type":"object"}},"B_v2":{{"type":"string"}}"#,
        to("B"),
        to("B_v2")
    );
    assert_eq!(text(&whole), document("", &expected));
    // Upstream compares texts alone.
    let whole = together(&room, &texts, Profile::Kube);
    let expected = format!(r#""A":{{"items":{}}},"B":{{"type":"object"}},"B_v2":{{"type":"string"}}"#, to("B"));
    assert_eq!(text(&whole), document("", &expected));
}

#[test]
fn circles_are_shared_or_renamed_as_a_whole() {
    let room = Room::default();
    let schemas =
        |ty: &str| format!(r#""A":{{"items":{}}},"B":{{"properties":{{"a":{}}},"type":"{ty}"}}"#, to("B"), to("A"));
    let texts = ["object", "string", "object", "string"].map(|ty| document("", &schemas(ty)));
    let whole = together(&room, &texts, Profile::Faithful);
    let expected = format!(
        r#""A":{{"items":{}}},"A_v2":{{"items":{}}},"B":{{"type":"object","properties":{{"a":{}}}}},"B_v2":{{"type":"string","properties":{{"a":{}}}}}"#,
        to("B"),
        to("B_v2"),
        to("A"),
        to("A_v2")
    );
    assert_eq!(text(&whole), document("", &expected));
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
    let whole = together(&room, &[one.clone(), document("", &schemas(&["b", "a"]))], Profile::Faithful);
    assert_eq!(text(&whole), document("", &schemas(&["a", "b", "c"])));
    // Nothing is sorted if nothing is added.
    let whole = together(&room, &[one.clone(), document("", &schemas(&["b"]))], Profile::Faithful);
    assert_eq!(text(&whole), one);
}

#[test]
fn paths_that_differ_are_an_error_that_names_both_documents() {
    let room = Room::default();
    let same = [document(&path("/a", &to("A")), r#""A":{}"#), document(&path("/a", &to("A")), r#""A":{}"#)];
    assert_eq!(text(&together(&room, &same, Profile::Faithful)), same[0]);
    // The texts of the paths are equal, but what they refer to is not.
    let texts = [same[0].clone(), document(&path("/a", &to("A")), r#""A":{"type":"object"}"#)];
    let whole = together(&room, &texts, Profile::Faithful);
    assert_eq!(whole.document, None);
    assert_eq!(
        shown(&whole.notes[1]),
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
    let sources = [
        Source { name: "one", document: room.v2(&text_of("a", 1)) },
        Source { name: "two", document: room.v2(&text_of("b", 2)) },
    ];
    let whole = aggregate(&sources, Profile::Faithful, &room.arena);
    assert_eq!(
        shown(&whole.notes[1]),
        [
            "KS4107 parameter P is called P_v2",
            "KS4107 response R is called R_v2",
            "KS4107 security scheme S is called S_v2"
        ]
    );
    assert_eq!(
        print_v2(&whole.document.expect("there is an aggregate")),
        r##"{"swagger":"2.0","paths":{"/a":{"get":{"security":[{"S":[]}],"parameters":[{"$ref":"#/parameters/P"}],"responses":{"200":{"$ref":"#/responses/R"}}}},"/b":{"get":{"security":[{"S_v2":[]}],"parameters":[{"$ref":"#/parameters/P_v2"}],"responses":{"200":{"$ref":"#/responses/R_v2"}}}}},"parameters":{"P":{"maximum":1,"type":"integer","name":"p","in":"query"},"P_v2":{"maximum":2,"type":"integer","name":"p","in":"query"}},"responses":{"R":{"description":"1"},"R_v2":{"description":"2"}},"securityDefinitions":{"S":{"description":"1","type":"basic"},"S_v2":{"description":"2","type":"basic"}}}"##
    );
}

#[test]
fn what_the_root_says_of_operations_moves_to_them_and_the_rest_is_noted() {
    let room = Room::default();
    let texts = [
        r#"{"openapi":"3.0.0","info":{"title":"A"},"paths":{},"security":[{"S":[]}]}"#.to_owned(),
        r#"{"openapi":"3.0.0","info":{"title":"B"},"paths":{"/b":{"get":{}}},"servers":[{"url":"/x"}]}"#.to_owned(),
    ];
    let whole = together(&room, &texts, Profile::Faithful);
    assert_eq!(
        text(&whole),
        r#"{"openapi":"3.0.0","info":{"title":"A"},"paths":{"/b":{"get":{"security":[]},"servers":[{"url":"/x"}]}},"security":[{"S":[]}]}"#
    );
    assert_eq!(shown(&whole.notes[1]), ["KS4108 info"]);
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
            // Of a name that all have, every document has another definition.
            let own = format!(r#""Meta18":{{}},"Own":{{"maximum":{i},"items":{}}}"#, to("Meta0"));
            let text = document(&path(&format!("/apis/g{i}/v1"), &to("Own")), &format!("{},{own}", meta.join(",")));
            Source { name, document: room.v3(&text) }
        })
        .collect();
    let whole = aggregate(&sources, Profile::Faithful, &room.arena).document.expect("there is an aggregate");
    assert_eq!(whole.components.map_or(0, |components| components.schemas.len()), 5_000 + 19);
}
