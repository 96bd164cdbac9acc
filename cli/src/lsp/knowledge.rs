//! What the libraries of the other commands know, for the language server.

use crate::check;
use crate::rows::{Answer, Row};
use crate::validate::live::Validator;
use crate::validate::texts;
use kubeshape_input::Source;
use kubeshape_js::Session;
use kubeshape_language::{Declared, Edit, Fields, Judged, Knowledge};
use kubeshape_lifecycle::kinds;
use kubeshape_registry::policy::ServedKinds;
use kubeshape_registry::{Gvk, Kind, Release, print};
use kubeshape_schema::Bump;
use kubeshape_show::explain;
use kubeshape_smd::ToValue;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The maximum number of kinds that are kept.
const MOST: usize = 200;

/// Judges with a worker of `validate` and one of `check`.
pub(crate) struct Known<'c, 'a> {
    validator: Validator<'c, 'a>,
    checker: check::Worker<'c>,
    kinds: BTreeMap<(String, String), Option<OfKind>>,
    names: Option<Rc<[(String, String)]>>,
}

/// What is known of a kind.
struct OfKind {
    fields: Rc<Fields>,
    /// The input that defines it.
    source: Arc<Source>,
    session: OnceCell<std::cell::RefCell<Session>>,
}

impl<'c, 'a> Known<'c, 'a> {
    pub(crate) fn new(validator: Validator<'c, 'a>, context: &'c check::Context) -> Known<'c, 'a> {
        Known { validator, checker: check::Worker::new(context), kinds: BTreeMap::new(), names: None }
    }

    /// Validates the objects of a row.
    pub(crate) fn validate(&mut self, row: Row<'_>) -> Answer {
        texts::answer(&mut self.validator, row)
    }

    /// Returns the input that defines a kind.
    pub(crate) fn source(&mut self, api_version: &str, kind: &str) -> Option<Arc<Source>> {
        self.of(api_version, kind).map(|known| Arc::clone(&known.source))
    }

    fn of(&mut self, api_version: &str, kind: &str) -> Option<&OfKind> {
        let key = (api_version.to_owned(), kind.to_owned());
        if !self.kinds.contains_key(&key) {
            if self.kinds.len() >= MOST {
                self.kinds.clear();
            }
            let kinds = self.validator.kinds();
            let made = kinds.and_then(|kinds| kinds.with_kind(Gvk::new(api_version, kind), OfKind::of).flatten());
            self.kinds.insert(key.clone(), made);
        }
        self.kinds.get(&key)?.as_ref()
    }
}

impl OfKind {
    fn of(kind: &Kind) -> Option<OfKind> {
        let arena = Bump::new();
        let resource = kind.resource_name();
        let fields = explain::fields(kind.openapi(&arena)?, kind.gvr(&resource), &[]).ok()?;
        let location = kind.definition().location();
        let source = Arc::clone(location.document().source());
        // Users cannot open the documents of Kubernetes.
        let is_own = !kind.definition().is_built_in();
        let place = |at: kubeshape_registry::Location| Some((Arc::clone(at.input()), at.place()?));
        let mut declarations = kind.declarations();
        let mut declared = |field: &explain::Field| declarations.at(&field.pointer).and_then(place);
        let places: Vec<Option<Declared>> =
            if is_own { fields.iter().map(&mut declared).collect() } else { vec![None; fields.len()] };
        let definition = is_own.then(|| place(location.clone())).flatten();
        let fields = Rc::new(Fields::new(fields, places, definition));
        Some(OfKind { fields, source, session: OnceCell::new() })
    }
}

impl Knowledge for Known<'_, '_> {
    fn judge(&mut self, name: &Arc<str>, text: &str) -> Judged {
        let Some(own) = self.validator.part(Arc::clone(name), text.as_bytes()) else { return Judged::default() };
        let mut out = Judged {
            file: own.file,
            held_of_file: own.held_of_file,
            objects: own.objects,
            held_of_objects: own.held_of_objects,
            depends: own.has_objects,
            ..Judged::default()
        };
        let checked = self.checker.part(name, text.as_bytes());
        // Both commands report what cannot be read.
        let is_new = |finding: &kubeshape_input::Finding| !out.file.contains(finding);
        out.definitions = checked.findings.into_iter().filter(is_new).collect();
        out.names = checked.names;
        out.has_policies = checked.has_policies;
        out
    }

