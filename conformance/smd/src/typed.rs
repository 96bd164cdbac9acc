//! Calls of upstream's `typed` package.

use crate::read::schema_of;
use crate::{Schemas, Verdict, set_of};
use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::typed::{Comparison, Duplicates, KeyFields, Type, TypedValue, Types, ValidationErrors};
use kubeshape_smd::{Bump, ToValue as _, Value, schema};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value as Json, json};
use std::cell::OnceCell;

/// Replays one call.
pub fn compare(kind: &str, record: &Json, schemas: &Schemas) -> Verdict {
    let arena = Bump::new();
    let own = OnceCell::new();
    let replay = Replay { record, schemas, own: &own, arena: &arena };
    let verdict = match kind {
        "typed.fromYAML" => replay.yaml(),
        "typed.fromUnstructured" => Ok(replay.unstructured()),
        "typed.toFieldSet" => replay.to_field_set(),
        "typed.compare" => replay.compare(),
        "typed.merge" => replay.merge(),
        "typed.removeItems" => replay.remove_items(),
        "typed.extractItems" => replay.extract_items(),
        "typed.reconcile" => replay.reconcile(),
        "comparison.excludeFields" => replay.exclude_fields(),
        "typed" => replay.pair(),
        "validate" => replay.validate(),
        other => Ok(Verdict::Missing(format!("unknown kind {other:?}"))),
    };
    verdict.unwrap_or_else(Verdict::Missing)
}

/// The name of a type that a replay adds, whose only field has the type of a reference.
const OWN: &str = " own";

#[derive(Clone, Copy)]
struct Replay<'a> {
    record: &'a Json,
    schemas: &'a Schemas,
    /// The schema, with a type for a reference that does not name one.
    own: &'a OnceCell<Types>,
    arena: &'a Bump,
}

