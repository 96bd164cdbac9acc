//! The walk over a value and its schema, like kube-openapi's `SchemaValidator`.
//!
//! One walk serves two purposes. The quick one stops at the first error and creates nothing. The full one collects all
//! errors and counts successful checks: if no branch is valid, upstream reports the errors of the one with the highest
//! count.

use super::correlate::{Correlation, NodeOf};
use super::equal::{equal, json};
use super::name::{Failure, Name};
use super::number::{self, Number};
use super::outcome::{Base, Outcome, composite, failure};
use super::prepare::{Node, Rest, Types, Validator};
use crate::release::AskedRelease;
use kubeshape_schema::Type;
use kubeshape_schema::field::{BadValue, ErrorType};
use kubeshape_value::{Map, Value, compare_keys};
use kubeshape_yaml::go::escape::GoQuoted;
use std::cell::Cell;
use std::collections::HashSet;

/// Checks a value against a schema. Recursion is bounded: schemas nest only as deep as their reader allows.
pub(super) fn value<'v, 's, 'a>(
    validator: &'s Validator<'a>,
    schema: u32,
    value: Value<'v>,
    name: &Name<'_>,
    correlation: Option<Correlation<'v, NodeOf<'s, 'a>>>,
    out: &mut Outcome<'_>,
) {
    // Errors of unchanged values are dropped, but their successful checks are counted.
    if let Some(pair) = correlation.filter(|_| out.base.is_some()) {
        let mut own = out.apart();
        node(validator, validator.node(schema), value, name, correlation, &mut own);
        if !own.is_valid() && pair.is_unchanged() {
            own.failed = false;
            own.failures.clear();
        }
        out.take(own);
        return;
    }
    node(validator, validator.node(schema), value, name, None, out);
}

fn node<'v, 's, 'a>(
    validator: &'s Validator<'a>,
    node: &Node<'a>,
    value: Value<'v>,
    name: &Name<'_>,
    correlation: Option<Correlation<'v, NodeOf<'s, 'a>>>,
    out: &mut Outcome<'_>,
) {
    if value.is_null() {
        null(node, name, out);
        return;
    }
    let release = validator.release();
    if !node.types.text.is_empty() || !node.format(release).is_empty() {
        check_type(node, value, name, release, out);
        out.matches(1);
    }
    if out.is_done() {
        return;
    }
    branches(validator, node, value, name, out);
    // One for the check of branches, one of its caller, one for enumerations, one for the whole.
    out.matches(4);
    if out.is_done() {
        return;
    }
    match value {
        Value::String(text) => {
            string(node, text, name, release, out);
            out.matches(1 + u32::from(node.check.is_some()));
        }
        Value::Int(n) => {
            number(node, Number::Int(n), name, release, out);
            out.matches(1);
        }
        Value::Float(n) => {
            number(node, Number::Float(n), name, release, out);
            out.matches(1);
        }
        Value::List(items) => {
            list(validator, node, items, name, correlation, out);
            out.matches(2);
        }
        Value::Map(map) => {
            object(validator, node, map, name, correlation, out);
            out.matches(1);
        }
        Value::Null | Value::Bool(_) => {}
    }
    if !node.enumeration().is_empty() && !out.is_done() && !is_listed(node, value) {
        out.fail(|base| not_listed(base, node, value, name));
    }
}

fn null(node: &Node<'_>, name: &Name<'_>, out: &mut Outcome<'_>) {
    if node.types.text.is_empty() || node.nullable || node.types.has(Types::NULL) {
        out.matches(1);
    } else {
        out.fail(|base| wrong_type(base, name, node.types.text, "null"));
    }
    // An enumeration never contains null, even if it lists it.
    if !node.enumeration().is_empty() {
        out.fail(|base| not_listed(base, node, Value::Null, name));
    }
}

fn wrong_type(base: Base<'_>, name: &Name<'_>, expected: &str, found: &str) -> Failure {
    let detail = format!("{name} in body must be of type {expected}: {}", GoQuoted(found));
    failure(base, name, ErrorType::TypeInvalid, found.into(), detail)
}

