//! Processor time and allocations of one piece of work.

use cpu_time::ProcessTime;
use serde_json::{Value as Json, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::time::Duration;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the number of bytes that are allocated now.
pub(crate) fn live_bytes() -> usize {
    let stats = INSTRUMENTED_SYSTEM.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// The result of a benchmark, per operation.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    /// Nanoseconds of processor time.
    pub(super) ns: f64,
    pub(super) allocs: u64,
    pub(super) bytes: u64,
}

impl Line {
    /// Parses a line, which both sides print in the same form.
    pub(super) fn parse(text: &str) -> Option<Line> {
        let json: Json = serde_json::from_str(text).ok()?;
        Some(Line {
            name: json["name"].as_str()?.to_owned(),
            ns: json["ns"].as_f64()?,
            allocs: json["allocs"].as_u64()?,
            bytes: json["bytes"].as_u64()?,
        })
    }
}

/// Runs the benchmarks that are selected.
#[derive(Debug)]
pub(super) struct Bench {
    time: Duration,
    only: Vec<String>,
}

impl Bench {
    /// Each benchmark takes about this time. `only` has words of names, separated by commas.
    pub(super) fn new(milliseconds: u64, only: &str) -> Bench {
        let only = only.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Bench { time: Duration::from_millis(milliseconds), only }
    }

    /// Returns whether a benchmark is selected.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.contains(word.as_str()))
    }

    /// Measures an operation, which gets the number of its round.
    pub(super) fn run(&mut self, name: &str, mut operation: impl FnMut(usize)) {
        if !self.wants(name) {
            return;
        }
        // The first rounds grow buffers that later ones reuse.
        let start = ProcessTime::now();
        let mut rounds = 0;
        while rounds < 3 || (start.elapsed() < self.time / 10 && rounds < 1_000_000) {
            operation(rounds);
            rounds += 1;
        }
        let each = start.elapsed().as_nanos() / rounds as u128;
        let rounds = usize::try_from(self.time.as_nanos() / each.max(1)).unwrap_or(1).max(2);
        let memory = Region::new(COUNTING);
        let start = ProcessTime::now();
        for round in 0..rounds {
            operation(round);
        }
        let taken = start.elapsed();
        let memory = memory.change();
        let line = json!({
            "name": name,
            "ns": taken.as_nanos() as f64 / rounds as f64,
            "allocs": (memory.allocations + memory.reallocations) / rounds,
            "bytes": memory.bytes_allocated / rounds,
            "n": rounds,
        });
        println!("{line}");
    }
}
