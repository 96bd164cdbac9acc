//! ValidatingAdmissionPolicies: `policy/validating` of `k8s.io/apiserver`.

use crate::answer::{Status, code_of};
use crate::decision::{Annotation, Decision, DeniedBy, Judged, Validated};
use crate::environment::{BUDGET, Bindings, Evaluated, Group, OUT_OF_BUDGET, OutOfBudget};
use crate::evaluator::Evaluator;
use crate::matching::{Matched, matches};
use crate::objects::{BindingSpec, FailurePolicy, Form, Validation};
use crate::params::{ParamKind, collect, shown};
use crate::policies::Policy;
use kubeshape_cel::Value;
use kubeshape_cel::admission::Compiled;
use kubeshape_value::Value as Object;
use kubeshape_yaml::go::escape::{self, Escape};

/// The longest message of a messageExpression, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;
/// The longest value of an audit annotation, in bytes.
const MAX_ANNOTATION: usize = 10 * 1024;
/// The audit annotation of failed validations.
const VALIDATION_FAILURE: &str = "validation.policy.admission.k8s.io/validation_failure";

/// A recorded denial.
struct Denial<'a> {
    policy: &'a str,
    binding: Option<&'a str>,
    message: String,
    reason: Option<String>,
    expression: Option<usize>,
}

impl Judged {
    fn error(failure_policy: FailurePolicy, message: String) -> Judged {
        let denies = failure_policy == FailurePolicy::Fail;
        Judged { denies, is_error: true, message, reason: None, expression: None }
    }
}

/// Evaluates a request with all validating policies (`dispatcher.Dispatch`).
pub(crate) fn validate<'a>(evaluator: &Evaluator<'_, 'a>, policies: &'a [Policy<'a>], decision: &mut Decision<'a>) {
    let mut denials: Vec<Denial<'a>> = Vec::new();
    for policy in policies.iter().filter(|policy| policy.is(Form::Validating) && !policy.bindings.is_empty()) {
        if evaluator.world.stop.is_set() {
            return;
        }
        if let Err(status) = validate_policy(evaluator, policy, decision, &mut denials) {
            decision.refuse(Form::Validating, status);
            return;
        }
    }
    if let Some(denial) = denials.into_iter().next() {
        let Denial { policy, binding, message, reason, expression } = denial;
        let binding_text = binding.map(|binding| format!(" with binding '{binding}'")).unwrap_or_default();
        let text = format!("{} '{policy}'{binding_text} denied request: {message}", Form::Validating.kind());
        let mut status = Status::forbidden(evaluator.request, &text).with_cause(&text);
        status.reason = reason.filter(|reason| !reason.is_empty()).unwrap_or_else(|| "Invalid".to_owned());
        status.code = code_of(&status.reason);
        decision.refuse(Form::Validating, status);
        decision.denied_by =
            Some(DeniedBy { policy: policy.to_owned(), binding: binding.map(str::to_owned), expression, message });
    }
}

