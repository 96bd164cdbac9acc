//! The walk over an object that evaluates the rules of its values within one budget.

use super::{Compiled, CompiledRule, Node, ReadyRule, RuleOutcome, Rules, Source};
use crate::object::correlate::{Correlation, OldItems};
use crate::object::equal::Printing;
use crate::release::Change;
use kubeshape_cel::{Program, Value as CelValue};
use kubeshape_schema::Schema;
use kubeshape_schema::field::{BadValue, Error, ErrorType, Errors, Path};
use kubeshape_value::{Map, Stop, Value};
use kubeshape_yaml::go::escape::GoQuoted;
use std::cell::Cell;

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";
const CALL_LIMIT: &str = "operation cancelled: actual cost limit exceeded";

/// The limits of the evaluation of the rules on an object.
#[derive(Clone, Copy, Debug)]
pub(in crate::object) struct Bounds<'s> {
    /// The cost limit of all evaluations together.
    pub(in crate::object) budget: i64,
    pub(in crate::object) stop: Stop<'s>,
}

/// Evaluates the rules on an object.
pub(super) fn run<'v>(
    rules: &Rules<'_>,
    object: Value<'v>,
    old: Option<Value<'v>>,
    ratcheting: bool,
    path: &Path<'_>,
    Bounds { budget, stop }: Bounds<'_>,
) -> RuleOutcome {
    let mut walk = Walk { rules, budget, stop, steps: 0, errors: Errors::default(), ratcheted: Errors::default() };
    let root = old.filter(|_| ratcheting).map(|old| Pair::new(Correlation::new(object, old, rules.schema)));
    let ratchet = Ratchet { current: root.as_ref(), nearest: None };
    walk.node(&rules.root, Place { schema: rules.schema, value: object, old, path, ratchet });
    RuleOutcome { errors: walk.errors.into_vec(), ratcheted: walk.ratcheted.into_vec(), remaining_budget: walk.budget }
}

/// A pair of values. Whether they are equal is computed on demand.
struct Pair<'v, 's> {
    values: Correlation<'v, &'s Schema<'s>>,
    unchanged: Cell<Option<bool>>,
}

impl<'v, 's> Pair<'v, 's> {
    fn new(values: Correlation<'v, &'s Schema<'s>>) -> Self {
        Pair { values, unchanged: Cell::new(None) }
    }

    fn is_unchanged(&self) -> bool {
        self.unchanged.get().unwrap_or_else(|| {
            let unchanged = self.values.is_unchanged();
            self.unchanged.set(Some(unchanged));
            unchanged
        })
    }
}

/// The old value that decides whether an error is new: `ratchetingOptions`.
#[derive(Clone, Copy)]
struct Ratchet<'f, 'v, 's> {
    current: Option<&'f Pair<'v, 's>>,
    /// The nearest value above that has an old one.
    nearest: Option<&'f Pair<'v, 's>>,
}

impl<'f, 'v, 's> Ratchet<'f, 'v, 's> {
    fn drops_errors(self) -> bool {
        self.current.or(self.nearest).is_some_and(Pair::is_unchanged)
    }

    /// Returns the ratchet of a value below, with its pair.
    fn below(self, pair: Option<&'f Pair<'v, 's>>) -> Self {
        match self.current {
            None => self,
            Some(current) => Ratchet { current: pair, nearest: Some(current) },
        }
    }

    fn key(self, key: &str) -> Option<Pair<'v, 's>> {
        Some(Pair::new(self.current?.values.key(key)?))
    }

    /// Returns whether the value at a key is the type of the object itself, to which both objects were converted.
    fn is_own_type(self, key: &str) -> bool {
        self.current.is_some() && self.nearest.is_none() && matches!(key, "apiVersion" | "kind")
    }
}

/// A value of the object and facts about its place.
#[derive(Clone, Copy)]
struct Place<'p, 'v, 's> {
    schema: &'s Schema<'s>,
    value: Value<'v>,
    old: Option<Value<'v>>,
    path: &'p Path<'p>,
    ratchet: Ratchet<'p, 'v, 's>,
}

