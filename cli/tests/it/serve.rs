//! Tests of `kubeshape serve` as a separate process: changing files, signals, tokens, messages.

use crate::common::Folder;
use crate::common::client::send;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Much longer than any step of these tests takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server, which is stopped at the end.
pub(crate) struct Server {
    child: Child,
    /// The address in each line on standard output.
    pub(crate) address: String,
    log: Arc<Mutex<String>>,
}

impl Server {
    /// Starts the command and waits for its address.
    pub(crate) fn start(folder: &Folder, line: &str) -> Server {
        Server::spawn(folder, line, Stdio::null())
    }

    /// Returns the same, with a file as standard input.
    #[cfg(unix)]
    fn start_with(folder: &Folder, line: &str, stdin: &std::path::Path) -> Server {
        Server::spawn(folder, line, std::fs::File::open(stdin).expect("a file").into())
    }

    /// Returns the same, with a limit on open files.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_limited(folder: &Folder, line: &str, files: usize) -> Server {
        let command = Server::command(folder, line);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]).arg(command.get_program());
        limited.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            limited.current_dir(folder);
        }
        Server::run(limited, Stdio::null())
    }

    /// Returns the same, with a file system of a few MiB in a folder, which is removed with the server. Returns `None`
    /// if this process may not create one.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_on_small_disk(
        folder: &Folder,
        line: &str,
        disk: &std::path::Path,
        size: usize,
    ) -> Option<Server> {
        let mount = format!("mount -t tmpfs -o size={size}m tmpfs '{}'", disk.display());
        let unshare = |script: &str| {
            let mut command = std::process::Command::new("unshare");
            command.args(["-rm", "sh", "-c", script]);
            command
        };
        if !unshare(&mount).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
            return None;
        }
        let command = Server::command(folder, line);
        let mut small = unshare(&format!("{mount} && exec \"$0\" \"$@\""));
        small.arg(command.get_program()).args(command.get_args());
        small.current_dir(command.get_current_dir().unwrap_or(disk));
        Some(Server::run(small, Stdio::null()))
    }

    fn spawn(folder: &Folder, line: &str, stdin: Stdio) -> Server {
        Server::run(Server::command(folder, line), stdin)
    }

    fn command(folder: &Folder, line: &str) -> std::process::Command {
        let line = format!("serve {line} --listen 127.0.0.1:0");
        let arguments: Vec<&str> = line.split_whitespace().collect();
        folder.command(&arguments)
    }

    fn run(mut command: std::process::Command, stdin: Stdio) -> Server {
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        let log = Arc::new(Mutex::new(String::new()));
        let (mut stderr, kept) = (child.stderr.take().expect("standard error"), Arc::clone(&log));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stderr.read(&mut buffer) {
                kept.lock().expect("the log").push_str(&String::from_utf8_lossy(&buffer[..n]));
            }
        });
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("standard output")).read_line(&mut ready).expect("a line");
        let address = ready.trim_end().strip_prefix("serving on http");
        let address = address.and_then(|rest| rest.trim_start_matches('s').strip_prefix("://")).map(str::to_owned);
        let mut server = Server { child, address: String::new(), log };
        server.address = address.unwrap_or_else(|| panic!("{ready:?} {}", server.log()));
        server
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn log(&self) -> String {
        self.log.lock().expect("the log").clone()
    }

    /// Waits until the server prints a text.
    #[track_caller]
    fn says(&self, text: &str) {
        let began = Instant::now();
        while !self.log().contains(text) {
            assert!(began.elapsed() < PATIENCE, "{text}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the code and body of an answer.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.ask(path, "")
    }

    pub(crate) fn ask(&self, path: &str, headers: &str) -> (u16, String) {
        let (head, body) = self.whole(path, headers);
        (head[9..12].parse().expect("a code"), body)
    }

    /// Returns the head and body of an answer.
    pub(crate) fn whole(&self, path: &str, headers: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let host = if headers.contains("Host: ") { "" } else { "Host: localhost\r\n" };
        let request = format!("GET {path} HTTP/1.0\r\n{host}{headers}\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
        (head.to_owned(), body.to_owned())
    }

    /// Repeats a request until the answer is the wanted one.
    #[track_caller]
    pub(crate) fn until(&self, path: &str, wanted: impl Fn(u16, &str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let (code, body) = self.get(path);
            if wanted(code, &body) {
                return body;
            }
            assert!(began.elapsed() < PATIENCE, "{path}: {code} {body}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn index_has(&self, group_version: &str, there: bool) {
        let path = format!("\"apis/{group_version}\"");
        self.until("/openapi/v3", |_, body| body.contains(&path) == there);
    }

    /// Kills the process.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the process ends");
        self.child.wait().expect("the process ended");
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let done = std::process::Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(done.expect("kill").success());
    }

    pub(crate) fn ended(mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                return status.code();
            }
            assert!(began.elapsed() < PATIENCE, "it does not end: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn crd(group: &str, property: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gears.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{plural: gears, singular: gear, kind: Gear, listKind: GearList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {{type: object, properties: {{{property}: {{type: string}}}}}}
"
    )
}

#[test]
fn what_the_files_define_is_served() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "teeth")).write("crds/broken.yaml", "a: [");
    let server = Server::start(&folder, "crds");
    let (code, body) = server.get("/openapi/v3/apis/a.example.com/v1");
    assert!(code == 200 && body.contains("\"teeth\""), "{code} {body}");
    assert!(server.get("/openapi/v2").1.contains("com.example.a.v1.Gear"));
    assert!(server.get("/apis").1.contains("a.example.com"));
    let (code, body) = server.get("/readyz");
    assert!(code == 500 && body.contains("[-]inputs failed: crds/broken.yaml:1:5:"), "{code} {body}");
    assert_eq!(server.get("/livez"), (200, "ok".to_owned()));
    let log = server.log();
    assert!(log.contains("error[KS1001]") && log.contains("--> crds/broken.yaml:1:5"), "{log}");
    let metrics = server.get("/metrics").1;
    for line in [
        "crd_openapi_v3_aggregation_duration_seconds_count{reason=\"add\"} 1",
        "kubeshape_files{state=\"broken\"} 1",
        "kubeshape_ready{check=\"inputs\"} 0",
        "kubeshape_requests_total{endpoint=",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
}

#[test]
fn changed_files_are_followed() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "teeth"));
    let server = Server::start(&folder, "crds --watch");
    let document = "/openapi/v3/apis/a.example.com/v1";
    server.index_has("a.example.com/v1", true);

    folder.write("crds/deep/b.yaml", crd("b.example.com", "teeth"));
    server.index_has("b.example.com/v1", true);
    folder.write("crds/a.yaml", crd("a.example.com", "cogs"));
    server.until(document, |_, body| body.contains("\"cogs\""));

    // An editor writes to another file and renames it.
    folder.write("crds/a.yaml~", crd("a.example.com", "pins"));
    std::fs::rename(folder.path("crds/a.yaml~"), folder.path("crds/a.yaml")).expect("renamed");
    server.until(document, |_, body| body.contains("\"pins\""));

    // After a file breaks, its last content is still served, and the reason is reported.
    folder.write("crds/a.yaml", "kind: [\n");
    let body = server.until("/readyz", |code, _| code == 500);
    assert!(body.contains("inputs failed: crds/a.yaml:"), "{body}");
    server.says("affects=\"OpenAPI spec (swagger)\"");
    assert!(server.get(document).1.contains("\"pins\""));
    folder.write("crds/a.yaml", crd("a.example.com", "rims"));
    server.until("/readyz", |code, _| code == 200);
    assert!(server.get(document).1.contains("\"rims\""));

    std::fs::remove_file(folder.path("crds/deep/b.yaml")).expect("removed");
    server.index_has("b.example.com/v1", false);

    // After a folder vanishes, its last content is served until it is back.
    std::fs::rename(folder.path("crds"), folder.path("away")).expect("renamed");
    let body = server.until("/readyz", |code, _| code == 500);
    assert!(body.contains("crds"), "{body}");
    assert!(server.get(document).1.contains("\"rims\""));
    folder.write("away/a.yaml", crd("a.example.com", "nuts")).write("away/c.yaml", crd("c.example.com", "x"));
    std::fs::rename(folder.path("away"), folder.path("crds")).expect("renamed");
    server.until(document, |_, body| body.contains("\"nuts\""));
    server.index_has("c.example.com/v1", true);
    server.until("/readyz", |code, _| code == 200);
    folder.write("crds/d.yaml", crd("d.example.com", "x"));
    server.index_has("d.example.com/v1", true);
}

