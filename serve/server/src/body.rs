//! Bodies made of segments. Their compressed forms and digests are combined from those of the segments.

use crate::rope::Rope;
use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress};
use sha2::{Digest, Sha512};
use std::sync::{Arc, OnceLock};

/// Bytes shared by several bodies, with a cached digest and compressed forms. They begin with a comma.
#[derive(Debug)]
pub(crate) struct Block {
    parts: Vec<Bytes>,
    len: usize,
    /// Compressed with the comma and, for the beginning of a list, without it.
    deflated: [OnceLock<Deflated>; 2],
    digest: OnceLock<[u8; 64]>,
    /// The protobuf form of the members; `None` if they have none.
    protobuf: OnceLock<Option<Arc<Block>>>,
}

impl Block {
    /// Creates a block from the parts after the comma of the first member.
    pub(crate) fn new(parts: Vec<Bytes>) -> Block {
        Block {
            len: parts.iter().map(Bytes::len).sum(),
            parts,
            deflated: Default::default(),
            digest: OnceLock::new(),
            protobuf: OnceLock::new(),
        }
    }

    /// Returns the protobuf form of the members. `encode` creates it from an object with them, at the first use.
    fn protobuf(&self, encode: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Option<&Arc<Block>> {
        let make = || {
            let mut json = Vec::with_capacity(self.len + 1);
            self.parts.iter().for_each(|part| json.extend_from_slice(part));
            if let Some(comma) = json.first_mut() {
                *comma = b'{';
            }
            json.push(b'}');
            encode(&json).map(|bytes| Arc::new(Block::new(vec![bytes.into()])))
        };
        self.protobuf.get_or_init(make).as_ref()
    }
}

/// A part of a body.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    /// Bytes of this body only.
    Text(Bytes),
    /// Shared bytes, without their comma at the beginning of a list.
    Block(Arc<Block>, bool),
}

impl Segment {
    pub(crate) fn block(block: &Arc<Block>, first: bool) -> Segment {
        Segment::Block(Arc::clone(block), first)
    }

    fn is_same(&self, other: &Segment) -> bool {
        match (self, other) {
            (Segment::Text(a), Segment::Text(b)) => a == b,
            (Segment::Block(a, first), Segment::Block(b, other)) => Arc::ptr_eq(a, b) && first == other,
            _ => false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Segment::Text(text) => text.len(),
            Segment::Block(block, first) => block.len - usize::from(*first),
        }
    }

    /// Returns its protobuf form; `None` if its members have none, or it is not a block.
    pub(crate) fn protobuf(&self, encode: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Option<Segment> {
        match self {
            Segment::Text(_) => None,
            Segment::Block(block, _) => block.protobuf(encode).map(|block| Segment::block(block, false)),
        }
    }

    fn pieces(&self, mut each: impl FnMut(Bytes)) {
        match self {
            Segment::Text(text) => each(text.clone()),
            Segment::Block(block, first) => {
                for (i, part) in block.parts.iter().enumerate() {
                    each(if i == 0 && *first { part.slice(1..) } else { part.clone() });
                }
            }
        }
    }

    fn update(&self, digest: &mut Sha512) {
        self.pieces(|piece| digest.update(&piece));
    }

    fn deflated(&self) -> Deflated {
        let of_pieces = || {
            let mut pieces = Vec::new();
            self.pieces(|piece| pieces.push(piece));
            deflate(KEPT, pieces.iter().map(|piece| &**piece), FlushCompress::Sync)
        };
        match self {
            Segment::Text(text) if text.len() < STORED => stored(text),
            Segment::Text(_) => of_pieces(),
            Segment::Block(block, first) => block.deflated[usize::from(*first)].get_or_init(of_pieces).clone(),
        }
    }
}

/// Deflated bytes that end at a byte boundary, so that others can follow, with the checksum of the original.
#[derive(Clone, Debug)]
struct Deflated {
    bytes: Bytes,
    crc: crc32fast::Hasher,
}

fn deflate<'p>(level: u32, pieces: impl IntoIterator<Item = &'p [u8]>, end: FlushCompress) -> Deflated {
    let mut crc = crc32fast::Hasher::new();
    let mut compress = Compress::new(Compression::new(level), false);
    let mut out = Vec::with_capacity(1 << 10);
    let mut run = |mut input: &[u8], flush: FlushCompress| {
        loop {
            if out.capacity() - out.len() < 64 {
                out.reserve(out.len().max(1 << 10));
            }
            let before = compress.total_in();
            let status = compress.compress_vec(input, &mut out, flush);
            debug_assert!(status.is_ok(), "deflating memory does not fail");
            input = &input[(compress.total_in() - before) as usize..];
            // If there is room left, all output was written.
            if status.is_err() || (input.is_empty() && out.len() < out.capacity()) {
                break;
            }
        }
    };
    for piece in pieces {
        crc.update(piece);
        run(piece, FlushCompress::None);
    }
    run(&[], end);
    out.shrink_to_fit();
    Deflated { bytes: out.into(), crc }
}

/// Shorter contents are not compressed, because creating a compressor costs more.
const STORED: usize = 512;

/// Returns short contents as a stored block (RFC 1951, 3.2.4).
fn stored(text: &Bytes) -> Deflated {
    let len = (text.len() as u16).to_le_bytes();
    let mut crc = crc32fast::Hasher::new();
    crc.update(text);
    let block = [&[0, len[0], len[1], !len[0], !len[1]], &**text].concat();
    Deflated { bytes: block.into(), crc }
}

