//! Decoded policies, bindings and webhook configurations: `admissionregistration.k8s.io/v1` with defaults.

use crate::kinds::Gvk;
use kubeshape_value::Value;

/// How errors of a policy are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailurePolicy {
    Fail,
    Ignore,
}

/// The kind of policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Validating,
    Mutating,
}

impl Form {
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Form::Validating => "ValidatingAdmissionPolicy",
            Form::Mutating => "MutatingAdmissionPolicy",
        }
    }
}

/// A match condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition<'a> {
    pub(crate) name: &'a str,
    pub(crate) expression: &'a str,
}

/// A validation of a policy: an expression that must be true.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validation<'a> {
    pub(crate) expression: &'a str,
    pub(crate) message: &'a str,
    pub(crate) message_expression: &'a str,
    pub(crate) reason: Option<&'a str>,
}

/// How a policy changes objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchType {
    ApplyConfiguration,
    JsonPatch,
    Unknown,
}

/// A change that a policy makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutation<'a> {
    pub(crate) patch_type: PatchType,
    pub(crate) expression: &'a str,
}

/// The spec of a policy.
#[derive(Clone, Debug)]
pub(crate) struct PolicySpec<'a> {
    pub(crate) form: Form,
    pub(crate) name: &'a str,
    pub(crate) failure_policy: FailurePolicy,
    /// apiVersion and kind.
    pub(crate) param_kind: Option<(&'a str, &'a str)>,
    pub(crate) constraints: Option<Match<'a>>,
    pub(crate) conditions: Vec<Condition<'a>>,
    pub(crate) variables: Vec<(&'a str, &'a str)>,
    pub(crate) validations: Vec<Validation<'a>>,
    pub(crate) audit_annotations: Vec<(&'a str, &'a str)>,
    pub(crate) mutations: Vec<Mutation<'a>>,
    pub(crate) is_reinvoked: bool,
}

/// `spec.paramRef` of a binding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamRef<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) selector: Option<Value<'a>>,
    pub(crate) not_found: Option<&'a str>,
}

/// The spec of a binding.
#[derive(Clone, Debug)]
pub(crate) struct BindingSpec<'a> {
    pub(crate) form: Form,
    pub(crate) name: &'a str,
    pub(crate) policy: &'a str,
    pub(crate) param_ref: Option<ParamRef<'a>>,
    pub(crate) matches: Option<Match<'a>>,
    pub(crate) actions: Vec<&'a str>,
}

/// A webhook of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Webhook<'a> {
    pub(crate) configuration: &'a str,
    pub(crate) name: &'a str,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) matches: Match<'a>,
    pub(crate) conditions: Vec<Condition<'a>>,
}

/// The match constraints of a policy, binding or webhook.
#[derive(Clone, Debug, Default)]
pub(crate) struct Match<'a> {
    pub(crate) namespace_selector: Option<Value<'a>>,
    pub(crate) object_selector: Option<Value<'a>>,
    pub(crate) rules: Vec<Rule<'a>>,
    pub(crate) excludes: Vec<Rule<'a>>,
    pub(crate) is_exact: bool,
}

/// A rule about resources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule<'a> {
    pub(crate) operations: Vec<&'a str>,
    pub(crate) groups: Vec<&'a str>,
    pub(crate) versions: Vec<&'a str>,
    pub(crate) resources: Vec<&'a str>,
    pub(crate) scope: &'a str,
    pub(crate) names: Vec<&'a str>,
}

pub(crate) fn text(value: Option<Value<'_>>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn items(value: Option<Value<'_>>) -> &[Value<'_>] {
    value.and_then(Value::as_list).unwrap_or_default()
}

pub(crate) fn texts(value: Option<Value<'_>>) -> Vec<&str> {
    items(value).iter().filter_map(|item| item.as_str()).collect()
}

pub(crate) fn name(object: Value<'_>) -> &str {
    text(object.get("metadata").and_then(|metadata| metadata.get("name")))
}

pub(crate) fn namespace_of(object: Value<'_>) -> &str {
    text(object.get("metadata").and_then(|metadata| metadata.get("namespace")))
}

/// Returns a value that is present and not null.
pub(crate) fn present<'a>(value: Value<'a>, key: &str) -> Option<Value<'a>> {
    value.get(key).filter(|value| !value.is_null())
}

/// Returns a string if it is present.
fn optional<'a>(value: Value<'a>, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn failure_policy(spec: Value<'_>) -> FailurePolicy {
    if text(spec.get("failurePolicy")) == "Ignore" { FailurePolicy::Ignore } else { FailurePolicy::Fail }
}

