//! Servers as processes: starting them, measuring their cost, stopping them.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to become ready. Go first parses and prints thousands of documents.
const START: Duration = Duration::from_mins(5);

/// A running server. It is stopped when this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Server {
    /// Starts a command and waits until it is ready. `arguments` gets the address to listen on.
    ///
    /// # Errors
    /// The command cannot be started, ends, or does not become ready.
    pub(super) fn start(program: &Path, arguments: impl FnOnce(&mut Command, &str)) -> Result<Server, String> {
        Server::start_until(program, arguments, super::client::is_ready)
    }

    /// The same with another way to find out whether the server is ready.
    ///
    /// # Errors
    /// As for [`Server::start`].
    pub(super) fn start_until(
        program: &Path,
        arguments: impl FnOnce(&mut Command, &str),
        is_ready: impl Fn(SocketAddr) -> bool,
    ) -> Result<Server, String> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        arguments(&mut command, &address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let mut server = Server { child, address };
        let begin = Instant::now();
        while !is_ready(address) {
            let ended = server.child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || begin.elapsed() > START {
                return Err(format!("{command:?} is not ready: {ended:?}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Processor time so far, including threads that have ended. It is read from the clock of the process, because the
    /// steps of 10 ms of `/proc/PID/stat` are too large.
    ///
    /// # Errors
    /// The clock cannot be read on this system.
    pub(super) fn seconds(&self) -> Result<f64, String> {
        seconds_of(self.child.id()).ok_or_else(|| "the processor time of the server cannot be read here".to_owned())
    }

    /// Resident memory in bytes.
    pub(super) fn resident(&self) -> f64 {
        let status = fs::read_to_string(self.file("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|l| l.trim().trim_end_matches(" kB").trim().parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
    }

    /// Waits until the server is idle.
    ///
    /// # Errors
    /// The clock cannot be read, or the server does not become idle.
    pub(super) fn settle(&self) -> Result<(), String> {
        for _ in 0..300 {
            let before = self.seconds()?;
            std::thread::sleep(Duration::from_millis(200));
            if self.seconds()? - before < 0.002 {
                return Ok(());
            }
        }
        Err("the server does not come to rest".to_owned())
    }

    fn file(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.child.id())
    }
}

#[cfg(target_os = "linux")]
fn seconds_of(pid: u32) -> Option<f64> {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?);
    let time = nix::time::clock_getcpuclockid(pid).and_then(nix::time::clock_gettime).ok()?;
    Some(Duration::from(time).as_secs_f64())
}

#[cfg(not(target_os = "linux"))]
fn seconds_of(_pid: u32) -> Option<f64> {
    None
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
