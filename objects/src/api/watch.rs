//! Watching objects.

use super::read::{Selection, revision, selected};
use super::reply::Shown;
use super::served::Served;
use super::{Call, Outcome};
use crate::accept::{Endpoint, Form, TargetKind, resource};
use crate::form::{self, ListMeta, Table};
use crate::options::ListParameters;
use crate::status::Status;
use crate::store::{Forgotten, Store, Verb};
use crate::{proto, value};
use bytes::Bytes;
use kubeshape_smd::managed::Time;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;

/// The media types of a watch.
const STREAMS: &str = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
/// How many changes one call looks at.
const CHANGES: usize = 100;
/// The annotation of the bookmark after the first events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// A client that watches. It has a position of its own in the history, and holds nothing of the store.
#[derive(Debug)]
pub struct Watch {
    shown: Shown,
    selection: Selection,
    /// The revision of the last change that it was told.
    position: u64,
    /// Whether the objects that there are have to be told first.
    initial: bool,
    /// Whether a bookmark ends them.
    marks_initial: bool,
    bookmarks: bool,
    timeout_seconds: Option<u64>,
    told_columns: bool,
    warnings: Vec<String>,
}

/// A watch that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchEnd {
    /// What the client is told last, if anything.
    pub last: Option<Vec<u8>>,
}

impl Call<'_> {
    pub(super) fn watch(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        if shown.form == Form::Yaml {
            return Err(Status::not_acceptable(STREAMS));
        }
        // JSON of a stream is never indented.
        let form = match resource(self.request.accept, Endpoint::CUSTOM_RESOURCES, false).map(|chosen| chosen.form) {
            Some(Form::Protobuf) => Form::Protobuf,
            _ => Form::Json,
        };
        let options = ListParameters::read(self.request.query)?;
        let mut selection = self.selection(&options)?;
        if !self.path.name.is_empty() {
            selection = self.selection_of_one(&options)?;
        }
        let from = revision(&options.revision)?;
        if let Some(from) = from
            && from > self.store.revision()
        {
            return Err(Status::too_large_revision(from, self.store.revision()));
        }
        let initial = options.initial_events || from.is_none();
        Ok(Outcome::Watch(Box::new(Watch {
            shown: Shown { form, ..shown },
            selection,
            position: from.unwrap_or_else(|| self.store.revision()),
            initial,
            marks_initial: options.initial_events && options.bookmarks,
            bookmarks: options.bookmarks,
            timeout_seconds: options.timeout_seconds.filter(|seconds| *seconds > 0),
            told_columns: false,
            warnings: self.warnings(),
        })))
    }

    /// `/watch/…/NAME`
    fn selection_of_one(&self, options: &ListParameters) -> Result<Selection, Status> {
        let fields = crate::select::FieldSelector::parse(&format!("metadata.name={}", self.path.name));
        let fields = fields.map_err(Status::bad_request)?;
        self.selection(&ListParameters { fields, ..options.clone() })
    }
}

impl Watch {
    /// How events are written.
    pub fn form(&self) -> Form {
        self.shown.form
    }

    /// What the client is warned of.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// After how many seconds the client wants the watch to end.
    pub fn timeout_seconds(&self) -> Option<u64> {
        self.timeout_seconds
    }

    /// Whether the client wants to be told of the revision from time to time.
    pub fn wants_bookmarks(&self) -> bool {
        self.bookmarks
    }

    /// Whether the client was told of everything.
    pub fn is_current(&self, store: &Store) -> bool {
        !self.initial && self.position >= store.revision()
    }

    /// The events since the last call, as they are sent. It may be empty although the client is not [current](Self::is_current):
    /// a call looks at a bounded number of changes.
    ///
    /// # Errors
    /// The changes are not kept any more: what the client is told last.
    pub fn next(&mut self, store: &Store, now: Time) -> Result<Vec<u8>, WatchEnd> {
        self.shown.now = now;
        let mut out = Vec::new();
        if std::mem::take(&mut self.initial) {
            self.position = store.revision();
            for (_, text) in selected(store, &self.shown.served.id, &self.selection) {
                self.tell("ADDED", &text, &mut out);
            }
            if self.marks_initial {
                self.mark(Some(INITIAL_EVENTS_END), &mut out);
            }
            return Ok(out);
        }
        let events = match store.events_after(self.position) {
            Ok(events) => events,
            Err(Forgotten { oldest }) => {
                let message = format!("too old resource version: {} ({oldest})", self.position);
                let status = Status::expired(message);
                let mut last = Vec::new();
                self.frame("ERROR", &Frame::Status(&status), &mut last);
                return Err(WatchEnd { last: Some(last) });
            }
        };
        for event in events.iter().take(CHANGES) {
            self.position = event.object.revision;
            if event.key.resource != self.shown.served.id || !event.key.path.starts_with(&self.selection.prefix) {
                continue;
            }
            let takes = |text: &str| self.selection.takes(&event.key, text);
            let before = event.before.as_ref().is_some_and(|before| takes(before.text()));
            let after = event.verb != Verb::Deleted && takes(event.object.text());
            let verb = match (before, after) {
                (false, false) => continue,
                (false, true) => "ADDED",
                (true, true) => "MODIFIED",
                (true, false) => "DELETED",
            };
            // An object that is not selected any more is told as it was, with the revision of the change.
            let text = match (&event.before, event.verb) {
                (Some(before), Verb::Modified) if verb == "DELETED" => {
                    at_revision(&self.shown.served, &before.json(), event.object.revision)
                }
                _ => event.object.json(),
            };
            self.tell(verb, &text, &mut out);
        }
        if events.len() <= CHANGES {
            self.position = self.position.max(store.revision());
        }
        Ok(out)
    }

