//! `cargo xtask soak`: hostile and honest clients of a `kubeshape serve` whose files and aggregated server change all
//! the time. With `--authorization-mode RBAC`, clients have permissions, which change, too.

mod access;
mod attack;
mod bombs;
mod client;
mod downstream;
#[path = "../../serve/server/tests/it/attacks/frames.rs"]
mod frames;
mod honest;
mod report;

use crate::run::{Result, cargo, run};
use report::{Answered, Bounds, Report, Seen};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// The maximum number of connections.
const CONNECTIONS: &str = "500";
/// How long the server may take to stop.
const STOP: Duration = Duration::from_secs(40);

/// The load of a soak.
#[derive(Debug)]
struct Options {
    /// The command.
    program: PathBuf,
    /// How long the attacks last, and how long memory is measured after them.
    time: Duration,
    calm: Duration,
    /// Numbers of hostile clients that keep connections, and of those that send requests about objects.
    hostile: usize,
    bombs: usize,
    /// Numbers of honest clients that read, and of those that write.
    honest: usize,
    writers: usize,
    /// Number of files with definitions.
    files: usize,
    /// Number of clients that test permissions; 0 if everyone may do everything.
    restricted: usize,
    bounds: Bounds,
}

/// How many clients test permissions.
const RESTRICTED: usize = 10;

/// State that all clients share.
struct Shared {
    address: SocketAddr,
    stop: AtomicBool,
    files: usize,
    /// Numbers of connections of hostile clients, and of their requests about objects.
    attacks: AtomicUsize,
    bombs: AtomicUsize,
    began: Instant,
    /// Honest requests with a response, and those for `/livez` and writes among them.
    answered: Mutex<Vec<Answered>>,
    lively: Mutex<Vec<Answered>>,
    writes: Mutex<Vec<Answered>>,
    failures: Mutex<Vec<(String, String, Duration)>>,
    /// Number of answers that were checked for what their users must not see, and requests that showed it.
    checked: AtomicUsize,
    leaks: Mutex<Vec<String>>,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

/// A running server and its folder. Dropping it stops the server and removes the folder.
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
    let mut options = Options {
        program: PathBuf::new(),
        time: Duration::from_mins(1),
        calm: Duration::from_secs(15),
        hostile: 1000,
        bombs: 26,
        honest: 50,
        writers: 10,
        files: 200,
        restricted: 0,
        bounds: Bounds::default(),
    };
    let mut program = None;
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
        match *name {
            "--minutes" => options.time = Duration::from_secs_f64(value.parse::<f64>()? * 60.0),
            "--hostile" => options.hostile = value.parse()?,
            "--bombs" => options.bombs = value.parse()?,
            "--honest" => options.honest = value.parse()?,
            "--writers" => options.writers = value.parse()?,
            "--authorization-mode" => match *value {
                "RBAC" => options.restricted = RESTRICTED,
                "AlwaysAllow" => options.restricted = 0,
                other => return Err(format!("unknown mode {other}: expected RBAC or AlwaysAllow").into()),
            },
            "--program" => program = Some(fs::canonicalize(value)?),
            _ => return Err(format!("unknown option: {name}").into()),
        }
    }
    options.program = if let Some(program) = program {
        program
    } else {
        run(cargo("build").args(["--release", "--quiet", "-p", "kubeshape-cli"]))?;
        fs::canonicalize("target/release/kubeshape")?
    };
    let report = attacked(&options)?;
    print!("{report}");
    match report.missed() {
        missed if missed.is_empty() => Ok(()),
        missed => Err(format!("missed: {}", missed.join("; ")).into()),
    }
}

/// Attacks a server. Returns the results of the clients.
///
/// # Errors
/// The server does not start, or it ends.
fn attacked(options: &Options) -> Result<Report> {
    raise_limit();
    let (mut server, address) = start(options)?;
    let shared = Arc::new(Shared {
        address,
        stop: AtomicBool::new(false),
        files: options.files,
        attacks: AtomicUsize::new(0),
        bombs: AtomicUsize::new(0),
        began: Instant::now(),
        answered: Mutex::default(),
        lively: Mutex::default(),
        writes: Mutex::default(),
        failures: Mutex::default(),
        checked: AtomicUsize::new(0),
        leaks: Mutex::default(),
    });
    if options.restricted > 0 {
        access::prepare(&shared)?;
    }
    bombs::prepare(&shared)?;
    let before = memory(&server, "VmRSS:")?;
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
    for n in 0..options.bombs {
        start("bombs", Box::new(move |shared| bombs::run(shared, n)))?;
    }
    for n in 0..options.honest {
        start("honest", Box::new(move |shared| honest::read(shared, n)))?;
    }
    for n in 0..options.writers {
        start("writer", Box::new(move |shared| honest::write(shared, n)))?;
    }
    for n in 0..options.restricted {
        start("restricted", Box::new(move |shared| access::run(shared, n)))?;
    }
    let during = watch(&server, options.time);
    shared.stop.store(true, Relaxed);
    for thread in threads {
        thread.join().map_err(|_| "a client panicked")?;
    }
    let during = during?;
    let peak = memory(&server, "VmHWM:")?;
    // Objects that the clients left behind are deleted.
    bombs::tidy(&shared);
    let after = calm(&server, address, options.calm)?;
    let stopped = stop(&mut server)?;
    let seen = Seen {
        attacks: shared.attacks.load(Relaxed),
        bombs: shared.bombs.load(Relaxed),
        answered: std::mem::take(&mut lock(&shared.answered)),
        livez: std::mem::take(&mut lock(&shared.lively)),
        writes: std::mem::take(&mut lock(&shared.writes)),
        failures: std::mem::take(&mut lock(&shared.failures)),
        checked: (options.restricted > 0).then(|| shared.checked.load(Relaxed)),
        leaks: std::mem::take(&mut lock(&shared.leaks)),
        threads: during.iter().map(|sample| sample.threads).max().unwrap_or_default(),
        descriptors: during.iter().map(|sample| sample.descriptors).max().unwrap_or_default(),
        memory: during.iter().map(|sample| sample.memory).collect(),
        before,
        peak,
        after,
        stopped,
    };
    Ok(Report::new(seen, &options.bounds))
}

