//! What the dialects have different when documents are put together.

use super::kinds::{Kinds, without_kinds};
use super::names::{Numbers, Placed};
use super::{print_to, printed};
use crate::document::Document;
use crate::graph::Section;
use crate::graph::rewrite::{Item, Rewriter, callbacks, with_operations};
use crate::graph::split::kinds_of;
use crate::model::{Boxed, Entry, Map, Mapper as _, Member, Printer, Site};
use crate::{v2, v3};
use kubeshape_schema::Dialect;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Note, Profile, Property, Schema, order};
use std::collections::HashMap;

/// A document of one of the dialects; no other types can be put together.
#[allow(private_bounds)]
pub trait Whole<'a>: Assembled<'a> {}

impl<'a> Whole<'a> for v2::Document<'a> {}

impl<'a> Whole<'a> for v3::Document<'a> {}

/// What putting documents together needs to know of a dialect.
pub(crate) trait Assembled<'a>: Copy {
    /// The dialect.
    const DIALECT: Dialect;
    /// Its path items.
    type Item: Item<'a> + Member<'a>;
    /// The named parts of several documents.
    type Parts: Parts<'a, Self>;

    /// The document as one of any dialect.
    fn wrapped(self) -> Document<'a>;

    /// The paths.
    fn items(&self) -> Option<Map<'a, Self::Item>>;

    /// The paths, with what the root of the document says of them and that of another does not.
    fn items_alone(&self, first: &Self, arena: &'a Bump) -> Option<Map<'a, Self::Item>>;

    /// What upstream's aggregator takes of a document that is not the first: paths, definitions and parameters
    /// of v2. It notes what is left out.
    fn as_upstream_takes(self, notes: &mut Vec<Note<'a>>) -> Self;

    /// Notes what an aggregate with the members of another document's root lacks.
    fn differences(&self, first: &Self, notes: &mut Vec<Note<'a>>);
}

/// The named parts of several documents.
pub(crate) trait Parts<'a, D: Assembled<'a>>: Default {
    /// Numbers of the texts of all parts, paths left out.
    fn contents(document: &D, numbers: &mut Numbers) -> Vec<u32>;

    /// Takes the parts of a document that are not shared, and says which.
    fn take(&mut self, document: &D, placed: &[Placed<'a>], rewriter: &mut Rewriter<'_, 'a>)
    -> Vec<(Section, &'a str)>;

    /// The number of the text of a part that was taken.
    fn content(&self, section: Section, name: &'a str, numbers: &mut Numbers) -> u32;

    /// The document of all parts, with the root of the first.
    fn finish<'s>(
        self,
        first: &D,
        items: Option<Map<'a, D::Item>>,
        documents: impl Iterator<Item = &'s D>,
        arena: &'a Bump,
    ) -> D
    where
        D: 's;
}

/// Parts of one section.
#[derive(Debug)]
struct Members<'a, T> {
    entries: Vec<Entry<'a, T>>,
    index: HashMap<&'a str, usize>,
    present: bool,
}

impl<T> Default for Members<'_, T> {
    fn default() -> Self {
        Members { entries: Vec::new(), index: HashMap::new(), present: false }
    }
}

impl<'a, T: Member<'a>> Members<'a, T> {
    fn contents(map: Map<'a, T>, section: Section, buffer: &mut Vec<u8>, numbers: &mut Numbers, out: &mut Vec<u32>) {
        for entry in map {
            out.push(content(&entry.value, section, buffer, numbers));
        }
    }

    /// Takes what is new and leaves the places of the next section.
    fn take<'p>(
        &mut self,
        map: Map<'a, T>,
        (section, site): (Section, Site),
        placed: &'p [Placed<'a>],
        rewriter: &mut Rewriter<'_, 'a>,
        fresh: &mut Vec<(Section, &'a str)>,
        with_schemes: impl Fn(T, &Rewriter<'_, 'a>) -> T,
    ) -> &'p [Placed<'a>] {
        self.present |= map.present;
        let (own, others) = placed.split_at(map.entries.len().min(placed.len()));
        for (entry, placed) in map.iter().zip(own).filter(|(_, placed)| placed.fresh) {
            let value = if rewriter.is_idle() { entry.value } else { entry.value.replace(site, rewriter) };
            let value = with_schemes(value, rewriter);
            self.index.insert(placed.name, self.entries.len());
            self.entries.push(Entry { name: placed.name, value, ..*entry });
            fresh.push((section, placed.name));
        }
        others
    }

    fn content(&self, section: Section, name: &str, numbers: &mut Numbers) -> Option<u32> {
        let at = self.index.get(name)?;
        Some(content(&self.entries[*at].value, section, &mut Vec::new(), numbers))
    }

    fn finish(mut self, arena: &'a Bump) -> Map<'a, T> {
        self.entries.sort_by(|a, b| order::utf16(a.name, b.name));
        Map { entries: arena.alloc_slice_copy(&self.entries), present: self.present }
    }
}

fn content<'a>(member: &impl Member<'a>, section: Section, buffer: &mut Vec<u8>, numbers: &mut Numbers) -> u32 {
    buffer.clear();
    buffer.push(section as u8);
    print_to(member, buffer);
    numbers.text(buffer)
}

