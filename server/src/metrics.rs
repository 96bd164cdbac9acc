//! What `/metrics` shows.

use std::time::Duration;

/// Counters, gauges and histograms of the server, and the cache sizes.
#[derive(Debug, Default)]
pub struct Metrics {}

impl Metrics {
    /// A request was answered. `endpoint` is a name from a fixed set, never a path.
    pub fn request(&self, _endpoint: &'static str, _method: &str, _code: u16, _time: Duration) {}

    /// A document or the index was made anew. `document` is `v3`, `index`, `v2` or `discovery`; `reason` is `add`,
    /// `update`, `delete`, `base` or `remote`.
    pub fn regenerated(&self, _document: &'static str, _reason: &'static str, _time: Duration) {}

    /// Aggregated discovery was put together.
    pub fn discovery_aggregated(&self, _time: Duration) {}

    /// A downstream server was asked. `result` is `success`, `unchanged` or `failure`.
    pub fn downstream(&self, _server: &str, _what: &'static str, _result: &'static str, _time: Duration) {}

    /// Bytes held, by kind (`v3`, `v2`, `compressed`, `protobuf`, `fragments` …).
    pub fn cache_size(&self, _kind: &'static str, _bytes: u64) {}
}
