//! A plan as a text for people.

use super::plan::{Action, Obstacle, Plan, Step, VersionPlan, When};
use std::fmt;

/// The width of lines. Commands stay in one piece.
const WIDTH: usize = 80;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = format!("{}: {}", self.name, self.summary());
        // A command stays in one piece.
        writeln!(f, "{}", if self.is_plain() { head } else { wrapped(&head, 0) })?;
        for (at, step) in self.steps.iter().enumerate().filter(|_| !self.is_plain()) {
            let head = format!("{}. {}", at + 1, step.action.title());
            writeln!(f, "\n  {}", wrapped(&format!("{head}. {}", step.why), 5))?;
            for command in &step.commands {
                writeln!(f, "       {command}")?;
            }
        }
        for (at, remark) in self.remarks().iter().enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            writeln!(f, "{gap}  {}", wrapped(remark, 2))?;
        }
        Ok(())
    }
}

impl Plan {
    /// Whether all that is to be done is to apply the new definition.
    pub fn is_plain(&self) -> bool {
        matches!(self.steps.as_slice(), [Step { action: Action::Apply { is_new: true, .. }, .. }])
    }

    /// What there is to know beside the steps, a sentence or two each.
    pub fn remarks(&self) -> Vec<String> {
        // That a new version is served once it is there goes without saying.
        let told = self.versions.iter().filter(|version| version.was_served || !self.is_plain());
        let mut out: Vec<String> = told.filter_map(VersionPlan::told).collect();
        if let Some(Obstacle::Recreate { lost, .. }) = &self.obstacle {
            out.extend(lost.iter().map(|what| format!("Lost with the old definition: {what}.")));
        }
        if self.is_assumed && self.obstacle.is_none() {
            out.push(format!(
                "It is assumed that objects are stored in {} only. The cluster knows: kubectl get crd {} -o \
                 jsonpath='{{.status.storedVersions}}'",
                self.stored.join(", "),
                self.name
            ));
        }
        out
    }

    /// The plan in one line.
    pub fn summary(&self) -> String {
        match &self.obstacle {
            Some(Obstacle::Recreate { because, .. }) => {
                format!("there is no way but to delete it and to create it again: {}", because.join(", "))
            }
            Some(Obstacle::Refused { errors }) => {
                let more = if errors.len() > 1 { format!(", and {} more", errors.len() - 1) } else { String::new() };
                format!(
                    "a server refuses the new definition, whatever is done before: {}{more}",
                    errors.first().map_or("", String::as_str)
                )
            }
            Some(Obstacle::Stored { versions }) => {
                format!("objects may be stored in {}, which the old definition does not have", versions.join(", "))
            }
            None => match self.steps.as_slice() {
                [] => "nothing is to be done".to_owned(),
                [Step { commands, .. }] if self.is_plain() => commands.first().cloned().unwrap_or_default(),
                steps if self.refused.is_empty() => format!("{} steps", steps.len()),
                steps => {
                    format!("{} steps, because a server refuses the new definition as it stands", steps.len())
                }
            },
        }
    }
}

impl Action {
    /// What is done, in a few words.
    pub fn title(&self) -> String {
        match self {
            Action::Webhook { .. } => "Let the webhook convert".to_owned(),
            Action::Change { objects } if objects.len() == 1 => "Change an object".to_owned(),
            Action::Change { objects } => format!("Change {} objects", objects.len()),
            Action::Apply { is_new: true, .. } => "Apply the new definition".to_owned(),
            Action::Apply { is_new: false, .. } => "Apply a definition for the time between".to_owned(),
            Action::Migrate { version, .. } => format!("Write every object in {version}"),
            Action::Prune { stored } => format!("Set status.storedVersions to {}", stored.join(", ")),
        }
    }
}

impl VersionPlan {
    /// What clients of the version must know.
    fn told(&self) -> Option<String> {
        let VersionPlan { name, was_served, is_served, changes_with, .. } = self;
        match (was_served, is_served, changes_with) {
            (true, false, Some(step)) => {
                Some(format!("{name} is served until step {step}. Its clients must use another version by then."))
            }
            (false, true, Some(step)) => Some(format!("{name} is served from step {step} on.")),
            _ => None,
        }
    }
}

impl When {
    /// When it happens, in a sentence about the versions.
    pub fn told(self, from: &str, to: &str) -> String {
        match self {
            When::Stored if from == to => {
                format!("objects that are stored in {from} lose fields that it does not have any more")
            }
            When::Stored => format!("objects that are stored in {from} lose fields that {to} does not have"),
            When::Written => {
                format!(
                    "objects that clients write in {from} lose fields that {to}, in which they are stored, does not have"
                )
            }
        }
    }
}

/// A text with line breaks between words; the lines after the first one are indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut width = indent;
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && width + 1 + length > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            width = indent;
        } else if at > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out
}
