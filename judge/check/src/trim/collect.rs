//! The texts of a definition.

use super::embedded::{Package, package};
use super::{What, size};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;
use std::ops::Range;

/// The keys of texts.
const KEYS: [&str; 4] = ["description", "title", "example", "externalDocs"];

/// A text of a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'n> {
    /// The schema.
    pub(super) schema: Node<'n>,
    pub(super) key: Node<'n>,
    pub(super) value: Node<'n>,
    pub(super) what: What,
    /// The number of fields around it.
    pub(super) depth: usize,
    /// The outermost copied type of Kubernetes around it.
    pub(super) inside: Option<Package>,
    /// Whether it is in the version that is stored.
    pub(super) is_stored: bool,
    /// Whether the schema has the key once. Of a duplicate key, this is the last one, which a server uses.
    pub(super) is_only: bool,
}

/// Returns the schemas of an object's versions, and whether a version is the stored one.
pub(super) fn schemas(object: Node<'_>) -> impl Iterator<Item = (Node<'_>, bool)> {
    let spec = object.get("spec");
    let whole = spec.and_then(|spec| spec.get("validation")?.get("openAPIV3Schema")).map(|schema| (schema, true));
    let versions = spec.and_then(|spec| spec.get("versions")).into_iter().flat_map(Node::items);
    whole.into_iter().chain(versions.filter_map(|version| {
        let is_true = |key| version.get(key).and_then(Node::as_bool) == Some(true);
        let schema = version.get("schema")?.get("openAPIV3Schema")?;
        Some((schema, is_true("storage") || is_true("referenceable")))
    }))
}

/// Returns the texts of an object's schemas, in the order of the document. An entry has one text,
/// and the same text of each version with an equal schema. A schema has at most one text of each kind. The reader
/// bounds the nesting.
///
/// Equal schemas must stay equal: a server that decodes a definition keeps what all versions have in common once, and
/// refuses selectable fields that versions have in common if their schemas differ.
pub(super) fn texts(object: Node<'_>) -> Vec<Vec<Text<'_>>> {
    let mut out: Vec<Vec<Text<'_>>> = Vec::new();
    let mut known: BTreeMap<Vec<u8>, Range<usize>> = BTreeMap::new();
    for (schema, is_stored) in schemas(object) {
        let walk = Walk { depth: 0, inside: None, is_stored };
        let mut texts = Vec::new();
        walk.schema(schema, &mut texts);
        let same = known.entry(size::json(schema)).or_insert(out.len()..out.len());
        if same.len() == texts.len() && !texts.is_empty() {
            let twins = out.get_mut(same.clone()).unwrap_or_default();
            twins.iter_mut().zip(texts).for_each(|(twins, text)| twins.push(text));
        } else {
            out.extend(texts.into_iter().map(|text| vec![text]));
            *same = same.start..out.len();
        }
    }
    out
}

#[derive(Clone, Copy)]
struct Walk {
    depth: usize,
    inside: Option<Package>,
    is_stored: bool,
}

impl Walk {
    fn schema<'n>(self, schema: Node<'n>, out: &mut Vec<Text<'n>>) {
        if schema.kind() != Kind::Map {
            return;
        }
        let below = Walk { inside: self.inside.or_else(|| package(schema)), ..self };
        let field = Walk { depth: self.depth + 1, ..below };
        // By key: the number of its last member, and how many there are.
        let mut members: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (at, (key, _)) in schema.pairs().enumerate().filter(|(_, (key, _))| KEYS.contains(&key.text())) {
            let (last, times) = members.entry(key.text()).or_default();
            (*last, *times) = (at, *times + 1);
        }
        for (at, (key, value)) in schema.pairs().enumerate() {
            let what = match (key.text(), value.kind()) {
                ("description", Kind::Str) => What::Description,
                ("title", Kind::Str) => What::Title,
                ("example", _) => What::Example,
                ("externalDocs", Kind::Map) => What::Link,
                ("properties" | "patternProperties" | "definitions", Kind::Map) => {
                    value.pairs().for_each(|(_, schema)| field.schema(schema, out));
                    continue;
                }
                ("additionalProperties", Kind::Map) => {
                    field.schema(value, out);
                    continue;
                }
                ("items" | "additionalItems" | "not", Kind::Map) => {
                    below.schema(value, out);
                    continue;
                }
                ("allOf" | "anyOf" | "oneOf" | "items", Kind::Seq) => {
                    value.items().for_each(|schema| below.schema(schema, out));
                    continue;
                }
                _ => continue,
            };
            let Some((last, times)) = members.get(key.text()) else { continue };
            if *last != at {
                continue;
            }
            // A text of a copied type itself says what the field is for.
            let Walk { depth, inside, is_stored } = self;
            out.push(Text { schema, key, value, what, depth, inside, is_stored, is_only: *times == 1 });
        }
    }
}
