//! The list of entries as it is stored (upstream `DecodeManagedFields`, `EncodeObjectManagedFields`).
//!
//! # Example: read entries and write them again
//! ```
//! use kubeshape_smd::{Bump, ToValue, managed::entries};
//! let arena = Bump::new();
//! let list = serde_json::json!([{
//!     "manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1", "time": "2000-01-01T00:00:00Z",
//!     "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}},
//! }]);
//! let list = list.to_value(&arena);
//! let managed = entries::decode(Some(list), &arena)?;
//! let kubectl = managed.fields.get(r#"{"manager":"kubectl","operation":"Apply"}"#).unwrap();
//! assert_eq!(kubectl.set.to_string(), ".spec.replicas");
//! assert_eq!(entries::encode(&managed, &arena)?, Some(list));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Identifier, Operation, Time, object, spell};
use crate::Bump;
use crate::fieldpath::{ManagedFields, Set, SetError, VersionedSet};
use crate::value::{Compat, Map, Value};

/// Why a list of entries cannot be read. One bad entry makes the whole list unreadable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The operation is neither `Apply` nor `Update`.
    #[error("operation must be `Apply` or `Update`")]
    Operation {
        /// The index of the entry in the list.
        entry: usize,
    },
    /// The version is empty.
    #[error("apiVersion must not be empty")]
    ApiVersion {
        /// The index of the entry in the list.
        entry: usize,
    },
    /// The `fieldsType` is missing.
    #[error("missing fieldsType in managed fields entry {entry}")]
    MissingFieldsType {
        /// The index of the entry in the list.
        entry: usize,
    },
    /// The `fieldsType` is unknown.
    #[error("invalid fieldsType {} in managed fields entry {entry}", Value::String(fields_type))]
    FieldsType {
        /// The index of the entry in the list.
        entry: usize,
        /// The type.
        fields_type: String,
    },
    /// The `fieldsV1` is not a field set.
    #[error("error decoding versioned set from managed fields entry {entry}: error decoding set: {error}")]
    Fields {
        /// The index of the entry in the list.
        entry: usize,
        /// What is wrong with it.
        error: SetError,
    },
}

/// Why owners cannot be written as a list of entries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A name in [`Managed::fields`] is not the string form of an [`Identifier`].
    #[error("failed to convert back managed fields to API: error unmarshalling manager identifier {0}")]
    Identifier(String),
    /// A set has a number that is not finite, or an item without a path element.
    #[error(
        "failed to convert back managed fields to API: error encoding versioned set for {manager}: \
         error encoding set: {}",
        error.message
    )]
    Set {
        /// The string form of the manager's [`Identifier`].
        manager: String,
        /// What cannot be written.
        error: SetError,
    },
}

/// The owners of an object: fields by the string form of the manager's identifier, and when each entry was last
/// changed.
#[derive(Clone, Debug, Default)]
pub struct Managed<'a> {
    /// The fields by the string form of the [`Identifier`].
    pub fields: ManagedFields<'a>,
    /// Further facts about managers, sorted by identifier. Only `fields` decides whether a manager owns anything.
    known: Vec<Known<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Known<'a> {
    text: &'a str,
    identifier: Identifier<'a>,
    time: Option<Time>,
    /// The fields as they were read.
    fields: Option<Map<'a>>,
}

/// Reads the `managedFields` of an object. A value that is not a list of entries, such as a list of numbers, is read as
/// an empty list, as upstream does for objects without a Go type. Of several entries with one identifier, the last one
/// is used.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode<'a>(list: Option<Value<'a>>, arena: &'a Bump) -> Result<Managed<'a>, DecodeError> {
    decode_as(list, Compat::default(), arena)
}

/// Reads the `managedFields` of an object by the rules of one version of structured merge diff, see [`decode`].
///
/// # Errors
/// See [`DecodeError`].
pub fn decode_as<'a>(list: Option<Value<'a>>, compat: Compat, arena: &'a Bump) -> Result<Managed<'a>, DecodeError> {
    Managed::from_entries(&RawEntry::read_list(list).unwrap_or_default(), compat, arena)
}

/// Writes the sorted list of entries. Returns `None` if there are no owners: then the object has no `managedFields`.
/// For fields that have not changed, the values that were read are returned.
///
/// # Errors
/// See [`EncodeError`].
pub fn encode<'a>(managed: &Managed<'a>, arena: &'a Bump) -> Result<Option<Value<'a>>, EncodeError> {
    encode_as(managed, Compat::default(), arena)
}

