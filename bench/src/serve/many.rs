//! Thousands of CustomResourceDefinitions, copied from a few.

use super::marker::can_change;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// A CustomResourceDefinition whose group can be changed: its text, the name of its resource and its group.
#[derive(Clone, Debug)]
pub(super) struct Template {
    text: String,
    plural: String,
    group: String,
}

/// The CustomResourceDefinitions of a folder that are a file of their own.
pub(super) fn templates(folder: &Path) -> Vec<Template> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut templates: Vec<Template> =
        files.iter().filter_map(|file| template(fs::read_to_string(file).ok()?)).collect();
    // The same resource may be there in several releases.
    let mut known = std::collections::BTreeSet::new();
    templates.retain(|template| known.insert((template.group.clone(), template.plural.clone())));
    // The first one is changed. It has a document of its own, of common size, and that is one that can be changed.
    let average = templates.iter().map(|template| template.text.len()).sum::<usize>() / templates.len().max(1);
    let alone = |template: &Template| templates.iter().filter(|other| other.group == template.group).count() == 1;
    let fit = |(_, template): &(usize, &Template)| alone(template) && can_change(&template.text);
    let first = templates.iter().enumerate().filter(fit).min_by_key(|(_, t)| t.text.len().abs_diff(average));
    if let Some((first, _)) = first {
        templates.rotate_left(first);
    }
    templates
}

/// Names stand where machines write them: `name` below `metadata`, `group` below `spec`.
fn template(text: String) -> Option<Template> {
    let kinds = text.lines().filter(|line| *line == "kind: CustomResourceDefinition").count();
    let group = text.lines().find_map(|line| line.strip_prefix("  group: "))?.trim().to_owned();
    let end = format!(".{group}");
    let name =
        text.lines().filter_map(|line| line.strip_prefix("  name: ")).find(|name| name.trim().ends_with(&end))?;
    let plural = name.trim().strip_suffix(&end)?.to_owned();
    (kinds == 1).then_some(Template { text, plural, group })
}

impl Template {
    /// The same resource in a group of its copy.
    fn copy(&self, number: usize) -> String {
        let (group, name) = (format!("c{number}.{}", self.group), format!("{}.{}", self.plural, self.group));
        let group_of = |group: &str| format!("\n  group: {group}");
        let name_of = |name: &str| format!("\n  name: {name}");
        let copy = self.text.replacen(&group_of(&self.group), &group_of(&group), 1);
        // Groups of the community are protected, copies of them too.
        copy.replacen(&name_of(&name), &name_of(&format!("{}.{group}", self.plural)), 1)
    }
}

/// Writes `count` CustomResourceDefinitions, each a file, and gives the path of the first.
pub(super) fn write_copies(templates: &[Template], count: usize, folder: &Path) -> Result<PathBuf, String> {
    let first = folder.join("00000.yaml");
    let copies = templates.iter().cycle().enumerate().take(count);
    for (at, template) in copies {
        let text = template.copy(at / templates.len());
        write(&folder.join(format!("{at:05}.yaml")), text.as_bytes())?;
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::template;

    #[test]
    fn a_copy_has_a_group_of_its_own() {
        let text = "kind: CustomResourceDefinition\nmetadata:\n  name: as.b.example\nspec:\n  group: b.example\n";
        let template = template(text.to_owned()).expect("a template");
        let copy = template.copy(7);
        assert!(copy.contains("\n  name: as.c7.b.example\n") && copy.contains("\n  group: c7.b.example\n"));
    }
}
