//! The documents of a text, found without reading them.
//!
//! A part begins at a line `---` and ends before the next one. A reader that begins at a part sees the same document as
//! one that read everything before it. So an edit makes only its own part new. Lines with `---` and more than a comment
//! are no boundaries.

use kubeshape_yaml::Limits;
use std::ops::Range;

/// Returns the parts of a text, in order. Together they are the text.
///
/// A text with directives, control characters or more bytes than a reader accepts is one part.
///
/// # Example
/// ```
/// use kubeshape_language::parts;
/// assert_eq!(parts("a: 1\n---\nb: |\n  ---\n--- # c\nd: 1"), [0..5, 5..20, 20..32]);
/// assert_eq!(parts("%YAML 1.2\n---\na: 1\n").len(), 1);
/// ```
pub fn parts(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let has_directive = bytes.first() == Some(&b'%') || memchr::memmem::find(bytes, b"\n%").is_some();
    if has_directive || bytes.len() > Limits::default().bytes || has_odd(bytes) {
        return std::iter::once(0..text.len()).collect();
    }
    let is_marker = |at: &usize| {
        let rest = bytes.get(at + 4..).unwrap_or_default();
        let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
        // Nothing, or a comment after a blank.
        let trimmed = line.trim_ascii();
        let is_comment = trimmed.starts_with(b"#") && !line.starts_with(b"#");
        trimmed.is_empty() || is_comment
    };
    let markers = memchr::memmem::find_iter(bytes, b"\n---").filter(is_marker).map(|at| at + 1);
    let mut out = Vec::new();
    let mut start = 0;
    for marker in markers {
        out.push(start..marker);
        start = marker;
    }
    out.push(start..text.len());
    out
}

/// Returns whether there is a control character other than a blank or a line break.
fn has_odd(bytes: &[u8]) -> bool {
    let is_odd = |byte: &u8| *byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t');
    // Without an exit in the middle of a chunk, compilers look at many bytes together.
    bytes.chunks(256).any(|chunk| chunk.iter().fold(false, |found, byte| found | is_odd(byte)))
}
