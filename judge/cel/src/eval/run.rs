//! Evaluation within a budget.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]
// CEL compares doubles exactly.
#![allow(clippy::float_cmp)]

use super::meter::Meter;
use super::{Attr, Call, CallKind, Charge, Fold, Node, Qualifier, QualifierKind};
use crate::decls::{Name, Overload};
use crate::library::regex::{Patterns, Regex};
use crate::library::{Kube, bindings, standard, strings};
use crate::release::{AskedRelease, Change};
use crate::value::{Key, List, Map, PANIC, Text, Value, message, object, print};
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

    fn attr(&mut self, attr: &'a Attr) -> Value<'a> {
        match attr {
            Attr::Variable { name, index, release, path } => {
                let variables = self.variables;
                match index.and_then(|index| variables.get(index)).and_then(Option::as_ref) {
                    Some(error @ Value::Error(_)) if !path.is_empty() => {
                        pay!(self, u64::from(!release.has(Change::ErrorsEndPaths)));
                        error.clone()
                    }
                    Some(value) => self.qualified(value, path, release),
                    None if self.is_lazy(name) => self.lazy_field(path, release),
                    None => Value::error(format!("no such attribute(s): {name}")),
                }
            }
            Attr::Local { slot, release, path } => {
                if let Some(error @ Value::Error(_)) = &self.slots[*slot]
                    && !path.is_empty()
                {
                    let error = error.clone();
                    pay!(self, u64::from(!release.has(Change::ErrorsEndPaths)));
                    return error;
                }
                self.local(*slot, path, release)
            }
            Attr::Accu { slot, init, release, path } => {
                if self.slots[*slot].is_none() {
                    let value = self.eval(init);
                    self.slots[*slot] = Some(value);
                }
                self.local(*slot, path, release)
            }
            Attr::Relative { operand, release, path } => {
                let value = self.eval(operand);
                if path.is_empty() && !matches!(value, Value::Optional(_)) {
                    return value;
                }
                self.qualified(&value, path, release)
            }
            Attr::Choice { condition, yes, no } => match self.eval(condition) {
                Value::Bool(true) => self.attr(yes),
                Value::Bool(false) => self.attr(no),
                error @ Value::Error(_) => error,
                _ => Value::no_such_overload(),
            },
        }
    }

    fn is_lazy(&self, variable: &str) -> bool {
        self.lazy.as_ref().is_some_and(|lazy| lazy.variable == variable)
    }

    /// Returns the value at a path whose first field is evaluated at its first use.
    fn lazy_field(&mut self, path: &'a [Qualifier], release: &AskedRelease) -> Value<'a> {
        let Some(([first, rest @ ..], lazy)) = Some(path).zip(self.lazy.as_mut()) else {
            return Value::no_such_overload();
        };
        let (name, tests) = match &first.kind {
            QualifierKind::Const(Value::String(name)) => (name, false),
            QualifierKind::Present(Value::String(name)) => (name, true),
            _ => return Value::no_such_overload(),
        };
        let found = (lazy.evaluate)(name);
        match found {
            None if tests && !first.optional => {
                pay!(self, 1);
                Value::Bool(false)
            }
            None if first.optional => Value::Optional(None),
            None => {
                pay!(self, 1);
                Value::error(format!("no such key: {}", &**name))
            }
            Some(error @ Value::Error(_)) => {
                pay!(self, u64::from(!first.optional));
                error
            }
            Some(value) => {
                pay!(self, 1);
                match (tests, first.optional) {
                    (true, false) => Value::Bool(true),
                    (_, true) => self.qualified(&Value::some(value), rest, release),
                    _ => self.qualified(&value, rest, release),
                }
            }
        }
    }

    fn local(&mut self, slot: usize, path: &'a [Qualifier], release: &AskedRelease) -> Value<'a> {
        if path.is_empty() && !matches!(self.slots[slot], Some(Value::Optional(_))) {
            return self.slot(slot);
        }
        let value = self.slot(slot);
        self.qualified(&value, path, release)
    }

    /// Returns the value at a path from a value.
    fn qualified(&mut self, value: &Value<'a>, path: &'a [Qualifier], release: &AskedRelease) -> Value<'a> {
        match value {
            Value::Error(_) => value.clone(),
            Value::Optional(None) => Value::Optional(None),
            Value::Optional(Some(inner)) if release.has(Change::OptionalsKeepValues) => self.qualify(inner, true, path),
            Value::Optional(Some(inner)) => match through_go(inner, &mut self.meter) {
                Ok(inner) => self.qualify(&inner, true, path),
                Err(reason) => self.end(reason),
            },
            other if path.is_empty() => other.clone(),
            other => self.qualify(other, false, path),
        }
    }

    #[inline(never)]
    fn qualify(&mut self, value: &Value<'a>, mut optional: bool, path: &'a [Qualifier]) -> Value<'a> {
        let mut reached;
        let mut value = value;
        for (at, qualifier) in path.iter().enumerate() {
            optional = optional || qualifier.optional;
            let present_only = matches!(qualifier.kind, QualifierKind::Present(_));
            let made;
            let key: &Value<'a> = match &qualifier.kind {
                QualifierKind::Const(key) | QualifierKind::Present(key) => key,
                QualifierKind::Attr(attr) => {
                    made = self.attr(attr);
                    match &made {
                        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => &made,
                        other => {
                            pay!(self, u64::from(!optional));
                            return match other {
                                Value::Error(_) => other.clone(),
                                _ => Value::error(format!("invalid qualifier type: {}", print::go_type(other))),
                            };
                        }
                    }
                }
            };
            let found = match find(value, key, optional || present_only) {
                Ok(Some(found)) => {
                    pay!(self, 1);
                    if present_only && !optional { Value::Bool(true) } else { found }
                }
                Ok(None) if present_only && !optional => {
                    pay!(self, 1);
                    Value::Bool(false)
                }
                Ok(None) => return Value::Optional(None),
                Err(error) => {
                    pay!(self, u64::from(!optional));
                    return error;
                }
            };
            if at + 1 == path.len() && !optional {
                return found;
            }
            reached = found;
            value = &reached;
        }
        if optional { Value::some(value.clone()) } else { value.clone() }
    }
}

