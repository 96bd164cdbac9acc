//! What only some of the releases that were asked say.

use kubeshape_input::Finding;
use kubeshape_schema::{Release, runs};

/// A finding with the releases that have it, unless all of them do.
pub(crate) fn of_releases(mut finding: Finding, mut releases: Vec<Release>, all: usize) -> Finding {
    releases.sort_unstable();
    releases.dedup();
    if let Some(text) = on_some(&releases, all) {
        finding.releases = releases.iter().map(ToString::to_string).collect();
        finding.notes.push(text);
    }
    finding
}

/// `on Kubernetes 1.28 to 1.30`, unless it is all of so many releases. They are in order.
pub(crate) fn on_some(releases: &[Release], all: usize) -> Option<String> {
    (releases.len() < all).then(|| format!("on Kubernetes {}", runs(releases)))
}
