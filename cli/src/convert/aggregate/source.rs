//! Documents that were read, in the needed dialects.

use super::super::documents::{self, Settings};
use super::super::plan::Target;
use crate::args::{Per, Shape};
use kubeshape_convert::document::Document as OpenApi;
use kubeshape_convert::v2::from_v3::Scratch;
use kubeshape_convert::v3;
use kubeshape_input::{Document, Limits};
use kubeshape_schema::{Bump, Converted, Dialect, Note};
use kubeshape_yaml::Node;

/// Parses a printed document.
pub(super) fn printed(bytes: &[u8]) -> Option<Document> {
    kubeshape_input::read("", bytes, Limits::PRINTED).documents.pop()
}

/// The needed dialects of documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    v3: bool,
    v2: bool,
    /// Whether documents are read. Definitions are created from their nodes.
    documents: bool,
    /// Whether what only OpenAPI 3.1 has is kept, because all results are documents of it or JSON Schemas.
    keeps: bool,
    /// Whether the only result is the only document in the other dialect: it is converted while it is printed.
    pub(super) is_printed_only: bool,
}

impl Needs {
    pub(super) fn of(targets: &[Target], documents: &[(Document, bool)], settings: &Settings) -> Needs {
        let has = |shape| targets.iter().any(|target| target.shape == shape);
        let mut contents = documents.iter().map(|(document, _)| document.content());
        let only_v2 = contents.all(|content| content.dialect() == Some(Dialect::V2));
        let is_printed_only = match (targets, documents) {
            ([target], [(document, false)]) => {
                let dialect = document.content().dialect();
                let other = dialect.is_some() && dialect != target.shape.dialect();
                other && target.shape.dialect().is_some() && target.documents == Per::Single && settings.is_plain()
            }
            _ => false,
        };
        let has_v3 = has(Shape::V3) || has(Shape::V31);
        let v3 = has_v3 || has(Shape::JsonSchema) || has(Shape::Kustomize) || (has(Shape::Smd) && !only_v2);
        // References in kept keywords are not renamed, as merging documents may need it.
        let is_alone = documents.len() == 1;
        let documents = targets.iter().any(|target| target.shape != Shape::Crd);
        let keeps = targets.iter().all(|target| match target.shape {
            Shape::V31 => true,
            Shape::JsonSchema => is_alone,
            _ => false,
        });
        Needs { v3: v3 && !is_printed_only, v2: has(Shape::V2) && !is_printed_only, documents, keeps, is_printed_only }
    }
}

/// A document that was read.
pub(super) struct Source<'a> {
    pub(super) loaded: &'a Document,
    /// Whether it is published for CustomResourceDefinitions.
    pub(super) is_published: bool,
    /// In the needed dialects.
    pub(super) document: Option<OpenApi<'a>>,
    pub(super) v3: Option<OpenApi<'a>>,
    pub(super) v2: Option<OpenApi<'a>>,
    pub(super) notes: Vec<(Note<'a>, Option<Shape>)>,
    pub(super) failed: bool,
}

impl<'a> Source<'a> {
    pub(super) fn read(
        loaded: &'a Document,
        is_published: bool,
        needs: Needs,
        (arena, scratch): (&'a Bump, &'a mut Scratch),
        settings: &Settings,
    ) -> Self {
        let (document, v3, v2) = (None, None, None);
        let mut out = Source { loaded, is_published, document, v3, v2, notes: Vec::new(), failed: false };
        let Some(dialect) = loaded.content().dialect().filter(|_| needs.documents) else { return out };
        let root = out.root();
        let read = match dialect {
            Dialect::V3 if needs.keeps => {
                v3::read_keeping(root, arena, settings.profile).map(|document| document.map(OpenApi::V3))
            }
            _ => OpenApi::read(root, dialect, arena, settings.profile),
        };
        out.document = out.take(read, None);
        let Some(document) = out.document else { return out };
        if settings.findings && !is_published {
            out.notes.extend(documents::findings(&document).into_iter().map(|note| (note, None)));
        }
        match dialect {
            Dialect::V2 => out.v2 = Some(document),
            Dialect::V3 => out.v3 = Some(document),
        }
        // Published documents exist in both dialects, so they are not converted.
        let other = match dialect {
            Dialect::V2 => (needs.v3, Dialect::V3, Shape::V3),
            Dialect::V3 => (needs.v2, Dialect::V2, Shape::V2),
        };
        if let (true, other, shape) = other
            && !is_published
        {
            let converted = document.convert(other, loaded.source().text(), &settings.conversion(), scratch, arena);
            let converted = out.take(converted, Some(shape));
            match other {
                Dialect::V3 => out.v3 = converted,
                Dialect::V2 => out.v2 = converted,
            }
        }
        out
    }

    pub(super) fn root(&self) -> Node<'a> {
        self.loaded.root()
    }

    /// Returns the value, and collects its notes.
    fn take<T>(&mut self, converted: Converted<'a, Option<T>>, shape: Option<Shape>) -> Option<T> {
        self.failed |= converted.value.is_none();
        self.notes.extend(converted.notes.into_iter().map(|note| (note, shape)));
        converted.value
    }

    pub(super) fn in_dialect(&self, dialect: Dialect) -> Option<OpenApi<'a>> {
        match dialect {
            Dialect::V3 => self.v3,
            Dialect::V2 => self.v2,
        }
    }
}
