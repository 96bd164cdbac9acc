//! Request targets, as Go's `net/url` parses them.

use kubeshape_yaml::percent;
use std::borrow::Cow;

/// Decodes percent-encoding. Invalid UTF-8 becomes replacement characters; `None` if an escape is malformed.
pub fn decoded(text: &str) -> Option<Cow<'_, str>> {
    Some(match percent::decode_strict(text)? {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

/// Decodes a part of a query, where `+` is a space.
fn decoded_query(text: &str) -> Option<Cow<'_, str>> {
    if text.contains('+') { Some(Cow::Owned(decoded(&text.replace('+', " "))?.into_owned())) } else { decoded(text) }
}

/// Percent-encodes a path.
pub fn encoded(path: &str) -> Cow<'_, str> {
    percent::encode(path, percent::PATH)
}

/// Returns all values of a parameter, in order. As in Go, parameters with a semicolon or a malformed escape are
/// ignored.
///
/// ```
/// use kubeshape_objects::target::parameters;
///
/// assert_eq!(parameters("timeout=32s&hash=A%2B&Hash=B", "hash").next().as_deref(), Some("A+"));
/// ```
pub fn parameters<'q>(query: &'q str, name: &str) -> impl Iterator<Item = Cow<'q, str>> {
    // This is called often, and most parameters do not match.
    let may_be = move |pair: &&str| match (pair.as_bytes().first(), name.as_bytes().first()) {
        (Some(b'%' | b'+'), _) => true,
        (first, wanted) => first.is_some() && first == wanted,
    };
    query.split('&').filter(may_be).filter(|pair| !pair.contains(';')).filter_map(move |pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wanted = decoded_query(key)? == name;
        if wanted { decoded_query(value) } else { None }
    })
}

/// Returns the first value of a parameter.
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
