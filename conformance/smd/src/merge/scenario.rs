//! Upstream's table tests: operations on one object, one after the other.

use super::converter::{Conversion, Parser};
use super::{BOTH_SET, call, conflicts_of, same_managers, same_object, text, updater_of, yaml_of};
use crate::{Schemas, Verdict, typed_value_of};
use kubeshape_smd::fieldpath::{ManagedFields, Set};
use kubeshape_smd::merge::{Converter as _, Error, Outcome, Updater};
use kubeshape_smd::typed::{Duplicates, KeyFields, TypedValue};
use kubeshape_smd::{Bump, Value};
use serde_json::{Value as Json, json};

/// Replays a scenario, and every call of the updater in it separately.
pub(super) fn replay(record: &Json, schemas: &Schemas, arena: &Bump) -> Verdict {
    let parser = match Parser::new(&record["parser"], schemas) {
        Ok(parser) => parser,
        Err(error) => return Verdict::Missing(error),
    };
    let conversion = Conversion::named(text(&record["converter"]), parser);
    let updater = conversion.and_then(|conversion| updater_of(&record["options"], conversion, arena));
    let updater = match updater {
        Ok(Some(updater)) => updater,
        Ok(None) => return both_set(record),
        Err(error) => return Verdict::Missing(error),
    };
    let mut state = State { updater: &updater, parser, schemas, arena, live: None, managers: ManagedFields::new() };
    for (at, op) in record["ops"].as_array().into_iter().flatten().enumerate() {
        let verdict = state.step(op).unwrap_or_else(Verdict::Missing);
        match verdict {
            Verdict::Equal => {}
            Verdict::Differing(text) => return Verdict::Differing(format!("op {at}: {text}")),
            Verdict::Missing(text) => return Verdict::Missing(format!("op {at}: {text}")),
        }
    }
    state.end(&record["expect"]).unwrap_or_else(Verdict::Missing)
}

/// Options that contradict each other fail the first operation.
fn both_set(record: &Json) -> Verdict {
    Verdict::of("error", &json!(BOTH_SET), &record["ops"][0]["error"])
}

/// The object and its managers, between two operations.
struct State<'a> {
    updater: &'a Updater<'a, Conversion<'a>>,
    parser: Parser<'a>,
    schemas: &'a Schemas,
    arena: &'a Bump,
    live: Option<TypedValue<'a>>,
    managers: ManagedFields<'a>,
}

/// Why an operation failed: a call of the updater, or anything before it.
enum Failure<'a> {
    Updater(Error<'a>),
    Text(String),
}

impl<T: std::error::Error> From<T> for Failure<'_> {
    fn from(error: T) -> Self {
        Failure::Text(error.to_string())
    }
}

impl<'a> State<'a> {
    fn step(&mut self, op: &'a Json) -> Result<Verdict, String> {
        let answer = self.run(op);
        let mut verdict = match answer {
            Ok(()) => Verdict::of("error", &op["error"], &Json::Null),
            // Expected conflicts are not an error of the operation.
            Err(Failure::Updater(error)) if op["error"].is_null() && !op["expectConflicts"].is_null() => {
                let last = op["calls"].as_array().and_then(|calls| calls.last()).unwrap_or(&Json::Null);
                Verdict::of("conflicts", &last["error"], &json!(error.to_string()))
                    .and(|| Verdict::of("is a conflict", &true, &!conflicts_of(&error).is_null()))
            }
            Err(Failure::Updater(error)) => Verdict::of("error", &op["error"], &json!(error.to_string())),
            Err(Failure::Text(error)) => Verdict::of("error", &op["error"], &json!(error)),
        };
        for recorded in op["calls"].as_array().into_iter().flatten() {
            if verdict == Verdict::Equal {
                verdict = call(self.updater, recorded, self.schemas, self.arena)?;
            }
            let conversions = Conversion::recorded(&recorded["conversions"], self.schemas, self.arena)?;
            verdict = verdict.and(|| self.updater.converter.agrees(&conversions, self.arena));
        }
        let live = match &op["liveAfter"] {
            Json::Null => None,
            live => Some(typed_value_of(live, self.schemas, self.arena)?),
        };
        Ok(verdict
            .and(|| same_object("live", live, self.live))
            .and(|| same_managers("managers", &op["managersAfter"], &self.managers)))
    }

