//! Reads formulas from parsed expressions.

use super::MAX_NESTING;
use super::claim::{Claim, Claimed, Order, Path, Root, Term};
use super::formula::{Elements, Formula};
use crate::ast::{ACCUMULATOR, Expr, Fold, Kind, Literal};
use crate::decls::Name;
use crate::schema::escape::unescape;

/// The maximum length of a string or a pattern in words, in bytes.
const MAX_STRING: usize = 200;

/// Returns the formula of an expression; `None` if some part of it has no words.
pub(super) fn formula(expr: &Expr) -> Option<Formula> {
    Reader { variables: Vec::new(), nesting: 0 }.formula(expr)
}

struct Reader<'e> {
    /// The variables of the macros around the expression.
    variables: Vec<&'e str>,
    nesting: usize,
}

/// The parts of a call: all of its values, the target first.
fn call(expr: &Expr) -> Option<(Name, Vec<&Expr>)> {
    let Kind::Call { function, target, args } = &expr.kind else { return None };
    let values = target.as_deref().into_iter().chain(args).collect();
    Some((function.known()?.name, values))
}

fn is_accumulator(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Ident(name) if &**name == ACCUMULATOR)
}

fn integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        Kind::Literal(Literal::Int(number)) => Some(*number),
        _ => None,
    }
}

fn boolean(expr: &Expr) -> Option<bool> {
    match &expr.kind {
        Kind::Literal(Literal::Bool(value)) => Some(*value),
        _ => None,
    }
}

