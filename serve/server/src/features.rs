//! The behavior of releases of Kubernetes: the feature gates of the proposals, by release.

use bytes::Bytes;
use kubeshape_schema::Release;
use std::fmt;
use std::str::FromStr;

/// The features that affect responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Whether `/openapi/v2` has custom resources.
    pub custom_resources_in_v2: bool,
    /// Whether `/openapi/v3` exists.
    pub openapi_v3: bool,
    /// Whether `/openapi/v3` is that of the alpha in 1.23: the index is a list of paths, hashes in URLs are ignored,
    /// and documents have the media types that Go sniffs.
    pub openapi_v3_alpha: bool,
    /// Whether aggregated discovery exists as v2.
    pub aggregated_v2: bool,
    /// Whether aggregated discovery exists as v2beta1.
    pub aggregated_v2beta1: bool,
    /// Whether objects can be read and written as CBOR.
    pub cbor: bool,
    /// Whether watches that take the place of a list are compressed.
    pub compressed_watch_lists: bool,
}

impl Default for Features {
    /// Returns the features of the newest release.
    fn default() -> Self {
        Emulation::new(NEWEST, &[]).map_or(
            Features {
                custom_resources_in_v2: true,
                openapi_v3: true,
                openapi_v3_alpha: false,
                aggregated_v2: true,
                aggregated_v2beta1: false,
                cbor: false,
                compressed_watch_lists: true,
            },
            |emulation| emulation.features,
        )
    }
}

/// The first release with `/openapi/v2`.
const OLDEST: Release = Release::of_minor(10);
const NEWEST: Release = Release::NEWEST;
/// The first release with aggregated discovery as v2.
const AGGREGATED_V2: u8 = 30;

/// The names of the gates.
const PUBLISH: &str = "CustomResourcePublishOpenAPI";
const OPENAPI_V3: &str = "OpenAPIV3";
const AGGREGATED: &str = "AggregatedDiscoveryEndpoint";
const REMOVE_BETA: &str = "AggregatedDiscoveryRemoveBetaType";
const CBOR: &str = "CBORServingAndStorage";
const WATCH_LISTS: &str = "WatchListCompression";

/// The state of a gate from a release on.
struct Stage {
    gate: &'static str,
    from: u8,
    default: bool,
    locked: bool,
}

const fn stage(gate: &'static str, from: u8, default: bool, locked: bool) -> Stage {
    Stage { gate, from, default, locked }
}

/// The first release whose index of `/openapi/v3` has URLs.
const OPENAPI_V3_BETA: u8 = 24;

/// All gates, older stages first (Kubernetes' `kube_features.go`).
const STAGES: [Stage; 12] = [
    stage(PUBLISH, 14, false, false),
    stage(PUBLISH, 15, true, false),
    stage(PUBLISH, 16, true, true),
    stage(OPENAPI_V3, 23, false, false),
    stage(OPENAPI_V3, 24, true, false),
    stage(OPENAPI_V3, 27, true, true),
    stage(AGGREGATED, 26, false, false),
    stage(AGGREGATED, 27, true, false),
    stage(AGGREGATED, 30, true, true),
    stage(REMOVE_BETA, 33, true, false),
    stage(CBOR, 32, false, false),
    stage(WATCH_LISTS, 37, true, false),
];
/// From here on, v2beta1 cannot be enabled.
const BETA_REMOVED: Stage = stage(REMOVE_BETA, 35, true, true);

/// A release that is emulated, with its features.
///
/// ```
/// use kubeshape_schema::Release;
/// use kubeshape_server::Emulation;
///
/// let release = Release::of_minor(26);
/// let old = Emulation::new(release, &[])?;
/// assert!(old.features.openapi_v3 && !old.features.aggregated_v2beta1);
/// let alpha = Emulation::new(release, &[("AggregatedDiscoveryEndpoint", true)])?;
/// assert!(alpha.features.aggregated_v2beta1 && !alpha.features.aggregated_v2);
/// # Ok::<(), kubeshape_server::EmulationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// The release. The rules of old ones are unknown.
    pub release: Release,
    /// The features.
    pub features: Features,
    /// Whether `/version` names the release.
    pub names_version: bool,
}

/// Why a release cannot be emulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulationError {
    /// The release is unknown.
    #[error("{0:?} is not a release that can be emulated: expected {OLDEST} to {NEWEST}")]
    Release(String),
    /// The release does not have the gate.
    #[error("Kubernetes {release} has no feature gate {gate:?} that matters here; it has {known}")]
    Unknown {
        /// The gate.
        gate: String,
        /// The release.
        release: Release,
        /// The gates of the release.
        known: String,
    },
    /// The gate cannot be changed.
    #[error("the feature gate {gate} is locked to {value} in Kubernetes {release}")]
    Locked {
        /// The gate.
        gate: String,
        /// The release.
        release: Release,
        /// Its only value.
        value: bool,
    },
}

