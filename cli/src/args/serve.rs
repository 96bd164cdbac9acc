//! The command line of the server.

use super::Profile;
use clap::{Args, ValueEnum, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const ACCESS: &str = "Options for access";
const AGGREGATION: &str = "Options for aggregation";
const OPERATION: &str = "Options for operation";

/// Serve the schema side of a Kubernetes API over HTTP
///
/// Answers what kube-apiserver answers about schemas, from files and without etcd: OpenAPI v2 and v3, discovery (plain and
/// aggregated), version and health, with the same paths, media types, headers and hashes, so that kubectl, client-go and
/// editors work against it. It holds no objects.
///
/// Reads CustomResourceDefinitions and OpenAPI documents from files and folders as `convert` does. What cannot be read is
/// reported, and the rest is served; /readyz names it until it is repaired.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape serve crds/                                  on http://127.0.0.1:8001
  kubeshape serve crds/ --watch                          follow changes of the files
  kubeshape serve crds/ --base cluster/                  with the built-in groups of a cluster
  kubeshape serve --aggregate metrics=https://10.0.0.7:4443,metrics.k8s.io/v1beta1
  kubectl --server http://127.0.0.1:8001 explain crontabs.spec

Exit codes:
  0  stopped by SIGINT or SIGTERM, and every request was answered
  1  nothing of the inputs, or a base document, could be read; or requests had to be cut when it stopped
  2  the command line is wrong, or it cannot listen

`docs/serve.md` is the guide.")]
pub(crate) struct ServeArgs {
    /// Files and folders to read; `-` is standard input
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Address to listen on (repeatable); port 0 is any free one [default: 127.0.0.1:8001, unless --unix-socket is given]
    ///
    /// When the server is ready, it prints `serving on http://ADDRESS` on standard output, a line per socket.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Vec<SocketAddr>,

    /// Socket file to listen on, which only this user may use; it speaks HTTP without TLS
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) unix_socket: Option<PathBuf>,

    /// Read files again when they change
    ///
    /// A broken file keeps what it held before, and /readyz says what is wrong with it.
    #[arg(long)]
    pub(crate) watch: bool,

    /// Document of a cluster, or a folder of them, that is served below the inputs (repeatable)
    ///
    /// What `kubectl get --raw` prints for /openapi/v3/…, /openapi/v2, /api, /apis (aggregated or not), /apis/GROUP/VERSION,
    /// /version and /, as JSON, YAML or protobuf. It supplies the built-in groups, and the definitions and texts that
    /// documents of CustomResourceDefinitions share.
    #[arg(long, value_name = "DOC", value_hint = ValueHint::AnyPath)]
    pub(crate) base: Vec<PathBuf>,

    /// OpenAPI v2 document onto which the resources are merged, instead of the one of --base
    #[arg(long, value_name = "DOC", value_hint = ValueHint::FilePath)]
    pub(crate) onto: Option<PathBuf>,

    /// Whether upstream's faults are reproduced in documents
    #[arg(long, value_name = "PROFILE", default_value = "kube")]
    pub(crate) profile: Profile,

    /// Whether to answer more than kube-apiserver 1.36 does, and put faults of its HTTP right
    #[arg(long, value_name = "WHETHER", default_value = "on")]
    pub(crate) extensions: Switch,

    /// Certificate in PEM form, with those that it was signed by; makes it HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Key of the certificate in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) tls_key: Option<PathBuf>,

    /// Tokens of those who may ask: a line `token,user,uid[,groups]` for each, or the token alone
    ///
    /// Everything but /healthz, /livez and /readyz then needs `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) token_file: Option<PathBuf>,

    /// host:port under which clients reach the server, as /api tells it [default: the first address]
    #[arg(long, value_name = "HOST:PORT", help_heading = ACCESS)]
    pub(crate) advertise_address: Option<String>,

    /// Another API server whose documents and discovery are part of this one's (repeatable)
    ///
    /// URL is http://…, https://… or unix:PATH. With group versions, only these are taken from it, and they are there before it
    /// was reached.
    #[arg(long, value_name = "NAME=URL[,GROUP/VERSION…]", help_heading = AGGREGATION)]
    pub(crate) aggregate: Vec<String>,

    /// How often aggregated servers are asked whether anything changed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, help_heading = AGGREGATION)]
    pub(crate) refresh: Duration,

    /// Certificates in PEM form that aggregated servers are trusted by, instead of those of the system
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = AGGREGATION)]
    pub(crate) aggregate_ca: Option<PathBuf>,

    /// File with the token that is sent to an aggregated server (repeatable)
    #[arg(long, value_name = "NAME=FILE", help_heading = AGGREGATION)]
    pub(crate) aggregate_token_file: Vec<String>,

    /// Form of the log, on standard error
    #[arg(long, value_name = "FORM", default_value = "text", help_heading = OPERATION)]
    pub(crate) log_format: LogFormat,

    /// What is logged: this and what is graver; requests are `debug`
    #[arg(long, value_name = "LEVEL", default_value = "info", help_heading = OPERATION)]
    pub(crate) log_level: LogLevel,

    /// Connections at the same time; beyond, idle ones are closed and new ones wait
    #[arg(
        long,
        value_name = "N",
        default_value = "10000",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = OPERATION
    )]
    pub(crate) max_connections: u32,

    /// Requests per second; beyond is 429 [default: no limit]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = OPERATION
    )]
    pub(crate) max_rate: Option<u32>,

    /// Time that running requests have to end when the server is stopped
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration, help_heading = OPERATION)]
    pub(crate) shutdown_grace: Duration,
}

