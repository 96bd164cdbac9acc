//! Laying the v2 parts of resources onto a server's document (spec: publishing, "v2 filter/merge" and
//! "Merging"; upstream: `MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters`).

use crate::references_to;
use kubeshape_schema::{Bump, Json, escape, order};
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape, number};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use std::collections::{BTreeMap, BTreeSet};

const KINDS: &str = "x-kubernetes-group-version-kind";

/// Named, printed members of a document: path items, definitions or parameters.
pub type Members = BTreeMap<String, Vec<u8>>;

/// The parts that are laid onto a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Path items.
    pub paths: Members,
    /// Definitions.
    pub definitions: Members,
    /// Parameters.
    pub parameters: Members,
}

impl Overlay {
    /// The paths of a printed document that are wanted, as an overlay for another document. Definitions that only
    /// other paths reach are left out; those that none reaches stay, as all parameters do.
    ///
    /// # Errors
    /// The document cannot be read.
    ///
    /// # Example
    /// ```
    /// use kubeshape_convert::v2::merge::Overlay;
    /// let document = br##"{"swagger":"2.0","paths":{"/a":{"get":{"schema":{"$ref":"#/definitions/A"}}},"/b":{}},
    ///     "definitions":{"A":{"type":"string"},"B":{"type":"string"}}}"##;
    /// let overlay = Overlay::of(document, |path| path == "/b")?;
    /// assert_eq!(overlay.paths.keys().collect::<Vec<_>>(), ["/b"]);
    /// assert_eq!(overlay.definitions.keys().collect::<Vec<_>>(), ["B"]);
    /// # Ok::<(), kubeshape_convert::v2::merge::MergeError>(())
    /// ```
    pub fn of(document: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Overlay, MergeError> {
        let mut stream = Stream::new(document, Limits::default())?;
        let source = stream.source();
        let mut tape = Tape::new();
        stream.next(&mut tape).transpose()?;
        let root = tape.document(source).root().ok_or(MergeError::NotSwagger)?;
        let mut overlay = Overlay {
            paths: members(root.get("paths")),
            definitions: members(root.get("definitions")),
            parameters: members(root.get("parameters")),
        };
        overlay.retain(wanted);
        Ok(overlay)
    }

    /// Takes paths away that are not wanted, and the definitions that only they reach.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if self.paths.keys().all(|path| wanted(path)) {
            return;
        }
        let used_before = reached(self, |_| true);
        let used_after = reached(self, &wanted);
        self.paths.retain(|path, _| wanted(path));
        self.definitions.retain(|name, _| !used_before.contains(name) || used_after.contains(name));
    }
}

/// The merged document and what happened to the overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The document's bytes.
    pub document: Vec<u8>,
    /// Paths of the overlay that the document has already.
    pub dropped_paths: Vec<String>,
    /// Definitions of the overlay that are called otherwise in the document, old and new name.
    pub renamed: Vec<(String, String)>,
}

/// Why nothing can be laid onto a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The document cannot be read.
    #[error("{0}")]
    Unreadable(#[from] kubeshape_yaml::Error),
    /// The document is no OpenAPI v2 document.
    #[error("found no `swagger: \"2.0\"` at the root; give an OpenAPI v2 document")]
    NotSwagger,
    /// Upstream keeps paths by prefix and then finds one twice; only where faults are kept.
    #[error(
        "unable to merge: duplicated path {0}; the server's document would not change until it is gone (use --profile faithful to merge all the same)"
    )]
    DuplicatePath(String),
}

