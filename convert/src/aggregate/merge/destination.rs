//! The document that parts are merged into.

use super::overlay::{Members, Overlay};
use super::references::{Renames, rewritten};
use super::section::Section;
use super::{MergeError, Merged, compact, members};
use crate::aggregate::kinds::Kinds;
use crate::aggregate::names::SectionNames;
use crate::aggregate::texts::Texts;
use crate::kinds::KINDS;
use bytes::Bytes;
use kubeshape_schema::escape::Escape;
use kubeshape_schema::{Bump, Json, escape, order};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::collections::BTreeSet;

/// A document that parts are merged into, read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    root: Vec<RootMember>,
    paths: Members,
    definitions: Members,
    parameters: Members,
}

/// A member of the root, in printed order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RootMember {
    /// A member that is not changed, printed with its key.
    Fixed(Vec<u8>),
    /// One of the three that are changed.
    Section(Section),
}

/// The definitions and parameters of a document after merging those that many overlays share. Whatever is merged into
/// the document later only needs free names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedParts {
    /// All definitions.
    pub definitions: Members,
    /// All parameters.
    pub parameters: Members,
    renamed: Renames,
    renamed_parameters: Renames,
}

impl SharedParts {
    /// Returns shared definitions that have another name in the document: old and new name.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renamed.iter().map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// Returns whether the document or the shared parts have a definition with this name.
    pub fn has_definition(&self, name: &str) -> bool {
        self.definitions.contains_key(name) || self.renamed.contains_key(name)
    }

    /// Returns a printed part with the new names in its references.
    pub fn rewrite(&self, json: Bytes) -> Bytes {
        let json = rewritten(&json, "definitions", &self.renamed).unwrap_or(json);
        rewritten(&json, "parameters", &self.renamed_parameters).unwrap_or(json)
    }
}

impl Destination {
    /// Reads a document.
    ///
    /// # Errors
    /// It cannot be read, or is not an OpenAPI v2 document.
    pub fn read(document: &[u8]) -> Result<Destination, MergeError> {
        let mut stream = Stream::new(document, Limits::default())?;
        let source = stream.source();
        let mut tape = Tape::new();
        stream.next(&mut tape).transpose()?;
        let root = tape.document(source).root().ok_or(MergeError::NotSwagger)?;
        if root.get("swagger").and_then(Node::as_str) != Some("2.0") {
            return Err(MergeError::NotSwagger);
        }
        Ok(Destination {
            root: root_members(root),
            paths: members(root.get("paths")),
            definitions: members(root.get("definitions")),
            parameters: members(root.get("parameters")),
        })
    }

    /// Returns its paths.
    pub fn paths(&self) -> &Members {
        &self.paths
    }

    /// Merges an overlay into the document: see [`merge`](super::merge).
    ///
    /// # Errors
    /// Upstream could not merge it, and `keep_faults` is set.
    pub fn merge(mut self, mut overlay: Overlay, keep_faults: bool) -> Result<Merged, MergeError> {
        let mut merged = Merged::default();
        filter_paths(&mut overlay, &self.paths, keep_faults, &mut merged)?;
        if !overlay.paths.is_empty() {
            let (renamed, _) = self.add(overlay.definitions, overlay.parameters, Some(&mut overlay.paths));
            merged.renamed = renamed.into_iter().collect();
            self.paths.append(&mut overlay.paths);
        }
        merged.document = print(&self.root, [&self.paths, &self.definitions, &self.parameters]);
        Ok(merged)
    }

    /// Merges definitions and parameters into the document that many overlays share.
    pub fn merge_shared(&self, shared: Overlay) -> SharedParts {
        let mut all = self.clone();
        let (renamed, renamed_parameters) = all.add(shared.definitions, shared.parameters, None);
        let Destination { definitions, parameters, .. } = all;
        SharedParts { definitions, parameters, renamed, renamed_parameters }
    }

