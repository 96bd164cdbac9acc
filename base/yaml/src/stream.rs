//! The documents of one source, one after the other.

use std::fmt::Write;

use crate::chars::{self, Odd};
use crate::compose::{self, Stop};
use crate::error::Fault;
use crate::positions::Milestone;
use crate::{Entry, Error, Flags, Kind, Limits, Tape, json_read};

/// Which reader reads a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Path {
    /// JSON if the document begins with `{`; else the fast reader for machine-written block YAML, and the full one for
    /// everything that the fast one does not support.
    #[default]
    Auto,
    /// As [`Path::Auto`], but never JSON: `{` begins a YAML mapping.
    Yaml,
    /// The full YAML reader only.
    Full,
    /// JSON only: one value, or several one after the other.
    Json,
}

/// The documents of one source.
#[derive(Debug)]
pub struct Stream<'a> {
    source: &'a str,
    limits: Limits,
    path: Path,
    at: usize,
    /// The next character that is refused or special, once searched for. JSON is read without the search.
    #[allow(clippy::option_option)] // Not searched for is not the same as not found.
    odd: Option<Option<(usize, Odd)>>,
    /// An offset whose line is known.
    line: (usize, usize),
    /// The position at which the last document began.
    start: Milestone,
    ignored: Option<(usize, usize)>,
    fast: crate::fast::Stack,
    shares: [usize; 2],
}

impl<'a> Stream<'a> {
    /// Creates a stream over `source`.
    ///
    /// # Errors
    /// The source is not UTF-8 or larger than the limit.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    /// let source = b"a: 1\n---\nb: 2\n";
    /// let mut stream = Stream::new(source, Limits::default())?;
    /// let mut tape = Tape::new();
    /// let mut n = 0;
    /// while let Some(document) = stream.next(&mut tape) {
    ///     document?;
    ///     n += 1;
    /// }
    /// assert_eq!(n, 2);
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn new(source: &'a [u8], limits: Limits) -> Result<Self, Error> {
        Self::with_path(source, limits, Path::Auto)
    }

    /// Creates a stream that uses the given reader.
    ///
    /// # Errors
    /// As [`Stream::new`].
    pub fn with_path(source: &'a [u8], limits: Limits, path: Path) -> Result<Self, Error> {
        let most = limits.bytes.min(u32::MAX as usize);
        if source.len() > most {
            let message = format!("a source of {} bytes, more than the limit of {most} bytes", source.len());
            return Err(Error { message, offset: 0, line: 1, column: 1, limit: true });
        }
        let text = match std::str::from_utf8(source) {
            Ok(text) => text,
            Err(error) => return Err(no_utf8(source, error.valid_up_to())),
        };
        let at = if source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Ok(Stream {
            source: text,
            limits,
            path,
            at,
            odd: None,
            line: (0, 1),
            start: Milestone::default(),
            ignored: None,
            fast: crate::fast::Stack::default(),
            shares: [0; 2],
        })
    }

    /// Returns the source as a string.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// Returns the range between the document that was read last and the next one, if it has more than blanks and
    /// comments. Kubernetes ignores it silently. It exists if a document ends before the next `---`, as after a `...`
    /// or a complete `"text"`.
    pub fn ignored(&self) -> Option<std::ops::Range<usize>> {
        self.ignored.map(|(from, to)| from..to)
    }

    /// Returns how many bytes of the source the fast reader and the full readers have read so far.
    pub fn shares(&self) -> [usize; 2] {
        self.shares
    }

