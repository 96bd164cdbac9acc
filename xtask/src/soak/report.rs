//! The measurements of a soak, and whether they meet the targets.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::time::Duration;

/// The time within which an honest request must get a response.
pub(super) const BOUND: Duration = Duration::from_secs(10);
/// The share of honest writes that must meet the target, out of a thousand: the 99th percentile.
const MOST_WRITES: usize = 990;
/// All hostile clients connect at the same time, and wait until others are closed. The time until all are connected is
/// reported separately.
const ARRIVAL: Duration = Duration::from_secs(5);
/// The KiB by which memory may grow after the first two thirds, in addition to a fifth.
const SLACK: u64 = 32 << 10;
/// The maximum number of failure reasons that are listed.
const REASONS: usize = 10;

/// The targets of a soak.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The maximum times for responses of `/livez`: the median and the longest.
    pub(crate) livez: [Duration; 2],
    /// The time within which 99 % of the writes must get a response.
    pub(crate) write: Duration,
    /// The maximum memory in KiB, and the KiB that may stay after the attacks in addition to those before.
    pub(crate) peak: u64,
    pub(crate) left: u64,
    /// The maximum numbers of threads, and of open files, which include connections.
    pub(crate) threads: u64,
    pub(crate) descriptors: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            livez: [100, 500].map(Duration::from_millis),
            write: Duration::from_secs(1),
            peak: 2 << 20,
            left: 128 << 10,
            threads: 128,
            descriptors: 700,
        }
    }
}

/// A response to an honest request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Answered {
    pub(super) time: Duration,
    /// When it arrived, counted from the start of the attacks.
    pub(super) at: Duration,
}

impl Answered {
    fn began(&self) -> Duration {
        self.at.saturating_sub(self.time)
    }
}

/// The results of the clients.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Number of connections of hostile clients.
    pub(super) attacks: usize,
    /// Number of hostile requests about objects.
    pub(super) bombs: usize,
    /// Honest requests with a response, including `/livez` and writes.
    pub(super) answered: Vec<Answered>,
    pub(super) livez: Vec<Answered>,
    pub(super) writes: Vec<Answered>,
    /// Path, reason and time of honest requests without a response.
    pub(super) failures: Vec<(String, String, Duration)>,
    /// Memory of the server in KiB: during the attacks, twice a second; before them; the peak; and afterwards.
    pub(super) memory: Vec<u64>,
    pub(super) before: u64,
    pub(super) peak: u64,
    pub(super) after: u64,
    /// The highest numbers of its threads and open files.
    pub(super) threads: u64,
    pub(super) descriptors: usize,
    /// Number of answers to users with permissions, if there are any, and requests that showed what is hidden.
    pub(super) checked: Option<usize>,
    pub(super) leaks: Vec<String>,
    /// How long the server took to stop; `None` if it did not.
    pub(super) stopped: Option<Duration>,
}

/// The report. Its last lines are the targets.
#[derive(Debug)]
pub(crate) struct Report {
    text: String,
    targets: Vec<Target>,
}

#[derive(Debug)]
struct Target {
    name: &'static str,
    is_met: bool,
    measured: String,
}

