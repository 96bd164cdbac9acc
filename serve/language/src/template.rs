//! Helm templates: actions are hidden, and everything else keeps its place.

use std::ops::Range;

/// A template without its actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masked {
    /// The text, of the same length.
    pub text: String,
    /// Where actions were.
    pub actions: Vec<Range<usize>>,
}

/// Returns a template with its actions `{{ … }}` hidden, or `None` if it has none.
///
/// Actions that are alone on their lines become blanks. Other actions become a word, because they are values or parts
/// of them. Line breaks stay, so every byte keeps its line and column.
///
/// # Example
/// ```
/// use kubeshape_language::mask;
///
/// let masked = mask("a:\n  {{- if .x }}\n  b: {{ .y }}-1\n  {{- end }}\n").unwrap();
/// assert_eq!(masked.text, "a:\n              \n  b: xxxxxxxx-1\n            \n");
/// assert_eq!(mask("a: {b: 1}"), None);
/// ```
pub fn mask(text: &str) -> Option<Masked> {
    let mut bytes = text.as_bytes().to_vec();
    let mut actions = Vec::new();
    let mut from = 0;
    while let Some(start) = memchr::memmem::find(text.as_bytes().get(from..).unwrap_or_default(), b"{{") {
        let start = from + start;
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        // A comment may contain braces.
        let is_comment = [&b"{{/*"[..], b"{{- /*"].iter().any(|begin| rest.starts_with(begin));
        let ends: &[u8] = if is_comment { b"*/" } else { b"}}" };
        let close = |from: usize, end: &[u8]| memchr::memmem::find(rest.get(from..)?, end).map(|at| from + at);
        let end = close(2, ends).and_then(|at| if is_comment { close(at, b"}}") } else { Some(at) });
        let end = end.map_or(text.len(), |at| start + at + 2);
        actions.push(start..end);
        from = end;
    }
    if actions.is_empty() {
        return None;
    }
    // Actions that are alone, alone but for other actions, or continue over lines are blank.
    let is_action = |at: usize| {
        let before = actions.partition_point(|action| action.start <= at);
        before.checked_sub(1).and_then(|before| actions.get(before)).is_some_and(|action| at < action.end)
    };
    let lines = |at: usize| {
        let start = memchr::memrchr(b'\n', text.as_bytes().get(..at).unwrap_or_default()).map_or(0, |at| at + 1);
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        start..at + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    };
    // A line may have many actions, and is looked at once.
    let mut known = (0..0, false);
    for action in &actions {
        if !(known.0.contains(&action.start) && action.end <= known.0.end) {
            let line = lines(action.start).start..lines(action.end.saturating_sub(1)).end;
            let is_blank = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_whitespace);
            let is_alone = line.clone().all(|at| is_blank(at) || is_action(at));
            known = (line, is_alone);
        }
        let is_alone = known.1;
        let fill = if is_alone { b' ' } else { b'x' };
        for byte in bytes.get_mut(action.clone()).unwrap_or_default() {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = fill;
            }
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    Some(Masked { text, actions })
}

impl Masked {
    /// Returns whether a range contains a part of an action, or is next to one.
    pub fn touches(&self, range: &Range<usize>) -> bool {
        let first = self.actions.partition_point(|action| action.end < range.start);
        self.actions.get(first).is_some_and(|action| action.start <= range.end)
    }
}