    /// Reads the next document into `tape`, which is cleared first. Returns `None` at the end of the source. After an
    /// error, the stream continues with the next line that begins with `---`.
    ///
    /// A document of blank lines and comments only is read, too (see [`Tape::has_content`]). Nothing at all between two
    /// `---` is not a document.
    ///
    /// # Errors
    /// The document is not YAML that Kubernetes reads, or exceeds a limit.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self, tape: &mut Tape) -> Option<Result<(), Error>> {
        tape.clear();
        self.ignored = None;
        if self.path == Path::Json {
            return self.next_json(tape);
        }
        let bytes = self.source.as_bytes();
        // Markers with nothing between them.
        loop {
            if self.at >= bytes.len() {
                return None;
            }
            if !chars::marker(bytes, self.at, b'-') {
                break;
            }
            match separator_end(bytes, self.at) {
                Some(end) if end == bytes.len() || chars::marker(bytes, end, b'-') => self.at = end,
                _ => break,
            }
        }
        let start = self.at;
        if !chars::marker(bytes, start, b'-') {
            let content = self.pass_comments(start);
            if content == bytes.len() || chars::marker(bytes, content, b'-') {
                if let Some(fault) = self.refused(content) {
                    return Some(Err(self.fail(fault, start)));
                }
                empty(tape, content);
                self.at = content;
                return Some(Ok(()));
            }
        }
        let result = self.document(start, tape);
        self.start.go_on(self.source, start);
        tape.start = self.start;
        Some(match result {
            Ok(stop) => {
                self.go_on(stop);
                Ok(())
            }
            Err(fault) => {
                tape.clear();
                Err(self.fail(fault, start))
            }
        })
    }

    /// Reads the document that begins at `start`.
    fn document(&mut self, start: usize, tape: &mut Tape) -> Result<Stop, Fault> {
        let bytes = self.source.as_bytes();
        let mut json_fault = None;
        if self.path == Path::Auto {
            let first = bytes[start..].iter().position(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
            if let Some(first) = first.map(|n| start + n).filter(|at| bytes[*at] == b'{') {
                match json_read::read(self.source, first, &self.limits, tape) {
                    Ok(end) if json_ends(bytes, end) => {
                        self.shares[1] += end - start;
                        return Ok(Stop { at: end, dots: false });
                    }
                    Ok(_) => {}
                    Err(fault) => json_fault = Some(fault),
                }
                tape.clear();
            }
        }
        if self.path != Path::Full && json_fault.is_none() {
            let end = self.next_odd(start).map_or(bytes.len(), |(at, _)| at);
            if let Some(at) = crate::fast::read(self.source, start, end, &self.limits, tape, &mut self.fast) {
                self.shares[0] += at - start;
                return Ok(Stop { at, dots: false });
            }
            tape.clear();
        }
        let refused = self.next_refused(start);
        let end = refused.unwrap_or(bytes.len());
        let result = compose::read(&self.source[..end], start, &self.limits, tape);
        let stop = match result {
            Ok(Some(stop)) if refused.is_none_or(|_| stop.at < end && !self.reaches(start, end)) => stop,
            Ok(None) if refused.is_none() => {
                tape.clear();
                empty(tape, end);
                Stop { at: end, dots: false }
            }
            // A refused character is reported before any other error if the reader came that far.
            Ok(_) => return Err(self.refused_at(end)),
            Err(fault) if refused.is_some() && self.reaches(start, end) && !fault.limit => {
                return Err(self.refused_at(end));
            }
            Err(fault) => {
                return Err(match json_fault {
                    // If the document was meant as JSON, the error is the one of the JSON reader.
                    Some(json) if !fault.limit && is_json_mistake(bytes, start, json.at, fault.at) => json,
                    _ => fault,
                });
            }
        };
        self.shares[1] += stop.at - start;
        Ok(stop)
    }

    fn next_json(&mut self, tape: &mut Tape) -> Option<Result<(), Error>> {
        let bytes = self.source.as_bytes();
        while self.at < bytes.len() && matches!(bytes[self.at], b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        if self.at == bytes.len() {
            return None;
        }
        Some(match json_read::read(self.source, self.at, &self.limits, tape) {
            Ok(end) => {
                self.shares[1] += end - self.at;
                self.start.go_on(self.source, self.at);
                tape.start = self.start;
                self.at = end;
                Ok(())
            }
            Err(fault) => {
                tape.clear();
                let error = self.error(fault);
                // There is no marker at which to continue.
                self.at = bytes.len();
                Err(error)
            }
        })
    }

    /// Returns whether there is no marker between the two offsets.
    fn reaches(&self, from: usize, to: usize) -> bool {
        next_marker(self.source.as_bytes(), from + 1).is_none_or(|at| at > to)
    }

    /// Finds the next character that is refused or special.
    fn next_odd(&mut self, from: usize) -> Option<(usize, Odd)> {
        match self.odd {
            Some(odd) if odd.is_none_or(|(at, _)| at >= from) => odd,
            _ => *self.odd.insert(chars::next_odd(self.source.as_bytes(), from)),
        }
    }

    /// Finds the next character that YAML does not allow.
    fn next_refused(&mut self, from: usize) -> Option<usize> {
        let bytes = self.source.as_bytes();
        let mut odd = self.next_odd(from);
        while let Some((at, kind)) = odd {
            if kind == Odd::Refused && at >= from {
                return Some(at);
            }
            odd = chars::next_odd(bytes, at + 1);
        }
        None
    }

    fn refused(&mut self, end: usize) -> Option<Fault> {
        let at = self.next_refused(self.at)?;
        (at < end).then(|| self.refused_at(at))
    }

    fn refused_at(&self, at: usize) -> Fault {
        let c = self.source[at..].chars().next().unwrap_or('\0');
        Fault::new(
            at,
            format!(
                "found the control character U+{:04X}, which YAML does not allow; remove it, or write \"\\u{:04x}\" \
                 in double quotes",
                c as u32, c as u32
            ),
        )
    }

    /// Skips blank lines and comments.
    fn pass_comments(&self, from: usize) -> usize {
        let bytes = self.source.as_bytes();
        let mut at = from;
        let mut line = from;
        loop {
            while at < bytes.len() && bytes[at] == b' ' {
                at += 1;
            }
            if bytes.get(at) == Some(&b'#') {
                while at < bytes.len() && chars::break_len(bytes, at) == 0 {
                    at += 1;
                }
            }
            if at >= bytes.len() {
                return bytes.len();
            }
            match chars::break_len(bytes, at) {
                0 => return line,
                n => at += n,
            }
            line = at;
            if chars::marker(bytes, at, b'-') {
                return at;
            }
        }
    }

    /// Finds the next document after one.
    fn go_on(&mut self, stop: Stop) {
        let bytes = self.source.as_bytes();
        let mut at = stop.at;
        if at >= bytes.len() || chars::marker(bytes, at, b'-') {
            self.at = at;
            return;
        }
        // The rest of the marker's line, blank lines, comments.
        while at < bytes.len() {
            let byte = bytes[at];
            if chars::is_blank(byte) {
                at += 1;
            } else if byte == b'#' {
                while at < bytes.len() && chars::break_len(bytes, at) == 0 {
                    at += 1;
                }
            } else {
                match chars::break_len(bytes, at) {
                    0 => break,
                    n => at += n,
                }
                if chars::marker(bytes, at, b'-') {
                    break;
                }
            }
        }
        let directive = stop.dots && bytes.get(at) == Some(&b'%');
        let json = !stop.dots && self.path == Path::Auto && bytes.get(at) == Some(&b'{');
        if at >= bytes.len() || directive || json || chars::marker(bytes, at, b'-') {
            self.at = at;
            return;
        }
        self.at = next_marker(bytes, at).unwrap_or(bytes.len());
        self.ignored = Some((at, self.at));
    }

    /// Builds the error and continues at the next marker.
    fn fail(&mut self, fault: Fault, start: usize) -> Error {
        let error = self.error(fault);
        let bytes = self.source.as_bytes();
        self.at = next_marker(bytes, start + 1).unwrap_or(bytes.len());
        error
    }

    fn error(&mut self, fault: Fault) -> Error {
        let opened = fault.opened.map(|at| (self.line_of(at).0, char::from(self.source.as_bytes()[at])));
        let (line, start) = self.line_of(fault.at);
        let column = self.source.as_bytes()[start..fault.at.min(self.source.len())]
            .iter()
            .filter(|b| **b & 0xC0 != 0x80)
            .count()
            + 1;
        let mut message = fault.message.into_string();
        if let Some((line, bracket)) = opened {
            let _ = write!(message, ", inside the '{bracket}' of line {line}");
        }
        Error { message, offset: fault.at, line, column, limit: fault.limit }
    }

    /// Returns the line of an offset and where it begins.
    fn line_of(&mut self, at: usize) -> (usize, usize) {
        let bytes = self.source.as_bytes();
        let at = at.min(bytes.len());
        if at < self.line.0 {
            self.line = (0, 1);
        }
        let (from, line) = self.line;
        let line = line + memchr::memchr_iter(b'\n', &bytes[from..at]).count();
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |n| n + 1);
        self.line = (start, line);
        (line, start)
    }
}

