//! Combines group versions into groups, and sorts groups and versions for publishing.

use crate::model::{Group, GroupVersion, Origin};
use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

/// Combines versions from several sources into a group. If several sources have one version, the strongest [`Origin`]
/// wins, and of equal ones the first; but versions of CustomResourceDefinitions are united. Returns `None` if there is
/// no version.
///
/// # Example
/// ```
/// use kubeshape_discovery::{CUSTOM_RESOURCE_PRIORITY, Freshness, GroupVersion, Origin, assemble};
/// let version = |version: &str, origin| {
///     let version = version.into();
///     GroupVersion { version, priority: CUSTOM_RESOURCE_PRIORITY, origin, freshness: Freshness::Current, resources: vec![] }.into()
/// };
/// let group = assemble(
///     "example.com",
///     [version("v1beta1", Origin::CustomResources), version("v1", Origin::CustomResources), version("v1", Origin::Aggregated)],
/// );
/// let versions: Vec<_> = group.unwrap().versions.iter().map(|v| (v.version.to_string(), v.origin)).collect();
/// assert_eq!(versions, [("v1".to_owned(), Origin::Aggregated), ("v1beta1".to_owned(), Origin::CustomResources)]);
/// ```
pub fn assemble(name: impl Into<Arc<str>>, parts: impl IntoIterator<Item = Arc<GroupVersion>>) -> Option<Group> {
    let mut versions: Vec<Arc<GroupVersion>> = Vec::new();
    for part in parts {
        match versions.iter_mut().find(|version| version.version == part.version) {
            None => versions.push(part),
            Some(version) if part.origin < version.origin => *version = part,
            Some(version) if part.origin == Origin::CustomResources && version.origin == part.origin => {
                unite(Arc::make_mut(version), &part);
            }
            Some(_) => {}
        }
    }
    versions.sort_by(|a, b| group_version_order(a, b));
    (!versions.is_empty()).then(|| Group { name: name.into(), versions })
}

/// Adds missing resources, sorted by name.
fn unite(version: &mut GroupVersion, other: &GroupVersion) {
    for resource in &other.resources {
        if let Err(place) = version.resources.binary_search_by(|one| one.name.cmp(&resource.name)) {
            version.resources.insert(place, resource.clone());
        }
    }
}

/// Compares versions of a group: higher version priority first, then by [`version_order`].
pub fn group_version_order(a: &GroupVersion, b: &GroupVersion) -> Ordering {
    b.priority.version.cmp(&a.priority.version).then_with(|| version_order(&a.version, &b.version))
}

/// Compares versions by their names, the best one first: stable versions, then beta, then alpha, each with the newest
/// first; then all other names in alphabetical order (upstream: `version.CompareKubeAwareVersionStrings`).
///
/// # Example
/// ```
/// use kubeshape_discovery::version_order;
/// let mut versions = ["foo10", "v1alpha1", "v1", "v10beta3", "v2", "v11alpha2", "foo1", "v3beta1"];
/// versions.sort_by(|a, b| version_order(a, b));
/// assert_eq!(versions, ["v2", "v1", "v10beta3", "v3beta1", "v11alpha2", "v1alpha1", "foo1", "foo10"]);
/// ```
pub fn version_order(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
    .then_with(|| a.cmp(b))
}

/// Returns stability (alpha is 0), major and minor number of `v1`, `v1beta2` …
fn parse(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits);
    let major = major.parse().ok()?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) =
        rest.strip_prefix("beta").map(|minor| (1, minor)).or_else(|| Some((0, rest.strip_prefix("alpha")?)))?;
    let digits = minor.bytes().all(|byte| byte.is_ascii_digit());
    Some((stability, major, minor.parse().ok().filter(|_| digits)?))
}

/// The sort key of a group in aggregated discovery: the highest group priority of its versions, then its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AggregatedKey {
    priority: Reverse<i32>,
    name: Arc<str>,
}

/// Returns the sort key of a group in aggregated discovery.
pub fn aggregated_key(group: &Group) -> AggregatedKey {
    let priority = group.versions.iter().map(|version| version.priority.group).max().unwrap_or(i32::MIN);
    AggregatedKey { priority: Reverse(priority), name: Arc::clone(&group.name) }
}

/// The sort key of a group in `/apis`: group priority, then `version.group`, of the first of its group versions in that
/// order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupListKey {
    priority: Reverse<i32>,
    service: Arc<str>,
}

/// Returns the sort key of a group in `/apis`.
pub fn group_list_key(group: &Group) -> GroupListKey {
    let first = group.versions.iter().min_by(|a, b| {
        b.priority.group.cmp(&a.priority.group).then_with(|| {
            let (a, b) = (a.version.bytes().chain([b'.']), b.version.bytes().chain([b'.']));
            a.cmp(b)
        })
    });
    let priority = first.map_or(i32::MIN, |version| version.priority.group);
    let service = first.map_or_else(String::new, |version| format!("{}.{}", version.version, group.name));
    GroupListKey { priority: Reverse(priority), service: service.into() }
}

/// Returns groups in the order of aggregated discovery.
pub fn aggregated_order<'g>(groups: impl IntoIterator<Item = &'g Group>) -> Vec<&'g Group> {
    let mut groups: Vec<&Group> = groups.into_iter().collect();
    groups.sort_by_cached_key(|group| aggregated_key(group));
    groups
}

/// Returns groups in the order of `/apis`.
pub fn group_list_order<'g>(groups: impl IntoIterator<Item = &'g Group>) -> Vec<&'g Group> {
    let mut groups: Vec<&Group> = groups.into_iter().collect();
    groups.sort_by_cached_key(|group| group_list_key(group));
    groups
}
