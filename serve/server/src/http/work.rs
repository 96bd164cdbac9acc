//! Work that takes too long for the threads that answer requests: printing, compressing and merging large documents.

use super::queue::{End, Full, LONG_AFTER, Owner, Place, Queue};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

pub(crate) use super::queue::MOST_WAITING;

/// Printing, hashing or compressing a larger content takes more than about a millisecond.
pub(crate) const LARGE: usize = 32 << 10;

/// How much lower the priority of threads for greedy clients is: they have about a tenth of the time of others.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Threads for long work. One processor is left for short requests.
#[derive(Debug)]
pub(super) struct Workshop {
    queue: Arc<Queue>,
    /// The time limit of the work for a request.
    most: Duration,
    /// The shared jobs that are running, and whether each is done.
    shared: Mutex<BTreeMap<Job, watch::Receiver<bool>>>,
}

/// Something that is kept after it is computed: the address of its owner, and which form of it.
pub(super) type Job = (usize, u8);

/// Why work was not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotDone {
    /// Too many requests are waiting.
    #[error("{MOST_WAITING} requests wait already")]
    Full,
    /// It takes too long.
    #[error("it takes too long")]
    TooLong,
    /// It panicked, or the server ends.
    #[error("it was interrupted")]
    Interrupted,
}

impl From<Full> for NotDone {
    fn from(_: Full) -> NotDone {
        NotDone::Full
    }
}

/// The result of a job, and whether it was stopped because others waited. If the job checked its flag, the result of a
/// stopped job is incomplete.
#[derive(Debug)]
pub(super) struct Done<T> {
    pub(super) made: T,
    pub(super) made_room: bool,
}

/// Stops a job when no request waits for it any more.
struct StopWhenLeft {
    end: Arc<End>,
    place: Arc<Place>,
}

impl Drop for StopWhenLeft {
    fn drop(&mut self) {
        self.end.stop.store(true, Relaxed);
        // It may continue to run for a while.
        self.place.takes_long();
    }
}

impl Workshop {
    /// Creates threads for jobs with this time limit.
    pub(super) fn new(most: Duration) -> Workshop {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Workshop::with_threads((processors - 1).max(1), most)
    }

    fn with_threads(count: usize, most: Duration) -> Workshop {
        Workshop { queue: Queue::new(count), most, shared: Mutex::default() }
    }

    fn shared(&self) -> MutexGuard<'_, BTreeMap<Job, watch::Receiver<bool>>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job on another thread, once for all requests that need its result meanwhile. Waiting requests use no
    /// threads, so no client can block others by many requests.
    ///
    /// `make` returns the owner of the result. Its address is that of the job.
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
                    let place = shop.queue.place(Owner::Server).await.ok();
                    let making = tokio::task::spawn_blocking(make);
                    let made = waited(making, place.as_ref()).await;
                    drop(place);
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

    /// Does the work for one request on another thread, when it is the client's turn. The work gets a flag that is set
    /// when it must stop: it takes too long, the request is gone, or others wait. It keeps its thread until it ends.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        owner: Owner,
        work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> Result<Done<T>, NotDone> {
        let _working = crate::listen::working();
        let place = Arc::new(self.queue.place(owner).await?);
        let end = place.end();
        let is_greedy = place.is_greedy();
        let work = {
            let (end, place) = (Arc::clone(&end), Arc::clone(&place));
            move || {
                let done = work(&end.stop);
                drop(place);
                done
            }
        };
        let left = StopWhenLeft { end, place };
        let done = if is_greedy {
            timeout(self.most, waited(behind_others(work), Some(&left.place))).await.map(Result::ok)
        } else {
            let working = tokio::task::spawn_blocking(work);
            timeout(self.most, waited(working, Some(&left.place))).await.map(Result::ok)
        };
        let made = done.map_err(|_| NotDone::TooLong)?.ok_or(NotDone::Interrupted)?;
        Ok(Done { made, made_room: left.end.was_for_others() })
    }
}

/// Does work on a thread of its own, on which other threads have priority. (The priority of a thread can only get
/// lower, so no thread of the runtime can be used.)
fn behind_others<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (done, working) = oneshot::channel();
    let runtime = Handle::current();
    let run = move || {
        lower_priority();
        BEHIND.set(Some(runtime));
        let _ = done.send(work());
    };
    // Without a thread, the receiver says that the work was interrupted.
    let _ = std::thread::Builder::new().name("kubeshape-greedy".to_owned()).spawn(run);
    working
}

