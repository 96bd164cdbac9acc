//! What Argo CD and Flux do with the owners of a live object before they apply it.

use crate::engine;
use crate::value::{managed_fields, with_managed_fields, with_metadata};
use kubeshape_registry::{CLIENT_SIDE_MANAGER, Error, Locations, Operation, Registry, Verb, WriteOptions};
use kubeshape_smd::fieldpath::{Set, SetError};
use kubeshape_smd::managed::LAST_APPLIED;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, Value};

/// An object with this label or annotation keeps its owners.
const KEEPS_OWNERS: (&str, &str) = ("kustomize.toolkit.fluxcd.io/ssa", "Merge");
/// The annotations that kustomize-controller removes.
const ANNOTATIONS: &[&str] = &[LAST_APPLIED, "kustomize.toolkit.fluxcd.io/checksum", "fluxcd.io/sync-checksum"];
/// The labels that kustomize-controller removes.
const LABELS: &[&str] = &["fluxcd.io/sync-gc-mark"];

/// Returns the live object after Argo CD's migration from client-side apply (upstream:
/// `performClientSideApplyMigration` of gitops-engine, which every sync with `ServerSideApply=true` calls unless
/// `ClientSideApplyMigration=false`). If `kubectl-client-side-apply` owns anything, the configuration is first applied
/// on the client under that name. The apply on the server uses kubectl's code, so it then takes over the fields of the
/// manager that owns the annotation.
pub(crate) fn by_argo_cd<'a>(
    registry: &'a Registry,
    live: Value<'a>,
    config: Value<'a>,
    options: &WriteOptions,
    arena: &'a Bump,
) -> Result<Value<'a>, Error> {
    let list = managed_fields(live).and_then(Value::as_list).unwrap_or_default();
    if !list.iter().any(|entry| text(*entry, "manager") == CLIENT_SIDE_MANAGER) {
        return Ok(live);
    }
    let options = WriteOptions { manager: CLIENT_SIDE_MANAGER.to_owned(), force: false, ..options.clone() };
    engine::client_side_apply(registry, live, config, &options, arena)
}

/// Returns the live object after Flux has cleaned up (upstream: `cleanupMetadata` of fluxcd/pkg/ssa, with the options
/// of kustomize-controller). It removes the annotation of client-side apply, and takes over the fields of every manager
/// of kubectl, of `before-first-apply`, and of its own updates, so that what Git does not have is removed.
pub(crate) fn by_flux<'a>(
    registry: &'a Registry,
    live: Value<'a>,
    config: Value<'a>,
    options: &WriteOptions,
    arena: &'a Bump,
) -> Result<Value<'a>, Error> {
    if keeps_owners(live) || keeps_owners(config) {
        return Ok(live);
    }
    let manager: &'a str = arena.alloc_str(&options.manager);
    let mut new = without(live, "annotations", ANNOTATIONS, arena);
    new = without(new, "labels", LABELS, arena);
    let list = managed_fields(live).and_then(Value::as_list).unwrap_or_default();
    let refused = |error: SetError| Error::Refused { message: error.to_string(), code: 500 };
    if let Some(list) = taken_over(list, manager, registry.settings().compat, arena).map_err(refused)? {
        new = with_managed_fields(new, Some(Value::List(arena.alloc_slice_copy(&list))), arena);
    }
    if new == live {
        return Ok(live);
    }
    let options = WriteOptions { force: false, ..options.clone() };
    engine::write(registry, Verb::Update, Some(live), new, &options, Locations::default(), arena)
}

fn keeps_owners(object: Value<'_>) -> bool {
    let (key, value) = KEEPS_OWNERS;
    let of = |map: &str| object.get("metadata")?.get(map)?.get(key)?.as_str();
    ["labels", "annotations"].iter().filter_map(|map| of(map)).any(|found| found.eq_ignore_ascii_case(value))
}

/// Removes members of a map of the metadata. A map that is then empty is removed, too, as by a server.
fn without<'a>(object: Value<'a>, map: &'static str, keys: &[&'static str], arena: &'a Bump) -> Value<'a> {
    let found = object.get("metadata").and_then(|metadata| metadata.get(map)).and_then(Value::as_map);
    let Some(mut members) = found.filter(|members| keys.iter().any(|key| members.get(key).is_some())) else {
        return object;
    };
    for key in keys {
        members = members.with(key, None, arena);
    }
    with_metadata(object, map, (!members.is_empty()).then_some(Value::Map(members)), arena)
}

/// Returns the entries after `manager` has taken over those of kubectl (upstream: `PatchReplaceFieldsManagers`); `None`
/// if there are none.
fn taken_over<'a>(
    list: &'a [Value<'a>],
    manager: &'a str,
    compat: Compat,
    arena: &'a Bump,
) -> Result<Option<Vec<Value<'a>>>, SetError> {
    let is_apply = |entry: Value<'a>| text(entry, "operation") == Operation::Apply.as_str();
    let is_own = |entry: Value<'a>| text(entry, "manager") == manager && is_apply(entry);
    let is_taken = |entry: Value<'a>| {
        let (name, applies) = (text(entry, "manager"), is_apply(entry));
        text(entry, "subresource").is_empty()
            && (name.starts_with("kubectl")
                || !applies && (name.starts_with("before-first-apply") || name.starts_with(manager)))
    };
    let mut own = list.iter().rposition(|entry| is_own(*entry)).and_then(|at| Some((at, *list.get(at)?)));
    let first = own.map(|(at, _)| at);
    let mut out = Vec::with_capacity(list.len());
    let mut edited = false;
    for (at, entry) in list.iter().enumerate() {
        if first == Some(at) {
            continue;
        }
        if !is_taken(*entry) {
            out.push(*entry);
            continue;
        }
        edited = true;
        own = Some(match own {
            None => (at, renamed(*entry, manager, arena)),
            Some((at, own)) => (at, joined(own, *entry, compat, arena)?),
        });
    }
    out.extend(own.map(|(_, entry)| entry));
    Ok(edited.then_some(out))
}

fn renamed<'a>(entry: Value<'a>, manager: &'a str, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = entry else { return entry };
    let map = map.with("manager", Some(Value::String(manager)), arena);
    Value::Map(map.with("operation", Some(Value::String(Operation::Apply.as_str())), arena))
}

/// Adds the fields of one entry to another one.
fn joined<'a>(own: Value<'a>, other: Value<'a>, compat: Compat, arena: &'a Bump) -> Result<Value<'a>, SetError> {
    let Value::Map(map) = own else { return Ok(own) };
    let of = |entry: Value<'a>| entry.get("fieldsV1").filter(|fields| !fields.is_null());
    let fields = match (of(own), of(other)) {
        (Some(own), Some(other)) => {
            let read = |fields| Set::from_fields_v1_as(fields, compat, arena);
            Some(read(own)?.union(read(other)?, arena).to_fields_v1(arena)?)
        }
        (own, other) => own.or(other),
    };
    Ok(Value::Map(map.with("fieldsV1", fields, arena)))
}

fn text<'a>(entry: Value<'a>, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}
