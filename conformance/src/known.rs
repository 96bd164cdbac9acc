//! `KNOWN.md`: accepted differences, each with its reason.

use std::collections::BTreeSet;

/// The entries of `KNOWN.md`.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// `AREA ROW RECORD`. Names of rows contain blanks, so an entry is not split.
    entries: BTreeSet<String>,
}

impl Known {
    /// Reads lines of the form ``- `AREA ROW RECORD`: reason``; everything else is prose. An entry without a reason is
    /// ignored.
    pub fn parse(text: &str) -> Known {
        let entries = text.lines().filter_map(|line| {
            let (entry, reason) = line.strip_prefix("- `")?.split_once("`: ")?;
            (!reason.trim().is_empty()).then(|| entry.to_owned())
        });
        Known { entries: entries.collect() }
    }

    /// Returns the entries of this checkout.
    pub fn of_checkout() -> Known {
        Known::parse(include_str!("../KNOWN.md"))
    }

    /// Returns whether there is an entry for the record.
    pub fn explains(&self, area: &str, row: &str, record: &str) -> bool {
        self.entries.contains(&format!("{area} {row} {record}"))
    }

    /// Returns the entries of an area.
    pub fn of_area<'k>(&'k self, area: &'k str) -> impl Iterator<Item = &'k str> {
        self.entries
            .iter()
            .map(String::as_str)
            .filter(move |entry| entry.strip_prefix(area).is_some_and(|rest| rest.starts_with(' ')))
    }
}
