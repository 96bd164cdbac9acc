//! Conversion of many files in parallel, with commits in order.
//!
//! Workers are never more than a window ahead of the commit, so that the memory for waiting results does not grow with
//! the number of files. The window has two blocks, and in a block each worker has its own lane: neighboring files are
//! often about the same subject, and a worker would have to wait for data that another one prepares for them. The
//! commit runs on the calling thread and sees the files in order.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Files in flight per worker, for large results. Sizes of files differ by a factor of 1,000: while one worker converts
/// a large file, the others must not wait for it.
pub(crate) const WINDOW: usize = 32;
/// Files that a worker takes together, if there are many: taking one costs as much as a small file.
const MOST_AT_ONCE: usize = 16;
/// The minimum number of portions for each worker, so that all of them end at about the same time.
const PORTIONS: usize = 128;
/// Stack size of threads. Limits on depth bound the recursion, and this is more than enough for it.
pub(crate) const STACK: usize = 32 << 20;
/// How often `commit` is called while there is nothing to commit.
const IDLE: Duration = Duration::from_millis(200);

/// Returns the number of threads: as given, else one per core.
pub(crate) fn jobs(given: Option<u16>) -> usize {
    given.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// Creates threads with stacks that are large enough for conversions.
///
/// # Errors
/// Threads cannot be started.
pub(crate) fn pool(jobs: usize) -> std::io::Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).stack_size(STACK).build();
    pool.map_err(std::io::Error::other)
}

struct State<R> {
    /// The rest of the current block, for each worker.
    lanes: Vec<Range<usize>>,
    /// The first file of the next block.
    next: usize,
    /// Number of files that were committed.
    committed: usize,
    /// Results of the files after the committed ones.
    waiting: VecDeque<Option<R>>,
    /// Whether the commit waits for the next result.
    is_commit_idle: bool,
    /// Number of workers that wait for room.
    idle_workers: usize,
    stop: bool,
}

impl<R> State<R> {
    /// Returns the next portion of a worker: from its own lane, or from the fullest one when that is empty. `None` if
    /// all files of the block are taken.
    fn take(&mut self, worker: usize, at_once: usize) -> Option<Range<usize>> {
        let fullest = || (0..self.lanes.len()).max_by_key(|lane| self.lanes[*lane].len());
        let own = Some(worker).filter(|own| self.lanes.get(*own).is_some_and(|lane| !lane.is_empty()));
        let from = own.or_else(fullest)?;
        let lane = self.lanes.get_mut(from).filter(|lane| lane.start < lane.end)?;
        let first = lane.start;
        lane.start = lane.end.min(first + at_once);
        Some(first..lane.start)
    }

    /// Begins the next block. Returns whether there is room for one.
    fn begin(&mut self, portions: Portions) -> bool {
        let Portions { count, window, jobs, .. } = portions;
        let end = count.min(self.next + (window / 2).max(1));
        if end > self.committed + window {
            return false;
        }
        let (start, length) = (self.next, end - self.next);
        let place = |lane: usize| start + length * lane / jobs;
        self.lanes = (0..jobs).map(|lane| place(lane)..place(lane + 1)).collect();
        self.waiting.extend((start..end).map(|_| None));
        self.next = end;
        true
    }
}

struct Shared<R> {
    state: Mutex<State<R>>,
    ready: Condvar,
    room: Condvar,
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the workers when it is dropped, also after a panic of the commit.
struct StopAtEnd<'a, R>(&'a Shared<R>);

impl<R> Drop for StopAtEnd<'_, R> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.room.notify_all();
    }
}

/// Runs the numbers `0..count` through `jobs` workers, and commits their results in order until one commit fails.
/// `window` is the number of files in flight per worker.
///
/// `worker` creates a worker for each thread. A result is `None` if the worker panicked. From time to time, `commit` is
/// called with `None` while there is nothing to commit.
///
/// # Errors
/// Threads cannot be started, or `commit` fails.
pub(crate) fn run<R: Send, W: FnMut(usize) -> R, E: From<std::io::Error>>(
    jobs: usize,
    window: usize,
    count: usize,
    worker: impl Fn() -> W + Sync,
    mut commit: impl FnMut(Option<(usize, Option<R>)>) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = jobs.min(count).max(1);
    let window = jobs * window;
    let at_once = (count / (jobs * PORTIONS)).clamp(1, MOST_AT_ONCE);
    let pool = pool(jobs)?;
    let state = State {
        lanes: Vec::new(),
        next: 0,
        committed: 0,
        waiting: VecDeque::new(),
        is_commit_idle: false,
        idle_workers: 0,
        stop: false,
    };
    let shared: Shared<Option<R>> = Shared { state: Mutex::new(state), ready: Condvar::new(), room: Condvar::new() };
    pool.in_place_scope(|scope| {
        let _stop = StopAtEnd(&shared);
        let (shared, worker) = (&shared, &worker);
        for number in 0..jobs {
            scope.spawn(move |_| work(shared, number, Portions { count, window, at_once, jobs }, worker));
        }
        let mut ready = Vec::with_capacity(at_once);
        let mut state = shared.lock();
        while state.committed < count {
            let first = state.committed;
            while ready.len() < at_once
                && let Some(result) = state.waiting.front_mut().and_then(Option::take)
            {
                state.waiting.pop_front();
                ready.push(result);
            }
            if ready.is_empty() {
                state.is_commit_idle = true;
                let (mut guard, timeout) =
                    shared.ready.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
                guard.is_commit_idle = false;
                if timeout.timed_out() {
                    drop(guard);
                    commit(None)?;
                    guard = shared.lock();
                }
                state = guard;
                continue;
            }
            state.committed += ready.len();
            let someone_waits = state.idle_workers > 0;
            drop(state);
            if someone_waits {
                shared.room.notify_all();
            }
            for (number, result) in (first..).zip(ready.drain(..)) {
                commit(Some((number, result)))?;
            }
            state = shared.lock();
        }
        Ok(())
    })
}

