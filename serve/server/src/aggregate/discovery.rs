//! Polling the discovery of a server, as `discoveryManager` in kube-aggregator `pkg/apiserver` does.

use super::bodies::{DiscoveryBody, resources};
use super::client::{DocumentRequest, DocumentResponse};
use super::downstream::{Closed, Downstream, Polled};
use super::failure::Failure;
use super::groups::{Published, Wanted, published, shown};
use super::options::GroupVersionName;
use http::StatusCode;
use kubeshape_discovery::read::ACCEPT;
use kubeshape_discovery::{Freshness, GroupVersion, Origin};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::{Instant, timeout};

/// Polls the discovery of a server.
pub(super) struct DiscoveryPoll {
    server: Arc<Downstream>,
    /// The aggregated responses of `/apis` and `/api`.
    lists: BTreeMap<&'static str, Cached<Published>>,
    /// The responses of group versions, for servers without aggregated discovery.
    versions: BTreeMap<GroupVersionName, Cached<Arc<GroupVersion>>>,
    /// What the last poll downloaded and did not have before.
    downloaded: Option<&'static str>,
    /// The last good result.
    published: Option<Published>,
}

/// The last response, with its ETag.
struct Cached<T> {
    tag: Arc<str>,
    value: T,
}

impl DiscoveryPoll {
    pub(super) fn new(server: Arc<Downstream>) -> DiscoveryPoll {
        DiscoveryPoll { server, lists: BTreeMap::new(), versions: BTreeMap::new(), downloaded: None, published: None }
    }

    /// Reports the configured group versions, before the first request to the server.
    ///
    /// # Errors
    /// The receiver of states is gone.
    pub(super) async fn report_expected(&mut self) -> Result<(), Closed> {
        self.report(false).await
    }

    /// Polls once, and reports changes.
    ///
    /// # Errors
    /// The receiver of states is gone. The inner error is why the server did not respond.
    pub(super) async fn poll(&mut self) -> Result<Result<(), Failure>, Closed> {
        let start = Instant::now();
        let total = self.server.client.options.timeouts.total;
        let answer = timeout(total, self.fetch()).await.unwrap_or(Err(Failure::Timeout("discovery")));
        if let Some(what) = self.downloaded.filter(|_| answer.is_ok()) {
            // KEP-3352 refers users to this line. kube-aggregator writes it at level 3.
            tracing::debug!("DiscoveryManager: Successfully downloaded {what} for {}", self.server.client.options.name);
        }
        let polled = answer.map(|published| {
            if self.published.as_ref() == Some(&published) {
                return Polled::Unchanged;
            }
            self.published = Some(published);
            Polled::New(())
        });
        self.server.measure("discovery", start, &polled);
        self.report(polled.is_ok()).await?;
        Ok(polled.map(|_| ()))
    }

    async fn report(&self, answers: bool) -> Result<(), Closed> {
        let groups = shown(self.published.as_ref(), Wanted::of(&self.server.client.options), answers);
        let change = |state: &mut crate::remote::RemoteState| {
            let changed = state.groups != groups;
            state.groups = groups;
            changed
        };
        self.server.report(change).await
    }

    async fn fetch(&mut self) -> Result<Published, Failure> {
        let server = Arc::clone(&self.server);
        let wanted = Wanted::of(&server.client.options);
        self.downloaded = None;
        let mut all = Published::new();
        for (place, core) in [("/apis", false), ("/api", true)] {
            let named = wanted.named();
            if named.is_empty() || named.iter().any(|name| name.group.is_empty() == core) {
                all.append(&mut self.list(place, core, wanted).await?);
            }
        }
        let limit = server.client.options.limits.group_versions;
        if all.len() > limit {
            let fault = format!("more than {limit} group versions");
            return Err(Failure::Content { path: "/apis".to_owned(), fault });
        }
        Ok(all)
    }

    /// Fetches the group versions of `/apis` or `/api`.
    async fn list(&mut self, place: &'static str, core: bool, wanted: Wanted<'_>) -> Result<Published, Failure> {
        let known = self.lists.get(place).map(|known| &*known.tag);
        let DocumentResponse { status, tag, body } = self.get(place, ACCEPT, known).await?;
        let named = || wanted.named().iter().filter(|name| name.group.is_empty() == core).cloned().collect();
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known.is_some() => {
                return Ok(self.lists.get(place).map(|known| known.value.clone()).unwrap_or_default());
            }
            // Servers older than aggregated discovery, and servers without a core group.
            StatusCode::NOT_FOUND | StatusCode::NOT_ACCEPTABLE => {
                self.lists.remove(place);
                return self.versions(named()).await;
            }
            status => return Err(Failure::Status { path: place.to_owned(), status: status.as_u16() }),
        }
        let content = |fault| Failure::Content { path: place.to_owned(), fault };
        let body = DiscoveryBody::read(&body).map_err(content)?;
        self.lists.remove(place);
        match body {
            DiscoveryBody::Groups(groups) => {
                self.downloaded = Some("discovery");
                let mut value = published(&groups, wanted);
                value.retain(|name, _| name.group.is_empty() == core);
                if let Some(tag) = tag {
                    self.lists.insert(place, Cached { tag, value: value.clone() });
                }
                Ok(value)
            }
            DiscoveryBody::Names(names) => {
                let mut names: Vec<_> = names
                    .into_iter()
                    .filter(|name| name.group.is_empty() == core && wanted.has(&name.group, &name.version))
                    .collect();
                names.sort();
                names.dedup();
                self.versions(names).await
            }
        }
    }

    /// Fetches group versions one by one.
    async fn versions(&mut self, names: Vec<GroupVersionName>) -> Result<Published, Failure> {
        let limit = self.server.client.options.limits.group_versions;
        if names.len() > limit {
            let fault = format!("more than {limit} group versions");
            return Err(Failure::Content { path: "/apis".to_owned(), fault });
        }
        let mut out = Published::new();
        for name in names {
            if let Some(version) = self.version(&name).await? {
                out.insert(name, version);
            }
        }
        Ok(out)
    }

    async fn version(&mut self, name: &GroupVersionName) -> Result<Option<Arc<GroupVersion>>, Failure> {
        let path = format!("/{}", name.path());
        let known = self.versions.get(name).map(|known| &*known.tag);
        let DocumentResponse { status, tag, body } = self.get(&path, "application/json", known).await?;
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known.is_some() => {
                return Ok(self.versions.get(name).map(|known| Arc::clone(&known.value)));
            }
            StatusCode::NOT_FOUND => {
                self.versions.remove(name);
                return Ok(None);
            }
            status => return Err(Failure::Status { path, status: status.as_u16() }),
        }
        let resources = resources(&body, name).map_err(|fault| Failure::Content { path, fault })?;
        self.downloaded = Some("legacy discovery");
        let version = Arc::new(GroupVersion {
            version: Arc::clone(&name.version),
            priority: super::groups::priority(name),
            origin: Origin::Aggregated,
            freshness: Freshness::Current,
            resources,
        });
        match tag {
            Some(tag) => self.versions.insert(name.clone(), Cached { tag, value: Arc::clone(&version) }),
            None => self.versions.remove(name),
        };
        Ok(Some(version))
    }

    async fn get(&self, path: &str, accept: &'static str, tag: Option<&str>) -> Result<DocumentResponse, Failure> {
        let client = &self.server.client;
        client.get(DocumentRequest { path, accept, tag, limit: client.options.limits.discovery }).await
    }
}
