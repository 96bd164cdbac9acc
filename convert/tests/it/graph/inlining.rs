//! Inlining references.

use super::support::{Room, document, path, print_v3, shown, to};
use kubeshape_convert::graph::inline::{self, Kind, Options, Recursion};

fn inlined(text: &str, recursion: Recursion) -> (String, Vec<String>) {
    let room = Room::default();
    let inlined = inline::document(&room.v3(text), &Options { recursion, ..Options::default() }, &room.arena);
    (print_v3(&inlined.value.expect("it fits")), shown(&inlined.notes))
}

/// Inlines a schema to which a path refers.
fn schema(schema: &str, definitions: &str) -> String {
    let (text, notes) = inlined(&document(&path("/a", schema), definitions), Recursion::Keep);
    assert_eq!(notes, Vec::<String>::new());
    let (before, after) =
        path("", "|").split_once('|').map(|(a, b)| (a[3..].to_owned(), b.to_owned())).expect("a mark");
    let from = text.find(&before).expect("the path is there") + before.len();
    let end = text.rfind(r#","components""#).expect("it ends") - after.len() - 1;
    text[from..end].to_owned()
}

#[test]
fn siblings_of_a_reference_are_merged_with_it() {
    let b = r#""B":{"description":"b","type":"object","required":["x"],"properties":{"x":{}},"maxProperties":3}"#;
    let cases = [
        (
            r##"{"$ref":"#/components/schemas/B","description":"own","default":{}}"##,
            r#"{"description":"own","type":"object","default":{},"maxProperties":3,"required":["x"],"properties":{"x":{}}}"#,
        ),
        (
            r##"{"description":"own","allOf":[{"$ref":"#/components/schemas/B"}]}"##,
            r#"{"description":"own","type":"object","maxProperties":3,"required":["x"],"properties":{"x":{}}}"#,
        ),
        (
            r##"{"$ref":"#/components/schemas/B","required":["y","x"],"properties":{"y":{}},"minProperties":1}"##,
            r#"{"description":"b","type":"object","maxProperties":3,"minProperties":1,"required":["x","y"],"properties":{"x":{},"y":{}}}"#,
        ),
        // Both have a restriction of the same kind.
        (
            r##"{"$ref":"#/components/schemas/B","maxProperties":2}"##,
            r#"{"maxProperties":2,"allOf":[{"description":"b","type":"object","maxProperties":3,"required":["x"],"properties":{"x":{}}}]}"#,
        ),
        (
            r##"{"additionalProperties":false,"allOf":[{"$ref":"#/components/schemas/B"}]}"##,
            r#"{"allOf":[{"description":"b","type":"object","maxProperties":3,"required":["x"],"properties":{"x":{}}}],"additionalProperties":false}"#,
        ),
        (
            r##"{"nullable":true,"allOf":[{"$ref":"#/components/schemas/B"}]}"##,
            r#"{"nullable":true,"allOf":[{"description":"b","type":"object","maxProperties":3,"required":["x"],"properties":{"x":{}}}]}"#,
        ),
    ];
    for (before, after) in cases {
        assert_eq!(schema(before, b), after, "{before}");
    }
}

#[test]
fn references_into_definitions_are_inlined_and_others_stay() {
    let definitions = format!(r#""A":{{"properties":{{"x/y":{{"items":{}}}}}}},"B":{{"type":"string"}}"#, to("B"));
    let text = document(&path("/a", r##"{"$ref":"#/components/schemas/A/properties/x~1y/items"}"##), &definitions);
    let (out, notes) = inlined(&text, Recursion::Keep);
    assert_eq!(out, document(&path("/a", r#"{"type":"string"}"#), "").replace(r#""schemas":{}"#, ""));
    assert_eq!(notes, ["KS4103 #/components/schemas/A/properties/x~1y/items"]);
    let text = document(&path("/a", r##"{"$ref":"#/components/schemas/Gone"}"##), "");
    let (out, notes) = inlined(&text, Recursion::Keep);
    assert_eq!(out, text.replace(r#""schemas":{}"#, ""));
    assert_eq!(notes, ["KS4101 #/components/schemas/Gone"]);
}

#[test]
fn recursion_is_kept_or_cut() {
    let tree = format!(
        r#""Leaf":{{"type":"string"}},"Tree":{{"type":"object","properties":{{"leaf":{},"next":{}}}}}"#,
        to("Leaf"),
        to("Tree")
    );
    let text = document(&path("/a", &to("Tree")), &tree);
    let (kept, notes) = inlined(&text, Recursion::Keep);
    let leaf = r#"{"type":"string"}"#;
    let body = |next: &str| format!(r#"{{"type":"object","properties":{{"leaf":{leaf},"next":{next}}}}}"#);
    assert_eq!(kept, document(&path("/a", &to("Tree")), &format!(r#""Tree":{}"#, body(&to("Tree")))));
    assert_eq!(notes, ["KS4110 Tree"]);
    let (cut, notes) = inlined(&text, Recursion::Cut);
    let any = r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#;
    assert_eq!(cut, document(&path("/a", &body(any)), "").replace(r#""schemas":{}"#, ""));
    assert_eq!(notes, ["KS4111 Tree"]);
}

#[test]
fn a_reference_that_stays_keeps_its_siblings() {
    let definitions =
        |any: &str| format!(r#""Any":{any},"Tree":{{"type":"object","properties":{{"next":{}}}}}"#, to("Tree"));
    let any = r##"{"title":"any","$ref":"#/components/schemas/Tree"}"##;
    let (out, _) = inlined(&document(&path("/a", &to("Any")), &definitions(any)), Recursion::Keep);
    let tree = format!(r#""Tree":{{"type":"object","properties":{{"next":{}}}}}"#, to("Tree"));
    assert_eq!(out, document(&path("/a", any), &tree));
}

#[test]
fn shared_parts_are_inlined() {
    let text = r##"{"openapi":"3.0.0","info":null,"paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/P"}],"requestBody":{"$ref":"#/components/requestBodies/B"},"responses":{"200":{"$ref":"#/components/responses/R"}}}}},"components":{"securitySchemes":{"S":{"type":"http"}},"responses":{"Q":{"description":"q","headers":{"h":{"$ref":"#/components/headers/H"}}},"R":{"$ref":"#/components/responses/Q"}},"parameters":{"P":{"name":"p","in":"query"}},"requestBodies":{"B":{"description":"b"}},"headers":{"H":{"description":"h"}}}}"##;
    let expected = r#"{"openapi":"3.0.0","info":null,"paths":{"/a":{"get":{"parameters":[{"name":"p","in":"query"}],"requestBody":{"description":"b"},"responses":{"200":{"description":"q","headers":{"h":{"description":"h"}}}}}}},"components":{"securitySchemes":{"S":{"type":"http"}}}}"#;
    assert_eq!(inlined(text, Recursion::Keep).0, expected);
}

#[test]
fn callbacks_that_contain_themselves_end() {
    let callback = r##""C":{"/x":{"get":{"callbacks":{"c":{"$ref":"#/components/callbacks/C"}}}}}"##;
    let text = format!(
        r##"{{"openapi":"3.0.0","info":null,"paths":{{"/a":{{"get":{{"callbacks":{{"c":{{"$ref":"#/components/callbacks/C"}}}}}}}}}},"components":{{"callbacks":{{{callback}}}}}}}"##
    );
    assert_eq!(inlined(&text, Recursion::Keep).0, text);
}

#[test]
fn growth_is_bounded_and_the_error_names_what_grows() {
    let room = Room::default();
    let twice = |n: usize| format!(r#""D{n:02}":{{"properties":{{"x":{0},"y":{0}}}}}"#, to(&format!("D{:02}", n + 1)));
    let schemas: Vec<String> = (0..70).map(twice).chain([r#""D70":{}"#.to_owned()]).collect();
    let document = room.v3(&document(&path("/a", &to("D00")), &schemas.join(",")));
    let options = Options { schemas: 1_000, ..Options::default() };
    let inlined = inline::document(&document, &options, &room.arena);
    assert_eq!(inlined.value, None);
    assert_eq!(
        shown(&inlined.notes),
        [
            "KS4112 D61 has 1023 schemas, 19 levels deep, more than 1000 or 500: D61 → 2 × D62 → 2 × D63 → 2 × D64 → 2 × D65 → 2 × D66 → 2 × D67 → 2 × D68 → 2 × D69 → …"
        ]
    );
    let one = inline::kind(&document, Kind::parse("D65"), &options, &room.arena);
    assert!(one.value.is_some());
}

#[test]
fn contents_of_definitions_are_counted_wherever_they_are_inlined() {
    let room = Room::default();
    let text = "x".repeat(1000);
    let twice = |n: usize| {
        format!(r#""D{n}":{{"description":"{text}","properties":{{"x":{0},"y":{0}}}}}"#, to(&format!("D{}", n + 1)))
    };
    let schemas: Vec<String> = (0..8).map(twice).chain([r#""D8":{}"#.to_owned()]).collect();
    let document = room.v3(&document(&path("/a", &to("D0")), &schemas.join(",")));
    let options = Options { bytes: 10_000, ..Options::default() };
    let inlined = inline::document(&document, &options, &room.arena);
    assert_eq!(inlined.value, None);
    let notes = shown(&inlined.notes);
    assert!(notes.len() == 1 && notes[0].starts_with("KS4112 D"), "{notes:?}");
    assert!(notes[0].contains(" bytes, more than 10000000, 500 or 10000: D"), "{notes:?}");
    // The count is the size of the printed document.
    let whole = inline::document(&document, &Options::default(), &room.arena).value.expect("a document");
    let mut out = Vec::new();
    whole.print(&mut out, kubeshape_schema::Profile::Kube);
    for (bytes, fits) in [(out.len() as u64 * 2, true), (out.len() as u64 / 2, false)] {
        let options = Options { bytes, ..Options::default() };
        assert_eq!(inline::document(&document, &options, &room.arena).value.is_some(), fits, "{bytes}");
    }
    // Printing has a limit of its own.
    let mut printed = b"before".to_vec();
    assert!(!whole.print_within(&mut printed, kubeshape_schema::Profile::Kube, out.len() - 1));
    assert_eq!(printed, b"before");
    assert!(whole.print_within(&mut printed, kubeshape_schema::Profile::Kube, out.len()));
    assert_eq!(printed[6..], out);
}

#[test]
fn shared_parts_are_printed_in_pieces_and_never_in_memory_as_a_whole() {
    let room = Room::default();
    // By properties, by branches and by items: the output doubles with each step.
    let twice = |n: usize| {
        let next = to(&format!("D{:02}", n + 1));
        let what = match n % 3 {
            0 => format!(r#""properties":{{"x":{next},"y":{next}}}"#),
            1 => format!(r#""anyOf":[{next},{next}]"#),
            _ => format!(r#""items":{{"not":{next}}},"additionalProperties":{next}"#),
        };
        format!(r#""D{n:02}":{{"description":"text {n}",{what}}}"#)
    };
    let schemas: Vec<String> = (0..16).map(twice).chain([r#""D16":{}"#.to_owned()]).collect();
    let document = room.v3(&document(&path("/a", &to("D00")), &schemas.join(",")));
    let whole = inline::document(&document, &Options::default(), &room.arena).value.expect("a document");
    let profile = kubeshape_schema::Profile::Faithful;
    let mut expected = Vec::new();
    whole.print(&mut expected, profile);
    let (mut out, mut largest) = (Vec::new(), 0);
    let fits = whole.print_in_pieces(profile, expected.len(), &mut |piece| {
        largest = largest.max(piece.len());
        out.extend_from_slice(piece);
    });
    assert!(fits && out == expected && expected.len() > 40 * largest, "{largest} of {}", expected.len());
    assert!(!whole.print_in_pieces(profile, expected.len() - 1, &mut |_| {}));
}

#[test]
fn a_long_chain_is_an_error_and_does_not_overflow() {
    let room = Room::default();
    let link = |n: usize| format!(r#""D{n:05}":{{"items":{}}}"#, to(&format!("D{:05}", n + 1)));
    let schemas: Vec<String> = (0..50_000).map(link).chain([r#""D50000":{}"#.to_owned()]).collect();
    let document = room.v3(&document(&path("/a", &to("D00000")), &schemas.join(",")));
    let inlined = inline::document(&document, &Options::default(), &room.arena);
    assert_eq!(inlined.value, None);
    assert!(inlined.notes[0].detail.starts_with("D49500 has 501 schemas, 501 levels deep, more than 10000000 or 500"));
}

#[test]
fn a_kind_is_found_by_its_list_or_else_by_its_name() {
    let kinds = |group: &str| {
        format!(r#"{{"x-kubernetes-group-version-kind":[{{"group":"{group}","kind":"A","version":"v1"}}]}}"#)
    };
    let text =
        document("", &format!(r#""org.x.v1.B":{{}},"org.x.v2.B":{{}},"x":{},"y":{}"#, kinds("x.org"), kinds("y.org")));
    let found = |wanted: &str| {
        let room = Room::default();
        let inlined = inline::kind(&room.v3(&text), Kind::parse(wanted), &Options::default(), &room.arena);
        let schemas = inlined.value.and_then(|document| document.components).map_or(&[][..], |c| c.schemas);
        let names: Vec<String> = schemas.iter().map(|schema| schema.name.to_owned()).collect();
        (names.join(" "), shown(&inlined.notes).join(" "))
    };
    let is = |names: &str, notes: &str| (names.to_owned(), notes.to_owned());
    assert_eq!(found("A"), is("x y", ""));
    assert_eq!(found("v1/A"), is("x y", ""));
    assert_eq!(found("y.org/v1/A"), is("y", ""));
    assert_eq!(found("B"), is("org.x.v1.B org.x.v2.B", ""));
    assert_eq!(found("v2/B"), is("org.x.v2.B", ""));
    assert_eq!(found("y.org/v2/A"), is("", "KS4113 y.org/v2/A"));
}

#[test]
fn definitions_that_a_mapping_names_stay() {
    let text = document(
        &path("/a", &to("A")),
        &format!(
            r##""A":{{"oneOf":[{0}],"discriminator":{{"mapping":{{"b":"#/components/schemas/B"}},"propertyName":"k"}}}},"B":{{}}"##,
            to("B")
        ),
    );
    let a = r##"{"oneOf":[{}],"discriminator":{"mapping":{"b":"#/components/schemas/B"},"propertyName":"k"}}"##;
    assert_eq!(inlined(&text, Recursion::Keep).0, document(&path("/a", a), r#""B":{}"#));
}
