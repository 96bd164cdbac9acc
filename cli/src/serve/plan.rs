//! Checks the command line, and reads files other than the inputs.

use super::advice::Lifecycles;
use super::secrets::Secrets;
use super::write_back::WriteBack;
use crate::args::{self, AuthorizationMode, ClockArg, ServeArgs};
use crate::cluster::context_of;
use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, check_once, gather, kustomize_folder};
use bytes::Bytes;
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_publish::Profile;
use kubeshape_schema::Release;
use kubeshape_server::aggregate::{AggregateOptions, Profiles, Token};
use kubeshape_server::{BaseDocuments, Cors, Emulation};
use kubeshape_yaml::Limits;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The checked command line.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) profiles: Profiles,
    pub(super) base: BaseDocuments,
    pub(super) secrets: Secrets,
    pub(super) aggregate: Vec<AggregateOptions>,
    pub(super) emulation: Option<Emulation>,
    /// The release whose rules requests on objects follow. `None`: that of the base.
    pub(super) release: Option<Release>,
    /// The folder that mirrors the objects, if there is one.
    pub(super) folder: Option<WriteBack>,
    /// The lifecycles that the base contains.
    pub(super) lifecycles: Lifecycles,
    pub(super) cors: Option<Cors>,
}

impl Plan {
    /// Checks the command line, and reads the base documents, tokens and certificates.
    ///
    /// # Errors
    /// The command line is wrong, or one of these files cannot be read.
    pub(super) fn new(args: &ServeArgs) -> Result<Plan, Fatal> {
        let inputs = args.files();
        let has_base = !args.base.is_empty() || args.kubernetes.is_some() || args.has_objects();
        if inputs.is_empty() && !has_base && args.onto.is_none() && args.aggregate.is_empty() {
            return Err(usage("nothing to serve: name files or folders, or give --base, --kubernetes or --aggregate"));
        }
        check_once(inputs.iter().chain(&args.objects).chain(&args.base).chain(&args.onto))?;
        if args.watch && inputs.iter().any(|path| path.as_os_str() == "-") {
            return Err(usage("standard input cannot be watched: leave out `-` or --watch"));
        }
        if args.watch && inputs.iter().chain(&args.objects).any(|path| kustomize_folder(path).is_some()) {
            return Err(usage("what kustomize builds cannot be watched: leave out `kustomize:` or --watch"));
        }
        if inputs.iter().chain(&args.objects).any(|path| context_of(path).is_some()) {
            return Err(usage(
                "a cluster is not followed: `kubeshape pull -o DIR` fetches its documents, serve that folder",
            ));
        }
        if let Some(address) = &args.advertise_address
            && (address.is_empty() || !address.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b)))
        {
            return Err(usage(format!("--advertise-address {address:?} is not of the form HOST:PORT")));
        }
        if !args.feature_gates.is_empty() && args.emulate.is_none() && !args.has_objects() {
            return Err(usage(
                "--feature-gates says something about a release or about objects: add --emulate or --objects",
            ));
        }
        if !args.has_objects() {
            let of_objects = [
                (args.authorization_mode == AuthorizationMode::Rbac, "--authorization-mode RBAC"),
                (!args.service_account_key_file.is_empty(), "--service-account-key-file"),
                (args.service_account_signing_key_file.is_some(), "--service-account-signing-key-file"),
                (args.webhooks, "--webhooks"),
                (!args.enable_admission_plugins.is_empty(), "--enable-admission-plugins"),
                (args.clock == ClockArg::Manual, "--clock manual"),
            ];
            if let Some((_, option)) = of_objects.iter().find(|(given, _)| *given) {
                return Err(usage(format!("{option} says something about objects: add --objects")));
            }
        }
        if args.clock == ClockArg::Manual && !args.has_extensions() {
            return Err(usage("--clock manual needs --extensions on: requests move the clock"));
        }
        // Gates of fields are known only from the schemas.
        let is_answered = |name: &str| !args.has_objects() || Emulation::has_gate(name);
        let gates = args.feature_gates.iter().filter(|(name, _)| is_answered(name));
        let gates: Vec<(&str, bool)> = gates.map(|(name, value)| (&**name, *value)).collect();
        let served = args.kubernetes.map(BuiltInDocuments::release).unwrap_or_default();
        let emulation = match args.emulate {
            Some(emulated) => Some(Emulation::new(emulated.release, &gates)),
            None if gates.is_empty() => None,
            None => Some(Emulation::of_gates(served, &gates, args.has_extensions())),
        };
        let emulation = emulation.transpose().map_err(|error| usage(format!("--feature-gates: {error}")))?;
        let cors = (!args.cors_allowed_origins.is_empty()).then(|| Cors::new(&args.cors_allowed_origins)).transpose();
        let cors = cors.map_err(|error| usage(format!("--cors-allowed-origins: {error}")))?;
        let aggregate = aggregate(args)?;
        let base = base(args)?;
        let lifecycles = Lifecycles::new(cluster(args));
        if args.has_objects() && base.release.is_none() {
            base.documents.iter().chain(&base.onto).for_each(|(name, text)| lifecycles.read(name, text));
        }
        Ok(Plan {
            profiles: match args.profile {
                None => Profiles::default(),
                Some(args::Profile::Kube) => Profile::Kube.into(),
                Some(args::Profile::Faithful) => Profile::Faithful.into(),
            },
            base,
            secrets: Secrets::read(args)?,
            aggregate,
            emulation,
            release: rules(args),
            folder: folder(args)?,
            lifecycles,
            cors,
        })
    }
}

