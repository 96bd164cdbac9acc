//! The output of kubectl.

use super::Defined;
use crate::table::{Table, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// A call of kubectl, and its recorded output.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Recorded {
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// Its exit status.
    pub(super) exit: i32,
    /// Its output, unless only the beginnings of lines are known.
    #[serde(default)]
    stdout: Option<String>,
    #[serde(default)]
    stderr: Option<String>,
    /// The beginnings of the lines of its output. Several blanks between words are treated as one.
    #[serde(default)]
    lines: Vec<String>,
}

/// The output of a call.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Printed {
    args: Vec<String>,
    exit: i32,
    stdout: String,
    stderr: String,
}

/// Compares call by call.
pub(super) fn compare(row: &str, calls: &[Recorded], printed: &[Printed], table: &mut Table) {
    for (at, call) in calls.iter().enumerate() {
        let record = call.args.join(" ");
        let verdict = match printed.get(at).filter(|printed| printed.args == call.args) {
            Some(printed) => verdict(call, printed),
            None => Verdict::Missing("kubectl did not run".to_owned()),
        };
        table.add(row, &record, verdict);
    }
}

fn verdict(call: &Recorded, printed: &Printed) -> Verdict {
    if printed.exit != call.exit {
        return Verdict::Differing(format!("exit {}, theirs {}: {}", printed.exit, call.exit, printed.stderr));
    }
    let mut texts = Vec::new();
    if let Some(theirs) = &call.stdout {
        texts.push((server_part(&call.args, &printed.stdout), server_part(&call.args, theirs)));
    }
    if let Some(theirs) = &call.stderr {
        texts.push((printed.stderr.clone(), theirs.clone()));
    }
    for (ours, theirs) in &texts {
        if let Some((line, (ours, theirs))) = first_different_line(ours, theirs) {
            return Verdict::Differing(format!("line {line}: {ours:?}, theirs {theirs:?}"));
        }
    }
    let single = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let ours: Vec<String> = printed.stdout.lines().chain(printed.stderr.lines()).map(single).collect();
    match call.lines.iter().find(|wanted| !ours.iter().any(|line| line.starts_with(wanted.as_str()))) {
        Some(line) => Verdict::Differing(format!("no line {line:?} in {ours:?}")),
        None => Verdict::Equal,
    }
}

/// `version` also prints the version of the client. Only that of the server is compared.
fn server_part(args: &[String], text: &str) -> String {
    if args.first().is_none_or(|command| command != "version") {
        return text.to_owned();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(versions) => versions["serverVersion"].to_string(),
        Err(_) => text.lines().filter(|line| line.starts_with("Server ")).collect(),
    }
}

fn first_different_line<'t>(ours: &'t str, theirs: &'t str) -> Option<(usize, (&'t str, &'t str))> {
    let mut lines = (ours.split('\n'), theirs.split('\n'));
    for line in 1.. {
        match (lines.0.next(), lines.1.next()) {
            (None, None) => return None,
            (ours, theirs) if ours == theirs => {}
            (ours, theirs) => return Some((line, (ours.unwrap_or("no line"), theirs.unwrap_or("no line")))),
        }
    }
    None
}

/// Returns calls about CustomResourceDefinitions, with kubectl's output for any that is served.
pub(super) fn expected(crds: &[Defined]) -> Vec<Recorded> {
    let call = |args: &[&str], exit: i32, lines: Vec<String>| Recorded {
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        exit,
        stdout: None,
        stderr: None,
        lines,
    };
    let versions = |crd: &Defined| crd.versions.iter().map(|v| format!("{}/{v}", crd.group)).collect::<Vec<_>>();
    let mut out = vec![
        call(&["api-versions"], 0, crds.iter().flat_map(versions).collect()),
        call(&["api-resources"], 0, crds.iter().map(|crd| format!("{} ", crd.plural)).collect()),
        call(&["explain", "nothing"], 1, vec!["the server doesn't have a resource type \"nothing\"".to_owned()]),
    ];
    for crd in crds {
        let name = format!("{}.{}", crd.plural, crd.group);
        let group = format!("GROUP: {}", crd.group);
        let missing = format!("{}.noSuchProperty", crd.plural);
        let does_not_exist = "error: field \"noSuchProperty\" does not exist".to_owned();
        out.push(call(&["explain", &name], 0, vec![group.clone(), "apiVersion <string>".to_owned()]));
        out.push(call(&["explain", &missing], 1, vec![group.clone(), does_not_exist]));
        for version in &crd.versions {
            let api = format!("--api-version={}/{version}", crd.group);
            let lines = vec![group.clone(), format!("VERSION: {version}")];
            out.push(call(&["explain", &crd.plural, &api, "--recursive"], 0, lines));
            let lines = vec![format!("VERSION: {}/{version}", crd.group)];
            out.push(call(&["explain", &crd.plural, &api, "--output=plaintext-openapiv2"], 0, lines));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Printed, Recorded, server_part, verdict};
    use crate::table::Verdict;

    fn recorded(line: serde_json::Value) -> Recorded {
        serde_json::from_value(line).expect("a recorded call")
    }

    fn printed(stdout: &str) -> Printed {
        Printed { args: vec!["explain".to_owned()], exit: 0, stdout: stdout.to_owned(), stderr: String::new() }
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        let call = recorded(serde_json::json!({"args": ["explain"], "exit": 0, "stdout": "a\nb\n", "stderr": ""}));
        assert_eq!(verdict(&call, &printed("a\nb\n")), Verdict::Equal);
        let Verdict::Differing(why) = verdict(&call, &printed("a\nc\n")) else { panic!("they differ") };
        assert_eq!(why, "line 2: \"c\", theirs \"b\"");
    }

    #[test]
    fn known_beginnings_of_lines_need_not_be_all() {
        let call = recorded(serde_json::json!({"args": ["explain"], "exit": 0, "lines": ["GROUP: a.example"]}));
        assert_eq!(verdict(&call, &printed("GROUP:      a.example\nmore\n")), Verdict::Equal);
        assert!(matches!(verdict(&call, &printed("GROUP: b.example\n")), Verdict::Differing(_)));
    }

    #[test]
    fn the_clients_own_version_is_not_compared() {
        let args = ["version".to_owned()];
        let text = |client: &str| format!("Client Version: {client}\nServer Version: v1.36.3\n");
        assert_eq!(server_part(&args, &text("v1.36.3")), server_part(&args, &text("v1.35.0")));
        let json = |client: &str| format!("{{\"clientVersion\": {client}, \"serverVersion\": {{\"major\": \"1\"}}}}");
        assert_eq!(server_part(&args, &json("1")), server_part(&args, &json("2")));
    }
}
