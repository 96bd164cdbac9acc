//! A release that records the questions about it, and so the range of releases for which the answers are the same.

use crate::Release;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A release that records the questions about it, and so which other releases have the same answers.
///
/// All code that depends on a release asks this type, so that a verdict applies to all releases in
/// [`same`](AskedRelease::same). The release itself is private, so that no question is missed. Clones share the record,
/// also between threads.
///
/// # Example
/// ```
/// use kubeshape_schema::{AskedRelease, Release};
///
/// let asked = AskedRelease::from(Release::nearest(36));
/// assert!(asked.has(Release::nearest(35)) && !asked.has(Release::nearest(37)));
/// let same: Vec<String> = Release::all().filter(|release| asked.same(*release)).map(|r| r.to_string()).collect();
/// assert_eq!(same, ["1.35", "1.36"]);
/// ```
#[derive(Clone, Debug)]
pub struct AskedRelease {
    release: Release,
    answers: Arc<SameAnswers>,
}

impl AskedRelease {
    /// Returns whether the release has what came with a release or a change, and records the question.
    pub fn has(&self, since: impl Into<Release>) -> bool {
        let (minor, since) = (self.release.minor(), since.into().minor());
        let has = minor >= since;
        let kept = if has { since..=u8::MAX } else { 0..=since.saturating_sub(1) };
        self.answers.narrow(&kept);
        has
    }

    /// Returns whether another release has the same answers to all recorded questions.
    pub fn same(&self, release: Release) -> bool {
        let prepared = self.answers.prepared.as_ref();
        let of = |answers: &SameAnswers| answers.range().contains(&release.minor());
        of(&self.answers) && prepared.is_none_or(|prepared| of(prepared))
    }

    /// Returns the same release with its own record, for one object. [`same`](Self::same) of the result also considers
    /// the questions that were and will be asked here: those about what is prepared for all objects.
    #[must_use]
    pub fn for_one(&self) -> AskedRelease {
        let prepared = self.answers.prepared.as_ref().unwrap_or(&self.answers);
        let answers = SameAnswers { prepared: Some(Arc::clone(prepared)), ..SameAnswers::default() };
        AskedRelease { release: self.release, answers: Arc::new(answers) }
    }

    /// Returns the same release without recorded questions.
    #[must_use]
    pub fn apart(&self) -> AskedRelease {
        self.release.into()
    }

    /// Records that only this release has the answer.
    pub fn narrow_to_this(&self) {
        let minor = self.release.minor();
        self.answers.narrow(&(minor..=minor));
    }

    /// Returns the minor numbers of the releases that have the same answers, without those about what was prepared.
    pub fn range(&self) -> RangeInclusive<u8> {
        self.answers.range()
    }

    /// Returns whether the release itself is in a range of minor numbers.
    pub fn is_in(&self, releases: &RangeInclusive<u8>) -> bool {
        releases.contains(&self.release.minor())
    }

    /// Narrows the releases with the same answers to those with these minor numbers.
    pub fn narrow(&self, releases: &RangeInclusive<u8>) {
        self.answers.narrow(releases);
    }
}

impl From<Release> for AskedRelease {
    fn from(release: Release) -> AskedRelease {
        AskedRelease { release, answers: Arc::default() }
    }
}

impl From<&AskedRelease> for AskedRelease {
    fn from(release: &AskedRelease) -> AskedRelease {
        release.clone()
    }
}

/// The range of minor releases for which every recorded question has the same answer.
///
/// It begins with all releases, and every question narrows it.
#[derive(Debug)]
struct SameAnswers {
    from: AtomicU8,
    to: AtomicU8,
    /// The questions that were asked in preparation, for all objects. Empty if there was no preparation.
    prepared: Option<Arc<SameAnswers>>,
}

impl Default for SameAnswers {
    fn default() -> SameAnswers {
        SameAnswers { from: AtomicU8::new(0), to: AtomicU8::new(u8::MAX), prepared: None }
    }
}

impl SameAnswers {
    fn range(&self) -> RangeInclusive<u8> {
        self.from.load(Ordering::Relaxed)..=self.to.load(Ordering::Relaxed)
    }

    fn narrow(&self, kept: &RangeInclusive<u8>) {
        // Most questions change nothing. Then threads only read and do not disturb each other.
        if self.from.load(Ordering::Relaxed) < *kept.start() {
            self.from.fetch_max(*kept.start(), Ordering::Relaxed);
        }
        if self.to.load(Ordering::Relaxed) > *kept.end() {
            self.to.fetch_min(*kept.end(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_narrow_the_releases_with_the_same_answers() {
        let asked = AskedRelease::from(Release::nearest(34));
        assert!(asked.has(Release::nearest(30)) && !asked.has(Release::nearest(36)));
        assert_eq!(asked.range(), 30..=35);
        let one = asked.for_one();
        assert!(!one.has(Release::nearest(35)));
        assert_eq!(one.range(), 0..=34);
        assert!(!one.same(Release::nearest(29)), "a question in preparation");
        assert!(one.same(Release::nearest(31)) && !one.same(Release::nearest(35)) && asked.same(Release::nearest(35)));
        one.narrow_to_this();
        assert!(one.same(Release::nearest(34)) && !one.same(Release::nearest(33)));
        assert_eq!(asked.apart().range(), 0..=u8::MAX);
        assert!(asked.is_in(&(34..=36)) && !asked.is_in(&(35..=36)));
    }
}
