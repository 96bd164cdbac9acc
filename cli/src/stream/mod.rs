//! `kubeshape stream` reads rows and writes answers.
//!
//! One thread reads portions of whole lines, workers answer them, and the calling thread writes. The number of portions
//! in flight is fixed: a portion is read only when another one has been written. So memory is bounded, and while the
//! answers are not read, no rows are read.

use crate::args::{StreamArgs, StreamCommand, When};
use crate::convert::{STACK, jobs};
use crate::error::Fatal;
use crate::report::{Setup, Ui};
use crate::rows::json::Lines;
use crate::rows::{Answer, Task, ValidateOptions};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The number of bytes that are read at once.
const PORTION: usize = 64 << 10;
/// The maximum size of a row. A longer one is skipped, and its answer says so.
const LONGEST: usize = 16 << 20;
/// The number of portions in flight per worker.
const WINDOW: usize = 4;
/// How often an idle worker checks whether it has to stop.
const IDLE: Duration = Duration::from_millis(200);

/// Runs the command.
///
/// # Errors
/// The schemas cannot be read, or one of the streams breaks.
pub(crate) fn run(args: &StreamArgs, setup: &Setup) -> Result<bool, Fatal> {
    let mut ui = Ui::new(setup.color, When::Never, args.quiet, false);
    let task = match task(&args.command) {
        Ok(task) => task,
        Err(findings) => {
            for finding in &findings.0 {
                ui.finding(finding);
            }
            ui.end(None, "", "");
            return Err(Fatal::Unread);
        }
    };
    let how = How { jobs: jobs(args.jobs), ordered: args.ordered, paths: args.paths };
    let counts = pump(&task, io::stdin(), &mut io::stdout().lock(), how)?;
    ui.say(&summary(&counts));
    ui.end(None, "", "");
    Ok(true)
}

fn task(command: &StreamCommand) -> Result<Task, kubeshape::Findings> {
    match command {
        StreamCommand::Validate { schemas, kubernetes, field_validation, missing_schemas } => {
            Task::validate(&ValidateOptions {
                schemas: schemas.clone(),
                kubernetes: *kubernetes,
                field_validation: *field_validation,
                missing_schemas: *missing_schemas,
                ..ValidateOptions::default()
            })
        }
        StreamCommand::Check { kubernetes, advice } => Ok(Task::check(kubernetes.unwrap_or_default(), *advice)),
        StreamCommand::Convert { to } => Ok(Task::convert(*to)),
        StreamCommand::Diff => Ok(Task::diff()),
    }
}

/// Returns `3 rows: 2 accepted, 1 refused`.
fn summary(counts: &BTreeMap<&'static str, u64>) -> String {
    let all: u64 = counts.values().sum();
    let s = if all == 1 { "" } else { "s" };
    let parts: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("{all} row{s}{colon}{}", parts.join(", "))
}

#[derive(Clone, Copy)]
struct How {
    jobs: usize,
    ordered: bool,
    paths: bool,
}

/// Whole lines.
struct Portion {
    number: u64,
    /// The number of its first line.
    line: u64,
    bytes: Vec<u8>,
    /// Whether this is the beginning of a line that is too long.
    is_cut: bool,
}

/// Answers, and the number of rows by verdict.
struct Answered {
    number: u64,
    bytes: Vec<u8>,
    counts: BTreeMap<&'static str, u64>,
}

type Counts = BTreeMap<&'static str, u64>;