thread_local! {
    /// On a thread with a lower priority: the runtime, whose threads have the usual one.
    static BEHIND: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

/// Returns whether other threads have priority over this one.
pub(crate) fn is_behind_others() -> bool {
    BEHIND.with_borrow(Option::is_some)
}

/// Does work with the usual priority: on this thread if it has it, otherwise on another one. Work that holds a lock goes
/// here: on a thread that must let others pass, it would hold the lock while these others wait for it. `None` if the server
/// ends, or the work panics.
pub(crate) fn in_front<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let Some(runtime) = BEHIND.with_borrow(Option::clone) else { return Some(work()) };
    let (done, working) = mpsc::channel();
    // A new thread has the priority of the one that starts it, so a thread of the runtime does.
    runtime.spawn(async move { tokio::task::spawn_blocking(move || done.send(work())).await });
    working.recv().ok()
}

/// Lowers the priority of this thread where threads have one.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE);
}

/// Waits for a job. If it takes long, it makes room for short ones.
async fn waited<W: Future + Unpin>(mut working: W, place: Option<&impl std::borrow::Borrow<Place>>) -> W::Output {
    if let Ok(done) = timeout(LONG_AFTER, &mut working).await {
        return done;
    }
    if let Some(place) = place {
        place.borrow().takes_long();
    }
    working.await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Caller;
    use std::sync::atomic::AtomicUsize;
    use tokio::time::Instant;

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn locks_are_held_on_threads_with_the_usual_priority() {
        let place = || std::thread::current().name().map(str::to_owned);
        assert!(!is_behind_others());
        assert_eq!(in_front(place), Some(place()));
        let working =
            behind_others(move || (is_behind_others(), place(), in_front(move || (is_behind_others(), place()))));
        let (is_behind, here, in_front) = working.await.expect("a thread");
        let (is_still_behind, there) = in_front.expect("a runtime");
        assert!(is_behind && !is_still_behind);
        assert_ne!(here, there);
    }

    fn client(name: &str) -> Owner {
        Owner::Client(Some(Caller::User(name.into())))
    }

    /// Works until it is stopped.
    fn endless(stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn waiting_and_simultaneous_work_are_bounded() {
        let shop = Arc::new(Workshop::with_threads(2, LONG));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..MOST_WAITING + 100)
            .map(|_| {
                let (shop, now, most) = (Arc::clone(&shop), Arc::clone(&now), Arc::clone(&most));
                tokio::spawn(async move {
                    let work = move |_: &AtomicBool| {
                        most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
                        std::thread::sleep(Duration::from_micros(500));
                        now.fetch_sub(1, Relaxed);
                    };
                    shop.run(client("a"), work).await.is_ok()
                })
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            done += usize::from(task.await.expect("no panic"));
        }
        assert!(done >= MOST_WAITING, "{done}");
        // A thread can lose its processor for so long that its job becomes a long one.
        assert!(most.load(Relaxed) <= 8, "{most:?}");
        assert!(shop.run(client("a"), |_| panic!("on purpose")).await.is_err());
        assert!(shop.run(client("a"), |_| ()).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn work_that_takes_too_long_is_stopped() {
        let shop = Arc::new(Workshop::with_threads(1, Duration::from_millis(200)));
        let began = Instant::now();
        assert!(matches!(shop.run(client("a"), endless).await, Err(NotDone::TooLong)));
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(shop.run(client("a"), |_| ()).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn work_is_stopped_when_its_client_is_gone() {
        let shop = Arc::new(Workshop::with_threads(1, LONG));
        for _ in 0..20 {
            let gone = timeout(Duration::from_millis(5), shop.run(client("a"), endless)).await;
            assert!(gone.is_err());
        }
        let began = Instant::now();
        assert!(shop.run(client("a"), |_| ()).await.is_ok());
        assert!(began.elapsed() < Duration::from_secs(5));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn long_work_of_a_client_delays_no_other_client() {
        let shop = Arc::new(Workshop::with_threads(1, LONG));
        let greedy: Vec<_> = (0..100)
            .map(|_| {
                let shop = Arc::clone(&shop);
                tokio::spawn(async move { shop.run(client("a"), endless).await.is_ok() })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        for _ in 0..10 {
            let began = Instant::now();
            assert!(shop.run(client("b"), |_| ()).await.is_ok());
            assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        }
        greedy.iter().for_each(tokio::task::JoinHandle::abort);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn shared_work_is_done_once_and_blocks_no_client() {
        let shop = Arc::new(Workshop::with_threads(1, LONG));
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
        // Far more than the number of requests that may wait for their own responses.
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
