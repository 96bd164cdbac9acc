//! Feature gates: constants, specs by release, dependencies, and the comments above the constants.

use crate::go::{self, Comments};
use crate::tag;
use crate::{Stage, Version};
use kubeshape_input::{Code, Finding, Source};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tree_sitter::Node;

/// The maximum number of specs of a gate, and of stage lines in its comment: more than there are releases. Each field
/// with the gate reads all of them.
const MAX_STAGES: usize = 128;

/// The state of a gate from one release on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The release; `None` in files without versioned specs.
    pub version: Option<Version>,
    /// Whether the feature is on by default.
    pub default: bool,
    /// How stable it is.
    pub stage: Stage,
    /// Whether the default cannot be changed.
    pub locked: bool,
}

/// A feature gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The name, as in `--feature-gates`.
    pub name: String,
    /// The file of the constant, or of the specs if there is no constant.
    pub source: Arc<Source>,
    /// The byte range of the name.
    pub span: Range<usize>,
    /// The specs in the order of the file, which is that of the releases.
    pub specs: Vec<Spec>,
    /// The gates that must be on for it to be on.
    pub dependencies: Vec<String>,
    /// Stages with their releases, from the comment above the constant: `alpha: v1.20`.
    pub comments: Vec<(Stage, Version, Range<usize>)>,
    /// The owner in the comment: `@you`.
    pub owner: Option<String>,
}

impl Gate {
    /// Returns the specs in force in a release: those of the release and of earlier ones. Without a release: all.
    fn until(&self, release: Option<Version>) -> impl DoubleEndedIterator<Item = &Spec> {
        self.specs.iter().filter(move |spec| spec.version.is_none() || release.is_none() || spec.version <= release)
    }

    /// Returns the spec of the gate in a release, or in the newest known release if `None`; `None` if the release does
    /// not have the gate.
    pub fn spec(&self, release: Option<Version>) -> Option<Spec> {
        self.until(release).next_back().copied()
    }

    /// Returns the stage in a release, and the first release of the stage if the specs or the comment have it.
    ///
    /// # Example
    /// ```
    /// use kubeshape_input::Source;
    /// use kubeshape_lifecycle::{Features, Stage, Version};
    /// let text = r#"package features
    /// const (
    ///     // owner: @you
    ///     Frobber2D featuregate.Feature = "Frobber2D"
    /// )
    /// var specs = map[featuregate.Feature]featuregate.VersionedSpecs{
    ///     Frobber2D: {
    ///         {Version: version.MustParse("1.20"), Default: false, PreRelease: featuregate.Alpha},
    ///         {Version: version.MustParse("1.22"), Default: false, PreRelease: featuregate.Beta},
    ///         {Version: version.MustParse("1.23"), Default: true, PreRelease: featuregate.Beta},
    ///     },
    /// }
    /// "#;
    /// let features = Features::read([Source::from_text("kube_features.go", text)]).0;
    /// let gate = features.get("Frobber2D").unwrap();
    /// let beta = Version::parse("1.22");
    /// assert_eq!(gate.stage(None), Some((Stage::Beta, beta)));
    /// assert_eq!(gate.stage(Version::parse("1.21")), Some((Stage::Alpha, Version::parse("1.20"))));
    /// assert_eq!(gate.stage(Version::parse("1.19")), None);
    /// ```
    pub fn stage(&self, release: Option<Version>) -> Option<(Stage, Option<Version>)> {
        let now = self.spec(release)?;
        let since = self.until(release).rev().take_while(|spec| spec.stage == now.stage).last();
        let since = since.and_then(|spec| spec.version);
        let said = || self.comments.iter().find(|(stage, ..)| *stage == now.stage).map(|(_, version, _)| *version);
        Some((now.stage, since.or_else(said)))
    }

    /// A finding about the gate.
    pub(crate) fn finding(&self, code: Code, detail: impl Into<String>) -> Finding {
        self.source.finding(code, self.span.clone(), detail)
    }
}

/// The feature gates of a set of files.
#[derive(Clone, Debug, Default)]
pub struct Features {
    gates: BTreeMap<String, Gate>,
}