/// After a file breaks, its last good state is served everywhere: documents, discovery, objects, and the definition as
/// an object.
#[test]
fn a_broken_file_keeps_its_objects() {
    let folder = Folder::new();
    let good = crd("a.example.com", "teeth");
    let other = crd("b.example.com", "teeth").replace("gears", "bolts").replace("gear", "bolt").replace("Gear", "Bolt");
    folder.write("crds/a.yaml", format!("{good}---\n{other}")).write("objects/none.yaml", "");
    let server = Server::start(&folder, "crds --objects objects --watch --log-level error");
    let gear = r#"{"apiVersion": "a.example.com/v1", "kind": "Gear", "metadata": {"name": "one"}, "teeth": "x"}"#;
    let gears = "/apis/a.example.com/v1/namespaces/default/gears";
    let bolts = "/apis/b.example.com/v1/namespaces/default/bolts";
    let post =
        |path: &str, body: &str| send(&server.address, "POST", path, "application/json", body).expect("a response");
    assert_eq!(post(gears, gear).code, 201);
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gears.a.example.com";
    let is_served = |why: &str, name: &str| {
        for path in
            [&format!("{gears}/one"), bolts, definition, "/apis/a.example.com/v1", "/openapi/v3/apis/b.example.com/v1"]
        {
            assert_eq!(server.get(path).0, 200, "{why}: {path}");
        }
        for path in [definition, "/openapi/v3/apis/a.example.com/v1"] {
            assert!(server.get(path).1.contains(&format!("\"{name}\"")), "{why}: {path}");
        }
        let aggregated =
            server.ask("/apis", "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n");
        assert!(aggregated.1.contains("\"gears\""), "{why}: {}", aggregated.1);
    };
    let repaired = || {
        folder.write("crds/a.yaml", format!("{good}---\n{other}"));
        server.until("/readyz", |code, _| code == 200);
        is_served("it is whole again", "teeth");
    };
    is_served("at first", "teeth");
    for (why, broken) in [
        ("it is no YAML", "kind: [\n".to_owned()),
        ("it is cut", good[..good.len() - 20].to_owned()),
        ("one of two is broken", format!("{}---\n{other}", good.replace("scope: Namespaced", "scope: [1]"))),
        ("the one behind it is broken", format!("{}---\nkind: [\n", good.replace("teeth", "cogs"))),
        // These are valid YAML, but a server refuses them.
        (
            "a name does not fit",
            format!("{}---\n{other}", good.replace("kind: Gear,", "kind: 'Ge ar',").replace("teeth", "cogs")),
        ),
    ] {
        folder.write("crds/a.yaml", broken);
        let body = server.until("/readyz", |code, _| code == 500);
        assert!(body.contains("inputs failed: crds/a.yaml"), "{why}: {body}");
        is_served(why, "teeth");
        repaired();
    }
    // The next change is served everywhere again.
    folder.write("crds/a.yaml", format!("{}---\n{other}", good.replace("teeth", "cogs")));
    server.until("/openapi/v3/apis/a.example.com/v1", |_, body| body.contains("\"cogs\""));
    is_served("it changed", "cogs");
}

