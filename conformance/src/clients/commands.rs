//! Recorded kubectl commands about objects, run again with the kubectl of this machine against
//! `kubeshape serve --objects`.
//!
//! The server gets the definitions and objects of the real one. Times, ages, uids and revisions are not compared, nor
//! the cells of a table whose paths have a wildcard: Go walks maps in random order.

use super::Plan;
use super::serve::Serve;
use crate::exchanges::resources;
use crate::golden::lines;
use crate::known::Known;
use crate::table::{Table, Verdict};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Built-in kinds, whose columns are Go code.
const BUILT_IN: [&str; 9] =
    ["pods", "configmaps", "services", "deployments", "nodes", "jobs", "ingresses", "statefulsets", "all"];
/// Columns whose paths have a wildcard.
const RANDOM: [&str; 2] = ["REC", "WILD"];

#[derive(Deserialize)]
struct Call {
    args: Vec<String>,
    #[serde(default)]
    stdin: Option<String>,
    exit: i32,
    stdout: String,
    stderr: String,
}

#[derive(Deserialize)]
struct Exchange {
    request: Asked,
    status: u16,
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    path: String,
}

/// Runs the commands, and compares.
///
/// # Errors
/// There is no kubectl or no recording, or the command `kubeshape` does not start.
pub fn compare_commands(plan: &Plan, known: Known) -> Result<Table, String> {
    let mut table = Table::new("kubectl", known);
    let Some((_, golden)) = &plan.recorded else { return Err("there are no recorded commands".to_owned()) };
    let version = Command::new("kubectl").args(["version", "--client"]).output();
    if !version.is_ok_and(|version| version.status.success()) {
        return Err("there is no kubectl on the path".to_owned());
    }
    let server = golden.join("apiserver");
    let calls: Vec<Call> = lines(&server.join("kubectl").join("objects.ndjson.zst"))?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let objects = folder.path().join("objects.json");
    std::fs::write(&objects, state(&server)?).map_err(|error| error.to_string())?;
    let arguments = ["--objects", objects.to_str().unwrap_or_default()];
    let serving = Serve::run(&plan.program, &arguments, "off", folder.path())?;
    let normal = Normal::new();
    for call in &calls {
        let is_built_in = |names: &String| names.split(',').any(|name| BUILT_IN.contains(&name));
        if call.args[0] == "get" && call.args.get(1).is_some_and(is_built_in) {
            continue;
        }
        let row = call.args.first().map_or("", String::as_str);
        let verdict = match run(call, serving.url(), folder.path()) {
            Ok((exit, stdout, stderr)) => normal.verdict(call, exit, &stdout, &stderr),
            Err(why) => Verdict::Missing(why),
        };
        table.add(row, &call.args.join(" "), verdict);
    }
    Ok(table)
}

/// Returns the definitions and objects of the recorded server, as a List: the results of the recorded requests, and for
/// built-in kinds the responses of the server.
fn state(server: &Path) -> Result<String, String> {
    let store = resources::replayed(server, |_, _, _| {})?;
    let mut items: Vec<Value> =
        store.objects().filter_map(|(_, object)| serde_json::from_str(object.text()).ok()).collect();
    let exchanges: Vec<Exchange> = lines(&server.join("negotiated").join("negotiated.ndjson.zst"))?;
    let mut newest: BTreeMap<String, (u64, Value)> = BTreeMap::new();
    for exchange in exchanges.iter().filter(|exchange| [200, 201].contains(&exchange.status)) {
        let Ok(object) = serde_json::from_str::<Value>(exchange.body.as_deref().unwrap_or_default()) else { continue };
        let metadata = &object["metadata"];
        let has_uid = metadata["uid"].is_string() && !exchange.request.path.contains("dryRun");
        let generic = ["Table", "Scale", "PartialObjectMetadata"].iter().any(|kind| object["kind"] == *kind);
        if has_uid && !generic {
            let revision = metadata["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
            let uid = metadata["uid"].to_string();
            if newest.get(&uid).is_none_or(|(known, _)| *known <= revision) {
                newest.insert(uid, (revision, object));
            }
        }
    }
    let known: BTreeSet<String> = items.iter().map(|item| item["metadata"]["uid"].to_string()).collect();
    let others = newest.into_iter().filter(|(uid, _)| !known.contains(uid));
    items.extend(others.map(|(_, (_, object))| object));
    Ok(json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
}

fn run(call: &Call, url: &str, folder: &Path) -> Result<(i32, String, String), String> {
    let mut command = Command::new("kubectl");
    command.args(["--server", url, "--cache-dir"]).arg(folder.join("cache")).args(&call.args);
    command.env("COLUMNS", "80").env("HOME", folder);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input closes it.
        let _ = stdin.write_all(call.stdin.as_deref().unwrap_or_default().as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr)))
}

