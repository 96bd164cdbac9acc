//! Evaluation within a budget.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]
// CEL compares doubles exactly.
#![allow(clippy::float_cmp)]

/// Charges a cost. Returns from the function if the evaluation has ended.
macro_rules! pay {
    ($runner:expr, $cost:expr) => {
        if !$runner.pays($cost) {
            return Value::no_such_overload();
        }
    };
}

/// Ends the evaluation if the result is an error, with the error as the reason.
macro_rules! attempt {
    ($runner:expr, $result:expr) => {
        if let Err(reason) = $result {
            return $runner.end(reason);
        }
    };
}

mod attributes;
mod calls;

use super::meter::Meter;
use super::{Attr, Call, CallKind, Charge, Fold, Node};
use crate::decls::Name;
use crate::library::regex::Patterns;
use crate::library::{Kube, standard};
use crate::value::{Key, List, Map, PANIC, Value, message, object, print};
use calls::invoke;
use kubeshape_value::Stop;
use std::sync::Arc;

/// The outcome of an evaluation.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The value, or upstream's error message.
    pub result: Result<Value<'a>, String>,
    /// The cost of the evaluation, also if it failed.
    pub cost: u64,
    /// The number of visited values that the cost does not include, at most [`MAX_STEPS`](crate::MAX_STEPS).
    pub steps: u64,
}

/// The message of an evaluation that exceeded its cost limit.
pub(crate) const LIMIT: &str = "operation cancelled: actual cost limit exceeded";

/// The message of an evaluation that was stopped.
const STOPPED: &str = "operation cancelled: the evaluation was stopped";

/// The bounds of an evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'s> {
    /// The maximum cost.
    pub(crate) limit: u64,
    /// Checked before each call and each iteration of a comprehension.
    pub(crate) stop: Stop<'s>,
}

/// A variable whose fields are evaluated at their first use.
pub(crate) struct Lazy<'l, 'a> {
    /// The name of the variable.
    pub(crate) variable: &'static str,
    /// Returns the value of a field; `None` if there is no such field.
    pub(crate) evaluate: &'l mut dyn FnMut(&str) -> Option<Value<'a>>,
}

/// Evaluates a program.
pub(crate) fn run<'a>(
    node: &'a Node,
    slots: usize,
    patterns: &Patterns,
    variables: &[Option<Value<'a>>],
    bounds: Bounds<'_>,
    lazy: Option<Lazy<'_, 'a>>,
) -> Outcome<'a> {
    with_places(slots, |slots| {
        let mut runner = Runner::new(variables, slots, patterns, bounds);
        runner.lazy = lazy;
        let value = runner.eval(node);
        let steps = runner.meter.steps;
        match (runner.ended, value) {
            (Some(End { reason, cost }), _) => Outcome { result: Err(reason), cost, steps },
            (None, Value::Error(error)) => Outcome { result: Err(error.to_string()), cost: runner.cost, steps },
            (None, value) => Outcome { result: Ok(value), cost: runner.cost, steps },
        }
    })
}

/// Calls `call` with `count` empty slots for values. A small number of slots is on the stack.
#[inline]
pub(crate) fn with_places<'a, T>(count: usize, call: impl FnOnce(&mut [Option<Value<'a>>]) -> T) -> T {
    const FEW: usize = 8;
    if count == 0 {
        return call(&mut []);
    }
    let mut few = [const { None }; FEW];
    match few.get_mut(..count) {
        Some(few) => call(few),
        None => call(&mut vec![None; count]),
    }
}

/// Evaluates a node that uses no variables.
pub(super) fn constant(node: &Node) -> Value<'static> {
    let patterns = Patterns::default();
    let mut runner = Runner::new(&[], &mut [], &patterns, Bounds { limit: u64::MAX, stop: Stop::NEVER });
    let value = runner.eval(node);
    runner.ended.map_or_else(|| value.into_owned(), |End { reason, .. }| Value::error(reason))
}

/// Strings of fewer bytes cost no step.
const SHORT: usize = 64;

/// Why the whole evaluation ended (most often the cost limit), and its cost until then.
struct End {
    reason: String,
    cost: u64,
}

