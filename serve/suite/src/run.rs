//! Runs cases like the programs of their authors, without a server.

use crate::compare::{differences, metadata, without_generated};
use crate::definition::Definition;
use crate::read::{Case, Part, Request, Suite};
use crate::server::{Offline, Server};
use kubeshape_input::Finding;
use kubeshape_registry::{Location, Object};
use kubeshape_schema::Releases;
use kubeshape_validate::Release;
use serde_json::Value;
use std::collections::BTreeSet;

/// The releases that share outcomes, the newest first, and the outcomes.
pub type InReleases = (Vec<Release>, Vec<Outcome>);

/// Releases other than the default one whose messages differ, in the order in which they are tried: those of most
/// suites first. Up to 1.34, errors of CEL rules name the type of a value instead of the value
/// (kubernetes/kubernetes#132798).
const OTHER_WORDS: [u8; 9] = [34, 35, 36, 37, 33, 32, 31, 30, 28];

/// The outcome of a case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The index of the case in the suite.
    pub case: usize,
    /// The final response of the server.
    pub answer: Answer,
    /// Why the case failed. `None` if it passed.
    pub failure: Option<Failure>,
}

impl Outcome {
    /// Returns whether everything was as expected.
    pub fn has_passed(&self) -> bool {
        self.failure.is_none()
    }

    fn is_refused(&self) -> bool {
        matches!(self.answer, Answer::Refused(_) | Answer::StatusRefused(_))
    }

    /// Returns whether the case failed with a refused request: the expected message may be that of another release.
    fn fails_by_words(&self) -> bool {
        !self.has_passed() && self.is_refused()
    }
}

/// The response of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The object is stored. Metadata generated for every object is left out.
    Stored(Value),
    /// The request is refused, with this message.
    Refused(String),
    /// The status is refused, with this message.
    StatusRefused(String),
    /// The case ended before: its first object is refused, or something in it is invalid.
    None,
}

/// Why a case failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// One sentence.
    pub message: String,
    /// The differences, or the whole message of the server, in lines.
    pub details: Vec<String>,
    /// The part of the case that failed.
    pub location: Location,
}

impl Suite {
    /// Runs all cases against a definition: the document, or the list item, that contains it. Only the tested version
    /// is served and stored.
    ///
    /// Without a release, the default one is used, and expected messages may be those of another release: a case whose
    /// request is refused with another message is run again with the releases that word messages differently.
    ///
    /// # Errors
    /// The definition cannot be used: it lacks the tested version, or is invalid.
    pub fn run(&self, definition: &Location, release: Option<Release>) -> Result<Vec<Outcome>, Box<Finding>> {
        let mut outcomes = self.run_offline(definition, release.unwrap_or_default(), |_| true)?;
        if release.is_none() {
            self.in_other_words(definition, &mut outcomes)?;
        }
        Ok(outcomes)
    }

    /// Runs cases again that are refused with other messages than expected. Those that another release refuses as
    /// expected pass.
    fn in_other_words(&self, definition: &Location, outcomes: &mut [Outcome]) -> Result<(), Box<Finding>> {
        for minor in OTHER_WORDS {
            let failed: BTreeSet<usize> = outcomes.iter().filter(|o| o.fails_by_words()).map(|o| o.case).collect();
            if failed.is_empty() {
                break;
            }
            let again = self.run_offline(definition, Release::nearest(minor), |case| failed.contains(&case))?;
            for outcome in again.into_iter().filter(|outcome| outcome.has_passed() && outcome.is_refused()) {
                if let Some(place) = outcomes.get_mut(outcome.case) {
                    *place = outcome;
                }
            }
        }
        Ok(())
    }

