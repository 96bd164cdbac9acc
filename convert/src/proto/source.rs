//! The strings of a document as gnostic reads them.
//!
//! gnostic reads JSON as YAML. The result is nearly always the same. It differs, or is an error, if a string has line
//! breaks beyond ASCII, or escapes and characters that YAML does not have. A YAML source is converted to JSON first, as
//! `sigs.k8s.io/yaml` does: members are sorted, and numbers are written as Go writes them.

use std::borrow::Cow;

use kubeshape_yaml::{Document, Flags, Kind, Node, json, number};

use super::refusal::{Problem, Refusal};

/// A document and how its strings are read.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) document: Document<'a>,
    json: bool,
    /// Whether any string is different or invalid as YAML.
    odd: bool,
}

impl<'a> Source<'a> {
    /// Reads the document of a node. Also returns the parts that YAML cannot read.
    pub(super) fn new(root: Node<'a>) -> (Self, Vec<Refusal>) {
        let document = root.document();
        let json = document.is_json();
        let mut source = Source { document, json, odd: false };
        source.odd = source.any_odd(root);
        let mut refusals = Vec::new();
        for index in 0..u32::try_from(document.len()).unwrap_or(u32::MAX) {
            let node = document.node(index);
            match node.kind() {
                Kind::Str if source.odd => {
                    if let Err(reason) = source.read(node) {
                        refusals.push(Refusal { at: index, problem: Problem::Yaml { reason } });
                    }
                }
                Kind::Map => {
                    for (key, value) in node.pairs() {
                        if let Some(reason) = source.bad_key(key, value) {
                            refusals.push(Refusal { at: key.index(), problem: Problem::Yaml { reason } });
                        }
                    }
                }
                _ => {}
            }
        }
        (source, refusals)
    }

    /// Returns whether members are in document order; otherwise they are sorted and unique.
    pub(super) fn keeps_order(&self) -> bool {
        self.json
    }

    fn any_odd(&self, root: Node<'a>) -> bool {
        if self.json {
            return is_odd(&self.document.source().as_bytes()[root.span()]);
        }
        let all = 0..u32::try_from(self.document.len()).unwrap_or(u32::MAX);
        all.map(|index| self.document.node(index).text()).any(|text| is_odd(text.as_bytes()))
    }

