//! Requests with objects of built-in kinds, compared with kube-apiserver's own code (area `builtins`).
//!
//! An answer that is not checked here counts as missing, never as equal. Examples are a rejected object that we accept
//! because a rule is unknown, and warnings that we do not produce.

use crate::constraints::Published;
use crate::golden;
use crate::known::Known;
use crate::structural::records;
use crate::table::{Table, Verdict};
use crate::typed::built_in;
use kubeshape_registry::kind::Scope;
use kubeshape_registry::{Gvk, Registry, duplicate_fields};
use kubeshape_schema::Bump;
use kubeshape_schema::field::{BadValue, Error};
use kubeshape_smd::Value as Decodable;
use kubeshape_validate::Release;
use kubeshape_validate::body::{self, Conflict, Url};
use kubeshape_validate::builtin::{Assigned, Share, Strategy, User};
use kubeshape_validate::object::Judged;
use kubeshape_validate::strict::{Fields, duplicate_field, unknown_field};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The folder of the answers.
pub(crate) const FOLDER: &str = "builtins/1.36";
/// The version of objects that are already stored.
const VERSION: &str = "1";

/// A request and its answer.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) subresource: Option<String>,
    pub(crate) old: Option<Box<RawValue>>,
    pub(crate) object: Option<Box<RawValue>>,
    body: Option<String>,
    pub(crate) answer: Answer,
}

#[derive(Deserialize)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) strict: Option<String>,
    message: Option<String>,
    #[serde(default)]
    pub(crate) errors: Vec<Cause>,
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
    pub(crate) result: Option<Value>,
}

/// The source of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The handlers of the server.
    Server,
    /// The strategies behind the handlers: they do not report unknown or duplicate fields.
    Strategies,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub(crate) struct Cause {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    pub(crate) field: String,
    #[serde(default)]
    detail: String,
    /// The value, if the message shows it.
    #[serde(rename = "badValue", default)]
    value: Value,
    /// The length of a long value, which replaces it.
    #[serde(rename = "badValueBytes", default)]
    bytes: usize,
    /// The value and the detail of an error that does not come from validation.
    #[serde(default)]
    text: String,
}

/// Our result for a request.
enum Ours {
    /// The request is not checked, for this reason.
    Unjudged(String),
    /// The message of a request that does not decode.
    Undecoded(String),
    /// The message of an update that conflicts with the stored object.
    Conflict(String),
    Judged {
        /// The errors of strict decoding.
        strict: Vec<String>,
        errors: Vec<Cause>,
        warnings: Vec<String>,
        refusal: Option<String>,
        stored: Value,
    },
}

/// Compares all requests.
pub fn compare(golden: &Path, known: Known) -> Table {
    let mut table = Table::new("builtins", known);
    let registry = match built_in() {
        Ok(registry) => registry,
        Err(error) => {
            table.add("reading", "built-in kinds", Verdict::Missing(error));
            return table;
        }
    };
    let published = Published::new(crate::RECORDED);
    let mut counted: BTreeMap<(String, String), Counted> = BTreeMap::new();
    for file in golden::files(&golden.join(FOLDER)) {
        let mut kinds = BTreeMap::new();
        for case in records::<Case>(&file, &mut table) {
            let name = (case.group.clone(), case.version.clone(), case.kind.clone());
            let subject = kinds.entry(name).or_insert_with(|| subject(&registry, &case, crate::RECORDED));
            let Some(subject) = subject else {
                table.add("verdict", &case.id, Verdict::Missing("no such kind".to_owned()));
                continue;
            };
            let mut own = Table::new("builtins", Known::default());
            judge(subject, &case, Answered::Server, &mut own);
            counted.entry((case.group.clone(), case.kind.clone())).or_default().add(&case, &own);
            judge(subject, &case, Answered::Server, &mut table);
            let by_schema = constrain(&published, subject, &case, &mut table);
            counted.entry((case.group.clone(), case.kind.clone())).or_default().refused_by_schema +=
                u32::from(by_schema);
        }
    }
    let mut lines = String::new();
    for ((group, kind), ours) in counted {
        let known = Share::of(&group, &kind).map(|share| Counted::from(&share));
        let group = if group.is_empty() { "core" } else { &group };
        let _ = writeln!(lines, "{group} {kind} {ours}");
        table.add("shares", &format!("{group} {kind}"), crate::verdict::equal(&Some(ours), &known));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/validate/src/builtin/shares.txt");
        if let Err(error) = std::fs::write(&file, lines) {
            table.add("shares", &file.display().to_string(), Verdict::Missing(error.to_string()));
        }
    }
    table
}

