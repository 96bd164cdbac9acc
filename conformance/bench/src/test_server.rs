//! `kubeshape-bench test-server [CRDS]`: how long `kubeshape::test::Server` takes to start, in separate processes.
//!
//! A test waits for the first server of its process, which also unpacks Kubernetes' own documents; further servers
//! share them. Both are measured, in wall time and processor time: the server alone, and until a client has created and
//! read an object of a loaded definition. The best and the median of the processes are reported.

use cpu_time::ProcessTime;
use http_body_util::{BodyExt, Full};
use kubeshape::test::Server;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tower::ServiceExt;

/// Number of processes, and of further servers in each.
const PROCESSES: usize = 21;
const FURTHER: usize = 5;
/// The time within which a server must be ready.
const GOAL: Duration = Duration::from_millis(20);

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, default: 1}}}}
";
const TABS: &str = "/apis/example.com/v1/namespaces/default/tabs";
const TAB: &str = r#"{"apiVersion":"example.com/v1","kind":"Tab","metadata":{"name":"a"}}"#;

/// The measurements, in this order.
const WHAT: [&str; 4] = [
    "first server",
    "first server, object created and read",
    "further server",
    "further server, object created and read",
];

type Error = Box<dyn std::error::Error>;

/// Runs the benchmark.
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    match run(arguments.first().map(|path| Path::new(path.as_str()))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(crds: Option<&Path>) -> Result<bool, Error> {
    let mut rounds: Vec<Vec<[f64; 2]>> = vec![Vec::new(); WHAT.len()];
    for _ in 0..PROCESSES {
        let output = Command::new(std::env::current_exe()?).arg("one-test-server").args(crds).output()?;
        let times: Vec<[f64; 2]> = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        for (all, time) in rounds.iter_mut().zip(times) {
            all.push(time);
        }
    }
    println!("{PROCESSES} processes, ms: the best (and the median)");
    println!("{:<42} {:>16} {:>16}", "", "on the clock", "processor time");
    let mut best_of_first = f64::MAX;
    for (what, times) in WHAT.iter().zip(&rounds) {
        let column = |at: usize| {
            let mut all: Vec<f64> = times.iter().map(|time| time[at] * 1e3).collect();
            all.sort_by(f64::total_cmp);
            let of = |place: usize| all.get(place).copied().unwrap_or(f64::NAN);
            (of(0), of(all.len() / 2))
        };
        let [(wall, wall_median), (own, own_median)] = [column(0), column(1)];
        println!("{what:<42} {wall:>7.2} ({wall_median:>6.2}) {own:>7.2} ({own_median:>6.2})");
        best_of_first = best_of_first.min(if *what == WHAT[0] { wall } else { f64::MAX });
    }
    let goal = GOAL.as_secs_f64() * 1e3;
    println!("goal: the first server in {goal} ms: {}", if best_of_first <= goal { "met" } else { "missed" });
    Ok(best_of_first <= goal)
}

/// Measures in this process, and prints the times in seconds.
pub(crate) fn one(arguments: &[String]) -> ExitCode {
    match measured(arguments.first().map(|path| Path::new(path.as_str()))) {
        Ok(times) => {
            println!("{}", serde_json::json!(times));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measured(crds: Option<&Path>) -> Result<Vec<[f64; 2]>, Error> {
    let more = crds.map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    let definitions = format!("{DEFINITION}---\n{more}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = Vec::new();
    let mut best: [[f64; 2]; 2] = [[f64::MAX; 2]; 2];
    for round in 0..=FURTHER {
        let (clock, own) = (Instant::now(), ProcessTime::now());
        let taken = || [clock.elapsed().as_secs_f64(), own.elapsed().as_secs_f64()];
        let server = Server::new();
        let started = taken();
        server.load("crds.yaml", &definitions)?;
        let create = http::Request::post(TABS).header("Content-Type", "application/json").body(Full::from(TAB))?;
        let created = runtime.block_on(server.service().oneshot(create))?;
        let read = http::Request::get(format!("{TABS}/a")).body(Full::default())?;
        let response = runtime.block_on(server.service().oneshot(read))?;
        let body = runtime.block_on(response.into_body().collect())?.to_bytes();
        let answered = taken();
        if created.status() != 201 || memchr::memmem::find(&body, br#""size":1"#).is_none() {
            return Err(format!("{}: {}", created.status(), String::from_utf8_lossy(&body)).into());
        }
        if round == 0 {
            out.extend([started, answered]);
            continue;
        }
        for (best, time) in best.iter_mut().zip([started, answered]) {
            *best = [best[0].min(time[0]), best[1].min(time[1])];
        }
    }
    out.extend(best);
    Ok(out)
}
