//! Regular expressions of Go in the language of ECMA-262, which JSON Schema reads.
//!
//! The result means the same with and without ECMA's `u` flag, which 2020-12 asks for, unless it holds `\p` or
//! meets characters beyond U+FFFF, which need the flag. What Go accepts follows `regexp/syntax` with Perl
//! flags.

mod class;

use std::str::Chars;

/// The flags that change what an expression matches. `U` only changes which of several matches is found.
#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_all: bool,
}

/// What stands before a repetition operator.
#[derive(Clone, Copy)]
struct Atom {
    start: usize,
    /// ECMA does not repeat assertions.
    assertion: bool,
}

/// The expression for ECMA, or `None` if Go refuses the pattern or it cannot be said: letters beyond ASCII
/// and classes by property without regard to case, scripts that the two languages name differently.
pub(super) fn translate(pattern: &str) -> Option<String> {
    let out = String::with_capacity(pattern.len() + 8);
    let mut t = Translator { rest: pattern.chars(), out, flags: Flags::default(), groups: Vec::new(), atom: None };
    while let Some(c) = t.rest.next() {
        t.next(c)?;
    }
    t.groups.is_empty().then_some(t.out)
}

/// What stands behind an opening brace.
enum Counts {
    /// Counts of a repetition.
    Some(String),
    /// Counts that Go does not take.
    Refused,
    /// Something else, which leaves the brace a character.
    None,
}

struct Translator<'p> {
    rest: Chars<'p>,
    out: String,
    flags: Flags,
    /// Flags around and beginning of the open groups.
    groups: Vec<(Flags, usize)>,
    atom: Option<Atom>,
}

