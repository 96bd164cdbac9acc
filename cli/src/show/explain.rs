//! `kubeshape explain`.

use super::{complete, named};
use crate::args::{ExplainFieldArgs, ExplainFormat};
use crate::error::Fatal;
use crate::report;
use crate::report::clean::clean;
use crate::session::types::registry;
use crate::session::{Command, Common, Session, text, types};
use kubeshape_input::Code;
use kubeshape_lifecycle::warn::Schemas;
use kubeshape_registry::{Declarations, Kind};
use kubeshape_schema::{did_you_mean, nearest};
use kubeshape_show::explain::{self as pages, Candidate, Field, Gvr, More, Options, Request};
use kubeshape_smd::Value;
use kubeshape_validate::builtin::Share;
use serde_json::json;
use std::cell::RefCell;
use std::fmt::Write;

/// `kubeshape explain`
///
/// # Errors
/// The command line is wrong, or standard output is closed.
pub(crate) fn explain<'a>(args: &'a ExplainFieldArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    if args.complete {
        let registry = registry(&args.types, &[], session)?;
        let found = complete::of_field(&args.resource, args.api_version.as_deref(), registry, session.arena);
        return report::print(found.as_bytes()).map(|()| true);
    }
    let request = Request::parse(&args.resource).map_err(|error| Fatal::Usage(error.to_string()))?;
    let registry = registry(&args.types, &[], session)?;
    let kinds = named(request.resource(), args.api_version.as_deref(), registry, session);
    let names: Vec<String> = kinds.iter().map(|kind| kind.resource_name()).collect();
    let candidates: Vec<Candidate<'_>> =
        kinds.iter().zip(&names).map(|(kind, name)| Candidate { resource: name, group: kind.group() }).collect();
    let (chosen, path) = request.choose(&candidates).map_err(|error| Fatal::Usage(error.to_string()))?;
    let Some(at) = chosen else { return Ok(false) };
    let (kind, resource) = (kinds[at], &names[at]);
    types::say_release(kind, session);
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let has_more = args.more || args.index || args.format == ExplainFormat::Json;
    let document = if has_more { kind.constrained_openapi(session.arena) } else { kind.openapi(session.arena) };
    let Some(document) = document else {
        let detail = format!("{} has no OpenAPI document", kind.gvk());
        session.report(&kind.definition().location().finding(Code::UnknownKind, detail));
        return Ok(false);
    };
    let gvr = kind.gvr(resource);
    let lifecycles = Lifecycles::of(kind);
    let declarations = RefCell::new(kind.declarations());
    let mut page = String::new();
    let answer = if args.index || args.format == ExplainFormat::Json {
        let known = if args.format == ExplainFormat::Json { kind.losses() } else { Vec::new() };
        pages::fields(document, gvr, &path).map(|fields| {
            for field in fields {
                match args.format {
                    ExplainFormat::Json => {
                        json_line(&field, kind, (&lifecycles, &declarations), &known, &mut page);
                    }
                    ExplainFormat::Text => line(&field, &lifecycles, &mut page),
                }
            }
        })
    } else {
        let known = if args.more { kind.losses() } else { Vec::new() };
        let more = |pointer: &str| beyond(kind, (&lifecycles, &declarations), pointer, &known);
        let more = args.more.then_some(&more as More<'_>);
        let told = pages::plaintext(document, gvr, &path, Options { recursive: args.recursive, more }, &mut page);
        if args.more && path.is_empty() {
            page.push_str(&share(kind));
        }
        told
    };
    match answer {
        Ok(()) => report::print_for_people(&page).map(|()| true),
        Err(error) => {
            let message = error.to_string();
            let message = message.strip_prefix("error: ").unwrap_or(&message);
            let code =
                if matches!(error, pages::Error::NoField(_)) { Code::UndeclaredField } else { Code::UnknownKind };
            let near = if code == Code::UndeclaredField { near(document, gvr, &path) } else { Vec::new() };
            session.report(&text::nowhere(code, "", format!("{message}{}", did_you_mean(&near))));
            Ok(false)
        }
    }
}

/// What is reproduced of a server's refusals; empty if nothing was recorded of the kind.
fn share(kind: &Kind) -> String {
    let share = kind.definition().is_built_in().then(|| Share::of(kind.group(), kind.kind())).flatten();
    share.map_or_else(String::new, |share| {
        let Share { accepted, refused, refused_here, same_errors, refused_by_schema, .. } = share;
        format!(
            "RULES:\n    Of {refused} recorded requests that kube-apiserver 1.36 refuses, kubeshape\n    refuses {refused_here}, \
             and {same_errors} with the same errors. Of {accepted} that it\n    accepts, it refuses none.\n    The constraints of the schema alone refuse {refused_by_schema} of the {refused}.\n"
        )
    })
}

