//! Evaluation, within a budget.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]
// CEL compares doubles exactly.
#![allow(clippy::float_cmp)]

use super::meter::Meter;
use super::{Attr, Call, CallKind, Charge, Fold, Node, Qualifier, QualifierKind};
use crate::decls::{Name, Overload};
use crate::library::regex::{Patterns, Regex};
use crate::library::{Kube, bindings, standard};
use crate::value::{Key, List, Map, PANIC, Text, Value, message, print};
use std::sync::Arc;

/// What an evaluation gave.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The value, or upstream's text for why there is none.
    pub result: Result<Value<'a>, String>,
    /// What the evaluation cost, also if it failed.
    pub cost: u64,
    /// How many values it looked at that the cost does not count, at most [`MAX_STEPS`](crate::MAX_STEPS).
    pub steps: u64,
}

/// The text of an evaluation that cost too much.
pub(crate) const LIMIT: &str = "operation cancelled: actual cost limit exceeded";

/// The evaluation ends at once, for this reason: above all that it cost too much.
struct Stopped(String);

type Ran<'a> = Result<Value<'a>, Stopped>;

/// Evaluates a program.
pub(crate) fn run<'a>(
    node: &'a Node,
    slots: usize,
    patterns: &Patterns,
    variables: &[Option<Value<'a>>],
    limit: u64,
) -> Outcome<'a> {
    with_places(slots, |slots| {
        let mut runner = Runner { variables, slots, patterns, cost: 0, limit, meter: Meter::default() };
        let result = match runner.eval(node) {
            Ok(Value::Error(error)) => Err(error.to_string()),
            Ok(value) => Ok(value),
            Err(Stopped(reason)) => Err(reason),
        };
        Outcome { result, cost: runner.cost, steps: runner.meter.steps }
    })
}

/// Calls something with so many empty places for values. Few of them are not allocated.
#[inline]
pub(crate) fn with_places<'a, T>(count: usize, call: impl FnOnce(&mut [Option<Value<'a>>]) -> T) -> T {
    const FEW: usize = 4;
    if count == 0 {
        return call(&mut []);
    }
    let mut few = [const { None }; FEW];
    match few.get_mut(..count) {
        Some(few) => call(few),
        None => call(&mut vec![None; count]),
    }
}

/// The value of a node that depends on nothing.
pub(super) fn constant(node: &Node) -> Value<'static> {
    let patterns = Patterns::default();
    let mut runner = Runner {
        variables: &[],
        slots: &mut [],
        patterns: &patterns,
        cost: 0,
        limit: u64::MAX,
        meter: Meter::default(),
    };
    runner.eval(node).map_or_else(|Stopped(reason)| Value::error(reason), Value::into_owned)
}

struct Runner<'v, 'a> {
    variables: &'v [Option<Value<'a>>],
    slots: &'v mut [Option<Value<'a>>],
    patterns: &'v Patterns,
    cost: u64,
    limit: u64,
    meter: Meter,
}

