//! Regular expressions of ECMAScript as those of Go.

use kubeshape_structural::regex;
use std::fmt::Write;

/// Letters that have the same meaning in both languages after a backslash.
const KNOWN: &str = "dDwWsSbBnrtfvxpP";

/// Returns an expression that Go compiles, with the same meaning for strings of one line; `None` if there is none.
///
/// The languages differ in the escapes of characters by number and in the names of groups. Lookaround and
/// backreferences have no equal. `[^]` is not translated.
pub(super) fn for_go(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '(' && rest.starts_with("?<") && !rest.starts_with("?<=") && !rest.starts_with("?<!") {
            out.push_str("(?P<");
            rest = &rest[2..];
            continue;
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        let escaped = rest.chars().next()?;
        rest = &rest[escaped.len_utf8()..];
        match escaped {
            'u' => {
                let (digits, after) = match rest.strip_prefix('{') {
                    Some(braced) => braced.split_once('}')?,
                    None => (rest.get(..4)?, rest.get(4..)?),
                };
                u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
                _ = write!(out, "\\x{{{digits}}}");
                rest = after;
            }
            'c' => {
                let control = rest.chars().next().filter(char::is_ascii_alphabetic)?;
                _ = write!(out, "\\x{:02x}", u32::from(control) % 32);
                rest = &rest[1..];
            }
            // Numbers are backreferences, and Go has no named ones.
            '1'..='9' | 'k' => return None,
            '0' => out.push_str("\\x00"),
            // Other letters are themselves; in Go, some of them have a meaning.
            c if (c.is_ascii_alphanumeric() && !KNOWN.contains(c)) || !c.is_ascii() => out.push(c),
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    regex::check(&out).is_ok().then_some(out)
}
