//! URLs, as Go's `net/url` parses them.

use std::fmt::Write as _;

/// The parts of a URL that checks look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    /// In lower case.
    pub(crate) scheme: String,
    /// User and password as Go prints them.
    pub(crate) user: Option<String>,
    /// Host and port.
    pub(crate) host: String,
    /// What stands behind `?`.
    pub(crate) query: String,
    /// What stands behind `#`, decoded.
    pub(crate) fragment: String,
}

/// Parses a URL: `url.Parse`.
///
/// # Errors
/// Go's text.
pub(crate) fn parse(text: &str) -> Result<Url, String> {
    let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
    parse_url(url, false)
        .and_then(|url| Ok(Url { fragment: unescape(fragment, Part::Fragment)?, ..url }))
        .map_err(|error| format!("parse {}: {error}", kubeshape_yaml::go::escape::GoQuoted(text)))
}

/// Parses the URL of a request: `url.ParseRequestURI`. It must be absolute or begin with a slash, and has no fragment.
///
/// # Errors
/// Go's text.
pub(crate) fn parse_request_uri(text: &str) -> Result<Url, String> {
    parse_url(text, true).map_err(|error| format!("parse {}: {error}", kubeshape_yaml::go::escape::GoQuoted(text)))
}

fn parse_url(text: &str, via_request: bool) -> Result<Url, String> {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && via_request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            return Ok(url);
        }
        if via_request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    let authority =
        rest.strip_prefix("//").filter(|rest| !url.scheme.is_empty() || (!via_request && !rest.starts_with('/')));
    if let Some(authority) = authority {
        let end = authority.find('/').unwrap_or(authority.len());
        let (authority, after) = authority.split_at(end);
        path = after;
        match authority.rsplit_once('@') {
            None => url.host = host(authority)?,
            Some((user, after)) => {
                url.host = host(after)?;
                if !user.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b)) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                let (name, password) = user.split_once(':').map_or((user, None), |(name, word)| (name, Some(word)));
                let mut printed = escape_user(&unescape(name, Part::User)?);
                if let Some(password) = password {
                    printed.push(':');
                    printed.push_str(&escape_user(&unescape(password, Part::User)?));
                }
                url.user = Some(printed);
            }
        }
    }
    unescape(path, Part::Path)?;
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..i], &text[i + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn host(text: &str) -> Result<String, String> {
    let port = match text.strip_prefix('[') {
        Some(rest) => match rest.rfind(']') {
            None => return Err("missing ']' in host".to_owned()),
            Some(end) => &rest[end + 1..],
        },
        None => text.rfind(':').map_or("", |at| &text[at..]),
    };
    let valid = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    if !valid {
        return Err(format!("invalid port {} after host", kubeshape_yaml::go::escape::GoQuoted(port)));
    }
    unescape(text, Part::Host)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    Path,
    User,
    Fragment,
}

/// Decodes `%20` and the like.
fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(b) = bytes.get(i) {
        if *b == b'%' {
            let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
            let (Some(high), Some(low)) = (hex(i + 1), hex(i + 2)) else {
                let end = bytes.len().min(i + 3);
                let found = String::from_utf8_lossy(&bytes[i..end]);
                return Err(format!("invalid URL escape {}", kubeshape_yaml::go::escape::GoQuoted(&found)));
            };
            // Both digits are below 16.
            let byte = (high * 16 + low) as u8;
            if part == Part::Host && byte < 0x80 && byte != b'%' {
                let found = &text[i..i + 3];
                return Err(format!("invalid URL escape {}", kubeshape_yaml::go::escape::GoQuoted(found)));
            }
            out.push(byte);
            i += 3;
            continue;
        }
        let allowed = b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(b);
        if part == Part::Host && b.is_ascii() && !allowed {
            let found = char::from(*b).to_string();
            let quoted = kubeshape_yaml::go::escape::GoQuoted(&found).to_string();
            return Err(format!("invalid character {quoted} in host name"));
        }
        out.push(*b);
        i += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Encodes a user or a password.
fn escape_user(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        if b.is_ascii_alphanumeric() || b"-_.~$&+,;=".contains(&b) {
            out.push(char::from(b));
        } else {
            let _ = write!(out, "%{b:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Url, parse, parse_request_uri};

    #[test]
    fn urls_fall_into_their_parts() {
        let url = parse("HTTPS://us%20er:p@ss@host:8443/path?a=b#frag%20ment").unwrap_or_default();
        let expected = Url {
            scheme: "https".to_owned(),
            user: Some("us%20er:p%40ss".to_owned()),
            host: "host:8443".to_owned(),
            query: "a=b".to_owned(),
            fragment: "frag ment".to_owned(),
        };
        assert_eq!(url, expected);
        assert_eq!(parse("mailto:a").unwrap_or_default().scheme, "mailto");
        assert_eq!(parse("//host/a").unwrap_or_default().host, "host");
        assert_eq!(parse_request_uri("//host/a").unwrap_or_default().host, "");
    }

    #[test]
    fn errors_are_gos() {
        for (url, error) in [
            (":a", "missing protocol scheme"),
            ("a b:c", "first path segment in URL cannot contain colon"),
            ("https://h o/", "invalid character \" \" in host name"),
            ("https://h:x/", "invalid port \":x\" after host"),
            ("https://h/%zz", "invalid URL escape \"%zz\""),
            ("https://h\n", "net/url: invalid control character in URL"),
        ] {
            let quoted = kubeshape_yaml::go::escape::GoQuoted(url).to_string();
            assert_eq!(parse(url), Err(format!("parse {quoted}: {error}")));
        }
        assert!(parse_request_uri("a/b").is_err());
        assert!(parse_request_uri("").is_err());
    }
}
