//! The bytes of an input, uncompressed and bounded.

use super::{Input, Source};
use crate::error::describe;
use kubeshape_yaml::Limits;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Why an input has no bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// It cannot be read.
    Unreadable(String),
    /// It is larger than the limit.
    TooLarge(String),
}

/// Reads inputs one after the other and keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    raw: Vec<u8>,
    plain: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Reader {
    /// The bytes of an input.
    ///
    /// # Errors
    /// The input cannot be read, is not what its name says, or is larger than `limits.bytes`, compressed or not.
    pub(crate) fn read(&mut self, input: &Input, limits: &Limits) -> Result<&[u8], ReadError> {
        match &input.source {
            Source::Stdin => self.read_from(io::stdin().lock(), "", limits),
            Source::File(path) => self.read_path(path, limits),
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub(crate) fn read_path(&mut self, path: &Path, limits: &Limits) -> Result<&[u8], ReadError> {
        let unreadable = |error: io::Error| ReadError::Unreadable(describe(&error));
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        // A file whose size is known to be too large is not read at all.
        if metadata.is_file() && metadata.len() > limits.bytes as u64 {
            return Err(too_large("it has", metadata.len(), limits));
        }
        self.raw.clear();
        self.raw.reserve(metadata.len() as usize + 1);
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        self.read_from(file, &name, limits)
    }

    fn read_from(&mut self, source: impl Read, name: &str, limits: &Limits) -> Result<&[u8], ReadError> {
        self.raw.clear();
        bounded(source, &mut self.raw, limits, "it has more than")?;
        // By content, so that standard input and files of any name may be compressed, too: no YAML begins so.
        let packing = match self.raw.as_slice() {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            _ => Packing::None,
        };
        for (suffix, expected) in [(".gz", Packing::Gzip), (".zst", Packing::Zstd)] {
            if name.ends_with(suffix) && packing != expected {
                return Err(ReadError::Unreadable(format!(
                    "the name ends in {suffix}, but the content is not compressed so"
                )));
            }
        }
        match packing {
            Packing::None => return Ok(&self.raw),
            Packing::Gzip => {
                self.plain.clear();
                let decoder = flate2::read::MultiGzDecoder::new(self.raw.as_slice());
                bounded(decoder, &mut self.plain, limits, "uncompressed it has more than")?;
            }
            Packing::Zstd => {
                self.plain.clear();
                self.frames(limits)?;
            }
        }
        Ok(&self.plain)
    }

    /// Zstandard frames, one behind the other.
    fn frames(&mut self, limits: &Limits) -> Result<(), ReadError> {
        let mut rest = self.raw.as_slice();
        while !rest.is_empty() {
            let left = Limits { bytes: limits.bytes - self.plain.len(), ..*limits };
            let mut decoder = match ruzstd::decoding::StreamingDecoder::new(&mut rest) {
                Ok(decoder) => decoder,
                Err(ruzstd::decoding::errors::FrameDecoderError::ReadFrameHeaderError(
                    ruzstd::decoding::errors::ReadFrameHeaderError::SkipFrame { length, .. },
                )) => {
                    rest = rest.get(length as usize..).unwrap_or_default();
                    continue;
                }
                Err(error) => return Err(ReadError::Unreadable(format!("not proper zstd: {error}"))),
            };
            bounded(&mut decoder, &mut self.plain, &left, "uncompressed it has more than").map_err(
                |error| match error {
                    ReadError::TooLarge(_) => too_large("uncompressed it has more than", limits.bytes as u64, limits),
                    other @ ReadError::Unreadable(_) => other,
                },
            )?;
        }
        Ok(())
    }
}

/// Reads to the end, or to one byte more than the limit.
fn bounded(source: impl Read, into: &mut Vec<u8>, limits: &Limits, what: &str) -> Result<(), ReadError> {
    let before = into.len();
    source.take(limits.bytes as u64 + 1).read_to_end(into).map_err(|error| ReadError::Unreadable(describe(&error)))?;
    if into.len() - before > limits.bytes {
        return Err(too_large(what, limits.bytes as u64, limits));
    }
    Ok(())
}

fn too_large(what: &str, bytes: u64, limits: &Limits) -> ReadError {
    ReadError::TooLarge(format!("{what} {bytes} bytes; the limit is {}; split it into several files", limits.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const SMALL: usize = 1000;

    fn read(bytes: &[u8], name: &str) -> Result<Vec<u8>, ReadError> {
        let limits = Limits { bytes: SMALL, ..Limits::default() };
        Reader::default().read_from(bytes, name, &limits).map(<[u8]>::to_vec)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn compression_is_known_by_content_and_held_to_the_name() {
        for packed in [gzip(b"a: 1"), zstd(b"a: 1")] {
            assert_eq!(read(&packed, "").as_deref(), Ok(&b"a: 1"[..]));
        }
        assert!(matches!(read(b"a: 1", "x.yaml.gz"), Err(ReadError::Unreadable(_))));
        assert!(matches!(read(&gzip(b"a: 1"), "x.yaml.zst"), Err(ReadError::Unreadable(_))));
    }

    #[test]
    fn members_and_frames_are_joined() {
        for pack in [gzip, zstd] {
            let joined = [pack(b"a: 1\n"), pack(b"b: 2\n")].concat();
            assert_eq!(read(&joined, "").as_deref(), Ok(&b"a: 1\nb: 2\n"[..]));
        }
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_unpacked() {
        let bomb = vec![b' '; 10_000_000];
        for bytes in [bomb.clone(), gzip(&bomb), zstd(&bomb), [zstd(&bomb[..SMALL]), zstd(b" ")].concat()] {
            assert!(matches!(read(&bytes, ""), Err(ReadError::TooLarge(_))));
        }
        for bytes in [bomb[..SMALL].to_vec(), gzip(&bomb[..SMALL]), zstd(&bomb[..SMALL])] {
            assert_eq!(read(&bytes, "").map(|b| b.len()), Ok(SMALL));
        }
    }

    #[test]
    fn truncated_compression_is_an_error() {
        for packed in [gzip(b"a: 1234567890"), zstd(b"a: 1234567890")] {
            assert!(matches!(read(&packed[..packed.len() - 6], ""), Err(ReadError::Unreadable(_))));
        }
    }
}
