//! Prints JSON.

use super::resolve::{self, Tag};
use kubeshape_yaml::{Flags, Kind, Node, json, number};

/// Prints JSON.
pub(super) struct Printer {
    pub(super) out: Vec<u8>,
    /// Whether the innermost object or list is still empty.
    pub(super) first: bool,
}

impl Printer {
    /// Prints a string in quotes.
    pub(super) fn text(&mut self, text: &str) {
        // gnostic reads JSON as YAML, where these would be errors or other characters.
        let odd = |c: char| matches!(c, '\x7F'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FFFE}' | '\u{FFFF}');
        if !text.contains(odd) {
            json::write_str(text, &mut self.out, false);
            return;
        }
        self.out.push(b'"');
        for part in text.split_inclusive(odd) {
            let plain = part.trim_end_matches(odd);
            let from = self.out.len();
            json::write_str(plain, &mut self.out, false);
            self.out.remove(from);
            self.out.pop();
            for c in part[plain.len()..].chars() {
                self.out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
            }
        }
        self.out.push(b'"');
    }

    /// Prints the comma before a member or an item, unless it is the first.
    pub(super) fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    /// Prints `null`.
    pub(super) fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }

    /// Prints the value of a node of a YAML document.
    pub(super) fn node(&mut self, node: Node<'_>) {
        match node.kind() {
            Kind::Map => {
                self.out.push(b'{');
                for (at, (key, value)) in node.pairs().enumerate() {
                    if at > 0 {
                        self.out.push(b',');
                    }
                    if key.entry().flags.has(Flags::RESOLVED_KEY) {
                        self.text(node.document().source().get(key.span()).unwrap_or_default());
                    } else {
                        self.text(key.text());
                    }
                    self.out.push(b':');
                    self.node(value);
                }
                self.out.push(b'}');
            }
            Kind::Seq => {
                self.out.push(b'[');
                for (at, item) in node.items().enumerate() {
                    if at > 0 {
                        self.out.push(b',');
                    }
                    self.node(item);
                }
                self.out.push(b']');
            }
            _ => self.scalar(node),
        }
    }

    fn scalar(&mut self, node: Node<'_>) {
        if node.entry().flags.has(Flags::QUOTED) { self.text(node.text()) } else { self.plain(node.text()) }
    }

    /// Prints a structural character.
    pub(super) fn mark(&mut self, mark: u8) {
        self.out.push(mark);
    }

    /// Prints an unquoted scalar, read as go-yaml 3 reads it: `yes` is a string.
    pub(super) fn plain(&mut self, text: &str) {
        match resolve::tag(text) {
            Tag::Null => self.null(),
            Tag::True => self.out.extend_from_slice(b"true"),
            Tag::False => self.out.extend_from_slice(b"false"),
            Tag::Int | Tag::Float if number::from_json_literal(text).is_some() => {
                self.out.extend_from_slice(text.as_bytes());
            }
            Tag::Int => match resolve::integer(text) {
                Some(value) => self.out.extend_from_slice(value.to_string().as_bytes()),
                None => self.text(text),
            },
            Tag::Float => match resolve::float(&text.replace('_', "")) {
                Some(value) => number::write_json(value, &mut self.out),
                None => self.text(text),
            },
            _ => self.text(text),
        }
    }
}
