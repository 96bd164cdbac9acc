//! Reading path elements and sets.

use super::super::build::Stack;
use super::super::element::PathElement;
use super::super::set::{Entry, Set};
use super::{ElementError, SetError};
use crate::Bump;
use crate::value::{Compat, JsonError, Quoted, Reader, Value};

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

    /// Reads the serialized form as one version does.
    ///
    /// # Errors
    /// See [`ElementError`].
    pub fn parse_as(text: &'a str, compat: Compat, arena: &'a Bump) -> Result<PathElement<'a>, ElementError> {
        parse(text, compat, arena, &mut Vec::new())
    }
}

/// Reads an element. `fields` is room for the fields of a key, and stays empty.
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
    let mut reader = Reader::new(content, arena);
    reader.object(|reader, name| {
        fields.push((name, reader.value()?));
        Ok(())
    })?;
    reader.finish(compat)?;
    Ok(sorted(fields, arena))
}

/// The key of these fields. Names may come again, and then keep their order.
#[inline]
fn sorted<'a>(fields: &mut [(&'a str, Value<'a>)], arena: &'a Bump) -> PathElement<'a> {
    if fields.len() > 1 {
        fields.sort_by(|a, b| a.0.cmp(b.0));
    }
    PathElement::Key(arena.alloc_slice_copy(fields))
}

impl<'a> Set<'a> {
    /// Reads the JSON form of a set in one pass.
    ///
    /// Elements of unknown kinds are left out with what is below them; bytes that are no UTF-8 become U+FFFD, one
    /// each. Of a repeated element the last paths below it count, and membership adds up.
    ///
    /// # Errors
    /// The text is no JSON object or null, holds something else than objects and nulls, an element that cannot be read,
    /// or a path of more than [`MAX_DEPTH`](crate::value::MAX_DEPTH) elements.
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

    /// Reads the JSON form of a set as one version does.
    ///
    /// # Errors
    /// As for [`Set::read_json`].
    pub fn read_json_as(text: &'a [u8], compat: Compat, arena: &'a Bump) -> Result<Set<'a>, SetError> {
        let text = std::str::from_utf8(text).unwrap_or_else(|_| arena.alloc_str(&replaced(text)));
        let mut reader = Reader::new(text, arena);
        let stack = Stack::with_capacity((text.len() / 32).min(256));
        let mut open = Open { compat, arena, stack, fields: Vec::new(), bad: None };
        let read = open.node(&mut reader).and_then(|(set, _)| reader.finish(compat).map(|()| set));
        match (read, open.bad) {
            (Ok(set), _) => Ok(set),
            (Err(error), Some(bad)) => Err(SetError { message: bad.to_string(), at: error.at }),
            (Err(error), None) => Err(error.into()),
        }
    }
}

/// The text with U+FFFD for every byte that is no UTF-8.
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
    stack: Stack<'a>,
    fields: Vec<(&'a str, Value<'a>)>,
    /// What was wrong with an element, when reading stopped there.
    bad: Option<ElementError>,
}

impl<'a> Open<'a> {
    /// Reads a node, and tells whether it makes its element a member: by a `.`, or because it holds nothing.
    fn node(&mut self, reader: &mut Reader<'a>) -> Result<(Set<'a>, bool), JsonError> {
        let mark = self.stack.mark();
        let mut member = false;
        let mut more = reader.enter()?;
        while more {
            match self.element(reader, &mut member)? {
                Some(element) if reader.leaf() => self.stack.push(element, true, Set::EMPTY),
                Some(element) => {
                    reader.colon()?;
                    let (children, member) = self.node(reader)?;
                    self.stack.push(element, member, children);
                }
                None => {
                    reader.colon()?;
                    reader.skip()?;
                }
            }
            more = reader.more()?;
        }
        let set = self.stack.close_with(mark, self.arena, replace);
        Ok((set, member || set.is_empty()))
    }

    /// Reads a key: an element, or one whose value is not looked at. A `.` makes the node a member.
    #[inline]
    fn element(&mut self, reader: &mut Reader<'a>, member: &mut bool) -> Result<Option<PathElement<'a>>, JsonError> {
        let element = match reader.quoted(&mut self.fields) {
            Some(Quoted::Name(name)) => return Ok(Some(PathElement::FieldName(name))),
            Some(Quoted::Fields) => Ok(sorted(&mut self.fields, self.arena)),
            Some(Quoted::Value(value)) => Ok(PathElement::Value(value)),
            Some(Quoted::Index(index)) => Ok(PathElement::Index(index)),
            None => {
                let name = reader.name()?;
                if name == "." {
                    *member = true;
                    return Ok(None);
                }
                parse(name, self.compat, self.arena, &mut self.fields)
            }
        };
        match element {
            Ok(element) => Ok(Some(element)),
            Err(ElementError::Unknown) => Ok(None),
            Err(error) => {
                self.bad = Some(error);
                Err(JsonError { what: "no path element", at: reader.at() })
            }
        }
    }
}

/// What becomes of the children of an element that comes again: those below the later one count.
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
