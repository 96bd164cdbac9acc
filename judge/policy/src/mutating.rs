//! MutatingAdmissionPolicies: `policy/mutating` of `k8s.io/apiserver`.

use crate::answer::Status;
use crate::decision::{Decision, Mutated};
use crate::environment::{BUDGET, Bindings, Group, OUT_OF_BUDGET, authorizer_values, namespace_value, request_value};
use crate::evaluator::Evaluator;
use crate::json_patch::json_patch;
use crate::kinds::{Gvk, MergeError};
use crate::matching::{Matched, matches};
use crate::objects::{FailurePolicy, Form, PatchType};
use crate::params::{ParamKind, collect, shown};
use crate::patch::{Converter, check_names, nulls};
use crate::policies::Policy;
use crate::request::{Request, World};
use crate::room::{Full, Room};
use kubeshape_cel::Value;
use kubeshape_value::{Bump, Map, Value as Object};
use std::collections::{BTreeMap, BTreeSet};

/// A policy, a binding and a parameter that match a request.
struct Invocation<'a> {
    policy: &'a Policy<'a>,
    binding: &'a str,
    matched: Matched,
    param: Option<Object<'a>>,
}

impl<'a> Invocation<'a> {
    fn key(&self) -> Key<'a> {
        (self.policy.spec.name, self.binding, self.param.map(shown))
    }
}

type Key<'a> = (&'a str, &'a str, Option<String>);

/// The policies that are invoked again (`policyReinvokeContext`).
#[derive(Default)]
struct Reinvocation<'a> {
    invoked: BTreeSet<Key<'a>>,
    queued: BTreeSet<Key<'a>>,
    is_needed: bool,
}

impl Reinvocation<'_> {
    fn require(&mut self) {
        self.queued.append(&mut self.invoked);
        self.is_needed = true;
    }
}

/// An error of a policy, unless its failure policy ignores it.
struct PolicyError {
    message: String,
    reason: &'static str,
}

/// Changes the object of a request. Returns whether it changed.
pub(crate) fn mutate<'a>(
    request: &mut Request<'a>,
    world: World<'_, 'a>,
    arena: &'a Bump,
    policies: &'a [Policy<'a>],
    decision: &mut Decision<'a>,
) -> bool {
    let before = request.object;
    let (mut reinvocation, room) = (Reinvocation::default(), Room::default());
    for number in [1, 2] {
        let mut pass = Pass { world, arena, number, errors: Vec::new(), reinvocation: &mut reinvocation, room: &room };
        if let Err(status) = pass.run(request, policies, decision) {
            decision.refuse(Form::Mutating, status);
            break;
        }
        if !reinvocation.is_needed {
            break;
        }
    }
    before != request.object
}

/// One pass over all policies.
struct Pass<'p, 'a> {
    world: World<'p, 'a>,
    arena: &'a Bump,
    number: u8,
    errors: Vec<PolicyError>,
    reinvocation: &'p mut Reinvocation<'a>,
    room: &'p Room,
}

/// The object in a version, and whether a mutation succeeded on it.
type Versioned<'a> = BTreeMap<Gvk, (Option<Object<'a>>, bool)>;

