//! Who sends a request, and whether the user may: attributes of requests, and RBAC.

mod attributes;
mod covers;
mod rbac;
mod rules;
mod system;

pub use attributes::Attributes;
pub(crate) use covers::covers;
pub(crate) use rbac::Gate;
pub use rbac::Rbac;
pub(crate) use rbac::selector_of;
pub use rules::Rule;
pub use system::{SYSTEM_OBJECTS, system_objects};

use kubeshape_policy::User;
use std::sync::Arc;

/// The group of all users that are authenticated (`user.AllAuthenticated`).
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of requests without credentials (`user.AllUnauthenticated`).
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The user of requests without credentials (`user.Anonymous`).
pub const ANONYMOUS: &str = "system:anonymous";
/// The group whose members may do everything (`user.SystemPrivilegedGroup`).
pub const MASTERS: &str = "system:masters";

/// The user of a request, as authentication found it.
///
/// # Example
/// ```
/// use kubeshape_objects::access::Identity;
///
/// let jane = Identity::new("jane", ["dev"]);
/// assert_eq!(jane.user.groups, ["dev", "system:authenticated"]);
/// assert_eq!(Identity::anonymous().user.name, "system:anonymous");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name, uid and groups.
    pub user: Arc<User>,
    /// `userInfo.extra`: names and values.
    pub extra: Vec<(String, Vec<String>)>,
}

impl Identity {
    /// Returns an authenticated user. It is in the group of authenticated users, too (upstream:
    /// `AuthenticatedGroupAdder`).
    pub fn new<'g>(name: &str, groups: impl IntoIterator<Item = &'g str>) -> Identity {
        let groups: Vec<String> = groups.into_iter().map(str::to_owned).collect();
        Identity::of(User { name: name.to_owned(), groups, ..User::default() }, Vec::new())
    }

    /// Works like [`new`](Self::new) with all attributes of a user.
    pub fn of(mut user: User, extra: Vec<(String, Vec<String>)>) -> Identity {
        let is_known = |group: &String| [AUTHENTICATED, UNAUTHENTICATED].contains(&group.as_str());
        if !user.groups.iter().any(is_known) {
            user.groups.push(AUTHENTICATED.to_owned());
        }
        Identity { user: Arc::new(user), extra }
    }

    /// Returns the user of requests without credentials.
    pub fn anonymous() -> Identity {
        let groups = vec![UNAUTHENTICATED.to_owned()];
        Identity::of(User { name: ANONYMOUS.to_owned(), groups, ..User::default() }, Vec::new())
    }

    /// Returns whether the user may do everything, whatever roles exist (upstream: `NewPrivilegedGroups`).
    pub fn is_master(&self) -> bool {
        self.user.groups.iter().any(|group| group == MASTERS)
    }
}

/// How permissions are decided (`--authorization-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Everyone may do everything.
    #[default]
    AlwaysAllow,
    /// Roles and bindings of the store decide.
    Rbac,
}
