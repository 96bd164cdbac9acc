//! Free JSON values inside schemas: `default`, `enum`, `example` and extensions.

use crate::escape::{self, Escape};
use crate::order;
use bumpalo::Bump;
use kubeshape_yaml::{Kind, Node, Number, number};

/// A JSON value that borrows its strings. Objects are sorted as they are printed and have no duplicate keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent that fits a signed 64-bit integer.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(&'a str),
    /// An array.
    Array(&'a [Json<'a>]),
    /// An object, sorted by [`order::utf16`].
    Object(&'a [(&'a str, Json<'a>)]),
}

/// How numbers are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Wide,
    InCrd,
    Doubles,
}

/// Returns whether this is a number of a JSON document that does not fit a double. Such a document was read as YAML,
/// where it is a string.
fn is_too_large(node: Node<'_>) -> bool {
    let text = node.text();
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && !node.entry().flags.has(kubeshape_yaml::Flags::QUOTED)
        && node.document().source().trim_start().starts_with(['{', '['])
        && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Returns whether an integer has more digits than a double.
pub(crate) fn loses_digits(node: Node<'_>) -> bool {
    let text = node.text();
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() > 15
        && digits.bytes().all(|b| b.is_ascii_digit())
        && text.parse::<f64>().is_ok_and(|double| format!("{double:.0}") != text)
}

/// Doubles represent every integer up to this one.
const EXACT: u64 = 1 << 53;

impl<'a> Json<'a> {
    /// Reads any node. Integers beyond a signed 64-bit integer become doubles, as in Kubernetes.
    pub fn read(node: Node<'a>, arena: &'a Bump) -> Json<'a> {
        Json::read_as(node, arena, Numbers::Wide, &mut None)
    }

    /// Reads any node of an OpenAPI document, where every number is a double. A number that is too large becomes the
    /// largest double. `odd` is set to a node that is such a number, a number that loses digits, or a mapping with a
    /// duplicate key.
    pub fn read_in_document(node: Node<'a>, arena: &'a Bump, odd: &mut Option<Node<'a>>) -> Json<'a> {
        Json::read_as(node, arena, Numbers::Doubles, odd)
    }

    /// Reads any node of a CustomResourceDefinition. Its values are printed and read once more before they are
    /// published, so minus zero, which is printed without a fraction, is an integer.
    pub fn read_in_crd(node: Node<'a>, arena: &'a Bump) -> Json<'a> {
        Json::read_as(node, arena, Numbers::InCrd, &mut None)
    }

    fn read_as(node: Node<'a>, arena: &'a Bump, numbers: Numbers, odd: &mut Option<Node<'a>>) -> Json<'a> {
        match node.kind() {
            Kind::Null => Json::Null,
            Kind::False => Json::Bool(false),
            Kind::True => Json::Bool(true),
            Kind::Str if numbers == Numbers::Doubles && is_too_large(node) => {
                *odd = Some(node);
                Json::Float(if node.text().starts_with('-') { f64::MIN } else { f64::MAX })
            }
            Kind::Str => Json::Str(node.text()),
            Kind::Int | Kind::Float => match node.as_number() {
                Some(number) if numbers == Numbers::Doubles && loses_digits(node) => {
                    *odd = Some(node);
                    Json::Float(number.as_f64())
                }
                Some(Number::Int(0)) if numbers == Numbers::Doubles && node.text().starts_with('-') => {
                    Json::Float(-0.0)
                }
                Some(Number::Int(n)) if numbers == Numbers::Doubles && n.unsigned_abs() > EXACT => {
                    Json::Float(Number::Int(n).as_f64())
                }
                Some(Number::Int(n)) => Json::Int(n),
                Some(Number::Float(0.0)) if numbers == Numbers::InCrd => Json::Int(0),
                Some(n) => Json::Float(n.as_f64()),
                None => Json::Null,
            },
            Kind::Seq => {
                let mut items = bumpalo::collections::Vec::with_capacity_in(node.len(), arena);
                items.extend(node.items().map(|item| Json::read_as(item, arena, numbers, odd)));
                Json::Array(items.into_bump_slice())
            }
            Kind::Map => {
                let mut members = bumpalo::collections::Vec::with_capacity_in(node.len(), arena);
                members
                    .extend(node.pairs().map(|(key, value)| (key.text(), Json::read_as(value, arena, numbers, odd))));
                let kept = order::sort_last_wins(&mut members, |(key, _)| key);
                if kept < members.len() {
                    *odd = Some(node);
                }
                members.truncate(kept);
                Json::Object(members.into_bump_slice())
            }
        }
    }

    /// Returns whether this is `null`, `""`, `[]` or `{}`: what Go's `omitempty` omits.
    pub fn is_empty(&self) -> bool {
        matches!(self, Json::Null | Json::Str("") | Json::Array([]) | Json::Object([]))
    }

    /// Returns a member of an object.
    pub fn get(&self, key: &str) -> Option<&'a Json<'a>> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| *k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Returns the contents of a string.
    pub fn as_str(&self) -> Option<&'a str> {
        match self {
            Json::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Appends the value as compact JSON.
    pub fn print(&self, out: &mut Vec<u8>, escape: Escape) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(true) => out.extend_from_slice(b"true"),
            Json::Bool(false) => out.extend_from_slice(b"false"),
            Json::Int(n) => number::write_int(*n, out),
            Json::Float(n) => number::write_json(*n, out),
            Json::Str(text) => escape::string(out, text, escape),
            Json::Array(items) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    item.print(out, escape);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    escape::string(out, key, escape);
                    out.push(b':');
                    value.print(out, escape);
                }
                out.push(b'}');
            }
        }
    }
}
