//! The endpoint of a path. Only the snapshot knows what exists below `/apis`; a route follows from the path alone. In
//! kube-apiserver, `PathRecorderMux`, go-restful and the handler of custom resources treat slashes around a path
//! differently, so routes keep them.

use std::fmt;

/// An endpoint. Strings are parts of the decoded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'p> {
    /// `/`
    Root,
    /// `/openapi/v2`
    OpenApiV2,
    /// `/openapi/v3`
    OpenApiV3Index,
    /// `/openapi/v3/…`
    OpenApiV3(&'p str),
    /// `/api`, with any number of slashes after it.
    Core,
    /// `/api/VERSION`, with any number of slashes after it.
    CoreVersion(&'p str),
    /// Anything else below `/api/`.
    BelowCore(&'p str),
    /// `/apis`
    Groups,
    /// `/apis/`, which has no aggregated form.
    GroupsListed,
    /// `/apis/GROUP`
    Group(&'p str, Slashes),
    /// `/apis/GROUP/VERSION`
    GroupVersion(&'p str, &'p str, Slashes),
    /// `/apis/GROUP/…` with more segments. The second string is the part after the group.
    BelowGroup(&'p str, &'p str),
    /// `/version`, with any number of slashes after it.
    Version,
    /// `/healthz`, `/livez`, `/readyz`, and one of their checks.
    Health(Health, Option<&'p str>),
    /// `/metrics`
    Metrics,
    /// `/explorer`, and what is behind the slash after it.
    Explorer(Option<&'p str>),
    /// Everything else; the whole path.
    Unknown(&'p str),
}

/// Slashes around a path below `/apis`, other than those between its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slashes {
    /// None, or one at the end. Every handler accepts the path.
    Plain,
    /// Several at the end. go-restful and the handler of custom resources accept the path.
    Trailing,
    /// Several at the beginning. Only the handler of custom resources accepts the path.
    Leading,
}

/// A kind of health endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// `/healthz`
    Healthz,
    /// `/livez`
    Livez,
    /// `/readyz`
    Readyz,
}

impl Health {
    /// `healthz`
    pub fn name(self) -> &'static str {
        match self {
            Health::Healthz => "healthz",
            Health::Livez => "livez",
            Health::Readyz => "readyz",
        }
    }
}

impl<'p> Route<'p> {
    /// Returns the endpoint of a decoded path.
    ///
    /// ```
    /// use kubeshape_server::http::route::{Route, Slashes};
    ///
    /// assert_eq!(Route::of("/openapi/v3/apis/apps/v1"), Route::OpenApiV3("apis/apps/v1"));
    /// assert_eq!(Route::of("/apis/apps/v1/"), Route::GroupVersion("apps", "v1", Slashes::Plain));
    /// ```
    pub fn of(path: &'p str) -> Route<'p> {
        match path {
            "/" => return Route::Root,
            "/openapi/v2" => return Route::OpenApiV2,
            "/openapi/v3" => return Route::OpenApiV3Index,
            "/apis" => return Route::Groups,
            "/apis/" => return Route::GroupsListed,
            "/metrics" => return Route::Metrics,
            "/explorer" => return Route::Explorer(None),
            _ => {}
        }
        if let Some(file) = path.strip_prefix("/explorer/") {
            return Route::Explorer(Some(file));
        }
        if let Some(leaf) = path.strip_prefix("/openapi/v3/") {
            return Route::OpenApiV3(leaf);
        }
        if let Some(below) = below(path, "/api") {
            return match below.trim_end_matches('/') {
                "" => Route::Core,
                version if !version.contains('/') => Route::CoreVersion(version),
                _ => Route::BelowCore(below),
            };
        }
        if below(path, "/version").is_some_and(|rest| rest.bytes().all(|b| b == b'/')) {
            return Route::Version;
        }
        for kind in [Health::Healthz, Health::Livez, Health::Readyz] {
            match path.strip_prefix('/').and_then(|path| path.strip_prefix(kind.name())) {
                Some("") => return Route::Health(kind, None),
                Some(rest) => match rest.strip_prefix('/') {
                    Some(check) if !check.is_empty() => return Route::Health(kind, Some(check)),
                    _ => {}
                },
                None => {}
            }
        }
        Route::below_groups(path).unwrap_or(Route::Unknown(path))
    }

    /// Returns whether the response depends on the definitions that are published.
    pub(crate) fn is_published(&self) -> bool {
        match self {
            Route::Root
            | Route::OpenApiV2
            | Route::OpenApiV3Index
            | Route::OpenApiV3(_)
            | Route::Core
            | Route::CoreVersion(_)
            | Route::BelowCore(_)
            | Route::Groups
            | Route::GroupsListed
            | Route::Group(..)
            | Route::GroupVersion(..)
            | Route::BelowGroup(..) => true,
            Route::Version | Route::Health(..) | Route::Metrics | Route::Explorer(_) | Route::Unknown(_) => false,
        }
    }

    fn below_groups(path: &'p str) -> Option<Route<'p>> {
        let start = path.trim_start_matches('/');
        let leading = path.len() - start.len();
        let rest = start.strip_prefix("apis/")?;
        let inner = rest.trim_end_matches('/');
        let trailing = rest.len() - inner.len();
        let slashes = match (leading, trailing) {
            (1, 0 | 1) => Slashes::Plain,
            (1, _) => Slashes::Trailing,
            (2.., _) => Slashes::Leading,
            _ => return None,
        };
        match inner.split_once('/') {
            None if inner.is_empty() => None,
            None => Some(Route::Group(inner, slashes)),
            Some((group, version)) if !version.contains('/') => Some(Route::GroupVersion(group, version, slashes)),
            Some(_) if slashes == Slashes::Leading => None,
            Some((group, _)) => Some(Route::BelowGroup(group, &rest[group.len() + 1..])),
        }
    }

    /// Returns the name of the endpoint in metrics, from a fixed set.
    pub fn endpoint(&self) -> &'static str {
        match self {
            Route::Root => "root",
            Route::OpenApiV2 => "openapi_v2",
            Route::OpenApiV3Index => "openapi_v3_index",
            Route::OpenApiV3(_) => "openapi_v3",
            Route::Core => "api",
            Route::CoreVersion(_) | Route::BelowCore(_) => "api_version",
            Route::Groups | Route::GroupsListed => "apis",
            Route::Group(..) => "group",
            Route::GroupVersion(..) | Route::BelowGroup(..) => "group_version",
            Route::Version => "version",
            Route::Health(kind, _) => kind.name(),
            Route::Metrics => "metrics",
            Route::Explorer(_) => "explorer",
            Route::Unknown(_) => "unknown",
        }
    }
}

/// Returns the rest of a path after a prefix that is the whole path or is followed by a slash.
fn below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

impl fmt::Display for Slashes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Slashes::Trailing { "//" } else { "" })
    }
}

/// Prints a path with the same route, without escapes.
impl fmt::Display for Route<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lead = |slashes: &Slashes| if *slashes == Slashes::Leading { "/" } else { "" };
        match self {
            Route::Root => f.write_str("/"),
            Route::OpenApiV2 => f.write_str("/openapi/v2"),
            Route::OpenApiV3Index => f.write_str("/openapi/v3"),
            Route::OpenApiV3(leaf) => write!(f, "/openapi/v3/{leaf}"),
            Route::Core => f.write_str("/api"),
            Route::CoreVersion(version) => write!(f, "/api/{version}"),
            Route::BelowCore(rest) => write!(f, "/api/{rest}"),
            Route::Groups => f.write_str("/apis"),
            Route::GroupsListed => f.write_str("/apis/"),
            Route::Group(group, slashes) => write!(f, "{}/apis/{group}{slashes}", lead(slashes)),
            Route::GroupVersion(group, version, slashes) => {
                write!(f, "{}/apis/{group}/{version}{slashes}", lead(slashes))
            }
            Route::BelowGroup(group, rest) => write!(f, "/apis/{group}/{rest}"),
            Route::Version => f.write_str("/version"),
            Route::Health(kind, None) => write!(f, "/{}", kind.name()),
            Route::Health(kind, Some(check)) => write!(f, "/{}/{check}", kind.name()),
            Route::Metrics => f.write_str("/metrics"),
            Route::Explorer(None) => f.write_str("/explorer"),
            Route::Explorer(Some(file)) => write!(f, "/explorer/{file}"),
            Route::Unknown(path) => f.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_their_endpoints() {
        use Slashes::{Leading, Plain, Trailing};
        for (path, route) in [
            ("/", Route::Root),
            ("//", Route::Unknown("//")),
            ("", Route::Unknown("")),
            ("*", Route::Unknown("*")),
            ("/openapi/v2/", Route::Unknown("/openapi/v2/")),
            ("/openapi", Route::Unknown("/openapi")),
            ("/openapi/v3/", Route::OpenApiV3("")),
            ("/openapi/v3/../v2", Route::OpenApiV3("../v2")),
            ("/api", Route::Core),
            ("/api//", Route::Core),
            ("/api/.", Route::CoreVersion(".")),
            ("/api/v1//", Route::CoreVersion("v1")),
            ("/api//v1", Route::BelowCore("/v1")),
            ("/api/v1/pods", Route::BelowCore("v1/pods")),
            ("/apis", Route::Groups),
            ("/apis/", Route::GroupsListed),
            ("/apis//", Route::Unknown("/apis//")),
            ("/apis/.", Route::Group(".", Plain)),
            ("/apis/apps/", Route::Group("apps", Plain)),
            ("/apis/apps//", Route::Group("apps", Trailing)),
            ("//apis/apps", Route::Group("apps", Leading)),
            ("/apis/apps/v1", Route::GroupVersion("apps", "v1", Plain)),
            ("/apis/apps/v1//", Route::GroupVersion("apps", "v1", Trailing)),
            ("/apis/apps//v1", Route::BelowGroup("apps", "/v1")),
            ("/apis/apps/v1/deployments", Route::BelowGroup("apps", "v1/deployments")),
            ("//apis/apps/v1/deployments", Route::Unknown("//apis/apps/v1/deployments")),
            ("/apisapps", Route::Unknown("/apisapps")),
            ("/version/", Route::Version),
            ("/versions", Route::Unknown("/versions")),
            ("/readyz", Route::Health(Health::Readyz, None)),
            ("/readyz/ping", Route::Health(Health::Readyz, Some("ping"))),
            ("/livez/", Route::Unknown("/livez/")),
            ("/metrics", Route::Metrics),
            ("/explorer", Route::Explorer(None)),
            ("/explorer/", Route::Explorer(Some(""))),
            ("/explorer/../apis", Route::Explorer(Some("../apis"))),
            ("/explorers", Route::Unknown("/explorers")),
        ] {
            assert_eq!(Route::of(path), route, "{path}");
            assert_eq!(Route::of(&route.to_string()), route, "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_printed_route_is_the_same_route(path in "(/|//|/?)(api|apis|openapi/v3|version|readyz|[a-z.%]{0,3})(/|//|[a-z./]{0,8})") {
            let route = Route::of(&path);
            let printed = route.to_string();
            proptest::prop_assert_eq!(Route::of(&printed), route);
        }
    }
}