/// Lays `overlay` onto `document`. What the document has stays: its paths win, equal definitions are
/// shared with their group-version-kinds united, others get a new name.
///
/// With `keep_faults`, paths that are kept also keep every path they are a prefix of, as upstream does.
///
/// # Errors
/// See [`MergeError`].
///
/// # Example
/// ```
/// use kubeshape_convert::v2::merge::{Overlay, merge};
/// let mut overlay = Overlay::default();
/// overlay.paths.insert("/b".into(), br##"{"get":{"schema":{"$ref":"#/definitions/A"}}}"##.to_vec());
/// overlay.definitions.insert("A".into(), br#"{"type":"string"}"#.to_vec());
/// let onto = br#"{"swagger":"2.0","paths":{"/a":{}},"definitions":{"A":{"type":"object"}}}"#;
/// let merged = merge(onto, overlay, true).unwrap();
/// assert_eq!(
///     String::from_utf8(merged.document).unwrap(),
///     r##"{"swagger":"2.0","paths":{"/a":{},"/b":{"get":{"schema":{"$ref":"#/definitions/A_v2"}}}},"definitions":{"A":{"type":"object"},"A_v2":{"type":"string"}}}"##
/// );
/// ```
pub fn merge(document: &[u8], overlay: Overlay, keep_faults: bool) -> Result<Merged, MergeError> {
    Onto::read(document)?.merge(overlay, keep_faults)
}

/// A document that parts are laid onto, read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Onto {
    frame: Vec<Frame>,
    paths: Members,
    definitions: Members,
    parameters: Members,
}

/// A member of the root, in printing order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Frame {
    /// One that stays as it is, printed with its key.
    Member(Vec<u8>),
    /// One of the three that change.
    Section(Section),
}

/// The members of the root that parts are laid into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// `paths`
    Paths,
    /// `definitions`
    Definitions,
    /// `parameters`
    Parameters,
}

impl Section {
    /// All of them, in the order of a document that lacks them.
    pub const ALL: [Section; 3] = [Section::Paths, Section::Definitions, Section::Parameters];

    /// The name of the member.
    pub fn name(self) -> &'static str {
        match self {
            Section::Paths => "paths",
            Section::Definitions => "definitions",
            Section::Parameters => "parameters",
        }
    }
}

/// Definitions and parameters that many overlays share, laid onto a document: what else is laid onto it needs no look at
/// the document, as long as its names are free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Laid {
    /// All definitions.
    pub definitions: Members,
    /// All parameters.
    pub parameters: Members,
    renamed: BTreeMap<String, String>,
    renamed_parameters: BTreeMap<String, String>,
}

impl Laid {
    /// Names that shared definitions have got in place of their own.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renamed.iter().map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// Whether a definition of this name would meet another one.
    pub fn has_definition(&self, name: &str) -> bool {
        self.definitions.contains_key(name) || self.renamed.contains_key(name)
    }

    /// Rewrites the references of a printed part to what has another name now.
    pub fn rewrite(&self, json: &mut Vec<u8>) {
        rewrite_text(json, "definitions", &self.renamed);
        rewrite_text(json, "parameters", &self.renamed_parameters);
    }

    /// Whether there is anything to rewrite.
    pub fn rewrites(&self) -> bool {
        !self.renamed.is_empty() || !self.renamed_parameters.is_empty()
    }
}

impl Onto {
    /// Reads a document.
    ///
    /// # Errors
    /// It cannot be read, or is no OpenAPI v2 document.
    pub fn read(document: &[u8]) -> Result<Onto, MergeError> {
        let mut stream = Stream::new(document, Limits::default())?;
        let source = stream.source();
        let mut tape = Tape::new();
        stream.next(&mut tape).transpose()?;
        let root = tape.document(source).root().ok_or(MergeError::NotSwagger)?;
        if root.get("swagger").and_then(Node::as_str) != Some("2.0") {
            return Err(MergeError::NotSwagger);
        }
        Ok(Onto {
            frame: frame(root),
            paths: members(root.get("paths")),
            definitions: members(root.get("definitions")),
            parameters: members(root.get("parameters")),
        })
    }

    /// Its paths.
    pub fn paths(&self) -> &Members {
        &self.paths
    }