/// The results of the requests of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    accepted: u32,
    refused: u32,
    refused_here: u32,
    same_errors: u32,
    refused_by_schema: u32,
}

impl Counted {
    /// Counts a request, whose differences are in the table.
    fn add(&mut self, case: &Case, compared: &Table) {
        let fails = |row: &str| compared.failing_rows().iter().any(|failing| failing.ends_with(row));
        match case.answer.code {
            200 | 201 => self.accepted += 1,
            422 => {
                let is_refused = !fails(": refused objects") && !fails(": not judged");
                self.refused += 1;
                self.refused_here += u32::from(is_refused);
                let differs = fails(": errors of refused objects") || fails(": undecodable objects");
                self.same_errors += u32::from(is_refused && !differs);
            }
            _ => {}
        }
    }
}

impl From<&Share> for Counted {
    fn from(share: &Share) -> Counted {
        let Share { accepted, refused, refused_here, same_errors, refused_by_schema, .. } = *share;
        Counted { accepted, refused, refused_here, same_errors, refused_by_schema }
    }
}

/// Formats the counts as a line of the table.
impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counted { accepted, refused, refused_here, same_errors, refused_by_schema } = self;
        write!(f, "{accepted} {refused} {refused_here} {same_errors} {refused_by_schema}")
    }
}

/// Compares the constraints of the schema of a kind with the answer. Returns whether they refuse a refused object.
fn constrain(published: &Published, subject: &Subject, case: &Case, table: &mut Table) -> bool {
    if case.subresource.is_some() {
        return false;
    }
    let Ours::Judged { stored, .. } = answer(subject, case) else { return false };
    let old = case.old.as_ref().and_then(|old| {
        let (arena, mut tape) = (Bump::new(), Tape::new());
        let old = Decodable::from_node(read(old.get(), &mut tape)?, &arena);
        let decoded = subject.strategy.decode(old, &arena).ok()?;
        Some(stored_before(decoded.value, subject.is_namespaced(), &arena).to_serde())
    });
    let gvk = (case.group.as_str(), case.version.as_str(), case.kind.as_str());
    let errors = published.errors(gvk, &stored, old.as_ref());
    match case.answer.code {
        200 | 201 => {
            let record = format!("{}/{} {}", case.group, case.version, case.id);
            let verdict = if errors.is_empty() { Verdict::Equal } else { Verdict::Differing(format!("{errors:?}")) };
            table.add("accepted by the constraints of schemas", &record, verdict);
            false
        }
        422 => !errors.is_empty(),
        _ => false,
    }
}

/// A kind with its resource.
pub(crate) struct Subject {
    strategy: Strategy,
    plural: String,
}

impl Subject {
    /// Returns whether objects have a namespace.
    pub(crate) fn is_namespaced(&self) -> bool {
        self.strategy.is_namespaced()
    }

    /// `deployments.apps`
    fn resource(&self, case: &Case) -> String {
        let Subject { plural, .. } = self;
        if case.group.is_empty() { plural.clone() } else { format!("{plural}.{}", case.group) }
    }

    /// Returns the key under which the server stores the object of an update.
    fn key(&self, case: &Case, namespace: Option<&str>, name: Option<&str>) -> String {
        body::storage_key(&case.group, &self.plural, namespace, name)
    }
}

pub(crate) fn subject(registry: &Registry, case: &Case, release: Release) -> Option<Subject> {
    let Case { group, version, kind, .. } = case;
    let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
    let found = registry.kind(Gvk::new(&api_version, kind))?;
    let resource = found.resource();
    let namespaced = resource.is_some_and(|resource| resource.scope == Scope::Namespaced);
    let plural = resource.map(|resource| resource.plural.to_string()).unwrap_or_default();
    let strategy = Strategy::new(found.typed()?, group, version, kind, namespaced, release);
    let strategy = strategy.with_expressions(kubeshape_policy::expression_errors);
    Some(Subject { strategy, plural })
}

