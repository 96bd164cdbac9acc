//! Regular expressions with Go's language, matched in linear time.

use kubeshape_structural::regex::check;
use std::fmt::Write;

/// A regular expression that Go accepts.
#[derive(Clone, Debug)]
pub(crate) struct Regex(regex::Regex);

impl Regex {
    /// Compiles an expression; the error is Go's.
    pub(crate) fn new(pattern: &str) -> Result<Regex, String> {
        check(pattern).map_err(|error| error.to_string())?;
        regex::RegexBuilder::new(&translate(pattern))
            .size_limit(64 << 20)
            .build()
            .map(Regex)
            .map_err(|_| format!("error parsing regexp: expression too large: `{pattern}`"))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.0.find(text).map(|found| found.as_str())
    }

    /// At most `most` matches that do not overlap; all of them if it is negative.
    pub(crate) fn find_all<'t>(&self, text: &'t str, most: i64) -> Vec<&'t str> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.0.find_iter(text).take(most).map(|found| found.as_str()).collect()
    }
}

/// Go's language in that of the crate `regex`: perl classes and word boundaries are ASCII in Go, and a few escapes differ.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut class = 0usize;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('d') => out.push_str(if class > 0 { "0-9" } else { "[0-9]" }),
                Some('w') => out.push_str(if class > 0 { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                Some('s') => out.push_str(if class > 0 { "\\t\\n\\x0C\\r " } else { "[\\t\\n\\x0C\\r ]" }),
                Some('D') => out.push_str("[^0-9]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('S') => out.push_str("[^\\t\\n\\x0C\\r ]"),
                Some('b') => out.push_str("(?-u:\\b)"),
                Some('B') => out.push_str("(?-u:\\B)"),
                Some('Q') => {
                    let mut rest: String = chars.clone().collect();
                    let end = rest.find("\\E").unwrap_or(rest.len());
                    let skip = rest[..end].chars().count() + if end < rest.len() { 2 } else { 0 };
                    rest.truncate(end);
                    out.push_str(&regex::escape(&rest));
                    for _ in 0..skip {
                        chars.next();
                    }
                }
                Some('E') | None => {}
                Some(octal @ '0'..='7') => {
                    let mut code = octal as u32 - '0' as u32;
                    for _ in 0..2 {
                        let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                        code = code * 8 + digit;
                        chars.next();
                    }
                    let _ = write!(out, "\\x{{{code:x}}}");
                }
                Some('C') => out.push_str("(?s:.)"),
                Some(letter) if letter.is_ascii_alphanumeric() => {
                    out.push('\\');
                    out.push(letter);
                }
                Some(other) => out.push_str(&regex::escape(&other.to_string())),
            },
            '[' if class == 0 => {
                class = 1;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    out.push_str("\\]");
                    chars.next();
                }
            }
            '[' if chars.peek() == Some(&':') => {
                let rest: String = chars.clone().collect();
                match rest[1..].find(":]") {
                    Some(end) => {
                        out.push('[');
                        for _ in 0..end + 3 {
                            out.extend(chars.next());
                        }
                    }
                    None => out.push_str("\\["),
                }
            }
            ']' if class > 0 => {
                class = 0;
                out.push(']');
            }
            '[' | '&' | '~' if class > 0 => {
                out.push('\\');
                out.push(c);
            }
            ']' => out.push_str("\\]"),
            '{' if class == 0 => {
                let rest: String = chars.clone().take(12).collect();
                let repeat = rest.split_once('}').is_some_and(|(inner, _)| {
                    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
                    !low.is_empty() && [low, high].iter().all(|n| n.bytes().all(|b| b.is_ascii_digit()))
                });
                out.push_str(if repeat { "{" } else { "\\{" });
                if repeat {
                    for inner in chars.by_ref() {
                        out.push(inner);
                        if inner == '}' {
                            break;
                        }
                    }
                }
            }
            '}' if class == 0 => out.push_str("\\}"),
            other => out.push(other),
        }
    }
    out
}
