//! `kubeshape conversions` calls webhooks. `kubeshape_conversions` makes the objects and decides what is wrong.

mod command;

use crate::args::{ConversionsArgs, When};
use crate::definitions::Definitions;
use crate::error::Fatal;
use crate::input::{Filter, check_once, objects};
use crate::report::{Setup, Ui, example, indented};
use command::Command;
use kubeshape_conversions::{Effort, Fault, REVIEW_VERSIONS, Report, Webhook, prove, review_version};
use kubeshape_input::{Code, Document, Limits};
use kubeshape_registry::Object;
use kubeshape_schema::{Bump, Note, thousands};
use kubeshape_structural::read::Manifest;
use kubeshape_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Runs the command. Returns whether no fault was found.
///
/// # Errors
/// The command line is wrong, something cannot be read, or the webhook cannot be called.
pub(crate) fn run(args: &ConversionsArgs, setup: &Setup) -> Result<bool, Fatal> {
    let levels = setup.levels(&args.findings.levels);
    let ui = Ui::new(setup.color, When::Never, args.quiet, args.verbose).with_levels(levels);
    let ui = ui.on_output(setup.color);
    let ui = ui.reporting(args.findings.report.formats(args.findings.output_format));
    check_once(&args.sample)?;
    let filter = Filter::new(&args.walk)?;
    let end = Instant::now().checked_add(args.time);
    let mut run = Run { args, ui, errors: 0, counts: Counts::default(), names_webhooks: false };
    let definitions = Definitions::read(&args.inputs, &filter, Limits::default(), |finding| run.finding(finding))?;
    let mut all = definitions.names().filter_map(|name| definitions.get(name));
    run.names_webhooks = all.any(|(_, manifest)| strategy(manifest.node) == Some(WEBHOOK));
    let mut samples =
        Samples { objects: objects(&args.sample, &filter, |finding| run.finding(finding))?, used: BTreeSet::new() };
    through(args, |send| {
        for name in definitions.names() {
            if let Some((document, manifest)) = definitions.get(name) {
                run.definition(name, document, &manifest, &mut samples, &mut Timed { send, end });
            }
        }
    })?;
    run.unused(&samples);
    run.end()
}

/// Sends a review, and returns the body of the response.
type Ask<'s> = &'s dyn Fn(&[u8]) -> Result<Vec<u8>, String>;

/// Calls a function with the means to reach the webhook.
///
/// # Errors
/// The URL or the certificates are wrong, or there is no webhook.
fn through(args: &ConversionsArgs, call: impl FnOnce(Ask<'_>)) -> Result<(), Fatal> {
    #[cfg(feature = "serve")]
    if let Some(url) = &args.webhook {
        let authorities = match &args.certificate_authority {
            None => Vec::new(),
            Some(path) => std::fs::read(path)
                .map_err(|error| Fatal::Read { path: path.clone(), message: crate::error::describe(&error) })?,
        };
        let runtime = tokio::runtime::Runtime::new()
            .map_err(|error| Fatal::Usage(format!("no request can be sent: {}", crate::error::describe(&error))))?;
        let client = kubeshape_server::WebhookClient::new(runtime.handle().clone(), url, &authorities, args.timeout)
            .map_err(|why| Fatal::Usage(format!("--webhook: {why}")))?;
        call(&|body| client.post(body));
        return Ok(());
    }
    // The arguments require one of both.
    let Some(command) = &args.exec else {
        return Err(Fatal::Usage("nothing to convert with: give --exec or --webhook".to_owned()));
    };
    let command = Command::new(command, args.timeout);
    call(&|body| command.run(body));
    Ok(())
}

/// A webhook that is called until the time is up.
struct Timed<'s> {
    send: Ask<'s>,
    end: Option<Instant>,
}

impl Webhook for Timed<'_> {
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
        (self.send)(review)
    }

    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Own objects, and which of them a definition has.
struct Samples {
    objects: Vec<Object>,
    used: BTreeSet<usize>,
}

#[derive(Default)]
struct Counts {
    definitions: usize,
    objects: usize,
    conversions: usize,
    faults: usize,
}

