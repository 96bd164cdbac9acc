//! What Crossplane makes of its definitions (`pkg/xcrd` of crossplane-runtime 2.4).

use super::{Write, Wrong, facts, member, member_of, name_of, required, text};
use kubeshape_yaml::{Addition, Kind, Node};
use std::collections::BTreeSet;

const FACTS: &str = include_str!("crossplane.yaml");
/// The longest name of a composite resource or claim, which is used as the value of a label.
const LONGEST_NAME: i64 = 63;
/// The keywords of the schemas of `spec` and `status` that Crossplane copies.
const COPIED: [&str; 6] = [
    "required",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
    "oneOf",
    "description",
    "properties",
];
/// The members of a version of a managed resource.
const OF_VERSION: [&str; 9] = [
    "name",
    "served",
    "storage",
    "deprecated",
    "deprecationWarning",
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
];

/// The composite resource, or its claim.
#[derive(Clone, Copy)]
struct Side<'n> {
    names: Node<'n>,
    category: &'static str,
    scope: &'static str,
    /// Members of the facts: of `spec`, of `status`, and the columns.
    spec: &'static str,
    status: &'static str,
    columns: &'static str,
    /// Whether the members of `spec` are those of `spec.crossplane`.
    is_nested: bool,
    /// A member that gets a default.
    default: (&'static str, &'n str),
}

/// Writes the definitions of a composite resource and its claim (`ForCompositeResource`,
/// `ForCompositeResourceClaim`). Returns what the schemas lose.
pub(super) fn composite<'n>(
    object: Node<'n>,
    out: &mut Addition<'n>,
    roots: &mut Vec<u32>,
) -> Result<Vec<String>, Wrong> {
    let spec = member_of(object, "spec", Kind::Map)?.unwrap_or(object);
    let is_old = text(object, "apiVersion").ends_with("/v1");
    let written = member_of(spec, "scope", Kind::Str)?;
    let scope = written.map_or(if is_old { "LegacyCluster" } else { "Namespaced" }, Node::text);
    let is_legacy = scope == "LegacyCluster";
    let scope = match scope {
        "Namespaced" => "Namespaced",
        "Cluster" | "LegacyCluster" => "Cluster",
        other => {
            let detail = format!("scope must be LegacyCluster, Namespaced or Cluster, found {other:?}");
            return Err(Wrong::new(written.unwrap_or(spec), detail));
        }
    };
    let policy = |key: &str, default| Ok(member_of(spec, key, Kind::Str)?.map_or(default, Node::text));
    let update = policy("defaultCompositionUpdatePolicy", "Automatic")?;
    let Some(names) = member_of(spec, "names", Kind::Map)? else { return Err(Wrong::new(spec, "names is missing")) };
    let side = Side {
        names,
        category: "composite",
        scope,
        spec: if is_legacy { "LegacyCluster" } else { scope },
        status: if is_legacy { "legacyStatus" } else { "status" },
        columns: if is_legacy { "legacyColumns" } else { "columns" },
        is_nested: !is_legacy,
        default: ("compositionUpdatePolicy", update),
    };
    let mut sides = vec![(name_of(object).to_owned(), side)];
    if let Some(claim) = member_of(spec, "claimNames", Kind::Map)? {
        if !is_legacy {
            return Err(Wrong::new(claim, "Only LegacyCluster composite resources can offer claims"));
        }
        for (key, may_be_empty) in [("kind", false), ("plural", false), ("singular", true), ("listKind", true)] {
            let name = text(claim, key);
            if name == text(names, key) && !(may_be_empty && name.is_empty()) {
                let detail = format!("invalid resource claim names: {name:?} conflicts with composite resource name");
                return Err(Wrong::new(claim.get(key).unwrap_or(claim), detail));
            }
        }
        let delete = policy("defaultCompositeDeletePolicy", "Background")?;
        let side = Side {
            names: claim,
            category: "claim",
            scope: "Namespaced",
            spec: "claim",
            status: "legacyStatus",
            columns: "claimColumns",
            is_nested: false,
            default: ("compositeDeletePolicy", delete),
        };
        sides.push((format!("{}.{}", text(claim, "plural"), text(spec, "group")), side));
    }
    let mut lost = Vec::new();
    for (name, side) in sides {
        roots.push(out.position());
        let written = facts(FACTS, |facts| side.definition((object, spec), &name, facts, out, &mut lost));
        written.transpose()?;
    }
    lost.sort_unstable();
    lost.dedup();
    Ok(lost)
}

