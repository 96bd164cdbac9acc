//! Calls of the functions of the authorization library.

use super::{Authorization, Kind, User};
use crate::decls::Name;
use crate::library::Kube;
use crate::value::Value;
use kubeshape_schema::names;
use std::sync::Arc;

/// Calls a function of the library. Returns `None` if it does not accept the arguments.
pub(crate) fn call<'a>(name: Name, of: &Authorization, args: &[Value<'a>]) -> Option<Value<'a>> {
    let made = |made: Authorization| Some(Value::Kube(Kube::Authorization(Arc::new(made))));
    let texts: Vec<&str> = args.iter().filter_map(Value::as_str).collect();
    if texts.len() != args.len() {
        return None;
    }
    match (of.kind, name, texts.as_slice()) {
        (Kind::Authorizer, Name::Path, [path]) if path.trim().is_empty() => {
            Some(Value::error("path must not be empty"))
        }
        (Kind::Authorizer, Name::Path, [path]) => {
            made(of.with(Kind::Path, |access| access.path = Some((*path).to_owned())))
        }
        (Kind::Authorizer, Name::Group, [group]) => {
            made(of.with(Kind::Group, |access| (*group).clone_into(&mut access.group)))
        }
        (Kind::Authorizer, Name::ServiceAccount, [namespace, name]) => Some(service_account(of, namespace, name)),
        (Kind::Group, Name::Resource, [resource]) if resource.trim().is_empty() => {
            Some(Value::error("resource must not be empty"))
        }
        (Kind::Group, Name::Resource, [resource]) => {
            made(of.with(Kind::Resource, |access| (*resource).clone_into(&mut access.resource)))
        }
        (Kind::Resource, _, [text]) if name != Name::Check => {
            let mut made_of = of.clone();
            let access = &mut made_of.access;
            let member = match name {
                Name::Subresource => &mut access.subresource,
                Name::Namespace => &mut access.namespace,
                Name::Name => &mut access.name,
                Name::FieldSelector => &mut access.field_selector,
                Name::LabelSelector => &mut access.label_selector,
                _ => return None,
            };
            (*text).clone_into(member);
            made(made_of)
        }
        (Kind::Resource | Kind::Path, Name::Check, [verb]) => {
            let mut decision = of.with(Kind::Decision, |access| (*verb).clone_into(&mut access.verb));
            decision.verdict = decision.authorizer.decide(&decision.access);
            made(decision)
        }
        (Kind::Decision, Name::Allowed, []) => Some(Value::Bool(of.verdict.allowed)),
        (Kind::Decision, Name::Reason, []) => Some(Value::text(&*of.verdict.reason)),
        (Kind::Decision, Name::Errored, []) => Some(Value::Bool(of.verdict.error.is_some())),
        (Kind::Decision, Name::Error, []) => Some(Value::text(of.verdict.error.as_deref().unwrap_or_default())),
        _ => None,
    }
}

fn service_account<'a>(of: &Authorization, namespace: &str, name: &str) -> Value<'a> {
    if !names::dns1123_subdomain(name).is_empty() {
        return Value::error("Invalid service account name");
    }
    if !names::dns1123_label(namespace).is_empty() {
        return Value::error("Invalid service account namespace");
    }
    let user = Arc::new(User::of_service_account(namespace, name));
    let made = of.with(Kind::Authorizer, |access| access.user = user);
    Value::Kube(Kube::Authorization(Arc::new(made)))
}
