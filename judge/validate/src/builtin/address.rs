//! Names that are IP addresses.

use crate::names::Messages;
use crate::object::is_ip;
use kubeshape_yaml::go::escape::GoQuoted;
use std::net::{IpAddr, Ipv6Addr};

/// Returns the errors of an address that must be canonical: `IsValidIP` of `k8s.io/apimachinery`.
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

/// Parses an address like Go's parser with leading zeros (`ParseIPSloppy`). The flag says whether the strict parser
/// accepts it, too.
fn sloppy(text: &str) -> Option<(IpAddr, bool)> {
    if let Ok(address) = text.parse::<IpAddr>() {
        let is_mapped = matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some());
        return Some((address, !is_mapped));
    }
    let strip = |part: &str| if part.len() > 1 { part.trim_start_matches('0').to_owned() } else { part.to_owned() };
    let strip = |part: &str| Some(strip(part)).filter(|part| !part.is_empty()).unwrap_or_else(|| "0".to_owned());
    let text = text.split('.').map(strip).collect::<Vec<_>>().join(".");
    Some((text.parse().ok()?, false))
}

/// Prints an address like Go's `net.IP`.
fn shown(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => address.to_ipv4_mapped().map_or_else(|| written(address), |mapped| mapped.to_string()),
    }
}

/// Returns the warning about a valid address that is not canonical: `GetWarningsForIP`.
pub(super) fn ip_warning(text: &str) -> Option<String> {
    let (address, is_standard) = sloppy(text)?;
    let (own, canonical) = (GoQuoted(text), shown(address));
    if !is_standard {
        return Some(format!("non-standard IP address {own} is invalid: use {}", GoQuoted(&canonical)));
    }
    (address.is_ipv6() && canonical != text)
        .then(|| format!("IPv6 address {own} should be in RFC 5952 canonical format ({})", GoQuoted(&canonical)))
}

/// Returns the warnings about a valid network that is not canonical: `GetWarningsForCIDR`.
pub(super) fn cidr_warnings(text: &str) -> Vec<String> {
    let Some((address, prefix)) = text.split_once('/') else { return Vec::new() };
    let (Some((address, is_standard)), Ok(bits)) = (sloppy(address), prefix.parse::<u32>()) else { return Vec::new() };
    let masked = match address {
        IpAddr::V4(address) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
        _ => return Vec::new(),
    };
    let (own, network) = (GoQuoted(text), format!("{}/{bits}", shown(masked)));
    let mut out = Vec::new();
    if masked != address {
        let alone = format!("{}/{}", shown(address), if address.is_ipv4() { 32 } else { 128 });
        let (network, alone) = (GoQuoted(&network), GoQuoted(&alone));
        out.push(format!("CIDR value {own} is ambiguous in this context (should be {network} or {alone}?)"));
    }
    if !is_standard || prefix != bits.to_string() {
        out.push(format!("non-standard CIDR value {own} is invalid: use {}", GoQuoted(&network)));
    }
    let canonical = format!("{}/{bits}", shown(address));
    if out.is_empty() && address.is_ipv6() && canonical != text {
        let canonical = GoQuoted(&canonical);
        out.push(format!("IPv6 CIDR value {own} should be in RFC 5952 canonical format ({canonical})"));
    }
    out
}

/// Prints an address like Go: groups in hexadecimal, the first of the longest runs of zeros shortened.
fn written(address: Ipv6Addr) -> String {
    // The standard library prints the last groups of `::1.2.3.4` as an IPv4 address.
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
    use super::{canonical, cidr_warnings, ip_warning};

    #[test]
    fn addresses_that_are_not_canonical_get_a_warning() {
        for (text, warning) in [
            ("10.0.0.1", None),
            ("2001:db8::1", None),
            ("text", None),
            ("010.0.0.1", Some("non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\"")),
            ("::ffff:1.2.3.4", Some("non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\"")),
            (
                "2001:DB8::1",
                Some("IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")"),
            ),
        ] {
            assert_eq!(ip_warning(text).as_deref(), warning, "{text}");
        }
        for (text, warnings) in [
            ("10.0.0.0/8", vec![]),
            ("0.0.0.0/0", vec![]),
            (
                "10.1.0.0/8",
                vec![
                    "CIDR value \"10.1.0.0/8\" is ambiguous in this context (should be \"10.0.0.0/8\" or \"10.1.0.0/32\"?)",
                ],
            ),
            ("010.0.0.0/8", vec!["non-standard CIDR value \"010.0.0.0/8\" is invalid: use \"10.0.0.0/8\""]),
            ("FD00::/8", vec!["IPv6 CIDR value \"FD00::/8\" should be in RFC 5952 canonical format (\"fd00::/8\")"]),
        ] {
            assert_eq!(cidr_warnings(text), warnings, "{text}");
        }
    }

    #[test]
    fn addresses_are_printed_as_in_go() {
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
