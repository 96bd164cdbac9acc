//! Expressions of admission policies and of match conditions: what they can use, and what they must evaluate to
//! (`admission/plugin/cel` of `k8s.io/apiserver`).
//!
//! # Example
//! ```
//! use kubeshape_cel::{Language, Release};
//! use kubeshape_cel::admission::{Compiled, Options, Returns, environment};
//!
//! let env = environment(&Options { has_authorizer: true, ..Options::new(Language::new_expressions(Release::nearest(36))) });
//! assert!(Compiled::new("object.spec.replicas <= 5", &env, Returns::Bool).program.is_ok());
//! let error = Compiled::new("object.spec.replicas", &env, Returns::Bool).program.unwrap_err();
//! assert_eq!(error.detail, "must evaluate to bool but got dyn");
//! ```

use crate::{Env, Language, Program, Type};
use std::collections::BTreeMap;

/// How deep the type of a variable is kept. Deeper levels become `dyn`.
const MAX_TYPE_LEVELS: usize = 64;
/// The name of the variable that holds the variables of the policy.
pub const VARIABLES: &str = "variables";
/// The type of [`VARIABLES`].
const VARIABLES_TYPE: &str = "kubernetes.variables";

/// How many variables of a policy are compiled. Each can use all variables before it. Upstream has no such bound.
pub const MAX_VARIABLES: usize = 1_000;

/// What the expressions of one kind can use.
#[derive(Clone, Debug)]
pub struct Options {
    /// The language of the server's release.
    pub language: Language,
    /// Whether `params` exists.
    pub has_params: bool,
    /// Whether `authorizer` exists.
    pub has_authorizer: bool,
    /// Whether patches can be constructed: `Object`, `JSONPatch`.
    pub has_patches: bool,
}

impl Options {
    /// Returns the options that only set a language.
    pub fn new(language: impl Into<Language>) -> Options {
        Options { language: language.into(), has_params: false, has_authorizer: false, has_patches: false }
    }
}

/// Returns the environment of expressions about objects of any kind: `object`, `oldObject`, `request`,
/// `namespaceObject`, and whatever the options add.
pub fn environment(options: &Options) -> Env {
    with_types(Env::new(options.language.clone()), options)
        .with_variable("object", Type::Dyn)
        .with_variable("oldObject", Type::Dyn)
}

