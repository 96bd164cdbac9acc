//! The subresource `scale` (upstream: `ScaleREST` of apiextensions-apiserver).

use super::reply::Shown;
use super::write::{CBOR, OBJECTS, refused};
use super::{Call, Outcome, Reply, Then};
use crate::accept::{Form, TargetKind};
use crate::form::{AUTOSCALING, META_V1, Room, Rows, Scale};
use crate::options::WriteParameters;
use crate::status::Status;
use crate::store::Stored;
use crate::value::{self, at_path, meta_text, with_meta, with_path};
use crate::wire;
use kubeshape_policy::Operation;
use kubeshape_policy::json_patch::json_patch;
use kubeshape_registry::merge_patch;
use kubeshape_show::table::{Column, Convertor};
use kubeshape_smd::fieldpath::Path as FieldPath;
use kubeshape_smd::managed::Gvk;
use kubeshape_smd::managed::scale::{replicas_path, to_parent, to_scale};
use kubeshape_smd::value::{Compat, Map, Stop};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use kubeshape_yaml::go::escape::GoQuoted;
use std::borrow::Cow;
use std::sync::Arc;

/// The columns of a scale (upstream: `scaleColumns`).
fn convertor() -> Convertor {
    let column = |name, column_type, json_path, description| Column {
        name,
        column_type,
        json_path,
        description,
        ..Column::default()
    };
    let columns = [
        column("Desired", "integer", ".spec.replicas", "Number of desired replicas"),
        column("Available", "integer", ".status.replicas", "Number of actual replicas"),
        column("Age", "date", ".metadata.creationTimestamp", AGE),
    ];
    Convertor::new(&columns).unwrap_or_else(|_| Convertor::names())
}

/// The description of `metadata.creationTimestamp`.
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The group versions of scales: the usual one, and the one of generic kinds.
const KNOWN: [&str; 2] = [AUTOSCALING, META_V1];

/// Returns a reply with the scale of a stored object.
///
/// # Errors
/// It cannot be converted.
pub(super) fn reply(shown: &Shown, stored: &Arc<Stored>) -> Result<Reply, Status> {
    let scale = shown.scale(&shown.read(stored)?.json())?;
    match &shown.target {
        None if shown.form == Form::Protobuf => {
            let body = wire::json_to_protobuf(AUTOSCALING, "Scale", &scale, shown.served.release())
                .map_err(Status::internal)?;
            Ok(shown.made(200, body))
        }
        None | Some((TargetKind::Scale, _)) => {
            let room = Room::of(scale.len(), Stop::NEVER);
            shown.encoded(200, scale, room)
        }
        Some((kind, _)) => {
            let rows = Rows::new(Arc::new(convertor()), shown.columns.clone(), *kind == TargetKind::Table);
            // A scale has the metadata of its object, and its own version.
            let shown = Shown { export: None, ..shown.clone() };
            shown.one(200, &Stored::of_json(&scale), Some(&rows))
        }
    }
}

fn is_number(value: Value<'_>, number: Value<'_>) -> bool {
    matches!((value, number), (Value::Int(a), Value::Int(b)) if a == b)
}

