//! Whether a type is assignable to another, and what type variables must be for that.

use crate::types::Type;
use std::sync::Arc;

/// The name of a missing type: calls of unknown methods have none in the oldest releases.
pub(super) const NO_TYPE: &str = "<nil>";

/// The types that variables are bound to. Failed attempts are undone.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    variables: Vec<Option<Type>>,
    trail: Vec<(u32, Option<Type>)>,
}

impl Unifier {
    pub(super) fn fresh(&mut self) -> Type {
        self.variables.push(None);
        Type::Var(self.variables.len() as u32 - 1)
    }

    /// Creates `count` variables, and returns the number of the first one.
    pub(super) fn fresh_all(&mut self, count: usize) -> u32 {
        let first = self.variables.len() as u32;
        self.variables.resize(self.variables.len() + count, None);
        first
    }

    /// Follows variables to what they are bound to. Returns an unbound variable or a type that is not a variable.
    pub(super) fn known<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        while let Some(found) = self.find(ty) {
            ty = found;
        }
        ty
    }

    /// Returns the state for [`Unifier::reset`].
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.trail.len(), self.variables.len())
    }

    /// Undoes all bindings and variables since the mark.
    pub(super) fn reset(&mut self, (trail, variables): (usize, usize)) {
        self.undo(trail);
        self.variables.truncate(variables);
    }

    fn find(&self, ty: &Type) -> Option<&Type> {
        match ty {
            Type::Var(number) => self.variables.get(*number as usize)?.as_ref(),
            _ => None,
        }
    }

    fn bind(&mut self, variable: &Type, ty: Type) {
        if let Type::Var(number) = variable {
            let old = self.variables[*number as usize].replace(ty);
            self.trail.push((*number, old));
        }
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((number, old)) = self.trail.pop() {
                self.variables[number as usize] = old;
            }
        }
    }

    pub(super) fn assignable(&mut self, to: &Type, from: &Type) -> bool {
        self.attempt(|unifier| unifier.internal(to, from))
    }

    pub(super) fn assignable_all<'a>(&mut self, mut pairs: impl Iterator<Item = (&'a Type, &'a Type)>) -> bool {
        self.attempt(|unifier| pairs.all(|(to, from)| unifier.internal(to, from)))
    }

    /// One step of an [`attempt`](Unifier::attempt).
    pub(super) fn assignable_step(&mut self, to: &Type, from: &Type) -> bool {
        self.internal(to, from)
    }

    /// Tries something, and undoes its bindings if it fails.
    pub(super) fn attempt(&mut self, what: impl FnOnce(&mut Unifier) -> bool) -> bool {
        let mark = self.trail.len();
        let ok = what(self);
        if !ok {
            self.undo(mark);
        }
        ok
    }

    fn internal(&mut self, t1: &Type, t2: &Type) -> bool {
        if is_variable(t2) {
            let (valid, substituted) = self.substitution(t1, t2);
            if valid {
                return true;
            }
            if substituted {
                return false;
            }
        }
        if is_variable(t1) {
            return self.substitution(t2, t1).0;
        }
        if dyn_or_error(t1) || dyn_or_error(t2) {
            return true;
        }
        match (t1, t2) {
            (Type::Null, other) | (other, Type::Null) => nullable(other),
            (Type::Type(_), other) => matches!(other, Type::Type(_)),
            (Type::List(a), Type::List(b)) => self.internal(a, b),
            (Type::Map(a), Type::Map(b)) => self.internal(&a.0, &b.0) && self.internal(&a.1, &b.1),
            (Type::Opaque(a, ap), Type::Opaque(b, bp)) => {
                a == b && ap.len() == bp.len() && ap.iter().zip(bp.iter()).all(|(a, b)| self.internal(a, b))
            }
            (scalar, Type::Wrapper(inner)) => {
                **inner == *scalar || matches!(scalar, Type::Wrapper(own) if own == inner)
            }
            (Type::Wrapper(inner), scalar) => **inner == *scalar,
            (a, b) => a == b,
        }
    }

    /// Returns whether variable `t2` can be bound to `t1`, and whether it was bound before.
    fn substitution(&mut self, t1: &Type, t2: &Type) -> (bool, bool) {
        if t1 == t2 {
            return (true, true);
        }
        if let Some(current) = self.find(t2).cloned() {
            if *t1 == current {
                return (true, true);
            }
            if self.internal(t1, &current) {
                let general = most_general(t1, &current).clone();
                if self.not_referenced(t2, &general) {
                    self.bind(t2, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.not_referenced(t2, t1) {
            if matches!(t2, Type::Param(_)) {
                return (true, false);
            }
            self.bind(t2, t1.clone());
            return (true, false);
        }
        (false, false)
    }

    fn not_referenced(&self, variable: &Type, within: &Type) -> bool {
        if variable == within {
            return false;
        }
        match within {
            Type::Var(_) => self.find(within).is_none_or(|inner| self.not_referenced(variable, inner)),
            Type::List(inner) | Type::Type(Some(inner)) => self.not_referenced(variable, inner),
            Type::Map(entry) => self.not_referenced(variable, &entry.0) && self.not_referenced(variable, &entry.1),
            Type::Opaque(_, parameters) => parameters.iter().all(|parameter| self.not_referenced(variable, parameter)),
            _ => true,
        }
    }

    /// Returns the type with variables replaced by their bindings. Unbound variables become `dyn` if `free_to_dyn`.
    pub(super) fn substitute(&self, ty: &Type, free_to_dyn: bool) -> Type {
        if let Some(found) = self.find(ty) {
            return self.substitute(found, free_to_dyn);
        }
        if !is_open(ty, free_to_dyn) {
            return ty.clone();
        }
        match ty {
            Type::Var(_) | Type::Param(_) if free_to_dyn => Type::Dyn,
            Type::List(inner) => Type::list(self.substitute(inner, free_to_dyn)),
            Type::Map(entry) => {
                Type::map(self.substitute(&entry.0, free_to_dyn), self.substitute(&entry.1, free_to_dyn))
            }
            Type::Type(Some(inner)) => Type::Type(Some(Arc::new(self.substitute(inner, free_to_dyn)))),
            Type::Opaque(name, parameters) => {
                Type::Opaque(name.clone(), parameters.iter().map(|p| self.substitute(p, free_to_dyn)).collect())
            }
            other => other.clone(),
        }
    }
}

/// Returns whether a type contains a variable, or a type parameter if `or_parameter`.
pub(super) fn is_open(ty: &Type, or_parameter: bool) -> bool {
    match ty {
        Type::Var(_) => true,
        Type::Param(_) => or_parameter,
        Type::List(inner) | Type::Type(Some(inner)) => is_open(inner, or_parameter),
        Type::Map(entry) => is_open(&entry.0, or_parameter) || is_open(&entry.1, or_parameter),
        Type::Opaque(_, parameters) => parameters.iter().any(|parameter| is_open(parameter, or_parameter)),
        _ => false,
    }
}

/// Returns a declared type with its parameters replaced by the checker's variables from `first` on.
pub(super) fn instantiate(ty: &Type, first: u32) -> Type {
    match ty {
        Type::Var(number) => Type::Var(first + number),
        _ if !is_open(ty, false) => ty.clone(),
        Type::List(inner) => Type::list(instantiate(inner, first)),
        Type::Map(entry) => Type::map(instantiate(&entry.0, first), instantiate(&entry.1, first)),
        Type::Type(Some(inner)) => Type::Type(Some(Arc::new(instantiate(inner, first)))),
        Type::Opaque(name, parameters) => {
            Type::Opaque(name.clone(), parameters.iter().map(|p| instantiate(p, first)).collect())
        }
        other => other.clone(),
    }
}

/// Returns `true` if neither type is assignable to the other, whatever their variables are. `false` means unknown.
pub(super) fn never_assignable(a: &Type, b: &Type) -> bool {
    let is_special = |ty: &Type| is_variable(ty) || dyn_or_error(ty) || matches!(ty, Type::Null | Type::Wrapper(_));
    std::mem::discriminant(a) != std::mem::discriminant(b) && !is_special(a) && !is_special(b)
}

fn is_variable(ty: &Type) -> bool {
    matches!(ty, Type::Var(_) | Type::Param(_))
}

fn dyn_or_error(ty: &Type) -> bool {
    matches!(ty, Type::Dyn | Type::Any | Type::Error)
}

fn nullable(ty: &Type) -> bool {
    if let Type::Opaque(name, _) = ty {
        return &**name != NO_TYPE;
    }
    matches!(
        ty,
        Type::Struct(_) | Type::Any | Type::Duration | Type::Timestamp | Type::Null | Type::Wrapper(_) | Type::Dyn
    )
}

pub(super) fn most_general<'t>(t1: &'t Type, t2: &'t Type) -> &'t Type {
    if equal_or_less_specific(t1, t2) { t1 } else { t2 }
}

fn equal_or_less_specific(t1: &Type, t2: &Type) -> bool {
    if t1.is_dyn() || is_variable(t1) {
        return true;
    }
    if t2.is_dyn() || is_variable(t2) {
        return false;
    }
    match (t1, t2) {
        (Type::List(a), Type::List(b)) => equal_or_less_specific(a, b),
        (Type::Map(a), Type::Map(b)) => equal_or_less_specific(&a.0, &b.0) && equal_or_less_specific(&a.1, &b.1),
        (Type::Opaque(a, ap), Type::Opaque(b, bp)) => {
            a == b && ap.len() == bp.len() && ap.iter().zip(bp.iter()).all(|(a, b)| equal_or_less_specific(a, b))
        }
        (Type::Type(_), Type::Type(_)) => true,
        // A wrapper is treated as the scalar in it.
        (Type::Wrapper(a), b) => **a == *b || t1 == t2,
        (a, Type::Wrapper(b)) => **b == *a,
        (a, b) => a == b,
    }
}
