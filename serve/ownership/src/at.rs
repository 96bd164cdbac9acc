//! The owners of one field.

use crate::tools::{Tool, tool_of};
use crate::value::managed_fields;
use kubeshape_registry::{Error, Object, Operation, Time, managed_fields_error};
use kubeshape_smd::fieldpath::PathElement;
use kubeshape_smd::managed::{self, entries};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue};

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'t> {
    /// The member of that name.
    Member(&'t str),
    /// The item with that number.
    Item(usize),
}

/// An owner of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldOwner {
    /// The name of the manager.
    pub manager: String,
    /// How it wrote.
    pub operation: Operation,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: String,
    /// When its entry last changed.
    pub time: Option<Time>,
    /// The tool behind the name.
    pub tool: &'static Tool,
}

/// Returns the owners of a field of a live object, in the order in which the server lists them.
///
/// The path leads through another text of the same object, such as a manifest, whose lists can have another order. No
/// schema is needed: items are found by the keys in the managed fields.
///
/// # Errors
/// [`Error::ManagedFields`]: the managed fields cannot be read.
///
/// # Example
/// ```
/// use kubeshape_ownership::{Step, owners_at};
/// use kubeshape_registry::Object;
///
/// let text = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: web, image: b}]}}";
/// let manifest = Object::read("pod.yaml", text)?;
/// let live = Object::read("live.yaml", r#"
/// apiVersion: v1
/// kind: Pod
/// metadata:
///   name: a
///   managedFields:
///   - manager: helm
///     operation: Apply
///     apiVersion: v1
///     fieldsType: FieldsV1
///     fieldsV1: {"f:spec": {"f:containers": {'k:{"name":"web"}': {"f:image": {}}}}}
/// spec: {containers: [{name: proxy, image: c}, {name: web, image: b}]}
/// "#)?;
/// let path = [Step::Member("spec"), Step::Member("containers"), Step::Item(0), Step::Member("image")];
/// assert_eq!(owners_at(&live, &manifest, &path)?[0].manager, "helm");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn owners_at(live: &Object, manifest: &Object, path: &[Step<'_>]) -> Result<Vec<FieldOwner>, Error> {
    let arena = Bump::new();
    let object = live.to_value(&arena);
    let managed = entries::decode_as(managed_fields(object), Compat::default(), &arena);
    let managed = managed.map_err(|error| managed_fields_error(&error, live.location()))?;
    let ownership = managed::Ownership::new(&managed);
    let mut owned = ownership.root();
    let mut value = Some(manifest.to_value(&arena));
    for step in path {
        match *step {
            Step::Member(name) => {
                value = value.and_then(|value| value.get(name));
                owned = owned.child(PathElement::FieldName(name));
            }
            Step::Item(number) => {
                value = value.and_then(|value| value.as_list()?.get(number).copied());
                let Some(item) = value else { return Ok(Vec::new()) };
                owned = owned.item(number, item);
            }
        }
    }
    let owners = owned.owners().map(|owner| FieldOwner {
        manager: owner.manager.to_owned(),
        operation: owner.operation,
        subresource: owner.subresource.to_owned(),
        time: owner.time,
        tool: tool_of(owner.manager),
    });
    Ok(owners.collect())
}
