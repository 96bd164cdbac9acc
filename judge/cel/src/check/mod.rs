//! The type checker: the type of every node, and the overloads that calls can reach.

mod unify;
mod validate;

use crate::ast::{Called, Expr, Id, Kind, Literal};
use crate::decls::{self, Function, Functions, Name, Overload};
use crate::issue::{Issues, Reports, UNDEFINED_FIELD};
use crate::parse::{Parsed, Places};
use crate::release::{Change, Language};
use crate::types::Type;
use kubeshape_schema::nearest;
use std::sync::Arc;
use unify::{NO_TYPE, Unifier, instantiate, is_open, most_general, never_assignable};
pub(crate) use validate::validate;

/// What the checker asks of an environment.
pub(crate) trait Declarations {
    /// Returns the release whose functions and types exist.
    fn language(&self) -> &Language;
    /// The container in which names are looked up.
    fn container(&self) -> &str;
    /// Returns the name and the type of a variable.
    fn variable(&self, name: &str) -> Option<&(Arc<str>, Type)>;
    /// Returns whether an object type exists.
    fn has_object(&self, name: &str) -> bool;
    /// Returns whether a function exists that not all environments have.
    fn has_function(&self, name: Name) -> bool;
    /// Returns the type of a field of an object type.
    fn field(&self, object: &str, field: &str) -> Option<Type>;
    /// The fields of an object type that are similar to an unknown name.
    fn meant_fields(&self, object: &str, field: &str) -> Vec<String>;
    /// The names that are similar to an unknown one: variables, and fields of `self`.
    fn meant_names(&self, name: &str) -> Vec<String>;
}

/// What a node refers to.
#[derive(Clone, Debug)]
pub(crate) enum Reference {
    /// A variable or a type, by its full name.
    Ident(Arc<str>),
    /// The only overload that can be reached.
    Overload(&'static Overload),
    /// The overloads that can be reached.
    Overloads(Vec<&'static Overload>),
}

/// A checked expression.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) expr: Expr,
    pub(crate) places: Places,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
}

impl Checked {
    pub(crate) fn ty(&self, id: Id) -> &Type {
        self.types.get(id as usize).and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    /// Returns the types of all parts.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Type> {
        self.types.iter().flatten()
    }

    pub(crate) fn reference(&self, id: Id) -> Option<&Reference> {
        self.references.get(id as usize).and_then(Option::as_ref)
    }

    pub(crate) fn overloads(&self, id: Id) -> &[&'static Overload] {
        match self.reference(id) {
            Some(Reference::Overload(overload)) => std::slice::from_ref(overload),
            Some(Reference::Overloads(overloads)) => overloads,
            _ => &[],
        }
    }

    /// All references to variables and types.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.references.iter().filter_map(|reference| match reference {
            Some(Reference::Ident(name)) => Some(&**name),
            _ => None,
        })
    }
}

/// Checks a parsed expression.
pub(crate) fn check(parsed: Parsed, declarations: &dyn Declarations, source: &str) -> Result<Checked, Issues> {
    let Parsed { mut expr, places } = parsed;
    let mut checker = Checker {
        declarations,
        types: std::iter::repeat_with(|| None).take(places.len()).collect(),
        references: std::iter::repeat_with(|| None).take(places.len()).collect(),
        places,
        unifier: Unifier::default(),
        issues: Reports::default(),
        scopes: Vec::new(),
        name: String::new(),
    };
    checker.check(&mut expr);
    let Checker { mut types, references, places, unifier, issues, .. } = checker;
    if !issues.is_empty() {
        return Err(issues.of(source));
    }
    for ty in types.iter_mut().flatten() {
        if is_open(ty, true) {
            *ty = unifier.substitute(ty, true);
        }
    }
    Ok(Checked { expr, places, types, references })
}

struct Checker<'a> {
    declarations: &'a dyn Declarations,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
    places: Places,
    unifier: Unifier,
    issues: Reports,
    scopes: Vec<(Arc<str>, Type)>,
    /// A buffer in which dotted names are built.
    name: String,
}

