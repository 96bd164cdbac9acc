//! Kinds that are answered and not stored: who a client is, and what it may do; and tokens of service accounts.

use super::served::Served;
use super::{Call, Outcome, Reply};
use crate::access::{self, Authorization, Identity, Rbac, Rule};
use crate::status::Status;
use crate::{value, wire};
use kubeshape_policy::{Access, User};
use kubeshape_registry::policy::Client;
use kubeshape_schema::field::{Error, Path};
use kubeshape_smd::managed::Time;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

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
    /// Who has a token.
    Token,
}

/// The result of reading a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// The user who has the token.
    pub identity: Identity,
    /// The audiences for which it is valid.
    pub audiences: Vec<String>,
}

/// Signs tokens of service accounts, and reads tokens.
pub trait Signer: fmt::Debug + Send + Sync {
    /// Returns the issuer, the claim `iss`.
    fn issuer(&self) -> &str;

    /// Returns the audiences of tokens without `spec.audiences`.
    fn audiences(&self) -> Vec<String>;

    /// Returns a JSON Web Token with these claims. `None` if there is no key to sign.
    fn sign(&self, claims: &str) -> Option<String>;

    /// Returns who has a token that is valid for one of these audiences; of the server if there are none.
    ///
    /// # Errors
    /// The token is not valid. The message is the server's.
    fn review(&self, token: &str, audiences: &[String]) -> Result<Reviewed, String>;
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

/// `userInfo` of a user.
fn user_info(Identity { user, extra }: &Identity) -> Json {
    let mut info = json!({"groups": user.groups, "username": user.name});
    if !user.uid.is_empty() {
        info["uid"] = user.uid.clone().into();
    }
    if !extra.is_empty() {
        info["extra"] = extra.iter().map(|(key, values)| (key.clone(), values.clone())).collect();
    }
    info
}

/// The status of a TokenReview.
fn token_status(signer: &dyn Signer, spec: &Json) -> Json {
    match signer.review(spec["token"].as_str().unwrap_or_default(), &texts(&spec["audiences"])) {
        Ok(Reviewed { identity, audiences }) => {
            json!({"authenticated": true, "user": user_info(&identity), "audiences": audiences})
        }
        Err(error) => json!({"user": {}, "error": error}),
    }
}

/// The groups whose kinds are answered and not stored.
const ANSWERED: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

impl Review {
    /// Whether requests with a kind are answered.
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
            ("authentication.k8s.io", "TokenReview") => Some(Review::Token),
            _ => None,
        }
    }
}

impl Call<'_> {
    /// The user of the request; the administrator of a cluster without authentication.
    fn identity(&self) -> Identity {
        self.request.identity.cloned().unwrap_or_else(|| {
            let client = Client::default();
            Identity { user: client.user, extra: client.extra }
        })
    }

    /// The status with which an object is answered instead of stored. `None` for kinds that are stored.
    pub(super) fn reviewed<'a>(&self, object: Value<'_>, arena: &'a Bump) -> Result<Option<Value<'a>>, Status> {
        let Some(review) = Review::of(self.served) else { return Ok(None) };
        let mut spec = Vec::new();
        object.get("spec").unwrap_or(Value::Null).write_go_json(&mut spec);
        let spec: Json = serde_json::from_slice(&spec).unwrap_or_default();
        let status = match review {
            Review::Access => self.access_status(&spec),
            Review::Rules => self.rules_status(&spec),
            Review::User => json!({"userInfo": user_info(&self.identity())}),
            Review::Token => match self.api.signer.as_ref() {
                Some(signer) => token_status(&**signer, &spec),
                None => return Err(Status::method_not_supported(self.group_resource(), "create")),
            },
        };
        let (mut tape, memory) = (Tape::new(), Bump::new());
        let text = status.to_string();
        let status = value::parsed(text.as_bytes(), &mut tape, &memory).map_err(Status::internal)?;
        Ok(Some(status.copy_into(arena)))
    }

    /// Whether a user may do something: the user of the request, or one of the review.
    fn access_status(&self, spec: &Json) -> Json {
        let user = if self.served.kind == "SelfSubjectAccessReview" {
            self.identity().user
        } else {
            Arc::new(User { name: text(&spec["user"]), uid: text(&spec["uid"]), groups: texts(&spec["groups"]) })
        };
        let (of, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
        let access = if path.is_object() {
            Access { user, verb: text(&path["verb"]), path: Some(text(&path["path"])), ..Access::default() }
        } else {
            Access {
                user,
                verb: text(&of["verb"]),
                group: text(&of["group"]),
                resource: text(&of["resource"]),
                subresource: text(&of["subresource"]),
                namespace: text(&of["namespace"]),
                name: text(&of["name"]),
                ..Access::default()
            }
        };
        let verdict = self.api.authorizer(self.store).decide(&access);
        let mut status = json!({"allowed": verdict.allowed});
        if !verdict.reason.is_empty() {
            status["reason"] = verdict.reason.into();
        }
        status
    }

    /// What the user of the request may do in a namespace.
    fn rules_status(&self, spec: &Json) -> Json {
        let (rules, incomplete) = match self.api.authorization {
            Authorization::AlwaysAllow => {
                let master = Identity::new("", [access::MASTERS]);
                Rbac::default().rules_for(&master, "")
            }
            Authorization::Rbac => {
                let rbac = self.api.roles.rbac(self.store);
                rbac.rules_for(&self.identity(), spec["namespace"].as_str().unwrap_or_default())
            }
        };
        let (paths, resources): (Vec<_>, Vec<_>) = rules.iter().partition(|rule| !rule.non_resource_urls.is_empty());
        let list = |rules: Vec<&Rule>| Json::Array(rules.into_iter().map(Rule::json).collect());
        json!({"incomplete": incomplete, "nonResourceRules": list(paths), "resourceRules": list(resources)})
    }

    /// Answers the request for a token of a ServiceAccount. Without a key to sign, no server accepts the token.
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
        // It looks at the audiences that were sent.
        self.node_may_send(&sent)?;
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
        let signer = self.api.signer.as_deref();
        if texts(&sent["spec"]["audiences"]).is_empty()
            && let Some(signer) = signer
        {
            sent["spec"]["audiences"] = signer.audiences().into();
        }
        sent["kind"] = "TokenRequest".into();
        sent["apiVersion"] = "authentication.k8s.io/v1".into();
        sent["metadata"] = serde_json::json!({"name": name, "namespace": namespace});
        sent["spec"]["expirationSeconds"] = seconds.into();
        self.judged(&sent, false)?;
        let claims = serde_json::json!({
            "aud": sent["spec"]["audiences"],
            "exp": end,
            "iat": now,
            "iss": signer.map_or("kubeshape", Signer::issuer),
            "jti": self.moment.uid,
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": name, "uid": object["metadata"]["uid"]},
            },
            "nbf": now,
            "sub": format!("system:serviceaccount:{namespace}:{name}"),
        });
        let signed = signer.and_then(|signer| signer.sign(&claims.to_string()));
        let token = signed.unwrap_or_else(|| unsigned(&claims));
        sent["metadata"]["creationTimestamp"] = self.moment.now.to_string().into();
        sent["status"] = serde_json::json!({"expirationTimestamp": Time(end).to_string(), "token": token});
        let reply = Reply::new(201, crate::accept::Form::Json, sent.to_string());
        Ok(Outcome::Reply(Reply { warnings: self.warnings(), ..reply }))
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
