//! Results of documents in other shapes: structured-merge-diff schemas, JSON Schemas, kustomize.

use super::parts::{Made, Of, Part, kind_file};
use super::source::Source;
use super::{Results, formatted, placed};
use crate::args::{Format, Per};
use crate::convert::documents::{self, Cutter, KindName};
use crate::convert::plan::Target;
use crate::error::Fatal;
use crate::output::Output;
use crate::output::names;
use kubeshape_convert::document::Document;
use kubeshape_input::Content;
use kubeshape_schema::{Bump, Code, Dialect, Note};
use std::collections::BTreeMap;

impl<'a> Results<'_, 'a> {
    pub(super) fn smd(&mut self, target: Target) -> Result<(), Fatal> {
        let why = "a JSON Schema has no types; `--to crd` converts it";
        self.without_form(target, |content| content == Content::JsonSchema, why);
        let schemas: Vec<usize> = self.numbers(|source| source.loaded.content() == Content::Smd);
        if let ([number], 1) = (schemas.as_slice(), self.sources.len()) {
            match kubeshape_smd::schema::read(self.sources[*number].root()) {
                Ok(schema) => return self.print_smd(*number, &schema, target),
                Err(errors) => {
                    for error in documents::smd_errors(errors) {
                        self.say(&[*number], error, target);
                    }
                }
            }
            return Ok(());
        }
        for number in schemas {
            let detail = "a structured-merge-diff schema is not put together with other inputs: convert it alone";
            self.say(&[number], Note::new(Code::Nothing, 0, detail), target);
        }
        let is_v2 = |source: &Source<'_>| source.loaded.content().dialect() == Some(Dialect::V2);
        let members = self.sources.iter().filter(|source| target.published || !source.is_published);
        let dialect = if members.clone().all(is_v2) { Dialect::V2 } else { Dialect::V3 };
        let Some(whole) = self.whole(dialect, target.published, target) else { return Ok(()) };
        let Some(document) = self.document(&whole) else { return Ok(()) };
        let cutter = Cutter::new(&document);
        let parts = if target.documents == Per::Resource {
            self.kinds(&cutter, target)
        } else {
            vec![Part { name: names::single(target.shape, target.format), of: Of::Document(document) }]
        };
        let mut made = Made::default();
        for part in &parts {
            let arena = Bump::new();
            let document = part.document(&cutter, &arena);
            let is_text = target.documents == Per::Single && self.settings.rename.is_none();
            let root = match whole.of.as_slice() {
                [number] if is_text => Some(self.sources[*number].root()),
                _ => None,
            };
            match documents::smd(&document, root, self.settings) {
                Ok(schema) => {
                    if let Some((output, size)) = self.smd_output(part.name.clone(), &schema, target)? {
                        self.take(&mut made, output, size, (&whole.of, part), target);
                    }
                }
                Err(errors) => {
                    let errors: Vec<Note<'a>> = errors.into_iter().map(owned).collect();
                    // If there are several sources, search in each of them.
                    let mut found = false;
                    for &number in &whole.of {
                        let source = &self.sources[number];
                        let own = source.in_dialect(dialect);
                        let own = own.and_then(|own| documents::smd(&own, Some(source.root()), self.settings).err());
                        for note in own.unwrap_or_default() {
                            found = true;
                            self.say(&[number], note, target);
                        }
                    }
                    if !found {
                        self.say_all(&[], errors, target);
                    }
                }
            }
            if made.is_over {
                break;
            }
        }
        self.answer(made);
        if self.settings.losses {
            for number in whole.of {
                if let Some(document) = self.sources[number].in_dialect(dialect) {
                    let notes = documents::smd_losses(&document, self.settings);
                    for note in notes {
                        self.loss(number, note, target);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports a loss of a source. Losses of CustomResourceDefinitions are reported with their own results.
    pub(super) fn loss(&mut self, number: usize, note: Note<'a>, target: Target) {
        if !self.sources[number].is_published {
            self.say(&[number], note, target);
        }
    }

    pub(super) fn print_smd(
        &mut self,
        number: usize,
        schema: &kubeshape_smd::Schema,
        target: Target,
    ) -> Result<(), Fatal> {
        let name = names::single(target.shape, target.format);
        let output = self.smd_output(name.clone(), schema, target)?;
        if let Some((output, size)) = output {
            self.give(&[number], &name, output, size, target);
        }
        Ok(())
    }

    /// Returns a structured-merge-diff schema as a result, and its size.
    fn smd_output(
        &self,
        name: String,
        schema: &kubeshape_smd::Schema,
        target: Target,
    ) -> Result<Option<(Output, u64)>, Fatal> {
        let mut bytes = Vec::new();
        if target.format == Format::Yaml {
            kubeshape_smd::schema::print_yaml(schema, &mut bytes);
        } else {
            kubeshape_smd::schema::print_json(schema, &mut bytes);
            let Some(json) = formatted(bytes, target, self.context, &mut Vec::new()) else { return Ok(None) };
            bytes = json;
        }
        let size = bytes.len() as u64;
        Ok(Some((placed(name, bytes, self.context)?, size)))
    }

    pub(super) fn json_schemas(&mut self, target: Target) -> Result<(), Fatal> {
        self.schemas_are_no_documents(target);
        if target.documents == Per::Single {
            return self.json_schema_of_all(target);
        }
        let Some(whole) = self.whole(Dialect::V3, false, target) else { return Ok(()) };
        let Some(document) = self.document(&whole) else { return Ok(()) };
        let (context, settings, arena) = (self.context, self.settings, self.arena);
        let mut made = Made::default();
        let mut seen: BTreeMap<String, KindName<'_>> = BTreeMap::new();
        // Kinds that would get the file of another one.
        let mut same = Vec::new();
        let left = settings.max_output.saturating_sub(self.written);
        let mut written = 0;
        let notes = documents::json_schemas(&document, arena, settings, left, |kind, json| {
            let name = settings.laid_out(kind).unwrap_or_else(|| kind_file(&kind, target));
            // Names that differ only in case are one file on many machines.
            let key = if settings.layout.is_own() { name.clone() } else { name.to_lowercase() };
            match seen.get(&key) {
                // Two definitions have the same kind; the first one is used.
                Some(first) if *first == kind => return Ok(()),
                Some(first) => {
                    same.push(format!("{name} is that of {first} and of {kind}"));
                    return Ok(());
                }
                None => _ = seen.insert(key, kind),
            }
            if let Some(bytes) = formatted(json, target, context, &mut Vec::new()) {
                written += bytes.len() as u64;
                made.outputs.push(placed(name, bytes, context)?);
            }
            Ok(())
        })?;
        self.written += written;
        made.is_over = notes.iter().any(|note| note.code == Code::OutputBudget);
        if let [number] = whole.of.as_slice() {
            self.say_all(&[*number], notes, target);
        } else {
            // Losses have locations in their own sources.
            let (over, _) = notes.into_iter().partition(|note| note.code == Code::OutputBudget);
            self.say_all(&whole.of, over, target);
            for &number in whole.of.iter().filter(|_| settings.losses && !made.is_over) {
                let Some(own) = self.sources[number].v3 else { continue };
                for note in documents::json_schemas(&own, arena, settings, left, |_, _| Ok(()))? {
                    self.loss(number, note, target);
                }
            }
        }
        for detail in same {
            self.say(&whole.of, Note::new(Code::ResultName, 0, detail), target);
        }
        self.answer(made);
        Ok(())
    }

    /// Writes one JSON Schema for objects of all kinds.
    fn json_schema_of_all(&mut self, target: Target) -> Result<(), Fatal> {
        let Some(whole) = self.whole(Dialect::V3, true, target) else { return Ok(()) };
        let Some(document) = self.document(&whole) else { return Ok(()) };
        let (settings, arena) = (self.settings, self.arena);
        let left = settings.max_output.saturating_sub(self.written);
        let (name, made) = documents::json_schema_of_all(&document, arena, settings, left);
        if made.value.is_empty() {
            let note = documents::over_budget(&name, document.at(), settings);
            self.say(&whole.of, note, target);
            return Ok(());
        }
        if let [number] = whole.of.as_slice() {
            self.say_all(&[*number], made.notes, target);
        } else if settings.losses {
            // Losses have locations in their own sources.
            for &number in &whole.of {
                let Some(own) = self.sources[number].v3 else { continue };
                let (_, own) = documents::json_schema_of_all(&own, arena, settings, left);
                own.notes.into_iter().for_each(|note| self.loss(number, note, target));
            }
        }
        if let Some(bytes) = formatted(made.value, target, self.context, &mut Vec::new()) {
            let size = bytes.len() as u64;
            let output = placed(name.clone(), bytes, self.context)?;
            self.give(&whole.of, &name, output, size, target);
        }
        Ok(())
    }

    pub(super) fn kustomize(&mut self, target: Target) -> Result<(), Fatal> {
        self.schemas_are_no_documents(target);
        let Some(whole) = self.whole(Dialect::V3, true, target) else { return Ok(()) };
        let Some(Document::V3(document)) = self.document(&whole) else { return Ok(()) };
        let part = |number: &usize| match self.sources[*number].v3 {
            Some(Document::V3(part)) => Some(part),
            _ => None,
        };
        let parts: Vec<_> = whole.of.iter().filter_map(part).collect();
        let json = documents::kustomize(&document, &parts, self.arena, self.settings);
        self.print_json(json, None, target)
    }

    pub(super) fn numbers(&self, of: impl Fn(&Source<'a>) -> bool) -> Vec<usize> {
        self.sources.iter().enumerate().filter(|(_, source)| of(source)).map(|(number, _)| number).collect()
    }
}

/// Returns a note that borrows nothing.
fn owned(note: Note<'_>) -> Note<'static> {
    Note::new(note.code, note.at, note.detail.into_owned())
}
