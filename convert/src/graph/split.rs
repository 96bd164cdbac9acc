//! Splits a document into one document per group-version, as the API server does (`OpenAPI.InstallV3` and
//! `filterScopedGVKs` in `k8s.io/apiserver/pkg/server/routes`).
//!
//! Each document has the name under which a server lists it below `/openapi/v3`. For the paths of a resource this is
//! the part before the resource: `api/v1`, `apis/apps/v1`. For lists of versions and groups it is `api`, `apis` or
//! `apis/apps`. For every other path it is the path up to its first parameter: `version`, `openid/v1/jwks`, `logs`.
//!
//! Servers do not publish a part that no path reaches. Here these parts go into a document of their own, [`REST`], so
//! that nothing is lost and [`aggregate`](crate::aggregate) restores the whole document. A security scheme that no
//! operation requires belongs to the server, so every document contains it.
//!
//! Kinds that every group-version registers (`DeleteOptions` and `WatchEvent`) list all group-versions. As on the
//! server, the document of a group-version lists only itself and `v1`; other lists are not changed. A group-version
//! without a document of its own is still listed in [`REST`].

use super::{Graph, Link, PartIndex, Section};
use crate::document::Document;
use crate::kinds::{kind_of, kinds_of, sort_key, with_kinds};
use crate::model::Map;
use crate::v3;
use kubeshape_schema::{Bump, Converted, Json, Property, Schema};
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;

/// Name of the document with the parts that no path reaches.
pub const REST: &str = "components";

/// Name of the document with the path `/`.
const ROOT: &str = "root";

/// One of the documents into which a document is split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice<'a> {
    /// Its name, as in the index of `/openapi/v3`: `apis/apps/v1`.
    pub name: &'a str,
    /// The document.
    pub document: v3::Document<'a>,
}

/// Splits a document into documents per group-version, sorted by name, each with exactly what it reaches. There is at
/// least one. The notes are those of the [`Graph`].
///
/// # Example
/// ```
/// use kubeshape_convert::{graph::split, v3};
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"openapi": "3.0.0", "paths": {
///     "/version/": {}, "/apis/apps/v1/": {"get": {"responses": {"200": {"content": {"*/*": {
///         "schema": {"$ref": "#/components/schemas/List"}}}}}}}},
///   "components": {"schemas": {"List": {"type": "object"}}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let document = v3::read(root, &arena, Profile::Kube).value.unwrap();
/// let slices = split::split(&document, &arena).value;
/// let names: Vec<_> = slices.iter().map(|slice| slice.name).collect();
/// assert_eq!(names, ["apis/apps/v1", "version"]);
/// let mut out = Vec::new();
/// slices[1].document.print(&mut out, Profile::Kube);
/// assert_eq!(out, br#"{"openapi":"3.0.0","info":null,"paths":{"/version/":{}},"components":{}}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn split<'a>(document: &v3::Document<'a>, arena: &'a Bump) -> Converted<'a, Vec<Slice<'a>>> {
    let graph = Graph::of(&Document::V3(*document));
    let mut roots: BTreeMap<&'a str, Vec<PartIndex>> = BTreeMap::new();
    for path in graph.section(Section::Paths) {
        roots.entry(name_of(graph.part(path).name)).or_default().push(path);
    }
    let mut cutter = Cutter::new(document, &graph, arena);
    let mut slices = Vec::with_capacity(roots.len() + 1);
    // A path may have the name of the document for the rest.
    let mut rest = roots.remove(REST).unwrap_or_default();
    for (name, paths) in roots {
        slices.push(Slice { name, document: cutter.cut(&paths, group_version(name)) });
    }
    rest.extend(cutter.rest());
    if !rest.is_empty() || slices.is_empty() {
        slices.push(Slice { name: REST, document: cutter.cut(&rest, None) });
        slices.sort_by_key(|slice| slice.name);
    }
    Converted { value: slices, notes: graph.into_notes() }
}

