//! The text of a `$ref` as Kubernetes prints it: Go's reading of a URL, normalized and written again
//! (upstream: `net/url` and go-openapi's `jsonreference`).

use std::borrow::Cow;

/// Why a text is no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAUrl(&'static str);

impl std::fmt::Display for NotAUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// The reference as kube-openapi prints it after reading it: scheme and host in lower case, no default
/// port, no repeated slashes, every character escaped that Go escapes, no empty fragment.
///
/// # Errors
/// Go would not read the text as a URL.
///
/// # Example
/// ```
/// use kubeshape_schema::reference::normalize;
/// assert_eq!(normalize("#/definitions/a b").unwrap(), "#/definitions/a%20b");
/// assert_eq!(normalize("HTTP://Example.com:80//x.json#/definitions/A").unwrap(), "http://example.com/x.json#/definitions/A");
/// assert_eq!(normalize("#").unwrap(), "");
/// assert!(normalize("#/definitions/%zz").is_err());
/// ```
pub fn normalize(text: &str) -> Result<Cow<'_, str>, NotAUrl> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_' | b'~');
    match text.as_bytes() {
        [] => return Ok(Cow::Borrowed(text)),
        [b'#', fragment @ ..] if !fragment.is_empty() && fragment.iter().all(plain) => return Ok(Cow::Borrowed(text)),
        _ => {}
    }
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    if rest.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err(NotAUrl("a URL holds no control characters"));
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    without_fragment(rest, &mut out)?;
    let fragment = unescape(fragment, Part::Fragment)?;
    if !fragment.is_empty() {
        out.push(b'#');
        escape(&fragment, Part::Fragment, &mut out);
    }
    Ok(match String::from_utf8(out) {
        Ok(out) if out == text => Cow::Borrowed(text),
        Ok(out) => Cow::Owned(out),
        // A host keeps its bytes as they are, which can be cut only by escapes in it.
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    })
}

fn without_fragment(url: &str, out: &mut Vec<u8>) -> Result<(), NotAUrl> {
    if url == "*" {
        out.push(b'*');
        return Ok(());
    }
    let (scheme, mut rest) = scheme(url)?;
    let scheme = scheme.to_ascii_lowercase();
    let (mut query, mut question) = ("", false);
    if let Some((before, after)) = rest.split_once('?') {
        (rest, query, question) = (before, after, true);
    }
    // A lone question mark at the end stays; one before an empty query is the same thing.
    let write_query = |out: &mut Vec<u8>| {
        if question {
            out.push(b'?');
            out.extend_from_slice(query.as_bytes());
        }
    };
    if !scheme.is_empty() {
        out.extend_from_slice(scheme.as_bytes());
        out.push(b':');
    }
    if !rest.starts_with('/') {
        if !scheme.is_empty() && !rest.is_empty() {
            out.extend_from_slice(rest.as_bytes());
            write_query(out);
            return Ok(());
        }
        if scheme.is_empty() && rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err(NotAUrl("the first segment of a relative path holds no colon"));
        }
    }
    let mut host = Vec::new();
    let mut user = None;
    let mut authority_written = false;
    if (!scheme.is_empty() || !rest.starts_with("///")) && rest.starts_with("//") {
        let after = &rest[2..];
        let end = after.find('/').unwrap_or(after.len());
        (user, host) = authority(&scheme, &after[..end])?;
        rest = &after[end..];
        authority_written = true;
    }
    let path = unescape(rest, Part::Path)?;
    let path = single_slashes(&path);
    let with_slashes =
        !host.is_empty() || user.is_some() || (!scheme.is_empty() && authority_written && !path.is_empty());
    if with_slashes {
        out.extend_from_slice(b"//");
        if let Some(user) = &user {
            out.extend_from_slice(user);
            out.push(b'@');
        }
        escape(&host, Part::Host, out);
    }
    if path.first().is_some_and(|b| *b != b'/') && !host.is_empty() {
        out.push(b'/');
    }
    if out.is_empty() && path.split(|b| *b == b'/').next().is_some_and(|segment| segment.contains(&b':')) {
        out.extend_from_slice(b"./");
    }
    if path == b"*" {
        out.push(b'*');
    } else {
        escape(&path, Part::Path, out);
    }
    write_query(out);
    Ok(())
}

