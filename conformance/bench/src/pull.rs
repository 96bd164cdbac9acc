//! `kubeshape-bench pull [FOLDER]`: the client without a network, so that only the client is measured.
//!
//! A server in memory has the documents of a folder (OpenAPI v3 in JSON), or 60 documents of 100 kB. Times are the best
//! of the rounds, in processor time of this process.
//!
//! `kubeshape-bench pull --server URL`: the client of a server, such as `kubeshape serve` on the loopback interface, in
//! wall time. A pull is compared with the same requests without any processing.

use cpu_time::ProcessTime;
use futures_util::stream::{self, StreamExt as _};
use kubeshape_client::cache::{Bounds, Cache, Digest};
use kubeshape_client::{
    Cached, Client, Cluster, ClusterOptions, Limits, Request, Response, Transport, TransportError, Wanted, pull,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Rounds of each measurement.
const ROUNDS: usize = 20;
/// Number of documents in the cache that is compacted.
const ENTRIES: usize = 10_000;

struct Server(BTreeMap<String, Vec<u8>>);

impl Server {
    fn new(documents: Vec<(String, Vec<u8>)>) -> Server {
        let (mut answers, mut index) = (BTreeMap::new(), String::new());
        for (path, body) in documents {
            let url = format!("/openapi/v3/{path}?hash={}", Digest::of(&body));
            let comma = if index.is_empty() { "" } else { "," };
            let _ = write!(index, "{comma}\"{path}\":{{\"serverRelativeURL\":\"{url}\"}}");
            answers.insert(url, body);
        }
        answers.insert("/openapi/v3".to_owned(), format!("{{\"paths\":{{{index}}}}}").into_bytes());
        let discovery = br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[]}"#;
        answers.insert("/apis".to_owned(), discovery.to_vec());
        Server(answers)
    }
}

impl Transport for Server {
    async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
        let Some(body) = self.0.get(request.path) else { return Ok(Response { status: 404, ..Response::default() }) };
        let tag = (request.path == "/apis").then(|| "\"1\"".to_owned());
        if tag.is_some() && request.tag == tag.as_deref() {
            return Ok(Response { status: 304, tag, ..Response::default() });
        }
        Ok(Response { status: 200, tag, body: body.clone(), ..Response::default() })
    }
}

/// Runs the benchmark.
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    if let [option, url] = arguments
        && option == "--server"
    {
        return match beside(url) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(1)
            }
        };
    }
    let documents = match arguments.first() {
        Some(folder) => read(Path::new(folder)),
        None => (0..60).map(|n| (format!("apis/group{n}.example.com/v1"), made(n))).collect(),
    };
    match run(documents) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