    /// Lays an overlay onto the document: see [`merge`].
    ///
    /// # Errors
    /// See [`MergeError`].
    pub fn merge(mut self, mut overlay: Overlay, keep_faults: bool) -> Result<Merged, MergeError> {
        let mut merged = Merged::default();
        filter_paths(&mut overlay, &self.paths, keep_faults, &mut merged)?;
        if !overlay.paths.is_empty() {
            let renames = renames(&overlay.definitions, &self.definitions, true);
            let parameter_renames = renames_of_parameters(&overlay.parameters, &self.parameters);
            rewrite(&mut overlay, "definitions", &renames);
            rewrite(&mut overlay, "parameters", &parameter_renames);
            overlay.definitions = rename_keys(overlay.definitions, &renames);
            overlay.parameters = rename_keys(overlay.parameters, &parameter_renames);
            merged.renamed = renames.into_iter().collect();
            add(&mut self.definitions, &mut self.parameters, overlay.definitions, overlay.parameters);
            self.paths.append(&mut overlay.paths);
        }
        merged.document = print(&self.frame, [&self.paths, &self.definitions, &self.parameters]);
        Ok(merged)
    }

    /// Lays definitions and parameters onto the document that every overlay of a kind holds.
    pub fn lay(&self, shared: Overlay) -> Laid {
        let renamed = renames(&shared.definitions, &self.definitions, true);
        let renamed_parameters = renames_of_parameters(&shared.parameters, &self.parameters);
        let mut shared = shared;
        rewrite(&mut shared, "definitions", &renamed);
        rewrite(&mut shared, "parameters", &renamed_parameters);
        let mut laid = Laid {
            definitions: self.definitions.clone(),
            parameters: self.parameters.clone(),
            renamed,
            renamed_parameters,
        };
        add(
            &mut laid.definitions,
            &mut laid.parameters,
            rename_keys(shared.definitions, &laid.renamed),
            rename_keys(shared.parameters, &laid.renamed_parameters),
        );
        laid
    }

    /// The document as texts and, between them, the members of the sections, each with whether it is shown: empty ones
    /// but for the paths are left out.
    pub fn texts(&self, shown: impl Fn(Section) -> bool) -> Vec<(Vec<u8>, Option<Section>)> {
        let mut out = Vec::new();
        let mut text = vec![b'{'];
        let mut first = true;
        for member in &self.frame {
            match member {
                Frame::Member(member) => {
                    if !std::mem::take(&mut first) {
                        text.push(b',');
                    }
                    text.extend_from_slice(member);
                }
                Frame::Section(section) if *section == Section::Paths || shown(*section) => {
                    key(section.name(), &mut first, &mut text);
                    text.push(b'{');
                    out.push((std::mem::take(&mut text), Some(*section)));
                    text.push(b'}');
                }
                Frame::Section(_) => {}
            }
        }
        text.push(b'}');
        out.push((text, None));
        out
    }
}

/// Adds definitions and parameters whose names are settled.
fn add(definitions: &mut Members, parameters: &mut Members, more: Members, more_parameters: Members) {
    for (name, json) in more {
        match definitions.get_mut(&name) {
            Some(existing) => unite_kinds(existing, &json),
            None => {
                definitions.insert(name, json);
            }
        }
    }
    for (name, json) in more_parameters {
        parameters.entry(name).or_insert(json);
    }
}

/// The members of an object, each printed compactly in the order it has.
fn members(node: Option<Node<'_>>) -> Members {
    let mut out = Members::new();
    for (key, value) in node.into_iter().flat_map(Node::pairs) {
        let mut json = Vec::new();
        compact(value, &mut json);
        out.insert(key.text().to_owned(), json);
    }
    out
}

/// Prints a node without blanks and with the order of members it has.
fn compact(node: Node<'_>, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::Int | Kind::Float => match node.as_number() {
            Some(kubeshape_yaml::Number::Int(n)) => number::write_int(n, out),
            Some(n) => number::write_json(n.as_f64(), out),
            None => out.extend_from_slice(b"null"),
        },
        Kind::Str => escape::string(out, node.text(), escape::Escape::Plain),
        Kind::Seq => {
            out.push(b'[');
            for (i, item) in node.items().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                compact(item, out);
            }
            out.push(b']');
        }
        Kind::Map => {
            out.push(b'{');
            for (i, (key, value)) in node.pairs().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                escape::string(out, key.text(), escape::Escape::Plain);
                out.push(b':');
                compact(value, out);
            }
            out.push(b'}');
        }
    }
}

