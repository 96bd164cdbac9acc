//! Requests on behalf of another user (upstream: `filters/impersonation`).

use http::{HeaderMap, HeaderName};
use kubeshape_objects::access::{ANONYMOUS, Attributes, Identity, MASTERS, UNAUTHENTICATED};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Status};
use kubeshape_policy::{Access, User};
use kubeshape_schema::names::dns1123_subdomain;
use kubeshape_yaml::go::escape::GoQuoted;
use kubeshape_yaml::percent;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const EXTRA: &str = "impersonate-extra-";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// A mode of impersonation. The last one is that of releases before 1.36, in which the verb is `impersonate`.
const MODES: [Option<&str>; 5] =
    [Some("associated-node"), Some("arbitrary-node"), Some("serviceaccount"), Some("user-info"), None];
/// The release since which there are other modes than the last.
const CONSTRAINED_SINCE: u8 = 36;
/// With this many groups or values, a permission for all of them is looked for first.
const MANY: usize = 4;
const NODES: &str = "system:nodes";
const NODE: &str = "system:node:";
/// The attribute of a service account's token that names the node of its Pod.
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The user that a request names.
struct Wanted {
    user: User,
    extra: Vec<(String, Vec<String>)>,
}

/// Returns the user on whose behalf a request is made; `None` if it is the user's own. `wanted` is what the request
/// does.
///
/// # Errors
/// The user may not do this (403), or the headers name no user (400).
pub(crate) fn impersonated(
    identity: &Identity,
    headers: &HeaderMap,
    wanted: &Attributes,
    api: &Api,
    store: &Store,
) -> Result<Option<Arc<Identity>>, Status> {
    let is_constrained = api.release().since(CONSTRAINED_SINCE);
    let Some(other) = wanted_user(headers, is_constrained)? else { return Ok(None) };
    let request = wanted.clone().by(&identity.user);
    let mut first = None;
    for mode in MODES.into_iter().filter(|mode| is_constrained || mode.is_none()) {
        let check = Check { identity, mode, api, store };
        if mode.is_some_and(|mode| !other.fits(mode, identity)) {
            continue;
        }
        match check.user(&other, &request) {
            Ok(found) => return Ok(Some(Arc::new(found))),
            Err(status) => {
                first.get_or_insert(status);
            }
        }
    }
    Err(first.unwrap_or_else(|| Status::internal_error("all impersonation modes failed")))
}

/// Reads the headers (upstream: `processImpersonationHeaders`).
fn wanted_user(headers: &HeaderMap, is_constrained: bool) -> Result<Option<Wanted>, Status> {
    let texts = |name: &HeaderName| -> Vec<String> {
        let all = headers.get_all(name).iter();
        all.filter_map(|value| Some(value.to_str().ok()?.to_owned())).collect()
    };
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for key in headers.keys() {
        let Some(encoded) = key.as_str().strip_prefix(EXTRA) else { continue };
        // Like Go, keep what cannot be decoded.
        let decoded = percent::decode_strict(encoded).unwrap_or(Cow::Borrowed(encoded.as_bytes()));
        extra.entry(String::from_utf8_lossy(&decoded).into_owned()).or_default().extend(texts(key));
    }
    let first = |name: &HeaderName| texts(name).into_iter().next().unwrap_or_default();
    let user = User { name: first(&USER), uid: first(&UID), groups: texts(&GROUP) };
    let wanted = Wanted { user, extra: extra.into_iter().collect() };
    if !wanted.user.name.is_empty() {
        return Ok(Some(wanted));
    }
    if wanted.user.uid.is_empty() && wanted.user.groups.is_empty() && wanted.extra.is_empty() {
        return Ok(None);
    }
    let (what, behind) = if is_constrained { (wanted.printed(), " name") } else { (wanted.references(), "") };
    Err(Status::bad_request(format!("requested {what} without impersonating a user{behind}")))
}

impl Wanted {
    /// Prints it as Go's `%#v`.
    fn printed(&self) -> String {
        let list = |all: &[String]| {
            let all: Vec<String> = all.iter().map(|text| GoQuoted(text).to_string()).collect();
            if all.is_empty() { "[]string(nil)".to_owned() } else { format!("[]string{{{}}}", all.join(", ")) }
        };
        let extra: Vec<String> =
            self.extra.iter().map(|(key, values)| format!("{}:{}", GoQuoted(key), list(values))).collect();
        let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
        format!(
            "&user.DefaultInfo{{Name:\"\", UID:{}, Groups:{}, Extra:map[string][]string{extra}}}",
            GoQuoted(&self.user.uid),
            list(&self.user.groups)
        )
    }

    /// Prints the references of releases before 1.36: kind, namespace, name, uid, version, revision, field.
    fn references(&self) -> String {
        let version = "authentication.k8s.io/v1";
        let groups = self.user.groups.iter().map(|group| format!("{{Group  {group}    }}"));
        let extra = self.extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        let extra = extra.map(|(key, value)| format!("{{UserExtra  {value}  {version}  {key}}}"));
        let uid = Some(&self.user.uid).filter(|uid| !uid.is_empty());
        let uid = uid.map(|uid| format!("{{UID  {uid}  {version}  }}"));
        format!("[{}]", groups.chain(extra).chain(uid).collect::<Vec<_>>().join(" "))
    }

