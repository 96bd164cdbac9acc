//! `cargo xtask soak`: hostile and honest clients against a server whose files and whose aggregated server change all
//! the time.

mod attack;
mod downstream;
#[path = "../../serve/server/tests/it/attacks/frames.rs"]
mod frames;
mod report;

use crate::run::{Result, cargo, run};
use report::{Answered, BOUND, Report, Seen};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// Files with definitions.
const FILES: usize = 200;
/// How long no answer of a client without malice may be missing when the server stops.
const STOP: Duration = Duration::from_secs(40);

/// What every client knows.
pub(crate) struct Shared {
    pub(crate) address: SocketAddr,
    pub(crate) stop: AtomicBool,
    /// Connections of hostile clients.
    pub(crate) attacks: AtomicUsize,
    began: Instant,
    /// Honest requests that were answered, and those for `/livez` among them.
    answered: Mutex<Vec<Answered>>,
    lively: Mutex<Vec<Answered>>,
    failures: Mutex<Vec<(String, String, Duration)>>,
}

impl Shared {
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

struct Options {
    minutes: f64,
    hostile: usize,
    honest: usize,
    program: Option<PathBuf>,
}

fn options(arguments: &[&str]) -> Result<Options> {
    let mut options = Options { minutes: 1.0, hostile: 1000, honest: 50, program: None };
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
        match *name {
            "--minutes" => options.minutes = value.parse()?,
            "--hostile" => options.hostile = value.parse()?,
            "--honest" => options.honest = value.parse()?,
            "--program" => options.program = Some(fs::canonicalize(value)?),
            _ => return Err(format!("unknown option: {name}").into()),
        }
    }
    Ok(options)
}

/// A running server and its folder, which go in the end.
struct Server {
    child: Child,
    folder: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn soak(arguments: &[&str]) -> Result {
    let options = options(arguments)?;
    raise_limit();
    let program = if let Some(program) = &options.program {
        program.clone()
    } else {
        run(cargo("build").args(["--release", "--quiet", "-p", "kubeshape-cli"]))?;
        fs::canonicalize("target/release/kubeshape")?
    };
    let downstream = downstream::start()?;
    let folder = std::env::temp_dir().join(format!("kubeshape-soak-{}", std::process::id()));
    // Not one that is there already: somebody may have made it.
    fs::create_dir(&folder)?;
    for n in 0..FILES {
        fs::write(folder.join(format!("crd{n}.yaml")), definition(n, 0))?;
    }
    let child = Command::new(program)
        .args(["serve", "--watch", "--listen", "127.0.0.1:0", "--max-connections", "500", "--log-level", "error"])
        .args(["--refresh", "1s", "--aggregate", &format!("down=http://{downstream},down.example.com/v1")])
        .arg(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut server = Server { child, folder };
    let mut line = String::new();
    BufReader::new(server.child.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
    let address = line.trim_end().strip_prefix("serving on http://").ok_or("the server did not start")?.parse()?;
    let shared = Arc::new(Shared {
        address,
        stop: AtomicBool::new(false),
        attacks: AtomicUsize::new(0),
        began: Instant::now(),
        answered: Mutex::default(),
        lively: Mutex::default(),
        failures: Mutex::default(),
    });
    let mut threads = Vec::new();
    let mut start = |name: &str, work: Box<dyn FnOnce(&Shared) + Send>| -> Result {
        let shared = Arc::clone(&shared);
        let builder = Builder::new().name(name.to_owned()).stack_size(256 << 10);
        threads.push(builder.spawn(move || work(&shared))?);
        Ok(())
    };
    let files = server.folder.clone();
    start("files", Box::new(move |shared| churn(shared, &files)))?;
    for n in 0..options.hostile {
        start("hostile", Box::new(move |shared| attack::run(shared, n)))?;
    }
    for n in 0..options.honest {
        start("honest", Box::new(move |shared| honest(shared, n)))?;
    }
    let memory = watch(&server, Duration::from_secs_f64(options.minutes * 60.0));
    shared.stop.store(true, Relaxed);
    for thread in threads {
        thread.join().map_err(|_| "a client panicked")?;
    }
    let memory = memory?;
    let stopped = stop(&mut server)?;
    let report = Report::new(Seen {
        attacks: shared.attacks.load(Relaxed),
        answered: std::mem::take(&mut lock(&shared.answered)),
        livez: std::mem::take(&mut lock(&shared.lively)),
        failures: std::mem::take(&mut lock(&shared.failures)),
        memory,
        stopped,
    });
    print!("{report}");
    match report.missed() {
        missed if missed.is_empty() => Ok(()),
        missed => Err(format!("missed: {}", missed.join("; ")).into()),
    }
}

/// Measures the memory of the server, in KiB, until the time is over.
fn watch(server: &Server, time: Duration) -> Result<Vec<u64>> {
    let began = Instant::now();
    let mut memory = Vec::new();
    while began.elapsed() < time {
        sleep(Duration::from_secs(1));
        let status = fs::read_to_string(format!("/proc/{}/status", server.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the server has ended")?;
        memory.push(line.trim().trim_end_matches(" kB").parse()?);
    }
    Ok(memory)
}

/// Tells the server to stop, and waits for it. Returns how long it took.
fn stop(server: &mut Server) -> Result<Option<Duration>> {
    run(Command::new("kill").args(["-TERM", &server.child.id().to_string()]))?;
    let began = Instant::now();
    while began.elapsed() < STOP {
        if server.child.try_wait()?.is_some() {
            return Ok(Some(began.elapsed()));
        }
        sleep(Duration::from_millis(50));
    }
    Ok(None)
}

/// A definition in a group of its own.
fn definition(n: usize, round: usize) -> String {
    let text = format!("text {round} ").repeat(200);
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.g{n}.example.com}}\n\
         spec:\n  group: g{n}.example.com\n  scope: Namespaced\n  names: {{plural: things, kind: Thing}}\n  versions:\n\
         \x20 - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, description: {text}}}}}}}\n"
    )
}

