//! Calls of the implementations of functions.

use crate::decls::{Name, Overload};
use crate::eval::{Call, CallKind};
use crate::library::regex::{Patterns, Regex};
use crate::library::{bindings, standard, strings};
use crate::release::Change;
use crate::value::{Text, Value};

/// Calls the implementation of a function.
pub(super) fn invoke<'a>(call: &Call, patterns: &Patterns, args: &mut [Value<'a>]) -> Value<'a> {
    match (&call.language, answer(call, patterns, args)) {
        // The release is asked only if the error depends on it.
        (Some(language), Value::Error(error))
            if error.ends_with(" optional_type") && !language.has(Change::OptionalTypes) =>
        {
            Value::error(error.trim_end_matches("_type"))
        }
        (_, value) => value,
    }
}

fn answer<'a>(call: &Call, patterns: &Patterns, args: &mut [Value<'a>]) -> Value<'a> {
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
    if let (Some(language), [Value::String(text), Value::String(part), rest @ ..]) = (&call.language, &*args)
        && matches!(call.function.name, Name::IndexOf | Name::LastIndexOf)
        && matches!(rest, [] | [Value::Int(_)])
        && let offset =
            rest.first().and_then(|offset| if let Value::Int(offset) = offset { Some(*offset) } else { None })
        && let Some(error) =
            strings::refused_offset(text, part, offset, call.function.name == Name::LastIndexOf, language)
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
