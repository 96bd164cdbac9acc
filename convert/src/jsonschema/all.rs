//! One schema for objects of several kinds.

use super::writer::{Meta, Nil, Place, Special, Writer, key};
use kubeshape_schema::{Gvk, Schema};
use std::collections::BTreeMap;

impl<'a> Writer<'_, 'a, '_> {
    /// Prints the whole document: each kind is an `if` and a `then`.
    pub(super) fn of_kinds(&mut self, kinds: &[(Gvk<'_>, &str, &'a Schema<'a>)]) {
        self.out.push(b'{');
        key!(self, "$schema");
        self.text(self.options.draft.uri());
        if !self.options.id.is_empty() {
            key!(self, "$id");
            self.text(self.options.id);
        }
        let title = std::mem::take(&mut self.options.title);
        if !title.is_empty() {
            key!(self, "title");
            self.text(title);
        }
        key!(self, "type");
        self.text("object");
        key!(self, "required");
        self.texts(&["apiVersion", "kind"]);
        let mut by_version: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (gvk, _, _) in kinds {
            by_version.entry(gvk.api_version()).or_default().push(gvk.kind());
        }
        if self.options.strict {
            key!(self, "properties");
            self.out.extend_from_slice(b"{\"apiVersion\":{\"enum\":");
            self.texts(&by_version.keys().copied().collect::<Vec<_>>());
            self.out.extend_from_slice(b"}}");
            self.first = false;
        }
        key!(self, "allOf");
        self.out.push(b'[');
        let start = self.out.len();
        if self.options.strict {
            for (version, names) in by_version {
                self.separate(start);
                self.condition(version, None);
                self.out.extend_from_slice(b"{\"properties\":{\"kind\":{\"enum\":");
                self.texts(&names);
                self.out.extend_from_slice(b"}}}}");
            }
        }
        for (gvk, name, schema) in kinds {
            self.separate(start);
            self.condition(gvk.api_version(), Some(gvk.kind()));
            self.out.push(b'{');
            self.first = true;
            self.enter(name);
            self.members(schema, Place::Spine, Meta::Kind(*gvk), Special::of(name), Nil::Own);
            self.out.extend_from_slice(b"}}");
        }
        self.out.push(b']');
        self.first = false;
        self.write_definitions(kinds.first().map_or(0, |(_, _, schema)| schema.at));
        self.out.push(b'}');
    }

    /// Prints the beginning of an alternative, up to the value of `then`.
    fn condition(&mut self, version: &str, kind: Option<&str>) {
        self.out.extend_from_slice(b"{\"if\":{\"properties\":{\"apiVersion\":{\"const\":");
        self.text(version);
        if let Some(kind) = kind {
            self.out.extend_from_slice(b"},\"kind\":{\"const\":");
            self.text(kind);
        }
        self.out.extend_from_slice(b"}}},\"then\":");
    }
}