/// Definitions, which are equal whatever kinds they list.
#[derive(Debug, Default)]
struct Definitions<'a> {
    entries: Vec<Property<'a>>,
    index: HashMap<&'a str, usize>,
    kinds: HashMap<usize, Kinds<'a>>,
}

impl<'a> Definitions<'a> {
    fn contents(properties: &[Property<'a>], buffer: &mut Vec<u8>, numbers: &mut Numbers, out: &mut Vec<u32>) {
        for definition in properties {
            out.push(Self::content_of(&definition.schema, buffer, numbers));
        }
    }

    fn content_of(schema: &Schema<'_>, buffer: &mut Vec<u8>, numbers: &mut Numbers) -> u32 {
        let arena = Bump::new();
        buffer.clear();
        buffer.push(Section::Schemas as u8);
        Printer::new(buffer, Style::V3, Profile::Faithful).schema(&without_kinds(schema, &arena));
        numbers.text(buffer)
    }

    fn take<'p>(
        &mut self,
        properties: &[Property<'a>],
        placed: &'p [Placed<'a>],
        rewriter: &mut Rewriter<'_, 'a>,
        fresh: &mut Vec<(Section, &'a str)>,
    ) -> &'p [Placed<'a>] {
        let (own, others) = placed.split_at(properties.len().min(placed.len()));
        for (definition, placed) in properties.iter().zip(own) {
            if placed.fresh {
                let schema = rewriter.schema(Site::Definition, &definition.schema);
                self.index.insert(placed.name, self.entries.len());
                self.entries.push(Property { name: placed.name, schema, ..*definition });
                fresh.push((Section::Schemas, placed.name));
            } else if let Some(at) = self.index.get(placed.name)
                && kinds_of(&definition.schema).is_some()
            {
                let entry = &self.entries[*at].schema;
                self.kinds.entry(*at).or_insert_with(|| Kinds::of(entry)).unite(&definition.schema);
            }
        }
        others
    }

    fn content(&self, name: &str, numbers: &mut Numbers) -> Option<u32> {
        let at = self.index.get(name)?;
        Some(Self::content_of(&self.entries[*at].schema, &mut Vec::new(), numbers))
    }

    fn finish(mut self, arena: &'a Bump) -> &'a [Property<'a>] {
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if let Some(kinds) = self.kinds.remove(&at) {
                entry.schema = kinds.apply(&entry.schema, arena);
            }
        }
        self.entries.sort_by(|a, b| order::utf16(a.name, b.name));
        arena.alloc_slice_copy(&self.entries)
    }
}

/// Declares the parts of a dialect: the sections in the order of [`Section::ALL`].
macro_rules! parts {
    ($name:ident, $document:ty, $schemas:expr, { $($member:ident: $ty:ty = $section:ident, $site:ident, $get:expr, $schemes:expr;)* }) => {
        /// The named parts of several documents.
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            schemas: Definitions<'a>,
            $($member: Members<'a, $ty>,)*
        }

        impl<'a> Parts<'a, $document> for $name<'a> {
            fn contents(document: &$document, numbers: &mut Numbers) -> Vec<u32> {
                let (mut out, mut buffer) = (Vec::new(), Vec::new());
                Definitions::contents($schemas(document), &mut buffer, numbers, &mut out);
                $(Members::contents($get(document), Section::$section, &mut buffer, numbers, &mut out);)*
                out
            }

            fn take(
                &mut self,
                document: &$document,
                placed: &[Placed<'a>],
                rewriter: &mut Rewriter<'_, 'a>,
            ) -> Vec<(Section, &'a str)> {
                let mut fresh = Vec::new();
                let left = self.schemas.take($schemas(document), placed, rewriter, &mut fresh);
                $(let left = self.$member.take(
                    $get(document),
                    (Section::$section, Site::$site),
                    left,
                    rewriter,
                    &mut fresh,
                    $schemes,
                );)*
                // What is left are paths.
                let _ = left;
                fresh
            }

            fn content(&self, section: Section, name: &'a str, numbers: &mut Numbers) -> u32 {
                let found = match section {
                    $(Section::$section => self.$member.content(section, name, numbers),)*
                    _ => self.schemas.content(name, numbers),
                };
                found.unwrap_or(u32::MAX)
            }

            fn finish<'s>(
                self,
                first: &$document,
                items: Option<Map<'a, <$document as Assembled<'a>>::Item>>,
                documents: impl Iterator<Item = &'s $document>,
                arena: &'a Bump,
            ) -> $document
            where
                'a: 's,
            {
                self.finished(first, items, documents, arena)
            }
        }
    };
}

