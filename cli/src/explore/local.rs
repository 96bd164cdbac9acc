//! A site on this machine, for one visitor.

use crate::error::Fatal;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longer requests are not read.
const LONGEST: usize = 16 << 10;
/// How long a request may take to arrive, and how long a browser may read nothing of a response.
const PATIENCE: Duration = Duration::from_secs(5);
/// The end of the head of a request.
const END: &[u8] = b"\r\n\r\n";
/// The maximum number of connections. Further ones are closed: a page of another site could open thousands.
const MOST_CONNECTIONS: usize = 64;

/// A file of the site.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) content_type: &'static str,
    pub(super) bytes: Arc<[u8]>,
}

/// Serves files on the loopback interface until the program ends, and opens the first page in a browser.
///
/// # Errors
/// There is no free port.
pub(super) fn serve(files: &BTreeMap<String, File>, mut say: impl FnMut(&str)) -> Result<(), Fatal> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let page = format!("http://{address}/");
    say(&page);
    open(&page);
    answer_all(&listener, &address.to_string(), files)
}

/// Answers the requests to `host` until the program ends.
fn answer_all(listener: &TcpListener, host: &str, files: &BTreeMap<String, File>) -> ! {
    let open = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // If no descriptor is left, for example, the next attempt would fail immediately, too.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let work = || {
                answer(stream, files, host);
                open.fetch_sub(1, Ordering::Relaxed);
            };
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    })
}

/// Opens an address in a browser. If this fails, the user has the address.
fn open(page: &str) {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    let _ = command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Reads the head of a request: up to the empty line after it. `None` if it is too long, or does not arrive in time.
fn head(stream: &mut TcpStream) -> Option<String> {
    let deadline = Instant::now() + PATIENCE;
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    loop {
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
        head.extend(part.iter().take(count));
        let tail = head.len().saturating_sub(count + END.len() - 1);
        if head.get(tail..)?.windows(END.len()).any(|end| end == END) {
            return String::from_utf8(head).ok();
        }
        if head.len() > LONGEST {
            return None;
        }
    }
}

fn answer(mut stream: TcpStream, files: &BTreeMap<String, File>, host: &str) -> Option<()> {
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let head = head(&mut stream)?;
    let mut lines = head.lines();
    let request = lines.next()?;
    // A page of another site that resolves its own name to this address gets nothing (DNS rebinding).
    let own = lines.take_while(|line| !line.is_empty()).any(|line| {
        line.split_once(':').is_some_and(|(name, value)| name.eq_ignore_ascii_case("host") && value.trim() == host)
    });
    let path = request.strip_prefix("GET /").and_then(|rest| rest.split([' ', '?']).next());
    let name = path.map(|path| if path.is_empty() { "index.html" } else { path });
    let (status, file) = match name.and_then(|name| files.get(name)).filter(|_| own) {
        Some(file) => ("200 OK", file.clone()),
        None => ("404 Not Found", File { content_type: "text/plain", bytes: Arc::from(&b"404 page not found\n"[..]) }),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        file.content_type,
        file.bytes.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&file.bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Duration, File, LONGEST, MOST_CONNECTIONS, answer_all};
    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn site() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let own = host.clone();
        std::thread::spawn(move || {
            let page = File { content_type: "text/html", bytes: b"<p>page"[..].into() };
            answer_all(&listener, &own, &BTreeMap::from([("index.html".to_owned(), page)]))
        });
        host
    }

    fn send(host: &str, request: &str) -> String {
        let mut stream = TcpStream::connect(host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn only_files_are_served_and_only_under_the_own_name() {
        let host = site();
        let ask = |path: &str, name: &str| send(&host, &format!("GET {path} HTTP/1.1\r\nHost: {name}\r\n\r\n"));
        assert!(ask("/", &host).ends_with("<p>page"));
        assert!(ask("/?a", &host).starts_with("HTTP/1.1 200"));
        assert!(ask("/", "evil.example").starts_with("HTTP/1.1 404"));
        for path in ["/../etc/passwd", "//index.html", "/none", "index.html"] {
            assert!(ask(path, &host).starts_with("HTTP/1.1 404"), "{path}");
        }
    }

    #[test]
    fn long_requests_and_many_connections_get_no_answer() {
        let host = site();
        assert_eq!(send(&host, &format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(2 * LONGEST))), "");
        let idle: Vec<TcpStream> = (0..MOST_CONNECTIONS).filter_map(|_| TcpStream::connect(&host).ok()).collect();
        assert_eq!(idle.len(), MOST_CONNECTIONS);
        assert_eq!(send(&host, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")), "");
    }
}
