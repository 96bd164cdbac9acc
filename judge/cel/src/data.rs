//! Objects that expressions read.

use std::borrow::Cow;

/// A JSON-like tree. Strings can borrow from the source of the object.
///
/// # Example: an object
/// ```
/// use kubeshape_cel::Data;
/// let object = Data::map([("spec", Data::map([("replicas", Data::Int(3))]))]);
/// assert!(matches!(object.get("spec").and_then(|spec| spec.get("replicas")), Some(Data::Int(3))));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Data<'a> {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A number without decimal point or exponent.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(Cow<'a, str>),
    /// A list.
    List(Vec<Data<'a>>),
    /// An object. Its keys are sorted and unique: [`Data::map`] ensures that.
    Map(Vec<(Cow<'a, str>, Data<'a>)>),
}

impl<'a> Data<'a> {
    /// Creates an object. If a key occurs more than once, its last value is used.
    pub fn map<K: Into<Cow<'a, str>>>(entries: impl IntoIterator<Item = (K, Data<'a>)>) -> Data<'a> {
        let mut entries: Vec<(Cow<'a, str>, Data<'a>)> =
            entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        entries.reverse();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|b, a| a.0 == b.0);
        Data::Map(entries)
    }

    /// Creates a string.
    pub fn string(text: impl Into<Cow<'a, str>>) -> Data<'a> {
        Data::String(text.into())
    }

    /// Returns the value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Data<'a>> {
        match self {
            Data::Map(entries) => Data::find(entries, key),
            _ => None,
        }
    }

    pub(crate) fn find<'s>(entries: &'s [(Cow<'a, str>, Data<'a>)], key: &str) -> Option<&'s Data<'a>> {
        let index = entries.binary_search_by(|(own, _)| own.as_ref().cmp(key)).ok()?;
        Some(&entries[index].1)
    }
}
