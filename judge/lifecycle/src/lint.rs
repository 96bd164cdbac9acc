//! Checks of tags and feature gates.

use crate::fields::{self, Field};
use crate::kinds::{self, KindKey};
use crate::tag::{Fault, KUBERNETES, Key, LifecycleTag, Line};
use crate::types::TypePlace;
use crate::{Features, Gate, GoField, Json, Options, Stage, Types, Version};
use kubeshape_input::{Code, Finding};
use std::collections::{BTreeMap, BTreeSet};

/// The shortest name of a gate that is searched for in comments; shorter ones may be ordinary words.
const MIN_GATE_NAME: usize = 6;

/// Checks the tags of all fields and kinds, and the gates. If there are no gates, checks that need them are skipped.
///
/// # Example
/// ```
/// use kubeshape_input::Source;
/// use kubeshape_lifecycle::{Features, Options, Types, lint};
/// let text = "package v1
/// type A struct {
///     // +lifecycle:kubernetes:minVersion=1.20,status=alpha
///     B string `json:\"b\"`
/// }
/// ";
/// let (types, _) = Types::read([Source::from_text("v1/types.go", text)]);
/// let findings = lint::lint(&types, &Features::default(), &Options::default());
/// assert_eq!(
///     findings[0].to_string(),
///     "v1/types.go:3:8: KS8303 The minVersion of a lifecycle tag is not a version: found \"1.20\", expected a minor \
///      release such as v1.20 (in A.b)",
/// );
/// ```
pub fn lint(types: &Types, features: &Features, options: &Options) -> Vec<Finding> {
    let fields = fields::fields(types, features, options);
    let mut lint = Lint { features, options, findings: Vec::new() };
    for field in &fields {
        lint.field(field);
    }
    lint.untagged(types);
    lint.kinds(types);
    lint.versions(&fields);
    lint.gates(&fields);
    lint.findings
}

struct Lint<'l> {
    features: &'l Features,
    options: &'l Options,
    findings: Vec<Finding>,
}

fn about(field: &Field<'_>, code: Code, line: Line<'_>, detail: impl Into<String>) -> Finding {
    field.place.file.source.finding(code, line.span(), detail).of_resource(name(field))
}

/// Returns `Type.property`.
fn name(field: &Field<'_>) -> String {
    format!("{}.{}", field.place.of.name, field.property().unwrap_or(&field.field.name))
}

impl<'l> Lint<'l> {
    fn field(&mut self, field: &Field<'_>) {
        let tags = &field.tags;
        let mut projects: BTreeSet<&str> = BTreeSet::new();
        for (tag, line) in &tags.lifecycle {
            if !projects.insert(&tag.project) {
                let detail = format!("the field has another tag for {}; delete one of them", tag.project);
                self.findings.push(about(field, Code::LifecycleDuplicate, *line, detail));
            }
            for fault in &tag.faults {
                self.findings.push(about(field, Code::LifecycleTag, *line, fault.to_string()));
            }
            if tag.project == KUBERNETES {
                self.kubernetes(field, tag, *line);
            }
        }
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for (gate, line) in &tags.gates {
            if named.insert(gate) {
                self.known(field, gate, *line);
            } else {
                let detail = format!("{gate} is named before; delete it here");
                self.findings.push(about(field, Code::LifecycleDuplicate, *line, detail));
            }
        }
        for (gate, line) in &tags.conditions {
            if named.insert(gate) {
                self.known(field, gate, *line);
            }
        }
        let first = tags.lifecycle.iter().map(|(_, line)| *line).chain(tags.gates.iter().map(|(_, line)| *line)).next();
        if let Some(line) = first.filter(|_| field.property().is_none()) {
            let why = match field.field.json {
                Json::Inline => "its members stand in the object around it; tag the fields of its type",
                _ => "it is not in JSON; delete the tag",
            };
            self.findings.push(about(
                field,
                Code::LifecycleNotSerialized,
                line,
                format!("{}: {why}", field.field.name),
            ));
        }
    }

