//! Watching objects.

use super::read::{Selection, revision, selected};
use super::reply::{Shown, status_version};
use super::served::Served;
use super::{Api, Call, Outcome, typed};
use crate::accept::{Form, TargetKind};
use crate::form::Room;
use crate::options::ListParameters;
use crate::status::Status;
use crate::store::{Event, Forgotten, Store, Stored, Verb};
use crate::{cbor, proto, value};
use bytes::Bytes;
use kubeshape_smd::Bump;
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Stop;
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::Arc;

/// The media types of a watch.
const STREAMS: &str = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
const STREAMS_WITH_CBOR: &str =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq";
/// The maximum number of changes that one call reads.
const CHANGES: usize = 100;
/// The number of bytes after which one call returns.
const PART: usize = 32 << 10;
/// The annotation of the bookmark after the first events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// A watching client. It has a position in the history, and no reference to the store.
#[derive(Debug)]
pub struct Watch {
    shown: Shown,
    selection: Selection,
    /// The revision of the last change that was sent.
    position: u64,
    /// Whether to send the existing objects first.
    initial: bool,
    /// Whether a bookmark ends them.
    marks_initial: bool,
    is_list: bool,
    bookmarks: bool,
    timeout_seconds: Option<u64>,
    told_columns: bool,
    warnings: Vec<String>,
}

/// The end of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchEnd {
    /// The last event for the client, if any.
    pub last: Option<Vec<u8>>,
}

