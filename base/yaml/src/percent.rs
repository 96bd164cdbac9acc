//! Percent-encoding: the sets of characters that are not escaped, and decoders for strict and for lenient readers.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// Everything except letters, digits and `-_.~`: a value of a query, or a segment of a path.
pub const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// What Go's `net/url` escapes in a path.
pub const GO_PATH: &AsciiSet = &COMPONENT
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// What Go's `net/url` escapes in a fragment.
pub const GO_FRAGMENT: &AsciiSet = &GO_PATH.remove(b'?').remove(b'!').remove(b'(').remove(b')').remove(b'*');

/// What RFC 3986 escapes in a path.
pub const PATH: &AsciiSet = &GO_PATH.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');

/// What RFC 3986 escapes in a fragment.
pub const FRAGMENT: &AsciiSet = &PATH.remove(b'?');

/// Everything except letters, digits, `-` and `.`: a part of a file name.
pub const FILE_NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.');

/// Escapes the characters of a set, and all that are not ASCII.
///
/// # Example
/// ```
/// use kubeshape_yaml::percent;
/// assert_eq!(percent::encode("a b/é", percent::COMPONENT), "a%20b%2F%C3%A9");
/// assert_eq!(percent::encode("a b/é", percent::PATH), "a%20b/%C3%A9");
/// ```
pub fn encode<'t>(text: &'t str, escaped: &'static AsciiSet) -> Cow<'t, str> {
    utf8_percent_encode(text, escaped).into()
}

/// Decodes escapes. Malformed ones are kept, and bytes that are not UTF-8 are replaced.
///
/// # Example
/// ```
/// assert_eq!(kubeshape_yaml::percent::decode("%61%zz"), "a%zz");
/// ```
pub fn decode(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Decodes escapes to bytes; `None` if one is malformed.
///
/// # Example
/// ```
/// use kubeshape_yaml::percent;
/// assert_eq!(percent::decode_strict("%ff").as_deref(), Some(&[0xFF][..]));
/// assert_eq!(percent::decode_strict("%zz"), None);
/// ```
pub fn decode_strict(text: &str) -> Option<Cow<'_, [u8]>> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    let mut percents = memchr::memchr_iter(b'%', bytes);
    percents.all(|at| is_digit(at + 1) && is_digit(at + 2)).then(|| percent_decode_str(text).into())
}
