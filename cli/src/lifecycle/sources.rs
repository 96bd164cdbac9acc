//! Go files of the command line.

use super::Session;
use crate::args::WalkArgs;
use crate::input::{Filter, Reader, gather};
use kubeshape_input::{Code, Finding, Limits, Source};
use kubeshape_lifecycle::{Features, Types};
use std::path::PathBuf;

/// Reads types and gates. Reports unreadable files.
pub(super) fn read(types: &[PathBuf], features: &[PathBuf], session: &mut Session) -> (Types, Features) {
    let of_types = files(types, session);
    // A pipe can be read only once.
    let of_features = if features == types { of_types.clone() } else { files(features, session) };
    let (types, findings) = Types::read(of_types);
    let mut seen: Vec<Finding> = findings;
    let (features, findings) = Features::read(of_features);
    // A file may be named for both.
    seen.extend(findings);
    seen.dedup();
    for finding in &seen {
        session.tell(finding);
    }
    (types, features)
}

/// Returns the Go files of files and folders, without tests.
fn files(paths: &[PathBuf], session: &mut Session) -> Vec<Source> {
    let walk =
        WalkArgs { include: vec!["*.go".to_owned()], exclude: vec!["*_test.go".to_owned()], ..WalkArgs::default() };
    let filter = match Filter::new(&walk) {
        Ok(filter) => filter,
        Err(error) => {
            session.tell(&Finding::new(Code::Unreadable, error.to_string()));
            return Vec::new();
        }
    };
    let gathered = gather(paths, None, &filter);
    gathered.tell_all("found no Go file; name a folder that has some", |finding| session.tell(finding));
    let mut reader = Reader::default();
    let mut out = Vec::new();
    for input in &gathered.inputs {
        let bytes = match reader.read(input, &Limits::default()) {
            Ok(bytes) => bytes,
            Err(finding) => {
                session.tell(&finding);
                continue;
            }
        };
        match std::str::from_utf8(bytes) {
            Ok(text) => out.push(Source::from_text(input.name(), text)),
            Err(error) => {
                let detail = format!("byte {} is not UTF-8, which Go files are", error.valid_up_to() + 1);
                session.tell(&Finding::new(Code::LifecycleSource, detail).in_input(input.name()));
            }
        }
    }
    out
}
