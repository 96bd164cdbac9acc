//! `kubeshape lsp`: the protocol, and the files. What is answered is in `kubeshape-language`; what is known comes from
//! the libraries of the other commands, through [`knowledge`].
//!
//! The server works in rounds. In a round, schemas are fixed. A change of a definition begins a new one, in which open
//! files are judged again as far as they depend on schemas.

mod files;
mod knowledge;
mod owners;
mod requests;

use crate::args::{Cli, Command, LspArgs};
use crate::check;
use crate::config;
use crate::convert::STACK;
use crate::error::Fatal;
use crate::validate::live::{Base, Text};
use clap::{CommandFactory, FromArgMatches};
pub(crate) use knowledge::Known;
use kubeshape_input::{Finding, KUSTOMIZATIONS, may_define};
use kubeshape_language::{Encoding, File, Workspace};
use lsp_server::{Connection, Message, Notification, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    PublishDiagnosticsParams, Uri,
};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Files that are not sent to servers, by their names.
const BUILD_FILES: [&str; 3] = ["Chart.yaml", "values.yaml", "values.yml"];

/// Runs the command. Returns whether the client said goodbye.
///
/// # Errors
/// The settings of the workspace are wrong.
pub(crate) fn run(args: &LspArgs) -> Result<bool, Fatal> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || serve(args))?;
        thread.join().map_err(|_| Fatal::Internal { input: "a message".to_owned() })?
    })
}

fn serve(args: &LspArgs) -> Result<bool, Fatal> {
    let (connection, threads) = Connection::stdio();
    let Ok((id, params)) = connection.initialize_start() else { return Ok(false) };
    let root = root(&params);
    let args = settings(args, root.as_deref())?;
    let is_utf8 = params["capabilities"]["general"]["positionEncodings"]
        .as_array()
        .is_some_and(|all| all.iter().any(|encoding| encoding == "utf-8"));
    let encoding = if is_utf8 { Encoding::Utf8 } else { Encoding::Utf16 };
    if connection.initialize_finish(id, requests::capabilities(encoding)).is_err() {
        return Ok(false);
    }
    if params["capabilities"]["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"] == true {
        send(&connection, requests::watch());
    }
    let mut server = Server {
        connection,
        args,
        root,
        workspace: Workspace::new(encoding),
        findings: BTreeMap::new(),
        dirty: BTreeSet::new(),
        next: None,
        pending: Vec::new(),
        named: BTreeSet::new(),
    };
    let end = server.run()?;
    drop(server);
    let _ = threads.join();
    Ok(end)
}

/// Returns the folder of the workspace, without links.
fn root(params: &serde_json::Value) -> Option<PathBuf> {
    let folder = params["workspaceFolders"][0]["uri"].as_str().or_else(|| params["rootUri"].as_str());
    let path = folder.and_then(files::path).or_else(|| params["rootPath"].as_str().map(PathBuf::from))?;
    path.canonicalize().ok().filter(|path| path.is_dir())
}

/// Enters the folder of the workspace, and returns the options with its settings.
///
/// # Errors
/// The settings are wrong.
fn settings(args: &LspArgs, root: Option<&Path>) -> Result<LspArgs, Fatal> {
    let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
    let Some(root) = root.filter(|root| here.as_deref() != Some(*root)) else { return Ok(args.clone()) };
    // Names in findings are relative to it, as for a command that is run there.
    if std::env::set_current_dir(root).is_err() {
        return Ok(args.clone());
    }
    let configured = config::configured(std::env::args_os().collect())?;
    let matches = Cli::command().try_get_matches_from(configured.arguments);
    match matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(Cli { command: Command::Lsp(args), .. }) => Ok(*args),
        Ok(_) => Ok(args.clone()),
        Err(error) => Err(Fatal::Usage(error.to_string())),
    }
}

/// What ends a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// The open definitions changed.
    Texts,
    /// Files on disk changed.
    Disk,
    /// The client said goodbye, or is gone.
    End(bool),
}

struct Server {
    connection: Connection,
    args: LspArgs,
    root: Option<PathBuf>,
    workspace: Workspace,
    /// The findings of open files, as far as they are known.
    findings: BTreeMap<String, Vec<Finding>>,
    /// Files whose findings are to be sent.
    dirty: BTreeSet<String>,
    next: Option<Next>,
    /// What open files name as schemas.
    named: BTreeSet<PathBuf>,
    /// Requests for the next round.
    pending: Vec<Message>,
}

