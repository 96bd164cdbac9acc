//! Prints discovery.
//!
//! All functions append to a buffer. JSON is printed as by Go's `encoding/json`: members in the order of the API's
//! types, `<`, `>` and `&` escaped, and a newline after a whole document unless it is indented.

mod json;
mod proto;

use super::assemble::aggregated_order;
use super::model::{Group, GroupVersion};
use kubeshape_yaml::{Error, Kind, Limits, Node, Stream, Tape, emit::Emitter};

/// The form in which a document is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `application/json`
    Json,
    /// `application/json` indented by two blanks per level, for clients that request `pretty`.
    JsonIndented,
    /// `application/yaml`
    Yaml,
    /// `application/vnd.kubernetes.protobuf`: `k8s`, a zero byte, and a `runtime.Unknown`.
    Protobuf,
}

/// The version of `apidiscovery.k8s.io`. The forms differ only in the name of the version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AggregatedVersion {
    /// `v2`
    #[default]
    V2,
    /// `v2beta1`
    V2beta1,
}

impl AggregatedVersion {
    /// `apidiscovery.k8s.io/v2`
    pub fn api_version(self) -> &'static str {
        match self {
            AggregatedVersion::V2 => "apidiscovery.k8s.io/v2",
            AggregatedVersion::V2beta1 => "apidiscovery.k8s.io/v2beta1",
        }
    }

    /// Returns the JSON form up to its items.
    pub fn head(self) -> &'static [u8] {
        match self {
            AggregatedVersion::V2 => {
                br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":["#
            }
            AggregatedVersion::V2beta1 => {
                br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2beta1","metadata":{},"items":["#
            }
        }
    }
}

/// The JSON from which the ETag is computed, up to its items.
pub const ETAG_HEAD: &[u8] = br#"{"metadata":{},"items":["#;
/// The end of the JSON from which the ETag is computed, after its items.
pub const ETAG_TAIL: &[u8] = b"]}";
/// The end of the JSON form, after its items.
pub const AGGREGATED_TAIL: &[u8] = b"]}\n";

/// Prints one item of aggregated discovery as JSON. Items are separated by commas.
///
/// # Example
/// ```
/// use kubeshape_discovery::{Group, print};
/// let mut out = Vec::new();
/// print::aggregated_item(&mut out, &Group { name: "example.com".into(), versions: vec![] });
/// assert_eq!(out, br#"{"metadata":{"name":"example.com"}}"#);
/// ```
pub fn aggregated_item(out: &mut Vec<u8>, group: &Group) {
    json::aggregated_item(out, group);
}

/// Prints the JSON from which the ETag is computed: the list without kind, API version and final newline. The ETag is
/// its SHA-512 in upper-case hexadecimal digits.
pub fn etag_text<'g>(out: &mut Vec<u8>, groups: impl IntoIterator<Item = &'g Group>) {
    out.extend_from_slice(ETAG_HEAD);
    json::items(out, &aggregated_order(groups), json::aggregated_item);
    out.extend_from_slice(ETAG_TAIL);
}

/// Prints aggregated discovery, an `APIGroupDiscoveryList`. `/apis` responds with the named groups, `/api` with the
/// core group. The groups may be in any order.
///
/// # Example
/// ```
/// use kubeshape_discovery::{Group, print::{self, AggregatedVersion, Encoding}};
/// let group = Group { name: "example.com".into(), versions: vec![] };
/// let mut out = Vec::new();
/// print::aggregated(&mut out, AggregatedVersion::V2, [&group], Encoding::Yaml);
/// let yaml = "apiVersion: apidiscovery.k8s.io/v2\nitems:\n- metadata:\n    name: example.com\n\
///             kind: APIGroupDiscoveryList\nmetadata: {}\n";
/// assert_eq!(String::from_utf8(out).unwrap(), yaml);
/// ```
pub fn aggregated<'g>(
    out: &mut Vec<u8>,
    version: AggregatedVersion,
    groups: impl IntoIterator<Item = &'g Group>,
    encoding: Encoding,
) {
    let groups = aggregated_order(groups);
    if encoding == Encoding::Protobuf {
        return proto::aggregated(out, version, &groups);
    }
    text(out, encoding, |out| {
        out.extend_from_slice(version.head());
        json::items(out, &groups, json::aggregated_item);
        out.extend_from_slice(AGGREGATED_TAIL);
    });
}