/// Writes the sorted list of entries as one version of structured merge diff does, see [`encode`].
///
/// # Errors
/// See [`EncodeError`].
pub fn encode_as<'a>(managed: &Managed<'a>, compat: Compat, arena: &'a Bump) -> Result<Option<Value<'a>>, EncodeError> {
    if managed.fields.is_empty() {
        return Ok(None);
    }
    let mut speller = spell::Speller::new(compat, arena);
    let mut known = managed.known.iter().peekable();
    let mut entries = Vec::with_capacity(managed.fields.len());
    for (text, fields) in managed.fields.iter() {
        while known.next_if(|known| known.text < text).is_some() {}
        let known = known.peek().filter(|known| known.text == text);
        let identifier = match known {
            Some(known) => known.identifier,
            None => Identifier::parse(text, arena).ok_or_else(|| EncodeError::Identifier(text.to_owned()))?,
        };
        let set = speller
            .set(fields.set, known.and_then(|known| known.fields))
            .map_err(|error| EncodeError::Set { manager: text.to_owned(), error })?;
        entries.push(RawEntry {
            manager: identifier.manager,
            operation: if fields.applied { "Apply" } else { identifier.operation.as_str() },
            api_version: fields.api_version,
            subresource: identifier.subresource,
            time: known.and_then(|known| known.time),
            fields_type: FIELDS_V1,
            fields: Some(set),
        });
    }
    entries.sort_by(|a, b| a.key().cmp(&b.key()));
    Ok(Some(RawEntry::write_list(&entries, arena)))
}

/// Sorts a list of entries as the server does (upstream `sortEncodedManagedFields`): by operation, time, manager,
/// version and subresource. An empty list stays an empty list. A value that is not a list of entries is returned
/// unchanged.
pub fn sort<'a>(list: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Some(mut entries) = RawEntry::read_list(Some(list)) else { return list };
    entries.sort_by(|a, b| a.key().cmp(&b.key()));
    RawEntry::write_list(&entries, arena)
}

impl<'a> Managed<'a> {
    /// Reads the owners of an object from its `metadata.managedFields`, see [`decode`].
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn of(object: Value<'a>, arena: &'a Bump) -> Result<Managed<'a>, DecodeError> {
        decode(object::managed_fields(object), arena)
    }

    pub(super) fn from_entries(
        entries: &[RawEntry<'a>],
        compat: Compat,
        arena: &'a Bump,
    ) -> Result<Managed<'a>, DecodeError> {
        let mut text = Vec::with_capacity(128);
        let mut read = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            read.push(entry.decode(at, compat, &mut text, arena)?);
        }
        // Of equal identifiers, the last one is used: the sort is stable, and a later entry replaces an earlier one.
        if !read.is_sorted_by(|a, b| a.0.text < b.0.text) {
            read.sort_by(|a, b| a.0.text.cmp(b.0.text));
        }
        let mut managed = Managed { fields: ManagedFields::new(), known: Vec::with_capacity(read.len()) };
        for (known, fields) in read {
            managed.fields.insert(known.text, fields);
            if managed.known.last().is_some_and(|last| last.text == known.text) {
                managed.known.pop();
            }
            managed.known.push(known);
        }
        Ok(managed)
    }

    /// Returns when the entry was last changed, or `None` if there is no such entry, or if it has no time.
    pub fn time(&self, text: &str) -> Option<Time> {
        self.known(text)?.time
    }

    /// Returns the identifier with this string form.
    pub fn identifier(&self, text: &str) -> Option<Identifier<'a>> {
        self.known(text).map(|known| known.identifier)
    }

    /// Sets the fields and the time of a manager.
    pub fn insert(&mut self, identifier: Identifier<'a>, set: Set<'a>, time: Option<Time>, arena: &'a Bump) -> &'a str {
        let text = identifier.text(arena);
        let applied = identifier.operation == Operation::Apply;
        self.fields.insert(text, VersionedSet { set, api_version: identifier.api_version, applied });
        self.set_time(text, identifier, time);
        text
    }

    /// Records an identifier with its string form, and sets the time.
    pub(super) fn set_time(&mut self, text: &'a str, identifier: Identifier<'a>, time: Option<Time>) {
        match self.known.binary_search_by(|known| known.text.cmp(text)) {
            Ok(at) => {
                if let Some(known) = self.known.get_mut(at) {
                    known.time = time;
                }
            }
            Err(at) => self.known.insert(at, Known { text, identifier, time, fields: None }),
        }
    }

    /// Records an identifier with its string form, and keeps a known time.
    pub(super) fn know(&mut self, text: &'a str, identifier: Identifier<'a>) {
        if self.known(text).is_none() {
            self.set_time(text, identifier, None);
        }
    }

    fn known(&self, text: &str) -> Option<&Known<'a>> {
        let at = self.known.binary_search_by(|known| known.text.cmp(text)).ok()?;
        self.known.get(at)
    }
}

const FIELDS_V1: &str = "FieldsV1";

/// Formats a time. Entries are written with every change, so the digits are not formatted one by one.
fn text_of(time: Time, arena: &Bump) -> &str {
    match time.text() {
        Some(text) => std::str::from_utf8(&text).map_or("", |text| arena.alloc_str(text)),
        None => arena.alloc_str(&time.to_string()),
    }
}

/// An entry of the list in its stored form (upstream `metav1.ManagedFieldsEntry`). Absent members are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawEntry<'a> {
    pub(super) manager: &'a str,
    pub(super) operation: &'a str,
    pub(super) api_version: &'a str,
    pub(super) subresource: &'a str,
    pub(super) time: Option<Time>,
    pub(super) fields_type: &'a str,
    pub(super) fields: Option<Value<'a>>,
}

