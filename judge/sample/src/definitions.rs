//! The definitions of an OpenAPI document, read on demand.

use kubeshape_schema::json::Json;
use kubeshape_schema::read::{Language, Reader, Rules};
use kubeshape_schema::{Additional, Bump, Items, Profile, Schema};
use kubeshape_validate::typed::{Special, is_go_type};
use kubeshape_value::Value;
use kubeshape_yaml::Node;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of definitions that describe one value through references.
const MAX_REFERENCES: usize = 64;
/// The maximum nesting of structs that are searched for required fields.
const MAX_STRUCTS: usize = 32;

/// Definitions by name.
pub(super) struct Definitions<'a> {
    arena: &'a Bump,
    nodes: BTreeMap<&'a str, Node<'a>>,
    read: RefCell<BTreeMap<&'a str, Found<'a>>>,
    /// Whether a value of the definition needs fields; `false` while that is being computed.
    needs: RefCell<BTreeMap<&'a str, bool>>,
}

#[derive(Clone, Copy)]
struct Found<'a> {
    schema: &'a Schema<'a>,
    is_go: bool,
}

/// Schemas without references.
pub(super) struct Resolved<'a> {
    /// The schemas, including those of `allOf` and of references.
    pub(super) schemas: Vec<&'a Schema<'a>>,
    /// The definitions among them.
    pub(super) names: Vec<&'a str>,
    /// The value, if the type has its own JSON decoder.
    pub(super) special: Option<Value<'a>>,
}

impl<'a> Definitions<'a> {
    /// Returns the definitions of a v2 or v3 document; `None` if it has none.
    pub(super) fn new(root: Node<'a>, arena: &'a Bump) -> Option<Definitions<'a>> {
        let schemas = root.get("definitions").or_else(|| root.get("components")?.get("schemas"))?;
        let nodes = schemas.pairs().map(|(name, schema)| (name.text(), schema)).collect();
        Some(Definitions { arena, nodes, read: RefCell::default(), needs: RefCell::default() })
    }

    /// Returns the name of a definition, borrowed from the document, and its schema.
    pub(super) fn get(&self, name: &str) -> Option<(&'a str, &'a Schema<'a>)> {
        self.find(name).map(|(name, found)| (name, found.schema))
    }

    fn find(&self, name: &str) -> Option<(&'a str, Found<'a>)> {
        let (name, node) = self.nodes.get_key_value(name).map(|(name, node)| (*name, *node))?;
        if let Some(found) = self.read.borrow().get(name) {
            return Some((name, *found));
        }
        let reader = Reader::new(self.arena, Rules::Document(Profile::Kube));
        let schema = reader.in_language(Language::of(node)).schema(node);
        let found = Found { schema: self.arena.alloc(schema), is_go: is_go_type(name, node) };
        self.read.borrow_mut().insert(name, found);
        Some((name, found))
    }

    fn referred(&self, schema: &Schema<'a>) -> Option<(&'a str, Found<'a>)> {
        self.find(schema.reference.rsplit_once('/')?.1)
    }

    /// Follows the references of schemas that describe one value.
    pub(super) fn resolve(&self, schemas: &[&'a Schema<'a>]) -> Resolved<'a> {
        let mut out = Resolved { schemas: schemas.to_vec(), names: Vec::new(), special: None };
        let mut seen = BTreeSet::new();
        let mut at = 0;
        while let Some(schema) = out.schemas.get(at).copied() {
            at += 1;
            // Schemas in `allOf` are added later; only their references are followed here.
            let all_of = schema.extra().all_of.iter();
            for (name, found) in std::iter::once(schema).chain(all_of).filter_map(|schema| self.referred(schema)) {
                if out.names.len() == MAX_REFERENCES || !seen.insert(name) {
                    continue;
                }
                out.names.push(name);
                out.schemas.push(found.schema);
                out.special = out.special.or(Special::of_definition(name).map(|special| match special {
                    Special::Quantity => Value::String("1"),
                    Special::IntOrString => Value::Int(1),
                    Special::MicroTime => Value::String("2000-01-01T00:00:00.000000Z"),
                    Special::Time => Value::String("2000-01-01T00:00:00Z"),
                }));
            }
        }
        out
    }

    /// Returns whether a value of these schemas, or its items, are of a definition that is being built.
    pub(super) fn lead_to(&self, schemas: &[&'a Schema<'a>], open: &[&'a str]) -> bool {
        let mut all: Vec<&'a Schema<'a>> = schemas.to_vec();
        let mut at = 0;
        while let Some(schema) = all.get(at).copied() {
            at += 1;
            if let Some(Items::One(items)) = schema.items {
                all.push(items);
            }
            if let Some(Additional::Schema(others)) = schema.additional {
                all.push(others);
            }
            all.extend(schema.extra().all_of);
            if self.referred(schema).is_some_and(|(name, _)| open.contains(&name)) {
                return true;
            }
        }
        false
    }

    /// Returns whether an object must have a field: it is required and has no default; or it is a struct in Go, which
    /// always exists, and one of its fields is required.
    pub(super) fn is_needed(&self, name: &str, schemas: &[&'a Schema<'a>], required: &BTreeSet<&str>) -> bool {
        self.is_needed_within(name, schemas, required, MAX_STRUCTS)
    }

    fn is_needed_within(
        &self,
        name: &str,
        schemas: &[&'a Schema<'a>],
        required: &BTreeSet<&str>,
        structs: usize,
    ) -> bool {
        let defaults = || schemas.iter().filter_map(|schema| schema.default);
        if required.contains(name) && defaults().all(is_zero) {
            return true;
        }
        // Documents of v2 have no defaults.
        let is_struct = name == "spec" || defaults().any(|default| matches!(default, Json::Object([])));
        is_struct && self.resolve(schemas).names.iter().any(|name| self.needs(name, structs))
    }

    /// Returns whether a value of the definition needs fields.
    fn needs(&self, name: &'a str, structs: usize) -> bool {
        let Some(structs) = structs.checked_sub(1) else { return false };
        if let Some(known) = self.needs.borrow().get(name) {
            return *known;
        }
        self.needs.borrow_mut().insert(name, false);
        let Some((_, found)) = self.find(name).filter(|(_, found)| found.is_go) else { return false };
        let required: BTreeSet<&str> = found.schema.required.iter().copied().collect();
        let mut properties = found.schema.properties.iter().filter(|property| property.name != "status");
        let needs =
            properties.any(|property| self.is_needed_within(property.name, &[&property.schema], &required, structs));
        self.needs.borrow_mut().insert(name, needs);
        needs
    }
}

/// Returns whether this is Go's zero value.
fn is_zero(json: &Json<'_>) -> bool {
    match json {
        Json::Null | Json::Bool(false) | Json::Int(0) | Json::Str("") | Json::Array([]) | Json::Object([]) => true,
        Json::Float(n) => *n == 0.0,
        _ => false,
    }
}
