//! Renames the definitions of a document.
//!
//! | form | |
//! |---|---|
//! | [`Names::Friendly`] | `io.k8s.api.core.v1.Pod`: what Kubernetes publishes (upstream: `ToRESTFriendlyName`) |
//! | [`Names::GoPath`] | `k8s.io/api/core/v1.Pod`: the Go package and the type |
//! | [`Names::Short`] | `Pod`: without package (KEP-2896: names of native resources should omit their package paths) |
//!
//! Go paths are derived from friendly names by their form: the first two labels are the host, as in `io.k8s` or
//! `com.github`, and the last one is the type. Converted back to friendly names, they are the same.
//!
//! A short name is the shortest suffix of the name that no other definition of the document has: `Pod`, and
//! `core.v1.Event` if there is `events.v1.Event`. All definitions with the same suffix get longer names, so that no
//! name depends on the order of definitions. Short names cannot be converted back.
//!
//! The discriminator of a v2 document has no mapping: its values are names of definitions, so they change, too.
//!
//! Names without the other form stay. Definitions that would get the same name keep their names; a note lists them.

use super::rewrite::{Renames, Rewriter};
use super::{Graph, Section};
use crate::document::Document;
use crate::model::{Object as _, Site};
use crate::{v2, v3};
use kubeshape_schema::{Bump, Code, Converted, Dialect, Note, Property};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The form of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Names {
    /// `io.k8s.api.core.v1.Pod`
    Friendly,
    /// `k8s.io/api/core/v1.Pod`
    GoPath,
    /// `Pod`, or a longer suffix if needed.
    Short,
}

/// Returns a document whose definitions have names of another form, also in all references and mappings of
/// discriminators. Discriminators without a mapping get one with the old names.
///
/// # Example
/// ```
/// use kubeshape_convert::document::Document;
/// use kubeshape_convert::graph::rename::{rename, Names};
/// use kubeshape_convert::v2;
/// use kubeshape_schema::print::Style;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"swagger": "2.0", "paths": {}, "definitions": {
///     "io.k8s.api.core.v1.Pod": {"properties": {"spec": {"$ref": "#/definitions/io.k8s.api.core.v1.PodSpec"}}},
///     "io.k8s.api.core.v1.PodSpec": {}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let document = Document::V2(v2::read(root, &arena, Profile::Kube).value.unwrap());
/// let Document::V2(renamed) = rename(&document, Names::GoPath, &arena).value else { panic!() };
/// let mut out = Vec::new();
/// renamed.print(&mut out, Style::V2, Profile::Kube);
/// assert_eq!(String::from_utf8(out).unwrap(), concat!(
///     r##"{"swagger":"2.0","paths":{},"definitions":{"k8s.io/api/core/v1.Pod":{"properties":{"spec":"##,
///     r##"{"$ref":"#/definitions/k8s.io~1api~1core~1v1.PodSpec"}}},"k8s.io/api/core/v1.PodSpec":{}}}"##));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn rename<'a>(document: &Document<'a>, to: Names, arena: &'a Bump) -> Converted<'a, Document<'a>> {
    let mut notes = Graph::of(document).into_notes();
    let renames = new_names(document.definitions(), to, arena, &mut notes);
    notes.sort_by_key(|note| (note.at, note.code));
    let value = if renames.is_empty() {
        *document
    } else {
        match document {
            Document::V2(document) => Document::V2(renamed_v2(document, &renames, arena)),
            Document::V3(document) => Document::V3(renamed_v3(document, &renames, arena)),
        }
    };
    Converted { value, notes }
}

/// Returns a name as Kubernetes publishes it: a Go path with its host reversed, and dots instead of slashes.
///
/// # Example
/// ```
/// use kubeshape_convert::graph::rename::friendly;
/// assert_eq!(friendly("k8s.io/api/core/v1.Pod"), "io.k8s.api.core.v1.Pod");
/// assert_eq!(friendly("io.k8s.api.core.v1.Pod"), "io.k8s.api.core.v1.Pod");
/// ```
pub fn friendly(name: &str) -> Cow<'_, str> {
    let Some((host, rest)) = name.split_once('/') else { return Cow::Borrowed(name) };
    let mut labels: Vec<&str> = host.rsplit('.').collect();
    labels.extend(rest.split('/'));
    Cow::Owned(labels.join("."))
}

