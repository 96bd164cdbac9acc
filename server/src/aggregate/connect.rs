//! Connections to the one address of a server.

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

/// Connects to the configured address, whatever a URL says: no answer of a server, no proxy of the environment
/// can make it connect to another one.
#[derive(Clone, Debug)]
pub(super) struct Dial {
    socket: Arc<Socket>,
    timeout: Duration,
}

/// Why a server cannot be asked as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The certificates cannot be used.
    #[error("the certificates for {0} cannot be read: {1}")]
    Certificates(Arc<str>, String),
    /// There are none.
    #[error("there is no certificate for {0} in the file")]
    NoCertificate(Arc<str>),
    /// The system's cannot be used.
    #[error("the certificate authorities of the system cannot be read: {0}; give those of {1}")]
    System(String, Arc<str>),
    /// There is no TLS to speak.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// What connects to a server, with TLS where it is asked for.
pub(super) fn connector(options: &AggregateOptions) -> Result<HttpsConnector<Dial>, ConnectError> {
    let dial = Dial { socket: Arc::new(options.address.socket.clone()), timeout: options.timeouts.connect };
    let tls = tls(options)?;
    Ok(HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(dial))
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

impl tower::Service<Uri> for Dial {
    type Response = Link;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Link>> + Send>>;

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

async fn dial(socket: &Socket) -> io::Result<Link> {
    match socket {
        Socket::Tcp { host, port, .. } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Link::Tcp(TokioIo::new(stream)))
        }
        #[cfg(unix)]
        Socket::Unix(path) => Ok(Link::Unix(TokioIo::new(UnixStream::connect(path).await?))),
        #[cfg(not(unix))]
        Socket::Unix(_) => Err(io::Error::new(io::ErrorKind::Unsupported, "no Unix sockets on this system")),
    }
}

/// A connection of either kind.
#[derive(Debug)]
pub(super) enum Link {
    Tcp(TokioIo<TcpStream>),
    #[cfg(unix)]
    Unix(TokioIo<UnixStream>),
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

/// Calls a method of what a link holds.
macro_rules! on_link {
    ($link:expr, $stream:ident => $call:expr) => {
        match $link.get_mut() {
            Link::Tcp($stream) => $call,
            #[cfg(unix)]
            Link::Unix($stream) => $call,
        }
    };
}

impl Read for Link {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        on_link!(self, stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl Write for Link {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on_link!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_link!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_link!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