/// Takes away paths that the document has, and the definitions that only they used.
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
    let used_before = reached(overlay, |_| true);
    let used_after = reached(overlay, |path| !conflicts.contains(path));
    overlay.definitions.retain(|name, _| !used_before.contains(name) || used_after.contains(name));
    overlay.paths.retain(|path, _| !conflicts.contains(path));
    merged.dropped_paths = conflicts.into_iter().collect();
    Ok(())
}

/// Names of the definitions that the selected paths reach.
fn reached(overlay: &Overlay, selected: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut graph: DiGraph<Option<&str>, ()> = DiGraph::new();
    let root = graph.add_node(None);
    let nodes: BTreeMap<&str, NodeIndex> =
        overlay.definitions.keys().map(|name| (name.as_str(), graph.add_node(Some(name)))).collect();
    let mut connect = |from: NodeIndex, json: &[u8]| {
        let mut targets = references_to(json, "definitions");
        for parameter in references_to(json, "parameters") {
            let json = overlay.parameters.get(&parameter).map_or(&[][..], Vec::as_slice);
            targets.extend(references_to(json, "definitions"));
        }
        for target in targets {
            if let Some(to) = nodes.get(target.as_str()) {
                graph.update_edge(from, *to, ());
            }
        }
    };
    for (_, json) in overlay.paths.iter().filter(|(path, _)| selected(path)) {
        connect(root, json);
    }
    for (name, json) in &overlay.definitions {
        connect(nodes[name.as_str()], json);
    }
    let mut walk = Dfs::new(&graph, root);
    let mut out = BTreeSet::new();
    while let Some(node) = walk.next(&graph) {
        out.extend(graph[node].map(str::to_owned));
    }
    out
}

/// New names for members that differ from those of the document.
fn renames(source: &Members, existing: &Members, modulo_kinds: bool) -> BTreeMap<String, String> {
    let mut renames = BTreeMap::new();
    let mut used: BTreeSet<String> = existing.keys().cloned().collect();
    'members: for (name, json) in source {
        match existing.get(name) {
            Some(other) if !equal(other, json, modulo_kinds) => {}
            _ => continue,
        }
        let mut n = 2;
        let numbered = |n: usize| format!("{name}_v{n}");
        while let Some(other) = existing.get(&numbered(n)) {
            if equal(other, json, modulo_kinds) {
                renames.insert(name.clone(), numbered(n));
                continue 'members;
            }
            n += 1;
        }
        while used.contains(&numbered(n)) || source.contains_key(&numbered(n)) {
            n += 1;
        }
        used.insert(numbered(n));
        renames.insert(name.clone(), numbered(n));
    }
    renames
}

fn renames_of_parameters(source: &Members, existing: &Members) -> BTreeMap<String, String> {
    renames(source, existing, false)
}

