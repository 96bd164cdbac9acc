//! Definitions without references, each built once.

use super::feedback::feedback;
use super::merge::{merged, settled};
use super::{Options, Recursion, is_followed};
use crate::graph::{Graph, Link, PartIndex, Section, Target};
use crate::model::{Site, map_schema};
use crate::v3;
use kubeshape_schema::{Additional, Bump, Code, Extra, Flags, Items, Note, Property, Schema, Type, print};
use kubeshape_yaml::pointer;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

/// A schema without references, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    pub(super) schema: Schema<'a>,
    /// The number of schemas in it, including itself.
    schemas: u64,
    /// The size of its contents in bytes.
    bytes: u64,
    /// Its depth in objects and arrays.
    depth: u32,
}

/// Replaces references.
#[derive(Debug)]
pub(super) struct Inliner<'g, 'a> {
    pub(super) document: &'g v3::Document<'a>,
    pub(super) components: v3::Components<'a>,
    graph: &'g Graph<'a>,
    pub(super) arena: &'a Bump,
    options: Options,
    /// The definitions that stay, so that every cycle contains one.
    kept: Vec<bool>,
    /// The cycle to which a definition belongs. Every definition outside of cycles has its own number.
    circles: Vec<usize>,
    bodies: Vec<Option<Body<'a>>>,
    /// The targets of references into definitions, by their address.
    inner: HashMap<usize, Body<'a>>,
    /// Definitions that must stay, because a reference into them stays.
    pointed_into: Vec<usize>,
    /// Callbacks that contain themselves, sorted.
    callbacks: Vec<&'a str>,
    /// The number of schemas and operations of the document so far.
    total: u64,
    /// Their size in bytes.
    bytes: u64,
    deepest: u32,
    notes: Vec<Note<'a>>,
}

/// The replacement of a reference.
enum Instead<'a> {
    /// The reference.
    Itself,
    Body(Body<'a>),
    /// A value of this type with any contents.
    Anything(Type),
}

impl<'g, 'a> Inliner<'g, 'a> {
    pub(super) fn new(document: &'g v3::Document<'a>, graph: &'g Graph<'a>, options: Options, arena: &'a Bump) -> Self {
        let components = document.components.copied().unwrap_or_default();
        let count = components.schemas.len();
        let mut inliner = Inliner {
            document,
            components,
            graph,
            arena,
            options,
            kept: vec![false; count],
            circles: vec![0; count],
            bodies: vec![None; count],
            inner: HashMap::new(),
            pointed_into: Vec::new(),
            callbacks: Vec::new(),
            total: 0,
            bytes: 0,
            deepest: 0,
            notes: Vec::new(),
        };
        if !components.callbacks.is_empty() {
            let parts = graph.recursive().into_iter().flatten().map(|part| graph.part(part));
            inliner.callbacks = parts.filter(|part| part.section == Section::Callbacks).map(|part| part.name).collect();
            inliner.callbacks.sort_unstable();
        }
        inliner.choose();
        for definition in inliner.order() {
            let schema = &components.schemas[definition].schema;
            let body = inliner.inlined(schema, Some(inliner.circles[definition]));
            inliner.bodies[definition] = Some(body);
        }
        inliner
    }

