//! Parsed expressions.

use crate::decls::{Function, Functions, Name};
use crate::value::{Text, Value};
use std::sync::{Arc, LazyLock};

/// The number of a node. It is the key for positions, types and references.
pub(crate) type Id = u32;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

impl Literal {
    /// Returns the value that it evaluates to.
    pub(crate) fn value(&self) -> Value<'static> {
        match self {
            Literal::Null => Value::Null,
            Literal::Bool(b) => Value::Bool(*b),
            Literal::Int(i) => Value::Int(*i),
            Literal::Uint(u) => Value::Uint(*u),
            Literal::Double(d) => Value::Double(*d),
            Literal::String(text) => Value::String(Text::Shared(text.clone())),
            Literal::Bytes(bytes) => Value::Bytes(bytes.clone()),
        }
    }
}

/// The name of a function that is called.
#[derive(Clone, Debug)]
pub(crate) enum Called {
    /// A function of some release.
    Known(&'static Function),
    /// Any other name.
    Unknown(Arc<str>),
}

impl Called {
    /// Returns the known function of this name, or the name itself.
    pub(crate) fn named(text: &str) -> Called {
        Functions::all().named(text).map_or_else(|| Called::Unknown(text.into()), Called::Known)
    }

    /// Returns the function, if there is one of this name.
    pub(crate) fn known(&self) -> Option<&'static Function> {
        match self {
            Called::Known(function) => Some(function),
            Called::Unknown(_) => None,
        }
    }

    /// Returns whether it is the function of this name.
    pub(crate) fn is(&self, name: Name) -> bool {
        matches!(self, Called::Known(function) if function.name == name)
    }
}

impl From<Name> for Called {
    fn from(name: Name) -> Called {
        Called::Known(Functions::all().get(name))
    }
}

impl std::ops::Deref for Called {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Called::Known(function) => function.text,
            Called::Unknown(text) => text,
        }
    }
}

impl PartialEq for Called {
    fn eq(&self, other: &Called) -> bool {
        **self == **other
    }
}

/// A node with its number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) id: Id,
    pub(crate) kind: Kind,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A placeholder after a parser error.
    Unspecified,
    Literal(Literal),
    Ident(Arc<str>),
    Select {
        operand: Box<Expr>,
        field: Arc<str>,
        test_only: bool,
    },
    Call {
        function: Called,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    List {
        elements: Vec<Expr>,
        optional: Vec<usize>,
    },
    Map(Vec<Entry>),
    Struct {
        name: Arc<str>,
        fields: Vec<Field>,
    },
    Fold(Box<Fold>),
}

/// An entry of a map literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

/// A field of a message literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) id: Id,
    pub(crate) name: Arc<str>,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

/// A comprehension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fold {
    pub(crate) range: Expr,
    pub(crate) var: Arc<str>,
    pub(crate) var2: Option<Arc<str>>,
    pub(crate) accu: Arc<str>,
    pub(crate) init: Expr,
    pub(crate) condition: Expr,
    pub(crate) step: Expr,
    pub(crate) result: Expr,
}

/// The hidden variable in which comprehensions accumulate their result.
pub(crate) const ACCUMULATOR: &str = "@result";

/// [`ACCUMULATOR`] as a shared string.
pub(crate) fn accumulator() -> Arc<str> {
    static NAME: LazyLock<Arc<str>> = LazyLock::new(|| ACCUMULATOR.into());
    NAME.clone()
}

impl Expr {
    pub(crate) fn new(id: Id, kind: Kind) -> Expr {
        Expr { id, kind }
    }

    /// Appends `a.b.c` as a name, if the expression is one.
    pub(crate) fn push_qualified_name(&self, out: &mut String) -> bool {
        match &self.kind {
            Kind::Ident(name) => {
                out.push_str(name);
                true
            }
            Kind::Select { operand, field, test_only: false } => {
                if !operand.push_qualified_name(out) {
                    return false;
                }
                out.push('.');
                out.push_str(field);
                true
            }
            _ => false,
        }
    }

    /// Returns a variable with its fields and indexes as written, such as `self.limits[key]`; `None` for other
    /// expressions.
    pub(crate) fn path(&self) -> Option<String> {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            match &at.kind {
                Kind::Ident(name) => {
                    steps.push(name.to_string());
                    break;
                }
                Kind::Select { operand, field, test_only: false } => {
                    steps.push(format!(".{field}"));
                    at = operand;
                }
                Kind::Call { function, target: None, args } if function.is(Name::Index) => {
                    let [operand, index] = args.as_slice() else { return None };
                    let index = match &index.kind {
                        Kind::Ident(name) => name.to_string(),
                        Kind::Literal(Literal::Int(n)) => n.to_string(),
                        Kind::Literal(Literal::String(text)) => format!("{text:?}"),
                        _ => return None,
                    };
                    steps.push(format!("[{index}]"));
                    at = operand;
                }
                _ => return None,
            }
        }
        Some(steps.iter().rev().map(String::as_str).collect())
    }

    /// Calls `on` with each direct child, in the order in which upstream visits them.
    pub(crate) fn each_child<'e>(&'e self, mut on: impl FnMut(&'e Expr)) {
        match &self.kind {
            Kind::Unspecified | Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select { operand, .. } => on(operand),
            Kind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).for_each(on),
            Kind::List { elements, .. } => elements.iter().for_each(on),
            Kind::Map(entries) => {
                for entry in entries {
                    on(&entry.key);
                    on(&entry.value);
                }
            }
            Kind::Struct { fields, .. } => fields.iter().for_each(|field| on(&field.value)),
            Kind::Fold(fold) => {
                [&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result].into_iter().for_each(on);
            }
        }
    }
}
