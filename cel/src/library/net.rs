//! Addresses and networks.

// What is cast is not negative.
#![allow(clippy::cast_sign_loss)]

use crate::value::print::quoted;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address, as Go's `netip.Addr` without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addr {
    /// IPv4.
    V4([u8; 4]),
    /// IPv6.
    V6([u8; 16]),
}

/// An address and how many of its bits name the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    /// The address.
    pub addr: Addr,
    /// The length of the prefix.
    pub bits: u8,
}

/// An address, with its zone, or Go's error.
fn parse(text: &str) -> Result<(Addr, &str), String> {
    let error = |message: &str| format!("ParseAddr({}): {message}", quoted(text));
    match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => v4(text, text).map(|fields| (Addr::V4(fields), "")),
        Some(b':') => v6(text),
        Some(_) => Err(error("missing IPv6 address")),
        None => Err(error("unable to parse IP")),
    }
}

fn v4(whole: &str, text: &str) -> Result<[u8; 4], String> {
    let error = |message: &str| Err(format!("ParseAddr({}): {message}", quoted(whole)));
    let error_at =
        |message: &str, at: usize| Err(format!("ParseAddr({}): {message} (at {})", quoted(whole), quoted(&text[at..])));
    let (mut fields, mut position, mut value, mut digits) = ([0u8; 4], 0, 0u32, 0);
    let bytes = text.as_bytes();
    for (i, b) in bytes.iter().enumerate() {
        match b {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return error("IPv4 field has octet with leading zero");
                }
                value = value * 10 + u32::from(b - b'0');
                digits += 1;
                if value > 255 {
                    return error("IPv4 field has value >255");
                }
            }
            b'.' => {
                if i == 0 || i == bytes.len() - 1 || bytes[i - 1] == b'.' {
                    return error_at("IPv4 field must have at least one digit", i);
                }
                if position == 3 {
                    return error("IPv4 address too long");
                }
                fields[position] = value as u8;
                (position, value, digits) = (position + 1, 0, 0);
            }
            _ => return error_at("unexpected character", i),
        }
    }
    if position < 3 {
        return error("IPv4 address too short");
    }
    fields[3] = value as u8;
    Ok(fields)
}

fn v6(whole: &str) -> Result<(Addr, &str), String> {
    let error = |message: &str| Err(format!("ParseAddr({}): {message}", quoted(whole)));
    let error_at =
        |message: &str, at: &str| Err(format!("ParseAddr({}): {message} (at {})", quoted(whole), quoted(at)));
    let (mut s, mut zone) = (whole, "");
    if let Some((before, after)) = whole.split_once('%') {
        (s, zone) = (before, after);
        if zone.is_empty() {
            return error("zone must be a non-empty string");
        }
    }
    let (mut ip, mut ellipsis) = ([0u8; 16], None);
    if let Some(rest) = s.strip_prefix("::") {
        ellipsis = Some(0);
        s = rest;
        if s.is_empty() {
            return Ok((Addr::V6(ip), zone));
        }
    }
    let mut i = 0;
    while i < 16 {
        let (mut end, mut value) = (0, 0u32);
        for b in s.bytes() {
            let Some(digit) = char::from(b).to_digit(16) else { break };
            value = (value << 4) + digit;
            if end > 3 {
                return error_at("each group must have 4 or less digits", s);
            }
            end += 1;
        }
        if end == 0 {
            return error_at("each colon-separated field must have at least one digit", s);
        }
        if s.as_bytes().get(end) == Some(&b'.') {
            if ellipsis.is_none() && i != 12 {
                return error_at("embedded IPv4 address must replace the final 2 fields of the address", s);
            }
            if i + 4 > 16 {
                return error_at("too many hex fields to fit an embedded IPv4 at the end of the address", s);
            }
            ip[i..i + 4].copy_from_slice(&v4(whole, s)?);
            s = "";
            i += 4;
            break;
        }
        ip[i] = (value >> 8) as u8;
        ip[i + 1] = value as u8;
        i += 2;
        s = &s[end..];
        if s.is_empty() {
            break;
        }
        if !s.starts_with(':') {
            return error_at("unexpected character, want colon", s);
        }
        if s.len() == 1 {
            return error_at("colon must be followed by more characters", s);
        }
        s = &s[1..];
        if s.starts_with(':') {
            if ellipsis.is_some() {
                return error_at("multiple :: in address", s);
            }
            ellipsis = Some(i);
            s = &s[1..];
            if s.is_empty() {
                break;
            }
        }
    }
    if !s.is_empty() {
        return error_at("trailing garbage after address", s);
    }
    if i < 16 {
        let Some(ellipsis) = ellipsis else { return error("address string too short") };
        let missing = 16 - i;
        ip.copy_within(ellipsis..i, ellipsis + missing);
        ip[ellipsis..ellipsis + missing].fill(0);
    } else if ellipsis.is_some() {
        return error("the :: must expand to at least one field of zeros");
    }
    Ok((Addr::V6(ip), zone))
}

