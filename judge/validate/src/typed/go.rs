//! What the table of Go's types says about the fields of a struct.

use kubeshape_gotypes::members::{Kind, Messages, Shown};
use std::collections::BTreeMap;

/// When Go prints a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) shown: Shown,
    pub(super) is_pointer: bool,
}

impl Facts {
    /// Returns the facts for a field that the table does not have: a field of `TypeMeta`, or of a newer release.
    pub(super) fn unknown(is_pointer: bool) -> Facts {
        Facts { shown: Shown::UnlessEmpty, is_pointer }
    }
}

/// Returns the fields of the struct of a definition, `core.v1.Container`, including those of inlined structs. Returns
/// `None` if the table does not have it.
pub(super) fn fields(definition: &str, table: &mut Messages) -> Option<BTreeMap<&'static str, Facts>> {
    let (group, rest) = definition.split_once('.')?;
    let name = kubeshape_gotypes::members::name(&format!("{group}/{rest}"))?;
    let mut fields = BTreeMap::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        for member in table.get(name).members() {
            match (member.shown, member.kind) {
                (Shown::InParent, Kind::Message(inner)) => open.push(inner),
                (Shown::InParent, Kind::Pointer(inner)) => {
                    if let Kind::Message(inner) = inner.kind() {
                        open.push(inner);
                    }
                }
                (shown, kind) => {
                    fields.insert(member.name, Facts { shown, is_pointer: matches!(kind, Kind::Pointer(_)) });
                }
            }
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_inlined_structs_belong_to_the_outer_struct() {
        let mut table = Messages::of(crate::Release::NEWEST);
        let volume = fields("core.v1.Volume", &mut table).expect("a struct");
        let facts = |shown, is_pointer| Some(Facts { shown, is_pointer });
        assert_eq!(volume.get("emptyDir").copied(), facts(Shown::UnlessEmpty, true));
        assert_eq!(volume.get("name").copied(), facts(Shown::Always, false));
        let secret = fields("core.v1.SecretVolumeSource", &mut table).expect("a struct");
        assert_eq!(secret.get("defaultMode").copied(), facts(Shown::UnlessEmpty, true));
        assert_eq!(fields("core.v1.Nothing", &mut table), None);
    }
}
