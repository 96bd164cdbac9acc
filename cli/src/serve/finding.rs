//! Findings in logs and in `/readyz`.

use kubeshape_input::{Finding, Place};
use kubeshape_schema::{Level, Levels};

/// Returns `FILE:LINE:COLUMN: CODE detail`.
pub(super) fn line(finding: &Finding) -> String {
    format!("{}: {} {}", finding.location(), finding.code, finding.detail)
}

/// The target of logged findings.
pub(super) const TARGET: &str = module_path!();

/// What an error in an input affects, in the words by which KEP-2896 finds such lines in the log of a server.
const AFFECTS: &str = "OpenAPI spec (swagger)";

/// Logs a finding with its position.
pub(super) fn log(finding: &Finding, levels: &Levels) {
    let Finding { code, detail, .. } = finding;
    let file = finding.input.as_deref().unwrap_or_default();
    let Place { line, column } = finding.place.unwrap_or(Place { line: 0, column: 0 });
    let (resource, title) = (finding.resource.as_deref().unwrap_or_default(), finding.title());
    match levels.of(*code) {
        Level::Error => tracing::error!(%code, file, line, column, resource, detail, affects = AFFECTS, "{title}"),
        Level::Warning => tracing::warn!(%code, file, line, column, resource, detail, affects = AFFECTS, "{title}"),
        Level::Note => tracing::info!(%code, file, line, column, resource, detail, "{title}"),
        Level::Off => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::Code;

    #[test]
    fn a_finding_is_a_line() {
        let mut finding = Finding::new(Code::WrongType, "found a list").in_input("a.yaml");
        finding.place = Some(Place { line: 2, column: 5 });
        assert_eq!(line(&finding), "a.yaml:2:5: KS1005 found a list");
    }
}
