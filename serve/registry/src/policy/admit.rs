//! A whole request: mutating policies, the strategy of the kind, validating policies.

use super::admission::{Admission, Client, Parts, request_of};
use super::{Layer, ServedKinds};
use crate::Object;
use crate::kind::Kind;
use kubeshape_policy::{Decision, DeniedBy, Gvk, Kinds, Operation};
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::builtin::Assigned;
use kubeshape_validate::object::{Judged, refusal};

/// The response of a server to a request.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The object as stored; `None` if it is refused or deleted.
    pub stored: Option<Object>,
    /// The message with which the request is refused.
    pub refusal: Option<String>,
    /// The validation of a policy that refuses the request, if it is one.
    pub denied_by: Option<DeniedBy>,
    /// The warnings for the client.
    pub warnings: Vec<String>,
}

impl Answer {
    fn refused(message: impl Into<String>) -> Answer {
        Answer { refusal: Some(message.into()), ..Answer::default() }
    }

    /// Adds the decisions of policies. Returns whether they refuse the request.
    fn add(&mut self, decision: &Decision<'_>) -> bool {
        self.warnings.extend(decision.warnings.iter().cloned());
        self.denied_by.clone_from(&decision.denied_by);
        self.refusal = decision.status.as_ref().map(|status| status.message.clone());
        self.refusal.is_some()
    }
}

impl<'a> Admission<'a> {
    /// Handles a request like a server: objects are decoded and get defaults, mutating policies change them, the rules
    /// of the kind validate them, then validating policies.
    pub fn admit<'l: 'a>(
        &'a self,
        parts: Parts<'_, 'a>,
        client: &Client,
        kinds: &ServedKinds<'l>,
        arena: &'a Bump,
    ) -> Answer {
        let gvk = parts.gvk;
        let Some((layer, kind)) = kinds.find(gvk) else {
            return Answer::refused(format!("no matches for kind {:?} in version {:?}", gvk.kind, gvk.api_version()));
        };
        let decode = |object: Option<Value<'a>>| object.map(|object| kinds.decode(gvk, object, arena)).transpose();
        let (object, old) = match (decode(parts.object), decode(parts.old_object)) {
            (Ok(object), Ok(old)) => (object, old),
            (Err(error), _) | (_, Err(error)) => return Answer::refused(error),
        };
        if let Some(object) = object.as_ref().filter(|object| !object.unknown.is_empty()) {
            let unknown: Vec<String> = object.unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
            return Answer::refused(format!("strict decoding error: {}", unknown.join(", ")));
        }
        let (object, old_object) = (object.map(|object| object.value), old.map(|old| old.value));
        let Some(mut request) = request_of(Parts { object, old_object, ..parts }, client, kinds, arena) else {
            return Answer::refused("the server could not find the requested resource");
        };
        let mut answer = Answer::default();
        if request.operation == Operation::Delete {
            answer.add(&self.validate(&request, client, kinds, arena));
            return answer;
        }
        if answer.add(&self.mutate(&mut request, client, kinds, arena)) {
            return answer;
        }
        let Some(object) = request.object else { return Answer::refused("the request has no object") };
        let judged = judge(layer, kind, gvk, object, request.old_object, arena);
        answer.warnings.extend(judged.warnings);
        answer.refusal = match judged.errors.as_slice() {
            [] => judged.refusal.map(str::to_owned),
            errors => Some(refusal(&gvk.group, &gvk.kind, &request.name, errors)),
        };
        if answer.refusal.is_some() {
            return answer;
        }
        // Policies see the object before it is stored.
        let seen = kinds.decode(gvk, judged.stored, arena).map_or(judged.stored, |decoded| decoded.value);
        request.object = Some(seen);
        if !answer.add(&self.validate(&request, client, kinds, arena)) {
            answer.stored = Some(Object::of(judged.stored));
        }
        answer
    }
}

/// Validates a decoded object with the rules of its kind.
fn judge<'a>(
    layer: &Layer,
    kind: &'a Kind,
    gvk: &Gvk,
    object: Value<'a>,
    old: Option<Value<'a>>,
    arena: &'a Bump,
) -> Judged<'a> {
    let resources = kind.resources().unwrap_or_default();
    if let Some(resource) = resources.iter().find(|resource| resource.api_version == kind.api_version()) {
        return match old {
            Some(old) => resource.update(object, old, arena),
            None => resource.create(object, arena),
        };
    }
    match (layer.strategy(gvk, kind), old) {
        (Some(strategy), Some(old)) => strategy.update(object, old, Assigned::default(), arena),
        (Some(strategy), None) => strategy.create(object, Assigned::default(), arena),
        (None, _) => Judged { stored: object, errors: Vec::new(), warnings: Vec::new(), refusal: None },
    }
}
