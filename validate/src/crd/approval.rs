//! The approval that groups of Kubernetes itself need.

use super::check::Checker;
use super::model::Definition;
use kubeshape_schema::field::{Error, Path};
use kubeshape_yaml::go::Url;

const API_APPROVED: &str = "api-approved.kubernetes.io";

impl Checker<'_> {
    /// `validateAPIApproval`
    pub(super) fn approval(&mut self, definition: &Definition<'_>, old: Option<&Definition<'_>>) {
        let group = definition.spec.group;
        let protected = ["k8s.io", "kubernetes.io"]
            .into_iter()
            .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
        if !protected {
            return;
        }
        let annotation = definition.metadata.annotation(API_APPROVED);
        let state = approval_state(annotation);
        if old.is_some_and(|old| approval_state(old.metadata.annotation(API_APPROVED)) == state) {
            return;
        }
        let metadata = Path::Root.child("metadata");
        let annotations = metadata.child("annotations");
        let path = annotations.key(API_APPROVED);
        let at = definition.metadata.at("annotations");
        let must = format!("protected groups must have approval annotation \"{API_APPROVED}\"");
        let see = "see https://github.com/kubernetes/enhancements/pull/1111";
        match state {
            Approval::Given => {}
            Approval::Missing => self.errors.push(Error::required(&path, format!("{must}, {see}"), at)),
            Approval::Invalid => {
                let detail = format!("{must} with either a URL or a reason starting with \"unapproved\", {see}");
                self.errors.push(Error::invalid(&path, annotation, detail, at));
            }
        }
    }
}

/// `APIApprovalState`. Upstream distinguishes approved APIs from those that say that they are not.
#[derive(PartialEq, Eq)]
enum Approval {
    Given,
    Missing,
    Invalid,
}

fn approval_state(annotation: &str) -> Approval {
    if annotation.is_empty() {
        Approval::Missing
    } else if annotation.starts_with("unapproved")
        || Url::parse_request_uri(annotation).is_ok_and(|url| !url.host().is_empty() && !url.scheme().is_empty())
    {
        Approval::Given
    } else {
        Approval::Invalid
    }
}