/// Returns the value inside an optional after upstream's conversion to a plain Go value and back.
///
/// # Errors
/// Returns an error if the evaluation creates too much.
fn through_go<'a>(value: &Value<'a>, meter: &mut Meter) -> Result<Value<'a>, String> {
    let go = match value {
        Value::Optional(None) => return Ok(Value::Null),
        Value::Optional(Some(inner)) => return through_go(inner, meter),
        Value::Kube(Kube::Quantity(..)) => "*resource.Quantity",
        Value::Kube(Kube::Ip(_)) => "netip.Addr",
        Value::Kube(Kube::Cidr(_)) => "netip.Prefix",
        Value::Kube(Kube::Url(_)) => "*url.URL",
        Value::Kube(Kube::Semver(_)) => "semver.Version",
        Value::Error(_) => "*errors.errorString",
        Value::Type(ty) => return Ok(Value::text(ty.name())),
        // The schema is lost, and with it the escaping of field names.
        Value::List(List::Typed(_, items)) => return Ok(Value::List(List::Data(*items))),
        Value::List(List::Joined(_, items)) => return Ok(Value::List(List::Made(items.clone()))),
        // The items of two added lists become plain Go values, too (`concatList.Value`).
        Value::List(list @ (List::Added(_) | List::Parts(_))) => {
            meter.list(list.len())?;
            let items = list.iter().map(|item| through_go(&item, meter)).collect::<Result<_, _>>()?;
            return Ok(Value::list(items));
        }
        Value::Map(Map::Typed(_, fields)) => return Ok(Value::Map(Map::Data(*fields))),
        other => return Ok(other.clone()),
    };
    Ok(Value::error(format!("unsupported conversion to ref.Val: ({go}){}", print::plain(value))))
}

fn wrong_entry<'a>(key: &str, value: &Value<'_>) -> Value<'a> {
    Value::error(format!("cannot initialize optional entry '{key}' from non-optional value {}", print::plain(value)))
}

/// Returns the value of a key or an index; `None` if there is none and `test` says that this is not an error.
fn find<'a>(value: &Value<'a>, key: &Value<'a>, test: bool) -> Result<Option<Value<'a>>, Value<'a>> {
    let missing = |what: &str| {
        if test { Ok(None) } else { Err(Value::error(format!("{what}: {}", print::plain(key)))) }
    };
    match value {
        Value::Map(map) => {
            if matches!(map, Map::Typed(..)) && key.as_str().is_none() {
                return Err(Value::no_such_overload());
            }
            match map.get(key) {
                Some(error @ Value::Error(_)) => Err(error),
                Some(found) => Ok(Some(found)),
                None => missing("no such key"),
            }
        }
        Value::List(list) => {
            let index = match key {
                Value::Int(index) => *index,
                #[allow(clippy::cast_precision_loss)]
                Value::Double(d) => match crate::value::convert::double_to_int(*d).filter(|i| *i as f64 == *d) {
                    Some(index) => index,
                    None => {
                        return Err(Value::error(format!("unsupported index value {} in list", print::plain(key))));
                    }
                },
                Value::Uint(u) => match i64::try_from(*u) {
                    Ok(index) => index,
                    Err(_) => return Err(Value::error(format!("unsupported index value {u} in list"))),
                },
                other => {
                    let ty = other.type_of();
                    return Err(Value::error(format!("unsupported index type '{ty}' in list")));
                }
            };
            match usize::try_from(index).ok().filter(|index| *index < list.len()) {
                Some(_) if list.typed().is_some() && !matches!(key, Value::Int(_)) => {
                    Ok(Some(Value::error(format!("unsupported index: {}", print::plain(key)))))
                }
                Some(index) => Ok(list.get(index)),
                None => missing("index out of bounds"),
            }
        }
        error @ Value::Error(_) => Err(error.clone()),
        Value::Object(object) => match key.as_str().and_then(|name| object.select(name, test)) {
            Some(found) => Ok(Some(found)),
            None => missing("no such key"),
        },
        _ => missing("no such key"),
    }
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

