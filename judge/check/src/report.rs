//! Reports of the releases' answers.

use crate::Releases;
use crate::fix::Edit;
use kubeshape_discovery::CustomResource;
use kubeshape_schema::field::Error;
use kubeshape_schema::{Note, NoteKind, runs};
use kubeshape_validate::Release;
use kubeshape_validate::crd::ExpressionCost;
use std::fmt::Write;
use std::ops::Range;

/// One error, warning or piece of advice, with the releases that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The code, the location and the message. The message is the server's, except for values that are too long.
    pub note: Note<'static>,
    /// The releases that report it, the oldest first. Empty if it applies to every release.
    pub releases: Vec<Release>,
    /// The server's error, if it is one. If releases word it differently, it is that of the newest of them.
    pub error: Option<Error>,
    /// Advice for this case. `None` if the page of the code says everything.
    pub advice: Option<String>,
    /// The invalid part of an expression, if known.
    pub part: Option<Part>,
    /// The edits of the input that write what the advice proposes, sorted by position. A server may refuse objects
    /// afterwards that it accepted before, so they are for people to choose.
    pub edits: Vec<Edit>,
}

/// The invalid part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its range in the input, in bytes.
    pub source: Range<usize>,
    /// The error without the path and the expression. `None` if the message of the problem is about this part.
    pub message: Option<String>,
    /// Further errors of the expression, at most three, and the number of remaining ones.
    pub others: Vec<String>,
}

impl Problem {
    /// Returns whether a server refuses the definition because of it.
    pub fn is_error(&self) -> bool {
        self.note.code.kind() == NoteKind::Error
    }

    /// Returns whether a release reports it.
    pub fn is_of(&self, release: Release) -> bool {
        self.releases.is_empty() || self.releases.contains(&release)
    }

    /// Returns the releases in words, if they are not all of `asked`: `1.28 to 1.30 and 1.37`.
    pub fn where_from(&self, asked: Releases) -> Option<String> {
        let every = self.releases.is_empty() || asked.iter().all(|release| self.releases.contains(&release));
        (!every).then(|| runs(&self.releases))
    }
}

/// The answer of one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The release.
    pub release: Release,
    /// The number of errors. If it is 0, the release accepts the definition.
    pub errors: usize,
    /// The number of warnings in the response.
    pub warnings: usize,
}

impl Answer {
    /// Returns whether the release accepts the definition.
    pub fn accepts(self) -> bool {
        self.errors == 0
    }
}

/// The costs of the rules of a definition and their messages, in releases in which they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// The releases, the oldest first.
    pub releases: Vec<Release>,
    /// Each expression. An expression that does not compile costs nothing.
    pub expressions: Vec<ExpressionCost>,
}

/// The answers of the releases about one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `metadata.name`, or `PLURAL.GROUP` if it is missing.
    pub name: String,
    /// The location of the name.
    pub at: u32,
    /// Whether the definition was checked as one that replaces another.
    pub replaces: bool,
    /// The releases that were evaluated.
    pub asked: Releases,
    /// One answer per release, the oldest first.
    pub answers: Vec<Answer>,
    /// All problems, in the order of the manifest.
    pub problems: Vec<Problem>,
    /// The names that the definition requests, without its resources, for
    /// [`name_conflicts`](kubeshape_discovery::name_conflicts). `None` if it cannot be decoded.
    pub claim: Option<CustomResource>,
    /// The costs of rules, grouped by releases with the same costs. Empty without rules, or if costs were not
    /// requested.
    pub costs: Vec<Costs>,
}

impl Report {
    /// Returns whether every evaluated release accepts the definition.
    pub fn is_accepted(&self) -> bool {
        self.answers.iter().all(|answer| answer.accepts())
    }

    /// Returns the oldest release from which on all evaluated releases accept the definition.
    pub fn oldest(&self) -> Option<Release> {
        self.answers.iter().rev().take_while(|answer| answer.accepts()).last().map(|answer| answer.release)
    }

    /// Returns the answer in one line, without the name: `installs on 1.31 and newer; 1.30 refuses it: WHY at WHERE`.
    ///
    /// `place` formats the location of a node.
    pub fn verdict(&self, mut place: impl FnMut(u32) -> String) -> String {
        let (verb, none) =
            if self.replaces { ("can be updated", "takes the update of") } else { ("installs", "installs") };
        if self.is_accepted() {
            return format!("{verb} on {}", self.asked);
        }
        let mut why = |release: Release| {
            let mut errors = self.problems.iter().filter(|problem| problem.is_error() && problem.is_of(release));
            let first = errors.next();
            let more = errors.count();
            let mut text = first.map_or_else(String::new, |problem| place(problem.note.at));
            if more > 0 {
                let _ = write!(text, " and {more} more");
            }
            (first.map_or("", |problem| problem.note.code.title().trim_end_matches('.')), text)
        };
        let refused: Vec<Release> =
            self.answers.iter().filter(|answer| !answer.accepts()).map(|answer| answer.release).collect();
        let Some(newest_refusing) = refused.last().copied() else { return String::new() };
        if !self.asked.is_range() {
            return format!("{newest_refusing} refuses it: see {}", why(newest_refusing).1);
        }
        if refused.len() == self.answers.len() {
            return format!("no release of {} {none} it: see {}", self.asked, why(newest_refusing).1);
        }
        let taken: Vec<Release> =
            self.answers.iter().filter(|answer| answer.accepts()).map(|answer| answer.release).collect();
        let on = match self.oldest() {
            Some(oldest) if taken.first() == Some(&oldest) && oldest != self.asked.last() => {
                format!("{oldest} and newer")
            }
            _ => runs(&taken),
        };
        let (title, text) = why(newest_refusing);
        let verb_of_refused = if refused.len() == 1 { "refuses" } else { "refuse" };
        format!("{verb} on {on}; {} {verb_of_refused} it: {title}, see {text}", runs(&refused))
    }
}
