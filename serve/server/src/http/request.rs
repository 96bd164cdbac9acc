//! What a request asks for: method, headers, query.

use super::accept::{self, Reading};
use super::encoding;
use super::held::Bodies;
use super::target;
use crate::limit::Caller;
use http::{HeaderMap, HeaderName, Method, header};
use std::borrow::Cow;

/// The parts of a request that a response depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestParts<'r> {
    pub(super) method: &'r Method,
    pub(super) headers: &'r HeaderMap,
    pub(super) query: &'r str,
    pub(super) extensions: bool,
    /// Whose request it is, and what its response counts among.
    pub(super) caller: Option<&'r Caller>,
    pub(super) bodies: &'r Bodies,
}

/// The same with texts of its own, for a response that is made later.
#[derive(Debug)]
pub(super) struct OwnedParts {
    method: Method,
    headers: HeaderMap,
    query: String,
    extensions: bool,
    caller: Option<Caller>,
    bodies: Bodies,
}

impl OwnedParts {
    pub(super) fn of(parts: &RequestParts<'_>) -> OwnedParts {
        let RequestParts { method, headers, query, extensions, caller, bodies } = *parts;
        OwnedParts {
            method: method.clone(),
            headers: headers.clone(),
            query: query.to_owned(),
            extensions,
            caller: caller.cloned(),
            bodies: bodies.clone(),
        }
    }

    pub(super) fn with<T>(&self, answer: impl FnOnce(&RequestParts<'_>) -> T) -> T {
        let OwnedParts { method, headers, query, extensions, caller, bodies } = self;
        answer(&RequestParts { method, headers, query, extensions: *extensions, caller: caller.as_ref(), bodies })
    }

    /// Whose request it is.
    pub(super) fn caller(&self) -> Option<Caller> {
        self.caller.clone()
    }
}

impl<'r> RequestParts<'r> {
    /// The first line of a header; empty if there is none. For the headers that are read here, both mean the same.
    pub(super) fn header(&self, name: HeaderName) -> &'r [u8] {
        self.headers.get(name).map(http::HeaderValue::as_bytes).unwrap_or_default()
    }

    fn text(&self, name: HeaderName) -> Cow<'r, str> {
        String::from_utf8_lossy(self.header(name))
    }

    /// How `Accept` is read.
    pub(super) fn reading(&self) -> Reading {
        if self.extensions { Reading::Repaired } else { Reading::Kube }
    }

    /// The first line of `Accept`; with extensions, all of them.
    pub(super) fn accept(&self) -> Cow<'r, str> {
        let mut lines =
            self.headers.get_all(header::ACCEPT).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        let first = lines.next().unwrap_or_default();
        if !self.extensions {
            return first;
        }
        lines.fold(first, |all, line| Cow::Owned(format!("{all},{line}")))
    }

    /// Whether the response has no body.
    pub(super) fn head(&self) -> bool {
        *self.method == Method::HEAD
    }

    /// Whether the method is GET or, with extensions, HEAD.
    pub(super) fn gets(&self) -> bool {
        *self.method == Method::GET || (self.extensions && self.head())
    }

    /// Whether to indent JSON: because of `?pretty`, of a clause of `Accept`, or of a program that shows responses to people.
    pub(super) fn pretty(&self) -> bool {
        if let Some(pretty) = target::parameter(self.query, "pretty").filter(|value| !value.is_empty()) {
            return matches!(&*pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
        }
        let agent = self.header(header::USER_AGENT);
        [&b"curl"[..], b"Wget", b"Mozilla/5.0"].iter().any(|program| agent.starts_with(program))
            || accept::pretty(&self.accept())
    }

    /// Whether to compress a document.
    pub(super) fn gzip(&self) -> bool {
        encoding::coding_has_weight(&self.text(header::ACCEPT_ENCODING))
    }

    /// Whether to compress an object if it is large.
    pub(super) fn gzip_object(&self) -> bool {
        if self.extensions { self.gzip() } else { encoding::names_token(&self.text(header::ACCEPT_ENCODING)) }
    }
}