fn run(documents: Vec<(String, Vec<u8>)>) -> Result<(), Box<dyn std::error::Error>> {
    let (count, bytes) = (documents.len(), documents.iter().map(|(_, body)| body.len()).sum::<usize>());
    println!("{count} documents, {bytes} bytes; best of {ROUNDS} rounds, processor time");
    let server = Server::new(documents);
    let client = Client::new(&server, Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let folder = tempfile::tempdir()?;
    let open = |name: String| Cache::open(folder.path().join(name), Bounds::default());
    let go = |wanted: &Wanted, cache: Option<&Cache>| {
        let cached = cache.map(|cache| Cached { cache, cluster: "c", server: "http://c" });
        runtime.block_on(pull(&client, wanted, cached))
    };
    let unread = Wanted { unread: true, ..Wanted::default() };
    let whole = Wanted::default();
    line("first pull, without a cache", best(|| go(&whole, None).map(drop))?);
    let mut round = 0;
    let first = best(|| -> Result<(), Box<dyn std::error::Error>> {
        round += 1;
        go(&whole, Some(&open(format!("first{round}"))?))?;
        Ok(())
    })?;
    line("first pull, into a cache", first);
    let cache = open("again".to_owned())?;
    go(&whole, Some(&cache))?;
    line("repeated pull that only looks", best(|| go(&unread, Some(&cache)).map(drop))?);
    line("repeated pull that reads everything", best(|| go(&whole, Some(&cache)).map(drop))?);
    let largest = server.0.values().max_by_key(|body| body.len()).map(|body| Digest::of(body));
    let read = best(|| largest.and_then(|digest| cache.get(digest)).map(drop).ok_or("it is not there"))?;
    line("opening the largest document", read);

    let many = open("many".to_owned())?;
    for n in 0..ENTRIES {
        many.put(format!("{n}").as_bytes())?;
    }
    let many = Cache::open(many.folder(), Bounds { entries: ENTRIES / 2, ..Bounds::default() })?;
    let (start, clock) = (ProcessTime::now(), Instant::now());
    let compacted = many.compact()?;
    println!(
        "{:<46} {:>9.2} ms, {:.2} ms on the clock; {} deleted",
        format!("compaction of {ENTRIES} entries"),
        start.elapsed().as_secs_f64() * 1e3,
        clock.elapsed().as_secs_f64() * 1e3,
        compacted.entries
    );
    Ok(())
}

/// Pulls from a server, and sends the same requests without keeping the responses.
fn beside(url: &str) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let options = ClusterOptions { server: Some(url.to_owned()), ..ClusterOptions::default() };
    let cluster = runtime.block_on(Cluster::connect(&options))?;
    let client = Client::new(&cluster, Limits::default());
    let index = runtime.block_on(client.index())?;
    let urls: Vec<String> = index.urls().map(|(_, url)| url).collect();
    let get = |path: String| {
        let cluster = &cluster;
        async move {
            let request = Request { path: &path, accept: "application/json", tag: None, limit: 64 << 20 };
            cluster.get(request).await.map(|response| response.body.len())
        }
    };
    let mut bytes = 0;
    let folder = tempfile::tempdir()?;
    let (mut round, mut times) = (0, [Duration::MAX; 6]);
    let wanted = Wanted { unread: true, ..Wanted::default() };
    for _ in 0..ROUNDS {
        let mut time = |at: usize, f: &mut dyn FnMut() -> Result<(), Box<dyn std::error::Error>>| {
            let (start, clock) = (ProcessTime::now(), Instant::now());
            f()?;
            times[at] = times[at].min(clock.elapsed());
            times[at + 1] = times[at + 1].min(start.elapsed());
            Ok::<(), Box<dyn std::error::Error>>(())
        };
        time(0, &mut || {
            // The lists, and then the documents, as a pull requests them.
            runtime.block_on(async {
                let lists = ["/openapi/v3", "/apis", "/api", "/version"].map(str::to_owned);
                stream::iter(lists).map(get).buffered(4).collect::<Vec<_>>().await;
                let all = stream::iter(urls.clone()).map(get).buffered(8).collect::<Vec<_>>().await;
                bytes = all.into_iter().sum::<Result<usize, _>>()?;
                Ok::<(), TransportError>(())
            })?;
            Ok(())
        })?;
        round += 1;
        let cache = Cache::open(folder.path().join(format!("{round}")), Bounds::default())?;
        let cached = Cached { cache: &cache, cluster: "c", server: "http://c" };
        let mut go = || {
            runtime.block_on(pull(&client, &wanted, Some(cached)))?;
            Ok(())
        };
        time(2, &mut go)?;
        time(4, &mut go)?;
    }
    let one = (0..ROUNDS * 5).map(|_| {
        let clock = Instant::now();
        runtime.block_on(get("/openapi/v3".to_owned())).map(|_| clock.elapsed())
    });
    let one = one.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
    println!("{} documents, {bytes} bytes; best of {ROUNDS} rounds; on the clock, processor time", urls.len());
    for (what, at) in [("the requests alone", 0), ("first pull, into a cache", 2), ("repeated pull", 4)] {
        println!("{what:<46} {:>9.2} ms {:>9.2} ms", times[at].as_secs_f64() * 1e3, times[at + 1].as_secs_f64() * 1e3);
    }
    line("one request for the index, on the clock", one);
    Ok(())
}

fn best<E>(mut f: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = ProcessTime::now();
        f()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

fn line(what: &str, time: Duration) {
    println!("{what:<46} {:>9.2} ms", time.as_secs_f64() * 1e3);
}

/// Returns a document of 100 kB.
fn made(number: usize) -> Vec<u8> {
    let mut schemas = String::new();
    for n in 0..500 {
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(
            schemas,
            "{comma}\"Kind{number}x{n}\":{{\"type\":\"object\",\"description\":\"{}\",\"properties\":{{\"a\":{{\"type\":\"string\"}}}}}}",
            "text ".repeat(24)
        );
    }
    format!("{{\"openapi\":\"3.0.0\",\"info\":{{\"title\":\"t\",\"version\":\"v\"}},\"paths\":{{}},\"components\":{{\"schemas\":{{{schemas}}}}}}}")
        .into_bytes()
}

/// Returns the documents of a folder that `kubeshape pull` wrote.
fn read(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix("_openapi.json") else { continue };
        if let Ok(bytes) = std::fs::read(entry.path()) {
            documents.push((stem.replace("__", "/"), bytes));
        }
    }
    documents.sort();
    documents
}
