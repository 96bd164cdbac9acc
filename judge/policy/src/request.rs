//! Requests, and the state of the server when it evaluates them.

use crate::kinds::{Gvk, Gvr, Kinds};
use crate::objects::{gvk_of, namespace_of, text};
use kubeshape_cel::{Authorizer, User};
use kubeshape_value::{Bump, Map, Stop, Value};
use std::sync::Arc;

/// The operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is created.
    Create,
    /// It is changed.
    Update,
    /// It is deleted.
    Delete,
    /// A connection to it is opened.
    Connect,
}

impl Operation {
    /// `CREATE`
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }

    /// Returns the operation with a name.
    pub fn named(name: &str) -> Option<Operation> {
        [Operation::Create, Operation::Update, Operation::Delete, Operation::Connect]
            .into_iter()
            .find(|operation| operation.name() == name)
    }
}

/// A request as admission plugins receive it: objects are decoded and have their defaults.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The operation.
    pub operation: Operation,
    /// The resource of the path.
    pub resource: Gvr,
    /// `status`; empty for the object itself.
    pub subresource: String,
    /// The kind of the object.
    pub kind: Gvk,
    /// The name of the object; empty if the server generates it.
    pub name: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The user who sends the request.
    pub user: Arc<User>,
    /// `userInfo.extra`
    pub extra: Vec<(String, Vec<String>)>,
    /// Whether nothing is stored.
    pub is_dry_run: bool,
    /// The object.
    pub object: Option<Value<'a>>,
    /// The object before the request.
    pub old_object: Option<Value<'a>>,
    /// CreateOptions, UpdateOptions, DeleteOptions.
    pub options: Option<Value<'a>>,
}

/// The objects that exist when a request is evaluated.
pub trait Objects<'a> {
    /// Returns a decoded namespace; `None` if it does not exist.
    fn namespace(&self, name: &str) -> Option<Value<'a>>;

    /// Returns the decoded objects of a kind that can be parameters. `namespace` and `name` restrict them, unless they
    /// are empty.
    fn params(&self, kind: &Gvk, namespace: &str, name: &str) -> Vec<Value<'a>>;
}

/// Objects given as lists.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'w, 'a> {
    /// The namespaces.
    pub namespaces: &'w [Value<'a>],
    /// The objects that policies can have as parameters.
    pub params: &'w [Value<'a>],
}

impl<'a> Objects<'a> for Given<'_, 'a> {
    fn namespace(&self, name: &str) -> Option<Value<'a>> {
        self.namespaces.iter().copied().find(|namespace| crate::objects::name(*namespace) == name)
    }

    fn params(&self, kind: &Gvk, namespace: &str, name: &str) -> Vec<Value<'a>> {
        let is_meant = |param: &Value<'a>| {
            gvk_of(*param) == *kind
                && (namespace.is_empty() || namespace_of(*param) == namespace)
                && (name.is_empty() || crate::objects::name(*param) == name)
        };
        self.params.iter().copied().filter(is_meant).collect()
    }
}

/// Everything outside the request that a server needs to evaluate it.
#[derive(Clone, Copy)]
pub struct World<'w, 'a> {
    /// The kinds.
    pub kinds: &'w dyn Kinds,
    /// The objects that exist.
    pub objects: &'w dyn Objects<'a>,
    /// Decides permissions.
    pub authorizer: &'w Arc<dyn Authorizer>,
    /// Stops the work early. The decision is then incomplete.
    pub stop: Stop<'w>,
}

impl std::fmt::Debug for World<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl<'a> Request<'a> {
    /// Returns an object of the request in another version. Only `apiVersion` differs.
    pub(crate) fn in_version(&self, object: Option<Value<'a>>, kind: &Gvk, arena: &'a Bump) -> Option<Value<'a>> {
        let object = object?;
        if kind.group == self.kind.group && kind.version == self.kind.version {
            return Some(object);
        }
        let Value::Map(map) = object else { return Some(object) };
        let version = Value::String(arena.alloc_str(&kind.api_version()));
        Some(Value::Map(map.with("apiVersion", Some(version), arena)))
    }

    /// Returns the name in the status of a refusal: `admission.NewForbidden` with `extractResourceName`.
    pub(crate) fn shown_name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let metadata =
            |key: &str| self.object.and_then(|object| object.get("metadata")).map(|found| text(found.get(key)));
        match self.object {
            // Options of connections have no metadata.
            Some(_) if self.kind.kind.ends_with("Options") => "Unknown/errorGettingName".to_owned(),
            _ => ["name", "generateName"]
                .into_iter()
                .filter_map(metadata)
                .find(|name| !name.is_empty())
                .unwrap_or("Unknown")
                .to_owned(),
        }
    }
}

/// Returns the labels of an object; `None` if it has no metadata.
pub(crate) fn labels_of(object: Value<'_>) -> Option<Map<'_>> {
    let metadata = object.get("metadata")?;
    Some(metadata.get("labels").and_then(Value::as_map).unwrap_or(Map::EMPTY))
}
