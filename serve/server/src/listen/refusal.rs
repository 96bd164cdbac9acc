//! Responses to requests that do not reach an endpoint.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use hyper::ext::ReasonPhrase;

/// Why a request does not reach an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request has too many header fields.
    Fields,
    /// The request has no `Host`.
    NoHost,
    /// The request has more than one `Host`.
    Hosts,
    /// The token is missing or unknown.
    Unauthorized,
    /// The host is not one of those allowed.
    ForeignHost,
    /// A web page of another origin wants to change something.
    ForeignPage,
    /// Too many requests; the seconds until the next one is allowed.
    Rate(u64),
    /// The endpoint was too slow.
    Timeout,
    /// The endpoint panicked.
    Panic,
}

impl Refusal {
    /// Returns the value of the label `reason` in metrics.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Refusal::Fields | Refusal::NoHost | Refusal::Hosts => "malformed",
            Refusal::Unauthorized => "unauthorized",
            Refusal::ForeignHost => "host",
            Refusal::ForeignPage => "origin",
            Refusal::Rate(_) => "rate",
            Refusal::Timeout => "timeout",
            Refusal::Panic => "panic",
        }
    }

    /// Returns the response. A malformed request gets a plain string, as Go's `net/http` sends it before any handler.
    /// Others get a compact Status with a newline at the end, like kube-apiserver's 401.
    pub(crate) fn response(self, id: &HeaderValue) -> Response {
        let (code, reason, message, details) = match self {
            Refusal::Fields => return text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, None),
            Refusal::NoHost => return text(StatusCode::BAD_REQUEST, Some("missing required Host header")),
            Refusal::Hosts => return text(StatusCode::BAD_REQUEST, None),
            Refusal::Unauthorized => (StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized".to_owned(), None),
            Refusal::ForeignHost => (
                StatusCode::FORBIDDEN,
                "Forbidden",
                "this server does not answer for the host of the request; allow it with --allowed-hosts".to_owned(),
                None,
            ),
            Refusal::ForeignPage => (
                StatusCode::FORBIDDEN,
                "Forbidden",
                "web pages of this origin cannot change anything here; allow them with --cors-allowed-origins"
                    .to_owned(),
                None,
            ),
            Refusal::Rate(seconds) => (
                StatusCode::TOO_MANY_REQUESTS,
                "TooManyRequests",
                "too many requests; try again later".to_owned(),
                Some(seconds),
            ),
            Refusal::Timeout => {
                (StatusCode::GATEWAY_TIMEOUT, "Timeout", "the request was not answered in time".to_owned(), None)
            }
            Refusal::Panic => {
                let id = id.to_str().unwrap_or_default();
                let message = format!("internal error while the request was answered; the log has more under {id}");
                (StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message, None)
            }
        };
        let details = details.map(|n| format!(r#","details":{{"retryAfterSeconds":{n}}}"#)).unwrap_or_default();
        let body = format!(
            r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{message}","reason":"{reason}"{details},"code":{}}}"#,
            code.as_u16()
        );
        let mut response = Response::new(Body::from(body + "\n"));
        *response.status_mut() = code;
        let headers = response.headers_mut();
        headers.insert("audit-id", id.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Refusal::Rate(seconds) = self {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// Returns the response to a malformed request.
fn text(code: StatusCode, detail: Option<&str>) -> Response {
    let reason = code.canonical_reason().unwrap_or_default();
    let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    let mut response = Response::new(Body::from(format!("{} {reason}{detail}", code.as_u16())));
    *response.status_mut() = code;
    if let Ok(phrase) = ReasonPhrase::try_from(format!("{reason}{detail}")) {
        response.extensions_mut().insert(phrase);
    }
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_body_is_a_status() {
        for refusal in [
            Refusal::Unauthorized,
            Refusal::ForeignHost,
            Refusal::ForeignPage,
            Refusal::Rate(3),
            Refusal::Timeout,
            Refusal::Panic,
        ] {
            let id = HeaderValue::from_static("id");
            let response = refusal.response(&id);
            let code = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 10_000).await.expect("a body");
            let status: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(status["kind"], "Status");
            assert_eq!(status["code"], code);
        }
    }

    #[tokio::test]
    async fn unauthorized_is_answered_as_recorded() {
        let id = HeaderValue::from_static("id");
        let response = Refusal::Unauthorized.response(&id);
        assert_eq!(response.headers()["cache-control"], "no-cache, private");
        assert_eq!(response.headers()["content-type"], "application/json");
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.expect("a body");
        let expected = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n";
        assert_eq!(body, expected);
    }
}
