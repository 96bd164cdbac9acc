//! The values of variables, and groups of expressions that share a budget: `admission/plugin/cel` of
//! `k8s.io/apiserver`.

use crate::kinds::{Gvk, Gvr};
use crate::request::Request;
use kubeshape_cel::admission::{Compiled, VARIABLES, Variables};
use kubeshape_cel::{Access, Authorization, Authorizer, Kube, List, Map as CelMap, Program, Value};
use kubeshape_value::{Bump, Map, Value as Object};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The cost limit of an expression (`PerCallLimit`).
pub(crate) const MAX_CALL: u64 = 1_000_000;
/// The cost limit of a group of expressions (`RuntimeCELCostBudget`).
pub(crate) const BUDGET: i64 = 10_000_000;
/// The cost limit of match conditions (`RuntimeCELCostBudgetMatchConditions`).
pub(crate) const CONDITION_BUDGET: i64 = 2_500_000;
/// The maximum nesting of variables that use one another. Upstream has no such bound.
const MAX_NESTED: usize = 100;
/// The maximum nesting of the value of a variable, and the maximum number of values in all variables.
const MAX_LEVELS: usize = 512;
const MAX_LOOKS: usize = 10_000_000;
/// The error of a group that costs too much.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The values of variables.
pub(crate) type Bindings<'a> = Vec<(&'static str, Value<'a>)>;

/// The result of one expression.
pub(crate) type Evaluated<'a> = Result<Value<'a>, String>;

/// The group exceeded its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

/// Expressions that are evaluated together: they share a budget, and each variable of the policy is evaluated once.
pub(crate) struct Group<'v, 'a> {
    bindings: &'v Bindings<'a>,
    variables: Option<&'a Variables<'a>>,
    known: BTreeMap<&'a str, Option<Value<'a>>>,
    /// The cost of variables that were evaluated for the current expression.
    cost_of_variables: u64,
    depth: usize,
    /// The number of values in variables that may still be visited.
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

    /// Returns the value of a variable of the policy.
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

/// Returns `false` if a value nests deeper than `levels`, or has more parts than `looks` allows. Each variable can nest
/// the one before it, and functions that walk values recurse.
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

/// Returns the variable `request` (`CreateAdmissionRequest`).
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

/// Returns the variable `namespaceObject` (`CreateNamespaceObject`).
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

/// Returns the variables `authorizer` and `authorizer.requestResource`.
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
