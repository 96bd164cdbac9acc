//! A server's changes to an object before validation, in one walk: `pruning.PruneWithOptions`,
//! `defaulting.PruneNonNullableNullsWithoutDefaults` and `defaulting.Default`.
//!
//! A server walks over the object once for each. The result for a field depends only on its own schema and on the steps
//! before, never on its sibling fields, so one walk gives the same result.

use super::edit::Entries;
use super::root::{Root, is_meta};
use kubeshape_schema::field::Paths;
use kubeshape_schema::{Additional, Bump, Flags, Schema};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::cell::Cell;
use std::fmt;

/// The maximum bytes of defaults, as JSON, that are added to an object. A server stores objects of at most 1.5 MiB.
pub const MAX_DEFAULTS: usize = 8 << 20;

/// The defaults of a schema would make an object too large: more than 8 MiB of JSON would be added.
///
/// A default is added as often as its schema applies, so a small object can become a large one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyDefaults;

impl fmt::Display for TooManyDefaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the defaults of the schema add more than {MAX_DEFAULTS} bytes to the object")
    }
}

impl std::error::Error for TooManyDefaults {}

/// Counts the bytes of added defaults.
#[derive(Debug, Default)]
pub(super) struct Budget(Cell<usize>);

impl Budget {
    /// Counts a default before it is added. Returns `false` if it no longer fits.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        self.0.set(self.0.get().saturating_add(bytes));
        !self.is_exceeded()
    }

    fn is_exceeded(&self) -> bool {
        self.0.get() > MAX_DEFAULTS
    }
}

/// A default with all defaults below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeDefault<'a> {
    pub(super) value: Value<'a>,
    /// Its length as JSON. Values share parts, so this can be far more than its memory.
    pub(super) bytes: usize,
}

/// The result of a walk.
#[derive(Debug)]
pub(super) struct Fitted<'a> {
    /// The value after the steps. If there are too many defaults, some are missing.
    pub(super) value: Value<'a>,
    /// The paths of the removed unknown fields, sorted.
    pub(super) unknown: Vec<String>,
    /// The bytes of all added defaults, at most [`usize::MAX`].
    pub(super) inserted: usize,
}

impl Fitted<'_> {
    /// Checks the number of added bytes.
    ///
    /// # Errors
    /// It exceeds the limit.
    pub(super) fn complete(self) -> Result<Self, TooManyDefaults> {
        if self.inserted > MAX_DEFAULTS { Err(TooManyDefaults) } else { Ok(self) }
    }
}

/// What the walk needs from a schema.
pub(super) trait Part<'a>: Copy {
    /// Returns facts about the schema.
    fn flags(self) -> Flags;

    /// Returns whether it or a subschema has a default.
    fn has_defaults(self) -> bool;

    /// Returns the schema of a property. Names must be requested in the order of their bytes; `cursor`, initially 0, is
    /// the position from which the search continues.
    fn property(self, name: &str, cursor: &mut usize) -> Option<Self>;

    /// Returns `additionalProperties`: the inner value is the schema, if they have one.
    #[allow(clippy::option_option)] // Allowed without a schema differs from not allowed.
    fn additional(self) -> Option<Option<Self>>;

    /// Returns the schema of items.
    fn item(self) -> Option<Self>;

    /// Returns whether there is a default.
    fn is_defaulted(self) -> bool;

    /// Returns the default, with the defaults below it. `None` if there is none, or if it exceeds the budget.
    fn default(self, arena: &'a Bump, budget: &Budget) -> Option<Value<'a>>;

    /// Adds the defaults of missing properties of a map, as long as they fit into the budget.
    fn add_missing(self, map: Map<'a>, arena: &'a Bump, budget: &Budget, add: impl FnMut(&'a str, Value<'a>));
}

/// The steps of the walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// Unknown fields are removed.
    pub(super) prune: bool,
    /// Nulls that the schema does not accept are removed.
    pub(super) nulls: bool,
    /// Defaults are added.
    pub(super) defaults: bool,
}

/// How unknown fields of a value are handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// They are removed.
    Drop,
    /// They are kept, because the schema around them preserves them; but unknown fields of values with a schema are
    /// removed.
    Preserve,
    /// They are kept without a search.
    Keep,
}

