//! The targets of patches.

use super::{INSTEAD, Id, Place, is_empty, text};
use kubeshape_smd::Value;
use kubeshape_yaml::Node;
use regex::{Regex, RegexBuilder};

/// The most bytes of a compiled pattern.
const MAX_PATTERN: usize = 1 << 20;

/// Which resources a patch is for.
#[derive(Debug, Default)]
pub(super) struct Target {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    conditions: Vec<(Labels, Condition)>,
}

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    Labels,
    Annotations,
}

/// A condition of a label selector.
#[derive(Debug)]
struct Condition {
    key: String,
    /// Without one, the label must exist.
    value: Option<String>,
    is_negated: bool,
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// It has a pattern or a condition that is not known here.
    pub(super) fn read(node: Node<'_>, place: Place<'_>) -> Result<Target, String> {
        let mut out = Target::default();
        for (key, value) in node.pairs() {
            if is_empty(value) {
                continue;
            }
            let slot = match key.text() {
                "group" => &mut out.group,
                "version" => &mut out.version,
                "kind" => &mut out.kind,
                "name" => &mut out.name,
                "labelSelector" => {
                    out.conditions.extend(conditions(value, place)?.into_iter().map(|one| (Labels::Labels, one)));
                    continue;
                }
                "annotationSelector" => {
                    out.conditions.extend(conditions(value, place)?.into_iter().map(|one| (Labels::Annotations, one)));
                    continue;
                }
                other => return Err(place.wrong(key, format!("`{other}` of a target is not known here; {INSTEAD}"))),
            };
            *slot = Some(pattern(text(value, place)?).map_err(|why| place.wrong(value, why))?);
        }
        Ok(out)
    }

    /// Returns whether a resource is meant.
    pub(super) fn selects<'v>(&self, id: Id<'_>, labels: &dyn Fn(Labels) -> Option<Value<'v>>) -> bool {
        let [api_version, kind, _, name] = id;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let parts = [(&self.group, group), (&self.version, version), (&self.kind, kind), (&self.name, name)];
        parts.iter().all(|(pattern, text)| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text)))
            && self.conditions.iter().all(|(of, condition)| {
                let found = labels(*of).and_then(|labels| labels.get(&condition.key)?.as_str());
                let holds = match &condition.value {
                    Some(value) => found == Some(value.as_str()),
                    None => found.is_some(),
                };
                holds != condition.is_negated
            })
    }
}

/// Compiles a pattern, which must match the whole text, as kustomize does.
fn pattern(text: &str) -> Result<Regex, String> {
    let begin = if text.starts_with('^') { "" } else { "^" };
    let end = if text.ends_with('$') { "" } else { "$" };
    let compiled = RegexBuilder::new(&format!("{begin}{text}{end}")).size_limit(MAX_PATTERN).build();
    compiled.map_err(|error| format!("{text:?} is no pattern: {error}"))
}

/// Reads the conditions of a selector: `a=b`, `a==b`, `a!=b`, `a`, `!a`.
fn conditions(node: Node<'_>, place: Place<'_>) -> Result<Vec<Condition>, String> {
    let written = text(node, place)?;
    let one = |part: &str| {
        let (key, value, is_negated) = match (part.split_once("!="), part.split_once('=')) {
            (Some((key, value)), _) => (key, Some(value), true),
            (None, Some((key, value))) => (key, Some(value.strip_prefix('=').unwrap_or(value)), false),
            (None, None) => (part.strip_prefix('!').unwrap_or(part), None, part.starts_with('!')),
        };
        let key = key.trim();
        let is_plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        is_plain.then(|| Condition {
            key: key.to_owned(),
            value: value.map(|value| value.trim().to_owned()),
            is_negated,
        })
    };
    let all: Option<Vec<Condition>> = written.split(',').map(|part| one(part.trim())).collect();
    all.ok_or_else(|| place.wrong(node, format!("the selector {written:?} is not known here; {INSTEAD}")))
}
