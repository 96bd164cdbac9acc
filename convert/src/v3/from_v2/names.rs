//! Names of components, and the targets of references in v3.

use super::{Notes, concat};
use crate::model::{Boxed, Map, Texts};
use crate::v2;
use kubeshape_schema::{Bump, Code, order, reference};
use kubeshape_yaml::{percent, pointer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The media type of bodies without one.
pub(super) const BODY: Texts<'static> = &["application/json"];
/// The media type of responses without one.
pub(super) const RESPONSE: Texts<'static> = &["*/*"];

/// The names of one section that v3 does not allow, and their replacements.
#[derive(Default)]
pub(super) struct Renames<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Renames<'a> {
    /// Finds new names for names with characters other than letters, digits, `.`, `-` and `_`. Each name has its
    /// location.
    pub(super) fn of(names: &[(&'a str, u32)], arena: &'a Bump, notes: &mut Notes<'a>) -> Self {
        if names.iter().all(|(name, _)| is_component_name(name)) {
            return Renames::default();
        }
        let mut taken: BTreeSet<&'a str> = names.iter().map(|(name, _)| *name).collect();
        // The last number that was appended to a name that is in use.
        let mut numbers: BTreeMap<&'a str, u32> = BTreeMap::new();
        let mut out = Vec::new();
        for (name, at) in names.iter().filter(|(name, _)| !is_component_name(name)) {
            let plain = name.chars().map(|c| if is_allowed(c) { c } else { '_' });
            let plain = &*arena.alloc_str(&plain.collect::<String>());
            let plain = if plain.is_empty() { "_" } else { plain };
            let mut new = plain;
            while !taken.insert(new) {
                let number = numbers.entry(plain).or_insert(1);
                *number += 1;
                new = arena.alloc_str(&format!("{plain}_{number}"));
            }
            notes.add(Code::V3ComponentName, *at, format!("{name:?} becomes {new:?}"));
            out.push((*name, new));
        }
        out.sort_unstable();
        Renames(out)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let at = self.0.binary_search_by(|(old, _)| (*old).cmp(name)).ok()?;
        Some(self.0[at].1)
    }

    /// Returns the name in v3.
    pub(super) fn name(&self, name: &'a str) -> &'a str {
        self.get(name).unwrap_or(name)
    }
}

fn is_component_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| is_allowed(char::from(b)))
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// The names of all sections.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) schemas: Renames<'a>,
    pub(super) parameters: Renames<'a>,
    pub(super) responses: Renames<'a>,
    pub(super) security: Renames<'a>,
}

impl<'a> Names<'a> {
    pub(super) fn of(document: &v2::Document<'a>, arena: &'a Bump, notes: &mut Notes<'a>) -> Self {
        fn entries<'a, T>(map: &Map<'a, T>) -> Vec<(&'a str, u32)> {
            map.iter().map(|entry| (entry.name, entry.at)).collect()
        }
        let definitions: Vec<_> = document.definitions.iter().map(|property| (property.name, property.at)).collect();
        Names {
            schemas: Renames::of(&definitions, arena, notes),
            parameters: Renames::of(&entries(&document.parameters), arena, notes),
            responses: Renames::of(&entries(&document.responses), arena, notes),
            security: Renames::of(&entries(&document.security_definitions), arena, notes),
        }
    }
}

/// Returns the name after `section` in a reference, and the rest of the reference after the name.
pub(super) fn split<'r>(reference: &'r str, section: &str) -> Option<(Cow<'r, str>, &'r str)> {
    let tail = reference.strip_prefix("#/")?.strip_prefix(section)?.strip_prefix('/')?;
    let end = tail.find('/').unwrap_or(tail.len());
    Some((unescape(&tail[..end]), &tail[end..]))
}

/// Decodes a token of a JSON pointer in a URL.
fn unescape(token: &str) -> Cow<'_, str> {
    match percent::decode(token) {
        Cow::Borrowed(token) => pointer::unescape(token),
        Cow::Owned(token) => Cow::Owned(pointer::unescape(&token).into_owned()),
    }
}

/// Returns a reference into `section` of the components.
pub(super) fn component<'a>(
    reference: &'a str,
    section: &str,
    in_components: &str,
    renames: &Renames<'a>,
    arena: &'a Bump,
) -> Option<&'a str> {
    if renames.is_empty() {
        let tail = reference.strip_prefix("#/")?.strip_prefix(section)?.strip_prefix('/')?;
        return Some(concat(arena, &["#/components/", in_components, "/", tail]));
    }
    let (name, rest) = split(reference, section)?;
    if let Some(new) = renames.get(&name) {
        return Some(concat(arena, &["#/components/", in_components, "/", new, rest]));
    }
    let tail = reference.strip_prefix("#/")?.strip_prefix(section)?;
    Some(concat(arena, &["#/components/", in_components, tail]))
}

/// Returns a reference to a schema in a response or a body. In v3, the schema is one level deeper.
pub(super) fn into_content<'a>(
    pointer: &'a str,
    document: &v2::Document<'a>,
    names: &Names<'a>,
    arena: &'a Bump,
) -> Option<&'a str> {
    let produces = if document.produces.is_empty() { RESPONSE } else { document.produces };
    let deeper = |before: &str, media_types: Texts<'_>, rest: &str| {
        let media_type = media_types.iter().min_by(|a, b| order::utf16(a, b))?;
        let media_type = pointer::escape(media_type);
        let text = format!("{before}/content/{media_type}/schema{rest}");
        Some(&*arena.alloc_str(&reference::normalize(&text).ok()?))
    };
    if let Some((name, rest)) = split(pointer, "responses") {
        let rest = rest.strip_prefix("/schema")?;
        document.responses.get(&name)?.schema?;
        let before = component(pointer, "responses", "responses", &names.responses, arena)?;
        let before = before.strip_suffix(rest)?.strip_suffix("/schema")?;
        return deeper(before, produces, rest);
    }
    let (path, rest) = split(pointer, "paths")?;
    let item = document.paths?.items.get(&path)?;
    let at = pointer.len() - rest.len();
    let mut tokens = rest.get(1..)?.splitn(4, '/');
    let (method, kind, which, rest) = (tokens.next()?, tokens.next()?, tokens.next()?, tokens.next()?);
    let rest = rest.strip_prefix("schema").filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    let operation = operation(item, method)?;
    match kind {
        "responses" => {
            let media_types = operation.produces.filter(|list| !list.is_empty()).unwrap_or(produces);
            deeper(&format!("{}/{method}/responses/{which}", &pointer[..at]), media_types, rest)
        }
        "parameters" => {
            let parameter = operation.parameters.get(which.parse::<usize>().ok()?)?;
            let consumes = if document.consumes.is_empty() { BODY } else { document.consumes };
            let media_types = operation.consumes.filter(|list| !list.is_empty()).unwrap_or(consumes);
            (parameter.location == "body")
                .then(|| deeper(&format!("{}/{method}/requestBody", &pointer[..at]), media_types, rest))?
        }
        _ => None,
    }
}

fn operation<'a>(item: &v2::PathItem<'a>, method: &str) -> Boxed<'a, v2::Operation<'a>> {
    match method {
        "get" => item.get,
        "put" => item.put,
        "post" => item.post,
        "delete" => item.delete,
        "options" => item.options,
        "head" => item.head,
        "patch" => item.patch,
        _ => None,
    }
}
