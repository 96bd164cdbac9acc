//! The authorization library, with which expressions check what a user may do: `library/authz.go` of
//! `k8s.io/apiserver`.

mod call;

pub(crate) use call::call;
use std::fmt;
use std::sync::Arc;

/// A user (`user.Info`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The uid, or empty.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
}

impl User {
    /// Returns the user of a service account (`serviceaccount.ServiceAccountInfo`).
    pub fn of_service_account(namespace: &str, name: &str) -> User {
        User {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            uid: String::new(),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")],
        }
    }
}

/// The attributes of an authorization check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The user.
    pub user: Arc<User>,
    /// `get`
    pub verb: String,
    /// The path of a non-resource request.
    pub path: Option<String>,
    /// The group of the resource.
    pub group: String,
    /// `pods`
    pub resource: String,
    /// `status`
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The field selector, as written in the expression.
    pub field_selector: String,
    /// The label selector, as written in the expression.
    pub label_selector: String,
}

/// The decision of an authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the access is allowed.
    pub allowed: bool,
    /// The reason.
    pub reason: String,
    /// The error, if the check failed.
    pub error: Option<String>,
}

/// Decides what users may do.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Decides whether the access is allowed.
    fn decide(&self, access: &Access) -> Verdict;
}

/// A value of `kubernetes.authorization`.
#[derive(Clone, Debug)]
pub struct Authorization {
    kind: Kind,
    access: Access,
    authorizer: Arc<dyn Authorizer>,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Authorizer,
    Path,
    Group,
    Resource,
    Decision,
}

impl Authorization {
    /// The variable `authorizer`.
    pub fn new(user: Arc<User>, authorizer: Arc<dyn Authorizer>) -> Authorization {
        let access = Access { user, ..Access::default() };
        Authorization { kind: Kind::Authorizer, access, authorizer, verdict: Verdict::default() }
    }

    /// Returns the variable `authorizer.requestResource`. The verb of `access` is not used.
    pub fn of_resource(access: Access, authorizer: Arc<dyn Authorizer>) -> Authorization {
        Authorization { kind: Kind::Resource, access, authorizer, verdict: Verdict::default() }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Authorizer => "kubernetes.authorization.Authorizer",
            Kind::Path => "kubernetes.authorization.PathCheck",
            Kind::Group => "kubernetes.authorization.GroupCheck",
            Kind::Resource => "kubernetes.authorization.ResourceCheck",
            Kind::Decision => "kubernetes.authorization.Decision",
        }
    }

    pub(crate) fn go_type(&self) -> &'static str {
        match self.kind {
            Kind::Authorizer => "library.authorizerVal",
            Kind::Path => "library.pathCheckVal",
            Kind::Group => "library.groupCheckVal",
            Kind::Resource => "library.resourceCheckVal",
            Kind::Decision => "library.decisionVal",
        }
    }

    fn with(&self, kind: Kind, change: impl FnOnce(&mut Access)) -> Authorization {
        let mut made = self.clone();
        made.kind = kind;
        change(&mut made.access);
        made
    }
}

impl fmt::Display for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such overload")
    }
}
