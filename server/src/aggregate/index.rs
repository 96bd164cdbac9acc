//! The v3 index of a downstream server (kube-openapi `pkg/handler3`).

use super::options::is_name;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The longest path and the longest query that are taken from an index.
const LONGEST: usize = 2048;

/// An index: the query of each document's URL (`hash=…`), by path (`apis/apps/v1`).
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
    /// Reads the body of `/openapi/v3`. Only documents of groups and group versions are kept.
    ///
    /// # Errors
    /// The body is not a JSON object, or its members have the wrong types.
    ///
    /// # Example
    /// ```
    /// use kubeshape_server::aggregate::Index;
    /// let index = Index::read(br#"{"paths":{"apis/a.io/v1":{"serverRelativeURL":"/openapi/v3/apis/a.io/v1?hash=00"},
    ///     "version":{"serverRelativeURL":"/openapi/v3/version"}}}"#)?;
    /// let urls: Vec<_> = index.urls().collect();
    /// assert_eq!(urls, [("apis/a.io/v1", "/openapi/v3/apis/a.io/v1?hash=00".to_owned())]);
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(body: &[u8]) -> Result<Index, String> {
        // An array would be taken for an object without members.
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err("it is no object".to_owned());
        }
        let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let mut documents = BTreeMap::new();
        for (path, place) in body.paths.unwrap_or_default() {
            if is_document(&path) {
                let query = place.and_then(|place| place.url).and_then(|url| query_of(&path, &url));
                documents.insert(path, query);
            }
        }
        Ok(Index { documents })
    }

    /// Paths and URLs of the documents. A URL that does not lead to the path of its document is replaced.
    pub fn urls(&self) -> impl Iterator<Item = (&str, String)> {
        self.documents.iter().map(|(path, query)| {
            let url = match query {
                Some(query) => format!("/openapi/v3/{path}?{query}"),
                None => format!("/openapi/v3/{path}"),
            };
            (path.as_str(), url)
        })
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The index as a server would publish it.
    pub fn to_json(&self) -> String {
        let paths: Map<String, Value> =
            self.urls().map(|(path, url)| (path.to_owned(), json!({ "serverRelativeURL": url }))).collect();
        json!({ "paths": paths }).to_string()
    }
}

/// Whether a path is that of a group version or group: `api/V`, `apis/G/V`, `apis/G`.
fn is_document(path: &str) -> bool {
    let mut segments = path.split('/');
    let names = match (segments.next(), segments.next(), segments.next(), segments.next()) {
        (Some("api"), Some(version), None, None) => is_name(version),
        (Some("apis"), Some(group), version, None) => is_name(group) && version.is_none_or(is_name),
        _ => false,
    };
    names && path.len() <= LONGEST
}

/// The query of the URL of a document. A prefix of the path before `/openapi/v3` is ignored: a server behind a prefix may
/// or may not include it.
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
    fn only_groups_and_versions_count() {
        let json = r#"{"paths":{"api":{},"apis":{},"version":null,"apis/g":null,"api/v1":{},".well-known/x":{},
            "apis/../v1":{},"apis/g/v1/x":{},"apis//v1":{},"apis/g h/v1":{},"apis/g/%2e%2e":{}}}"#;
        let paths: Vec<_> = urls(json).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["api/v1", "apis/g"]);
    }

    #[test]
    fn what_is_no_index_is_refused() {
        for body in ["", "[]", "<html>", r#"{"paths":[]}"#, r#"{"paths":{"a":"b"}}"#, r#"{"paths":{}"#, "{} {}"] {
            assert!(Index::read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(Index::read(b"{}").expect("nothing is listed").is_empty());
        let deep = "[".repeat(100_000);
        assert!(Index::read(format!(r#"{{"x":{deep}"#).as_bytes()).is_err());
    }
}
