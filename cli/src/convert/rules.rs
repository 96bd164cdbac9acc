//! `convert --to crd --rules-from`: definitions with the rules of admission policies.

use crate::args::ConvertArgs;
use crate::error::Fatal;
use crate::input::Filter;
use crate::session::groups::WithCustom;
use kubeshape_input::{Limits, Note};
use kubeshape_policy::{Release, print_with_rules, to_rules};
use kubeshape_registry::policy::{ServedKinds, StoredPolicies};
use kubeshape_registry::{Registry, Settings};
use kubeshape_structural::Crd;
use kubeshape_yaml::{Node, json};
use std::sync::Arc;

/// Admission policies as a source of rules.
#[derive(Debug)]
pub(super) struct Rules {
    policies: StoredPolicies,
    release: Release,
}

impl Rules {
    /// Reads the policies of `--rules-from`; `None` without this option.
    ///
    /// # Errors
    /// A file cannot be read, or there is no policy in the files.
    pub(super) fn new(args: &ConvertArgs) -> Result<Option<Rules>, Fatal> {
        if args.rules_from.is_empty() {
            return Ok(None);
        }
        let release = args.kubernetes.unwrap_or_default();
        let files = super::engine::bases(&args.rules_from, &Filter::new(&args.walk)?)?;
        let unreadable = |message: String| Fatal::Read { path: args.rules_from[0].clone(), message };
        let mut texts = Vec::new();
        for (name, bytes) in &files {
            let input = kubeshape_input::read(Arc::from(name.as_str()), bytes, Limits::default());
            if let Some(finding) = input.findings.first() {
                return Err(Fatal::Read { path: name.into(), message: finding.to_string() });
            }
            for document in &input.documents {
                for node in document.objects() {
                    let mut text = Vec::new();
                    json::write(node, &mut text, json::Options::default());
                    texts.push(text);
                }
            }
        }
        let kinds = WithCustom::new(&Registry::new(Settings::of(release)), release)
            .ok_or_else(|| unreadable(format!("the built-in kinds of Kubernetes {release} are not known")))?;
        let policies = StoredPolicies::new(texts.iter().map(Vec::as_slice), &ServedKinds::new(&kinds), release);
        if let Some(undecoded) = policies.get().undecoded().first() {
            let message = format!("{} {:?}: {}", undecoded.kind, undecoded.name, undecoded.error);
            return Err(unreadable(message));
        }
        if !policies.get().has_validating() {
            return Err(unreadable("found no ValidatingAdmissionPolicy".to_owned()));
        }
        Ok(Some(Rules { policies, release }))
    }

    /// Writes a definition with the rules as JSON. Without a rule for it, nothing is written.
    pub(super) fn definition<'a>(&self, node: Node<'_>, crd: &Crd<'a>, out: &mut Vec<u8>, notes: &mut Vec<Note<'a>>) {
        let made = to_rules(self.policies.get(), crd, self.release);
        notes.extend(made.notes);
        if !made.rules.is_empty() {
            print_with_rules(node, &made.rules, out);
        }
    }
}
