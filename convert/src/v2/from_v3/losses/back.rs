//! The way back: the meaning of an OpenAPI v2 document in OpenAPI v3, value by value.
//!
//! It undoes the plain cases of the conversion. Where that does not give the original, an entry has the difference. The
//! same walk creates the entries and uses them, so that they match by construction: when creating, it compares the
//! conversion of each object with the original; when using, it goes the same way and applies the differences.

use super::json::{find, is_same, items, members, object};
use super::{LOSS, patch};
use kubeshape_schema::{Bump, Json};

/// An object on its way back.
#[derive(Clone, Copy)]
pub(super) struct Pair<'j> {
    /// Its OpenAPI v2 form, with its entries.
    pub(super) v2: Json<'j>,
    /// Its OpenAPI v3 form.
    pub(super) v3: Json<'j>,
}

/// Members of a JSON object.
pub(super) type Members<'j> = Vec<(&'j str, Json<'j>)>;

/// The walk.
pub(super) struct Back<'j> {
    pub(super) arena: &'j Bump,
    /// Whether entries are created, not used.
    pub(super) keeps: bool,
    /// The whole OpenAPI v2 document.
    pub(super) root: Json<'j>,
    /// Whether an entry could not be used.
    pub(super) failed: bool,
}

impl<'j> Back<'j> {
    pub(super) fn object(&self, mut members: Members<'j>) -> Json<'j> {
        object(&mut members, self.arena)
    }

    pub(super) fn array(&self, items: &[Json<'j>]) -> Json<'j> {
        Json::Array(self.arena.alloc_slice_copy(items))
    }

    /// Converts an object that can have an entry: `source` with `changes` of its members, which is `back` in OpenAPI v3
    /// unless the original differs.
    pub(super) fn host(
        &mut self,
        source: &Json<'j>,
        changes: &[(&'j str, Json<'j>)],
        back: Members<'j>,
        original: Option<&Json<'j>>,
    ) -> Pair<'j> {
        let back = self.object(back);
        if !self.keeps {
            let v3 = match find(Some(source), LOSS) {
                None => back,
                Some(entry) => patch::applied(back, entry, self.arena).unwrap_or_else(|| {
                    self.failed = true;
                    back
                }),
            };
            return Pair { v2: *source, v3 };
        }
        let Some(original) = original else {
            return Pair { v2: self.rebuilt(source, changes, None), v3: back };
        };
        let entry = patch::difference(&back, original, self.arena);
        Pair { v2: self.rebuilt(source, changes, entry), v3: *original }
    }

    /// Returns an object with other values of some members, or itself if nothing differs.
    fn rebuilt(&self, source: &Json<'j>, changes: &[(&'j str, Json<'j>)], entry: Option<Json<'j>>) -> Json<'j> {
        let is_changed =
            |(name, value): &(&str, Json<'j>)| find(Some(source), name).is_none_or(|before| !is_same(before, value));
        let had_entry = find(Some(source), LOSS).is_some();
        if entry.is_none() && !had_entry && !changes.iter().any(is_changed) {
            return *source;
        }
        let mut all: Members<'j> = members(source).iter().copied().filter(|(name, _)| *name != LOSS).collect();
        all.extend(changes.iter().copied());
        all.extend(entry.map(|entry| (LOSS, entry)));
        self.object(all)
    }

    /// Converts an object of named objects.
    pub(super) fn named(
        &mut self,
        source: &Json<'j>,
        original: Option<&Json<'j>>,
        mut f: impl FnMut(&mut Self, &Json<'j>, Option<&'j Json<'j>>) -> Pair<'j>,
    ) -> Pair<'j> {
        let Json::Object(entries) = source else { return Pair { v2: *source, v3: *source } };
        let mut v2 = Vec::with_capacity(entries.len());
        let mut v3 = Vec::with_capacity(entries.len());
        for (name, value) in *entries {
            let pair = f(self, value, find(original, name));
            v2.push((*name, pair.v2));
            v3.push((*name, pair.v3));
        }
        let v2 = self.unless_same(source, v2);
        Pair { v2, v3: self.object(v3) }
    }

    fn unless_same(&self, source: &Json<'j>, now: Members<'j>) -> Json<'j> {
        let same = members(source).iter().zip(&now).all(|((_, before), (_, now))| is_same(before, now));
        if same { *source } else { self.object(now) }
    }

    /// Converts a list of objects.
    pub(super) fn list(
        &mut self,
        source: &Json<'j>,
        originals: &[Option<&'j Json<'j>>],
        mut f: impl FnMut(&mut Self, &Json<'j>, Option<&'j Json<'j>>) -> Pair<'j>,
    ) -> Pair<'j> {
        let Json::Array(list) = source else { return Pair { v2: *source, v3: *source } };
        let mut v2 = Vec::with_capacity(list.len());
        let mut v3 = Vec::with_capacity(list.len());
        for (i, item) in list.iter().enumerate() {
            let pair = f(self, item, originals.get(i).copied().flatten());
            v2.push(pair.v2);
            v3.push(pair.v3);
        }
        let same = list.iter().zip(&v2).all(|(before, now)| is_same(before, now));
        Pair { v2: if same { *source } else { self.array(&v2) }, v3: self.array(&v3) }
    }

    /// Converts a schema.
    pub(super) fn schema(&mut self, source: &Json<'j>, original: Option<&Json<'j>>) -> Pair<'j> {
        let Json::Object(all) = source else { return Pair { v2: *source, v3: *source } };
        let mut back: Members<'j> = Vec::with_capacity(all.len() + 1);
        let mut changes: Members<'j> = Vec::new();
        for (name, value) in *all {
            let before = find(original, name);
            let pair = match (*name, value) {
                ("properties" | "patternProperties" | "definitions" | "dependencies", Json::Object(_)) => {
                    self.named(value, before, Self::schema)
                }
                ("items" | "additionalProperties" | "additionalItems" | "not", Json::Object(_)) => {
                    self.schema(value, before)
                }
                ("items" | "allOf" | "oneOf" | "anyOf", Json::Array(_)) => {
                    let originals: Vec<_> = before.map_or(&[][..], items).iter().map(Some).collect();
                    self.list(value, &originals, Self::schema)
                }
                (LOSS, _) => continue,
                _ => {
                    self.schema_member(name, value, &mut back);
                    continue;
                }
            };
            changes.push((name, pair.v2));
            back.push((name, pair.v3));
        }
        self.whole_schema(&mut back);
        self.host(source, &changes, back, original)
    }

