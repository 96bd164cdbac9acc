//! Calls of upstream's `fieldpath` package.

use crate::{Schemas, Verdict, set_of};
use kubeshape_smd::fieldpath::{
    DisplayPath, ElementError, ElementMatcher, Filter, ManagedFields, Matcher, PathElement, Set, SetBuilder,
    VersionedSet,
};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue as _};
use serde_json::Value as Json;
use std::cmp::Ordering;

/// Replays one call.
pub fn compare(kind: &str, record: &Json, schemas: &Schemas) -> Verdict {
    replay(kind, record, schemas, &Bump::new()).unwrap_or_else(Verdict::Missing)
}

fn replay(kind: &str, record: &Json, schemas: &Schemas, arena: &Bump) -> Result<Verdict, String> {
    let set = |name: &str| set_of(arena.alloc(record[name].clone()), arena);
    let result = |found: Set<'_>| Ok(Verdict::of("result", &text(set("result")?), &text(found)));
    match kind {
        "set.fromJSON" => from_json(record, schemas.compat, arena),
        "set.toJSON" => {
            let mut builder = SetBuilder::new(arena);
            for path in list(&record["members"]) {
                builder.insert(&path_of(path, arena)?);
            }
            Ok(Verdict::of("output", &record["output"].as_str().map(str::to_owned), &text(builder.finish())))
        }
        "set.union" => result(set("lhs")?.union(set("rhs")?, arena)),
        "set.intersection" => result(set("lhs")?.intersection(set("rhs")?, arena)),
        "set.difference" => result(set("lhs")?.difference(set("rhs")?, arena)),
        "set.recursiveDifference" => result(set("lhs")?.recursive_difference(set("rhs")?, arena)),
        "set.leaves" => result(set("set")?.leaves(arena)),
        "set.ensureNamedFieldsAreMembers" => {
            let ty = schemas.named(&record["schema"], &record["type"])?;
            result(set("set")?.ensure_named_fields_are_members(ty, arena))
        }
        "set.filter" => result(filter_of(&record["filter"], arena)?.filter(set("set")?, arena)),
        "set.filterIncludeMatches" => {
            result(Filter::Include(matcher_of(&record["pattern"], arena)?).filter(set("set")?, arena))
        }
        "set.fromValue" => result(Set::from_value(record["value"].to_value(arena), arena)),
        "set.has" => {
            let has = set("set")?.has(&path_of(&record["path"], arena)?);
            Ok(Verdict::of("has", &record["has"].as_bool(), &Some(has)))
        }
        "set.size" => Ok(Verdict::of("size", &record["size"].as_u64(), &Some(set("set")?.len() as u64))),
        "set.string" => Ok(Verdict::of("text", &record["output"].as_str(), &Some(&*set("set")?.to_string()))),
        "set.equals" => Ok(Verdict::of("equal", &record["equal"].as_bool(), &Some(set("lhs")? == set("rhs")?))),
        "set.iterate" => {
            let expected = list(&record["paths"]).map(|path| path_of(path, arena)).collect::<Result<Vec<_>, _>>()?;
            Ok(Verdict::of("paths", &expected, &set("set")?.iter().collect()))
        }
        "element.serialize" => {
            let element = element_of(&record["output"], arena)?;
            match record["error"].as_str() {
                Some(expected) => {
                    let failed = element.write(&mut Vec::new()).map_err(|error| error.to_string());
                    Ok(Verdict::of("error", &Err(expected.to_owned()), &failed))
                }
                None => Ok(written(record, "output", element)),
            }
        }
        "element.deserialize" => Ok(deserialize(record, arena)),
        "element.less" => {
            let less = element_of(&record["lhs"], arena)? < element_of(&record["rhs"], arena)?;
            Ok(Verdict::of("less", &record["less"].as_bool(), &Some(less)))
        }
        "path.string" => {
            let path = path_of(&record["path"], arena)?;
            Ok(Verdict::of("text", &record["output"].as_str(), &Some(&*DisplayPath(&path).to_string())))
        }
        "managers.equals" => {
            let equal = managers_of(&record["lhs"], arena)? == managers_of(&record["rhs"], arena)?;
            Ok(Verdict::of("equal", &record["equal"].as_bool(), &Some(equal)))
        }
        "managers.difference" => {
            let rhs = managers_of(&record["rhs"], arena)?;
            let found = managers_of(&record["lhs"], arena)?.difference(&rhs, arena);
            Ok(Verdict::of("result", &managers_of(&record["result"], arena)?, &found))
        }
        "sets" => pair(record, schemas.compat, arena),
        _ => Err(format!("unknown kind {kind:?}")),
    }
}

