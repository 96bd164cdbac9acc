//! JSON pointers (RFC 6901): the escapes of their tokens.

use std::borrow::Cow;

/// Returns a key as a token of a JSON pointer: `~` becomes `~0` and `/` becomes `~1`.
///
/// # Example
/// ```
/// use kubeshape_yaml::pointer;
/// assert_eq!(pointer::escape("a/b~c"), "a~1b~0c");
/// assert_eq!(pointer::unescape("a~1b~0c"), "a/b~c");
/// ```
pub fn escape(key: &str) -> Cow<'_, str> {
    if !key.contains(['~', '/']) {
        return Cow::Borrowed(key);
    }
    let mut out = String::with_capacity(key.len() + 4);
    push_escaped(&mut out, key);
    Cow::Owned(out)
}

/// Returns the key of a token of a JSON pointer. A `~` without `0` or `1` after it is kept.
pub fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') { Cow::Owned(token.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(token) }
}

/// Appends `/` and a key as a token of a JSON pointer.
///
/// # Example
/// ```
/// let mut pointer = "/paths".to_owned();
/// kubeshape_yaml::pointer::push(&mut pointer, "/apis");
/// assert_eq!(pointer, "/paths/~1apis");
/// ```
pub fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    push_escaped(pointer, key);
}

fn push_escaped(out: &mut String, key: &str) {
    for c in key.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
}
