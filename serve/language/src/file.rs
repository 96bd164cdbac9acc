//! An open file.

use crate::judged::{Judged, Shift, join};
use crate::parts::parts;
use crate::template::{Masked, mask};
use crate::{Encoding, Knowledge, Named, Text, index};
use kubeshape_input::{Code, Document, Finding, Limits};
use lsp_types::TextDocumentContentChangeEvent;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// An open file. Its parts keep what is known of them until they change.
#[derive(Debug)]
pub struct File {
    /// The name in findings.
    pub name: Arc<str>,
    /// The version of the client.
    pub version: i32,
    pub(crate) text: Text,
    /// The text without actions, if it is a template.
    pub(crate) masked: Option<Masked>,
    parts: Vec<Part>,
    is_ignored: bool,
}

/// A document of a file.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    /// The number of its first line.
    pub(crate) line: usize,
    /// The end of the line of the next marker, which readers see.
    reach: usize,
    known: Rc<Known>,
}

/// What is known of a part, wherever it is in its file.
#[derive(Debug, Default)]
struct Known {
    documents: OnceCell<Rc<Parsed>>,
    /// What was found, and the line at which it was judged if messages name lines.
    judged: std::cell::RefCell<Option<(Rc<Judged>, Option<usize>)>>,
    /// What the part was before the last edit.
    before: Option<Rc<Parsed>>,
}

/// The documents of a part, and its names. Positions are in the part.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) documents: Vec<Document>,
    pub(crate) names: Vec<Named>,
    /// Whether the part can be read.
    pub(crate) is_whole: bool,
}

impl File {
    /// Opens a file. A file that is `ignored` has no findings: the commands pass over it, too.
    pub fn new(name: impl Into<Arc<str>>, version: i32, text: String, is_ignored: bool) -> File {
        let mut out =
            File { name: name.into(), version, text: Text::new(text), masked: None, parts: Vec::new(), is_ignored };
        out.split("");
        out
    }

    /// Changes the text.
    pub fn change(&mut self, version: i32, changes: &[TextDocumentContentChangeEvent], encoding: Encoding) {
        let before = self.source().to_owned();
        for change in changes {
            match change.range {
                Some(range) => self.text.replace(range, &change.text, encoding),
                None => self.text = Text::new(change.text.clone()),
            }
        }
        self.version = version;
        self.split(&before);
    }

    /// Returns the text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns what is read: the text, without the actions of a template.
    pub(crate) fn source(&self) -> &str {
        self.masked.as_ref().map_or(self.text.as_str(), |masked| &masked.text)
    }

