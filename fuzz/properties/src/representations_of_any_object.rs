//! Every form of any object is complete. CBOR loses nothing, an object that is exported and created again is the same,
//! and rows of comma-separated values have no control characters and one cell per column. Any bytes are read as CBOR or
//! rejected.

use kubeshape_objects::accept::Form;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Moment, Reply, Request};
use kubeshape_registry::{Registry, Time};
use serde_json::Value;
use std::sync::LazyLock;

const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            default: {}
            x-kubernetes-preserve-unknown-fields: true
            properties:
              replicas: {type: integer, format: int32, default: 1}
              mode: {type: string, nullable: true, default: auto}
              nested: {type: object, default: {a: 1}, properties: {a: {type: integer, default: 2}, b: {type: string, default: ""}}}
              items: {type: array, items: {type: object, properties: {on: {type: boolean, default: true}}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
    additionalPrinterColumns:
    - {name: Mode, type: string, jsonPath: .spec.mode}
    - {name: Everything, type: string, jsonPath: .spec, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
"#;
const ALL: &str = "/apis/example.com/v1/widgets";

static API: LazyLock<Api> = LazyLock::new(|| {
    let mut registry = Registry::default();
    registry.set_input("w", kubeshape_input::read("w.yaml", DEFINITION.as_bytes(), kubeshape_input::Limits::default()));
    Api::new(registry)
});

fn ask(store: &mut Store, request: &Request<'_>) -> Reply {
    let moment = Moment { now: Time(1_700_000_000), uid: "6d3ab1ff-a1b4-4a63-9f3c-5b1d2f4f9c5e", random: 0, ..Moment::default() };
    API.answer(store, request, &moment).expect("a resource")
}

fn parsed(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).expect("JSON")
}

/// Checks the property. The first line is an `Accept` and, after a tab, a query; the rest is the body of an object, in
/// JSON, YAML or CBOR.
pub fn holds(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let head = String::from_utf8_lossy(&data[..end]).into_owned();
    let body = data.get(end + 1..).unwrap_or_default();
    let (accept, query) = head.split_once('\t').unwrap_or((&head, ""));
    let base = Request { path: ALL, alternates: true, ..Request::default() };
    let mut store = Store::default();
    // Anything sent as CBOR is read or rejected.
    let cbor = Request { method: "POST", content_type: "application/cbor", body, ..base };
    let code = ask(&mut Store::default(), &cbor).code;
    assert!([201, 400, 413, 422, 500].contains(&code), "{code}");

    let made = ask(&mut store, &Request { method: "POST", content_type: "application/yaml", body, ..base });
    if made.code != 201 {
        return;
    }
    let stored = parsed(&made);
    let name = stored["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let path = format!("{ALL}/{name}");
    let one = Request { path: &path, ..base };
    let written = ask(&mut store, &Request { accept: "application/cbor", ..one });
    let put = Request { method: "PUT", content_type: "application/cbor", body: &written.body, ..one };
    let again = ask(&mut store, &put);
    assert_eq!((again.code, parsed(&again)), (200, stored.clone()));

    let exported = ask(&mut store, &Request { query: "export=1&exact=1", ..one });
    let mut other = Store::default();
    let created = ask(&mut other, &Request { method: "POST", body: &exported.body, ..base });
    assert_eq!(created.code, 201, "{}", created.text());
    let created = parsed(&created);
    for key in ["spec", "status"] {
        assert_eq!(created.get(key), stored.get(key));
    }

    for path in [&*path, ALL] {
        // A requested form is available, or rejected.
        let reply = ask(&mut store, &Request { path, accept, query, ..base });
        assert!(reply.code < 300 || matches!(reply.code, 400 | 406 | 410 | 422 | 500 | 504), "{}: {}", reply.code, reply.text());
        assert!(reply.content_type().bytes().all(|byte| byte.is_ascii_graphic()));
        for kind in ["Table", "TabularOutput", "Description", "PartialObjectMetadata"] {
            let accept = format!("application/json;as={kind};g=meta.k8s.io;v=v1");
            let request = Request { path, accept: &accept, query: "wide=1&showLabels=1&labelColumns=a", ..base };
            // The first request caches what the second one finds.
            let [first, second] = [ask(&mut store, &request), ask(&mut store, &request)];
            assert_eq!((first.code, &first), (200, &second));
            let table = parsed(&first);
            for rows in [&table["rows"], &table["items"]] {
                for row in rows.as_array().into_iter().flatten() {
                    let cells = row.get("cells").or(row.get("columns")).and_then(Value::as_array).map(Vec::len);
                    assert!(kind == "Description" || kind == "PartialObjectMetadata" || cells == Some(6), "{row}");
                }
            }
        }
        let csv = ask(&mut store, &Request { path, accept: "text/csv", query: "wide=1&showLabels=1", ..base });
        assert_eq!((csv.code, csv.form), (200, Form::Csv));
        let records = records(csv.text());
        assert!(records.len() == 2 && records.iter().all(|record| record.len() == 5), "{records:?}");
    }
}

/// Returns the records of comma-separated values (RFC 4180). Checks that there are no control characters.
fn records(text: &str) -> Vec<Vec<String>> {
    assert!(text.chars().all(|c| !c.is_control() || c == '\r' || c == '\n'), "{text:?}");
    let (mut records, mut record, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {
                assert_eq!(rest.next(), Some('\n'));
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            c => cell.push(c),
        }
    }
    assert!(!quoted && record.is_empty() && cell.is_empty(), "{text:?}");
    records
}
