//! The last step of the full reader: from events to the tape, with anchors, merge keys and limits.

use std::collections::HashMap;

use crate::error::Fault;
use crate::parse::{Event, Parser, Props};
use crate::resolve::{self, Key, Tag, Value};
use crate::scan::{Scanner, Style, Text, Token};
use crate::{Entry, Flags, Kind, Limits, Tape};

/// Where a reader stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The first byte after the document: the marker or other content.
    pub(crate) at: usize,
    /// Whether the document ended with `...`; the marker is already read.
    pub(crate) dots: bool,
}

/// Reads the document at `at` into the tape. Returns `None` if only the end is left.
pub(crate) fn read<'t>(
    source: &'t str,
    at: usize,
    limits: &'t Limits,
    tape: &'t mut Tape,
) -> Result<Option<Stop>, Fault> {
    let Tape { entries, text, content, .. } = tape;
    let mut parser = Parser::new(Scanner::new(source, at, text, limits.scalar));
    if !parser.begin()? {
        return Ok(None);
    }
    let mut composer = Composer {
        source,
        limits,
        entries,
        parser,
        stack: Vec::new(),
        anchors: Vec::new(),
        names: HashMap::new(),
        side: Vec::new(),
        through: 0,
        aliased: 0,
        decoded: 1,
        deferred: false,
    };
    *content = composer.document()?;
    if composer.deferred {
        composer.refuse_deferred()?;
    }
    let mut parser = composer.parser;
    let behind = parser.behind();
    let token = parser.scanner.peek()?;
    Ok(Some(match token.token {
        Token::DocumentEnd => Stop { at: token.end.at, dots: true },
        Token::DocumentStart | Token::End => Stop { at: token.start.at, dots: false },
        // Content that is never read, perhaps a key whose start was passed long ago.
        _ => Stop { at: behind, dots: false },
    }))
}

/// Where an anchored node is.
#[derive(Clone, Copy, Debug)]
enum Anchored {
    /// The collection is not complete yet.
    Open,
    /// A scalar, with the value that it has when it is not a key.
    Scalar(Entry),
    /// A collection among the entries.
    Tape { from: usize, to: usize, height: usize },
    /// A collection in the side buffer.
    Side { from: usize, to: usize, height: usize },
}

/// A collection that is being read.
#[derive(Debug)]
struct Frame {
    /// Index of its entry.
    at: usize,
    /// Its anchor.
    anchor: Option<usize>,
    /// Levels of collections below it.
    height: usize,
    /// Whether the next node is a value of a mapping.
    value: bool,
    /// Set if that value is the value of a merge key: the numbers of entries and anchors before it.
    merge: Option<(usize, usize)>,
}

struct Composer<'t> {
    source: &'t str,
    limits: &'t Limits,
    entries: &'t mut Vec<Entry>,
    parser: Parser<'t>,
    stack: Vec<Frame>,
    anchors: Vec<Anchored>,
    names: HashMap<&'t str, usize>,
    /// The values of merge keys, kept for the aliases that point into them.
    side: Vec<Entry>,
    /// Number of nodes that came from aliases and merge keys.
    through: usize,
    /// Number of nodes that came from aliases, and of all nodes, as Kubernetes counts them.
    aliased: usize,
    decoded: usize,
    /// Whether there is an infinite number or a key without a string form that a later key may still replace.
    deferred: bool,
}

