//! An HTTP/1.1 client with its own address: the server treats each address as a client.

use super::Result;
use super::report::BOUND;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};

/// The address of honest clients, and that of a hostile one.
pub(super) const HONEST: Ipv4Addr = Ipv4Addr::LOCALHOST;

pub(super) fn hostile(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, 1 + (number % 200) as u8)
}

/// Connects from an address of this machine.
pub(super) fn connect(from: Ipv4Addr, to: SocketAddr) -> Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&socket, &SocketAddrV4::new(from, 0))?;
    connect(&socket, &to)?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(BOUND))?;
    stream.set_write_timeout(Some(BOUND))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'r> {
    pub(super) method: &'r str,
    pub(super) path: &'r str,
    pub(super) accept: &'r str,
    pub(super) media: &'r str,
    pub(super) body: &'r str,
    /// The token of the user; empty for none. A server without permissions takes any.
    pub(super) token: &'r str,
    /// A user to impersonate; empty for none.
    pub(super) other: &'r str,
}

/// The token of the administrator.
pub(super) const ADMIN: &str = "admin";

/// A response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    /// The head and the body.
    pub(super) text: String,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            method: "GET",
            path: "/",
            accept: "application/json",
            media: "application/json",
            body: "",
            token: ADMIN,
            other: "",
        }
    }
}

impl Request<'_> {
    /// Sends it on a new connection. Returns the connection.
    pub(super) fn send(&self, from: Ipv4Addr, to: SocketAddr) -> Result<TcpStream> {
        let mut stream = connect(from, to)?;
        let Request { method, path, accept, media, body, token, other } = self;
        let length = body.len();
        let mut who = String::new();
        if !token.is_empty() {
            let _ = write!(who, "Authorization: Bearer {token}\r\n");
        }
        if !other.is_empty() {
            let _ = write!(who, "Impersonate-User: {other}\r\n");
        }
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: {accept}\r\n\
             {who}Content-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        Ok(stream)
    }

    /// Sends it, and reads the response to its end. Returns its status code.
    pub(super) fn ask(&self, from: Ipv4Addr, to: SocketAddr) -> Result<u16> {
        self.answer(from, to).map(|answer| answer.code)
    }

    /// Sends it, and reads the response to its end.
    pub(super) fn answer(&self, from: Ipv4Addr, to: SocketAddr) -> Result<Answer> {
        let mut answer = Vec::new();
        self.send(from, to)?.read_to_end(&mut answer)?;
        let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("no answer")?;
        let text = String::from_utf8_lossy(&answer[..head]).into_owned();
        let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
        if length.is_some_and(|length| length != answer.len() - head - 4) {
            return Err("the answer is cut off".into());
        }
        let code = text.get(9..12).unwrap_or_default().parse()?;
        Ok(Answer { code, text: String::from_utf8_lossy(&answer).into_owned() })
    }
}
