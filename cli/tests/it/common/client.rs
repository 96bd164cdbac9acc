//! Clients of a server: plain HTTP, and kubectl where it is installed.

use super::{Folder, Run};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The answer of a server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    head: String,
    pub(crate) body: Value,
}

impl Answer {
    /// Returns the values of a header, in order.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }
}

/// Sends a request. Returns `None` if the answer is not complete.
pub(crate) fn send(address: &str, method: &str, path: &str, media: &str, body: &str) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let code = head.get(9..12)?.parse().ok()?;
    Some(Answer { code, head: head.to_owned(), body: serde_json::from_str(body).ok()? })
}

/// A kubectl that is connected to one server.
#[derive(Debug)]
pub(crate) struct Kubectl<'f> {
    folder: &'f Folder,
    server: String,
}

impl<'f> Kubectl<'f> {
    /// Returns the program: the kubectl in PATH, unless another one is named.
    pub(crate) fn program() -> std::ffi::OsString {
        std::env::var_os("KUBESHAPE_KUBECTL").unwrap_or_else(|| "kubectl".into())
    }

    /// Finds the installed kubectl. Without one, the test prints that and does nothing.
    pub(crate) fn find(folder: &'f Folder, address: &str) -> Option<Kubectl<'f>> {
        let kubectl = Kubectl { folder, server: format!("http://{address}") };
        let found = kubectl.command(&["version", "--client"]).output().is_ok_and(|output| output.status.success());
        if !found {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "skipped: there is no kubectl");
        }
        found.then_some(kubectl)
    }

    /// Returns a command that ignores the user's own configuration.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(Kubectl::program());
        command.args(["--server", &self.server]).args(arguments).stdin(Stdio::null());
        command.current_dir(self.folder.path("")).env("HOME", self.folder.path("")).env("KUBECONFIG", "");
        command
    }

    /// Runs kubectl with the arguments in a line. They contain no spaces.
    pub(crate) fn run(&self, line: &str) -> Run {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        Run::of(&self.command(&arguments).output().expect("kubectl runs"))
    }

    /// Runs kubectl with standard input.
    pub(crate) fn pipe(&self, line: &str, input: &str) -> Run {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut command = self.command(&arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("kubectl runs");
        let written = child.stdin.take().expect("standard input").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("kubectl ends");
        // A kubectl that refuses its arguments does not read its input.
        assert!(written.is_ok() || !output.status.success(), "{written:?}");
        Run::of(&output)
    }
}
