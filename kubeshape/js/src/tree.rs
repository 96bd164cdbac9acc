//! The fields of a kind as a tree.

use crate::definitions::Checked;
use crate::field::Places;
use crate::session::findings;
use crate::{copies, field, merge};
use kubeshape::Kind;
use kubeshape::schema::Bump;
use kubeshape_show::explain::{Field, fields};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Longer defaults are not shown in the tree.
const LONGEST_DEFAULT: usize = 40;

/// The marks of fields in the tree, in the order of their bits.
const MARKS: [&str; 15] = [
    "required",
    "default",
    "enum",
    "rules",
    "list-map",
    "list-set",
    "atomic",
    "preserved",
    "nullable",
    "bounds",
    "object",
    "lossy",
    "alpha",
    "beta",
    "deprecated",
];

/// The fields of a kind, parents first.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) fields: Vec<Field>,
    depths: Vec<usize>,
    places: RefCell<Places>,
    /// What OpenAPI v2 loses, by the index of the field.
    losses: BTreeMap<usize, Vec<String>>,
    /// Which fields, or their items or values, have rules.
    ruled: Vec<bool>,
    /// How stable fields are, by their index: the name of the stage, and a description.
    lifecycles: BTreeMap<usize, (String, String)>,
}

impl Tree {
    pub(crate) fn of(kind: &Kind) -> Result<Tree, String> {
        let arena = Bump::new();
        let resource = kind.resource_name();
        let Some(document) = kind.openapi(&arena) else {
            return Err(format!("{} has no OpenAPI document", kind.gvk()));
        };
        let fields = fields(document, kind.gvr(&resource), &[]).map_err(|error| error.to_string())?;
        let mut places = Places::of(kind, &fields);
        let mut losses: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (at, text) in kind.losses() {
            for field in places.about(&at) {
                losses.entry(field).or_default().push(text.clone());
            }
        }
        let ruled = places.declared.iter().map(|at| at.as_ref().is_some_and(field::is_ruled)).collect();
        let lifecycles = lifecycles(&places, &fields);
        let depths = depths(&fields);
        let places = RefCell::new(places);
        Ok(Tree { fields, depths, places, losses, ruled, lifecycles })
    }

    /// The columns of the tree.
    pub(crate) fn columns(&self) -> Value {
        let all = || self.fields.iter().zip(&self.depths);
        json!({
            "marksOf": MARKS,
            "depths": self.depths,
            "names": all().map(|(field, _)| name(&field.path)).collect::<Vec<_>>(),
            "types": all().map(|(field, _)| field.type_name.as_str()).collect::<Vec<_>>(),
            "marks": self.fields.iter().enumerate().map(|(at, field)| self.marks(field, at)).collect::<Vec<_>>(),
            "defaults": self.fields.iter().map(default).collect::<Vec<_>>(),
            "paths": self.fields.iter().map(|field| field.path.as_str()).collect::<Vec<_>>(),
        })
    }

    fn marks(&self, field: &Field, at: usize) -> u32 {
        let is_ruled = self.ruled.get(at).copied().unwrap_or_default();
        let stage = self.lifecycles.get(&at).map(|(stage, _)| stage.as_str());
        marks(field, is_ruled, self.losses.contains_key(&at), stage)
    }

    /// Everything about a field. `checked` is what releases say of the definition.
    pub(crate) fn field(&self, kind: &Kind, index: usize, checked: Option<&Checked>) -> Value {
        let Some(field) = self.fields.get(index) else { return json!({ "error": "there is no such field" }) };
        let mut places = self.places.borrow_mut();
        let declared = places.declared.get(index).cloned().flatten();
        let said = checked.zip(declared.as_ref());
        let said = said.map(|(checked, declared)| findings(checked.about(&declared.pointer(), &mut places.steps)));
        let place = declared.as_ref().and_then(kubeshape::Location::place);
        let facts = |all: &[(String, String)]| all.iter().map(|(name, text)| json!([name, text])).collect::<Value>();
        json!({
            "path": field.path,
            "pointer": field.pointer,
            "type": field.type_name,
            "required": field.required,
            "description": field.description,
            "facts": facts(&field.facts),
            "merge": merge::sentence(kind, &field.path),
            "losses": self.losses.get(&index).map_or(&[][..], Vec::as_slice),
            "lifecycle": self.lifecycles.get(&index).map(|(_, text)| text),
            "declared": declared.as_ref().map(|declared| json!({
                "pointer": declared.pointer(),
                "input": &**declared.input(),
                "line": place.map(|place| place.line),
                "column": place.map(|place| place.column),
            })),
            "copies": copies::of(&field.path),
            "rules": declared.as_ref().map_or_else(Vec::new, |declared| field::rules(declared, checked)),
            "said": said.unwrap_or_else(|| json!([])),
        })
    }

