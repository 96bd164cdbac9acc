//! The scanner's longer tokens: plain, quoted and block scalars, tags and directives.

// Sources are shorter than 4 GiB.
#![allow(clippy::cast_possible_wrap)]

use crate::chars::{is_blank, is_word};
use crate::error::Fault;
use crate::scan::{Mark, Scanner, Text, Token};

/// Bytes at which a run of ordinary characters of a plain scalar may end.
const PLAIN_STOP: [bool; 256] = stops(b" \t\n\r:,?[]{}\xC2\xE2");
/// The same for single-quoted scalars …
const SINGLE_STOP: [bool; 256] = stops(b" \t\n\r'\xC2\xE2");
/// … and for double-quoted ones.
const DOUBLE_STOP: [bool; 256] = stops(b" \t\n\r\"\\\xC2\xE2");

const fn stops(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
}

impl Scanner<'_> {
    fn run_end(&self, stops: &[bool; 256]) -> usize {
        let at = self.mark.at;
        self.bytes[at..].iter().position(|b| stops[*b as usize]).map_or(self.bytes.len(), |n| at + n)
    }

    /// Skips one character that is neither blank nor a break.
    fn pass_char(&mut self) {
        let width = match self.byte(0) {
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
        self.pass_to((self.mark.at + width).min(self.bytes.len()));
    }

    /// Appends the folded form of the pending line breaks: `first`, and the others in `self.breaks`.
    fn fold(&mut self, first: &str) {
        if first == "\n" {
            if self.breaks.is_empty() {
                self.text.push(' ');
            } else {
                self.text.push_str(&self.breaks);
            }
        } else {
            self.text.push_str(first);
            self.text.push_str(&self.breaks);
        }
        self.breaks.clear();
    }

    pub(crate) fn scan_plain(&mut self) -> Result<(Text, Mark), Fault> {
        let indent = self.indent + 1;
        let text_from = self.text.len();
        let mut from = self.mark.at;
        let mut end = self.mark;
        let mut decoded = false;
        // The first of the breaks passed since the last character, `None` on the scalar's line.
        let mut first: Option<&'static str> = None;
        self.breaks.clear();
        loop {
            if self.at_marker() || self.byte(0) == b'#' {
                break;
            }
            let run = self.mark.at;
            loop {
                let to = self.run_end(&PLAIN_STOP);
                self.pass_to(to);
                match self.byte(0) {
                    b':' if !self.blank_or_end(1) => self.pass(1),
                    b',' | b'?' | b'[' | b']' | b'{' | b'}' if self.flow_level == 0 => self.pass(1),
                    0xC2 | 0xE2 if !self.at_break() => self.pass_char(),
                    _ => break,
                }
            }
            if self.mark.at > run {
                if let Some(first) = first.take() {
                    if !decoded {
                        decoded = true;
                        self.text.push_str(&self.source[from..end.at]);
                    }
                    self.fold(first);
                    from = run;
                    self.text.push_str(&self.source[run..self.mark.at]);
                } else if decoded {
                    // Blanks between two words of one line belong to the text.
                    self.text.push_str(&self.source[end.at..self.mark.at]);
                }
                end = self.mark;
            }
            if !is_blank(self.byte(0)) && !self.at_break() {
                break;
            }
            loop {
                let byte = self.byte(0);
                if is_blank(byte) {
                    if byte == b'\t' && first.is_some() && (self.mark.column as isize) < indent {
                        return Err(Fault::new(
                            self.mark.at,
                            "found a tab in the indentation of a text that goes on over several lines; indent with \
                             spaces",
                        ));
                    }
                    self.pass(1);
                } else if self.at_break() {
                    let read = self.pass_break();
                    if first.is_none() {
                        first = Some(read);
                    } else {
                        self.breaks.push_str(read);
                    }
                } else {
                    break;
                }
            }
            if self.flow_level == 0 && (self.mark.column as isize) < indent {
                break;
            }
        }
        if first.is_some() {
            self.simple_key_allowed = true;
        }
        let text = if decoded {
            Text { decoded, from: text_from, to: self.text.len() }
        } else {
            Text { decoded, from, to: end.at }
        };
        Ok((text, end))
    }

    pub(crate) fn scan_quoted(&mut self, single: bool) -> Result<Text, Fault> {
        let start = self.mark;
        let text_from = self.text.len();
        let stops = if single { &SINGLE_STOP } else { &DOUBLE_STOP };
        let quote = if single { b'\'' } else { b'"' };
        self.pass(1);
        let mut from = self.mark.at;
        let mut decoded = false;
        loop {
            if self.at_marker() {
                let sign = &self.source[self.mark.at..self.mark.at + 3];
                return Err(unclosed(start, single, &format!("found the document marker '{sign}'")));
            }
            if self.at_end() {
                return Err(unclosed(start, single, "found the end of the source"));
            }
            // Whether an escaped line break came last.
            let mut first: Option<&'static str> = None;
            loop {
                let to = self.run_end(stops);
                self.pass_to(to);
                match self.byte(0) {
                    0xC2 | 0xE2 if !self.at_break() => self.pass_char(),
                    b'\'' if single && self.byte(1) == b'\'' => {
                        self.text.push_str(&self.source[from..=self.mark.at]);
                        decoded = true;
                        self.pass(2);
                        from = self.mark.at;
                    }
                    b'\\' if !single => {
                        self.text.push_str(&self.source[from..self.mark.at]);
                        decoded = true;
                        if crate::chars::break_len(self.bytes, self.mark.at + 1) > 0 {
                            self.pass(1);
                            self.pass_break();
                            from = self.mark.at;
                            first = Some("");
                            break;
                        }
                        self.escape()?;
                        from = self.mark.at;
                    }
                    _ => break,
                }
            }
            if first.is_none() && !self.at_end() && self.byte(0) == quote {
                break;
            }
            let blanks = self.mark.at;
            self.breaks.clear();
            loop {
                if is_blank(self.byte(0)) {
                    self.pass(1);
                } else if self.at_break() {
                    let read = self.pass_break();
                    if first.is_none() {
                        self.text.push_str(&self.source[from..blanks]);
                        decoded = true;
                        first = Some(read);
                    } else {
                        self.breaks.push_str(read);
                    }
                } else {
                    break;
                }
            }
            if let Some(first) = first {
                self.fold(first);
                from = self.mark.at;
            }
        }
        let text = if decoded {
            self.text.push_str(&self.source[from..self.mark.at]);
            Text { decoded, from: text_from, to: self.text.len() }
        } else {
            Text { decoded, from, to: self.mark.at }
        };
        self.pass(1);
        Ok(text)
    }

    /// Reads one escape sequence of a double-quoted scalar into the text.
    fn escape(&mut self) -> Result<(), Fault> {
        let start = self.mark.at;
        let (read, digits) = match self.byte(1) {
            b'0' => ("\0", 0),
            b'a' => ("\x07", 0),
            b'b' => ("\x08", 0),
            b't' | b'\t' => ("\t", 0),
            b'n' => ("\n", 0),
            b'v' => ("\x0B", 0),
            b'f' => ("\x0C", 0),
            b'r' => ("\r", 0),
            b'e' => ("\x1B", 0),
            b' ' => (" ", 0),
            b'"' => ("\"", 0),
            b'\'' => ("'", 0),
            b'\\' => ("\\", 0),
            b'N' => ("\u{85}", 0),
            b'_' => ("\u{A0}", 0),
            b'L' => ("\u{2028}", 0),
            b'P' => ("\u{2029}", 0),
            b'x' => ("", 2),
            b'u' => ("", 4),
            b'U' => ("", 8),
            _ => {
                let what: String = self.source[start..].chars().take(2).collect();
                let hint = if what == "\\/" {
                    "write '/' alone"
                } else {
                    "write '\\\\' for a backslash, or use single quotes"
                };
                return Err(Fault::new(
                    start,
                    format!("found the unknown escape '{what}' in a double-quoted text; {hint}"),
                ));
            }
        };
        self.pass(2);
        if digits == 0 {
            self.text.push_str(read);
            return Ok(());
        }
        let mut value = 0u32;
        for ahead in 0..digits {
            let Some(digit) = char::from(self.byte(ahead)).to_digit(16) else {
                return Err(Fault::new(
                    start,
                    format!("found an escape that needs {digits} hexadecimal digits and has {ahead}"),
                ));
            };
            value = (value << 4) | digit;
        }
        self.pass(digits);
        let Some(c) = char::from_u32(value) else {
            return Err(Fault::new(
                start,
                format!(
                    "found an escape for U+{value:04X}, which is no character; YAML has no surrogate pairs, write \
                     \\U and eight digits"
                ),
            ));
        };
        self.text.push(c);
        Ok(())
    }

    pub(crate) fn scan_block(&mut self, literal: bool) -> Result<(Text, Mark), Fault> {
        let start = self.mark;
        let text_from = self.text.len();
        self.pass(1);
        let (mut keep, mut strip, mut increment) = (false, false, 0isize);
        let mut indicators = [false; 2];
        for _ in 0..2 {
            match self.byte(0) {
                sign @ (b'+' | b'-') if !indicators[0] => {
                    indicators[0] = true;
                    keep = sign == b'+';
                    strip = sign == b'-';
                    self.pass(1);
                }
                b'0' if !indicators[1] => {
                    return Err(Fault::new(self.mark.at, "found the indentation indicator 0, expected 1 to 9"));
                }
                digit @ b'1'..=b'9' if !indicators[1] => {
                    indicators[1] = true;
                    increment = isize::from(digit - b'0');
                    self.pass(1);
                }
                _ => break,
            }
        }
        self.pass_blanks();
        if self.byte(0) == b'#' {
            self.pass_line();
        }
        let mut end = self.mark;
        if !self.at_end() && !self.at_break() {
            return Err(Fault::new(
                self.mark.at,
                "found text behind the head of a block text, where only a comment may stand; begin the text on the \
                 next line",
            ));
        }
        // The end of the header, without blanks and a comment.
        end.at = start.at + 1 + usize::from(indicators[0]) + usize::from(indicators[1]);
        self.pass_break();
        let mut indent = if increment > 0 { self.indent.max(0) + increment } else { 0 };
        self.breaks.clear();
        self.block_breaks(&mut indent)?;
        let mut leading: &'static str = "";
        let mut leading_blank = false;
        while self.mark.column as isize == indent && !self.at_end() {
            let blank = is_blank(self.byte(0));
            if !literal && !leading_blank && !blank && leading == "\n" {
                if self.breaks.is_empty() {
                    self.text.push(' ');
                }
            } else {
                self.text.push_str(leading);
            }
            self.text.push_str(&self.breaks);
            self.breaks.clear();
            leading_blank = blank;
            let from = self.mark.at;
            self.pass_line();
            self.text.push_str(&self.source[from..self.mark.at]);
            end = self.mark;
            leading = self.pass_break();
            self.block_breaks(&mut indent)?;
        }
        if !strip {
            self.text.push_str(leading);
        }
        if keep {
            self.text.push_str(&self.breaks);
        }
        self.breaks.clear();
        Ok((Text { decoded: true, from: text_from, to: self.text.len() }, end))
    }

    /// Skips indentation and empty lines before a line of a block scalar, and detects the indentation if it is not
    /// known yet (0).
    fn block_breaks(&mut self, indent: &mut isize) -> Result<(), Fault> {
        let mut most = 0;
        loop {
            while (*indent == 0 || (self.mark.column as isize) < *indent) && self.byte(0) == b' ' {
                self.pass(1);
            }
            most = most.max(self.mark.column as isize);
            if (*indent == 0 || (self.mark.column as isize) < *indent) && self.byte(0) == b'\t' {
                return Err(Fault::new(
                    self.mark.at,
                    "found a tab in the indentation of a block text; indent with spaces, or say the indentation in \
                     its head (|2)",
                ));
            }
            if !self.at_break() {
                break;
            }
            let read = self.pass_break();
            self.breaks.push_str(read);
        }
        if *indent == 0 {
            *indent = most.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    /// Reads a tag into its handle and its suffix.
    pub(crate) fn scan_tag(&mut self) -> Result<(String, String), Fault> {
        let start = self.mark.at;
        let (handle, suffix) = if self.byte(1) == b'<' {
            self.pass(2);
            let suffix = self.scan_uri("")?;
            if self.byte(0) != b'>' {
                return Err(Fault::new(self.mark.at, "found no '>' at the end of a tag that begins with '!<'"));
            }
            self.pass(1);
            (String::new(), suffix)
        } else {
            let handle = self.scan_handle(false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                let suffix = self.scan_uri("")?;
                (handle, suffix)
            } else {
                let suffix = self.scan_uri(&handle)?;
                if suffix.is_empty() { (String::new(), "!".to_owned()) } else { ("!".to_owned(), suffix) }
            }
        };
        if !self.blank_or_end(0) {
            return Err(Fault::new(
                self.mark.at,
                format!(
                    "found no blank behind the tag {}; quote the text if it is no tag",
                    &self.source[start..self.mark.at]
                ),
            ));
        }
        Ok((handle, suffix))
    }

    fn scan_handle(&mut self, directive: bool) -> Result<String, Fault> {
        let from = self.mark.at;
        if self.byte(0) != b'!' {
            return Err(Fault::new(from, "found no '!' at the start of a tag handle"));
        }
        self.pass(1);
        while is_word(self.byte(0)) {
            self.pass(1);
        }
        if self.byte(0) == b'!' {
            self.pass(1);
        } else if directive && self.mark.at != from + 1 {
            return Err(Fault::new(self.mark.at, "found no '!' at the end of the handle of a %TAG directive"));
        }
        Ok(self.source[from..self.mark.at].to_owned())
    }

    /// Reads a tag's URI after `head`, a handle whose `!` is not part of it.
    fn scan_uri(&mut self, head: &str) -> Result<String, Fault> {
        let mut uri: Vec<u8> = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let from = self.mark.at;
        loop {
            let byte = self.byte(0);
            if byte == b'%' {
                self.uri_escape(&mut uri)?;
            } else if is_word(byte) || b";/?:@&=+$.,!~*'()[]".contains(&byte) {
                uri.push(byte);
                self.pass(1);
            } else {
                break;
            }
        }
        if head.is_empty() && self.mark.at == from {
            return Err(Fault::new(from, "found a tag without a name; quote the text if it is no tag"));
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    fn uri_escape(&mut self, uri: &mut Vec<u8>) -> Result<(), Fault> {
        let start = self.mark.at;
        let mut width = 0;
        let mut read = 0;
        while read == 0 || read < width {
            let high = char::from(self.byte(1)).to_digit(16);
            let low = char::from(self.byte(2)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.byte(0), high, low) else {
                return Err(Fault::new(start, "found '%' in a tag without two hexadecimal digits behind it"));
            };
            let octet = (high << 4 | low) as u8;
            if read == 0 {
                width = match octet {
                    0..=0x7F => 1,
                    0xC0..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF7 => 4,
                    _ => {
                        return Err(Fault::new(start, "found an escape in a tag that is no UTF-8"));
                    }
                };
            } else if octet & 0xC0 != 0x80 {
                return Err(Fault::new(start, "found an escape in a tag that is no UTF-8"));
            }
            uri.push(octet);
            self.pass(3);
            read += 1;
        }
        Ok(())
    }

    pub(crate) fn scan_directive(&mut self) -> Result<Token, Fault> {
        let start = self.mark.at;
        self.pass(1);
        let from = self.mark.at;
        while is_word(self.byte(0)) {
            self.pass(1);
        }
        let name = &self.source[from..self.mark.at];
        if !self.blank_or_end(0) || name.is_empty() {
            return Err(Fault::new(
                start,
                "found '%' at the start of a line, where it begins a directive (%YAML or %TAG); quote the text, or \
                 indent it",
            ));
        }
        match name {
            "YAML" => {
                self.pass_blanks();
                let major = self.version_number()?;
                if self.byte(0) != b'.' {
                    return Err(Fault::new(self.mark.at, "found no version such as 1.1 behind %YAML"));
                }
                self.pass(1);
                let minor = self.version_number()?;
                Ok(Token::Version(major, minor))
            }
            "TAG" => {
                self.pass_blanks();
                let handle = self.scan_handle(true)?;
                if !is_blank(self.byte(0)) {
                    return Err(Fault::new(self.mark.at, "found no blank behind the handle of a %TAG directive"));
                }
                self.pass_blanks();
                let prefix = self.scan_uri("")?;
                if !self.blank_or_end(0) {
                    return Err(Fault::new(self.mark.at, "found no blank behind the prefix of a %TAG directive"));
                }
                Ok(Token::TagDirective(Box::new((handle, prefix))))
            }
            _ => Err(Fault::new(start, format!("found the unknown directive %{name}, expected %YAML or %TAG"))),
        }
    }

    fn version_number(&mut self) -> Result<u32, Fault> {
        let (start, mut value, mut n) = (self.mark.at, 0, 0);
        while self.byte(0).is_ascii_digit() {
            n += 1;
            if n > 9 {
                return Err(Fault::new(start, "found a version number of more than 9 digits"));
            }
            value = value * 10 + u32::from(self.byte(0) - b'0');
            self.pass(1);
        }
        if n == 0 {
            return Err(Fault::new(start, "found no version such as 1.1 behind %YAML"));
        }
        Ok(value)
    }
}

fn unclosed(start: Mark, single: bool, found: &str) -> Fault {
    let (kind, quote) = if single { ("single", '\'') } else { ("double", '"') };
    Fault::new(
        start.at,
        format!("the {kind} quote that begins here is not closed: {found}, expected {quote}; close it"),
    )
}
