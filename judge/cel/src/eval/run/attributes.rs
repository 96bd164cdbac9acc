//! Values of variables, and of fields, keys and indexes.

use super::Runner;
use crate::eval::meter::Meter;
use crate::eval::{Attr, Qualifier, QualifierKind};
use crate::library::Kube;
use crate::release::{Change, Language};
use crate::value::{List, Map, Value, print};

impl<'a> Runner<'_, '_, 'a> {
    pub(super) fn attr(&mut self, attr: &'a Attr) -> Value<'a> {
        match attr {
            Attr::Variable { name, index, language, path } => {
                let variables = self.variables;
                match index.and_then(|index| variables.get(index)).and_then(Option::as_ref) {
                    Some(error @ Value::Error(_)) if !path.is_empty() => {
                        pay!(self, u64::from(!language.has(Change::ErrorsEndPaths)));
                        error.clone()
                    }
                    Some(value) => self.qualified(value, path, language),
                    None if self.is_lazy(name) => self.lazy_field(path, language),
                    None => Value::error(format!("no such attribute(s): {name}")),
                }
            }
            Attr::Local { slot, language, path } => {
                if let Some(error @ Value::Error(_)) = &self.slots[*slot]
                    && !path.is_empty()
                {
                    let error = error.clone();
                    pay!(self, u64::from(!language.has(Change::ErrorsEndPaths)));
                    return error;
                }
                self.local(*slot, path, language)
            }
            Attr::Accu { slot, init, language, path } => {
                if self.slots[*slot].is_none() {
                    let value = self.eval(init);
                    self.slots[*slot] = Some(value);
                }
                self.local(*slot, path, language)
            }
            Attr::Relative { operand, language, path } => {
                let value = self.eval(operand);
                if path.is_empty() && !matches!(value, Value::Optional(_)) {
                    return value;
                }
                self.qualified(&value, path, language)
            }
            Attr::Choice { condition, yes, no } => match self.eval(condition) {
                Value::Bool(true) => self.attr(yes),
                Value::Bool(false) => self.attr(no),
                error @ Value::Error(_) => error,
                _ => Value::no_such_overload(),
            },
        }
    }

    fn is_lazy(&self, variable: &str) -> bool {
        self.lazy.as_ref().is_some_and(|lazy| lazy.variable == variable)
    }

    /// Returns the value at a path whose first field is evaluated at its first use.
    fn lazy_field(&mut self, path: &'a [Qualifier], language: &Language) -> Value<'a> {
        let Some(([first, rest @ ..], lazy)) = Some(path).zip(self.lazy.as_mut()) else {
            return Value::no_such_overload();
        };
        let (name, tests) = match &first.kind {
            QualifierKind::Const(Value::String(name)) => (name, false),
            QualifierKind::Present(Value::String(name)) => (name, true),
            _ => return Value::no_such_overload(),
        };
        let found = (lazy.evaluate)(name);
        match found {
            None if tests && !first.optional => {
                pay!(self, 1);
                Value::Bool(false)
            }
            None if first.optional => Value::Optional(None),
            None => {
                pay!(self, 1);
                Value::error(format!("no such key: {}", &**name))
            }
            Some(error @ Value::Error(_)) => {
                pay!(self, u64::from(!first.optional));
                error
            }
            Some(value) => {
                pay!(self, 1);
                match (tests, first.optional) {
                    (true, false) => Value::Bool(true),
                    (_, true) => self.qualified(&Value::some(value), rest, language),
                    _ => self.qualified(&value, rest, language),
                }
            }
        }
    }

    pub(super) fn local(&mut self, slot: usize, path: &'a [Qualifier], language: &Language) -> Value<'a> {
        if path.is_empty() && !matches!(self.slots[slot], Some(Value::Optional(_))) {
            return self.slot(slot);
        }
        let value = self.slot(slot);
        self.qualified(&value, path, language)
    }

    /// Returns the value at a path from a value.
    fn qualified(&mut self, value: &Value<'a>, path: &'a [Qualifier], language: &Language) -> Value<'a> {
        match value {
            Value::Error(_) => value.clone(),
            Value::Optional(None) => Value::Optional(None),
            Value::Optional(Some(inner)) if language.has(Change::OptionalsKeepValues) => {
                self.qualify(inner, true, path)
            }
            Value::Optional(Some(inner)) => match through_go(inner, &mut self.meter) {
                Ok(inner) => self.qualify(&inner, true, path),
                Err(reason) => self.end(reason),
            },
            other if path.is_empty() => other.clone(),
            other => self.qualify(other, false, path),
        }
    }

    #[inline(never)]
    fn qualify(&mut self, value: &Value<'a>, mut optional: bool, path: &'a [Qualifier]) -> Value<'a> {
        let mut reached;
        let mut value = value;
        for (at, qualifier) in path.iter().enumerate() {
            optional = optional || qualifier.optional;
            let present_only = matches!(qualifier.kind, QualifierKind::Present(_));
            let made;
            let key: &Value<'a> = match &qualifier.kind {
                QualifierKind::Const(key) | QualifierKind::Present(key) => key,
                QualifierKind::Attr(attr) => {
                    made = self.attr(attr);
                    match &made {
                        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => &made,
                        other => {
                            pay!(self, u64::from(!optional));
                            return match other {
                                Value::Error(_) => other.clone(),
                                _ => Value::error(format!("invalid qualifier type: {}", print::go_type(other))),
                            };
                        }
                    }
                }
            };
            let found = match find(value, key, optional || present_only) {
                Ok(Some(found)) => {
                    pay!(self, 1);
                    if present_only && !optional { Value::Bool(true) } else { found }
                }
                Ok(None) if present_only && !optional => {
                    pay!(self, 1);
                    Value::Bool(false)
                }
                Ok(None) => return Value::Optional(None),
                Err(error) => {
                    pay!(self, u64::from(!optional));
                    return error;
                }
            };
            if at + 1 == path.len() && !optional {
                return found;
            }
            reached = found;
            value = &reached;
        }
        if optional { Value::some(value.clone()) } else { value.clone() }
    }
}

