//! The admission of a request: mutating policies, then the strategy of the kind (the caller's part), then validating
//! policies.

use super::check::GROUP;
use kubeshape_policy::{
    Authorizer, Called, Decision, Gvk, Gvr, Kinds, Objects, Operation, Permissions, Policies, Release, Request,
    Undecoded, User, World,
};
use kubeshape_smd::value::{Map, Stop};
use kubeshape_smd::{Bump, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The label with its own name that a server sets on every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// The namespace of objects without one.
const DEFAULT_NAMESPACE: &str = "default";

/// The user who sends requests, and the user's permissions.
#[derive(Clone, Debug)]
pub struct Client {
    /// The user.
    pub user: Arc<User>,
    /// `userInfo.extra`
    pub extra: Vec<(String, Vec<String>)>,
    /// Whether nothing is stored.
    pub is_dry_run: bool,
    /// Decides permissions.
    pub authorizer: Arc<dyn Authorizer>,
}

impl Default for Client {
    /// Returns the administrator of a `kubeadm` cluster.
    fn default() -> Client {
        let groups = ["system:masters", "system:authenticated"].map(str::to_owned).to_vec();
        let user = User { name: "kubernetes-admin".to_owned(), groups, ..User::default() };
        let authorizer = Arc::new(Permissions::default());
        Client { user: Arc::new(user), extra: Vec::new(), is_dry_run: false, authorizer }
    }
}

/// The parts of a request.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'p, 'a> {
    /// The kind of the object.
    pub gvk: &'p Gvk,
    /// The operation.
    pub operation: Operation,
    /// `status`; empty for the object itself.
    pub subresource: &'p str,
    /// The namespace of the path; if `None`, that of the object, or `default`.
    pub namespace: Option<&'p str>,
    /// The name of the path; if `None`, that of the object.
    pub name: Option<&'p str>,
    /// The object, decoded.
    pub object: Option<Value<'a>>,
    /// The object before the request, decoded.
    pub old_object: Option<Value<'a>>,
}

fn metadata<'a>(object: Option<Value<'a>>, key: &str) -> &'a str {
    let value = object.and_then(|object| object.get("metadata")?.get(key)?.as_str());
    value.unwrap_or_default()
}

/// Returns the request that admission plugins receive; `None` if no resource of the kind is served.
pub fn request_of<'a>(
    parts: Parts<'_, 'a>,
    client: &Client,
    kinds: &dyn Kinds,
    arena: &'a Bump,
) -> Option<Request<'a>> {
    let Parts { gvk, operation, subresource, namespace, name, object, old_object } = parts;
    let known = kinds.kind(gvk)?;
    let of_object = object.or(old_object);
    let name = name.unwrap_or_else(|| metadata(of_object, "name"));
    let is_namespace = gvk.group.is_empty() && known.resource == "namespaces";
    let namespace = if is_namespace {
        name
    } else if known.is_namespaced {
        let own = namespace.unwrap_or_else(|| metadata(of_object, "namespace"));
        if own.is_empty() { DEFAULT_NAMESPACE } else { own }
    } else {
        ""
    };
    Some(Request {
        operation,
        resource: Gvr::new(&gvk.group, &gvk.version, &known.resource),
        subresource: subresource.to_owned(),
        kind: gvk.clone(),
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        user: Arc::clone(&client.user),
        extra: client.extra.clone(),
        is_dry_run: client.is_dry_run,
        object: object.map(|object| placed(object, namespace, is_namespace, arena)),
        old_object: old_object.map(|object| placed(object, namespace, is_namespace, arena)),
        options: options(operation, client.is_dry_run, arena),
    })
}

/// Returns CreateOptions, UpdateOptions or DeleteOptions.
fn options(operation: Operation, is_dry_run: bool, arena: &Bump) -> Option<Value<'_>> {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
        Operation::Connect => return None,
    };
    let mut members = vec![("apiVersion", Value::String("meta.k8s.io/v1")), ("kind", Value::String(kind))];
    if is_dry_run {
        members.push(("dryRun", Value::List(arena.alloc_slice_copy(&[Value::String("All")]))));
    }
    Some(Value::Map(Map::from_entries(members, arena)))
}