/// Declares everything that does not depend on the kind of the object: the types of `request` and `namespaceObject`,
/// and their variables.
pub fn with_types(env: Env, options: &Options) -> Env {
    let text = Type::String;
    let texts = || Type::list(Type::String);
    let named = |name: &str| Type::object(name);
    let map = |value: Type| Type::map(Type::String, value);
    let mut env = env
        .with_object_type("kubernetes.GroupVersionKind", ["group", "version", "kind"].map(|name| (name, text.clone())))
        .with_object_type(
            "kubernetes.GroupVersionResource",
            ["group", "version", "resource"].map(|name| (name, text.clone())),
        )
        .with_object_type(
            "kubernetes.UserInfo",
            [("username", text.clone()), ("uid", text.clone()), ("groups", texts()), ("extra", map(texts()))],
        )
        .with_object_type(
            "kubernetes.AdmissionRequest",
            [
                ("kind", named("kubernetes.GroupVersionKind")),
                ("resource", named("kubernetes.GroupVersionResource")),
                ("subResource", text.clone()),
                ("requestKind", named("kubernetes.GroupVersionKind")),
                ("requestResource", named("kubernetes.GroupVersionResource")),
                ("requestSubResource", text.clone()),
                ("name", text.clone()),
                ("namespace", text.clone()),
                ("operation", text.clone()),
                ("userInfo", named("kubernetes.UserInfo")),
                ("dryRun", Type::Bool),
                ("options", Type::Dyn),
            ],
        )
        .with_object_type("kubernetes.NamespaceSpec", [("finalizers", texts())])
        .with_object_type(
            "kubernetes.NamespaceCondition",
            [
                ("status", text.clone()),
                ("type", text.clone()),
                ("lastTransitionTime", Type::Timestamp),
                ("message", text.clone()),
                ("reason", text.clone()),
            ],
        )
        .with_object_type(
            "kubernetes.NamespaceStatus",
            [("conditions", Type::list(named("kubernetes.NamespaceCondition"))), ("phase", text.clone())],
        )
        .with_object_type(
            "kubernetes.NamespaceMetadata",
            [
                ("name", text.clone()),
                ("generateName", text.clone()),
                ("namespace", text.clone()),
                ("labels", map(text.clone())),
                ("annotations", map(text.clone())),
                ("UID", text.clone()),
                ("creationTimestamp", Type::Timestamp),
                ("deletionGracePeriodSeconds", Type::Int),
                ("deletionTimestamp", Type::Timestamp),
                ("generation", Type::Int),
                ("resourceVersion", text.clone()),
                ("finalizers", texts()),
            ],
        )
        .with_object_type(
            "kubernetes.Namespace",
            [
                ("metadata", named("kubernetes.NamespaceMetadata")),
                ("spec", named("kubernetes.NamespaceSpec")),
                ("status", named("kubernetes.NamespaceStatus")),
            ],
        )
        .with_variable("namespaceObject", named("kubernetes.Namespace"))
        .with_variable("request", named("kubernetes.AdmissionRequest"));
    if options.has_params {
        env = env.with_variable("params", Type::Dyn);
    }
    if options.has_authorizer {
        env = env
            .with_variable("authorizer", named("kubernetes.authorization.Authorizer"))
            .with_variable("authorizer.requestResource", named("kubernetes.authorization.ResourceCheck"));
    }
    if options.has_patches { env.with_patches() } else { env }
}

/// Declares variables of a policy whose types are known.
pub fn with_variables(env: Env, types: &BTreeMap<String, Type>) -> Env {
    env.with_object_type(VARIABLES_TYPE, types.iter().map(|(name, ty)| (name.clone(), ty.clone())))
        .with_variable(VARIABLES, Type::object(VARIABLES_TYPE))
}

/// Declares only the variables that an expression can name. Declaring all of them for each variable would take
/// quadratic time.
pub fn with_variables_of(env: Env, types: &BTreeMap<String, Type>, expression: &str) -> Env {
    let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let used = words.filter_map(|word| types.get_key_value(word));
    with_variables(env, &used.map(|(name, ty)| (name.clone(), ty.clone())).collect())
}

/// Returns the type that a variable of a policy has in other expressions (`convertCelTypeToDeclType`).
pub fn kept_type(ty: &Type) -> Type {
    within(ty, MAX_TYPE_LEVELS)
}

/// Returns the type with everything deeper than `levels` replaced by `dyn`. Without this bound, each variable could
/// nest the type of the one before it.
fn within(ty: &Type, levels: usize) -> Type {
    let Some(below) = levels.checked_sub(1) else { return Type::Dyn };
    match ty {
        Type::List(element) => Type::list(within(element, below)),
        Type::Map(entry) => Type::map(within(&entry.0, below), within(&entry.1, below)),
        Type::Any
        | Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => ty.clone(),
        _ => Type::Dyn,
    }
}

/// What expressions must evaluate to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Anything.
    Any,
    /// A boolean.
    Bool,
    /// A string.
    Text,
    /// A string or null.
    TextOrNull,
    /// A list of `JSONPatch`.
    Patches,
    /// An `Object`.
    Object,
}

