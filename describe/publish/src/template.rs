//! Templates of path items. A path item is printed once, with marks for the names of the resource. The names of each
//! resource replace the marks.

use std::borrow::Cow;

/// A hole in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Slot {
    Group,
    Version,
    Plural,
    Kind,
    /// Name of the kind's definition.
    Definition,
    /// Name of the list kind's definition.
    List,
    /// Group and version in an operation id.
    Infix,
    Tag,
    /// Kind at the start of the last part of an operation id.
    KindFirst,
    /// Kind inside an operation id.
    KindInside,
    /// Kind with its article.
    Article,
}

const SLOTS: [Slot; 11] = [
    Slot::Group,
    Slot::Version,
    Slot::Plural,
    Slot::Kind,
    Slot::Definition,
    Slot::List,
    Slot::Infix,
    Slot::Tag,
    Slot::KindFirst,
    Slot::KindInside,
    Slot::Article,
];

/// The first of the characters that mark holes. They are in a private-use plane, which Kubernetes' documents do not
/// use.
const FIRST_MARK: u32 = 0xF_0000;

impl Slot {
    /// Returns the character that marks the hole in the printed item.
    pub(crate) fn mark(self) -> char {
        char::from_u32(FIRST_MARK + self as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

/// The strings for the holes, already escaped for the document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fill {
    texts: [Vec<u8>; SLOTS.len()],
}

impl Fill {
    pub(crate) fn new(text: impl Fn(Slot) -> Vec<u8>) -> Self {
        Fill { texts: SLOTS.map(text) }
    }
}

/// A string with holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    /// The string without its holes.
    pub(crate) text: Cow<'static, [u8]>,
    /// The holes in order, each with its offset in the string.
    pub(crate) holes: Cow<'static, [(u32, Slot)]>,
}

impl Template {
    /// Creates a template from a printed string with marks.
    pub(crate) fn parse(printed: &str) -> Template {
        let (mut text, mut holes) = (Vec::with_capacity(printed.len()), Vec::new());
        let mut rest = printed;
        while let Some((at, slot)) = rest.char_indices().find_map(|(at, c)| Some((at, Self::slot(c)?))) {
            text.extend_from_slice(&rest.as_bytes()[..at]);
            holes.push((text.len() as u32, slot));
            rest = &rest[at + slot.mark().len_utf8()..];
        }
        text.extend_from_slice(rest.as_bytes());
        Template { text: text.into(), holes: holes.into() }
    }

    fn slot(c: char) -> Option<Slot> {
        let n = u32::from(c).checked_sub(FIRST_MARK)?;
        SLOTS.get(n as usize).copied()
    }

    /// Appends the string with the holes filled.
    pub(crate) fn write(&self, out: &mut Vec<u8>, fill: &Fill) {
        let mut from = 0;
        for &(at, slot) in &*self.holes {
            let at = at as usize;
            out.extend_from_slice(&self.text[from..at]);
            out.extend_from_slice(&fill.texts[slot as usize]);
            from = at;
        }
        out.extend_from_slice(&self.text[from..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_in_place() {
        let text = format!("a{}b{}{}", Slot::Group.mark(), Slot::Article.mark(), Slot::Group.mark());
        let fill = Fill::new(|slot| format!("<{slot:?}>").into_bytes());
        let mut out = Vec::new();
        Template::parse(&text).write(&mut out, &fill);
        assert_eq!(out, b"a<Group>b<Article><Group>");
    }
}
