//! The scanner of the full reader: from text to tokens, with the rules of libyaml for simple keys,
//! indentation and flow context.

// Sources are shorter than 4 GiB.
#![allow(clippy::cast_possible_wrap)]

use std::collections::VecDeque;

use crate::chars::{blank_or_end, break_len, is_blank, is_word, marker};
use crate::error::Fault;

/// A position in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Byte offset.
    pub(crate) at: usize,
    /// Character offset, for the length of simple keys.
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Where the text of a scalar is: in the source or in the text buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Text {
    pub(crate) decoded: bool,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Quoted,
    Block,
}

#[derive(Clone, Debug)]
pub(crate) enum Token {
    End,
    Version(u32, u32),
    TagDirective(Box<(String, String)>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    /// The name is a range of the source.
    Alias(usize, usize),
    Anchor(usize, usize),
    /// Handle and suffix.
    Tag(Box<(String, String)>),
    Scalar(Text, Style),
}

impl Token {
    /// Returns the name of the token in error messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Token::End => "the end of the source",
            Token::Version(..) | Token::TagDirective(_) => "a directive",
            Token::DocumentStart => "'---'",
            Token::DocumentEnd => "'...'",
            Token::BlockSequenceStart | Token::BlockEntry => "a sequence item '-'",
            Token::BlockMappingStart => "a mapping",
            Token::BlockEnd => "less indentation",
            Token::FlowSequenceStart => "'['",
            Token::FlowSequenceEnd => "']'",
            Token::FlowMappingStart => "'{'",
            Token::FlowMappingEnd => "'}'",
            Token::FlowEntry => "','",
            Token::Key => "a key",
            Token::Value => "':'",
            Token::Alias(..) => "an alias",
            Token::Anchor(..) => "an anchor",
            Token::Tag(_) => "a tag",
            Token::Scalar(..) => "a scalar",
        }
    }
}

/// A token with its range.
#[derive(Clone, Debug)]
pub(crate) struct Spanned {
    pub(crate) token: Token,
    pub(crate) start: Mark,
    pub(crate) end: Mark,
}

/// A token that may turn out to be a key once a `:` is found.
#[derive(Clone, Copy, Debug, Default)]
struct SimpleKey {
    possible: bool,
    /// Whether later tokens are held back until it is known whether this is a key.
    awaited: bool,
    required: bool,
    number: usize,
    mark: Mark,
}

/// The maximum distance of the `:` of a key from its start, in characters.
const KEY_LENGTH: usize = 1024;