pub(crate) fn judge(subject: &Subject, case: &Case, answered: Answered, table: &mut Table) {
    let request = match (&case.old, &case.subresource) {
        (None, _) => "create",
        (Some(_), None) => "update",
        (Some(_), Some(_)) => "status",
    };
    let row = |what: &str| format!("{request}: {what}");
    let record = format!("{}/{} {}", case.group, case.version, case.id);
    let theirs = &case.answer;
    let ours = match answer(subject, case) {
        Ours::Unjudged(why) => {
            table.add(&row("not judged"), &record, Verdict::Missing(why));
            return;
        }
        Ours::Undecoded(message) => {
            let verdict = match &theirs.message {
                Some(theirs) if theirs == &message => Verdict::Equal,
                theirs => Verdict::Differing(format!("{message:?}, theirs {:?}", theirs.clone().unwrap_or_default())),
            };
            let what = if theirs.code < 400 { "accepted objects" } else { "undecodable objects" };
            table.add(&row(what), &record, verdict);
            return;
        }
        Ours::Conflict(message) => {
            let what = match theirs.code {
                code if code < 400 => "accepted objects",
                400 | 422 => "refused objects",
                _ => "other refusals",
            };
            let message = Some(message);
            table.add(&row(what), &record, crate::verdict::equal(&message, &theirs.message));
            return;
        }
        Ours::Judged { strict, errors, warnings, refusal, stored } => (strict, errors, warnings, refusal, stored),
    };
    let (strict, errors, warnings, refusal, stored) = ours;
    if theirs.code == 400 {
        let verdict = Verdict::Missing(format!("decoded, theirs {:?}", theirs.message.clone().unwrap_or_default()));
        table.add(&row("undecodable objects"), &record, verdict);
        return;
    }
    if let Some(theirs) = &theirs.strict {
        let (kind, version) = (&case.kind, &case.version);
        let ours = format!(
            "{kind} in version \"{version}\" cannot be handled as a {kind}: strict decoding error: {}",
            strict.join(", ")
        );
        table.add(&row("strict decoding"), &record, crate::verdict::equal(&ours, theirs));
    } else if !strict.is_empty() && answered == Answered::Server {
        table.add(&row("strict decoding"), &record, Verdict::Differing(format!("{strict:?}, theirs accepted")));
    }
    if !theirs.warnings.is_empty() || !warnings.is_empty() {
        table.add(&row("warnings"), &record, same_warnings(warnings, &theirs.warnings));
    }
    let accepts = errors.is_empty() && refusal.is_none();
    match (theirs.code, &theirs.result) {
        (200 | 201, Some(result)) => {
            let verdict = if accepts { Verdict::Equal } else { Verdict::Differing(format!("{errors:?} {refusal:?}")) };
            table.add(&row("accepted objects"), &record, verdict);
            // Addresses and ports of Services are allocated after the strategy.
            if answered == Answered::Strategies && case.kind == "Service" {
                return;
            }
            let verdict = match difference(&stored, result, "") {
                None => Verdict::Equal,
                Some(difference) => Verdict::Differing(difference),
            };
            table.add(&row("stored objects"), &record, verdict);
        }
        (422, _) => {
            let verdict = if accepts {
                Verdict::Missing(format!("accepted, theirs {:?}", theirs.errors))
            } else {
                Verdict::Equal
            };
            table.add(&row("refused objects"), &record, verdict);
            table.add(&row("errors of refused objects"), &record, same_errors(&errors, &theirs.errors));
        }
        (code, _) => {
            let message = theirs.message.clone().unwrap_or_default();
            let verdict = match refusal {
                Some(refusal) if refusal == message => Verdict::Equal,
                ours => Verdict::Missing(format!("{ours:?}, theirs {code} {message:?}")),
            };
            table.add(&row("other refusals"), &record, verdict);
        }
    }
}

/// Compares the errors as multisets. If we have none, the answer is missing.
fn same_errors(ours: &[Cause], theirs: &[Cause]) -> Verdict {
    let mut left: Vec<&Cause> = theirs.iter().collect();
    let mut more: Vec<&Cause> = Vec::new();
    for own in ours {
        match left.iter().position(|their| own.is_as(their)) {
            Some(at) => {
                left.remove(at);
            }
            None => more.push(own),
        }
    }
    if left.is_empty() && more.is_empty() {
        return Verdict::Equal;
    }
    let text = format!("{more:?}\n    theirs {left:?}");
    if ours.is_empty() { Verdict::Missing(text) } else { Verdict::Differing(text) }
}

/// Returns a value with null for empty lists and maps: objects here do not record whether a list in a request was empty
/// or absent, which only values in messages show.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Object(members) if members.is_empty() => Value::Null,
        Value::Array(items) => items.iter().map(without_empty).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), without_empty(value))).collect(),
        value => value.clone(),
    }
}

/// Does the same for values in a string.
fn without_empty_texts(text: &str) -> String {
    text.replace("[]", "null").replace("{}", "null")
}

