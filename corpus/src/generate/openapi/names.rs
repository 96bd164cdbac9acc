//! Groups, kinds, paths, names and the parts of documents that both versions share.

use super::choices::{Choices, Object, single, texts};
use super::values::{extension, text};
use crate::generate::tree::Tree;

/// A kind of one group version, with its resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupVersion {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
}

/// The names from which documents are built.
pub(super) const GROUP_VERSIONS: &[GroupVersion] = &[
    GroupVersion { group: "things.example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true },
    GroupVersion { group: "things.example.com", version: "v1beta1", kind: "Thing", plural: "things", namespaced: true },
    GroupVersion { group: "apps", version: "v1", kind: "Widget", plural: "widgets", namespaced: true },
    GroupVersion { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false },
    GroupVersion {
        group: "rbac.authorization.k8s.io",
        version: "v2",
        kind: "Role",
        plural: "roles",
        namespaced: false,
    },
];

/// Paths of APIs other than Kubernetes.
pub(super) const OTHER_PATHS: &[&str] =
    &["/version/", "/pets/{id}", "/", "/a b", "/<x>&y", "/apis/", "/pets/{id}/{name}.{ext}", "/logs/{logpath}"];

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
const OTHER_NAMES: &[&str] = &[
    "A",
    "B",
    "Tree",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    QUANTITY,
    RAW_EXTENSION,
    INT_OR_STRING,
    "a-b_c",
];

impl GroupVersion {
    fn prefix(self) -> String {
        match self.group {
            "" => "io.k8s.api.core".to_owned(),
            group if group.contains('.') => group.split('.').rev().collect::<Vec<_>>().join("."),
            group => format!("io.k8s.api.{group}"),
        }
    }

    pub(super) fn name(self) -> String {
        format!("{}.{}.{}", self.prefix(), self.version, self.kind)
    }

    fn path(self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }

    pub(super) fn tag(&self) -> String {
        format!("{}_{}", if self.group.is_empty() { "core" } else { self.plural }, self.version)
    }

    /// `x-kubernetes-group-version-kind` of an operation.
    pub(super) fn kind(&self) -> Tree {
        self.kind_named(self.kind)
    }

    fn kind_named(&self, kind: &str) -> Tree {
        Tree::members([
            ("group", Tree::text(self.group)),
            ("version", Tree::text(self.version)),
            ("kind", Tree::text(kind)),
        ])
    }
}

/// Names of the definitions that a document has.
pub(super) fn definitions(choices: &mut Choices<'_>, group_versions: &[GroupVersion]) -> Vec<String> {
    let mut names: Vec<String> = group_versions.iter().flat_map(|gv| [gv.name(), gv.name() + "List"]).collect();
    names.extend(choices.some(OTHER_NAMES, 50).iter().map(|name| (*name).to_owned()));
    names
}

/// `x-kubernetes-group-version-kind` of a definition, if it is that of a resource or a list of them.
pub(super) fn kinds_of(name: &str, group_versions: &[GroupVersion]) -> Option<Tree> {
    group_versions.iter().find_map(|gv| {
        let rest = name.strip_prefix(&gv.name())?;
        matches!(rest, "" | "List").then(|| Tree::Seq(vec![gv.kind_named(&format!("{}{rest}", gv.kind))]))
    })
}

/// The definitions that the libraries know by name.
pub(super) fn well_known(name: &str, v3: bool) -> Option<Tree> {
    let string = || ("type", Tree::text("string"));
    let either = |first: &str, second: &str| {
        Tree::Seq(vec![single("type", Tree::text(first)), single("type", Tree::text(second))])
    };
    match name {
        QUANTITY if v3 => Some(Tree::members([("oneOf", either("string", "number"))])),
        QUANTITY => Some(Tree::members([string()])),
        RAW_EXTENSION => Some(single("type", Tree::text("object"))),
        INT_OR_STRING if v3 => {
            Some(Tree::members([("format", Tree::text("int-or-string")), ("oneOf", either("integer", "string"))]))
        }
        INT_OR_STRING => Some(Tree::members([string(), ("format", Tree::text("int-or-string"))])),
        _ => None,
    }
}

/// Paths of a resource with their methods: collections, objects, subresources and watches.
pub(super) fn resource_paths(choices: &mut Choices<'_>, gv: &GroupVersion) -> Vec<(String, Vec<&'static str>)> {
    let base = gv.path();
    let scope = if gv.namespaced { "/namespaces/{namespace}" } else { "" };
    let plural = gv.plural;
    let mut paths = vec![(format!("{base}{scope}/{plural}"), vec!["get", "post"])];
    let others = [
        (format!("{base}{scope}/{plural}/{{name}}"), vec!["get", "put", "delete", "patch"]),
        (format!("{base}{scope}/{plural}/{{name}}/status"), vec!["get", "patch"]),
        (format!("{base}/watch{scope}/{plural}"), vec!["get"]),
        (format!("{base}/"), vec!["get"]),
    ];
    paths.extend(others.into_iter().filter(|_| choices.chance(35)));
    paths
}

/// The names in braces.
pub(super) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

/// An id that is unique among operations.
pub(super) fn operation_id(method: &str, path: &str) -> String {
    let mut id = method.to_owned();
    for part in path.split(|c: char| !c.is_alphanumeric()) {
        let mut letters = part.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.extend(letters);
    }
    id
}

/// `x-kubernetes-action` of an operation.
pub(super) fn action(method: &str, path: &str) -> &'static str {
    match method {
        "get" if path.contains("/watch/") => "watch",
        "get" if path.ends_with('}') => "get",
        "get" => "list",
        "post" => "post",
        "put" => "put",
        "patch" => "patch",
        _ => "delete",
    }
}

/// Title, version and the rest of `info`.
pub(super) fn info(choices: &mut Choices<'_>, odd: bool) -> Tree {
    let mut info = Object::new();
    info.put("title", choices.text(&["Things", "<Things> & more", "Kubernetes"])).put("version", Tree::text("v1.36.0"));
    info.maybe(choices, 20, "description", |choices| text(choices, odd));
    info.maybe(choices, 10, "termsOfService", |_| Tree::text("https://example.com/terms"));
    info.maybe(choices, 10, "contact", |choices| {
        let mut contact = Object::new();
        contact.maybe(choices, 60, "name", |choices| text(choices, odd));
        contact.maybe(choices, 40, "email", |_| Tree::text("a@example.com"));
        contact.done(choices)
    });
    info.maybe(choices, 10, "license", |_| single("name", Tree::text("Apache-2.0")));
    if choices.chance(10) {
        extension(choices, &mut info, odd);
    }
    info.done(choices)
}

/// Security requirements.
pub(super) fn security(choices: &mut Choices<'_>) -> Tree {
    choices.list(2, |choices| {
        let mut requirement = Object::new();
        for name in choices.some(&["key", "basic", "code"], 50) {
            let scopes = if name == "code" { texts(&["write", "read"]) } else { texts(&[]) };
            requirement.put(name, scopes);
        }
        requirement.tree()
    })
}

/// Tags of a document.
pub(super) fn tags(choices: &mut Choices<'_>, odd: bool) -> Tree {
    choices.list(3, |choices| {
        let mut tag = Object::new();
        tag.put("name", choices.text(&["a", "b", "c"]));
        tag.maybe(choices, 50, "description", |choices| text(choices, odd));
        tag.done(choices)
    })
}
