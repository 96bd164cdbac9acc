//! Hands fields over from one manager to another: the smallest patch of `metadata.managedFields`.

use crate::applies::Apply;
use crate::fields::Fields;
use crate::helm::of_release;
use crate::name::Name;
use crate::patch::{Edit, patch};
use crate::proof::{Check, prove};
use crate::value::{leaves, part};
use crate::words::Style;
use kubeshape_registry::{Error, Kind, Object, Operation, Registry, Time, WriteOptions};
use kubeshape_smd::fieldpath::{PathElement, Set, SetBuilder};
use kubeshape_smd::managed::{LAST_APPLIED, entries, upgrade};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue, Value};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// What is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Fields of these managers get another owner, who then owns them as if it had applied them.
    Give {
        /// The owners before.
        from: Vec<String>,
        /// The owner afterwards.
        to: String,
        /// The fields, with everything below them. Without any, all fields.
        fields: Vec<String>,
    },
    /// Fields of these managers lose this owner.
    Release {
        /// The owners before.
        from: Vec<String>,
        /// The fields, with everything below them. Without any, all fields.
        fields: Vec<String>,
    },
    /// Client-side apply becomes server-side apply, as client-go's `util/csaupgrade` does it.
    MigrateClientSide {
        /// The managers of client-side apply. Without any, those that own the annotation with the last configuration,
        /// or else `kubectl-client-side-apply`.
        from: Vec<String>,
        /// The manager of server-side apply.
        to: String,
    },
    /// The fields about which an apply of the configuration conflicts.
    Resolve {
        /// The manager that applies.
        to: String,
        /// If there are any, only their fields.
        from: Vec<String>,
    },
}

impl Goal {
    /// Returns the manager that owns the fields afterwards.
    pub fn to(&self) -> Option<&str> {
        match self {
            Goal::Give { to, .. } | Goal::MigrateClientSide { to, .. } | Goal::Resolve { to, .. } => Some(to),
            Goal::Release { .. } => None,
        }
    }
}

/// Why nothing can be handed over.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandOverError {
    /// The object, or a configuration, is refused by the server's rules.
    #[error(transparent)]
    Refused(#[from] Error),
    /// The entries were written in different versions, and the same field may have another path in each.
    #[error(
        "the fields of {from:?} are in version {found}, and those of {to:?} in {expected}; let {to:?} apply once first"
    )]
    Versions {
        /// The owner before.
        from: String,
        /// Its version.
        found: String,
        /// The owner afterwards.
        to: String,
        /// Its version.
        expected: String,
    },
    /// Nobody would own anything.
    #[error(
        "then nobody would own anything, and at the next apply the server would give all fields to \
         \"before-first-apply\"; give them to the manager that applies next instead"
    )]
    NobodyLeft,
    /// A server ignores entries: the list has a value of a wrong type, or two entries of the same owner.
    #[error("a server ignores entries of metadata.managedFields: they are invalid, or two of them have the same owner")]
    Ignored,
    /// Applies cannot do what the patch does.
    #[error("applies cannot do it: {why}; use the patch")]
    NotByApplies {
        /// Why.
        why: String,
    },
    /// The apply is to resolve conflicts, and there is no configuration.
    #[error("found no configuration of the object; without one, name the managers that give fields away")]
    NoConfig,
}

/// What an owner gives away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The owner before.
    pub manager: String,
    /// How it wrote.
    pub operation: String,
    /// The subresource through which it wrote.
    pub subresource: String,
    /// The fields.
    pub fields: Vec<String>,
}

/// A patch that hands fields over.
#[derive(Clone, Debug)]
pub struct HandOver {
    /// The object.
    pub object: Name,
    /// The operations of the JSON patch.
    pub operations: Vec<Json>,
    /// The applies that do the same, if they were wanted: see [`by_applies`](crate::by_applies).
    pub applies: Vec<Apply>,
    /// What is given away.
    pub moved: Vec<Moved>,
    /// The owner afterwards.
    pub to: Option<String>,
    /// What the next applies do afterwards, by simulation.
    pub checks: Vec<Check>,
    /// The object afterwards.
    pub after: Object,
}

impl HandOver {
    /// Returns whether the next applies of all managers succeed, and change nothing that should stay.
    pub fn is_proven(&self) -> bool {
        self.checks.iter().all(Check::is_fine)
    }