    /// Runs all cases as several releases do, the newest first. Releases that were asked nothing in which they differ
    /// share their outcomes, and run the cases once. Each entry has its releases, the newest first.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_each(&self, definition: &Location, releases: Releases) -> Result<Vec<InReleases>, Box<Finding>> {
        let mut rest: Vec<Release> = releases.iter().rev().collect();
        let mut out = Vec::new();
        while let Some(newest) = rest.first() {
            let definition = Definition::read(definition, self.version.as_deref(), *newest)?;
            let mut server = Offline::new(&definition);
            let outcomes = self.run_cases(&definition, &mut server, |_| true)?;
            let (same, others) = rest.iter().partition(|release| *release == newest || server.says_the_same(**release));
            out.push((same, outcomes));
            rest = others;
        }
        Ok(out)
    }

    /// Runs all cases on a server.
    ///
    /// # Errors
    /// See [`run`](Self::run), and the server refuses the definition.
    pub fn run_on(&self, definition: &Location, server: &mut dyn Server) -> Result<Vec<Outcome>, Box<Finding>> {
        let definition = Definition::read(definition, self.version.as_deref(), Release::default())?;
        self.run_cases(&definition, server, |_| true)
    }

    fn run_offline(
        &self,
        definition: &Location,
        release: Release,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<Outcome>, Box<Finding>> {
        let definition = Definition::read(definition, self.version.as_deref(), release)?;
        self.run_cases(&definition, &mut Offline::new(&definition), is_wanted)
    }

    /// Runs some of the cases, by their index.
    fn run_cases(
        &self,
        definition: &Definition<'_>,
        server: &mut dyn Server,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<Outcome>, Box<Finding>> {
        let mut runner = Runner { definition, tested: definition.tested(), server };
        let wanted = self.cases.iter().enumerate().filter(|(number, _)| is_wanted(*number));
        wanted.map(|(number, case)| runner.case(number, case)).collect()
    }
}

struct Runner<'r> {
    definition: &'r Definition<'r>,
    /// The definition under which cases run.
    tested: Value,
    server: &'r mut dyn Server,
}

/// The end of a case, with the answer and the reason of a failure.
type Ended = (Answer, Option<Failure>);

