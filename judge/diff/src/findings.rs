//! The changes that are found, and where objects show them.

use crate::change::Change;
use crate::server_fields::Own;
use kubeshape_sample::Step;
use kubeshape_schema::Schema;

/// What of a value a change is about.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// The value itself.
    Value,
    /// A field of it.
    Field(&'a str),
    /// A keyword of its schema.
    Keyword(&'static str),
}

/// A value that a change is about.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub(crate) old: Schema<'a>,
    pub(crate) new: Schema<'a>,
    /// What the old server demands beside its schema.
    pub(crate) also: Option<&'static Schema<'static>>,
    /// What the value is to the old server.
    pub(crate) own: Own,
    /// How it is reached; see [`Found::steps`].
    pub(crate) trail: usize,
    pub(crate) subject: Subject<'a>,
}

/// Changes, each with its value; none for what is not about values.
#[derive(Default)]
pub(crate) struct Found<'a> {
    pub(crate) changes: Vec<Change>,
    pub(crate) spots: Vec<Option<Spot<'a>>>,
    /// Steps with the ones before them, numbered from 1; 0 is the whole object.
    trail: Vec<(usize, Step<'a>)>,
}

impl<'a> Found<'a> {
    pub(crate) fn push(&mut self, change: Change, spot: Option<&Spot<'a>>) {
        self.changes.push(change);
        self.spots.push(spot.copied());
    }

    /// One step more.
    pub(crate) fn step(&mut self, trail: usize, step: Step<'a>) -> usize {
        self.trail.push((trail, step));
        self.trail.len()
    }

    /// The steps of a trail, from the whole object.
    pub(crate) fn steps(&self, trail: usize) -> Vec<Step<'a>> {
        let mut out = Vec::new();
        let mut at = trail;
        while let Some((before, step)) = at.checked_sub(1).and_then(|at| self.trail.get(at)) {
            out.push(*step);
            at = *before;
        }
        out.reverse();
        out
    }
}
