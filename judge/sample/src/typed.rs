//! Samples of kinds that OpenAPI documents define, such as built-in kinds.

use super::build::{Builder, Problem};
use super::definitions::Definitions;
use super::go_rules;
use super::{NAME, Sample};
use kubeshape_schema::Bump;
use kubeshape_validate::typed::Typed;
use kubeshape_value::Map;
use kubeshape_value::Value;
use kubeshape_yaml::Node;
use std::collections::BTreeSet;

/// The maximum number of missing fields that are reported.
const MAX_PROBLEMS: usize = 50;

/// Fields that users do not write: the server ignores them, or they are added separately.
const LEFT_OUT: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// Builds an object of a definition of an OpenAPI document: the smallest one, or one with every field if it is
/// `maximal`. Returns `None` if the document has no such definition.
///
/// The smallest object has the fields that the document requires, also in structs that always exist in Go. Of the
/// fields that servers require only in Go code, it has the best-known ones, such as an image for each container. The
/// problems are those of [`Typed::decode`]: an object without problems may still be refused by a server's Go code.
///
/// The status and most of the metadata are left out, and fields whose own definition would occur again below them.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_sample::sample_of_document;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"definitions": {
///   "io.k8s.api.example.v1.Tab": {"type": "object", "properties": {
///     "spec": {"default": {}, "$ref": "#/definitions/io.k8s.api.example.v1.TabSpec"}}},
///   "io.k8s.api.example.v1.TabSpec": {"type": "object", "required": ["size"], "properties": {
///     "size": {"type": "integer", "format": "int32", "default": 0}, "note": {"type": "string"}}}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let root = tape.document(source).root().unwrap();
/// let arena = Bump::new();
/// let made = sample_of_document(root, "io.k8s.api.example.v1.Tab", ("example.io/v1", "Tab"), false, &arena).unwrap();
/// assert!(made.problems.is_empty());
/// let mut json = Vec::new();
/// made.value.get("spec").unwrap().write_go_json(&mut json);
/// assert_eq!(json, br#"{"size":1}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn sample_of_document<'a>(
    root: Node<'a>,
    definition: &str,
    (api_version, kind): (&'a str, &'a str),
    maximal: bool,
    arena: &'a Bump,
) -> Option<Sample<'a>> {
    let definitions = Definitions::new(root, arena)?;
    let (_, schema) = definitions.get(definition)?;
    let toggled = BTreeSet::new();
    let mut builder = Builder::new(maximal, &toggled, Some(&definitions), arena);
    builder.for_readers = true;
    let mut map = match builder.root(definition, &LEFT_OUT) {
        Value::Map(map) => map,
        _ => Map::EMPTY,
    };
    for (name, text) in [("apiVersion", api_version), ("kind", kind)] {
        // Definitions that are not resources may lack these fields.
        if schema.properties.iter().any(|property| property.name == name) {
            map = map.with(name, Some(Value::String(text)), arena);
        }
    }
    let metadata = schema.properties.iter().find(|property| property.name == "metadata");
    let metadata = metadata.map(|property| definitions.resolve(&[&property.schema]).schemas);
    let fields = metadata.iter().flatten().flat_map(|schema| schema.properties);
    // The metadata of a list has no name.
    if fields.into_iter().any(|property| property.name == "name") {
        let name = Value::String(go_rules::name(definition).unwrap_or(NAME));
        let name = Map::from_entries(vec![("name", name)], arena);
        map = map.with("metadata", Some(Value::Map(name)), arena);
    }
    let value = Value::Map(map);
    let mut problems = builder.problems;
    let decoded = Typed::of_document(root, definition)?.decode(value);
    problems.extend(decoded.errors.into_iter().map(|error| Problem { path: error.path, text: error.message }));
    let unknown = decoded.unknown.into_iter();
    problems.extend(unknown.map(|path| Problem { path, text: "unknown field".to_owned() }));
    // A field for which no value was found is reported once.
    let departures = decoded.departures.into_iter().take(if problems.is_empty() { MAX_PROBLEMS } else { 0 });
    problems.extend(departures.map(|error| Problem { path: error.path.clone(), text: error.to_string() }));
    Some(Sample { value, problems })
}
