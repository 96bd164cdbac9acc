//! Configuration of aggregated servers: the addresses and group versions of `--aggregate`, timeouts and limits.

use kubeshape_discovery::openapi::is_name;
use std::cell::Cell;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use url::{Host, ParseError, Position, SyntaxViolation, Url};

/// A downstream server, parsed from `NAME=URL[,GROUP/VERSION…]`, with its timeouts and limits.
///
/// # Example
/// ```
/// use kubeshape_server::aggregate::AggregateOptions;
///
/// let options: AggregateOptions = "metrics=https://10.0.0.7:4443,metrics.k8s.io/v1beta1".parse()?;
/// assert_eq!(&*options.name, "metrics");
/// assert_eq!(options.group_versions[0].path(), "apis/metrics.k8s.io/v1beta1");
///
/// let error = "metrics=ftp://10.0.0.7".parse::<AggregateOptions>().unwrap_err();
/// assert_eq!(error.to_string(), "metrics=ftp://10.0.0.7: unknown scheme `ftp`; use http, https or unix");
/// # Ok::<(), kubeshape_server::aggregate::AggregateOptionsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AggregateOptions {
    /// Its name in logs and metrics.
    pub name: Arc<str>,
    /// Its address. No other address is ever connected to.
    pub address: Address,
    /// The group versions to use from it. If empty, all that it publishes are used.
    pub group_versions: Vec<GroupVersionName>,
    /// PEM certificates of the authorities to trust instead of those of the system.
    pub certificates: Option<Vec<u8>>,
    /// Sent as `Authorization: Bearer …`.
    pub token: Option<Token>,
    /// The time from a successful poll to the next one.
    pub refresh: Duration,
    /// The time from a failed poll to the next one. It doubles from the first value to the second.
    pub backoff: (Duration, Duration),
    /// Timeouts.
    pub timeouts: Timeouts,
    /// Limits on what it may send.
    pub limits: Limits,
}

impl AggregateOptions {
    /// Creates a server with default timeouts and limits. All its group versions are used.
    pub fn new(name: &str, address: Address) -> AggregateOptions {
        AggregateOptions {
            name: name.into(),
            address,
            group_versions: Vec::new(),
            certificates: None,
            token: None,
            refresh: Duration::from_secs(10),
            // As in the work queue of `discoveryManager` in kube-aggregator.
            backoff: (Duration::from_millis(500), Duration::from_mins(1)),
            timeouts: Timeouts::default(),
            limits: Limits::default(),
        }
    }

    /// Returns whether a token is sent over a network without TLS, where others can read it.
    pub fn sends_token_in_clear(&self) -> bool {
        self.token.is_some()
            && !self.address.is_local()
            && !matches!(self.address.socket, Socket::Tcp { tls: true, .. })
    }
}

/// The address of a server, and the prefix of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The socket.
    pub socket: Socket,
    /// Prefix of every path, without a slash at the end. Usually empty.
    pub prefix: String,
}

/// The socket to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    /// A host and port.
    Tcp {
        /// Name or address; an IPv6 address has no brackets.
        host: String,
        /// The port.
        port: u16,
        /// Whether to use TLS.
        tls: bool,
    },
    /// A Unix socket, without TLS.
    Unix(PathBuf),
}

