//! Parses templates (upstream: `parser.go`).

use super::unquote::unquote;
use super::{Node, Param};
use kubeshape_yaml::go::escape::is_printable;
use regex::Regex;
use std::cell::OnceCell;

/// The maximum nesting of filters and unions. The rules of quoting allow only a few levels.
const MAX_NESTING: usize = 32;

/// Why a string is not a template. The messages are upstream's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// An action has no end.
    #[error("unclosed action")]
    UnclosedAction,
    /// An unexpected character.
    #[error("unrecognized character in action: {}", Rune(*.0))]
    Character(char),
    /// `....`
    #[error("invalid multiple recursive descent")]
    Recursive,
    /// An invalid number.
    #[error("cannot parse number {0}")]
    Number(String),
    /// `[` without `]`.
    #[error("unterminated array")]
    UnterminatedArray,
    /// The contents of brackets are neither a name nor an index.
    #[error("invalid array index {0}")]
    Index(String),
    /// An index that is out of range.
    #[error("array index {0} is not a number")]
    IndexNumber(String),
    /// `[?(` without `)`.
    #[error("unterminated filter")]
    UnterminatedFilter,
    /// `)` without `]`.
    #[error("unclosed array expect ]")]
    UnclosedArray,
    /// A quote without its partner.
    #[error("unterminated quoted string")]
    UnterminatedQuote,
    /// An invalid escape.
    #[error("unquote string {0} error invalid syntax")]
    Quote(String),
    /// Filters nest too deeply. Upstream has no bound.
    #[error("more than {MAX_NESTING} levels of filters and unions")]
    TooDeep,
}

/// Prints a character like Go's `%#U`.
struct Rune(char);

impl std::fmt::Display for Rune {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "U+{:04X}", u32::from(self.0))?;
        if self.0 == ' ' || is_printable(self.0) { write!(f, " '{}'", self.0) } else { Ok(()) }
    }
}