impl<'a> RawEntry<'a> {
    /// The names of the members.
    pub(super) const MEMBERS: [&'static str; 7] =
        ["apiVersion", "fieldsType", "fieldsV1", "manager", "operation", "subresource", "time"];

    /// The empty entry.
    pub(super) const EMPTY: RawEntry<'static> = RawEntry {
        manager: "",
        operation: "",
        api_version: "",
        subresource: "",
        time: None,
        fields_type: "",
        fields: None,
    };

    /// Reads the entries of a list. Returns `None` if it is not a list, or if an item is not an entry.
    pub(super) fn read_list(list: Option<Value<'a>>) -> Option<Vec<RawEntry<'a>>> {
        list?.as_list()?.iter().map(|item| RawEntry::read(*item)).collect()
    }

    /// Returns `None` if this is not a map, or if a member has a wrong type. Other members are ignored.
    pub(super) fn read(entry: Value<'a>) -> Option<RawEntry<'a>> {
        let mut read = RawEntry::EMPTY;
        for (name, value) in entry.as_map()?.entries() {
            read.read_member(name, *value)?;
        }
        Some(read)
    }

    /// Reads a member. Returns `false` if entries have no such member, or `None` if it has a wrong type.
    pub(super) fn read_member(&mut self, name: &str, value: Value<'a>) -> Option<bool> {
        let text = match name {
            "manager" => &mut self.manager,
            "operation" => &mut self.operation,
            "apiVersion" => &mut self.api_version,
            "subresource" => &mut self.subresource,
            "fieldsType" => &mut self.fields_type,
            "time" => {
                self.time = if value.is_null() { None } else { Some(Time::parse(value.as_str()?)?) };
                return Some(true);
            }
            "fieldsV1" => {
                self.fields = Some(value).filter(|value| !value.is_null());
                return Some(true);
            }
            _ => return Some(false),
        };
        *text = if value.is_null() { "" } else { value.as_str()? };
        Some(true)
    }

    pub(super) fn write_list(entries: &[RawEntry<'a>], arena: &'a Bump) -> Value<'a> {
        Value::List(arena.alloc_slice_fill_iter(entries.iter().map(|entry| entry.write(arena))))
    }

    pub(super) fn write(&self, arena: &'a Bump) -> Value<'a> {
        let text = |text: &'a str| (!text.is_empty()).then_some(Value::String(text));
        let time = self.time.map(|time| match time {
            Time::ZERO => Value::Null,
            time => Value::String(text_of(time, arena)),
        });
        let members = [
            ("apiVersion", text(self.api_version)),
            ("fieldsType", text(self.fields_type)),
            ("fieldsV1", self.fields),
            ("manager", text(self.manager)),
            ("operation", text(self.operation)),
            ("subresource", text(self.subresource)),
            ("time", time),
        ];
        let mut present = [("", Value::Null); 7];
        let mut len = 0;
        for (member, place) in members.into_iter().filter_map(|(name, value)| Some((name, value?))).zip(&mut present) {
            *place = member;
            len += 1;
        }
        Value::Map(Map::sorted(arena.alloc_slice_copy(present.get(..len).unwrap_or_default())))
    }

    /// Returns the identifier of the entry, whose operation has been checked.
    pub(super) fn identifier(&self, operation: Operation) -> Identifier<'a> {
        Identifier { manager: self.manager, operation, api_version: self.api_version, subresource: self.subresource }
    }

    /// Returns the fields of the entry.
    pub(super) fn set(&self, compat: Compat, arena: &'a Bump) -> Result<Set<'a>, SetError> {
        self.fields.map_or(Ok(Set::EMPTY), |fields| Set::from_fields_v1_as(fields, compat, arena))
    }

    fn decode(
        &self,
        entry: usize,
        compat: Compat,
        text: &mut Vec<u8>,
        arena: &'a Bump,
    ) -> Result<(Known<'a>, VersionedSet<'a>), DecodeError> {
        let operation = Operation::parse(self.operation).ok_or(DecodeError::Operation { entry })?;
        if self.api_version.is_empty() {
            return Err(DecodeError::ApiVersion { entry });
        }
        match self.fields_type {
            FIELDS_V1 => {}
            "" => return Err(DecodeError::MissingFieldsType { entry }),
            other => return Err(DecodeError::FieldsType { entry, fields_type: other.to_owned() }),
        }
        let identifier = self.identifier(operation);
        let set = self.set(compat, arena).map_err(|error| DecodeError::Fields { entry, error })?;
        let fields = VersionedSet { set, api_version: self.api_version, applied: operation == Operation::Apply };
        let known = Known {
            text: identifier.text_by(text, arena),
            identifier,
            time: self.time,
            fields: self.fields.and_then(Value::as_map),
        };
        Ok((known, fields))
    }

    /// Returns the sort key. An entry without a time is sorted as 1970-01-01.
    fn key(&self) -> (&'a str, Time, &'a str, &'a str, &'a str) {
        (self.operation, self.time.unwrap_or_default(), self.manager, self.api_version, self.subresource)
    }
}
