//! Names that several definitions of a group claim.

use kubeshape_discovery::{CustomResource, name_conflicts};
use kubeshape_input::Finding;
use kubeshape_schema::Code;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names that definitions claim, by group, in the order of the inputs.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    groups: BTreeMap<Arc<str>, Vec<Claim>>,
}

/// The names that one definition claims.
#[derive(Debug)]
struct Claim {
    names: CustomResource,
    /// The name of the definition.
    of: String,
    /// A finding at the position of the definition.
    at: Finding,
}

impl Claims {
    /// Adds a definition. `at` is a finding at its position.
    pub(crate) fn add(&mut self, names: CustomResource, of: String, at: Finding) {
        self.groups.entry(Arc::clone(&names.group)).or_default().push(Claim { names, of, at });
    }

    /// Returns the findings about definitions that do not get their names. A server accepts all of them, but serves
    /// only the first.
    pub(crate) fn findings(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for claims in self.groups.into_values() {
            for conflict in name_conflicts(claims.iter().map(|claim| &claim.names)) {
                if let (Some(claim), Some(owner)) = (claims.get(conflict.resource), claims.get(conflict.owner)) {
                    let mut finding = claim.at.clone();
                    (finding.code, finding.detail) = (Code::NameInUse, conflict.detail(&owner.of));
                    findings.push(finding);
                }
            }
        }
        findings
    }
}
