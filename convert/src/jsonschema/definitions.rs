//! References and their definitions.

use super::writer::{Meta, Nil, Origin, Place, Special, Wanted, Writer};
use kubeshape_schema::{Code, Schema};
use kubeshape_yaml::{percent, pointer};

/// The name of the schema of values in which every object is empty.
const EMPTIED: &str = "pruned";

impl<'a> Writer<'_, 'a, '_> {
    /// Requests a definition. Returns its pointer, or `None` if there is no such definition.
    pub(super) fn wanted(&mut self, name: &str, place: Place) -> Option<String> {
        let schema = (self.resolver)(name)?;
        let mut printed = name.to_owned();
        // Definitions that are part of a composition stay open; in a lax schema all are.
        let open = self.options.strict && !place.is_spine();
        if open {
            printed = self.unused(format!("{name}.open"));
        }
        if !self.definitions.contains_key(&printed) {
            self.definitions.insert(printed.clone(), None);
            let place = if open { Place::Branch } else { Place::Spine };
            self.queue.push_back(Wanted { printed: printed.clone(), name: name.to_owned(), schema, place });
        }
        Some(self.pointer(&printed))
    }

    /// Returns the pointer to the schema of values in which every object is empty.
    pub(super) fn emptied(&mut self) -> String {
        let printed = self.unused(EMPTIED.to_owned());
        let pointer = self.pointer(&printed);
        self.definitions.entry(printed).or_insert_with(|| {
            Some(format!("{{\"items\":{{\"$ref\":\"{pointer}\"}},\"additionalProperties\":false}}").into_bytes())
        });
        pointer
    }

    /// Returns a new name that no definition has.
    fn unused(&self, mut name: String) -> String {
        while (self.resolver)(&name).is_some() {
            name.push('_');
        }
        name
    }

    /// Prints a pointer as a schema.
    pub(super) fn reference_object(&mut self, pointer: &str) {
        self.out.extend_from_slice(b"{\"$ref\":");
        self.text(pointer);
        self.out.push(b'}');
    }

    /// Returns the pointer to the target of a reference. A reference that leads nowhere is noted.
    pub(super) fn resolved(&mut self, s: &Schema<'a>, place: Place) -> Option<String> {
        if s.reference.is_empty() {
            return None;
        }
        let place = if place.is_spine() { Place::Spine } else { Place::Branch };
        let pointer = target(s.reference).and_then(|name| self.wanted(&name, place));
        if pointer.is_none() {
            self.note(Code::JsonSchemaReference, s.at, format!("$ref {:?}", s.reference));
        }
        pointer
    }

    /// Returns the pointer to the target of a reference in a kept schema. A reference that leads nowhere is noted.
    pub(super) fn resolved_text(&mut self, reference: &str, at: u32) -> Option<String> {
        let pointer = target(reference).and_then(|name| self.wanted(&name, Place::Branch));
        if pointer.is_none() {
            self.note(Code::JsonSchemaReference, at, format!("$ref {reference:?}"));
        }
        pointer
    }

    fn pointer(&self, name: &str) -> String {
        let mut out = format!("#/{}/", self.options.draft.definitions());
        out.push_str(&percent::encode(&pointer::escape(name), percent::FRAGMENT));
        out
    }

    /// Prints all requested definitions, and those that they request.
    pub(super) fn write_definitions(&mut self, at: u32) {
        let whole = std::mem::take(&mut self.out);
        self.printed = whole.len();
        let foreign = self.origin == Origin::Crd;
        self.origin = Origin::Document;
        while let Some(wanted) = self.queue.pop_front().filter(|_| !self.is_full()) {
            if foreign {
                self.elsewhere = Some((at, wanted.name.clone()));
            }
            self.first = true;
            self.out.push(b'{');
            self.enter(&wanted.name);
            self.members(wanted.schema, wanted.place, Meta::None, Special::of(&wanted.name), Nil::Own);
            self.out.push(b'}');
            let printed = std::mem::take(&mut self.out);
            self.printed += printed.len() + wanted.printed.len();
            self.definitions.insert(wanted.printed, Some(printed));
        }
        let is_full = self.is_full();
        self.out = whole;
        self.first = false;
        if is_full {
            return;
        }
        self.printed = 0;
        let definitions = std::mem::take(&mut self.definitions);
        if definitions.is_empty() {
            return;
        }
        self.any_key(self.options.draft.definitions());
        self.out.push(b'{');
        self.first = true;
        for (name, printed) in definitions {
            self.any_key(&name);
            self.out.extend_from_slice(printed.as_deref().unwrap_or(b"{}"));
        }
        self.out.push(b'}');
        self.first = false;
    }
}

/// Returns the name of the definition to which a reference leads.
fn target(reference: &str) -> Option<String> {
    let escaped = ["#/definitions/", "#/components/schemas/"].iter().find_map(|p| reference.strip_prefix(p))?;
    let token = String::from_utf8(percent::decode_strict(escaped)?.into_owned()).ok()?;
    (!token.contains('/')).then(|| pointer::unescape(&token).into_owned())
}
