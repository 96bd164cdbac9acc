//! The types that schemas declare, with the sizes for cost estimates.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]

use super::{MAX_REQUEST, escape};
use crate::cost::{Range, Sizes};
use crate::release::{Change, Language};
use crate::types::Type;
use kubeshape_schema::compact::Identity;
use kubeshape_schema::nearest;
use kubeshape_schema::{Flags, Property, Schema, Type as SchemaType};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A declared type. It is the same in all releases.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclType {
    shape: Shape,
    /// The maximum number of elements, characters or bytes of a value.
    max_elements: i64,
    /// The maximum before a change.
    before: Option<(Change, i64)>,
    /// The minimum size of a value in bytes of JSON.
    min_serialized_size: i64,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Scalar(Type),
    List(Arc<DeclType>),
    Map(Arc<DeclType>),
    Object(BTreeMap<String, Arc<DeclType>>),
}

/// The suffix of the names of the types of items and of values.
const ITEM: &str = ".@idx";
const VALUE: &str = ".@elem";

/// The sizes of the smallest values in JSON, in bytes.
const MIN_STRING: i64 = 2;
const MIN_BOOL: i64 = 4;
const MIN_NUMBER: i64 = 1;
const MIN_DURATION: i64 = 3;
const DATE: i64 = 12;
const MIN_DATE_TIME: i64 = 21;
const MAX_DATE_TIME: i64 = 32;
/// The maximum length of the name of a resource, in characters.
const LONGEST_NAME: i64 = 253;

fn scalar(ty: Type, min_serialized_size: i64, max_elements: i64) -> DeclType {
    DeclType { shape: Shape::Scalar(ty), max_elements, before: None, min_serialized_size }
}

impl DeclType {
    /// Returns the same type with another maximum before a change.
    fn before(self, change: Change, max_elements: i64) -> DeclType {
        let before = (max_elements != self.max_elements).then_some((change, max_elements));
        DeclType { before, ..self }
    }
}

/// Returns the length of the longest string of `enum` in bytes; `None` without an enum.
fn longest_of_enum(schema: &Schema<'_>) -> Option<i64> {
    schema.enumeration.iter().map(|value| value.as_str().map_or(0, |text| text.len() as i64)).max()
}

/// Returns whether a schema declares `apiVersion`, `kind` and the two names of `metadata` with their types. Only then
/// are its bounds of them used (upstream: `WithTypeAndObjectMeta`).
pub fn declares_metadata(schema: &Schema<'_>) -> bool {
    let is = |schema: Option<&Schema<'_>>, ty: SchemaType| schema.is_some_and(|schema| schema.ty == ty);
    let metadata = schema.property("metadata");
    is(schema.property("kind"), SchemaType::String)
        && is(schema.property("apiVersion"), SchemaType::String)
        && is(metadata, SchemaType::Object)
        && metadata.is_some_and(|metadata| {
            is(metadata.property("name"), SchemaType::String)
                && is(metadata.property("generateName"), SchemaType::String)
        })
}

/// Returns the fields that every resource has.
///
/// `schema` may bound the two names further.
fn type_and_object_meta(schema: &Schema<'_>) -> [(&'static str, DeclType); 3] {
    let text = || scalar(Type::String, MIN_STRING, MAX_REQUEST - 2);
    let metadata = schema.property("metadata");
    // The server appends at least one byte to `generateName`.
    let names = [("generateName", LONGEST_NAME - 1), ("name", LONGEST_NAME)].map(|(field, longest)| {
        let declared =
            metadata.and_then(|metadata| metadata.property(field)).filter(|field| field.ty == SchemaType::String);
        let bound = declared.and_then(|field| field.extra().max_length).map_or(longest, |most| most.clamp(0, longest));
        let name = scalar(Type::String, MIN_STRING, bound * 4).before(Change::NamesOfResources, MAX_REQUEST - 2);
        (field.to_owned(), Arc::new(name))
    });
    let metadata = Shape::Object(names.into_iter().collect());
    [
        ("apiVersion", text()),
        ("kind", text()),
        ("metadata", DeclType { shape: metadata, max_elements: 0, before: None, min_serialized_size: 2 }),
    ]
}

fn is_embedded(schema: &Schema<'_>) -> bool {
    schema.flags.any(Flags::EMBEDDED_RESOURCE)
}

/// The types declared so far. Schemas with the same parts share a type.
#[derive(Default)]
struct Declared {
    /// Keyed by schema, and whether it is that of a resource.
    known: HashMap<(Identity, bool), Option<Arc<DeclType>>>,
}