/// A path in the format of pruning.
#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p Step<'p>, &'p str),
    Index(&'p Step<'p>, usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Root => Ok(()),
            Step::Key(Step::Root, key) => f.write_str(key),
            Step::Key(parent, key) => write!(f, "{parent}.{key}"),
            Step::Index(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

/// Walks over a value. Does not check the limit: see [`Fitted::complete`].
pub(super) fn fit<'a, P: Part<'a>>(
    value: Value<'a>,
    schema: Option<P>,
    root: Root,
    steps: Steps,
    arena: &'a Bump,
) -> Fitted<'a> {
    let budget = Budget::default();
    let mut walk = Walk { arena, steps, unknown: Paths::default(), budget: &budget };
    let how =
        How { unknown: if steps.prune { Unknown::Drop } else { Unknown::Keep }, nulls: steps.nulls, root: Some(root) };
    let value = walk.value(&value, schema, how, &Step::Root).unwrap_or(value);
    let mut unknown = walk.unknown;
    unknown.sort();
    Fitted { value, unknown: unknown.into_vec(), inserted: budget.0.get() }
}

struct Walk<'a, 'b> {
    arena: &'a Bump,
    steps: Steps,
    unknown: Paths,
    budget: &'b Budget,
}

/// The context of a value.
#[derive(Clone, Copy)]
struct How {
    unknown: Unknown,
    /// Whether nulls are removed.
    nulls: bool,
    /// The role of the value, if it is the root.
    root: Option<Root>,
}

impl<'a> Walk<'a, '_> {
    /// Returns whether the walk can change anything in a list or a map.
    #[inline]
    fn enters<P: Part<'a>>(&self, schema: Option<P>, how: How) -> bool {
        let Some(schema) = schema else { return how.unknown == Unknown::Drop };
        how.unknown != Unknown::Keep || how.nulls || (self.steps.defaults && schema.has_defaults())
    }

    /// Returns the new list or map; `None` if it does not change. The reader bounds the nesting of values.
    fn value<P: Part<'a>>(
        &mut self,
        value: &Value<'a>,
        schema: Option<P>,
        how: How,
        path: &Step<'_>,
    ) -> Option<Value<'a>> {
        if !self.enters(schema, how) {
            return None;
        }
        match value {
            Value::Map(map) => self.map(*map, schema, how, path).map(Value::Map),
            Value::List(items) => self.list(items, schema, how, path).map(Value::List),
            _ => None,
        }
    }

    fn map<P: Part<'a>>(&mut self, map: Map<'a>, schema: Option<P>, how: How, path: &Step<'_>) -> Option<Map<'a>> {
        let flags = schema.map_or(Flags::NONE, Part::flags);
        let is_resource =
            matches!(how.root, Some(Root::Resource | Root::Decoded)) || flags.any(Flags::EMBEDDED_RESOURCE);
        let keeps = how.unknown != Unknown::Drop || flags.any(Flags::PRESERVE_UNKNOWN);
        let additional = schema.and_then(Part::additional);
        let mut entries = Entries::of(map, self.arena);
        let mut cursor = 0;
        for (key, child) in map.entries() {
            let property = schema.and_then(|schema| schema.property(key, &mut cursor));
            let is_known = property.is_some() || additional.is_some();
            let mut below = How { root: None, ..how };
            if is_resource && is_meta(key) {
                below.unknown = Unknown::Keep;
                // Decoded metadata already has its form.
                below.nulls &= how.root != Some(Root::Decoded);
            } else if how.unknown != Unknown::Keep {
                if is_known {
                    below.unknown = Unknown::Drop;
                } else if keeps {
                    below.unknown = Unknown::Keep;
                } else {
                    if !(is_meta(key) && schema.is_some() && matches!(path, Step::Root)) {
                        self.unknown.push(&Step::Key(path, key));
                    }
                    entries.drop();
                    continue;
                }
            }
            let schema = property.or(additional.flatten());
            match child {
                Value::Null => match self.null(schema, below.nulls) {
                    None => entries.drop(),
                    Some(new) => entries.put(new),
                },
                Value::Map(_) | Value::List(_) => match self.value(child, schema, below, &Step::Key(path, key)) {
                    None => entries.keep(),
                    Some(new) => entries.change(new),
                },
                _ => entries.keep(),
            }
        }
        if let Some(schema) = schema.filter(|_| self.steps.defaults) {
            schema.add_missing(map, self.arena, self.budget, |name, value| entries.add(name, value));
        }
        entries.changed()
    }

    /// Returns the new value for a null in a map; `None` if it is removed.
    fn null<P: Part<'a>>(&self, schema: Option<P>, nulls: bool) -> Option<Value<'a>> {
        let Some(schema) = schema.filter(|schema| !schema.flags().any(Flags::NULLABLE)) else {
            return Some(Value::Null);
        };
        if nulls && !schema.is_defaulted() {
            return None;
        }
        Some(self.default_of(schema).unwrap_or(Value::Null))
    }

    fn default_of<P: Part<'a>>(&self, schema: P) -> Option<Value<'a>> {
        if self.steps.defaults { schema.default(self.arena, self.budget) } else { None }
    }

    fn list<P: Part<'a>>(
        &mut self,
        items: &'a [Value<'a>],
        schema: Option<P>,
        how: How,
        path: &Step<'_>,
    ) -> Option<&'a [Value<'a>]> {
        let preserves = schema.is_some_and(|schema| schema.flags().any(Flags::PRESERVE_UNKNOWN));
        let unknown = match how.unknown {
            Unknown::Drop if preserves => Unknown::Preserve,
            other => other,
        };
        let below = How { unknown, root: None, ..how };
        let schema = schema.and_then(Part::item);
        let mut changed: Option<bumpalo::collections::Vec<'a, Value<'a>>> = None;
        for (at, item) in items.iter().enumerate() {
            let new = match item {
                // Nulls in lists are kept, unless there is a default.
                Value::Null => schema
                    .filter(|schema| !schema.flags().any(Flags::NULLABLE))
                    .and_then(|schema| self.default_of(schema)),
                _ => self.value(item, schema, below, &Step::Index(path, at)),
            };
            match (&mut changed, new) {
                (None, None) => {}
                (Some(list), new) => list.push(new.unwrap_or(*item)),
                (None, Some(new)) => {
                    let mut list = bumpalo::collections::Vec::with_capacity_in(items.len(), self.arena);
                    list.extend_from_slice_copy(&items[..at]);
                    list.push(new);
                    changed = Some(list);
                }
            }
        }
        changed.map(bumpalo::collections::Vec::into_bump_slice)
    }
}

