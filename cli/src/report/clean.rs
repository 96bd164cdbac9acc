//! Removes from the texts of inputs whatever a terminal would interpret. Only this module does that.
//!
//! Control characters (C0, DEL and C1) move the cursor, change titles and hide text. Bidirectional controls show text
//! in a wrong order. Both become U+FFFD, so that the reader sees that there is something.

use kubeshape_input::Excerpt;
use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character must not reach a terminal.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Cleans a text for output on one line: line breaks and tabs become spaces.
pub(crate) fn clean(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let one = |c| match c {
        '\n' | '\t' | '\r' => ' ',
        c if is_hostile(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(one).collect()
}

/// Cleans a text of several lines, and keeps its tabs.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| matches!(c, '\n' | '\t') || !is_hostile(c);
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_kept(c) { c } else { char::REPLACEMENT_CHARACTER }).collect())
}

/// Cleans a message with our own colours: like [`lines`], but keeps the escapes that select colours.
pub(crate) fn styled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        out.push_str(&lines(before));
        let length = behind.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        if behind.as_bytes().get(length) == Some(&b'm') {
            out.push_str("\u{1b}[");
            out.push_str(&behind[..=length]);
            rest = &behind[length + 1..];
        } else {
            out.push(char::REPLACEMENT_CHARACTER);
            rest = &text[text.len() - behind.len() - 1..];
        }
    }
    out.push_str(&lines(rest));
    out
}

/// Returns JSON with the same meaning, where hostile characters in strings are escaped.
pub(crate) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Line breaks stand between members. In strings they are escaped already.
        if is_hostile(c) && c != '\n' {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Cleans an excerpt of the source, and moves its span accordingly. Tabs become spaces. The span has at least one
/// character, unless it is at the end.
pub(super) fn excerpt(excerpt: &Excerpt) -> Excerpt {
    let part = |range| clean(excerpt.text.get(range).unwrap_or_default());
    let span = &excerpt.span;
    let one = excerpt.text.get(span.start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let behind = span.end.max(span.start + one);
    let mut text = part(0..span.start);
    let start = text.len();
    text.push_str(&part(span.start..behind));
    let end = text.len();
    text.push_str(&part(behind..excerpt.text.len()));
    Excerpt { text, span: start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}31m\u{7f}\u{202e}b\tc\nd\r";

    #[test]
    fn no_hostile_character_is_left() {
        assert_eq!(clean(HOSTILE), "a\u{FFFD}]0;x\u{FFFD}\u{FFFD}31m\u{FFFD}\u{FFFD}b c d ");
        assert_eq!(lines(HOSTILE), "a\u{FFFD}]0;x\u{FFFD}\u{FFFD}31m\u{FFFD}\u{FFFD}b\tc\nd\u{FFFD}");
        assert_eq!(lines("é\n\tb"), "é\n\tb");
    }

    #[test]
    fn colours_stay_and_other_escapes_do_not() {
        let text = "\u{1b}[1;31merror\u{1b}[0m \u{1b}[2J\u{1b}[\u{1b}[m\u{1b}\u{9b}m";
        assert_eq!(styled(text), "\u{1b}[1;31merror\u{1b}[0m \u{FFFD}[2J\u{FFFD}[\u{1b}[m\u{FFFD}\u{FFFD}m");
    }

    #[test]
    fn json_keeps_its_meaning() -> serde_json::Result<()> {
        let value = serde_json::json!({"a\u{9b}": HOSTILE, "b": ["\u{2028}", "\u{1b}"]});
        let text = json(&serde_json::to_string_pretty(&value)?);
        assert!(text.chars().all(|c| c == '\n' || !is_hostile(c)), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text)?, value);
        Ok(())
    }

    #[test]
    fn the_span_of_an_excerpt_moves_with_its_text() {
        let cleaned = excerpt(&Excerpt { text: "\u{9b}\ta: \u{1b}b\u{7f}".to_owned(), span: 6..8 });
        assert_eq!(cleaned, Excerpt { text: "\u{FFFD} a: \u{FFFD}b\u{FFFD}".to_owned(), span: 7..11 });
        let cleaned = excerpt(&Excerpt { text: "a\u{9b}b".to_owned(), span: 1..1 });
        assert_eq!(cleaned, Excerpt { text: "a\u{FFFD}b".to_owned(), span: 1..4 });
        assert_eq!(excerpt(&Excerpt { text: "é".to_owned(), span: 2..2 }).span, 2..2);
    }
}
