//! Running steps.

use super::read::{Action, Scenario, Step, Write};
use crate::session::{Session, types};
use kubeshape_input::Code;
use kubeshape_registry::{EndpointError, Error, Gvk, Kind, Location, Object, Request, Time, Verb, WriteOptions};
use kubeshape_smd::fieldpath::{DisplayPath, Set, SetError};
use kubeshape_smd::managed::{self, ConflictError, Ownership};
use kubeshape_smd::typed::{CompareError, Duplicates, Type, TypedValue, ValidationErrors};
use kubeshape_smd::value::{Compat, Map};
use kubeshape_smd::{ToValue, Value};
use kubeshape_yaml::Node;
use std::fmt::Write as _;
use std::sync::Arc;

/// The time of the first step.
const START: Time = Time(946_684_800);

/// What came of a step: a value for each part, as it would stand in the file.
pub(super) struct Outcome<'a> {
    pub(super) parts: Vec<(&'static str, Value<'a>)>,
    /// Remarks for the reader of the run.
    lines: Vec<String>,
}

impl<'a> Outcome<'a> {
    fn new(parts: Vec<(&'static str, Value<'a>)>) -> Self {
        Outcome { parts, lines: Vec::new() }
    }

    /// A part; an object that is gone, a set that is empty and the like have one, too.
    pub(super) fn part(&self, name: &str) -> Option<Value<'a>> {
        self.parts.iter().find(|(part, _)| *part == name).map(|(_, value)| *value)
    }

    /// The error of a step that expects none.
    pub(super) fn unexpected(&self, step: &Step<'a>) -> Option<Value<'a>> {
        let expects = |part: &str| step.expect.is_some_and(|(_, parts)| parts.get(part).is_some());
        let conflicts = self.part("conflicts").is_some() && expects("conflicts");
        let errors = || {
            let errors =
                self.part("errors").filter(|_| matches!(step.action, Action::Judge { .. }) && !expects("errors"));
            errors.filter(|errors| errors.as_list().is_some_and(|errors| !errors.is_empty()))
        };
        self.part("error").filter(|_| !expects("error") && !conflicts).or_else(errors)
    }

    /// What is shown beside the expectations: owners, conflicts, errors.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }
}

/// The live object between steps.
pub(super) struct State<'s, 'a> {
    scenario: &'s Scenario<'a>,
    live: Option<Value<'a>>,
    clock: Time,
}

/// Why a step has no parts but an error.
enum Refused<'a> {
    /// There is no type; it was told.
    Told,
    /// What went wrong, in upstream's words.
    Error(&'a str),
}

type Answer<'a> = Result<Outcome<'a>, Refused<'a>>;

impl<'s, 'a> State<'s, 'a> {
    pub(super) fn new(scenario: &'s Scenario<'a>) -> Self {
        State { scenario, live: None, clock: Time(START.0 - 1) }
    }

