//! Checks that rules of several groups share.

use super::super::form::{self, Form};
use super::{Found, get, text};
use crate::builtin::address;
pub(super) use crate::builtin::overlay::edit::same as is_same;
use crate::names::{self, Messages};
use crate::object::is_ip;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use kubeshape_yaml::go::escape::GoQuoted;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The protocols of ports, in the order in which messages list them.
pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
/// `FieldImmutableErrorMsg`
pub(super) const IMMUTABLE: &str = "field is immutable";
const INVALID_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Returns the texts of a list.
pub(super) fn texts<'a>(items: &[Value<'a>]) -> Vec<&'a str> {
    items.iter().map(|item| item.as_str().unwrap_or_default()).collect()
}

/// Returns for each key whether it appeared before.
pub(super) fn repeats<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<bool> {
    let mut seen = BTreeSet::new();
    keys.into_iter().map(|key| !seen.insert(key)).collect()
}

/// Returns the indices of the keys that appeared before.
pub(super) fn repeated<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<usize> {
    let repeats = repeats(keys).into_iter().enumerate();
    repeats.filter(|(_, repeats)| *repeats).map(|(at, _)| at).collect()
}

/// Returns whether a member is the same in two objects. An absent member counts as `Null`.
pub(super) fn same(a: Value<'_>, b: Value<'_>, key: &str) -> bool {
    is_same(get(a, key), get(b, key))
}

/// `Quantity.Value`: a quantity as a whole number, rounded up.
pub(super) fn whole(quantity: &Quantity) -> i64 {
    let rounded = quantity.clone().rounded_up(0);
    rounded.as_int().unwrap_or_else(|| rounded.approximate() as i64)
}

/// Checks that a number is not negative.
pub(super) fn not_negative(value: Value<'_>, key: &str, path: &Path<'_>, found: &mut Found) {
    Form::NotNegative.check(get(value, key), &path.child(key), found);
}

/// `getIntOrPercentValue`
pub(super) fn int_or_percent(value: Value<'_>) -> i64 {
    match value {
        Value::Int(number) => number,
        Value::String(text) => text.strip_suffix('%').unwrap_or(text).parse().unwrap_or(0),
        _ => 0,
    }
}

/// `IsNotMoreThan100Percent`
pub(super) fn at_most_all(value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let is_percent = value.as_str().is_some_and(|text| form::percent(text).is_empty());
    if is_percent && int_or_percent(value) > 100 {
        found.invalid(path, value, "must not be greater than 100%");
    }
}

/// Rejects a value that differs from that of the stored object: `ValidateImmutableField`.
pub(super) fn immutable(new: Value<'_>, old: Value<'_>, path: &Path<'_>, found: &mut Found) {
    if !is_same(new, old) {
        found.invalid(path, new, IMMUTABLE);
    }
}

/// Checks that a text is one of a list. An empty text is an error if `required` is set.
pub(super) fn one_of(value: Value<'_>, key: &str, allowed: &[&str], path: &Path<'_>, found: &mut Found) {
    let path = path.child(key);
    match text(value, key) {
        "" => found.required(&path, ""),
        text if !allowed.contains(&text) => found.not_supported(&path, Value::String(text), allowed),
        _ => {}
    }
}

/// Checks that a text is present and has a certain form.
pub(super) fn required_as(value: Value<'_>, key: &str, form: fn(&str) -> Messages, path: &Path<'_>, found: &mut Found) {
    let path = path.child(key);
    match text(value, key) {
        "" => found.required(&path, ""),
        text => found.messages(&path, Value::String(text), form(text)),
    }
}

/// Checks that a text has a certain form if it is present and not empty.
pub(super) fn optional_as(value: Value<'_>, key: &str, form: fn(&str) -> Messages, path: &Path<'_>, found: &mut Found) {
    let text = text(value, key);
    if !text.is_empty() {
        found.messages(&path.child(key), Value::String(text), form(text));
    }
}

/// `IsPathSegmentName`
pub(super) fn segment(text: &str) -> Messages {
    names::path_segment(text, false)
}

/// Checks a port number: `IsValidPortNum`.
pub(super) fn port_number(value: Value<'_>, path: &Path<'_>, found: &mut Found) {
    let number = if let Value::Int(number) = value { number } else { 0 };
    if !(1..=65_535).contains(&number) {
        found.invalid(path, Value::Int(number), "must be between 1 and 65535, inclusive");
    }
}

/// Reads an address like `ParseIPSloppy`: numbers may have leading zeros.
pub(super) fn parse_ip(text: &str) -> Option<IpAddr> {
    if !is_ip(text, true) {
        return None;
    }
    text.parse().ok().or_else(|| {
        let (head, tail) = text.rsplit_once(':').map_or(("", text), |(head, tail)| (head, tail));
        let numbers: Vec<String> = tail.split('.').map(|part| part.trim_start_matches('0').to_owned()).collect();
        let numbers: Vec<&str> = numbers.iter().map(|part| if part.is_empty() { "0" } else { part }).collect();
        let tail = numbers.join(".");
        if head.is_empty() { tail.parse().ok() } else { format!("{head}:{tail}").parse().ok() }
    })
}

/// Returns whether Go treats an address as version 4.
pub(super) fn is_v4(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => address.to_ipv4_mapped().is_some(),
    }
}

/// `IsValidIPForLegacyField` with strict validation (1.36 and later). `old` are the addresses that are already stored.
pub(super) fn legacy_ip(text: &str, old: &BTreeSet<&str>) -> Messages {
    let messages = address::canonical(text);
    let is_canonical_only = messages.iter().all(|message| message.starts_with("must be in canonical form"));
    if old.contains(text) || is_canonical_only { Vec::new() } else { messages }
}

