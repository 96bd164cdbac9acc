//! Compares answers about expressions: messages, types, costs and values.

use crate::known::Known;
use crate::table::{Table, Verdict};
use std::path::Path;

/// Compares every record of the folder `cel`.
pub fn compare(golden: &Path, known: Known) -> Table {
    let mut table = Table::new("cel", known);
    for (row, record, verdict) in kubeshape_conformance_cel::compare(&golden.join("cel")) {
        let verdict = match verdict {
            kubeshape_conformance_cel::Verdict::Equal => Verdict::Equal,
            kubeshape_conformance_cel::Verdict::Differing(place) => Verdict::Differing(place),
            kubeshape_conformance_cel::Verdict::Missing(why) => Verdict::Missing(why),
        };
        table.add(&row, &record, verdict);
    }
    table
}
