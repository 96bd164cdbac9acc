//! `kube-apiserver`: the server of `kubeshape serve --objects` with the command line of the real one.

use super::flags::{Flag, Flags, help, table};
use super::{note, setup};
use crate::args::{Cli, Command, PluginArg};
use crate::error::Fatal;
use crate::{report, serve};
use clap::Parser;
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_objects::Plugin;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const ABOUT: &str = "kubeshape as kube-apiserver: a Kubernetes API for tests, in memory and without etcd.";
const FLAGS: &str = include_str!("api_server_flags.txt");
/// The defaults of the real program; for the address, that of this machine only.
const BIND_ADDRESS: &str = "127.0.0.1";
const SECURE_PORT: &str = "6443";
/// How long running requests have when the server stops. Test libraries wait for 20 seconds.
const GRACE: &str = "5s";
/// Verbosity of the log from which requests are logged.
const VERBOSE: i64 = 4;

/// Runs the program. Returns whether all requests were answered.
///
/// # Errors
/// A flag has an invalid value, a file cannot be read, or the program cannot listen.
pub(super) fn run(arguments: &[String]) -> Result<bool, Fatal> {
    let known: Vec<Flag> = table(FLAGS);
    let flags = Flags::read(arguments, &known)?;
    if flags.help {
        return report::print(help("kube-apiserver", ABOUT, &known).as_bytes()).map(|()| true);
    }
    if flags.version {
        return report::print(format!("Kubernetes v{}.0\n", BuiltInDocuments::newest()).as_bytes()).map(|()| true);
    }
    let mut line = Line::default();
    let address = flags.last("bind-address").unwrap_or(BIND_ADDRESS);
    let port = flags.last("secure-port").unwrap_or(SECURE_PORT);
    let host = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
    line.option("listen", &format!("{host}:{port}"));
    // It lives until the server stops.
    let (certificate, key, _folder) = certificate(&flags, address)?;
    line.option("tls-cert", &certificate);
    line.option("tls-key", &key);
    if let Some(address) = flags.last("advertise-address") {
        let host = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
        line.option("advertise-address", &format!("{host}:{port}"));
    }
    for (flag, option) in [
        ("client-ca-file", "client-ca"),
        ("token-auth-file", "token-file"),
        ("service-account-signing-key-file", "service-account-signing-key-file"),
        ("kubeshape-clock", "clock"),
        ("kubeshape-data", "data"),
        ("kubeshape-kubernetes", "kubernetes"),
    ] {
        if let Some(value) = flags.last(flag) {
            line.option(option, value);
        }
    }
    for (flag, option) in [
        ("service-account-key-file", "service-account-key-file"),
        ("feature-gates", "feature-gates"),
        ("cors-allowed-origins", "cors-allowed-origins"),
        ("kubeshape-objects", "objects"),
    ] {
        flags.all(flag).for_each(|value| line.option(option, value));
    }
    if let Some(issuer) = flags.all("service-account-issuer").next() {
        line.option("service-account-issuer", issuer);
    }
    let mode = authorization(&flags);
    line.option("authorization-mode", mode);
    // Without permissions, only known users may do everything (upstream: `ApplyAuthorization`).
    let anonymous = flags.switch("anonymous-auth")?.unwrap_or(true) && mode != "AlwaysAllow";
    line.option("anonymous-auth", if anonymous { "on" } else { "off" });
    let extensions = flags.switch("kubeshape-extensions")?.unwrap_or(false);
    line.option("extensions", if extensions { "on" } else { "off" });
    let verbosity = flags.last("v").and_then(|level| level.parse().ok()).unwrap_or(0);
    line.option("log-level", if verbosity >= VERBOSE { "debug" } else { "warn" });
    line.option("log-format", if flags.last("logging-format") == Some("json") { "json" } else { "text" });
    line.option("shutdown-grace", GRACE);
    // TLS protects from web pages whose names resolve to this machine.
    line.option("allowed-hosts", "*");
    let parsed = Cli::try_parse_from(line.0).map_err(|error| Fatal::Usage(error.render().to_string()))?;
    let Command::Serve(mut args) = parsed.command else {
        return Err(Fatal::Usage("the command line of the server is not that of `serve`".to_owned()));
    };
    args.starts_empty = true;
    args.webhooks = true;
    args.own_port = port.parse().ok();
    args.enable_admission_plugins = plugins(&flags);
    serve::run(&args, &setup())
}

