//! Levels, versions, and the labels of namespaces that name them (upstream: `api/helpers.go`).

use kubeshape_schema::field::{Error, Path};
use kubeshape_smd::value::Map;
use std::fmt;

/// How strict a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

impl Level {
    pub(super) fn parse(name: &str) -> Result<Level, &'static str> {
        match name {
            "privileged" => Ok(Level::Privileged),
            "baseline" => Ok(Level::Baseline),
            "restricted" => Ok(Level::Restricted),
            _ => Err("must be one of privileged, baseline, restricted"),
        }
    }
}

/// The release whose checks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Latest,
    Minor(u64),
}

impl Version {
    pub(super) fn parse(text: &str) -> Result<Version, &'static str> {
        if text == "latest" {
            return Ok(Version::Latest);
        }
        let minor = text.strip_prefix("v1.").filter(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()));
        let minor = minor.filter(|minor| *minor == "0" || !minor.starts_with('0'));
        // Go reads it as an `int`.
        let minor = minor.and_then(|minor| minor.parse::<i64>().ok()).and_then(|minor| u64::try_from(minor).ok());
        minor.map(Version::Minor).ok_or("must be \"latest\" or \"v1.x\"")
    }
}

/// A level with the version of its checks: `baseline:v1.30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) version: Version,
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.version {
            Version::Latest => write!(f, "{level}:latest"),
            Version::Minor(minor) => write!(f, "{level}:v1.{minor}"),
        }
    }
}

/// What a namespace enforces, and of what it warns. Audits leave no trace here, but their labels are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) warn: LevelVersion,
}

const PREFIX: &str = "pod-security.kubernetes.io/";

impl Policy {
    /// Reads the policy of a namespace from its labels. Invalid labels to enforce mean the strictest level, all others
    /// none (upstream: `PolicyToEvaluate`).
    pub(super) fn of(labels: Map<'_>) -> (Policy, Vec<Error>) {
        let mut errors = Vec::new();
        let mut read = |mode: &str, on_error: Level| {
            let (level, is_valid) = label(labels, mode, Level::parse, &mut errors);
            let version = label(labels, &format!("{mode}-version"), Version::parse, &mut errors).0;
            let level = if is_valid { level } else { Some(on_error) };
            (level, is_valid, version)
        };
        let at = |level: Option<Level>, version: Option<Version>| LevelVersion {
            level: level.unwrap_or(Level::Privileged),
            version: version.unwrap_or(Version::Latest),
        };
        let (level, is_valid, version) = read("enforce", Level::Restricted);
        let enforce = at(level, version);
        let has_enforce = level.is_some() && is_valid;
        read("audit", Level::Privileged);
        let (level, _, version) = read("warn", Level::Privileged);
        let mut warn = at(level, version);
        // What is enforced is also warned of.
        if level.is_none() && has_enforce && enforce.level > warn.level {
            warn.level = enforce.level;
            if labels.get("pod-security.kubernetes.io/warn-version").is_none() {
                warn.version = enforce.version;
            }
        }
        (Policy { enforce, warn }, errors)
    }
}

/// Reads a label. Returns its value, if it is there and valid, and whether it is not invalid.
fn label<T>(
    labels: Map<'_>,
    name: &str,
    parse: fn(&str) -> Result<T, &'static str>,
    errors: &mut Vec<Error>,
) -> (Option<T>, bool) {
    let key = format!("{PREFIX}{name}");
    let Some(value) = labels.get(&key) else { return (None, true) };
    let text = value.as_str().unwrap_or_default();
    match parse(text) {
        Ok(read) => (Some(read), true),
        Err(why) => {
            let root = Path::Root;
            let metadata = root.child("metadata");
            let labels = metadata.child("labels");
            errors.push(Error::invalid(&labels.key(&key), text, why, 0));
            (None, false)
        }
    }
}
