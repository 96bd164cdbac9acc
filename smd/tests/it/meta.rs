//! Checks written schemas against the schema of schemas, with a generic validator: it only follows a schema through a
//! document.

use kubeshape_smd::schema::{self, Atom, List, META, META_ROOT, Map, Schema, TypeRef, meta};
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

/// Checks that a document matches a type: kinds of scalars, known fields, and items that are identified by their keys
/// and are unique. It collects errors with JSON pointers.
struct Validator<'s> {
    schema: &'s Schema,
    wrong: Vec<String>,
}

impl<'s> Validator<'s> {
    fn reference(&mut self, type_ref: TypeRef<'s>, node: Node<'_>) {
        match self.schema.resolve(type_ref) {
            Some(atom) => self.atom(atom, node),
            None => self.wrong.push(format!("{}: no such type", node.pointer())),
        }
    }

    fn atom(&mut self, atom: Atom<'s>, node: Node<'_>) {
        let fits = match (node.kind(), atom.list(), atom.map()) {
            (Kind::Null, ..) => true,
            (Kind::Seq, Some(list), _) => {
                self.list(list, node);
                true
            }
            (Kind::Map, _, Some(map)) => {
                self.map(map, node);
                true
            }
            (Kind::Seq | Kind::Map, ..) => false,
            (kind, ..) => match atom.scalar().map(schema::Scalar::name) {
                Some("untyped") => true,
                Some("string") => kind == Kind::Str,
                Some("boolean") => matches!(kind, Kind::True | Kind::False),
                Some("numeric") => matches!(kind, Kind::Int | Kind::Float),
                _ => false,
            },
        };
        if !fits {
            self.wrong.push(format!("{}: {:?} does not fit", node.pointer(), node.kind()));
        }
    }

    fn list(&mut self, list: List<'s>, node: Node<'_>) {
        let mut seen = BTreeSet::new();
        for item in node.items() {
            self.reference(list.element_type(), item);
            if list.keys().len() > 0 {
                let key: Vec<_> = list.keys().map(|key| item.get(key).map(Node::text)).collect();
                if key.iter().all(Option::is_none) || !seen.insert(key) {
                    self.wrong.push(format!("{}: no or a repeated key", item.pointer()));
                }
            }
        }
    }

    fn map(&mut self, map: Map<'s>, node: Node<'_>) {
        for (key, value) in node.pairs() {
            match map.field(key.text()) {
                Some(field) => self.reference(field.type_ref(), value),
                None if map.element_type().is_empty() => self.wrong.push(format!("{}: unknown", value.pointer())),
                None => self.reference(map.element_type(), value),
            }
        }
    }
}

