//! Checks an object.

use super::super::{Overlay, Steps};
use super::metadata::metadata_of_update;
use super::{At, Empty, Found, Guard, Rule, Scope, Test};
use crate::builtin::overlay::Phase;
use crate::builtin::overlay::edit::same;
use crate::typed::{Below, Typed, is_empty};
use kubeshape_schema::field::Path;
use kubeshape_value::Value;

impl Overlay {
    /// Checks a decoded object with defaults: its own rules of the phase, and those of all structs in it.
    pub(in crate::builtin) fn check(&self, types: &Typed, phase: Phase, scope: &Scope<'_>, found: &mut Found) {
        let Some(below) = types.root_below() else { return };
        let Some(rules) = self.structs.get(below.index).map(|steps| &steps.rules) else { return };
        let at = At { value: scope.root, path: &Path::Root, scope };
        let walk = Walk { overlay: self };
        let done = &mut Vec::new();
        match phase {
            Phase::Status => {
                walk.changes(rules.status.as_deref(), below, &at, found);
            }
            Phase::Update => {
                let rules = rules.update.as_deref();
                let goes_on = walk.changes(rules, below, &at, found);
                let is_done = rules.unwrap_or_default().iter().any(|rule| matches!(rule.test, Test::Always));
                if goes_on && !is_done {
                    walk.check(below, &at, found);
                }
            }
            _ => {
                walk.check(below, &at, found);
                walk.own(&rules.create, below, &at, done, found);
            }
        }
    }
}

struct Walk<'r> {
    overlay: &'r Overlay,
}

impl<'r> Walk<'r> {
    /// Runs a kind's rules about updates; without any, checks the metadata.
    fn changes(&self, rules: Option<&[Rule]>, below: Below<'_>, at: &At<'_, '_>, found: &mut Found) -> bool {
        match rules {
            None => {
                metadata_of_update(at, found);
                true
            }
            Some(rules) => self.own(rules, below, at, &mut Vec::new(), found),
        }
    }

    fn steps(&self, index: usize) -> Option<&'r Steps> {
        self.overlay.structs.get(index)
    }

    /// Runs the rules of a struct, then those of inner structs that its own rules have not run.
    fn check(&self, below: Below<'_>, at: &At<'_, '_>, found: &mut Found) {
        if !self.overlay.is_checked(below.index) || found.errors.is_full() {
            return;
        }
        let mut done = Vec::new();
        if let Some(steps) = self.steps(below.index)
            && !self.own(&steps.rules.always, below, at, &mut done, found)
        {
            return;
        }
        let Some(map) = at.value.as_map() else { return };
        for (name, value) in map.entries() {
            if !done.contains(name) {
                let path = at.path.child(name);
                below.each_in(name, *value, &path, &mut |below, value, path| {
                    self.check(below, &At { value, path, scope: at.scope }, found);
                });
            }
        }
    }

    /// Runs rules. Returns whether the following rules must run.
    fn own<'d>(
        &self,
        rules: &'d [Rule],
        below: Below<'_>,
        at: &At<'_, '_>,
        done: &mut Vec<&'d str>,
        found: &mut Found,
    ) -> bool
    where
        'r: 'd,
    {
        for rule in rules {
            if !rule.guards.iter().all(|guard| guard.holds(at.value, below)) {
                continue;
            }
            let before = found.errors.len();
            match &rule.test {
                Test::Group(rules) => {
                    if !self.own(rules, below, at, done, found) {
                        return false;
                    }
                }
                Test::Always => self.check(below, at, found),
                Test::OneOf(members, none) => one_of(members, none.as_deref(), rule, below, at, found),
                Test::In | Test::Skip => {
                    let Some(name) = rule.path.first() else { continue };
                    done.push(name);
                    if let (Test::In, Some(value)) = (&rule.test, at.value.get(name)) {
                        let path = at.path.child(name);
                        below.each_in(name, value, &path, &mut |below, value, path| {
                            self.check(below, &At { value, path, scope: at.scope }, found);
                        });
                    }
                }
                Test::Immutable => {
                    let new = rule.path.iter().try_fold(at.value, |value, key| value.get(key)).unwrap_or(Value::Null);
                    let old = at.scope.old.unwrap_or(Value::Null);
                    let old = rule.path.iter().try_fold(old, |value, key| value.get(key)).unwrap_or(Value::Null);
                    if !same(new, old) {
                        let detail = rule.detail.as_deref().unwrap_or("field is immutable");
                        with_path(&rule.path, at.path, &mut |path| found.invalid(path, new, detail));
                    }
                }
                _ => {
                    let is_pointer = || below.is_pointer(&rule.path);
                    descend(&rule.path, at.value, at.path, &mut |value, path| {
                        let field = At { value, path, scope: at.scope };
                        // Without a path, the rule is about the struct itself.
                        let field = if rule.path.is_empty() { *at } else { field };
                        rule.test(&field, &is_pointer, found);
                    });
                }
            }
            if rule.stops && found.errors.len() > before {
                return false;
            }
        }
        true
    }
}

/// Calls `with` with the path of members below another.
fn with_path(steps: &[String], path: &Path<'_>, with: &mut dyn FnMut(&Path<'_>)) {
    match steps.split_first() {
        None => with(path),
        Some((step, rest)) => with_path(rest, &path.child(step), with),
    }
}

