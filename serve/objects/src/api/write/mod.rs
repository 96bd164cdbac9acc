//! Creating, replacing and patching objects.

mod patch;
mod strict;

pub(super) use patch::refused;

use super::pods;
use super::strategy::Strategy;
use super::{Call, Outcome, Reply, Then, Verb, Write};
use crate::access::Attributes;
use crate::options::{FieldValidation, WriteParameters};
use crate::status::Status;
use crate::store::{Change, Full, Key, Stored, Then as Becomes};
use crate::value::{self, meta_text, with_meta};
use crate::{cbor, wire};
use kubeshape_policy::{Access, Operation};
use kubeshape_registry::{WriteOptions, duplicate_fields, strict_yaml_error};
use kubeshape_schema::field::Error;
use kubeshape_smd::managed::{ObjectConverter, keep_times};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::Change as ReleaseChange;
use kubeshape_validate::body::{self, Conflict};
use kubeshape_validate::builtin::{repeated_owners, resize_errors, resized, without_repeated_owners};
use kubeshape_validate::object::{common_update_errors, version_on_creation, without_system_metadata};
use kubeshape_validate::strict::{Fields, duplicate_field, unknown_field};
use kubeshape_yaml::go::syntax;
use kubeshape_yaml::{Node, Tape};
use std::borrow::Cow;
use std::sync::Arc;
use strict::{lines_of_yaml_error, strict_of_json};

/// Media types of objects in bodies.
pub(super) const OBJECTS: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
pub(super) const CBOR: &str = "application/cbor";
/// The media type of server-side apply in CBOR.
const APPLY_CBOR: &str = "application/apply-patch+cbor";
/// Characters of `metadata.generateName` that stay in the name, and what may follow them.
const MAX_GENERATED_NAME: usize = 58;
const RANDOM: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// The maximum nesting of an object, the same as of a document.
const MAX_DEPTH: usize = 512;

/// Resources whose objects an update also creates (upstream: strategies with `AllowCreateOnUpdate`).
const CREATED_BY_UPDATE: [(&str, &str); 11] = [
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leases"),
    ("coordination.k8s.io", "leasecandidates"),
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
];

/// Returns a name with five random characters at its end (upstream: `SimpleNameGenerator`).
pub(super) fn generated_name(prefix: &str, random: u64) -> String {
    let (mut name, mut random) = (prefix.to_owned(), random);
    for _ in 0..5 {
        name.push(char::from(RANDOM[(random % RANDOM.len() as u64) as usize]));
        random /= RANDOM.len() as u64;
    }
    name
}

/// A decoded object of a request.
pub(super) struct Decoded<'a> {
    pub(super) value: Value<'a>,
    /// Findings of strict validation: duplicate and unknown fields.
    strict: Vec<String>,
}

