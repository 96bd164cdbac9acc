//! Builds numbered nodes from the syntax tree, and expands macros.

mod macros;

use super::TOO_DEEP;
use super::dialect::{Macros, Quoted};
use super::lexer::{Lexeme, RESERVED, Token};
use super::syntax::{Pos, Syntax};
use super::{NOWHERE, Places, unescape};
use crate::ast::{Called, Entry, Expr, Field, Id, Kind, Literal};
use crate::decls::Name;
use crate::issue::Reports;
use crate::limits::{COPIES_PER_CHARACTER, FREE_COPIES, MAX_DEPTH};
use std::borrow::Cow;
use std::sync::Arc;

const NO_BACKTICKS: &str = "unsupported syntax: '`'";
const NO_NAME: &str = "unsupported ident kind";

pub(super) struct Builder<'a> {
    source: &'a [char],
    /// The source, if it is ASCII.
    ascii: Option<&'a str>,
    macros: Macros<'a>,
    places: &'a mut Places,
    issues: &'a mut Reports,
    depth: usize,
    /// The nodes that macros copied.
    copies: usize,
}

/// The expression nests too deeply. The error was reported.
pub(super) struct TooDeep;

type Built<T = Expr> = Result<T, TooDeep>;

impl<'a> Builder<'a> {
    pub(super) fn new(
        text: &'a str,
        source: &'a [char],
        macros: Macros<'a>,
        places: &'a mut Places,
        issues: &'a mut Reports,
    ) -> Builder<'a> {
        let ascii = (text.len() == source.len()).then_some(text);
        Builder { source, ascii, macros, places, issues, depth: 0, copies: 0 }
    }

    /// Returns how many nodes macros may copy.
    fn most_copies(&self) -> usize {
        FREE_COPIES + COPIES_PER_CHARACTER * self.source.len()
    }

    fn text(&self, lexeme: Lexeme) -> Cow<'a, str> {
        if lexeme.start == lexeme.end {
            // ANTLR's text for a name that it inserts.
            return Cow::Borrowed("<missing undefined>");
        }
        let range = lexeme.start as usize..lexeme.end as usize;
        match self.ascii {
            Some(text) => Cow::Borrowed(&text[range]),
            None => Cow::Owned(self.source[range].iter().collect()),
        }
    }

    fn id(&mut self, pos: Pos) -> Id {
        self.places.add(pos)
    }

    fn node(&mut self, pos: Pos, kind: Kind) -> Expr {
        Expr::new(self.id(pos), kind)
    }

    /// Reports an error and returns a placeholder node.
    pub(super) fn error(&mut self, pos: Pos, message: impl Into<String>) -> Expr {
        let node = self.node(pos, Kind::Unspecified);
        self.issues.report(self.places.of_offset(pos), message);
        node
    }

    pub(super) fn build(&mut self, syntax: &Syntax) -> Option<Expr> {
        self.visit(syntax).ok()
    }

    fn visit(&mut self, syntax: &Syntax) -> Built {
        let counts = matches!(
            syntax,
            Syntax::Conditional(..)
                | Syntax::Binary { .. }
                | Syntax::Select { .. }
                | Syntax::MemberCall { .. }
                | Syntax::Index { .. }
        );
        if counts {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                self.issues.report((-1, -1), TOO_DEEP);
                return Err(TooDeep);
            }
        }
        let out = self.visit_inner(syntax)?;
        self.depth -= usize::from(counts);
        Ok(out)
    }

    fn visit_inner(&mut self, syntax: &Syntax) -> Built {
        Ok(match syntax {
            Syntax::Conditional(parts, pos) => {
                let condition = self.visit(&parts[0])?;
                let id = self.id(*pos);
                let args = vec![condition, self.visit(&parts[1])?, self.visit(&parts[2])?];
                self.call_of(id, Name::Conditional, args)
            }
            Syntax::Logic { or, terms, ops } => {
                let mut built = vec![self.visit(&terms[0])?];
                let mut ids = Vec::with_capacity(ops.len());
                for (term, op) in terms[1..].iter().zip(ops) {
                    built.push(self.visit(term)?);
                    ids.push(self.id(*op));
                }
                let function = if *or { Name::Or } else { Name::And }.into();
                let mut terms: Vec<Option<Expr>> = built.into_iter().map(Some).collect();
                balanced(&function, &mut terms, &ids, 0, ids.len())
            }
            Syntax::Binary { op, pos, sides } => {
                let left = self.visit(&sides[0])?;
                let id = self.id(*pos);
                let right = self.visit(&sides[1])?;
                self.call_of(id, operator(*op), vec![left, right])
            }
            Syntax::Prefix { count, operand, .. } if count.is_multiple_of(2) => self.visit(operand)?,
            Syntax::Prefix { op, pos, operand, .. } => {
                let id = self.id(*pos);
                let operand = self.visit(operand)?;
                self.call_of(id, if *op == Token::Exclamation { Name::Not } else { Name::Negate }, vec![operand])
            }
            Syntax::Select { operand, pos, optional, name } => {
                let operand = self.visit(operand)?;
                let Some((start, name)) = *name else { return Ok(self.node(*pos, Kind::Unspecified)) };
                let field: Arc<str> = match name.token {
                    Token::Identifier => self.text(name).into(),
                    Token::Eof => {
                        self.error(start, NO_NAME);
                        "".into()
                    }
                    _ if self.macros.quoted() == Quoted::Taken => self.text(name).trim_matches('`').into(),
                    _ => {
                        self.error(start, NO_BACKTICKS);
                        "".into()
                    }
                };
                if *optional {
                    if !self.macros.optional() {
                        return Ok(self.error(*pos, "unsupported syntax '.?'"));
                    }
                    let field = self.node(start, Kind::Literal(Literal::String(field)));
                    let args = vec![operand, field];
                    let id = self.id(*pos);
                    return Ok(self.call_of(id, Name::OptionalSelect, args));
                }
                self.node(*pos, Kind::Select { operand: Box::new(operand), field, test_only: false })
            }
            Syntax::MemberCall { operand, open, name, args } => {
                let operand = self.visit(operand)?;
                let id = self.id(*open);
                let args = self.visit_all(args)?;
                let name = self.text(*name);
                self.call(id, &name, Some(operand), args)
            }
            Syntax::Index { operand, pos, optional, index } => {
                let operand = self.visit(operand)?;
                let id = self.id(*pos);
                let index = self.visit(index)?;
                if *optional && !self.macros.optional() {
                    return Ok(self.error(*pos, "unsupported syntax '[?'"));
                }
                self.call_of(id, if *optional { Name::OptionalIndex } else { Name::Index }, vec![operand, index])
            }
            Syntax::Ident { dot, start, name } => {
                let text = self.text(*name);
                if RESERVED.contains(&&*text) {
                    return Ok(self.error(*start, format!("reserved identifier: {text}")));
                }
                self.node(name.start, Kind::Ident(with_dot(*dot, &text)))
            }
            Syntax::GlobalCall { dot, start, name, open, args } => {
                let text = self.text(*name);
                if RESERVED.contains(&&*text) {
                    return Ok(self.error(*start, format!("reserved identifier: {text}")));
                }
                let id = self.id(*open);
                let args = self.visit_all(args)?;
                if *dot { self.call(id, &format!(".{text}"), None, args) } else { self.call(id, &text, None, args) }
            }
            Syntax::List { pos, elements } => {
                let id = self.id(*pos);
                let (mut built, mut optional) = (Vec::with_capacity(elements.len()), Vec::new());
                for (i, (is_optional, element)) in elements.iter().enumerate() {
                    built.push(self.visit(element)?);
                    if *is_optional && self.optional_entry(element_start(element)) {
                        optional.push(i);
                    }
                }
                Expr::new(id, Kind::List { elements: built, optional })
            }
            Syntax::Map { pos, entries } => {
                let id = self.id(*pos);
                let mut built = Vec::with_capacity(entries.len());
                for (optional, key, colon, value) in entries {
                    self.id(*colon);
                    if *optional && !self.optional_entry(element_start(key)) {
                        continue;
                    }
                    let (key, value) = (self.visit(key)?, self.visit(value)?);
                    built.push(Entry { key, value, optional: *optional });
                }
                Expr::new(id, Kind::Map(built))
            }
            Syntax::Message { dot, names, pos, list, fields } => {
                let names: Vec<Cow<'_, str>> = names.iter().map(|name| self.text(*name)).collect();
                let id = self.id(*pos);
                let mut built = Vec::with_capacity(fields.len());
                for (optional, name, colon, value) in fields {
                    let field = self.id(*colon);
                    if *optional && !self.optional_entry(name.start) {
                        continue;
                    }
                    let refused = match name.token {
                        Token::EscapedIdentifier if self.macros.quoted() != Quoted::Taken => Some(NO_BACKTICKS),
                        Token::Eof => Some(NO_NAME),
                        _ => None,
                    };
                    if let Some(refused) = refused {
                        self.error(*list, refused);
                        continue;
                    }
                    let name = self.text(*name).trim_matches('`').into();
                    built.push(Field { id: field, name, value: self.visit(value)?, optional: *optional });
                }
                Expr::new(id, Kind::Struct { name: with_dot(*dot, &names.join(".")), fields: built })
            }
            Syntax::Literal { negative, start, token } => self.literal(*negative, *start, *token),
            Syntax::Missing => self.node(NOWHERE, Kind::Unspecified),
            Syntax::Unreadable(pos) => self.node(*pos, Kind::Literal(Literal::String("<<error>>".into()))),
            Syntax::TooDeep => {
                self.issues.report((-1, -1), TOO_DEEP);
                return Err(TooDeep);
            }
        })
    }

    fn visit_all(&mut self, all: &[Syntax]) -> Built<Vec<Expr>> {
        all.iter().map(|syntax| self.visit(syntax)).collect()
    }

    fn optional_entry(&mut self, pos: Pos) -> bool {
        if !self.macros.optional() {
            self.error(pos, "unsupported syntax '?'");
        }
        self.macros.optional()
    }

    fn call(&mut self, id: Id, function: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        match self.expand(id, function, target, args) {
            Ok(expanded) => expanded,
            Err((target, args)) => {
                Expr::new(id, Kind::Call { function: Called::named(function), target: target.map(Box::new), args })
            }
        }
    }

    /// Returns a call of an operator.
    #[allow(clippy::unused_self)] // For symmetry with `call`.
    fn call_of(&self, id: Id, function: Name, args: Vec<Expr>) -> Expr {
        Expr::new(id, Kind::Call { function: function.into(), target: None, args })
    }

    fn literal(&mut self, negative: bool, start: Pos, token: Lexeme) -> Expr {
        let text = self.text(token);
        let literal = match token.token {
            Token::True => Literal::Bool(true),
            Token::False => Literal::Bool(false),
            Token::Null => Literal::Null,
            Token::Int => {
                let (digits, base) = text.strip_prefix("0x").map_or((&*text, 10), |digits| (digits, 16));
                let signed = if negative { Cow::Owned(format!("-{digits}")) } else { Cow::Borrowed(digits) };
                match i64::from_str_radix(&signed, base) {
                    Ok(value) => Literal::Int(value),
                    Err(_) => return self.error(start, "invalid int literal"),
                }
            }
            Token::Uint => {
                let text = &text[..text.len() - 1];
                let (digits, base) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
                match u64::from_str_radix(digits, base) {
                    Ok(value) => Literal::Uint(value),
                    Err(_) => return self.error(start, "invalid uint literal"),
                }
            }
            Token::Float => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Literal::Double(if negative { -value } else { value }),
                _ => return self.error(start, "invalid double literal"),
            },
            Token::Bytes => match unescape::unescape(&text[1..], true) {
                Ok(bytes) => Literal::Bytes(bytes.into()),
                Err(error) => return self.error(start, error),
            },
            _ => match unescape::plain(&text) {
                Some(plain) => Literal::String(plain.into()),
                None => match unescape::unescape(&text, false) {
                    Ok(bytes) => Literal::String(String::from_utf8_lossy(&bytes).into()),
                    Err(error) => return self.error(start, error),
                },
            },
        };
        self.node(start, Kind::Literal(literal))
    }
}

