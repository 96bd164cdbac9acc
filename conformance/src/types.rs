//! Area `types`: Go's types of built-in kinds in a release: the table of their members, and objects with random members
//! in protobuf.

use crate::known::Known;
use crate::oracle::Other;
use crate::table::{Table, Verdict};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_validate::Release;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Number of objects of each kind; the first is empty.
const SAMPLES: usize = 6;

/// The folder of the program.
pub const FOLDER: &str = "types";

/// An object in both forms.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    api_version: String,
    kind: String,
    protobuf: String,
    json: Box<RawValue>,
    /// The protobuf that Go writes after reading the JSON.
    again: String,
}

/// Compares the table of members with Go's types, and random objects with what Go reads and writes, in one release, or
/// in the one whose answers are recorded and in the newest.
///
/// # Errors
/// Go is not installed, or the Go program fails.
pub fn compare(other: Option<Other>, known: Known) -> Result<Table, String> {
    let mut table = Table::new("types", known);
    let others = if let Some(other) = other {
        vec![other]
    } else {
        let both = [crate::RECORDED, Release::NEWEST].map(|release| Other::build(FOLDER, release));
        both.into_iter().collect::<Result<_, String>>()?
    };
    for other in others {
        compare_release(&other, &mut table)?;
    }
    Ok(table)
}

fn compare_release(other: &Other, table: &mut Table) -> Result<(), String> {
    let release = other.release;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../base/gotypes/src/members.txt");
    let known = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let known: BTreeMap<&str, &str> = known.lines().map(name_and_rest).collect();
    for (name, theirs) in members_of(other)?.lines().map(name_and_rest) {
        let ours = known.get(name).map(|rest| in_release(rest, release.minor()));
        let verdict = match ours {
            Some(ours) if ours == theirs => Verdict::Equal,
            ours => Verdict::Differing(format!("Go: {theirs}\nours: {ours:?}")),
        };
        table.add("members", &format!("{release} {name}"), verdict);
    }
    for (number, line) in output(other, &["samples", "-count", &SAMPLES.to_string()])?.lines().enumerate() {
        let sample: Sample = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let bytes = STANDARD.decode(&sample.protobuf).map_err(|error| error.to_string())?;
        let read = kubeshape_objects::protobuf_to_json(&bytes, release);
        let read = read.unwrap_or_else(|| Err("no protobuf".to_owned()));
        let read = read.and_then(|text| serde_json::from_slice::<Value>(&text).map_err(|error| error.to_string()));
        let expected: Value = serde_json::from_str(sample.json.get()).map_err(|error| error.to_string())?;
        let verdict = match read {
            Ok(read) if read == expected => Verdict::Equal,
            Ok(read) => Verdict::Differing(format!("Go: {expected}\nours: {read}")),
            Err(error) => Verdict::Differing(format!("Go: {expected}\nours: {error}")),
        };
        let record = format!("{release} {} {} {}", sample.api_version, sample.kind, number % SAMPLES);
        table.add("objects from protobuf", &record, verdict);

        let json = sample.json.get();
        let written = kubeshape_objects::json_to_protobuf(&sample.api_version, &sample.kind, json.as_bytes(), release);
        let verdict = match written.map(|bytes| STANDARD.encode(bytes)) {
            Ok(written) if written == sample.again => Verdict::Equal,
            Ok(written) => Verdict::Differing(format!("{json}\nGo: {}\nours: {written}", sample.again)),
            Err(error) => Verdict::Differing(format!("{json}\nours: {error}")),
        };
        table.add("objects to protobuf", &record, verdict);
    }
    Ok(())
}

/// Returns the table of the members in the release whose answers are recorded and in newer ones.
///
/// # Errors
/// Go is not installed, or the Go program fails.
pub fn members() -> Result<String, String> {
    let mut tables = Vec::new();
    for release in Release::all().filter(|release| *release >= crate::RECORDED) {
        tables.push((Release::minor(release), members_of(&Other::build(FOLDER, release)?)?));
    }
    merged(&tables)
}

fn members_of(other: &Other) -> Result<String, String> {
    output(other, &["members"])
}

fn output(other: &Other, arguments: &[&str]) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("types of {} {}: {why}", other.release, arguments.join(" "));
    let output = Command::new(&other.program).args(arguments).output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}

fn name_and_rest(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or((line, ""))
}