/// Fills the tape with a document without content.
fn empty(tape: &mut Tape, at: usize) {
    let at = at as u32;
    tape.entries.push(Entry { start: at, end: at, a: at, b: 0, kind: Kind::Null, flags: Flags::NONE });
}

/// Returns where the line after a marker begins, if the marker's line contains only a comment.
fn separator_end(bytes: &[u8], marker: usize) -> Option<usize> {
    let mut at = marker + 3;
    while at < bytes.len() && chars::is_blank(bytes[at]) {
        at += 1;
    }
    if bytes.get(at) == Some(&b'#') {
        while at < bytes.len() && chars::break_len(bytes, at) == 0 {
            at += 1;
        }
    }
    if at >= bytes.len() {
        return Some(bytes.len());
    }
    match chars::break_len(bytes, at) {
        0 => None,
        n => Some(at + n),
    }
}

/// Finds the next line at or after `from` that begins with `---`.
fn next_marker(bytes: &[u8], from: usize) -> Option<usize> {
    let from = from.min(bytes.len());
    memchr::memmem::find_iter(&bytes[from..], b"---").map(|n| from + n).find(|at| {
        let line = matches!(bytes[..*at], [.., b'\n' | b'\r'] | [.., 0xC2, 0x85] | [.., 0xE2, 0x80, 0xA8 | 0xA9] | []);
        line && chars::blank_or_end(bytes, *at + 3)
    })
}

