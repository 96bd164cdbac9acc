//! Checks of literals after type checking: durations, timestamps, regular expressions, lists and maps with elements of
//! one type, and format strings.

use super::Checked;
use crate::ast::{Entry, Expr, Id, Kind, Literal};
use crate::decls::Name;
use crate::issue::{Issues, Reports};
use crate::library::format::{self, Piece};
use crate::release::{Change, Language};
use crate::types::Type;
use crate::value::convert;

/// The first release that checks the contents of literal strings. Older ones check only the types of elements.
const TEXTS: u8 = 29;

/// Reports invalid literals of a checked expression.
pub(crate) fn validate(checked: &Checked, language: &Language, source: &str) -> Result<(), Issues> {
    let mut found = Found::default();
    gather(&checked.expr, false, &mut found);
    let mut issues = Reports::default();
    let mut report = |id: Id, message: String| issues.report(checked.places.of(id), message);
    for name in [Name::Duration, Name::Timestamp, Name::Matches] {
        for (function, id, literal) in &found.literals {
            if *function == name && !literal_fits(name, literal) && language.knows(TEXTS) {
                let function = match name {
                    Name::Duration => "duration",
                    Name::Timestamp => "timestamp",
                    _ => "matches",
                };
                report(*id, format!("invalid {function} argument"));
            }
        }
    }
    for (elements, optional) in &found.lists {
        let mut first: Option<&Type> = None;
        for (i, element) in elements.iter().enumerate() {
            let ty = inner(checked.ty(element.id), optional.contains(&i));
            if let Some(first) = first
                && !equivalent(first, ty)
            {
                report(element.id, mismatch(first, ty, language));
                break;
            }
            first = first.or(Some(ty));
        }
    }
    for entries in &found.maps {
        let mut first: Option<(&Type, &Type)> = None;
        for entry in *entries {
            let key = checked.ty(entry.key.id);
            let value = inner(checked.ty(entry.value.id), entry.optional);
            let Some((first_key, first_value)) = first else {
                first = Some((key, value));
                continue;
            };
            if !equivalent(first_key, key) {
                report(entry.key.id, mismatch(first_key, key, language));
            }
            if !equivalent(first_value, value) {
                report(entry.value.id, mismatch(first_value, value, language));
            }
        }
    }
    let mut of_texts = |id: Id, message: String| {
        if language.has(Change::FormatCalls) {
            report(id, message);
        }
    };
    for expr in &found.formats {
        format_call(checked, expr, &mut of_texts);
    }
    if issues.is_empty() { Ok(()) } else { Err(issues.of(source)) }
}

/// What is checked, children first.
#[derive(Default)]
struct Found<'e> {
    /// Literals that a function parses, with that function.
    literals: Vec<(Name, Id, &'e Literal)>,
    /// Lists and maps with several elements, outside calls of `format`.
    lists: Vec<(&'e [Expr], &'e [usize])>,
    maps: Vec<&'e [Entry]>,
    /// Calls of `format`.
    formats: Vec<&'e Expr>,
}

fn gather<'e>(expr: &'e Expr, exempt: bool, out: &mut Found<'e>) {
    let is_format = matches!(&expr.kind, Kind::Call { function, .. } if function.is(Name::Format));
    expr.each_child(|child| gather(child, exempt || is_format, out));
    match &expr.kind {
        Kind::Call { .. } if is_format => out.formats.push(expr),
        Kind::Call { function, args, .. } => {
            let name = function.known().map(|function| function.name);
            if let Some(name @ (Name::Duration | Name::Timestamp | Name::Matches)) = name
                && let Some(Expr { id, kind: Kind::Literal(literal) }) = args.first()
            {
                out.literals.push((name, *id, literal));
            }
        }
        Kind::List { elements, optional } if !exempt && elements.len() > 1 => out.lists.push((elements, optional)),
        Kind::Map(entries) if !exempt && entries.len() > 1 => out.maps.push(entries),
        _ => {}
    }
}

fn inner(ty: &Type, optional: bool) -> &Type {
    if optional { ty.parameters().first().copied().unwrap_or(ty) } else { ty }
}

fn equivalent(a: &Type, b: &Type) -> bool {
    fn plain(ty: &Type) -> &Type {
        if let Type::Wrapper(inner) = ty { inner } else { ty }
    }
    plain(a) == plain(b)
}

fn mismatch(expected: &Type, actual: &Type, language: &Language) -> String {
    format!("expected type '{}' but found '{}'", expected.in_message(language), actual.in_message(language))
}

/// Returns whether a call of a function with a literal succeeds (cel-go: `evalCall` and `compileRegex` of its
/// validators).
fn literal_fits(function: Name, literal: &Literal) -> bool {
    let converts = |to: &Type| !convert::convert(&literal.value(), to).is_error();
    match (function, literal) {
        (Name::Matches, Literal::String(pattern)) => kubeshape_structural::regex::check(pattern).is_ok(),
        (Name::Duration, _) => converts(&Type::Duration),
        (Name::Timestamp, _) => converts(&Type::Timestamp),
        _ => true,
    }
}

fn format_call(checked: &Checked, expr: &Expr, report: &mut dyn FnMut(Id, String)) {
    let Kind::Call { target: Some(target), args, .. } = &expr.kind else { return };
    let (Kind::Literal(Literal::String(text)), [Expr { kind: Kind::List { elements, .. }, .. }]) =
        (&target.kind, args.as_slice())
    else {
        return;
    };
    let mut place = expr.id;
    let result = format::walk(text, elements.len(), true, &mut |piece, index| {
        let Piece::Clause(clause) = piece else { return Ok(()) };
        let wrong = if clause == format::Clause::String {
            wrong_string(checked, &elements[index])
        } else {
            let id = elements[index].id;
            (!clause.takes(checked.ty(id))).then_some(id)
        };
        match wrong {
            None => Ok(()),
            Some(id) => {
                place = id;
                Err(clause.refusal(checked.ty(id).name()))
            }
        }
    });
    match result {
        Ok(used) if elements.len() > used => report(
            expr.id,
            format!("too many arguments supplied to string.format (expected {used}, got {})", elements.len()),
        ),
        Ok(_) => {}
        Err(error) => report(place, error),
    }
}

/// Returns the first node inside that a string clause does not accept.
fn wrong_string(checked: &Checked, expr: &Expr) -> Option<Id> {
    if !format::Clause::String.takes(checked.ty(expr.id)) {
        return Some(expr.id);
    }
    match &expr.kind {
        Kind::List { elements, .. } => elements.iter().find_map(|element| wrong_string(checked, element)),
        Kind::Map(entries) => entries
            .iter()
            .find_map(|entry| wrong_string(checked, &entry.key).or_else(|| wrong_string(checked, &entry.value))),
        _ => None,
    }
}