    /// Adds definitions and parameters under names that are free or have the same meaning, and rewrites references to
    /// them, in them and in the paths that are added with them. Returns the new names.
    fn add(
        &mut self,
        mut definitions: Members,
        mut parameters: Members,
        paths: Option<&mut Members>,
    ) -> (Renames, Renames) {
        let renamed = renames(&definitions, &self.definitions, true);
        let renamed_parameters = renames(&parameters, &self.parameters, false);
        for members in [Some(&mut definitions), Some(&mut parameters), paths].into_iter().flatten() {
            for json in members.values_mut() {
                for (section, renames) in [("definitions", &renamed), ("parameters", &renamed_parameters)] {
                    if let Some(new) = rewritten(json, section, renames) {
                        *json = new;
                    }
                }
            }
        }
        for (name, json) in definitions {
            let name = renamed.get(&name).cloned().unwrap_or(name);
            match self.definitions.get_mut(&name) {
                Some(existing) => unite_kinds(existing, &json),
                None => {
                    self.definitions.insert(name, json);
                }
            }
        }
        for (name, json) in parameters {
            let name = renamed_parameters.get(&name).cloned().unwrap_or(name);
            self.parameters.entry(name).or_insert(json);
        }
        (renamed, renamed_parameters)
    }

    /// Returns the document as strings and, between them, the sections. `shown` selects the definitions and parameters
    /// that are printed; paths always are.
    pub fn texts(&self, shown: impl Fn(Section) -> bool) -> Vec<(Vec<u8>, Option<Section>)> {
        let mut out = Vec::new();
        let mut text = vec![b'{'];
        let mut first = true;
        for member in &self.root {
            match member {
                RootMember::Fixed(member) => {
                    if !std::mem::take(&mut first) {
                        text.push(b',');
                    }
                    text.extend_from_slice(member);
                }
                RootMember::Section(section) if *section == Section::Paths || shown(*section) => {
                    key(section.name(), &mut first, &mut text);
                    text.push(b'{');
                    out.push((std::mem::take(&mut text), Some(*section)));
                    text.push(b'}');
                }
                RootMember::Section(_) => {}
            }
        }
        text.push(b'}');
        out.push((text, None));
        out
    }
}

/// Removes paths that the document has, and the definitions that only they used.
fn filter_paths(
    overlay: &mut Overlay,
    existing: &Members,
    keep_faults: bool,
    merged: &mut Merged,
) -> Result<(), MergeError> {
    let conflicts: BTreeSet<String> =
        overlay.paths.keys().filter(|path| existing.contains_key(*path)).cloned().collect();
    if conflicts.is_empty() {
        return Ok(());
    }
    let kept: Vec<&String> = overlay.paths.keys().filter(|path| !conflicts.contains(*path)).collect();
    if keep_faults
        && let Some(path) = conflicts.iter().find(|path| kept.iter().any(|kept| path.starts_with(kept.as_str())))
    {
        return Err(MergeError::DuplicatePath(path.clone()));
    }
    let used_before = overlay.reached(|_| true);
    let used_after = overlay.reached(|path| !conflicts.contains(path));
    overlay.definitions.retain(|name, _| !used_before.contains(name) || used_after.contains(name));
    overlay.paths.retain(|path, _| !conflicts.contains(path));
    merged.dropped_paths = conflicts.into_iter().collect();
    Ok(())
}

/// Returns new names for members that differ from those of the document. Definitions are compared without their kinds.
fn renames(source: &Members, existing: &Members, without_kinds: bool) -> Renames {
    let (mut names, mut texts, mut ids) = (SectionNames::default(), Texts::default(), 0);
    let mut out = Renames::new();
    let differing = source.iter().filter(|(name, json)| existing.get(*name).is_some_and(|other| other != *json));
    for (name, json) in differing {
        let versions = (2..).map(|version| format!("{name}_v{version}"));
        for name in std::iter::once(name.clone()).chain(versions) {
            let Some(other) = existing.get(&name) else { break };
            if !names.has(&name) {
                let content = content(other, without_kinds, &mut texts);
                names.take(&name, content, &mut ids);
            }
        }
        let is_used = |name: &str| source.contains_key(name) || existing.contains_key(name);
        let content = content(json, without_kinds, &mut texts);
        let placed = names.place(name, content, is_used, &mut ids);
        let new = names.name(placed.number);
        if new != name {
            out.insert(name.clone(), new.to_owned());
        }
    }
    out
}