    /// The fields that have all words of a text.
    pub(crate) fn search(&self, text: &str) -> Value {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return json!([]);
        }
        let has = |field: &Field| {
            let (path, description) = (field.path.to_lowercase(), field.description.to_lowercase());
            // A parent has the names of its fields in their paths, so names count from the last one.
            let own = name(&path).to_owned();
            words.iter().all(|word| match word.strip_prefix('.') {
                Some(_) => path.contains(word.as_str()),
                None => own.contains(word.as_str()) || description.contains(word.as_str()),
            })
        };
        let found = self.fields.iter().enumerate().filter(|(_, field)| has(field));
        found.map(|(index, _)| json!(index)).collect()
    }
}

/// Returns how stable fields are: what `x-kubernetes-api-lifecycle` says (KEP-2558), or a paragraph of the description.
fn lifecycles(places: &Places, fields: &[Field]) -> BTreeMap<usize, (String, String)> {
    let found = fields.iter().zip(&places.declared).enumerate().filter_map(|(at, (field, declared))| {
        let stage = declared.as_ref().and_then(field::stage);
        let stage = stage.or_else(|| Some(("deprecated".to_owned(), deprecation(&field.description)?)));
        Some((at, stage?))
    });
    found.collect()
}

/// Returns the paragraph that begins with `Deprecated:`, in one line: Go's convention.
fn deprecation(description: &str) -> Option<String> {
    let lines = || description.lines().skip_while(|line| !line.trim_start().starts_with("Deprecated:"));
    let words: Vec<&str> = lines().take_while(|line| !line.trim().is_empty()).flat_map(str::split_whitespace).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// How deep each field is. A field follows its parent, and its path begins with the parent's.
fn depths(fields: &[Field]) -> Vec<usize> {
    let mut parents: Vec<&str> = Vec::new();
    let mut out = Vec::with_capacity(fields.len());
    for field in fields {
        let path = field.path.as_str();
        let is_parent =
            |parent: &&str| path.strip_prefix(*parent).is_some_and(|rest| rest.starts_with(['.', '[', '{']));
        while parents.last().is_some_and(|parent| !is_parent(parent)) {
            parents.pop();
        }
        out.push(parents.len());
        parents.push(path);
    }
    out
}

/// The last name of a path: `number` of `.ports[].number`, `a.b` of `.labels["a.b"]`.
pub(crate) fn name(path: &str) -> &str {
    let path = path.trim_end_matches("[]").trim_end_matches("{}");
    match path.strip_suffix("\"]").and_then(|quoted| quoted.rsplit_once("[\"")) {
        Some((_, name)) => name,
        None => path.rsplit('.').next().unwrap_or_default(),
    }
}

fn fact<'f>(field: &'f Field, name: &str) -> Option<&'f str> {
    field.facts.iter().find(|(fact, _)| fact == name).map(|(_, text)| text.as_str())
}

