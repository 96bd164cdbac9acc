//! Bodies of requests and responses that are completely in memory, within their common limit.

use crate::limit::{Caller, Full, Held, Holdings, Limits, Share};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use tokio::sync::Notify;

/// The size of the first chunk of a response. It is small, because a connection keeps chunks until its client reads
/// them.
const FIRST_CHUNK: usize = 4 << 10;
const CHUNK: usize = 32 << 10;
/// A response of this size is not counted. A stream needs more memory without any response.
pub(crate) const UNCOUNTED: usize = 1 << 10;

/// The limits of bodies.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    received: Arc<Holdings>,
    sent: Arc<Holdings>,
}

/// Room for a response before it is computed.
#[derive(Debug)]
pub(super) struct Reserved {
    _share: Share,
}

/// A response that is being computed, of which nothing can be given up.
struct Making;

impl Held for Making {
    fn give_up(&self) {}
}

impl Bodies {
    /// Reserves room for a response before it is computed.
    ///
    /// # Errors
    /// There is no room for it.
    pub(super) fn reserve(&self, caller: Option<Caller>, bytes: usize) -> Result<Reserved, Full> {
        let making: Weak<dyn Held> = Weak::<Making>::new();
        let share = self.sent.hold(caller, bytes, making)?;
        share.pin();
        Ok(Reserved { _share: share })
    }

    pub(super) fn new(limits: &Limits) -> Bodies {
        Bodies { received: Holdings::new(limits.received_bytes), sent: Holdings::new(limits.sent_bytes) }
    }
}

/// Why the body of a request is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// It is too long, or the client aborted.
    Unusable,
    /// There is no room.
    Full,
}

impl From<Full> for Missing {
    fn from(_: Full) -> Missing {
        Missing::Full
    }
}

/// A body that is being received.
#[derive(Debug, Default)]
struct Receiving {
    /// The received bytes; `None` when they had to be given up.
    bytes: Mutex<Option<Vec<u8>>>,
    given_up: Notify,
}

impl Receiving {
    fn bytes(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held for Receiving {
    fn give_up(&self) {
        drop(self.bytes().take());
        self.given_up.notify_one();
    }
}

/// Receives the body of a request, with its share of the limit of requests.
pub(super) async fn receive<B>(
    body: B,
    most: usize,
    caller: Option<Caller>,
    bodies: &Bodies,
) -> Result<(Vec<u8>, Option<Share>), Missing>
where
    B: http_body::Body<Data = Bytes> + Send,
{
    if body.is_end_stream() {
        return Ok((Vec::new(), None));
    }
    // The announced length takes no room before the bytes arrive.
    let announced = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let receiving = Arc::new(Receiving { bytes: Mutex::new(Some(Vec::new())), ..Receiving::default() });
    let held: Arc<dyn Held> = Arc::clone(&receiving) as Arc<dyn Held>;
    let share = bodies.received.hold(caller, 0, Arc::downgrade(&held))?;
    let mut body = std::pin::pin!(body);
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = receiving.given_up.notified() => return Err(Missing::Full),
        };
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| Missing::Unusable)?.into_data() else { continue };
        let (length, capacity) = {
            let bytes = receiving.bytes();
            let bytes = bytes.as_ref().ok_or(Missing::Full)?;
            (bytes.len() + data.len(), bytes.capacity())
        };
        if length > most {
            return Err(Missing::Unusable);
        }
        // It grows by at least half, but not beyond the announced length.
        let room = (length + length / 2).min(announced.unwrap_or(most)).max(length);
        if length > capacity {
            // Other bodies may have to be given up meanwhile, so its own is not locked.
            share.grow(room - capacity)?;
        }
        let mut bytes = receiving.bytes();
        let bytes = bytes.as_mut().ok_or(Missing::Full)?;
        if length > capacity {
            bytes.reserve_exact(room - bytes.len());
        }
        bytes.extend_from_slice(&data);
    }
    share.pin();
    let bytes = receiving.bytes().take().ok_or(Missing::Full)?;
    Ok((bytes, Some(share)))
}

