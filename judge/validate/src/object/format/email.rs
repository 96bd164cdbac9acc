//! Email addresses, as Go's `mail.ParseAddress` accepts them: `a@b.c`, `A <a@b.c>`, `group: a@b.c;`.

use super::address::is_ip;

/// Returns whether a string is one address, or a group with one address.
pub(super) fn is_email(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    let found = parser.address(true);
    found == Some(1) && parser.skip_comments() && parser.rest.is_empty()
}

/// The parser does not recurse, because groups do not nest.
struct Parser<'t> {
    rest: &'t str,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}

fn is_atom(c: char) -> bool {
    is_visible(c) && !matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | ':' | ';' | '@' | '\\' | ',' | '"')
}

impl<'t> Parser<'t> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(is_blank);
    }

    fn takes(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Returns the number of addresses that were read.
    fn address(&mut self, groups: bool) -> Option<usize> {
        self.skip_blanks();
        if self.spec() {
            self.skip_blanks();
            if self.takes('(') {
                self.comment().filter(|text| !text.split(is_blank).any(is_foreign))?;
            }
            return Some(1);
        }
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_blanks();
        if groups && self.takes(':') {
            return self.group();
        }
        (self.takes('<') && self.spec() && self.takes('>')).then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.skip_blanks();
        let mut count = 0;
        if !self.takes(';') {
            loop {
                self.skip_blanks();
                count += self.address(false)?;
                if !self.skip_comments() {
                    return None;
                }
                if self.takes(';') {
                    break;
                }
                if !self.takes(',') {
                    return None;
                }
            }
        }
        self.skip_comments().then_some(count)
    }

    /// Reads `local@domain`. Reads nothing if it is missing.
    fn spec(&mut self) -> bool {
        let start = self.rest;
        let found = self.try_spec().is_some();
        if !found {
            self.rest = start;
        }
        found
    }

    fn try_spec(&mut self) -> Option<()> {
        self.skip_blanks();
        if self.rest.starts_with('"') {
            self.quoted()?.then_some(())?;
        } else {
            self.dotted()?;
        }
        self.takes('@').then_some(())?;
        self.skip_blanks();
        match self.rest.strip_prefix('[') {
            None => self.dotted(),
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                self.rest = rest;
                let plain = address.chars().all(|c| is_visible(c) && !matches!(c, '[' | '\\'));
                (plain && is_ip(address, false)).then_some(())
            }
        }
    }

    /// Reads atoms with dots between them.
    fn dotted(&mut self) -> Option<()> {
        let atom = self.atom()?;
        let misplaced = atom.starts_with('.') || atom.ends_with('.') || atom.contains("..");
        (!misplaced).then_some(())
    }

    fn atom(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start_matches(is_atom);
        let atom = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// Reads a quoted string. Returns whether it has contents; `None` if there is no quoted string.
    fn quoted(&mut self) -> Option<bool> {
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            match c {
                c if escaped && (is_visible(c) || is_blank(c)) => escaped = false,
                '"' if !escaped => {
                    self.rest = &self.rest[at + 1..];
                    return Some(at > 1);
                }
                '\\' if !escaped => escaped = true,
                c if !escaped && (is_visible(c) || is_blank(c)) => {}
                _ => return None,
            }
        }
        None
    }

    /// Reads at least one word.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0usize;
        loop {
            if words > 0 && !self.skip_comments() {
                return None;
            }
            self.skip_blanks();
            let read = match self.rest.chars().next() {
                // An empty string is an empty phrase.
                None => return Some(()),
                Some('"') => self.quoted().is_some(),
                Some(_) => self.atom().is_some_and(|word| !is_foreign(word)),
            };
            if !read {
                return (words > 0).then_some(());
            }
            words += 1;
        }
    }

    fn skip_comments(&mut self) -> bool {
        self.skip_blanks();
        while self.takes('(') {
            if self.comment().is_none() {
                return false;
            }
            self.skip_blanks();
        }
        true
    }

    /// Returns the text up to the closing bracket of a comment, after the opening one.
    fn comment(&mut self) -> Option<&'t str> {
        let mut depth = 1usize;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '(' => depth += 1,
                ')' if depth == 1 => {
                    let text = &self.rest[..at];
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                ')' => depth -= 1,
                _ => {}
            }
        }
        None
    }
}

/// Returns whether a word is encoded (`=?koi8-r?q?...?=`) in a charset that Go does not support by itself.
fn is_foreign(word: &str) -> bool {
    let Some(inner) = word.strip_prefix("=?").and_then(|word| word.strip_suffix("?=")) else { return false };
    let mut parts = inner.split('?');
    let (Some(charset), Some(encoding), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    !charset.is_empty()
        && matches!(encoding, "q" | "Q" | "b" | "B")
        && !["utf-8", "iso-8859-1", "us-ascii"].iter().any(|known| known.eq_ignore_ascii_case(charset))
}

#[cfg(test)]
mod tests {
    use super::is_email;

    #[test]
    fn addresses_are_those_of_go() {
        for yes in [
            "a@b.c",
            "A <a@b.c>",
            "\"q q\"@b.c",
            "a@[::1]",
            " a@b (comment (nested)) ",
            "\"A, B\" <a@b>",
            "g: a@b;",
            "é@ü",
            "=?utf-8?q?x?= <a@b>",
            "<a@b>",
        ] {
            assert!(is_email(yes), "{yes}");
        }
        for no in [
            "",
            "a",
            "a@",
            "@b",
            "a..b@c",
            ".a@b",
            "a@b, c@d",
            "g: a@b, c@d;",
            "g:;",
            "\"\"@b",
            "a@[b]",
            "mailto:a@b.c",
            "A a@b",
            "=?koi8-r?q?x?= <a@b>",
            "a@b (",
            "a@b>",
        ] {
            assert!(!is_email(no), "{no}");
        }
    }
}