pub(super) fn parse(text: &str, depth: usize) -> Result<Vec<Node>, ParseError> {
    if depth > MAX_NESTING {
        return Err(ParseError::TooDeep);
    }
    let mut parser = Parser { text, at: 0, depth, letters: OnceCell::new() };
    let mut root = Vec::new();
    while parser.at < text.len() {
        match parser.rest().find('{') {
            Some(0) => {
                parser.at += 1;
                root.push(Node::List(parser.action()?));
            }
            found => {
                let end = found.map_or(text.len(), |length| parser.at + length);
                root.push(Node::Text(text[parser.at..end].to_owned()));
                parser.at = end;
            }
        }
    }
    Ok(root)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    letters: OnceCell<Option<Regex>>,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Returns whether a character is a letter, a digit or an underscore for Go's package `unicode`.
    fn is_alphanumeric(&self, c: char) -> bool {
        if c.is_ascii() {
            return c == '_' || c.is_ascii_alphanumeric();
        }
        let letters = self.letters.get_or_init(|| Regex::new(r"^[\p{L}\p{Nd}]$").ok());
        letters.as_ref().is_some_and(|letters| letters.is_match(c.encode_utf8(&mut [0; 4])))
    }

    fn is_digit(&self, c: char) -> bool {
        // Letters beyond ASCII are distinguished by the numeric property.
        c.is_ascii_digit() || !c.is_ascii() && c.is_numeric() && !c.is_alphabetic() && self.is_alphanumeric(c)
    }

    /// Parses the steps up to the closing brace.
    fn action(&mut self) -> Result<Vec<Node>, ParseError> {
        let mut nodes = Vec::new();
        loop {
            let rest = self.rest();
            if rest.starts_with('}') {
                self.at += 1;
                return Ok(nodes);
            }
            if rest.starts_with("[?(") {
                nodes.push(self.filter()?);
                continue;
            }
            if rest.starts_with("..") {
                if matches!(nodes.last(), Some(Node::Recursive)) {
                    return Err(ParseError::Recursive);
                }
                self.at += 2;
                nodes.push(Node::Recursive);
                if self.peek().is_some_and(|c| self.is_alphanumeric(c)) {
                    nodes.push(self.field());
                }
                continue;
            }
            let start = self.at;
            match self.next() {
                None | Some('\r' | '\n') => return Err(ParseError::UnclosedAction),
                // `@` and `$` are the current value.
                Some(' ' | '@' | '$') => {}
                Some('[') => self.array(start, &mut nodes)?,
                Some(quote @ ('"' | '\'')) => nodes.push(Node::Text(self.quoted(start, quote)?)),
                Some('.') => nodes.push(self.field()),
                Some(c) if matches!(c, '+' | '-') || self.is_digit(c) => nodes.push(self.number(start)?),
                Some(c) if self.is_alphanumeric(c) => nodes.push(self.identifier(start)),
                Some(c) => return Err(ParseError::Character(c)),
            }
        }
    }

    fn identifier(&mut self, start: usize) -> Node {
        while self.peek().is_some_and(|c| !is_terminator(c)) {
            self.next();
        }
        match &self.text[start..self.at] {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            name => Node::Identifier(name.to_owned()),
        }
    }

    fn number(&mut self, start: usize) -> Result<Node, ParseError> {
        while self.peek().is_some_and(|c| c == '.' || self.is_digit(c)) {
            self.next();
        }
        let text = &self.text[start..self.at];
        if let Ok(number) = text.parse() {
            return Ok(Node::Int(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Node::Float(number)),
            _ => Err(ParseError::Number(text.to_owned())),
        }
    }

    /// Parses the field after a dot.
    fn field(&mut self) -> Node {
        let start = self.at;
        while let Some(c) = self.peek() {
            if c == '\\' {
                self.next();
            } else if is_terminator(c) {
                break;
            }
            self.next();
        }
        match &self.text[start..self.at] {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        }
    }

    fn quoted(&mut self, start: usize, quote: char) -> Result<String, ParseError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(ParseError::UnterminatedQuote),
                Some(c) if c == quote && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let text = &self.text[start..self.at];
        unquote(text).ok_or_else(|| ParseError::Quote(text.to_owned()))
    }

    /// Returns whether a backslash precedes the last character.
    fn is_escaped(&self) -> bool {
        self.at.checked_sub(2).and_then(|at| self.text.as_bytes().get(at)) == Some(&b'\\')
    }

    fn nested(&self, text: &str) -> Result<Vec<Node>, ParseError> {
        let root = parse(&format!("{{{text}}}"), self.depth + 1)?;
        // The result begins with an action, because of the brace.
        Ok(match root.into_iter().next() {
            Some(Node::List(nodes)) => nodes,
            _ => Vec::new(),
        })
    }

    fn array(&mut self, start: usize, nodes: &mut Vec<Node>) -> Result<(), ParseError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(ParseError::UnterminatedArray),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = &self.text[start + 1..self.at - 1];
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let members = text.split(',').map(|member| self.nested(&format!("[{}]", member.trim_matches(' '))));
            nodes.push(Node::Union(members.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).filter(|key| !key.contains('\''));
        if let Some(key) = quoted {
            nodes.extend(self.nested(&format!(".{key}"))?);
            return Ok(());
        }
        nodes.push(Node::Array(bounds(text)?));
        Ok(())
    }

    fn filter(&mut self) -> Result<Node, ParseError> {
        self.at += "[?(".len();
        let start = self.at;
        let (mut begin, mut end, mut pair) = (false, false, '"');
        loop {
            match self.next() {
                None | Some('\n') => return Err(ParseError::UnterminatedFilter),
                Some(quote @ ('"' | '\'')) if !begin => (begin, pair) = (true, quote),
                Some(quote @ ('"' | '\'')) => end |= quote == pair && !self.is_escaped(),
                Some(')') if begin == end => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err(ParseError::UnclosedArray);
        }
        let text = &self.text[start..self.at - 2];
        match comparison(text) {
            None => Ok(Node::Filter { left: self.nested(text)?, operator: "exists".to_owned(), right: Vec::new() }),
            Some((left, operator, right)) => {
                Ok(Node::Filter { left: self.nested(left)?, operator: operator.to_owned(), right: self.nested(right)? })
            }
        }
    }
}

fn is_terminator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Returns the left side, the operator and the right side of a condition; none is empty. The longest operator is used.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let start = text.find(is_operator).filter(|start| *start > 0)?;
    let behind = &text[start..];
    let mut end = behind.find(|c| !is_operator(c)).unwrap_or(behind.len());
    if end == behind.len() {
        // The last character belongs to the right side.
        end -= 1;
    }
    (end > 0).then(|| (&text[..start], &behind[..end], &behind[end..]))
}

/// Parses `start:end:step`.
fn bounds(text: &str) -> Result<[Param; 3], ParseError> {
    let invalid = || ParseError::Index(text.to_owned());
    let parts: Vec<&str> = text.split(':').collect();
    let is_number = |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|b| b.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_number) {
        return Err(invalid());
    }
    let mut params = [Param::default(); 3];
    for (at, part) in parts.iter().enumerate() {
        if part.is_empty() {
            continue;
        }
        let value = part.parse().map_err(|_| ParseError::IndexNumber((*part).to_owned()))?;
        params[at] = Param { value, known: true, derived: false };
    }
    if parts.len() == 1 {
        params[1] = Param { value: params[0].value.wrapping_add(1), known: true, derived: true };
    }
    Ok(params)
}