fn find(gate: &str, release: Release) -> Option<&'static Stage> {
    STAGES.iter().chain([&BETA_REMOVED]).rfind(|stage| stage.gate == gate && release.since(stage.from))
}

impl Emulation {
    /// Returns the release with its default gates, except for `gates`.
    ///
    /// # Errors
    /// The release is unknown, or does not have a gate with this value.
    pub fn new(release: Release, gates: &[(&str, bool)]) -> Result<Emulation, EmulationError> {
        if !(OLDEST..=NEWEST).contains(&release) {
            return Err(EmulationError::Release(release.to_string()));
        }
        for (gate, value) in gates {
            let Some(stage) = find(gate, release) else {
                let mut known: Vec<&str> = STAGES.iter().filter(|s| release.since(s.from)).map(|s| s.gate).collect();
                known.dedup();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(EmulationError::Unknown { gate: (*gate).to_owned(), release, known });
            };
            if stage.locked && stage.default != *value {
                return Err(EmulationError::Locked { gate: (*gate).to_owned(), release, value: stage.default });
            }
        }
        let is_on = |gate| {
            let given = gates.iter().rev().find(|(name, _)| *name == gate).map(|(_, value)| *value);
            given.unwrap_or_else(|| find(gate, release).is_some_and(|stage| stage.default))
        };
        let aggregated = is_on(AGGREGATED);
        let features = Features {
            custom_resources_in_v2: is_on(PUBLISH),
            openapi_v3: is_on(OPENAPI_V3),
            openapi_v3_alpha: is_on(OPENAPI_V3) && !release.since(OPENAPI_V3_BETA),
            aggregated_v2: aggregated && release.since(AGGREGATED_V2),
            aggregated_v2beta1: aggregated && !is_on(REMOVE_BETA),
            cbor: is_on(CBOR),
            compressed_watch_lists: is_on(WATCH_LISTS),
        };
        Ok(Emulation { release, features, names_version: true })
    }

    /// Returns the gates of a server that emulates no release: those of the release that it serves. With `extensions`, aggregated discovery as v2beta1 is kept, unless a gate is about it.
    ///
    /// # Errors
    /// The release does not have a gate with this value.
    pub fn of_gates(release: Release, gates: &[(&str, bool)], extensions: bool) -> Result<Emulation, EmulationError> {
        let mut out = Emulation::new(release, gates)?;
        let is_about_beta = gates.iter().any(|(gate, _)| [AGGREGATED, REMOVE_BETA].contains(gate));
        out.features.aggregated_v2beta1 |= extensions && !is_about_beta;
        Ok(Emulation { names_version: false, ..out })
    }

    /// Returns whether the gate affects responses in some release.
    pub fn has_gate(name: &str) -> bool {
        STAGES.iter().chain([&BETA_REMOVED]).any(|stage| stage.gate == name)
    }

    /// Returns the body of `/version`. That of the snapshot is kept if it is of this release.
    pub(crate) fn version(self, current: &Bytes) -> Bytes {
        if !self.names_version {
            return current.clone();
        }
        let minor = self.release.minor().to_string();
        let parsed: Option<serde_json::Value> = serde_json::from_slice(current).ok();
        let named = parsed.as_ref().and_then(|version| version["minor"].as_str());
        if named.is_some_and(|named| named.trim_end_matches('+') == minor) {
            return current.clone();
        }
        version(self.release)
    }
}

/// Returns the body of `/version` of a server of a release, without what a build knows.
pub(crate) fn version(release: Release) -> Bytes {
    let minor = release.minor();
    format!(
        "{{\n  \"major\": \"1\",\n  \"minor\": \"{minor}\",\n  \"gitVersion\": \"v1.{minor}.0\",\n  \
         \"gitCommit\": \"\",\n  \"gitTreeState\": \"\",\n  \"buildDate\": \"1970-01-01T00:00:00Z\",\n  \
         \"goVersion\": \"\",\n  \"compiler\": \"\",\n  \"platform\": \"\"\n}}"
    )
    .into()
}

/// `1.24`
impl FromStr for Emulation {
    type Err = EmulationError;

