//! Functions on lists.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]
// The casts are of numbers that are not negative.
#![allow(clippy::cast_sign_loss)]

use crate::limits::MAX_ELEMENTS;
use crate::value::{List, Value, arithmetic};
use std::cmp::Ordering;

pub(crate) fn is_sorted<'a>(list: &List<'a>) -> Value<'a> {
    let mut previous: Option<Value<'a>> = None;
    for item in list.iter() {
        if !comparable(&item) {
            return wrong(item);
        }
        if let Some(previous) = &previous
            && matches!(previous.compare(&item), Ok(Ordering::Greater))
        {
            return Value::Bool(false);
        }
        previous = Some(item);
    }
    Value::Bool(true)
}

fn wrong(item: Value<'_>) -> Value<'_> {
    if item.is_error() { item } else { Value::no_such_overload() }
}

fn comparable(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
    )
}

pub(crate) fn sum<'a>(list: &List<'a>, zero: Value<'a>) -> Value<'a> {
    let mut total = zero;
    for item in list.iter() {
        if !matches!(
            item,
            Value::Int(_)
                | Value::Uint(_)
                | Value::Double(_)
                | Value::String(_)
                | Value::Bytes(_)
                | Value::Duration(_)
                | Value::Timestamp(_)
                | Value::List(_)
        ) {
            return wrong(item);
        }
        total = arithmetic::add(total, &item);
        if total.is_error() {
            return total;
        }
    }
    total
}

/// Returns the least or the greatest element.
pub(crate) fn extreme<'a>(list: &List<'a>, greatest: bool) -> Value<'a> {
    let mut best: Option<Value<'a>> = None;
    let replace = if greatest { Ordering::Less } else { Ordering::Greater };
    for item in list.iter() {
        if !comparable(&item) {
            return wrong(item);
        }
        if best.as_ref().is_none_or(|best| best.compare(&item).ok() == Some(replace)) {
            best = Some(item);
        }
    }
    best.unwrap_or_else(|| Value::error(format!("{} called on empty list", if greatest { "max" } else { "min" })))
}

pub(crate) fn index_of<'a>(list: &List<'a>, item: &Value<'a>, last: bool) -> Value<'a> {
    let equal = |index: &usize| list.get(*index).is_some_and(|own| matches!(own.equal(item), Value::Bool(true)));
    let found = if last { (0..list.len()).rev().find(equal) } else { (0..list.len()).find(equal) };
    Value::Int(found.map_or(-1, |index| index as i64))
}

pub(crate) fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> Value<'a> {
    let wrong = |problem: String| Value::error(format!("cannot slice({start}, {end}), {problem}"));
    if start < 0 || end < 0 {
        return wrong("negative indexes not supported".to_owned());
    }
    if start > end {
        return wrong("start index must be less than or equal to end index".to_owned());
    }
    if (list.len() as i64) < end {
        return wrong(format!("list is length {}", list.len()));
    }
    Value::list((start as usize..end as usize).filter_map(|index| list.get(index)).collect())
}

pub(crate) fn flatten<'a>(list: &List<'a>, depth: i64) -> Value<'a> {
    if depth < 0 {
        return Value::error("level must be non-negative");
    }
    let mut out = Vec::new();
    if depth == 1 {
        for item in list.iter() {
            match item {
                Value::List(inner) => out.extend(inner.iter()),
                item => out.push(item),
            }
        }
        return Value::list(out);
    }
    let mut stack = vec![(list.clone(), 0usize, depth)];
    while let Some((list, index, depth)) = stack.pop() {
        let Some(item) = list.get(index) else { continue };
        stack.push((list, index + 1, depth));
        match item {
            Value::List(inner) if depth > 0 => stack.push((inner, 0, depth - 1)),
            item => out.push(item),
        }
    }
    Value::list(out)
}

pub(crate) fn sort_by<'a>(list: &List<'a>, keys: &List<'a>) -> Value<'a> {
    if list.len() != keys.len() {
        return Value::error(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements \
             respectively",
            list.len(),
            keys.len()
        ));
    }
    let Some(first) = keys.get(0) else { return Value::List(list.clone()) };
    if !comparable(&first) {
        return Value::error("list elements must be comparable");
    }
    let keys: Vec<Value<'a>> = keys.iter().collect();
    let ty = first.type_of();
    if keys.len() > 1 && keys.iter().any(|key| key.type_of() != ty) {
        return Value::error("list elements must have the same type");
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|a, b| keys[*a].compare(&keys[*b]).unwrap_or(Ordering::Equal));
    Value::list(order.into_iter().filter_map(|index| list.get(index)).collect())
}

pub(crate) fn range<'a>(count: i64) -> Value<'a> {
    if count > MAX_ELEMENTS as i64 {
        return Value::error(format!("lists.range({count}): a list has at most {MAX_ELEMENTS} elements"));
    }
    Value::list((0..count).map(Value::Int).collect())
}

pub(crate) fn distinct<'a>(list: &List<'a>) -> Value<'a> {
    let mut out: Vec<Value<'a>> = Vec::new();
    for item in list.iter() {
        if !out.iter().any(|other| matches!(item.equal(other), Value::Bool(true))) {
            out.push(item);
        }
    }
    Value::list(out)
}

/// Returns `true`, or the result for the first of `elements` that `list` does not contain.
pub(crate) fn contains_all<'a>(list: &List<'a>, elements: &List<'a>) -> Value<'a> {
    let missing = |item| Some(list.contains(&item)).filter(|found| !matches!(found, Value::Bool(true)));
    elements.iter().find_map(missing).unwrap_or(Value::Bool(true))
}

pub(crate) fn unwrap<'a>(list: &List<'a>) -> Value<'a> {
    let mut out = Vec::new();
    for item in list.iter() {
        match item {
            Value::Optional(Some(inner)) => out.push((*inner).clone()),
            Value::Optional(None) => {}
            other => return Value::error(format!("value {} is not optional", crate::value::print::plain(&other))),
        }
    }
    Value::list(out)
}
