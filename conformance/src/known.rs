//! `KNOWN.md`: differences that stay, each with its reason.

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    area: String,
    row: String,
    record: String,
}

/// The entries of `KNOWN.md`.
#[derive(Clone, Debug, Default)]
pub struct Known {
    entries: Vec<Entry>,
}

impl Known {
    /// Reads lines of the form ``- `AREA ROW RECORD`: reason``; everything else is prose.
    pub fn parse(text: &str) -> Known {
        let entries = text.lines().filter_map(|line| {
            let (entry, reason) = line.strip_prefix("- `")?.split_once("`: ")?;
            let mut words = entry.splitn(3, ' ');
            let entry = Entry {
                area: words.next()?.to_owned(),
                row: words.next()?.to_owned(),
                record: words.next()?.to_owned(),
            };
            (!reason.trim().is_empty()).then_some(entry)
        });
        Known { entries: entries.collect() }
    }

    /// The entries of this checkout.
    pub fn of_checkout() -> Known {
        Known::parse(include_str!("../KNOWN.md"))
    }

    /// Whether an entry names the record.
    pub fn explains(&self, area: &str, row: &str, record: &str) -> bool {
        self.entries.iter().any(|e| e.area == area && e.row == row && e.record == record)
    }
}
