//! Findings as diagnostics.

use crate::{Encoding, File, Text};
use kubeshape_input::{Finding, NoteKind};
use lsp_types::{CodeDescription, Diagnostic, DiagnosticSeverity, NumberOrString, Position, Range};
use std::str::FromStr;

/// Where the pages of codes are.
const PAGES: &str = "https://github.com/kubeshape/kubeshape/blob/main/base/schema/codes";

/// Returns the place of a finding in a text: what it is about, at most to the end of the line.
pub(crate) fn range(finding: &Finding, text: &Text, encoding: Encoding) -> Range {
    if let Some(span) = &finding.span {
        let (start, line) = text.line(text.line_of(span.start));
        let end = span.end.min(start + line.len()).max(span.start);
        return text.range(span.start..end, encoding);
    }
    let Some(place) = finding.place else { return Range::default() };
    let line = place.line.saturating_sub(1);
    let (start, content) = text.line(line);
    let column = content.char_indices().nth(place.column.saturating_sub(1)).map_or(content.len(), |(at, _)| at);
    let at = text.position(start + column, encoding);
    Range::new(at, Position::new(at.line, at.character + 1))
}

/// Returns a finding as a diagnostic. Its data is the finding as `--output-format json` prints it.
pub fn diagnostic(finding: &Finding, text: &Text, encoding: Encoding) -> Diagnostic {
    let code = finding.code.to_string();
    let severity = match finding.kind() {
        NoteKind::Error => DiagnosticSeverity::ERROR,
        NoteKind::Warning => DiagnosticSeverity::WARNING,
        _ => DiagnosticSeverity::INFORMATION,
    };
    let mut message = finding.message();
    for note in &finding.notes {
        message.push('\n');
        message.push_str(note);
    }
    let help = finding.help();
    if !help.is_empty() {
        message.push_str("\nhelp: ");
        message.push_str(&help);
    }
    Diagnostic {
        range: range(finding, text, encoding),
        severity: Some(severity),
        code_description: lsp_types::Uri::from_str(&format!("{PAGES}/{code}.md"))
            .ok()
            .map(|href| CodeDescription { href }),
        code: Some(NumberOrString::String(code)),
        source: Some("kubeshape".to_owned()),
        message,
        data: serde_json::to_value(finding).ok(),
        ..Diagnostic::default()
    }
}

impl File {
    /// Returns findings as diagnostics.
    pub fn diagnostics(&self, findings: &[Finding], encoding: Encoding) -> Vec<Diagnostic> {
        findings.iter().map(|finding| diagnostic(finding, self.text(), encoding)).collect()
    }
}
