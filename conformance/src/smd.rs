//! Area `smd`: recorded calls of structured-merge-diff and of server-side apply; and the same for the project's own
//! scenarios and for generated sequences, which belong to other areas.

use crate::known::Known;
use crate::plan::Plan;
use crate::table::{Table, Verdict};
use kubeshape_conformance_smd as smd;
use std::path::Path;

/// The maximum length of a difference, because sets and objects may be long.
const KEPT: usize = 3000;

/// Compares every record below `golden/smd`, a row per file and kind.
pub fn compare(golden: &Path, known: Known) -> Table {
    let mut table = Table::new("smd", known);
    let replayed = smd::replay(&golden.join("smd"), &mut |row, name, found| table.add(row, name, verdict(found)));
    if let Err(error) = replayed {
        table.add("reading", "records", Verdict::Missing(error));
    }
    table
}

/// Compares the project's own scenarios with their recorded answers.
///
/// # Errors
/// They cannot be read.
pub fn scenarios(table: &mut Table) -> Result<(), String> {
    smd::own::replay(&mut |row, name, found, _| table.add(row, name, verdict(found)))
}

/// Generates sequences and calls, and compares with the answers of the Go program, which is built if necessary.
///
/// # Errors
/// Go is not installed, or the program fails.
pub fn generated(seed: u64, count: u64, folder: &Path, table: &mut Table) -> Result<(), String> {
    replayed(&smd::generated::build(folder)?, seed, count, table)
}

/// Area `smd-7`: generated values, sets and sequences, answered by structured-merge-diff 7, which Kubernetes 1.38 will
/// use.
///
/// # Errors
/// Go is not installed or cannot download its release 1.27, or the program fails.
pub fn compare_7(plan: &Plan, folder: &Path, known: Known) -> Result<Table, String> {
    let mut table = Table::new("smd-7", known);
    replayed(&smd::generated::build_7(folder)?, plan.seed, plan.count, &mut table)?;
    Ok(table)
}

fn replayed(program: &smd::generated::Program, seed: u64, count: u64, table: &mut Table) -> Result<(), String> {
    smd::generated::replay(program, seed, count, &mut |row, name, found, _| {
        let row = row.replacen("generated ", "smd ", 1);
        table.add(&row, name, verdict(found));
    })
}

fn verdict(found: smd::Verdict) -> Verdict {
    let cut = |text: String| text.chars().take(KEPT).collect();
    match found {
        smd::Verdict::Equal => Verdict::Equal,
        smd::Verdict::Differing(text) => Verdict::Differing(cut(text)),
        smd::Verdict::Missing(text) => Verdict::Missing(cut(text)),
    }
}
