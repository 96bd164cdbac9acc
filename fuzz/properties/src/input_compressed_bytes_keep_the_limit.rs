//! Compressed bytes, broken or not, are never unpacked beyond the limit, have the same result the second time, and
//! unpack to the original. Reading them has the same result as reading the original bytes.

use kubeshape_input::{Limits, UnpackError, read, unpack};
use std::io::Write;

const LIMIT: usize = 1 << 16;

fn unpacked(name: &str, bytes: &[u8], bytes_allowed: usize) -> Result<Vec<u8>, UnpackError> {
    let limits = Limits { bytes: bytes_allowed, ..Limits::default() };
    let mut buffer = Vec::new();
    let out = unpack(name, bytes, limits, &mut buffer).map(<[u8]>::to_vec);
    assert!(buffer.capacity() <= 4 * LIMIT + (1 << 17), "{} bytes for a limit of {bytes_allowed}", buffer.capacity());
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

/// A frame of Zstandard with raw blocks (RFC 8878).
fn zstd(bytes: &[u8]) -> Vec<u8> {
    // The magic number, and one segment with a size of four bytes.
    let mut out = vec![0x28, 0xB5, 0x2F, 0xFD, 0b1010_0000];
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    let mut blocks = bytes.chunks(1 << 16).peekable();
    if blocks.peek().is_none() {
        out.extend_from_slice(&[1, 0, 0]);
    }
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    for name in ["a.yaml", "a.yaml.gz", "a.yaml.zst"] {
        for limit in [LIMIT, data.len(), 16] {
            let first = unpacked(name, data, limit);
            if let Ok(bytes) = &first {
                assert!(bytes.len() <= limit.max(data.len().min(limit)), "{} bytes", bytes.len());
            }
            assert_eq!(first, unpacked(name, data, limit));
        }
        let limits = Limits { bytes: LIMIT, ..Limits::default() };
        assert!(read(name, data, limits).findings.iter().all(|finding| !finding.message().is_empty()));
    }
    let data = &data[..data.len().min(LIMIT / 2)];
    for (name, packed) in [("a.gz", gzip(data)), ("a.zst", zstd(data))] {
        assert_eq!(unpacked(name, &packed, LIMIT).as_deref(), Ok(data), "{name}");
        // Two consecutive frames are joined.
        let twice = unpacked(name, &packed.repeat(2), 2 * LIMIT);
        assert_eq!(twice.as_deref(), Ok(data.repeat(2).as_slice()), "{name}");
        if let Some(less) = data.len().checked_sub(1) {
            assert!(matches!(unpacked(name, &packed, less), Err(UnpackError::TooLarge { .. })), "{name}");
        }
        // Truncated bytes are broken, too.
        if !data.is_empty() {
            assert!(unpacked(name, &packed[..packed.len() - 1], LIMIT).is_err(), "{name}");
        }
    }
}
