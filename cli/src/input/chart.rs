//! Templates of Helm charts, which are not manifests before they are rendered.

use kubeshape_input::{Code, Finding, Limits};
use memchr::memmem;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that makes a folder a chart.
pub(super) const CHART: &str = "Chart.yaml";
/// The folder of a chart that holds its templates.
pub(super) const TEMPLATES: &str = "templates";

/// The charts whose templates were skipped: the path in messages, and the templates.
#[derive(Debug, Default)]
pub(super) struct Charts(BTreeMap<PathBuf, Vec<PathBuf>>);

/// Returns the chart in whose templates a folder is, the outermost of several; `None` if it is in no chart. The path
/// has no links.
pub(super) fn around(canonical: &Path) -> Option<PathBuf> {
    let is_templates = |folder: &&Path| folder.file_name().is_some_and(|name| name == TEMPLATES);
    let charts = canonical.ancestors().filter(is_templates).filter_map(Path::parent);
    charts.filter(|chart| chart.join(CHART).is_file()).last().map(Path::to_owned)
}

/// Returns whether a file in the templates of a chart has to be rendered: Helm treats every `{{` as an action.
pub(super) fn is_template(path: &Path) -> bool {
    let limit = Limits::default().bytes as u64;
    // A file that is too large or unreadable is reported where it is read.
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= limit);
    is_small && fs::read(path).is_ok_and(|bytes| memmem::find(&bytes, b"{{").is_some())
}

impl Charts {
    /// Adds a template, by its path without links.
    pub(super) fn add(&mut self, chart: &Path, template: PathBuf) {
        self.0.entry(chart.to_owned()).or_default().push(template);
    }

    /// Returns a finding for each chart, without templates that are read nevertheless.
    pub(super) fn findings(&self, is_read: impl Fn(&Path) -> bool) -> Vec<Finding> {
        let of_chart = |(chart, templates): (&PathBuf, &Vec<PathBuf>)| {
            let count = templates.iter().filter(|template| !is_read(template)).count();
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let name = chart.to_string_lossy();
            let detail =
                format!("{files} in {TEMPLATES}/ must be rendered: `helm template {name} | kubeshape convert -`");
            (count > 0).then(|| Finding::new(Code::ChartTemplates, detail).in_input(name.into_owned()))
        };
        self.0.iter().filter_map(of_chart).collect()
    }
}
