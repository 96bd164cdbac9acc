//! The string of a `$ref` as Kubernetes prints it (upstream: go-openapi's `jsonreference`).

use kubeshape_yaml::go::Url;
use std::borrow::Cow;

/// Returns the reference as kube-openapi prints it after reading it: scheme and host in lower case, no default port, no
/// repeated slashes, every character escaped that Go escapes, no empty fragment.
///
/// # Errors
/// Go does not read the string as a URL. The error is Go's.
///
/// # Example
/// ```
/// use kubeshape_schema::reference::normalize;
/// assert_eq!(normalize("#/definitions/a b").unwrap(), "#/definitions/a%20b");
/// assert_eq!(normalize("HTTP://Example.com:80//x.json#/definitions/A").unwrap(), "http://example.com/x.json#/definitions/A");
/// assert_eq!(normalize("#").unwrap(), "");
/// assert_eq!(normalize("#/%zz").unwrap_err(), "parse \"#/%zz\": invalid URL escape \"%zz\"");
/// ```
pub fn normalize(text: &str) -> Result<Cow<'_, str>, String> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_' | b'~');
    match text.as_bytes() {
        [] => return Ok(Cow::Borrowed(text)),
        [b'#', fragment @ ..] if !fragment.is_empty() && fragment.iter().all(plain) => return Ok(Cow::Borrowed(text)),
        _ => {}
    }
    let written = Url::parse(text)?.normalized().to_string();
    Ok(if written == text { Cow::Borrowed(text) } else { Cow::Owned(written) })
}

#[cfg(test)]
mod tests {
    use super::normalize;

    /// Written by Go 1.26 with go-openapi/jsonreference v0.20.2.
    const ANSWERS: &[(&str, &str)] = &[
        ("#/definitions/A", "#/definitions/A"),
        ("#/a b", "#/a%20b"),
        ("#", ""),
        ("", ""),
        ("a.json", "a.json"),
        ("a.json#", "a.json"),
        ("a.json#/x", "a.json#/x"),
        ("./a.json#/x", "./a.json#/x"),
        ("../a//b.json#/x", "../a/b.json#/x"),
        ("HTTP://Example.COM:80//x//y.json?q=A b#/D", "http://example.com/x/y.json?q=A b#/D"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:443/a", "http://example.com:443/a"),
        ("file:///a/b", "file:///a/b"),
        ("file://a/b", "file://a/b"),
        ("file:a/b", "file:a/b"),
        ("mailto:a@b c?d", "mailto:a@b c?d"),
        ("a:b", "a:b"),
        ("1a:b", "error"),
        ("a/b:c", "a/b:c"),
        (":a", "error"),
        ("x?", "x?"),
        ("x??", "x??"),
        ("http:", "http:"),
        ("http:#a", "http:#a"),
        ("http://", "http:"),
        ("http:///a", "http:///a"),
        ("///a", "/a"),
        ("//a", "//a"),
        ("//A:80/b", "//a:80/b"),
        ("#/é/ü", "#/%C3%A9/%C3%BC"),
        ("#/%C3%A9", "#/%C3%A9"),
        ("#/%zz", "error"),
        ("#/%2F%20%25", "#//%20%25"),
        ("#/a<b>c\"d|e{f}g^h`i\\j", "#/a%3Cb%3Ec%22d%7Ce%7Bf%7Dg%5Eh%60i%5Cj"),
        ("#/!$&'()*+,;=:@?~[]", "#/!$&%27()*+,;=:@?~%5B%5D"),
        ("/!$&'()*+,;=:@~[]", "/%21$&%27%28%29%2A+,;=:@~%5B%5D"),
        ("/a?b#c#d", "/a?b#c%23d"),
        ("*", "*"),
        ("http://user:pa ss@h/", "error"),
        ("http://user:pa%20ss@h/x", "http://user:pa%20ss@h/x"),
        ("http://us@er@h/x", "http://us%40er@h/x"),
        ("http://u:@h", "http://u:@h"),
        ("http://h:x/", "error"),
        ("http://h:/", "http://h:/"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://[::1%25en0]/", "http://[::1%25en0]/"),
        ("http://[1.2.3.4]/", "error"),
        ("http://a:1:2/", "error"),
        ("ftp://a:1:2/", "ftp://a:1:2/"),
        ("http://a b/", "error"),
        ("http://a%20b/", "error"),
        ("http://a%C3%A9b/", "http://a%C3%A9b/"),
        ("http://é/É", "http://%C3%A9/%C3%89"),
        ("a\nb", "error"),
        ("#a\nb", "#a%0Ab"),
        ("#\x7f", "#%7F"),
        ("%41", "A"),
        ("a%2Fb", "a/b"),
        ("#/definitions/a~1b~0c", "#/definitions/a~1b~0c"),
        ("#/paths/~1a~1{b}/get", "#/paths/~1a~1%7Bb%7D/get"),
        ("http:a?b", "http:a?b"),
        ("http:?b", "http:?b"),
        ("http:/a", "http:/a"),
        ("http://?b", "http:?b"),
        ("./a:b", "./a:b"),
        ("//", ""),
        ("//#a", "#a"),
        ("a?b c", "a?b c"),
        ("http://a//", "http://a/"),
        ("http://HOST", "http://host"),
        ("#%ff", "#%FF"),
    ];

    #[test]
    fn references_are_written_as_go_writes_urls() {
        for (text, expected) in ANSWERS {
            let ours = normalize(text);
            let ours = ours.as_deref().unwrap_or("error");
            assert_eq!(ours, *expected, "{text}");
        }
    }
}
