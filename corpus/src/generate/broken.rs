//! Ways to break manifests: values of a wrong type, and damaged YAML.

use super::scalars;
use super::tree::Tree;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Replaces values of the tree with values of any type.
pub(super) fn with_wrong_values(tree: Tree, wrong: &[(Index, Tree)]) -> Tree {
    let mut tree = tree;
    for (index, value) in wrong {
        let n = index.index(tree.size());
        tree.replace(n, value.clone());
    }
    tree
}

/// A value of any type.
pub(super) fn wrong_value() -> BoxedStrategy<Tree> {
    prop_oneof![
        3 => scalars::any_value(),
        1 => Just(Tree::Seq(Vec::new())),
        1 => Just(Tree::Map(Vec::new())),
        1 => scalars::any_value().prop_map(|value| Tree::Seq(vec![value])),
        1 => (scalars::key(), scalars::any_value()).prop_map(|member| Tree::Map(vec![member])),
        1 => Just(Tree::plain("null")),
        1 => any::<bool>().prop_map(Tree::boolean),
    ]
    .boxed()
}

/// A change to a string.
#[derive(Clone, Debug)]
pub(super) struct Damage {
    at: Index,
    drop: usize,
    insert: &'static str,
}

impl Damage {
    pub(super) fn apply(&self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        let at = self.at.index(chars.len() + 1);
        let end = (at + self.drop).min(chars.len());
        chars.splice(at..end, self.insert.chars());
        chars.into_iter().collect()
    }
}

/// Any change.
pub(super) fn damage() -> BoxedStrategy<Damage> {
    let inserted = [
        "", " ", "\n", "\n\n", "\t", ":", ": ", "-", "- ", "? ", "#", " #", "'", "\"", "[", "]", "{", "}", ",", "&a ",
        "*a", "!", "!!str ", "|", ">", "%", "@", "\\", "\u{85}", "\u{2028}", "\r", "\r\n", "\u{FEFF}", "<<: ", "\n  ",
        "\n    x", "a: b", "é",
    ];
    (any::<Index>(), 0usize..3, select(inserted.to_vec()))
        .prop_map(|(at, drop, insert)| Damage { at, drop, insert })
        .boxed()
}
