//! Compares two sets of admission policies: which requests get another response.
//!
//! Requests are made from samples of the kinds that the policies match, and from the fields and values in their
//! expressions. Both sets evaluate each request, as a server does: a difference is proven, and a missing one is not.

mod candidates;

use super::ServedKinds;
use super::admission::{Admission, Client, Parts, request_of};
use super::admit::Answer;
use super::check::GROUP;
use candidates::{Candidates, Edit};
use kubeshape_policy::{Gvk, Kinds, Operation, Release};
use kubeshape_smd::{Bump, ToValue, Value};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of requests of a comparison.
const MAX_REQUESTS: usize = 1_200;
/// The maximum number of kinds whose objects are tried.
const MAX_KINDS: usize = 8;
/// The maximum number of requests with which an object is made smaller.
const MAX_SHRINKS: usize = 120;
/// The groups that are tried if a policy matches all.
const GROUPS: [&str; 3] = ["", "apps", "batch"];

/// What changes for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It was allowed, and is refused.
    Denied,
    /// It is allowed with other warnings.
    Warned,
    /// Another object is stored.
    Mutated,
    /// It was refused, and is allowed.
    Allowed,
}

/// A request with another response.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What changes.
    pub effect: Effect,
    /// The kind of the object.
    pub gvk: Gvk,
    /// The operation.
    pub operation: Operation,
    /// The policy that refuses the request in one of the sets.
    pub policy: Option<String>,
    /// The object.
    pub object: Json,
    /// The object before an update.
    pub old_object: Option<Json>,
    /// What the server says with the old policies: the refusal or the warnings. Empty if it allows the request.
    pub before: Vec<String>,
    /// The same with the new policies.
    pub after: Vec<String>,
}

/// The cost of a policy for a sample of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostChange {
    /// The policy.
    pub policy: String,
    /// The kind of the sample.
    pub gvk: Gvk,
    /// The cost before.
    pub before: i64,
    /// The cost now.
    pub after: i64,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// One for each effect, kind and policy.
    pub differences: Vec<Difference>,
    /// Other costs.
    pub costs: Vec<CostChange>,
    /// The kinds whose objects were tried.
    pub kinds: Vec<Gvk>,
    /// The number of requests that both sets evaluated.
    pub requests: usize,
}

/// The two sets, and what both need.
struct Sides<'w> {
    old: &'w Admission<'w>,
    new: &'w Admission<'w>,
    kinds: ServedKinds<'w>,
    client: Client,
}

/// A request.
#[derive(Clone)]
struct Tried {
    operation: Operation,
    object: Json,
    old_object: Option<Json>,
}

impl Comparison {
    /// Compares policies, bindings, parameters and namespaces.
    ///
    /// # Example
    /// ```
    /// use kubeshape_policy::Release;
    /// use kubeshape_registry::policy::{Comparison, Effect, Layer, ServedKinds};
    /// use kubeshape_registry::{Object, Registry};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let mut registry = Registry::default();
    /// registry.set_input("tabs", kubeshape_input::read("tabs.yaml", b"
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: tabs.example.com}
    /// spec:
    ///   group: example.com
    ///   scope: Cluster
    ///   names: {plural: tabs, kind: Tab}
    ///   versions:
    ///   - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
    /// ", Default::default()));
    /// let set = |most: u8| {
    ///     let policy = format!("
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicy
    /// metadata: {{name: small}}
    /// spec:
    ///   matchConstraints:
    ///     resourceRules: [{{apiGroups: [example.com], apiVersions: [v1], resources: [tabs], operations: [CREATE]}}]
    ///   validations: [{{expression: '!has(object.size) || object.size <= {most}'}}]");
    ///     let binding = "
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicyBinding
    /// metadata: {name: everywhere}
    /// spec: {policyName: small, validationActions: [Deny]}";
    ///     [policy.as_str(), binding].map(|text| Object::read("policies", text.as_bytes()).unwrap())
    /// };
    /// let (old, new) = (set(5), set(3));
    /// let arena = Bump::new();
    /// let layers = [&Layer::new(&registry)];
    /// let old = old.each_ref().map(|object| object.value().to_value(&arena));
    /// let new = new.each_ref().map(|object| object.value().to_value(&arena));
    /// let found = Comparison::of(&old, &new, ServedKinds::new(&layers), Release::DEFAULT);
    /// let difference = &found.differences[0];
    /// assert_eq!((difference.effect, &difference.object["size"]), (Effect::Denied, &serde_json::json!(4)));
    /// ```
    pub fn of(old: &[Value<'_>], new: &[Value<'_>], kinds: ServedKinds<'_>, release: Release) -> Comparison {
        let mut out = Comparison::default();
        if old == new {
            return out;
        }
        let arena = Bump::new();
        let read = |set: &[Value<'_>]| {
            let values: Vec<Value<'_>> = set.iter().map(|value| value.copy_into(&arena)).collect();
            Admission::read(values, &kinds, release, &arena)
        };
        let (before, after) = (read(old), read(new));
        let sides = Sides { old: &before, new: &after, kinds, client: Client::default() };
        let all: Vec<Value<'_>> = old.iter().chain(new).copied().collect();
        let matched = matched(&all, kinds);
        let candidates = Candidates::of(&all);
        let room = MAX_REQUESTS / matched.len().max(1);
        for (gvk, operations) in &matched {
            let mut samples: Vec<Json> =
                [false, true].iter().filter_map(|maximal| sample(kinds, gvk, *maximal, release)).collect();
            samples.dedup();
            for (at, sample) in samples.iter().enumerate() {
                sides.costs(gvk, sample, &mut out.costs);
                let mut left = if at == 0 { room / 2 } else { room / 2 + room % 2 };
                for operation in operations {
                    sides.search(gvk, *operation, sample, &candidates, &mut left, &mut out);
                }
            }
            out.kinds.push(gvk.clone());
        }
        for difference in &mut out.differences {
            sides.shrink(difference);
        }
        out.differences.sort_by(|a, b| (a.effect, &a.gvk, &a.policy).cmp(&(b.effect, &b.gvk, &b.policy)));
        out
    }

    /// Adds a difference. Of those with the same effect, kind and policy, the smallest object is kept.
    fn add(&mut self, found: Difference) {
        let size = |difference: &Difference| difference.object.to_string().len();
        let is_same = |other: &&mut Difference| {
            (other.effect, &other.gvk, &other.policy) == (found.effect, &found.gvk, &found.policy)
        };
        match self.differences.iter_mut().find(is_same) {
            Some(other) if size(other) <= size(&found) => {}
            Some(other) => *other = found,
            None => self.differences.push(found),
        }
    }
}

