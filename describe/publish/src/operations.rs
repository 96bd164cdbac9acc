//! The operations of a resource, independent of the dialect (upstream: `generateBuilder` and `buildRoute` in
//! `pkg/controller/openapi/builder` of apiextensions-apiserver). Names of the resource are represented by marks of
//! [`Slot`]s.

use crate::names::{AUTOSCALING, META};
use crate::template::Slot;
use crate::texts::Texts;

/// The location of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum In {
    Path,
    Query,
}

impl In {
    pub(crate) fn name(self) -> &'static str {
        match self {
            In::Path => "path",
            In::Query => "query",
        }
    }
}

/// A parameter other than the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) location: In,
    pub(crate) ty: &'static str,
    pub(crate) description: String,
}

/// The content of a body or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Resource,
    List,
    Status,
    Scale,
    Patch,
    DeleteOptions,
}

impl Model {
    /// Returns the definition's name, with marks.
    pub(crate) fn definition(self) -> String {
        match self {
            Model::Resource => Slot::Definition.mark().to_string(),
            Model::List => Slot::List.mark().to_string(),
            Model::Status => format!("{META}Status"),
            Model::Patch => format!("{META}Patch"),
            Model::DeleteOptions => format!("{META}DeleteOptions"),
            Model::Scale => format!("{AUTOSCALING}Scale"),
        }
    }
}

/// A method, in the order in which path items print them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Method {
    Get,
    Put,
    Post,
    Delete,
    Patch,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Put => "put",
            Method::Post => "post",
            Method::Delete => "delete",
            Method::Patch => "patch",
        }
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) action: &'static str,
    pub(crate) id: String,
    pub(crate) description: String,
    /// Sorted by name, then location, without parameters of the path item.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<(Model, bool)>,
    /// Status code and content. Every operation also has the response 401, which is not listed.
    pub(crate) responses: Vec<(u16, Model)>,
}

impl Operation {
    /// Returns the media types of the body.
    pub(crate) fn consumes(&self) -> &'static [&'static str] {
        match self.method {
            Method::Patch => {
                &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]
            }
            _ => PRODUCES,
        }
    }
}

/// The sentence of descriptions about other representations (proposal "Alternate representations of API resources").
pub(crate) const ALTERNATES: &str = "Alternate representations can be asked for in Accept, by the parameters g, v and as of a media type: a Table for people, or PartialObjectMetadata, which is the metadata alone.";

/// Media types of other representations of lists.
pub(crate) const LIST_ALTERNATES: &[&str] = &[
    "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",
    "application/json;g=meta.k8s.io;v=v1;as=Table",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",
];

/// Media types of other representations of objects.
pub(crate) const OBJECT_ALTERNATES: &[&str] = &[
    "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata",
    "application/json;g=meta.k8s.io;v=v1;as=Table",
    "application/vnd.kubernetes.protobuf;g=meta.k8s.io;v=v1;as=PartialObjectMetadata",
];

impl Operation {
    /// Returns the media types of other representations of the response to a read.
    pub(crate) fn alternates(&self) -> &'static [&'static str] {
        match self.responses.first() {
            Some((200, Model::List)) => LIST_ALTERNATES,
            Some((200, Model::Resource)) if self.method == Method::Get => OBJECT_ALTERNATES,
            _ => &[],
        }
    }
}

/// Media types of every response.
pub(crate) const PRODUCES: &[&str] = &["application/json", "application/yaml"];

/// Returns the description of a response.
pub(crate) fn response_description(code: u16) -> &'static str {
    match code {
        201 => "Created",
        202 => "Accepted",
        401 => "Unauthorized",
        _ => "OK",
    }
}

/// One of the paths of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The list of a namespaced resource over all namespaces.
    AllNamespaces,
    Collection,
    Item,
    Status,
    Scale,
}

pub(crate) const PLACES: [Place; 5] =
    [Place::AllNamespaces, Place::Collection, Place::Item, Place::Status, Place::Scale];

