//! The syntax errors that Go's `encoding/json` reports.

use super::escape::GoQuoted;
use std::fmt;

/// The depth up to which Go's scanner reads lists and objects.
const MAX_DEPTH: usize = 10_000;

/// Why Go rejects a string as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyntaxError {
    /// The input ends too early.
    End,
    /// An unexpected byte, and what was being read.
    Unexpected(u8, &'static str),
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SyntaxError::End => f.write_str("unexpected end of JSON input"),
            SyntaxError::Unexpected(b'\'', context) => write!(f, r"invalid character '\'' {context}"),
            SyntaxError::Unexpected(b'"', context) => write!(f, "invalid character '\"' {context}"),
            SyntaxError::Unexpected(byte, context) => {
                // Go treats the byte as a code point.
                let quoted = GoQuoted(&char::from(*byte).to_string()).to_string();
                write!(f, "invalid character '{}' {context}", quoted.trim_matches('"'))
            }
        }
    }
}

/// Checks that the input is one JSON value: `checkValid` of Go's `encoding/json`. Numbers that do not fit a double are
/// well-formed.
///
/// # Errors
/// The input is not JSON.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::syntax::check;
///
/// assert!(check(br#"{"a": [1, -2.5e3, true]}"#).is_ok());
/// let error = check(br#"{"a": 1,}"#).unwrap_err();
/// assert_eq!(error.to_string(), "invalid character '}' looking for beginning of object key string");
/// ```
pub fn check(text: &[u8]) -> Result<(), SyntaxError> {
    Scanner { text, at: 0, open: Vec::new() }.run()
}

/// Returns the first number of a JSON string that does not fit a double, as it is written.
pub fn number_out_of_range(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let at = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
        rest = rest.get(at..)?;
        if rest.starts_with('"') {
            rest = rest.get(1..)?;
            loop {
                let at = rest.find(['"', '\\'])?;
                let is_end = rest.get(at..)?.starts_with('"');
                rest = rest.get(at + if is_end { 1 } else { 2 }..)?;
                if is_end {
                    break;
                }
            }
            continue;
        }
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = rest.get(..end)?;
        // Shorter numbers without an exponent fit.
        let is_large = number.len() > 308 || number.contains(['e', 'E']);
        if is_large && number.parse::<f64>().is_ok_and(f64::is_infinite) {
            return Some(number);
        }
        rest = rest.get(end..)?;
    }
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// The open brackets.
    open: Vec<u8>,
}

