//! Deleting objects.

use super::collect::{FOREGROUND, ORPHAN};
use super::definitions::CLEANUP;
use super::read::selected;
use super::{Call, Outcome, Then, Write};
use crate::options::{ListParameters, dry_run, is_true, kind_of_options};
use crate::status::Status;
use crate::store::{Change, Draft, Key, Stored, Then as Becomes};
use crate::target::parameter;
use crate::value::{self, meta_text, with_meta};
use crate::wire;
use kubeshape_policy::Operation;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::Arc;

/// Namespaces that a cluster cannot be without (upstream: the admission plugin `NamespaceLifecycle`).
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Options of a deletion.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) dry_run: bool,
    pub(super) uid: String,
    pub(super) revision: String,
    /// `Foreground`, `Background`, `Orphan` or nothing.
    policy: String,
    /// `orphanDependents`, which the policy replaced.
    orphan: Option<bool>,
}

impl Options {
    /// Reads `DeleteOptions`.
    pub(super) fn of_json(options: &serde_json::Value) -> Options {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let preconditions = &options["preconditions"];
        Options {
            dry_run: options["dryRun"].as_array().is_some_and(|list| !list.is_empty()),
            uid: text(&preconditions["uid"]),
            revision: text(&preconditions["resourceVersion"]),
            policy: text(&options["propagationPolicy"]),
            orphan: options["orphanDependents"].as_bool(),
        }
    }
}