impl<'a> Replay<'a> {
    /// Returns the type of a reference, which may be inlined or name a type that does not exist.
    fn ty(self, schema_id: &Json, reference: &Json) -> Result<Type<'a>, String> {
        let plain = reference.as_object().is_none_or(|members| members.len() == 1);
        if let (true, Ok(ty)) = (plain, self.schemas.named(schema_id, reference)) {
            return Ok(ty);
        }
        if self.own.get().is_none() {
            let mut text = Vec::new();
            schema::print_json(self.schemas.types(schema_id)?.schema(), &mut text);
            let mut json: Json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
            let reference = reference.as_str().map_or_else(|| reference.clone(), |name| json!({"namedType": name}));
            let own = json!({"name": OWN, "map": {"fields": [{"name": "root", "type": reference}]}});
            let types = json.as_object_mut().ok_or("no schema")?.entry("types").or_insert_with(|| json!([]));
            types.as_array_mut().ok_or("no types")?.push(own);
            // The cell was empty just now, so this cannot fail.
            let _ = self.own.set(Types::new(schema_of(&json)?));
        }
        self.own.get().and_then(|types| types.named(OWN)?.field("root")).ok_or_else(|| "no type".to_owned())
    }

    /// Returns a recorded value in every form: unchecked, and checked if it is valid.
    fn typed(self, object: &'a Json) -> Result<Vec<TypedValue<'a>>, String> {
        let ty = self.ty(&object["schema"], &object["type"])?;
        Ok(self.forms(ty, object.get("value")))
    }

    fn forms(self, ty: Type<'a>, value: Option<&'a Json>) -> Vec<TypedValue<'a>> {
        let value = value.map(|value| value.to_value(self.arena));
        let mut forms = vec![TypedValue::unvalidated(value, ty)];
        for duplicates in [Duplicates::Allowed, Duplicates::Refused] {
            forms.extend(value.and_then(|value| ty.validate(value, duplicates).ok()));
        }
        forms
    }

    fn set(self, json: &'a Json) -> Result<Set<'a>, String> {
        set_of(json, self.arena)
    }

    fn yaml(self) -> Result<Verdict, String> {
        let source = self.record["yaml"].as_str().ok_or("no YAML")?;
        let mut tape = Tape::new();
        let read = Stream::new(source.as_bytes(), Limits::default()).map(|mut stream| stream.next(&mut tape));
        let root = match read {
            Ok(None | Some(Ok(()))) => tape.document(source).root(),
            Ok(Some(Err(error))) | Err(error) => return Ok(self.failed(&error.to_string())),
        };
        let value = root.map_or(Value::Null, |node| Value::from_node(node, self.arena));
        Ok(self.checked(value, self.record.get("value")))
    }

    fn unstructured(self) -> Verdict {
        self.checked(self.record["value"].to_value(self.arena), None)
    }

    fn failed(self, error: &str) -> Verdict {
        Verdict::of("fails", &self.record["error"].is_string(), &true).and(|| {
            if self.record["errors"].is_null() {
                Verdict::Equal
            } else {
                Verdict::Differing(format!("no value: {error}"))
            }
        })
    }

    fn checked(self, value: Value<'_>, expected: Option<&Json>) -> Verdict {
        let ty = match self.ty(&self.record["schema"], &self.record["type"]) {
            Ok(ty) => ty,
            Err(error) => return Verdict::Missing(error),
        };
        let duplicates = match self.record["allowDuplicates"] {
            Json::Bool(true) => Duplicates::Allowed,
            _ => Duplicates::Refused,
        };
        let arena = Bump::new();
        errors("errors", &self.record["errors"], ty.validate(value, duplicates).err().as_ref()).and(|| {
            Verdict::of("fails", &self.record["error"].is_string(), &ty.validate(value, duplicates).is_err())
                .and(|| expected.map_or(Verdict::Equal, |json| Verdict::of("value", &json.to_value(&arena), &value)))
        })
    }

    fn to_field_set(self) -> Result<Verdict, String> {
        let mut verdict = Verdict::Equal;
        for object in self.typed(&self.record["object"])? {
            let found = object.to_field_set(self.arena).map_err(|error| error.to_string());
            verdict =
                verdict.and(|| self.outcome("set", found, |found| self.same_set("set", &self.record["set"], found)));
        }
        Ok(verdict)
    }

    /// Compares the error, or else the result.
    fn outcome<T>(self, what: &str, found: Result<T, String>, result: impl FnOnce(T) -> Verdict) -> Verdict {
        match (self.record["error"].as_str(), found) {
            (None, Ok(found)) => result(found),
            // Upstream walks maps in random order.
            (Some(expected), Err(found)) => Verdict::of(what, &sorted_lines(expected), &sorted_lines(&found)),
            (Some(expected), Ok(_)) => Verdict::Differing(format!("{what}: no error, expected {expected:?}")),
            (None, Err(found)) => Verdict::Differing(format!("{what}: error {found:?}")),
        }
    }

    fn same_set(self, what: &str, expected: &'a Json, found: Set<'_>) -> Verdict {
        match self.set(expected) {
            Ok(expected) if expected == found => Verdict::Equal,
            Ok(expected) => Verdict::Differing(format!("{what}: expected\n{expected}\nfound\n{found}")),
            Err(error) => Verdict::Missing(error),
        }
    }

    fn same_comparison(self, expected: &'a Json, found: &Comparison<'_>) -> Verdict {
        self.same_set("added", &expected["added"], found.added)
            .and(|| self.same_set("modified", &expected["modified"], found.modified))
            .and(|| self.same_set("removed", &expected["removed"], found.removed))
    }

    fn compare(self) -> Result<Verdict, String> {
        let (lhs, rhs) = (self.typed(&self.record["lhs"])?, self.typed(&self.record["rhs"])?);
        Ok(both(&lhs, &rhs, |left, right| {
            let found = left.compare(right, self.arena).map_err(|error| error.to_string());
            self.outcome("compare", found, |found| self.same_comparison(&self.record["comparison"], &found))
        }))
    }

    fn merge(self) -> Result<Verdict, String> {
        let (lhs, rhs) = (self.typed(&self.record["lhs"])?, self.typed(&self.record["rhs"])?);
        let expected = self.record["result"].get("value");
        Ok(both(&lhs, &rhs, |left, right| {
            let found = left.merge(right, self.arena).map_err(|error| error.to_string());
            self.outcome("merge", found, |found| self.same_value("merge", expected, found))
        }))
    }

    fn same_value(self, what: &str, expected: Option<&'a Json>, found: TypedValue<'_>) -> Verdict {
        Verdict::of(what, &expected.map(|json| json.to_value(self.arena)), &found.value())
    }

    fn remove_items(self) -> Result<Verdict, String> {
        let set = self.set(&self.record["set"])?;
        let mut verdict = Verdict::Equal;
        for object in self.typed(&self.record["object"])? {
            let found = object.remove_items(set, self.arena);
            verdict = verdict.and(|| self.same_value("remove", self.record["result"].get("value"), found));
        }
        Ok(verdict)
    }

    fn extract_items(self) -> Result<Verdict, String> {
        let set = self.set(&self.record["set"])?;
        let keys = match self.record["appendKeyFields"] {
            Json::Bool(true) => KeyFields::Append,
            _ => KeyFields::AsOwned,
        };
        let mut verdict = Verdict::Equal;
        for object in self.typed(&self.record["object"])? {
            let found = object.extract_items(set, keys, self.arena);
            verdict = verdict.and(|| self.same_value("extract", self.record["result"].get("value"), found));
        }
        Ok(verdict)
    }

    fn reconcile(self) -> Result<Verdict, String> {
        let object = self.typed(&self.record["object"])?[0];
        let set = self.set(&self.record["set"])?;
        let found = object
            .reconcile(set, self.arena)
            .map_err(|errors| format!("errors reconciling field set with schema: {errors}"));
        Ok(self.outcome("reconcile", found, |found| {
            Verdict::of("changed", &self.record["changed"], &Json::Bool(found.is_some()))
                .and(|| found.map_or(Verdict::Equal, |found| self.same_set("set", &self.record["result"], found)))
        }))
    }

    fn exclude_fields(self) -> Result<Verdict, String> {
        let of = |name: &str| self.set(&self.record["comparison"][name]);
        let comparison = Comparison { removed: of("removed")?, modified: of("modified")?, added: of("added")? };
        let exclude = match &self.record["exclude"] {
            Json::Null => Set::EMPTY,
            json => self.set(json)?,
        };
        Ok(self.same_comparison(&self.record["result"], &comparison.exclude_fields(exclude, self.arena)))
    }

    /// Compares a generated pair of objects with upstream's results.
    fn pair(self) -> Result<Verdict, String> {
        let (record, arena) = (self.record, self.arena);
        let ty = self.ty(&record["schema"], &record["type"])?;
        let (lhs, rhs) = (self.forms(ty, record.get("lhs")), self.forms(ty, record.get("rhs")));
        let part = self.set(&record["part"])?;
        let field_set = |what: &str, side: TypedValue<'a>| match side.to_field_set(arena) {
            Ok(found) => self.same_set(what, &record[what], found),
            Err(errors) => Verdict::Differing(format!("{what}: {errors}")),
        };
        let value = |what: &str, found: TypedValue<'_>| self.same_value(what, Some(&record[what]), found);
        let verdict = both(&lhs, &rhs, |left, right| {
            field_set("lhsSet", left)
                .and(|| field_set("rhsSet", right))
                .and(|| match left.compare(right, arena) {
                    Ok(found) => self.same_comparison(&record["compare"], &found),
                    Err(error) => Verdict::Differing(format!("compare: {error}")),
                })
                .and(|| match left.merge(right, arena) {
                    Ok(found) => value("merge", found),
                    Err(error) => Verdict::Differing(format!("merge: {error}")),
                })
                .and(|| value("remove", left.remove_items(part, arena)))
                .and(|| value("extract", left.extract_items(part, KeyFields::AsOwned, arena)))
                .and(|| value("extractLeaves", left.extract_items(part.leaves(arena), KeyFields::AsOwned, arena)))
                .and(|| value("extractWithKeys", left.extract_items(part.leaves(arena), KeyFields::Append, arena)))
        });
        let (left, right) = (self.set(&record["lhsSet"])?, self.set(&record["rhsSet"])?);
        let sets = &record["sets"];
        Ok(verdict
            .and(|| self.same_set("union", &sets["union"], left.union(right, arena)))
            .and(|| self.same_set("intersection", &sets["intersection"], left.intersection(right, arena)))
            .and(|| self.same_set("difference", &sets["difference"], left.difference(right, arena)))
            .and(|| {
                let found = left.recursive_difference(part, arena);
                self.same_set("recursiveDifference", &sets["recursiveDifference"], found)
            })
            .and(|| self.same_set("leaves", &sets["leaves"], left.leaves(arena)))
            .and(|| {
                let found = part.ensure_named_fields_are_members(ty, arena);
                self.same_set("ensureNamedFields", &sets["ensureNamedFields"], found)
            })
            .and(|| Verdict::of("size", &sets["size"], &json!(left.len()))))
    }

    fn validate(self) -> Result<Verdict, String> {
        let record = self.record;
        let ty = self.ty(&record["schema"], &record["type"])?;
        let value = record["object"].to_value(self.arena);
        let strictly = ty.validate(value, Duplicates::Refused);
        let laxly = ty.validate(value, Duplicates::Allowed);
        let verdict = errors("errors", &record["errors"], strictly.as_ref().err())
            .and(|| errors("errorsWithDuplicates", &record["errorsWithDuplicates"], laxly.as_ref().err()));
        let Ok(typed) = laxly else { return Ok(verdict) };
        Ok(verdict.and(|| match (typed.to_field_set(self.arena), record.get("setErrors")) {
            (Ok(found), None) => self.same_set("set", &record["set"], found),
            (Err(found), Some(_)) => errors("setErrors", &record["setErrors"], Some(&found)),
            (found, expected) => Verdict::Differing(format!("set: expected {expected:?}, found {found:?}")),
        }))
    }
}