/// Returns the members of a line of the table that a release has.
fn in_release(rest: &str, minor: u8) -> String {
    let members = rest.split(' ').filter_map(|member| {
        let Some((member, releases)) = releases_of(member) else { return Some(member) };
        let (first, last) = releases.split_once('-')?;
        let is_in = first.parse().is_ok_and(|first: u8| first <= minor) || first.is_empty();
        (is_in && (last.is_empty() || last.parse().is_ok_and(|last: u8| minor <= last))).then_some(member)
    });
    members.collect::<Vec<_>>().join(" ")
}

/// Splits the releases from a member, if it names any.
fn releases_of(member: &str) -> Option<(&str, &str)> {
    (member.matches(':').count() == 3).then(|| member.rsplit_once(':')).flatten()
}

/// Returns one table of those of several releases, the oldest first. A member that a struct does not have in all of
/// them names its releases.
fn merged(tables: &[(u8, String)]) -> Result<String, String> {
    let mut lines: BTreeMap<&str, Vec<(u8, &str)>> = BTreeMap::new();
    for (minor, table) in tables {
        for (name, rest) in table.lines().map(name_and_rest) {
            lines.entry(name).or_default().push((*minor, rest));
        }
    }
    let mut out = String::new();
    for (name, versions) in lines {
        out.push_str(name);
        if let Some((_, kind)) = versions.iter().find(|(_, rest)| rest.starts_with('@')) {
            if versions.iter().any(|(_, rest)| rest != kind) {
                return Err(format!("{name} is of another struct in another release"));
            }
            let _ = write!(out, " {kind}");
        } else {
            let releases: Vec<u8> = versions.iter().map(|(minor, _)| *minor).collect();
            let mut members: BTreeMap<(u32, u8, &str), Vec<u8>> = BTreeMap::new();
            let mut first: BTreeMap<&str, u8> = BTreeMap::new();
            for (minor, rest) in &versions {
                for member in rest.split(' ').filter(|member| !member.is_empty()) {
                    let number = member.split(':').next().unwrap_or_default();
                    let number = number.parse().map_err(|_| format!("{name}: {member:?} has no number"))?;
                    let first = *first.entry(member).or_insert(*minor);
                    members.entry((number, first, member)).or_default().push(*minor);
                }
            }
            for ((_, _, member), having) in members {
                for run in releases.split(|minor| !having.contains(minor)).filter(|run| !run.is_empty()) {
                    let _ = write!(out, " {member}{}", range(run, &releases));
                }
            }
        }
        out.push('\n');
    }
    Ok(out)
}

/// Writes successive releases among all of a struct: nothing if they are all, else `:33-35`, with open ends.
fn range(run: &[u8], all: &[u8]) -> String {
    let end = |found: Option<&u8>, of_all: Option<&u8>| match found {
        Some(minor) if found != of_all => minor.to_string(),
        _ => String::new(),
    };
    match (end(run.first(), all.first()), end(run.last(), all.last())) {
        (first, last) if first.is_empty() && last.is_empty() => String::new(),
        (first, last) => format!(":{first}-{last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{in_release, merged};

    #[test]
    fn a_table_of_releases_has_each_of_them() {
        let tables = [
            (31, "a/v1.A 1:x:s 2:y:!s\na/v1.Old 1:z:b\nv1.A @a/v1.A\n".to_owned()),
            (32, "a/v1.A 1:x:s 3:w:*s\na/v1.New\nv1.A @a/v1.A\n".to_owned()),
            (33, "a/v1.A 1:x:*s 2:y:!s 3:w:*s\na/v1.New 1:v:i\nv1.A @a/v1.A\n".to_owned()),
        ];
        let table = merged(&tables).expect("a table");
        let expected = "a/v1.A 1:x:s:-32 1:x:*s:33- 2:y:!s:-31 2:y:!s:33- 3:w:*s:32-\na/v1.New 1:v:i:33-\n\
            a/v1.Old 1:z:b\nv1.A @a/v1.A\n";
        assert_eq!(table, expected);
        let first = table.lines().next().and_then(|line| line.split_once(' ')).expect("members").1;
        for (minor, text) in &tables {
            assert_eq!(format!("a/v1.A {}", in_release(first, *minor)), text.lines().next().unwrap_or_default());
        }
        assert!(merged(&[(31, "v1.A @a/v1.A".to_owned()), (32, "v1.A @a/v1.B".to_owned())]).is_err());
    }
}
