//! Strings and JSON values inside block YAML.

/// Returns whether every reader of YAML reads `text`, unquoted, as this string. It begins with a letter, `$` or an
/// underscore, continues with letters, digits and a few characters without a meaning in YAML, and is too long for the
/// words that YAML 1.1 reads as booleans or null.
#[inline]
pub(super) fn surely_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 5
        && matches!(bytes[0], b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$')
        && bytes.iter().all(|b| PLAIN[usize::from(*b)])
}

/// Letters, digits, `_`, `-`, `.`, `/` and `$`.
static PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 128 {
        let c = b as u8;
        table[b] = c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b'/' | b'$');
        b += 1;
    }
    table
};

/// Appends a string, quoted if needed. Most strings are names, for which checking their characters is enough.
#[inline]
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    if surely_plain(text) {
        out.extend_from_slice(text.as_bytes());
    } else {
        kubeshape_yaml::emit::line(text, out);
    }
}

/// Appends a JSON value, which must be compact and well-formed, after a key that is indented by `depth`: scalars and
/// empty containers on its line, other containers as blocks below it.
pub(super) fn json(out: &mut Vec<u8>, depth: usize, json: &str) {
    let mut source = Source { rest: json };
    value(out, depth, Behind::Key, &mut source);
}

/// What is still to be read.
struct Source<'s> {
    rest: &'s str,
}

impl<'s> Source<'s> {
    fn peek(&self) -> u8 {
        self.rest.as_bytes().first().copied().unwrap_or(0)
    }

    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or("");
    }

    /// Returns everything up to the end of the scalar, which has no structural characters.
    fn scalar(&mut self) -> &'s str {
        let end = self.rest.find([',', ']', '}']).unwrap_or(self.rest.len());
        let (scalar, rest) = self.rest.split_at(end);
        self.rest = rest;
        scalar
    }

    /// Returns a string, unescaped.
    fn string(&mut self) -> String {
        self.skip();
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return text;
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, 'b')) => text.push('\u{8}'),
                    Some((_, 'f')) => text.push('\u{c}'),
                    // Only control characters are written as numbers.
                    Some((at, 'u')) => {
                        let code = self.rest.get(at + 1..at + 5).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                        text.extend(code.and_then(char::from_u32));
                        chars.nth(3);
                    }
                    Some((_, c)) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        self.rest = "";
        text
    }
}

/// YAML accepts longer keys only with an indicator.
const LONG_KEY: usize = 1000;

/// Appends a key and its colon at the column `depth`, where the output already is.
fn key(out: &mut Vec<u8>, depth: usize, text: &str) {
    let from = out.len();
    string(out, text);
    if out.len() - from > LONG_KEY {
        out.splice(from..from, *b"? ");
        out.push(b'\n');
        out.resize(out.len() + depth, b' ');
    }
    out.push(b':');
}

/// What is before a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Key,
    Dash,
}

/// Appends a value after a key or dash and ends its line. `depth` is the column of the key or dash.
fn value(out: &mut Vec<u8>, depth: usize, behind: Behind, source: &mut Source<'_>) {
    let object = match source.peek() {
        b'"' => {
            out.push(b' ');
            string(out, &source.string());
            out.push(b'\n');
            return;
        }
        b'{' => true,
        b'[' => false,
        _ => {
            out.push(b' ');
            out.extend_from_slice(source.scalar().as_bytes());
            out.push(b'\n');
            return;
        }
    };
    source.skip();
    if matches!(source.peek(), b'}' | b']' | 0) {
        source.skip();
        out.extend_from_slice(if object { b" {}\n" } else { b" []\n" });
        return;
    }
    // A sequence has the column of its key. The first member after a dash is on the line of the dash.
    let inner = if object || behind == Behind::Dash { depth + 2 } else { depth };
    let mut on_this_line = behind == Behind::Dash;
    out.push(if on_this_line { b' ' } else { b'\n' });
    loop {
        if !on_this_line {
            out.resize(out.len() + inner, b' ');
        }
        on_this_line = false;
        if object {
            key(out, inner, &source.string());
            source.skip();
            value(out, inner, Behind::Key, source);
        } else {
            out.push(b'-');
            value(out, inner, Behind::Dash, source);
        }
        let more = source.peek() == b',';
        source.skip();
        if !more {
            return;
        }
    }
}
