//! `cargo benchmark PATH [--rounds N] [--oracle PROGRAM] [--base FOLDER]`
//!
//! Every benchmark runs in a separate process, so that its peak memory can be measured. The rounds of all benchmarks
//! are interleaved, so that a slow phase of the machine affects all of them, and the best round of each is reported.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::cast_precision_loss)]

mod diff;
mod documents;
mod forms;
mod keystrokes;
mod lifecycle;
mod objects;
mod policies;
mod pull;
mod report;
mod serve;
mod serve_update;
mod smd;
mod test_server;
mod work;

use kubeshape_publish::{Base, Options, Publisher};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use work::{Counts, Scratch, Work};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("one-document") if arguments.len() >= 3 => documents::one(&arguments[1..]),
        Some("diff") if arguments.len() == 2 => diff::run(Path::new(&arguments[1])),
        Some("documents") => documents::all(&arguments),
        Some("one-smd") => smd::one(&arguments[1..]),
        Some("smd") => smd::all(&arguments),
        Some("forms") => forms::all(&arguments[1..]),
        Some("keystrokes") => keystrokes::run(&arguments[1..]),
        Some("lifecycle") if arguments.len() == 2 => lifecycle::run(Path::new(&arguments[1])),
        Some("objects") => objects::all(&arguments[1..]),
        Some("policies") => policies::run(&arguments[1..]),
        Some("pull") => pull::all(&arguments[1..]),
        Some("serve") => serve::all(&arguments),
        Some("serve-objects") => serve::objects::run(&arguments[1..]),
        Some("serve-update") => serve_update::run(&arguments[1..]),
        Some("test-server") => test_server::all(&arguments[1..]),
        Some("one-test-server") => test_server::one(&arguments[1..]),
        Some("one") if arguments.len() >= 4 => one(&arguments),
        Some(path) if !path.starts_with('-') => report::all(&arguments),
        _ => {
            eprintln!("usage: cargo benchmark PATH [--rounds N] [--oracle PROGRAM] [--base FOLDER]");
            eprintln!("       cargo benchmark diff FOLDER");
            eprintln!("       cargo benchmark documents --swagger FILE --v3 FILE [--rounds N] [--oracle PROGRAM]");
            eprintln!("       cargo benchmark forms [N] [BYTES]");
            eprintln!("       cargo benchmark keystrokes [--program KUBESHAPE] [FOLDER]");
            eprintln!("       cargo benchmark lifecycle FOLDER");
            eprintln!("       cargo benchmark objects STREAM… [--oracle PROGRAM]");
            eprintln!("       cargo benchmark policies [POLICIES] [OBJECTS] [--oracle PROGRAM]");
            eprintln!("       cargo benchmark pull [FOLDER|--server URL]");
            eprintln!("       cargo benchmark serve-objects [--program KUBESHAPE] [--time MS]");
            eprintln!("       cargo benchmark serve-update FOLDER [N…]");
            eprintln!("       cargo benchmark test-server [CRDS]");
            eprintln!("       cargo benchmark smd FOLDER [--oracle PROGRAM] [--rounds N] [--time MS] [--only WORD,…]");
            eprintln!("       cargo benchmark serve FOLDER [--base FOLDER] [--program KUBESHAPE] [--oracle PROGRAM]");
            eprintln!("           [--time MS] [--counts N,…] [--only requests|discovery|updates]");
            ExitCode::from(2)
        }
    }
}

/// The base documents of a folder (`.json` files), or the built-in base.
fn base(folder: Option<&String>) -> Base {
    let Some(folder) = folder else { return Base::builtin() };
    let documents: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "json"))
        .filter_map(|entry| Some((entry.path().display().to_string(), std::fs::read(entry.path()).ok()?)))
        .collect();
    Base::from_documents(&documents).unwrap_or_else(|error| {
        eprintln!("{error}; using the built-in base");
        Base::builtin()
    })
}

/// Runs one benchmark in this process, and prints the result as JSON: `one WORK JOBS PATH [BASE]`.
fn one(arguments: &[String]) -> ExitCode {
    let (Some(work), Ok(jobs)) = (Work::parse(&arguments[1]), arguments[2].parse::<usize>()) else {
        return ExitCode::from(2);
    };
    let files = work::files(Path::new(&arguments[3]));
    let publisher = Publisher::new(base(arguments.get(4)), Options::default());
    let start = Instant::now();
    let mut counts = Counts::default();
    if jobs == 1 {
        let mut scratch = Scratch::new(&publisher);
        for path in &files {
            counts += work::file(work, path, &publisher, &mut scratch);
        }
    } else {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let totals: Vec<Counts> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs)
                .map(|_| {
                    scope.spawn(|| {
                        let (mut scratch, mut counts) = (Scratch::new(&publisher), Counts::default());
                        while let Some(path) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                            counts += work::file(work, path, &publisher, &mut scratch);
                        }
                        counts
                    })
                })
                .collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        for part in totals {
            counts += part;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({
            "work": arguments[1], "jobs": jobs, "files": files.len(), "crds": counts.crds,
            "in_bytes": counts.input, "out_bytes": counts.output, "seconds": seconds, "max_rss_kib": peak_memory(),
        })
    );
    ExitCode::SUCCESS
}

/// Peak resident memory of this process in KiB.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0)
}
