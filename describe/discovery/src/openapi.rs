//! The list of OpenAPI v3 documents that a server has at `/openapi/v3` (kube-openapi `pkg/handler3`,
//! `OpenAPIV3Discovery`).

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The maximum length of a path or a query that is read from an index, in bytes.
const LONGEST: usize = 2048;

/// An index: the query of each document's URL (`hash=…`), by path (`apis/apps/v1`), in the order of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    documents: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    paths: Option<BTreeMap<String, Option<Place>>>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default, rename = "serverRelativeURL")]
    url: Option<String>,
}

impl Index {
    /// Reads the body of `/openapi/v3`. A path that is not a plain path below it is left out: it has a segment that is
    /// empty, `.` or `..`, or that needs escapes.
    ///
    /// # Errors
    /// The body is not a JSON object, or its members have the wrong types.
    ///
    /// # Example
    /// ```
    /// use kubeshape_discovery::openapi::Index;
    /// let index = Index::read(br#"{"paths":{"apis/a.io/v1":{"serverRelativeURL":"/openapi/v3/apis/a.io/v1?hash=00"},
    ///     "version":{"serverRelativeURL":"/openapi/v3/version"}}}"#)?;
    /// let urls: Vec<_> = index.urls().collect();
    /// assert_eq!(urls[0], ("apis/a.io/v1", "/openapi/v3/apis/a.io/v1?hash=00".to_owned()));
    /// assert_eq!((index.hash("apis/a.io/v1"), index.hash("version")), (Some("00"), None));
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(body: &[u8]) -> Result<Index, String> {
        // An array would be read as an object without members.
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err("it is no object".to_owned());
        }
        let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let mut documents = BTreeMap::new();
        for (path, place) in body.paths.unwrap_or_default() {
            if is_plain(&path) {
                let query = place.and_then(|place| place.url).and_then(|url| query_of(&path, &url));
                documents.insert(path, query);
            }
        }
        Ok(Index { documents })
    }

    /// Returns the index without documents that belong to no group, such as `version`.
    #[must_use]
    pub fn of_groups(mut self) -> Index {
        self.documents.retain(|path, _| is_of_group(path));
        self
    }

    /// Returns whether there is a document with that path.
    pub fn has(&self, path: &str) -> bool {
        self.documents.contains_key(path)
    }

    /// Returns the hash of a document, if the index has one.
    pub fn hash(&self, path: &str) -> Option<&str> {
        hash_in(self.documents.get(path)?.as_deref()?)
    }

    /// Returns the URL of a document.
    pub fn url(&self, path: &str) -> Option<String> {
        self.documents.get(path).map(|query| url_of(path, query.as_deref()))
    }

    /// Returns the index with only this document; an empty index if the document is unknown.
    #[must_use]
    pub fn only(&self, path: &str) -> Index {
        Index {
            documents: self
                .documents
                .get_key_value(path)
                .map(|(path, query)| (path.clone(), query.clone()))
                .into_iter()
                .collect(),
        }
    }

    /// Replaces the query of a document's URL with that of another URL, to which the server redirected. Returns whether
    /// the URL leads to the document.
    pub fn redirect(&mut self, path: &str, url: &str) -> bool {
        match (self.documents.get_mut(path), query_of(path, url)) {
            (Some(query), Some(other)) => {
                *query = Some(other);
                true
            }
            _ => false,
        }
    }

    /// Returns the paths and URLs of the documents. A URL that does not lead to the path of its document is replaced.
    pub fn urls(&self) -> impl Iterator<Item = (&str, String)> {
        self.documents.iter().map(|(path, query)| (path.as_str(), url_of(path, query.as_deref())))
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Returns the index as a server would publish it.
    pub fn to_json(&self) -> String {
        let paths: Map<String, Value> =
            self.urls().map(|(path, url)| (path.to_owned(), json!({ "serverRelativeURL": url }))).collect();
        json!({ "paths": paths }).to_string()
    }
}

/// Returns whether a path is that of a group version or group: `api/V`, `apis/G/V`, `apis/G`.
fn is_of_group(path: &str) -> bool {
    let mut segments = path.split('/');
    match (segments.next(), segments.next(), segments.next(), segments.next()) {
        (Some("api"), Some(version), None, None) => is_name(version),
        (Some("apis"), Some(group), version, None) => is_name(group) && version.is_none_or(is_name),
        _ => false,
    }
}

/// Returns the path of the document of a group version: `apis/apps/v1` for `apps/v1`, `api/v1` for `v1`. Returns `None`
/// if the string is not a group version.
///
/// # Example
/// ```
/// use kubeshape_discovery::openapi::path_of;
/// assert_eq!(path_of("apps/v1").as_deref(), Some("apis/apps/v1"));
/// assert_eq!(path_of("v1").as_deref(), Some("api/v1"));
/// assert_eq!(path_of("../v1"), None);
/// ```
pub fn path_of(group_version: &str) -> Option<String> {
    let path = match group_version.split_once('/') {
        Some(_) => format!("apis/{group_version}"),
        None => format!("api/{group_version}"),
    };
    (is_of_group(&path) && path.matches('/').count() == if path.starts_with("apis/") { 2 } else { 1 }).then_some(path)
}

