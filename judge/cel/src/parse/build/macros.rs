//! Macros: calls that are replaced by other expressions.

use super::Builder;
use crate::ast::{ACCUMULATOR, Entry, Expr, Fold, Id, Kind, Literal, accumulator};
use crate::decls::Name;
use crate::release::Change;
use std::sync::Arc;

/// A variable that is never read.
const UNUSED: &str = "#unused";
/// The name of the accumulator before it was hidden; no variable may have it.
const OLD_ACCUMULATOR: &str = "__result__";
const SORT_INPUT: &str = "@__sortBy_input__";

/// An error: the number of its node, and its message.
type Wrong = (Id, String);

/// The target and the arguments of a call that is not a macro.
type Untaken = (Option<Expr>, Vec<Expr>);

impl Builder<'_> {
    /// Expands a call if it is a macro. Returns its parts otherwise.
    pub(super) fn expand(
        &mut self,
        id: Id,
        function: &str,
        target: Option<Expr>,
        args: Vec<Expr>,
    ) -> Result<Expr, Untaken> {
        let mut maker = Maker { builder: self, id };
        let macros = maker.builder.macros;
        let expanded = match (function, target, args.len()) {
            ("has", None, 1) => maker.has(args),
            ("all" | "exists" | "exists_one", Some(target), 2) => maker.quantifier(function, target, args),
            ("map", Some(target), 2 | 3) => maker.map(target, args),
            ("filter", Some(target), 2) => maker.filter(target, args),
            ("optMap" | "optFlatMap", Some(target), 2) if macros.optional() => maker.opt_map(function, target, args),
            ("sortBy", Some(target), 2) if macros.sort_by() => maker.sort_by(target, args),
            ("all" | "exists" | "exists_one" | "existsOne", Some(target), 3) if macros.two_variables() => {
                maker.quantifier(function, target, args)
            }
            ("transformList", Some(target), 3 | 4) if macros.two_variables() => maker.transform_list(target, args),
            ("transformMap" | "transformMapEntry", Some(target), 3 | 4) if macros.two_variables() => {
                maker.transform_map(function, target, args)
            }
            (_, target, _) => return Err((target, args)),
        };
        Ok(match expanded {
            Ok(expr) => {
                self.places.remove(id);
                expr
            }
            Err((at, message)) => {
                let place = self.places.offset(at);
                self.places.remove(id);
                self.error(place, message)
            }
        })
    }
}

/// Creates the nodes of an expansion. All of them have the position of the macro's call.
struct Maker<'b, 'a> {
    builder: &'b mut Builder<'a>,
    id: Id,
}

impl Maker<'_, '_> {
    fn node(&mut self, kind: Kind) -> Expr {
        let place = self.builder.places.offset(self.id);
        Expr::new(self.builder.places.add(place), kind)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.node(Kind::Literal(literal))
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.node(Kind::List { elements, optional: Vec::new() })
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(Kind::Ident(name.into()))
    }

    fn accu(&mut self) -> Expr {
        self.node(Kind::Ident(accumulator()))
    }

    fn call(&mut self, function: Name, args: Vec<Expr>) -> Expr {
        self.node(Kind::Call { function: function.into(), target: None, args })
    }

    fn member(&mut self, function: Name, target: Expr, args: Vec<Expr>) -> Expr {
        self.node(Kind::Call { function: function.into(), target: Some(Box::new(target)), args })
    }

    fn has(&mut self, args: Vec<Expr>) -> Result<Expr, Wrong> {
        let mut args = args.into_iter();
        match args.next() {
            Some(Expr { kind: Kind::Select { operand, field, .. }, .. }) => {
                Ok(self.node(Kind::Select { operand, field, test_only: true }))
            }
            other => {
                let is_placed = self.builder.macros.0.has(Change::PlacesOfHas);
                let at = other.filter(|_| is_placed).map_or(self.id, |expr| expr.id);
                Err((at, "invalid argument to has() macro".to_owned()))
            }
        }
    }

