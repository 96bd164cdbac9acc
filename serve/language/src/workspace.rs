//! The files of a workspace, and the names in them.

use crate::{Encoding, Fields, File, Knowledge, Named, Step, Text, index, place};
use kubeshape_input::{Limits, Place};
use lsp_types::{Location, Position, Range, TextEdit, Uri, WorkspaceEdit};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

/// Where the live object of an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// The URI of the file that has it.
    pub uri: String,
    /// The name of both.
    pub named: Named,
    /// The text with the object of the position.
    pub text: String,
    /// The steps from the object to the position.
    pub steps: Vec<Step>,
}

/// The files of a workspace: open ones with their texts, the others with the names in them.
#[derive(Debug, Default)]
pub struct Workspace {
    /// What a column of the client counts.
    pub encoding: Encoding,
    open: BTreeMap<String, File>,
    closed: BTreeMap<String, Vec<(Named, Range)>>,
}

impl Workspace {
    /// Creates a workspace without files.
    pub fn new(encoding: Encoding) -> Workspace {
        Workspace { encoding, ..Workspace::default() }
    }

    /// Opens a file, in place of the one with that URI.
    pub fn open(&mut self, uri: &str, file: File) {
        self.open.insert(uri.to_owned(), file);
    }

    /// Closes a file. Its names are kept.
    pub fn close(&mut self, uri: &str) {
        if let Some(file) = self.open.remove(uri) {
            let range = |span| file.text().range(span, self.encoding);
            let names = file.names().into_iter().map(|(named, span)| (named, range(span))).collect();
            self.closed.insert(uri.to_owned(), names);
        }
    }

    /// Adds the names in a file that is not open.
    pub fn scan(&mut self, uri: &str, text: &str) {
        let read = kubeshape_input::read(Arc::from(uri), text.as_bytes(), Limits::default());
        let names: Vec<Named> = read.documents.iter().flat_map(index::names).collect();
        if names.is_empty() {
            self.closed.remove(uri);
            return;
        }
        let text = Text::new(text.to_owned());
        let located = names.into_iter().map(|named| {
            let range = text.range(named.span.clone(), self.encoding);
            (named, range)
        });
        self.closed.insert(uri.to_owned(), located.collect());
    }

    /// Forgets the names in files that are not open.
    pub fn forget_closed(&mut self) {
        self.closed.clear();
    }

    /// Forgets findings that depend on schemas.
    pub fn forget_findings(&mut self) {
        for file in self.open.values_mut() {
            file.forget();
        }
    }

    /// Returns an open file.
    pub fn file(&self, uri: &str) -> Option<&File> {
        self.open.get(uri)
    }

    /// Returns an open file, for changes.
    pub fn file_mut(&mut self, uri: &str) -> Option<&mut File> {
        self.open.get_mut(uri)
    }

