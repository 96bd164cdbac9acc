//! Sample objects of a kind that a server accepts.

mod build;
mod defaults;
mod definitions;
mod go_rules;
mod path;
mod pattern;
mod scalar;
mod search;
mod shrink;
mod typed;
mod values;
mod wanted;

use build::Builder;
use kubeshape_schema::{Bump, Schema};
use kubeshape_validate::object::Resource;
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::BTreeSet;

pub use build::MAX_ITEMS;
pub use build::Problem;
pub use shrink::shrink;
pub use typed::sample_of_document;
pub use values::values;
pub use wanted::{Step, Wanted};

/// The name of the object.
const NAME: &str = "example";

/// A sample.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// The object, as a user would write it.
    pub value: Value<'a>,
    /// Why the server would refuse it; empty if it is accepted.
    pub problems: Vec<Problem>,
}

/// Builds an object of a kind: the smallest one with a `spec`, or one with every field if it is `maximal`. Objects and
/// lists with a default have the contents of the default.
///
/// Constraints of the schema are solved. Then the object is validated like on a server, including CEL rules. If it is
/// refused, optional fields near the error are added or left out, the smallest first, as long as that reduces the
/// number of errors.
///
/// The status is left out if it is a subresource: the server would ignore it.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_sample::sample;
/// use kubeshape_structural::read;
/// use kubeshape_validate::{Release, object::Resource};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: tabs, kind: Tab}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema:
///       openAPIV3Schema:
///         type: object
///         required: [spec]
///         properties:
///           spec:
///             type: object
///             required: [size]
///             properties: {size: {type: integer, minimum: 3, multipleOf: 2}, note: {type: string}}
/// ";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let crd = read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// let resource = Resource::new(&crd, &crd.versions[0], Release::NEWEST, &arena);
/// let made = sample(&resource, false, &arena);
/// assert!(made.problems.is_empty());
/// let mut json = Vec::new();
/// made.value.get("spec").unwrap().write_go_json(&mut json);
/// assert_eq!(json, br#"{"size":4}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn sample<'a>(resource: &Resource<'a>, maximal: bool, arena: &'a Bump) -> Sample<'a> {
    search::for_readers(resource, maximal, arena)
}

/// Builds the smallest object of a kind that contains the wanted values, like [`sample`]. `rounds` is the maximum
/// number of attempts after a refusal.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_sample::{Step, Wanted, sample_with};
/// use kubeshape_value::Value;
/// use kubeshape_structural::read;
/// use kubeshape_validate::{Release, object::Resource};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: tabs, kind: Tab}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema:
///       openAPIV3Schema:
///         type: object
///         properties:
///           spec: {type: object, properties: {size: {type: integer}, note: {type: string}}}
/// ";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let crd = read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
/// let resource = Resource::new(&crd, &crd.versions[0], Release::NEWEST, &arena);
/// let mut wanted = Wanted::default();
/// wanted.want(&[Step::Property("spec"), Step::Property("size")], Some(Value::Int(7)));
/// let made = sample_with(&resource, &wanted, 10, &arena);
/// let mut json = Vec::new();
/// made.value.get("spec").unwrap().write_go_json(&mut json);
/// assert_eq!(json, br#"{"size":7}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn sample_with<'a>(resource: &Resource<'a>, wanted: &Wanted<'a>, rounds: usize, arena: &'a Bump) -> Sample<'a> {
    search::with(resource, wanted, rounds, arena)
}

/// Builds an object and validates it.
fn attempt<'a>(resource: &Resource<'a>, builder: Builder<'_, 'a>, arena: &'a Bump) -> Attempt<'a> {
    let mut builder = builder;
    let value = root(resource, &mut builder);
    let mut problems = builder.problems;
    // One message about a field is enough.
    let unsolved: BTreeSet<String> = problems.iter().map(|problem| problem.path.clone()).collect();
    match resource.decode(value, arena) {
        Err(text) => problems.push(Problem { path: String::new(), text }),
        Ok(decoded) => {
            let unknown = decoded.unknown.into_iter();
            problems.extend(unknown.map(|path| Problem { path, text: "unknown field".to_owned() }));
            let errors = resource.create(decoded.value, arena).errors;
            let errors = errors.iter().filter(|error| error.path.is_empty() || !unsolved.contains(&error.path));
            problems.extend(errors.map(|error| Problem { path: error.path.clone(), text: error.to_string() }));
        }
    }
    Attempt { sample: Sample { value, problems }, values: builder.values }
}

/// A sample, and the number of values built for it.
struct Attempt<'a> {
    sample: Sample<'a>,
    values: usize,
}

/// Returns the object with its type and its metadata.
fn root<'a>(resource: &Resource<'a>, builder: &mut Builder<'_, 'a>) -> Value<'a> {
    let arena = builder.arena;
    let wanted_prefix = builder.wanted.is_some_and(|wanted| wanted.holds("metadata.generateName"));
    let mut map = match resource.schema.map(|schema| builder.value(&[schema], 0, "")) {
        Some(Value::Map(map)) => map,
        _ => Map::EMPTY,
    };
    if resource.status {
        map = map.with("status", None, arena);
    }
    map = map.with("apiVersion", Some(Value::String(resource.api_version)), arena);
    map = map.with("kind", Some(Value::String(resource.kind)), arena);
    let mut of = |name: &str| {
        let path = format!("metadata.{name}");
        let schema = metadata_property(resource.schema, name);
        let made = schema.map(|schema| builder.value(&[schema], 0, &path));
        let wanted = builder.wanted.and_then(|wanted| wanted.value(&path));
        made.or(wanted).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()))
    };
    let mut members = vec![("name", of("name").unwrap_or(Value::String(NAME)))];
    if wanted_prefix {
        members.extend(of("generateName").map(|value| ("generateName", value)));
    }
    let metadata = Map::from_entries(members, arena);
    Value::Map(map.with("metadata", Some(Value::Map(metadata)), arena))
}

/// Returns the schema of a metadata field in a definition.
fn metadata_property<'a>(schema: Option<&'a Schema<'a>>, name: &str) -> Option<&'a Schema<'a>> {
    let metadata = property(schema?, "metadata")?;
    property(metadata, name)
}

fn property<'a>(schema: &'a Schema<'a>, name: &str) -> Option<&'a Schema<'a>> {
    schema.properties.iter().find(|property| property.name == name).map(|property| &property.schema)
}
