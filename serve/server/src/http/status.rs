//! `Status` objects, which describe errors.

use super::accept::{Choice, Offer};
use super::{RequestParts, reply};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use kubeshape_yaml::go::varint;

/// The media types of objects: JSON, YAML, protobuf.
pub(super) const OBJECTS: [Offer; 3] = [
    Offer::plain("application", "json"),
    Offer::plain("application", "yaml"),
    Offer::plain("application", "vnd.kubernetes.protobuf"),
];

const NOT_ACCEPTABLE: &str = "only the following media types are accepted: \
    application/json, application/yaml, application/vnd.kubernetes.protobuf";
const NO_REPRESENTATION: &str = "406: Not Acceptable\n\nAvailable representations: \
    application/json, application/yaml, application/vnd.kubernetes.protobuf";
const NO_JSON: &str = "406: Not Acceptable\n\nAvailable representations: application/json";

/// An error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: StatusCode,
    reason: &'static str,
    message: &'static str,
    /// Whether it has empty `details`, like errors from responses of the server.
    details: bool,
}

/// 404 for a path below something that exists.
pub(super) const NOT_FOUND: Status = Status {
    code: StatusCode::NOT_FOUND,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: true,
};

/// 405
pub(super) const METHOD_NOT_ALLOWED: Status = Status {
    code: StatusCode::METHOD_NOT_ALLOWED,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: true,
};

/// 406 of go-restful.
pub(super) const UNKNOWN_TYPE: Status =
    Status { code: StatusCode::NOT_ACCEPTABLE, reason: "NotAcceptable", message: NO_REPRESENTATION, details: true };

/// 406 of go-restful if there is only JSON.
pub(super) const ONLY_JSON: Status = Status { message: NO_JSON, ..UNKNOWN_TYPE };

/// 406 of the endpoint itself.
pub(super) const NOT_NEGOTIATED: Status =
    Status { code: StatusCode::NOT_ACCEPTABLE, reason: "NotAcceptable", message: NOT_ACCEPTABLE, details: false };

/// 503
pub(super) const UNAVAILABLE: Status = Status {
    code: StatusCode::SERVICE_UNAVAILABLE,
    reason: "ServiceUnavailable",
    message: "the server is currently unable to handle the request",
    details: true,
};

/// A form in which objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Indented,
    Yaml,
    Protobuf,
}

impl Form {
    /// Returns the form of an offer of [`OBJECTS`].
    pub(super) fn of(place: usize, pretty: bool) -> Form {
        match place {
            1 => Form::Yaml,
            2 => Form::Protobuf,
            _ if pretty => Form::Indented,
            _ => Form::Json,
        }
    }

    pub(super) fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Form::Json | Form::Indented => "application/json",
            Form::Yaml => "application/yaml",
            Form::Protobuf => "application/vnd.kubernetes.protobuf",
        })
    }
}

impl Status {
    /// Returns the response, in a form that the client accepts, else in indented JSON.
    pub(super) fn answer(self, parts: &RequestParts<'_>) -> Response {
        let form = match super::accept::object(&parts.accept(), &OBJECTS, parts.reading()) {
            Choice::Offer(place) if self != NOT_NEGOTIATED => Some(Form::of(place, parts.pretty())),
            _ => None,
        };
        let (body, media) = match form {
            Some(Form::Yaml) => (self.yaml(), Form::Yaml),
            Some(Form::Protobuf) => (self.protobuf(), Form::Protobuf),
            Some(Form::Json) => (self.json("", "", "", true).into_bytes(), Form::Json),
            _ => (self.json("\n", "  ", " ", false).into_bytes(), Form::Indented),
        };
        let mut response = reply::object(parts, self.code, Bytes::from(body).into());
        response.headers_mut().insert(header::CONTENT_TYPE, media.media_type());
        response
    }

