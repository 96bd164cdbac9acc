//! Prints a plan for people.

use super::plan::{Action, Obstacle, Plan, Step, VersionPlan, When};
use std::fmt;

/// The width of lines. Commands are not wrapped.
const WIDTH: usize = 80;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = format!("{}: {}", self.name, self.summary());
        // Commands are not wrapped.
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
    /// Returns whether the only step is to apply the new definition.
    pub fn is_plain(&self) -> bool {
        matches!(self.steps.as_slice(), [Step { action: Action::Apply { is_new: true, .. }, .. }])
    }

    /// Returns remarks on the plan, a sentence or two each.
    pub fn remarks(&self) -> Vec<String> {
        // It is obvious that a new version is served.
        let shown = self.versions.iter().filter(|version| version.was_served || !self.is_plain());
        let mut out: Vec<String> = shown.filter_map(VersionPlan::remark).collect();
        if let Some(Obstacle::Recreate { lost, .. }) = &self.obstacle {
            out.extend(lost.iter().map(|what| format!("Lost with the old definition: {what}.")));
        }
        if self.is_assumed && self.obstacle.is_none() {
            out.push(format!(
                "Assumed: objects are stored in {} only. To check: kubectl get crd {} -o \
                 jsonpath='{{.status.storedVersions}}'",
                self.stored.join(", "),
                self.name
            ));
        }
        out
    }

    /// Returns the plan in one line.
    pub fn summary(&self) -> String {
        match &self.obstacle {
            Some(Obstacle::Recreate { because, .. }) => {
                format!("it must be deleted and created again: {}", because.join(", "))
            }
            Some(Obstacle::Refused { errors }) => {
                let more = if errors.len() > 1 { format!(", and {} more", errors.len() - 1) } else { String::new() };
                format!("a server rejects the new definition: {}{more}", errors.first().map_or("", String::as_str))
            }
            Some(Obstacle::Stored { versions }) => {
                format!("objects may be stored in {}, which the old definition does not have", versions.join(", "))
            }
            None => match self.steps.as_slice() {
                [] => "nothing to do".to_owned(),
                [Step { commands, .. }] if self.is_plain() => commands.first().cloned().unwrap_or_default(),
                steps if self.refused.is_empty() => format!("{} steps", steps.len()),
                steps => {
                    format!("{} steps; a server rejects the new definition if applied directly", steps.len())
                }
            },
        }
    }
}

impl Action {
    /// Returns the action in a few words.
    pub fn title(&self) -> String {
        match self {
            Action::Webhook { .. } => "Let the webhook convert".to_owned(),
            Action::Change { objects } if objects.len() == 1 => "Change an object".to_owned(),
            Action::Change { objects } => format!("Change {} objects", objects.len()),
            Action::Apply { is_new: true, .. } => "Apply the new definition".to_owned(),
            Action::Apply { is_new: false, .. } => "Apply an intermediate definition".to_owned(),
            Action::Migrate { version, .. } => format!("Write every object in {version}"),
            Action::Prune { stored } => format!("Set status.storedVersions to {}", stored.join(", ")),
        }
    }
}

impl VersionPlan {
    /// Returns what clients of the version must know.
    fn remark(&self) -> Option<String> {
        let VersionPlan { name, was_served, is_served, changes_with, .. } = self;
        match (was_served, is_served, changes_with) {
            (true, false, Some(step)) => {
                Some(format!("{name} is served until step {step}. Its clients must switch to another version before."))
            }
            (false, true, Some(step)) => Some(format!("{name} is served from step {step} on.")),
            _ => None,
        }
    }
}

impl When {
    /// Describes the loss in a sentence about the versions.
    pub fn describe(self, from: &str, to: &str) -> String {
        match self {
            When::Stored if from == to => {
                format!("objects stored in {from} lose fields that it no longer has")
            }
            When::Stored => format!("objects stored in {from} lose fields that {to} lacks"),
            When::Written => {
                format!("objects written in {from} lose fields that the storage version {to} lacks")
            }
        }
    }
}

/// Breaks a string into lines between words. Lines after the first one are indented.
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
