//! The lexer, as ANTLR generates it from cel-go's grammar: the longest match wins. Characters that match no token are
//! reported and skipped.

use super::dialect::{Macros, Quoted};

/// Reserved words.
pub(crate) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The kinds of tokens, in the order of cel-go's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Token {
    Eof = 0,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Exclamation,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Whitespace,
    Comment,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
}

impl Token {
    /// Every kind, in order.
    pub(crate) const ALL: [Token; 38] = [
        Token::Eof,
        Token::Equals,
        Token::NotEquals,
        Token::In,
        Token::Less,
        Token::LessEquals,
        Token::GreaterEquals,
        Token::Greater,
        Token::And,
        Token::Or,
        Token::LeftBracket,
        Token::RightBracket,
        Token::LeftBrace,
        Token::RightBrace,
        Token::LeftParen,
        Token::RightParen,
        Token::Dot,
        Token::Comma,
        Token::Minus,
        Token::Exclamation,
        Token::Question,
        Token::Colon,
        Token::Plus,
        Token::Star,
        Token::Slash,
        Token::Percent,
        Token::True,
        Token::False,
        Token::Null,
        Token::Whitespace,
        Token::Comment,
        Token::Float,
        Token::Int,
        Token::Uint,
        Token::String,
        Token::Bytes,
        Token::Identifier,
        Token::EscapedIdentifier,
    ];

    /// Returns ANTLR's name in messages.
    pub(crate) fn name(self) -> &'static str {
        const NAMES: [&str; 38] = [
            "<EOF>",
            "'=='",
            "'!='",
            "'in'",
            "'<'",
            "'<='",
            "'>='",
            "'>'",
            "'&&'",
            "'||'",
            "'['",
            "']'",
            "'{'",
            "'}'",
            "'('",
            "')'",
            "'.'",
            "','",
            "'-'",
            "'!'",
            "'?'",
            "':'",
            "'+'",
            "'*'",
            "'/'",
            "'%'",
            "'true'",
            "'false'",
            "'null'",
            "WHITESPACE",
            "COMMENT",
            "NUM_FLOAT",
            "NUM_INT",
            "NUM_UINT",
            "STRING",
            "BYTES",
            "IDENTIFIER",
            "ESC_IDENTIFIER",
        ];
        NAMES[self as usize]
    }
}

/// A token and its range of characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Characters that are not a token, as the message shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unrecognized {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The number of tokens before it.
    pub(crate) before: usize,
}

/// Returns the tokens without white space and comments. The last one is `Eof`.
pub(crate) fn lex(source: &[char], macros: Macros<'_>) -> (Vec<Lexeme>, Vec<Unrecognized>) {
    let mut tokens = Vec::with_capacity(source.len() / 3 + 1);
    let mut errors = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let mut scan = Scan { source, macros, start: at, accepted: None, furthest: at };
        scan.token();
        match scan.accepted {
            Some((Token::Whitespace | Token::Comment, end)) => at = end,
            Some((token, end)) => {
                tokens.push(Lexeme { token, start: at as u32, end: end as u32 });
                at = end;
            }
            None => {
                let end = (scan.furthest + 1).min(source.len());
                errors.push(Unrecognized { start: at as u32, end: end as u32, before: tokens.len() });
                at = end.max(at + 1);
            }
        }
    }
    let end = source.len() as u32;
    tokens.push(Lexeme { token: Token::Eof, start: end, end });
    (tokens, errors)
}

/// An attempt to match a token.
struct Scan<'a> {
    source: &'a [char],
    macros: Macros<'a>,
    start: usize,
    accepted: Option<(Token, usize)>,
    /// The position where the last alternative failed.
    furthest: usize,
}