struct Walk<'r> {
    rules: &'r Rules<'r>,
    /// Negative when nothing may run any more.
    budget: i64,
    stop: Stop<'r>,
    /// Work of evaluations in addition to their cost. All of them together have the limit of a single one.
    steps: u64,
    errors: Errors,
    ratcheted: Errors,
}

impl<'r> Walk<'r> {
    /// Recursion is bounded: schemas nest only as deep as their reader allows.
    fn node<'v>(&mut self, node: &'r Node<'r>, place: Place<'_, 'v, 'r>) {
        if place.value.is_null() {
            return;
        }
        if self.stop.is_set() {
            self.budget = -1;
            return;
        }
        if !node.sources.is_empty() {
            self.rules_of(node, place);
        }
        for branch in &node.all_of {
            if self.budget < 0 {
                return;
            }
            let ratchet = Ratchet { current: None, nearest: place.ratchet.nearest };
            self.node(branch, Place { ratchet, ..place });
        }
        if self.budget < 0 {
            return;
        }
        match place.value {
            Value::List(items) => self.items(node, items, place),
            Value::Map(map) => self.fields(node, map, place),
            _ => {}
        }
    }

    fn items<'v>(&mut self, node: &'r Node<'r>, items: &'v [Value<'v>], place: Place<'_, 'v, 'r>) {
        let (Some(below), Some(schema)) = (&node.items, place.schema.item()) else { return };
        let old_items = place.old.and_then(|old| OldItems::new(old, place.schema));
        let pairs = place.ratchet.current.and_then(|pair| Some((pair.values, pair.values.items()?)));
        for (at, item) in items.iter().enumerate() {
            let pair = pairs.as_ref().and_then(|(list, old)| Some(Pair::new(list.item(*item, old.get(*item)?)?)));
            let path = place.path.index(at);
            let old = old_items.as_ref().and_then(|old| old.get(*item));
            let ratchet = place.ratchet.below(pair.as_ref());
            self.node(below, Place { schema, value: *item, old, path: &path, ratchet });
            if self.budget < 0 {
                return;
            }
        }
    }

    fn fields<'v>(&mut self, node: &'r Node<'r>, map: Map<'v>, place: Place<'_, 'v, 'r>) {
        let correlatable = matches!(place.schema.extra().map_type, None | Some("granular" | "atomic"));
        let old_map = place.old.filter(|_| correlatable).and_then(Value::as_map);
        if let (Some(below), Some(schema)) = (&node.additional, place.schema.additional_schema()) {
            for (key, value) in map.entries() {
                self.field(below, key, *value, old_map, schema, &place.path.key(key), place.ratchet);
                if self.budget < 0 {
                    return;
                }
            }
        }
        for (name, below) in &node.properties {
            if let (Some(value), Some(schema)) = (map.get(name), place.schema.property(name)) {
                self.field(below, name, value, old_map, schema, &place.path.child(name), place.ratchet);
                if self.budget < 0 {
                    return;
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a place")]
    fn field<'v>(
        &mut self,
        node: &'r Node<'r>,
        key: &str,
        value: Value<'v>,
        old_map: Option<Map<'v>>,
        schema: &'r Schema<'r>,
        path: &Path<'_>,
        above: Ratchet<'_, 'v, 'r>,
    ) {
        let pair = above.key(key);
        let ratchet =
            if above.is_own_type(key) { Ratchet { current: None, nearest: None } } else { above.below(pair.as_ref()) };
        let old = old_map.and_then(|old| old.get(key));
        self.node(node, Place { schema, value, old, path, ratchet });
    }

    /// Evaluates the rules of one value: `validateExpressions`.
    fn rules_of<'v>(&mut self, node: &'r Node<'r>, place: Place<'_, 'v, 'r>) {
        let Some(compiled) = node.compiled(&self.rules.compiled_for) else {
            let reason = "failed to convert to declType for CEL validation rules";
            self.fail(place, format!("rule compiler initialization error: {reason}"));
            return;
        };
        if self.budget <= 0 {
            self.fail(place, OUT_OF_BUDGET);
            self.budget = -1;
            return;
        }
        let variables = Variables::new(node, compiled, place);
        // After a failed rule, older releases report everything below the path of its field.
        let mut moved = String::new();
        for (source, rule) in node.sources.iter().zip(&compiled.rules) {
            let below = place.path.child(&moved);
            let place = if moved.is_empty() { place } else { Place { path: &below, ..place } };
            let rule = match rule {
                CompiledRule::Empty => continue,
                CompiledRule::Wrong(error) => {
                    self.fail(place, format!("rule compile error: {error}"));
                    continue;
                }
                CompiledRule::Ready(rule) => rule,
            };
            if rule.uses_old_self && !variables.has_old && !source.optional_old_self(&self.rules.release) {
                continue;
            }
            if self.stop.is_set() || self.steps > kubeshape_cel::MAX_STEPS {
                self.fail(place, OUT_OF_BUDGET);
                self.budget = -1;
                return;
            }
            let outcome = {
                let variables = variables.of(source.optional_old_self(&self.rules.release));
                rule.program.evaluate_until(variables, self.rules.call_limit, self.stop)
            };
            self.steps = self.steps.saturating_add(outcome.steps);
            if !self.pay(outcome.cost) {
                self.fail(place, OUT_OF_BUDGET);
                self.budget = -1;
                return;
            }
            match outcome.result {
                Ok(CelValue::Bool(true)) => {}
                Ok(_) => {
                    self.broken(place, source, rule, &variables);
                    if self.budget < 0 {
                        return;
                    }
                    if rule.has_field_path && !self.rules.release.has(Change::OwnFieldPaths) {
                        let separator = if moved.is_empty() { "" } else { "." };
                        moved = format!("{moved}{separator}{}", source.field_path);
                    }
                }
                Err(error) if error.starts_with(CALL_LIMIT) => {
                    let name = source.name();
                    self.fail(
                        place,
                        format!(
                            "'{error}': no further validation rules will be run due to call cost exceeds limit for \
                             rule: {name}"
                        ),
                    );
                    self.budget = -1;
                    return;
                }
                Err(error) => {
                    let name = source.name();
                    let detail = if error.starts_with("no such overload") {
                        format!(
                            "'{error}': call arguments did not match a supported operator, function or macro signature \
                             for rule: {name}"
                        )
                    } else {
                        format!("{error} evaluating rule: {name}")
                    };
                    self.fail(place, detail);
                }
            }
        }
    }

    /// Subtracts a cost from the budget, if it suffices.
    fn pay(&mut self, cost: u64) -> bool {
        match i64::try_from(cost) {
            Ok(cost) if cost <= self.budget => {
                self.budget -= cost;
                true
            }
            _ => false,
        }
    }

    /// Reports an error about the evaluation. Upstream shows the type of the value instead of the value.
    #[cold]
    fn fail(&mut self, place: Place<'_, '_, '_>, detail: impl Into<String>) {
        if self.errors.is_full() {
            self.errors.skip();
            return;
        }
        self.errors.push(Error::invalid(place.path, place.schema.type_name(), detail, 0));
    }

    /// Reports that a value breaks a rule.
    #[cold]
    fn broken(
        &mut self,
        place: Place<'_, '_, '_>,
        source: &Source<'_>,
        rule: &'r ReadyRule,
        variables: &Variables<'_>,
    ) {
        if self.errors.is_full() || self.ratcheted.is_full() {
            self.errors.skip();
            return;
        }
        let below = place.path.child(&source.field_path);
        let path = if rule.has_field_path { &below } else { place.path };
        let detail = match rule.message.as_ref().map(|program| self.evaluate_message(program, source, variables)) {
            Some(Message::Text(text)) => text,
            None | Some(Message::Unusable) => source.message(),
            Some(Message::TooDear(detail)) => {
                let error = Error::invalid(path, place.schema.type_name(), detail, 0);
                self.add(error, rule.uses_old_self, place);
                self.budget = -1;
                return;
            }
        };
        let value = match place.schema.type_name() {
            ty if !self.rules.release.has(Change::ValuesOfBrokenRules) => ty.into(),
            "object" | "array" => BadValue::Omitted,
            _ => Printing::Of(&self.rules.release).bad_value(place.value),
        };
        let error = match source.rule.reason {
            Some("FieldValueForbidden") => Error::forbidden(path, detail, 0),
            Some("FieldValueRequired") => Error::required(path, detail, 0),
            Some("FieldValueDuplicate") => Error::duplicate(path, value, 0),
            _ => Error { error_type: ErrorType::Invalid, path: path.to_string(), value, detail, at: 0 },
        };
        self.add(error, rule.uses_old_self, place);
    }

    fn add(&mut self, error: Error, uses_old_self: bool, place: Place<'_, '_, '_>) {
        if !uses_old_self && place.ratchet.drops_errors() {
            self.ratcheted.push(error);
        } else {
            self.errors.push(error);
        }
    }

    /// `evalMessageExpression`
    fn evaluate_message(&mut self, program: &'r Program, source: &Source<'_>, variables: &Variables<'_>) -> Message {
        // The variable `oldSelf` is never optional here.
        let outcome = program.evaluate_until(variables.of(false), self.rules.call_limit, self.stop);
        self.steps = self.steps.saturating_add(outcome.steps);
        if !self.pay(outcome.cost) {
            return Message::TooDear(
                "messageExpression evaluation failed due to running out of cost budget, no further validation rules will \
                 be run"
                    .to_owned(),
            );
        }
        let text = match outcome.result {
            Err(error) if error.starts_with(CALL_LIMIT) => {
                return Message::TooDear(format!(
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression: {}",
                    GoQuoted(source.rule.message_expression)
                ));
            }
            Ok(CelValue::String(text)) => Some(text),
            Ok(_) | Err(_) => None,
        };
        let text = text.as_deref().map_or("", str::trim);
        if text.is_empty() || text.len() > Rules::MAX_MESSAGE || text.contains('\n') {
            return Message::Unusable;
        }
        Message::Text(text.to_owned())
    }
}

