//! The limits of simultaneous proxied requests to a server: for all clients, and for each.

use super::failure::Failure;
use crate::limit::Caller;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The permits of one server.
#[derive(Debug)]
pub(super) struct Permits {
    all: Arc<Semaphore>,
    each: usize,
    clients: Arc<Clients>,
}

/// The permits of clients that have or wait for one.
type Clients = Mutex<HashMap<Caller, Client>>;

#[derive(Debug)]
struct Client {
    permits: Arc<Semaphore>,
    requests: usize,
}

/// A request that may be proxied.
#[derive(Debug)]
pub(super) struct Permit {
    _all: OwnedSemaphorePermit,
    _own: Option<(OwnedSemaphorePermit, Request)>,
}

impl Permits {
    /// Creates `all` permits. A client has at most `each` of them.
    pub(super) fn new(all: usize, each: usize) -> Permits {
        Permits { all: Arc::new(Semaphore::new(all)), each, clients: Arc::default() }
    }

    /// Waits for a permit until `end`. A request without a client is only limited by `all`.
    ///
    /// # Errors
    /// There is none in time.
    pub(super) async fn acquire(&self, caller: Option<&Caller>, end: Instant) -> Result<Permit, Failure> {
        let own = match caller {
            None => None,
            Some(caller) => {
                let (request, permits) = Request::of(caller, self.each, &self.clients);
                let Ok(Ok(permit)) = timeout_at(end, permits.acquire_owned()).await else {
                    return Err(Failure::ClientBusy);
                };
                Some((permit, request))
            }
        };
        match timeout_at(end, Arc::clone(&self.all).acquire_owned()).await {
            Ok(Ok(all)) => Ok(Permit { _all: all, _own: own }),
            Ok(Err(_)) | Err(_) => Err(Failure::Busy),
        }
    }
}

/// A request of a client. A client without requests is forgotten.
#[derive(Debug)]
struct Request {
    caller: Caller,
    clients: Arc<Clients>,
}

impl Request {
    fn of(caller: &Caller, each: usize, clients: &Arc<Clients>) -> (Request, Arc<Semaphore>) {
        let mut known = clients.lock().unwrap_or_else(PoisonError::into_inner);
        let client = known
            .entry(caller.clone())
            .or_insert_with(|| Client { permits: Arc::new(Semaphore::new(each)), requests: 0 });
        client.requests += 1;
        (Request { caller: caller.clone(), clients: Arc::clone(clients) }, Arc::clone(&client.permits))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut known = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut client) = known.entry(self.caller.clone()) {
            client.get_mut().requests -= 1;
            if client.get().requests == 0 {
                client.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_client_leaves_permits_to_others_and_is_forgotten() {
        let permits = Permits::new(3, 2);
        let [one, two] = ["one", "two"].map(|user| Caller::User(user.into()));
        let soon = || Instant::now() + Duration::from_millis(5);
        let first = permits.acquire(Some(&one), soon()).await.expect("free");
        let second = permits.acquire(Some(&one), soon()).await.expect("free");
        assert_eq!(permits.acquire(Some(&one), soon()).await.map(|_| ()), Err(Failure::ClientBusy));
        let third = permits.acquire(Some(&two), soon()).await.expect("free");
        assert_eq!(permits.acquire(Some(&two), soon()).await.map(|_| ()), Err(Failure::Busy));
        assert_eq!(permits.acquire(None, soon()).await.map(|_| ()), Err(Failure::Busy));
        drop(first);
        drop(permits.acquire(Some(&one), soon()).await.expect("free"));
        drop((second, third));
        assert!(permits.clients.lock().expect("no panic").is_empty());
        assert_eq!(permits.all.available_permits(), 3);
    }
}
