//! Measures how fast YAML files are read: `throughput FOLDER [ROUNDS] [fast]`.
//!
//! With the variable `FULL` set, the files that the fast reader did not take are listed.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::cast_precision_loss)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use kubeshape_yaml::{Limits, Path, Stream, Tape};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".into());
    let rounds: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(10);
    let fast_only = arguments.next().is_some_and(|word| word == "fast");
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
                files.extend(std::fs::read(&path).ok().map(|bytes| (path, bytes)));
            }
        }
    }
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    println!("{} files, {bytes} bytes", files.len());
    let mut tape = Tape::new();
    for (name, path, rounds) in
        [("automatic", Path::Auto, rounds), ("full", Path::Full, rounds.min(3) * usize::from(!fast_only))]
    {
        let (mut best, mut entries, mut shares, mut errors) = (Duration::MAX, 0, [0; 2], 0);
        for _ in 0..rounds {
            (entries, shares, errors) = (0, [0; 2], 0);
            let start = Instant::now();
            for (file, bytes) in &files {
                let mut stream = match Stream::with_path(bytes, Limits::default(), path) {
                    Ok(stream) => stream,
                    Err(error) => {
                        eprintln!("{}: {error}", file.display());
                        continue;
                    }
                };
                while let Some(result) = stream.next(&mut tape) {
                    errors += usize::from(result.is_err());
                    entries += tape.entries().len();
                }
                let [fast, full] = stream.shares();
                shares = [shares[0] + fast, shares[1] + full];
                if path == Path::Auto && full > 0 && std::env::var_os("FULL").is_some() {
                    eprintln!("{full} of {} bytes by the full reader: {}", bytes.len(), file.display());
                }
            }
            best = best.min(start.elapsed());
        }
        if rounds == 0 {
            continue;
        }
        println!(
            "{name}: {:.1} ms, {:.2} GB/s, {entries} entries, {errors} errors, {:.2} % by the fast reader",
            best.as_secs_f64() * 1e3,
            bytes as f64 / best.as_secs_f64() / 1e9,
            shares[0] as f64 * 100.0 / bytes.max(1) as f64,
        );
    }
}
