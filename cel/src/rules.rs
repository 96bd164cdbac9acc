//! Rules of `x-kubernetes-validations` under their schemas.

use crate::env::{Ast, Env, Program, Release};
use crate::schema::{DeclType, MAX_REQUEST, Schema};
use crate::types::Type;
use std::sync::Arc;

/// The environments of the rules of one node of a schema.
#[derive(Clone, Debug)]
pub struct RuleEnv {
    decl: Arc<DeclType>,
    env: Env,
    optional_env: Env,
}

/// A rule that compiles.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What is evaluated.
    pub program: Program,
    /// Whether the rule is about a change.
    pub uses_old_self: bool,
    /// What one evaluation can cost at most.
    pub max_cost: u64,
}

impl RuleEnv {
    /// The environments of a node; `None` if rules cannot see its values. `type_name` begins the names of its object types
    /// in messages: upstream calls it `selfType` with a number.
    pub fn new(schema: &Schema, is_resource_root: bool, release: Release, type_name: &str) -> Option<RuleEnv> {
        Some(RuleEnv::of_type(&DeclType::of(schema, is_resource_root)?, release, type_name))
    }

    /// The environments of a node whose declared type is known already.
    pub fn of_type(decl: &DeclType, release: Release, type_name: &str) -> RuleEnv {
        let decl = Arc::new(decl.named(type_name));
        let env = Env::new(release).with_objects(&decl).with_variable("self", decl.cel_type());
        let optional_env = env.clone().with_variable("oldSelf", Type::optional(decl.cel_type()));
        let env = env.with_variable("oldSelf", decl.cel_type());
        RuleEnv { decl, env, optional_env }
    }

    /// How many bytes of JSON a value of the node takes at least.
    pub fn min_serialized_size(&self) -> i64 {
        self.decl.min_serialized_size()
    }

    /// How often the node can occur in one object.
    pub fn max_cardinality(&self) -> u64 {
        u64::try_from(MAX_REQUEST / (self.decl.min_serialized_size() + 1)).unwrap_or(0)
    }

    /// Compiles a rule.
    ///
    /// # Errors
    /// Upstream's text for what is wrong.
    pub fn rule(&self, source: &str, optional_old_self: bool) -> Result<Rule, String> {
        let env = if optional_old_self { &self.optional_env } else { &self.env };
        let ast = env.compile(source).map_err(|issues| format!("compilation failed: {issues}"))?;
        if *ast.output_type() != Type::Bool {
            return Err("cel expression must evaluate to a bool".to_owned());
        }
        self.finish(&ast).map_err(|error| format!("program instantiation failed: {error}"))
    }

    /// Compiles a message expression.
    ///
    /// # Errors
    /// Upstream's text for what is wrong.
    pub fn message(&self, source: &str, optional_old_self: bool) -> Result<Rule, String> {
        let env = if optional_old_self { &self.optional_env } else { &self.env };
        let ast = env.compile(source).map_err(|issues| format!("messageExpression compilation failed: {issues}"))?;
        if *ast.output_type() != Type::String {
            return Err("messageExpression must evaluate to a string".to_owned());
        }
        self.finish(&ast).map_err(|error| format!("messageExpression instantiation failed: {error}"))
    }

    fn finish(&self, ast: &Ast) -> Result<Rule, String> {
        let program = ast.program()?;
        Ok(Rule { program, uses_old_self: ast.uses("oldSelf"), max_cost: ast.estimate(&*self.decl).max })
    }
}
