//! Numbers of variable length: the varints of protobuf, as `encoding/binary` reads and writes them.

/// Reads an unsigned number from the start of `bytes`, and moves `bytes` behind it: `Uvarint`. Returns `None` if the
/// number ends early or has more than 64 bits; `bytes` is then unchanged.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::varint;
///
/// let mut bytes = &[0xac, 0x02, 0x05][..];
/// assert_eq!((varint::read(&mut bytes), bytes), (Some(300), &[5][..]));
/// assert_eq!(varint::read(&mut &[0x80][..]), None);
/// ```
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            if at == 9 && *byte > 1 {
                return None;
            }
            *bytes = bytes.get(at + 1..).unwrap_or_default();
            return Some(value);
        }
    }
    None
}

/// Appends a number: `AppendUvarint`.
pub fn write(out: &mut Vec<u8>, value: u64) {
    let (bytes, length) = digits(value);
    out.extend_from_slice(bytes.get(..length).unwrap_or_default());
}

/// Returns the bytes of a number, and their count: `PutUvarint`.
pub fn digits(mut value: u64) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            return (bytes, at + 1);
        }
        *byte |= 0x80;
    }
    (bytes, bytes.len())
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn every_number_is_read_as_it_was_written() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            write(&mut out, value);
            out.push(7);
            let mut rest = &out[..];
            assert_eq!((read(&mut rest), rest), (Some(value), &[7][..]), "{value}");
        }
    }

    #[test]
    fn numbers_that_end_early_or_are_too_long_are_not_read() {
        let long = [[0xff; 9].as_slice(), &[2]].concat();
        for bytes in [&[][..], &[0x80], &[0xff; 10], &long] {
            let mut rest = bytes;
            assert_eq!((read(&mut rest), rest), (None, bytes));
        }
    }
}
