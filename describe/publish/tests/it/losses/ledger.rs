//! Compares source and result node by node.

use super::sources::Case;
use kubeshape_publish::Shape;
use kubeshape_schema::{Code, Flags, Note, Schema, Type};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const STANDARD: [(&str, Type); 3] = [("apiVersion", Type::String), ("kind", Type::String), ("metadata", Type::Object)];

/// Compares both published forms of a version with their ledgers.
pub(crate) fn check(case: &Case<'_, '_>) {
    for (shape, result) in [(Shape::V3, &case.v3), (Shape::V2, &case.v2)] {
        let notes = case.notes(shape);
        let mut walk = Walk { notes: &notes, used: vec![false; notes.len()], shape, faults: Vec::new() };
        if notes.iter().any(|note| note.code == Code::V2Root) {
            walk.any_object(case, result);
        } else {
            walk.node(case.schema, &case.source, result, true, "");
        }
        let unused = notes.iter().zip(&walk.used).filter(|(_, used)| !**used);
        let mut faults = walk.faults.clone();
        faults.extend(unused.map(|(note, _)| format!("nothing is lost, but noted: {} {}", note.code, note.detail)));
        assert!(
            faults.is_empty(),
            "{} {}:\n{}\nsource {}\nresult {}",
            case.label,
            shape.name(),
            faults.join("\n"),
            case.source,
            result
        );
    }
}

struct Walk<'n, 'a> {
    notes: &'n [Note<'a>],
    used: Vec<bool>,
    shape: Shape,
    faults: Vec<String>,
}

impl Walk<'_, '_> {
    /// Handles a lost schema: one note covers everything, and another one null.
    fn any_object(&mut self, case: &Case<'_, '_>, result: &Value) {
        self.used.iter_mut().for_each(|used| *used = true);
        let nullable = case.source["nullable"] == true;
        if self.notes.len() != 1 + usize::from(nullable)
            || result["type"] != "object"
            || result.get("properties").is_some()
        {
            self.faults.push(format!("{}: any object, but {} notes", case.label, self.notes.len()));
        }
    }

    /// Returns the keywords that notes at a location name, and marks the notes as used.
    fn noted(&mut self, at: u32) -> BTreeSet<String> {
        let mut keywords = BTreeSet::new();
        for (note, used) in self.notes.iter().zip(&mut self.used).filter(|(note, _)| note.at == at) {
            match note.code {
                Code::RootMetadata | Code::EmbeddedMetadata => continue,
                Code::V2RequiredNullable | Code::V2RequiredMap | Code::EmbeddedRequired => {
                    keywords.insert("required".to_owned());
                }
                // v3 adds this and v2 does not, so it is not a keyword of the source.
                Code::V2EmbeddedResource => {}
                _ => keywords.extend(note.detail.split(", ").map(str::to_owned)),
            }
            *used = true;
        }
        keywords
    }

    /// Marks everything within as lost: any note there is true.
    fn gone(&mut self, schema: &Schema<'_>) {
        for (note, used) in self.notes.iter().zip(&mut self.used) {
            *used |= note.at == schema.at;
        }
        schema.properties.iter().for_each(|p| self.gone(&p.schema));
        schema.item().into_iter().for_each(|item| self.gone(item));
        schema.additional_schema().into_iter().for_each(|inner| self.gone(inner));
    }

    fn node(&mut self, schema: &Schema<'_>, source: &Value, result: &Value, root: bool, path: &str) {
        let empty = Map::new();
        let source = source.as_object().unwrap_or(&empty);
        let result = result.as_object().unwrap_or(&empty);
        let embedded = schema.flags.any(Flags::EMBEDDED_RESOURCE);
        let completed = root || (embedded && !(self.shape == Shape::V2 && schema.flags.any(Flags::PRESERVE_UNKNOWN)));
        let mut lost = differing(source, result, completed);
        let mut noted = self.noted(schema.at);
        if completed && own_names(source).next().is_none() {
            // All properties are standard ones, which are always present.
            lost.remove("properties");
            noted.remove("properties");
        }
        if embedded && !lost.contains("required") && self.shape == Shape::V2 {
            // A nullable `kind` is removed from `required` and added again.
            noted.remove("required");
        }
        if lost != noted {
            self.faults.push(format!("{path}/: lost {lost:?}, noted {noted:?}"));
        }
        for property in schema.properties {
            let path = format!("{path}/properties/{}", property.name);
            let before = &source["properties"][property.name];
            let after = result.get("properties").and_then(|properties| properties.get(property.name));
            let standard = STANDARD.iter().find(|(name, _)| completed && *name == property.name);
            match (standard, after) {
                (Some((_, ty)), _) => {
                    self.replaced(&property.schema, before, *ty, &path);
                    self.gone(&property.schema);
                }
                (None, Some(after)) => self.node(&property.schema, before, after, false, &path),
                (None, None) => self.gone(&property.schema),
            }
        }
        let containers = [("items", schema.item()), ("additionalProperties", schema.additional_schema())];
        for (name, inner) in containers {
            let Some(inner) = inner else { continue };
            match result.get(name) {
                Some(after) => self.node(inner, &source[name], after, false, &format!("{path}/{name}")),
                None => self.gone(inner),
            }
        }
    }

    /// Checks a standard property. It is published in its own form; what the author wrote beyond it must be noted.
    fn replaced(&mut self, schema: &Schema<'_>, before: &Value, ty: Type, path: &str) {
        let mut said = before.as_object().cloned().unwrap_or_default();
        said.remove("description");
        let bare = said.is_empty() || (said.len() == 1 && said.get("type").is_some_and(|own| own == ty.name()));
        let is_noted = self
            .notes
            .iter()
            .any(|note| note.at == schema.at && matches!(note.code, Code::RootMetadata | Code::EmbeddedMetadata));
        // The reduction for v2 may have removed all of it, and noted that.
        let otherwise = self.notes.iter().any(|note| note.at == schema.at);
        if (!bare && !is_noted && !otherwise) || (bare && is_noted) {
            self.faults.push(format!("{path}: says {said:?}, noted: {is_noted}"));
        }
    }
}

/// Returns keywords that differ between the source and the result, and those that only the result has.
fn differing(source: &Map<String, Value>, result: &Map<String, Value>, completed: bool) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (keyword, value) in source {
        let same = match (keyword.as_str(), result.get(keyword)) {
            ("properties", Some(after)) => own_names(source).next().is_none_or(|name| after.get(name).is_some()),
            ("items", Some(_)) => true,
            ("additionalProperties", Some(after)) => value.is_object() == after.is_object(),
            (_, after) => after == Some(value),
        };
        if !same {
            out.insert(keyword.clone());
        }
    }
    let added = |keyword: &str| match keyword {
        "x-kubernetes-group-version-kind" | "x-kubernetes-selectable-fields" | "properties" => completed,
        _ => false,
    };
    out.extend(result.keys().filter(|keyword| !source.contains_key(*keyword) && !added(keyword)).cloned());
    out
}

/// Returns the names of the properties that are not standard ones.
fn own_names(source: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let properties = source.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).filter(|name| STANDARD.iter().all(|(standard, _)| standard != name))
}