impl Report {
    pub(super) fn new(mut seen: Seen, bounds: &Bounds) -> Report {
        seen.answered.sort_unstable();
        seen.writes.sort_unstable();
        seen.livez.sort_unstable();
        let (arrival, livez): (Vec<Answered>, Vec<Answered>) =
            seen.livez.iter().partition(|answered| answered.began() < ARRIVAL);
        let mut lines = vec![
            format!("hostile connections  {}", seen.attacks),
            format!("hostile requests     {}", seen.bombs),
            format!("honest requests      {}", times(&seen.answered)),
            format!("honest writes        {}", times(&seen.writes)),
            format!("/livez, first 5 s    {}", times(&arrival)),
            format!("/livez, after that   {}", times(&livez)),
            format!("failed requests      {}", seen.failures.len()),
        ];
        let mut reasons: BTreeMap<(&str, &str), (usize, Duration)> = BTreeMap::new();
        for (path, reason, time) in &seen.failures {
            let (count, longest) = reasons.entry((path, reason)).or_default();
            *count += 1;
            *longest = (*longest).max(*time);
        }
        for ((path, reason), (count, longest)) in reasons.iter().take(REASONS) {
            lines.push(format!("  {count} × {path}: {reason}, after {longest:.1?} at most"));
        }
        if reasons.len() > REASONS {
            lines.push(format!("  and {} other reasons", reasons.len() - REASONS));
        }
        let third = seen.memory.len().div_ceil(3).max(1);
        let thirds: Vec<[u64; 3]> = seen.memory.chunks(third).map(least_median_most).collect();
        for (place, [least, median, most]) in thirds.iter().enumerate() {
            let place = ["first", "second", "last"].get(place).unwrap_or(&"");
            lines.push(format!(
                "memory, {place:<6} third {} to {} MiB, median {}",
                least >> 10,
                most >> 10,
                median >> 10
            ));
        }
        lines.push(format!(
            "memory before {} MiB, at most {} MiB, afterwards {} MiB",
            seen.before >> 10,
            seen.peak >> 10,
            seen.after >> 10
        ));
        lines.extend(seen.checked.map(|count| format!("checked answers      {count}")));
        for leak in seen.leaks.iter().take(REASONS) {
            lines.push(format!("  {leak} shows what is hidden"));
        }
        lines.push(format!("threads and files    {} and {} at most", seen.threads, seen.descriptors));
        let asked = seen.answered.len() + seen.failures.len();
        let last = |answered: &[Answered]| answered.last().map(|answered| answered.time);
        let livez = [at(&livez, 500), last(&livez)];
        let show = |time: Option<Duration>| time.map_or("no request".to_owned(), |time| format!("{time:.2?}"));
        let within = |time: Option<Duration>, bound| time.is_some_and(|time| time <= bound);
        let before = thirds.iter().rev().skip(1).map(|[.., most]| *most).max();
        let after = thirds.last().map(|[.., most]| *most);
        let flat = before.zip(after).filter(|_| thirds.len() == 3);
        let mut targets = vec![
            Target {
                name: "there were attacks",
                is_met: seen.attacks > 0,
                measured: format!("{} connections", seen.attacks),
            },
            Target {
                name: "every honest request is answered",
                is_met: asked > 0 && seen.failures.is_empty(),
                measured: format!("{} of {asked}", seen.answered.len()),
            },
            Target {
                name: "honest requests within 10 s",
                is_met: within(last(&seen.answered), BOUND),
                measured: show(last(&seen.answered)),
            },
            Target {
                name: "/livez in time, median",
                is_met: within(livez[0], bounds.livez[0]),
                measured: show(livez[0]),
            },
            Target {
                name: "/livez in time, worst",
                is_met: within(livez[1], bounds.livez[1]),
                measured: show(livez[1]),
            },
            Target {
                name: "99 % of the writes in time",
                is_met: within(at(&seen.writes, MOST_WRITES), bounds.write),
                measured: show(at(&seen.writes, MOST_WRITES)),
            },
            Target {
                name: "memory is bounded",
                is_met: seen.peak <= bounds.peak,
                measured: format!("{} MiB at most", seen.peak >> 10),
            },
            Target {
                name: "memory is returned",
                is_met: seen.after <= seen.before + bounds.left,
                measured: format!("{} MiB afterwards, {} MiB before", seen.after >> 10, seen.before >> 10),
            },
            Target {
                name: "memory is flat",
                is_met: flat.is_some_and(|(before, after)| after <= before + before / 5 + SLACK),
                measured: flat.map_or("too short".to_owned(), |(before, after)| {
                    format!("{} MiB, before {} MiB", after >> 10, before >> 10)
                }),
            },
            Target {
                name: "threads are bounded",
                is_met: (1..=bounds.threads).contains(&seen.threads),
                measured: format!("{} at most", seen.threads),
            },
            Target {
                name: "connections are bounded",
                is_met: (1..=bounds.descriptors).contains(&seen.descriptors),
                measured: format!("{} open files at most", seen.descriptors),
            },
            Target {
                name: "the server stops",
                is_met: seen.stopped.is_some(),
                measured: seen.stopped.map_or("it does not".to_owned(), |time| format!("after {time:.1?}")),
            },
        ];
        if let Some(checked) = seen.checked {
            targets.push(Target {
                name: "nobody sees what is hidden",
                is_met: checked > 0 && seen.leaks.is_empty(),
                measured: format!("{} of {checked} answers show it", seen.leaks.len()),
            });
        }
        Report { text: lines.join("\n"), targets }
    }

    /// Returns the missed targets.
    pub(crate) fn missed(&self) -> Vec<&'static str> {
        self.targets.iter().filter(|target| !target.is_met).map(|target| target.name).collect()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.text)?;
        for Target { name, is_met, measured } in &self.targets {
            writeln!(f, "{:<7} {name}: {measured}", if *is_met { "met" } else { "MISSED" })?;
        }
        Ok(())
    }
}

