//! What kro makes of a ResourceGraphDefinition (`pkg/graph/crd` of kro 0.9).

use super::plural::plural;
use super::simple::{self, Schema};
use super::{Write, Wrong, facts, member, member_of, required};
use kubeshape_yaml::{Addition, Kind, Node};
use std::collections::BTreeMap;

const FACTS: &str = include_str!("kro.yaml");
/// The group of instances if the definition names none.
const GROUP: &str = "kro.run";
/// The deepest nesting of status fields.
const DEPTH: usize = 64;

/// Writes the definition of the instances (`SynthesizeCRD`). Returns a remark if types are unknown.
pub(super) fn graph<'n>(object: Node<'n>, out: &mut Addition<'n>, roots: &mut Vec<u32>) -> Result<Vec<String>, Wrong> {
    let spec = member_of(object, "spec", Kind::Map)?.unwrap_or(object);
    let Some(schema) = member_of(spec, "schema", Kind::Map)? else { return Err(Wrong::new(spec, "schema is missing")) };
    let (kind, version) = (required(schema, "kind")?, required(schema, "apiVersion")?);
    let group = member_of(schema, "group", Kind::Str)?.map(Node::text).filter(|group| !group.is_empty());
    let group = group.unwrap_or(GROUP);
    let types = member_of(schema, "types", Kind::Map)?;
    let fields = simple::read(member_of(schema, "spec", Kind::Map)?, types, schema)?;
    let mut status = Status { fields: &fields, unknown: 0 };
    let known = member_of(schema, "status", Kind::Map)?.map(|written| status.fields(written, 0)).transpose()?;
    let known = known.unwrap_or_else(|| Schema::object(BTreeMap::new(), schema));
    let singular = kind.to_lowercase();
    let plural = plural(&singular);
    roots.push(out.position());
    out.map();
    out.head();
    out.string("metadata");
    out.map();
    out.text_member("name", &format!("{plural}.{group}"));
    let metadata = member_of(schema, "metadata", Kind::Map)?;
    for key in ["labels", "annotations"] {
        out.copy_member(key, metadata.and_then(|metadata| member(metadata, key)));
    }
    out.end();
    out.string("spec");
    out.map();
    out.text_member("group", group);
    let is_cluster = member_of(schema, "scope", Kind::Str)?.is_some_and(|scope| scope.text() == "Cluster");
    out.text_member("scope", if is_cluster { "Cluster" } else { "Namespaced" });
    out.string("names");
    out.map();
    out.text_member("kind", kind);
    out.text_member("listKind", &format!("{kind}List"));
    out.text_member("plural", &plural);
    out.text_member("singular", &singular);
    for key in ["shortNames", "categories"] {
        out.copy_member(key, member(schema, key));
    }
    out.end();
    out.string("versions");
    out.list();
    out.map();
    out.text_member("name", version);
    out.bool_member("served", true);
    out.bool_member("storage", true);
    out.string("subresources");
    out.map();
    out.string("status");
    out.map();
    out.end();
    out.end();
    let columns = member_of(schema, "additionalPrinterColumns", Kind::Seq)?.filter(|columns| !columns.is_empty());
    facts(FACTS, |facts| {
        if columns.is_none() {
            out.string("additionalPrinterColumns");
            facts.get("columns").into_iter().for_each(|columns| out.import(columns));
        }
        out.string("schema");
        out.map();
        out.string("openAPIV3Schema");
        out.map();
        out.text_member("type", "object");
        out.string("properties");
        out.map();
        out.type_member("apiVersion", "string");
        out.type_member("kind", "string");
        out.type_member("metadata", "object");
        out.string("spec");
        fields.write(out);
        out.string("status");
        known.begin(out, true);
        let own = facts.get("status").into_iter().flat_map(Node::pairs);
        for (key, value) in own.filter(|(key, _)| known.property(key.text()).is_none()) {
            out.string(key.text());
            out.import(value);
        }
        (0..5).for_each(|_| out.end());
    });
    out.at(object.span());
    out.copy_member("additionalPrinterColumns", columns);
    (0..4).for_each(|_| out.end());
    let unknown = status.unknown;
    let fields = if unknown == 1 { "field of the status accepts" } else { "fields of the status accept" };
    let lost = format!("{unknown} {fields} any value, because kro infers the type from resources of the cluster");
    Ok(if unknown == 0 { Vec::new() } else { vec![lost] })
}

/// Reads the fields of a status, whose values are expressions.
struct Status<'s> {
    /// The fields of the specification, which expressions name.
    fields: &'s Schema,
    /// The number of fields whose type is unknown.
    unknown: usize,
}

impl Status<'_> {
    fn fields(&mut self, node: Node<'_>, depth: usize) -> Result<Schema, Wrong> {
        if depth > DEPTH {
            return Err(Wrong::new(node, format!("fields of the status are nested more than {DEPTH} deep")));
        }
        let mut properties = BTreeMap::new();
        // The author's `conditions` have the type of kro's own.
        for (key, value) in node.pairs().filter(|(key, _)| depth > 0 || key.text() != "conditions") {
            properties.insert(key.text().to_owned(), self.value(value, depth)?);
        }
        Ok(Schema::object(properties, node))
    }

    fn value(&mut self, value: Node<'_>, depth: usize) -> Result<Schema, Wrong> {
        match value.kind() {
            Kind::Map => self.fields(value, depth + 1),
            Kind::Seq => {
                if depth > DEPTH {
                    return Err(Wrong::new(value, format!("fields of the status are nested more than {DEPTH} deep")));
                }
                let first = value.items().next().map(|item| self.value(item, depth + 1)).transpose()?;
                Ok(Schema::list(first.unwrap_or_else(|| Schema::any(value)), value))
            }
            _ => Ok(self.expression(value)),
        }
    }

    /// Returns the schema of an expression: that of the field that it names, or a string if text is around it.
    fn expression(&mut self, value: Node<'_>) -> Schema {
        let text = value.text();
        let inner = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
        let Some(inner) = inner.filter(|inner| !inner.contains("${")) else {
            return Schema::of_type("string", value);
        };
        let mut steps = inner.trim().split('.');
        let mut found = ((steps.next(), steps.next()) == (Some("schema"), Some("spec"))).then_some(self.fields);
        for step in steps {
            found = found.and_then(|schema| schema.property(step));
        }
        if let Some(schema) = found {
            return schema.types();
        }
        self.unknown += 1;
        Schema::any(value)
    }
}
