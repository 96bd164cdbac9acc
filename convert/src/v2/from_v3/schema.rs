//! Converts schemas.

use super::Converter;
use crate::model::Extensions;
use kubeshape_schema::read::is_extension;
use kubeshape_schema::{Additional, Code, Dependency, Extra, Flags, Items, Json, Property, Schema, Type, order};

/// The definition that Kubernetes publishes as a string in OpenAPI v2.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/// Members of schemas that are extensions in OpenAPI v2.
const AS_EXTENSIONS: [(&str, &str); 2] = [("writeOnly", "x-writeOnly"), ("deprecated", "x-deprecated")];

impl<'a> Converter<'a> {
    /// Converts a shared schema.
    pub(super) fn definition_schema(&mut self, name: &str, schema: &Schema<'a>) -> Schema<'a> {
        let branches = schema.extra().one_of;
        if name == QUANTITY && schema.ty == Type::Absent && are_types(branches, &[Type::String, Type::Number]) {
            self.lose(Code::DownPolymorphic, schema.at, "oneOf");
            let mut string = *schema;
            string.ty = Type::String;
            self.set_extra(&mut string, |extra| extra.one_of = &[]);
            return self.schema(&string);
        }
        self.schema(schema)
    }

    /// Returns a converted schema in the arena, or the schema itself if v2 has no difference.
    pub(super) fn schema_in_arena(&mut self, schema: &'a Schema<'a>) -> &'a Schema<'a> {
        match self.changed(schema) {
            Some(changed) => self.arena.alloc(changed),
            None => schema,
        }
    }

    /// Returns a schema in OpenAPI v2. It accepts what the source accepts.
    pub(super) fn schema(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        self.changed(schema).unwrap_or(*schema)
    }

    /// Returns the schema in OpenAPI v2, if it differs. Unchanged lists stay shared.
    fn changed(&mut self, schema: &Schema<'a>) -> Option<Schema<'a>> {
        const TOUCHED: Flags = Flags::NULLABLE.with(Flags::JUNCTOR).with(Flags::REF);
        let extensions = schema.extra().extensions;
        let requires = self.is_kube() && !schema.required.is_empty() && schema.subtree.any(Flags::NULLABLE);
        if schema.flags.any(TOUCHED) || requires || extensions.iter().any(|(name, _)| is_v3(name)) {
            let mut out = self.own(schema);
            self.inner(&mut out);
            return Some(out);
        }
        let mut out = *schema;
        self.inner(&mut out).then_some(out)
    }

    /// Returns the schema with its own members converted, but not the schemas below it.
    #[inline(never)]
    fn own(&mut self, schema: &Schema<'a>) -> Schema<'a> {
        let mut out = *schema;
        if out.flags.any(Flags::JUNCTOR) {
            self.junctors(&mut out);
        }
        if out.flags.any(Flags::NULLABLE) {
            self.nullable(&mut out);
        }
        if self.is_kube() {
            self.required_of_kube(&mut out);
        }
        self.members(&mut out);
        if !out.reference.is_empty() {
            out.reference = self.reference(out.reference, out.at);
        }
        out
    }

    /// Converts the schemas below a schema. Returns whether any changed.
    fn inner(&mut self, out: &mut Schema<'a>) -> bool {
        let mut changed = match out.items {
            Some(Items::One(item)) => self.one(item).map(Items::One),
            Some(Items::Many(list)) => self.list(list).map(Items::Many),
            None => None,
        }
        .is_some_and(|items| out.items.replace(items).is_some());
        if let Some(properties) = self.properties(out.properties) {
            out.properties = properties;
            changed = true;
        }
        if let Some(additional) = self.additional(out.additional) {
            out.additional = Some(additional);
            changed = true;
        }
        if let Some(extra) = out.extra
            && let Some(extra) = self.rare(extra)
        {
            out.extra = Some(extra);
            changed = true;
        }
        changed
    }

    #[inline(never)]
    fn rare(&mut self, extra: &'a Extra<'a>) -> Option<&'a Extra<'a>> {
        let all_of = self.list(extra.all_of);
        let pattern_properties = self.properties(extra.pattern_properties);
        let definitions = self.properties(extra.definitions);
        let additional_items = self.additional(extra.additional_items);
        let mut dependencies: Option<&'a mut [(&'a str, Dependency<'a>)]> = None;
        for (at, (_, dependency)) in extra.dependencies.iter().enumerate() {
            if let Dependency::Schema(inner) = dependency
                && let Some(inner) = self.one(inner)
            {
                let arena = self.arena;
                let list = dependencies.get_or_insert_with(|| arena.alloc_slice_copy(extra.dependencies));
                list[at].1 = Dependency::Schema(inner);
            }
        }
        let changed = all_of.is_some()
            || pattern_properties.is_some()
            || definitions.is_some()
            || additional_items.is_some()
            || dependencies.is_some();
        changed.then(|| {
            &*self.arena.alloc(Extra {
                all_of: all_of.unwrap_or(extra.all_of),
                pattern_properties: pattern_properties.unwrap_or(extra.pattern_properties),
                definitions: definitions.unwrap_or(extra.definitions),
                additional_items: additional_items.or(extra.additional_items),
                dependencies: dependencies.map_or(extra.dependencies, |list| list),
                ..*extra
            })
        })
    }

    fn one(&mut self, schema: &Schema<'a>) -> Option<&'a Schema<'a>> {
        let changed = self.changed(schema)?;
        Some(self.arena.alloc(changed))
    }

    fn list(&mut self, list: &'a [Schema<'a>]) -> Option<&'a [Schema<'a>]> {
        let arena = self.arena;
        let mut out: Option<&'a mut [Schema<'a>]> = None;
        for (at, schema) in list.iter().enumerate() {
            if let Some(changed) = self.changed(schema) {
                out.get_or_insert_with(|| arena.alloc_slice_copy(list))[at] = changed;
            }
        }
        out.map(|list| &*list)
    }

