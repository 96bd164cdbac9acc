//! The fields of API objects.

use kubeshape_schema::read::Reader;
use kubeshape_yaml::{Flags, Kind, Node};

/// Mappings with more pairs than this are searched for repeated keys by sorting.
const FEW: usize = 24;

/// Calls `f` with every field of an object; null has none. `f` says whether it knows the field.
///
/// Does what [`Reader::each_pair`] does, without allocating in the usual case: few fields, none of them
/// twice.
pub(super) fn fields<'a>(
    reader: &mut Reader<'a>,
    node: Node<'a>,
    expected: &str,
    mut f: impl FnMut(&mut Reader<'a>, &'a str, Node<'a>) -> bool,
) {
    if node.kind() == Kind::Map && plain(node) {
        for (key, value) in node.pairs() {
            if !f(reader, key.text(), value) {
                reader.unknown_field(key);
            }
        }
        return;
    }
    reader.each_pair(node, expected, |reader, key, value| {
        if !f(reader, key.text(), value) {
            reader.unknown_field(key);
        }
    });
}

/// Whether the mapping certainly needs no note about its keys.
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

/// A list of texts, only checked.
pub(super) fn texts<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    reader.each_item(node, "a list of strings", |r, item| {
        r.text(item);
    });
}
