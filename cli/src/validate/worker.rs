//! Judges the objects of one file.

mod admission;
mod part;

use super::kinds::{Documented, Kinds};
use super::policies::Policies;
use super::releases;
use super::schemas::Waiting;
use super::sops;
use super::stored;
use crate::args::{FieldValidation, MissingSchemas};
use crate::input::{self, Input};
use crate::report::Capped;
use crate::report::clean::clean;
use kubeshape_input::{Code, DocumentRef, Finding, Limits};
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_registry::{Duplicate, Gvk, Location, Release, describe, duplicate_fields, locate};
use kubeshape_schema::field::{Error, ErrorType};
use kubeshape_schema::{Bump, nearest, question};
use kubeshape_smd::Value;
use kubeshape_smd::managed::ObjectName;
use kubeshape_validate::AskedRelease;
use kubeshape_validate::builtin::{Assigned, BuiltInKind, Strategy};
use kubeshape_validate::object::{self as server, Resource};
use kubeshape_validate::strict::{Fields, duplicate_field, unknown_field};
use kubeshape_yaml::{Kind, Node};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of errors that are shown for one object.
const MOST: usize = 50;
/// Advice about a duplicate field.
const DUPLICATE: &str = "Keep one of the two. kubectl 1.27 to 1.33 sends the last value, with any field validation. kustomize, \
                         Flux, `kubeconform -strict` and a server that gets the file itself refuse the object.";

/// What all workers share, for one release.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The release of the server.
    pub(super) release: Release,
    pub(super) kinds: Kinds,
    /// Admission policies.
    pub(super) policies: Option<Policies<'a>>,
    /// The objects that are replaced.
    pub(super) old: &'a BTreeMap<Identity, Location>,
    /// What is known about the cluster, for the lifecycles of fields.
    pub(super) cluster: Cluster,
    pub(super) field_validation: FieldValidation,
    pub(super) missing_schemas: MissingSchemas,
    pub(super) print: bool,
    /// Whether the names of objects without findings are needed.
    pub(super) names: bool,
    /// Whether pointers and excerpts are shown.
    pub(super) explain: bool,
    /// Whether to report what policies do to objects that they accept.
    pub(super) notes: bool,
}

impl Context<'_> {
    fn finding(&self, document: &mut DocumentRef<'_>, code: Code, at: Node<'_>, detail: impl Into<String>) -> Finding {
        let mut finding = document.finding(code, at, detail);
        if self.explain {
            document.explain(&mut finding, at);
        }
        finding
    }
}

/// What identifies an object: group, kind, namespace, name.
pub(super) type Identity = (String, String, String, String);

/// What is to be reported about a file.
#[derive(Debug, Default)]
pub(super) struct FileResult {
    pub(super) events: Vec<Event>,
    /// Whether its bytes could not be read.
    pub(super) unreadable: bool,
}

/// The events of a file that is being read. Even a file with a million documents has few of them.
#[derive(Debug, Default)]
struct Events {
    list: Vec<Event>,
    capped: Capped,
}

impl Events {
    fn finding(&mut self, finding: Box<Finding>) {
        self.list.extend(self.capped.admit(finding).map(Event::Finding));
    }

    fn object(&mut self, object: Object) {
        match self.list.last_mut() {
            Some(Event::Objects(last, times)) if object.is_plain() && *last == object => *times += 1,
            _ => self.list.push(Event::Objects(object, 1)),
        }
    }

    fn finish(self) -> impl Iterator<Item = Event> {
        self.list.into_iter().chain(self.capped.rest().map(Event::Finding))
    }
}

/// A finding, or the object that the findings before it are about.
#[derive(Debug)]
pub(super) enum Event {
    Finding(Box<Finding>),
    /// What was found when the files of the next object's kind were read.
    Schemas(Arc<Waiting>),
    /// An object, and the number of identical objects in a row.
    Objects(Object, usize),
}

/// What is reported about an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// The name. Empty if the output does not show it.
    pub(super) name: String,
    pub(super) verdict: Verdict,
    /// The kind, if a document defines it.
    pub(super) documented: Option<Kinded>,
}