#[inline]
fn check_type(node: &Node<'_>, value: Value<'_>, name: &Name<'_>, release: &AskedRelease, out: &mut Outcome<'_>) {
    const INTEGER: u8 = Types::bit(Type::Integer);
    const NUMBER: u8 = Types::bit(Type::Number);
    let (ty, format) = match value {
        Value::Null => return,
        Value::Bool(_) => (Type::Boolean, ""),
        Value::Int(_) => (Type::Integer, "int64"),
        Value::Float(_) => (Type::Number, "float64"),
        Value::String(_) => (Type::String, ""),
        Value::List(_) => (Type::Array, ""),
        Value::Map(_) => (Type::Object, ""),
    };
    let is_expected = node.types.has(Types::bit(ty))
        || match value {
            Value::Int(_) => node.types.has(NUMBER),
            Value::Float(n) => node.types.has(INTEGER) && number::is_integer(n),
            _ => false,
        };
    if is_expected {
        out.matches(1);
        return;
    }
    let declared = node.format(release);
    if declared.is_empty() {
        out.fail(|base| wrong_type(base, name, node.types.text, ty.name()));
    } else if matches!(ty, Type::String | Type::Array) {
        // With a format, upstream accepts strings and lists as strings.
        if node.types.has(INTEGER | NUMBER) {
            out.fail(|base| wrong_type(base, name, node.types.text, ty.name()));
        } else {
            out.matches(1);
        }
    } else if format == declared {
        out.fail(|base| wrong_type(base, name, node.types.text, ty.name()));
    } else {
        out.fail(|base| wrong_type(base, name, declared, format));
    }
}

fn string(node: &Node<'_>, text: &str, name: &Name<'_>, release: &AskedRelease, out: &mut Outcome<'_>) {
    let extra = node.extra;
    if extra.max_length.is_some() || extra.min_length.is_some() || node.has_pattern() {
        check_string(node, text, name, out);
    }
    if !out.is_done() && node.refuses(text, release) {
        out.fail(|base| {
            let detail = format!("{name} in body must be of type {}: {}", node.format(release), GoQuoted(text));
            failure(base, name, ErrorType::TypeInvalid, text.into(), detail)
        });
    }
}

/// Checks length and pattern; only the first of their errors is reported.
fn check_string(node: &Node<'_>, text: &str, name: &Name<'_>, out: &mut Outcome<'_>) {
    let extra = node.extra;
    let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(most) = extra.max_length.filter(|most| length() > *most) {
        out.fail(|base| {
            let detail = match most {
                1 => "may not be more than 1 byte".to_owned(),
                0.. => format!("may not be more than {most} bytes"),
                _ => "value is too long".to_owned(),
            };
            failure(base, name, ErrorType::TooLong, BadValue::Omitted, detail)
        });
        return;
    }
    if let Some(least) = extra.min_length.filter(|least| length() < *least) {
        out.fail(|base| {
            let detail = format!("{name} in body should be at least {least} chars long");
            failure(base, name, ErrorType::Invalid, text.into(), detail)
        });
        return;
    }
    // A value whose check was stopped is not valid.
    if out.stop.is_set() {
        out.failed = true;
        return;
    }
    match node.is_match(text, &mut out.patterns) {
        Ok(true) => {}
        Ok(false) => out.fail(|base| {
            let detail = format!("{name} in body should match '{}'", extra.pattern);
            failure(base, name, ErrorType::Invalid, text.into(), detail)
        }),
        Err(error) => out.fail(|base| {
            let detail = format!("{name} in body should match '{}, but pattern is invalid: {error}'", extra.pattern);
            failure(base, name, ErrorType::Invalid, text.into(), detail)
        }),
    }
}

#[inline]
fn number(node: &Node<'_>, value: Number, name: &Name<'_>, release: &AskedRelease, out: &mut Outcome<'_>) {
    if node.has_numbers() {
        number::check(value, node.range(value, release), node.extra, node.exclusive, name, out);
    } else {
        out.matches(1);
    }
}

