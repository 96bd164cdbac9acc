//! The syntax tree, before macros are expanded and nodes are numbered.

use super::lexer::{Lexeme, Token};
use crate::limits::MAX_DEPTH;

/// A position in the source, in characters.
pub(crate) type Pos = u32;

/// A node of the syntax tree.
#[derive(Debug)]
pub(crate) enum Syntax {
    Conditional(Box<[Syntax; 3]>, Pos),
    Logic {
        or: bool,
        terms: Vec<Syntax>,
        ops: Vec<Pos>,
    },
    Binary {
        op: Token,
        pos: Pos,
        sides: Box<[Syntax; 2]>,
    },
    Prefix {
        op: Token,
        pos: Pos,
        count: usize,
        operand: Box<Syntax>,
    },
    /// The position of the name includes what was skipped before it.
    Select {
        operand: Box<Syntax>,
        pos: Pos,
        optional: bool,
        name: Option<(Pos, Lexeme)>,
    },
    MemberCall {
        operand: Box<Syntax>,
        open: Pos,
        name: Lexeme,
        args: Vec<Syntax>,
    },
    Index {
        operand: Box<Syntax>,
        pos: Pos,
        optional: bool,
        index: Box<Syntax>,
    },
    Ident {
        dot: bool,
        start: Pos,
        name: Lexeme,
    },
    GlobalCall {
        dot: bool,
        start: Pos,
        name: Lexeme,
        open: Pos,
        args: Vec<Syntax>,
    },
    List {
        pos: Pos,
        elements: Vec<(bool, Syntax)>,
    },
    Map {
        pos: Pos,
        entries: Vec<(bool, Syntax, Pos, Syntax)>,
    },
    /// `list` is the position of the fields.
    Message {
        dot: bool,
        names: Vec<Lexeme>,
        pos: Pos,
        list: Pos,
        fields: Vec<(bool, Lexeme, Pos, Syntax)>,
    },
    Literal {
        negative: bool,
        start: Pos,
        token: Lexeme,
    },
    /// An expression is missing.
    Missing,
    /// A token that cannot begin an operand.
    Unreadable(Pos),
    /// Operators nest too deeply.
    TooDeep,
}

/// The source does not follow the grammar, or nests too deeply.
#[derive(Debug)]
pub(crate) struct Failure;

type Read<T> = Result<T, Failure>;

/// Parses tokens that follow the grammar.
pub(crate) struct Reader<'a> {
    tokens: &'a [Lexeme],
    at: usize,
    /// The current nesting of the rules `expr`, `relation`, `calc`, `unary` and `member`. Upstream bounds each of them.
    depth: [usize; 5],
}

const EXPR: usize = 0;
const RELATION: usize = 1;
const CALC: usize = 2;
const UNARY: usize = 3;
const MEMBER: usize = 4;

impl<'a> Reader<'a> {
    pub(crate) fn read(tokens: &'a [Lexeme]) -> Read<Syntax> {
        let mut reader = Reader { tokens, at: 0, depth: [0; 5] };
        let expr = reader.expr()?;
        reader.expect(Token::Eof)?;
        Ok(expr)
    }

