//! Names of hosts and of objects.

use regex::Regex;
use std::sync::LazyLock;

/// The longest hostname.
const HOSTNAME_LENGTH: usize = 255;
/// The longest part of a hostname, and the longest short name.
const LABEL_LENGTH: usize = 63;
/// The longest long name.
const LONG_NAME_LENGTH: usize = 253;

/// Upstream's expression: letters and symbols of all scripts, and dashes where the names of several parts allow them.
#[expect(clippy::unwrap_used, reason = "a constant expression, compiled by a test")]
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|",
        r"([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
    ))
    .unwrap()
});

pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= HOSTNAME_LENGTH
        && text.split('.').all(|label| label.len() <= LABEL_LENGTH)
        && HOSTNAME.is_match(text)
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_label(text: &str) -> bool {
    let edge = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(edge)
        && bytes.last().is_some_and(edge)
        && bytes.iter().all(|b| edge(b) || *b == b'-')
}

pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= LABEL_LENGTH && is_label(text)
}

pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= LONG_NAME_LENGTH && text.split('.').all(is_label)
}