/// The release whose rules are used: the one that is emulated, else the one that is served. `None`: that of the base.
fn rules(args: &ServeArgs) -> Option<Release> {
    let emulated = args.emulate.map(|emulated| Release::nearest(emulated.release.minor()));
    emulated.or(args.kubernetes.map(BuiltInDocuments::release))
}

/// Returns the folder that mirrors the objects.
fn folder(args: &ServeArgs) -> Result<Option<WriteBack>, Fatal> {
    match (args.write_back, args.objects.as_slice()) {
        (false, _) => Ok(None),
        (true, [folder]) => WriteBack::new(folder).map(Some),
        (true, _) => Err(usage("--write-back writes into one folder: give --objects once")),
    }
}

/// Returns the documents that are served along with the inputs.
fn base(args: &ServeArgs) -> Result<BaseDocuments, Fatal> {
    let base = match args.kubernetes {
        Some(documents) => built_in(documents),
        // Clients of objects want built-in kinds, too.
        None if args.base.is_empty() && args.has_objects() => built_in(BuiltInDocuments::newest()),
        None => documents(&args.base, &Filter::new(&args.walk)?)?,
    };
    Ok(BaseDocuments { onto: args.onto.as_deref().map(onto).transpose()?, ..base })
}

/// Returns what is known about the release, for the lifecycles of fields and kinds. The release of a base is not known.
fn cluster(args: &ServeArgs) -> Cluster {
    let newest = args.base.is_empty().then_some(Release::NEWEST);
    let served = args.kubernetes.map(BuiltInDocuments::release).or(newest);
    let release = args.emulate.map(|emulated| emulated.release).or(served);
    Cluster {
        release: release.map(Version::from),
        gates: args.feature_gates.iter().cloned().collect(),
        ..Cluster::default()
    }
}

fn aggregate(args: &ServeArgs) -> Result<Vec<AggregateOptions>, Fatal> {
    let mut servers: Vec<AggregateOptions> = Vec::new();
    let certificates = args.aggregate_ca.as_deref().map(file).transpose()?;
    for text in &args.aggregate {
        let mut server: AggregateOptions = text.parse().map_err(|error| usage(format!("--aggregate {error}")))?;
        if servers.iter().any(|other| other.name == server.name) {
            return Err(usage(format!("--aggregate: there are two servers with the name {}", server.name)));
        }
        server.refresh = args.refresh;
        server.certificates.clone_from(&certificates);
        servers.push(server);
    }
    for text in &args.aggregate_token_file {
        let (name, path) =
            text.split_once('=').ok_or_else(|| usage(format!("--aggregate-token-file {text}: expected NAME=FILE")))?;
        let server = servers.iter_mut().find(|server| *server.name == *name).ok_or_else(|| {
            usage(format!("--aggregate-token-file {text}: there is no --aggregate with the name {name}"))
        })?;
        let path = Path::new(path);
        let bytes = file(path)?;
        let unusable = |message: String| Fatal::Read { path: path.to_owned(), message };
        let text = std::str::from_utf8(&bytes).map_err(|_| unusable("it is no UTF-8".to_owned()))?;
        server.token = Some(Token::new(text).map_err(|error| unusable(error.to_string()))?);
    }
    for (given, option) in [
        (args.aggregate_ca.is_some(), "--aggregate-ca"),
        (!args.aggregate_token_file.is_empty(), "--aggregate-token-file"),
    ] {
        if given && servers.is_empty() {
            return Err(usage(format!("{option} says something about aggregated servers: add --aggregate")));
        }
    }
    Ok(servers)
}

/// Returns the documents of a Kubernetes release.
fn built_in(of: BuiltInDocuments) -> BaseDocuments {
    let api = of.api();
    let v3 = api.openapi_v3_of(|_| true);
    let v3 = v3.into_iter().map(|(path, document)| (format!("{}.json", path.replace('/', "__")), document));
    let discovery = api.discovery().into_iter().map(|(name, document)| (format!("discovery/{name}.json"), document));
    let v2 = ("swagger.json".to_owned(), api.openapi_v2());
    let named = |(name, document): (String, String)| (format!("Kubernetes {of} {name}").into(), document.into());
    BaseDocuments {
        documents: v3.chain(discovery).chain([v2]).map(named).collect(),
        release: Some(of.release()),
        ..BaseDocuments::default()
    }
}

/// Reads all documents in files and folders.
fn documents(paths: &[PathBuf], filter: &Filter) -> Result<BaseDocuments, Fatal> {
    let mut reader = Reader::default();
    let mut out = BaseDocuments::default();
    for input in &gather(paths, None, filter).complete()? {
        let (name, bytes) = document(&mut reader, input)?;
        if !input.named {
            out.found.insert(Arc::clone(&name));
        }
        out.documents.push((name, bytes));
    }
    Ok(out)
}

fn onto(path: &Path) -> Result<(Arc<str>, Bytes), Fatal> {
    document(&mut Reader::default(), &Input::named(path))
}

fn document(reader: &mut Reader, input: &Input) -> Result<(Arc<str>, Bytes), Fatal> {
    match reader.read(input, &Limits::default()) {
        Ok(bytes) => Ok((input.name().into(), Bytes::copy_from_slice(bytes))),
        Err(finding) => Err(Fatal::Read { path: input.path().to_owned(), message: finding.detail }),
    }
}

fn file(path: &Path) -> Result<Vec<u8>, Fatal> {
    super::inputs::read(path, false).map_err(|message| Fatal::Read { path: path.to_owned(), message })
}

fn usage(message: impl Into<String>) -> Fatal {
    Fatal::Usage(message.into())
}
