//! Warnings that the server sends with its response.

use super::model::{Definition, schemas};
use super::subschemas::any;
use crate::release::{AskedRelease, Change};
use kubeshape_schema::{Schema, Type};
use kubeshape_yaml::go::escape::GoQuoted;
use std::cell::RefCell;

/// A warning about a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The server's message.
    pub text: String,
    /// The location: the schema that it is about.
    pub at: u32,
}

/// The formats of strings that every release knows, without dashes.
const FORMATS: [&str; 24] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];
/// The formats that were added later.
const NAME_FORMATS: [&str; 2] = ["k8sshortname", "k8slongname"];

/// Returns the warnings of a request to create a definition: `WarningsOnCreate`. A format that occurs twice has two
/// warnings.
pub fn warnings(definition: &Definition<'_>, release: impl Into<AskedRelease>) -> Vec<Warning> {
    let release = &release.into();
    let out = RefCell::new(Vec::new());
    for schema in schemas(&definition.spec) {
        any(schema, &|schema| {
            if let Some(item) = set_item(schema, release) {
                let text = format!(
                    "x-kubernetes-list-type: set for items of type \"{}\" is not supported by server-side apply or CEL \
                     validation rules",
                    item.type_name()
                );
                out.borrow_mut().push(Warning { text, at: schema.at });
            }
            if !is_recognized(schema, release) {
                let text = format!("unrecognized format {}", GoQuoted(schema.format));
                out.borrow_mut().push(Warning { text, at: schema.at });
            }
            false
        });
    }
    out.into_inner()
}

/// Returns the warnings of a request to replace a definition: `WarningsOnUpdate`. Warnings about the old one are not
/// repeated.
pub fn warnings_of_update(
    new: &Definition<'_>,
    old: &Definition<'_>,
    release: impl Into<AskedRelease>,
) -> Vec<Warning> {
    let release = release.into();
    let mut out = warnings(new, &release);
    if out.is_empty() {
        return out;
    }
    let before = warnings(old, release);
    out.retain(|warning| !before.iter().any(|old| old.text == warning.text));
    out
}

/// Returns the items of a set, if they are objects or arrays and the release warns about them.
fn set_item<'a>(schema: &Schema<'a>, release: &AskedRelease) -> Option<&'a Schema<'a>> {
    let set = schema.extra().list_type == Some("set");
    schema
        .item()
        .filter(|item| set && matches!(item.ty, Type::Object | Type::Array) && release.has(Change::SetsOfContainers))
}

/// `GetUnrecognizedFormats`
fn is_recognized(schema: &Schema<'_>, release: &AskedRelease) -> bool {
    if schema.format.is_empty() {
        return true;
    }
    let (is_known, checked) = match schema.ty {
        Type::Absent | Type::String => {
            let name = schema.format.replace('-', "");
            let is_known =
                FORMATS.contains(&&*name) || (NAME_FORMATS.contains(&&*name) && release.has(Change::NameFormats));
            let is_string = schema.ty == Type::String;
            (is_known, if is_string { Change::UnknownStringFormats } else { Change::UnknownOtherFormats })
        }
        Type::Integer => (matches!(schema.format, "int32" | "int64"), Change::UnknownOtherFormats),
        Type::Number => (matches!(schema.format, "float" | "double"), Change::UnknownOtherFormats),
        _ => (false, Change::UnknownOtherFormats),
    };
    is_known || !release.has(checked)
}
