//! The converter from schemas to types (kube-openapi's `ToSchemaFromOpenAPI`), and its corrections with
//! [`Profile::Faithful`].

use super::merging::{self, KeyNames, ListMerge, ListWords, Said};
use super::references::{Target, Targets, last_segment, pure_reference, reference_of};
use super::unions::{self, Union};
use super::{Built, Options, Profile, QUANTITY, RAW_EXTENSION, SmdCompat, SmdError, nested};
use kubeshape_schema::{Additional, Dialect, Flags, Items, Json, Schema, Type};
use kubeshape_smd::schema::{
    self as smd, AtomId, BuildError, Builder, ListId, MAX_DEPTH, MapDef, MapId, Ref, Relationship, Scalar,
    UNTYPED_ATOMIC, UNTYPED_DEDUCED, UnionDef,
};
use std::collections::BTreeSet;

/// Converts the definitions and adds their types to those of `builder`, sorted by name.
pub(super) fn convert<'m>(
    builder: Builder,
    models: &'m [(&'m str, &'m Schema<'m>)],
    options: Options,
    dialect: Dialect,
) -> Built {
    let faithful = (options.profile == Profile::Faithful).then(|| Faithful {
        targets: Targets::new(models),
        dialect,
        inner: Vec::new(),
        known: BTreeSet::new(),
    });
    let mut converter =
        Converter { builder, compat: options.compat, errors: Vec::new(), definition: "", faithful, any: None };
    converter.types(models, options.preserve_unknown);
    let Converter { mut builder, errors, .. } = converter;
    if !errors.is_empty() {
        return Err(errors);
    }
    builder.sort_types();
    builder.finish().map_err(|error| vec![SmdError { text: error.to_string(), at: 0 }])
}

/// The state of a conversion.
struct Converter<'m> {
    builder: Builder,
    compat: SmdCompat,
    errors: Vec<SmdError>,
    /// The definition that is being converted.
    definition: &'m str,
    /// The data for corrections.
    faithful: Option<Faithful<'m>>,
    /// The atom of any value, created when it is first needed.
    any: Option<AtomId>,
}

struct Faithful<'m> {
    targets: Targets<'m>,
    dialect: Dialect,
    /// Schemas inside definitions that references point to.
    inner: Vec<(&'m str, &'m Schema<'m>)>,
    /// The names of these schemas, including those that are converted already.
    known: BTreeSet<&'m str>,
}

/// The position of a schema in its definition.
#[derive(Clone, Copy)]
struct Place {
    /// Unknown fields are preserved here, by the options or by a schema further out.
    preserve: bool,
    /// The number of schemas around it.
    depth: u16,
}