    /// Returns the patch as JSON.
    pub fn patch(&self) -> String {
        Json::Array(self.operations.clone()).to_string()
    }

    /// Returns the patch as a command for a shell. `resource` is the name of the resource for kubectl.
    pub fn command(&self, resource: &str) -> String {
        let namespace = match self.object.namespace.as_str() {
            "" => String::new(),
            namespace => format!(" -n {}", quoted(namespace)),
        };
        let name = quoted(&self.object.name);
        format!("kubectl patch {} {name}{namespace} --type=json -p {}", quoted(resource), quoted(&self.patch()))
    }
}

/// Returns a word of a command for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns the smallest patch that hands fields over; `None` if there is nothing to do.
///
/// The patch is a JSON patch of `metadata.managedFields`. It begins with a test of the resource version, if the object
/// has one, so that a server refuses it after any other change of the object. [`HandOver::checks`] say what the next
/// apply of each manager does afterwards. `config` is what the new owner applies next.
///
/// # Errors
/// See [`HandOverError`].
///
/// # Example: Helm gets the replicas back
/// ```
/// use kubeshape_ownership::{Goal, hand_over};
/// use kubeshape_registry::{Object, Registry, Time};
/// use serde_json::json;
///
/// let mut registry = Registry::default();
/// registry.set_input("tabs", kubeshape_input::read("tabs.yaml", b"
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   scope: Cluster
///   names: {plural: tabs, kind: Tab}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema: {openAPIV3Schema: {type: object, properties: {
///       spec: {type: object, properties: {replicas: {type: integer}, image: {type: string}}}}}}
/// ", kubeshape_input::Limits::default()));
/// let entry = |manager, operation, fields| json!({"manager": manager, "operation": operation,
///     "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}});
/// let live = Object::from(json!({"apiVersion": "example.com/v1", "kind": "Tab",
///     "metadata": {"name": "t", "resourceVersion": "7", "managedFields": [
///         entry("helm", "Apply", json!({"f:image": {}})),
///         entry("kubectl-edit", "Update", json!({"f:replicas": {}})),
///     ]},
///     "spec": {"image": "a", "replicas": 5}}));
///
/// let goal = Goal::Give { from: vec!["kubectl-edit".into()], to: "helm".into(), fields: Vec::new() };
/// let found = hand_over(&registry, &live, None, &goal, Time(0))?.unwrap();
/// assert!(found.is_proven());
/// assert_eq!(found.operations, [
///     json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"}),
///     json!({"op": "add", "path": "/metadata/managedFields/0/fieldsV1/f:spec/f:replicas", "value": {}}),
///     json!({"op": "remove", "path": "/metadata/managedFields/1"}),
/// ]);
/// # Ok::<(), kubeshape_ownership::HandOverError>(())
/// ```
pub fn hand_over(
    registry: &Registry,
    live: &Object,
    config: Option<&Object>,
    goal: &Goal,
    now: Time,
) -> Result<Option<HandOver>, HandOverError> {
    let arena = Bump::new();
    let of_helm = configured(live, config, goal, &arena);
    let config = of_helm.as_ref().or(config);
    let compat = registry.settings().compat;
    let list = live.value().pointer("/metadata/managedFields").and_then(Json::as_array).cloned().unwrap_or_default();
    let whole = Json::Array(list.clone());
    let managed = entries::decode_as(Some(whole.to_value(&arena)), compat, &arena)
        .map_err(|error| kubeshape_registry::managed_fields_error(&error, live.location()))?;
    if managed.fields.len() != list.len() {
        return Err(HandOverError::Ignored);
    }
    let found;
    let given = match goal {
        Goal::Give { from, fields, .. } | Goal::Release { from, fields } => {
            let of = |entry: &Json| from.iter().any(|name| name == text(entry, "manager"));
            list.iter().map(|entry| if of(entry) { Some(Wanted::Below(fields)) } else { None }).collect()
        }
        Goal::MigrateClientSide { from, to } => {
            let Some((edits, moved)) = migrated(registry, live, &list, from, to, &arena)? else { return Ok(None) };
            return finish(registry, live, config, goal, (&list, &edits, &[]), moved, now);
        }
        Goal::Resolve { to, from } => {
            found = conflicts(registry, live, config, to, now)?;
            let Some(conflicts) = &found else { return Ok(None) };
            list.iter().map(|entry| Wanted::of_conflicts(entry, conflicts, from)).collect::<Vec<_>>()
        }
    };
    let taken: Vec<Option<Set<'_>>> = list
        .iter()
        .zip(&given)
        .map(|(entry, wanted)| {
            let wanted = wanted.as_ref()?;
            // The status is applied through its own subresource.
            if text(entry, "subresource") == "status" {
                return None;
            }
            let set = set_of(entry, registry, &arena);
            let is_target = goal.to() == Some(text(entry, "manager")) && text(entry, "operation") == "Apply";
            let taken = wanted.of(set, &arena);
            (!is_target && !taken.is_empty()).then_some(taken)
        })
        .collect();
    if taken.iter().all(Option::is_none) {
        return Ok(None);
    }
    let moved = list.iter().zip(&taken).filter_map(|(entry, taken)| Some(moved(entry, (*taken)?, &arena))).collect();
    let (edits, added) = edits(registry, &list, &taken, goal.to(), &arena)?;
    finish(registry, live, config, goal, (&list, &edits, &added), moved, now)
}

