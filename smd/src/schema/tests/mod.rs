//! The rules of schemas, one test each.

mod property;

use super::*;
use kubeshape_schema::Json;
use kubeshape_yaml::{Limits, Stream, Tape};

/// Reads a schema from YAML or JSON. If this fails, returns the messages of all errors.
fn parse(source: &str) -> Result<Schema, String> {
    let mut tape = Tape::new();
    // Every level of a schema is several levels of the document.
    let limits = Limits { depth: 4 * usize::from(MAX_DEPTH), ..Limits::default() };
    let mut stream = Stream::new(source.as_bytes(), limits).map_err(|e| e.to_string())?;
    stream.next(&mut tape).transpose().map_err(|e| e.to_string())?;
    match tape.document(source).root() {
        Some(root) => read(root).map_err(|e| e.to_string()),
        None => Ok(Schema::default()),
    }
}

fn schema(source: &str) -> Schema {
    parse(source).expect("the test's schema is one")
}

fn yaml(schema: &Schema) -> String {
    let mut out = Vec::new();
    print_yaml(schema, &mut out);
    String::from_utf8(out).expect("YAML is UTF-8")
}

fn json(schema: &Schema) -> String {
    let mut out = Vec::new();
    print_json(schema, &mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Returns the element type of the map `x`.
fn element<'s>(schema: &'s Schema, name: &str) -> TypeRef<'s> {
    schema.find_type(name).expect("the type is there").atom().map().expect("it is a map").element_type()
}

const EVERYTHING: &str = r#"types:
- name: all
  scalar: untyped
  list:
    elementType:
      namedType: item
      elementRelationship: atomic
      nullable: true
    elementRelationship: associative
    keys:
    - "on"
    - port
  map:
    fields:
    - name: a name
      type:
        scalar: string
      default: "true"
    - name: empty
    - name: nested
      type:
        map:
          fields:
          - name: list
            type:
              list: {}
            default: []
          - name: map
            type:
              map: {}
            default:
              a:
              - 1
              - - x
                - {}
              - b: null
                c: 1.5
    unions:
    - discriminator: kind
      deduceInvalidDiscriminator: true
      fields:
      - fieldName: one
        discriminatorValue: One
    - {}
    elementType:
      scalar: weird
    elementRelationship: separable
- name: item
"#;

#[test]
fn members_are_printed_in_upstreams_order_and_read_back() {
    let source = EVERYTHING;
    let read = schema(source);
    assert_eq!(yaml(&read), source);
    assert_eq!(
        json(&read),
        concat!(
            r#"{"types":[{"name":"all","scalar":"untyped","list":{"elementType":{"namedType":"item","#,
            r#""elementRelationship":"atomic","nullable":true},"elementRelationship":"associative","#,
            r#""keys":["on","port"]},"map":{"fields":[{"name":"a name","type":{"scalar":"string"},"#,
            r#""default":"true"},{"name":"empty"},{"name":"nested","type":{"map":{"fields":[{"name":"list","#,
            r#""type":{"list":{}},"default":[]},{"name":"map","type":{"map":{}},"default":{"a":[1,["x",{}],"#,
            r#"{"b":null,"c":1.5}]}}]}}}],"unions":[{"discriminator":"kind","deduceInvalidDiscriminator":true,"#,
            r#""fields":[{"fieldName":"one","discriminatorValue":"One"}]},{}],"elementType":{"scalar":"weird"},"#,
            r#""elementRelationship":"separable"}},{"name":"item"}]}"#
        )
    );
    assert_eq!(schema(&json(&read)), read);
}

#[test]
fn the_empty_document_is_the_empty_schema() {
    for source in ["", "null", "{}", "# nothing\n", "types: []", "types:"] {
        assert_eq!(yaml(&schema(source)), "{}\n", "{source:?}");
    }
}