fn validate_policy<'a>(
    evaluator: &Evaluator<'_, 'a>,
    policy: &'a Policy<'a>,
    decision: &mut Decision<'a>,
    denials: &mut Vec<Denial<'a>>,
) -> Result<(), Status> {
    let (request, world) = (evaluator.request, evaluator.world);
    let spec = &policy.spec;
    let mut configuration = |message: String, binding: Option<&'a str>| {
        if spec.failure_policy == FailurePolicy::Fail {
            let what = if binding.is_some() { "binding" } else { "policy" };
            let message = format!("failed to configure {what}: {message}");
            denials.push(Denial { policy: spec.name, binding, message, reason: None, expression: None });
        }
    };
    let Some(constraints) = &spec.constraints else {
        configuration("policy contained no match constraints, a required field".to_owned(), None);
        return Ok(());
    };
    let param_kind = match spec.param_kind.map(|kind| ParamKind::of(kind, world)) {
        Some(Err(None)) => return Ok(()),
        other => other,
    };
    let matched = match matches(constraints, request, world) {
        Err(status) => {
            configuration(status.message, None);
            return Ok(());
        }
        Ok(None) => return Ok(()),
        Ok(Some(matched)) => matched,
    };
    let param_kind = match param_kind {
        Some(Err(error)) => {
            configuration(error.unwrap_or_default(), None);
            return Ok(());
        }
        Some(Ok(kind)) => Some(kind),
        None => None,
    };
    let mut annotations: Vec<(String, Vec<String>)> = Vec::new();
    for binding in &policy.bindings {
        let binding_matches = match &binding.matches {
            None => Ok(true),
            Some(criteria) => matches(criteria, request, world).map(|matched| matched.is_some()),
        };
        let params = match binding_matches {
            Err(status) => Err(status.message),
            Ok(false) => continue,
            Ok(true) => collect(param_kind.as_ref(), binding.param_ref, request, world),
        };
        let params = match params {
            Ok(params) => params,
            Err(error) => {
                // The closure borrows the denials, which are used below.
                if spec.failure_policy == FailurePolicy::Fail {
                    let message = format!("failed to configure binding: {error}");
                    let binding = Some(binding.name);
                    denials.push(Denial { policy: spec.name, binding, message, reason: None, expression: None });
                }
                continue;
            }
        };
        let namespace = evaluator.namespace()?;
        let mut results = Vec::new();
        for param in params {
            if world.stop.is_set() {
                return Ok(());
            }
            let named = param.map(|param| typed_param(param, param_kind.as_ref(), evaluator));
            let mut result = evaluate(evaluator, policy, &matched, named, namespace);
            binding.name.clone_into(&mut result.binding);
            result.param = param.map(shown);
            results.push(result);
        }
        for result in results {
            act(policy, binding, &result, decision, denials);
            for annotation in &result.audit_annotations {
                if let Some(value) = &annotation.value {
                    let value = cut(value);
                    match annotations.iter_mut().find(|(key, _)| *key == annotation.key) {
                        Some((_, values)) if values.contains(&value) => {}
                        Some((_, values)) => values.push(value),
                        None => annotations.push((annotation.key.clone(), vec![value])),
                    }
                }
            }
            decision.validations.push(result);
        }
    }
    for (key, values) in annotations {
        decision.annotate(format!("{}/{key}", spec.name), values.join(", "));
    }
    Ok(())
}

/// Adds apiVersion and kind to a parameter of a built-in kind (`wrappedParam`).
fn typed_param<'a>(param: Object<'a>, kind: Option<&ParamKind>, evaluator: &Evaluator<'_, 'a>) -> Object<'a> {
    match (kind, param) {
        (Some(kind), Object::Map(map)) if kind.is_built_in => {
            let arena = evaluator.arena;
            let text = |text: &str| Some(Object::String(arena.alloc_str(text)));
            let map = map.with("apiVersion", text(&kind.gvk.api_version()), arena);
            Object::Map(map.with("kind", text(&kind.gvk.kind), arena))
        }
        _ => param,
    }
}

/// Returns the first bytes of a value. Part of a cut character is printed like in Go's JSON.
fn cut(value: &str) -> String {
    if value.len() <= MAX_ANNOTATION {
        return value.to_owned();
    }
    String::from_utf8_lossy(value.as_bytes().get(..MAX_ANNOTATION).unwrap_or_default()).into_owned()
}