impl Call<'_> {
    pub(super) fn get_scale(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let stored = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let reply = reply(&shown, stored)?;
        Ok(Outcome::Reply(Reply { warnings: self.warnings(), ..reply }))
    }

    /// Returns the managed fields of an object after a manager set replicas through the scale (upstream:
    /// `ScaleHandler.ToParent`).
    fn owners<'a>(&'a self, live: Value<'a>, manager: &'a str, arena: &'a Bump) -> Result<Option<Value<'a>>, Status> {
        let paths = self.replicas_paths(arena);
        let map = |members| Value::Map(Map::from_entries(members, arena));
        let replicas = map(vec![("f:replicas", Value::Map(Map::EMPTY))]);
        let entry = map(vec![
            ("manager", Value::String(manager)),
            ("operation", Value::String("Update")),
            ("apiVersion", Value::String("autoscaling/v1")),
            ("subresource", Value::String("scale")),
            ("fieldsType", Value::String("FieldsV1")),
            ("fieldsV1", map(vec![("f:spec", replicas)])),
        ]);
        let scale = Value::List(arena.alloc_slice_copy(&[entry]));
        let parent = value::metadata(live).get("managedFields");
        to_parent(parent, Some(scale), &self.served.api_version, &paths, self.compat(), arena)
            .map_err(|error| Status::internal(error.to_string()))
    }

    /// The version of structured-merge-diff of the release.
    fn compat(&self) -> Compat {
        self.served.registry().unwrap_or(&self.api.registry).settings().compat
    }

    /// The path of the replicas in each version.
    fn replicas_paths<'a>(&'a self, arena: &'a Bump) -> Vec<(&'a str, Option<&'a FieldPath<'a>>)> {
        let registry = self.served.registry().unwrap_or(&self.api.registry);
        let versions = registry.versions(&self.served.group, &self.served.kind);
        let path = |kind: &'a kubeshape_registry::Kind| {
            let path = kind.version().and_then(|version| version.scale.as_ref()).or_else(|| self.served.scale());
            (kind.api_version(), path.map(|scale| replicas_path(&scale.spec_replicas_path, arena)))
        };
        versions.map(path).collect()
    }

    /// Applies a configuration to the scale of an object. Returns the scale afterwards, and the managed fields of the
    /// object.
    fn applied_scale<'a>(
        &'a self,
        live: Value<'a>,
        current: Value<'a>,
        config: Value<'a>,
        parameters: &WriteParameters,
        arena: &'a Bump,
    ) -> Result<(Value<'a>, Option<Value<'a>>), Status> {
        let failed = |error: String| Status::internal(error);
        let paths = self.replicas_paths(arena);
        let parent = value::metadata(live).get("managedFields");
        let owned = to_scale(parent, &paths, self.compat(), arena).map_err(|error| failed(error.to_string()))?;
        let current = with_meta(current, "managedFields", owned, arena);
        let config = self.patched_fits_path(config, arena)?;
        let own = self.served.registry().or_else(|| self.api.documents.registry("autoscaling", "v1"));
        let registry = own.ok_or_else(|| failed("the server has no document with autoscaling/v1".to_owned()))?;
        let gvk = Gvk::new(AUTOSCALING, "Scale");
        let endpoint = registry.endpoint(gvk, "scale", arena).map_err(|error| failed(error.to_string()))?;
        let options = self.options(parameters);
        let scale = endpoint.apply(Some(current), config, &options, arena).map_err(|error| refused(&error))?;
        let scale = scale.copy_into(arena);
        let owners = value::metadata(scale).get("managedFields");
        let owners = to_parent(parent, owners, &self.served.api_version, &paths, self.compat(), arena);
        Ok((scale, owners.map_err(|error| failed(error.to_string()))?))
    }

    /// Checks that the body is a scale, if it contains a kind. With all forms, it may also be the generic `Scale`.
    fn check_kind(&self, scale: Value<'_>) -> Result<(), Status> {
        let known = if self.request.alternates { &KNOWN[..] } else { &KNOWN[..1] };
        let text = |key: &str| scale.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if (kind.is_empty() || kind == "Scale") && (api_version.is_empty() || known.contains(&api_version)) {
            return Ok(());
        }
        let (found, expected) = (format!("{api_version} {kind}"), known.join(" or "));
        Err(Status::bad_request(format!("the body is no Scale: found {}, expected {expected} Scale", GoQuoted(&found))))
    }

    /// Replaces or patches a scale: the replicas of the object change, and who owns them.
    pub(super) fn write_scale(&self, is_patch: bool) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let kind = if is_patch { "PatchOptions" } else { "UpdateOptions" };
        let media = self.request.content_type.split(';').next().unwrap_or_default().trim();
        let applies = is_patch && self.applies();
        let parameters = WriteParameters::read(self.request.query, kind, applies)?;
        let Some(paths) = self.served.scale() else { return Err(self.not_found()) };
        if !is_patch && !self.request.has_cbor() && media == CBOR {
            return Err(Status::unsupported_media_type(OBJECTS));
        }
        let (mut tape, mut memory, arena) = (Tape::new(), Tape::new(), Bump::new());
        let body = self.transcoded()?;
        let body = match wire::protobuf_to_json(&body, self.release()) {
            Some(read) if !is_patch => Cow::Owned(read.map_err(|why| self.unreadable(&why))?),
            _ => body,
        };
        let node = self.document(&body, &mut tape)?;
        let sent = Value::from_node(node, &arena);
        let old = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let live = self.live(old, &mut memory, &arena)?;
        let current = Scale::of(live, paths, &arena).to_value(&arena);
        let mut of_scale = None;
        let scale = match (is_patch, media) {
            (true, "application/json-patch+json") => {
                json_patch(current, sent, &arena).map_err(|error| Status::bad_request(error.message))?
            }
            (true, "application/merge-patch+json" | "application/strategic-merge-patch+json") => {
                merge_patch::apply(current, sent, &arena)
            }
            (true, _) if applies => {
                let (scale, owners) = self.applied_scale(live, current, sent, &parameters, &arena)?;
                of_scale = Some(owners);
                scale
            }
            (true, _) => return Err(Status::unsupported_media_type("application/merge-patch+json")),
            (false, _) => sent,
        };
        self.check_kind(scale)?;
        let replicas = match scale.get("spec").and_then(|spec| spec.get("replicas")) {
            None | Some(Value::Null) => Value::Int(0),
            Some(Value::Int(n)) => Value::Int(n),
            Some(_) => return Err(Status::bad_request("spec.replicas of a Scale is an integer")),
        };
        let mut object = with_path(live, arena.alloc_str(&paths.spec_replicas_path), replicas, &arena);
        let revision = arena.alloc_str(meta_text(scale, "resourceVersion"));
        if !revision.is_empty() {
            object = with_meta(object, "resourceVersion", Some(Value::String(revision)), &arena);
        }
        if let Some(owners) = of_scale {
            object = with_meta(object, "managedFields", owners, &arena);
        } else if at_path(live, &paths.spec_replicas_path).is_none_or(|old| !is_number(old, replicas)) {
            let manager = arena.alloc_str(&parameters.manager(self.request.user_agent));
            let owners = self.owners(live, manager, &arena)?;
            object = with_meta(object, "managedFields", owners, &arena);
        }
        let after = Scale::of(object, paths, &arena).to_value(&arena);
        self.policed(Operation::Update, Some(after), Some(current), parameters.dry_run, &arena)?;
        let change = self.replaced(object, live, old, parameters.dry_run, &arena)?;
        self.written(change, parameters.dry_run, Then::Scale, shown)
    }
}