impl Returns {
    /// Returns whether a result of this type is allowed. `dyn` is not.
    fn takes(self, ty: &Type) -> bool {
        let is_named = |ty: &Type, wanted: &str| matches!(ty, Type::Struct(name) if **name == *wanted);
        match self {
            Returns::Any => true,
            Returns::Bool => *ty == Type::Bool,
            Returns::Text => *ty == Type::String,
            Returns::TextOrNull => matches!(ty, Type::String | Type::Null),
            Returns::Patches => matches!(ty, Type::List(element) if is_named(element, "JSONPatch")),
            Returns::Object => is_named(ty, "Object"),
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Returns::Any => "any",
            Returns::Bool => "bool",
            Returns::Text => "string",
            Returns::TextOrNull => "one of [string null_type]",
            Returns::Patches => "list(JSONPatch)",
            Returns::Object => "Object",
        }
    }
}

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// The detail of the field error.
    pub detail: String,
    /// Whether the expression checks but the server cannot build a program from it. The error is an internal one.
    pub is_internal: bool,
}

/// An expression with its program.
#[derive(Clone, Debug)]
pub struct Compiled<'a> {
    /// The expression as written.
    pub expression: &'a str,
    /// The program, or the error that prevents one.
    pub program: Result<Program, CompileError>,
    /// The type of its result; `dyn` if it does not compile.
    pub ty: Type,
}

impl<'a> Compiled<'a> {
    /// Compiles an expression (`compiler.CompileCELExpression`).
    pub fn new(expression: &'a str, env: &Env, returns: Returns) -> Compiled<'a> {
        let compile = || {
            let error = |detail: String| CompileError { detail, is_internal: false };
            let ast = env.compile(expression).map_err(|issues| error(format!("compilation failed: {issues}")))?;
            let ty = ast.output_type().clone();
            if !returns.takes(&ty) {
                return Err(error(format!("must evaluate to {} but got {ty}", returns.wanted())));
            }
            let program = ast.program().map_err(|text| CompileError {
                detail: format!("program instantiation failed: {text}"),
                is_internal: true,
            })?;
            Ok((program, ty))
        };
        match compile() {
            Ok((program, ty)) => Compiled { expression, program: Ok(program), ty },
            Err(error) => Compiled { expression, program: Err(error), ty: Type::Dyn },
        }
    }
}

/// The variables of a policy. If several have the same name, the last one is used.
#[derive(Clone, Debug, Default)]
pub struct Variables<'a> {
    /// The expressions by name.
    pub compiled: BTreeMap<&'a str, Compiled<'a>>,
    /// The types that other expressions see, by name.
    pub types: BTreeMap<String, Type>,
}

impl<'a> Variables<'a> {
    /// Compiles variables in order. Each can use the ones before it.
    pub fn new(declared: &[(&'a str, &'a str)], env: &Env) -> Variables<'a> {
        let mut variables = Variables::default();
        for (name, expression) in declared {
            variables.add(name, expression, env);
        }
        variables
    }

    /// Compiles one more variable. It can use the ones before it.
    pub fn add(&mut self, name: &'a str, expression: &'a str, env: &Env) {
        let compiled = if self.compiled.len() < MAX_VARIABLES {
            Compiled::new(expression, &with_variables_of(env.clone(), &self.types, expression), Returns::Any)
        } else {
            let detail = format!("a policy has at most {MAX_VARIABLES} variables");
            Compiled { expression, program: Err(CompileError { detail, is_internal: false }), ty: Type::Dyn }
        };
        self.types.insert(name.to_owned(), kept_type(&compiled.ty));
        self.compiled.insert(name, compiled);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_VARIABLES, Options, Variables, environment};
    use crate::Release;

    #[test]
    fn the_work_for_variables_is_bounded() {
        let env = environment(&Options::new(Release::NEWEST));
        let names: Vec<String> = (0..MAX_VARIABLES + 2).map(|number| format!("v{number}")).collect();
        let declared: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        let variables = Variables::new(&declared, &env);
        let failed = variables.compiled.values().filter(|compiled| compiled.program.is_err()).count();
        assert_eq!((variables.compiled.len(), failed), (MAX_VARIABLES + 2, 2));
    }
}