impl<'a> Runner<'_, 'a> {
    fn charge(&mut self, cost: u64) -> Result<(), Stopped> {
        self.cost = self.cost.wrapping_add(cost);
        if self.cost > self.limit { Err(Stopped(LIMIT.to_owned())) } else { Ok(()) }
    }

    fn charge_call(&mut self, charge: Charge, args: &[Value<'a>], result: &Value<'a>) -> Result<(), Stopped> {
        self.charge(charge.call(args, result).map_err(Stopped)?)
    }

    /// A result, unless it is the error of an operation that ends upstream's evaluation, which then does not cost anything.
    fn unless_ended(&mut self, cost_before: u64, result: Value<'a>) -> Ran<'a> {
        match result {
            Value::Error(error) if error.starts_with(PANIC) => {
                self.cost = cost_before;
                Err(Stopped(error.to_string()))
            }
            result => Ok(result),
        }
    }

    fn eval(&mut self, node: &'a Node) -> Ran<'a> {
        // These are most of all, and what they need of the stack is little.
        match node {
            Node::Const(value) => Ok(value.lent()),
            Node::Call(call) => self.call(call),
            Node::Attr(Attr::Local { slot, path })
                if path.is_empty() && !matches!(self.slots[*slot], Some(Value::Optional(_))) =>
            {
                self.charge(1)?;
                Ok(self.slots[*slot].clone().unwrap_or(Value::Null))
            }
            other => self.eval_other(other),
        }
    }

    #[inline(never)]
    fn eval_other(&mut self, node: &'a Node) -> Ran<'a> {
        match node {
            Node::Const(value) => Ok(value.lent()),
            Node::Call(call) => self.call(call),
            Node::Attr(attr) => {
                let value = self.attr(attr)?;
                if !matches!(attr, Attr::Choice { .. }) {
                    self.charge(1)?;
                }
                Ok(value)
            }
            Node::Take(attr) => {
                if let Attr::Accu { slot, .. } = attr
                    && let Some(value) = self.slots[*slot].take()
                {
                    self.slots[*slot] = Some(Value::Null);
                    self.charge(1)?;
                    return Ok(value);
                }
                let value = self.attr(attr)?;
                self.charge(1)?;
                Ok(value)
            }
            Node::Has(attr) => {
                let value = self.attr(attr)?;
                // A presence test costs one less than what it looks at, and a condition costs nothing itself.
                self.charge(if matches!(attr, Attr::Choice { .. }) { u64::MAX } else { 0 })?;
                Ok(match value {
                    Value::Optional(inner) => Value::Bool(inner.is_some()),
                    other => other,
                })
            }
            Node::Or(terms) => self.logic(terms, true),
            Node::And(terms) => self.logic(terms, false),
            Node::Equal { not, sides } => {
                let args = [self.eval(&sides[0])?, self.eval(&sides[1])?];
                if args.iter().all(is_plain) {
                    self.charge(1)?;
                    let equal = args[0].equals(&args[1]);
                    return Ok(if *not { Value::Bool(!matches!(equal, Value::Bool(true))) } else { equal });
                }
                let charge = if *not { Charge::NOT_EQUALS } else { Charge::EQUALS };
                let before = self.cost;
                self.charge_call(charge, &args, &Value::Null)?;
                if let Some(error) = args.iter().find(|arg| arg.is_error()) {
                    return Ok(error.clone());
                }
                self.meter.before(Name::Equals, &args).map_err(Stopped)?;
                let equal = self.unless_ended(before, args[0].equals(&args[1]))?;
                Ok(if *not { Value::Bool(!matches!(equal, Value::Bool(true))) } else { equal })
            }
            Node::Append { call, item } => self.append(call, item),
            Node::List { items, optional } => {
                let value = self.list(items, optional)?;
                self.charge(10)?;
                Ok(value)
            }
            Node::Map { entries } => {
                let value = self.map(entries)?;
                self.charge(30)?;
                Ok(value)
            }
            Node::Fold(fold) => self.fold(fold),
            Node::OptionalOr { value, sides } => {
                let left = self.eval(&sides[0])?;
                match left {
                    Value::Optional(Some(inner)) if *value => Ok((*inner).clone()),
                    Value::Optional(None) => self.eval(&sides[1]),
                    other => Ok(other),
                }
            }
            Node::InSet { item, set } => {
                let value = self.eval(item)?;
                if value.is_error() {
                    return Ok(value);
                }
                hashable(&value)?;
                Ok(match value {
                    Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::String(_) => {
                        Value::Bool(set.contains(&Key::of(&value)))
                    }
                    Value::Double(d) => Value::Bool(!d.is_nan() && set.contains(&Key::of(&value))),
                    _ => Value::Bool(false),
                })
            }
            Node::Message { name, fields } => {
                let value = self.message(name, fields)?;
                self.charge(40)?;
                Ok(value)
            }
        }
    }

    fn logic(&mut self, terms: &'a [Node; 2], or: bool) -> Ran<'a> {
        let mut error = None;
        for term in terms {
            match self.eval(term)? {
                Value::Bool(b) if b == or => {
                    self.charge(0)?;
                    return Ok(Value::Bool(or));
                }
                Value::Bool(_) => {}
                Value::Error(wrong) => {
                    error.get_or_insert(Value::Error(wrong));
                }
                _ => {
                    error.get_or_insert(Value::no_such_overload());
                }
            }
        }
        Ok(error.unwrap_or(Value::Bool(!or)))
    }

    fn list(&mut self, items: &'a [Node], optional: &[bool]) -> Ran<'a> {
        let mut values = Vec::with_capacity(items.len());
        for (item, optional) in items.iter().zip(optional) {
            let value = self.eval(item)?;
            if value.is_error() {
                return Ok(value);
            }
            match value {
                Value::Optional(inner) if *optional => values.extend(inner.map(|inner| (*inner).clone())),
                other if *optional => {
                    return Ok(Value::error(format!(
                        "cannot initialize optional list element from non-optional value {}",
                        print::plain(&other)
                    )));
                }
                other => values.push(other),
            }
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &'a [(Node, Node, bool)]) -> Ran<'a> {
        let mut out = crate::value::Entries::new();
        for (key, value, optional) in entries {
            let key = self.eval(key)?;
            if key.is_error() {
                return Ok(key);
            }
            let mut value = self.eval(value)?;
            if value.is_error() {
                return Ok(value);
            }
            if *optional {
                value = match value {
                    Value::Optional(Some(inner)) => (*inner).clone(),
                    Value::Optional(None) => {
                        hashable(&key)?;
                        out.remove(&Key::of(&key));
                        continue;
                    }
                    other => return Ok(wrong_entry(&print::plain(&key), &other)),
                };
            }
            hashable(&key)?;
            out.insert(Key::made(&key, &out), (key, value));
        }
        Ok(Value::Map(Map::Made(Arc::new(out))))
    }

    fn message(&mut self, name: &str, fields: &'a [(Arc<str>, Node, bool)]) -> Ran<'a> {
        let mut values: Vec<(&str, Value<'a>)> = Vec::new();
        for (field, node, optional) in fields {
            let mut value = self.eval(node)?;
            if value.is_error() {
                return Ok(value);
            }
            if *optional {
                value = match value {
                    Value::Optional(Some(inner)) => (*inner).clone(),
                    Value::Optional(None) => continue,
                    other => return Ok(wrong_entry(field, &other)),
                };
            }
            values.push((field, value));
        }
        Ok(message::make(name, &values))
    }

    fn call(&mut self, call: &'a Call) -> Ran<'a> {
        // Nearly all functions take few arguments, for which nothing is allocated.
        match call.args.len() {
            0 => self.call_with(call, &mut []),
            1 => self.call_with(call, &mut [Value::Null]),
            2 => self.call_with(call, &mut [Value::Null, Value::Null]),
            3 => self.call_with(call, &mut [Value::Null, Value::Null, Value::Null]),
            count => self.call_with(call, &mut vec![Value::Null; count]),
        }
    }

    /// `args` has a place for each argument.
    fn call_with(&mut self, call: &'a Call, args: &mut [Value<'a>]) -> Ran<'a> {
        let name = call.function.name;
        let early = match &call.kind {
            CallKind::Guarded { early, .. } => *early,
            CallKind::Dispatch(_) | CallKind::Regex(_) => true,
            CallKind::Singleton(_) => call.args.len() > 2,
        };
        let strict = name != Name::NotStrictlyFalse;
        for (i, arg) in call.args.iter().enumerate() {
            args[i] = self.eval(arg)?;
            if early && strict && args[i].is_error() {
                // The arguments that are not evaluated are missing on upstream's stack, so nothing is charged.
                if i + 1 == call.args.len() {
                    self.charge_call(call.charge, args, &args[i])?;
                }
                return Ok(args[i].clone());
            }
        }
        self.apply(call, args)
    }

    /// `list + [item]`, which makes no list of the item if it need not.
    fn append(&mut self, call: &'a Call, item: &'a Node) -> Ran<'a> {
        let list = self.eval(&call.args[0])?;
        let item = self.eval(item)?;
        self.charge(10)?;
        if item.is_error() {
            return self.apply(call, &mut [list, item]);
        }
        let Value::List(List::Made(mut items)) = list else {
            return self.apply(call, &mut [list, Value::list(vec![item])]);
        };
        self.meter.append(&items).map_err(Stopped)?;
        if items.is_empty() {
            items = Arc::new(vec![item]);
        } else {
            Arc::make_mut(&mut items).push(item);
        }
        self.charge(1)?;
        Ok(Value::List(List::Made(items)))
    }

    /// A call whose arguments are evaluated.
    fn apply(&mut self, call: &Call, args: &mut [Value<'a>]) -> Ran<'a> {
        // Such calls are most of all, and there is nothing to count.
        if call.charge.is_one() && args.iter().all(is_plain) {
            self.charge(1)?;
            let result = invoke(call, self.patterns, args);
            self.meter.after(&result).map_err(Stopped)?;
            return Ok(result);
        }
        let name = call.function.name;
        if name != Name::NotStrictlyFalse
            && let Some(error) = args.iter().find(|arg| arg.is_error())
        {
            self.charge_call(call.charge, args, error)?;
            return Ok(error.clone());
        }
        match (name, &*args) {
            (Name::MapInsert, [_, key, _]) => hashable(key)?,
            (Name::In, [key, Value::Map(Map::Made(entries))]) if !entries.is_empty() => hashable(key)?,
            _ => {}
        }
        // Lists and maps grow in place, so their sizes are looked at before.
        if let CallKind::Singleton((wanted, f)) = &call.kind
            && name == Name::Plus
            && matches!(args[0], Value::List(_))
            && standard::has(&args[0], *wanted)
        {
            if let [a, b] = &*args {
                self.meter.join(a, b).map_err(Stopped)?;
            }
            let result = self.unless_ended(self.cost, f(args))?;
            self.charge(1)?;
            return Ok(result);
        }
        if name == Name::MapInsert {
            let result = invoke(call, self.patterns, args);
            self.charge(1)?;
            return Ok(result);
        }
        if call.charge.needs_result() {
            let result = invoke(call, self.patterns, &mut args.to_vec());
            self.charge_call(call.charge, args, &result)?;
            self.meter.after(&result).map_err(Stopped)?;
            return Ok(result);
        }
        // What costs too much does not run; where the cost itself follows from all that a value holds, that is counted before.
        let before = self.cost;
        let costs_follow = call.charge.goes_through();
        if costs_follow {
            self.meter.before(name, args).map_err(Stopped)?;
        }
        self.charge_call(call.charge, args, &Value::Null)?;
        if !costs_follow {
            self.meter.before(name, args).map_err(Stopped)?;
        }
        let result = self.unless_ended(before, invoke(call, self.patterns, args))?;
        self.meter.after(&result).map_err(Stopped)?;
        Ok(result)
    }

    fn fold(&mut self, fold: &'a Fold) -> Ran<'a> {
        let range = self.eval(&fold.range)?;
        if range.is_error() {
            return Ok(range);
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
                    if !self.step(fold)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    self.slots[fold.var] = Some(key);
                    if let Some(second) = fold.var2 {
                        self.slots[second] = Some(value);
                    }
                    if !self.step(fold)? {
                        break;
                    }
                }
            }
            other => {
                let ty = print::go_type(other);
                return Ok(Value::error(if fold.var2.is_some() {
                    format!("unsupported comprehension range type: {ty}")
                } else {
                    format!("got '{ty}', expected iterable type")
                }));
            }
        }
        let result = self.eval(&fold.result);
        self.slots[fold.accu] = None;
        self.slots[fold.var] = None;
        result
    }

    fn step(&mut self, fold: &'a Fold) -> Result<bool, Stopped> {
        let always = matches!(fold.condition, Node::Const(Value::Bool(true)));
        if !always && matches!(self.eval(&fold.condition)?, Value::Bool(false)) {
            return Ok(false);
        }
        let value = self.eval(&fold.step)?;
        self.slots[fold.accu] = Some(value);
        Ok(true)
    }

    fn attr(&mut self, attr: &'a Attr) -> Ran<'a> {
        let (value, path) = match attr {
            Attr::Variable { name, index, path } => {
                match index.and_then(|index| self.variables.get(index)).and_then(Option::as_ref) {
                    Some(value) => (value.clone(), path),
                    None => return Ok(Value::error(format!("no such attribute(s): {name}"))),
                }
            }
            Attr::Local { slot, path } => (self.slots[*slot].clone().unwrap_or(Value::Null), path),
            Attr::Accu { slot, init, path } => {
                if self.slots[*slot].is_none() {
                    let value = self.eval(init)?;
                    self.slots[*slot] = Some(value);
                }
                (self.slots[*slot].clone().unwrap_or(Value::Null), path)
            }
            Attr::Relative { operand, path } => (self.eval(operand)?, path),
            Attr::Choice { condition, yes, no } => {
                return match self.eval(condition)? {
                    Value::Bool(true) => self.attr(yes),
                    Value::Bool(false) => self.attr(no),
                    error @ Value::Error(_) => Ok(error),
                    _ => Ok(Value::no_such_overload()),
                };
            }
        };
        if value.is_error() || path.is_empty() && !matches!(value, Value::Optional(_)) {
            return Ok(value);
        }
        self.qualify(value, path)
    }

    fn qualify(&mut self, value: Value<'a>, path: &'a [Qualifier]) -> Ran<'a> {
        let (mut value, mut optional) = match value {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => (through_go(&inner), true),
            other => (other, false),
        };
        for qualifier in path {
            optional = optional || qualifier.optional;
            let present_only = matches!(qualifier.kind, QualifierKind::Present(_));
            let made;
            let key: &Value<'_> = match &qualifier.kind {
                QualifierKind::Const(key) | QualifierKind::Present(key) => key,
                QualifierKind::Attr(attr) => match self.attr(attr)? {
                    error @ Value::Error(_) => {
                        self.charge(u64::from(!optional))?;
                        return Ok(error);
                    }
                    key @ (Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)) => {
                        made = key;
                        &made
                    }
                    other => {
                        self.charge(u64::from(!optional))?;
                        return Ok(Value::error(format!("invalid qualifier type: {}", print::go_type(&other))));
                    }
                },
            };
            match find(&value, key, optional || present_only) {
                Ok(Some(found)) => {
                    self.charge(1)?;
                    value = if present_only && !optional { Value::Bool(true) } else { found };
                }
                Ok(None) if present_only && !optional => {
                    self.charge(1)?;
                    value = Value::Bool(false);
                }
                Ok(None) => return Ok(Value::Optional(None)),
                Err(error) => {
                    self.charge(u64::from(!optional))?;
                    return Ok(error);
                }
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }
}

/// What an optional holds after upstream took it as a plain Go value and made a value of it again.
fn through_go<'a>(value: &Value<'a>) -> Value<'a> {
    let go = match value {
        Value::Optional(None) => return Value::Null,
        Value::Optional(Some(inner)) => return through_go(inner),
        Value::Kube(Kube::Quantity(..)) => "*resource.Quantity",
        Value::Kube(Kube::Ip(_)) => "netip.Addr",
        Value::Kube(Kube::Cidr(_)) => "netip.Prefix",
        Value::Kube(Kube::Url(_)) => "*url.URL",
        Value::Kube(Kube::Semver(_)) => "semver.Version",
        // A schema is forgotten, and with it that names of fields are escaped.
        Value::List(List::Typed(_, items)) => return Value::List(List::Data(*items)),
        Value::List(List::Joined(_, items)) => return Value::List(List::Made(items.clone())),
        Value::Map(Map::Typed(_, fields)) => return Value::Map(Map::Data(*fields)),
        other => return other.clone(),
    };
    Value::error(format!("unsupported conversion to ref.Val: ({go}){}", print::plain(value)))
}

fn wrong_entry<'a>(key: &str, value: &Value<'_>) -> Value<'a> {
    Value::error(format!("cannot initialize optional entry '{key}' from non-optional value {}", print::plain(value)))
}

/// The value of a key or an index; `None` if there is none and `test` says that this is no error.
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
        _ => missing("no such key"),
    }
}

/// Whether a value has the size 1 and holds no other one.
fn is_plain(value: &Value<'_>) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

/// Upstream keeps what it makes in Go's maps, and those end the evaluation at a key that they cannot hash.
fn hashable(key: &Value<'_>) -> Result<(), Stopped> {
    if matches!(key, Value::Bytes(_) | Value::Kube(Kube::Semver(_) | Kube::Format(_))) {
        let ty = print::go_type(key);
        return Err(Stopped(format!("{PANIC}hash of unhashable type {ty}")));
    }
    Ok(())
}

/// Calls the implementation.
fn invoke<'a>(call: &Call, patterns: &Patterns, args: &mut [Value<'a>]) -> Value<'a> {
    let unmatched = |args: &[Value<'a>]| {
        let shown: Vec<String> = args.iter().map(|arg| arg.type_of().name().to_owned()).collect();
        Value::error(format!("no such overload: {}({})", call.function.text, shown.join(", ")))
    };
    let takes = |overload: &Overload, args: &[Value<'a>]| {
        overload.args.len() == args.len() && overload.args.iter().zip(args).all(|(ty, arg)| arg.is_of(ty))
    };
    // A pattern that an evaluation made: most of the others that it makes are the same.
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
                return unmatched(args);
            }
            bindings::call(call.function.name, overload, args).unwrap_or_else(|| unmatched(args))
        }
        CallKind::Dispatch(overloads) => match overloads.iter().find(|overload| takes(overload, args)) {
            Some(overload) => bindings::call(call.function.name, overload, args).unwrap_or_else(|| unmatched(args)),
            None => unmatched(args),
        },
        CallKind::Regex(constant) => match (&args[0], constant.get()) {
            (_, Err(error)) => Value::error(error),
            (Value::String(text), Ok(regex)) => searched(call.function.name, regex, text, args.get(2)),
            _ => Value::no_such_overload(),
        },
    }
}

/// What a regular expression finds. `most` is how many matches are wanted.
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
