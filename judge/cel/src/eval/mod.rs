//! Programs: built from checked expressions, and evaluated.

pub(crate) mod cost;
mod meter;
mod plan;
mod run;

use crate::decls::{Function, Name, Overload};
use crate::library::regex::Constant;
use crate::library::standard::Singleton;
use crate::release::Language;
use crate::value::{Key, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use cost::Charge;
pub(crate) use plan::plan;
pub use run::Outcome;
pub(crate) use run::{Bounds, Lazy, run, with_places};

/// A step of a program.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Const(Value<'static>),
    Attr(Attr),
    /// `has(a.b)`
    Has(Attr),
    Or(Box<[Node; 2]>),
    And(Box<[Node; 2]>),
    Equal {
        not: bool,
        sides: Box<[Node; 2]>,
    },
    Call(Box<Call>),
    /// `accumulator + [item]`, with the call as a fallback.
    Append {
        call: Box<Call>,
        item: Box<Node>,
    },
    List {
        items: Vec<Node>,
        optional: Vec<bool>,
    },
    Map {
        entries: Vec<(Node, Node, bool)>,
    },
    Fold(Box<Fold>),
    /// `a.or(b)`, `a.orValue(b)`
    OptionalOr {
        value: bool,
        sides: Box<[Node; 2]>,
    },
    /// `x in [1, 2, 3]` with constants.
    InSet {
        item: Box<Node>,
        set: Arc<BTreeSet<Key<'static>>>,
    },
    /// The accumulator, moved out of its variable.
    Take(Attr),
    /// A protobuf message that evaluates to another value.
    Message {
        name: Arc<str>,
        fields: Vec<(Arc<str>, Node, bool)>,
    },
}

/// A call of a function.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: &'static Function,
    pub(crate) charge: Charge,
    pub(crate) args: Vec<Node>,
    pub(crate) kind: CallKind,
    /// The release, for functions whose result depends on it.
    pub(crate) language: Option<Language>,
}

impl Call {
    /// Returns whether evaluation stops at the first argument that fails.
    fn ends_early(&self) -> bool {
        self.function.name != Name::NotStrictlyFalse
            && match &self.kind {
                CallKind::Guarded { early, .. } => *early,
                CallKind::Dispatch(_) | CallKind::Regex(_) => true,
                CallKind::Singleton(_) => self.args.len() > 2,
            }
    }
}

/// How the implementation of a call is found.
#[derive(Clone)]
pub(crate) enum CallKind {
    /// One implementation for all overloads.
    Singleton(Singleton),
    /// An overload whose arguments are tested. `early` says that evaluation stops at the first argument that fails.
    Guarded { overload: &'static Overload, unguarded: bool, early: bool },
    /// The first overload that accepts the arguments.
    Dispatch(Vec<&'static Overload>),
    /// A constant regular expression.
    Regex(Constant),
}

impl std::fmt::Debug for CallKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CallKind::Singleton(_) => "Singleton",
            CallKind::Guarded { .. } => "Guarded",
            CallKind::Dispatch(_) => "Dispatch",
            CallKind::Regex(_) => "Regex",
        })
    }
}

/// A comprehension. Its variables are numbered slots.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) range: Node,
    pub(crate) accu: usize,
    pub(crate) var: usize,
    pub(crate) var2: Option<usize>,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
}

/// Where a value is looked up.
#[derive(Clone, Debug)]
pub(crate) enum Attr {
    /// A variable of the environment, by its index.
    Variable { name: Arc<str>, index: Option<usize>, language: Language, path: Vec<Qualifier> },
    /// A variable of a comprehension.
    Local { slot: usize, language: Language, path: Vec<Qualifier> },
    /// An accumulator. It is created at its first use.
    Accu { slot: usize, init: Arc<Node>, language: Language, path: Vec<Qualifier> },
    /// The value of another step.
    Relative { operand: Box<Node>, language: Language, path: Vec<Qualifier> },
    /// One of two attributes.
    Choice { condition: Box<Node>, yes: Box<Attr>, no: Box<Attr> },
}

/// A field, a key or an index.
#[derive(Clone, Debug)]
pub(crate) struct Qualifier {
    pub(crate) kind: QualifierKind,
    pub(crate) optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum QualifierKind {
    Const(Value<'static>),
    /// Tests only whether the value exists.
    Present(Value<'static>),
    Attr(Arc<Attr>),
}

impl Attr {
    /// Appends a qualifier.
    pub(crate) fn push(&mut self, qualifier: Qualifier) {
        match self {
            Attr::Variable { path, .. }
            | Attr::Local { path, .. }
            | Attr::Accu { path, .. }
            | Attr::Relative { path, .. } => {
                path.push(qualifier);
            }
            Attr::Choice { yes, no, .. } => {
                yes.push(qualifier.clone());
                no.push(qualifier);
            }
        }
    }
}
