//! `kubeshape sample`.

use super::{complete, named};
use crate::args::SampleArgs;
use crate::error::Fatal;
use crate::report::clean::clean;
use crate::session::print::Output;
use crate::session::types::registry;
use crate::session::{Command, Common, Session};
use kubeshape_input::Code;
use kubeshape_registry::{Kind, print};
use kubeshape_smd::ToValue;
use kubeshape_validate::Release;
use kubeshape_yaml::{Kind as NodeKind, Limits, Node, Stream, Tape};

/// `kubeshape sample`
///
/// # Errors
/// The command line is wrong, or the result cannot be written.
pub(crate) fn sample(args: &SampleArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::new(&args.result)?;
    let registry = registry(&args.types, &[], session)?;
    if args.complete {
        output.bytes(complete::of_kind(&args.kind, registry).as_bytes())?;
        return Ok(true);
    }
    let Some(kind) = named(&args.kind, args.api_version.as_deref(), registry, session).first().copied() else {
        return Ok(false);
    };
    let definition = kind.definition().location();
    let Some(sampled) = kind.sample(args.maximal, Release::NEWEST) else {
        let detail = format!(
            "{} is defined by neither a CustomResourceDefinition nor an OpenAPI document; samples are made of these only",
            kind.gvk()
        );
        session.report(&definition.finding(Code::UnknownKind, detail));
        return Ok(false);
    };
    let value = sampled.object.to_value(session.arena);
    if args.comments && !output.is_json() {
        let yaml = print::yaml(value);
        output.bytes(commented(&yaml, kind).as_bytes())?;
    } else {
        output.objects(&[value])?;
    }
    for problem in &sampled.problems {
        let place = if problem.path.is_empty() || problem.text.starts_with(&problem.path) {
            problem.text.clone()
        } else {
            format!("{}: {}", problem.path, problem.text)
        };
        session.report(&definition.finding(Code::InvalidValue, format!("the server would refuse the sample: {place}")));
    }
    let is_beside = |other: &&Kind| other.definition().location() == definition;
    let has_resources = || registry.kinds().filter(is_beside).any(|other| other.resource().is_some());
    if kind.resource().is_none() && has_resources() {
        session.remark(&format!(
            "No resource has the kind {}: it is a part of requests and answers, and a server stores no object of it.",
            kind.kind()
        ));
    } else if !sampled.is_judged {
        session.remark(&format!(
            "A server may have more rules for {} than its OpenAPI document tells: they exist as Go code only.",
            kind.kind()
        ));
    }
    Ok(sampled.problems.is_empty())
}

/// Returns the YAML with the first sentence of each field's description above the field.
fn commented(yaml: &str, kind: &Kind) -> String {
    let mut tape = Tape::new();
    let read = Stream::new(yaml.as_bytes(), Limits::default()).ok().and_then(|mut stream| stream.next(&mut tape)?.ok());
    let mut comments: Vec<(usize, String)> = Vec::new();
    if read.is_some()
        && let Some(root) = tape.document(yaml).root()
    {
        collect(root, "", kind, &mut comments);
    }
    let mut out = String::with_capacity(yaml.len() * 2);
    let mut start = 0;
    let mut comments = comments.into_iter().peekable();
    for line in yaml.split_inclusive('\n') {
        let end = start + line.len();
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        while let Some((_, comment)) = comments.next_if(|(at, _)| *at < end) {
            out.push_str(indent);
            out.push_str("# ");
            out.push_str(&comment);
            out.push('\n');
        }
        out.push_str(line);
        start = end;
    }
    out
}

/// Collects the comments for the fields below a value, each with the position of the field's name.
fn collect(node: Node<'_>, pointer: &str, kind: &Kind, out: &mut Vec<(usize, String)>) {
    match node.kind() {
        NodeKind::Map => {
            for (key, value) in node.pairs() {
                let mut pointer = pointer.to_owned();
                kubeshape_yaml::pointer::push(&mut pointer, key.text());
                let description = kind
                    .declared(&pointer)
                    .and_then(|declared| declared.node().get("description").and_then(Node::as_str).map(first_sentence));
                out.extend(description.filter(|text| !text.is_empty()).map(|text| (key.span().start, text)));
                collect(value, &pointer, kind, out);
            }
        }
        NodeKind::Seq => {
            for (at, item) in node.items().enumerate() {
                collect(item, &format!("{pointer}/{at}"), kind, out);
            }
        }
        _ => {}
    }
}

/// Returns the first sentence of a description, on one line.
pub(crate) fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").map_or(line.len(), |end| end + 1);
    clean(&line[..end])
}

impl Command for SampleArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        sample(self, session)
    }
}