    /// Returns the gate of a tag. Reports an unknown gate, and one that is generally available.
    fn known(&mut self, field: &Field<'_>, name: &str, line: Line<'_>) -> Option<&'l Gate> {
        if self.features.is_empty() {
            return None;
        }
        let Some(gate) = self.features.get(name) else {
            let detail = format!("found {name:?}, expected a gate of the feature files; correct it, or delete the tag");
            self.findings.push(about(field, Code::LifecycleGate, line, detail));
            return None;
        };
        if let Some((Stage::Ga, since)) = gate.stage(self.options.release) {
            let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
            let detail = format!("{name} is generally available{since}; delete the tag");
            self.findings.push(about(field, Code::LifecycleGraduated, line, detail));
        }
        Some(gate)
    }

    fn kubernetes(&mut self, field: &Field<'_>, tag: &LifecycleTag, line: Line<'_>) {
        // A missing part is reported once.
        let is_told = |key| tag.faults.iter().any(|fault| *fault == Fault::NoMembers || *fault == Fault::NoValue(key));
        if tag.min_version.is_none() && !is_told(Key::MinVersion) {
            self.findings.push(about(
                field,
                Code::LifecycleTag,
                line,
                "minVersion is missing; add minVersion=v1.20 or the like",
            ));
        }
        if tag.status.is_none() && !is_told(Key::Status) {
            self.findings.push(about(
                field,
                Code::LifecycleTag,
                line,
                "status is missing; add status=alpha, beta or deprecated",
            ));
        }
        if let Some(version) = tag.min_version.as_deref().filter(|_| tag.version().is_none()) {
            let detail = format!("found {version:?}, expected a minor release such as v1.20");
            self.findings.push(about(field, Code::LifecycleVersion, line, detail));
        }
        if let Some(version) = tag.version().filter(|version| !version.exists()) {
            self.findings.push(about(field, Code::LifecycleVersion, line, no_release(version)));
        }
        if let Some(status) = tag.status.as_deref().filter(|_| tag.stage().is_none()) {
            let detail = format!("found {status:?}, expected alpha, beta or deprecated");
            self.findings.push(about(field, Code::LifecycleStatus, line, detail));
        }
        let Some(gate) = tag.feature_gate.as_deref().and_then(|name| self.known(field, name, line)) else { return };
        // A deprecated field may have a gate of any stage.
        let Some(status) = tag.stage().filter(|stage| *stage != Stage::Deprecated) else { return };
        let Some((now, since)) = gate.stage(self.options.release).filter(|(now, _)| *now != Stage::Ga) else { return };
        let since_text = since.map(|since| format!(" since {since}")).unwrap_or_default();
        if now != status {
            let detail =
                format!("the tag says {status}, and {} is {now}{since_text}; correct status and minVersion", gate.name);
            self.findings.push(about(field, Code::LifecycleStage, line, detail));
            return;
        }
        let Some(version) = tag.version() else { return };
        if let Some(then) = other_stage(gate, version, status) {
            let detail = format!(
                "minVersion is {version}, when {} was {then}; it is {status}{since_text}: write that release",
                gate.name,
            );
            self.findings.push(about(field, Code::LifecycleStage, line, detail));
        }
    }

    /// Reports gates in comments that no tag names.
    fn untagged(&mut self, types: &Types) {
        if self.features.is_empty() {
            return;
        }
        for place in types.types() {
            // If the type or one of its fields has the name of a gate, a comment may mean that.
            let mut names: BTreeSet<&str> = place.of.fields.iter().map(|field| field.name.as_str()).collect();
            names.insert(&place.of.name);
            let fields = place.of.fields.iter().filter(|field| matches!(field.json, Json::Member(_)));
            for field in fields {
                if place.file.lines(&field.comments).any(|line| speaks_of_gates(line.text)) {
                    self.untagged_field(place, field, &names);
                }
            }
        }
    }

    fn untagged_field(&mut self, place: TypePlace<'_>, field: &GoField, names: &BTreeSet<&str>) {
        let tags = fields::Tags::of(place.file, field);
        let mut named: BTreeSet<&str> = tags.gates.iter().chain(&tags.conditions).map(|(gate, _)| *gate).collect();
        named.extend(tags.lifecycle.iter().filter_map(|(tag, _)| tag.feature_gate.as_deref()));
        for line in place.file.lines(&field.comments).filter(|line| !line.text.starts_with('+')) {
            for (at, word) in words(line.text).filter(|(_, word)| word.len() >= MIN_GATE_NAME) {
                // A gate that is generally available needs no tag.
                let stage = self.features.get(word).and_then(|gate| gate.stage(self.options.release));
                let is_open = stage.is_some_and(|(stage, _)| stage != Stage::Ga);
                if !is_open || names.contains(word) || !named.insert(word) {
                    continue;
                }
                let detail = format!("add +featureGate={word} if the field depends on {word}");
                let span = Line { text: word, at: line.at + at }.span();
                let finding = place.file.source.finding(Code::LifecycleUntagged, span, detail);
                self.findings.push(finding.of_resource(format!("{}.{}", place.of.name, field.name)));
            }
        }
    }

    /// Reports versions of one group that disagree.
    fn versions(&mut self, fields: &[Field<'_>]) {
        type Key<'k> = (&'k str, &'k str, &'k str);
        let mut known: BTreeMap<Key<'_>, &Field<'_>> = BTreeMap::new();
        for field in fields {
            let Some(property) = field.property() else { continue };
            // Versions are folders in the folder of the group.
            let Some((group, version)) = field.place.package.folder.rsplit_once('/') else { continue };
            if !version.starts_with('v') {
                continue;
            }
            let gates = field.tags.gate_names();
            let statuses = |field: &Field<'_>| {
                field
                    .tags
                    .lifecycle
                    .iter()
                    .find_map(|(tag, _)| tag.status.clone().filter(|_| tag.project == KUBERNETES))
            };
            if gates.is_empty() && statuses(field).is_none() {
                continue;
            }
            let key = (group, field.place.of.name.as_str(), property);
            let Some(other) = known.get(&key) else {
                known.insert(key, field);
                continue;
            };
            let sorted = |mut gates: Vec<&str>| {
                gates.sort_unstable();
                gates.join(",")
            };
            let (mine, theirs) = (sorted(gates), sorted(other.tags.gate_names()));
            let (status, their_status) = (statuses(field), statuses(other));
            if mine == theirs && status == their_status {
                continue;
            }
            let says = |gates: &str, status: Option<String>| match status {
                Some(status) if gates.is_empty() => status,
                Some(status) => format!("{status} behind {gates}"),
                None => gates.to_owned(),
            };
            let detail = format!(
                "{version} says {}, and {} says {}; make them agree",
                says(&mine, status),
                other.location(),
                says(&theirs, their_status),
            );
            let span = field.field.span.clone();
            let finding = field.place.file.source.finding(Code::LifecycleContradiction, span, detail);
            self.findings.push(finding.of_resource(name(field)));
        }
    }

    /// Checks tags about the releases of kinds.
    fn kinds(&mut self, types: &Types) {
        for place in types.types() {
            let tags = kinds::tags(place);
            let is_asked = place.package.tells_releases && kinds::is_kind(place);
            if tags.is_empty() && !is_asked {
                continue;
            }
            let finding = |code, span, detail: String| {
                place.file.source.finding(code, span, detail).of_resource(place.of.name.clone())
            };
            let count = self.findings.len();
            let mut seen: BTreeSet<KindKey> = BTreeSet::new();
            for tag in &tags {
                let said = if seen.insert(tag.key) {
                    match tag.key {
                        KindKey::Replacement => tag.replacement().err(),
                        _ => match tag.release() {
                            Ok(release) => (!release.exists()).then(|| no_release(release)),
                            Err(said) => Some(said),
                        },
                    }
                } else {
                    Some(format!("{} stands twice; delete one of the tags", tag.key.name()))
                };
                if let Some(said) = said {
                    self.findings.push(finding(Code::LifecycleKindTag, tag.line.span(), said));
                }
            }
            if !seen.contains(&KindKey::Introduced) {
                let detail = "introduced is missing; add +k8s:prerelease-lifecycle-gen:introduced=RELEASE".to_owned();
                self.findings.push(finding(Code::LifecycleKindTag, place.of.span.clone(), detail));
            }
            // Malformed tags have no order.
            let Some(kind) = kinds::of_type(place).filter(|_| count == self.findings.len()) else { continue };
            let span = |key: KindKey| {
                let tag = tags.iter().find(|tag| tag.key == key);
                tag.map_or_else(|| place.of.span.clone(), |tag| tag.line.span())
            };
            let introduced = kind.introduced;
            if let Some(deprecated) = kind.deprecated.filter(|deprecated| *deprecated < introduced) {
                let detail =
                    format!("it is introduced in {introduced} and deprecated in {deprecated}; correct one of them");
                self.findings.push(finding(Code::LifecycleKindOrder, span(KindKey::Deprecated), detail));
            }
            let Some(removed) = kind.removed else { continue };
            let detail = match kind.deprecated {
                Some(deprecated) if removed <= deprecated => {
                    format!("it is deprecated in {deprecated} and removed in {removed}; correct one of them")
                }
                None => format!("it is removed in {removed} and never deprecated; add the tag deprecated"),
                Some(_) => continue,
            };
            self.findings.push(finding(Code::LifecycleKindOrder, span(KindKey::Removed), detail));
        }
    }

    fn gates(&mut self, fields: &[Field<'_>]) {
        let named: BTreeSet<&str> = fields.iter().flat_map(|field| field.tags.gate_names()).collect();
        for gate in self.features.iter() {
            for (stage, version, span) in &gate.comments {
                let missing = (!version.exists()).then(|| no_release(*version));
                if let Some(said) = missing.or_else(|| disagreement(gate, *stage, *version)) {
                    self.findings.push(gate.source.finding(Code::LifecycleComment, span.clone(), said));
                }
            }
            if !named.contains(gate.name.as_str()) {
                self.findings.push(gate.finding(Code::LifecycleUnusedGate, gate.name.as_str()));
            }
        }
    }
}

