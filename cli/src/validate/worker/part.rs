//! The findings of a part of a file.

use super::{Collected, Event, Object, Verdict, Worker, collected};
use crate::validate::kinds::Kinds;
use kubeshape_input::Finding;
use kubeshape_schema::Bump;
use std::sync::Arc;

/// After a part for which a worker needed more bytes than this, it frees them.
const KEPT: usize = 4 << 20;

/// The findings of a part of a file.
#[derive(Debug, Default)]
pub(crate) struct PartResult {
    /// Findings about the part.
    pub(crate) file: Vec<Finding>,
    /// Findings that are held back, the first of each code, and their number.
    pub(crate) held_of_file: Vec<(Box<Finding>, usize)>,
    /// Findings about its objects.
    pub(crate) objects: Vec<Finding>,
    pub(crate) held_of_objects: Vec<(Box<Finding>, usize)>,
    /// Whether it has objects other than CustomResourceDefinitions, which are judged by schemas.
    pub(crate) has_objects: bool,
}

impl<'c> Worker<'c, '_> {
    /// Judges the objects of a part of a file. Returns the findings about the part, and those about its objects, with
    /// what is held back of both, so that the findings of the file can be composed of those of its parts. `None` if it
    /// has no context.
    pub(crate) fn part(&mut self, name: Arc<str>, bytes: &[u8]) -> Option<PartResult> {
        let newest = self.contexts.first()?;
        let collected = collected(self.contexts, newest, &mut self.documents, &mut self.arena, (name, bytes), false);
        let mut out = PartResult::default();
        let Collected { read, judged, .. } = collected;
        for (events, findings, held) in
            [(read, &mut out.file, &mut out.held_of_file), (judged, &mut out.objects, &mut out.held_of_objects)]
        {
            for event in events.list {
                match event {
                    Event::Finding(finding) => findings.push(*finding),
                    Event::Objects(object, _) => out.has_objects |= object.verdict != Verdict::Definition,
                    Event::Schemas(_) => {}
                }
            }
            held.extend(events.capped.held());
        }
        if self.arena.allocated_bytes() > KEPT {
            self.arena = Bump::new();
        }
        Some(out)
    }

    /// Returns the accepted objects of a text as they are stored, as YAML, and nothing for the other ones.
    pub(crate) fn stored(&mut self, name: Arc<str>, bytes: &[u8]) -> Vec<String> {
        let Some(newest) = self.contexts.first() else { return Vec::new() };
        let contexts = self.contexts.get(..1).unwrap_or_default();
        let collected = collected(contexts, newest, &mut self.documents, &mut self.arena, (name, bytes), true);
        let printed = |event| match event {
            Event::Objects(Object { verdict: Verdict::Accepted(bytes), .. }, times) => {
                vec![String::from_utf8_lossy(&bytes).into_owned(); times]
            }
            Event::Objects(_, times) => vec![String::new(); times],
            _ => Vec::new(),
        };
        collected.judged.list.into_iter().flat_map(printed).collect()
    }

    /// Returns what is known of kinds.
    pub(crate) fn kinds(&self) -> Option<&'c Kinds> {
        self.contexts.first().map(|newest| &newest.kinds)
    }
}