/// Returns what Helm makes of a configuration that it applies; `None` if Helm is not the new owner.
pub(crate) fn configured(live: &Object, config: Option<&Object>, goal: &Goal, arena: &Bump) -> Option<Object> {
    let config = config.filter(|_| goal.to().is_some_and(|to| Style::of(to) == Style::Helm))?;
    Some(Object::of(of_release(config.to_value(arena), None, Some(live.to_value(arena)), arena)))
}

/// Which fields of an entry are handed over.
enum Wanted<'w> {
    /// These, and everything below them.
    Below(&'w [String]),
    /// Exactly these.
    Only(BTreeSet<&'w str>),
}

impl<'w> Wanted<'w> {
    fn of_conflicts(entry: &Json, conflicts: &'w [kubeshape_registry::Conflict], from: &[String]) -> Option<Self> {
        let is = |conflict: &&kubeshape_registry::Conflict| {
            conflict.manager == text(entry, "manager")
                && conflict.operation.is_some_and(|operation| operation.as_str() == text(entry, "operation"))
                && conflict.subresource == text(entry, "subresource")
                && (conflict.operation == Some(Operation::Apply) || conflict.api_version == text(entry, "apiVersion"))
                && (from.is_empty() || from.contains(&conflict.manager))
        };
        let paths: BTreeSet<&str> = conflicts.iter().filter(is).map(|conflict| conflict.path.as_str()).collect();
        (!paths.is_empty()).then_some(Wanted::Only(paths))
    }

    fn of<'a>(&self, set: Set<'a>, arena: &'a Bump) -> Set<'a> {
        match self {
            Wanted::Below(fields) => part(set, fields, arena),
            Wanted::Only(fields) => {
                let mut builder = SetBuilder::new(arena);
                let mut paths = set.iter();
                while let Some(path) = paths.advance() {
                    let text = kubeshape_smd::fieldpath::DisplayPath(path).to_string();
                    if fields.contains(text.as_str()) {
                        builder.insert(path);
                    }
                }
                builder.finish()
            }
        }
    }
}

fn text<'j>(entry: &'j Json, key: &str) -> &'j str {
    entry.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn set_of<'a>(entry: &Json, registry: &Registry, arena: &'a Bump) -> Set<'a> {
    let Some(fields) = entry.get("fieldsV1").filter(|fields| !fields.is_null()) else { return Set::EMPTY };
    let fields = fields.to_value(arena).copy_into(arena);
    Set::from_fields_v1_as(fields, registry.settings().compat, arena).unwrap_or(Set::EMPTY)
}

fn moved(entry: &Json, taken: Set<'_>, arena: &Bump) -> Moved {
    Moved {
        manager: text(entry, "manager").to_owned(),
        operation: text(entry, "operation").to_owned(),
        subresource: text(entry, "subresource").to_owned(),
        fields: leaves(taken, arena),
    }
}

