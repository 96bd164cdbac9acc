//! Validation by a process that lives longer than one command: a language server.

use super::kinds::Kinds;
use super::policies::Policies;
use super::schemas::{self, Schemas};
pub(crate) use super::worker::Worker as Validator;
use super::worker::{Context, Identity};
use crate::args::LiveArgs;
use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, gather};
use kubeshape_input::{Finding, Limits};
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::warn::Cluster;
use kubeshape_registry::policy::ServedKinds;
use kubeshape_registry::{Location, Release};
use kubeshape_schema::Bump;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// No object is replaced.
static NOTHING: BTreeMap<Identity, Location> = BTreeMap::new();

/// What is read from files, for all texts.
#[derive(Debug)]
pub(crate) struct Base {
    schemas: Schemas,
    /// The objects of `--policies` and `--params`.
    objects: Vec<Location>,
    /// Whether admission policies judge objects.
    has_policies: bool,
    /// The numbers of files with definitions, by their paths without links.
    numbers: BTreeMap<PathBuf, usize>,
    /// What is wrong with the files.
    pub(crate) findings: Vec<Finding>,
}

/// A text in place of a file, or in addition to the files: its path without links, its name, its bytes.
pub(crate) type Text = (Option<PathBuf>, String, Vec<u8>);

impl Base {
    /// Reads what the options name. Policies may be added later if `has_policies`.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub(crate) fn read(args: &LiveArgs, filter: &Filter, has_policies: bool) -> Result<Base, Fatal> {
        let has_policies = has_policies || !args.admission.policies.is_empty();
        let newest = args.kubernetes.unwrap_or_default().last();
        let mut out = Base {
            schemas: Schemas::new(newest, has_policies),
            objects: Vec::new(),
            has_policies,
            numbers: BTreeMap::new(),
            findings: Vec::new(),
        };
        let gathered = gather(&args.schemas, None, filter);
        gathered.tell(|finding| out.findings.push(finding.clone()));
        let mut reader = Reader::default();
        for input in gathered.inputs {
            match reader.read(&input, &Limits::default()) {
                Ok(bytes) => out.add(input, bytes),
                Err(finding) => out.findings.push(*finding),
            }
        }
        let threads = crate::convert::jobs(None);
        let paths = [args.admission.policies.as_slice(), args.admission.params.as_slice()].concat();
        for path in paths {
            let read = |input: &Input, bytes: &[u8], limits| kubeshape_input::read(input.name(), bytes, limits);
            let (inputs, _) =
                schemas::each(&[path], filter, threads, |finding| out.findings.push(finding.clone()), read)?;
            for (_, input) in inputs {
                out.findings.extend(input.findings);
                for document in input.documents.into_iter().map(Arc::new) {
                    let all = document.objects().into_iter();
                    out.objects.extend(all.map(|node| Location::new(Arc::clone(&document), node.index())));
                }
            }
        }
        Ok(out)
    }

    /// Adds admission policies and what belongs to them. Returns what is wrong with the text.
    pub(crate) fn add_policies(&mut self, name: &str, bytes: &[u8]) -> Vec<Finding> {
        let input = kubeshape_input::read(name, bytes, Limits::default());
        for document in input.documents.into_iter().map(Arc::new) {
            let all = document.objects().into_iter();
            self.objects.extend(all.map(|node| Location::new(Arc::clone(&document), node.index())));
        }
        input.findings
    }

    /// Adds a file with definitions, unless it is already there.
    pub(crate) fn add(&mut self, input: Input, bytes: &[u8]) {
        let canonical = input.canonical.clone();
        if self.numbers.contains_key(&canonical) {
            return;
        }
        let (number, findings) = self.schemas.add_file(input, bytes);
        self.numbers.insert(canonical, number);
        self.findings.extend(findings);
    }

    /// Calls a function with a worker that judges by the files and these texts, and with what is wrong with policies.
    pub(crate) fn with<R>(
        &self,
        args: &LiveArgs,
        texts: &[Text],
        work: impl FnOnce(Validator<'_, '_>, Vec<Finding>) -> R,
    ) -> R {
        let mut first = self.schemas.clone();
        for (path, name, bytes) in texts {
            let number = path.as_ref().and_then(|path| self.numbers.get(path)).copied();
            first.put_text(number, name, bytes);
        }
        if args.kubernetes.is_none() {
            first = first.in_own_release();
        }
        let of_cluster = first.server_release();
        let asked = args.kubernetes.or_else(|| self.has_policies.then(|| first.release().into()));
        // The findings of the newest release come first. Without one, `None` stands for that of the schemas.
        let releases: Vec<Option<Release>> =
            asked.map_or_else(|| vec![None], |asked| asked.iter().rev().map(Some).collect());
        let mut all = vec![first];
        for release in releases.iter().skip(1) {
            let other = all.first().map(|first| first.in_release(release.unwrap_or_default()));
            all.extend(other);
        }
        let arena = Bump::new();
        let mut contexts = Vec::new();
        let mut findings = Vec::new();
        for (at, (mut schemas, release)) in all.into_iter().zip(&releases).enumerate() {
            schemas.settle(|_| ());
            let rules = schemas.release();
            let kinds = Kinds::new(schemas, *release);
            let policies = self.has_policies.then(|| {
                let served = ServedKinds::new(&kinds);
                let (read, found) = Policies::new(&args.admission, &self.objects, &served, rules, &arena);
                if at == 0 {
                    findings.extend(found);
                }
                read
            });
            contexts.push(Context {
                release: rules,
                kinds,
                policies,
                old: &NOTHING,
                cluster: Cluster {
                    release: release.or(of_cluster).map(Version::from),
                    gates: args.gates.all(),
                    ..Cluster::default()
                },
                field_validation: args.field_validation,
                missing_schemas: args.missing_schemas,
                print: false,
                names: false,
                explain: true,
                notes: true,
            });
        }
        work(Validator::new(&contexts), findings)
    }
}
