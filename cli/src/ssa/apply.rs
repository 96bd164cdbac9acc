//! `apply` and `update`.

use crate::args::{ApplyArgs, UpdateArgs, WriteArgs};
use crate::error::Fatal;
use crate::input::check_once;
use crate::ownership;
use crate::report::clean::clean;
use crate::session::object::{Identity, Object, objects};
use crate::session::print::Output;
use crate::session::text::{Missing, Text, nowhere, read_all};
use crate::session::types::BuiltIn;
use crate::session::{Command, Common, Session, diagnose, types};
use kubeshape_input::Code;
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_registry::{
    CLIENT_SIDE_MANAGER, ClientSideError, Conflict, Endpoint, EndpointError, Error, Gvk, Locations, Registry, Time,
    Verb, WriteOptions, locate,
};
use kubeshape_smd::Value;
use kubeshape_smd::managed;
use kubeshape_validate::strict::{Fields, unknown_field};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

/// The maximum number of conflicts that are shown with positions. The server's message names all of them.
const MOST: usize = 50;

/// A live object.
#[derive(Default)]
struct Live<'a> {
    /// The object with its position. `None` if a configuration created it.
    object: Option<Object<'a>>,
    /// Its current value.
    value: Option<Value<'a>>,
    /// Whether there is another object with the same identity.
    repeated: bool,
    /// Whether a configuration was sent to it and accepted.
    touched: bool,
}

/// `kubeshape apply`
///
/// # Errors
/// There is no answer.
pub(crate) fn apply<'a>(args: &'a ApplyArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    if let Some(format) = args.plan {
        return ownership::plan(args, format, session);
    }
    let how = match args {
        ApplyArgs { client_side: true, .. } => How::ClientSide,
        ApplyArgs { migrate: true, .. } => How::Migrate,
        _ => How::Write(Verb::Apply),
    };
    let manager = args.field_manager.as_deref().unwrap_or(CLIENT_SIDE_MANAGER);
    run(&args.write, how, manager, args.force_conflicts, session)
}

/// `kubeshape update`
///
/// # Errors
/// There is no answer.
pub(crate) fn update<'a>(args: &'a UpdateArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    run(&args.write, How::Write(Verb::Update), &args.field_manager, false, session)
}

/// How configurations are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Write(Verb),
    /// Like `kubectl apply`.
    ClientSide,
    /// Like `kubectl apply --server-side`.
    Migrate,
}

fn run<'a>(args: &WriteArgs, how: How, manager: &str, force: bool, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let output = Output::of_objects(&args.result)?;
    let options = options(args, manager)?.force(force);
    let mut registry = types::read(&args.types, session)?;
    let Some(mut lives) = lives(args, &registry, session) else { return Ok(false) };
    let mut touched: Vec<Identity<'a>> = Vec::new();
    let texts = configs(&args.filenames.and(&args.configs), session);
    if let Some(built_in) = BuiltIn::of(&args.types) {
        let of_lives = lives.values().filter_map(|live| live.value).map(Value::gvk);
        let objects: Vec<Gvk<'a>> = types::gvks(&texts).into_iter().chain(of_lives).collect();
        built_in.add_for(&objects, &mut registry, session);
    }
    let registry: &'a Registry = session.arena.alloc(registry);
    let lifecycles = std::mem::take(&mut session.lifecycles);
    let release = args.types.kubernetes.map(Version::from);
    let cluster = Cluster { release, gates: args.gates.all(), ..Cluster::default() };
    for text in texts {
        let before = session.errors();
        let configs = objects(text, session);
        if configs.is_empty() && !text.failed && session.errors() == before {
            session.report(&nowhere(Code::NotAnObject, text.name, "found no objects"));
        }
        for config in configs {
            let identity = config.identity();
            if !is_complete(&config, session) || types::kind(&config, registry, session).is_none() {
                continue;
            }
            for warning in lifecycles.warnings(config.location.node(), &cluster) {
                session.report(&config.finding(warning.kind.code(), warning.at, warning.text));
            }
            let subresource = session.arena.alloc_str(&options.subresource);
            let endpoint = match registry.endpoint(config.gvk(), subresource, session.arena) {
                Ok(endpoint) => &*session.arena.alloc(endpoint),
                // That was already reported.
                Err(EndpointError::Kind(_)) => continue,
                Err(EndpointError::Subresource(error)) => {
                    let at = config.at_pointer("/kind").shown();
                    let mut finding = config.finding(Code::NotApplied, at, error.to_string());
                    finding.notes.push(format!("it is defined in {}", error.definition));
                    session.report(&finding);
                    continue;
                }
            };
            let live = lives.entry(identity).or_insert(Live::default());
            let request = Request { config, endpoint, registry, options: &options };
            if let Some(after) = request.send(live, how, session) {
                live.value = Some(after);
                if !std::mem::replace(&mut live.touched, true) {
                    touched.push(identity);
                }
            }
        }
    }
    let results: Vec<Value<'a>> =
        touched.iter().filter_map(|identity| lives.get(identity).and_then(|live| live.value)).collect();
    output.objects(&results)?;
    Ok(true)
}

