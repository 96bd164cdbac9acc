//! Decides which of several CustomResourceDefinitions of a group gets a name (upstream:
//! `status.NamingConditionController` of apiextensions-apiserver).

use crate::custom::{ClaimedNames, CustomResource};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A member of `spec.names` whose name another definition has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameField {
    /// `spec.names.plural`
    Plural,
    /// `spec.names.singular`
    Singular,
    /// `spec.names.shortNames`
    ShortNames,
    /// `spec.names.kind`
    Kind,
    /// `spec.names.listKind`
    ListKind,
}

impl NameField {
    /// Returns the name of the member in `spec.names`.
    pub fn name(self) -> &'static str {
        match self {
            NameField::Plural => "plural",
            NameField::Singular => "singular",
            NameField::ShortNames => "shortNames",
            NameField::Kind => "kind",
            NameField::ListKind => "listKind",
        }
    }

    fn word(self) -> &'static str {
        match self {
            NameField::Plural => "the plural",
            NameField::Singular => "the singular",
            NameField::ShortNames => "the short name",
            NameField::Kind => "the kind",
            NameField::ListKind => "the list kind",
        }
    }
}

/// A name that a definition declares, but that another definition of its group already has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConflict {
    /// The index of the definition that does not get it, in the given order.
    pub resource: usize,
    /// The index of the definition that has it.
    pub owner: usize,
    /// The member of `spec.names`.
    pub field: NameField,
    /// The name.
    pub name: Arc<str>,
}

impl NameConflict {
    /// Returns the detail of the finding [`Code::NameInUse`](kubeshape_schema::Code::NameInUse) about the definition
    /// that does not get the name. `owner` is the name of the definition that has it.
    pub fn detail(&self, owner: &str) -> String {
        let NameConflict { field, name, .. } = self;
        let (word, member) = (field.word(), field.name());
        format!(
            "found {word} {name:?}, which {owner} has; expected another one in spec.names.{member}; it is not published"
        )
    }
}

/// The names in use, each with the definition that has it. Plural, singular and short names share one set; kinds
/// and list kinds share another one.
#[derive(Default)]
struct Used {
    resources: BTreeMap<Arc<str>, usize>,
    kinds: BTreeMap<Arc<str>, usize>,
}

impl Used {
    fn claim(&mut self, owner: usize, field: NameField, name: &Arc<str>) {
        if !name.is_empty() {
            self.space(field).entry(Arc::clone(name)).or_insert(owner);
        }
    }

    fn space(&mut self, field: NameField) -> &mut BTreeMap<Arc<str>, usize> {
        match field {
            NameField::Plural | NameField::Singular | NameField::ShortNames => &mut self.resources,
            NameField::Kind | NameField::ListKind => &mut self.kinds,
        }
    }
}

fn fields(names: &ClaimedNames) -> impl Iterator<Item = (NameField, &[Arc<str>])> {
    use std::slice::from_ref;
    [
        (NameField::Plural, from_ref(&names.plural)),
        (NameField::Singular, from_ref(&names.singular)),
        (NameField::ShortNames, &*names.short_names),
        (NameField::Kind, from_ref(&names.kind)),
        (NameField::ListKind, from_ref(&names.list_kind)),
    ]
    .into_iter()
}

/// Returns the names that definitions of one group declare and do not get. Definitions must be in the order of their
/// creation; the first one gets the name. A definition that lacks a name is not established and is not published, but
/// it keeps the other names that it declares. Definitions whose status says that they are established get their names
/// before all others.
///
/// # Example
/// ```
/// use kubeshape_discovery::{ClaimedNames, CustomResource, NameField, name_conflicts};
/// let crd = |plural: &str, short: &str, kind: &str| CustomResource {
///     group: "example.com".into(),
///     names: ClaimedNames {
///         plural: plural.into(),
///         singular: kind.to_lowercase().into(),
///         short_names: vec![short.into()],
///         kind: kind.into(),
///         list_kind: format!("{kind}List").into(),
///     },
///     accepted: None,
///     established: None,
///     versions: Vec::new(),
///     names_at: 0,
/// };
/// let (tabs, tables) = (crd("tabs", "t", "Tab"), crd("tables", "t", "Table"));
/// let conflicts = name_conflicts([&tabs, &tables]);
/// assert_eq!((conflicts[0].resource, conflicts[0].owner, conflicts[0].field), (1, 0, NameField::ShortNames));
/// assert_eq!(conflicts.len(), 1);
/// ```
pub fn name_conflicts<'c>(resources: impl IntoIterator<Item = &'c CustomResource>) -> Vec<NameConflict> {
    let resources: Vec<&CustomResource> = resources.into_iter().collect();
    let mut used = Used::default();
    // The names in a status were granted before.
    for (owner, custom) in resources.iter().enumerate() {
        let settled = custom.accepted.as_ref().or_else(|| (custom.established == Some(true)).then_some(&custom.names));
        for (field, names) in settled.into_iter().flat_map(fields) {
            for name in names {
                used.claim(owner, field, name);
            }
        }
    }
    let mut conflicts = Vec::new();
    for (resource, custom) in resources.iter().enumerate().filter(|(_, custom)| custom.established.is_none()) {
        let mut granted = Vec::new();
        for (field, names) in fields(&custom.names) {
            let before = conflicts.len();
            for name in names {
                match used.space(field).get(name) {
                    Some(owner) if *owner != resource => {
                        let (owner, name) = (*owner, Arc::clone(name));
                        conflicts.push(NameConflict { resource, owner, field, name });
                    }
                    _ => {}
                }
            }
            // Either all short names are granted or none.
            if conflicts.len() == before {
                granted.push((field, names));
            }
        }
        for (field, names) in granted {
            for name in names {
                used.claim(resource, field, name);
            }
        }
    }
    conflicts
}

/// Returns the established definitions of one group: those that have all the names they declare, and those whose status
/// says so. Definitions must be in the order of their creation.
pub fn established<'c>(resources: impl IntoIterator<Item = &'c CustomResource>) -> Vec<&'c CustomResource> {
    let resources: Vec<&CustomResource> = resources.into_iter().collect();
    let conflicts = name_conflicts(resources.iter().copied());
    let refused = |n: usize| conflicts.iter().any(|conflict| conflict.resource == n);
    let all = resources.iter().enumerate();
    all.filter(|(n, custom)| custom.established != Some(false) && !refused(*n)).map(|(_, custom)| *custom).collect()
}
