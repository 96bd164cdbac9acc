//! Media types of other representations, for documents that have only those of the objects themselves.

use crate::operations::{ALTERNATES, LIST_ALTERNATES, OBJECT_ALTERNATES};
use kubeshape_schema::Dialect;
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};

/// Adds the media types of tables and metadata to the operations of an OpenAPI document that read objects, as
/// [`Profile::Faithful`](crate::Profile::Faithful) publishes them for custom resources. A server has these forms of all
/// resources (upstream's `transformResponseObject`), but its documents do not list them.
///
/// The document must be JSON without blanks. Returns `None` if it has no such operation, or cannot be read.
pub fn with_alternates(json: &[u8], dialect: Dialect) -> Option<Vec<u8>> {
    let limits = Limits { bytes: usize::MAX, ..Limits::default() };
    let mut stream = Stream::new(json, limits).ok()?;
    let mut tape = Tape::new();
    stream.next(&mut tape)?.ok()?;
    let root = tape.document(stream.source()).root()?;
    let mut insertions: Vec<(usize, String)> = Vec::new();
    for (_, item) in root.get("paths")?.pairs() {
        if let Some(operation) = item.get("get") {
            of_operation(operation, dialect, &mut insertions);
        }
    }
    if insertions.is_empty() {
        return None;
    }
    insertions.sort_by_key(|(at, _)| *at);
    let mut out = Vec::with_capacity(json.len() + insertions.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut from = 0;
    for (at, text) in insertions {
        out.extend_from_slice(json.get(from..at)?);
        out.extend_from_slice(text.as_bytes());
        from = at;
    }
    out.extend_from_slice(json.get(from..)?);
    Some(out)
}

fn of_operation(operation: Node<'_>, dialect: Dialect, insertions: &mut Vec<(usize, String)>) {
    let types = match operation.get("x-kubernetes-action").map(Node::text) {
        Some("list") => LIST_ALTERNATES,
        Some("get") => OBJECT_ALTERNATES,
        _ => return,
    };
    let answer = operation.get("responses").and_then(|responses| responses.get("200"));
    let before = insertions.len();
    match (dialect, answer) {
        (Dialect::V3, Some(answer)) => {
            if let Some(content) = answer.get("content").filter(|content| is_of_objects(content.get(JSON))) {
                in_content(content, types, insertions);
            }
        }
        (Dialect::V2, Some(answer)) if is_of_objects(Some(answer)) => {
            if let Some(produces) = operation.get("produces").filter(|list| list.kind() == Kind::Seq) {
                in_list(produces, types, insertions);
            }
        }
        _ => {}
    }
    let description = operation.get("description").filter(|text| text.kind() == Kind::Str && !text.text().is_empty());
    if let Some(description) = description.filter(|_| insertions.len() > before) {
        insertions.push((description.span().end - 1, format!(". {ALTERNATES}")));
    }
}

const JSON: &str = "application/json";

/// Returns whether the schema of a response is a definition: logs and the like are strings.
fn is_of_objects(response: Option<Node<'_>>) -> bool {
    response.and_then(|response| response.get("schema")?.get("$ref")).is_some()
}

/// Adds sorted members to `content`.
fn in_content(content: Node<'_>, types: &[&str], insertions: &mut Vec<(usize, String)>) {
    for media_type in types.iter().filter(|media_type| content.get(media_type).is_none()) {
        let before = content.pairs().take_while(|(key, _)| key.text() < *media_type).last();
        if let Some((_, value)) = before {
            insertions.push((value.span().end, format!(",\"{media_type}\":{{}}")));
        }
    }
}

fn in_list(list: Node<'_>, types: &[&str], insertions: &mut Vec<(usize, String)>) {
    let is_missing = |media_type: &&&str| list.items().all(|item| item.text() != **media_type);
    let missing: Vec<String> = types.iter().filter(is_missing).map(|media_type| format!(",\"{media_type}\"")).collect();
    if let Some(last) = list.items().last().filter(|_| !missing.is_empty()) {
        insertions.push((last.span().end, missing.concat()));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn operations_that_read_objects_have_tables_and_metadata() {
        let schema = r##"{"schema":{"$ref":"#/x"}}"##;
        let json = format!(
            r#"{{"openapi":"3.0.0","paths":{{"/a":{{"get":{{"description":"list a","responses":{{"200":{{"content":{{"application/json":{schema},"application/json;stream=watch":{schema},"application/yaml":{schema}}}}}}},"x-kubernetes-action":"list"}},"post":{{}}}},"/log":{{"get":{{"responses":{{"200":{{"content":{{"application/json":{{"schema":{{"type":"string"}}}}}}}}}},"x-kubernetes-action":"get"}}}}}}}}"#
        );
        let found: serde_json::Value =
            serde_json::from_slice(&with_alternates(json.as_bytes(), Dialect::V3).unwrap()).unwrap();
        let get = &found["paths"]["/a"]["get"];
        let content: Vec<&String> = get["responses"]["200"]["content"].as_object().unwrap().keys().collect();
        let expected = [
            "application/json",
            "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",
            "application/json;g=meta.k8s.io;v=v1;as=Table",
            "application/json;stream=watch",
            "application/vnd.kubernetes.protobuf;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",
            "application/yaml",
        ];
        assert_eq!(content, expected);
        assert_eq!(get["description"], format!("list a. {ALTERNATES}"));
        assert_eq!(found["paths"]["/log"]["get"]["responses"]["200"]["content"].as_object().unwrap().len(), 1);
        // Operations that already have them are not changed.
        let again = serde_json::to_vec(&found).unwrap();
        assert_eq!(with_alternates(&again, Dialect::V3), None);
    }

    #[test]
    fn operations_of_v2_produce_them() {
        let json = r##"{"swagger":"2.0","paths":{"/a/{name}":{"get":{"produces":["application/json","application/yaml"],"responses":{"200":{"schema":{"$ref":"#/x"}}},"x-kubernetes-action":"get"}}}}"##;
        let found = String::from_utf8(with_alternates(json.as_bytes(), Dialect::V2).unwrap()).unwrap();
        let types = r#""application/yaml","application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata","application/json;g=meta.k8s.io;v=v1;as=Table","application/vnd.kubernetes.protobuf;g=meta.k8s.io;v=v1;as=PartialObjectMetadata"]"#;
        assert!(found.contains(types), "{found}");
    }

    #[test]
    fn other_documents_stay() {
        for json in ["", "[]", "{", r#"{"paths":{}}"#, r#"{"paths":{"/a":{"get":{"x-kubernetes-action":"get"}}}}"#] {
            assert_eq!(with_alternates(json.as_bytes(), Dialect::V3), None, "{json}");
        }
    }
}