/// Returns whether an enumeration contains a value, after Go's conversion to the type of the element.
fn is_listed(node: &Node<'_>, value: Value<'_>) -> bool {
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "as Go converts and compares")]
    node.enumeration().iter().any(|element| match (value, *element) {
        (Value::Float(n), Value::Int(element)) => number::to_int(n) == element,
        (Value::Int(n), Value::Float(element)) => n as f64 == element,
        (Value::Int(n), Value::String(element)) => {
            let c = u32::try_from(n).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            element == c.encode_utf8(&mut [0; 4])
        }
        (_, Value::Null) => false,
        (value, element) => equal(value, element),
    })
}

fn not_listed(base: Base<'_>, node: &Node<'_>, value: Value<'_>, name: &Name<'_>) -> Failure {
    let texts: Vec<String> = node
        .enumeration()
        .iter()
        .map(|element| match element {
            Value::String(text) => GoQuoted(text).to_string(),
            element => GoQuoted(&json(*element)).to_string(),
        })
        .collect();
    let detail = format!("supported values: {}", texts.join(", "));
    failure(base, name, ErrorType::NotSupported, base.printing.bad_value(value), detail)
}

fn branches(validator: &Validator<'_>, node: &Node<'_>, instance: Value<'_>, name: &Name<'_>, out: &mut Outcome<'_>) {
    let quoted = || GoQuoted(&name.to_string()).to_string();
    let (base, stop, failures, patterns) = (out.base, out.stop, out.failures.apart(), Cell::new(out.patterns));
    let run = |branch: u32| {
        let failures = failures.apart();
        let mut own = Outcome { base, failures, patterns: patterns.get(), ..Outcome::quick(stop) };
        value(validator, branch, instance, name, None, &mut own);
        patterns.set(own.patterns);
        own
    };
    if !node.any_of().is_empty() {
        let mut best: Option<Outcome<'_>> = None;
        for branch in node.any_of() {
            let own = run(*branch);
            let valid = own.is_valid();
            if valid || best.as_ref().is_none_or(|best| own.matches > best.matches) {
                best = Some(own);
            }
            if valid {
                break;
            }
        }
        if let Some(best) = best {
            if !best.is_valid() {
                out.fail(|base| composite(base, format!("{} must validate at least one schema (anyOf)", quoted())));
            }
            out.take(best);
        }
        if out.is_done() {
            return;
        }
    }
    if !node.one_of().is_empty() {
        let mut best: Option<Outcome<'_>> = None;
        let mut first = None;
        let mut valid = 0usize;
        for branch in node.one_of() {
            let own = run(*branch);
            if own.is_valid() {
                valid += 1;
                best = None;
                first = first.or(Some(own));
            } else if valid == 0 && best.as_ref().is_none_or(|best| own.matches > best.matches) {
                best = Some(own);
            }
        }
        let taken = if valid == 1 { first } else { best };
        if valid != 1 {
            out.fail(|base| {
                let found = match valid {
                    0 => "Found none valid".to_owned(),
                    count => format!("Found {count} valid alternatives"),
                };
                composite(base, format!("{} must validate one and only one schema (oneOf). {found}", quoted()))
            });
        }
        if let Some(taken) = taken {
            out.take(taken);
        }
        if out.is_done() {
            return;
        }
    }
    if !node.all_of().is_empty() {
        let mut valid = 0usize;
        for branch in node.all_of() {
            let own = run(*branch);
            valid += usize::from(own.is_valid());
            out.take(own);
            if out.is_done() {
                return;
            }
        }
        if valid != node.all_of().len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            out.fail(|base| composite(base, format!("{} must validate all the schemas (allOf){none}", quoted())));
        }
    }
    if let Some(not) = node.not() {
        let mut own = Outcome::quick(stop);
        value(validator, not, instance, name, None, &mut own);
        if own.is_valid() {
            out.fail(|base| composite(base, format!("{} must not validate the schema (not)", quoted())));
        }
    }
}

