//! Finds the kinds that an input defines from a few of its lines.
//!
//! A folder of definitions is mostly schemas. A caller that needs a few kinds skims all files and reads only those that
//! define them.

use memchr::{memchr, memchr3_iter, memrchr};

/// A kind that a CustomResourceDefinition defines: its group, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Defined<'t> {
    /// `spec.group`
    pub group: &'t str,
    /// `spec.names.kind`
    pub kind: &'t str,
}

/// Returns the kinds that an input defines, if it is YAML as programs write it and has only CustomResourceDefinitions.
///
/// Returns `None` if it cannot be sure: then the caller must read the input. Other errors are not detected. No kind is
/// missing: the result includes all that [`read`](crate::read) finds.
///
/// # Example
/// ```
/// use kubeshape_input::{Defined, skim};
///
/// let text = b"
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   names:
///     kind: Tab
///     plural: tabs
///   scope: Cluster
///   versions: []
/// ";
/// assert_eq!(skim(text), Some(vec![Defined { group: "example.com", kind: "Tab" }]));
/// assert_eq!(skim(b"kind: ConfigMap"), None);
/// ```
pub fn skim(text: &[u8]) -> Option<Vec<Defined<'_>>> {
    if has_other_breaks(text) {
        return None;
    }
    let mut out = Vec::new();
    let mut document = Document::default();
    let mut begin = 0;
    while begin < text.len() {
        if let Some(column) = document.passes_over() {
            begin = next_shallow(text, begin, column);
        }
        let end = memchr(b'\n', &text[begin..]).map_or(text.len(), |length| begin + length);
        let line = &text[begin..end];
        begin = (end + 1).min(text.len());
        if line.starts_with(b"---") {
            if !line[3..].iter().all(|byte| *byte == b' ') {
                return None;
            }
            std::mem::take(&mut document).end(&mut out)?;
        } else {
            document.line(line)?;
        }
    }
    document.end(&mut out)?;
    Some(out)
}

/// Number of bytes that are checked together. The loops over them become vector instructions.
const CHUNK: usize = 64;
/// Further columns are checked line by line.
const MOST_COLUMNS: usize = 8;

/// Returns whether a string has line breaks of YAML that programs do not write.
fn has_other_breaks(text: &[u8]) -> bool {
    let mut odd = 0;
    for byte in text {
        odd |= (byte & 0x80) | u8::from(*byte == b'\r');
    }
    if odd == 0 {
        return false;
    }
    let breaks: [&[u8]; 4] = [b"\r", b"\xC2\x85", b"\xE2\x80\xA8", b"\xE2\x80\xA9"];
    memchr3_iter(b'\r', 0xC2, 0xE2, text).any(|at| breaks.iter().any(|line_break| text[at..].starts_with(line_break)))
}

/// Returns the next line that does not begin with more than `column` spaces, or one before it. `at` is where a line
/// begins.
fn next_shallow(text: &[u8], mut at: usize, column: usize) -> usize {
    let is_deep = |line: &[u8]| line.get(..=column).is_some_and(|begin| begin.iter().all(|byte| *byte == b' '));
    if column >= MOST_COLUMNS || !is_deep(&text[at..]) {
        return at;
    }
    let begin = at;
    while let Some(chunk) = text[at..].first_chunk::<CHUNK>()
        && text.len() - at > CHUNK + column
    {
        let mut shallow = [0; CHUNK];
        for i in 0..CHUNK {
            shallow[i] = u8::from(chunk[i] == b'\n');
        }
        let mut deep = shallow;
        for ahead in 1..=column + 1 {
            let Some(bytes) = text[at + ahead..].first_chunk::<CHUNK>() else { break };
            for i in 0..CHUNK {
                deep[i] &= u8::from(bytes[i] == b' ');
            }
        }
        let mut any = 0;
        for i in 0..CHUNK {
            shallow[i] ^= deep[i];
            any |= shallow[i];
        }
        if any != 0 {
            return at + memchr(1, &shallow).unwrap_or_default() + 1;
        }
        at += CHUNK;
    }
    memrchr(b'\n', &text[begin..at]).map_or(begin, |last| begin + last + 1)
}

/// The facts about a document so far. Each key may occur once.
#[derive(Debug, Default)]
struct Document<'t> {
    top: Keys,
    spec: Keys,
    names: Keys,
    within: Within,
    api_version: Option<&'t str>,
    crd: Option<&'t str>,
    group: Option<&'t str>,
    kind: Option<&'t str>,
    /// The column of a key whose value is a string on its line, which the next line must not continue.
    complete: Option<usize>,
}

/// The map to which the next lines belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Other,
    Spec,
    Names,
}

/// The keys of a map.
#[derive(Debug, Default)]
struct Keys {
    /// Of the first one.
    column: Option<usize>,
    /// A bit for each key that occurred.
    seen: u16,
}

const TOP: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
const SPEC: [&str; 10] = [
    "group",
    "names",
    "scope",
    "versions",
    "conversion",
    "preserveUnknownFields",
    "version",
    "validation",
    "subresources",
    "additionalPrinterColumns",
];
const NAMES: [&str; 6] = ["kind", "plural", "singular", "shortNames", "listKind", "categories"];

