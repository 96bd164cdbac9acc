//! Environments, and what expressions become in them.

use crate::check::{self, Checked, Declarations};
use crate::cost::{self, Range, Sizes};
use crate::eval::{self, Node, Outcome};
use crate::issue::Issues;
use crate::parse::{self, Macros};
use crate::schema::DeclType;
use crate::schema::escape::{escape, is_reserved};
use crate::types::Type;
use crate::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The minor release of Kubernetes whose functions exist.
///
/// The value of the oldest release counts for older ones too, and that of the newest for newer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(u8);

impl Release {
    /// 1.28, the oldest.
    pub const OLDEST: Release = Release(28);
    /// 1.37, the newest.
    pub const NEWEST: Release = Release(37);

    /// From here on, a field whose name is a reserved word is found under its own name, too.
    const RESERVED_FIELDS: Release = Release(31);

    /// The functions that exist for expressions that are stored already: everything that the release knows.
    pub fn stored(minor: u8) -> Release {
        Release(minor.clamp(Release::OLDEST.0, Release::NEWEST.0))
    }

    /// The functions that exist for new expressions: those of the release before, so that it can be gone back to.
    pub fn new_expressions(minor: u8) -> Release {
        Release::stored(minor.saturating_sub(1))
    }

    /// The minor release.
    pub fn minor(self) -> u8 {
        self.0
    }
}

/// What expressions can use: functions by release, variables, object types.
#[derive(Clone, Debug)]
pub struct Env {
    release: Release,
    container: String,
    variables: Vec<(Arc<str>, Type)>,
    objects: BTreeMap<Arc<str>, Arc<DeclType>>,
}

impl Env {
    /// An environment without variables.
    pub fn new(release: Release) -> Env {
        Env { release, container: String::new(), variables: Vec::new(), objects: BTreeMap::new() }
    }

    /// Names are looked up in this container first: `b` may be `a.b` in the container `a`.
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

    /// Declares the object types inside a type.
    #[must_use]
    pub(crate) fn with_objects(mut self, ty: &Arc<DeclType>) -> Env {
        ty.objects(&mut self.objects);
        self
    }

    /// Parses and checks an expression.
    ///
    /// # Errors
    /// Every mistake with its place, worded as upstream words it.
    pub fn compile(&self, source: &str) -> Result<Ast, Issues> {
        let release = self.release.0;
        let macros = Macros { optional: true, two_variables: release >= 32, sort_by: release >= 34 };
        let parsed = parse::parse(source, macros)?;
        let checked = check::check(parsed, self, source)?;
        if release >= 29 {
            check::validate(&checked, source)?;
        }
        let variables = self.variables.iter().map(|(name, _)| name.clone()).collect();
        Ok(Ast { checked, variables, release })
    }
}

impl Declarations for Env {
    fn release(&self) -> u8 {
        self.release.0
    }

    fn container(&self) -> &str {
        &self.container
    }

    fn variable(&self, name: &str) -> Option<Type> {
        self.variables.iter().find(|(own, _)| **own == *name).map(|(_, ty)| ty.clone())
    }

    fn has_object(&self, name: &str) -> bool {
        self.objects.contains_key(name)
    }

    fn field(&self, object: &str, field: &str) -> Option<Type> {
        let object = self.objects.get(object)?;
        let reserved = || {
            let escaped = escape(field).filter(|_| self.release >= Release::RESERVED_FIELDS && is_reserved(field))?;
            object.field(&escaped)
        };
        object.field(field).or_else(reserved).map(|ty| ty.cel_type())
    }
}

/// A checked expression.
#[derive(Clone, Debug)]
pub struct Ast {
    checked: Checked,
    variables: Vec<Arc<str>>,
    release: u8,
}

impl Ast {
    /// The type of the expression.
    pub fn output_type(&self) -> &Type {
        self.checked.ty(self.checked.expr.id)
    }

    /// Whether the expression uses a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.checked.names().any(|name| name == variable)
    }

    /// What an evaluation can cost.
    pub fn estimate(&self, sizes: &dyn Sizes) -> Range {
        cost::estimate(&self.checked, sizes)
    }

    /// Makes a program.
    ///
    /// # Errors
    /// Upstream's text for a constant that is wrong, such as `int("x")`.
    pub fn program(&self) -> Result<Program, String> {
        let (node, slots) = eval::plan(&self.checked, &self.variables, self.release)?;
        Ok(Program { node, slots, variables: self.variables.clone() })
    }
}

/// An expression that can be evaluated, by any number of threads.
#[derive(Clone, Debug)]
pub struct Program {
    node: Node,
    slots: usize,
    variables: Vec<Arc<str>>,
}

impl Program {
    /// Evaluates the expression. Variables that are not given are unset. The evaluation ends with an error as soon as it costs
    /// more than `limit`.
    pub fn evaluate<'a>(
        &'a self,
        variables: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        limit: u64,
    ) -> Outcome<'a> {
        let mut values: Vec<Option<Value<'a>>> = vec![None; self.variables.len()];
        for (name, value) in variables {
            if let Some(index) = self.variables.iter().position(|own| **own == *name) {
                values[index] = Some(value);
            }
        }
        eval::run(&self.node, self.slots, &values, limit)
    }
}
