//! Checks the result of edits.

use super::Plan;
use kubeshape_yaml::{Kind, Node};

/// Returns whether a document after the edits is equal to the one before, except for the changes of the plan. The
/// readers bound the nesting of both.
pub fn is_made(before: Node<'_>, after: Node<'_>, plan: &Plan) -> bool {
    if before.kind() != after.kind() {
        return false;
    }
    match before.kind() {
        Kind::Map => {
            let mut found = after.pairs();
            if let Some(ty) = plan.typed.get(&before.index()) {
                let is_written =
                    |(key, value): (Node<'_>, Node<'_>)| key.text() == "type" && value.as_str() == Some(ty);
                if !found.next().is_some_and(is_written) {
                    return false;
                }
            }
            let mut stays = before.pairs().filter(|(key, _)| !plan.removed.contains(&key.index()));
            stays.all(|(key, value)| {
                found.next().is_some_and(|(k, v)| key.text() == k.text() && is_made(value, v, plan))
            }) && found.next().is_none()
        }
        Kind::Seq => {
            let mut found = after.items();
            let mut stays = before.items().filter(|item| !plan.removed.contains(&item.index()));
            stays.all(|item| found.next().is_some_and(|other| is_made(item, other, plan))) && found.next().is_none()
        }
        _ => plan.texts.get(&before.index()).map_or(before.text(), String::as_str) == after.text(),
    }
}
