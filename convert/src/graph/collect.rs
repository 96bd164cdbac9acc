//! Collects the references of a part.

use super::Section;
use crate::document::Document;
use crate::model::{Object as _, Site, Visitor, visit_schema};
use crate::{v2, v3};
use kubeshape_schema::{Dialect, Json, Schema};

/// The name under which a schema's extensions have the v3 object for a discriminator.
pub(crate) const DISCRIMINATOR: &str = "discriminator";

/// How a part refers to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// A `$ref` to it.
    Reference,
    /// A `$ref` into it, or to a part of an unexpected kind.
    Inner,
    /// The mapping of a discriminator.
    Mapping,
    /// A security requirement.
    Requirement,
}

/// A reference that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) site: Site,
    pub(crate) at: u32,
    pub(crate) text: &'a str,
    pub(crate) link: Link,
    /// The section to which it should refer.
    pub(crate) section: Section,
    /// Whether it represents the part itself or restricts the same value, not a value below it.
    pub(crate) in_place: bool,
}

/// Collects references and operation ids.
#[derive(Debug, Default)]
pub(crate) struct Collector<'a> {
    pub(crate) found: Vec<Found<'a>>,
    pub(crate) operations: Vec<(&'a str, u32)>,
}

impl<'a> Collector<'a> {
    fn schema(&mut self, site: Site, schema: &Schema<'a>, in_place: bool) {
        let at = schema.at;
        if !schema.reference.is_empty() {
            let (text, link, section) = (schema.reference, Link::Reference, Section::Schemas);
            self.found.push(Found { site, at, text, link, section, in_place });
        }
        if let Some(mapping) = mapping(schema) {
            for (_, value) in mapping {
                if let Json::Str(text) = value {
                    let (link, section) = (Link::Mapping, Section::Schemas);
                    self.found.push(Found { site, at, text, link, section, in_place: false });
                }
            }
        }
        visit_schema(schema, &mut |site, inner| {
            let in_place = in_place && matches!(site, Site::AllOf | Site::AnyOf | Site::OneOf | Site::Not);
            self.schema(site, inner, in_place);
        });
    }

    fn requirements(&mut self, security: v2::Security<'a>, at: u32) {
        for requirement in security.unwrap_or_default() {
            for entry in requirement {
                let (site, section) = (Site::SecurityScheme, Section::SecuritySchemes);
                let (text, link) = (entry.name, Link::Requirement);
                self.found.push(Found { site, at, text, link, section, in_place: false });
            }
        }
    }
}

/// Returns the mapping of a schema's discriminator.
pub(crate) fn mapping<'a>(schema: &Schema<'a>) -> Option<&'a [(&'a str, Json<'a>)]> {
    let (_, discriminator) = schema.extra().extensions.iter().find(|(name, _)| *name == DISCRIMINATOR)?;
    match discriminator.get("mapping")? {
        Json::Object(members) => Some(members),
        _ => None,
    }
}

impl<'a> Visitor<'a> for Collector<'a> {
    fn schema(&mut self, site: Site, _: &'a str, schema: &Schema<'a>) {
        self.schema(site, schema, site == Site::Definition);
    }

    fn reference(&mut self, site: Site, at: u32, reference: &'a str) {
        let (text, link, section) = (reference, Link::Reference, Section::at(site));
        self.found.push(Found { site, at, text, link, section, in_place: true });
    }
}

/// Receives section, name and location of a part, and a function that collects its references.
pub(crate) type Seen<'f, 'a> = dyn FnMut(Section, &'a str, u32, &dyn Fn(&mut Collector<'a>)) + 'f;

/// Calls `f` for every named part of a document in the order of [`Section::ALL`], with a function that collects its
/// references.
pub(crate) fn each_part<'a>(document: &Document<'a>, f: &mut Seen<'_, 'a>) {
    match document {
        Document::V2(document) => each_part_v2(document, f),
        Document::V3(document) => each_part_v3(document, f),
    }
}