struct Run<'r> {
    args: &'r ConversionsArgs,
    ui: Ui,
    errors: usize,
    counts: Counts,
    /// Whether a definition names a conversion webhook. If none does, they are those that a generator wrote, before
    /// webhooks are added to them.
    names_webhooks: bool,
}

impl Run<'_> {
    fn finding(&mut self, finding: &kubeshape_input::Finding) {
        self.errors += usize::from(finding.is_error());
        self.ui.finding(finding);
    }

    /// Proves the conversions of a definition.
    fn definition(
        &mut self,
        name: &str,
        document: &Document,
        manifest: &Manifest<'_>,
        samples: &mut Samples,
        webhook: &mut Timed<'_>,
    ) {
        let arena = Bump::new();
        let read = manifest.read(&arena);
        let mut place = document.resolver().of_resource(name);
        for note in &read.notes {
            let finding = place.finding(note);
            if finding.is_error() {
                self.finding(&finding);
            }
        }
        let Some(crd) = read.value else { return };
        let versions = crd.versions.iter().filter(|version| version.served || version.storage).count();
        let why = match strategy(manifest.node) {
            _ if versions < 2 => "the definition has one version",
            Some(WEBHOOK) => "",
            None if !self.names_webhooks => "",
            _ => "the definition names no webhook, so a server changes the API version only",
        };
        if !why.is_empty() {
            let finding = place.finding(&Note::new(Code::ConversionNone, crd.at, why.to_owned()));
            return self.finding(&finding);
        }
        let own: Vec<usize> = (0..samples.objects.len())
            .filter(|at| {
                let gvk = samples.objects[*at].gvk();
                gvk.group() == crd.group && samples.objects[*at].kind() == crd.names.kind
            })
            .collect();
        samples.used.extend(&own);
        let objects: Vec<serde_json::Value> = own.iter().map(|at| samples.objects[*at].value().clone()).collect();
        let args = self.args;
        let effort = Effort {
            objects: args.objects as usize,
            reviews: args.reviews as usize,
            batch: usize::from(args.batch),
            bytes: usize::try_from(args.size).unwrap_or(usize::MAX),
            review: review(manifest.node).unwrap_or(REVIEW_VERSIONS[0]),
            seed: args.seed,
            release: args.kubernetes.unwrap_or_default(),
            ..Effort::default()
        };
        let report = prove(&crd, &objects, webhook, &effort);
        self.ui.compared(document.source().name(), name);
        self.counts.definitions += 1;
        self.counts.objects += report.versions.iter().map(|tried| tried.objects).sum::<usize>();
        self.counts.conversions += report.conversions;
        for (at, why) in &report.refused {
            let object = own.get(*at).and_then(|at| samples.objects.get(*at));
            if let Some((object, location)) = object.and_then(|object| Some((object, object.location()?))) {
                let resource = format!("{} {}", object.kind(), object.name());
                self.finding(&location.finding(Code::ConversionSample, why.clone()).of_resource(resource));
            }
        }
        // Faults of objects with empty values: one finding for each pair of versions, with the number of the others.
        let mut of_empty: BTreeMap<(&str, &str), Vec<&Fault>> = BTreeMap::new();
        for fault in &report.faults {
            if fault.code == Code::ConversionOfEmpty && !self.args.verbose {
                of_empty.entry((&fault.from, &fault.to)).or_default().push(fault);
                self.row(fault, name);
                continue;
            }
            self.fault(&place.finding(&Note::new(fault.code, fault.at, said(fault))), fault, name);
        }
        for faults in of_empty.values() {
            if let Some((first, others)) = faults.split_first() {
                let more = match others.len() {
                    0 => String::new(),
                    1 => ", and the same in 1 more field (-v)".to_owned(),
                    n => format!(", and the same in {n} more fields (-v)"),
                };
                let said = format!("{}{more}", said(first));
                self.finding(&place.finding(&Note::new(first.code, first.at, said)));
            }
        }
        self.not_tried(&report, crd.at, &mut |note| place.finding(note));
    }

    /// Reports a fault, with its object.
    fn fault(&mut self, finding: &kubeshape_input::Finding, fault: &Fault, name: &str) {
        self.counts.faults += usize::from(finding.is_error());
        self.finding(finding);
        if finding.is_error() || self.args.verbose {
            let yaml = example(&fault.object);
            self.ui.verbatim(&format!("  object:\n\n{}\n", indented(&yaml)));
            self.ui.code_block("The object", "yaml", &yaml);
        }
        self.row(fault, name);
    }

    /// Writes a fault as a line of JSON.
    fn row(&mut self, fault: &Fault, name: &str) {
        self.ui.json(&serde_json::json!({
            "definition": name, "code": fault.code.to_string(), "what": fault.what.to_string(), "from": fault.from, "to": fault.to, "path": fault.path,
            "detail": fault.detail, "object": fault.object, "converted": fault.converted, "count": fault.count,
        }));
    }

    /// Reports what was not tried.
    fn not_tried(&mut self, report: &Report, at: u32, finding: &mut dyn FnMut(&Note<'_>) -> kubeshape_input::Finding) {
        let mut tell = |code: Code, detail: String| self.finding(&finding(&Note::new(code, at, detail)));
        for tried in &report.versions {
            for path in &tried.missing {
                tell(Code::ConversionNotTried, format!("{}: {path}", tried.name));
            }
            if tried.skipped > 0 {
                let (skipped, objects) = (thousands(tried.skipped as u64), thousands(tried.objects as u64));
                let detail = format!("{}: {objects} objects were made, and {skipped} more are possible", tried.name);
                tell(Code::ConversionStopped, detail);
            }
        }
        if let Some(why) = &report.stopped {
            tell(Code::ConversionStopped, why.clone());
        }
    }

    /// Reports own objects of other kinds.
    fn unused(&mut self, samples: &Samples) {
        for (at, object) in samples.objects.iter().enumerate() {
            if let (false, Some(location)) = (samples.used.contains(&at), object.location()) {
                let resource = format!("{} {}", object.kind(), object.name());
                let detail = "no definition has its kind".to_owned();
                self.finding(&location.finding(Code::ConversionSample, detail).of_resource(resource));
            }
        }
    }

    fn end(self) -> Result<bool, Fatal> {
        let Run { mut ui, errors, counts, .. } = self;
        let Counts { definitions, objects, conversions, faults } = counts;
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let text = format!(
            "{definitions} definition{}, {} objects, {} conversions: {}.",
            s(definitions),
            thousands(objects as u64),
            thousands(conversions as u64),
            match faults {
                0 => "no fault".to_owned(),
                n => format!("{n} fault{}", s(n)),
            }
        );
        ui.verdict(&text);
        let is_denied = ui.end(None, "", "");
        ui.written()?;
        Ok(errors == 0 && !is_denied)
    }
}

