//! The forms of objects, and how kube-apiserver chooses one.

use super::{Clause, Offer, kube_clauses, kube_fits};

/// A form in which objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Compact JSON.
    Json,
    /// Indented JSON.
    Indented,
    /// YAML.
    Yaml,
    /// Protobuf.
    Protobuf,
    /// CBOR (RFC 8949).
    Cbor,
    /// Comma-separated values (RFC 4180), of tables.
    Csv,
}

impl Form {
    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Form::Json | Form::Indented => "application/json",
            Form::Yaml => "application/yaml",
            Form::Protobuf => "application/vnd.kubernetes.protobuf",
            Form::Cbor => "application/cbor",
            Form::Csv => "text/csv;charset=utf-8;header=present",
        }
    }

    /// Returns the media type of a watch (upstream: `serveWatchHandler`).
    pub fn stream_type(self) -> &'static str {
        match self {
            Form::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
            Form::Cbor => "application/cbor-seq",
            other => other.media_type(),
        }
    }

    /// Returns whether it supports watches.
    pub(super) fn streams(self) -> bool {
        !matches!(self, Form::Yaml | Form::Csv)
    }
}

/// The form of an object and the kind that it is converted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transformed<'h> {
    /// The form.
    pub form: Form,
    /// The kind to convert to; `None` for the unchanged object.
    pub target: Option<Target<'h>>,
    /// The requested version of the resource, if it is another one.
    pub version: Option<&'h str>,
    /// Whether to drop fields that the server set.
    pub export: bool,
    /// The requested version of `meta.k8s.io` for generic responses.
    pub server_version: Option<&'h str>,
    /// The parameters of the `Content-Type`: `;g=meta.k8s.io;v=v1;as=Table`.
    pub parameters: String,
}

impl Transformed<'_> {
    /// The unchanged object.
    pub(super) fn plain(form: Form) -> Self {
        Transformed {
            form,
            target: None,
            version: None,
            export: false,
            server_version: None,
            parameters: String::new(),
        }
    }
}

/// A kind that an object can be converted to, with its group and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'h> {
    /// The kind.
    pub kind: TargetKind,
    /// `meta.k8s.io`, or `autoscaling`.
    pub group: &'h str,
    /// `v1` or `v1beta1`
    pub version: &'h str,
}

impl Target<'_> {
    /// `meta.k8s.io/v1`; of the core group `v1`.
    pub fn api_version(self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// A kind that an object can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Rows for people.
    Table,
    /// Rows in the form of the proposal.
    TabularOutput,
    /// Only the metadata.
    PartialObjectMetadata,
    /// The metadata of a list's objects.
    PartialObjectMetadataList,
    /// The replicas.
    Scale,
    /// Sections of labels and values for people.
    Description,
    /// A list whose objects contain their kinds.
    List,
    /// The metadata, without an enclosing object.
    ObjectMeta,
    /// The metadata of a list.
    ListMeta,
}

/// The representations that an endpoint of objects supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether objects can be converted to a [`Target`].
    pub transforms: bool,
    /// Whether unconverted objects can be written as protobuf. Custom resources cannot.
    pub protobuf: bool,
    /// Whether CBOR is supported (upstream: the feature gate `CBORServingAndStorage`).
    pub cbor: bool,
}

impl Endpoint {
    /// Custom resources.
    pub const CUSTOM_RESOURCES: Endpoint = Endpoint { transforms: true, protobuf: false, cbor: false };
    /// Errors.
    pub const ERRORS: Endpoint = Endpoint { transforms: false, protobuf: true, cbor: false };

    /// Returns the endpoint with or without CBOR.
    #[must_use]
    pub const fn with_cbor(self, cbor: bool) -> Endpoint {
        Endpoint { cbor, ..self }
    }
}

/// The media types of objects, in the order in which a wildcard takes them.
const MEDIA: [(Offer, Form); 4] = [
    (Offer::plain("application", "json"), Form::Json),
    (Offer::plain("application", "yaml"), Form::Yaml),
    (Offer::plain("application", "vnd.kubernetes.protobuf"), Form::Protobuf),
    (Offer::plain("application", "cbor"), Form::Cbor),
];

/// Chooses as kube-apiserver does for an endpoint of objects (upstream: `negotiation.NegotiateMediaTypeOptions`).
/// `pretty` says whether the rest of the request asks for indented JSON. Returns `None` if no clause fits.
///
/// # Example
/// ```
/// use kubeshape_objects::accept::{Endpoint, Form, TargetKind, resource};
///
/// let header = "text/html, application/json;as=Table;g=meta.k8s.io;v=v1, application/json";
/// let chosen = resource(header, Endpoint::CUSTOM_RESOURCES, false).unwrap();
/// assert_eq!((chosen.form, chosen.target.unwrap().kind), (Form::Json, TargetKind::Table));
/// assert_eq!(resource("application/vnd.kubernetes.protobuf", Endpoint::CUSTOM_RESOURCES, false), None);
/// ```
pub fn resource(header: &str, endpoint: Endpoint, pretty: bool) -> Option<Transformed<'_>> {
    let json = |pretty| if pretty { Form::Indented } else { Form::Json };
    if header.is_empty() {
        return Some(Transformed::plain(json(pretty)));
    }
    let media = if endpoint.cbor { &MEDIA[..] } else { &MEDIA[..MEDIA.len() - 1] };
    for clause in kube_clauses(header) {
        for (offer, form) in media {
            if !kube_fits(&clause, offer) {
                continue;
            }
            let form = match form {
                Form::Json => json(pretty || clause.parameter("pretty") == Some("1")),
                other => *other,
            };
            let stream = clause.parameter("stream").unwrap_or_default();
            let streams = stream.is_empty() || (stream == "watch" && form.streams());
            // Upstream: `AllowsServerVersion`.
            let version = clause.parameter("sv").unwrap_or_default();
            let has_version = version.is_empty() || (endpoint.transforms && version == "v1");
            if !streams || !has_version {
                continue;
            }
            if let Some(target) = target(&clause, endpoint, form) {
                return Some(Transformed { target, ..Transformed::plain(form) });
            }
        }
    }
    None
}

/// Returns the kind that the parameters select, if any; `None` if the endpoint does not have it in this form (upstream:
/// `RequestScope.AllowsMediaTypeTransform`).
#[allow(clippy::option_option)] // `Some(None)`: valid, without a kind.
fn target<'h>(clause: &Clause<'h>, endpoint: Endpoint, form: Form) -> Option<Option<Target<'h>>> {
    let selected = (clause.parameter("as"), clause.parameter("g"), clause.parameter("v"));
    let (Some(kind), Some(group @ "meta.k8s.io"), Some(version @ ("v1" | "v1beta1"))) = selected else {
        let plain = selected == (None, None, None) && (endpoint.protobuf || form != Form::Protobuf);
        return plain.then_some(None);
    };
    let kind = match kind {
        "Table" if !matches!(form, Form::Protobuf | Form::Cbor) => TargetKind::Table,
        "PartialObjectMetadata" => TargetKind::PartialObjectMetadata,
        "PartialObjectMetadataList" => TargetKind::PartialObjectMetadataList,
        _ => return None,
    };
    endpoint.transforms.then_some(Some(Target { kind, group, version }))
}
