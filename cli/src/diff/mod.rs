//! `kubeshape diff`: definitions in, findings out. `kubeshape-diff` knows what a change is for whom.

use crate::args::{DiffArgs, When};
use crate::definitions::Definitions;
use crate::error::Fatal;
use crate::input::Filter;
use crate::report::{Setup, Ui};
use crate::ssa::text::check_stdin;
use kubeshape_diff::{Change, Class, Consumer, definitions};
use kubeshape_input::{Code, Document, Finding, Limits};
use kubeshape_schema::{Bump, Note};
use kubeshape_structural::Crd;
use kubeshape_structural::read::Manifest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Runs the command. Returns whether no change is as bad as `--fail-on`.
///
/// # Errors
/// The command line is wrong, or something cannot be read.
pub(crate) fn run(args: &DiffArgs, setup: &Setup) -> Result<bool, Fatal> {
    let ui = Ui::new(setup.color, When::Never, args.quiet, args.verbose).with_levels(setup.levels(&args.levels));
    let ui = if args.verbose { ui.with_notes() } else { ui };
    let mut run =
        Run { args, ui: ui.on_output(setup.color).in_format(args.output_format), errors: 0, worst: None, compared: 0 };
    check_stdin([&args.old, &args.new].map(PathBuf::from).iter())?;
    let filter = Filter::new(&args.walk)?;
    let mut read = |side: &String| {
        Definitions::read(std::slice::from_ref(side), &filter, Limits::default(), |finding| run.problem(finding))
    };
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let names: BTreeSet<&str> = old.names().chain(new.names()).collect();
    for name in names {
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => run.pair(name, old, new),
            // What could not be read may hold the other one.
            _ if run.errors > 0 => {}
            (Some((document, manifest)), None) => run.gone(name, document, &manifest),
            (None, _) => run.ui.say(&format!("{name}: the definition is new")),
        }
    }
    run.end()
}

struct Run<'r> {
    args: &'r DiffArgs,
    ui: Ui,
    /// Errors that are no changes.
    errors: usize,
    worst: Option<Class>,
    compared: usize,
}

impl Run<'_> {
    fn problem(&mut self, finding: &Finding) {
        self.errors += usize::from(finding.is_error());
        self.ui.finding(finding);
    }

    /// The effects of a change on those who were asked for, in order.
    fn effects(&self, change: &Change) -> Vec<(Consumer, Class)> {
        let is_asked = |consumer: &Consumer| self.args.consumers.is_empty() || self.args.consumers.contains(consumer);
        change.effects.iter().copied().filter(|(consumer, _)| is_asked(consumer)).collect()
    }

    fn pair(&mut self, name: &str, old: (&Document, Manifest<'_>), new: (&Document, Manifest<'_>)) {
        let arena = Bump::new();
        let (Some(was), Some(is)) = (self.definition(name, old, &arena), self.definition(name, new, &arena)) else {
            return;
        };
        self.compared += 1;
        let mut counts = [0_usize; 4];
        let mut changes = Vec::new();
        let (mut before, mut after) = (old.0.resolver().of_resource(name), new.0.resolver().of_resource(name));
        for change in definitions(&was, &is) {
            let effects = self.effects(&change);
            let Some(class) = effects.iter().map(|(_, class)| *class).max() else { continue };
            counts[class as usize] += 1;
            self.worst = self.worst.max(Some(class));
            let field = if change.path.is_empty() { String::new() } else { format!("{}: ", change.path) };
            let detail = format!("{field}{}; {}", change.detail, whom(&effects));
            let mut finding = after.finding(&Note::new(change.code, change.new, detail));
            finding.version = (!change.version.is_empty()).then(|| change.version.clone());
            let place = before.finding(&Note::new(change.code, change.old, ""));
            finding.notes.push(format!("it was at {}", place.location()));
            changes.push(of_change(&change, &effects, &place.location(), &finding.location()));
            let is_shown = match class {
                Class::Breaking => true,
                Class::Risky => !self.args.quiet,
                Class::Compatible | Class::Cosmetic => self.args.verbose,
            };
            if is_shown {
                self.ui.finding(&finding);
            }
        }
        let worst = counts.iter().rposition(|count| *count > 0);
        let class =
            worst.map_or("same", |at| [Class::Cosmetic, Class::Compatible, Class::Risky, Class::Breaking][at].name());
        self.ui.json(&json!({ "resource": name, "class": class, "changes": changes }));
        if worst.is_some() || self.args.verbose {
            self.ui.say(&format!("{name}: {}", summary(counts)));
        }
    }

    /// Reads a definition; what is wrong with it is told.
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

    fn gone(&mut self, name: &str, document: &Document, manifest: &Manifest<'_>) {
        self.worst = self.worst.max(Some(Class::Breaking));
        let detail = "the definition is gone; a server deletes all of its objects with it";
        let note = Note::new(Code::DiffVersionGone, manifest.node.index(), detail);
        self.ui.finding(&document.resolver().of_resource(name).finding(&note));
        self.ui.json(&json!({ "resource": name, "class": "breaking", "changes": [] }));
    }

    fn end(self) -> Result<bool, Fatal> {
        let Run { args, mut ui, errors, worst, compared } = self;
        if worst.is_none() && errors == 0 {
            let s = if compared == 1 { "" } else { "s" };
            ui.say(&format!("{compared} CustomResourceDefinition{s} compared: nothing changed."));
        }
        let is_denied = ui.end(None, "", "");
        ui.written()?;
        let fails = args.fail_on.class().is_some_and(|least| worst.is_some_and(|worst| worst >= least));
        Ok(errors == 0 && !fails && !is_denied)
    }
}

fn of_change(change: &Change, effects: &[(Consumer, Class)], old: &str, new: &str) -> Value {
    let effects: serde_json::Map<String, Value> =
        effects.iter().map(|(consumer, class)| (consumer.name().to_owned(), json!(class.name()))).collect();
    json!({
        "code": change.code.to_string(),
        "version": change.version,
        "path": change.path,
        "detail": change.detail,
        "effects": effects,
        "old": old,
        "new": new,
    })
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
