//! The command line of the server.

use super::duration::duration;
use super::{FilenameArgs, LevelArgs, Profile, WalkArgs};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_objects::Plugin;
use kubeshape_server::Emulation;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const ACCESS: &str = "Options for access";
const AGGREGATION: &str = "Options for aggregation";
const OPERATION: &str = "Options for operation";

/// Serve the schema side of a Kubernetes API over HTTP
///
/// Answers requests for OpenAPI v2 and v3, discovery (plain and aggregated), version and health as kube-apiserver does,
/// from files and without etcd. Paths, media types, headers and hashes are the same, so that kubectl, client-go and
/// editors work with it. With --objects, it serves custom resources, too.
///
/// Reads CustomResourceDefinitions and OpenAPI documents from files and folders, as `convert` does. A file that cannot
/// be read is reported, and the others are served. /readyz fails and names the file until it is repaired.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape serve crds/                       on http://127.0.0.1:8001
  kubeshape serve crds/ --watch               read files again when they change
  kubeshape serve crds/ --base cluster/       with the groups of a cluster
  kubeshape serve crds/ --objects samples/    and custom resources, as a cluster does
  kubeshape serve --aggregate metrics=https://10.0.0.7,metrics.k8s.io/v1beta1
  kubectl --server http://127.0.0.1:8001 explain crontabs.spec

Exit codes:
  0  stopped by SIGINT or SIGTERM, and every request was answered
  1  no input or a base document could not be read, or requests were cut off
  2  the command line is wrong, or the server cannot listen

docs/serve.md is the guide.")]
pub(crate) struct ServeArgs {
    /// Files and folders to read; `-` is standard input
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// Address to listen on (repeatable); port 0 takes a free one
    /// [default: 127.0.0.1:8001, unless --unix-socket is given]
    ///
    /// When the server is ready, it prints `serving on http://ADDRESS` to standard output, one line per socket.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Vec<SocketAddr>,

