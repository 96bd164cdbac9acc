//! Compares two values of a type (upstream `typed/compare.go`).

use super::error::{Errors, Token, ValidationErrors};
use super::items::{Elements, Indexed, run, sort};
use super::nodes::{Items, List, MapOf, Scalar, Shape, Tables};
use super::validate::{fits, misfit, schema_error};
use super::{Checked, TypedValue, is_same};
use crate::Bump;
use crate::fieldpath::{Filter, PathElement, Set, Stack};
use crate::value::Value;
use std::cmp::Ordering;

/// The changes between two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison<'a> {
    /// Paths that only the left value has.
    pub removed: Set<'a>,
    /// Paths whose values differ.
    pub modified: Set<'a>,
    /// Paths that only the right value has.
    pub added: Set<'a>,
}

/// Why two values cannot be compared or merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Their types come from different [`Types`](super::Types).
    #[error("expected objects with types from the same schema")]
    OtherSchema,
    /// Their types differ.
    #[error("expected objects of the same type, but got {0} and {1}")]
    OtherType(String, String),
    /// The values do not match their type.
    #[error(transparent)]
    Invalid(#[from] ValidationErrors),
}

impl<'a> Comparison<'a> {
    /// Whether nothing changed.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// Returns the comparison without the fields of the set and all fields below them (upstream
    /// `Comparison.ExcludeFields`).
    #[must_use]
    pub fn exclude_fields(self, fields: Set<'a>, arena: &'a Bump) -> Self {
        self.map(|set| set.recursive_difference(fields, arena))
    }

    /// Returns the filtered comparison (upstream `Comparison.FilterFields`).
    #[must_use]
    pub fn filter(self, filter: &Filter<'a>, arena: &'a Bump) -> Self {
        self.map(|set| filter.filter(set, arena))
    }

    fn map(self, f: impl Fn(Set<'a>) -> Set<'a>) -> Self {
        Comparison { removed: f(self.removed), modified: f(self.modified), added: f(self.added) }
    }
}

impl<'a> TypedValue<'a> {
    /// Returns the changes from this value to the other (upstream `TypedValue.Compare`). Parts that both share in
    /// memory are skipped if either value has been validated.
    ///
    /// # Errors
    /// The types differ, both are absent, or an item of a list has no path element.
    ///
    /// # Example: a value and a field
    /// ```
    /// use kubeshape_smd::schema::UNTYPED_DEDUCED;
    /// use kubeshape_smd::typed::{Duplicates, Types};
    /// use kubeshape_smd::{Bump, ToValue};
    ///
    /// let (types, arena) = (Types::deduced(), Bump::new());
    /// let any = types.named(UNTYPED_DEDUCED).unwrap();
    /// let old = serde_json::json!({"spec": {"replicas": 1, "paused": true}});
    /// let new = serde_json::json!({"spec": {"replicas": 2}, "status": {}});
    /// let old = any.validate(old.to_value(&arena), Duplicates::Allowed)?;
    /// let new = any.validate(new.to_value(&arena), Duplicates::Allowed)?;
    ///
    /// let changes = old.compare(new, &arena).unwrap();
    /// assert_eq!(changes.modified.to_string(), ".spec.replicas");
    /// assert_eq!(changes.added.to_string(), ".status");
    /// assert_eq!(changes.removed.to_string(), ".spec.paused");
    /// # Ok::<(), kubeshape_smd::typed::ValidationErrors>(())
    /// ```
    pub fn compare(self, other: TypedValue<'a>, arena: &'a Bump) -> Result<Comparison<'a>, CompareError> {
        // An update that changes nothing is the most frequent one, and detecting it needs no type.
        if self.is_equal(other) == Some(true) {
            return Ok(Comparison::default());
        }
        self.compare_unequal(other, arena)
    }

