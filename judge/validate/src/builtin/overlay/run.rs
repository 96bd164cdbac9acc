//! Runs the steps on an object.

use super::edit::{at, with};
use super::{Action, Overlay, Phase, Request, Step, Steps};
use crate::builtin::Assigned;
use crate::object::{MAX_DEFAULTS, TooManyDefaults, deep_equal};
use crate::typed::{Below, Typed};
use kubeshape_value::{Bump, Map, Value};
use std::collections::BTreeSet;

impl Overlay {
    /// Adds the defaults of an object in the form of [`Typed::stored`]. A struct gets its own before those of inner
    /// structs.
    ///
    /// # Errors
    /// They exceed [`MAX_DEFAULTS`] bytes: the object is far larger than what a server stores.
    pub(in crate::builtin) fn with_defaults<'a>(
        &self,
        types: &Typed,
        object: Value<'a>,
        arena: &'a Bump,
    ) -> Result<Value<'a>, TooManyDefaults> {
        let mut inserted = 0;
        let defaulted = types.map(object, arena, &mut |below, value| {
            if inserted > MAX_DEFAULTS {
                return value;
            }
            let with = self.defaults(below, value, arena);
            inserted += json_of_members(with).saturating_sub(json_of_members(value));
            with
        });
        if inserted > MAX_DEFAULTS { Err(TooManyDefaults) } else { Ok(defaulted) }
    }

    fn defaults<'a>(&self, below: Below<'_>, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let Some(steps) = self.structs.get(below.index) else { return value };
        let mut value = value;
        for step in &steps.defaults {
            let is_kept = step.keeps_empty && at(value, &step.path).is_some_and(|found| !found.is_null());
            let is_set = matches!(step.action, Action::To(_) | Action::From(_)) && below.is_set(value, &step.path);
            let is_set = is_set || is_kept;
            if !is_set && step.applies(value) {
                value = step.run(value, Request { assigned: Assigned::default(), old: None, arena });
            }
        }
        for (name, default) in below.document_defaults() {
            if !below.is_set(value, &[name.to_owned()]) {
                value = with(value, &[name], Some(default.value(arena)), arena);
            }
        }
        value
    }

    /// Removes the values that defaulting would add again.
    pub(in crate::builtin) fn without_defaults<'a>(
        &self,
        types: &Typed,
        object: Value<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        let bare = types.map(object, arena, &mut |below, value| {
            let Some(steps) = self.structs.get(below.index) else { return value };
            // Later steps may have read values of earlier ones.
            steps.defaults.iter().rev().fold(value, |value, step| step.undone(value, arena))
        });
        // If defaults depend on each other, the object keeps all.
        let is_whole = self.with_defaults(types, bare, arena).is_ok_and(|again| deep_equal(again, object));
        if is_whole { bare } else { object }
    }

    /// Drops the fields of features that are off, unless the old object has them, too.
    pub(in crate::builtin) fn without_disabled<'a>(
        &self,
        types: &Typed,
        object: Value<'a>,
        old: Option<Value<'a>>,
        arena: &'a Bump,
    ) -> Value<'a> {
        if self.structs.iter().all(|steps| steps.disabled.is_empty()) {
            return object;
        }
        let mut used = BTreeSet::new();
        if let Some(old) = old {
            types.map(old, arena, &mut |below, value| {
                let disabled = self.disabled(below.index);
                used.extend(disabled.iter().filter(|path| at(value, path).is_some()).map(|path| (below.index, *path)));
                value
            });
        }
        types.map(object, arena, &mut |below, value| {
            let disabled = self.disabled(below.index).into_iter().filter(|path| !used.contains(&(below.index, *path)));
            disabled.fold(value, |value, path| without(value, path, arena))
        })
    }

    fn disabled(&self, at: usize) -> Vec<&Vec<String>> {
        self.structs.get(at).map(|steps| steps.disabled.iter().collect()).unwrap_or_default()
    }

    /// Runs the steps of the object's own struct; `None` if there are none for the phase.
    pub(in crate::builtin) fn run<'a>(
        &self,
        types: &Typed,
        phase: Phase,
        object: Value<'a>,
        request: Request<'a>,
    ) -> Option<Value<'a>> {
        let steps: &Steps = self.structs.get(types.root_struct()?)?;
        let steps = match phase {
            Phase::Create => &steps.create,
            Phase::Allocate => &steps.allocate,
            Phase::Update => &steps.update,
            Phase::Status => &steps.status,
        };
        let run = |value, step: &Step| if step.applies(value) { step.run(value, request) } else { value };
        Some(steps.as_ref()?.iter().fold(object, run))
    }
}

impl Step {
    fn applies(&self, value: Value<'_>) -> bool {
        self.when.as_ref().is_none_or(|condition| condition.holds(value))
    }

    /// Returns a struct without the value that this step adds.
    fn undone<'a>(&self, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let Some(found) = at(value, &self.path).filter(|_| !self.path.is_empty()) else { return value };
        let bare = without(value, &self.path, arena);
        let request = Request { assigned: Assigned::default(), old: None, arena };
        let again = if self.applies(bare) { at(self.run(bare, request), &self.path) } else { None };
        if again.is_some_and(|again| deep_equal(again, found)) { bare } else { value }
    }

    fn run<'a>(&self, value: Value<'a>, request: Request<'a>) -> Value<'a> {
        let Request { old, arena, .. } = request;
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match &self.action {
            Action::To(literal) | Action::Put(literal) => with(value, &path, Some(literal.value(arena)), arena),
            Action::From(source) => match at(value, source) {
                Some(found) => with(value, &path, Some(found), arena),
                None => value,
            },
            Action::By(native) => native.run(value, &path, request),
            Action::Drop => with(value, &path, None, arena),
            Action::Keep => with(value, &path, old.and_then(|old| at(old, &self.path)), arena),
        }
    }
}

/// Returns the bytes of the JSON of a struct's own members, without nested values.
fn json_of_members(value: Value<'_>) -> usize {
    let members = value.as_map().map(Map::entries).unwrap_or_default();
    members.iter().map(|(key, value)| key.len() + 4 + value.as_str().map_or(2, str::len)).sum()
}

/// Removes a field, and the structs that become empty.
fn without<'a>(value: Value<'a>, path: &[String], arena: &'a Bump) -> Value<'a> {
    let Some((last, rest)) = path.split_last() else { return value };
    let Some(parent) = at(value, rest).filter(|parent| parent.get(last).is_some()) else { return value };
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let is_only = parent.as_map().is_some_and(|map| map.len() == 1);
    with(value, if is_only && !rest.is_empty() { &names[..rest.len()] } else { &names }, None, arena)
}
