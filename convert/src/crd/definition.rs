//! The definition around the schemas.

use super::spine::any;
use kubeshape_schema::escape::{self, Escape};
use kubeshape_schema::print::{self, Style};
use kubeshape_schema::{Additional, Bump, Extra, Flags, Items, Property, Schema, Type};
use kubeshape_yaml::{number, pointer};

pub use kubeshape_structural::Column;

/// The names of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// `group`
    pub group: &'a str,
    /// `kind`
    pub kind: &'a str,
    /// `plural`
    pub plural: &'a str,
    /// `singular`
    pub singular: &'a str,
    /// `listKind`
    pub list_kind: &'a str,
    /// Whether objects are in namespaces.
    pub namespaced: bool,
}

impl<'a> Names<'a> {
    /// Derives the names from the kind, as Kubebuilder does: `NetworkPolicy` has the plural `networkpolicies`.
    ///
    /// # Example
    /// ```
    /// use kubeshape_convert::crd::Names;
    /// use kubeshape_schema::Bump;
    /// let arena = Bump::new();
    /// let names = Names::new("example.com", "GatewayClass", &arena);
    /// assert_eq!((names.plural, names.singular), ("gatewayclasses", "gatewayclass"));
    /// assert_eq!(names.list_kind, "GatewayClassList");
    /// ```
    pub fn new(group: &'a str, kind: &'a str, arena: &'a Bump) -> Names<'a> {
        let singular: &str = arena.alloc_str(&kind.to_lowercase());
        let ends = |endings: &[&str]| endings.iter().any(|ending| singular.ends_with(ending));
        let plural = match singular.strip_suffix('y') {
            Some(stem) if !ends(&["ay", "ey", "iy", "oy", "uy"]) => format!("{stem}ies"),
            _ if ends(&["s", "x", "z", "ch", "sh"]) => format!("{singular}es"),
            _ => format!("{singular}s"),
        };
        Names {
            group,
            kind,
            plural: arena.alloc_str(&plural),
            singular,
            list_kind: arena.alloc_str(&format!("{kind}List")),
            namespaced: true,
        }
    }
}

/// A version of a definition.
#[derive(Clone, Debug)]
pub struct Version<'a> {
    /// The name.
    pub name: &'a str,
    /// The schema of whole objects.
    pub schema: Schema<'a>,
    /// Whether objects are stored in this version.
    pub storage: bool,
    /// Printer columns.
    pub columns: Vec<Column<String>>,
}

impl<'a> Version<'a> {
    /// Creates a served version, with columns that follow from the status.
    pub(super) fn new(name: &'a str, schema: Schema<'a>, storage: bool) -> Version<'a> {
        let columns = columns(&schema);
        Version { name, schema, storage, columns }
    }

    /// Returns whether there is a subresource `status`.
    fn has_status(&self) -> bool {
        self.schema.property("status").is_some_and(|status| status.ty == Type::Object)
    }
}

/// Returns the columns for a status: `Ready`, if there are conditions, and `Phase`, both before the age.
fn columns(schema: &Schema<'_>) -> Vec<Column<String>> {
    let column = |name: &str, ty: &str, path: &str| Column {
        name: name.to_owned(),
        column_type: ty.to_owned(),
        json_path: path.to_owned(),
        ..Column::default()
    };
    let Some(status) = schema.property("status") else { return Vec::new() };
    let mut out = Vec::new();
    let condition = status.property("conditions").and_then(Schema::item);
    if condition.is_some_and(|item| item.property("type").is_some() && item.property("status").is_some()) {
        out.push(column("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status"));
    }
    if status.property("phase").is_some_and(|phase| phase.ty == Type::String) {
        out.push(column("Phase", "string", ".status.phase"));
    }
    if !out.is_empty() {
        out.push(column("Age", "date", ".metadata.creationTimestamp"));
    }
    out
}

/// A definition with structural schemas.
#[derive(Clone, Debug)]
pub struct Definition<'a> {
    /// The names.
    pub names: Names<'a>,
    /// The versions.
    pub versions: Vec<Version<'a>>,
}

