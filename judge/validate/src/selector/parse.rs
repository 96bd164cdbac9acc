//! Reads selectors in queries (upstream: `labels.Parse`).

use super::{LabelSelector, Operator, Requirement, joined, key_error};
use std::collections::BTreeSet;
use std::fmt;

/// An invalid label selector. The message is the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelError(String);

impl fmt::Display for LabelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unable to parse requirement: {}", self.0)
    }
}

impl std::error::Error for LabelError {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Open,
    Close,
    Comma,
    Not,
    Equal,
    NotEqual,
    Greater,
    Less,
    In,
    NotIn,
    Word(&'t str),
    End,
}

impl Token<'_> {
    fn literal(&self) -> &str {
        match self {
            Token::Open => "(",
            Token::Close => ")",
            Token::Comma => ",",
            Token::Not => "!",
            Token::Equal => "=",
            Token::NotEqual => "!=",
            Token::Greater => ">",
            Token::Less => "<",
            Token::In => "in",
            Token::NotIn => "notin",
            Token::Word(word) => word,
            Token::End => "",
        }
    }
}

impl LabelSelector {
    /// Reads a selector such as `app=web,tier in (a,b),!legacy`. An empty one selects everything.
    ///
    /// # Errors
    /// The selector, or a key or value in it, is invalid.
    pub fn parse(text: &str) -> Result<LabelSelector, LabelError> {
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        let mut requirements = parser.requirements()?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(LabelSelector { requirements })
    }
}

/// Returns the tokens of a selector (upstream: `Lexer`).
fn tokens(text: &str) -> Vec<Token<'_>> {
    const SPECIAL: [char; 7] = ['=', '!', '(', ')', ',', '>', '<'];
    const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
    let mut out = Vec::new();
    let mut rest = text.trim_start_matches(BLANKS);
    while let Some(first) = rest.chars().next() {
        let length = if SPECIAL.contains(&first) {
            let end = rest.find(|c| !SPECIAL.contains(&c)).unwrap_or(rest.len());
            // Longer operators come first; the rest is not part of the operator.
            let known = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
            known.iter().find(|known| rest[..end].starts_with(**known)).map_or(1, |known| known.len())
        } else {
            rest.find(|c| SPECIAL.contains(&c) || BLANKS.contains(&c)).unwrap_or(rest.len())
        };
        let (token, behind) = rest.split_at(length);
        out.push(match token {
            "(" => Token::Open,
            ")" => Token::Close,
            "," => Token::Comma,
            "!" => Token::Not,
            "=" | "==" => Token::Equal,
            "!=" => Token::NotEqual,
            ">" => Token::Greater,
            "<" => Token::Less,
            "in" => Token::In,
            "notin" => Token::NotIn,
            word => Token::Word(word),
        });
        rest = behind.trim_start_matches(BLANKS);
    }
    out
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Token<'t> {
        self.tokens.get(self.at).copied().unwrap_or(Token::End)
    }

    /// Returns the next token where a value is expected: operators that are words are words there.
    fn peek_value(&self) -> Token<'t> {
        match self.peek() {
            Token::In => Token::Word("in"),
            Token::NotIn => Token::Word("notin"),
            token => token,
        }
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn next_value(&mut self) -> Token<'t> {
        let token = self.peek_value();
        self.at += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement<String>>, LabelError> {
        let mut out = Vec::new();
        loop {
            match self.peek_value() {
                Token::Word(_) | Token::Not => {
                    out.push(self.requirement()?);
                    match self.next() {
                        Token::End => return Ok(out),
                        Token::Comma => {
                            let next = self.peek_value();
                            if !matches!(next, Token::Word(_) | Token::Not) {
                                return Err(LabelError(format!(
                                    "found '{}', expected: identifier after ','",
                                    next.literal()
                                )));
                            }
                        }
                        other => {
                            return Err(LabelError(format!(
                                "found '{}', expected: ',' or 'end of string'",
                                other.literal()
                            )));
                        }
                    }
                }
                Token::End => return Ok(out),
                other => {
                    return Err(LabelError(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        other.literal()
                    )));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement<String>, LabelError> {
        let mut absent = false;
        if self.peek_value() == Token::Not {
            absent = true;
            self.next();
        }
        let key = match self.next_value() {
            Token::Word(key) => key,
            other => return Err(LabelError(format!("found '{}', expected: identifier", other.literal()))),
        };
        if let Some(message) = joined(&key_error(key)) {
            return Err(LabelError(message));
        }
        let made = |operator, values: BTreeSet<String>| {
            Requirement::new(key.to_owned(), operator, values.into_iter().collect()).map_err(LabelError)
        };
        if matches!(self.peek(), Token::End | Token::Comma) || absent {
            let operator = if absent { Operator::DoesNotExist } else { Operator::Exists };
            return made(operator, BTreeSet::new());
        }
        let (operator, several) = match self.next() {
            Token::In => (Operator::In, true),
            Token::NotIn => (Operator::NotIn, true),
            Token::Equal => (Operator::In, false),
            Token::NotEqual => (Operator::NotIn, false),
            Token::Greater => (Operator::GreaterThan, false),
            Token::Less => (Operator::LessThan, false),
            other => {
                return Err(LabelError(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", other.literal())));
            }
        };
        let values = if several { self.values()? } else { self.value()? };
        made(operator, values)
    }

    /// `(a,b)`
    fn values(&mut self) -> Result<BTreeSet<String>, LabelError> {
        let open = self.next_value();
        if open != Token::Open {
            return Err(LabelError(format!("found '{}' expected: '('", open.literal())));
        }
        let mut out = BTreeSet::new();
        match self.peek_value() {
            Token::Word(_) | Token::Comma => loop {
                match self.next_value() {
                    Token::Word(word) => {
                        out.insert(word.to_owned());
                        match self.peek_value() {
                            Token::Comma => {}
                            Token::Close => break,
                            other => {
                                return Err(LabelError(format!("found '{}', expected: ',' or ')'", other.literal())));
                            }
                        }
                    }
                    Token::Comma => {
                        if out.is_empty() {
                            out.insert(String::new());
                        }
                        if self.peek_value() == Token::Close {
                            out.insert(String::new());
                            break;
                        }
                        if self.peek_value() == Token::Comma {
                            self.next_value();
                            out.insert(String::new());
                        }
                    }
                    other => {
                        return Err(LabelError(format!("found '{}', expected: ',', or identifier", other.literal())));
                    }
                }
            },
            Token::Close => {
                self.next_value();
                return Ok(BTreeSet::from([String::new()]));
            }
            other => {
                return Err(LabelError(format!("found '{}', expected: ',', ')' or identifier", other.literal())));
            }
        }
        match self.next_value() {
            Token::Close => Ok(out),
            other => Err(LabelError(format!("found '{}', expected: ')'", other.literal()))),
        }
    }

    fn value(&mut self) -> Result<BTreeSet<String>, LabelError> {
        match self.peek_value() {
            Token::End | Token::Comma => Ok(BTreeSet::from([String::new()])),
            Token::Word(word) => {
                self.next_value();
                Ok(BTreeSet::from([word.to_owned()]))
            }
            other => Err(LabelError(format!("found '{}', expected: identifier", other.literal()))),
        }
    }
}