/// Applies the decisions of one evaluation.
fn act<'a>(
    policy: &'a Policy<'a>,
    binding: &'a BindingSpec<'a>,
    result: &Validated,
    decision: &mut Decision<'a>,
    denials: &mut Vec<Denial<'a>>,
) {
    let name = policy.spec.name;
    for (index, judged) in result.decisions.iter().enumerate().filter(|(_, judged)| judged.denies) {
        for action in &binding.actions {
            match *action {
                "Deny" => denials.push(Denial {
                    policy: name,
                    binding: Some(binding.name),
                    message: judged.message.clone(),
                    reason: judged.reason.clone(),
                    expression: judged.expression,
                }),
                "Warn" => decision.warnings.push(format!(
                    "Validation failed for {} '{name}' with binding '{}': {}",
                    Form::Validating.kind(),
                    binding.name,
                    judged.message
                )),
                "Audit" => {
                    let value = failure(judged, binding, index);
                    decision.annotate(VALIDATION_FAILURE.to_owned(), value);
                }
                _ => {}
            }
        }
    }
    for annotation in &result.audit_annotations {
        if let Some(message) = annotation.error.as_ref().filter(|_| annotation.denies) {
            denials.push(Denial {
                policy: name,
                binding: Some(binding.name),
                message: message.clone(),
                reason: None,
                expression: None,
            });
        }
    }
}

/// Upstream: `publishValidationFailureAnnotation`.
fn failure(judged: &Judged, binding: &BindingSpec<'_>, index: usize) -> String {
    let mut out = Vec::new();
    let texts = [
        ("[{\"message\":", judged.message.as_str()),
        (",\"policy\":", binding.policy),
        (",\"binding\":", binding.name),
    ];
    for (key, text) in texts {
        out.extend_from_slice(key.as_bytes());
        escape::string(&mut out, text, Escape::Html);
    }
    out.extend_from_slice(format!(",\"expressionIndex\":{index},\"validationActions\":[").as_bytes());
    for (at, action) in binding.actions.iter().enumerate() {
        out.extend_from_slice(if at > 0 { b"," } else { b"" });
        escape::string(&mut out, action, Escape::Html);
    }
    out.extend_from_slice(b"]}]");
    String::from_utf8_lossy(&out).into_owned()
}

/// Evaluates all expressions of a group.
fn evaluate_all<'a>(
    group: &mut Group<'_, 'a>,
    compiled: impl Iterator<Item = Option<&'a Compiled<'a>>>,
) -> Result<Vec<Option<Evaluated<'a>>>, OutOfBudget> {
    compiled.map(|compiled| compiled.map(|compiled| group.evaluate(compiled)).transpose()).collect()
}

