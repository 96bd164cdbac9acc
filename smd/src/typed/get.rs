//! Finds the value at a path.

use super::TypedValue;
use super::items::{self, Elements};
use super::nodes::Shape;
use crate::Bump;
use crate::fieldpath::{Path, PathElement};
use crate::value::Value;

impl<'a> TypedValue<'a> {
    /// Returns the value at a path; of repeated items, the first. The empty path is that of the whole value.
    ///
    /// # Example: the value of a field that another manager owns
    /// ```
    /// use kubeshape_smd::{Bump, ToValue, Value, fieldpath::PathElement, typed::{TypedValue, Types}};
    /// use serde_json::json;
    /// let types = Types::deduced();
    /// let arena = Bump::new();
    /// let live = json!({"spec": {"replicas": 3}});
    /// let live = TypedValue::unvalidated(Some(live.to_value(&arena)), types.named("__untyped_deduced_").unwrap());
    /// let replicas = [PathElement::FieldName("spec"), PathElement::FieldName("replicas")];
    /// assert_eq!(live.get(&replicas), Some(Value::Int(3)));
    /// ```
    pub fn get(self, path: &Path<'_>) -> Option<Value<'a>> {
        let mut at = self;
        for element in path {
            at = at.children(std::iter::once(*element)).pop()?;
        }
        at.value()
    }

    /// Returns the values of these elements of this value. A list is searched once for all of them.
    pub(crate) fn children<'e>(self, elements: impl Iterator<Item = PathElement<'e>>) -> Vec<TypedValue<'a>> {
        let scratch = Bump::new();
        let names = item_names(self, &scratch);
        let find = |element: &PathElement<'e>| match *element {
            PathElement::FieldName(name) => self.value()?.get(name),
            PathElement::Index(at) => self.value()?.as_list()?.get(usize::try_from(at).ok()?).copied(),
            PathElement::Key(_) | PathElement::Value(_) => {
                let at = names.partition_point(|(name, _)| name < element);
                let (_, at) = names.get(at).filter(|(name, _)| name == element)?;
                self.value()?.as_list()?.get(*at as usize).copied()
            }
            PathElement::Nameless => None,
        };
        elements.map(|element| TypedValue::unvalidated(find(&element), self.ty().below(&element).ty)).collect()
    }
}

/// Returns the path elements of a list's items with their indices, sorted; empty for other values.
fn item_names<'s>(list: TypedValue<'s>, scratch: &'s Bump) -> Vec<items::Indexed<'s>> {
    let Some(items) = list.value().and_then(Value::as_list) else { return Vec::new() };
    let node = list.ty().node();
    let Shape::List(of) = node.shape(node.choose(list.value())) else { return Vec::new() };
    let mut elements = Elements::new(&list.ty().types.tables, scratch);
    let named = items.iter().zip(0..).filter_map(|(item, at)| Some((elements.of(of, *item).ok()?, at)));
    let mut names: Vec<_> = named.collect();
    items::sort(&mut names);
    names
}
