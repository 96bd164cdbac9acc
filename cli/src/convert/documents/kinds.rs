//! The kinds of `--kind`, and their definitions.

use super::Settings;
use kubeshape_convert::document::Document;
use kubeshape_convert::graph;
use kubeshape_convert::jsonschema;
use kubeshape_schema::{Bump, Property};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// The wanted kinds, and which of them were found. If there are none, all kinds are wanted.
#[derive(Debug)]
pub(crate) struct Kinds(Vec<(String, AtomicBool)>);

impl Kinds {
    pub(super) fn new(names: &[String]) -> Kinds {
        Kinds(names.iter().map(|name| (name.clone(), AtomicBool::new(false))).collect())
    }

    /// Whether all are wanted.
    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a kind is wanted.
    pub(crate) fn has(&self, kind: KindName<'_>) -> bool {
        self.is_wanted(|wanted| {
            let wanted = graph::inline::Kind::parse(wanted);
            wanted.kind == kind.kind
                && wanted.version.is_none_or(|version| version == kind.version)
                && wanted.group.is_none_or(|group| group == kind.group)
        })
    }

    /// Whether a definition that is not a kind is wanted, by its name or, unless a kind has that name, its last part.
    fn has_definition(&self, name: &str, kinds: &BTreeSet<&str>) -> bool {
        let last = name.rsplit(['.', '/']).next().filter(|last| !kinds.contains(last));
        self.is_wanted(|wanted| wanted == name || Some(wanted) == last)
    }

    fn is_wanted(&self, is: impl Fn(&str) -> bool) -> bool {
        let wanted = self.0.iter().filter(|(wanted, _)| is(wanted));
        self.is_all() | (wanted.map(|(_, found)| found.store(true, Ordering::Relaxed)).count() > 0)
    }

    /// The wanted kinds that were not found.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, found)| !found.load(Ordering::Relaxed)).map(|(name, _)| name.as_str())
    }
}

/// A kind that has a result of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindName<'a> {
    pub(crate) kind: &'a str,
    pub(crate) group: &'a str,
    /// Empty for a definition that is not a kind; `kind` is then its name.
    pub(crate) version: &'a str,
}

/// The wanted kinds of a document, each with its definition. If a document has no kinds, all its definitions.
pub(super) fn wanted<'a>(
    document: &Document<'a>,
    arena: &'a Bump,
    settings: &Settings,
) -> Vec<(KindName<'a>, &'a Property<'a>)> {
    let definitions = document.definitions();
    let by_name: BTreeMap<&str, &Property<'a>> =
        definitions.iter().map(|definition| (definition.name, definition)).collect();
    let kinds = jsonschema::kinds(definitions.iter().map(|definition| (definition.name, &definition.schema)), arena);
    let of_kind = kinds.iter().filter_map(|(gvk, name)| {
        let kind = KindName { kind: gvk.kind(), group: gvk.group(), version: gvk.version() };
        Some((kind, *by_name.get(name)?)).filter(|_| settings.kinds.has(kind))
    });
    let mut out: Vec<(KindName<'a>, &Property<'a>)> = of_kind.collect();
    let is_kind: BTreeSet<&str> = kinds.iter().map(|(_, name)| *name).collect();
    let kind_names: BTreeSet<&str> = kinds.iter().map(|(gvk, _)| gvk.kind()).collect();
    let all = settings.kinds.is_all();
    let others = definitions.iter().filter(|definition| {
        !is_kind.contains(definition.name)
            && if all { kinds.is_empty() } else { settings.kinds.has_definition(definition.name, &kind_names) }
    });
    out.extend(others.map(|definition| {
        let kind = KindName { kind: definition.name, group: "", version: "" };
        (kind, definition)
    }));
    out
}