impl<'a> Definition<'a> {
    /// Appends the definition as JSON.
    pub fn print(&self, out: &mut Vec<u8>) {
        let names = &self.names;
        let text = |out: &mut Vec<u8>, text: &str| escape::string(out, text, Escape::Plain);
        let member = |out: &mut Vec<u8>, name: &str, value: &str| {
            out.extend_from_slice(format!("\"{name}\":").as_bytes());
            text(out, value);
        };
        out.extend_from_slice(
            b"{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{",
        );
        if is_protected(names.group) {
            out.extend_from_slice(
                b"\"annotations\":{\"api-approved.kubernetes.io\":\"unapproved, converted from a schema\"},",
            );
        }
        member(out, "name", &format!("{}.{}", names.plural, names.group));
        out.extend_from_slice(b"},\"spec\":{");
        member(out, "group", names.group);
        out.extend_from_slice(b",\"names\":{");
        let listed = [
            ("kind", names.kind),
            ("listKind", names.list_kind),
            ("plural", names.plural),
            ("singular", names.singular),
        ];
        for (i, (name, value)) in listed.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            member(out, name, value);
        }
        out.extend_from_slice(b"},");
        member(out, "scope", if names.namespaced { "Namespaced" } else { "Cluster" });
        out.extend_from_slice(b",\"versions\":[");
        for (i, version) in self.versions.iter().enumerate() {
            out.extend_from_slice(if i > 0 { b",{" } else { b"{" });
            if !version.columns.is_empty() {
                out.extend_from_slice(b"\"additionalPrinterColumns\":[");
                for (i, column) in version.columns.iter().enumerate() {
                    out.extend_from_slice(if i > 0 { b",{" } else { b"{" });
                    member(out, "jsonPath", &column.json_path);
                    out.push(b',');
                    member(out, "name", &column.name);
                    if column.priority != 0 {
                        out.extend_from_slice(b",\"priority\":");
                        number::write_int(column.priority.into(), out);
                    }
                    out.push(b',');
                    member(out, "type", &column.column_type);
                    out.push(b'}');
                }
                out.extend_from_slice(b"],");
            }
            member(out, "name", version.name);
            out.extend_from_slice(b",\"schema\":{\"openAPIV3Schema\":");
            print::schema(out, &version.schema, Style::V2);
            out.extend_from_slice(format!("}},\"served\":true,\"storage\":{}", version.storage).as_bytes());
            if version.has_status() {
                out.extend_from_slice(b",\"subresources\":{\"status\":{}}");
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}}\n");
    }

    /// Removes the part at a pointer of the printed definition, and returns the version and the location of the schema
    /// that had it. A restriction within `oneOf` or `not` is removed with the whole keyword, because without it they
    /// could reject more. If the pointer leads to a schema, `keyword` says which of its keywords is wrong; if it has no
    /// such keyword, the schema becomes that of any value.
    ///
    /// Returns `None` if nothing can be removed there.
    pub fn remove(&mut self, at: &str, keyword: &str, arena: &'a Bump) -> Option<(usize, u32)> {
        let steps: Vec<String> = at.split('/').skip(1).map(|step| pointer::unescape(step).into_owned()).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let ["spec", "versions", version, "schema", "openAPIV3Schema", rest @ ..] = steps.as_slice() else {
            return None;
        };
        let number: usize = version.parse().ok()?;
        let version = self.versions.get_mut(number)?;
        let (schema, at) = without(&version.schema, rest, keyword, true, arena)?;
        version.schema = schema;
        Some((number, at))
    }
}

/// Returns whether Kubernetes reserves a group, so that its definitions need an annotation (upstream:
/// `apihelpers.IsProtectedCommunityGroup`).
fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|own| group == *own || group.ends_with(&format!(".{own}")))
}