/// A kind that a document defines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kinded {
    pub(super) kind: String,
    /// Whether more than metadata and types was checked.
    pub(super) has_rules: bool,
}

impl Object {
    /// Returns whether only the number of such objects is reported.
    fn is_plain(&self) -> bool {
        self.name.is_empty() && !matches!(&self.verdict, Verdict::Accepted(bytes) if !bytes.is_empty())
    }
}

/// What a release says about an object.
#[derive(Debug)]
pub(super) struct Opinion {
    pub(super) verdict: Verdict,
    pub(super) findings: Vec<Finding>,
    pub(super) kinded: Option<Kinded>,
    /// The release with the questions that the verdict depends on. `None` if they are not recorded.
    pub(super) asked: Option<AskedRelease>,
}

/// The verdict on an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Accepted. With the object as it is stored, if it is to be printed.
    Accepted(Vec<u8>),
    Refused,
    /// Nothing is known about its kind.
    Unknown,
    /// It is a CustomResourceDefinition.
    Definition,
}

/// Judges files one at a time, and reuses its buffers.
pub(crate) struct Worker<'c, 'a> {
    /// One context for each release, the newest first.
    contexts: &'c [Context<'a>],
    bytes: input::Reader,
    documents: kubeshape_input::Reader,
    arena: Bump,
}

impl<'c, 'a> Worker<'c, 'a> {
    pub(crate) fn new(contexts: &'c [Context<'a>]) -> Self {
        let (bytes, documents) = (input::Reader::default(), kubeshape_input::Reader::new());
        Worker { contexts, bytes, documents, arena: Bump::new() }
    }

    /// Judges the objects of a file.
    pub(super) fn file(&mut self, input: &Input) -> FileResult {
        let Worker { contexts, bytes, documents, arena } = self;
        match bytes.read(input, &Limits::default()) {
            Ok(bytes) => judged(contexts, documents, arena, input.name().into(), bytes, input.named),
            Err(finding) => {
                let unreadable = finding.code == Code::Unreadable;
                FileResult { events: vec![Event::Finding(finding)], unreadable }
            }
        }
    }

    /// Judges the objects of a text, which has at least one.
    pub(super) fn text(&mut self, name: Arc<str>, bytes: &[u8]) -> FileResult {
        judged(self.contexts, &mut self.documents, &mut self.arena, name, bytes, true)
    }
}

/// What is found in a text.
#[derive(Debug, Default)]
struct Collected {
    read: Events,
    judged: Events,
    /// The number of documents.
    count: usize,
    /// Whether one of them has an error.
    failed: bool,
}