fn same<T>(value: T, _: &Rewriter<'_, '_>) -> T {
    value
}

fn of_v3<'a>(document: &v3::Document<'a>) -> v3::Components<'a> {
    document.components.copied().unwrap_or_default()
}

parts!(PartsV2, v2::Document<'a>, |document: &v2::Document<'a>| document.definitions, {
    parameters: v2::Parameter<'a> = Parameters, Parameter, |d: &v2::Document<'a>| d.parameters, same;
    responses: v2::Response<'a> = Responses, Response, |d: &v2::Document<'a>| d.responses, same;
    schemes: v2::SecurityScheme<'a> = SecuritySchemes, SecurityScheme, |d: &v2::Document<'a>| d.security_definitions, same;
});

parts!(PartsV3, v3::Document<'a>, |document: &v3::Document<'a>| of_v3(document).schemas, {
    parameters: Boxed<'a, v3::Parameter<'a>> = Parameters, Parameter, |d: &v3::Document<'a>| of_v3(d).parameters, same;
    responses: Boxed<'a, v3::Response<'a>> = Responses, Response, |d: &v3::Document<'a>| of_v3(d).responses, same;
    bodies: Boxed<'a, v3::RequestBody<'a>> = RequestBodies, RequestBody, |d: &v3::Document<'a>| of_v3(d).request_bodies, same;
    headers: Boxed<'a, v3::Header<'a>> = Headers, Header, |d: &v3::Document<'a>| of_v3(d).headers, same;
    examples: Boxed<'a, v3::Example<'a>> = Examples, Example, |d: &v3::Document<'a>| of_v3(d).examples, same;
    links: Boxed<'a, v3::Link<'a>> = Links, Link, |d: &v3::Document<'a>| of_v3(d).links, same;
    callbacks: Boxed<'a, v3::Callback<'a>> = Callbacks, Callback, |d: &v3::Document<'a>| of_v3(d).callbacks, |value, rewriter| {
        callbacks(Map::new(rewriter.arena().alloc_slice_copy(&[Entry { value, ..Entry::default() }])), rewriter)
            .iter()
            .next()
            .and_then(|entry| entry.value)
    };
    schemes: Boxed<'a, v3::SecurityScheme<'a>> = SecuritySchemes, SecurityScheme, |d: &v3::Document<'a>| of_v3(d).security_schemes, same;
});

impl<'a> PartsV2<'a> {
    fn finished<'s>(
        self,
        first: &v2::Document<'a>,
        items: Option<Map<'a, v2::PathItem<'a>>>,
        documents: impl Iterator<Item = &'s v2::Document<'a>>,
        arena: &'a Bump,
    ) -> v2::Document<'a>
    where
        'a: 's,
    {
        let tags = tags(documents.map(|document| document.tags), arena);
        let base = first.paths.copied().unwrap_or_default();
        let paths = items.map(|items| &*arena.alloc(v2::Paths { items, ..base }));
        v2::Document {
            paths,
            definitions: self.schemas.finish(arena),
            parameters: self.parameters.finish(arena),
            responses: self.responses.finish(arena),
            security_definitions: self.schemes.finish(arena),
            tags,
            ..*first
        }
    }
}

