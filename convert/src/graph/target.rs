//! The targets of `$ref`.

use crate::model::Site;
use kubeshape_schema::Dialect;
use kubeshape_schema::reference;
use kubeshape_yaml::{percent, pointer};
use std::borrow::Cow;

/// The sections of a document that have named parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `definitions` of v2, `components.schemas` of v3.
    Schemas,
    /// `parameters`
    Parameters,
    /// `responses`
    Responses,
    /// `requestBodies` (v3)
    RequestBodies,
    /// `headers` (v3)
    Headers,
    /// `examples` (v3)
    Examples,
    /// `links` (v3)
    Links,
    /// `callbacks` (v3)
    Callbacks,
    /// `securityDefinitions` of v2, `components.securitySchemes` of v3.
    SecuritySchemes,
    /// `paths`
    Paths,
}

impl Section {
    /// All sections, in the order in which a [`Graph`](super::Graph) numbers their parts.
    pub const ALL: [Section; 10] = [
        Section::Schemas,
        Section::Parameters,
        Section::Responses,
        Section::RequestBodies,
        Section::Headers,
        Section::Examples,
        Section::Links,
        Section::Callbacks,
        Section::SecuritySchemes,
        Section::Paths,
    ];

    /// Returns the prefix of references to such a part, or `None` if the dialect has no such section.
    pub fn prefix(self, dialect: Dialect) -> Option<&'static str> {
        Some(match (dialect, self) {
            (_, Section::Paths) => "#/paths/",
            (Dialect::V2, Section::Schemas) => "#/definitions/",
            (Dialect::V2, Section::Parameters) => "#/parameters/",
            (Dialect::V2, Section::Responses) => "#/responses/",
            (Dialect::V2, Section::SecuritySchemes) => "#/securityDefinitions/",
            (Dialect::V2, _) => return None,
            (Dialect::V3, Section::Schemas) => "#/components/schemas/",
            (Dialect::V3, Section::Parameters) => "#/components/parameters/",
            (Dialect::V3, Section::Responses) => "#/components/responses/",
            (Dialect::V3, Section::RequestBodies) => "#/components/requestBodies/",
            (Dialect::V3, Section::Headers) => "#/components/headers/",
            (Dialect::V3, Section::Examples) => "#/components/examples/",
            (Dialect::V3, Section::Links) => "#/components/links/",
            (Dialect::V3, Section::Callbacks) => "#/components/callbacks/",
            (Dialect::V3, Section::SecuritySchemes) => "#/components/securitySchemes/",
        })
    }

    /// Returns the section to which a reference at `site` should refer.
    pub fn at(site: Site) -> Section {
        match site {
            Site::Parameter => Section::Parameters,
            Site::RequestBody => Section::RequestBodies,
            Site::Response => Section::Responses,
            Site::Header => Section::Headers,
            Site::Example => Section::Examples,
            Site::Link => Section::Links,
            Site::Callback => Section::Callbacks,
            Site::SecurityScheme => Section::SecuritySchemes,
            Site::PathItem => Section::Paths,
            _ => Section::Schemas,
        }
    }

    pub(crate) fn number(self) -> usize {
        self as usize
    }
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A named part, or something inside it.
    Named {
        /// Its section.
        section: Section,
        /// Its name.
        name: Cow<'a, str>,
        /// The JSON pointer from the part on: empty, or starting with a slash.
        rest: Cow<'a, str>,
    },
    /// Something else in the same document: its root, or a part without a name.
    Unnamed,
    /// Another document.
    Remote,
}

impl<'a> Target<'a> {
    /// Reads a reference: the fragment of the URL is percent-decoded and then read as a JSON pointer (RFC 6901).
    ///
    /// # Example: names are escaped twice
    /// ```
    /// use kubeshape_schema::Dialect;
    /// use kubeshape_convert::graph::{Section, Target};
    /// let target = Target::of("#/paths/~1a~1%7Bb%7D/get", Dialect::V3);
    /// let Target::Named { section, name, rest } = target else { panic!() };
    /// assert_eq!((section, &*name, &*rest), (Section::Paths, "/a/{b}", "/get"));
    /// assert_eq!(Target::of("other.json#/definitions/A", Dialect::V2), Target::Remote);
    /// ```
    pub fn of(reference: &'a str, dialect: Dialect) -> Target<'a> {
        let Some(fragment) = reference.strip_prefix('#') else { return Target::Remote };
        let pointer = percent::decode(fragment);
        for section in Section::ALL {
            let Some(prefix) = section.prefix(dialect) else { continue };
            match &pointer {
                Cow::Borrowed(pointer) => {
                    if let Some(below) = pointer.strip_prefix(&prefix[1..]) {
                        let (name, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
                        return Target::Named { section, name: pointer::unescape(name), rest: Cow::Borrowed(rest) };
                    }
                }
                Cow::Owned(pointer) => {
                    if let Some(below) = pointer.strip_prefix(&prefix[1..]) {
                        let (name, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
                        let name = Cow::Owned(pointer::unescape(name).into_owned());
                        return Target::Named { section, name, rest: Cow::Owned(rest.to_owned()) };
                    }
                }
            }
        }
        Target::Unnamed
    }
}

/// Returns the reference to a part, as Kubernetes writes it.
///
/// # Example
/// ```
/// use kubeshape_schema::Dialect;
/// use kubeshape_convert::graph::{reference_to, Section};
/// assert_eq!(reference_to(Section::Schemas, "k8s.io/api/core/v1.Pod", "", Dialect::V2), "#/definitions/k8s.io~1api~1core~1v1.Pod");
/// ```
pub fn reference_to(section: Section, name: &str, rest: &str, dialect: Dialect) -> String {
    let mut text = section.prefix(dialect).unwrap_or("#/").to_owned();
    text.push_str(&pointer::escape(name).replace('%', "%25"));
    text.push_str(&rest.replace('%', "%25"));
    match reference::normalize(&text) {
        Ok(written) => written.into_owned(),
        Err(_) => text,
    }
}