/// Judges the objects of a text. If the text is `named` and has no objects, that is an error.
fn judged(
    contexts: &[Context<'_>],
    documents: &mut kubeshape_input::Reader,
    arena: &mut Bump,
    name: Arc<str>,
    bytes: &[u8],
    named: bool,
) -> FileResult {
    let Some(newest) = contexts.first() else { return FileResult::default() };
    let all = collected(contexts, newest, documents, arena, (Arc::clone(&name), bytes), newest.print);
    let Collected { mut read, judged, count, failed } = all;
    if count == 0 && named && !failed {
        let finding = Finding::new(Code::NotAnObject, "found nothing, expected an object");
        read.finding(Box::new(finding.in_input(name)));
    }
    FileResult { events: read.finish().chain(judged.finish()).collect(), unreadable: false }
}

/// Judges the objects of a text, and returns the findings before they are joined. With `prints`, accepted objects are
/// printed.
fn collected<'a>(
    contexts: &[Context<'a>],
    newest: &Context<'a>,
    documents: &mut kubeshape_input::Reader,
    arena: &mut Bump,
    (name, bytes): (Arc<str>, &[u8]),
    prints: bool,
) -> Collected {
    // Findings about the objects come after findings about the file.
    let (mut read, mut judged) = (Events::default(), Events::default());
    let (mut count, mut failed) = (0, false);
    let mut documents = documents.documents(name, bytes, Limits::default());
    while let Some(document) = documents.next() {
        let mut document = match document {
            Ok(document) => document,
            Err(finding) => {
                failed |= finding.is_error();
                read.finding(finding);
                continue;
            }
        };
        count += 1;
        if let Some(ignored) = document.ignored() {
            failed |= ignored.is_error();
            read.finding(Box::new(ignored));
        }
        for node in document.objects() {
            if node.kind() == Kind::Map {
                arena.reset();
                object((contexts, newest), &mut document, node, arena, prints, &mut judged);
            } else {
                let detail = format!("found {}, expected an object", describe(node));
                let finding = newest.finding(&mut document, Code::NotAnObject, node, detail);
                judged.finding(Box::new(finding));
            }
        }
    }
    Collected { read, judged, count, failed }
}

fn object<'a>(
    (contexts, newest): (&[Context<'a>], &Context<'a>),
    document: &mut DocumentRef<'_>,
    node: Node<'_>,
    arena: &Bump,
    prints: bool,
    events: &mut Events,
) {
    let value = in_list(Value::from_node(node, arena), node, arena);
    let decrypted = sops::without_metadata(value, arena);
    events.list.extend(newest.kinds.told(value.gvk()).map(Event::Schemas));
    let records = contexts.len() > 1;
    let judge = |context: &Context<'a>| {
        let mut judged = Judged {
            context,
            prints: prints && std::ptr::eq(context, newest),
            records: records && context.policies.is_none() && context.kinds.lifecycles(value.gvk()).is_none(),
            asked: None,
            document: &mut *document,
            node,
            object: value,
            is_encrypted: decrypted.is_some(),
            name: OnceCell::new(),
            findings: Vec::new(),
            kinded: None,
            refusals: Vec::new(),
            arena,
        };
        let verdict = judged.judge(decrypted.unwrap_or(value));
        judged.lifecycles(value.gvk());
        Opinion { verdict, findings: judged.findings, kinded: judged.kinded, asked: judged.asked }
    };
    let Opinion { verdict, findings, kinded, .. } = releases::joined(contexts, newest, value, judge);
    for finding in findings {
        events.finding(Box::new(finding));
    }
    let name = if newest.names { name_of(value) } else { String::new() };
    events.object(Object { name, verdict, documented: kinded });
}

/// Returns the kind, namespace and name, as far as the object has them: `Widget x/a`.
pub(super) fn name_of(value: Value<'_>) -> String {
    let ObjectName { namespace, name, gvk } = ObjectName::of(value);
    let metadata = value.get("metadata");
    let generate = metadata.and_then(|metadata| metadata.get("generateName")).and_then(Value::as_str);
    let name = if name.is_empty() { generate.unwrap_or_default() } else { name };
    let slash = if namespace.is_empty() { "" } else { "/" };
    // The name must stay on one line.
    clean(format!("{} {namespace}{slash}{name}", gvk.kind()).trim())
}

/// Returns the identity of an object, or `None` if it has no name. An object without a namespace is sent to `default`,
/// if it needs one.
pub(super) fn identity(value: Value<'_>) -> Option<Identity> {
    let ObjectName { namespace, name, gvk } = ObjectName::of(value);
    let namespace = if namespace.is_empty() { "default" } else { namespace };
    let identity = (gvk.group().to_owned(), gvk.kind().to_owned(), namespace.to_owned(), name.to_owned());
    (!name.is_empty()).then_some(identity)
}

/// Returns an item of a typed list, such as a `ConfigMapList`. If the item has no kind and version, it gets those that
/// the list implies, as when kubectl sends it.
fn in_list<'v>(value: Value<'v>, node: Node<'v>, arena: &'v Bump) -> Value<'v> {
    let Some(root) = node.document().root().filter(|root| root.index() != node.index()) else { return value };
    let text = |key| root.get(key).and_then(Node::as_str).unwrap_or_default();
    match (value, text("kind").strip_suffix("List")) {
        (Value::Map(map), Some(kind)) if !kind.is_empty() && map.get("kind").is_none() => {
            let map = map.with("kind", Some(Value::String(kind)), arena);
            Value::Map(map.with("apiVersion", Some(Value::String(text("apiVersion"))), arena))
        }
        _ => value,
    }
}

