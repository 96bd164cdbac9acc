//! Servers as processes: starting them, what they cost, ending them.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it is ready: Go parses and prints thousands of documents first.
const START: Duration = Duration::from_secs(300);
/// Ticks of `/proc/PID/stat` in a second, on every Linux.
const TICKS: f64 = 100.0;

/// A running server; it ends with this.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Server {
    /// Starts a command that listens at the address that `arguments` is given, and waits until it is ready.
    pub(super) fn start(program: &Path, arguments: impl FnOnce(&mut Command, &str)) -> Result<Server, String> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        arguments(&mut command, &address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let mut server = Server { child, address };
        let begin = Instant::now();
        while !super::load::is_ready(address) {
            let ended = server.child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || begin.elapsed() > START {
                return Err(format!("{command:?} is not ready: {ended:?}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Processor time so far, in hundredths of a second; threads that have ended count.
    pub(super) fn seconds(&self) -> f64 {
        let stat = fs::read_to_string(self.file("stat")).unwrap_or_default();
        // Behind the name in parentheses: utime and stime are the fields 14 and 15.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks: f64 = fields.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok()).sum();
        ticks / TICKS
    }

    /// Processor time of the threads that live, in nanoseconds as the scheduler counts them.
    pub(super) fn seconds_of_threads(&self) -> f64 {
        let tasks = fs::read_dir(self.file("task")).into_iter().flatten().flatten();
        let seconds = tasks.filter_map(|task| {
            let line = fs::read_to_string(task.path().join("schedstat")).ok()?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        });
        seconds.sum::<f64>() / 1e9
    }

    /// Resident memory in bytes.
    pub(super) fn resident(&self) -> f64 {
        let status = fs::read_to_string(self.file("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|l| l.trim().trim_end_matches(" kB").trim().parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
    }

    /// Waits until the server has done hardly anything for a while.
    pub(super) fn settle(&self) {
        for _ in 0..100 {
            let before = self.seconds_of_threads();
            std::thread::sleep(Duration::from_millis(200));
            if self.seconds_of_threads() - before < 0.002 {
                return;
            }
        }
    }

    fn file(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
