//! `Status` objects: the reason why a request is refused, or the result of a deletion.

use crate::proto;
use kubeshape_registry::strategic;
use kubeshape_schema::field;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::{Escape, GoQuoted, string};
use std::borrow::Cow;

/// A `Status` of `v1` (upstream: `metav1.Status`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The code of the response.
    pub code: u16,
    /// `NotFound`, `Invalid` …; empty for errors outside the API.
    pub reason: Cow<'static, str>,
    /// The message; empty if the request succeeded.
    pub message: String,
    /// The object and the causes.
    pub details: Option<Box<Details>>,
}

/// The object and the causes of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The name of the object.
    pub name: String,
    /// The group of the resource.
    pub group: String,
    /// The resource in plural; for errors of validation the kind.
    pub kind: String,
    /// The uid of the object.
    pub uid: String,
    /// The individual problems.
    pub causes: Vec<Cause>,
    /// The number of seconds until a client may retry; 0 if unset.
    pub retry_after_seconds: i32,
}

/// One of several problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldManagerConflict` …
    pub reason: Cow<'static, str>,
    /// The message.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

/// A resource of a group, as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupResource<'a> {
    /// The group; empty for the core group.
    pub group: &'a str,
    /// The resource in plural.
    pub resource: &'a str,
}

impl std::fmt::Display for GroupResource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.resource)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

impl Status {
    fn failure(code: u16, reason: &'static str, message: impl Into<String>) -> Status {
        Status { code, reason: Cow::Borrowed(reason), message: message.into(), details: None }
    }

    fn about(self, of: GroupResource<'_>, name: &str) -> Status {
        let details = Details {
            name: name.to_owned(),
            group: of.group.to_owned(),
            kind: of.resource.to_owned(),
            ..Details::default()
        };
        Status { details: Some(details.into()), ..self }
    }

    /// 400 (upstream: `errors.NewBadRequest`).
    pub fn bad_request(message: impl Into<String>) -> Status {
        Status::failure(400, "BadRequest", message)
    }

    /// 404 (upstream: `errors.NewNotFound`).
    pub fn not_found(of: GroupResource<'_>, name: &str) -> Status {
        Status::failure(404, "NotFound", format!("{of} {} not found", GoQuoted(name))).about(of, name)
    }

    /// 403 (upstream: `errors.NewForbidden`).
    pub fn forbidden(of: GroupResource<'_>, name: &str, why: &str) -> Status {
        let message = format!("{of} {} is forbidden: {why}", GoQuoted(name));
        Status::failure(403, "Forbidden", message).about(of, name)
    }

    /// 409 (upstream: `errors.NewAlreadyExists`).
    pub fn already_exists(of: GroupResource<'_>, name: &str) -> Status {
        Status::failure(409, "AlreadyExists", format!("{of} {} already exists", GoQuoted(name))).about(of, name)
    }

    /// 409 (upstream: `errors.NewConflict`).
    pub fn conflict(of: GroupResource<'_>, name: &str, why: &str) -> Status {
        let message = format!("Operation cannot be fulfilled on {of} {}: {why}", GoQuoted(name));
        Status::failure(409, "Conflict", message).about(of, name)
    }

    /// 405 (upstream: `errors.NewMethodNotSupported`).
    pub fn method_not_supported(of: GroupResource<'_>, verb: &str) -> Status {
        let message = format!("{verb} is not supported on resources of kind {}", GoQuoted(&of.to_string()));
        Status::failure(405, "MethodNotAllowed", message).about(of, "")
    }

    /// 406: no clause of `Accept` names a form that the endpoint has (upstream: `negotiation.NewNotAcceptableError`).
    pub fn not_acceptable(accepted: &str) -> Status {
        Status::failure(406, "NotAcceptable", format!("only the following media types are accepted: {accepted}"))
    }

    /// 406: an object in place of a list, or a list in place of an object.
    pub(crate) fn no_such_form(message: &str) -> Status {
        Status::failure(406, "NotAcceptable", message)
    }

    /// 410: the revision is no longer kept (upstream: `errors.NewResourceExpired`).
    pub fn expired(message: impl Into<String>) -> Status {
        Status::failure(410, "Expired", message)
    }