    fn properties(&mut self, list: &'a [Property<'a>]) -> Option<&'a [Property<'a>]> {
        let arena = self.arena;
        let mut out: Option<&'a mut [Property<'a>]> = None;
        for (at, property) in list.iter().enumerate() {
            if let Some(changed) = self.changed(&property.schema) {
                out.get_or_insert_with(|| arena.alloc_slice_copy(list))[at].schema = changed;
            }
        }
        out.map(|list| &*list)
    }

    fn additional(&mut self, additional: Option<Additional<'a>>) -> Option<Additional<'a>> {
        match additional {
            Some(Additional::Schema(inner)) => self.one(inner).map(Additional::Schema),
            _ => None,
        }
    }

    fn set_extra(&self, schema: &mut Schema<'a>, change: impl FnOnce(&mut Extra<'a>)) {
        let mut extra = *schema.extra();
        change(&mut extra);
        let junctors =
            !(extra.all_of.is_empty() && extra.one_of.is_empty() && extra.any_of.is_empty()) || extra.not.is_some();
        schema.flags.set(Flags::JUNCTOR, junctors);
        schema.extra = (extra != Extra::default()).then(|| &*self.arena.alloc(extra));
    }

    fn junctors(&mut self, out: &mut Schema<'a>) {
        let extra = out.extra();
        if out.format == "int-or-string"
            && out.ty == Type::Absent
            && are_types(extra.one_of, &[Type::Integer, Type::String])
        {
            self.lose(Code::DownPolymorphic, out.at, "oneOf");
            out.ty = Type::String;
            self.set_extra(out, |extra| extra.one_of = &[]);
        }
        let extra = out.extra();
        // A single alternative has the same meaning as an `allOf`.
        let singles: Vec<Schema<'a>> = [extra.one_of, extra.any_of]
            .into_iter()
            .filter(|branches| branches.len() == 1)
            .flatten()
            .copied()
            .collect();
        let (one, any) = (extra.one_of.len(), extra.any_of.len());
        self.lose_members(Code::DownJunctorSingle, out.at, &[("oneOf", one == 1), ("anyOf", any == 1)]);
        self.lose_members(
            Code::DownJunctor,
            out.at,
            &[("oneOf", one > 1), ("anyOf", any > 1), ("not", extra.not.is_some())],
        );
        if one + any > 0 || extra.not.is_some() {
            let all_of: Vec<Schema<'a>> = extra.all_of.iter().copied().chain(singles).collect();
            let all_of = self.slice(&all_of);
            self.set_extra(out, |extra| {
                extra.all_of = all_of;
                extra.one_of = &[];
                extra.any_of = &[];
                extra.not = None;
            });
        }
        if let Some(reference) = wrapped(out) {
            out.reference = reference;
            out.flags = out.flags.with(Flags::REF).with(Flags::NOT_STRUCTURAL);
            out.subtree = out.subtree.with(out.flags);
            self.set_extra(out, |extra| extra.all_of = &[]);
        }
    }

    fn nullable(&mut self, out: &mut Schema<'a>) {
        out.flags = out.flags.without(Flags::NULLABLE);
        if self.is_kube() {
            let members = [
                ("nullable", true),
                ("type", out.ty != Type::Absent),
                ("items", out.items.is_some()),
                ("properties", !out.properties.is_empty()),
                ("additionalProperties", !out.properties.is_empty() && out.additional.is_some()),
            ];
            self.lose_members(Code::V2Nullable, out.at, &members);
            out.ty = Type::Absent;
            out.items = None;
            if !out.properties.is_empty() {
                // It would apply to the properties that are no longer declared.
                out.additional = None;
            }
            out.properties = &[];
            self.set_extra(out, |extra| {
                extra.other_type = "";
                extra.types = &[];
            });
            return;
        }
        self.lose(Code::DownExtension, out.at, "nullable");
        let extensions = self.with_extension(out.extra().extensions, "x-nullable", Json::Bool(true));
        self.set_extra(out, |extra| extra.extensions = extensions);
    }

    /// Drops the required names that the API server drops in OpenAPI v2.
    fn required_of_kube(&mut self, out: &mut Schema<'a>) {
        if out.required.is_empty() {
            return;
        }
        let nullable = |name: &str| out.property(name).is_some_and(|schema| schema.flags.any(Flags::NULLABLE));
        let (lost, kept): (Vec<&'a str>, Vec<&'a str>) = out.required.iter().copied().partition(|name| nullable(name));
        if !lost.is_empty() {
            self.lose(Code::V2RequiredNullable, out.at, lost.join(", "));
            out.required = self.slice(&kept);
        }
        if let Some(Additional::Schema(inner)) = out.additional
            && inner.flags.any(Flags::NULLABLE)
            && !out.required.is_empty()
        {
            self.lose(Code::V2RequiredMap, out.at, out.required.join(", "));
            out.required = &[];
        }
    }

    /// Converts members that only OpenAPI v3 has, which are among the extensions.
    fn members(&mut self, out: &mut Schema<'a>) {
        let members = out.extra().extensions;
        if !members.iter().any(|(name, _)| is_v3(name)) {
            return;
        }
        let kept: Vec<(&'a str, Json<'a>)> = members.iter().copied().filter(|(name, _)| !is_v3(name)).collect();
        let mut extensions = self.slice(&kept);
        let mut discriminator = out.extra().discriminator;
        for (name, value) in members.iter().filter(|(name, _)| is_v3(name)) {
            if *name == "discriminator" {
                let property = value.get("propertyName").and_then(Json::as_str).unwrap_or_default();
                let declared = out.property(property).is_some() && out.required.contains(&property);
                if declared {
                    discriminator = property;
                }
                match value {
                    Json::Object([_]) if declared => {}
                    Json::Object(all) if declared => {
                        let lost: Vec<&str> =
                            all.iter().map(|(name, _)| *name).filter(|name| *name != "propertyName").collect();
                        self.lose(Code::DownDiscriminator, out.at, lost.join(", "));
                    }
                    _ => self.lose(Code::DownDiscriminator, out.at, "discriminator"),
                }
            } else if let Some((_, extension)) = AS_EXTENSIONS.iter().find(|(member, _)| member == name)
                && !self.is_kube()
            {
                self.lose(Code::DownExtension, out.at, *name);
                extensions = self.with_extension(extensions, extension, *value);
            } else {
                self.lose(Code::DownKeyword, out.at, *name);
            }
        }
        self.set_extra(out, |extra| {
            extra.extensions = extensions;
            extra.discriminator = discriminator;
        });
    }

    /// Returns the extensions with one more, which replaces one with the same name.
    pub(super) fn with_extension(
        &self,
        extensions: Extensions<'a>,
        name: &'static str,
        value: Json<'a>,
    ) -> Extensions<'a> {
        let mut all: Vec<(&'a str, Json<'a>)> = extensions.to_vec();
        match all.binary_search_by(|(other, _)| order::utf16(other, name)) {
            Ok(at) => all[at].1 = value,
            Err(at) => all.insert(at, (name, value)),
        }
        self.slice(&all)
    }
}