impl Scanner<'_> {
    fn run(mut self) -> Result<(), SyntaxError> {
        self.value("looking for beginning of value")?;
        while let Some(bracket) = self.open.last().copied() {
            self.after_value(bracket)?;
        }
        match self.next_token() {
            None => Ok(()),
            Some(byte) => Err(SyntaxError::Unexpected(byte, "after top-level value")),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn byte(&mut self) -> Result<u8, SyntaxError> {
        let byte = self.peek().ok_or(SyntaxError::End)?;
        self.at += 1;
        Ok(byte)
    }

    /// Returns the next byte that is not a space, without consuming it.
    fn next_token(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    fn token(&mut self) -> Result<u8, SyntaxError> {
        self.next_token();
        self.byte()
    }

    /// Reads a scalar, or the start of nested lists and objects up to the first scalar or empty collection.
    fn value(&mut self, context: &'static str) -> Result<(), SyntaxError> {
        loop {
            let byte = self.token()?;
            match byte {
                b'{' | b'[' => {
                    if self.open.len() >= MAX_DEPTH {
                        return Err(SyntaxError::Unexpected(byte, "exceeded max depth"));
                    }
                    self.open.push(byte);
                    let close = if byte == b'{' { b'}' } else { b']' };
                    if self.next_token() == Some(close) {
                        self.at += 1;
                        self.open.pop();
                        return Ok(());
                    }
                    if byte == b'{' {
                        self.key()?;
                    }
                }
                b'"' => return self.string(),
                b't' => return self.word(b"true", TRUE),
                b'f' => return self.word(b"false", FALSE),
                b'n' => return self.word(b"null", NULL),
                b'-' | b'0'..=b'9' => return self.number(byte),
                other => return Err(SyntaxError::Unexpected(other, context)),
            }
        }
    }

    /// Reads what follows a value inside brackets.
    fn after_value(&mut self, bracket: u8) -> Result<(), SyntaxError> {
        match (bracket, self.token()?) {
            (b'{', b'}') | (b'[', b']') => {
                self.open.pop();
                Ok(())
            }
            (b'{', b',') => {
                self.key()?;
                self.value("looking for beginning of value")
            }
            (b'[', b',') => self.value("looking for beginning of value"),
            (b'{', other) => Err(SyntaxError::Unexpected(other, "after object key:value pair")),
            (_, other) => Err(SyntaxError::Unexpected(other, "after array element")),
        }
    }

    /// Reads a key and the colon.
    fn key(&mut self) -> Result<(), SyntaxError> {
        match self.token()? {
            b'"' => self.string()?,
            other => return Err(SyntaxError::Unexpected(other, "looking for beginning of object key string")),
        }
        match self.token()? {
            b':' => Ok(()),
            other => Err(SyntaxError::Unexpected(other, "after object key")),
        }
    }

    /// Reads the rest of a string.
    fn string(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.byte()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                byte @ 0..=0x1f => return Err(SyntaxError::Unexpected(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.byte()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let byte = self.byte()?;
                    if !byte.is_ascii_hexdigit() {
                        return Err(SyntaxError::Unexpected(byte, r"in \u hexadecimal character escape"));
                    }
                }
                Ok(())
            }
            other => Err(SyntaxError::Unexpected(other, "in string escape code")),
        }
    }

    /// Reads the rest of `true`, `false` or `null` after the first letter. `contexts` has the end of the message for
    /// each wrong letter.
    fn word(&mut self, word: &[u8], contexts: &[&'static str]) -> Result<(), SyntaxError> {
        for (expected, context) in word.iter().skip(1).zip(contexts) {
            let byte = self.byte()?;
            if byte != *expected {
                return Err(SyntaxError::Unexpected(byte, context));
            }
        }
        Ok(())
    }

    /// Reads the rest of a number.
    fn number(&mut self, first: u8) -> Result<(), SyntaxError> {
        let mut digit = first;
        if first == b'-' {
            digit = self.digit("in numeric literal")?;
        }
        if digit != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, context: &'static str) -> Result<u8, SyntaxError> {
        let byte = self.byte()?;
        if byte.is_ascii_digit() { Ok(byte) } else { Err(SyntaxError::Unexpected(byte, context)) }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }
}

const TRUE: &[&str] =
    &["in literal true (expecting 'r')", "in literal true (expecting 'u')", "in literal true (expecting 'e')"];
const FALSE: &[&str] = &[
    "in literal false (expecting 'a')",
    "in literal false (expecting 'l')",
    "in literal false (expecting 's')",
    "in literal false (expecting 'e')",
];
const NULL: &[&str] =
    &["in literal null (expecting 'u')", "in literal null (expecting 'l')", "in literal null (expecting 'l')"];

#[cfg(test)]
mod tests {
    use super::{check, number_out_of_range};

    #[test]
    fn errors_are_those_of_go() {
        for (text, expected) in [
            ("", "unexpected end of JSON input"),
            ("  ", "unexpected end of JSON input"),
            ("{\"a\"", "unexpected end of JSON input"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("\u{feff}{}", "invalid character 'ï' looking for beginning of value"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", r"invalid character 'g' in \u hexadecimal character escape"),
            ("\"\t\"", r"invalid character '\t' in string literal"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1e'", r"invalid character '\'' in exponent of numeric literal"),
            ("01", "invalid character '1' after top-level value"),
            ("t!", "invalid character '!' in literal true (expecting 'r')"),
            ("nil", "invalid character 'i' in literal null (expecting 'u')"),
        ] {
            assert_eq!(check(text.as_bytes()).map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
        }
        for text in ["null", " [] ", "{\"a\":{\"b\":[{}, 0, -0.0E-3, \"\\ud800\", false]}}\n"] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert!(check("[".repeat(10_000).as_bytes()).is_err_and(|error| error.to_string().starts_with("unexpected")));
        let error = check("[".repeat(10_001).as_bytes()).map_err(|error| error.to_string());
        assert_eq!(error, Err("invalid character '[' exceeded max depth".to_owned()));
    }

    #[test]
    fn numbers_that_do_not_fit_a_double_are_found() {
        assert_eq!(number_out_of_range(r#"{"1e999": ["\"1e999", 5, -1e400, 1e500]}"#), Some("-1e400"));
        assert_eq!(number_out_of_range(r#"{"a": 1e308}"#), None);
    }
}
