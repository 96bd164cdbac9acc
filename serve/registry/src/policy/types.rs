//! The types for checking expressions of policies: `cel/openapi/resolver` and `SchemaDeclType` of `k8s.io/apiserver`.

use crate::kind::Kind;
use kubeshape_policy::{CelType, DeclType, escape};
use kubeshape_yaml::Node;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of schemas of a kind after all references are replaced.
const MAX_SCHEMAS: usize = 200_000;
/// The maximum nesting of schemas.
const MAX_DEPTH: usize = 128;

/// Returns the declared type of a kind. `metadata` is used for objects whose own schema does not have it.
pub(crate) fn declared(kind: &Kind, metadata: Option<&Arc<DeclType>>) -> Option<Arc<DeclType>> {
    let root = kind.definition().location().node();
    let node = root.document().node(kind.schema?);
    let mut walk = Walk { root, references: Vec::new(), left: MAX_SCHEMAS, metadata };
    let declared = walk.declare(node, 0)?;
    let is_custom = kind.version().is_some();
    if is_custom { walk.with_metadata(&declared) } else { Some(declared) }
}

struct Walk<'s> {
    root: Node<'s>,
    /// The references on the way to the current schema.
    references: Vec<&'s str>,
    left: usize,
    metadata: Option<&'s Arc<DeclType>>,
}

impl<'s> Walk<'s> {
    /// Returns an object type with the members that all resources have.
    fn with_metadata(&self, declared: &DeclType) -> Option<Arc<DeclType>> {
        let mut fields = declared.fields()?.clone();
        let text = || Arc::new(DeclType::scalar_of(CelType::String));
        fields.insert("apiVersion".to_owned(), text());
        fields.insert("kind".to_owned(), text());
        if let Some(metadata) = self.metadata {
            fields.insert("metadata".to_owned(), metadata.clone());
        }
        Some(Arc::new(DeclType::object_of(fields)))
    }

    fn declare(&mut self, node: Node<'s>, depth: usize) -> Option<Arc<DeclType>> {
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let only = node.get("allOf").and_then(|all| all.items().next());
        let reference = node.get("$ref").or_else(|| only?.get("$ref")).and_then(Node::as_str);
        if let Some(name) = reference.and_then(|reference| reference.rsplit('/').next()) {
            if self.references.contains(&name) {
                return Some(Arc::new(DeclType::object_of(BTreeMap::new())));
            }
            let schemas = self.root.get("definitions").or_else(|| self.root.get("components")?.get("schemas"));
            let target = schemas?.get(name)?;
            self.references.push(name);
            let declared = self.declare(target, depth + 1);
            self.references.pop();
            return declared;
        }
        self.make(node, depth)
    }

    fn make(&mut self, node: Node<'s>, depth: usize) -> Option<Arc<DeclType>> {
        let is = |key: &str| node.get(key).and_then(Node::as_bool) == Some(true);
        let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
        if is("x-kubernetes-int-or-string") || text("format") == "int-or-string" {
            return Some(Arc::new(DeclType::scalar_of(CelType::Dyn)));
        }
        let scalar = match (text("type"), text("format")) {
            ("array", _) => {
                let items = self.declare(node.get("items")?, depth + 1)?;
                return Some(Arc::new(DeclType::list_of(items)));
            }
            ("object", _) => return self.object(node, depth),
            ("string", "byte") => CelType::Bytes,
            ("string", "duration") => CelType::Duration,
            ("string", "date" | "date-time") => CelType::Timestamp,
            ("string", _) => CelType::String,
            ("boolean", _) => CelType::Bool,
            ("number", _) => CelType::Double,
            ("integer", _) => CelType::Int,
            _ => return None,
        };
        Some(Arc::new(DeclType::scalar_of(scalar)))
    }

    fn object(&mut self, node: Node<'s>, depth: usize) -> Option<Arc<DeclType>> {
        if let Some(values) = node.get("additionalProperties").filter(|values| values.as_bool().is_none()) {
            let values = self.declare(values, depth + 1)?;
            return Some(Arc::new(DeclType::map_of(values)));
        }
        let mut fields = BTreeMap::new();
        for (name, schema) in node.get("properties").into_iter().flat_map(Node::pairs) {
            if let (Some(name), Some(declared)) = (escape(name.text()), self.declare(schema, depth + 1)) {
                fields.insert(name.into_owned(), declared);
            }
        }
        let declared = DeclType::object_of(fields);
        let is_embedded = node.get("x-kubernetes-embedded-resource").and_then(Node::as_bool) == Some(true);
        if is_embedded { self.with_metadata(&declared) } else { Some(Arc::new(declared)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_builtin::BuiltInDocuments;
    use kubeshape_cel::RuleEnv;
    use kubeshape_input::Limits;
    use kubeshape_validate::builtin::Constraints;

    #[test]
    fn the_rules_of_built_in_kinds_have_the_types_of_their_schemas() {
        let mut checked = 0;
        for documents in [BuiltInDocuments::all().next().expect("documents"), BuiltInDocuments::newest()] {
            let release = documents.release();
            let constraints = Constraints::new(release);
            for (path, text) in documents.api().openapi_v3_of(|path| path.starts_with("api")) {
                let read = |text: &str| kubeshape_input::read(path, text.as_bytes(), Limits::default()).documents;
                let Some(published) = read(&text).first().and_then(|document| constraints.add(document.root())) else {
                    continue;
                };
                let published = read(&published.document);
                let root = published[0].root();
                let schemas = root.get("components").and_then(|components| components.get("schemas"));
                for (name, schema) in schemas.into_iter().flat_map(Node::pairs) {
                    let rules = schema.get("x-kubernetes-validations").into_iter().flat_map(Node::items);
                    let rules: Vec<&str> = rules.filter_map(|rule| rule.get("rule")?.as_str()).collect();
                    if rules.is_empty() {
                        continue;
                    }
                    let mut walk = Walk { root, references: Vec::new(), left: MAX_SCHEMAS, metadata: None };
                    let declared = walk.declare(schema, 0).expect("a type");
                    let env = RuleEnv::of_type(&declared, release, "selfType");
                    for rule in rules {
                        let error = env.rule(rule, false).err().map(|error| error.to_string());
                        assert_eq!(error, None, "{release} {}: {rule}", name.text());
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 200, "{checked} rules");
    }
}
