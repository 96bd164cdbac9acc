//! Where the types of a kind differ from those of other releases, and which objects have values there.

use super::{Field, Struct, Type, Typed, is_empty};
use kubeshape_value::Value;
use std::collections::BTreeSet;

/// The depth to which required fields of absent structs are compared.
const MAX_ABSENT: usize = 8;

/// Differences between a kind and the same kind in up to 64 other releases. A number has a bit for each of them.
///
/// An object that has no value where two releases differ is the same object in both.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// The releases that differ for every object.
    always: u64,
    /// By the index of the struct.
    structs: Vec<Differing>,
}

/// The values of a struct that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which<'n> {
    All,
    /// Those with a field.
    With(&'n str),
    /// Those whose field is absent or empty.
    Without(&'n str),
}

/// The differences of a struct.
#[derive(Clone, Debug, Default)]
struct Differing {
    /// The releases that differ for every value of the struct.
    always: u64,
    /// The releases that differ for values with a field.
    with: Vec<(Box<str>, u64)>,
    /// The releases that differ for values without a field.
    without: Vec<(Box<str>, u64)>,
    /// Whether a struct inside it has differences.
    is_below: bool,
}

impl Differences {
    /// Returns no differences for the structs of types.
    pub(crate) fn of(types: &Typed) -> Differences {
        Differences { always: 0, structs: vec![Differing::default(); types.structs.len()] }
    }

    /// Adds releases that differ for every object.
    pub(crate) fn add_always(&mut self, releases: u64) {
        self.always |= releases;
    }

    /// Adds releases that differ for values of a struct.
    pub(crate) fn add(&mut self, at: usize, which: Which<'_>, releases: u64) {
        let Some(own) = self.structs.get_mut(at) else { return };
        let (list, name) = match which {
            Which::All => return own.always |= releases,
            Which::With(name) => (&mut own.with, name),
            Which::Without(name) => (&mut own.without, name),
        };
        match list.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, known)) => *known |= releases,
            None => list.push((name.into(), releases)),
        }
    }

    /// Completes the differences: marks the structs that contain others with differences.
    pub(crate) fn complete(mut self, types: &Typed) -> Differences {
        let edges = types.edges();
        let has = |own: &Differing| own.is_below || own.always != 0 || !own.with.is_empty() || !own.without.is_empty();
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (at, inner) in edges.iter().enumerate() {
                let is_below = inner.iter().filter_map(|inner| self.structs.get(*inner)).any(has);
                if let Some(own) = self.structs.get_mut(at).filter(|own| !own.is_below && is_below) {
                    own.is_below = true;
                    is_changed = true;
                }
            }
        }
        self
    }

    /// Returns the releases in which an object of these types can have another result.
    pub(crate) fn releases(&self, types: &Typed, object: Value<'_>) -> u64 {
        let mut found = self.always;
        self.walk(types, &types.root, object, &mut found);
        found
    }

    /// Recursion is bounded: the reader of objects limits their nesting.
    fn walk(&self, types: &Typed, ty: &Type, value: Value<'_>, found: &mut u64) {
        match (ty, value) {
            (Type::Struct(at), Value::Map(map)) => {
                let (Some(own), Some(ty)) = (self.structs.get(*at), types.at(*at)) else { return };
                *found |= own.always;
                for (name, releases) in &own.with {
                    if map.get(name).is_some() {
                        *found |= releases;
                    }
                }
                for (name, releases) in &own.without {
                    if map.get(name).is_none_or(is_empty) {
                        *found |= releases;
                    }
                }
                if own.is_below {
                    for (key, value) in map.entries() {
                        if let Some(field) = ty.field(key) {
                            self.walk(types, &field.ty, *value, found);
                        }
                    }
                }
            }
            (Type::Map(items), Value::Map(map)) if items.inner_struct().is_some() => {
                for (_, value) in map.entries() {
                    self.walk(types, items, *value, found);
                }
            }
            (Type::List(items), Value::List(list)) if items.inner_struct().is_some() => {
                for value in list {
                    self.walk(types, items, *value, found);
                }
            }
            _ => {}
        }
    }
}

impl Typed {
    /// Calls a function for each struct that differs from that of other types: with its index, and the values that
    /// differ.
    pub(crate) fn compare(&self, other: &Typed, found: &mut dyn FnMut(usize, Which<'_>)) {
        let (mut open, mut seen) = (Vec::new(), BTreeSet::new());
        if !is_alike(&self.root, &other.root, &mut open) {
            for at in 0..self.structs.len() {
                found(at, Which::All);
            }
        }
        while let Some(pair) = open.pop() {
            let (Some(own), Some(theirs)) = (self.at(pair.0), other.at(pair.1)) else { continue };
            if !seen.insert(pair) {
                continue;
            }
            let heads = |of: &Struct| (of.name.clone(), of.go_name.clone(), of.is_go, of.definition.clone());
            let has_same_others = match (&own.others, &theirs.others) {
                (None, None) => true,
                (Some(a), Some(b)) => is_alike(a, b, &mut open),
                _ => false,
            };
            if heads(own) != heads(theirs) || !has_same_others {
                found(pair.0, Which::All);
            }
            let names: BTreeSet<&str> =
                own.fields.iter().chain(&theirs.fields).map(|(name, _)| name.as_str()).collect();
            for name in names {
                let (a, b) = (own.field(name), theirs.field(name));
                let absent = |types: &Typed, field: Option<&Field>| {
                    let mut out = Vec::new();
                    if let Some(field) = field {
                        types.absent(field, name, MAX_ABSENT, &mut out);
                    }
                    (out, field.and_then(|field| field.default.clone()))
                };
                if absent(self, a) != absent(other, b) {
                    found(pair.0, Which::Without(name));
                }
                let is_same = match (a, b) {
                    (Some(a), Some(b)) => {
                        (&a.allowed, a.go_name, a.go) == (&b.allowed, b.go_name, b.go)
                            && is_alike(&a.ty, &b.ty, &mut open)
                    }
                    _ => false,
                };
                if !is_same {
                    found(pair.0, Which::With(name));
                }
            }
        }
    }

    /// Adds the paths of the required fields that are missing if a field is absent.
    fn absent(&self, field: &Field, path: &str, depth: usize, out: &mut Vec<String>) {
        if field.required {
            out.push(path.to_owned());
        } else if field.is_there
            && depth > 0
            && let Type::Struct(at) = field.ty
            && let Some(below) = self.at(at).filter(|below| below.is_go)
        {
            for (name, field) in &below.fields {
                self.absent(field, &format!("{path}.{name}"), depth - 1, out);
            }
        }
    }
}

/// Returns whether two types are the same, apart from the fields of structs. Pairs of structs are added to `open`.
fn is_alike(a: &Type, b: &Type, open: &mut Vec<(usize, usize)>) -> bool {
    match (a, b) {
        (Type::Struct(a), Type::Struct(b)) => {
            open.push((*a, *b));
            true
        }
        (Type::Map(a), Type::Map(b)) | (Type::List(a), Type::List(b)) => is_alike(a, b, open),
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}
