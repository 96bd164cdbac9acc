//! Checks of literals after the types are known: durations, moments, regular expressions, lists and maps of one type, and
//! format strings.

use super::Checked;
use crate::ast::{Expr, Id, Kind, Literal};
use crate::issue::Issues;
use crate::library::format::{self, Piece};
use crate::release::AskedRelease;
use crate::types::Type;
use crate::value::{Value, convert};

/// The release in which texts began to be checked that stand for something else, and not only the types of elements.
const TEXTS: u8 = 29;

/// Reports what is wrong with the literals of a checked expression.
pub(crate) fn validate(checked: &Checked, release: &AskedRelease, source: &str) -> Result<(), Issues> {
    let mut issues = Issues::new(source);
    let mut report = |id: Id, message: String| issues.report(checked.places.of(id), message);
    let mut all = Vec::new();
    gather(&checked.expr, false, &mut all);
    for function in ["duration", "timestamp", "matches"] {
        for (expr, _) in &all {
            if let Kind::Call { function: name, args, .. } = &expr.kind
                && **name == *function
                && let Some(Expr { id, kind: Kind::Literal(literal) }) = args.first()
                && !literal_fits(function, literal)
                && release.knows(TEXTS)
            {
                report(*id, format!("invalid {function} argument"));
            }
        }
    }
    for (expr, exempt) in &all {
        if let (Kind::List { elements, optional }, false) = (&expr.kind, exempt) {
            let mut first: Option<&Type> = None;
            for (i, element) in elements.iter().enumerate() {
                let ty = inner(checked.ty(element.id), optional.contains(&i));
                if let Some(first) = first
                    && !equivalent(first, ty)
                {
                    report(element.id, mismatch(first, ty));
                    break;
                }
                first = first.or(Some(ty));
            }
        }
    }
    for (expr, exempt) in &all {
        if let (Kind::Map(entries), false) = (&expr.kind, exempt) {
            let mut first: Option<(&Type, &Type)> = None;
            for entry in entries {
                let key = checked.ty(entry.key.id);
                let value = inner(checked.ty(entry.value.id), entry.optional);
                let Some((first_key, first_value)) = first else {
                    first = Some((key, value));
                    continue;
                };
                if !equivalent(first_key, key) {
                    report(entry.key.id, mismatch(first_key, key));
                }
                if !equivalent(first_value, value) {
                    report(entry.value.id, mismatch(first_value, value));
                }
            }
        }
    }
    let mut of_texts = |id: Id, message: String| {
        if release.knows(TEXTS) {
            report(id, message);
        }
    };
    for (expr, _) in &all {
        format_call(checked, expr, &mut of_texts);
    }
    if issues.is_empty() {
        return Ok(());
    }
    issues.sort();
    Err(issues)
}

/// All nodes, children first; with each whether it is inside a call of `format`.
fn gather<'e>(expr: &'e Expr, exempt: bool, out: &mut Vec<(&'e Expr, bool)>) {
    let inside = exempt || matches!(&expr.kind, Kind::Call { function, .. } if &**function == "format");
    for child in expr.children() {
        gather(child, inside, out);
    }
    out.push((expr, exempt));
}

fn inner(ty: &Type, optional: bool) -> &Type {
    if optional { ty.parameters().first().copied().unwrap_or(ty) } else { ty }
}

fn equivalent(a: &Type, b: &Type) -> bool {
    let plain = |ty: &Type| if let Type::Wrapper(inner) = ty { (**inner).clone() } else { ty.clone() };
    a == b || plain(a) == plain(b)
}

fn mismatch(expected: &Type, actual: &Type) -> String {
    format!("expected type '{}' but found '{}'", expected.in_message(), actual.in_message())
}

fn literal_fits(function: &str, literal: &Literal) -> bool {
    let to = if function == "duration" { Type::Duration } else { Type::Timestamp };
    match (function, literal) {
        ("matches", Literal::String(pattern)) => kubeshape_structural::regex::check(pattern).is_ok(),
        ("matches", _) => true,
        (_, Literal::String(text)) => !convert::convert(&Value::text(text.clone()), &to).is_error(),
        (_, Literal::Int(value)) => !convert::convert(&Value::Int(*value), &to).is_error(),
        _ => true,
    }
}

fn format_call(checked: &Checked, expr: &Expr, report: &mut dyn FnMut(Id, String)) {
    let Kind::Call { function, target: Some(target), args } = &expr.kind else { return };
    let (Kind::Literal(Literal::String(text)), [Expr { kind: Kind::List { elements, .. }, .. }]) =
        (&target.kind, args.as_slice())
    else {
        return;
    };
    if &**function != "format" {
        return;
    }
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

/// The first node inside that a string clause does not take.
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
