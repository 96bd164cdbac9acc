//! The table of results, and whether they meet their targets.

/// Rows that are printed at the end.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: String,
    ours: String,
    theirs: String,
    /// Ours divided by the original's, or by a limit.
    share: Option<f64>,
    /// The largest share that meets the target.
    target: Option<f64>,
}

impl Table {
    /// Compares ours with the original's. It should be at most `target` times the original's.
    pub(super) fn compared(&mut self, what: &str, ours: f64, theirs: Option<f64>, target: f64, unit: Unit) {
        let share = theirs.map(|theirs| ours / theirs);
        let theirs = theirs.map_or("-".to_owned(), |theirs| unit.text(theirs));
        let row = Row { what: what.to_owned(), ours: unit.text(ours), theirs, share, target: Some(target) };
        row.print();
        self.rows.push(row);
    }

    /// Compares ours with a limit.
    pub(super) fn limited(&mut self, what: &str, ours: f64, limit: f64, unit: Unit) {
        let theirs = format!("limit {}", unit.text(limit));
        let row =
            Row { what: what.to_owned(), ours: unit.text(ours), theirs, share: Some(ours / limit), target: Some(1.0) };
        row.print();
        self.rows.push(row);
    }

    /// Adds a number without a target.
    pub(super) fn noted(&mut self, what: &str, ours: f64, unit: Unit) {
        let row =
            Row { what: what.to_owned(), ours: unit.text(ours), theirs: "-".to_owned(), share: None, target: None };
        row.print();
        self.rows.push(row);
    }

    /// A line with the number of targets, and the missed ones.
    pub(super) fn closing_line(&self) -> String {
        let judged = self.rows.iter().filter(|row| row.met().is_some()).count();
        let missed: Vec<&str> =
            self.rows.iter().filter(|row| row.met() == Some(false)).map(|row| row.what.as_str()).collect();
        if missed.is_empty() {
            format!("{judged} targets, all met")
        } else {
            format!("{judged} targets, missed: {}", missed.join("; "))
        }
    }

    /// The head of the table.
    pub(super) fn head() {
        println!(
            "{:<58} {:>12} {:>15} {:>8} {:>8}",
            "server processor time, memory", "kubeshape", "Go", "ratio", "target"
        );
    }
}

impl Row {
    fn met(&self) -> Option<bool> {
        Some(self.share? <= self.target?)
    }

    fn print(&self) {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        let met = self.met().map_or("", |met| if met { "met" } else { "MISSED" });
        let Row { what, ours, theirs, share, target } = self;
        println!("{what:<58} {ours:>12} {theirs:>15} {:>8} {:>8} {met}", number(*share), number(*target));
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Seconds,
    Bytes,
    Share,
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Unit::Seconds if value >= 1.0 => format!("{value:.2} s"),
            Unit::Seconds if value >= 1e-3 => format!("{:.2} ms", value * 1e3),
            Unit::Seconds => format!("{:.1} us", value * 1e6),
            Unit::Bytes if value >= 1e6 => format!("{:.2} MB", value / 1e6),
            Unit::Bytes => format!("{:.1} kB", value / 1e3),
            Unit::Share => format!("{:.3} %", value * 1e2),
        }
    }
}
