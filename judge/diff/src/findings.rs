//! The changes found, and the values that show them.

use crate::change::{Change, MarkedIn};
use crate::server_fields::Role;
use kubeshape_sample::Step;
use kubeshape_schema::Schema;

/// The part of a value that a change is about.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// The value itself.
    Value,
    /// A field of the value.
    Field(&'a str),
    /// A keyword of its schema.
    Keyword(&'static str),
}

/// A value that a change is about.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub(crate) old: Schema<'a>,
    pub(crate) new: Schema<'a>,
    /// Additional requirements of the old server.
    pub(crate) also: Option<&'static Schema<'static>>,
    /// The role of the value for the old server.
    pub(crate) own: Role,
    /// How to reach the value; see [`Findings::steps`].
    pub(crate) trail: usize,
    pub(crate) subject: Subject<'a>,
}

/// Changes, each with its value. The value is `None` if the change is not about values.
#[derive(Default)]
pub(crate) struct Findings<'a> {
    pub(crate) changes: Vec<Change>,
    pub(crate) spots: Vec<Option<Spot<'a>>>,
    /// Each step with the trail before it, numbered from 1. Trail 0 is the whole object.
    trail: Vec<(usize, Step<'a>)>,
}

impl<'a> Findings<'a> {
    pub(crate) fn push(&mut self, change: Change, spot: Option<&Spot<'a>>) {
        self.changes.push(change);
        self.spots.push(spot.copied());
    }

    /// Says which part of its place the last change is about.
    pub(crate) fn part(&mut self, part: &[&str]) {
        if let Some(change) = self.changes.last_mut() {
            change.part = part.iter().map(|step| (*step).to_owned()).collect();
        }
    }

    /// Says that the last change is about a part that only the old definition has.
    pub(crate) fn removed(&mut self, part: &[&str]) {
        self.part(part);
        if let Some(change) = self.changes.last_mut() {
            change.marked_in = MarkedIn::Old;
        }
    }

    /// Says that the last change is about a part that only the new definition has.
    pub(crate) fn added(&mut self, part: &[&str]) {
        self.part(part);
        if let Some(change) = self.changes.last_mut() {
            change.marked_in = MarkedIn::New;
        }
    }

    /// Adds a step to a trail.
    pub(crate) fn step(&mut self, trail: usize, step: Step<'a>) -> usize {
        self.trail.push((trail, step));
        self.trail.len()
    }

    /// Returns the steps of a trail, from the whole object.
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