impl Server {
    /// Runs all rounds. Returns whether the client said goodbye.
    fn run(&mut self) -> Result<bool, Fatal> {
        let mut base = self.read()?;
        let context = check::Context::of_workspace(&self.args.live);
        loop {
            let texts = self.texts();
            let args = self.args.clone();
            self.workspace.forget_findings();
            self.dirty.extend(self.workspace.files().map(|(uri, _)| uri.to_owned()));
            let next = base.with(&args.live, &texts, |validator, wrong| {
                for finding in base.findings.iter().chain(&wrong).filter(|finding| finding.is_error()) {
                    self.notify("window/logMessage", &serde_json::json!({ "type": 2, "message": finding.to_string() }));
                }
                self.round(&mut Known::new(validator, &context))
            });
            base.findings.clear();
            match next {
                Next::End(is_good) => return Ok(is_good),
                Next::Texts => {}
                Next::Disk => base = self.read()?,
            }
        }
    }

    fn read(&mut self) -> Result<Base, Fatal> {
        let mut args = self.args.clone();
        args.live.schemas.extend(self.named.iter().cloned());
        files::read(&args, self.root.as_deref(), &mut self.workspace)
    }

    /// Returns the schemas that open files name. They must be in the folder of the workspace: who opens a file does not
    /// trust its author with other files.
    fn named(&self) -> BTreeSet<PathBuf> {
        let mut out = BTreeSet::new();
        let Some(root) = &self.root else { return out };
        for (uri, file) in self.workspace.files() {
            let folder = files::path(uri).and_then(|path| Some(path.parent()?.to_owned()));
            let paths = kubeshape_language::modeline(file.text().as_str()).into_iter();
            let found = paths.filter_map(|path| folder.as_ref()?.join(path).canonicalize().ok());
            out.extend(found.filter(|path| path.starts_with(root)));
        }
        out
    }

    /// Returns the open files with definitions.
    fn texts(&self) -> Vec<Text> {
        let has = |file: &File| may_define(file.text().as_str().as_bytes());
        let open = self.workspace.files().filter(|(_, file)| file.is_manifest() && has(file));
        let text = |(uri, file): (&str, &File)| {
            let path = files::path(uri).and_then(|path| path.canonicalize().ok());
            (path, file.name.to_string(), file.text().as_str().as_bytes().to_vec())
        };
        open.map(text).collect()
    }

    /// Answers messages until schemas change.
    fn round(&mut self, known: &mut Known<'_, '_>) -> Next {
        for message in std::mem::take(&mut self.pending) {
            if let Some(end) = self.message(message, known) {
                return end;
            }
        }
        loop {
            // Reads all waiting messages before it judges a file: findings of an older text are useless.
            while let Ok(message) = self.connection.receiver.try_recv() {
                if let Some(end) = self.message(message, known) {
                    return end;
                }
            }
            if let Some(next) = self.next.take() {
                return next;
            }
            for uri in std::mem::take(&mut self.dirty) {
                self.publish(&uri, known);
            }
            let Ok(message) = self.connection.receiver.recv() else { return Next::End(false) };
            if let Some(end) = self.message(message, known) {
                return end;
            }
        }
    }

    fn message(&mut self, message: Message, known: &mut Known<'_, '_>) -> Option<Next> {
        match message {
            Message::Request(request) => {
                match self.connection.handle_shutdown(&request) {
                    Ok(false) => {}
                    Ok(true) => return Some(Next::End(true)),
                    Err(_) => return Some(Next::End(false)),
                }
                // Definitions that changed before the request count.
                if self.next.is_some() {
                    self.pending.push(Message::Request(request));
                    return self.next.take();
                }
                let id = request.id.clone();
                let answered = catch_unwind(AssertUnwindSafe(|| self.answer(request, known)));
                let response = answered.unwrap_or_else(|_| {
                    let code = lsp_server::ErrorCode::InternalError as i32;
                    Response::new_err(id, code, "internal error; please report it with the file".to_owned())
                });
                send(&self.connection, Message::Response(response));
            }
            Message::Notification(notification) if notification.method == "exit" => return Some(Next::End(false)),
            Message::Notification(notification) => {
                let _ = catch_unwind(AssertUnwindSafe(|| self.notified(notification)));
            }
            Message::Response(_) => {}
        }
        None
    }