/// How the files are divided.
#[derive(Clone, Copy)]
struct Portions {
    count: usize,
    /// Files that are taken before the first of them is committed.
    window: usize,
    at_once: usize,
    jobs: usize,
}

fn work<R, W: FnMut(usize) -> R>(shared: &Shared<Option<R>>, own: usize, portions: Portions, worker: impl Fn() -> W) {
    let Portions { count, at_once, .. } = portions;
    let mut run = worker();
    let mut results = Vec::with_capacity(at_once);
    loop {
        let mut state = shared.lock();
        let numbers = loop {
            if state.stop {
                return;
            }
            if let Some(numbers) = state.take(own, at_once) {
                break numbers;
            }
            if state.next >= count {
                return;
            }
            if !state.begin(portions) {
                state.idle_workers += 1;
                state = shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle_workers -= 1;
            }
        };
        drop(state);
        let first = numbers.start;
        for number in numbers {
            // After a panic the state of a worker is unknown, so the next file gets a new one.
            let result = catch_unwind(AssertUnwindSafe(|| run(number))).ok();
            if result.is_none() {
                run = worker();
            }
            results.push(result);
        }
        let mut state = shared.lock();
        let place = first - state.committed;
        for (slot, result) in state.waiting.range_mut(place..).zip(results.drain(..)) {
            *slot = Some(result);
        }
        // Waking a thread costs as much as converting a small file.
        let is_awaited = place == 0 && state.is_commit_idle;
        drop(state);
        if is_awaited {
            shared.ready.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn commits_come_in_order_for_any_number_of_workers() -> std::io::Result<()> {
        for (jobs, count) in [(1, 200), (2, 200), (3, 2_000), (16, 200), (7, 3)] {
            let mut seen = Vec::new();
            let worker = || {
                |n: usize| {
                    std::thread::sleep(Duration::from_micros((n as u64 * 7919) % 300));
                    n * n
                }
            };
            run(jobs, WINDOW, count, worker, |done| {
                seen.extend(done);
                Ok::<_, std::io::Error>(())
            })?;
            assert_eq!(seen, (0..count).map(|n| (n, Some(n * n))).collect::<Vec<_>>());
        }
        Ok(())
    }

    #[test]
    fn nothing_runs_far_ahead_of_the_commit() -> std::io::Result<()> {
        let (started, mut committed) = (AtomicUsize::new(0), 0);
        run(
            2,
            WINDOW,
            100,
            || |_| started.fetch_add(1, Ordering::SeqCst),
            |done| {
                assert!(started.load(Ordering::SeqCst) <= committed + 1 + 2 * WINDOW);
                committed += usize::from(done.is_some());
                Ok::<_, std::io::Error>(())
            },
        )
    }

    #[test]
    fn an_error_of_the_commit_ends_the_batch() {
        let started = AtomicUsize::new(0);
        let result = run(
            2,
            WINDOW,
            100_000,
            || |_| started.fetch_add(1, Ordering::SeqCst),
            |_| Err::<(), _>(std::io::Error::from(std::io::ErrorKind::StorageFull)),
        );
        assert_eq!(result.map_err(|error| error.kind()), Err(std::io::ErrorKind::StorageFull));
        assert!(started.load(Ordering::SeqCst) < 1000);
    }

    #[test]
    fn a_panic_concerns_one_file() -> std::io::Result<()> {
        let mut lost = Vec::new();
        let worker = || {
            |n: usize| {
                assert!(n != 3, "told to");
                n
            }
        };
        run(2, WINDOW, 5, worker, |done| {
            lost.extend(done.filter(|(_, result)| result.is_none()).map(|(n, _)| n));
            Ok::<_, std::io::Error>(())
        })?;
        assert_eq!(lost, [3]);
        Ok(())
    }

    #[test]
    fn an_empty_batch_ends_immediately() -> std::io::Result<()> {
        run(4, WINDOW, 0, || |n: usize| n, |_| Ok::<_, std::io::Error>(()))
    }
}
