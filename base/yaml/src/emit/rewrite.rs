//! Converts printed JSON to YAML while it is being printed.

use super::{Emitter, Level, Place};
use crate::go::number::{self, Number};
use crate::{Limits, Path, Stream, Tape};
use std::borrow::Cow;

/// Converts JSON that comes in pieces to YAML. Only the incomplete end of a piece is kept, so memory does not grow with
/// the document. The result is that of [`Emitter::node`]. For invalid JSON, the output is unspecified, but nothing
/// panics.
///
/// # Example
/// ```
/// use kubeshape_yaml::emit::Rewriter;
/// let (mut rewriter, mut out) = (Rewriter::default(), Vec::new());
/// for piece in [r#"{"a":[1,"y"#, r#"es"],"b"#, r#"":{}}"#] {
///     rewriter.piece(piece, &mut out);
/// }
/// rewriter.end(&mut out);
/// assert_eq!(String::from_utf8(out).unwrap(), "a:\n- 1\n- \"yes\"\nb: {}\n");
/// ```
#[derive(Debug)]
pub struct Rewriter {
    levels: Vec<Level>,
    place: Place,
    /// Open collections: whether they are mappings, and whether a key comes next.
    open: Vec<(bool, bool)>,
    /// A string or number that is not complete yet.
    rest: String,
    tape: Tape,
}

impl Default for Rewriter {
    fn default() -> Self {
        Rewriter {
            levels: Vec::new(),
            place: Place::Root,
            open: Vec::new(),
            rest: String::new(),
            tape: Tape::default(),
        }
    }
}

impl Rewriter {
    /// Appends the YAML of a piece of JSON.
    pub fn piece(&mut self, json: &str, out: &mut Vec<u8>) {
        let mut rest = std::mem::take(&mut self.rest);
        if rest.is_empty() {
            let done = self.rewrite(json, out);
            rest.push_str(&json[done..]);
        } else {
            rest.push_str(json);
            let done = self.rewrite(&rest, out);
            rest.drain(..done);
        }
        self.rest = rest;
    }

    /// Appends what is left at the end.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        let rest = std::mem::take(&mut self.rest);
        // A number at the root has no character after it that ends it.
        self.rewrite(&(rest + " "), out);
    }

    /// Converts all complete tokens. Returns where the first incomplete one begins.
    fn rewrite(&mut self, json: &str, out: &mut Vec<u8>) -> usize {
        let levels = std::mem::take(&mut self.levels);
        let mut emitter = Emitter { out, levels, place: self.place, folds: false, most: usize::MAX };
        let bytes = json.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => {
                    let is_map = *byte == b'{';
                    before(&mut self.open, &mut emitter);
                    emitter.begin(is_map);
                    self.open.push((is_map, true));
                    at += 1;
                }
                b'}' | b']' => {
                    self.open.pop();
                    emitter.end();
                    at += 1;
                }
                b'"' => {
                    let Some(end) = end_of_text(bytes, at) else { break };
                    let text = decoded(&json[at..end], &mut self.tape);
                    if let Some((true, is_key @ true)) = self.open.last_mut() {
                        *is_key = false;
                        emitter.key(&text);
                    } else {
                        before(&mut self.open, &mut emitter);
                        emitter.str(&text);
                    }
                    at = end;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                _ => {
                    let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                    let Some(length) = bytes[at..].iter().position(is_end) else { break };
                    before(&mut self.open, &mut emitter);
                    word(&json[at..at + length], &mut emitter);
                    at += length;
                }
            }
        }
        (self.levels, self.place) = (emitter.levels, emitter.place);
        at
    }
}

/// Moves to the position of a value.
fn before(open: &mut [(bool, bool)], emitter: &mut Emitter<'_>) {
    match open.last_mut() {
        None => {}
        Some((true, is_key)) => *is_key = true,
        Some((false, _)) => emitter.item(),
    }
}

/// Returns where the string that begins at `start` ends, or `None` if it is incomplete.
fn end_of_text(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Decodes a string in quotes.
fn decoded<'t>(quoted: &'t str, tape: &mut Tape) -> Cow<'t, str> {
    let inner = &quoted[1..quoted.len() - 1];
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    // A YAML reader would fold line breaks that JSON keeps.
    let read = Stream::with_path(quoted.as_bytes(), Limits::PRINTED, Path::Json).ok().and_then(|mut stream| {
        let source = stream.source();
        stream.next(tape)?.ok()?;
        tape.document(source).root().map(|root| root.text().to_owned())
    });
    Cow::Owned(read.unwrap_or_default())
}

/// Prints a token without quotes.
fn word(text: &str, emitter: &mut Emitter<'_>) {
    match text {
        "true" => emitter.bool(true),
        "false" => emitter.bool(false),
        "null" => emitter.null(),
        _ => match number::from_json_literal(text) {
            Some(Number::Int(n)) => emitter.int(n),
            Some(Number::Uint(n)) => emitter.uint(n),
            Some(Number::Float(n)) => emitter.float(n),
            None => emitter.null(),
        },
    }
}
