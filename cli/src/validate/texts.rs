//! Validation of objects in memory.

use super::kinds::Kinds;
use super::schemas::{Schemas, Waiting};
pub(crate) use super::worker::Worker;
use super::worker::{Context, Event, Identity, Verdict};
use crate::args::{FieldValidation, MissingSchemas, WalkArgs};
use crate::input::Filter;
use crate::rows::row::{Answer, Row, fatal, shared};
use kubeshape::Findings;
use kubeshape_input::{Code, Finding};
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_registry::{Location, Release};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How objects are validated. The fields are the options of `kubeshape validate`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ValidateOptions {
    /// Files and folders with CustomResourceDefinitions and OpenAPI documents.
    pub schemas: Vec<PathBuf>,
    /// The same in memory, with their names.
    pub texts: Vec<(String, Vec<u8>)>,
    /// The release whose rules are used. If it is set, its built-in kinds are known, too.
    pub kubernetes: Option<Release>,
    /// How unknown fields are treated.
    pub field_validation: FieldValidation,
    /// How objects of unknown kinds are treated.
    pub missing_schemas: MissingSchemas,
    /// Feature gates, and whether they are on.
    pub gates: BTreeMap<String, bool>,
}

/// No object is replaced.
static NOTHING: BTreeMap<Identity, Location> = BTreeMap::new();

/// Validates objects in memory.
#[derive(Debug)]
pub(crate) struct Texts {
    contexts: [Context<'static>; 1],
}

impl Texts {
    /// Reads the schemas.
    ///
    /// # Errors
    /// A schema cannot be read, or defines nothing.
    pub(crate) fn new(options: &ValidateOptions) -> Result<Texts, Findings> {
        let filter = Filter::new(&WalkArgs::default()).map_err(|error| fatal(&error))?;
        let mut schemas = Schemas::new(options.kubernetes.unwrap_or_default(), false);
        let mut findings = Vec::new();
        for path in &options.schemas {
            let added =
                schemas.add(path, &filter, crate::convert::jobs(None), |finding| findings.push(finding.clone()));
            let (is_used, _) = added.map_err(|error| fatal(&error))?;
            if !is_used {
                let detail = "neither a CustomResourceDefinition nor an OpenAPI document was found in it";
                findings.push(Finding::new(Code::Nothing, detail).in_input(path.to_string_lossy()));
            }
        }
        for (name, text) in &options.texts {
            findings.extend(schemas.add_text(name, text));
        }
        if options.kubernetes.is_none() {
            schemas = schemas.in_own_release();
        }
        let (rules, of_cluster) = (schemas.release(), schemas.server_release());
        schemas.settle(|finding| findings.push(finding.clone()));
        if findings.iter().any(Finding::is_error) {
            return Err(Findings(findings));
        }
        let release = options.kubernetes.or(of_cluster).map(Version::from);
        let context = Context {
            release: rules,
            kinds: Kinds::new(schemas, options.kubernetes),
            policies: None,
            old: &NOTHING,
            cluster: Cluster { release, gates: options.gates.clone(), ..Cluster::default() },
            field_validation: options.field_validation,
            missing_schemas: options.missing_schemas,
            print: false,
            names: false,
            explain: true,
            notes: true,
        };
        Ok(Texts { contexts: [context] })
    }

    pub(crate) fn worker(&self) -> Worker<'_, 'static> {
        Worker::new(&self.contexts)
    }
}

/// Validates the objects of a row.
pub(crate) fn answer(worker: &mut Worker<'_, '_>, row: Row<'_>) -> Answer {
    let mut findings = Vec::new();
    let (mut is_refused, mut is_judged) = (false, true);
    for event in worker.text(shared(row.name), row.text).events {
        match event {
            Event::Finding(finding) => findings.push(*finding),
            Event::Schemas(waiting) => findings.extend(of_schemas(&waiting)),
            Event::Objects(object, _) => match object.verdict {
                Verdict::Accepted(_) => {}
                Verdict::Refused => is_refused = true,
                Verdict::Unknown | Verdict::Definition => is_judged = false,
            },
        }
    }
    is_refused |= findings.iter().any(Finding::is_error);
    let verdict = match (is_refused, is_judged) {
        (true, _) => "refused",
        (false, true) => "accepted",
        (false, false) => "not judged",
    };
    Answer::new(verdict, findings)
}

fn of_schemas(waiting: &Waiting) -> impl Iterator<Item = Finding> {
    waiting.read().findings.iter().map(|(_, finding)| finding.clone())
}