impl Translator<'_> {
    fn next(&mut self, c: char) -> Option<()> {
        let start = self.out.len();
        match c {
            '(' => return self.open(),
            ')' => {
                let (flags, start) = self.groups.pop()?;
                self.flags = flags;
                self.out.push(')');
                self.atom = Some(Atom { start, assertion: false });
                return Some(());
            }
            '|' => {
                self.out.push('|');
                self.atom = None;
                return Some(());
            }
            '*' | '+' | '?' => return self.repeat(&c.to_string()),
            '{' => match self.counts() {
                Counts::Some(counts) => return self.repeat(&counts),
                Counts::Refused => return None,
                Counts::None => self.out.push_str("\\{"),
            },
            '^' | '$' => {
                self.assertion(match (c, self.flags.lines) {
                    ('^', false) => "^",
                    ('^', true) => "(?<![^\\n])",
                    (_, false) => "$",
                    (_, true) => "(?![^\\n])",
                });
                return Some(());
            }
            '.' => self.out.push_str(if self.flags.dot_all { "[\\s\\S]" } else { "[^\\n]" }),
            '[' => class::bracket(&mut self.rest, self.flags.fold, &mut self.out)?,
            '\\' => return self.backslash(),
            c => self.literal(c)?,
        }
        self.atom = Some(Atom { start, assertion: false });
        Some(())
    }

    fn assertion(&mut self, text: &str) {
        self.atom = Some(Atom { start: self.out.len(), assertion: true });
        self.out.push_str(text);
    }

    fn literal(&mut self, c: char) -> Option<()> {
        if !self.flags.fold {
            outside_class(c, &mut self.out);
            return Some(());
        }
        if c.is_ascii_alphabetic() {
            self.out.push('[');
            class::folded_letter(c, &mut self.out);
            self.out.push(']');
        } else if c.is_ascii() || !has_case(c) {
            outside_class(c, &mut self.out);
        } else {
            return None;
        }
        Some(())
    }

    /// A group, or flags for the rest of the group around.
    fn open(&mut self) -> Option<()> {
        let start = self.out.len();
        let outer = self.flags;
        let mut text = "(";
        if let Some(inner) = self.rest.as_str().strip_prefix('?') {
            if let Some(named) = inner.strip_prefix("P<").or_else(|| inner.strip_prefix('<')) {
                let (name, rest) = named.split_once('>')?;
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    return None;
                }
                self.rest = rest.chars();
            } else {
                let end = inner.find([':', ')'])?;
                let flags = self.flags.changed(&inner[..end])?;
                let alone = inner[end..].starts_with(')');
                self.rest = inner[end + 1..].chars();
                self.flags = flags;
                if alone {
                    self.atom = None;
                    return Some(());
                }
                text = "(?:";
            }
        }
        self.groups.push((outer, start));
        self.out.push_str(text);
        self.atom = None;
        Some(())
    }

    fn repeat(&mut self, operator: &str) -> Option<()> {
        let atom = self.atom.take()?;
        if atom.assertion {
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
        }
        self.out.push_str(operator);
        if let Some(rest) = self.rest.as_str().strip_prefix('?') {
            self.rest = rest.chars();
            self.out.push('?');
        }
        Some(())
    }

    /// `n}`, `n,}` or `n,m}` behind an opening brace.
    fn counts(&mut self) -> Counts {
        let text = self.rest.as_str();
        let Some(end) = text.find('}') else { return Counts::None };
        let (least, most) = text[..end].split_once(',').unwrap_or((&text[..end], ""));
        if least.is_empty() || ![least, most].iter().all(|text| text.bytes().all(|b| b.is_ascii_digit())) {
            return Counts::None;
        }
        let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n <= 1000);
        let fits = number(least).is_some_and(|low| most.is_empty() || number(most).is_some_and(|high| high >= low));
        if !fits {
            return Counts::Refused;
        }
        self.rest = text[end + 1..].chars();
        Counts::Some(format!("{{{}}}", &text[..end]))
    }

    fn backslash(&mut self) -> Option<()> {
        let start = self.out.len();
        let text = self.rest.as_str();
        let c = text.chars().next()?;
        if let Some(rest) = text.strip_prefix('Q') {
            let (literal, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            self.rest = rest.chars();
            for c in literal.chars() {
                let start = self.out.len();
                self.literal(c)?;
                self.atom = Some(Atom { start, assertion: false });
            }
            return Some(());
        }
        match c {
            'A' | 'z' | 'b' | 'B' => {
                self.rest.next();
                self.assertion(match c {
                    'A' => "^",
                    'z' => "$",
                    'b' => "\\b",
                    _ => "\\B",
                });
                return Some(());
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                self.rest.next();
                self.out.push_str(match (c, self.flags.fold) {
                    ('d', _) => "\\d",
                    ('D', _) => "\\D",
                    ('s', _) => "[\\t\\n\\f\\r ]",
                    ('S', _) => "[^\\t\\n\\f\\r ]",
                    ('w', false) => "\\w",
                    ('W', false) => "\\W",
                    ('w', true) => "[\\w\\u017f\\u212a]",
                    _ => "[^\\w\\u017f\\u212a]",
                });
            }
            'p' | 'P' => class::unicode(&mut self.rest, self.flags.fold, &mut self.out)?,
            _ => {
                let c = escape(&mut self.rest)?;
                self.literal(c)?;
            }
        }
        self.atom = Some(Atom { start, assertion: false });
        Some(())
    }
}

impl Flags {
    fn changed(mut self, text: &str) -> Option<Flags> {
        let mut on = true;
        let mut any = false;
        for c in text.chars() {
            match c {
                'i' => self.fold = on,
                'm' => self.lines = on,
                's' => self.dot_all = on,
                'U' => {}
                '-' if on => {
                    on = false;
                    any = false;
                    continue;
                }
                _ => return None,
            }
            any = true;
        }
        // Go takes `(?:` and `(?)`, but no minus sign without flags.
        (any || on).then_some(self)
    }
}

