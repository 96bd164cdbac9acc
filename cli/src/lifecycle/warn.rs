//! `kubeshape lifecycle warn`.

use super::{Session, sources};
use crate::args::{LifecycleWarnArgs, WalkArgs};
use crate::error::Fatal;
use crate::input::{Filter, Reader, check_once, gather};
use crate::report::{self, clean};
use kubeshape_input::{Code, Document, Finding, Limits};
use kubeshape_lifecycle::warn::{Cluster, MAX_WARNINGS, Schemas, headers};
use kubeshape_lifecycle::{entries, kinds};
use kubeshape_yaml::Node;
use std::path::PathBuf;

/// Runs `kubeshape lifecycle warn`.
///
/// # Errors
/// The command line is invalid, or standard output is closed.
pub(super) fn run(args: &LifecycleWarnArgs, mut session: Session) -> Result<bool, Fatal> {
    check_once(args.schemas.iter().chain(&args.objects))?;
    let (_, features) = sources::read(&[], &args.features, &mut session);
    let gates = args.feature_gates.iter().flatten().map(|(gate, value)| (gate.clone(), *value)).collect();
    let cluster = Cluster { release: args.kubernetes, gates, features };
    let mut schemas = Schemas::default();
    each(&args.schemas, &mut session, |document, session| {
        schemas.add(document);
        for finding in &entries::findings(document) {
            session.tell(finding);
        }
        Ok(())
    })?;
    let (mut objects, mut unknown, mut all) = (0, 0, 0);
    each(&args.objects, &mut session, |document, session| {
        for node in document.objects() {
            let found = findings(document, node, &schemas, &cluster);
            objects += 1;
            unknown += usize::from(!schemas.has(text(node, "apiVersion"), text(node, "kind")));
            all += found.len();
            if args.as_headers {
                let lines = headers(found.iter().map(|finding| finding.detail.as_str()));
                let lines: String = lines.into_iter().map(|line| line + "\n").collect();
                report::print(clean::lines(&lines).as_bytes())?;
            } else {
                for finding in &found {
                    session.tell(finding);
                }
            }
        }
        Ok(())
    })?;
    let s = |n: usize| if n == 1 { "" } else { "s" };
    session.ui.say(&format!("{objects} object{}, {all} finding{}", s(objects), s(all)));
    if unknown > 0 {
        let detail =
            format!("of {unknown} object{} no schema has the kind: nothing is known of their fields", s(unknown));
        session.ui.say(&detail);
    }
    session.end()
}

fn text<'o>(object: Node<'o>, key: &str) -> &'o str {
    object.get(key).and_then(Node::as_str).unwrap_or_default()
}

/// Returns the findings about an object: those of its kind first.
fn findings(document: &Document, object: Node<'_>, schemas: &Schemas, cluster: &Cluster) -> Vec<Finding> {
    let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    let source = document.source();
    let mut out = Vec::new();
    let at = object.get("apiVersion").unwrap_or(object);
    if let Some(warning) = schemas.deprecated(api_version, kind) {
        out.push(source.finding(Code::KindDeprecated, at.span(), warning));
    }
    if let Some((is_removed, warning)) = kinds::judge(api_version, kind, cluster.release) {
        let code = if is_removed { Code::KindRemoved } else { Code::KindDeprecated };
        out.push(source.finding(code, at.span(), warning));
    }
    let warnings = schemas.warnings(object, cluster);
    let is_full = warnings.len() == MAX_WARNINGS;
    for warning in warnings {
        out.push(source.finding(warning.kind.code(), warning.at.span(), warning.text));
    }
    if is_full {
        let detail = format!("no more than {MAX_WARNINGS} fields of an object are told; correct these first");
        out.push(source.finding(Code::FieldAlpha, at.span(), detail));
    }
    out
}

/// Reads files and folders. Reports unreadable ones.
fn each(
    paths: &[PathBuf],
    session: &mut Session,
    mut take: impl FnMut(&Document, &mut Session) -> Result<(), Fatal>,
) -> Result<(), Fatal> {
    let gathered = gather(paths, None, &Filter::new(&WalkArgs::default())?);
    gathered.tell_all("found nothing to read", |finding| session.tell(finding));
    let mut reader = Reader::default();
    for input in &gathered.inputs {
        let read = match reader.read(input, &Limits::default()) {
            Ok(bytes) => kubeshape_input::read(input.name(), bytes, Limits::default()),
            Err(finding) => {
                session.tell(&finding);
                continue;
            }
        };
        for finding in &read.findings {
            session.tell(finding);
        }
        for document in &read.documents {
            take(document, session)?;
        }
    }
    Ok(())
}
