//! The response to a request, and the results of its policies.

use crate::answer::Status;
use crate::kinds::{Gvk, Gvr};
use crate::objects::Form;
use crate::policies::Conditional;
use kubeshape_schema::names;
use kubeshape_value::Value as Object;
use std::collections::BTreeMap;

/// The response of a server to a request.
#[derive(Clone, Debug, Default)]
pub struct Decision<'a> {
    /// The refusal; `None` if the request is allowed.
    pub status: Option<Status>,
    /// The kind of the policies that refuse it.
    pub refused_by: Option<&'static str>,
    /// The validation that refuses it.
    pub denied_by: Option<DeniedBy>,
    /// The object, if policies changed it.
    pub object: Option<Object<'a>>,
    /// Warnings for the client.
    pub warnings: Vec<String>,
    /// Annotations of the audit event.
    pub audit_annotations: BTreeMap<String, String>,
    /// The results of validating policies.
    pub validations: Vec<Validated>,
    /// The results of mutating policies.
    pub mutations: Vec<Mutated>,
    /// The webhooks that would be called.
    pub webhooks: Vec<Called>,
}

/// The validation that refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedBy {
    /// The policy.
    pub policy: String,
    /// The binding; `None` if the policy itself is invalid.
    pub binding: Option<String>,
    /// The index of the validation in the policy.
    pub expression: Option<usize>,
    /// The message.
    pub message: String,
}

/// The result of a policy for a request with one binding and one parameter.
#[derive(Clone, Debug, Default)]
pub struct Validated {
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// `namespace/name`
    pub param: Option<String>,
    /// The kind as which the object was evaluated: `apps/v1 Deployment`.
    pub kind: String,
    /// The result of the match conditions, if there are any.
    pub conditions: Option<Conditional>,
    /// One for each validation, or a single error.
    pub decisions: Vec<Judged>,
    /// The audit annotations.
    pub audit_annotations: Vec<Annotation>,
    /// The costs of validations, messageExpressions and auditAnnotations, if there are any; `Err` if they cost too
    /// much.
    pub costs: Vec<(&'static str, Result<i64, String>)>,
}

/// The result of a validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Whether the action is `deny`.
    pub denies: bool,
    /// Whether it is caused by an error.
    pub is_error: bool,
    /// The message.
    pub message: String,
    /// The reason.
    pub reason: Option<String>,
    /// The expression, by its index in the validations.
    pub expression: Option<usize>,
}

/// The result of an audit annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The key.
    pub key: String,
    /// The value, if it is published.
    pub value: Option<String>,
    /// The error.
    pub error: Option<String>,
    /// Whether the request is refused because of it.
    pub denies: bool,
}

/// The result of a mutating policy.
#[derive(Clone, Debug, Default)]
pub struct Mutated {
    /// 1, or 2 when policies are invoked again.
    pub pass: u8,
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// `namespace/name`
    pub param: Option<String>,
    /// The result of the match conditions, if this is about them.
    pub conditions: Option<Conditional>,
    /// The index of the mutation in the policy, if this is about one.
    pub mutation: Option<usize>,
    /// The cost; `None` if it does not compile or costs too much.
    pub cost: Option<i64>,
    /// The error.
    pub error: Option<String>,
}

/// A webhook, and whether it would be called.
#[derive(Clone, Debug)]
pub struct Called {
    /// The configuration.
    pub configuration: String,
    /// The webhook.
    pub name: String,
    /// The resource and the kind that would be sent to it; `None` if it is not called.
    pub as_kind: Option<(Gvr, Gvk)>,
    /// The refusal, if a condition fails with an error.
    pub error: Option<Status>,
}

impl Decision<'_> {
    /// Returns whether the request is allowed.
    pub fn is_allowed(&self) -> bool {
        self.status.is_none()
    }

    pub(crate) fn refuse(&mut self, form: Form, status: Status) {
        self.refused_by = Some(form.kind());
        self.status = Some(status);
    }

    /// Adds an annotation. If the key exists, its value is kept (`AddAnnotation`).
    pub(crate) fn annotate(&mut self, key: String, value: String) {
        if is_annotation_key(&key) {
            self.audit_annotations.entry(key).or_insert(value);
        }
    }
}

/// Returns whether an audit annotation may have this key.
pub(crate) fn is_annotation_key(key: &str) -> bool {
    names::qualified_name(key).is_empty()
}