impl Cause {
    fn of(error: &Error) -> Cause {
        let value = match &error.value {
            BadValue::Omitted => Value::Null,
            BadValue::Text(text) => Value::String(text.clone()),
            BadValue::Json(text) | BadValue::Printed(text) => serde_json::from_str(text).unwrap_or_default(),
        };
        let text = error.to_string();
        let text = text.strip_prefix(&format!("{}: ", error.path)).unwrap_or(&text).to_owned();
        let bytes = match &error.value {
            BadValue::Json(text) => text.len(),
            // Includes the quotes.
            BadValue::Text(text) => text.len() + 2,
            _ => 0,
        };
        let (kind, field) = (error.error_type.name().to_owned(), error.path.clone());
        Cause { kind, field, detail: error.detail.clone(), value, bytes, text }
    }

    /// Returns whether one of our errors matches a recorded one.
    fn is_as(&self, recorded: &Cause) -> bool {
        let hides_value = ["FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong"].contains(&&*self.kind);
        (&self.kind, &self.field) == (&recorded.kind, &recorded.field)
            && if recorded.text.is_empty() {
                let same_value = if recorded.bytes > 0 {
                    self.has_bytes(recorded.bytes)
                } else {
                    without_empty(&self.value) == without_empty(&recorded.value)
                };
                without_empty_texts(&self.detail) == without_empty_texts(&recorded.detail)
                    && (hides_value || same_value)
            } else {
                without_empty_texts(&self.text) == without_empty_texts(&recorded.text)
            }
    }

    /// Returns whether the value can have this length in bytes: each null may represent an empty list or map.
    fn has_bytes(&self, bytes: usize) -> bool {
        let shorter = self.bytes.checked_sub(bytes);
        shorter.is_some_and(|shorter| shorter % 2 == 0 && shorter / 2 <= self.text.matches("null").count())
    }
}

/// Compares the sorted warnings. If we have none, the answer is missing.
fn same_warnings(mut ours: Vec<String>, theirs: &[String]) -> Verdict {
    let mut theirs = theirs.to_vec();
    ours.sort();
    theirs.sort();
    if ours == theirs {
        return Verdict::Equal;
    }
    let text = format!("{ours:?}\n    theirs {theirs:?}");
    if ours.is_empty() { Verdict::Missing(text) } else { Verdict::Differing(text) }
}

fn answer(subject: &Subject, case: &Case) -> Ours {
    let strategy = &subject.strategy;
    let text = match (&case.object, &case.body) {
        (Some(object), _) => object.get(),
        (None, Some(body)) => body,
        (None, None) => return Ours::Unjudged("neither object nor body".to_owned()),
    };
    let named = case.old.as_ref().and_then(|old| serde_json::from_str::<Value>(old.get()).ok());
    let of_old = |key: &str| named.as_ref().and_then(|old| old["metadata"][key].as_str());
    let old_namespace = of_old("namespace").unwrap_or("default");
    if let Err(message) = body::check_name(Url { name: of_old("name"), namespace: None }) {
        return Ours::Undecoded(message);
    }
    if let Err(message) = body::check_syntax(&case.kind, text.as_bytes()) {
        return Ours::Undecoded(message);
    }
    let (mut tape, mut old_tape) = (Tape::new(), Tape::new());
    let Some(node) = read(text, &mut tape) else { return Ours::Unjudged("the body is not read".to_owned()) };
    let old = match &case.old {
        None => None,
        Some(old) => match read(old.get(), &mut old_tape) {
            Some(node) => Some(node),
            None => return Ours::Unjudged("the old object is not read".to_owned()),
        },
    };
    let arena = Bump::new();
    let value = Decodable::from_node(node, &arena);
    let api_version =
        if case.group.is_empty() { case.version.clone() } else { format!("{}/{}", case.group, case.version) };
    let checked = body::check_type(&case.kind, node, text.as_bytes())
        .and_then(|()| body::check_kind(&api_version, &case.kind, value));
    if let Err(message) = checked {
        return Ours::Undecoded(message);
    }
    let decoded = match strategy.decode_json(value, node, &arena) {
        Ok(decoded) => decoded,
        Err(message) => {
            let said = |key: &str, ours: &str| match value.get(key).and_then(Decodable::as_str) {
                Some(text) if !text.is_empty() => text.to_owned(),
                _ => ours.to_owned(),
            };
            let kind = said("kind", &case.kind);
            let version = said("apiVersion", &case.version);
            let version = version.rsplit('/').next().unwrap_or_default();
            let what = format!("{kind} in version \"{version}\" cannot be handled as a {}: {message}", case.kind);
            return Ours::Undecoded(what);
        }
    };
    let own_namespace = value.get("metadata").and_then(|metadata| metadata.get("namespace")?.as_str());
    let is_label = |name: &&str| kubeshape_schema::names::dns1123_label(name).is_empty();
    let namespace = if old.is_some() { old_namespace } else { own_namespace.filter(is_label).unwrap_or("default") };
    let namespace = strategy.is_namespaced().then_some(namespace);
    if let Err(message) = body::check_url(Url { name: of_old("name"), namespace }, decoded.value) {
        return Ours::Undecoded(message);
    }
    let twice = strategy.types().decode(value);
    let twice = twice.told_twice(duplicate_fields(node).into_iter().map(|duplicate| (duplicate.path, ())).collect());
    let strict = twice.into_iter().map(|(path, ())| duplicate_field(&path));
    let strict = strict.chain(decoded.unknown.iter().map(|path| unknown_field(path, Fields::Decoded))).collect();
    let judged = match old {
        None => strategy.create(decoded.value, assigned(), &arena),
        Some(old) => {
            let old = match strategy.decode(Decodable::from_node(old, &arena), &arena) {
                Ok(old) => stored_before(old.value, strategy.is_namespaced(), &arena),
                Err(message) => return Ours::Unjudged(format!("the old object: {message}")),
            };
            if let Some(conflict) = body::conflict(decoded.value, old, || subject.key(case, namespace, of_old("name")))
            {
                let resource = subject.resource(case);
                let name = of_old("name").unwrap_or_default();
                return Ours::Conflict(match conflict {
                    Conflict::NoVersion(message) => message,
                    Conflict::Other(why) => format!("Operation cannot be fulfilled on {resource} {name:?}: {why}"),
                });
            }
            let missing = strategy.metadata().missing_version(decoded.value);
            match (missing, &case.subresource) {
                (Some(error), _) => {
                    Judged { stored: decoded.value, errors: vec![error], warnings: Vec::new(), refusal: None }
                }
                (None, None) => strategy.update(decoded.value, old, assigned(), &arena),
                (None, Some(_)) => strategy.update_status(decoded.value, old, assigned(), &arena),
            }
        }
    };
    let Judged { stored, errors, warnings, refusal } = judged;
    let errors = errors.iter().map(Cause::of).collect();
    let refusal = refusal.map(str::to_owned);
    Ours::Judged { strict, errors, warnings, refusal, stored: without_system_fields(stored.to_serde()) }
}

