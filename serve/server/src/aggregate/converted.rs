//! Servers that publish only OpenAPI v2: kube-aggregator converts their documents in
//! `pkg/controllers/openapiv3/aggregator`.

use super::groups::Wanted;
use super::options::AggregateOptions;
use kubeshape_convert::aggregate::merge::{Overlay, merge};
use kubeshape_convert::graph::split;
use kubeshape_convert::v2;
use kubeshape_schema::{Bump, Profile};

/// Returns the v3 documents of a server that publishes only v2: their paths and JSON.
///
/// # Errors
/// The body is not an OpenAPI v2 document, or it cannot be converted.
///
/// # Example
/// ```
/// use kubeshape_publish::Profile;
/// use kubeshape_server::aggregate::documents_of_v2;
/// let body = br#"{"swagger":"2.0","paths":{"/apis/a.io/v1/things":{"get":{"responses":{}}},"/version":{}}}"#;
/// let documents = documents_of_v2(body, &"a=http://localhost".parse()?, Profile::Kube)?;
/// assert_eq!(documents.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["apis/a.io/v1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn documents_of_v2(body: &[u8], options: &AggregateOptions, profile: Profile) -> Result<Vec<Printed>, String> {
    documents(body, Wanted::of(options), profile)
}

/// Merges the v2 documents of servers into a v2 document, in the order given, as kube-aggregator does
/// (`pkg/controllers/openapi/aggregator`). `owns` says whether a server, by its number, serves a group version
/// (`apis/GROUP/VERSION`), as opposed to this server or another one. A document that cannot be merged is left out.
///
/// # Example
/// ```
/// use kubeshape_convert::aggregate::merge::{Overlay, merge};
/// use kubeshape_publish::Profile;
/// use kubeshape_server::aggregate::merge_v2;
/// let local = br#"{"swagger":"2.0","paths":{"/apis/a.io/v1/things":{}}}"#;
/// let remote = br#"{"swagger":"2.0","paths":{"/apis/a.io/v1/others":{},"/apis/b.io/v1/things":{}}}"#;
/// let remote = Overlay::of(remote, |_| true)?;
/// let merged = merge_v2(local.to_vec(), [&remote], |_, path| path != "apis/a.io/v1", Profile::Kube);
/// assert_eq!(merged, br#"{"swagger":"2.0","paths":{"/apis/a.io/v1/things":{},"/apis/b.io/v1/things":{}}}"#);
/// # Ok::<(), kubeshape_convert::aggregate::merge::MergeError>(())
/// ```
pub fn merge_v2<'o>(
    mut document: Vec<u8>,
    overlays: impl IntoIterator<Item = &'o Overlay>,
    owns: impl Fn(usize, &str) -> bool,
    profile: Profile,
) -> Vec<u8> {
    for (server, overlay) in overlays.into_iter().enumerate() {
        let mut overlay = overlay.clone();
        overlay.retain(|path| owns(server, split::name_of(path)));
        if overlay.paths.is_empty() {
            continue;
        }
        match merge(&document, overlay, profile == Profile::Kube) {
            Ok(merged) => document = merged.document,
            Err(error) => tracing::warn!(server, %error, "the OpenAPI v2 spec of an aggregated server does not merge"),
        }
    }
    document
}

/// A v3 document: its path and JSON.
type Printed = (String, Vec<u8>);

/// Returns the v3 documents of the wanted group versions of a v2 document.
///
/// # Errors
/// The body is not an OpenAPI v2 document, or it cannot be converted.
pub(super) fn documents(body: &[u8], wanted: Wanted<'_>, profile: Profile) -> Result<Vec<Printed>, String> {
    v2::body::to_v3(body, profile, |path| path != split::REST && wanted.has_document(path))
}

/// The part of a v2 document that is merged into the v2 document of this server: the paths of the wanted group versions
/// below `/apis/GROUP/VERSION/`.
///
/// # Errors
/// The body is not an OpenAPI v2 document.
pub(super) fn overlay(body: &[u8], wanted: Wanted<'_>, profile: Profile) -> Result<Overlay, String> {
    v2::body::read(body, |document| {
        let Some(root) = document.root() else { return Err("it is empty".to_owned()) };
        let arena = Bump::new();
        let value = v2::read(root, &arena, profile).value.ok_or("it is no OpenAPI v2 document")?;
        let mut json = Vec::new();
        value.print(&mut json, kubeshape_schema::print::Style::V2, profile);
        let below = |path: &str| {
            let mut segments = path.trim_start_matches('/').splitn(4, '/');
            match (segments.next(), segments.next(), segments.next(), segments.next()) {
                (Some("apis"), Some(group), Some(version), Some(_)) => !group.is_empty() && wanted.has(group, version),
                _ => false,
            }
        };
        Overlay::of(&json, below).map_err(|error| error.to_string())
    })
}
