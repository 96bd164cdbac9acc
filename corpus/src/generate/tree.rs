//! Values that can be printed as YAML, including values that JSON does not have.

use proptest::prelude::*;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A scalar as it is written: a number, a boolean, null, a date.
    Plain(String),
    /// A string, with quotes if it needs them.
    Text(String),
    /// A list.
    Seq(Vec<Tree>),
    /// A mapping in the order in which it is written. A key may occur twice.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// A string.
    pub fn text(text: impl Into<String>) -> Tree {
        Tree::Text(text.into())
    }

    /// A plain scalar.
    pub fn plain(text: impl Into<String>) -> Tree {
        Tree::Plain(text.into())
    }

    /// `true` or `false`.
    pub fn boolean(on: bool) -> Tree {
        Tree::plain(if on { "true" } else { "false" })
    }

    /// Creates a mapping in which every key occurs once: of repeated keys, the last is used.
    pub fn map(members: Vec<(String, Tree)>) -> Tree {
        let mut out: Vec<(String, Tree)> = Vec::with_capacity(members.len());
        for (key, value) in members {
            match out.iter_mut().find(|(other, _)| *other == key) {
                Some((_, other)) => *other = value,
                None => out.push((key, value)),
            }
        }
        Tree::Map(out)
    }

    /// A mapping of literal names.
    pub fn members<const N: usize>(members: [(&str, Tree); N]) -> Tree {
        Tree::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Returns the number of values in it, including itself.
    pub fn size(&self) -> usize {
        1 + match self {
            Tree::Plain(_) | Tree::Text(_) => 0,
            Tree::Seq(items) => items.iter().map(Tree::size).sum(),
            Tree::Map(members) => members.iter().map(|(_, value)| value.size()).sum(),
        }
    }

    /// Replaces the `n`th value of a walk from the top.
    pub fn replace(&mut self, n: usize, with: Tree) {
        if let Some(place) = self.at_mut(n) {
            *place = with;
        }
    }

    /// Returns the `n`th value of a walk from the top, which begins with itself.
    pub fn at_mut(&mut self, mut n: usize) -> Option<&mut Tree> {
        if n == 0 {
            return Some(self);
        }
        n -= 1;
        let children: Vec<&mut Tree> = match self {
            Tree::Plain(_) | Tree::Text(_) => return None,
            Tree::Seq(items) => items.iter_mut().collect(),
            Tree::Map(members) => members.iter_mut().map(|(_, value)| value).collect(),
        };
        for child in children {
            let size = child.size();
            if n < size {
                return child.at_mut(n);
            }
            n -= size;
        }
        None
    }
}

/// How values are written. If a style is not possible, another one is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Random choices between the styles below, made at each value.
    pub choices: u64,
    /// Containers from this depth on are in flow style.
    pub flow_from: usize,
    /// Number of blanks per level.
    pub indent: usize,
    /// Lists in mappings begin at the column of their key.
    pub indentless: bool,
    /// Only JSON.
    pub json: bool,
}

impl Style {
    /// Any style, most of them block style as programs write it.
    pub fn any() -> BoxedStrategy<Style> {
        let flow = prop_oneof![3 => Just(99usize), 2 => 2usize..9, 1 => Just(0)];
        (
            any::<u64>(),
            flow,
            prop_oneof![3 => Just(2usize), 1 => Just(4), 1 => Just(1)],
            any::<bool>(),
            prop::bool::weighted(0.08),
        )
            .prop_map(|(choices, flow_from, indent, indentless, json)| Style {
                choices,
                flow_from,
                indent,
                indentless,
                json,
            })
            .boxed()
    }
}