/// A gate's constant.
struct Constant {
    name: String,
    file: usize,
    span: Range<usize>,
    comments: Range<usize>,
}

/// An entry of a map literal about a gate.
struct Entry {
    /// The name of the constant.
    constant: String,
    file: usize,
    span: Range<usize>,
    specs: Vec<Spec>,
    dependencies: Vec<String>,
}

impl Features {
    /// Reads Go files. Invalid Go is reported, and the valid parts are used.
    pub fn read(sources: impl IntoIterator<Item = Source>) -> (Features, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut features = Features::default();
        let mut parser = match go::parser() {
            Ok(parser) => parser,
            Err(error) => return (features, vec![Finding::new(Code::LifecycleSource, error.to_string())]),
        };
        let sources: Vec<Arc<Source>> = sources.into_iter().map(Arc::new).collect();
        let mut constants: BTreeMap<String, Constant> = BTreeMap::new();
        let mut entries = Vec::new();
        for (file, source) in sources.iter().enumerate() {
            let Some(tree) = go::parse(&mut parser, source.text()) else { continue };
            if let Some(broken) = go::broken(&tree) {
                findings.push(crate::types::not_go(source, broken));
            }
            read_file(&tree, file, source.text(), &mut constants, &mut entries);
        }
        for known in constants.values() {
            let source = Arc::clone(&sources[known.file]);
            let mut gate = Gate {
                name: known.name.clone(),
                source,
                span: known.span.clone(),
                specs: Vec::new(),
                dependencies: Vec::new(),
                comments: Vec::new(),
                owner: None,
            };
            let comment = sources[known.file].text().get(known.comments.clone()).unwrap_or_default();
            for line in tag::lines(comment, known.comments.start) {
                let Some((word, value)) = line.text.split_once(':') else { continue };
                let value = value.trim();
                if word.eq_ignore_ascii_case("owner") {
                    gate.owner = Some(value.to_owned());
                } else if let Some((stage, version)) = Stage::of_word(word).zip(Version::parse(value))
                    && gate.comments.len() < MAX_STAGES
                {
                    gate.comments.push((stage, version, line.span()));
                }
            }
            features.gates.entry(known.name.clone()).or_insert(gate);
        }
        let name =
            |constant: &str| constants.get(constant).map_or_else(|| constant.to_owned(), |known| known.name.clone());
        for entry in entries {
            let gate = features.gates.entry(name(&entry.constant)).or_insert_with_key(|name| Gate {
                name: name.clone(),
                source: Arc::clone(&sources[entry.file]),
                span: entry.span.clone(),
                specs: Vec::new(),
                dependencies: Vec::new(),
                comments: Vec::new(),
                owner: None,
            });
            // A gate of another component is also in the file of that component. The first file is used.
            if gate.specs.is_empty() {
                gate.specs = entry.specs;
            }
            gate.dependencies.extend(entry.dependencies.iter().map(|constant| name(constant)));
        }
        for gate in features.gates.values_mut() {
            gate.dependencies.sort();
            gate.dependencies.dedup();
        }
        (features, findings)
    }

    /// Returns the gate of this name.
    pub fn get(&self, name: &str) -> Option<&Gate> {
        self.gates.get(name)
    }

    /// Iterates over all gates, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Gate> {
        self.gates.values()
    }

    /// Returns whether there are no gates.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }
}

fn read_file(
    tree: &tree_sitter::Tree,
    file: usize,
    text: &str,
    constants: &mut BTreeMap<String, Constant>,
    entries: &mut Vec<Entry>,
) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let enters = match node.kind() {
            "const_declaration" => {
                read_constants(node, file, text, constants);
                false
            }
            "composite_literal" => !read_literal(node, file, text, entries),
            _ => node.is_named(),
        };
        if enters && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn read_constants(node: Node<'_>, file: usize, text: &str, constants: &mut BTreeMap<String, Constant>) {
    let mut cursor = node.walk();
    let mut comments = Comments::default();
    let mut last_row = Some(node.start_position().row);
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "comment" if last_row != Some(child.start_position().row) => comments.add(child),
            "const_spec" => {
                last_row = Some(child.end_position().row);
                let found = constant(child, file, comments.before(child, false), text);
                comments.clear();
                if let Some((name, constant)) = found {
                    constants.entry(name).or_insert(constant);
                }
            }
            _ => {}
        }
    }
}

