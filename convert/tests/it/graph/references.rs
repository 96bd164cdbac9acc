//! The references in the graph.

use super::support::{Room, document, shown, to};
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::{Graph, Link, Section};
use kubeshape_convert::model::Site;

#[test]
fn every_kind_of_odd_reference_is_noted_with_its_location() {
    let room = Room::default();
    let text = r##"{"swagger":"2.0","paths":{
        "/a/{b}":{"get":{"operationId":"x","responses":{"200":{"description":"","schema":{"$ref":"#/definitions/A"}}}},
                  "put":{"operationId":"x","responses":{}}}},
      "definitions":{
        "A":{"properties":{
          "a_dangling":{"$ref":"#/definitions/Gone"},
          "b_remote":{"$ref":"other.json#/definitions/A"},
          "c_path":{"$ref":"#/paths/~1a~1%7Bb%7D/get/responses/200/schema"},
          "d_inner":{"$ref":"#/definitions/A/properties/a"},
          "e_root":{"$ref":"#"},
          "f_escaped":{"$ref":"#/definitions/x~1y~0z%7B"},
          "g_kind":{"$ref":"#/parameters/P"}}},
        "B":{"$ref":"#/definitions/C"},
        "C":{"allOf":[{"$ref":"#/definitions/B"}]},
        "D":{"items":{"$ref":"#/definitions/D"}},
        "x/y~z{":{}},
      "parameters":{"P":{"name":"p","in":"query"}}}"##;
    let graph = Graph::of(&Document::V2(room.v2(text)));
    assert_eq!(
        shown(graph.notes()),
        [
            "KS4105 x",
            "KS4101 #/definitions/Gone",
            "KS4102 other.json#/definitions/A",
            "KS4103 #/paths/~1a~1%7Bb%7D/get/responses/200/schema",
            "KS4103 #/definitions/A/properties/a",
            "KS4103 #",
            "KS4103 #/parameters/P",
            "KS4104 B",
            "KS4104 C",
        ]
    );
    let names = |parts: Vec<_>| parts.into_iter().map(|part| graph.part(part).name).collect::<Vec<_>>();
    let a = graph.find(Section::Schemas, "A").expect("there is A");
    assert_eq!(names(graph.reached_from([a])), ["A", "x/y~z{", "P", "/a/{b}"]);
    let recursive: Vec<Vec<&str>> = graph.recursive().into_iter().map(names).collect();
    assert_eq!(recursive, [vec!["A", "/a/{b}"], vec!["B", "C"], vec!["D"]]);
}

#[test]
fn references_of_every_kind_are_edges_with_their_site() {
    let room = Room::default();
    let text = r##"{"openapi":"3.0.0","info":null,"paths":{"/a":{"post":{"security":[{"S":[]}],
        "parameters":[{"$ref":"#/components/parameters/P"}],"requestBody":{"$ref":"#/components/requestBodies/B"},
        "responses":{"200":{"$ref":"#/components/responses/R"}},
        "callbacks":{"c":{"$ref":"#/components/callbacks/C"}}}}},
      "components":{
        "schemas":{"A":{"oneOf":[{"$ref":"#/components/schemas/X"}],"discriminator":{"propertyName":"k","mapping":{"x":"X","y":"#/components/schemas/Y"}}},"X":{},"Y":{}},
        "parameters":{"P":{"name":"p","in":"query","examples":{"e":{"$ref":"#/components/examples/E"}}}},
        "requestBodies":{"B":{"content":{"*/*":{"schema":{"$ref":"#/components/schemas/A"}}}}},
        "responses":{"R":{"description":"","headers":{"h":{"$ref":"#/components/headers/H"}},"links":{"l":{"$ref":"#/components/links/L"}}}},
        "headers":{"H":{}},"examples":{"E":{}},"links":{"L":{}},"callbacks":{"C":{}},"securitySchemes":{"S":{"type":"http"}}}}"##;
    let graph = Graph::of(&Document::V3(room.v3(text)));
    assert_eq!(shown(graph.notes()), Vec::<String>::new());
    let edges = |section, name| -> Vec<(Site, Link, &str)> {
        let part = graph.find(section, name).expect("the part exists");
        let edges = graph.references_of(part);
        edges.into_iter().map(|(to, edge)| (edge.site, edge.link, graph.part(to).name)).collect()
    };
    assert_eq!(
        edges(Section::Paths, "/a"),
        [
            (Site::Parameter, Link::Reference, "P"),
            (Site::RequestBody, Link::Reference, "B"),
            (Site::Response, Link::Reference, "R"),
            (Site::Callback, Link::Reference, "C"),
            (Site::SecurityScheme, Link::Requirement, "S"),
        ]
    );
    assert_eq!(
        edges(Section::Schemas, "A"),
        [
            (Site::Definition, Link::Mapping, "X"),
            (Site::Definition, Link::Mapping, "Y"),
            (Site::OneOf, Link::Reference, "X")
        ]
    );
    assert_eq!(
        edges(Section::Responses, "R"),
        [(Site::Header, Link::Reference, "H"), (Site::Link, Link::Reference, "L")]
    );
    let path = graph.find(Section::Paths, "/a").expect("the path exists");
    assert_eq!(graph.reached_from([path]).len(), graph.len());
}

#[test]
fn a_chain_of_any_length_has_an_order() {
    let length = 50_000;
    let room = Room::default();
    let schemas: Vec<String> =
        (0..length).map(|i| format!(r#""D{i:06}":{{"items":{}}}"#, to(&format!("D{:06}", (i + 1) % length)))).collect();
    let graph = Graph::of(&Document::V3(room.v3(&document("", &schemas.join(",")))));
    assert_eq!(graph.recursive().len(), 1);
    let first = graph.find(Section::Schemas, "D000000").expect("there is a first");
    assert_eq!(graph.touched_by(first).len(), length);
    assert_eq!(graph.order().len(), length);
}