#[test]
fn null_members_are_absent() {
    let read = schema("types: [{name: a, scalar: null, list: null, map: {fields: null, elementType: null}}]");
    assert_eq!(json(&read), r#"{"types":[{"name":"a","map":{}}]}"#);
}

#[test]
fn untyped_is_accepted_and_ignored() {
    let read = schema("types: [{name: a, untyped: {elementRelationship: atomic}}]");
    assert_eq!(json(&read), r#"{"types":[{"name":"a"}]}"#);
}

#[test]
fn invalid_schemas_are_refused_with_upstreams_messages() {
    let omits = r#"associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)"#;
    let cases = [
        ("[]", "expected map, got a list".to_owned()),
        ("zz: 1", ".zz: field not declared in schema".to_owned()),
        ("types: {}", ".types: expected list, got a map".to_owned()),
        ("types: [{name: a, zz: 1}]", r#".types[name="a"].zz: field not declared in schema"#.to_owned()),
        ("types: [{name: a}, {name: b}, {name: a}]", r#".types: duplicate entries for key [name="a"]"#.to_owned()),
        ("types: [{scalar: string}]", format!(".types: element 0: {omits}")),
        ("types: [null]", ".types: element 0: associative list with keys may not have a null element".to_owned()),
        ("types: [a]", ".types: element 0: associative list with keys may not have non-map elements".to_owned()),
        ("types: [{name: y}]", ".types[name=true].name: expected string, got true".to_owned()),
        (
            "types: [{name: a, map: {fields: [{name: x, type: {nullable: 1}}]}}]",
            r#".types[name="a"].map.fields[name="x"].type.nullable: expected boolean, got 1"#.to_owned(),
        ),
        (
            "types: [{name: a, list: {keys: [a, 1]}}]",
            r#".types[name="a"].list.keys[1]: expected string, got 1"#.to_owned(),
        ),
        (
            "types: [{name: a, map: {unions: [{fields: [{fieldName: f, discriminatorValue: []}]}]}}]",
            r#".types[name="a"].map.unions[0].fields[fieldName="f"].discriminatorValue: expected string, got a list"#
                .to_owned(),
        ),
        (
            "types: [{name: a, list: 1, map: {elementType: x}}]",
            "errors:\n  .types[name=\"a\"].list: expected map, got 1\n  \
             .types[name=\"a\"].map.elementType: expected map, got \"x\""
                .to_owned(),
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(parse(source).err(), Some(format!("unable to validate schema: {expected}")), "{source}");
    }
}

#[test]
fn of_a_repeated_yaml_key_the_last_one_is_used() {
    assert_eq!(
        json(&schema("types: [{name: a, scalar: x, scalar: y y}]")),
        r#"{"types":[{"name":"a","scalar":"y y"}]}"#
    );
}

#[test]
fn strings_that_yaml_reads_as_something_else_are_quoted() {
    let texts = [
        "",
        " a",
        "a ",
        "y",
        "Y",
        "on",
        "oFF",
        "true",
        "null",
        "~",
        "1",
        "1.5",
        "0x1f",
        "1_000",
        "1:30",
        "1e3",
        ".5",
        ".inf",
        "-",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "[a]",
        "{a}",
        "*a",
        "&a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "'a'",
        "\"a\"",
        "a\nb",
        "a\tb",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{7f}",
        "2001-01-01",
        "<<",
        "=",
        "?",
        "a:",
        "---",
    ];
    for text in texts {
        let mut builder = Builder::new();
        builder.type_def(text, AtomId::EMPTY);
        let printed = yaml(&builder.finish().expect("small"));
        let read = schema(&printed);
        assert_eq!(read.types().next().map(TypeDef::name), Some(text), "{printed}");
    }
    for text in ["a", "apiVersion", "x-y.z/0", "__untyped_atomic_", "$ref", "yesterday", "no1"] {
        let mut builder = Builder::new();
        builder.type_def(text, AtomId::EMPTY);
        assert_eq!(yaml(&builder.finish().expect("small")), format!("types:\n- name: {text}\n"));
    }
}

#[test]
fn keys_of_defaults_may_be_of_any_length() {
    let long = "k".repeat(3000);
    let members = [("a", Json::Int(1)), (long.as_str(), Json::Array(&[Json::Bool(true)])), ("z", Json::Null)];
    let mut builder = Builder::new();
    let mark = builder.open();
    builder.field("f", Ref::EMPTY, Some(&Json::Array(&[Json::Object(&members)])));
    let map = builder.map(mark, MapDef::default());
    let atom = builder.atom(None, None, Some(map));
    builder.type_def("t", atom);
    let built = builder.finish().expect("small");
    assert_eq!(schema(&yaml(&built)), built);
}

#[test]
fn a_named_reference_resolves_to_its_type_and_a_missing_one_to_none() {
    let schema = schema(
        "types: [{name: a, list: {}}, {name: x, map: {elementType: {namedType: a}}}, {name: y y, map: {elementType: {namedType: b}}}]",
    );
    assert_eq!(
        schema.resolve(element(&schema, "x")).map(|atom| format!("{atom:?}")).as_deref(),
        Some(r#"{"list":{}}"#)
    );
    assert!(schema.resolve(element(&schema, "y y")).is_none());
}

#[test]
fn an_override_goes_to_the_map_and_without_map_to_the_list() {
    let schema = schema(
        "types:
- {name: both, list: {elementRelationship: associative}, map: {}}
- {name: list, list: {elementRelationship: associative}}
- {name: scalar, scalar: string}
- {name: x1, map: {elementType: {namedType: both, elementRelationship: atomic}}}
- {name: x2, map: {elementType: {namedType: list, elementRelationship: atomic}}}
- {name: x3, map: {elementType: {namedType: scalar, elementRelationship: atomic}}}
- {name: x4, map: {elementType: {map: {}, elementRelationship: atomic}}}",
    );
    let resolved = |name| schema.resolve(element(&schema, name)).map(|atom| format!("{atom:?}"));
    assert_eq!(
        resolved("x1").as_deref(),
        Some(r#"{"list":{"elementRelationship":"associative"},"map":{"elementRelationship":"atomic"}}"#)
    );
    assert_eq!(resolved("x2").as_deref(), Some(r#"{"list":{"elementRelationship":"atomic"}}"#));
    assert_eq!(resolved("x3"), None);
    assert_eq!(resolved("x4").as_deref(), Some(r#"{"map":{"elementRelationship":"atomic"}}"#));
}

#[test]
fn an_empty_reference_resolves_to_the_empty_atom() {
    let schema = schema("types: [{name: x, map: {}}]");
    let reference = element(&schema, "x");
    assert!(reference.is_empty());
    assert!(schema.resolve(reference).is_some_and(Atom::is_empty));
}

#[test]
fn of_several_types_or_fields_with_one_name_the_last_is_used() {
    let mut builder = Builder::new();
    let mark = builder.open();
    builder.field("f", Ref::inlined(AtomId::STRING), None);
    builder.field("e", Ref::inlined(AtomId::STRING), None);
    builder.field("f", Ref::inlined(AtomId::NUMERIC), None);
    let map = builder.map(mark, MapDef::default());
    let atom = builder.atom(None, None, Some(map));
    builder.type_def("b", AtomId::STRING);
    builder.type_def("a", AtomId::STRING);
    builder.type_def("b", atom);
    let schema = builder.finish().expect("small");
    let map = schema.find_type("b").and_then(|found| found.atom().map()).expect("the last type is the map");
    let field = map.field("f").expect("the field is there");
    assert_eq!(field.type_ref().inlined().scalar(), Some(Scalar::Numeric));
    assert!(schema.find_type("a").is_some());
    assert!(schema.find_type("0").is_none() && schema.find_type("aa").is_none() && schema.find_type("c").is_none());
    assert!(map.field("g").is_none());
}

#[test]
fn of_an_atom_of_several_kinds_only_the_first_is_compared() {
    let one = schema("types: [{name: a, scalar: string, map: {}}]");
    let other_map = schema("types: [{name: a, scalar: string, map: {elementRelationship: atomic}}]");
    let no_map = schema("types: [{name: a, scalar: string}]");
    let other_scalar = schema("types: [{name: a, scalar: numeric, map: {}}]");
    assert_eq!(one, other_map);
    assert_ne!(one, no_map);
    assert_ne!(one, other_scalar);
}

#[test]
fn equality_compares_order_names_defaults_and_overrides() {
    let of = |field: &str| schema(&format!("types: [{{name: a, map: {{fields: [{field}]}}}}]"));
    let fields = [
        "{name: x}",
        "{name: y y}",
        "{name: x, default: 1}",
        "{name: x, type: {namedType: t}}",
        "{name: x, type: {namedType: t, elementRelationship: atomic}}",
        "{name: x, type: {namedType: t, nullable: true}}",
        "{name: x, type: {list: {keys: [a]}}}",
        "{name: x, type: {list: {keys: [b]}}}",
        "{name: x}, {name: z}",
        "{name: z}, {name: x}",
    ];
    for (i, a) in fields.iter().enumerate() {
        for (j, b) in fields.iter().enumerate() {
            assert_eq!(of(a) == of(b), i == j, "{a} and {b}");
        }
    }
}

#[test]
fn types_nest_to_the_limit_and_no_further() {
    let nested = |levels: u16| {
        let mut builder = Builder::new();
        let mut atom = AtomId::STRING;
        for _ in 0..levels {
            let list = builder.list(Ref::inlined(atom), None, []);
            atom = builder.atom(None, Some(list), None);
        }
        builder.type_def("deep", atom);
        builder.finish()
    };
    let deepest = nested(MAX_DEPTH).expect("as deep as may be");
    assert_eq!(schema(&json(&deepest)), deepest);
    assert_eq!(nested(MAX_DEPTH + 1), Err(BuildError::TooDeep));
}

#[test]
fn an_id_of_another_builder_is_an_error() {
    let mut one = Builder::new();
    let list = one.list(Ref::EMPTY, None, []);
    let atom = one.atom(None, Some(list), None);
    let mut other = Builder::new();
    other.type_def("a", atom);
    assert_eq!(other.finish(), Err(BuildError::ForeignId));
    let mut other = Builder::new();
    other.atom(None, Some(list), None);
    assert_eq!(other.finish(), Err(BuildError::ForeignId));
}

#[test]
fn a_builder_that_extends_a_schema_keeps_its_types() {
    let mut builder = Builder::extending(&schema(&EVERYTHING.replace("a name", "x")));
    builder.type_def("a", AtomId::BOOLEAN);
    builder.sort_types();
    let extended = builder.finish().expect("small");
    assert_eq!(extended.types().map(TypeDef::name).collect::<Vec<_>>(), ["a", "all", "item"]);
    let expected = EVERYTHING.replace("a name", "x").replace("types:\n", "types:\n- name: a\n  scalar: boolean\n");
    assert_eq!(yaml(&extended), expected);
}

#[test]
fn a_null_default_and_an_empty_relationship_of_a_map_are_absent() {
    let mut builder = Builder::new();
    let mark = builder.open();
    builder.field("a", Ref::EMPTY, Some(&Json::Null));
    let def = MapDef { relationship: Some(Relationship::from_name("")), ..MapDef::default() };
    let map = builder.map(mark, def);
    let atom = builder.atom(None, None, Some(map));
    builder.type_def("t", atom);
    assert_eq!(json(&builder.finish().expect("small")), r#"{"types":[{"name":"t","map":{"fields":[{"name":"a"}]}}]}"#);
}

#[test]
fn the_built_in_types_are_upstreams() {
    assert_eq!(
        json(&deduced()),
        concat!(
            r#"{"types":[{"name":"__untyped_atomic_","scalar":"untyped","list":{"elementType":{"#,
            r#""namedType":"__untyped_atomic_"},"elementRelationship":"atomic"},"map":{"elementType":{"#,
            r#""namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}},{"name":"__untyped_deduced_","#,
            r#""scalar":"untyped","list":{"elementType":{"namedType":"__untyped_atomic_"},"#,
            r#""elementRelationship":"atomic"},"map":{"elementType":{"namedType":"__untyped_deduced_"},"#,
            r#""elementRelationship":"separable"}}]}"#
        )
    );
}

#[test]
fn a_schema_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Schema>();
}
