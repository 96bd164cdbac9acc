//! Strings, numbers and free values of documents.

use super::choices::{Choices, Object};
use crate::generate::tree::Tree;

pub(super) const TEXTS: &[&str] = &[
    "text",
    "",
    "Some words, with a comma.",
    "<a> & b",
    "line\nline",
    "key: value",
    "# no comment",
    "é€",
    "it's \"so\"",
    "trailing ",
    "1",
    "true",
    "null",
    "~",
    "2001-01-01",
    "a\\b",
    "tab\tbed",
];

const ODD_TEXTS: &[&str] = &[
    "😀",
    "\u{2028}",
    "a \u{2029} b",
    "\u{feff}x",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{1}",
    "\r\n",
    "\n\n",
    " \n",
    "a\n b",
    " a\nb",
    "a\n\n",
    "a \nb",
    "0x1F",
    "1_000",
    ".inf",
    "-",
    "- a",
    "? a",
    "---",
    "{a}",
    "[a",
    "@a",
    "%a",
    "`a",
    "!a",
    "&a",
    "*a",
    "|",
    ">",
    "a:",
    "a #b",
    "'",
    "\"",
    "y",
    "<<",
    "12:30:45",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
];

const NUMBERS: &[&str] = &["0", "1", "-1", "2", "10", "1.5", "0.1", "100", "2147483648", "0.01"];

const ODD_NUMBERS: &[&str] = &[
    "1.0",
    "-0",
    "-0.0",
    "1e3",
    "1E+2",
    "1e20",
    "1e21",
    "1e-6",
    "1e-7",
    "0.30000000000000004",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "5e-324",
    "1.7976931348623157e308",
    "123456.789e-3",
];

/// A string. Only `Level::Weird` has unusual ones.
pub(super) fn text(choices: &mut Choices<'_>, odd: bool) -> Tree {
    if odd && choices.chance(8) { choices.text(ODD_TEXTS) } else { choices.text(TEXTS) }
}

/// A number. Only `Level::Weird` has unusual ones.
pub(super) fn number(choices: &mut Choices<'_>, odd: bool) -> Tree {
    if odd && choices.chance(15) { choices.plain(ODD_NUMBERS) } else { choices.plain(NUMBERS) }
}

/// A length or a count.
pub(super) fn count(choices: &mut Choices<'_>) -> Tree {
    choices.plain(&["1", "0", "2", "20", "253", "-1", "9007199254740993"])
}

/// A value of any kind, as in defaults, enumerations, examples and extensions.
pub(super) fn any(choices: &mut Choices<'_>, odd: bool, depth: usize) -> Tree {
    match choices.below(if depth == 0 { 4 } else { 7 }) {
        0 => text(choices, odd),
        1 => number(choices, odd),
        2 => choices.boolean(),
        3 => Tree::plain(choices.pick(&["null", "{}", "[]"])),
        4 => choices.list(3, |choices| any(choices, odd, depth - 1)),
        _ => {
            let mut object = Object::new();
            for _ in 0..choices.below(4) {
                let key = choices.pick(&["a", "b", "c", "", "1", "true", "a b", "é", "\u{fb33}", "😀", "x-y", "a\nb"]);
                let value = any(choices, odd, depth - 1);
                object.put(key, value);
            }
            object.tree()
        }
    }
}

/// An extension of any name; only lower-case ones have a protobuf form.
pub(super) fn extension(choices: &mut Choices<'_>, object: &mut Object, odd: bool) {
    let name = choices.pick(&["x-a", "x-b", "x-", "x-kubernetes-odd", "x-\u{e9}", "x-1"]);
    let name = if odd && choices.chance(5) { name.replacen('x', "X", 1) } else { name.to_owned() };
    let value = any(choices, odd, 2);
    object.put(name, value);
}

/// Prints JSON. Spaces and escapes may differ from those that programs write.
pub(super) fn json(tree: &Tree, spaced: bool, escaped: bool) -> String {
    let mut out = String::new();
    print(&mut out, tree, spaced, escaped);
    out
}

fn print(out: &mut String, tree: &Tree, spaced: bool, escaped: bool) {
    match tree {
        Tree::Plain(text) => out.push_str(text),
        Tree::Text(text) => quoted(out, text, escaped),
        Tree::Seq(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                separate(out, i, spaced);
                print(out, item, spaced, escaped);
            }
            out.push(']');
        }
        Tree::Map(members) => {
            out.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                separate(out, i, spaced);
                quoted(out, key, escaped);
                out.push_str(if spaced { ": " } else { ":" });
                print(out, value, spaced, escaped);
            }
            out.push('}');
        }
    }
}

fn separate(out: &mut String, index: usize, spaced: bool) {
    if index > 0 {
        out.push_str(if spaced { ",\n " } else { "," });
    }
}

fn quoted(out: &mut String, text: &str, escaped: bool) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || (escaped && !c.is_ascii()) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
