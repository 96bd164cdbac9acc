//! Which resources a server has (spec: publishing, §5.2; upstream: the aggregator's `discoveryManager`).

use super::bodies::{DiscoveryBody, resources};
use super::client::{Answer, Failure, Question};
use super::groups::{Published, Wanted, published, shown};
use super::options::GroupVersionName;
use super::poll::{Deaf, Look, Shared};
use http::StatusCode;
use kubeshape_discovery::{Freshness, GroupVersion, Origin};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::{Instant, timeout};

/// As upstream asks, and what servers without aggregated discovery answer.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// Looks at the discovery of a server.
pub(super) struct DiscoveryPoll {
    shared: Arc<Shared>,
    /// The aggregated answers of `/apis` and `/api`.
    lists: BTreeMap<&'static str, Known<Published>>,
    /// Answers of group versions, of servers that have no aggregated discovery.
    versions: BTreeMap<GroupVersionName, Known<Arc<GroupVersion>>>,
    /// The last good answer.
    published: Option<Published>,
}

/// What was answered with its tag.
struct Known<T> {
    tag: Arc<str>,
    value: T,
}

impl DiscoveryPoll {
    pub(super) fn new(shared: Arc<Shared>) -> DiscoveryPoll {
        DiscoveryPoll { shared, lists: BTreeMap::new(), versions: BTreeMap::new(), published: None }
    }

    /// Tells what is expected of the server before it was asked.
    pub(super) async fn expect(&mut self) -> Result<(), Deaf> {
        self.tell(false).await
    }

    /// Looks once, and tells what changed.
    pub(super) async fn look(&mut self) -> Result<Result<(), Failure>, Deaf> {
        let start = Instant::now();
        let total = self.shared.client.options.timeouts.total;
        let answer = timeout(total, self.ask()).await.unwrap_or(Err(Failure::Late("discovery")));
        let look = answer.map(|published| {
            if self.published.as_ref() == Some(&published) {
                return Look::Same;
            }
            self.published = Some(published);
            Look::New(())
        });
        self.shared.measure("discovery", start, &look);
        self.tell(look.is_ok()).await?;
        Ok(look.map(|_| ()))
    }

    async fn tell(&self, answers: bool) -> Result<(), Deaf> {
        let groups = shown(self.published.as_ref(), Wanted::of(&self.shared.client.options), answers);
        let change = |state: &mut crate::remote::RemoteState| {
            let changed = state.groups != groups;
            state.groups = groups;
            changed
        };
        self.shared.tell(change).await
    }

    async fn ask(&mut self) -> Result<Published, Failure> {
        let shared = Arc::clone(&self.shared);
        let wanted = Wanted::of(&shared.client.options);
        let mut all = Published::new();
        for (place, core) in [("/apis", false), ("/api", true)] {
            let named = wanted.named();
            if named.is_empty() || named.iter().any(|name| name.group.is_empty() == core) {
                all.append(&mut self.list(place, core, wanted).await?);
            }
        }
        let limit = shared.client.options.limits.group_versions;
        if all.len() > limit {
            let fault = format!("more than {limit} group versions");
            return Err(Failure::Content { path: "/apis".to_owned(), fault });
        }
        Ok(all)
    }

    /// The group versions of `/apis` or `/api`.
    async fn list(&mut self, place: &'static str, core: bool, wanted: Wanted<'_>) -> Result<Published, Failure> {
        let known = self.lists.get(place).map(|known| &*known.tag);
        let Answer { status, tag, body } = self.get(place, AGGREGATED, known).await?;
        let named = || wanted.named().iter().filter(|name| name.group.is_empty() == core).cloned().collect();
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known.is_some() => {
                return Ok(self.lists.get(place).map(|known| known.value.clone()).unwrap_or_default());
            }
            // Servers older than aggregated discovery, and those without core group.
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
                let mut value = published(&groups, wanted);
                value.retain(|name, _| name.group.is_empty() == core);
                if let Some(tag) = tag {
                    self.lists.insert(place, Known { tag, value: value.clone() });
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

    /// Group versions one by one.
    async fn versions(&mut self, names: Vec<GroupVersionName>) -> Result<Published, Failure> {
        let limit = self.shared.client.options.limits.group_versions;
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
        let Answer { status, tag, body } = self.get(&path, "application/json", known).await?;
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
        let version = Arc::new(GroupVersion {
            version: Arc::clone(&name.version),
            priority: super::groups::priority(name),
            origin: Origin::Aggregated,
            freshness: Freshness::Current,
            resources,
        });
        match tag {
            Some(tag) => self.versions.insert(name.clone(), Known { tag, value: Arc::clone(&version) }),
            None => self.versions.remove(name),
        };
        Ok(Some(version))
    }

    async fn get(&self, path: &str, accept: &'static str, tag: Option<&str>) -> Result<Answer, Failure> {
        let client = &self.shared.client;
        client.get(Question { path, accept, tag, limit: client.options.limits.discovery }).await
    }
}