    /// Returns whether both have equal values of one type. Returns `None` if equality does not imply that they can be
    /// compared: equal values that do not match their type are an error.
    pub(crate) fn is_equal(self, other: TypedValue<'a>) -> Option<bool> {
        let known = self.same_type(other).is_ok() && self.value.is_some() && self.skips_same(other);
        known.then(|| self.value == other.value)
    }

    /// Returns whether parts that both share cannot have errors.
    fn skips_same(self, other: TypedValue<'a>) -> bool {
        self.checked.max(other.checked) > Checked::No && !self.can_fail_with_itself()
    }

    /// Does the same as [`compare`](Self::compare), for values that are not known to be equal.
    pub(crate) fn compare_unequal(
        self,
        other: TypedValue<'a>,
        arena: &'a Bump,
    ) -> Result<Comparison<'a>, CompareError> {
        self.same_type(other)?;
        let tables = &self.ty.types.tables;
        let skip_same = self.skips_same(other);
        let mut walk = Walk {
            tables,
            arena,
            skip_same,
            elements: Elements::new(tables, arena),
            indexed: Vec::new(),
            removed: Stack::default(),
            modified: Stack::default(),
            added: Stack::default(),
            errors: Errors::default(),
        };
        let changes = walk.value(self.ty.id, self.value, other.value);
        walk.errors.into_result()?;
        Ok(Comparison { removed: changes.removed.below, modified: changes.modified.below, added: changes.added.below })
    }
}

/// The contents of one of the sets for a value: its own path, and the paths below it.
#[derive(Clone, Copy, Default)]
struct Part<'a> {
    own: bool,
    below: Set<'a>,
}

/// The contents of the three sets for a value.
#[derive(Clone, Copy, Default)]
struct Changes<'a> {
    removed: Part<'a>,
    modified: Part<'a>,
    added: Part<'a>,
}

impl<'a> Part<'a> {
    fn and(self, other: Part<'a>, arena: &'a Bump) -> Part<'a> {
        Part { own: self.own || other.own, below: self.below.union(other.below, arena) }
    }
}

impl<'a> Changes<'a> {
    fn and(self, other: Changes<'a>, arena: &'a Bump) -> Changes<'a> {
        Changes {
            removed: self.removed.and(other.removed, arena),
            modified: self.modified.and(other.modified, arena),
            added: self.added.and(other.added, arena),
        }
    }

    /// Returns the changes of a scalar or of an atomic value.
    #[inline]
    fn leaf(left: Option<Value<'a>>, right: Option<Value<'a>>) -> Changes<'a> {
        let mut changes = Changes::default();
        match (left, right) {
            (None, _) => changes.added.own = true,
            (_, None) => changes.removed.own = true,
            (Some(left), Some(right)) => changes.modified.own = left != right,
        }
        changes
    }
}

#[derive(Clone, Copy)]
struct Marks {
    removed: usize,
    modified: usize,
    added: usize,
}

/// Returns whether both are the same scalar, which is not a change whatever its type.
#[inline]
fn is_equal_scalar(left: Value<'_>, right: Value<'_>) -> bool {
    match (left, right) {
        (Value::List(_) | Value::Map(_), _) => false,
        (left, right) => left == right,
    }
}

/// Adds the element of a child to the paths of its errors, which begin at `from`. If the type of the child itself is
/// missing, upstream reports that for its parent.
#[inline]
pub(super) fn child_errors(
    errors: &mut Errors,
    from: usize,
    tables: &Tables,
    child: u32,
    element: PathElement<'_>,
    token: Token<'_>,
) {
    if errors.len() > from {
        let missing = tables.node(child).missing;
        errors.below(from, if missing { &"" } else { &element }, token);
    }
}

struct Walk<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    /// Parts that both sides share have no errors.
    skip_same: bool,
    elements: Elements<'a>,
    /// The items of the lists that are being compared.
    indexed: Vec<Indexed<'a>>,
    removed: Stack<'a>,
    modified: Stack<'a>,
    added: Stack<'a>,
    errors: Errors,
}