    fn from_str(text: &str) -> Result<Emulation, EmulationError> {
        let wrong = || EmulationError::Release(text.to_owned());
        let minor = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.").ok_or_else(wrong)?;
        let minor = minor.parse().map_err(|_| wrong())?;
        Emulation::new(Release::of_minor(minor), &[]).map_err(|_| wrong())
    }
}

impl fmt::Display for Emulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.release.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emulated(minor: u8, gates: &[(&str, bool)]) -> Result<Emulation, EmulationError> {
        Emulation::new(Release::of_minor(minor), gates)
    }

    fn served(minor: u8, gates: &[(&str, bool)], extensions: bool) -> Result<Emulation, EmulationError> {
        Emulation::of_gates(Release::of_minor(minor), gates, extensions)
    }

    #[test]
    fn the_defaults_of_every_release() -> Result<(), EmulationError> {
        for (releases, expected) in [
            (10..=14, [false, false, false, false]),
            (15..=23, [true, false, false, false]),
            (24..=26, [true, true, false, false]),
            (27..=29, [true, true, false, true]),
            (30..=32, [true, true, true, true]),
            (33..=37, [true, true, true, false]),
        ] {
            for minor in releases {
                let Features {
                    custom_resources_in_v2,
                    openapi_v3,
                    openapi_v3_alpha,
                    aggregated_v2,
                    aggregated_v2beta1,
                    cbor,
                    compressed_watch_lists,
                } = emulated(minor, &[])?.features;
                assert!(!openapi_v3_alpha && !cbor && compressed_watch_lists == (minor >= 37));
                assert_eq!(
                    [custom_resources_in_v2, openapi_v3, aggregated_v2, aggregated_v2beta1],
                    expected,
                    "1.{minor}"
                );
            }
        }
        assert_eq!(Features::default(), Emulation::new(NEWEST, &[])?.features);
        Ok(())
    }

    #[test]
    fn gates_of_a_server_without_emulation() -> Result<(), EmulationError> {
        let plain = served(36, &[(CBOR, true)], true)?;
        assert!(plain.features.cbor && plain.features.aggregated_v2beta1);
        assert_eq!(plain.version(&Bytes::from_static(b"{}")), "{}");
        assert!(!served(36, &[(CBOR, true)], false)?.features.aggregated_v2beta1);
        assert!(served(37, &[(CBOR, true)], true)?.features.cbor);
        assert!(!served(34, &[(REMOVE_BETA, true)], true)?.features.aggregated_v2beta1);
        assert!(served(34, &[(REMOVE_BETA, false)], false)?.features.aggregated_v2beta1);
        assert!(served(36, &[(PUBLISH, false)], true).is_err());
        assert!(served(31, &[(CBOR, true)], true).is_err());
        Ok(())
    }

    #[test]
    fn gates_are_those_of_the_release() -> Result<(), EmulationError> {
        assert!(emulated(14, &[(PUBLISH, true)])?.features.custom_resources_in_v2);
        assert!(!emulated(24, &[(OPENAPI_V3, false)])?.features.openapi_v3);
        let alpha = emulated(23, &[(OPENAPI_V3, true)])?.features;
        assert!(alpha.openapi_v3 && alpha.openapi_v3_alpha);
        assert!(emulated(34, &[(REMOVE_BETA, false)])?.features.aggregated_v2beta1);
        assert!(emulated(36, &[(CBOR, true)])?.features.cbor);
        assert!(!emulated(37, &[(WATCH_LISTS, false)])?.features.compressed_watch_lists);
        assert!(emulated(36, &[(WATCH_LISTS, true)]).is_err());
        assert!(emulated(31, &[(CBOR, true)]).is_err());
        assert!(emulated(26, &[(AGGREGATED, true), (AGGREGATED, false)])?.features.openapi_v3);
        let error = |minor, gate, value| emulated(minor, &[(gate, value)]).map_err(|error| error.to_string());
        assert_eq!(
            error(36, REMOVE_BETA, false),
            Err(format!("the feature gate {REMOVE_BETA} is locked to true in Kubernetes 1.36"))
        );
        assert_eq!(
            error(16, OPENAPI_V3, true),
            Err(format!("Kubernetes 1.16 has no feature gate \"OpenAPIV3\" that matters here; it has {PUBLISH}"))
        );
        assert!(error(10, "X", true).is_err_and(|message| message.ends_with("it has none")));
        for text in ["1.9", "1.38", "2.1", "1.", "1.x", "", "1.24.1"] {
            assert!(text.parse::<Emulation>().is_err(), "{text}");
        }
        assert_eq!("v1.24".parse::<Emulation>()?.to_string(), "1.24");
        Ok(())
    }
}
