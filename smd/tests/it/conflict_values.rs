//! A conflict has the live value and the value that the operation would set.

use kubeshape_smd::fieldpath::{DisplayPath, ManagedFields};
use kubeshape_smd::merge::{Error, SameVersion, Updater};
use kubeshape_smd::typed::{Duplicates, Types};
use kubeshape_smd::{Bump, ToValue as _, Value, schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::json;

const SCHEMA: &str = "
types:
- name: root
  map:
    fields:
    - name: ports
      type:
        list:
          elementRelationship: associative
          keys: [port, protocol]
          elementType:
            map:
              fields:
              - {name: port, type: {scalar: numeric}}
              - {name: protocol, type: {scalar: string}, default: TCP}
              - {name: name, type: {scalar: string}}
    - {name: tags, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: x, type: {scalar: numeric}}
";

#[test]
fn conflicts_have_both_values_wherever_the_field_is() {
    let mut tape = Tape::new();
    let mut stream = Stream::new(SCHEMA.as_bytes(), Limits::default()).expect("text");
    stream.next(&mut tape).expect("a document").expect("YAML");
    let types = Types::new(schema::read(tape.document(SCHEMA).root().expect("a root")).expect("a schema"));
    let root = types.named("root").expect("the type");
    let arena = Bump::new();
    let first = json!({"ports": [{"port": 443, "name": "b"}, {"port": 80, "name": "a"}], "tags": ["t"], "x": 1});
    let second = json!({"ports": [{"port": 80, "protocol": "TCP", "name": "c"}], "tags": [], "x": 2});
    let typed = |json: &serde_json::Value| {
        let json = arena.alloc(json.clone());
        root.validate(json.to_value(&arena), Duplicates::Refused).expect("it fits")
    };
    let empty = root.validate(Value::Null, Duplicates::Allowed).expect("null fits");

    let updater = Updater::<SameVersion>::default();
    let applied = updater.apply(empty, typed(&first), "v1", ManagedFields::new(), "one", false, &arena);
    let applied = applied.expect("nobody owns anything");
    let live = applied.object.expect("it changed");
    let refused = updater.apply(live, typed(&second), "v1", applied.managers, "two", false, &arena);
    let Err(Error::Conflicts(conflicts)) = refused else { panic!("no conflict") };

    let told: Vec<String> = conflicts
        .0
        .iter()
        .map(|conflict| {
            let json = |value: Option<Value<'_>>| value.map(|value| value.to_serde().to_string());
            let (live, new) = (json(conflict.live), json(conflict.new));
            format!("{}: {} -> {}", DisplayPath(&conflict.path), live.unwrap_or_default(), new.unwrap_or_default())
        })
        .collect();
    assert_eq!(told, [r#".tags: ["t"] -> []"#, ".x: 1 -> 2", r#".ports[port=80,protocol="TCP"].name: "a" -> "c""#],);
    assert_eq!(live.get(&conflicts.0[2].path), conflicts.0[2].live);
}
