//! Whatever a downstream server responds, reading its index, its discovery and its v2 document does not panic, and the
//! result is equal when it is printed and read again.

use kubeshape_publish::Profile;
use kubeshape_discovery::print::{AggregatedVersion, Encoding, aggregated};
use kubeshape_discovery::openapi::Index;
use kubeshape_server::aggregate::{AggregateOptions, DiscoveryBody, documents_of_v2};
use std::sync::LazyLock;

static OPTIONS: LazyLock<AggregateOptions> = LazyLock::new(|| "a=http://localhost".parse().expect("options"));

/// Checks the property.
pub fn holds(data: &[u8]) {
    if let Ok(index) = Index::read(data) {
        let printed = index.to_json();
        assert_eq!(Index::read(printed.as_bytes()).as_ref(), Ok(&index));
        for (path, url) in index.urls() {
            let rest = url.strip_prefix("/openapi/v3/").and_then(|rest| rest.strip_prefix(path)).expect("its place");
            assert!(rest.is_empty() || rest.starts_with('?'), "{url}");
            assert!(http_text(&url) && path.split('/').all(|name| name != ".."), "{url}");
        }
    }
    if let Ok(DiscoveryBody::Groups(groups)) = DiscoveryBody::read(data) {
        let mut printed = Vec::new();
        aggregated(&mut printed, AggregatedVersion::V2, &groups, Encoding::Json);
        let Ok(DiscoveryBody::Groups(again)) = DiscoveryBody::read(&printed) else { panic!("it reads back") };
        let mut reprinted = Vec::new();
        aggregated(&mut reprinted, AggregatedVersion::V2, &again, Encoding::Json);
        assert_eq!(printed, reprinted);
    }
    for profile in [Profile::Kube, Profile::Faithful] {
        for (path, document) in documents_of_v2(data, &OPTIONS, profile).unwrap_or_default() {
            assert!(path.starts_with("api"), "{path}");
            serde_json::from_slice::<serde::de::IgnoredAny>(&document).expect("JSON");
        }
    }
}

fn http_text(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}
