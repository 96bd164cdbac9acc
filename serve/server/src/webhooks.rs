//! Requests to webhooks: to those on this machine that configurations name, and to one that a user names (upstream:
//! `k8s.io/apiserver/pkg/util/webhook`).

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kubeshape_objects::{HookCall, Hooks};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The largest response, in bytes. A patch can replace a whole object.
const MAX_RESPONSE: usize = 8 << 20;
/// The maximum number of requests at the same time.
const MAX_CALLS: usize = 64;
/// The maximum number of authorities whose connections are kept.
const MAX_CLIENTS: usize = 64;
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(30);

type HookClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Calls webhooks that listen on loopback addresses. Others are not called, because every client that may write
/// configurations could make the server send requests to machines that the client does not reach.
///
/// # Example
/// ```
/// use kubeshape_objects::{HookCall, Hooks};
/// use kubeshape_server::LoopbackHooks;
///
/// let runtime = tokio::runtime::Runtime::new()?;
/// let hooks = LoopbackHooks::new(runtime.handle().clone());
/// let (url, timeout) = (Some("https://10.0.0.7/validate".to_owned()), std::time::Duration::from_secs(1));
/// let call = HookCall { url, service: None, authorities: Vec::new(), timeout, body: Vec::new() };
/// assert!(hooks.call(&call).unwrap_err().contains("loopback"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LoopbackHooks {
    runtime: Handle,
    permits: Arc<Semaphore>,
    /// By their authorities.
    clients: Mutex<BTreeMap<Vec<u8>, HookClient>>,
}

impl fmt::Debug for LoopbackHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackHooks").finish_non_exhaustive()
    }
}

impl LoopbackHooks {
    /// Creates it with the runtime that sends the requests.
    pub fn new(runtime: Handle) -> LoopbackHooks {
        LoopbackHooks { runtime, permits: Arc::new(Semaphore::new(MAX_CALLS)), clients: Mutex::default() }
    }

    fn client(&self, authorities: &[u8]) -> Result<HookClient, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(authorities) {
            return Ok(client.clone());
        }
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls(authorities)?).https_only().enable_http1();
        let client = client(connector.wrap_connector(tcp()));
        if clients.len() >= MAX_CLIENTS {
            clients.pop_first();
        }
        clients.insert(authorities.to_vec(), Client::clone(&client));
        Ok(client)
    }
}

fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector
}

fn client(connector: HttpsConnector<HttpConnector>) -> HookClient {
    Client::builder(TokioExecutor::new()).pool_idle_timeout(IDLE).build(connector)
}

/// Sends requests to one webhook, at an address that a user names: HTTPS or HTTP, on any machine.
///
/// # Example
/// ```
/// use kubeshape_server::WebhookClient;
/// use std::time::Duration;
///
/// let runtime = tokio::runtime::Runtime::new()?;
/// let handle = runtime.handle().clone();
/// let error = WebhookClient::new(handle.clone(), "ftp://example.com", &[], Duration::from_secs(1)).unwrap_err();
/// assert_eq!(error, "\"ftp://example.com\" is not an http or https URL");
/// let client = WebhookClient::new(handle, "http://127.0.0.1:1/convert", &[], Duration::from_secs(1)).unwrap();
/// assert!(client.post(b"{}").unwrap_err().starts_with("Post \"http://127.0.0.1:1/convert?timeout=1s\": "));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WebhookClient {
    runtime: Handle,
    client: HookClient,
    uri: Uri,
    timeout: Duration,
}

impl WebhookClient {
    /// Creates it with the runtime that sends the requests. `authorities` are certificates in PEM; without them, those
    /// of the system are trusted.
    ///
    /// # Errors
    /// The URL is not one of HTTP or HTTPS, or the certificates cannot be read.
    pub fn new(runtime: Handle, url: &str, authorities: &[u8], timeout: Duration) -> Result<WebhookClient, String> {
        let wrong = || format!("{url:?} is not an http or https URL");
        let given: Uri = url.parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (given.scheme_str(), given.authority()) else { return Err(wrong()) };
        let tls = match scheme {
            "https" => tls(authorities)?,
            // It is not used.
            "http" => verifying(RootCertStore::empty())?,
            _ => return Err(wrong()),
        };
        let target = format!("{}?timeout={}s", cleaned(given.path()), timeout.as_secs().max(1));
        let uri = Uri::builder().scheme(scheme).authority(authority.as_str()).path_and_query(target).build();
        let uri = uri.map_err(|_| wrong())?;
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        Ok(WebhookClient { runtime, client: client(connector.wrap_connector(tcp())), uri, timeout })
    }

    /// Sends a body and returns that of the response, at most 8 MiB.
    ///
    /// # Errors
    /// There is no response in time, or its status is not 200. The message is a server's.
    pub fn post(&self, body: &[u8]) -> Result<Vec<u8>, String> {
        let shown = format!("Post \"{}\": ", self.uri);
        let request = request(self.uri.clone(), Bytes::copy_from_slice(body)).map_err(|error| error.to_string())?;
        let sent = send(self.client.clone(), request);
        match self.runtime.block_on(async move { tokio::time::timeout(self.timeout, sent).await }) {
            Ok(result) => result.map_err(|error| format!("{shown}{error}")),
            Err(_) => Err(format!("{shown}context deadline exceeded")),
        }
    }
}