#[test]
fn an_emptied_file_keeps_its_content_for_a_grace_period() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "teeth")).write("crds/b.yaml", crd("b.example.com", "teeth"));
    let server = Server::start(&folder, "crds --watch --watch-grace 1h");
    for nothing in ["", "# later\n---\n", "apiVersion: v1\nkind: List\nitems: []\n"] {
        folder.write("crds/a.yaml", nothing);
        let body = server.until("/readyz", |code, _| code == 500);
        assert!(body.contains("inputs failed: crds/a.yaml: KS1007 found nothing to serve in it"), "{body}");
        server.index_has("a.example.com/v1", true);
        folder.write("crds/a.yaml", crd("a.example.com", "teeth"));
        server.until("/readyz", |code, _| code == 200);
    }
    // A file counts as deleted if its folder does not have it any more.
    folder.write("crds/a.yaml", "");
    server.until("/readyz", |code, _| code == 500);
    std::fs::remove_file(folder.path("crds/a.yaml")).expect("removed");
    server.index_has("a.example.com/v1", false);
    server.until("/readyz", |code, _| code == 200);

    let server = Server::start(&folder, "crds --watch --watch-grace 500ms");
    folder.write("crds/b.yaml", "");
    server.says("a file has nothing to serve any more");
    server.says("what this file held before is no longer served");
    server.index_has("b.example.com/v1", false);
    assert_eq!(server.get("/readyz").0, 200);
}