/// Patterns of what differs from run to run, and their replacements.
struct Normal(Vec<(Regex, &'static str)>);

impl Normal {
    fn new() -> Normal {
        let patterns = [
            (r#"(resourceVersion"?: ?"|Resource Version: +)\d+"#, "${1}REVISION"),
            ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
            (r"(?m)^[EF]\d{4} [\d:.]+ +\d+ ", "LOG "),
            (r"(?m)(^|[ ])(\d+[ywdhms])+([ ]|$)", "${1}AGE${3}"),
            ("[ ]+", " "),
            ("(?m) $", ""),
        ];
        Normal(patterns.into_iter().filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, with))).collect())
    }

    fn of(&self, text: &str) -> String {
        let text = without_random(text);
        self.0.iter().fold(text, |text, (pattern, with)| pattern.replace_all(&text, *with).into_owned())
    }

    fn verdict(&self, call: &Call, exit: i32, stdout: &str, stderr: &str) -> Verdict {
        if exit != call.exit {
            return Verdict::Differing(format!("exit {exit}, theirs {}: {stderr}", call.exit));
        }
        for (ours, theirs) in [(stdout, &call.stdout), (stderr, &call.stderr)] {
            let (ours, theirs) = (self.of(ours), self.of(theirs));
            let mut lines = ours.lines().map(Some).chain([None]).zip(theirs.lines().map(Some).chain([None]));
            if let Some((ours, theirs)) = lines.find(|(ours, theirs)| ours != theirs) {
                return Verdict::Differing(format!("{ours:?}, theirs {theirs:?}"));
            }
        }
        Verdict::Equal
    }
}

/// Returns tables without those columns. The cells are below the headings.
fn without_random(text: &str) -> String {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("NAME") {
            cuts = RANDOM.iter().filter_map(|name| column(line, name)).collect();
        } else if line.is_empty() {
            cuts.clear();
        }
        let is_cut = |at: usize| cuts.iter().any(|(start, end)| (*start..*end).contains(&at));
        out.extend(line.chars().enumerate().filter(|(at, _)| !is_cut(*at)).map(|(_, c)| c));
        out.push('\n');
    }
    out
}

/// Returns where a column begins, and where the next one begins.
fn column(head: &str, name: &str) -> Option<(usize, usize)> {
    let start = head.match_indices(name).map(|(at, _)| at).find(|at| {
        let ends = head.get(at + name.len()..).is_some_and(|rest| rest.starts_with("  "));
        ends && head.get(..*at).is_some_and(|before| before.ends_with("  "))
    })?;
    let rest = &head[start + name.len()..];
    Some((start, start + name.len() + rest.len() - rest.trim_start().len()))
}

#[cfg(test)]
mod tests {
    use super::{Normal, without_random};

    #[test]
    fn differences_between_runs_are_not_compared() {
        let normal = Normal::new();
        assert_eq!(normal.of("a   5m3s   x\nresourceVersion: \"7\"\n"), "a AGE x\nresourceVersion: \"REVISION\"\n");
        let text = "NAME   WILD   UID\nbig    é      n\n";
        assert_eq!(without_random(text), "NAME   UID\nbig    n\n");
    }
}