    fn quantifier(&mut self, function: &str, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Wrong> {
        let (var, var2) = variables(&args, 1)?;
        let predicate = args.pop().ok_or_else(|| (self.id, String::new()))?;
        let (init, condition, step, result);
        match function {
            "all" => {
                init = self.literal(Literal::Bool(true));
                let accu = self.accu();
                condition = self.call(Name::NotStrictlyFalse, vec![accu]);
                let accu = self.accu();
                step = self.call(Name::And, vec![accu, predicate]);
                result = self.accu();
            }
            "exists" => {
                init = self.literal(Literal::Bool(false));
                let accu = self.accu();
                let not = self.call(Name::Not, vec![accu]);
                condition = self.call(Name::NotStrictlyFalse, vec![not]);
                let accu = self.accu();
                step = self.call(Name::Or, vec![accu, predicate]);
                result = self.accu();
            }
            _ => {
                init = self.literal(Literal::Int(0));
                condition = self.literal(Literal::Bool(true));
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                let more = self.call(Name::Plus, vec![accu, one]);
                let accu = self.accu();
                step = self.call(Name::Conditional, vec![predicate, more, accu]);
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                result = self.call(Name::Equals, vec![accu, one]);
            }
        }
        Ok(self.fold(Fold { range, var, var2, accu: accumulator(), init, condition, step, result }))
    }

    fn fold(&mut self, fold: Fold) -> Expr {
        self.node(Kind::Fold(Box::new(fold)))
    }

    fn map(&mut self, range: Expr, args: Vec<Expr>) -> Result<Expr, Wrong> {
        let var = variable(&args[0], "argument is not an identifier")?;
        free(&args[0], &var)?;
        self.gather_list(range, var, None, args.into_iter().skip(1).collect())
    }

    fn transform_list(&mut self, range: Expr, args: Vec<Expr>) -> Result<Expr, Wrong> {
        let (var, var2) = variables(&args[..3], 1)?;
        self.gather_list(range, var, var2, args.into_iter().skip(2).collect())
    }

    /// Builds a list. `parts` has an optional filter and the expression of an element.
    fn gather_list(
        &mut self,
        range: Expr,
        var: Arc<str>,
        var2: Option<Arc<str>>,
        mut parts: Vec<Expr>,
    ) -> Result<Expr, Wrong> {
        let transform = parts.pop().ok_or_else(|| (self.id, String::new()))?;
        // Upstream creates the nodes of `map` and of `transformList` in different orders.
        let early = var2.is_none().then(|| (self.list(Vec::new()), self.literal(Literal::Bool(true))));
        let (accu, element) = (self.accu(), self.list(vec![transform]));
        let step = self.call(Name::Plus, vec![accu, element]);
        let step = self.filtered(parts.pop(), step);
        let (init, condition) = match early {
            Some(early) => early,
            None => (self.list(Vec::new()), self.literal(Literal::Bool(true))),
        };
        let result = self.accu();
        Ok(self.fold(Fold { range, var, var2, accu: accumulator(), init, condition, step, result }))
    }

    fn filtered(&mut self, filter: Option<Expr>, step: Expr) -> Expr {
        match filter {
            Some(filter) => {
                let accu = self.accu();
                self.call(Name::Conditional, vec![filter, step, accu])
            }
            None => step,
        }
    }

    fn filter(&mut self, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Wrong> {
        let var = variable(&args[0], "argument is not an identifier")?;
        free(&args[0], &var)?;
        let predicate = args.pop();
        let (init, condition) = (self.list(Vec::new()), self.literal(Literal::Bool(true)));
        let (accu, element) = (self.accu(), self.list(args));
        let step = self.call(Name::Plus, vec![accu, element]);
        let step = self.filtered(predicate, step);
        let result = self.accu();
        Ok(self.fold(Fold { range, var, var2: None, accu: accumulator(), init, condition, step, result }))
    }

    fn transform_map(&mut self, function: &str, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Wrong> {
        let (var, var2) = variables(&args[..3], 1)?;
        let transform = args.pop().ok_or_else(|| (self.id, String::new()))?;
        let filter = if args.len() == 3 { args.pop() } else { None };
        let mut entry = vec![self.accu()];
        if function == "transformMap" {
            entry.push(self.ident(&var));
        }
        entry.push(transform);
        let step = self.call(Name::MapInsert, entry);
        let step = self.filtered(filter, step);
        let init = self.node(Kind::Map(Vec::new()));
        let condition = self.literal(Literal::Bool(true));
        let result = self.accu();
        Ok(self.fold(Fold { range, var, var2, accu: accumulator(), init, condition, step, result }))
    }

    fn opt_map(&mut self, function: &str, target: Expr, mut args: Vec<Expr>) -> Result<Expr, Wrong> {
        let var = variable(&args[0], &format!("{function}() variable name must be a simple identifier"))?;
        let transform = args.pop().ok_or_else(|| (self.id, String::new()))?;
        let original = target.clone();
        let has = self.member(Name::HasValue, target, Vec::new());
        let range = self.list(Vec::new());
        let copied = self.copied(&original)?;
        let init = self.member(Name::Value, copied, Vec::new());
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(&var);
        let mut some = self.fold(Fold {
            range,
            var: UNUSED.into(),
            var2: None,
            accu: var,
            init,
            condition,
            step,
            result: transform,
        });
        if function == "optMap" {
            some = self.call(Name::OptionalOf, vec![some]);
        }
        let none = self.call(Name::OptionalNone, Vec::new());
        Ok(self.call(Name::Conditional, vec![has, some, none]))
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Result<Expr, Wrong> {
        let step = self.ident(SORT_INPUT);
        if !matches!(
            target.kind,
            Kind::List { .. } | Kind::Select { .. } | Kind::Ident(_) | Kind::Fold(_) | Kind::Call { .. }
        ) {
            let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err((target.id, message.to_owned()));
        }
        let input = self.copied(&step)?;
        let keys = self.map(input, args)?;
        let input = self.copied(&step)?;
        let result = self.member(Name::SortByKeys, input, vec![keys]);
        let range = self.list(Vec::new());
        let condition = self.literal(Literal::Bool(false));
        Ok(self.fold(Fold {
            range,
            var: UNUSED.into(),
            var2: None,
            accu: SORT_INPUT.into(),
            init: target,
            condition,
            step,
            result,
        }))
    }

    /// Copies an expression. The target of a macro may have copies itself, so a chain of macros would double the nodes
    /// with each link.
    fn copied(&mut self, expr: &Expr) -> Result<Expr, Wrong> {
        let copy = self.copy(expr);
        let most = self.builder.most_copies();
        if self.builder.copies > most {
            let message = format!("macros copy their targets, here to more than {most} nodes; use fewer in a chain");
            return Err((self.id, message));
        }
        Ok(copy)
    }

    /// Copies an expression with new numbers, at the positions of the original, up to the bound on nodes.
    fn copy(&mut self, expr: &Expr) -> Expr {
        self.builder.copies += 1;
        if self.builder.copies > self.builder.most_copies() {
            return self.node(Kind::Unspecified);
        }
        let place = self.builder.places.offset(expr.id);
        let id = self.builder.places.add(place);
        let kind = match &expr.kind {
            Kind::Unspecified | Kind::Literal(_) | Kind::Ident(_) => expr.kind.clone(),
            Kind::Select { operand, field, test_only } => {
                let operand = Box::new(self.copy(operand));
                Kind::Select { operand, field: field.clone(), test_only: *test_only }
            }
            Kind::Call { function, target, args } => {
                let args = args.iter().map(|arg| self.copy(arg)).collect();
                let target = target.as_ref().map(|target| Box::new(self.copy(target)));
                Kind::Call { function: function.clone(), target, args }
            }
            Kind::List { elements, optional } => {
                let elements = elements.iter().map(|element| self.copy(element)).collect();
                Kind::List { elements, optional: optional.clone() }
            }
            Kind::Map(entries) => {
                let mut copied = Vec::with_capacity(entries.len());
                for entry in entries {
                    self.next();
                    let (key, value) = (self.copy(&entry.key), self.copy(&entry.value));
                    copied.push(Entry { key, value, optional: entry.optional });
                }
                Kind::Map(copied)
            }
            Kind::Struct { name, fields } => {
                let mut copied = Vec::with_capacity(fields.len());
                for field in fields {
                    let id = self.next();
                    copied.push(crate::ast::Field {
                        id,
                        name: field.name.clone(),
                        value: self.copy(&field.value),
                        optional: field.optional,
                    });
                }
                Kind::Struct { name: name.clone(), fields: copied }
            }
            Kind::Fold(fold) => {
                let (range, init) = (self.copy(&fold.range), self.copy(&fold.init));
                let (condition, step) = (self.copy(&fold.condition), self.copy(&fold.step));
                let result = self.copy(&fold.result);
                let (var, var2, accu) = (fold.var.clone(), fold.var2.clone(), fold.accu.clone());
                Kind::Fold(Box::new(Fold { range, var, var2, accu, init, condition, step, result }))
            }
        };
        Expr::new(id, kind)
    }

    fn next(&mut self) -> Id {
        let place = self.builder.places.offset(self.id);
        self.builder.places.add(place)
    }
}

fn variable(arg: &Expr, message: &str) -> Result<Arc<str>, Wrong> {
    match &arg.kind {
        Kind::Ident(name) => Ok(name.clone()),
        _ => Err((arg.id, message.to_owned())),
    }
}

fn free(arg: &Expr, name: &str) -> Result<(), Wrong> {
    if name == ACCUMULATOR || name == OLD_ACCUMULATOR {
        return Err((arg.id, "iteration variable overwrites accumulator variable".to_owned()));
    }
    Ok(())
}

/// Returns the variables of a comprehension: one, or two if there are more arguments than `rest`.
fn variables(args: &[Expr], rest: usize) -> Result<(Arc<str>, Option<Arc<str>>), Wrong> {
    const SIMPLE: &str = "argument must be a simple name";
    let first = variable(&args[0], SIMPLE)?;
    if args.len() == rest + 1 {
        free(&args[0], &first)?;
        return Ok((first, None));
    }
    let second = variable(&args[1], SIMPLE)?;
    if first == second {
        return Err((args[1].id, format!("duplicate variable name: {first}")));
    }
    free(&args[0], &first)?;
    free(&args[1], &second)?;
    Ok((first, Some(second)))
}