/// Changes files: most are rewritten, some are broken for a while, some are deleted and come back.
fn churn(shared: &Shared, folder: &Path) {
    let mut round = 0;
    while !shared.is_over() {
        round += 1;
        // The first files stay, for clients that ask for them.
        let n = 50 + round * 7 % (FILES - 50);
        let path = folder.join(format!("crd{n}.yaml"));
        let done = match round % 10 {
            0 => fs::write(&path, "kind: ["),
            1 => fs::remove_file(&path),
            _ => fs::write(&path, definition(n, round)),
        };
        // A file that was deleted is written in a later round.
        let _ = done;
        sleep(Duration::from_millis(200));
    }
}

/// Asks as clients do, each time with a new connection.
fn honest(shared: &Shared, n: usize) {
    let mut round = n;
    while !shared.is_over() {
        round += 1;
        let path = match round % 6 {
            0 => "/openapi/v3".to_owned(),
            1 => format!("/openapi/v3/apis/g{}.example.com/v1", round % 50),
            2 => "/apis".to_owned(),
            3 => "/openapi/v2".to_owned(),
            4 => "/version".to_owned(),
            _ => "/livez".to_owned(),
        };
        let began = Instant::now();
        let answer = ask(shared.address, &path);
        let time = began.elapsed();
        match answer {
            Ok(200) => {
                let answered = Answered { time, at: shared.began.elapsed() };
                lock(&shared.answered).push(answered);
                if path == "/livez" {
                    lock(&shared.lively).push(answered);
                }
            }
            Ok(code) => lock(&shared.failures).push((endpoint(&path), code.to_string(), time)),
            Err(error) => lock(&shared.failures).push((endpoint(&path), error.to_string(), time)),
        }
        sleep(Duration::from_millis(100));
    }
}

/// The path without what differs between definitions.
fn endpoint(path: &str) -> String {
    if path.starts_with("/openapi/v3/") { "/openapi/v3/…".to_owned() } else { path.to_owned() }
}

fn ask(address: SocketAddr, path: &str) -> Result<u16> {
    let mut stream = TcpStream::connect_timeout(&address, BOUND)?;
    stream.set_read_timeout(Some(BOUND))?;
    stream.set_write_timeout(Some(BOUND))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("no answer")?;
    let text = String::from_utf8_lossy(&answer[..head]).into_owned();
    let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
    if length.is_some_and(|length| length != answer.len() - head - 4) {
        return Err("the answer is cut off".into());
    }
    Ok(text.get(9..12).unwrap_or_default().parse()?)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Every client needs a descriptor.
#[cfg(unix)]
fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

#[cfg(not(unix))]
fn raise_limit() {}
