//! Walks over the structs of an object.

use super::{Field, Struct, Type, Typed, is_empty};
use crate::literal::Literal;
use crate::object::deep_equal;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::Path;
use kubeshape_value::{Bump, Map, Value};

/// A struct in an object.
#[derive(Clone, Copy)]
pub(crate) struct Below<'t> {
    /// The index of the struct among those of the kind.
    pub(crate) index: usize,
    ty: &'t Struct,
    typed: &'t Typed,
}

impl<'t> Below<'t> {
    /// Returns whether the last field of a path is a pointer in Go.
    pub(crate) fn is_pointer(self, path: &[String]) -> bool {
        let mut ty = Some(self.ty);
        for (depth, name) in path.iter().enumerate() {
            let field = ty.and_then(|ty| ty.field(name));
            if depth + 1 == path.len() {
                return field.and_then(|field| field.go).is_some_and(|go| go.is_pointer);
            }
            ty = match field.map(|field| &field.ty) {
                Some(Type::Struct(at)) => self.typed.at(*at),
                _ => None,
            };
        }
        false
    }

    /// Calls a function for each struct in a field of the struct, but not for nested ones. `path` is the path of the
    /// field.
    pub(crate) fn each_in<'a>(
        self,
        name: &str,
        value: Value<'a>,
        path: &Path<'_>,
        with: &mut dyn FnMut(Below<'t>, Value<'a>, &Path<'_>),
    ) {
        if let Some(field) = self.ty.field(name) {
            self.typed.each_struct(&field.ty, value, path, with);
        }
    }

    /// Returns the indices of the structs in the fields of the struct.
    fn structs_in(self) -> impl Iterator<Item = usize> + 't {
        self.ty.fields.iter().filter_map(|(_, field)| field.ty.inner_struct())
    }
    /// Returns whether a field of the struct or of nested structs is set: a pointer, or a value other than Go's zero
    /// value.
    pub(crate) fn is_set(self, value: Value<'_>, path: &[String]) -> bool {
        let (mut ty, mut value) = (Some(self.ty), value);
        for (depth, name) in path.iter().enumerate() {
            let Some(below) = value.get(name) else { return false };
            let field = ty.and_then(|ty| ty.field(name));
            if depth + 1 == path.len() {
                let is_pointer = field.and_then(|field| field.go).is_some_and(|go| go.is_pointer);
                return !below.is_null() && (is_pointer || !is_empty(below));
            }
            ty = match field.map(|field| &field.ty) {
                Some(Type::Struct(at)) => self.typed.at(*at),
                _ => None,
            };
            value = below;
        }
        true
    }

    /// Returns the fields with a default in the document that is not Go's zero value.
    pub(crate) fn document_defaults(self) -> impl Iterator<Item = (&'t str, &'t Literal)> {
        self.ty.fields.iter().filter_map(|(name, field)| Some((name.as_str(), field.default.as_ref()?)))
    }
}

impl Typed {
    /// Returns the names of the definitions of all structs, `core.v1.Container`, in the order of their indices. Empty
    /// for structs that are not Kubernetes' own.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &str> {
        self.structs.iter().map(|found| found.definition.as_str())
    }

    /// Returns the struct of the object itself.
    pub(crate) fn root_below(&self) -> Option<Below<'_>> {
        let index = self.root_struct()?;
        Some(Below { index, ty: self.at(index)?, typed: self })
    }

    /// Returns for each struct the indices of the structs in its fields.
    pub(crate) fn edges(&self) -> Vec<Vec<usize>> {
        let below = |(index, ty)| Below { index, ty, typed: self }.structs_in().collect();
        self.structs.iter().enumerate().map(below).collect()
    }

    fn each_struct<'t, 'a>(
        &'t self,
        ty: &'t Type,
        value: Value<'a>,
        path: &Path<'_>,
        with: &mut dyn FnMut(Below<'t>, Value<'a>, &Path<'_>),
    ) {
        match (ty, value) {
            (Type::Struct(index), Value::Map(_)) => {
                if let Some(ty) = self.at(*index) {
                    with(Below { index: *index, ty, typed: self }, value, path);
                }
            }
            (Type::Map(items), Value::Map(map)) if items.has_structs() => {
                for (key, value) in map.entries() {
                    self.each_struct(items, *value, &path.key(key), with);
                }
            }
            (Type::List(items), Value::List(list)) if items.has_structs() => {
                for (index, value) in list.iter().enumerate() {
                    self.each_struct(items, *value, &path.index(index), with);
                }
            }
            _ => {}
        }
    }

    /// Returns the index of the struct of the object itself.
    pub(crate) fn root_struct(&self) -> Option<usize> {
        if let Type::Struct(at) = self.root { Some(at) } else { None }
    }

    /// Changes every struct of an object. A struct is changed before those in it.
    pub(crate) fn map<'a, F>(&self, object: Value<'a>, arena: &'a Bump, change: &mut F) -> Value<'a>
    where
        F: FnMut(Below<'_>, Value<'a>) -> Value<'a>,
    {
        self.map_value(object, &self.root, arena, change)
    }

    fn map_value<'a, F>(&self, value: Value<'a>, ty: &Type, arena: &'a Bump, change: &mut F) -> Value<'a>
    where
        F: FnMut(Below<'_>, Value<'a>) -> Value<'a>,
    {
        match (ty, value) {
            (Type::Struct(at), Value::Map(_)) => {
                let Some(ty) = self.at(*at) else { return value };
                let Value::Map(map) = change(Below { index: *at, ty, typed: self }, value) else { return value };
                let entries = map.entries().iter().map(|(key, value)| {
                    let changed = match ty.field(key) {
                        Some(field) if field.is_resource_list() => rounded(*value, arena),
                        Some(field) => self.map_value(*value, &field.ty, arena, change),
                        None => *value,
                    };
                    (*key, changed)
                });
                Value::Map(Map::sorted(arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>())))
            }
            (Type::Map(items), Value::Map(map)) if items.has_structs() => {
                let entries = map.entries().iter();
                let entries = entries.map(|(key, value)| (*key, self.map_value(*value, items, arena, change)));
                Value::Map(Map::sorted(arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>())))
            }
            (Type::List(items), Value::List(list)) if items.has_structs() => {
                let list: Vec<_> = list.iter().map(|item| self.map_value(*item, items, arena, change)).collect();
                Value::List(arena.alloc_slice_copy(&list))
            }
            _ => value,
        }
    }
}