impl Call<'_> {
    pub(super) fn watch(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        if shown.rows.is_some()
            && let Err(refused) = &shown.include
        {
            return Err(refused.clone());
        }
        let form = match shown.form {
            // JSON of a stream is never indented.
            Form::Json | Form::Indented => Form::Json,
            form @ (Form::Protobuf | Form::Cbor) => form,
            Form::Yaml | Form::Csv => {
                let streams = if self.request.has_cbor() { STREAMS_WITH_CBOR } else { STREAMS };
                return Err(Status::not_acceptable(streams));
            }
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
            is_list: options.initial_events && options.bookmarks,
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
    /// The form of events.
    pub fn form(&self) -> Form {
        self.shown.form
    }

    /// The parameters of the `Content-Type`.
    pub fn parameters(&self) -> &str {
        &self.shown.parameters
    }

    /// Returns the `Content-Type` of the stream.
    pub fn content_type(&self) -> Cow<'static, str> {
        typed(self.shown.form.stream_type(), &self.shown.parameters)
    }

    /// Returns the warnings for the client.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the timeout that the client requested, in seconds.
    pub fn timeout_seconds(&self) -> Option<u64> {
        self.timeout_seconds
    }

    /// Returns whether the client wants bookmarks.
    pub fn wants_bookmarks(&self) -> bool {
        self.bookmarks
    }

    /// Returns whether the watch takes the place of a list: it begins with what is there, and a bookmark ends that
    /// (upstream: `isListWatchRequest`).
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns whether all changes were sent.
    pub fn is_current(&self, store: &Store) -> bool {
        !self.initial && self.position >= store.revision()
    }

    /// Returns whether [`next`](Self::next) may wait for a webhook that converts objects.
    pub fn may_wait(&self, store: &Store) -> bool {
        if self.shown.served.converter().is_none() {
            return false;
        }
        let is_own = |event: &Event| event.key.resource == self.shown.served.id;
        self.initial || store.events_after(self.position).is_ok_and(|events| events.iter().take(CHANGES).any(is_own))
    }

    /// Returns whether the definition of its resource is unchanged. Otherwise servers end the watch, because objects
    /// are decoded differently; clients continue from their last revision.
    pub fn is_served(&self, api: &Api) -> bool {
        api.is_current(&self.shown.served)
    }

    /// Returns the events since the last call, as sent. It may be empty although the client is not
    /// [current](Self::is_current): a call reads a bounded number of changes.
    ///
    /// # Errors
    /// The changes are no longer kept. The error contains the last event for the client.
    pub fn next(&mut self, store: &Store, now: Time) -> Result<Vec<u8>, WatchEnd> {
        self.next_until(store, now, Stop::NEVER)
    }

    /// As [`next`](Self::next), until the flag is set: the first events are those of all objects.
    ///
    /// # Errors
    /// As for [`next`](Self::next), or the first events are too large.
    pub fn next_until(&mut self, store: &Store, now: Time, stop: Stop<'_>) -> Result<Vec<u8>, WatchEnd> {
        self.shown.now = now;
        let mut out = Vec::new();
        if std::mem::take(&mut self.initial) {
            self.position = store.revision();
            if let Err(status) = self.selection.convert(store, &self.shown.served, stop) {
                self.refuse(&status, &mut out);
                return Err(WatchEnd { last: Some(out) });
            }
            let objects = selected(store, &self.shown.served, &self.selection, stop);
            let room = Room::of(objects.iter().map(|(_, object)| object.as_json().len()).sum(), stop);
            for (_, object) in objects {
                self.tell_stored("ADDED", &object, &mut out);
                if let Err(status) = room.holds(out.len()) {
                    self.refuse(&status, &mut out);
                    return Err(WatchEnd { last: Some(out) });
                }
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
                self.refuse(&status, &mut last);
                return Err(WatchEnd { last: Some(last) });
            }
        };
        let mut looked_at = 0;
        for event in events.iter().take(CHANGES) {
            if out.len() >= PART {
                break;
            }
            looked_at += 1;
            self.position = event.object.revision;
            if event.key.resource != self.shown.served.id || !event.key.path.starts_with(&self.selection.prefix) {
                continue;
            }
            let takes = |stored| self.selection.takes(&event.key, stored, &self.shown.served);
            let before = event.before.as_ref().is_some_and(takes);
            let after = event.verb != Verb::Deleted && takes(&event.object);
            let verb = match (before, after) {
                (false, false) => continue,
                (false, true) => "ADDED",
                (true, true) => "MODIFIED",
                (true, false) => "DELETED",
            };
            // An object that is no longer selected is sent in its old state, with the revision of the change.
            match (&event.before, event.verb) {
                (Some(before), Verb::Modified) if verb == "DELETED" => match self.shown.served.read(before) {
                    Ok(before) => {
                        let text = at_revision(&self.shown.served, &before.json(), event.object.revision);
                        self.tell(verb, &Stored::of_json(&text), &mut out);
                    }
                    Err(status) => self.refuse(&status, &mut out),
                },
                _ => self.tell_stored(verb, &event.object, &mut out),
            }
        }
        if looked_at == events.len() {
            self.position = self.position.max(store.revision());
        }
        Ok(out)
    }

    /// Returns a bookmark: the revision up to which all changes were sent.
    pub fn bookmark(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.mark(None, &mut out);
        out
    }

    fn mark(&mut self, annotation: Option<&str>, out: &mut Vec<u8>) {
        let text = self.shown.served.bookmark(&self.position.to_string(), annotation);
        // It contains only its revision.
        let export = self.shown.export.take();
        self.tell("BOOKMARK", &Stored::of_json(&text), out);
        self.shown.export = export;
    }

    /// Appends an event for a stored object.
    fn tell_stored(&mut self, verb: &str, stored: &Arc<Stored>, out: &mut Vec<u8>) {
        let read = self.shown.served.read(stored);
        match read {
            Ok(object) => self.tell(verb, &object, out),
            Err(status) => self.refuse(&status, out),
        }
    }

    /// Appends an event for an object in the version of the response.
    fn tell(&mut self, verb: &str, object: &Stored, out: &mut Vec<u8>) {
        if self.shown.is_plain() && self.shown.form != Form::Protobuf {
            self.frame(verb, &object.json(), out);
            return;
        }
        let columns = !std::mem::replace(&mut self.told_columns, true);
        match (&self.shown.target, self.shown.converted(object, self.shown.rows.as_deref(), columns)) {
            (_, Ok(content)) => self.frame(verb, &content, out),
            (None | Some((TargetKind::Table, _)), Err(status)) => self.refuse(&status, out),
            // An object is not a list. The server ends its stream without an event.
            (_, Err(_)) => {}
        }
    }

    /// Appends an event with a status.
    fn refuse(&self, status: &Status, out: &mut Vec<u8>) {
        let api_version = status_version(self.shown.server_version.as_deref());
        let content = match self.shown.form {
            Form::Protobuf => status.protobuf_as(&api_version),
            _ => status.json_as(&api_version),
        };
        self.frame("ERROR", &content, out);
    }

    /// Appends an event with an object, in JSON or protobuf like the stream (upstream: `WatchServer` with a framer).
    fn frame(&self, verb: &str, object: &[u8], out: &mut Vec<u8>) {
        match self.shown.form {
            Form::Protobuf => {
                let (mut extension, mut event) = (Vec::new(), Vec::new());
                proto::bytes(&mut extension, 1, object);
                proto::text(&mut event, 1, verb);
                proto::bytes(&mut event, 2, &extension);
                let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&event);
            }
            // A sequence: each event contains its length.
            Form::Cbor => {
                let (mut kind, object) = (Vec::new(), cbor::of_json(object).unwrap_or_default());
                cbor::text(verb, &mut kind);
                out.extend_from_slice(&cbor::tagged(&[("type", &kind), ("object", &object)]));
            }
            _ => {
                out.extend_from_slice(format!("{{\"type\":\"{verb}\",\"object\":").as_bytes());
                out.extend_from_slice(object);
                out.extend_from_slice(b"}\n");
            }
        }
    }
}

/// Returns the JSON of an object with another revision.
fn at_revision(served: &Served, text: &Bytes, revision: u64) -> Bytes {
    let (mut tape, arena) = (Tape::new(), Bump::new());
    let Ok(object) = value::parsed(text, &mut tape, &arena) else { return text.clone() };
    served.draft(object, &arena).with_revision(&revision.to_string()).into()
}