fn with_dot(dot: bool, text: &str) -> Arc<str> {
    if dot { format!(".{text}").into() } else { text.into() }
}

/// Returns the start of an element, as messages about `?` need it.
fn element_start(syntax: &Syntax) -> Pos {
    match syntax {
        Syntax::Logic { .. } | Syntax::Missing | Syntax::TooDeep => u32::MAX,
        Syntax::Conditional(parts, _) => element_start(&parts[0]),
        Syntax::Binary { sides, .. } => element_start(&sides[0]),
        Syntax::Select { operand, .. } | Syntax::MemberCall { operand, .. } | Syntax::Index { operand, .. } => {
            element_start(operand)
        }
        Syntax::Unreadable(pos) | Syntax::Prefix { pos, .. } | Syntax::List { pos, .. } | Syntax::Map { pos, .. } => {
            *pos
        }
        Syntax::Message { names, .. } => names.first().map_or(u32::MAX, |name| name.start),
        Syntax::Ident { start, .. } | Syntax::GlobalCall { start, .. } | Syntax::Literal { start, .. } => *start,
    }
}

/// Builds a balanced tree from a chain of `&&` or `||`, as upstream does: the terms `low..=high` with the operators
/// between them.
fn balanced(function: &Called, terms: &mut [Option<Expr>], ids: &[Id], low: usize, high: usize) -> Expr {
    if low == high {
        return terms[low].take().unwrap_or(Expr::new(0, Kind::Unspecified));
    }
    let middle = low + (high - low) / 2;
    let left = balanced(function, terms, ids, low, middle);
    let right = balanced(function, terms, ids, middle + 1, high);
    Expr::new(ids[middle], Kind::Call { function: function.clone(), target: None, args: vec![left, right] })
}

fn operator(token: Token) -> Name {
    match token {
        Token::Less => Name::Less,
        Token::LessEquals => Name::LessEquals,
        Token::GreaterEquals => Name::GreaterEquals,
        Token::Greater => Name::Greater,
        Token::Equals => Name::Equals,
        Token::NotEquals => Name::NotEquals,
        Token::In => Name::In,
        Token::Star => Name::Multiply,
        Token::Slash => Name::Divide,
        Token::Percent => Name::Modulo,
        Token::Plus => Name::Plus,
        _ => Name::Minus,
    }
}
