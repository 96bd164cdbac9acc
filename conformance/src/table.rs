//! The table: a row per kind of answer.
#![allow(clippy::format_push_string, clippy::needless_pass_by_value)]

use crate::known::Known;
use std::collections::{BTreeMap, BTreeSet};

/// The result of comparing one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are the same.
    Equal,
    /// The answers differ, first at this path.
    Differing(String),
    /// We have no answer, for this reason.
    Missing(String),
}

/// One row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Equal answers.
    pub equal: usize,
    /// Differing answers that no entry of KNOWN.md explains.
    pub differing: usize,
    /// Missing answers that no entry of KNOWN.md explains.
    pub missing: usize,
    /// Answers that differ or are missing for a known reason.
    pub known: usize,
    /// Differences that no entry of KNOWN.md explains, each with its record and its path.
    pub differences: Vec<String>,
    /// Printed instead of a first difference.
    pub remark: Option<String>,
}

/// The rows of an area.
#[derive(Clone, Debug)]
pub struct Table {
    area: String,
    rows: BTreeMap<String, Row>,
    known: Known,
    unneeded: Vec<String>,
    used: BTreeSet<String>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(area: &str, known: Known) -> Table {
        Table { area: area.to_owned(), rows: BTreeMap::new(), known, unneeded: Vec::new(), used: BTreeSet::new() }
    }

    /// Returns an empty table of the same area.
    #[must_use]
    pub fn like(&self) -> Table {
        Table::new(&self.area, self.known.clone())
    }

    /// Adds all rows of another table.
    pub fn take(&mut self, other: Table) {
        for (name, row) in other.rows {
            let own = self.rows.entry(name).or_default();
            own.equal += row.equal;
            own.differing += row.differing;
            own.missing += row.missing;
            own.known += row.known;
            own.differences.extend(row.differences);
            own.remark = own.remark.take().or(row.remark);
        }
        self.unneeded.extend(other.unneeded);
        self.used.extend(other.used);
    }

    /// Returns the rows in which something differs or is missing.
    pub fn failing_rows(&self) -> Vec<&str> {
        self.rows.iter().filter(|(_, row)| row.differing + row.missing > 0).map(|(name, _)| name.as_str()).collect()
    }

    /// Appends a string to the last difference of the table.
    pub fn append_to_differences(&mut self, text: &str) {
        if let Some(last) = self.rows.values_mut().rev().find_map(|row| row.differences.last_mut()) {
            last.push_str(text);
        }
    }

    /// Counts an answer. `record` identifies it: project, file, resource, version.
    pub fn add(&mut self, row: &str, record: &str, verdict: Verdict) {
        let explained = self.known.explains(&self.area, row, record);
        let entry = self.rows.entry(row.to_owned()).or_default();
        let text = match &verdict {
            Verdict::Equal => {
                entry.equal += 1;
                if explained {
                    self.unneeded.push(format!("{} {row} {record}", self.area));
                }
                return;
            }
            _ if explained => {
                entry.known += 1;
                self.used.insert(format!("{} {row} {record}", self.area));
                return;
            }
            Verdict::Differing(place) => {
                entry.differing += 1;
                format!("{record}: {place}")
            }
            Verdict::Missing(why) => {
                entry.missing += 1;
                format!("{record}: missing: {why}")
            }
        };
        entry.differences.push(text);
    }

    /// Adds a remark about a whole row, such as that there is no base.
    pub fn remark(&mut self, row: &str, remark: &str) {
        self.rows.entry(row.to_owned()).or_default().remark = Some(remark.to_owned());
    }

    /// Returns the entries of KNOWN.md whose record is now equal.
    pub fn unneeded(&self) -> &[String] {
        &self.unneeded
    }

    /// Returns the entries of KNOWN.md that explained a difference.
    pub fn used(&self) -> &BTreeSet<String> {
        &self.used
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    fn sum(&self, f: impl Fn(&Row) -> usize) -> usize {
        self.rows.values().map(f).sum()
    }

    fn total(&self) -> usize {
        self.sum(|r| r.equal + r.differing + r.missing + r.known)
    }

    /// Returns whether everything that differs or is missing is known.
    pub fn passed(&self) -> bool {
        !self.is_empty() && self.objections() == 0 && self.unneeded.is_empty()
    }

    /// Returns the closing line.
    pub fn closing_line(&self) -> String {
        format!(
            "total {} equal {} of {}, known {}, missing {}, differing {}",
            self.area,
            self.sum(|r| r.equal),
            self.total(),
            self.sum(|r| r.known),
            self.sum(|r| r.missing),
            self.sum(|r| r.differing)
        )
    }

    /// Returns the table for people.
    pub fn to_text(&self) -> String {
        let width = self.rows.keys().map(|name| name.len() + 1).max().unwrap_or_default().max(28);
        let mut out = format!(
            "{:<width$}{:>8}{:>10}{:>9}{:>7}  first difference\n",
            self.area, "equal", "differing", "missing", "known"
        );
        for (name, row) in &self.rows {
            let first = row.remark.as_deref().or(row.differences.first().map(String::as_str)).unwrap_or("");
            let first: String = first.chars().take(300).collect();
            out.push_str(&format!(
                "{name:<width$}{:>8}{:>10}{:>9}{:>7}  {first}\n",
                row.equal, row.differing, row.missing, row.known
            ));
        }
        for entry in &self.unneeded {
            out.push_str(&format!("no longer needed in KNOWN.md: {entry}\n"));
        }
        out.push_str(&self.closing_line());
        out
    }

    /// Returns every difference on a line, after its row.
    pub fn differences(&self) -> String {
        let lines = self
            .rows
            .iter()
            .flat_map(|(name, row)| row.differences.iter().map(move |text| format!("{name}: {text}\n")));
        lines.collect()
    }

    /// Returns how many answers differ or are missing and are not known.
    pub fn objections(&self) -> usize {
        self.sum(|r| r.differing + r.missing)
    }

    /// Returns the table for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|(name, row)| {
                serde_json::json!({
                    "row": name, "equal": row.equal, "differing": row.differing, "missing": row.missing,
                    "known": row.known, "first": row.differences.first(), "remark": row.remark,
                })
            })
            .collect();
        serde_json::json!({ "area": self.area, "rows": rows, "unneeded": self.unneeded, "total": self.closing_line() })
    }
}
