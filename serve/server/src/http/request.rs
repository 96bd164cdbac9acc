//! The parameters of a request: method, headers, query.

use super::accept::{self, Reading};
use super::encoding;
use super::held::Bodies;
use super::target;
use crate::limit::Caller;
use http::{HeaderMap, HeaderName, Method, header};
use kubeshape_objects::access::Identity;
use std::borrow::Cow;
use std::sync::Arc;

/// The parts of a request on which a response depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestParts<'r> {
    pub(super) method: &'r Method,
    pub(super) headers: &'r HeaderMap,
    pub(super) query: &'r str,
    pub(super) extensions: bool,
    /// The client whose limits apply.
    pub(super) caller: Option<&'r Caller>,
    /// The user, if requests are authenticated.
    pub(super) identity: Option<&'r Arc<Identity>>,
    pub(super) bodies: &'r Bodies,
}

/// The same with owned strings, for a response that is computed later.
#[derive(Debug)]
pub(super) struct OwnedParts {
    method: Method,
    headers: HeaderMap,
    query: String,
    extensions: bool,
    caller: Option<Caller>,
    identity: Option<Arc<Identity>>,
    bodies: Bodies,
}

impl OwnedParts {
    pub(super) fn of(parts: &RequestParts<'_>) -> OwnedParts {
        let RequestParts { method, headers, query, extensions, caller, identity, bodies } = *parts;
        OwnedParts {
            method: method.clone(),
            headers: headers.clone(),
            query: query.to_owned(),
            extensions,
            caller: caller.cloned(),
            identity: identity.cloned(),
            bodies: bodies.clone(),
        }
    }

    pub(super) fn with<T>(&self, answer: impl FnOnce(&RequestParts<'_>) -> T) -> T {
        let OwnedParts { method, headers, query, extensions, caller, identity, bodies } = self;
        let (extensions, caller, identity) = (*extensions, caller.as_ref(), identity.as_ref());
        answer(&RequestParts { method, headers, query, extensions, caller, identity, bodies })
    }

    /// Returns the client whose limits apply.
    pub(super) fn caller(&self) -> Option<Caller> {
        self.caller.clone()
    }
}

impl<'r> RequestParts<'r> {
    /// Returns the first line of a header; empty if it is missing. The headers that are read here treat both the same.
    pub(super) fn header(&self, name: HeaderName) -> &'r [u8] {
        self.headers.get(name).map(http::HeaderValue::as_bytes).unwrap_or_default()
    }

    fn text(&self, name: HeaderName) -> Cow<'r, str> {
        String::from_utf8_lossy(self.header(name))
    }

    /// Returns how `Accept` is read.
    pub(super) fn reading(&self) -> Reading {
        if self.extensions { Reading::Repaired } else { Reading::Kube }
    }

    /// Returns the first line of `Accept`; with extensions, all of them.
    pub(super) fn accept(&self) -> Cow<'r, str> {
        let mut lines =
            self.headers.get_all(header::ACCEPT).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        let first = lines.next().unwrap_or_default();
        if !self.extensions {
            return first;
        }
        lines.fold(first, |all, line| Cow::Owned(format!("{all},{line}")))
    }

    /// Returns whether the response has no body.
    pub(super) fn head(&self) -> bool {
        *self.method == Method::HEAD
    }

    /// Returns whether the method is GET or, with extensions, HEAD.
    pub(super) fn gets(&self) -> bool {
        *self.method == Method::GET || (self.extensions && self.head())
    }

    /// Returns whether to indent JSON: because of `?pretty`, of a clause of `Accept`, or of a client that shows
    /// responses to people.
    pub(super) fn pretty(&self) -> bool {
        if let Some(pretty) = target::parameter(self.query, "pretty").filter(|value| !value.is_empty()) {
            return matches!(&*pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
        }
        let agent = self.header(header::USER_AGENT);
        [&b"curl"[..], b"Wget", b"Mozilla/5.0"].iter().any(|program| agent.starts_with(program))
            || accept::pretty(&self.accept())
    }

    /// Returns whether to compress a document.
    pub(super) fn gzip(&self) -> bool {
        encoding::coding_has_weight(&self.text(header::ACCEPT_ENCODING))
    }

    /// Returns whether to compress an object if it is large.
    pub(super) fn gzip_object(&self) -> bool {
        if self.extensions { self.gzip() } else { encoding::names_token(&self.text(header::ACCEPT_ENCODING)) }
    }
}
