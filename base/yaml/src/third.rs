//! Scalars as go-yaml's third version reads them. kustomize reads resources and strategic merge patches with it, and
//! writes the values that it read.

use crate::tape::{Flags, Tape};
use crate::{Kind, resolve};

/// What the third version makes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Third {
    /// Whether a value or a key is another one than before.
    pub is_changed: bool,
    /// The first node that a program cannot write as JSON after it read the document: a key that is not a string, below
    /// the root, or a word such as `yes` with the tag `!!bool`.
    pub refused: Option<u32>,
}

/// A collection that is being read.
struct Open {
    end: u32,
    is_map: bool,
    /// Whether the next node is a key.
    is_key: bool,
    /// Whether it is written between brackets.
    is_flow: bool,
}

/// Returns whether a plain scalar is a boolean for the second version only.
fn is_word(text: &str) -> bool {
    matches!(resolve::plain(text), resolve::Value::Bool(_))
        && !matches!(text.as_bytes(), [b't' | b'T' | b'f' | b'F', ..])
}

/// Returns an octal number with a sign behind the prefix, which only the third version reads.
fn octal(text: &str) -> Option<i64> {
    let text = text.strip_prefix("0o")?.replace('_', "");
    text.starts_with(['+', '-']).then(|| i64::from_str_radix(&text, 8).ok()).flatten()
}

impl Tape {
    /// Gives scalars the values that go-yaml's third version reads, instead of those of the second: words such as `y`
    /// and `off` are strings, as values and as keys, and a date or time without quotes is a point in time as Go prints
    /// it. In brackets, a time stays a string: kustomize writes what it reads once more before it decides, and there a
    /// colon needs quotes. `source` is the source of the document.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Kind, Limits, Stream, Tape};
    ///
    /// let source = "y: {on: off, from: 2001-01-02, also: true}\n";
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// assert!(tape.read_as_third(source).is_changed);
    /// let y = tape.document(source).node(0).get("y").unwrap();
    /// assert_eq!(y.get("on").unwrap().as_str(), Some("off"));
    /// assert_eq!(y.get("from").unwrap().as_str(), Some("2001-01-02T00:00:00Z"));
    /// assert_eq!(y.get("also").unwrap().kind(), Kind::True);
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn read_as_third(&mut self, source: &str) -> Third {
        let mut out = Third::default();
        let end = self.entries.first().map_or(0, |root| if root.is_container() { root.a } else { 1 });
        let mut open: Vec<Open> = Vec::new();
        for index in 0..end {
            while open.last().is_some_and(|open| open.end <= index) {
                open.pop();
            }
            let depth = open.len();
            let is_key = match open.last_mut() {
                Some(open) if open.is_map => {
                    open.is_key = !open.is_key;
                    !open.is_key
                }
                _ => false,
            };
            let entry = self.entries[index as usize];
            let is_flow = open.last().is_some_and(|open| open.is_flow);
            if entry.is_container() {
                let is_flow = is_flow || matches!(source.as_bytes().get(entry.start as usize), Some(b'{' | b'['));
                open.push(Open { end: entry.a, is_map: entry.kind == Kind::Map, is_key: true, is_flow });
                continue;
            }
            let is_refused = if is_key { self.key(source, index, depth) } else { self.value(source, index, is_flow) };
            match is_refused {
                None => {}
                Some(true) => out.refused = out.refused.or(Some(index)),
                Some(false) => out.is_changed = true,
            }
        }
        out
    }

    /// Reads a key. Returns whether it is refused, or is another one now.
    fn key(&mut self, source: &str, index: u32, depth: usize) -> Option<bool> {
        let entry = &mut self.entries[index as usize];
        // A key has the string of its value, which is converted to one only at the root.
        let is_below = depth > 1;
        if entry.flags.has(Flags::RESOLVED_KEY) {
            let written = source.get(entry.start as usize..entry.end as usize).unwrap_or_default();
            let is_tagged = entry.flags.has(Flags::TAGGED);
            if is_tagged || !is_word(written) {
                return (is_below || is_tagged).then_some(true);
            }
            (entry.a, entry.b) = (entry.start, entry.end - entry.start);
            entry.flags = entry.flags.without(Flags::RESOLVED_KEY).without(Flags::DECODED);
            return Some(false);
        }
        let is_plain = !entry.flags.has(Flags::QUOTED) && !entry.flags.has(Flags::TAGGED);
        let text = self.document(source).node(index).text();
        (is_plain && is_below && resolve::moment(text).is_some()).then_some(true)
    }

    /// Reads a value. Returns whether it is refused, or is another one now.
    fn value(&mut self, source: &str, index: u32, is_flow: bool) -> Option<bool> {
        let entry = self.entries[index as usize];
        let text = self.document(source).node(index).text();
        let is_tagged = entry.flags.has(Flags::TAGGED);
        let (kind, printed) = match entry.kind {
            Kind::True | Kind::False if is_word(text) => {
                if is_tagged {
                    return Some(true);
                }
                (Kind::Str, None)
            }
            Kind::Str if !is_tagged && !entry.flags.has(Flags::QUOTED) => match (resolve::moment(text), octal(text)) {
                (Some(_), _) if is_flow && text.contains(':') => return None,
                (Some(moment), _) => match moment.print() {
                    Some(printed) if printed == text => return None,
                    Some(printed) => (Kind::Str, Some(printed)),
                    None => return Some(true),
                },
                (None, Some(number)) => (Kind::Int, Some(number.to_string())),
                (None, None) => return None,
            },
            _ => return None,
        };
        let from = self.text.len();
        let entry = &mut self.entries[index as usize];
        entry.kind = kind;
        if let Some(printed) = printed {
            // The offsets of a tape have 32 bits.
            let (Ok(from), Ok(_)) = (u32::try_from(from), u32::try_from(from + printed.len())) else {
                return Some(true);
            };
            (entry.a, entry.b) = (from, printed.len() as u32);
            entry.flags = entry.flags.with(Flags::DECODED);
            self.text.push_str(&printed);
        }
        Some(false)
    }
}
