//! TLS certificates that can be replaced while the server runs.

use crate::auth::{Certified, ClientVerifier};
use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The server's certificate and key.
///
/// New connections use the current certificate. Open ones keep theirs.
#[derive(Clone)]
pub struct Tls {
    current: Arc<Current>,
    acceptor: TlsAcceptor,
    clients: Option<Arc<ClientVerifier>>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// It is not a certificate in PEM format.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// It is not a key in PEM format.
    #[error("the key cannot be read: {0}")]
    Key(String),
    /// The key does not belong to the certificate, or its kind is not supported.
    #[error("certificate and key cannot be used together: {0}")]
    Pair(rustls::Error),
    /// The authorities of client certificates cannot be used.
    #[error("the authorities of clients cannot be used: {0}")]
    Clients(String),
    /// The protocol versions are not supported.
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Tls {
    /// Parses a certificate chain and a key in PEM format.
    ///
    /// # Errors
    /// One of them is not in PEM format, or the key does not belong to the certificate.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Tls, TlsError> {
        Tls::with(certificates, key, None)
    }

    /// Works like [`new`](Self::new), and requests certificates of clients. They need none; one of these authorities
    /// (PEM) says who the client is (`--client-ca-file`).
    ///
    /// # Errors
    /// See [`new`](Self::new). Or there is no certificate of an authority.
    pub fn with_client_authorities(certificates: &[u8], key: &[u8], authorities: &[u8]) -> Result<Tls, TlsError> {
        let verifier = ClientVerifier::new(authorities).map_err(TlsError::Clients)?;
        Tls::with(certificates, key, Some(Arc::new(verifier)))
    }

    fn with(certificates: &[u8], key: &[u8], clients: Option<Arc<ClientVerifier>>) -> Result<Tls, TlsError> {
        let current = Arc::new(Current(ArcSwap::new(Arc::new(pair(certificates, key)?))));
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?;
        let builder = match &clients {
            Some(clients) => builder.with_client_cert_verifier(Arc::<ClientVerifier>::clone(clients)),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls { current, acceptor: TlsAcceptor::from(Arc::new(config)), clients })
    }

    /// Returns whose certificates a client sent.
    pub(crate) fn identify(&self, chain: Option<&[CertificateDer<'_>]>) -> Option<Certified> {
        self.clients.as_ref()?.identify(chain?)
    }

    /// Replaces the certificate. After an error, the old one is kept.
    ///
    /// # Errors
    /// See [`Tls::new`].
    pub fn replace(&self, certificates: &[u8], key: &[u8]) -> Result<(), TlsError> {
        self.current.0.store(Arc::new(pair(certificates, key)?));
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

fn pair(certificates: &[u8], key: &[u8]) -> Result<CertifiedKey, TlsError> {
    let chain = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| TlsError::Certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(TlsError::Certificate("there is none in the file".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
    // Checks that the key is that of the first certificate.
    CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(TlsError::Pair)
}
