//! Converts the definitions and documents of a row.

use super::{Answer, Made, Row};
use kubeshape::{Converted, Crd, Document, Findings};
use kubeshape_input::{Code, Finding};
use std::str::FromStr;

/// The maximum size of the results of a row, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// The shapes that rows are converted to: a flag for each of [`SHAPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shapes([bool; SHAPES.len()]);

/// The names of shapes, as on the command line.
pub const SHAPES: [&str; 5] = ["v3", "v2", "smd", "jsonschema", "structural"];

impl FromStr for Shapes {
    type Err = String;

    /// Parses names separated by commas.
    fn from_str(text: &str) -> Result<Shapes, String> {
        let mut out = [false; SHAPES.len()];
        for name in text.split(',').map(str::trim) {
            let at = SHAPES.iter().position(|shape| *shape == name);
            let slot = at.and_then(|at| out.get_mut(at));
            *slot.ok_or_else(|| format!("expected one of {}, found {name:?}", SHAPES.join(", ")))? = true;
        }
        Ok(Shapes(out))
    }
}

impl Shapes {
    fn names(self) -> impl Iterator<Item = &'static str> {
        SHAPES.into_iter().zip(self.0).filter_map(|(name, is_wanted)| is_wanted.then_some(name))
    }
}

/// The results so far.
struct Results {
    answer: Answer,
    bytes: usize,
}

impl Results {
    /// Adds a result, or the reason why there is none. Returns whether there is room for more.
    fn add(&mut self, resource: &str, version: &str, shape: &'static str, made: Result<Converted, Findings>) -> bool {
        match made {
            Ok(converted) => {
                self.answer.findings.extend_from_slice(converted.findings());
                let text = converted.text().to_owned();
                self.bytes += text.len();
                let (resource, version) = (resource.to_owned(), version.to_owned());
                self.answer.results.push(Made { resource, version, shape, text });
            }
            Err(Findings(findings)) => {
                self.answer.verdict = "refused";
                self.answer.findings.extend(findings);
            }
        }
        self.bytes <= MOST_BYTES
    }
}

pub(super) fn answer(shapes: Shapes, row: Row<'_>) -> Answer {
    let (crds, mut findings) = Crd::read_all(row.name, row.text);
    let (documents, _) = if crds.is_empty() { Document::read_all(row.name, row.text) } else { Default::default() };
    findings.retain(|finding| finding.code != Code::Skipped);
    let is_refused = findings.iter().any(Finding::is_error);
    let is_empty = crds.is_empty() && documents.is_empty();
    let verdict = if is_refused {
        "refused"
    } else if is_empty {
        "nothing"
    } else {
        "converted"
    };
    let mut results = Results { answer: Answer::new(verdict, findings), bytes: 0 };
    if !all(shapes, &crds, &documents, &mut results) {
        let detail = format!("there are more than {MOST_BYTES} bytes");
        let over = Finding::new(Code::OutputBudget, detail).in_input(row.name);
        return Answer::new("refused", vec![over]);
    }
    results.answer
}

/// Converts everything. Returns whether there was room for it.
fn all(shapes: Shapes, crds: &[Crd], documents: &[Document], out: &mut Results) -> bool {
    let of_crds = crds.iter().all(|crd| shapes.names().all(|shape| of_crd(crd, shape, out)));
    of_crds && documents.iter().all(|document| shapes.names().all(|shape| of_document(document, shape, out)))
}

fn of_crd(crd: &Crd, shape: &'static str, out: &mut Results) -> bool {
    if shape == "smd" {
        return out.add(crd.name(), "", shape, crd.smd());
    }
    crd.versions().iter().all(|version| {
        let made = match shape {
            "v3" => crd.v3(version),
            "v2" => crd.v2(version),
            "jsonschema" => crd.json_schema(version),
            _ => crd.structural(version),
        };
        out.add(crd.name(), version, shape, made)
    })
}

fn of_document(document: &Document, shape: &'static str, out: &mut Results) -> bool {
    match shape {
        "v3" => out.add("", "", shape, document.v3()),
        "v2" => out.add("", "", shape, document.v2()),
        "smd" => out.add("", "", shape, document.smd()),
        "jsonschema" => match document.json_schemas() {
            Ok(schemas) => schemas.into_iter().all(|(version, kind, made)| out.add(&kind, &version, shape, Ok(made))),
            Err(findings) => out.add("", "", shape, Err(findings)),
        },
        // Documents have no structural schemas.
        _ => true,
    }
}
