//! Translates regular expressions of Go to the language of ECMA-262, which JSON Schema uses.
//!
//! The result has the same meaning with and without ECMA's `u` flag, which 2020-12 requires, unless it contains `\p` or
//! matches characters beyond U+FFFF, which need the flag. What Go accepts follows `regexp/syntax` with Perl flags.
//!
//! If possible, the result is an expression of Go, too, with the same meaning. Two things can only be expressed for
//! ECMA: the start or end of a line inside an expression, and scripts.

mod class;

use kubeshape_structural::regex;
use std::borrow::Cow;
use std::str::Chars;

/// The flags that change what an expression matches. `U` only changes which of several matches is found.
#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_all: bool,
}

/// The expression before a repetition operator.
#[derive(Clone, Copy)]
struct Atom {
    start: usize,
    /// ECMA does not allow repeated assertions.
    assertion: bool,
    /// Whether it contains an edge of a line.
    has_edge: bool,
}

/// Returns the expression for ECMA, or `None` if Go rejects the pattern or it cannot be expressed: letters beyond ASCII
/// and classes by property without regard to case, and scripts with different names in the two languages.
pub(super) fn translate(pattern: &str) -> Option<String> {
    translate_for(pattern, Readers::Both).or_else(|| translate_for(pattern, Readers::Ecma))
}

/// Returns the expression for an engine that compiles it with Go: one that ECMA accepts, too, or the pattern itself.
/// Returns `None` if Go rejects it.
pub(super) fn for_go(pattern: &str) -> Option<Cow<'_, str>> {
    let is_go = |text: &str| regex::check(text).is_ok();
    let both = translate_for(pattern, Readers::Both).filter(|text| is_go(text)).map(Cow::Owned);
    both.or_else(|| is_go(pattern).then_some(Cow::Borrowed(pattern)))
}

fn translate_for(pattern: &str, readers: Readers) -> Option<String> {
    let out = String::with_capacity(pattern.len() + 8);
    let rest = pattern.chars();
    let mut t = Translator {
        rest,
        out,
        readers,
        flags: Flags::default(),
        groups: Vec::new(),
        atom: None,
        at_start: true,
        edges: 0,
    };
    while let Some(c) = t.rest.next() {
        t.next(c)?;
    }
    t.groups.is_empty().then_some(t.out)
}

/// The engines that must accept the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    /// ECMA and Go.
    Both,
    /// ECMA.
    Ecma,
}

/// An open group.
struct Group {
    /// The flags around it.
    flags: Flags,
    /// Its start in the result.
    start: usize,
    /// Whether nothing that matches characters is before it.
    at_start: bool,
    /// Number of edges of lines before it.
    edges: usize,
}

/// What follows an opening brace.
enum Counts {
    /// Counts of a repetition.
    Some(String),
    /// Counts that Go rejects.
    Refused,
    /// Something else: the brace is a literal.
    None,
}

struct Translator<'p> {
    rest: Chars<'p>,
    out: String,
    readers: Readers,
    flags: Flags,
    groups: Vec<Group>,
    atom: Option<Atom>,
    /// Whether nothing that matches characters is before this position, on any path to it.
    at_start: bool,
    /// Number of edges of lines so far.
    edges: usize,
}