/// Answers all rows of `input`.
fn pump(task: &Task, input: impl Read + Send + 'static, output: &mut impl Write, how: How) -> Result<Counts, Fatal> {
    let window = how.jobs * WINDOW;
    let (free, places) = sync_channel(window);
    (0..window).for_each(|_| {
        let _ = free.send(());
    });
    let (portions, waiting) = sync_channel(window);
    // If writing fails, the command ends although this thread still waits for input.
    let reader = std::thread::Builder::new().name("rows".to_owned());
    let reader = reader.spawn(move || read(input, &places, &portions))?;
    let (waiting, stop) = (Mutex::new(waiting), AtomicBool::new(false));
    let (answers, answered) = sync_channel(window);
    let counts = std::thread::scope(|scope| {
        for _ in 0..how.jobs {
            let (waiting, stop, answers) = (&waiting, &stop, answers.clone());
            let work = move || work(task, how, waiting, stop, &answers);
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        }
        drop(answers);
        // The reader may wait for a row that never comes, and workers for the reader.
        write(answered, &free, output, how.ordered).inspect_err(|_| stop.store(true, Ordering::Relaxed))
    })?;
    match reader.join() {
        Ok(Ok(())) => Ok(counts),
        Err(_) => Err(Fatal::Internal { input: "-".to_owned() }),
        Ok(Err(error)) => Err(Fatal::Read { path: "-".into(), message: error.to_string() }),
    }
}