/// The bits of a field, in the order of [`MARKS`].
fn marks(field: &Field, has_rules: bool, is_lossy: bool, stage: Option<&str>) -> u32 {
    const BOUNDS: [&str; 10] = [
        "minimum",
        "maximum",
        "least length",
        "greatest length",
        "pattern",
        "fewest items",
        "most items",
        "fewest properties",
        "most properties",
        "multiple of",
    ];
    let has = |name: &str| fact(field, name).is_some();
    let list = fact(field, "list type");
    let all = [
        field.required,
        has("default"),
        has("enum"),
        has_rules || has("rule"),
        list == Some("map"),
        list == Some("set"),
        list == Some("atomic") || fact(field, "map type") == Some("atomic"),
        has("unknown fields"),
        has("nullable"),
        BOUNDS.iter().any(|name| has(name)),
        has("embedded resource"),
        is_lossy,
        stage == Some("alpha"),
        stage == Some("beta"),
        stage == Some("deprecated"),
    ];
    all.iter().enumerate().map(|(bit, is_set)| u32::from(*is_set) << bit).sum()
}

/// The default, if it is short.
fn default(field: &Field) -> Option<&str> {
    fact(field, "default").filter(|text| text.len() <= LONGEST_DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::{deprecation, name};
    use crate::Session;

    #[test]
    fn a_paragraph_says_that_a_field_is_deprecated() {
        let text = "How wide it is.\n\nDeprecated: use size\n  instead.\n\nMore.";
        assert_eq!(deprecation(text).as_deref(), Some("Deprecated: use size instead."));
        assert_eq!(deprecation("It is not Deprecated: no."), None);
    }

    /// The work for all fields of a kind with that many fields, each with a rule and a loss.
    fn work(count: usize) -> usize {
        use std::fmt::Write;
        let mut fields = String::new();
        for at in 0..count {
            let _ = write!(
                fields,
                "f{at}: {{type: string, nullable: true, maxLength: 9, x-kubernetes-validations: [{{rule: self != \
                 'a'}}]}}, "
            );
        }
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             tabs.example.com}}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: \
             Tab}}\n  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, \
             properties: {{{fields}}}}}}}}}]"
        );
        let mut session = Session::default();
        session.set("tabs.yaml", text.as_bytes());
        let all = session.all_fields("example.com/v1", "Tab");
        let last = all.as_array().and_then(|all| all.iter().find(|field| field["path"] == ".f99")).expect("a field");
        assert_eq!(last["rules"][0]["rule"], "self != 'a'");
        assert!(last["rules"][0]["cost"]["total"].as_u64() > Some(0) && last["losses"][0].is_string(), "{last}");
        session.fields("example.com/v1", "Tab").expect("fields").places.borrow().work()
    }

    #[test]
    fn the_work_for_all_fields_grows_with_their_number() {
        let (few, many) = (work(100), work(400));
        assert!(many < 5 * few, "{few} {many}");
    }

    /// The work for all fields of all kinds of a definition with that many versions, each with a rule and a warning.
    fn work_of_versions(count: usize) -> usize {
        use std::fmt::Write;
        let mut versions = String::new();
        for at in 0..count {
            let _ = write!(
                versions,
                "{{name: v{at}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object, properties: {{own{at}: \
                 {{type: string, format: nothing, maxLength: 9, x-kubernetes-validations: [{{rule: self != 'a'}}]}}}}}}}}}}, ",
                at == 0
            );
        }
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             tabs.example.com}}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: \
             Tab}}\n  versions: [{versions}]"
        );
        let mut session = Session::default();
        session.set("tabs.yaml", text.as_bytes());
        let mut work = 0;
        for at in 0..count {
            let version = format!("example.com/v{at}");
            let all = session.all_fields(&version, "Tab");
            let path = format!(".own{at}");
            let own = all.as_array().and_then(|all| all.iter().find(|field| field["path"] == *path)).expect("a field");
            assert!(own["rules"][0]["cost"]["total"].as_u64() > Some(0), "{own}");
            assert!(own["said"][0]["code"].is_string(), "{own}");
            work += session.fields(&version, "Tab").expect("fields").places.borrow().work();
        }
        work
    }

    #[test]
    fn the_work_for_all_versions_grows_with_their_number() {
        let (few, many) = (work_of_versions(20), work_of_versions(80));
        assert!(many < 5 * few, "{few} {many}");
    }

    #[test]
    fn the_name_of_a_path_is_its_last_one() {
        assert_eq!([".a", ".a[].b", ".a{}.c", ".a[\"x.y\"]"].map(name), ["a", "b", "c", "x.y"]);
    }
}
