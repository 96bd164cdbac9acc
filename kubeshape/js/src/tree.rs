//! The fields of a kind as a tree.

use crate::definitions::Checked;
use crate::{copies, field, merge};
use kubeshape::Kind;
use kubeshape::schema::Bump;
use kubeshape_show::explain::{Field, fields};
use serde_json::{Value, json};

/// Longer defaults are not shown in the tree.
const LONGEST_DEFAULT: usize = 40;

/// The marks of fields in the tree, in the order of their bits.
const MARKS: [&str; 12] = [
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
];

/// The fields of a kind, parents first.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) fields: Vec<Field>,
    depths: Vec<usize>,
    /// The losses of OpenAPI v2 with their places in the definition, in order.
    losses: Vec<(String, String)>,
    /// Which fields have one.
    lossy: Vec<bool>,
    /// Which fields, or their items or values, have rules.
    ruled: Vec<bool>,
}

impl Tree {
    pub(crate) fn of(kind: &Kind) -> Result<Tree, String> {
        let arena = Bump::new();
        let resource = kind.resource_name();
        let Some(document) = kind.openapi(&arena) else {
            return Err(format!("{} has no OpenAPI document", kind.gvk()));
        };
        let fields = fields(document, kind.gvr(&resource), &[]).map_err(|error| error.to_string())?;
        let losses = kind.losses();
        let declared = field::declarations(kind);
        let found = |field: &Field| declared.get(&field.pointer);
        let is_lossy = |field| found(field).is_some_and(|(at, _)| !field::losses(at, &losses).is_empty());
        let lossy = fields.iter().map(is_lossy).collect();
        let ruled = fields.iter().map(|field| found(field).is_some_and(|(_, ruled)| *ruled)).collect();
        let depths = depths(&fields);
        Ok(Tree { fields, depths, losses, lossy, ruled })
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
        let is = |all: &[bool]| all.get(at).copied().unwrap_or_default();
        marks(field, is(&self.ruled), is(&self.lossy))
    }

    /// Everything about a field.
    pub(crate) fn field(&self, kind: &Kind, index: usize, checked: &[Checked]) -> Value {
        let Some(field) = self.fields.get(index) else { return json!({ "error": "there is no such field" }) };
        let declared = kind.declared(&field.pointer);
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
            "losses": declared.as_ref().map_or_else(Vec::new, |at| field::losses(&at.pointer(), &self.losses)),
            "declared": declared.as_ref().map(|declared| json!({
                "pointer": declared.pointer(),
                "input": &**declared.input(),
                "line": place.map(|place| place.line),
                "column": place.map(|place| place.column),
            })),
            "copies": copies::of(&field.path),
            "rules": field::rules(kind, &field.pointer, checked),
            "said": field::said(kind, declared.as_ref(), checked),
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
fn marks(field: &Field, has_rules: bool, is_lossy: bool) -> u32 {
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
    ];
    all.iter().enumerate().map(|(bit, is_set)| u32::from(*is_set) << bit).sum()
}

/// The default, if it is short.
fn default(field: &Field) -> Option<&str> {
    fact(field, "default").filter(|text| text.len() <= LONGEST_DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn the_name_of_a_path_is_its_last_one() {
        assert_eq!([".a", ".a[].b", ".a{}.c", ".a[\"x.y\"]"].map(name), ["a", "b", "c", "x.y"]);
    }
}
