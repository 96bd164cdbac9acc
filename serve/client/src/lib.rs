//! Fetches the OpenAPI and discovery documents of Kubernetes clusters, each only once (KEP-2896, KEP-3352).
//!
//! A server lists its OpenAPI v3 documents at `/openapi/v3`, each with a hash. [`Client`] requests this
//! [index](Client::index), [single documents](Client::document), [discovery](Client::discovery), [OpenAPI
//! v2](Client::v2) and the [CustomResourceDefinitions](Client::definitions). [`pull`] fetches all of them: a document
//! in the [cache](cache::Cache) is not downloaded again. The documents of a server that has only OpenAPI v2 are
//! converted; for one without aggregated discovery, the discovery of each group version is fetched.
//!
//! A [`Document`] has the bytes that the server sent, in JSON or protobuf; [`Document::read`] decodes it to the types
//! of `kubeshape-convert`. [`aggregate`] merges all into one document.
//!
//! [`mapper::Mapper`] maps resources to kinds and kinds to resources, like the mappers of client-go.
//!
//! A [`Transport`] sends the requests. With the feature `cluster`, `Cluster` is one: it reads kubeconfig files, and
//! connects with their certificates, tokens, plugins and proxies.
//!
//! # Example
//! ```no_run
//! # #[cfg(feature = "cluster")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use kubeshape_client::cache::{Bounds, Cache};
//! use kubeshape_client::{Client, Cluster, ClusterOptions, Limits, Wanted, pull};
//!
//! let cluster = Cluster::connect(&ClusterOptions::default()).await?;
//! let cache = Cache::open("cache", Bounds::default())?;
//! let cached = cluster.cached(&cache);
//! let client = Client::new(&cluster, Limits::default());
//! let pulled = pull(&client, &Wanted::default(), Some(cached)).await?;
//! assert!(pulled.documents.iter().any(|fetched| fetched.document.path == "api/v1"));
//! # Ok(())
//! # }
//! ```

pub mod cache;
mod client;
#[cfg(feature = "cluster")]
mod cluster;
mod discover;
mod document;
mod error;
mod live;
pub mod mapper;
mod pull;
mod transport;

pub use client::{Change, Client, Definition, Limits, Progress, Version};
#[cfg(feature = "cluster")]
pub use cluster::{Cluster, ClusterError, ClusterOptions};
pub use discover::Discovery;
pub use document::{Aggregated, Document, Encoding, aggregate};
pub use error::{Error, Fault};
pub use live::{Live, LiveObject, WantedObjects};
pub use pull::{Cached, Fetched, OpenApiV2, Pulled, Wanted, pull};
pub use transport::{Request, Response, Transport, TransportError};
