//! Requests of web pages from other origins, like the filter `WithCORS` of `k8s.io/apiserver`.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use regex::RegexSet;

/// The headers that upstream allows and exposes.
const ALLOWED: [(HeaderName, HeaderValue); 4] = [
    (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, OPTIONS, PUT, DELETE, PATCH")),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
        ),
    ),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Date")),
    (header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true")),
];

/// The origins whose web pages may read responses.
///
/// ```
/// use kubeshape_server::Cors;
///
/// let cors = Cors::new(&["//editor\\.example\\.com(:|$)"])?;
/// assert!(cors.allows("https://editor.example.com:8443"));
/// assert!(!cors.allows("https://editor.example.com.evil.org"));
/// assert!(Cors::new(&["example.com"]).is_err(), "matches example.com.evil.org, too");
/// # Ok::<(), kubeshape_server::CorsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cors {
    origins: RegexSet,
}

/// Why a pattern of origins cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorsError {
    /// It is not a regular expression.
    #[error("{pattern:?} is no regular expression: {message}")]
    Syntax {
        /// The pattern.
        pattern: String,
        /// The error.
        message: String,
    },
    /// It can match a part of a longer host (CVE-2022-1996).
    #[error(
        "{0:?} does not pin the start and the end of the host: write `//` or `^` before the host and `(:|$)` or `$` after it, as in `//example\\.com(:|$)`"
    )]
    Unpinned(String),
}

impl Cors {
    /// Creates it from patterns of origins (`SCHEME://HOST[:PORT]`). An origin is allowed if a pattern matches any part
    /// of it.
    ///
    /// # Errors
    /// A pattern is also refused by upstream: its syntax is invalid, or it has neither `^` nor `//`, or neither `$` nor
    /// `:` (`validateCorsAllowedOriginList`).
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Cors, CorsError> {
        let syntax = |pattern: &str, error: &regex::Error| CorsError::Syntax {
            pattern: pattern.to_owned(),
            message: error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned(),
        };
        for pattern in patterns.iter().map(AsRef::as_ref) {
            regex::Regex::new(pattern).map_err(|error| syntax(pattern, &error))?;
            let pins = |marks: [&str; 2]| marks.iter().any(|mark| pattern.contains(mark));
            if !pins(["^", "//"]) || !pins(["$", ":"]) {
                return Err(CorsError::Unpinned(pattern.to_owned()));
            }
        }
        let all = || patterns.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        let origins = RegexSet::new(patterns).map_err(|error| syntax(&all(), &error))?;
        Ok(Cors { origins })
    }

    /// Returns whether pages of this origin may read responses.
    pub fn allows(&self, origin: &str) -> bool {
        self.origins.is_match(origin)
    }

    /// Returns the origin of a request, if it is allowed.
    pub(crate) fn origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        let text = origin.to_str().ok().filter(|text| !text.is_empty())?;
        self.allows(text).then(|| origin.clone())
    }

    /// Adds the headers of a response. `Vary` is not upstream's: without it, a cache gives one origin's response to
    /// another.
    pub(crate) fn mark(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = origin else { return };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        for (name, value) in ALLOWED {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams_patterns() {
        for pattern in
            ["^http://foo.com$", "^http://foo.com", "://foo.com$", "//foo.com$", "//foo.com(:|$)", "(^foo.com$)"]
        {
            assert!(Cors::new(&[pattern]).is_ok(), "{pattern}");
        }
        for pattern in ["", "^foo.com", "//foo.com", "foo.com$", "foo.com(:|$)"] {
            assert_eq!(Cors::new(&["^http://a$", pattern]).err(), Some(CorsError::Unpinned(pattern.to_owned())));
        }
        let error = Cors::new(&["//(foo$"]).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(error, Err("\"//(foo$\" is no regular expression: unclosed group".to_owned()));
    }
}
