//! `apply` and `update`.

use super::Session;
use super::diagnose;
use super::library::{Known, Library};
use super::object::{Identity, Object, objects};
use super::print::Output;
use super::text::{Missing, check_stdin, nowhere, read_all};
use crate::args::{ApplyArgs, UpdateArgs, WriteArgs};
use crate::error::Fatal;
use kubeshape_schema::Code;
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::DisplayPath;
use kubeshape_smd::managed::{self, ChangeApiVersion, FieldManager, ManagerConflict, Step, Time};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Conflicts whose places are shown; the server's message names all of them.
const MOST: usize = 50;

/// How configurations are put over live objects.
#[derive(Clone, Copy)]
enum How {
    Apply { force: bool },
    Update,
}

/// A live object.
struct Live<'a> {
    /// Where it stands; none if a configuration created it.
    object: Option<Object<'a>>,
    /// What it is by now.
    value: Option<Value<'a>>,
    /// Whether there is another one of the same identity.
    repeated: bool,
}

/// `kubeshape apply`
///
/// # Errors
/// There is no answer.
pub(crate) fn apply<'a>(args: &'a ApplyArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    run(&args.write, How::Apply { force: args.force_conflicts }, session)
}

/// `kubeshape update`
///
/// # Errors
/// There is no answer.
pub(crate) fn update<'a>(args: &'a UpdateArgs, session: &mut Session<'a>) -> Result<bool, Fatal> {
    run(&args.write, How::Update, session)
}

