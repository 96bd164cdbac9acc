//! What server-side apply does with a field, in words.

use crate::copies::{Step, steps};
use kubeshape::Kind;
use kubeshape::smd::schema::{Atom, Relationship, Schema};

/// How several managers share a field. It follows the type of the field in structured merge diff, which is what a
/// server goes by. `None` if the type is not known.
pub(crate) fn sentence(kind: &Kind, path: &str) -> Option<String> {
    let schema = kind.definition().types().schema();
    let atom = find(schema, kind, &steps(path))?;
    if let Some(list) = atom.list() {
        return Some(match list.relationship() {
            Some(Relationship::Associative) if list.keys().len() == 0 => {
                "A set: each item has its own owners. Managers add and remove their items.".to_owned()
            }
            Some(Relationship::Associative) => {
                let keys: Vec<&str> = list.keys().collect();
                format!("Items merge by {}: each item has its own owners.", keys.join(" and "))
            }
            _ => "Replaced as a whole: one manager owns the list with all its items.".to_owned(),
        });
    }
    if let Some(map) = atom.map() {
        return Some(match map.relationship() {
            Some(Relationship::Atomic) => "Replaced as a whole: one manager owns all fields below.".to_owned(),
            _ => "Fields merge: each field below has its own owners.".to_owned(),
        });
    }
    atom.scalar().map(|_| "A value: managers who apply the same value own it together.".to_owned())
}

fn find<'s>(schema: &'s Schema, kind: &Kind, steps: &[Step<'_>]) -> Option<Atom<'s>> {
    let mut at = schema.find_type(kind.type_name())?.atom();
    for step in steps {
        at = match step {
            Step::Name(name) => schema.resolve(at.map()?.field(name)?.type_ref())?,
            Step::Items => schema.resolve(at.list()?.element_type())?,
            Step::Values => schema.resolve(at.map()?.element_type())?,
        };
    }
    Some(at)
}
