//! The owners of an object: by field and by tool, several owners, stale owners, and fields that nobody sets.

use crate::name::Name;
use crate::tools::{Role, Tool, tool_of};
use crate::value::managed_fields;
use kubeshape_registry::{Error, Object, Operation, Registry, Time, managed_fields_error};
use kubeshape_smd::fieldpath::{DisplayPath, Set};
use kubeshape_smd::managed::{self, DecodeError, LAST_APPLIED, entries};
use kubeshape_smd::typed::Duplicates;
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue, Value};
use std::collections::BTreeMap;

/// What is known in addition to the object.
#[derive(Clone, Debug, Default)]
pub struct Known<'k> {
    /// Managers that no longer exist: a removed controller, the old name of a renamed one.
    pub gone: Vec<String>,
    /// The configurations of the object, of all that apply it.
    pub configs: Vec<&'k Object>,
    /// The kinds, for the fields of the configurations.
    pub registry: Option<&'k Registry>,
}

/// The owners of one object.
///
/// # Example: who owns what, and what is left over
/// ```
/// use kubeshape_ownership::{Ownership, StaleReason};
/// use kubeshape_registry::Object;
///
/// let live = Object::read("live.yaml", r#"
/// apiVersion: v1
/// kind: ConfigMap
/// metadata:
///   name: settings
///   managedFields:
///   - {manager: helm, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}
///   - manager: kubectl-client-side-apply
///     operation: Update
///     apiVersion: v1
///     fieldsType: FieldsV1
///     fieldsV1: {"f:data": {"f:a": {}, "f:old": {}}}
/// data: {a: "1", old: "2"}
/// "#)?;
/// let ownership = Ownership::of(&live)?;
/// assert_eq!(ownership.owners[0].tool.name, "Helm");
/// assert_eq!(ownership.shared[0].path, ".data.a");
/// assert_eq!(ownership.stale[0].reason, StaleReason::ClientSideApply { annotation: false });
/// assert_eq!(ownership.leftovers[0].path, ".data.old");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ownership {
    /// The object.
    pub object: Name,
    /// Its owners, in the order in which the server lists them.
    pub owners: Vec<OwnerOf>,
    /// Fields with several owners.
    pub shared: Vec<Field>,
    /// Stale owners: no tool writes under their names any more.
    pub stale: Vec<Stale>,
    /// Fields that only stale owners have, and that no configuration sets: no apply will ever remove them.
    pub leftovers: Vec<Field>,
}

/// An owner of fields of an object.
#[derive(Clone, Debug)]
pub struct OwnerOf {
    /// The name of the manager.
    pub manager: String,
    /// How it wrote.
    pub operation: Operation,
    /// The version in which it wrote.
    pub api_version: String,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: String,
    /// When its entry last changed.
    pub time: Option<Time>,
    /// The tool behind the name.
    pub tool: &'static Tool,
    /// Its fields, without those that only contain others of its fields.
    pub fields: Vec<String>,
}

/// A field and its owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field, as a server prints it.
    pub path: String,
    /// The indices of its owners.
    pub owners: Vec<usize>,
}

/// An owner that will not write again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The index of the owner.
    pub owner: usize,
    /// Why.
    pub reason: StaleReason,
}

/// Why an owner is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleReason {
    /// The server made it up at the first apply.
    BeforeFirstApply,
    /// Client-side apply, of an object that is applied on the server now.
    ClientSideApply {
        /// Whether the object has the annotation with the last configuration.
        annotation: bool,
    },
    /// An update by a manager that applies on the server now.
    AppliesNow,
    /// The user says that the manager no longer exists.
    Gone,
    /// The kind no longer has the version in which the entry was written: the next apply drops it.
    OldVersion,
}

impl StaleReason {
    /// Returns a short name for programs.
    pub fn id(self) -> &'static str {
        match self {
            StaleReason::BeforeFirstApply => "before-first-apply",
            StaleReason::ClientSideApply { .. } => "client-side-apply",
            StaleReason::AppliesNow => "applies-now",
            StaleReason::Gone => "gone",
            StaleReason::OldVersion => "old-version",
        }
    }

    /// Returns a sentence.
    pub fn text(self) -> &'static str {
        match self {
            StaleReason::BeforeFirstApply => "the server recorded what was there before the first apply",
            StaleReason::ClientSideApply { annotation: true } => {
                "client-side apply, with its annotation; the object is applied on the server now"
            }
            StaleReason::ClientSideApply { annotation: false } => {
                "client-side apply, without its annotation; the object is applied on the server now"
            }
            StaleReason::AppliesNow => "an update by a manager that applies on the server now",
            StaleReason::Gone => "the manager no longer exists",
            StaleReason::OldVersion => "the kind no longer has this version",
        }
    }
}

impl Ownership {
    /// Returns the owners of an object.
    ///
    /// # Errors
    /// [`Error::ManagedFields`]: its managed fields cannot be read.
    pub fn of(object: &Object) -> Result<Ownership, Error> {
        Ownership::with(object, &Known::default())
    }

    /// Returns the owners of an object, with what is known in addition.
    ///
    /// # Errors
    /// [`Error::ManagedFields`]: its managed fields cannot be read. [`Error::Invalid`]: a configuration does not fit
    /// its type.
    pub fn with(object: &Object, known: &Known<'_>) -> Result<Ownership, Error> {
        let arena = Bump::new();
        let mut set = Set::EMPTY;
        for config in &known.configs {
            let Some(registry) = known.registry else { break };
            let fields = registry.field_set(config)?;
            // The set was written by this program, so it can be read.
            let read = Set::read_json(arena.alloc_str(fields.to_json()).as_bytes(), &arena).unwrap_or(Set::EMPTY);
            set = set.union(read, &arena);
        }
        let read = Ownership::of_value(object.to_value(&arena), known, set, &arena);
        read.map_err(|error| managed_fields_error(&error, object.location()))
    }

