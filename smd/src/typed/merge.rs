//! Merges a configuration into a live object (upstream `typed/merge.go`).

use super::compare::{CompareError, child_errors};
use super::error::{Errors, Token};
use super::items::{Elements, Indexed, run, sort};
use super::nodes::{Items, List, MapOf, Scalar, Shape, Tables};
use super::validate::{fits, misfit, schema_error};
use super::{Checked, TypedValue, is_same};
use crate::Bump;
use crate::fieldpath::PathElement;
use crate::value::{Map, Value};
use std::cmp::Ordering;

impl<'a> TypedValue<'a> {
    /// Returns this value with the other one merged into it (upstream `TypedValue.Merge`). Nothing is removed. If both
    /// have a value, the result has the other's. The result shares unchanged parts with this value; if nothing changes,
    /// it is this value in memory.
    ///
    /// # Errors
    /// The types differ, both are absent, a list of the other value has duplicate items, or an item has no path
    /// element.
    ///
    /// # Example: a list is replaced or merged, as its type says
    /// ```
    /// # use kubeshape_smd::{Bump, ToValue, schema, typed::{Duplicates, Types}};
    /// # use kubeshape_yaml::{Limits, Stream, Tape};
    /// # let source = "
    /// # types:
    /// # - name: pod
    /// #   map:
    /// #     fields:
    /// #     - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    /// #     - {name: args, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
    /// # ";
    /// # let mut tape = Tape::new();
    /// # Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// # let types = Types::new(schema::read(tape.document(source).root().unwrap()).unwrap());
    /// # let (pod, arena) = (types.named("pod").unwrap(), Bump::new());
    /// let live = serde_json::json!({"set": ["b", "a", "x"], "args": ["-v"]});
    /// let config = serde_json::json!({"set": ["a", "b"], "args": ["-q"]});
    /// let live = pod.validate(live.to_value(&arena), Duplicates::Allowed).unwrap();
    /// let config = pod.validate(config.to_value(&arena), Duplicates::Refused).unwrap();
    ///
    /// let expected = serde_json::json!({"set": ["a", "x", "b"], "args": ["-q"]});
    /// assert_eq!(live.merge(config, &arena).unwrap().value(), Some(expected.to_value(&arena)));
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn merge(self, config: TypedValue<'a>, arena: &'a Bump) -> Result<TypedValue<'a>, CompareError> {
        self.same_type(config)?;
        let tables = &self.ty.types.tables;
        let sound = !tables.unknown_items;
        let mut walk = Walk {
            tables,
            arena,
            live_is_checked: sound && self.checked > Checked::No,
            config_is_checked: sound && config.checked == Checked::Strictly,
            muted: false,
            elements: Elements::new(tables, arena),
            indexed: Vec::new(),
            twins: Vec::new(),
            items: Vec::new(),
            entries: Vec::new(),
            errors: Errors::default(),
        };
        let value = walk.value(self.ty.id, self.value, config.value);
        walk.errors.into_result()?;
        // An item of both keeps its path element, and merged lists have no more duplicates than the lists from which
        // they are merged.
        let checked = if sound && value.is_some() { self.checked.min(config.checked) } else { Checked::No };
        Ok(TypedValue { value, ty: self.ty, checked })
    }
}

/// The item is not in the other list.
const ALONE: u32 = u32::MAX;
/// An item of the configuration that is in the live list several times.
const REPEATED: u32 = u32::MAX - 1;

struct Walk<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    /// Parts that only the live value has are not changed, and have no errors.
    live_is_checked: bool,
    /// Parts that only the configuration has are not changed, and have no errors.
    config_is_checked: bool,
    /// Errors are ignored: upstream loses them below list items.
    muted: bool,
    elements: Elements<'a>,
    /// The items of the lists that are being merged.
    indexed: Vec<Indexed<'a>>,
    /// For every item of these lists, the index of the same item in the other list.
    twins: Vec<u32>,
    /// The results so far of the lists and maps that are being merged, if they differ from the live ones.
    items: Vec<Value<'a>>,
    entries: Vec<(&'a str, Value<'a>)>,
    errors: Errors,
}

