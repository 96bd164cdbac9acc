//! Permissions, as far as they are given.

use kubeshape_cel::{Access, Authorizer, Verdict};
use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// The group whose members may do everything (`user.SystemPrivilegedGroup`).
const PRIVILEGED: &str = "system:masters";
/// The maximum number of recorded questions.
const MAX_UNKNOWN: usize = 20;

/// A permission: `USER:VERB:RESOURCE`. Each part may be `*`. The user may be a group and may contain colons; the
/// resource is `deployments.apps` or `pods/log`; without a group, it is in the core group.
///
/// # Example
/// ```
/// use kubeshape_policy::Permission;
///
/// let permission: Permission = "system:serviceaccount:ci:deployer:get:deployments.apps".parse()?;
/// assert_eq!(permission.to_string(), "system:serviceaccount:ci:deployer:get:deployments.apps");
/// assert!("alice:get".parse::<Permission>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    user: String,
    verb: String,
    resource: String,
}

impl FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Permission, String> {
        let mut parts = text.rsplitn(3, ':');
        let (resource, verb, user) = (parts.next(), parts.next(), parts.next());
        match (user, verb, resource) {
            (Some(user), Some(verb), Some(resource)) if ![user, verb, resource].contains(&"") => {
                Ok(Permission { user: user.to_owned(), verb: verb.to_owned(), resource: resource.to_owned() })
            }
            _ => Err("expected USER:VERB:RESOURCE, such as alice:get:deployments.apps".to_owned()),
        }
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.user, self.verb, self.resource)
    }
}

impl Permission {
    fn allows(&self, access: &Access) -> bool {
        let is = |own: &str, wanted: &str| own == "*" || own == wanted;
        let is_user = is(&self.user, &access.user.name) || access.user.groups.contains(&self.user);
        is_user && is(&self.verb, &access.verb) && is(&self.resource, &resource_of(access))
    }
}

/// Returns `pods/log`, `deployments.apps`, or a path.
fn resource_of(access: &Access) -> String {
    if let Some(path) = &access.path {
        return path.clone();
    }
    let dot = if access.group.is_empty() { "" } else { "." };
    let slash = if access.subresource.is_empty() { "" } else { "/" };
    format!("{}{dot}{}{slash}{}", access.resource, access.group, access.subresource)
}

/// Decides by permissions. Members of `system:masters` may do everything, as on a server. Everything else that is not
/// given is denied, and recorded: a server may decide otherwise.
#[derive(Debug, Default)]
pub struct Permissions {
    given: Vec<Permission>,
    unknown: Mutex<BTreeSet<String>>,
}

impl Permissions {
    /// Creates it from these permissions.
    pub fn new(given: Vec<Permission>) -> Permissions {
        Permissions { given, unknown: Mutex::default() }
    }

    /// Returns the first unanswered questions in the format of permissions, and forgets them.
    pub fn take_unknown(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.unknown.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Authorizer for Permissions {
    fn decide(&self, access: &Access) -> Verdict {
        let is_privileged = access.user.groups.iter().any(|group| group == PRIVILEGED);
        if is_privileged || self.given.iter().any(|permission| permission.allows(access)) {
            return Verdict { allowed: true, ..Verdict::default() };
        }
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if unknown.len() < MAX_UNKNOWN {
            unknown.insert(format!("{}:{}:{}", access.user.name, access.verb, resource_of(access)));
        }
        Verdict::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Permission, Permissions};
    use kubeshape_cel::{Access, Authorizer, User};
    use std::sync::Arc;

    fn asks(user: User, verb: &str) -> Access {
        Access {
            user: Arc::new(user),
            verb: verb.to_owned(),
            group: "apps".to_owned(),
            resource: "deployments".to_owned(),
            subresource: "scale".to_owned(),
            ..Access::default()
        }
    }

    #[test]
    fn missing_permissions_are_denied_and_recorded() {
        let given: Vec<Permission> =
            ["alice:get:*", "devs:*:deployments.apps/scale"].map(|p| p.parse().expect("a permission")).into();
        let permissions = Permissions::new(given);
        let user = |name: &str, groups: &[&str]| User {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            ..User::default()
        };
        assert!(permissions.decide(&asks(user("alice", &[]), "get")).allowed);
        assert!(permissions.decide(&asks(user("bob", &["devs"]), "delete")).allowed);
        assert!(permissions.decide(&asks(user("root", &["system:masters"]), "delete")).allowed);
        assert!(permissions.take_unknown().is_empty());
        assert!(!permissions.decide(&asks(user("bob", &[]), "get")).allowed);
        assert_eq!(permissions.take_unknown().into_iter().collect::<Vec<_>>(), ["bob:get:deployments.apps/scale"]);
    }
}
