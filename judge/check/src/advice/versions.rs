//! Advice about fields that objects lose between versions.

use super::{place, schema_of};
use kubeshape_schema::{Additional, Code, Flags, Note, Schema, Type};
use kubeshape_validate::crd::Spec;

/// The maximum number of fields that a note names.
const NAMED: usize = 3;
/// The fields of every object.
const OWN: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Reports served versions whose fields differ from those of the storage version. A webhook may keep such fields
/// elsewhere.
pub(super) fn about(spec: &Spec<'_>, notes: &mut Vec<Note<'static>>) {
    let has_webhook = spec.conversion.is_some_and(|conversion| conversion.strategy == "Webhook");
    if has_webhook || spec.preserve_unknown_fields == Some(true) {
        return;
    }
    let Some(storage) = spec.versions.iter().find(|version| version.storage) else { return };
    let Some(stored) = schema_of(spec, storage) else { return };
    for version in spec.versions.iter().filter(|version| version.served && !version.storage) {
        let Some(schema) = schema_of(spec, version) else { continue };
        let (served, kept) = (version.name, storage.name);
        let at = place(version.node, "name");
        let deleted = Missing::of(stored, schema);
        if deleted.count > 0 {
            let detail =
                format!("{served} lacks {deleted} of {kept}: an update through {served} deletes what they hold");
            notes.push(Note::new(Code::AdviceVersionFields, at, detail));
        }
        let lost = Missing::of(schema, stored);
        if lost.count > 0 {
            let detail = format!("the storage version {kept} lacks {lost} of {served}: what they hold is not stored");
            notes.push(Note::new(Code::AdviceVersionFields, at, detail));
        }
    }
}

/// The fields of one schema that another one prunes.
#[derive(Default)]
struct Missing {
    count: usize,
    /// The first paths.
    paths: Vec<String>,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, path) in self.paths.iter().enumerate() {
            let is_last = at + 1 == self.count;
            let between = if at == 0 {
                ""
            } else if is_last {
                " and "
            } else {
                ", "
            };
            write!(f, "{between}`{path}`")?;
        }
        match self.count - self.paths.len() {
            0 => Ok(()),
            1 => write!(f, " and 1 more field"),
            more => write!(f, " and {more} more fields"),
        }
    }
}

impl Missing {
    fn of(from: &Schema<'_>, to: &Schema<'_>) -> Missing {
        let mut out = Missing::default();
        out.compare(from, to, &mut Vec::new());
        out
    }

    /// Recursion is bounded: schemas nest only as deep as their reader allows.
    fn compare<'s>(&mut self, from: &Schema<'s>, to: &Schema<'s>, path: &mut Vec<&'s str>) {
        let is_open = to.flags.any(Flags::PRESERVE_UNKNOWN) || from.flags.any(Flags::EMBEDDED_RESOURCE);
        let is_root = path.is_empty();
        if let (Type::Object, Type::Object) = (from.ty, to.ty) {
            for property in from.properties.iter().filter(|property| !is_root || !OWN.contains(&property.name)) {
                path.push(property.name);
                match (to.property(property.name), to.additional) {
                    (Some(inner), _) | (None, Some(Additional::Schema(inner))) => {
                        self.compare(&property.schema, inner, path);
                    }
                    (None, Some(Additional::Allowed(true))) => {}
                    (None, _) if is_open => {}
                    (None, _) => self.add(path),
                }
                path.pop();
            }
        }
        let elements = [(from.item(), to.item(), "[*]"), (from.additional_schema(), to.additional_schema(), "*")];
        for (from, to, step) in elements {
            if let (Some(from), Some(to)) = (from, to) {
                path.push(step);
                self.compare(from, to, path);
                path.pop();
            }
        }
    }

    fn add(&mut self, path: &[&str]) {
        self.count += 1;
        if self.paths.len() < NAMED {
            self.paths.push(path.join(".").replace(".[*]", "[*]"));
        }
    }
}
