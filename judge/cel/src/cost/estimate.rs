//! The walk over the expression.

use super::calls::{self, Operand};
use super::{Range, Sizes, compares, is_scalar};
use crate::ast::{ACCUMULATOR, Expr, Fold, Id, Kind, Literal};
use crate::check::Checked;
use crate::release::{Change, Language};
use crate::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

type Path = Arc<[Arc<str>]>;

/// The known sizes of the entries of a list or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entries {
    list: bool,
    key: Range,
    value: Range,
}

/// A variable.
struct Local {
    known: Known,
    /// What was known in releases that do not know the sizes of variables.
    before: Option<Known>,
}

/// What is known about a variable.
#[derive(Clone)]
struct Known {
    path: Path,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// Estimates the cost of an expression.
pub(crate) fn estimate(checked: &Checked, sizes: &dyn Sizes, language: &Language) -> Range {
    Estimator::new(checked, sizes, language).cost(&checked.expr)
}

/// Estimates the cost of an expression over values whose sizes are at most `most`.
pub(crate) fn estimate_within(checked: &Checked, sizes: &dyn Sizes, language: &Language, most: u64) -> Range {
    Estimator { most: Some(most), ..Estimator::new(checked, sizes, language) }.cost(&checked.expr)
}

/// Returns the first call whose result is a string or a list of unknown size.
pub(crate) fn endless(checked: &Checked, sizes: &dyn Sizes, language: &Language) -> Option<Id> {
    let mut estimator = Estimator::new(checked, sizes, language);
    estimator.cost(&checked.expr);
    estimator.endless
}

struct Estimator<'a> {
    checked: &'a Checked,
    sizes: &'a dyn Sizes,
    language: &'a Language,
    paths: HashMap<Id, Path>,
    computed: HashMap<Id, Range>,
    entries: HashMap<Id, Entries>,
    locals: HashMap<Arc<str>, Vec<Local>>,
    /// The first call whose result has an unknown size.
    endless: Option<Id>,
    /// The maximum size of values of objects, and of values whose size is unknown.
    most: Option<u64>,
}

const NOTHING: Range = Range::fixed(0);
const ONE: Range = Range::fixed(1);