/// One path with its operations.
#[derive(Clone, Debug)]
pub(crate) struct PathItem {
    pub(crate) place: Place,
    /// The path, with marks.
    pub(crate) path: String,
    pub(crate) operations: Vec<Operation>,
    pub(crate) parameters: Vec<Parameter>,
}

/// Returns the paths of a resource with all subresources.
pub(crate) fn path_items(namespaced: bool, texts: &Texts) -> Vec<PathItem> {
    PLACES
        .into_iter()
        .filter(|place| namespaced || *place != Place::AllNamespaces)
        .map(|place| Builder { namespaced, texts }.item(place))
        .collect()
}

struct Builder<'t> {
    namespaced: bool,
    texts: &'t Texts,
}

const LIST: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
const WRITE: &[&str] = &["dryRun", "fieldManager", "fieldValidation"];
const PATCH: &[&str] = &["dryRun", "fieldManager", "fieldValidation", "force"];
const DELETE: &[&str] = &[
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
];

/// Returns the names of all query parameters.
pub(crate) fn query_parameters() -> impl Iterator<Item = &'static str> {
    ["pretty"].into_iter().chain(LIST.iter().copied()).chain(PATCH.iter().copied()).chain(DELETE[1..].iter().copied())
}

fn type_of(name: &str) -> &'static str {
    match name {
        "allowWatchBookmarks"
        | "sendInitialEvents"
        | "watch"
        | "force"
        | "ignoreStoreReadErrorWithClusterBreakingPotential"
        | "orphanDependents" => "boolean",
        "limit" | "timeoutSeconds" | "gracePeriodSeconds" => "integer",
        _ => "string",
    }
}

