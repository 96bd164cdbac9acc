//! Losses shown on a terminal: a count and an example per code.

use super::clean::clean;
use super::render::{self, Appearance};
use super::tally::Tally;
use super::wrap::wrap;
use kubeshape_input::{Code, Finding, NoteKind};
use kubeshape_schema::thousands;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The maximum number of losses of one code that are listed individually. This applies to codes that narrow a result.
const EACH: usize = 20;
/// The kinds of losses, the most important first.
const ORDER: [NoteKind; 5] =
    [NoteKind::Narrowed, NoteKind::Widened, NoteKind::Dropped, NoteKind::Approximated, NoteKind::Renamed];

/// Returns the number of losses of a code that are kept as examples.
pub(crate) fn examples(code: Code) -> usize {
    if code.kind() == NoteKind::Narrowed { EACH } else { 1 }
}

/// Examples of losses by code.
#[derive(Debug, Default)]
pub(crate) struct Losses(BTreeMap<Code, Vec<Finding>>);

impl Losses {
    /// Keeps a loss if it is needed as an example.
    pub(crate) fn keep(&mut self, finding: &Finding) {
        let kept = self.0.entry(finding.code).or_default();
        if kept.len() < examples(finding.code) {
            kept.push(finding.clone());
        }
    }

    /// Returns the overview. `all` says where all losses are listed.
    pub(crate) fn overview(&self, tally: &Tally, all: &str, look: Appearance) -> String {
        let mut out = String::new();
        for kind in ORDER {
            let codes: Vec<(Code, u64)> = tally.codes().filter(|(code, _)| code.kind() == kind).collect();
            let total: u64 = codes.iter().map(|(_, n)| n).sum();
            if total == 0 {
                continue;
            }
            let (bold, reset) = if look.styled { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
            let heading = format!("{bold}{} {}{reset}: {}", thousands(total), kind.name(), kind.meaning());
            let _ = writeln!(out, "{}", wrap(&heading, look.width, 0, "  "));
            for (code, n) in codes {
                self.code(code, n, look, &mut out);
            }
        }
        if !out.is_empty() {
            let _ = writeln!(out, "{}", wrap(all, look.width, 0, "  "));
        }
        out
    }

    fn code(&self, code: Code, n: u64, look: Appearance, out: &mut String) {
        let title = format!("  {code}  {:>6}  {}", thousands(n), code.title().trim_end_matches('.'));
        let _ = writeln!(out, "{}", wrap(&title, look.width, 0, "                  "));
        let kept = self.0.get(&code).map_or(&[][..], Vec::as_slice);
        for finding in kept {
            let shape = finding.shape.map(|shape| format!(" ({})", shape.name())).unwrap_or_default();
            let detail = clean(&finding.detail);
            let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
            let start = if code.kind() == NoteKind::Narrowed { "" } else { "e.g. " };
            let line = format!("                  {start}{}{detail}{shape}", render::where_it_is(finding));
            let _ = writeln!(out, "{}", wrap(&line, look.width, 0, "                    "));
        }
        let more = n.saturating_sub(kept.len() as u64);
        if more > 0 && code.kind() == NoteKind::Narrowed {
            let _ = writeln!(out, "                  and {} more", thousands(more));
        }
    }
}

/// Returns a number with its noun: `1 error`, `2 errors`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::{Place, Shape};

    #[test]
    fn narrowing_losses_come_first_and_each_is_listed() {
        let (mut losses, mut tally) = (Losses::default(), Tally::default());
        for (code, line) in [(Code::V2Default, 3), (Code::EmbeddedRequired, 5), (Code::V2Default, 7)]
            .into_iter()
            .chain((0..21).map(|n| (Code::V2RootNullable, 10 + n)))
        {
            let mut finding =
                Finding::new(code, "size").in_input("crds/widgets.yaml").of_resource("widgets.example.com");
            finding.place = Some(Place { line, column: 9 });
            finding.shape = Some(Shape::V2);
            losses.keep(&finding);
            tally.count(code);
        }
        let text =
            losses.overview(&tally, "`--report FILE` lists all of them.", Appearance { styled: false, width: 80 });
        let expected = "\
22 narrowed: the result rejects objects that the source accepts
  KS2012      21  OpenAPI v2 shows a nullable resource that preserves unknown
                  fields as an object
                  crds/widgets.yaml:10:9: size (v2)
                  crds/widgets.yaml:11:9: size (v2)
";
        assert!(text.starts_with(expected), "{text}");
        let expected = "\
                  crds/widgets.yaml:29:9: size (v2)
                  and 1 more
  KS4009       1  apiVersion and kind of an embedded resource are required
                  crds/widgets.yaml:5:9: size (v2)
2 dropped: something is missing in the result
  KS2008       2  OpenAPI v2 as served holds no defaults
                  e.g. crds/widgets.yaml:3:9: size (v2)
`--report FILE` lists all of them.
";
        assert!(text.ends_with(expected), "{text}");
    }
}