impl Call<'_> {
    /// The options, from the body or from the query.
    fn delete_options(&self) -> Result<Options, Status> {
        let mut out = Options {
            dry_run: dry_run(self.request.query, "DeleteOptions")?,
            policy: parameter(self.request.query, "propagationPolicy").unwrap_or_default().into_owned(),
            orphan: parameter(self.request.query, "orphanDependents").map(|value| is_true(&value)),
            ..Options::default()
        };
        let body = self.transcoded()?;
        let body = match wire::protobuf_to_json(&body, self.release()) {
            Some(read) => Cow::Owned(read.map_err(|why| self.unreadable(&why))?),
            None => body,
        };
        if !body.is_empty() {
            let (mut tape, arena) = (Tape::new(), Bump::new());
            value::read_body(&body, &mut tape).map_err(|why| self.unreadable(&why))?;
            let source = std::str::from_utf8(&body).map_err(|why| self.unreadable(&why.to_string()))?;
            let options = tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
            let text = |value: Option<Value<'_>>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            if self.request.alternates {
                let said = |key: &str| options.get(key).and_then(Value::as_str).unwrap_or_default();
                kind_of_options(said("apiVersion"), said("kind"), &self.served.api_version)?;
            }
            let preconditions = options.get("preconditions").unwrap_or(Value::Null);
            out.uid = text(preconditions.get("uid"));
            out.revision = text(preconditions.get("resourceVersion"));
            out.policy = text(options.get("propagationPolicy"));
            if let Some(Value::Bool(orphan)) = options.get("orphanDependents") {
                out.orphan = Some(orphan);
            }
            out.dry_run |= options.get("dryRun").and_then(Value::as_list).is_some_and(|list| !list.is_empty());
        }
        if !["", "Foreground", "Background", "Orphan"].contains(&out.policy.as_str()) {
            use kubeshape_schema::field::{Error, Path};
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            let error = Error::not_supported(&Path::Base("propagationPolicy"), out.policy.as_str(), &supported, 0);
            return Err(Status::invalid("meta.k8s.io", "DeleteOptions", "", &[error]));
        }
        Ok(out)
    }

    pub(super) fn delete(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let options = self.delete_options()?;
        let old = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let (change, then) = self.deleted(&self.key(), old, &options)?;
        if let Some(change) = change {
            return self.written(change, options.dry_run, then, shown);
        }
        let code = if let Then::Object(code) = then { code } else { 200 };
        let reply = shown.object(code, old)?;
        Ok(Outcome::Reply(super::Reply { warnings: self.warnings(), ..reply }))
    }

    pub(super) fn delete_collection(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let options = self.delete_options()?;
        let selection = self.selection(&ListParameters::read(self.request.query)?)?;
        selection.convert(self.store, self.served, self.moment.stop)?;
        let objects = selected(self.store, self.served, &selection, self.moment.stop);
        let mut changes = Vec::new();
        for (key, _) in &objects {
            self.goes_on()?;
            let Some(old) = self.store.get(key) else { continue };
            changes.extend(self.deleted(key, old, &options)?.0);
        }
        let read = shown.read_all(objects.iter().map(|(_, object)| object), self.moment.stop)?;
        let list = shown.deleted(&read, self.store.revision(), self.moment.stop)?;
        if options.dry_run {
            changes.clear();
        }
        let changes = self.with_quotas(changes)?;
        Ok(Outcome::Write(Write { changes, then: Then::List(list.into()), shown, warnings: self.warnings() }))
    }

    /// Returns the change that deletes an object, or marks it if it has finalizers (upstream: `Store.Delete`). `None`
    /// if it is already marked.
    fn deleted(&self, key: &Key, old: &Arc<Stored>, options: &Options) -> Result<(Option<Change>, Then), Status> {
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let live = self.live(old, &mut tape, &arena)?;
        let (name, uid, of) = (key.name(), meta_text(live, "uid"), self.group_resource());
        let failed = |what: &str, asked: &str, found: &str| {
            let precondition = self.served.precondition();
            let why = format!("{precondition} failed: {what} in precondition: {asked}, {what} in object meta: {found}");
            Err(Status::conflict(of, name, &why))
        };
        if !options.uid.is_empty() && options.uid != uid {
            return failed("UID", &options.uid, uid);
        }
        let revision = old.revision.to_string();
        if !options.revision.is_empty() && options.revision != revision {
            return failed("ResourceVersion", &options.revision, &revision);
        }
        self.policed(Operation::Delete, None, Some(live), options.dry_run, &arena)?;
        self.marked_or_gone(key, old, live, options, &arena)
    }

    /// The change that deletes an object, given its last state, or marks it if it has finalizers.
    pub(super) fn marked_or_gone<'a>(
        &'a self,
        key: &Key,
        old: &Stored,
        live: Value<'a>,
        options: &Options,
        arena: &'a Bump,
    ) -> Result<(Option<Change>, Then), Status> {
        let (name, uid, of) = (key.name(), meta_text(live, "uid"), self.group_resource());
        let metadata = value::metadata(live);
        let finalizers = metadata.get("finalizers").and_then(Value::as_list).unwrap_or_default();
        let added = match options.policy.as_str() {
            "Foreground" => Some(FOREGROUND),
            "Orphan" => Some(ORPHAN),
            "" if options.orphan == Some(true) => Some(ORPHAN),
            _ => None,
        };
        let code = if options.orphan == Some(false) { 202 } else { 200 };
        let mut kept: Vec<Value<'_>> = finalizers.to_vec();
        let is_first = metadata.get("deletionTimestamp").is_none();
        // Upstream: `REST.Delete` of the registry of CustomResourceDefinitions.
        if self.served.is_definition() && is_first && !kept.iter().any(|name| name.as_str() == Some(CLEANUP)) {
            kept.push(Value::String(CLEANUP));
        }
        if let Some(added) = added.filter(|added| !finalizers.iter().any(|known| known.as_str() == Some(added))) {
            kept.push(Value::String(added));
        }
        let is_namespace = self.served.is_namespace();
        if is_namespace && is_first && IMMORTAL.contains(&name) {
            return Err(Status::forbidden(of, name, "this namespace may not be deleted"));
        }
        // A namespace goes when nothing is left in it.
        if kept.is_empty() && !(is_namespace && is_first) {
            let change = Change {
                key: key.clone(),
                expected: Some(old.revision),
                then: Becomes::Deleted(self.gone(live, old, arena)?),
            };
            return Ok((Some(change), Then::Done(Box::new(Status::deleted(of, name, uid)))));
        }
        if metadata.get("deletionTimestamp").is_some() {
            return Ok((None, Then::Object(code)));
        }
        let now = arena.alloc_str(&self.moment.now.to_string());
        let finalizers = (!kept.is_empty()).then(|| Value::List(arena.alloc_slice_copy(&kept)));
        let mut object = with_meta(live, "finalizers", finalizers, arena);
        if self.served.is_definition() {
            object = marked(object, now, arena);
        }
        object = with_meta(object, "deletionTimestamp", Some(Value::String(now)), arena);
        if is_namespace {
            let status = object.get("status").unwrap_or(Value::Null);
            let status = value::with(status, "phase", Some(Value::String("Terminating")), arena);
            object = value::with(object, "status", Some(status), arena);
        }
        if !self.served.is_definition() && !is_namespace {
            object = with_meta(object, "deletionGracePeriodSeconds", Some(Value::Int(0)), arena);
        }
        if !self.served.is_definition()
            && let Some(Value::Int(n)) = metadata.get("generation")
            && n > 0
        {
            object = with_meta(object, "generation", Some(Value::Int(n.saturating_add(1))), arena);
        }
        let change = Change {
            key: key.clone(),
            expected: Some(old.revision),
            then: Becomes::Stored(self.served.storable(object, arena)?),
        };
        Ok((Some(change), Then::Object(code)))
    }

    /// The last state of an object. A webhook need not convert what is stored already.
    fn gone<'a>(&'a self, live: Value<'a>, old: &Stored, arena: &'a Bump) -> Result<Draft, Status> {
        match self.served.converter().and_then(|_| Draft::of_stored(old)) {
            Some(draft) => Ok(draft),
            None => Ok(self.served.draft(self.served.in_storage(live, arena)?, arena)),
        }
    }
}

/// Returns a definition with the condition `Terminating`.
fn marked<'a>(definition: Value<'a>, now: &'a str, arena: &'a Bump) -> Value<'a> {
    let status = definition.get("status").unwrap_or(Value::Null);
    let mut conditions = status.get("conditions").and_then(Value::as_list).unwrap_or_default().to_vec();
    conditions.retain(|condition| condition.get("type").and_then(Value::as_str) != Some("Terminating"));
    let members = vec![
        ("type", Value::String("Terminating")),
        ("status", Value::String("True")),
        ("lastTransitionTime", Value::String(now)),
        ("reason", Value::String("InstanceDeletionPending")),
        (
            "message",
            Value::String(
                "CustomResourceDefinition marked for deletion; CustomResource deletion will be initiated soon",
            ),
        ),
    ];
    conditions.push(Value::Map(Map::from_entries(members, arena)));
    let conditions = Value::List(arena.alloc_slice_copy(&conditions));
    value::with(definition, "status", Some(value::with(status, "conditions", Some(conditions), arena)), arena)
}