/// Returns whether a path needs no escapes and stays below the server's path.
fn is_plain(path: &str) -> bool {
    let segment = |segment: &str| {
        !matches!(segment, "" | "." | "..")
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    path.len() <= LONGEST && path.split('/').all(segment)
}

/// Returns whether a string can be a group or a version: a path segment that needs no escapes, and begins and ends with
/// a letter or digit.
pub fn is_name(text: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.len() <= 253
        && ends(text.bytes().next())
        && ends(text.bytes().next_back())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn url_of(path: &str, query: Option<&str>) -> String {
    match query {
        Some(query) => format!("/openapi/v3/{path}?{query}"),
        None => format!("/openapi/v3/{path}"),
    }
}

/// Returns the value of `hash` in a query.
fn hash_in(query: &str) -> Option<&str> {
    query.split('&').find_map(|part| part.strip_prefix("hash=")).filter(|hash| !hash.is_empty())
}

/// Returns the query of the URL of a document. A prefix of the path before `/openapi/v3` is ignored: a server behind a
/// prefix may or may not include it.
fn query_of(path: &str, url: &str) -> Option<String> {
    let (place, query) = url.split_once('?')?;
    let same = place.strip_suffix(path).is_some_and(|rest| rest.ends_with("/openapi/v3/"));
    let harmless = query.len() <= LONGEST
        && query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte));
    (same && harmless && !query.is_empty()).then(|| query.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(json: &str) -> Vec<(String, String)> {
        let index = Index::read(json.as_bytes()).expect("an index");
        assert_eq!(Index::read(index.to_json().as_bytes()).as_ref(), Ok(&index));
        index.urls().map(|(path, url)| (path.to_owned(), url)).collect()
    }

    #[test]
    fn urls_are_those_of_the_server() {
        let url = "/openapi/v3/apis/a.io/v1?hash=AB&x=y%20z";
        assert_eq!(
            urls(&format!(r#"{{"paths":{{"apis/a.io/v1":{{"serverRelativeURL":"{url}","more":[1]}}}},"x":1}}"#)),
            [("apis/a.io/v1".to_owned(), url.to_owned())]
        );
    }

    #[test]
    fn no_url_leads_elsewhere() {
        for url in [
            "https://other/openapi/v3/apis/b/v1?hash=1",
            "//other/x?hash=1",
            "/openapi/v3/apis/a/v2?hash=1",
            "/openapi/v3/apis/a/v1?ha\\nsh",
            "/openapi/v3/apis/a/v1?",
            "",
        ] {
            let json = format!(r#"{{"paths":{{"apis/a/v1":{{"serverRelativeURL":"{url}"}}}}}}"#);
            assert_eq!(urls(&json), [("apis/a/v1".to_owned(), "/openapi/v3/apis/a/v1".to_owned())], "{url}");
        }
        let json = r#"{"paths":{"apis/a/v1":{"serverRelativeURL":"https://other/openapi/v3/apis/a/v1?hash=1"}}}"#;
        assert_eq!(urls(json)[0].1, "/openapi/v3/apis/a/v1?hash=1");
    }

    #[test]
    fn paths_lead_nowhere_else() {
        let json = r#"{"paths":{"api":{},"apis":{},"version":null,"apis/g":null,"api/v1":{},".well-known/x":{},
            "apis/../v1":{},"apis/g/v1/x":{},"apis//v1":{},"apis/g h/v1":{},"apis/g/%2e%2e":{}}}"#;
        let paths: Vec<_> = urls(json).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, [".well-known/x", "api", "api/v1", "apis", "apis/g", "apis/g/v1/x", "version"]);
        let index = Index::read(json.as_bytes()).expect("an index").of_groups();
        assert_eq!(index.urls().map(|(path, _)| path).collect::<Vec<_>>(), ["api/v1", "apis/g"]);
    }

    #[test]
    fn a_redirect_leads_to_another_version_only() {
        let json = r#"{"paths":{"apis/a/v1":{"serverRelativeURL":"/openapi/v3/apis/a/v1?hash=1"},"api":{}}}"#;
        let mut index = Index::read(json.as_bytes()).expect("an index").only("apis/a/v1");
        assert!(!index.redirect("api", "/openapi/v3/api?hash=2"), "it was left out");
        assert!(!index.redirect("apis/a/v1", "https://other/apis/a/v1?hash=2"));
        assert!(!index.redirect("apis/a/v1", "/openapi/v3/apis/a/v2?hash=2"));
        assert_eq!(index.hash("apis/a/v1"), Some("1"));
        assert!(index.redirect("apis/a/v1", "/prefix/openapi/v3/apis/a/v1?hash=2"));
        assert_eq!(index.url("apis/a/v1").as_deref(), Some("/openapi/v3/apis/a/v1?hash=2"));
    }

    #[test]
    fn invalid_indexes_are_refused() {
        for body in ["", "[]", "<html>", r#"{"paths":[]}"#, r#"{"paths":{"a":"b"}}"#, r#"{"paths":{}"#, "{} {}"] {
            assert!(Index::read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(Index::read(b"{}").expect("nothing is listed").is_empty());
        let deep = "[".repeat(100_000);
        assert!(Index::read(format!(r#"{{"x":{deep}"#).as_bytes()).is_err());
    }
}
