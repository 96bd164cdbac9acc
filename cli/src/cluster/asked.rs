//! A cluster to query, and the folder of the cache.

use crate::error::{Fatal, describe};
use kubeshape_client::cache::{Bounds, Cache, CacheError};
use kubeshape_client::{
    Change, Client, Cluster, ClusterOptions, Limits, Live, Progress, Pulled, Wanted, WantedObjects,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;

/// The environment variable that names the folder of the cache.
const CACHE: &str = "KUBESHAPE_CACHE";

/// A cluster, and the options for its queries.
pub(super) struct Asked {
    pub(super) cluster: Cluster,
    cache: Option<Cache>,
    runtime: Runtime,
}

impl Asked {
    /// Prepares the connection, if one is needed. Passes the reason of a missing cache to `tell`.
    ///
    /// # Errors
    /// There is no usable kubeconfig; or the cache is needed and cannot be opened.
    pub(super) fn new(
        options: &ClusterOptions,
        cache: Option<&Path>,
        mut tell: impl FnMut(String),
    ) -> Result<Asked, Fatal> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let cluster = runtime.block_on(Cluster::connect(options)).map_err(|error| Fatal::Cluster(error.to_string()))?;
        let cache = match cache.map(|folder| Cache::open(folder, Bounds::default())).transpose() {
            Ok(cache) => cache,
            Err(error) if options.offline => return Err(failed(error)),
            Err(error) => {
                tell(error.to_string());
                None
            }
        };
        Ok(Asked { cluster, cache, runtime })
    }

    /// Fetches what is wanted.
    ///
    /// # Errors
    /// The server does not respond.
    pub(super) fn pull(
        &self,
        wanted: &Wanted,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<Pulled, kubeshape_client::Error> {
        let client = Client::new(&self.cluster, Limits::default()).with_progress(progress);
        let cached = self.cache.as_ref().map(|cache| self.cluster.cached(cache));
        self.runtime.block_on(kubeshape_client::pull(&client, wanted, cached))
    }

    /// Fetches live objects.
    ///
    /// # Errors
    /// The server does not respond.
    pub(super) fn live(&self, wanted: &WantedObjects) -> Result<Live, kubeshape_client::Error> {
        self.runtime.block_on(Client::new(&self.cluster, Limits::default()).live(wanted))
    }

    /// Sends a JSON patch of an object.
    ///
    /// # Errors
    /// The server does not respond, or refuses the patch.
    pub(super) fn json_patch(&self, path: &str, patch: &str) -> Result<(), String> {
        let sent = self.runtime.block_on(self.cluster.json_patch(path, patch.as_bytes().to_vec()));
        let response = sent.map_err(|error| error.to_string())?;
        if response.status == 200 {
            return Ok(());
        }
        let status: serde_json::Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let message = status["message"].as_str().unwrap_or("the response has no message");
        Err(format!("{}: {message}", response.status))
    }

    /// Returns the version of the list of CustomResourceDefinitions.
    pub(super) fn definitions_version(&self) -> Result<String, kubeshape_client::Error> {
        self.runtime.block_on(Client::new(&self.cluster, Limits::default()).definitions_version())
    }

    /// Waits until a definition changes.
    pub(super) fn change(&self, version: &str, most: Duration) -> Result<Change, kubeshape_client::Error> {
        self.runtime.block_on(Client::new(&self.cluster, Limits::default()).change(version, most))
    }
}

/// Returns the folder of the cache: the named one, or that of the environment variable, or the user's.
///
/// # Errors
/// None is named, and the user has no home.
pub(super) fn folder(named: Option<&Path>) -> Result<PathBuf, Fatal> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    if let Some(named) = std::env::var_os(CACHE).filter(|named| !named.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let own = directories::ProjectDirs::from("", "", "kubeshape").map(|folders| folders.cache_dir().to_owned());
    own.ok_or_else(|| Fatal::Usage(format!("there is no home folder for the cache: give --cache DIR, or set {CACHE}")))
}

pub(super) fn failed(error: CacheError) -> Fatal {
    match error {
        CacheError::Io { path, source } => Fatal::Read { path, message: describe(&source) },
        other => Fatal::Cluster(other.to_string()),
    }
}

/// The default timeout of one request.
pub(super) const TIMEOUT: Duration = Duration::from_mins(1);