/// Returns the declared names that are most similar to an unknown field, by its path: `spec.ports[0].containerport`.
fn nearest_field<'m>(path: &str, members: impl Fn(&[&str]) -> Vec<&'m str>) -> Vec<String> {
    let steps: Vec<&str> = path.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect();
    steps.split_last().map(|(name, above)| nearest(name, members(above).into_iter())).unwrap_or_default()
}

/// An object that is being judged, and the findings so far.
struct Judged<'j, 'c, 'd> {
    context: &'j Context<'c>,
    /// Whether it is printed as it is stored.
    prints: bool,
    /// Whether the questions about the release are recorded, because there are several.
    records: bool,
    asked: Option<AskedRelease>,
    document: &'j mut DocumentRef<'d>,
    node: Node<'j>,
    object: Value<'j>,
    /// Whether some of its values are encrypted.
    is_encrypted: bool,
    /// The name, computed when it is first needed.
    name: OnceCell<String>,
    findings: Vec<Finding>,
    kinded: Option<Kinded>,
    /// The paths of the first values for which a server refuses the object.
    refusals: Vec<String>,
    arena: &'j Bump,
}

impl<'j> Judged<'j, '_, '_> {
    fn name(&self) -> &str {
        self.name.get_or_init(|| name_of(self.object))
    }

    fn judge(&mut self, value: Value<'j>) -> Verdict {
        let gvk = value.gvk();
        if gvk.group() == "apiextensions.k8s.io" && gvk.kind() == "CustomResourceDefinition" {
            return Verdict::Definition;
        }
        if self.is_encrypted && sops::is_encrypted(gvk.kind()) {
            return Verdict::Unknown;
        }
        let at = self.node.get("apiVersion").unwrap_or(self.node);
        let Some((resource, deprecated)) = self.context.kinds.resource(gvk) else {
            if let Some((is_removed, warning)) = self.context.kinds.deprecation(gvk) {
                self.tell(if is_removed { Code::KindRemoved } else { Code::KindDeprecated }, at, warning);
            }
            return match self.context.kinds.documented(gvk) {
                Some(kind) => {
                    let has_rules = matches!(*kind, Documented::BuiltIn(_));
                    self.kinded = Some(Kinded { kind: clean(gvk.kind()), has_rules });
                    self.documented(value, &kind)
                }
                None => self.unknown(gvk),
            };
        };
        if let Some(warning) = deprecated {
            self.tell(Code::KindDeprecated, at, warning);
        }
        let own = self.records.then(|| resource.for_one());
        self.asked = own.as_ref().map(|own| own.release.clone());
        let resource: &Resource<'j> = own.as_ref().unwrap_or(resource);
        let arena = self.arena;
        let decoded = resource.decode(value, arena);
        let unknown = decoded.as_ref().map(|decoded| decoded.unknown.clone()).unwrap_or_default();
        let Some(object) = self.decoded(decoded, None) else { return Verdict::Refused };
        self.duplicates(duplicate_fields(self.node));
        self.fields(&unknown, Fields::Pruned, |path| resource.members(path));
        let stored = if self.is_deleted() {
            self.policed(object, None);
            object
        } else {
            let old = self.old(object, resource);
            let Some(object) = self.mutated(object, old) else { return Verdict::Refused };
            let server::Judged { stored, errors, warnings, refusal } = match old {
                Some(old) => resource.update(object, old, arena),
                None => resource.create(object, arena),
            };
            self.settled(errors, refusal, &warnings, stored, old);
            stored
        };
        if self.findings.iter().any(Finding::is_error) {
            return Verdict::Refused;
        }
        let printed = if self.prints { stored::print(stored, self.node) } else { Vec::new() };
        Verdict::Accepted(printed)
    }

