//! The names in a file: of its objects, and of the objects to which it refers.

use crate::Step;
use kubeshape_input::Document;
use kubeshape_yaml::{Flags, Kind, Node};
use std::ops::Range;

/// Fields whose string is the name of an object, by the last steps of their paths without items, and its kind.
const NAMES: [(&[&str], &str); 27] = [
    (&["configMapKeyRef", "name"], "ConfigMap"),
    (&["configMapRef", "name"], "ConfigMap"),
    (&["configMap", "name"], "ConfigMap"),
    (&["secretKeyRef", "name"], "Secret"),
    (&["secretRef", "name"], "Secret"),
    (&["secret", "secretName"], "Secret"),
    (&["secret", "name"], "Secret"),
    (&["tls", "secretName"], "Secret"),
    (&["imagePullSecrets", "name"], "Secret"),
    (&["nodePublishSecretRef", "name"], "Secret"),
    (&["persistentVolumeClaim", "claimName"], "PersistentVolumeClaim"),
    (&["spec", "volumeName"], "PersistentVolume"),
    (&["spec", "serviceAccountName"], "ServiceAccount"),
    (&["spec", "serviceAccount"], "ServiceAccount"),
    (&["service", "name"], "Service"),
    (&["spec", "serviceName"], "Service"),
    (&["spec", "ingressClassName"], "IngressClass"),
    (&["spec", "gatewayClassName"], "GatewayClass"),
    (&["parentRefs", "name"], "Gateway"),
    (&["backendRefs", "name"], "Service"),
    (&["spec", "storageClassName"], "StorageClass"),
    (&["spec", "priorityClassName"], "PriorityClass"),
    (&["spec", "runtimeClassName"], "RuntimeClass"),
    (&["spec", "policyName"], "ValidatingAdmissionPolicy"),
    (&["resourceClaims", "resourceClaimName"], "ResourceClaim"),
    (&["resourceClaims", "resourceClaimTemplateName"], "ResourceClaimTemplate"),
    (&["spec", "nodeName"], "Node"),
];

/// Fields whose string is a key of the object that the field `name` next to it names.
const KEYS: [&str; 2] = ["configMapKeyRef", "secretKeyRef"];

/// The maximum number of names that are kept of a file.
const MOST: usize = 100_000;

/// A name in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The kind of the object.
    pub kind: String,
    /// The group of the object; known only of objects.
    pub group: Option<String>,
    /// The namespace of the object, or of the object that refers to it; empty if it is not written.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Whether it is the object itself, and not a reference to it.
    pub is_object: bool,
    /// Whether it is an object with managed fields, as a server returns it.
    pub is_live: bool,
    /// The keys of its data, and the names of its ports.
    pub keys: Vec<String>,
    /// Where the name is.
    pub span: Range<usize>,
}

/// Returns the kind of the object that a field names, by its path and by the fields next to it.
pub(crate) fn referenced(steps: &[Step], kind_next_to_it: Option<&str>) -> Option<String> {
    let keys: Vec<&str> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    // The name and kind of an object itself are no reference.
    if keys.len() > 1
        && keys.last() == Some(&"name")
        && let Some(kind) = kind_next_to_it
    {
        return Some(kind.to_owned());
    }
    NAMES.iter().find(|(end, _)| keys.ends_with(end)).map(|(_, kind)| (*kind).to_owned())
}

/// Returns whether a field is a key of a ConfigMap or Secret.
pub(crate) fn is_key(steps: &[Step]) -> Option<&'static str> {
    match steps {
        [.., Step::Key(parent), Step::Key(key)] if key == "key" => {
            let found = KEYS.iter().position(|known| known == parent)?;
            Some(if found == 0 { "ConfigMap" } else { "Secret" })
        }
        _ => None,
    }
}

/// Returns the names in a document.
pub(crate) fn names(document: &Document) -> Vec<Named> {
    let mut out = Vec::new();
    if !document.content().has_objects() {
        return out;
    }
    for object in document.objects() {
        if object.kind() != Kind::Map {
            continue;
        }
        let text = |node: Node<'_>, key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        let metadata = object.get("metadata");
        let namespace = metadata.map(|metadata| text(metadata, "namespace")).unwrap_or_default();
        let (kind, api_version) = (text(object, "kind"), text(object, "apiVersion"));
        if let Some(name) = metadata.and_then(|metadata| metadata.get("name")).filter(|name| is_plain(*name)) {
            out.push(Named {
                kind: kind.clone(),
                group: Some(api_version.split_once('/').map_or("", |(group, _)| group).to_owned()),
                namespace: namespace.clone(),
                name: name.text().to_owned(),
                is_object: true,
                is_live: metadata.is_some_and(|metadata| metadata.get("managedFields").is_some()),
                keys: keys(object),
                span: name.span(),
            });
        }
        references(object, &namespace, &mut Vec::new(), &mut out);
        if out.len() >= MOST {
            break;
        }
    }
    out
}

/// Returns whether a string is where it seems to be, and not repeated by an alias.
fn is_plain(node: Node<'_>) -> bool {
    node.as_str().is_some_and(|text| !text.is_empty()) && !node.entry().flags.has(Flags::ALIASED)
}

/// Returns the keys of data, and the names of ports.
fn keys(object: Node<'_>) -> Vec<String> {
    let data = ["data", "stringData", "binaryData"].into_iter().filter_map(|name| object.get(name));
    let data = data.flat_map(Node::pairs).map(|(key, _)| key.text().to_owned());
    let ports = object.get("spec").and_then(|spec| spec.get("ports")).into_iter().flat_map(Node::items);
    let ports = ports.filter_map(|port| port.get("name")?.as_str().map(str::to_owned));
    data.chain(ports).take(MOST).collect()
}

fn references(node: Node<'_>, namespace: &str, steps: &mut Vec<Step>, out: &mut Vec<Named>) {
    let kind_next_to_it = node.get("kind").and_then(Node::as_str).filter(|_| node.kind() == Kind::Map);
    for (key, value) in node.pairs() {
        // Maps of labels have any keys, and data is not an API.
        if steps.is_empty() && matches!(key.text(), "metadata" | "data" | "stringData" | "binaryData" | "status") {
            continue;
        }
        steps.push(Step::Key(key.text().to_owned()));
        if value.entry().is_container() {
            references(value, namespace, steps, out);
        } else if is_plain(value)
            && let Some(kind) = referenced(steps, kind_next_to_it)
            && out.len() < MOST
        {
            let own = node.get("namespace").and_then(Node::as_str).unwrap_or(namespace);
            out.push(Named {
                kind,
                group: None,
                namespace: own.to_owned(),
                name: value.text().to_owned(),
                is_object: false,
                is_live: false,
                keys: Vec::new(),
                span: value.span(),
            });
        }
        steps.pop();
    }
    for (number, item) in node.items().enumerate() {
        steps.push(Step::Index(number));
        references(item, namespace, steps, out);
        steps.pop();
    }
}

impl Named {
    /// Returns whether two names are of one object, as far as they say it.
    pub fn is_same(&self, other: &Named) -> bool {
        let namespaces = self.namespace.is_empty() || other.namespace.is_empty() || self.namespace == other.namespace;
        let groups = match (&self.group, &other.group) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        self.kind == other.kind && self.name == other.name && namespaces && groups
    }
}