impl Composer<'_> {
    fn document(&mut self) -> Result<bool, Fault> {
        let mut content = true;
        loop {
            match self.parser.next()? {
                Event::Scalar { props, text, style, start, end } => {
                    if self.stack.is_empty() && text.is_none() && props.anchor.is_none() && props.tag == Tag::None {
                        content = false;
                    }
                    self.scalar(props, text, style, start, end)?;
                }
                Event::Sequence { props, start } => self.open(Kind::Seq, props, start)?,
                Event::Mapping { props, start } => self.open(Kind::Map, props, start)?,
                Event::End { bracket } => self.close(bracket)?,
                Event::Alias { from, to } => self.alias(from, to)?,
                Event::DocumentEnd => return Ok(content),
            }
        }
    }

    fn is_key(&self) -> bool {
        self.stack.last().is_some_and(|frame| !frame.value && self.entries[frame.at].kind == Kind::Map)
    }

    fn push(&mut self, entry: Entry) -> Result<(), Fault> {
        if self.entries.len() >= self.limits.nodes {
            return Err(Fault::limit(
                entry.start as usize,
                format!("more than {} nodes, the limit for one document", self.limits.nodes),
            ));
        }
        if u32::try_from(self.parser.scanner.text.len()).is_err() {
            return Err(Fault::limit(
                entry.start as usize,
                "the texts of the document are longer than 4 GiB, the limit",
            ));
        }
        self.decoded += 1;
        self.entries.push(entry);
        Ok(())
    }

    /// Counts a complete node in the collection around it.
    fn complete(&mut self, height: usize) -> Result<(), Fault> {
        let Some(frame) = self.stack.last_mut() else {
            return Ok(());
        };
        frame.height = frame.height.max(height);
        let at = frame.at;
        if self.entries[at].kind == Kind::Seq {
            self.entries[at].b += 1;
        } else if let Some((from, anchors)) = frame.merge.take() {
            frame.value = false;
            return self.merge(at, from, anchors);
        } else {
            if frame.value {
                self.entries[at].b += 1;
            }
            frame.value = !frame.value;
        }
        Ok(())
    }

    fn anchor(&mut self, props: Props, anchored: Anchored) -> Option<usize> {
        let (from, to) = props.anchor?;
        self.names.insert(&self.source[from..to], self.anchors.len());
        self.anchors.push(anchored);
        Some(self.anchors.len() - 1)
    }

    fn scalar(
        &mut self,
        props: Props,
        text: Option<Text>,
        style: Style,
        start: usize,
        end: usize,
    ) -> Result<(), Fault> {
        let given = text.unwrap_or(Text { decoded: false, from: start, to: start });
        let mut flags = Flags::NONE;
        if given.decoded {
            flags = flags.with(Flags::DECODED);
        }
        if style != Style::Plain {
            flags = flags.with(Flags::QUOTED);
        }
        // With its tag, a point in time is what it is without.
        if !matches!(props.tag, Tag::None | Tag::Timestamp) {
            flags = flags.with(Flags::TAGGED);
        }
        let mut entry = Entry {
            start: start as u32,
            end: end as u32,
            a: given.from as u32,
            b: (given.to - given.from) as u32,
            kind: Kind::Str,
            flags,
        };
        let value = if props.tag == Tag::None {
            if style == Style::Plain { resolve::plain(self.text(&entry)) } else { Value::Str }
        } else {
            match resolve::tagged(props.tag, self.text(&entry)) {
                Ok(value) => value,
                Err(found) => {
                    return Err(Fault::new(
                        start,
                        format!("found a {} where the tag {} asks for another value", found.name(), props.tag.name()),
                    ));
                }
            }
        };
        if props.tag == Tag::Binary {
            let Some(decoded) = resolve::binary(self.text(&entry)) else {
                return Err(Fault::new(start, "found text behind !!binary that is no base64"));
            };
            self.decode(&mut entry, &decoded);
        }
        entry.kind = value.kind();
        self.anchor(props, Anchored::Scalar(entry));
        if self.is_key() {
            let merges = (style == Style::Plain && props.tag == Tag::None || props.bare || props.tag == Tag::Merge)
                && self.text(&entry) == "<<";
            if merges {
                let before = (self.entries.len(), self.anchors.len());
                if let Some(frame) = self.stack.last_mut() {
                    frame.merge = Some(before);
                    frame.value = true;
                }
                return Ok(());
            }
            self.key(&mut entry, value);
        } else {
            if self.stack.last().is_some_and(|frame| frame.merge.is_some()) {
                return Err(no_map(start));
            }
            self.check_finite(&entry, value);
        }
        self.push(entry)?;
        self.complete(0)
    }

    fn text(&self, entry: &Entry) -> &str {
        let range = entry.a as usize..(entry.a + entry.b) as usize;
        if entry.flags.has(Flags::DECODED) { &self.parser.scanner.text[range] } else { &self.source[range] }
    }

    /// Replaces the text of a scalar.
    fn decode(&mut self, entry: &mut Entry, text: &str) {
        if self.text(entry) != text {
            entry.a = self.parser.scanner.text.len() as u32;
            entry.b = text.len() as u32;
            entry.flags = entry.flags.with(Flags::DECODED);
            self.parser.scanner.text.push_str(text);
        }
    }

    /// Converts a scalar to a key.
    fn key(&mut self, entry: &mut Entry, value: Value) {
        entry.kind = Kind::Str;
        match resolve::key(value) {
            Key::Text => {}
            Key::Other(text) => {
                entry.flags = entry.flags.with(Flags::RESOLVED_KEY);
                self.decode(entry, &text);
            }
            Key::Refused(_) => {
                entry.flags = entry.flags.with(Flags::RESOLVED_KEY).with(Flags::BAD);
                self.deferred = true;
            }
        }
    }

    fn check_finite(&mut self, entry: &Entry, value: Value) {
        if entry.kind == Kind::Float && matches!(value, Value::Float(n) if !n.is_finite()) {
            self.deferred = true;
        }
    }

    fn open(&mut self, kind: Kind, props: Props, start: usize) -> Result<(), Fault> {
        if self.is_key() {
            let template = self.source[..start].ends_with('{') && self.source[start..].starts_with('{');
            let message = if template {
                "found '{{', a mapping as the key of a mapping; this looks like a template that was not rendered: \
                 render it first"
            } else {
                "found a collection as a key, expected a text; quote the key, or remove the '? ' or the brackets"
            };
            return Err(Fault::new(if template { start - 1 } else { start }, message));
        }
        if self.stack.len() >= self.limits.depth {
            return Err(self.too_deep(start));
        }
        let at = self.entries.len();
        let anchor = self.anchor(props, Anchored::Open);
        self.push(Entry { start: start as u32, end: start as u32, a: 0, b: 0, kind, flags: Flags::NONE })?;
        self.stack.push(Frame { at, anchor, height: 0, value: false, merge: None });
        Ok(())
    }

    fn too_deep(&self, at: usize) -> Fault {
        Fault::limit(at, format!("more than {} levels of nesting, the limit", self.limits.depth))
    }

    fn close(&mut self, bracket: Option<usize>) -> Result<(), Fault> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let to = self.entries.len();
        // Nodes from aliases have their source elsewhere.
        let end = match bracket {
            Some(end) => end,
            None => self.parser.behind(),
        };
        let entry = &mut self.entries[frame.at];
        entry.a = to as u32;
        entry.end = end.max(entry.start as usize) as u32;
        if let Some(anchor) = frame.anchor {
            self.anchors[anchor] = Anchored::Tape { from: frame.at, to, height: frame.height + 1 };
        }
        self.complete(frame.height + 1)
    }

    fn alias(&mut self, from: usize, to: usize) -> Result<(), Fault> {
        let name = &self.source[from..to];
        let start = from - 1;
        let Some(index) = self.names.get(name) else {
            return Err(Fault::new(
                start,
                format!("found the alias *{name}, but no anchor &{name} before it; quote the text if it is no alias"),
            ));
        };
        let merge = self.stack.last().is_some_and(|frame| frame.merge.is_some());
        self.decoded += 1;
        match self.anchors[*index] {
            Anchored::Open => {
                Err(Fault::new(start, format!("found the alias *{name} inside the value of its own anchor")))
            }
            Anchored::Scalar(mut entry) => {
                if merge {
                    return Err(no_map(start));
                }
                let value = self.again(&entry);
                if self.is_key() {
                    self.key(&mut entry, value);
                } else {
                    self.check_finite(&entry, value);
                }
                entry.flags = entry.flags.with(Flags::ALIASED);
                self.count_aliased(1, start)?;
                self.push(entry)?;
                self.ratio(1, start)?;
                self.complete(0)
            }
            Anchored::Tape { from, to, height } => self.expand(false, from..to, height, start),
            Anchored::Side { from, to, height } => self.expand(true, from..to, height, start),
        }
    }

    /// Returns the value of an anchored scalar.
    fn again(&self, entry: &Entry) -> Value {
        match entry.kind {
            Kind::Str | Kind::Seq | Kind::Map => Value::Str,
            Kind::Null => Value::Null,
            Kind::False => Value::Bool(false),
            Kind::True => Value::Bool(true),
            Kind::Int | Kind::Float => resolve::plain(self.text(entry)),
        }
    }

    fn expand(&mut self, side: bool, range: std::ops::Range<usize>, height: usize, at: usize) -> Result<(), Fault> {
        if self.is_key() {
            return Err(Fault::new(at, "found an alias of a collection as a key, expected a text"));
        }
        if self.stack.len() + height > self.limits.depth {
            return Err(self.too_deep(at));
        }
        let frame = self.stack.last_mut();
        if let Some(frame) = frame
            && frame.merge.is_some()
        {
            let map = if side { self.side[range.start] } else { self.entries[range.start] };
            if map.kind != Kind::Map {
                return Err(no_map(at));
            }
            frame.merge = None;
            frame.value = false;
            frame.height = frame.height.max(height - 1);
            let owner = frame.at;
            self.entries[owner].b += map.b;
            self.copy(side, range.start + 1..range.end, at)?;
            return self.ratio(range.len(), at);
        }
        self.copy(side, range.clone(), at)?;
        self.ratio(range.len(), at)?;
        self.complete(height)
    }

    /// Appends a copy of entries.
    fn copy(&mut self, side: bool, range: std::ops::Range<usize>, at: usize) -> Result<(), Fault> {
        let n = range.len();
        self.count_aliased(n, at)?;
        if n > self.limits.nodes.saturating_sub(self.entries.len()) {
            return Err(Fault::limit(at, format!("more than {} nodes, the limit for one document", self.limits.nodes)));
        }
        self.decoded += n;
        let to = self.entries.len();
        for index in range.clone() {
            let mut entry = if side { self.side[index] } else { self.entries[index] };
            if entry.is_container() {
                entry.a = (entry.a as usize - range.start + to) as u32;
            }
            entry.flags = entry.flags.with(Flags::ALIASED);
            self.entries.push(entry);
        }
        Ok(())
    }

    fn count_aliased(&mut self, n: usize, at: usize) -> Result<(), Fault> {
        self.through += n;
        if self.through > self.limits.alias_nodes {
            return Err(Fault::limit(
                at,
                format!(
                    "more than {} nodes through aliases and merge keys, the limit for one document",
                    self.limits.alias_nodes
                ),
            ));
        }
        Ok(())
    }

    /// Refuses a document that is mostly aliases, as Kubernetes does.
    #[allow(clippy::cast_precision_loss)]
    fn ratio(&mut self, n: usize, at: usize) -> Result<(), Fault> {
        const LOW: usize = 400_000;
        const HIGH: usize = 4_000_000;
        self.aliased += n;
        let (aliased, decoded) = (self.aliased, self.decoded);
        if aliased <= 100 || decoded <= 1000 {
            return Ok(());
        }
        let allowed = match decoded {
            ..=LOW => 0.99,
            HIGH.. => 0.10,
            _ => 0.99 - 0.89 * ((decoded - LOW) as f64 / (HIGH - LOW) as f64),
        };
        if aliased as f64 / decoded as f64 > allowed {
            return Err(Fault::limit(
                at,
                "too many of the document's nodes come through aliases, which Kubernetes refuses",
            ));
        }
        Ok(())
    }

    /// Merges the value of a merge key, which is the last node, into the mapping around it.
    fn merge(&mut self, owner: usize, from: usize, anchors: usize) -> Result<(), Fault> {
        let at = self.entries[from].start as usize;
        let value = self.entries[from];
        let base = self.side.len();
        for index in from..self.entries.len() {
            let mut entry = self.entries[index];
            if entry.is_container() {
                entry.a = (entry.a as usize - from + base) as u32;
            }
            self.side.push(entry);
        }
        for anchored in &mut self.anchors[anchors..] {
            if let Anchored::Tape { from: start, to, height } = *anchored {
                *anchored = Anchored::Side { from: start - from + base, to: to - from + base, height };
            }
        }
        self.entries.truncate(from);
        let mut maps = Vec::new();
        if value.kind == Kind::Map {
            maps.push(base);
        } else {
            let mut item = base + 1;
            while item < self.side[base].a as usize {
                if self.side[item].kind != Kind::Map {
                    return Err(no_map(self.side[item].start as usize));
                }
                maps.push(item);
                item = self.side[item].a as usize;
            }
        }
        // Earlier maps win, so they are added last.
        for map in maps.into_iter().rev() {
            let Entry { a, b, .. } = self.side[map];
            self.copy(true, map + 1..a as usize, at)?;
            self.entries[owner].b += b;
        }
        Ok(())
    }

    fn behind(&self, index: usize) -> usize {
        let entry = &self.entries[index];
        if entry.is_container() { entry.a as usize } else { index + 1 }
    }

    /// Rejects infinite numbers and keys without a string form, unless a repeated key replaces them.
    fn refuse_deferred(&self) -> Result<(), Fault> {
        // A value that a later key of the same mapping replaces is never read.
        let mut replaced = vec![false; self.entries.len()];
        let mut index = 0;
        while index < self.entries.len() {
            if replaced[index] {
                index = self.behind(index + 1);
                continue;
            }
            let entry = &self.entries[index];
            if entry.flags.has(Flags::BAD) {
                return Err(Fault::new(
                    entry.start as usize,
                    format!("found the key '{}', for which Kubernetes has no text; quote it", self.text(entry)),
                ));
            }
            match entry.kind {
                Kind::Float if crate::resolve::number_of(self.text(entry)).is_none() => {
                    return Err(Fault::new(
                        entry.start as usize,
                        format!("found {}, for which JSON has no number; quote it if it is a text", self.text(entry)),
                    ));
                }
                Kind::Map => {
                    let mut last = HashMap::new();
                    let mut key = index + 1;
                    while key < entry.a as usize {
                        let name = (self.text(&self.entries[key]), self.entries[key].flags.has(Flags::RESOLVED_KEY));
                        if let Some(before) = last.insert(name, key) {
                            replaced[before] = true;
                        }
                        key = self.behind(key + 1);
                    }
                }
                _ => {}
            }
            index += 1;
        }
        Ok(())
    }
}

fn no_map(at: usize) -> Fault {
    Fault::new(
        at,
        "found a merge key '<<' whose value is neither a mapping nor a list of mappings; quote the key if it is a text",
    )
}
