//! Area `objects-versions`: the responses of the request handlers of ten releases to the creation and update of custom
//! resources.

use crate::definition::with_definition;
use crate::golden;
use crate::known::Known;
use crate::structural::{CrdName, Expected, Files, add_errors, records};
use crate::table::{Table, Verdict};
use kubeshape_objects::store::{Limits, Saved, Store, Stored};
use kubeshape_objects::{Api, Moment, Reply, Request};
use kubeshape_registry::{Object, Registry, Settings, Time};
use kubeshape_schema::Bump;
use kubeshape_schema::field::Path as FieldPath;
use kubeshape_smd::{ToValue, Value as Tree};
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Defaults};
use kubeshape_validate::object::Rules;
use kubeshape_yaml::go::escape::GoQuoted;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The uid of stored objects.
const UID: &str = "00000000-0000-4000-8000-000000000001";
/// Their creation time.
const CREATED: &str = "2020-01-01T00:00:00Z";
/// The end of generated names in the records.
const GENERATED: &str = "XXXXX";
/// The maximum length of a recorded cause. Longer ones are recorded by their length only.
const LONGEST_TEXT: usize = 1000;
/// The maximum length of a recorded message. Longer ones are recorded by their length only.
const LONGEST_MESSAGE: usize = 3000;

/// A request: a case of `cr-cases`, or one of the cases that were written for this area.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: Value,
    crd: CrdName,
    version: String,
    #[serde(default)]
    object: Value,
    body: Option<String>,
    old: Option<Value>,
    #[serde(default)]
    status: bool,
    #[serde(default)]
    fill: usize,
    url_namespace: Option<String>,
    /// `cr-cases`: the case whose result is updated.
    update: Option<u64>,
    result: Option<Value>,
}

/// The answer of a release.
#[derive(Deserialize, Clone, Default)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    id: Value,
    crd: Option<CrdName>,
    strict: Option<String>,
    code: u16,
    reason: String,
    message: Option<String>,
    errors: Vec<Cause>,
    warnings: Vec<String>,
    cel_cost: Option<i64>,
    stored: Option<String>,
    #[serde(default)]
    unstable: bool,
    panic: Option<Value>,
    object: Option<Box<RawValue>>,
}

#[derive(Deserialize, Clone, Default)]
#[serde(rename_all = "camelCase", default)]
struct Cause {
    #[serde(rename = "type")]
    reason: String,
    field: String,
    text: Option<String>,
    text_bytes: usize,
    text_sha: String,
}

