//! The kinds of `meta.k8s.io/v1`, as OpenAPI documents of their own. All resources can be converted to some of them, or
//! take them as parameters.
//!
//! In kube-apiserver, these kinds are parts of other groups. The proposal "Alternate representations of API resources"
//! puts them into a group, which a client that knows no other group can request.

use kubeshape_schema::Dialect;
use kubeshape_yaml::go::escape::{Escape, string};

/// The prefix of the names of definitions.
const PREFIX: &str = "io.k8s.meta.v1.";

/// The type of a member.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Integer,
    Boolean,
    /// RFC 3339.
    Time,
    /// An object of any kind.
    Any,
    /// Strings by name.
    Texts,
    /// Another definition.
    Of(&'static str),
    List(&'static Type),
}

use Type::{Any, Boolean, Integer, List, Of, Text, Texts, Time};

/// A member: its name, its type, and its description.
type Member = (&'static str, Type, &'static str);

/// A definition.
struct Definition {
    name: &'static str,
    description: &'static str,
    /// Whether it is a kind of its own, with `apiVersion` and `kind`.
    is_kind: bool,
    members: &'static [Member],
}

const fn kind(name: &'static str, description: &'static str, members: &'static [Member]) -> Definition {
    Definition { name, description, is_kind: true, members }
}

const fn part(name: &'static str, description: &'static str, members: &'static [Member]) -> Definition {
    Definition { name, description, is_kind: false, members }
}

const REVISION: &str = "Shows only what is known at this revision or after it.";

/// Sorted by name (upstream: `k8s.io/apimachinery/pkg/apis/meta/v1`; `TabularOutput` is the proposal's, `Description`
/// is ours).
const DEFINITIONS: &[Definition] = &[
    part("Cells", "The cells of a row.", &[("columns", List(&Any), "One value per column.")]),
    part(
        "Column",
        "The head of a column.",
        &[("description", Text, "What the column shows."), ("name", Text, "The head.")],
    ),
    kind(
        "DeleteOptions",
        "How objects are deleted.",
        &[
            ("dryRun", List(&Text), "With All, nothing is deleted."),
            ("gracePeriodSeconds", Integer, "How long an object has to end."),
            ("orphanDependents", Boolean, "Deprecated: what becomes of dependents."),
            ("preconditions", Of("Preconditions"), "What must hold for the object."),
            ("propagationPolicy", Text, "What becomes of dependents: Orphan, Background or Foreground."),
        ],
    ),
    kind(
        "Description",
        "An object as sections of labels and values, for people.",
        &[("metadata", Of("ObjectMeta"), "Which object it is."), ("sections", List(&Of("Section")), "The sections.")],
    ),
    kind(
        "DescriptionList",
        "Descriptions of several objects.",
        &[
            ("items", List(&Of("Description")), "The descriptions."),
            ("metadata", Of("ListMeta"), "What the list says of itself."),
        ],
    ),
    kind(
        "ExportOptions",
        "How objects are exported.",
        &[
            ("exact", Boolean, "The namespace and a generated name stay."),
            ("export", Boolean, "What the server set is left out."),
        ],
    ),
    part(
        "Field",
        "A label with a value, several values, fields below it, or items with fields.",
        &[
            ("fields", List(&Any), "Fields below it."),
            ("items", List(&Any), "Items with fields."),
            ("label", Text, "What the value is."),
            ("value", Text, "The value."),
            ("values", List(&Text), "Several values."),
        ],
    ),
    kind(
        "List",
        "Objects of any kinds.",
        &[("items", List(&Any), "The objects."), ("metadata", Of("ListMeta"), "What the list says of itself.")],
    ),
    kind(
        "ListMeta",
        "What a list says of itself.",
        &[
            ("continue", Text, "Where the next page begins."),
            ("remainingItemCount", Integer, "How many objects are not in this page and the ones before."),
            ("resourceVersion", Text, "The revision at which the list was read."),
            ("selfLink", Text, "Deprecated."),
        ],
    ),
    kind(
        "ListOptions",
        "Which objects are listed or watched.",
        &[
            ("allowWatchBookmarks", Boolean, "Revisions are told from time to time."),
            ("continue", Text, "Where a page begins, as the page before said."),
            ("fieldSelector", Text, "Selects by fields."),
            ("labelSelector", Text, "Selects by labels."),
            ("limit", Integer, "How many objects a page has."),
            ("resourceVersion", Text, REVISION),
            ("resourceVersionMatch", Text, "What resourceVersion means: Exact or NotOlderThan."),
            ("sendInitialEvents", Boolean, "A watch begins with what is there."),
            ("timeoutSeconds", Integer, "How long a request may take."),
            ("watch", Boolean, "Changes are told."),
        ],
    ),
    part(
        "ManagedFieldsEntry",
        "The fields that a manager owns.",
        &[
            ("apiVersion", Text, "The version of the fields."),
            ("fieldsType", Text, "The form of the fields: FieldsV1."),
            ("fieldsV1", Any, "The fields."),
            ("manager", Text, "The name of the manager."),
            ("operation", Text, "Apply or Update."),
            ("subresource", Text, "The subresource through which they were written."),
            ("time", Time, "When they were changed."),
        ],
    ),
    kind(
        "ObjectMeta",
        "What all objects say of themselves.",
        &[
            ("annotations", Texts, "Data of tools."),
            ("creationTimestamp", Time, "When the object was created."),
            ("deletionGracePeriodSeconds", Integer, "How long the object has to end."),
            ("deletionTimestamp", Time, "When the object is to be gone."),
            ("finalizers", List(&Text), "What must happen before the object is gone."),
            ("generateName", Text, "The beginning of a generated name."),
            ("generation", Integer, "Counts changes of what is wanted."),
            ("labels", Texts, "What objects are selected by."),
            ("managedFields", List(&Of("ManagedFieldsEntry")), "Who owns which fields."),
            ("name", Text, "The name, which is unique within the namespace."),
            ("namespace", Text, "The namespace."),
            ("ownerReferences", List(&Of("OwnerReference")), "What the object depends on."),
            ("resourceVersion", Text, "The revision of the last change."),
            ("selfLink", Text, "Deprecated."),
            ("uid", Text, "Tells the object from all others, also earlier ones of its name."),
        ],
    ),
    part(
        "OwnerReference",
        "An object that another one depends on.",
        &[
            ("apiVersion", Text, "The version of its kind."),
            ("blockOwnerDeletion", Boolean, "It stays until the dependent is gone."),
            ("controller", Boolean, "It manages the dependent."),
            ("kind", Text, "Its kind."),
            ("name", Text, "Its name."),
            ("uid", Text, "Its uid."),
        ],
    ),
    kind("PartialObjectMetadata", "The metadata of an object.", &[("metadata", Of("ObjectMeta"), "The metadata.")]),
    kind(
        "PartialObjectMetadataList",
        "The metadata of several objects.",
        &[
            ("items", List(&Of("PartialObjectMetadata")), "The metadata of each."),
            ("metadata", Of("ListMeta"), "What the list says of itself."),
        ],
    ),
    part(
        "Preconditions",
        "What must hold for an object that is changed.",
        &[("resourceVersion", Text, "Its revision."), ("uid", Text, "Its uid.")],
    ),
    kind(
        "Scale",
        "The replicas of an object.",
        &[
            ("metadata", Of("ObjectMeta"), "Which object it is."),
            ("spec", Of("ScaleSpec"), "How many replicas are wanted."),
            ("status", Of("ScaleStatus"), "How many replicas there are."),
        ],
    ),
    part("ScaleSpec", "How many replicas are wanted.", &[("replicas", Integer, "The number.")]),
    part(
        "ScaleStatus",
        "How many replicas there are.",
        &[("replicas", Integer, "The number."), ("selector", Text, "Selects them by labels.")],
    ),
    part(
        "Section",
        "A part of a description: fields, or a table.",
        &[
            ("columns", List(&Of("Column")), "The heads of a table."),
            ("fields", List(&Of("Field")), "The fields."),
            ("items", List(&Of("Cells")), "The rows of a table."),
            ("title", Text, "What stands above it."),
        ],
    ),
    kind(
        "Status",
        "What became of a request.",
        &[
            ("code", Integer, "The code of the response."),
            ("details", Of("StatusDetails"), "What it is about."),
            ("message", Text, "What happened."),
            ("metadata", Of("ListMeta"), "Empty."),
            ("reason", Text, "Why, in one word."),
            ("status", Text, "Success or Failure."),
        ],
    ),
    part(
        "StatusCause",
        "One of several problems.",
        &[
            ("field", Text, "The path of the field."),
            ("message", Text, "What is wrong."),
            ("reason", Text, "Why, in one word."),
        ],
    ),
    part(
        "StatusDetails",
        "What a status is about.",
        &[
            ("causes", List(&Of("StatusCause")), "Each problem on its own."),
            ("group", Text, "The group of the resource."),
            ("kind", Text, "The resource."),
            ("name", Text, "The name of the object."),
            ("retryAfterSeconds", Integer, "When to ask again."),
            ("uid", Text, "The uid of the object."),
        ],
    ),
    kind(
        "Table",
        "Objects as rows, for people.",
        &[
            ("columnDefinitions", List(&Of("TableColumnDefinition")), "The columns."),
            ("metadata", Of("ListMeta"), "What the list says of itself."),
            ("rows", List(&Of("TableRow")), "The rows."),
        ],
    ),
    part(
        "TableColumnDefinition",
        "A column of a table.",
        &[
            ("description", Text, "What it shows."),
            ("format", Text, "The format of its cells."),
            ("name", Text, "Its head."),
            ("priority", Integer, "0 is always shown."),
            ("type", Text, "The type of its cells."),
        ],
    ),
    part(
        "TableRow",
        "A row of a table.",
        &[("cells", List(&Any), "One value per column."), ("object", Any, "The object, or its metadata.")],
    ),
    kind(
        "TabularOutput",
        "Objects as rows, for people, in the form of the proposal.",
        &[
            ("columns", List(&Of("Column")), "The columns."),
            ("items", List(&Of("Cells")), "The rows."),
            ("metadata", Of("ListMeta"), "What the list says of itself."),
        ],
    ),
];

/// Returns the document of `apis/meta.k8s.io/v1` as compact JSON, in OpenAPI v3 or v2.
///
/// # Example
/// ```
/// use kubeshape_schema::Dialect;
///
/// let document: serde_json::Value = serde_json::from_str(&kubeshape_objects::generic_kinds(Dialect::V3))?;
/// let status = &document["components"]["schemas"]["io.k8s.meta.v1.Status"];
/// assert_eq!(status["x-kubernetes-group-version-kind"][0]["kind"], "Status");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn generic_kinds(dialect: Dialect) -> String {
    let (head, schemas, end) = match dialect {
        Dialect::V2 => {
            (r#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"meta.k8s.io/v1"}"#, r#""definitions":{"#, "}}")
        }
        Dialect::V3 => (
            r#"{"openapi":"3.0.0","info":{"title":"Kubernetes","version":"meta.k8s.io/v1"}"#,
            r#""components":{"schemas":{"#,
            "}}}",
        ),
    };
    let mut out = head.as_bytes().to_vec();
    out.extend_from_slice(
        br#","paths":{"/apis/meta.k8s.io/v1/":{"get":{"tags":["meta_v1"],"description":"get available resources","operationId":"getMetaV1APIResources","responses":{"200":{"description":"OK"},"401":{"description":"Unauthorized"}}}}},"#,
    );
    out.extend_from_slice(schemas.as_bytes());
    for (at, definition) in DEFINITIONS.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        definition.print(dialect, &mut out);
    }
    out.extend_from_slice(end.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

impl Definition {
    fn print(&self, dialect: Dialect, out: &mut Vec<u8>) {
        string(out, &format!("{PREFIX}{}", self.name), Escape::Html);
        out.extend_from_slice(b":{\"description\":");
        string(out, self.description, Escape::Html);
        out.extend_from_slice(b",\"type\":\"object\",\"properties\":{");
        let own: &[Member] = if self.is_kind {
            &[("apiVersion", Text, "The version of this kind."), ("kind", Text, "The name of this kind.")]
        } else {
            &[]
        };
        let mut members: Vec<&Member> = own.iter().chain(self.members).collect();
        members.sort_by_key(|(name, ..)| *name);
        for (at, (name, of, description)) in members.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            string(out, name, Escape::Html);
            out.extend_from_slice(b":{\"description\":");
            string(out, description, Escape::Html);
            out.push(b',');
            of.print(dialect, out);
            out.push(b'}');
        }
        out.push(b'}');
        if self.is_kind {
            // A client can choose the second version of a status with the parameter `sv`.
            let versions: &[&str] = if self.name == "Status" { &["v1", "v2"] } else { &["v1"] };
            let of =
                |version: &&str| format!(r#"{{"group":"meta.k8s.io","kind":"{}","version":"{version}"}}"#, self.name);
            let kinds: Vec<String> = versions.iter().map(of).collect();
            out.extend_from_slice(format!(r#","x-kubernetes-group-version-kind":[{}]"#, kinds.join(",")).as_bytes());
        }
        out.push(b'}');
    }
}

impl Type {
    /// Appends the members of a schema.
    fn print(self, dialect: Dialect, out: &mut Vec<u8>) {
        let text = match self {
            Text => r#""type":"string""#,
            Integer => r#""type":"integer","format":"int64""#,
            Boolean => r#""type":"boolean""#,
            Time => r#""type":"string","format":"date-time""#,
            Any => r#""x-kubernetes-preserve-unknown-fields":true"#,
            Texts => r#""type":"object","additionalProperties":{"type":"string"}"#,
            // In v2, a reference can have a description next to it.
            Of(name) if dialect == Dialect::V2 => return reference(name, dialect, out),
            Of(name) => {
                out.extend_from_slice(b"\"allOf\":[{");
                reference(name, dialect, out);
                out.extend_from_slice(b"}]");
                return;
            }
            List(item) => {
                out.extend_from_slice(b"\"type\":\"array\",\"items\":{");
                match item {
                    Of(name) => reference(name, dialect, out),
                    item => item.print(dialect, out),
                }
                out.push(b'}');
                return;
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}

fn reference(name: &str, dialect: Dialect, out: &mut Vec<u8>) {
    let place = if dialect == Dialect::V2 { "definitions" } else { "components/schemas" };
    out.extend_from_slice(format!("\"$ref\":\"#/{place}/{PREFIX}{name}\"").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{DEFINITIONS, Of, Type, generic_kinds};
    use kubeshape_schema::Dialect;
    use serde_json::Value;

    #[test]
    fn every_reference_resolves_and_names_are_sorted() {
        let names: Vec<&str> = DEFINITIONS.iter().map(|definition| definition.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for definition in DEFINITIONS {
            assert!(definition.members.iter().map(|(name, ..)| name).is_sorted(), "{}", definition.name);
            for (member, of, _) in definition.members {
                let (Type::List(Of(to)) | Of(to)) = of else { continue };
                assert!(names.contains(to), "{}.{member}", definition.name);
            }
        }
    }

    #[test]
    fn the_kinds_of_the_proposal_exist() {
        let document: Value = serde_json::from_str(&generic_kinds(Dialect::V3)).expect("JSON");
        let v2: Value = serde_json::from_str(&generic_kinds(Dialect::V2)).expect("JSON");
        assert_eq!(
            v2["definitions"]["io.k8s.meta.v1.Scale"]["properties"]["spec"]["$ref"],
            "#/definitions/io.k8s.meta.v1.ScaleSpec"
        );
        for kind in
            ["Status", "ListMeta", "ObjectMeta", "List", "ListOptions", "ExportOptions", "DeleteOptions", "Scale"]
        {
            let schema = &document["components"]["schemas"][format!("io.k8s.meta.v1.{kind}")];
            assert_eq!(schema["x-kubernetes-group-version-kind"][0]["kind"], kind);
            assert_eq!(schema["properties"]["kind"]["type"], "string");
        }
    }
}