/// Returns a schema without the part that the steps lead to, and the location of that part.
fn without<'a>(
    schema: &Schema<'a>,
    steps: &[&str],
    keyword: &str,
    is_root: bool,
    arena: &'a Bump,
) -> Option<(Schema<'a>, u32)> {
    let inner = |schema: &Schema<'a>, rest: &[&str]| without(schema, rest, keyword, false, arena);
    let extra = schema.extra();
    let with = |extra: Extra<'a>| Schema { extra: Some(arena.alloc(extra)), ..*schema };
    let list = |list: &'a [Schema<'a>], index: &str, rest: &[&str]| -> Option<(&'a [Schema<'a>], u32)> {
        let index: usize = index.parse().ok()?;
        let (changed, at) = inner(list.get(index)?, rest)?;
        let copy = arena.alloc_slice_copy(list);
        *copy.get_mut(index)? = changed;
        Some((copy, at))
    };
    let found = match steps {
        ["properties", name, rest @ ..] => {
            let index = schema.properties.iter().position(|property| property.name == *name)?;
            let (changed, at) = inner(&schema.properties[index].schema, rest)?;
            let properties: &mut [Property<'a>] = arena.alloc_slice_copy(schema.properties);
            properties[index].schema = changed;
            return Some((Schema { properties, ..*schema }, at));
        }
        ["items", rest @ ..] if schema.item().is_some() => {
            let (changed, at) = inner(schema.item()?, rest)?;
            return Some((Schema { items: Some(Items::One(arena.alloc(changed))), ..*schema }, at));
        }
        ["additionalProperties", rest @ ..] if schema.additional_schema().is_some() => {
            let (changed, at) = inner(schema.additional_schema()?, rest)?;
            return Some((Schema { additional: Some(Additional::Schema(arena.alloc(changed))), ..*schema }, at));
        }
        ["allOf", index, rest @ ..] => {
            list(extra.all_of, index, rest).map(|(all_of, at)| (with(Extra { all_of, ..*extra }), at))
        }
        ["anyOf", index, rest @ ..] => {
            list(extra.any_of, index, rest).map(|(any_of, at)| (with(Extra { any_of, ..*extra }), at))
        }
        ["x-kubernetes-validations", index, ..] => {
            let index: usize = index.parse().ok()?;
            extra.validations.get(index)?;
            let rules: Vec<_> =
                extra.validations.iter().enumerate().filter(|(i, _)| *i != index).map(|(_, rule)| *rule).collect();
            let validations = arena.alloc_slice_copy(&rules);
            Some((with(Extra { validations, ..*extra }), schema.at))
        }
        [name, ..] => removed(schema, name, arena).map(|schema| (schema, schema.at)),
        [] => removed(schema, keyword, arena).map(|schema| (schema, schema.at)),
    };
    // A schema of which no part can be removed becomes any value.
    found.or_else(|| {
        let is_any = schema.flags.any(Flags::PRESERVE_UNKNOWN) && schema.ty == Type::Absent;
        let widened = Schema { description: schema.description, ..any(schema.at) };
        (!is_root && !is_any).then_some((widened, schema.at))
    })
}

/// Returns a schema without a keyword; `None` if it does not have the keyword.
fn removed<'a>(schema: &Schema<'a>, keyword: &str, arena: &'a Bump) -> Option<Schema<'a>> {
    let mut s = *schema;
    let mut e = *schema.extra();
    match keyword {
        "default" => {
            s.default = None;
            s.flags.set(Flags::DEFAULT, false);
        }
        "format" => s.format = "",
        "enum" => s.enumeration = &[],
        "required" => s.required = &[],
        "nullable" => s.flags.set(Flags::NULLABLE, false),
        "title" => e.title = "",
        "example" => e.example = None,
        "externalDocs" => e.external_docs = None,
        "pattern" => e.pattern = "",
        "minimum" | "exclusiveMinimum" => {
            e.minimum = None;
            s.flags.set(Flags::EXCLUSIVE_MINIMUM, false);
        }
        "maximum" | "exclusiveMaximum" => {
            e.maximum = None;
            s.flags.set(Flags::EXCLUSIVE_MAXIMUM, false);
        }
        "multipleOf" => e.multiple_of = None,
        "minLength" => e.min_length = None,
        "maxLength" => e.max_length = None,
        "minItems" => e.min_items = None,
        "maxItems" => e.max_items = None,
        "minProperties" => e.min_properties = None,
        "maxProperties" => e.max_properties = None,
        "allOf" => e.all_of = &[],
        "anyOf" => e.any_of = &[],
        "oneOf" => e.one_of = &[],
        "not" => e.not = None,
        "x-kubernetes-list-type" | "x-kubernetes-list-map-keys" => {
            e.list_type = None;
            e.list_map_keys = &[];
        }
        "x-kubernetes-map-type" => e.map_type = None,
        "x-kubernetes-validations" => e.validations = &[],
        "x-kubernetes-embedded-resource" => s.flags.set(Flags::EMBEDDED_RESOURCE, false),
        _ => return None,
    }
    if e == *schema.extra() && s == *schema {
        return None;
    }
    s.extra = Some(arena.alloc(e));
    Some(s)
}