impl Keys {
    /// Records a key. Returns `None` if it is unknown, or occurred before.
    fn note(&mut self, known: &[&str], key: &[u8]) -> Option<()> {
        let bit = 1 << known.iter().position(|known| known.as_bytes() == key)?;
        let is_new = self.seen & bit == 0;
        self.seen |= bit;
        is_new.then_some(())
    }

    /// Returns whether a line at this column belongs to the map itself, or `None` if it belongs to nothing.
    fn holds(&mut self, column: usize) -> Option<bool> {
        let own = *self.column.get_or_insert(column);
        (column >= own).then_some(column == own)
    }
}

impl<'t> Document<'t> {
    /// Returns the column to the right of which lines are irrelevant, if there is one. Most lines are, because they
    /// belong to schemas.
    fn passes_over(&self) -> Option<usize> {
        self.spec.column.filter(|_| self.within != Within::Names && self.complete.is_none())
    }

    fn line(&mut self, line: &'t [u8]) -> Option<()> {
        let column = line.iter().position(|byte| *byte != b' ').unwrap_or(line.len());
        let rest = &line[column..];
        if matches!(rest, [] | [b'#', ..]) {
            return Some(());
        }
        if self.complete.take().is_some_and(|complete| column > complete) {
            return None;
        }
        if column == 0 {
            return self.top(rest);
        }
        if self.top.seen == 0 {
            // The map of the document may begin here. Then content further left does not belong to it.
            return None;
        }
        match self.within {
            // The lines of a string may be indented less than its key.
            Within::Other if self.spec.column == Some(column) => {
                (!rest.starts_with(b"group") && !rest.starts_with(b"names")).then_some(())
            }
            Within::Other => Some(()),
            Within::Spec => {
                if self.spec.holds(column)? {
                    self.spec(rest, column)
                } else {
                    Some(())
                }
            }
            Within::Names if self.spec.holds(column)? => self.spec(rest, column),
            Within::Names => {
                if self.names.holds(column)? {
                    self.names(rest, column)
                } else {
                    Some(())
                }
            }
        }
    }

    fn top(&mut self, rest: &'t [u8]) -> Option<()> {
        let (key, value) = pair(rest)?;
        self.top.note(&TOP, key)?;
        self.within = Within::Other;
        match key {
            b"apiVersion" => self.api_version = Some(self.text(value, 0)?),
            b"kind" => self.crd = Some(self.text(value, 0)?),
            b"spec" => {
                is_absent(value).then_some(())?;
                self.within = Within::Spec;
            }
            _ => {}
        }
        Some(())
    }

    fn spec(&mut self, rest: &'t [u8], column: usize) -> Option<()> {
        self.within = Within::Spec;
        if is_item(rest) {
            return Some(());
        }
        let (key, value) = pair(rest)?;
        self.spec.note(&SPEC, key)?;
        match key {
            b"group" => self.group = Some(self.text(value, column)?),
            b"names" => {
                is_absent(value).then_some(())?;
                self.within = Within::Names;
            }
            _ => {}
        }
        Some(())
    }

    fn names(&mut self, rest: &'t [u8], column: usize) -> Option<()> {
        if is_item(rest) {
            return Some(());
        }
        let (key, value) = pair(rest)?;
        self.names.note(&NAMES, key)?;
        if key == b"kind" {
            self.kind = Some(self.text(value, column)?);
        }
        Some(())
    }

