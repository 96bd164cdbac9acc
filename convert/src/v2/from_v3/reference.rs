//! References: their new form, and their targets.

use super::Converter;
use crate::model::{Boxed, Map};
use kubeshape_schema::{Code, Schema, order};
use kubeshape_yaml::{percent, pointer};
use std::borrow::Cow;

/// The maximum length of a chain of references; a longer one is treated as a cycle.
const MAX_CHAIN: usize = 64;

/// Sections of components that OpenAPI v2 has, too.
const SECTIONS: [(&str, &str); 4] = [
    ("#/components/schemas/", "#/definitions/"),
    ("#/components/parameters/", "#/parameters/"),
    ("#/components/responses/", "#/responses/"),
    ("#/components/securitySchemes/", "#/securityDefinitions/"),
];

impl<'a> Converter<'a> {
    /// Returns a reference in OpenAPI v2.
    pub(super) fn reference(&mut self, text: &'a str, at: u32) -> &'a str {
        for (v3, v2) in SECTIONS {
            if let Some(rest) = text.strip_prefix(v3) {
                if rest.contains('/') && v2 != "#/definitions/" {
                    self.lose(Code::DownReference, at, text);
                }
                return self.concat(v2, rest);
            }
        }
        // The whole document and parts of definitions have the same pointer in v2; other parts do not.
        if text != "#" && !text.is_empty() {
            self.lose(Code::DownReference, at, text);
        }
        text
    }

    pub(super) fn concat(&self, a: &str, b: &str) -> &'a str {
        let mut out = bumpalo::collections::String::with_capacity_in(a.len() + b.len(), self.arena);
        out.push_str(a);
        out.push_str(b);
        out.into_bump_str()
    }

    /// Returns the shared schema with that name.
    fn definition(&self, name: &str) -> Option<&'a Schema<'a>> {
        let schemas = self.components.schemas;
        let at = schemas.binary_search_by(|property| order::utf16(property.name, name)).ok()?;
        Some(&schemas[at].schema)
    }

    /// Returns the schema that a schema represents: the target of its reference, also inside an `allOf` with a single
    /// branch. A description and a default next to the reference are used.
    ///
    /// Returns `None` if a reference leads nowhere.
    pub(super) fn resolve_schema(&self, schema: &Schema<'a>) -> Option<Schema<'a>> {
        let mut current = *schema;
        for _ in 0..MAX_CHAIN {
            let reference = match (current.reference, super::schema::wrapped(&current)) {
                ("", None) => return Some(current),
                ("", Some(reference)) | (reference, _) => reference,
            };
            let name = component(reference, "schemas")?;
            let mut next = *self.definition(&name)?;
            if !current.description.is_empty() {
                next.description = current.description;
            }
            next.default = current.default.or(next.default);
            current = next;
        }
        None
    }
}

/// Returns the name in a reference to a shared object of this section.
pub(super) fn component<'t>(reference: &'t str, section: &str) -> Option<Cow<'t, str>> {
    let name = reference.strip_prefix("#/components/")?.strip_prefix(section)?.strip_prefix('/')?;
    if name.contains('/') {
        return None;
    }
    Some(unescape(name))
}

/// Decodes a token of a JSON pointer in a URL.
fn unescape(segment: &str) -> Cow<'_, str> {
    match percent::decode(segment) {
        Cow::Borrowed(segment) => pointer::unescape(segment),
        Cow::Owned(segment) => Cow::Owned(pointer::unescape(&segment).into_owned()),
    }
}

/// Returns the target of a chain of references among shared objects, and its name.
///
/// Returns `None` if it leads nowhere.
pub(super) fn follow<'a, T>(
    map: Map<'a, Boxed<'a, T>>,
    section: &str,
    reference: &str,
    next: impl Fn(&T) -> &'a str,
) -> Option<(&'a str, &'a T)> {
    let mut name = component(reference, section)?;
    for _ in 0..MAX_CHAIN {
        let at = map.entries.binary_search_by(|entry| order::utf16(entry.name, &name)).ok()?;
        let entry = &map.entries[at];
        let object = entry.value?;
        match next(object) {
            "" => return Some((entry.name, object)),
            reference => name = component(reference, section)?,
        }
    }
    None
}
