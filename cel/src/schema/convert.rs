//! The schemas of CustomResourceDefinitions, as rules see them.

use super::Schema;
use kubeshape_schema::{Flags, Json};

impl From<&kubeshape_schema::Schema<'_>> for Schema {
    /// Takes a structural schema over. Branches (`allOf` and its relatives) are left out, because rules see no types in
    /// them. A schema nests as deep as its reader allows.
    fn from(schema: &kubeshape_schema::Schema<'_>) -> Schema {
        let extra = schema.extra();
        let below = |schema: Option<&kubeshape_schema::Schema<'_>>| schema.map(|schema| Box::new(Schema::from(schema)));
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Schema {
            ty: schema.type_name().to_owned(),
            format: schema.format.to_owned(),
            nullable: schema.flags.any(Flags::NULLABLE),
            int_or_string: schema.flags.any(Flags::INT_OR_STRING),
            preserve_unknown_fields: schema.flags.any(Flags::PRESERVE_UNKNOWN),
            embedded_resource: schema.flags.any(Flags::EMBEDDED_RESOURCE),
            list_type: extra.list_type.map(str::to_owned),
            list_map_keys: owned(extra.list_map_keys),
            map_type: extra.map_type.map(str::to_owned),
            max_length: extra.max_length,
            max_items: extra.max_items,
            max_properties: extra.max_properties,
            enumeration: schema
                .enumeration
                .iter()
                .map(|json| match json {
                    Json::Str(text) => Some((*text).to_owned()),
                    _ => None,
                })
                .collect(),
            required: owned(schema.required),
            has_default: schema.default.is_some_and(|default| !matches!(default, Json::Null)),
            properties: (!schema.properties.is_empty()).then(|| {
                schema
                    .properties
                    .iter()
                    .map(|property| (property.name.to_owned(), Schema::from(&property.schema)))
                    .collect()
            }),
            items: below(schema.item()),
            additional_properties: below(schema.additional_schema()),
        }
    }
}
