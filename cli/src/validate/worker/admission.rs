//! Admission policies, before and after the rules of the kind.

use super::Judged;
use crate::validate::policies::Policies;
use kubeshape_input::Code;
use kubeshape_policy::{Decision, Gvk, Kinds, Operation, Permissions, Request};
use kubeshape_registry::policy::{Client, Parts, ServedKinds, changes, request_of};
use kubeshape_smd::Value;

impl<'j> Judged<'j, '_, '_> {
    /// Returns whether policies judge the deletion of the object. No rule of its kind is about deletion.
    pub(super) fn is_deleted(&self) -> bool {
        let policies = self.context.policies.as_ref();
        policies.is_some_and(|policies| policies.operation(false) == Operation::Delete)
    }

    /// Returns a decoded object after changes by mutating policies, or `None` if they refuse the request.
    pub(super) fn mutated(&mut self, object: Value<'j>, old: Option<Value<'j>>) -> Option<Value<'j>> {
        let Some(policies) = self.policies() else { return Some(object) };
        let (client, permissions) = policies.client();
        let kinds = ServedKinds::new(&self.context.kinds);
        let Some(mut request) = self.request(policies, &client, &kinds, object, old) else { return Some(object) };
        let before = request.object;
        let decision = policies.admission.mutate(&mut request, &client, &kinds, self.arena);
        if let (Some(before), Some(after)) = (before, decision.object.filter(|_| self.context.notes)) {
            let names = decision.mutations.iter().map(|mutation| format!("'{}'", mutation.policy));
            let mut names: Vec<String> = names.collect();
            names.dedup();
            self.tell(Code::PolicyChanged, self.node, format!("MutatingAdmissionPolicy {}", names.join(", ")));
            if let Some(finding) = self.findings.last_mut() {
                finding.notes.extend(changes(before, after));
            }
        }
        self.decided(policies, &decision, &permissions);
        if decision.status.is_some() { None } else { request.object.or(Some(object)) }
    }

    /// Judges the object, as it is stored, with validating policies.
    pub(super) fn policed(&mut self, stored: Value<'j>, old: Option<Value<'j>>) {
        let Some(policies) = self.policies() else { return };
        let (client, permissions) = policies.client();
        let kinds = ServedKinds::new(&self.context.kinds);
        let Some(request) = self.request(policies, &client, &kinds, stored, old) else { return };
        let decision = policies.admission.validate(&request, &client, &kinds, self.arena);
        self.decided(policies, &decision, &permissions);
    }

    fn policies(&self) -> Option<&'j Policies<'j>> {
        self.context.policies.as_ref()
    }

    /// Returns the request with an object that is created, replaces another one, or is deleted.
    fn request(
        &self,
        policies: &Policies<'_>,
        client: &Client,
        kinds: &dyn Kinds,
        object: Value<'j>,
        old: Option<Value<'j>>,
    ) -> Option<Request<'j>> {
        let operation = policies.operation(old.is_some());
        let (object, old_object) = match operation {
            Operation::Delete => (None, Some(object)),
            Operation::Update => (Some(object), old.or(Some(object))),
            Operation::Create | Operation::Connect => (Some(object), None),
        };
        let gvk = self.object.gvk();
        let gvk = Gvk::of(gvk.api_version(), gvk.kind());
        let parts = Parts { gvk: &gvk, operation, subresource: "", namespace: None, name: None, object, old_object };
        request_of(parts, client, kinds, self.arena)
    }

    /// Reports what policies decided.
    fn decided(&mut self, policies: &Policies<'_>, decision: &Decision<'_>, permissions: &Permissions) {
        for warning in &decision.warnings {
            self.tell(Code::PolicyWarned, self.node, warning.as_str());
        }
        for (key, value) in decision.audit_annotations.iter().filter(|_| self.context.notes) {
            self.tell(Code::PolicyAudited, self.node, format!("{key}: {value}"));
        }
        for asked in permissions.take_unknown() {
            self.tell(Code::PolicyAsked, self.node, format!("a policy asks for the permission {asked}"));
            if let Some(finding) = self.findings.last_mut() {
                finding.advice =
                    Some(format!("Without a cluster the answer is no. If the user has it, add `--can {asked}`."));
            }
        }
        let Some(status) = &decision.status else { return };
        self.tell(Code::PolicyDenied, self.node, status.message.as_str());
        let denied = decision.denied_by.as_ref().zip(decision.refused_by);
        let place = denied.and_then(|(by, kind)| policies.place(kind, &by.policy, by.expression));
        if let (Some(place), Some(finding)) = (place, self.findings.last_mut()) {
            finding.notes.push(format!("the policy: {place}"));
        }
    }
}
