//! The lines of the log. Texts that are too long are cut, and control characters are escaped.

use serde_json::{Map, Value, json};
use std::fmt::{self, Debug, Write};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The maximum size of a field in bytes. The rest is cut off.
pub(in crate::serve) const FIELD: usize = 1024;

/// Returns a text without control characters, cut to the maximum size of a field.
pub(super) fn cut(text: impl fmt::Display) -> String {
    let mut cut = Cut::default();
    // The writer returns an error if the text is too long, and the end of the text then says so.
    let _ = write!(cut, "{text}");
    if cut.is_full {
        cut.text.push('…');
    }
    cut.text
}

/// A text that takes only what fits.
#[derive(Default)]
struct Cut {
    text: String,
    is_full: bool,
}

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let before = self.text.len();
            if is_unsafe(c) {
                self.text.extend(c.escape_unicode());
            } else {
                self.text.push(c);
            }
            if self.text.len() > FIELD {
                self.text.truncate(before);
                self.is_full = true;
                return Err(fmt::Error);
            }
        }
        Ok(())
    }
}

/// Returns whether a character controls a terminal, ends a line, or changes the direction of text.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Formats the fields of a text line: the message, and ` NAME=VALUE`.
pub(super) struct Fields;

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut visitor = Text { writer, result: Ok(()), is_first: true };
        fields.record(&mut visitor);
        visitor.finish()
    }
}

struct Text<'w> {
    writer: Writer<'w>,
    result: fmt::Result,
    is_first: bool,
}

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let value = cut(format_args!("{value:?}"));
        let blank = if std::mem::take(&mut self.is_first) { "" } else { " " };
        let written = match field.name() {
            "message" => write!(self.writer, "{blank}{value}"),
            name if self.writer.has_ansi_escapes() => {
                write!(self.writer, "{blank}\x1b[3m{name}\x1b[0m\x1b[2m=\x1b[0m{value}")
            }
            name => write!(self.writer, "{blank}{name}={value}"),
        };
        self.result = self.result.and(written);
    }
}

impl VisitOutput<fmt::Result> for Text<'_> {
    fn finish(self) -> fmt::Result {
        self.result
    }
}

/// Formats a line as a JSON object: timestamp, level, message, the fields, target, and the names of spans.
pub(super) struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let mut object = Object(Map::new());
        object.0.insert("timestamp".to_owned(), timestamp.into());
        object.0.insert("level".to_owned(), metadata.level().as_str().into());
        event.record(&mut object);
        object.0.insert("target".to_owned(), metadata.target().into());
        if let Some(scope) = context.event_scope() {
            let names: Vec<_> = scope.from_root().map(|span| json!({ "name": span.name() })).collect();
            object.0.insert("spans".to_owned(), names.into());
        }
        writeln!(writer, "{}", Value::Object(object.0))
    }
}

struct Object(Map<String, Value>);

impl Visit for Object {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), cut(format_args!("{value:?}")).into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), cut(value).into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_bounded_and_has_no_control_characters() {
        assert_eq!(cut("a\u{1b}[2J\n\u{9b}\u{202e}b é"), "a\\u{1b}[2J\\u{a}\\u{9b}\\u{202e}b é");
        assert_eq!(cut("a".repeat(FIELD)), "a".repeat(FIELD));
        assert_eq!(cut("a".repeat(FIELD + 1)), "a".repeat(FIELD) + "…");
        assert_eq!(cut("é".repeat(FIELD)), "é".repeat(FIELD / 2) + "…");
        assert_eq!(cut("\u{1b}".repeat(1 << 20)).len(), FIELD / 6 * 6 + "…".len());
    }
}
