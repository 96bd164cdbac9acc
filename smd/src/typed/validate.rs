//! Validates a value against its type (upstream `typed/validate.go`).

use super::error::{Errors, Token, ValidationErrorKind, ValidationErrors};
use super::go::{Got, GotSyntax};
use super::items::{Elements, Indexed, NoElement, sort};
use super::nodes::{Items, List, MapOf, NOTHING, Node, Scalar, Shape, Tables};
use super::{Checked, Type, TypedValue};
use crate::Bump;
use crate::fieldpath::PathElement;
use crate::value::Value;
use kubeshape_schema::nearest;

/// Whether sets and keyed lists may have duplicate items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Not allowed, as in applied configurations.
    Refused,
    /// Allowed, as in stored objects.
    Allowed,
}

pub(super) fn validate<'a>(
    ty: Type<'a>,
    value: Value<'a>,
    duplicates: Duplicates,
) -> Result<TypedValue<'a>, ValidationErrors> {
    let scratch = Bump::new();
    let tables = &ty.types.tables;
    let mut walk = Walk {
        tables,
        duplicates,
        elements: Elements::new(tables, &scratch),
        indexed: Vec::new(),
        errors: Errors::default(),
    };
    walk.value(ty.id, value);
    walk.errors.into_result()?;
    let checked = match duplicates {
        Duplicates::Refused => Checked::Strictly,
        Duplicates::Allowed => Checked::WithDuplicates,
    };
    Ok(TypedValue { value: Some(value), ty, checked })
}

/// Returns upstream's message about a type with which a walk cannot continue.
#[cold]
pub(super) fn schema_error(node: &Node, tables: &Tables) -> String {
    match (node.missing, node.name) {
        (true, Some(name)) => format!("schema error: no type found matching: {}", tables.str(name)),
        (true, None) => "schema error: no type found matching: inlined type".to_owned(),
        (false, Some(name)) => format!("schema error: invalid atom: named type: {}", tables.str(name)),
        (false, None) => "schema error: invalid atom: inlined".to_owned(),
    }
}

/// Returns whether a value is a scalar of that kind. Null matches every kind.
#[inline]
pub(super) fn fits(scalar: Scalar, value: Value<'_>) -> bool {
    matches!(
        (scalar, value),
        (_, Value::Null)
            | (Scalar::Numeric | Scalar::Untyped, Value::Int(_) | Value::Float(_))
            | (Scalar::String | Scalar::Untyped, Value::String(_))
            | (Scalar::Boolean | Scalar::Untyped, Value::Bool(_))
    )
}

/// Returns upstream's message about a value that is not such a scalar.
#[cold]
pub(super) fn misfit(scalar: Scalar, value: Value<'_>, side: &str, tables: &Tables) -> String {
    match scalar {
        Scalar::Numeric => format!("{side}expected numeric (int or float), got {}", value.go_type()),
        Scalar::String => format!("{side}expected string, got {}", GotSyntax(value)),
        Scalar::Boolean => format!("{side}expected boolean, got {}", Got(value)),
        Scalar::Untyped => format!("{side}expected any scalar, got {}", Got(value)),
        Scalar::Other(name) => format!("{side}unexpected scalar type in schema: {}", tables.str(name)),
    }
}

struct Walk<'w> {
    tables: &'w Tables,
    duplicates: Duplicates,
    elements: Elements<'w>,
    /// The items of the lists that are being checked.
    indexed: Vec<Indexed<'w>>,
    errors: Errors,
}

impl<'w> Walk<'w> {
    fn value(&mut self, id: u32, value: Value<'w>) {
        let node = self.tables.node(id);
        match node.shape(node.choose(Some(value))) {
            Shape::Scalar(scalar) if fits(scalar, value) => {}
            Shape::Scalar(scalar) => self.errors.add(misfit(scalar, value, "", self.tables)),
            Shape::Map(map) => self.map(map, value),
            Shape::List(list) => self.list(list, value),
            Shape::None => self.errors.add(schema_error(node, self.tables)),
        }
    }

