//! The types that schemas declare, with the sizes that costs are estimated by.

use super::{MAX_REQUEST, Schema, escape};
use crate::cost::{Range, Sizes};
use crate::types::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A declared type.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclType {
    shape: Shape,
    /// How many elements, characters or bytes a value may have at most.
    max_elements: i64,
    /// How many bytes of JSON a value takes at least.
    min_serialized_size: i64,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Scalar(Type),
    List(Arc<DeclType>),
    Map(Arc<DeclType>),
    Object { name: Arc<str>, fields: BTreeMap<String, Arc<DeclType>> },
}

/// The smallest values in JSON.
const MIN_STRING: i64 = 2;
const MIN_BOOL: i64 = 4;
const MIN_NUMBER: i64 = 1;
const MIN_DURATION: i64 = 3;
const DATE: i64 = 12;
const MIN_DATE_TIME: i64 = 21;
const MAX_DATE_TIME: i64 = 32;

fn scalar(ty: Type, min_serialized_size: i64, max_elements: i64) -> DeclType {
    DeclType { shape: Shape::Scalar(ty), max_elements, min_serialized_size }
}

impl DeclType {
    /// The type that a schema declares; `None` if rules cannot see such values. Upstream's `SchemaDeclType`.
    pub fn of(schema: &Schema, is_resource_root: bool) -> Option<DeclType> {
        let longest = match (schema.int_or_string, schema.format.as_str()) {
            (false, "duration" | "date-time") => MAX_DATE_TIME,
            (false, "date") => DATE,
            _ => MAX_REQUEST - 2,
        };
        let characters = schema.max_length.map(|length| length.max(0).saturating_mul(4));
        if schema.int_or_string {
            return Some(scalar(Type::Dyn, 1, characters.unwrap_or(longest)));
        }
        let with_meta;
        let schema = if is_resource_root {
            with_meta = schema.with_type_and_object_meta();
            &with_meta
        } else {
            schema
        };
        Some(match schema.ty.as_str() {
            "array" => {
                let items = schema.items.as_deref()?;
                let items = DeclType::of(items, items.embedded_resource)?;
                let most = (MAX_REQUEST - 2) / (items.min_serialized_size + 1);
                let max_elements = schema.max_items.map_or(most, |items| items.max(0));
                DeclType { shape: Shape::List(Arc::new(items)), max_elements, min_serialized_size: 2 }
            }
            "object" => {
                if let Some(values) = schema.additional_properties.as_deref() {
                    let values = DeclType::of(values, values.embedded_resource)?;
                    let most = (MAX_REQUEST - 2) / (values.min_serialized_size + 6);
                    let max_elements = schema.max_properties.map_or(most, |most| most.max(0));
                    return Some(DeclType {
                        shape: Shape::Map(Arc::new(values)),
                        max_elements,
                        min_serialized_size: 2,
                    });
                }
                let mut fields = BTreeMap::new();
                let mut min_serialized_size = 2;
                for (name, property) in schema.properties.iter().flatten() {
                    let Some(ty) = DeclType::of(property, property.embedded_resource) else { continue };
                    if schema.required.contains(name) && !property.has_default {
                        min_serialized_size += name.len() as i64 + ty.min_serialized_size + 4;
                    }
                    if let Some(name) = escape::escape(name) {
                        fields.insert(name, Arc::new(ty));
                    }
                }
                DeclType {
                    shape: Shape::Object { name: "object".into(), fields },
                    max_elements: 0,
                    min_serialized_size,
                }
            }
            "string" => match schema.format.as_str() {
                "byte" => scalar(Type::Bytes, MIN_STRING, schema.max_length.map_or(longest, |length| length.max(0))),
                "duration" => scalar(Type::Duration, MIN_DURATION, longest),
                "date" => scalar(Type::Timestamp, DATE, longest),
                "date-time" => scalar(Type::Timestamp, MIN_DATE_TIME, longest),
                _ => {
                    let listed = schema.enumeration.iter().flatten().map(|text| text.len() as i64).max().unwrap_or(0);
                    let most = if schema.enumeration.is_empty() { longest } else { listed };
                    scalar(Type::String, MIN_STRING, characters.unwrap_or(most))
                }
            },
            "boolean" => scalar(Type::Bool, MIN_BOOL, 0),
            "number" => scalar(Type::Double, MIN_NUMBER, 0),
            "integer" => scalar(Type::Int, MIN_NUMBER, 0),
            _ => return None,
        })
    }

    /// The type with names for its object types, which begin with `name`.
    #[must_use]
    pub fn named(&self, name: &str) -> DeclType {
        let shape = match &self.shape {
            Shape::Scalar(ty) => Shape::Scalar(ty.clone()),
            Shape::List(element) => Shape::List(Arc::new(element.named(&format!("{name}.@idx")))),
            Shape::Map(value) => Shape::Map(Arc::new(value.named(&format!("{name}.@elem")))),
            Shape::Object { fields, .. } => {
                let fields = fields
                    .iter()
                    .map(|(field, ty)| (field.clone(), Arc::new(ty.named(&format!("{name}.{field}")))))
                    .collect();
                Shape::Object { name: name.into(), fields }
            }
        };
        DeclType { shape, ..*self }
    }

    /// The type as the checker has it.
    pub fn cel_type(&self) -> Type {
        match &self.shape {
            Shape::Scalar(ty) => ty.clone(),
            Shape::List(element) => Type::list(element.cel_type()),
            Shape::Map(value) => Type::map(Type::String, value.cel_type()),
            Shape::Object { name, .. } => Type::Struct(name.clone()),
        }
    }

    /// How many bytes of JSON a value takes at least.
    pub fn min_serialized_size(&self) -> i64 {
        self.min_serialized_size
    }

    /// The type of a field of an object, by its name in expressions.
    pub fn field(&self, name: &str) -> Option<&Arc<DeclType>> {
        match &self.shape {
            Shape::Object { fields, .. } => fields.get(name),
            _ => None,
        }
    }

    /// The type of the items of a list or of the values of a map.
    pub fn element(&self) -> Option<&Arc<DeclType>> {
        match &self.shape {
            Shape::List(inner) | Shape::Map(inner) => Some(inner),
            _ => None,
        }
    }

    /// Gathers the object types inside.
    pub(crate) fn objects(self: &Arc<Self>, out: &mut BTreeMap<Arc<str>, Arc<DeclType>>) {
        match &self.shape {
            Shape::Scalar(_) => {}
            Shape::List(inner) | Shape::Map(inner) => inner.objects(out),
            Shape::Object { name, fields } => {
                out.insert(name.clone(), self.clone());
                for ty in fields.values() {
                    ty.objects(out);
                }
            }
        }
    }
}

impl Sizes for DeclType {
    fn size(&self, path: &[&str]) -> Option<Range> {
        let mut node = self;
        for name in path.get(1..)? {
            node = match (*name, &node.shape) {
                ("@items" | "@values", Shape::List(inner) | Shape::Map(inner)) => inner,
                // Keys are strings without a bound of their own.
                ("@keys", Shape::Map(_)) => return Some(Range::fixed(0)),
                ("@items" | "@values" | "@keys", _) => return None,
                (name, _) => node.field(name)?,
            };
        }
        Some(Range { min: 0, max: u64::try_from(node.max_elements).unwrap_or(0) })
    }
}