    /// Reports fields that are alpha, beta, deprecated or off.
    fn lifecycles(&mut self, gvk: Gvk<'_>) {
        let Some(known) = self.context.kinds.lifecycles(gvk) else { return };
        let warnings = known.warnings(self.node, &self.context.cluster);
        let more = warnings.len().saturating_sub(MOST);
        for warning in warnings.into_iter().take(MOST) {
            self.tell(warning.kind.code(), warning.at, warning.text);
        }
        if more > 0 {
            self.tell(Code::FieldAlpha, self.node, format!("{more} more fields are not shown"));
        }
    }

    /// Judges an object of a kind that an OpenAPI document describes.
    fn documented(&mut self, value: Value<'j>, kind: &Documented) -> Verdict {
        let types = kind.types();
        let decoded = types.decode(value);
        let duplicates = duplicate_fields(self.node).into_iter().map(|duplicate| (duplicate.path.clone(), duplicate));
        let duplicates = decoded.told_twice(duplicates.collect());
        self.duplicates(duplicates.into_iter().map(|(_, duplicate)| duplicate).collect());
        self.fields(&decoded.unknown, Fields::Decoded, |path| types.members(path));
        let (mut errors, mut departures) = (decoded.errors, decoded.departures);
        let is_decoded = errors.is_empty();
        errors.retain(|error| !self.is_unknown(&error.path, ErrorType::TypeInvalid));
        for error in errors.iter().take(MOST) {
            let found = locate::at_field(self.node, &error.path);
            self.tell(Code::ObjectNotDecoded, found.shown(), format!("{}: {}", error.path, error.message));
        }
        let mut stored = None;
        let own = match kind {
            Documented::BuiltIn(kind) if self.records => Some(kind.strategy.for_one()),
            _ => None,
        };
        self.asked = own.as_ref().map(|own| own.release().clone());
        if errors.is_empty() {
            stored = self.rules(value, kind, own.as_ref(), is_decoded);
        }
        departures.retain(|departure| !self.is_unknown(&departure.path, departure.error_type));
        // A refusal of the value, or of one inside it, says more.
        departures.retain(|departure| !self.refusals.iter().any(|path| path.starts_with(&departure.path)));
        for departure in departures.iter().take(MOST) {
            let found = locate::at_field(self.node, &departure.path);
            self.tell(Code::ObjectDeparts, found.shown(), departure.to_string());
        }
        let more = errors.len().saturating_sub(MOST) + departures.len().saturating_sub(MOST);
        if more > 0 {
            let code = if errors.len() > MOST { Code::ObjectNotDecoded } else { Code::ObjectDeparts };
            self.tell(code, self.node, format!("{more} more values are not shown"));
        }
        if self.findings.iter().any(Finding::is_error) {
            return Verdict::Refused;
        }
        Verdict::Accepted(
            stored.filter(|_| self.prints).map_or_else(Vec::new, |stored| stored::print(stored, self.node)),
        )
    }

