//! The attributes of a request on which permissions depend (upstream: `RequestInfoFactory.NewRequestInfo`,
//! `filters.GetAuthorizerAttributes`).

use crate::options::ListParameters;
use crate::path::ResourcePath;
use crate::status::{Details, GroupResource, Status};
use kubeshape_policy::{Access, User};
use kubeshape_yaml::go::escape::GoQuoted;
use std::sync::Arc;

/// What a request wants to do.
///
/// # Example
/// ```
/// use kubeshape_objects::access::{Attributes, Identity};
///
/// let jane = Identity::new("jane", []);
/// let list = Attributes::of("GET", "/api/v1/namespaces/default/pods", "limit=5").by(&jane.user);
/// assert_eq!(
///     Attributes::forbidden(&list, "").message,
///     r#"pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default""#,
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(Access);

impl Attributes {
    /// Returns the attributes of a request with a decoded path and a raw query.
    pub fn of(method: &str, path: &str, query: &str) -> Attributes {
        let Some(found) = ResourcePath::of(path) else {
            return Attributes(Access {
                verb: method.to_ascii_lowercase(),
                path: Some(path.to_owned()),
                ..Access::default()
            });
        };
        let has_name = !found.name.is_empty();
        let watches = || found.watch || ListParameters::read(query).is_ok_and(|options| options.watch);
        let verb = match method {
            "GET" | "HEAD" if has_name && !found.watch => "get",
            "GET" | "HEAD" if watches() => "watch",
            "GET" | "HEAD" => "list",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if has_name => "delete",
            "DELETE" => "deletecollection",
            _ => "",
        };
        // A namespace is in itself.
        let is_namespace = found.group.is_empty() && found.resource == "namespaces";
        let namespace = if is_namespace { found.name } else { found.namespace };
        Attributes(Access {
            verb: verb.to_owned(),
            group: found.group.to_owned(),
            resource: found.resource.to_owned(),
            subresource: found.subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: found.name.to_owned(),
            ..Access::default()
        })
    }

    /// Returns the access of a user.
    pub fn by(self, user: &Arc<User>) -> Access {
        Access { user: Arc::clone(user), ..self.0 }
    }

    /// Returns the response to a request that is not permitted (upstream: `responsewriters.Forbidden`). `reason` is the
    /// authorizer's, or empty.
    pub fn forbidden(access: &Access, reason: &str) -> Status {
        let behind = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let why = format!("{}{behind}", denied(access));
        if access.path.is_some() {
            let details = Some(Box::new(Details::default()));
            return Status { code: 403, reason: "Forbidden".into(), message: format!("forbidden: {why}"), details };
        }
        let of = GroupResource { group: &access.group, resource: &access.resource };
        let status = Status::forbidden(of, &access.name, &why);
        if access.name.is_empty() { Status { message: format!("{of} is forbidden: {why}"), ..status } } else { status }
    }
}

/// Says what a user may not do (upstream: `forbiddenMessage`).
fn denied(access: &Access) -> String {
    let Access { verb, group, resource, subresource, namespace, .. } = access;
    let user = GoQuoted(&access.user.name);
    if let Some(path) = &access.path {
        return format!("User {user} cannot {verb} path {}", GoQuoted(path));
    }
    let slash = if subresource.is_empty() { "" } else { "/" };
    let resource = format!("{resource}{slash}{subresource}");
    let place = match namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {}", GoQuoted(namespace)),
    };
    format!("User {user} cannot {verb} resource {} in API group {} {place}", GoQuoted(&resource), GoQuoted(group))
}

#[cfg(test)]
mod tests {
    use super::Attributes;
    use crate::access::Identity;

    #[test]
    fn messages_are_those_of_a_server() {
        let user = Identity::new("a\"b", []).user;
        for (method, path, query, message) in [
            (
                "GET",
                "/api/v1/namespaces/default/pods/a",
                "",
                r#"pods "a" is forbidden: User "a\"b" cannot get resource "pods" in API group "" in the namespace "default""#,
            ),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/x/deployments/d/scale",
                "",
                r#"deployments.apps "d" is forbidden: User "a\"b" cannot patch resource "deployments/scale" in API group "apps" in the namespace "x""#,
            ),
            (
                "GET",
                "/api/v1/nodes",
                "watch=true",
                r#"nodes is forbidden: User "a\"b" cannot watch resource "nodes" in API group "" at the cluster scope"#,
            ),
            (
                "DELETE",
                "/api/v1/namespaces/n",
                "",
                r#"namespaces "n" is forbidden: User "a\"b" cannot delete resource "namespaces" in API group "" in the namespace "n""#,
            ),
            ("POST", "/metrics", "", r#"forbidden: User "a\"b" cannot post path "/metrics""#),
        ] {
            let status = Attributes::forbidden(&Attributes::of(method, path, query).by(&user), "");
            assert_eq!((status.code, status.message.as_str()), (403, message));
        }
    }
}