/// Returns the name of the document to which a path belongs.
///
/// # Example
/// ```
/// use kubeshape_convert::graph::split::name_of;
/// assert_eq!(name_of("/apis/apps/v1/namespaces/{namespace}/deployments"), "apis/apps/v1");
/// assert_eq!(name_of("/apis/apps/"), "apis/apps");
/// assert_eq!(name_of("/api/v1/nodes"), "api/v1");
/// assert_eq!(name_of("/openid/v1/jwks/"), "openid/v1/jwks");
/// assert_eq!(name_of("/logs/{logpath}"), "logs");
/// ```
pub fn name_of(path: &str) -> &str {
    let path = path.trim_start_matches('/');
    let limit = match path.split('/').next() {
        Some("api") => 2,
        Some("apis") => 3,
        _ => usize::MAX,
    };
    let mut end = 0;
    for (i, segment) in path.split('/').enumerate() {
        if i >= limit || segment.contains('{') {
            break;
        }
        end += segment.len() + usize::from(i > 0);
    }
    let name = path[..end].trim_end_matches('/');
    if name.is_empty() { ROOT } else { name }
}

/// Returns the group and version in a document's name, if it has both.
///
/// # Example
/// ```
/// use kubeshape_convert::graph::split::group_version;
/// assert_eq!(group_version("apis/apps/v1"), Some(("apps", "v1")));
/// assert_eq!(group_version("api/v1"), Some(("", "v1")));
/// assert_eq!(group_version("apis/apps"), None);
/// ```
pub fn group_version(name: &str) -> Option<(&str, &str)> {
    let mut segments = name.split('/');
    match (segments.next(), segments.next(), segments.next(), segments.next()) {
        (Some("api"), Some(version), None, None) => Some(("", version)),
        (Some("apis"), Some(group), Some(version), None) => Some((group, version)),
        _ => None,
    }
}

struct Cutter<'g, 'a> {
    document: &'g v3::Document<'a>,
    components: v3::Components<'a>,
    graph: &'g Graph<'a>,
    arena: &'a Bump,
    /// For each part, the number of the last document that reached it; 0 is none.
    reached: Vec<u32>,
    cuts: u32,
    /// Security schemes that belong to every document.
    common: Vec<PartIndex>,
    /// Lists of kinds that are reduced, by number of the definition, and which of their kinds are in some document.
    kinds: BTreeMap<usize, (Kinds<'a>, Vec<bool>)>,
}

/// Group and version of every kind in a list, and the list.
struct Kinds<'a> {
    group_versions: Vec<(&'a str, &'a str)>,
    list: &'a [Json<'a>],
}

impl<'g, 'a> Cutter<'g, 'a> {
    fn new(document: &'g v3::Document<'a>, graph: &'g Graph<'a>, arena: &'a Bump) -> Self {
        let components = document.components.copied().unwrap_or_default();
        let everywhere: Vec<&str> =
            document.security.unwrap_or_default().iter().flat_map(Map::iter).map(|entry| entry.name).collect();
        let required = |scheme: &PartIndex| {
            graph.inner().edges_directed(*scheme, petgraph::Direction::Incoming).any(|edge| {
                edge.weight().link == Link::Requirement && graph.part(edge.source()).section == Section::Paths
            })
        };
        let common = graph
            .section(Section::SecuritySchemes)
            .filter(|scheme| everywhere.contains(&graph.part(*scheme).name) || !required(scheme))
            .collect();
        let mut kinds = BTreeMap::new();
        for (i, definition) in components.schemas.iter().enumerate() {
            if let Some(list) = registered_everywhere(&definition.schema) {
                let unseen = vec![false; list.list.len()];
                kinds.insert(i, (list, unseen));
            }
        }
        Cutter { document, components, graph, arena, reached: vec![0; graph.len()], cuts: 0, common, kinds }
    }