impl<'a> Walk<'a> {
    /// Returns the merged value, or `None` if it is absent.
    fn value(&mut self, id: u32, live: Option<Value<'a>>, config: Option<Value<'a>>) -> Option<Value<'a>> {
        match (live, config) {
            (None, None) => {
                self.error(|| "at least one of lhs and rhs must be provided".to_owned());
                return None;
            }
            (Some(_), None) if self.live_is_checked => return live,
            (None, Some(_)) if self.config_is_checked => return config,
            (Some(live), Some(config)) if self.config_is_checked && is_same(live, config) => return Some(live),
            _ => {}
        }
        let tables = self.tables;
        let node = tables.node(id);
        if node.missing {
            self.error(|| schema_error(node, tables));
            return None;
        }
        let (chosen, other) = (node.choose(live), node.choose(config));
        if config.is_none() {
            return self.shape(node.shape(chosen), id, live, config);
        }
        if live.is_some() && chosen != other && !self.muted {
            // Of two shapes, the configuration's is used; the other one only adds its errors.
            self.shape(node.shape(chosen), id, live, config);
        }
        self.shape(node.shape(other), id, live, config)
    }

    fn shape(
        &mut self,
        shape: Shape<'a>,
        id: u32,
        live: Option<Value<'a>>,
        config: Option<Value<'a>>,
    ) -> Option<Value<'a>> {
        match shape {
            Shape::Scalar(scalar) => self.scalar(scalar, live, config),
            Shape::Map(map) => {
                // A value that is not a map is treated as absent.
                let (l, r) = (live.and_then(Value::as_map), config.and_then(Value::as_map));
                if map.atomic || l.is_none_or(Map::is_empty) && r.is_none_or(Map::is_empty) {
                    leaf(live, config)
                } else {
                    self.map(map, l.unwrap_or_default(), r.unwrap_or_default())
                }
            }
            Shape::List(list) => {
                let (l, r) = (live.and_then(Value::as_list), config.and_then(Value::as_list));
                let (l, r) = (l.unwrap_or_default(), r.unwrap_or_default());
                if list.items == Items::Atomic || l.is_empty() && r.is_empty() {
                    leaf(live, config)
                } else {
                    self.list(list, l, r)
                }
            }
            Shape::None => {
                let tables = self.tables;
                self.error(|| schema_error(tables.node(id), tables));
                None
            }
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar, live: Option<Value<'a>>, config: Option<Value<'a>>) -> Option<Value<'a>> {
        // One side that matches the type is enough.
        if let (Some(l), Some(r)) = (live, config)
            && !fits(scalar, l)
            && !fits(scalar, r)
        {
            let tables = self.tables;
            self.error(|| misfit(scalar, l, "lhs: ", tables));
            self.error(|| misfit(scalar, r, "rhs: ", tables));
            return None;
        }
        leaf(live, config)
    }

    fn map(&mut self, map: &MapOf, live: Map<'a>, config: Map<'a>) -> Option<Value<'a>> {
        let (left, right) = (live.entries(), config.entries());
        let mut fields = self.tables.cursor(map);
        let mark = self.entries.len();
        // Whether everything so far equals the live map.
        let mut same = true;
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
            let merged = match (a, b) {
                (Some((_, live)), None) if self.live_is_checked => Some(live),
                (None, Some((_, config))) if self.config_is_checked => Some(config),
                _ => {
                    let field = fields.find(name).unwrap_or(map.element);
                    let from = self.errors.len();
                    let merged = self.value(field, a.map(|entry| entry.1), b.map(|entry| entry.1));
                    let element = PathElement::FieldName(name);
                    child_errors(&mut self.errors, from, self.tables, field, element, Token::Name(name));
                    merged
                }
            };
            let kept = match (a, merged) {
                (Some((_, live)), Some(merged)) => identical(live, merged),
                (None, None) => true,
                _ => false,
            };
            if same && !kept {
                self.entries.extend_from_slice(&left[..l]);
                same = false;
            }
            if !same {
                self.entries.extend(merged.map(|merged| (name, merged)));
            }
            l += usize::from(order.is_le());
            r += usize::from(order.is_ge());
        }
        if same {
            return (!live.is_empty()).then_some(Value::Map(live));
        }
        let merged = self.arena.alloc_slice_copy(&self.entries[mark..]);
        self.entries.truncate(mark);
        (!merged.is_empty()).then(|| Value::Map(Map::sorted(merged)))
    }

    /// Merges two lists. The items of the configuration keep their order. Items that only the live list has are placed
    /// between them.
    fn list(&mut self, list: &List, live: &'a [Value<'a>], config: &'a [Value<'a>]) -> Option<Value<'a>> {
        let twins = self.twins.len();
        if !self.find_twins(list, live, config) {
            return None;
        }
        // First the indices for the live items, then those for the configuration's.
        let in_config = twins;
        let in_live = twins + live.len();
        let twin = |walk: &Self, at: usize| walk.twins.get(at).copied().unwrap_or(ALONE);

        let mark = self.items.len();
        let (mut l, mut r) = (0, 0);
        // The first item of the configuration from `r` on that the live list has, too.
        let mut shared = 0;
        while l < live.len() || r < config.len() {
            while shared < config.len() && (shared < r || twin(self, in_live + shared) == ALONE) {
                shared += 1;
            }
            if l < live.len() {
                let other = twin(self, in_config + l);
                if other == ALONE {
                    self.item(list, live.get(l).copied(), None);
                    l += 1;
                    continue;
                }
                let other = other as usize;
                if r < config.len() && other != r && shared < config.len() && other != shared {
                    // In both lists, but another one comes first.
                    l += 1;
                    continue;
                }
                if other <= r {
                    // It was already added, or comes now.
                    l += 1;
                }
            }
            if r < config.len() {
                let old = match twin(self, in_live + r) {
                    ALONE => None,
                    REPEATED => Some(Value::Null),
                    at => live.get(at as usize).copied(),
                };
                self.item(list, old, config.get(r).copied());
                r += 1;
            }
        }
        self.twins.truncate(twins);

        let merged = &self.items[mark..];
        let result = if merged.is_empty() {
            None
        } else if merged.len() == live.len() && merged.iter().zip(live).all(|(new, old)| identical(*old, *new)) {
            Some(Value::List(live))
        } else {
            Some(Value::List(self.arena.alloc_slice_copy(merged)))
        };
        self.items.truncate(mark);
        result
    }

    fn item(&mut self, list: &List, live: Option<Value<'a>>, config: Option<Value<'a>>) {
        // Upstream loses the errors of items; the item itself is kept in spite of them.
        let muted = std::mem::replace(&mut self.muted, true);
        let merged = self.value(list.element, live, config);
        self.muted = muted;
        self.items.extend(merged);
    }

    /// Finds every item of both lists in the other one. Returns `false` if there are items without path elements, or
    /// items that the configuration repeats.
    fn find_twins(&mut self, list: &List, live: &'a [Value<'a>], config: &'a [Value<'a>]) -> bool {
        let first = self.indexed.len();
        let mut wrong = self.index(list, config);
        let middle = self.indexed.len();
        self.find_repeats(first, &mut wrong);
        let mut sound = self.report(wrong);
        let wrong = self.index(list, live);
        sort(&mut self.indexed[middle..]);
        sound &= self.report(wrong);
        if sound {
            let base = self.twins.len();
            self.twins.resize(base + live.len() + config.len(), ALONE);
            let (in_config, in_live) = self.twins[base..].split_at_mut(live.len());
            let (mut ours, mut theirs) = self.indexed[first..].split_at(middle - first);
            while let (Some((element, r)), Some((other, l))) = (ours.first(), theirs.first()) {
                match element.cmp(other) {
                    Ordering::Less => ours = &ours[1..],
                    Ordering::Greater => theirs = &theirs[1..],
                    Ordering::Equal => {
                        let count = run(theirs);
                        for (_, at) in &theirs[..count] {
                            in_config[*at as usize] = *r;
                        }
                        in_live[*r as usize] = if count > 1 { REPEATED } else { *l };
                        ours = &ours[1..];
                        theirs = &theirs[count..];
                    }
                }
            }
        }
        self.indexed.truncate(first);
        sound
    }

    /// Appends the items with their path elements to the index. Returns the items without one.
    fn index(&mut self, list: &List, items: &'a [Value<'a>]) -> Vec<(u32, String)> {
        let mut wrong = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match self.elements.of(list, *item) {
                Ok(element) => self.indexed.push((element, at as u32)),
                Err(why) => wrong.push((at as u32, why.message(at, list, self.tables))),
            }
        }
        wrong
    }

    /// Sorts the indexed items from `first` on. Adds items that are repeated to `wrong`.
    fn find_repeats(&mut self, first: usize, wrong: &mut Vec<(u32, String)>) {
        let indexed = &mut self.indexed[first..];
        sort(indexed);
        for pair in indexed.windows(2) {
            if pair[0].0 == pair[1].0 {
                wrong.push((pair[1].1, format!("duplicate entries for key {}", pair[1].0)));
            }
        }
    }

    /// Returns whether there is no error. Errors are reported in the order of the list.
    fn report(&mut self, mut wrong: Vec<(u32, String)>) -> bool {
        wrong.sort_unstable_by_key(|(at, _)| *at);
        let sound = wrong.is_empty();
        if !self.muted {
            for (at, message) in wrong {
                self.errors.add_item(message, at as usize);
            }
        }
        sound
    }

    #[inline]
    fn error(&mut self, message: impl FnOnce() -> String) {
        if !self.muted {
            self.errors.add(message());
        }
    }
}

/// Merges scalars and atomic values: the configuration's is used if it has any. A scalar that does not differ is kept,
/// so that the maps around it can be kept.
#[inline]
fn leaf<'a>(live: Option<Value<'a>>, config: Option<Value<'a>>) -> Option<Value<'a>> {
    match (live, config) {
        (Some(live), Some(config)) if identical(live, config) => Some(live),
        (live, config) => config.or(live),
    }
}

/// Returns whether two values are the same: the same list or map in memory, or scalars that cannot be distinguished.
/// Equal values may be an integer in one and a float in the other.
#[inline]
fn identical(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::String(a), Value::String(b)) => a == b,
        (a, b) => is_same(a, b),
    }
}