    fn notified(&mut self, notification: Notification) {
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let Some(DidOpenTextDocumentParams { text_document: document }) = read(notification) else { return };
                let uri = document.uri.as_str().to_owned();
                let file = File::new(self.name(&uri), document.version, document.text, is_build_file(&uri));
                self.open(&uri, file);
            }
            "textDocument/didChange" => {
                let Some(params) = read::<DidChangeTextDocumentParams>(notification) else { return };
                let uri = params.text_document.uri.as_str();
                let encoding = self.workspace.encoding;
                let had = self.has_definitions(uri);
                let Some(file) = self.workspace.file_mut(uri) else { return };
                file.change(params.text_document.version, &params.content_changes, encoding);
                self.changed(uri, had);
            }
            "textDocument/didClose" => {
                let Some(params) = read::<DidCloseTextDocumentParams>(notification) else { return };
                let uri = params.text_document.uri.as_str();
                let had = self.has_definitions(uri);
                self.workspace.close(uri);
                self.findings.remove(uri);
                self.dirty.remove(uri);
                self.send_diagnostics(uri, Vec::new(), None);
                if had {
                    self.next = self.next.max(Some(Next::Texts));
                }
            }
            "workspace/didChangeWatchedFiles" => {
                let Some(params) = read::<DidChangeWatchedFilesParams>(notification) else { return };
                // The texts of open files are those of the client. Policies judge as they are on disk.
                let has_policy = |file: &File| files::has_policy(file.text().as_str().as_bytes());
                let is_read = |uri: &Uri| self.workspace.file(uri.as_str()).is_none_or(has_policy);
                if params.changes.iter().any(|change| is_read(&change.uri)) {
                    self.next = self.next.max(Some(Next::Disk));
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, uri: &str, file: File) {
        self.workspace.open(uri, file);
        self.changed(uri, false);
    }

    /// Called after a file changed, which `had` definitions before.
    fn changed(&mut self, uri: &str, had: bool) {
        self.findings.remove(uri);
        self.dirty.insert(uri.to_owned());
        if had || self.has_definitions(uri) {
            self.next = self.next.max(Some(Next::Texts));
        }
        let named = self.named();
        if named != self.named {
            self.named = named;
            self.next = self.next.max(Some(Next::Disk));
        }
    }

    fn has_definitions(&self, uri: &str) -> bool {
        let text = self.workspace.file(uri).map(|file| file.text().as_str()).unwrap_or_default();
        may_define(text.as_bytes())
    }

    /// Returns the name of a file in findings: relative to the folder of the workspace.
    fn name(&self, uri: &str) -> String {
        let Some(path) = files::path(uri) else { return uri.to_owned() };
        let relative = |path: &Path| path.strip_prefix(self.root.as_deref()?).ok().map(Path::to_owned);
        let path = relative(&path).or_else(|| relative(&path.canonicalize().ok()?)).unwrap_or(path);
        path.to_string_lossy().into_owned()
    }

    /// Returns the findings of an open file.
    fn findings(&mut self, uri: &str, known: &mut Known<'_, '_>) -> Vec<Finding> {
        let Some(file) = self.workspace.file(uri) else { return Vec::new() };
        if let Some(findings) = self.findings.get(uri) {
            return findings.clone();
        }
        let findings = file.findings(known);
        self.findings.insert(uri.to_owned(), findings.clone());
        findings
    }

    /// Sends the findings of a file.
    fn publish(&mut self, uri: &str, known: &mut Known<'_, '_>) {
        self.findings.remove(uri);
        let found = catch_unwind(AssertUnwindSafe(|| self.findings(uri, known)));
        let Some(file) = self.workspace.file(uri) else { return };
        let diagnostics = file.diagnostics(&found.unwrap_or_default(), self.workspace.encoding);
        self.send_diagnostics(uri, diagnostics, Some(file.version));
    }

    fn send_diagnostics(&self, uri: &str, diagnostics: Vec<lsp_types::Diagnostic>, version: Option<i32>) {
        if let Ok(uri) = Uri::from_str(uri) {
            self.notify("textDocument/publishDiagnostics", &PublishDiagnosticsParams { uri, diagnostics, version });
        }
    }

    fn notify(&self, method: &str, params: &impl serde::Serialize) {
        let params = serde_json::to_value(params).unwrap_or_default();
        let notification = Notification { method: method.to_owned(), params };
        send(&self.connection, Message::Notification(notification));
    }
}

/// Sends a message. If the client is gone, the next one that is expected of it ends the server.
fn send(connection: &Connection, message: Message) {
    let _ = connection.sender.send(message);
}

/// Reads the parameters of a notification. Wrong ones are ignored, because a notification has no answer.
fn read<P: DeserializeOwned>(notification: Notification) -> Option<P> {
    serde_json::from_value(notification.params).ok()
}

/// Returns whether commands pass over a file because manifests are built from it.
fn is_build_file(uri: &str) -> bool {
    let name = uri.rsplit('/').next().unwrap_or_default();
    BUILD_FILES.contains(&name) || KUSTOMIZATIONS.contains(&name)
}
