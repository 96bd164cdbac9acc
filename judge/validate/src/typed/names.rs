//! Names of Go types that errors contain but documents do not: the types of strings and lists, and embedded structs.
//!
//! `go_names.txt` is the output of the command `go-names` of the Go program in `conformance/oracle`. The area
//! `generated` of the conformance program compares it.

use std::collections::BTreeMap;

/// The file. A line has the last three parts of a definition's name. The indented lines below it have its fields: the
/// name, the Go type or `-`, and the structs in between, if there are any.
pub const GO_NAMES: &str = include_str!("go_names.txt");

/// What is known about a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// `v1.PullPolicy`, `[]v1.PersistentVolumeAccessMode`
    pub(super) go_type: Option<&'static str>,
    /// `VolumeSource`
    pub(super) embedded: Option<&'static str>,
}

/// The fields of definitions.
#[derive(Debug)]
pub(super) struct Names {
    fields: BTreeMap<(&'static str, &'static str), Name>,
}

impl Names {
    pub(super) fn new() -> Names {
        let mut fields = BTreeMap::new();
        let mut definition = "";
        for line in GO_NAMES.lines() {
            let Some(field) = line.strip_prefix(' ') else {
                definition = line;
                continue;
            };
            let mut parts = field.split(' ');
            let Some(field) = parts.next() else { continue };
            let go_type = parts.next().filter(|text| *text != "-");
            fields.insert((definition, field), Name { go_type, embedded: parts.next() });
        }
        Names { fields }
    }

    pub(super) fn get(&self, definition: &str, field: &str) -> Name {
        self.fields.get(&(definition, field)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_names() {
        let names = Names::new();
        let name = |go_type, embedded| Name { go_type, embedded };
        assert_eq!(names.get("core.v1.Container", "imagePullPolicy"), name(Some("v1.PullPolicy"), None));
        assert_eq!(names.get("core.v1.Volume", "emptyDir"), name(None, Some("VolumeSource")));
        assert_eq!(names.get("core.v1.Container", "image"), name(None, None));
    }
}