    /// Runs a step; none if it cannot be run, which was told.
    pub(super) fn step(&mut self, step: &Step<'a>, session: &mut Session<'a>) -> Option<Outcome<'a>> {
        self.clock = step.time.unwrap_or(Time(self.clock.0.saturating_add(1)));
        match self.run(step, session) {
            Ok(outcome) => Some(outcome),
            Err(Refused::Told) => None,
            Err(Refused::Error(text)) => {
                let mut outcome = Outcome::new(vec![("error", Value::String(text))]);
                outcome.lines.push(format!("error: {}", text.replace('\n', "\n     ")));
                Some(outcome)
            }
        }
    }

    fn run(&mut self, step: &Step<'a>, session: &mut Session<'a>) -> Answer<'a> {
        let arena = session.arena;
        let value = |node: Node<'a>| Value::from_node(node, arena);
        match &step.action {
            Action::Set(object) => {
                self.live = object.map(value);
                Ok(Outcome::new(Vec::new()))
            }
            Action::Apply(write) => self.write(write, true, session),
            Action::Update(write) => self.write(write, false, session),
            Action::Judge { object, status } => self.judge(*object, *status, session),
            Action::Validate(object) => {
                let ty = self.type_of(step, &[Some(*object)], session)?;
                let errors = match ty.validate(value(*object), Duplicates::Refused) {
                    Ok(_) => Vec::new(),
                    Err(errors) => errors.0,
                };
                let entry = |path: &str, message: &str| {
                    map(vec![("message", text(message, session)), ("path", text(path, session))], session)
                };
                let listed: Vec<Value<'a>> =
                    errors.iter().map(|error| entry(&error.path, &error.kind.to_string())).collect();
                let mut outcome = Outcome::new(vec![("errors", list(&listed, session))]);
                outcome.lines.extend(errors.iter().map(ToString::to_string));
                Ok(outcome)
            }
            Action::Fieldset(object) => {
                let typed = self.typed(step, Some(*object), &[Some(*object)], Duplicates::Allowed, session)?;
                let set = typed.to_field_set(arena).map_err(|errors| invalid(&errors, session))?;
                Ok(Outcome::new(vec![("set", self.fields(set, session)?)]))
            }
            Action::Compare { from, to } => {
                let both = [*from, *to];
                let from = self.typed(step, *from, &both, Duplicates::Allowed, session)?;
                let to = self.typed(step, *to, &both, Duplicates::Allowed, session)?;
                let found = from.compare(to, arena).map_err(|error| failed(&error, session))?;
                Ok(Outcome::new(vec![
                    ("added", self.fields(found.added, session)?),
                    ("modified", self.fields(found.modified, session)?),
                    ("removed", self.fields(found.removed, session)?),
                ]))
            }
            Action::Merge { live, config } => {
                let both = [*live, *config];
                let live = self.typed(step, *live, &both, Duplicates::Allowed, session)?;
                let config = self.typed(step, *config, &both, Duplicates::Refused, session)?;
                let merged = live.merge(config, arena).map_err(|error| failed(&error, session))?;
                Ok(Outcome::new(vec![("object", merged.value().unwrap_or(Value::Null))]))
            }
            Action::Remove { object, fields } => {
                let typed = self.typed(step, Some(*object), &[Some(*object)], Duplicates::Allowed, session)?;
                let rest = typed.remove_items(*fields, arena);
                Ok(Outcome::new(vec![("object", rest.value().unwrap_or(Value::Null))]))
            }
            Action::Extract { object, fields, keys } => {
                let typed = self.typed(step, Some(*object), &[Some(*object)], Duplicates::Allowed, session)?;
                let part = typed.extract_items(*fields, *keys, arena);
                Ok(Outcome::new(vec![("object", part.value().unwrap_or(Value::Null))]))
            }
            Action::Reconcile { object, fields: owned } => {
                let typed = self.typed(step, Some(*object), &[Some(*object)], Duplicates::Allowed, session)?;
                let changed = typed.reconcile(*owned, arena).map_err(|errors| invalid(&errors, session))?;
                Ok(Outcome::new(match changed {
                    None => vec![("unchanged", Value::Bool(true))],
                    Some(set) => vec![("set", self.fields(set, session)?)],
                }))
            }
        }
    }

    fn fields(&self, set: Set<'a>, session: &Session<'a>) -> Result<Value<'a>, Refused<'a>> {
        fields(set, self.scenario.compat, session)
    }

    /// The type that the step names, or that of the first object with a kind.
    fn type_of(
        &self,
        step: &Step<'a>,
        objects: &[Option<Node<'a>>],
        session: &mut Session<'a>,
    ) -> Result<Type<'a>, Refused<'a>> {
        let registry = self.scenario.registry;
        let named = |name: &str| registry.type_named(name).map(|kind| &*session.arena.alloc(kind));
        if let Some(name) = step.type_name {
            return named(name).and_then(Kind::merge_type).ok_or_else(|| {
                let at = step.node.get("type").unwrap_or(step.node);
                session.report(&step.text.about(Code::Scenario, at, format!("no schema has a type called {name}")));
                Refused::Told
            });
        }
        let gvk = |node: &Node<'a>| Value::from_node(*node, session.arena).gvk();
        let kinds: Vec<(Gvk<'a>, Node<'a>)> = objects.iter().flatten().map(|node| (gvk(node), *node)).collect();
        let found = kinds.iter().find_map(|(gvk, _)| registry.kind(*gvk)).and_then(Kind::merge_type);
        found.ok_or_else(|| {
            let (gvk, node) = kinds.first().copied().unwrap_or((Gvk::default(), step.node));
            self.unknown(gvk, node, session)
        })
    }

    /// Tells that there is no kind for an object of the scenario.
    fn unknown(&self, gvk: Gvk<'_>, object: Node<'_>, session: &mut Session<'a>) -> Refused<'a> {
        let location = Location::new(Arc::clone(self.scenario.document), object.index());
        types::unknown(gvk, &location, self.scenario.registry, session);
        Refused::Told
    }

    fn typed(
        &self,
        step: &Step<'a>,
        object: Option<Node<'a>>,
        all: &[Option<Node<'a>>],
        duplicates: Duplicates,
        session: &mut Session<'a>,
    ) -> Result<TypedValue<'a>, Refused<'a>> {
        let ty = self.type_of(step, all, session)?;
        match object {
            None => Ok(TypedValue::unvalidated(None, ty)),
            Some(node) => {
                let value = Value::from_node(node, session.arena);
                ty.validate(value, duplicates).map_err(|errors| invalid(&errors, session))
            }
        }
    }

    /// What the server makes of an object, before it stores it.
    fn judge(&mut self, object: Node<'a>, status: bool, session: &mut Session<'a>) -> Answer<'a> {
        let arena = session.arena;
        let sent = Location::new(Arc::clone(self.scenario.document), object.index());
        let error = |error: &dyn std::fmt::Display| Refused::Error(arena.alloc_str(&error.to_string()));
        let sent = Object::at(sent).map_err(|finding| error(&finding.message()))?;
        let live = self.live.map(Object::of);
        let request = match (&live, status) {
            (None, true) => return Err(Refused::Error("there is no object whose status could be replaced")),
            (None, false) => Request::Create(&sent),
            (Some(old), false) => Request::Update { object: &sent, old },
            (Some(old), true) => Request::UpdateStatus { object: &sent, old },
        };
        let judgement = match self.scenario.registry.judge(request) {
            Ok(judgement) => &*arena.alloc(judgement),
            Err(Error::Kind(_)) => return Err(self.unknown(Value::from_node(object, arena).gvk(), object, session)),
            Err(refused) => return Err(error(&refused)),
        };
        let entry = |error: &kubeshape_schema::field::Error| {
            let message = error.to_string();
            let message =
                message.strip_prefix(&error.path).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&message);
            map(vec![("message", text(message, session)), ("path", text(&error.path, session))], session)
        };
        let mut errors: Vec<Value<'a>> = judgement.errors.iter().map(entry).collect();
        errors.extend(judgement.refusal.map(|message| map(vec![("message", Value::String(message))], session)));
        let unknown: Vec<Value<'a>> = judgement.unknown.iter().map(|path| text(path, session)).collect();
        let mut parts = vec![("errors", list(&errors, session)), ("unknown", list(&unknown, session))];
        let mut lines: Vec<String> = judgement.errors.iter().map(ToString::to_string).collect();
        lines.extend(judgement.refusal.map(str::to_owned));
        lines.extend(judgement.unknown.iter().map(|path| format!("dropped: {path}")));
        if judgement.is_accepted() {
            let stored = judgement.stored.value().to_value(arena);
            self.live = Some(stored);
            parts.push(("object", without_managed_fields(stored, session)));
        }
        Ok(Outcome { parts, lines })
    }

    /// A request to the live object.
    fn write(&mut self, step: &Write<'a>, is_apply: bool, session: &mut Session<'a>) -> Answer<'a> {
        let arena = session.arena;
        let object = Value::from_node(step.object, arena);
        let gvk = object.gvk();
        let endpoint = match self.scenario.registry.endpoint(gvk, step.subresource, arena) {
            Ok(endpoint) => endpoint,
            Err(EndpointError::Kind(_)) => return Err(self.unknown(gvk, step.object, session)),
            Err(EndpointError::Subresource(error)) => return Ok(self.refused(&error.to_string(), None, session)),
        };
        let reset = self.scenario.reset_fields.get(&(gvk.api_version(), step.subresource));
        let endpoint = match reset {
            Some(fields) => endpoint.with_reset_fields(*fields),
            None => endpoint,
        };
        let endpoint = &*arena.alloc(endpoint);
        let options = WriteOptions::new(step.manager, self.clock).force(step.force);
        let before = self.live.map(|live| endpoint.read(live, arena).value);
        let verb = if is_apply { Verb::Apply } else { Verb::Update };
        match endpoint.write(verb, before, object, &options, arena) {
            Ok(after) => {
                self.live = Some(after);
                written(after, self.scenario.compat, session)
            }
            Err(managed::Error::Conflicts(conflicts)) => {
                Ok(self.refused(&conflicts.to_string(), Some(&conflicts), session))
            }
            Err(error) => Ok(self.refused(&error.to_string(), None, session)),
        }
    }

    /// A request that changed nothing: the live object is what it was, if there is one.
    fn refused(&self, message: &str, conflicts: Option<&ConflictError<'a>>, session: &Session<'a>) -> Outcome<'a> {
        let lines = message.lines().map(str::to_owned).collect();
        let live = self.live.and_then(|live| written(live, self.scenario.compat, session).ok());
        let mut parts = live.map_or_else(Vec::new, |outcome| outcome.parts);
        parts.push(("error", text(message, session)));
        let conflict = |conflict: &managed::ManagerConflict<'a>| {
            let field = text(&DisplayPath(&conflict.path).to_string(), session);
            map(vec![("field", field), ("manager", text(&conflict.manager, session))], session)
        };
        if let Some(conflicts) = conflicts {
            let conflicts: Vec<Value<'a>> = conflicts.0.iter().map(conflict).collect();
            parts.push(("conflicts", list(&conflicts, session)));
        }
        Outcome { parts, lines }
    }
}

