//! Recorded exchanges.

use crate::golden::lines;
use serde::Deserialize;
use std::path::Path;

/// A request and the response.
#[derive(Debug, Deserialize)]
pub(super) struct Exchange {
    /// The purpose of the request.
    pub(super) note: Option<String>,
    pub(super) request: Request,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) sha256: Option<String>,
    pub(super) file: Option<String>,
    pub(super) body: Option<String>,
    pub(super) body_base64: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
}

impl Exchange {
    /// Returns whether the request names its user.
    pub(super) fn has_token(&self) -> bool {
        self.note.as_deref() != Some("no credentials")
    }
}

/// Returns the exchanges of a file, or none if there is no such file.
pub(super) fn read(file: &Path) -> Result<Vec<Exchange>, String> {
    lines(file)
}