/// Policies and bindings with the objects that they need: namespaces and parameters.
///
/// A namespace that is not among the objects exists with its name as the only label.
///
/// # Example
/// ```
/// use kubeshape_policy::{Gvk, Operation, Release};
/// use kubeshape_registry::policy::{Admission, Client, Layer, Parts, ServedKinds, request_of};
/// use kubeshape_registry::{Object, Registry};
/// use kubeshape_smd::{Bump, ToValue};
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
///   - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
/// ", Default::default()));
/// let objects = ["
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingAdmissionPolicy
/// metadata: {name: small}
/// spec:
///   matchConstraints:
///     resourceRules: [{apiGroups: [example.com], apiVersions: [v1], resources: [tabs], operations: [CREATE]}]
///   validations: [{expression: object.size < 5, message: too large}]
/// ", "
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingAdmissionPolicyBinding
/// metadata: {name: everywhere}
/// spec: {policyName: small, validationActions: [Deny]}
/// ", "{apiVersion: example.com/v1, kind: Tab, metadata: {name: t}, size: 7}"];
/// let objects: Vec<Object> = objects.iter().map(|text| Object::read("objects", text.as_bytes())).collect::<Result<_, _>>()?;
///
/// let arena = Bump::new();
/// let layers = [&Layer::new(&registry)];
/// let kinds = ServedKinds::new(&layers);
/// let values: Vec<_> = objects.iter().map(|object| object.to_value(&arena)).collect();
/// let admission = Admission::read(values[..2].iter().copied(), &kinds, Release::DEFAULT, &arena);
/// let gvk = Gvk::of("example.com/v1", "Tab");
/// let tab = Parts {
///     gvk: &gvk, operation: Operation::Create, subresource: "", namespace: None, name: None, object: Some(values[2]), old_object: None,
/// };
/// let client = Client::default();
/// let request = request_of(tab, &client, &kinds, &arena).unwrap();
/// let decision = admission.validate(&request, &client, &kinds, &arena);
/// assert_eq!(
///     decision.status.unwrap().message,
///     "tabs.example.com \"t\" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'everywhere' denied request: too large"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Admission<'a> {
    policies: Policies<'a>,
    namespaces: BTreeMap<&'a str, Value<'a>>,
    params: BTreeMap<Gvk, Params<'a>>,
}

/// The objects of a kind, by name and namespace.
type Params<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Value<'a>>>;

/// The objects that exist during a request.
struct Known<'w, 'a> {
    admission: &'w Admission<'a>,
    arena: &'a Bump,
}

impl<'a> Objects<'a> for Known<'_, 'a> {
    fn namespace(&self, name: &str) -> Option<Value<'a>> {
        let known = self.admission.namespaces.get(name).copied();
        known.or_else(|| Some(named_namespace(name, self.arena)))
    }

    fn params(&self, kind: &Gvk, namespace: &str, name: &str) -> Vec<Value<'a>> {
        let Some(all) = self.admission.params.get(kind) else { return Vec::new() };
        let in_namespace = |named: &BTreeMap<&'a str, Value<'a>>| -> Vec<Value<'a>> {
            match namespace {
                "" => named.values().copied().collect(),
                namespace => named.get(namespace).copied().into_iter().collect(),
            }
        };
        match name {
            "" => all.values().flat_map(in_namespace).collect(),
            name => all.get(name).map(in_namespace).unwrap_or_default(),
        }
    }
}

