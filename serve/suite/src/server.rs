//! The server that runs cases.

use crate::definition::Definition;
use kubeshape_registry::{Error, Judgement, Object, Request, Requests};
use kubeshape_validate::{AskedRelease, Release};
use serde_json::Value;

/// A server for suites: `kubeshape-registry` for [`Suite::run`](crate::Suite::run), any other one for
/// [`Suite::run_on`](crate::Suite::run_on). Errors are the messages of the server.
pub trait Server {
    /// Starts again, with this definition and without objects.
    ///
    /// # Errors
    /// The server refuses the definition.
    fn define(&mut self, definition: &Value) -> Result<(), String>;

    /// Replaces the definition. Objects are kept.
    ///
    /// # Errors
    /// The server refuses the definition.
    fn redefine(&mut self, definition: &Value) -> Result<(), String>;

    /// Creates an object, and returns the stored one.
    ///
    /// # Errors
    /// The server refuses it.
    fn create(&mut self, object: &Object) -> Result<Object, String>;

    /// Replaces an object, and returns the stored one.
    ///
    /// # Errors
    /// The server refuses it.
    fn update(&mut self, object: &Object, live: &Object) -> Result<Object, String>;

    /// Replaces the status of an object, and returns the stored one.
    ///
    /// # Errors
    /// The server refuses it.
    fn update_status(&mut self, object: &Object, live: &Object) -> Result<Object, String>;
}

/// Requests without a server.
pub(crate) struct Offline<'d> {
    definition: &'d Definition<'d>,
    /// The first prepared definition: most cases need no other one.
    first: Option<(Value, Requests)>,
    current: Option<Requests>,
    /// The releases of all that were prepared: they know what they were asked.
    asked: Vec<AskedRelease>,
}

impl<'d> Offline<'d> {
    pub(crate) fn new(definition: &'d Definition<'d>) -> Offline<'d> {
        Offline { definition, first: None, current: None, asked: Vec::new() }
    }

    /// Whether another release says the same to everything so far: nothing was asked in which they differ.
    pub(crate) fn says_the_same(&self, release: Release) -> bool {
        self.asked.iter().all(|asked| asked.same(release))
    }

    fn prepared(&self) -> Result<&Requests, String> {
        self.current.as_ref().ok_or_else(|| "no definition is served".to_owned())
    }

    /// Returns the object as stored, or the message of the server.
    fn answer(&self, request: Request<'_>) -> Result<Object, String> {
        let (requests, name) = (self.prepared()?, request.object().name().to_owned());
        match requests.judge(request) {
            Ok(judgement) if judgement.is_accepted() => Ok(judgement.stored),
            Ok(Judgement { errors, refusal: Some(refusal), .. }) if errors.is_empty() => Err(refusal.to_owned()),
            Ok(Judgement { errors, .. }) => Err(requests.resource().refusal(&name, &errors)),
            Err(Error::Refused { message, .. }) => Err(message),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Server for Offline<'_> {
    fn define(&mut self, definition: &Value) -> Result<(), String> {
        if let Some((_, requests)) = self.first.as_ref().filter(|(first, _)| first == definition) {
            self.current = Some(requests.clone());
            return Ok(());
        }
        let requests = self.definition.requests(definition)?;
        self.current = Some(requests.clone());
        self.asked.push(requests.resource().release.clone());
        self.first.get_or_insert_with(|| (definition.clone(), requests));
        Ok(())
    }

    fn redefine(&mut self, definition: &Value) -> Result<(), String> {
        self.define(definition)
    }

    fn create(&mut self, object: &Object) -> Result<Object, String> {
        self.answer(Request::Create(object))
    }

    fn update(&mut self, object: &Object, live: &Object) -> Result<Object, String> {
        self.answer(Request::Update { object, old: live })
    }

    fn update_status(&mut self, object: &Object, live: &Object) -> Result<Object, String> {
        if !self.prepared()?.resource().status {
            return Err("the server could not find the requested resource".to_owned());
        }
        self.answer(Request::UpdateStatus { object, old: live })
    }
}