/// A schema whose defaults are added.
#[derive(Clone, Copy)]
pub(super) struct Whole<'s, 'a>(pub(super) &'s Schema<'a>);

/// A schema without defaults.
#[derive(Clone, Copy)]
pub(super) struct Bare<'s, 't>(pub(super) &'s Schema<'t>);

impl<'a> Part<'a> for Whole<'_, 'a> {
    fn flags(self) -> Flags {
        self.0.flags
    }

    fn has_defaults(self) -> bool {
        self.0.subtree.any(Flags::DEFAULT)
    }

    fn property(self, name: &str, _: &mut usize) -> Option<Self> {
        self.0.property(name).map(Whole)
    }

    fn additional(self) -> Option<Option<Self>> {
        additional(self.0).map(|schema| schema.map(Whole))
    }

    fn item(self) -> Option<Self> {
        self.0.item().map(Whole)
    }

    fn is_defaulted(self) -> bool {
        self.0.default.is_some()
    }

    fn default(self, arena: &'a Bump, budget: &Budget) -> Option<Value<'a>> {
        let default = self.0.default.filter(|_| !budget.is_exceeded())?;
        let value = Value::from_json(default, arena);
        if !budget.spend(value.json_len(MAX_DEFAULTS).unwrap_or(usize::MAX)) {
            return None;
        }
        let steps = Steps { defaults: true, ..Steps::default() };
        let how = How { unknown: Unknown::Keep, nulls: false, root: Some(Root::Value) };
        let mut walk = Walk { arena, steps, unknown: Paths::default(), budget };
        Some(walk.value(&value, Some(self), how, &Step::Root).unwrap_or(value))
    }

    fn add_missing(self, map: Map<'a>, arena: &'a Bump, budget: &Budget, mut add: impl FnMut(&'a str, Value<'a>)) {
        for property in self.0.properties {
            if property.schema.default.is_some()
                && map.get(property.name).is_none()
                && budget.spend(property.name.len() + 4)
                && let Some(value) = Whole(&property.schema).default(arena, budget)
            {
                add(property.name, value);
            }
        }
    }
}

impl<'a> Part<'a> for Bare<'_, '_> {
    fn flags(self) -> Flags {
        self.0.flags
    }

    fn has_defaults(self) -> bool {
        false
    }

    fn property(self, name: &str, _: &mut usize) -> Option<Self> {
        self.0.property(name).map(Bare)
    }

    fn additional(self) -> Option<Option<Self>> {
        additional(self.0).map(|schema| schema.map(Bare))
    }

    fn item(self) -> Option<Self> {
        self.0.item().map(Bare)
    }

    fn is_defaulted(self) -> bool {
        self.0.default.is_some()
    }

    fn default(self, _: &'a Bump, _: &Budget) -> Option<Value<'a>> {
        None
    }

    fn add_missing(self, _: Map<'a>, _: &'a Bump, _: &Budget, _: impl FnMut(&'a str, Value<'a>)) {}
}

#[allow(clippy::option_option)] // As above.
fn additional<'s, 'a>(schema: &'s Schema<'a>) -> Option<Option<&'s Schema<'a>>> {
    match schema.additional? {
        Additional::Schema(schema) => Some(Some(schema)),
        Additional::Allowed(_) => Some(None),
    }
}