/// A response, or a part of one, that is being sent.
#[derive(Debug)]
struct Sending {
    /// The bytes that are not sent; `None` when they had to be given up.
    bytes: Mutex<Option<Bytes>>,
}

impl Held for Sending {
    fn give_up(&self) {
        drop(self.bytes().take());
    }
}

impl Sending {
    fn bytes(&self) -> MutexGuard<'_, Option<Bytes>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes with their share of the limit of responses.
#[derive(Debug)]
pub(super) struct Holding {
    sending: Arc<Sending>,
    left: usize,
    /// The size of the next chunk.
    chunk: usize,
    share: Arc<Share>,
}

/// A part of a response that is in flight.
struct Chunk {
    bytes: Vec<u8>,
    share: Arc<Share>,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.share.land(self.bytes.len());
    }
}

/// The content of a response.
#[derive(Debug)]
pub(super) enum Content {
    /// Too short to be counted.
    Short(Bytes),
    Long(Holding),
}

impl Content {
    /// # Errors
    /// There is no room for it.
    pub(super) fn of(bytes: Bytes, caller: Option<Caller>, bodies: &Bodies) -> Result<Content, Full> {
        if bytes.len() <= UNCOUNTED {
            return Ok(Content::Short(bytes));
        }
        let left = bytes.len();
        let sending = Arc::new(Sending { bytes: Mutex::new(Some(bytes)) });
        let held: Arc<dyn Held> = Arc::clone(&sending) as Arc<dyn Held>;
        let share = bodies.sent.hold(caller, left, Arc::downgrade(&held))?;
        Ok(Content::Long(Holding { sending, left, chunk: FIRST_CHUNK, share: Arc::new(share) }))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Content::Short(bytes) => bytes.len(),
            Content::Long(holding) => holding.left,
        }
    }

    /// Returns the body of a response, with or without its length.
    pub(super) fn body(self, announced: bool) -> Body {
        match self {
            Content::Short(bytes) if announced => Body::from(bytes),
            Content::Short(bytes) => super::body::chunked(&bytes.into()),
            Content::Long(holding) => Body::new(Whole { holding, announced }),
        }
    }

    /// Returns the next chunk; `None` at the end.
    fn next(&mut self) -> Option<Result<Bytes, GivenUp>> {
        match self {
            Content::Short(bytes) => Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty()).map(Ok),
            Content::Long(holding) => holding.next(),
        }
    }
}

/// The response was given up to make room for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client takes the response so slowly that it had to make room for others")]
pub(super) struct GivenUp;

impl Holding {
    fn next(&mut self) -> Option<Result<Bytes, GivenUp>> {
        let mut bytes = self.sending.bytes();
        let Some(rest) = bytes.as_mut() else {
            return (self.left > 0).then_some(Err(GivenUp));
        };
        // A copy: a slice would keep all bytes in memory.
        let chunk = rest.split_to(rest.len().min(self.chunk)).to_vec();
        self.chunk = (2 * self.chunk).min(CHUNK);
        self.left -= chunk.len();
        if self.left == 0 {
            *bytes = None;
        }
        if chunk.is_empty() {
            return None;
        }
        self.share.fly(chunk.len());
        Some(Ok(Bytes::from_owner(Chunk { bytes: chunk, share: Arc::clone(&self.share) })))
    }
}

struct Whole {
    holding: Holding,
    announced: bool,
}

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        Poll::Ready(self.holding.next().map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.holding.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        if self.announced { SizeHint::with_exact(self.holding.left as u64) } else { SizeHint::default() }
    }
}