/// Prints an `APIGroupList`, the response of `/apis` to clients that do not request the aggregated form. The groups are
/// printed in the order given (see [`group_list_order`](super::group_list_order)).
pub fn group_list<'g>(out: &mut Vec<u8>, groups: impl IntoIterator<Item = &'g Group>, encoding: Encoding) {
    let groups: Vec<&Group> = groups.into_iter().collect();
    if encoding == Encoding::Protobuf {
        return proto::group_list(out, &groups);
    }
    text(out, encoding, |out| {
        out.extend_from_slice(br#"{"kind":"APIGroupList","apiVersion":"v1","groups":["#);
        json::items(out, &groups, json::group_list_item);
        out.extend_from_slice(b"]}\n");
    });
}

/// Prints one item of an `APIGroupList` as JSON: an `APIGroup` without kind and API version.
pub fn group_list_item(out: &mut Vec<u8>, group: &Group) {
    json::group_list_item(out, group);
}

/// Prints an `APIGroup`, the response of `/apis/GROUP`.
pub fn group(out: &mut Vec<u8>, group: &Group, encoding: Encoding) {
    if encoding == Encoding::Protobuf {
        return proto::group(out, group);
    }
    text(out, encoding, |out| {
        out.extend_from_slice(br#"{"kind":"APIGroup","apiVersion":"v1","#);
        json::group_members(out, group);
        out.extend_from_slice(b"}\n");
    });
}

/// Prints an `APIResourceList`, the response of `/apis/GROUP/VERSION`, and for the core group (whose name is empty) of
/// `/api/VERSION`.
///
/// # Example
/// ```
/// use kubeshape_discovery::{Freshness, GroupVersion, Origin, built_in_priority, print::{self, Encoding}};
/// let version = GroupVersion {
///     version: "v1".into(),
///     priority: built_in_priority("", "v1").unwrap(),
///     origin: Origin::BuiltIn,
///     freshness: Freshness::Current,
///     resources: vec![],
/// };
/// let mut out = Vec::new();
/// print::resource_list(&mut out, "", &version, Encoding::Json);
/// assert_eq!(out, b"{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":[]}\n");
/// ```
pub fn resource_list(out: &mut Vec<u8>, group: &str, version: &GroupVersion, encoding: Encoding) {
    if encoding == Encoding::Protobuf {
        return proto::resource_list(out, group, version);
    }
    text(out, encoding, |out| json::resource_list(out, group, version));
}

/// Prints `APIVersions`, the response of `/api` to clients that do not request the aggregated form. `addresses` are
/// pairs: a range of client addresses, and the address (`host:port`) at which clients in that range reach the server.
///
/// # Example
/// ```
/// use kubeshape_discovery::print::{self, Encoding};
/// let mut out = Vec::new();
/// print::versions(&mut out, &["v1"], &[("0.0.0.0/0", "127.0.0.1:8001")], Encoding::Yaml);
/// let yaml = "kind: APIVersions\nserverAddressByClientCIDRs:\n- clientCIDR: 0.0.0.0/0\n  \
///             serverAddress: 127.0.0.1:8001\nversions:\n- v1\n";
/// assert_eq!(String::from_utf8(out).unwrap(), yaml);
/// ```
pub fn versions(out: &mut Vec<u8>, versions: &[&str], addresses: &[(&str, &str)], encoding: Encoding) {
    if encoding == Encoding::Protobuf {
        return proto::versions(out, versions, addresses);
    }
    text(out, encoding, |out| json::versions(out, versions, addresses));
}

/// Prints the list of paths of `/`, indented as the server prints it.
///
/// # Example
/// ```
/// let mut out = Vec::new();
/// kubeshape_discovery::print::paths(&mut out, &["/api"]);
/// assert_eq!(out, b"{\n  \"paths\": [\n    \"/api\"\n  ]\n}");
/// ```
pub fn paths<T: AsRef<str>>(out: &mut Vec<u8>, paths: &[T]) {
    let mut compact = Vec::new();
    json::paths(&mut compact, paths);
    kubeshape_yaml::json::indent(&compact, out);
}

/// Prints the members of `/version`, indented as the server prints them.
pub fn version(out: &mut Vec<u8>, members: &[(String, String)]) {
    let mut compact = Vec::new();
    json::version(&mut compact, members);
    kubeshape_yaml::json::indent(&compact, out);
}

/// Returns the API version in the unaggregated documents of a group. Those of the core group and of `extensions` have
/// none, so that clients of Kubernetes 1.1 can read them (upstream: `discovery.keepUnversioned`).
fn legacy_api_version(group: &str) -> &'static str {
    if matches!(group, "" | "extensions") { "" } else { "v1" }
}

/// Returns `GROUP/VERSION`, or `VERSION` for the core group.
pub(super) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Prints JSON in another form.
fn text(out: &mut Vec<u8>, encoding: Encoding, json: impl FnOnce(&mut Vec<u8>)) {
    match encoding {
        Encoding::JsonIndented => {
            let mut compact = Vec::new();
            json(&mut compact);
            kubeshape_yaml::json::indent(&compact, out);
        }
        Encoding::Yaml => {
            let mut compact = Vec::new();
            json(&mut compact);
            // The JSON was just printed, so it is valid and within the limits.
            let printed = yaml(out, &compact);
            debug_assert!(printed.is_ok(), "{printed:?}");
        }
        Encoding::Json | Encoding::Protobuf => json(out),
    }
}

/// Prints a JSON document in the indented form or in the YAML form (with sorted members). With other encodings, it is
/// copied unchanged.
///
/// # Errors
/// The document is not JSON, or it exceeds the default [`Limits`].
///
/// # Example
/// ```
/// use kubeshape_discovery::print::{self, Encoding};
/// let mut out = Vec::new();
/// print::transcode(&mut out, br#"{"paths":["/api"]}"#, Encoding::JsonIndented)?;
/// assert_eq!(String::from_utf8(out).unwrap(), "{\n  \"paths\": [\n    \"/api\"\n  ]\n}");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn transcode(out: &mut Vec<u8>, json: &[u8], encoding: Encoding) -> Result<(), Error> {
    match encoding {
        Encoding::JsonIndented => {
            parse(json, |_| ())?;
            kubeshape_yaml::json::indent(json, out);
        }
        Encoding::Yaml => yaml(out, json)?,
        Encoding::Json | Encoding::Protobuf => out.extend_from_slice(json),
    }
    Ok(())
}

