//! `x-kubernetes-unions`, as kube-openapi's `makeUnions` reads them.

use super::merging::shown;
use kubeshape_schema::Json;
use kubeshape_smd::schema::{UnionDef, UnionFieldDef};
use std::collections::BTreeSet;

/// The extension's name.
pub(super) const UNIONS: &str = "x-kubernetes-unions";

/// One union: its discriminator, and its fields sorted by name.
#[derive(Debug, Default)]
pub(super) struct Union<'s> {
    discriminator: Option<&'s str>,
    fields: Vec<UnionFieldDef<'s>>,
}

impl Union<'_> {
    pub(super) fn def(&self) -> UnionDef<'_> {
        UnionDef { discriminator: self.discriminator, deduce_invalid_discriminator: false, fields: &self.fields }
    }
}

/// Returns the unions of a record.
///
/// # Errors
/// The first error: a union has the wrong form, or a field is in two unions.
pub(super) fn unions<'s>(value: &Json<'s>) -> Result<Vec<Union<'s>>, String> {
    let Json::Array(items) = value else {
        return Err(format!("{UNIONS:?} should be a list, got {}", shown(value)));
    };
    let mut unions = Vec::with_capacity(items.len());
    for item in *items {
        let Json::Object(_) = item else {
            return Err(format!("{UNIONS:?} items should be a map of string to unions, got {}", shown(item)));
        };
        unions.push(union(item)?);
    }
    // No field may be in two unions, not even as a discriminator.
    let mut names = BTreeSet::new();
    for union in &unions {
        for name in union.discriminator.into_iter().chain(union.fields.iter().map(|field| field.field_name)) {
            if !names.insert(name) {
                return Err(format!("{name} field appears multiple times in unions"));
            }
        }
    }
    Ok(unions)
}

fn union<'s>(item: &Json<'s>) -> Result<Union<'s>, String> {
    let mut union = Union::default();
    match item.get("discriminator") {
        None => {}
        Some(Json::Str(name)) => union.discriminator = Some(name),
        Some(other) => return Err(format!("\"discriminator\" must be a string, got: {}", shown(other))),
    }
    let by_field = match item.get("fields-to-discriminateBy") {
        None => return Ok(union),
        Some(Json::Object(members)) => *members,
        Some(other) => {
            return Err(format!("\"fields-to-discriminateBy\" must be a map[string]string, got: {}", shown(other)));
        }
    };
    let mut by_field: Vec<_> = by_field.iter().collect();
    by_field.sort_by_key(|(name, _)| *name);
    let mut values = BTreeSet::new();
    for (field_name, value) in by_field {
        let Json::Str(discriminator_value) = value else {
            let value = shown(value);
            return Err(format!("\"fields-to-discriminateBy\"/{field_name}: value must be a string, got: {value}"));
        };
        if !values.insert(*discriminator_value) {
            return Err(format!("Multiple fields have the same discriminated name: {discriminator_value}"));
        }
        union.fields.push(UnionFieldDef { field_name, discriminator_value });
    }
    Ok(union)
}
