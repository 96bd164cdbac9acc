//! Addresses and networks.

// The casts are of numbers that are not negative.
#![allow(clippy::cast_sign_loss)]

use crate::value::print::quoted;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP address, like Go's `netip.Addr` without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addr {
    /// IPv4.
    V4([u8; 4]),
    /// IPv6.
    V6([u8; 16]),
}

/// A network: an address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    /// The address.
    pub addr: Addr,
    /// The length of the prefix in bits.
    pub bits: u8,
}

/// Parses an address with its zone.
fn address(text: &str) -> Result<(Addr, &str), String> {
    let (address, zone) = kubeshape_yaml::go::address::parse(text)?;
    let address = match address {
        IpAddr::V4(address) => Addr::V4(address.octets()),
        IpAddr::V6(address) => Addr::V6(address.octets()),
    };
    Ok((address, zone))
}

impl Addr {
    /// Parses an address.
    ///
    /// # Errors
    /// Returns upstream's message about the error, or about an address with a zone or an IPv4 address in IPv6.
    pub fn parse(text: &str) -> Result<Addr, String> {
        let (addr, zone) = address(text).map_err(|error| {
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

    /// Returns whether a string is an address that [`parse`](Addr::parse) reads. Rejects other characters early,
    /// without building an error.
    pub(crate) fn reads(text: &str) -> bool {
        let possible = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':');
        text.bytes().all(possible) && Addr::parse(text).is_ok()
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
    /// Parses a network.
    ///
    /// # Errors
    /// Returns upstream's message about the error.
    pub fn parse(text: &str) -> Result<Cidr, String> {
        let go = |message: &str| {
            Err(format!(
                "network address parse error during conversion from string: netip.ParsePrefix({}): {message}",
                quoted(text)
            ))
        };
        let Some((before, bits)) = text.rsplit_once('/') else { return go("no '/'") };
        let (addr, zone) = match address(before) {
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
