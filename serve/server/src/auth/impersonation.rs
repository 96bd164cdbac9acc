//! Requests on behalf of another user (upstream: `filters.WithImpersonation`).

use http::{HeaderMap, HeaderName};
use kubeshape_objects::access::{ANONYMOUS, Attributes, Identity, UNAUTHENTICATED};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Status};
use kubeshape_policy::{Access, User};
use kubeshape_yaml::percent;
use std::sync::Arc;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const EXTRA: &str = "impersonate-extra-";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// Returns the user on whose behalf a request is made; `None` if it is the user's own.
///
/// # Errors
/// The user may not do this (403), or the headers name no user (500).
pub(crate) fn impersonated(
    identity: &Identity,
    headers: &HeaderMap,
    api: &Api,
    store: &Store,
) -> Result<Option<Arc<Identity>>, Status> {
    let texts = |name: &HeaderName| -> Vec<String> {
        let all = headers.get_all(name).iter();
        all.filter_map(|value| Some(value.to_str().ok()?.to_owned())).filter(|value| !value.is_empty()).collect()
    };
    let (name, groups, uid) = (texts(&USER), texts(&GROUP), texts(&UID));
    let mut extra: Vec<(String, Vec<String>)> = Vec::new();
    for key in headers.keys().filter(|key| key.as_str().starts_with(EXTRA)) {
        let decoded = percent::decode_strict(&key.as_str()[EXTRA.len()..]).unwrap_or_default();
        extra.push((String::from_utf8_lossy(&decoded).into_owned(), texts(key)));
    }
    extra.sort();
    let (name, uid) = (name.into_iter().next(), uid.into_iter().next());
    let Some(name) = name else {
        if groups.is_empty() && uid.is_none() && extra.is_empty() {
            return Ok(None);
        }
        return Err(Status::internal_error("requested impersonation without impersonating a user"));
    };
    let account = account_of(&name);
    let may = |resource: &str, subresource: &str, group: &str, namespace: &str, name: &str| {
        let access = Access {
            user: Arc::clone(&identity.user),
            verb: "impersonate".to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Access::default()
        };
        let verdict = api.authorizer(store).decide(&access);
        if verdict.allowed { Ok(()) } else { Err(Attributes::forbidden(&access, &verdict.reason)) }
    };
    match account {
        Some((namespace, account)) => may("serviceaccounts", "", "", namespace, account)?,
        None => may("users", "", "", "", &name)?,
    }
    groups.iter().try_for_each(|group| may("groups", "", "", "", group))?;
    for (key, values) in &extra {
        values.iter().try_for_each(|value| may("userextras", key, "authentication.k8s.io", "", value))?;
    }
    uid.iter().try_for_each(|uid| may("uids", "", "authentication.k8s.io", "", uid))?;
    let mut user = User { name, uid: uid.unwrap_or_default(), groups };
    if let (Some((namespace, account)), true) = (account_of(&user.name), user.groups.is_empty()) {
        user.groups = User::of_service_account(namespace, account).groups;
    }
    if user.name == ANONYMOUS && user.groups.is_empty() {
        user.groups.push(UNAUTHENTICATED.to_owned());
    }
    Ok(Some(Arc::new(Identity::of(user, extra))))
}

/// Returns the namespace and name of a service account.
fn account_of(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')
}