    /// 413: the body is too large (upstream: `errors.NewRequestEntityTooLargeError`).
    pub fn too_large(limit: usize) -> Status {
        Status::failure(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    /// 415: the body is of an unknown type (upstream: `negotiation.NewUnsupportedMediaTypeError`).
    pub fn unsupported_media_type(accepted: &str) -> Status {
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
        Status::failure(415, "UnsupportedMediaType", message)
    }

    /// 422: fields are invalid (upstream: `errors.NewInvalid`). `kind` is that of the object or of the options.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[field::Error]) -> Status {
        let causes = errors.iter().map(|error| {
            let text = error.to_string();
            // Go prints a nil path like this.
            let field = if error.path.is_empty() { "<nil>".to_owned() } else { error.path.clone() };
            let message = text.strip_prefix(&format!("{field}: ")).map(str::to_owned).unwrap_or(text);
            Cause { reason: error.error_type.name().into(), message, field }
        });
        let causes: Vec<Cause> = causes.collect();
        // The message contains equal errors once.
        let mut seen = std::collections::BTreeSet::new();
        let texts: Vec<String> =
            errors.iter().map(ToString::to_string).filter(|text| seen.insert(text.clone())).collect();
        let errors = if let [text] = &texts[..] { text.clone() } else { format!("[{}]", texts.join(", ")) };
        let of = GroupResource { group, resource: kind };
        let mut status =
            Status::failure(422, "Invalid", format!("{of} {} is invalid: {errors}", GoQuoted(name))).about(of, name);
        if let Some(details) = &mut status.details {
            details.causes = causes;
        }
        status
    }

    /// Returns the response to a strategic merge patch that cannot be applied (upstream:
    /// `interpretStrategicMergePatchError`).
    pub(crate) fn of_strategic_patch(error: &strategic::Error) -> Status {
        match error.status_code() {
            400 => Status::bad_request(error.to_string()),
            413 => Status::failure(413, "RequestEntityTooLarge", error.to_string()),
            422 => {
                let message = "the server rejected our request due to an error in our request";
                Status { details: Some(Box::default()), ..Status::failure(422, "Invalid", message) }
            }
            _ => Status::internal(error.to_string()),
        }
    }

    /// An error of the server outside the API.
    pub fn internal(message: impl Into<String>) -> Status {
        Status::failure(500, "", message)
    }

    /// 500 (upstream: `errors.NewInternalError`).
    pub fn internal_error(why: &str) -> Status {
        let cause = Cause { message: why.to_owned(), ..Cause::default() };
        Status {
            details: Some(Box::new(Details { causes: vec![cause], ..Details::default() })),
            ..Status::failure(500, "InternalError", format!("Internal error occurred: {why}"))
        }
    }

    /// 429: the server has too many requests (upstream: `errors.NewTooManyRequests`, with the message of
    /// `WithMaxInFlightLimit`).
    pub fn too_many_requests(retry_after_seconds: u16) -> Status {
        let details = Details { retry_after_seconds: retry_after_seconds.into(), ..Details::default() };
        Status {
            details: Some(details.into()),
            ..Status::failure(429, "TooManyRequests", "Too many requests, please try again later.")
        }
    }

    /// 503: the server has too much to do (upstream: `errors.NewServiceUnavailable`).
    pub fn unavailable() -> Status {
        Status::failure(503, "ServiceUnavailable", "the server is currently unable to handle the request")
    }

    /// 504: the work for the request took too long (upstream: `errors.NewTimeoutError`).
    pub fn took_too_long() -> Status {
        Status::failure(504, "Timeout", "Timeout: the request takes more processor time than the server has for it")
    }

    /// 504: the revision is in the future (upstream: `storage.NewTooLargeResourceVersionError`).
    pub fn too_large_revision(asked: u64, current: u64) -> Status {
        let mut status = Status::failure(
            504,
            "Timeout",
            format!("Timeout: Too large resource version: {asked}, current: {current}"),
        );
        let cause = Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        };
        let details = Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() };
        status.details = Some(details.into());
        status
    }

    /// A completed deletion.
    pub fn deleted(of: GroupResource<'_>, name: &str, uid: &str) -> Status {
        let details = Details {
            name: name.to_owned(),
            group: of.group.to_owned(),
            kind: of.resource.to_owned(),
            uid: uid.to_owned(),
            ..Details::default()
        };
        Status { code: 200, reason: Cow::Borrowed(""), message: String::new(), details: Some(details.into()) }
    }

    /// Returns the number of seconds until a client may retry; 0 if unset (upstream: `ErrorNegotiated` sends it in
    /// `Retry-After`).
    pub fn retry_after_seconds(&self) -> u32 {
        let seconds = self.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        u32::try_from(seconds).unwrap_or(0)
    }

    /// Returns whether the request was refused.
    pub fn is_failure(&self) -> bool {
        self.code >= 300
    }

    /// Returns whether the object has the code: those of deletions have none.
    fn has_code(&self) -> bool {
        self.is_failure() || self.code == 201
    }

    /// Returns the object as compact JSON, in the order of Go's struct.
    pub fn to_json(&self) -> Vec<u8> {
        self.json_as("v1")
    }

    /// Returns the same in `v1`, or in a version of `meta.k8s.io`.
    pub(crate) fn json_as(&self, api_version: &str) -> Vec<u8> {
        let mut out = br#"{"kind":"Status","apiVersion":"#.to_vec();
        string(&mut out, api_version, Escape::Html);
        out.extend_from_slice(br#","metadata":{},"status":""#);
        out.extend_from_slice(if self.is_failure() { b"Failure\"" } else { b"Success\"" });
        text(&mut out, "message", &self.message);
        text(&mut out, "reason", &self.reason);
        if let Some(details) = &self.details {
            out.extend_from_slice(b",\"details\":");
            details.json(&mut out);
        }
        if self.has_code() {
            out.extend_from_slice(format!(",\"code\":{}", self.code).as_bytes());
        }
        out.push(b'}');
        out
    }

    /// Returns `k8s\0` and a `runtime.Unknown` with the `Status`.
    pub(crate) fn protobuf_as(&self, api_version: &str) -> Vec<u8> {
        let mut status = Vec::new();
        proto::bytes(&mut status, 1, &proto::list_meta("", "", None));
        proto::text(&mut status, 2, if self.is_failure() { "Failure" } else { "Success" });
        proto::text(&mut status, 3, &self.message);
        proto::text(&mut status, 4, &self.reason);
        if let Some(details) = &self.details {
            let mut inner = Vec::new();
            proto::text(&mut inner, 1, &details.name);
            proto::text(&mut inner, 2, &details.group);
            proto::text(&mut inner, 3, &details.kind);
            for cause in &details.causes {
                let mut one = Vec::new();
                proto::text(&mut one, 1, &cause.reason);
                proto::text(&mut one, 2, &cause.message);
                proto::text(&mut one, 3, &cause.field);
                proto::bytes(&mut inner, 4, &one);
            }
            proto::number(&mut inner, 5, i64::from(details.retry_after_seconds));
            proto::text(&mut inner, 6, &details.uid);
            proto::bytes(&mut status, 5, &inner);
        }
        proto::number(&mut status, 6, if self.has_code() { i64::from(self.code) } else { 0 });
        proto::unknown(api_version, "Status", &status)
    }

    /// Returns the object as a value, for YAML and CBOR.
    pub(crate) fn value_as<'a>(&'a self, api_version: &'a str, arena: &'a Bump) -> Value<'a> {
        let mut members = vec![
            ("apiVersion", Value::String(api_version)),
            ("kind", Value::String("Status")),
            ("metadata", Value::Map(Map::EMPTY)),
            ("status", Value::String(if self.is_failure() { "Failure" } else { "Success" })),
        ];
        let mut add = |key, text: &'a str| {
            if !text.is_empty() {
                members.push((key, Value::String(text)));
            }
        };
        add("message", &self.message);
        add("reason", &self.reason);
        if self.has_code() {
            members.push(("code", Value::Int(i64::from(self.code))));
        }
        if let Some(details) = &self.details {
            members.push(("details", details.value(arena)));
        }
        Value::Map(Map::from_entries(members, arena))
    }
}