fn yaml(out: &mut Vec<u8>, json: &[u8]) -> Result<(), Error> {
    parse(json, |root| sorted(&mut Emitter::new(out), root))
}

fn parse<R>(json: &[u8], then: impl FnOnce(Node<'_>) -> R) -> Result<R, Error> {
    let mut tape = Tape::new();
    let mut stream = Stream::new(json, Limits::default())?;
    stream.next(&mut tape).transpose()?;
    let source = stream.source();
    match tape.document(source).root() {
        Some(root) => Ok(then(root)),
        None => Err(Error::at(source, 0, "expected a JSON document, found nothing")),
    }
}

/// Prints a node with the members of every mapping sorted, as `sigs.k8s.io/yaml` converts JSON to YAML.
fn sorted(emitter: &mut Emitter<'_>, node: Node<'_>) {
    match node.kind() {
        Kind::Map => {
            let mut pairs: Vec<(Node<'_>, Node<'_>)> = node.pairs().collect();
            pairs.sort_by(|(a, _), (b, _)| a.text().cmp(b.text()));
            emitter.begin_map();
            for (key, value) in pairs {
                emitter.key(key.text());
                sorted(emitter, value);
            }
            emitter.end_map();
        }
        Kind::Seq => {
            emitter.begin_seq();
            for item in node.items() {
                emitter.item();
                sorted(emitter, item);
            }
            emitter.end_seq();
        }
        _ => emitter.node(node),
    }
}