impl<'a> Estimator<'a> {
    fn new(checked: &'a Checked, sizes: &'a dyn Sizes, language: &'a Language) -> Estimator<'a> {
        Estimator {
            checked,
            sizes,
            language,
            paths: HashMap::new(),
            computed: HashMap::new(),
            entries: HashMap::new(),
            locals: HashMap::new(),
            endless: None,
            most: None,
        }
    }

    /// Returns a property of a variable. The release is asked only if the property differs between releases.
    fn local<T: PartialEq>(&self, name: &str, of: impl Fn(&Known) -> T) -> Option<T> {
        let Local { known, before } = self.locals.get(name)?.last()?;
        let now = of(known);
        let before = before.as_ref().map(of).filter(|before| *before != now);
        Some(match before {
            Some(before) if !self.language.has(Change::SizesOfVariables) => before,
            _ => now,
        })
    }

    fn local_path(&self, name: &str) -> Option<Path> {
        self.local(name, |known| known.path.clone())
    }

    fn path(&self, expr: &Expr) -> Path {
        if let Kind::Ident(name) = &expr.kind
            && let Some(path) = self.local_path(name)
        {
            return path;
        }
        self.paths.get(&expr.id).cloned().unwrap_or_else(|| Arc::from([]))
    }

    fn below(&self, expr: &Expr, name: &str) -> Path {
        self.path(expr).iter().cloned().chain([Arc::from(name)]).collect()
    }

    fn size_at(&self, path: &Path) -> Option<Range> {
        let path: Vec<&str> = path.iter().map(|part| &**part).collect();
        let size = self.sizes.size(&path, self.language)?;
        Some(self.most.map_or(size, |most| Range { min: size.min.min(most), max: size.max.min(most) }))
    }

    /// Returns the size of a value of unknown size.
    fn unknown(&self) -> Option<Range> {
        self.most.map(|max| Range { min: 0, max })
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.computed.get(&expr.id) {
            return Some(*size);
        }
        let own = match &expr.kind {
            Kind::Literal(Literal::String(text)) => Some(text.chars().count() as u64),
            Kind::Literal(Literal::Bytes(bytes)) => Some(bytes.len() as u64),
            Kind::Literal(_) => Some(1),
            Kind::List { elements, .. } => Some(elements.len() as u64),
            Kind::Map(entries) => Some(entries.len() as u64),
            _ => None,
        };
        if let Some(own) = own {
            return Some(Range::fixed(own));
        }
        if let Some(size) = self.size_at(&self.path(expr)) {
            self.computed.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.checked.ty(expr.id)) {
            return Some(ONE);
        }
        match &expr.kind {
            Kind::Ident(name) => self.local(name, |known| known.size).flatten().or_else(|| self.unknown()),
            _ => self.unknown(),
        }
    }

    fn known(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn entries(&self, expr: &Expr) -> Option<Entries> {
        let found = match (self.entries.get(&expr.id), &expr.kind) {
            (Some(entries), _) => Some(*entries),
            (None, Kind::Ident(name)) => self.local(name, |known| known.entries).flatten(),
            _ => None,
        };
        found.filter(|_| self.language.has(Change::SizesOfEntries))
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if let Some(size) = size {
            self.computed.insert(expr.id, size);
        }
    }

    fn set_entries(&mut self, expr: &Expr, entries: Option<Entries>) {
        if let Some(entries) = entries {
            self.entries.insert(expr.id, entries);
        }
    }

    fn cost(&mut self, expr: &Expr) -> Range {
        match &expr.kind {
            Kind::Unspecified | Kind::Literal(_) => NOTHING,
            Kind::Ident(name) => {
                let path = self.local_path(name).unwrap_or_else(|| Arc::from([name.clone()]));
                self.paths.insert(expr.id, path);
                ONE
            }
            Kind::Select { operand, field, test_only } => {
                let mut cost = self.cost(operand);
                if matches!(self.checked.ty(operand.id), Type::Map(_) | Type::Struct(_) | Type::Param(_) | Type::Var(_))
                    && !(*test_only && self.language.has(Change::FreePresenceTests))
                {
                    cost = cost.plus(ONE);
                }
                if !test_only {
                    let path = self.below(operand, field);
                    self.paths.insert(expr.id, path);
                }
                cost
            }
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List { elements, .. } => {
                let mut cost = NOTHING;
                let mut item = Range { min: if elements.is_empty() { 0 } else { u64::MAX }, max: 0 };
                for element in elements {
                    cost = cost.plus(self.cost(element));
                    item = item.union(self.known(element));
                }
                self.entries.insert(expr.id, Entries { list: true, key: ONE, value: item });
                cost.plus(Range::fixed(10))
            }
            Kind::Map(entries) => {
                let mut cost = NOTHING;
                let least = if entries.is_empty() { 0 } else { u64::MAX };
                let (mut key, mut value) = (Range { min: least, max: 0 }, Range { min: least, max: 0 });
                for entry in entries {
                    cost = cost.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
                    key = key.union(self.known(&entry.key));
                    value = value.union(self.known(&entry.value));
                }
                self.entries.insert(expr.id, Entries { list: false, key, value });
                cost.plus(Range::fixed(30))
            }
            Kind::Struct { fields, .. } => {
                fields.iter().fold(Range::fixed(40), |cost, field| cost.plus(self.cost(&field.value)))
            }
            Kind::Fold(fold) => self.fold(expr, fold),
        }
    }

    fn operand(&mut self, expr: &Expr) -> Operand {
        let mut path = self.path(expr);
        if path.first().is_some_and(|name| **name == *ACCUMULATOR) {
            path = Arc::from([]);
        }
        let item = self.checked.ty(expr.id).parameters().first().map(|ty| {
            let below: Path = if path.is_empty() {
                path.clone()
            } else {
                path.iter().cloned().chain([Arc::from("@items")]).collect()
            };
            ((*ty).clone(), self.size_at(&below).or_else(|| self.unknown()))
        });
        let literal = match &expr.kind {
            Kind::Literal(Literal::Int(value)) => Some(*value),
            _ => None,
        };
        Operand { ty: self.checked.ty(expr.id).clone(), size: self.size(expr), item, literal }
    }

    fn call(&mut self, expr: &Expr, function: &str, target: Option<&Expr>, args: &[Expr]) -> Range {
        if let ("dyn", [arg]) = (function, args) {
            let cost = self.cost(arg);
            let (size, entries) = (self.size(arg), self.entries(arg));
            if (size.is_some() || entries.is_some()) && self.language.has(Change::SizesOfEntries) {
                self.set_size(expr, size);
                self.set_entries(expr, entries);
            }
            return cost.plus(ONE);
        }
        let mut costs = Vec::with_capacity(args.len());
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            costs.push(self.cost(arg));
            let operand = self.operand(arg);
            operands.push(operand);
        }
        let overloads: Vec<&'static str> = self.checked.overloads(expr.id).iter().map(|overload| overload.id).collect();
        if overloads.is_empty() {
            return NOTHING;
        }
        let (mut sum, mut receiver) = (NOTHING, None);
        if let Some(target) = target {
            sum = self.cost(target);
            receiver = Some(self.operand(target));
        }
        let all = costs.iter().fold(NOTHING, |sum, cost| sum.plus(*cost));
        let mut total = Range { min: u64::MAX, max: 0 };
        let mut result = None;
        for overload in overloads {
            let (cost, size) = match calls::estimate(function, overload, receiver.as_ref(), &operands, self.language) {
                Some((cost, size)) => (cost.plus(all), size),
                None => self.standard(expr, overload, receiver.as_ref(), args, &operands, &costs, all),
            };
            total = total.union(cost);
            let size = size.map(|size| match self.most {
                Some(most) if size.max == u64::MAX => Range { min: size.min.min(most), max: most },
                _ => size,
            });
            if let Some(size) = size {
                result = Some(result.map_or(size, |result: Range| result.union(size)));
            }
            if matches!(overload, "index_list" | "index_map")
                && let Some(container) = args.first()
            {
                result = self.entries(container).map(|entries| entries.value);
                let path = self.below(container, if overload == "index_list" { "@items" } else { "@values" });
                self.paths.insert(expr.id, path);
            }
            if result.is_none() {
                result = self.size(expr);
            }
        }
        let is_endless = result.is_none_or(|size| size.max == u64::MAX);
        if is_endless && matches!(self.checked.ty(expr.id), Type::String | Type::Bytes | Type::List(_)) {
            self.endless.get_or_insert(expr.id);
        }
        self.set_size(expr, result);
        sum.plus(total)
    }

    #[allow(clippy::too_many_arguments)]
    fn standard(
        &mut self,
        expr: &Expr,
        overload: &str,
        target: Option<&Operand>,
        args: &[Expr],
        operands: &[Operand],
        costs: &[Range],
        all: Range,
    ) -> (Range, Option<Range>) {
        let known = |index: usize| operands.get(index).map_or(Range::UNKNOWN, Operand::known);
        let traverse = |size: Range| size.scaled(0.1).plus(all);
        match (overload, target, operands.len()) {
            ("string_format", Some(target), _) => (traverse(target.known()), None),
            ("string_to_bytes", _, 1) => {
                let size = known(0);
                (traverse(size), Some(Range { min: size.min, max: size.max.wrapping_mul(4) }))
            }
            ("bytes_to_string", _, 1) => {
                let size = known(0);
                (traverse(size), Some(Range { min: size.min / 4, max: size.max }))
            }
            ("strings_quote", _, 1) => {
                let size = known(0);
                let max = size.max.wrapping_mul(2).wrapping_add(2);
                (traverse(size), Some(Range { min: size.min.wrapping_add(2), max }))
            }
            ("starts_with_string" | "ends_with_string", _, 1) => (traverse(known(0)), None),
            ("in_list", _, 2) => (known(1).scaled(1.0).plus(all), None),
            ("matches_string", Some(target), 1) => {
                let text = target.known().plus(ONE).scaled(0.1);
                (text.times(known(0).scaled(0.25)).plus(all), None)
            }
            ("matches", None, 2) if self.language.has(Change::MatchesAsFunction) => {
                let text = known(0).plus(ONE).scaled(0.1);
                (text.times(known(1).scaled(0.25)).plus(all), None)
            }
            ("contains_string", Some(target), 1) => {
                (target.known().scaled(0.1).times(known(0).scaled(0.1)).plus(all), None)
            }
            ("logical_or" | "logical_and", _, 2) => {
                (Range { min: costs[0].min, max: costs[0].plus(costs[1]).max }, None)
            }
            ("conditional", _, 3) => {
                let size = known(1).union(known(2));
                let entries = union(self.entries(&args[1]), self.entries(&args[2]));
                self.set_entries(expr, entries);
                (costs[0].plus(costs[1].union(costs[2])), Some(size))
            }
            ("add_string" | "add_bytes" | "add_list", _, 2) => {
                let size = known(0).plus(known(1));
                let entries = union(self.entries(&args[0]), self.entries(&args[1]));
                self.set_entries(expr, entries);
                let cost = if overload == "add_list" { ONE.plus(all) } else { traverse(size) };
                (cost, Some(size))
            }
            (name, _, 2) if compares(name) => {
                let max = known(0).max.min(known(1).max);
                (traverse(Range { min: u64::from(max > 0), max }), None)
            }
            _ => (ONE.plus(all), None),
        }
    }

    /// Declares a loop variable.
    fn push(&mut self, name: &Arc<str>, path: Path, size: Option<Range>) {
        let known = Known { path, size, entries: None };
        self.locals.entry(name.clone()).or_default().push(Local { known, before: None });
    }

    fn pop(&mut self, name: &str) {
        if let Some(stack) = self.locals.get_mut(name) {
            stack.pop();
        }
    }

    fn fold(&mut self, expr: &Expr, fold: &Fold) -> Range {
        let empty = matches!(&fold.range.kind, Kind::List { elements, .. } if elements.is_empty());
        let bind = empty && matches!(fold.condition.kind, Kind::Literal(Literal::Bool(false)));
        let mut cost = self.cost(&fold.range).plus(self.cost(&fold.init));
        let (path, entries) = (self.path(&fold.init), self.entries(&fold.init));
        let size = self.size(&fold.init);
        let hidden = *fold.accu == *ACCUMULATOR;
        let own = if hidden { Arc::from([]) } else { Arc::from([fold.accu.clone()]) };
        let before = Known { path: own, size: None, entries: None };
        let accu = Local { known: Known { path, size, entries }, before: Some(before) };
        self.locals.entry(fold.accu.clone()).or_default().push(accu);
        if bind {
            cost = cost.plus(self.cost(&fold.result));
            self.pop(&fold.accu);
            let size = self.size(&fold.result);
            self.set_size(expr, size);
            let entries = self.entries(&fold.result);
            self.set_entries(expr, entries);
            return cost;
        }
        let range = self.entries(&fold.range);
        let list =
            range.map_or_else(|| matches!(self.checked.ty(fold.range.id), Type::List(_)), |entries| entries.list);
        let (key, value) = (range.map(|entries| entries.key), range.map(|entries| entries.value));
        let key_path = self.below(&fold.range, if list { "@indices" } else { "@keys" });
        let value_path = self.below(&fold.range, if list { "@items" } else { "@values" });
        match &fold.var2 {
            Some(var2) => {
                self.push(&fold.var, key_path, key);
                self.push(var2, value_path, value);
            }
            None if list => self.push(&fold.var, value_path, value),
            None => self.push(&fold.var, key_path, key),
        }
        let step = self.cost(&fold.condition);
        let step = self.cost(&fold.step).plus(step);
        self.pop(&fold.var);
        if let Some(var2) = &fold.var2 {
            self.pop(var2);
        }
        cost = cost.plus(self.cost(&fold.result));
        self.pop(&fold.accu);
        let count = self.known(&fold.range);
        cost = cost.plus(count.times(step));
        match &fold.init.kind {
            Kind::Literal(_) => {
                let size = self.size(&fold.init);
                self.set_size(expr, size);
            }
            Kind::List { .. } | Kind::Map(_) => {
                self.set_size(expr, Some(count));
                let entries = self.entries(&fold.step);
                self.set_entries(expr, entries);
            }
            _ => {}
        }
        cost
    }
}

fn union(a: Option<Entries>, b: Option<Entries>) -> Option<Entries> {
    let (a, b) = (a?, b?);
    Some(Entries { list: a.list, key: a.key.union(b.key), value: a.value.union(b.value) })
}
