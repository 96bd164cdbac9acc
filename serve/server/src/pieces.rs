//! Sorted, printed members in chunks, of which large bodies consist.
//!
//! A list is persistent: an edit creates new chunks only where it changes something, and shares all others with their
//! caches. Only the keys decide where a chunk begins, so equal members have equal chunks, whatever edits led to them.

use crate::body::{Block, Segment};
use bytes::{Bytes, BytesMut};
use kubeshape_schema::escape::{self, Escape};
use kubeshape_schema::order;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The key that members are sorted by.
pub(crate) trait Key: Ord + Clone {
    /// Returns a hash that is the same on every machine and at every time.
    fn spread(&self) -> u64;

    /// Appends the bytes before the value.
    fn print(&self, out: &mut BytesMut);
}

/// Members of an object, sorted by bytes and printed like by Go's `encoding/json`.
impl Key for Arc<str> {
    fn spread(&self) -> u64 {
        spread(self.as_bytes())
    }

    fn print(&self, out: &mut BytesMut) {
        member(self, Escape::Html, out);
    }
}

/// The name of a member that is sorted by UTF-16 code units and printed like in v2 documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) Arc<str>);

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        order::utf16(&self.0, &other.0)
    }
}

impl Key for Name {
    fn spread(&self) -> u64 {
        spread(self.0.as_bytes())
    }

    fn print(&self, out: &mut BytesMut) {
        member(&self.0, Escape::Plain, out);
    }
}

fn member(name: &str, style: Escape, out: &mut BytesMut) {
    let mut text = Vec::with_capacity(name.len() + 3);
    escape::string(&mut text, name, style);
    text.push(b':');
    out.extend_from_slice(&text);
}

