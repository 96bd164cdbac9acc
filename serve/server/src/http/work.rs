//! Work that is too long for the threads that answer requests: printing, compressing and merging large documents.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, watch};

/// Requests that can wait for an answer of their own.
pub(crate) const MOST_WAITING: usize = 1024;

/// A content above this size takes more than about a millisecond to print, hash or compress.
pub(crate) const LARGE: usize = 32 << 10;

/// Threads for long work. One processor is left for short requests.
#[derive(Debug)]
pub(super) struct Workshop {
    threads: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// What is being made for all who wait for it, and whether it is done.
    shared: Mutex<BTreeMap<Job, watch::Receiver<bool>>>,
}

/// Something that is kept once it is made: the address of what keeps it, and which form of it.
pub(super) type Job = (usize, u8);

impl Default for Workshop {
    fn default() -> Workshop {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Workshop::with_threads((processors - 1).max(1))
    }
}

/// Why work was not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotDone {
    /// Too many requests wait.
    #[error("{MOST_WAITING} requests wait for documents already")]
    Full,
    /// It panicked, or the server ends.
    #[error("it was interrupted")]
    Interrupted,
}

/// Counts a request that waits until it is dropped.
struct Waiting<'w>(&'w AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Workshop {
    fn with_threads(count: usize) -> Workshop {
        Workshop { threads: Arc::new(Semaphore::new(count)), waiting: AtomicUsize::new(0), shared: Mutex::default() }
    }

    fn shared(&self) -> MutexGuard<'_, BTreeMap<Job, watch::Receiver<bool>>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has something made on another thread, once for all who ask for it meanwhile. So those who wait take no places, and
    /// no client can keep others out by many requests.
    ///
    /// `make` returns what keeps the result. Its address is that of the job.
    pub(super) async fn share<T: Send + 'static>(
        self: &Arc<Self>,
        job: Job,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(), NotDone> {
        let _working = crate::listen::working();
        let mut done = {
            let mut shared = self.shared();
            if let Some(done) = shared.get(&job) {
                done.clone()
            } else {
                let (sender, done) = watch::channel(false);
                shared.insert(job, done.clone());
                let shop = Arc::clone(self);
                tokio::spawn(async move {
                    let permit = Arc::clone(&shop.threads).acquire_owned().await.ok();
                    let made = tokio::task::spawn_blocking(make).await;
                    drop(permit);
                    shop.shared().remove(&job);
                    if made.is_ok() {
                        sender.send_replace(true);
                    }
                    // Until here, nothing else can have the address.
                    drop(made);
                });
                done
            }
        };
        done.wait_for(|is_done| *is_done).await.map(|_| ()).map_err(|_| NotDone::Interrupted)
    }

    /// Does the work for one request on another thread, when it is its turn.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotDone> {
        let _working = crate::listen::working();
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
            // It keeps its place until it is done, even if no request waits for it any more.
            drop(permit);
            done
        });
        done.await.map_err(|_| NotDone::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn those_who_wait_are_bounded_and_work_at_once_is_too() {
        let shop = Arc::new(Workshop::with_threads(2));
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

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_many_ask_for_is_made_once_and_keeps_nobody_out() {
        let shop = Arc::new(Workshop::with_threads(1));
        let made = Arc::new(AtomicUsize::new(0));
        let ask = |job: Job| {
            let (shop, made) = (Arc::clone(&shop), Arc::clone(&made));
            tokio::spawn(async move {
                let make = move || {
                    std::thread::sleep(Duration::from_millis(50));
                    made.fetch_add(1, Relaxed)
                };
                shop.share(job, make).await.is_ok()
            })
        };
        // Far more than those who may wait for answers of their own.
        let crowd: Vec<_> = (0..MOST_WAITING * 4).map(|_| ask((1, 0))).collect();
        assert!(ask((2, 0)).await.expect("no panic"));
        for one in crowd {
            assert!(one.await.expect("no panic"));
        }
        assert!(made.load(Relaxed) < 20, "{made:?}");
        assert!(shop.shared().is_empty());
        assert!(shop.share((3, 0), || panic!("on purpose")).await.is_err());
        assert!(shop.shared().is_empty());
    }
}