    /// Splits the text. Parts before and after an edit keep what is known of them.
    fn split(&mut self, before: &str) {
        self.masked = mask(self.text.as_str());
        let source = self.masked.as_ref().map_or(self.text.as_str(), |masked| &masked.text);
        let ranges = parts(source);
        let last = ranges.len().saturating_sub(1);
        let reach = |source: &str, end: usize| {
            let rest = source.as_bytes().get(end..).unwrap_or_default();
            end + memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1)
        };
        let old = std::mem::take(&mut self.parts);
        let same = |(old, (at, range)): (&Part, (usize, &Range<usize>))| {
            let is_last = at == last;
            (old.reach == old.range.end) == is_last
                && before.get(old.range.start..old.reach) == source.get(range.start..reach(source, range.end))
        };
        let head = old.iter().zip(ranges.iter().enumerate()).take_while(|pair| same(*pair)).count();
        let most = old.len().min(ranges.len()) - head;
        let tail = old.iter().rev().zip(ranges.iter().enumerate().rev()).take(most);
        let tail = tail.take_while(|pair| same(*pair)).count();
        let mut line = 0;
        for (at, range) in ranges.iter().enumerate() {
            let kept = if at < head {
                old.get(at)
            } else if at + tail >= ranges.len() {
                old.len().checked_sub(ranges.len() - at).and_then(|at| old.get(at))
            } else {
                None
            };
            let before = || old.get(at).filter(|_| old.len() == ranges.len()).and_then(|part| part.known.last_good());
            let known = kept
                .map_or_else(|| Rc::new(Known { before: before(), ..Known::default() }), |part| Rc::clone(&part.known));
            self.parts.push(Part { range: range.clone(), line, reach: reach(source, range.end), known });
            let text = source.get(range.clone()).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', text.as_bytes()).count();
        }
    }

    /// Forgets findings that depend on schemas.
    pub fn forget(&mut self) {
        for part in &self.parts {
            let mut judged = part.known.judged.borrow_mut();
            if judged.as_ref().is_some_and(|(judged, _)| judged.depends) {
                *judged = None;
            }
        }
    }

    /// Returns whether the file is Kubernetes' at all: it has the word `apiVersion`. Other YAML has no findings.
    pub fn is_manifest(&self) -> bool {
        !self.is_ignored && memchr::memmem::find(self.source().as_bytes(), b"apiVersion").is_some()
    }

    /// Returns the findings of the file: those of the commands.
    pub fn findings<K: Knowledge>(&self, knowledge: &mut K) -> Vec<Finding> {
        if !self.is_manifest() {
            return Vec::new();
        }
        let source = self.source();
        let judged: Vec<(Rc<Judged>, Shift)> =
            self.parts.iter().map(|part| self.judge(part, source, knowledge)).collect();
        let mut out = join(judged.iter().map(|(judged, shift)| (&**judged, *shift)));
        if judged.iter().any(|(judged, _)| judged.has_policies) {
            for finding in knowledge.policies(&self.name, source) {
                // Both commands report unknown fields, some of them in the same words.
                let is_same = |other: &Finding| {
                    let is_near = (other.code, &other.span) == (finding.code, &finding.span);
                    is_near && serde_json::to_value(other).ok() == serde_json::to_value(&finding).ok()
                };
                if !out.iter().any(is_same) {
                    out.push(finding);
                }
            }
        }
        if let Some(masked) = &self.masked {
            // A template is no manifest yet: only what no action can change is reported.
            let is_sure = |finding: &Finding| {
                let codes = [Code::ObjectField, Code::KindRemoved, Code::KindDeprecated, Code::ObjectNotDecoded];
                codes.contains(&finding.code) && finding.span.as_ref().is_some_and(|span| !masked.touches(span))
            };
            out.retain(is_sure);
        }
        out
    }

    fn judge<K: Knowledge>(&self, part: &Part, source: &str, knowledge: &mut K) -> (Rc<Judged>, Shift) {
        let plain = Shift { lines: part.line, bytes: (part.range.start, 0) };
        // The lines above the part, empty.
        let placed = Shift { lines: 0, bytes: (part.range.start, part.line) };
        let known = part.known.judged.borrow().clone();
        match known {
            Some((judged, None)) => return (judged, plain),
            Some((judged, Some(line))) if line == part.line => return (judged, placed),
            _ => {}
        }
        let mut text = source.get(part.range.start..part.reach).unwrap_or_default().to_owned();
        let judged = knowledge.judge(&self.name, &text);
        let (judged, line, shift) = if part.line > 0 && judged.names_lines(&self.name) {
            text.insert_str(0, &"\n".repeat(part.line));
            (knowledge.judge(&self.name, &text), Some(part.line), placed)
        } else {
            let line = judged.names_lines(&self.name).then_some(0);
            (judged, line, if line.is_some() { placed } else { plain })
        };
        let judged = Rc::new(judged);
        *part.known.judged.borrow_mut() = Some((Rc::clone(&judged), line));
        (judged, shift)
    }

    /// Returns the parts.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the part that contains a byte.
    pub(crate) fn part_at(&self, offset: usize) -> Option<&Part> {
        let behind = self.parts.partition_point(|part| part.range.start <= offset);
        self.parts.get(behind.checked_sub(1)?)
    }

    /// Returns the documents of a part, read at the first call.
    pub(crate) fn documents(&self, part: &Part) -> Rc<Parsed> {
        let make = || {
            let text = self.source().get(part.range.clone()).unwrap_or_default();
            let read = kubeshape_input::read(Arc::clone(&self.name), text.as_bytes(), Limits::default());
            let names = read.documents.iter().flat_map(index::names).collect();
            let is_whole = !read.findings.iter().any(Finding::is_error);
            Rc::new(Parsed { documents: read.documents, names, is_whole })
        };
        Rc::clone(part.known.documents.get_or_init(make))
    }

    /// Returns the names in the file with their places. A part that cannot be read has its last names.
    pub fn names(&self) -> Vec<(Named, Range<usize>)> {
        let mut out = Vec::new();
        for part in &self.parts {
            let documents = self.documents(part);
            let names = match &part.known.before {
                Some(before) if !documents.is_whole => &before.names,
                _ => &documents.names,
            };
            let moved = |span: &Range<usize>| span.start + part.range.start..span.end + part.range.start;
            out.extend(names.iter().map(|named| (named.clone(), moved(&named.span))));
        }
        out
    }
}

impl Known {
    /// Returns the documents of the part, or those that it had when it could last be read.
    fn last_good(&self) -> Option<Rc<Parsed>> {
        self.documents.get().filter(|documents| documents.is_whole).or(self.before.as_ref()).cloned()
    }
}