fn list<'v, 's, 'a>(
    validator: &'s Validator<'a>,
    node: &Node<'a>,
    items: &'v [Value<'v>],
    name: &Name<'_>,
    correlation: Option<Correlation<'v, NodeOf<'s, 'a>>>,
    out: &mut Outcome<'_>,
) {
    if let Some(schema) = node.items {
        let old = correlation.and_then(|pair| Some((pair, pair.items()?)));
        for (at, item) in items.iter().enumerate() {
            let pair = old.as_ref().and_then(|(pair, old)| pair.item(*item, old.get(*item)?));
            value(validator, schema, *item, &Name::Index(name, at), pair, out);
            if out.is_done() {
                return;
            }
        }
    }
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.extra.min_items.filter(|least| count < *least) {
        out.fail(|base| {
            let detail = format!("{name} in body should have at least {least} items");
            failure(base, name, ErrorType::Invalid, count.into(), detail)
        });
    }
    if let Some(most) = node.extra.max_items.filter(|most| count > *most) {
        out.fail(|base| too_many(base, name, count, most));
    }
    if node.unique_items && !out.is_done() && has_duplicates(items) {
        out.fail(|base| {
            let detail = format!("{name} in body shouldn't contain duplicates");
            failure(base, name, ErrorType::Invalid, "".into(), detail)
        });
    }
}

fn too_many(base: Base<'_>, name: &Name<'_>, count: i64, most: i64) -> Failure {
    let detail = match most {
        1 => "must have at most 1 item".to_owned(),
        0.. => format!("must have at most {most} items"),
        _ => "has too many items".to_owned(),
    };
    failure(base, name, ErrorType::TooMany, count.into(), detail)
}

/// Returns whether two items are equal. In JSON, integers and floats are distinguished by a mark.
fn has_duplicates(items: &[Value<'_>]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().any(|item| {
        let mut text = Vec::new();
        marked_json(*item, &mut text);
        !seen.insert(text)
    })
}

fn marked_json(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Float(_) => {
            out.push(b'.');
            value.write_go_json(out);
        }
        Value::List(items) => {
            out.push(b'[');
            for item in items {
                marked_json(*item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Map(map) => {
            out.push(b'{');
            for (key, value) in map.entries() {
                Value::String(key).write_go_json(out);
                marked_json(*value, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        value => value.write_go_json(out),
    }
}

fn object<'v, 's, 'a>(
    validator: &'s Validator<'a>,
    node: &Node<'a>,
    map: Map<'v>,
    name: &Name<'_>,
    correlation: Option<Correlation<'v, NodeOf<'s, 'a>>>,
    out: &mut Outcome<'_>,
) {
    let count = i64::try_from(map.len()).unwrap_or(i64::MAX);
    if let Some(least) = node.extra.min_properties.filter(|least| count < *least) {
        out.fail(|base| {
            let detail = format!("{name} in body should have at least {least} properties");
            failure(base, name, ErrorType::Invalid, count.into(), detail)
        });
    }
    if let Some(most) = node.extra.max_properties.filter(|most| count > *most) {
        out.fail(|base| too_many(base, name, count, most));
    }
    if out.is_done() {
        return;
    }
    let at_root = matches!(name, Name::Root);
    // Both are sorted, so this is a merge.
    let mut properties = node.properties.iter().peekable();
    for (key, child) in map.entries() {
        while properties.next_if(|property| compare_keys(property.0, key).is_lt()).is_some() {}
        let (schema, path) = match (properties.next_if(|property| property.0 == *key), node.rest) {
            (Some(property), _) => (property.1, Name::Property(name, key)),
            (None, Rest::Schema(schema)) => (schema, Name::Additional(name, key)),
            (None, Rest::Any) => continue,
            (None, Rest::None) => {
                out.fail(|base| {
                    let detail = format!("{name}.{key} in body is a forbidden property");
                    failure(base, name, ErrorType::Invalid, (*key).into(), detail)
                });
                continue;
            }
        };
        // The type of the object itself is never treated as unchanged.
        let pair =
            correlation.filter(|_| !(at_root && matches!(*key, "kind" | "apiVersion"))).and_then(|pair| pair.key(key));
        value(validator, schema, *child, &path, pair, out);
        if out.is_done() {
            return;
        }
    }
    for key in node.required {
        if map.get(key).is_none() {
            out.fail(|base| {
                let path = Name::Additional(name, key);
                failure(base, &path, ErrorType::Required, BadValue::Omitted, String::new())
            });
        }
    }
}
