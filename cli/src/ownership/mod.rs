//! `ownership`, `ownership hand-over` and `apply --plan`: files in, reports out. `kubeshape-ownership` has the rules.

mod hand_over;
mod helm;
mod plan;
mod report;
mod text;

pub(crate) use plan::plan;

use crate::args::{ObjectArgs, OwnershipArgs, OwnershipCommand};
use crate::cluster;
use crate::error::Fatal;
use crate::report::Setup;
use crate::session::object::{Object as Positioned, objects, read_objects};
use crate::session::text::{nowhere, read};
use crate::session::types::{self, BuiltIn};
use crate::session::{self, Session};
use kubeshape_input::Code;
use kubeshape_registry::{Error, Gvk, Object, Registry};
use std::path::PathBuf;

/// Runs `kubeshape ownership`, or its command.
///
/// # Errors
/// There is no answer.
pub(crate) fn run(args: &OwnershipArgs, setup: &Setup) -> Result<bool, Fatal> {
    match &args.command {
        Some(OwnershipCommand::HandOver(args)) => session::run(&**args, setup),
        None => session::run(args, setup),
    }
}

/// Objects with their positions, as the session has them and as the library takes them.
pub(crate) struct Objects<'a> {
    pub(crate) positioned: Vec<Positioned<'a>>,
    pub(crate) objects: Vec<Object>,
}

impl<'a> Objects<'a> {
    /// Reads the objects of files and folders. Reports what cannot be read.
    fn read(paths: &[PathBuf], session: &mut Session<'a>) -> Objects<'a> {
        Objects::of(read_objects(paths, session).all, session)
    }

    /// Reads live objects of files, folders and clusters. Reports what cannot be read.
    fn live(paths: &[PathBuf], of: &ObjectArgs, session: &mut Session<'a>) -> Objects<'a> {
        Objects::of(live(paths, of, session), session)
    }

    fn of(all: Vec<Positioned<'a>>, session: &mut Session<'a>) -> Objects<'a> {
        let mut out = Objects { positioned: Vec::new(), objects: Vec::new() };
        for positioned in all {
            match Object::at(positioned.location.clone()) {
                Ok(object) => {
                    out.positioned.push(positioned);
                    out.objects.push(object);
                }
                Err(finding) => session.report(&finding),
            }
        }
        out
    }

    fn gvks(&self) -> impl Iterator<Item = Gvk<'a>> {
        self.positioned.iter().map(Positioned::gvk)
    }
}

/// Reads live objects of files, folders and clusters. Reports what cannot be read.
fn live<'a>(paths: &[PathBuf], of: &ObjectArgs, session: &mut Session<'a>) -> Vec<Positioned<'a>> {
    let (clusters, files): (Vec<_>, Vec<_>) =
        paths.iter().cloned().partition(|path| cluster::context_of(path).is_some());
    let mut all = if files.is_empty() { Vec::new() } else { read_objects(&files, session).all };
    for argument in clusters {
        let found = cluster::live(&argument, of.namespace.as_deref(), &of.resources);
        for (path, why) in found.failures {
            session.unreadable(&nowhere(Code::Unreadable, &path.to_string_lossy(), why));
        }
        for input in found.inputs {
            if let Some(text) = read(&input, session) {
                all.extend(objects(text, session));
            }
        }
    }
    all
}

/// Adds the built-in kinds that these objects need.
fn add_built_in(args: &crate::args::TypeArgs, gvks: &[Gvk<'_>], registry: &mut Registry, session: &mut Session<'_>) {
    if let Some(built_in) = BuiltIn::of(args) {
        built_in.add_for(gvks, registry, session);
    }
}

/// Reports why an object is refused, with the positions that are known.
fn refused<'a>(
    error: &Error,
    (config, live): (&Positioned<'a>, Option<&Positioned<'a>>),
    registry: &Registry,
    session: &mut Session<'a>,
) {
    match error {
        Error::Kind(_) => types::unknown_of(config, registry, session),
        Error::Invalid(invalid) => {
            let object = if invalid.is_live { live.unwrap_or(config) } else { config };
            if let Some(kind) = registry.kind(object.gvk()) {
                session::diagnose::field_errors(object, &invalid.errors, kind, registry, session);
            }
        }
        Error::ManagedFields { message, location } => {
            let object = live.unwrap_or(config);
            let at = location.as_ref().unwrap_or(object.location);
            session.report(&object.named(at.finding(Code::ManagedFields, message.clone())));
        }
        Error::ManagedFieldsGiven { message, location } => {
            let at = location.as_ref().unwrap_or(config.location);
            session.report(&config.named(at.finding(Code::ManagedFieldsGiven, message.clone())));
        }
        other => session.report(&config.finding_of_all(Code::NotApplied, other.to_string())),
    }
}