    fn json(self, line: &str, indent: &str, blank: &str, end: bool) -> String {
        let details = if self.details { format!("{indent}\"details\":{blank}{{}},{line}") } else { String::new() };
        let message = self.message.replace('\n', "\\n");
        let Status { reason, code, .. } = self;
        format!(
            "{{{line}{indent}\"kind\":{blank}\"Status\",{line}{indent}\"apiVersion\":{blank}\"v1\",{line}\
             {indent}\"metadata\":{blank}{{}},{line}{indent}\"status\":{blank}\"Failure\",{line}\
             {indent}\"message\":{blank}\"{message}\",{line}{indent}\"reason\":{blank}\"{reason}\",{line}\
             {details}{indent}\"code\":{blank}{}{line}}}{}",
            code.as_u16(),
            if end { "\n" } else { "" }
        )
    }

    /// Prints YAML with sorted keys. Messages have one line and no colon.
    fn yaml(self) -> Vec<u8> {
        let details = if self.details { "details: {}\n" } else { "" };
        let Status { code, message, reason, .. } = self;
        let message = if message.contains('\n') { format!("{message:?}") } else { message.to_owned() };
        format!(
            "apiVersion: v1\ncode: {}\n{details}kind: Status\nmessage: {message}\nmetadata: {{}}\nreason: {reason}\n\
             status: Failure\n",
            code.as_u16()
        )
        .into_bytes()
    }

    /// Encodes `k8s\0` and a `runtime.Unknown` with the `Status`. Every member is written, even if it is empty, like by
    /// the generated code of apimachinery.
    fn protobuf(self) -> Vec<u8> {
        const EMPTY_LIST_META: &[u8] = &[0x0a, 0, 0x12, 0, 0x1a, 0];
        const EMPTY_DETAILS: &[u8] = &[0x0a, 0, 0x12, 0, 0x1a, 0, 0x28, 0, 0x32, 0];
        let mut status = Vec::new();
        field(&mut status, 1, EMPTY_LIST_META);
        field(&mut status, 2, b"Failure");
        field(&mut status, 3, self.message.as_bytes());
        field(&mut status, 4, self.reason.as_bytes());
        if self.details {
            field(&mut status, 5, EMPTY_DETAILS);
        }
        status.push(6 << 3);
        varint::write(&mut status, u64::from(self.code.as_u16()));
        let mut kind = Vec::new();
        field(&mut kind, 1, b"v1");
        field(&mut kind, 2, b"Status");
        let mut out = b"k8s\0".to_vec();
        field(&mut out, 1, &kind);
        field(&mut out, 2, &status);
        field(&mut out, 3, b"");
        field(&mut out, 4, b"");
        out
    }
}

fn field(out: &mut Vec<u8>, number: u8, content: &[u8]) {
    out.push(number << 3 | 2);
    varint::write(out, content.len() as u64);
    out.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_compact_with_a_newline_or_indented_without() {
        assert_eq!(
            NOT_FOUND.json("", "", "", true),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
             \"message\":\"the server could not find the requested resource\",\"reason\":\"NotFound\",\
             \"details\":{},\"code\":404}\n"
        );
        let indented = UNKNOWN_TYPE.json("\n", "  ", " ", false);
        assert!(indented.starts_with("{\n  \"kind\": \"Status\",\n"), "{indented}");
        assert!(indented.contains("\"406: Not Acceptable\\n\\nAvailable"), "{indented}");
        assert!(indented.ends_with("  \"details\": {},\n  \"code\": 406\n}"), "{indented}");
        assert!(!NOT_NEGOTIATED.json("", "", "", true).contains("details"));
    }

    #[test]
    fn protobuf_has_its_frame() {
        let bytes = NOT_FOUND.protobuf();
        assert!(bytes.starts_with(b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12"), "{bytes:x?}");
        assert!(bytes.ends_with(&[0x30, 0x94, 0x03, 0x1a, 0, 0x22, 0]), "{bytes:x?}");
    }
}