/// Evaluates nodes. Its functions return values instead of `Result`s of values: a value is large, and moving one that
/// was just written takes longer than most functions.
///
/// When the whole evaluation ends, its value is an error. From then on every charge fails, so that everything still
/// being evaluated becomes an error as well.
struct Runner<'l, 'v, 'a> {
    variables: &'v [Option<Value<'a>>],
    slots: &'v mut [Option<Value<'a>>],
    patterns: &'v Patterns,
    cost: u64,
    limit: u64,
    stop: Stop<'v>,
    meter: Meter,
    ended: Option<End>,
    lazy: Option<Lazy<'l, 'a>>,
}

impl<'l, 'v, 'a> Runner<'l, 'v, 'a> {
    fn new(
        variables: &'v [Option<Value<'a>>],
        slots: &'v mut [Option<Value<'a>>],
        patterns: &'v Patterns,
        Bounds { limit, stop }: Bounds<'v>,
    ) -> Runner<'l, 'v, 'a> {
        Runner { variables, slots, patterns, cost: 0, limit, stop, meter: Meter::default(), ended: None, lazy: None }
    }

    /// Ends the evaluation if its caller requests that. Returns whether it continues.
    #[inline]
    fn goes_on(&mut self) -> bool {
        if self.stop.is_set() {
            self.end(STOPPED.to_owned());
        }
        self.ended.is_none()
    }

    #[inline]
    #[must_use]
    fn pays(&mut self, cost: u64) -> bool {
        self.cost = self.cost.wrapping_add(cost);
        if self.cost > self.limit {
            self.end(LIMIT.to_owned());
            return false;
        }
        true
    }

    #[must_use]
    fn pays_for_call(&mut self, charge: Charge, args: &[Value<'a>], result: &Value<'a>) -> bool {
        match charge.call(args, result) {
            Ok(cost) => self.pays(cost),
            Err(reason) => {
                self.end(reason);
                false
            }
        }
    }

    /// Ends the whole evaluation.
    #[cold]
    fn end(&mut self, reason: String) -> Value<'a> {
        if self.ended.is_none() {
            self.ended = Some(End { reason, cost: self.cost });
        }
        (self.cost, self.limit) = (u64::MAX / 2, 0);
        Value::no_such_overload()
    }

    /// Returns whether the result is an error that ends upstream's evaluation, and ends this one then. The cost goes
    /// back to `cost_before`: such an operation is not charged.
    fn ends(&mut self, cost_before: u64, result: &Value<'a>) -> bool {
        if let Value::Error(error) = result
            && error.starts_with(PANIC)
        {
            self.cost = cost_before;
            self.end(error.to_string());
            return true;
        }
        false
    }

    fn eval(&mut self, node: &'a Node) -> Value<'a> {
        // These are the most frequent nodes, and they need little stack.
        match node {
            Node::Const(value) => value.lent(),
            Node::Call(call) => self.call(call),
            Node::Attr(Attr::Local { slot, path, .. })
                if path.is_empty() && !matches!(self.slots[*slot], Some(Value::Optional(_))) =>
            {
                pay!(self, 1);
                self.slot(*slot)
            }
            Node::Attr(attr) => self.attribute(attr),
            Node::Or(terms) => self.logic(terms, true),
            Node::And(terms) => self.logic(terms, false),
            Node::Equal { not, sides } => self.equal(*not, sides),
            Node::Append { call, item } => self.append(call, item),
            Node::Fold(fold) => self.fold(fold),
            other => self.eval_other(other),
        }
    }

    fn slot(&self, slot: usize) -> Value<'a> {
        match &self.slots[slot] {
            Some(value) => value.clone(),
            None => Value::Null,
        }
    }

    #[inline(never)]
    fn attribute(&mut self, attr: &'a Attr) -> Value<'a> {
        let value = self.attr(attr);
        if !matches!(attr, Attr::Choice { .. }) {
            pay!(self, 1);
        }
        value
    }

    #[inline(never)]
    fn eval_other(&mut self, node: &'a Node) -> Value<'a> {
        match node {
            Node::Take(attr) => {
                if let Attr::Accu { slot, .. } = attr
                    && self.slots[*slot].is_some()
                {
                    pay!(self, 1);
                    return self.slots[*slot].replace(Value::Null).unwrap_or(Value::Null);
                }
                let value = self.attr(attr);
                pay!(self, 1);
                value
            }
            Node::Has(attr) => {
                let value = self.attr(attr);
                // A presence test costs one less than the path that it tests, and a condition itself costs nothing.
                pay!(self, if matches!(attr, Attr::Choice { .. }) { u64::MAX } else { 0 });
                match value {
                    Value::Optional(inner) => Value::Bool(inner.is_some()),
                    other => other,
                }
            }
            Node::List { items, optional } => {
                let value = self.list(items, optional);
                pay!(self, 10);
                value
            }
            Node::Map { entries } => {
                let value = self.map(entries);
                pay!(self, 30);
                value
            }
            Node::OptionalOr { value, sides } => {
                let left = self.eval(&sides[0]);
                match left {
                    Value::Optional(Some(inner)) if *value => (*inner).clone(),
                    Value::Optional(None) => self.eval(&sides[1]),
                    other => other,
                }
            }
            Node::InSet { item, set } => {
                let value = self.eval(item);
                if value.is_error() {
                    return value;
                }
                attempt!(self, hashable(&value));
                match value {
                    Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::String(_) => {
                        Value::Bool(set.contains(&Key::of(&value)))
                    }
                    Value::Double(d) => Value::Bool(!d.is_nan() && set.contains(&Key::of(&value))),
                    _ => Value::Bool(false),
                }
            }
            Node::Message { name, fields } => {
                let value = self.message(name, fields);
                pay!(self, 40);
                value
            }
            other => self.eval(other),
        }
    }

    #[inline(never)]
    fn equal(&mut self, not: bool, sides: &'a [Node; 2]) -> Value<'a> {
        let args = [self.eval(&sides[0]), self.eval(&sides[1])];
        if args.iter().all(is_plain) {
            pay!(self, 1);
        } else if let [Value::String(a), Value::String(b)] = &args
            && a.len().max(b.len()) < SHORT
        {
            pay!(self, Charge::shorter(crate::value::chars(a), crate::value::chars(b)));
            return Value::Bool((**a == **b) != not);
        } else if let [Value::Bytes(a), Value::Bytes(b)] = &args
            && a.len().max(b.len()) < SHORT
        {
            pay!(self, Charge::shorter(a.len(), b.len()));
            return Value::Bool((a == b) != not);
        } else {
            let charge = if not { Charge::NOT_EQUALS } else { Charge::EQUALS };
            let before = self.cost;
            if !self.pays_for_call(charge, &args, &Value::Null) {
                return Value::no_such_overload();
            }
            if let Some(error) = args.iter().find(|arg| arg.is_error()) {
                return error.clone();
            }
            attempt!(self, self.meter.before(Name::Equals, &args, false));
            let equal = args[0].equals(&args[1]);
            if self.ends(before, &equal) || !not {
                return equal;
            }
            return Value::Bool(!matches!(equal, Value::Bool(true)));
        }
        let equal = args[0].equals(&args[1]);
        if not { Value::Bool(!matches!(equal, Value::Bool(true))) } else { equal }
    }

    #[inline(never)]
    fn logic(&mut self, terms: &'a [Node; 2], or: bool) -> Value<'a> {
        let mut error = None;
        for term in terms {
            match self.eval(term) {
                Value::Bool(b) if b == or => return Value::Bool(or),
                Value::Bool(_) => {}
                Value::Error(wrong) => {
                    error.get_or_insert(Value::Error(wrong));
                }
                _ => {
                    error.get_or_insert(Value::no_such_overload());
                }
            }
        }
        error.unwrap_or(Value::Bool(!or))
    }

    fn list(&mut self, items: &'a [Node], optional: &[bool]) -> Value<'a> {
        let mut values = Vec::with_capacity(items.len());
        for (item, optional) in items.iter().zip(optional) {
            let value = self.eval(item);
            if value.is_error() {
                return value;
            }
            match value {
                Value::Optional(inner) if *optional => values.extend(inner.map(|inner| (*inner).clone())),
                other if *optional => {
                    return Value::error(format!(
                        "cannot initialize optional list element from non-optional value {}",
                        print::plain(&other)
                    ));
                }
                other => values.push(other),
            }
        }
        Value::list(values)
    }

    fn map(&mut self, entries: &'a [(Node, Node, bool)]) -> Value<'a> {
        let mut out = crate::value::Entries::new();
        for (key, value, optional) in entries {
            let key = self.eval(key);
            if key.is_error() {
                return key;
            }
            let mut value = self.eval(value);
            if value.is_error() {
                return value;
            }
            if *optional {
                value = match value {
                    Value::Optional(Some(inner)) => (*inner).clone(),
                    Value::Optional(None) => {
                        attempt!(self, hashable(&key));
                        out.remove(&Key::of(&key));
                        continue;
                    }
                    other => return wrong_entry(&print::plain(&key), &other),
                };
            }
            attempt!(self, hashable(&key));
            out.insert(Key::made(&key, &out), Box::new((key, value)));
        }
        Value::Map(Map::Made(Arc::new(out)))
    }

    fn message(&mut self, name: &Arc<str>, fields: &'a [(Arc<str>, Node, bool)]) -> Value<'a> {
        let mut values: Vec<(Arc<str>, Value<'a>)> = Vec::new();
        for (field, node, optional) in fields {
            let mut value = self.eval(node);
            if value.is_error() {
                return value;
            }
            if *optional {
                value = match value {
                    Value::Optional(Some(inner)) => (*inner).clone(),
                    Value::Optional(None) => continue,
                    other => return wrong_entry(field, &other),
                };
            }
            values.push((field.clone(), value));
        }
        if object::is_patch_type(name) {
            return object::make(name, values);
        }
        let values: Vec<(&str, Value<'a>)> = values.iter().map(|(name, value)| (&**name, value.clone())).collect();
        message::make(name, &values)
    }

    fn call(&mut self, call: &'a Call) -> Value<'a> {
        // Most functions have few arguments, which need no allocation.
        match call.args.as_slice() {
            [] => self.apply(call, &mut []),
            [only] => {
                let mut args = [self.eval(only)];
                self.apply(call, &mut args)
            }
            [first, second] if !call.ends_early() => {
                let mut args = [self.eval(first), self.eval(second)];
                self.apply(call, &mut args)
            }
            [_, _] => self.call_with(call, &mut [Value::Null, Value::Null]),
            [_, _, _] => self.call_with(call, &mut [Value::Null, Value::Null, Value::Null]),
            more => self.call_with(call, &mut vec![Value::Null; more.len()]),
        }
    }

    /// Calls a function. `args` has a slot for each argument.
    fn call_with(&mut self, call: &'a Call, args: &mut [Value<'a>]) -> Value<'a> {
        let early = call.ends_early();
        for (i, arg) in call.args.iter().enumerate() {
            args[i] = self.eval(arg);
            // Upstream's stack lacks the arguments that are not evaluated, so nothing is charged.
            if early && args[i].is_error() && i + 1 < call.args.len() {
                return args[i].clone();
            }
        }
        self.apply(call, args)
    }

    /// Evaluates `list + [item]`, without creating a list for the item if possible.
    #[inline(never)]
    fn append(&mut self, call: &'a Call, item: &'a Node) -> Value<'a> {
        let list = self.eval(&call.args[0]);
        let item = self.eval(item);
        pay!(self, 10);
        if item.is_error() {
            return self.apply(call, &mut [list, item]);
        }
        let Value::List(List::Made(mut items)) = list else {
            return self.apply(call, &mut [list, Value::list(vec![item])]);
        };
        attempt!(self, self.meter.append(&items));
        if items.is_empty() {
            items = Arc::new(vec![item]);
        } else {
            Arc::make_mut(&mut items).push(item);
        }
        pay!(self, 1);
        Value::List(List::Made(items))
    }

    /// Calls a function with evaluated arguments.
    fn apply(&mut self, call: &Call, args: &mut [Value<'a>]) -> Value<'a> {
        // These are the most frequent calls, and they have nothing to count.
        if call.charge.is_one() && args.iter().all(is_plain) {
            pay!(self, 1);
            let result = invoke(call, self.patterns, args);
            attempt!(self, self.meter.after(&result));
            return result;
        }
        self.apply_counted(call, args)
    }

    #[inline(never)]
    fn apply_counted(&mut self, call: &Call, args: &mut [Value<'a>]) -> Value<'a> {
        if !self.goes_on() {
            return Value::no_such_overload();
        }
        let name = call.function.name;
        if name != Name::NotStrictlyFalse
            && let Some(error) = args.iter().find(|arg| arg.is_error())
        {
            if !self.pays_for_call(call.charge, args, error) {
                return Value::no_such_overload();
            }
            return error.clone();
        }
        match (name, &*args) {
            (Name::MapInsert, [_, key, _]) => attempt!(self, hashable(key)),
            (Name::In, [key, Value::Map(Map::Made(entries))]) if !entries.is_empty() => {
                attempt!(self, hashable(key));
            }
            _ => {}
        }
        // Lists and maps grow in place, so their sizes are read before the call.
        if let CallKind::Singleton((wanted, f)) = &call.kind
            && name == Name::Plus
            && matches!(args[0], Value::List(_))
            && standard::has(&args[0], *wanted)
        {
            if let [a, b] = &*args {
                attempt!(self, self.meter.join(a, b));
            }
            let result = f(args);
            if !self.ends(self.cost, &result) {
                pay!(self, 1);
            }
            return result;
        }
        if name == Name::MapInsert {
            let result = invoke(call, self.patterns, args);
            pay!(self, 1);
            return result;
        }
        if call.charge.needs_result() {
            let result = invoke(call, self.patterns, &mut args.to_vec());
            if self.pays_for_call(call.charge, args, &result) {
                attempt!(self, self.meter.after(&result));
            }
            return result;
        }
        let compiles = !matches!(call.kind, CallKind::Regex(_));
        // A call that costs too much must not run. If computing the cost itself walks through a whole value, that walk
        // is charged first.
        let before = self.cost;
        let costs_follow = call.charge.goes_through();
        if costs_follow {
            attempt!(self, self.meter.before(name, args, compiles));
        }
        if !self.pays_for_call(call.charge, args, &Value::Null) {
            return Value::no_such_overload();
        }
        if !costs_follow {
            attempt!(self, self.meter.before(name, args, compiles));
        }
        let result = invoke(call, self.patterns, args);
        if !self.ends(before, &result) {
            attempt!(self, self.meter.after(&result));
        }
        result
    }

    #[inline(never)]
    fn fold(&mut self, fold: &'a Fold) -> Value<'a> {
        let range = self.eval(&fold.range);
        if range.is_error() {
            return range;
        }
        self.slots[fold.accu] = None;
        match &range {
            Value::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    match fold.var2 {
                        Some(second) => {
                            self.slots[fold.var] = Some(Value::Int(index as i64));
                            self.slots[second] = Some(item);
                        }
                        None => self.slots[fold.var] = Some(item),
                    }
                    if !self.step(fold) {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for (key, value) in map.walk() {
                    self.slots[fold.var] = Some(key);
                    if let Some(second) = fold.var2 {
                        self.slots[second] = Some(value);
                    }
                    if !self.step(fold) {
                        break;
                    }
                }
            }
            other => {
                let ty = print::go_type(other);
                return Value::error(if fold.var2.is_some() {
                    format!("unsupported comprehension range type: {ty}")
                } else {
                    format!("got '{ty}', expected iterable type")
                });
            }
        }
        let result = self.eval(&fold.result);
        self.slots[fold.accu] = None;
        self.slots[fold.var] = None;
        result
    }

    /// Runs one iteration of a comprehension. Returns whether another one follows.
    fn step(&mut self, fold: &'a Fold) -> bool {
        let always = matches!(fold.condition, Node::Const(Value::Bool(true)));
        if !always && matches!(self.eval(&fold.condition), Value::Bool(false)) {
            return false;
        }
        let value = self.eval(&fold.step);
        self.slots[fold.accu] = Some(value);
        self.goes_on()
    }
}

fn wrong_entry<'a>(key: &str, value: &Value<'_>) -> Value<'a> {
    Value::error(format!("cannot initialize optional entry '{key}' from non-optional value {}", print::plain(value)))
}

/// Returns whether a value has the size 1 and contains no other values.
fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

/// Upstream stores results in Go maps. A key that Go cannot hash ends the evaluation.
fn hashable(key: &Value<'_>) -> Result<(), String> {
    if matches!(key, Value::Bytes(_) | Value::Kube(Kube::Semver(_) | Kube::Format(_))) {
        let ty = print::go_type(key);
        return Err(format!("{PANIC}hash of unhashable type {ty}"));
    }
    Ok(())
}
