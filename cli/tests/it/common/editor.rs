//! A client of the Language Server Protocol, and one of the Model Context Protocol.

use super::Folder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// An editor with the folder of a test.
#[derive(Debug)]
pub(crate) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: String,
    count: i64,
    /// Notifications that came before an answer.
    pub(crate) notifications: Vec<Value>,
}

impl Editor {
    /// Starts the server, and says hello.
    pub(crate) fn start(folder: &Folder, options: &[&str]) -> Editor {
        Editor::with(folder, options, &json!({}))
    }

    pub(crate) fn with(folder: &Folder, options: &[&str], capabilities: &Value) -> Editor {
        let mut command = folder.command(&[&["lsp"], options].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let output = BufReader::new(child.stdout.take().expect("standard output"));
        let root = folder.path("").canonicalize().expect("a folder");
        let root = format!("file://{}", root.to_string_lossy());
        let input = child.stdin.take();
        let mut editor = Editor { child, input, output, root, count: 0, notifications: Vec::new() };
        let folders = json!([{ "uri": editor.root, "name": "test" }]);
        editor.request("initialize", &json!({ "capabilities": capabilities, "workspaceFolders": folders }));
        editor.notify("initialized", &json!({}));
        editor
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("{}/{name}", self.root.trim_end_matches('/'))
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("standard input");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("a message");
        input.flush().expect("a message");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a header") > 0, "the server is gone");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(text) => length = text.parse().expect("a length"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request, and returns the whole answer.
    pub(crate) fn answer(&mut self, method: &str, params: &Value) -> Value {
        self.count += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.count, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == self.count && message.get("method").is_none() {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Sends a request, and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Opens a file, and returns its diagnostics.
    pub(crate) fn open(&mut self, name: &str, text: &str) -> Vec<Value> {
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        self.diagnostics(name, 1)
    }

    /// Changes a file, and returns its diagnostics. A change has a range, or none for the whole text.
    pub(crate) fn change(&mut self, name: &str, version: i64, range: Option<[u64; 4]>, text: &str) -> Vec<Value> {
        self.type_in(name, version, range, text);
        self.diagnostics(name, version)
    }

    /// Changes a file.
    pub(crate) fn type_in(&mut self, name: &str, version: i64, range: Option<[u64; 4]>, text: &str) {
        let mut change = json!({ "text": text });
        if let Some([line, column, to, end]) = range {
            change["range"] = json!({
                "start": { "line": line, "character": column },
                "end": { "line": to, "character": end },
            });
        }
        let document = json!({ "uri": self.uri(name), "version": version });
        self.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// Waits for the diagnostics of a version.
    pub(crate) fn diagnostics(&mut self, name: &str, version: i64) -> Vec<Value> {
        let uri = self.uri(name);
        let is_it = |message: &Value| {
            let params = &message["params"];
            let is_about = params["uri"] == uri.as_str() && params["version"] == version;
            message["method"] == "textDocument/publishDiagnostics" && is_about
        };
        loop {
            // Those of other files are kept.
            let found = self.notifications.iter().position(is_it);
            if let Some(found) = found {
                let message = self.notifications.remove(found);
                return message["params"]["diagnostics"].as_array().expect("diagnostics").clone();
            }
            let message = self.receive();
            self.notifications.push(message);
        }
    }

    /// Asks about a position.
    pub(crate) fn at(&mut self, method: &str, name: &str, line: u64, column: u64) -> Value {
        let uri = self.uri(name);
        let position = json!({ "line": line, "character": column });
        self.request(method, &json!({ "textDocument": { "uri": uri }, "position": position }))
    }

    /// Says goodbye, and returns the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.request("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        self.input.take();
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.input.take();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
