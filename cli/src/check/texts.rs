//! Checks of definitions in memory.

use super::worker::Worker;
use super::{Context, Event};
use crate::args::{CheckLevel, LiveArgs};
use crate::definitions::Definitions;
use crate::rows::{Answer, Row, shared};
use kubeshape_check::{Check, Releases};
use kubeshape_input::{Finding, Limits};
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_schema::{Level, Levels};

impl Context {
    /// Returns the settings for checking the definitions of a workspace.
    pub(crate) fn of_workspace(args: &LiveArgs) -> Context {
        let releases = args.kubernetes.unwrap_or_default();
        Context {
            check: Check::new(releases).with_advice(args.level == CheckLevel::Advice).with_established(true),
            cluster: Cluster { gates: args.gates.all(), ..Cluster::default() },
            least: args.level.least(),
            ..Context::of_rows(releases, false)
        }
    }

    /// Returns the settings for checking rows.
    pub(crate) fn of_rows(releases: Releases, advice: bool) -> Context {
        Context {
            check: Check::new(releases).with_advice(advice).with_established(true),
            releases,
            cluster: Cluster::default(),
            against: Definitions::default(),
            limits: Limits::default(),
            least: if advice { Level::Note } else { Level::Warning },
            levels: Levels::default(),
            fix: None,
            is_exact: true,
        }
    }
}

/// Checks the definitions of a row.
pub(crate) fn answer(worker: &mut Worker<'_>, row: Row<'_>) -> Answer {
    let mut findings = Vec::new();
    let result = worker.text(&shared(row.name), row.text);
    let mut is_refused = result.failed;
    for event in result.events {
        match event {
            Event::Finding(finding) => findings.push(finding),
            Event::Verdict(verdict) => is_refused |= !verdict.report.is_accepted(),
        }
    }
    is_refused |= findings.iter().any(Finding::is_error);
    let verdict = match (is_refused, result.found) {
        (true, _) => "refused",
        (false, true) => "accepted",
        (false, false) => "nothing",
    };
    Answer::new(verdict, findings)
}