impl<'m> Converter<'m> {
    fn types(&mut self, models: &'m [(&'m str, &'m Schema<'m>)], preserve: bool) {
        let top = Place { preserve, depth: 0 };
        let mut aliases = Vec::new();
        let mut atoms = Vec::new();
        for (i, (name, schema)) in models.iter().enumerate() {
            let own = match &self.faithful {
                None => schema.reference.is_empty(),
                Some(faithful) => matches!(faithful.targets.end(i), Target::Definition(end) if end == i),
            };
            self.definition = name;
            let atom = match *name {
                QUANTITY if own => AtomId::UNTYPED,
                RAW_EXTENSION if own => smd::untyped_atomic_atom(&mut self.builder),
                _ if own => self.atom(schema, top),
                _ => {
                    aliases.push(i);
                    AtomId::EMPTY
                }
            };
            if own {
                self.builder.type_def(name, atom);
            }
            if self.faithful.is_some() {
                atoms.push(atom);
            }
        }
        // Upstream creates no type for a definition that is only a reference.
        for i in aliases {
            let Some(faithful) = &self.faithful else { return };
            self.definition = models[i].0;
            let atom = match faithful.targets.end(i) {
                Target::Definition(end) => atoms[end],
                Target::Inner(_, schema) => self.atom(schema, top),
                Target::Nowhere => self.any_value(),
            };
            self.builder.type_def(models[i].0, atom);
        }
        while let Some((name, schema)) = self.faithful.as_mut().and_then(|faithful| faithful.inner.pop()) {
            self.definition = name;
            let atom = self.atom(schema, top);
            self.builder.type_def(name, atom);
        }
    }

    #[cold]
    fn report(&mut self, schema: &Schema<'_>, place: Place, message: &str) {
        self.errors.push(SmdError { text: nested(place.depth, self.definition, message), at: schema.at });
    }

    fn atom(&mut self, schema: &'m Schema<'m>, mut place: Place) -> AtomId {
        place.preserve |= schema.flags.any(Flags::PRESERVE_UNKNOWN);
        if let Some(faithful) = &self.faithful {
            let dialect = faithful.dialect;
            place.preserve |= schema.flags.any(Flags::JUNCTOR) && branches_bring_more(schema, schema);
            if schema.ty == Type::Several {
                return self.one_of_several(schema, place);
            }
            if schema.ty == Type::Absent && dialect == Dialect::V2 && schema.flags.any(Flags::PROPERTIES_WRITTEN) {
                return self.only_map(schema, place);
            }
            match schema.type_name() {
                "null" => return AtomId::UNTYPED,
                "file" if dialect == Dialect::V2 => return AtomId::UNTYPED,
                _ => {}
            }
        }
        match schema.first_type() {
            Type::String => string(schema),
            Type::Integer | Type::Number => AtomId::NUMERIC,
            Type::Boolean => AtomId::BOOLEAN,
            Type::Object => self.only_map(schema, place),
            Type::Array => {
                let list = self.list(schema, place);
                self.builder.atom(None, Some(list), None)
            }
            Type::Absent => {
                let list = self.list(schema, place);
                let map = self.map(schema, place);
                self.builder.atom(Some(Scalar::Untyped), Some(list), Some(map))
            }
            Type::Other | Type::Several => {
                let name = schema.extra().types.first().copied().unwrap_or(schema.type_name());
                self.unknown_type(schema, place, name)
            }
        }
    }

    #[cold]
    fn unknown_type(&mut self, schema: &Schema<'_>, place: Place, name: &str) -> AtomId {
        self.report(schema, place, &format!("unrecognized type: '{name}'"));
        AtomId::UNTYPED
    }

    fn only_map(&mut self, schema: &'m Schema<'m>, place: Place) -> AtomId {
        let map = self.map(schema, place);
        self.builder.atom(None, None, Some(map))
    }

    /// Returns an atom that allows every type of a list. An empty list allows every value.
    fn one_of_several(&mut self, schema: &'m Schema<'m>, place: Place) -> AtomId {
        let types = schema.extra().types;
        let (mut scalar, mut list, mut map) = (None, types.is_empty(), types.is_empty());
        for name in types {
            let found = match (Type::from_name(name), *name) {
                (Type::Array, _) => {
                    list = true;
                    continue;
                }
                (Type::Object, _) => {
                    map = true;
                    continue;
                }
                (_, "null") => continue,
                (Type::Absent, _) => {
                    (list, map) = (true, true);
                    AtomId::UNTYPED
                }
                (Type::String, _) => string(schema),
                (Type::Integer | Type::Number, _) => AtomId::NUMERIC,
                (Type::Boolean, _) => AtomId::BOOLEAN,
                (Type::Other | Type::Several, name) => self.unknown_type(schema, place, name),
            };
            let same = scalar.is_none() || scalar == Some(found);
            scalar = Some(if same { found } else { AtomId::UNTYPED });
        }
        if types.is_empty() || !(list || map || scalar.is_some()) {
            scalar = Some(AtomId::UNTYPED);
        }
        if !(list || map) {
            return scalar.unwrap_or(AtomId::UNTYPED);
        }
        let scalar = scalar.map(|scalar| match scalar {
            AtomId::STRING => Scalar::String,
            AtomId::NUMERIC => Scalar::Numeric,
            AtomId::BOOLEAN => Scalar::Boolean,
            _ => Scalar::Untyped,
        });
        let list = list.then(|| self.list(schema, place));
        let map = map.then(|| self.map(schema, place));
        self.builder.atom(scalar, list, map)
    }

    /// Returns the atom of any value, whose shape is deduced.
    fn any_value(&mut self) -> AtomId {
        *self.any.get_or_insert_with(|| smd::untyped_deduced_atom(&mut self.builder))
    }

    /// Returns the reference to a field's, an item's or a member's type.
    fn reference(&mut self, schema: &'m Schema<'m>, place: Place) -> Ref<'m> {
        let nullable = self.compat == SmdCompat::V64 && self.is_nullable(schema);
        if let Some(named) = self.referenced(schema) {
            let relationship = self.map_relationship(schema, place);
            return Ref { named: Some(named), relationship, nullable, ..Ref::EMPTY };
        }
        let place = Place { depth: place.depth + 1, ..place };
        if place.depth > MAX_DEPTH {
            self.report(schema, Place { depth: 0, ..place }, &BuildError::TooDeep.to_string());
            return Ref::EMPTY;
        }
        Ref { inlined: self.atom(schema, place), nullable, ..Ref::EMPTY }
    }

    #[inline]
    fn is_nullable(&self, schema: &Schema<'_>) -> bool {
        schema.flags.any(Flags::NULLABLE) || self.faithful.is_some() && says_nullable(schema)
    }

    /// Returns the name of the type to which a schema refers.
    #[inline]
    fn referenced(&mut self, schema: &'m Schema<'m>) -> Option<&'m str> {
        let Some(faithful) = &mut self.faithful else {
            return reference_of(schema).map(last_segment).filter(|name| !name.is_empty());
        };
        Some(match faithful.targets.find(pure_reference(schema)?) {
            Target::Definition(at) => faithful.targets.name(at),
            Target::Inner(name, inner) => {
                if faithful.known.insert(name) {
                    faithful.inner.push((name, inner));
                }
                name
            }
            Target::Nowhere => UNTYPED_DEDUCED,
        })
    }

    fn map(&mut self, schema: &'m Schema<'m>, place: Place) -> MapId {
        let fields = self.builder.open();
        // Properties are sorted by UTF-16 units. This differs from byte order only for characters from U+E000 on.
        if schema.properties.iter().any(|p| p.name.bytes().any(|b| b >= 0xEE)) {
            let mut properties: Vec<_> = schema.properties.iter().collect();
            properties.sort_by_key(|p| p.name);
            for property in properties {
                self.field(property.name, &property.schema, place);
            }
        } else {
            for property in schema.properties {
                self.field(property.name, &property.schema, place);
            }
        }
        let element = match schema.additional {
            None if place.preserve || schema.properties.is_empty() => Ref::named(UNTYPED_DEDUCED),
            Some(Additional::Allowed(true)) => Ref::named(UNTYPED_DEDUCED),
            None | Some(Additional::Allowed(false)) => Ref::EMPTY,
            Some(Additional::Schema(schema)) => self.reference(schema, place),
        };
        let relationship = self.map_relationship(schema, place);
        if self.faithful.is_some()
            && let Some(unions) = merging::extension(schema.extra(), unions::UNIONS)
        {
            match unions::unions(unions) {
                Ok(unions) => {
                    let unions: Vec<UnionDef<'_>> = unions.iter().map(Union::def).collect();
                    return self.builder.map(fields, MapDef { element, relationship, unions: &unions });
                }
                Err(error) => self.report(schema, place, &error),
            }
        }
        self.builder.map(fields, MapDef { element, relationship, unions: &[] })
    }

    #[inline]
    fn field(&mut self, name: &str, schema: &'m Schema<'m>, place: Place) {
        let type_ref = self.reference(schema, place);
        self.builder.field(name, type_ref, schema.default);
    }

    fn map_relationship(&mut self, schema: &Schema<'_>, place: Place) -> Option<Relationship<'static>> {
        let extra = schema.extra?;
        merging::map_relationship(Said::of(extra.map_type, extra, merging::MAP_TYPE)).unwrap_or_else(|error| {
            self.report(schema, place, &error);
            None
        })
    }

    fn list(&mut self, schema: &'m Schema<'m>, place: Place) -> ListId {
        let merge = list_merge(schema);
        if let Some(error) = &merge.error {
            self.report(schema, place, error);
        }
        let lenient = self.faithful.is_some();
        let element = match schema.items {
            Some(Items::One(items)) => self.reference(items, place),
            Some(Items::Many(_)) => {
                if !lenient {
                    self.report(schema, place, "structural schema arrays must have exactly one member subtype");
                }
                Ref::named(UNTYPED_DEDUCED)
            }
            None => {
                if schema.first_type() != Type::Absent && !lenient {
                    self.report(schema, place, "`items` must be specified on arrays");
                }
                Ref::named(UNTYPED_ATOMIC)
            }
        };
        self.builder.list(element, Some(merge.relationship), merge.keys.iter().copied())
    }
}