/// The live object after a request.
fn written<'a>(live: Value<'a>, compat: Compat, session: &Session<'a>) -> Answer<'a> {
    let arena = session.arena;
    let entries = live.get("metadata").and_then(|metadata| metadata.get("managedFields"));
    let managed = managed::entries::decode_as(entries, compat, arena);
    let managed = managed.map_err(|error| Refused::Error(arena.alloc_str(&error.to_string())))?;
    let ownership = Ownership::new(&managed);
    let (mut owners, mut lines) = (Vec::new(), Vec::new());
    for (owner, set) in ownership.all() {
        let mut entry = vec![
            ("apiVersion", Value::String(owner.api_version)),
            ("fields", fields(*set, compat, session)?),
            ("manager", Value::String(owner.manager)),
            ("operation", Value::String(owner.operation.as_str())),
        ];
        let mut line = format!("{} {} {}", owner.manager, owner.operation, owner.api_version);
        if !owner.subresource.is_empty() {
            entry.push(("subresource", Value::String(owner.subresource)));
            let _ = write!(line, " /{}", owner.subresource);
        }
        if let Some(time) = owner.time {
            let time: &'a str = arena.alloc_str(&time.to_string());
            entry.push(("time", Value::String(time)));
            let _ = write!(line, " {time}");
        }
        let json = set.to_json_as(compat).map_err(|error| unwritable(&error, session))?;
        lines.push(format!("{line} {json}"));
        owners.push(map(entry, session));
    }
    let parts = vec![("object", without_managed_fields(live, session)), ("owners", list(&owners, session))];
    Ok(Outcome { parts, lines })
}