#[test]
fn a_folder_that_vanishes_or_becomes_a_file_keeps_its_content_for_a_grace_period() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "teeth")).write("crds/deep/b.yaml", crd("b.example.com", "teeth"));
    let server = Server::start(&folder, "crds --watch --watch-grace 1h");
    let is_held = |name: &str, group_version: &str| {
        let body = server.until("/readyz", |code, body| code == 500 && body.contains(name));
        assert!(body.contains("its folder is gone; what it held before is served"), "{body}");
        server.index_has(group_version, true);
    };
    std::fs::rename(folder.path("crds/deep"), folder.path("deep")).expect("renamed");
    is_held("crds/deep/b.yaml", "b.example.com/v1");
    std::fs::rename(folder.path("deep"), folder.path("crds/deep")).expect("renamed");
    server.until("/readyz", |code, _| code == 200);

    std::fs::rename(folder.path("crds"), folder.path("away")).expect("renamed");
    folder.write("crds", "nothing of this kind");
    is_held("crds/a.yaml", "a.example.com/v1");
    std::fs::remove_file(folder.path("crds")).expect("removed");
    std::fs::rename(folder.path("away"), folder.path("crds")).expect("renamed");
    server.until("/readyz", |code, _| code == 200);
    server.index_has("a.example.com/v1", true);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_named_by_its_path_is_served() {
    let folder = Folder::new();
    folder.write("crds/b.yaml", crd("b.example.com", "teeth")).write("objects/none.yaml", "");
    for options in ["", "--watch", "--objects objects"] {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(crd("a.example.com", "teeth").as_bytes()).expect("written");
        drop(writer);
        let server = Server::spawn(&folder, &format!("crds /dev/stdin {options}"), reader.into());
        server.index_has("a.example.com/v1", true);
        server.index_has("b.example.com/v1", true);
        assert_eq!(server.get("/readyz").0, 200, "{}", server.log());
        if options == "--watch" {
            folder.write("crds/c.yaml", crd("c.example.com", "teeth"));
            server.index_has("c.example.com/v1", true);
            server.index_has("a.example.com/v1", true);
            assert_eq!(server.get("/readyz").0, 200, "{}", server.log());
        }
    }
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(b"secret,someone,1").expect("written");
    drop(writer);
    let server = Server::spawn(&folder, "crds --token-file /dev/stdin", reader.into());
    assert_eq!(server.get("/apis").0, 401);
    assert_eq!(server.ask("/apis", "Authorization: Bearer secret\r\n").0, 200);
}

#[cfg(unix)]
#[test]
fn a_pipe_that_replaces_a_file_is_not_read() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "teeth")).write("one.yaml", crd("one.example.com", "teeth"));
    folder.write("crds/b.yaml", crd("b.example.com", "teeth"));
    let server = Server::start(&folder, "crds one.yaml --watch --watch-grace 1h");
    let pipe = |name: &str| {
        std::fs::remove_file(folder.path(name)).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(folder.path(name)).status();
        assert!(made.expect("mkfifo").success());
    };
    for (name, group_version) in [("crds/a.yaml", "a.example.com/v1"), ("one.yaml", "one.example.com/v1")] {
        pipe(name);
        let body = server.until("/readyz", |code, body| code == 500 && body.contains(name));
        assert!(body.contains("found a pipe, device or folder, expected a file"), "{body}");
        server.index_has(group_version, true);
    }
    // The server does not wait for a writer.
    folder.write("crds/b.yaml", crd("b.example.com", "cogs"));
    server.until("/openapi/v3/apis/b.example.com/v1", |_, body| body.contains("\"cogs\""));
    for (name, group) in [("crds/a.yaml", "a.example.com"), ("one.yaml", "one.example.com")] {
        std::fs::remove_file(folder.path(name)).expect("removed");
        folder.write(name, crd(group, "rims"));
        server.until(&format!("/openapi/v3/apis/{group}/v1"), |_, body| body.contains("\"rims\""));
    }
    server.until("/readyz", |code, _| code == 200);
}

#[test]
fn a_slowly_written_file_is_served_when_it_is_complete() {
    let folder = Folder::new();
    let whole = crd("a.example.com", "cogs");
    folder.write("crds/a.yaml", crd("a.example.com", "teeth"));
    let server = Server::start(&folder, "crds --watch");
    let mut file = std::fs::File::create(folder.path("crds/a.yaml")).expect("a file");
    for part in whole.as_bytes().chunks(50) {
        file.write_all(part).expect("written");
        let body = server.get("/openapi/v3/apis/a.example.com/v1").1;
        assert!(body.contains("\"teeth\"") || body.contains("\"cogs\""), "half of it is served");
        std::thread::sleep(Duration::from_millis(40));
    }
    drop(file);
    server.until("/openapi/v3/apis/a.example.com/v1", |_, body| body.contains("\"cogs\""));
    server.until("/readyz", |code, _| code == 200);
}

#[cfg(unix)]
#[test]
fn standard_input_is_read_once() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("a.example.com", "teeth")).write("b.yaml", crd("b.example.com", "teeth"));
    let server = Server::start_with(&folder, "- b.yaml --watch-grace 1ms", &folder.path("a.yaml"));
    folder.write("b.yaml", crd("b.example.com", "cogs"));
    server.signal("-HUP");
    server.until("/openapi/v3/apis/b.example.com/v1", |_, body| body.contains("\"cogs\""));
    server.index_has("a.example.com/v1", true);
}

