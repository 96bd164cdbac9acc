//! The lifecycle of each field, from its tags and its feature gates.

use crate::tag::{self, KUBERNETES, LifecycleTag, Line};
use crate::types::TypePlace;
use crate::{Features, GoField, GoFile, Json, Stage, Types, Version};
use std::collections::BTreeMap;
use std::fmt;

/// How tags and gates are evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The release whose stages are used; if `None`, the tags as written, and the newest specs of the gates.
    pub release: Option<Version>,
}

/// An entry of `x-kubernetes-api-lifecycle`: the lifecycle of a field in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// The first release with this status.
    pub min_version: Option<String>,
    /// `alpha`, `beta` or `deprecated`.
    pub status: Option<String>,
    /// The feature gates, separated by commas.
    pub feature_gate: Option<String>,
}

impl Lifecycle {
    pub(crate) fn gates(&self) -> &str {
        self.feature_gate.as_deref().unwrap_or_default()
    }
}

/// Prints it in words: `alpha since v1.20, behind the feature gate Frobber2D`.
impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.status.as_deref().unwrap_or("new"))?;
        if let Some(since) = &self.min_version {
            write!(f, " since {since}")?;
        }
        if !self.gates().is_empty() {
            write!(f, ", behind the feature gate {}", self.gates())?;
        }
        Ok(())
    }
}

/// The tags about the lifecycle in the comments of a field.
#[derive(Clone, Debug, Default)]
pub struct Tags<'t> {
    /// The tags of KEP-2558 with their lines.
    pub lifecycle: Vec<(LifecycleTag, Line<'t>)>,
    /// The gates of `+featureGate`, each with its line.
    pub gates: Vec<(&'t str, Line<'t>)>,
    /// The gates of `+k8s:ifEnabled`.
    pub conditions: Vec<(&'t str, Line<'t>)>,
    /// The first line of a paragraph that begins with `Deprecated:`.
    pub deprecated: Option<Line<'t>>,
}

impl<'t> Tags<'t> {
    /// Reads the comments of a field.
    pub fn of(file: &'t GoFile, field: &GoField) -> Tags<'t> {
        let mut out = Tags::default();
        // A paragraph begins at the start, after an empty line, or after tags.
        let mut begins = true;
        for line in file.lines(&field.comments) {
            if let Some(tag) = LifecycleTag::parse(line.text) {
                out.lifecycle.push((tag, line));
            } else if let Some(gates) = tag::feature_gates(line.text) {
                out.gates.extend(gates.map(|gate| (gate, line)));
            } else if let Some(gate) = tag::if_enabled(line.text) {
                out.conditions.push((gate, line));
            } else if begins && line.text.starts_with("Deprecated:") && out.deprecated.is_none() {
                out.deprecated = Some(line);
            }
            begins = line.text.is_empty() || line.text.starts_with('+');
        }
        out
    }

    /// Returns whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.lifecycle.is_empty() && self.gates.is_empty() && self.conditions.is_empty() && self.deprecated.is_none()
    }

    /// Returns the names of the gates on which the field depends: those of the tag of Kubernetes, else of
    /// `+featureGate`, else of `+k8s:ifEnabled`; without duplicates.
    pub fn gate_names(&self) -> Vec<&str> {
        let tagged = self.lifecycle.iter().filter(|(tag, _)| tag.project == KUBERNETES);
        let mut names: Vec<&str> = tagged.filter_map(|(tag, _)| tag.feature_gate.as_deref()).collect();
        if names.is_empty() {
            let given = if self.gates.is_empty() { &self.conditions } else { &self.gates };
            names.extend(given.iter().map(|(gate, _)| *gate));
        }
        let mut out: Vec<&str> = Vec::new();
        for name in names {
            if !out.contains(&name) {
                out.push(name);
            }
        }
        out
    }
}

/// The evaluated lifecycle of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The stage in Kubernetes; `None` if no tag is about Kubernetes, the gate is unknown, or the release does not have
    /// it.
    pub stage: Option<Stage>,
    /// The entries of the extension by project. There is none for Kubernetes if the field is generally available.
    pub projects: BTreeMap<String, Lifecycle>,
}

/// Evaluates the tags of a field.
///
/// A tag of KEP-2558 has precedence over a `Deprecated:` paragraph, that over `+featureGate`, and that over
/// `+k8s:ifEnabled`. Of several gates, the least stable one is used.
pub fn state(tags: &Tags<'_>, features: &Features, options: &Options) -> State {
    let mut out = State::default();
    for (tag, _) in &tags.lifecycle {
        let entry = Lifecycle {
            min_version: tag.min_version.clone(),
            status: tag.status.clone(),
            feature_gate: tag.feature_gate.clone(),
        };
        if tag.project != KUBERNETES {
            out.projects.entry(tag.project.clone()).or_insert(entry);
        } else if !out.projects.contains_key(KUBERNETES) && out.stage.is_none() {
            out.stage = tagged(entry, features, options, &mut out.projects);
        }
    }
    if tags.lifecycle.iter().any(|(tag, _)| tag.project == KUBERNETES) {
        return out;
    }
    if tags.deprecated.is_some() {
        out.stage = Some(Stage::Deprecated);
        let entry = Lifecycle { status: Some(Stage::Deprecated.name().to_owned()), ..Lifecycle::default() };
        out.projects.insert(KUBERNETES.to_owned(), entry);
        return out;
    }
    gated(&tags.gate_names(), features, options, &mut out);
    out
}

