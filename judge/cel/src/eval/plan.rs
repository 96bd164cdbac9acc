//! Compiles checked expressions to programs: variables become slots, and constants are folded as upstream folds them.

// CEL compares doubles exactly.
#![allow(clippy::float_cmp)]

use super::{Attr, Call, CallKind, Fold, Node, Qualifier, QualifierKind, run};
use crate::ast::{Called, Expr, Kind};
use crate::check::{Checked, Reference};
use crate::decls::{self, Function, Name, Overload};
use crate::library::regex::Regex;
use crate::library::standard;
use crate::release::Language;
use crate::types::Type;
use crate::value::{Key, Text, Value, print};
use std::sync::Arc;

/// Builds a program. `variables` are the names of the environment's variables.
///
/// # Errors
/// Returns upstream's message about a constant that cannot be folded.
pub(crate) fn plan(checked: &Checked, variables: &[Arc<str>], language: &Language) -> Result<(Node, usize), String> {
    let mut planner = Planner { checked, variables, language, scopes: Vec::new(), slots: 0, most: 0 };
    let node = planner.plan(&checked.expr)?;
    Ok((node, planner.most))
}

struct Planner<'a> {
    checked: &'a Checked,
    variables: &'a [Arc<str>],
    language: &'a Language,
    scopes: Vec<Scope>,
    slots: usize,
    most: usize,
}

/// The variables of a comprehension.
struct Scope {
    accu: (Arc<str>, usize, Arc<Node>),
    /// Empty while the result is planned.
    vars: Vec<(Arc<str>, usize)>,
}

type Planned = Result<Node, String>;

