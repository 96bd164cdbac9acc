//! Releases of Helm among live objects.

use super::Objects;
use crate::session::Session;
use crate::session::object::Object as Positioned;
use kubeshape_input::{Code, Finding};
use kubeshape_ownership::helm::{HelmRelease, MAX_RELEASES};
use kubeshape_registry::Object;

/// A release, and its objects.
pub(super) struct Deployed {
    pub(super) release: HelmRelease,
    pub(super) objects: Vec<Object>,
}

/// Returns the current revision of a release, from its Secrets among the live objects. Reports if it has none there.
pub(super) fn find(name: &str, live: &Objects<'_>, session: &mut Session<'_>) -> Option<Deployed> {
    let mut current = None;
    let mut names = Vec::new();
    let mut left = MAX_RELEASES;
    for (object, positioned) in live.objects.iter().zip(&live.positioned) {
        if !HelmRelease::is_stored_in(object) {
            continue;
        }
        if let Some(other) = HelmRelease::name_of(object).filter(|other| *other != name) {
            names.push(other.to_owned());
            continue;
        }
        match HelmRelease::read(object, &mut left) {
            // Only one revision is kept: each may be large.
            Ok(release) if release.name == name => current = HelmRelease::current(current.into_iter().chain([release])),
            Ok(release) => names.push(release.name),
            Err(error) => refused(positioned, &error.to_string(), session),
        }
    }
    let Some(release) = current else {
        names.sort();
        names.dedup();
        let others = if names.is_empty() {
            "; the Secrets are in the namespace of the release: kubectl get secret -l owner=helm -o yaml".to_owned()
        } else {
            format!("; there are {}", names.join(", "))
        };
        let detail = format!("found no release {name:?} of Helm among the live objects{others}");
        session.report(&Finding::new(Code::NotAnObject, detail));
        return None;
    };
    let input = format!("release {} revision {}", release.name, release.revision);
    let (objects, findings) = Object::read_all(input, &release.manifest);
    for finding in &findings {
        session.report(finding);
    }
    Some(Deployed { release, objects })
}

fn refused(object: &Positioned<'_>, why: &str, session: &mut Session<'_>) {
    let at = object.at_pointer("/data/release").shown();
    session.report(&object.finding(Code::NotAnObject, at, why));
}
