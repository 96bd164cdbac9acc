//! `kubeshape diff`: definitions in, findings out. `kubeshape-diff` classifies the changes.

mod policies;
mod texts;

pub(crate) use texts::answer;

use crate::args::{DiffArgs, When};
use crate::definitions::Definitions;
use crate::error::Fatal;
use crate::input::{Filter, check_once};
use crate::report::{Changed, Setup, Ui, example, indented};
use kubeshape_builtin as builtin;
use kubeshape_check::{Check, Releases};
use kubeshape_diff::{
    Change, Class, Consumer, Day, Documents, Effort, Exemption, Exemptions, KindChanges, MarkedIn, Outcome, Proof,
    Witness, definitions_in, documents, witnesses,
};
use kubeshape_input::{Code, Document, Finding, Limits, Place, Resolver};
use kubeshape_schema::{Bump, Gvk, Note, Release};
use kubeshape_structural::Crd;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::builtin::Constraints;
use kubeshape_yaml::Node;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs the command. Returns whether no change is as severe as `--fail-on`.
///
/// # Errors
/// The command line is invalid, or something cannot be read.
pub(crate) fn run(args: &DiffArgs, setup: &Setup) -> Result<bool, Fatal> {
    let ui = Ui::new(setup.color, When::Auto, args.quiet, args.verbose).with_levels(setup.levels(&args.levels));
    let ui = if args.verbose { ui.with_notes() } else { ui };
    let exemptions = match &args.exempt {
        Some(path) => exemptions(path)?,
        None => Exemptions::default(),
    };
    let ui = ui.on_output(setup.color).reporting(args.report.formats(args.output_format));
    let mut run = Run {
        args,
        ui,
        exemptions,
        errors: 0,
        worst: None,
        compared: 0,
        what: "CustomResourceDefinition",
        release: Release::default(),
    };
    let usage = |text: &str| Err(Fatal::Usage(text.to_owned()));
    match (&args.kubernetes[..], args.old.is_some()) {
        ([old, new], false) if !args.witness => {
            run.what = "kind";
            run.kinds(&built_in(*old)?, &built_in(*new)?, false);
            return run.end();
        }
        ([_, _], false) => return usage("--witness is about definitions: give OLD and NEW"),
        ([_, _], true) => return usage("with OLD and NEW, --kubernetes has one release: --kubernetes=1.33"),
        ([_], false) => {
            return usage("--kubernetes with one release is about definitions: give OLD and NEW, or a second release");
        }
        _ => {}
    }
    let (Some(old), Some(new)) = (&args.old, &args.new) else {
        return Err(Fatal::Usage("OLD and NEW are missing".to_owned()));
    };
    check_once(&[old, new].map(PathBuf::from))?;
    let filter = Filter::new(&args.walk)?;
    let mut read = |side: &String| {
        Definitions::read(std::slice::from_ref(side), &filter, Limits::default(), |finding| run.problem(finding))
    };
    let (old, new) = (read(old)?, read(new)?);
    let of_cluster = || old.server_release().max(new.server_release());
    run.release = args.kubernetes.first().copied().or_else(of_cluster).unwrap_or_default();
    let names: BTreeSet<&str> = old.names().chain(new.names()).collect();
    run.ui.expect_all(names.len(), "definitions");
    for (number, name) in names.into_iter().enumerate() {
        run.ui.progress(number as u64);
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => run.pair(name, old, new),
            // An unreadable input may contain the other one.
            _ if run.errors > 0 => {}
            (Some((document, manifest)), None) => run.gone(name, document, &manifest),
            (None, Some((_, manifest))) if run.is_kind_wanted(&manifest) => {
                run.compared += 1;
                run.ui.say(&format!("{name}: the definition is new"));
            }
            (None, _) => {}
        }
    }
    run.policies(&old, &new);
    // A cluster has documents of everything that it serves. Definitions are not compared with these.
    let is_document = |side: &Definitions| side.names().next().is_none() && !side.openapi().is_empty();
    let has_documents = !old.openapi().is_empty() && !new.openapi().is_empty();
    if has_documents || is_document(&old) || is_document(&new) {
        run.what = if run.compared == 0 { "kind" } else { "definition" };
        run.kinds(old.openapi(), new.openapi(), true);
    }
    run.end()
}