impl Address {
    /// `http` or `https`.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.socket {
            Socket::Tcp { tls: true, .. } => "https",
            Socket::Tcp { tls: false, .. } | Socket::Unix(_) => "http",
        }
    }

    /// Resolves a URL, or a reference that begins with `/`. `None` if it leads to another server.
    pub(crate) fn resolve(&self, reference: &str) -> Option<Url> {
        let own = Url::parse(&format!("{}://{}", self.scheme(), self.authority())).ok()?;
        let url = parse_url(reference, reference.starts_with('/').then_some(&own)).ok()?;
        (url.origin() == own.origin()).then_some(url)
    }

    /// Returns the path and query of a `Location` of this server, below its prefix. `None` if it leads elsewhere: to
    /// another server, or through `.`, `..` or an escaped separator, which servers interpret differently.
    ///
    /// # Example
    /// ```
    /// use kubeshape_server::aggregate::AggregateOptions;
    ///
    /// let options: AggregateOptions = "a=https://10.0.0.7/east".parse()?;
    /// assert_eq!(options.address.within("/east/openapi/v3?x").as_deref(), Some("/openapi/v3?x"));
    /// assert_eq!(options.address.within("https://10.0.0.8/openapi/v3"), None);
    /// # Ok::<(), kubeshape_server::aggregate::AggregateOptionsError>(())
    /// ```
    pub fn within(&self, location: &str) -> Option<String> {
        if matches!(self.socket, Socket::Unix(_)) && (!location.starts_with('/') || location.starts_with("//")) {
            return None;
        }
        // The parser resolves dots, so the unparsed URL is checked.
        let path = location.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        if path.split('/').any(|name| matches!(name, "." | ".."))
            || ["%2e", "%2f", "%5c"].iter().any(|escape| path.contains(escape))
        {
            return None;
        }
        let url = self.resolve(location).filter(|url| url.fragment().is_none())?;
        let path = &url[Position::BeforePath..];
        let below = path.strip_prefix(&self.prefix).filter(|rest| rest.starts_with('/')).unwrap_or(path);
        (!below.starts_with("//")).then(|| below.to_owned())
    }

    /// Returns whether the socket is on this machine.
    fn is_local(&self) -> bool {
        match &self.socket {
            Socket::Unix(_) => true,
            Socket::Tcp { host, .. } => {
                let address = host.parse::<IpAddr>().map(|address| address.to_canonical());
                address.map_or(host == "localhost", |address| address.is_loopback())
            }
        }
    }

    /// Returns `host:port` as in URLs.
    pub(crate) fn authority(&self) -> String {
        match &self.socket {
            Socket::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Socket::Tcp { host, port, .. } => format!("{host}:{port}"),
            Socket::Unix(_) => "localhost".to_owned(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Socket::Tcp { .. } => write!(f, "{}://{}{}", self.scheme(), self.authority(), self.prefix),
            Socket::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A group version. The name of the core group is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionName {
    /// `metrics.k8s.io`
    pub group: Arc<str>,
    /// `v1beta1`
    pub version: Arc<str>,
}

impl GroupVersionName {
    /// Returns the path of its documents: `apis/GROUP/VERSION`, `api/VERSION`.
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("api/{}", self.version)
        } else {
            format!("apis/{}/{}", self.group, self.version)
        }
    }
}

/// A bearer token, which is never printed.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// Creates a token. Whitespace around it is removed, because files end with a newline.
    ///
    /// # Errors
    /// The token is empty, or has characters other than visible ASCII.
    pub fn new(text: &str) -> Result<Token, BadToken> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadToken);
        }
        Ok(Token(text.into()))
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The token is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token must be one word of visible ASCII characters")]
pub struct BadToken;

/// Timeouts of requests to a downstream server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is established.
    pub connect: Duration,
    /// Until the headers of the response have arrived, including connecting.
    pub headers: Duration,
    /// Between two chunks of a body.
    pub idle: Duration,
    /// For a whole request, until the client has received the response.
    pub total: Duration,
    /// Time over which the speed of a client is measured.
    pub stall: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Timeouts { connect: seconds(5), headers: seconds(15), idle: seconds(15), total: seconds(60), stall: seconds(5) }
    }
}

/// Limits on the data of a downstream server: sizes in uncompressed bytes, and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The v3 index.
    pub index: usize,
    /// A discovery document.
    pub discovery: usize,
    /// The v2 document.
    pub v2: usize,
    /// A proxied v3 document, in bytes as sent.
    pub document: u64,
    /// Group versions.
    pub group_versions: usize,
    /// Simultaneous proxied requests.
    pub requests: usize,
    /// The same for one client: a user of tokens, or an address. More requests wait, and are then refused with 429.
    pub client_requests: usize,
    /// Bytes of a v3 document that are buffered before the client reads them.
    pub buffer: usize,
    /// Bytes per second that a client must read of a v3 document while it does not wait for the server. Otherwise it is
    /// cut.
    pub slowest: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            index: 8 << 20,
            discovery: 16 << 20,
            v2: 64 << 20,
            document: 64 << 20,
            group_versions: 4096,
            requests: 64,
            client_requests: 16,
            buffer: 1 << 20,
            slowest: 16 << 10,
        }
    }
}

/// An error in `NAME=URL[,GROUP/VERSION…]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}: {fault}")]
pub struct AggregateOptionsError {
    text: String,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("the name is missing; write NAME=URL[,GROUP/VERSION…]")]
    NoName,
    #[error("`{0}` is not a name; use letters, digits, `-`, `_` and `.`, at most 63")]
    Name(String),
    #[error("the scheme is missing; write http://…, https://… or unix:PATH")]
    NoScheme,
    #[error("unknown scheme `{0}`; use http, https or unix")]
    Scheme(String),
    #[error("not a URL: {0}")]
    Url(String),
    #[error("the URL has no host")]
    NoHost,
    #[error("the port of the URL is not a number from 1 to 65535")]
    Port,
    #[error("the URL has credentials; use a token file")]
    Credentials,
    #[error("the URL is the address of a server, and cannot have `?` or `#`")]
    Query,
    #[error("the path of a Unix socket must be absolute, such as unix:/run/server.sock")]
    Unix,
    #[error("`{0}` is not a group version; write GROUP/VERSION, or VERSION for the core group")]
    GroupVersion(String),
    #[error("{0} is given twice")]
    Twice(String),
}

