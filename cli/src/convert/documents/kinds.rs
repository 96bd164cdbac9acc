//! The kinds of `--kind`, and their definitions.

use super::Settings;
use kubeshape_convert::document::Document;
use kubeshape_convert::jsonschema;
use kubeshape_registry::{KindNames, KindQuery, resources_of_document};
use kubeshape_schema::{Bump, Gvk, Property, did_you_mean, nearest};
use kubeshape_yaml::Tape;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The wanted kinds, and which of them were found. If empty, all kinds are wanted.
#[derive(Debug)]
pub(crate) struct Kinds {
    wanted: Vec<Wanted>,
    /// The kinds of the inputs, to name the nearest one.
    known: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
struct Wanted {
    name: String,
    query: KindQuery,
    found: AtomicBool,
}

/// A wanted kind that was not found.
#[derive(Debug)]
pub(crate) struct Missing<'k> {
    name: &'k str,
    nearest: Vec<String>,
}

impl fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no kind, resource or definition is called {}{}", self.name, did_you_mean(&self.nearest))
    }
}

impl Kinds {
    pub(super) fn new(names: &[String]) -> Kinds {
        let wanted =
            |name: &String| Wanted { name: name.clone(), query: KindQuery::new(name), found: AtomicBool::new(false) };
        Kinds { wanted: names.iter().map(wanted).collect(), known: Mutex::default() }
    }

    /// Returns whether all are wanted.
    pub(crate) fn is_all(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Returns whether a kind is wanted.
    pub(crate) fn has(&self, kind: &KindNames<'_>) -> bool {
        if self.is_all() {
            return true;
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.kind.to_owned());
        self.is_wanted(|wanted| wanted.query.fits(kind))
    }

    /// Returns whether every name matches one of these kinds. The paths of a document contain more names.
    fn all_fit(&self, kinds: &[KindNames<'_>]) -> bool {
        self.wanted.iter().all(|wanted| kinds.iter().any(|kind| wanted.query.fits(kind)))
    }

    /// Returns whether a definition that is not a kind is wanted, by its name or, unless a kind has that name, its last
    /// part.
    fn has_definition(&self, name: &str, kinds: &BTreeSet<&str>) -> bool {
        let last = name.rsplit(['.', '/']).next().filter(|last| !kinds.contains(last));
        self.is_wanted(|wanted| wanted.name == name || last.is_some_and(|last| last.eq_ignore_ascii_case(&wanted.name)))
    }

    /// Returns whether the options name a schema without a kind, by its name or the last part of it.
    pub(crate) fn has_schema(&self, name: &str) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        self.has_definition(name, &BTreeSet::new())
    }

    fn is_wanted(&self, is: impl Fn(&Wanted) -> bool) -> bool {
        let wanted = self.wanted.iter().filter(|wanted| is(wanted));
        self.is_all() | (wanted.map(|wanted| wanted.found.store(true, Ordering::Relaxed)).count() > 0)
    }

    /// Returns the wanted kinds that were not found.
    pub(crate) fn missing(&self) -> Vec<Missing<'_>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = self.wanted.iter().filter(|wanted| !wanted.found.load(Ordering::Relaxed));
        let of = |wanted: &'_ Wanted| {
            let word = wanted.name.rsplit('/').next().unwrap_or_default();
            let word = word.split('.').next().unwrap_or_default();
            nearest(word, known.iter().map(String::as_str))
        };
        missing.map(|wanted| Missing { name: &wanted.name, nearest: of(wanted) }).collect()
    }
}

/// A kind with its own result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindName<'a> {
    pub(crate) kind: &'a str,
    pub(crate) group: &'a str,
    /// Empty for a definition that is not a kind; `kind` is then its name.
    pub(crate) version: &'a str,
}

/// `Widget of example.com/v1`
impl fmt::Display for KindName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.group, self.version) {
            (_, "") => f.write_str(self.kind),
            ("", version) => write!(f, "{} of {version}", self.kind),
            (group, version) => write!(f, "{} of {group}/{version}", self.kind),
        }
    }
}

/// Returns the wanted kinds of a document, each with its definition. If a document has no kinds, all its definitions.
pub(super) fn wanted<'a>(
    document: &Document<'a>,
    arena: &'a Bump,
    settings: &Settings,
) -> Vec<(KindName<'a>, &'a Property<'a>)> {
    let definitions = document.definitions();
    let by_name: BTreeMap<&str, &Property<'a>> =
        definitions.iter().map(|definition| (definition.name, definition)).collect();
    let kinds = jsonschema::kinds(definitions.iter().map(|definition| (definition.name, &definition.schema)), arena);
    let names = named(document, &kinds, arena, settings);
    let of_kind = kinds.iter().zip(&names).filter_map(|((gvk, name), names)| {
        let kind = KindName { kind: gvk.kind(), group: gvk.group(), version: gvk.version() };
        Some((kind, *by_name.get(name)?)).filter(|_| settings.kinds.has(names))
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

/// Returns the names of the kinds of a document.
pub(super) fn names<'a>(document: &Document<'a>, arena: &'a Bump, settings: &Settings) -> Vec<KindNames<'a>> {
    let definitions = document.definitions().iter().map(|definition| (definition.name, &definition.schema));
    named(document, &jsonschema::kinds(definitions, arena), arena, settings)
}

fn named<'a>(
    document: &Document<'a>,
    kinds: &[(Gvk<'a>, &'a str)],
    arena: &'a Bump,
    settings: &Settings,
) -> Vec<KindNames<'a>> {
    let name = |(gvk, _): &(Gvk<'a>, &'a str)| KindNames {
        kind: gvk.kind(),
        group: gvk.group(),
        version: gvk.version(),
        ..KindNames::default()
    };
    let mut names: Vec<KindNames<'a>> = kinds.iter().map(name).collect();
    if !settings.kinds.is_all() && !settings.kinds.all_fit(&names) {
        name_by_paths(document, &mut names, arena, settings);
    }
    names
}

/// Adds the plural and singular names in the paths of a document.
fn name_by_paths<'a>(document: &Document<'_>, names: &mut [KindNames<'a>], arena: &'a Bump, settings: &Settings) {
    let (mut json, mut tape) = (Vec::new(), Tape::new());
    document.print(&mut json, settings.profile);
    let root = crate::output::format::read(&json, &mut tape).and_then(|source| tape.document(source).root());
    let Some(root) = root else { return };
    for (gvk, resource) in resources_of_document(root) {
        let is = |kind: &&mut KindNames<'_>| (kind.group, kind.version, kind.kind) == (&*gvk.0, &*gvk.1, &*gvk.2);
        for kind in names.iter_mut().filter(is) {
            kind.plural = arena.alloc_str(&resource.plural);
            kind.singular = arena.alloc_str(&resource.singular);
        }
    }
}
