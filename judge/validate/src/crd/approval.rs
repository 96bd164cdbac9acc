//! The approval that API groups of Kubernetes itself need.

use super::check::Checker;
use super::model::Definition;
use kubeshape_schema::field::{Error, Path};
use kubeshape_yaml::go::Url;
use kubeshape_yaml::go::escape::GoQuoted;

/// The annotation with the approval.
const API_APPROVED: &str = "api-approved.kubernetes.io";

impl Checker<'_> {
    /// `validateAPIApproval`
    pub(super) fn approval(&mut self, definition: &Definition<'_>, old: Option<&Definition<'_>>) {
        let annotation = definition.metadata.annotation(API_APPROVED);
        let Some((state, message)) = approval(definition.spec.group, annotation) else { return };
        let is_given = |state: Approval| matches!(state, Approval::Approved | Approval::Bypassed);
        if is_given(state) {
            return;
        }
        let before = old.and_then(|old| approval(definition.spec.group, old.metadata.annotation(API_APPROVED)));
        if before.is_some_and(|(before, _)| before == state) {
            return;
        }
        let metadata = Path::Root.child("metadata");
        let annotations = metadata.child("annotations");
        let path = annotations.key(API_APPROVED);
        let at = definition.metadata.at("annotations");
        self.errors.push(match state {
            Approval::Missing => Error::required(&path, message, at),
            _ => Error::invalid(&path, annotation, message, at),
        });
    }
}

/// The approval of a definition in a group of Kubernetes itself: `APIApprovalState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// The annotation names a URL.
    Approved,
    /// The annotation says that it is not approved.
    Bypassed,
    /// There is no annotation.
    Missing,
    /// The annotation has another value.
    Invalid,
}

/// Returns the approval of a group from the annotation of a definition, and the server's message:
/// `GetAPIApprovalState`. `None` for groups that need none.
///
/// # Example
/// ```
/// use kubeshape_validate::crd::{Approval, approval};
///
/// assert_eq!(approval("example.com", ""), None);
/// let (state, message) = approval("x.k8s.io", "https://example.com/1").unwrap();
/// assert_eq!((state, &*message), (Approval::Approved, "approved in https://example.com/1"));
/// ```
pub fn approval(group: &str, annotation: &str) -> Option<(Approval, String)> {
    let protected = ["k8s.io", "kubernetes.io"]
        .into_iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    if !protected {
        return None;
    }
    let must = format!("protected groups must have approval annotation \"{API_APPROVED}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    Some(if annotation.is_empty() {
        (Approval::Missing, format!("{must}, {see}"))
    } else if annotation.starts_with("unapproved") {
        (Approval::Bypassed, format!("not approved: {}", GoQuoted(annotation)))
    } else if Url::parse_request_uri(annotation).is_ok_and(|url| !url.host().is_empty() && !url.scheme().is_empty()) {
        (Approval::Approved, format!("approved in {annotation}"))
    } else {
        (Approval::Invalid, format!("{must} with either a URL or a reason starting with \"unapproved\", {see}"))
    })
}