/// Evaluates an entry of a tag or of a schema. Its gate is used when the gate is generally available, and if a release
/// is given.
pub(crate) fn tagged(
    mut entry: Lifecycle,
    features: &Features,
    options: &Options,
    projects: &mut BTreeMap<String, Lifecycle>,
) -> Option<Stage> {
    let mut stage = entry.status.as_deref().and_then(Stage::of_status);
    let gate = entry.feature_gate.as_deref().and_then(|name| features.get(name));
    if let Some(gate) = gate.filter(|_| stage != Some(Stage::Deprecated)) {
        let is_versioned = gate.specs.iter().any(|spec| spec.version.is_some());
        match gate.stage(options.release) {
            Some((Stage::Ga, _)) => return Some(Stage::Ga),
            Some((now, since)) if options.release.is_some() && is_versioned => {
                stage = Some(now);
                entry.status = Some(now.name().to_owned());
                entry.min_version = since.map(|since| since.to_string()).or(entry.min_version);
            }
            // The release does not have the gate yet.
            None if is_versioned => return None,
            _ => {}
        }
    } else if let (Some(release), Some(since)) =
        (options.release, entry.min_version.as_deref().and_then(Version::strict))
        && since > release
    {
        return None;
    }
    projects.insert(KUBERNETES.to_owned(), entry);
    stage
}

fn gated(names: &[&str], features: &Features, options: &Options, out: &mut State) {
    let known = names.iter().map(|name| features.get(name).and_then(|gate| gate.stage(options.release)));
    let Some(stages) = known.collect::<Option<Vec<_>>>().filter(|stages| !stages.is_empty()) else { return };
    let least = |stage: Stage| match stage {
        Stage::Deprecated => 0,
        Stage::Alpha => 1,
        Stage::Beta => 2,
        Stage::Ga => 3,
    };
    // The first of the least stable gates.
    let Some((stage, since)) = stages.iter().min_by_key(|(stage, _)| least(*stage)).copied() else { return };
    out.stage = Some(stage);
    if stage == Stage::Ga {
        return;
    }
    // All gates must be on, so the stage begins when the last of them has it.
    let alike = stages.iter().filter(|(other, _)| *other == stage).map(|(_, since)| *since);
    let since = alike.max().unwrap_or(since);
    let open = names.iter().zip(&stages).filter(|(_, (stage, _))| *stage != Stage::Ga);
    let gates: Vec<&str> = open.map(|(name, _)| *name).collect();
    out.projects.insert(
        KUBERNETES.to_owned(),
        Lifecycle {
            min_version: since.map(|since| since.to_string()),
            status: Some(stage.name().to_owned()),
            feature_gate: Some(gates.join(",")),
        },
    );
}

/// A field with tags.
#[derive(Clone, Debug)]
pub struct Field<'t> {
    /// The type that declares it.
    pub place: TypePlace<'t>,
    /// The field.
    pub field: &'t GoField,
    /// The tags in its comments.
    pub tags: Tags<'t>,
    /// Their evaluation.
    pub state: State,
}

impl Field<'_> {
    /// Returns the name of the property; `None` if the field is not serialized or is inlined in its parent.
    pub fn property(&self) -> Option<&str> {
        match &self.field.json {
            Json::Member(name) => Some(name),
            Json::Inline | Json::None => None,
        }
    }

    /// `FILE:LINE:COLUMN`
    pub fn location(&self) -> String {
        self.place.file.source.location(self.field.span.start)
    }
}

/// Returns all fields with tags, sorted by package, type and position.
///
/// # Example
/// ```
/// use kubeshape_input::Source;
/// use kubeshape_lifecycle::{Features, Options, Stage, Types, fields};
/// let text = "package v1\ntype A struct {\n\t// Deprecated: use b.\n\tOld string `json:\"old\"`\n}\n";
/// let (types, _) = Types::read([Source::from_text("v1/types.go", text)]);
/// let fields = fields::fields(&types, &Features::default(), &Options::default());
/// assert_eq!(fields[0].property(), Some("old"));
/// assert_eq!(fields[0].state.stage, Some(Stage::Deprecated));
/// assert_eq!(fields[0].location(), "v1/types.go:4:2");
/// ```
pub fn fields<'t>(types: &'t Types, features: &Features, options: &Options) -> Vec<Field<'t>> {
    let mut out = Vec::new();
    for place in types.types() {
        for field in &place.of.fields {
            let tags = Tags::of(place.file, field);
            if tags.is_empty() {
                continue;
            }
            let state = state(&tags, features, options);
            out.push(Field { place, field, tags, state });
        }
    }
    out
}
