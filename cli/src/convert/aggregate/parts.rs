//! The subjects of results: whole documents, parts of them, and kinds.

use super::{Printed, printed_as};
use crate::convert::documents::{self, Cutter, KindName};
use crate::convert::plan::Target;
use crate::convert::worker::Context;
use crate::error::Fatal;
use crate::output::Output;
use crate::output::names;
use kubeshape_convert::document::Document;
use kubeshape_input::Finding;
use kubeshape_schema::{Bump, Code, Converted, Property};

/// The subject of a result.
pub(super) struct Part<'a> {
    /// The name of its file.
    pub(super) name: String,
    pub(super) of: Of<'a>,
}

#[allow(clippy::large_enum_variant)] // A part is moved once.
pub(super) enum Of<'a> {
    Document(Document<'a>),
    /// A kind. Its document is cut out when the result is computed, because the documents of all kinds may be very
    /// large.
    Kind(KindName<'a>, &'a Property<'a>),
}

/// The results of a target.
#[derive(Default)]
pub(super) struct Made {
    pub(super) outputs: Vec<Output>,
    /// Whether there were too many bytes.
    pub(super) is_over: bool,
}

/// A result and its size, with the notes of its format and of its conversion.
pub(super) struct MadePart<'p, 'a> {
    pub(super) part: &'p Part<'a>,
    pub(super) output: Option<(Result<Output, Fatal>, u64)>,
    pub(super) remarks: Vec<Finding>,
    pub(super) notes: Vec<(Code, u32, String)>,
}

impl<'a> Part<'a> {
    /// Returns its description in messages, and its location.
    pub(super) fn told(&self) -> (&dyn std::fmt::Display, u32) {
        match &self.of {
            Of::Kind(kind, definition) => (kind, definition.at),
            Of::Document(document) => (&self.name, document.at()),
        }
    }

    pub(super) fn document<'p>(&self, cutter: &Cutter<'_, 'a>, arena: &'p Bump) -> Document<'p>
    where
        'a: 'p,
    {
        match self.of {
            Of::Document(document) => document,
            Of::Kind(_, definition) => cutter.cut(definition, arena),
        }
    }

    /// Computes the result, which has at most `most` bytes.
    pub(super) fn made(
        &self,
        cutter: &Cutter<'_, 'a>,
        target: Target,
        most: u64,
        context: &Context<'_>,
    ) -> MadePart<'_, 'a> {
        let (arena, settings) = (Bump::new(), context.engine.settings());
        let document = self.document(cutter, &arena);
        let kind = match self.of {
            Of::Document(_) => None,
            Of::Kind(kind, _) => Some(kind),
        };
        let Converted { value, notes } = documents::inline(&document, kind, &arena, settings);
        let mut notes: Vec<(Code, u32, String)> =
            notes.into_iter().map(|note| (note.code, note.at, note.detail.into_owned())).collect();
        let mut remarks = Vec::new();
        let printed =
            value.map(|document| printed_as(&self.name, &document, target, most, context, &mut remarks)).transpose();
        let output = match printed {
            Ok(Some(Printed::Result(output, size))) => Some((Ok(output), size)),
            Ok(Some(Printed::TooLarge)) => {
                let (what, at) = self.told();
                let note = documents::over_budget(what, at, settings);
                notes.push((note.code, note.at, note.detail.into_owned()));
                None
            }
            Ok(Some(Printed::Nothing) | None) => None,
            Err(fatal) => Some((Err(fatal), 0)),
        };
        MadePart { part: self, output, remarks, notes }
    }
}

pub(super) fn kind_file(kind: &KindName<'_>, target: Target) -> String {
    if kind.version.is_empty() {
        return names::definition(kind.kind, target.shape, target.format);
    }
    let folder = names::kind_folder(kind.kind, kind.group);
    format!("{folder}/{}", names::file(target.shape, kind.version, target.format))
}
