//! The discovery of a server.

use crate::client::{Answer, Client, Limits};
use crate::error::{Error, Fault};
use crate::transport::Transport;
use futures_util::future::join3;
use futures_util::stream::{self, StreamExt as _};
use kubeshape_discovery::openapi;
use kubeshape_discovery::read::{self, Document, GroupEntry};
use kubeshape_discovery::{Group, Records};
use kubeshape_yaml::Limits as TextLimits;
use std::collections::BTreeMap;

/// The discovery documents of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// Documents as the server sent them, by path: `/apis`, `/api`, `/version`; for servers without aggregated
    /// discovery also `/apis/GROUP/VERSION`.
    pub documents: BTreeMap<String, Vec<u8>>,
    /// The requests that failed.
    pub failures: Vec<Error>,
}

impl Discovery {
    /// Returns the groups in the order of the server.
    ///
    /// # Errors
    /// A document cannot be decoded.
    pub fn groups(&self) -> Result<Vec<Group>, Error> {
        groups(&self.documents)
    }
}

/// Returns the groups in discovery documents.
pub(crate) fn groups(documents: &BTreeMap<String, Vec<u8>>) -> Result<Vec<Group>, Error> {
    let mut records = Records::default();
    for (path, bytes) in documents {
        records.add(read_list(path, bytes)?);
    }
    Ok(records.groups())
}

/// A discovery document with its ETag.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) tag: Option<String>,
    pub(crate) bytes: Vec<u8>,
    /// Whether the server said that it did not change.
    pub(crate) is_known: bool,
}

impl<T: Transport> Client<T> {
    /// Returns the discovery of the server: aggregated as `v2`, else as `v2beta1`, else by group versions, like
    /// client-go.
    ///
    /// # Errors
    /// The server does not respond to `/apis`. Other failures are in [`Discovery::failures`].
    ///
    /// # Example
    /// ```
    /// # use kubeshape_client::{Client, Limits, Request, Response, Transport, TransportError};
    /// # struct Server;
    /// # impl Transport for Server {
    /// #     async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
    /// #         let (status, body) = match request.path {
    /// #             "/apis" => (200, r#"{"kind":"APIGroupList","groups":[{"name":"a.io","versions":[{"groupVersion":"a.io/v1","version":"v1"}]}]}"#),
    /// #             "/apis/a.io/v1" => (200, r#"{"kind":"APIResourceList","groupVersion":"a.io/v1","resources":[{"name":"as","kind":"A","verbs":[]}]}"#),
    /// #             _ => (404, ""),
    /// #         };
    /// #         Ok(Response { status, body: body.into(), ..Response::default() })
    /// #     }
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let discovery = Client::new(Server, Limits::default()).discovery().await?;
    /// assert_eq!(discovery.groups()?[0].versions[0].resources[0].name.as_ref(), "as");
    /// # Ok::<(), kubeshape_client::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn discovery(&self) -> Result<Discovery, Error> {
        let mut discovery = Discovery::default();
        for (path, list) in self.lists(|_| None).await {
            match list {
                Ok(list) => drop(discovery.documents.insert(path, list.bytes)),
                Err(error) => discovery.failures.push(error),
            }
        }
        match discovery.failures.pop() {
            Some(error) if discovery.documents.is_empty() => Err(error),
            last => {
                discovery.failures.extend(last);
                Ok(discovery)
            }
        }
    }

    /// Returns all discovery documents with their paths. `known` has earlier ones with their ETags: unchanged ones are
    /// not sent again.
    pub(crate) async fn lists(
        &self,
        known: impl Fn(&str) -> Option<(String, Vec<u8>)>,
    ) -> Vec<(String, Result<List, Error>)> {
        let ask = |path| self.one(path, &known);
        let (apis, api, version) = join3(ask("/apis"), ask("/api"), ask("/version")).await;
        let (mut lists, mut versions) = (Vec::new(), Vec::new());
        for (path, answer) in [("/apis", apis), ("/api", api), ("/version", version)] {
            match answer {
                Ok((document, list)) => {
                    versions.append(&mut listed(&document));
                    lists.push((path.to_owned(), Ok(list)));
                }
                // A server may have no core group, and an aggregated one has no version.
                Err(error) if path != "/apis" && matches!(error.fault.status(), Some(403 | 404)) => {}
                Err(error) => lists.push((path.to_owned(), Err(error))),
            }
        }
        let Limits { parallel, total, group_versions, .. } = *self.limits();
        let failed = |fault: String| ("/apis".to_owned(), Err(content("/apis", fault)));
        if versions.len() > group_versions {
            lists.push(failed(format!("it lists {} group versions; the limit is {group_versions}", versions.len())));
            return lists;
        }
        let known = &known;
        let of_version = |version: String| async move {
            // A name that would lead elsewhere is not requested.
            let Some(path) = openapi::path_of(&version).map(|path| format!("/{path}")) else {
                return failed(format!("{version:?} is no group version"));
            };
            let list = self.one(&path, known).await.map(|(_, list)| list);
            (path, list)
        };
        let mut answers = stream::iter(versions).map(of_version).buffered(parallel.max(1));
        let mut size = 0;
        while let Some((path, list)) = answers.next().await {
            size += list.as_ref().map_or(0, |list| list.bytes.len());
            if size > total {
                lists.push(failed(format!("all discovery documents are larger than {total} bytes")));
                break;
            }
            lists.push((path, list));
        }
        drop(answers);
        lists
    }

    /// Requests one discovery document: `/apis`, `/api`, `/apis/apps/v1`, `/version`.
    async fn one(
        &self,
        path: &str,
        known: &impl Fn(&str) -> Option<(String, Vec<u8>)>,
    ) -> Result<(Document, List), Error> {
        let known = known(path);
        let tag = known.as_ref().map(|(tag, _)| tag.as_str());
        let list = match self.since(path, read::ACCEPT, tag, self.limits().discovery).await? {
            Answer::New { tag, bytes } => List { tag, bytes, is_known: false },
            Answer::Unchanged => {
                let (tag, bytes) = known.unwrap_or_default();
                List { tag: Some(tag), bytes, is_known: true }
            }
        };
        Ok((read_list(path, &list.bytes)?, list))
    }
}

/// Returns the group versions whose documents must be requested, because the list does not contain their resources.
fn listed(document: &Document) -> Vec<String> {
    match document {
        Document::Groups(groups) => {
            let of = |group: &GroupEntry| {
                let name = group.name.clone();
                group.versions.iter().map(move |version| format!("{name}/{version}")).collect::<Vec<_>>()
            };
            groups.iter().flat_map(of).collect()
        }
        Document::Versions { versions, .. } => versions.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn read_list(path: &str, bytes: &[u8]) -> Result<Document, Error> {
    let limits = TextLimits { nodes: 8_000_000, alias_nodes: 0, ..TextLimits::default() };
    read::read(bytes, limits).map_err(|error| content(path, error.to_string()))
}

fn content(path: &str, fault: String) -> Error {
    Error { path: path.to_owned(), fault: Fault::Content(fault) }
}
