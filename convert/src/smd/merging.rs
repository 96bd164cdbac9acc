//! The extensions of a schema about merging lists and maps.

use kubeshape_schema::escape::Escape;
use kubeshape_schema::{Extra, Json};
use kubeshape_smd::schema::Relationship;
use std::borrow::Cow;

/// The value of an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said<'s> {
    /// It is absent.
    Nothing,
    /// A string.
    Text(&'s str),
    /// Another value, as errors show it.
    Odd(String),
}

impl<'s> Said<'s> {
    /// Returns the value of a member or, if it is empty, of the extension with that name.
    pub(super) fn of(member: Option<&'s str>, extra: &Extra<'s>, name: &str) -> Self {
        match member {
            Some(text) => Said::Text(text),
            None => extension(extra, name).map_or(Said::Nothing, Said::json),
        }
    }

    /// Returns the value of a node.
    pub(super) fn json(value: &Json<'s>) -> Self {
        match value {
            Json::Str(text) => Said::Text(text),
            Json::Null => Said::Odd("<nil>".to_owned()),
            other => Said::Odd(shown(other)),
        }
    }
}

/// The fields that identify the items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyNames<'s> {
    Absent,
    Names(Cow<'s, [&'s str]>),
    /// Not a list, as errors show it.
    Odd(String),
}

impl<'s> KeyNames<'s> {
    /// Only the strings of a list are used.
    pub(super) fn json(value: &Json<'s>) -> Self {
        match value {
            Json::Array(items) => KeyNames::Names(items.iter().filter_map(Json::as_str).collect()),
            Json::Null => KeyNames::Odd("<nil>".to_owned()),
            other => KeyNames::Odd(shown(other)),
        }
    }
}

/// Returns an extension without a member in the model.
pub(crate) fn extension<'e, 's>(extra: &'e Extra<'s>, name: &str) -> Option<&'e Json<'s>> {
    extra.extensions.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Prints a value for an error.
pub(super) fn shown(value: &Json<'_>) -> String {
    let mut out = Vec::new();
    value.print(&mut out, Escape::Plain);
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) const LIST_TYPE: &str = "x-kubernetes-list-type";
pub(super) const MAP_TYPE: &str = "x-kubernetes-map-type";
pub(super) const MAP_KEYS: &str = "x-kubernetes-list-map-keys";
pub(super) const PATCH_STRATEGY: &str = "x-kubernetes-patch-strategy";
pub(super) const MERGE_KEY: &str = "x-kubernetes-patch-merge-key";

/// The extensions that decide how a list is merged. The patch strategy is used only if there is no list type.
pub(super) struct ListWords<'s> {
    pub(super) list_type: Said<'s>,
    pub(super) keys: KeyNames<'s>,
    pub(super) strategy: Said<'s>,
    pub(super) merge_key: Said<'s>,
}

/// How a list is merged, and the errors in its extensions (kube-openapi's `getListElementRelationship`).
pub(super) struct ListMerge<'s> {
    pub(super) relationship: Relationship<'static>,
    pub(super) keys: Cow<'s, [&'s str]>,
    pub(super) error: Option<String>,
}

impl<'s> ListMerge<'s> {
    pub(super) const ATOMIC: ListMerge<'s> =
        ListMerge { relationship: Relationship::Atomic, keys: Cow::Borrowed(&[]), error: None };

    fn wrong(relationship: Relationship<'static>, error: String) -> Self {
        ListMerge { relationship, error: Some(error), ..ListMerge::ATOMIC }
    }

    fn associative(keys: Cow<'s, [&'s str]>) -> Self {
        ListMerge { relationship: Relationship::Associative, keys, error: None }
    }

    pub(super) fn new(words: ListWords<'s>) -> Self {
        let by_strategy = |words: ListWords<'s>| match (words.strategy, words.merge_key) {
            (Said::Nothing | Said::Text("retainKeys"), _) => ListMerge::ATOMIC,
            (Said::Text("merge" | "merge,retainKeys"), key) => match key {
                Said::Nothing => ListMerge::associative(Cow::Borrowed(&[])),
                Said::Text(key) => ListMerge::associative(Cow::Owned(vec![key])),
                Said::Odd(key) => {
                    ListMerge::wrong(Relationship::Associative, format!("uninterpreted merge key: {key}"))
                }
            },
            (Said::Text(other), _) => ListMerge::wrong(Relationship::Atomic, format!("unknown patch strategy {other}")),
            (Said::Odd(other), _) => ListMerge::wrong(Relationship::Atomic, format!("unknown patch strategy {other}")),
        };
        match words.list_type {
            Said::Nothing => by_strategy(words),
            Said::Text("atomic") => ListMerge::ATOMIC,
            Said::Text("set") => ListMerge::associative(Cow::Borrowed(&[])),
            Said::Text("map") => match words.keys {
                KeyNames::Names(keys) => ListMerge::associative(keys),
                KeyNames::Absent => ListMerge::wrong(Relationship::Associative, "missing map keys".to_owned()),
                KeyNames::Odd(keys) => {
                    ListMerge::wrong(Relationship::Associative, format!("uninterpreted map keys: {keys}"))
                }
            },
            Said::Text(other) => ListMerge::wrong(Relationship::Atomic, format!("unknown list type {other}")),
            Said::Odd(other) => ListMerge::wrong(Relationship::Atomic, format!("unknown list type {other}")),
        }
    }
}

/// Returns how a map is merged (kube-openapi's `getMapElementRelationship`).
///
/// # Errors
/// The map type is unknown.
pub(super) fn map_relationship(said: Said<'_>) -> Result<Option<Relationship<'static>>, String> {
    match said {
        Said::Nothing => Ok(None),
        Said::Text("atomic") => Ok(Some(Relationship::Atomic)),
        Said::Text("granular") => Ok(Some(Relationship::Separable)),
        Said::Text(other) => Err(format!("unknown map type {other}")),
        Said::Odd(other) => Err(format!("unknown map type {other}")),
    }
}