/// Runs with every form of both sides.
fn both<'a>(
    lhs: &[TypedValue<'a>],
    rhs: &[TypedValue<'a>],
    one: impl Fn(TypedValue<'a>, TypedValue<'a>) -> Verdict,
) -> Verdict {
    let mut verdict = Verdict::Equal;
    for left in lhs {
        for right in rhs {
            verdict = verdict.and(|| one(*left, *right));
        }
    }
    verdict
}

/// Compares the parts of an error, sorted.
fn errors(what: &str, expected: &Json, found: Option<&ValidationErrors>) -> Verdict {
    let mut expected: Vec<_> =
        expected.as_array().into_iter().flatten().filter_map(Json::as_str).map(up_to_got).collect();
    let found: Vec<String> = found.map_or_else(Vec::new, |found| found.0.iter().map(ToString::to_string).collect());
    let mut found: Vec<_> = found.iter().map(|text| up_to_got(text)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    Verdict::of(what, &expected, &found)
}

/// Returns the part before a value or a reference in Go's representation.
fn up_to_got(text: &str) -> &str {
    let end = [", got ", "could not resolve "].iter().find_map(|words| Some(text.find(words)? + words.len()));
    end.map_or(text, |end| &text[..end])
}

fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().map(up_to_got).collect();
    lines.sort_unstable();
    lines
}
