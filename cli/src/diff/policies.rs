//! Changes of admission policies: which requests are newly refused or allowed.

use super::Run;
use crate::definitions::Definitions;
use crate::session::groups::WithCustom;
use kubeshape_diff::{Change, Class, Consumer, MarkedIn, Outcome, Proof, Witness};
use kubeshape_input::{Code, Finding};
use kubeshape_policy::Operation;
use kubeshape_registry::policy::{Comparison, CostChange, Difference, Effect, GROUP, ServedKinds, is_policy};
use kubeshape_registry::{Location, Registry, Settings, locate};
use kubeshape_schema::{Bump, Gvk};
use kubeshape_smd::Value;
use kubeshape_yaml::Node;

impl Run<'_> {
    /// Compares the policies of both sides, if there are any.
    pub(super) fn policies(&mut self, old: &Definitions, new: &Definitions) {
        let release = self.release;
        let has = |side: &Definitions| side.objects().iter().any(|location| is_policy(location.node()));
        if !has(old) && !has(new) {
            return;
        }
        let mut registry = Registry::new(Settings::of(release));
        for (number, location) in new.objects().iter().chain(old.objects()).enumerate() {
            registry.set(format!("{number:09}"), [location.clone()], Vec::new());
        }
        let Some(kinds) = WithCustom::new(&registry, release) else {
            let text = format!("Admission policies are not compared: the kinds of Kubernetes {release} are not known.");
            return self.ui.say(&text);
        };
        let arena = Bump::new();
        let found = Comparison::of(&values(old, &arena), &values(new, &arena), ServedKinds::new(&kinds), release);
        self.what = if self.compared == 0 { "set of policies" } else { "definition" };
        self.compared += usize::from(self.compared == 0);
        if found.kinds.is_empty() && found.requests == 0 {
            return;
        }
        let is_wanted = |gvk: &kubeshape_policy::Gvk| {
            let api_version = gvk.api_version();
            self.is_wanted(Gvk::new(&api_version, &gvk.kind), &gvk.kind)
        };
        let requests = found.differences.into_iter().filter(|difference| is_wanted(&difference.gvk));
        let has_witness = self.args.witness;
        let mut all: Vec<(Change, Proof, String)> =
            requests.map(|difference| of_request(difference, has_witness)).collect();
        all.extend(found.costs.iter().filter(|cost| is_wanted(&cost.gvk)).map(of_cost));
        let place =
            |side: &Definitions, policy: &str| side.objects().iter().find_map(|location| policy_at(location, policy));
        for (change, proof, policy) in all {
            let name = if policy.is_empty() { "admission policies".to_owned() } else { policy.clone() };
            let found = |side: &Definitions| match place(side, &policy) {
                Some(mut finding) => {
                    finding.code = change.code;
                    (finding, true)
                }
                None => (Finding::new(change.code, "").of_resource(name.as_str()), false),
            };
            let (was, is) = (found(old), found(new));
            self.changes(&name, std::iter::once((change.clone(), proof)), &mut |_| was.clone(), &mut |_| is.clone());
        }
        let count = found.requests;
        self.ui.say(&format!("{count} requests were evaluated with both sets of policies. Others may differ, too."));
    }
}

fn values<'a>(side: &'a Definitions, arena: &'a Bump) -> Vec<Value<'a>> {
    side.objects().iter().map(|location| Value::from_node(location.node(), arena)).collect()
}

/// Returns the finding at the name of a policy.
fn policy_at(location: &Location, policy: &str) -> Option<Finding> {
    let node = location.node();
    let text = |node: Option<Node<'_>>| node.and_then(Node::as_str).map(str::to_owned);
    let api_version = text(node.get("apiVersion"))?;
    let name = text(node.get("metadata")?.get("name"))?;
    let is_meant = api_version.starts_with(GROUP) && text(node.get("kind"))?.ends_with("Policy") && name == policy;
    let at = location.at(locate::at_field(node, "metadata.name").value);
    is_meant.then(|| at.finding(Code::DiffPolicyDenies, "").of_resource(name))
}

/// Returns the change that a request shows, its proof, and the policy.
fn of_request(difference: Difference, has_witness: bool) -> (Change, Proof, String) {
    let Difference { effect, gvk, operation, policy, object, before, after, .. } = difference;
    let (code, class, outcome) = match effect {
        Effect::Denied => (Code::DiffPolicyDenies, Class::Breaking, Outcome::Refused),
        Effect::Warned => (Code::DiffPolicyOther, Class::Risky, Outcome::Warned),
        Effect::Mutated => (Code::DiffPolicyOther, Class::Risky, Outcome::StoredOtherwise),
        Effect::Allowed => (Code::DiffPolicyAllows, Class::Compatible, Outcome::Accepted),
    };
    let kind = format!("{} {}", gvk.api_version(), gvk.kind);
    let what = match operation {
        Operation::Create => "creation",
        Operation::Update => "update",
        Operation::Delete => "deletion",
        Operation::Connect => "connection",
    };
    let said = if effect == Effect::Allowed { &before } else { &after };
    let detail = match effect {
        Effect::Denied => format!("{what} is refused: {}", said.join("; ")),
        Effect::Warned if said.is_empty() => format!("{what} has no warning any more"),
        Effect::Warned => format!("{what} has a warning: {}", said.join("; ")),
        Effect::Mutated => format!("{what} stores another object"),
        Effect::Allowed => format!("{what} is allowed. It was refused: {}", said.join("; ")),
    };
    let errors = if effect == Effect::Allowed { Vec::new() } else { after };
    let witness = Witness { object, outcome, errors, is_ratcheted: false };
    let proof = if has_witness { Proof::Witness(Box::new(witness)) } else { Proof::NotNeeded };
    (change(code, kind, detail, class), proof, policy.unwrap_or_default())
}

fn of_cost(cost: &CostChange) -> (Change, Proof, String) {
    let CostChange { policy, gvk, before, after } = cost;
    let detail = format!("the cost changed from {before} to {after} for a sample");
    let kind = format!("{} {}", gvk.api_version(), gvk.kind);
    (change(Code::DiffPolicyCost, kind, detail, Class::Cosmetic), Proof::NotNeeded, policy.clone())
}

/// Returns a change of requests with objects of a kind.
fn change(code: Code, kind: String, detail: String, class: Class) -> Change {
    Change {
        code,
        version: String::new(),
        path: kind,
        old: 0,
        new: 0,
        part: Vec::new(),
        marked_in: MarkedIn::Both,
        detail,
        effects: vec![(Consumer::Writers, class)],
    }
}
