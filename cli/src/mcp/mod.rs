//! `kubeshape mcp`: the Model Context Protocol, one JSON-RPC message per line. The tools are in [`tools`].

mod answer;
mod paths;
mod schema;
mod tools;

use crate::args::McpArgs;
use crate::check;
use crate::convert::STACK;
use crate::error::Fatal;
use crate::input::Filter;
use crate::lsp::Known;
use crate::report;
use crate::validate::live::Base;
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tools::Tools;

/// The versions of the protocol, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Longer messages are refused.
const LONGEST: u64 = 64 << 20;

const INSTRUCTIONS: &str = "Offline answers about Kubernetes APIs and manifests, as a kube-apiserver would give them. \
    Validate every manifest before you show it. Findings have codes. Text arguments are YAML or JSON; `path` names a \
    file of the current folder instead. Nothing is written, and no cluster is read.";

/// Runs the command.
///
/// # Errors
/// An option is wrong, or standard output is closed.
pub(crate) fn run(args: &McpArgs) -> Result<bool, Fatal> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || serve(args))?;
        thread.join().map_err(|_| Fatal::Internal { input: "a message".to_owned() })?
    })
}

fn serve(args: &McpArgs) -> Result<bool, Fatal> {
    let filter = Filter::new(&args.live.walk)?;
    let base = Base::read(&args.live, &filter, false)?;
    for finding in base.findings.iter().filter(|finding| finding.is_error()) {
        report::say_aside(&finding.to_string());
    }
    let context = check::Context::of_workspace(&args.live);
    base.with(&args.live, &[], |validator, _| {
        let mut tools = Tools::new(&args.live, &filter, Known::new(validator, &context));
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut input).take(LONGEST).read_until(b'\n', &mut line);
            let Ok(length) = read else { return Ok(true) };
            if length == 0 {
                return Ok(true);
            }
            if length as u64 == LONGEST {
                // The rest of the line is not a message, so the session ends.
                write(&error(&Value::Null, INVALID, "the message is too long"))?;
                return Ok(true);
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Some(answer) = message(&line, &mut tools) {
                write(&answer)?;
            }
        }
    })
}

fn write(answer: &Value) -> Result<(), Fatal> {
    report::print(format!("{answer}\n").as_bytes())
}

const PARSE: i64 = -32700;
const INVALID: i64 = -32600;
const NO_METHOD: i64 = -32601;
const PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const NO_RESOURCE: i64 = -32002;

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Answers a message. Notifications and responses have no answer.
fn message(line: &[u8], tools: &mut Tools<'_, '_>) -> Option<Value> {
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(error(&Value::Null, PARSE, "the line is not JSON"));
    };
    let id = message.get("id");
    let Some(method) = message["method"].as_str().filter(|_| message["jsonrpc"] == "2.0") else {
        let is_response = message.get("result").or(message.get("error")).is_some();
        return (!is_response)
            .then(|| error(id.unwrap_or(&Value::Null), INVALID, "expected a request of JSON-RPC 2.0"));
    };
    let id = id.filter(|id| id.is_string() || id.is_number())?;
    let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
    let result = catch_unwind(AssertUnwindSafe(|| answer(method, &params, tools)));
    Some(match result {
        Ok(Ok(result)) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Ok(Err((code, message))) => error(id, code, &message),
        Err(_) => error(id, INTERNAL, "internal error; please report it with the message"),
    })
}

fn answer(method: &str, params: &Value, tools: &mut Tools<'_, '_>) -> Result<Value, (i64, String)> {
    match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str().unwrap_or_default();
            let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&VERSIONS[0]);
            Ok(json!({
                "protocolVersion": version,
                "capabilities": { "tools": {}, "resources": {} },
                "serverInfo": { "name": "kubeshape", "title": "kubeshape", "version": env!("CARGO_PKG_VERSION") },
                "instructions": INSTRUCTIONS,
            }))
        }
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": schema::tools() })),
        "tools/call" => {
            let name = params["name"].as_str().unwrap_or_default();
            if !schema::is_tool(name) {
                return Err((PARAMS, format!("there is no tool {name:?}")));
            }
            let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
            // What a model can correct is an answer, not an error of the protocol.
            let (text, is_error) = match schema::check(name, &arguments).and_then(|()| tools.call(name, &arguments)) {
                Ok(text) => (text, false),
                Err(text) => (text, true),
            };
            Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
        }
        "resources/list" => Ok(json!({ "resources": tools.resources() })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [{
            "uriTemplate": "kubeshape://schema/{apiVersion}/{kind}",
            "name": "schema",
            "description": "The JSON Schema of a kind",
            "mimeType": "application/schema+json",
        }] })),
        "resources/read" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            let text = tools.resource(uri).ok_or_else(|| (NO_RESOURCE, format!("there is no resource {uri:?}")))?;
            Ok(json!({ "contents": [{ "uri": uri, "mimeType": "application/schema+json", "text": text }] }))
        }
        _ => Err((NO_METHOD, format!("kubeshape does not know the method {method}"))),
    }
}
