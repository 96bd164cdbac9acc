//! `kubeshape krm`: validation as a function of kustomize and kpt.
//!
//! The input is a `ResourceList`, the output the same list with `results`. The specification is "KRM Functions
//! Specification" of kustomize.

use crate::args::When;
use crate::convert::STACK;
use crate::error::Fatal;
use crate::report::{self, Capped, Setup, Ui};
use crate::rows::{Answer, Row, Task, ValidateOptions, fatal};
use kubeshape::Findings;
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_schema::{Bump, NoteKind};
use kubeshape_smd::Value;
use kubeshape_yaml::{Kind, Node, Stream, Tape};
use serde_json::{Value as Json, json};
use std::io::Read;

/// The maximum bytes of the list.
const MOST_BYTES: u64 = 256 << 20;
/// The kind that `kubeshape check` validates.
const DEFINITION: &str = "CustomResourceDefinition";

/// Runs the command. Returns whether every object is accepted.
///
/// # Errors
/// Standard input is not a list of resources, or is too long. Or the schemas cannot be read.
pub(crate) fn run(setup: &Setup) -> Result<bool, Fatal> {
    let mut bytes = Vec::new();
    let input = std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes);
    let failed = |message: String| Fatal::Read { path: "-".into(), message };
    let count = input.map_err(|error| failed(error.to_string()))?;
    // Otherwise a part of the list would be printed as the whole.
    if count as u64 > MOST_BYTES {
        return Err(failed(format!("the list has more than {MOST_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    let answered = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || answer(&text))?;
        thread.join().map_err(|_| Fatal::Internal { input: "-".to_owned() })
    })?;
    match answered {
        Ok(Answered { output, errors }) => {
            report::print(output.as_bytes())?;
            let mut ui = Ui::new(setup.color, When::Never, false, false);
            for finding in &errors {
                ui.finding(finding);
            }
            ui.end(None, "", "");
            Ok(errors.is_empty())
        }
        Err(findings) => {
            let mut ui = Ui::new(setup.color, When::Never, false, false);
            for finding in &findings.0 {
                ui.finding(finding);
            }
            ui.end(None, "", "");
            Err(Fatal::Unread)
        }
    }
}

/// The output, and the findings for which the function fails.
struct Answered {
    output: String,
    errors: Vec<Finding>,
}

fn answer(text: &str) -> Result<Answered, Findings> {
    let mut tape = Tape::new();
    let wrong = |detail: String| Findings(vec![Finding::new(Code::NotAnObject, detail)]);
    let read = Stream::new(text.as_bytes(), Limits::default()).map(|mut stream| stream.next(&mut tape));
    match read {
        Ok(Some(Ok(()))) => {}
        Ok(Some(Err(error))) | Err(error) => return Err(wrong(format!("standard input: {error}"))),
        Ok(None) => return Err(wrong("found nothing on standard input, expected a ResourceList".to_owned())),
    }
    let root = tape.document(text).root().filter(|root| kind_of(*root) == "ResourceList");
    let root = root.ok_or_else(|| wrong("expected a ResourceList on standard input".to_owned()))?;
    let config = root.get("functionConfig");
    let task = task(config)?;
    let mut worker = task.worker();
    let mut results: Vec<Json> = Vec::new();
    let (mut errors, mut capped) = (Vec::new(), Capped::default());
    let items = root.get("items").into_iter().flat_map(Node::items);
    for item in items.filter(|item| item.kind() == Kind::Map && kind_of(*item) != DEFINITION) {
        let arena = Bump::new();
        let object = Value::from_node(item, &arena).to_serde();
        let name = object["metadata"]["annotations"]["config.kubernetes.io/path"].as_str();
        let name = name.unwrap_or_else(|| object["metadata"]["name"].as_str().unwrap_or("item"));
        let Answer { findings, .. } = worker.answer(Row::new(name, object.to_string().as_bytes()));
        for mut finding in findings.into_iter().filter_map(|finding| capped.admit(Box::new(finding))) {
            // The locations are those in the object alone, not in the list.
            (finding.place, finding.span, finding.excerpt) = (None, None, None);
            results.push(result(&finding, &object));
            if finding.is_error() {
                errors.push(*finding);
            }
        }
    }
    for mut rest in capped.rest() {
        (rest.place, rest.span, rest.excerpt) = (None, None, None);
        results.push(result(&rest, &Json::Null));
        errors.extend(rest.is_error().then_some(*rest));
    }
    Ok(Answered { output: output(text, root, &results), errors })
}

/// Reads the configuration of the function: `schemas` and `kubernetes`, in `spec` or in `data` of a ConfigMap.
fn task(config: Option<Node<'_>>) -> Result<Task, Findings> {
    let member = |name: &str| {
        let config = config?;
        config
            .get("spec")
            .and_then(|spec| spec.get(name))
            .or_else(|| config.get("data").and_then(|data| data.get(name)))
    };
    let mut options = ValidateOptions::default();
    if let Some(schemas) = member("schemas") {
        let one = schemas.as_str().map(|path| path.split(',').map(str::trim).map(Into::into).collect());
        options.schemas = one.unwrap_or_else(|| schemas.items().filter_map(Node::as_str).map(Into::into).collect());
    }
    let release = member("kubernetes").and_then(Node::as_str).map(str::parse).transpose();
    let unknown = |_| fatal(&Fatal::Usage("functionConfig: kubernetes is no release that is known".to_owned()));
    options.kubernetes = Some(release.map_err(unknown)?.unwrap_or_default());
    Task::validate(&options)
}

fn kind_of(node: Node<'_>) -> &str {
    node.get("kind").and_then(Node::as_str).unwrap_or_default()
}

fn result(finding: &Finding, object: &Json) -> Json {
    let severity = match finding.kind() {
        NoteKind::Error => "error",
        NoteKind::Warning => "warning",
        _ => "info",
    };
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let mut out = json!({
        "message": format!("{} {}", finding.code, finding.message()),
        "severity": severity,
        "resourceRef": {
            "apiVersion": text(&object["apiVersion"]),
            "kind": text(&object["kind"]),
            "name": text(&metadata["name"]),
            "namespace": text(&metadata["namespace"]),
        },
    });
    if let Some(pointer) = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
        out["field"] = json!({ "path": pointer.trim_start_matches('/').replace('/', ".") });
    }
    if let Some(path) = metadata["annotations"]["config.kubernetes.io/path"].as_str() {
        out["file"] = json!({ "path": path });
    }
    out
}