    /// Returns the string between the quotes of the JSON that gnostic reads.
    fn raw(&self, node: Node<'a>) -> Cow<'a, str> {
        if self.json {
            let span = node.span();
            return self.document.source().get(span.start + 1..span.end.max(span.start + 2) - 1).unwrap_or("").into();
        }
        let mut out = Vec::new();
        json::write_str(node.text(), &mut out, true);
        String::from_utf8_lossy(&out[1..out.len() - 1]).into_owned().into()
    }

    fn read(&self, node: Node<'a>) -> Result<Option<String>, &'static str> {
        let raw = self.raw(node);
        check(&raw)?;
        if raw.contains(is_break) { fold(&raw).map(Some) } else { Ok(None) }
    }

    /// Returns the value of a string.
    pub(super) fn text(&self, node: Node<'a>) -> Cow<'a, str> {
        if self.odd
            && let Ok(Some(text)) = self.read(node)
        {
            return text.into();
        }
        node.text().into()
    }

    /// Returns any scalar as the JSON has it.
    pub(super) fn literal(&self, node: Node<'a>) -> Cow<'a, str> {
        match node.kind() {
            Kind::Str => self.text(node),
            Kind::Null => "null".into(),
            Kind::False => "false".into(),
            Kind::True => "true".into(),
            Kind::Int | Kind::Float if self.json => node.text().into(),
            Kind::Int | Kind::Float => {
                let mut out = Vec::new();
                let text = node.text();
                match node.as_number() {
                    // Go's JSON keeps the sign of a zero with a fraction or an exponent.
                    Some(number::Number::Int(0)) if text.starts_with('-') && text.contains(['.', 'e', 'E']) => {
                        return "-0".into();
                    }
                    Some(number::Number::Int(n)) => number::write_int(n, &mut out),
                    Some(number::Number::Uint(n)) => number::write_uint(n, &mut out),
                    Some(number::Number::Float(n)) => number::write_json(n, &mut out),
                    None => {}
                }
                String::from_utf8_lossy(&out).into_owned().into()
            }
            Kind::Seq | Kind::Map => "".into(),
        }
    }

    /// Returns the pairs of a mapping as gnostic finds them. gnostic also reads a list of alternating names and values
    /// as a mapping.
    ///
    /// The second value is true for a list whose last name has no value.
    pub(super) fn members(&self, node: Node<'a>) -> (Vec<(Node<'a>, Node<'a>)>, bool) {
        if node.kind() == Kind::Seq {
            let items: Vec<_> = node.items().collect();
            let names = |kind| matches!(kind, Kind::Str | Kind::Int | Kind::Null);
            let pairs = items.chunks_exact(2).map(|pair| (pair[0], pair[1]));
            let odd = items.chunks_exact(2).remainder().iter().any(|item| names(item.kind()));
            return (pairs.filter(|(name, _)| names(name.kind())).collect(), odd);
        }
        let mut pairs: Vec<_> = node.pairs().collect();
        if !self.json {
            pairs.sort_by(|a, b| a.0.text().cmp(b.0.text()));
            // Of a repeated key, the last one is used, and the order of equal keys was kept.
            pairs.reverse();
            pairs.dedup_by(|a, b| a.0.text() == b.0.text());
            pairs.reverse();
        }
        (pairs, false)
    }

    /// Returns why YAML has no key where JSON has one.
    fn bad_key(&self, key: Node<'a>, value: Node<'a>) -> Option<&'static str> {
        const LONG: &str = "expected a key of at most 1024 characters, as YAML needs it";
        const LINES: &str = "expected the colon on the line of its key, as YAML needs it";
        if self.odd && self.raw(key).contains(is_break) {
            return Some(LINES);
        }
        if !self.json {
            let text = key.text();
            return (text.len() > 1000 / 6 && self.raw(key).chars().count() + 2 > 1024).then_some(LONG);
        }
        let (from, end, to) = (key.span().start, key.span().end, value.span().start);
        let next = self.document.source().as_bytes().get(end);
        if (next == Some(&b':') && end - from <= 1000) || key.entry().flags.has(Flags::ALIASED) {
            return None;
        }
        let between = self.document.source().get(end..to)?;
        let before_colon = between.split(':').next()?;
        let length = self.document.source().get(from..end)?.chars().count() + before_colon.chars().count();
        if before_colon.contains(['\n', '\r']) { Some(LINES) } else { (length > 1024).then_some(LONG) }
    }
}

/// Returns whether a string may contain what YAML reads differently: line breaks beyond ASCII, and what [`check`]
/// rejects.
fn is_odd(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\' || *byte >= 0x7F) {
        rest = match &rest[at..] {
            [b'\\', b'/', ..]
            | [b'\\', b'u', b'd' | b'D', ..]
            | [0x7F, ..]
            | [0xC2, 0x80..=0x9F, ..]
            | [0xE2, 0x80, 0xA8 | 0xA9, ..]
            | [0xEF, 0xBF, 0xBE | 0xBF, ..] => return true,
            [b'\\', _, rest @ ..] | [_, rest @ ..] => rest,
            [] => rest,
        };
    }
    false
}

fn is_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Checks for characters and escapes that JSON has and go-yaml rejects.
fn check(raw: &str) -> Result<(), &'static str> {
    let control = |c: char| matches!(c, '\x7F'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    if raw.contains(control) {
        return Err("expected an escape for a control character, as YAML needs it");
    }
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|b| *b == b'\\') {
        at += found;
        match bytes.get(at + 1) {
            Some(b'/') => return Err("YAML has no escape \\/"),
            Some(b'u')
                if matches!(
                    bytes.get(at + 2..at + 4),
                    Some([b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F'])
                ) =>
            {
                return Err("YAML has no escape for half a character (\\ud800 to \\udfff)");
            }
            _ => {}
        }
        at = (at + 2).min(bytes.len());
    }
    Ok(())
}

/// Returns a double-quoted string with line breaks as YAML reads it: one break is a blank, and blanks around breaks are
/// dropped.
fn fold(raw: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    let mut rest = raw.len();
    let mut at_line_start = false;
    loop {
        if at_line_start {
            let line = &raw[raw.len() - rest..];
            let marker = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
            if marker.is_some_and(|behind| behind.starts_with([' ', '\t']) || behind.starts_with(is_break)) {
                return Err("a line of a text in quotes begins with a document marker, which YAML refuses");
            }
        }
        while let Some(c) = chars.next_if(|c| *c != ' ' && !is_break(*c)) {
            rest -= c.len_utf8();
            if c != '\\' {
                out.push(c);
                continue;
            }
            let Some(escape) = chars.next() else { break };
            rest -= escape.len_utf8();
            match escape {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'b' => out.push('\x08'),
                'f' => out.push('\x0C'),
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    rest -= digits.len();
                    out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                c => out.push(c),
            }
        }
        if chars.peek().is_none() {
            return Ok(out);
        }
        let mut blanks = String::new();
        let mut breaks: Vec<char> = Vec::new();
        at_line_start = false;
        while let Some(c) = chars.next_if(|c| *c == ' ' || is_break(*c)) {
            rest -= c.len_utf8();
            at_line_start = is_break(c);
            match c {
                ' ' => blanks.push(c),
                '\u{85}' => breaks.push('\n'),
                c => breaks.push(c),
            }
        }
        match breaks.as_slice() {
            [] => out.push_str(&blanks),
            ['\n'] => out.push(' '),
            ['\n', more @ ..] => out.extend(more),
            all => out.extend(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_beyond_ascii_fold() {
        for (raw, text) in [
            ("a\u{85}b", "a b"),
            ("a \u{85} \u{85}\u{85} b", "a\n\nb"),
            ("é \u{2028} x", "é\u{2028}x"),
            ("a\u{2028}\u{85}b", "a\u{2028}\nb"),
            ("a\u{85}\u{2029}b", "a\u{2029}b"),
            (" \\n\\u00e9 \u{2028}", " \né\u{2028}"),
        ] {
            assert_eq!(fold(raw), Ok(text.to_owned()), "{raw:?}");
        }
        assert!(fold("\u{2028}--- a").is_err());
        assert!(fold("\u{2028}---a").is_ok());
    }

    #[test]
    fn escapes_and_characters_that_yaml_lacks_are_refused() {
        for raw in ["a\\/b", "\\ud83d\\ude00", "\x7F", "\u{80}", "\u{FFFE}"] {
            assert!(check(raw).is_err(), "{raw:?}");
        }
        for raw in ["\\\\/", "\\ud7ff", "\\u007f", "\u{85}", "😀"] {
            assert_eq!(check(raw), Ok(()), "{raw:?}");
        }
    }
}
