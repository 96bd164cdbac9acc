//! Label selectors (upstream: `labels.Parse`).

use kubeshape_schema::field::{Error, Path};
use kubeshape_validate::names;
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::BTreeSet;

/// A selector such as `app=web,tier in (a,b),!legacy`.
///
/// # Example
/// ```
/// use kubeshape_objects::select::LabelSelector;
///
/// let selector = LabelSelector::parse("app=web, tier in (a,b), !legacy, size>2")?;
/// let web = |name: &str| [("app", "web"), ("tier", "b"), ("size", "3")].into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
/// assert!(selector.matches(web));
/// assert!(!selector.matches(|_| None));
/// assert_eq!(
///     LabelSelector::parse("app=(").unwrap_err().to_string(),
///     r#"unable to parse requirement: found '(', expected: identifier"#,
/// );
/// # Ok::<(), kubeshape_objects::select::LabelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

/// An invalid label selector. The message is the server's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse requirement: {0}")]
pub struct LabelError(String);

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
    /// Reads a selector. An empty one selects everything.
    ///
    /// # Errors
    /// The selector, or a key or value in it, is invalid.
    pub fn parse(text: &str) -> Result<LabelSelector, LabelError> {
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        let mut requirements = parser.requirements()?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(LabelSelector { requirements })
    }

    /// Returns whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = label(&requirement.key);
            let is_one = value.is_some_and(|value| requirement.values.contains(value));
            let compares = |holds: fn(i64, i64) -> bool| {
                let asked = requirement.values.first().and_then(|asked| asked.parse().ok());
                let found = value.and_then(|value| value.parse().ok());
                found.zip(asked).is_some_and(|(found, asked)| holds(found, asked))
            };
            match requirement.operator {
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
                Operator::In => is_one,
                Operator::NotIn => !is_one,
                Operator::GreaterThan => compares(|found, asked| found > asked),
                Operator::LessThan => compares(|found, asked| found < asked),
            }
        })
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

    fn requirements(&mut self) -> Result<Vec<Requirement>, LabelError> {
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

    fn requirement(&mut self) -> Result<Requirement, LabelError> {
        let mut absent = false;
        if self.peek_value() == Token::Not {
            absent = true;
            self.next();
        }
        let key = match self.next_value() {
            Token::Word(key) => key,
            other => return Err(LabelError(format!("found '{}', expected: identifier", other.literal()))),
        };
        let mut errors = Vec::new();
        let messages = names::qualified_name(key);
        if !messages.is_empty() {
            errors.push(Error::invalid(&Path::Base("key"), key, messages.join("; "), 0));
        }
        refuse(&errors)?;
        let made = |operator, values| Requirement { key: key.to_owned(), operator, values };
        if matches!(self.peek(), Token::End | Token::Comma) || absent {
            let operator = if absent { Operator::DoesNotExist } else { Operator::Exists };
            return Ok(made(operator, BTreeSet::new()));
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
        if matches!(operator, Operator::GreaterThan | Operator::LessThan)
            && values.first().is_none_or(|value| value.parse::<i64>().is_err())
        {
            let found = values.first().map(String::as_str).unwrap_or_default();
            return Err(LabelError(format!(
                "values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                GoQuoted(found)
            )));
        }
        for (at, value) in values.iter().enumerate() {
            let messages = names::label_value(value);
            if !messages.is_empty() {
                let path = format!("values[{at}][{key}]");
                errors.push(Error::invalid(&Path::Base(&path), value.as_str(), messages.join("; "), 0));
            }
        }
        refuse(&errors)?;
        Ok(made(operator, values))
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
                return Ok(out);
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

fn refuse(errors: &[Error]) -> Result<(), LabelError> {
    match errors {
        [] => Ok(()),
        [one] => Err(LabelError(one.to_string())),
        several => {
            let texts: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(LabelError(format!("[{}]", texts.join(", "))))
        }
    }
}