impl Declared {
    /// Recursion is bounded: schemas nest only as deep as their reader allows.
    fn declare(&mut self, schema: &Schema<'_>, is_resource_root: bool) -> Option<Arc<DeclType>> {
        let is_scalar = schema.properties.is_empty() && schema.items.is_none() && schema.additional.is_none();
        if is_scalar {
            return self.make(schema, is_resource_root).map(Arc::new);
        }
        let key = (schema.identity(), is_resource_root);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let ty = self.make(schema, is_resource_root).map(Arc::new);
        self.known.insert(key, ty.clone());
        ty
    }

    fn make(&mut self, schema: &Schema<'_>, is_resource_root: bool) -> Option<DeclType> {
        let extra = schema.extra();
        let longest = match schema.format {
            "duration" | "date-time" => MAX_DATE_TIME,
            "date" => DATE,
            _ => MAX_REQUEST - 2,
        };
        let characters = extra.max_length.map(|length| length.max(0).saturating_mul(4));
        if schema.flags.any(Flags::INT_OR_STRING) {
            let most = MAX_REQUEST - 2;
            let ty = scalar(Type::Dyn, 1, characters.unwrap_or(most));
            return Some(ty.before(Change::IntOrStringLength, most));
        }
        Some(match schema.ty {
            SchemaType::Array => {
                let items = schema.item()?;
                let items = self.declare(items, is_embedded(items))?;
                let most = (MAX_REQUEST - 2) / (items.min_serialized_size + 1);
                let max_elements = extra.max_items.map_or(most, |items| items.max(0));
                DeclType { shape: Shape::List(items), max_elements, before: None, min_serialized_size: 2 }
            }
            SchemaType::Object => {
                if let Some(values) = schema.additional_schema() {
                    let values = self.declare(values, is_embedded(values))?;
                    let most = (MAX_REQUEST - 2) / (values.min_serialized_size + 6);
                    let max_elements = extra.max_properties.map_or(most, |most| most.max(0));
                    let shape = Shape::Map(values);
                    return Some(DeclType { shape, max_elements, before: None, min_serialized_size: 2 });
                }
                let mut fields = BTreeMap::new();
                let mut min_serialized_size = 2;
                let mut add = |name: &str, ty: Arc<DeclType>, required: bool| {
                    if required {
                        min_serialized_size += name.len() as i64 + ty.min_serialized_size + 4;
                    }
                    if let Some(name) = escape::escape(name) {
                        fields.insert(name.into_owned(), ty);
                    }
                };
                let replaced = is_resource_root && !declares_metadata(schema);
                for Property { name, schema: property, .. } in schema.properties {
                    if replaced && matches!(*name, "apiVersion" | "kind" | "metadata") {
                        continue;
                    }
                    if let Some(ty) = self.declare(property, is_embedded(property)) {
                        add(name, ty, schema.required.contains(name) && property.default.is_none());
                    }
                }
                if replaced {
                    for (name, ty) in type_and_object_meta(schema) {
                        add(name, Arc::new(ty), schema.required.contains(&name));
                    }
                }
                DeclType { shape: Shape::Object(fields), max_elements: 0, before: None, min_serialized_size }
            }
            SchemaType::String => match schema.format {
                "byte" => scalar(Type::Bytes, MIN_STRING, extra.max_length.map_or(longest, |length| length.max(0))),
                "duration" => scalar(Type::Duration, MIN_DURATION, longest),
                "date" => scalar(Type::Timestamp, DATE, longest),
                "date-time" => scalar(Type::Timestamp, MIN_DATE_TIME, longest),
                _ => {
                    let now = characters.or_else(|| longest_of_enum(schema)).unwrap_or(longest);
                    let text = scalar(Type::String, MIN_STRING, now);
                    text.before(Change::EnumsBoundLength, characters.unwrap_or(longest))
                }
            },
            SchemaType::Boolean => scalar(Type::Bool, MIN_BOOL, 0),
            SchemaType::Number => scalar(Type::Double, MIN_NUMBER, 0),
            SchemaType::Integer => scalar(Type::Int, MIN_NUMBER, 0),
            _ => return None,
        })
    }
}

impl DeclType {
    /// Returns a type without parts, for values of any length.
    pub fn scalar_of(ty: Type) -> DeclType {
        let (least, most) = match ty {
            Type::Bool => (MIN_BOOL, 0),
            Type::Int | Type::Uint | Type::Double => (MIN_NUMBER, 0),
            Type::Duration => (MIN_DURATION, MAX_DATE_TIME),
            Type::Timestamp => (DATE, MAX_DATE_TIME),
            Type::String | Type::Bytes => (MIN_STRING, MAX_REQUEST - 2),
            _ => (MIN_NUMBER, MAX_REQUEST - 2),
        };
        scalar(ty, least, most)
    }

