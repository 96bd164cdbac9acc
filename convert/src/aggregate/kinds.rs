//! Lists of group-version-kinds: definitions that only differ in them are equal, and their lists are united
//! (`mergedGVKs` in kube-openapi's `pkg/aggregator/aggregator.go`).

use crate::kinds::{KINDS, kind_of, sort_key, with_kinds};
use kubeshape_schema::escape::Escape;
use kubeshape_schema::print::{self, Style};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Extra, Json, Profile, Schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::collections::HashSet;

/// The kinds of a definition that is printed without them.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// Their offset in the printed definition, if known.
    at: Option<usize>,
    /// The extension as it is printed, if it is not a list.
    other: Option<Box<[u8]>>,
    list: Vec<Kind>,
    /// Group, version and kind of the list's items that have all three.
    seen: HashSet<(Box<str>, Box<str>, Box<str>)>,
    has_grown: bool,
}

#[derive(Debug)]
struct Kind {
    json: Box<[u8]>,
    key: Option<String>,
}

impl Kinds {
    /// Returns the kinds of a definition, which is printed as `text` without them, or `None` if it lists none.
    pub(super) fn of(schema: &Schema<'_>, text: &[u8], style: Style) -> Option<Box<Kinds>> {
        let value = value_of(schema)?;
        let mut with = Vec::with_capacity(text.len() + 256);
        print::schema(&mut with, schema, style);
        let mut member = key();
        value.print(&mut member, style.escape);
        let mut kinds = Kinds { at: Some(place(&with, text, &member)), ..Kinds::default() };
        match value {
            Json::Array(list) => list.iter().for_each(|kind| kinds.push(kind, style.escape)),
            other => kinds.other = Some(printed(other, style.escape)),
        }
        Some(Box::new(kinds))
    }

    /// Returns the printed list of a definition united with the kinds of an equal one, or `None` if that adds no kinds.
    pub(super) fn united(own: &[Json<'_>], other: &[Json<'_>], escape: Escape) -> Option<Vec<u8>> {
        let mut kinds = Kinds::default();
        for kind in own {
            kinds.push(kind, escape);
        }
        kinds.add(other, escape);
        if !kinds.has_grown {
            return None;
        }
        kinds.sort();
        let mut out = Vec::new();
        kinds.print_list(&mut out);
        Some(out)
    }

    /// Adds the kinds of an equal definition to `kinds`. Items that are not kinds are left out.
    pub(super) fn unite(kinds: &mut Option<Box<Kinds>>, other: &Schema<'_>, style: Style) {
        let Some(Json::Array(list)) = value_of(other) else { return };
        kinds.get_or_insert_default().add(list, style.escape);
    }

    fn add(&mut self, list: &[Json<'_>], escape: Escape) {
        for kind in list {
            self.has_grown |= self.push_new(kind, escape);
        }
    }

    fn sort(&mut self) {
        self.list.sort_by(|a, b| a.key.cmp(&b.key));
    }

    fn print_list(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (number, kind) in self.list.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&kind.json);
        }
        out.push(b']');
    }

    /// Adds a kind of the definition's own list.
    fn push(&mut self, kind: &Json<'_>, escape: Escape) {
        if !self.push_new(kind, escape) {
            self.list.push(Kind { json: printed(kind, escape), key: kind_of(kind).map(sort_key) });
        }
    }

    fn push_new(&mut self, kind: &Json<'_>, escape: Escape) -> bool {
        let Some((group, version, name)) = kind_of(kind) else { return false };
        let is_new = self.seen.insert((group.into(), version.into(), name.into()));
        if is_new {
            self.list.push(Kind { json: printed(kind, escape), key: kind_of(kind).map(sort_key) });
        }
        is_new
    }

    /// Puts the list into its printed order: sorted, if there are more kinds than the first definition had. `text` is
    /// the printed definition.
    pub(super) fn finish(&mut self, text: &[u8], style: Style, profile: Profile) {
        if self.has_grown {
            self.other = None;
            self.sort();
        }
        if self.at.is_none() && self.has_grown {
            self.at = place_in(text, style, profile);
        }
    }

    /// Prints the definition that is `text` without kinds.
    pub(super) fn write(&self, text: &[u8], sink: &mut dyn FnMut(&[u8])) {
        let Some((before, behind)) = self.at.and_then(|at| text.split_at_checked(at)) else { return sink(text) };
        let mut member = Vec::new();
        let is_first = before.ends_with(b"{");
        if !is_first {
            member.push(b',');
        }
        member.extend(key());
        match &self.other {
            Some(other) => member.extend_from_slice(other),
            None => self.print_list(&mut member),
        }
        if is_first && !behind.starts_with(b"}") {
            member.push(b',');
        }
        sink(before);
        sink(&member);
        sink(behind);
    }
}

/// Returns the definition without its kinds, for comparisons.
pub(super) fn without_kinds<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    if value_of(schema).is_none() {
        return *schema;
    }
    let kept = schema.extra().extensions.iter().filter(|(name, _)| *name != KINDS).copied();
    let kept = bumpalo::collections::Vec::from_iter_in(kept, arena).into_bump_slice();
    let extra = Extra { extensions: kept, ..*schema.extra() };
    Schema { extra: Some(arena.alloc(extra)), ..*schema }
}

fn value_of<'a>(schema: &Schema<'a>) -> Option<&'a Json<'a>> {
    schema.extra().extensions.iter().find(|(name, _)| *name == KINDS).map(|(_, value)| value)
}

fn printed(value: &Json<'_>, escape: Escape) -> Box<[u8]> {
    let mut out = Vec::new();
    value.print(&mut out, escape);
    out.into()
}

fn key() -> Vec<u8> {
    format!("\"{KINDS}\":").into_bytes()
}

/// Returns where `member` was in the object `with`, so that `without` is left.
fn place(with: &[u8], without: &[u8], member: &[u8]) -> usize {
    if with.get(1..).is_some_and(|members| members.starts_with(member)) {
        return 1;
    }
    let common = with.iter().zip(without).take_while(|(a, b)| a == b).count();
    let is_there = |at: &usize| {
        let rest = with.get(*at..).and_then(|rest| rest.strip_prefix(b","));
        rest.is_some_and(|rest| rest.starts_with(member))
    };
    (0..=common).rev().find(is_there).unwrap_or(common)
}

/// Returns where kinds belong in the printed form of a definition that has none.
fn place_in(text: &[u8], style: Style, profile: Profile) -> Option<usize> {
    let mut stream = Stream::new(text, Limits::PRINTED).ok()?;
    let source = stream.source();
    let mut tape = Tape::new();
    stream.next(&mut tape)?.ok()?;
    let arena = Bump::new();
    let schema = Reader::new(&arena, Rules::Document(profile)).schema(tape.document(source).root()?);
    let mut with = Vec::new();
    print::schema(&mut with, &with_kinds(&schema, Json::Array(&[]), &arena), style);
    let mut member = key();
    member.extend_from_slice(b"[]");
    Some(place(&with, text, &member))
}