/// Returns the message about a release that Kubernetes does not have.
fn no_release(version: Version) -> String {
    format!("Kubernetes has no release {version}; write one such as v1.20")
}

/// Returns the words of a string with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c: char| !c.is_ascii_alphanumeric()).map(move |word| {
        let begin = at;
        let behind = text[begin + word.len()..].chars().next();
        at = begin + word.len() + behind.map_or(0, char::len_utf8);
        (begin, word)
    })
}

fn speaks_of_gates(text: &str) -> bool {
    let known = ["feature", "features", "featuregate", "gate", "gates"];
    words(text).any(|(_, word)| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Returns the stage of a gate in a release, if its specs or its comment have another one than `status`.
fn other_stage(gate: &Gate, version: Version, status: Stage) -> Option<&'static str> {
    let then = if gate.specs.iter().any(|spec| spec.version.is_some()) {
        gate.stage(Some(version)).map(|(stage, _)| stage)
    } else if gate.comments.is_empty() {
        return None;
    } else {
        let said = gate.comments.iter().filter(|(_, since, _)| *since <= version);
        said.max_by_key(|(_, since, _)| *since).map(|(stage, ..)| *stage)
    };
    (then != Some(status)).then(|| then.map_or("unknown", Stage::name))
}

/// Returns how the specs of a gate disagree with a line of its comment.
fn disagreement(gate: &Gate, stage: Stage, version: Version) -> Option<String> {
    let versions: Vec<Version> =
        gate.specs.iter().filter(|spec| spec.stage == stage).filter_map(|spec| spec.version).collect();
    if gate.specs.iter().any(|spec| spec.version.is_some()) {
        let first = versions.first();
        return match first {
            Some(first) if *first == version => None,
            Some(first) => {
                Some(format!("found {stage} since {version}, and the specs say {first}; correct the comment"))
            }
            None => Some(format!("found {stage} since {version}, and no spec has that stage; correct the comment")),
        };
    }
    // Without versions, the last line of the comment has the current stage.
    let newest = gate.comments.iter().max_by_key(|(_, version, _)| *version)?;
    let now = gate.specs.last()?.stage;
    (newest.0 == stage && newest.1 == version && now != stage)
        .then(|| format!("found {stage} since {version}, and the spec says {now}; correct the comment"))
}