impl Addr {
    /// Reads an address.
    ///
    /// # Errors
    /// Upstream's text for what is wrong, or for an address with a zone or an IPv4 address in IPv6.
    pub fn parse(text: &str) -> Result<Addr, String> {
        let (addr, zone) = parse(text).map_err(|error| {
            format!("IP Address {} parse error during conversion from string: {error}", quoted(text))
        })?;
        if !zone.is_empty() {
            return Err(format!("IP address {} with zone value is not allowed", quoted(text)));
        }
        if addr.is_mapped() {
            return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)));
        }
        Ok(addr)
    }

    /// Go's error for a text that is no address.
    pub(crate) fn go_error(text: &str) -> Option<String> {
        parse(text).err()
    }

    pub(crate) fn is_v4(self) -> bool {
        matches!(self, Addr::V4(_))
    }

    fn is_mapped(self) -> bool {
        matches!(self, Addr::V6(ip) if ip[..10] == [0; 10] && ip[10..12] == [0xff; 2])
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Addr::V4(ip) => ip,
            Addr::V6(ip) => ip,
        }
    }

    pub(crate) fn is_unspecified(self) -> bool {
        self.bytes().iter().all(|b| *b == 0)
    }

    pub(crate) fn is_loopback(self) -> bool {
        match self {
            Addr::V4(ip) => ip[0] == 127,
            Addr::V6(ip) => Ipv6Addr::from(ip).is_loopback(),
        }
    }

    pub(crate) fn is_link_local_unicast(self) -> bool {
        match self {
            Addr::V4(ip) => ip[0] == 169 && ip[1] == 254,
            Addr::V6(ip) => ip[0] == 0xfe && ip[1] & 0xc0 == 0x80,
        }
    }

    pub(crate) fn is_link_local_multicast(self) -> bool {
        match self {
            Addr::V4(ip) => ip[0] == 224 && ip[1] == 0 && ip[2] == 0,
            Addr::V6(ip) => ip[0] == 0xff && ip[1] & 0x0f == 0x02,
        }
    }

    fn is_multicast(self) -> bool {
        match self {
            Addr::V4(ip) => ip[0] & 0xf0 == 0xe0,
            Addr::V6(ip) => ip[0] == 0xff,
        }
    }

    pub(crate) fn is_global_unicast(self) -> bool {
        if matches!(self, Addr::V4([0, 0, 0, 0] | [255, 255, 255, 255])) {
            return false;
        }
        !self.is_unspecified() && !self.is_loopback() && !self.is_multicast() && !self.is_link_local_unicast()
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ip = match self {
            Addr::V4(ip) => return Ipv4Addr::from(*ip).fmt(f),
            Addr::V6(ip) => ip,
        };
        if self.is_mapped() {
            return write!(f, "::ffff:{}", Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]));
        }
        let words: Vec<u16> = ip.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        let (mut zeros, mut at) = (0..0, 0);
        while at < 8 {
            let end = at + words[at..].iter().take_while(|word| **word == 0).count();
            if end - at >= 2 && end - at > zeros.len() {
                zeros = at..end;
            }
            at = end.max(at + 1);
        }
        let mut i = 0;
        while i < 8 {
            if !zeros.is_empty() && i == zeros.start {
                f.write_str("::")?;
                i = zeros.end;
                if i >= 8 {
                    break;
                }
            } else if i > 0 {
                f.write_str(":")?;
            }
            write!(f, "{:x}", words[i])?;
            i += 1;
        }
        Ok(())
    }
}

impl Cidr {
    /// Reads a network.
    ///
    /// # Errors
    /// Upstream's text for what is wrong.
    pub fn parse(text: &str) -> Result<Cidr, String> {
        let go = |message: &str| {
            Err(format!(
                "network address parse error during conversion from string: netip.ParsePrefix({}): {message}",
                quoted(text)
            ))
        };
        let Some((address, bits)) = text.rsplit_once('/') else { return go("no '/'") };
        let (addr, zone) = match parse(address) {
            Ok(parsed) => parsed,
            Err(error) => return go(&error),
        };
        if !zone.is_empty() {
            return go("IPv6 zones cannot be present in a prefix");
        }
        let bad = || go(&format!("bad bits after slash: {}", quoted(bits)));
        if bits.len() > 1 && !matches!(bits.as_bytes()[0], b'1'..=b'9') {
            return bad();
        }
        let Ok(length) = bits.parse::<i64>() else { return bad() };
        let most = if addr.is_v4() { 32 } else { 128 };
        if length < 0 || length > most {
            return go("prefix length out of range");
        }
        if addr.is_mapped() {
            return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)));
        }
        Ok(Cidr { addr, bits: length as u8 })
    }

    pub(crate) fn contains(self, addr: Addr) -> bool {
        self.addr.is_v4() == addr.is_v4() && same_prefix(self.addr, addr, self.bits)
    }

    pub(crate) fn contains_network(self, other: Cidr) -> bool {
        let least = self.bits.min(other.bits);
        self.addr.is_v4() == other.addr.is_v4() && same_prefix(self.addr, other.addr, least) && self.bits <= other.bits
    }

    pub(crate) fn masked(self) -> Cidr {
        let mask = |bytes: &mut [u8]| {
            for (i, byte) in bytes.iter_mut().enumerate() {
                let keep = usize::from(self.bits).saturating_sub(i * 8).min(8);
                *byte &= !(0xffu16 >> keep) as u8;
            }
        };
        let mut addr = self.addr;
        match &mut addr {
            Addr::V4(ip) => mask(ip),
            Addr::V6(ip) => mask(ip),
        }
        Cidr { addr, bits: self.bits }
    }
}

fn same_prefix(a: Addr, b: Addr, bits: u8) -> bool {
    Cidr { addr: a, bits }.masked().addr == Cidr { addr: b, bits }.masked().addr
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr, self.bits)
    }
}
