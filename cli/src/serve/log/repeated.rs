//! Limits repetition: only a certain number of messages of a kind are written in a window of time. For the rest, only
//! their number is written.

use crate::serve::finding;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;

/// The time over which messages are counted.
pub(in crate::serve) const WINDOW: Duration = Duration::from_secs(10);

/// The maximum number of messages of a kind that are written in a window.
pub(in crate::serve) const WRITTEN: u64 = 100;

/// The target of the messages with the number of unwritten messages.
const TARGET: &str = "kubeshape::log";

/// The messages of the current window.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    kinds: Mutex<HashMap<Identifier, Kind>>,
    total: AtomicU64,
}

/// A kind of message: all messages of one place in the code.
#[derive(Debug)]
struct Kind {
    level: Level,
    message: String,
    count: u64,
}

impl Repeated {
    /// Counts an event. Returns whether it is written.
    fn admits(&self, event: &Event<'_>) -> bool {
        let metadata = event.metadata();
        let level = *metadata.level();
        // Users who ask for more detail want all of it. Findings come from the inputs, and none of them may be missing.
        if level > Level::INFO || metadata.target() == TARGET || metadata.target() == finding::TARGET {
            return true;
        }
        let mut kinds = self.kinds();
        let kind = kinds.entry(metadata.callsite()).or_insert_with(|| {
            let mut message = Message::default();
            event.record(&mut message);
            Kind { level, message: message.0, count: 0 }
        });
        kind.count += 1;
        kind.count <= WRITTEN
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<Identifier, Kind>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of messages that were counted but not written.
    pub(super) fn count(&self) -> u64 {
        let now: u64 = self.kinds().values().map(|kind| kind.count.saturating_sub(WRITTEN)).sum();
        self.total.load(Relaxed) + now
    }

    /// Ends the window, and logs the number of messages that were not written.
    pub(super) fn tell(&self) {
        let kinds = std::mem::take(&mut *self.kinds());
        for Kind { level, message, count } in kinds.into_values().filter(|kind| kind.count > WRITTEN) {
            let more = count - WRITTEN;
            self.total.fetch_add(more, Relaxed);
            match level {
                Level::ERROR => tracing::error!(target: TARGET, like = message, "{more} more like this"),
                Level::WARN => tracing::warn!(target: TARGET, like = message, "{more} more like this"),
                _ => tracing::info!(target: TARGET, like = message, "{more} more like this"),
            }
        }
    }
}

/// The message of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = super::line::cut(format_args!("{value:?}"));
        }
    }
}

/// A layer that holds back messages that are repeated too often.
pub(super) struct Layer(pub(super) Arc<Repeated>);

impl<S: Subscriber> tracing_subscriber::Layer<S> for Layer {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.0.admits(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use tracing_subscriber::layer::SubscriberExt as _;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_kind_of_message_is_written_a_hundred_times_and_then_counted() {
        let (repeated, kept) = (Arc::new(Repeated::default()), Kept::default());
        let writer = kept.clone();
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(Layer(Arc::clone(&repeated))).with(layer);
        tracing::subscriber::with_default(subscriber, || {
            for n in 0..1000 {
                tracing::info!(n, "one");
                tracing::debug!(n, "two");
            }
            tracing::warn!("three");
            assert_eq!(repeated.count(), 900);
            repeated.tell();
            repeated.tell();
            assert_eq!(repeated.count(), 900);
            tracing::info!("one");
        });
        let log = String::from_utf8(kept.0.lock().expect("no panic").clone()).expect("text");
        let of = |text: &str| log.lines().filter(|line| line.contains(text)).count();
        assert_eq!((of(": one n="), of(": two n="), of(": three")), (100, 1000, 1));
        assert_eq!(of("900 more like this like=\"one\""), 1, "{log}");
        assert_eq!(log.lines().count(), 1103);
    }
}