impl Translator<'_> {
    fn next(&mut self, c: char) -> Option<()> {
        let start = self.out.len();
        match c {
            '(' => return self.open(),
            ')' => {
                let group = self.groups.pop()?;
                self.flags = group.flags;
                self.out.push(')');
                self.at_start = false;
                let has_edge = self.edges > group.edges;
                self.atom = Some(Atom { start: group.start, assertion: false, has_edge });
                return Some(());
            }
            '|' => {
                self.out.push('|');
                self.at_start = self.groups.last().is_none_or(|group| group.at_start);
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
                let text = match (c, self.flags.lines) {
                    ('^', false) => "^",
                    ('$', false) => "$",
                    _ => self.edge_of_line(c)?,
                };
                self.assertion(text);
                return Some(());
            }
            '.' => self.out.push_str(if self.flags.dot_all { "[\\s\\S]" } else { "[^\\n]" }),
            '[' => class::bracket(&mut self.rest, self.flags.fold, self.readers, &mut self.out)?,
            '\\' => return self.backslash(),
            c => self.literal(c)?,
        }
        self.has_atom(start);
        Some(())
    }

    fn has_atom(&mut self, start: usize) {
        self.at_start = false;
        self.atom = Some(Atom { start, assertion: false, has_edge: false });
    }

    fn assertion(&mut self, text: &str) {
        self.at_start = false;
        self.atom = Some(Atom { start: self.out.len(), assertion: true, has_edge: false });
        self.out.push_str(text);
    }

    /// Translates `^` and `$` with the flag `m`. ECMA has no such flag, and Go has no look-around. At the edge of an
    /// expression, it makes no difference whether the line break is part of the match.
    fn edge_of_line(&mut self, c: char) -> Option<&'static str> {
        self.edges += 1;
        let rest = self.rest.as_str();
        let is_repeated = rest.starts_with(['*', '+', '?', '{']);
        match (c, self.readers) {
            ('^', Readers::Ecma) => Some("(?<![^\\n])"),
            (_, Readers::Ecma) => Some("(?![^\\n])"),
            ('^', Readers::Both) => (self.at_start && !is_repeated).then_some("(?:^|\\n)"),
            (_, Readers::Both) => {
                let is_last = rest.bytes().all(|b| b == b')') || self.groups.is_empty() && rest.starts_with('|');
                is_last.then_some("(?:$|\\n)")
            }
        }
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

    /// Reads a group, or flags for the rest of the surrounding group.
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
        self.groups.push(Group { flags: outer, start, at_start: self.at_start, edges: self.edges });
        self.out.push_str(text);
        self.atom = None;
        Some(())
    }

    fn repeat(&mut self, operator: &str) -> Option<()> {
        let atom = self.atom.take()?;
        if atom.has_edge && self.readers == Readers::Both {
            return None;
        }
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

    /// Reads `n}`, `n,}` or `n,m}` after an opening brace.
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
                self.has_atom(start);
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
                    ('w', true) => "[\\w\u{17f}\u{212a}]",
                    _ => "[^\\w\u{17f}\u{212a}]",
                });
            }
            'p' | 'P' => class::unicode(&mut self.rest, self.flags.fold, self.readers, &mut self.out)?,
            _ => {
                let c = escape(&mut self.rest)?;
                self.literal(c)?;
            }
        }
        self.has_atom(start);
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
        // Go accepts `(?:` and `(?)`, but no minus sign without flags.
        (any || on).then_some(self)
    }
}

/// Returns the character of an escape after the backslash.
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
            // No string contains a surrogate.
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

/// Returns whether a character beyond ASCII has other forms that only differ by case.
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

/// Writes a literal character, with control characters as escapes.
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
    use super::{for_go, translate};

    #[test]
    fn expressions_with_the_same_meaning_are_not_changed() {
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
    fn differences_are_translated_for_ecma() {
        for (go, ecma) in [
            (r"\Aa\z", "^a$"),
            ("a.b", r"a[^\n]b"),
            ("(?s)a.b", r"a[\s\S]b"),
            (r"\s\S", r"[\t\n\f\r ][^\t\n\f\r ]"),
            (r"(?P<n>a)(?<m>b)(?:c)", "(a)(b)(?:c)"),
            ("(?i)ak1", "[aA][kK\u{212a}]1"),
            ("a(?i:b)c", "a(?:[bB])c"),
            ("(a(?i)b)c", "(a[bB])c"),
            ("(?i)[a-cx_]", "[a-cA-CxX_]"),
            ("(?i)[^j-s]", "[^j-sJ-S\u{17f}\u{212a}]"),
            (r"(?i)\w", "[\\w\u{17f}\u{212a}]"),
            ("(?m)^a$", r"(?:^|\n)a(?:$|\n)"),
            ("(?m)(x|^a$)", r"(x|(?:^|\n)a(?:$|\n))"),
            ("a$|(?m:^b)c|(?m)d$", r"a$|(?:(?:^|\n)b)c|d(?:$|\n)"),
            ("(?m)a^b", r"a(?<![^\n])b"),
            ("(?m)(^a)*", r"((?<![^\n])a)*"),
            ("(?m)^*a$b", r"(?:(?<![^\n]))*a(?![^\n])b"),
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
    fn results_for_go_are_expressions_of_go() {
        for (pattern, expected) in [
            ("(?m)^a$", Some(r"(?:^|\n)a(?:$|\n)")),
            ("(?i)s", Some("[sS\u{17f}]")),
            ("(?m)a^b", Some("(?m)a^b")),
            (r"^\p{Greek}$", Some(r"^\p{Greek}$")),
            (r"(?i)é|\p{Adlam}", Some(r"(?i)é|\p{Adlam}")),
            (r"\pL", Some(r"\p{L}")),
            ("(?=a)b", None),
            (r"\u0041", None),
            ("(a{999}){999}", None),
        ] {
            let found = for_go(pattern);
            assert_eq!(found.as_deref(), expected, "{pattern}");
            assert!(found.is_none_or(|text| kubeshape_structural::regex::check(&text).is_ok()), "{pattern}");
        }
    }

    #[test]
    fn untranslatable_and_invalid_patterns_give_none() {
        for go in
            ["(?i)é", r"(?i)\pL", r"(?i)[é]", r"\p{Adlam}", "(?=a)", "a**", "(a", "a)", "[a", r"\1", "a{1001}", "*"]
        {
            assert_eq!(translate(go), None, "{go}");
        }
    }
}