/// Returns the files with configurations. Reports a folder that has none.
fn configs<'a>(paths: &[PathBuf], session: &mut Session<'a>) -> Vec<&'a Text<'a>> {
    let mut texts = Vec::new();
    for path in paths {
        let before = session.errors();
        let found = read_all(std::slice::from_ref(path), Missing::Error, session);
        if found.is_empty() && session.errors() == before {
            session.report(&nowhere(Code::NotAnObject, &path.to_string_lossy(), "found no files with objects"));
        }
        texts.extend(found);
    }
    texts
}

/// Returns the live objects. Returns `None` if one of them cannot be read, because it must not be treated as missing
/// and created.
fn lives<'a>(
    args: &WriteArgs,
    registry: &Registry,
    session: &mut Session<'a>,
) -> Option<BTreeMap<Identity<'a>, Live<'a>>> {
    let mut lives: BTreeMap<Identity<'a>, Live<'a>> = BTreeMap::new();
    let missing = if args.live_optional { Missing::Empty } else { Missing::Error };
    for text in read_all(&args.live, missing, session) {
        for object in objects(text, session) {
            if object.gvk().kind().is_empty() && !registry.has_one_type() {
                types::unknown_of(&object, registry, session);
                continue;
            }
            match lives.get_mut(&object.identity()) {
                None => {
                    let live = Live { object: Some(object), value: Some(object.value), ..Live::default() };
                    lives.insert(object.identity(), live);
                }
                Some(first) => {
                    first.repeated = true;
                    let place = first.object.map_or_else(String::new, |first| first.location.to_string());
                    let detail = format!("the same object stands in {place}, too");
                    session.report(&object.finding_of_all(Code::SeveralObjects, detail));
                }
            }
        }
    }
    (session.errors() == 0).then_some(lives)
}

/// Returns the request options of the command line.
fn options(args: &WriteArgs, manager: &str) -> Result<WriteOptions, Fatal> {
    let options = match args.now.as_deref() {
        None => WriteOptions::new(manager, SystemTime::now()),
        Some(text) => {
            let wrong = || format!("--now takes a time such as 2030-01-31T12:00:00Z (RFC 3339), found {text:?}");
            WriteOptions::new(manager, Time::parse(text).ok_or_else(|| Fatal::Usage(wrong()))?)
        }
    };
    check_once(args.types.schemas.iter().chain(&args.live).chain(&args.filenames.and(&args.configs)))?;
    if options.check().is_err() {
        return Err(Fatal::Usage(
            "--field-manager takes a name of 1 to 128 bytes, all of them printable characters".to_owned(),
        ));
    }
    Ok(options.subresource(&args.subresource))
}