#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) source: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) mark: Mark,
    pub(crate) indent: isize,
    pub(crate) flow_level: usize,
    pub(crate) simple_key_allowed: bool,
    pub(crate) text: &'a mut String,
    /// Pending line breaks of a scalar, a buffer that is reused.
    pub(crate) breaks: String,
    indents: Vec<isize>,
    simple_keys: Vec<SimpleKey>,
    tokens: VecDeque<Spanned>,
    /// Number of tokens returned.
    taken: usize,
    ended: bool,
    /// Length of the longest accepted scalar.
    pub(crate) longest: usize,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner of `source` from `at` on, where a line begins.
    pub(crate) fn new(source: &'a str, at: usize, text: &'a mut String, longest: usize) -> Self {
        // A second byte order mark is skipped like a blank.
        let second = at == 3 && source[at..].starts_with('\u{FEFF}');
        let mark = if second { Mark { at: 6, index: 1, line: 0, column: 1 } } else { Mark { at, ..Mark::default() } };
        Scanner {
            source,
            bytes: source.as_bytes(),
            mark,
            indent: -1,
            flow_level: 0,
            simple_key_allowed: true,
            text,
            breaks: String::new(),
            indents: Vec::new(),
            simple_keys: vec![SimpleKey::default()],
            tokens: VecDeque::new(),
            taken: 0,
            ended: false,
            longest,
        }
    }

    /// Returns the next token without consuming it.
    pub(crate) fn peek(&mut self) -> Result<&Spanned, Fault> {
        while self.needs_more()? {
            self.fetch()?;
        }
        // After the end, the next token is always the end token.
        if self.tokens.is_empty() {
            self.push(Token::End, self.mark, self.mark);
        }
        Ok(&self.tokens[0])
    }

    /// Consumes the token that was peeked at.
    pub(crate) fn skip(&mut self) {
        if self.tokens.pop_front().is_some() {
            self.taken += 1;
        }
    }

    fn needs_more(&self) -> Result<bool, Fault> {
        if self.ended {
            return Ok(false);
        }
        if self.tokens.is_empty() {
            return Ok(true);
        }
        // A key token may still be inserted before the first token.
        let from = self.simple_keys.partition_point(|key| key.number < self.taken);
        match self.simple_keys[from..].iter().take_while(|key| key.number == self.taken).find(|key| key.awaited) {
            Some(key) => self.still_valid(key),
            None => Ok(false),
        }
    }

    fn still_valid(&self, key: &SimpleKey) -> Result<bool, Fault> {
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line < self.mark.line || key.mark.index + KEY_LENGTH < self.mark.index {
            if key.required {
                return Err(no_colon(key));
            }
            return Ok(false);
        }
        Ok(true)
    }

    fn push(&mut self, token: Token, start: Mark, end: Mark) {
        self.tokens.push_back(Spanned { token, start, end });
    }

    #[inline]
    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.mark.at + ahead).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn at_end(&self) -> bool {
        self.mark.at >= self.bytes.len()
    }

    /// Skips `n` bytes that are one character each.
    #[inline]
    pub(crate) fn pass(&mut self, n: usize) {
        self.mark.at += n;
        self.mark.index += n;
        self.mark.column += n;
    }

    /// Skips everything up to `to`, which must not contain a line break.
    #[inline]
    pub(crate) fn pass_to(&mut self, to: usize) {
        let chars = self.bytes[self.mark.at..to].iter().filter(|b| **b & 0xC0 != 0x80).count();
        self.mark.at = to;
        self.mark.index += chars;
        self.mark.column += chars;
    }

    /// Skips a line break. Returns the string that it is read as, or `""` if there is no line break.
    pub(crate) fn pass_break(&mut self) -> &'static str {
        let len = break_len(self.bytes, self.mark.at);
        let read = match (len, self.byte(2)) {
            (0, _) => return "",
            (3, 0xA8) => "\u{2028}",
            (3, _) => "\u{2029}",
            _ => "\n",
        };
        self.mark.index += if len == 2 && self.byte(0) == b'\r' { 2 } else { 1 };
        self.mark.at += len;
        self.mark.line += 1;
        self.mark.column = 0;
        read
    }

    /// Skips the rest of the line, but not its break.
    pub(crate) fn pass_line(&mut self) {
        let mut at = self.mark.at;
        while at < self.bytes.len() {
            match self.bytes[at] {
                b'\n' | b'\r' => break,
                0xC2 | 0xE2 if break_len(self.bytes, at) > 0 => break,
                _ => at += 1,
            }
        }
        self.pass_to(at);
    }

    #[inline]
    pub(crate) fn at_break(&self) -> bool {
        break_len(self.bytes, self.mark.at) > 0
    }

    #[inline]
    pub(crate) fn blank_or_end(&self, ahead: usize) -> bool {
        blank_or_end(self.bytes, self.mark.at + ahead)
    }

    pub(crate) fn at_marker(&self) -> bool {
        self.mark.column == 0 && (marker(self.bytes, self.mark.at, b'-') || marker(self.bytes, self.mark.at, b'.'))
    }

    fn pass_to_token(&mut self) {
        loop {
            while self.byte(0) == b' ' || (self.byte(0) == b'\t' && (self.flow_level > 0 || !self.simple_key_allowed)) {
                self.pass(1);
            }
            if self.byte(0) == b'#' {
                self.pass_line();
            }
            if !self.at_break() {
                return;
            }
            self.pass_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        self.pass_to_token();
        self.unroll(self.mark.column as isize);
        if self.at_end() {
            return self.fetch_end();
        }
        let byte = self.byte(0);
        if self.mark.column == 0 {
            if byte == b'%' {
                return self.fetch_directive();
            }
            if self.at_marker() {
                let token = if byte == b'-' { Token::DocumentStart } else { Token::DocumentEnd };
                self.unroll(-1);
                self.remove_simple_key()?;
                self.simple_key_allowed = false;
                self.token_of(token, 3);
                return Ok(());
            }
        }
        let block = self.flow_level == 0;
        match byte {
            b'[' => self.flow_start(Token::FlowSequenceStart),
            b'{' => self.flow_start(Token::FlowMappingStart),
            b']' => self.flow_end(Token::FlowSequenceEnd),
            b'}' => self.flow_end(Token::FlowMappingEnd),
            b',' => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                self.token_of(Token::FlowEntry, 1);
                Ok(())
            }
            b'-' if self.blank_or_end(1) => self.fetch_entry(),
            b'?' if !block || self.blank_or_end(1) => self.fetch_key(),
            b':' if !block || self.blank_or_end(1) => self.fetch_value(),
            b'*' => self.fetch_anchor(false),
            b'&' => self.fetch_anchor(true),
            b'!' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let start = self.mark;
                let tag = self.scan_tag()?;
                self.push(Token::Tag(Box::new(tag)), start, self.mark);
                Ok(())
            }
            b'|' | b'>' if block => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                let start = self.mark;
                let (text, end) = self.scan_block(byte == b'|')?;
                self.scalar(text, Style::Block, start, end)
            }
            b'\'' | b'"' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let start = self.mark;
                let text = self.scan_quoted(byte == b'\'')?;
                self.scalar(text, Style::Quoted, start, self.mark)
            }
            b'-' if !is_blank(self.byte(1)) => self.fetch_plain(),
            b'?' | b':' if block && !self.blank_or_end(1) => self.fetch_plain(),
            b'-' | b'?' | b':' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => Err(self.no_token(byte)),
            _ => self.fetch_plain(),
        }
    }

    fn no_token(&self, byte: u8) -> Fault {
        let message = match byte {
            b'\t' => "found a tab where a value, a key or an item is expected; YAML indents with spaces only, so \
                      replace the tab"
                .to_owned(),
            b'|' | b'>' => {
                format!("found '{}' inside brackets, where no block text can begin; quote the text", char::from(byte))
            }
            _ => format!("found '{}', with which no unquoted text can begin; quote the text", char::from(byte)),
        };
        Fault::new(self.mark.at, message)
    }

    fn scalar(&mut self, text: Text, style: Style, start: Mark, end: Mark) -> Result<(), Fault> {
        if text.to - text.from > self.longest {
            return Err(Fault::limit(
                start.at,
                format!(
                    "a text of {} bytes, more than the limit of {} for one scalar",
                    text.to - text.from,
                    self.longest
                ),
            ));
        }
        self.push(Token::Scalar(text, style), start, end);
        Ok(())
    }

    fn token_of(&mut self, token: Token, len: usize) {
        let start = self.mark;
        self.pass(len);
        self.push(token, start, self.mark);
    }

    fn fetch_end(&mut self) -> Result<(), Fault> {
        self.unroll(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        self.push(Token::End, self.mark, self.mark);
        self.ended = true;
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.mark;
        let (text, end) = self.scan_plain()?;
        self.scalar(text, Style::Plain, start, end)
    }

    fn flow_start(&mut self, token: Token) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_keys.push(SimpleKey {
            number: self.taken + self.tokens.len(),
            mark: self.mark,
            ..SimpleKey::default()
        });
        self.flow_level += 1;
        self.simple_key_allowed = true;
        self.token_of(token, 1);
        Ok(())
    }

    fn flow_end(&mut self, token: Token) -> Result<(), Fault> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            let inner = self.simple_keys.pop();
            // go-yaml does not hold back tokens if there was no text between the brackets: `[]: a` is not a mapping.
            if let (Some(inner), Some(outer)) = (inner, self.simple_keys.last_mut())
                && inner.number == outer.number
            {
                outer.awaited = false;
            }
        }
        self.simple_key_allowed = false;
        self.token_of(token, 1);
        Ok(())
    }

    fn fetch_entry(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(Fault::new(
                    self.mark.at,
                    "found a sequence item '- ' where no sequence can begin; put the sequence on lines of its own, or \
                     quote the text",
                ));
            }
            self.roll(self.mark.column, None, Token::BlockSequenceStart, self.mark);
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.token_of(Token::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(Fault::new(
                    self.mark.at,
                    "found a key indicator '? ' where no mapping can begin; quote the text",
                ));
            }
            self.roll(self.mark.column, None, Token::BlockMappingStart, self.mark);
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.token_of(Token::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Fault> {
        let last = self.simple_keys.len() - 1;
        let key = self.simple_keys[last];
        if self.still_valid(&key)? {
            let token = Spanned { token: Token::Key, start: key.mark, end: key.mark };
            self.insert(key.number, token);
            self.roll(key.mark.column, Some(key.number), Token::BlockMappingStart, key.mark);
            self.simple_keys[last].possible = false;
            self.simple_keys[last].awaited = false;
            self.simple_key_allowed = false;
        } else {
            self.simple_keys[last].possible = false;
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return Err(Fault::new(
                        self.mark.at,
                        "found ': ' where no mapping can begin; quote the text if the colon belongs to it, or put the \
                         mapping on lines of its own",
                    ));
                }
                self.roll(self.mark.column, None, Token::BlockMappingStart, self.mark);
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.token_of(Token::Value, 1);
        Ok(())
    }

    fn fetch_anchor(&mut self, anchor: bool) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.mark;
        self.pass(1);
        let from = self.mark.at;
        while is_word(self.byte(0)) {
            self.pass(1);
        }
        let to = self.mark.at;
        let follows =
            self.blank_or_end(0) || matches!(self.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if to == from || !follows {
            let what = if anchor { "an anchor '&'" } else { "an alias '*'" };
            return Err(Fault::new(
                self.mark.at,
                format!("{what} needs a name of letters, digits, '_' and '-'; quote the text if it is none"),
            ));
        }
        let token = if anchor { Token::Anchor(from, to) } else { Token::Alias(from, to) };
        self.push(token, start, self.mark);
        Ok(())
    }

    fn save_simple_key(&mut self) -> Result<(), Fault> {
        if self.simple_key_allowed {
            let key = SimpleKey {
                possible: true,
                awaited: true,
                required: self.flow_level == 0 && self.indent == self.mark.column as isize,
                number: self.taken + self.tokens.len(),
                mark: self.mark,
            };
            self.remove_simple_key()?;
            if let Some(last) = self.simple_keys.last_mut() {
                *last = key;
            }
        }
        Ok(())
    }

    fn remove_simple_key(&mut self) -> Result<(), Fault> {
        if let Some(key) = self.simple_keys.last_mut()
            && key.possible
        {
            if key.required {
                return Err(no_colon(key));
            }
            key.possible = false;
            key.awaited = false;
        }
        Ok(())
    }

    fn roll(&mut self, column: usize, number: Option<usize>, token: Token, mark: Mark) {
        if self.flow_level > 0 || self.indent >= column as isize {
            return;
        }
        self.indents.push(self.indent);
        self.indent = column as isize;
        let token = Spanned { token, start: mark, end: mark };
        match number {
            Some(number) => self.insert(number, token),
            None => self.tokens.push_back(token),
        }
    }

    /// Inserts a token before the one with this number.
    fn insert(&mut self, number: usize, token: Spanned) {
        match number.checked_sub(self.taken) {
            Some(at) if at < self.tokens.len() => self.tokens.insert(at, token),
            _ => self.tokens.push_back(token),
        }
    }

    fn unroll(&mut self, column: isize) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(Token::BlockEnd, self.mark, self.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch_directive(&mut self) -> Result<(), Fault> {
        self.unroll(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.mark;
        let token = self.scan_directive()?;
        self.push(token, start, self.mark);
        self.pass_blanks();
        if self.byte(0) == b'#' {
            self.pass_line();
        }
        if !self.at_end() && !self.at_break() {
            return Err(Fault::new(self.mark.at, "found text behind a directive, where only a comment may stand"));
        }
        self.pass_break();
        Ok(())
    }

    pub(crate) fn pass_blanks(&mut self) {
        while is_blank(self.byte(0)) {
            self.pass(1);
        }
    }
}

fn no_colon(key: &SimpleKey) -> Fault {
    Fault::new(
        key.mark.at,
        "found a text where a key is expected, and no ':' behind it on its line; add the ':', indent the line to go on \
         with the text above, or begin the line with '- ' for an item",
    )
}
