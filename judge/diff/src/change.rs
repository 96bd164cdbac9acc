//! What a change is, and for whom it is what.

use kubeshape_schema::Code;
use std::fmt;

/// Who lives with a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consumer {
    /// Objects that are stored already.
    Storage,
    /// Who creates and updates objects.
    Writers,
    /// Who reads objects.
    Readers,
    /// Server-side apply: who owns which field.
    Apply,
    /// Clients that read the OpenAPI v2 document.
    V2,
    /// Rules in CEL.
    Cel,
    /// The definition's names, versions and requests.
    Meta,
}

impl Consumer {
    /// All of them.
    pub const ALL: [Consumer; 7] = [
        Consumer::Storage,
        Consumer::Writers,
        Consumer::Readers,
        Consumer::Apply,
        Consumer::V2,
        Consumer::Cel,
        Consumer::Meta,
    ];

    /// The name: `storage`, `writers`, `readers`, `apply`, `v2`, `cel`, `meta`.
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

/// How bad a change is for somebody, the least bad first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Only texts for people change.
    Cosmetic,
    /// Nothing that worked stops working.
    Compatible,
    /// Something may stop working, or it cannot be told.
    Risky,
    /// Something that worked stops working.
    Breaking,
}

impl Class {
    /// The name: `cosmetic`, `compatible`, `risky`, `breaking`.
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
    /// What changed.
    pub code: Code,
    /// The version whose schema changed; empty for what is not about one version.
    pub version: String,
    /// The field, with `[]` for the items of a list and `.*` for the values of a map: `spec.ports[].name`. Empty for the
    /// whole object.
    pub path: String,
    /// The place in the old definition: a node of its document.
    pub old: u32,
    /// The place in the new definition.
    pub new: u32,
    /// What was there, and what is there now.
    pub detail: String,
    /// What it is for whom, in the order of [`Consumer::ALL`].
    pub effects: Vec<(Consumer, Class)>,
}

impl Change {
    /// How bad the change is for those for whom it is worst.
    pub fn class(&self) -> Class {
        self.effects.iter().map(|(_, class)| *class).max().unwrap_or(Class::Cosmetic)
    }

    /// How bad it is for one of them; none if it does not concern them.
    pub fn class_for(&self, consumer: Consumer) -> Option<Class> {
        self.effects.iter().find(|(concerned, _)| *concerned == consumer).map(|(_, class)| *class)
    }
}