impl<'a> PartsV3<'a> {
    fn finished<'s>(
        self,
        first: &v3::Document<'a>,
        items: Option<Map<'a, v3::PathItem<'a>>>,
        documents: impl Iterator<Item = &'s v3::Document<'a>>,
        arena: &'a Bump,
    ) -> v3::Document<'a>
    where
        'a: 's,
    {
        let (mut present, mut lists) = (false, Vec::new());
        for document in documents {
            present |= document.components.is_some();
            lists.push(document.tags);
        }
        let base = of_v3(first);
        let components = v3::Components {
            schemas: self.schemas.finish(arena),
            parameters: self.parameters.finish(arena),
            responses: self.responses.finish(arena),
            request_bodies: self.bodies.finish(arena),
            headers: self.headers.finish(arena),
            examples: self.examples.finish(arena),
            links: self.links.finish(arena),
            callbacks: self.callbacks.finish(arena),
            security_schemes: self.schemes.finish(arena),
            ..base
        };
        let base = first.paths.copied().unwrap_or_default();
        v3::Document {
            paths: items.map(|items| &*arena.alloc(v3::Paths { items, ..base })),
            components: present.then(|| &*arena.alloc(components)),
            tags: tags(lists.into_iter(), arena),
            ..*first
        }
    }
}

/// The tags of all documents, each name as it comes first.
fn tags<'a>(lists: impl Iterator<Item = &'a [v3::Tag<'a>]>, arena: &'a Bump) -> &'a [v3::Tag<'a>] {
    let mut out: Vec<v3::Tag<'a>> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for (number, list) in lists.enumerate() {
        out.extend(list.iter().filter(|tag| names.insert(tag.name) || number == 0));
    }
    if out.is_empty() { &[] } else { arena.alloc_slice_copy(&out) }
}

/// Notes members that differ from those of the first document.
macro_rules! differences {
    ($notes:ident, $own:expr, $first:expr, $at:expr, [$($member:ident = $name:literal,)*]) => {
        $(if !Member::is_absent(&$own.$member) && printed(&$own.$member) != printed(&$first.$member) {
            $notes.push(Note::new(Code::AggregateDropped, $at, $name));
        })*
    };
}

fn extensions<'a>(
    own: crate::model::Extensions<'a>,
    first: crate::model::Extensions<'a>,
    at: u32,
    notes: &mut Vec<Note<'a>>,
) {
    for extension in own.iter().filter(|extension| !first.contains(extension)) {
        notes.push(Note::new(Code::AggregateDropped, at, extension.0));
    }
}

fn other_tags<'a>(own: &[v3::Tag<'a>], first: &[v3::Tag<'a>], notes: &mut Vec<Note<'a>>) {
    if own.is_empty() || printed_tags(own) == printed_tags(first) {
        return;
    }
    let known: HashMap<&str, &v3::Tag<'_>> = first.iter().map(|tag| (tag.name, tag)).collect();
    for tag in own {
        if let Some(other) = known.get(tag.name)
            && printed_tags(&[**other]) != printed_tags(&[*tag])
        {
            notes.push(Note::new(Code::AggregateDropped, tag.at, format!("tags: {}", tag.name)));
        }
    }
}