/// FNV-1a with a final mix, so that low bits depend on every byte.
pub(crate) fn spread(bytes: &[u8]) -> u64 {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// Smaller members are copied into one block per chunk. Larger ones are shared.
const SMALL: usize = 4 << 10;

/// A run of members.
#[derive(Debug)]
struct Chunk<K> {
    /// The members. Small ones are slices of the block.
    items: Vec<(K, Bytes)>,
    block: Arc<Block>,
}

impl<K: Key> Chunk<K> {
    fn new(mut items: Vec<(K, Bytes)>) -> Chunk<K> {
        let mut parts = Vec::new();
        let mut text = BytesMut::new();
        // Small members of the block, with their ranges.
        let mut small: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        for i in 0..=items.len() {
            let item = items.get(i);
            if let Some((key, value)) = item {
                text.extend_from_slice(b",");
                key.print(&mut text);
                if value.len() < SMALL {
                    small.push((i, text.len()..text.len() + value.len()));
                    text.extend_from_slice(value);
                    continue;
                }
            }
            let large = item.map(|(_, value)| value.clone());
            // Exactly the needed capacity.
            let whole = Bytes::copy_from_slice(&text);
            text.clear();
            for (i, range) in small.drain(..) {
                items[i].1 = whole.slice(range);
            }
            parts.extend(Some(whole).filter(|text| !text.is_empty()).into_iter().chain(large));
        }
        Chunk { items, block: Arc::new(Block::new(parts)) }
    }
}

/// Printed members of an object or list in the order of their keys.
#[derive(Clone, Debug)]
pub(crate) struct Pieces<K> {
    chunks: Arc<[Arc<Chunk<K>>]>,
    /// A chunk begins where this mask and the hash of the key have no bit in common.
    mask: u64,
}

impl<K: Key> Pieces<K> {
    /// Creates an empty list, whose chunks will have `size` members on average. `size` is a power of two.
    pub(crate) fn new(size: u64) -> Pieces<K> {
        Pieces { chunks: Arc::new([]), mask: size.next_power_of_two() - 1 }
    }

    /// Returns whether the members are the same as in the list from which this one was created.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.chunks.len() == other.chunks.len()
            && self.chunks.iter().zip(&*other.chunks).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Returns the member of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&Bytes> {
        let chunk = self.chunks.partition_point(|chunk| chunk.items[0].0 <= *key).checked_sub(1)?;
        let items = &self.chunks[chunk].items;
        let at = items.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
        Some(&items[at].1)
    }

    /// Returns the greatest key.
    pub(crate) fn last(&self) -> Option<&K> {
        Some(&self.chunks.last()?.items.last()?.0)
    }

    /// Sets members, and removes those that are `None`. Chunks without changes are shared.
    pub(crate) fn edit(&self, mut edits: BTreeMap<K, Option<Bytes>>) -> Pieces<K> {
        edits.retain(|key, value| self.get(key) != value.as_ref());
        if edits.is_empty() {
            return self.clone();
        }
        let mut build = Builder { done: Vec::with_capacity(self.chunks.len() + 1), open: Vec::new(), mask: self.mask };
        let mut edits = edits.into_iter().peekable();
        for (i, chunk) in self.chunks.iter().enumerate() {
            let end = self.chunks.get(i + 1).map(|next| &next.items[0].0);
            let touches = |key: &K| end.is_none_or(|end| key < end);
            if edits.peek().is_none_or(|(key, _)| !touches(key)) {
                build.chunk(chunk);
                continue;
            }
            let mut items = chunk.items.iter().peekable();
            while let Some((key, edit)) = edits.next_if(|(key, _)| touches(key)) {
                while let Some((old, text)) = items.next_if(|(old, _)| *old < key) {
                    build.item(old.clone(), text.clone());
                }
                items.next_if(|(old, _)| *old == key);
                if let Some(text) = edit {
                    build.item(key, text);
                }
            }
            items.for_each(|(key, text)| build.item(key.clone(), text.clone()));
        }
        for (key, edit) in edits {
            if let Some(text) = edit {
                build.item(key, text);
            }
        }
        build.close();
        Pieces { chunks: build.done.into(), mask: self.mask }
    }

    /// Appends the members, with commas between them.
    pub(crate) fn segments(&self, out: &mut Vec<Segment>) {
        out.extend(self.chunks.iter().enumerate().map(|(i, chunk)| Segment::block(&chunk.block, i == 0)));
    }

    /// Returns the number of chunks.
    #[cfg(test)]
    fn chunks(&self) -> usize {
        self.chunks.len()
    }
}

/// A list that is being built.
struct Builder<K> {
    done: Vec<Arc<Chunk<K>>>,
    open: Vec<(K, Bytes)>,
    mask: u64,
}

impl<K: Key> Builder<K> {
    fn begins(&self, key: &K) -> bool {
        key.spread() & self.mask == 0
    }

    fn chunk(&mut self, chunk: &Arc<Chunk<K>>) {
        if self.begins(&chunk.items[0].0) {
            self.close();
        }
        if self.open.is_empty() && (self.done.is_empty() || self.begins(&chunk.items[0].0)) {
            self.done.push(Arc::clone(chunk));
        } else {
            self.open.extend(chunk.items.iter().cloned());
        }
    }

    fn item(&mut self, key: K, text: Bytes) {
        if self.begins(&key) {
            self.close();
        } else if self.open.is_empty()
            && let Some(last) = self.done.pop()
        {
            // The first member of a chunk is gone, so the others belong to the previous chunk.
            self.open.clone_from(&last.items);
        }
        self.open.push((key, text));
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.done.push(Arc::new(Chunk::new(std::mem::take(&mut self.open))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use proptest::prelude::*;

    fn text(pieces: &Pieces<Arc<str>>) -> Vec<u8> {
        let mut segments = Vec::new();
        pieces.segments(&mut segments);
        Body::new(segments).rope().to_bytes().to_vec()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn edits_have_the_same_result_as_a_list_built_in_one_step(
            rounds in prop::collection::vec(prop::collection::vec((0_u32..400, prop::option::of(0_usize..9)), 0..40), 1..8),
        ) {
            let mut pieces = Pieces::new(8);
            let mut all: BTreeMap<Arc<str>, Bytes> = BTreeMap::new();
            for round in rounds {
                let mut edits = BTreeMap::new();
                for (key, size) in round {
                    let key: Arc<str> = format!("key{key}").into();
                    let value = size.map(|size| Bytes::from(key.repeat(size * size * size)));
                    match &value {
                        Some(value) => all.insert(key.clone(), value.clone()),
                        None => all.remove(&key),
                    };
                    edits.insert(key, value);
                }
                pieces = pieces.edit(edits);
                let whole = Pieces::new(8).edit(all.iter().map(|(k, v)| (k.clone(), Some(v.clone()))).collect());
                prop_assert_eq!(pieces.chunks(), whole.chunks());
                let sizes = |pieces: &Pieces<Arc<str>>| pieces.chunks.iter().map(|c| c.items.len()).collect::<Vec<_>>();
                prop_assert_eq!(sizes(&pieces), sizes(&whole));
                let members = all.iter().map(|(key, value)| [format!("\"{key}\":").as_bytes(), value].concat());
                let expected: Vec<Vec<u8>> = members.collect();
                prop_assert_eq!(text(&pieces), expected.join(&b','));
                for (key, value) in &all {
                    prop_assert_eq!(pieces.get(key), Some(value));
                }
            }
        }
    }

    #[test]
    fn an_edit_shares_the_chunks_that_it_does_not_touch() {
        let member = |n: u32| (Arc::from(format!("key{n}")), Some(Bytes::from(n.to_string())));
        let before = Pieces::new(16).edit((0..1000).map(member).collect());
        let after = before.edit(BTreeMap::from([(Arc::from("key500"), Some(Bytes::from_static(b"new")))]));
        let shared = after.chunks.iter().filter(|chunk| before.chunks.iter().any(|old| Arc::ptr_eq(old, chunk)));
        assert_eq!(shared.count(), before.chunks() - 1);
    }
}
