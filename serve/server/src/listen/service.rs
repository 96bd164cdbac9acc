//! Authentication, rate limit, body limit, timeout, and panics of endpoints.

use super::activity::Activity;
use super::refusal::Refusal;
use crate::auth::{AllowedHosts, Authenticator, Cors, is_health};
use crate::http::pages;
use crate::limit::{Limits, Rate};
use crate::metrics::Metrics;
use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt;
use http::{HeaderMap, Method, Request, Version, header};
use http_body_util::Limited;
use hyper::body::{Body as _, Incoming};
use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tower::{Service, ServiceExt};

/// A service that answers requests.
pub trait Endpoint:
    Service<Request<Body>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Endpoint for S where
    S: Service<Request<Body>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

/// Which hosts and web pages a server admits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    pub(crate) hosts: AllowedHosts,
    pub(crate) cors: Option<Cors>,
}

/// State that all connections share.
#[derive(Debug)]
pub(crate) struct Shared<S> {
    pub(crate) endpoint: S,
    pub(crate) limits: Limits,
    pub(crate) authenticator: Option<Authenticator>,
    /// Whether files of a web application need no token.
    pub(crate) has_open_pages: bool,
    pub(crate) guard: Guard,
    pub(crate) rate: Option<Arc<Rate>>,
    pub(crate) metrics: Arc<Metrics>,
}

impl<S: Endpoint> Shared<S> {
    /// Answers a request. Refuses it if its head is malformed, without a valid token, beyond the rate, after a timeout,
    /// and after a panic.
    pub(crate) async fn answer(&self, mut request: Request<Incoming>, activity: &Activity) -> Response {
        let path = request.uri().path();
        if let Some(refusal) = self.malformed(&request) {
            // Go's server closes the connection, too.
            activity.end();
            return self.refuse(refusal, request.method().as_str(), path, &HeaderMap::new());
        }
        let is_page = self.has_open_pages && pages::is_open(request.method(), path, request.headers());
        if let Some(authenticator) = &self.authenticator
            && !is_health(path)
            && (!is_page || authenticator.knows(request.headers()))
        {
            let Some(known) = authenticator.known(request.headers(), request.extensions().get()) else {
                return self.refuse(Refusal::Unauthorized, request.method().as_str(), path, request.headers());
            };
            if let Some(caller) = known.caller {
                activity.trust();
                // Until here, it was the address.
                request.extensions_mut().insert(caller);
            }
            if let Some(identity) = known.identity {
                request.extensions_mut().insert(identity);
            }
        }
        let path = request.uri().path();
        if let Some(rate) = &self.rate
            && !is_health(path)
            && let Err(wait) = rate.take()
        {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            return self.refuse(Refusal::Rate(seconds), request.method().as_str(), path, request.headers());
        }
        let (parts, body) = request.into_parts();
        let (method, uri) = (parts.method.clone(), parts.uri.clone());
        let body =
            if body.is_end_stream() { Body::empty() } else { Body::new(Limited::new(body, self.limits.body_bytes)) };
        let answer = self.endpoint.clone().oneshot(Request::from_parts(parts, body));
        // After a panic the future is dropped and never polled again. Shared state of endpoints is swapped as a whole.
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let refusal = match tokio::time::timeout(self.limits.request, answer).await {
            Ok(Ok(Ok(response))) => return response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(panic)) => {
                tracing::error!(path = uri.path(), panic = text(&*panic), "an endpoint panicked");
                Refusal::Panic
            }
            Err(_) => Refusal::Timeout,
        };
        self.refuse(refusal, method.as_str(), uri.path(), &HeaderMap::new())
    }

    /// Returns the error in the head of a request. Hosts are checked like in Go's `net/http`.
    fn malformed(&self, request: &Request<Incoming>) -> Option<Refusal> {
        // hyper counts the fields of HTTP/1.
        if request.headers().len() > self.limits.header_fields {
            return Some(Refusal::Fields);
        }
        if request.version() == Version::HTTP_2 {
            return None;
        }
        match request.headers().get_all(header::HOST).iter().count() {
            0 if request.version() == Version::HTTP_11 && request.method() != Method::CONNECT => Some(Refusal::NoHost),
            0 | 1 => None,
            _ => Some(Refusal::Hosts),
        }
    }

    pub(super) fn refuse(&self, refusal: Refusal, method: &str, path: &str, headers: &HeaderMap) -> Response {
        let id = crate::http::audit::id(headers);
        let response = refusal.response(&id);
        self.metrics.refused(refusal.reason());
        tracing::info!(
            audit_id = id.to_str().unwrap_or_default(),
            method,
            path,
            code = response.status().as_u16(),
            reason = refusal.reason(),
            "request refused"
        );
        response
    }
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("?")
}