/// The character that an escape names; the backslash has been read.
fn escape(rest: &mut Chars<'_>) -> Option<char> {
    let c = rest.next()?;
    match c {
        'a' => Some('\u{7}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{b}'),
        'x' => {
            let text = rest.as_str();
            let (digits, after) = match text.strip_prefix('{') {
                Some(braced) => braced.split_once('}')?,
                None => (text.get(..2)?, text.get(2..)?),
            };
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            *rest = after.chars();
            // A surrogate stands in no text.
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        }
        '0'..='7' => {
            let text = rest.as_str();
            let more = text.bytes().take(2).take_while(|b| matches!(b, b'0'..=b'7')).count();
            if c != '0' && more == 0 {
                return None;
            }
            *rest = text[more..].chars();
            let low = text[..more].bytes().fold(u32::from(c) - 48, |sum, b| sum * 8 + u32::from(b - b'0'));
            char::from_u32(low)
        }
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c),
        _ => None,
    }
}

/// Whether a character beyond ASCII has other forms that differ by case only.
fn has_case(c: char) -> bool {
    !c.to_lowercase().eq([c]) || !c.to_uppercase().eq([c])
}

fn outside_class(c: char, out: &mut String) {
    if matches!(c, '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|') {
        out.push('\\');
        out.push(c);
    } else {
        visible(c, out);
    }
}

/// A character that means itself, control characters as escapes.
fn visible(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        c if c.is_ascii_control() => hex(c, out),
        c => out.push(c),
    }
}

fn hex(c: char, out: &mut String) {
    use std::fmt::Write;
    let _ = write!(out, "\\x{:02x}", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn what_means_the_same_stays_as_it_is() {
        for same in [
            r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            r"^(a|b){2,3}?\d+\w*$",
            r"^$|^é+/x:y@z$",
            "",
        ] {
            let expected = same.replace("[-a", r"[\-a");
            assert_eq!(translate(same).as_deref(), Some(expected.as_str()), "{same}");
        }
    }

    #[test]
    fn what_differs_is_written_for_ecma() {
        for (go, ecma) in [
            (r"\Aa\z", "^a$"),
            ("a.b", r"a[^\n]b"),
            ("(?s)a.b", r"a[\s\S]b"),
            (r"\s\S", r"[\t\n\f\r ][^\t\n\f\r ]"),
            (r"(?P<n>a)(?<m>b)(?:c)", "(a)(b)(?:c)"),
            ("(?i)ak1", r"[aA][kK\u212a]1"),
            ("a(?i:b)c", "a(?:[bB])c"),
            ("(a(?i)b)c", "(a[bB])c"),
            ("(?i)[a-cx_]", "[a-cA-CxX_]"),
            ("(?i)[^j-s]", r"[^j-sJ-S\u017f\u212a]"),
            ("(?m)^a$", r"(?<![^\n])a(?![^\n])"),
            (r"\pN\p{Greek}\PL\p{^Lu}", r"\p{N}\p{Script=Greek}\P{L}\P{Lu}"),
            ("[[:alpha:]_[:^digit:]]", "[A-Za-z_\\x00-/:-\u{10ffff}]"),
            (r"[\s\S]", "[\\t\\n\\f\\r \\x00-\\x08\\v\\x0e-\\x1f!-\u{10ffff}]"),
            (r"\Qa.b\E+", r"a\.b+"),
            (r"\x41\x{e9}\101\a", r"AéA\x07"),
            ("a{,2}]}", r"a\{,2\}\]\}"),
            (r"\-\_\@\/", "-_@/"),
            ("^*", "(?:^)*"),
            ("[]a]", r"[\]a]"),
            ("[a&&b]", r"[a\x26\x26b]"),
            ("(?U)a+?", "a+?"),
        ] {
            assert_eq!(translate(go).as_deref(), Some(ecma), "{go}");
        }
    }

    #[test]
    fn what_cannot_be_said_or_is_no_expression_is_none() {
        for go in
            ["(?i)é", r"(?i)\pL", r"(?i)[é]", r"\p{Adlam}", "(?=a)", "a**", "(a", "a)", "[a", r"\1", "a{1001}", "*"]
        {
            assert_eq!(translate(go), None, "{go}");
        }
    }
}