/// Returns the reference of a schema that has only an `allOf` with a single branch and members that Kubernetes writes
/// next to references in OpenAPI v2.
pub(super) fn wrapped<'a>(schema: &Schema<'a>) -> Option<&'a str> {
    let extra = schema.extra();
    let [inner] = extra.all_of else { return None };
    let bare = Schema { reference: "", at: 0, flags: Flags::NONE, subtree: Flags::NONE, ..*inner };
    let flags = inner.flags.without(Flags::REF).without(Flags::NOT_STRUCTURAL);
    if inner.reference.is_empty() || bare != Schema::default() || flags != Flags::NONE {
        return None;
    }
    let beside = Schema {
        description: "",
        default: None,
        extra: None,
        at: 0,
        flags: schema.flags.without(Flags::JUNCTOR).without(Flags::DEFAULT),
        subtree: Flags::NONE,
        ..*schema
    };
    let only_wraps = beside == Schema::default()
        && Extra { all_of: &[], extensions: &[], ..*extra } == Extra::default()
        && extra.extensions.iter().all(|(name, _)| is_extension(name));
    only_wraps.then_some(inner.reference)
}

/// Returns whether the branches are schemas with only these types, in any order.
fn are_types(branches: &[Schema<'_>], types: &[Type]) -> bool {
    branches.len() == types.len()
        && types.iter().all(|ty| branches.iter().any(|branch| branch.ty == *ty))
        && branches.iter().all(|branch| {
            let rest = Schema { ty: Type::Absent, at: 0, flags: Flags::NONE, subtree: Flags::NONE, ..*branch };
            rest == Schema::default() && branch.flags == Flags::NONE
        })
}

/// Returns whether a member among the extensions exists only in OpenAPI v3.
fn is_v3(name: &str) -> bool {
    name == "discriminator" || AS_EXTENSIONS.iter().any(|(member, _)| *member == name)
}
