//! Work that is too long for the threads that answer requests: printing, compressing and merging large documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::Semaphore;

/// Requests that can wait for work to be done.
const MOST_WAITING: usize = 1024;

/// A content above this size takes more than about a millisecond to print, hash or compress.
pub(super) const LARGE: usize = 32 << 10;

/// Threads for long work. One processor is left for short requests.
#[derive(Debug)]
pub(super) struct Workshop {
    threads: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Default for Workshop {
    fn default() -> Workshop {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Workshop { threads: Arc::new(Semaphore::new((processors - 1).max(1))), waiting: AtomicUsize::new(0) }
    }
}

/// Why work was not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotDone {
    /// Too many requests wait.
    #[error("{MOST_WAITING} requests wait for documents already")]
    Full,
    /// It panicked, or the server ends.
    #[error("{0}")]
    Interrupted(#[from] tokio::task::JoinError),
}

/// Counts a request that waits until it is dropped.
struct Waiting<'w>(&'w AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Workshop {
    /// Does the work on another thread, when it is its turn.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotDone> {
        let permit = {
            let before = self.waiting.fetch_add(1, Relaxed);
            let _waiting = Waiting(&self.waiting);
            if before >= MOST_WAITING {
                return Err(NotDone::Full);
            }
            Arc::clone(&self.threads).acquire_owned().await.ok()
        };
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            // If nobody waits for it any more, it takes its place until it is done all the same.
            drop(permit);
            done
        });
        Ok(done.await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn those_who_wait_are_bounded_and_work_at_once_is_too() {
        let shop = Arc::new(Workshop { threads: Arc::new(Semaphore::new(2)), waiting: AtomicUsize::new(0) });
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..MOST_WAITING + 100)
            .map(|_| {
                let (shop, now, most) = (Arc::clone(&shop), Arc::clone(&now), Arc::clone(&most));
                tokio::spawn(async move {
                    let work = move || {
                        most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
                        std::thread::sleep(Duration::from_micros(500));
                        now.fetch_sub(1, Relaxed);
                    };
                    shop.run(work).await.is_ok()
                })
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            done += usize::from(task.await.expect("no panic"));
        }
        assert!(done >= MOST_WAITING, "{done}");
        assert!(most.load(Relaxed) <= 2);
        assert_eq!(shop.waiting.load(Relaxed), 0);
        assert!(shop.run(|| panic!("on purpose")).await.is_err());
        assert!(shop.run(|| ()).await.is_ok());
    }
}
