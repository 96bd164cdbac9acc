//! `cargo run -p kubeshape-conformance-cel -- FOLDER [WORD]`: prints only the differences of the area `cel`, and builds
//! quickly.
#![allow(clippy::print_stdout)]

use kubeshape_conformance_cel::{Verdict, compare};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let word = arguments.next();
    let mut rows: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for (row, id, verdict) in compare(&folder) {
        let entry = rows.entry(row).or_default();
        match verdict {
            Verdict::Equal => entry.0 += 1,
            Verdict::Differing(place) => entry.1.push(format!("{id}: {place}")),
            Verdict::Missing(why) => entry.1.push(format!("{id}: missing: {why}")),
        }
    }
    for (row, (equal, others)) in &rows {
        println!("{row}: {equal} equal, {} other", others.len());
        if word.as_ref().is_some_and(|word| row.contains(word.as_str())) {
            for other in others {
                println!("  {other}");
            }
        }
    }
}
