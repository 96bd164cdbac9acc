//! Thousands of CustomResourceDefinitions, copied from a few.

use super::marker::can_change;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file, and creates its folder.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// A CustomResourceDefinition whose group can be changed.
#[derive(Clone, Debug)]
pub(super) struct Template {
    text: String,
    plural: String,
    group: String,
}

/// The files of a folder that have exactly one CustomResourceDefinition.
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
    // The folder may have several releases of a resource.
    let mut known = std::collections::BTreeSet::new();
    templates.retain(|template| known.insert((template.group.clone(), template.plural.clone())));
    // The first two will be changed: one of average size, and one of median size. Both must have their own document and
    // a string that can be changed.
    let average = templates.iter().map(|template| template.text.len()).sum::<usize>() / templates.len().max(1);
    let mut sizes: Vec<usize> = templates.iter().map(|template| template.text.len()).collect();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    for (place, size) in [average, median].into_iter().enumerate() {
        let alone = |template: &Template| templates.iter().filter(|other| other.group == template.group).count() == 1;
        let fit = |(_, template): &(usize, &Template)| alone(template) && can_change(&template.text);
        let all = templates.iter().enumerate().skip(place);
        if let Some((at, _)) = all.filter(fit).min_by_key(|(_, template)| template.text.len().abs_diff(size)) {
            templates.swap(place, at);
        }
    }
    templates
}

/// Finds names in machine-written YAML: `name` below `metadata`, `group` below `spec`.
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
    /// Returns a copy of the resource in another group.
    fn copy(&self, number: usize) -> String {
        let (group, name) = (format!("c{number}.{}", self.group), format!("{}.{}", self.plural, self.group));
        let group_of = |group: &str| format!("\n  group: {group}");
        let name_of = |name: &str| format!("\n  name: {name}");
        let copy = self.text.replacen(&group_of(&self.group), &group_of(&group), 1);
        // The API server protects the community's groups, so copies keep the annotation that approves them.
        copy.replacen(&name_of(&name), &name_of(&format!("{}.{group}", self.plural)), 1)
    }
}

/// Writes `count` CustomResourceDefinitions, one per file, and returns the paths of the first two.
pub(super) fn write_copies(templates: &[Template], count: usize, folder: &Path) -> Result<[PathBuf; 2], String> {
    let first = [0, 1].map(|at| folder.join(format!("{at:05}.yaml")));
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
