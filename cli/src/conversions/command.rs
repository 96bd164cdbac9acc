//! A command that reads a review from standard input and writes one to standard output.

use crate::error::describe;
use std::io::{self, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The largest response in bytes, as that of a webhook.
const MAX_RESPONSE: u64 = 8 << 20;
/// The most bytes of standard error that are read, and the most characters that are shown.
const MAX_MESSAGES: u64 = 64 << 10;
const MAX_SHOWN: usize = 256;
/// How often the end of the command is looked for.
const PAUSE: Duration = Duration::from_millis(2);

pub(super) struct Command<'c> {
    line: &'c str,
    timeout: Duration,
}

impl<'c> Command<'c> {
    pub(super) fn new(line: &'c str, timeout: Duration) -> Command<'c> {
        Command { line, timeout }
    }

    /// Runs the command with this input, and returns its output.
    ///
    /// # Errors
    /// It cannot be run, fails, takes too long, or writes too much.
    pub(super) fn run(&self, input: &[u8]) -> Result<Vec<u8>, String> {
        let end = Instant::now() + self.timeout;
        let mut child = self.start().map_err(|error| format!("the command cannot be run: {}", describe(&error)))?;
        let (sender, output) = mpsc::channel();
        let (messages_sender, messages) = mpsc::channel();
        if let Some(stdin) = child.stdin.take() {
            let input = input.to_vec();
            let mut stdin = stdin;
            // A command that does not read its input is no error.
            thread::spawn(move || stdin.write_all(&input).is_ok());
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || sender.send(read(stdout, MAX_RESPONSE)));
        }
        if let Some(stderr) = child.stderr.take() {
            thread::spawn(move || messages_sender.send(read(stderr, MAX_MESSAGES)));
        }
        let left = || end.saturating_duration_since(Instant::now());
        let result = match output.recv_timeout(left()) {
            Ok(Ok(bytes)) if bytes.len() as u64 > MAX_RESPONSE => {
                Err(format!("the command wrote more than {MAX_RESPONSE} bytes"))
            }
            Ok(Ok(bytes)) => ended(&mut child, end).and_then(|is_good| {
                if is_good.success() {
                    return Ok(bytes);
                }
                let text = messages.recv_timeout(left()).ok().and_then(Result::ok).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                let text: Vec<char> = text.trim().chars().collect();
                let text: String = text[text.len().saturating_sub(MAX_SHOWN)..].iter().collect();
                Err(format!("the command failed ({is_good}): {text}"))
            }),
            Ok(Err(error)) => Err(format!("the output of the command cannot be read: {}", describe(&error))),
            Err(_) => Err("the command took too long".to_owned()),
        };
        if result.is_err() {
            kill(&mut child);
        }
        let _ = child.wait();
        result
    }

    fn start(&self) -> io::Result<Child> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = std::process::Command::new(shell);
        command.arg(flag).arg(self.line);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }
}

/// Ends a command, and on Unix the programs that it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
}

/// Reads at most one byte more than `most`.
fn read(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    from.take(most + 1).read_to_end(&mut out)?;
    Ok(out)
}

/// Waits until the command has ended.
fn ended(child: &mut Child, end: Instant) -> Result<std::process::ExitStatus, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() >= end => return Err("the command took too long".to_owned()),
            Ok(None) => thread::sleep(PAUSE),
            Err(error) => return Err(describe(&error)),
        }
    }
}