/// Returns the OpenAPI documents of a release, with the constraints of its Go code.
///
/// # Errors
/// The documents of the release are not part of this program.
fn built_in(release: Release) -> Result<Vec<Document>, Fatal> {
    let documents =
        builtin::BuiltInDocuments::try_from(release).map_err(|error| Fatal::Usage(format!("--kubernetes: {error}")))?;
    let api = documents.api();
    let constraints = Constraints::new(release);
    let all = api.openapi_v3_of(|_| true).into_iter();
    let read = |(path, text): (&str, String)| {
        let name = format!("kubernetes-{documents}/{path}");
        let read = |text: &str| kubeshape_input::read(name.as_str(), text.as_bytes(), Limits::default()).documents;
        let documents = read(&text);
        let published = |document: &Document| constraints.add(document.root());
        match documents.first().and_then(published) {
            Some(published) => read(&published.document),
            None => documents,
        }
    };
    Ok(all.flat_map(read).collect())
}

struct Run<'r> {
    args: &'r DiffArgs,
    ui: Ui,
    exemptions: Exemptions,
    /// Errors that are not changes.
    errors: usize,
    worst: Option<Class>,
    compared: usize,
    /// The name of what is counted.
    what: &'static str,
    /// The release whose rules decide.
    release: Release,
}