impl Runner<'_> {
    /// Runs a case.
    ///
    /// # Errors
    /// The server refuses the definition.
    fn case(&mut self, number: usize, case: &Case) -> Result<Outcome, Box<Finding>> {
        self.server.define(&self.tested).map_err(|detail| self.definition.finding(detail))?;
        let ended = match &case.request {
            Request::Create { initial } => self.create(case, initial),
            Request::Update { .. } => self.update(case),
            // Suites of definitions have no such cases.
            Request::Delete { .. } => Ok((Answer::None, None)),
        };
        let (answer, failure) = ended.unwrap_or_else(|ended| *ended);
        Ok(Outcome { case: number, answer, failure })
    }

    fn create(&mut self, case: &Case, initial: &Part) -> Result<Ended, Box<Ended>> {
        let object = self.object(initial)?;
        let answer = self.server.create(&object);
        let answer = Self::check(case.expected_error.as_ref(), answer, case, Answer::Refused)?;
        Ok(Self::stored(case, answer, initial))
    }

    fn update(&mut self, case: &Case) -> Result<Ended, Box<Ended>> {
        let Request::Update { initial, updated, patches, expected_status_error } = &case.request else {
            return Err(Box::new((Answer::None, None)));
        };
        let first = self.object(initial)?;
        let unusable = |definition: &Definition<'_>, detail: String| {
            let message = definition.finding(detail).message();
            Box::new(failed(Answer::None, message, Vec::new(), &initial.location))
        };
        if !patches.is_empty() {
            let patched = self.definition.patched(patches).map_err(|detail| unusable(self.definition, detail))?;
            self.server.define(&patched).map_err(|detail| unusable(self.definition, detail))?;
        }
        let live = self.begin(&first, initial)?;
        if !patches.is_empty() {
            self.server.redefine(&self.tested).map_err(|detail| unusable(self.definition, detail))?;
        }
        let mut next = self.object(updated)?;
        let name = live.value()["metadata"]["name"].clone();
        let mut value = next.into_value();
        if let Some(metadata) = metadata(&mut value) {
            metadata.insert("name".to_owned(), name);
        }
        let status = value.get("status").cloned();
        next = Object::from(value);
        let answer = self.server.update(&next, &live);
        let accepted = answer.as_ref().ok().cloned();
        let mut stored = match Self::check(case.expected_error.as_ref(), answer, case, Answer::Refused) {
            Ok(stored) => stored,
            Err(mut ended) => {
                // If it was accepted and an error is expected, the case without that error sends its status.
                if let (Some(stored), Some(status)) = (accepted, status) {
                    ended.0 = match self.send_status(&stored, status) {
                        Ok(stored) => Answer::Stored(without_generated(stored.into_value())),
                        Err(message) => Answer::StatusRefused(message),
                    };
                }
                return Err(ended);
            }
        };
        if let Some(status) = status {
            let answer = self.send_status(&stored, status);
            stored = Self::check(expected_status_error.as_ref(), answer, case, Answer::StatusRefused)?;
        } else if let Some(expected) = expected_status_error {
            let message = "the updated object has no status, so no status is sent".to_owned();
            let answer = Answer::Stored(without_generated(stored.into_value()));
            return Err(Box::new(failed(answer, message, Vec::new(), &expected.location)));
        }
        Ok(Self::stored(case, stored, updated))
    }

    /// Creates the first object of an update, with its status.
    fn begin(&mut self, object: &Object, part: &Part) -> Result<Object, Box<Ended>> {
        let status = object.value().get("status").cloned();
        let refused = |message: String| {
            let text = "the initial object is refused".to_owned();
            Box::new(failed(Answer::None, text, vec![message], &part.location))
        };
        let stored = self.server.create(object).map_err(refused)?;
        match status {
            None => Ok(stored),
            Some(status) => self.send_status(&stored, status).map_err(refused),
        }
    }

    fn send_status(&mut self, live: &Object, status: Value) -> Result<Object, String> {
        let mut value = live.value().clone();
        if let Value::Object(members) = &mut value {
            members.insert("status".to_owned(), status);
        }
        self.server.update_status(&Object::from(value), live)
    }

    /// Parses an object, and gives it a name for the test.
    fn object(&self, part: &Part) -> Result<Object, Box<Ended>> {
        let name = part.location.input().to_string();
        let object = Object::read(name, part.text.as_bytes())
            .map_err(|finding| Box::new(failed(Answer::None, finding.message(), Vec::new(), &part.location)))?;
        let mut value = object.into_value();
        if let Some(metadata) = metadata(&mut value) {
            metadata.insert("generateName".to_owned(), "test-".into());
            metadata.entry("name").or_insert_with(|| "test-00000".into());
            if self.definition.is_namespaced() {
                metadata.insert("namespace".to_owned(), "default".into());
            } else {
                metadata.remove("namespace");
            }
        }
        Ok(Object::from(value))
    }

    /// Checks that a request was refused if and only if that is expected. Returns the stored object.
    fn check(
        expected: Option<&Part>,
        answer: Result<Object, String>,
        case: &Case,
        refused: fn(String) -> Answer,
    ) -> Result<Object, Box<Ended>> {
        match (expected, answer) {
            (None, Ok(stored)) => Ok(stored),
            (None, Err(message)) => {
                let text = "the server refuses the object".to_owned();
                Err(Box::new(failed(refused(message.clone()), text, vec![message], &case.location)))
            }
            (Some(part), Ok(stored)) => {
                let text = "the server accepts the object, an error is expected".to_owned();
                let answer = Answer::Stored(without_generated(stored.into_value()));
                Err(Box::new(failed(answer, text, Vec::new(), &part.location)))
            }
            (Some(part), Err(message)) if message.contains(&part.text) => Err(Box::new((refused(message), None))),
            (Some(part), Err(message)) => {
                let text = "the server refuses the object with another error".to_owned();
                Err(Box::new(failed(refused(message.clone()), text, vec![message], &part.location)))
            }
        }
    }

    /// Compares the stored object with the expected one.
    fn stored(case: &Case, stored: Object, sent: &Part) -> Ended {
        let found = without_generated(stored.into_value());
        let part = case.expected.as_ref().unwrap_or(sent);
        let expected = match Object::read(part.location.input().to_string(), part.text.as_bytes()) {
            Ok(object) => without_generated(object.into_value()),
            Err(finding) => return failed(Answer::Stored(found), finding.message(), Vec::new(), &part.location),
        };
        let details = differences(&expected, &found);
        let failure = (!details.is_empty()).then(|| Failure {
            message: "the server stores another object".to_owned(),
            details,
            location: part.location.clone(),
        });
        (Answer::Stored(found), failure)
    }
}

fn failed(answer: Answer, message: String, details: Vec<String>, location: &Location) -> Ended {
    (answer, Some(Failure { message, details, location: location.clone() }))
}
