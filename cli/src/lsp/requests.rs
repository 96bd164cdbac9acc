//! The requests of clients.

use super::knowledge::Known;
use super::{Server, files};
use kubeshape_input::Code;
use kubeshape_language::{self as language, Encoding, File};
use lsp_server::{ErrorCode, Message, Request, RequestId, Response};
use lsp_types::{
    CodeActionParams, CompletionItem, CompletionList, CompletionParams, DocumentSymbolParams, ExecuteCommandParams,
    GotoDefinitionParams, HoverParams, InlayHintParams, ReferenceParams, RenameParams, TextDocumentPositionParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns what the server can do.
pub(super) fn capabilities(encoding: Encoding) -> Value {
    let encoding = match encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16 => "utf-16",
    };
    json!({
        "capabilities": {
            "positionEncoding": encoding,
            "textDocumentSync": { "openClose": true, "change": 2 },
            "hoverProvider": true,
            "completionProvider": { "triggerCharacters": [":", " ", "-", "\n"], "resolveProvider": true },
            "codeActionProvider": { "codeActionKinds": ["quickfix", "source.fixAll"] },
            "inlayHintProvider": true,
            "documentSymbolProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "renameProvider": { "prepareProvider": true },
            "executeCommandProvider": { "commands": [language::EXPLAIN] },
            "workspace": { "workspaceFolders": { "supported": true } },
        },
        "serverInfo": { "name": "kubeshape", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Returns the request that the client reports changed files.
pub(super) fn watch() -> Message {
    let watchers = ["**/*.{yaml,yml,json}", "**/kubeshape.toml"].map(|pattern| json!({ "globPattern": pattern }));
    let options = json!({ "watchers": watchers });
    let registration =
        json!({ "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": options });
    let id = RequestId::from("kubeshape-files".to_owned());
    let params = json!({ "registrations": [registration] });
    Message::Request(Request { id, method: "client/registerCapability".to_owned(), params })
}

/// Why a request has no result.
struct Refused(ErrorCode, String);

impl Server {
    /// Answers a request.
    pub(super) fn answer(&mut self, request: Request, known: &mut Known<'_, '_>) -> Response {
        let Request { id, method, params } = request;
        match self.result(&method, params, known) {
            Ok(result) => Response { id, response_result: Ok(result) },
            Err(Refused(code, message)) => Response::new_err(id, code as i32, message),
        }
    }

    fn result(&mut self, method: &str, params: Value, known: &mut Known<'_, '_>) -> Result<Value, Refused> {
        let encoding = self.workspace.encoding;
        match method {
            "textDocument/hover" => {
                let HoverParams { text_document_position_params: at, .. } = read(params)?;
                let uri = at.text_document.uri.as_str();
                let mut hover = language::hover(self.file(uri)?, at.position, encoding, known);
                if let Some(hover) = &mut hover {
                    language::add_owners(hover, &self.owners(uri, at.position));
                }
                written(hover)
            }
            "textDocument/completion" => {
                let CompletionParams { text_document_position: at, .. } = read(params)?;
                let names = self.workspace.names();
                let file = self.file(at.text_document.uri.as_str())?;
                let items = language::complete(file, at.position, encoding, &names, known);
                written(CompletionList { is_incomplete: true, items })
            }
            "completionItem/resolve" => written(language::resolve(read::<CompletionItem>(params)?, known)),
            "textDocument/codeAction" => {
                let CodeActionParams { text_document, range, .. } = read(params)?;
                let findings = self.findings(text_document.uri.as_str(), known);
                let file = self.file(text_document.uri.as_str())?;
                written(language::actions(file, &text_document.uri, range, encoding, &findings, known))
            }
            "textDocument/inlayHint" => {
                let InlayHintParams { text_document, range, .. } = read(params)?;
                let file = self.file(text_document.uri.as_str())?;
                written(language::hints(file, range, encoding, known))
            }
            "textDocument/documentSymbol" => {
                let DocumentSymbolParams { text_document, .. } = read(params)?;
                written(language::symbols(self.file(text_document.uri.as_str())?, encoding))
            }
            "textDocument/definition" => {
                let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
                let uri = at.text_document.uri.as_str();
                written(self.workspace.definition(uri, at.position, known, |input| self.locate(input)))
            }
            "textDocument/references" => {
                let ReferenceParams { text_document_position: at, context, .. } = read(params)?;
                let with_object = context.include_declaration;
                written(self.workspace.references(at.text_document.uri.as_str(), at.position, with_object))
            }
            "textDocument/prepareRename" => {
                let at: TextDocumentPositionParams = read(params)?;
                written(self.workspace.can_rename(at.text_document.uri.as_str(), at.position))
            }
            "textDocument/rename" => {
                let RenameParams { text_document_position: at, new_name, .. } = read(params)?;
                let made = self.workspace.rename(at.text_document.uri.as_str(), at.position, &new_name);
                written(made.map_err(|message| Refused(ErrorCode::InvalidParams, message))?)
            }
            "workspace/executeCommand" => {
                let ExecuteCommandParams { command, arguments, .. } = read(params)?;
                self.command(&command, &arguments)
            }
            _ => Err(Refused(ErrorCode::MethodNotFound, format!("kubeshape does not know the method {method}"))),
        }
    }

    fn command(&self, command: &str, arguments: &[Value]) -> Result<Value, Refused> {
        let invalid = |message: String| Refused(ErrorCode::InvalidParams, message);
        if command != language::EXPLAIN {
            return Err(invalid(format!("kubeshape does not know the command {command}")));
        }
        let code = arguments.first().and_then(Value::as_str).unwrap_or_default();
        let code =
            Code::parse(code).ok_or_else(|| invalid(format!("expected a code such as KS8101, found {code:?}")))?;
        self.notify("window/showMessage", &json!({ "type": 3, "message": code.page() }));
        Ok(json!(code.page()))
    }

    fn file(&self, uri: &str) -> Result<&File, Refused> {
        let missing = || Refused(ErrorCode::InvalidParams, format!("{uri} is not open"));
        self.workspace.file(uri).ok_or_else(missing)
    }

    /// Returns the URI of an input by its name in findings.
    fn locate(&self, input: &str) -> Option<String> {
        if let Some((uri, _)) = self.workspace.files().find(|(_, file)| &*file.name == input) {
            return Some(uri.to_owned());
        }
        std::path::Path::new(input).canonicalize().ok().map(|path| files::uri(&path))
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, Refused> {
    serde_json::from_value(params).map_err(|error| Refused(ErrorCode::InvalidParams, error.to_string()))
}

fn written(result: impl Serialize) -> Result<Value, Refused> {
    serde_json::to_value(result).map_err(|error| Refused(ErrorCode::InternalError, error.to_string()))
}
