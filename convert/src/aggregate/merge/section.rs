//! The members of a document into which parts are merged.

/// The members of the root into which parts are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// `paths`
    Paths,
    /// `definitions`
    Definitions,
    /// `parameters`
    Parameters,
}

impl Section {
    /// All sections, in the order of a document that lacks them.
    pub const ALL: [Section; 3] = [Section::Paths, Section::Definitions, Section::Parameters];

    /// The name of the member.
    pub fn name(self) -> &'static str {
        match self {
            Section::Paths => "paths",
            Section::Definitions => "definitions",
            Section::Parameters => "parameters",
        }
    }
}