    fn text(&mut self, value: &'t [u8], column: usize) -> Option<&'t str> {
        self.complete = Some(column);
        text(value)
    }

    /// Adds the kind that it defines. Returns `None` if that is unknown.
    fn end(self, out: &mut Vec<Defined<'t>>) -> Option<()> {
        if self.top.seen == 0 {
            return Some(());
        }
        let is_definition = self.crd == Some("CustomResourceDefinition")
            && matches!(self.api_version?, "apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1");
        is_definition.then_some(())?;
        out.push(Defined { group: self.group?, kind: self.kind? });
        Some(())
    }
}

fn is_item(rest: &[u8]) -> bool {
    matches!(rest, [b'-'] | [b'-', b' ', ..])
}

/// Returns a key of letters, and what follows its colon.
fn pair(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr(b':', rest)?;
    let (key, value) = (&rest[..colon], &rest[colon + 1..]);
    let is_pair = key.iter().all(u8::is_ascii_alphabetic) && matches!(value, [] | [b' ', ..]);
    is_pair.then_some((key, value.trim_ascii()))
}

/// Returns whether a value is on the lines below.
fn is_absent(value: &[u8]) -> bool {
    matches!(value, [] | [b'#', ..])
}

/// Returns a string on one line, plain or in quotes, that can only be read as this string.
fn text(value: &[u8]) -> Option<&str> {
    let (text, rest) = if let [quote @ (b'"' | b'\''), text @ ..] = value {
        let end = memchr(*quote, text)?;
        (&text[..end], &text[end + 1..])
    } else {
        value.split_at(memchr(b' ', value).unwrap_or(value.len()))
    };
    let ends = matches!(rest, []) || (rest.starts_with(b" ") && is_absent(rest.trim_ascii_start()));
    let is_simple = |byte: &u8| byte.is_ascii_alphanumeric() || b"-./".contains(byte);
    let is_text = ends && text.first().is_some_and(u8::is_ascii_alphabetic) && text.iter().all(is_simple);
    let text = std::str::from_utf8(text).ok().filter(|_| is_text)?;
    // Words that YAML reads as something else.
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    (!words.iter().any(|word| word.eq_ignore_ascii_case(text))).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
    const SPEC: &str = "spec:\n  group: a.b\n  names:\n    kind: K\n    shortNames:\n    - k\n    plural: ks\n  versions:\n  - name: v1\n    schema:\n      x: y\n";

    fn kinds(text: &str) -> Option<Vec<(&str, &str)>> {
        Some(skim(text.as_bytes())?.into_iter().map(|defined| (defined.group, defined.kind)).collect())
    }

    #[test]
    fn definitions_are_found_by_their_lines() {
        let one = format!("{HEAD}{SPEC}");
        assert_eq!(kinds(&one), Some(vec![("a.b", "K")]));
        assert_eq!(kinds(&format!("# A\n---\n{one}---\n# B\n---   \n{one}")), Some(vec![("a.b", "K"); 2]));
        let quoted = one.replace("a.b", "\"a.b\" # x").replace(": K\n", ": 'K'\n");
        assert_eq!(kinds(&quoted), Some(vec![("a.b", "K")]));
        assert_eq!(kinds(&one.replace("  ", "    ")), Some(vec![("a.b", "K")]));
        assert_eq!(kinds(&format!("{SPEC}{HEAD}status: {{x:\n  group: y}}")), None);
        assert_eq!(kinds(&format!("{SPEC}{HEAD}")), Some(vec![("a.b", "K")]));
        assert_eq!(kinds(""), Some(Vec::new()));
    }

    #[test]
    fn no_shallow_line_is_skipped() {
        let mut random = 7_u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        for column in [0, 1, 2, 4, MOST_COLUMNS] {
            for _ in 0..200 {
                let (mut text, mut begins) = (String::new(), Vec::new());
                for _ in 0..next(20) {
                    begins.push(text.len());
                    let spaces = if next(12) == 0 { next(4) as usize } else { column + 1 + next(3) as usize };
                    text.push_str(&" ".repeat(spaces));
                    text.push_str(&"x".repeat(next(40) as usize));
                    text.push('\n');
                }
                begins.push(text.len());
                let is_deep = |at: usize| text[at..].starts_with(&" ".repeat(column + 1));
                let found = next_shallow(text.as_bytes(), 0, column);
                assert!(begins.contains(&found), "{text:?}");
                assert!(begins.iter().take_while(|at| **at < found).all(|at| is_deep(*at)), "{text:?}");
                let is_near = text.len() - found <= 2 * CHUNK + column;
                assert!(column >= MOST_COLUMNS || is_near || !is_deep(found), "{text:?}");
            }
        }
    }

    #[test]
    fn ambiguous_inputs_give_none() {
        let one = format!("{HEAD}{SPEC}");
        for (from, to) in [
            ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v2"),
            ("apiVersion: apiextensions.k8s.io/v1\n", ""),
            ("CustomResourceDefinition", "List"),
            ("  group: a.b\n", ""),
            ("  group: a.b\n", "  group: a.b\n    c\n"),
            ("  group: a.b\n", "  group: a.b\n  group: c\n"),
            ("  group: a.b\n", "  \"group\": a.b\n"),
            ("  group: a.b\n", "  group: *x\n"),
            ("  group: a.b\n", "  group: \"a\\x2eb\"\n"),
            ("  group: a.b\n", "  group: a.b\r\n"),
            ("  group: a.b\n", "  <<: *x\n  group: a.b\n"),
            ("  group: a.b\n", " group: a.b\n"),
            ("    kind: K\n", "    kind: Yes\n"),
            ("    kind: K\n", "    kind: \"K\n"),
            ("    kind: K\n", "    kind: K\n   x: y\n"),
            ("  names:\n    kind: K\n", "  names: {kind: K}\n"),
            ("      x: y\n", "      x: \"\nkind: Z\"\n"),
            ("      x: y\n", "      x: \"\nstatus: z\"\n  group: y\n"),
            ("      x: y\n", "      x: y\n--- x\n"),
            ("      x: y\n", "      x: y\u{2028}\n"),
            ("spec:\n", "spec: &x\n"),
            ("spec:\n", "other: x\nspec:\n"),
            ("spec:\n", "...\nspec:\n"),
            ("apiVersion", "  scope: x\napiVersion"),
        ] {
            let text = one.replacen(from, to, 1);
            assert_ne!(text, one, "{from}");
            assert_eq!(kinds(&text), None, "{text}");
        }
        assert_eq!(kinds("{\"kind\": \"CustomResourceDefinition\"}"), None);
    }
}
