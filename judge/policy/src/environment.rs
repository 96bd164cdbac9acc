//! Environments of expressions, and the values of their variables: `admission/plugin/cel` of `k8s.io/apiserver`.

use crate::kinds::{Gvk, Gvr};
use crate::request::Request;
use kubeshape_cel::{Access, Authorization, Authorizer, Env, Kube, List, Map as CelMap, Program, Release, Type, Value};
use kubeshape_value::{Bump, Map, Value as Object};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the variable that has the variables of the policy.
pub(crate) const VARIABLES: &str = "variables";
/// Its type.
const VARIABLES_TYPE: &str = "kubernetes.variables";
/// What an expression may cost (`PerCallLimit`).
const MAX_CALL: u64 = 1_000_000;
/// What a group of expressions may cost (`RuntimeCELCostBudget`).
pub(crate) const BUDGET: i64 = 10_000_000;
/// What match conditions may cost (`RuntimeCELCostBudgetMatchConditions`).
pub(crate) const CONDITION_BUDGET: i64 = 2_500_000;
/// How many variables may use one another in a row. Upstream has no such bound.
const MAX_NESTED: usize = 100;
/// Levels of the value of a variable, and values that variables have together.
const MAX_LEVELS: usize = 512;
const MAX_LOOKS: usize = 10_000_000;
/// Levels of the type of a variable. What is deeper is not known.
const MAX_TYPE_LEVELS: usize = 64;
/// The error of a group that costs too much.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// What expressions of one kind can use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) has_params: bool,
    pub(crate) has_authorizer: bool,
    pub(crate) has_patches: bool,
}

/// The base of all environments: the types of `request` and `namespaceObject`, and these variables.
pub(crate) fn env(options: Options) -> Env {
    with_types(Env::new(Release::stored(36)), options)
        .with_variable("object", Type::Dyn)
        .with_variable("oldObject", Type::Dyn)
}