/// Returns what becomes of each entry, and a new one.
fn edits(
    registry: &Registry,
    list: &[Json],
    taken: &[Option<Set<'_>>],
    to: Option<&str>,
    arena: &Bump,
) -> Result<(Vec<Edit>, Vec<Json>), HandOverError> {
    let compat = registry.settings().compat;
    let fields =
        |entry: &Json| Fields::of(entry.get("fieldsV1").unwrap_or(&Json::Null), set_of(entry, registry, arena), compat);
    let with = |entry: &Json, fields: Fields| {
        let mut entry = entry.clone();
        if let Json::Object(members) = &mut entry {
            members.insert("fieldsV1".to_owned(), fields.into_json());
        }
        entry
    };
    let is_target = |entry: &&Json| {
        Some(text(entry, "manager")) == to
            && text(entry, "operation") == "Apply"
            && text(entry, "subresource").is_empty()
    };
    let mut target = list.iter().position(|entry| is_target(&entry));
    let mut edits: Vec<Edit> = Vec::with_capacity(list.len());
    for (entry, taken) in list.iter().zip(taken) {
        edits.push(match taken {
            None => Edit::Keep,
            Some(taken) if set_of(entry, registry, arena) == *taken => Edit::Remove,
            Some(taken) => {
                let mut fields = fields(entry);
                // The last path first: an item goes before its list does.
                let paths: Vec<_> = taken.iter().collect();
                paths.iter().rev().for_each(|path| fields.remove(path));
                Edit::Change(with(entry, fields))
            }
        });
    }
    let Some(to) = to else {
        let nobody = edits.iter().all(|edit| *edit == Edit::Remove);
        return if nobody { Err(HandOverError::NobodyLeft) } else { Ok((edits, Vec::new())) };
    };
    let first = taken.iter().position(Option::is_some).unwrap_or_default();
    // Without an entry of the new owner, one that gives away everything becomes it.
    let renamed = if target.is_none() { edits.iter().position(|edit| *edit == Edit::Remove) } else { None };
    target = target.or(renamed);
    let base = target.unwrap_or(first);
    let Some(entry) = list.get(base) else { return Ok((edits, Vec::new())) };
    let expected = text(entry, "apiVersion");
    let mut new = match target {
        Some(_) => fields(entry),
        None => Fields::of(&json!({}), Set::EMPTY, compat),
    };
    for (giver, taken) in list.iter().zip(taken) {
        let Some(taken) = taken else { continue };
        let found = text(giver, "apiVersion");
        if found != expected {
            let (from, found, to) = (text(giver, "manager").to_owned(), found.to_owned(), to.to_owned());
            return Err(HandOverError::Versions { from, found, to, expected: expected.to_owned() });
        }
        taken.iter().for_each(|path| new.insert(&path));
    }
    let mut changed = with(entry, new);
    if let Json::Object(members) = &mut changed
        && (target.is_none() || renamed.is_some())
    {
        members.insert("manager".to_owned(), to.into());
        members.insert("operation".to_owned(), Operation::Apply.as_str().into());
        members.remove("subresource");
    }
    match target.and_then(|target| edits.get_mut(target)) {
        Some(edit) => {
            *edit = Edit::Change(changed);
            Ok((edits, Vec::new()))
        }
        None => Ok((edits, vec![changed])),
    }
}

type Migrated = (Vec<Edit>, Vec<Moved>);

/// Returns what `csaupgrade` makes of each entry; `None` if it changes nothing.
fn migrated(
    registry: &Registry,
    live: &Object,
    list: &[Json],
    from: &[String],
    to: &str,
    arena: &Bump,
) -> Result<Option<Migrated>, HandOverError> {
    let compat = registry.settings().compat;
    let object = live.to_value(arena);
    let mut names: Vec<&str> = from.iter().map(String::as_str).collect();
    if names.is_empty() {
        names = annotated(object, compat, arena);
    }
    let is_from = |entry: &Json| {
        text(entry, "operation") == "Update"
            && text(entry, "subresource").is_empty()
            && names.contains(&text(entry, "manager"))
    };
    if !list.iter().any(is_from) {
        return Ok(None);
    }
    let refused = |error: kubeshape_smd::fieldpath::SetError| Error::Refused { message: error.to_string(), code: 500 };
    let after = upgrade::upgrade(object, &names, arena.alloc_str(to), "", compat, arena).map_err(refused)?;
    let after = crate::value::managed_fields(after).map(Value::to_serde).unwrap_or_default();
    let after = after.as_array().cloned().unwrap_or_default();
    let is_target = |entry: &Json| {
        text(entry, "manager") == to && text(entry, "operation") == "Apply" && text(entry, "subresource").is_empty()
    };
    let of_name = |name: &&str| list.iter().position(|entry| text(entry, "manager") == *name && is_from(entry));
    let target = list.iter().position(is_target).or_else(|| names.iter().find_map(of_name));
    let mut rest = after.into_iter();
    let mut edits = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        edits.push(if is_from(entry) && target != Some(at) {
            Edit::Remove
        } else {
            match rest.next() {
                Some(same) if same == *entry => Edit::Keep,
                Some(other) => Edit::Change(other),
                None => Edit::Remove,
            }
        });
    }
    let moved = list.iter().filter(|entry| is_from(entry));
    let moved = moved.map(|entry| self::moved(entry, set_of(entry, registry, arena), arena)).collect();
    Ok(Some((edits, moved)))
}