fn request(uri: Uri, body: Bytes) -> Result<Request<Full<Bytes>>, http::Error> {
    Request::post(uri)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, */*")
        .header(header::USER_AGENT, "kubeshape-webhook")
        .body(Full::new(body))
}

/// Sends a request and returns the body of the response.
async fn send(client: HookClient, request: Request<Full<Bytes>>) -> Result<Vec<u8>, String> {
    let response = client.request(request).await.map_err(|error| causes(&error))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_RESPONSE).collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes().to_vec();
    if status == StatusCode::OK {
        return Ok(body);
    }
    let text = String::from_utf8_lossy(&body);
    let text: String = text.trim().chars().take(256).collect();
    Err(format!("an error on the server ({text:?}) has prevented the request from succeeding ({status})"))
}

/// Returns the configuration of TLS that trusts these authorities.
fn verifying(roots: RootCertStore) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn tls(authorities: &[u8]) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = if authorities.is_empty() {
        builder.with_native_roots().map_err(|error| error.to_string())?
    } else {
        let mut trusted = Vec::new();
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate.clone()).map_err(|error| error.to_string())?;
            trusted.push(certificate);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let inner = inner.map_err(|error| error.to_string())?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Trusting { inner, trusted }))
    };
    Ok(builder.with_no_client_auth())
}

/// Verifies certificates as Go does: a certificate that is itself among the trusted ones needs no authority. Test
/// libraries give the certificate of the webhook as `caBundle`.
#[derive(Debug)]
struct Trusting {
    inner: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self.trusted.contains(certificate) {
            return self.inner.verify_server_cert(certificate, intermediates, name, ocsp, now);
        }
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        let (_, parsed) = X509Certificate::from_der(certificate)
            .map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let validity = parsed.validity();
        if now > validity.not_after.timestamp() {
            return Err(Error::InvalidCertificate(CertificateError::Expired));
        }
        if now < validity.not_before.timestamp() {
            return Err(Error::InvalidCertificate(CertificateError::NotValidYet));
        }
        Ok(ServerCertVerified::assertion())
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

/// Returns a path without empty segments, `.` and `..` (Go's `path.Join`).
fn cleaned(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

/// Returns the address of a webhook, with the timeout as a parameter.
fn target(call: &HookCall) -> Result<Uri, String> {
    let Some(url) = &call.url else {
        let (namespace, name) = call.service.as_ref().ok_or("neither url nor service is set")?;
        return Err(format!("service {name:?} in namespace {namespace:?} has no address: give a url on loopback"));
    };
    let uri: Uri = url.parse().map_err(|error| format!("{url:?} is not a URL: {error}"))?;
    let host = uri.host().unwrap_or_default();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_loopback = host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if !is_loopback {
        return Err(format!("{url:?} is not on this machine: webhooks are only called on loopback addresses"));
    }
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let target = format!("{}?timeout={}s", cleaned(uri.path()), call.timeout.as_secs());
    let uri = Uri::builder().scheme("https").authority(authority).path_and_query(target).build();
    uri.map_err(|error| format!("{url:?} is not a URL: {error}"))
}

impl Hooks for LoopbackHooks {
    fn call(&self, call: &HookCall) -> Result<Vec<u8>, String> {
        let uri = target(call)?;
        let client = self.client(&call.authorities)?;
        let shown = format!("Post \"{uri}\": ");
        let request = request(uri, Bytes::from(call.body.clone())).map_err(|error| error.to_string())?;
        let permits = Arc::clone(&self.permits);
        let sent = async move {
            let _permit = permits.acquire().await.map_err(|error| error.to_string())?;
            send(client, request).await
        };
        let timeout = call.timeout;
        // The thread is one of those for long work.
        match self.runtime.block_on(async move { tokio::time::timeout(timeout, sent).await }) {
            Ok(result) => result.map_err(|error| format!("{shown}{error}")),
            Err(_) => Err(format!("{shown}context deadline exceeded")),
        }
    }
}

/// Returns an error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(next) = source {
        text = format!("{text}: {next}");
        source = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::target;
    use kubeshape_objects::HookCall;
    use std::time::Duration;

    #[test]
    fn only_addresses_of_this_machine_are_called() {
        let read = |url: &str| {
            let (url, timeout) = (Some(url.to_owned()), Duration::from_secs(3));
            let call = HookCall { url, service: None, authorities: Vec::new(), timeout, body: Vec::new() };
            target(&call).map(|uri| uri.to_string())
        };
        let expected = [
            ("https://127.0.0.1:1//a/./b/../c", "https://127.0.0.1:1/a/c?timeout=3s"),
            ("https://[::1]:1", "https://[::1]:1/?timeout=3s"),
            ("https://localhost/x?y=z", "https://localhost/x?timeout=3s"),
        ];
        for (url, expected) in expected {
            assert_eq!(read(url), Ok(expected.to_owned()));
        }
        for url in ["https://10.0.0.1/x", "https://localhost.example.com/x", "https://127.0.0.1@10.0.0.1/x", "/x", ""] {
            assert!(read(url).is_err(), "{url}");
        }
    }
}
