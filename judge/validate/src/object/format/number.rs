//! Numbers of books, people, cards and objects.

/// Checks ten digits, the last of which may be an X, with a checksum. Blanks and dashes are ignored.
pub(super) fn is_isbn10(text: &str) -> bool {
    let digits = without_blanks(text);
    let [head @ .., last] = digits.as_slice() else { return false };
    if head.len() != 9 || !head.iter().all(u8::is_ascii_digit) || !(last.is_ascii_digit() || *last == b'X') {
        return false;
    }
    let last = if *last == b'X' { 10 } else { u32::from(last - b'0') };
    let sum: u32 = head.iter().zip(1..).map(|(digit, factor)| factor * u32::from(digit - b'0')).sum();
    (sum + 10 * last).is_multiple_of(11)
}

/// Checks thirteen digits with a checksum. Blanks and dashes are ignored.
pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = without_blanks(text);
    if digits.len() != 13 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = digits.iter().zip([1, 3].into_iter().cycle()).map(|(digit, f)| f * u32::from(digit - b'0')).sum();
    sum.is_multiple_of(10)
}

/// Removes the characters of Go's class `[\s-]`.
fn without_blanks(text: &str) -> Vec<u8> {
    text.bytes().filter(|b| !matches!(b, b'\t' | b'\n' | 0xc | b'\r' | b' ' | b'-')).collect()
}

/// Checks a number of one of the known issuers, with a checksum. Characters other than digits are ignored.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    let beginning = digits.as_slice();
    let issued = match digits.len() {
        13 => matches!(beginning, [4, ..]),
        14 => matches!(beginning, [3, 0, 0..=5, ..] | [3, 6 | 8, ..]),
        15 => matches!(beginning, [3, 4 | 7, ..] | [2, 1, 3, 1, ..] | [1, 8, 0, 0, ..]),
        16 => matches!(beginning, [3 | 6, 5, ..] | [4, ..] | [5, 1..=5, ..] | [6, 0, 1, 1, ..]),
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    issued && sum.is_multiple_of(10)
}

/// `123-45-6789`, with dashes or blanks.
pub(super) fn is_ssn(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(at, b)| match at {
            3 | 6 => matches!(b, b'-' | b' '),
            _ => b.is_ascii_digit(),
        })
}

/// Checks hexadecimal digits in groups of 8, 4, 4, 4 and 12, with or without each dash, and the version.
pub(super) fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut rest = text.as_bytes();
    for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((digits, behind)) = rest.split_at_checked(length) else { return false };
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        let variant = matches!(digits[0].to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b');
        let fits = match (group, version) {
            (2, Some(version)) => digits[0] == version,
            (3, Some(b'4' | b'5')) => variant,
            _ => true,
        };
        if !fits {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}
