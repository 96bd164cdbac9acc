//! Environments, and the steps from a string to a program.

use crate::ast::{Expr, Id, Kind};
use crate::check::{self, Checked, Declarations};
use crate::cost::{self, Range, Sizes};
use crate::decls::Name;
use crate::eval::{self, Bounds, Node, Outcome};
use crate::issue::Issues;
use crate::library::regex::Patterns;
use crate::parse;
use crate::part;
use crate::release::Language;
use crate::schema::DeclType;
use crate::schema::escape::{self, escape, is_reserved};
use crate::types::Type;
use crate::value::{Value, object};
use kubeshape_schema::nearest;
use kubeshape_value::Stop;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What expressions can use: functions by release, variables, object types.
#[derive(Clone, Debug)]
pub struct Env {
    language: Language,
    container: String,
    variables: Vec<(Arc<str>, Type)>,
    /// Declared types whose object types have names, with the prefix of those names.
    objects: Vec<(Arc<str>, Arc<DeclType>)>,
    /// Object types by name.
    named: BTreeMap<Arc<str>, Arc<BTreeMap<String, Type>>>,
    /// Whether expressions can construct patches.
    makes_patches: bool,
}

impl Env {
    /// Creates an environment without variables.
    pub fn new(language: impl Into<Language>) -> Env {
        Env {
            language: language.into(),
            container: String::new(),
            variables: Vec::new(),
            objects: Vec::new(),
            named: BTreeMap::new(),
            makes_patches: false,
        }
    }

    /// Sets the container in which names are looked up first: `b` may be `a.b` in the container `a`.
    #[must_use]
    pub fn with_container(mut self, container: &str) -> Env {
        container.clone_into(&mut self.container);
        self
    }

    /// Declares a variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, ty: Type) -> Env {
        self.variables.retain(|(own, _)| **own != *name);
        self.variables.push((name.into(), ty));
        self
    }

    /// Declares the object types inside a type. `name` is the prefix of their names.
    #[must_use]
    pub fn with_objects(mut self, name: &Arc<str>, ty: &Arc<DeclType>) -> Env {
        self.objects.push((name.clone(), ty.clone()));
        self
    }

    /// Declares an object type with fields.
    #[must_use]
    pub fn with_object_type<N: Into<String>>(mut self, name: &str, fields: impl IntoIterator<Item = (N, Type)>) -> Env {
        let fields = fields.into_iter().map(|(name, ty)| (name.into(), ty)).collect();
        self.named.insert(name.into(), Arc::new(fields));
        self
    }

    /// Lets expressions construct patches: `Object{…}` with all fields, `Object.spec{…}`,
    /// `JSONPatch{op, path, from, value}`, and the function `jsonpatch.escapeKey`.
    #[must_use]
    pub fn with_patches(mut self) -> Env {
        self.makes_patches = true;
        self
    }

    /// Returns whether the name is `self` and `self` has a declared type.
    fn is_self(&self, name: &str) -> bool {
        self.variables.iter().any(|(own, ty)| &**own == "self" && matches!(ty, Type::Struct(ty) if **ty == *name))
    }

    /// Returns the object type of a name.
    fn object(&self, name: &str) -> Option<&DeclType> {
        self.objects.iter().find_map(|(prefix, ty)| ty.named(name.strip_prefix(&**prefix)?))
    }

    /// Parses and checks an expression.
    ///
    /// # Errors
    /// Returns all errors with their locations, in upstream's words.
    pub fn compile(&self, source: &str) -> Result<Ast, Issues> {
        let parsed = parse::parse(source, &self.language)?;
        let checked = check::check(parsed, self, source)?;
        check::validate(&checked, &self.language, source)?;
        let variables = self.variables.iter().map(|(name, _)| name.clone()).collect();
        Ok(Ast { checked, variables, language: self.language.clone() })
    }
}

/// The first release in which a field whose name is a reserved word is also found under its own name.
const RESERVED_FIELDS: u8 = 31;

impl Declarations for Env {
    fn language(&self) -> &Language {
        &self.language
    }

    fn container(&self) -> &str {
        &self.container
    }

    fn variable(&self, name: &str) -> Option<&(Arc<str>, Type)> {
        self.variables.iter().find(|(own, _)| **own == *name)
    }

    fn has_object(&self, name: &str) -> bool {
        self.named.contains_key(name)
            || self.makes_patches && object::is_patch_type(name)
            || self.object(name).is_some()
    }