impl<'n> Side<'n> {
    fn definition(
        self,
        (object, spec): (Node<'n>, Node<'n>),
        name: &str,
        facts: Node<'_>,
        out: &mut Addition<'n>,
        lost: &mut Vec<String>,
    ) -> Result<(), Wrong> {
        required(spec, "group")?;
        out.map();
        out.head();
        metadata((object, spec), name, out);
        out.string("spec");
        out.map();
        out.copy_member("group", member(spec, "group"));
        out.text_member("scope", self.scope);
        names(self.names, Some(self.category), out);
        out.copy_member("conversion", member(spec, "conversion"));
        out.string("versions");
        out.list();
        for version in member_of(spec, "versions", Kind::Seq)?.into_iter().flat_map(Node::items) {
            self.version(version, facts, out, lost)?;
        }
        out.end();
        out.end();
        out.end();
        Ok(())
    }

    fn version(
        self,
        version: Node<'n>,
        facts: Node<'_>,
        out: &mut Addition<'n>,
        lost: &mut Vec<String>,
    ) -> Result<(), Wrong> {
        let Some(schema) = member_of(version, "schema", Kind::Map)? else {
            return Err(Wrong::new(version, "custom resource validation cannot be nil: schema is missing"));
        };
        let Some(schema) = member_of(schema, "openAPIV3Schema", Kind::Map)? else {
            return Err(Wrong::new(schema, "cannot parse validation schema: openAPIV3Schema is missing"));
        };
        out.map();
        for key in ["name", "served", "deprecated", "deprecationWarning"] {
            out.copy_member(key, member(version, key));
        }
        out.copy_member("storage", member(version, "referenceable"));
        out.string("additionalPrinterColumns");
        out.list();
        let own = member_of(version, "additionalPrinterColumns", Kind::Seq)?;
        own.into_iter().flat_map(Node::items).for_each(|column| out.copy(column));
        facts.get(self.columns).into_iter().flat_map(Node::items).for_each(|column| out.import(column));
        out.end();
        out.string("subresources");
        out.map();
        out.string("status");
        out.map();
        out.end();
        out.copy_member("scale", member(version, "subresources").and_then(|all| member(all, "scale")));
        out.end();
        out.string("schema");
        out.map();
        out.string("openAPIV3Schema");
        self.schema(schema, facts, out, lost)?;
        out.end();
        out.end();
        Ok(())
    }

    fn schema(
        self,
        schema: Node<'n>,
        facts: Node<'_>,
        out: &mut Addition<'n>,
        lost: &mut Vec<String>,
    ) -> Result<(), Wrong> {
        let inner = |schema: Node<'n>, key: &str| -> Result<Option<Node<'n>>, Wrong> {
            match member_of(schema, "properties", Kind::Map)? {
                Some(properties) => member_of(properties, key, Kind::Map),
                None => Ok(None),
            }
        };
        let name = match inner(schema, "metadata")? {
            Some(metadata) => inner(metadata, "name")?,
            None => None,
        };
        let name = name.and_then(|name| name.get("maxLength")?.text().parse().ok());
        out.map();
        out.text_member("type", "object");
        out.string("required");
        out.list();
        out.string("spec");
        out.end();
        for key in ["description", "x-kubernetes-validations"] {
            out.copy_member(key, member(schema, key));
        }
        out.string("properties");
        out.map();
        out.type_member("apiVersion", "string");
        out.type_member("kind", "string");
        out.string("metadata");
        out.map();
        out.text_member("type", "object");
        out.string("properties");
        out.map();
        out.string("name");
        out.map();
        out.text_member("type", "string");
        out.string("maxLength");
        out.int(name.map_or(LONGEST_NAME, |name: i64| name.min(LONGEST_NAME)));
        out.end();
        out.end();
        out.end();
        self.part("spec", inner(schema, "spec")?, facts.get(self.spec), out, lost)?;
        self.part("status", inner(schema, "status")?, facts.get(self.status), out, lost)?;
        out.end();
        out.end();
        Ok(())
    }

