//! The metrics of `/metrics`.
//!
//! `crd_openapi_v3_aggregation_duration_seconds` comes from KEP-2896.
//! `aggregator_discovery_aggregation_duration_seconds` and `aggregator_discovery_aggregation_count_total` come from
//! KEP-3352, with the names that kube-aggregator registers. All other names begin with `kubeshape_`.

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Buckets for the time to create documents, in seconds.
const MAKING: [f64; 11] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];
/// Buckets for the time to answer requests, here and downstream, in seconds.
const ANSWERING: [f64; 11] = [0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0];

/// Methods with their own label. Clients could invent any number of others.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Regeneration {
    document: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DocumentLabel {
    document: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    endpoint: &'static str,
    method: &'static str,
    code: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Endpoint {
    endpoint: &'static str,
    method: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Downstream {
    server: String,
    what: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CheckLabel {
    check: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

/// Counters, gauges and histograms of the server, and the cache sizes.
///
/// ```
/// use std::time::Duration;
///
/// let metrics = kubeshape_server::Metrics::default();
/// metrics.request("v3", "GET", 304, Duration::from_micros(40));
/// let text = metrics.encode();
/// assert!(text.contains(r#"kubeshape_requests_total{endpoint="v3",method="GET",code="304"} 1"#));
/// ```
pub struct Metrics {
    registry: Registry,
    crd_v3: Durations<Reason>,
    discovery: Histogram,
    discoveries: Counter,
    regenerations: Family<Regeneration, Counter>,
    regeneration: Durations<DocumentLabel>,
    requests: Family<RequestLabels, Counter>,
    request: Durations<Endpoint>,
    refused: Family<Reason, Counter>,
    downstream: Durations<Downstream>,
    cache: Family<KindLabel, Gauge>,
    connections: Gauge,
    accepted: Counter,
    ready: Family<CheckLabel, Gauge>,
    files: Family<StateLabel, Gauge>,
    reloads: Family<Reason, Counter>,
    log_dropped: Counter,
    log_repeated: Counter,
    started: Gauge<f64, AtomicU64>,
    measure: OnceLock<Measure>,
}

/// Sets metrics that are measured only when `/metrics` is read.
type Measure = Box<dyn Fn(&Metrics) + Send + Sync>;

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let making: fn() -> Histogram = || Histogram::new(MAKING);
        let answering: fn() -> Histogram = || Histogram::new(ANSWERING);
        let mut metrics = Metrics {
            registry: Registry::default(),
            crd_v3: Family::new_with_constructor(making),
            discovery: making(),
            discoveries: Counter::default(),
            regenerations: Family::default(),
            regeneration: Family::new_with_constructor(making),
            requests: Family::default(),
            request: Family::new_with_constructor(answering),
            refused: Family::default(),
            downstream: Family::new_with_constructor(answering),
            cache: Family::default(),
            connections: Gauge::default(),
            accepted: Counter::default(),
            ready: Family::default(),
            files: Family::default(),
            reloads: Family::default(),
            log_dropped: Counter::default(),
            log_repeated: Counter::default(),
            started: Gauge::default(),
            measure: OnceLock::new(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let all = &mut self.registry;
        all.register_with_unit(
            "crd_openapi_v3_aggregation_duration",
            "Time in which the OpenAPI v3 document of a group version of CustomResourceDefinitions was made anew",
            Unit::Seconds,
            self.crd_v3.clone(),
        );
        all.register_with_unit(
            "aggregator_discovery_aggregation_duration",
            "Time in which aggregated discovery was put together",
            Unit::Seconds,
            self.discovery.clone(),
        );
        all.register(
            "aggregator_discovery_aggregation_count",
            "How often aggregated discovery was put together",
            self.discoveries.clone(),
        );
        all.register(
            "kubeshape_regenerations",
            "How often a document was made anew, by what led to it",
            self.regenerations.clone(),
        );
        all.register_with_unit(
            "kubeshape_regeneration_duration",
            "Time in which a document was made anew",
            Unit::Seconds,
            self.regeneration.clone(),
        );
        all.register("kubeshape_requests", "Requests that were answered", self.requests.clone());
        all.register_with_unit(
            "kubeshape_request_duration",
            "Time from the head of a request to the head of its answer",
            Unit::Seconds,
            self.request.clone(),
        );
        all.register(
            "kubeshape_refused_requests",
            "Requests that did not reach an endpoint: unauthorized, rate, timeout, panic, memory …",
            self.refused.clone(),
        );
        all.register_with_unit(
            "kubeshape_downstream_request_duration",
            "Requests to aggregated servers, by result",
            Unit::Seconds,
            self.downstream.clone(),
        );
        all.register_with_unit("kubeshape_cache_size", "Memory held, by kind", Unit::Bytes, self.cache.clone());
        all.register("kubeshape_connections", "Connections that are open", self.connections.clone());
        all.register("kubeshape_accepted_connections", "Connections that were accepted", self.accepted.clone());
        all.register("kubeshape_ready", "Whether a check of readiness is fine (1) or not (0)", self.ready.clone());
        all.register("kubeshape_files", "Input files: served as they are, or broken", self.files.clone());
        all.register(
            "kubeshape_log_dropped_lines",
            "Lines of the log that were dropped, because the log is not read fast enough",
            self.log_dropped.clone(),
        );
        all.register(
            "kubeshape_log_repeated_messages",
            "Messages that were counted in the log instead of written",
            self.log_repeated.clone(),
        );
        all.register("kubeshape_reloads", "How often changed files were taken in, by result", self.reloads.clone());
        all.register_with_unit(
            "process_start_time",
            "When the process started, since the Unix epoch",
            Unit::Seconds,
            self.started.clone(),
        );
    }

    /// Returns the content of `/metrics`, `application/openmetrics-text; version=1.0.0; charset=utf-8`.
    pub fn encode(&self) -> String {
        if let Some(measure) = self.measure.get() {
            measure(self);
        }
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }

    /// Calls `measure` before each [`Metrics::encode`], to set metrics that are not counted, such as sizes. Only the
    /// first call has an effect.
    pub fn measured_by(&self, measure: impl Fn(&Metrics) + Send + Sync + 'static) {
        let _ = self.measure.set(Box::new(measure));
    }

    /// Counts an answered request. `endpoint` is a name from a fixed set, never a path.
    pub fn request(&self, endpoint: &'static str, method: &str, code: u16, time: Duration) {
        let method = METHODS.into_iter().find(|known| *known == method).unwrap_or("other");
        self.requests.get_or_create(&RequestLabels { endpoint, method, code }).inc();
        self.request.get_or_create(&Endpoint { endpoint, method }).observe(time.as_secs_f64());
    }

    /// Counts a request that was refused before it reached an endpoint. `reason` is `malformed`,
    /// `unauthorized`, `host`, `origin`, `rate`, `timeout`, `panic` or `memory`.
    pub fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// Counts a document or an index that was created again. `document` is `v3`, `index`, `v2` or `discovery`; `reason`
    /// is `add`, `update`, `delete`, `base` or `remote`.
    pub fn regenerated(&self, document: &'static str, reason: &'static str, time: Duration) {
        self.regenerations.get_or_create(&Regeneration { document, reason }).inc();
        self.regeneration.get_or_create(&DocumentLabel { document }).observe(time.as_secs_f64());
        if document == "v3" && matches!(reason, "add" | "update" | "delete") {
            self.crd_v3.get_or_create(&Reason { reason }).observe(time.as_secs_f64());
        }
    }

    /// Counts that aggregated discovery was created again.
    pub fn discovery_aggregated(&self, time: Duration) {
        self.discoveries.inc();
        self.discovery.observe(time.as_secs_f64());
    }

    /// Counts a request to a downstream server. `result` is `success`, `unchanged` or `failure`.
    pub fn downstream(&self, server: &str, what: &'static str, result: &'static str, time: Duration) {
        let labels = Downstream { server: server.to_owned(), what, result };
        self.downstream.get_or_create(&labels).observe(time.as_secs_f64());
    }

    /// Sets the memory of documents in bytes, by kind (`v3`, `v2`, `compressed`, `protobuf`, `fragments` …).
    pub fn cache_size(&self, kind: &'static str, bytes: u64) {
        self.cache.get_or_create(&KindLabel { kind }).set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Counts an accepted connection. It is open until the result is dropped.
    pub fn connection(self: &Arc<Self>) -> OpenConnection {
        self.accepted.inc();
        self.connections.inc();
        OpenConnection(Arc::clone(self))
    }

    /// Sets the result of a readiness check.
    pub fn ready(&self, check: &str, fine: bool) {
        self.ready.get_or_create(&CheckLabel { check: check.to_owned() }).set(i64::from(fine));
    }

    /// Sets the number of good and of broken input files.
    pub fn files(&self, good: usize, broken: usize) {
        for (state, count) in [("good", good), ("broken", broken)] {
            self.files.get_or_create(&StateLabel { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// Counts that changed files were read. `result` is `success` or `failure`.
    pub fn reloaded(&self, result: &'static str) {
        self.reloads.get_or_create(&Reason { reason: result }).inc();
    }

    /// Sets the number of lines of the log that were dropped, and of messages that were counted instead of written.
    pub fn log_lines(&self, dropped: u64, repeated: u64) {
        self.log_dropped.inner().store(dropped, Relaxed);
        self.log_repeated.inner().store(repeated, Relaxed);
    }

    /// Sets the start time of the process.
    pub fn started(&self, at: SystemTime) {
        self.started.set(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
    }
}

/// An open connection, counted until it is dropped.
#[derive(Debug)]
pub struct OpenConnection(Arc<Metrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(metrics: &Metrics, start: &str) -> Vec<String> {
        metrics.encode().lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
    }

    #[test]
    fn the_metrics_of_the_proposals_exist() {
        let metrics = Metrics::default();
        metrics.regenerated("v3", "update", Duration::from_millis(2));
        metrics.regenerated("v3", "remote", Duration::from_millis(2));
        metrics.discovery_aggregated(Duration::from_millis(20));
        let text = metrics.encode();
        for line in [
            "crd_openapi_v3_aggregation_duration_seconds_count{reason=\"update\"} 1",
            "aggregator_discovery_aggregation_duration_seconds_count 1",
            "aggregator_discovery_aggregation_count_total 1",
            "kubeshape_regenerations_total{document=\"v3\",reason=\"remote\"} 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
        assert!(!text.contains("crd_openapi_v3_aggregation_duration_seconds_count{reason=\"remote\"}"));
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn clients_cannot_invent_series() {
        let metrics = Metrics::default();
        for n in 0..100 {
            metrics.request("other", &format!("M{n}"), 404, Duration::ZERO);
        }
        assert_eq!(
            lines(&metrics, "kubeshape_requests_total"),
            ["kubeshape_requests_total{endpoint=\"other\",method=\"other\",code=\"404\"} 100"]
        );
    }

    #[test]
    fn gauges_follow() {
        let metrics = Arc::new(Metrics::default());
        let one = metrics.connection();
        let two = metrics.connection();
        drop(one);
        assert_eq!(lines(&metrics, "kubeshape_connections "), ["kubeshape_connections 1"]);
        assert_eq!(lines(&metrics, "kubeshape_accepted"), ["kubeshape_accepted_connections_total 2"]);
        drop(two);
        assert_eq!(lines(&metrics, "kubeshape_connections "), ["kubeshape_connections 0"]);
        metrics.files(3, 1);
        metrics.ready("files", false);
        metrics.started(UNIX_EPOCH + Duration::from_millis(1500));
        metrics.cache_size("v3", 7);
        for (start, line) in [
            ("kubeshape_files{state=\"broken\"", "kubeshape_files{state=\"broken\"} 1"),
            ("kubeshape_ready{", "kubeshape_ready{check=\"files\"} 0"),
            ("process_start", "process_start_time_seconds 1.5"),
            ("kubeshape_cache", "kubeshape_cache_size_bytes{kind=\"v3\"} 7"),
        ] {
            assert_eq!(lines(&metrics, start), [line]);
        }
    }
}
