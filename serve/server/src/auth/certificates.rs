//! Client certificates (upstream: `authentication/request/x509`).

use kubeshape_objects::access::Identity;
use kubeshape_policy::User;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The attribute of a user that says which credential was used (`user.CredentialIDKey`).
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// The client certificate of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Certified {
    /// Its user.
    User(Arc<Identity>),
    /// It is not valid for any of the authorities: its requests are not authenticated.
    Invalid,
}

/// Requests client certificates and accepts all in the handshake. As with kube-apiserver, a request with an invalid one
/// is answered with 401.
#[derive(Debug)]
pub(crate) struct ClientVerifier {
    inner: Arc<dyn ClientCertVerifier>,
}

impl ClientVerifier {
    /// Accepts certificates of these authorities, in PEM format.
    ///
    /// # Errors
    /// They cannot be read, or there are none.
    pub(crate) fn new(authorities: &[u8]) -> Result<ClientVerifier, String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        if roots.is_empty() {
            return Err("there is no certificate in the file".to_owned());
        }
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(ClientVerifier { inner: verifier.map_err(|error| error.to_string())? })
    }

    /// Returns whose certificates a client sent. `None` if it sent none, or one without a common name (upstream:
    /// `CommonNameUserConversion`).
    pub(crate) fn identify(&self, chain: &[CertificateDer<'_>]) -> Option<Certified> {
        let (end, intermediates) = chain.split_first()?;
        match self.inner.verify_client_cert(end, intermediates, UnixTime::now()) {
            Ok(_) => user(end).map(|identity| Certified::User(Arc::new(identity))),
            Err(error) => {
                tracing::debug!(%error, "a client certificate is not valid");
                Some(Certified::Invalid)
            }
        }
    }
}

/// Returns the user whom a certificate names: the common name, and the organizations as groups.
fn user(certificate: &CertificateDer<'_>) -> Option<Identity> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let subject = parsed.subject();
    let name = subject.iter_common_name().last()?.as_str().ok()?.to_owned();
    let groups = subject.iter_organization().filter_map(|group| Some(group.as_str().ok()?.to_owned()));
    let mut id = "X509SHA256=".to_owned();
    for byte in Sha256::digest(certificate) {
        let _ = write!(id, "{byte:02x}");
    }
    let user = User { name, groups: groups.collect(), ..User::default() };
    let extra = vec![(CREDENTIAL.to_owned(), vec![id])];
    (!user.name.is_empty()).then(|| Identity::of(user, extra))
}

impl ClientCertVerifier for ClientVerifier {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.inner.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        // `identify` verifies it.
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
