//! HTTP/1.1 over a socket, so that requests are sent byte for byte as they were recorded, and responses are read
//! exactly as they arrive.

use super::record::Request;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The token of requests.
pub(super) const TOKEN: &str = "conformance";

/// The time limit of a response.
const PATIENCE: Duration = Duration::from_mins(1);

/// A response as it arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// Without the framing of chunks.
    pub(super) body: Vec<u8>,
}

/// A connection that stays open.
pub(super) type Connection = BufReader<TcpStream>;

/// Sends a request over the connection, or over a new one if it is closed, and reads the response.
pub(super) fn exchange(
    address: SocketAddr,
    connection: &mut Option<Connection>,
    request: &Request,
    with_token: bool,
) -> io::Result<Answer> {
    let mut open = if let Some(open) = connection.take() {
        open
    } else {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        BufReader::with_capacity(1 << 16, stream)
    };
    let mut text = format!("{} {} HTTP/1.1\r\nHost: {address}\r\n", request.method, request.path);
    if with_token {
        text.extend(["Authorization: Bearer ", TOKEN, "\r\n"]);
    }
    for (name, value) in &request.headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    if let Some(body) = &request.body {
        text.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    text += "\r\n";
    text += request.body.as_deref().unwrap_or_default();
    open.get_mut().write_all(text.as_bytes())?;
    let answer = answer(&mut open, request.method == "HEAD")?;
    let closes = answer.headers.iter().any(|(name, value)| name.eq_ignore_ascii_case("connection") && value == "close");
    if !closes && request.body.is_none() {
        *connection = Some(open);
    }
    Ok(answer)
}

/// Reads a response. A response to HEAD has no body, whatever its headers are.
pub(super) fn answer(input: &mut impl BufRead, head: bool) -> io::Result<Answer> {
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut line = String::new();
    let mut next = |input: &mut dyn BufRead| -> io::Result<String> {
        line.clear();
        let read = input.read_line(&mut line)?;
        let text = line.strip_suffix("\r\n").ok_or_else(|| broken("no line"))?;
        if read == 0 { Err(broken("no line")) } else { Ok(text.to_owned()) }
    };
    let first = next(input)?;
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| broken("no status"))?;
    let mut headers = Vec::new();
    loop {
        let line = next(input)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").ok_or_else(|| broken("no header"))?;
        headers.push((name.to_owned(), value.to_owned()));
    }
    let header =
        |name: &str| headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| &**value);
    let mut body = Vec::new();
    if head || status == 304 {
    } else if header("Transfer-Encoding") == Some("chunked") {
        loop {
            let size = usize::from_str_radix(&next(input)?, 16).map_err(|_| broken("no size of a chunk"))?;
            let from = body.len();
            body.resize(from + size, 0);
            input.read_exact(&mut body[from..])?;
            if !next(input)?.is_empty() {
                return Err(broken("no end of a chunk"));
            }
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = header("Content-Length") {
        body.resize(length.parse().map_err(|_| broken("no length"))?, 0);
        input.read_exact(&mut body)?;
    } else {
        input.read_to_end(&mut body)?;
    }
    Ok(Answer { status, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_with_a_length_or_in_chunks() {
        let mut wire = &b"HTTP/1.1 200 OK\r\nVary: A\r\nVary: B\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n\
            HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"[..];
        let chunked = answer(&mut wire, false).expect("an answer");
        assert_eq!((chunked.status, &*chunked.body), (200, &b"abcd"[..]));
        assert_eq!(chunked.headers[1], ("Vary".to_owned(), "B".to_owned()));
        let sized = answer(&mut wire, false).expect("an answer");
        assert_eq!((sized.status, &*sized.body), (404, &b"no"[..]));
        assert!(answer(&mut wire, false).is_err());
    }
}