/// Reads portions of whole lines.
fn read(mut input: impl Read, places: &Receiver<()>, portions: &SyncSender<Portion>) -> io::Result<()> {
    let (mut number, mut line) = (0, 1);
    let mut rest: Vec<u8> = Vec::new();
    // Set while the rest of a line that is too long is skipped.
    let mut is_over = false;
    let mut send = |bytes: Vec<u8>, is_cut: bool| {
        let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(is_cut);
        let is_taken = places.recv().is_ok() && portions.send(Portion { number, line, bytes, is_cut }).is_ok();
        number += 1;
        line += lines;
        is_taken
    };
    loop {
        let start = rest.len();
        rest.resize(start + PORTION, 0);
        let count = loop {
            match input.read(&mut rest[start..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        rest.truncate(start + count);
        if count == 0 {
            if !is_over && !rest.trim_ascii().is_empty() {
                send(rest, false);
            }
            return Ok(());
        }
        if is_over {
            let Some(end) = memchr::memchr(b'\n', &rest) else {
                rest.clear();
                continue;
            };
            rest.drain(..=end);
            is_over = false;
        }
        // The earlier bytes contain no line end.
        let from = start.min(rest.len());
        if let Some(end) = memchr::memrchr(b'\n', &rest[from..]).map(|end| from + end) {
            let next = rest.split_off(end + 1);
            if !send(std::mem::replace(&mut rest, next), false) {
                return Ok(());
            }
        }
        if rest.len() > LONGEST {
            rest.truncate(0);
            is_over = true;
            if !send(Vec::new(), true) {
                return Ok(());
            }
        }
    }
}

fn work(task: &Task, how: How, waiting: &Mutex<Receiver<Portion>>, stop: &AtomicBool, answers: &SyncSender<Answered>) {
    let mut lines = Lines::new(task.worker(), how.paths);
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(IDLE);
        let Portion { number, line, bytes, is_cut } = match next {
            Ok(portion) => portion,
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => continue,
            Err(_) => return,
        };
        let mut out = Answered { number, bytes: Vec::new(), counts: BTreeMap::new() };
        if is_cut {
            let answer = Answer::refused(&format!("the row has more than {LONGEST} bytes"), &format!("line {line}"));
            Lines::write(&serde_json::Value::Null, line, &answer, &mut out.bytes);
            out.counts.insert(answer.verdict, 1);
        }
        for (row, number) in bytes.split(|byte| *byte == b'\n').zip(line..) {
            if !row.trim_ascii().is_empty() {
                *out.counts.entry(lines.line(number, row, &mut out.bytes)).or_default() += 1;
            }
        }
        if answers.send(out).is_err() {
            return;
        }
    }
}

/// Writes answers, and makes room for others. After an error, the channel is closed, so workers that wait for room in
/// it end.
fn write(
    answered: Receiver<Answered>,
    free: &SyncSender<()>,
    output: &mut impl Write,
    ordered: bool,
) -> Result<Counts, Fatal> {
    let mut counts = Counts::new();
    let (mut next, mut early) = (0, BTreeMap::new());
    for answer in answered {
        let number = if ordered { answer.number } else { next };
        early.insert(number, answer);
        while let Some(Answered { bytes, counts: own, .. }) = early.remove(&next) {
            next += 1;
            output.write_all(&bytes).and_then(|()| output.flush()).map_err(Fatal::Stdout)?;
            for (verdict, count) in own {
                *counts.entry(verdict).or_default() += count;
            }
            // At the end there is no reader any more.
            let _ = free.try_send(());
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns only a few bytes at a time.
    struct Slowly(io::Cursor<Vec<u8>>, usize);

    impl Read for Slowly {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(to.len());
            self.0.read(&mut to[..most])
        }
    }

    fn rows(text: &str, at_once: usize, how: How) -> (Counts, Vec<serde_json::Value>) {
        let mut out = Vec::new();
        let task = Task::check(kubeshape_check::Releases::default(), false);
        let input = Slowly(io::Cursor::new(text.as_bytes().to_vec()), at_once);
        let counts = pump(&task, input, &mut out, how).expect("answers");
        let line = |line: &[u8]| serde_json::from_slice(line).expect("JSON");
        (counts, out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(line).collect())
    }

    #[test]
    fn answers_come_in_order_if_requested() {
        let lines: Vec<String> = (0..500).map(|id| format!("{{\"id\": {id}, \"text\": \"a: {id}\"}}")).collect();
        let text = lines.join("\n");
        for (jobs, at_once) in [(1, 7), (3, 1000)] {
            let (counts, answers) = rows(&text, at_once, How { jobs, ordered: true, paths: false });
            assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("nothing", 500)]);
            let ids: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
            assert_eq!(ids, (0..500).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_broken_or_too_long_row_gets_an_answer() {
        let long = "x".repeat(LONGEST + PORTION);
        let text = format!(
            "{{\"id\": \"a\", \"text\": \"\"}}\n{{\"id\": \"b\n\n[1]\n{{\"id\": \"{long}\"}}\n{{\"id\": [2]}}\n\
             {{\"id\": \"p\", \"path\": \"/etc/passwd\"}}\n{{\"id\": 7, \"text\": 5}}"
        );
        let (_, answers) = rows(&text, 1 << 20, How { jobs: 2, ordered: true, paths: false });
        let told: Vec<String> = answers
            .iter()
            .map(|answer| {
                let detail = answer["findings"][0]["detail"].as_str().unwrap_or_default();
                let detail = detail.split(": ").next().unwrap_or_default();
                format!("{} {} {}: {detail}", answer["line"], answer["id"], answer["verdict"])
            })
            .collect();
        assert_eq!(
            told,
            [
                "1 \"a\" \"nothing\": ",
                "2 null \"refused\": the row is no JSON object",
                "4 null \"refused\": the row is no JSON object",
                "5 null \"refused\": the row has more than 16777216 bytes",
                "6 [2] \"refused\": the row has none of text, object, path and new",
                "7 \"p\" \"refused\": rows may name files only with --paths",
                "8 7 \"refused\": text, object, old and new must be strings or objects",
            ]
        );
    }

    #[test]
    fn no_rows_are_read_while_the_answers_are_not_read() {
        use std::sync::Arc;
        use std::sync::atomic::AtomicUsize;
        struct Endless(Arc<AtomicUsize>);
        impl Read for Endless {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                to.fill(b' ');
                if let [first, .., last] = to {
                    (*first, *last) = (b'x', b'\n');
                }
                self.0.fetch_add(to.len(), Ordering::Relaxed);
                Ok(to.len())
            }
        }
        struct Stuck(Arc<AtomicUsize>);
        impl Write for Stuck {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                std::thread::sleep(std::time::Duration::from_millis(200));
                assert!(self.0.load(Ordering::Relaxed) < 64 * PORTION);
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let count = Arc::new(AtomicUsize::new(0));
        let task = Task::diff();
        let how = How { jobs: 2, ordered: true, paths: false };
        let ended = pump(&task, Endless(Arc::clone(&count)), &mut Stuck(count), how);
        assert_eq!(ended.map_err(|error| error.exit_code()), Err(0));
    }
}