/// The record of a definition in a release.
#[derive(Deserialize)]
struct DefinitionLine {
    crd: Option<CrdName>,
    #[serde(default)]
    errors: Vec<Expected>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// Area `objects-versions`.
pub fn compare(golden: &Path, corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("objects-versions", known);
    let cases = cases(golden, corpus, &mut table);
    let mut by_version: BTreeMap<(&str, usize, &str), Vec<&Case>> = BTreeMap::new();
    for case in &cases {
        by_version.entry((&case.crd.file, case.crd.index, &case.version)).or_default().push(case);
    }
    let newest = answers(golden, Release::new(36), &mut table);
    let empty = table.like();
    let of_release = |release: Release| {
        let mut table = empty.like();
        let mut answers = newest.clone();
        answers.extend(self::answers(golden, Some(release), &mut table));
        let mut files = Files { corpus, read: BTreeMap::new() };
        definitions(golden, release, &mut files, &mut table);
        for ((file, index, version), cases) in &by_version {
            let definition = files.crd(file, *index).and_then(|source| served(&source, version));
            let Some(served) = definition.and_then(|definition| Served::of(&definition, version, release)) else {
                let label = format!("{file} {index} {version}");
                table.add("reading", &label, Verdict::Missing("no such version".to_owned()));
                continue;
            };
            for case in cases {
                if let Some(answer) = answers.get(&case.id.to_string()) {
                    served.compare(case, answer, &mut table);
                }
            }
        }
        table
    };
    let releases: Vec<Release> = Release::all().collect();
    let tables: Vec<Table> = releases.into_par_iter().map(of_release).collect();
    for of_release in tables {
        table.take(of_release);
    }
    table
}

/// Returns all requests.
fn cases(golden: &Path, corpus: &Path, table: &mut Table) -> Vec<Case> {
    let mut real: Vec<Case> = records(&golden.join("structural/cr-cases.ndjson.gz"), table);
    let stored = |case: &Case| case.result.clone().unwrap_or_else(|| case.object.clone());
    let results: BTreeMap<String, Value> = real.iter().map(|case| (case.id.to_string(), stored(case))).collect();
    for case in &mut real {
        case.old = case.update.and_then(|id| results.get(&id.to_string()).cloned());
    }
    real.extend(records::<Case>(&corpus.join("objects-versions/cases.ndjson"), table));
    real
}

/// Returns the recorded answers of a release to requests, by the id of the case. Answers that are the same in 1.36 are
/// left out.
fn answers(golden: &Path, release: Option<Release>, table: &mut Table) -> BTreeMap<String, Answer> {
    let Some(release) = release else { return BTreeMap::new() };
    let lines: Vec<Answer> = records(&recorded(golden, release), table);
    lines.into_iter().filter(|line| line.crd.is_none()).map(|line| (line.id.to_string(), line)).collect()
}

fn recorded(golden: &Path, release: Release) -> std::path::PathBuf {
    golden.join("objects-versions").join(format!("{release}.ndjson.gz"))
}

/// Compares the release's answers for the definitions that were written for this area.
fn definitions(golden: &Path, release: Release, files: &mut Files<'_>, table: &mut Table) {
    let mut lines = BTreeMap::new();
    for of in Release::new(36).into_iter().chain([release]) {
        for line in records::<DefinitionLine>(&recorded(golden, of), table) {
            if let Some(crd) = &line.crd {
                lines.insert((crd.file.clone(), crd.index), line);
            }
        }
    }
    for ((file, index), line) in lines {
        let label = format!("{file} {index}");
        let ours = files.crd(&file, index).and_then(|source| {
            with_definition(&source, Defaults::Set, |definition, arena| {
                let definition = definition.prepare_for_create(release, arena);
                let warnings = crd::warnings(&definition, release);
                (crd::validate(&definition, release), warnings.into_iter().map(|warning| warning.text).collect())
            })
        });
        let Some((errors, warnings)): Option<(_, Vec<String>)> = ours else {
            table.add("reading", &label, Verdict::Missing("no such definition".to_owned()));
            continue;
        };
        add_errors(&format!("{release} definitions"), &label, &errors, &line.errors, table);
        let verdict = crate::verdict::equal(&sorted(warnings), &sorted(line.warnings));
        table.add(&format!("{release} definitions warnings"), &label, verdict);
    }
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}

/// Returns the definition as it is served: with one version for storage, and without conversion.
fn served(source: &str, version: &str) -> Option<String> {
    let mut definition: Value = serde_json::from_str(source).ok()?;
    let spec = definition.get_mut("spec")?.as_object_mut()?;
    spec.remove("conversion");
    for found in spec.get_mut("versions").and_then(Value::as_array_mut).into_iter().flatten() {
        let is_stored = found["name"] == version;
        found["storage"] = is_stored.into();
        if is_stored {
            found["served"] = true.into();
        }
    }
    Some(definition.to_string())
}

/// A version of a definition as a release serves it.
struct Served {
    api: Api,
    /// `example.com/v1`
    api_version: String,
    kind: String,
    release: Release,
}

/// A case as a request.
struct Sent {
    path: String,
    method: &'static str,
    body: String,
    store: Store,
    /// The start of a generated name.
    generated: String,
}

impl Served {
    fn of(definition: &str, version: &str, release: Release) -> Option<Served> {
        let settings = Settings::of(release);
        let mut registry = Registry::new(settings);
        let limits = kubeshape_input::Limits::default();
        registry.set_input("definition", kubeshape_input::read("definition.json", definition.as_bytes(), limits));
        let kind = registry.kinds().find(|kind| kind.version_name() == version)?;
        let (api_version, kind) = (kind.api_version().to_owned(), kind.kind().to_owned());
        Some(Served { api: Api::new(registry), api_version, kind, release })
    }

