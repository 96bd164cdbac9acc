//! Shell completions of kinds and of field paths.

use kubeshape_registry::{Kind, Registry};
use kubeshape_schema::Bump;
use kubeshape_show::explain::{self as pages, Candidate, Request};
use std::collections::BTreeSet;

/// Returns the completions of a field path, one per line: kinds, and after a dot the fields of the kind.
pub(super) fn of_field(word: &str, api_version: Option<&str>, registry: &Registry, arena: &Bump) -> String {
    let fields = word.rsplit_once('.').and_then(|(above, _)| fields(above, api_version, registry, arena));
    fields.map_or_else(|| of_kind(word, registry), |fields| lines(word, &fields))
}

/// Returns the completions of a kind, one per line: names of resources, or kinds if the word begins with a capital
/// letter.
pub(super) fn of_kind(word: &str, registry: &Registry) -> String {
    let is_kind = word.starts_with(|first: char| first.is_ascii_uppercase());
    let stored = registry.kinds().filter(|kind| kind.resource().is_some());
    lines(word, &stored.map(|kind| if is_kind { kind.kind().to_owned() } else { kind.resource_name() }).collect())
}

fn lines(word: &str, all: &BTreeSet<String>) -> String {
    let fitting = all.iter().filter(|name| name.starts_with(word) && is_plain(name));
    fitting.flat_map(|name| [name.as_str(), "\n"]).collect()
}

/// Returns the paths of the fields directly below a path. Returns `None` if it is not a path.
fn fields(above: &str, api_version: Option<&str>, registry: &Registry, arena: &Bump) -> Option<BTreeSet<String>> {
    let request = Request::parse(above).ok()?;
    let is_asked = |kind: &&Kind| api_version.is_none_or(|version| kind.api_version() == version);
    let kinds: Vec<&Kind> = registry.by_name(request.resource()).iter().copied().filter(is_asked).collect();
    let resources: Vec<String> = kinds.iter().map(|kind| kind.resource_name()).collect();
    let candidates: Vec<Candidate<'_>> =
        kinds.iter().zip(&resources).map(|(kind, resource)| Candidate { resource, group: kind.group() }).collect();
    let (chosen, path) = request.choose(&candidates).ok()?;
    let (kind, resource) = (kinds.get(chosen?)?, resources.get(chosen?)?);
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let found = pages::fields(kind.openapi(arena)?, kind.gvr(resource), &path).ok()?;
    // `.ports[].number`: every name begins with a dot.
    let own = found.iter().filter(|field| field.path.matches('.').count() == path.len() + 1);
    let names = own.filter_map(|field| field.path.rsplit('.').next());
    Some(names.map(|name| format!("{above}.{}", name.trim_end_matches(['[', ']', '{', '}']))).collect())
}

/// Returns whether a name needs no quoting in a shell.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}
