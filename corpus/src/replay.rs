//! A server that sends recorded responses, for tests of clients.
//!
//! A [`Recording`] has the exchanges of a real server: files `responses.ndjson.zst` with a request and its response per
//! line, next to the bodies that they name. A test may change it, as the server would change. [`Recording::serve`]
//! responds to requests over HTTP and records them.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The list of CustomResourceDefinitions.
pub const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The media type with which a client requests the names and versions of objects.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const JSON: &str = "application/json";
const INDEX: &str = "/openapi/v3";

/// The responses of a server, by path and query.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    answers: BTreeMap<String, Vec<Answer>>,
}

#[derive(Clone, Debug)]
struct Answer {
    /// The media type that was requested.
    accept: String,
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Bytes(Vec<u8>),
    /// A compressed file.
    File(PathBuf),
}

/// A line of a recording.
#[derive(Deserialize)]
struct Exchange {
    request: Request,
    status: u16,
    headers: Vec<(String, String)>,
    file: Option<String>,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
}

/// Returns the contents of a file compressed with zstd.
///
/// # Panics
/// It cannot be read.
pub fn decompressed(path: &Path) -> Vec<u8> {
    let read = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(File::open(path)?))?;
        let mut bytes = Vec::new();
        decoder.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Body {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Body::Bytes(bytes) => bytes.clone(),
            Body::File(path) => decompressed(path),
        }
    }
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Recording {
    /// Reads the exchanges in folders. Exchanges that the first folder does not have are read from the next one.
    ///
    /// # Panics
    /// A file cannot be read.
    pub fn read(folders: &[PathBuf]) -> Recording {
        let mut out = Recording::default();
        for folder in folders {
            let text = decompressed(&folder.join("responses.ndjson.zst"));
            let mut own: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let exchange: Exchange =
                    serde_json::from_slice(line).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
                let Request { method, path, headers } = exchange.request;
                let Some(file) = exchange.file.filter(|_| method == "GET") else { continue };
                let accept = headers.into_iter().find(|(name, _)| name == "Accept").map(|(_, value)| value);
                own.entry(path).or_default().push(Answer {
                    accept: accept.unwrap_or_default(),
                    status: exchange.status,
                    headers: exchange.headers,
                    body: Body::File(folder.join(file)),
                });
            }
            for (path, answers) in own {
                out.answers.entry(path).or_insert(answers);
            }
        }
        out.define();
        out
    }

    /// Adds responses for single definitions and for their metadata, from the recorded list.
    fn define(&mut self) {
        let Some(list) = self.answers.get(DEFINITIONS).and_then(|answers| answers.first()) else { return };
        let list: serde_json::Value = serde_json::from_slice(&list.body.bytes()).expect("a list");
        for item in list["items"].as_array().into_iter().flatten() {
            self.define_one(item.clone());
        }
        self.set(DEFINITIONS, METADATA, &metadata_of(&list));
    }

    fn define_one(&mut self, mut item: serde_json::Value) {
        item["kind"] = "CustomResourceDefinition".into();
        item["apiVersion"] = "apiextensions.k8s.io/v1".into();
        let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        self.set(&format!("{DEFINITIONS}/{name}"), JSON, item.to_string().as_bytes());
    }

    /// Changes a definition, which gets another version.
    ///
    /// # Panics
    /// There is no such definition.
    pub fn change_definition(&mut self, name: &str, change: impl FnOnce(&mut serde_json::Value)) {
        let mut list: serde_json::Value = serde_json::from_slice(&self.body(DEFINITIONS, JSON)).expect("a list");
        let mut items = list["items"].as_array_mut().into_iter().flatten();
        let item = items.find(|item| item["metadata"]["name"] == name).expect("a definition");
        item["metadata"]["resourceVersion"] = "999999".into();
        change(item);
        let item = item.clone();
        self.set(DEFINITIONS, JSON, list.to_string().as_bytes());
        self.set(DEFINITIONS, METADATA, &metadata_of(&list));
        self.define_one(item);
    }

    /// Sets a response.
    pub fn set(&mut self, path: &str, accept: &str, body: &[u8]) {
        let answers = self.answers.entry(path.to_owned()).or_default();
        answers.retain(|answer| answer.accept != accept);
        let headers = vec![("Content-Type".to_owned(), JSON.to_owned())];
        answers.push(Answer { accept: accept.to_owned(), status: 200, headers, body: Body::Bytes(body.to_vec()) });
    }

    /// Returns the response to a request.
    ///
    /// # Panics
    /// There is no such response.
    pub fn body(&self, path: &str, accept: &str) -> Vec<u8> {
        let answer = self.answers.get(path).and_then(|answers| answers.iter().find(|answer| answer.accept == accept));
        answer.unwrap_or_else(|| panic!("no answer to {path} ({accept})")).body.bytes()
    }

    /// Returns the ETag of the response to a request, as sent.
    pub fn tag(&self, path: &str, accept: &str) -> Option<&str> {
        self.answers.get(path)?.iter().find(|answer| answer.accept == accept)?.header("etag")
    }

    /// Returns the paths of the OpenAPI v3 documents with their URLs.
    ///
    /// # Panics
    /// There is no index.
    pub fn documents(&self) -> BTreeMap<String, String> {
        #[derive(Deserialize)]
        struct Index {
            paths: BTreeMap<String, Place>,
        }
        #[derive(Deserialize)]
        struct Place {
            #[serde(rename = "serverRelativeURL")]
            url: String,
        }
        let index: Index = serde_json::from_slice(&self.body(INDEX, JSON)).expect("an index");
        index.paths.into_iter().map(|(path, place)| (path, place.url)).collect()
    }

    /// Publishes another version of an OpenAPI v3 document, with this hash. The index has the new hash, unless the
    /// document changes after the client has read the index (`is_race`).
    ///
    /// # Panics
    /// There is no such document.
    pub fn change_document(&mut self, path: &str, hash: &str, body: &[u8], is_race: bool) {
        let old = self.documents().remove(path).expect("a document");
        self.answers.remove(&old);
        let new = format!("{INDEX}/{path}?hash={hash}");
        self.set(&new, JSON, body);
        if !is_race {
            let index = String::from_utf8(self.body(INDEX, JSON)).expect("UTF-8").replace(&old, &new);
            self.set(INDEX, JSON, index.as_bytes());
        }
    }

    /// Removes aggregated discovery, as of a server that does not have it.
    pub fn without_aggregated_discovery(&mut self) {
        for answers in self.answers.values_mut() {
            answers.retain(|answer| !answer.accept.contains("APIGroupDiscoveryList"));
        }
    }

    /// Removes OpenAPI v3, as of a server that has only OpenAPI v2.
    pub fn without_v3(&mut self) {
        self.answers.retain(|path, _| !path.starts_with(INDEX));
    }

    /// Returns the response to a request with these media types, the most wanted first.
    fn find(&self, path: &str, accept: &str, tag: Option<&str>) -> Answer {
        let empty = |status, headers| Answer { accept: String::new(), status, headers, body: Body::Bytes(Vec::new()) };
        let (place, query) = path.split_once('?').unwrap_or((path, ""));
        let Some(answers) = self.answers.get(path).or_else(|| self.answers.get(place)) else {
            // The document may be requested with another hash.
            let newest = format!("{place}?hash=");
            let newest = self.answers.range(newest.clone()..).next().filter(|(path, _)| path.starts_with(&newest));
            return match newest {
                Some((newest, _)) if query.contains("hash=") => {
                    empty(301, vec![("Location".to_owned(), newest.clone())])
                }
                _ => empty(404, Vec::new()),
            };
        };
        // The protobuf form has two names.
        let mut wanted = accept.split(',').map(|accept| accept.trim().replace("@v1.0", ".v1.0"));
        let found = wanted.find_map(|accept| answers.iter().find(|one| one.accept == accept && one.status == 200));
        match found {
            Some(answer) if tag.is_some() && answer.header("etag") == tag => empty(304, answer.headers.clone()),
            Some(answer) => answer.clone(),
            None => empty(406, Vec::new()),
        }
    }

    /// Responds to requests on a port of the loopback interface.
    ///
    /// # Panics
    /// There is no free port.
    pub fn serve(self) -> Replay {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let state = Arc::new(Mutex::new(State { recording: self, asked: Vec::new(), documents: usize::MAX }));
        let replay = Replay { address, state: Arc::clone(&state) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                std::thread::spawn(move || answer_all(stream, &state));
            }
        });
        replay
    }
}

