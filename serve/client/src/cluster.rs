//! Servers that kubeconfig files describe, through kube-rs.

use crate::cache::{Cache, Digest};
use crate::pull::Cached;
use crate::transport::{Request, Response, Transport, TransportError};
use http::header::{self, HeaderMap};
use http_body_util::BodyExt as _;
use kube_client::client::Body;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use kube_client::{Client, Config};
use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The maximum number of bytes read from an error response.
const REFUSAL: usize = 64 << 10;

/// Selects a server.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// A kubeconfig file. If `None`, the files of `KUBECONFIG`, `~/.kube/config`, or the account of the pod.
    pub kubeconfig: Option<PathBuf>,
    /// A context in it. If `None`, the current context.
    pub context: Option<String>,
    /// The address of the server, instead of the one in the kubeconfig. If it is given without kubeconfig and context,
    /// no kubeconfig is read and no credentials are sent.
    pub server: Option<String>,
    /// The timeout of one request.
    pub timeout: Duration,
    /// Only identifies the cluster, for its part of a cache. No credential plugin is run, and every request fails.
    pub offline: bool,
}

impl Default for ClusterOptions {
    /// Returns the current context and 60 seconds.
    fn default() -> ClusterOptions {
        ClusterOptions {
            kubeconfig: None,
            context: None,
            server: None,
            timeout: Duration::from_mins(1),
            offline: false,
        }
    }
}

/// Why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There is no kubeconfig, it cannot be read, or the context is not in it.
    #[error("{0}")]
    Kubeconfig(String),
    /// The address is invalid.
    #[error("{address:?} is no address of a server: {reason}; expected one such as https://10.0.0.7:6443")]
    Address {
        /// The address.
        address: String,
        /// The error in it.
        reason: String,
    },
    /// The certificates, credentials or the proxy cannot be used.
    #[error("no connection can be made: {0}")]
    Setup(String),
}

/// A server that a kubeconfig file describes, with its certificates, credentials and proxy. kube-rs connects to it.
#[derive(Clone)]
pub struct Cluster {
    /// `None` if it is offline.
    client: Option<Client>,
    timeout: Duration,
    server: String,
    identity: String,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Reads the kubeconfig and prepares the connection. Nothing is sent yet. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// - [`ClusterError::Kubeconfig`]: there is none, it cannot be read, or it has no such context.
    /// - [`ClusterError::Address`]: the address is invalid.
    /// - [`ClusterError::Setup`]: certificates, credentials or the proxy cannot be used.
    pub async fn connect(options: &ClusterOptions) -> Result<Cluster, ClusterError> {
        let mut config = config(options).await?;
        if let Some(server) = &options.server {
            config.cluster_url = address(server)?;
        }
        trim_token(&mut config);
        // `Client` retries requests by the rules of client-go.
        config.default_retry = false;
        config.read_timeout = None;
        config.write_timeout = None;
        config.connect_timeout = Some(options.timeout);
        let url = &config.cluster_url;
        let authority = url.authority().map(|authority| match authority.port() {
            Some(port) => format!("{}:{port}", authority.host()),
            None => authority.host().to_owned(),
        });
        let server = format!(
            "{}://{}{}",
            url.scheme_str().unwrap_or("https"),
            authority.unwrap_or_default(),
            url.path().trim_end_matches('/')
        );
        let trusted = config.root_cert.iter().flatten().flatten().copied().collect::<Vec<u8>>();
        let identity = format!("{server}\n{}", Digest::of(&trusted));
        // This runs credential plugins.
        let client = (!options.offline).then(|| Client::try_from(config)).transpose();
        let client = client.map_err(|error| ClusterError::Setup(causes(&error)))?;
        Ok(Cluster { client, timeout: options.timeout, server, identity })
    }

    /// Returns the address of the server, without credentials.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Sends a JSON patch of an object. `path` is that of the object. Returns the response, with any status.
    ///
    /// # Errors
    /// See [`TransportError`].
    pub async fn json_patch(&self, path: &str, patch: Vec<u8>) -> Result<Response, TransportError> {
        /// The maximum size of an object that a server returns.
        const LIMIT: usize = 64 << 20;
        let request = http::Request::patch(path).header(header::ACCEPT, "application/json");
        let request = request.header(header::CONTENT_TYPE, "application/json-patch+json");
        let end = Instant::now() + self.timeout;
        let answer = self.sent(request, Body::from(patch), end).await?;
        self.read(answer, LIMIT, end, |_| false).await
    }

    /// Returns the part of a cache for this cluster. Two clusters at one address are distinguished by their certificate
    /// authority.
    pub fn cached<'a>(&'a self, cache: &'a Cache) -> Cached<'a> {
        Cached { cache, cluster: &self.identity, server: &self.server }
    }
}

async fn config(options: &ClusterOptions) -> Result<Config, ClusterError> {
    let bad = |error: &(dyn std::error::Error + 'static)| ClusterError::Kubeconfig(causes(error));
    let choice = KubeConfigOptions { context: options.context.clone(), ..KubeConfigOptions::default() };
    if let Some(path) = &options.kubeconfig {
        let kubeconfig = Kubeconfig::read_from(path).map_err(|error| bad(&error))?;
        return Config::from_custom_kubeconfig(kubeconfig, &choice).await.map_err(|error| bad(&error));
    }
    if let (Some(server), None) = (&options.server, &options.context) {
        return Ok(Config::new(address(server)?));
    }
    match Config::from_kubeconfig(&choice).await {
        Ok(config) => Ok(config),
        // A pod has no kubeconfig, but an account.
        Err(error) => match Config::incluster_env() {
            Ok(config) if options.context.is_none() => Ok(config),
            _ => Err(bad(&error)),
        },
    }
}

/// Reads the token file and trims it. Such files may end with a line break, which client-go removes, but kube-rs sends.
fn trim_token(config: &mut Config) {
    let Some(path) = &config.auth_info.token_file else { return };
    // A pipe can be read only once. kube-rs reports files that cannot be read.
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return;
    }
    let Ok(text) = std::fs::read_to_string(path) else { return };
    if text.trim() != text {
        config.auth_info.token = Some(text.trim().to_owned().into());
        config.auth_info.token_file = None;
    }
}