    /// Returns the document with what the parts reach.
    fn cut(&mut self, roots: &[PartIndex], group_version: Option<(&str, &str)>) -> v3::Document<'a> {
        self.cuts += 1;
        let mut found = Vec::new();
        let mut stack = roots.to_vec();
        stack.extend(&self.common);
        while let Some(part) = stack.pop() {
            if self.reached[part.index()] == self.cuts {
                continue;
            }
            self.reached[part.index()] = self.cuts;
            found.push(part);
            stack.extend(self.graph.inner().neighbors(part));
        }
        found.sort_unstable();
        let mut by_section: [Vec<usize>; Section::ALL.len()] = Default::default();
        for part in found {
            by_section[self.graph.part(part).section.number()].push(self.graph.within(part));
        }
        let chosen = |section: Section| by_section[section.number()].as_slice();
        let c = self.components;
        let components = v3::Components {
            schemas: self.schemas(chosen(Section::Schemas), group_version),
            parameters: self.members(c.parameters, chosen(Section::Parameters)),
            responses: self.members(c.responses, chosen(Section::Responses)),
            request_bodies: self.members(c.request_bodies, chosen(Section::RequestBodies)),
            headers: self.members(c.headers, chosen(Section::Headers)),
            examples: self.members(c.examples, chosen(Section::Examples)),
            links: self.members(c.links, chosen(Section::Links)),
            callbacks: self.members(c.callbacks, chosen(Section::Callbacks)),
            security_schemes: self.members(c.security_schemes, chosen(Section::SecuritySchemes)),
            extensions: c.extensions,
            at: c.at,
        };
        let paths = self.document.paths.map(|paths| {
            let items = Map { present: true, ..self.members(paths.items, chosen(Section::Paths)) };
            &*self.arena.alloc(v3::Paths { items, ..*paths })
        });
        let components = self.document.components.map(|_| &*self.arena.alloc(components));
        v3::Document { paths, components, ..*self.document }
    }

    fn members<T: Copy>(&self, map: Map<'a, T>, chosen: &[usize]) -> Map<'a, T> {
        if chosen.len() == map.entries.len() {
            return map;
        }
        if chosen.is_empty() {
            return Map::default();
        }
        Map::new(self.arena.alloc_slice_fill_iter(chosen.iter().map(|i| map.entries[*i])))
    }

    fn schemas(&mut self, chosen: &[usize], group_version: Option<(&str, &str)>) -> &'a [Property<'a>] {
        let arena = self.arena;
        let schemas = self.components.schemas;
        arena.alloc_slice_fill_iter(chosen.iter().map(|i| {
            let definition = schemas[*i];
            match self.kinds.get_mut(i) {
                None => definition,
                Some((kinds, seen)) => {
                    Property { schema: narrowed(&definition.schema, kinds, seen, group_version, arena), ..definition }
                }
            }
        }))
    }

    /// Returns the parts that no document has yet, or not with all its kinds.
    fn rest(&self) -> Vec<PartIndex> {
        let mut out: Vec<PartIndex> = self
            .graph
            .inner()
            .node_indices()
            .filter(|part| {
                self.reached[part.index()] == 0 && self.graph.part(*part).section != Section::SecuritySchemes
            })
            .collect();
        let partly = self.kinds.iter().filter(|(_, (_, seen))| seen.contains(&false));
        out.extend(partly.map(|(i, _)| PartIndex::new(*i)));
        out
    }
}

/// Returns the schema with the kinds of one group-version and of `v1`, or with all if that leaves none.
fn narrowed<'a>(
    schema: &Schema<'a>,
    kinds: &Kinds<'a>,
    seen: &mut [bool],
    group_version: Option<(&str, &str)>,
    arena: &'a Bump,
) -> Schema<'a> {
    let own = |of: (&str, &str)| group_version == Some(of) || of == ("", "v1");
    let kept = |i: &usize| group_version.is_some() && own(kinds.group_versions[*i]);
    let chosen: Vec<usize> = (0..kinds.list.len()).filter(kept).collect();
    if chosen.is_empty() {
        seen.fill(true);
        return *schema;
    }
    for i in &chosen {
        seen[*i] = true;
    }
    if chosen.len() == kinds.list.len() {
        return *schema;
    }
    let list = Json::Array(arena.alloc_slice_fill_iter(chosen.iter().map(|i| kinds.list[*i])));
    with_kinds(schema, list, arena)
}

/// Returns the list of a kind that every group-version registers, if it is in the order in which lists are united: only
/// such a list can be restored.
fn registered_everywhere<'a>(schema: &Schema<'a>) -> Option<Kinds<'a>> {
    let list = kinds_of(schema).filter(|list| list.len() > 1)?;
    let kinds: Vec<_> = list.iter().map(kind_of).collect::<Option<_>>()?;
    let (_, _, first) = kinds[0];
    if !matches!(first, "DeleteOptions" | "WatchEvent") {
        return None;
    }
    let keys: Vec<String> = kinds.iter().map(|kind| sort_key(*kind)).collect();
    let sorted = keys.windows(2).all(|pair| pair[0] < pair[1]);
    let group_versions = kinds.iter().map(|(group, version, _)| (*group, *version)).collect();
    sorted.then_some(Kinds { group_versions, list })
}