    /// Returns the open files by their URIs.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.open.iter().map(|(uri, file)| (uri.as_str(), file))
    }

    /// Returns all names with their places, in the order of the files.
    fn located(&self) -> Vec<(String, Named, Range)> {
        let mut out = Vec::new();
        for (uri, file) in &self.open {
            for (named, span) in file.names() {
                out.push((uri.clone(), named, file.text().range(span, self.encoding)));
            }
        }
        for (uri, names) in self.closed.iter().filter(|(uri, _)| !self.open.contains_key(*uri)) {
            out.extend(names.iter().map(|(named, range)| (uri.clone(), named.clone(), *range)));
        }
        out
    }

    /// Returns all names.
    pub fn names(&self) -> Vec<Named> {
        self.located().into_iter().map(|(_, named, _)| named).collect()
    }

    /// Returns the name at a position, and its range.
    fn name_at(&self, uri: &str, position: Position) -> Option<(Named, Range)> {
        let file = self.open.get(uri)?;
        let offset = file.text().offset(position, self.encoding);
        let found = file.names().into_iter().find(|(_, span)| span.start <= offset && offset <= span.end)?;
        Some((found.0, file.text().range(found.1, self.encoding)))
    }

    /// Returns the live object of the object at a position: one of the same name that has managed fields. `None` if the
    /// files have none, or if the position is not in an object.
    pub fn live(&self, uri: &str, position: Position) -> Option<Live> {
        let file = self.open.get(uri)?;
        let offset = file.text().offset(position, self.encoding);
        let part = file.part_at(offset)?;
        let documents = file.documents(part);
        let found = documents.documents.iter().rev().find_map(|document| place(document, offset - part.range.start))?;
        let span = found.object.span();
        let is_own = |named: &&Named| named.is_object && span.start <= named.span.start && named.span.end <= span.end;
        let named = documents.names.iter().find(is_own)?;
        let is_live = |other: &Named| other.is_live && named.is_same(other);
        let has = |file: &File| file.names().iter().any(|(named, _)| is_live(named));
        let uri = if named.is_live {
            uri
        } else {
            let open = self.open.iter().filter(|(_, file)| has(file)).map(|(uri, _)| uri);
            let closed = self.closed.iter().filter(|(uri, _)| !self.open.contains_key(*uri));
            let closed = closed.filter(|(_, names)| names.iter().any(|(named, _)| is_live(named))).map(|(uri, _)| uri);
            open.chain(closed).next()?
        };
        let text = file.source().get(part.range.clone())?.to_owned();
        Some(Live { uri: uri.to_owned(), named: named.clone(), text, steps: found.steps })
    }

    /// Returns where the object is to which a name refers, or where a field or kind is declared. `locate` returns the
    /// URI of an input by its name.
    pub fn definition<K: Knowledge>(
        &self,
        uri: &str,
        position: Position,
        knowledge: &mut K,
        locate: impl Fn(&str) -> Option<String>,
    ) -> Vec<Location> {
        if let Some((named, _)) = self.name_at(uri, position).filter(|(named, _)| !named.is_object) {
            let all = self.located();
            let objects = all.iter().filter(|(_, other, _)| other.is_object && named.is_same(other));
            let found: Vec<Location> = objects.filter_map(|(uri, _, range)| location(uri, *range)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        let declared = self.declared(uri, position, knowledge);
        let target = declared.and_then(|(input, at)| {
            let uri = locate(&input)?;
            // Columns count characters; in front of a field, these are blanks and dashes.
            let at = Position::new(at.line.saturating_sub(1) as u32, at.column.saturating_sub(1) as u32);
            location(&uri, Range::new(at, at))
        });
        target.into_iter().collect()
    }

    fn declared<K: Knowledge>(&self, uri: &str, position: Position, knowledge: &mut K) -> Option<(Arc<str>, Place)> {
        let file = self.open.get(uri)?;
        let offset = file.text().offset(position, self.encoding);
        let part = file.part_at(offset)?;
        let documents = file.documents(part);
        let local = offset - part.range.start;
        let found = documents.documents.iter().rev().find_map(|document| place(document, local))?;
        let fields: Rc<Fields> = knowledge.fields(found.text("apiVersion"), found.text("kind"))?;
        if let [Step::Key(key)] = found.steps.as_slice()
            && matches!(key.as_str(), "apiVersion" | "kind")
        {
            return fields.definition.clone();
        }
        let number = fields.number(&fields.pointer(&found.steps))?;
        fields.declared.get(number).cloned().flatten()
    }

    /// Returns all places of the name at a position.
    pub fn references(&self, uri: &str, position: Position, with_object: bool) -> Vec<Location> {
        let Some((named, _)) = self.name_at(uri, position) else { return Vec::new() };
        let all = self.located();
        let same = all.iter().filter(|(_, other, _)| named.is_same(other) && (with_object || !other.is_object));
        same.filter_map(|(uri, _, range)| location(uri, *range)).collect()
    }

    /// Returns the range of the name at a position, if it can be renamed.
    pub fn can_rename(&self, uri: &str, position: Position) -> Option<Range> {
        self.name_at(uri, position).map(|(_, range)| range)
    }

    /// Returns the edits that rename an object and everything that refers to it.
    ///
    /// # Errors
    /// There is no name at the position, or the new name is not one.
    pub fn rename(&self, uri: &str, position: Position, new: &str) -> Result<WorkspaceEdit, String> {
        let Some((named, _)) = self.name_at(uri, position) else {
            return Err("there is no name of an object here".to_owned());
        };
        // What every kind accepts at least; the diagnostics say more.
        let is_name =
            !new.is_empty() && new.len() <= 253 && new.chars().all(|c| c.is_ascii_alphanumeric() || "-.:_".contains(c));
        if !is_name {
            return Err(format!("expected a name of letters, digits, `-` and `.`, found {new:?}"));
        }
        let new = if serde_json::from_str::<f64>(new).is_ok() { format!("{new:?}") } else { new.to_owned() };
        #[allow(clippy::mutable_key_type, reason = "the protocol's type for edits")]
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for (uri, other, range) in self.located() {
            if named.is_same(&other)
                && let Ok(uri) = Uri::from_str(&uri)
            {
                changes.entry(uri).or_default().push(TextEdit { range, new_text: new.clone() });
            }
        }
        Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    }
}

fn location(uri: &str, range: Range) -> Option<Location> {
    Some(Location { uri: Uri::from_str(uri).ok()?, range })
}
