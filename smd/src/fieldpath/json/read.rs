//! Reads path elements and sets.

use super::super::build::Stack;
use super::super::element::PathElement;
use super::super::set::{Entry, Set, order};
use super::{ElementError, SetError};
use crate::Bump;
use crate::value::read::{Quoted, Reader};
use crate::value::{Compat, JsonError, Value};

impl<'a> PathElement<'a> {
    /// Reads the serialized form, such as `f:spec` or `k:{"name":"a"}`.
    ///
    /// # Errors
    /// See [`ElementError`].
    ///
    /// # Example: the canonical form
    /// ```
    /// use kubeshape_smd::{Bump, fieldpath::PathElement};
    /// let arena = Bump::new();
    /// let element = PathElement::parse(r#"k:{"b": 1.0, "a": "<"}"#, &arena)?;
    /// assert_eq!(element.to_string(), r#"[a="<",b=1]"#);
    /// let mut out = Vec::new();
    /// element.write(&mut out)?;
    /// assert_eq!(out, br#"k:{"a":"\u003c","b":1}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &'a str, arena: &'a Bump) -> Result<PathElement<'a>, ElementError> {
        Self::parse_as(text, Compat::default(), arena)
    }

    /// Reads the serialized form by the rules of one version.
    ///
    /// # Errors
    /// See [`ElementError`].
    pub fn parse_as(text: &'a str, compat: Compat, arena: &'a Bump) -> Result<PathElement<'a>, ElementError> {
        parse(text, compat, arena, &mut Vec::new())
    }
}

/// Reads an element. `fields` is a buffer for the fields of a key, and stays empty.
#[inline]
pub(super) fn parse<'a>(
    text: &'a str,
    compat: Compat,
    arena: &'a Bump,
    fields: &mut Vec<(&'a str, Value<'a>)>,
) -> Result<PathElement<'a>, ElementError> {
    let (letter, content) = match text.as_bytes() {
        [letter, b':', ..] => (*letter, text.get(2..).unwrap_or_default()),
        [_, _, ..] => return Err(ElementError::MissingColon(text.to_owned())),
        _ => return Err(ElementError::TooShort),
    };
    match letter {
        b'f' => Ok(PathElement::FieldName(content)),
        b'k' => key(content, compat, arena, fields).map_err(content_error),
        b'v' => Value::read_json(content, arena, compat).map(PathElement::Value).map_err(content_error),
        b'i' => match content.parse() {
            Ok(index) => Ok(PathElement::Index(index)),
            Err(_) => Err(ElementError::Content(format!("no index: {content}"))),
        },
        _ => Err(ElementError::Unknown),
    }
}

#[cold]
fn content_error(error: JsonError) -> ElementError {
    ElementError::Content(error.to_string())
}

fn key<'a>(
    content: &'a str,
    compat: Compat,
    arena: &'a Bump,
    fields: &mut Vec<(&'a str, Value<'a>)>,
) -> Result<PathElement<'a>, JsonError> {
    fields.clear();
    let mut reader = Reader::new(content, arena, compat);
    reader.object(|reader, name| {
        fields.push((name, reader.value()?));
        Ok(())
    })?;
    reader.finish()?;
    Ok(sorted(fields, arena))
}

/// Returns the key of these fields. Repeated names keep their order.
#[inline]
fn sorted<'a>(fields: &mut [(&'a str, Value<'a>)], arena: &'a Bump) -> PathElement<'a> {
    PathElement::Key(match fields {
        // Most keys have one or two fields. These are copied without a call.
        [field] => std::slice::from_ref(arena.alloc(*field)),
        [a, b] if a.0 <= b.0 => arena.alloc([*a, *b]),
        _ => {
            fields.sort_by(|a, b| a.0.cmp(b.0));
            arena.alloc_slice_copy(fields)
        }
    })
}

impl<'a> Set<'a> {
    /// Reads the JSON form of a set in one pass.
    ///
    /// Elements of unknown kinds are left out with everything below them. Bytes that are not UTF-8 become U+FFFD, one
    /// each. Of a repeated element, the last children are used, and it is a member if any of them is.
    ///
    /// # Errors
    /// The string is not a JSON object or null, has something other than objects and nulls, an element that cannot be
    /// read, or a path of more than [`MAX_DEPTH`](crate::value::MAX_DEPTH) elements.
    ///
    /// # Example: an element and what is below it
    /// ```
    /// use kubeshape_smd::{Bump, fieldpath::Set};
    /// let arena = Bump::new();
    /// let set = Set::read_json(br#"{"f:a":{".":{},"f:b":{}}}"#, &arena)?;
    /// assert_eq!(set.to_string(), ".a\n.a.b");
    /// # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
    /// ```
    pub fn read_json(text: &'a [u8], arena: &'a Bump) -> Result<Set<'a>, SetError> {
        Self::read_json_as(text, Compat::default(), arena)
    }

    /// Reads the JSON form of a set by the rules of one version.
    ///
    /// # Errors
    /// As for [`Set::read_json`].
    pub fn read_json_as(text: &'a [u8], compat: Compat, arena: &'a Bump) -> Result<Set<'a>, SetError> {
        let text = std::str::from_utf8(text).unwrap_or_else(|_| arena.alloc_str(&replaced(text)));
        let mut reader = Reader::new(text, arena, compat);
        // A written set takes at least eight bytes per entry, and mostly far more.
        let entries = Vec::with_capacity((text.len() / 16).min(256));
        let mut open = Open { compat, arena, entries, nodes: Vec::with_capacity(16), fields: Vec::new(), bad: None };
        let read = open.root(&mut reader).and_then(|set| reader.finish().map(|()| set));
        match (read, open.bad) {
            (Ok(set), _) => Ok(set),
            (Err(error), Some(bad)) => Err(SetError { message: bad.to_string(), at: error.at }),
            (Err(error), None) => Err(error.into()),
        }
    }
}

