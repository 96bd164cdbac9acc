//! Under which names the parts of a document stand in the aggregate.

use crate::graph::{Graph, PartIndex, Section};
use kubeshape_schema::{Bump, Profile};
use petgraph::visit::EdgeRef;
use std::collections::HashMap;

/// Where a part of a source stands in the aggregate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    /// Its name there.
    pub(crate) name: &'a str,
    /// Whether it is new there, and not shared.
    pub(crate) fresh: bool,
}

/// Numbers for texts and lists, equal ones for equal ones.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    texts: HashMap<Box<[u8]>, u32>,
    lists: HashMap<Box<[u32]>, u32>,
}

impl Numbers {
    pub(crate) fn text(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(text.into(), number);
        number
    }

    fn list(&mut self, list: &[u32]) -> u32 {
        if let Some(number) = self.lists.get(list) {
            return *number;
        }
        let number = self.lists.len() as u32;
        self.lists.insert(list.into(), number);
        number
    }
}

/// What stands in lists of numbers for no number.
const MEMBER: u32 = u32::MAX;
const CIRCLE: u32 = u32::MAX - 1;

/// The names of the aggregate.
///
/// Two parts are the same if their texts are and what they refer to is: each has a key, and equal keys mean
/// equal parts. Parts that refer to each other in a circle have keys that are made of the whole circle.
#[derive(Debug)]
pub(super) struct Names<'a> {
    arena: &'a Bump,
    profile: Profile,
    /// Key and number of every name.
    taken: HashMap<(Section, &'a str), (u32, u32)>,
    /// By the name that a part wanted, and its key.
    variants: HashMap<(Section, &'a str, u32), &'a str>,
    /// The first number for a name that may be free.
    next: HashMap<(Section, &'a str), usize>,
}

impl<'a> Names<'a> {
    pub(super) fn new(profile: Profile, arena: &'a Bump) -> Self {
        Names { arena, profile, taken: HashMap::new(), variants: HashMap::new(), next: HashMap::new() }
    }

    /// Places the parts of one more source. `contents` are the numbers of their texts.
    pub(super) fn place(&mut self, graph: &Graph<'a>, contents: &[u32], numbers: &mut Numbers) -> Vec<Placed<'a>> {
        let mut placed: Vec<Placed<'a>> =
            graph.inner().node_weights().map(|part| Placed { name: part.name, fresh: false }).collect();
        let named = |part: &PartIndex| graph.part(*part).section != Section::Paths;
        if self.profile == Profile::Kube {
            for part in graph.inner().node_indices().filter(named) {
                placed[part.index()] = self.place_one(graph, part, contents[part.index()]);
            }
            return placed;
        }
        for circle in graph.components() {
            if !circle.iter().all(named) {
                continue;
            }
            let mut list = Vec::new();
            for part in &circle {
                list.extend([MEMBER, contents[part.index()]]);
                for edge in graph.inner().edges(*part) {
                    let to = edge.target();
                    if let Ok(position) = circle.binary_search(&to) {
                        list.extend([CIRCLE, position as u32]);
                    } else {
                        let key = (graph.part(to).section, placed[to.index()].name);
                        list.push(self.taken.get(&key).map_or(MEMBER, |(_, number)| *number));
                    }
                }
            }
            let whole = numbers.list(&list);
            for (position, part) in circle.iter().enumerate() {
                let key = if circle.len() == 1 { whole } else { numbers.list(&[CIRCLE, whole, position as u32]) };
                placed[part.index()] = self.place_one(graph, *part, key);
            }
        }
        placed
    }

    fn place_one(&mut self, graph: &Graph<'a>, part: PartIndex, key: u32) -> Placed<'a> {
        let part = graph.part(part);
        let (section, name) = (part.section, part.name);
        match self.taken.get(&(section, name)) {
            None => {
                self.take(section, name, name, key);
                return Placed { name, fresh: true };
            }
            Some((existing, _)) if *existing == key => return Placed { name, fresh: false },
            Some(_) => {}
        }
        if let Some(name) = self.variants.get(&(section, name, key)) {
            return Placed { name, fresh: false };
        }
        let mut n = self.next.get(&(section, name)).copied().unwrap_or(2);
        let mut taken_so_far = true;
        loop {
            let candidate = format!("{name}_v{n}");
            let taken = self.taken.contains_key(&(section, candidate.as_str()));
            if !taken && graph.find(section, &candidate).is_none() {
                let new = &*self.arena.alloc_str(&candidate);
                self.take(section, name, new, key);
                return Placed { name: new, fresh: true };
            }
            n += 1;
            // Names only ever get taken: none of these needs to be tried again.
            taken_so_far &= taken;
            if taken_so_far {
                self.next.insert((section, name), n);
            }
        }
    }

    fn take(&mut self, section: Section, wanted: &'a str, name: &'a str, key: u32) {
        let number = self.taken.len() as u32;
        self.taken.insert((section, name), (key, number));
        for wanted in [Some(wanted), Some(name), base(name)].into_iter().flatten() {
            self.variants.entry((section, wanted, key)).or_insert(name);
        }
    }

    /// Says what a part looks like in the aggregate: upstream compares with that.
    pub(super) fn rewritten(&mut self, section: Section, name: &'a str, content: u32) {
        if self.profile == Profile::Kube
            && let Some(entry) = self.taken.get_mut(&(section, name))
        {
            entry.0 = content;
            for wanted in [Some(name), base(name)].into_iter().flatten() {
                self.variants.entry((section, wanted, content)).or_insert(name);
            }
        }
    }
}

/// The name without `_v2` or the like.
fn base(name: &str) -> Option<&str> {
    let (base, number) = name.rsplit_once("_v")?;
    let written = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
    (written && !matches!(number, "" | "1")).then_some(base)
}