    fn has_function(&self, name: Name) -> bool {
        name != Name::JsonPatchEscapeKey || self.makes_patches
    }

    fn field(&self, object: &str, field: &str) -> Option<Type> {
        if let Some(fields) = self.named.get(object) {
            return fields.get(field).cloned();
        }
        if self.makes_patches && object::is_patch_type(object) {
            return object::field_type(object, field);
        }
        let ty = self.object(object)?;
        let reserved = || {
            let ty = ty.field(&escape(field).filter(|_| is_reserved(field))?)?;
            self.language.knows(RESERVED_FIELDS).then_some(ty)
        };
        let ty = ty.field(field).or_else(reserved)?;
        Some(ty.cel_type(&format!("{object}.{field}")))
    }

    fn meant_fields(&self, object: &str, field: &str) -> Vec<String> {
        match self.named.get(object) {
            Some(fields) => nearest(field, fields.keys().map(String::as_str)),
            None => self.object(object).map(|ty| ty.meant(field)).unwrap_or_default(),
        }
    }

    fn meant_names(&self, name: &str) -> Vec<String> {
        let of_self =
            self.objects.iter().find(|(name, _)| self.is_self(name)).map(|(_, ty)| ty.meant(name)).unwrap_or_default();
        let is_exact = |field: &String| escape::is_written_for(field, name);
        if of_self.first().is_some_and(is_exact) {
            return of_self.into_iter().map(|field| format!("self.{field}")).collect();
        }
        nearest(name, self.variables.iter().map(|(own, _)| &**own))
    }
}

/// A checked expression.
#[derive(Clone, Debug)]
pub struct Ast {
    checked: Checked,
    variables: Vec<Arc<str>>,
    language: Language,
}

/// A call of a function with one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'e> {
    /// The function.
    pub function: &'e str,
    /// The argument: a variable with its fields and indexes, such as `self.limits[key]`.
    pub argument: String,
    /// Whether the type of the argument is known only when the expression is evaluated.
    pub is_dynamic: bool,
}

impl Ast {
    pub(crate) fn expr(&self) -> &Expr {
        &self.checked.expr
    }

    /// The type of a node.
    pub(crate) fn type_of(&self, id: Id) -> &Type {
        self.checked.ty(id)
    }

    /// Line from 1 and column from 0 of a node.
    pub(crate) fn place(&self, id: Id) -> (i32, i32) {
        self.checked.places.of(id)
    }

    /// Returns the type of the expression.
    pub fn output_type(&self) -> &Type {
        self.checked.ty(self.checked.expr.id)
    }

    /// Returns whether the expression uses a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.checked.names().any(|name| name == variable)
    }

    /// Returns the types of all parts of the expression.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        self.checked.types()
    }

    /// Returns whether the type of some part is known only at evaluation, so that evaluation can fail with a type
    /// error.
    pub fn is_dynamic(&self) -> bool {
        self.checked.types().any(Type::holds_dyn)
    }

    /// Returns the calls of functions with one argument that is a path, such as `quantity(self.size)`, in the order of
    /// the expression.
    ///
    /// # Example
    /// ```
    /// use kubeshape_cel::{Env, Release, Type};
    ///
    /// let env = Env::new(Release::nearest(36)).with_variable("self", Type::Dyn);
    /// let ast = env.compile("type(self.size) == int || isQuantity(self.size)").unwrap();
    /// let calls: Vec<_> = ast.calls().into_iter().map(|call| (call.function, call.argument)).collect();
    /// assert_eq!(calls, [("type", "self.size".to_owned()), ("isQuantity", "self.size".to_owned())]);
    /// ```
    pub fn calls(&self) -> Vec<Call<'_>> {
        let mut out = Vec::new();
        let mut todo = vec![&self.checked.expr];
        while let Some(expr) = todo.pop() {
            if let Kind::Call { function, target: None, args } = &expr.kind
                && let [argument] = args.as_slice()
                && let Some(path) = argument.path()
            {
                let is_dynamic = self.checked.ty(argument.id).is_dyn();
                out.push(Call { function, argument: path, is_dynamic });
            }
            let above = todo.len();
            expr.each_child(|child| todo.push(child));
            todo[above..].reverse();
        }
        out
    }

    /// Estimates the cost of an evaluation.
    pub fn estimate(&self, sizes: &dyn Sizes) -> Range {
        self.estimate_in(sizes, &self.language)
    }

    /// Estimates the cost of an evaluation over values of a limited size: strings, lists and maps of the variables have
    /// at most `most` characters or entries, and so do values whose size is unknown.
    ///
    /// # Example
    /// ```
    /// use kubeshape_cel::{Env, Release, Type, UnknownSizes};
    ///
    /// let env = Env::new(Release::NEWEST).with_variable("self", Type::Dyn);
    /// let ast = env.compile("self.items.all(item, item > 0)")?;
    /// let costs = [10, 100].map(|most| ast.estimate_within(&UnknownSizes, most).max);
    /// assert_eq!(costs, [52, 502]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn estimate_within(&self, sizes: &dyn Sizes, most: u64) -> Range {
        cost::estimate_within(&self.checked, sizes, &self.language, most)
    }

    /// Returns the range of bytes of the first function whose result has no known size in the estimate.
    pub fn endless_part(&self, source: &str, sizes: &dyn Sizes) -> Option<std::ops::Range<usize>> {
        let call = cost::endless(&self.checked, sizes, &self.language)?;
        part::at(source, self.checked.places.of(call))
    }

    /// Estimates the cost in another release that checks the expression in the same way.
    pub(crate) fn estimate_in(&self, sizes: &dyn Sizes, language: &Language) -> Range {
        cost::estimate(&self.checked, sizes, language)
    }

    /// Builds a program.
    ///
    /// # Errors
    /// Returns upstream's message about an invalid constant, such as `int("x")`.
    pub fn program(&self) -> Result<Program, String> {
        let (node, slots) = eval::plan(&self.checked, &self.variables, &self.language)?;
        Ok(Program { node, slots, variables: self.variables.clone(), patterns: Patterns::default() })
    }
}

