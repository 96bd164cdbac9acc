//! Reference pages in Markdown: the fields of each kind with their stages, as KEP-2558 proposes for the reference
//! documentation.

use crate::fields::{self, Tags};
use crate::kinds;
use crate::tag::KUBERNETES;
use crate::types::{Package, TypePlace};
use crate::{Features, GoField, GoFile, Json, Options, Stage, Step, TypeRef, Types};
use std::fmt::Write as _;
use std::ops::Range;

/// The maximum depth of fields.
const MAX_DEPTH: usize = 64;
/// The maximum number of alias types in a row.
const MAX_ALIASES: usize = 16;
/// The maximum bytes of the fields of a page, and of all pages. Types can refer to each other in more ways than can be
/// listed.
const MAX_PAGE: usize = 8 << 20;
const MAX_PAGES: usize = 512 << 20;

/// The numbers of fields by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Alpha fields.
    pub alpha: usize,
    /// Beta fields.
    pub beta: usize,
    /// Deprecated fields.
    pub deprecated: usize,
    /// All fields that the page lists.
    pub all: usize,
}

/// The page of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// `FILE:LINE:COLUMN` of its type.
    pub place: String,
    /// The numbers of its fields.
    pub counts: Counts,
    /// Whether fields are left out because there are too many.
    pub is_cut: bool,
    /// The page in Markdown.
    pub text: String,
}

/// Returns the pages of all kinds, sorted by package and name: of the types that embed `TypeMeta`, or that have tags of
/// their releases, in packages named like a version. A list of a kind has no page. Pages are created one by one as the
/// iterator advances.
///
/// # Example
/// ```
/// use kubeshape_input::Source;
/// use kubeshape_lifecycle::{Features, Options, Types, docs};
/// let text = "package v1
/// // Widget is one.
/// type Widget struct {
///     metav1.TypeMeta `json:\",inline\"`
///     // Deprecated: use height.
///     Size int `json:\"size\"`
/// }
/// ";
/// let (types, _) = Types::read([Source::from_text("widgets/v1/types.go", text)]);
/// let features = Features::default();
/// let page = docs::pages(&types, &features, &Options::default()).next().unwrap();
/// assert_eq!((page.api_version.as_str(), page.kind.as_str()), ("widgets/v1", "Widget"));
/// assert!(page.text.contains("| `.size` | int | deprecated |"));
/// ```
pub fn pages<'t>(
    types: &'t Types,
    features: &'t Features,
    options: &'t Options,
) -> impl Iterator<Item = Page> + use<'t> {
    let mut left = MAX_PAGES;
    types.types().filter(|place| has_page(*place)).map(move |place| {
        let page = page(types, features, options, place, left.min(MAX_PAGE));
        left = left.saturating_sub(page.text.len());
        page
    })
}

fn has_page(place: TypePlace<'_>) -> bool {
    let mut name = place.package.name.chars();
    let is_version = name.next() == Some('v') && name.next().is_some_and(|c| c.is_ascii_digit());
    let is_list = place.of.name.strip_suffix("List").is_some_and(|of| place.package.has(of));
    is_version && !is_list && (kinds::is_kind(place) || kinds::of_type(place).is_some())
}

/// Returns the index page. It lists pages with their addresses.
pub fn index<'p>(pages: impl IntoIterator<Item = (&'p Page, String)>) -> String {
    let mut out = "# Kinds and their fields\n\n".to_owned();
    out.push_str("| kind | API version | alpha | beta | deprecated | fields |\n|---|---|---|---|---|---|\n");
    for (page, address) in pages {
        let Counts { alpha, beta, deprecated, all } = page.counts;
        let (kind, version) = (escaped(&page.kind), escaped(&page.api_version));
        let _ = writeln!(out, "| [{kind}](<{address}>) | {version} | {alpha} | {beta} | {deprecated} | {all} |");
    }
    out
}

fn page(types: &Types, features: &Features, options: &Options, place: TypePlace<'_>, limit: usize) -> Page {
    let mut walk = Walk {
        types,
        features,
        options,
        limit,
        counts: Counts::default(),
        open: String::new(),
        all: String::new(),
        stack: Vec::new(),
        is_cut: false,
    };
    walk.fields(place, "");
    let (api_version, kind) = (place.package.api_version(), place.of.name.clone());
    let mut text = format!("# {}\n\n", escaped(&kind));
    let _ = writeln!(text, "API version: {}\n", escaped(&api_version));
    if let Some(kind) = kinds::of_type(place) {
        let _ = write!(text, "Introduced in {}.", kind.introduced);
        for (word, release) in [("Deprecated", kind.deprecated), ("Removed", kind.removed)] {
            if let Some(release) = release {
                let _ = write!(text, " {word} in {release}.");
            }
        }
        if let Some(replacement) = &kind.replacement {
            let _ = write!(text, " Use {} instead.", escaped(replacement));
        }
        text.push_str("\n\n");
    }
    let description = description(place.file, &place.of.comments);
    if !description.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&description));
    }
    text.push_str("## Fields that are alpha, beta or deprecated\n\n");
    if walk.open.is_empty() {
        text.push_str("There are none.\n");
    } else {
        text.push_str("| field | type | stage | since | feature gate |\n|---|---|---|---|---|\n");
        text.push_str(&walk.open);
    }
    text.push_str("\n## All fields\n\n| field | type | stage | since | feature gate | description |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    text.push_str(&walk.all);
    if walk.is_cut {
        text.push_str("\nThere are more fields than this page can list.\n");
    }
    let place = place.file.source.location(place.of.span.start);
    Page { api_version, kind, place, counts: walk.counts, is_cut: walk.is_cut, text }
}

