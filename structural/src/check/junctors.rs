//! Keywords that the branches of `allOf`, `anyOf`, `oneOf` and `not` must not use.

use super::{BadValue, Checker, ErrorType};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Additional, Extra, Flags, Schema, Type};

const EMPTY: &str = "must be empty to be structural";
const UNDEFINED: &str = "must be undefined to be structural";
const FALSE: &str = "must be false to be structural";

impl<'a> Checker<'a> {
    /// Checks the branches of one node. The alternatives of int-or-string may have types.
    pub(super) fn junctors(&mut self, extra: &Extra<'a>, skip_any_of: bool, skip_first: bool, path: &Path<'_>) {
        if !skip_any_of {
            self.branches(extra.any_of, "anyOf", path);
        }
        if let Some((first, rest)) = extra.all_of.split_first() {
            let path = path.child("allOf");
            self.branch(first, skip_first, &path.index(0));
            for (i, branch) in rest.iter().enumerate() {
                self.branch(branch, false, &path.index(i + 1));
            }
        }
        self.branches(extra.one_of, "oneOf", path);
        if let Some(not) = extra.not {
            self.branch(not, false, &path.child("not"));
        }
    }

    fn branches(&mut self, branches: &[Schema<'a>], name: &'static str, path: &Path<'_>) {
        let path = path.child(name);
        for (i, branch) in branches.iter().enumerate() {
            self.branch(branch, false, &path.index(i));
        }
    }

    /// Checks one branch and everything below it.
    fn branch(&mut self, branch: &Schema<'a>, skip_any_of: bool, path: &Path<'_>) {
        self.pattern(branch, path);
        if branch.flags.any(Flags::JUNCTOR) {
            self.junctors(branch.extra(), skip_any_of, false, path);
        }
        if let Some(item) = branch.item() {
            self.branch(item, false, &path.child("items"));
        }
        if !branch.properties.is_empty() {
            let path = path.child("properties");
            for property in branch.properties {
                self.branch(&property.schema, false, &path.key(property.name));
            }
            // Restrictions of metadata would apply to metadata that no schema declares.
            if branch.property("metadata").is_some() {
                let at = branch.property("metadata").map_or(branch.at, |metadata| metadata.at);
                let path = path.key("metadata").to_string();
                let detail = "must not be specified in a nested context";
                self.error(ErrorType::Forbidden, path, BadValue::Omitted, detail, at);
            }
        }
        self.keywords(branch, path);
    }

    fn keywords(&mut self, branch: &Schema<'a>, path: &Path<'_>) {
        let (at, flags, extra) = (branch.at, branch.flags, branch.extra());
        // Conversion drops `false` in a branch.
        let additional = matches!(branch.additional, Some(Additional::Schema(_) | Additional::Allowed(true)));
        let rules = [
            (branch.ty != Type::Absent, "type", EMPTY),
            (additional, "additionalProperties", UNDEFINED),
            (branch.default.is_some(), "default", UNDEFINED),
            (!extra.title.is_empty(), "title", EMPTY),
            (!branch.description.is_empty(), "description", EMPTY),
            (flags.any(Flags::NULLABLE), "nullable", FALSE),
            (flags.any(Flags::PRESERVE_UNKNOWN), "x-kubernetes-preserve-unknown-fields", FALSE),
            (flags.any(Flags::EMBEDDED_RESOURCE), "x-kubernetes-embedded-resource", FALSE),
            (flags.any(Flags::INT_OR_STRING), "x-kubernetes-int-or-string", FALSE),
            (!extra.list_map_keys.is_empty(), "x-kubernetes-list-map-keys", EMPTY),
            (extra.list_type.is_some(), "x-kubernetes-list-type", UNDEFINED),
            (extra.map_type.is_some(), "x-kubernetes-map-type", UNDEFINED),
            (!extra.validations.is_empty(), "x-kubernetes-validations", EMPTY),
        ];
        for (broken, field, detail) in rules {
            if broken {
                self.forbidden(path, field, detail, at);
            }
        }
    }
}