fn read<'t>(text: &'t str, tape: &'t mut Tape) -> Option<Node<'t>> {
    Stream::new(text.as_bytes(), Limits::default()).ok()?.next(tape)?.ok()?;
    tape.document(text).root()
}

/// Returns the values that the server of the answers assigns.
fn assigned() -> Assigned<'static> {
    let user = User { name: "admin", uid: "admin-uid", groups: &["system:masters", "system:authenticated"] };
    Assigned { user: Some(user), ..Assigned::default() }
}

/// Returns the old object with the fields that the recorder sets.
fn stored_before<'a>(old: Decodable<'a>, namespaced: bool, arena: &'a Bump) -> Decodable<'a> {
    let metadata = old.get("metadata").and_then(Decodable::as_map);
    let Some((map, mut metadata)) = old.as_map().zip(metadata) else { return old };
    let Assigned { uid, time, .. } = assigned();
    let namespace = namespaced.then_some(("namespace", "default"));
    let fixed = [("resourceVersion", VERSION), ("uid", uid), ("creationTimestamp", time)];
    for (key, text) in fixed.into_iter().chain(namespace) {
        if metadata.get(key).is_none() {
            metadata = metadata.with(key, Some(Decodable::String(text)), arena);
        }
    }
    Decodable::Map(map.with("metadata", Some(Decodable::Map(metadata)), arena))
}

/// Removes the fields that the recorder leaves out of results.
pub(crate) fn without_system_fields(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            metadata.remove(key);
        }
    }
    object
}

/// Returns where two objects first differ.
fn difference(ours: &Value, theirs: &Value, path: &str) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys = ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key)));
            keys.into_iter().find_map(|key| {
                let path = format!("{path}.{key}");
                match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => difference(ours, theirs, &path),
                    (ours, theirs) => Some(format!("{path}: {}, theirs {}", shown(ours), shown(theirs))),
                }
            })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let pairs = ours.iter().zip(theirs).enumerate();
            pairs.into_iter().find_map(|(at, (ours, theirs))| difference(ours, theirs, &format!("{path}[{at}]")))
        }
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => Some(format!("{path}: {ours}, theirs {theirs}")),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), Value::to_string)
}
