//! Parses request paths (upstream: `RequestInfoFactory.NewRequestInfo`).

/// The subresources of namespaces: `/api/v1/namespaces/NAME/status` is about the namespace itself.
const OF_NAMESPACES: [&str; 2] = ["status", "finalize"];

/// The parts of a path below `/apis/GROUP/VERSION`, or below `/api/VERSION`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath<'p> {
    pub(crate) group: &'p str,
    pub(crate) version: &'p str,
    pub(crate) namespace: &'p str,
    pub(crate) resource: &'p str,
    /// Empty for the collection.
    pub(crate) name: &'p str,
    pub(crate) subresource: &'p str,
    /// `/apis/GROUP/VERSION/watch/…`
    pub(crate) watch: bool,
    /// Whether more segments follow the subresource.
    pub(crate) has_more: bool,
}

impl<'p> ResourcePath<'p> {
    /// Splits a decoded path. Returns `None` if it does not name a resource of a group.
    pub(crate) fn of(path: &'p str) -> Option<ResourcePath<'p>> {
        let path = path.trim_end_matches('/');
        let (rest, is_core) = match path.strip_prefix("/apis/") {
            Some(rest) => (rest, false),
            None => (path.strip_prefix("/api/")?, true),
        };
        let mut parts = rest.split('/').peekable();
        let group = if is_core { "" } else { parts.next().filter(|group| !group.is_empty())? };
        let version = parts.next()?;
        let mut first = parts.next()?;
        let watch = first == "watch";
        if watch {
            first = parts.next()?;
        }
        let mut namespace = "";
        let mut name = "";
        if first == "namespaces" {
            let named = parts.next().unwrap_or_default();
            match parts.peek() {
                Some(next) if !OF_NAMESPACES.contains(next) => {
                    namespace = named;
                    first = parts.next()?;
                    name = parts.next().unwrap_or_default();
                }
                _ if is_core => name = named,
                _ => return None,
            }
        } else if let Some(next) = parts.next() {
            name = next;
        }
        let subresource = parts.next().unwrap_or_default();
        let has_more = parts.next().is_some();
        let all = [version, first];
        if all.iter().any(|part| part.is_empty()) || (rest.contains("//")) {
            return None;
        }
        Some(ResourcePath { group, version, namespace, resource: first, name, subresource, watch, has_more })
    }
}

#[cfg(test)]
mod tests {
    use super::ResourcePath;

    #[test]
    fn a_path_has_a_group_a_resource_and_perhaps_more() {
        let full = ResourcePath::of("/apis/example.com/v1/namespaces/default/tabs/t/status").expect("a resource");
        let expected = ResourcePath {
            group: "example.com",
            version: "v1",
            namespace: "default",
            resource: "tabs",
            name: "t",
            subresource: "status",
            watch: false,
            has_more: false,
        };
        assert_eq!(full, expected);
        let watch = ResourcePath::of("/apis/example.com/v1/watch/tabs/").expect("a resource");
        assert_eq!((watch.watch, watch.resource, watch.name), (true, "tabs", ""));
        let pods = ResourcePath::of("/api/v1/namespaces/default/pods").expect("a resource");
        assert_eq!((pods.group, pods.namespace, pods.resource, pods.name), ("", "default", "pods", ""));
        let status = ResourcePath::of("/api/v1/namespaces/default/status").expect("a resource");
        assert_eq!((status.namespace, status.resource, status.name), ("", "namespaces", "default"));
        assert_eq!(status.subresource, "status");
        for none in [
            "/apis/example.com/v1",
            "/api/v1",
            "/apis/example.com/v1/namespaces/default",
            "/apis/example.com/v1//tabs",
            "/apis//v1/tabs",
            "/",
        ] {
            assert_eq!(ResourcePath::of(none), None, "{none}");
        }
    }
}
