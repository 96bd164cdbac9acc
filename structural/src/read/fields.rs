//! The fields of API objects.

use kubeshape_schema::read::Reader;
use kubeshape_yaml::{Flags, Kind, Node};

/// In larger mappings, repeated keys are found by sorting.
const FEW: usize = 24;

/// Calls `f` with every field of an object. Null has no fields. `f` returns whether it knows the field.
///
/// This does the same as [`Reader::each_pair`]. In the usual case (few fields, none repeated) it does not allocate.
pub(super) fn fields<'a>(
    reader: &mut Reader<'a>,
    node: Node<'a>,
    expected: &str,
    mut f: impl FnMut(&mut Reader<'a>, &'a str, Node<'a>) -> bool,
) {
    if node.kind() == Kind::Map && plain(node) {
        for (key, value) in node.pairs() {
            if !f(reader, key.text(), value) {
                reader.unknown_field_among(key, members(expected));
            }
        }
        return;
    }
    reader.each_pair(node, expected, |reader, key, value| {
        if !f(reader, key.text(), value) {
            reader.unknown_field_among(key, members(expected));
        }
    });
}

/// Returns the members of the types in which mistakes are likely, for suggestions. `expected` names the type.
fn members(expected: &str) -> &'static [&'static str] {
    match expected {
        "a CustomResourceDefinition" => &["apiVersion", "kind", "metadata", "spec", "status"],
        "a mapping of metadata" => &["name", "namespace", "labels", "annotations", "finalizers"],
        "a spec" => &["group", "names", "scope", "versions", "conversion", "preserveUnknownFields"],
        "a mapping of names" => &["plural", "singular", "shortNames", "kind", "listKind", "categories"],
        "a version" => &[
            "name",
            "served",
            "storage",
            "deprecated",
            "deprecationWarning",
            "schema",
            "subresources",
            "additionalPrinterColumns",
            "selectableFields",
        ],
        "a mapping with openAPIV3Schema" => &["openAPIV3Schema"],
        "a mapping of subresources" => &["status", "scale"],
        "a scale subresource" => &["specReplicasPath", "statusReplicasPath", "labelSelectorPath"],
        "a printer column" => &["name", "type", "format", "description", "priority", "jsonPath"],
        "a selectable field" => &["jsonPath"],
        _ => &[],
    }
}

/// Returns whether no key of the mapping can need a note.
fn plain(node: Node<'_>) -> bool {
    let count = node.len();
    if count > FEW {
        return false;
    }
    let mut names = [""; FEW];
    for (i, (key, _)) in node.pairs().enumerate() {
        let name = key.text();
        if i >= FEW || key.entry().flags.has(Flags::RESOLVED_KEY) || names[..i].contains(&name) {
            return false;
        }
        names[i] = name;
    }
    true
}

/// Checks a list of strings.
pub(super) fn texts<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    reader.each_item(node, "a list of strings", |r, item| {
        r.text(item);
    });
}