fn without_managed_fields<'a>(object: Value<'a>, session: &Session<'a>) -> Value<'a> {
    let (Value::Map(map), Some(Value::Map(metadata))) = (object, object.get("metadata")) else { return object };
    let metadata = metadata.with("managedFields", None, session.arena);
    Value::Map(map.with("metadata", Some(Value::Map(metadata)), session.arena))
}

fn text<'a>(text: &str, session: &Session<'a>) -> Value<'a> {
    Value::String(session.arena.alloc_str(text))
}

fn list<'a>(items: &[Value<'a>], session: &Session<'a>) -> Value<'a> {
    Value::List(session.arena.alloc_slice_copy(items))
}

fn map<'a>(entries: Vec<(&'a str, Value<'a>)>, session: &Session<'a>) -> Value<'a> {
    Value::Map(Map::from_entries(entries, session.arena))
}

fn fields<'a>(set: Set<'a>, compat: Compat, session: &Session<'a>) -> Result<Value<'a>, Refused<'a>> {
    set.to_fields_v1_as(compat, session.arena).map_err(|error| unwritable(&error, session))
}

fn unwritable<'a>(error: &SetError, session: &Session<'a>) -> Refused<'a> {
    Refused::Error(session.arena.alloc_str(&error.message))
}

fn invalid<'a>(errors: &ValidationErrors, session: &Session<'a>) -> Refused<'a> {
    Refused::Error(session.arena.alloc_str(&errors.to_string()))
}

fn failed<'a>(error: &CompareError, session: &Session<'a>) -> Refused<'a> {
    Refused::Error(session.arena.alloc_str(&error.to_string()))
}
