//! A site on this machine, for one visitor.

use crate::error::Fatal;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Longer requests are not read.
const LONGEST: u64 = 16 << 10;
/// How long a browser may say nothing.
const PATIENCE: Duration = Duration::from_secs(5);

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
    std::thread::scope(|scope| {
        for stream in listener.incoming().flatten() {
            let host = address.to_string();
            scope.spawn(move || answer(stream, files, &host));
        }
    });
    Ok(())
}

/// Opens an address in a browser. Where this does not work, the user has the address.
fn open(page: &str) {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    let _ = command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

fn answer(mut stream: TcpStream, files: &BTreeMap<String, File>, host: &str) -> Option<()> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut lines = BufReader::new(stream.try_clone().ok()?.take(LONGEST)).lines();
    let request = lines.next()?.ok()?;
    // A page of another site that has this address under its own name gets nothing (DNS rebinding).
    let own = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).any(|line| {
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