impl Planner<'_> {
    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.most = self.most.max(self.slots);
        self.slots - 1
    }

    fn plan(&mut self, expr: &Expr) -> Planned {
        match &expr.kind {
            Kind::Unspecified => Err("unsupported expr".to_owned()),
            Kind::Literal(literal) => Ok(Node::Const(literal.value())),
            Kind::Ident(_) => self.ident(expr),
            Kind::Select { operand, field, test_only } => {
                if self.checked.reference(expr.id).is_some() {
                    return self.ident(expr);
                }
                let operand = self.plan(operand)?;
                let mut attr = as_attr(operand, self.language);
                let field = Value::String(Text::Shared(field.clone()));
                if *test_only {
                    attr.push(Qualifier { kind: QualifierKind::Present(field), optional: false });
                    return Ok(Node::Has(attr));
                }
                attr.push(Qualifier { kind: QualifierKind::Const(field), optional: false });
                Ok(Node::Attr(attr))
            }
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List { elements, optional } => {
                let items: Vec<Node> = elements.iter().map(|element| self.plan(element)).collect::<Result<_, _>>()?;
                let optional = (0..items.len()).map(|i| optional.contains(&i)).collect();
                let all_const = items.iter().all(|item| matches!(item, Node::Const(_)));
                let node = Node::List { items, optional };
                Ok(if all_const { Node::Const(run::constant(&node)) } else { node })
            }
            Kind::Map(entries) => {
                let mut planned = Vec::with_capacity(entries.len());
                for entry in entries {
                    planned.push((self.plan(&entry.key)?, self.plan(&entry.value)?, entry.optional));
                }
                let all_const = planned.iter().all(|(k, v, _)| matches!((k, v), (Node::Const(_), Node::Const(_))));
                let node = Node::Map { entries: planned };
                Ok(if all_const { Node::Const(run::constant(&node)) } else { node })
            }
            Kind::Struct { name, fields } => {
                let mut planned = Vec::with_capacity(fields.len());
                for field in fields {
                    planned.push((field.name.clone(), self.plan(&field.value)?, field.optional));
                }
                Ok(Node::Message { name: name.clone(), fields: planned })
            }
            Kind::Fold(fold) => self.fold(fold),
        }
    }

    fn fold(&mut self, fold: &crate::ast::Fold) -> Planned {
        let init = Arc::new(self.plan(&fold.init)?);
        let range = self.plan(&fold.range)?;
        let before = self.slots;
        let (accu, var) = (self.slot(), self.slot());
        let var2 = fold.var2.as_ref().map(|_| self.slot());
        let mut vars = vec![(fold.var.clone(), var)];
        vars.extend(fold.var2.clone().zip(var2));
        self.scopes.push(Scope { accu: (fold.accu.clone(), accu, init), vars });
        let condition = self.plan(&fold.condition)?;
        let step = self.plan(&fold.step)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.vars.clear();
        }
        let result = self.plan(&fold.result)?;
        self.scopes.pop();
        self.slots = before;
        let step = owning(step, accu);
        Ok(Node::Fold(Box::new(Fold { range, accu, var, var2, condition, step, result })))
    }

    fn ident(&mut self, expr: &Expr) -> Planned {
        let Some(Reference::Ident(name)) = self.checked.reference(expr.id) else {
            return Err("unsupported expr".to_owned());
        };
        if matches!(self.checked.ty(expr.id), Type::Type(_)) && !self.is_variable(name) {
            let ty = decls::named_type(name, self.language).unwrap_or_else(|| Type::Struct(name.clone()));
            return Ok(Node::Const(Value::Type(plain(ty))));
        }
        if &**name == "google.protobuf.NullValue.NULL_VALUE" {
            return Ok(Node::Const(Value::Int(0)));
        }
        Ok(Node::Attr(self.variable(name)))
    }

    fn is_variable(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| *scope.accu.0 == *name || scope.vars.iter().any(|(own, _)| **own == *name))
            || self.variables.iter().any(|own| **own == *name)
    }

    fn variable(&self, name: &Arc<str>) -> Attr {
        for scope in self.scopes.iter().rev() {
            if scope.accu.0 == *name {
                return Attr::Accu {
                    slot: scope.accu.1,
                    init: scope.accu.2.clone(),
                    language: self.language.clone(),
                    path: Vec::new(),
                };
            }
            if let Some((_, slot)) = scope.vars.iter().find(|(own, _)| own == name) {
                return Attr::Local { slot: *slot, language: self.language.clone(), path: Vec::new() };
            }
        }
        let index = self.variables.iter().position(|own| own == name);
        Attr::Variable { name: name.clone(), index, language: self.language.clone(), path: Vec::new() }
    }

    fn call(&mut self, expr: &Expr, function: &Called, target: Option<&Expr>, args: &[Expr]) -> Planned {
        let mut planned: Vec<Node> = Vec::with_capacity(args.len() + 1);
        for arg in target.into_iter().chain(args) {
            planned.push(self.plan(arg)?);
        }
        let Some(function) = function.known().filter(|function| function.exists_in(self.language)) else {
            return Err(format!("no such overload: {}", &**function));
        };
        let name = function.name;
        if let (Name::Conditional, [_, _, _]) = (name, planned.as_slice()) {
            let no = planned.pop().map(|node| as_attr(inner(node), self.language));
            let yes = planned.pop().map(|node| as_attr(inner(node), self.language));
            if let (Some(yes), Some(no), Some(condition)) = (yes, no, planned.pop()) {
                let (condition, yes, no) = (Box::new(condition), Box::new(yes), Box::new(no));
                return Ok(Node::Attr(Attr::Choice { condition, yes, no }));
            }
            return Err("unsupported expr".to_owned());
        }
        let pair: Result<Box<[Node; 2]>, Vec<Node>> = match <[Node; 2]>::try_from(planned) {
            Ok(pair) => Ok(Box::new(pair)),
            Err(other) => Err(other),
        };
        let planned = match (name, pair) {
            (Name::And, Ok(pair)) => return Ok(Node::And(pair)),
            (Name::Or, Ok(pair)) => return Ok(Node::Or(pair)),
            (Name::Equals, Ok(sides)) => return Ok(Node::Equal { not: false, sides }),
            (Name::NotEquals, Ok(sides)) => return Ok(Node::Equal { not: true, sides }),
            (Name::Index | Name::OptionalIndex | Name::OptionalSelect, Ok(pair)) => {
                let [operand, index] = *pair;
                return index_of(operand, index, name != Name::Index, self.language);
            }
            (Name::OptionalOr | Name::OrValue, Ok(sides)) => {
                return Ok(Node::OptionalOr { value: name == Name::OrValue, sides });
            }
            (_, Ok(pair)) => pair.into_iter().collect(),
            (_, Err(planned)) => planned,
        };
        let overloads = self.checked.overloads(expr.id);
        let overload = match overloads {
            [one] => Some(*one),
            _ => None,
        };
        call_of(function, overload, planned, self.language)
    }
}

/// Plans a call of a function that has no node of its own.
fn call_of(
    function: &'static Function,
    overload: Option<&'static Overload>,
    args: Vec<Node>,
    language: &Language,
) -> Planned {
    let name = function.name;
    let kind = if let Some(singleton) = standard::singleton(name) {
        CallKind::Singleton(singleton)
    } else {
        let one = match (overload, function.overloads.as_slice()) {
            (Some(overload), _) => Some(overload),
            (None, [one]) => Some(one),
            _ => None,
        };
        match one {
            Some(overload) => CallKind::Guarded {
                overload,
                unguarded: matches!(name, Name::Contains | Name::StartsWith | Name::EndsWith | Name::Flatten),
                early: args.len() > 2 || name == Name::Format,
            },
            None => {
                CallKind::Dispatch(function.overloads.iter().filter(|overload| overload.exists_in(language)).collect())
            }
        }
    };
    let constant_pattern = match args.get(1) {
        Some(Node::Const(Value::String(pattern))) if matches!(name, Name::Matches | Name::Find | Name::FindAll) => {
            Some(Regex::constant(pattern)?)
        }
        _ => None,
    };
    let kind = constant_pattern.map_or(kind, CallKind::Regex);
    if name == Name::In
        && overload.is_some_and(|overload| overload.id == "in_list")
        && let Some(node) = in_set(&args)
    {
        return Ok(node);
    }
    let folds = matches!(
        name,
        Name::Bool
            | Name::Bytes
            | Name::Double
            | Name::Duration
            | Name::Dyn
            | Name::Int
            | Name::String
            | Name::Timestamp
            | Name::Type
            | Name::Uint
    );
    let is_const = matches!(args.as_slice(), [Node::Const(_)]);
    let charge = overload.map_or(function.charge, |overload| overload.charge).in_release(language);
    let language = matches!(name, Name::IndexOf | Name::LastIndexOf | Name::Format).then(|| language.clone());
    let node = Node::Call(Box::new(Call { function, charge, args, kind, language }));
    if folds && is_const {
        return match run::constant(&node) {
            Value::Error(error) => Err(error.to_string()),
            value => Ok(Node::Const(value)),
        };
    }
    Ok(node)
}

