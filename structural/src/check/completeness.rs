//! The spine must declare every field that a branch of the root restricts.

use super::{BadValue, Checker, ErrorType};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Flags, Schema};

impl<'a> Checker<'a> {
    /// Checks the branches of the root. Like upstream, it does not check those of other nodes of the spine.
    pub(super) fn completeness(&mut self, root: &Schema<'a>, path: &Path<'_>) {
        self.complete_branches(root, root, path, path);
    }

    /// The branches of `holder`. All of them describe the value of `spine`.
    fn complete_branches(&mut self, holder: &Schema<'a>, spine: &Schema<'a>, spine_path: &Path<'_>, path: &Path<'_>) {
        if !holder.flags.any(Flags::JUNCTOR) {
            return;
        }
        let extra = holder.extra();
        if let Some(not) = extra.not {
            self.complete(not, spine, spine_path, &path.child("not"));
        }
        for (name, branches) in [("allOf", extra.all_of), ("anyOf", extra.any_of), ("oneOf", extra.one_of)] {
            let path = path.child(name);
            for (i, branch) in branches.iter().enumerate() {
                self.complete(branch, spine, spine_path, &path.index(i));
            }
        }
    }

    /// One branch against the spine node of the same value.
    fn complete(&mut self, branch: &Schema<'a>, spine: &Schema<'a>, spine_path: &Path<'_>, path: &Path<'_>) {
        self.complete_branches(branch, spine, spine_path, path);
        if let Some(item) = branch.item() {
            let (spine_path, path) = (spine_path.child("items"), path.child("items"));
            match spine.item() {
                Some(spine) => self.complete(item, spine, &spine_path, &path),
                None => self.undeclared(item, &spine_path, &path),
            }
        }
        if branch.properties.is_empty() {
            return;
        }
        let (spine_path, path) = (spine_path.child("properties"), path.child("properties"));
        for property in branch.properties {
            let (spine_path, path) = (spine_path.key(property.name), path.key(property.name));
            match spine.property(property.name) {
                Some(spine) => self.complete(&property.schema, spine, &spine_path, &path),
                None => self.undeclared(&property.schema, &spine_path, &path),
            }
        }
    }

    #[cold]
    fn undeclared(&mut self, branch: &Schema<'a>, spine_path: &Path<'_>, path: &Path<'_>) {
        let detail = format!("because it is defined in {path}");
        self.error(ErrorType::Required, spine_path.to_string(), BadValue::Omitted, detail, branch.at);
    }
}