#[test]
fn ignore_files_and_charts_are_followed() {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "x")).write("crds/old/b.yaml", crd("b.example.com", "x"));
    folder.write("crds/.hidden/c.yaml", crd("c.example.com", "x")).write("crds/.ignore", "old\n");
    let server = Server::start(&folder, "crds --watch");
    server.index_has("a.example.com/v1", true);
    let index = server.get("/openapi/v3").1;
    assert!(!index.contains("b.example.com") && !index.contains("c.example.com"), "{index}");
    folder.write("crds/.ignore", "a.yaml\n");
    server.index_has("b.example.com/v1", true);
    server.index_has("a.example.com/v1", false);
    std::fs::remove_file(folder.path("crds/.ignore")).expect("removed");
    server.index_has("a.example.com/v1", true);

    // A file in the templates of a chart becomes a template, and does not count as broken.
    folder.write("crds/web/Chart.yaml", "name: web\n").write("crds/web/templates/d.yaml", crd("d.example.com", "x"));
    server.index_has("d.example.com/v1", true);
    folder.write("crds/web/templates/d.yaml", "a: {{ .Values.a }}\nkind: [\n");
    server.index_has("d.example.com/v1", false);
    server.says("Templates of a Helm chart are not read");
    assert_eq!(server.get("/readyz").0, 200);
}

#[cfg(unix)]
#[test]
fn a_mounted_config_map_is_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.write("mount/..1/a.yaml", crd("a.example.com", "teeth"));
    symlink("..1", folder.path("mount/..data")).expect("a link");
    symlink("..data/a.yaml", folder.path("mount/a.yaml")).expect("a link");
    // Both ways to name it.
    for input in ["mount", "mount/a.yaml"] {
        let server = Server::start(&folder, &format!("{input} --watch"));
        let (old, new) = if input == "mount" { ("1", "2") } else { ("2", "3") };
        let property = format!("cogs{new}");
        folder.write(&format!("mount/..{new}/a.yaml"), crd("a.example.com", &property));
        symlink(format!("..{new}"), folder.path("mount/..data_tmp")).expect("a link");
        std::fs::rename(folder.path("mount/..data_tmp"), folder.path("mount/..data")).expect("renamed");
        std::fs::remove_dir_all(folder.path(&format!("mount/..{old}"))).expect("removed");
        server.until("/openapi/v3/apis/a.example.com/v1", |_, body| body.contains(&property));
        assert_eq!(server.get("/readyz").0, 200);
    }
}

