//! Discovery documents of downstream servers.

use super::options::GroupVersionName;
use kubeshape_discovery::read::{Document, read};
use kubeshape_discovery::{Group, Resource};
use kubeshape_yaml::Limits;
use std::sync::Arc;

/// Two million nodes of 20 bytes. A document of the maximum size has fewer, unless it is an attack.
const LIMITS: Limits = Limits { bytes: 1 << 30, depth: 64, nodes: 2_000_000, alias_nodes: 0, scalar: 1 << 20 };

/// A response of `/apis` or `/api`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscoveryBody {
    /// Aggregated discovery.
    Groups(Vec<Group>),
    /// Only the names of group versions.
    Names(Vec<GroupVersionName>),
}

impl DiscoveryBody {
    /// Reads a response of `/apis` or `/api`.
    ///
    /// # Errors
    /// The body cannot be parsed, or it does not list groups.
    ///
    /// # Example
    /// ```
    /// use kubeshape_server::aggregate::DiscoveryBody;
    /// let body = br#"{"kind":"APIGroupList","groups":[{"name":"a.io","versions":[{"groupVersion":"a.io/v1","version":"v1"}]}]}"#;
    /// let DiscoveryBody::Names(names) = DiscoveryBody::read(body)? else { unreachable!() };
    /// assert_eq!(names[0].path(), "apis/a.io/v1");
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(body: &[u8]) -> Result<DiscoveryBody, String> {
        match read(body, LIMITS).map_err(|error| error.to_string())? {
            Document::Aggregated(groups) => Ok(DiscoveryBody::Groups(groups)),
            Document::Groups(groups) => {
                let versions = |group: &Arc<str>, versions: Vec<Arc<str>>| {
                    let group = Arc::clone(group);
                    versions.into_iter().map(move |version| GroupVersionName { group: Arc::clone(&group), version })
                };
                let names = groups.into_iter().flat_map(|group| versions(&group.name, group.versions));
                Ok(DiscoveryBody::Names(names.collect()))
            }
            Document::Versions { versions, .. } => {
                let names = versions.into_iter().map(|version| GroupVersionName { group: "".into(), version });
                Ok(DiscoveryBody::Names(names.collect()))
            }
            _ => Err("it does not list groups".to_owned()),
        }
    }
}

/// Reads the response of a group version.
pub(super) fn resources(body: &[u8], name: &GroupVersionName) -> Result<Vec<Resource>, String> {
    match read(body, LIMITS).map_err(|error| error.to_string())? {
        Document::Resources { group, version, resources } if group == name.group && version == name.version => {
            Ok(resources)
        }
        _ => Err(format!("it does not list the resources of {}", name.path())),
    }
}