    /// Judges an object by what is known of the rules of its kind. Returns the object as it is stored, if the kind is
    /// one of those of which this is known.
    fn rules(
        &mut self,
        value: Value<'j>,
        kind: &Documented,
        own: Option<&Strategy>,
        is_decoded: bool,
    ) -> Option<Value<'j>> {
        let arena = self.arena;
        let old = identity(value).and_then(|identity| self.context.old.get(&identity));
        let old_value = old.map(|old| Value::from_node(old.node(), arena));
        let built_in = match kind {
            Documented::BuiltIn(kind) => Some(own.unwrap_or(&kind.strategy)),
            _ => None,
        };
        match (kind, built_in) {
            (_, Some(strategy)) if is_decoded && self.is_deleted() => {
                let decoded = self.decoded(strategy.decode_request(value, arena), None)?;
                self.policed(decoded, None);
                Some(decoded)
            }
            (_, Some(strategy)) if is_decoded => {
                let decoded = match self.context.policies {
                    Some(_) => strategy.decode_request(value, arena),
                    None => strategy.decode(value, arena),
                };
                let decoded = self.decoded(decoded, None)?;
                let old = match old.zip(old_value) {
                    Some((location, old)) => Some(self.decoded(strategy.decode(old, arena), Some(location))?),
                    None => None,
                };
                let decoded = self.mutated(decoded, old)?;
                let judged = match old {
                    Some(old) => strategy.update(decoded, old, Assigned::default(), arena),
                    None => strategy.create(decoded, Assigned::default(), arena),
                };
                let server::Judged { stored, errors, warnings, refusal } = judged;
                // Policies see the object before it is stored.
                let seen = strategy.decode_request(stored, arena).map_or(stored, |decoded| decoded.value);
                self.settled(errors, refusal, &warnings, seen, old);
                Some(stored)
            }
            // Some of its values are encrypted.
            (_, Some(strategy)) => {
                self.metadata(value, old_value, strategy.metadata(), Some(strategy.is_namespaced()));
                None
            }
            (Documented::Metadata(_, metadata), None) => {
                self.metadata(value, old_value, metadata, None);
                self.unprepared(value, old_value)
            }
            _ => self.unprepared(value, old_value),
        }
    }

    /// Reports the results of the rules of the kind. If these accept the object, reports the results of validating
    /// policies.
    fn settled(
        &mut self,
        errors: Vec<Error>,
        refusal: Option<&str>,
        warnings: &[String],
        stored: Value<'j>,
        old: Option<Value<'j>>,
    ) {
        let is_accepted = errors.is_empty() && refusal.is_none();
        self.judged(errors, refusal);
        self.warned(warnings);
        if is_accepted {
            self.policed(stored, old);
        }
    }

    /// Called after policies judged the object. Only the types of its kind are known, so it is not printed.
    fn unprepared(&mut self, value: Value<'j>, old: Option<Value<'j>>) -> Option<Value<'j>> {
        let value = self.mutated(value, old)?;
        self.policed(value, old);
        None
    }

    /// Judges the metadata of an object.
    fn metadata(&mut self, value: Value<'j>, old: Option<Value<'j>>, rules: &BuiltInKind, namespaced: Option<bool>) {
        let (errors, refusal) = if let Some(old) = old {
            (rules.update(value, old, self.arena), None)
        } else {
            let server::Judged { errors, refusal, .. } = rules.create(value, namespaced, self.arena);
            (errors, refusal)
        };
        self.judged(errors, refusal);
    }

    /// Handles a decoded object. Errors are reported at the replaced object, or at the new one.
    fn decoded(&mut self, decoded: Result<server::Object<'j>, String>, old: Option<&Location>) -> Option<Value<'j>> {
        let message = match decoded {
            Ok(decoded) => return Some(decoded.value),
            Err(message) => message,
        };
        if let Some(old) = old {
            let finding = old.finding(Code::ObjectNotDecoded, message).of_resource(self.name());
            self.findings.push(finding);
        } else {
            let at = self.node.get("metadata").unwrap_or(self.node);
            self.tell(Code::ObjectNotDecoded, at, message);
        }
        None
    }

    /// Returns whether an error at a path is about encrypted values.
    fn is_unknown(&self, path: &str, error: ErrorType) -> bool {
        self.is_encrypted && sops::is_about_encrypted(locate::at_field(self.node, path).value, error)
    }

    /// Reports why a server refuses an object.
    fn judged(&mut self, mut errors: Vec<Error>, refusal: Option<&str>) {
        errors.retain(|error| !self.is_unknown(&error.path, error.error_type));
        self.refusals.extend(errors.iter().take(MOST).map(|error| error.path.clone()));
        for error in errors.iter().take(MOST) {
            self.refused(error);
        }
        if errors.len() > MOST {
            let detail = format!("{} more errors are not shown", errors.len() - MOST);
            self.tell(Code::ObjectRefused, self.node, detail);
        }
        if let Some(message) = refusal {
            let version = self.node.get("metadata").and_then(|metadata| metadata.get("resourceVersion"));
            self.tell(Code::ObjectRefused, version.unwrap_or(self.node), message);
        }
    }

    /// Reports the warnings of a server. Most of their texts begin with the field.
    ///
    /// What was said of the kind already is not said again, as in a server's headers.
    fn warned(&mut self, warnings: &[String]) {
        for warning in warnings.iter().take(MOST) {
            if self.findings.iter().any(|said| said.code == Code::KindDeprecated && said.detail == *warning) {
                continue;
            }
            let field = warning.split_once(": ").map(|(field, _)| field).filter(|field| !field.contains(' '));
            let at = field.map_or(self.node, |field| locate::at_field(self.node, field).shown());
            self.tell(Code::ObjectWarned, at, warning.as_str());
        }
    }

    /// Returns the replaced object, as it is stored.
    fn old(&mut self, object: Value<'j>, resource: &Resource<'j>) -> Option<Value<'j>> {
        let location = self.context.old.get(&identity(object)?)?;
        self.decoded(resource.decode(Value::from_node(location.node(), self.arena), self.arena), Some(location))
    }

    /// Reports duplicate fields. kubectl sends the last of them.
    fn duplicates(&mut self, mut duplicates: Vec<Duplicate<'_>>) {
        duplicates.retain(|duplicate| !duplicate.is_override());
        if self.context.field_validation == FieldValidation::Ignore {
            return;
        }
        for Duplicate { path, key, .. } in duplicates.iter().take(MOST) {
            self.tell(Code::ObjectFieldDropped, *key, format!("{}; the last value is used", duplicate_field(path)));
            if let Some(finding) = self.findings.last_mut() {
                finding.advice = Some(DUPLICATE.to_owned());
            }
        }
        if duplicates.len() > MOST {
            let detail = format!("{} more duplicate fields are not shown", duplicates.len() - MOST);
            self.tell(Code::ObjectFieldDropped, self.node, detail);
        }
    }

    /// Reports unknown fields. `members` returns the names that are declared at a path.
    fn fields<'m>(&mut self, unknown: &[String], fields: Fields, members: impl Fn(&[&str]) -> Vec<&'m str>) {
        let code = match self.context.field_validation {
            FieldValidation::Strict => Code::ObjectField,
            FieldValidation::Warn => Code::ObjectFieldDropped,
            FieldValidation::Ignore => return,
        };
        for path in unknown.iter().take(MOST) {
            let found = locate::at_field(self.node, path);
            self.tell(code, found.key.unwrap_or(found.value), unknown_field(path, fields));
            let near = nearest_field(path, &members);
            if let (Some(finding), false) = (self.findings.last_mut(), near.is_empty()) {
                finding.advice = Some(format!("{} {}", question(&near), finding.help()));
            }
        }
        let more = unknown.len().saturating_sub(MOST);
        if more > 0 {
            self.tell(code, self.node, format!("{more} more fields are not shown"));
        }
    }

    fn refused(&mut self, error: &Error) {
        let found = locate::at_field(self.node, &error.path);
        self.tell(Code::ObjectRefused, found.shown(), error.to_string());
    }

    fn unknown(&mut self, gvk: Gvk<'_>) -> Verdict {
        let node = self.node;
        let at = node.get("kind").unwrap_or(node);
        let code = match self.context.missing_schemas {
            MissingSchemas::Error => Code::UnknownKind,
            MissingSchemas::Warn => Code::ObjectNotJudged,
            MissingSchemas::Skip => return Verdict::Unknown,
        };
        self.tell(code, at, self.context.kinds.unknown(gvk));
        if let Some(finding) = self.findings.last_mut() {
            finding.advice = Some(self.context.kinds.advice(gvk));
        }
        Verdict::Unknown
    }

    fn tell(&mut self, code: Code, at: Node<'_>, detail: impl Into<String>) {
        let finding = self.context.finding(self.document, code, at, detail);
        let mut finding = finding.of_resource(self.name());
        if let Some(template) = stored::template(self.document.document()) {
            finding.notes.push(format!("this document comes from the template {template}"));
        }
        self.findings.push(finding);
    }
}
