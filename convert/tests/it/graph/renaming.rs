//! Renaming definitions.

use super::support::{Room, document, path, print_v3, shown, to};
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::rename::{Names, rename};

fn renamed(text: &str, names: Names) -> (String, Vec<String>) {
    let room = Room::default();
    let out = rename(&Document::V3(room.v3(text)), names, &room.arena);
    let Document::V3(document) = out.value else { unreachable!("the dialect stays") };
    (print_v3(&document), shown(&out.notes))
}

fn definitions(names: &[&str]) -> String {
    names.iter().map(|name| format!(r#""{name}":{{}}"#)).collect::<Vec<_>>().join(",")
}

#[test]
fn short_names_are_the_shortest_suffixes_that_no_other_name_has() {
    let text = document(
        "",
        &definitions(&[
            "io.k8s.api.core.v1.Event",
            "io.k8s.api.core.v1.Pod",
            "io.k8s.api.events.v1.Event",
            "k8s.io/api/batch/v1.Job",
            "v1.Pod",
        ]),
    );
    let (out, notes) = renamed(&text, Names::Short);
    assert_eq!(out, document("", &definitions(&["Job", "core.v1.Event", "core.v1.Pod", "events.v1.Event", "v1.Pod"])));
    assert_eq!(notes, Vec::<String>::new());
}

#[test]
fn colliding_names_are_kept() {
    let names = ["a.b/c.D", "a.b/c/D", "b.a.c.D"];
    let (out, notes) = renamed(&document("", &definitions(&names)), Names::Friendly);
    assert_eq!(out, document("", &definitions(&names)));
    assert_eq!(notes.len(), 2);
    assert_eq!(notes[0], "KS4109 a.b/c.D keeps its name; another definition is or would be called b.a.c.D");
}

#[test]
fn references_and_discriminators_follow() {
    let schemas = |names: [&str; 3], mapping: &str| {
        let [any, cat, dog] = names;
        format!(
            r#""{any}":{{"oneOf":[{},{}],"discriminator":{{{mapping}"propertyName":"kind"}}}},"{cat}":{{}},"{dog}":{{}}"#,
            to(&cat.replace('/', "~1")),
            to(&dog.replace('/', "~1")),
        )
    };
    let long = ["com.x.v1.Any", "com.x.v1.Cat", "com.x.v1.Dog"];
    let text = document(&path("/a", &to(long[0])), &schemas(long, r#""mapping":{"dog":"com.x.v1.Dog"},"#));
    let mapping = r##""mapping":{"com.x.v1.Cat":"#/components/schemas/Cat","dog":"#/components/schemas/Dog"},"##;
    let expected = document(&path("/a", &to("Any")), &schemas(["Any", "Cat", "Dog"], mapping));
    assert_eq!(renamed(&text, Names::Short).0, expected);
}