fn printed_tags(tags: &[v3::Tag<'_>]) -> Vec<u8> {
    use crate::model::Object as _;
    let mut out = Vec::new();
    for tag in tags {
        let mut printer = Printer::new(&mut out, Style::V3, Profile::Faithful);
        printer.open();
        tag.print(&mut printer);
        printer.close();
    }
    out
}

impl<'a> Assembled<'a> for v2::Document<'a> {
    const DIALECT: Dialect = Dialect::V2;
    type Item = v2::PathItem<'a>;
    type Parts = PartsV2<'a>;

    fn wrapped(self) -> Document<'a> {
        Document::V2(self)
    }

    fn items(&self) -> Option<Map<'a, v2::PathItem<'a>>> {
        self.paths.map(|paths| paths.items)
    }

    fn items_alone(&self, first: &Self, arena: &'a Bump) -> Option<Map<'a, v2::PathItem<'a>>> {
        let items = self.items()?;
        let security = printed(&self.security) != printed(&first.security);
        let consumes = (self.consumes != first.consumes).then_some(self.consumes);
        let produces = (self.produces != first.produces).then_some(self.produces);
        let schemes = if self.schemes == first.schemes { &[] } else { self.schemes };
        if !security && consumes.is_none() && produces.is_none() && schemes.is_empty() {
            return Some(items);
        }
        let moved = |operation: &v2::Operation<'a>| v2::Operation {
            security: operation.security.or(security.then(|| self.security.unwrap_or_default())),
            consumes: operation.consumes.or(consumes),
            produces: operation.produces.or(produces),
            schemes: if operation.schemes.is_empty() { schemes } else { operation.schemes },
            ..*operation
        };
        let items_moved = items.iter().map(|entry| Entry {
            value: with_operations!(entry.value, arena, [get put post delete options head patch], moved),
            ..*entry
        });
        Some(Map { entries: arena.alloc_slice_fill_iter(items_moved), ..items })
    }

    fn as_upstream_takes(self, notes: &mut Vec<Note<'a>>) -> Self {
        for (name, count, at) in [
            ("responses", self.responses.entries.len(), self.responses.entries.first().map(|entry| entry.at)),
            (
                "securityDefinitions",
                self.security_definitions.entries.len(),
                self.security_definitions.entries.first().map(|entry| entry.at),
            ),
            ("tags", self.tags.len(), self.tags.first().map(|tag| tag.at)),
            ("security", usize::from(self.security.is_some()), None),
            ("consumes", self.consumes.len(), None),
            ("produces", self.produces.len(), None),
            ("schemes", self.schemes.len(), None),
        ] {
            if count > 0 {
                let detail = format!("{name}, which Kubernetes' aggregator takes from the first document alone");
                notes.push(Note::new(Code::AggregateDropped, at.unwrap_or(self.at), detail));
            }
        }
        v2::Document {
            responses: Map::default(),
            security_definitions: Map::default(),
            security: None,
            tags: &[],
            consumes: &[],
            produces: &[],
            schemes: &[],
            ..self
        }
    }

    fn differences(&self, first: &Self, notes: &mut Vec<Note<'a>>) {
        let at = self.at;
        differences!(notes, self, first, at, [id = "id", swagger = "swagger", host = "host", base_path = "basePath",]);
        differences!(notes, self, first, self.info.map_or(at, |info| info.at), [info = "info",]);
        differences!(
            notes,
            self,
            first,
            self.external_docs.map_or(at, |docs| docs.at),
            [external_docs = "externalDocs",]
        );
        extensions(self.extensions, first.extensions, at, notes);
        if let Some(paths) = self.paths {
            extensions(paths.extensions, first.paths.map_or(&[], |paths| paths.extensions), paths.at, notes);
        }
        other_tags(self.tags, first.tags, notes);
    }
}

impl<'a> Assembled<'a> for v3::Document<'a> {
    const DIALECT: Dialect = Dialect::V3;
    type Item = v3::PathItem<'a>;
    type Parts = PartsV3<'a>;

    fn wrapped(self) -> Document<'a> {
        Document::V3(self)
    }

    fn items(&self) -> Option<Map<'a, v3::PathItem<'a>>> {
        self.paths.map(|paths| paths.items)
    }

    fn items_alone(&self, first: &Self, arena: &'a Bump) -> Option<Map<'a, v3::PathItem<'a>>> {
        let items = self.items()?;
        let security = printed(&self.security) != printed(&first.security);
        let servers = if printed(&self.servers) == printed(&first.servers) {
            &[][..]
        } else if self.servers.is_empty() {
            // What a document without servers means.
            arena.alloc_slice_copy(&[v3::Server { url: "/", ..v3::Server::default() }])
        } else {
            self.servers
        };
        if !security && servers.is_empty() {
            return Some(items);
        }
        let moved = |operation: &v3::Operation<'a>| v3::Operation {
            security: operation.security.or(security.then(|| self.security.unwrap_or_default())),
            ..*operation
        };
        let items_moved = items.iter().map(|entry| {
            let item = with_operations!(entry.value, arena, [get put post delete options head patch trace], moved);
            let servers = if item.servers.is_empty() { servers } else { item.servers };
            Entry { value: v3::PathItem { servers, ..item }, ..*entry }
        });
        Some(Map { entries: arena.alloc_slice_fill_iter(items_moved), ..items })
    }

    fn as_upstream_takes(self, _: &mut Vec<Note<'a>>) -> Self {
        self
    }

    fn differences(&self, first: &Self, notes: &mut Vec<Note<'a>>) {
        let at = self.at;
        differences!(notes, self, first, at, [openapi = "openapi",]);
        differences!(notes, self, first, self.info.map_or(at, |info| info.at), [info = "info",]);
        differences!(
            notes,
            self,
            first,
            self.external_docs.map_or(at, |docs| docs.at),
            [external_docs = "externalDocs",]
        );
        extensions(self.extensions, first.extensions, at, notes);
        if let Some(paths) = self.paths {
            extensions(paths.extensions, first.paths.map_or(&[], |paths| paths.extensions), paths.at, notes);
        }
        if let Some(components) = self.components {
            extensions(components.extensions, of_v3(first).extensions, components.at, notes);
        }
        other_tags(self.tags, first.tags, notes);
    }
}