impl Scan<'_> {
    fn at(&self, index: usize) -> Option<char> {
        self.source.get(index).copied()
    }

    fn accept(&mut self, token: Token, end: usize) {
        if self.accepted.is_none_or(|(_, other)| end > other) {
            self.accepted = Some((token, end));
        }
        self.furthest = self.furthest.max(end);
    }

    fn fail(&mut self, at: usize) {
        self.furthest = self.furthest.max(at);
    }

    fn while_true(&self, mut at: usize, test: impl Fn(char) -> bool) -> usize {
        while self.at(at).is_some_and(&test) {
            at += 1;
        }
        at
    }

    fn pair(&mut self, second: char, both: Token, single: Option<Token>) {
        let next = self.start + 1;
        if let Some(single) = single {
            self.accept(single, next);
        }
        if self.at(next) == Some(second) { self.accept(both, next + 1) } else { self.fail(next) }
    }

    fn token(&mut self) {
        let start = self.start;
        let Some(first) = self.at(start) else { return };
        let single = |token| (token, start + 1);
        let (token, end) = match first {
            '=' => return self.pair('=', Token::Equals, None),
            '!' => return self.pair('=', Token::NotEquals, Some(Token::Exclamation)),
            '<' => return self.pair('=', Token::LessEquals, Some(Token::Less)),
            '>' => return self.pair('=', Token::GreaterEquals, Some(Token::Greater)),
            '&' => return self.pair('&', Token::And, None),
            '|' => return self.pair('|', Token::Or, None),
            '[' => single(Token::LeftBracket),
            ']' => single(Token::RightBracket),
            '{' => single(Token::LeftBrace),
            '}' => single(Token::RightBrace),
            '(' => single(Token::LeftParen),
            ')' => single(Token::RightParen),
            ',' => single(Token::Comma),
            '-' => single(Token::Minus),
            '?' => single(Token::Question),
            ':' => single(Token::Colon),
            '+' => single(Token::Plus),
            '*' => single(Token::Star),
            '%' => single(Token::Percent),
            '/' => {
                self.accept(Token::Slash, start + 1);
                if self.at(start + 1) == Some('/') {
                    let end = self.while_true(start + 2, |c| c != '\n');
                    self.accept(Token::Comment, end);
                }
                return;
            }
            '\t' | ' ' | '\r' | '\n' | '\u{c}' => {
                (Token::Whitespace, self.while_true(start, |c| matches!(c, '\t' | ' ' | '\r' | '\n' | '\u{c}')))
            }
            '.' => {
                self.accept(Token::Dot, start + 1);
                if self.at(start + 1).is_some_and(|c| c.is_ascii_digit()) {
                    let end = self.while_true(start + 1, |c| c.is_ascii_digit());
                    self.accept(Token::Float, end);
                    self.exponent(end);
                }
                return;
            }
            '0'..='9' => return self.number(),
            '`' if self.macros.quoted() != Quoted::Unknown => {
                let end = self
                    .while_true(start + 1, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
                if end > start + 1 && self.at(end) == Some('`') {
                    self.accept(Token::EscapedIdentifier, end + 1);
                } else {
                    self.fail(end);
                }
                return;
            }
            '"' | '\'' => return self.string(start, Token::String, false),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.word();
                match (first, self.at(start + 1)) {
                    ('r' | 'R', Some('"' | '\'')) => self.string(start + 1, Token::String, true),
                    ('b' | 'B', Some('"' | '\'')) => self.string(start + 1, Token::Bytes, false),
                    ('b' | 'B', Some('r' | 'R')) if matches!(self.at(start + 2), Some('"' | '\'')) => {
                        self.string(start + 2, Token::Bytes, true);
                    }
                    _ => {}
                }
                return;
            }
            _ => return,
        };
        self.accept(token, end);
    }

    fn word(&mut self) {
        let end = self.while_true(self.start, |c| c.is_ascii_alphanumeric() || c == '_');
        let is = |word: &str| {
            word.len() == end - self.start && word.chars().eq(self.source[self.start..end].iter().copied())
        };
        let token = match end - self.start {
            2 if is("in") => Token::In,
            4 if is("true") => Token::True,
            4 if is("null") => Token::Null,
            5 if is("false") => Token::False,
            _ => Token::Identifier,
        };
        self.accept(token, end);
    }

    fn number(&mut self) {
        let start = self.start;
        let end = self.while_true(start, |c| c.is_ascii_digit());
        self.accept(Token::Int, end);
        if matches!(self.at(end), Some('u' | 'U')) {
            self.accept(Token::Uint, end + 1);
        }
        if self.at(end) == Some('.') && self.at(end + 1).is_some_and(|c| c.is_ascii_digit()) {
            let end = self.while_true(end + 1, |c| c.is_ascii_digit());
            self.accept(Token::Float, end);
            self.exponent(end);
        }
        self.exponent(end);
        if end == start + 1 && self.at(start) == Some('0') && self.at(end) == Some('x') {
            let digits = self.while_true(end + 1, |c| c.is_ascii_hexdigit());
            if digits > end + 1 {
                self.accept(Token::Int, digits);
                if matches!(self.at(digits), Some('u' | 'U')) {
                    self.accept(Token::Uint, digits + 1);
                }
            }
        }
    }

    fn exponent(&mut self, at: usize) {
        if !matches!(self.at(at), Some('e' | 'E')) {
            return;
        }
        let digits = at + 1 + usize::from(matches!(self.at(at + 1), Some('+' | '-')));
        let end = self.while_true(digits, |c| c.is_ascii_digit());
        if end > digits {
            self.accept(Token::Float, end);
        }
    }

    /// Scans a string whose first quote is at `quote_at`.
    fn string(&mut self, quote_at: usize, token: Token, raw: bool) {
        let Some(quote) = self.at(quote_at) else { return };
        let mut at = quote_at + 1;
        loop {
            match self.at(at) {
                Some(c) if c == quote => {
                    self.accept(token, at + 1);
                    break;
                }
                Some('\n' | '\r') | None => {
                    self.fail(at);
                    break;
                }
                Some('\\') if !raw => match self.escape(at) {
                    Ok(end) => at = end,
                    Err(end) => {
                        self.fail(end);
                        break;
                    }
                },
                Some(_) => at += 1,
            }
        }
        if self.at(quote_at + 1) != Some(quote) || self.at(quote_at + 2) != Some(quote) {
            return;
        }
        at = quote_at + 3;
        loop {
            match self.at(at) {
                Some(c) if c == quote && self.at(at + 1) == Some(quote) && self.at(at + 2) == Some(quote) => {
                    return self.accept(token, at + 3);
                }
                None => return self.fail(at),
                Some('\\') if !raw => match self.escape(at) {
                    Ok(end) => at = end,
                    Err(end) => return self.fail(end),
                },
                Some(_) => at += 1,
            }
        }
    }

    /// Returns the end of the escape sequence at `at`, or the position of its error.
    fn escape(&self, at: usize) -> Result<usize, usize> {
        let digits = |from: usize, count: usize, test: fn(char) -> bool| {
            (from..from + count).find(|index| !self.at(*index).is_some_and(test)).map_or(Ok(from + count), Err)
        };
        match self.at(at + 1) {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`') => Ok(at + 2),
            Some('0'..='3') => digits(at + 2, 2, |c| ('0'..='7').contains(&c)),
            Some('x' | 'X') => digits(at + 2, 2, |c| c.is_ascii_hexdigit()),
            Some('u') => digits(at + 2, 4, |c| c.is_ascii_hexdigit()),
            Some('U') => digits(at + 2, 8, |c| c.is_ascii_hexdigit()),
            _ => Err(at + 1),
        }
    }
}