/// Whether two printed values are equal, for definitions but for their group-version-kinds.
fn equal(a: &[u8], b: &[u8], modulo_kinds: bool) -> bool {
    if a == b {
        return true;
    }
    with_value(a, |a| {
        with_value(b, |b| match (a, b) {
            (Json::Object(a), Json::Object(b)) if modulo_kinds => {
                let kept = |members: &[(&str, Json<'_>)]| {
                    members
                        .iter()
                        .filter(|(key, _)| *key != KINDS)
                        .map(|(k, v)| format!("{k}{v:?}"))
                        .collect::<Vec<_>>()
                };
                kept(a) == kept(b)
            }
            (a, b) => a == b,
        })
    })
}

/// Calls `f` with the value of a printed text.
fn with_value<T>(json: &[u8], f: impl FnOnce(Json<'_>) -> T) -> T {
    let arena = Bump::new();
    let mut tape = Tape::new();
    let value = match Stream::new(json, Limits::default()) {
        Ok(mut stream) => {
            let source = stream.source();
            let read = stream.next(&mut tape);
            debug_assert!(matches!(read, Some(Ok(()))), "printed JSON reads back");
            tape.document(source).root().map_or(Json::Null, |root| Json::read(root, &arena))
        }
        Err(_) => Json::Null,
    };
    f(value)
}

/// Rewrites references of one section in all members.
fn rewrite(overlay: &mut Overlay, section: &str, renames: &BTreeMap<String, String>) {
    if renames.is_empty() {
        return;
    }
    for json in
        [&mut overlay.paths, &mut overlay.definitions, &mut overlay.parameters].into_iter().flat_map(|m| m.values_mut())
    {
        rewrite_text(json, section, renames);
    }
}

/// Rewrites references of one section in a printed text.
fn rewrite_text(json: &mut Vec<u8>, section: &str, renames: &BTreeMap<String, String>) {
    if renames.is_empty() {
        return;
    }
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    let mut text = String::from_utf8_lossy(json).into_owned();
    // All at once: a new name may be the old name of another member.
    for (i, (from, _)) in renames.iter().enumerate() {
        text = text.replace(
            &format!("\"$ref\":\"#/{section}/{}\"", escaped(from)),
            &format!("\"$ref\":\"#/{section}/\u{1}{i}\u{1}\""),
        );
    }
    for (i, (_, to)) in renames.iter().enumerate() {
        text = text.replace(&format!("\u{1}{i}\u{1}"), &escaped(to));
    }
    *json = text.into_bytes();
}

fn rename_keys(members: Members, renames: &BTreeMap<String, String>) -> Members {
    members.into_iter().map(|(name, json)| (renames.get(&name).cloned().unwrap_or(name), json)).collect()
}

/// Adds the group-version-kinds that an equal definition lists beyond the existing one's. The list is
/// sorted only if something was added.
fn unite_kinds(existing: &mut Vec<u8>, other: &[u8]) {
    if existing.as_slice() == other {
        return;
    }
    let printed = with_value(existing, |ours| {
        with_value(other, |theirs| {
            let (Some(Json::Array(ours)), Some(Json::Array(theirs))) = (ours.get(KINDS), theirs.get(KINDS)) else {
                return None;
            };
            let mut all: Vec<&Json<'_>> = ours.iter().collect();
            all.extend(theirs.iter().filter(|kind| !ours.contains(kind)));
            if all.len() == ours.len() {
                return None;
            }
            let text = |kind: &Json<'_>, name| kind.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
            all.sort_by_key(|kind| format!("{}/{}.{}", text(kind, "group"), text(kind, "version"), text(kind, "kind")));
            let mut old = Vec::new();
            Json::Array(ours).print(&mut old, escape::Escape::Plain);
            let all: Vec<Json<'_>> = all.into_iter().copied().collect();
            let mut new = Vec::new();
            Json::Array(&all).print(&mut new, escape::Escape::Plain);
            Some((String::from_utf8_lossy(&old).into_owned(), String::from_utf8_lossy(&new).into_owned()))
        })
    });
    if let Some((old, new)) = printed {
        let text = String::from_utf8_lossy(existing);
        let replaced = text.replacen(&format!("\"{KINDS}\":{old}"), &format!("\"{KINDS}\":{new}"), 1);
        *existing = replaced.into_bytes();
    }
}

/// The members of the root in printing order.
fn frame(root: Node<'_>) -> Vec<Frame> {
    let mut out = Vec::new();
    let mut written: BTreeSet<Section> = BTreeSet::new();
    for (name, value) in root.pairs() {
        if let Some(at) = Section::ALL.iter().position(|section| section.name() == name.text()) {
            // A section that the document lacks stands behind the one before it.
            let before = Section::ALL[..=at].iter().filter(|section| written.insert(**section));
            out.extend(before.map(|section| Frame::Section(*section)));
        } else {
            if matches!(name.text(), "responses" | "securityDefinitions" | "security" | "tags" | "externalDocs") {
                let missing = Section::ALL.iter().filter(|section| written.insert(**section));
                out.extend(missing.map(|section| Frame::Section(*section)));
            }
            let mut member = Vec::new();
            key(name.text(), &mut true, &mut member);
            compact(value, &mut member);
            out.push(Frame::Member(member));
        }
    }
    let missing = Section::ALL.iter().filter(|section| written.insert(**section));
    out.extend(missing.map(|section| Frame::Section(*section)));
    out
}

/// Prints the document with the three sections replaced.
fn print(frame: &[Frame], sections: [&Members; 3]) -> Vec<u8> {
    let mut out = Vec::new();
    out.push(b'{');
    let mut first = true;
    for member in frame {
        match member {
            Frame::Member(member) => {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                out.extend_from_slice(member);
            }
            Frame::Section(section) => {
                let members = sections[*section as usize];
                if members.is_empty() && *section != Section::Paths {
                    continue;
                }
                key(section.name(), &mut first, &mut out);
                out.push(b'{');
                let mut sorted: Vec<(&String, &Vec<u8>)> = members.iter().collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(paths: &[(&str, &str)], definitions: &[(&str, &str)]) -> Overlay {
        let own =
            |members: &[(&str, &str)]| members.iter().map(|(k, v)| ((*k).to_owned(), v.as_bytes().to_vec())).collect();
        Overlay { paths: own(paths), definitions: own(definitions), parameters: Members::new() }
    }

    fn merged(onto: &str, overlay: Overlay) -> String {
        String::from_utf8(merge(onto.as_bytes(), overlay, true).expect("merges").document).expect("UTF-8")
    }

    #[test]
    fn a_new_name_is_free_in_both_or_holds_an_equal_definition() {
        let a = [("/x", r##"{"$ref":"#/definitions/A"}"##)];
        let out = merged(
            r#"{"swagger":"2.0","paths":{},"definitions":{"A":{"type":"object"},"A_v2":{"type":"object"}}}"#,
            overlay(&a, &[("A", r#"{"type":"string"}"#), ("A_v3", r#"{"type":"integer"}"#)]),
        );
        assert!(out.contains(r##""/x":{"$ref":"#/definitions/A_v4"}"##), "{out}");
        let out = merged(
            r#"{"swagger":"2.0","paths":{},"definitions":{"A":{"type":"object"},"A_v2":{"type":"string"}}}"#,
            overlay(&a, &[("A", r#"{"type":"string"}"#)]),
        );
        assert_eq!(
            out,
            r##"{"swagger":"2.0","paths":{"/x":{"$ref":"#/definitions/A_v2"}},"definitions":{"A":{"type":"object"},"A_v2":{"type":"string"}}}"##
        );
    }

    #[test]
    fn paths_of_the_document_win_and_definitions_that_only_theirs_used_go() {
        let parts = overlay(
            &[("/a", r##"{"$ref":"#/definitions/A"}"##), ("/b", r##"{"$ref":"#/definitions/B"}"##)],
            &[("A", "{}"), ("B", "{}"), ("Unused", "{}")],
        );
        let out = merged(r#"{"swagger":"2.0","paths":{"/a":{"get":{}}}}"#, parts);
        assert_eq!(
            out,
            r##"{"swagger":"2.0","paths":{"/a":{"get":{}},"/b":{"$ref":"#/definitions/B"}},"definitions":{"B":{},"Unused":{}}}"##
        );
    }

    #[test]
    fn kept_paths_are_prefixes_only_where_faults_are_kept() {
        let parts = overlay(&[("/c", "{}"), ("/c/d", "{}")], &[]);
        let onto = br#"{"swagger":"2.0","paths":{"/c/d":{}}}"#;
        assert_eq!(merge(onto, parts.clone(), true), Err(MergeError::DuplicatePath("/c/d".to_owned())));
        assert_eq!(merge(onto, parts, false).expect("merges").dropped_paths, ["/c/d"]);
    }

    #[test]
    fn group_version_kinds_of_equal_definitions_are_united() {
        let parts = overlay(
            &[("/x", "{}")],
            &[("A", r#"{"x-kubernetes-group-version-kind":[{"group":"a","kind":"K","version":"v1"}]}"#)],
        );
        let out = merged(
            r#"{"swagger":"2.0","paths":{},"definitions":{"A":{"x-kubernetes-group-version-kind":[{"group":"b","kind":"K","version":"v1"}]}}}"#,
            parts,
        );
        assert!(
            out.contains(r#"[{"group":"a","kind":"K","version":"v1"},{"group":"b","kind":"K","version":"v1"}]"#),
            "{out}"
        );
    }
}
