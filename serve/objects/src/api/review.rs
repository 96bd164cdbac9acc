//! Kinds that are answered and not stored: who a client is, and what it may do. Everybody is the administrator, and may
//! do everything (upstream: the authorizer `AlwaysAllow`).

use super::served::Served;
use super::{Call, Outcome, Reply};
use crate::status::Status;
use crate::{value, wire};
use kubeshape_registry::policy::Client;
use kubeshape_schema::field::{Error, Path};
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use std::borrow::Cow;

/// The validity of a token without `expirationSeconds` (upstream: the default of `TokenRequest`).
const AN_HOUR: i64 = 3600;

/// The bounds of the validity of a token, in seconds (upstream: `ValidateTokenRequest`).
const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;

/// A kind that is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Review {
    /// Whether somebody may do something.
    Access,
    /// What the client may do.
    Rules,
    /// Who the client is.
    User,
}

/// The groups whose kinds are answered and not stored.
const ANSWERED: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

impl Review {
    /// Whether requests with a kind are answered. Tokens are not reviewed, because none are known.
    pub(super) fn serves(served: &Served) -> bool {
        !ANSWERED.contains(&served.group.as_str()) || Review::of(served).is_some()
    }

    pub(super) fn of(served: &Served) -> Option<Review> {
        if !served.is_built_in() {
            return None;
        }
        match (served.group.as_str(), served.kind.as_str()) {
            (
                "authorization.k8s.io",
                "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview",
            ) => Some(Review::Access),
            ("authorization.k8s.io", "SelfSubjectRulesReview") => Some(Review::Rules),
            ("authentication.k8s.io", "SelfSubjectReview") => Some(Review::User),
            _ => None,
        }
    }
}

impl Call<'_> {
    /// The status with which an object is answered instead of stored. `None` for kinds that are stored.
    pub(super) fn reviewed<'a>(&self, arena: &'a Bump) -> Option<Value<'a>> {
        let map = |entries: Vec<(&'static str, Value<'a>)>| Value::Map(Map::from_entries(entries, arena));
        let all = || Value::List(arena.alloc_slice_copy(&[Value::String("*")]));
        let one = |rule| Value::List(arena.alloc_slice_copy(&[rule]));
        Some(match Review::of(self.served)? {
            Review::Access => map(vec![("allowed", Value::Bool(true))]),
            Review::Rules => map(vec![
                ("incomplete", Value::Bool(false)),
                ("nonResourceRules", one(map(vec![("nonResourceURLs", all()), ("verbs", all())]))),
                ("resourceRules", one(map(vec![("apiGroups", all()), ("resources", all()), ("verbs", all())]))),
            ]),
            Review::User => {
                let user = Client::default().user;
                let text = |text: &str| Value::String(arena.alloc_str(text));
                let groups: Vec<Value<'a>> = user.groups.iter().map(|group| text(group)).collect();
                let groups = Value::List(arena.alloc_slice_copy(&groups));
                map(vec![("userInfo", map(vec![("groups", groups), ("username", text(&user.name))]))])
            }
        })
    }

    /// Answers the request for a token of a ServiceAccount. The token names the account, and is not signed: this server
    /// accepts it as little as any other one.
    pub(super) fn token(&self) -> Result<Outcome, Status> {
        let account = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let body = self.transcoded()?;
        let body = match wire::protobuf_to_json(&body, self.release()) {
            Some(read) => Cow::Owned(read.map_err(|why| self.unreadable(&why))?),
            None => body,
        };
        let mut sent: serde_json::Value = match &*body {
            [] => serde_json::json!({}),
            body => serde_json::from_slice(body).map_err(|error| self.unreadable(&error.to_string()))?,
        };
        if !sent.is_object() || !(sent["spec"].is_object() || sent["spec"].is_null()) {
            return Err(self.unreadable("expected an object with a spec"));
        }
        let seconds = sent["spec"]["expirationSeconds"].as_i64().unwrap_or(AN_HOUR);
        let wrong = match seconds {
            ..SHORTEST => Some("may not specify a duration less than 10 minutes"),
            SHORTEST..=LONGEST => None,
            _ => Some("may not specify a duration larger than 2^32 seconds"),
        };
        if let Some(wrong) = wrong {
            let error = Error::invalid(&Path::Base("spec.expirationSeconds"), seconds, wrong, 0);
            return Err(Status::invalid("authentication.k8s.io", "TokenRequest", self.path.name, &[error]));
        }
        let object: serde_json::Value = serde_json::from_slice(&account.json()).unwrap_or_default();
        let (namespace, name, now) = (self.path.namespace, self.path.name, self.moment.now.0);
        let end = now.saturating_add(seconds);
        let claims = serde_json::json!({
            "aud": sent["spec"]["audiences"],
            "exp": end,
            "iat": now,
            "iss": "kubeshape",
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": name, "uid": object["metadata"]["uid"]},
            },
            "sub": format!("system:serviceaccount:{namespace}:{name}"),
        });
        let token = unsigned(&claims);
        sent["kind"] = "TokenRequest".into();
        sent["apiVersion"] = "authentication.k8s.io/v1".into();
        sent["metadata"] =
            serde_json::json!({"creationTimestamp": self.moment.now.to_string(), "name": name, "namespace": namespace});
        sent["spec"]["expirationSeconds"] = seconds.into();
        sent["status"] = serde_json::json!({"expirationTimestamp": Time(end).to_string(), "token": token});
        Ok(Outcome::Reply(Reply::new(201, crate::accept::Form::Json, sent.to_string())))
    }

    /// The answer to a review.
    pub(super) fn review(&self, object: Value<'_>, status: Value<'_>, arena: &Bump) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let object = value::with(object, "status", Some(status), arena);
        let reply = shown.object(201, &self.served.draft(object, arena).not_stored())?;
        Ok(Outcome::Reply(Reply { warnings: self.warnings(), ..reply }))
    }
}

/// A JSON Web Token without a signature (RFC 7519, section 6).
fn unsigned(claims: &serde_json::Value) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.", part(r#"{"alg":"none","typ":"JWT"}"#), part(&claims.to_string()))
}
