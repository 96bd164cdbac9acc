//! `kubeshape serve` as a process.

use super::Inputs;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it is ready.
const START: Duration = Duration::from_mins(1);

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub(super) struct Serve {
    child: Child,
    url: String,
}

impl Serve {
    /// Starts the command and waits until it is ready.
    pub(super) fn start(program: &Path, inputs: &Inputs, extensions: &str, scratch: &Path) -> Result<Serve, String> {
        let mut files: Vec<&Path> = inputs.crds.iter().map(|crd| crd.file.as_path()).collect();
        files.dedup();
        let base = inputs.base.iter().flat_map(|base| [Path::new("--base"), base.as_path()]);
        Serve::run(program, &base.chain(files).collect::<Vec<_>>(), extensions, scratch)
    }

    /// Starts the command with these arguments, and waits until it is ready.
    pub(super) fn run(
        program: &Path,
        arguments: &[impl AsRef<OsStr>],
        extensions: &str,
        scratch: &Path,
    ) -> Result<Serve, String> {
        let address = free_address().map_err(|error| error.to_string())?;
        let log = scratch.join(format!("serve-{extensions}.log"));
        let stderr = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", &address.to_string(), "--extensions", extensions]);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let mut server = Serve { child, url: format!("http://{address}") };
        let begin = Instant::now();
        while !is_ready(address) {
            let ended = server.child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || begin.elapsed() > START {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("{} serve is not ready ({ended:?}): {said}", program.display()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Returns the URL at which it listens.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a free address of the loopback interface.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut status = vec![0; 12];
        stream.read_exact(&mut status)?;
        Ok(status)
    };
    ask().is_ok_and(|status| status == b"HTTP/1.1 200")
}