    fn compare(&self, case: &Case, answer: &Answer, table: &mut Table) {
        let label = format!("{} {}", case.crd.file, case.id);
        let row = |what: &str| format!("{} {what}", self.release);
        let mut add = |what: &str, verdict| table.add(&row(what), &label, verdict);
        let Some(sent) = self.sent(case) else {
            return add("requests", Verdict::Missing("the request cannot be made".to_owned()));
        };
        if sent.path.ends_with('/') || sent.path.contains("//") {
            // Without a name, a client cannot send this request: the recorder calls the handler itself.
            return;
        }
        if answer.panic.is_some() {
            // Upstream crashed, so there is no answer to compare.
            return;
        }
        let strict = self.answer(&sent, "Strict");
        let (reply, stored) = match (&answer.strict, strict) {
            (Some(message), Some((reply, _))) => {
                add("strict", crate::verdict::equal(&message_of(&reply, &sent).as_deref(), &Some(message.as_str())));
                match self.answer(&sent, "Ignore") {
                    Some(answer) => answer,
                    None => return add("requests", Verdict::Missing("not served".to_owned())),
                }
            }
            (None, Some(answer)) => answer,
            (_, None) => return add("requests", Verdict::Missing("not served".to_owned())),
        };
        let status: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let accepted = |code: u16| code < 300;
        add("verdict", crate::verdict::equal(&accepted(reply.code), &accepted(answer.code)));
        if answer.unstable || accepted(reply.code) != accepted(answer.code) {
            if accepted(answer.code) {
                table.append_to_differences(&format!("    {}\n", reply.text().chars().take(600).collect::<String>()));
            }
            return;
        }
        let ours = (reply.code, status["reason"].as_str().unwrap_or_default());
        if accepted(answer.code) {
            add("code", crate::verdict::equal(&reply.code, &answer.code));
            if let Some(hash) = &answer.stored {
                add("stored", compare_stored(&stored, hash, &sent, answer));
            }
        } else {
            add("code", crate::verdict::equal(&ours, &(answer.code, answer.reason.as_str())));
            if answer.code == 422 {
                add("errors", compare_causes(&status, answer, &sent));
            } else if let Some(message) = &answer.message {
                add("messages", compare_message(&message_of(&reply, &sent).unwrap_or_default(), message));
            }
        }
        let warnings = sorted(reply.warnings.clone());
        add("warnings", crate::verdict::equal(&warnings, &answer.warnings));
        if let Some(cost) = answer.cel_cost {
            add("costs", self.compare_cost(case, cost));
        }
    }

    /// Returns the request of a case, and the objects that are stored before it.
    fn sent(&self, case: &Case) -> Option<Sent> {
        let fill = "x".repeat(case.fill);
        let filled = |text: String| text.replace("@FILL@", &fill);
        let object: Value = serde_json::from_str(&filled(case.object.to_string())).ok()?;
        let named = case.old.as_ref().unwrap_or(&object)["metadata"]["namespace"].as_str();
        let namespace = named.filter(|name| is_label(name)).unwrap_or("default");
        let namespace = case.url_namespace.as_deref().unwrap_or(namespace);
        let collection = self.api.path_of(&self.api_version, &self.kind, namespace)?;
        // The records have no storage with a limit.
        let limits = Limits { object: usize::MAX, ..Limits::default() };
        let mut store = Store::new(limits);
        let meta = &object["metadata"];
        let has_name = meta["name"].as_str().is_some_and(|name| !name.is_empty());
        let generated = meta["generateName"].as_str().filter(|_| !has_name).unwrap_or_default().to_owned();
        let Some(old) = &case.old else {
            let body = case.body.clone().map_or_else(|| object.to_string(), filled);
            return Some(Sent { path: collection, method: "POST", body, store, generated });
        };
        let mut old: Value = serde_json::from_str(&filled(old.to_string())).ok()?;
        let meta = members(&mut old)?;
        meta.insert("resourceVersion".to_owned(), "1".into());
        let is_namespaced = collection.contains("/namespaces/");
        for (key, value) in [
            ("uid", json!(UID)),
            ("creationTimestamp", json!(CREATED)),
            ("generation", json!(1)),
            ("namespace", json!("default")),
        ] {
            if key != "namespace" || is_namespaced {
                meta.entry(key).or_insert(value);
            }
        }
        if !is_namespaced {
            meta.remove("namespace");
        }
        let name = meta.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let stored = Object::read("old", old.to_string()).ok()?;
        let text = format!("{}\n", go_json(&old));
        let objects = vec![(self.api.key_of(&stored)?, Stored::new(1, text.into()).into())];
        store = Store::restore(limits, Saved { revision: 1, forgotten: 1, objects, ..Saved::default() });
        let suffix = if case.status { "/status" } else { "" };
        let body = if let Some(body) = &case.body {
            filled(body.clone())
        } else {
            let mut object = object;
            match members(&mut object) {
                Some(meta) if !meta.contains_key("resourceVersion") => {
                    meta.insert("resourceVersion".to_owned(), "1".into());
                    go_json(&object)
                }
                _ => object.to_string(),
            }
        };
        Some(Sent { path: format!("{collection}/{name}{suffix}"), method: "PUT", body, store, generated })
    }

