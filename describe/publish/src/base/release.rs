//! The shared definitions, parameters and kinds of releases other than 1.36.
//!
//! The definitions of 1.36 are edited into those of another release. Each row of [`EDITS`] is a fact: which releases
//! differ, where, and how.

use super::{Definitions, gvk_list};
use crate::names::{AUTOSCALING, META};
use crate::texts::Texts;
use kubeshape_schema::{Additional, Bump, Extra, Items, Json, Property, Release, Schema, order};
use std::ops::RangeInclusive;

/// The release from which all others are edited.
pub(crate) const SOURCE: Release = Release::nearest(36);

const KINDS: &str = "x-kubernetes-group-version-kind";

/// A difference of a schema in another release.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// The definition or the property does not exist.
    Missing,
    /// It has no `default`. Without one, a reference needs no `allOf`.
    NoDefault,
    /// Its `default` is an empty object.
    EmptyDefault,
    /// It has neither `x-kubernetes-list-type` nor keys.
    NoListType,
    /// Its `x-kubernetes-list-type` is `atomic`.
    Atomic,
    /// Its description differs.
    Described(&'static str),
    /// It has these groups and versions in addition.
    Kinds(&'static [(&'static str, &'static str)]),
}

/// A difference: the minor releases that have it, the definition, and the path from there to the schema.
struct Row(RangeInclusive<u8>, &'static str, &'static [&'static str], Edit);

/// The differences from 1.36.
const EDITS: &[Row] = &[
    // kube-openapi: creationTimestamp had the default of its Go struct.
    Row(28..=28, "ObjectMeta", &["creationTimestamp"], Edit::EmptyDefault),
    // KEP-555: list types of metadata.
    Row(28..=29, "DeleteOptions", &["dryRun"], Edit::NoListType),
    Row(28..=29, "ObjectMeta", &["finalizers"], Edit::NoListType),
    Row(28..=29, "ObjectMeta", &["managedFields"], Edit::NoListType),
    Row(28..=29, "ObjectMeta", &["ownerReferences"], Edit::NoListType),
    Row(28..=29, "StatusDetails", &["causes"], Edit::NoListType),
    Row(30..=34, "Status", &["details"], Edit::Atomic),
    // resource.k8s.io/v1alpha2 had a Status of its own in client-go.
    Row(28..=30, "Status", &[], Edit::Kinds(&[("resource.k8s.io", "v1alpha2")])),
    // KEP-3926: deletion of objects that cannot be read.
    Row(28..=31, "DeleteOptions", &["ignoreStoreReadErrorWithClusterBreakingPotential"], Edit::Missing),
    Row(28..=33, "ScaleSpec", &["replicas"], Edit::NoDefault),
    // KEP-5866: shards of lists.
    Row(28..=35, "ListMeta", &["shardInfo"], Edit::Missing),
    Row(28..=35, "ShardInfo", &[], Edit::Missing),
    // kube-openapi: elements have no defaults from Go.
    Row(37..=u8::MAX, "DeleteOptions", &["dryRun", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "ObjectMeta", &["annotations", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "ObjectMeta", &["finalizers", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "ObjectMeta", &["labels", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "ObjectMeta", &["managedFields", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "ObjectMeta", &["ownerReferences", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "StatusDetails", &["causes", "*"], Edit::NoDefault),
    Row(37..=u8::MAX, "Scale", &["metadata"], Edit::Described(SCALE_METADATA)),
];

const SCALE_METADATA: &str = "metadata is the standard object metadata; More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata.";

/// Query parameters added after 1.28, and the first release that has them.
const PARAMETERS: [(&str, u8); 2] = [("ignoreStoreReadErrorWithClusterBreakingPotential", 32), ("shardSelector", 36)];

/// Until 1.28, the parameter `pretty` has this description.
const OLD_PRETTY: &str = "If 'true', then the output is pretty printed.";

/// The groups and versions of client-go that are not in every release, and the releases that have them. They have a
/// `DeleteOptions`.
const VERSIONS: &[(&str, &str, RangeInclusive<u8>)] = &[
    ("autoscaling", "v2beta1", 28..=35),
    ("autoscaling", "v2beta2", 28..=35),
    ("coordination.k8s.io", "v1alpha1", 31..=31),
    ("coordination.k8s.io", "v1alpha2", 32..=u8::MAX),
    ("flowcontrol.apiserver.k8s.io", "v1", 29..=u8::MAX),
    ("flowcontrol.apiserver.k8s.io", "v1alpha1", 28..=28),
    ("lifecycle.k8s.io", "v1alpha1", 37..=u8::MAX),
    ("networking.k8s.io", "v1alpha1", 28..=33),
    ("resource.k8s.io", "v1", 34..=u8::MAX),
    ("resource.k8s.io", "v1alpha2", 28..=30),
    ("resource.k8s.io", "v1alpha3", 31..=u8::MAX),
    ("resource.k8s.io", "v1beta1", 32..=u8::MAX),
    ("resource.k8s.io", "v1beta2", 33..=u8::MAX),
    ("scheduling.k8s.io", "v1alpha1", 28..=35),
    ("scheduling.k8s.io", "v1alpha2", 36..=36),
    ("scheduling.k8s.io", "v1alpha3", 37..=u8::MAX),
    ("storagemigration.k8s.io", "v1", 37..=u8::MAX),
    ("storagemigration.k8s.io", "v1alpha1", 30..=34),
    ("storagemigration.k8s.io", "v1beta1", 35..=u8::MAX),
];

/// Parts of definitions and of operations that only some releases publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Published {
    /// `required: true` of bodies (v3).
    RequiredBodies,
    /// `optionalOldSelf` of rules.
    OptionalOldSelf,
    /// `x-kubernetes-selectable-fields` of kinds and lists.
    SelectableFields,
    /// Empty `x-kubernetes-selectable-fields` of kinds without selectable fields.
    NoSelectableFields,
    /// `example`
    Examples,
}

impl Published {
    /// Returns whether a release publishes it.
    pub(crate) fn by(self, release: Release) -> bool {
        match self {
            Published::RequiredBodies => release.since(29),
            Published::OptionalOldSelf => release.since(30),
            Published::SelectableFields => release.since(31),
            Published::NoSelectableFields => release.minor() == 32,
            Published::Examples => release.since(36),
        }
    }
}

/// Returns the definitions of 1.36, changed to those of another release.
pub(super) fn definitions<'a>(all: Definitions<'a>, release: Release, arena: &'a Bump) -> Definitions<'a> {
    let minor = release.minor();
    let edited = all.into_iter().filter_map(|(name, schema)| {
        let short = name.strip_prefix(META).or_else(|| name.strip_prefix(AUTOSCALING)).unwrap_or_default();
        let rows =
            EDITS.iter().filter(|Row(releases, definition, ..)| releases.contains(&minor) && *definition == short);
        let mut out = Some(schema);
        for Row(_, _, way, edit) in rows {
            out = out.and_then(|schema| at(&schema, way, *edit, arena));
        }
        if short == "DeleteOptions" && minor != SOURCE.minor() {
            out = out.map(|schema| with_versions(&schema, minor, arena));
        }
        Some((name, out?))
    });
    edited.collect()
}

/// Returns the descriptions of 1.36, changed to those of another release, without parameters that it does not have.
pub(super) fn texts(mut texts: Texts, release: Release) -> Texts {
    for (name, since) in PARAMETERS {
        if !release.since(since) {
            texts.query.remove(name);
        }
    }
    if !release.since(29) {
        texts.query.insert("pretty".to_owned(), OLD_PRETTY.to_owned());
    }
    texts
}

/// Returns the schema with an edit at the end of a path of property names; `*` is the schema of elements.
fn at<'a>(schema: &Schema<'a>, way: &[&str], edit: Edit, arena: &'a Bump) -> Option<Schema<'a>> {
    let Some((step, rest)) = way.split_first() else { return apply(schema, edit, arena) };
    let inner = |inner: &Schema<'a>| at(inner, rest, edit, arena).map(|schema| &*arena.alloc(schema));
    if *step != "*" {
        let edited = schema.properties.iter().filter_map(|p| {
            let schema = if p.name == *step { at(&p.schema, rest, edit, arena)? } else { p.schema };
            Some(Property { schema, ..*p })
        });
        let properties: Vec<Property<'a>> = edited.collect();
        return Some(Schema { properties: arena.alloc_slice_copy(&properties), ..*schema });
    }
    let items = match schema.items {
        Some(Items::One(item)) => inner(item).map(Items::One),
        other => other,
    };
    let additional = match schema.additional {
        Some(Additional::Schema(schema)) => inner(schema).map(Additional::Schema),
        other => other,
    };
    Some(Schema { items, additional, ..*schema })
}

fn apply<'a>(schema: &Schema<'a>, edit: Edit, arena: &'a Bump) -> Option<Schema<'a>> {
    let extra = schema.extra();
    let with = |extra: Extra<'a>| Schema { extra: Some(&*arena.alloc(extra)), ..*schema };
    Some(match edit {
        Edit::Missing => return None,
        Edit::NoDefault => {
            let plain = Schema { default: None, ..*schema };
            match extra.all_of {
                [only] if !only.reference.is_empty() && schema.reference.is_empty() => {
                    let extra = Some(&*arena.alloc(Extra { all_of: &[], ..*extra }));
                    Schema { reference: only.reference, extra, ..plain }
                }
                _ => plain,
            }
        }
        Edit::EmptyDefault => Schema { default: Some(arena.alloc(Json::Object(&[]))), ..*schema },
        Edit::NoListType => with(Extra { list_type: None, list_map_keys: &[], list_map_keys_written: false, ..*extra }),
        Edit::Atomic => with(Extra { list_type: Some("atomic"), ..*extra }),
        Edit::Described(description) => Schema { description, ..*schema },
        Edit::Kinds(more) => {
            let mut pairs = kinds(schema);
            pairs.extend(more);
            with_kinds(schema, pairs, "Status", arena)
        }
    })
}

/// Returns `DeleteOptions` with the groups and versions of client-go's release.
fn with_versions<'a>(schema: &Schema<'a>, minor: u8, arena: &'a Bump) -> Schema<'a> {
    let mut pairs = kinds(schema);
    pairs.retain(|(group, version)| !VERSIONS.iter().any(|(g, v, _)| (g, v) == (group, version)));
    let more = VERSIONS.iter().filter(|(.., releases)| releases.contains(&minor));
    pairs.extend(more.map(|(group, version, _)| (*group, *version)));
    with_kinds(schema, pairs, "DeleteOptions", arena)
}

/// Returns the pairs of group and version.
fn kinds<'a>(schema: &Schema<'a>) -> Vec<(&'a str, &'a str)> {
    let kinds = schema.extra().extensions.iter().find(|(key, _)| *key == KINDS);
    let Some((_, Json::Array(kinds))) = kinds else { return Vec::new() };
    let member = |kind: &Json<'a>, name| kind.get(name).and_then(Json::as_str).unwrap_or_default();
    kinds.iter().map(|kind| (member(kind, "group"), member(kind, "version"))).collect()
}

fn with_kinds<'a>(
    schema: &Schema<'a>,
    mut pairs: Vec<(&'a str, &'a str)>,
    kind: &'a str,
    arena: &'a Bump,
) -> Schema<'a> {
    pairs.sort_unstable();
    let extensions = schema
        .extra()
        .extensions
        .iter()
        .map(|(key, value)| (*key, if *key == KINDS { gvk_list(&pairs, kind, arena) } else { *value }));
    let mut extensions: Vec<_> = extensions.collect();
    extensions.sort_by(|a, b| order::utf16(a.0, b.0));
    let extra = Extra { extensions: arena.alloc_slice_copy(&extensions), ..*schema.extra() };
    Schema { extra: Some(arena.alloc(extra)), ..*schema }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    impl Edit {
        fn text(self) -> String {
            match self {
                Edit::Missing => "does not exist".to_owned(),
                Edit::NoDefault => "has no `default`".to_owned(),
                Edit::EmptyDefault => "has the default `{}`".to_owned(),
                Edit::NoListType => "has no `x-kubernetes-list-type`".to_owned(),
                Edit::Atomic => "has `x-kubernetes-list-type: atomic`".to_owned(),
                Edit::Described(_) => "has another description".to_owned(),
                Edit::Kinds(kinds) => {
                    let kinds: Vec<String> =
                        kinds.iter().map(|(group, version)| format!("{group}/{version}")).collect();
                    format!("is also of {}", kinds.join(", "))
                }
            }
        }
    }

    fn span(releases: &RangeInclusive<u8>) -> String {
        match (releases.start(), releases.end()) {
            (first, last) if first == last => format!("1.{first}"),
            (first, &u8::MAX) => format!("since 1.{first}"),
            (28, last) => format!("up to 1.{last}"),
            (first, last) => format!("1.{first} to 1.{last}"),
        }
    }

    /// Returns the releases for which a condition holds.
    fn releases(holds: impl Fn(Release) -> bool) -> RangeInclusive<u8> {
        let mut all = Release::all().filter(|release| holds(*release)).map(Release::minor);
        let first = all.next().unwrap_or_default();
        let last = all.next_back().unwrap_or(first);
        first..=if last == Release::NEWEST.minor() { u8::MAX } else { last }
    }

    #[test]
    fn what_changed_in_documents_is_on_the_page() {
        let mut out = String::from("| releases | where | what |\n|---|---|---|\n");
        let mut row = |releases: &RangeInclusive<u8>, place: &str, what: &str| {
            writeln!(out, "| {} | {place} | {what} |", span(releases)).expect("a string takes everything");
        };
        for (published, what) in [
            (Published::RequiredBodies, "bodies have `required: true` (v3)"),
            (Published::OptionalOldSelf, "rules have `optionalOldSelf`"),
            (Published::SelectableFields, "kinds and lists have `x-kubernetes-selectable-fields`"),
            (Published::NoSelectableFields, "kinds without selectable fields have an empty list of them"),
            (Published::Examples, "schemas have `example`"),
        ] {
            row(&releases(|release| published.by(release)), "resources", what);
        }
        for (name, since) in PARAMETERS {
            row(&(since..=u8::MAX), "parameters", &format!("`{name}` exists"));
        }
        row(&(28..=28), "parameters", "`pretty` has another description");
        for Row(releases, definition, way, edit) in EDITS {
            let place: Vec<&str> = [*definition].into_iter().chain(way.iter().copied()).collect();
            row(releases, &format!("`{}`", place.join(".")), &edit.text());
        }
        for (group, version, releases) in VERSIONS {
            row(releases, "`DeleteOptions`", &format!("is also of {group}/{version}"));
        }
        kubeshape_corpus::page::check_section("releases.md", "documents", &out);
    }
}