    /// Returns the type of lists of any length.
    pub fn list_of(items: Arc<DeclType>) -> DeclType {
        let most = (MAX_REQUEST - 2) / (items.min_serialized_size + 1);
        DeclType { shape: Shape::List(items), max_elements: most, before: None, min_serialized_size: 2 }
    }

    /// Returns the type of maps with string keys of any length.
    pub fn map_of(values: Arc<DeclType>) -> DeclType {
        let most = (MAX_REQUEST - 2) / (values.min_serialized_size + 6);
        DeclType { shape: Shape::Map(values), max_elements: most, before: None, min_serialized_size: 2 }
    }

    /// Returns an object type with fields, keyed by their names in expressions.
    pub fn object_of(fields: BTreeMap<String, Arc<DeclType>>) -> DeclType {
        DeclType { shape: Shape::Object(fields), max_elements: 0, before: None, min_serialized_size: 2 }
    }

    /// Returns the fields of an object type, keyed by their names in expressions.
    pub fn fields(&self) -> Option<&BTreeMap<String, Arc<DeclType>>> {
        match &self.shape {
            Shape::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the type that a schema declares; `None` if rules cannot see such values. Upstream's `SchemaDeclType`.
    pub fn of(schema: &Schema<'_>, is_resource_root: bool) -> Option<DeclType> {
        Declared::default().make(schema, is_resource_root)
    }

    /// Returns the checker's type. `name` is the prefix of its object types.
    pub fn cel_type(&self, name: &str) -> Type {
        match &self.shape {
            Shape::Scalar(ty) => ty.clone(),
            Shape::List(element) => Type::list(element.cel_type(&format!("{name}{ITEM}"))),
            Shape::Map(value) => Type::map(Type::String, value.cel_type(&format!("{name}{VALUE}"))),
            Shape::Object(_) => Type::Struct(name.into()),
        }
    }

    /// Returns the object type with the name `rest` after the name of this type, as in [`DeclType::cel_type`].
    pub(crate) fn named(&self, mut rest: &str) -> Option<&DeclType> {
        let mut node = self;
        loop {
            node = match &node.shape {
                Shape::Scalar(_) => return None,
                Shape::List(inner) => {
                    rest = rest.strip_prefix(ITEM)?;
                    inner
                }
                Shape::Map(inner) => {
                    rest = rest.strip_prefix(VALUE)?;
                    inner
                }
                Shape::Object(_) if rest.is_empty() => return Some(node),
                Shape::Object(fields) => {
                    rest = rest.strip_prefix('.')?;
                    let (name, behind) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                    rest = behind;
                    fields.get(name)?
                }
            };
        }
    }

    /// Returns the minimum size of a value in bytes of JSON.
    pub fn min_serialized_size(&self) -> i64 {
        self.min_serialized_size
    }

    /// Returns how often values can occur in one object.
    pub fn max_cardinality(&self) -> u64 {
        u64::try_from(MAX_REQUEST / (self.min_serialized_size + 1)).unwrap_or(0)
    }

    /// Returns the type of a field of an object, by its name in expressions.
    pub fn field(&self, name: &str) -> Option<&Arc<DeclType>> {
        match &self.shape {
            Shape::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    /// Returns the fields similar to an unknown name: those that escape to it, else the nearest.
    pub(crate) fn meant(&self, field: &str) -> Vec<String> {
        const MOST: usize = 3;
        let Shape::Object(fields) = &self.shape else { return Vec::new() };
        let written = fields.keys().filter(|name| escape::is_written_for(name, field));
        let written: Vec<String> = written.take(MOST).cloned().collect();
        if written.is_empty() { nearest(field, fields.keys().map(String::as_str)) } else { written }
    }

    /// Returns the type of the items of a list or of the values of a map.
    pub fn element(&self) -> Option<&Arc<DeclType>> {
        match &self.shape {
            Shape::List(inner) | Shape::Map(inner) => Some(inner),
            _ => None,
        }
    }
}

impl Sizes for DeclType {
    fn size(&self, path: &[&str], language: &Language) -> Option<Range> {
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
        let most = match node.before {
            Some((change, before)) if !language.has(change) => before,
            _ => node.max_elements,
        };
        Some(Range { min: 0, max: u64::try_from(most).unwrap_or(0) })
    }
}
