//! A cheap HTTP/1.1 client: prepared requests over persistent connections, on one thread.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A request that is sent many times.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) text: Vec<u8>,
}

impl Request {
    /// A request with a body.
    pub(super) fn with_body(method: &str, path: &str, media: &str, body: &[u8]) -> Request {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
        );
        Request { text: [head.as_bytes(), body].concat() }
    }

    /// A GET with headers.
    pub(super) fn get(path: &str, headers: &[(&str, &str)]) -> Request {
        let lines: String = headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
        Request { text: format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n").into_bytes() }
    }
}

/// A response.
#[derive(Clone, Debug, Default)]
pub(super) struct Response {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Response {
    /// A header by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The transport of requests.
trait Stream: Read + Write + std::fmt::Debug {}

impl<S: Read + Write + std::fmt::Debug> Stream for S {}

/// A connection, with the bytes that were read after the last response.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(super) fn open(address: SocketAddr) -> io::Result<Connection> {
        Ok(Connection { stream: Box::new(connect(address)?), buffer: Vec::new() })
    }

    /// Connects with TLS.
    pub(super) fn open_tls(address: SocketAddr, config: &Arc<rustls::ClientConfig>) -> io::Result<Connection> {
        let name = rustls::pki_types::ServerName::try_from("localhost").map_err(io::Error::other)?;
        let session = rustls::ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        let stream = rustls::StreamOwned::new(session, connect(address)?);
        Ok(Connection { stream: Box::new(stream), buffer: Vec::new() })
    }

    /// Sends a request and reads the response.
    pub(super) fn ask(&mut self, request: &Request) -> io::Result<Response> {
        self.send(request)?;
        self.receive()
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &Request) -> io::Result<()> {
        self.stream.write_all(&request.text)
    }

    /// Reads the next response.
    pub(super) fn receive(&mut self) -> io::Result<Response> {
        let head = loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            self.more()?;
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).into_owned();
        self.buffer.drain(..head);
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status in {text:?}")))?;
        let pairs = lines.filter_map(|line| line.split_once(':'));
        let headers = pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
        let mut answer = Response { status, headers, body: Vec::new() };
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk()? {
                answer.body.extend_from_slice(&chunk);
            }
        } else if status != 304 {
            let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            answer.body = self.take(length)?;
        }
        Ok(answer)
    }

    fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let line = loop {
            if let Some(end) = self.buffer.windows(2).position(|bytes| bytes == b"\r\n") {
                break self.take(end + 2)?;
            }
            self.more()?;
        };
        let length = usize::from_str_radix(String::from_utf8_lossy(&line).trim(), 16).map_err(io::Error::other)?;
        let mut chunk = self.take(length + 2)?;
        chunk.truncate(length);
        Ok((length > 0).then_some(chunk))
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < length {
            self.more()?;
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    fn more(&mut self) -> io::Result<()> {
        let filled = self.buffer.len();
        self.buffer.resize(filled + (64 << 10), 0);
        let read = self.stream.read(&mut self.buffer[filled..]);
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        if read? == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_mins(2)))?;
    Ok(stream)
}

/// Whether `/readyz` of a server succeeds over a connection.
pub(super) fn is_ready_over(mut connection: Connection) -> bool {
    connection.ask(&Request::get("/readyz", &[])).is_ok_and(|answer| answer.status == 200)
}

/// Whether `/readyz` of a server succeeds.
pub(super) fn is_ready(address: SocketAddr) -> bool {
    Connection::open(address).is_ok_and(is_ready_over)
}
