//! Sends a document, like Go's `net/http.ServeContent`.

use super::body::Span;
use super::conditional::{Conditions, Outcome, Validators, evaluate};
use super::range::{self, Range, RangeError};
use super::request::RequestParts;
use super::{audit, reply};
use crate::rope::Rope;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use std::time::SystemTime;

/// The headers for a document in the negotiated form.
pub(super) struct Content {
    /// The media type.
    pub(super) media: HeaderValue,
    /// Whether the media type was sniffed from the content. This happens after the conditions are evaluated.
    pub(super) sniffed: bool,
    /// The tag, with its quotation marks.
    pub(super) etag: Option<HeaderValue>,
    /// The time of the last change.
    pub(super) modified: SystemTime,
    /// The time of the last change as a header.
    pub(super) last_modified: HeaderValue,
    /// `Vary`, one line each.
    pub(super) vary: &'static [HeaderValue],
    /// `Cache-Control` and `Expires`, if they differ from the default.
    pub(super) lasting: Option<(HeaderValue, HeaderValue)>,
}

/// Evaluates the conditions of the request.
fn outcome<'p>(parts: &RequestParts<'p>, etag: Option<&HeaderValue>, modified: SystemTime) -> Outcome<'p> {
    let conditions = Conditions {
        reads: matches!(*parts.method, Method::GET | Method::HEAD),
        if_match: parts.header(header::IF_MATCH),
        if_unmodified_since: parts.header(header::IF_UNMODIFIED_SINCE),
        if_none_match: parts.header(header::IF_NONE_MATCH),
        if_modified_since: parts.header(header::IF_MODIFIED_SINCE),
        range: parts.header(header::RANGE),
        if_range: parts.header(header::IF_RANGE),
    };
    let etag = etag.map(HeaderValue::as_bytes).unwrap_or_default();
    evaluate(&conditions, &Validators { etag, modified })
}

/// Returns whether the response has no content because of the conditions. Its compressed form is not needed then.
pub(super) fn is_settled(parts: &RequestParts<'_>, etag: Option<&HeaderValue>, modified: SystemTime) -> bool {
    !matches!(outcome(parts, etag, modified), Outcome::Send(_))
}

impl Content {
    /// Responds to a request. `plain` is the form, and `gzip` returns its compressed form, if the client accepts that.
    pub(super) fn send(self, parts: &RequestParts<'_>, plain: &Rope, gzip: impl FnOnce() -> Option<Rope>) -> Response {
        match outcome(parts, self.etag.as_ref(), self.modified) {
            Outcome::NotModified => {
                let mut response = reply::not_modified();
                self.shared(response.headers_mut());
                if self.etag.is_none() {
                    response.headers_mut().insert(header::LAST_MODIFIED, self.last_modified);
                }
                response
            }
            Outcome::PreconditionFailed => {
                let mut response = reply::empty(parts, StatusCode::PRECONDITION_FAILED);
                self.shared(response.headers_mut());
                response.headers_mut().insert(header::LAST_MODIFIED, self.last_modified);
                if !self.sniffed {
                    response.headers_mut().insert(header::CONTENT_TYPE, self.media);
                }
                response
            }
            Outcome::Send(ranges) => match range::parse(ranges, plain.len()) {
                Ok(ranges) if ranges.is_empty() => self.whole(parts, plain, gzip().as_ref()),
                Ok(ranges) => self.parts(parts, plain, &ranges),
                Err(error) => self.refused(parts, plain.len(), error),
            },
        }
    }

    /// Adds the headers of every response.
    fn shared(&self, headers: &mut HeaderMap) {
        if let Some((control, expires)) = &self.lasting {
            headers.insert(header::CACHE_CONTROL, control.clone());
            headers.insert(header::EXPIRES, expires.clone());
        }
        if let Some(etag) = &self.etag {
            headers.insert(header::ETAG, etag.clone());
        }
        for line in self.vary {
            headers.append(header::VARY, line.clone());
        }
    }

    fn found(&self, headers: &mut HeaderMap) {
        self.shared(headers);
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        headers.insert(header::LAST_MODIFIED, self.last_modified.clone());
    }

    fn whole(self, parts: &RequestParts<'_>, plain: &Rope, gzip: Option<&Rope>) -> Response {
        let mut response = match gzip {
            // kube-apiserver's wrapper compresses the handler's output, which is empty for HEAD.
            Some(compressed) if parts.extensions => reply::sized(parts, StatusCode::OK, compressed),
            Some(compressed) if !parts.head() => reply::chunked(parts, StatusCode::OK, compressed),
            _ => reply::sized(parts, StatusCode::OK, plain),
        };
        let headers = response.headers_mut();
        self.found(headers);
        if gzip.is_some() && (parts.extensions || !parts.head()) {
            headers.insert(header::CONTENT_ENCODING, reply::GZIP);
            if let (true, Some(etag)) = (parts.extensions, &self.etag) {
                // A strong tag identifies bytes, and these are different bytes.
                let weak = [b"W/", etag.as_bytes()].concat();
                headers.insert(header::ETAG, HeaderValue::from_bytes(&weak).unwrap_or_else(|_| etag.clone()));
            }
        }
        headers.insert(header::CONTENT_TYPE, self.media);
        response
    }

    fn parts(self, parts: &RequestParts<'_>, plain: &Rope, ranges: &[Range]) -> Response {
        let size = plain.len();
        let position = |range: &Range| {
            // The end of an empty range is before its start, as in Go.
            let last = (range.start + range.length).wrapping_sub(1).cast_signed();
            format!("bytes {}-{last}/{size}", range.start)
        };
        if let [range] = ranges {
            let mut response = reply::spans(parts, StatusCode::PARTIAL_CONTENT, plain, vec![Span::Part(*range)]);
            let headers = response.headers_mut();
            self.found(headers);
            if let Ok(position) = HeaderValue::try_from(position(range)) {
                headers.insert(header::CONTENT_RANGE, position);
            }
            headers.insert(header::CONTENT_TYPE, self.media);
            return response;
        }
        let boundary = audit::boundary();
        let media = self.media.to_str().unwrap_or_default();
        let mut spans: Vec<Span> = Vec::with_capacity(ranges.len() * 2 + 1);
        for (place, range) in ranges.iter().enumerate() {
            let line = if place == 0 { "" } else { "\r\n" };
            let position = position(range);
            spans.push(Span::Text(
                format!("{line}--{boundary}\r\nContent-Range: {position}\r\nContent-Type: {media}\r\n\r\n").into(),
            ));
            spans.push(Span::Part(*range));
        }
        spans.push(Span::Text(format!("\r\n--{boundary}--\r\n").into()));
        let mut response = reply::spans(parts, StatusCode::PARTIAL_CONTENT, plain, spans);
        let headers = response.headers_mut();
        self.found(headers);
        if let Ok(media) = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}")) {
            headers.insert(header::CONTENT_TYPE, media);
        }
        response
    }

    /// Returns 416. Go removes the headers that describe the content, but not `Expires`.
    fn refused(self, parts: &RequestParts<'_>, size: usize, error: RangeError) -> Response {
        let mut response = reply::text(parts, StatusCode::RANGE_NOT_SATISFIABLE, error.text());
        let headers = response.headers_mut();
        self.shared(headers);
        headers.remove(header::CACHE_CONTROL);
        headers.remove(header::ETAG);
        if error == RangeError::NoOverlap
            && let Ok(size) = HeaderValue::try_from(format!("bytes */{size}"))
        {
            headers.insert(header::CONTENT_RANGE, size);
        }
        response
    }
}
