//! Variables of an expression: where they are used, which names hide them, and whether their values need the types of a
//! schema.

use crate::ast::{ACCUMULATOR, Expr, Fold, Id, Kind, Literal};
use crate::decls::Name;
use crate::env::Ast;
use crate::part;
use crate::schema::escape::unescape;
use crate::types::Type;
use std::ops::Range;

impl Ast {
    /// Where an expression uses a variable, in bytes of its source. Uses of a macro's own variable of the same name are
    /// not among them.
    ///
    /// # Example
    /// ```
    /// use kubeshape_cel::{Env, Release, Type};
    ///
    /// let env = Env::new(Release::NEWEST).with_variable("self", Type::Dyn);
    /// let source = "self.a.all(self, self > 1) && has(self.b)";
    /// let ast = env.compile(source)?;
    /// assert_eq!(ast.occurrences(source, "self"), [0..4, 34..38]);
    /// assert!(ast.binds("self"));
    /// # Ok::<(), kubeshape_cel::Issues>(())
    /// ```
    pub fn occurrences(&self, source: &str, variable: &str) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let mut todo = vec![self.expr()];
        while let Some(expr) = todo.pop() {
            match &expr.kind {
                Kind::Ident(name) if **name == *variable => out.extend(part::at(source, self.place(expr.id))),
                Kind::Fold(fold) => {
                    todo.extend([&fold.range, &fold.init]);
                    todo.extend([&fold.condition, &fold.step].into_iter().filter(|_| !fold.is_variable(variable)));
                    todo.extend((*fold.accu != *variable).then_some(&fold.result));
                }
                _ => expr.each_child(|child| todo.push(child)),
            }
        }
        // Macros can use one part of the source several times.
        out.sort_by_key(|range| range.start);
        out.dedup();
        out
    }

    /// Where an expression compares a variable with null, in bytes of its source, and whether it asks if it is null.
    /// Comparisons with parentheses or comments inside are not among them.
    ///
    /// # Example
    /// ```
    /// use kubeshape_cel::{Env, Release, Type};
    ///
    /// let env = Env::new(Release::NEWEST).with_variable("old", Type::Dyn);
    /// let source = "old == null || null != old.a || old != null";
    /// let ast = env.compile(source)?;
    /// assert_eq!(ast.null_tests(source, "old"), [(0..11, true), (32..43, false)]);
    /// # Ok::<(), kubeshape_cel::Issues>(())
    /// ```
    pub fn null_tests(&self, source: &str, variable: &str) -> Vec<(Range<usize>, bool)> {
        let mut out = Vec::new();
        let mut todo = vec![self.expr()];
        let at = |expr: &Expr| part::at(source, self.place(expr.id));
        while let Some(expr) = todo.pop() {
            match &expr.kind {
                Kind::Fold(fold) if fold.is_variable(variable) => todo.extend([&fold.range, &fold.init]),
                Kind::Call { function, args, .. } if function.is(Name::Equals) || function.is(Name::NotEquals) => {
                    let is_variable = |expr: &Expr| matches!(&expr.kind, Kind::Ident(name) if **name == *variable);
                    let is_null = |expr: &Expr| matches!(&expr.kind, Kind::Literal(Literal::Null));
                    if let [a, b] = args.as_slice()
                        && (is_variable(a) && is_null(b) || is_null(a) && is_variable(b))
                        && let (Some(a), Some(b)) = (at(a), at(b))
                        && let Some(operator @ ("==" | "!=")) = source.get(a.end..b.start).map(str::trim)
                    {
                        out.push((a.start..b.end, operator == "=="));
                    }
                    todo.extend(args);
                }
                _ => expr.each_child(|child| todo.push(child)),
            }
        }
        out.sort_by_key(|(range, _)| range.start);
        out.dedup();
        out
    }

    /// Whether a macro of the expression declares a variable of this name.
    pub fn binds(&self, variable: &str) -> bool {
        let mut todo: Vec<&Expr> = vec![self.expr()];
        while let Some(expr) = todo.pop() {
            if matches!(&expr.kind, Kind::Fold(fold) if fold.is_variable(variable)) {
                return true;
            }
            expr.each_child(|child| todo.push(child));
        }
        false
    }

    /// Why the expression can have another value if its variables are plain JSON values instead of values of a schema;
    /// `None` if it has the same.
    ///
    /// A schema makes timestamps, durations and bytes of strings, and doubles of whole numbers. Its fields have escaped
    /// names.
    pub fn needs_schema(&self) -> Option<NeedsSchema> {
        let mut todo = vec![(self.expr(), Context::Other)];
        while let Some((expr, context)) = todo.pop() {
            if let Kind::Select { field, .. } = &expr.kind
                && unescape(field).is_some_and(|name| name != **field)
            {
                return Some(NeedsSchema::EscapedName);
            }
            let is_read = matches!(&expr.kind, Kind::Ident(_) | Kind::Select { test_only: false, .. })
                || matches!(&expr.kind, Kind::Call { function, .. } if function.is(Name::Index));
            if is_read && self.is_other_value(expr.id, context) {
                return Some(NeedsSchema::Type);
            }
            let mut each = |expr, context| todo.push((expr, context));
            match &expr.kind {
                Kind::Select { operand, .. } => each(operand, Context::Opened),
                Kind::Fold(fold) => {
                    each(&fold.range, Context::Opened);
                    for part in [&fold.init, &fold.condition, &fold.step, &fold.result] {
                        each(part, Context::Other);
                    }
                }
                Kind::Call { function, target, args } => {
                    let is = |names: &[Name]| names.iter().any(|name| function.is(*name));
                    let context = if is(&COMPARISONS) {
                        Context::Compared
                    } else if is(&[Name::Index, Name::Size, Name::And, Name::Or, Name::Not]) {
                        Context::Opened
                    } else {
                        Context::Other
                    };
                    target.as_deref().into_iter().chain(args).for_each(|expr| each(expr, context));
                }
                _ => expr.each_child(|child| todo.push((child, Context::Other))),
            }
        }
        None
    }

    /// Returns the types of the lists, maps and objects that the expression compares or joins as a whole.
    pub fn compared_containers(&self) -> Vec<&Type> {
        const ONES: [Name; 4] = [Name::Equals, Name::NotEquals, Name::Plus, Name::In];
        let mut out = Vec::new();
        let mut todo = vec![self.expr()];
        while let Some(expr) = todo.pop() {
            if let Kind::Call { function, args, .. } = &expr.kind
                && ONES.iter().any(|name| function.is(*name))
                && let Some(first) = args.first()
                // `map` joins its items to a list.
                && !matches!(&first.kind, Kind::Ident(name) if **name == *ACCUMULATOR)
                && let ty = self.type_of(first.id)
                && matches!(ty, Type::List(_) | Type::Map(_) | Type::Struct(_))
            {
                out.push(ty);
            }
            expr.each_child(|child| todo.push(child));
        }
        out
    }

    /// Whether a value of the schema differs from the JSON value in a context where this matters.
    fn is_other_value(&self, id: Id, context: Context) -> bool {
        let is_container = |ty: &Type| matches!(ty, Type::List(_) | Type::Map(_) | Type::Opaque(..));
        let ty = self.type_of(id);
        match context {
            Context::Opened if is_container(ty) => false,
            Context::Compared => holds(ty, &[Type::Timestamp, Type::Duration, Type::Bytes]),
            _ => holds(ty, &[Type::Timestamp, Type::Duration, Type::Bytes, Type::Double]),
        }
    }
}

