//! Classes of bytes.

/// A space or a tab.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A character of anchor names, tag handles and directive names.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns the length of the line break at `at`, or 0 if there is no break. `\r\n` is one break.
#[inline]
pub(crate) fn break_len(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') => 1 + usize::from(bytes.get(at + 1) == Some(&b'\n')),
        Some(0xC2) if bytes.get(at + 1) == Some(&0x85) => 2,
        Some(0xE2) if bytes.get(at + 1) == Some(&0x80) && matches!(bytes.get(at + 2), Some(0xA8 | 0xA9)) => 3,
        _ => 0,
    }
}

/// Returns whether a space, a tab, a line break or the end is at `at`.
#[inline]
pub(crate) fn blank_or_end(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        None => true,
        Some(b) if *b > b' ' && *b < 0x80 => false,
        Some(b) => is_blank(*b) || break_len(bytes, at) > 0,
    }
}

/// Returns whether a document marker is at `at`: `---` or `...` before a blank, a line break or the end.
#[inline]
pub(crate) fn marker(bytes: &[u8], at: usize, sign: u8) -> bool {
    bytes.get(at) == Some(&sign)
        && bytes.get(at + 1) == Some(&sign)
        && bytes.get(at + 2) == Some(&sign)
        && blank_or_end(bytes, at + 3)
}

/// Characters that need special handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A character that YAML does not allow.
    Refused,
    /// A character that the fast reader leaves to the full one.
    Special,
}

/// Finds the first character from `from` on that is refused or special.
///
/// Special characters are `\r`, the Unicode line breaks and the byte order mark.
pub(crate) fn next_odd(bytes: &[u8], from: usize) -> Option<(usize, Odd)> {
    const BLOCK: usize = 64;
    let mut at = from;
    // Blocks of plain ASCII text are skipped without checking single bytes.
    while let Some(block) = bytes.get(at..at + BLOCK) {
        let mut odd = 0u8;
        for byte in block {
            // The bytes 0x20..=0x7E, tab and line feed give 0.
            odd |= u8::from(byte.wrapping_sub(0x20) > 0x5E) & u8::from(*byte != b'\n') & u8::from(*byte != b'\t');
        }
        if odd != 0
            && let Some(found) = odd_in(bytes, at, at + BLOCK)
        {
            return Some(found);
        }
        at += BLOCK;
    }
    odd_in(bytes, at, bytes.len())
}

fn odd_in(bytes: &[u8], from: usize, to: usize) -> Option<(usize, Odd)> {
    for at in from..to {
        let odd = match bytes[at] {
            b'\t' | b'\n' | 0x20..=0x7E => continue,
            b'\r' => Odd::Special,
            0..=0x1F | 0x7F => Odd::Refused,
            0xC2 => match bytes.get(at + 1) {
                Some(0x85) => Odd::Special,
                Some(0x80..=0x9F) => Odd::Refused,
                _ => continue,
            },
            0xE2 if break_len(bytes, at) > 0 => Odd::Special,
            0xEF => match (bytes.get(at + 1), bytes.get(at + 2)) {
                (Some(0xBB), Some(0xBF)) => Odd::Special,
                (Some(0xBF), Some(0xBE | 0xBF)) => Odd::Refused,
                _ => continue,
            },
            _ => continue,
        };
        return Some((at, odd));
    }
    None
}