#[inline]
fn string(schema: &Schema<'_>) -> AtomId {
    if matches!(schema.format, "" | "byte") { AtomId::STRING } else { AtomId::UNTYPED }
}

/// Returns how a list is merged.
pub(super) fn list_merge<'s>(schema: &Schema<'s>) -> ListMerge<'s> {
    let Some(extra) = schema.extra else { return ListMerge::ATOMIC };
    let keys = match extra.list_map_keys {
        [] => merging::extension(extra, merging::MAP_KEYS).map_or(KeyNames::Absent, KeyNames::json),
        keys => KeyNames::Names(keys.into()),
    };
    ListMerge::new(ListWords {
        list_type: Said::of(extra.list_type, extra, merging::LIST_TYPE),
        keys,
        strategy: Said::of(None, extra, merging::PATCH_STRATEGY),
        merge_key: Said::of(None, extra, merging::MERGE_KEY),
    })
}

/// Returns whether null is allowed by one of the types or by v2's extension instead of by `nullable`.
fn says_nullable(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    schema.type_name() == "null"
        || extra.types.contains(&"null")
        || merging::extension(extra, "x-nullable") == Some(&Json::Bool(true))
}

/// Returns whether a branch of a junctor allows fields that `declared` does not have. A branch with a reference is
/// assumed to.
pub(super) fn branches_bring_more(schema: &Schema<'_>, declared: &Schema<'_>) -> bool {
    let extra = schema.extra();
    [extra.all_of, extra.any_of, extra.one_of].into_iter().flatten().any(|branch| brings_more(branch, declared))
}

fn brings_more(branch: &Schema<'_>, declared: &Schema<'_>) -> bool {
    !branch.reference.is_empty()
        || branches_bring_more(branch, declared)
        || branch.properties.iter().any(|property| {
            declared.property(property.name).is_none_or(|declared| brings_more(&property.schema, declared))
        })
        || branch.item().is_some_and(|item| declared.item().is_none_or(|declared| brings_more(item, declared)))
        || branch
            .additional_schema()
            .is_some_and(|inner| declared.additional_schema().is_none_or(|declared| brings_more(inner, declared)))
}
