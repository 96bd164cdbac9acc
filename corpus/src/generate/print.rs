//! Prints values as YAML.
#![allow(clippy::format_push_string, clippy::nonminimal_bool)]

use super::tree::{Style, Tree};

/// A document, followed by a line feed.
pub(super) fn document(tree: &Tree, style: Style) -> String {
    let mut printer = Printer { out: String::new(), style, choices: style.choices | 1 };
    match tree {
        Tree::Map(members) if !members.is_empty() && style.flow_from > 0 && !style.json => {
            printer.block_map(members, 0, 0);
        }
        Tree::Seq(items) if !items.is_empty() && style.flow_from > 0 && !style.json => printer.block_seq(items, 0, 0),
        tree => printer.flow(tree),
    }
    if !printer.out.ends_with('\n') {
        printer.out.push('\n');
    }
    printer.out
}

struct Printer {
    out: String,
    style: Style,
    choices: u64,
}

impl Printer {
    /// Returns a number below `n`, from a separate random number generator, so that the value determines the style.
    fn choose(&mut self, n: u64) -> u64 {
        self.choices ^= self.choices << 13;
        self.choices ^= self.choices >> 7;
        self.choices ^= self.choices << 17;
        self.choices % n
    }

    fn pad(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    fn block_map(&mut self, members: &[(String, Tree)], column: usize, depth: usize) {
        for (i, (key, value)) in members.iter().enumerate() {
            if i > 0 {
                self.pad(column);
            }
            if self.choose(40) == 0 {
                self.out.push_str("# a comment: here\n");
                self.pad(column);
            }
            self.scalar(key, false);
            self.out.push(':');
            let indentless = self.style.indentless && matches!(value, Tree::Seq(_));
            let inner = if indentless { column } else { column + self.style.indent };
            self.value(value, inner, depth + 1, true);
        }
    }

    fn block_seq(&mut self, items: &[Tree], column: usize, depth: usize) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.pad(column);
            }
            self.out.push('-');
            self.value(item, column + 2, depth + 1, false);
        }
    }

    /// Prints what follows `:` or `-`, with the line feed.
    fn value(&mut self, value: &Tree, column: usize, depth: usize, in_map: bool) {
        let block = depth < self.style.flow_from;
        match value {
            Tree::Map(members) if block && !members.is_empty() => {
                if in_map {
                    self.out.push('\n');
                    self.pad(column);
                } else {
                    self.out.push(' ');
                }
                self.block_map(members, column, depth);
            }
            Tree::Seq(items) if block && !items.is_empty() => {
                if in_map {
                    self.out.push('\n');
                    self.pad(column);
                } else {
                    self.out.push(' ');
                }
                self.block_seq(items, column, depth);
            }
            Tree::Text(text) if block && self.choose(4) == 0 && literal_can_hold(text) => self.literal(text, column),
            value => {
                self.out.push(' ');
                if matches!(value, Tree::Plain(text) if text.is_empty()) {
                    self.out.pop();
                }
                if block {
                    self.leaf(value);
                } else {
                    self.flow(value);
                }
                if self.choose(40) == 0 {
                    self.out.push_str(" # it's a comment");
                }
                self.out.push('\n');
            }
        }
    }

    fn leaf(&mut self, value: &Tree) {
        match value {
            Tree::Plain(text) => self.out.push_str(text),
            Tree::Text(text) => self.scalar(text, false),
            Tree::Seq(_) | Tree::Map(_) => self.flow(value),
        }
    }

    fn literal(&mut self, text: &str, column: usize) {
        let column = column.max(1);
        self.out.push_str(match (text.ends_with("\n\n"), text.ends_with('\n')) {
            (true, _) => " |+\n",
            (false, true) => " |\n",
            (false, false) => " |-\n",
        });
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                self.pad(column);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    fn flow(&mut self, tree: &Tree) {
        match tree {
            // JSON has no empty scalars, and fewer forms of numbers.
            Tree::Plain(text) if self.style.json && serde_json::from_str::<serde_json::Value>(text).is_err() => {
                self.out.push_str("null");
            }
            Tree::Plain(text) if text.is_empty() => self.out.push('~'),
            Tree::Plain(text) => self.out.push_str(text),
            Tree::Text(text) => self.scalar(text, true),
            Tree::Seq(items) => {
                self.out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.flow(item);
                }
                self.out.push(']');
            }
            Tree::Map(members) => {
                self.out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.scalar(key, true);
                    self.out.push_str(": ");
                    self.flow(value);
                }
                self.out.push('}');
            }
        }
    }

    /// A string without quotes if possible, otherwise with one kind of quotes. A string that YAML reads as something
    /// else is sometimes left without quotes, too: both readers read the same manifest.
    fn scalar(&mut self, text: &str, flow: bool) {
        let choice = self.choose(6);
        if self.style.json {
            self.out.push_str(&serde_json::Value::from(text).to_string());
        } else if choice < 4 && plain_can_hold(text, flow) {
            self.out.push_str(text);
        } else if choice < 5
            && text
                .chars()
                .all(|c| c >= ' ' && !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}'))
        {
            self.out.push('\'');
            self.out.push_str(&text.replace('\'', "''"));
            self.out.push('\'');
        } else {
            self.double_quoted(text);
        }
    }

    fn double_quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                '\n' => self.out.push_str("\\n"),
                '\t' => self.out.push_str("\\t"),
                c if c < ' ' || matches!(c, '\u{7f}'..='\u{9f}' | '\u{FEFF}') => {
                    self.out.push_str(&format!("\\x{:02x}", u32::from(c) & 0xff));
                }
                c if c > '\u{7f}' && self.choose(3) == 0 => match u32::from(c) {
                    code @ 0..=0xffff => self.out.push_str(&format!("\\u{code:04x}")),
                    code => self.out.push_str(&format!("\\U{code:08x}")),
                },
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

/// Returns whether a scalar without quotes can represent the string.
fn plain_can_hold(text: &str, flow: bool) -> bool {
    let first = text.chars().next();
    first.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '~' | '+' | '$' | '(' | '^'))
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(|c| c >= ' ' && !matches!(c, '\u{7f}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}'))
        && !(flow && text.contains([',', '[', ']', '{', '}', ':', '?']))
        && !text.starts_with("...")
}

/// Returns whether a literal block can represent the string.
fn literal_can_hold(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with([' ', '\n', '\t'])
        && text.chars().all(|c| {
            c == '\n' || (c >= ' ' && !matches!(c, '\u{7f}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}'))
        })
}