impl Details {
    fn json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let start = out.len();
        text(out, "name", &self.name);
        text(out, "group", &self.group);
        text(out, "kind", &self.kind);
        text(out, "uid", &self.uid);
        if !self.causes.is_empty() {
            out.extend_from_slice(b",\"causes\":[");
            for (at, cause) in self.causes.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                out.push(b'{');
                let start = out.len();
                text(out, "reason", &cause.reason);
                text(out, "message", &cause.message);
                text(out, "field", &cause.field);
                without_comma(out, start);
                out.push(b'}');
            }
            out.push(b']');
        }
        if self.retry_after_seconds > 0 {
            out.extend_from_slice(format!(",\"retryAfterSeconds\":{}", self.retry_after_seconds).as_bytes());
        }
        without_comma(out, start);
        out.push(b'}');
    }

    fn value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        let map = |texts: [(&'static str, &'a str); 3]| {
            let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
            texts.map(|(key, text)| (key, Value::String(text))).collect::<Vec<_>>()
        };
        let mut members = map([("name", &self.name), ("group", &self.group), ("kind", &self.kind)]);
        if !self.uid.is_empty() {
            members.push(("uid", Value::String(&self.uid)));
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(|cause| {
                let texts = [("reason", &*cause.reason), ("message", &*cause.message), ("field", &*cause.field)];
                Value::Map(Map::from_entries(map(texts), arena))
            });
            members.push(("causes", Value::List(arena.alloc_slice_fill_iter(causes.collect::<Vec<_>>()))));
        }
        if self.retry_after_seconds > 0 {
            members.push(("retryAfterSeconds", Value::Int(i64::from(self.retry_after_seconds))));
        }
        Value::Map(Map::from_entries(members, arena))
    }
}

/// Appends `,"key":"value"`, unless the value is empty.
fn text(out: &mut Vec<u8>, key: &str, text: &str) {
    if !text.is_empty() {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":");
        string(out, text, Escape::Html);
    }
}

/// Removes the comma before the first field.
fn without_comma(out: &mut Vec<u8>, start: usize) {
    if out.get(start) == Some(&b',') {
        out.remove(start);
    }
}