impl Sides<'_> {
    /// Tries a sample, the sample with one edit, and with two.
    fn search(
        &self,
        gvk: &Gvk,
        operation: Operation,
        sample: &Json,
        candidates: &Candidates,
        left: &mut usize,
        out: &mut Comparison,
    ) {
        let mut attempt = |object: Json| -> bool {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            out.requests += 1;
            let tried = match operation {
                Operation::Update => Tried { operation, object, old_object: Some(sample.clone()) },
                operation => Tried { operation, object, old_object: None },
            };
            if let Some(difference) = self.difference(gvk, tried) {
                out.add(difference);
            }
            true
        };
        let edits: Vec<Edit> = candidates.edits(sample);
        if !attempt(sample.clone()) {
            return;
        }
        for edit in &edits {
            if !attempt(edit.applied_to(sample)) {
                return;
            }
        }
        for (at, first) in edits.iter().enumerate() {
            let object = first.applied_to(sample);
            for second in edits.iter().skip(at + 1).filter(|second| second.path != first.path) {
                if !attempt(second.applied_to(&object)) {
                    return;
                }
            }
        }
    }

    /// Evaluates a request with both sets.
    fn difference(&self, gvk: &Gvk, tried: Tried) -> Option<Difference> {
        let arena = Bump::new();
        let value = tried.object.to_value(&arena);
        let (object, old_object) = match tried.operation {
            Operation::Delete => (None, Some(value)),
            _ => (Some(value), tried.old_object.as_ref().map(|old| old.to_value(&arena))),
        };
        let parts =
            Parts { gvk, operation: tried.operation, subresource: "", namespace: None, name: None, object, old_object };
        let before = self.old.admit(parts, &self.client, &self.kinds, &arena);
        let after = self.new.admit(parts, &self.client, &self.kinds, &arena);
        let effect = effect(&before, &after)?;
        let denied = if effect == Effect::Allowed { &before.denied_by } else { &after.denied_by };
        let policy = denied.as_ref().map(|denied| denied.policy.clone());
        let words = |answer: &Answer| match &answer.refusal {
            Some(refusal) => vec![refusal.clone()],
            None => answer.warnings.clone(),
        };
        let (before, after) = (words(&before), words(&after));
        let Tried { operation, object, old_object } = tried;
        Some(Difference { effect, gvk: gvk.clone(), operation, policy, object, old_object, before, after })
    }

    /// Removes what the difference does not need from its object.
    fn shrink(&self, difference: &mut Difference) {
        let mut left = MAX_SHRINKS;
        let mut is_smaller = true;
        while is_smaller {
            is_smaller = false;
            for path in candidates::removable(&difference.object) {
                if left == 0 {
                    return;
                }
                left -= 1;
                let Some(object) = candidates::without(&difference.object, &path) else { continue };
                let Difference { operation, old_object, .. } = difference.clone();
                let found = self.difference(&difference.gvk, Tried { operation, object, old_object });
                if let Some(found) =
                    found.filter(|found| found.effect == difference.effect && found.policy == difference.policy)
                {
                    *difference = found;
                    is_smaller = true;
                    break;
                }
            }
        }
    }

    /// Compares what the policies of both sets cost for an object.
    fn costs(&self, gvk: &Gvk, object: &Json, out: &mut Vec<CostChange>) {
        let (before, after) = (self.cost(self.old, gvk, object), self.cost(self.new, gvk, object));
        for (policy, after) in after {
            let Some(before) = before.get(&policy).copied().filter(|before| *before != after) else { continue };
            match out.iter_mut().find(|known| known.policy == policy && known.gvk == *gvk) {
                Some(known) if known.after >= after => {}
                Some(known) => (known.before, known.after) = (before, after),
                None => out.push(CostChange { policy, gvk: gvk.clone(), before, after }),
            }
        }
    }

    /// Returns the costs by policy. One that costs too much is left out.
    fn cost(&self, admission: &Admission<'_>, gvk: &Gvk, object: &Json) -> BTreeMap<String, i64> {
        let arena = Bump::new();
        let mut out = BTreeMap::new();
        let Ok(decoded) = self.kinds.decode(gvk, object.to_value(&arena), &arena) else { return out };
        let parts = Parts {
            gvk,
            operation: Operation::Create,
            subresource: "",
            namespace: None,
            name: None,
            object: Some(decoded.value),
            old_object: None,
        };
        let Some(request) = request_of(parts, &self.client, &self.kinds, &arena) else { return out };
        for validated in admission.validate(&request, &self.client, &self.kinds, &arena).validations {
            let costs: Option<i64> = validated.costs.iter().map(|(_, cost)| cost.as_ref().ok().copied()).sum();
            if let Some(cost) = costs {
                *out.entry(validated.policy).or_default() += cost;
            }
        }
        out
    }
}

