//! What several releases say about an object. A release is asked only if it can say something else than another one.

use super::worker::{self, Context, Opinion, Verdict};
use crate::report::of_releases;
use kubeshape_input::Finding;
use kubeshape_registry::Gvk;
use kubeshape_schema::Release;
use kubeshape_smd::{Bump, Value};

/// The opinion of some releases.
struct Group {
    releases: Vec<Release>,
    opinion: Opinion,
    /// The contexts that can have another opinion because the kind differs: a bit for each.
    differing: u64,
}

/// What all releases say together: the object is accepted if each of them accepts it, and a finding that only some have
/// names these. `judge` asks one.
pub(super) fn joined<'a>(
    contexts: &[Context<'a>],
    newest: &Context<'a>,
    object: Value<'_>,
    mut judge: impl FnMut(&Context<'a>) -> Opinion,
) -> Opinion {
    let gvk = object.gvk();
    let mut group = |context: &Context<'a>| {
        let opinion = judge(context);
        let is_built_in = contexts.len() > 1 && opinion.asked.is_some() && opinion.kinded.is_some();
        let differing = if is_built_in { context.differing(contexts, object) } else { 0 };
        Group { releases: vec![context.release], opinion, differing }
    };
    let first = group(newest);
    let [_, older @ ..] = contexts else { return first.opinion };
    if older.is_empty() {
        return first.opinion;
    }
    let mut groups = vec![first];
    for (number, context) in (1..).zip(older).filter(|(_, context)| context.knows(gvk, newest)) {
        match groups.iter_mut().find(|group| group.says_the_same(context.release, number)) {
            Some(group) => group.releases.push(context.release),
            None => groups.push(group(context)),
        }
    }
    join(groups)
}

impl Group {
    /// Whether the release of a context says the same about the object: its kind does not differ where the object has
    /// values, and nothing was asked in which the releases differ.
    fn says_the_same(&self, release: Release, number: u32) -> bool {
        let is_alike = 1u64.checked_shl(number).is_some_and(|bit| self.differing & bit == 0);
        is_alike && self.opinion.asked.as_ref().is_some_and(|asked| asked.same(release))
    }
}

impl<'a> Context<'a> {
    /// Whether the release can judge objects of a kind. Built-in kinds of the oldest releases are not known.
    fn knows(&self, gvk: Gvk<'_>, newest: &Context<'_>) -> bool {
        self.kinds.built_in_release().is_some()
            || newest.kinds.built_in_release().is_none()
            || newest.kinds.resource(gvk).is_some()
    }

    /// Returns the contexts in which the kind of an object differs where it, or the object that it replaces, has
    /// values.
    fn differing(&self, contexts: &[Context<'a>], object: Value<'_>) -> u64 {
        let all = || contexts.iter().map(|context| &context.kinds);
        let own = self.kinds.differing(object.gvk(), object, all());
        let old = worker::identity(object).filter(|_| !self.old.is_empty());
        let of_old = old.and_then(|identity| self.old.get(&identity)).map_or(0, |old| {
            let arena = Bump::new();
            self.kinds.differing(object.gvk(), Value::from_node(old.node(), &arena), all())
        });
        own | of_old
    }
}

fn join(groups: Vec<Group>) -> Opinion {
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
    Opinion { verdict: verdict.unwrap_or(Verdict::Unknown), findings, kinded, asked: None }
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