/// Returns the number of a printed value. Equal values have equal numbers, whatever the order of their members.
fn content(json: &[u8], without_kinds: bool, texts: &mut Texts) -> u32 {
    let mut out = Vec::new();
    with_value(json, |value| match value {
        Json::Object(members) if without_kinds => {
            let kept: Vec<(&str, Json<'_>)> = members.iter().filter(|(name, _)| *name != KINDS).copied().collect();
            Json::Object(&kept).print(&mut out, Escape::Plain);
        }
        value => value.print(&mut out, Escape::Plain),
    });
    texts.number(&out)
}

/// Calls `f` with the value of printed JSON.
fn with_value<T>(json: &[u8], f: impl FnOnce(Json<'_>) -> T) -> T {
    let arena = Bump::new();
    with_root(json, |root| f(root.map_or(Json::Null, |root| Json::read(root, &arena))))
}

/// Calls `f` with the root of printed JSON.
fn with_root<T>(json: &[u8], f: impl FnOnce(Option<Node<'_>>) -> T) -> T {
    let mut tape = Tape::new();
    let Ok(mut stream) = Stream::new(json, Limits::default()) else { return f(None) };
    let source = stream.source();
    let read = stream.next(&mut tape);
    debug_assert!(matches!(read, Some(Ok(()))), "printed JSON reads back");
    f(tape.document(source).root())
}

/// Adds the group-version-kinds that an equal definition lists beyond those of the existing one.
fn unite_kinds(existing: &mut Bytes, other: &[u8]) {
    if *existing == *other {
        return;
    }
    let list = with_value(existing, |ours| {
        with_value(other, |theirs| {
            let (Some(Json::Array(ours)), Some(Json::Array(theirs))) = (ours.get(KINDS), theirs.get(KINDS)) else {
                return None;
            };
            Kinds::united(ours, theirs, Escape::Plain)
        })
    });
    let Some(list) = list else { return };
    let replaced = with_root(existing, |root| {
        let span = root?.get(KINDS)?.span();
        let (before, behind) = (existing.get(..span.start)?, existing.get(span.end..)?);
        Some([before, &list, behind].concat())
    });
    if let Some(replaced) = replaced {
        *existing = Bytes::from(replaced);
    }
}

/// Returns the members of the root in printed order.
fn root_members(root: Node<'_>) -> Vec<RootMember> {
    let mut out = Vec::new();
    let mut written: BTreeSet<Section> = BTreeSet::new();
    for (name, value) in root.pairs() {
        if let Some(at) = Section::ALL.iter().position(|section| section.name() == name.text()) {
            // A section that the document lacks comes after the previous one.
            let before = Section::ALL[..=at].iter().filter(|section| written.insert(**section));
            out.extend(before.map(|section| RootMember::Section(*section)));
        } else {
            if matches!(name.text(), "responses" | "securityDefinitions" | "security" | "tags" | "externalDocs") {
                let missing = Section::ALL.iter().filter(|section| written.insert(**section));
                out.extend(missing.map(|section| RootMember::Section(*section)));
            }
            let mut member = Vec::new();
            key(name.text(), &mut true, &mut member);
            compact(value, &mut member);
            out.push(RootMember::Fixed(member));
        }
    }
    let missing = Section::ALL.iter().filter(|section| written.insert(**section));
    out.extend(missing.map(|section| RootMember::Section(*section)));
    out
}

/// Prints the document with the three sections replaced.
fn print(root: &[RootMember], sections: [&Members; 3]) -> Vec<u8> {
    let mut out = Vec::new();
    out.push(b'{');
    let mut first = true;
    for member in root {
        match member {
            RootMember::Fixed(member) => {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                out.extend_from_slice(member);
            }
            RootMember::Section(section) => {
                let members = sections[*section as usize];
                if members.is_empty() && *section != Section::Paths {
                    continue;
                }
                key(section.name(), &mut first, &mut out);
                out.push(b'{');
                let mut sorted: Vec<(&String, &Bytes)> = members.iter().collect();
                sorted.sort_by(|a, b| order::utf16(a.0, b.0));
                let mut first = true;
                for (name, json) in sorted {
                    key(name, &mut first, &mut out);
                    out.extend_from_slice(json);
                }
                out.push(b'}');
            }
        }
    }
    out.push(b'}');
    out
}

fn key(name: &str, first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::take(first) {
        out.push(b',');
    }
    escape::string(out, name, escape::Escape::Plain);
    out.push(b':');
}