/// Returns a body whose parts are computed when they are sent. It ends after the last part, or when there is no room
/// for one.
pub(super) fn parts<P>(first: Content, source: P, caller: Option<Caller>, bodies: Bodies) -> Body
where
    P: Parts + Send + 'static,
{
    let state = (first, source);
    Body::from_stream(stream::unfold(state, move |(mut content, mut source)| {
        let (caller, bodies) = (caller.clone(), bodies.clone());
        async move {
            loop {
                if let Some(chunk) = content.next() {
                    return Some((chunk, (content, source)));
                }
                // Drop the old part before there is a new one.
                drop(content);
                let part = source.part().await?;
                content = Content::of(part.into(), caller.clone(), &bodies).ok()?;
            }
        }
    }))
}

/// The parts of a body.
pub(super) trait Parts {
    /// Returns the next part. `None` at the end.
    fn part(&mut self) -> impl Future<Output = Option<Vec<u8>>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full as Given, StreamBody};
    use std::convert::Infallible;
    use std::time::Duration;

    fn bodies(received: usize, sent: usize) -> Bodies {
        Bodies::new(&Limits { received_bytes: received, sent_bytes: sent, ..Limits::default() })
    }

    /// Returns a body of chunks that never ends.
    fn endless(chunks: usize) -> impl http_body::Body<Data = Bytes, Error = Infallible> + Send {
        let chunk = || Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; 1 << 16])));
        let chunks = stream::iter(std::iter::repeat_with(chunk).take(chunks));
        StreamBody::new(futures_util::StreamExt::chain(chunks, stream::pending()))
    }

    #[tokio::test]
    async fn a_body_is_received_whole_or_not_at_all() {
        let bodies = bodies(1 << 20, 0);
        let whole = Given::new(Bytes::from_static(b"whole"));
        let (bytes, share) = receive(whole, 5, None, &bodies).await.expect("a body");
        assert_eq!((&bytes[..], bytes.capacity()), (&b"whole"[..], 5));
        drop(share);
        for (body, most) in [(b"longer".to_vec(), 5), (vec![b'x'; 2 << 20], 3 << 20)] {
            let missing = receive(Given::new(Bytes::from(body)), most, None, &bodies).await.err();
            assert_eq!(missing, Some(if most == 5 { Missing::Unusable } else { Missing::Full }));
        }
        let (bytes, share) = receive(Given::new(Bytes::new()), 5, None, &bodies).await.expect("no body");
        assert!(bytes.is_empty() && share.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_makes_room() {
        let bodies = bodies(1 << 20, 0);
        let slow = tokio::spawn({
            let bodies = bodies.clone();
            async move { receive(endless(8), 3 << 20, None, &bodies).await.err() }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        let body = || Given::new(Bytes::from(vec![b'x'; 900 << 10]));
        assert_eq!(receive(body(), 3 << 20, None, &bodies).await.err(), Some(Missing::Full));
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(receive(body(), 3 << 20, None, &bodies).await.is_ok());
        assert_eq!(slow.await.expect("no panic"), Some(Missing::Full));
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_is_not_read_makes_room() {
        let bodies = bodies(0, 100 << 10);
        let content = |length: usize| Content::of(Bytes::from(vec![b'x'; length]), None, &bodies);
        let mut slow = content(80 << 10).expect("room").body(true);
        assert_eq!(http_body::Body::size_hint(&slow).exact(), Some(80 << 10));
        let first = slow.frame().await.expect("a frame").expect("data").into_data().expect("data");
        assert_eq!(first.len(), FIRST_CHUNK);
        assert_eq!(content(80 << 10).map(|_| ()), Err(Full));
        // Short ones need no room.
        assert!(matches!(content(UNCOUNTED), Ok(Content::Short(_))));
        assert!(matches!(content(UNCOUNTED + 1), Ok(Content::Long(_))));
        // A chunk is counted while it exists.
        drop(first);
        tokio::time::sleep(Duration::from_secs(3)).await;
        for announced in [true, false] {
            let body = content(80 << 10).expect("room").body(announced);
            assert_eq!(body.collect().await.expect("a body").to_bytes(), vec![b'x'; 80 << 10]);
        }
        let error = slow.frame().await.expect("a frame").expect_err("given up");
        assert!(error.to_string().contains("make room"), "{error}");
    }
}