#[cfg(unix)]
#[test]
fn signals_reload_and_stop() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("a.example.com", "teeth")).write("tokens", "t1,jane,1\n");
    let server = Server::start(&folder, "a.yaml --token-file tokens");
    let with = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(server.get("/apis").0, 401);
    assert_eq!(server.get("/readyz").0, 200);
    assert_eq!(server.ask("/apis", &with("t1")).0, 200);
    folder.write("a.yaml", crd("a.example.com", "cogs")).write("tokens", "t2,jane,1\n");
    server.signal("-HUP");
    let began = Instant::now();
    while server.ask("/apis", &with("t2")).0 != 200
        || !server.ask("/openapi/v3/apis/a.example.com/v1", &with("t2")).1.contains("\"cogs\"")
    {
        assert!(began.elapsed() < PATIENCE, "{}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.ask("/apis", &with("t1")).0, 401);
    let log = server.log();
    assert!(!log.contains("t1,") && !log.contains("t2,"), "{log}");
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn the_built_in_groups_of_a_release_are_served_without_a_cluster() {
    let folder = Folder::new();
    folder.write("crds/gear.yaml", crd("example.com", "size"));
    let server = Server::start(&folder, "crds --kubernetes 1.34");
    server.says("serving the API of Kubernetes 1.34 without descriptions");
    server.index_has("apps/v1", true);
    server.index_has("example.com/v1", true);
    let (code, apps) = server.get("/apis/apps/v1");
    let deployments = r#"{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","#;
    assert_eq!(code, 200);
    assert!(apps.contains(deployments) && apps.contains(r#""shortNames":["deploy"],"categories":["all"]"#), "{apps}");
    let (code, v3) = server.get("/openapi/v3/apis/apps/v1");
    assert_eq!(code, 200);
    assert!(v3.contains(r#""x-kubernetes-patch-merge-key":"containerPort""#));
    // The media types of tables are named only in faithful documents.
    assert!(!v3.contains("as=Table"));
    let faithful = Server::start(&Folder::new(), "--kubernetes 1.34 --profile faithful");
    assert!(faithful.get("/openapi/v3/apis/apps/v1").1.contains("application/json;g=meta.k8s.io;v=v1;as=Table"));
    // Resources and built-in kinds share definitions, so none of them occurs twice under different names.
    let (code, v2) = server.get("/openapi/v2");
    assert_eq!(code, 200);
    assert!(v2.contains(r#""com.example.v1.Gear":"#) && v2.contains(r#""io.k8s.api.apps.v1.Deployment":"#));
    // As in a cluster, the kinds of DeleteOptions differ.
    let renamed: Vec<&str> =
        v2.split('"').filter(|name| name.starts_with("io.k8s.") && name.ends_with("_v2")).collect();
    assert!(renamed.iter().all(|name| name.ends_with(".DeleteOptions_v2")), "{renamed:?}");
    // The release alone is enough.
    let server = Server::start(&Folder::new(), "--kubernetes 1.31");
    assert_eq!(server.get("/openapi/v3/apis/apps/v1").0, 200);
    assert!(server.get("/version").1.contains("\"v1.31.0\""));
}

#[test]
fn an_old_release_is_emulated() {
    let folder = Folder::new();
    folder.write("crd.yaml", crd("example.com", "size"));
    let old = Server::start(&folder, "crd.yaml --emulate 1.14");
    assert!(old.get("/version").1.contains("\"v1.14.0\""));
    assert_eq!(old.get("/openapi/v3").0, 404);
    let (code, document) = old.get("/openapi/v2");
    assert_eq!(code, 200, "{document}");
    assert!(!document.contains("example.com"), "{document}");
    assert_eq!(old.get("/apis/example.com/v1").0, 200);
    // There are no metrics for what the release does not have.
    let metrics = old.get("/metrics").1;
    for absent in ["crd_openapi_v3_aggregation_duration_seconds_count{", "document=\"v3\",reason"] {
        assert!(!metrics.contains(absent), "{absent}\n{metrics}");
    }
    assert!(metrics.contains("aggregator_discovery_aggregation_count_total 0"), "{metrics}");
    let newer = Server::start(&folder, "crd.yaml --emulate 1.14 --feature-gates CustomResourcePublishOpenAPI=true");
    assert!(newer.get("/openapi/v2").1.contains("example.com"));
}

#[test]
fn hosts_tokens_and_origins_of_the_command_line() {
    let folder = Folder::new();
    folder.write("crd.yaml", crd("example.com", "size"));
    folder.write("broken.yaml", "kind: CustomResourceDefinition\n  x: [\n");
    folder.write("tokens", "t1\n");
    let line =
        "crd.yaml broken.yaml --token-file tokens --cors-allowed-origins ^http://page$ --advertise-address a.test:80";
    let server = Server::start(&folder, line);
    let token = "Authorization: Bearer t1\r\n";
    assert!(!server.get("/readyz").1.contains("broken.yaml"), "{}", server.get("/readyz").1);
    assert!(server.ask("/readyz", token).1.contains("broken.yaml"));
    assert_eq!(server.ask("/livez", "Host: evil.test\r\n").0, 403);
    assert_eq!(server.ask("/livez", "Host: a.test\r\n").0, 200);
    let open = Server::start(&folder, "crd.yaml --allowed-hosts *");
    assert_eq!(open.ask("/livez", "Host: evil.test\r\n").0, 200);
    for (options, message) in [
        ("--cors-allowed-origins example.com", "does not pin the start and the end of the host"),
        ("--emulate 1.9", "expected 1.10 to 1.37"),
        ("--feature-gates OpenAPIV3=true", "--emulate"),
        ("--emulate 1.24 --feature-gates Nonsense=true", "it has CustomResourcePublishOpenAPI, OpenAPIV3"),
        ("--allowed-hosts http://x", "expected a host name or an address"),
    ] {
        let line = format!("serve crd.yaml {options}");
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let output = folder.command(&arguments).output().expect("a process");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        let words = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(message), "{options}: {err}");
    }
}

#[test]
fn a_refused_file_of_a_base_is_left_out() {
    let folder = Folder::new();
    let version = r#"{"major":"1","minor":"36","gitVersion":"v1.36.7"}"#;
    folder.write("base/version.json", version);
    folder.write("base/refused.json", r#"{"kind":"Status","apiVersion":"v1","status":"Failure","code":406}"#);
    let server = Server::start(&folder, "--base base");
    assert!(server.get("/version").1.contains("v1.36.7"));
    server.says("note[KS1009]: base/refused.json");
}

#[test]
fn a_base_without_a_version_has_that_of_its_documents() {
    let folder = Folder::new();
    let document =
        r#"{"openapi":"3.0.0","info":{"title":"Kubernetes","version":"v1.34.2"},"paths":{"/apis/batch/v1/jobs":{}}}"#;
    folder.write("base/apis__batch__v1.json", document);
    let server = Server::start(&folder, "--base base");
    assert!(server.get("/version").1.contains("\"v1.34.0\""));
}

#[test]
fn admission_plugins_are_on_if_they_are_asked_for() {
    let folder = Folder::new();
    folder.write("empty/README", "no objects");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a", "image": "a"}], "priorityClassName": "system-node-critical"}});
    for (options, namespace, code, priority) in [
        ("", "none", 201, json!(null)),
        ("--enable-admission-plugins Priority", "none", 201, json!(2_000_001_000)),
        ("--enable-admission-plugins default", "none", 404, json!(null)),
        ("--enable-admission-plugins default", "default", 201, json!(2_000_001_000)),
    ] {
        let server = Server::start(&folder, &format!("--objects empty {options}"));
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let reply = send(&server.address, "POST", &path, "application/json", &pod.to_string()).expect("a response");
        let found = (reply.code, &reply.body["spec"]["priority"]);
        assert_eq!(found, (code, &priority), "{options} {namespace}: {}", reply.body);
    }
}

#[test]
fn invalid_options_are_refused() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("a.example.com", "teeth")).write("broken.yaml", "a: [").write("empty", "");
    folder.write("status.json", r#"{"kind":"Status","apiVersion":"v1","status":"Failure","code":406}"#);
    for (line, code, message) in [
        ("serve", 2, "nothing to serve"),
        ("serve - --watch", 2, "standard input cannot be watched"),
        ("serve cluster:prod", 2, "a cluster is not followed"),
        ("serve a.yaml --listen nowhere", 2, "expected ADDRESS:PORT"),
        ("serve a.yaml --listen 192.0.2.1:0", 2, "cannot listen on 192.0.2.1:0"),
        ("serve a.yaml --tls-cert a.yaml", 2, "--tls-key"),
        ("serve a.yaml --tls-cert a.yaml --tls-key a.yaml", 2, "the certificate cannot be read"),
        ("serve a.yaml --token-file empty", 2, "there is no token in it"),
        ("serve a.yaml --token-file none", 2, "cannot read none: no such file or directory"),
        ("serve a.yaml --enable-admission-plugins Priority", 2, "says something about objects: add --objects"),
        ("serve --objects . --enable-admission-plugins Prioritie", 2, "a similar value exists: 'Priority'"),
        ("serve a.yaml --aggregate x=ftp://y", 2, "unknown scheme `ftp`"),
        ("serve a.yaml --aggregate x=http://y --aggregate x=http://z", 2, "two servers with the name x"),
        ("serve a.yaml --aggregate-token-file x=y", 2, "no --aggregate with the name x"),
        ("serve a.yaml --refresh soon", 2, "expected a time"),
        ("serve a.yaml --base a.yaml", 1, "a base document cannot be used"),
        ("serve a.yaml --base status.json", 1, "found \"Status\" of API version \"v1\", expected an OpenAPI document"),
        ("serve broken.yaml --listen 127.0.0.1:0", 1, "nothing of the inputs can be served"),
        ("serve missing.yaml --listen 127.0.0.1:0", 1, "error[KS1007]"),
    ] {
        let run = folder.run(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.words().contains(message) && run.out.is_empty(), "{line}: {}", run.err);
    }
}

/// Returns what a command reported about inputs: standard error without messages about the run.
fn findings(err: &str) -> &str {
    let end = ["For more about", "warnings not shown"].iter().filter_map(|text| err.find(text)).min();
    err[..end.unwrap_or(err.len())].trim_end()
}

#[test]
fn commands_report_the_same_about_an_input() {
    let folder = Folder::new();
    let crd = crd("a.example.com", "x");
    let mut half = crate::common::gzip(&crd);
    half.truncate(half.len() / 2);
    folder.write("good.yaml", self::crd("good.example.com", "x"));
    folder.write("object.yaml", "apiVersion: a.example.com/v1\nkind: Gear\n");
    let (ignored, deep) = (format!("{crd}...\nkind: Lost\n"), "{\"a\":".repeat(10_000));
    let inputs: [(&str, &[u8], &str); 7] = [
        ("ignored.yaml", ignored.as_bytes(), "KS1012"),
        ("half.yaml.gz", &half, "KS1007"),
        ("plain.yaml.zst", b"a: 1\n", "KS1007"),
        ("cut.pb", b"\x0a\x032.0\x12\xFF", "KS1007"),
        ("broken.yaml", b"kind: [A\n---\nkind: {B\n", "KS1001"),
        ("latin.yaml", b"kind: \xE4\n", "KS1001"),
        ("deep.json", deep.as_bytes(), "KS1002"),
    ];
    for (name, bytes, code) in inputs {
        folder.write(name, bytes);
        let converted = folder.run(&format!("convert {name} --to v3 -o out")).err;
        let said = findings(&converted);
        assert!(said.contains(code), "{name}: {converted}");
        let fieldset = folder.run(&format!("fieldset --schemas {name} object.yaml")).err;
        assert!(fieldset.contains(said), "{name}: {said}\n{fieldset}");
        let server = Server::start(&folder, &format!("good.yaml {name}"));
        server.says(said);
    }
}

#[test]
fn bare_definitions_are_a_document_for_every_command() {
    let folder = Folder::new();
    let definition = r#"{"definitions":{"a.example.v1.Thing":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"a":{"type":"string"}},"x-kubernetes-group-version-kind":[{"group":"a.example.com","kind":"Thing","version":"v1"}]}}}"#;
    folder.write("bare.json", definition).write("object.yaml", "apiVersion: a.example.com/v1\nkind: Thing\na: b\n");
    let run = folder.run("convert bare.json --to v2");
    assert!(run.out.contains("a.example.v1.Thing"), "{run:?}");
    let run = folder.run("fieldset --schemas bare.json object.yaml");
    assert!(run.code == Some(0) && run.out.contains("f:a"), "{run:?}");
    let server = Server::start(&folder, "bare.json");
    assert!(server.get("/openapi/v2").1.contains("a.example.v1.Thing"), "{}", server.log());
    let server = Server::start(&folder, "--base bare.json");
    assert!(server.get("/openapi/v2").1.contains("a.example.v1.Thing"), "{}", server.log());
}

/// Requests a path that needs a token a number of times on one connection.
fn refused(address: &str, times: usize, path: &str) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut answers = stream.try_clone().expect("a handle");
    let reader = std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
    for n in 1..=times {
        let close = if n == times { "Connection: close\r\n" } else { "" };
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{close}\r\n").expect("it is taken");
    }
    reader.join().expect("no panic").expect("answers");
}

#[test]
#[cfg(unix)]
fn a_stranger_cannot_fill_the_log() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("a.example.com", "teeth")).write("tokens", "t1,jane,1\n");
    for format in ["text", "json"] {
        let mut server = Server::start(&folder, &format!("a.yaml --token-file tokens --log-format {format}"));
        let began = Instant::now();
        refused(&server.address, 1000, &format!("/{}", "a".repeat(10_000)));
        server.signal("-TERM");
        server.says("more like this");
        server.says("stopped");
        assert_eq!(server.child.wait().expect("a status").code(), Some(0));
        let log = server.log();
        // A window takes 10 s. Each window has a hundred messages, and one more with the number of the others.
        let windows = usize::try_from(began.elapsed().as_secs()).expect("seconds") / 10 + 2;
        assert!(log.matches("request refused").count() <= windows * 101, "{}", log.len());
        assert!(log.len() < windows * 150_000, "{}", log.len());
        assert!(log.lines().all(|line| line.len() < 2000));
    }
}

#[test]
#[cfg(unix)]
fn a_log_that_nobody_reads_holds_nothing_up() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("a.example.com", "teeth")).write("tokens", "t1,jane,1\n");
    let line = "serve a.yaml --token-file tokens --log-level debug --listen 127.0.0.1:0";
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut child =
        folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    // The stream is kept open, but not read.
    let stderr = child.stderr.take().expect("standard error");
    let mut ready = String::new();
    BufReader::new(child.stdout.take().expect("standard output")).read_line(&mut ready).expect("a line");
    let address = ready.trim_end().strip_prefix("serving on http://").expect("an address").to_owned();
    let server = Server { child, address, log: Arc::default() };
    refused(&server.address, 500, &format!("/{}", "a".repeat(2000)));
    refused(&server.address, 6000, &format!("/livez/{}", "a".repeat(2000)));
    assert_eq!(server.get("/livez").0, 200);
    let metrics = server.ask("/metrics", "Authorization: Bearer t1\r\n").1;
    let dropped = metrics.lines().find_map(|line| line.strip_prefix("kubeshape_log_dropped_lines_total "));
    assert!(dropped.and_then(|count| count.parse().ok()).is_some_and(|count: u64| count > 0), "{metrics}");
    let began = Instant::now();
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(stderr);
}

#[test]
fn a_token_on_an_open_network_is_a_warning() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("a.example.com", "teeth")).write("token", "secret\n");
    let line = |url: &str| format!("a.yaml --aggregate far={url} --aggregate-token-file far=token");
    let server = Server::start(&folder, &line("http://192.0.2.1:1"));
    server.says("can read the token that is sent to this server");
    assert!(server.log().contains("http://192.0.2.1:1") && !server.log().contains("secret"), "{}", server.log());
    let server = Server::start(&folder, &line("http://127.0.0.1:1"));
    server.says("inputs are read");
    assert!(!server.log().contains("can read the token"), "{}", server.log());
}