impl<'a> Pass<'_, 'a> {
    fn run(
        &mut self,
        request: &mut Request<'a>,
        policies: &'a [Policy<'a>],
        decision: &mut Decision<'a>,
    ) -> Result<(), Status> {
        let mut invocations = Vec::new();
        for policy in policies.iter().filter(|policy| policy.is(Form::Mutating) && !policy.bindings.is_empty()) {
            self.collect(request, policy, &mut invocations);
        }
        if !invocations.is_empty() {
            self.dispatch(request, &invocations, decision)?;
        }
        let mut errors = std::mem::take(&mut self.errors).into_iter();
        let Some(first) = errors.next() else { return Ok(()) };
        let mut status = Status::forbidden(request, "");
        status.message.clone_from(&first.message);
        first.reason.clone_into(&mut status.reason);
        status = status.with_cause(&first.message);
        Err(errors.fold(status, |status, error| status.with_cause(&error.message)))
    }

    fn error(&mut self, policy: &Policy<'_>, binding: Option<&str>, message: &str, reason: &'static str) {
        if policy.spec.failure_policy == FailurePolicy::Ignore {
            return;
        }
        let name = policy.spec.name;
        let message = match binding {
            Some(binding) => format!("policy '{name}' with binding '{binding}' denied request: {message}"),
            None => format!("policy {name:?} denied request: {message}"),
        };
        self.errors.push(PolicyError { message, reason });
    }

    /// Collects the invocations of a policy (`policyDispatcher.Dispatch`).
    fn collect(&mut self, request: &Request<'a>, policy: &'a Policy<'a>, out: &mut Vec<Invocation<'a>>) {
        let world = self.world;
        let of_policy = |text: String| format!("failed to configure policy: {text}");
        let of_binding = |text: String| format!("failed to configure binding: {text}");
        let Some(constraints) = &policy.spec.constraints else {
            let text = of_policy("policy contained no match constraints, a required field".to_owned());
            return self.error(policy, None, &text, "Forbidden");
        };
        let kind = match policy.spec.param_kind.map(|kind| ParamKind::of(kind, world)) {
            Some(Err(None)) => return,
            other => other,
        };
        let matched = match matches(constraints, request, world) {
            Err(status) => return self.error(policy, None, &of_policy(status.message), "Forbidden"),
            Ok(None) => return,
            Ok(Some(matched)) => matched,
        };
        let kind = match kind {
            Some(Err(error)) => {
                return self.error(policy, None, &of_policy(error.unwrap_or_default()), "Forbidden");
            }
            Some(Ok(kind)) => Some(kind),
            None => None,
        };
        for binding in &policy.bindings {
            let takes = binding.matches.as_ref().map(|criteria| matches(criteria, request, world));
            let params = match takes {
                Some(Err(status)) => Err(status.message),
                Some(Ok(None)) => continue,
                None | Some(Ok(Some(_))) => collect(kind.as_ref(), binding.param_ref, request, world),
            };
            match params {
                Err(error) => self.error(policy, Some(binding.name), &of_binding(error), "Forbidden"),
                Ok(params) => out.extend(params.into_iter().map(|param| Invocation {
                    policy,
                    binding: binding.name,
                    matched: matched.clone(),
                    param: param.map(|param| untyped_param(param, kind.as_ref(), self.arena)),
                })),
            }
        }
    }

    /// Upstream: `dispatcher.dispatchInvocations`.
    fn dispatch(
        &mut self,
        request: &mut Request<'a>,
        invocations: &[Invocation<'a>],
        decision: &mut Decision<'a>,
    ) -> Result<(), Status> {
        let namespace = Evaluator::new(request, self.world, self.arena).namespace()?;
        let mut versioned = Versioned::new();
        let mut last: Option<Gvk> = None;
        for invocation in invocations {
            let kind = &invocation.matched.kind;
            let entry = || (request.in_version(request.object, kind, self.arena), false);
            versioned.entry(kind.clone()).or_insert_with(entry);
            self.invoke(request, invocation, namespace, &mut versioned, &mut last, decision)?;
        }
        if let Some((Some(object), true)) = last.and_then(|kind| versioned.remove(&kind)) {
            self.reinvocation.require();
            request.object = Some(in_kind(object, &request.kind, self.arena));
        }
        Ok(())
    }

    fn invoke(
        &mut self,
        request: &Request<'a>,
        invocation: &Invocation<'a>,
        namespace: Option<Object<'a>>,
        versioned: &mut Versioned<'a>,
        last: &mut Option<Gvk>,
        decision: &mut Decision<'a>,
    ) -> Result<(), Status> {
        let policy = invocation.policy;
        let kind = &invocation.matched.kind;
        let object = versioned.get(kind).and_then(|(object, _)| *object);
        let trace = Mutated {
            pass: self.number,
            policy: policy.spec.name.to_owned(),
            binding: invocation.binding.to_owned(),
            param: invocation.param.map(shown),
            ..Mutated::default()
        };
        let for_conditions = self.bindings(request, invocation, object, None, true);
        if let Some(conditions) = policy.conditions.evaluate(&for_conditions, Some(&policy.variables)) {
            decision.mutations.push(Mutated { conditions: Some(conditions.clone()), ..trace.clone() });
            if let Some(error) = &conditions.error {
                self.error(policy, Some(invocation.binding), error, "Invalid");
            }
            if !conditions.matches {
                return Ok(());
            }
        }
        let key = invocation.key();
        if self.number > 1 && !self.reinvocation.queued.contains(&key) {
            return Ok(());
        }
        for index in 0..policy.mutations.len() {
            if self.world.stop.is_set() {
                return Ok(());
            }
            *last = Some(kind.clone());
            let Some((Some(object), _)) = versioned.get(kind).copied() else { continue };
            let mut done = Mutated { mutation: Some(index), ..trace.clone() };
            let shown = namespace.map(|namespace| namespace_value(namespace, self.arena));
            let bindings = self.bindings(request, invocation, Some(object), shown, false);
            let patched = self.patch(invocation, index, object, &bindings, &mut done).and_then(|patched| {
                self.room.object(&patched)?;
                Ok(patched)
            });
            match patched {
                Ok(patched) => {
                    versioned.insert(kind.clone(), (Some(patched), true));
                    decision.mutations.push(done);
                }
                Err(Failure::Policy(error)) => {
                    self.error(policy, Some(invocation.binding), &error, "Invalid");
                    done.error = Some(error);
                    decision.mutations.push(done);
                }
                Err(Failure::Conversion(error)) => {
                    self.error(policy, Some(invocation.binding), &error, "Invalid");
                    decision.mutations.push(done);
                }
                Err(Failure::Api(status)) => {
                    done.error = Some(status.message.clone());
                    decision.mutations.push(done);
                    return Err(*status);
                }
            }
        }
        if versioned.get(kind).and_then(|(object, _)| *object) != object {
            self.reinvocation.require();
        }
        if policy.spec.is_reinvoked {
            self.reinvocation.invoked.insert(key);
        }
        Ok(())
    }

    fn bindings(
        &self,
        request: &Request<'a>,
        invocation: &Invocation<'a>,
        object: Option<Object<'a>>,
        namespace: Option<Object<'a>>,
        for_conditions: bool,
    ) -> Bindings<'a> {
        let kind = &invocation.matched.kind;
        let resource = if for_conditions { &request.resource } else { &invocation.matched.resource };
        let old = request.in_version(request.old_object, kind, self.arena);
        let value = |object: Option<Object<'a>>| object.map_or(Value::Null, Value::from);
        let mut bindings: Bindings<'a> = vec![
            ("object", value(object)),
            ("oldObject", value(old)),
            ("params", value(invocation.param)),
            ("request", Value::from(request_value(request, resource, kind, self.arena))),
            ("namespaceObject", value(namespace)),
        ];
        bindings.extend(authorizer_values(request, self.world.authorizer));
        bindings
    }

    /// Changes an object with a mutation.
    fn patch(
        &self,
        invocation: &Invocation<'a>,
        index: usize,
        object: Object<'a>,
        bindings: &Bindings<'a>,
        done: &mut Mutated,
    ) -> Result<Object<'a>, Failure> {
        let policy = invocation.policy;
        let (Some(compiled), Some(mutation)) = (policy.mutations.get(index), policy.spec.mutations.get(index)) else {
            return Err(Failure::Policy("policy evaluator is nil".to_owned()));
        };
        if let Err(error) = &compiled.program {
            return Err(Failure::Policy(error.detail.clone()));
        }
        let mut group = Group::new(bindings, Some(&policy.variables), BUDGET);
        let outcome = group.evaluate(compiled).map_err(|_| Failure::Policy(OUT_OF_BUDGET.to_owned()))?;
        done.cost = Some(BUDGET - group.budget);
        let value = outcome.map_err(Failure::Policy)?;
        self.room.value(&value)?;
        let kind = &invocation.matched.kind;
        match (mutation.patch_type, value) {
            (PatchType::JsonPatch, Value::List(list)) => {
                let mut operations = Vec::new();
                for item in list.iter() {
                    operations.push(self.operation(&item).map_err(Failure::Policy)?);
                }
                self.json_patched(kind, object, &operations)
            }
            (_, Value::Object(patch)) => {
                check_names(&patch).map_err(Failure::Policy)?;
                let nulls = nulls(&patch);
                let patch = Converter(self.arena).object(&patch).map_err(Failure::Policy)?;
                let patch = with_kind(patch, object, self.arena);
                let merged = self.world.kinds.merge(kind, object, patch, self.arena).map_err(|error| match error {
                    MergeError::NoSchemas => Failure::Api(Box::new(Status::unavailable(&format!(
                        "Resource kind {kind} not found. There can be a delay between when CustomResourceDefinitions \
                         are created and when they are available."
                    )))),
                    MergeError::Refused(text) => Failure::Policy(format!("error applying patch: {text}")),
                })?;
                if let Some(path) = nulls.first() {
                    return Err(Failure::Policy(format!(
                        "error applying patch: failed to convert patch object to typed object: {path}: expected string, got \
                         &value.valueUnstructured{{Value:0}}"
                    )));
                }
                match self.world.kinds.decode(kind, merged, self.arena) {
                    Ok(decoded) => Ok(decoded.value),
                    Err(error) => {
                        let error = conversion_error(&error);
                        Err(Failure::Conversion(format!("unable to convert unstructured object to {kind}: {error}")))
                    }
                }
            }
            (_, other) => Err(Failure::Policy(format!("unsupported return type: {}", other.type_of()))),
        }
    }

    /// Converts an operation of a JSON patch.
    fn operation(&self, value: &Value<'a>) -> Result<Object<'a>, String> {
        let Value::Object(operation) = value else {
            return Err("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch".to_owned());
        };
        let mut members = Vec::new();
        for key in ["op", "path", "from"] {
            let text = match operation.get(key) {
                Some(Value::String(text)) => self.arena.alloc_str(text),
                _ => "",
            };
            if is_read_again(text) && (key != "from" || !text.is_empty()) {
                members.push((key, Object::String(text)));
            }
        }
        if let Some(value) = operation.get("value") {
            if let Value::Object(object) = value {
                check_names(object)?;
            }
            let plain = Converter(self.arena).json(value).map_err(|error| {
                format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}")
            })?;
            members.push(("value", plain));
        }
        Ok(Object::Map(Map::from_entries(members, self.arena)))
    }

    fn json_patched(&self, kind: &Gvk, object: Object<'a>, operations: &[Object<'a>]) -> Result<Object<'a>, Failure> {
        let patch = Object::List(self.arena.alloc_slice_copy(operations));
        let patched = match json_patch(object, patch, self.arena) {
            Ok(patched) => patched,
            Err(error) if error.is_failed_test => return Ok(object),
            Err(error) => return Err(Failure::Policy(format!("JSON Patch: {}", error.message))),
        };
        let internal = |text: &str| Failure::Api(Box::new(Status::internal(text)));
        let decoded = self.world.kinds.decode(kind, patched, self.arena).map_err(|error| internal(&error))?;
        let is_built_in = self.world.kinds.kind(kind).is_none_or(|kind| kind.is_built_in);
        if is_built_in && !decoded.unknown.is_empty() {
            let unknown: Vec<String> = decoded.unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
            return Err(internal(&format!("strict decoding error: {}", unknown.join(", "))));
        }
        Ok(decoded.value)
    }
}