/// Returns whether a configuration says which object it is for.
fn is_complete<'a>(config: &Object<'a>, session: &mut Session<'a>) -> bool {
    let (_, _, _, name) = config.identity();
    if name.is_empty() {
        let at = config.at_pointer("/metadata");
        let detail = "found no metadata.name, which says which object is meant";
        diagnose::tell(config, Code::NotAnObject, at.shown(), detail, session);
    }
    !name.is_empty()
}

/// A configuration and the request for it.
struct Request<'r, 'a> {
    config: Object<'a>,
    endpoint: &'a Endpoint<'a>,
    registry: &'a Registry,
    options: &'r WriteOptions,
}

impl<'a> Request<'_, 'a> {
    /// Sends the request. Returns the live object afterwards, or `None` if the request was refused.
    fn send(&self, live: &Live<'a>, how: How, session: &mut Session<'a>) -> Option<Value<'a>> {
        let Request { config, endpoint, options, .. } = self;
        if live.repeated {
            session.report(&config.finding_of_all(Code::SeveralObjects, "several live objects are meant"));
            return None;
        }
        let (before, arena) = (self.read(live, session), session.arena);
        if how == How::Write(Verb::Apply)
            && !live.touched
            && let Some(manager) = before.and_then(client_side_manager)
        {
            let (name, manager) = (config.name(), clean(manager));
            session.remark(&format!(
                "{name}: {manager:?} owns the fields of client-side apply. `kubectl apply --server-side` gives them to its own \
                 manager first; here they stay with {manager:?}. `--migrate` does as kubectl does."
            ));
        }
        let after = match how {
            How::Write(verb) => endpoint.write(verb, before, config.value, options, arena).map_err(Into::into),
            How::ClientSide => {
                self.advise_about_annotation(before, session);
                endpoint.client_side_apply(before, config.value, options, arena)
            }
            How::Migrate => endpoint.apply_and_migrate(before, config.value, options, arena),
        };
        match after {
            Ok(after) => return Some(after),
            Err(ClientSideError::Managed(error)) => self.refused(live, &error, session),
            Err(ClientSideError::Patch(error)) => {
                session.report(&config.finding_of_all(Code::NotApplied, error.to_string()));
            }
            Err(ClientSideError::Owners(error)) => {
                session.report(&config.finding_of_all(Code::ManagedFields, error.to_string()));
            }
        }
        None
    }

    /// Reports that a live object has no annotation of client-side apply (upstream:
    /// `warningNoLastAppliedConfigAnnotation`).
    fn advise_about_annotation(&self, before: Option<Value<'a>>, session: &mut Session<'a>) {
        let Some(live) = before else { return };
        let annotations = live.get("metadata").and_then(|metadata| metadata.get("annotations"));
        if annotations.and_then(|annotations| annotations.get(managed::LAST_APPLIED)).is_none() {
            let name = self.config.name();
            session.remark(&format!(
                "{name}: the live object has no annotation {}, so no field is removed. It gets the annotation now.",
                managed::LAST_APPLIED
            ));
        }
    }

    /// Returns the advice for a conflict about a field that the live object does not have.
    fn advice_without_value(&self, conflict: &Conflict) -> &'static str {
        let is_custom = self.endpoint.kind().definition().is_custom_resource();
        if !is_custom && conflict.new.as_ref().is_some_and(is_zero) {
            return "The live object does not have the field: a server drops such zero values of built-in kinds. Leave it out \
                    of the configuration, or take it over with `--force-conflicts`.";
        }
        "The live object does not have the field. Leave it out of the configuration, or take it over with `--force-conflicts`."
    }

    /// Returns the live object as a server reads it. The fields that the server drops are reported once.
    fn read(&self, live: &Live<'a>, session: &mut Session<'a>) -> Option<Value<'a>> {
        let read = self.endpoint.read(live.value?, session.arena);
        let Some(object) = live.object.filter(|_| !live.touched) else { return Some(read.value) };
        for path in read.dropped.iter().take(MOST) {
            let found = locate::at_field(object.location.node(), path);
            let detail = format!("{} in the live object", unknown_field(path, Fields::Pruned));
            session.report(&object.finding(Code::ObjectFieldDropped, found.key.unwrap_or(found.value), detail));
        }
        let more = read.dropped.len().saturating_sub(MOST);
        if more > 0 {
            session.say(&format!("{more} more fields of the live object that are dropped are not shown"));
        }
        Some(read.value)
    }

    /// Reports why nothing was done.
    fn refused(&self, live: &Live<'a>, error: &managed::Error<'a>, session: &mut Session<'a>) {
        let Request { config, endpoint, registry, .. } = self;
        let of_live = live.object.as_ref().unwrap_or(config);
        let objects =
            Locations { config: Some(config.location), live: live.object.as_ref().map(|object| object.location) };
        match registry.explain(error, config.gvk(), objects) {
            Error::Conflicts(conflicts) => {
                session.say(&conflicts.to_string());
                for conflict in conflicts.conflicts.iter().take(MOST) {
                    let at = conflict.location.as_ref().unwrap_or(config.location);
                    let mut finding = at.finding(Code::FieldConflict, conflict.to_string());
                    let live = conflict.live_location.as_ref();
                    finding.notes.extend(live.map(|place| format!("live value: {place}")));
                    if conflict.live.is_none() {
                        finding.advice = Some(self.advice_without_value(conflict).to_owned());
                    }
                    session.report(&config.named(finding));
                }
                let more = conflicts.conflicts.len().saturating_sub(MOST);
                if more > 0 {
                    session.say(&format!("the places of {more} more conflicts are not shown"));
                }
            }
            Error::ManagedFieldsGiven { message, location } => {
                let at = location.as_ref().unwrap_or(config.location);
                session.report(&config.named(at.finding(Code::ManagedFieldsGiven, message)));
            }
            Error::ManagedFields { message, location } => {
                let at = location.as_ref().unwrap_or(of_live.location);
                session.report(&of_live.named(at.finding(Code::ManagedFields, message)));
            }
            Error::Invalid(invalid) => {
                let object = if invalid.is_live { of_live } else { config };
                let kind = registry.kind(object.gvk()).unwrap_or(endpoint.kind());
                diagnose::field_errors(object, &invalid.errors, kind, registry, session);
            }
            other => session.report(&config.finding_of_all(Code::NotApplied, other.to_string())),
        }
    }
}

