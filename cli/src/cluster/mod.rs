//! Clusters: `kubeshape pull`, `kubeshape cache`, and `cluster:CONTEXT` as an input. `kubeshape-client` queries the
//! servers. Without the feature `cluster`, these commands do not exist, and such an input is refused.

#[cfg(feature = "cluster")]
mod asked;
mod inputs;
mod live;
#[cfg(feature = "cluster")]
mod pull;
#[cfg(feature = "cluster")]
mod stat;
#[cfg(feature = "cluster")]
mod wait;

pub(crate) use inputs::{context_of, inputs, release};
pub(crate) use live::{live, patch};
#[cfg(feature = "cluster")]
pub(crate) use {pull::pull, stat::cache};
