//! The host names that requests may have, against DNS rebinding.
//!
//! A web page can make its own name resolve to 127.0.0.1, and then read a server on this machine as if it were its own.
//! The `Host` of such a request is still the name of the page.

use http::uri::Authority;
use http::{HeaderMap, Uri, header};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The hosts that requests may name. Loopback names and addresses are always allowed.
///
/// ```
/// use kubeshape_server::AllowedHosts;
///
/// let hosts = AllowedHosts::only(["shapes.example.com"]);
/// assert!(hosts.allow("shapes.example.com:8001") && hosts.allow("localhost:8001") && hosts.allow("[::1]"));
/// assert!(!hosts.allow("evil.example.org"));
/// assert!(AllowedHosts::default().allow("evil.example.org"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts {
    /// `None` for all hosts.
    names: Option<BTreeSet<String>>,
}

impl AllowedHosts {
    /// Allows these names and addresses, and those of loopback. Ports are ignored.
    pub fn only<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> AllowedHosts {
        let name = |name: &str| match name.parse::<Authority>() {
            Ok(authority) => normal(authority.host()),
            // An IPv6 address without brackets.
            Err(_) => normal(name),
        };
        AllowedHosts { names: Some(names.into_iter().map(|given| name(given.as_ref())).collect()) }
    }

    /// Returns whether requests may name this host. A port is ignored.
    pub fn allow(&self, host: &str) -> bool {
        let Some(names) = &self.names else { return true };
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let name = normal(authority.host());
        is_loopback(&name) || names.contains(&name)
    }

    /// Returns whether to accept a request. Every host that it names must be allowed. A request that names none does
    /// not come from a browser.
    pub(crate) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        self.names.is_none()
            || uri.authority().is_none_or(|authority| self.allow(authority.as_str()))
                && headers.get_all(header::HOST).iter().all(|host| {
                    host.is_empty() || std::str::from_utf8(host.as_bytes()).is_ok_and(|host| self.allow(host))
                })
    }
}

/// Returns a host in lower case, without brackets and the trailing dot.
fn normal(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    // An address has many spellings.
    host.parse::<IpAddr>().map(|address| address.to_canonical().to_string()).unwrap_or(host)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_hosts() {
        let hosts = AllowedHosts::only(["Shapes.example.com", "10.0.0.7", "fd00::1"]);
        for (host, allowed) in [
            ("shapes.example.com", true),
            ("SHAPES.example.com.:80", true),
            ("10.0.0.7:8001", true),
            ("[FD00:0::1]:8001", true),
            ("[::ffff:10.0.0.7]", true),
            ("127.9.9.9", true),
            ("app.localhost:1", true),
            ("[::1]:8001", true),
            ("localhost.example.org", false),
            ("127.0.0.1.example.org", false),
            ("localhost@example.org", false),
            ("example.com", false),
            ("0.0.0.0", false),
            ("shapes.example.com example.org", false),
            ("", false),
        ] {
            assert_eq!(hosts.allow(host), allowed, "{host}");
        }
    }

    #[test]
    fn every_named_host_is_checked() -> Result<(), Box<dyn std::error::Error>> {
        let hosts = AllowedHosts::only([""; 0]);
        let named = |name: &'static str| HeaderMap::from_iter([(header::HOST, http::HeaderValue::from_static(name))]);
        assert!(hosts.admit(&"/apis".parse()?, &HeaderMap::new()));
        assert!(hosts.admit(&"http://localhost/apis".parse()?, &named("127.0.0.1")));
        assert!(!hosts.admit(&"http://example.org/apis".parse()?, &named("127.0.0.1")));
        assert!(!hosts.admit(&"http://localhost/apis".parse()?, &named("example.org")));
        let mut two = named("localhost");
        two.append(header::HOST, "example.org".parse()?);
        assert!(!hosts.admit(&"/apis".parse()?, &two));
        Ok(())
    }
}
