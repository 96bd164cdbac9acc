//! What several releases say about an object, each of them asked only if it can say something else.

use super::worker::{Context, Opinion, Verdict};
use crate::report::of_releases;
use kubeshape_input::Finding;
use kubeshape_registry::Gvk;
use kubeshape_schema::Release;

/// The opinion of some releases.
struct Group<'c, 'a> {
    /// That of the release that was asked.
    context: &'c Context<'a>,
    releases: Vec<Release>,
    opinion: Opinion,
}

/// What all releases say together: the object is accepted if each of them accepts it, and a finding that only some have
/// names these. `judge` asks one.
pub(super) fn joined<'a>(
    contexts: &[Context<'a>],
    newest: &Context<'a>,
    gvk: Gvk<'_>,
    mut judge: impl FnMut(&Context<'a>) -> Opinion,
) -> Opinion {
    let first = judge(newest);
    let [_, older @ ..] = contexts else { return first };
    if older.is_empty() {
        return first;
    }
    let mut groups = vec![Group { context: newest, releases: vec![newest.release], opinion: first }];
    for context in older.iter().filter(|context| context.knows(gvk, newest)) {
        match groups.iter_mut().find(|group| group.context.says_the_same(gvk, context.release)) {
            Some(group) => group.releases.push(context.release),
            None => groups.push(Group { context, releases: vec![context.release], opinion: judge(context) }),
        }
    }
    join(groups)
}

impl Context<'_> {
    /// Whether the release can judge objects of a kind. Built-in kinds of the oldest releases are not known.
    fn knows(&self, gvk: Gvk<'_>, newest: &Context<'_>) -> bool {
        self.kinds.built_in_release().is_some()
            || newest.kinds.built_in_release().is_none()
            || newest.kinds.resource(gvk).is_some()
    }

    /// Whether another release says the same about the object that was judged last: nothing was asked in which they
    /// differ.
    fn says_the_same(&self, gvk: Gvk<'_>, release: Release) -> bool {
        let resource = self.kinds.resource(gvk).filter(|_| self.policies.is_none());
        resource.is_some_and(|(resource, _)| resource.release.same(release)) && self.kinds.lifecycles(gvk).is_none()
    }
}

fn join(groups: Vec<Group<'_, '_>>) -> Opinion {
    let all = groups.iter().map(|group| group.releases.len()).sum();
    let mut findings: Vec<(Finding, Vec<Release>)> = Vec::new();
    let (mut verdict, mut kinded) = (None, None);
    for Group { releases, opinion, .. } in groups {
        for finding in opinion.findings {
            let is_new = |known: &[Release]| !known.iter().any(|release| releases.contains(release));
            let same =
                findings.iter().position(|(known, _)| known.detail == finding.detail && is_alike(known, &finding));
            let alike = || findings.iter().position(|(known, of)| is_new(of) && is_alike(known, &finding));
            match same.or_else(alike).and_then(|at| findings.get_mut(at)) {
                Some((_, known)) => known.extend(&releases),
                None => findings.push((finding, releases.clone())),
            }
        }
        verdict = Some(match (verdict, opinion.verdict) {
            (Some(Verdict::Accepted(_)), other @ (Verdict::Refused | Verdict::Unknown)) => other,
            (Some(Verdict::Unknown), Verdict::Refused) => Verdict::Refused,
            (Some(newer), _) => newer,
            (None, newest) => newest,
        });
        kinded = kinded.or(opinion.kinded);
    }
    let findings = findings.into_iter().map(|(finding, releases)| of_releases(finding, releases, all)).collect();
    Opinion { verdict: verdict.unwrap_or(Verdict::Unknown), findings, kinded }
}

/// Whether two findings about an object are the same error at the same place, maybe in other words: those of the newest
/// release are shown.
fn is_alike(a: &Finding, b: &Finding) -> bool {
    // `spec.size: Invalid value`
    fn head(finding: &Finding) -> impl Iterator<Item = &str> {
        finding.detail.splitn(3, ": ").take(2)
    }
    (a.code, &a.place) == (b.code, &b.place) && head(a).eq(head(b))
}