/// Returns the list with its results. A list in block style is otherwise unchanged, with its comments and the order of
/// its fields.
fn output(text: &str, root: Node<'_>, results: &[Json]) -> String {
    if results.is_empty() {
        return text.to_owned();
    }
    let arena = Bump::new();
    // A member can follow if the list is a block mapping that begins in the first column.
    let before = text.get(..root.span().start).unwrap_or_default();
    let is_flow = text.get(root.span().start..).unwrap_or_default().starts_with('{');
    let is_first_column = before.is_empty() || before.ends_with('\n');
    let is_block = !is_flow && is_first_column && !text.contains("\n---") && !text.contains("\n...");
    if is_block && root.get("results").is_none() {
        let line = if text.ends_with('\n') { "" } else { "\n" };
        return format!("{text}{line}results: {}\n", json!(results));
    }
    let mut list = Value::from_node(root, &arena).to_serde();
    list["results"] = json!(results);
    format!("{list}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1 # kept
  kind: ConfigMap
  metadata:
    name: a
    annotations: {config.kubernetes.io/path: a.yaml}
";

    #[test]
    fn a_list_without_findings_is_returned_unchanged() {
        let answered = answer(LIST).expect("a list");
        assert_eq!((answered.output.as_str(), answered.errors.len()), (LIST, 0));
    }

    #[test]
    fn findings_are_results_after_the_items() {
        let answered = answer(&format!("{LIST}  dat: {{}}\n")).expect("a list");
        let result = json!({
            "message": format!("KS8102 {}", answered.errors[0].message()),
            "severity": "error",
            "resourceRef": { "apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": "" },
            "field": { "path": "dat" },
            "file": { "path": "a.yaml" },
        });
        let expected = format!("{LIST}  dat: {{}}\nresults: [{result}]\n");
        assert_eq!((answered.output, answered.errors.len()), (expected, 1));
        let json = "{kind: ResourceList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}]}";
        let answered = answer(json).expect("a list");
        let list: Json = serde_json::from_str(&answered.output).expect("JSON");
        assert_eq!(list["results"][0]["field"]["path"], "dat");
    }

    #[test]
    fn results_of_one_code_are_only_counted_beyond_a_limit() {
        let item = "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dat: {}}\n";
        let text = format!("kind: ResourceList\nitems:\n{}", item.repeat(1_500));
        let answered = answer(&text).expect("a list");
        assert_eq!(answered.errors.len(), 1_001);
        assert!(answered.output.contains("500 more findings of this kind are not shown"));
    }

    #[test]
    fn results_follow_only_a_block_mapping_in_the_first_column() {
        let indented = format!("  {}", format!("{LIST}  dat: {{}}").replace('\n', "\n  "));
        let flow = "# a comment\n{kind: ResourceList, items: [{apiVersion: v1, kind: ConfigMap, dat: {}}]}";
        for text in [indented.as_str(), flow] {
            let list: Json = serde_json::from_str(&answer(text).expect("a list").output).expect("JSON");
            assert!(list["results"].is_array(), "{list}");
        }
    }

    #[test]
    fn an_input_that_is_not_a_list_is_refused() {
        for text in ["", "a: [", "kind: Pod", "[1]"] {
            assert!(answer(text).is_err(), "{text}");
        }
    }
}