    /// Socket file to listen on, for this user only and without TLS
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) unix_socket: Option<PathBuf>,

    /// Read files again when they change
    ///
    /// If a file is broken, its last good content is served, and /readyz tells what is wrong with it.
    #[arg(long)]
    pub(crate) watch: bool,

    /// How long the last content of an emptied file or a vanished folder is still served
    ///
    /// In this time, /readyz fails and tells which. A file that is deleted from its folder is no longer served at once.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) watch_grace: Duration,

    /// Document of a cluster, or a folder of them, to serve along with the inputs (repeatable)
    ///
    /// What `kubectl get --raw` prints for /openapi/v3/…, /openapi/v2, /api, /apis (aggregated or not),
    /// /apis/GROUP/VERSION, /version and /, as JSON, YAML or protobuf. The built-in groups come from it, and the
    /// definitions and texts that the documents of CustomResourceDefinitions share. Inputs take precedence over it.
    #[arg(long, value_name = "DOC", value_hint = ValueHint::AnyPath)]
    pub(crate) base: Vec<PathBuf>,

    /// File or folder with objects to serve along with the schemas (repeatable); the folder may be empty
    ///
    /// Clients can then create, read, list, watch, change and delete custom resources, CustomResourceDefinitions and
    /// objects of built-in kinds, as on a cluster: with defaults, validation, server-side apply, tables and
    /// subresources. Without --base and --kubernetes, the built-in kinds are those of Kubernetes 1.37. Objects are kept
    /// in memory, or in the file of --data. The files are read once, and written only with --write-back.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) objects: Vec<PathBuf>,

    /// Let the folder of --objects follow the objects: a YAML file per object
    ///
    /// Before a change is answered, the file of the object is replaced or deleted. New objects get
    /// RESOURCE/NAMESPACE/NAME.yaml. Comments of a file are lost when its object changes. A file of the folder must not
    /// have several objects, and no links are followed.
    #[arg(long, requires = "objects", conflicts_with = "data")]
    pub(crate) write_back: bool,

    /// File in which objects are kept; it is created if it is not there
    ///
    /// A write is on disk before it is answered, and objects, revisions and history are there again after a restart,
    /// also after a crash. Objects of --objects are taken in if they are not in the file yet. One server can use a file
    /// at a time.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) data: Option<PathBuf>,

    /// Release of Kubernetes whose built-in groups are served along with the inputs, such as 1.34
    ///
    /// The API of the releases from 1.31 on is part of kubeshape: definitions, paths and discovery of all groups, also
    /// of those that a cluster does not serve by default, without descriptions. So hashes differ from those of a
    /// cluster. Take --base for a cluster of your own.
    #[arg(long, value_name = "RELEASE", value_parser = super::documents, conflicts_with = "base")]
    pub(crate) kubernetes: Option<BuiltInDocuments>,

    /// OpenAPI v2 document to merge the resources into, instead of the one of --base
    #[arg(long, value_name = "DOC", value_hint = ValueHint::FilePath)]
    pub(crate) onto: Option<PathBuf>,

    /// Whether to reproduce upstream's faults in documents
    /// [default: kube, but faithful for the OpenAPI v3 of aggregated servers that publish only v2]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<Profile>,

    /// Whether to answer more than kube-apiserver does, and to correct the faults of its HTTP [default: on, unless
    /// --emulate is given]
    #[arg(long, value_name = "WHETHER")]
    pub(crate) extensions: Option<Switch>,

    /// Release of Kubernetes to answer as, such as 1.24: a test double for clients of old clusters
    ///
    /// From 1.10 to 1.37. Custom resources are part of /openapi/v2 from 1.15 on, /openapi/v3 exists from 1.24 on,
    /// aggregated discovery as v2beta1 from 1.27 to 1.32 and as v2 from 1.30 on, and /version names the release. With
    /// --objects, that release's rules are used for custom resources, from 1.28 on. The documents are not changed.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) emulate: Option<Emulation>,

    /// Feature gates, such as AggregatedDiscoveryEndpoint=true; needs --emulate or --objects
    ///
    /// CustomResourcePublishOpenAPI, OpenAPIV3, AggregatedDiscoveryEndpoint, AggregatedDiscoveryRemoveBetaType and
    /// CBORServingAndStorage, as far as the release has them: that of --emulate, else that of --kubernetes, else 1.37.
    /// With --objects, also those of fields with x-kubernetes-api-lifecycle, AllAlpha and AllBeta: clients are warned
    /// of fields that are off.
    #[arg(long, value_name = "NAME=BOOL", value_delimiter = ',', value_parser = gate)]
    pub(crate) feature_gates: Vec<(String, bool)>,

    /// Certificate chain in PEM format; turns HTTPS on
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Key of the certificate in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) tls_key: Option<PathBuf>,

    /// File of accepted tokens: lines `token,user,uid[,groups]`, or a token alone
    ///
    /// Requests then need `Authorization: Bearer TOKEN`, except for /healthz, /livez and /readyz.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) token_file: Option<PathBuf>,

    /// Certificates of authorities in PEM format: a client certificate of one of them names the user (CN) and the
    /// groups (O)
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) client_ca: Option<PathBuf>,

    /// How permissions are decided: AlwaysAllow, or RBAC with the roles and bindings of --objects
    ///
    /// With RBAC, members of the group system:masters may do everything, and the roles that a cluster creates for
    /// itself exist (cluster-admin, view, system:discovery …).
    #[arg(long, value_name = "MODE", default_value = "AlwaysAllow", help_heading = ACCESS)]
    pub(crate) authorization_mode: AuthorizationMode,

    /// Whether requests without credentials are those of system:anonymous, instead of being answered with 401
    /// [default: on with --authorization-mode RBAC, else off]
    #[arg(long, value_name = "WHETHER", help_heading = ACCESS)]
    pub(crate) anonymous_auth: Option<Switch>,

    /// Keys or certificates in PEM format whose tokens of service accounts are accepted (repeatable); needs --objects
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) service_account_key_file: Vec<PathBuf>,

    /// Private key in PEM format that signs tokens of service accounts; needs --objects
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = ACCESS)]
    pub(crate) service_account_signing_key_file: Option<PathBuf>,

    /// Issuer of the tokens of service accounts
    #[arg(
        long,
        value_name = "URL",
        default_value = "https://kubernetes.default.svc.cluster.local",
        help_heading = ACCESS
    )]
    pub(crate) service_account_issuer: String,

    /// Whether time passes, or `POST /kubeshape/clock` moves it; needs --objects and extensions
    #[arg(long, value_name = "CLOCK", default_value = "system", help_heading = OPERATION)]
    pub(crate) clock: ClockArg,

    /// Call the webhooks that objects and definitions configure, for admission and conversion, if they listen on
    /// loopback addresses; needs --objects
    ///
    /// Without it, their configurations are stored and have no effect: versions differ only in their `apiVersion`.
    #[arg(long, help_heading = ACCESS)]
    pub(crate) webhooks: bool,

    /// Serve objects that clients create, without files
    #[arg(skip)]
    pub(crate) starts_empty: bool,

    /// The port for the service `kubernetes`, as `kube-apiserver` creates it.
    #[arg(skip)]
    pub(crate) own_port: Option<u16>,

    /// Admission plugins of kube-apiserver to turn on (repeatable); `default` turns on those that kube-apiserver has on; needs --objects
    ///
    /// Without it, objects need no namespace, no class and no limits. kube-apiserver has these plugins on but
    /// `NodeRestriction`, and so has `kubeshape envtest`. `default` leaves out `ServiceAccount`, too.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = plugin_parser(), help_heading = ACCESS)]
    pub(crate) enable_admission_plugins: Vec<PluginArg>,

    /// Host names and addresses that requests may name, besides those of loopback; `*` allows all [default: `*`; if all
    /// addresses are loopback, none]
    ///
    /// Requests for other hosts are answered with 403. This protects a server on loopback from web pages whose names
    /// resolve to 127.0.0.1. The host of --advertise-address is always allowed.
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host, help_heading = ACCESS)]
    pub(crate) allowed_hosts: Vec<String>,

    /// Regular expressions of origins whose web pages may read answers, such as `//editor\.example\.com(:|$)`
    ///
    /// As with kube-apiserver: an expression matches anywhere in an origin (SCHEME://HOST[:PORT]), so it has to pin the
    /// start of the host with `^` or `//`, and the end with `$` or `(:|$)`.
    #[arg(long, value_name = "REGEX", value_delimiter = ',', help_heading = ACCESS)]
    pub(crate) cors_allowed_origins: Vec<String>,

    /// Address of the server that /api tells clients [default: the first address it listens on]
    #[arg(long, value_name = "HOST:PORT", help_heading = ACCESS)]
    pub(crate) advertise_address: Option<String>,

    /// API server to aggregate: its documents and discovery become part of this server's (repeatable)
    ///
    /// URL is http://…, https://… or unix:PATH. If group versions are given, only these are taken from the server, and
    /// discovery lists them before the server was reached.
    #[arg(long, value_name = "NAME=URL[,GROUP/VERSION…]", help_heading = AGGREGATION)]
    pub(crate) aggregate: Vec<String>,

    /// How often to poll aggregated servers
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, help_heading = AGGREGATION)]
    pub(crate) refresh: Duration,

    /// Authorities to trust for aggregated servers, in PEM format, instead of those of the system
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = AGGREGATION)]
    pub(crate) aggregate_ca: Option<PathBuf>,

    /// File with the token to send to an aggregated server (repeatable)
    #[arg(long, value_name = "NAME=FILE", help_heading = AGGREGATION)]
    pub(crate) aggregate_token_file: Vec<String>,

    /// Format of the log, which goes to standard error
    #[arg(long, value_name = "FORM", default_value = "text", help_heading = OPERATION)]
    pub(crate) log_format: LogFormat,

    /// Minimum severity to log; requests are `debug`
    #[arg(long, value_name = "LEVEL", default_value = "info", help_heading = OPERATION)]
    pub(crate) log_level: LogLevel,

    /// Number of connections; when it is reached, idle and slow ones make room for new ones
    ///
    /// It is less if the system allows fewer open files.
    #[arg(
        long,
        value_name = "N",
        default_value = "10000",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = OPERATION
    )]
    pub(crate) max_connections: u32,

    /// Requests per second; more are answered with 429 [default: no limit]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = OPERATION
    )]
    pub(crate) max_rate: Option<u32>,

    /// Time that running requests have to finish when the server stops
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration, help_heading = OPERATION)]
    pub(crate) shutdown_grace: Duration,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,
}

