//! Advice about expressions that do not compile, and the location of their errors.

use crate::{Part, Problem};
use kubeshape_cel::{Issue, Issues, escape};
use kubeshape_schema::field::ErrorType;
use kubeshape_schema::question;
use kubeshape_validate::AskedRelease;
use kubeshape_validate::crd::Kept;
use kubeshape_yaml::{Document, Node};
use std::ops::Range;

/// Further errors of an expression are only counted.
const MOST: usize = 3;

/// Finds the part of each expression that does not compile, and adds advice.
pub(crate) fn explain(problems: &mut [Problem], kept: &Kept, document: Document<'_>) {
    for problem in problems {
        let (Some(error), Some(release)) = (&problem.error, problem.releases.iter().max()) else { continue };
        problem.advice = match error.detail.as_str() {
            "cel expression must evaluate to a bool" => {
                Some("Write a comparison, or call a function that returns true or false.".to_owned())
            }
            "messageExpression must evaluate to a string" => {
                Some("Convert the result with `string()`, or write a text in quotes.".to_owned())
            }
            _ => problem.advice.take(),
        };
        if error.error_type != ErrorType::Invalid || !error.detail.contains("compilation failed") {
            continue;
        }
        let node = document.node(problem.note.at);
        let issues = kept.mistakes(&error.path, &AskedRelease::from(*release));
        let (Some(text), Some(issues)) = (node.as_str(), issues) else { continue };
        if let Some(mistake) = Mistake::of(&issues, text, node) {
            problem.advice = mistake.advice;
            problem.part = Some(mistake.part);
        }
    }
}

/// The first error of an expression.
struct Mistake {
    part: Part,
    advice: Option<String>,
}

impl Mistake {
    fn of(issues: &Issues, text: &str, node: Node<'_>) -> Option<Mistake> {
        let (first, others) = issues.issues().split_first()?;
        let escape = issues.unknown_escape().filter(|_| first.message.starts_with(SYNTAX));
        if let Some(escape) = escape {
            let written = &text[escape.clone()];
            let message = format!("`{written}` is not an escape sequence of CEL");
            let part = Part { source: node.source_of(escape), message: Some(message), others: Vec::new() };
            return Some(Mistake { part, advice: Some(double(written, node)) });
        }
        if let Some((part, message)) = keyword(issues, text) {
            let (word, chain) = (&text[part.clone()], chain(text, part.start));
            let advice = format!("`{word}` is a keyword of CEL. A field of this name is `{chain}__{word}__`.");
            let part = Part { source: node.source_of(part), message: Some(message), others: Vec::new() };
            return Some(Mistake { part, advice: Some(advice) });
        }
        let part = issues.part(first)?;
        let mut others: Vec<String> = others.iter().take(MOST).map(|issue| issue.message.clone()).collect();
        let more = issues.issues().len().saturating_sub(1 + MOST);
        if more > 0 {
            others.push(format!("{more} more"));
        }
        let advice = advice(first, text, &part);
        let message = Some(first.message.clone());
        Some(Mistake { part: Part { source: node.source_of(part), message, others }, advice })
    }
}

/// The prefix of messages about syntax errors.
const SYNTAX: &str = "Syntax error: ";

/// Returns a keyword that is selected like a field, which is a syntax error, and the message about it.
fn keyword(issues: &Issues, text: &str) -> Option<(Range<usize>, String)> {
    ["in", "true", "false", "null"].iter().find_map(|word| {
        let selected = format!(".{word}");
        let is_about = |issue: &&Issue| {
            let message = issue.message.strip_prefix(SYNTAX).unwrap_or_default();
            message.contains(&format!("{selected}'")) || message.contains(&format!("input '{word}'"))
        };
        let issue = issues.issues().iter().find(is_about)?;
        let is_word = |end: usize| !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let is_quoted = |start: usize| !text[..start].matches(['\'', '"']).count().is_multiple_of(2);
        let mut found = text.match_indices(&selected).map(|(at, _)| at + 1..at + selected.len());
        let place = found.find(|place| is_word(place.end) && !is_quoted(place.start))?;
        Some((place, issue.message.clone()))
    })
}