/// What a comprehension is the expansion of.
enum Macro<'e> {
    All(&'e Expr),
    Exists(&'e Expr),
    ExistsOne(&'e Expr),
    Filter(&'e Expr),
}

fn expanded(fold: &Fold) -> Option<Macro<'_>> {
    if fold.var2.is_some() || &*fold.accu != ACCUMULATOR {
        return None;
    }
    let (name, values) = call(&fold.step)?;
    match (name, values.as_slice(), &fold.init.kind) {
        (Name::And, [accu, claim], Kind::Literal(Literal::Bool(true)))
            if is_accumulator(accu) && is_accumulator(&fold.result) =>
        {
            Some(Macro::All(claim))
        }
        (Name::Or, [accu, claim], Kind::Literal(Literal::Bool(false)))
            if is_accumulator(accu) && is_accumulator(&fold.result) =>
        {
            Some(Macro::Exists(claim))
        }
        (Name::Conditional, [claim, _, accu], Kind::Literal(Literal::Int(0))) if is_accumulator(accu) => {
            let (name, compared) = call(&fold.result)?;
            let is_one = matches!(compared.as_slice(), [accu, one] if is_accumulator(accu) && integer(one) == Some(1));
            (name == Name::Equals && is_one).then_some(Macro::ExistsOne(claim))
        }
        (Name::Conditional, [claim, more, accu], Kind::List { elements, .. })
            if elements.is_empty() && is_accumulator(accu) && is_accumulator(&fold.result) =>
        {
            let (name, added) = call(more)?;
            let [_, element] = added.as_slice() else { return None };
            let Kind::List { elements, .. } = &element.kind else { return None };
            let is_same = matches!(elements.as_slice(), [Expr { kind: Kind::Ident(name), .. }] if *name == fold.var);
            (name == Name::Plus && is_same).then_some(Macro::Filter(claim))
        }
        _ => None,
    }
}

/// Returns the order of two values that an operator demands, and whether it demands the opposite.
fn order(name: Name) -> Option<(Order, bool)> {
    Some(match name {
        Name::Equals => (Order::Equal, false),
        Name::NotEquals => (Order::Equal, true),
        Name::Less => (Order::Less, false),
        Name::LessEquals => (Order::AtMost, false),
        Name::Greater => (Order::More, false),
        Name::GreaterEquals => (Order::AtLeast, false),
        _ => return None,
    })
}

/// Returns a string as code; `None` if Markdown or a terminal could read more in it.
fn code(text: &str) -> Option<String> {
    let is_plain = text.len() <= MAX_STRING && !text.contains(|c: char| c == '`' || c.is_control());
    (is_plain && !text.is_empty() && text.trim() == text).then(|| format!("`{text}`"))
}

fn quoted(text: &str) -> Option<String> {
    if text.contains(['"', '\\']) {
        return None;
    }
    code(&format!("\"{text}\""))
}

fn literal(literal: &Literal) -> Option<String> {
    Some(match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(number) => number.to_string(),
        Literal::Uint(number) => number.to_string(),
        Literal::Double(number) => number.to_string(),
        Literal::String(text) => quoted(text)?,
        Literal::Bytes(_) => return None,
    })
}

fn one(about: Term, claimed: Claimed) -> Formula {
    Formula::One(Claim { about, claimed, is_not: false })
}

/// Returns the formula or its opposite.
fn turned(formula: Formula, is_not: bool) -> Option<Formula> {
    if is_not { formula.opposite() } else { Some(formula) }
}

impl<'e> Reader<'e> {
    fn formula(&mut self, expr: &'e Expr) -> Option<Formula> {
        if self.nesting == MAX_NESTING {
            return None;
        }
        self.nesting += 1;
        let read = self.read(expr);
        self.nesting -= 1;
        read
    }

    fn read(&mut self, expr: &'e Expr) -> Option<Formula> {
        match &expr.kind {
            Kind::Literal(Literal::Bool(true)) => Some(Formula::Always),
            Kind::Literal(Literal::Bool(false)) => Some(Formula::Never),
            Kind::Select { operand, field, test_only: true } => Some(one(self.field(operand, field)?, Claimed::Set)),
            Kind::Ident(_) | Kind::Select { .. } => Some(one(self.term(expr)?, Claimed::True)),
            Kind::Fold(fold) => self.fold(fold),
            Kind::Call { .. } => self.call(expr),
            _ => None,
        }
    }

    /// Reads operands of `&&` or `||` on the left without recursion: a chain of them nests to the left.
    fn chain(&mut self, expr: &'e Expr, operator: Name) -> Option<Vec<Formula>> {
        let mut operands = vec![expr];
        let mut out = Vec::new();
        while let Some(operand) = operands.pop() {
            match call(operand) {
                Some((name, values)) if name == operator => operands.extend(values.into_iter().rev()),
                _ => out.push(self.formula(operand)?),
            }
        }
        Some(out)
    }

    fn call(&mut self, expr: &'e Expr) -> Option<Formula> {
        let (name, values) = call(expr)?;
        match (name, values.as_slice()) {
            (Name::And, _) => Some(Formula::All(self.chain(expr, Name::And)?)),
            (Name::Or, _) => Some(Formula::Any(self.chain(expr, Name::Or)?)),
            (Name::Not, [operand]) => self.formula(operand)?.opposite(),
            (Name::Conditional, [condition, then, otherwise]) => {
                Some(Formula::If(Box::new([self.formula(condition)?, self.formula(then)?, self.formula(otherwise)?])))
            }
            (Name::In, [value, list]) => self.contained(value, list),
            (Name::Contains, [whole, part]) => {
                Some(one(self.term(whole)?, Claimed::Contains(vec![self.term(part)?.words])))
            }
            (Name::StartsWith, [text, start]) => {
                let start = format!("with {}", self.term(start)?.words);
                Some(one(self.term(text)?, Claimed::Does("start", start)))
            }
            (Name::EndsWith, [text, end]) => {
                Some(one(self.term(text)?, Claimed::Does("end", format!("with {}", self.term(end)?.words))))
            }
            (Name::Matches, [text, pattern]) => {
                let Kind::Literal(Literal::String(pattern)) = &pattern.kind else { return None };
                let pattern = format!("the regular expression {}", code(pattern)?);
                Some(one(self.term(text)?, Claimed::Does("match", pattern)))
            }
            (Name::IsUrl, [text]) => Some(one(self.term(text)?, Claimed::A("a URL"))),
            (Name::IsIp, [text]) => Some(one(self.term(text)?, Claimed::A("an IP address"))),
            (Name::IsCidr, [text]) => Some(one(self.term(text)?, Claimed::A("an IP network (CIDR)"))),
            (Name::IsQuantity, [text]) => Some(one(self.term(text)?, Claimed::A("a quantity"))),
            (Name::IsGreaterThan, [a, b]) => self.compared(a, Order::More, b),
            (Name::IsLessThan, [a, b]) => self.compared(a, Order::Less, b),
            (_, [a, b]) => {
                let (order, is_not) = order(name)?;
                turned(self.comparison(a, order, b)?, is_not)
            }
            _ => None,
        }
    }

    fn contained(&mut self, value: &'e Expr, list: &'e Expr) -> Option<Formula> {
        let Kind::List { elements, optional } = &list.kind else {
            return Some(one(self.term(list)?, Claimed::Contains(vec![self.term(value)?.words])));
        };
        if !optional.is_empty() || elements.is_empty() {
            return None;
        }
        let values = elements.iter().map(|element| Some(self.term(element)?.words)).collect::<Option<_>>()?;
        Some(one(self.term(value)?, Claimed::OneOf(values)))
    }

    fn comparison(&mut self, a: &'e Expr, order: Order, b: &'e Expr) -> Option<Formula> {
        let is_constant = |expr: &Expr| matches!(expr.kind, Kind::Literal(_));
        let (a, order, b) = if is_constant(a) { (b, order.turned(), a) } else { (a, order, b) };
        if let Some(count) = integer(b) {
            if let Some(counted) = self.counted(a, order, count) {
                return Some(counted);
            }
            if let Some((Name::CompareTo, values)) = call(a)
                && let ([a, b], 0) = (values.as_slice(), count)
            {
                return self.compared(a, order, b);
            }
        }
        if order == Order::Equal {
            if let Some(value) = boolean(b) {
                return turned(self.formula(a)?, !value);
            }
            if is_claim(a) || is_claim(b) {
                return Some(Formula::Same(Box::new(self.formula(a)?), Box::new(self.formula(b)?)));
            }
            if is_empty_literal(b) {
                return Some(one(self.term(a)?, Claimed::Empty));
            }
        }
        self.compared(a, order, b)
    }

    fn compared(&mut self, a: &'e Expr, order: Order, b: &'e Expr) -> Option<Formula> {
        let (a, b) = (self.term(a)?, self.term(b)?);
        if order != Order::Equal {
            return Some(one(a, Claimed::Compared(order, b.words)));
        }
        if let (Some(one_path), Some(other)) = (&a.path, &b.path)
            && one_path.steps == other.steps
        {
            match (&one_path.root, &other.root) {
                (Root::New, Root::Old) => return Some(one(a, Claimed::Unchanged)),
                (Root::Old, Root::New) => return Some(one(b, Claimed::Unchanged)),
                _ => {}
            }
        }
        // The claim is about the new value.
        let is_past = |term: &Term| term.path.as_ref().is_some_and(|path| path.root == Root::Old);
        let (a, b) = if is_past(&a) && b.path.is_some() { (b, a) } else { (a, b) };
        Some(if b.path.is_none() {
            one(a, Claimed::OneOf(vec![b.words]))
        } else {
            one(a, Claimed::Compared(Order::Equal, format!("the same as {}", b.words)))
        })
    }

    /// Reads comparisons of a number of things with a constant.
    fn counted(&mut self, a: &'e Expr, order: Order, count: i64) -> Option<Formula> {
        if let Some(fields) = self.summed(a) {
            return count_of(fields, order, count);
        }
        let (Name::Size, values) = call(a)? else { return None };
        let [sized] = values.as_slice() else { return None };
        if let Kind::Fold(fold) = &sized.kind {
            let Macro::Filter(claim) = expanded(fold)? else { return None };
            if let Some(fields) = self.flags(&fold.range, &fold.var, claim) {
                return count_of(fields, order, count);
            }
            return Some(Formula::Such(order, count, Box::new(self.elements(fold, claim)?)));
        }
        let about = self.term(sized)?;
        Some(match (order, count) {
            (Order::Equal | Order::AtMost, 0) | (Order::Less, 1) => one(about, Claimed::Empty),
            (Order::More, 0) | (Order::AtLeast, 1) => one(about, Claimed::Empty).opposite()?,
            _ => {
                let words = format!("the size of {}", about.words);
                one(Term { words, path: None }, Claimed::Compared(order, count.to_string()))
            }
        })
    }

    /// Reads `(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0)`.
    fn summed(&mut self, expr: &'e Expr) -> Option<Vec<Term>> {
        let mut operands = vec![expr];
        let mut out = Vec::new();
        while let Some(operand) = operands.pop() {
            let (name, values) = call(operand)?;
            match (name, values.as_slice()) {
                (Name::Plus, [a, b]) => operands.extend([*b, *a]),
                (Name::Conditional, [has, one, zero]) if integer(one) == Some(1) && integer(zero) == Some(0) => {
                    out.push(self.set(has)?);
                }
                _ => return None,
            }
        }
        (out.len() > 1).then_some(out)
    }

    /// Reads `[has(self.a), has(self.b)]`, if the true ones of them are taken.
    fn flags(&mut self, list: &'e Expr, variable: &str, claim: &Expr) -> Option<Vec<Term>> {
        let is_variable = |expr: &Expr| matches!(&expr.kind, Kind::Ident(name) if &**name == variable);
        let is_true = is_variable(claim)
            || call(claim).is_some_and(|(name, values)| {
                let is_it = |values: &[&Expr]| matches!(values, [a, b] if is_variable(a) && boolean(b) == Some(true));
                name == Name::Equals && is_it(&values)
            });
        let Kind::List { elements, optional } = &list.kind else { return None };
        if !is_true || !optional.is_empty() || elements.len() < 2 {
            return None;
        }
        elements.iter().map(|element| self.set(element)).collect()
    }

    /// Reads `has(self.a)`.
    fn set(&mut self, expr: &'e Expr) -> Option<Term> {
        match &expr.kind {
            Kind::Select { operand, field, test_only: true } => self.field(operand, field),
            _ => None,
        }
    }

    fn fold(&mut self, fold: &'e Fold) -> Option<Formula> {
        match expanded(fold)? {
            Macro::All(claim) => Some(Formula::Each(Box::new(self.elements(fold, claim)?))),
            Macro::Exists(claim) => match self.flags(&fold.range, &fold.var, claim) {
                Some(fields) => count_of(fields, Order::AtLeast, 1),
                None => Some(Formula::Such(Order::AtLeast, 1, Box::new(self.elements(fold, claim)?))),
            },
            Macro::ExistsOne(claim) => match self.flags(&fold.range, &fold.var, claim) {
                Some(fields) => count_of(fields, Order::Equal, 1),
                None => Some(Formula::Such(Order::Equal, 1, Box::new(self.elements(fold, claim)?))),
            },
            Macro::Filter(_) => None,
        }
    }

    fn elements(&mut self, fold: &'e Fold, claim: &'e Expr) -> Option<Elements> {
        let of = self.term(&fold.range)?;
        of.path.as_ref()?;
        let variable = &*fold.var;
        // A variable that hides another name cannot be said.
        if matches!(variable, "self" | "oldSelf") || self.variables.contains(&variable) {
            return None;
        }
        self.variables.push(variable);
        let are = self.formula(claim);
        self.variables.pop();
        Some(Elements { variable: variable.to_owned(), of, are: are? })
    }

    fn field(&mut self, operand: &'e Expr, field: &str) -> Option<Term> {
        let path = self.path(operand)?;
        self.named(Path { root: path.root, steps: format!("{}.{}", path.steps, name(field)?) })
    }

    fn path(&mut self, expr: &'e Expr) -> Option<Path> {
        let mut steps = Vec::new();
        let mut at = expr;
        let root = loop {
            match &at.kind {
                Kind::Ident(name) if &**name == "self" => break Root::New,
                Kind::Ident(name) if &**name == "oldSelf" => break Root::Old,
                Kind::Ident(name) if self.variables.contains(&&**name) => break Root::Variable(name.to_string()),
                Kind::Select { operand, field, test_only: false } => {
                    steps.push(format!(".{}", name(field)?));
                    at = operand;
                }
                _ => {
                    let (Name::Index, values) = call(at)? else { return None };
                    let [operand, index] = values.as_slice() else { return None };
                    steps.push(match &index.kind {
                        Kind::Ident(name) if self.variables.contains(&&**name) => format!("[{name}]"),
                        Kind::Literal(Literal::Int(number)) => format!("[{number}]"),
                        Kind::Literal(Literal::String(text)) => {
                            quoted(text)?;
                            format!("[\"{text}\"]")
                        }
                        _ => return None,
                    });
                    at = operand;
                }
            }
        };
        steps.reverse();
        Some(Path { root, steps: steps.concat() })
    }

    /// Returns a path with its words.
    fn named(&self, path: Path) -> Option<Term> {
        let steps = path.steps.strip_prefix('.').unwrap_or(&path.steps);
        let is_field = path.steps.starts_with('.');
        // A field with the name of a variable in scope would be read as the variable.
        let first = steps.split(['.', '[']).next().unwrap_or_default();
        if is_field && !matches!(path.root, Root::Variable(_)) && self.variables.contains(&first) {
            return None;
        }
        let words = match (&path.root, steps) {
            (Root::New, "") => "the value".to_owned(),
            (Root::Old, "") => "the old value".to_owned(),
            (Root::New, steps) if is_field => code(steps)?,
            (Root::Old, steps) if is_field => format!("the old {}", code(steps)?),
            (Root::New, steps) => code(&format!("self{steps}"))?,
            (Root::Old, steps) => code(&format!("oldSelf{steps}"))?,
            (Root::Variable(name), _) => code(&format!("{name}{}", path.steps))?,
        };
        Some(Term { words, path: Some(path) })
    }

    fn term(&mut self, expr: &'e Expr) -> Option<Term> {
        let of = |words| Some(Term { words, path: None });
        match &expr.kind {
            Kind::Literal(value) => of(literal(value)?),
            Kind::Ident(_) | Kind::Select { test_only: false, .. } => {
                let path = self.path(expr)?;
                self.named(path)
            }
            Kind::Call { .. } => {
                let (name, values) = call(expr)?;
                let only = |values: &[&'e Expr]| match values {
                    [only] => Some(*only),
                    _ => None,
                };
                match name {
                    Name::Index => {
                        let path = self.path(expr)?;
                        self.named(path)
                    }
                    Name::Size => of(format!("the size of {}", self.simple(only(&values)?)?)),
                    Name::Duration => of(self.typed(only(&values)?, "the duration", "as a duration")?),
                    Name::Timestamp => of(self.typed(only(&values)?, "the time", "as a time")?),
                    Name::Quantity => of(self.typed(only(&values)?, "the quantity", "as a quantity")?),
                    Name::LowerAscii => of(format!("{} in lower case", self.simple(only(&values)?)?)),
                    Name::UpperAscii => of(format!("{} in upper case", self.simple(only(&values)?)?)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the words of a string that is read as another type: `before` a literal, or `behind` a path.
    fn typed(&mut self, expr: &'e Expr, before: &str, behind: &str) -> Option<String> {
        let words = self.simple(expr)?;
        let is_literal = matches!(expr.kind, Kind::Literal(_));
        Some(if is_literal { format!("{before} {words}") } else { format!("{words} {behind}") })
    }

    /// Returns the words of a path or a literal.
    fn simple(&mut self, expr: &'e Expr) -> Option<String> {
        let is_literal = matches!(expr.kind, Kind::Literal(_));
        let term = self.term(expr)?;
        (is_literal || term.path.is_some()).then_some(term.words)
    }
}

/// Returns the property of a name in an expression, if it can be in words.
fn name(field: &str) -> Option<String> {
    let name = unescape(field)?.into_owned();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// Whether an expression can only be a boolean.
fn is_claim(expr: &Expr) -> bool {
    if matches!(expr.kind, Kind::Select { test_only: true, .. }) {
        return true;
    }
    if let Kind::Fold(fold) = &expr.kind {
        return matches!(expanded(fold), Some(Macro::All(_) | Macro::Exists(_) | Macro::ExistsOne(_)));
    }
    call(expr).is_some_and(|(name, _)| {
        order(name).is_some()
            || matches!(
                name,
                Name::And | Name::Or | Name::Not | Name::In | Name::Matches | Name::StartsWith | Name::EndsWith
            )
    })
}

/// `''` and `[]`; an empty map, too.
fn is_empty_literal(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Literal(Literal::String(text)) => text.is_empty(),
        Kind::List { elements, .. } => elements.is_empty(),
        Kind::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Returns the claim that a number of these fields is set.
fn count_of(fields: Vec<Term>, order: Order, count: i64) -> Option<Formula> {
    let most = i64::try_from(fields.len()).ok()?;
    (0..=most).contains(&count).then_some(Formula::Count(order, count, fields))
}