/// Returns the managers that own the annotation of client-side apply, as kubectl finds them.
fn annotated<'a>(object: Value<'a>, compat: Compat, arena: &'a Bump) -> Vec<&'a str> {
    let path = ["metadata", "annotations", LAST_APPLIED].map(PathElement::FieldName);
    let mut annotation = SetBuilder::new(arena);
    annotation.insert(&path);
    let list = crate::value::managed_fields(object);
    let owners = upgrade::find_owners(list, Operation::Update, annotation.finish(), compat, arena);
    let mut names: Vec<&str> = Vec::new();
    for owner in owners {
        names.extend(owner.get("manager").and_then(Value::as_str).filter(|name| !names.contains(name)));
    }
    if names.is_empty() { vec![kubeshape_registry::CLIENT_SIDE_MANAGER] } else { names }
}

/// Returns the conflicts of an apply; `None` if it succeeds.
fn conflicts(
    registry: &Registry,
    live: &Object,
    config: Option<&Object>,
    to: &str,
    now: Time,
) -> Result<Option<Vec<kubeshape_registry::Conflict>>, HandOverError> {
    let config = config.ok_or(HandOverError::NoConfig)?;
    match registry.apply(Some(live), config, &WriteOptions::new(to, now)) {
        Ok(_) => Ok(None),
        Err(Error::Conflicts(conflicts)) => Ok(Some(conflicts.conflicts)),
        Err(other) => Err(other.into()),
    }
}

fn finish(
    registry: &Registry,
    live: &Object,
    config: Option<&Object>,
    goal: &Goal,
    (list, edits, added): (&[Json], &[Edit], &[Json]),
    moved: Vec<Moved>,
    now: Time,
) -> Result<Option<HandOver>, HandOverError> {
    // A server drops entries of versions that the kind does not have, with any write.
    let versions: Vec<&str> = registry.versions(live.gvk().group(), live.kind()).map(Kind::api_version).collect();
    let is_dropped = |entry: &Json| !versions.is_empty() && !versions.contains(&text(entry, "apiVersion"));
    let kept = |(entry, edit): (&Json, &Edit)| {
        if *edit == Edit::Remove && is_dropped(entry) { Edit::Keep } else { edit.clone() }
    };
    let needed: Vec<Edit> = list.iter().zip(edits).map(kept).collect();
    let version = live.value().pointer("/metadata/resourceVersion").and_then(Json::as_str).unwrap_or_default();
    let operations = patch(list, &needed, added, version);
    if operations.is_empty() {
        return Ok(None);
    }
    let mut expected: Vec<Json> = Vec::with_capacity(list.len() + added.len());
    for (entry, edit) in list.iter().zip(edits) {
        match edit {
            Edit::Keep => expected.push(entry.clone()),
            Edit::Remove => {}
            Edit::Change(entry) => expected.push(entry.clone()),
        }
    }
    expected.extend(added.iter().cloned());
    expected.retain(|entry| !is_dropped(entry));
    if expected.is_empty() {
        return Err(HandOverError::NobodyLeft);
    }
    let (checks, after) = prove(registry, live, config, goal, &operations, &Json::Array(expected), now)?;
    let (object, to) = (Name::of(live), goal.to().map(str::to_owned));
    Ok(Some(HandOver { object, operations, applies: Vec::new(), moved, to, checks, after }))
}
