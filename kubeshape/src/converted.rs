//! Results, and why there is no result.

use kubeshape_convert::jsonschema::Draft;
use kubeshape_input::Finding;
use kubeshape_registry::{Profile, SmdCompat};
use std::fmt;

/// Options of conversions. The [`Default`] converts like an API server, without its faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to reproduce the faults of the server's converters.
    pub profile: Profile,
    /// The release of structured-merge-diff for the schemas of server-side apply.
    pub smd_compat: SmdCompat,
    /// The release of JSON Schema.
    pub draft: Draft,
    /// Whether JSON Schemas refuse fields that a server would remove.
    pub strict: bool,
    /// Whether an OpenAPI v2 document keeps what it cannot express in extensions, from which the original is restored.
    pub keep_losses: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            profile: Profile::Faithful,
            smd_compat: SmdCompat::default(),
            draft: Draft::default(),
            strict: false,
            keep_losses: false,
        }
    }
}

/// The result of a conversion, with its findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    text: String,
    findings: Vec<Finding>,
}

impl Converted {
    pub(crate) fn new(bytes: Vec<u8>, findings: Vec<Finding>) -> Converted {
        // Printers write UTF-8.
        Converted { text: String::from_utf8(bytes).unwrap_or_default(), findings }
    }

    /// Returns the result.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the result as bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// Returns what the result lacks or expresses differently, with locations in the source.
    pub fn losses(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_loss())
    }

    /// Returns all findings: losses, and warnings about the source.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Why there is no result: findings, at least one of them an error.
///
/// Its [`Display`](fmt::Display) is a line for each finding. So is its [`Debug`](fmt::Debug), because that is what Rust
/// prints if `main` returns it.
#[derive(Clone, PartialEq, Eq)]
pub struct Findings(pub Vec<Finding>);

impl std::error::Error for Findings {}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, finding) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            finding.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Findings {
        Findings(vec![finding])
    }
}
