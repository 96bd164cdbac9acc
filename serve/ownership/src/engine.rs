//! Requests on borrowed objects.

use crate::value::with_managed_fields;
use kubeshape_registry::{
    ClientSideError, Endpoint, EndpointError, Error, Gvk, Locations, Registry, Verb, WriteOptions, extract_applied,
};
use kubeshape_smd::fieldpath::{DisplayPath, Set};
use kubeshape_smd::typed::Duplicates;
use kubeshape_smd::{Bump, Value};
use serde_json::Value as Json;

/// Returns the endpoint of a kind.
pub(crate) fn endpoint<'a>(
    registry: &'a Registry,
    gvk: Gvk<'a>,
    subresource: &str,
    arena: &'a Bump,
) -> Result<&'a Endpoint<'a>, EndpointError> {
    Ok(arena.alloc(registry.endpoint(gvk, arena.alloc_str(subresource), arena)?))
}

/// Sends a write, and explains why it is refused.
pub(crate) fn write<'a>(
    registry: &'a Registry,
    verb: Verb,
    live: Option<Value<'a>>,
    new: Value<'a>,
    options: &WriteOptions,
    places: Locations<'_>,
    arena: &'a Bump,
) -> Result<Value<'a>, Error> {
    options.check()?;
    let gvk = new.gvk();
    let endpoint = endpoint(registry, gvk, &options.subresource, arena)?;
    let before = live.map(|live| endpoint.read(live, arena).value);
    endpoint.write(verb, before, new, options, arena).map_err(|error| registry.explain(&error, gvk, places))
}

/// Applies as `kubectl apply --server-side` does.
pub(crate) fn apply_and_migrate<'a>(
    registry: &'a Registry,
    live: Option<Value<'a>>,
    config: Value<'a>,
    options: &WriteOptions,
    places: Locations<'_>,
    arena: &'a Bump,
) -> Result<Value<'a>, Error> {
    options.check()?;
    let gvk = config.gvk();
    let endpoint = endpoint(registry, gvk, "", arena)?;
    let before = live.map(|live| endpoint.read(live, arena).value);
    client(registry, endpoint.apply_and_migrate(before, config, options, arena), gvk, places)
}

/// Applies as `kubectl apply` does.
pub(crate) fn client_side_apply<'a>(
    registry: &'a Registry,
    live: Value<'a>,
    config: Value<'a>,
    options: &WriteOptions,
    arena: &'a Bump,
) -> Result<Value<'a>, Error> {
    let gvk = config.gvk();
    let endpoint = endpoint(registry, gvk, "", arena)?;
    let before = endpoint.read(live, arena).value;
    client(registry, endpoint.client_side_apply(Some(before), config, options, arena), gvk, Locations::default())
}

fn client<'a>(
    registry: &Registry,
    result: Result<Value<'a>, ClientSideError<'_>>,
    gvk: Gvk<'_>,
    places: Locations<'_>,
) -> Result<Value<'a>, Error> {
    let refused = |message: String| Error::Refused { message, code: 400 };
    result.map_err(|error| match error {
        ClientSideError::Managed(error) => registry.explain(&error, gvk, places),
        ClientSideError::Patch(error) => refused(error.to_string()),
        ClientSideError::Owners(error) => refused(error.to_string()),
    })
}

/// Returns what a manager applied last, as far as the object still has it.
pub(crate) fn last_of<'a>(
    registry: &'a Registry,
    live: Value<'a>,
    manager: &str,
    api_version: &str,
    arena: &'a Bump,
) -> Option<Value<'a>> {
    let Value::Map(map) = live else { return None };
    let live = Value::Map(map.with("apiVersion", Some(Value::String(arena.alloc_str(api_version))), arena));
    let ty = registry.kind(live.gvk())?.merge_type()?;
    extract_applied(live, ty, manager, "", registry.settings().compat, arena).ok()?
}

/// What became of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its value is another one.
    Changed,
    /// It is gone.
    Removed,
}

/// A field that a write changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The field, as a server prints it.
    pub path: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// The value before.
    pub before: Option<Json>,
    /// The value after.
    pub after: Option<Json>,
}

/// Returns what differs between two versions of an object, without managed fields.
pub(crate) fn changes<'a>(
    registry: &'a Registry,
    before: Option<Value<'a>>,
    after: Value<'a>,
    arena: &'a Bump,
) -> Vec<Change> {
    let bare = |value: Value<'a>| with_managed_fields(value, None, arena);
    let after = bare(after);
    let Some(ty) = registry.kind(after.gvk()).and_then(kubeshape_registry::Kind::merge_type) else { return Vec::new() };
    let Ok(new) = ty.validate(after, Duplicates::Allowed) else { return Vec::new() };
    let mut out = Vec::new();
    let Some(before) = before.map(bare) else {
        let set = new.to_field_set(arena).unwrap_or(Set::EMPTY);
        push(&mut out, set, ChangeKind::Added, None, Some(after), arena);
        return out;
    };
    let before = match before {
        // The same object in the version of the request.
        Value::Map(map) => Value::Map(map.with("apiVersion", after.get("apiVersion"), arena)),
        other => other,
    };
    let Ok(old) = ty.validate(before, Duplicates::Allowed) else { return out };
    let Ok(found) = old.compare(new, arena) else { return out };
    push(&mut out, found.added, ChangeKind::Added, Some(before), Some(after), arena);
    push(&mut out, found.modified, ChangeKind::Changed, Some(before), Some(after), arena);
    push(&mut out, found.removed, ChangeKind::Removed, Some(before), Some(after), arena);
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

fn push(
    out: &mut Vec<Change>,
    set: Set<'_>,
    kind: ChangeKind,
    before: Option<Value<'_>>,
    after: Option<Value<'_>>,
    arena: &Bump,
) {
    for path in set.leaves(arena) {
        let value = |of: Option<Value<'_>>| of.and_then(|value| crate::value::at(value, &path)).map(Value::to_serde);
        out.push(Change {
            path: DisplayPath(&path).to_string(),
            kind,
            before: if kind == ChangeKind::Added { None } else { value(before) },
            after: if kind == ChangeKind::Removed { None } else { value(after) },
        });
    }
}