macro_rules! each {
    ($f:ident, $section:ident, $site:ident, $map:expr) => {
        for entry in $map {
            $f(Section::$section, entry.name, entry.at, &|c| entry.value.visit(Site::$site, c));
        }
    };
    ($f:ident, boxed $section:ident, $site:ident, $map:expr) => {
        for entry in $map {
            $f(Section::$section, entry.name, entry.at, &|c| {
                if let Some(value) = entry.value {
                    value.visit(Site::$site, c);
                }
            });
        }
    };
}

fn each_part_v2<'a>(document: &v2::Document<'a>, f: &mut Seen<'_, 'a>) {
    for definition in document.definitions {
        f(Section::Schemas, definition.name, definition.at, &|c| {
            Visitor::schema(c, Site::Definition, definition.name, &definition.schema);
        });
    }
    each!(f, Parameters, Parameter, document.parameters);
    each!(f, Responses, Response, document.responses);
    each!(f, SecuritySchemes, SecurityScheme, document.security_definitions);
    for entry in document.paths.map(|paths| paths.items).unwrap_or_default() {
        f(Section::Paths, entry.name, entry.at, &|c| {
            entry.value.visit(Site::PathItem, c);
            for operation in entry.value.operations() {
                c.requirements(operation.security, operation.at);
                c.operations.push((operation.operation_id, operation.at));
            }
        });
    }
}

fn each_part_v3<'a>(document: &v3::Document<'a>, f: &mut Seen<'_, 'a>) {
    let components = document.components.copied().unwrap_or_default();
    for definition in components.schemas {
        f(Section::Schemas, definition.name, definition.at, &|c| {
            Visitor::schema(c, Site::Definition, definition.name, &definition.schema);
        });
    }
    each!(f, boxed Parameters, Parameter, components.parameters);
    each!(f, boxed Responses, Response, components.responses);
    each!(f, boxed RequestBodies, RequestBody, components.request_bodies);
    each!(f, boxed Headers, Header, components.headers);
    each!(f, boxed Examples, Example, components.examples);
    each!(f, boxed Links, Link, components.links);
    for entry in components.callbacks {
        f(Section::Callbacks, entry.name, entry.at, &|c| {
            if let Some(callback) = entry.value {
                callback.visit(Site::Callback, c);
                for item in callback.items {
                    operations_of(&item.value, c);
                }
            }
        });
    }
    each!(f, boxed SecuritySchemes, SecurityScheme, components.security_schemes);
    for entry in document.paths.map(|paths| paths.items).unwrap_or_default() {
        f(Section::Paths, entry.name, entry.at, &|c| {
            entry.value.visit(Site::PathItem, c);
            operations_of(&entry.value, c);
        });
    }
}

/// Callbacks contain operations, too.
fn operations_of<'a>(item: &v3::PathItem<'a>, c: &mut Collector<'a>) {
    for operation in item.operations() {
        c.requirements(operation.security, operation.at);
        c.operations.push((operation.operation_id, operation.at));
        for callback in operation.callbacks.iter().filter_map(|entry| entry.value) {
            callback.items.iter().for_each(|item| operations_of(&item.value, c));
        }
    }
}

impl<'a> v2::PathItem<'a> {
    /// Returns the operations of the path, in printed order.
    pub(crate) fn operations(&self) -> impl Iterator<Item = &'a v2::Operation<'a>> {
        [self.get, self.put, self.post, self.delete, self.options, self.head, self.patch].into_iter().flatten()
    }
}

impl<'a> v3::PathItem<'a> {
    /// Returns the operations of the path, in printed order.
    pub(crate) fn operations(&self) -> impl Iterator<Item = &'a v3::Operation<'a>> {
        [self.get, self.put, self.post, self.delete, self.options, self.head, self.patch, self.trace]
            .into_iter()
            .flatten()
    }
}

/// Returns whether a mapping has the name of a definition, not a reference. A string that could be either is a name.
pub(crate) fn is_bare_name(text: &str, dialect: Dialect) -> bool {
    let is_file = || text.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "json" | "yaml" | "yml"));
    dialect == Dialect::V3 && !text.contains(['#', '/']) && !is_file()
}
