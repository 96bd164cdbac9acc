//! The fields of API objects.

use kubeshape_schema::read::Reader;
use kubeshape_yaml::{Flags, Kind, Node};

/// In larger mappings repeated keys are found by sorting.
const FEW: usize = 24;

/// Calls `f` with every field of an object; null has none. `f` returns whether it knows the field.
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

/// Whether it is certain that no key of the mapping needs a note.
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