    /// Converts a member without schemas.
    fn schema_member(&self, name: &'j str, value: &Json<'j>, back: &mut Members<'j>) {
        let renamed = match (name, value) {
            ("$ref", Json::Str(text)) => (name, Json::Str(self.reference(text))),
            ("discriminator", Json::Str(_)) => ("discriminator", self.object(vec![("propertyName", *value)])),
            ("x-nullable", Json::Bool(true)) => ("nullable", *value),
            ("x-writeOnly", _) => ("writeOnly", *value),
            ("x-deprecated", _) => ("deprecated", *value),
            ("type", Json::Str("file")) => {
                back.push(("format", Json::Str("binary")));
                ("type", Json::Str("string"))
            }
            _ => (name, *value),
        };
        back.push(renamed);
    }

    /// Converts combinations of members: wrapped references and Kubernetes' int-or-strings.
    fn whole_schema(&self, back: &mut Members<'j>) {
        let get = |name: &str| back.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        if let (Some(reference), true) = (get("$ref"), back.len() > 1) {
            let inner = self.object(vec![("$ref", reference)]);
            let all_of = self.array(&[inner]);
            back.retain(|(name, _)| *name != "$ref");
            back.push(("allOf", all_of));
        } else if get("type") == Some(Json::Str("string")) && get("format") == Some(Json::Str("int-or-string")) {
            let branch = |ty| self.object(vec![("type", Json::Str(ty))]);
            let one_of = self.array(&[branch("integer"), branch("string")]);
            back.retain(|(name, _)| *name != "type");
            back.push(("oneOf", one_of));
        }
    }

    /// Returns a reference in OpenAPI v3.
    pub(super) fn reference(&self, text: &'j str) -> &'j str {
        const SECTIONS: [(&str, &str); 4] = [
            ("#/definitions/", "#/components/schemas/"),
            ("#/parameters/", "#/components/parameters/"),
            ("#/responses/", "#/components/responses/"),
            ("#/securityDefinitions/", "#/components/securitySchemes/"),
        ];
        for (v2, v3) in SECTIONS {
            if let Some(rest) = text.strip_prefix(v2) {
                return self.arena.alloc_str(&format!("{v3}{rest}"));
            }
        }
        text
    }

    /// Converts an object with a simple type, without its schema's members, which are added to `back` as a schema.
    pub(super) fn simple(&self, source: &Json<'j>, back: &mut Members<'j>) {
        const SIMPLE: [&str; 18] = [
            "default",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "format",
            "items",
            "maxItems",
            "maxLength",
            "maximum",
            "minItems",
            "minLength",
            "minimum",
            "multipleOf",
            "nullable",
            "pattern",
            "type",
            "uniqueItems",
            "x-nullable",
        ];
        let mut schema: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            match *name {
                LOSS | "collectionFormat" => {}
                "items" => schema.push(("items", self.simple_items(value))),
                name if SIMPLE.contains(&name) => self.schema_member(name, value, &mut schema),
                "x-deprecated" => back.push(("deprecated", *value)),
                "x-example" => back.push(("example", *value)),
                name => back.push((name, *value)),
            }
        }
        if !schema.is_empty() {
            back.push(("schema", self.object(schema)));
        }
    }

    fn simple_items(&self, source: &Json<'j>) -> Json<'j> {
        let mut back: Members<'j> = Vec::new();
        for (name, value) in members(source) {
            match *name {
                "collectionFormat" => {}
                "items" => back.push(("items", self.simple_items(value))),
                name => self.schema_member(name, value, &mut back),
            }
        }
        self.object(back)
    }
}
