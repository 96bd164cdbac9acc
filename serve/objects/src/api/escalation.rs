//! Nobody grants permissions that he does not have (upstream: `policybased` storages of `pkg/registry/rbac`).

use super::Call;
use crate::access::{Authorization, Rbac, Rule, covers};
use crate::status::{GroupResource, Status};
use crate::value::{meta_text, with_meta};
use kubeshape_policy::{Access, Authorizer as _};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::go::escape::GoQuoted;
use serde_json::Value as Json;
use std::sync::Arc;

const GROUP: &str = "rbac.authorization.k8s.io";

impl Call<'_> {
    /// Checks that the user of a write of a role or binding has the permissions that it grants.
    ///
    /// # Errors
    /// The user grants others (403), or the role of a binding does not exist (404).
    pub(super) fn escalates_not(&self, object: Value<'_>, live: Option<Value<'_>>) -> Result<(), Status> {
        let is_rbac = self.served.is_built_in() && self.served.group == GROUP;
        let Some(identity) = self.request.identity.filter(|_| is_rbac) else { return Ok(()) };
        if self.api.authorization != Authorization::Rbac || identity.is_master() {
            return Ok(());
        }
        if live.is_some_and(|live| is_for_collector(object, live)) {
            return Ok(());
        }
        let rbac = self.api.roles.rbac(self.store);
        let mut text = Vec::new();
        object.write_go_json(&mut text);
        let json: Json = serde_json::from_slice(&text).unwrap_or_default();
        let name = meta_text(object, "name");
        if self.served.kind.ends_with("Binding") {
            self.binds(&rbac, &json, name)
        } else {
            self.grants(&rbac, &json, live)
        }
    }

    fn may(&self, rbac: &Rbac, verb: &str, resource: &str, name: &str) -> bool {
        let user = self.request.identity.map(|identity| Arc::clone(&identity.user)).unwrap_or_default();
        let (group, namespace) = (GROUP.to_owned(), self.path.namespace.to_owned());
        let access = Access { user, verb: verb.to_owned(), group, resource: resource.to_owned(), ..Access::default() };
        rbac.decide(&Access { namespace, name: name.to_owned(), ..access }).allowed
    }

    /// A role: its user may `escalate` it, or has all its permissions.
    fn grants(&self, rbac: &Rbac, role: &Json, live: Option<Value<'_>>) -> Result<(), Status> {
        if self.may(rbac, "escalate", &self.served.plural, self.path.name) {
            return Ok(());
        }
        let name = role["metadata"]["name"].as_str().unwrap_or_default();
        self.confirm(rbac, &Rule::all_of(role), name)?;
        let was_aggregated = live.and_then(|live| live.get("aggregationRule")).is_some_and(|rule| !rule.is_null());
        if !role["aggregationRule"].is_object() && !was_aggregated {
            return Ok(());
        }
        self.confirm(rbac, &Rule::everything(), name).map_err(|_| {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            Status::forbidden(self.group_resource(), name, why)
        })
    }

    /// A binding: its user may `bind` the role, or has all its permissions.
    fn binds(&self, rbac: &Rbac, binding: &Json, name: &str) -> Result<(), Status> {
        let text = |key: &str| binding["roleRef"][key].as_str().unwrap_or_default();
        let (kind, role) = (text("kind"), text("name"));
        let resource = match kind {
            "ClusterRole" => "clusterroles",
            "Role" => "roles",
            _ => return Err(Status::internal(format!("unsupported role reference kind: {}", GoQuoted(kind)))),
        };
        if self.may(rbac, "bind", resource, role) {
            return Ok(());
        }
        let namespace = if kind == "Role" { self.path.namespace } else { "" };
        let missing = || Status::not_found(GroupResource { group: GROUP, resource }, role);
        let rules = rbac.rules_of_role(namespace, role).ok_or_else(missing)?;
        self.confirm(rbac, &rules, name)
    }

    /// Upstream: `ConfirmNoEscalation`.
    fn confirm(&self, rbac: &Rbac, rules: &[Rule], name: &str) -> Result<(), Status> {
        let Some(identity) = self.request.identity else { return Ok(()) };
        let (own, missing_roles) = rbac.known_rules(identity, self.path.namespace);
        let forbidden = |why: &str| Status::forbidden(self.group_resource(), name, why);
        let lacking = covers(&own, rules, self.moment.stop).map_err(|why| forbidden(&why))?;
        self.goes_on()?;
        if lacking.is_empty() {
            return Ok(());
        }
        let groups: Vec<String> = identity.user.groups.iter().map(|group| GoQuoted(group).to_string()).collect();
        let (user, groups) = (GoQuoted(&identity.user.name), groups.join(" "));
        let mut why = format!(
            "user {user} (groups=[{groups}]) is attempting to grant RBAC permissions not currently held:\n{}",
            lacking.join("\n")
        );
        if !missing_roles.is_empty() {
            let all =
                if let [one] = &missing_roles[..] { one.clone() } else { format!("[{}]", missing_roles.join(", ")) };
            why = format!("{why}; resolution errors: [{all}]");
        }
        Err(forbidden(&why))
    }
}

/// Returns whether an update changes only what the collector needs (upstream: `IsOnlyMutatingGCFields`).
fn is_for_collector(object: Value<'_>, live: Value<'_>) -> bool {
    let arena = Bump::new();
    let mut rest = object.copy_into(&arena);
    for key in ["ownerReferences", "finalizers", "managedFields"] {
        let before = live.get("metadata").and_then(|metadata| metadata.get(key)).map(|value| value.copy_into(&arena));
        rest = with_meta(rest, key, before, &arena);
    }
    rest == live
}