fn constant(node: Node<'_>, file: usize, comments: Range<usize>, text: &str) -> Option<(String, Constant)> {
    let kind = go::text(node.child_by_field_name("type")?, text);
    if kind != "Feature" && !kind.ends_with(".Feature") {
        return None;
    }
    let name = node.child_by_field_name("name")?;
    let value = node.child_by_field_name("value")?.named_child(0)?;
    if !value.kind().ends_with("string_literal") {
        return None;
    }
    let constant = Constant { name: go::unquoted(value, text).to_owned(), file, span: name.byte_range(), comments };
    Some((go::text(name, text).to_owned(), constant))
}

/// Reads a literal of a map from gates to specs or dependencies. Returns whether it is one.
fn read_literal(node: Node<'_>, file: usize, text: &str, entries: &mut Vec<Entry>) -> bool {
    let kind = node.child_by_field_name("type").filter(|kind| kind.kind() == "map_type");
    let Some(value) = kind.and_then(|kind| kind.child_by_field_name("value")) else { return false };
    let value = go::text(value, text);
    let is_dependencies = value.starts_with("[]") && value.ends_with("Feature");
    let is_specs = value.ends_with("VersionedSpecs") || value.ends_with("FeatureSpec");
    if !is_dependencies && !is_specs {
        return false;
    }
    let Some(body) = node.child_by_field_name("body") else { return true };
    for (key, value) in keyed(body) {
        let mut entry = Entry {
            constant: last_name(key, text).to_owned(),
            file,
            span: key.byte_range(),
            specs: Vec::new(),
            dependencies: Vec::new(),
        };
        let Some(list) = literal(value) else { continue };
        if is_dependencies {
            entry.dependencies = elements(list).into_iter().map(|item| last_name(item, text).to_owned()).collect();
        } else if let Some(spec) = spec(list, text) {
            entry.specs.push(spec);
        } else {
            let specs = elements(list).into_iter().filter_map(|item| spec(literal(item)?, text));
            entry.specs.extend(specs.take(MAX_STAGES));
        }
        entries.push(entry);
    }
    true
}

/// Returns the keys and values in the body of a literal.
fn keyed(body: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    let mut cursor = body.walk();
    let pairs = body.named_children(&mut cursor).filter(|child| child.kind() == "keyed_element");
    pairs.filter_map(|pair| Some((element(pair.named_child(0)?), element(last_named(pair)?)))).collect()
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").last()
}

/// Returns the items in the body of a literal.
fn elements(body: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = body.walk();
    let items = body.named_children(&mut cursor).filter(|child| child.kind() == "literal_element");
    items.map(element).collect()
}

fn element(node: Node<'_>) -> Node<'_> {
    if node.kind() == "literal_element" { node.named_child(0).unwrap_or(node) } else { node }
}

/// Returns the body of a literal with or without a type.
fn literal(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "literal_value" => Some(node),
        "composite_literal" => node.child_by_field_name("body"),
        _ => None,
    }
}

/// Returns `X` for `X` and `features.X`.
fn last_name<'s>(node: Node<'_>, text: &'s str) -> &'s str {
    let text = go::text(node, text);
    text.rsplit('.').next().unwrap_or(text).trim()
}

fn spec(body: Node<'_>, text: &str) -> Option<Spec> {
    let mut out = Spec { version: None, default: false, stage: Stage::Ga, locked: false };
    let mut is_spec = false;
    for (key, value) in keyed(body) {
        let said = go::text(value, text);
        match go::text(key, text) {
            "Default" => out.default = said == "true",
            "LockToDefault" => out.locked = said == "true",
            "PreRelease" => {
                // `featuregate.GA` is the empty string.
                out.stage = Stage::of_word(last_name(value, text)).unwrap_or(Stage::Ga);
            }
            "Version" => out.version = said.split('"').nth(1).and_then(Version::parse),
            _ => continue,
        }
        is_spec = true;
    }
    is_spec.then_some(out)
}
