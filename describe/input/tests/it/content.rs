//! The kind of a document, by its members.

use kubeshape_discovery::read::DocumentKind;
use kubeshape_input::{Content, Document, Limits, describe, read};
use kubeshape_schema::Dialect;

fn content(text: &str) -> Content {
    let input = read("a.yaml", text.as_bytes(), Limits::default());
    assert_eq!(input.findings, [], "{text}");
    assert_eq!(input.documents.len(), 1, "{text}");
    input.documents[0].content()
}

#[test]
fn a_document_is_recognised_by_its_members() {
    let crd = "apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition";
    for (text, expected) in [
        ("{swagger: '2.0'}", Content::OpenApi(Dialect::V2)),
        ("{openapi: 3.0.0}", Content::OpenApi(Dialect::V3)),
        ("{swagger: '2.0', openapi: 3.0.0}", Content::OpenApi(Dialect::V2)),
        ("{openapi: 3.0.0, kind: Pod, apiVersion: v1}", Content::OpenApi(Dialect::V3)),
        ("{definitions: {}}", Content::Definitions),
        ("{definitions: []}", Content::Other),
        ("{definitions: {}, info: {}}", Content::Other),
        ("{types: []}", Content::Smd),
        ("{types: {}}", Content::Other),
        ("{$schema: 'https://json-schema.org/draft/2020-12/schema'}", Content::JsonSchema),
        ("{$schema: 'http://json-schema.org/draft-07/schema#', definitions: {}}", Content::JsonSchema),
        ("{$schema: 'https://example.com/schema'}", Content::Other),
        ("{$defs: {}}", Content::JsonSchema),
        ("{$defs: {}, kind: Pod}", Content::Object),
        ("{types: [], kind: Pod}", Content::Object),
        (&format!("{{{crd}}}"), Content::Crd),
        (&format!("{{{crd}List, items: []}}"), Content::List),
        (&format!("{{{crd}List}}"), Content::List),
        ("{apiVersion: v1, kind: List, items: []}", Content::List),
        ("{apiVersion: v1, kind: PodList, items: []}", Content::List),
        ("{apiVersion: v1, kind: AccessList}", Content::Object),
        ("{apiVersion: v1, kind: Pod}", Content::Object),
        ("{kind: Pod}", Content::Object),
        ("{apiVersion: v1, kind: APIResourceList, resources: []}", Content::Discovery(DocumentKind::Resources)),
        (
            "{apiVersion: apidiscovery.k8s.io/v2, kind: APIGroupDiscoveryList, items: []}",
            Content::Discovery(DocumentKind::Aggregated),
        ),
        ("{major: '1', gitVersion: v1.34.0}", Content::Discovery(DocumentKind::Version)),
        ("{paths: [/api]}", Content::Discovery(DocumentKind::Paths)),
        ("{paths: {api/v1: {}}}", Content::Index),
        ("{apiVersion: v1}", Content::Other),
        ("[swagger]", Content::Other),
        ("text", Content::Other),
        ("~", Content::Other),
    ] {
        assert_eq!(content(text), expected, "{text}");
    }
}

#[test]
fn documents_of_comments_and_blanks_are_skipped() {
    for text in ["", "\n", "# nothing\n", "---\n---\n# nothing\n---\n"] {
        let input = read("a.yaml", text.as_bytes(), Limits::default());
        assert!(input.documents.is_empty() && input.findings.is_empty(), "{text}");
    }
}

#[test]
fn objects_of_lists_and_of_lists_in_them_are_found() {
    let text = "
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod}
- {apiVersion: v1, kind: List, items: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}]}
- {kind: Service}
- 7
";
    let input = read("a.yaml", text.as_bytes(), Limits::default());
    let document = &input.documents[0];
    let found: Vec<String> = document.objects().into_iter().map(describe).collect();
    let definition = "apiextensions.k8s.io/v1 CustomResourceDefinition";
    assert_eq!(found, ["v1 Pod", "Service", "no Kubernetes object", definition]);
    let (definitions, others) = document.manifests();
    let definitions: Vec<String> = definitions.into_iter().map(|manifest| describe(manifest.node)).collect();
    assert_eq!(definitions, [definition]);
    assert_eq!(others.into_iter().map(describe).collect::<Vec<_>>(), ["v1 Pod", "Service", "no Kubernetes object"]);
}

#[test]
fn an_openapi_document_and_a_schema_have_no_objects() {
    for text in ["{swagger: '2.0'}", "{definitions: {}}", "{types: []}"] {
        let input = read("a.yaml", text.as_bytes(), Limits::default());
        let (definitions, others) = input.documents[0].manifests();
        assert!(definitions.is_empty() && others.is_empty(), "{text}");
    }
}

#[test]
fn documents_name_the_release_of_their_server() {
    let cases = [
        ("{major: '1', gitVersion: v1.34.2-gke.100}", Some("1.34")),
        ("{openapi: 3.0.0, info: {title: Kubernetes, version: v1.36.1}}", Some("1.36.1")),
        ("{swagger: '2.0', info: {title: Kubernetes, version: v1.31.0}}", Some("1.31")),
        ("{openapi: 3.0.0, info: {title: Kubernetes, version: unversioned}}", None),
        ("{openapi: 3.0.0, info: {title: Kubernetes, version: v1.14.0}}", None),
        ("{openapi: 3.0.0, info: {title: Pets, version: v1.31.0}}", None),
        ("{kind: Pod, apiVersion: v1, info: {title: Kubernetes, version: v1.31.0}}", None),
    ];
    for (text, expected) in cases {
        let input = read("a.yaml", text.as_bytes(), Limits::default());
        let found = input.documents.first().and_then(Document::server_release);
        assert_eq!(found.map(|release| release.to_string()).as_deref(), expected, "{text}");
    }
}
