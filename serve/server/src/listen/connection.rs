//! One connection, from its first byte to its end.

use super::activity::{Activity, Observed, Overdue, Step, of};
use super::answer;
use super::bind::Accepted;
use super::fair::Fair;
use super::linger;
use super::service::{Endpoint, Shared};
use super::tls::Tls;
use crate::auth::Certified;
use crate::limit::Caller;
use http::{HeaderValue, Version, header};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

/// When the server stops: how long a connection may wait for its first request, which the client may have sent already.
const FIRST: Duration = Duration::from_millis(500);
/// How long a client without a request may take to close its connection when others need the room.
const LEAVE: Duration = Duration::from_secs(1);
/// How long a connection that makes room checks whether the client has sent something. When a timer expires, Tokio has
/// asked the system for everything that arrived before.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of request bodies that a connection buffers (HTTP/2). No endpoint reads them.
const UNREAD: u32 = 65_535;

/// The response to a client that speaks HTTP to a TLS port.
const PLAIN: &[u8] = b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\r\nThis port is served with TLS: use https.\n";

/// What the server announces to its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Running,
    /// Running requests finish, and new ones are not accepted.
    Draining,
    /// Everything ends immediately.
    Ended,
}

/// Returns the builder of connections, with the limits.
pub(crate) fn builder(limits: &crate::limit::Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .title_case_headers(true)
        // Deadlines are those of `Activity`.
        .header_read_timeout(None)
        // hyper does not allow less.
        .max_buf_size(limits.header_bytes.max(8192))
        .max_headers(limits.header_fields);
    builder
        .http2()
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(limits.streams)
        .initial_stream_window_size(UNREAD)
        .initial_connection_window_size(UNREAD)
        .max_send_buf_size(answer::CHUNK);
    builder
}

/// Serves an accepted connection until it ends.
pub(crate) async fn accepted<S: Endpoint>(
    stream: Accepted,
    tls: Option<&Tls>,
    shared: &Arc<Shared<S>>,
    builder: &Builder<TokioExecutor>,
    control: watch::Receiver<Control>,
    activity: &Arc<Activity>,
) {
    match (stream, tls) {
        (Accepted::Tcp(stream), None) => {
            let peer = address(&stream);
            serve(stream, true, (peer, None), shared, builder, control, activity).await;
        }
        (Accepted::Tcp(stream), Some(tls)) => {
            let mut ended = control.clone();
            activity.mark_waiting();
            let peer = address(&stream);
            let stream = tokio::select! {
                stream = timeout(shared.limits.handshake, handshake(stream, tls)) => stream,
                () = activity.evicted.notified() => return,
                _ = ended.wait_for(|control| control.phase == Phase::Ended) => return,
            };
            match stream {
                Ok(Some(stream)) => {
                    let certified = tls.identify(stream.get_ref().1.peer_certificates());
                    serve(stream, true, (peer, certified), shared, builder, control, activity).await;
                }
                Ok(None) => {}
                Err(_) => tracing::debug!("no TLS handshake in time"),
            }
        }
        // Only this user can connect to a socket file, so it needs no TLS.
        #[cfg(unix)]
        (Accepted::Unix(stream), _) => serve(stream, false, (None, None), shared, builder, control, activity).await,
    }
}

/// Returns the address of the client.
fn address(stream: &TcpStream) -> Option<IpAddr> {
    stream.peer_addr().ok().map(|address| address.ip())
}

async fn handshake(mut stream: TcpStream, tls: &Tls) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    /// The first byte of a TLS handshake.
    const HANDSHAKE: u8 = 22;
    let mut first = [0];
    if stream.peek(&mut first).await.ok()? == 1 && first[0].is_ascii_uppercase() && first[0] != HANDSHAKE {
        let _ = stream.write_all(PLAIN).await;
        let _ = stream.shutdown().await;
        return None;
    }
    match tls.acceptor().accept(stream).await {
        Ok(stream) => Some(stream),
        Err(error) => {
            tracing::debug!(%error, "TLS handshake failed");
            None
        }
    }
}

