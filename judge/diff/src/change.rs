//! A change, and its class for each consumer.

use kubeshape_schema::Code;
use kubeshape_yaml::{Document, Kind, Node};
use std::fmt;

/// A user of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consumer {
    /// Stored objects.
    Storage,
    /// Clients that create and update objects.
    Writers,
    /// Clients that read objects.
    Readers,
    /// Server-side apply: the ownership of fields.
    Apply,
    /// Clients that read the OpenAPI v2 document.
    V2,
    /// CEL rules.
    Cel,
    /// The names, versions and requests of the definition.
    Meta,
}

impl Consumer {
    /// All consumers.
    pub const ALL: [Consumer; 7] = [
        Consumer::Storage,
        Consumer::Writers,
        Consumer::Readers,
        Consumer::Apply,
        Consumer::V2,
        Consumer::Cel,
        Consumer::Meta,
    ];

    /// Returns the name: `storage`, `writers`, `readers`, `apply`, `v2`, `cel`, `meta`.
    pub fn name(self) -> &'static str {
        match self {
            Consumer::Storage => "storage",
            Consumer::Writers => "writers",
            Consumer::Readers => "readers",
            Consumer::Apply => "apply",
            Consumer::V2 => "v2",
            Consumer::Cel => "cel",
            Consumer::Meta => "meta",
        }
    }
}

impl fmt::Display for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The definitions that have the part that a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkedIn {
    /// Both, or it is to be looked up.
    Both,
    /// Only the old definition.
    Old,
    /// Only the new definition.
    New,
}

/// The severity of a change for a consumer, from least to most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Only descriptions change.
    Cosmetic,
    /// Everything that worked still works.
    Compatible,
    /// Something may stop working, or the effect is unknown.
    Risky,
    /// Something that worked stops working.
    Breaking,
}

impl Class {
    /// Returns the name: `cosmetic`, `compatible`, `risky`, `breaking`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Cosmetic => "cosmetic",
            Class::Compatible => "compatible",
            Class::Risky => "risky",
            Class::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind of change.
    pub code: Code,
    /// The version whose schema changed. Empty if the change is not about one version.
    pub version: String,
    /// The field, with `[]` for list items and `.*` for map values: `spec.ports[].name`. Empty for the whole object.
    pub path: String,
    /// The place in the old definition: a node of its document.
    pub old: u32,
    /// The place in the new definition.
    pub new: u32,
    /// The way from these places to the keyword that changed: names of members and indices of items. Empty if the whole
    /// place changed.
    pub part: Vec<String>,
    /// The definitions that have the part.
    pub marked_in: MarkedIn,
    /// The old and the new state.
    pub detail: String,
    /// The class for each affected consumer, in the order of [`Consumer::ALL`].
    pub effects: Vec<(Consumer, Class)>,
}

impl Change {
    /// Returns the class for the consumer that is affected most.
    pub fn class(&self) -> Class {
        self.effects.iter().map(|(_, class)| *class).max().unwrap_or(Class::Cosmetic)
    }

    /// Returns the part of the old definition that changed, if the old definition has it: its key or item, and the
    /// value.
    pub fn old_part<'a>(&self, document: Document<'a>) -> Option<(Node<'a>, Node<'a>)> {
        if self.marked_in == MarkedIn::New { None } else { marked(document, self.old, &self.part) }
    }

    /// Returns the part of the new definition that changed, if the new definition has it: its key or item, and the
    /// value.
    pub fn new_part<'a>(&self, document: Document<'a>) -> Option<(Node<'a>, Node<'a>)> {
        if self.marked_in == MarkedIn::Old { None } else { marked(document, self.new, &self.part) }
    }

    /// Returns the class for a consumer, or `None` if it is not affected.
    pub fn class_for(&self, consumer: Consumer) -> Option<Class> {
        self.effects.iter().find(|(concerned, _)| *concerned == consumer).map(|(_, class)| *class)
    }
}

/// Items of a list beyond this index are not marked on their own, but the list: finding an item takes as long as its
/// index.
pub(crate) const MAX_MARKED_ITEMS: usize = 1000;

/// Follows steps from a node. Returns the key of the last member or the last item, and its value.
fn marked<'a>(document: Document<'a>, at: u32, part: &[String]) -> Option<(Node<'a>, Node<'a>)> {
    let start = ((at as usize) < document.len()).then(|| document.node(at))?;
    let mut found = (start, start);
    for step in part {
        let (_, value) = found;
        found = match value.kind() {
            Kind::Map => value.pairs().find(|(key, _)| key.as_str() == Some(step))?,
            Kind::Seq => match step.parse().ok()? {
                at if at < MAX_MARKED_ITEMS => value.items().nth(at).map(|item| (item, item))?,
                _ => return Some(found),
            },
            _ => return None,
        };
    }
    Some(found)
}
