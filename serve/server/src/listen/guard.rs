//! Checks before authentication: hosts, and requests of web pages.

use super::refusal::Refusal;
use super::service::{Endpoint, Guard, Shared};
use crate::auth::Cors;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;
use std::time::Instant;

/// Returns whether a web page of another origin wants to change something. Browsers send such requests without a
/// preflight if they look like those of a form, and name the origin of the page in them. Other clients do not.
fn is_foreign_write<B>(request: &Request<B>, cors: Option<&Cors>) -> bool {
    let is_reading = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    let Some(origin) = request.headers().get(header::ORIGIN).filter(|_| !is_reading) else { return false };
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(http::uri::Authority::as_str));
    let page = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
    let is_own = page.is_some() && page == host;
    !is_own && cors.is_none_or(|cors| cors.origin(request.headers()).is_none())
}

impl<S: Endpoint> Shared<S> {
    /// Refuses requests for other hosts, and writes of web pages of other origins, answers preflight requests, and
    /// marks responses for web pages. `answer` answers other requests. No browser connects to a socket file, so
    /// `is_tcp` says whether the host matters.
    pub(super) async fn guarded(
        &self,
        request: Request<Incoming>,
        is_tcp: bool,
        answer: impl AsyncFnOnce(Request<Incoming>) -> Response,
    ) -> Response {
        let Guard { hosts, cors } = &self.guard;
        if is_tcp && !hosts.admit(request.uri(), request.headers()) {
            return self.refuse(
                Refusal::ForeignHost,
                request.method().as_str(),
                request.uri().path(),
                request.headers(),
            );
        }
        if is_foreign_write(&request, cors.as_ref()) {
            return self.refuse(
                Refusal::ForeignPage,
                request.method().as_str(),
                request.uri().path(),
                request.headers(),
            );
        }
        let Some(cors) = cors else { return answer(request).await };
        let origin = cors.origin(request.headers());
        let mut response = if origin.is_some() && request.method() == Method::OPTIONS {
            let began = Instant::now();
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            let headers = response.headers_mut();
            headers.insert("audit-id", crate::http::audit::id(request.headers()));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
            self.metrics.request("preflight", "OPTIONS", StatusCode::NO_CONTENT.as_u16(), began.elapsed());
            response
        } else {
            answer(request).await
        };
        Cors::mark(response.headers_mut(), origin);
        response
    }
}