/// Returns a list of definitions as a list of their metadata.
fn metadata_of(list: &serde_json::Value) -> Vec<u8> {
    let items = list["items"].as_array().into_iter().flatten();
    let items: Vec<_> = items.map(|item| serde_json::json!({ "metadata": item["metadata"] })).collect();
    serde_json::json!({
        "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": list["metadata"], "items": items,
    })
    .to_string()
    .into_bytes()
}

/// A server of recorded responses. It ends with the test.
#[derive(Debug)]
pub struct Replay {
    /// Its address: `127.0.0.1:40001`
    pub address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    recording: Recording,
    asked: Vec<String>,
    /// How many more requests for documents get a response.
    documents: usize,
}

impl Replay {
    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Returns the requests since the last call, in order: status and path.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut self.state().asked);
        asked.sort();
        asked
    }

    /// Changes the responses.
    pub fn change(&self, change: impl FnOnce(&mut Recording)) {
        change(&mut self.state().recording);
    }

    /// Responds to this many requests for OpenAPI v3 documents. Further requests wait forever.
    pub fn answer_documents(&self, most: usize) {
        self.state().documents = most;
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Responds to the requests of a connection, one after the other.
fn answer_all(stream: TcpStream, state: &Mutex<State>) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(head) = head(&mut reader) {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
        };
        let answer = {
            let mut state = locked(state);
            if path.starts_with("/openapi/v3/") {
                if state.documents == 0 {
                    drop(state);
                    // Waits until the client disconnects.
                    let _ = reader.read(&mut [0]);
                    return;
                }
                state.documents -= 1;
            }
            let answer = state.recording.find(path, header("accept").unwrap_or(JSON), header("if-none-match"));
            state.asked.push(format!("{} {path}", answer.status));
            answer
        };
        let body = answer.body.bytes();
        let mut text = format!("HTTP/1.1 {} Recorded\r\nContent-Length: {}\r\n", answer.status, body.len());
        for (name, value) in &answer.headers {
            let is_of_transfer = ["content-length", "transfer-encoding", "date", "connection"]
                .iter()
                .any(|other| name.eq_ignore_ascii_case(other));
            if !is_of_transfer {
                let _ = write!(text, "{name}: {value}\r\n");
            }
        }
        text.push_str("\r\n");
        if writer.write_all(text.as_bytes()).and_then(|()| writer.write_all(&body)).is_err() {
            return;
        }
    }
}

fn head(reader: &mut impl Read) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > 1 << 16 || !matches!(reader.read(&mut byte), Ok(1)) {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}
