//! Names that are addresses.

use crate::names::Messages;
use crate::object::is_ip;
use kubeshape_yaml::go::escape::GoQuoted;
use std::net::{IpAddr, Ipv6Addr};

/// Returns what is wrong with an address that must be in its canonical form: `IsValidIP` of `k8s.io/apimachinery`.
pub(super) fn canonical(text: &str) -> Messages {
    if !is_ip(text, true) {
        return vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()];
    }
    let Ok(address) = text.parse::<IpAddr>() else { return vec!["must not have leading 0s".to_owned()] };
    if let IpAddr::V6(address) = address
        && address.to_ipv4_mapped().is_some()
    {
        return vec!["must not be an IPv4-mapped IPv6 address".to_owned()];
    }
    let canonical = match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => written(address),
    };
    if canonical == text { Vec::new() } else { vec![format!("must be in canonical form ({})", GoQuoted(&canonical))] }
}

/// Returns an address as Go prints it: groups in hexadecimal, the first of the longest runs of zeros shortened.
fn written(address: Ipv6Addr) -> String {
    // The standard library prints the last groups of `::1.2.3.4` as an address of version 4.
    let groups = address.segments();
    let mut longest = 0..0;
    let mut start = 0;
    for at in 0..=groups.len() {
        if groups.get(at) == Some(&0) {
            continue;
        }
        if at - start > longest.len() {
            longest = start..at;
        }
        start = at + 1;
    }
    let hex = |groups: &[u16]| groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":");
    match (groups.get(..longest.start), groups.get(longest.end..)) {
        (Some(before), Some(after)) if longest.len() > 1 => format!("{}::{}", hex(before), hex(after)),
        _ => hex(&groups),
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn addresses_are_written_as_go_writes_them() {
        for text in
            ["10.0.0.1", "2001:db8::1", "::", "::1", "1::", "1:0:2::3", "::102:304", "1:0:0:2::", "1:2:3:4:5:6:0:8"]
        {
            assert_eq!(canonical(text), Vec::<String>::new(), "{text}");
        }
        for (text, message) in [
            ("1.2.3", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
            ("fe80::1%eth0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
            ("010.0.0.1", "must not have leading 0s"),
            ("::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
            ("2001:0DB8::1", "must be in canonical form (\"2001:db8::1\")"),
            ("0:0:1:0:0:0:0:1", "must be in canonical form (\"0:0:1::1\")"),
        ] {
            assert_eq!(canonical(text), [message], "{text}");
        }
    }
}
