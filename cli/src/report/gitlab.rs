//! Code quality reports of GitLab: a subset of the Code Climate format.

use kubeshape_input::Finding;
use kubeshape_schema::Level;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The findings, as one document.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    list: Vec<Value>,
    /// How often the same finding occurred. GitLab shows only one of several issues with the same fingerprint.
    seen: BTreeMap<String, usize>,
}

impl Issues {
    /// Adds a finding. GitLab needs a file and a line, so a finding without a file is reported for the folder.
    pub(crate) fn finding(&mut self, finding: &Finding, how: Level) {
        let severity = match how {
            Level::Error => "major",
            Level::Warning => "minor",
            Level::Note | Level::Off => "info",
        };
        let path = finding.input.as_deref().unwrap_or(".");
        let message = finding.message();
        // The line is not part of the fingerprint: an insertion above a finding moves it, but does not make it a new
        // one.
        let resource = finding.resource.as_deref().unwrap_or_default();
        let pointer = finding.pointer.as_deref().unwrap_or_default();
        let same = [&finding.code.to_string(), path, resource, pointer, &message].join("\0");
        let times = self.seen.entry(same.clone()).or_default();
        *times += 1;
        let mut fingerprint = String::with_capacity(64);
        for byte in Sha256::digest(format!("{same}\0{times}")) {
            let _ = write!(fingerprint, "{byte:02x}");
        }
        self.list.push(json!({
            "description": message,
            "check_name": finding.code.to_string(),
            "fingerprint": fingerprint,
            "severity": severity,
            "location": {
                "path": path.strip_prefix("./").unwrap_or(path),
                "lines": { "begin": finding.place.map_or(1, |place| place.line) },
            },
        }));
    }

    /// Returns the document.
    pub(crate) fn document(&mut self) -> String {
        serde_json::to_string_pretty(&std::mem::take(&mut self.list)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::{Code, Place};

    #[test]
    fn fingerprints_differ_and_do_not_depend_on_lines() {
        let mut issues = Issues::default();
        let mut finding = Finding::new(Code::WrongType, "x").in_input("./a.yaml");
        for line in [3, 9] {
            finding.place = Some(Place { line, column: 1 });
            issues.finding(&finding, Level::Error);
        }
        let first: Value = serde_json::from_str(&issues.document()).expect("a document");
        assert_ne!(first[0]["fingerprint"], first[1]["fingerprint"]);
        assert_eq!(first[1]["location"], json!({ "path": "a.yaml", "lines": { "begin": 9 } }));
        let mut issues = Issues::default();
        issues.finding(&finding, Level::Warning);
        let moved: Value = serde_json::from_str(&issues.document()).expect("a document");
        assert_eq!(first[0]["fingerprint"], moved[0]["fingerprint"]);
        assert_eq!((&moved[0]["severity"], &moved[0]["check_name"]), (&json!("minor"), &json!("KS1005")));
    }
}
