//! `kubeshape lifecycle annotate`.

use super::{Session, sources};
use crate::args::{AnnotateArgs, WalkArgs};
use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, check_once, gather};
use crate::output::{Stage, targets};
use crate::report;
use kubeshape_input::{Code, Finding, Limits, unpack};
use kubeshape_lifecycle::annotate::Annotated;
use kubeshape_lifecycle::{Features, Options, TypePlace, Types, annotate, entries};
use std::collections::BTreeSet;

/// The maximum number of types that are named.
const NAMED: usize = 5;

/// Runs `kubeshape lifecycle annotate`.
///
/// # Errors
/// The command line is invalid, or a result cannot be written.
pub(super) fn run(args: &AnnotateArgs, mut session: Session) -> Result<bool, Fatal> {
    check_once(args.documents.iter().chain(&args.sources.types).chain(&args.sources.features))?;
    let filter = Filter::new(&WalkArgs::default())?;
    let gathered = gather(&args.documents, None, &filter);
    gathered.tell_all("found no document", |finding| session.tell(finding));
    let targets = targets(args.output.as_deref(), &gathered, "annotate")?;
    let (types, features) = sources::read(&args.sources.types, &args.sources.features, &mut session);
    let options = Options { release: args.sources.release };
    let stage = Stage::default().until_interrupted();
    let mut staged = Vec::new();
    let mut reader = Reader::default();
    let mut all_found = BTreeSet::new();
    let mut done = 0;
    for input in &gathered.inputs {
        let target = targets.get(input.path());
        let Some(Annotated { text, types: found, .. }) =
            one(input, target.is_some(), &mut reader, &types, &features, &options, &mut session)
        else {
            continue;
        };
        all_found.extend(found);
        done += 1;
        match target {
            None => report::print(text.as_bytes())?,
            Some(target) => staged.push(stage.write_named(target, text.as_bytes()).inspect_err(|_| stage.abandon())?),
        }
    }
    for staged in staged {
        stage.finish(staged).inspect_err(|_| stage.abandon())?;
    }
    if done < gathered.inputs.len() {
        session.ui.say("inputs with errors are left as they are");
    } else {
        tell_missing(&annotate::tagged(&types, &all_found), &mut session);
    }
    session.end()
}

/// Reports the types with a lifecycle that no document has. If there are others, only some are named, because documents
/// may cover only a part of the types.
fn tell_missing(tagged: &[(TypePlace<'_>, bool)], session: &mut Session) {
    let missing = tagged.iter().filter(|(_, is_found)| !is_found).map(|(place, _)| *place);
    if tagged.iter().all(|(_, is_found)| !is_found) {
        missing.for_each(|place| session.tell(&annotate::not_found(place)));
        return;
    }
    let names: Vec<&str> = missing.map(|place| place.of.name.as_str()).collect();
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = format!("in no document: the tagged types {}{more}", names[..names.len().min(NAMED)].join(", "));
    session.ui.say(&text);
}

/// Returns the result of one input, which may go to a file; `None` if it has errors.
fn one(
    input: &Input,
    to_file: bool,
    reader: &mut Reader,
    types: &Types,
    features: &Features,
    options: &Options,
    session: &mut Session,
) -> Option<Annotated> {
    let name = input.name();
    let bytes = match reader.read(input, &Limits::default()) {
        Ok(bytes) => bytes,
        Err(finding) => {
            session.tell(&finding);
            return None;
        }
    };
    let mut buffer = Vec::new();
    let plain = unpack(&name, bytes, Limits::default(), &mut buffer);
    if to_file && plain.is_ok_and(|plain| !std::ptr::eq(plain, bytes)) {
        let detail = "the document is compressed, and its result would not be; uncompress it first, or leave -o out";
        session.tell(&Finding::new(Code::Nothing, detail).in_input(name));
        return None;
    }
    let read = kubeshape_input::read(name.as_str(), bytes, Limits::default());
    for finding in &read.findings {
        session.tell(finding);
    }
    if read.findings.iter().any(Finding::is_error) {
        return None;
    }
    let Some(first) = read.documents.first() else {
        session.tell(&Finding::new(Code::Nothing, "found no document").in_input(name));
        return None;
    };
    if !first.source().has_lines() {
        let detail = "the document is protobuf, which is not edited; convert it to JSON first (kubeshape convert)";
        session.tell(&Finding::new(Code::Nothing, detail).in_input(name));
        return None;
    }
    for finding in read.documents.iter().flat_map(entries::findings) {
        session.tell(&finding);
    }
    let before = first.source().text().len();
    let result = annotate::annotate(&read.documents, types, features, options);
    for finding in &result.findings {
        session.tell(finding);
    }
    let count = |n: usize, what: &str| format!("{n} {what}");
    session.ui.say(&format!(
        "{name}: {}, {}, {}; {:+} bytes, {} in all",
        count(result.added, "added"),
        count(result.changed, "changed"),
        count(result.removed, "removed"),
        result.bytes,
        before.saturating_add_signed(isize::try_from(result.bytes).unwrap_or(0)),
    ));
    Some(result)
}