/// An expression that can be evaluated, by any number of threads.
#[derive(Clone, Debug)]
pub struct Program {
    node: Node,
    slots: usize,
    variables: Vec<Arc<str>>,
    patterns: Patterns,
}

impl Program {
    /// Evaluates the expression. Variables without a value are unset. The evaluation ends with an error as soon as it
    /// costs more than `limit`.
    pub fn evaluate<'a>(
        &'a self,
        variables: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        limit: u64,
    ) -> Outcome<'a> {
        self.evaluate_until(variables, limit, Stop::NEVER)
    }

    /// Like [`evaluate`](Self::evaluate), but also ends with an error when the flag is set.
    pub fn evaluate_until<'a>(
        &'a self,
        variables: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        limit: u64,
        stop: Stop<'_>,
    ) -> Outcome<'a> {
        eval::with_places(self.variables.len(), |values| {
            self.set(values, variables);
            eval::run(&self.node, self.slots, &self.patterns, values, Bounds { limit, stop }, None)
        })
    }

    /// Like [`evaluate`](Self::evaluate), with one more variable whose fields are evaluated at their first use. The
    /// outcome does not include their cost. `fields` returns the value of a field, or `None` if there is no such field.
    pub fn evaluate_lazily<'a>(
        &'a self,
        variables: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        variable: &'static str,
        fields: &mut dyn FnMut(&str) -> Option<Value<'a>>,
        limit: u64,
    ) -> Outcome<'a> {
        let mut values = vec![None; self.variables.len()];
        self.set(&mut values, variables);
        let bounds = Bounds { limit, stop: Stop::NEVER };
        let lazy = eval::Lazy { variable, evaluate: fields };
        eval::run(&self.node, self.slots, &self.patterns, &values, bounds, Some(lazy))
    }

    /// Returns the program with the values of its variables, for more than one evaluation.
    pub fn bind<'a>(&'a self, variables: impl IntoIterator<Item = (&'a str, Value<'a>)>) -> Bound<'a> {
        let mut values = vec![None; self.variables.len()];
        self.set(&mut values, variables);
        Bound { program: self, values }
    }

    fn set<'a>(&'a self, values: &mut [Option<Value<'a>>], variables: impl IntoIterator<Item = (&'a str, Value<'a>)>) {
        for (name, value) in variables {
            if let Some(index) = self.variables.iter().position(|own| **own == *name) {
                values[index] = Some(value);
            }
        }
    }
}

/// A program with values of its variables.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    program: &'a Program,
    values: Vec<Option<Value<'a>>>,
}

impl<'a> Bound<'a> {
    /// Like [`Program::evaluate`].
    pub fn evaluate(&self, limit: u64) -> Outcome<'a> {
        let program = self.program;
        let bounds = Bounds { limit, stop: Stop::NEVER };
        eval::run(&program.node, program.slots, &program.patterns, &self.values, bounds, None)
    }
}