impl Typed {
    /// Returns whether two objects are equal by the rules of `Semantic.DeepEqual`, which compares quantities by value.
    /// Some top-level fields are left out.
    pub(crate) fn is_same(&self, a: Value<'_>, b: Value<'_>, without: &[&str]) -> bool {
        let (a, b) = (a.as_map().unwrap_or(Map::EMPTY), b.as_map().unwrap_or(Map::EMPTY));
        let Some(ty) = self.root_struct().and_then(|at| self.at(at)) else {
            return deep_equal(Value::Map(a), Value::Map(b));
        };
        ty.fields
            .iter()
            .filter(|(name, _)| !without.contains(&name.as_str()))
            .all(|(name, field)| self.is_same_field(a.get(name), b.get(name), &field.ty))
    }

    /// Compares a field, for which an empty list or map is the same as none.
    fn is_same_field(&self, a: Option<Value<'_>>, b: Option<Value<'_>>, ty: &Type) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.is_same_value(a, b, ty),
            (None, None) => true,
            (Some(one), None) | (None, Some(one)) => matches!(ty, Type::List(_) | Type::Map(_)) && is_empty(one),
        }
    }

    fn is_same_value(&self, a: Value<'_>, b: Value<'_>, ty: &Type) -> bool {
        match (ty, a, b) {
            (Type::Quantity, Value::String(a), Value::String(b)) => {
                a == b || Quantity::parse(a).ok().zip(Quantity::parse(b).ok()).is_some_and(|(a, b)| a.is_same(&b))
            }
            (Type::Struct(at), Value::Map(a), Value::Map(b)) => {
                let Some(ty) = self.at(*at) else { return deep_equal(Value::Map(a), Value::Map(b)) };
                let of = |key: &str| ty.field(key).map_or(&Type::Any, |field| &field.ty);
                let mut own = b.entries().iter().filter(|(key, _)| a.get(key).is_none());
                a.entries().iter().all(|(key, value)| self.is_same_field(Some(*value), b.get(key), of(key)))
                    && own.all(|(key, value)| self.is_same_field(None, Some(*value), of(key)))
            }
            (Type::Map(items), Value::Map(a), Value::Map(b)) => {
                let pairs = a.entries().iter().zip(b.entries());
                a.len() == b.len() && pairs.into_iter().all(|(a, b)| a.0 == b.0 && self.is_same_value(a.1, b.1, items))
            }
            (Type::List(items), Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.is_same_value(*a, *b, items))
            }
            // A field that Go prints in any case.
            (Type::List(_) | Type::Map(_), a, b) if is_empty(a) && is_empty(b) => true,
            _ => deep_equal(a, b),
        }
    }
}

impl Type {
    pub(super) fn inner_struct(&self) -> Option<usize> {
        match self {
            Type::Struct(at) => Some(*at),
            Type::Map(items) | Type::List(items) => items.inner_struct(),
            _ => None,
        }
    }

    fn has_structs(&self) -> bool {
        match self {
            Type::Struct(_) => true,
            Type::Map(items) | Type::List(items) => items.has_structs(),
            _ => false,
        }
    }
}

impl Field {
    /// Returns whether its Go type is that of resources and their quantities, which have at most three digits after the
    /// decimal point.
    fn is_resource_list(&self) -> bool {
        self.go_name.go_type == Some("v1.ResourceList")
    }
}

/// Rounds the quantities of a list of resources up: `SetDefaults_ResourceList`.
fn rounded<'a>(list: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = list else { return list };
    let round = |value: Value<'a>| {
        let text = value.as_str()?;
        let rounded = Quantity::parse(text).ok()?.rounded_up(-3).to_string();
        Some(if rounded == text { value } else { Value::String(arena.alloc_str(&rounded)) })
    };
    let entries = map.entries().iter().map(|(key, value)| (*key, round(*value).unwrap_or(*value)));
    Value::Map(Map::sorted(arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>())))
}