fn address(text: &str) -> Result<http::Uri, ClusterError> {
    let wrong = |reason: &str| ClusterError::Address { address: text.to_owned(), reason: reason.to_owned() };
    let uri: http::Uri = text.parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        Some(_) => return Err(wrong("the scheme is neither http nor https")),
        None => return Err(wrong("it has no scheme")),
    }
    if uri.query().is_some() {
        return Err(wrong("it has a query"));
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        // The address may contain a password, and is not repeated.
        return Err(ClusterError::Address { address: "…@…".to_owned(), reason: "it has credentials".to_owned() });
    }
    Ok(uri)
}

impl Cluster {
    /// Sends a request, and returns the head of the response and a reader of its body.
    async fn send(&self, request: Request<'_>, end: Instant) -> Result<(Response, Body), TransportError> {
        let mut http_request = http::Request::get(request.path).header(header::ACCEPT, request.accept);
        if let Some(tag) = request.tag {
            http_request = http_request.header(header::IF_NONE_MATCH, tag);
        }
        self.sent(http_request, Body::empty(), end).await
    }

    /// Sends a request with a body.
    async fn sent(
        &self,
        request: http::request::Builder,
        body: Body,
        end: Instant,
    ) -> Result<(Response, Body), TransportError> {
        let Some(client) = &self.client else {
            return Err(TransportError::Connect("the cluster is used offline".to_owned()));
        };
        let http_request = request.header(header::USER_AGENT, concat!("kubeshape/", env!("CARGO_PKG_VERSION")));
        let http_request = http_request.body(body);
        let http_request = http_request.map_err(|error| TransportError::Request(causes(&error)))?;
        let answer = timeout_at(end, client.send(http_request)).await;
        let answer = answer.map_err(|_| TransportError::Timeout(self.timeout))?;
        let (parts, body) = answer.map_err(|error| failure(&error))?.into_parts();
        let text = |name| text(&parts.headers, name);
        let response = Response {
            status: parts.status.as_u16(),
            tag: text(header::ETAG),
            location: text(header::LOCATION),
            retry_after: text(header::RETRY_AFTER).and_then(|text| text.parse().ok()).map(Duration::from_secs),
            body: Vec::new(),
        };
        Ok((response, body))
    }

    /// Reads the body of a response until `is_enough`.
    async fn read(
        &self,
        (mut response, mut body): (Response, Body),
        limit: usize,
        end: Instant,
        is_enough: impl Fn(&[u8]) -> bool,
    ) -> Result<Response, TransportError> {
        let is_refusal = response.status != 200;
        let limit = if is_refusal { limit.min(REFUSAL) } else { limit };
        loop {
            let frame = timeout_at(end, body.frame()).await.map_err(|_| TransportError::Timeout(self.timeout))?;
            let Some(frame) = frame else { return Ok(response) };
            let frame = frame.map_err(|error| TransportError::Broken(causes(&error)))?;
            let Some(data) = frame.data_ref() else { continue };
            if response.body.len() + data.len() > limit {
                // The beginning of an error response is enough.
                return if is_refusal { Ok(response) } else { Err(TransportError::TooLarge(limit)) };
            }
            response.body.extend_from_slice(data);
            if is_enough(data) {
                return Ok(response);
            }
        }
    }
}

impl Transport for Cluster {
    async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
        let (limit, end) = (request.limit, Instant::now() + self.timeout);
        self.read(self.send(request, end).await?, limit, end, |_| false).await
    }

    async fn event(&self, request: Request<'_>, most: Duration) -> Result<Response, TransportError> {
        let (limit, end) = (request.limit, Instant::now() + most);
        let answer = self.send(request, end.min(Instant::now() + self.timeout)).await?;
        let mut response = self.read(answer, limit, end, |data| data.contains(&b'\n')).await?;
        if let Some(line) = response.body.iter().position(|byte| *byte == b'\n') {
            response.body.truncate(line);
        }
        Ok(response)
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn failure(error: &kube_client::Error) -> TransportError {
    let text = causes(error);
    if matches!(error, kube_client::Error::Auth(_)) {
        return TransportError::Credentials(text);
    }
    let mut source = error.source();
    while let Some(inner) = source {
        if inner.is::<kube_client::client::AuthError>() {
            return TransportError::Credentials(text);
        }
        source = inner.source();
    }
    TransportError::Connect(text)
}

/// Returns the innermost cause of an error, which says what happened; the outer ones only say that something did.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let (text, outer) = (inner.to_string(), error.to_string());
    // A system error has no subject.
    let is_of_system = inner.is::<std::io::Error>();
    let text = match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    };
    let outer = outer.trim_start_matches("ServiceError: ").trim_start_matches("client error (Connect): ");
    match outer.find(&text) {
        Some(at) if is_of_system => format!("{}{text}", &outer[..at]),
        _ => text,
    }
}
