//! The part of etcd's HTTP that test libraries request: whether it is healthy.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Method, Request, StatusCode, header};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower::Service;

/// A service that answers `/health` and `/version` as etcd does, and stores nothing.
///
/// # Example
/// ```
/// use axum::body::Body;
/// use http::Request;
/// use kubeshape_server::Etcd;
/// use tower::Service;
///
/// let request = Request::get("/health").body(Body::empty())?;
/// let response = Etcd.call(request).into_inner().unwrap();
/// assert_eq!(response.status(), 200);
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Etcd;

impl Etcd {
    /// The version that it names.
    pub const VERSION: &str = "3.6.0";
}

impl Service<Request<Body>> for Etcd {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let (code, body) = match request.uri().path() {
            "/health" | "/livez" | "/readyz" if is_read => (StatusCode::OK, r#"{"health":"true","reason":""}"#.into()),
            "/version" if is_read => {
                let version = Etcd::VERSION;
                (StatusCode::OK, format!(r#"{{"etcdserver":"{version}","etcdcluster":"{version}","storage":"3.6.0"}}"#))
            }
            "/health" | "/livez" | "/readyz" | "/version" => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
            _ => (StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = code;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        ready(Ok(response))
    }
}
