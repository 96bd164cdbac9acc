//! Semantic versions.

use crate::value::print::quoted;
use std::cmp::Ordering;
use std::fmt;

/// A version (`semver.Version` of blang/semver).
#[derive(Clone, Debug)]
pub struct Version {
    /// `1` of `1.2.3`.
    pub major: u64,
    /// `2` of `1.2.3`.
    pub minor: u64,
    /// `3` of `1.2.3`.
    pub patch: u64,
    pre: Vec<Pre>,
    build: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pre {
    Number(u64),
    Text(String),
}

fn number(text: &str, invalid: &str, zeroes: &str) -> Result<u64, String> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {invalid} {}", quoted(text)));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{zeroes} must not contain leading zeroes {}", quoted(text)));
    }
    text.parse().map_err(|_| {
        let problem = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing {}: {problem}", quoted(text))
    })
}

fn is_identifier(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

impl Version {
    /// Parses a version.
    ///
    /// # Errors
    /// Returns upstream's message about the error.
    pub fn parse(text: &str) -> Result<Version, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts[..] else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let major = number(major, "major number", "Major number")?;
        let minor = number(minor, "minor number", "Minor number")?;
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let patch = number(patch, "patch number", "Patch number")?;
        let mut pres = Vec::new();
        for part in pre.into_iter().flat_map(|pre| pre.split('.')) {
            if part.is_empty() {
                return Err("Prerelease is empty".to_owned());
            }
            if part.bytes().all(|b| b.is_ascii_digit()) {
                pres.push(Pre::Number(number(part, "prerelease", "Numeric PreRelease version")?));
            } else if is_identifier(part) {
                pres.push(Pre::Text(part.to_owned()));
            } else {
                return Err(format!("Invalid character(s) found in prerelease {}", quoted(part)));
            }
        }
        let mut builds = Vec::new();
        for part in build.into_iter().flat_map(|build| build.split('.')) {
            if part.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !is_identifier(part) {
                return Err(format!("Invalid character(s) found in build meta data {}", quoted(part)));
            }
            builds.push(part.to_owned());
        }
        Ok(Version { major, minor, patch, pre: pres, build: builds })
    }

    /// Parses a version after adding missing parts and removing extra characters, such as those of `v1.02`.
    ///
    /// # Errors
    /// Returns upstream's message about the error.
    pub fn parse_normalized(text: &str) -> Result<Version, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text
            .splitn(3, '.')
            .map(|part| {
                if part.len() <= 1 {
                    return part.to_owned();
                }
                let trimmed = part.trim_start_matches('0');
                if trimmed.starts_with(|c: char| c.is_ascii_digit()) {
                    trimmed.to_owned()
                } else {
                    format!("0{trimmed}")
                }
            })
            .collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Version::parse(&parts.join("."))
    }

    pub(crate) fn cmp(&self, other: &Version) -> Ordering {
        (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch)).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.pre.cmp(&other.pre),
            }
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (i, pre) in self.pre.iter().enumerate() {
            f.write_str(if i == 0 { "-" } else { "." })?;
            match pre {
                Pre::Number(number) => write!(f, "{number}")?,
                Pre::Text(text) => f.write_str(text)?,
            }
        }
        for (i, build) in self.build.iter().enumerate() {
            write!(f, "{}{build}", if i == 0 { '+' } else { '.' })?;
        }
        Ok(())
    }
}
