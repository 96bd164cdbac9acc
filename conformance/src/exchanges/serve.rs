//! A server of ours with the documents of a recorded one.

use super::record::Exchange;
use super::wire::TOKEN;
use crate::golden;
use kubeshape_server::http::router;
use kubeshape_server::{
    Authenticator, BaseDocuments, Change, Endpoints, Listener, Live, Metrics, Readiness, Server, Store, StoreOptions,
    Tokens,
};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::{Builder, Runtime};

/// A running server. It stops when it is dropped.
pub(super) struct Served {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Served {
    /// Serves the base documents of one folder and the stored CustomResourceDefinitions of another.
    pub(super) fn start(base: &Path, folder: &Path) -> Result<Served, String> {
        let documents = documents(base)?;
        let advertise = super::address(folder)?.or(super::address(base)?);
        let advertise = advertise.ok_or("no recorded answer to /api names the server's address")?;
        // Before every date of the recorded conditions except one.
        let published = SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000);
        let base = BaseDocuments { documents, ..BaseDocuments::default() };
        let mut store = Store::new(base, StoreOptions::default(), published).map_err(|error| error.to_string())?;
        let stored = folder.join("bodies").join("customresourcedefinitions.json.zst");
        if stored.is_file() {
            let content = golden::read(&stored).map_err(|error| format!("{}: {error}", stored.display()))?;
            let change = Change { name: "customresourcedefinitions.json".into(), content: Some(content.into()) };
            let applied = store.apply(vec![change], published);
            if let Some(broken) = applied.broken.first() {
                return Err(format!("{broken:?}"));
            }
        }
        let endpoints = Endpoints {
            live: Arc::new(Live::new(store.snapshot())),
            extensions: false,
            advertise: advertise.into(),
            metrics: Arc::new(Metrics::default()),
            readiness: Arc::new(Readiness::default()),
            authenticator: None,
            emulation: None,
            v2_without_custom_resources: None,
            objects: None,
            pages: None,
        };
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let listener =
            runtime.block_on(Listener::tcp(([127, 0, 0, 1], 0).into())).map_err(|error| error.to_string())?;
        let address = listener.address().ok_or("a socket without an address")?;
        let tokens = Tokens::parse(&format!("{TOKEN},conformance,1")).map_err(|error| error.to_string())?;
        let server = Server::new(router(endpoints)).authenticator(Authenticator::new(tokens));
        runtime.spawn(server.run(vec![listener], std::future::pending(), std::future::pending()));
        Ok(Served { address, _runtime: runtime })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Returns the documents of a server without CustomResourceDefinitions: OpenAPI, discovery, `/version`, `/`. Responses
/// without a document are left out.
fn documents(folder: &Path) -> Result<Vec<(Arc<str>, bytes::Bytes)>, String> {
    let exchanges: Vec<Exchange> = super::record::read(&super::recording(folder, "responses"))?;
    let mut documents = Vec::new();
    for exchange in exchanges.iter().filter(|exchange| exchange.status == 200) {
        let path = exchange.request.path.split('?').next().unwrap_or_default();
        let published = path == "/" || ["/openapi/", "/api", "/version"].iter().any(|prefix| path.starts_with(prefix));
        // Lists of objects are not documents.
        let listed = path.starts_with("/apis/") && path.matches('/').count() > 3;
        if let Some(file) = exchange.file.as_ref().filter(|_| published && !listed && path != "/openapi/v3") {
            // The name has the compression of the bytes; these are not compressed.
            let name = file.strip_suffix(".zst").unwrap_or(file);
            documents.push((Arc::from(name), super::body(folder, file)?.into()));
        }
    }
    documents.dedup_by(|a, b| a.0 == b.0);
    Ok(documents)
}
