//! The objects that are served, and the resources that they are of.

use crate::input::{Filter, Gathered, Reader, gather};
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_objects::Api;
use kubeshape_objects::store::Store;
use kubeshape_registry::{Object, Registry};
use kubeshape_server::{Change, Objects};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// The resources that the current inputs define. The hub changes them.
pub(super) struct Resources {
    registry: Registry,
    objects: Arc<Objects>,
}

impl Resources {
    /// No resources and no objects.
    pub(super) fn new() -> Resources {
        Resources { registry: Registry::default(), objects: Arc::new(Objects::new(Api::default(), Store::default())) }
    }

    /// What requests are answered from.
    pub(super) fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// Takes in changed files, and serves what they define.
    pub(super) fn change<'c>(&mut self, changes: impl Iterator<Item = &'c Change>) {
        let mut any = false;
        for Change { name, content } in changes {
            any = true;
            match content {
                Some(bytes) => {
                    let input = kubeshape_input::read(Arc::clone(name), bytes, Limits::default());
                    self.registry.set_input(Arc::clone(name), input);
                }
                None => {
                    self.registry.remove(name);
                }
            }
        }
        if any {
            self.objects.serve(Api::new(self.registry.clone()));
        }
    }

    /// Reads the objects to begin with. Returns what is wrong with them.
    pub(super) fn load(&self, paths: &[PathBuf], filter: &Filter) -> Vec<Finding> {
        let gathered: Gathered = gather(paths, None, filter);
        let mut findings = Vec::new();
        gathered.tell(|finding| findings.push(finding.clone()));
        let (mut reader, mut objects) = (Reader::default(), Vec::new());
        for (path, reason) in &gathered.unreadable {
            let name = path.display().to_string();
            findings.push(Finding::new(Code::Unreadable, reason.clone()).in_input(name));
        }
        for input in &gathered.inputs {
            match reader.read(input, &Limits::default()) {
                Ok(text) => {
                    let (read, found) = Object::read_all(input.name(), text);
                    objects.extend(read);
                    findings.extend(found);
                }
                Err(finding) => findings.push(*finding),
            }
        }
        for (at, status) in self.objects.load(&objects, SystemTime::now()) {
            let location = objects.get(at).and_then(Object::location);
            let refused = || Finding::new(Code::ObjectRefused, status.message.clone());
            findings.push(location.map_or_else(refused, |at| at.finding(Code::ObjectRefused, status.message.clone())));
        }
        findings
    }
}
