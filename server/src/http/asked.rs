//! What a request asks for.

use super::accept::{self, Reading};
use super::encoding;
use super::target;
use http::{HeaderMap, HeaderName, Method, header};
use std::borrow::Cow;

/// The parts of a request that answers depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'r> {
    pub(super) method: &'r Method,
    pub(super) headers: &'r HeaderMap,
    pub(super) query: &'r str,
    pub(super) extensions: bool,
}

/// The same, kept for an answer that takes longer.
#[derive(Debug)]
pub(super) struct Owned {
    method: Method,
    headers: HeaderMap,
    query: String,
    extensions: bool,
}

impl Owned {
    pub(super) fn of(asked: &Asked<'_>) -> Owned {
        let Asked { method, headers, query, extensions } = *asked;
        Owned { method: method.clone(), headers: headers.clone(), query: query.to_owned(), extensions }
    }

    pub(super) fn with<T>(&self, answer: impl FnOnce(&Asked<'_>) -> T) -> T {
        let Owned { method, headers, query, extensions } = self;
        answer(&Asked { method, headers, query, extensions: *extensions })
    }
}

impl<'r> Asked<'r> {
    /// The first line of a header; empty when there is none, which is the same for all that is asked here.
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

    /// `Accept`: the first line, with extensions all of them.
    pub(super) fn accept(&self) -> Cow<'r, str> {
        let mut lines =
            self.headers.get_all(header::ACCEPT).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        let first = lines.next().unwrap_or_default();
        if !self.extensions {
            return first;
        }
        lines.fold(first, |all, line| Cow::Owned(format!("{all},{line}")))
    }

    /// Whether the answer has no body.
    pub(super) fn head(&self) -> bool {
        *self.method == Method::HEAD
    }

    /// Whether the method is GET, or HEAD where that is taken for it.
    pub(super) fn gets(&self) -> bool {
        *self.method == Method::GET || (self.extensions && self.head())
    }

    /// Whether JSON is to be indented: `?pretty`, a clause of `Accept`, or a program with which people look at answers.
    pub(super) fn pretty(&self) -> bool {
        if let Some(pretty) = target::parameter(self.query, "pretty").filter(|value| !value.is_empty()) {
            return matches!(&*pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
        }
        let agent = self.header(header::USER_AGENT);
        [&b"curl"[..], b"Wget", b"Mozilla/5.0"].iter().any(|program| agent.starts_with(program))
            || accept::pretty(&self.accept())
    }

    /// Whether a document is to be compressed.
    pub(super) fn gzip(&self) -> bool {
        encoding::coding_has_weight(&self.text(header::ACCEPT_ENCODING))
    }

    /// Whether an object is to be compressed, if it is large.
    pub(super) fn gzip_object(&self) -> bool {
        if self.extensions { self.gzip() } else { encoding::names_token(&self.text(header::ACCEPT_ENCODING)) }
    }
}
