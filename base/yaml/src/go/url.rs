//! URLs, read as Go's `net/url` reads them.

use super::address;
use super::escape::GoQuoted;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};

/// A parsed URL: `url.URL`.
///
/// # Example: the parts of a URL
/// ```
/// use kubeshape_yaml::go::Url;
///
/// let url = Url::parse("HTTPS://me@host:8443/path?a=b#here")?;
/// assert_eq!((url.scheme(), url.hostname(), url.port()), ("https", "host", "8443"));
/// assert_eq!(url.to_string(), "https://me@host:8443/path?a=b#here");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Url {
    scheme: String,
    opaque: String,
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: String,
    path: Vec<u8>,
    raw_path: String,
    omit_host: bool,
    force_query: bool,
    raw_query: String,
    fragment: Vec<u8>,
    raw_fragment: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Path,
    Host,
    Zone,
    User,
    Query,
    Fragment,
}

fn should_escape(b: u8, part: Part) -> bool {
    if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~') {
        return false;
    }
    if matches!(part, Part::Host | Part::Zone) && b"!$&'()*+,;=:[]<>\"".contains(&b) {
        return false;
    }
    match b {
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            Part::Path => b == b'?',
            Part::User => matches!(b, b'@' | b'/' | b'?' | b':'),
            Part::Fragment => false,
            Part::Query | Part::Host | Part::Zone => true,
        },
        b'!' | b'(' | b')' | b'*' => part != Part::Fragment,
        _ => true,
    }
}

fn hex(b: u8) -> Option<u8> {
    char::from(b).to_digit(16).map(|digit| digit as u8)
}

fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let bad = |from: usize| {
        let end = (from + 3).min(bytes.len());
        Err(format!("invalid URL escape {}", GoQuoted(&String::from_utf8_lossy(&bytes[from..end]))))
    };
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'%' => {
                let pair = bytes.get(i + 1).copied().and_then(hex).zip(bytes.get(i + 2).copied().and_then(hex));
                let Some((high, low)) = pair else { return bad(i) };
                let is_percent = &bytes[i..i + 3] == b"%25";
                let value = (high << 4) | low;
                if part == Part::Host && high < 8 && !is_percent {
                    return bad(i);
                }
                if part == Part::Zone && !is_percent && value != b' ' && should_escape(value, Part::Host) {
                    return bad(i);
                }
                out.push(value);
                i += 3;
            }
            b'+' if part == Part::Query => {
                out.push(b' ');
                i += 1;
            }
            b => {
                if matches!(part, Part::Host | Part::Zone) && b < 0x80 && should_escape(b, part) {
                    let shown = char::from(b).to_string();
                    return Err(format!("invalid character {} in host name", GoQuoted(&shown)));
                }
                out.push(b);
                i += 1;
            }
        }
    }
    Ok(out)
}

fn escape(bytes: &[u8], part: Part) -> String {
    let mut out = String::with_capacity(bytes.len());
    for b in bytes {
        if !should_escape(*b, part) {
            out.push(char::from(*b));
        } else if *b == b' ' && part == Part::Query {
            out.push('+');
        } else {
            let _ = write!(out, "%{b:02X}");
        }
    }
    out
}

fn valid_encoded(text: &str, part: Part) -> bool {
    text.bytes().all(|b| b"!$&'()*+,;=:@[]%".contains(&b) || !should_escape(b, part))
}

fn valid_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
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

