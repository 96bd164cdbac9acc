//! Objects before they are stored.

use super::stored::{Reading, Stored};
use crate::raw;
use crate::value::with_meta;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use std::sync::Arc;

/// The JSON of an object with a placeholder for the revision.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Compact JSON, without the revision.
    pub(super) text: Vec<u8>,
    /// The position of the revision.
    at: usize,
    /// The reader that is known to return it unchanged.
    reading: Option<Arc<Reading>>,
    /// What another reader reads: the object as a webhook converted it.
    converted: Option<(Arc<Reading>, Box<Draft>)>,
}

impl Draft {
    /// Prints an object with a function, and finds the placeholder for its revision. The fields of the metadata before the
    /// revision are strings, in which quotes are escaped.
    pub(crate) fn printed_by(object: Value<'_>, arena: &Bump, print: impl Fn(Value<'_>, &mut Vec<u8>)) -> Draft {
        const MEMBER: &[u8] = b"\"resourceVersion\":\"";
        const PLACE: &str = "0";
        let mut text = Vec::new();
        print(with_meta(object, "resourceVersion", Some(Value::String(PLACE)), arena), &mut text);
        let at = memchr::memmem::find(&text, MEMBER).map_or(0, |at| at + MEMBER.len());
        if at > 0 {
            text.drain(at..at + PLACE.len());
        }
        Draft { text, at, reading: None, converted: None }
    }

    /// Returns a stored object without its revision. `None` if it has none.
    pub(crate) fn of_stored(stored: &Stored) -> Option<Draft> {
        let json = stored.as_json();
        let value = raw::member(raw::member(json, "metadata")?, "resourceVersion")?;
        let start = (value.as_ptr() as usize).checked_sub(json.as_ptr() as usize)? + 1;
        let end = start + value.len().checked_sub(2)?;
        let text = [json.get(..start)?, json.get(end..)?].concat();
        Some(Draft { text, at: start, reading: None, converted: None })
    }

    /// Prints a custom resource as compact JSON with a placeholder for its revision. Its current revision is dropped.
    pub(crate) fn of(object: Value<'_>, arena: &Bump) -> Draft {
        let object = with_meta(object, "resourceVersion", Some(Value::String("")), arena);
        let mut text = vec![b'{'];
        let mut at = 0;
        for (place, (key, value)) in object.as_map().unwrap_or(Map::EMPTY).entries().iter().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            Value::String(key).write_go_json(&mut text);
            text.push(b':');
            match value {
                Value::Map(metadata) if *key == "metadata" => {
                    text.push(b'{');
                    for (place, (key, value)) in metadata.entries().iter().enumerate() {
                        if place > 0 {
                            text.push(b',');
                        }
                        Value::String(key).write_go_json(&mut text);
                        text.push(b':');
                        value.write_go_json(&mut text);
                        if *key == "resourceVersion" {
                            at = text.len().saturating_sub(1);
                        }
                    }
                    text.push(b'}');
                }
                value => value.write_go_json(&mut text),
            }
        }
        text.push(b'}');
        Draft { text, at, reading: None, converted: None }
    }

    /// Returns the same, for a reader that is known to return it unchanged.
    pub(crate) fn read_as_stored(self, reading: Arc<Reading>) -> Draft {
        Draft { reading: Some(reading), ..self }
    }

    /// Returns the same with what a reader reads: the object as a webhook converted it.
    pub(crate) fn read_as(self, reading: Arc<Reading>, converted: Draft) -> Draft {
        Draft { converted: Some((reading, Box::new(converted))), ..self }
    }

    /// Returns the JSON with a revision.
    pub(crate) fn with_revision(&self, revision: &str) -> Vec<u8> {
        let (before, behind) = self.text.split_at(self.at.min(self.text.len()));
        // A line break may follow. Growing for it would double the memory of every object.
        let mut text = Vec::with_capacity(self.text.len() + revision.len() + 1);
        for part in [before, revision.as_bytes(), behind] {
            text.extend_from_slice(part);
        }
        text
    }

    /// Returns the object without a revision: it is not stored.
    pub(crate) fn not_stored(&self) -> Arc<Stored> {
        self.object(0, self.without_revision(), Draft::not_stored)
    }

    fn without_revision(&self) -> Vec<u8> {
        const MEMBER: usize = "\"resourceVersion\":\"".len();
        let (mut start, mut end) = (self.at.saturating_sub(MEMBER), (self.at + 1).min(self.text.len()));
        if start > 0 && self.text.get(start - 1) == Some(&b',') {
            start -= 1;
        } else if self.text.get(end) == Some(&b',') {
            end += 1;
        }
        [&self.text[..start], &self.text[end..]].concat()
    }

    /// Returns the object with a revision.
    pub(crate) fn stored(&self, revision: u64) -> Arc<Stored> {
        self.object(revision, self.with_revision(&revision.to_string()), |draft| draft.stored(revision))
    }

    fn object(&self, revision: u64, mut text: Vec<u8>, other: impl Fn(&Draft) -> Arc<Stored>) -> Arc<Stored> {
        text.push(b'\n');
        let stored = Stored::new(revision, text.into());
        if let Some(reading) = &self.reading {
            stored.keep(Arc::clone(reading));
        }
        if let Some((reading, draft)) = &self.converted {
            stored.keep_converted(reading.as_other(other(draft)));
        }
        Arc::new(stored)
    }
}