impl Run<'_> {
    fn problem(&mut self, finding: &Finding) {
        self.errors += usize::from(finding.is_error());
        self.ui.finding(finding);
    }

    /// Returns the effects of a change on the selected consumers, in order, without exempt ones.
    fn effects(&mut self, name: &str, change: &Change) -> Vec<(Consumer, Class)> {
        let is_asked = |consumer: &Consumer| self.args.consumers.is_empty() || self.args.consumers.contains(consumer);
        self.exemptions.left(name, change).into_iter().filter(|(consumer, _)| is_asked(consumer)).collect()
    }

    fn pair(&mut self, name: &str, old: (&Document, Manifest<'_>), new: (&Document, Manifest<'_>)) {
        let arena = Bump::new();
        let (Some(was), Some(is)) = (self.definition(name, old, &arena), self.definition(name, new, &arena)) else {
            return;
        };
        if !self.is_wanted(Gvk::default(), was.names.kind) {
            return;
        }
        self.compared += 1;
        let release = self.release;
        for (side, (_, manifest)) in [("old", old), ("new", new)] {
            let report = Check::new(Releases::one(release)).definition(manifest, &Bump::new());
            if !report.is_accepted() {
                let text = format!("{name}: Kubernetes {} does not install the {side} definition", report.asked);
                self.ui.say(&format!("{text}, so the comparison may not hold; `kubeshape check` says why."));
            }
        }
        let all = definitions_in(&was, &is, release);
        let effort = Effort { release, ..Effort::default() };
        let proofs = if self.args.witness { witnesses(&was, &is, &effort) } else { Vec::new() };
        let (mut before, mut after) = (old.0.resolver().of_resource(name), new.0.resolver().of_resource(name));
        self.ui.compared(new.0.source().name(), name);
        self.changes(
            name,
            all.into_iter().zip(proofs.into_iter().chain(std::iter::repeat(Proof::NotNeeded))),
            &mut |change| located(&mut before, change, change.old, Change::old_part),
            &mut |change| located(&mut after, change, change.new, Change::new_part),
        );
    }

    /// Returns whether a kind is selected. Kinds of definitions are known only by their names.
    fn is_wanted(&self, gvk: Gvk<'_>, kind: &str) -> bool {
        self.args.kinds.is_empty()
            || self.args.kinds.iter().any(|wanted| match wanted.rsplit_once('/') {
                Some((api_version, name)) => api_version == gvk.api_version() && name == kind,
                None => wanted == kind,
            })
    }

    /// Returns the same for a definition that only one side has.
    fn is_kind_wanted(&self, manifest: &Manifest<'_>) -> bool {
        let kind = || manifest.node.get("spec")?.get("names")?.get("kind")?.as_str();
        self.is_wanted(Gvk::default(), kind().unwrap_or_default())
    }

    /// Compares the kinds of OpenAPI documents. Those of a release have no locations that a user could look up.
    fn kinds(&mut self, old: &[Document], new: &[Document], has_places: bool) {
        let arena = Bump::new();
        let was = Documents::new(old.iter().map(Document::root), &arena);
        let is = Documents::new(new.iter().map(Document::root), &arena);
        let all = documents(&was, &is, |kind| self.is_wanted(kind, kind.kind()));
        self.compared += all.len();
        for KindChanges { kind, documents: (was, is), changes } in all {
            if changes.is_empty() && !self.args.verbose {
                continue;
            }
            let name = format!("{} {}", kind.api_version(), kind.kind());
            let (was, is) = (was.and_then(|at| old.get(at)), is.and_then(|at| new.get(at)));
            let tell = |document: Option<&Document>, change: &Change, at: u32, part: Part| match document {
                Some(document) if has_places => located(&mut document.resolver().of_resource(&name), change, at, part),
                document => {
                    let input = document.map(|document| document.source().name().to_string()).unwrap_or_default();
                    (Finding::new(change.code, "").in_input(input).of_resource(name.as_str()), true)
                }
            };
            self.ui
                .compared(&is.or(was).map(|document| document.source().name().to_string()).unwrap_or_default(), &name);
            self.changes(
                &name,
                changes.into_iter().map(|change| (change, Proof::NotNeeded)),
                &mut |change| tell(was, change, change.old, Change::old_part),
                &mut |change| tell(is.or(was), change, change.new, Change::new_part),
            );
        }
    }

    /// Reports the changes of one definition.
    fn changes(
        &mut self,
        name: &str,
        all: impl Iterator<Item = (Change, Proof)>,
        before: &mut dyn FnMut(&Change) -> (Finding, bool),
        after: &mut dyn FnMut(&Change) -> (Finding, bool),
    ) {
        let mut counts = [0_usize; 4];
        let mut changes = Vec::new();
        for (change, proof) in all {
            let effects = self.effects(name, &change);
            let Some(class) = effects.iter().map(|(_, class)| *class).max() else { continue };
            counts[class as usize] += 1;
            self.worst = self.worst.max(Some(class));
            let (was, is) = (before(&change), after(&change));
            changes.push(of_change(&change, &effects, &was.0.location(), &is.0.location(), &proof));
            let mut finding = of_finding(&change, &effects, was, is);
            match &proof {
                Proof::NotNeeded => {}
                Proof::Witness(witness) => finding.notes.push(summed_up(witness)),
                Proof::None(reason) => finding.notes.push(format!("no witness found: {reason}")),
            }
            let is_shown = match class {
                Class::Breaking => true,
                Class::Risky => !self.args.quiet,
                Class::Compatible | Class::Cosmetic => self.args.verbose,
            };
            self.ui.change(&Changed { class, path: change.path.clone() }, &finding);
            if is_shown {
                self.ui.finding(&finding);
            }
            if let (true, Proof::Witness(witness)) = (class == Class::Breaking || self.args.verbose, &proof) {
                let yaml = example(&witness.object);
                self.ui.verbatim(&format!("  witness for {}:\n\n{}\n", named(&change), indented(&yaml)));
                self.ui.code_block(&format!("An object that it breaks ({})", witness.outcome), "yaml", &yaml);
            }
        }
        let worst = counts.iter().rposition(|count| *count > 0);
        let class =
            worst.map_or("same", |at| [Class::Cosmetic, Class::Compatible, Class::Risky, Class::Breaking][at].name());
        self.ui.json(&json!({ "resource": name, "class": class, "changes": changes }));
        if worst.is_some() || self.args.verbose {
            self.ui.verdict(&format!("{name}: {}", summary(counts)));
        }
    }

    /// Reads a definition. Reports its errors.
    fn definition<'a>(
        &mut self,
        name: &str,
        (document, manifest): (&'a Document, Manifest<'a>),
        arena: &'a Bump,
    ) -> Option<Crd<'a>> {
        let read = manifest.read(arena);
        if read.value.is_none() {
            let mut resolver = document.resolver().of_resource(name);
            for note in &read.notes {
                self.problem(&resolver.finding(note));
            }
        }
        read.value
    }

    /// Reports a definition that the new side does not have.
    fn gone(&mut self, name: &str, document: &Document, manifest: &Manifest<'_>) {
        if !self.is_kind_wanted(manifest) {
            return;
        }
        self.compared += 1;
        let change = removal(manifest);
        let (mut before, mut after) = (document.resolver().of_resource(name), document.resolver().of_resource(name));
        self.ui.compared(document.source().name(), name);
        self.changes(
            name,
            std::iter::once((change, Proof::NotNeeded)),
            &mut |change| located(&mut before, change, change.old, Change::old_part),
            &mut |change| located(&mut after, change, change.new, Change::new_part),
        );
    }

    /// Reports exemptions without an effect.
    fn idle_exemptions(&mut self) {
        let Some(path) = self.args.exempt.as_ref().map(|path| path.display().to_string()) else { return };
        let finding = |code: Code, exemption: &Exemption, detail: String| {
            let mut finding = Finding::new(code, detail).in_input(path.as_str());
            finding.place = Some(Place { line: exemption.line, column: 1 });
            finding
        };
        let mut findings: Vec<Finding> = Vec::new();
        for exemption in self.exemptions.expired() {
            let day = exemption.expires.map(|day| day.to_string()).unwrap_or_default();
            findings.push(finding(Code::ExemptionExpired, exemption, format!("it counted until {day}")));
        }
        for exemption in self.exemptions.unused() {
            let at = exemption.path.as_deref().map(|path| format!(" at {path}")).unwrap_or_default();
            findings.push(finding(Code::ExemptionUnused, exemption, format!("there is no {}{at}", exemption.code)));
        }
        for finding in &findings {
            self.ui.finding(finding);
        }
    }

    fn end(mut self) -> Result<bool, Fatal> {
        if self.compared == 0 && self.errors == 0 && !self.args.kinds.is_empty() {
            return Err(Fatal::Usage(format!("--kind: there is no kind {}", self.args.kinds.join(", "))));
        }
        self.idle_exemptions();
        let Run { args, mut ui, errors, worst, compared, what, .. } = self;
        if worst.is_none() && errors == 0 {
            let s = if compared == 1 { "" } else { "s" };
            ui.verdict(&format!("{compared} {what}{s} compared: nothing changed."));
        }
        let is_denied = ui.end(None, "", "");
        ui.written()?;
        let fails = args.fail_on.class().is_some_and(|least| worst.is_some_and(|worst| worst >= least));
        Ok(errors == 0 && !fails && !is_denied)
    }
}