/// Why an expression needs the types of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsSchema {
    /// It reads a field under its escaped name.
    EscapedName,
    /// It reads a timestamp, a duration, bytes, or a double that it does not only compare.
    Type,
}

/// What is done with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// It is compared. Numbers are equal whatever their types.
    Compared,
    /// Its fields or items are read.
    Opened,
    Other,
}

const COMPARISONS: [Name; 6] =
    [Name::Equals, Name::NotEquals, Name::Less, Name::LessEquals, Name::Greater, Name::GreaterEquals];

/// Whether a type is or contains one of these.
fn holds(ty: &Type, any: &[Type]) -> bool {
    match ty {
        Type::List(element) => holds(element, any),
        Type::Map(entry) => holds(&entry.0, any) || holds(&entry.1, any),
        Type::Opaque(_, parameters) => parameters.iter().any(|ty| holds(ty, any)),
        ty => any.contains(ty),
    }
}

impl Fold {
    fn is_variable(&self, name: &str) -> bool {
        *self.var == *name || *self.accu == *name || self.var2.as_deref() == Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::NeedsSchema;
    use crate::{Env, Release, Type};

    #[test]
    fn values_of_a_schema_matter_unless_they_are_compared() {
        let env = Env::new(Release::NEWEST)
            .with_variable("n", Type::Int)
            .with_variable("d", Type::Double)
            .with_variable("ds", Type::list(Type::Double))
            .with_variable("t", Type::Timestamp)
            .with_variable("m", Type::Dyn);
        let why = |source: &str| env.compile(source).expect(source).needs_schema();
        for source in ["n + 1 > 2", "d > 0.5 && d < 2.0", "ds.all(x, x > 0.0)", "size(ds) > 1", "ds == [1.0]", "m.a"] {
            assert_eq!(why(source), None, "{source}");
        }
        for source in [
            "d + 1.0 > 2.0",
            "string(d) == '1'",
            "ds.exists(x, x * 2.0 > 1.0)",
            "t > timestamp('2020-01-01T00:00:00Z')",
        ] {
            assert_eq!(why(source), Some(NeedsSchema::Type), "{source}");
        }
        assert_eq!(why("m.a__dash__b == 1"), Some(NeedsSchema::EscapedName));
    }

    fn used(source: &str) -> Vec<usize> {
        let env = Env::new(Release::NEWEST).with_variable("self", Type::Dyn).with_variable("x", Type::Dyn);
        let ast = env.compile(source).expect(source);
        ast.occurrences(source, "x").into_iter().map(|range| range.start).collect()
    }

    #[test]
    fn a_variable_is_found_outside_of_macros_that_hide_it() {
        assert_eq!(used("x"), [0]);
        assert_eq!(used("'x' + string(x)"), [13]);
        assert_eq!(used("self.x == x.x"), [10]);
        assert_eq!(used("'é' == x // x"), [8]);
        assert_eq!(used("self.all(x, x > 1) && x.exists(y, y == x)"), [22, 39]);
        assert_eq!(used("x.map(x, x)"), [0]);
        assert_eq!(used("self.map(y, y > 1,\n x + y)"), [20]);
        assert_eq!(used("self.transformList(i, x, i > 0, x)"), [0; 0]);
        assert_eq!(used("self.sortBy(e, x[e])"), [15]);
        assert_eq!(used("self.?a.optMap(x, x).orValue(x)"), [29]);
        assert_eq!(used("[x, self[x], self.x]"), [1, 9]);
    }
}
