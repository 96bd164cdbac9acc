//! Connections to the configured address of a server.

use super::options::{AggregateOptions, Socket};
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// Connects to the configured address and ignores the URL. Neither a response of a server nor a proxy in the
/// environment can make it connect to another address.
#[derive(Clone, Debug)]
pub(super) struct Dialer {
    socket: Arc<Socket>,
    timeout: Duration,
}

/// Why this configuration cannot be used for connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The certificates cannot be used.
    #[error("the certificates for {0} cannot be read: {1}")]
    Certificates(Arc<str>, String),
    /// The file has no certificates.
    #[error("there is no certificate for {0} in the file")]
    NoCertificate(Arc<str>),
    /// The certificate authorities of the system cannot be read.
    #[error("the certificate authorities of the system cannot be read: {0}; give those of {1}")]
    System(String, Arc<str>),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// Creates the connector for a server, with TLS if its address is HTTPS.
///
/// # Errors
/// The certificates cannot be read, there are none, or TLS cannot be set up.
pub(super) fn connector(options: &AggregateOptions) -> Result<HttpsConnector<Dialer>, ConnectError> {
    let dialer = Dialer { socket: Arc::new(options.address.socket.clone()), timeout: options.timeouts.connect };
    let tls = tls(options)?;
    Ok(HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(dialer))
}

fn tls(options: &AggregateOptions) -> Result<ClientConfig, ConnectError> {
    let name = || Arc::clone(&options.name);
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Tls(error.to_string()))?;
    let is_tls = matches!(options.address.socket, Socket::Tcp { tls: true, .. });
    let builder = match &options.certificates {
        None if is_tls => {
            builder.with_native_roots().map_err(|error| ConnectError::System(error.to_string(), name()))?
        }
        None => builder.with_root_certificates(RootCertStore::empty()),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate =
                    certificate.map_err(|error| ConnectError::Certificates(name(), format!("{error:?}")))?;
                roots.add(certificate).map_err(|error| ConnectError::Certificates(name(), error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(ConnectError::NoCertificate(name()));
            }
            builder.with_root_certificates(roots)
        }
    };
    Ok(builder.with_no_client_auth())
}

impl tower::Service<Uri> for Dialer {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let socket = Arc::clone(&self.socket);
        let timeout = self.timeout;
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
            tokio::time::timeout(timeout, dial(&socket)).await.map_err(late)?
        })
    }
}

async fn dial(socket: &Socket) -> io::Result<Stream> {
    match socket {
        Socket::Tcp { host, port, .. } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Stream::Tcp(TokioIo::new(stream)))
        }
        #[cfg(unix)]
        Socket::Unix(path) => Ok(Stream::Unix(TokioIo::new(UnixStream::connect(path).await?))),
        #[cfg(not(unix))]
        Socket::Unix(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "no Unix sockets on this system")),
    }
}

/// A TCP or Unix connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TokioIo<TcpStream>),
    #[cfg(unix)]
    Unix(TokioIo<UnixStream>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

/// Calls a method of the stream inside.
macro_rules! on_stream {
    ($either:expr, $stream:ident => $call:expr) => {
        match $either.get_mut() {
            Stream::Tcp($stream) => $call,
            #[cfg(unix)]
            Stream::Unix($stream) => $call,
        }
    };
}

impl Read for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        on_stream!(self, stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on_stream!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_stream!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_stream!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