/// Calls `with` for each value at a path. A missing member is `Null`; missing lists have no items.
fn descend<'a>(steps: &[String], value: Value<'a>, path: &Path<'_>, with: &mut dyn FnMut(Value<'a>, &Path<'_>)) {
    let Some((step, rest)) = steps.split_first() else { return with(value, path) };
    match step.as_str() {
        "[]" => {
            for (index, item) in value.as_list().unwrap_or_default().iter().enumerate() {
                descend(rest, *item, &path.index(index), with);
            }
        }
        "{}" => {
            for (key, item) in value.as_map().map(kubeshape_value::Map::entries).unwrap_or_default() {
                descend(rest, *item, &path.key(key), with);
            }
        }
        name => {
            let below = value.get(name);
            // Rules about parts of a struct do not apply to objects without the struct.
            if below.is_none() && !rest.is_empty() && !value.is_null() && rest.iter().any(|part| part == "[]") {
                return;
            }
            descend(rest, below.unwrap_or(Value::Null), &path.child(name), with);
        }
    }
}

fn one_of(members: &[String], none: Option<&str>, rule: &Rule, below: Below<'_>, at: &At<'_, '_>, found: &mut Found) {
    let mut is_first = true;
    for name in members.iter().filter(|name| below.is_set(at.value, std::slice::from_ref(name))) {
        if !is_first && let Some(detail) = &rule.detail {
            found.forbidden(&at.path.child(name), detail.clone());
        }
        is_first = false;
    }
    if let Some(detail) = none.filter(|_| is_first) {
        found.required(at.path, detail);
    }
}

impl Guard {
    fn holds(&self, value: Value<'_>, below: Below<'_>) -> bool {
        let text = |path: &[String]| path.iter().try_fold(value, |value, key| value.get(key)).and_then(Value::as_str);
        match self {
            Guard::If(path) => below.is_set(value, path),
            Guard::Unless(path) => !below.is_set(value, path),
            Guard::Is(path, texts) => {
                let text = text(path).unwrap_or_default();
                texts.iter().any(|one| one == text)
            }
            Guard::When(condition) => condition.holds(value),
        }
    }
}

impl Rule {
    fn detail(&self) -> &str {
        self.detail.as_deref().unwrap_or_default()
    }

    /// Tests one value. `Null` is a missing one.
    fn test(&self, at: &At<'_, '_>, is_pointer: &dyn Fn() -> bool, found: &mut Found) {
        let At { value, path, .. } = *at;
        let is_absent = || is_empty(value) && (value.is_null() || !is_pointer());
        match &self.test {
            Test::Native(check) => return check(at, found),
            Test::Required if is_absent() => return found.required(path, self.detail()),
            Test::Forbidden if !is_absent() => return found.forbidden(path, self.detail()),
            Test::Invalid => return found.invalid(path, value, self.detail()),
            Test::Warn(text) => {
                return found.warn(if self.path.is_empty() { text.clone() } else { format!("{path}: {text}") });
            }
            Test::Range(..) if value.is_null() && (self.empty == Empty::Skipped && is_pointer()) => return,
            Test::Range(min, max) if !(value.is_null() && self.empty == Empty::Required) => {
                let number = if let Value::Int(number) = value { number } else { 0 };
                let detail = match (min, max) {
                    (Some(min), Some(max)) if !(*min..=*max).contains(&number) => {
                        format!("must be between {min} and {max}, inclusive")
                    }
                    (Some(min), None) if number < *min => format!("must be greater than or equal to {min}"),
                    (None, Some(max)) if number > *max => format!("must be less than or equal to {max}"),
                    _ => return,
                };
                let detail = self.detail.clone().unwrap_or(detail);
                return found.invalid(path, Value::Int(number), detail);
            }
            _ => {}
        }
        if is_empty(value) {
            match self.empty {
                Empty::Skipped => return,
                Empty::Required => return found.required(path, self.detail()),
                Empty::Tested => {}
            }
        }
        let value = if value.is_null() { Value::String("") } else { value };
        match &self.test {
            Test::Enum(of) => {
                let text = value.as_str().unwrap_or_default();
                if !of.iter().any(|one| one == text) {
                    let of: Vec<&str> = of.iter().map(String::as_str).collect();
                    found.not_supported(path, value, &of);
                }
            }
            Test::Form(form) => form.check(value, path, found),
            Test::Unique(key) => unique(value, key.as_deref(), path, found),
            Test::MaxItems(most) => {
                let count = value.as_list().map_or(0, <[Value<'_>]>::len);
                if count > *most {
                    found.too_many(path, count, *most);
                }
            }
            Test::MaxBytes(most) if value.as_str().is_some_and(|text| text.len() > *most) => {
                found.too_long(path, *most);
            }
            _ => {}
        }
    }
}

fn unique(list: Value<'_>, key: Option<&str>, path: &Path<'_>, found: &mut Found) {
    let mut seen = std::collections::BTreeSet::new();
    for (index, item) in list.as_list().unwrap_or_default().iter().enumerate() {
        let own = match key {
            None => Some(*item),
            Some(key) => item.get(key),
        };
        let Some(own) = own.filter(|own| !is_empty(*own)) else { continue };
        if !seen.insert(own.to_string()) {
            let item = path.index(index);
            match key {
                None => found.duplicate(&item, own),
                Some(key) => found.duplicate(&item.child(key), own),
            }
        }
    }
}