/// Reads the file of exemptions.
fn exemptions(path: &Path) -> Result<Exemptions, Fatal> {
    let refused = |message: String| Fatal::Read { path: path.to_owned(), message };
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
    Exemptions::read(&text, Day::of_unix_days(seconds / 86_400)).map_err(|error| refused(error.to_string()))
}

/// Finds the part of a document that changed.
type Part = for<'a> fn(&Change, kubeshape_yaml::Document<'a>) -> Option<(Node<'a>, Node<'a>)>;

/// Returns the location of a change in a document, and whether the document has the changed part.
fn located(resolver: &mut Resolver<'_>, change: &Change, at: u32, part: Part) -> (Finding, bool) {
    let found = part(change, resolver.document());
    let mut finding = resolver.finding(&Note::new(change.code, found.map_or(at, |(_, value)| value.index()), ""));
    if let Some((key, _)) = found.filter(|(key, value)| finding.place.is_some() && key.index() != value.index()) {
        finding.span = Some(key.span());
        finding.place = resolver.place(key.index());
        finding.excerpt = Some(resolver.excerpt(key.index()));
    }
    (finding, found.is_some())
}

/// Returns the field of a change, or the changed thing.
fn named(change: &Change) -> &str {
    match (change.path.as_str(), change.version.as_str()) {
        ("", "") => "the definition",
        ("", version) => version,
        (path, _) => path,
    }
}