/// `--enable-admission-plugins`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginArg {
    /// Those of kube-apiserver without flags, except `ServiceAccount`: no controller creates the accounts here
    Default,
    One(Plugin),
}

fn plugin_parser() -> impl TypedValueParser<Value = PluginArg> {
    let names = std::iter::once("default".to_owned()).chain(Plugin::ALL.map(Plugin::name));
    PossibleValuesParser::new(names.map(PossibleValue::new))
        .map(|name| Plugin::named(&name).map_or(PluginArg::Default, PluginArg::One))
}

impl ServeArgs {
    /// The admission plugins that are on.
    pub(crate) fn plugins(&self) -> Vec<Plugin> {
        let of = |given: &PluginArg| match given {
            PluginArg::Default => {
                let is_on = |plugin: &Plugin| plugin.is_default() && *plugin != Plugin::ServiceAccount;
                Plugin::ALL.into_iter().filter(is_on).collect()
            }
            PluginArg::One(plugin) => vec![*plugin],
        };
        self.enable_admission_plugins.iter().flat_map(of).collect()
    }

    /// Whether objects are served.
    pub(crate) fn has_objects(&self) -> bool {
        !self.objects.is_empty() || self.data.is_some() || self.starts_empty
    }

    /// Whether the server has extensions.
    pub(crate) fn has_extensions(&self) -> bool {
        self.extensions.map_or(self.emulate.is_none(), |given| given == Switch::On)
    }