impl Checker<'_> {
    fn report(&mut self, id: Id, message: String) {
        self.issues.report(self.places.of(id), message);
    }

    fn set(&mut self, id: Id, ty: Type) {
        if let Some(Some(old)) = self.types.get(id as usize)
            && *old != ty
        {
            let message = format!("incompatible type already exists for expression: ({id}) old:{old}, new:{ty}");
            return self.report(id, message);
        }
        if let Some(slot) = self.types.get_mut(id as usize) {
            *slot = Some(ty);
        }
    }

    fn get(&self, id: Id) -> Type {
        self.types.get(id as usize).cloned().flatten().unwrap_or(Type::Error)
    }

    fn refer(&mut self, id: Id, reference: Reference) {
        if let Some(slot) = self.references.get_mut(id as usize) {
            *slot = Some(reference);
        }
    }

    /// Looks up each name that the given one can mean in the container, longest first. Returns the first match.
    fn look_up<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some(absolute) = name.strip_prefix('.') {
            return find(absolute);
        }
        let mut container = self.declarations.container();
        while !container.is_empty() {
            let found = find(&format!("{container}.{name}"));
            if found.is_some() {
                return found;
            }
            container = container.rfind('.').map_or("", |dot| &container[..dot]);
        }
        find(name)
    }

    fn ident(&self, name: &str) -> Option<(Arc<str>, Type)> {
        self.look_up(name, |name| {
            if let Some(own) = self.scopes.iter().rev().find(|(own, _)| **own == *name) {
                return Some(own.clone());
            }
            if let Some(own) = self.declarations.variable(name) {
                return Some(own.clone());
            }
            let ty = decls::named_type(name, self.declarations.language())
                .or_else(|| self.declarations.has_object(name).then(|| Type::Struct(name.into())))
                .map(|ty| Type::Type(Some(Arc::new(ty))))
                .or_else(|| (name == "google.protobuf.NullValue.NULL_VALUE").then_some(Type::Int))?;
            Some((name.into(), ty))
        })
    }

    fn exists(&self, function: &Function) -> bool {
        function.exists_in(self.declarations.language()) && self.declarations.has_function(function.name)
    }

    /// Returns the function of a name, if the release has it.
    fn function(&self, name: &Called) -> Option<&'static Function> {
        let exists = |function: &&Function| self.exists(function);
        match name.known() {
            Some(function) if self.declarations.container().is_empty() => Some(function).filter(exists),
            _ => self.look_up(name, |name| Functions::all().named(name).filter(exists)),
        }
    }

    /// Returns the function `prefix.name`, if the expression before a call is a dotted name.
    fn function_of(&mut self, receiver: &Expr, name: &str) -> Option<&'static Function> {
        let mut text = std::mem::take(&mut self.name);
        text.clear();
        let found = receiver.push_qualified_name(&mut text).then(|| {
            text.push('.');
            text.push_str(name);
            self.look_up(&text, |name| Functions::all().named(name).filter(|function| self.exists(function)))
        });
        self.name = text;
        found.flatten()
    }

    /// Returns the variable or type of a dotted name, if the expression is one.
    fn qualified(&mut self, expr: &Expr) -> Option<(Arc<str>, Type)> {
        let mut text = std::mem::take(&mut self.name);
        text.clear();
        let found = if expr.push_qualified_name(&mut text) { self.ident(&text) } else { None };
        self.name = text;
        found
    }

    fn check(&mut self, expr: &mut Expr) {
        let id = expr.id;
        match &mut expr.kind {
            Kind::Unspecified => self.report(id, "unexpected unspecified type: exprImpl".to_owned()),
            Kind::Literal(literal) => {
                let ty = match literal {
                    Literal::Null => Type::Null,
                    Literal::Bool(_) => Type::Bool,
                    Literal::Int(_) => Type::Int,
                    Literal::Uint(_) => Type::Uint,
                    Literal::Double(_) => Type::Double,
                    Literal::String(_) => Type::String,
                    Literal::Bytes(_) => Type::Bytes,
                };
                self.set(id, ty);
            }
            Kind::Ident(name) => {
                if let Some((full, ty)) = self.ident(name) {
                    self.set(id, ty);
                    self.refer(id, Reference::Ident(full.clone()));
                    *name = full;
                } else {
                    self.set(id, Type::Error);
                    self.undeclared_name(id, &name.clone());
                }
            }
            Kind::Select { .. } => self.select(expr),
            Kind::Call { .. } => self.call(expr),
            Kind::List { .. } => self.list(expr),
            Kind::Map(_) => self.map(expr),
            Kind::Struct { .. } => self.message(expr),
            Kind::Fold(_) => self.fold(expr),
        }
    }

    /// Returns whether follow-up errors are left out. If not, a call of an unknown method has no type.
    fn reports_once(&self) -> bool {
        self.declarations.language().has(Change::ErrorsOnce)
    }

    /// Reports an unknown name. `meant` returns similar names.
    fn undeclared(&mut self, id: Id, name: &str, meant: impl FnOnce() -> Vec<String>) {
        let container = self.declarations.container();
        let message = format!("undeclared reference to '{name}' (in container '{container}')");
        self.issues.report_name(self.places.of(id), message, meant);
    }

    fn undeclared_name(&mut self, id: Id, name: &str) {
        let declarations = self.declarations;
        let locals = std::mem::take(&mut self.scopes);
        self.undeclared(id, name, || {
            let near = nearest(name, locals.iter().map(|(own, _)| &**own));
            if near.is_empty() { declarations.meant_names(name) } else { near }
        });
        self.scopes = locals;
    }

    fn undeclared_function(&mut self, id: Id, name: &str) {
        let language = self.declarations.language();
        self.undeclared(id, name, || nearest(name, Functions::all().in_release(language)));
    }

    fn select(&mut self, expr: &mut Expr) {
        let id = expr.id;
        if let Some((full, ty)) = self.qualified(expr) {
            self.set(id, ty);
            self.refer(id, Reference::Ident(full.clone()));
            expr.kind = Kind::Ident(full);
            return;
        }
        let Kind::Select { operand, field, test_only } = &mut expr.kind else { return };
        let ty = self.field(id, operand, &field.clone(), false);
        let ty = if *test_only { Type::Bool } else { ty };
        let ty = self.unifier.substitute(&ty, false);
        self.set(id, ty);
    }

    fn field(&mut self, id: Id, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.unifier.substitute(&self.get(operand.id), false);
        let inner = operand_type.as_optional();
        let optional = optional || inner.is_some();
        let target = inner.unwrap_or(&operand_type);
        let result = match target {
            Type::Map(entry) => entry.1.clone(),
            Type::Struct(name) => self.object_field(id, name, field).unwrap_or(Type::Error),
            Type::Var(_) | Type::Param(_) => {
                self.unifier.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                if !matches!(other, Type::Dyn | Type::Any | Type::Error) {
                    let message = format!(
                        "type '{}' does not support field selection",
                        other.in_message(self.declarations.language())
                    );
                    self.report(id, message);
                }
                Type::Dyn
            }
        };
        if optional { Type::optional(result) } else { result }
    }

    fn object_field(&mut self, id: Id, object: &str, field: &str) -> Option<Type> {
        if !self.declarations.has_object(object) && decls::named_type(object, self.declarations.language()).is_none() {
            self.report(id, format!("unexpected failed resolution of '{object}'"));
            return None;
        }
        let found = decls::well_known_field(object, field).or_else(|| self.declarations.field(object, field));
        if found.is_none() {
            let message = format!("{UNDEFINED_FIELD}{field}'");
            let declarations = self.declarations;
            self.issues.report_name(self.places.of(id), message, || declarations.meant_fields(object, field));
        }
        found
    }

    fn call(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::Call { function, target, args } = &mut expr.kind else { return };
        if function.is(Name::OptionalSelect) {
            if let [operand, field] = args.as_mut_slice()
                && let Kind::Literal(Literal::String(field)) = &field.kind
            {
                let ty = self.field(id, operand, &field.clone(), true);
                let ty = self.unifier.substitute(&ty, false);
                self.set(id, ty);
                let select = self.function(function).map(|function| function.overloads.iter().collect());
                self.refer(id, Reference::Overloads(select.unwrap_or_default()));
            }
            return;
        }
        for arg in args.iter_mut() {
            self.check(arg);
        }
        let Some(receiver) = target else {
            if let Some(found) = self.function(function) {
                *function = Called::Known(found);
                self.resolve(id, found, None, args);
            } else {
                self.undeclared_function(id, function);
                self.set(id, Type::Error);
            }
            return;
        };
        if let Some(found) = self.function_of(receiver, function) {
            *function = Called::Known(found);
            *target = None;
            self.resolve(id, found, None, args);
            return;
        }
        self.check(receiver);
        if let Some(found) = self.function(function) {
            self.resolve(id, found, Some(receiver), args);
        } else {
            let known = self.reports_once();
            self.set(id, if known { Type::Error } else { Type::Opaque(NO_TYPE.into(), Arc::from([])) });
            self.undeclared_function(id, function);
        }
    }

    fn resolve(&mut self, id: Id, function: &'static Function, target: Option<&Expr>, args: &[Expr]) {
        let given = || target.into_iter().chain(args).map(|arg| arg.id);
        let count = args.len() + usize::from(target.is_some());
        let mut result: Option<Type> = None;
        let mut reached: Option<Reference> = None;
        for overload in &function.overloads {
            if overload.member != target.is_some() {
                continue;
            }
            if overload.args.len() != count {
                self.count_variables(overload);
                continue;
            }
            // An overload that the release does not have matters only if it accepts the arguments.
            let mark = self.unifier.mark();
            let found = self.result_of(overload, given());
            let Some(ty) = found.filter(|_| overload.exists_in(self.declarations.language())) else {
                self.unifier.reset(mark);
                self.count_variables(overload);
                if matches!(function.name, Name::And | Name::Or) && self.reports_once() {
                    return self.no_bools(id, args);
                }
                continue;
            };
            reached = Some(match reached {
                None => Reference::Overload(overload),
                Some(Reference::Overload(first)) => Reference::Overloads(vec![first, overload]),
                Some(Reference::Overloads(mut all)) => {
                    all.push(overload);
                    Reference::Overloads(all)
                }
                Some(other) => other,
            });
            result = Some(match result {
                None => ty,
                Some(result) if !result.is_dyn() && ty != result => Type::Dyn,
                Some(result) => result,
            });
        }
        if let (Some(ty), Some(reached)) = (result, reached) {
            self.set(id, ty);
            self.refer(id, reached);
        } else {
            let mut shown: Vec<String> = given()
                .map(|id| self.unifier.substitute(&self.get(id), true).in_message(self.declarations.language()))
                .collect();
            let receiver = if target.is_some() { format!("{}.", shown.remove(0)) } else { String::new() };
            let message = format!(
                "found no matching overload for '{}' applied to '{receiver}({})'",
                function.text,
                shown.join(", ")
            );
            self.report(id, message);
            self.set(id, Type::Error);
        }
    }

    /// Returns the type of a call by a signature, if it accepts the arguments.
    fn result_of(&mut self, overload: &'static Overload, given: impl Iterator<Item = Id> + Clone) -> Option<Type> {
        const UNKNOWN: &Type = &Type::Error;
        let types = &self.types;
        let type_of = |id: Id| types.get(id as usize).and_then(Option::as_ref).unwrap_or(UNKNOWN);
        let unifier = &mut self.unifier;
        // Most signatures fail here, before any type is copied.
        if given.clone().zip(&overload.args).any(|(id, ty)| never_assignable(unifier.known(type_of(id)), ty)) {
            return None;
        }
        if overload.parameters == 0 {
            let takes = unifier.assignable_all(given.map(type_of).zip(&overload.args));
            return takes.then(|| overload.result.clone());
        }
        let first = unifier.fresh_all(overload.parameters);
        let takes = unifier.attempt(|unifier| {
            given.map(type_of).zip(&overload.args).all(|(ty, declared)| match declared {
                Type::Var(number) => unifier.assignable_step(ty, &Type::Var(first + number)),
                declared => unifier.assignable_step(ty, &instantiate(declared, first)),
            })
        });
        takes.then(|| unifier.substitute(&instantiate(&overload.result, first), false))
    }

    /// Creates the variables of a signature that does not fit: their numbers appear in messages.
    fn count_variables(&mut self, overload: &Overload) {
        if overload.parameters > 0 && overload.exists_in(self.declarations.language()) {
            self.unifier.fresh_all(overload.parameters);
        }
    }

    /// Reports arguments of `&&` and `||` that are not booleans.
    fn no_bools(&mut self, id: Id, args: &[Expr]) {
        for arg in args {
            let ty = self.get(arg.id);
            if !self.unifier.assignable(&ty, &Type::Bool) {
                self.report(
                    arg.id,
                    format!("expected type 'bool' but found '{}'", ty.in_message(self.declarations.language())),
                );
            }
        }
        self.set(id, Type::Error);
    }

    /// Returns the type inside an optional element. Reports an element that is not optional.
    fn unwrap(&mut self, id: Id, ty: Type) -> Type {
        if let Some(inner) = ty.as_optional() {
            return inner.clone();
        }
        if !ty.is_dyn() {
            self.mismatch(id, &Type::optional(ty.clone()), &ty);
        }
        ty
    }

    fn mismatch(&mut self, id: Id, expected: &Type, actual: &Type) {
        let message = format!(
            "expected type '{}' but found '{}'",
            expected.in_message(self.declarations.language()),
            actual.in_message(self.declarations.language())
        );
        self.report(id, message);
    }

    fn join(&mut self, id: Id, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        if self.unifier.assignable(&previous, &current) {
            return most_general(&previous, &current).clone();
        }
        if self.reports_once() {
            return Type::Dyn;
        }
        self.mismatch(id, &previous, &current);
        Type::Error
    }

    fn list(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::List { elements, optional } = &mut expr.kind else { return };
        let mut joined = None;
        for (i, element) in elements.iter_mut().enumerate() {
            self.check(element);
            let mut ty = self.get(element.id);
            if optional.contains(&i) {
                ty = self.unwrap(element.id, ty);
            }
            joined = Some(self.join(element.id, joined, ty));
        }
        let element = joined.unwrap_or_else(|| self.unifier.fresh());
        self.set(id, Type::list(element));
    }

    fn map(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::Map(entries) = &mut expr.kind else { return };
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(&mut entry.key);
            let key = self.get(entry.key.id);
            keys = Some(self.join(entry.key.id, keys, key));
            self.check(&mut entry.value);
            let mut value = self.get(entry.value.id);
            if entry.optional {
                value = self.unwrap(entry.value.id, value);
            }
            values = Some(self.join(entry.value.id, values, value));
        }
        let key = keys.unwrap_or_else(|| self.unifier.fresh());
        let value = values.unwrap_or_else(|| self.unifier.fresh());
        self.set(id, Type::map(key, value));
    }

    fn message(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::Struct { name, fields } = &mut expr.kind else { return };
        let Some((full, ty)) = self.ident(name) else {
            let name = name.clone();
            self.undeclared_name(id, &name);
            self.set(id, Type::Error);
            return;
        };
        *name = full.clone();
        self.refer(id, Reference::Ident(full.clone()));
        let mut result = Type::Error;
        match &ty {
            Type::Error => {}
            Type::Type(inner) => {
                let inner = inner.as_deref().cloned().unwrap_or(Type::Type(None));
                let well_known = matches!(
                    inner,
                    Type::Any
                        | Type::Timestamp
                        | Type::Duration
                        | Type::Dyn
                        | Type::Null
                        | Type::Wrapper(_)
                        | Type::Struct(_)
                ) || inner == Type::list(Type::Dyn)
                    || inner == Type::map(Type::String, Type::Dyn);
                if well_known {
                    result = inner;
                } else {
                    self.report(id, format!("'{}' is not a message type", inner.name()));
                }
            }
            other => self.report(id, format!("'{}' is not a type", other.name())),
        }
        self.set(id, result);
        for field in fields {
            self.check(&mut field.value);
            let expected = self.object_field(field.id, &full, &field.name).unwrap_or(Type::Error);
            let mut actual = self.get(field.value.id);
            if field.optional {
                actual = self.unwrap(field.value.id, actual);
            }
            if !self.unifier.assignable(&expected, &actual) {
                let message = format!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    expected.in_message(self.declarations.language()),
                    actual.in_message(self.declarations.language())
                );
                self.report(field.id, message);
            }
        }
    }

    fn fold(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let Kind::Fold(fold) = &mut expr.kind else { return };
        self.check(&mut fold.range);
        self.check(&mut fold.init);
        let range = self.unifier.substitute(&self.get(fold.range.id), false);
        let accu = self.get(fold.init.id);
        self.scopes.push((fold.accu.clone(), accu.clone()));
        let two = fold.var2.is_some();
        let (first, second) = match &range {
            Type::List(element) if two => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Error),
            Type::Map(entry) => (entry.0.clone(), entry.1.clone()),
            Type::Dyn | Type::Error | Type::Var(_) | Type::Param(_) => {
                self.unifier.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    other.in_message(self.declarations.language())
                );
                self.report(fold.range.id, message);
                (Type::Error, Type::Error)
            }
        };
        let depth = self.scopes.len();
        self.scopes.push((fold.var.clone(), first));
        if let Some(var2) = &fold.var2 {
            self.scopes.push((var2.clone(), second));
        }
        self.check(&mut fold.condition);
        self.assert(fold.condition.id, &Type::Bool);
        self.check(&mut fold.step);
        self.assert(fold.step.id, &accu);
        self.scopes.truncate(depth);
        self.check(&mut fold.result);
        self.scopes.pop();
        let ty = self.unifier.substitute(&self.get(fold.result.id), false);
        self.set(id, ty);
    }

    fn assert(&mut self, id: Id, expected: &Type) {
        let actual = self.get(id);
        if !self.unifier.assignable(expected, &actual) {
            self.mismatch(id, expected, &actual);
        }
    }
}
