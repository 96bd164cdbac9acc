//! Unpacks compressed inputs.

use kubeshape_yaml::Limits;
use std::io::{self, Read};

/// Why compressed bytes cannot be unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// They are broken, or not compressed as the name of the input requires.
    #[error("{0}")]
    Broken(String),
    /// They are larger than the limit, compressed or not.
    #[error("{what} {bytes} bytes; the limit is {limit}; split it into several files")]
    TooLarge {
        /// How they are too large: `it has`, `it has more than`, `uncompressed it has more than`.
        what: &'static str,
        /// The known size.
        bytes: u64,
        /// The limit.
        limit: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// Uncompresses the bytes of an input. Returns them unchanged if they are not compressed.
///
/// Gzip and Zstandard are recognised by content, so inputs with any name may be compressed. An input whose name ends in
/// `.gz` or `.zst` must be. Consecutive members and frames are joined. `buffer` is used for the result.
///
/// # Errors
/// - [`UnpackError::Broken`]: the bytes are not what their header or the name of the input declares.
/// - [`UnpackError::TooLarge`]: there are more than `limits.bytes` of them, compressed or not. No more are unpacked
///   than the limit allows.
///
/// # Example
/// ```
/// use kubeshape_input::{Limits, unpack};
///
/// let mut buffer = Vec::new();
/// assert_eq!(unpack("a.yaml", b"a: 1", Limits::default(), &mut buffer), Ok(&b"a: 1"[..]));
/// assert!(unpack("a.yaml.gz", b"a: 1", Limits::default(), &mut buffer).is_err());
/// ```
pub fn unpack<'a>(
    name: &str,
    bytes: &'a [u8],
    limits: Limits,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], UnpackError> {
    let limit = limits.bytes;
    if bytes.len() > limit {
        return Err(UnpackError::TooLarge { what: "it has", bytes: bytes.len() as u64, limit });
    }
    let packing = match bytes {
        [0x1F, 0x8B, ..] => Packing::Gzip,
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
        _ => Packing::None,
    };
    for (suffix, expected) in [(".gz", Packing::Gzip), (".zst", Packing::Zstd)] {
        let tail = name.len().checked_sub(suffix.len()).and_then(|at| name.get(at..));
        if tail.is_some_and(|tail| tail.eq_ignore_ascii_case(suffix)) && packing != expected {
            let message = format!("the name ends in {suffix}, but the content is not compressed so");
            return Err(UnpackError::Broken(message));
        }
    }
    buffer.clear();
    match packing {
        Packing::None => return Ok(bytes),
        Packing::Gzip => bounded(flate2::read::MultiGzDecoder::new(bytes), buffer, limit)?,
        Packing::Zstd => frames(bytes, buffer, limit)?,
    }
    Ok(buffer)
}

/// Unpacks consecutive Zstandard frames.
fn frames(mut rest: &[u8], into: &mut Vec<u8>, limit: usize) -> Result<(), UnpackError> {
    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
    while !rest.is_empty() {
        match ruzstd::decoding::StreamingDecoder::new(&mut rest) {
            Ok(decoder) => bounded(decoder, into, limit)?,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                rest = rest.get(length as usize..).unwrap_or_default();
            }
            Err(error) => return Err(UnpackError::Broken(format!("not proper zstd: {error}"))),
        }
    }
    Ok(())
}

/// Reads to the end, until there is one byte more than the limit allows.
fn bounded(source: impl Read, into: &mut Vec<u8>, limit: usize) -> Result<(), UnpackError> {
    let left = limit - into.len();
    source
        .take(left as u64 + 1)
        .read_to_end(into)
        .map_err(|error: io::Error| UnpackError::Broken(error.to_string()))?;
    if into.len() > limit {
        let what = "uncompressed it has more than";
        return Err(UnpackError::TooLarge { what, bytes: limit as u64, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const SMALL: usize = 1000;

    fn read(bytes: &[u8], name: &str) -> Result<Vec<u8>, UnpackError> {
        let limits = Limits { bytes: SMALL, ..Limits::default() };
        unpack(name, bytes, limits, &mut Vec::new()).map(<[u8]>::to_vec)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn compression_is_recognised_by_content_and_must_match_the_name() {
        for packed in [gzip(b"a: 1"), zstd(b"a: 1")] {
            assert_eq!(read(&packed, "").as_deref(), Ok(&b"a: 1"[..]));
        }
        assert!(matches!(read(b"a: 1", "x.yaml.gz"), Err(UnpackError::Broken(_))));
        assert!(matches!(read(b"a: 1", "X.YAML.GZ"), Err(UnpackError::Broken(_))));
        assert!(matches!(read(&gzip(b"a: 1"), "x.yaml.zst"), Err(UnpackError::Broken(_))));
    }

    #[test]
    fn members_and_frames_are_joined() {
        for pack in [gzip, zstd] {
            let joined = [pack(b"a: 1\n"), pack(b"b: 2\n")].concat();
            assert_eq!(read(&joined, "").as_deref(), Ok(&b"a: 1\nb: 2\n"[..]));
        }
    }

    #[test]
    fn inputs_that_are_too_large_are_refused_before_they_are_unpacked() {
        let bomb = vec![b' '; 10_000_000];
        for bytes in [bomb.clone(), gzip(&bomb), zstd(&bomb), [zstd(&bomb[..SMALL]), zstd(b" ")].concat()] {
            assert!(matches!(read(&bytes, ""), Err(UnpackError::TooLarge { .. })));
        }
        for bytes in [bomb[..SMALL].to_vec(), gzip(&bomb[..SMALL]), zstd(&bomb[..SMALL])] {
            assert_eq!(read(&bytes, "").map(|b| b.len()), Ok(SMALL));
        }
    }

    #[test]
    fn truncated_compression_is_an_error() {
        for packed in [gzip(b"a: 1234567890"), zstd(b"a: 1234567890")] {
            assert!(matches!(read(&packed[..packed.len() - 6], ""), Err(UnpackError::Broken(_))));
        }
    }
}