fn scheme(url: &str) -> Result<(&str, &str), NotAUrl> {
    for (i, b) in url.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err(NotAUrl("a URL does not begin with a colon")),
            b':' => return Ok((&url[..i], &url[i + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

type Authority = (Option<Vec<u8>>, Vec<u8>);

fn authority(scheme: &str, text: &str) -> Result<Authority, NotAUrl> {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, text),
    };
    let host = self::host(scheme, host)?;
    let Some(user) = user else { return Ok((None, host)) };
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b);
    if !user.bytes().all(allowed) {
        return Err(NotAUrl("the user of a URL holds a character that is not allowed there"));
    }
    let mut written = Vec::new();
    let (name, password) = match user.split_once(':') {
        Some((name, password)) => (name, Some(password)),
        None => (user, None),
    };
    escape(&unescape(name, Part::User)?, Part::User, &mut written);
    if let Some(password) = password {
        written.push(b':');
        escape(&unescape(password, Part::User)?, Part::User, &mut written);
    }
    Ok((Some(written), host))
}

fn host(scheme: &str, text: &str) -> Result<Vec<u8>, NotAUrl> {
    let port_at = if text.starts_with('[') {
        let close = text.rfind(']').ok_or(NotAUrl("a host that begins with [ ends with ]"))?;
        let address = &text[1..close];
        let address = address.split("%25").next().unwrap_or(address);
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(NotAUrl("a host between [ and ] is an IPv6 address"));
        }
        close + 1
    } else if text.contains('[') {
        return Err(NotAUrl("a host holds [ only at its beginning"));
    } else {
        let strict = scheme == "http" || scheme == "https";
        let colon = if strict { text.find(':') } else { text.rfind(':') };
        colon.unwrap_or(text.len())
    };
    let port = &text[port_at..];
    let number = port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    if !port.is_empty() && !number {
        return Err(NotAUrl("the port of a URL is a number"));
    }
    let default = matches!((scheme, port), ("http", ":80") | ("https", ":443"));
    let text = if default { &text[..port_at] } else { text };
    let mut host = unescape(text, Part::Host)?;
    host.make_ascii_lowercase();
    Ok(host)
}

fn single_slashes(path: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(path.len());
    for b in path {
        if *b != b'/' || out.last() != Some(&b'/') {
            out.push(*b);
        }
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    User,
    Host,
    Path,
    Fragment,
}

impl Part {
    /// Whether Go writes this byte as it is.
    fn allows(self, b: u8) -> bool {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => true,
            b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match self {
                Part::User => !matches!(b, b'@' | b'/' | b'?' | b':'),
                Part::Host => !matches!(b, b'/' | b'?' | b'@'),
                Part::Path => b != b'?',
                Part::Fragment => true,
            },
            b'!' | b'(' | b')' | b'*' => matches!(self, Part::Fragment | Part::Host),
            b'\'' | b'[' | b']' | b'<' | b'>' | b'"' => self == Part::Host,
            _ => false,
        }
    }
}

fn unescape(text: &str, part: Part) -> Result<Vec<u8>, NotAUrl> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        if *b == b'%' {
            let digit = |i: usize| bytes.get(i).and_then(|b| char::from(*b).to_digit(16));
            let (Some(high), Some(low)) = (digit(at + 1), digit(at + 2)) else {
                return Err(NotAUrl("two hexadecimal digits stand behind %"));
            };
            if part == Part::Host && high < 8 && (high, low) != (2, 5) {
                return Err(NotAUrl("a host holds no escaped ASCII character"));
            }
            out.push((high * 16 + low) as u8);
            at += 3;
        } else {
            if part == Part::Host && b.is_ascii() && !part.allows(*b) {
                return Err(NotAUrl("the host of a URL holds a character that is not allowed there"));
            }
            out.push(*b);
            at += 1;
        }
    }
    Ok(out)
}

fn escape(bytes: &[u8], part: Part, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for b in bytes {
        if part.allows(*b) {
            out.push(*b);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
        }
    }
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