/// Returns whether a string quoted by Go is valid JSON: upstream writes operations with `strconv.Quote`.
fn is_read_again(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || matches!(c, '\u{8}' | '\u{c}' | '\n' | '\r' | '\t'))
}

/// Returns the error of a conversion to Go's types, in which numbers are already decoded.
fn conversion_error(text: &str) -> String {
    let is_number = text.starts_with("json: cannot unmarshal number ");
    match text.rsplit_once(" of type ") {
        Some((_, ty)) if is_number => format!("cannot convert float64 to {ty}"),
        _ => text.to_owned(),
    }
}

/// Why an object is not changed.
enum Failure {
    /// The policy failed.
    Policy(String),
    /// Its result is not an object of the kind.
    Conversion(String),
    /// The request fails.
    Api(Box<Status>),
}

impl From<Full> for Failure {
    fn from(full: Full) -> Failure {
        match full {
            Full::Values => Failure::Policy(full.to_string()),
            Full::Object | Full::Objects => {
                let status = Status::new(413, "RequestEntityTooLarge", full.to_string(), None);
                Failure::Api(Box::new(status))
            }
        }
    }
}

/// Removes apiVersion and kind from a parameter of a built-in kind.
fn untyped_param<'a>(param: Object<'a>, kind: Option<&ParamKind>, arena: &'a Bump) -> Object<'a> {
    match (kind, param) {
        (Some(kind), Object::Map(map)) if kind.is_built_in => {
            Object::Map(map.with("apiVersion", None, arena).with("kind", None, arena))
        }
        _ => param,
    }
}

/// Returns a patch with the apiVersion and kind of the object.
fn with_kind<'a>(patch: Object<'a>, object: Object<'a>, arena: &'a Bump) -> Object<'a> {
    let Object::Map(mut map) = patch else { return patch };
    for key in ["apiVersion", "kind"] {
        map = map.with(key, object.get(key), arena);
    }
    Object::Map(map)
}

fn in_kind<'a>(object: Object<'a>, kind: &Gvk, arena: &'a Bump) -> Object<'a> {
    let Object::Map(map) = object else { return object };
    let version = kind.api_version();
    if map.get("apiVersion").and_then(Object::as_str) == Some(version.as_str()) {
        return object;
    }
    Object::Map(map.with("apiVersion", Some(Object::String(arena.alloc_str(&version))), arena))
}