    /// Returns the reply to a request, and the object that is stored afterwards.
    fn answer(&self, sent: &Sent, validation: &str) -> Option<(Reply, String)> {
        let query = format!("fieldValidation={validation}");
        let request = Request {
            method: sent.method,
            path: &sent.path,
            query: &query,
            content_type: "application/json",
            accept: "application/json",
            body: sent.body.as_bytes(),
            ..Request::default()
        };
        let moment = Moment { now: Time::parse(CREATED)?, uid: UID, ..Moment::default() };
        let mut store = sent.store.clone();
        let reply = self.api.answer(&mut store, &request, &moment)?;
        let stored = store.objects().next().map(|(_, object)| object.text().to_owned()).unwrap_or_default();
        Some((reply, stored))
    }

    fn requests(&self) -> Option<kubeshape_registry::Requests> {
        self.api.registry().kinds().find(|kind| kind.api_version() == self.api_version)?.requests()
    }

    /// Compares the cost of the rules when the object is created.
    fn compare_cost(&self, case: &Case, cost: i64) -> Verdict {
        let Some(requests) = self.requests() else { return Verdict::Missing("no such kind".to_owned()) };
        let resource = requests.resource();
        let Some(rules) = &resource.rules else { return Verdict::Missing("no rules".to_owned()) };
        let arena = Bump::new();
        let fill = case.object.to_string().replace("@FILL@", &"x".repeat(case.fill));
        let Ok(object) = serde_json::from_str::<Value>(&fill) else { return Verdict::Missing("no object".to_owned()) };
        let Ok(decoded) = resource.decode(arena.alloc::<Value>(object).to_value(&arena), &arena) else {
            return Verdict::Differing("not decoded".to_owned());
        };
        let created = resource.prepare_create(decoded.value, &arena);
        let outcome = rules.check(created, &FieldPath::Root, Rules::BUDGET);
        crate::verdict::equal(&(Rules::BUDGET - outcome.remaining_budget), &cost)
    }
}

/// Returns an object as Go prints it, which prints floats with integral values as integers.
fn go_json(object: &Value) -> String {
    let (arena, mut out) = (Bump::new(), Vec::new());
    object.to_value(&arena).write_go_json(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the metadata of an object.
fn members(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object.as_object_mut()?.entry("metadata").or_insert(json!({})).as_object_mut()
}

/// Returns whether a namespace is allowed in a URL.
fn is_label(name: &str) -> bool {
    kubeshape_validate::names::dns1123_label(name).is_empty()
}

/// Returns a reply with the recorded end of generated names.
fn normal(text: &str, sent: &Sent) -> String {
    let mut out = text.to_owned();
    if sent.generated.is_empty() {
        return out;
    }
    // A long prefix is truncated before the end is added.
    let quoted = GoQuoted(&sent.generated).to_string();
    for prefix in [sent.generated.as_str(), quoted.trim_matches('"')] {
        replace_end(&mut out, prefix);
    }
    out
}

/// Replaces the random end of generated names with this prefix.
fn replace_end(out: &mut String, prefix: &str) {
    let start: String = prefix.chars().take(5).collect();
    let text = out.clone();
    let ends = text.match_indices(&start).map(|(at, _)| at).collect::<Vec<_>>();
    for at in ends {
        let prefix = prefix.bytes().zip(text.bytes().skip(at)).take_while(|(a, b)| a == b).count();
        let end = at + prefix;
        if let (Some(random), true) = (text.get(end..end + GENERATED.len()), out.len() == text.len())
            && random.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        {
            out.replace_range(end..end + GENERATED.len(), GENERATED);
        }
    }
}

fn message_of(reply: &Reply, sent: &Sent) -> Option<String> {
    let status: Value = serde_json::from_slice(&reply.body).ok()?;
    status["message"].as_str().map(|message| normal(message, sent))
}

fn compare_message(ours: &str, theirs: &str) -> Verdict {
    if ours.len() > LONGEST_MESSAGE && theirs.starts_with(&format!("{} bytes, sha256 ", ours.len())) {
        return Verdict::Equal;
    }
    crate::verdict::equal(&ours, &theirs)
}

/// Compares the causes of a status.
fn compare_causes(status: &Value, answer: &Answer, sent: &Sent) -> Verdict {
    let text = |cause: &Value, key: &str| normal(cause[key].as_str().unwrap_or_default(), sent);
    let causes = status.pointer("/details/causes").and_then(Value::as_array);
    let shown = |reason: &str, field: &str, text: String| {
        let text = if text.len() > LONGEST_TEXT {
            format!("{} bytes, {}", text.len(), &golden::sha256(text.as_bytes())[..16])
        } else {
            text
        };
        format!("{reason} {field} {text}")
    };
    let ours = causes.into_iter().flatten();
    let ours = ours.map(|cause| shown(&text(cause, "reason"), &text(cause, "field"), text(cause, "message")));
    let theirs = answer.errors.iter().map(|cause| match &cause.text {
        Some(text) => shown(&cause.reason, &cause.field, text.clone()),
        None => format!("{} {} {} bytes, {}", cause.reason, cause.field, cause.text_bytes, cause.text_sha),
    });
    let (mut ours, mut theirs) = (sorted(ours.collect::<Vec<_>>()), sorted(theirs.collect::<Vec<_>>()));
    if ours == theirs {
        return Verdict::Equal;
    }
    let counts = (ours.len(), theirs.len());
    let all = theirs.clone();
    theirs.retain(|cause| !ours.contains(cause));
    ours.retain(|cause| !all.contains(cause));
    let cut = |causes: &[String]| causes.iter().map(|cause| cause.chars().take(400).collect()).collect::<Vec<String>>();
    Verdict::Differing(format!("{counts:?} ours only {:?}, theirs only {:?}", cut(&ours), cut(&theirs)))
}

/// Compares a stored object by its hash.
fn compare_stored(stored: &str, hash: &str, sent: &Sent, answer: &Answer) -> Verdict {
    let Ok(object) = Object::read("stored", stored) else {
        return Verdict::Differing("nothing is stored".to_owned());
    };
    let arena = Bump::new();
    let object = object.to_value(&arena);
    let Tree::Map(map) = object else { return Verdict::Differing(stored.to_owned()) };
    let mut meta = object.get("metadata").unwrap_or(Tree::Null);
    let left_out: &[&str] = if sent.method == "POST" {
        &["managedFields", "uid", "creationTimestamp", "resourceVersion"]
    } else {
        &["managedFields", "resourceVersion"]
    };
    for key in left_out {
        if let Tree::Map(map) = meta {
            meta = Tree::Map(map.with(key, None, &arena));
        }
    }
    let map = map.with("metadata", Some(meta), &arena);
    let Some(json) = compare_hash(Tree::Map(map), hash, sent) else { return Verdict::Equal };
    // When an object is read, a dropped status gets its defaults; the records have the written object.
    let is_created = sent.method == "POST" && map.get("status").is_some();
    if is_created && compare_hash(Tree::Map(map.with("status", None, &arena)), hash, sent).is_none() {
        return Verdict::Equal;
    }
    let theirs = answer.object.as_ref().map(ToString::to_string).unwrap_or_default();
    Verdict::Differing(format!("{json}, theirs {theirs}"))
}

/// Returns the JSON of an object, unless it has the recorded hash.
fn compare_hash(object: Tree<'_>, hash: &str, sent: &Sent) -> Option<String> {
    let mut json = Vec::new();
    object.write_go_json(&mut json);
    let json = String::from_utf8_lossy(&json);
    let json = json.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&");
    let json = normal(json.trim_end(), sent);
    (!golden::sha256(json.as_bytes()).starts_with(hash)).then_some(json)
}