    /// Returns the definitions to which a definition refers, without duplicates.
    fn successors(&self, definition: usize) -> Vec<usize> {
        let mut out: Vec<usize> = self
            .graph
            .inner()
            .edges(PartIndex::new(definition))
            .filter(|edge| is_followed(edge.weight().link))
            .map(|edge| edge.target().index())
            .filter(|to| *to < self.bodies.len())
            .collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Finds the cycles and chooses the definitions that stay.
    fn choose(&mut self) {
        let mut graph: DiGraph<(), (), u32> = DiGraph::default();
        for _ in 0..self.bodies.len() {
            graph.add_node(());
        }
        for from in 0..self.bodies.len() {
            for to in self.successors(from) {
                graph.add_edge(PartIndex::new(from), PartIndex::new(to), ());
            }
        }
        for (number, mut circle) in kosaraju_scc(&graph).into_iter().enumerate() {
            circle.sort_unstable();
            let local = |part: usize| circle.binary_search(&PartIndex::new(part)).ok();
            for part in &circle {
                self.circles[part.index()] = number;
            }
            let successors: Vec<Vec<usize>> = circle
                .iter()
                .map(|part| self.successors(part.index()).into_iter().filter_map(local).collect())
                .collect();
            for chosen in feedback(&successors) {
                self.kept[circle[chosen].index()] = true;
            }
        }
    }

    /// Returns whether a reference between definitions is not followed.
    fn stays(&self, from: Option<usize>, to: usize) -> bool {
        self.kept[to]
            && match self.options.recursion {
                Recursion::Keep => true,
                Recursion::Cut => from == Some(self.circles[to]),
            }
    }

    /// Returns all definitions, each after those that it contains.
    fn order(&self) -> Vec<usize> {
        let mut out = Vec::with_capacity(self.bodies.len());
        let mut entered = vec![false; self.bodies.len()];
        let mut stack: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
        for start in 0..self.bodies.len() {
            if std::mem::replace(&mut entered[start], true) {
                continue;
            }
            stack.push((start, self.successors(start).into_iter()));
            while let Some((definition, successors)) = stack.last_mut() {
                let from = Some(self.circles[*definition]);
                let next = successors.find(|to| !entered[*to] && !self.stays(from, *to));
                if let Some(next) = next {
                    entered[next] = true;
                    stack.push((next, self.successors(next).into_iter()));
                } else {
                    out.push(*definition);
                    stack.pop();
                }
            }
        }
        out
    }

    /// Inlines a schema outside of definitions.
    pub(super) fn schema(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        if self.total > self.options.schemas || self.bytes > self.options.bytes {
            // It exceeds the limit already.
            return *schema;
        }
        let body = self.inlined(schema, None);
        self.count(&body);
        body.schema
    }

    /// Counts an operation. Returns whether the limit allows it.
    pub(super) fn counts_operation(&mut self) -> bool {
        self.total = self.total.saturating_add(1);
        self.total <= self.options.schemas
    }

    /// Returns whether a callback contains itself, so that references to it stay.
    pub(super) fn is_recursive(&self, callback: &str) -> bool {
        self.callbacks.binary_search(&callback).is_ok()
    }

    fn count(&mut self, body: &Body<'a>) {
        self.total = self.total.saturating_add(body.schemas);
        self.bytes = self.bytes.saturating_add(body.bytes);
        self.deepest = self.deepest.max(body.depth);
    }

    /// Returns the schema without references. `circle` is that of the definition that contains it.
    fn inlined(&mut self, schema: &Schema<'a>, circle: Option<usize>) -> Body<'a> {
        let (mut schemas, mut bytes, mut depth) = (1u64, own_bytes(schema), 0u32);
        let arena = self.arena;
        let out = map_schema(schema, arena, &mut |site, inner| {
            let body = self.inlined(inner, circle);
            schemas = schemas.saturating_add(body.schemas);
            bytes = bytes.saturating_add(body.bytes);
            depth = depth.max(body.depth.saturating_add(steps(schema, site)));
            body.schema
        });
        let depth = depth.max(1);
        let out = settled(out);
        if !out.reference.is_empty() {
            return match self.instead(schema, circle) {
                Instead::Itself => Body { schema: out, schemas, bytes, depth },
                Instead::Anything(ty) => Body { schema: anything(&out, ty), schemas, bytes, depth },
                Instead::Body(base) => {
                    let own = settled(Schema { reference: "", ..out });
                    let (schema, in_one) = merged(&base.schema, &own, arena);
                    // Merged, the two are one schema.
                    let (fewer, deeper) = if in_one { (1, 0) } else { (0, 2) };
                    Body {
                        schema,
                        schemas: (schemas - fewer).saturating_add(base.schemas),
                        bytes: bytes.saturating_add(base.bytes),
                        depth: base.depth.saturating_add(deeper).max(depth),
                    }
                }
            };
        }
        // A wrapped reference, which can have siblings.
        if let ([wrapped], [branch]) = (schema.extra().all_of, out.extra().all_of)
            && !wrapped.reference.is_empty()
            && branch.reference.is_empty()
        {
            let extra = Extra { all_of: &[], ..*out.extra() };
            let own = settled(Schema { extra: Some(arena.alloc(extra)), ..out });
            if let (schema, true) = merged(branch, &own, arena) {
                return Body { schema, schemas, bytes, depth };
            }
        }
        Body { schema: out, schemas, bytes, depth }
    }

    fn instead(&mut self, schema: &Schema<'a>, circle: Option<usize>) -> Instead<'a> {
        let target = Target::of(schema.reference, self.graph.dialect());
        let Target::Named { section: Section::Schemas, name, rest } = target else { return Instead::Itself };
        let Some(to) = self.graph.find(Section::Schemas, &name).map(PartIndex::index) else { return Instead::Itself };
        let definition = &self.components.schemas[to];
        if self.stays(circle, to) {
            return match self.options.recursion {
                Recursion::Keep => Instead::Itself,
                Recursion::Cut if rest.is_empty() => {
                    let plain = !definition.schema.flags.any(Flags::NULLABLE);
                    Instead::Anything(if plain { definition.schema.ty } else { Type::Absent })
                }
                Recursion::Cut => Instead::Anything(Type::Absent),
            };
        }
        if rest.is_empty() {
            return self.bodies[to].map_or(Instead::Itself, Instead::Body);
        }
        let Some(inner) = within(&definition.schema, &rest) else {
            self.pointed_into.push(to);
            return Instead::Itself;
        };
        let address = std::ptr::from_ref(inner).addr();
        let body = match self.inner.get(&address) {
            Some(body) => *body,
            None => self.inlined(inner, Some(self.circles[to])),
        };
        self.inner.insert(address, body);
        Instead::Body(body)
    }

    /// Returns the components that are reached in a document, with `wanted` definitions.
    pub(super) fn components(&mut self, reached: &[PartIndex], wanted: &[PartIndex]) -> v3::Components<'a> {
        let mut stays: BTreeSet<usize> = wanted.iter().map(|part| part.index()).collect();
        let reached_at_all = self.graph.reached_from(reached.iter().chain(wanted).copied());
        let mut pointed_at: Vec<PartIndex> = Vec::new();
        for part in &reached_at_all {
            for edge in self.graph.inner().edges(*part) {
                let to = edge.target();
                match edge.weight().link {
                    Link::Mapping => {
                        stays.insert(to.index());
                    }
                    Link::Inner if self.graph.part(to).section != Section::Schemas => pointed_at.push(to),
                    _ => {}
                }
            }
            let index = part.index();
            if index < self.kept.len() && self.kept[index] {
                let Property { name, at, .. } = self.components.schemas[index];
                let code = match self.options.recursion {
                    Recursion::Keep => {
                        stays.insert(index);
                        Code::RecursionKept
                    }
                    Recursion::Cut => Code::RecursionCut,
                };
                self.notes.push(Note::new(code, at, name));
            }
        }
        stays.extend(&self.pointed_into);
        for index in &stays {
            if let Some(body) = self.bodies[*index] {
                self.count(&body);
            }
        }
        let schemas = self.arena.alloc_slice_fill_iter(stays.iter().map(|index| {
            let definition = self.components.schemas[*index];
            Property { schema: self.bodies[*index].map_or(definition.schema, |body| body.schema), ..definition }
        }));
        pointed_at.sort_unstable();
        let mut components = self.other_components(|section, name| {
            let Some(part) = self.graph.find(section, name) else { return false };
            let recursive = section == Section::Callbacks && self.is_recursive(name);
            pointed_at.binary_search(&part).is_ok() || (recursive && reached_at_all.binary_search(&part).is_ok())
        });
        components.callbacks = self.shared_callbacks(components.callbacks);
        if !self.fits() {
            self.note_growth(&reached_at_all);
        }
        v3::Components { schemas, ..components }
    }

    /// Notes which definition is too large and why.
    fn note_growth(&mut self, reached: &[PartIndex]) {
        let bodies: Vec<(usize, Body<'a>)> =
            reached.iter().filter_map(|part| Some((part.index(), (*self.bodies.get(part.index())?)?))).collect();
        let Options { schemas: budget, bytes, depth: limit, .. } = self.options;
        let too_large = |body: &Body<'_>| body.schemas > budget || body.bytes > bytes || body.depth > limit;
        // The smallest definition that is too large is the cause. If none is, their sum is, and the largest contributes
        // most.
        let smallest =
            bodies.iter().filter(|(_, body)| too_large(body)).min_by_key(|(i, body)| (body.schemas, body.depth, *i));
        let largest = || bodies.iter().max_by_key(|(i, body)| (body.schemas, std::cmp::Reverse(*i)));
        // Bytes are mentioned only if they are the only limit that is exceeded.
        let is_about_bytes = self.total <= budget && self.deepest <= limit;
        let size = |schemas: u64, own: u64, depth: u32| match own {
            _ if !is_about_bytes => size(schemas, depth),
            u64::MAX => format!("{}, too many bytes to count", size(schemas, depth)),
            own => format!("{}, {own} bytes", size(schemas, depth)),
        };
        let whole = format!("the document has {}", size(self.total, self.bytes, self.deepest));
        let limits = if is_about_bytes {
            format!("more than {budget}, {limit} or {bytes}")
        } else {
            format!("more than {budget} or {limit}")
        };
        let Some((index, body)) = smallest.or_else(largest) else {
            let at = self.document.at;
            return self.notes.push(Note::new(Code::InlineBudget, at, format!("{whole}, {limits}")));
        };
        let definition = self.components.schemas[*index];
        let (name, parts) = (definition.name, self.growth(*index));
        let detail = if too_large(body) {
            format!("{name} has {}, {limits}: {parts}", size(body.schemas, body.bytes, body.depth))
        } else {
            format!("{whole}, {limits}; {name} has {}: {parts}", size(body.schemas, body.bytes, body.depth))
        };
        self.notes.push(Note::new(Code::InlineBudget, definition.at, detail));
    }

    /// Returns the chain of definitions in a definition: of each the one that adds most.
    fn growth(&self, mut index: usize) -> String {
        const SHOWN: usize = 8;
        let mut out = self.components.schemas[index].name.to_owned();
        for shown in 0.. {
            let mut times: BTreeMap<usize, u64> = BTreeMap::new();
            let circle = Some(self.circles[index]);
            for edge in self.graph.inner().edges(PartIndex::new(index)) {
                let to = edge.target().index();
                if is_followed(edge.weight().link) && to < self.bodies.len() && !self.stays(circle, to) {
                    *times.entry(to).or_default() += 1;
                }
            }
            let adds = |(to, times): &(&usize, &u64)| {
                let body = self.bodies[**to];
                body.map_or((0, 0), |body| (body.schemas.saturating_mul(**times), body.depth))
            };
            let Some((to, times)) = times.iter().max_by_key(|entry| (adds(entry), std::cmp::Reverse(*entry.0))) else {
                break;
            };
            if shown == SHOWN {
                out.push_str(" → …");
                break;
            }
            out.push_str(" → ");
            if *times > 1 {
                let _ = write!(out, "{times} × ");
            }
            out.push_str(self.components.schemas[*to].name);
            index = *to;
        }
        out
    }

    /// Returns whether the document is within the limits, and the notes.
    pub(super) fn into_notes(self) -> (bool, Vec<Note<'a>>) {
        (self.fits(), self.notes)
    }

    fn fits(&self) -> bool {
        let Options { schemas, bytes, depth, .. } = self.options;
        self.total <= schemas && self.bytes <= bytes && self.deepest <= depth
    }
}

/// Returns how many levels deeper an inner schema is.
fn steps(schema: &Schema<'_>, site: Site) -> u32 {
    match site {
        Site::Items if matches!(schema.items, Some(Items::One(_))) => 1,
        Site::Not => 1,
        Site::Additional if schema.extra().pattern_properties.is_empty() => 1,
        _ => 2,
    }
}

/// Returns the size of a schema in bytes, without its inner schemas.
fn own_bytes(schema: &Schema<'_>) -> u64 {
    let extra = Extra {
        all_of: &[],
        any_of: &[],
        one_of: &[],
        not: None,
        pattern_properties: &[],
        dependencies: &[],
        definitions: &[],
        additional_items: None,
        ..*schema.extra()
    };
    let names = schema.properties.iter().chain(schema.extra().pattern_properties).chain(schema.extra().definitions);
    // With quotes, a colon and a comma.
    let names: usize = names.map(|property| property.name.len() + 4).sum();
    let own = Schema { properties: &[], items: None, additional: None, extra: Some(&extra), ..*schema };
    let mut out = Vec::new();
    print::schema(&mut out, &own, print::Style::V3);
    (out.len() + names) as u64
}

fn size(schemas: u64, depth: u32) -> String {
    if schemas == u64::MAX {
        format!("too many schemas to count, {depth} levels deep")
    } else {
        format!("{schemas} schemas, {depth} levels deep")
    }
}

/// Returns a schema for any value, with the siblings of the reference.
fn anything<'a>(own: &Schema<'a>, ty: Type) -> Schema<'a> {
    let mut out = Schema { reference: "", ..*own };
    if out.ty == Type::Absent && ty == Type::Object {
        out.ty = ty;
    }
    out.flags.set(Flags::PRESERVE_UNKNOWN, true);
    settled(out)
}

/// Returns what a JSON pointer points at in a schema.
fn within<'a>(schema: &'a Schema<'a>, pointer: &str) -> Option<&'a Schema<'a>> {
    let mut tokens = pointer.strip_prefix('/')?.split('/');
    let mut schema = schema;
    while let Some(token) = tokens.next() {
        let extra = schema.extra();
        let mut one_of = |list: &'a [Schema<'a>]| list.get(tokens.next()?.parse::<usize>().ok()?);
        schema = match token {
            "items" => match schema.items? {
                Items::One(item) => item,
                Items::Many(items) => one_of(items)?,
            },
            "allOf" => one_of(extra.all_of)?,
            "anyOf" => one_of(extra.any_of)?,
            "oneOf" => one_of(extra.one_of)?,
            "not" => extra.not?,
            "additionalProperties" => match schema.additional? {
                Additional::Schema(inner) => inner,
                Additional::Allowed(_) => return None,
            },
            "properties" => schema.property(&pointer::unescape(tokens.next()?))?,
            _ => return None,
        };
    }
    Some(schema)
}