fn effect(before: &Answer, after: &Answer) -> Option<Effect> {
    match (&before.refusal, &after.refusal) {
        (None, Some(_)) => Some(Effect::Denied),
        (Some(_), None) => Some(Effect::Allowed),
        (Some(_), Some(_)) => None,
        (None, None) if before.warnings != after.warnings => Some(Effect::Warned),
        (None, None) => {
            let text = |answer: &Answer| answer.stored.as_ref().map(|stored| stored.value().to_string());
            (text(before) != text(after)).then_some(Effect::Mutated)
        }
    }
}

fn sample(kinds: ServedKinds<'_>, gvk: &Gvk, maximal: bool, release: Release) -> Option<Json> {
    let (_, kind) = kinds.find(gvk)?;
    Some(kind.sample(maximal, release)?.object)
}

/// Returns the kinds that policies match, with their operations. Kinds that are named come first.
fn matched(policies: &[Value<'_>], kinds: ServedKinds<'_>) -> Vec<(Gvk, Vec<Operation>)> {
    let mut found: BTreeMap<(bool, Gvk), BTreeSet<&str>> = BTreeMap::new();
    let texts = |value: Value<'_>, key: &str| -> Vec<String> {
        let items = value.get(key).and_then(Value::as_list).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str()).map(str::to_owned).collect()
    };
    for policy in policies {
        let is_policy = policy.gvk().group() == GROUP;
        let rules = policy.get("spec").and_then(|spec| spec.get("matchConstraints")?.get("resourceRules")?.as_list());
        for rule in rules.filter(|_| is_policy).unwrap_or_default() {
            let (groups, versions, resources) =
                (texts(*rule, "apiGroups"), texts(*rule, "apiVersions"), texts(*rule, "resources"));
            let has = |list: &[String], own: &str| list.iter().any(|item| item == own || item == "*" || item == "*/*");
            let groups: Vec<&str> = groups
                .iter()
                .flat_map(|group| if group == "*" { GROUPS.to_vec() } else { vec![group.as_str()] })
                .collect();
            let is_wild = [&versions, &resources].iter().any(|list| list.iter().any(|item| item.contains('*')));
            for group in groups {
                let layers = kinds.layers.of_group(group);
                for (gvr, gvk) in layers.iter().flat_map(|layer| &layer.resources) {
                    if gvr.group != group || !has(&versions, &gvr.version) || !has(&resources, &gvr.resource) {
                        continue;
                    }
                    let operations = texts(*rule, "operations");
                    let names = [Operation::Create, Operation::Update, Operation::Delete].map(Operation::name);
                    let own = names.into_iter().filter(|name| has(&operations, name));
                    found.entry((is_wild, gvk.clone())).or_default().extend(own);
                }
            }
        }
    }
    let operations = |names: BTreeSet<&str>| names.into_iter().filter_map(Operation::named).collect();
    found.into_iter().take(MAX_KINDS).map(|((_, gvk), names)| (gvk, operations(names))).collect()
}