/// Declares what does not depend on the kind of the object.
pub(crate) fn with_types(env: Env, options: Options) -> Env {
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

/// Declares variables of a policy that have types already.
pub(crate) fn with_variables(env: Env, types: &BTreeMap<String, Type>) -> Env {
    env.with_object_type(VARIABLES_TYPE, types.iter().map(|(name, ty)| (name.clone(), ty.clone())))
        .with_variable(VARIABLES, Type::object(VARIABLES_TYPE))
}

/// Declares those variables that an expression can name. All of them for each variable would be a square.
pub(crate) fn with_variables_of(env: Env, types: &BTreeMap<String, Type>, expression: &str) -> Env {
    let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let used = words.filter_map(|word| types.get_key_value(word));
    with_variables(env, &used.map(|(name, ty)| (name.clone(), ty.clone())).collect())
}

/// The type that a variable of a policy has in other expressions (`convertCelTypeToDeclType`).
pub(crate) fn kept_type(ty: &Type) -> Type {
    within(ty, MAX_TYPE_LEVELS)
}

/// The type without what is below so many levels: each variable can nest the type of the one before it.
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
pub(crate) enum Returns {
    Any,
    Bool,
    Text,
    TextOrNull,
    Patches,
    Object,
}

impl Returns {
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
pub(crate) struct CompileError {
    pub(crate) detail: String,
    /// The server cannot make a program of it.
    pub(crate) is_internal: bool,
}

/// An expression with its program.
#[derive(Clone, Debug)]
pub(crate) struct Compiled<'a> {
    pub(crate) expression: &'a str,
    pub(crate) program: Result<Program, CompileError>,
    /// `dyn` if it does not compile.
    pub(crate) ty: Type,
}

impl<'a> Compiled<'a> {
    /// Compiles an expression (`compiler.CompileCELExpression`).
    pub(crate) fn new(expression: &'a str, env: &Env, returns: Returns) -> Compiled<'a> {
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

/// The variables of a policy. Of those with the same name the last one is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables<'a> {
    pub(crate) compiled: BTreeMap<&'a str, Compiled<'a>>,
    pub(crate) types: BTreeMap<String, Type>,
}

impl<'a> Variables<'a> {
    /// Compiles variables in their order; each can use those before it.
    pub(crate) fn new(declared: &[(&'a str, &'a str)], env: &Env) -> Variables<'a> {
        let mut variables = Variables::default();
        for (name, expression) in declared {
            variables.add(name, expression, env);
        }
        variables
    }

    pub(crate) fn add(&mut self, name: &'a str, expression: &'a str, env: &Env) {
        let env = with_variables_of(env.clone(), &self.types, expression);
        let compiled = Compiled::new(expression, &env, Returns::Any);
        self.types.insert(name.to_owned(), kept_type(&compiled.ty));
        self.compiled.insert(name, compiled);
    }
}

/// Values of the variables of expressions.
pub(crate) type Bindings<'a> = Vec<(&'static str, Value<'a>)>;

/// What one expression gave.
pub(crate) type Evaluated<'a> = Result<Value<'a>, String>;

/// A group is out of budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

/// Expressions that are evaluated together: they share a budget, and variables of the policy are evaluated once.
pub(crate) struct Group<'v, 'a> {
    bindings: &'v Bindings<'a>,
    variables: Option<&'a Variables<'a>>,
    known: BTreeMap<&'a str, Option<Value<'a>>>,
    /// What variables cost that were evaluated for the current expression.
    cost_of_variables: u64,
    depth: usize,
    /// Values of variables that are looked at for their depth.
    looks: usize,
    pub(crate) budget: i64,
}

impl<'v, 'a> Group<'v, 'a> {
    pub(crate) fn new(bindings: &'v Bindings<'a>, variables: Option<&'a Variables<'a>>, budget: i64) -> Group<'v, 'a> {
        Group { bindings, variables, known: BTreeMap::new(), cost_of_variables: 0, depth: 0, looks: MAX_LOOKS, budget }
    }

    /// Evaluates an expression (`evaluationActivation.Evaluate`).
    pub(crate) fn evaluate(&mut self, compiled: &'a Compiled<'a>) -> Result<Evaluated<'a>, OutOfBudget> {
        let program = match &compiled.program {
            Ok(program) => program,
            Err(error) => return Ok(Err(format!("compilation error: {}", error.detail))),
        };
        let outcome = self.run(program);
        for cost in [std::mem::take(&mut self.cost_of_variables), outcome.cost] {
            let cost = i64::try_from(cost).unwrap_or(i64::MAX);
            if cost > self.budget {
                return Err(OutOfBudget);
            }
            self.budget -= cost;
        }
        Ok(outcome.result.map_err(|error| format!("expression '{}' resulted in error: {error}", compiled.expression)))
    }

    fn run(&mut self, program: &'a Program) -> kubeshape_cel::Outcome<'a> {
        let bindings = self.bindings.iter().map(|(name, value)| (*name, value.clone()));
        if self.variables.is_none() {
            return program.evaluate(bindings, MAX_CALL);
        }
        program.evaluate_lazily(bindings, VARIABLES, &mut |name| self.variable(name), MAX_CALL)
    }

    /// The value of a variable of the policy.
    fn variable(&mut self, name: &str) -> Option<Value<'a>> {
        let (name, compiled) = self.variables?.compiled.get_key_value(name)?;
        match self.known.get(name) {
            Some(Some(value)) => return Some(value.clone()),
            // Upstream's stack overflows here.
            Some(None) => return Some(Value::error(format!("composited variable \"{name}\" uses itself"))),
            None => {}
        }
        if self.depth >= MAX_NESTED {
            return Some(Value::error(format!("more than {MAX_NESTED} variables use one another")));
        }
        self.known.insert(name, None);
        let value = match &compiled.program {
            Err(error) => Value::error(format!("composited variable \"{name}\" fails to compile: {}", error.detail)),
            Ok(program) => {
                self.depth += 1;
                let outcome = self.run(program);
                self.depth -= 1;
                self.cost_of_variables = self.cost_of_variables.saturating_add(outcome.cost);
                outcome.result.unwrap_or_else(|error| {
                    Value::error(format!("composited variable \"{name}\" fails to evaluate: {error}"))
                })
            }
        };
        let value = if is_shallow(&value, MAX_LEVELS, &mut self.looks) {
            value
        } else {
            Value::error(format!("composited variable \"{name}\" is larger or nests deeper than an object can"))
        };
        self.known.insert(name, Some(value.clone()));
        Some(value)
    }
}

/// Whether a value that expressions made nests within so many levels, and is not too large to be looked at. Each variable can
/// nest the one before it, and what walks values recurses.
fn is_shallow(value: &Value<'_>, levels: usize, looks: &mut usize) -> bool {
    let Some(left) = looks.checked_sub(1) else { return false };
    *looks = left;
    let Some(below) = levels.checked_sub(1) else { return false };
    match value {
        Value::List(List::Made(items)) => items.iter().all(|item| is_shallow(item, below, looks)),
        Value::Map(CelMap::Made(entries)) => entries.values().all(|entry| is_shallow(&entry.1, below, looks)),
        Value::Object(object) => object.fields().all(|(_, value)| is_shallow(value, below, looks)),
        Value::Optional(Some(inner)) => is_shallow(inner, below, looks),
        _ => true,
    }
}

/// The variable `request` (`CreateAdmissionRequest`).
pub(crate) fn request_value<'a>(request: &Request<'a>, resource: &Gvr, kind: &Gvk, arena: &'a Bump) -> Object<'a> {
    let text = |text: &str| Object::String(arena.alloc_str(text));
    let map = |entries: Vec<(&'a str, Object<'a>)>| Object::Map(Map::from_entries(entries, arena));
    let kind_value = |kind: &Gvk| {
        map(vec![("group", text(&kind.group)), ("version", text(&kind.version)), ("kind", text(&kind.kind))])
    };
    let resource_value = |resource: &Gvr| {
        let name = text(&resource.resource);
        map(vec![("group", text(&resource.group)), ("version", text(&resource.version)), ("resource", name)])
    };
    let texts = |items: &[String]| {
        let items: Vec<Object<'a>> = items.iter().map(|item| text(item)).collect();
        Object::List(arena.alloc_slice_copy(&items))
    };
    let mut user = Vec::new();
    for (key, value) in [("username", &request.user.name), ("uid", &request.user.uid)] {
        if !value.is_empty() {
            user.push((key, text(value)));
        }
    }
    if !request.user.groups.is_empty() {
        user.push(("groups", texts(&request.user.groups)));
    }
    if !request.extra.is_empty() {
        let extra = request.extra.iter().map(|(key, values)| (&*arena.alloc_str(key), texts(values))).collect();
        user.push(("extra", map(extra)));
    }
    let mut members = vec![
        ("uid", text("")),
        ("kind", kind_value(kind)),
        ("resource", resource_value(resource)),
        ("requestKind", kind_value(&request.kind)),
        ("requestResource", resource_value(&request.resource)),
        ("operation", text(request.operation.name())),
        ("userInfo", map(user)),
        ("object", Object::Null),
        ("oldObject", Object::Null),
        ("dryRun", Object::Bool(request.is_dry_run)),
        ("options", request.options.unwrap_or(Object::Null)),
    ];
    for (key, value) in [
        ("subResource", &request.subresource),
        ("requestSubResource", &request.subresource),
        ("name", &request.name),
        ("namespace", &request.namespace),
    ] {
        if !value.is_empty() {
            members.push((key, text(value)));
        }
    }
    map(members)
}

/// The variable `namespaceObject` (`CreateNamespaceObject`).
pub(crate) fn namespace_value<'a>(namespace: Object<'a>, arena: &'a Bump) -> Object<'a> {
    const KEPT: [&str; 12] = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "finalizers",
    ];
    let metadata = namespace.get("metadata").and_then(Object::as_map).unwrap_or(Map::EMPTY);
    let metadata = metadata.entries().iter().copied().filter(|(key, _)| KEPT.contains(key)).collect();
    let empty = || Object::Map(Map::EMPTY);
    let members = vec![
        ("metadata", Object::Map(Map::from_entries(metadata, arena))),
        ("spec", namespace.get("spec").unwrap_or_else(empty)),
        ("status", namespace.get("status").unwrap_or_else(empty)),
    ];
    Object::Map(Map::from_entries(members, arena))
}

/// The variables `authorizer` and `authorizer.requestResource`.
pub(crate) fn authorizer_values<'a>(request: &Request<'a>, authorizer: &Arc<dyn Authorizer>) -> Bindings<'a> {
    let access = Access {
        user: request.user.clone(),
        group: request.resource.group.clone(),
        resource: request.resource.resource.clone(),
        subresource: request.subresource.clone(),
        namespace: request.namespace.clone(),
        name: request.name.clone(),
        ..Access::default()
    };
    let value = |value: Authorization| Value::Kube(Kube::Authorization(Arc::new(value)));
    vec![
        ("authorizer", value(Authorization::new(request.user.clone(), authorizer.clone()))),
        ("authorizer.requestResource", value(Authorization::of_resource(access, authorizer.clone()))),
    ]
}