impl Call<'_> {
    /// Checks the size of the body. JSON is returned without the space around it, which may be tabs. Findings in YAML
    /// have lines, so it is returned as it is.
    pub(super) fn body(&self) -> Result<&[u8], Status> {
        if self.request.body.len() > value::MAX_BODY {
            return Err(Status::too_large(value::MAX_BODY));
        }
        let bare = self.request.body.trim_ascii();
        let is_json = matches!(bare, [b'{' | b'[', ..]) && !self.media_type().ends_with("yaml");
        Ok(if is_json { bare } else { self.request.body })
    }

    /// Returns the body. CBOR is converted to JSON.
    pub(super) fn transcoded(&self) -> Result<Cow<'_, [u8]>, Status> {
        let body = self.body()?;
        if self.request.has_cbor() && [CBOR, APPLY_CBOR].contains(&self.media_type()) {
            return cbor::json(body).map(Cow::Owned).map_err(|why| self.unreadable(&why));
        }
        Ok(Cow::Borrowed(body))
    }

    /// The media types of bodies, including those of CBOR.
    fn media(&self, known: &'static str, cbor: &str) -> String {
        if self.request.has_cbor() { format!("{known}, {cbor}") } else { known.to_owned() }
    }

    /// Returns the object in the body, as JSON or YAML.
    fn object_sent(&self) -> Result<Cow<'_, [u8]>, Status> {
        let served = self.served;
        match self.media_type() {
            CBOR if self.request.has_cbor() => self.transcoded(),
            "" | "application/json" | "application/yaml" => Ok(Cow::Borrowed(self.body()?)),
            "application/vnd.kubernetes.protobuf" if wire::knows(&served.api_version, &served.kind) => {
                let read = wire::protobuf_to_json(self.body()?, self.release())
                    .unwrap_or_else(|| Err("the body is no protobuf".to_owned()));
                read.map(Cow::Owned).map_err(|why| self.unreadable(&why))
            }
            "application/vnd.kubernetes.protobuf" if served.is_built_in() => {
                Err(Status::unsupported_media_type(&self.media("application/json, application/yaml", CBOR)))
            }
            _ => Err(Status::unsupported_media_type(&self.media(OBJECTS, CBOR))),
        }
    }

    /// Returns the duplicate fields of the object in the body. The decoder of YAML has its own words.
    fn duplicates(&self, node: Node<'_>) -> Vec<String> {
        match self.media_type() {
            "application/yaml" => strict_yaml_error(duplicate_fields(node)).into_iter().collect(),
            _ => twice(node),
        }
    }

    fn media_type(&self) -> &str {
        self.request.content_type.split(';').next().unwrap_or_default().trim()
    }

    /// The server's message for an invalid body.
    pub(super) fn unreadable(&self, why: &str) -> Status {
        let served = self.served;
        Status::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: {why}",
            served.kind, served.version, served.kind
        ))
    }

    /// Reads a document of a body and its duplicate fields.
    pub(super) fn document<'t>(&self, text: &'t [u8], tape: &'t mut Tape) -> Result<Node<'t>, Status> {
        let is_json = matches!(self.media_type(), "" | "application/json");
        if is_json {
            self.check_json(text)?;
        }
        value::read_body(text, tape).map_err(|why| self.unreadable(&why))?;
        let source = std::str::from_utf8(text).map_err(|why| self.unreadable(&why.to_string()))?;
        let root = tape.document(source).root().ok_or_else(|| self.unreadable("EOF"))?;
        if is_json || self.media_type() == "application/yaml" {
            body::check_type(&self.served.kind, root, text).map_err(Status::bad_request)?;
        }
        Ok(root)
    }

    /// Refuses a body that is not JSON in the words of Go's decoder, and numbers that no double holds.
    fn check_json(&self, text: &[u8]) -> Result<(), Status> {
        body::check_syntax(&self.served.kind, text).map_err(Status::bad_request)?;
        let number = std::str::from_utf8(text).ok().and_then(syntax::number_out_of_range);
        number.map_or(Ok(()), |number| {
            Err(self.unreadable(&format!("json: cannot unmarshal number {number} into Go value of type float64")))
        })
    }

    /// Decodes the object of a body, and checks its fields as the request wants it.
    fn sent<'a>(
        &'a self,
        body: &'a [u8],
        tape: &'a mut Tape,
        validation: FieldValidation,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Status> {
        let node = self.document(body, tape)?;
        let decoded = self.decode_body(node, arena)?;
        self.tell(&decoded.strict, validation, &|why| self.unreadable(why))?;
        self.advise(node);
        Ok(decoded.value)
    }

    /// Decodes the object of a body.
    fn decode_body<'a>(&'a self, node: Node<'a>, arena: &'a Bump) -> Result<Decoded<'a>, Status> {
        // Other forms have numbers that are no text.
        let source = matches!(self.media_type(), "" | "application/json").then_some(node);
        let unreadable = |why: &str| self.unreadable(why);
        self.decode(Value::from_node(node, arena), source, self.duplicates(node), &unreadable, arena)
    }

    /// Returns the object with the API version and the kind of the endpoint, if it has none and is not a custom
    /// resource (upstream: `gvkWithDefaults` of apimachinery's JSON serializer).
    fn with_type<'a>(&'a self, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
        if !matches!(value, Value::Map(_)) || matches!(*self.strategy, Strategy::Custom(_)) {
            return value;
        }
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        // Go reads the core group before the slash.
        let is_own = |key: &str| {
            key == "apiVersion" && text(key).and_then(|text| text.strip_prefix('/')) == Some(&*self.served.api_version)
        };
        let is_empty = |key: &str| value.get(key).is_none_or(Value::is_null) || text(key) == Some("") || is_own(key);
        let mut out = value;
        for (key, text) in [("apiVersion", &*self.served.api_version), ("kind", &*self.served.kind)] {
            if is_empty(key) {
                out = value::with(out, key, Some(Value::String(text)), arena);
            }
        }
        out
    }

    /// Decodes an object of the resource: unknown fields are dropped, defaults inserted. Numbers are those of the
    /// source. `unreadable` makes the status of a value that has the wrong type.
    pub(super) fn decode<'a>(
        &'a self,
        value: Value<'a>,
        source: Option<Node<'a>>,
        strict: Vec<String>,
        unreadable: &dyn Fn(&str) -> Status,
        arena: &'a Bump,
    ) -> Result<Decoded<'a>, Status> {
        let value = self.with_type(value, arena);
        let api_version = value.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        if kind.is_empty() {
            let mut text = Vec::new();
            value.write_go_json(&mut text);
            let text = String::from_utf8_lossy(&text).into_owned();
            return Err(self.unreadable(&format!("Object 'Kind' is missing in '{text}'")));
        }
        // Custom resources have their kind checked with everything else.
        if self.served.is_built_in() {
            body::check_kind(&self.served.api_version, &self.served.kind, value).map_err(Status::bad_request)?;
        } else if api_version != self.served.api_version {
            return Err(Status::bad_request(body::other_version(api_version, &self.served.api_version)));
        }
        let mut decoded = self.strategy.decode(value, source, arena).map_err(|why| unreadable(&why))?;
        // An empty list resets the owners, so it differs from none.
        let owners = value::metadata(value).get("managedFields");
        if let Some(Value::List([])) = owners {
            decoded.value = with_meta(decoded.value, "managedFields", owners, arena);
        }
        let mut strict = strict;
        let is_built_in = self.served.is_built_in();
        let fields = if is_built_in { Fields::Decoded } else { Fields::Pruned };
        let is_clean = strict.is_empty() && decoded.unknown.is_empty();
        match source.filter(|_| is_built_in && !is_clean) {
            Some(source) => strict = strict_of_json(source, &decoded.unknown, fields),
            None => strict.extend(decoded.unknown.iter().map(|path| unknown_field(path, fields))),
        }
        Ok(Decoded { value: decoded.value, strict })
    }

    /// Refuses findings of strict validation, or turns them into warnings. `unreadable` makes the status.
    fn tell(
        &self,
        strict: &[String],
        validation: FieldValidation,
        unreadable: &dyn Fn(&str) -> Status,
    ) -> Result<(), Status> {
        match validation {
            FieldValidation::Strict if !strict.is_empty() => {
                Err(unreadable(&format!("strict decoding error: {}", strict.join(", "))))
            }
            FieldValidation::Warn => {
                self.warn(strict.iter().flat_map(|finding| lines_of_yaml_error(finding)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refuses an object with another namespace or name than that of the path, and sets the namespace.
    fn fits_path<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
        let name = (!self.path.name.is_empty()).then_some(self.path.name);
        let namespace = self.served.namespaced.then_some(self.path.namespace);
        body::check_url(body::Url { name, namespace }, object).map_err(Status::bad_request)?;
        Ok(with_meta(object, "namespace", namespace.map(Value::String), arena))
    }

    /// Does the same for the result of a patch, which gets the name of the path if it has none.
    pub(super) fn patched_fits_path<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
        let object = match meta_text(object, "name") {
            "" => with_meta(object, "name", Some(Value::String(self.path.name)), arena),
            _ => object,
        };
        self.fits_path(object, arena)
    }

    pub(super) fn options(&self, parameters: &WriteParameters) -> WriteOptions {
        let options = WriteOptions::new(parameters.manager(self.request.user_agent), self.moment.now);
        options.subresource(self.path.subresource).force(parameters.force.unwrap_or(false))
    }

    pub(super) fn create(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let parameters = WriteParameters::read(self.request.query, "CreateOptions", false)?;
        let body = self.object_sent()?;
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let sent = self.sent(&body, &mut tape, parameters.validation, &arena)?;
        let object = self.fits_path(without_system_metadata(sent, &arena), &arena)?;
        let object = self.named(object, &arena);
        let refusal = version_on_creation(object).filter(|_| !parameters.dry_run);
        let endpoint = self.endpoint(&arena)?;
        let options = self.options(&parameters);
        let zero = self.strategy.zero(object, &arena);
        let object = endpoint.update_no_errors(zero, object, &options, &arena);
        if let Some(status) = self.reviewed(object, &arena)? {
            return self.review(object, status, &arena);
        }
        let change = self.created(object, parameters.dry_run, &arena)?;
        if let Some(message) = refusal {
            return Err(Status::internal(message));
        }
        if self.store.get(&change.key).is_some() {
            return Err(Status::already_exists(self.group_resource(), meta_text(object, "name")));
        }
        self.written(change, parameters.dry_run, Then::Object(201), shown)
    }

    /// Returns the object with a generated name, if it needs one.
    fn named<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let (name, prefix) = (meta_text(object, "name"), meta_text(object, "generateName"));
        if !name.is_empty() || prefix.is_empty() {
            return object;
        }
        let end = (0..=MAX_GENERATED_NAME.min(prefix.len())).rev().find(|at| prefix.is_char_boundary(*at)).unwrap_or(0);
        let name = generated_name(prefix.get(..end).unwrap_or_default(), self.moment.random);
        with_meta(object, "name", Some(Value::String(arena.alloc_str(&name))), arena)
    }

    /// The endpoint of server-side apply.
    pub(super) fn endpoint<'a>(&'a self, arena: &'a Bump) -> Result<kubeshape_registry::Endpoint<'a>, Status> {
        let registry = self.served.registry().unwrap_or(&self.api.registry);
        let by_webhook =
            self.served.converter().map(|_| arena.alloc(self.served.field_converter()) as &dyn ObjectConverter);
        let endpoint = registry.endpoint_with(self.served.gvk(), self.path.subresource, by_webhook, arena);
        endpoint.map_err(|error| Status::internal(error.to_string()))
    }

    /// Checks that an update or an apply may create the object that is missing: its user may create such objects, and
    /// their definition is not being deleted (upstream: `withAuthorization` and `forbidCreateAdmission`).
    fn may_create(&self) -> Result<(), Status> {
        if self.verb == Verb::Create {
            return Ok(());
        }
        let served = self.served;
        if self.api.definitions.terminating.contains(&served.id) && self.has(ReleaseChange::CreationsWhileTerminating) {
            return Err(Status::forbidden(self.group_resource(), self.path.name, super::TERMINATING));
        }
        let Some(identity) = self.request.identity else { return Ok(()) };
        let (user, verb) = (Arc::clone(&identity.user), "create".to_owned());
        let (group, resource) = (served.group.clone(), served.plural.to_string());
        let (namespace, name) = (self.path.namespace.to_owned(), self.path.name.to_owned());
        let access = Access { user, verb, group, resource, namespace, name, ..Access::default() };
        let verdict = self.api.authorizer(self.store).decide(&access);
        if verdict.allowed { Ok(()) } else { Err(Attributes::forbidden(&access, &verdict.reason)) }
    }

    /// Returns the change that creates a decoded object with its managed fields (upstream: `rest.BeforeCreate` and the
    /// strategy).
    fn created<'a>(&'a self, object: Value<'a>, is_dry_run: bool, arena: &'a Bump) -> Result<Change, Status> {
        self.may_create()?;
        self.has_room_for_policy(object)?;
        self.namespace_takes(meta_text(object, "name"))?;
        let object = self.mutated(object, None, is_dry_run, arena)?;
        self.escalates_not(object, None)?;
        let object = self.without_repeated_owners(object, arena);
        let assigned = self.moment.assigned(self.store.revision(), arena);
        let prepared = self.strategy.prepare_create(object, assigned, arena);
        let mut object = prepared.map_err(|why| self.unreadable(&why))?;
        object = without_system_metadata(object, arena);
        let now = Value::String(arena.alloc_str(&self.moment.now.to_string()));
        object = with_meta(object, "creationTimestamp", Some(now), arena);
        object = with_meta(object, "uid", Some(Value::String(self.moment.uid)), arena);
        object = self.storable(object, arena)?;
        let mut checked = self.strategy.validate(object, self.moment.stop);
        if checked.errors.is_empty() {
            checked.errors = self.policy_errors(object);
        }
        let name = meta_text(object, "name");
        if !checked.errors.is_empty() {
            return Err(Status::invalid(&self.served.group, &self.served.kind, name, &checked.errors));
        }
        self.warn(checked.warnings);
        self.warn(self.strategy.warnings(object, None));
        self.policed(Operation::Create, Some(object), None, is_dry_run, arena)?;
        let object = self.type_checked(object, arena);
        let key = Key::new(&self.served.id, self.path.namespace, name);
        let object = self.strategy.stored(object, None, assigned, arena);
        Ok(Change { key, expected: None, then: Becomes::Stored(self.draft(object, arena)?) })
    }

    /// Drops owner references that are there twice, with a warning (upstream: `dedupOwnerReferencesAndAddWarning`).
    fn without_repeated_owners<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        // Patches are looked at after admission.
        let when = if self.verb == Verb::Patch { " after mutating admission happens" } else { "" };
        self.warn(repeated_owners(object, when));
        without_repeated_owners(object, arena)
    }

    /// Returns an object as the store has room for it: without managed fields, if it is too large with them and the
    /// request is no apply (upstream: `isTooLargeError`).
    ///
    /// # Errors
    /// It is too large for the store. This is known before it is validated and written.
    fn storable<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
        self.goes_on()?;
        if self.fits_store(object) {
            return Ok(object);
        }
        let bare = with_meta(object, "managedFields", None, arena);
        if !self.applies() && self.fits_store(bare) {
            return Ok(bare);
        }
        Err(Status::internal(Full::Object.to_string()))
    }

    /// Checks that the store would have room for an object.
    pub(super) fn is_storable(&self, object: Value<'_>) -> Result<(), Status> {
        self.storable(object, &Bump::new()).map(drop)
    }

    /// Returns whether the store has room for an object, as far as its form shows.
    fn fits_store(&self, object: Value<'_>) -> bool {
        // Storing an object in another version removes the fields that are unknown there.
        let is_whole = self.served.is_built_in() || self.served.storage == self.served.api_version;
        !is_whole || object.json_len(self.store.limits().object).is_some()
    }

    /// Returns the JSON to store, in the storage version.
    fn draft<'a>(&'a self, object: Value<'a>, arena: &'a Bump) -> Result<crate::store::Draft, Status> {
        if is_deeper(object, MAX_DEPTH) {
            return Err(Status::bad_request(format!("the object nests deeper than {MAX_DEPTH} levels")));
        }
        let draft = self.served.storable(object, arena)?;
        // A number of replicas may have made an object around it, whose other members get defaults.
        Ok(if self.path.subresource == "scale" { draft } else { self.served.decoded(draft) })
    }

    /// The result of a write: the change, or for a dry run the object.
    pub(super) fn written(
        &self,
        change: Change,
        dry_run: bool,
        then: Then,
        shown: super::Shown,
    ) -> Result<Outcome, Status> {
        let draft = match &change.then {
            Becomes::Stored(draft) | Becomes::Deleted(draft) => draft,
        };
        let old = self.store.get(&change.key);
        let unchanged = old.filter(|old| {
            matches!(change.then, Becomes::Stored(_)) && draft.with_revision(&old.revision.to_string()) == old.json()
        });
        self.store.has_room(&change).map_err(|full| Status::internal(full.to_string()))?;
        if !dry_run && unchanged.is_none() {
            // The first one is that of the response.
            let changes = self.with_quotas(vec![change])?;
            return Ok(Outcome::Write(Write { changes, then, shown, warnings: self.warnings() }));
        }
        let object = match (unchanged, old) {
            (Some(old), _) => Arc::clone(old),
            (None, Some(old)) => draft.stored(old.revision),
            // An object that is not created has no revision.
            (None, None) => draft.not_stored(),
        };
        let reply = match then {
            Then::Object(code) => shown.object(code, &object)?,
            Then::Scale => super::scale::reply(&shown, &object)?,
            Then::Done(status) => shown.status(&status),
            Then::List(reply) => *reply,
        };
        Ok(Outcome::Reply(Reply { warnings: self.warnings(), ..reply }))
    }

    pub(super) fn update(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let parameters = WriteParameters::read(self.request.query, "UpdateOptions", false)?;
        let body = self.object_sent()?;
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let sent = self.sent(&body, &mut tape, parameters.validation, &arena)?;
        let object = self.fits_path(sent, &arena)?;
        let Some(old) = self.store.get(&self.key()) else {
            return self.create_by_update(object, &parameters, shown, &arena);
        };
        let mut memory = Tape::new();
        let live = self.live(old, &mut memory, &arena)?;
        let endpoint = self.endpoint(&arena)?;
        let options = self.options(&parameters);
        let object = endpoint.update_no_errors(Some(live), object, &options, &arena);
        let change = self.replaced(object, live, old, parameters.dry_run, &arena)?;
        self.written(change, parameters.dry_run, Then::Object(200), shown)
    }

    /// Creates the object of an update that does not exist, if its kind allows this (upstream: `AllowCreateOnUpdate`).
    fn create_by_update(
        &self,
        object: Value<'_>,
        parameters: &WriteParameters,
        shown: super::Shown,
        arena: &Bump,
    ) -> Result<Outcome, Status> {
        let served = self.served;
        let is_allowed = CREATED_BY_UPDATE.contains(&(&*served.group, &*served.plural));
        if !is_allowed || !served.is_built_in() || !self.path.subresource.is_empty() {
            return Err(self.not_found());
        }
        let object = without_system_metadata(object.copy_into(arena), arena);
        let object = with_meta(object, "resourceVersion", None, arena);
        let endpoint = self.endpoint(arena)?;
        let zero = self.strategy.zero(object, arena);
        let object = endpoint.update_no_errors(zero, object, &self.options(parameters), arena);
        let change = self.created(object, parameters.dry_run, arena)?;
        self.written(change, parameters.dry_run, Then::Object(201), shown)
    }

    /// Returns a stored object in the version of the request.
    pub(super) fn live<'a>(
        &'a self,
        stored: &Arc<Stored>,
        tape: &'a mut Tape,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Status> {
        let text = arena.alloc_str(self.served.read(stored)?.text());
        value::parsed(text.as_bytes(), tape, arena).map_err(Status::internal)
    }

    /// What replaces a stored object by a decoded one with its managed fields (upstream: `rest.BeforeUpdate`, the
    /// strategy, and what the store demands).
    pub(super) fn replaced<'a>(
        &'a self,
        object: Value<'a>,
        live: Value<'a>,
        old: &Arc<Stored>,
        is_dry_run: bool,
        arena: &'a Bump,
    ) -> Result<Change, Status> {
        self.has_room_for_policy(object)?;
        let object = self.mutated(object, Some(live), is_dry_run, arena)?;
        self.escalates_not(object, Some(live))?;
        let (name, of) = (self.path.name, self.group_resource());
        let namespace = Some(self.path.namespace).filter(|namespace| !namespace.is_empty());
        let key = || body::storage_key(&self.served.group, &self.served.plural, namespace, Some(name));
        match body::conflict(object, live, key) {
            Some(Conflict::Other(why)) => return Err(Status::conflict(of, name, &why)),
            // The store's error about a number reaches the client as it is.
            Some(Conflict::NoVersion(why)) => return Err(Status::internal(why)),
            None => {}
        }
        let release = self.api.registry.settings().release;
        if !self.strategy.allows_unconditional_updates()
            && let Some(error) = body::missing_version(object, &release.into())
        {
            return Err(Status::invalid(&self.served.group, &self.served.plural, name, &[error]));
        }
        let object = self.storable(object, arena)?;
        let object = self.without_repeated_owners(object, arena);
        let object = keep_times(live, object, arena);
        let strategy = self.strategy;
        let is_status = self.path.subresource == "status";
        let assigned = self.moment.assigned(self.store.revision(), arena);
        let (object, checked) = if self.path.subresource == "approval" {
            let object = approved(object, live, &self.moment.now.to_string(), arena);
            let mut checked = strategy.validate_status_update(object, live, self.moment.stop);
            let may = |error: &Error| !CHANGES_OF_APPROVAL.iter().any(|start| error.detail.starts_with(start));
            checked.errors.retain(may);
            (object, checked)
        } else if self.path.subresource == pods::EPHEMERAL {
            let object = pods::with_ephemeral_containers(object, live, arena);
            let object = strategy.prepare_update(object, live, assigned, arena);
            // Updates of Pods may not change these containers; here, nothing else changes.
            let mut checked = strategy.validate_update(object, object, self.moment.stop);
            checked.errors.extend(pods::ephemeral_errors(object, live));
            (object, checked)
        } else if self.path.subresource == pods::RESIZE {
            let object = resized(object, live, release, arena);
            let object = strategy.prepare_update(object, live, assigned, arena);
            let mut checked = strategy.validate_update(object, object, self.moment.stop);
            checked.errors.extend(resize_errors(object, live, release));
            (object, checked)
        } else if is_status {
            let object = strategy.prepare_status_update(object, live, assigned, arena);
            (object, strategy.validate_status_update(object, live, self.moment.stop))
        } else if self.path.subresource == "finalize" {
            let finalizers = object.get("spec").and_then(|spec| spec.get("finalizers"));
            let object = strategy.prepare_update(object, live, assigned, arena);
            let spec = object.get("spec").unwrap_or(Value::Map(Map::EMPTY));
            let object = value::with(object, "spec", Some(value::with(spec, "finalizers", finalizers, arena)), arena);
            (object, strategy.validate_update(object, live, self.moment.stop))
        } else {
            let object = strategy.prepare_update(object, live, assigned, arena);
            (object, strategy.validate_update(object, live, self.moment.stop))
        };
        // Once more, because the object has the values that the server sets only now (upstream: the check of the store).
        let object = keep_times(live, object, arena);
        self.warn(checked.warnings);
        let mut errors = common_update_errors(object, live, self.served.namespaced, release);
        errors.extend(checked.errors);
        if !errors.is_empty() {
            return Err(Status::invalid(&self.served.group, &self.served.kind, name, &errors));
        }
        if !is_status {
            self.warn(strategy.warnings(object, Some(live)));
        }
        // `write_scale` has asked about the scale.
        if self.path.subresource != "scale" {
            self.policed(Operation::Update, Some(object), Some(live), is_dry_run, arena)?;
        }
        let is_status = is_status || self.path.subresource == "approval";
        let object = if is_status { object } else { self.type_checked(object, arena) };
        let object = if is_status { object } else { strategy.stored(object, Some(live), assigned, arena) };
        let draft = self.draft(object, arena)?;
        let metadata = value::metadata(object);
        let has_finalizers = metadata.get("finalizers").and_then(Value::as_list).is_some_and(|list| !list.is_empty());
        let then = if metadata.get("deletionTimestamp").is_some() && !has_finalizers {
            Becomes::Deleted(draft)
        } else {
            Becomes::Stored(draft)
        };
        Ok(Change { key: self.key(), expected: Some(old.revision), then })
    }

    /// Whether the release has a change.
    fn has(&self, change: ReleaseChange) -> bool {
        change.is_in(self.api.registry.settings().release)
    }
}