/// Upstream: `validator.Validate`.
fn evaluate<'a>(
    evaluator: &Evaluator<'_, 'a>,
    policy: &'a Policy<'a>,
    matched: &Matched,
    param: Option<Object<'a>>,
    namespace: Option<Object<'a>>,
) -> Validated {
    let request = evaluator.request;
    let spec = &policy.spec;
    let mut result = Validated {
        policy: spec.name.to_owned(),
        kind: format!("{} {}", matched.kind.api_version(), matched.kind.kind),
        ..Validated::default()
    };
    let objects = evaluator.objects(&matched.kind);
    let params = [("params", param.map_or(Value::Null, Value::from))];
    let bind = |resource, namespace: Option<Object<'a>>, with_authorizer: bool| {
        let mut bindings: Bindings<'a> = objects.to_vec();
        bindings.extend(params.clone());
        bindings.push(("request", evaluator.request_value(resource, &matched.kind)));
        bindings.push(("namespaceObject", namespace.map_or(Value::Null, Value::from)));
        if with_authorizer {
            bindings.extend(evaluator.authorizer());
        }
        bindings
    };
    let variables = Some(&policy.variables);
    if !policy.conditions.is_empty() {
        result.conditions = policy.conditions.evaluate(&bind(&request.resource, None, true), variables);
    }
    let mut conditions_failed = None;
    if let Some(conditions) = &result.conditions
        && !conditions.matches
    {
        let Some(error) = &conditions.error else { return result };
        conditions_failed = Some(Judged::error(spec.failure_policy, error.clone()));
    }
    let shown_namespace = evaluator.shown_namespace(namespace);
    let bindings = bind(&matched.resource, shown_namespace, true);
    let mut group = Group::new(&bindings, variables, BUDGET);
    let outcomes = evaluate_all(&mut group, policy.validations.iter().map(Some));
    let spent = |group: &Group<'_, '_>, from: i64, ok: bool| {
        if ok { Ok(from - group.budget) } else { Err(OUT_OF_BUDGET.to_owned()) }
    };
    if !policy.validations.is_empty() {
        result.costs.push(("validations", spent(&group, BUDGET, outcomes.is_ok())));
    }
    let Ok(outcomes) = outcomes else {
        result.decisions =
            vec![conditions_failed.unwrap_or_else(|| Judged::error(spec.failure_policy, OUT_OF_BUDGET.to_owned()))];
        return result;
    };
    let left = group.budget;
    let bindings =
        if policy.messages.is_empty() { Bindings::new() } else { bind(&matched.resource, shown_namespace, false) };
    let mut group = Group::new(&bindings, variables, left);
    let messages = evaluate_all(&mut group, policy.messages.iter().map(Option::as_ref));
    if !policy.messages.is_empty() {
        result.costs.push(("messageExpressions", spent(&group, left, messages.is_ok())));
    }
    for (index, outcome) in outcomes.into_iter().enumerate() {
        let Some((outcome, validation)) = outcome.zip(spec.validations.get(index)) else { continue };
        let mut judged = match (outcome, &messages) {
            (Err(error), _) => Judged::error(spec.failure_policy, error),
            (_, Err(OutOfBudget)) => {
                Judged::error(spec.failure_policy, format!("failed messageExpression: {OUT_OF_BUDGET}"))
            }
            (Ok(Value::Bool(true)), _) => {
                Judged { denies: false, is_error: false, message: String::new(), reason: None, expression: None }
            }
            (Ok(_), Ok(messages)) => Judged {
                denies: true,
                is_error: false,
                message: message(validation, messages.get(index).and_then(Option::as_ref)),
                reason: Some(validation.reason.unwrap_or("Invalid").to_owned()),
                expression: None,
            },
        };
        judged.expression = Some(index);
        result.decisions.push(judged);
    }
    let bindings =
        if policy.audit_annotations.is_empty() { Bindings::new() } else { bind(&matched.resource, namespace, false) };
    let mut group = Group::new(&bindings, variables, BUDGET);
    let outcomes = evaluate_all(&mut group, policy.audit_annotations.iter().map(Some));
    if !policy.audit_annotations.is_empty() {
        result.costs.push(("auditAnnotations", spent(&group, BUDGET, outcomes.is_ok())));
    }
    if let Some(failed) = conditions_failed {
        result.decisions = vec![failed];
        return result;
    }
    let Ok(outcomes) = outcomes else {
        result.decisions = vec![Judged::error(spec.failure_policy, OUT_OF_BUDGET.to_owned())];
        return result;
    };
    for (outcome, (key, _)) in outcomes.into_iter().flatten().zip(&spec.audit_annotations) {
        let (value, error) = match outcome {
            Ok(Value::String(text)) => (Some(text.trim().to_owned()).filter(|text| !text.is_empty()), None),
            Ok(_) => (None, None),
            Err(error) => (None, Some(error)),
        };
        let denies = error.is_some() && spec.failure_policy == FailurePolicy::Fail;
        result.audit_annotations.push(Annotation { key: (*key).to_owned(), value, error, denies });
    }
    result
}

/// Returns the message of a validation that is not true.
fn message(validation: &Validation<'_>, evaluated: Option<&Evaluated<'_>>) -> String {
    if let Some(Ok(Value::String(text))) = evaluated {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n') {
            return text.to_owned();
        }
    }
    match validation.message.trim() {
        "" => format!("failed expression: {}", validation.expression.trim()),
        message => message.to_owned(),
    }
}
