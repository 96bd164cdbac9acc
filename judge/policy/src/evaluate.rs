//! Evaluates requests with policies.

use crate::answer::Status;
use crate::decision::{Called, Decision};
use crate::environment::Bindings;
use crate::evaluator::Evaluator;
use crate::kinds::Kinds;
use crate::matching::webhook_matches;
use crate::mutating;
use crate::objects::{BindingSpec, Form, PolicySpec, gvk_of, name, webhooks};
use crate::policies::{CompiledWebhook, Policy};
use crate::request::{Operation, Request, World};
use crate::validating;
use kubeshape_cel::Value;
use kubeshape_validate::Release;
use kubeshape_value::{Bump, Value as Object};

/// The group of policies and webhook configurations.
const GROUP: &str = "admissionregistration.k8s.io";

/// Policies, bindings and webhook configurations.
#[derive(Debug, Default)]
pub struct Policies<'a> {
    all: Vec<Policy<'a>>,
    webhooks: Vec<CompiledWebhook<'a>>,
    undecoded: Vec<Undecoded>,
}

/// An object that the server would not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The message of the error.
    pub error: String,
}

impl<'a> Policies<'a> {
    /// Reads policies, bindings and webhook configurations like a server of a release. Other objects are ignored.
    /// Objects that the server would not decode are left out, see [`undecoded`](Self::undecoded).
    pub fn read(
        objects: impl IntoIterator<Item = Object<'a>>,
        kinds: &dyn Kinds,
        release: Release,
        arena: &'a Bump,
    ) -> Policies<'a> {
        let mut policies = Policies::default();
        let mut bindings = Vec::new();
        for object in objects {
            let gvk = gvk_of(object);
            if gvk.group != GROUP {
                continue;
            }
            let object = match kinds.decode(&gvk, object, arena) {
                Ok(decoded) => decoded.value,
                Err(error) => {
                    let name = name(object).to_owned();
                    policies.undecoded.push(Undecoded { kind: gvk.kind, name, error });
                    continue;
                }
            };
            match gvk.kind.as_str() {
                "ValidatingAdmissionPolicy" => {
                    policies.all.push(Policy::new(PolicySpec::read(object, Form::Validating), release));
                }
                "MutatingAdmissionPolicy" => {
                    policies.all.push(Policy::new(PolicySpec::read(object, Form::Mutating), release));
                }
                "ValidatingAdmissionPolicyBinding" => bindings.push(BindingSpec::read(object, Form::Validating)),
                "MutatingAdmissionPolicyBinding" => bindings.push(BindingSpec::read(object, Form::Mutating)),
                "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
                    let compile = |webhook| CompiledWebhook::new(webhook, release);
                    policies.webhooks.extend(webhooks(object).into_iter().map(compile));
                }
                _ => {}
            }
        }
        for binding in bindings {
            let is_meant =
                |policy: &&mut Policy<'a>| policy.spec.form == binding.form && policy.spec.name == binding.policy;
            if let Some(policy) = policies.all.iter_mut().find(is_meant) {
                policy.bindings.push(binding);
            }
        }
        policies
    }

    /// Returns whether there is a ValidatingAdmissionPolicy.
    pub fn has_validating(&self) -> bool {
        self.all.iter().any(|policy| policy.is(Form::Validating))
    }

    pub(crate) fn all(&self) -> &[Policy<'a>] {
        &self.all
    }

    /// Returns whether no policy is bound, and there is no webhook.
    pub fn is_empty(&self) -> bool {
        self.webhooks.is_empty() && self.all.iter().all(|policy| policy.bindings.is_empty())
    }

    /// Objects that the server would not decode.
    pub fn undecoded(&self) -> &[Undecoded] {
        &self.undecoded
    }

    /// Evaluates a request as admission does: mutating policies, again if one of them requests reinvocation, then
    /// validating policies. Policies, bindings and parameters are used in the order in which they were read; a server
    /// uses a random order.
    pub fn evaluate(&'a self, request: &Request<'a>, world: World<'_, 'a>, arena: &'a Bump) -> Decision<'a> {
        let mut decision = self.mutate(request, world, arena);
        if decision.status.is_some() {
            return decision;
        }
        let mut request = request.clone();
        request.object = decision.object.or(request.object);
        self.validate_into(&request, world, arena, &mut decision);
        decision
    }

    /// Changes the object of a request as mutating policies do, again if one of them requests reinvocation. The caller
    /// handles the object as a server does, and calls [`validate`](Self::validate).
    pub fn mutate(&'a self, request: &Request<'a>, world: World<'_, 'a>, arena: &'a Bump) -> Decision<'a> {
        let mut decision = Decision::default();
        if is_exempt(request) || request.operation == Operation::Delete || !self.has(Form::Mutating) {
            return decision;
        }
        let mut changed = request.clone();
        if mutating::mutate(&mut changed, world, arena, &self.all, &mut decision) {
            decision.object = changed.object;
        }
        decision
    }

    /// Evaluates a request with validating policies.
    pub fn validate(&'a self, request: &Request<'a>, world: World<'_, 'a>, arena: &'a Bump) -> Decision<'a> {
        let mut decision = Decision::default();
        self.validate_into(request, world, arena, &mut decision);
        decision
    }

    fn validate_into(
        &'a self,
        request: &Request<'a>,
        world: World<'_, 'a>,
        arena: &'a Bump,
        decision: &mut Decision<'a>,
    ) {
        if !is_exempt(request) && self.has(Form::Validating) {
            validating::validate(&Evaluator::new(request, world, arena), &self.all, decision);
        }
    }

    /// Returns whether a policy of a form is bound.
    fn has(&self, form: Form) -> bool {
        self.all.iter().any(|policy| policy.is(form) && !policy.bindings.is_empty())
    }

    /// Finds the webhooks that would be called for a request.
    pub fn webhooks(&'a self, request: &Request<'a>, world: World<'_, 'a>, arena: &'a Bump) -> Vec<Called> {
        let evaluator = Evaluator::new(request, world, arena);
        self.webhooks.iter().map(|webhook| called(&evaluator, webhook)).collect()
    }
}

/// Upstream: `ShouldCallHook`.
fn called<'a>(evaluator: &Evaluator<'_, 'a>, compiled: &'a CompiledWebhook<'a>) -> Called {
    let (request, world) = (evaluator.request, evaluator.world);
    let webhook = &compiled.webhook;
    let mut called = Called {
        configuration: webhook.configuration.to_owned(),
        name: webhook.name.to_owned(),
        as_kind: None,
        error: None,
    };
    // `rules.IsExemptAdmissionConfigurationResource`
    if request.kind.group == GROUP {
        return called;
    }
    let matched = match webhook_matches(&webhook.matches, request, world) {
        Ok(Some(matched)) => matched,
        Ok(None) => return called,
        Err(status) => {
            called.error = Some(status);
            return called;
        }
    };
    let mut bindings: Bindings<'a> = evaluator.objects(&matched.kind).to_vec();
    bindings.push(("request", evaluator.request_value(&request.resource, &matched.kind)));
    bindings.push(("namespaceObject", Value::Null));
    bindings.extend(evaluator.authorizer());
    match compiled.conditions.evaluate(&bindings, None) {
        Some(conditions) if !conditions.matches => {
            let refuse = |text: &String| Status::forbidden_resource(&request.resource, &request.name, text);
            called.error = conditions.error.as_ref().map(refuse);
        }
        _ => called.as_kind = Some((matched.resource, matched.kind)),
    }
    called
}

/// Returns whether a request reaches no admission plugin for policies (`exclusion.Excluded`).
fn is_excluded(request: &Request<'_>) -> bool {
    let resource = &request.resource;
    matches!(
        (resource.group.as_str(), resource.resource.as_str()),
        ("authentication.k8s.io", "tokenreviews" | "selfsubjectreviews")
            | (
                "authorization.k8s.io",
                "localsubjectaccessreviews"
                    | "selfsubjectaccessreviews"
                    | "selfsubjectrulesreviews"
                    | "subjectaccessreviews"
            )
    )
}

/// Returns whether a request is about policies: such requests are not checked with policies (`Plugin.Dispatch`).
fn is_exempt(request: &Request<'_>) -> bool {
    let is_policy = request.resource.group == GROUP
        && matches!(
            request.resource.resource.as_str(),
            "validatingadmissionpolicies"
                | "validatingadmissionpolicybindings"
                | "mutatingadmissionpolicies"
                | "mutatingadmissionpolicybindings"
        );
    is_policy || is_excluded(request)
}