    fn run(&mut self, op: &'a Json) -> Result<(), Failure<'a>> {
        let (version, manager) = (text(&op["version"]), text(&op["manager"]));
        match text(&op["op"]) {
            "Apply" => self.apply(self.object(op, Duplicates::Refused)?, version, manager, false),
            "ForceApply" => self.apply(self.object(op, Duplicates::Refused)?, version, manager, true),
            "ExtractApply" => {
                let object = self.object(op, Duplicates::Refused)?;
                let object = match self.live {
                    Some(live) => {
                        let live = self.updater.converter.convert(live, version, self.arena)?;
                        let owned = self.managers.get(manager).map_or(Set::EMPTY, |fields| fields.set);
                        let owned = owned.leaves(self.arena);
                        live.extract_items(owned, KeyFields::AsOwned, self.arena).merge(object, self.arena)?
                    }
                    None => object,
                };
                self.apply(object, version, manager, true)
            }
            "Update" => {
                let object = self.object(op, Duplicates::Allowed)?;
                let live = self.start(version)?;
                let managers = self.managers.clone();
                let outcome = self.updater.update(live, object, version, managers, manager, self.arena);
                self.accept(outcome.map_err(Failure::Updater)?);
                Ok(())
            }
            "ChangeParser" => {
                let old = self.parser;
                self.parser = Parser::new(&op["parser"], self.schemas).map_err(Failure::Text)?;
                if let Some(live) = self.live {
                    let ty = self.parser.ty(old.name(live.ty()).unwrap_or_default()).map_err(Failure::Text)?;
                    self.live = Some(ty.validate(live.value().unwrap_or(Value::Null), Duplicates::Refused)?);
                }
                Ok(())
            }
            other => Err(Failure::Text(format!("unknown operation {other:?}"))),
        }
    }

    fn object(&self, op: &'a Json, duplicates: Duplicates) -> Result<TypedValue<'a>, Failure<'a>> {
        if let Some(source) = op["yaml"].as_str() {
            let ty = self.parser.ty(text(&op["version"])).map_err(Failure::Text)?;
            return Ok(ty.validate(yaml_of(source, self.arena).map_err(Failure::Text)?, duplicates)?);
        }
        typed_value_of(&op["object"], self.schemas, self.arena).map_err(Failure::Text)
    }

    /// Returns the live object at a version. It exists from the first operation on.
    fn start(&mut self, version: &str) -> Result<TypedValue<'a>, Failure<'a>> {
        let live = match self.live {
            Some(live) => live,
            None => TypedValue::unvalidated(Some(Value::Null), self.parser.ty(version).map_err(Failure::Text)?),
        };
        let live = self.updater.converter.convert(live, version, self.arena)?;
        self.live = Some(live);
        Ok(live)
    }

    fn apply(
        &mut self,
        object: TypedValue<'a>,
        version: &'a str,
        manager: &'a str,
        force: bool,
    ) -> Result<(), Failure<'a>> {
        let live = self.start(version)?;
        let managers = self.managers.clone();
        let outcome = self.updater.apply(live, object, version, managers, manager, force, self.arena);
        self.accept(outcome.map_err(Failure::Updater)?);
        Ok(())
    }

    fn accept(&mut self, outcome: Outcome<'a>) {
        self.managers = outcome.managers;
        self.live = outcome.object.or(self.live);
    }

    /// Compares what the test itself expects. It does not compare whether a manager applied.
    fn end(&self, expect: &Json) -> Result<Verdict, String> {
        let mut verdict = Verdict::Equal;
        if let (Some(source), Some(live)) = (expect["yaml"].as_str(), self.live) {
            let expected = yaml_of(source, self.arena)?;
            let version = text(&expect["version"]);
            let live = self.updater.converter.convert(live, version, self.arena).map_err(|error| error.to_string())?;
            let expected = TypedValue::unvalidated(Some(expected), live.ty());
            verdict = same_object("expected object", Some(expected), Some(live));
        }
        for (name, fields) in expect["managers"].as_object().into_iter().flatten() {
            let found = self.managers.get(name);
            let found = found.and_then(|fields| Some((fields.api_version, fields.set.to_json().ok()?)));
            let found =
                found.and_then(|(version, set)| Some(json!([version, serde_json::from_str::<Json>(&set).ok()?])));
            let expected = json!([fields["apiVersion"], fields["set"]]);
            verdict = verdict.and(|| Verdict::of("expected managers", &expected, &found.unwrap_or(Json::Null)));
        }
        Ok(verdict)
    }
}
