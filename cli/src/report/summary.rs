//! What a conversion read, wrote and lost.

use super::losses::count;
use super::tally::Totals;
use super::wrap::wrap;
use kubeshape_input::NoteKind;
use kubeshape_schema::thousands;
use std::fmt::Write;
use std::time::Duration;

/// Returns the summary at the end of a run.
pub(super) fn summary(totals: &Totals, to: &str, time: Duration, width: usize) -> String {
    let mut out = String::new();
    let openapi = match totals.openapi {
        0 => String::new(),
        n => format!(", {}", count(n as u64, "OpenAPI document")),
    };
    let _ = writeln!(
        out,
        "read      {}, {}: {} with {}{openapi}",
        count(totals.files as u64, "file"),
        count(totals.documents as u64, "document"),
        count(totals.resources as u64, "CustomResourceDefinition"),
        count(totals.versions as u64, "version")
    );
    let pruned = match totals.pruned {
        0 => String::new(),
        n => format!(", deleted {}", count(n as u64, "older one")),
    };
    let _ = writeln!(out, "written   {} to {to}{pruned}", count(totals.results as u64, "result"));
    let losses: Vec<String> = NoteKind::ALL
        .into_iter()
        .filter(|kind| kind.is_loss())
        .map(|kind| (kind, totals.tally.get(kind)))
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| format!("{} {}", thousands(n), kind.name()))
        .collect();
    let losses = if losses.is_empty() { "none".to_owned() } else { losses.join(", ") };
    let _ = writeln!(out, "losses    {losses}");
    let [errors, warnings, notes] =
        [NoteKind::Error, NoteKind::Warning, NoteKind::Note].map(|kind| count(totals.tally.get(kind), kind.name()));
    let _ = writeln!(out, "findings  {errors}, {warnings}, {notes}");
    let skipped = count(totals.skipped as u64, "object");
    let _ = writeln!(out, "skipped   {skipped}, failed {}", count(totals.failed as u64, "input"));
    let _ = writeln!(out, "time      {:.2} s", time.as_secs_f64());
    out.lines().map(|line| wrap(line, width, 0, "          ") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::Code;

    #[test]
    fn the_summary_has_all_counts() {
        let mut totals =
            Totals { files: 2, documents: 3, resources: 1, versions: 2, results: 4, skipped: 1, ..Totals::default() };
        totals.tally.count(Code::V2Nullable);
        totals.tally.count(Code::NotYaml);
        let expected = "\
read      2 files, 3 documents: 1 CustomResourceDefinition with 2 versions
written   4 results to out
losses    1 widened
findings  1 error, 0 warnings, 0 notes
skipped   1 object, failed 0 inputs
time      0.25 s
";
        assert_eq!(summary(&totals, "out", Duration::from_millis(250), 80), expected);
    }
}