fn host(scheme: &str, text: &str) -> Result<String, String> {
    let port_error = |port: &str| format!("invalid port {} after host", GoQuoted(port));
    match text.rfind('[') {
        Some(0) => {
            let close = text.rfind(']').ok_or("missing ']' in host")?;
            let port = &text[close + 1..];
            if !valid_port(port) {
                return Err(port_error(port));
            }
            let name = &text[1..close];
            let name = match name.find("%25") {
                Some(zone) => {
                    let mut out = unescape(&name[..zone], Part::Host)?;
                    out.extend(unescape(&name[zone..], Part::Zone)?);
                    text_of(out)
                }
                None => text_of(unescape(name, Part::Host)?),
            };
            if let Some(error) = address::parse(&name).err() {
                return Err(format!("invalid host: {error}"));
            }
            if !name.contains(':') {
                return Err("invalid IP-literal".to_owned());
            }
            return Ok(format!("[{name}]{port}"));
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    if let Some(mut colon) = text.find(':') {
        let last = text.rfind(':').unwrap_or(colon);
        if last != colon && scheme != "http" && scheme != "https" {
            colon = last;
        }
        if !valid_port(&text[colon..]) {
            return Err(port_error(&text[colon..]));
        }
    }
    unescape(text, Part::Host).map(text_of)
}

impl Url {
    /// Reads a URL: `url.Parse`.
    ///
    /// # Errors
    /// Go's error message.
    pub fn parse(text: &str) -> Result<Url, String> {
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let wrap = |shown: &str, error: String| format!("parse {}: {error}", GoQuoted(shown));
        let mut url = Url::read(before, false).map_err(|error| wrap(before, error))?;
        url.fragment = unescape(fragment, Part::Fragment).map_err(|error| wrap(text, error))?;
        if escape(&url.fragment, Part::Fragment) != fragment {
            fragment.clone_into(&mut url.raw_fragment);
        }
        Ok(url)
    }

    /// Reads the URL of a request: `url.ParseRequestURI`. It is absolute or begins with a slash, and has no fragment.
    ///
    /// # Errors
    /// Go's error message.
    pub fn parse_request_uri(text: &str) -> Result<Url, String> {
        Url::read(text, true).map_err(|error| format!("parse {}: {error}", GoQuoted(text)))
    }

    fn read(text: &str, request: bool) -> Result<Url, String> {
        if text.bytes().any(|b| b < b' ' || b == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text.is_empty() && request {
            return Err("empty url".to_owned());
        }
        let mut url = Url::default();
        if text == "*" {
            url.path = b"*".to_vec();
            return Ok(url);
        }
        let (name, mut rest) = scheme(text)?;
        url.scheme = name.to_ascii_lowercase();
        if rest.ends_with('?') && rest.matches('?').count() == 1 {
            url.force_query = true;
            rest = &rest[..rest.len() - 1];
        } else if let Some((before, query)) = rest.split_once('?') {
            rest = before;
            query.clone_into(&mut url.raw_query);
        }
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                rest.clone_into(&mut url.opaque);
                return Ok(url);
            }
            if request {
                return Err("invalid URI for request".to_owned());
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        if (!url.scheme.is_empty() || (!request && !rest.starts_with("///"))) && rest.starts_with("//") {
            let authority = &rest[2..];
            let slash = authority.find('/').unwrap_or(authority.len());
            rest = &authority[slash..];
            url.authority(&authority[..slash])?;
        } else if !url.scheme.is_empty() && rest.starts_with('/') {
            url.omit_host = true;
        }
        url.path = unescape(rest, Part::Path)?;
        if escape(&url.path, Part::Path) != rest {
            rest.clone_into(&mut url.raw_path);
        }
        Ok(url)
    }

    fn authority(&mut self, text: &str) -> Result<(), String> {
        let Some((user, name)) = text.rsplit_once('@') else {
            self.host = host(&self.scheme, text)?;
            return Ok(());
        };
        self.host = host(&self.scheme, name)?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
        if !user.chars().all(allowed) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
        let password = password.map(|password| unescape(password, Part::User)).transpose()?;
        self.user = Some((unescape(name, Part::User)?, password));
        Ok(())
    }

    /// Returns the URL as go-openapi's `jsonreference` normalizes it: the host in lower case, no default port, no
    /// repeated slashes, and no escapes that Go does not need.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::go::Url;
    /// let url = Url::parse("HTTP://Example.com:80//%78.json#/a b")?;
    /// assert_eq!(url.normalized().to_string(), "http://example.com/x.json#/a%20b");
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn normalized(mut self) -> Url {
        self.raw_path.clear();
        self.raw_fragment.clear();
        self.path.dedup_by(|b, a| *b == b'/' && *a == b'/');
        self.host.make_ascii_lowercase();
        let default = match self.scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => return self,
        };
        if let Some(host) = self.host.strip_suffix(default) {
            self.host.truncate(host.len());
        }
        self
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// User and password as Go prints them: `Userinfo.String`.
    pub fn user(&self) -> Option<String> {
        let (name, password) = self.user.as_ref()?;
        let mut out = escape(name, Part::User);
        if let Some(password) = password {
            out.push(':');
            out.push_str(&escape(password, Part::User));
        }
        Some(out)
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The part between `?` and `#`, not decoded.
    pub fn raw_query(&self) -> &str {
        &self.raw_query
    }

    /// The part after `#`, decoded. Go keeps bytes that are not UTF-8; they are replaced here.
    pub fn fragment(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.fragment)
    }

    /// The path, encoded: `URL.EscapedPath`.
    pub fn escaped_path(&self) -> String {
        if !self.raw_path.is_empty()
            && valid_encoded(&self.raw_path, Part::Path)
            && unescape(&self.raw_path, Part::Path).is_ok_and(|path| path == self.path)
        {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_owned() } else { escape(&self.path, Part::Path) }
    }

    fn split_host(&self) -> (&str, &str) {
        let (mut name, mut port) = (self.host.as_str(), "");
        if let Some(colon) = name.rfind(':').filter(|colon| valid_port(&name[*colon..])) {
            (name, port) = (&name[..colon], &name[colon + 1..]);
        }
        (name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(name), port)
    }

    /// The host without its port and without the brackets of an IPv6 address: `URL.Hostname`.
    pub fn hostname(&self) -> &str {
        self.split_host().0
    }

    /// The port, or an empty string: `URL.Port`.
    pub fn port(&self) -> &str {
        self.split_host().1
    }

    /// The parameters of the query, in the order of their first occurrence.
    pub fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut out: Vec<(String, Vec<String>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for pair in self.raw_query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Ok(key), Ok(value)) = (unescape(key, Part::Query), unescape(value, Part::Query)) else { continue };
            let (key, value) = (text_of(key), text_of(value));
            if let Some((_, values)) = places.get(&key).and_then(|place| out.get_mut(*place)) {
                values.push(value);
            } else {
                places.insert(key.clone(), out.len());
                out.push((key, vec![value]));
            }
        }
        out
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            let authority = !self.scheme.is_empty() || !self.host.is_empty() || self.user.is_some();
            if authority && !(self.omit_host && self.host.is_empty() && self.user.is_none()) {
                if !self.host.is_empty() || !self.path.is_empty() || self.user.is_some() {
                    out.push_str("//");
                }
                if let Some(user) = self.user() {
                    out.push_str(&user);
                    out.push('@');
                }
                out.push_str(&escape(self.host.as_bytes(), Part::Host));
            }
            let path = self.escaped_path();
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.push('/');
            }
            if out.is_empty() && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
                out.push_str("./");
            }
            out.push_str(&path);
        } else {
            out.push_str(&self.opaque);
        }
        if self.force_query || !self.raw_query.is_empty() {
            out.push('?');
            out.push_str(&self.raw_query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            let raw = !self.raw_fragment.is_empty() && valid_encoded(&self.raw_fragment, Part::Fragment);
            out.push_str(&if raw { self.raw_fragment.clone() } else { escape(&self.fragment, Part::Fragment) });
        }
        f.write_str(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::{GoQuoted, Url};

    #[test]
    fn urls_fall_into_their_parts() {
        let url = Url::parse("HTTPS://us%20er:p@ss@host:8443/path?a=b#frag%20ment").expect("a URL");
        assert_eq!((url.scheme(), url.host(), url.raw_query()), ("https", "host:8443", "a=b"));
        assert_eq!((url.user().as_deref(), &*url.fragment()), (Some("us%20er:p%40ss"), "frag ment"));
        assert_eq!(Url::parse("mailto:a").expect("a URL").scheme(), "mailto");
        assert_eq!(Url::parse("//host/a").expect("a URL").host(), "host");
        assert_eq!(Url::parse_request_uri("//host/a").expect("a URL").host(), "");
        assert_eq!(Url::parse("http://[fe80::1%25en0]:80/").expect("a URL").hostname(), "fe80::1%en0");
    }

    #[test]
    fn parameters_are_in_the_order_of_their_first_occurrence() {
        let url = Url::parse("?b=1&a=2&b=%33&&c&x;y=1&a=%zz&=4&c=").expect("a URL");
        let query = url.query();
        let query: Vec<(&str, Vec<&str>)> =
            query.iter().map(|(key, values)| (&**key, values.iter().map(String::as_str).collect())).collect();
        assert_eq!(query, [("b", vec!["1", "3"]), ("a", vec!["2"]), ("c", vec!["", ""]), ("", vec!["4"])]);
    }

    /// With a search for each parameter, this would take minutes.
    #[test]
    fn a_query_may_have_many_parameters() {
        let query: Vec<String> = (0..200_000).map(|n| format!("k{n}=1")).collect();
        let url = Url::parse(&format!("?{}", query.join("&"))).expect("a URL");
        let query = url.query();
        assert_eq!((query.len(), &*query[199_999].0), (200_000, "k199999"));
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
            ("https://[h]/", "invalid host: ParseAddr(\"h\"): unable to parse IP"),
        ] {
            assert_eq!(Url::parse(url).err(), Some(format!("parse {}: {error}", GoQuoted(url))));
        }
        let error = |text| Url::parse(text).err().unwrap_or_default();
        // The error does not show the fragment, unless the fragment is invalid.
        assert_eq!(error(":a#b"), "parse \":a\": missing protocol scheme");
        assert_eq!(error("a#%"), "parse \"a#%\": invalid URL escape \"%\"");
        assert!(Url::parse_request_uri("a/b").is_err());
        assert!(Url::parse_request_uri("").is_err());
    }
}