fn with_root<T>(source: &str, use_it: impl FnOnce(Node<'_>) -> T) -> Result<T, Box<dyn Error>> {
    let mut tape = Tape::new();
    let limits = Limits { depth: 2048, ..Limits::default() };
    Stream::new(source.as_bytes(), limits)?.next(&mut tape).transpose()?;
    Ok(use_it(tape.document(source).root().ok_or("an empty document")?))
}

/// Returns the errors that the schema of schemas finds in a document.
fn wrong_with(source: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let meta = meta();
    let root = meta.find_type(META_ROOT).ok_or("the root is there")?.atom();
    with_root(source, |node| {
        let mut validator = Validator { schema: &meta, wrong: Vec::new() };
        validator.atom(root, node);
        validator.wrong
    })
}

fn read(source: &str) -> Result<Schema, Box<dyn Error>> {
    Ok(with_root(source, schema::read)??)
}

fn yaml(schema: &Schema) -> Result<String, Box<dyn Error>> {
    let mut out = Vec::new();
    schema::print_yaml(schema, &mut out);
    Ok(String::from_utf8(out)?)
}

fn json(schema: &Schema) -> Result<String, Box<dyn Error>> {
    let mut out = Vec::new();
    schema::print_json(schema, &mut out);
    Ok(String::from_utf8(out)?)
}

/// Checks that both written forms of a schema conform, read as the same schema, and are printed the same again.
fn check(schema: &Schema) -> Result<(), Box<dyn Error>> {
    let (first, first_json) = (yaml(schema)?, json(schema)?);
    for text in [&first, &first_json] {
        assert_eq!(wrong_with(text)?, Vec::<String>::new());
        let again = read(text)?;
        assert!(again == *schema);
        assert_eq!((yaml(&again)?, json(&again)?), (first.clone(), first_json.clone()));
    }
    Ok(())
}

#[test]
fn the_schema_of_schemas_conforms_to_itself() -> Result<(), Box<dyn Error>> {
    assert_eq!(wrong_with(META)?, Vec::<String>::new());
    let meta = meta();
    assert_eq!(meta.types().len(), 11);
    check(&meta)
}

#[test]
fn every_reference_of_it_resolves() {
    let meta = meta();
    for def in meta.types() {
        let Some(map) = def.atom().map() else { continue };
        for field in map.fields() {
            let element = field.type_ref().inlined().list().map(List::element_type);
            for type_ref in element.into_iter().chain([field.type_ref()]) {
                assert!(meta.resolve(type_ref).is_some(), "{} {}", def.name(), field.name());
            }
        }
    }
}

#[test]
fn it_finds_the_errors_that_reading_finds() -> Result<(), Box<dyn Error>> {
    let cases = [
        "{types: [{name: a, zz: 1}]}",
        "{types: [{name: a}, {name: a}]}",
        "{types: [{scalar: string}]}",
        "{types: [{name: a, map: {fields: [{name: 1}]}}]}",
        "{types: [{name: a, map: {fields: [{name: b, type: {nullable: x}}]}}]}",
        "{types: [{name: a, list: {keys: [1]}}]}",
        "{types: [{name: a, map: {unions: [{fields: [{fieldName: x}, {fieldName: x}]}]}}]}",
        "{types: {}}",
    ];
    for source in cases {
        assert!(!wrong_with(source)?.is_empty(), "{source}");
        assert!(read(source).is_err(), "{source}");
    }
    let lax = "{types: [{name: a, untyped: {elementRelationship: x}, scalar: odd, map: {elementRelationship: odd}}]}";
    assert_eq!(wrong_with(lax)?, Vec::<String>::new());
    assert!(read(lax).is_ok());
    Ok(())
}

#[test]
fn the_types_for_any_value_conform() -> Result<(), Box<dyn Error>> {
    check(&schema::deduced())
}

/// Reads the schema files of upstream's own tests, if `KUBESHAPE_CORPUS` names their folder.
#[test]
fn upstreams_schema_files_are_read_and_printed_stably() -> Result<(), Box<dyn Error>> {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return Ok(()) };
    let mut read_files = 0;
    for folder in ["smd", "openapi/kube-openapi-schemaconv"] {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(folder))?.collect::<Result<_, _>>()?;
        files.sort_by_key(std::fs::DirEntry::path);
        for file in files.iter().map(std::fs::DirEntry::path).filter(|path| is_schema(path)) {
            let source = std::fs::read_to_string(&file)?;
            let bad = file.file_name().is_some_and(|name| name == "bad-schema.yaml");
            assert_eq!(wrong_with(&source)?.is_empty(), !bad, "{}", file.display());
            match read(&source) {
                Ok(schema) => {
                    check(&schema).map_err(|error| format!("{}: {error}", file.display()))?;
                    read_files += 1;
                }
                Err(error) if !bad => return Err(format!("{}: {error}", file.display()).into()),
                Err(_) => {}
            }
        }
    }
    assert!(read_files >= 5, "{read_files}");
    Ok(())
}

/// Returns whether a file is YAML that begins like a schema.
fn is_schema(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml")
        && std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line == "types:"))
}