    fn map(&mut self, map: &MapOf, value: Value<'w>) {
        let entries = match value {
            Value::Map(value) => value.entries(),
            Value::Null => return,
            other => return self.errors.add(format!("expected map, got {}", Got(other))),
        };
        let mut fields = self.tables.cursor(map);
        for (name, value) in entries {
            let from = self.errors.len();
            match fields.find(name) {
                Some(field) => self.value(field, *value),
                None if map.element != NOTHING => self.value(map.element, *value),
                None => {
                    self.undeclared(map, name);
                    return self.errors.below(from, &PathElement::FieldName(name), Token::Name(name));
                }
            }
            self.errors.below(from, &PathElement::FieldName(name), Token::Name(name));
        }
    }

    #[cold]
    fn undeclared(&mut self, map: &MapOf, name: &str) {
        /// After this many errors, suggestions add noise.
        const HELPED: usize = 100;
        let declared = map.fields.of(&self.tables.fields).iter().map(|field| self.tables.str(field.name));
        let nearest = if self.errors.len() < HELPED { nearest(name, declared) } else { Vec::new() };
        self.errors.add_kind(ValidationErrorKind::UndeclaredField { name: name.to_owned(), nearest });
    }

    fn list(&mut self, list: &List, value: Value<'w>) {
        let items = match value {
            Value::List(items) => items,
            Value::Null => return,
            other => return self.errors.add(format!("expected list, got {}", Got(other))),
        };
        if matches!(list.items, Items::Atomic | Items::Unknown) {
            for (at, item) in items.iter().enumerate() {
                let from = self.errors.len();
                self.value(list.element, *item);
                self.errors.below(from, &format_args!("[{at}]"), Token::At(at));
            }
            return;
        }
        let (named, repeated) = match self.duplicates {
            Duplicates::Refused => self.repeated(list, items),
            Duplicates::Allowed => (0, Vec::new()),
        };
        let mut repeated = repeated.into_iter().peekable();
        for (at, item) in items.iter().enumerate() {
            if at >= named
                && let Err(why) = self.elements.check(list, *item)
            {
                // Items after one without a path element are not checked.
                return self.no_element(why, at, list);
            }
            if repeated.next_if_eq(&(at as u32)).is_some() {
                self.repeats(list, *item, at);
            }
            let from = self.errors.len();
            self.value(list.element, *item);
            if self.errors.len() > from {
                self.item_errors(from, list, *item, at);
            }
        }
    }

    /// Returns how many items come before the first one without a path element, and the indices of those among them
    /// whose path elements are repeated.
    fn repeated(&mut self, list: &List, items: &'w [Value<'w>]) -> (usize, Vec<u32>) {
        let mark = self.indexed.len();
        for (at, item) in (0..).zip(items) {
            let Ok(element) = self.elements.of(list, *item) else { break };
            self.indexed.push((element, at));
        }
        let indexed = &mut self.indexed[mark..];
        sort(indexed);
        let mut repeated: Vec<u32> =
            indexed.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1).collect();
        repeated.sort_unstable();
        let named = indexed.len();
        self.indexed.truncate(mark);
        (named, repeated)
    }

    #[cold]
    fn no_element(&mut self, why: NoElement, at: usize, list: &List) {
        self.errors.add_item(why.message(at, list, self.tables), at);
    }

    #[cold]
    fn repeats(&mut self, list: &List, item: Value<'w>, at: usize) {
        if let Ok(element) = self.elements.lend(list, item) {
            let message = format!("duplicate entries for key {element}");
            self.errors.add_item(message, at);
        }
    }

    #[cold]
    fn item_errors(&mut self, from: usize, list: &List, item: Value<'w>, at: usize) {
        if let Ok(element) = self.elements.lend(list, item) {
            self.errors.below(from, &element, Token::At(at));
        }
    }
}
