//! The objects that are the same in both dialects.

use super::{Boxed, Map, Texts, object};

/// Security requirements: alternatives, each with the required scopes of its schemes.
pub type Security<'a> = Option<&'a [Map<'a, Texts<'a>>]>;

object! {
    /// General information about an API.
    Info, "an info object";
    {
        omit description: &'a str = "description",
        omit title: &'a str = "title",
        omit terms_of_service: &'a str = "termsOfService",
        lean contact: Boxed<'a, Contact<'a>> = "contact",
        lean license: Boxed<'a, License<'a>> = "license",
        omit version: &'a str = "version",
    }
    extensions
}

object! {
    /// The contact for an API.
    Contact, "a contact";
    {
        omit name: &'a str = "name",
        omit url: &'a str = "url",
        omit email: &'a str = "email",
    }
    faithful extensions
}

object! {
    /// An API's licence.
    License, "a license";
    {
        omit name: &'a str = "name",
        omit url: &'a str = "url",
    }
    faithful extensions
}

object! {
    /// A tag of operations.
    Tag, "a tag";
    {
        omit description: &'a str = "description",
        omit name: &'a str = "name",
        lean external_docs: Boxed<'a, ExternalDocs<'a>> = "externalDocs",
    }
    extensions
}

object! {
    /// A pointer to documentation.
    ExternalDocs, "a mapping with description and url";
    {
        omit description: &'a str = "description",
        omit url: &'a str = "url",
    }
    faithful extensions
}