impl FromStr for AggregateOptions {
    type Err = AggregateOptionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map_err(|fault| AggregateOptionsError { text: text.to_owned(), fault })
    }
}

fn parse(text: &str) -> Result<AggregateOptions, Fault> {
    let (name, rest) = text.split_once('=').ok_or(Fault::NoName)?;
    if name.is_empty() || name.contains("://") {
        return Err(Fault::NoName);
    }
    if name.len() > 63 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Err(Fault::Name(name.to_owned()));
    }
    let mut parts = rest.split(',');
    let mut options = AggregateOptions::new(name, address(parts.next().unwrap_or_default())?);
    for part in parts {
        let group_version = group_version(part).ok_or_else(|| Fault::GroupVersion(part.to_owned()))?;
        if options.group_versions.contains(&group_version) {
            return Err(Fault::Twice(part.to_owned()));
        }
        options.group_versions.push(group_version);
    }
    Ok(options)
}

fn group_version(text: &str) -> Option<GroupVersionName> {
    let (group, version) = text.split_once('/').unwrap_or(("", text));
    let valid = is_name(version) && (is_name(group) || !text.contains('/'));
    valid.then(|| GroupVersionName { group: group.into(), version: version.into() })
}

fn address(text: &str) -> Result<Address, Fault> {
    // The path of a socket has no escapes, so it is not parsed as a URL.
    if let Some((scheme, path)) = text.split_once(':')
        && scheme.eq_ignore_ascii_case("unix")
    {
        let path = path.strip_prefix("//").unwrap_or(path);
        return if path.starts_with('/') && path.len() > 1 {
            Ok(Address { socket: Socket::Unix(path.into()), prefix: String::new() })
        } else {
            Err(Fault::Unix)
        };
    }
    let url = parse_url(text, None)?;
    let tls = match url.scheme() {
        "http" => false,
        "https" => true,
        _ if url.cannot_be_a_base() => return Err(Fault::NoScheme),
        other => return Err(Fault::Scheme(other.to_owned())),
    };
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Fault::Query);
    }
    let host = match url.host().ok_or(Fault::NoHost)? {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    let port = url.port_or_known_default().filter(|port| *port > 0).ok_or(Fault::Port)?;
    let prefix = url.path().trim_end_matches('/').to_owned();
    Ok(Address { socket: Socket::Tcp { host, port, tls }, prefix })
}

