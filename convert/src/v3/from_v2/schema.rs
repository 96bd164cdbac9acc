//! Converts schemas.

use super::faithful::Converter;
use super::kubernetes::{Server, is_quantity};
use super::{concat, has_siblings, names, wrap};
use crate::model::map_schema;
use kubeshape_schema::{Additional, Code, Extra, Flags, Items, Json, Property, Schema, Type};

impl<'a> Converter<'a, '_> {
    /// Converts a definition.
    pub(super) fn definition(&mut self, definition: &Property<'a>) -> Schema<'a> {
        // A definition with a default does not come from a server that omits them.
        let lacks_defaults = Server::is_go_type(definition) && !definition.schema.subtree.any(Flags::DEFAULT);
        self.restoring = self.common.server.filter(|_| lacks_defaults);
        self.restored = false;
        let mut schema = self.schema(&definition.schema);
        if is_quantity(definition) && !schema.flags.any(Flags::JUNCTOR) {
            self.one_of(&mut schema, [Type::String, Type::Number]);
        }
        if self.restored {
            self.notes.add(Code::V3DefaultsRestored, definition.at, definition.name);
        }
        self.restoring = None;
        schema
    }

    /// Converts a schema. Unchanged subtrees are shared with the source.
    pub(super) fn schema(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        self.change(schema, None).unwrap_or(*schema)
    }

    pub(super) fn boxed(&mut self, schema: &'a Schema<'a>) -> &'a Schema<'a> {
        match self.change(schema, None) {
            Some(changed) => self.arena.alloc(changed),
            None => schema,
        }
    }

    /// Returns the changed schema, or `None` if nothing changes. It gets `default` if it has no default.
    fn change(&mut self, s: &Schema<'a>, default: Option<&'a Json<'a>>) -> Option<Schema<'a>> {
        let mut out = Changed { schema: *s, changed: false };
        // Separate functions keep the stack frames of this recursion small even without optimisation.
        self.properties(s, &mut out);
        match s.items {
            Some(Items::One(item)) => {
                if let Some(item) = self.element(item, &mut out) {
                    out.schema.items = Some(Items::One(item));
                }
            }
            Some(Items::Many(items)) => {
                if let Some(items) = self.list(items, &mut out) {
                    out.schema.items = Some(Items::Many(items));
                }
            }
            None => {}
        }
        if let Some(Additional::Schema(inner)) = s.additional
            && let Some(inner) = self.element(inner, &mut out)
        {
            out.schema.additional = Some(Additional::Schema(inner));
        }
        if let Some(extra) = s.extra {
            self.rarer(extra, &mut out);
        }
        self.own(s, default, &mut out);
        out.changed.then_some(out.schema)
    }

    /// Returns the changed schema of items or of values.
    fn element(&mut self, s: &'a Schema<'a>, out: &mut Changed<'a>) -> Option<&'a Schema<'a>> {
        let default = self.restoring.and_then(|server| server.of_element(s));
        let changed = self.change(s, default)?;
        out.below(&changed);
        Some(self.arena.alloc(changed))
    }

    /// Changes members other than schemas.
    fn own(&mut self, s: &Schema<'a>, default: Option<&'a Json<'a>>, out: &mut Changed<'a>) {
        if s.ty == Type::String && s.format == "int-or-string" && !out.schema.flags.any(Flags::JUNCTOR) {
            self.one_of(&mut out.schema, [Type::Integer, Type::String]);
            out.changed = true;
        }
        if s.flags.any(Flags::INT_OR_STRING) && s.ty == Type::Absent && !out.schema.flags.any(Flags::JUNCTOR) {
            let branches = self.branches([Type::Integer, Type::String]);
            out.schema.extra = Some(self.arena.alloc(Extra { any_of: branches, ..*out.schema.extra() }));
            out.set(Flags::JUNCTOR);
        }
        if let Some(default) = default.filter(|_| s.default.is_none()) {
            out.schema.default = Some(default);
            out.set(Flags::DEFAULT);
            self.restored = true;
        }
        if !s.reference.is_empty() {
            if let Some(reference) = self.reference(s.reference, s.at) {
                out.schema.reference = reference;
                out.changed = true;
            }
            if has_siblings(&out.schema) {
                let all_of = out.schema.extra().all_of;
                wrap(&mut out.schema, all_of, self.arena);
                out.changed = true;
            }
        }
    }

    fn properties(&mut self, s: &Schema<'a>, out: &mut Changed<'a>) {
        let restoring = self.restoring.filter(|_| !s.properties.is_empty()).map(|server| (server, Server::parent(s)));
        let mut changed: Option<&'a mut [Property<'a>]> = None;
        for (i, property) in s.properties.iter().enumerate() {
            let default =
                restoring.and_then(|(server, parent)| server.of_property(property.name, &property.schema, parent));
            if let Some(schema) = self.change(&property.schema, default) {
                out.below(&schema);
                changed.get_or_insert_with(|| self.arena.alloc_slice_copy(s.properties))[i].schema = schema;
            }
        }
        if let Some(changed) = changed {
            out.schema.properties = changed;
        }
    }

    fn list(&mut self, list: &'a [Schema<'a>], out: &mut Changed<'a>) -> Option<&'a [Schema<'a>]> {
        let mut changed: Option<&'a mut [Schema<'a>]> = None;
        for (i, schema) in list.iter().enumerate() {
            if let Some(schema) = self.change(schema, None) {
                out.below(&schema);
                changed.get_or_insert_with(|| self.arena.alloc_slice_copy(list))[i] = schema;
            }
        }
        changed.map(|list| &*list)
    }

    fn rarer(&mut self, extra: &'a Extra<'a>, out: &mut Changed<'a>) {
        if !(extra.all_of.is_empty()
            && extra.one_of.is_empty()
            && extra.any_of.is_empty()
            && extra.not.is_none()
            && extra.pattern_properties.is_empty()
            && extra.dependencies.is_empty()
            && extra.additional_items.is_none()
            && extra.definitions.is_empty())
        {
            self.rarer_schemas(extra, out);
        }
        match out.schema.ty {
            Type::Several => self.several_types(extra, out),
            Type::Other if extra.other_type == "file" => {
                out.schema.extra = Some(self.arena.alloc(Extra { other_type: "", ..*out.schema.extra() }));
                out.schema.flags = out.schema.flags.without(Flags::OTHER_TYPE);
                out.schema.ty = Type::String;
                out.schema.format = "binary";
                out.set(Flags::FORMAT);
            }
            Type::Other if extra.other_type == "null" => {
                self.notes.add(Code::V3TypeList, out.schema.at, "null");
                out.schema.extra = Some(self.arena.alloc(Extra { other_type: "", ..*out.schema.extra() }));
                out.schema.flags = out.schema.flags.without(Flags::OTHER_TYPE);
                out.schema.ty = Type::Absent;
                out.set(Flags::NULLABLE);
            }
            _ => {}
        }
        if !extra.discriminator.is_empty() {
            let value = Json::Object(self.arena.alloc_slice_copy(&[("propertyName", Json::Str(extra.discriminator))]));
            let extensions = self.with_discriminator(out.schema.extra().extensions, value);
            out.schema.extra = Some(self.arena.alloc(Extra { discriminator: "", extensions, ..*out.schema.extra() }));
            out.changed = true;
        }
        if !extra.extensions.is_empty() {
            self.schema_extensions(out);
        }
    }

    /// Changes schemas below rarer keywords. Defaults are not restored in them.
    fn rarer_schemas(&mut self, extra: &'a Extra<'a>, out: &mut Changed<'a>) {
        let restoring = self.restoring.take();
        let (arena, mut subtree, mut changed) = (self.arena, Flags::NONE, false);
        let only_rarer = Schema { extra: Some(extra), ..Schema::default() };
        let mapped = map_schema(&only_rarer, arena, &mut |_, inner| match self.change(inner, None) {
            Some(inner) => {
                changed = true;
                subtree = subtree.with(inner.subtree);
                inner
            }
            None => *inner,
        });
        if changed {
            out.schema.extra = mapped.extra;
            out.schema.subtree = out.schema.subtree.with(subtree);
            out.changed = true;
        }
        self.restoring = restoring;
    }

    /// Converts a list of types: null becomes `nullable`, and several other types become alternatives.
    fn several_types(&mut self, extra: &'a Extra<'a>, out: &mut Changed<'a>) {
        self.notes.add(Code::V3TypeList, out.schema.at, extra.types.join(", "));
        let nullable = extra.types.contains(&"null");
        let types: Vec<&'a str> = extra.types.iter().copied().filter(|ty| !matches!(*ty, "null" | "")).collect();
        let mut copy = Extra { types: &[], ..*out.schema.extra() };
        out.schema.ty = Type::Absent;
        out.changed = true;
        if nullable {
            out.set(Flags::NULLABLE);
        }
        if let [only] = types.as_slice() {
            out.schema.ty = Type::from_name(only);
            if out.schema.ty == Type::Other {
                copy.other_type = only;
                out.set(Flags::OTHER_TYPE);
            }
        } else if !types.is_empty() {
            let items = out.schema.items.take();
            let branches = self.arena.alloc_slice_fill_iter(types.iter().map(|name| {
                let mut branch = Schema { ty: Type::from_name(name), at: out.schema.at, ..Schema::default() };
                if branch.ty == Type::Other {
                    branch.extra = Some(self.arena.alloc(Extra { other_type: name, ..Extra::default() }));
                    branch.flags.set(Flags::OTHER_TYPE, true);
                }
                if branch.ty == Type::Array {
                    branch.items = items.or_else(|| Some(Items::One(self.arena.alloc(Schema::default()))));
                }
                branch.flags.set(Flags::NULLABLE, nullable);
                branch.subtree = branch.flags;
                branch
            }));
            if copy.any_of.is_empty() {
                copy.any_of = branches;
            } else {
                let extra = self.arena.alloc(Extra { any_of: branches, ..Extra::default() });
                let both = Schema {
                    extra: Some(extra),
                    flags: Flags::JUNCTOR,
                    subtree: Flags::JUNCTOR,
                    at: out.schema.at,
                    ..Schema::default()
                };
                let all_of: Vec<Schema<'a>> = copy.all_of.iter().copied().chain([both]).collect();
                copy.all_of = self.arena.alloc_slice_copy(&all_of);
            }
            out.set(Flags::JUNCTOR);
        }
        out.schema.extra = Some(self.arena.alloc(copy));
    }

    /// Converts extensions that are keywords of v3.
    fn schema_extensions(&mut self, out: &mut Changed<'a>) {
        let extensions = out.schema.extra().extensions;
        let known = |(key, _): &&(&str, Json<'_>)| matches!(*key, "x-nullable" | "x-discriminator" | "discriminator");
        if !extensions.iter().any(|member| known(&member)) {
            return;
        }
        let mut kept = Vec::with_capacity(extensions.len());
        let mut discriminator = None;
        for (key, value) in extensions {
            match (*key, value) {
                ("x-nullable", Json::Bool(on)) => {
                    out.schema.flags.set(Flags::NULLABLE, *on || out.schema.flags.any(Flags::NULLABLE));
                    out.schema.subtree = out.schema.subtree.with(out.schema.flags);
                    out.changed = true;
                }
                ("x-discriminator" | "discriminator", Json::Object(_)) => {
                    discriminator = Some(self.discriminator(value));
                    out.changed = true;
                }
                _ => kept.push((*key, *value)),
            }
        }
        let mut extensions: &'a [_] = self.arena.alloc_slice_copy(&kept);
        if let Some(discriminator) = discriminator {
            extensions = self.with_discriminator(extensions, discriminator);
        }
        out.schema.extra = Some(self.arena.alloc(Extra { extensions, ..*out.schema.extra() }));
    }

    /// Returns the extensions with the discriminator, which is an object in v3.
    fn with_discriminator(&self, extensions: &'a [(&'a str, Json<'a>)], value: Json<'a>) -> &'a [(&'a str, Json<'a>)] {
        let mut out: Vec<_> = extensions.iter().copied().filter(|(key, _)| *key != "discriminator").collect();
        out.push(("discriminator", value));
        kubeshape_schema::order::sort_last_wins(&mut out, |(key, _)| key);
        self.arena.alloc_slice_copy(&out)
    }

    /// Returns a discriminator in v3. Its mapping points to definitions.
    fn discriminator(&mut self, value: &Json<'a>) -> Json<'a> {
        let Json::Object(members) = value else { return *value };
        let members: Vec<(&'a str, Json<'a>)> = members
            .iter()
            .map(|(key, value)| match (*key, value) {
                ("mapping", Json::Object(mapping)) => {
                    let mapping: Vec<(&'a str, Json<'a>)> = mapping
                        .iter()
                        .map(|(key, target)| {
                            let text = target.as_str().filter(|text| text.starts_with("#/definitions/"));
                            let text = text.and_then(|text| self.component_schema(text));
                            (*key, text.map_or(*target, Json::Str))
                        })
                        .collect();
                    (*key, Json::Object(self.arena.alloc_slice_copy(&mapping)))
                }
                _ => (*key, *value),
            })
            .collect();
        Json::Object(self.arena.alloc_slice_copy(&members))
    }

    fn component_schema(&self, reference: &'a str) -> Option<&'a str> {
        names::component(reference, "definitions", "schemas", &self.common.names.schemas, self.arena)
    }

    /// Returns a reference in v3, if it differs.
    fn reference(&mut self, reference: &'a str, at: u32) -> Option<&'a str> {
        if let Some(tail) = reference.strip_prefix("#/definitions/") {
            if self.common.names.schemas.is_empty() {
                return Some(concat(self.arena, &["#/components/schemas/", tail]));
            }
            return self.component_schema(reference);
        }
        if reference.starts_with("#/") {
            let found = names::into_content(reference, self.common.document, &self.common.names, self.arena);
            if found.is_none() {
                self.notes.add(Code::V3Reference, at, reference);
            }
            return found;
        }
        if reference.contains("#/definitions/") {
            self.notes.add(Code::V3ExternalReference, at, reference);
        }
        None
    }

    fn branches(&self, types: [Type; 2]) -> &'a [Schema<'a>] {
        self.arena.alloc_slice_copy(&types.map(|ty| Schema { ty, ..Schema::default() }))
    }

    /// Replaces the type with two alternatives.
    fn one_of(&self, schema: &mut Schema<'a>, types: [Type; 2]) {
        schema.ty = Type::Absent;
        schema.extra = Some(self.arena.alloc(Extra { one_of: self.branches(types), ..*schema.extra() }));
        schema.flags = schema.flags.with(Flags::JUNCTOR);
        schema.subtree = schema.subtree.with(Flags::JUNCTOR);
    }
}

/// A schema that may have changed.
struct Changed<'a> {
    schema: Schema<'a>,
    changed: bool,
}

impl<'a> Changed<'a> {
    /// Marks that a schema below it has changed.
    fn below(&mut self, inner: &Schema<'a>) {
        self.schema.subtree = self.schema.subtree.with(inner.subtree);
        self.changed = true;
    }

    fn set(&mut self, flag: Flags) {
        self.schema.flags = self.schema.flags.with(flag);
        self.schema.subtree = self.schema.subtree.with(flag);
        self.changed = true;
    }
}