    /// Files and folders to read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.filenames.and(&self.inputs)
    }
}

/// `on` or `off`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// More answers, and faults are corrected
    On,
    /// Exactly kube-apiserver
    Off,
}

/// `--authorization-mode`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthorizationMode {
    /// Everyone may do everything
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// Roles and bindings decide
    #[value(name = "RBAC")]
    Rbac,
}

/// `--clock`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockArg {
    /// The time of the system
    System,
    /// The time of the start, until a request moves it
    Manual,
}

/// `--log-format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

/// `--log-level`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors
    Error,
    /// Also warnings
    Warn,
    /// Also events
    Info,
    /// Also every request
    Debug,
    /// Also messages of libraries
    Trace,
}

/// `127.0.0.1:8001`, `[::1]:8001`, `:8001`, `localhost:8001`
fn address(text: &str) -> Result<SocketAddr, String> {
    let (host, port) = text
        .rsplit_once(':')
        .filter(|(host, _)| !host.contains(':') || host.starts_with('['))
        .ok_or("expected ADDRESS:PORT, as in 127.0.0.1:8001, [::1]:8001, or :8001 for all addresses")?;
    let port: u16 = port.parse().map_err(|_| format!("{port:?} is not a port: expected a number from 0 to 65535"))?;
    let host = match host {
        "" => "0.0.0.0",
        "localhost" => "127.0.0.1",
        host => host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host),
    };
    let host = host.parse().map_err(|_| format!("{host:?} is not an address: expected an IP address or localhost"))?;
    Ok(SocketAddr::new(host, port))
}

/// `NAME=true` or `NAME=false`
fn gate(text: &str) -> Result<(String, bool), String> {
    let parsed =
        text.split_once('=').and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)));
    parsed.ok_or_else(|| "expected NAME=true or NAME=false".to_owned())
}

/// A host name, an address or `*`
fn host(text: &str) -> Result<String, String> {
    let fits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:[]".contains(&b));
    if fits || text == "*" {
        return Ok(text.to_owned());
    }
    Err("expected a host name or an address, as in shapes.example.com or 10.0.0.7, or `*` for all".to_owned())
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
    fn hosts_and_gates() {
        for text in ["a.example.com", "10.0.0.7", "[::1]", "fd00::1", "a:80", "*"] {
            assert_eq!(host(text), Ok(text.to_owned()));
        }
        for text in ["", "*.example.com", "http://a", "a b", "ä"] {
            assert!(host(text).is_err(), "{text}");
        }
        assert_eq!(gate("OpenAPIV3=false"), Ok(("OpenAPIV3".to_owned(), false)));
        for text in ["", "OpenAPIV3", "OpenAPIV3=", "OpenAPIV3=on"] {
            assert!(gate(text).is_err(), "{text}");
        }
    }
}