impl<'a> Walk<'a> {
    fn value(&mut self, id: u32, left: Option<Value<'a>>, right: Option<Value<'a>>) -> Changes<'a> {
        match (left, right) {
            (None, None) => {
                self.errors.add("at least one of lhs and rhs must be provided");
                return Changes::default();
            }
            (Some(left), Some(right)) if self.skip_same && is_same(left, right) => return Changes::default(),
            _ => {}
        }
        let tables = self.tables;
        let node = tables.node(id);
        if node.missing {
            self.errors.add(schema_error(node, tables));
            return Changes::default();
        }
        let (chosen, other) = (node.choose(left), node.choose(right));
        let (mut changes, leaf) = if right.is_none() {
            self.shape(node.shape(chosen), id, left, right)
        } else if left.is_none() || chosen == other {
            self.shape(node.shape(other), id, left, right)
        } else {
            // Both shapes are used.
            let (first, _) = self.shape(node.shape(chosen), id, left, right);
            let (second, leaf) = self.shape(node.shape(other), id, left, right);
            (first.and(second, self.arena), leaf)
        };
        if !leaf {
            changes.added.own |= left.is_none();
            changes.removed.own |= left.is_some() && right.is_none();
        }
        changes
    }

    /// Returns the changes by that shape, and whether it is a leaf.
    fn shape(
        &mut self,
        shape: Shape<'a>,
        id: u32,
        left: Option<Value<'a>>,
        right: Option<Value<'a>>,
    ) -> (Changes<'a>, bool) {
        match shape {
            Shape::Scalar(scalar) => self.scalar(scalar, left, right),
            Shape::Map(map) => {
                // A value that is not a map is treated as absent.
                let (l, r) = (left.and_then(Value::as_map), right.and_then(Value::as_map));
                let (l, r) = (l.map_or(&[][..], |map| map.entries()), r.map_or(&[][..], |map| map.entries()));
                if map.atomic || l.is_empty() && r.is_empty() {
                    (Changes::leaf(left, right), true)
                } else {
                    (self.map(map, l, r), false)
                }
            }
            Shape::List(list) => {
                let (l, r) = (left.and_then(Value::as_list), right.and_then(Value::as_list));
                let (l, r) = (l.unwrap_or_default(), r.unwrap_or_default());
                if list.items == Items::Atomic || l.is_empty() && r.is_empty() {
                    (Changes::leaf(left, right), true)
                } else {
                    (self.list(list, l, r), false)
                }
            }
            Shape::None => {
                self.errors.add(schema_error(self.tables.node(id), self.tables));
                (Changes::default(), false)
            }
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar, left: Option<Value<'a>>, right: Option<Value<'a>>) -> (Changes<'a>, bool) {
        // One side that matches the type is enough.
        if let (Some(l), Some(r)) = (left, right)
            && !fits(scalar, l)
            && !fits(scalar, r)
        {
            self.errors.add(misfit(scalar, l, "lhs: ", self.tables));
            self.errors.add(misfit(scalar, r, "rhs: ", self.tables));
            return (Changes::default(), false);
        }
        (Changes::leaf(left, right), true)
    }

    fn map(&mut self, map: &MapOf, left: &'a [(&'a str, Value<'a>)], right: &'a [(&'a str, Value<'a>)]) -> Changes<'a> {
        let marks = self.mark();
        let mut fields = self.tables.cursor(map);
        let (mut l, mut r) = (0, 0);
        loop {
            let order = match (left.get(l), right.get(r)) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.0.cmp(b.0),
            };
            let a = if order.is_le() { left.get(l).copied() } else { None };
            let b = if order.is_ge() { right.get(r).copied() } else { None };
            let Some((name, _)) = a.or(b) else { break };
            l += usize::from(order.is_le());
            r += usize::from(order.is_ge());
            if let (true, Some((_, a)), Some((_, b))) = (self.skip_same, a, b)
                && is_equal_scalar(a, b)
            {
                continue;
            }
            let field = fields.find(name).unwrap_or(map.element);
            let from = self.errors.len();
            let changes = self.value(field, a.map(|entry| entry.1), b.map(|entry| entry.1));
            child_errors(&mut self.errors, from, self.tables, field, PathElement::FieldName(name), Token::Name(name));
            self.push(PathElement::FieldName(name), &changes);
        }
        self.close(marks)
    }

    fn list(&mut self, list: &List, left: &'a [Value<'a>], right: &'a [Value<'a>]) -> Changes<'a> {
        let first = self.indexed.len();
        self.index(list, left);
        let middle = self.indexed.len();
        self.index(list, right);
        let end = self.indexed.len();
        sort(&mut self.indexed[first..middle]);
        sort(&mut self.indexed[middle..end]);

        let marks = self.mark();
        let (mut l, mut r) = (first, middle);
        while l < middle || r < end {
            let order = match (self.indexed[first..middle].get(l - first), self.indexed[middle..end].get(r - middle)) {
                (Some(a), Some(b)) => a.0.cmp(&b.0),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let ls = if order.is_le() { run(&self.indexed[l..middle]) } else { 0 };
            let rs = if order.is_ge() { run(&self.indexed[r..end]) } else { 0 };
            let element = self.indexed[if ls > 0 { l } else { r }].0;
            let changes = self.item(list, element, (left, l, ls), (right, r, rs));
            self.push(element, &changes);
            l += ls;
            r += rs;
        }
        self.indexed.truncate(first);
        self.close(marks)
    }

    /// Compares items with the same path element. Per side: the list, the start of the indexed items with that element,
    /// and their number.
    fn item(
        &mut self,
        list: &List,
        element: PathElement<'a>,
        (left, l, ls): (&'a [Value<'a>], usize, usize),
        (right, r, rs): (&'a [Value<'a>], usize, usize),
    ) -> Changes<'a> {
        let place = |walk: &Self, at: usize| walk.indexed[at].1 as usize;
        let mut changes = Changes::default();
        if ls >= 2 && rs >= 2 {
            // Repeated items are compared as one value.
            changes.modified.own =
                ls != rs || (0..ls).any(|at| left.get(place(self, l + at)) != right.get(place(self, r + at)));
            return changes;
        }
        let a = if ls == 1 { left.get(place(self, l)).copied() } else { None };
        let b = if rs == 1 { right.get(place(self, r)).copied() } else { None };
        if a.is_some() || b.is_some() {
            let at = if rs > 0 { place(self, r) } else { place(self, l) };
            let from = self.errors.len();
            changes = self.value(list.element, a, b);
            child_errors(&mut self.errors, from, self.tables, list.element, element, Token::At(at));
        }
        // If an item becomes or stops being repeated, its own fields are no longer listed.
        changes.removed.own |= ls >= 2;
        changes.added.own |= rs >= 2;
        changes
    }

    fn index(&mut self, list: &List, items: &'a [Value<'a>]) {
        for (at, item) in items.iter().enumerate() {
            match self.elements.of(list, *item) {
                Ok(element) => self.indexed.push((element, at as u32)),
                Err(why) => self.errors.add_item(why.message(at, list, self.tables), at),
            }
        }
    }

    #[inline]
    fn mark(&self) -> Marks {
        Marks { removed: self.removed.mark(), modified: self.modified.mark(), added: self.added.mark() }
    }

    #[inline]
    fn push(&mut self, element: PathElement<'a>, changes: &Changes<'a>) {
        self.removed.push(element, changes.removed.own, changes.removed.below);
        self.modified.push(element, changes.modified.own, changes.modified.below);
        self.added.push(element, changes.added.own, changes.added.below);
    }

    #[inline]
    fn close(&mut self, marks: Marks) -> Changes<'a> {
        let part = |below| Part { own: false, below };
        Changes {
            removed: part(self.removed.close(marks.removed, self.arena)),
            modified: part(self.modified.close(marks.modified, self.arena)),
            added: part(self.added.close(marks.added, self.arena)),
        }
    }
}