    fn policies(&mut self, name: &Arc<str>, text: &str) -> Vec<kubeshape_input::Finding> {
        let Some(kinds) = self.validator.kinds() else { return Vec::new() };
        self.checker.policies(name, text.as_bytes(), &ServedKinds::new(kinds))
    }

    fn fields(&mut self, api_version: &str, kind: &str) -> Option<Rc<Fields>> {
        self.of(api_version, kind).map(|known| Rc::clone(&known.fields))
    }

    fn describe(&mut self, api_version: &str, kind: &str, number: usize) -> Option<serde_json::Value> {
        let known = self.of(api_version, kind)?;
        let session = known.session.get_or_init(|| {
            let mut session = Session::default();
            session.set(known.source.name(), known.source.text().as_bytes());
            std::cell::RefCell::new(session)
        });
        let mut out = session.borrow_mut().field(api_version, kind, number);
        if known.fields.definition.is_none()
            && let Some(members) = out.as_object_mut()
        {
            members.remove("declared");
        }
        out.get("path").is_some().then_some(out)
    }

    fn kinds(&mut self) -> Rc<[(String, String)]> {
        let kinds = self.validator.kinds();
        let make = || kinds.map_or_else(|| Rc::from([]), |kinds| kinds.all().into());
        Rc::clone(self.names.get_or_insert_with(make))
    }

    fn sample(&mut self, api_version: &str, kind: &str) -> Option<String> {
        let kinds = self.validator.kinds()?;
        let sampled = kinds.with_kind(Gvk::new(api_version, kind), |kind| kind.sample(false, Release::NEWEST));
        let arena = Bump::new();
        Some(print::yaml(sampled.flatten()?.object.to_value(&arena)))
    }

    fn replacement(&mut self, api_version: &str, kind: &str) -> Option<String> {
        let found = kinds::find(api_version, kind)?.replacement?.to_string();
        // `networking.k8s.io/v1 Ingress`, or `networking.k8s.io/v1, Kind=Ingress`.
        let version = found.split([' ', ',']).next().unwrap_or_default();
        (!version.is_empty()).then(|| version.to_owned())
    }

    fn fixes(&mut self, name: &Arc<str>, text: &str) -> Vec<Edit> {
        let Some(new) = self.checker.fixed(name, text.as_bytes()) else { return Vec::new() };
        difference(text, &String::from_utf8_lossy(&new)).into_iter().collect()
    }

    fn stored(&mut self, name: &Arc<str>, text: &str) -> Vec<String> {
        self.validator.stored(Arc::clone(name), text.as_bytes())
    }
}

/// Returns the edit of whole lines that makes the second text of the first. `None` if they are equal.
fn difference(old: &str, new: &str) -> Option<Edit> {
    let same = |(a, b): &(&str, &str)| a == b;
    let length = |(a, _): (&str, &str)| a.len();
    let (olds, news): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let head = olds.iter().copied().zip(news.iter().copied()).take_while(same).count();
    let start: usize = olds.iter().copied().zip(news.iter().copied()).take(head).map(length).sum();
    let most = olds.len().min(news.len()) - head;
    let tail = || olds.iter().rev().copied().zip(news.iter().rev().copied()).take(most).take_while(same);
    let end: usize = tail().map(length).sum();
    let range = start..old.len() - end;
    let text = new.get(start..new.len() - end)?.to_owned();
    (!range.is_empty() || !text.is_empty()).then_some(Edit { range, text })
}

#[cfg(test)]
mod tests {
    use super::difference;
    use kubeshape_language::Edit;

    #[test]
    fn the_edit_between_two_texts_is_that_of_their_lines() {
        assert_eq!(difference("a\nb\nc\n", "a\nc\n"), Some(Edit { range: 2..4, text: String::new() }));
        assert_eq!(difference("a\na\n", "a\na\na\n"), Some(Edit { range: 4..4, text: "a\n".to_owned() }));
        assert_eq!(difference("a\n", "a\n"), None);
    }
}
