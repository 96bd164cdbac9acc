//! Finds fields of an object that are alpha, beta, deprecated or off in a cluster.
//!
//! [`Schemas`] is prepared once from documents with `x-kubernetes-api-lifecycle`, [`Cluster`] describes the cluster,
//! and [`Schemas::warnings`] checks an object. [`Cluster::judge`] checks one field.

mod inputs;
mod schemas;

use crate::fields::{self, Lifecycle};
use crate::tag::KUBERNETES;
use crate::{Features, Options, Stage, Version};
use kubeshape_input::Code;
use std::collections::BTreeMap;

pub use inputs::{Deprecations, Inputs};
pub use kubeshape_yaml::go::warning::{header, headers};
pub use schemas::{Schemas, Warning};

/// The maximum number of warnings about an object.
pub const MAX_WARNINGS: usize = 100;

/// The known facts about a cluster.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Its release; if `None`, fields have the status of their schemas.
    pub release: Option<Version>,
    /// The gates that were turned on or off. `AllAlpha` and `AllBeta` mean all gates of a stage, as on a server.
    pub gates: BTreeMap<String, bool>,
    /// The gates with their defaults. Of unknown gates, alpha ones are off and all others on.
    pub features: Features,
}

/// The state of a field in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// It is alpha, and on.
    Alpha,
    /// It is beta, and on.
    Beta,
    /// It is deprecated.
    Deprecated,
    /// It is missing in the cluster: its feature gate is off, or the release is too old.
    Off,
}

impl Kind {
    /// Returns the code of a finding about such a field.
    pub fn code(self) -> Code {
        match self {
            Kind::Alpha => Code::FieldAlpha,
            Kind::Beta => Code::FieldBeta,
            Kind::Deprecated => Code::FieldDeprecated,
            Kind::Off => Code::FieldOff,
        }
    }
}

/// Parses the value of `--feature-gates`: `Foo=true,Bar=false`. If a gate is repeated, its last value is used.
///
/// # Errors
/// Returns what is wrong, as a sentence.
///
/// # Example
/// ```
/// use kubeshape_lifecycle::warn::gates;
/// assert_eq!(gates("Foo=true, Bar=F").unwrap().len(), 2);
/// assert_eq!(gates("Foo").unwrap_err(), "found \"Foo\", expected GATE=true or GATE=false");
/// ```
pub fn gates(text: &str) -> Result<BTreeMap<String, bool>, String> {
    let mut out = BTreeMap::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let expected = || format!("found {part:?}, expected GATE=true or GATE=false");
        let (gate, value) = part.split_once('=').ok_or_else(expected)?;
        // Like strconv.ParseBool.
        let value = match value.trim() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            _ => return Err(expected()),
        };
        let gate = gate.trim();
        if gate.is_empty() {
            return Err(expected());
        }
        out.insert(gate.to_owned(), value);
    }
    Ok(out)
}

impl Cluster {
    /// Returns the state of a field according to its entry for Kubernetes, and the text for a warning after the path of
    /// the field. `None` if it is generally available, or if nothing in the entry is valid.
    ///
    /// # Example
    /// ```
    /// use kubeshape_lifecycle::{Lifecycle, warn::{Cluster, Kind, gates}};
    /// let field = Lifecycle {
    ///     min_version: Some("v1.20".to_owned()),
    ///     status: Some("alpha".to_owned()),
    ///     feature_gate: Some("Frobber2D".to_owned()),
    /// };
    /// let (kind, text) = Cluster::default().judge(&field).unwrap();
    /// assert_eq!(kind, Kind::Off);
    /// assert_eq!(text, "alpha since v1.20; the feature gate Frobber2D is off");
    /// let cluster = Cluster { gates: gates("Frobber2D=true").unwrap(), ..Cluster::default() };
    /// let (kind, text) = cluster.judge(&field).unwrap();
    /// assert_eq!(kind, Kind::Alpha);
    /// assert_eq!(text, "alpha since v1.20, behind the feature gate Frobber2D; it may change or go in any release");
    /// ```
    pub fn judge(&self, entry: &Lifecycle) -> Option<(Kind, String)> {
        let mut projects = BTreeMap::new();
        let options = Options { release: self.release };
        let stage = fields::tagged(entry.clone(), &self.features, &options, &mut projects);
        let Some(now) = projects.remove(KUBERNETES) else {
            // The field is generally available, or the release does not have it yet.
            let release = self.release.filter(|_| stage.is_none())?;
            return Some((Kind::Off, format!("{}; it is not in {release}", described(entry))));
        };
        let stage = stage?;
        let text = described(&now);
        let gates = now.gates();
        let mut names = gates.split(',').map(str::trim).filter(|gate| !gate.is_empty());
        if let Some(gate) = names.find(|gate| !self.is_on(gate, stage)) {
            return Some((Kind::Off, format!("{text}; the feature gate {gate} is off")));
        }
        Some(match stage {
            Stage::Alpha => (Kind::Alpha, format!("{now}; it may change or go in any release")),
            Stage::Beta => (Kind::Beta, now.to_string()),
            Stage::Deprecated => (Kind::Deprecated, text),
            Stage::Ga => return None,
        })
    }

    /// Returns whether a gate is on (upstream: `featuregate.Enabled` with `AllAlpha` and `AllBeta`). The stage of the
    /// field is used for unknown gates.
    fn is_on(&self, gate: &str, stage: Stage) -> bool {
        let spec = self.features.get(gate).and_then(|gate| gate.spec(self.release));
        if let Some(spec) = spec.filter(|spec| spec.locked) {
            return spec.default;
        }
        if let Some(value) = self.gates.get(gate) {
            return *value;
        }
        let (stage, default) = spec.map_or((stage, stage != Stage::Alpha), |spec| (spec.stage, spec.default));
        let all = match stage {
            Stage::Alpha => self.gates.get("AllAlpha"),
            Stage::Beta => self.gates.get("AllBeta"),
            Stage::Ga | Stage::Deprecated => None,
        };
        all.copied().unwrap_or(default)
    }
}

/// Returns `alpha since v1.20`.
fn described(entry: &Lifecycle) -> String {
    let gateless = Lifecycle { feature_gate: None, ..entry.clone() };
    gateless.to_string()
}

/// Removes control characters, which headers must not have.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
