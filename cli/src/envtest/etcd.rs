//! `etcd`: a program that says that it is healthy. The objects are in `kube-apiserver`.

use super::flags::{Flag, Flags, help, table};
use crate::error::{Fatal, describe};
use crate::{report, serve};
use kubeshape_server::{Etcd, Limits, Listener, Server};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use tokio::runtime::Builder;

const ABOUT: &str = "kubeshape as etcd: it answers /health and stores nothing, because kube-apiserver of kubeshape \
                     keeps its objects itself.";
const FLAGS: &str = include_str!("etcd_flags.txt");
/// The default of the real program.
const CLIENT_URL: &str = "http://localhost:2379";
/// The maximum number of addresses and connections.
const MAX_ADDRESSES: usize = 16;
const MAX_CONNECTIONS: usize = 256;
const GRACE: Duration = Duration::from_secs(1);

/// Runs the program.
///
/// # Errors
/// A flag has an invalid value, or the program cannot listen.
pub(super) fn run(arguments: &[String]) -> Result<bool, Fatal> {
    let known: Vec<Flag> = table(FLAGS);
    let flags = Flags::read(arguments, &known)?;
    if flags.help {
        return report::print(help("etcd", ABOUT, &known).as_bytes()).map(|()| true);
    }
    if flags.version {
        return report::print(format!("etcd Version: {}\n", Etcd::VERSION).as_bytes()).map(|()| true);
    }
    let mut urls: Vec<&str> = flags.all("listen-client-urls").collect();
    if urls.is_empty() {
        urls.push(CLIENT_URL);
    }
    let mut addresses = Vec::new();
    for url in urls {
        addresses.push(address(url)?);
    }
    addresses.dedup();
    addresses.truncate(MAX_ADDRESSES);
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = runtime.block_on(Listener::tcp(address));
        let cannot = |error| Fatal::Usage(format!("cannot listen on {address}: {}", describe(&error)));
        listeners.push(listener.map_err(cannot)?);
    }
    let limits = Limits { connections: MAX_CONNECTIONS, grace: GRACE, ..Limits::default() };
    let server = Server::new(Etcd).limits(limits);
    let _entered = runtime.enter();
    let stop = serve::stop_signal().map_err(Fatal::Threads)?;
    runtime.block_on(server.run(listeners, stop, std::future::pending()));
    Ok(true)
}

/// Returns the address of `http://HOST:PORT`.
fn address(url: &str) -> Result<SocketAddr, Fatal> {
    let invalid = || Fatal::Usage(format!("--listen-client-urls {url}: expected http://HOST:PORT"));
    let host = url.strip_prefix("http://").ok_or_else(invalid)?.trim_end_matches('/');
    host.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_of_urls() {
        let read = |url: &str| address(url).map(|address| address.to_string()).map_err(|error| error.to_string());
        assert_eq!(read("http://127.0.0.1:2379"), Ok("127.0.0.1:2379".to_owned()));
        assert_eq!(read("http://[::1]:1/"), Ok("[::1]:1".to_owned()));
        let wrong = "--listen-client-urls https://a:1: expected http://HOST:PORT".to_owned();
        assert_eq!(read("https://a:1"), Err(wrong));
    }
}
