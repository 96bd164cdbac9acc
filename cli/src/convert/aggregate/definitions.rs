//! CustomResourceDefinitions from the schemas of documents.

use super::{Results, formatted, placed};
use crate::args::{ScopeArg, Shape};
use crate::convert::plan::Target;
use crate::error::Fatal;
use crate::output::names;
use kubeshape_check::{Releases, settle};
use kubeshape_convert::crd::{self, Candidate, Kind3, Names, Source};
use kubeshape_discovery::Scope;
use kubeshape_input::Content;
use kubeshape_registry::{KindNames, resources_of_document};
use kubeshape_schema::{Code, Note};
use kubeshape_yaml::Node;
use std::collections::BTreeMap;

/// Names in an error message.
const LISTED: usize = 12;

/// The schemas of a definition.
#[derive(Default)]
struct Wanted<'a> {
    plural: Option<String>,
    scope: Option<Scope>,
    /// Version, number of the source, schema. Each version once.
    versions: Vec<(&'a str, usize, Node<'a>)>,
}

/// The wanted definitions by group and kind.
type ByKind<'a> = BTreeMap<(&'a str, &'a str), Wanted<'a>>;

impl<'a> Results<'_, 'a> {
    /// Converts the chosen schemas of all documents.
    pub(super) fn definitions(&mut self, target: Target) -> Result<(), Fatal> {
        self.without_form(target, |content| content == Content::Smd, "a structured-merge-diff schema is no document");
        let mut wanted = ByKind::new();
        let mut without = Vec::new();
        for number in 0..self.sources.len() {
            let content = self.sources[number].loaded.content();
            if !self.sources[number].is_published && (content.dialect().is_some() || content == Content::JsonSchema) {
                without.extend(self.choose(number, &mut wanted, target));
            }
        }
        // Of the documents of a server, some have no kinds: `api`, `apis/apps`, `version`.
        let code = if wanted.is_empty() { Code::ToCrdNothing } else { Code::ToCrdNoKinds };
        for (number, detail) in without {
            self.say(&[number], Note::new(code, 0, detail), target);
        }
        if self.settings.definitions.plural.is_some() && wanted.len() > 1 {
            let detail = "--plural names one resource: choose one schema with --kind";
            self.say(&[], Note::new(Code::ToCrdNothing, 0, detail), target);
            return Ok(());
        }
        for ((group, kind), wanted) in wanted {
            self.define(group, kind, wanted, target)?;
        }
        Ok(())
    }

    /// Chooses the schemas of a source. If all kinds are wanted and it has none, returns its number, and what it has.
    fn choose(&mut self, number: usize, wanted: &mut ByKind<'a>, target: Target) -> Option<(usize, String)> {
        let settings = self.settings;
        let root = self.sources[number].root();
        let candidates = crd::candidates(root);
        let resources = resources_of_document(root);
        let mut chosen = Vec::new();
        for candidate in &candidates {
            let name = self.name_of(candidate, number);
            let found = candidate
                .kind
                .and_then(|kind| resources.get(&(kind.group.into(), kind.version.into(), kind.kind.into())));
            let is_chosen = match candidate.kind {
                Some(Kind3 { group, version, kind }) => {
                    let (plural, singular) = found.map_or(("", ""), |found| (&*found.plural, &*found.singular));
                    settings.kinds.has(&KindNames { group, version, kind, plural, singular, ..KindNames::default() })
                }
                None => !settings.kinds.is_all() && settings.kinds.has_schema(name),
            };
            if is_chosen {
                chosen.push((candidate, name, found));
            }
        }
        if chosen.is_empty() {
            // With --kind, another document may have it; what is missing everywhere is reported.
            return settings.kinds.is_all().then(|| {
                let known: Vec<&str> = candidates.iter().map(|candidate| self.name_of(candidate, number)).collect();
                let more = if known.len() > LISTED { ", …" } else { "" };
                let known = known[..known.len().min(LISTED)].join(", ");
                let detail = if known.is_empty() {
                    "the document has no schemas".to_owned()
                } else {
                    format!("no schema is marked as a Kubernetes kind; choose with --kind and --group: {known}{more}")
                };
                (number, detail)
            });
        }
        for (candidate, name, found) in chosen {
            let at = candidate.node.index();
            let own: Kind3<'a> = match candidate.kind {
                Some(kind) => kind,
                None => Kind3 {
                    group: "",
                    version: self.arena.alloc_str(settings.definitions.crd_version.as_deref().unwrap_or("v1")),
                    kind: self.arena.alloc_str(&kind_name(name)),
                },
            };
            let group: &'a str = match (&settings.definitions.group, own.group) {
                (Some(group), _) => self.arena.alloc_str(group),
                (None, _) if candidate.kind.is_none() => {
                    let detail = format!("{name} is not marked as a Kubernetes kind: give its group with --group");
                    self.say(&[number], Note::new(Code::ToCrdNothing, at, detail), target);
                    continue;
                }
                (None, group) if group.contains('.') => group,
                (None, group) => {
                    let new = format!("{}.k8s.io", if group.is_empty() { "core" } else { group });
                    self.say(&[number], Note::new(Code::ToCrdGroup, at, format!("{group:?} is called {new}")), target);
                    self.arena.alloc_str(&new)
                }
            };
            let version = own.version;
            let slot = wanted.entry((group, own.kind)).or_default();
            if let Some(found) = found {
                slot.plural.get_or_insert_with(|| found.plural.to_string());
                slot.scope.get_or_insert(found.scope);
            }
            // Documents of several group versions repeat the definitions that they share.
            if slot.versions.iter().all(|(known, ..)| *known != version) {
                slot.versions.push((version, number, candidate.node));
            }
        }
        None
    }

    /// Returns the name of a schema; a JSON Schema without title is called like its file.
    fn name_of(&self, candidate: &Candidate<'a>, number: usize) -> &'a str {
        if !candidate.name.is_empty() {
            return candidate.name;
        }
        let file = self.sources[number].loaded.source().name();
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        file.split('.').next().filter(|stem| !stem.is_empty() && *stem != "-").unwrap_or("schema")
    }

    /// Converts the schemas of a definition.
    fn define(&mut self, group: &'a str, kind: &'a str, wanted: Wanted<'a>, target: Target) -> Result<(), Fatal> {
        let (settings, arena) = (self.settings, self.arena);
        let own = &settings.definitions;
        let mut names = Names::new(group, kind, arena);
        if let Some(plural) = own.plural.clone().or(wanted.plural) {
            names.plural = arena.alloc_str(&plural);
        }
        names.namespaced = match own.scope {
            Some(scope) => scope == ScopeArg::Namespaced,
            None => wanted.scope != Some(Scope::Cluster),
        };
        let mut versions = wanted.versions;
        versions.sort_by(|(a, ..), (b, ..)| kubeshape_discovery::version_order(a, b));
        let source = |(version, number, schema): &(&'a str, usize, Node<'a>)| Source {
            version,
            root: self.sources[*number].root(),
            schema: *schema,
        };
        let sources: Vec<Source<'a>> = versions.iter().map(source).collect();
        let most_bytes = own.crd_size.and_then(|size| usize::try_from(size).ok());
        let options = most_bytes.map_or_else(crd::Options::default, |most_bytes| crd::Options { most_bytes });
        let made = crd::definition(names, &sources, options, arena);
        let number = |version: usize| versions.get(version).map_or(0, |(_, number, _)| *number);
        for (version, note) in made.notes {
            self.say(&[number(version)], note, target);
        }
        let Some(mut definition) = made.definition else { return Ok(()) };
        let settled = settle(&mut definition, Releases::ALL, arena);
        for (version, note) in settled.notes {
            self.say(&[number(version)], note, target);
        }
        let of: Vec<usize> = versions.iter().map(|(_, number, _)| *number).collect();
        for problem in settled.left {
            let at = versions.first().map_or(0, |(.., schema)| schema.index());
            let detail = problem.note.detail;
            self.say(&of[..of.len().min(1)], Note::new(problem.note.code, at, detail), target);
        }
        let mut json = Vec::new();
        definition.print(&mut json);
        let folder = names::folder(definition.names.plural, definition.names.group);
        let name = format!("{folder}/{}", names::file(Shape::Crd, "", target.format));
        if let Some(bytes) = formatted(json, target, self.context, &mut Vec::new()) {
            let size = bytes.len() as u64;
            let output = placed(name.clone(), bytes, self.context)?;
            self.give(&of, &name, output, size, target);
        }
        Ok(())
    }
}

/// Returns the name of a schema as a kind: `pet-store.Pet` is `Pet`, `user_profile` is `UserProfile`.
fn kind_name(name: &str) -> String {
    let last = name.rsplit(['.', '/']).find(|part| part.contains(|c: char| c.is_ascii_alphabetic())).unwrap_or(name);
    let words = last.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    });
    let kind = words.collect::<String>();
    if kind.starts_with(|c: char| c.is_ascii_alphabetic()) { kind } else { format!("Kind{kind}") }
}