    /// Writes `spec` or `status`: what Crossplane copies, and its own properties, which replace copied ones.
    fn part(
        self,
        name: &str,
        schema: Option<Node<'n>>,
        own: Option<Node<'_>>,
        out: &mut Addition<'n>,
        lost: &mut Vec<String>,
    ) -> Result<(), Wrong> {
        let is_spec = name == "spec";
        let is_kept = |key: &str| is_spec || key != "x-kubernetes-preserve-unknown-fields";
        let is_copied = |key: &str| COPIED.contains(&key) && is_kept(key);
        out.string(name);
        out.map();
        out.text_member("type", "object");
        let mut given = None;
        if let Some(schema) = schema {
            for key in COPIED.into_iter().filter(|key| is_kept(key) && *key != "properties") {
                out.copy_member(key, member(schema, key));
            }
            given = member_of(schema, "properties", Kind::Map)?;
            let others = schema.pairs().map(|(key, _)| key.text());
            let others = others.filter(|key| *key != "type" && !is_copied(key));
            lost.extend(others.map(|key| format!("Crossplane drops {key} of {name}")));
        }
        let is_nested = self.is_nested && is_spec;
        let is_own = |key: &str| {
            if is_nested { key == "crossplane" } else { own.is_some_and(|own| own.get(key).is_some()) }
        };
        out.string("properties");
        out.map();
        for (key, value) in given.into_iter().flat_map(Node::pairs).filter(|(key, _)| !is_own(key.text())) {
            out.copy(key);
            out.copy(value);
        }
        if is_nested {
            out.string("crossplane");
            out.map();
            out.text_member("type", "object");
            out.text_member("description", "Configures how Crossplane will reconcile this composite resource");
            out.string("properties");
            out.map();
        }
        for (key, value) in own.into_iter().flat_map(Node::pairs) {
            out.string(key.text());
            let (with_default, default) = self.default;
            if key.text() != with_default {
                out.import(value);
                continue;
            }
            out.map();
            for (key, value) in value.pairs() {
                out.string(key.text());
                out.import(value);
            }
            out.text_member("default", default);
            out.end();
        }
        if is_nested {
            out.end();
            out.end();
        }
        out.end();
        out.end();
        Ok(())
    }
}

/// Writes `metadata`: labels of the definition, and what its `spec.metadata` adds. The owner, which has a uid, is left
/// out.
fn metadata<'n>((object, spec): (Node<'n>, Node<'n>), name: &str, out: &mut Addition<'n>) {
    let given = member(spec, "metadata");
    let labels = |node: Option<Node<'n>>| node.and_then(|node| member(node, "labels"));
    let (inherited, added) = (labels(member(object, "metadata")), labels(given));
    out.string("metadata");
    out.map();
    out.text_member("name", name);
    if inherited.or(added).is_some() {
        out.string("labels");
        out.map();
        let pairs = |labels: Option<Node<'n>>| labels.into_iter().flat_map(Node::pairs);
        let replaced: BTreeSet<&str> = pairs(added).map(|(key, _)| key.text()).collect();
        let inherited = pairs(inherited).filter(|(key, _)| !replaced.contains(key.text()));
        for (key, value) in inherited.chain(pairs(added)) {
            out.copy(key);
            out.copy(value);
        }
        out.end();
    }
    out.copy_member("annotations", given.and_then(|given| member(given, "annotations")));
    out.end();
}

/// Writes `names`, with one more category.
fn names<'n>(names: Node<'n>, category: Option<&str>, out: &mut Addition<'n>) {
    out.string("names");
    out.map();
    for (key, value) in names.pairs().filter(|(key, _)| key.text() != "categories" || category.is_none()) {
        out.copy(key);
        out.copy(value);
    }
    if let Some(category) = category {
        out.string("categories");
        out.list();
        names.get("categories").into_iter().flat_map(Node::items).for_each(|known| out.copy(known));
        out.string(category);
        out.end();
    }
    out.end();
}

/// Writes the definition of a managed resource (`CRDAsUnstructured`).
pub(super) fn managed<'n>(
    object: Node<'n>,
    out: &mut Addition<'n>,
    roots: &mut Vec<u32>,
) -> Result<Vec<String>, Wrong> {
    let spec = member_of(object, "spec", Kind::Map)?.unwrap_or(object);
    roots.push(out.position());
    out.map();
    out.head();
    out.string("metadata");
    out.map();
    out.text_member("name", name_of(object));
    out.end();
    out.string("spec");
    out.map();
    for key in ["group", "scope", "conversion", "preserveUnknownFields"] {
        out.copy_member(key, member(spec, key));
    }
    if let Some(given) = member_of(spec, "names", Kind::Map)? {
        names(given, None, out);
    }
    let versions = member_of(spec, "versions", Kind::Seq)?.into_iter().flat_map(Node::items);
    let mut versions: Vec<Node<'n>> = versions.collect();
    versions.sort_by_key(|version| text(*version, "name"));
    out.string("versions");
    out.list();
    for version in versions {
        out.map();
        for key in OF_VERSION {
            out.copy_member(key, member(version, key));
        }
        out.end();
    }
    out.end();
    out.end();
    out.end();
    let is_off = text(spec, "state") != "Active";
    Ok(if is_off { vec!["it is not Active, so that Crossplane does not make it yet".to_owned()] } else { Vec::new() })
}
