//! Findings as one document for readers. [`markdown`](super::markdown) and [`html`](super::html) print it.

use kubeshape_diff::Class;
use kubeshape_diff::upgrade::Plan;
use kubeshape_input::Finding;
use kubeshape_schema::Level;

/// What a run found.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The numbers of errors, warnings and notes.
    pub(super) counts: [usize; 3],
    /// The verdicts on definitions, and on the whole run.
    pub(super) verdicts: Vec<String>,
    /// What was found, in order.
    pub(super) entries: Vec<Entry>,
    pub(super) plans: Vec<Upgrade>,
    /// What several releases say of each definition, in order.
    pub(super) answers: Vec<Answers>,
}

/// What releases say of a definition.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    /// The name of the definition.
    pub(crate) name: String,
    /// The releases, the oldest first, each with the numbers of errors and warnings.
    pub(crate) releases: Vec<(String, [usize; 2])>,
}

/// A finding.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) finding: Finding,
    pub(super) level: Level,
    /// The change that the finding is about.
    pub(super) change: Option<Changed>,
    /// Whether it counts as a finding. Changes that break nothing do not.
    pub(super) is_finding: bool,
    pub(super) blocks: Vec<Block>,
}

/// What a change does, and to what.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) class: Class,
    /// The path of the field; empty for the definition or the version itself.
    pub(crate) path: String,
}

/// A block of code that belongs to a finding.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) title: String,
    pub(super) language: String,
    pub(super) text: String,
}

/// The plan of an upgrade.
#[derive(Debug)]
pub(super) struct Upgrade {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) steps: Vec<Step>,
    pub(super) remarks: Vec<String>,
}

/// A step of a plan.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) title: String,
    pub(super) why: String,
    pub(super) commands: Vec<String>,
}

impl Document {
    /// Adds a finding. The finding of a change follows the change.
    pub(crate) fn finding(&mut self, finding: &Finding, level: Level) {
        let at = match level {
            Level::Error => 0,
            Level::Warning => 1,
            Level::Note | Level::Off => 2,
        };
        self.counts[at] += 1;
        if let Some(last) = self.entries.last_mut().filter(|last| last.change.is_some() && last.finding == *finding) {
            (last.level, last.is_finding) = (level, true);
            return;
        }
        let finding = finding.clone();
        self.entries.push(Entry { finding, level, change: None, is_finding: true, blocks: Vec::new() });
    }

    /// Adds a change, whether it is shown as a finding or not.
    pub(crate) fn change(&mut self, change: Changed, finding: &Finding) {
        let (finding, change) = (finding.clone(), Some(change));
        self.entries.push(Entry { finding, level: Level::Off, change, is_finding: false, blocks: Vec::new() });
    }

    /// Adds the verdict on one definition or on the run.
    pub(crate) fn verdict(&mut self, text: &str) {
        self.verdicts.push(text.to_owned());
    }

    /// Adds what several releases say of a definition.
    pub(crate) fn answers(&mut self, answers: Answers) {
        self.answers.push(answers);
    }

    /// Adds a block of code to the last finding.
    pub(crate) fn block(&mut self, title: &str, language: &str, text: &str) {
        if let Some(last) = self.entries.last_mut() {
            let [title, language, text] = [title, language, text].map(str::to_owned);
            last.blocks.push(Block { title, language, text });
        }
    }

    /// Adds a plan.
    pub(crate) fn plan(&mut self, plan: &Plan) {
        let step = |step: &kubeshape_diff::upgrade::Step| Step {
            title: step.action.title(),
            why: step.why.clone(),
            commands: step.commands.clone(),
        };
        let steps = if plan.is_plain() { Vec::new() } else { plan.steps.iter().map(step).collect() };
        let (name, summary, remarks) = (plan.name.clone(), plan.summary(), plan.remarks());
        self.plans.push(Upgrade { name, summary, steps, remarks });
    }

    /// Returns the verdict on the run, and whether it is good.
    pub(super) fn outcome(&self) -> (String, bool) {
        let [errors, warnings, notes] = self.counts;
        if errors + warnings + notes == 0 {
            let text = if self.verdicts.is_empty() { "Nothing was found." } else { "Nothing breaks." };
            return (text.to_owned(), true);
        }
        let counts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
        let counts = counts.map(|(n, what)| super::losses::count(n as u64, what));
        (format!("{}.", counts.join(", ")), errors == 0)
    }
}

/// Returns the name of a severity.
pub(super) fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note | Level::Off => "note",
    }
}
