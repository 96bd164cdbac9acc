//! Names of the parts of a source in the result.
//!
//! This is the rule of `mergeSpecs` in kube-openapi's `pkg/aggregator/aggregator.go`: a part whose name is free or
//! belongs to an equal part keeps it. Another part gets the name `NAME_v2`, `NAME_v3` and so on of an equal part, or
//! else the first such name that neither the result nor the source has.

use crate::graph::{Graph, PartIndex, Section};
use kubeshape_schema::Profile;
use petgraph::visit::EdgeRef;
use std::collections::HashMap;
use std::sync::Arc;

/// The part of the result for a part of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Its number among the parts of its section.
    pub(crate) number: u32,
    /// Whether it is new in the result, and not shared with an earlier source.
    pub(crate) is_new: bool,
}

impl Placed {
    /// For parts that are not numbered here: paths, and parts in a cycle with a path.
    pub(crate) const NONE: Placed = Placed { number: u32::MAX, is_new: false };
}

/// A name of the result.
#[derive(Debug)]
struct Taken {
    name: Arc<str>,
    /// Parts with equal keys are equal.
    key: u32,
    /// Its number among the names of all sections.
    id: u32,
}

/// The names `NAME_v2`, `NAME_v3` and so on.
#[derive(Debug)]
struct Versions {
    /// All names with smaller numbers are taken.
    first_free: usize,
    /// Numbers of the parts by their keys.
    by_key: HashMap<u32, u32>,
}

impl Default for Versions {
    fn default() -> Self {
        Versions { first_free: 2, by_key: HashMap::new() }
    }
}

/// The names of one section.
#[derive(Debug, Default)]
pub(crate) struct SectionNames {
    taken: Vec<Taken>,
    numbers: HashMap<Arc<str>, u32>,
    versions: HashMap<Box<str>, Versions>,
}

impl SectionNames {
    /// Returns the names in the order in which they were assigned.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.taken.iter().map(|taken| &taken.name)
    }

    /// Returns the name of the part with that number.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.taken.get(number as usize).map_or("", |taken| &taken.name)
    }

    /// Returns whether a name is taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    fn get(&self, name: &str) -> Option<&Taken> {
        self.taken.get(*self.numbers.get(name)? as usize)
    }

    /// Assigns a name to a part. `is_used` selects names that a new part must not have although they are free.
    pub(crate) fn place(&mut self, name: &str, key: u32, is_used: impl Fn(&str) -> bool, id: &mut u32) -> Placed {
        match self.numbers.get(name) {
            None => return self.take(name, key, id),
            Some(number) if self.taken[*number as usize].key == key => {
                return Placed { number: *number, is_new: false };
            }
            Some(_) => {}
        }
        if let Some(number) = self.versions.get(name).and_then(|versions| versions.by_key.get(&key)) {
            return Placed { number: *number, is_new: false };
        }
        let candidates = (self.first_free(name)..).map(|version| format!("{name}_v{version}"));
        let mut free =
            candidates.filter(|candidate| !self.numbers.contains_key(candidate.as_str()) && !is_used(candidate));
        match free.next() {
            Some(free) => self.take(&free, key, id),
            None => Placed::NONE,
        }
    }

    /// Returns the first of the numbers 2, 3 and so on with which a name is free.
    fn first_free(&mut self, name: &str) -> usize {
        let mut version = self.versions.get(name).map_or(2, |versions| versions.first_free);
        while self.numbers.contains_key(format!("{name}_v{version}").as_str()) {
            version += 1;
        }
        if version > 2 {
            self.versions.entry(name.into()).or_default().first_free = version;
        }
        version
    }

    /// Assigns a free name.
    pub(crate) fn take(&mut self, name: &str, key: u32, id: &mut u32) -> Placed {
        let number = self.taken.len() as u32;
        let name: Arc<str> = name.into();
        self.numbers.insert(Arc::clone(&name), number);
        if let Some(base) = base(&name) {
            self.note(base, key, number);
        }
        self.taken.push(Taken { name, key, id: *id });
        *id += 1;
        Placed { number, is_new: true }
    }

    /// Sets the key that a new part has in the result, where its references may have other names: upstream compares the
    /// parts of later sources with that. Parts that are equal to the original are shared, too; upstream creates one
    /// more copy for each of them.
    pub(crate) fn settle(&mut self, number: u32, key: u32) {
        let Some(taken) = self.taken.get_mut(number as usize) else { return };
        let (name, before) = (Arc::clone(&taken.name), std::mem::replace(&mut taken.key, key));
        if before != key {
            self.note(&name, before, number);
            if let Some(base) = base(&name) {
                self.note(base, key, number);
            }
        }
    }

    /// Records which part is shared by another one that wants this name and has this key.
    fn note(&mut self, name: &str, key: u32, number: u32) {
        self.versions.entry(name.into()).or_default().by_key.entry(key).or_insert(number);
    }
}

/// The names of all sections.
///
/// Every part has a key, and parts with equal keys are equal. With [`Profile::Kube`], the key identifies the printed
/// form of the part. With [`Profile::Faithful`], it identifies the printed form and all parts to which the part refers;
/// the keys of parts that refer to each other in a cycle identify the whole cycle.
#[derive(Debug)]
pub(super) struct Names {
    profile: Profile,
    sections: [SectionNames; Section::ALL.len()],
    /// Numbers of lists of numbers.
    lists: HashMap<Box<[u32]>, u32>,
    ids: u32,
}

/// Not the number of a printed form: it marks the start of a member in a list, and a part of the same cycle.
const MEMBER: u32 = u32::MAX;
const CIRCLE: u32 = u32::MAX - 1;

impl Names {
    pub(super) fn new(profile: Profile) -> Self {
        Names { profile, sections: Default::default(), lists: HashMap::new(), ids: 0 }
    }

    pub(super) fn section(&self, section: Section) -> &SectionNames {
        &self.sections[section.number()]
    }

    pub(super) fn section_mut(&mut self, section: Section) -> &mut SectionNames {
        &mut self.sections[section.number()]
    }

    /// Assigns names to the parts of one more source. `contents` are the numbers of their printed forms.
    pub(super) fn place(&mut self, graph: &Graph<'_>, contents: &[u32]) -> Vec<Placed> {
        let mut placed = vec![Placed::NONE; graph.len()];
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
                        let (to, placed) = (graph.part(to), placed[to.index()]);
                        let names = self.section(to.section);
                        let taken = names.taken.get(placed.number as usize).or_else(|| names.get(to.name));
                        list.push(taken.map_or(MEMBER, |taken| taken.id));
                    }
                }
            }
            let whole = self.list(&list);
            for (position, part) in circle.iter().enumerate() {
                let key = if circle.len() == 1 { whole } else { self.list(&[CIRCLE, whole, position as u32]) };
                placed[part.index()] = self.place_one(graph, *part, key);
            }
        }
        placed
    }

    fn place_one(&mut self, graph: &Graph<'_>, part: PartIndex, key: u32) -> Placed {
        let part = graph.part(part);
        let is_used = |name: &str| graph.find(part.section, name).is_some();
        let names = &mut self.sections[part.section.number()];
        names.place(part.name, key, is_used, &mut self.ids)
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

/// Returns the name without a suffix such as `_v2`.
fn base(name: &str) -> Option<&str> {
    let (base, number) = name.rsplit_once("_v")?;
    let is_number = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
    (is_number && !matches!(number, "" | "1")).then_some(base)
}