/// `on` or `off`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// More answers, and faults put right
    On,
    /// Exactly kube-apiserver 1.36
    Off,
}

/// `--log-format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// An object per line
    Json,
}

/// `--log-level`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors
    Error,
    /// And what is odd
    Warn,
    /// And what happens
    Info,
    /// And every request
    Debug,
    /// And what libraries say
    Trace,
}

/// `127.0.0.1:8001`, `[::1]:8001`, `:8001`, `localhost:8001`
fn address(text: &str) -> Result<SocketAddr, String> {
    let (host, port) = text
        .rsplit_once(':')
        .filter(|(host, _)| !host.contains(':') || host.starts_with('['))
        .ok_or("expected ADDRESS:PORT, as in 127.0.0.1:8001, [::1]:8001, or :8001 for all addresses")?;
    let port: u16 = port.parse().map_err(|_| format!("{port:?} is no port: expected a number from 0 to 65535"))?;
    let host = match host {
        "" => "0.0.0.0",
        "localhost" => "127.0.0.1",
        host => host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host),
    };
    let host = host.parse().map_err(|_| format!("{host:?} is no address: expected an IP address or localhost"))?;
    Ok(SocketAddr::new(host, port))
}

/// `500ms`, `10s`, `5m`, `1h`, or seconds
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time, as in 500ms, 10s, 5m or 1h".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u32 = number.parse().map_err(|_| wrong())?;
    let number = u64::from(number);
    let time = match unit {
        "ms" => Duration::from_millis(number),
        "" | "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number * 60),
        "h" => Duration::from_secs(number * 3600),
        _ => return Err(wrong()),
    };
    if time.is_zero() { Err("expected more than nothing".to_owned()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("127.0.0.1:8001", "127.0.0.1:8001"),
            (":0", "0.0.0.0:0"),
            ("localhost:80", "127.0.0.1:80"),
            ("[::1]:443", "[::1]:443"),
        ] {
            assert_eq!(address(text).map(|a| a.to_string()), Ok(expected.to_owned()));
        }
        for text in ["", "8001", "::1", "::1:80", "example.com:80", "127.0.0.1:65536", "127.0.0.1:x"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times() {
        for (text, ms) in [("500ms", 500), ("10s", 10_000), ("10", 10_000), ("5m", 300_000), ("1h", 3_600_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
        for text in ["", "s", "0", "0s", "-1s", "1d", "1.5s", "99999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
