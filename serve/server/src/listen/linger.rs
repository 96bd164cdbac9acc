//! Closes the stream of a connection without losing the end of its last response.
//!
//! If a socket is closed while it has unread bytes of the client, such as window updates of HTTP/2, the system resets
//! the connection and drops everything that is still in flight to the client. So the connection returns its stream,
//! which is then read until the client closes it, for a bounded time.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

/// How long a client may take to read the last bytes, and to close.
const LINGER: Duration = Duration::from_millis(500);

/// Receives the stream when the connection has ended.
pub(super) struct Owner<I>(Arc<Mutex<Option<I>>>);

/// The stream while it is lent.
pub(super) struct Lent<I> {
    /// Present until this is dropped.
    stream: Option<I>,
    owner: Arc<Mutex<Option<I>>>,
}

/// Lends a stream.
pub(super) fn lend<I>(stream: I) -> (Lent<I>, Owner<I>) {
    let owner = Arc::new(Mutex::new(None));
    (Lent { stream: Some(stream), owner: Arc::clone(&owner) }, Owner(owner))
}

impl<I: AsyncRead + AsyncWrite + Unpin> Owner<I> {
    /// Closes the stream, if it was returned, when the client has read everything or the time is over.
    pub(super) async fn close(self) {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut stream) = stream else { return };
        let read = async {
            let mut bytes = [0; 4096];
            let _ = stream.shutdown().await;
            while matches!(stream.read(&mut bytes).await, Ok(1..)) {}
        };
        let _ = timeout(LINGER, read).await;
    }
}

impl<I> Drop for Lent<I> {
    fn drop(&mut self) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = self.stream.take();
    }
}

impl<I: Unpin> Lent<I> {
    fn stream(&mut self) -> io::Result<Pin<&mut I>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Lent<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(cx, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Lent<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }
}