/// Describes the result of a witness in a sentence.
fn summed_up(witness: &Witness) -> String {
    if witness.outcome == Outcome::Accepted {
        return "an object that was refused is accepted".to_owned();
    }
    let mut out = format!("an object that was accepted is {}", witness.outcome);
    if !witness.errors.is_empty() {
        let _ = write!(out, ": {}", witness.errors.join("; "));
    }
    if witness.is_ratcheted {
        out.push_str(". An update that leaves the value alone is accepted");
    }
    out
}

/// Returns the finding of a change, by its locations in both definitions and whether these have the changed part.
fn of_finding(
    change: &Change,
    effects: &[(Consumer, Class)],
    (was, was_there): (Finding, bool),
    (is, is_there): (Finding, bool),
) -> Finding {
    let field = if change.path.is_empty() { String::new() } else { format!("{}: ", change.path) };
    let (old, new) = (was.location(), is.location());
    // Removed parts are marked in the old definition.
    let is_removed = was_there && !is_there;
    let mut finding = if is_removed { was } else { is };
    finding.detail = format!("{field}{}; {}", change.detail, whom(effects));
    finding.version = (!change.version.is_empty()).then(|| change.version.clone());
    if old != new && !old.is_empty() && !new.is_empty() && (is_removed || was_there || !is_there) {
        let note = if is_removed { format!("compare {new}") } else { format!("it was at {old}") };
        finding.notes.push(note);
    }
    finding
}

/// Returns the change of a definition that the new side does not have.
fn removal(manifest: &Manifest<'_>) -> Change {
    let concerned = [Consumer::Storage, Consumer::Writers, Consumer::Readers, Consumer::Meta];
    Change {
        code: Code::DiffVersionGone,
        version: String::new(),
        path: String::new(),
        old: manifest.node.index(),
        new: manifest.node.index(),
        part: Vec::new(),
        marked_in: MarkedIn::Both,
        detail: "the definition is gone; a server deletes all of its objects with it".to_owned(),
        effects: concerned.map(|consumer| (consumer, Class::Breaking)).to_vec(),
    }
}

fn of_change(change: &Change, effects: &[(Consumer, Class)], old: &str, new: &str, proof: &Proof) -> Value {
    let effects: serde_json::Map<String, Value> =
        effects.iter().map(|(consumer, class)| (consumer.name().to_owned(), json!(class.name()))).collect();
    let mut out = json!({
        "code": change.code.to_string(),
        "version": change.version,
        "path": change.path,
        "detail": change.detail,
        "effects": effects,
        "old": old,
        "new": new,
    });
    match proof {
        Proof::NotNeeded => {}
        Proof::Witness(witness) => {
            out["witness"] = json!({
                "object": witness.object,
                "outcome": witness.outcome.name(),
                "errors": witness.errors,
                "ratcheted": witness.is_ratcheted,
            });
        }
        Proof::None(reason) => out["noWitness"] = json!(reason),
    }
    out
}

/// `breaking for writers, risky for storage and readers`
fn whom(effects: &[(Consumer, Class)]) -> String {
    let mut out = String::new();
    for class in [Class::Breaking, Class::Risky, Class::Compatible, Class::Cosmetic] {
        let names: Vec<&str> =
            effects.iter().filter(|(_, of)| *of == class).map(|(consumer, _)| consumer.name()).collect();
        let (Some(last), before) = (names.last(), &names[..names.len().saturating_sub(1)]) else { continue };
        let and = if before.is_empty() { "" } else { " and " };
        let comma = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{comma}{class} for {}{and}{last}", before.join(", "));
    }
    out
}

/// `2 breaking, 1 risky`
fn summary(counts: [usize; 4]) -> String {
    let names = [Class::Breaking, Class::Risky, Class::Compatible, Class::Cosmetic];
    let parts: Vec<String> = names
        .into_iter()
        .filter(|class| counts[*class as usize] > 0)
        .map(|class| format!("{} {class}", counts[class as usize]))
        .collect();
    if parts.is_empty() { "nothing changed".to_owned() } else { parts.join(", ") }
}
