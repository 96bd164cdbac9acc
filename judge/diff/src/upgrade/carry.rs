//! Carries out a plan, for programs that talk to a server themselves.

use super::plan::{Action, Plan};
use kubeshape_yaml::percent;
use serde_json::{Value, json};
use std::fmt;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Objects per page.
const PAGE: usize = 500;
/// Most pages of one list, in case a server never ends it.
const PAGES: usize = 100_000;

/// A request to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// `GET`, `PUT` or `PATCH`.
    pub method: &'static str,
    /// The path and the query, percent-encoded.
    pub target: String,
    /// The media type of the body. Empty without a body.
    pub media_type: &'static str,
    /// The body.
    pub body: Option<Value>,
}

/// A server's response.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status code.
    pub code: u16,
    /// The body; null if it is not JSON.
    pub body: Value,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The request.
    pub request: Request,
    /// The server's response.
    pub answer: Answer,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { request, answer } = self;
        let message = answer.body["message"].as_str().unwrap_or_default();
        write!(f, "{} {}: {} {message}", request.method, request.target, answer.code)
    }
}

impl std::error::Error for Failure {}

/// Sends requests.
type Send<'s> = dyn FnMut(&Request) -> Answer + 's;

impl Plan {
    /// Carries out a step, given by its index from 0, with the requests that its commands send. Steps for people do
    /// nothing: deploying a webhook and changing objects. Neither does an unknown index.
    ///
    /// An object that another client writes or deletes meanwhile is skipped: it has been stored again or is gone.
    ///
    /// # Errors
    /// The server refuses a request. The step can be repeated.
    ///
    /// # Example: all steps, one after the other
    /// ```no_run
    /// # use kubeshape_diff::upgrade::{Answer, Request};
    /// # fn send(_: &Request) -> Answer { Answer { code: 200, body: serde_json::Value::Null } }
    /// # fn all(plan: &kubeshape_diff::upgrade::Plan) -> Result<(), Box<kubeshape_diff::upgrade::Failure>> {
    /// for number in 0..plan.steps.len() {
    ///     plan.carry_out(number, &mut send)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn carry_out(&self, number: usize, send: &mut Send<'_>) -> Result<(), Box<Failure>> {
        let of_definition = format!("{DEFINITIONS}/{}", self.name);
        match self.steps.get(number).map(|step| &step.action) {
            Some(Action::Apply { definition, .. }) => {
                let target = format!("{of_definition}?fieldManager=kubectl&force=true");
                ask("PATCH", target, "application/apply-patch+yaml", Some(definition.clone()), &[], send).map(|_| ())
            }
            Some(Action::Migrate { version, group, resource, .. }) => {
                migrate(&format!("/apis/{group}/{version}"), resource, send)
            }
            Some(Action::Prune { stored }) => {
                let patch = json!({"status": {"storedVersions": stored}});
                let media_type = "application/merge-patch+json";
                ask("PATCH", format!("{of_definition}/status"), media_type, Some(patch), &[], send).map(|_| ())
            }
            Some(Action::Webhook { .. } | Action::Change { .. }) | None => Ok(()),
        }
    }
}

/// Reads every object of a resource and writes it back.
fn migrate(root: &str, plural: &str, send: &mut Send<'_>) -> Result<(), Box<Failure>> {
    let mut token = String::new();
    for _ in 0..PAGES {
        let target = format!("{root}/{plural}?limit={PAGE}{token}");
        let list = ask("GET", target, "", None, &[], send)?;
        for object in list["items"].as_array().into_iter().flatten() {
            let meta = |key: &str| object["metadata"][key].as_str().map(encoded).unwrap_or_default();
            let namespace = match meta("namespace").as_str() {
                "" => String::new(),
                namespace => format!("/namespaces/{namespace}"),
            };
            let target = format!("{root}{namespace}/{plural}/{}", meta("name"));
            // Deleted, or written by another client.
            ask("PUT", target, "application/json", Some(object.clone()), &[404, 409], send)?;
        }
        match list["metadata"]["continue"].as_str() {
            None | Some("") => break,
            Some(next) => token = format!("&continue={}", encoded(next)),
        }
    }
    Ok(())
}

fn ask(
    method: &'static str,
    target: String,
    media_type: &'static str,
    body: Option<Value>,
    passed_over: &[u16],
    send: &mut Send<'_>,
) -> Result<Value, Box<Failure>> {
    let request = Request { method, target, media_type, body };
    let answer = send(&request);
    if (200..300).contains(&answer.code) || passed_over.contains(&answer.code) {
        Ok(answer.body)
    } else {
        Err(Box::new(Failure { request, answer }))
    }
}

/// Percent-encodes a part of a path or of a query.
fn encoded(text: &str) -> String {
    percent::encode(text, percent::COMPONENT).into_owned()
}
