//! The targets of references within a document.

use kubeshape_schema::{Additional, Flags, Items, Schema, Type};
use kubeshape_yaml::{percent, pointer};
use std::borrow::Cow;

/// Returns the reference of a schema: its own, or that of the only branch of its `allOf`.
#[inline]
pub(super) fn reference_of<'s>(schema: &Schema<'s>) -> Option<&'s str> {
    let reference = match (schema.reference, schema.extra().all_of) {
        ("", [only]) => only.reference,
        (reference, _) => reference,
    };
    (!reference.is_empty()).then_some(reference)
}

/// Returns the reference of a schema that is only a reference. Siblings of a branch of `allOf` have a meaning and would
/// be lost; siblings of a `$ref` are ignored.
pub(super) fn pure_reference<'s>(schema: &Schema<'s>) -> Option<&'s str> {
    let reference = reference_of(schema)?;
    let branch = schema.reference.is_empty();
    let own = !schema.properties.is_empty()
        || schema.items.is_some()
        || schema.additional.is_some()
        || !matches!(schema.ty, Type::Absent | Type::Object)
        || schema.flags.any(Flags::PRESERVE_UNKNOWN);
    (!branch || !own).then_some(reference)
}

/// Returns the string after the last slash, by which Kubernetes finds a definition.
#[inline]
pub(super) fn last_segment(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// The target of a reference.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target<'m> {
    /// The definition at that index.
    Definition(usize),
    /// A schema inside a definition, and the name of its type: the pointer after the section.
    Inner(&'m str, &'m Schema<'m>),
    /// Not a schema of this document.
    Nowhere,
}

/// The definitions that references can point to. They are found in logarithmic time.
pub(super) struct Targets<'m> {
    models: &'m [(&'m str, &'m Schema<'m>)],
    /// Indices of the definitions, sorted by name.
    by_name: Vec<u32>,
    /// For each definition, the definition to which references to it resolve: itself or, if it is only a reference, the
    /// final target of that reference.
    ends: Vec<Target<'m>>,
}

/// How many references between schemas inside definitions are followed in a row.
const MAX_HOPS: usize = 32;

impl<'m> Targets<'m> {
    pub(super) fn new(models: &'m [(&'m str, &'m Schema<'m>)]) -> Self {
        let mut by_name: Vec<u32> = (0..models.len() as u32).collect();
        by_name.sort_by_key(|at| models[*at as usize].0);
        let mut targets = Targets { models, by_name, ends: (0..models.len()).map(Target::Definition).collect() };
        targets.follow();
        targets
    }

    /// Follows every chain of definitions that are only references, each once.
    fn follow(&mut self) {
        let mut done = vec![false; self.models.len()];
        let mut chain = Vec::new();
        for start in 0..self.models.len() {
            let mut at = start;
            let end = loop {
                if done[at] {
                    // This is also true for the first of a cycle, which resolves to itself so far.
                    break if chain.contains(&at) { Target::Nowhere } else { self.ends[at] };
                }
                done[at] = true;
                chain.push(at);
                let Some(reference) = alias(self.models[at].1) else {
                    break Target::Definition(at);
                };
                match self.step(reference) {
                    Target::Definition(next) => at = next,
                    other => break other,
                }
            };
            for at in chain.drain(..) {
                self.ends[at] = end;
            }
        }
    }

    /// Returns the definition at that index, or the final target if the definition is only a reference.
    pub(super) fn end(&self, at: usize) -> Target<'m> {
        self.ends[at]
    }

    /// Returns the name of the definition at that index.
    pub(super) fn name(&self, at: usize) -> &'m str {
        self.models[at].0
    }

    /// Returns the final target of a reference.
    pub(super) fn find(&self, reference: &'m str) -> Target<'m> {
        let mut target = self.step(reference);
        for _ in 0..MAX_HOPS {
            match target {
                Target::Definition(at) => target = self.ends[at],
                Target::Inner(..) | Target::Nowhere => {}
            }
            match target {
                Target::Inner(_, schema) => match alias(schema) {
                    Some(reference) => target = self.step(reference),
                    None => return target,
                },
                other => return other,
            }
        }
        Target::Nowhere
    }

    /// Returns the direct target of a reference.
    fn step(&self, reference: &'m str) -> Target<'m> {
        let sections = ["#/components/schemas/", "#/definitions/"];
        let Some(rest) = sections.iter().find_map(|section| reference.strip_prefix(section)) else {
            return Target::Nowhere;
        };
        let Some(decoded) = percent_decoded(rest) else { return Target::Nowhere };
        // A name without escapes is tried first, even if it looks like a pointer.
        if let Some(at) = self.definition(&decoded).or_else(|| self.definition(&pointer::unescape(&decoded))) {
            return Target::Definition(at);
        }
        let mut segments = decoded.split('/');
        let inner = segments
            .next()
            .and_then(|name| self.definition(&pointer::unescape(name)))
            .and_then(|at| inner(self.models[at].1, segments));
        inner.map_or(Target::Nowhere, |schema| Target::Inner(rest, schema))
    }

    fn definition(&self, name: &str) -> Option<usize> {
        let at = self.by_name.binary_search_by(|at| self.models[*at as usize].0.cmp(name)).ok()?;
        Some(self.by_name[at] as usize)
    }
}

/// Returns the reference of a definition that is only another name for its target. A definition with extensions that
/// affect merging is not, because they would be lost.
fn alias<'s>(schema: &Schema<'s>) -> Option<&'s str> {
    pure_reference(schema).filter(|_| schema.extra().map_type.is_none())
}

/// Returns the target of a pointer that starts at another schema.
fn inner<'m>(mut schema: &'m Schema<'m>, mut segments: std::str::Split<'_, char>) -> Option<&'m Schema<'m>> {
    while let Some(segment) = segments.next() {
        let extra = schema.extra();
        let branches = match segment {
            "allOf" => extra.all_of,
            "anyOf" => extra.any_of,
            "oneOf" => extra.one_of,
            "items" => match schema.items? {
                Items::One(item) => {
                    schema = item;
                    continue;
                }
                Items::Many(items) => items,
            },
            _ => {
                schema = match segment {
                    "properties" => schema.property(&pointer::unescape(segments.next()?))?,
                    "additionalProperties" => match schema.additional? {
                        Additional::Schema(inner) => inner,
                        Additional::Allowed(_) => return None,
                    },
                    "not" => extra.not?,
                    _ => return None,
                };
                continue;
            }
        };
        schema = branches.get(segments.next()?.parse::<usize>().ok()?)?;
    }
    Some(schema)
}

/// Decodes the escapes of URLs; `None` if the result is not UTF-8.
fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    match percent::decode_strict(text)? {
        Cow::Borrowed(_) => Some(Cow::Borrowed(text)),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}
