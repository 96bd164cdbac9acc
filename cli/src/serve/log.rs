//! The log writes events of the server and its libraries to standard error.
//!
//! Strangers can cause events. So a separate thread writes them, and drops what it cannot write in time ([`Log`]).
//! Fields have a bounded length and no control characters ([`line`]). Repetition is counted instead of written
//! ([`repeated`]).

mod line;
mod repeated;

#[cfg(test)]
pub(super) use {
    line::FIELD,
    repeated::{WINDOW, WRITTEN},
};

use crate::args::{LogFormat, LogLevel, When};
use crate::report;
use kubeshape_server::Metrics;
use repeated::Repeated;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

/// The maximum number of lines that wait to be written. Further lines are dropped.
pub(super) const WAITING: usize = 4096;

/// How long the server waits at its end until everything is written.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// The log of a run.
pub(super) struct Log {
    queue: Queue,
    repeated: Arc<Repeated>,
    guard: WorkerGuard,
}

impl Log {
    /// Starts logging. Libraries log only warnings and errors, except at level `trace`, where they log everything.
    ///
    /// # Errors
    /// There is no thread to count repetition.
    pub(super) fn begin(format: LogFormat, level: LogLevel, color: When) -> io::Result<Log> {
        let filter = EnvFilter::new(match level {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "warn,kubeshape=info,kubeshape_server=info",
            LogLevel::Debug => "warn,kubeshape=debug,kubeshape_server=debug",
            LogLevel::Trace => "trace",
        });
        let written = Arc::new(AtomicU64::new(0));
        let stderr = Stderr { written: Arc::clone(&written) };
        let (writer, guard) =
            NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING).thread_name("log").finish(stderr);
        let queue = Queue { writer, sent: Arc::default(), written };
        let repeated = Arc::new(Repeated::default());
        let made = queue.clone();
        let layer = fmt::layer().with_writer(move || made.clone());
        let registry = tracing_subscriber::registry().with(filter).with(repeated::Layer(Arc::clone(&repeated)));
        // A second call has no effect.
        let _ = match format {
            LogFormat::Text => {
                let layer = layer.with_ansi(report::is_coloured(color)).with_target(false);
                registry.with(layer.fmt_fields(line::Fields)).try_init()
            }
            LogFormat::Json => registry.with(layer.with_ansi(false).event_format(line::Json)).try_init(),
        };
        // The default hook writes to standard error and waits for its reader.
        std::panic::set_hook(Box::new(|panic| {
            let backtrace = Backtrace::capture();
            let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
            tracing::error!(backtrace, "{panic}");
        }));
        let counted = Arc::clone(&repeated);
        Builder::new().name("log-repeated".to_owned()).spawn(move || {
            loop {
                sleep(repeated::WINDOW);
                counted.tell();
            }
        })?;
        Ok(Log { queue, repeated, guard })
    }

    /// Writes a text between the lines of the log, whatever its length.
    pub(super) fn write(&mut self, text: &str) {
        if !text.is_empty() {
            // This cannot fail: what cannot be written is counted.
            let _ = self.queue.write_all(text.as_bytes());
        }
    }

    /// Waits until everything is written, which takes as long as the reader needs.
    pub(super) fn settle(&self) {
        while self.queue.waiting() > 0 {
            sleep(Duration::from_millis(1));
        }
    }

    /// Waits while so many lines wait that more could be dropped.
    pub(super) fn make_room(&self) {
        if self.queue.waiting() > WAITING as u64 / 2 {
            self.settle();
        }
    }

    /// Returns a function that sets the metrics of the log.
    pub(super) fn measure(&self) -> impl Fn(&Metrics) + Send + Sync + 'static {
        let (queue, repeated) = (self.queue.clone(), Arc::clone(&self.repeated));
        move |metrics| metrics.log_lines(queue.dropped(), repeated.count())
    }

    /// Ends logging. Waits until everything is written, but only for a limited time.
    pub(super) fn end(self) {
        self.repeated.tell();
        let until = Instant::now() + PATIENCE;
        while self.queue.waiting() > 0 && Instant::now() < until {
            sleep(Duration::from_millis(1));
        }
        // Dropping the guard would wait again, and print to standard output if that wait was in vain.
        std::mem::forget(self.guard);
    }
}

/// The queue to the thread that writes.
#[derive(Clone)]
struct Queue {
    writer: NonBlocking,
    /// The number of lines that were given to the thread, or dropped.
    sent: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl Queue {
    fn dropped(&self) -> u64 {
        self.writer.error_counter().dropped_lines() as u64
    }

    /// Returns the number of lines that are not written yet.
    fn waiting(&self) -> u64 {
        let done = self.written.load(Acquire) + self.dropped();
        self.sent.load(Acquire).saturating_sub(done)
    }
}

impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.sent.fetch_add(1, Release);
        self.writer.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard error, with a count of the lines written.
struct Stderr {
    written: Arc<AtomicU64>,
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write(bytes)
    }

    fn write_all(&mut self, line: &[u8]) -> io::Result<()> {
        let result = io::stderr().lock().write_all(line);
        self.written.fetch_add(1, Release);
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}
