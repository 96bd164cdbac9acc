//! Advice about duplicate values where order and number of values have no meaning.

use super::each_inner;
use kubeshape_schema::{Code, Note, Schema};
use kubeshape_yaml::{Document, Node};
use std::collections::HashSet;

/// Reports duplicates in the enums and required fields of a schema. The reader bounds the nesting.
pub(super) fn about(schema: &Schema<'_>, document: Document<'_>, notes: &mut Vec<Note<'static>>) {
    let lists = [("enum", schema.enumeration.len()), ("required", schema.required.len())];
    for (keyword, length) in lists {
        let list = document.node(schema.at).get(keyword).filter(|_| length > 1);
        let mut seen = HashSet::new();
        // Equal texts of one kind are equal values. Others, such as `1` and `1.0`, are not compared.
        for item in list.into_iter().flat_map(Node::items).filter(|item| !item.entry().is_container()) {
            if !seen.insert((item.kind(), item.text())) {
                let detail = format!("`{}` stands already in `{keyword}`", item.text());
                notes.push(Note::new(Code::AdviceTwice, item.index(), detail));
            }
        }
    }
    each_inner(schema, &mut |inner| about(inner, document, notes));
}