/// The fields that are nearest to the first name of a path that does not exist.
fn near(document: Value<'_>, gvr: Gvr<'_>, path: &[&str]) -> Vec<String> {
    let known = (0..path.len()).rev().find_map(|n| Some((path[n], n, pages::fields(document, gvr, &path[..n]).ok()?)));
    let Some((name, depth, fields)) = known else { return Vec::new() };
    // `.ports[].number`: every name begins with a dot.
    let own = fields.iter().filter(|field| field.path.matches('.').count() == depth + 1);
    let names = own.filter_map(|field| field.path.rsplit('.').next());
    nearest(name, names.map(|name| name.trim_end_matches(['[', ']', '{', '}'])))
}

/// The lifecycles and the declarations of the fields of a kind.
type Known<'k> = (&'k Lifecycles<'k>, &'k RefCell<Declarations<'k>>);

/// Returns what is known about a field in addition to what a server publishes: its lifecycle, where it is declared, and
/// what OpenAPI v2 loses of it. The losses are in order.
fn beyond(
    kind: &Kind,
    (lifecycles, declarations): Known<'_>,
    pointer: &str,
    losses: &[(String, String)],
) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = lifecycles.at(pointer).into_iter().collect();
    let Some(declared) = declarations.borrow_mut().at(pointer) else { return out };
    let schema = declared.pointer();
    let first = losses.partition_point(|(at, _)| **at < *schema);
    let below = losses[first..].iter().take_while(|(at, _)| at.starts_with(&schema));
    let own = below.filter(|(at, _)| is_about(at, &schema));
    out.extend(own.map(|(_, text)| ("lost".to_owned(), text.clone())));
    // Built-in kinds have no position that a user could open.
    if !kind.definition().is_built_in() {
        out.push(("declared in".to_owned(), declared.to_string()));
    }
    out
}

/// The lifecycles of fields that documents contain (KEP-2558). Servers drop the extension from
/// CustomResourceDefinitions, so it is not among the facts of what they publish.
pub(crate) struct Lifecycles<'k> {
    kind: &'k Kind,
    schemas: Schemas,
}

impl<'k> Lifecycles<'k> {
    pub(crate) fn of(kind: &'k Kind) -> Lifecycles<'k> {
        let mut schemas = Schemas::default();
        if !kind.definition().is_built_in() {
            schemas.add_annotated(kind.definition().location().document());
        }
        Lifecycles { kind, schemas }
    }

    /// Returns how stable a field is.
    pub(crate) fn at(&self, pointer: &str) -> Option<(String, String)> {
        let entry = self.schemas.at(self.kind.api_version(), self.kind.kind(), pointer)?;
        Some(("lifecycle".to_owned(), entry.to_string()))
    }
}

/// Returns whether a position is the schema at a pointer or one of its keywords, and not something below.
fn is_about(at: &str, schema: &str) -> bool {
    let Some(rest) = at.strip_prefix(schema) else { return false };
    let below = ["/properties/", "/items", "/additionalProperties"];
    rest.is_empty() || rest.starts_with('/') && !below.iter().any(|part| rest.contains(part))
}

/// Appends a field on one line.
fn line(field: &Field, lifecycles: &Lifecycles<'_>, out: &mut String) {
    let mut facts: Vec<String> = field.required.then(|| "required".to_owned()).into_iter().collect();
    facts.extend(lifecycles.at(&field.pointer).map(|(name, text)| format!("{name}: {text}")));
    facts.extend(field.facts.iter().map(|(name, text)| format!("{name}: {text}")));
    let line = [&field.path, &field.type_name, &facts.join("; "), &field.description];
    let _ = writeln!(out, "{}", line.map(|part| clean(part)).join("\t"));
}

/// Returns a field as a JSON object on one line.
fn json_line(field: &Field, kind: &Kind, known: Known<'_>, losses: &[(String, String)], out: &mut String) {
    let facts = |facts: &[(String, String)]| -> Vec<_> {
        facts.iter().map(|(name, text)| json!({"name": name, "value": text})).collect()
    };
    let line = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind(),
        "path": field.path,
        "type": field.type_name,
        "required": field.required,
        "description": field.description,
        "facts": facts(&field.facts),
        "more": facts(&beyond(kind, known, &field.pointer, losses)),
    });
    let _ = writeln!(out, "{line}");
}

impl Command for ExplainFieldArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.findings, walk: &self.types.walk, quiet: self.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        explain(self, session)
    }
}
