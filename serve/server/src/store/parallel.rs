//! Work on several threads.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// With fewer items, starting threads is not worth it.
const FEW: usize = 16;

/// Returns the results of `work` for all items, in order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let in_turn = || items.iter().map(&work).collect();
    if items.len() < FEW {
        return in_turn();
    }
    // This call takes some 50 us on Linux, which reads the limits of control groups.
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(8);
    if threads == 1 {
        return in_turn();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut all = run();
        for worker in workers {
            match worker.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