fn run<'a>(args: &WriteArgs, how: How, session: &mut Session<'a>) -> Result<bool, Fatal> {
    let output = Output::of_objects(&args.result)?;
    let now = now(args.now.as_deref())?;
    check(args)?;
    let library: &'a Library<'a> = session.arena.alloc(Library::new(&args.types, session)?);
    let mut lives: BTreeMap<Identity<'a>, Live<'a>> = BTreeMap::new();
    for text in read_all(&args.live, Missing::Empty, session) {
        for object in objects(text, session) {
            if object.gvk().kind().is_empty() && !library.is_forced() {
                library.unknown(object.gvk(), text, object.node, session);
                continue;
            }
            match lives.get_mut(&object.identity()) {
                None => {
                    let live = Live { object: Some(object), value: Some(object.value), repeated: false };
                    lives.insert(object.identity(), live);
                }
                Some(first) => {
                    first.repeated = true;
                    let place = first.object.map_or_else(String::new, |first| first.text.place(first.node));
                    let detail = format!("the same object stands in {place}, too");
                    diagnose::tell(&object, Code::SeveralObjects, object.node, detail, session);
                }
            }
        }
    }
    // A live object that could not be read must not be taken for one that is to be created.
    if session.errors() > 0 {
        return Ok(false);
    }
    let mut touched: Vec<Identity<'a>> = Vec::new();
    for text in read_all(&args.configs, Missing::Error, session) {
        let before = session.errors();
        let configs = objects(text, session);
        if configs.is_empty() && !text.failed && session.errors() == before {
            session.tell(&nowhere(Code::NotAnObject, text.name, "found no objects"));
        }
        for config in configs {
            let identity = config.identity();
            if !is_complete(&config, session) {
                continue;
            }
            let Some(known) = library.find(config.gvk()) else {
                library.unknown(config.gvk(), config.text, config.node, session);
                continue;
            };
            library.check_repeated(config.gvk(), session);
            if let Some(detail) = known.lacks(&args.subresource) {
                let at = config.at_pointer("/kind");
                diagnose::tell(&config, Code::NotApplied, at.shown(), detail, session);
                continue;
            }
            let live = lives.entry(identity).or_insert(Live { object: None, value: None, repeated: false });
            let request = Request { config, known, library, args, now };
            if let Some(after) = request.send(live, how, session) {
                live.value = Some(after);
                if !touched.contains(&identity) {
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

/// The time of the request.
fn now(given: Option<&str>) -> Result<Time, Fatal> {
    let Some(text) = given else {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        return Ok(Time(i64::try_from(since).unwrap_or_default()));
    };
    Time::parse(text).ok_or_else(|| {
        Fatal::Usage(format!("--now takes a time such as 2030-01-31T12:00:00Z (RFC 3339), found {text:?}"))
    })
}

fn check(args: &WriteArgs) -> Result<(), Fatal> {
    if args.types.schemas.is_empty() {
        return Err(Fatal::Usage("the types of objects are needed: name what holds them with --schemas".to_owned()));
    }
    let inputs = args.types.schemas.iter().chain(&args.live).chain(&args.configs);
    check_stdin(inputs)?;
    // What the server checks of the option (422).
    let name = args.field_manager.as_str();
    if name.is_empty() || name.len() > 128 || name.chars().any(char::is_control) {
        return Err(Fatal::Usage(
            "--field-manager takes a name of 1 to 128 bytes, all of them printable characters".to_owned(),
        ));
    }
    Ok(())
}

/// Whether a configuration says which object it is for.
fn is_complete<'a>(config: &Object<'a>, session: &mut Session<'a>) -> bool {
    let (_, _, _, name) = config.identity();
    if name.is_empty() {
        let at = config.at_pointer("/metadata");
        let detail = "found no metadata.name, which says which object is meant";
        diagnose::tell(config, Code::NotAnObject, at.shown(), detail, session);
    }
    !name.is_empty()
}

/// A configuration on its way to its object.
struct Request<'r, 'a> {
    config: Object<'a>,
    known: &'a Known<'a>,
    library: &'a Library<'a>,
    args: &'r WriteArgs,
    now: Time,
}

impl<'a> Request<'_, 'a> {
    /// The live object afterwards; none if it was refused.
    fn send(&self, live: &Live<'a>, how: How, session: &mut Session<'a>) -> Option<Value<'a>> {
        let Request { config, known, library, args, now } = self;
        if live.repeated {
            let detail = "several live objects are meant";
            diagnose::tell(config, Code::SeveralObjects, config.node, detail, session);
            return None;
        }
        let arena = session.arena;
        let gvk = config.gvk();
        let mut versions: Vec<&'a str> =
            library.versions(gvk.group(), gvk.kind()).map(|known| known.gvk.api_version()).collect();
        if library.is_forced() {
            versions.push(gvk.api_version());
        }
        let subresource: &'a str = arena.alloc_str(&args.subresource);
        let converter = arena.alloc(ChangeApiVersion(versions));
        let mut manager = FieldManager::new(gvk, *library, converter)
            .subresource(subresource)
            .compat(args.types.smd_compat.of_fields());
        if let Some(filter) = known.reset_fields(subresource, session) {
            manager = manager.reset_fields(vec![(gvk.api_version(), filter)]);
        }
        let manager = &*arena.alloc(manager);
        let name = args.field_manager.as_str();
        let after = match how {
            How::Apply { force } => manager.apply(live.value, config.value, name, force, *now, arena),
            How::Update => manager.update(live.value, config.value, name, *now, arena),
        };
        match after {
            Ok(after) => Some(keep(after, live.value, known.reset_names(subresource), session)),
            Err(error) => {
                self.refused(live, &error, session);
                None
            }
        }
    }

    /// Tells why nothing was done.
    fn refused(&self, live: &Live<'a>, error: &managed::Error<'a>, session: &mut Session<'a>) {
        let Request { config, known, library, .. } = self;
        match error {
            managed::Error::Conflicts(conflicts) => {
                session.say(&error.to_string());
                for (conflict, cause) in conflicts.0.iter().zip(conflicts.causes()).take(MOST) {
                    self.conflict(live, conflict, &cause.message, session);
                }
                if conflicts.0.len() > MOST {
                    session.say(&format!("the places of {} more conflicts are not shown", conflicts.0.len() - MOST));
                }
            }
            managed::Error::ManagedFieldsNotNil => {
                let at = config.at_pointer("/metadata/managedFields");
                diagnose::tell(
                    config,
                    Code::ManagedFieldsGiven,
                    at.key.unwrap_or(at.value),
                    error.to_string(),
                    session,
                );
            }
            managed::Error::Decode(decode) => {
                diagnose::managed_fields(live.object.as_ref().unwrap_or(config), decode, session);
            }
            managed::Error::BeforeFirstApply(error) => self.refused(live, error, session),
            managed::Error::Invalid { step, errors, .. } => {
                let is_live = matches!(step, Step::LiveOfApply | Step::LiveOfUpdate);
                let object = live.object.as_ref().filter(|_| is_live).unwrap_or(config);
                let known = library.find(object.gvk()).unwrap_or(known);
                diagnose::invalid(object, errors, known, library, session);
            }
            _ => diagnose::tell(config, Code::NotApplied, config.node, error.to_string(), session),
        }
    }

    /// A field that another manager owns.
    fn conflict(&self, live: &Live<'a>, conflict: &ManagerConflict<'a>, message: &str, session: &mut Session<'a>) {
        let at = self.config.at_path(&conflict.path, session);
        let mut finding = self.config.text.about(
            Code::FieldConflict,
            at.shown(),
            format!("{message}: {}", DisplayPath(&conflict.path)),
        );
        if let Some(object) = live.object {
            let at = object.at_path(&conflict.path, session);
            finding.notes.push(format!("the live value stands in {}", object.text.place(at.shown())));
        }
        session.tell(&diagnose::about(finding, &self.config));
    }
}

/// The object with the fields that the endpoint leaves alone as they were: what the server does when it stores it.
fn keep<'a>(after: Value<'a>, before: Option<Value<'a>>, names: &[&'static str], session: &Session<'a>) -> Value<'a> {
    let arena = session.arena;
    let Value::Map(mut object) = after else { return after };
    for name in names {
        let old = before.and_then(|before| before.get(name));
        let managed = |value: Value<'a>| value.get("managedFields");
        let old = match (*name, old, object.get(name)) {
            // The owners are new in any case.
            ("metadata", old, Some(new)) => {
                let old = old.and_then(Value::as_map).or_else(|| new.as_map());
                old.map(|old| Value::Map(old.with("managedFields", managed(new), arena)))
            }
            (_, old, _) => old,
        };
        object = object.with(name, old, arena);
    }
    Value::Map(object)
}
