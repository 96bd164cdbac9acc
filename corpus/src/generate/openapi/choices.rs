//! A document as a sequence of choices: fewer and smaller ones make a simpler document, so failures shrink well.

use crate::generate::tree::Tree;

/// The choices, drawn in advance. When they are used up, every further choice is the simplest.
pub(super) struct Choices<'a> {
    left: std::slice::Iter<'a, u16>,
}

impl<'a> Choices<'a> {
    pub(super) fn new(drawn: &'a [u16]) -> Choices<'a> {
        Choices { left: drawn.iter() }
    }

    /// A number below `n`, 0 being the simplest.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.left.next().map_or(0, |drawn| usize::from(*drawn) % n.max(1))
    }

    /// Whether to do something that makes the document less simple.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) + percent >= 100
    }

    /// Returns one of several values. The first is the simplest.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of several strings.
    pub(super) fn text(&mut self, from: &[&str]) -> Tree {
        Tree::text(self.pick(from))
    }

    /// One of several scalars, as written in the document.
    pub(super) fn plain(&mut self, from: &[&str]) -> Tree {
        Tree::plain(self.pick(from))
    }

    pub(super) fn boolean(&mut self) -> Tree {
        Tree::boolean(self.below(2) == 0)
    }

    /// A list of at most `most` values.
    pub(super) fn list(&mut self, most: usize, mut value: impl FnMut(&mut Choices<'a>) -> Tree) -> Tree {
        let length = self.below(most + 1);
        Tree::Seq((0..length).map(|_| value(self)).collect())
    }

    /// Some of the values, in their order.
    pub(super) fn some<T: Copy>(&mut self, from: &[T], percent: usize) -> Vec<T> {
        from.iter().copied().filter(|_| self.chance(percent)).collect()
    }
}

/// An object under construction.
#[derive(Default)]
pub(super) struct Object(Vec<(String, Tree)>);

impl Object {
    pub(super) fn new() -> Object {
        Object::default()
    }

    /// Adds a member at the end, or replaces the member of this name.
    pub(super) fn put(&mut self, name: impl Into<String>, value: Tree) -> &mut Object {
        let name = name.into();
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, value));
        self
    }

    /// Sometimes adds a member.
    pub(super) fn maybe<'a>(
        &mut self,
        choices: &mut Choices<'a>,
        percent: usize,
        name: &str,
        value: impl FnOnce(&mut Choices<'a>) -> Tree,
    ) -> &mut Object {
        if choices.chance(percent) {
            let value = value(choices);
            self.put(name, value);
        }
        self
    }

    /// Returns the object. Sometimes its members are in another order, which makes a difference for protobuf.
    pub(super) fn done(&mut self, choices: &mut Choices<'_>) -> Tree {
        let mut members = std::mem::take(&mut self.0);
        if choices.chance(10) {
            members.reverse();
        }
        if choices.chance(10) && !members.is_empty() {
            let by = choices.below(members.len());
            members.rotate_left(by);
        }
        Tree::Map(members)
    }

    /// The object, with its members in the order in which they were added.
    pub(super) fn tree(&mut self) -> Tree {
        Tree::Map(std::mem::take(&mut self.0))
    }
}

/// An object of one member.
pub(super) fn single(name: &str, value: Tree) -> Tree {
    Tree::Map(vec![(name.to_owned(), value)])
}

/// A list of strings.
pub(super) fn texts(from: &[&str]) -> Tree {
    Tree::Seq(from.iter().map(|text| Tree::text(*text)).collect())
}
