//! Paths to fields of a schema, in `fieldPath` of rules and in `selectableFields`.

use kubeshape_schema::{Additional, Schema};
use std::borrow::Cow;
use std::fmt::Write;

/// The error about a well-formed path that does not exist in the schema.
pub(super) const NO_FIELD: &str = "does not refer to a valid field";

/// A path that exists in a schema.
pub(crate) struct Found<'a> {
    /// The path in the format of `field.Path`.
    pub(crate) path: String,
    /// Its first step in the format of `field.Path`.
    pub(crate) root: String,
    /// The schema at the path. `None` if additional properties are allowed without one.
    pub(crate) schema: Option<&'a Schema<'a>>,
}

/// Finds the field for a path in a schema that converts: `ValidFieldPath`. `brackets` says whether `['name']` is
/// allowed.
///
/// # Errors
/// Returns upstream's message.
pub(crate) fn find<'a>(json_path: &str, schema: &'a Schema<'a>, brackets: bool) -> Result<Found<'a>, String> {
    const END: &str = "unexpected end of JSON path";
    let mut found = Found { path: String::new(), root: String::new(), schema: Some(schema) };
    let mut tokens = Tokens(json_path);
    while let Some(token) = tokens.next() {
        let name = match token {
            "[" if !brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = tokens.next().ok_or(END)?;
                let quoted = token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                unescape(quoted.ok_or_else(|| format!("expected single quoted string but got {token}"))?)?
            }
            "." => Cow::Borrowed(tokens.next().ok_or(END)?),
            _ => return Err(format!("expected [ or . but got: {token}")),
        };
        found.step(&name).ok_or(NO_FIELD)?;
        if token == "[" {
            let token = tokens.next().ok_or(END)?;
            if token != "]" {
                return Err(format!("expected ] but got {token}"));
            }
        }
    }
    Ok(found)
}

impl Found<'_> {
    /// Enters a field or a key.
    fn step(&mut self, name: &str) -> Option<()> {
        // Upstream crashes if additional properties have no schema to continue with.
        let schema = self.schema?;
        let first = self.path.is_empty();
        if schema.properties.is_empty() {
            self.schema = match schema.additional? {
                Additional::Schema(schema) => Some(schema),
                Additional::Allowed(_) => None,
            };
            // Writing to a String cannot fail.
            let _ = write!(self.path, "[{name}]");
        } else {
            self.schema = Some(schema.property(name)?);
            let dot = if first { "" } else { "." };
            let _ = write!(self.path, "{dot}{name}");
        }
        if first {
            self.root.clone_from(&self.path);
        }
        Some(())
    }
}

/// The rest of a path: delimiters, quoted strings, and the parts between them.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.0;
        let bytes = text.as_bytes();
        let end = match bytes.first()? {
            b'\'' => (1..bytes.len()).find(|i| bytes[*i] == b'\'' && bytes[i - 1] != b'\\').map(|i| i + 1),
            b'.' | b'[' | b']' => Some(1),
            _ => bytes.iter().position(|b| matches!(b, b'.' | b'[' | b']')),
        };
        let (token, rest) = text.split_at(end.unwrap_or(text.len()));
        self.0 = rest;
        Some(token)
    }
}

/// `unescapeSingleQuote`
fn unescape(text: &str) -> Result<Cow<'_, str>, String> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut error = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('a') => out.push('\x07'),
            Some('b') => out.push('\x08'),
            Some('f') => out.push('\x0c'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\x0b'),
            Some(c @ ('\'' | '\\')) => out.push(c),
            Some('\n') => out.push_str("\\\n"),
            Some(other) => error = Some(format!("invalid string literal: invalid escape char \\{other}")),
            None => out.push('\\'),
        }
    }
    error.map_or(Ok(Cow::Owned(out)), Err)
}
