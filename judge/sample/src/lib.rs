//! Objects of a kind that a server accepts.

mod build;
mod definitions;
mod go_rules;
mod pattern;
mod scalar;
mod typed;
mod values;
mod wanted;

use build::{Builder, child};
use kubeshape_schema::{Additional, Bump, Items, Schema};
use kubeshape_validate::object::Resource;
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::collections::BTreeSet;

pub use build::MAX_ITEMS;
pub use build::Problem;
pub use typed::sample_of_document;
pub use values::values;
pub use wanted::{Step, Wanted};

/// How often a sample is made again because the server would refuse it.
const MAX_ROUNDS: usize = 60;

/// The name of the object.
const NAME: &str = "example";

/// A sample.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// The object, as a user would write it.
    pub value: Value<'a>,
    /// Why the server would refuse it; empty if it accepts it.
    pub problems: Vec<Problem>,
}

/// Makes an object of a kind: the smallest one, or one with every field if it is `maximal`.
///
/// Constraints of the schema are solved. The object is then checked as a server checks it, rules in CEL included. If it
/// is refused, optional fields near the error are added or left out, as long as there are fewer errors afterwards.
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
    search(resource, maximal, None, MAX_ROUNDS, arena)
}

/// Makes the smallest object of a kind that holds what is wanted, as [`sample`] does. `rounds` says how often it is
/// made again at most because the server would refuse it.
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
    search(resource, false, Some(wanted), rounds, arena)
}

fn search<'a>(
    resource: &Resource<'a>,
    maximal: bool,
    wanted: Option<&Wanted<'a>>,
    most: usize,
    arena: &'a Bump,
) -> Sample<'a> {
    let mut toggled = BTreeSet::new();
    let mut best = attempt(resource, maximal, &toggled, wanted, arena);
    let mut rounds = 0;
    while !best.problems.is_empty() && rounds < most {
        let mut improved = None;
        for paths in moves(resource.schema, &best.problems) {
            rounds += 1;
            if rounds > most {
                break;
            }
            let mut other = toggled.clone();
            for path in paths {
                if !other.remove(&path) {
                    other.insert(path);
                }
            }
            let made = attempt(resource, maximal, &other, wanted, arena);
            if made.problems.len() < best.problems.len() {
                improved = Some((other, made));
                break;
            }
        }
        let Some((other, made)) = improved else { break };
        (toggled, best) = (other, made);
    }
    best
}

/// Makes an object and asks what the server says about it.
fn attempt<'a>(
    resource: &Resource<'a>,
    maximal: bool,
    toggled: &BTreeSet<String>,
    wanted: Option<&Wanted<'a>>,
    arena: &'a Bump,
) -> Sample<'a> {
    let mut builder = Builder::new(maximal, toggled, None, arena);
    builder.wanted = wanted;
    let value = root(resource, &mut builder);
    let mut problems = builder.problems;
    match resource.decode(value, arena) {
        Err(text) => problems.push(Problem { path: String::new(), text }),
        Ok(decoded) => {
            let unknown = decoded.unknown.into_iter();
            problems.extend(unknown.map(|path| Problem { path, text: "unknown field".to_owned() }));
            for error in resource.create(decoded.value, arena).errors {
                let path = error.path.clone();
                // What was said of a field once is enough.
                if !problems.iter().any(|problem| problem.path == path && !path.is_empty()) {
                    problems.push(Problem { path, text: error.to_string() });
                }
            }
        }
    }
    Sample { value, problems }
}

/// The object with its type and its metadata.
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

/// What a definition says about a field of the metadata.
fn metadata_property<'a>(schema: Option<&'a Schema<'a>>, name: &str) -> Option<&'a Schema<'a>> {
    let metadata = property(schema?, "metadata")?;
    property(metadata, name)
}

fn property<'a>(schema: &'a Schema<'a>, name: &str) -> Option<&'a Schema<'a>> {
    schema.properties.iter().find(|property| property.name == name).map(|property| &property.schema)
}

/// Optional fields that may have to do with the problems: the fields with problems, and those below and above them, one
/// by one. Then two and two of those below: a rule may want both.
fn moves(schema: Option<&Schema<'_>>, problems: &[Problem]) -> Vec<Vec<String>> {
    const PAIRED: usize = 6;
    let (mut out, mut pairs) = (Vec::new(), Vec::new());
    for problem in problems {
        let path = problem.path.as_str();
        if !path.is_empty() {
            out.push(vec![path.to_owned()]);
        }
        if let Some(below) = schema.and_then(|schema| at(schema, path)) {
            let below: Vec<String> = below.properties.iter().map(|property| child(path, property.name)).collect();
            out.extend(below.iter().map(|path| vec![path.clone()]));
            // The fields that the message names come first.
            let is_named = |path: &String| path.rsplit('.').next().is_some_and(|name| problem.text.contains(name));
            let (mut likely, others): (Vec<String>, Vec<String>) = below.into_iter().partition(is_named);
            likely.extend(others);
            likely.truncate(PAIRED);
            for (at, one) in likely.iter().enumerate() {
                pairs.extend(likely.iter().skip(at + 1).map(|other| vec![one.clone(), other.clone()]));
            }
        }
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once(['.', '[']) {
            above = parent;
            out.push(vec![above.to_owned()]);
        }
    }
    out.extend(pairs);
    out
}

/// The schema at a path such as `spec.ports[0].name`.
fn at<'a>(schema: &'a Schema<'a>, path: &str) -> Option<&'a Schema<'a>> {
    let mut schema = schema;
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let item = match schema.items {
            Some(Items::One(item)) if step.ends_with(']') => Some(item),
            _ => None,
        };
        let additional = match schema.additional {
            Some(Additional::Schema(below)) => Some(below),
            _ => None,
        };
        schema = property(schema, step).or(item).or(additional)?;
    }
    Some(schema)
}