/// Returns the offset of a search, if the arguments after the first two are at most an offset.
fn offset(rest: &[Value<'_>]) -> Option<Option<i64>> {
    match rest {
        [] => Some(None),
        [Value::Int(offset)] => Some(Some(*offset)),
        _ => None,
    }
}

/// Calls the implementation of a function.
fn invoke<'a>(call: &Call, patterns: &Patterns, args: &mut [Value<'a>]) -> Value<'a> {
    let takes = |overload: &Overload, args: &[Value<'a>]| {
        overload.args.len() == args.len() && overload.args.iter().zip(args).all(|(ty, arg)| arg.is_of(ty))
    };
    // A pattern computed by an evaluation. Most later evaluations compute the same one.
    if let (Name::Matches | Name::Find | Name::FindAll, [Value::String(text), Value::String(pattern), rest @ ..]) =
        (call.function.name, &*args)
        && matches!(rest, [] | [Value::Int(_)])
        && !matches!(call.kind, CallKind::Regex(_))
    {
        let searched = patterns.with(pattern, |regex| searched(call.function.name, regex, text, rest.first()));
        return searched.unwrap_or_else(|error| match call.function.name {
            Name::Matches => Value::error(error),
            _ => Value::error(format!("Illegal regex: {error}")),
        });
    }
    if let (Some(release), [Value::String(text), Value::String(part), rest @ ..]) = (&call.release, &*args)
        && let Some(offset) = offset(rest)
        && let Some(error) =
            strings::refused_offset(text, part, offset, call.function.name == Name::LastIndexOf, release)
    {
        return error;
    }
    match &call.kind {
        CallKind::Singleton((wanted, f)) => {
            if standard::has(&args[0], *wanted) {
                f(args)
            } else if standard::receives(&args[0]) {
                Value::no_such_overload()
            } else {
                Value::error(format!("no such overload: {}", call.function.text))
            }
        }
        CallKind::Guarded { overload, unguarded, .. } => {
            let lenient = *unguarded || call.function.name == Name::NotStrictlyFalse && args[0].is_error();
            if !lenient && !takes(overload, args) {
                return bindings::unmatched(call.function, args);
            }
            bindings::call(call.function, overload, args)
        }
        CallKind::Dispatch(overloads) => match overloads.iter().find(|overload| takes(overload, args)) {
            Some(overload) => bindings::call(call.function, overload, args),
            None => bindings::unmatched(call.function, args),
        },
        CallKind::Regex(constant) => constant.with(|compiled| match (&args[0], compiled) {
            (_, Err(error)) => Value::error(error),
            (receiver, Ok(regex)) => match inner_text(receiver) {
                Some(Value::String(text)) => searched(call.function.name, regex, &text, args.get(2)),
                _ => Value::no_such_overload(),
            },
        }),
    }
}

/// Returns the string that a constant pattern is matched against. Upstream's `MatchesRegexOptimization` accepts every
/// value whose Go value is a string: names of types, and the values in optionals.
fn inner_text<'a>(value: &Value<'a>) -> Option<Value<'a>> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Type(ty) => Some(Value::text(ty.name())),
        Value::Optional(Some(inner)) => inner_text(inner),
        _ => None,
    }
}

/// Returns the matches of a regular expression, at most `most`.
fn searched<'a>(function: Name, regex: &Regex, text: &Text<'a>, most: Option<&Value<'a>>) -> Value<'a> {
    let part = |part: &str| Value::String(text.part(part));
    match (function, most) {
        (Name::Matches, _) => Value::Bool(regex.is_match(text)),
        (Name::Find, _) => regex.find(text).map_or_else(|| Value::text(""), part),
        (_, None) => Value::list(regex.find_all(text, -1).into_iter().map(part).collect()),
        (_, Some(Value::Int(most))) => Value::list(regex.find_all(text, *most).into_iter().map(part).collect()),
        _ => Value::no_such_overload(),
    }
}