/// Returns the Go path of a friendly name, or the name itself if it does not have that form.
///
/// # Example
/// ```
/// use kubeshape_convert::graph::rename::go_path;
/// assert_eq!(go_path("io.k8s.api.core.v1.Pod"), "k8s.io/api/core/v1.Pod");
/// assert_eq!(go_path("com.example.stable.v1.CronTab"), "example.com/stable/v1.CronTab");
/// assert_eq!(go_path("v1.Pod"), "v1.Pod");
/// ```
pub fn go_path(name: &str) -> Cow<'_, str> {
    let labels: Vec<&str> = name.split('.').collect();
    let [top, domain, package @ .., ty] = &labels[..] else { return Cow::Borrowed(name) };
    let is_top = top.len() > 1 && top.bytes().all(|b| b.is_ascii_lowercase());
    let odd = package.is_empty() || name.contains('/') || labels.iter().any(|label| label.is_empty());
    if odd || !is_top {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{domain}.{top}/{}.{ty}", package.join("/")))
}

fn new_names<'a>(definitions: &[Property<'a>], to: Names, arena: &'a Bump, notes: &mut Vec<Note<'a>>) -> Renames<'a> {
    let mut names: Vec<&'a str> = match to {
        Names::Friendly => definitions.iter().map(|definition| owned(friendly(definition.name), arena)).collect(),
        Names::GoPath => definitions.iter().map(|definition| owned(go_path(definition.name), arena)).collect(),
        Names::Short => short(definitions, arena),
    };
    keep_colliding(definitions, &mut names, notes);
    let mut renames = Renames::default();
    for (definition, name) in definitions.iter().zip(names) {
        renames.insert(Section::Schemas, definition.name, name);
    }
    renames
}

fn owned<'a>(name: Cow<'a, str>, arena: &'a Bump) -> &'a str {
    match name {
        Cow::Borrowed(name) => name,
        Cow::Owned(name) => arena.alloc_str(&name),
    }
}

/// Names with more common labels are not changed.
const MAX_LABELS: usize = 64;

/// Returns the shortest suffix of every name that no other name has.
fn short<'a>(definitions: &[Property<'a>], arena: &'a Bump) -> Vec<&'a str> {
    let mut out: Vec<&'a str> = definitions.iter().map(|definition| definition.name).collect();
    let labels: Vec<Vec<&'a str>> =
        definitions.iter().map(|definition| definition.name.split(['.', '/']).collect()).collect();
    let mut left: Vec<usize> = (0..definitions.len()).collect();
    let mut length = 1;
    while !left.is_empty() && length <= MAX_LABELS {
        let mut ends: BTreeMap<&[&str], Vec<usize>> = BTreeMap::new();
        for i in left.drain(..) {
            let from = labels[i].len().saturating_sub(length);
            ends.entry(&labels[i][from..]).or_default().push(i);
        }
        for (end, same) in ends {
            match same[..] {
                // A name of an unusual form, such as one that ends with a dot, is not changed.
                [only] if end.iter().all(|label| !label.is_empty()) => out[only] = arena.alloc_str(&end.join(".")),
                [_] => {}
                _ => left.extend(same.into_iter().filter(|i| labels[*i].len() > length)),
            }
        }
        left.sort_unstable();
        length += 1;
    }
    out
}

/// Restores the names of definitions that would share a name with another one.
fn keep_colliding<'a>(definitions: &[Property<'a>], names: &mut [&'a str], notes: &mut Vec<Note<'a>>) {
    let mut users: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, name) in names.iter().enumerate() {
        users.entry(name).or_default().push(i);
    }
    let mut wanted: Vec<&'a str> = names.iter().copied().filter(|name| users[name].len() > 1).collect();
    let mut seen = 0;
    while let Some(name) = wanted.get(seen).copied() {
        seen += 1;
        let same = users.remove(name).unwrap_or_default();
        for i in same {
            let old = definitions[i].name;
            if names[i] == old {
                // Only it has this name now.
                users.entry(old).or_default().push(i);
                continue;
            }
            let detail = format!("{old} keeps its name; another definition is or would be called {name}");
            notes.push(Note::new(Code::NameCollision, definitions[i].at, detail));
            names[i] = old;
            let others = users.entry(old).or_default();
            others.push(i);
            if others.len() > 1 {
                wanted.push(old);
            }
        }
    }
}

fn renamed_v2<'a>(document: &v2::Document<'a>, renames: &Renames<'a>, arena: &'a Bump) -> v2::Document<'a> {
    let out = document.replace(Site::PathItem, &mut Rewriter::new(renames, Dialect::V2, arena));
    v2::Document { definitions: renames.definitions(out.definitions, arena), ..out }
}

fn renamed_v3<'a>(document: &v3::Document<'a>, renames: &Renames<'a>, arena: &'a Bump) -> v3::Document<'a> {
    let out = document.replace(Site::PathItem, &mut Rewriter::new(renames, Dialect::V3, arena));
    let components = out.components.map(|components| {
        &*arena.alloc(v3::Components { schemas: renames.definitions(components.schemas, arena), ..*components })
    });
    v3::Document { components, ..out }
}
