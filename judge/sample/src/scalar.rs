//! Candidates for values without members.

use super::pattern::{Choice, MAX_LENGTH, Pattern};
use kubeshape_schema::{Bump, Flags, Schema, Type};
use kubeshape_value::Value;

/// Returns values that the schemas name: defaults, examples and enumerations.
pub(super) fn named<'a>(schemas: &[&'a Schema<'a>], arena: &'a Bump) -> Vec<Value<'a>> {
    let mut out = Vec::new();
    for schema in schemas {
        let given = schema.default.into_iter().chain(schema.extra().example).chain(schema.enumeration);
        out.extend(given.map(|json| Value::from_json(json, arena)).filter(|value| !value.is_null()));
    }
    out
}

/// Returns the first candidate for all these schemas that `takes` accepts, the most likely first. The validator decides
/// whether one fits. Another `salt` gives other values, for list items that must differ.
pub(super) fn candidate<'a>(
    schemas: &[&'a Schema<'a>],
    ty: Type,
    salt: usize,
    arena: &'a Bump,
    mut takes: impl FnMut(Value<'a>) -> bool,
) -> Option<Value<'a>> {
    let integers = || integers(schemas, salt).into_iter().map(Value::Int);
    match ty {
        Type::Boolean => [Value::Bool(salt == 0), Value::Bool(salt != 0)].into_iter().find(|value| takes(*value)),
        Type::Integer => integers().find(|value| takes(*value)),
        Type::Number => integers().chain(numbers(schemas).into_iter().map(Value::Float)).find(|value| takes(*value)),
        Type::String => {
            let mut found = None;
            texts(schemas, salt, &mut |text| {
                let value = Value::String(arena.alloc_str(text));
                found = takes(value).then_some(value);
                found.is_some()
            });
            found
        }
        _ => None,
    }
}

