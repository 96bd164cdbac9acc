//! Encodes a document as protobuf.
//!
//! The bytes are written directly from the nodes, by the dialect's table. A message's length comes before its content,
//! so space is reserved for as many digits as the source's length suggests, and the content is moved if the length has
//! more or fewer digits.

use std::borrow::Cow;

use kubeshape_schema::{Code, Converted, Note};
use kubeshape_yaml::go::varint;
use kubeshape_yaml::{Kind as NodeKind, Node};

use super::any;
use super::refusal::{Problem, Refusal};
use super::source::Source;
use super::table::{Body, Field, Kind, Message};

/// The maximum number of fields of an object of a model.
const FIELDS: usize = 40;

/// The value of an object for a field of its message.
#[derive(Clone, Copy)]
enum Slot {
    None,
    /// Members whose names are free.
    Spread,
    /// The index of the member's value in the tape.
    Member(u32),
}

/// Returns the protobuf form of a document whose root is a `message`.
pub(super) fn encode<'a>(message: &'static Message, root: Node<'a>) -> Result<Converted<'a, Vec<u8>>, Vec<Refusal>> {
    let mut encoder = Encoder::run(message, root, true)?;
    encoder.notes.sort_by_key(|note| note.at);
    Ok(Converted { value: encoder.out, notes: encoder.notes })
}

/// Checks whether a document has a protobuf form.
pub(super) fn check(message: &'static Message, root: Node<'_>) -> Result<(), Vec<Refusal>> {
    Encoder::run(message, root, false).map(|_| ())
}

/// Returns the fields of a message whose fields all have lengths, with their contents.
pub(super) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    std::iter::from_fn(move || {
        let tag = varint::read(&mut bytes)?;
        let length = usize::try_from(varint::read(&mut bytes)?).ok()?;
        let (content, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        Some((u32::try_from(tag >> 3).ok()?, content))
    })
}