/// Returns whether a value is one that Go types omit when they are written.
fn is_zero(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null => true,
        serde_json::Value::Bool(value) => !value,
        serde_json::Value::Number(number) => number.as_f64() == Some(0.0),
        serde_json::Value::String(text) => text.is_empty(),
        serde_json::Value::Array(items) => items.is_empty(),
        serde_json::Value::Object(members) => members.is_empty(),
    }
}

/// Returns the manager that owns kubectl's annotation about client-side apply (`FindFieldsOwners` of
/// `util/csaupgrade`).
fn client_side_manager(object: Value<'_>) -> Option<&str> {
    let entries = object.get("metadata")?.get("managedFields")?.as_list()?;
    let owns = |entry: &&Value<'_>| {
        let annotations = || entry.get("fieldsV1")?.get("f:metadata")?.get("f:annotations");
        let annotation = || annotations()?.get("f:kubectl.kubernetes.io/last-applied-configuration");
        entry.get("operation").and_then(Value::as_str) == Some("Update") && annotation().is_some()
    };
    entries.iter().find(owns)?.get("manager")?.as_str()
}

impl WriteArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }
}

impl Command for ApplyArgs {
    fn common(&self) -> Common<'_> {
        self.write.common()
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        apply(self, session)
    }
}

impl Command for UpdateArgs {
    fn common(&self) -> Common<'_> {
        self.write.common()
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        update(self, session)
    }
}
