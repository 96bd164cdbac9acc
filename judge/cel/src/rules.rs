//! Rules of `x-kubernetes-validations` under their schemas.

use crate::env::{Ast, Env, Program};
use crate::issue::Issues;
use crate::release::Language;
use crate::schema::DeclType;
use crate::types::Type;
use kubeshape_schema::Schema;
use std::fmt;
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
    /// The program to evaluate.
    pub program: Program,
    /// Whether the rule is a transition rule.
    pub uses_old_self: bool,
    /// The maximum cost of one evaluation.
    pub max_cost: u64,
}

/// A checked rule or message without a program. Its cost can be estimated in several releases.
#[derive(Clone, Debug)]
pub struct CheckedRule {
    ast: Ast,
    /// Whether it is a transition rule.
    pub uses_old_self: bool,
}

impl CheckedRule {
    /// The expression with its types.
    pub fn ast(&self) -> &Ast {
        &self.ast
    }

    /// Returns the maximum cost of one evaluation in a release, for values of the type with which the rule was checked.
    pub fn max_cost(&self, decl: &DeclType, language: impl Into<Language>) -> u64 {
        self.ast.estimate_in(decl, &language.into()).max
    }
}

/// Why an expression cannot be used. `Display` prints upstream's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// Upstream's message.
    pub detail: String,
    /// Whether the expression uses `oldSelf`; `false` if its types are not known.
    pub uses_old_self: bool,
    /// The errors with their locations, if the expression does not compile.
    pub issues: Option<Issues>,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for RuleError {}

impl RuleEnv {
    /// Creates the environments of a node; `None` if rules cannot see its values. `type_name` is the prefix of its
    /// object types in messages: upstream calls it `selfType` with a number.
    pub fn new(
        schema: &Schema<'_>,
        is_resource_root: bool,
        language: impl Into<Language>,
        type_name: &str,
    ) -> Option<RuleEnv> {
        let decl = DeclType::of(schema, is_resource_root)?;
        Some(RuleEnv::of_type(&Arc::new(decl), language, type_name))
    }

    /// Creates the environments of a node whose declared type is known.
    pub fn of_type(decl: &Arc<DeclType>, language: impl Into<Language>, type_name: &str) -> RuleEnv {
        let name: Arc<str> = type_name.into();
        let ty = decl.cel_type(&name);
        let env = Env::new(language).with_objects(&name, decl).with_variable("self", ty.clone());
        let optional_env = env.clone().with_variable("oldSelf", Type::optional(ty.clone()));
        let env = env.with_variable("oldSelf", ty);
        RuleEnv { decl: decl.clone(), env, optional_env }
    }

    /// Returns the minimum size of a value in bytes of JSON.
    pub fn min_serialized_size(&self) -> i64 {
        self.decl.min_serialized_size()
    }

    /// Returns how often the node can occur in one object.
    pub fn max_cardinality(&self) -> u64 {
        self.decl.max_cardinality()
    }

    /// Compiles a rule.
    ///
    /// # Errors
    /// Returns the error of the rule.
    pub fn rule(&self, source: &str, optional_old_self: bool) -> Result<Rule, RuleError> {
        self.compile(source, optional_old_self, &RULE)
    }

    /// Checks a rule, and that a program can be built from it.
    ///
    /// # Errors
    /// Returns the error of the rule.
    pub fn checked_rule(&self, source: &str, optional_old_self: bool) -> Result<CheckedRule, RuleError> {
        Ok(self.checked(source, optional_old_self, &RULE)?.0)
    }

    /// Checks a message expression, and that a program can be built from it.
    ///
    /// # Errors
    /// Returns the error of the expression.
    pub fn checked_message(&self, source: &str, optional_old_self: bool) -> Result<CheckedRule, RuleError> {
        Ok(self.checked(source, optional_old_self, &MESSAGE)?.0)
    }

    /// Compiles a message expression.
    ///
    /// # Errors
    /// Returns the error of the expression.
    pub fn message(&self, source: &str, optional_old_self: bool) -> Result<Rule, RuleError> {
        self.compile(source, optional_old_self, &MESSAGE)
    }

    /// Checks an expression of any type.
    ///
    /// # Errors
    /// Returns all errors with their locations.
    pub fn ast(&self, source: &str, optional_old_self: bool) -> Result<Ast, Issues> {
        let env = if optional_old_self { &self.optional_env } else { &self.env };
        env.compile(source)
    }

    fn compile(&self, source: &str, optional_old_self: bool, purpose: &Purpose) -> Result<Rule, RuleError> {
        let (CheckedRule { ast, uses_old_self }, program) = self.checked(source, optional_old_self, purpose)?;
        Ok(Rule { program, uses_old_self, max_cost: ast.estimate(&*self.decl).max })
    }

    fn checked(
        &self,
        source: &str,
        optional_old_self: bool,
        purpose: &Purpose,
    ) -> Result<(CheckedRule, Program), RuleError> {
        let wrong = |detail: String, uses_old_self: bool| RuleError { detail, uses_old_self, issues: None };
        let ast = self.ast(source, optional_old_self).map_err(|issues| RuleError {
            detail: format!("{}compilation failed: {issues}", purpose.compiling),
            uses_old_self: false,
            issues: Some(issues),
        })?;
        if *ast.output_type() != purpose.result {
            return Err(wrong(purpose.wrong_type.to_owned(), false));
        }
        let uses_old_self = ast.uses("oldSelf");
        let program = ast
            .program()
            .map_err(|error| wrong(format!("{} instantiation failed: {error}", purpose.making), uses_old_self))?;
        Ok((CheckedRule { ast, uses_old_self }, program))
    }
}

/// The purpose of an expression, and the wording of messages about it.
struct Purpose {
    result: Type,
    compiling: &'static str,
    making: &'static str,
    wrong_type: &'static str,
}

const RULE: Purpose = Purpose {
    result: Type::Bool,
    compiling: "",
    making: "program",
    wrong_type: "cel expression must evaluate to a bool",
};
const MESSAGE: Purpose = Purpose {
    result: Type::String,
    compiling: "messageExpression ",
    making: "messageExpression",
    wrong_type: "messageExpression must evaluate to a string",
};