/// Returns the value inside an optional after upstream's conversion to a plain Go value and back.
///
/// # Errors
/// Returns an error if the evaluation creates too much.
fn through_go<'a>(value: &Value<'a>, meter: &mut Meter) -> Result<Value<'a>, String> {
    let go = match value {
        Value::Optional(None) => return Ok(Value::Null),
        Value::Optional(Some(inner)) => return through_go(inner, meter),
        Value::Kube(Kube::Quantity(..)) => "*resource.Quantity",
        Value::Kube(Kube::Ip(_)) => "netip.Addr",
        Value::Kube(Kube::Cidr(_)) => "netip.Prefix",
        Value::Kube(Kube::Url(_)) => "*url.URL",
        Value::Kube(Kube::Semver(_)) => "semver.Version",
        Value::Error(_) => "*errors.errorString",
        Value::Type(ty) => return Ok(Value::text(ty.name())),
        // The schema is lost, and with it the escaping of field names.
        Value::List(List::Typed(_, items)) => return Ok(Value::List(List::Data(*items))),
        Value::List(List::Joined(_, items)) => return Ok(Value::List(List::Made(items.clone()))),
        // The items of two added lists become plain Go values, too (`concatList.Value`).
        Value::List(list @ (List::Added(_) | List::Parts(_))) => {
            meter.list(list.len())?;
            let items = list.iter().map(|item| through_go(&item, meter)).collect::<Result<_, _>>()?;
            return Ok(Value::list(items));
        }
        Value::Map(Map::Typed(_, fields)) => return Ok(Value::Map(Map::Data(*fields))),
        other => return Ok(other.clone()),
    };
    Ok(Value::error(format!("unsupported conversion to ref.Val: ({go}){}", print::plain(value))))
}

/// Returns the value of a key or an index; `None` if there is none and `test` says that this is not an error.
fn find<'a>(value: &Value<'a>, key: &Value<'a>, test: bool) -> Result<Option<Value<'a>>, Value<'a>> {
    let missing = |what: &str| {
        if test { Ok(None) } else { Err(Value::error(format!("{what}: {}", print::plain(key)))) }
    };
    match value {
        Value::Map(map) => {
            if matches!(map, Map::Typed(..)) && key.as_str().is_none() {
                return Err(Value::no_such_overload());
            }
            match map.get(key) {
                Some(error @ Value::Error(_)) => Err(error),
                Some(found) => Ok(Some(found)),
                None => missing("no such key"),
            }
        }
        Value::List(list) => {
            let index = match key {
                Value::Int(index) => *index,
                #[allow(clippy::cast_precision_loss)]
                Value::Double(d) => match crate::value::convert::double_to_int(*d).filter(|i| *i as f64 == *d) {
                    Some(index) => index,
                    None => {
                        return Err(Value::error(format!("unsupported index value {} in list", print::plain(key))));
                    }
                },
                Value::Uint(u) => match i64::try_from(*u) {
                    Ok(index) => index,
                    Err(_) => return Err(Value::error(format!("unsupported index value {u} in list"))),
                },
                other => {
                    let ty = other.type_of();
                    return Err(Value::error(format!("unsupported index type '{ty}' in list")));
                }
            };
            match usize::try_from(index).ok().filter(|index| *index < list.len()) {
                Some(_) if list.typed().is_some() && !matches!(key, Value::Int(_)) => {
                    Ok(Some(Value::error(format!("unsupported index: {}", print::plain(key)))))
                }
                Some(index) => Ok(list.get(index)),
                None => missing("index out of bounds"),
            }
        }
        error @ Value::Error(_) => Err(error.clone()),
        Value::Object(object) => match key.as_str().and_then(|name| object.select(name, test)) {
            Some(found) => Ok(Some(found)),
            None => missing("no such key"),
        },
        _ => missing("no such key"),
    }
}