/// Returns the attribute inside `has(…)`, when it is a branch of a choice.
fn inner(node: Node) -> Node {
    match node {
        Node::Has(attr) => Node::Attr(attr),
        other => other,
    }
}

/// Returns the type without parameters, as values report it.
fn plain(ty: Type) -> Type {
    match ty {
        Type::List(_) => Type::list(Type::Dyn),
        Type::Map(_) => Type::map(Type::Dyn, Type::Dyn),
        other => other,
    }
}

/// Plans `x in […]` with constants as a look-up.
fn in_set(args: &[Node]) -> Option<Node> {
    let [item, Node::Const(Value::List(list))] = args else { return None };
    if list.is_empty() {
        return Some(Node::Const(Value::Bool(false)));
    }
    let mut set = std::collections::BTreeSet::new();
    for value in list.iter() {
        match value {
            Value::Bool(_) | Value::String(_) => {}
            #[allow(clippy::cast_precision_loss)]
            Value::Double(d) => {
                let int = crate::value::convert::double_to_int(d).filter(|i| *i as f64 == d);
                let uint = crate::value::convert::double_to_uint(d).filter(|u| *u as f64 == d);
                set.extend(int.map(|i| Key::of(&Value::Int(i))));
                set.extend(uint.map(|u| Key::of(&Value::Uint(u))));
                if d.is_nan() {
                    continue;
                }
            }
            #[allow(clippy::cast_precision_loss)]
            Value::Int(i) => {
                set.insert(Key::of(&Value::Double(i as f64)));
                set.extend(u64::try_from(i).ok().map(|u| Key::of(&Value::Uint(u))));
            }
            #[allow(clippy::cast_precision_loss)]
            Value::Uint(u) => {
                set.insert(Key::of(&Value::Double(u as f64)));
                set.extend(i64::try_from(u).ok().map(|i| Key::of(&Value::Int(i))));
            }
            _ => return None,
        }
        set.insert(Key::of(&value));
    }
    Some(Node::InSet { item: Box::new(item.clone()), set: Arc::new(set) })
}

/// Moves the accumulator where a step only adds to it, so that lists and maps grow in place.
fn owning(step: Node, accu: usize) -> Node {
    match step {
        Node::Call(mut call) if matches!(call.function.name, Name::Plus | Name::MapInsert) => {
            if matches!(call.args.first(), Some(Node::Attr(Attr::Accu { slot, path, .. })) if *slot == accu && path.is_empty())
                && let Node::Attr(attr) = call.args.remove(0)
            {
                call.args.insert(0, Node::Take(attr));
                if let (Name::Plus, [_, Node::List { items, optional }]) =
                    (call.function.name, call.args.as_mut_slice())
                    && *optional == [false]
                    && let Some(item) = items.pop()
                {
                    call.args.truncate(1);
                    return Node::Append { call, item: Box::new(item) };
                }
            }
            Node::Call(call)
        }
        Node::Attr(Attr::Choice { condition, yes, no }) => {
            let yes = match *yes {
                Attr::Relative { operand, language, path } if path.is_empty() => {
                    Attr::Relative { operand: Box::new(owning(*operand, accu)), language, path }
                }
                other => other,
            };
            Node::Attr(Attr::Choice { condition, yes: Box::new(yes), no })
        }
        other => other,
    }
}

/// Returns a node as an attribute to which qualifiers can be added.
fn as_attr(node: Node, language: &Language) -> Attr {
    match node {
        Node::Attr(attr) => attr,
        other => Attr::Relative { operand: Box::new(other), language: language.clone(), path: Vec::new() },
    }
}

/// Plans the access to an element of a list or a map.
fn index_of(operand: Node, index: Node, optional: bool, language: &Language) -> Planned {
    let mut attr = as_attr(operand, language);
    let kind = match index {
        Node::Const(
            value @ (Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_)),
        ) => QualifierKind::Const(value),
        Node::Const(value) => return Err(format!("invalid qualifier type: {}", print::go_type(&value))),
        other => QualifierKind::Attr(Arc::new(as_attr(other, language))),
    };
    attr.push(Qualifier { kind, optional });
    Ok(Node::Attr(attr))
}