/// The result of a message expression.
enum Message {
    Text(String),
    /// The message of the rule is used.
    Unusable,
    /// Nothing more may run.
    TooDear(String),
}

/// The variables that the rules of one value can see.
struct Variables<'v> {
    this: CelValue<'v>,
    old: Option<CelValue<'v>>,
    optional_old: CelValue<'v>,
    has_old: bool,
    /// Whether a rule of the value uses the old one: otherwise no expression sees it.
    uses_old_self: bool,
}

impl<'v> Variables<'v> {
    fn new(node: &Node<'_>, compiled: &Compiled, place: Place<'_, 'v, 'v>) -> Self {
        let read = |value: Value<'v>| {
            if node.is_resource_root {
                CelValue::of_resource(value, place.schema)
            } else {
                CelValue::of(value, place.schema)
            }
        };
        let old = place.old.filter(|old| !old.is_null());
        let seen = old.filter(|_| compiled.uses_old_self).map(read);
        let optional_old = CelValue::Optional(seen.clone().map(std::sync::Arc::new));
        Variables {
            this: read(place.value),
            old: seen,
            optional_old,
            has_old: old.is_some(),
            uses_old_self: compiled.uses_old_self,
        }
    }

    /// Returns the variables by name; missing ones are unset.
    fn of(&self, optional: bool) -> impl Iterator<Item = (&'v str, CelValue<'v>)> {
        let old = match (self.uses_old_self, optional) {
            (false, _) => None,
            (true, true) => Some(self.optional_old.clone()),
            (true, false) => self.old.clone(),
        };
        std::iter::once(("self", self.this.clone())).chain(old.map(|old| ("oldSelf", old)))
    }
}
