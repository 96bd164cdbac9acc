//! The fields of API objects.

use kubeshape_gotypes::definition;
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
                reader.unknown_field_among(key, &members(expected));
            }
        }
        return;
    }
    reader.each_pair(node, expected, |reader, key, value| {
        if !f(reader, key.text(), value) {
            reader.unknown_field_among(key, &members(expected));
        }
    });
}

/// Returns the members of the types in which mistakes are likely, for suggestions. `expected` names the type.
fn members(expected: &str) -> Vec<&'static str> {
    let ty = match expected {
        "a CustomResourceDefinition" => return vec!["apiVersion", "kind", "metadata", "spec", "status"],
        "a mapping of metadata" => return vec!["name", "namespace", "labels", "annotations", "finalizers"],
        "a selectable field" => return vec!["jsonPath"],
        "a spec" => &definition::SPEC,
        "a mapping of names" => &definition::NAMES,
        "a version" => &definition::VERSION,
        "a mapping with openAPIV3Schema" => &definition::VALIDATION,
        "a mapping of subresources" => &definition::SUBRESOURCES,
        "a scale subresource" => &definition::SCALE,
        "a printer column" => &definition::COLUMN,
        _ => return Vec::new(),
    };
    ty.fields.iter().map(|field| field.name).collect()
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