/// What the rules of the status forbid and the approval allows.
const CHANGES_OF_APPROVAL: [&str; 2] =
    ["updates may not add a condition of type", "updates may not modify a condition of type"];

/// Returns a request for a certificate as its approval changes it: only the conditions of the status, which get times
/// (upstream: `csrApprovalStrategy.PrepareForUpdate`).
fn approved<'a>(object: Value<'a>, live: Value<'a>, now: &str, arena: &'a Bump) -> Value<'a> {
    let conditions = |of: Value<'a>| of.get("status").and_then(|status| status.get("conditions")?.as_list());
    let before = conditions(live).unwrap_or_default();
    let is_unset = |condition: Value<'a>, key: &str| condition.get(key).is_none_or(Value::is_null);
    let now = Value::String(arena.alloc_str(now));
    let timed = conditions(object).unwrap_or_default().iter().map(|condition| {
        let mut timed = *condition;
        if is_unset(timed, "lastUpdateTime") {
            timed = value::with(timed, "lastUpdateTime", Some(now), arena);
        }
        if is_unset(timed, "lastTransitionTime") {
            let same = |old: &&Value<'a>| ["type", "status"].iter().all(|key| old.get(key) == condition.get(key));
            let earlier = before.iter().find(same).and_then(|old| old.get("lastTransitionTime"));
            let earlier = earlier.filter(|time| !time.is_null());
            timed = value::with(timed, "lastTransitionTime", Some(earlier.unwrap_or(now)), arena);
        }
        timed
    });
    let timed: Vec<Value<'a>> = timed.collect();
    let status = live.get("status").unwrap_or(Value::Map(Map::EMPTY));
    let list = (!timed.is_empty()).then(|| Value::List(arena.alloc_slice_copy(&timed)));
    let status = value::with(status, "conditions", list, arena);
    value::with(value::with(object, "spec", live.get("spec"), arena), "status", Some(status), arena)
}

/// Returns duplicate fields, as strict validation reports them.
fn twice(node: Node<'_>) -> Vec<String> {
    duplicate_fields(node).into_iter().map(|duplicate| duplicate_field(&duplicate.path)).collect()
}

/// Returns whether a value nests deeper than this. Stops at that depth.
fn is_deeper(value: Value<'_>, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return true };
    match value {
        Value::List(items) => items.iter().any(|item| is_deeper(*item, below)),
        Value::Map(map) => map.entries().iter().any(|(_, value)| is_deeper(*value, below)),
        _ => false,
    }
}