/// Returns the least and the greatest number.
fn bounds(schemas: &[&Schema<'_>]) -> (Option<f64>, Option<f64>) {
    let least = schemas.iter().filter_map(|schema| schema.extra().minimum).reduce(f64::max);
    let most = schemas.iter().filter_map(|schema| schema.extra().maximum).reduce(f64::min);
    (least, most)
}

fn integers(schemas: &[&Schema<'_>], salt: usize) -> Vec<i64> {
    let (least, most) = bounds(schemas);
    let salt = i64::try_from(salt).unwrap_or_default();
    let step = schemas.iter().filter_map(|schema| schema.extra().multiple_of).find(|step| *step >= 1.0);
    let step = step.map_or(1, |step| step as i64).max(1);
    let least = least.map(|least| least.ceil() as i64);
    let most = most.map(|most| most.floor() as i64);
    let up = |n: i64| n.saturating_add((step - n.rem_euclid(step)) % step);
    let mut out = Vec::new();
    if let Some(least) = least {
        for more in [0, 1] {
            out.push(up(least).saturating_add((salt + more).saturating_mul(step)));
        }
    }
    if least.is_none_or(|least| least <= 1) {
        out.insert(0, up(1).saturating_add(salt.saturating_mul(step)));
    }
    out.push(salt.saturating_mul(step));
    if let Some(most) = most {
        for less in [0, 1] {
            out.push(most.saturating_sub(most.rem_euclid(step)).saturating_sub((salt + less).saturating_mul(step)));
        }
    }
    out
}

fn numbers(schemas: &[&Schema<'_>]) -> Vec<f64> {
    let (least, most) = bounds(schemas);
    let step = schemas.iter().find_map(|schema| schema.extra().multiple_of);
    let middle = least.zip(most).map(|(least, most)| f64::midpoint(least, most));
    let multiple = step.map(|step| (least.unwrap_or_default() / step).ceil() * step);
    least.into_iter().chain(most).chain(middle).chain(multiple).chain([0.5]).filter(|n| n.is_finite()).collect()
}

/// Generates strings until one is accepted: a pattern has many of them, and most do not fit.
fn texts(schemas: &[&Schema<'_>], salt: usize, takes: &mut dyn FnMut(&str) -> bool) {
    let length = |n: i64| usize::try_from(n).unwrap_or_default();
    let least = schemas.iter().filter_map(|schema| schema.extra().min_length).max().map_or(0, length);
    let most = schemas.iter().filter_map(|schema| schema.extra().max_length).min().map_or(MAX_LENGTH, length);
    if least > MAX_LENGTH {
        return;
    }
    let mut made = Vec::new();
    let mut is_taken = |text: String| {
        let is_taken = takes(&text);
        made.push(text);
        is_taken
    };
    for schema in schemas.iter().filter(|schema| schema.flags.any(Flags::FORMAT)) {
        if of_format(schema.format, salt).is_some_and(&mut is_taken) {
            return;
        }
    }
    if is_taken(if salt == 0 { "example".to_owned() } else { format!("example-{salt}") }) {
        return;
    }
    for schema in schemas.iter().filter(|schema| schema.flags.any(Flags::PATTERN)) {
        let Some(pattern) = Pattern::new(schema.extra().pattern) else { continue };
        for more in [0, 1, 2, 5, least, least.saturating_sub(1), 16] {
            for pick in salt..salt + 4 {
                if pattern.text(Choice { pick, more }).is_some_and(&mut is_taken) {
                    return;
                }
            }
        }
    }
    if made.iter().any(|text| takes(&fitted(text, least, most))) {
        return;
    }
    let _ = ["", "a", "1", "1s", "/"].into_iter().any(takes);
}

/// Adjusts the length of a string to the bounds. Long strings lose their beginning, so that strings remain distinct.
fn fitted(text: &str, least: usize, most: usize) -> String {
    let length = text.chars().count();
    let mut out: String = text.chars().skip(length.saturating_sub(most)).collect();
    out.extend(std::iter::repeat_n('a', least.saturating_sub(length)));
    out
}

/// Returns a string of a format.
fn of_format(format: &str, salt: usize) -> Option<String> {
    let hex = salt % 256;
    let name = format.replace('-', "");
    let text = match name.as_str() {
        "bsonobjectid" => format!("507f1f77bcf86cd7994390{hex:02x}"),
        "byte" => ["ZXhhbXBsZQ==", "c2FtcGxl", "dGV4dA==", "b3RoZXI="][salt % 4].to_owned(),
        "cidr" => format!("10.0.{hex}.0/24"),
        "creditcard" => ["4111111111111111", "5500000000000004", "340000000000009"][salt % 3].to_owned(),
        "date" => format!("{}-01-01", 2000 + salt % 1000),
        "datetime" => format!("{}-01-01T00:00:00Z", 2000 + salt % 1000),
        "duration" => format!("{}s", 30 + salt),
        "email" => format!("user{salt}@example.com"),
        "hexcolor" => format!("#0000{hex:02x}"),
        "hostname" | "k8slongname" => format!("host{salt}.example.com"),
        "ipv4" | "ip" => format!("192.0.2.{hex}"),
        "ipv6" => format!("2001:db8::{hex:x}"),
        "isbn" | "isbn10" => ["0321751043", "0306406152"][salt % 2].to_owned(),
        "isbn13" => ["9780321751041", "9780306406157"][salt % 2].to_owned(),
        "k8sshortname" => format!("name-{salt}"),
        "mac" => format!("00:00:5e:00:53:{hex:02x}"),
        "rgbcolor" => format!("rgb({hex},0,0)"),
        "ssn" => format!("111-11-{:04}", 1111 + salt % 8000),
        "uri" => format!("https://example.com/{}", if salt == 0 { String::new() } else { salt.to_string() }),
        "uuid" | "uuid4" => format!("f47ac10b-58cc-4372-a567-0e02b2c3d4{hex:02x}"),
        "uuid3" => format!("f47ac10b-58cc-3372-a567-0e02b2c3d4{hex:02x}"),
        "uuid5" => format!("f47ac10b-58cc-5372-a567-0e02b2c3d4{hex:02x}"),
        _ => return None,
    };
    Some(text)
}