const GZIP_HEAD: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// A last, empty block.
const DEFLATE_END: [u8; 2] = [0x03, 0x00];

/// Compresses contents that are kept to one gzip member.
pub(crate) fn gzip(pieces: &[Bytes]) -> Bytes {
    member(KEPT, pieces)
}

/// Compresses contents that are sent once to one gzip member, as fast as kube-apiserver (upstream:
/// `defaultGzipContentEncodingLevel`).
pub(crate) fn gzip_once(text: &Bytes) -> Bytes {
    member(ONCE, std::slice::from_ref(text))
}

/// Compresses events to one gzip member. All of them come before the last block, because Go's reader returns what is in
/// the last block only when the next member begins (upstream: `perFlushGzipWriter`).
pub(crate) fn gzip_events(events: &[u8]) -> Vec<u8> {
    let Deflated { bytes, crc } = deflate(ONCE, [events], FlushCompress::Sync);
    let length = (events.len() as u32).to_le_bytes();
    [GZIP_HEAD, &bytes, &DEFLATE_END, &crc.finalize().to_le_bytes(), &length].concat()
}

/// The levels of compression.
const KEPT: u32 = 6;
const ONCE: u32 = 1;

fn member(level: u32, pieces: &[Bytes]) -> Bytes {
    let Deflated { bytes, crc } = deflate(level, pieces.iter().map(|piece| &**piece), FlushCompress::Finish);
    let len = pieces.iter().map(Bytes::len).sum::<usize>();
    [GZIP_HEAD, &bytes, &crc.finalize().to_le_bytes(), &(len as u32).to_le_bytes()].concat().into()
}

/// How the ETag of a document is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tags {
    /// SHA-512 of the content, as in Kubernetes. After a change, everything after it is hashed again.
    #[default]
    Content,
    /// SHA-512 of the digests of the chunks. After a change, only its chunk is hashed again. Equal contents have equal
    /// tags, but the tags differ from those of kube-apiserver. Documents without chunks have the tag of `Content`.
    Chunks,
}

/// Bytes between two stored states of the digest.
const STRIDE: usize = 32 << 10;

/// States of a digest before segments.
type States = Arc<[(usize, Sha512)]>;

/// A body of segments.
#[derive(Debug)]
pub(crate) struct Body {
    segments: Arc<[Segment]>,
    /// States within the segments that this body shares with the previous one.
    inherited: States,
    states: OnceLock<States>,
}

impl Body {
    pub(crate) fn new(segments: Vec<Segment>) -> Body {
        Body { segments: segments.into(), inherited: Arc::new([]), states: OnceLock::new() }
    }

    /// Creates a body that reuses the digests of the beginning that it shares with `before`.
    pub(crate) fn after(segments: Vec<Segment>, before: &Body) -> Body {
        let same = segments.iter().zip(&*before.segments).take_while(|(a, b)| a.is_same(b)).count();
        let known = before.states.get().unwrap_or(&before.inherited);
        let inherited = known.iter().take_while(|(at, _)| *at <= same).cloned().collect();
        Body { segments: segments.into(), inherited, states: OnceLock::new() }
    }

    pub(crate) fn rope(&self) -> Rope {
        let mut pieces = Vec::new();
        self.segments.iter().for_each(|segment| segment.pieces(|piece| pieces.push(piece)));
        pieces.into_iter().collect()
    }

    /// Returns the digest of the content.
    pub(crate) fn content_digest(&self) -> [u8; 64] {
        let (mut from, mut digest) = self.inherited.last().cloned().unwrap_or_default();
        let mut states: Vec<(usize, Sha512)> = self.inherited.to_vec();
        let mut since = 0;
        while let Some(segment) = self.segments.get(from) {
            segment.update(&mut digest);
            since += segment.len();
            from += 1;
            if since >= STRIDE {
                states.push((from, digest.clone()));
                since = 0;
            }
        }
        let _ = self.states.set(states.into());
        digest.finalize().into()
    }

    /// Returns the digest of the digests of the segments.
    pub(crate) fn chunk_digest(&self) -> [u8; 64] {
        let mut digest = Sha512::new();
        for segment in &*self.segments {
            match segment {
                Segment::Text(text) => digest.update(Sha512::digest(text)),
                Segment::Block(block, _) => {
                    digest.update(block.digest.get_or_init(|| {
                        let mut digest = Sha512::new();
                        block.parts.iter().for_each(|part| digest.update(part));
                        digest.finalize().into()
                    }));
                }
            }
        }
        digest.finalize().into()
    }

    /// Returns one gzip member. Unchanged segments are already compressed.
    pub(crate) fn gzip(&self) -> Rope {
        let mut crc = crc32fast::Hasher::new();
        let mut len = 0_usize;
        let mut pieces = vec![Bytes::from_static(GZIP_HEAD)];
        for segment in &*self.segments {
            let deflated = segment.deflated();
            crc.combine(&deflated.crc);
            len += segment.len();
            pieces.push(deflated.bytes);
        }
        let end = [&DEFLATE_END[..], &crc.finalize().to_le_bytes(), &(len as u32).to_le_bytes()].concat();
        pieces.push(end.into());
        pieces.into_iter().collect()
    }

    /// Returns the segments.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }
}