struct Walk<'t> {
    types: &'t Types,
    features: &'t Features,
    options: &'t Options,
    limit: usize,
    counts: Counts,
    /// The rows of fields with a stage, and those of all fields.
    open: String,
    all: String,
    /// The types on the way to the field. None is entered twice.
    stack: Vec<(*const Package, &'t str)>,
    is_cut: bool,
}

impl<'t> Walk<'t> {
    fn fields(&mut self, place: TypePlace<'t>, path: &str) {
        let key = (std::ptr::from_ref(place.package), place.of.name.as_str());
        if self.stack.len() == MAX_DEPTH || self.stack.contains(&key) {
            return;
        }
        self.stack.push(key);
        for (declaring, field) in self.types.members(place) {
            if self.open.len() + self.all.len() >= self.limit {
                self.is_cut = true;
                break;
            }
            let Json::Member(name) = &field.json else { continue };
            let mut path = format!("{path}.{name}");
            self.row(declaring, field, &path);
            if let Some(below) = self.below(declaring, &field.type_ref, &mut path) {
                self.fields(below, &path);
            }
        }
        self.stack.pop();
    }

    fn row(&mut self, place: TypePlace<'t>, field: &'t GoField, path: &str) {
        let state = fields::state(&Tags::of(place.file, field), self.features, self.options);
        let entry = state.projects.get(KUBERNETES).cloned().unwrap_or_default();
        let stage = state.stage.map_or("", Stage::name);
        let since = escaped(entry.min_version.as_deref().unwrap_or_default());
        let gate = escaped(entry.feature_gate.as_deref().unwrap_or_default());
        let path = path.replace('`', "'").replace('|', "\\|");
        let kind = escaped(&type_text(&field.type_ref));
        let row = format!("| `{}` | {kind} | {stage} | {since} | {gate} |", printable(&path));
        match state.stage {
            Some(Stage::Alpha) => self.counts.alpha += 1,
            Some(Stage::Beta) => self.counts.beta += 1,
            Some(Stage::Deprecated) => self.counts.deprecated += 1,
            Some(Stage::Ga) | None => {}
        }
        self.counts.all += 1;
        if !matches!(state.stage, Some(Stage::Ga) | None) {
            let _ = writeln!(self.open, "{row}");
        }
        let _ = writeln!(self.all, "{row} {} |", escaped(&description(place.file, &field.comments)));
    }

    /// Returns the struct of a field, inside lists, maps and aliases. Appends their steps to the path.
    fn below(&self, from: TypePlace<'t>, of: &'t TypeRef, path: &mut String) -> Option<TypePlace<'t>> {
        let (mut from, mut of) = (from, of);
        for _ in 0..MAX_ALIASES {
            for step in &of.steps {
                path.push_str(match step {
                    Step::Items => "[]",
                    Step::Values => "{}",
                });
            }
            from = self.types.resolve(from, of)?;
            match &from.of.alias {
                Some(alias) => of = alias,
                None => return Some(from),
            }
        }
        None
    }
}

/// Returns the type of a field in Go syntax, without pointers.
fn type_text(of: &TypeRef) -> String {
    let mut out = String::new();
    for step in &of.steps {
        out.push_str(match step {
            Step::Items => "[]",
            Step::Values => "map[string]",
        });
    }
    out.push_str(if of.name.is_empty() { "object" } else { &of.name });
    out
}

/// Returns the text of a comment for readers, on one line: without tags, and up to a line of hyphens (upstream:
/// `fmtRawDoc` of apimachinery).
fn description(file: &GoFile, comments: &Range<usize>) -> String {
    let mut out = String::new();
    let lines = file.lines(comments).take_while(|line| line.text != "---");
    for line in lines.filter(|line| !line.text.starts_with('+') && !line.text.starts_with("TODO")) {
        for word in line.text.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// Escapes a string so that Markdown shows it unchanged.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '[' | '`' | '*' | '_' | '#' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Removes characters that control a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
