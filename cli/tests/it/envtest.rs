//! Tests of `kubeshape envtest` and of the programs that it writes.

use crate::common::{Folder, Run};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Much longer than any step of these tests takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running program, which is killed at the end.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn assets(folder: &Folder) {
    let run = folder.run("envtest -o assets");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = format!("export KUBEBUILDER_ASSETS='{}'\n", canonical(&folder.path("assets")).display());
    assert_eq!(run.out, expected);
}

fn canonical(path: &Path) -> std::path::PathBuf {
    std::fs::canonicalize(path).expect("a path")
}

fn run(folder: &Folder, program: &str, arguments: &[&str]) -> Run {
    let output = Command::new(folder.path("assets").join(program)).args(arguments).output();
    Run::of(&output.expect("a program"))
}

#[test]
fn help_names_the_flags_that_libraries_look_for() {
    let folder = Folder::new();
    assets(&folder);
    let server = run(&folder, "kube-apiserver", &["--help"]);
    assert_eq!(server.code, Some(0));
    let has = |run: &Run, flag: &str| run.out.lines().any(|line| line.trim_start().starts_with(&format!("--{flag} ")));
    for flag in ["secure-port", "client-ca-file", "authorization-mode", "allow-privileged"] {
        assert!(has(&server, flag), "{flag}");
    }
    // envtest passes it if the help has it, and then expects a port without TLS.
    assert!(!has(&server, "insecure-port"));
    assert!(has(&run(&folder, "etcd", &["--help"]), "unsafe-no-fsync"));
    assert!(run(&folder, "kube-apiserver", &["--version"]).out.starts_with("Kubernetes v1."));
    assert!(run(&folder, "etcd", &["--version"]).out.starts_with("etcd Version: 3."));
}

#[test]
fn a_certificate_needs_its_key() {
    let folder = Folder::new();
    assets(&folder);
    for flag in ["--tls-cert-file=a.crt", "--tls-private-key-file=a.key"] {
        let refused = run(&folder, "kube-apiserver", &["--secure-port=0", flag]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{flag}");
        assert!(refused.err.contains("missing filename for serving cert"), "{flag}: {}", refused.err);
    }
}

#[test]
fn the_command_replaces_its_own_files_and_no_others() {
    let folder = Folder::new();
    assets(&folder);
    assets(&folder);
    let path = folder.path("assets/etcd");
    std::fs::remove_file(&path).expect("removed");
    folder.write("assets/etcd", "mine");
    let refused = folder.run("envtest -o assets");
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(refused.words().contains("etcd is not a link of kubeshape"), "{}", refused.err);
    assert_eq!(folder.read("assets/etcd"), "mine");
    std::fs::remove_file(&path).expect("removed");
    // A link that someone else planted is not followed.
    #[cfg(unix)]
    {
        folder.write("victim", "theirs");
        std::os::unix::fs::symlink(folder.path("victim"), &path).expect("a link");
        assert_eq!(folder.run("envtest -o assets").code, Some(2));
        assert_eq!(folder.run("envtest -o assets --copy").code, Some(2));
        assert_eq!(folder.read("victim"), "theirs");
    }
}

/// Sends a request without TLS.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
#[cfg(unix)]
fn etcd_is_healthy_until_it_is_stopped() {
    let folder = Folder::new();
    assets(&folder);
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let url = format!("http://127.0.0.1:{port}");
    let child = Command::new(folder.path("assets/etcd"))
        .args(["--listen-client-urls", &url, "--data-dir", "data", "--unsafe-no-fsync=true"])
        .spawn();
    let mut etcd = Program(child.expect("a process"));
    let until = Instant::now() + PATIENCE;
    let answer = loop {
        if let Some(answer) = get(port, "/health") {
            break answer;
        }
        assert!(Instant::now() < until, "etcd does not listen");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(answer.contains(" 200 ") && answer.ends_with(r#"{"health":"true","reason":""}"#), "{answer}");
    let stopped = Command::new("kill").arg(etcd.0.id().to_string()).status().expect("kill");
    assert!(stopped.success());
    assert_eq!(etcd.0.wait().expect("an end").code(), Some(0));
}

#[test]
#[cfg(unix)]
fn the_server_starts_with_the_flags_of_envtest() {
    let folder = Folder::new();
    assets(&folder);
    let child = Command::new(folder.path("assets/kube-apiserver"))
        .args(["--secure-port=0", "--bind-address=127.0.0.1", "--cert-dir", "certs", "--authorization-mode=RBAC"])
        .args([
            "--etcd-servers=http://127.0.0.1:1",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
        ])
        .args(["--disable-admission-plugins=ServiceAccount", "--some-new-flag", "value"])
        .current_dir(folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut server = Program(child.expect("a process"));
    let mut line = String::new();
    let stdout = server.0.stdout.take().expect("standard output");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    assert!(line.starts_with("serving on https://127.0.0.1:"), "{line}");
    assert!(folder.path("certs/apiserver.crt").exists() && folder.path("certs/apiserver.key").exists());
    let stopped = Command::new("kill").arg(server.0.id().to_string()).status().expect("kill");
    assert!(stopped.success());
    assert_eq!(server.0.wait().expect("an end").code(), Some(0));
    let mut log = String::new();
    server.0.stderr.take().expect("standard error").read_to_string(&mut log).expect("a log");
    assert_eq!(log, "note: unknown flags are ignored: --some-new-flag\n");
}
