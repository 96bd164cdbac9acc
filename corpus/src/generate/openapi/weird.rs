//! Edits that make documents unusual. Most edited documents can still be read.

use super::choices::Choices;
use super::values::{any, number, text};
use crate::generate::tree::Tree;

/// Applies some edits at places of the document.
pub(super) fn edit(tree: &mut Tree, choices: &mut Choices<'_>) {
    for _ in 0..choices.below(6) {
        let at = choices.below(tree.size());
        if let Some(place) = tree.at_mut(at) {
            edit_at(place, choices);
        }
    }
}

fn edit_at(place: &mut Tree, choices: &mut Choices<'_>) {
    match (choices.below(12), &mut *place) {
        (0..=2, Tree::Map(members)) => {
            let key = choices.pick(&["x-odd", "unknown", "X-Odd", "x-a", "$comment", "title", "é", ""]);
            members.retain(|(other, _)| other != key);
            let at = choices.below(members.len() + 1);
            members.insert(at, (key.to_owned(), any(choices, true, 2)));
        }
        (3, Tree::Map(members)) if !members.is_empty() => {
            let at = choices.below(members.len());
            members.remove(at);
        }
        (4, Tree::Map(members)) => members.reverse(),
        (5, Tree::Map(members)) if !members.is_empty() => {
            let at = choices.below(members.len());
            members[at].1 = Tree::plain("null");
        }
        (6, Tree::Map(members)) => members.clear(),
        (0..=3, Tree::Seq(items)) => items.clear(),
        (4, Tree::Seq(items)) if !items.is_empty() => items.push(items[0].clone()),
        (0..=8, Tree::Text(_)) => *place = text(choices, true),
        (0..=8, Tree::Plain(written)) if written.parse::<f64>().is_ok() => *place = number(choices, true),
        (0..=8, Tree::Plain(written)) if matches!(&**written, "true" | "false") => *place = choices.boolean(),
        (9, place) => *place = Tree::plain("null"),
        (10, place) => {
            let empty = match place {
                Tree::Plain(_) => "0",
                Tree::Text(_) => "\"\"",
                Tree::Seq(_) => "[]",
                Tree::Map(_) => "{}",
            };
            *place = Tree::plain(empty);
        }
        (11, place) if choices.chance(25) => *place = any(choices, true, 1),
        _ => {}
    }
}
