//! Why a patch cannot be created or applied, in upstream's words.

use kubeshape_yaml::go::escape::GoQuoted;

/// Why a patch cannot be created or applied. The messages are upstream's (`mergepatch/errors.go`, `strategicpatch`).
///
/// # Example
/// ```
/// use kubeshape_registry::strategic::Error;
/// let error = Error::UnknownField { in_struct: "PodSpec".to_owned(), field: "sides".to_owned() };
/// assert_eq!(error.to_string(), r#"unable to find api field in struct PodSpec for the json field "sides""#);
/// assert_eq!(error.status_code(), 500);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document is not an object.
    #[error("invalid JSON document")]
    NoObject,
    /// A list has a list in it.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The key of a `$deleteFromPrimitiveList` names no field.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// A `$retainKeys` is not a list, or lacks a key of the patch.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// A `$setElementOrder` names no field, or there are two that differ.
    #[error("invalid patch format of setElementOrder list")]
    SetElementOrder,
    /// Items of the patch are missing in `$setElementOrder`, or have another order there. Both lists are printed as Go
    /// does.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n")]
    ElementOrder {
        /// The list of the patch.
        patch: String,
        /// The list of `$setElementOrder`.
        order: String,
    },
    /// Two `$retainKeys` of a three-way patch differ.
    #[error("{0} and {1} are not deep equal: this may happen when calculating the 3-way diff patch")]
    TwoRetainKeys(String, String),
    /// An item lacks the key by which the list is merged. The item is printed as Go does.
    #[error("map: {item} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// The item.
        item: String,
        /// The merge key.
        key: String,
    },
    /// The type of list items has no merge key.
    #[error("cannot merge lists without merge key for {0}")]
    UndeclaredMergeKey(&'static str),
    /// A `$patch` has an unknown value. Directive and map are printed as Go does.
    #[error("unknown patch type: {directive} in map: {map}")]
    Directive {
        /// The value of `$patch`.
        directive: String,
        /// The map that has it.
        map: String,
    },
    /// An item of a list has `$patch: merge`.
    #[error("merging lists cannot yet be specified in the patch")]
    MergingLists,
    /// A `$patch` in an object is not a string.
    #[error("invalid value for special key: $patch")]
    SpecialKey,
    /// A value has another type than expected. Both are Go types.
    #[error("expected a {expected}, but received a {found}")]
    Type {
        /// The expected type.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// The item of the list at this index is not a map.
    #[error("value for key {0} is not a map")]
    NoMap(usize),
    /// The items of two lists have different types. The lists are printed as Go does.
    #[error("list element types are not identical: {0}")]
    ElementTypes(String),
    /// Two lists to merge have no items.
    #[error("no elements in any of the given slices")]
    NoElements,
    /// The type has no such field.
    #[error("unable to find api field in struct {in_struct} for the json field {}", GoQuoted(field))]
    UnknownField {
        /// The name of the Go struct.
        in_struct: String,
        /// The name of the field.
        field: String,
    },
    /// A field of an object is looked up in a type without fields, such as `map`.
    #[error("merging an object in json but data type is not struct, instead is: {0}")]
    NoStruct(&'static str),
    /// A list is at a field whose type is not a list. The type is that of the object with the field.
    #[error("expected slice or array type, but got: {0}")]
    NoList(&'static str),
    /// A list is at a field whose type is a list of lists.
    #[error("unexpected slice of slice")]
    SliceOfSlice,
    /// The schema has an unknown patch strategy.
    #[error("unexpected patch strategy: [{0}]")]
    Strategy(String),
    /// An item of a merging list that is compared has another type, or lacks its merge key. Both are printed as Go
    /// does.
    #[error("invalid element type in merging list:{0}")]
    MergingItem(String),
    /// An item of a merging list that is compared lacks the merge key. It is printed as Go does.
    #[error("cannot find merge key `{key}` in merging list element:{item}")]
    MergingKey {
        /// The merge key.
        key: String,
        /// The item.
        item: String,
    },
    /// The patch changes a fixed field, such as the name. The patch is printed as Go does.
    #[error("precondition failed for: {0}")]
    Precondition(String),
    /// The patch and others changed the same fields (only without `overwrite`). Both are YAML.
    #[error("patch:\n{patch}\nconflicts with changes made from original to current:\n{changes}\n")]
    Conflict {
        /// The patch.
        patch: String,
        /// The changes of others.
        changes: String,
    },
    /// A map or a list is compared with another where a scalar is needed. Upstream panics.
    #[error("{0} cannot be a merge key or an item of a set")]
    Incomparable(&'static str),
    /// The first item of a merging list is null. Upstream panics.
    #[error("null cannot be the first item of a list that is merged")]
    NullItem,
    /// The patch takes too much work. Upstream has no such limit.
    #[error("the patch takes more than {0} steps")]
    Work(usize),
}

impl Error {
    /// Returns the status code of a server's response to a patch with this error (upstream:
    /// `interpretStrategicMergePatchError`). If a server panics, it is 400.
    pub fn status_code(&self) -> u16 {
        match self {
            Error::NoObject
            | Error::PrimitiveList
            | Error::RetainKeys
            | Error::SetElementOrder
            | Error::Incomparable(_)
            | Error::NullItem => 400,
            Error::ListOfLists => 422,
            Error::Work(_) => 413,
            _ => 500,
        }
    }
}
