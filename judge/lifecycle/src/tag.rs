//! Tags in Go comments that say how stable a field or a type is.

use crate::{Stage, Version};
use std::fmt;
use std::ops::Range;

/// The project whose releases are used here; tags may also name other projects.
pub const KUBERNETES: &str = "kubernetes";

/// A line of a Go comment: its text without slashes and surrounding spaces, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'s> {
    /// The text.
    pub text: &'s str,
    /// Byte offset of the text in its file.
    pub at: usize,
}

impl Line<'_> {
    /// Returns the byte range of the text.
    pub fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// Returns the lines of one or more comments, `//` or `/* */`, that begin at byte `base` of their file.
pub(crate) fn lines(text: &str, base: usize) -> impl Iterator<Item = Line<'_>> {
    let mut at = base;
    text.split('\n').map(move |line| {
        let mut rest = line.trim_start();
        if let Some(after) = ["//", "/*", "*/", "*"].iter().find_map(|mark| rest.strip_prefix(mark)) {
            rest = after.trim_start();
        }
        let begin = at + line.len() - rest.len();
        at += line.len() + 1;
        let text = rest.trim_end();
        Line { text: text.strip_suffix("*/").unwrap_or(text).trim_end(), at: begin }
    })
}

/// The members of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// `minVersion`
    MinVersion,
    /// `status`
    Status,
    /// `featureGate`
    FeatureGate,
}

impl Key {
    /// Returns the name in a tag and in the extension.
    pub fn name(self) -> &'static str {
        match self {
            Key::MinVersion => "minVersion",
            Key::Status => "status",
            Key::FeatureGate => "featureGate",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Key> {
        [Key::MinVersion, Key::Status, Key::FeatureGate].into_iter().find(|key| key.name() == name)
    }
}

/// An error in a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No project precedes the members.
    NoProject,
    /// There are no members.
    NoMembers,
    /// A member has no `=`.
    NoPair(String),
    /// An unknown key.
    UnknownKey(String),
    /// A key without a value.
    NoValue(Key),
    /// A duplicate key.
    Twice(Key),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoProject => f.write_str("the project is missing; write +lifecycle:kubernetes:…"),
            Fault::NoMembers => f.write_str("minVersion, status and featureGate are missing"),
            Fault::NoPair(found) => write!(f, "found {found:?}, expected KEY=VALUE"),
            Fault::UnknownKey(found) => {
                write!(f, "found the key {found:?}, expected minVersion, status or featureGate")
            }
            Fault::NoValue(key) => write!(f, "{} has no value", key.name()),
            Fault::Twice(key) => write!(f, "{} stands twice", key.name()),
        }
    }
}

/// `+lifecycle:PROJECT:minVersion=…,status=…,featureGate=…` (KEP-2558).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleTag {
    /// The project: `kubernetes`, `istio`.
    pub project: String,
    /// The first release of the project in which the field has this status.
    pub min_version: Option<String>,
    /// The status as written.
    pub status: Option<String>,
    /// The feature gate.
    pub feature_gate: Option<String>,
    /// The errors.
    pub faults: Vec<Fault>,
}

impl LifecycleTag {
    /// Reads the text of a comment line; `None` if it is not such a tag.
    ///
    /// # Example
    /// ```
    /// use kubeshape_lifecycle::LifecycleTag;
    /// let tag = LifecycleTag::parse("+lifecycle:kubernetes:minVersion=v1.20,status=alpha,featureGate=Frobber2D").unwrap();
    /// assert_eq!(tag.status.as_deref(), Some("alpha"));
    /// assert!(tag.faults.is_empty());
    /// assert!(LifecycleTag::parse("+optional").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<LifecycleTag> {
        let rest = text.strip_prefix("+lifecycle:")?;
        let (project, members) = rest.split_once(':').unwrap_or((rest, ""));
        let mut tag = LifecycleTag {
            project: project.trim().to_owned(),
            min_version: None,
            status: None,
            feature_gate: None,
            faults: Vec::new(),
        };
        if tag.project.is_empty() {
            tag.faults.push(Fault::NoProject);
        }
        if members.trim().is_empty() {
            tag.faults.push(Fault::NoMembers);
            return Some(tag);
        }
        for member in members.split(',') {
            let Some((name, value)) = member.split_once('=') else {
                tag.faults.push(Fault::NoPair(member.trim().to_owned()));
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            let Some(key) = Key::of(name) else {
                tag.faults.push(Fault::UnknownKey(name.to_owned()));
                continue;
            };
            let place = match key {
                Key::MinVersion => &mut tag.min_version,
                Key::Status => &mut tag.status,
                Key::FeatureGate => &mut tag.feature_gate,
            };
            if value.is_empty() {
                tag.faults.push(Fault::NoValue(key));
            } else if place.is_some() {
                tag.faults.push(Fault::Twice(key));
            } else {
                *place = Some(value.to_owned());
            }
        }
        Some(tag)
    }

    /// Returns the version, if it is a release of Kubernetes.
    pub fn version(&self) -> Option<Version> {
        self.min_version.as_deref().and_then(Version::strict)
    }

    /// Returns the status, if it is one of the three.
    pub fn stage(&self) -> Option<Stage> {
        self.status.as_deref().and_then(Stage::of_status)
    }
}

/// Returns the gates of `+featureGate=A,B`.
pub(crate) fn feature_gates(text: &str) -> Option<impl Iterator<Item = &str>> {
    let rest = text.strip_prefix("+featureGate=")?;
    // Text after a space is a remark.
    let value = rest.split([' ', '\t']).next().unwrap_or_default();
    Some(value.split(',').map(str::trim).filter(|gate| !gate.is_empty()))
}

/// Returns the gate of `+k8s:ifEnabled(Gate)=…`.
pub(crate) fn if_enabled(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("+k8s:ifEnabled(")?;
    let gate = rest.split(')').next()?.trim().trim_matches(['"', '`', '\'']).trim();
    (!gate.is_empty()).then_some(gate)
}

/// Returns the value of a tag without colons in its name: `+groupName=apps`.
pub(crate) fn value<'s>(text: &'s str, name: &str) -> Option<&'s str> {
    text.strip_prefix('+')?.strip_prefix(name)?.strip_prefix('=').map(str::trim)
}