/// Compares a pair of sets, and all operations on them.
fn pair(record: &Json, compat: Compat, arena: &Bump) -> Result<Verdict, String> {
    let (lhs, rhs) = (set_of(&record["lhs"], arena)?, set_of(&record["rhs"], arena)?);
    let mut verdict = Verdict::Equal;
    for (name, found) in [
        ("lhs", lhs),
        ("rhs", rhs),
        ("union", lhs.union(rhs, arena)),
        ("intersection", lhs.intersection(rhs, arena)),
        ("difference", lhs.difference(rhs, arena)),
        ("recursiveDifference", lhs.recursive_difference(rhs, arena)),
        ("leaves", lhs.leaves(arena)),
    ] {
        verdict = verdict
            .and(|| Verdict::of(name, &record[name].as_str().map(str::to_owned), &found.to_json_as(compat).ok()));
    }
    verdict = verdict
        .and(|| Verdict::of("equal", &record["equal"].as_bool(), &Some(lhs == rhs)))
        .and(|| Verdict::of("empty", &record["empty"].as_bool(), &Some(lhs.is_empty())))
        .and(|| Verdict::of("size", &record["size"].as_u64(), &Some(lhs.len() as u64)))
        .and(|| Verdict::of("string", &record["string"].as_str(), &Some(&*lhs.to_string())));
    let mut paths = lhs.iter();
    for expected in list(&record["paths"]) {
        let path = path_of(&expected["elements"], arena)?;
        let found = paths.advance().unwrap_or_default();
        verdict = verdict
            .and(|| Verdict::of("path", &*path, found))
            .and(|| Verdict::of("path text", &expected["string"].as_str(), &Some(&*DisplayPath(found).to_string())));
    }
    if paths.advance().is_some() {
        verdict = verdict.and(|| Verdict::Differing("more paths than expected".to_owned()));
    }
    for probe in list(&record["probes"]) {
        let path = path_of(&probe["elements"], arena)?;
        verdict = verdict.and(|| Verdict::of("has", &probe["has"].as_bool(), &Some(lhs.has(&path))));
    }
    for order in list(&record["elementOrder"]) {
        let (a, b) = (element_of(&order["lhs"], arena)?, element_of(&order["rhs"], arena)?);
        let found = match a.cmp(&b) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        };
        verdict = verdict.and(|| Verdict::of("order", &order["order"].as_i64(), &Some(found)));
    }
    Ok(verdict)
}

fn from_json(record: &Json, compat: Compat, arena: &Bump) -> Result<Verdict, String> {
    let read = Set::read_json_as(record["input"].as_str().unwrap_or_default().as_bytes(), compat, arena);
    Ok(match (read, record["error"].as_str()) {
        (Ok(found), None) => Verdict::of("set", &text(set_of(&record["set"], arena)?), &text(found)),
        (Err(_), Some(_)) => Verdict::Equal,
        (Ok(found), Some(error)) => Verdict::Differing(format!("expected {error}, found {found}")),
        (Err(error), None) => Verdict::Differing(format!("unexpected error: {error}")),
    })
}

fn deserialize(record: &Json, arena: &Bump) -> Verdict {
    let input = record["input"].as_str().unwrap_or_default();
    match (PathElement::parse(input, arena), record["error"].as_str()) {
        (Ok(found), None) => written(record, "element", found),
        (Ok(found), Some(error)) => Verdict::Differing(format!("expected {error}, found {found}")),
        (Err(error), None) => Verdict::Differing(format!("unexpected error: {error}")),
        (Err(ElementError::Content(_)), Some(_)) => Verdict::of("unknown", &record["unknown"].as_bool(), &Some(false)),
        (Err(error), Some(expected)) => Verdict::of("error", expected, &error.to_string()).and(|| {
            Verdict::of("unknown", &record["unknown"].as_bool(), &Some(matches!(error, ElementError::Unknown)))
        }),
    }
}

/// Compares both forms of an element: the serialized form, which is the record's member with this name, and the
/// displayed form.
fn written(record: &Json, name: &str, element: PathElement<'_>) -> Verdict {
    let mut out = Vec::new();
    if let Err(error) = element.write(&mut out) {
        return Verdict::Differing(error.to_string());
    }
    Verdict::of(name, &record[name].as_str(), &Some(&*String::from_utf8_lossy(&out)))
        .and(|| Verdict::of("text", &record["string"].as_str(), &Some(&*element.to_string())))
}

fn text(set: Set<'_>) -> Option<String> {
    set.to_json().ok()
}

fn list(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().into_iter().flatten()
}

/// Reads an element. If it cannot be written, the record has null.
fn element_of<'a>(json: &'a Json, arena: &'a Bump) -> Result<PathElement<'a>, String> {
    let Some(text) = json.as_str() else { return Ok(PathElement::Nameless) };
    PathElement::parse(text, arena).map_err(|error| error.to_string())
}

fn path_of<'a>(json: &'a Json, arena: &'a Bump) -> Result<Vec<PathElement<'a>>, String> {
    list(json).map(|element| element_of(element, arena)).collect()
}

/// Reads a recorded filter: the set it excludes, or the pattern it includes.
///
/// # Errors
/// An element cannot be read.
pub fn filter_of<'a>(json: &'a Json, arena: &'a Bump) -> Result<Filter<'a>, String> {
    match json.get("exclude") {
        Some(Json::Null) => Ok(Filter::Exclude(Set::EMPTY)),
        Some(set) => set_of(set, arena).map(Filter::Exclude),
        None => matcher_of(&json["include"], arena).map(Filter::Include),
    }
}

fn matcher_of<'a>(json: &'a Json, arena: &'a Bump) -> Result<Matcher<'a>, String> {
    if json.as_str() == Some("**") {
        return Ok(Matcher::Wildcard);
    }
    let entries = list(json).map(|entry| {
        let element = match entry["element"].as_str() {
            Some("*") => ElementMatcher::Any,
            _ => ElementMatcher::Is(element_of(&entry["element"], arena)?),
        };
        Ok((element, matcher_of(&entry["child"], arena)?))
    });
    entries.collect::<Result<Vec<_>, String>>().map(Matcher::Members)
}

/// Reads managers and the fields that they own.
///
/// # Errors
/// A set cannot be read.
pub fn managers_of<'a>(json: &'a Json, arena: &'a Bump) -> Result<ManagedFields<'a>, String> {
    let mut managers = ManagedFields::new();
    for (name, fields) in json.as_object().into_iter().flatten() {
        let set = set_of(&fields["set"], arena)?;
        let api_version = fields["apiVersion"].as_str().unwrap_or_default();
        let applied = fields["applied"].as_bool().unwrap_or_default();
        managers.insert(name, VersionedSet { set, api_version, applied });
    }
    Ok(managers)
}
