//! The inputs of a page, and what was made of them.

use crate::definitions::{Checked, check};
use crate::tree::Tree;
use kubeshape::input::Finding;
use kubeshape::validate::Release;
use kubeshape::{Api, Code, Kind};
use kubeshape_check::Releases;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Inputs with their kinds. Trees are kept until the inputs change.
#[derive(Debug, Default)]
pub struct Session {
    pub(crate) api: Api,
    pub(crate) texts: BTreeMap<String, Rc<[u8]>>,
    trees: BTreeMap<(String, String), Rc<Tree>>,
    /// What releases say of definitions, by input and name.
    checked: BTreeMap<String, Rc<BTreeMap<String, Checked>>>,
    /// The same inputs for the release that judged last.
    pub(crate) judging: Option<(Release, Api)>,
}

impl Session {
    /// Takes in an input, in place of the one of that name. Returns what is wrong with its text.
    pub fn set(&mut self, name: &str, text: &[u8]) -> Value {
        self.forget(name);
        self.texts.insert(name.to_owned(), text.into());
        findings(&self.api.set(name, text))
    }

    /// Forgets an input.
    pub fn remove(&mut self, name: &str) {
        self.forget(name);
        self.texts.remove(name);
        self.api.remove(name);
    }

    /// Whether there are no kinds.
    pub fn is_empty(&self) -> bool {
        self.api.kinds().next().is_none()
    }

    /// Returns all kinds, by kind and `apiVersion`.
    pub fn kinds(&self) -> Value {
        self.api.kinds().map(summary).collect()
    }

    /// Returns the fields of a kind in columns: a field is the same index in each of them. Parents come before their
    /// fields. `error` says why there are none.
    pub fn tree(&mut self, api_version: &str, kind: &str) -> Value {
        match self.fields(api_version, kind) {
            Ok(tree) => tree.columns(),
            Err(error) => json!({ "error": error }),
        }
    }

    /// Returns everything that is known of one field of a kind.
    pub fn field(&mut self, api_version: &str, kind: &str, index: usize) -> Value {
        let found = self.fields(api_version, kind);
        let checked = self.checked(api_version, kind);
        match (found, self.api.kind(api_version, kind)) {
            (Ok(tree), Some(kind)) => tree.field(kind, index, checked.get(kind.definition().name())),
            (Err(error), _) => json!({ "error": error }),
            (_, None) => json!({ "error": unknown(api_version, kind) }),
        }
    }

    /// Returns all that [`field`](Self::field) says, of every field of a kind.
    pub fn all_fields(&mut self, api_version: &str, kind: &str) -> Value {
        let count = self.fields(api_version, kind).map_or(0, |tree| tree.fields.len());
        (0..count).map(|index| self.field(api_version, kind, index)).collect()
    }

    /// What releases say of the definition of a kind; its rules and their costs.
    fn checked(&mut self, api_version: &str, kind: &str) -> Rc<BTreeMap<String, Checked>> {
        let Some(kind) = self.api.kind(api_version, kind).filter(|kind| kind.definition().is_custom_resource()) else {
            return Rc::default();
        };
        let name = kind.definition().location().input().to_string();
        let text = self.texts.get(&name).cloned().unwrap_or_default();
        // Of several definitions with one name, the first is used.
        let make = || {
            let all = check(&name, &text, Releases::ALL).0.into_iter().rev();
            Rc::new(all.map(|checked| (checked.name.clone(), checked)).collect())
        };
        Rc::clone(self.checked.entry(name.clone()).or_insert_with(make))
    }

    fn forget(&mut self, name: &str) {
        self.trees.clear();
        self.checked.remove(name);
        self.judging = None;
    }

    /// Returns the indexes of the fields whose name, path or description has all words of a text, in any case. What
    /// begins with `.` is a part of a path.
    pub fn search(&mut self, api_version: &str, kind: &str, text: &str) -> Value {
        self.fields(api_version, kind).map_or_else(|_| json!([]), |tree| tree.search(text))
    }

    /// Returns the page of a code in Markdown.
    #[allow(clippy::unused_self)]
    pub fn page(&self, code: &str) -> Value {
        Code::parse(code).map_or(Value::Null, |code| json!(code.page()))
    }

    /// Returns the text of an input.
    pub fn text(&self, name: &str) -> String {
        self.texts.get(name).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default()
    }

    pub(crate) fn fields(&mut self, api_version: &str, kind: &str) -> Result<Rc<Tree>, String> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(tree) = self.trees.get(&key) {
            return Ok(Rc::clone(tree));
        }
        let found = self.api.kind(api_version, kind).ok_or_else(|| unknown(api_version, kind))?;
        let tree = Rc::new(Tree::of(found)?);
        self.trees.insert(key, Rc::clone(&tree));
        Ok(tree)
    }
}

pub(crate) fn unknown(api_version: &str, kind: &str) -> String {
    format!("no input defines {api_version}, Kind={kind}")
}

/// A kind in a line.
fn summary(kind: &Kind) -> Value {
    let resource = kind.resource();
    let version = kind.version();
    json!({
        "apiVersion": kind.api_version(),
        "group": kind.group(),
        "version": kind.version_name(),
        "kind": kind.kind(),
        "plural": resource.map(|resource| &*resource.plural),
        "shortNames": resource.map(|resource| resource.short_names.iter().map(|name| &**name).collect::<Vec<_>>()),
        "scope": resource.map(|resource| format!("{:?}", resource.scope)),
        "served": version.map(|version| version.served),
        "storage": version.map(|version| version.storage),
        "deprecated": version.is_some_and(|version| version.deprecated),
        "subresources": kind.subresources().map(|names| names.iter().map(|name| &**name).collect::<Vec<_>>()),
        "isCustomResource": kind.definition().is_custom_resource(),
        "definition": kind.definition().name(),
        "input": &**kind.definition().location().input(),
        "line": kind.definition().location().place().map(|place| place.line),
    })
}

/// Findings for people and for programs: what `--output-format json` prints of each, with its text and its help.
pub(crate) fn findings<'f>(all: impl IntoIterator<Item = &'f Finding>) -> Value {
    all.into_iter().map(finding).collect()
}

pub(crate) fn finding(finding: &Finding) -> Value {
    let mut out = serde_json::to_value(finding).unwrap_or_default();
    out["text"] = json!(finding.message());
    out["help"] = json!(finding.help());
    out["line"] = json!(finding.place.map(|place| place.line));
    out["column"] = json!(finding.place.map(|place| place.column));
    out["span"] = json!(finding.span.as_ref().map(|span| [span.start, span.end]));
    out
}
