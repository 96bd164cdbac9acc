//! Network addresses and URIs.

use kubeshape_yaml::go::Url;

/// Returns whether a string is an address for Go's `net.ParseIP`, without a zone. `sloppy` allows leading zeros in IPv4
/// numbers, which older releases of Go accepted everywhere.
pub(crate) fn is_ip(text: &str, sloppy: bool) -> bool {
    match text.bytes().find(|b| matches!(b, b'.' | b':')) {
        Some(b'.') => is_ipv4(text, sloppy),
        Some(_) => is_ipv6(text, sloppy),
        None => false,
    }
}

fn is_ipv4(text: &str, sloppy: bool) -> bool {
    let mut parts = 0;
    let all = text.split('.').all(|part| {
        parts += 1;
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let zeros = part.len() > 1 && part.starts_with('0');
        digits && (sloppy || !zeros) && part.trim_start_matches('0').len() <= 3 && {
            let number = part.trim_start_matches('0');
            number.is_empty() || number.parse::<u16>().is_ok_and(|n| n <= 255)
        }
    });
    all && parts == 4
}

fn is_ipv6(text: &str, sloppy: bool) -> bool {
    let (head, tail) = match text.split_once("::") {
        Some((head, tail)) => (head, Some(tail)),
        None => (text, None),
    };
    // Returns the number of groups in a half, or `None` if one is invalid. Only the last group of all may be IPv4.
    let groups = |half: &str, last: bool| -> Option<usize> {
        if half.is_empty() {
            return Some(0);
        }
        let count = half.split(':').count();
        let mut total = 0;
        for (at, group) in half.split(':').enumerate() {
            if group.contains('.') {
                (last && at + 1 == count && is_ipv4(group, sloppy)).then_some(())?;
                total += 2;
            } else {
                let hex = (1..=4).contains(&group.len()) && group.bytes().all(|b| b.is_ascii_hexdigit());
                hex.then_some(())?;
                total += 1;
            }
        }
        Some(total)
    };
    match tail {
        None => groups(head, true) == Some(8),
        Some(tail) => matches!((groups(head, false), groups(tail, true)), (Some(a), Some(b)) if a + b <= 7),
    }
}

/// Checks an address and a prefix length; leading zeros are allowed, as in older releases of Go.
pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = if address.contains(':') { 128 } else { 32 };
    let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
    digits && is_ip(address, true) && length.parse::<u32>().is_ok_and(|length| length <= most)
}

/// Checks six, eight or twenty bytes: pairs with colons or dashes between them, groups of four digits with dots, or
/// digits.
pub(super) fn is_mac(text: &str) -> bool {
    let hex = |group: &str, length: usize| group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit());
    let grouped = |separator: char, length: usize| {
        let count = text.split(separator).count();
        matches!(count * length, 12 | 16 | 40) && text.split(separator).all(|group| hex(group, length))
    };
    grouped(':', 2) || grouped('-', 2) || grouped('.', 4) || matches!(text.len(), 12 | 16 | 40) && hex(text, text.len())
}

/// Checks a request target: an absolute URL, or a path.
pub(super) fn is_request_uri(text: &str) -> bool {
    Url::parse_request_uri(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{is_cidr, is_ip, is_mac};

    #[test]
    fn addresses_are_those_of_go() {
        for (text, strict, sloppy) in [
            ("1.2.3.4", true, true),
            ("01.2.3.4", false, true),
            ("1.2.3.256", false, false),
            ("1.2.3", false, false),
            ("::", true, true),
            ("::ffff:1.2.3.4", true, true),
            ("1:2:3:4:5:6:7:8", true, true),
            ("1:2:3:4:5:6:7::", true, true),
            ("1:2:3:4:5:6:7:8::", false, false),
            ("fe80::1%eth0", false, false),
            ("12345::", false, false),
            (":1:2:3:4:5:6:7", false, false),
        ] {
            assert_eq!((is_ip(text, false), is_ip(text, true)), (strict, sloppy), "{text}");
        }
        assert!(is_cidr("010.0.0.0/8") && is_cidr("::/128") && !is_cidr("::/129") && !is_cidr("1.2.3.4/"));
    }

    #[test]
    fn hardware_addresses_have_three_lengths() {
        for yes in ["00:11:22:33:44:55", "00-11-22-33-44-55-66-77", "0011.2233.4455"] {
            assert!(is_mac(yes), "{yes}");
        }
        for no in ["00:11:22:33:44", "00:11-22:33:44:55", ""] {
            assert!(!is_mac(no), "{no}");
        }
    }
}