fn conditions(spec: Value<'_>) -> Vec<Condition<'_>> {
    items(spec.get("matchConditions"))
        .iter()
        .map(|item| Condition { name: text(item.get("name")), expression: text(item.get("expression")) })
        .collect()
}

impl<'a> Rule<'a> {
    fn read(value: Value<'a>) -> Rule<'a> {
        Rule {
            operations: texts(value.get("operations")),
            groups: texts(value.get("apiGroups")),
            versions: texts(value.get("apiVersions")),
            resources: texts(value.get("resources")),
            scope: optional(value, "scope").unwrap_or("*"),
            names: texts(value.get("resourceNames")),
        }
    }
}

impl<'a> Match<'a> {
    fn read(value: Value<'a>, rules: &str) -> Match<'a> {
        let rules_of = |key: &str| items(value.get(key)).iter().map(|rule| Rule::read(*rule)).collect();
        Match {
            namespace_selector: present(value, "namespaceSelector"),
            object_selector: present(value, "objectSelector"),
            rules: rules_of(rules),
            excludes: rules_of("excludeResourceRules"),
            is_exact: text(value.get("matchPolicy")) == "Exact",
        }
    }
}

impl<'a> PolicySpec<'a> {
    pub(crate) fn read(object: Value<'a>, form: Form) -> PolicySpec<'a> {
        let spec = object.get("spec").unwrap_or(Value::Null);
        let pair =
            |value: &Value<'a>, name: &str, expression: &str| (text(value.get(name)), text(value.get(expression)));
        let validation = |value: &Value<'a>| Validation {
            expression: text(value.get("expression")),
            message: text(value.get("message")),
            message_expression: text(value.get("messageExpression")),
            reason: optional(*value, "reason"),
        };
        let mutation = |value: &Value<'a>| {
            let (patch_type, member) = match text(value.get("patchType")) {
                "ApplyConfiguration" => (PatchType::ApplyConfiguration, "applyConfiguration"),
                "JSONPatch" => (PatchType::JsonPatch, "jsonPatch"),
                _ => (PatchType::Unknown, ""),
            };
            Mutation { patch_type, expression: text(value.get(member).and_then(|patch| patch.get("expression"))) }
        };
        let param_kind = present(spec, "paramKind").map(|kind| (text(kind.get("apiVersion")), text(kind.get("kind"))));
        PolicySpec {
            form,
            name: name(object),
            failure_policy: failure_policy(spec),
            param_kind,
            constraints: present(spec, "matchConstraints").map(|value| Match::read(value, "resourceRules")),
            conditions: conditions(spec),
            variables: items(spec.get("variables")).iter().map(|item| pair(item, "name", "expression")).collect(),
            validations: items(spec.get("validations")).iter().map(validation).collect(),
            audit_annotations: items(spec.get("auditAnnotations"))
                .iter()
                .map(|item| pair(item, "key", "valueExpression"))
                .collect(),
            mutations: items(spec.get("mutations")).iter().map(mutation).collect(),
            is_reinvoked: text(spec.get("reinvocationPolicy")) == "IfNeeded",
        }
    }
}

impl<'a> BindingSpec<'a> {
    pub(crate) fn read(object: Value<'a>, form: Form) -> BindingSpec<'a> {
        let spec = object.get("spec").unwrap_or(Value::Null);
        let param_ref = present(spec, "paramRef").map(|value| ParamRef {
            name: text(value.get("name")),
            namespace: text(value.get("namespace")),
            selector: present(value, "selector"),
            not_found: optional(value, "parameterNotFoundAction"),
        });
        BindingSpec {
            form,
            name: name(object),
            policy: text(spec.get("policyName")),
            param_ref,
            matches: present(spec, "matchResources").map(|value| Match::read(value, "resourceRules")),
            actions: texts(spec.get("validationActions")),
        }
    }
}

/// Returns the webhooks of a configuration.
pub(crate) fn webhooks<'a>(object: Value<'a>) -> Vec<Webhook<'a>> {
    let webhook = |value: &Value<'a>| Webhook {
        configuration: name(object),
        name: text(value.get("name")),
        failure_policy: failure_policy(*value),
        matches: Match::read(*value, "rules"),
        conditions: conditions(*value),
    };
    items(object.get("webhooks")).iter().map(webhook).collect()
}

/// Returns the kind of an object.
pub(crate) fn gvk_of(object: Value<'_>) -> Gvk {
    Gvk::of(text(object.get("apiVersion")), text(object.get("kind")))
}
