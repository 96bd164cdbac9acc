//! Kinds whose Go sources declare their releases.
//!
//! The rules are those of `k8s.io/code-generator/cmd/prerelease-lifecycle-gen` (`argsFromType`,
//! `extractKubeVersionTag`, `extractReplacementTag`).

use crate::tag::Line;
use crate::types::TypePlace;
use crate::{Json, Types, Version};

/// The prefix of each tag.
const PREFIX: &str = "+k8s:prerelease-lifecycle-gen:";

/// The default number of releases between the introduction of a kind and its deprecation, and between that and its
/// removal.
const STEP: u32 = 3;

/// The tags `+k8s:prerelease-lifecycle-gen:…` of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KindKey {
    /// The first release with the kind.
    Introduced,
    /// The first release that warns about it.
    Deprecated,
    /// The first release that does not serve it.
    Removed,
    /// The replacement.
    Replacement,
}

impl KindKey {
    /// All of them.
    pub const ALL: [KindKey; 4] = [KindKey::Introduced, KindKey::Deprecated, KindKey::Removed, KindKey::Replacement];

    /// Returns the word in the tag.
    pub fn name(self) -> &'static str {
        match self {
            KindKey::Introduced => "introduced",
            KindKey::Deprecated => "deprecated",
            KindKey::Removed => "removed",
            KindKey::Replacement => "replacement",
        }
    }
}

/// A tag of a type with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindTag<'t> {
    /// Which tag.
    pub key: KindKey,
    /// The value after `=`.
    pub value: &'t str,
    /// Where it is.
    pub line: Line<'t>,
}

impl<'t> KindTag<'t> {
    /// Parses a comment line; `None` if it is not such a tag.
    ///
    /// # Example
    /// ```
    /// use kubeshape_lifecycle::{Line, Version, kinds::KindTag};
    /// let tag = KindTag::parse(Line { text: "+k8s:prerelease-lifecycle-gen:removed=1.25", at: 0 }).unwrap();
    /// assert_eq!(tag.release(), Ok(Version { major: 1, minor: 25 }));
    /// ```
    pub fn parse(line: Line<'t>) -> Option<KindTag<'t>> {
        let rest = line.text.strip_prefix(PREFIX)?;
        let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
        let key = KindKey::ALL.into_iter().find(|key| key.name() == name)?;
        Some(KindTag { key, value, line })
    }

    /// Returns the release of a tag.
    ///
    /// # Errors
    /// Returns what is wrong, as a sentence.
    pub fn release(&self) -> Result<Version, String> {
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let version = self
            .value
            .split_once('.')
            .and_then(|(major, minor)| Some(Version { major: number(major)?, minor: number(minor)? }));
        version.ok_or_else(|| format!("found {:?}, expected two numbers such as 1.36; correct it", self.value))
    }

    /// Returns the replacement as `API_VERSION KIND`.
    ///
    /// # Errors
    /// Returns what is wrong, as a sentence.
    pub fn replacement(&self) -> Result<String, String> {
        let wrong = || format!("found {:?}, expected GROUP,VERSION,KIND such as apps,v1,Deployment", self.value);
        let mut parts = self.value.split(',');
        let (Some(group), Some(version), Some(kind), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let is_lower = |text: &str| !text.chars().any(char::is_uppercase);
        let is_version = version.starts_with('v') && is_lower(version);
        if !is_lower(group) || !is_version || kind.chars().next().is_none_or(char::is_lowercase) {
            return Err(wrong());
        }
        let slash = if group.is_empty() { "" } else { "/" };
        Ok(format!("{group}{slash}{version} {kind}"))
    }
}

/// A kind, and the releases that have it.
#[derive(Clone, Debug)]
pub struct Declared<'t> {
    /// Its type.
    pub place: TypePlace<'t>,
    /// `policy/v1beta1`
    pub api_version: String,
    /// The first release that has it.
    pub introduced: Version,
    /// The first release that warns about it; `None` if that is not planned, as for stable versions without a tag.
    pub deprecated: Option<Version>,
    /// The first release that does not serve it; `None` if that is not planned.
    pub removed: Option<Version>,
    /// The replacement: `discovery.k8s.io/v1 EndpointSlice`.
    pub replacement: Option<String>,
}

impl Declared<'_> {
    /// Returns the kind.
    pub fn kind(&self) -> &str {
        &self.place.of.name
    }

    /// Returns whether it is the list of another kind of its package. It is removed together with that kind.
    pub fn is_list(&self) -> bool {
        self.kind().strip_suffix("List").is_some_and(|of| self.place.package.has(of))
    }

    /// `FILE:LINE:COLUMN`
    pub fn location(&self) -> String {
        self.place.file.source.location(self.place.of.span.start)
    }
}

/// Returns the tags of a type, in source order.
pub fn tags(place: TypePlace<'_>) -> Vec<KindTag<'_>> {
    place.file.lines(&place.of.comments).filter_map(KindTag::parse).collect()
}

/// Returns whether a type can be a kind: it is exported and embeds `TypeMeta` (upstream: `isAPIType`).
pub(crate) fn is_kind(place: TypePlace<'_>) -> bool {
    let is_meta = |field: &crate::GoField| field.name == "TypeMeta" && field.json == Json::Inline;
    place.of.name.starts_with(char::is_uppercase) && place.of.fields.iter().any(is_meta)
}

/// Returns whether a version is stable: `v1`, `v2`.
fn is_stable(version: &str) -> bool {
    version.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the releases of a type from its tags; `None` without a tag `introduced` that has a release. If a tag appears
/// twice, the first one is used. Malformed tags are ignored ([`lint`](crate::lint) reports both).
pub fn of_type(place: TypePlace<'_>) -> Option<Declared<'_>> {
    let tags = tags(place);
    let tag = |key: KindKey| tags.iter().find(|tag| tag.key == key);
    let release = |key: KindKey| tag(key).and_then(|tag| tag.release().ok());
    let introduced = release(KindKey::Introduced)?;
    let later = |from: Version| Version { major: from.major, minor: from.minor.saturating_add(STEP) };
    let is_stable = is_stable(&place.package.name);
    let planned = |tagged: Option<Version>, from: Version| tagged.or_else(|| (!is_stable).then(|| later(from)));
    let deprecated = planned(release(KindKey::Deprecated), introduced);
    let removed = planned(release(KindKey::Removed), deprecated.unwrap_or(introduced));
    let replacement = tag(KindKey::Replacement).and_then(|tag| tag.replacement().ok());
    let api_version = place.package.api_version();
    Some(Declared { place, api_version, introduced, deprecated, removed, replacement })
}

/// Returns all kinds that declare their releases, sorted by package and name.
///
/// # Example
/// ```
/// use kubeshape_input::Source;
/// use kubeshape_lifecycle::{Types, kinds};
/// let text = "package v1beta1
/// // +k8s:prerelease-lifecycle-gen:introduced=1.22
/// // +k8s:prerelease-lifecycle-gen:replacement=example.com,v1,Widget
/// type Widget struct {
///     metav1.TypeMeta `json:\",inline\"`
/// }
/// ";
/// let (types, _) = Types::read([Source::from_text("widgets/v1beta1/types.go", text)]);
/// let widget = &kinds::declared(&types)[0];
/// assert_eq!(widget.api_version, "widgets/v1beta1");
/// assert_eq!(widget.removed.unwrap().to_string(), "v1.28");
/// assert_eq!(widget.replacement.as_deref(), Some("example.com/v1 Widget"));
/// ```
pub fn declared(types: &Types) -> Vec<Declared<'_>> {
    types.types().filter_map(of_type).collect()
}