fn start(options: &Options) -> Result<(Server, SocketAddr)> {
    let downstream = downstream::start()?;
    let folder = std::env::temp_dir().join(format!("kubeshape-soak-{}", std::process::id()));
    // An existing folder is not used, because another user may have created it.
    fs::create_dir(&folder)?;
    fs::create_dir(folder.join("objects"))?;
    fs::create_dir(folder.join("crds"))?;
    for n in 0..options.files {
        fs::write(folder.join(format!("crds/crd{n}.yaml")), definition(n, 0))?;
    }
    let mut command = Command::new(&options.program);
    if options.restricted > 0 {
        let file = folder.join("tokens.csv");
        fs::write(&file, access::tokens(options.bombs))?;
        command.args(["serve", "--authorization-mode", "RBAC", "--token-file"]).arg(file);
    } else {
        command.arg("serve");
    }
    let child = command
        .args(["--watch", "--listen", "127.0.0.1:0", "--max-connections", CONNECTIONS, "--log-level", "error"])
        .args(["--refresh", "1s", "--aggregate", &format!("down=http://{downstream},down.example.com/v1")])
        .arg("--objects")
        .arg(folder.join("objects"))
        .arg(folder.join("crds"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut server = Server { child, folder };
    let mut line = String::new();
    BufReader::new(server.child.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
    let address = line.trim_end().strip_prefix("serving on http://").ok_or("the server did not start")?.parse()?;
    Ok((server, address))
}

/// Returns a number of the status of the server: its memory in KiB, current or peak, or its threads.
fn memory(server: &Server, what: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix(what)).ok_or("the server has ended")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// What the server uses at a moment: memory in KiB, threads, and open files, which include connections.
struct Sample {
    memory: u64,
    threads: u64,
    descriptors: usize,
}

/// Measures the server until the time is over.
fn watch(server: &Server, time: Duration) -> Result<Vec<Sample>> {
    let began = Instant::now();
    let mut seen = Vec::new();
    while began.elapsed() < time {
        sleep(Duration::from_millis(500));
        seen.push(Sample {
            memory: memory(server, "VmRSS:")?,
            threads: memory(server, "Threads:")?,
            descriptors: fs::read_dir(format!("/proc/{}/fd", server.child.id()))?.count(),
        });
    }
    Ok(seen)
}

/// Returns the lowest memory of the server after the attacks, in KiB. A thread frees memory only when it works again,
/// so requests are sent.
fn calm(server: &Server, address: SocketAddr, time: Duration) -> Result<u64> {
    let (began, mut least) = (Instant::now(), u64::MAX);
    while began.elapsed() < time {
        for path in ["/livez", "/apis", "/api/v1/configmaps"] {
            // Only memory is measured.
            let _ = client::Request { path, ..client::Request::default() }.ask(client::HONEST, address);
        }
        sleep(Duration::from_millis(20));
        least = least.min(memory(server, "VmRSS:")?);
    }
    Ok(least)
}

/// Stops the server. Returns how long it took.
fn stop(server: &mut Server) -> Result<Option<Duration>> {
    Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status()?;
    let began = Instant::now();
    while began.elapsed() < STOP {
        if server.child.try_wait()?.is_some() {
            return Ok(Some(began.elapsed()));
        }
        sleep(Duration::from_millis(50));
    }
    Ok(None)
}

/// Returns a definition in its own group.
fn definition(n: usize, round: usize) -> String {
    let text = format!("text {round} ").repeat(200);
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.g{n}.example.com}}\n\
         spec:\n  group: g{n}.example.com\n  scope: Namespaced\n  names: {{plural: things, kind: Thing}}\n  versions:\n\
         \x20 - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, description: {text}}}}}}}\n"
    )
}

/// Changes files: most are rewritten, some are broken for a while, some are deleted and written again.
fn churn(shared: &Shared, folder: &Path) {
    let mut round = 0;
    while !shared.is_over() {
        round += 1;
        // The first files stay, for clients that request them.
        let stay = shared.files / 4;
        let n = stay + round * 7 % (shared.files - stay);
        let path = folder.join(format!("crds/crd{n}.yaml"));
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Every client needs a file descriptor.
fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