    /// Returns the owners of a borrowed object. `set` has the fields that configurations set.
    ///
    /// # Errors
    /// Its managed fields cannot be read.
    pub fn of_value<'a>(
        object: Value<'a>,
        known: &Known<'_>,
        set: Set<'a>,
        arena: &'a Bump,
    ) -> Result<Ownership, DecodeError> {
        let compat = known.registry.map_or_else(Compat::default, |registry| registry.settings().compat);
        let managed = entries::decode_as(managed_fields(object), compat, arena)?;
        let ownership = managed::Ownership::new(&managed);
        let index: BTreeMap<_, usize> =
            ownership.all().iter().enumerate().map(|(at, (owner, _))| (std::ptr::from_ref(owner), at)).collect();
        let owners: Vec<OwnerOf> = ownership
            .all()
            .iter()
            .map(|(owner, fields)| OwnerOf {
                manager: owner.manager.to_owned(),
                operation: owner.operation,
                api_version: owner.api_version.to_owned(),
                subresource: owner.subresource.to_owned(),
                time: owner.time,
                tool: tool_of(owner.manager),
                fields: crate::value::leaves(*fields, arena),
            })
            .collect();
        let stale = stale(object, &owners, known);
        let is_stale = |owner: &usize| stale.iter().any(|stale| stale.owner == *owner);
        let mut shared = Fields::default();
        let mut leftovers = Fields::default();
        ownership.for_each(&mut |path, all| {
            let indices = || all.iter().filter_map(|owner| index.get(&std::ptr::from_ref(*owner)).copied());
            if all.len() > 1 {
                shared.push(DisplayPath(path).to_string(), indices().collect());
            }
            if !stale.is_empty() && indices().all(|owner| is_stale(&owner)) && !crate::value::sets(set, path) {
                let is_annotation = path.last().is_some_and(|last| last.to_string().contains(LAST_APPLIED));
                if !is_annotation {
                    leftovers.push(DisplayPath(path).to_string(), indices().collect());
                }
            }
        });
        let (shared, leftovers) = (shared.done(), leftovers.done());
        Ok(Ownership { object: Name::of_value(object), owners, shared, stale, leftovers })
    }

    /// Returns the owner at an index of [`Field::owners`].
    pub fn owner(&self, index: usize) -> Option<&OwnerOf> {
        self.owners.get(index)
    }

    /// Returns the owners through subresources.
    pub fn subresources(&self) -> impl Iterator<Item = &OwnerOf> {
        self.owners.iter().filter(|owner| !owner.subresource.is_empty())
    }

    /// Returns whether nothing deserves attention: no field has several owners, and no owner is stale.
    pub fn is_clear(&self) -> bool {
        self.shared.is_empty() && self.stale.is_empty()
    }
}

/// Fields in order, without those that contain the next one.
#[derive(Default)]
struct Fields(Vec<Field>);

impl Fields {
    fn push(&mut self, path: String, owners: Vec<usize>) {
        if self.0.last().is_some_and(|last| crate::value::is_below(&path, &last.path) && last.owners == owners) {
            self.0.pop();
        }
        self.0.push(Field { path, owners });
    }

    fn done(self) -> Vec<Field> {
        self.0
    }
}

/// Returns the stale owners of an object.
fn stale(object: Value<'_>, owners: &[OwnerOf], known: &Known<'_>) -> Vec<Stale> {
    let annotations = object.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let annotation = annotations.and_then(|annotations| annotations.get(LAST_APPLIED)).is_some();
    let applies = |owner: &OwnerOf| owner.operation == Operation::Apply && owner.subresource.is_empty();
    let gvk = object.gvk();
    let versions: Vec<&str> = known.registry.map_or_else(Vec::new, |registry| {
        registry.versions(gvk.group(), gvk.kind()).map(kubeshape_registry::Kind::api_version).collect()
    });
    let reason = |owner: &OwnerOf| {
        if known.gone.contains(&owner.manager) {
            return Some(StaleReason::Gone);
        }
        if !versions.is_empty() && !versions.contains(&owner.api_version.as_str()) {
            return Some(StaleReason::OldVersion);
        }
        if owner.operation == Operation::Apply {
            return None;
        }
        if owner.tool.role == Role::Nobody {
            return Some(StaleReason::BeforeFirstApply);
        }
        if !owner.subresource.is_empty() {
            return None;
        }
        if owner.tool.id == "kubectl-client-side-apply" {
            let others = owners.iter().any(applies);
            return others.then_some(StaleReason::ClientSideApply { annotation });
        }
        let now = owners.iter().any(|other| applies(other) && other.manager == owner.manager);
        // `kubectl scale` writes under the same name as `kubectl apply --server-side`, through a subresource.
        now.then_some(StaleReason::AppliesNow)
    };
    let all = owners.iter().enumerate();
    all.filter_map(|(at, owner)| Some(Stale { owner: at, reason: reason(owner)? })).collect()
}

/// Returns the fields of a configuration by its type, for [`Ownership::of_value`]. Returns `None` if the kind is not
/// known, or if the configuration does not fit its type.
pub fn fields_of<'a>(registry: &'a Registry, config: Value<'a>, arena: &'a Bump) -> Option<Set<'a>> {
    let ty = registry.kind(config.gvk())?.merge_type()?;
    ty.validate(config, Duplicates::Allowed).ok()?.to_field_set(arena).ok()
}