    /// Returns whether a mode is for such a user.
    fn fits(&self, mode: &str, requestor: &Identity) -> bool {
        let has_only_name = self.user.uid.is_empty() && self.user.groups.is_empty() && self.extra.is_empty();
        let (node, account) = (node_of(&self.user.name), account_of(&self.user.name));
        match mode {
            "associated-node" => {
                let of_requestor =
                    requestor.extra.iter().find(|(key, _)| key == NODE_NAME).map(|(_, values)| &values[..]);
                let own = matches!((of_requestor, node), (Some([one]), Some(node)) if one == node);
                has_only_name && own && account_of(&requestor.user.name).is_some()
            }
            "arbitrary-node" => has_only_name && node.is_some(),
            "serviceaccount" => has_only_name && account.is_some(),
            _ => node.is_none() && account.is_none(),
        }
    }
}

/// The permissions of a user in a mode (upstream: `impersonationModeState`).
struct Check<'c> {
    identity: &'c Identity,
    mode: Option<&'c str>,
    api: &'c Api,
    store: &'c Store,
}

impl Check<'_> {
    /// Returns the other user.
    fn user(&self, wanted: &Wanted, request: &Access) -> Result<Identity, Status> {
        if let Some(mode) = self.mode {
            self.decide(&Access { verb: format!("impersonate-on:{mode}:{}", request.verb), ..request.clone() })?;
        }
        let group = if self.mode.is_some() { AUTHENTICATION } else { "" };
        let Wanted { user, extra } = wanted;
        let mut other = user.clone();
        match (node_of(&user.name).filter(|_| self.mode.is_some()), account_of(&user.name)) {
            (Some(node), _) => {
                // A service account may act as its own node, whatever its name is.
                let name = if self.mode == Some("associated-node") { "*" } else { node };
                other.groups = vec![NODES.to_owned()];
                self.may("nodes", "", group, "", name)?;
            }
            (None, Some((namespace, name))) => {
                if user.groups.is_empty() {
                    other.groups = User::of_service_account(namespace, name).groups;
                }
                self.may("serviceaccounts", "", group, namespace, name)?;
            }
            (None, None) => self.may("users", "", group, "", &user.name)?,
        }
        if self.mode.is_some() && !user.uid.is_empty() {
            self.may("uids", "", AUTHENTICATION, "", &user.uid)?;
        }
        self.groups(&user.groups, group)?;
        self.extra(extra)?;
        if self.mode.is_none() && !user.uid.is_empty() {
            self.may("uids", "", AUTHENTICATION, "", &user.uid)?;
        }
        let is_known = other.groups.iter().any(|group| group == UNAUTHENTICATED);
        if other.name == ANONYMOUS && !is_known {
            other.groups.push(UNAUTHENTICATED.to_owned());
        }
        Ok(Identity::of(other, extra.clone()))
    }

    fn groups(&self, groups: &[String], of: &str) -> Result<(), Status> {
        let masters = groups.iter().find(|group| *group == MASTERS);
        if self.mode.is_some() {
            if groups.iter().any(String::is_empty) {
                let access = self.access("groups", "", of, "", "");
                return Err(Attributes::forbidden(&access, "impersonating the empty string group is not allowed"));
            }
            if let Some(masters) = masters {
                let access = self.access("groups", "", of, "", masters);
                return Err(Attributes::forbidden(&access, "impersonating the system:masters group is not allowed"));
            }
            if groups.len() >= MANY && self.may("groups", "", of, "", "*").is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|group| self.may("groups", "", of, "", group))
    }

    fn extra(&self, extra: &[(String, Vec<String>)]) -> Result<(), Status> {
        let all = || extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        if self.mode.is_some() {
            for (key, values) in extra {
                let why = if key.is_empty() {
                    "impersonating the empty string key in extra is not allowed"
                } else if values.is_empty() {
                    "impersonating empty values in extra is not allowed"
                } else if values.iter().any(String::is_empty) {
                    "impersonating the empty string value in extra is not allowed"
                } else {
                    continue;
                };
                return Err(Attributes::forbidden(&self.access("userextras", "", AUTHENTICATION, "", ""), why));
            }
            if (extra.len() >= MANY || all().count() >= MANY)
                && self.may("userextras", "*", AUTHENTICATION, "", "*").is_ok()
            {
                return Ok(());
            }
        }
        for (key, value) in all() {
            self.may("userextras", key, AUTHENTICATION, "", value)?;
        }
        Ok(())
    }

    fn access(&self, resource: &str, subresource: &str, group: &str, namespace: &str, name: &str) -> Access {
        Access {
            user: Arc::clone(&self.identity.user),
            verb: self.mode.map_or_else(|| "impersonate".to_owned(), |mode| format!("impersonate:{mode}")),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Access::default()
        }
    }

    fn may(&self, resource: &str, subresource: &str, group: &str, namespace: &str, name: &str) -> Result<(), Status> {
        self.decide(&self.access(resource, subresource, group, namespace, name))
    }

    fn decide(&self, access: &Access) -> Result<(), Status> {
        let verdict = self.api.authorizer(self.store).decide(access);
        if verdict.allowed { Ok(()) } else { Err(Attributes::forbidden(access, &verdict.reason)) }
    }
}

/// Returns the namespace and name of a service account.
fn account_of(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')
}

/// Returns the name of a node.
fn node_of(user: &str) -> Option<&str> {
    user.strip_prefix(NODE).filter(|name| dns1123_subdomain(name).is_empty())
}