/// `ValidateEndpointIP`
pub(super) fn endpoint_ip(text: &str, path: &Path<'_>, found: &mut Found) {
    let value = Value::String(text);
    let Some(address) = parse_ip(text) else {
        return found.invalid(path, value, "must be a valid IP address");
    };
    let address = match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    let (is_link_local, is_multicast) = match address {
        IpAddr::V4(v4) => (v4.is_link_local(), v4.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(v6) => {
            let [first, ..] = v6.segments();
            (first & 0xffc0 == 0xfe80, first & 0xff0f == 0xff02)
        }
    };
    if address.is_unspecified() {
        found.invalid(path, value, format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        found.invalid(path, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if is_link_local {
        found.invalid(path, value, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if is_multicast {
        found.invalid(path, value, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

/// A network: its address, the length of its prefix in bits, and whether it is version 4. Parsed like
/// `ParseCIDRSloppy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) address: u128,
    pub(super) prefix: u32,
    pub(super) is_v4: bool,
}

impl Network {
    pub(super) fn parse(text: &str) -> Option<Network> {
        let (address, prefix) = text.split_once('/')?;
        let is_number = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = if is_number { prefix.parse::<u32>().ok()? } else { return None };
        let (address, is_v4) = match parse_ip(address)? {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()), true),
            IpAddr::V6(v6) => (v6.to_bits(), false),
        };
        (prefix <= if is_v4 { 32 } else { 128 }).then_some(Network { address, prefix, is_v4 })
    }

    fn mask(self) -> u128 {
        let bits = if self.is_v4 { 32 } else { 128 };
        let host = bits - self.prefix;
        if host >= 128 { 0 } else { (u128::MAX >> (128 - bits)) & !((1 << host) - 1) }
    }

    /// Returns whether another network lies within this one and is smaller.
    pub(super) fn has_within(self, other: Network) -> bool {
        self.is_v4 == other.is_v4
            && self.prefix < other.prefix
            && (other.address & self.mask()) == (self.address & self.mask())
    }
}

/// `IsValidCIDRForLegacyField` with strict validation (1.36 and later).
pub(super) fn legacy_cidr(text: &str, old: &BTreeSet<&str>) -> Messages {
    if old.contains(text) { Vec::new() } else { strict_cidr(text) }
}

fn strict_cidr(text: &str) -> Messages {
    let Some(network) = Network::parse(text) else { return vec![INVALID_CIDR.to_owned()] };
    let (address, prefix) = text.split_once('/').unwrap_or_default();
    let Ok(parsed) = address.parse::<IpAddr>() else {
        return vec!["must not have leading 0s in IP or prefix length".to_owned()];
    };
    if prefix.len() > 1 && prefix.starts_with('0') {
        return vec!["must not have leading 0s in IP or prefix length".to_owned()];
    }
    if matches!(parsed, IpAddr::V6(_)) && is_v4(parsed) {
        return vec!["must not have an IPv4-mapped IPv6 address".to_owned()];
    }
    if network.address & network.mask() != network.address {
        return vec!["must not have bits set beyond the prefix length".to_owned()];
    }
    Vec::new()
}

/// `IsValidCIDR`
pub(super) fn canonical_cidr(text: &str) -> Messages {
    let messages = strict_cidr(text);
    let Some((address, prefix)) = text.split_once('/').filter(|_| messages.is_empty()) else { return messages };
    let canonical = address::canonical(address);
    canonical
        .into_iter()
        .filter_map(|message| {
            let quoted = message.strip_prefix("must be in canonical form (\"")?.strip_suffix("\")")?.to_owned();
            Some(format!("must be in canonical form ({})", GoQuoted(&format!("{quoted}/{prefix}"))))
        })
        .collect()
}

/// `IsFullyQualifiedDomainName`
pub(super) fn fully_qualified(name: &str, path: &Path<'_>, found: &mut Found) {
    if name.is_empty() {
        return found.required(path, "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let messages = names::dns1123_subdomain(name);
    if !messages.is_empty() {
        return found.invalid(path, Value::String(name), messages.join(","));
    }
    if !name.contains('.') {
        return found.invalid(
            path,
            Value::String(name),
            "should be a domain with at least two segments separated by dots",
        );
    }
    for label in name.split('.') {
        let messages = names::dns1123_label(label);
        if !messages.is_empty() {
            return found.invalid(path, Value::String(label), messages.join(","));
        }
    }
}

/// `IsDomainPrefixedPath`
pub(super) fn domain_prefixed_path(text: &str, path: &Path<'_>, found: &mut Found) {
    if text.is_empty() {
        return found.required(path, "");
    }
    let Some((host, rest)) = text.split_once('/').filter(|(host, rest)| !host.is_empty() && !rest.is_empty()) else {
        return found.invalid(path, Value::String(text), "must be a domain-prefixed path (such as \"acme.io/foo\")");
    };
    found.messages(path, Value::String(host), names::dns1123_subdomain(host));
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    if !rest.bytes().all(is_allowed) {
        let message = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
        found.invalid(path, Value::String(rest), message);
    }
}

/// Returns whether a text is an address.
pub(super) fn is_address(text: &str) -> bool {
    parse_ip(text).is_some()
}

/// Returns the sign of a quantity. An absent quantity counts as zero.
pub(super) fn sign(quantity: Value<'_>) -> Ordering {
    let parsed = quantity.as_str().and_then(|text| Quantity::parse(text).ok()).zip(Quantity::parse("0").ok());
    parsed.map_or(Ordering::Equal, |(quantity, zero)| quantity.compare(&zero))
}