/// Returns the string with U+FFFD for every byte that is not UTF-8.
#[cold]
fn replaced(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}

/// The nodes that are being read.
struct Open<'a> {
    compat: Compat,
    arena: &'a Bump,
    /// The entries of all open nodes, innermost last. Below the entries of a node is their parent.
    entries: Vec<Entry<'a>>,
    /// For the nodes around the innermost one: where their entries begin, and whether a `.` was among them.
    nodes: Vec<(usize, bool)>,
    fields: Vec<(&'a str, Value<'a>)>,
    /// The error in an element, if reading stopped there.
    bad: Option<ElementError>,
}

impl<'a> Open<'a> {
    fn root(&mut self, reader: &mut Reader<'a>) -> Result<Set<'a>, JsonError> {
        // For the innermost node.
        let (mut mark, mut member) = (0, false);
        let mut more = reader.enter()?;
        loop {
            while more {
                if !self.element(reader, &mut member)? {
                    reader.colon()?;
                    reader.skip()?;
                } else if !reader.leaf() {
                    reader.colon()?;
                    if reader.enter()? {
                        self.nodes.push((mark, member));
                        (mark, member) = (self.entries.len(), reader.dot());
                        // A node with only a `.` ends here.
                        more = !member || reader.more()?;
                        continue;
                    }
                }
                more = reader.more()?;
            }
            let set = self.close(mark);
            let Some((outer, outer_member)) = self.nodes.pop() else { return Ok(set) };
            // An element is a member if its node has a `.`, or is empty.
            if let Some(entry) = mark.checked_sub(1).and_then(|at| self.entries.get_mut(at)) {
                entry.member = member || set.is_empty();
                entry.children = set;
            }
            (mark, member) = (outer, outer_member);
            more = reader.more()?;
        }
    }

    /// Removes the entries from the mark on and returns their set.
    #[inline]
    fn close(&mut self, mark: usize) -> Set<'a> {
        let entries = match self.entries.get(mark..).unwrap_or_default() {
            [] => return Set::EMPTY,
            // A single entry is copied without a call.
            [entry] => std::slice::from_ref(self.arena.alloc(*entry)),
            node if node.is_sorted_by(|a, b| order(a, b).is_lt()) => self.arena.alloc_slice_copy(node),
            _ => return self.close_mixed(mark),
        };
        self.entries.truncate(mark);
        Set { entries }
    }

    /// Does the same as [`close`](Self::close), for entries that are unsorted or repeated.
    #[cold]
    fn close_mixed(&mut self, mark: usize) -> Set<'a> {
        let mut stack = Stack::with_capacity(self.entries.len() - mark);
        self.entries.drain(mark..).for_each(|entry| stack.push(entry.element, entry.member, entry.children));
        stack.close_with(0, self.arena, replace)
    }

    #[inline]
    fn push(&mut self, element: PathElement<'a>) {
        self.entries.push(Entry::new(element, true, Set::EMPTY));
    }

    /// Reads a key: an element, which becomes a member, or one whose value is skipped. A `.` makes the node a member.
    /// Returns whether there is an element.
    #[inline]
    fn element(&mut self, reader: &mut Reader<'a>, member: &mut bool) -> Result<bool, JsonError> {
        match reader.quoted(&mut self.fields) {
            Some(Quoted::Name(name)) => self.push(PathElement::FieldName(name)),
            Some(Quoted::Fields) => {
                let key = sorted(&mut self.fields, self.arena);
                self.push(key);
            }
            Some(Quoted::Value(value)) => self.push(PathElement::Value(value)),
            Some(Quoted::Index(index)) => self.push(PathElement::Index(index)),
            None => return self.any_element(reader, member),
        }
        Ok(true)
    }

    /// Does the same as [`element`](Self::element), for elements in any notation.
    #[cold]
    fn any_element(&mut self, reader: &mut Reader<'a>, member: &mut bool) -> Result<bool, JsonError> {
        let name = reader.name()?;
        if name == "." {
            *member = true;
            return Ok(false);
        }
        match parse(name, self.compat, self.arena, &mut self.fields) {
            Ok(element) => {
                self.push(element);
                Ok(true)
            }
            Err(ElementError::Unknown) => Ok(false),
            Err(error) => {
                self.bad = Some(error);
                Err(JsonError { what: "no path element", at: reader.at() })
            }
        }
    }
}

/// Sets the children of a repeated element: those of the later one are used.
///
/// Upstream has a list of members and one of children, and writes the first element of the latter.
pub(super) fn replace<'a>(last: &mut Entry<'a>, entry: &Entry<'a>) {
    if !entry.children.is_empty() {
        if last.children.is_empty() {
            last.element = entry.element;
        }
        last.children = entry.children;
    }
}
