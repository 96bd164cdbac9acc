//! Request targets, as Go's `net/url` parses them.

use std::borrow::Cow;

/// The percent-decoded text, with replacement characters for invalid UTF-8; `None` if an escape is malformed.
pub fn decoded(text: &str) -> Option<Cow<'_, str>> {
    unescaped(text, false)
}

fn unescaped(text: &str, plus_is_space: bool) -> Option<Cow<'_, str>> {
    if !text.bytes().any(|b| b == b'%' || (plus_is_space && b == b'+')) {
        return Some(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => out.push(hex(bytes.next()?)? << 4 | hex(bytes.next()?)?),
            b'+' if plus_is_space => out.push(b' '),
            byte => out.push(byte),
        }
    }
    Some(Cow::Owned(match String::from_utf8(out) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The percent-encoded path.
pub fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~:@!$&'()*+,;=".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend([byte >> 4, byte & 15].map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)])));
        }
    }
    out
}

/// All values of a parameter, in order. As in Go, parameters with a semicolon or a malformed escape are ignored.
///
/// ```
/// use kubeshape_objects::target::parameters;
///
/// assert_eq!(parameters("timeout=32s&hash=A%2B&Hash=B", "hash").next().as_deref(), Some("A+"));
/// ```
pub fn parameters<'q>(query: &'q str, name: &str) -> impl Iterator<Item = Cow<'q, str>> {
    // Most parameters are others, and many are asked for.
    let may_be = move |pair: &&str| match (pair.as_bytes().first(), name.as_bytes().first()) {
        (Some(b'%' | b'+'), _) => true,
        (first, wanted) => first.is_some() && first == wanted,
    };
    query.split('&').filter(may_be).filter(|pair| !pair.contains(';')).filter_map(move |pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wanted = unescaped(key, true)? == name;
        if wanted { unescaped(value, true) } else { None }
    })
}

/// The first value of a parameter.
pub fn parameter<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    if query.is_empty() { None } else { parameters(query, name).next() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_written() {
        assert_eq!(decoded("/%61pis/a+b").as_deref(), Some("/apis/a+b"));
        assert_eq!(decoded("/%6"), None);
        assert_eq!(decoded("/%zz"), None);
        assert_eq!(decoded("/%ff").as_deref(), Some("/\u{fffd}"));
        let odd = "/a b/%/ü?#";
        assert_eq!(encoded(odd), "/a%20b/%25/%C3%BC%3F%23");
        assert_eq!(decoded(&encoded(odd)).as_deref(), Some(odd));
    }

    #[test]
    fn parameters_are_read_as_go_does() {
        let all = |query| parameters(query, "hash").collect::<Vec<_>>();
        assert_eq!(all("hash=A&hash=B+C&x=1"), ["A", "B C"]);
        assert_eq!(all("hash"), [""]);
        assert_eq!(all("h=1&%68ash=A&+hash=B&ha%73h=C"), ["A", "C"]);
        assert!(all("Hash=A&hash=%zz&hash=a;b").is_empty());
        assert_eq!(parameter("", "hash"), None);
    }
}