/// Appends the tag and the length of a field.
pub(super) fn head(number: u32, length: usize, out: &mut Vec<u8>) {
    for mut value in [(number as usize) << 3 | 2, length] {
        while value > 0x7F {
            out.push((value & 0x7F) as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }
}

struct Encoder<'a> {
    source: Source<'a>,
    /// Whether bytes are written, or only checked.
    write: bool,
    out: Vec<u8>,
    notes: Vec<Note<'a>>,
    found: Vec<Found>,
}

/// A refusal, and whether it concerns which form a value has.
#[derive(Clone, Copy)]
struct Found {
    refusal: Refusal,
    /// The object that lacks a member or has an invalid value.
    of: u32,
    form: bool,
}

/// A message that is being written: where its content begins, and the reserved size of its length.
struct Open {
    start: usize,
    digits: usize,
}

impl<'a> Encoder<'a> {
    fn run(message: &'static Message, root: Node<'a>, write: bool) -> Result<Self, Vec<Refusal>> {
        let (source, refusals) = Source::new(root);
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let room = if write { root.span().len() } else { 0 };
        let mut encoder =
            Encoder { source, write, out: Vec::with_capacity(room), notes: Vec::new(), found: Vec::new() };
        encoder.message(message, root);
        if encoder.found.is_empty() {
            return Ok(encoder);
        }
        let mut refusals: Vec<_> = encoder.found.into_iter().map(|found| found.refusal).collect();
        refusals.sort_by_key(|refusal| refusal.at);
        Err(refusals)
    }

    fn refuse(&mut self, at: Node<'_>, of: Node<'_>, problem: Problem) {
        let form = matches!(problem, Problem::Missing { .. } | Problem::Value { .. });
        let refusal = Refusal { at: at.index(), problem };
        self.found.push(Found { refusal, of: of.index(), form });
    }

    fn note(&mut self, code: Code, at: Node<'_>, detail: impl Into<Cow<'a, str>>) {
        if self.write {
            self.notes.push(Note::new(code, at.index(), detail));
        }
    }

    /// Writes the content of a message.
    fn message(&mut self, message: &'static Message, node: Node<'a>) {
        match &message.body {
            Body::Object { fields, open } => self.object(message.name, fields, *open, node),
            Body::Map(kind) => self.map(*kind, node),
            Body::Union(forms) => self.union(forms, node),
            Body::Items(schema) => self.nested(1, schema, node),
            Body::StringArray => self.string_array(node),
            Body::Types => self.types(node),
            Body::Default => self.default(node),
        }
    }

    fn nested(&mut self, number: u32, message: &'static Message, node: Node<'a>) {
        let open = self.open(number, node.span().len());
        self.message(message, node);
        self.close(&open);
    }

    fn object(&mut self, name: &'static str, fields: &'static [Field], open: bool, node: Node<'a>) {
        let slots = self.slots(name, fields, open, node);
        for (field, slot) in fields.iter().zip(&slots) {
            match *slot {
                Slot::None => {}
                Slot::Spread => self.spread(field, node),
                Slot::Member(value) => self.field(field, self.source.document.node(value), node),
            }
        }
    }

    /// Finds the fields that an object has. It is not a part of `object`, so that the stack frames of that recursion
    /// stay small.
    fn slots(&mut self, name: &'static str, fields: &'static [Field], open: bool, node: Node<'a>) -> [Slot; FIELDS] {
        let mut slots = [Slot::None; FIELDS];
        if node.kind() == NodeKind::Map {
            for (key, value) in self.pairs(node) {
                let text = self.source.text(key);
                if let Some(at) = find(fields, &text) {
                    if matches!(slots[at], Slot::Member(_)) {
                        self.note(Code::ProtoDuplicate, key, fields[at].name);
                    } else {
                        slots[at] = Slot::Member(value.index());
                    }
                    continue;
                }
                let mut known = false;
                for (slot, field) in slots.iter_mut().zip(fields) {
                    if spreads(field.kind, &text) {
                        if matches!(slot, Slot::None) {
                            *slot = Slot::Spread;
                        }
                        known = true;
                    }
                }
                if !known && !open {
                    self.refuse(key, node, Problem::Unknown { message: name });
                } else if !known {
                    self.note(Code::ProtoRefSibling, key, text.into_owned());
                }
            }
        } else {
            // A value that is not an object has no members. A list is read as some where names are free.
            self.note(Code::ProtoNotObject, node, name);
            for (slot, field) in slots.iter_mut().zip(fields) {
                if node.kind() == NodeKind::Seq && matches!(field.kind, Kind::Extensions | Kind::Entries(..)) {
                    *slot = Slot::Spread;
                }
            }
        }
        for (field, slot) in fields.iter().zip(&slots) {
            if field.required && !matches!(slot, Slot::Member(_)) {
                self.refuse(node, node, Problem::Missing { message: name, member: field.name });
            }
        }
        slots
    }

    /// Returns the members of an object in the order in which gnostic reads them.
    fn pairs(&self, node: Node<'a>) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        let (direct, listed) = if node.kind() == NodeKind::Map && self.source.keeps_order() {
            (Some(node.pairs()), None)
        } else {
            (None, Some(self.source.members(node).0))
        };
        direct.into_iter().flatten().chain(listed.into_iter().flatten())
    }

    /// Returns the pairs for a message with free names. A list without a last value is refused.
    fn entries(&mut self, node: Node<'a>) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        if node.kind() == NodeKind::Seq && self.source.members(node).1 {
            self.refuse(node, node, Problem::Odd);
        }
        self.pairs(node)
    }

    /// Writes the members without a field of their own.
    fn spread(&mut self, field: &Field, node: Node<'a>) {
        for (key, value) in self.entries(node) {
            let name = self.string(key).unwrap_or_default();
            if !spreads(field.kind, &name) {
                continue;
            }
            let open = self.open(field.number, key.span().len() + value.span().len());
            self.text(1, &name);
            match field.kind {
                Kind::Entries(_, message) => self.nested(2, message, value),
                _ => self.any(2, value),
            }
            self.close(&open);
        }
    }

    fn map(&mut self, kind: Kind, node: Node<'a>) {
        if node.kind() != NodeKind::Map {
            self.note(Code::ProtoNotObject, node, "");
        }
        for (key, value) in self.entries(node) {
            let open = self.open(1, key.span().len() + value.span().len());
            let name = self.string(key).unwrap_or_default();
            self.text(1, &name);
            match kind {
                Kind::Any => self.any(2, value),
                Kind::Message(message) => self.nested(2, message, value),
                _ => {
                    let text = self.loose(value);
                    self.text(2, &text);
                }
            }
            self.close(&open);
        }
    }

    /// Tries all forms and keeps the last that matches. If none matches, the errors of the nearest one are kept.
    fn union(&mut self, forms: &'static [(u32, Kind)], node: Node<'a>) {
        let (found, start, notes) = (self.found.len(), self.out.len(), self.notes.len());
        let mut fits = false;
        let mut nearest: Option<((usize, usize), Vec<Found>)> = None;
        for (number, kind) in forms {
            let (form_start, form_notes) = (self.out.len(), self.notes.len());
            match kind {
                Kind::Message(message) => self.nested(*number, message, node),
                Kind::Any => self.any(*number, node),
                _ => match node.as_bool() {
                    Some(value) => {
                        self.tag(*number, 0);
                        self.bytes(&[u8::from(value)]);
                    }
                    None => continue,
                },
            }
            if self.found.len() == found {
                // An earlier form that matches is dropped.
                self.out.drain(start..form_start);
                self.notes.drain(notes..form_notes);
                fits = true;
                continue;
            }
            self.out.truncate(form_start);
            self.notes.truncate(form_notes);
            let errors = self.found.split_off(found);
            let own = errors.iter().filter(|error| error.form && error.of == node.index()).count();
            let distance = (own, errors.len());
            if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                nearest = Some((distance, errors));
            }
        }
        if let Some((_, errors)) = nearest.filter(|_| !fits) {
            self.found.extend(errors);
        }
    }

    fn field(&mut self, field: &Field, value: Node<'a>, of: Node<'a>) {
        match field.kind {
            Kind::Text(allowed) => self.plain_text(field, allowed, value, of),
            Kind::LooseText => {
                let text = self.loose(value);
                self.text(field.number, &text);
            }
            Kind::Bool => match value.as_bool() {
                Some(true) => {
                    self.tag(field.number, 0);
                    self.bytes(&[1]);
                }
                Some(false) => self.empty(field, value),
                None => self.wrong(value, of, "a boolean"),
            },
            Kind::Int => self.int(field, value, of),
            Kind::Number => match self.number(value) {
                Some(number) if number == 0.0 && number.is_sign_positive() => self.zero(field, value),
                Some(number) => self.double(field.number, number),
                None => self.wrong(value, of, "a number"),
            },
            Kind::Any => self.any(field.number, value),
            Kind::Message(message) => self.nested(field.number, message, value),
            Kind::Texts(_) | Kind::AnyList | Kind::Messages(_) => self.list(field, value, of),
            Kind::Extensions | Kind::Entries(..) => {}
        }
    }

    fn plain_text(&mut self, field: &Field, allowed: &'static [&'static str], value: Node<'a>, of: Node<'a>) {
        let Some(text) = self.string(value) else {
            return self.wrong(value, of, "a text");
        };
        if !allowed.is_empty() && !allowed.contains(&&*text) {
            self.refuse(value, of, Problem::Value { allowed });
        }
        if value.kind() != NodeKind::Str {
            self.note(Code::ProtoText, value, field.name);
        } else if text.is_empty() {
            self.empty(field, value);
        }
        self.text(field.number, &text);
    }

    fn int(&mut self, field: &Field, value: Node<'a>, of: Node<'a>) {
        let number = (value.kind() == NodeKind::Int).then(|| self.source.literal(value).parse::<i64>());
        match number {
            Some(Ok(0)) => self.zero(field, value),
            Some(Ok(number)) => {
                self.tag(field.number, 0);
                self.varint(number.cast_unsigned());
            }
            _ => self.wrong(value, of, "an integer of 64 bits"),
        }
    }

    fn list(&mut self, field: &Field, value: Node<'a>, of: Node<'a>) {
        if value.kind() != NodeKind::Seq {
            match field.kind {
                Kind::Texts(_) => self.wrong(value, of, "a list of texts"),
                _ => self.note(Code::ProtoNotList, value, field.name),
            }
            return;
        }
        if value.is_empty() {
            self.empty(field, value);
        }
        let mut refused = None;
        for item in value.items() {
            match field.kind {
                Kind::Messages(message) => self.nested(field.number, message, item),
                Kind::Texts(allowed) => match self.string(item) {
                    Some(text) => {
                        if !allowed.is_empty() && !allowed.contains(&&*text) {
                            refused = refused.or(Some((item, allowed)));
                        }
                        if item.kind() != NodeKind::Str {
                            self.note(Code::ProtoText, item, field.name);
                        }
                        self.item(field.number, &text);
                    }
                    None => self.note(Code::ProtoListElement, item, field.name),
                },
                _ => self.any(field.number, item),
            }
        }
        if let Some((item, allowed)) = refused {
            self.refuse(item, of, Problem::Value { allowed });
        }
    }

    fn wrong(&mut self, value: Node<'a>, of: Node<'a>, expected: &'static str) {
        self.refuse(value, of, Problem::Type { expected, found: value.kind() });
    }

    /// A limit of zero is the same as no limit here, but only some limits of zero have a meaning.
    fn zero(&mut self, field: &Field, value: Node<'a>) {
        let code = if field.name.starts_with("max") || matches!(field.name, "minimum" | "multipleOf") {
            Code::ProtoZeroLimit
        } else {
            Code::ProtoEmpty
        };
        self.note(code, value, field.name);
    }

    fn empty(&mut self, field: &Field, value: Node<'a>) {
        if !field.required {
            self.note(Code::ProtoEmpty, value, field.name);
        }
    }

    /// Returns what gnostic reads as a string: strings, integers as they are written, and null as the empty string.
    fn string(&self, node: Node<'a>) -> Option<Cow<'a, str>> {
        match node.kind() {
            NodeKind::Str => Some(self.source.text(node)),
            NodeKind::Int => Some(self.source.literal(node)),
            NodeKind::Null => Some("".into()),
            _ => None,
        }
    }

    fn loose(&mut self, node: Node<'a>) -> Cow<'a, str> {
        let text = self.string(node);
        match node.kind() {
            NodeKind::Str => {}
            NodeKind::Int | NodeKind::Null => self.note(Code::ProtoText, node, ""),
            _ => self.note(Code::ProtoListElement, node, ""),
        }
        text.unwrap_or_default()
    }

    fn number(&mut self, node: Node<'a>) -> Option<f64> {
        if !matches!(node.kind(), NodeKind::Int | NodeKind::Float) {
            return None;
        }
        let literal = self.source.literal(node);
        let number = literal.parse::<f64>().ok().filter(|number| number.is_finite())?;
        self.precision(node, &literal, number);
        Some(number)
    }

    /// Doubles represent integers of up to 53 bits.
    fn precision(&mut self, node: Node<'a>, literal: &str, number: f64) {
        if node.kind() == NodeKind::Int && number.abs() > 9e15 && format!("{number:.0}") != literal {
            self.note(Code::ProtoPrecision, node, literal.to_owned());
        }
    }

    fn string_array(&mut self, node: Node<'a>) {
        let items: Vec<_> = match node.kind() {
            NodeKind::Map => self.pairs(node).flat_map(|(key, value)| [key, value]).collect(),
            _ => node.items().collect(),
        };
        if node.kind() != NodeKind::Seq {
            self.note(Code::ProtoNotList, node, "");
        }
        for item in items {
            let text = self.loose(item);
            self.item(1, &text);
        }
    }

    fn types(&mut self, node: Node<'a>) {
        let scalar = |kind| !matches!(kind, NodeKind::Seq | NodeKind::Map);
        let items: Vec<_> = if node.kind() == NodeKind::Seq { node.items().collect() } else { vec![node] };
        for item in items {
            if !scalar(item.kind()) {
                self.wrong(item, node, "a type or a list of types");
                continue;
            }
            if item.kind() != NodeKind::Str {
                self.note(Code::ProtoText, item, "type");
            }
            let text = self.source.literal(item);
            self.item(1, &text);
        }
    }

    fn default(&mut self, node: Node<'a>) {
        match node.kind() {
            NodeKind::False | NodeKind::True => {
                self.tag(2, 0);
                self.bytes(&[u8::from(node.kind() == NodeKind::True)]);
            }
            NodeKind::Str => {
                let text = self.source.text(node);
                self.item(3, &text);
            }
            NodeKind::Float => {
                if let Some(number) = self.number(node) {
                    self.double(1, number);
                }
            }
            NodeKind::Int => {
                // An integer that fits 64 bits only if unsigned becomes zero.
                let literal = self.source.literal(node);
                #[allow(clippy::cast_precision_loss)]
                let number = literal.parse::<i64>().unwrap_or(0) as f64;
                self.precision(node, &literal, number);
                self.double(1, number);
            }
            NodeKind::Null | NodeKind::Seq | NodeKind::Map => self.note(Code::ProtoDefault, node, ""),
        }
    }

    /// Writes a value of any type, as YAML.
    fn any(&mut self, number: u32, node: Node<'a>) {
        if !self.write {
            return;
        }
        let length = node.span().len();
        let value = self.open(number, length + 3);
        let text = self.open(2, length);
        any::print(&self.source, node, &mut self.out);
        self.close(&text);
        self.close(&value);
    }

    fn open(&mut self, number: u32, length: usize) -> Open {
        if !self.write {
            return Open { start: 0, digits: 0 };
        }
        self.tag(number, 2);
        let digits = digits(length);
        self.out.resize(self.out.len() + digits, 0);
        Open { start: self.out.len(), digits }
    }

    fn close(&mut self, open: &Open) {
        if !self.write {
            return;
        }
        let length = self.out.len() - open.start;
        let needed = digits(length);
        let at = open.start - open.digits;
        if needed > open.digits {
            self.out.resize(self.out.len() + needed - open.digits, 0);
            self.out.copy_within(open.start..open.start + length, at + needed);
        } else if needed < open.digits {
            self.out.copy_within(open.start.., at + needed);
            self.out.truncate(at + needed + length);
        }
        let mut rest = length;
        for digit in &mut self.out[at..at + needed] {
            *digit = (rest & 0x7F) as u8 | 0x80;
            rest >>= 7;
        }
        self.out[at + needed - 1] &= 0x7F;
    }

    fn tag(&mut self, number: u32, wire: u32) {
        self.varint(u64::from(number << 3 | wire));
    }

    fn varint(&mut self, value: u64) {
        if self.write {
            varint::write(&mut self.out, value);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.write {
            self.out.extend_from_slice(bytes);
        }
    }

    fn double(&mut self, number: u32, value: f64) {
        self.tag(number, 1);
        self.bytes(&value.to_le_bytes());
    }

    /// Writes a string, unless it is empty.
    fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.item(number, text);
        }
    }

    /// Writes a string, even if it is empty.
    fn item(&mut self, number: u32, text: &str) {
        self.tag(number, 2);
        self.varint(text.len() as u64);
        self.bytes(text.as_bytes());
    }
}

/// Returns the field with a name. Lengths and first letters distinguish nearly all names.
fn find(fields: &[Field], name: &str) -> Option<usize> {
    let first = name.as_bytes().first();
    let same = |field: &Field| field.name.len() == name.len() && field.name.as_bytes().first() == first;
    fields.iter().position(|field| first.is_some() && same(field) && field.name == name)
}

/// Returns whether a field without a name of its own has the members with this name.
fn spreads(kind: Kind, name: &str) -> bool {
    match kind {
        Kind::Extensions => name.starts_with("x-"),
        Kind::Entries(keys, _) => keys.has(name),
        _ => false,
    }
}

/// Returns how many bytes a length takes.
fn digits(length: usize) -> usize {
    (length.max(1).ilog2() / 7 + 1) as usize
}