impl<'a> Admission<'a> {
    /// Reads policies, bindings, webhook configurations, namespaces, and the objects that are parameters of policies.
    /// Objects that a server would not decode are left out.
    pub fn read(
        objects: impl IntoIterator<Item = Value<'a>>,
        kinds: &dyn Kinds,
        release: Release,
        arena: &'a Bump,
    ) -> Admission<'a> {
        let (mut policies, mut namespaces) = (Vec::new(), BTreeMap::new());
        let mut params: BTreeMap<Gvk, Params<'a>> = BTreeMap::new();
        for object in objects {
            let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
            let gvk = Gvk::of(text("apiVersion"), text("kind"));
            if gvk.group == GROUP {
                policies.push(object);
                continue;
            }
            let Ok(decoded) = kinds.decode(&gvk, object, arena) else { continue };
            let is_namespaced = kinds.kind(&gvk).is_some_and(|known| known.is_namespaced);
            if gvk.group.is_empty() && gvk.kind == "Namespace" {
                let name = metadata(Some(decoded.value), "name");
                namespaces.entry(name).or_insert_with(|| labelled(decoded.value, arena));
            }
            let namespace = if is_namespaced { DEFAULT_NAMESPACE } else { "" };
            let param = placed(decoded.value, namespace, false, arena);
            let named = params.entry(gvk).or_default().entry(metadata(Some(param), "name")).or_default();
            named.entry(metadata(Some(param), "namespace")).or_insert(param);
        }
        Admission { policies: Policies::read(policies, kinds, release, arena), namespaces, params }
    }

    /// Returns whether there are no policies and webhooks for requests.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Returns the policies, bindings and webhook configurations that a server would not decode.
    pub fn undecoded(&self) -> &[Undecoded] {
        self.policies.undecoded()
    }

    /// Changes the object of a request as mutating policies do. The request gets the new object, too.
    pub fn mutate(
        &'a self,
        request: &mut Request<'a>,
        client: &Client,
        kinds: &dyn Kinds,
        arena: &'a Bump,
    ) -> Decision<'a> {
        let known = Known { admission: self, arena };
        let world = World { kinds, objects: &known, authorizer: &client.authorizer, stop: Stop::NEVER };
        let decision = self.policies.mutate(request, world, arena);
        request.object = decision.object.or(request.object);
        decision
    }

    /// Evaluates a request with validating policies. Its object must be valid by the rules of its kind, and prepared
    /// for storage.
    pub fn validate(
        &'a self,
        request: &Request<'a>,
        client: &Client,
        kinds: &dyn Kinds,
        arena: &'a Bump,
    ) -> Decision<'a> {
        let known = Known { admission: self, arena };
        let world = World { kinds, objects: &known, authorizer: &client.authorizer, stop: Stop::NEVER };
        self.policies.validate(request, world, arena)
    }

    /// Finds the webhooks that a server would call for a request.
    pub fn webhooks(
        &'a self,
        request: &Request<'a>,
        client: &Client,
        kinds: &dyn Kinds,
        arena: &'a Bump,
    ) -> Vec<Called> {
        let known = Known { admission: self, arena };
        let world = World { kinds, objects: &known, authorizer: &client.authorizer, stop: Stop::NEVER };
        self.policies.webhooks(request, world, arena)
    }
}

/// Returns a namespace of which only the name is known.
pub fn named_namespace<'a>(name: &str, arena: &'a Bump) -> Value<'a> {
    let members = vec![("apiVersion", Value::String("v1")), ("kind", Value::String("Namespace"))];
    let namespace = Value::Map(Map::from_entries(members, arena));
    labelled(with_metadata(namespace, "name", Value::String(arena.alloc_str(name)), arena), arena)
}

/// Returns a namespace with the label of its name, which a server sets.
pub fn labelled<'a>(namespace: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let name = Value::String(metadata(Some(namespace), "name"));
    let labels = namespace.get("metadata").and_then(|metadata| metadata.get("labels")).and_then(Value::as_map);
    let labels = labels.unwrap_or(Map::EMPTY).with(NAME_LABEL, Some(name), arena);
    with_metadata(namespace, "labels", Value::Map(labels), arena)
}

/// Returns an object with a namespace, if it has none (`EnsureObjectNamespaceMatchesRequestNamespace`).
fn placed<'a>(object: Value<'a>, namespace: &str, is_namespace: bool, arena: &'a Bump) -> Value<'a> {
    if namespace.is_empty() || is_namespace || !metadata(Some(object), "namespace").is_empty() {
        return object;
    }
    with_metadata(object, "namespace", Value::String(arena.alloc_str(namespace)), arena)
}

fn with_metadata<'a>(object: Value<'a>, key: &'a str, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = object else { return object };
    let own = object.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    Value::Map(map.with("metadata", Some(Value::Map(own.with(key, Some(value), arena))), arena))
}