/// Parses a URL, or a reference that is resolved against `base`. Syntax that browsers silently correct (backslashes,
/// line breaks, credentials before the host) is an error, so that a URL cannot be mistaken for another address.
///
/// # Errors
/// It is not a URL, its port is out of range, it has credentials, or its syntax would have to be corrected.
fn parse_url(text: &str, base: Option<&Url>) -> Result<Url, Fault> {
    let violation = Cell::new(None);
    let note = |found| violation.set(violation.get().or(Some(found)));
    let parsed = Url::options().base_url(base).syntax_violation_callback(Some(&note)).parse(text);
    match (violation.get(), parsed) {
        (Some(SyntaxViolation::EmbeddedCredentials | SyntaxViolation::UnencodedAtSign), _) => Err(Fault::Credentials),
        (Some(SyntaxViolation::ExpectedDoubleSlash), _) | (None, Err(ParseError::RelativeUrlWithoutBase)) => {
            Err(Fault::NoScheme)
        }
        (Some(violation), _) => Err(Fault::Url(violation.to_string())),
        (None, Err(ParseError::InvalidPort)) => Err(Fault::Port),
        (None, Err(error)) => Err(Fault::Url(error.to_string())),
        (None, Ok(url)) => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        text.parse::<AggregateOptions>().map(|options| options.address.to_string()).expect_err("a fault").to_string()
    }

    #[test]
    fn addresses_are_printed_as_they_were_parsed() {
        for (url, printed) in [
            ("http://localhost", "http://localhost:80"),
            ("https://example.com/", "https://example.com:443"),
            ("http://Example.COM:80/a/../b", "http://example.com:80/b"),
            ("http://127.1", "http://127.0.0.1:80"),
            ("HTTPS://example.com:6443/clusters/a/", "https://example.com:6443/clusters/a"),
            ("http://[::1]:8001", "http://[::1]:8001"),
            ("unix:/run/a.sock", "unix:/run/a.sock"),
            ("unix:///run/a.sock", "unix:/run/a.sock"),
        ] {
            let options: AggregateOptions = format!("a={url}").parse().expect("options");
            assert_eq!(options.address.to_string(), printed);
            assert_eq!(address(printed).expect("an address"), options.address);
        }
    }

    #[test]
    fn group_versions_are_names() {
        let options: AggregateOptions = "a=http://h,apps/v1,v1".parse().expect("options");
        let paths: Vec<_> = options.group_versions.iter().map(GroupVersionName::path).collect();
        assert_eq!(paths, ["apis/apps/v1", "api/v1"]);
        for wrong in ["", "/v1", "apps/", "../v1", "a/b/c", "a b/v1", "apps/v1?x"] {
            assert!(fault(&format!("a=http://h,{wrong}")).contains("is not a group version"), "{wrong}");
        }
        assert!(fault("a=http://h,v1,v1").ends_with("v1 is given twice"));
    }

    #[test]
    fn faults_say_what_to_write() {
        for (text, says) in [
            ("http://h", "name is missing"),
            ("=http://h", "name is missing"),
            ("a b=http://h", "is not a name"),
            ("a=h:80", "scheme is missing"),
            ("a=h", "scheme is missing"),
            ("a=gopher://h", "unknown scheme `gopher`"),
            ("a=http://", "not a URL"),
            ("a=http://u:p@h", "token file"),
            ("a=http://@h", "token file"),
            ("a=http:h", "scheme is missing"),
            ("a=http://h\\@other", "not a URL: backslash"),
            ("a=http://h\n", "not a URL: "),
            ("a=http://bücher.example", "not a URL: "),
            ("a=http://h#x", "cannot have"),
            ("a=http://h?x=y", "cannot have"),
            ("a=http://h:99999", "port"),
            ("a=http://h:0", "port"),
            ("a=unix:run", "absolute"),
        ] {
            assert!(fault(text).contains(says), "{text}: {}", fault(text));
        }
    }

    #[test]
    fn only_urls_of_the_server_are_within() {
        let plain = address("http://h:81").expect("an address");
        for (location, within) in [
            ("/openapi/v3/a?hash=1", Some("/openapi/v3/a?hash=1")),
            ("http://h:81/a", Some("/a")),
            ("http://H:81", Some("/")),
            ("http://h/a", None),
            ("https://h:81/a", None),
            ("http://h:82/a", None),
            ("http://other:81/a", None),
            ("http://h:81@other/a", None),
            ("http://user@h:81/a", None),
            ("//other/a", None),
            ("//h:81/a", Some("/a")),
            ("/a\\b", None),
            ("/a#b", None),
            ("/\tother", None),
            ("http:/h:81/a", None),
            ("/a%20b", Some("/a%20b")),
            ("/\\other/a", None),
            ("a", None),
            ("/../a", None),
            ("/..", None),
            ("/a/./b", None),
            ("/%2e%2e/a", None),
            ("/a/%2E./b", None),
            ("/a%2fb", None),
            ("/a/%5C..", None),
            ("/a/..%2fb", None),
            ("", None),
        ] {
            assert_eq!(plain.within(location).as_deref(), within, "{location}");
        }
        let below = address("http://[::1]/x").expect("an address");
        assert_eq!(below.within("http://[::1]:80/x/a").as_deref(), Some("/a"));
        assert_eq!(below.within("/x/a").as_deref(), Some("/a"));
        assert_eq!(below.within("/openapi/v3").as_deref(), Some("/openapi/v3"));
        assert_eq!(below.within("/x//other").as_deref(), None);
        assert_eq!(below.within("/x/../y").as_deref(), None);
        assert_eq!(below.within("/xy").as_deref(), Some("/xy"), "the server of /xy is not reached");
        let socket = address("unix:/run/a.sock").expect("an address");
        assert_eq!(socket.within("/a").as_deref(), Some("/a"));
        assert_eq!(socket.within("http://localhost/a").as_deref(), None);
        assert_eq!(socket.within("//localhost/a").as_deref(), None);
    }

    #[test]
    fn tokens_need_tls_or_this_machine() {
        for (url, clear) in [
            ("http://h", true),
            ("http://10.0.0.1:81", true),
            ("http://localhost.example", true),
            ("http://[2001:db8::1]", true),
            ("http://0.0.0.0", true),
            ("https://h", false),
            ("http://localhost:81", false),
            ("http://127.1", false),
            ("http://[::1]", false),
            ("http://[::ffff:127.0.0.1]", false),
            ("unix:/run/a.sock", false),
        ] {
            let mut options: AggregateOptions = format!("a={url}").parse().expect("options");
            assert!(!options.sends_token_in_clear(), "{url}");
            options.token = Some(Token::new("t").expect("a token"));
            assert_eq!(options.sends_token_in_clear(), clear, "{url}");
        }
    }

    #[test]
    fn tokens_are_not_shown() {
        let token = Token::new("secret\n").expect("a token");
        assert_eq!((token.secret(), format!("{token:?}").as_str()), ("secret", "Token(…)"));
        assert!(Token::new(" ").is_err());
        assert!(Token::new("two words").is_err());
    }
}