/// Returns whether a JSON value that ends here is a document of its own.
fn json_ends(bytes: &[u8], end: usize) -> bool {
    let mut at = end;
    let mut line = false;
    while at < bytes.len() && matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r') {
        line = bytes[at] == b'\n' || (line && at > end);
        at += 1;
    }
    match bytes.get(at) {
        None | Some(b'{') => true,
        Some(b'-') => line && chars::marker(bytes, at, b'-'),
        _ => false,
    }
}

/// Returns whether a document that is neither JSON nor YAML was rather meant as JSON: it begins with a quoted key, and
/// the JSON reader did not stop at syntax that only YAML has.
fn is_json_mistake(bytes: &[u8], from: usize, json: usize, yaml: usize) -> bool {
    let mut rest = bytes[from..].iter().filter(|b| !b.is_ascii_whitespace());
    if rest.next() != Some(&b'{') || rest.next() != Some(&b'"') {
        return false;
    }
    match bytes.get(json) {
        Some(b'"' | b':' | b'{' | b'[' | b'\\' | b'\n') | None => true,
        _ => json >= yaml,
    }
}

fn no_utf8(source: &[u8], at: usize) -> Error {
    let message = match source {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            "the source is UTF-16, which is not read here; convert it to UTF-8".to_owned()
        }
        _ => format!("found the byte 0x{:02X}, which is not UTF-8; convert the source to UTF-8", source[at]),
    };
    let before = String::from_utf8_lossy(&source[..at]);
    Error::at(&before, before.len(), message)
}
