//! IP addresses, read as Go's `net/netip` reads them.

use super::escape::GoQuoted;
use std::net::IpAddr;

/// Reads an address and its zone: `netip.ParseAddr`. The zone is empty if there is none.
///
/// # Errors
/// Go's error message.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::address;
///
/// assert_eq!(address::parse("fe80::1%en0"), Ok(("fe80::1".parse().unwrap(), "en0")));
/// assert_eq!(address::parse("x").unwrap_err(), "ParseAddr(\"x\"): unable to parse IP");
/// ```
pub fn parse(text: &str) -> Result<(IpAddr, &str), String> {
    let error = |message: &str| format!("ParseAddr({}): {message}", GoQuoted(text));
    match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => v4(text, text).map(|fields| (IpAddr::from(fields), "")),
        Some(b':') => v6(text),
        Some(_) => Err(error("missing IPv6 address")),
        None => Err(error("unable to parse IP")),
    }
}

fn v4(whole: &str, text: &str) -> Result<[u8; 4], String> {
    let error = |message: &str| Err(format!("ParseAddr({}): {message}", GoQuoted(whole)));
    let error_at = |message: &str, at: usize| {
        Err(format!("ParseAddr({}): {message} (at {})", GoQuoted(whole), GoQuoted(&text[at..])))
    };
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

fn v6(whole: &str) -> Result<(IpAddr, &str), String> {
    let error = |message: &str| Err(format!("ParseAddr({}): {message}", GoQuoted(whole)));
    let error_at =
        |message: &str, at: &str| Err(format!("ParseAddr({}): {message} (at {})", GoQuoted(whole), GoQuoted(at)));
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
            return Ok((IpAddr::from(ip), zone));
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
    Ok((IpAddr::from(ip), zone))
}
