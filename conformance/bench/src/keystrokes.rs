//! How long `kubeshape lsp` takes from a keystroke to the diagnostics.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The number of keystrokes.
const KEYSTROKES: i64 = 300;
/// The size of the large file, in bytes.
const LARGE: usize = 1 << 20;

/// What is in front of the letters in a stream of Deployments, and in a definition.
const CONTAINER: &str = "- name: web";
const DESCRIPTION: &str = "description: ";

/// `keystrokes [--program KUBESHAPE] [FOLDER]`: in a small file and in one of 1 MB; in a folder with the definitions of
/// FOLDER, in a small file and in one of the definitions.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let flag = arguments.iter().position(|argument| argument == "--program");
    let program = flag.and_then(|at| arguments.get(at + 1)).cloned().unwrap_or_else(|| "kubeshape".to_owned());
    let is_value = |at: usize| flag.is_some_and(|flag| at == flag || at == flag + 1);
    let folder = arguments.iter().enumerate().find(|(at, _)| !is_value(*at)).map(|(_, folder)| folder.as_str());
    println!("{:24} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "start", "opened", "median", "p99", "memory");
    let (small, large) = (objects(2_000), objects(LARGE));
    let mut cases = vec![("2 kB", &small, None, CONTAINER), ("1 MB", &large, None, CONTAINER)];
    let definition = folder.and_then(|folder| definition(Path::new(folder)));
    if let (Some(folder), Some(definition)) = (folder, &definition) {
        cases.push(("2 kB, definitions", &small, Some(folder), CONTAINER));
        cases.push(("one of the definitions", definition, Some(folder), DESCRIPTION));
    }
    for (name, text, folder, before) in cases {
        match measure(&program, folder.map(Path::new), text, before) {
            Ok(line) => println!("{name:24} {line}"),
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Returns a stream of Deployments with about so many bytes.
fn objects(bytes: usize) -> String {
    let mut out = String::new();
    let mut number = 0;
    while out.len() < bytes {
        let _ = write!(
            out,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number}\n  labels: {{app: web}}\nspec:\n  \
             replicas: 3\n  selector:\n    matchLabels: {{app: web}}\n  template:\n    metadata:\n      labels: {{app: web}}\n    \
             spec:\n      containers:\n      - name: web\n        image: nginx:1.27\n        ports:\n        - \
             containerPort: 80\n        resources:\n          limits: {{cpu: 100m, memory: 64Mi}}\n"
        );
        number += 1;
    }
    out
}

/// Returns a definition of ordinary size with descriptions.
fn definition(folder: &Path) -> Option<String> {
    let texts = super::work::files(folder).into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let is_ordinary = |text: &String| (10_000..40_000).contains(&text.len());
    texts.filter(is_ordinary).find(|text| place(text, DESCRIPTION).is_some())
}

/// Returns the line and column behind some characters, in the middle of a text. A letter or nothing follows.
fn place(text: &str, before: &str) -> Option<(usize, usize)> {
    let fits = |rest: &str| rest.is_empty() || rest.starts_with(char::is_alphabetic);
    let column = |line: &str| {
        line.find(before).map(|at| at + before.len()).filter(|at| fits(line.get(*at..).unwrap_or_default()))
    };
    let all: Vec<(usize, usize)> =
        text.lines().enumerate().filter_map(|(number, line)| Some((number, column(line)?))).collect();
    all.get(all.len() / 2).copied()
}

fn measure(program: &str, folder: Option<&Path>, text: &str, before: &str) -> io::Result<String> {
    let workspace = tempfile::tempdir()?;
    for (number, file) in folder.map(super::work::files).unwrap_or_default().iter().enumerate() {
        let bytes = std::fs::read(file)?;
        // The definition that is edited is there once.
        if bytes != text.as_bytes() {
            std::fs::write(workspace.path().join(format!("{number}.yaml")), bytes)?;
        }
    }
    let begin = Instant::now();
    let mut server = Server::start(program, workspace.path())?;
    let uri = format!("file://{}/a.yaml", workspace.path().display());
    let start = begin.elapsed();
    let document = json!({ "uri": uri, "languageId": "yaml", "version": 0, "text": text });
    server.notify("textDocument/didOpen", &json!({ "textDocument": document }))?;
    server.diagnostics(&uri, 0)?;
    let opened = begin.elapsed();
    let (line, character) = place(text, before).unwrap_or_default();
    let at = json!({ "line": line, "character": character });
    let mut times = Vec::new();
    for version in 1..=KEYSTROKES {
        let change = json!({ "range": { "start": at, "end": at }, "text": "x" });
        let document = json!({ "uri": uri, "version": version });
        let begin = Instant::now();
        server.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": [change] }))?;
        server.diagnostics(&uri, version)?;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let memory = server.memory();
    let of = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let cells = [shown(start), shown(opened), shown(of(50)), shown(of(99)), format!("{memory} MiB")];
    Ok(cells.map(|cell| format!("{cell:>9}")).join(" "))
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(program: &str, folder: &Path) -> io::Result<Server> {
        let mut command = Command::new(program);
        command.arg("lsp").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let missing = || io::Error::other("no pipe");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let mut server = Server { child, input, output };
        let folders = json!([{ "uri": format!("file://{}", folder.display()), "name": "bench" }]);
        let params = json!({ "capabilities": {}, "workspaceFolders": folders });
        server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))?;
        while server.receive()?["id"] != 1 {}
        server.notify("initialized", &json!({}))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.input.flush()
    }

    fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn receive(&mut self) -> io::Result<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the server is gone"));
            }
            match line.trim().strip_prefix("Content-Length: ") {
                Some(text) => length = text.parse().map_err(io::Error::other)?,
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body)?;
        serde_json::from_slice(&body).map_err(io::Error::other)
    }

    fn diagnostics(&mut self, uri: &str, version: i64) -> io::Result<()> {
        loop {
            let message = self.receive()?;
            if message["params"]["uri"] == uri && message["params"]["version"] == version {
                return Ok(());
            }
        }
    }

    /// Returns the peak memory in MiB.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
        kib.unwrap_or_default() / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