    fn lexeme(&self, ahead: usize) -> Lexeme {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> Token {
        self.lexeme(0).token
    }

    fn take(&mut self) -> Lexeme {
        let lexeme = self.lexeme(0);
        self.at += 1;
        lexeme
    }

    fn eat(&mut self, token: Token) -> Option<Lexeme> {
        (self.peek() == token).then(|| self.take())
    }

    fn expect(&mut self, token: Token) -> Read<Lexeme> {
        self.eat(token).ok_or(Failure)
    }

    fn enter(&mut self, rule: usize) -> Read<()> {
        self.depth[rule] += 1;
        if self.depth[rule] > MAX_DEPTH { Err(Failure) } else { Ok(()) }
    }

    /// Counts a link of a chain. Upstream leaves the rule before it enters it again for the link.
    fn link(chain: &mut usize) -> Read<()> {
        *chain += 1;
        if *chain > MAX_DEPTH { Err(Failure) } else { Ok(()) }
    }

    fn expr(&mut self) -> Read<Syntax> {
        self.enter(EXPR)?;
        let condition = self.logic(true)?;
        let out = if let Some(question) = self.eat(Token::Question) {
            let yes = self.logic(true)?;
            self.expect(Token::Colon)?;
            let no = self.expr()?;
            Syntax::Conditional(Box::new([condition, yes, no]), question.start)
        } else {
            condition
        };
        self.depth[EXPR] -= 1;
        Ok(out)
    }

    fn logic(&mut self, or: bool) -> Read<Syntax> {
        let operator = if or { Token::Or } else { Token::And };
        let first = if or { self.logic(false)? } else { self.binary(false, 0)? };
        if self.peek() != operator {
            return Ok(first);
        }
        let (mut terms, mut ops) = (vec![first], Vec::new());
        while let Some(op) = self.eat(operator) {
            ops.push(op.start);
            terms.push(if or { self.logic(false)? } else { self.binary(false, 0)? });
        }
        Ok(Syntax::Logic { or, terms, ops })
    }

    /// Parses `calc` if `calc`, else `relation`: left-recursive rules, by precedence.
    fn binary(&mut self, calc: bool, least: u8) -> Read<Syntax> {
        let rule = if calc { CALC } else { RELATION };
        let before = self.depth[rule];
        self.enter(rule)?;
        let mut chain = 0;
        let mut left = if calc { self.unary()? } else { self.binary(true, 0)? };
        loop {
            let op = self.peek();
            let precedence = match (calc, op) {
                (true, Token::Star | Token::Slash | Token::Percent)
                | (
                    false,
                    Token::Less
                    | Token::LessEquals
                    | Token::GreaterEquals
                    | Token::Greater
                    | Token::Equals
                    | Token::NotEquals
                    | Token::In,
                ) => 2,
                (true, Token::Plus | Token::Minus) => 1,
                _ => 0,
            };
            if precedence == 0 || precedence < least {
                break;
            }
            Self::link(&mut chain)?;
            let pos = self.take().start;
            let right = self.binary(calc, precedence + 1)?;
            left = Syntax::Binary { op, pos, sides: Box::new([left, right]) };
        }
        // Upstream leaves the rule once per link, however often it entered it.
        self.depth[rule] = before.saturating_sub(chain);
        Ok(left)
    }

    fn unary(&mut self) -> Read<Syntax> {
        self.enter(UNARY)?;
        let op = self.peek();
        let out = match op {
            Token::Exclamation => self.prefix(op)?,
            Token::Minus if !matches!(self.lexeme(1).token, Token::Int | Token::Float) => self.prefix(op)?,
            _ => self.member()?,
        };
        self.depth[UNARY] -= 1;
        Ok(out)
    }

    fn prefix(&mut self, op: Token) -> Read<Syntax> {
        let pos = self.lexeme(0).start;
        let mut count = 0;
        while self.eat(op).is_some() {
            count += 1;
        }
        Ok(Syntax::Prefix { op, pos, count, operand: Box::new(self.member()?) })
    }

    fn member(&mut self) -> Read<Syntax> {
        let before = self.depth[MEMBER];
        self.enter(MEMBER)?;
        let mut chain = 0;
        let mut out = self.primary()?;
        loop {
            match self.peek() {
                Token::Dot => {
                    Self::link(&mut chain)?;
                    let pos = self.take().start;
                    let optional = self.eat(Token::Question).is_some();
                    let name = self.take();
                    if !matches!(name.token, Token::Identifier | Token::EscapedIdentifier) {
                        return Err(Failure);
                    }
                    let operand = Box::new(out);
                    out = if !optional && name.token == Token::Identifier && self.peek() == Token::LeftParen {
                        let open = self.take().start;
                        let args = self.arguments()?;
                        Syntax::MemberCall { operand, open, name, args }
                    } else {
                        Syntax::Select { operand, pos, optional, name: Some((name.start, name)) }
                    };
                }
                Token::LeftBracket => {
                    Self::link(&mut chain)?;
                    let pos = self.take().start;
                    let optional = self.eat(Token::Question).is_some();
                    let index = Box::new(self.expr()?);
                    self.expect(Token::RightBracket)?;
                    out = Syntax::Index { operand: Box::new(out), pos, optional, index };
                }
                _ => break,
            }
        }
        self.depth[MEMBER] = before.saturating_sub(chain);
        Ok(out)
    }

    fn arguments(&mut self) -> Read<Vec<Syntax>> {
        let mut out = Vec::new();
        if self.eat(Token::RightParen).is_some() {
            return Ok(out);
        }
        loop {
            out.push(self.expr()?);
            if self.eat(Token::Comma).is_none() {
                self.expect(Token::RightParen)?;
                return Ok(out);
            }
        }
    }

    /// Returns whether a dotted name and `{` follow.
    fn message_follows(&self) -> bool {
        let mut ahead = usize::from(self.peek() == Token::Dot);
        loop {
            if self.lexeme(ahead).token != Token::Identifier {
                return false;
            }
            match self.lexeme(ahead + 1).token {
                Token::LeftBrace => return true,
                Token::Dot => ahead += 2,
                _ => return false,
            }
        }
    }

    fn primary(&mut self) -> Read<Syntax> {
        let first = self.lexeme(0);
        let start = first.start;
        match first.token {
            Token::Identifier | Token::Dot => {
                if self.message_follows() {
                    return self.message();
                }
                let dot = self.eat(Token::Dot).is_some();
                let name = self.expect(Token::Identifier)?;
                if self.peek() == Token::LeftParen {
                    let open = self.take().start;
                    let args = self.arguments()?;
                    return Ok(Syntax::GlobalCall { dot, start, name, open, args });
                }
                Ok(Syntax::Ident { dot, start, name })
            }
            Token::LeftParen => {
                self.take();
                let inner = self.expr()?;
                self.expect(Token::RightParen)?;
                Ok(inner)
            }
            Token::LeftBracket => {
                self.take();
                let mut elements = Vec::new();
                while !matches!(self.peek(), Token::RightBracket | Token::Comma) {
                    let optional = self.eat(Token::Question).is_some();
                    elements.push((optional, self.expr()?));
                    if self.peek() != Token::Comma || self.lexeme(1).token == Token::RightBracket {
                        break;
                    }
                    self.take();
                    if self.peek() == Token::Comma {
                        return Err(Failure);
                    }
                }
                self.eat(Token::Comma);
                self.expect(Token::RightBracket)?;
                Ok(Syntax::List { pos: start, elements })
            }
            Token::LeftBrace => {
                self.take();
                let mut entries = Vec::new();
                while !matches!(self.peek(), Token::RightBrace | Token::Comma) {
                    let optional = self.eat(Token::Question).is_some();
                    let key = self.expr()?;
                    let colon = self.expect(Token::Colon)?.start;
                    entries.push((optional, key, colon, self.expr()?));
                    if self.peek() != Token::Comma || self.lexeme(1).token == Token::RightBrace {
                        break;
                    }
                    self.take();
                    if self.peek() == Token::Comma {
                        return Err(Failure);
                    }
                }
                self.eat(Token::Comma);
                self.expect(Token::RightBrace)?;
                Ok(Syntax::Map { pos: start, entries })
            }
            Token::Minus if matches!(self.lexeme(1).token, Token::Int | Token::Float) => {
                self.take();
                Ok(Syntax::Literal { negative: true, start, token: self.take() })
            }
            Token::Int
            | Token::Uint
            | Token::Float
            | Token::String
            | Token::Bytes
            | Token::True
            | Token::False
            | Token::Null => Ok(Syntax::Literal { negative: false, start, token: self.take() }),
            _ => Err(Failure),
        }
    }

    fn message(&mut self) -> Read<Syntax> {
        let dot = self.eat(Token::Dot).is_some();
        let mut names = vec![self.expect(Token::Identifier)?];
        while self.eat(Token::Dot).is_some() {
            names.push(self.expect(Token::Identifier)?);
        }
        let pos = self.expect(Token::LeftBrace)?.start;
        let list = self.lexeme(0).start;
        let mut fields = Vec::new();
        while !matches!(self.peek(), Token::RightBrace | Token::Comma) {
            let optional = self.eat(Token::Question).is_some();
            let name = self.take();
            if !matches!(name.token, Token::Identifier | Token::EscapedIdentifier) {
                return Err(Failure);
            }
            let colon = self.expect(Token::Colon)?.start;
            fields.push((optional, name, colon, self.expr()?));
            if self.peek() != Token::Comma || self.lexeme(1).token == Token::RightBrace {
                break;
            }
            self.take();
            if self.peek() == Token::Comma {
                return Err(Failure);
            }
        }
        self.eat(Token::Comma);
        self.expect(Token::RightBrace)?;
        Ok(Syntax::Message { dot, names, pos, list, fields })
    }
}