    /// A bookmark: the revision up to which the client was told everything.
    pub fn bookmark(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.mark(None, &mut out);
        out
    }

    fn mark(&mut self, annotation: Option<&str>, out: &mut Vec<u8>) {
        let text = self.shown.served.bookmark(&self.position.to_string(), annotation);
        self.tell("BOOKMARK", &text.into(), out);
    }

    fn tell(&mut self, verb: &str, text: &Bytes, out: &mut Vec<u8>) {
        let text = match self.shown.in_version(text) {
            Ok(text) => text,
            Err(status) => return self.frame("ERROR", &Frame::Status(&status), out),
        };
        let Some((kind, version)) = self.shown.target.clone() else {
            self.frame(verb, &Frame::Json(&text), out);
            return;
        };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        if value::read(&text, &mut tape).is_err() {
            return;
        }
        let source = std::str::from_utf8(&text).unwrap_or_default();
        let object = tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
        match kind {
            // An object is no list. The server ends its stream without a word, and so tells nothing.
            TargetKind::PartialObjectMetadataList => {}
            TargetKind::PartialObjectMetadata if self.shown.form == Form::Protobuf => {
                let message = form::partial_protobuf(object);
                let object = proto::unknown(&format!("meta.k8s.io/{version}"), "PartialObjectMetadata", &message);
                self.frame(verb, &Frame::Protobuf(&object), out);
            }
            TargetKind::PartialObjectMetadata => {
                let mut json = Vec::new();
                form::partial(&version, object, &mut json);
                self.frame(verb, &Frame::Json(&json), out);
            }
            TargetKind::Table => {
                let columns = !std::mem::replace(&mut self.told_columns, true);
                let include = match &self.shown.include {
                    Ok(include) => *include,
                    Err(status) => {
                        let status = status.clone();
                        self.frame("ERROR", &Frame::Status(&status), out);
                        return;
                    }
                };
                let now = self.shown.now;
                let table = Table { version: &version, convertor: &self.shown.convertor, columns, include, now };
                let revision = value::meta_text(object, "resourceVersion").to_owned();
                let json = table.json(&[(object, &text)], &ListMeta { revision, ..ListMeta::default() });
                self.frame(verb, &Frame::Json(&json), out);
            }
        }
    }

    /// Appends an event (upstream: `WatchServer` with a JSON or length-delimited framer).
    fn frame(&self, verb: &str, object: &Frame<'_>, out: &mut Vec<u8>) {
        if self.shown.form != Form::Protobuf {
            let status: Vec<u8>;
            let json = match *object {
                Frame::Json(json) => json,
                Frame::Status(object) => {
                    status = object.to_json();
                    &status
                }
                Frame::Protobuf(_) => return,
            };
            out.extend_from_slice(format!("{{\"type\":\"{verb}\",\"object\":").as_bytes());
            out.extend_from_slice(json);
            out.extend_from_slice(b"}\n");
            return;
        }
        let status: Vec<u8>;
        let raw = match *object {
            Frame::Protobuf(raw) | Frame::Json(raw) => raw,
            Frame::Status(object) => {
                status = object.to_protobuf();
                &status
            }
        };
        let (mut extension, mut event) = (Vec::new(), Vec::new());
        proto::bytes(&mut extension, 1, raw);
        proto::text(&mut event, 1, verb);
        proto::bytes(&mut event, 2, &extension);
        let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&event);
    }
}

/// The object of an event.
#[derive(Clone, Copy)]
enum Frame<'f> {
    Json(&'f [u8]),
    Protobuf(&'f [u8]),
    Status(&'f Status),
}

/// The text of an object with another revision.
fn at_revision(served: &Served, text: &Bytes, revision: u64) -> Bytes {
    let (mut tape, arena) = (Tape::new(), Bump::new());
    if value::read(text, &mut tape).is_err() {
        return text.clone();
    }
    let source = std::str::from_utf8(text).unwrap_or_default();
    let object = tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
    served.draft(object, &arena).with_revision(&revision.to_string()).into()
}