/// Returns the time within which `per_mille` of a thousand responses arrived. They must be sorted.
fn at(answered: &[Answered], per_mille: usize) -> Option<Duration> {
    let place = (answered.len() * per_mille / 1000).min(answered.len().saturating_sub(1));
    answered.get(place).map(|answered| answered.time)
}

fn times(answered: &[Answered]) -> String {
    let mut text = answered.len().to_string();
    for (name, per_mille) in [("median", 500), ("90 %", 900), ("99 %", 990), ("99.9 %", 999)] {
        if let Some(time) = at(answered, per_mille) {
            let _ = write!(text, ", {name} {time:.2?}");
        }
    }
    if let Some(worst) = answered.last() {
        let _ = write!(text, ", worst {:.2?} ({:.1?} after the start)", worst.time, worst.began());
    }
    text
}

fn least_median_most(memory: &[u64]) -> [u64; 3] {
    let mut memory = memory.to_vec();
    memory.sort_unstable();
    [0, memory.len() / 2, memory.len().saturating_sub(1)].map(|place| memory.get(place).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(milliseconds: u64) -> Answered {
        Answered { time: Duration::from_millis(milliseconds), at: Duration::from_secs(30) }
    }

    fn good() -> Seen {
        let livez = vec![answered(1); 100];
        Seen {
            attacks: 10,
            answered: livez.clone(),
            writes: livez.clone(),
            livez,
            bombs: 10,
            before: 100 << 10,
            peak: 200 << 10,
            after: 100 << 10,
            failures: Vec::new(),
            memory: vec![100 << 10; 90],
            threads: 20,
            descriptors: 500,
            checked: Some(10),
            leaks: Vec::new(),
            stopped: Some(Duration::from_secs(1)),
        }
    }

    fn report(seen: Seen) -> Report {
        Report::new(seen, &Bounds::default())
    }

    #[test]
    fn every_target_can_be_missed() {
        assert_eq!(report(good()).missed(), [""; 0]);
        let failed = ("/apis".to_owned(), "no answer".to_owned(), Duration::from_secs(2));
        let slow = [vec![answered(1); 99], vec![answered(501)]].concat();
        let arriving = Answered { time: Duration::from_secs(2), at: Duration::from_secs(6) };
        assert_eq!(report(Seen { livez: [good().livez, vec![arriving]].concat(), ..good() }).missed(), [""; 0]);
        let growing = [vec![100 << 10; 60], vec![153 << 10; 30]].concat();
        for (seen, missed) in [
            (Seen { attacks: 0, ..good() }, &["there were attacks"][..]),
            (Seen { failures: vec![failed], ..good() }, &["every honest request is answered"]),
            (
                Seen { answered: vec![Answered { time: BOUND * 2, ..answered(0) }], ..good() },
                &["honest requests within 10 s"],
            ),
            (Seen { livez: slow, ..good() }, &["/livez in time, worst"]),
            (Seen { livez: vec![answered(501)], ..good() }, &["/livez in time, median", "/livez in time, worst"]),
            (Seen { memory: growing, ..good() }, &["memory is flat"]),
            (Seen { memory: vec![1], ..good() }, &["memory is flat"]),
            (Seen { writes: vec![answered(1001)], ..good() }, &["99 % of the writes in time"]),
            (Seen { peak: 3 << 20, ..good() }, &["memory is bounded"]),
            (Seen { after: 300 << 10, ..good() }, &["memory is returned"]),
            (Seen { threads: 129, ..good() }, &["threads are bounded"]),
            (Seen { descriptors: 701, ..good() }, &["connections are bounded"]),
            (Seen { checked: Some(0), ..good() }, &["nobody sees what is hidden"]),
            (Seen { leaks: vec!["GET /a as b".to_owned()], ..good() }, &["nobody sees what is hidden"]),
            (Seen { stopped: None, ..good() }, &["the server stops"]),
        ] {
            let report = report(seen);
            assert_eq!(report.missed(), missed, "{report}");
        }
        assert_eq!(report(Seen::default()).missed().len(), 10);
    }

    #[test]
    fn failures_are_counted_by_path_and_reason() {
        let failure = |path: &str, seconds| (path.to_owned(), "503".to_owned(), Duration::from_secs(seconds));
        let seen = Seen { failures: vec![failure("/a", 1), failure("/b", 1), failure("/a", 3)], ..good() };
        let text = report(seen).to_string();
        assert!(text.contains("\n  2 × /a: 503, after 3.0s at most\n  1 × /b: 503, after 1.0s at most\n"), "{text}");
    }
}