/// Why the task of a connection wakes up.
enum Event {
    /// The connection ended.
    End,
    /// The first request came while the server stops. It is also the last.
    FirstRequest,
    /// The timer expired.
    Timer,
    /// The server sent a new control.
    Control,
    /// Others need the room.
    Shed,
}

async fn serve<S: Endpoint, I: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: I,
    is_tcp: bool,
    (peer, certified): (Option<IpAddr>, Option<Certified>),
    shared: &Arc<Shared<S>>,
    builder: &Builder<TokioExecutor>,
    mut controls: watch::Receiver<Control>,
    activity: &Arc<Activity>,
) {
    let limits = &shared.limits;
    activity.begin();
    let service = service_fn(|mut request: http::Request<hyper::body::Incoming>| {
        if let Some(peer) = peer {
            request.extensions_mut().insert(Caller::at(peer));
        }
        if let Some(certified) = &certified {
            request.extensions_mut().insert(certified.clone());
        }
        let running = activity.request();
        let (shared, activity) = (Arc::clone(shared), Arc::clone(activity));
        async move {
            let is_old = request.version() < Version::HTTP_2;
            let answer = shared.guarded(request, is_tcp, async |request| shared.answer(request, &activity).await);
            let mut response = of(&activity, answer).await;
            if is_old && activity.is_ending() {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            let response = response.map(|body| answer::Observed::new(body, activity));
            drop(running);
            Ok::<_, Infallible>(response)
        }
    });
    let (stream, owner) = linger::lend(stream);
    let io = TokioIo::new(Observed::new(stream, Arc::clone(activity)));
    let mut connection = Box::pin(builder.serve_connection(io, service));
    let Some((first, _)) = activity.deadline(limits) else { return };
    let mut timer = std::pin::pin!(sleep_until(first));
    let mut armed = true;
    let mut fair = Fair::new(Instant::now());
    // Whether the connection ends after the running requests.
    let mut closing = false;
    let mut draining = false;
    // A deadline in addition to those of the activity.
    let mut end: Option<(Instant, Overdue)> = None;
    // When the connection makes room for others.
    let mut room: Option<Instant> = None;
    let mut control = *controls.borrow_and_update();
    loop {
        if control.phase == Phase::Ended {
            return;
        }
        if control.phase == Phase::Draining && !draining {
            draining = true;
            activity.end();
            if activity.is_fresh() {
                end = Some((Instant::now() + FIRST, Overdue::Idle));
            }
        }
        if draining && !closing && !activity.is_fresh() {
            closing = true;
            end = None;
            connection.as_mut().graceful_shutdown();
        }
        let deadline = || {
            let own = activity.deadline(limits).filter(|(_, overdue)| !closing || *overdue == Overdue::Stalled);
            let room = room.map(|at| (at, Overdue::Evicted));
            own.into_iter().chain(end).chain(room).min_by_key(|(at, _)| *at)
        };
        let watched = std::future::poll_fn(|cx| {
            activity.turn();
            if !fair.must_wait(cx) {
                let began = std::time::Instant::now();
                let is_over = connection.as_mut().poll(cx).is_ready();
                fair.used(began.elapsed(), Instant::now());
                if is_over {
                    return Poll::Ready(Event::End);
                }
            }
            if draining && !closing && !activity.is_fresh() {
                return Poll::Ready(Event::FirstRequest);
            }
            if let Some((at, _)) = deadline().filter(|(at, _)| !armed || *at < timer.deadline()) {
                timer.as_mut().reset(at);
                armed = true;
            }
            if armed && timer.as_mut().poll(cx).is_ready() { Poll::Ready(Event::Timer) } else { Poll::Pending }
        });
        let event = tokio::select! {
            biased;
            event = watched => event,
            changed = controls.changed() => if changed.is_ok() { Event::Control } else { return },
            () = activity.evicted.notified() => Event::Shed,
        };
        match event {
            Event::End => {
                drop(connection);
                // Otherwise the client ended the connection, or the server has no time for it.
                if draining {
                    tokio::select! {
                        () = owner.close() => {}
                        _ = controls.wait_for(|control| control.phase == Phase::Ended) => {}
                    }
                }
                return;
            }
            Event::FirstRequest => {}
            Event::Timer => match deadline() {
                None => armed = false,
                Some((at, _)) if at > Instant::now() => timer.as_mut().reset(at),
                Some((_, Overdue::Stalled)) => {
                    tracing::debug!("a connection was cut: the client sends or takes nothing, or too slowly");
                    return;
                }
                Some((_, Overdue::Evicted)) => {
                    room = None;
                    match activity.recheck_eviction() {
                        None | Some(Step::End) => {}
                        Some(Step::Cut) => {
                            tracing::debug!("a connection was cut: others need the room");
                            return;
                        }
                        Some(Step::Leave) => {
                            activity.end();
                            closing = true;
                            connection.as_mut().graceful_shutdown();
                            end = Some((Instant::now() + LEAVE, Overdue::Left));
                        }
                    }
                }
                // A request may have come before the client read that it must close.
                Some((_, Overdue::Left)) if !activity.is_idle() => {
                    end = None;
                    activity.clear_eviction();
                }
                Some((_, Overdue::Left)) => return,
                Some((_, Overdue::Idle)) if closing => return,
                Some((_, Overdue::Idle)) => {
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                    // HTTP/2 waits for streams, which a client may never read.
                    end = Some((Instant::now() + limits.stall, Overdue::Stalled));
                }
            },
            Event::Control => control = *controls.borrow_and_update(),
            Event::Shed => {
                if activity.eviction() != Some(Step::End) {
                    room = Some(Instant::now() + LOOK);
                } else if !closing {
                    activity.end();
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limits;
    use crate::listen::eviction::OpenConnections;
    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    /// Returns the result for a connection on which the client has sent `bytes`, and the server has read nothing.
    async fn sent(
        bytes: &str,
        connections: &OpenConnections,
    ) -> (DuplexStream, Arc<Activity>, impl Future<Output = ()> + use<>) {
        let endpoint = Router::new().route(
            "/",
            get(|| async {
                tokio::time::sleep(Duration::from_secs(30)).await;
                "hello"
            }),
        );
        let limits = Limits::default();
        let builder = builder(&limits);
        let shared = Arc::new(Shared {
            endpoint,
            limits,
            authenticator: None,
            has_open_pages: false,
            guard: crate::listen::Guard::default(),
            rate: None,
            metrics: Arc::default(),
        });
        let activity = Activity::new(&shared.limits, connections.pace());
        let (mut client, stream) = duplex(1 << 16);
        client.write_all(bytes.as_bytes()).await.expect("sent");
        let own = Arc::clone(&activity);
        let serving = async move {
            let (_sender, control) = watch::channel(Control { phase: Phase::Running });
            serve(stream, false, (None, None), &shared, &builder, control, &own).await;
        };
        (client, activity, serving)
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_sent_before_room_was_needed_is_answered() {
        for step in [Step::End, Step::Leave, Step::Cut] {
            let (mut client, activity, serving) =
                sent("GET / HTTP/1.1\r\nHost: x\r\n\r\n", &OpenConnections::default()).await;
            // The server has not got around to it, and others need the room.
            activity.evict(step);
            let serving = tokio::spawn(serving);
            let mut answer = vec![0; 1024];
            let length = client.read(&mut answer).await.expect("an answer");
            assert!(answer[..length].ends_with(b"hello"), "{step:?}");
            drop(client);
            serving.await.expect("no panic");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_sent_half_a_request_is_cut() {
        let connections = OpenConnections::default();
        let (mut client, activity, serving) = sent("GET / HTTP/1.1\r\nHo", &connections).await;
        let serving = tokio::spawn(serving);
        tokio::time::sleep(Duration::from_millis(1)).await;
        for _ in 0..100 {
            connections.pace().pass();
        }
        activity.evict(Step::Cut);
        let began = Instant::now();
        serving.await.expect("no panic");
        assert!(began.elapsed() <= 2 * LOOK);
        assert_eq!(client.read(&mut [0; 10]).await.ok(), Some(0));
    }
}
