//! Suites of admission policies.

use crate::compare::{differences, metadata, only, without_generated};
use crate::read::{Case, Part, Request, Suite};
use crate::run::{Answer, Failure, Outcome};
use kubeshape_input::{Code, Finding};
use kubeshape_policy::{Gvk, Operation, Permissions, User};
use kubeshape_registry::policy::{self, Admission, Client, Parts, ServedKinds, is_policy};
use kubeshape_registry::{Location, Object};
use kubeshape_smd::{Bump, ToValue, Value};
use kubeshape_validate::Release;
use kubeshape_yaml::Node;
use std::sync::Arc;

/// The name of objects without one.
const NAME: &str = "test-00000";

/// The context of suites of policies.
#[derive(Clone, Copy, Debug)]
pub struct Tested<'t, 'l> {
    /// Policies, bindings, parameters and Namespaces. Only the policies that a suite names are used.
    pub objects: &'t [Location],
    /// The kinds of the objects.
    pub kinds: &'t ServedKinds<'l>,
    /// The release of the server.
    pub release: Release,
}

impl Suite {
    /// Runs all cases of a suite of policies. Only the members of the expected object are compared, not additional ones
    /// such as defaults.
    ///
    /// # Errors
    /// A policy that the suite names is not among the objects.
    pub fn run_policies(&self, tested: &Tested<'_, '_>) -> Result<Vec<Outcome>, Box<Finding>> {
        for name in &self.policies {
            let is_meant = |location: &Location| {
                let node = location.node();
                is_policy(node) && !is_binding(node) && named(node) == Some(name)
            };
            if !tested.objects.iter().any(is_meant) {
                let node = self.location.node();
                let at = self.location.at(node.get("policies").unwrap_or(node));
                return Err(Box::new(at.finding(Code::Suite, format!("no admission policy {name:?} is known"))));
            }
        }
        let is_used = |location: &&Location| {
            let node = location.node();
            let policy = if is_binding(node) {
                node.get("spec").and_then(|spec| spec.get("policyName")?.as_str())
            } else {
                named(node)
            };
            !is_policy(node) || policy.is_some_and(|policy| self.policies.iter().any(|name| name == policy))
        };
        let arena = Bump::new();
        let objects = tested.objects.iter().filter(is_used).map(|location| Value::from_node(location.node(), &arena));
        let admission = Admission::read(objects, tested.kinds, tested.release, &arena);
        let run = |(number, case)| {
            let (answer, failure) = Runner { admission: &admission, kinds: tested.kinds }.case(case);
            Outcome { case: number, answer, failure }
        };
        Ok(self.cases.iter().enumerate().map(run).collect())
    }
}

fn named(node: Node<'_>) -> Option<&str> {
    node.get("metadata")?.get("name")?.as_str()
}

fn is_binding(node: Node<'_>) -> bool {
    node.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("PolicyBinding"))
}

struct Runner<'r, 'l> {
    admission: &'r Admission<'r>,
    kinds: &'r ServedKinds<'l>,
}

/// The end of a case, with the answer and the reason of a failure.
type Ended = (Answer, Option<Failure>);

impl Runner<'_, '_> {
    fn case(&self, case: &Case) -> Ended {
        let (operation, sent, old) = match &case.request {
            Request::Create { initial } => (Operation::Create, initial, None),
            Request::Update { initial, updated, .. } => (Operation::Update, updated, Some(initial)),
            Request::Delete { initial } => (Operation::Delete, initial, None),
        };
        match self.answer(case, operation, sent, old) {
            Ok(answer) => judged(case, answer),
            Err(finding) => failed(Answer::None, finding.message(), Vec::new(), &sent.location),
        }
    }

    fn answer(
        &self,
        case: &Case,
        operation: Operation,
        sent: &Part,
        old: Option<&Part>,
    ) -> Result<policy::Answer, Box<Finding>> {
        let (sent, old) = (object(sent)?, old.map(object).transpose()?);
        let gvk = Gvk::of(sent.api_version(), sent.kind());
        let arena = Bump::new();
        let value = Some(sent.to_value(&arena));
        let (object, old_object) = match operation {
            Operation::Delete => (None, value),
            _ => (value, old.as_ref().map(|old| old.to_value(&arena))),
        };
        let parts = Parts { gvk: &gvk, operation, subresource: "", namespace: None, name: None, object, old_object };
        let sender = &case.sender;
        let authorizer = Arc::new(Permissions::new(sender.can.clone()));
        let mut client = Client { authorizer, ..Client::default() };
        if let Some(name) = &sender.user {
            client.user = Arc::new(User { name: name.clone(), groups: sender.groups.clone(), ..User::default() });
        }
        Ok(self.admission.admit(parts, &client, self.kinds, &arena))
    }
}

/// Parses an object. It has a name.
fn object(part: &Part) -> Result<Object, Box<Finding>> {
    let mut value = Object::read(part.location.input().to_string(), part.text.as_bytes())?.into_value();
    if let Some(metadata) = metadata(&mut value)
        && !metadata.contains_key("generateName")
    {
        metadata.entry("name").or_insert_with(|| NAME.into());
    }
    Ok(Object::from(value))
}

/// Compares an answer with the expected one.
fn judged(case: &Case, answer: policy::Answer) -> Ended {
    let policy::Answer { stored, refusal, warnings, .. } = answer;
    if let Some(message) = refusal {
        let details = vec![message.clone()];
        let answer = Answer::Refused(message.clone());
        return match &case.expected_error {
            Some(part) if message.contains(&part.text) => warned(case, &warnings, answer),
            Some(part) => {
                failed(answer, "the server refuses the object with another error".to_owned(), details, &part.location)
            }
            None => failed(answer, "the server refuses the object".to_owned(), details, &case.location),
        };
    }
    let stored = stored.map(|object| without_generated(object.into_value()));
    let answer = stored.clone().map_or(Answer::None, Answer::Stored);
    if let Some(part) = &case.expected_error {
        let text = "the server accepts the object, an error is expected".to_owned();
        return failed(answer, text, Vec::new(), &part.location);
    }
    if let (Some(part), Some(stored)) = (&case.expected, &stored) {
        let expected = match Object::read(part.location.input().to_string(), part.text.as_bytes()) {
            Ok(object) => without_generated(object.into_value()),
            Err(finding) => return failed(answer, finding.message(), Vec::new(), &part.location),
        };
        let details = differences(&expected, &only(&expected, stored));
        if !details.is_empty() {
            return failed(answer, "the server stores another object".to_owned(), details, &part.location);
        }
    }
    warned(case, &warnings, answer)
}

/// Checks that the expected warning is among those of the server.
fn warned(case: &Case, warnings: &[String], answer: Answer) -> Ended {
    match &case.expected_warning {
        Some(part) if !warnings.iter().any(|warning| warning.contains(&part.text)) => {
            let text = "the server does not send the expected warning".to_owned();
            failed(answer, text, warnings.to_vec(), &part.location)
        }
        _ => (answer, None),
    }
}

fn failed(answer: Answer, message: String, details: Vec<String>, location: &Location) -> Ended {
    (answer, Some(Failure { message, details, location: location.clone() }))
}