/// The strategy of definitions with a webhook.
const WEBHOOK: &str = "Webhook";

/// Returns how a server converts the objects of a definition, if the definition says that.
fn strategy(definition: Node<'_>) -> Option<&str> {
    definition.get("spec")?.get("conversion")?.get("strategy")?.as_str()
}

/// Returns the version of reviews that the definition asks for.
fn review(definition: Node<'_>) -> Option<&'static str> {
    let conversion = definition.get("spec")?.get("conversion")?;
    let versions = conversion.get("webhook").unwrap_or(conversion).get("conversionReviewVersions")?;
    review_version(versions.items().filter_map(kubeshape_yaml::Node::as_str))
}

/// Describes a fault in one line.
fn said(fault: &Fault) -> String {
    let Fault { what, from, to, path, detail, .. } = fault;
    let way = match what {
        Code::ConversionFails | Code::ConversionRefused | Code::ConversionPruned | Code::ConversionMetadata => {
            format!("{from} -> {to}")
        }
        _ => format!("{from} -> {to} -> {from}"),
    };
    // The messages of a server have the path.
    let has_path = path.is_empty() || *what == Code::ConversionRefused;
    let path = if has_path { String::new() } else { format!("{path}: ") };
    let times = if fault.count > 1 { format!(" ({} objects)", thousands(fault.count as u64)) } else { String::new() };
    format!("{way}: {path}{detail}{times}")
}
