//! What the expressions of policies can cost, with locations.

use super::check::named;
use crate::locate;
use crate::location::Location;
use kubeshape_input::{Code, Finding, Place};
use kubeshape_policy::{Kinds, PolicyCost, Release, policy_costs};
use kubeshape_schema::thousands;
use kubeshape_smd::Value;

/// The size of lists, maps and strings of ordinary objects. An expression that costs too much for it is a mistake.
const ORDINARY: u64 = 32;

/// The costs of the expressions of a policy or a webhook configuration.
#[derive(Clone, Debug)]
pub struct ObjectCosts {
    /// `ValidatingAdmissionPolicy small`
    pub resource: String,
    /// The object.
    pub location: Location,
    /// The costs.
    pub costs: Vec<PolicyCost>,
}

impl ObjectCosts {
    pub(super) fn of(location: &Location, decoded: Value<'_>, kinds: &dyn Kinds, release: Release) -> ObjectCosts {
        let costs = policy_costs(decoded, kinds, release);
        ObjectCosts { resource: named(decoded), location: location.clone(), costs }
    }

    /// Returns the location of an expression.
    pub fn place(&self, cost: &PolicyCost) -> Option<Place> {
        self.at(cost).place()
    }

    fn at(&self, cost: &PolicyCost) -> Location {
        self.location.at(locate::at_field(self.location.node(), &cost.path).shown())
    }

    /// Returns a warning for each expression that costs too much for ordinary objects.
    pub fn warnings(&self) -> impl Iterator<Item = Finding> {
        let is_costly = |cost: &PolicyCost| cost.size.is_some_and(|size| size < ORDINARY);
        // A warning about one of the expressions is enough.
        let is_told = move |shared: &PolicyCost| {
            let is_part = |cost: &PolicyCost| !cost.is_shared && cost.path.starts_with(&shared.path);
            shared.is_shared && self.costs.iter().any(|cost| is_part(cost) && is_costly(cost))
        };
        let costly = self.costs.iter().filter(move |cost| is_costly(cost) && !is_told(cost));
        costly.map(|cost| self.finding(Code::PolicyCostly, cost))
    }

    /// Returns a note for each expression.
    pub fn notes(&self) -> impl Iterator<Item = Finding> {
        self.costs.iter().map(|cost| self.finding(Code::PolicyCost, cost))
    }

    fn finding(&self, code: Code, cost: &PolicyCost) -> Finding {
        let limit = thousands(cost.limit);
        let together = if cost.is_shared { "together, the expressions cost" } else { "costs" };
        let text = match (cost.size, cost.most) {
            (None, Some(most)) => format!("{together} at most {}, and the limit is {limit}", thousands(most)),
            (None, None) => format!("{together} less than the limit of {limit}"),
            (Some(_), _) if cost.least > cost.limit => {
                format!("{together} at least {}, and the limit is {limit}", thousands(cost.least))
            }
            (Some(size), _) => format!(
                "{together} at most the limit of {limit} only while lists, maps and strings have at most {} entries",
                thousands(size)
            ),
        };
        let mut finding = self.at(cost).finding(code, format!("{}: {text}", cost.path));
        if let Some(kind) = &cost.kind {
            finding.notes.push(format!("for {kind}"));
        }
        finding.of_resource(self.resource.clone())
    }
}
