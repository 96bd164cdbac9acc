//! The tools and their arguments.

use serde_json::{Map, Value, json};

/// A tool: its name, its description, and its arguments: name, type, whether it is required, description.
type Tool = (&'static str, &'static str, &'static [(&'static str, &'static str, bool, &'static str)]);

const TEXT: &str = "YAML or JSON, one or several documents";
const PATH: &str = "a file of the current folder, in place of the text";
const KIND: &str = "the kind, such as Deployment";
const VERSION: &str = "the API version, such as apps/v1; needed if several have the kind";

const TOOLS: [Tool; 8] = [
    (
        "kinds",
        "Lists kinds with their API versions, one per line.",
        &[
            ("filter", "string", false, "a part of the kind or of the API version, in any case"),
            ("limit", "integer", false, "the maximum number of lines; 50 if it is not given"),
        ],
    ),
    (
        "explain",
        "Lists the fields of a kind with types, required fields, defaults, enums, bounds and rules, within a number of \
         bytes. Name a path to see more of it.",
        &[
            ("kind", "string", true, KIND),
            ("apiVersion", "string", false, VERSION),
            ("path", "string", false, "a field, such as spec.template"),
            ("bytes", "integer", false, "the maximum size of the answer; 4000 if it is not given"),
        ],
    ),
    (
        "sample",
        "Returns the smallest object of a kind that a server accepts, as YAML.",
        &[("kind", "string", true, KIND), ("apiVersion", "string", false, VERSION)],
    ),
    (
        "validate",
        "Says whether a server would accept objects, with the server's words and places. Unknown fields are errors.",
        &[("text", "string", false, TEXT), ("path", "string", false, PATH)],
    ),
    (
        "check",
        "Says whether a server would accept CustomResourceDefinitions, and on which releases.",
        &[
            ("text", "string", false, TEXT),
            ("path", "string", false, PATH),
            ("kubernetes", "string", false, "releases: 1.34, 1.28..1.37 or all"),
            ("advice", "boolean", false, "also what can cause trouble later"),
        ],
    ),
    (
        "diff",
        "Says what a change of CustomResourceDefinitions breaks, and for whom.",
        &[
            ("old", "string", false, "the old definitions: YAML or JSON"),
            ("oldPath", "string", false, "their file, in place of the text"),
            ("new", "string", false, "the new definitions: YAML or JSON"),
            ("newPath", "string", false, "their file, in place of the text"),
        ],
    ),
    (
        "apply_plan",
        "Computes a server-side apply without a server: the object afterwards, or the conflicts with other managers.",
        &[
            ("config", "string", true, "the applied configuration: one object"),
            ("live", "string", false, "the live object with its managedFields; without it, the object is created"),
            ("manager", "string", false, "the field manager; kubectl if it is not given"),
            ("force", "boolean", false, "take over fields in conflict"),
        ],
    ),
    (
        "policy_test",
        "Judges objects with admission policies and their bindings, after the rules of their kinds.",
        &[
            ("policies", "string", true, "policies, bindings, parameters and Namespaces: YAML or JSON"),
            ("objects", "string", true, "the objects of the requests: YAML or JSON"),
            ("operation", "string", false, "create, update or delete; create if it is not given"),
        ],
    ),
];

/// Returns whether there is a tool of that name.
pub(super) fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|(known, ..)| *known == name)
}

/// Returns the tools as the protocol lists them.
pub(super) fn tools() -> Vec<Value> {
    let tool = |(name, description, arguments): &Tool| {
        let properties: Map<String, Value> = arguments
            .iter()
            .map(|(name, of, _, text)| ((*name).to_owned(), json!({ "type": of, "description": text })))
            .collect();
        let required: Vec<&str> =
            arguments.iter().filter(|(_, _, needed, _)| *needed).map(|(name, ..)| *name).collect();
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        json!({
            "name": name,
            "description": description,
            "inputSchema": schema,
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
        })
    };
    TOOLS.iter().map(tool).collect()
}

/// Checks the arguments of a tool.
///
/// # Errors
/// Says what was expected.
pub(super) fn check(name: &str, arguments: &Value) -> Result<(), String> {
    let Some((_, _, known)) = TOOLS.iter().find(|(known, ..)| *known == name) else { return Ok(()) };
    let Some(given) = arguments.as_object() else { return Err("arguments must be an object".to_owned()) };
    for (name, value) in given {
        let Some((_, of, ..)) = known.iter().find(|(known, ..)| known == name) else {
            let names: Vec<&str> = known.iter().map(|(name, ..)| *name).collect();
            return Err(format!("unknown argument {name:?}; expected {}", names.join(", ")));
        };
        let fits = match *of {
            "string" => value.is_string(),
            "integer" => value.is_u64(),
            _ => value.is_boolean(),
        };
        if !fits {
            return Err(format!("{name} must be a value of type {of}"));
        }
    }
    let missing = known.iter().find(|(name, _, needed, _)| *needed && !given.contains_key(*name));
    missing.map_or(Ok(()), |(name, ..)| Err(format!("the argument {name} is missing")))
}