/// A command line of `kubeshape serve`.
struct Line(Vec<String>);

impl Default for Line {
    fn default() -> Line {
        Line(["kubeshape", "serve"].map(str::to_owned).into())
    }
}

impl Line {
    fn option(&mut self, name: &str, value: &str) {
        self.0.push(format!("--{name}={value}"));
    }
}

/// Admission plugins that are always on.
const ALWAYS_ON: [&str; 4] =
    ["MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"];

/// Returns the admission plugins that are on: those of the real program and those that a flag turns on, but for the ones
/// that a flag turns off.
fn plugins(flags: &Flags) -> Vec<PluginArg> {
    let is_known = |name: &str| Plugin::named(name).is_some() || ALWAYS_ON.contains(&name);
    let unknown: Vec<&str> = flags.all("enable-admission-plugins").filter(|name| !is_known(name)).collect();
    if !unknown.is_empty() {
        note(&format!("these admission plugins are not part of kubeshape: {}", unknown.join(", ")));
    }
    let is_named = |flag: &str, plugin: Plugin| flags.all(flag).any(|name| name == plugin.name());
    let is_on = |plugin: &Plugin| {
        (plugin.is_default() || is_named("enable-admission-plugins", *plugin))
            && !is_named("disable-admission-plugins", *plugin)
    };
    Plugin::ALL.into_iter().filter(is_on).map(PluginArg::One).collect()
}

/// Returns how permissions are decided. Without the flag, everyone may do everything, as with the real program.
fn authorization(flags: &Flags) -> &'static str {
    let modes: Vec<&str> = flags.all("authorization-mode").collect();
    let others: Vec<&str> =
        modes.iter().copied().filter(|mode| !["RBAC", "AlwaysAllow", "Node"].contains(mode)).collect();
    if !others.is_empty() {
        note(&format!("unknown authorization modes are ignored: {}", others.join(", ")));
    }
    // `AlwaysAllow` allows whatever the others decide.
    if modes.is_empty() || modes.contains(&"AlwaysAllow") { "AlwaysAllow" } else { "RBAC" }
}

/// Returns the files of the certificate and its key. Without them, they are created: in the folder of `--cert-dir`, or
/// in a temporary one.
///
/// # Errors
/// Only one of the files is given, or the new files cannot be written.
fn certificate(flags: &Flags, address: &str) -> Result<(String, String, Option<tempfile::TempDir>), Fatal> {
    match (flags.last("tls-cert-file"), flags.last("tls-private-key-file")) {
        (None, None) => {}
        (Some(certificate), Some(key)) => return Ok((certificate.to_owned(), key.to_owned(), None)),
        // `NewDynamicServingContentFromFiles` of `k8s.io/apiserver`
        _ => return Err(Fatal::Usage("missing filename for serving cert".to_owned())),
    }
    let (folder, temporary) = if let Some(folder) = flags.last("cert-dir") {
        (PathBuf::from(folder), None)
    } else {
        let unwritable = |source| Fatal::Write { path: std::env::temp_dir(), source };
        let folder = tempfile::Builder::new().prefix("kubeshape-").tempdir().map_err(unwritable)?;
        (folder.path().to_owned(), Some(folder))
    };
    let (certificate, key) = (folder.join("apiserver.crt"), folder.join("apiserver.key"));
    if !certificate.exists() && !key.exists() {
        let unwritable = |source| Fatal::Write { path: folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        create(&certificate, &key, address).map_err(unwritable)?;
    }
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok((text(&certificate), text(&key), temporary))
}

/// Creates a certificate that signs itself. Existing files are not replaced.
fn create(certificate: &Path, key: &Path, address: &str) -> io::Result<()> {
    let names =
        ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "127.0.0.1", "::1", address];
    let mut names: Vec<String> = names.map(str::to_owned).into();
    names.dedup();
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let write = |path: &Path, text: &str| {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(text.as_bytes())
    };
    write(key, &made.signing_key.serialize_pem())?;
    write(certificate, &made.cert.pem())
}