/// Returns advice about an unknown escape sequence.
fn double(escape: &str, node: Node<'_>) -> String {
    let is_double_quoted = node.document().source()[node.span()].starts_with('"');
    if is_double_quoted {
        return format!(
            "Within double quotes, write `\\\\\\{escape}` for `\\{escape}` in the expression. Or put `r` before the quote of the \
             text in CEL, which then has no escapes."
        );
    }
    format!("Write `\\{escape}`, or put `r` before the quote: `r'{escape}'`. Such a text has no escapes.")
}

/// Returns advice about an error; `None` if the page of the code says everything.
fn advice(issue: &Issue, text: &str, part: &Range<usize>) -> Option<String> {
    let message = issue.message.as_str();
    let quoted = |before: &str| message.strip_prefix(before)?.split('\'').next();
    if let Some(field) = quoted("undefined field '") {
        return Some(match issue.meant.as_slice() {
            [name, ..] if escape::is_written_for(name, field) => escaped(name, &chain(text, part.start)),
            [] => {
                format!("A rule sees only fields that the schema declares. Declare `{field}`, or name another field.")
            }
            meant => format!("{} A rule sees only fields that the schema declares.", question(meant)),
        });
    }
    if quoted("undeclared reference to '").is_some() {
        return match issue.meant.as_slice() {
            [] => None,
            [name, ..] if name.contains("__") => Some(escaped(name.strip_prefix("self.")?, "self.")),
            [name, ..] if name.starts_with("self.") => {
                Some(format!("Write `{name}`: the fields of the value are behind `self`."))
            }
            meant => Some(question(meant)),
        };
    }
    if let Some(function) = quoted("found no matching overload for '") {
        let index = function == "_[_]" && message.contains("selfType");
        return Some(if index {
            "Fields of an object are named, without an index: `self.field`. In names, `-` is `__dash__`, `.` is `__dot__` and \
             `/` is `__slash__`."
        } else {
            "The types in the message do not go together here. Convert a value, for example with `int()` or `string()`, or \
             name another field or function."
        }
        .to_owned());
    }
    if let Some(word) = message.strip_prefix("reserved identifier: ") {
        return Some(format!(
            "`{word}` is a reserved word of CEL. A field of this name is `self.__{word}__`; variables need another name."
        ));
    }
    if message.starts_with("expected type 'bool' but found") {
        return Some("Both sides of `&&` and `||` must be true or false. Compare the value with another.".to_owned());
    }
    if message.ends_with("does not support field selection") {
        return Some(
            "Only objects and maps have fields. Leave the field out, or name a field that is an object.".to_owned(),
        );
    }
    syntax(message.strip_prefix(SYNTAX)?, text, part)
}

/// Returns advice about a syntax error.
fn syntax(message: &str, text: &str, part: &Range<usize>) -> Option<String> {
    let unknown = message.strip_prefix("token recognition error at: '").unwrap_or_default();
    let single = |operator: char| unknown.starts_with(operator);
    Some(match unknown.chars().next() {
        Some('=') => "Write `==` to compare.".to_owned(),
        Some('&' | '|') => {
            let operator = if single('&') { "&&" } else { "||" };
            format!("Write `{operator}`. CEL has no operators on bits.")
        }
        Some('\'' | '"') => "Close the text with the quote that it begins with.".to_owned(),
        _ if text[..part.start].ends_with('.') && text[part.start..].starts_with(|c: char| c.is_ascii_digit()) => {
            "A rule cannot use a field whose name begins with a digit.".to_owned()
        }
        _ => return None,
    })
}

/// Returns the escaped spelling of a field.
fn escaped(name: &str, chain: &str) -> String {
    let own = escape::unescape(name).unwrap_or_default();
    if escape::is_reserved(&own) {
        format!("The schema declares `{own}`, which is a reserved word of CEL. Write `{chain}{name}`.")
    } else {
        format!("The name `{own}` has another form in expressions. Write `{chain}{name}`.")
    }
}

/// Returns the dotted names before a position: `self.spec.`
fn chain(text: &str, at: usize) -> String {
    let before = &text[..at];
    let start = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')).len();
    before[start..].to_owned()
}
