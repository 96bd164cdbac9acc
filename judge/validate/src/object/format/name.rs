//! Names of hosts and of objects.

use regex::Regex;

/// The longest hostname.
const HOSTNAME_LENGTH: usize = 255;
/// The longest part of a hostname, and the longest short name.
const LABEL_LENGTH: usize = 63;
/// The longest long name.
const LONG_NAME_LENGTH: usize = 253;

/// Checks one label, in which a dash may only be the second character; or labels with dashes inside, and a last one of
/// letters. Letters and symbols may be of any script.
pub(super) fn is_hostname(text: &str) -> bool {
    if text.len() > HOSTNAME_LENGTH || text.split('.').any(|label| label.len() > LABEL_LENGTH) {
        return false;
    }
    match text.rsplit_once('.') {
        None => {
            let mut rest = text.chars();
            let first = rest.next();
            let rest = rest.as_str().strip_prefix('-').unwrap_or(rest.as_str());
            first.is_some_and(is_symbol)
                && rest.chars().all(is_symbol)
                && rest.chars().count() < LABEL_LENGTH
                && is_of(r"^[\p{S}\p{L}]*$", text)
        }
        Some((labels, last)) => {
            labels.split('.').all(|label| {
                label.starts_with(is_symbol)
                    && label.ends_with(is_symbol)
                    && label.chars().all(|c| c == '-' || is_symbol(c))
            }) && last.chars().count() >= 2
                && last.chars().all(|c| c.is_ascii_alphabetic() || !c.is_ascii())
                && is_of(r"^[\p{S}\p{L}]*$", labels)
                && is_of(r"^\p{L}*$", last)
        }
    }
}

/// Returns whether a hostname may contain a character. Characters beyond ASCII are checked later, all together.
fn is_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '$' | '+' | '<'..='>' | '^' | '`' | '|' | '~') || !c.is_ascii()
}

/// Returns whether all characters beyond ASCII match an expression. Few strings have any, so the expression is not
/// kept.
fn is_of(expression: &str, text: &str) -> bool {
    let others: String = text.chars().filter(|c| !c.is_ascii()).collect();
    others.is_empty() || Regex::new(expression).is_ok_and(|regex| regex.is_match(&others))
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_label(text: &str) -> bool {
    let edge = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(edge) && bytes.last().is_some_and(edge) && bytes.iter().all(|b| edge(b) || *b == b'-')
}

pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= LABEL_LENGTH && is_label(text)
}

pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= LONG_NAME_LENGTH && text.split('.').all(is_label)
}