impl Builder<'_> {
    fn item(&self, place: Place) -> PathItem {
        let (group, version, plural) = (Slot::Group.mark(), Slot::Version.mark(), Slot::Plural.mark());
        let namespace = if self.namespaced && place != Place::AllNamespaces { "namespaces/{namespace}/" } else { "" };
        let below = match place {
            Place::AllNamespaces | Place::Collection => "",
            Place::Item => "/{name}",
            Place::Status => "/{name}/status",
            Place::Scale => "/{name}/scale",
        };
        let operations = match place {
            Place::AllNamespaces => vec![self.list(place)],
            Place::Collection => vec![self.list(place), self.create(), self.delete_collection()],
            Place::Item => vec![self.read(place), self.replace(place), self.delete(), self.patch(place)],
            Place::Status | Place::Scale => vec![self.read(place), self.replace(place), self.patch(place)],
        };
        let mut item = PathItem {
            place,
            path: format!("/apis/{group}/{version}/{namespace}{plural}{below}"),
            operations,
            parameters: Vec::new(),
        };
        item.operations.sort_by_key(|operation| operation.method);
        hoist(&mut item);
        item
    }

    fn operation(
        &self,
        place: Place,
        method: Method,
        action: &'static str,
        id: String,
        description: String,
        names: &[&'static str],
    ) -> Operation {
        let mut parameters: Vec<Parameter> = Vec::new();
        if !matches!(place, Place::AllNamespaces | Place::Collection) {
            let description = format!("name of the {}", Slot::Kind.mark());
            parameters.push(Parameter { name: "name", location: In::Path, ty: "string", description });
        }
        if self.namespaced && place != Place::AllNamespaces {
            let description = self.texts.namespace.clone();
            parameters.push(Parameter { name: "namespace", location: In::Path, ty: "string", description });
        }
        // A release may lack some of them.
        for name in names.iter().chain(&["pretty"]).filter(|name| self.texts.query.contains_key(**name)) {
            let description = self.texts.query(name, method == Method::Patch).to_owned();
            parameters.push(Parameter { name, location: In::Query, ty: type_of(name), description });
        }
        parameters.sort_by_key(|p| (p.name, p.location));
        Operation { method, action, id, description, parameters, body: None, responses: Vec::new() }
    }

    /// Returns an operation id: the verb, group and version, and the rest, which includes the kind.
    fn id(&self, verb: &str, before: &str, after: &str) -> String {
        let infix = Slot::Infix.mark();
        let namespaced = if self.namespaced { "Namespaced" } else { "" };
        let before = format!("{before}{namespaced}");
        let kind = if before.is_empty() { Slot::KindFirst.mark() } else { Slot::KindInside.mark() };
        format!("{verb}{infix}{before}{kind}{after}")
    }

    fn list(&self, place: Place) -> Operation {
        let kind = Slot::Kind.mark();
        let id = if place == Place::AllNamespaces {
            format!("list{}{}ForAllNamespaces", Slot::Infix.mark(), Slot::KindFirst.mark())
        } else {
            self.id("list", "", "")
        };
        let mut operation =
            self.operation(place, Method::Get, "list", id, format!("list objects of kind {kind}"), LIST);
        operation.responses.push((200, Model::List));
        operation
    }

    fn create(&self) -> Operation {
        let description = format!("create {}", Slot::Article.mark());
        let id = self.id("create", "", "");
        let mut operation = self.operation(Place::Collection, Method::Post, "post", id, description, WRITE);
        operation.body = Some((Model::Resource, true));
        operation.responses = vec![(200, Model::Resource), (201, Model::Resource), (202, Model::Resource)];
        operation
    }

    fn delete_collection(&self) -> Operation {
        let description = format!("delete collection of {}", Slot::Kind.mark());
        let id = self.id("delete", "Collection", "");
        let mut operation =
            self.operation(Place::Collection, Method::Delete, "deletecollection", id, description, LIST);
        operation.responses.push((200, Model::Status));
        operation
    }

    fn delete(&self) -> Operation {
        let description = format!("delete {}", Slot::Article.mark());
        let id = self.id("delete", "", "");
        let mut operation = self.operation(Place::Item, Method::Delete, "delete", id, description, DELETE);
        operation.body = Some((Model::DeleteOptions, false));
        operation.responses = vec![(200, Model::Status), (202, Model::Status)];
        operation
    }

    fn read(&self, place: Place) -> Operation {
        let (part, suffix) = part(place);
        let description = format!("read {part}the specified {}", Slot::Kind.mark());
        let id = self.id("read", "", suffix);
        let mut operation = self.operation(place, Method::Get, "get", id, description, &["resourceVersion"]);
        operation.responses.push((200, model(place)));
        operation
    }

    fn replace(&self, place: Place) -> Operation {
        let (part, suffix) = part(place);
        let description = format!("replace {part}the specified {}", Slot::Kind.mark());
        let id = self.id("replace", "", suffix);
        let mut operation = self.operation(place, Method::Put, "put", id, description, WRITE);
        operation.body = Some((model(place), true));
        operation.responses = vec![(200, model(place)), (201, model(place))];
        operation
    }

    fn patch(&self, place: Place) -> Operation {
        let (part, suffix) = part(place);
        let description = format!("partially update {part}the specified {}", Slot::Kind.mark());
        let id = self.id("patch", "", suffix);
        let mut operation = self.operation(place, Method::Patch, "patch", id, description, PATCH);
        operation.body = Some((Model::Patch, true));
        operation.responses.push((200, model(place)));
        operation
    }
}

/// Returns the words for a subresource in descriptions and at the end of operation ids.
fn part(place: Place) -> (&'static str, &'static str) {
    match place {
        Place::Status => ("status of ", "Status"),
        Place::Scale => ("scale of ", "Scale"),
        _ => ("", ""),
    }
}

fn model(place: Place) -> Model {
    if place == Place::Scale { Model::Scale } else { Model::Resource }
}

/// Moves the parameters that all operations share to the path item.
fn hoist(item: &mut PathItem) {
    let Some(first) = item.operations.first() else { return };
    let common: Vec<Parameter> = first
        .parameters
        .iter()
        .filter(|p| {
            item.operations.iter().all(|o| o.parameters.iter().any(|q| (q.name, q.location) == (p.name, p.location)))
        })
        .cloned()
        .collect();
    for operation in &mut item.operations {
        operation.parameters.retain(|p| !common.iter().any(|c| (c.name, c.location) == (p.name, p.location)));
    }
    item.parameters = common;
}
